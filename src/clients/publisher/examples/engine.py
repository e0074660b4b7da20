"""A toy engine with a KV cache of a few blocks: where a real one calls the publisher, and what it says.

Says `ready PORT REPLAY-PORT`, then reads lines: a prompt's token ids, `clear`, `burst N`, `stats`, `quit`.
Does and answers what the example of the C library does (native-core/publisher/example/engine.c).
"""

from __future__ import annotations

import argparse
import sys
from collections import OrderedDict

from warmpath_publisher import Publisher, block_ids


class Engine:
    def __init__(self, publisher: Publisher, room: int, block_size: int) -> None:
        self.publisher = publisher
        self.room = room
        self.block_size = block_size
        # Least recently used first. Of a prompt, an earlier block is always used later than those behind it, so the
        # first one here has no child left.
        self.cache: OrderedDict[int, None] = OrderedDict()
        self.token = 1_000_000

    def run(self, tokens: list[int]) -> tuple[int, int, int]:
        """Cached, computed and evicted blocks."""
        size = self.block_size
        blocks = min(len(tokens) // size, self.room)
        if blocks == 0:
            return 0, 0, 0
        ids = block_ids(tokens[: blocks * size], block_size=size)
        cached = evicted = 0
        for name in reversed(ids):
            if name in self.cache:
                self.cache.move_to_end(name)
        for i, name in enumerate(ids):
            if name in self.cache:
                cached += 1
                continue
            if len(self.cache) == self.room:
                oldest, _ = self.cache.popitem(last=False)
                self.publisher.removed([oldest])
                evicted += 1
            parent = ids[i - 1] if i > 0 else None
            self.publisher.stored(tokens[i * size : (i + 1) * size], block_size=size, parent=parent)
            self.cache[name] = None
        for name in reversed(ids):
            self.cache.move_to_end(name)
        return cached, blocks - cached, evicted

    def burst(self, prompts: int) -> None:
        for _ in range(prompts):
            self.run([self.token] + [0] * (self.block_size - 1))
            self.token += 1

    def command(self, line: str) -> str | None:
        words = line.split()
        if words == ["quit"]:
            return None
        if words == ["clear"]:
            self.cache.clear()
            self.publisher.cleared()
            return "cleared"
        if words[:1] == ["burst"]:
            self.burst(int(words[1]))
            return f"burst {words[1]} dropped {self.publisher.stats().dropped_batches}"
        if words == ["stats"]:
            s = self.publisher.stats()
            return (
                f"events {s.events} batches {s.batches} dropped {s.dropped_batches} kept {s.kept_batches}"
                f" replays {s.replays}"
            )
        cached, computed, evicted = self.run([int(w) for w in words])
        return f"cached {cached} computed {computed} evicted {evicted}"


def main() -> None:
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--endpoint", default="tcp://127.0.0.1:*")
    args.add_argument("--replay", default="tcp://127.0.0.1:*")
    args.add_argument("--no-replay", action="store_true")
    args.add_argument("--topic", default="")
    args.add_argument("--rank", type=int, default=0)
    args.add_argument("--queue", type=int, default=10_000)
    args.add_argument("--keep", type=int, default=10_000)
    args.add_argument("--blocks", type=int, default=64)
    args.add_argument("--block-size", type=int, default=4)
    a = args.parse_args()
    with Publisher(
        a.endpoint,
        None if a.no_replay else a.replay,
        topic=a.topic,
        dp_rank=a.rank,
        queue_batches=a.queue,
        replay_batches=a.keep,
        batch_events=1,
    ) as publisher:
        engine = Engine(publisher, a.blocks, a.block_size)
        ports = [e.rsplit(":", 1)[1] if e else "0" for e in (publisher.endpoint, publisher.replay_endpoint)]
        print("ready", *ports, flush=True)
        for line in sys.stdin:
            answer = engine.command(line)
            if answer is None:
                break
            print(answer, flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Records what SGLang's own radix tree with EAGLE's keys says: lookups and KV events, byte for byte, as `./warmpath capture` replays them.

    radix.py PAGE_SIZE SEED OUT.jsonl      with the Python of SGLang's environment

Tree, events and their bytes are SGLang's; there is no model, and the requests are drawn at random: prompts of few different tokens, so that beginnings meet
often, some with a salt, answers of some tokens, evictions. A request looks up its prompt without the last token, as the scheduler does.
"""
import array
import json
import random
import sys
from importlib.metadata import version

import msgspec
import torch
from sglang.srt.disaggregation.kv_events import KVEventBatch
from sglang.srt.mem_cache.base_prefix_cache import EvictParams, InsertParams, MatchPrefixParams
from sglang.srt.mem_cache.radix_cache import RadixCache, RadixKey

REQUESTS = 300


class Slots:
    """Takes back what is evicted; there is no memory behind it."""

    device = "cpu"

    def free_segment(self, slots, start_pos):
        pass


def main(page, seed, out):
    drawn = random.Random(seed)
    cache = RadixCache.create_simulated(page_size=page, mock_allocator=Slots(), enable_kv_cache_events=True)
    cache.is_eagle = True
    encoder, sequence, prompts = msgspec.msgpack.Encoder(), 0, [[]]
    note = f"SGLang's RadixCache with is_eagle, {REQUESTS} requests drawn with seed {seed}; no model"
    engine = f"sglang {version('sglang')}"
    lines = [dict(t=0, k="meta", engine=engine, kind="sglang", block_size=page, bigrams=True, model="none", note=note)]

    def line(time, what, **fields):
        lines.append(dict(t=round(time, 2), k=what, **fields))

    def events(time):
        nonlocal sequence
        taken = cache.kv_events.take()
        if taken:
            batch = encoder.encode(KVEventBatch(ts=time, events=taken, attn_dp_rank=0))
            line(time, "event", src=0, frames=["", sequence.to_bytes(8, "big").hex(), batch.hex()])
            sequence += 1

    def key(ids, salt):
        return RadixKey(array.array("q", ids), cache_salt=salt)

    events(0)
    for i in range(REQUESTS):
        earlier = drawn.choice(prompts[-40:])
        ids = earlier[:drawn.randrange(len(earlier) + 1)] + [drawn.randrange(4) for _ in range(drawn.randrange(1, 4 * page + 3))]
        salt = drawn.choice([None, None, "team"])
        cached = cache.match_prefix(MatchPrefixParams(key=key(ids[:-1], salt))).device_prefix_len
        salted = {"cache_salt": salt} if salt else {}
        line(i + 0.1, "request", id=f"r{i}", step="drawn", path="/generate", body=salted, prompt_ids=ids)
        answer = [drawn.randrange(4) for _ in range(drawn.randrange(1, 2 * page + 2))]
        done = ids + answer[:-1]  # nothing is computed of the last token
        cache.insert(InsertParams(key=key(done, salt), value=torch.arange(len(done))))
        line(i + 0.2, "response", id=f"r{i}", status=200, prompt_tokens=len(ids), completion_tokens=len(answer), cached_tokens=cached)
        prompts.append(ids + answer)
        if drawn.random() < 0.3:
            cache.evict(EvictParams(num_tokens=drawn.randrange(1, 12 * page)))
        events(i + 0.3)
    with open(out, "w", encoding="ascii") as file:
        file.writelines(json.dumps(one, separators=(",", ":")) + "\n" for one in lines)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])

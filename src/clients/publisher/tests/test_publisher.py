"""The publisher against libzmq's own sockets, and its bytes against recorded ones. Run: python -m unittest discover."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path
from typing import Any

import msgspec
import zmq

from warmpath_publisher import Publisher, Tier, block_ids
from warmpath_publisher import _wire

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]
VECTORS = ROOT / "src/test/resources/vectors"
C_ENGINE = ROOT / "target/native/publisher/kvpublisher_engine"
PATIENCE_MILLIS = 10_000
END = (1 << 64) - 1


def vectors(name: str) -> dict[str, Any]:
    with open(VECTORS / name, encoding="utf-8") as f:
        loaded: dict[str, Any] = json.load(f)
    return loaded


class Router:
    """A router's end, by libzmq."""

    def __init__(self, test: unittest.TestCase, endpoint: str, replay: str | None, topic: bytes = b"") -> None:
        context = zmq.Context()
        self.context = context
        test.addCleanup(self.close)
        self.live = context.socket(zmq.SUB)
        self.live.rcvtimeo = PATIENCE_MILLIS
        self.live.subscribe(topic)
        self.live.connect(endpoint)
        if replay is not None:
            self.dealer = context.socket(zmq.DEALER)
            self.dealer.rcvtimeo = PATIENCE_MILLIS
            self.dealer.connect(replay)

    def close(self) -> None:
        self.context.destroy(0)

    def replayed(self, first: int) -> list[int]:
        self.dealer.send_multipart([b"", first.to_bytes(8, "big")])
        out: list[int] = []
        while True:
            empty, topic, sequence, payload = self.dealer.recv_multipart()
            number = int.from_bytes(sequence, "big")
            if number == END:
                assert not empty and not topic and not payload
                return out
            out.append(number)


class Bytes(unittest.TestCase):
    def test_every_recorded_batch_of_this_shape_is_written_byte_for_byte(self) -> None:
        compared = 0
        for message in vectors("kv-events-zmq.json")["messages"]:
            if message.get("engine") != "sglang" or message["version"] != "0.5.23":
                continue
            expect = message["expect"]
            if expect["rank"] is None or any(not self.kit_writes(e) for e in expect["events"]):
                continue
            events = [self.event(e) for e in expect["events"]]
            self.assertEqual(
                _wire.batch(expect["ts"], events, expect["rank"]).hex(), message["frames"][2], message["name"]
            )
            compared += 1
        self.assertGreaterEqual(compared, 8)

    @staticmethod
    def kit_writes(event: dict[str, Any]) -> bool:
        plain = not any(isinstance(t, list) for t in event.get("token_ids", []))
        return event["type"] == "cleared" or ("medium" in event and "session_id" not in event and plain)

    @staticmethod
    def event(e: dict[str, Any]) -> bytes:
        if e["type"] == "cleared":
            return _wire.cleared()
        ids = [int(i) for i in e["ids"]]
        tier = Tier(e["medium"])
        if e["type"] == "removed":
            return _wire.removed(ids, tier)
        parent = None if e["parent_id"] is None else int(e["parent_id"])
        return _wire.stored(
            ids, parent, e["token_ids"], e["block_size"], tier, e.get("lora_name"), e.get("cache_salt")
        )

    def test_ids_are_the_chained_hashes_of_the_vectors(self) -> None:
        compared = 0
        for case in vectors("block-hashes.json")["cases"]:
            if case["mm"] is not None or case["eagle"] or not case["sequence"]:
                continue
            size = case["block_size"]
            tokens = case["tokens"][: len(case["sequence"]) * size]
            space = {"lora": case["lora"], "salt": case["namespace"]}
            expected = [int(s) for s in case["sequence"]]
            self.assertEqual(block_ids(tokens, block_size=size, **space), expected, case["name"])
            parent = None
            for i, name in enumerate(expected):
                [parent] = block_ids(tokens[i * size : (i + 1) * size], block_size=size, parent=parent, **space)
                self.assertEqual(parent, name, case["name"])
            compared += 1
        self.assertGreaterEqual(compared, 20)

    def test_what_makes_no_sense_is_refused(self) -> None:
        with Publisher("tcp://127.0.0.1:*", None) as p:
            for wrong in (
                lambda: p.stored([1, 2, 3], block_size=4),
                lambda: p.stored([], block_size=4),
                lambda: p.stored([1, -1], block_size=2),
                lambda: p.stored([1, 1 << 32], block_size=2),
                lambda: p.stored([1, 2], block_size=0),
                lambda: p.stored([1, 2], block_size=2, ids=[1, 2]),
                lambda: p.stored([1, 2], block_size=2, ids=[0]),
                lambda: p.stored([1, 2], block_size=2, parent=0),
                lambda: p.stored([1, 2], block_size=2, salt="s" * 4097),
                lambda: p.stored([1, 2], block_size=2, lora="\ud800"),
                lambda: p.removed([]),
                lambda: p.removed([1 << 64]),
                lambda: Publisher(queue_batches=0),
            ):
                self.assertRaises(ValueError, wrong)
            self.assertEqual(p.stats().events, 0)


class Sockets(unittest.TestCase):
    def test_a_slow_sender_drops_the_oldest_and_a_replay_gives_them(self) -> None:
        with Publisher(
            "tcp://127.0.0.1:*", "tcp://127.0.0.1:*", topic="kv@a", queue_batches=3, replay_batches=50, batch_events=1
        ) as p:
            router = Router(self, p.endpoint, p.replay_endpoint, b"kv@")
            # A subscription has no answer: events go out until one arrives.
            while not router.live.poll(5):
                p.cleared()
            told = p.stats().events
            while p._next != told:
                time.sleep(0.001)
            dropped = p.stats().dropped_batches
            with p._lock:  # the sending thread stands still
                for i in range(20):
                    p._log.append(_wire.removed([i + 1], Tier.GPU))
                p._log.append(_wire.cleared())
            p._ring()
            numbers: list[int] = []
            while not numbers or numbers[-1] != told + 20:
                topic, sequence, payload = router.live.recv_multipart()
                self.assertEqual(topic, b"kv@a")
                self.assertEqual(len(msgspec.msgpack.decode(payload)), 3)
                numbers.append(int.from_bytes(sequence, "big"))
            self.assertEqual(numbers[-3:], [told + 18, told + 19, told + 20])
            self.assertEqual(p.stats().dropped_batches - dropped, 18)
            self.assertEqual(router.replayed(told), list(range(told, told + 21)))
            self.assertEqual(router.replayed(told + 21), [])
            self.assertLessEqual(len(router.replayed(0)), 50)

    def test_threads_may_tell_at_once_and_nothing_is_lost(self) -> None:
        p = Publisher("tcp://127.0.0.1:*", "tcp://127.0.0.1:*", replay_batches=10_000)
        router = Router(self, p.endpoint, p.replay_endpoint)

        def tell() -> None:
            for i in range(500):
                p.removed([i + 1])

        threads = [threading.Thread(target=tell) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        end = time.monotonic() + 10
        while p.stats().batches == 0 or len(router.replayed(0)) < p.stats().batches:
            self.assertLess(time.monotonic(), end)
        self.assertEqual(p.stats().events, 2000)
        p.close()
        p.close()
        self.assertRaises(RuntimeError, p.cleared)

    def test_what_was_said_before_the_end_arrives(self) -> None:
        p = Publisher("tcp://127.0.0.1:*", None, batch_events=1)
        router = Router(self, p.endpoint, None)
        while not router.live.poll(5):
            p.cleared()
        for i in range(300):
            p.removed([i + 1])
        last = p.stats().events - 1
        p.close()
        while int.from_bytes(router.live.recv_multipart()[1], "big") != last:
            pass

    def test_an_endpoint_that_is_taken_is_told(self) -> None:
        with Publisher("tcp://127.0.0.1:*", None) as p:
            self.assertRaises(zmq.ZMQError, Publisher, p.endpoint, None)
            self.assertRaises(zmq.ZMQError, Publisher, "tcp://127.0.0.1:*", p.endpoint)


class Readme(unittest.TestCase):
    def test_its_first_example_runs(self) -> None:
        found = re.search(r"```python\n(.*?)```", (HERE.parent / "README.md").read_text(encoding="utf-8"), re.DOTALL)
        assert found
        # Free ports, as others may have the engines' own.
        text, places = re.subn(r"tcp://\*:\d+", "tcp://127.0.0.1:*", found[1])
        self.assertEqual(places, 2)
        done = subprocess.run([sys.executable, "-B", "-c", text], capture_output=True, text=True, timeout=30)
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("3 events\n", "", 0))


class Engines(unittest.TestCase):
    """Both example engines, read by libzmq's sockets."""

    def follow(self, command: list[str]) -> None:
        engine = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(engine.communicate)
        self.addCleanup(engine.kill)
        assert engine.stdin and engine.stdout

        def ask(line: str) -> str:
            assert engine.stdin and engine.stdout
            engine.stdin.write(line + "\n")
            engine.stdin.flush()
            return engine.stdout.readline().strip()

        ready, port, replay = engine.stdout.readline().split()
        self.assertEqual(ready, "ready")
        router = Router(self, f"tcp://127.0.0.1:{port}", f"tcp://127.0.0.1:{replay}")
        self.assertEqual(ask("0 1 2 3 4 5 6 7 9"), "cached 0 computed 2 evicted 0")
        while not router.live.poll(5):
            ask("burst 1")
        before = int.from_bytes(router.live.recv_multipart()[1], "big")
        self.assertEqual(router.replayed(0)[: before + 1], list(range(before + 1)))
        ask("clear")
        payload = b""
        while b"AllBlocksCleared" not in payload:
            payload = router.live.recv_multipart()[2]
        stamp, events, rank = msgspec.msgpack.decode(payload)
        self.assertLess(abs(time.time() - stamp), 600)
        self.assertEqual((events, rank), ([{"type": "AllBlocksCleared"}], 0))
        engine.stdin.write("quit\n")
        engine.stdin.flush()
        self.assertEqual(engine.wait(10), 0)

    def test_the_python_engine(self) -> None:
        self.follow([sys.executable, "-B", str(HERE.parent / "examples/engine.py")])

    def test_the_c_engine(self) -> None:
        if not os.access(C_ENGINE, os.X_OK):
            self.skipTest(f"{C_ENGINE} is not built: cmake --build target/native --target kvpublisher_engine")
        self.follow([str(C_ENGINE)])


if __name__ == "__main__":
    unittest.main()

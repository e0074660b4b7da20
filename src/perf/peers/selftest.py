"""Planted faults: what the comparison must not count as a good answer, must not forget, and must say. Linux only, a few seconds."""
import asyncio
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

import gateways
import peers
from fleet import Failed, free_port
from load import Asker, Scenario, chats

ASKED = Scenario("S1", 20, 3, True, 200)
USED = {"prompt_tokens": 20, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 16}}


def event(**what):
    return b"data: " + json.dumps(what).encode() + b"\n\n"


def stream(contents=("a", "b", "c"), used=USED, end=b"data: [DONE]\n\n"):
    return b"".join(event(choices=[{"delta": {"content": c}}]) for c in ("", *contents)) + event(choices=[], usage=used) + end


def whole(body, status="200 OK"):
    return f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body


async def answers(raw, count=1, scenario=ASKED, then=lambda writer: None):
    """What the load makes of an engine that answers with these bytes."""
    served = []

    async def engine(reader, writer):
        served.append(asyncio.current_task())
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                break
            await reader.readexactly(int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0]))
            writer.write(raw)
            then(writer)
        writer.close()

    port = free_port()
    async with await asyncio.start_server(engine, "127.0.0.1", port):
        asker = Asker([port])
        found = await asker.play(chats(scenario, count, 1), scenario, 1)
        asker.close()
        await asyncio.gather(*served)
    return found


def row(title, **more):
    return {"round": 1, "scenario": "S1", "gateway": title, "version": "1", "rate": 9, "requests": 9, "errors": 0, "error": "", "cpu_us": 100.0,
            "first_p50_ms": 3.0, "first_p99_ms": 9.0, "cached": 0.5, **more}


class Test(unittest.TestCase):
    def fault_of(self, raw, **more):
        return asyncio.run(answers(raw, **more))[0].fault

    def test_good_answers_pass_and_their_tokens_are_read(self):
        for raw in (whole(stream()), b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(stream()), stream())):
            found = asyncio.run(answers(raw, count=20))
            self.assertEqual([None] * 20, [a.fault for a in found])
            self.assertEqual(16, found[0].used["cached_tokens"])
            self.assertTrue(0 < found[0].first <= found[0].end)

    def test_each_bad_answer_is_an_error(self):
        for told, raw in (
                ("status 500", whole(stream(), "500 Oh")),
                ("a stream without its end", whole(stream(end=b""))),
                ("2 tokens in place of 3", whole(stream(used=USED | {"completion_tokens": 2}))),
                ("None tokens in place of 3", whole(event(choices=[{"delta": {"content": "a"}}]) + b"data: [DONE]\n\n")),
                ("no content", whole(stream(contents=("", "", ""))))):
            with self.subTest(told):
                self.assertEqual(told, self.fault_of(raw))
        self.assertEqual("the connection was closed", self.fault_of(whole(stream())[:-40], then=lambda writer: writer.close()))

    def test_an_answer_that_never_ends_is_an_error_and_its_connection_is_not_used_again(self):
        with unittest.mock.patch("load.PATIENCE_S", 0.1):
            for whole_or_late in (asyncio.run(answers(b"HTTP/1.1 200 OK\r\n\r\n" + stream(), count=3)), asyncio.run(answers(b"", count=3))):
                self.assertEqual(["no answer: late"] * 3, [a.fault for a in whole_or_late])

    def test_first_content_is_timed_and_not_the_role(self):
        role, rest = event(choices=[{"delta": {"content": ""}}]), whole(stream())
        head = rest[:rest.index(b"\r\n\r\n") + 4]

        def later(writer):
            asyncio.get_running_loop().call_later(0.2, writer.write, rest[len(head) + len(role):])

        self.assertIn(b'"content": ""', role)
        found = asyncio.run(answers(head + role, then=later))[0]
        self.assertIsNone(found.fault)
        self.assertGreater(found.first, 0.19)

    def test_no_two_turns_share_a_prompt_and_turns_of_a_conversation_do(self):
        def systems(seed):
            return {json.loads(body)["messages"][0]["content"] for body in chats(ASKED, 200, seed)}

        self.assertEqual(8, len(systems("a")))
        self.assertFalse(systems("a") & systems("b"))
        documents = [json.loads(body)["messages"][1]["content"][:30] for body in chats(ASKED, 200, "a")]
        self.assertTrue(40 <= len(set(documents)) <= 110, len(set(documents)))

    def test_processor_time_of_children_counts(self):
        burn = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass\n"
        parent = subprocess.Popen([sys.executable, "-c", f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {burn + 'time.sleep(9)'!r}])\nsys.stdin.read()"],
                                  stdin=subprocess.PIPE)
        try:
            end = time.monotonic() + 30
            while sum(gateways.cpu_ns(gateways.family(parent.pid)[1:]).values()) < 3e8:
                self.assertLess(time.monotonic(), end, "the child's time is not seen")
                time.sleep(0.05)
            self.assertLess(sum(gateways.cpu_ns(gateways.family(parent.pid)).values()), 1.5e9)
        finally:
            os.kill(gateways.family(parent.pid)[-1], 9)
            parent.kill()
            parent.communicate()

    def test_a_process_that_ends_in_its_turn_fails_the_turn(self):
        class Shrinks:
            title, seen = "x", [{1: 5, 2: 6}, {1: 9}]

            def cpu(self):
                return self.seen.pop(0)

        class Nothing:
            async def play(self, *_):
                return []

        with self.assertRaisesRegex(Failed, "a process of x ended"):
            asyncio.run(peers.once(Nothing(), Shrinks(), 1, ASKED, 1))

    def test_who_is_not_installed_stays_in_the_table_with_the_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            kept, gateways.TOOLS = gateways.TOOLS, pathlib.Path(folder)
            try:
                (gateways.TOOLS / "smg.reason").write_text("no such version\n", encoding="utf-8")
                with self.assertRaisesRegex(Failed, "not installed: no such version"):
                    gateways.Smg([1], None)
                with self.assertRaisesRegex(Failed, "not installed: run .*install.sh litellm"):
                    gateways.Litellm([1], None)
            finally:
                gateways.TOOLS = kept
        self.assertIn("| smg cache_aware | **not installed: no such version** |", peers.table({}, {"smg cache_aware": "not installed: no such version"}, [gateways.Smg]))

    def test_ratios_and_losses_are_to_ours_of_the_same_kind(self):
        kinds = [gateways.WarmpathTurns, gateways.Nginx, gateways.WarmpathCaches, gateways.Smg]
        rows = [row(peers.DIRECT, first_p50_ms=2.0, first_p99_ms=2.0), row("Warmpath, by turns", cpu_us=100.0), row("nginx", cpu_us=50.0, first_p50_ms=2.5),
                row("Warmpath, by caches", cpu_us=400.0, cached=0.8), row("smg cache_aware", cpu_us=800.0, cached=0.9), row("smg cache_aware", cpu_us=700.0),
                row("smg cache_aware", cpu_us=900.0)]
        found = {kind.title: peers.figures(rows, type("G", (), {"title": kind.title, "own_engines": False, "part": 1}), 10, 20) for kind in kinds}
        text = peers.table(found, {}, kinds)
        self.assertIn("| nginx | 50.0 (0.500) |", text)
        self.assertIn("| smg cache_aware | 800 (2.00) |", text)
        self.assertIn("| Warmpath, by turns | 100 |", text)
        self.assertEqual(0.5, found["nginx"]["p50"])
        lost = "\n".join(peers.losses(found, kinds))
        self.assertIn("S1, µs: nginx 50.0, Warmpath, by turns 100", lost)
        self.assertNotIn("smg cache_aware 800", lost)
        self.assertIn("p50", lost)

    def test_a_smoke_without_hits_or_with_errors_fails(self):
        own = {"S1": 1, "S2": 1, "S3": 1, "cached": 10}
        titles = ("Warmpath, by turns", "Warmpath, by caches")
        good = dict(zip(titles, (own, own | {"cached": 40})))
        peers.smoke(good, [row("nginx")], {})
        for found, rows, absent, told in (
                (good, [row("nginx", errors=1)], {}, "requests failed"),
                (dict.fromkeys(titles, own), [row("nginx")], {}, "tokens are found"),
                (good | {"nginx": own | {"S2": 0}}, [row("nginx")], {}, "nginx: no processor time"),
                (good, [row("nginx")], {"Warmpath, by turns": "not started"}, "Warmpath is not there")):
            with self.assertRaisesRegex(Failed, told):
                peers.smoke(found, rows, absent)

    def test_what_is_saved_are_bars_that_plot_draws(self):
        kinds = [gateways.WarmpathTurns, gateways.Litellm]
        found = {kind.title: {"S1": 100, "S2": 1234, "S3": 9.87, "memory": 20} for kind in kinds}
        kept = peers.TURNS, peers.BARS
        with tempfile.TemporaryDirectory() as folder:
            peers.TURNS, peers.BARS = pathlib.Path(folder, "t.csv"), pathlib.Path(folder, "b.csv")
            try:
                peers.saved([row("Warmpath, by turns", cpu_us=99.0), row("Warmpath, by turns")], {"date": "2026-11-27", "commit": "1234567", "machine": "m"}, found, kinds)
                bars, turns = (list(csv.DictReader(p.read_text(encoding="utf-8").splitlines())) for p in (peers.BARS, peers.TURNS))
            finally:
                peers.TURNS, peers.BARS = kept
        self.assertEqual(2, len(turns))
        self.assertEqual(("S1", "Warmpath, by turns", "100", "99.0", "100", "2026-11-27 1234567"), tuple(bars[0][k] for k in ("panel", "bar", "value", "low", "high", "of")))
        self.assertEqual("1234", bars[1]["value"])
        self.assertEqual(["LiteLLM"], [b["bar"] for b in bars if b["bar"] == "LiteLLM"])

    def test_three_digits(self):
        self.assertEqual(["", "0", "0.00412", "0.412", "4.12", "41.2", "412", "4,123", "-0.412"],
                         [peers.shown(v) for v in (None, 0, 0.004123, 0.4123, 4.123, 41.23, 412.3, 4123.4, -0.4123)])


def run():
    return not unittest.TextTestRunner(stream=sys.stderr).run(unittest.defaultTestLoader.loadTestsFromTestCase(Test)).wasSuccessful()

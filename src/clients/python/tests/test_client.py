"""The client before a server of this process: what it sends, what it makes of answers, and what it raises.

Run: python -B -m unittest discover -s src/clients/python/tests. Against a gateway: src/test/e2e/router_client.py.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import threading
import unittest
from collections.abc import Callable, Coroutine
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from warmpath_router import KvRouterClient, RouterError

PACKAGE = Path(__file__).resolve().parents[1]
PATIENCE_SECONDS = 30
RANK = {"worker_id": "18446744073709551615", "worker": "w1", "dp_rank": 0, "block_size": 16}
TIERS = {"gpu_blocks": 2, "host_blocks": 1, "disk_blocks": 0, "external_blocks": 0, "cached_tokens": 48}
ASKED = {"model": "m", "prompt_tokens": 50}
BEST = {**ASKED, **RANK, "overlap_blocks": 2, **TIERS, "cost": 1.5, "mode": "kv", "reason": "r"}
LOAD = {**RANK, "potential_prefill_tokens": 9, "potential_decode_blocks": 4.5, "active_prefill_tokens": 0,
        "active_blocks": 3.5, "active_requests": 1}  # fmt: skip
SCORE = {**RANK, **TIERS, "prompt_blocks": 3, "shared_blocks": 0}
FRAMES = [
    {"token_ids": [776]},
    {"token_ids": [3575], "finish_reason": "length", "usage": {"prompt_tokens": 3, "completion_tokens": 2}},
]


class Gateway:
    """Answers as src/docs/reference/direct-api.md says, on a free port; `asked` has (method, path, body or None, headers)."""

    def __init__(self, test: unittest.TestCase) -> None:
        self.asked: list[tuple[str, str, Any, dict[str, str]]] = []
        self.refusals: list[tuple[int, bytes]] = []
        self.frames: list[Any] = FRAMES
        self.ends = b"data: [DONE]\n\n"
        self.endless = False
        self.left = threading.Event()
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:
                pass

            def do_POST(self) -> None:
                size = int(self.headers.get("Content-Length", 0))
                body = json.loads(self.rfile.read(size)) if size else None
                gateway.asked.append((self.command, self.path, body, dict(self.headers)))
                if gateway.refusals:
                    self.give(*gateway.refusals.pop(0))
                elif self.path == "/router/generate":
                    self.stream()
                elif self.path == "/router/reservations":
                    self.give(201, json.dumps({**BEST, "reservation_id": "a/b?", "ttl_seconds": 300}).encode())
                elif self.path.startswith("/router/reservations/"):
                    self.give(204, b"")
                else:
                    self.give(200, json.dumps(gateway.answer(self.path)).encode())

            do_DELETE = do_POST

            def give(self, status: int, body: bytes) -> None:
                self.send_response(status)
                if status != 204:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def stream(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                try:
                    for frame in gateway.frames:
                        self.event(frame)
                    while gateway.endless:
                        self.event(FRAMES[0])
                    self.wfile.write(gateway.ends)
                except (BrokenPipeError, ConnectionResetError):
                    gateway.left.set()

            def event(self, frame: Any) -> None:
                self.wfile.write(b": keep-alive\n\ndata: " + json.dumps(frame).encode() + b"\n\n")

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        test.addCleanup(serving.join)
        test.addCleanup(server.server_close)
        test.addCleanup(server.shutdown)

    def answer(self, path: str) -> dict[str, Any]:
        return {
            "/router/best_worker": BEST,
            "/router/potential_loads": {**ASKED, "loads": [LOAD]},
            "/router/overlap_scores": {**ASKED, "scores": [SCORE]},
            "/router/explain": {"model": "m", "tokens_known": True, "decision": {"mode": "kv"}},
        }[path]


class ClientTest(unittest.TestCase):
    def setUp(self) -> None:
        self.gateway = Gateway(self)

    def play(self, what: Callable[[KvRouterClient], Coroutine[Any, Any, None]], suffix: str = "") -> None:
        async def run() -> None:
            async with KvRouterClient(self.gateway.url + suffix, timeout=PATIENCE_SECONDS) as router:
                await what(router)

        asyncio.run(run())

    def bodies(self) -> list[tuple[str, str, Any]]:
        return [(method, path, body) for method, path, body, _ in self.gateway.asked]

    async def refused(self, call: Coroutine[Any, Any, Any]) -> RouterError:
        with self.assertRaises(RouterError) as raised:
            await call
        return raised.exception

    def test_a_prompt_of_each_kind_goes_under_its_own_name_and_absent_options_do_not_go(self) -> None:
        async def what(router: KvRouterClient) -> None:
            await router.best_worker([1, 2], model="m", worker_ids=None)
            await router.best_worker("hello")
            await router.best_worker([{"role": "user", "content": "hi"}])
            await router.best_worker((), dp_rank=0)

        self.play(what, suffix="/")
        path = ("POST", "/router/best_worker")
        self.assertEqual(
            self.bodies(),
            [
                (*path, {"token_ids": [1, 2], "model": "m"}),
                (*path, {"text": "hello"}),
                (*path, {"messages": [{"role": "user", "content": "hi"}]}),
                (*path, {"token_ids": [], "dp_rank": 0}),
            ],
        )

    def test_worker_ids_of_all_64_bits_are_numbers_and_the_rest_is_as_it_came(self) -> None:
        number = (1 << 64) - 1

        async def what(router: KvRouterClient) -> None:
            self.assertEqual(await router.best_worker_id([1]), (number, 2))
            self.assertEqual(await router.best_worker([1]), {**BEST, "worker_id": number})
            self.assertEqual(await router.get_potential_loads([1]), [{**LOAD, "worker_id": number}])
            self.assertEqual(await router.overlap_scores([1]), [{**SCORE, "worker_id": number}])
            self.assertEqual((await router.explain([1]))["decision"], {"mode": "kv"})

        self.play(what)

    def test_a_reservation_is_told_of_by_its_escaped_id_and_releases_itself(self) -> None:
        async def what(router: KvRouterClient) -> None:
            async with await router.reserve("x", ttl_seconds=5, wait=False) as mine:
                self.assertEqual((mine.id, mine.chosen["worker"]), ("a/b?", "w1"))
                await mine.prefill_complete()
                await mine.output_block()
                await mine.output_block(decay_fraction=0)

        self.play(what)
        mine = "/router/reservations/a%2Fb%3F"
        self.assertEqual(
            self.bodies(),
            [
                ("POST", "/router/reservations", {"text": "x", "ttl_seconds": 5, "wait": False}),
                ("POST", mine + "/prefill_complete", None),
                ("POST", mine + "/output_block", None),
                ("POST", mine + "/output_block", {"decay_fraction": 0}),
                ("DELETE", mine, None),
            ],
        )

    def test_an_answer_is_its_frames_to_the_end(self) -> None:
        async def what(router: KvRouterClient) -> None:
            stream = await router.generate(range(3), worker_id=7, stop_conditions={"max_tokens": 2})
            self.assertEqual([frame async for frame in stream], FRAMES)

        self.play(what)
        sent = {"token_ids": [0, 1, 2], "worker_id": 7, "stop_conditions": {"max_tokens": 2}}
        self.assertEqual(self.bodies(), [("POST", "/router/generate", sent)])

    def test_an_answer_that_breaks_gives_what_came_and_then_raises(self) -> None:
        error = {"error": {"message": "the engine is gone", "code": "engine_gone", "param": None}}

        async def read(router: KvRouterClient) -> tuple[list[int], RouterError]:
            came: list[int] = []
            stream = await router.generate([1])
            try:
                async for frame in stream:
                    came += frame["token_ids"]
            except RouterError as e:
                return came, e
            raise AssertionError("it ended as if it were whole")

        async def what(router: KvRouterClient) -> None:
            self.gateway.frames = [FRAMES[0], error]
            came, e = await read(router)
            self.assertEqual((came, str(e), e.status, e.code), ([776], "the engine is gone", 200, "engine_gone"))
            self.gateway.frames = FRAMES[:1]
            self.gateway.ends = b""
            came, e = await read(router)
            self.assertEqual((came, str(e), e.code), ([776], "the answer ended early", None))

        self.play(what)

    def test_a_stream_that_is_closed_ends_the_connection(self) -> None:
        self.gateway.endless = True

        async def what(router: KvRouterClient) -> None:
            async with await router.generate([1]) as stream:
                async for _ in stream:
                    break
            left = await asyncio.get_running_loop().run_in_executor(None, self.gateway.left.wait, PATIENCE_SECONDS)
            self.assertTrue(left)

        self.play(what)

    def test_a_refusal_says_where_and_why_and_the_client_goes_on(self) -> None:
        told = {"error": {"message": "no such member", "code": "bad_request", "param": "worker_idd"}}

        async def what(router: KvRouterClient) -> None:
            self.gateway.refusals = [
                (400, json.dumps(told).encode()),
                (529, json.dumps({"error": {"message": "all busy"}}).encode()),
                (502, b"<html>a proxy</html>"),
                (503, b""),
                (500, b'["no object"]'),
            ]
            e = await self.refused(router.best_worker([1], worker_idd=3))
            self.assertEqual((e.status, e.code, e.param, str(e)), (400, "bad_request", "worker_idd", "no such member"))
            e = await self.refused(router.generate([1]))
            self.assertEqual((e.status, e.code, e.param, str(e)), (529, None, None, "all busy"))
            e = await self.refused(router.generate([1]))
            self.assertEqual((e.status, str(e)), (502, "<html>a proxy</html>"))
            e = await self.refused(router.explain([1]))
            self.assertEqual((e.status, str(e)), (503, "status 503"))
            e = await self.refused(router.explain([1]))
            self.assertEqual((e.status, str(e)), (500, '["no object"]'))
            self.assertEqual((await router.best_worker([1]))["worker"], "w1")

        self.play(what)

    def test_a_client_of_the_callers_is_used_and_left_open(self) -> None:
        async def run() -> None:
            async with httpx.AsyncClient(headers={"Authorization": "Bearer KEY"}, timeout=PATIENCE_SECONDS) as http:
                async with KvRouterClient(self.gateway.url, http=http) as router:
                    await router.best_worker([1])
                self.assertFalse(http.is_closed)
            own = KvRouterClient(self.gateway.url)
            await own.aclose()
            with self.assertRaises(RuntimeError):
                await own.best_worker([1])

        asyncio.run(run())
        self.assertEqual([headers["Authorization"] for *_, headers in self.gateway.asked], ["Bearer KEY"])

    def test_a_gateway_that_is_not_there_is_an_error_of_httpx(self) -> None:
        async def run() -> None:
            async with KvRouterClient("http://127.0.0.1:1") as router:
                with self.assertRaises(httpx.HTTPError):
                    await router.best_worker([1])

        asyncio.run(run())

    def ran(self, *command: str) -> str:
        done = subprocess.run(
            [sys.executable, "-B", *command], capture_output=True, text=True, timeout=PATIENCE_SECONDS
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_examples_run(self) -> None:
        self.assertEqual(
            self.ran(str(PACKAGE / "examples/override.py"), self.gateway.url), "Generated 2 tokens: [776, 3575]\n"
        )
        self.assertEqual(
            self.ran(str(PACKAGE / "examples/minimize_ttft.py"), self.gateway.url, "m"),
            "Chosen: w1 with 9 tokens to prefill\nTokens: [776]\nTokens: [3575]\n",
        )

    def test_the_first_example_of_the_readme_runs(self) -> None:
        found = re.search(r"```python\n(.*?)```", (PACKAGE / "README.md").read_text(encoding="utf-8"), re.DOTALL)
        assert found
        at = "http://localhost:8000"
        self.assertEqual(found[1].count(at), 1)
        self.assertEqual(self.ran("-c", found[1].replace(at, self.gateway.url)), "[776]\n[3575]\n")


if __name__ == "__main__":
    unittest.main()

"""What the endpoint picker costs a request, request by request in turn: a real Envoy without a picker (none), with ours that passes a body on without
reading it (passes: what ext_proc itself costs), in clear text, in TLS, and with another one.

  latency.py [--seconds 20] [--only NAME] [--other 'COMMAND with {port} and {endpoints}'] [--smoke]

Engines are stubs that answer at once, so that first bytes are Envoy's and the picker's. CPU is that of each picker for its own requests. Lines
of one run are to be compared, and no others.
"""
import argparse
import asyncio
import json
import os
import pathlib
import shlex
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / part) for part in ("attack", "console", "e2e", "python/process")]

import proxy  # noqa: E402
from fleet import answers  # noqa: E402
from gateway_probe import cpu_seconds, free_ports  # noqa: E402
from openai_client import wait_until  # noqa: E402
from stage import ROOT, Stage  # noqa: E402

ENGINES = 4
PATIENCE_S = 90
CHAT, NO_INFERENCE = "/v1/chat/completions", "/v1/chat/none"
WAYS = {
    "none": {"picker": None, "cluster": "pool"},
    "passes": {"picker": "picker_clear", "cluster": "pool"},
    "clear": {"picker": "picker_clear", "cluster": "pool"},
    "tls": {"picker": "picker", "cluster": "pool"},
    "other": {"picker": "picker_other", "cluster": "pool"},
}
# name: bytes of a body, requests at once, requests a second (0: as fast as they are answered)
CASES = {"2 kB, 64 connections": (2_000, 64, 150), "1 MB, 4 connections": (1_000_000, 4, 12), "220 kB, 150 at once": (220_000, 150, 0)}
ANSWER = json.dumps({"id": "1", "object": "chat.completion", "model": "stub", "choices": [
    {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}}).encode()
METRICS = b"".join(b'vllm:%s{model_name="stub"} 0\n' % name for name in (b"num_requests_waiting", b"num_requests_running", b"kv_cache_usage_perc"))
MODELS = json.dumps({"object": "list", "data": [{"id": "stub", "object": "model"}]}).encode()


async def read_message(reader):
    """First line, headers in lower case, and the length of the body, which is thrown away."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
    length = 0
    if headers.get("transfer-encoding") == "chunked":
        while size := int(await reader.readline(), 16):
            await reader.readexactly(size + 2)
            length += size
        await reader.readline()
    elif left := int(headers.get("content-length", 0)):
        length = left
        await reader.readexactly(left)
    return head[0], headers, length


async def stub(reader, writer):
    try:
        while True:
            line, _, _ = await read_message(reader)
            path = line.split()[1]
            body = {"/v1/models": MODELS, "/metrics": METRICS, "/health": b"{}"}.get(path, ANSWER if path.startswith("/v1/chat") else b"")
            status, kind = "200 OK" if body else "404 Not Found", "text/plain" if body is METRICS else "application/json"
            writer.write(f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
    except (asyncio.IncompleteReadError, OSError):
        writer.close()


def serve_stubs(engines):
    """In a thread of its own, on the loop that is given back."""
    loop = asyncio.new_event_loop()

    async def listen():
        for engine in engines:
            host, port = engine.split(":")
            await asyncio.start_server(stub, host, int(port), limit=1 << 21)

    threading.Thread(target=loop.run_forever, daemon=True).start()
    asyncio.run_coroutine_threadsafe(listen(), loop).result(10)


def body(size, i):
    text = f"question {i} " + "what is known of the weather? " * (size // 30)
    return json.dumps({"model": "stub", "max_tokens": 1, "messages": [{"role": "user", "content": text[:size]}]}).encode()


class Client:
    """One of those that ask at the same time: a connection for each way, which take turns."""

    def __init__(self, ports, bodies, found):
        self.ports, self.bodies, self.found = ports, bodies, found
        self.open = {}

    async def once(self, way, i):
        if way not in self.open:
            self.open[way] = await asyncio.open_connection("127.0.0.1", self.ports[way], limit=1 << 21)
        reader, writer = self.open[way]
        data = self.bodies[i % len(self.bodies)]
        began = time.perf_counter()
        path = NO_INFERENCE if way == "passes" else CHAT
        writer.write(f"POST {path} HTTP/1.1\r\nhost: pool\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n".encode() + data)
        line, _, _ = await read_message(reader)
        self.found[way].append(time.perf_counter() - began if " 200 " in line else None)


async def play(ports, size, clients, rate, seconds):
    """{way: seconds of each request, None where it failed}; each client's ways take turns, in another order for each client."""
    found = {way: [] for way in ports}
    bodies = [body(size, i) for i in range(16)]
    end = time.monotonic() + seconds

    async def run(n):
        client = Client(ports, bodies, found)
        ways = list(ports)
        ways = ways[n % len(ways):] + ways[:n % len(ways)]
        pause = clients / rate if rate else 0
        await asyncio.sleep(pause * n / clients)
        i = n
        while time.monotonic() < end:
            for way in ways:
                due = time.monotonic() + pause
                await client.once(way, i)
                if pause:
                    await asyncio.sleep(max(0.0, due - time.monotonic()))
            i += 1
        for _, writer in client.open.values():
            writer.close()

    await asyncio.gather(*(run(n) for n in range(clients)))
    return found


def at(values, part):
    return 1000 * sorted(values)[min(len(values) - 1, int(part * len(values)))]


def started(folder, other, wanted):
    """Stage, ports by way, processes by way."""
    stage = Stage(None, folder, print)
    ways = {name: spec for name, spec in WAYS.items() if (name != "other" or other) and (name == "none" or not wanted or name in wanted)}
    ports = free_ports(7 + len(ways))
    engines = [f"127.0.0.{21 + i}:{ports}" for i in range(ENGINES)]
    serve_stubs(engines)
    pids = {}
    for name, port, http, flags in (("tls", ports + 1, ports + 3, []), ("clear", ports + 2, ports + 4, ["--no-endpoint-picker-tls"])):
        process = stage.start(name, proxy.picker_command(ROOT, port, http, engines, *flags))
        wait_until("the picker is not ready", lambda h=http: answers(h, "/ready"), PATIENCE_S)
        pids[name] = process.pid
    if other:
        command = shlex.split(other.format(port=ports + 6, endpoints=",".join(engines)))
        pids["other"] = stage.start("other", command).pid
    listeners = {name: f"127.0.0.1:{ports + 7 + i}" for i, name in enumerate(ways)} | {"admin": f"127.0.0.1:{ports + 5}"}
    config = folder / "latency.json"
    proxy.write(config, listeners, engines, f"127.0.0.1:{ports + 1}", f"127.0.0.1:{ports + 2}",
                f"127.0.0.1:{ports + 6}" if other else None, ways)
    envoy = stage.start("envoy", proxy.command(config, ports))
    by_way = {name: ports + 7 + i for i, name in enumerate(ways)}
    for way, port in by_way.items():
        wait_until(f"Envoy does not answer with {way}: {envoy.log}", lambda p=port: answers(p, "/health"), PATIENCE_S)
    return stage, by_way, pids, envoy.pid


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20, help="of each case (20)")
    parser.add_argument("--warm", type=float, default=60, help="seconds before them (60)")
    parser.add_argument("--only", default="", help="part of a case's name")
    parser.add_argument("--other", help="starts another picker, in clear text; {port} and {endpoints} (ip:port,...) are filled in")
    parser.add_argument("--ways", default="", help="names, with commas, in place of all; `none` is always among them")
    parser.add_argument("--smoke", action="store_true", help="a second of each case: does it run?")
    options = parser.parse_args()
    cases = {n: c for n, c in CASES.items() if options.only in n}
    if not cases:
        parser.error(f"no case has '{options.only}' in its name: {', '.join(CASES)}")
    stage, ports, pids, envoy = started(ROOT / "target/picker", options.other, options.ways.split(",") if options.ways else [])
    failed = 0
    try:
        asyncio.run(play(ports, 20_000, 8, 0, 0.3 if options.smoke else options.warm))  # until what is hot is compiled
        for name, (size, clients, rate) in cases.items():
            before = {way: cpu_seconds(pid) for way, pid in pids.items()}
            envoy_before = cpu_seconds(envoy)
            found = asyncio.run(play(ports, size, clients, rate, 1 if options.smoke else options.seconds))
            requests = sum(len(times) for times in found.values())
            envoy_ms = 1000 * (cpu_seconds(envoy) - envoy_before) / requests
            print(f"{name}: {requests} requests, Envoy {envoy_ms:.2f} ms CPU each, load {os.getloadavg()[0]:.1f}")
            plain = [s for s in found["none"] if s is not None]
            for way, times in found.items():
                good = [s for s in times if s is not None]
                failed += len(times) - len(good)
                added = "" if way == "none" else f"  added {at(good, .5) - at(plain, .5):7.2f} {at(good, .99) - at(plain, .99):7.2f}"
                served = len(good) + (len(found["passes"]) if way == "clear" and "passes" in found else 0)  # by the same process
                cpu = f"  CPU {1000 * (cpu_seconds(pids[way]) - before[way]) / served:.2f} ms" if way in pids else ""
                print(f"  {way:6} p50 {at(good, .5):7.2f}  p99 {at(good, .99):7.2f} ms{added}{cpu}", flush=True)
    finally:
        stage.clear()
        stage.close()
    print(f"latency: {failed} requests failed" if failed else "latency: no request failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

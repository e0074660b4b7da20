#!/usr/bin/env python3
"""Start of the gateway: time to ready and to the first answer, resident memory, latency of the first requests; warm CPU.

Starts COMMAND (default: ./warmpath serve beside this tree) in front of a small engine of its own, then:
  live         ms from the start of the command until /live says 200
  ready        ms from the start of the command until /ready says 200; readiness includes the warm-up. On a busy machine
               look at its processor time too
  first        ms until a chat, asked again and again from the start, is answered with 200
  requests     streamed chats one after the other: p50 and highest of the 1st to 20th and so on, ms
  idle         MiB resident after --idle quiet seconds
  streams      MiB resident while --streams chats are open, each with its first event read
  warm         ms of processor time per chat, and chats a second, in the second half of --warm seconds of four clients
One line of JSON per run on standard output. Live, ready and first are asked by three threads, every 5 ms each. With --beside,
another command runs in turn with COMMAND, on the same machine at the same time of day, and the last line has medians and ratios.

  start.py [--runs 1] [--requests 200] [--idle 10] [--streams 0] [--warm 0] [--port 18300] [--max-first MS] [--max-idle MIB]
           [--log FILE] [--beside 'COMMAND'] [-- COMMAND...]
The worker, host and port flags are appended to COMMAND. With --max-... the exit code is 1 when a run is above.
Standard library only.
"""
import argparse
import http.client
import http.server
import json
import os
import pathlib
import shlex
import signal
import socket
import socketserver
import statistics
import subprocess
import sys
import threading
import time

MODEL = "bench-model"
TOKENS = 32
HELD = "this one stays open"
PROMPT = "The quick brown fox jumps over the lazy dog and runs away from it. " * 60


def event(text):
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}).encode() + b"\n\n"


STREAM = b"".join(event(f" t{i}") for i in range(TOKENS)) + b"data: [DONE]\n\n"


class Engine(http.server.BaseHTTPRequestHandler):
    """Well, one model, and every chat answered with the same stream. Head and body leave in one write each."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def answer(self, status, body, kind="application/json"):
        head = f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
        self.wfile.write(head.encode() + body)

    def do_GET(self):
        if self.path == "/health":
            self.answer(200, b"{}")
        elif self.path == "/v1/models":
            self.answer(200, json.dumps({"object": "list", "data": [{"id": MODEL, "object": "model"}]}).encode())
        else:
            self.answer(404, b"{}")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if HELD.encode() not in body:
            self.answer(200, STREAM, "text/event-stream")
            return
        self.wfile.write(b"HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n" + event("one"))
        self.server.held_until.wait()
        self.close_connection = True

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, *arguments):
        self.held_until = threading.Event()
        super().__init__(*arguments)


def chat(words):
    return json.dumps({"model": MODEL, "stream": True, "messages": [{"role": "user", "content": words}]})


def resident_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise SystemExit(f"process {pid} has no resident size")


def cpu_ms(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def until_200(process, port, method, path, body, began, limit=60):
    """Milliseconds since `began` until this is answered with 200, and the processor time used by then."""
    while time.monotonic() - began < limit:
        if process.poll() is not None:
            raise RuntimeError(f"the gateway ended with status {process.returncode}")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=limit)
        try:
            connection.request(method, path, body, {"content-type": "application/json"} if body else {})
            answer = connection.getresponse()
            answer.read()
            if answer.status == 200:
                return (time.monotonic() - began) * 1000, cpu_ms(process.pid)
        except (OSError, http.client.HTTPException):
            pass  # not listening yet
        finally:
            connection.close()
        time.sleep(0.005)
    raise RuntimeError(f"{method} {path} was not answered with 200 within {limit} s")


def latencies(port, count):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    took = []
    for i in range(count):
        body = chat(f"{i} {PROMPT}")
        began = time.monotonic()
        connection.request("POST", "/v1/chat/completions", body, {"content-type": "application/json"})
        answer = connection.getresponse()
        if answer.status != 200 or not answer.read().endswith(b"data: [DONE]\n\n"):
            raise RuntimeError(f"request {i} was not answered whole: {answer.status}")
        took.append((time.monotonic() - began) * 1000)
    connection.close()
    return took


def open_streams(port, count):
    """Sockets of chats whose answers have begun and do not end."""
    body = chat(HELD).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    held = []
    for _ in range(count):
        client = socket.create_connection(("127.0.0.1", port), timeout=30)
        client.sendall(head.encode() + body)
        held.append(client)
    for client in held:
        seen = b""
        while b"data:" not in seen:
            more = client.recv(65536)
            if not more:
                raise RuntimeError(f"a stream ended early: {seen[:200]!r}")
            seen += more
    return held


def warm(port, pid, seconds):
    """Processor time per chat in ms, and chats a second, in the second half."""
    done = [0] * 4
    end = time.monotonic() + seconds

    def client(i):
        while time.monotonic() < end:
            latencies(port, 20)
            done[i] += 20

    threads = [threading.Thread(target=client, args=(i,)) for i in range(len(done))]
    for thread in threads:
        thread.start()
    time.sleep(seconds / 2)
    before, count, began = cpu_ms(pid), sum(done), time.monotonic()
    for thread in threads:
        thread.join()
    chats = sum(done) - count
    return (cpu_ms(pid) - before) / chats, chats / (time.monotonic() - began)


def summary(took):
    parts = {}
    for low, high in ((0, 1), (1, 20), (20, 100), (100, 200)):
        part = took[low:high]
        if part:
            parts[f"{low + 1}-{low + len(part)}"] = [round(statistics.median(part), 2), round(max(part), 2)]
    return parts


def run(command, options, engine):
    engine_port = engine.server_address[1]
    log = open(options.log, "ab") if options.log else subprocess.DEVNULL
    began = time.monotonic()
    process = subprocess.Popen(
        [*command, "--http-host", "127.0.0.1", "--http-port", str(options.port), "--worker", f"http://127.0.0.1:{engine_port}"],
        stdout=log,
        stderr=log,
    )
    try:
        found = {}

        def ask(name, *question):
            try:
                found[name] = until_200(process, options.port, *question, began)
            except RuntimeError as e:
                found[name] = e

        asking = [
            threading.Thread(target=ask, args=("live", "GET", "/live", None)),
            threading.Thread(target=ask, args=("ready", "GET", "/ready", None)),
            threading.Thread(target=ask, args=("first", "POST", "/v1/chat/completions", chat("hi"))),
        ]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        for value in found.values():
            if isinstance(value, RuntimeError):
                raise SystemExit(str(value))
        parts = summary(latencies(options.port, options.requests))
        time.sleep(options.idle)
        result = {
            "live_ms": round(found["live"][0]),
            "ready_ms": round(found["ready"][0]),
            "ready_cpu_ms": round(found["ready"][1]),
            "first_ms": round(found["first"][0]),
            "first_cpu_ms": round(found["first"][1]),
            "requests_ms_p50_max": parts,
            "idle_mib": round(resident_mib(process.pid)),
        }
        if options.streams:
            engine.held_until.clear()
            held = open_streams(options.port, options.streams)
            result["streams_mib"] = round(resident_mib(process.pid))
            engine.held_until.set()
            for client in held:
                client.close()
        if options.warm:
            cost, rate = warm(options.port, process.pid, options.warm)
            result["warm_cpu_ms"] = round(cost, 3)
            result["warm_per_s"] = round(rate)
        print(json.dumps(result), flush=True)
        return result
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(40)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise SystemExit("the gateway did not end within 40 s after SIGTERM") from None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--idle", type=float, default=10)
    parser.add_argument("--streams", type=int, default=0)
    parser.add_argument("--warm", type=float, default=0)
    parser.add_argument("--beside")
    parser.add_argument("--port", type=int, default=18300)
    parser.add_argument("--max-first", type=float)
    parser.add_argument("--max-idle", type=float)
    parser.add_argument("--log")
    parser.add_argument("command", nargs="*")
    options = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parents[2]
    command = options.command or [str(root / "warmpath"), "serve"]
    engine = Server(("127.0.0.1", 0), Engine)
    threading.Thread(target=engine.serve_forever, daemon=True).start()
    status = 0
    results, others = [], []
    for _ in range(options.runs):
        if options.beside:
            others.append(run(shlex.split(options.beside), options, engine))
        result = run(command, options, engine)
        results.append(result)
        for name, limit in (("first_ms", options.max_first), ("idle_mib", options.max_idle)):
            if limit is not None and result[name] > limit:
                print(f"{name} {result[name]} is above {limit:g}", file=sys.stderr)
                status = 1
    if options.beside:
        print(json.dumps(compared(results, others)))
    return status


def compared(results, others):
    """Per figure: median of COMMAND, median of the one beside it, and the first by the second."""
    table = {}
    for name, value in results[0].items():
        if isinstance(value, (int, float)):
            mine, other = (statistics.median(r[name] for r in some) for some in (results, others))
            table[name] = [mine, other, round(mine / other, 3)]
    return table


sys.exit(main())

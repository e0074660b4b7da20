#!/usr/bin/env python3
"""A gateway with a memory limit before clients that want all of its memory. Standard library only, Linux.

  hostile.py --root DIR [--limit-mib 512] [--seconds 600] [--port N] [--scale X] [--control] [--seed 1]
  hostile.py --self-test      the judge itself: it must refuse a process that grows

What comes at once: huge prompts, sent whole and in drips; readers that do not read long answers; connections that
say nothing; tenants, sessions, salts, models and paths without end; KV events of ever new blocks; operators'
endpoints. Then: resident memory was never above the limit, the process lives, nothing failed by 500 or 502, what was
refused was refused by 4xx and 503, metrics have no series of clients' making, and all is well again afterwards.

--control takes the limits away and wants the judge to find that: the attack would need more than the limit.
"""
import argparse
import asyncio
import collections
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../python/process"))
from gateway_probe import free_ports, parsed, resident_mib  # noqa: E402

MIB = 1 << 20
# What may refuse a request: what is wrong with it, too much of it, and that there is no room.
REFUSALS = {400, 401, 403, 404, 405, 408, 409, 411, 413, 414, 415, 429, 431, 503, 529}
SERIES_MADE = 60  # by methods, outcomes and states that first occur under attack


def problems_of(samples, limit, statuses, log, before, after):
    """What is wrong with a run, in sentences."""
    found = []
    if not samples or max(samples) > limit:
        found.append(f"resident memory went to {max(samples or [0]):.0f} MiB; {limit} are the limit")
    if "OutOfMemoryError" in log:
        found.append("the log has an OutOfMemoryError")
    failed = {s: n for s, n in statuses.items() if s >= 300 and s not in REFUSALS}
    if failed:
        found.append(f"answers that are no refusals: {failed}")
    if not after:
        found.append("the process has ended")
        return found
    if after["warmpath_memory_limit_bytes"] != limit * MIB:
        found.append(f"/metrics says that the limit is {after['warmpath_memory_limit_bytes']}")
    if after["series"] > before["series"] + SERIES_MADE:
        found.append(f"/metrics grew from {before['series']:.0f} to {after['series']:.0f} series")
    for name in ("warmpath_requests_active", "warmpath_bookings_open", "warmpath_request_body_bytes", "warmpath_memory_full"):
        if after[name] != 0:
            found.append(f"{name} is {after[name]:g} afterwards")
    return found


def self_test():
    well = {"warmpath_memory_limit_bytes": 512.0 * MIB, "series": 500.0, "warmpath_requests_active": 0.0,
            "warmpath_bookings_open": 0.0, "warmpath_request_body_bytes": 0.0, "warmpath_memory_full": 0.0}
    assert problems_of([200, 400], 512, {200: 9, 503: 9}, "", well, well) == []
    assert problems_of([], 512, {}, "", well, well)
    assert problems_of([200], 512, {500: 1}, "", well, well)
    assert problems_of([200], 512, {}, "java.lang.OutOfMemoryError: heap", well, well)
    assert problems_of([200], 512, {}, "", well, None)
    for name in well:
        assert problems_of([200], 512, {}, "", well, {**well, name: well[name] + 1000}), name
    # A process that grows, watched as a gateway is.
    leak = subprocess.Popen([sys.executable, "-c", "import time\nheld = []\nwhile True:\n"
                             "    held.append(bytearray(b'x') * (8 << 20))\n    time.sleep(0.05)"])
    try:
        samples = []
        end = time.monotonic() + 20
        while not problems_of(samples or [0], 64, {}, "", well, {**well, "warmpath_memory_limit_bytes": 64.0 * MIB}):
            assert time.monotonic() < end, f"a process that grows was not found: {samples}"
            samples.append(resident_mib(leak.pid))
            time.sleep(0.05)  # between two samples
    finally:
        leak.kill()
        leak.wait()
    print("memory: the judge refuses what grows, fails and stays")


class Attack:
    """Everything at once, until the time is over."""

    def __init__(self, port, rng, seconds):
        self.port, self.rng, self.end = port, rng, time.monotonic() + seconds
        self.statuses, self.lost = collections.Counter(), collections.Counter()
        self.kinds = collections.Counter()

    def over(self):
        return time.monotonic() >= self.end

    async def open(self):
        return await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 20)

    async def status(self, reader):
        head = await reader.readuntil(b"\r\n\r\n")
        code = int(head.split(b" ", 2)[1])
        self.statuses[code] += 1
        return code

    def head(self, method, path, length, more=()):
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", *more]
        if length is not None:
            lines.append(f"Content-Length: {length}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    async def forever(self, kind, once):
        while not self.over():
            writer = None
            try:
                async with asyncio.timeout(60):
                    reader, writer = await self.open()
                    await once(reader, writer)
                self.kinds[kind] += 1
            except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError, ValueError) as e:
                self.lost[kind + " " + type(e).__name__] += 1
            finally:
                if writer:
                    writer.transport.abort()
            await asyncio.sleep(0)

    def chat(self, text, **more):
        return json.dumps({"model": "m", "messages": [{"role": "user", "content": text}], **more}).encode()

    async def huge(self, reader, writer):
        """Prompts of megabytes, new ones each, some in chunks."""
        word = f"{self.rng.random()} "
        body = self.chat(word * (self.rng.choice((1, 2, 4, 8, 11, 20)) * MIB // len(word)), max_tokens=2, stream=True)
        if self.rng.random() < 0.5:
            writer.write(self.head("POST", "/v1/chat/completions", len(body)) + body)
        else:
            writer.write(self.head("POST", "/v1/chat/completions", None, ["Transfer-Encoding: chunked"]))
            for at in range(0, len(body), 65536):
                part = body[at:at + 65536]
                writer.write(b"%x\r\n%s\r\n" % (len(part), part))
            writer.write(b"0\r\n\r\n")
        sent = asyncio.ensure_future(writer.drain())
        try:
            await self.status(reader)
        finally:
            sent.cancel()

    async def drip(self, reader, writer):
        """A promise of ten megabytes, of which one after the other comes."""
        writer.write(self.head("POST", "/v1/chat/completions", 10 * MIB) + b'{"model": "m", "messages": [')
        for _ in range(10):
            writer.write(b" " * 200_000)
            await writer.drain()
            await asyncio.sleep(1)

    async def sloth(self, reader, writer):
        """Long answers that nobody reads."""
        body = self.chat(f"tell {self.rng.random()}", max_tokens=20_000, stream=True)
        writer.write(self.head("POST", "/v1/chat/completions", len(body)) + body)
        await self.status(reader)
        await asyncio.sleep(self.rng.uniform(5, 20))

    async def whole(self, reader, writer):
        """Long answers in one piece, through both APIs."""
        body = json.dumps({"model": "m", "max_tokens": 3000, "messages": [{"role": "user", "content": "x"}]}).encode()
        path = self.rng.choice(("/v1/chat/completions", "/v1/messages"))
        writer.write(self.head("POST", path, len(body)) + body)
        await self.status(reader)
        await asyncio.sleep(1)

    async def idle(self, reader, writer):
        """A connection with half a head, or none."""
        if self.rng.random() < 0.5:
            writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nX-A: " + b"a" * 4000)
        await reader.read(1)

    async def names(self, reader, writer):
        """Tenants, sessions, salts, models, paths and methods that nobody knows."""
        for _ in range(50):
            r = f"{self.rng.getrandbits(64):x}"
            kind = self.rng.randrange(4)
            body = self.chat(f"hello {r}" * 20, max_tokens=2, stream=True, cache_salt=r, user=r,
                             nvext={"session_id": r} if kind == 2 else {})
            if kind == 0:
                body = body.replace(b'"model": "m"', f'"model": "{r}"'.encode())
            path = f"/v1/{r}" if kind == 1 else "/v1/chat/completions"
            method = f"M{r}" if kind == 1 else "POST"
            writer.write(self.head(method, path, len(body), [
                f"x-tenant-id: {r}", f"x-session-id: {r}", f"x-request-id: {r}", f"X-{r}: {r * 40}"]) + body)
            head = await reader.readuntil(b"\r\n\r\n")
            code = int(head.split(b" ", 2)[1])
            self.statuses[code] += 1
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
            if length:
                await reader.readexactly(int(length[1]))
            elif b"chunked" in head.lower():
                while (size := int(await reader.readline(), 16)) > 0:
                    await reader.readexactly(size + 2)
                await reader.readline()
            if re.search(rb"(?i)connection: *close", head):
                return

    async def events(self, worker, pace):
        """Ever new blocks of one engine."""
        epoch, sequence, block, waits = int(time.time() * 1000), 0, 1, 0.0
        while not self.over():
            hashes = list(range(block, block + 100_000))
            block += 100_000
            body = json.dumps({"worker": worker, "epoch": epoch, "sequence": sequence, "events": [
                {"type": "BlockStored", "block_hashes": hashes[at:at + 1000], "token_ids": hashes[at:at + 1000], "block_size": 1}
                for at in range(0, 100_000, 1000)]}).encode()
            writer = None
            try:
                reader, writer = await self.open()
                writer.write(self.head("POST", "/events", len(body)) + body)
                code = await self.status(reader)
                sequence += code == 200
                waits = pace if code == 200 else 0.2
            except (OSError, asyncio.IncompleteReadError) as e:
                self.lost["events " + type(e).__name__] += 1
            finally:
                if writer:
                    writer.transport.abort()
            self.kinds["events"] += 1
            await asyncio.sleep(waits)

    async def control(self, reader, writer):
        """Operators' endpoints, with bodies that are wrong."""
        for method, path, length in (
                ("GET", "/workers", 0), ("GET", "/metrics", 0), ("GET", "/q/health", 0), ("GET", "/events/sources", 0),
                ("POST", "/workers", 30_000), ("POST", "/router/explain", 60_000), ("POST", "/events", 4_000_000),
                ("GET", "/router/decisions", 0), ("POST", "/tokenize", 1_000_000)):
            body = b"[" + b"[]," * (length // 3) + b"[]]" if length else b""
            writer.write(self.head(method, path, len(body) if length else None) + body)
            await writer.drain()
            head = await reader.readuntil(b"\r\n\r\n")
            self.statuses[int(head.split(b" ", 2)[1])] += 1
            size = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
            if not size or re.search(rb"(?i)connection: *close", head):
                return
            await reader.readexactly(int(size[1]))

    async def run(self, sample, scale):
        tasks = [asyncio.create_task(self.forever(kind, once)) for kind, once, n in (
            ("huge", self.huge, 6), ("drip", self.drip, 20), ("sloth", self.sloth, 250), ("whole", self.whole, 6),
            ("idle", self.idle, 600), ("names", self.names, 4), ("control", self.control, 3)) for _ in range(max(1, int(n * scale)))]
        tasks += [asyncio.create_task(self.events(f"w{i}", 0.1)) for i in range(2)]
        while not self.over():
            sample()
            await asyncio.sleep(0.25)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def get(port, path):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Host": "localhost"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


def scrape(port):
    return parsed(get(port, "/metrics"))


def settled(port, seconds):
    """The metrics as soon as nothing runs and memory is free, or as they are after these seconds."""
    end = time.monotonic() + seconds
    while True:
        try:
            now = scrape(port)
            if time.monotonic() >= end or not any(now[n] for n in (
                    "warmpath_requests_active", "warmpath_bookings_open", "warmpath_request_body_bytes", "warmpath_memory_full")):
                return now
        except (OSError, KeyError):
            if time.monotonic() >= end:
                return None
        time.sleep(0.25)  # between two questions of a condition


def up(url, process, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=2).read()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)  # between two questions of a condition
    raise SystemExit(f"memory: {url} does not answer with 200")


def chat_problem(port):
    """That an ordinary chat is not answered, in a sentence."""
    body = json.dumps({"model": "m", "max_tokens": 2, "messages": [{"role": "user", "content": "well?"}]}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/chat/completions", body, {"Content-Type": "application/json"})
    try:
        urllib.request.urlopen(request, timeout=30).read()
        return []
    except OSError as e:
        return [f"a chat afterwards: {e}"]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--root")
    ap.add_argument("--limit-mib", type=int, default=512)
    ap.add_argument("--seconds", type=float, default=600)
    ap.add_argument("--port", type=int, default=0)
    ap.add_argument("--scale", type=float, default=1)
    ap.add_argument("--control", action="store_true")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--self-test", action="store_true")
    a = ap.parse_args()
    if a.self_test:
        return self_test()
    if not a.root:
        ap.error("--root is needed")
    folder = os.path.join(a.root, "target", "memory")
    os.makedirs(folder, exist_ok=True)
    config = os.path.join(folder, "gateway.yaml")
    a.port = a.port or free_ports(3)
    ports = [a.port + 1, a.port + 2]
    with open(config, "w", encoding="ascii") as f:
        f.write("warmpath:\n  workers:\n" + "".join(
            f"    - name: w{i}\n      url: http://127.0.0.1:{p}\n      events-endpoint: post\n      block-size: 1\n"
            for i, p in enumerate(ports)))
    env = {k: v for k, v in os.environ.items() if not k.startswith("WARMPATH_")}
    env["WARMPATH_AOT"] = "off"
    limit = ["--memory-limit", f"{a.limit_mib}M"]
    if a.control:
        env["WARMPATH_JAVA_OPTS"] = "-Xmx3g"
        limit = ["--memory-limit", "12G"]
    log = os.path.join(folder, "gateway.log")
    with open(log, "wb") as out:
        stubs = [subprocess.Popen([sys.executable, os.path.join(HERE, "stub.py"), str(p)]) for p in ports]
        gateway = subprocess.Popen(
            [os.path.join(a.root, "warmpath"), "serve", "--http-host", "127.0.0.1", "--http-port", str(a.port),
             "--config", config, "--tokenizer", os.path.join(a.root, "src/tokens/main/resources/demo-model/tokenizer.json"),
             "--router-session-affinity-ttl-secs", "300", "--enable-cache-control", *limit], stdout=out, stderr=out, env=env)
    try:
        up(f"http://127.0.0.1:{a.port}/ready", gateway, 120)
        before = scrape(a.port)
        samples = []

        def sample():
            try:
                samples.append(resident_mib(gateway.pid))
            except (OSError, ProcessLookupError):
                attack.end = 0  # it has ended: so has the attack

        attack = Attack(a.port, random.Random(a.seed), a.seconds)
        asyncio.run(attack.run(sample, a.scale))
        after = settled(a.port, 60) if gateway.poll() is None else None
        with open(log, encoding="utf-8", errors="replace") as f:
            text = f.read()
        problems = problems_of(samples, a.limit_mib, attack.statuses, text, before, after)
        quarter = samples[:: max(1, len(samples) // 4)]
        print(f"memory: seed {a.seed}, {a.seconds:.0f} s, most {max(samples):.0f} of {a.limit_mib} MiB, at quarters"
              f" {[round(s) for s in quarter]}, done {dict(attack.kinds)}, answers {dict(sorted(attack.statuses.items()))}")
        print(f"memory: lost {dict(attack.lost)}")
        if after:
            print("memory: " + ", ".join(f"{n} {after.get(n, -1):g}" for n in (
                'warmpath_overload_rejections_total{cause="memory"}', "warmpath_memory_shortages_total", "warmpath_index_bytes",
                "warmpath_index_refused_total", "warmpath_memory_resident_bytes", "series")))
            problems += chat_problem(a.port)
            if not a.control and after.get('warmpath_overload_rejections_total{cause="memory"}', 0) == 0:
                problems.append("nothing was refused for want of memory: the attack was none")
        if a.control:
            over = [p for p in problems if p.startswith("resident")]
            print(f"memory: without limits: {over or 'nothing'}")
            problems = [] if over else ["without limits the same attack stays below the limit: it proves nothing"]
        for p in problems:
            print("memory: " + p, file=sys.stderr)
        sys.exit(1 if problems else 0)
    finally:
        for process in [gateway, *stubs]:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Steady load on a running gateway, then: is every booking closed, is memory flat?

Open loop at a fixed rate: streamed chats over kept-alive connections, shared system prompts, growing
conversations; one client in ten hangs up in mid-stream. Memory is the gateway's resident set, sampled
once a second; the first third of the run is warm-up. Standard library only.

  soak.py --gateway URL --pid GATEWAY_PID [--seconds 30] [--rate 200] [--seed 1]
  soak.py --self-test      the checks themselves: they must refuse planted leaks
"""
import argparse
import asyncio
import collections
import json
import os
import random
import re
import statistics
import sys
import time
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../python/process"))
from gateway_probe import parsed, resident_mib  # noqa: E402

# What JIT, metaspace and malloc arenas still add after the warm-up (16 to 20 seen), and what fills up to a bound: decisions (16 MiB), hot prefixes (8 MiB).
SLACK_MIB = 56
SLACK_SHARE = 0.08


def memory_problem(samples):
    """Why these resident sizes (MiB, one a second) are not flat, or None."""
    n = len(samples)
    if n < 12:
        return f"only {n} samples of memory; run longer"
    middle = statistics.median(samples[n // 3 : n // 3 + max(3, n // 10)])
    end = statistics.median(samples[-max(3, n // 10) :])
    allowed = max(SLACK_MIB, middle * SLACK_SHARE)
    if end - middle > allowed:
        return f"memory grew from {middle:.0f} to {end:.0f} MiB; {allowed:.0f} MiB more are allowed"
    return None


def leak_problem(metrics):
    """Which gauge of open work is not zero when nothing runs, or None."""
    for name in ("warmpath_bookings_open", "warmpath_requests_active"):
        if name not in metrics:
            return f"the gateway's /metrics has no {name}"
        if metrics[name] != 0:
            return f"{name} is {metrics[name]:g} when nothing runs"
    return None


def self_test():
    flat = [200 + (i % 3) for i in range(60)]
    leaking = [200 + 2 * i for i in range(60)]
    assert memory_problem(flat) is None
    assert memory_problem(leaking) is not None, "a leak of 2 MiB a second was not seen"
    assert memory_problem(flat[:5]) is not None
    idle = {"warmpath_bookings_open": 0.0, "warmpath_requests_active": 0.0}
    assert leak_problem(idle) is None
    assert leak_problem({**idle, "warmpath_bookings_open": 1.0}) is not None
    assert leak_problem({}) is not None
    print("soak: the checks refuse planted leaks")


def scrape(gateway):
    return parsed(urllib.request.urlopen(gateway + "/metrics", timeout=10).read().decode())


class Client:
    """One request at a time over one kept-alive connection; hangs up when told to."""

    def __init__(self, host, port):
        self.host, self.port, self.streams = host, port, None

    async def chat(self, body, hang_up_after):
        if self.streams is None:
            self.streams = await asyncio.open_connection(self.host, self.port)
        reader, writer = self.streams
        writer.write(
            b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: "
            + str(len(body)).encode() + b"\r\n\r\n" + body)
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head.split(b"\r\n", 1)[0]:
            self.close()
            return head.split(b"\r\n", 1)[0].decode()
        # An answer that was complete in one turn of the gateway's loop comes with its length.
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        if length:
            whole = await reader.readexactly(int(length[1]))
            return "ok" if b"data: [DONE]" in whole else "no [DONE]"
        chunks = 0
        done = False
        while True:
            size = int(await reader.readline(), 16)
            data = await reader.readexactly(size + 2)
            if size == 0:
                return "ok" if done else "no [DONE]"
            chunks += 1
            done = done or b"data: [DONE]" in data
            if hang_up_after and chunks >= hang_up_after:
                self.close()
                return "hung up"

    def close(self):
        if self.streams:
            self.streams[1].transport.abort()
            self.streams = None


async def load(gateway, seconds, rate, rng, sample):
    url = urllib.parse.urlsplit(gateway)
    model = json.load(urllib.request.urlopen(gateway + "/v1/models", timeout=10))["data"][0]["id"]
    systems = [" ".join(f"rule {s} {i} of the house" for i in range(60)) for s in range(4)]
    conversations = [[] for _ in range(64)]
    idle, outcomes, tasks = [], collections.Counter(), set()

    async def one(client, index):
        talk = conversations[index]
        if len(talk) >= 12:
            talk.clear()
        talk.append({"role": "user", "content": f"turn {len(talk)} of {index}: {rng.random()} what next?"})
        messages = [{"role": "system", "content": systems[index % 4]}, *talk]
        body = json.dumps({"model": model, "messages": messages, "max_tokens": 8, "stream": True}).encode()
        try:
            async with asyncio.timeout(30):
                result = await client.chat(body, 3 if rng.random() < 0.1 else 0)
        except (OSError, asyncio.IncompleteReadError, TimeoutError, ValueError) as e:
            client.close()
            result = type(e).__name__
        outcomes[result] += 1
        idle.append(client)

    begin = time.monotonic()
    sent, next_sample = 0, 1.0
    while (now := time.monotonic() - begin) < seconds:
        while sent < now * rate:
            client = idle.pop() if idle else Client(url.hostname, url.port)
            task = asyncio.create_task(one(client, rng.randrange(len(conversations))))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            sent += 1
        if now >= next_sample:
            sample()
            next_sample += 1.0
        await asyncio.sleep(0.002)
    await asyncio.gather(*tasks)
    for client in idle:
        client.close()
    return outcomes, sent


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--gateway")
    ap.add_argument("--pid", type=int)
    ap.add_argument("--seconds", type=float, default=30)
    ap.add_argument("--rate", type=float, default=200)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--self-test", action="store_true")
    a = ap.parse_args()
    if a.self_test:
        return self_test()
    if not a.gateway or not a.pid:
        ap.error("--gateway and --pid are needed")
    samples = []
    outcomes, sent = asyncio.run(
        load(a.gateway, a.seconds, a.rate, random.Random(a.seed), lambda: samples.append(resident_mib(a.pid))))
    end = time.monotonic() + 20
    while (problem := leak_problem(metrics := scrape(a.gateway))) and time.monotonic() < end:
        time.sleep(0.1)  # between two questions of a condition
    print(f"soak: {sent} requests in {a.seconds:.0f} s, outcomes {dict(outcomes)}, resident MiB"
          f" {samples[len(samples) // 3]:.0f} after warm-up, {samples[-1]:.0f} at the end, blocks in the index"
          f" {metrics.get('warmpath_index_blocks', -1):.0f}")
    problems = [p for p in (problem, memory_problem(samples)) if p]
    failed = sum(n for what, n in outcomes.items() if what not in ("ok", "hung up"))
    if failed:
        problems.append(f"{failed} requests failed")
    if outcomes["hung up"] == 0 or outcomes["ok"] < sent * 0.7:
        problems.append("the load was not what it should be")
    for p in problems:
        print("soak: " + p, file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()

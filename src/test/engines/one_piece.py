"""Throughput of answers in one piece beside streamed ones, from clients of many tenants that ask again as soon as they have an answer."""

import concurrent.futures
import hashlib
import http.client
import itertools
import json
import pathlib
import time
import urllib.parse

from fleet import NAME, check
from talk import words

TENANTS = 20
ROUNDS = 3
SECONDS = 6
LEAST = 0.95


def key(tenant):
    return f"wp-tenant-{tenant:02d}-of-a-test-with-real-engines"


def key_file(folder):
    lines = ["keys:"]
    for tenant in range(TENANTS):
        digest = hashlib.sha256(key(tenant).encode()).hexdigest()
        lines.append(f"  - {{name: t{tenant}, tenant: t{tenant}, sha256: {digest}}}")
    path = pathlib.Path(folder) / "keys.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


def per_second(gateway, clients, streamed, numbers):
    """Answers, all clients together; none begins a request after SECONDS."""
    host = urllib.parse.urlsplit(gateway.url).netloc
    began = time.monotonic()

    def one(client):
        connection = http.client.HTTPConnection(host, timeout=120)
        headers = {"content-type": "application/json", "authorization": f"Bearer {key(client % TENANTS)}"}
        answers = 0
        while time.monotonic() - began < SECONDS:
            text = words(next(numbers), 200)
            body = {"model": NAME, "max_tokens": 16, "temperature": 0, "stream": streamed, "messages": [{"role": "user", "content": text}]}
            connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
            check(answer.status == 200, f"status {answer.status}: {text[:300]}")
            answers += 1
        connection.close()
        return answers

    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        answers = sum(pool.map(one, range(clients)))
    return answers / (time.monotonic() - began)


def compare(target, clients):
    """The two kinds take turns, so that both see the same machine. `target`: a gateway, or an engine itself."""
    numbers = itertools.count(1_000_000 * clients)
    per_second(target, clients, True, numbers)  # until code is compiled
    sums = {True: 0, False: 0}
    for _ in range(ROUNDS):
        for streamed in sums:
            sums[streamed] += per_second(target, clients, streamed, numbers)
    ratio = sums[False] / sums[True]
    print(f"    {target.name}, {clients} clients: {sums[True] / ROUNDS:.1f}/s streamed, {sums[False] / ROUNDS:.1f}/s in one piece, ratio {ratio:.2f}", flush=True)
    return ratio


def play(engine, gateway, clients):
    """An engine that gives fewer answers in one piece by itself does so behind the gateway, too."""
    for n in clients:
        least = LEAST * min(1, compare(engine, n))
        ratio = compare(gateway, n)
        check(ratio >= least, f"{n} clients get fewer answers in one piece than streamed ones: {ratio:.2f} of them, {least:.2f} is the least")

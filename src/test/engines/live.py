#!/usr/bin/env python3
"""Gateways in front of two real SGLangs: engine-reported hit rates and times to the first token (src/perf/live.md).

    live.py modes [--rounds 3] [--at-once 3] [--check]     one workload through each gateway in turn, all up, caches flushed before
    live.py start [--rounds 4] [--at-once 3] [--check]     the first 15 seconds after each gateway says that it is ready

The workload: 12 conversations of 5 turns over one system prompt, --at-once of them at a time, arrivals drawn with a seed.
Each engine has a core of its own, as each would have a GPU: engines that take each other's cores reward the gateway that
leaves one of them idle. Gateways and client have what is left of these cores.
The SGLang gateway (PyPI's smg, from install.sh) is compared where it is installed. --check: what must hold on any machine
holds, or the status is 1; the figures say the rest.
"""

import argparse
import concurrent.futures
import os
import random
import statistics
import time

from fleet import TOOLS, Gateway, Process, Sglang, check, free_port, running
from talk import cached_of, client, words

CONVERSATIONS, TURNS, TOKENS = 12, 5, 24
THINK = 0.15  # mean seconds between a conversation's turns


class Smg(Process):
    """The SGLang gateway with its cache-aware policy."""

    program = TOOLS / "smg/bin/smg"

    def __init__(self, engines):
        self.port, self.metrics_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        super().__init__("smg", [
            self.program, "launch", "--host", "127.0.0.1", "--port", self.port, "--prometheus-port", self.metrics_port,
            "--worker-urls", *[e.url for e in engines], "--policy", "cache_aware", "--log-level", "warn"])

    def wait(self):
        return self.answers(self.url + "/readiness", 60)


def ask(api, history):
    """Streams one turn; seconds to the first text, prompt and cached tokens, and the text."""
    began, first, text, usage = time.monotonic(), None, "", None
    for chunk in api.chat.completions.create(
            model="tiny", messages=history, max_tokens=TOKENS, temperature=0, stream=True,
            stream_options={"include_usage": True}):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            if choice.delta.content:
                first = first or time.monotonic() - began
                text += choice.delta.content
    return first, usage.prompt_tokens, cached_of(usage), text


def conversation(api, seed, number, deadline=None):
    drawn = random.Random(f"{seed} {number}")
    history = [{"role": "system", "content": words(f"system {seed}", 250)}]
    seen = []
    for turn in range(TURNS):
        time.sleep(drawn.expovariate(1 / THINK))
        if deadline and time.monotonic() > deadline:
            break
        history.append({"role": "user", "content": words(f"{seed} {number} {turn}", drawn.randrange(30, 160))})
        at = time.monotonic()
        first, prompt, cached, text = ask(api, history)
        history.append({"role": "assistant", "content": text})
        seen.append((at, first, prompt, cached))
    return seen


def workload(url_of, seed, at_once, seconds=None):
    """All conversations; with `seconds`, as many as there is time for."""
    began = time.monotonic()
    deadline = began + seconds if seconds else None
    numbers = range(CONVERSATIONS if not seconds else 1000)
    api = client(url_of)
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        def one(n):
            return [] if deadline and time.monotonic() > deadline else conversation(api, seed, n, deadline)
        seen = [turn for turns in pool.map(one, numbers) for turn in turns]
    return began, seen


def hit_rate(seen):
    return sum(s[3] for s in seen) / sum(s[2] for s in seen)


def modes(engines, gateways, rounds, at_once, bound):
    found = {name: [] for name in [*gateways, "one endless cache"]}
    order = list(gateways)
    for r in range(rounds):
        random.Random(r).shuffle(order)
        for name in order:
            for e in engines:
                e.flush()
            if hasattr(gateways[name], "settle"):
                gateways[name].settle()
            _, seen = workload(gateways[name], f"round {r}", at_once)
            found[name].append(seen)
        bound.flush()
        found["one endless cache"].append(workload(bound, f"round {r}", at_once)[1])
    print("| gateway | hit rate of each round | all | mean TTFT | p50 | p95 |")
    print("|---|---|---|---|---|---|")
    for name, rounds_seen in found.items():
        seen = [s for one in rounds_seen for s in one]
        firsts = sorted(s[1] for s in seen)
        each = ", ".join(f"{100 * hit_rate(one):.1f}" for one in rounds_seen)
        print(f"| {name} | {each} | {100 * hit_rate(seen):.1f} % | {1000 * statistics.mean(firsts):.0f} ms"
              f" | {1000 * statistics.median(firsts):.0f} | {1000 * firsts[int(len(firsts) * 0.95)]:.0f} |")
    return {name: hit_rate([s for one in each for s in one]) for name, each in found.items()}


def check_modes(hits):
    """Margins below what was seen ten times; what is compared was asked in the same minutes."""
    turns = hits["round-robin"]
    check(hits["kv, blocks"] > turns + 0.03, f"blocks find no more than round-robin: {hits}")
    check(hits["kv, latency"] > turns + 0.07, f"the default finds hardly more than round-robin: {hits}")
    check(hits["kv, latency"] > hits["one endless cache"] - 0.03, f"the default leaves what could be found: {hits}")
    if "smg" in hits:
        check(hits["kv, latency"] > hits["smg"] - 0.03, f"smg finds more: {hits}")


def starts(engines, make, rounds, at_once):
    """Each gateway started anew, in turn, and asked from the moment that it is ready."""
    spans = [(0, 2), (2, 5), (5, 10), (10, 15)]
    found = {name: {span: [] for span in spans} for name in make}
    ups = {name: [] for name in make}
    for r in range(rounds):
        for name in make if r % 2 == 0 else list(make)[::-1]:
            for e in engines:
                e.flush()
            gateway = make[name]()
            began = time.monotonic()
            with running(gateway):
                ups[name].append(time.monotonic() - began)
                start, seen = workload(gateway, f"start {r}", at_once, spans[-1][1])
                for at, first, _, _ in seen:
                    for span in spans:
                        if first and span[0] <= at - start < span[1]:
                            found[name][span].append(first)
    print("| gateway | ready after | " + " | ".join(f"TTFT {a} to {b} s after it" for a, b in spans) + " |")
    print("|---|---|" + "---|" * len(spans))
    for name, of in found.items():
        cells = [f"{1000 * statistics.mean(of[s]):.0f} ms ({len(of[s])})" if of[s] else "-" for s in spans]
        print(f"| {name} | {statistics.median(ups[name]):.1f} s | " + " | ".join(cells) + " |")
    return {name: [statistics.mean(of[s]) for s in spans] for name, of in found.items()}


def check_start(firsts):
    """A first minute like any other minute; where smg is there, none worse than its own by more than noise."""
    ours = firsts["warmpath"]
    check(ours[0] < 2 * ours[-1], f"ready was not warm: {firsts}")
    if "smg" in firsts:
        check(ours[0] < 1.6 * firsts["smg"][0], f"the first two seconds: {firsts}")
        check(ours[-1] < 1.3 * firsts["smg"][-1], f"from the tenth second on: {firsts}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["modes", "start"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--at-once", type=int, default=3)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    engines = [Sglang(f"sglang-{i}", tokens=8192, core=i % os.cpu_count()) for i in range(2)]
    smg = {"smg": lambda: Smg(engines)} if Smg.program.exists() else {}
    with running(*engines):
        if asked.what == "start":
            firsts = starts(engines, {"warmpath": lambda: Gateway(engines), **smg}, asked.rounds, asked.at_once)
            if asked.check:
                check_start(firsts)
            return
        ours = {
            "round-robin": ["--router-mode", "round-robin"], "kv, latency": [],
            "kv, blocks": ["--router-cost", "blocks"]}
        gateways = {n: Gateway(engines, name=f"gateway-{i}", more=m) for i, (n, m) in enumerate(ours.items())}
        gateways.update((name, make()) for name, make in smg.items())
        bound = Sglang("sglang-bound", tokens=131072)
        with running(*gateways.values(), bound):
            hits = modes(engines, gateways, asked.rounds, asked.at_once, bound)
        if asked.check:
            check_modes(hits)


if __name__ == "__main__":
    main()

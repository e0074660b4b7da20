#!/usr/bin/env python3
"""Gateways in front of two real SGLangs: engine-reported hit rates and times to the first token (src/perf/live.md).

    live.py modes [--rounds 3] [--at-once 3] [--check]     one workload through each gateway in turn, all up, caches flushed before
    live.py exact [--case NAME] [--rounds 3] [--check]     where a guess from what was sent goes wrong: evictions, restarts (exact.py)
    live.py start [--rounds 4] [--at-once 3] [--check]     the first 15 seconds after each gateway says that it is ready

The workload: 12 conversations of 5 turns over one system prompt, --at-once of them at a time, arrivals drawn with a seed.
Each engine has a core of its own, as each would have a GPU: engines that take each other's cores reward the gateway that
leaves one of them idle. Gateways and client have what is left of these cores.
The SGLang gateway (PyPI's smg, from install.sh) is compared where it is installed. --check: what must hold on any machine
holds, or the status is 1; the figures say the rest.
"""

import argparse
import collections
import concurrent.futures
import os
import random
import statistics
import time

import causes
import exact
from figures import hit_rates, table
from fleet import Gateway, Sglang, Smg, check, running
from talk import chat, client, words

CONVERSATIONS, TURNS, TOKENS = 12, 5, 24
THINK = 0.15  # mean seconds between a conversation's turns


def conversation(api, seed, number, deadline=None):
    """Its messages and its answers."""
    drawn = random.Random(f"{seed} {number}")
    history = [{"role": "system", "content": words(f"system {seed}", 250)}]
    seen = []
    for turn in range(TURNS):
        time.sleep(drawn.expovariate(1 / THINK))
        if deadline and time.monotonic() > deadline:
            break
        history.append({"role": "user", "content": words(f"{seed} {number} {turn}", drawn.randrange(30, 160))})
        answer = chat(api, history, TOKENS, stream=True, explain=False)
        history.append({"role": "assistant", "content": answer.text})
        seen.append(answer)
    return history, seen


def workload(url_of, seed, at_once, seconds=None):
    """When it began, and all conversations; with `seconds`, as many as there is time for."""
    began = time.monotonic()
    deadline = began + seconds if seconds else None
    numbers = range(CONVERSATIONS if not seconds else 1000)
    api = client(url_of)
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        def one(n):
            return ([], []) if deadline and time.monotonic() > deadline else conversation(api, seed, n, deadline)
        return began, list(pool.map(one, numbers))


def modes(engines, gateways, rounds, at_once, bound):
    found = {name: [] for name in [*gateways, "one endless cache"]}
    missed = {name: collections.Counter() for name in found}
    tokenizes = gateways["kv, latency"]

    def play(name, front, seed):
        talks = workload(front, seed, at_once)[1]
        found[name].append([answer for _, answers in talks for answer in answers])
        missed[name].update(causes.missed(
            [(causes.ids_of(tokenizes, history), answers) for history, answers in talks], bound.page, TOKENS))

    order = list(gateways)
    for r in range(rounds):
        random.Random(r).shuffle(order)
        for name in order:
            for e in engines:
                e.flush()
            if hasattr(gateways[name], "settle"):
                gateways[name].settle()
            play(name, gateways[name], f"round {r}")
        bound.flush()
        play("one endless cache", bound, f"round {r}")
    table(found)
    print()
    causes.table(missed)
    return hit_rates(found)


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
                start, talks = workload(gateway, f"start {r}", at_once, spans[-1][1])
                for answer in [answer for _, answers in talks for answer in answers]:
                    for span in spans:
                        if answer.first and span[0] <= answer.at - start < span[1]:
                            found[name][span].append(answer.first)
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
    parser.add_argument("what", choices=["modes", "start", "exact"])
    parser.add_argument("--case", action="append", choices=list(exact.CASES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--at-once", type=int, default=3)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    if asked.what == "exact":
        return exact.run(asked.case or list(exact.CASES), asked.rounds, asked.check)
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

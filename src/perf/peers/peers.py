#!/usr/bin/env python3
"""What a request costs Warmpath, nginx, smg, Dynamo and LiteLLM, side by side on this machine: one command, which ends with the table.

  peers.py [--only turns,nginx,...] [--rounds 3] [--seconds 3] [--warm 30] [--product TREE] [--no-install] [--save]
  peers.py --smoke       a second of each with what is installed: does it run, without errors?
  peers.py --self-test   planted faults are found

It installs the others (install.sh), starts eight simulated engines and all gateways, and asks them in turn at the same rate, in an order that turns
round each round. The gateways have core 0, engines and load core 1. Processor time is that of a gateway's processes, by the kernel's
clock of each. What cannot be installed or started stays in the table, with the reason. --save writes turns.csv beside this file and the bars of
src/perf/request-cost.csv. Needs Linux, two cores, Python 3.11; as root it can install nginx.
"""
import argparse
import asyncio
import contextlib
import csv
import datetime
import gc
import math
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

import gateways
from fleet import Failed, check
from load import Asker, Scenario, chats

HERE = pathlib.Path(__file__).resolve().parent
SCENARIOS = (Scenario("S1", 1000, 32, True, 200), Scenario("S2", 8000, 16, True, 40), Scenario("S3", 1000, 32, False, 200))
HELLO = Scenario("hello", 5, 1, False, 1)
SMOKE_RATE = 25
SETTLE_S = 0.2  # after the last answer: what a gateway does behind it counts, too
DIRECT = "none"
TURNS = HERE / "turns.csv"
BARS = HERE.parent / "request-cost.csv"


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def stolen():
    """Of all cores: ticks that went to other machines, and all ticks."""
    ticks = list(map(int, pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:9]))
    return ticks[7], sum(ticks)


def machine():
    kind = next((line.partition(":")[2].strip() for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if line.startswith("model name")), "?")
    return f"{os.cpu_count()} cores of {kind}, Linux {os.uname().release}"


def commit(product):
    said = subprocess.run(["git", "-C", product, "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=False)
    return said.stdout.strip() or "no repository"


async def once(asker, gateway, count, scenario, seed):
    """One turn of one gateway (None: of the engines themselves), as a row."""
    bodies = chats(scenario, count, seed)
    gc.collect()
    gc.disable()
    steal, ticks = stolen()
    before = gateway.cpu() if gateway else {}
    answers = await asker.play(bodies, scenario, seed)
    await asyncio.sleep(SETTLE_S)
    after = gateway.cpu() if gateway else {}
    steal_now, ticks_now = stolen()
    gc.enable()
    check(before.keys() <= after.keys(), f"a process of {gateway and gateway.title} ended in its turn, with its processor time")
    good = [a for a in answers if not a.fault]
    faults = [a.fault for a in answers if a.fault]
    row = {"scenario": scenario.name, "rate": scenario.rate, "requests": len(answers), "errors": len(faults), "error": max(set(faults), key=faults.count) if faults else ""}
    if good:
        row |= {
            "cpu_us": sum(ns - before.get(pid, 0) for pid, ns in after.items()) / 1000 / len(answers) if gateway else None,
            "first_p50_ms": 1000 * statistics.median(a.first for a in good), "first_p99_ms": 1000 * percentile([a.first for a in good], 0.99),
            "cached": sum(a.used.get("cached_tokens", 0) for a in good) / sum(a.used["prompt_tokens"] for a in good),
            "steal_percent": 100 * (steal_now - steal) / max(1, ticks_now - ticks), "load": os.getloadavg()[0]}
    return row


async def started(gateway):
    """Milliseconds from the start to the first chat that is answered well."""
    for companion in gateway.companions:
        companion.start()
    gateway.start()
    began = time.monotonic()
    asker, body = Asker([gateway.port]), chats(HELLO, 1, gateway.title)[0]
    try:
        while True:
            check(gateway.alive(), f"it ended: {gateway.tail(1)} (log: {gateway.log})")
            answer = await asker.one(body, HELLO)
            if not answer.fault:
                return 1000 * (time.monotonic() - began)
            check(time.monotonic() - began < gateways.UP_S, f"no answer within {gateways.UP_S} s but: {answer.fault} (log: {gateway.log})")
            await asyncio.sleep(0.02)
    finally:
        asker.close()


async def measured(running, ports, asked):
    """Rows of all turns; those of round 0 do not count. `running`: the gateways that have been started."""
    askers = {DIRECT: Asker(ports), **{g.title: Asker([g.port]) for g in running}}
    rows = []
    for gateway in running if asked.warm else ():
        for scenario, part in zip(SCENARIOS, (0.6, 0.2, 0.2)):
            asked_of, bad = await askers[gateway.title].flood(chats(scenario, 200, f"warm {gateway.title}"), scenario, asked.warm * gateway.young * part)
            print(f"warming up, {scenario.name}, {gateway.title}: {asked_of} requests, {bad} errors", file=sys.stderr)
    for number in range(0 if asked.warm else 1, asked.rounds + 1):
        seconds = asked.seconds
        turn = [None, *running]
        turn = turn[number % len(turn):] + turn[:number % len(turn)]
        for scenario in SCENARIOS:
            for gateway in turn if number % 2 else reversed(turn):
                title, part = (gateway.title, gateway.part) if gateway else (DIRECT, 1)
                rate = part * (SMOKE_RATE if asked.smoke else scenario.rate)
                row = await once(askers[title], gateway, max(5, round(rate * seconds)), scenario._replace(rate=rate), f"{number} {scenario.name} {title}")
                rows.append({"round": number, "gateway": title, "version": gateway.version if gateway else "", **row})
                cost = f", {row['cpu_us']:.0f} µs" if row.get("cpu_us") else ""
                print(f"round {number}, {scenario.name}, {title}: {row['requests']} requests, {row['errors']} errors{cost} {row['error']}",
                      file=sys.stderr)
    for asker in askers.values():
        asker.close()
    return rows


def shown(value):
    """With three digits, and whole numbers whole."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.{2 - math.floor(math.log10(abs(value)))}f}" if value else "0"


def middle(rows, title, scenario, what):
    """Median of the rounds; None where no round has it."""
    values = [r[what] for r in rows if r["round"] and r["gateway"] == title and r["scenario"] == scenario and r.get(what) is not None]
    return statistics.median(values) if values else None


COLUMNS = [(s.name, f"{s.name}, µs") for s in SCENARIOS] + [
    ("p50", "first token in S1, p50: later than straight from the engine, ms"), ("p99", "the same, p99"), ("cached", "prompt tokens found in caches in S1, %"),
    ("memory", "memory, MiB"), ("start", "start to first answer, ms")]
MORE_IS_BETTER = {"cached"}


def figures(rows, gateway, start, memory):
    """One gateway's, by column."""
    found = {s.name: middle(rows, gateway.title, s.name, "cpu_us") for s in SCENARIOS}
    for name in ("p50", "p99"):
        ours, plain = (middle(rows, title, "S1", f"first_{name}_ms") for title in (gateway.title, DIRECT))
        found[name] = ours - plain if None not in (ours, plain) and not gateway.own_engines and gateway.part == 1 else None
    cached = middle(rows, gateway.title, "S1", "cached")
    return found | {"cached": cached and 100 * cached, "memory": memory, "start": start}


def beside(kind):
    """The one of ours that it is compared with: by caches where it reads prompts, too."""
    return gateways.KNOWN["caches" if kind.reads_prompts else "turns"].title


def table(found, absent, kinds):
    """Markdown; in brackets times ours. `found`: figures by title; `absent`: reason by title."""
    lines = ["| gateway | " + " | ".join(name for _, name in COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    for kind in kinds:
        if kind.title in absent:
            lines.append(f"| {kind.title} | **{absent[kind.title]}** |" + " |" * (len(COLUMNS) - 1))
            continue
        own, ours = found[kind.title], found.get(beside(kind), {})
        cells = []
        for column, _ in COLUMNS:
            value, other = own[column], ours.get(column)
            times = f" ({shown(value / other)})" if value and other and kind.title != beside(kind) and column not in ("p50", "p99", "cached") else ""
            cells.append(shown(value) + times)
        lines.append(f"| {kind.title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def losses(found, kinds):
    """Where one of the others has the better figure than ours of its kind, one a line."""
    said = []
    for kind in kinds:
        ours = beside(kind)
        if kind.title == ours or kind.title not in found or ours not in found or issubclass(kind, gateways.Warmpath):
            continue
        for column, name in COLUMNS:
            if column == "cached" and not kind.reads_prompts:
                continue  # chance
            mine, other = found[ours][column], found[kind.title][column]
            if None not in (mine, other) and (other > mine if column in MORE_IS_BETTER else other < mine):
                said.append(f"- {name}: {kind.title} {shown(other)}, {ours} {shown(mine)}")
    return said


def saved(rows, record, found, kinds):
    """All turns, and the bars of the page."""
    names = ["date", "commit", "machine", "round", "scenario", "gateway", "version", "rate", "requests", "errors", "error", "cpu_us", "first_p50_ms", "first_p99_ms",
             "cached", "steal_percent", "load"]
    with open(TURNS, "w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, names, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in {**record, **row}.items()})
    of = f"{record['date']} {record['commit']}"
    order = [kind.title for kind in kinds if kind.title in found]
    slow = {gateways.Dynamo.title, gateways.Litellm.title}
    panels = [(s.name, f"µs of CPU a request, {s.rate}/s", s.name, [t for t in order if t not in slow]) for s in SCENARIOS]
    panels += [("S1 with Dynamo", "µs of CPU a request, other scale", "S1", [t for t in order if t != gateways.Litellm.title]), ("Memory", "MiB resident", "memory", order)]
    with open(BARS, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["panel", "about", "bar", "value", "low", "high", "of"])
        for panel, about, column, titles in panels:
            for title in titles:
                spread = [r["cpu_us"] for r in rows if r["round"] and (r["gateway"], r["scenario"]) == (title, column) and r.get("cpu_us")]
                ends = [shown(end(spread)).replace(",", "") for end in (min, max)] if spread else ["", ""]
                writer.writerow([panel, about, title, shown(found[title][column]).replace(",", ""), *ends, of])


def played(asked):
    kinds = [gateways.KNOWN[name] for name in asked.only]
    if not asked.no_install:
        wanted = {"nginx": "nginx", "smg": "smg", "smg-turns": "smg", "dynamo": "dynamo", "litellm": "litellm"}
        subprocess.run(["sh", HERE / "install.sh", *sorted({wanted[n] for n in asked.only if n in wanted} or {"nginx"})], check=False)  # reasons are read below
    record = {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"), "commit": commit(asked.product), "machine": machine()}
    os.sched_setaffinity(0, {gateways.LOAD_CORE})
    absent, starts, running = {}, {}, []
    with contextlib.ExitStack() as cleared:
        sim, ports = gateways.engines(asked.product)
        cleared.callback(sim.stop)
        if any(issubclass(kind, gateways.Warmpath) for kind in kinds):
            gateways.prepared(ports, asked.product)
        for kind in kinds:
            try:
                gateway = kind(ports, asked.product)
                for process in (gateway, *gateway.companions):
                    cleared.callback(process.stop)
                starts[kind.title] = asyncio.run(started(gateway))
                running.append(gateway)
                print(f"{kind.title} {gateway.version} answers", file=sys.stderr)
            except Failed as reason:
                absent[kind.title] = str(reason) if str(reason).startswith("not installed") else f"not started: {reason}"
                print(f"NOT MEASURED: {kind.title}: {absent[kind.title]}", file=sys.stderr)
        rows = asyncio.run(measured(running, ports, asked))
        found = {g.title: figures(rows, g, starts[g.title], g.resident()) for g in running}
        versions = ", ".join(f"{g.title} {g.version}" for g in running)
    shapes = "; ".join(f"{s.name}: {s.words} words, {s.tokens} tokens{' streamed' if s.stream else ''}, {SMOKE_RATE if asked.smoke else s.rate}/s" for s in SCENARIOS)
    print(f"{record['date']}, commit {record['commit']}. {record['machine']}. {asked.rounds} rounds of {asked.seconds:g} s; load average up to "
          f"{max(r.get('load', 0) for r in rows):.1f}, steal up to {max(r.get('steal_percent', 0) for r in rows):.1f} %.\n{shapes}; LiteLLM at "
          f"{gateways.Litellm.part:g} of these rates.\n{versions}.\n")
    if asked.smoke:
        print("A smoke: nothing is warm, so these are no figures to compare.\n")
    print(table(found, absent, kinds))
    print("\nWhere Warmpath loses:\n" + ("\n".join(losses(found, kinds)) or "- nowhere in this run"))
    wrong = [f"{r['gateway']} in {r['scenario']}: {r['errors']} of {r['requests']} requests failed: {r['error']}" for r in rows if r["errors"]]
    print("\nErrors:\n" + ("\n".join(f"- {w}" for w in wrong) or "- none"))
    if asked.save:
        saved(rows, record, found, kinds)
    return rows, found, absent


def smoke(found, rows, absent):
    """What must hold on any machine: all that was started was measured without errors, and caches are found."""
    check(not any(r["errors"] for r in rows), "requests failed")
    ours = [gateways.KNOWN[name].title for name in ("turns", "caches")]
    check(not absent.keys() & set(ours), f"Warmpath is not there: {absent}")
    for title, own in found.items():
        check(all(own[s.name] > 0 for s in SCENARIOS), f"{title}: no processor time in {own}")
    turns, caches = (found[title]["cached"] for title in ours)
    check(caches > turns, f"by caches {caches:.1f} % of tokens are found, by turns {turns:.1f} %")


def main():
    if sys.argv[1:] == ["--self-test"]:
        import selftest
        return selftest.run()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(gateways.KNOWN), help="some of " + ",".join(gateways.KNOWN))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3, help="of each turn")
    parser.add_argument("--warm", type=float, default=30, help="seconds, a JVM's; others get a tenth. Then comes a round that does not count")
    parser.add_argument("--product", type=pathlib.Path, default=HERE.parents[2], help="tree whose ./warmpath is measured (this one)")
    parser.add_argument("--no-install", action="store_true", help="measure what is there")
    parser.add_argument("--save", action="store_true", help="write turns.csv and src/perf/request-cost.csv")
    parser.add_argument("--smoke", action="store_true")
    asked = parser.parse_args()
    if unknown := set(asked.only) - gateways.KNOWN.keys():
        parser.error(f"there is no {', '.join(unknown)}: {', '.join(gateways.KNOWN)}")
    if asked.smoke:
        asked.rounds, asked.seconds, asked.warm, asked.no_install, asked.save = 1, 1, 0, True, False
    if os.cpu_count() < 2 or not sys.platform.startswith("linux"):
        print("peers: gateways and load need a core each, and Linux", file=sys.stderr)
        return 77
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what runs is stopped
    try:
        rows, found, absent = played(asked)
        if asked.smoke:
            smoke(found, rows, absent)
    except Failed as reason:
        print(f"peers: FAILED: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

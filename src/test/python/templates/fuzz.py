#!/usr/bin/env python3
"""Random templates and chats through real Jinja2 and through `./warmpath render`: prints every difference.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install -r src/test/python/templates/requirements.txt
    /tmp/venv/bin/python src/test/python/templates/fuzz.py --cases 100000 --seed 1

Equal means: the same text, or both fail, or we refuse what Jinja can do (counted, and at most a few in a thousand). Words of a failure are
compared when the template itself raised them. Exit code 1 when something differs.
"""
import argparse
import collections
import signal
import sys
import time
import warnings

import engine
import grammar
import oracle


class Slow(Exception):
    pass


def expected(case):
    """The oracle's answer; None when it takes over two seconds (large powers)."""
    def stop(*unused):
        raise Slow()

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 2)
    try:
        return oracle.render(case)
    except Slow:
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def verdict(want, got):
    if "text" in want:
        # Python prints addresses of functions and generators; nothing can be equal to them.
        if oracle.ADDRESS.search(want["text"]):
            return "address" if got.get("kind") == "UNSUPPORTED" else "different"
        if "text" in got:
            return "equal" if want["text"] == got["text"] else "different"
        # Jinja also drops code that it sees is never reached; an unknown filter in it is refused here.
        unseen = got.get("kind") == "SYNTAX" and ("No filter named" in got["error"] or "No test named" in got["error"])
        return "refused" if got.get("kind") == "UNSUPPORTED" or unseen else "different"
    if "text" in got:
        return "different"
    if want["kind"] == "RAISED" and got["kind"] == "RAISED":
        return "raised" if want["error"] == got["error"] else "different"
    return "failed" if want["kind"] == "RAISED" or got["kind"] != "RAISED" else "different"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    parser.add_argument("--show", type=int, default=10, help="how many differences to print")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    ours = engine.Engine()
    counts = collections.Counter()
    refusals = collections.Counter()
    end = time.monotonic() + options.seconds
    for case in grammar.cases(options.seed, options.cases):
        seed = case.pop("seed")
        if time.monotonic() > end:
            break
        want = expected(case)
        if want is None:
            counts["slow"] += 1
            continue
        got = ours.render_all([case])[0]
        result = verdict(want, got)
        counts[result] += 1
        if result == "refused":
            refusals[got["error"][-60:]] += 1
        if result == "different" and counts[result] <= options.show:
            print(f"--- seed {seed}\n{case['template']}\n  messages {case['messages']}\n  kwargs {case['chat_template_kwargs']}"
                  f" tools {case['tools']}\n  jinja2 {want}\n  ours   {got}", flush=True)
    ours.close()
    print(f"{sum(counts.values())} cases, seeds {options.seed} to {seed}: {dict(counts)}")
    print("refused:", refusals.most_common(12))
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main())

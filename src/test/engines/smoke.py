#!/usr/bin/env python3
"""One real SGLang and one real vLLM, each behind a gateway that the README's command starts: what a user's first minutes must show.

    smoke.py              with the Python of the end-to-end tests; ENGINES_HOME names another place than .tools/engines

Ends with a control: with the health check of version 0.1 (SGLang's /health within one second) the same check must fail.
"""

import sys
import time

from fleet import GATEWAY_UP, NAME, Failed, Gateway, Sglang, Vllm, check, get, running, wait_until
from talk import chat, client, complete, expect_exact, words

IDLE_SECONDS = 15


def stays_ready(gateway, engines, seconds):
    """No moment in which a worker is not ready, and nothing of it in the log."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for worker in gateway.workers():
            check(worker["state"] == "ready", f"{worker['name']} is {worker['state']}: {worker['problem']}")
        status, text = get(gateway.url + "/ready")
        check(status == 200, f"/ready answered {status}: {text}")
        time.sleep(0.1)
    check("UNHEALTHY" not in gateway.text().upper(), f"the log says unhealthy:\n{gateway.tail()}")
    check(len(gateway.workers()) == len(engines), "workers are missing")


def learnt(gateway, engine):
    """What the README promises: the engine tells the rest itself."""
    worker = gateway.worker_of(engine)
    check(worker["kind"] == engine.kind, f"kind: {worker}")
    check(worker["models"] == [NAME], f"models: {worker}")
    check(worker["block_size"] == engine.page, f"block size: {worker}")
    sources = gateway.json("/events/sources")["data"]
    mine = [s for s in sources if s["worker"] == worker["name"]]
    check(len(mine) == 1 and str(engine.events) in mine[0]["endpoint"], f"events: {sources}")
    check(str(engine.replay) in str(mine[0].get("replay_endpoint")), f"replay: {mine}")


def conversations(gateway, count=2, turns=3, tokens=16):
    """Over one system prompt, streamed and not; every prediction is checked."""
    api = client(gateway)
    system = words(1, 300)
    histories = [[{"role": "system", "content": system}] for _ in range(count)]
    seen = []
    for turn in range(turns):
        for i, history in enumerate(histories):
            history.append({"role": "user", "content": words(f"{i} {turn}", 40)})
            gateway.settle()
            answer = chat(api, history, tokens, stream=(i + turn) % 2 == 0)
            expect_exact(answer, f"conversation {i}, turn {turn}")
            check(answer.text, "an empty answer")
            history.append({"role": "assistant", "content": answer.text})
            seen.append(answer)
    later = seen[count:]
    check(all(a.cached > 0 for a in later), f"later turns were not cached: {[str(a) for a in later]}")
    return seen


def forms(gateway):
    """Requests of other shapes than a plain chat."""
    api = client(gateway)
    tools = [{"type": "function", "function": {
        "name": "weather", "description": "of a town", "parameters": {
            "type": "object", "properties": {"town": {"type": "string"}}}}}]
    for what, ask in {
        "unicode": lambda: chat(api, [{"role": "user", "content": "Grüße 東京 🎈 " * 60}]),
        "parts": lambda: chat(api, [{"role": "user", "content": [{"type": "text", "text": words(7, 120)}]}]),
        "tools": lambda: chat(api, [{"role": "user", "content": words(8, 120)}], tools=tools, tool_choice="none"),
        "long": lambda: chat(api, [{"role": "user", "content": words(9, 3000)}], 4),
        "completion": lambda: complete(api, words(10, 200), 4),
    }.items():
        for which in ("first", "second"):
            gateway.settle()
            answer = ask()
            expect_exact(answer, f"{what}, {which} time")
        check(answer.predicted and answer.cached, f"{what}: nothing is predicted the second time: {answer}")


def first_minutes(engine):
    """All of it, with one engine; returns lines for the log."""
    gateway = Gateway([engine], name=f"gateway-{engine.name}")
    with running(gateway):
        up = gateway.answers(gateway.url + "/ready", GATEWAY_UP)
        learnt(gateway, engine)
        before = engine.computed()
        stays_ready(gateway, [engine], IDLE_SECONDS)
        check(engine.computed() == before, "health checks cost an idle engine generated tokens")
        seen = conversations(gateway)
        forms(gateway)
        stays_ready(gateway, [engine], 1)
    exact = sum(a.predicted == a.cached for a in seen)
    return f"{engine.name}: ready after {up:.1f} s, idle {IDLE_SECONDS} s, {exact} of {len(seen)} turns predicted"


def control(engine):
    """The check of version 0.1 must be found out."""
    old = Gateway(
        [engine], name="gateway-control",
        env={"WARMPATH_FLEET_HEALTH_PATH": "/health", "WARMPATH_FLEET_HEALTH_TIMEOUT": "1s"})
    old.wait = lambda: old.answers(old.url + "/live", 60)  # it may never be ready: that is what is to be found
    with running(old):
        wait_until("it is neither ready nor is its engine unhealthy",
                   lambda: get(old.url + "/ready")[0] == 200 or old.workers()[0]["state"] == "unhealthy", 60)
        try:
            stays_ready(old, [engine], IDLE_SECONDS)
        except Failed as found:
            return f"control: with a health time-out of 1 s the check fails, as it must ({found})"
    raise Failed("with SGLang's /health asked within 1 s nothing was found: this test finds nothing")


def main():
    engines = [Sglang(), Vllm()]
    began = time.monotonic()
    try:
        with running(*engines):
            print(f"smoke: two engines after {time.monotonic() - began:.0f} s", flush=True)
            for engine in engines:
                print("smoke:", first_minutes(engine), flush=True)
            print("smoke:", control(engines[0]), flush=True)
    except Failed as problem:
        print(f"smoke: FAILED: {problem}", file=sys.stderr)
        return 1
    print(f"smoke: all holds, {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Prefill on one real vLLM, decoding on another that fetches the KV cache by NIXL over TCP: the answers are those of one engine that does all,
predictions are what the engines report, and without the one that prefills the other one does all of it. What is compared with is the engine that
decodes, asked directly with an empty cache.

    handoff.py            with the Python of the end-to-end tests; ENGINES_HOME names another place than .tools/engines
"""
import json
import sys
import threading
import time

import openai

from fleet import LOGS, TOOLS, Failed, Gateway, Vllm, check, free_port, running
from split import SPLIT, many, nothing_left
from talk import chat, client, complete, expect_exact, words

LEASE = 3  # seconds that a cache is kept for who does not come


class Half(Vllm):
    """One of a role. Over TCP an idle engine that prefills makes no progress until a lease ends: a short one, then."""

    def __init__(self, role, name):
        self.role = role
        super().__init__(name, extra=["--kv-transfer-config", json.dumps({
            "kv_connector": "NixlConnector", "kv_role": {"prefill": "kv_producer", "decode": "kv_consumer"}[role],
            "kv_load_failure_policy": "fail", "kv_connector_extra_config": {"kv_lease_duration": LEASE}})])
        self.env |= {"PYTHONPATH": str(TOOLS / "nixl"), "UCX_TLS": "tcp,self,sm", "VLLM_NIXL_SIDE_CHANNEL_HOST": "127.0.0.1",
                     "VLLM_NIXL_SIDE_CHANNEL_PORT": str(free_port())}


def reference(engine):
    """It, with nothing of what it has fetched before."""
    engine.flush()
    return direct(engine)


def direct(engine):
    return openai.OpenAI(base_url=engine.url + "/v1", api_key="none", timeout=120, max_retries=0)


class Nudges(threading.Thread):
    """A small request now and then: see Half."""

    def __init__(self, engine):
        super().__init__(daemon=True)
        self.api, self.over = direct(engine), threading.Event()

    def run(self):
        while not self.over.wait(0.3):
            try:
                self.api.completions.create(model="tiny", prompt="go on", max_tokens=1)
            except openai.APIError:
                return  # it was killed


def config(name, halves, **disaggregation):
    """Which engine does what: vLLM does not say."""
    path = LOGS / f"{name}.yaml"
    workers = "".join(f"    - url: {h.url}\n      role: {h.role}\n" for h in halves)
    more = "".join(f"    {k.replace('_', '-')}: {v}\n" for k, v in disaggregation.items())
    path.write_text("warmpath:\n  workers:\n" + workers + ("  disaggregation:\n" + more if more else ""))
    return ["--config", path]


def same_but_for_ties(alone, prompt, said):
    """Where an answer leaves the whole engine's, that one had two tokens that were as likely: the last token of the prompt is computed by another
    kernel where the rest was fetched."""
    choice = alone.completions.create(model="tiny", prompt=prompt, max_tokens=12, temperature=0, logprobs=2).choices[0]
    if choice.text == said:
        return
    at = 0
    for token, best in zip(choice.logprobs.tokens, choice.logprobs.top_logprobs):
        if not said.startswith(token, at):
            gap = max(best.values()) - min(best.values())
            print(f"handoff: {said!r} leaves {choice.text!r} at {at}, where two tokens are {gap:.6f} apart: {best}", flush=True)
            check(gap < 0.001, f"{said!r} is not {choice.text!r}")
            return
        at += len(token)
    raise Failed(f"{said!r} is longer than {choice.text!r}")


def same_answers(gateway, decode):
    api, seen = client(gateway), []
    for i, stream in enumerate((True, False)):
        messages = [{"role": "system", "content": words(1, 200)}, {"role": "user", "content": words(f"q{i}", 60)}]
        for turn in range(2):
            gateway.settle()
            answer = chat(api, messages, 24, stream=stream)
            check(SPLIT in answer.headers, f"it was not split: {dict(answer.headers)}")
            expect_exact(answer, f"chat {i}, turn {turn}")
            alone = chat(reference(decode), messages, 24, explain=False)
            check(answer.text == alone.text, f"{answer.text!r} of two engines, {alone.text!r} of one")
            messages += [{"role": "assistant", "content": answer.text}, {"role": "user", "content": words(f"q{i} {turn}", 30)}]
            seen.append(answer)
    text = words("completion", 120)
    for _ in range(2):
        gateway.settle()
        answer = complete(api, text, 12)
        expect_exact(answer, "completion")
        same_but_for_ties(reference(decode), text, answer.text)
        seen.append(answer)
    check(sum(a.cached > 0 for a in seen) >= 4, f"nothing was cached: {[str(a) for a in seen]}")
    return seen


def main():
    LOGS.mkdir(parents=True, exist_ok=True)
    prefill, decode = Half("prefill", "handoff-prefill"), Half("decode", "handoff-decode")
    for engine in (prefill, decode):
        engine.env["VLLM_CPU_OMP_THREADS_BIND"] = "nobind"  # or all of them compute on the same core
    began = time.monotonic()
    try:
        with running(prefill, decode):
            print(f"handoff: two engines after {time.monotonic() - began:.0f} s", flush=True)
            for engine in (prefill, decode):  # else its first step is one token, which ends vLLM on a CPU with AMX
                direct(engine).completions.create(model="tiny", prompt=words("warm", 100), max_tokens=2)
                engine.flush()
            nudges = Nudges(prefill)
            nudges.start()
            gateway = Gateway([], name="gateway-handoff", more=config("handoff", [prefill, decode], split_from_tokens=0))
            with running(gateway):
                check(gateway.worker_of(prefill)["role"] == "prefill", f"{gateway.workers()}")
                seen = same_answers(gateway, decode)
                exact = sum(a.predicted == a.cached for a in seen)
                print(f"handoff: {len(seen)} answers are those of one engine, {exact} predictions exact", flush=True)
                many(gateway, 12)
                nothing_left(gateway)
                print("handoff: 12 at once are answered", flush=True)
                nudges.over.set()
                prefill.kill()
                answer = chat(client(gateway), [{"role": "user", "content": words("after", 100)}], 8)
                check(answer.text and SPLIT not in answer.headers, f"{dict(answer.headers)}")
                nothing_left(gateway)
                print("handoff: without the engine that prefills the other one does all of it", flush=True)
    except Failed as problem:
        print(f"handoff: FAILED: {problem}", file=sys.stderr)
        return 1
    print(f"handoff: all holds, {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())

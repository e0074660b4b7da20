#!/usr/bin/env python3
"""Prefill on one real vLLM, decoding on another that gets the KV cache over TCP: the answers are what one engine would give, predictions are what the
one that prefills reports, and without either the other one does all of it.

    handoff.py nixl|mooncake    with the Python of the end-to-end tests; ENGINES_HOME names another place than .tools/engines

Equal texts would prove little where many caches lead to the same text. So each token's log probability is compared: one engine that computes all of it
reads prompt and answer, and says how likely each token was; and once more with the prompt in another order, which has to show.
"""
import json
import sys
import threading
import time
import urllib.request

import openai

from fleet import LOGS, NAME, TOOLS, Failed, Gateway, Vllm, check, free_port, running, wait_until
from split import HERE, SPLIT, a_decode_dies, many, nothing_left
from talk import chat, client, complete, expect_exact, words

LEASE = 12  # seconds that a cache is kept for who does not come; on two busy cores three were over before it was claimed
CLOSE = 0.001  # log probabilities of one token; below 0.000001 was seen
FAR = 100 * CLOSE  # what another prompt makes of one token of the same answer; 0.98 and more was seen


class Half(Vllm):
    """One of a role."""

    def __init__(self, role, name, connector, **more):
        self.role, self.registry = role, 0
        super().__init__(name, extra=["--kv-transfer-config", json.dumps({
            "kv_connector": connector, "kv_role": {"prefill": "kv_producer", "decode": "kv_consumer"}[role],
            "kv_load_failure_policy": "fail", **more})])
        self.env["VLLM_CPU_OMP_THREADS_BIND"] = "nobind"  # or all of them compute on the same core


class Nixl(Half):
    """Over TCP an idle engine that prefills makes no progress until a lease ends: see Nudges."""

    def __init__(self, role, name):
        super().__init__(role, name, "NixlConnector", kv_connector_extra_config={"kv_lease_duration": LEASE})
        self.env |= {"PYTHONPATH": str(TOOLS / "nixl"), "UCX_TLS": "tcp,self,sm", "VLLM_NIXL_SIDE_CHANNEL_HOST": "127.0.0.1",
                     "VLLM_NIXL_SIDE_CHANNEL_PORT": str(free_port())}


class Mooncake(Half):
    def __init__(self, role, name):
        super().__init__(role, name, "MooncakeConnector", kv_connector_extra_config={"mooncake_protocol": "tcp"})
        # Without it the engine that decodes counts all that it was handed as cached: the client's usage is not what was reported.
        self.registry = free_port() if role == "prefill" else 0
        self.env |= {"PYTHONPATH": f"{HERE / 'without_gpu'}:{mooncake()}", "MC_FORCE_TCP": "1", "VLLM_HOST_IP": "127.0.0.1",
                     "VLLM_MOONCAKE_BOOTSTRAP_PORT": str(self.registry or free_port()), "VLLM_MOONCAKE_ABORT_REQUEST_TIMEOUT": "30"}


def mooncake():
    """A folder with the package and nothing else; SGLang's environment has it."""
    folder = LOGS / "mooncake"
    folder.mkdir(parents=True, exist_ok=True)
    for part in next((TOOLS / "sglang/lib").glob("python3*/site-packages")).glob("mooncake*"):
        link = folder / part.name
        link.unlink(missing_ok=True)
        link.symlink_to(part)
    return folder


CONNECTORS = {"nixl": Nixl, "mooncake": Mooncake}


def direct(engine):
    return openai.OpenAI(base_url=engine.url + "/v1", api_key="none", timeout=120, max_retries=0)


class Nudges(threading.Thread):
    """A small request now and then keeps the engine going."""

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
    """Which engine does what: vLLM does not say. A head that goes out before the first token, where that takes 15 s, would explain nothing."""
    path = LOGS / f"{name}.yaml"
    workers = "".join(f"    - url: {h.url}\n      role: {h.role}\n" + (f"      bootstrap-port: {h.registry}\n" if h.registry else "") for h in halves)
    more = "".join(f"    {k.replace('_', '-')}: {v}\n" for k, v in disaggregation.items())
    path.write_text("warmpath:\n  http:\n    sse-keep-alive: 0s\n  workers:\n" + workers + ("  disaggregation:\n" + more if more else ""))
    return ["--config", path]


def tokens(engine, messages):
    """Of a chat's prompt."""
    ask = urllib.request.Request(engine.url + "/tokenize", json.dumps({"model": NAME, "messages": messages}).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(ask, timeout=30) as answer:
        return json.load(answer)["tokens"]


def read(engine, prompt, said):
    """How likely each token of an answer is to one engine that computes all of it, and how much more the likeliest one is. Log probabilities."""
    answer = direct(engine).completions.create(
        model=NAME, prompt=prompt + said, max_tokens=1, temperature=0, extra_body={"prompt_logprobs": 1, "add_special_tokens": False})
    rows = answer.choices[0].prompt_logprobs[len(prompt):]
    likely = [row[str(token)]["logprob"] for row, token in zip(rows, said, strict=True)]
    return likely, [max(v["logprob"] for v in row.values()) - mine for row, mine in zip(rows, likely)]


def as_one(engine, what, prompt, scores):
    """One engine would have said it; and, of another prompt, it would not have: the cache that came was this one's.

    `scores`: each token of the answer with its log probability. Returns the largest difference to the one, and to the other.
    """
    said = [int(token.removeprefix("token_id:")) for token, _ in scores]
    engine.flush()
    likely, short = read(engine, prompt, said)
    apart = max(abs(a - b) for a, (_, b) in zip(likely, scores))
    check(apart < CLOSE and max(short) < CLOSE, f"{what}: one engine gives these tokens {apart:.4f} more or less, and {max(short):.4f} less than its likeliest")
    other, _ = read(engine, prompt[-2::-1] + prompt[-1:], said)
    far = max(abs(a - b) for a, (_, b) in zip(other, scores))
    check(far > FAR, f"{what}: another prompt's cache would not show: {far:.4f}")
    return apart, far


def met(gateway):
    """The two engines have shaken hands: the first hand-off of a pair may be late, or fail, and one engine does all of it then."""
    api, tried = client(gateway), iter(range(100))
    took = wait_until("no request is split", lambda: SPLIT in chat(api, [{"role": "user", "content": words(f"met {next(tried)}", 60)}], 4).headers, 120)[1]
    print(f"handoff: the engines have met after {took:.0f} s, the {next(tried)}. request", flush=True)


def found(gateway, answer):
    """Cached tokens as the engine that prefills has reported them."""
    def told():
        rows = gateway.json(f"/router/decisions?request_id={answer.headers['x-request-id']}")["decisions"]
        return [row["reported_cached_tokens"] for row in rows if "reported_cached_tokens" in row]
    return wait_until("the decision's end is not in the log", told, 5)[0][0]


def same_answers(gateway, decode, usage):
    """`usage`: what the client sees of cached tokens is what was reported, too."""
    api, seen, compared = client(gateway), [], []
    scored = {"logprobs": True, "extra_body": {"return_tokens_as_token_ids": True}}

    def exact(answer, what):
        check(SPLIT in answer.headers, f"{what} was not split: {dict(answer.headers)}")
        if usage:
            expect_exact(answer, what)
        check(found(gateway, answer) == answer.predicted, f"{what}: {answer}, {found(gateway, answer)} found by who prefills")
        seen.append(answer)

    for i, stream in enumerate((True, False)):
        messages = [{"role": "system", "content": words(1, 200)}, {"role": "user", "content": words(f"q{i}", 60)}]
        for turn in range(2):
            gateway.settle()
            answer = chat(api, messages, 24, stream=stream, **scored)
            exact(answer, f"chat {i}, turn {turn}")
            check(len(answer.scores) == 24, f"{len(answer.scores)} tokens")
            compared.append(as_one(decode, f"chat {i}, turn {turn}", tokens(decode, messages), answer.scores))
            messages += [{"role": "assistant", "content": answer.text}, {"role": "user", "content": words(f"q{i} {turn}", 30)}]
    prompt = tokens(decode, [{"role": "user", "content": words("completion", 120)}])
    for _ in range(2):
        gateway.settle()
        answer = complete(api, prompt, 12, **(scored | {"logprobs": 1}))
        exact(answer, "completion")
        compared.append(as_one(decode, "completion", prompt, answer.scores))
    check(sum(found(gateway, a) > 0 for a in seen) >= 4, f"nothing was cached: {[str(a) for a in seen]}")
    print(f"handoff: {len(seen)} answers are what one engine would give, all predictions exact; a token's log probability differs by up to {max(a for a, _ in compared):.6f}, of another prompt by {min(f for _, f in compared):.2f} and more", flush=True)


def warm(*engines):
    """Else their first step is one token, which ends vLLM on a CPU with AMX."""
    for engine in engines:
        direct(engine).completions.create(model=NAME, prompt=words("warm", 100), max_tokens=2)
        engine.flush()


def main():
    connector = sys.argv[1] if len(sys.argv) > 1 else ""
    if connector not in CONNECTORS:
        sys.exit(f"handoff: {' or '.join(CONNECTORS)}?")
    LOGS.mkdir(parents=True, exist_ok=True)
    prefill, decode = (CONNECTORS[connector](role, f"handoff-{role}") for role in ("prefill", "decode"))
    began = time.monotonic()
    try:
        with running(prefill, decode):
            print(f"handoff: two engines after {time.monotonic() - began:.0f} s", flush=True)
            warm(prefill, decode)
            gateway = Gateway([], name="gateway-handoff", more=config("handoff", [prefill, decode], split_from_tokens=0))
            with running(gateway):
                nudges = Nudges(prefill)
                nudges.start()
                check(gateway.worker_of(prefill)["role"] == "prefill", f"{gateway.workers()}")
                met(gateway)
                same_answers(gateway, decode, usage=connector == "nixl")
                many(gateway, 12)
                nothing_left(gateway)
                print("handoff: 12 at once are answered", flush=True)
                a_decode_dies(gateway, decode, direct(prefill))
                print("handoff: the engine that decodes died in mid-stream, and nobody saw it", flush=True)
                decode.start().wait()
                warm(decode)
                met(gateway)
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

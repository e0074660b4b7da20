#!/usr/bin/env python3
"""Prefill on one real SGLang, decoding on another, behind the README's command: the answers are those of one engine that does all, predictions are
what the engines report, and either half may die.

    split.py              with the Python of the end-to-end tests; ENGINES_HOME names another place than .tools/engines
"""
import pathlib
import sys
import threading
import time

import openai

from fleet import Failed, Gateway, Sglang, check, free_port, get, running, wait_until
from talk import chat, client, complete, expect_exact, words

HERE = pathlib.Path(__file__).parent
SPLIT = "x-warmpath-prefill-worker"


class Half(Sglang):
    """One of a role; its transfers go over TCP."""

    def __init__(self, role, name, **more):
        self.role, self.registry = role, free_port()
        super().__init__(name, extra=[
            "--disaggregation-mode", role, "--disaggregation-transfer-backend", "mooncake_tcp",
            "--disaggregation-bootstrap-port", str(self.registry)], **more)
        self.env |= {"PYTHONPATH": f"{HERE / 'without_gpu'}:{self.env['PYTHONPATH']}", "SGLANG_HOST_IP": "127.0.0.1",
                     "SGLANG_DISAGGREGATION_BOOTSTRAP_TIMEOUT": "30", "SGLANG_DISAGGREGATION_WAITING_TIMEOUT": "30"}


def roles(gateway, halves):
    for half in halves:
        worker = gateway.worker_of(half)
        check(worker["role"] == half.role, f"role: {worker}")
        check(worker["bootstrap_port"] == (half.registry if half.role == "prefill" else 0), f"registry: {worker}")


def same_answers(gateway, whole):
    """Greedy answers of the two halves are those of one engine, streamed and not, chats and completions; twice, the second time from the cache."""
    api, alone, seen = client(gateway), openai.OpenAI(base_url=whole.url + "/v1", api_key="none", timeout=120, max_retries=0), []
    for i, stream in enumerate((True, False, True)):
        messages = [{"role": "system", "content": words(1, 200)}, {"role": "user", "content": words(f"q{i}", 60)}]
        for turn in range(2):
            gateway.settle()
            answer = chat(api, messages, 24, stream=stream)
            expect_exact(answer, f"chat {i}, turn {turn}")
            check(SPLIT in answer.headers, f"it was not split: {dict(answer.headers)}")
            reference = chat(alone, messages, 24, explain=False)
            check(answer.text == reference.text, f"{answer.text!r} of two engines, {reference.text!r} of one")
            messages += [{"role": "assistant", "content": answer.text}, {"role": "user", "content": words(f"q{i} {turn}", 30)}]
            seen.append(answer)
    text = words("completion", 120)
    for _ in range(2):
        gateway.settle()
        answer = complete(api, text, 12)
        expect_exact(answer, "completion")
        check(answer.text == complete(alone, text, 12).text, f"completion: {answer.text!r}")
        seen.append(answer)
    check(sum(a.cached > 0 for a in seen) >= 5, f"nothing was cached: {[str(a) for a in seen]}")
    return seen


def many(gateway, count=24):
    """At once."""
    api, problems = client(gateway), []

    def ask(i):
        try:
            answer = chat(api, [{"role": "user", "content": words(f"many {i}", 80)}], 16, stream=i % 2 == 0)
            if not answer.text:
                problems.append(f"{i}: empty")
        except Exception as e:
            problems.append(f"{i}: {e}")

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check(not problems, f"{problems}")


def nothing_amiss(gateway):
    """A decode engine of SGLang has no KV events to send, and none are missed."""
    def calm():
        return gateway.json("/fleet")["gateway"]["degraded"] == []
    wait_until("/fleet says that the gateway does less than it could", calm, 20)


def nothing_left(gateway):
    def none():
        text = get(gateway.url + "/metrics")[1]
        return "\nwarmpath_bookings_open 0.0" in text and "\nwarmpath_requests_active 0.0" in text
    wait_until("bookings or requests are left", none, 20)


def refused(gateway):
    """What both refuse is said in the engine's words."""
    try:
        chat(client(gateway), [{"role": "user", "content": words(5, 9000)}], 8)
    except openai.BadRequestError as e:
        return str(e)[:120]
    raise Failed("a prompt longer than the context was taken")


def a_prefill_dies(gateway, first, second):
    """Requests that wait for it, and those that come, are answered by way of the other one."""
    api, done = client(gateway), []

    def ask(i):
        try:
            done.append(chat(api, [{"role": "user", "content": words(f"dies {i}", 600)}], 16, stream=True).text != "")
        except Exception as e:
            done.append(str(e))

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    time.sleep(0.3)
    first.kill()
    for t in threads:
        t.join()
    check(all(d is True for d in done), f"{done}")
    answer = chat(api, [{"role": "user", "content": words("after", 100)}], 8)
    check(answer.headers[SPLIT] == gateway.worker_of(second)["name"], f"{dict(answer.headers)}")


def a_decode_dies(gateway, decode, alone, tokens=300):
    """In mid-stream: the client reads on what one engine says. `alone`: this one."""
    messages = [{"role": "user", "content": words("dies in mid-stream", 300)}]
    whole = chat(alone, messages, tokens, explain=False)

    def watch(_, chunks):
        if chunks == 40:
            decode.kill()

    answer = chat(client(gateway), messages, tokens, stream=True, watch=watch)
    check(SPLIT in answer.headers, f"it was not split: {dict(answer.headers)}")
    check(answer.finish == "length" and answer.text == whole.text, f"{answer.finish} {answer.text!r} with a death, {whole.text!r} without")
    moved = [line for line in gateway.metrics().splitlines() if 'result="completed"' in line and line.startswith("warmpath_migrations_total")]
    check(any(float(line.rsplit(" ", 1)[1]) > 0 for line in moved), f"it was over before: {moved}")
    nothing_left(gateway)


def main():
    whole = Sglang("split-whole", tokens=8192)
    prefills = [Half("prefill", f"split-prefill{i}", tokens=8192) for i in range(2)]
    decode = Half("decode", "split-decode", tokens=8192)
    began = time.monotonic()
    try:
        with running(whole, *prefills, decode):
            print(f"split: four engines after {time.monotonic() - began:.0f} s", flush=True)
            gateway = Gateway([*prefills, decode], name="gateway-split")
            with running(gateway):
                gateway.answers(gateway.url + "/ready", 60)
                roles(gateway, [*prefills, decode])
                nothing_amiss(gateway)
                seen = same_answers(gateway, whole)
                print(f"split: {len(seen)} answers are those of one engine, {sum(a.predicted == a.cached for a in seen)} predictions exact", flush=True)
                many(gateway)
                print("split: 24 at once are answered; refused:", refused(gateway), flush=True)
                nothing_left(gateway)
                a_prefill_dies(gateway, *prefills)
                nothing_left(gateway)
                print("split: a prefill engine died, and nobody saw it", flush=True)
            gateway = Gateway([prefills[1], decode, whole], name="gateway-split-decode", env={"WARMPATH_DISAGGREGATION_SPLIT_FROM_TOKENS": "0"})
            with running(gateway):
                a_decode_dies(gateway, decode, openai.OpenAI(base_url=whole.url + "/v1", api_key="none", timeout=120, max_retries=0))
                print("split: the decode engine died in mid-stream, and nobody saw it", flush=True)
    except Failed as problem:
        print(f"split: FAILED: {problem}", file=sys.stderr)
        return 1
    print(f"split: all holds, {time.monotonic() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())

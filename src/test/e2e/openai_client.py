#!/usr/bin/env python3
"""End to end with the real OpenAI client: a gateway and its simulated engines, over their public interfaces.

Each check is a promise; it prints one line. Exit code 0 only when all hold. Engines are broken on purpose
through their /sim/ switches, and the last check kills one for good.

  openai_client.py --gateway http://127.0.0.1:8000 --engine http://127.0.0.1:30000 --engine ... [--only NAME]
"""
import argparse
import asyncio
import json
import socket
import sys
import threading
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request
import uuid

import openai

PATIENCE = 20  # seconds that a condition may take to come true


def wait_until(what, condition, seconds=PATIENCE):
    """The first true value of condition(); fails when it stays false."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def raises(kind, call):
    try:
        call()
    except openai.APIError as error:
        # Exactly this class: a gateway that answers everything with 500 would pass on base classes.
        check(type(error) is kind, f"expected {kind.__name__}, got {error!r}")
        return error
    raise AssertionError(f"expected {kind.__name__}, nothing was raised")


class Engine:
    """One simulated engine, seen from outside the gateway."""

    def __init__(self, url):
        self.url = url

    def call(self, path):
        with urllib.request.urlopen(self.url + path, timeout=PATIENCE) as answer:
            return json.load(answer)

    def stats(self):
        return self.call("/sim/stats")

    def requests(self):
        return self.stats()["requests"]

    def of_ranks(self, field):
        return sum(rank[field] for rank in self.stats()["ranks"])

    def break_next(self, events):
        """The next answer's connection is reset after so many events; -1: no more."""
        self.call(f"/sim/die?after={events}&scope=connection")

    def fail(self, status, count=-1):
        self.call(f"/sim/fail?status={status}&count={count}")


class Checks:
    def __init__(self, gateway, engines, model, block_size):
        self.gateway = gateway
        self.engines = engines
        self.model = model
        self.block_size = block_size
        # No retries: what the gateway fails has to be seen.
        self.client = openai.OpenAI(base_url=gateway + "/v1", api_key="none", max_retries=0, timeout=60)

    # -- helpers

    def prompt(self, words=60):
        """Text that no engine has seen."""
        seed = uuid.uuid4().hex
        return " ".join(f"{seed[i % 32]}{i} the cached prefix of request {seed}" for i in range(max(1, words // 6)))

    def chat(self, text, **more):
        more.setdefault("max_tokens", 8)
        return self.client.chat.completions.create(model=self.model, messages=[{"role": "user", "content": text}], **more)

    def explained(self, text):
        """A chat's answer with the gateway's own account of its decision."""
        raw = self.client.chat.completions.with_raw_response.create(
            model=self.model, messages=[{"role": "user", "content": text}], max_tokens=8,
            extra_headers={"x-warmpath-explain": "1"})
        return raw.parse(), raw.headers

    def whole_blocks(self, prompt_tokens):
        """What an engine can have cached of a prompt it has seen: whole blocks, never the last token."""
        return (prompt_tokens - 1) // self.block_size * self.block_size

    def post(self, path, body, headers=None):
        """Status, headers and JSON of a request that the client library would not send."""
        request = urllib.request.Request(
            self.gateway + path, data=body, headers={"content-type": "application/json", **(headers or {})})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return answer.status, answer.headers, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, error.headers, json.load(error)

    def warm(self, text):
        """Sends a prompt until its engine's events have reached the gateway; the engine that holds it."""
        before = [engine.requests() for engine in self.engines]
        self.chat(text)
        holders = [e for e, n in zip(self.engines, before) if e.requests() > n]
        check(len(holders) == 1, f"one request reached {len(holders)} engines")

        def predicted():
            answer, headers = self.explained(text)
            return int(headers["x-warmpath-predicted-cached-tokens"]) == self.whole_blocks(answer.usage.prompt_tokens)
        wait_until("the gateway predicts what the engine holds", predicted)
        return holders[0]

    def quiet(self):
        wait_until("no engine runs a request", lambda: all(
            e.of_ranks("running") + e.of_ranks("waiting") == 0 for e in self.engines))

    # -- checks, in this order

    def models_are_listed(self):
        listed = self.client.models.list()
        check(self.model in [m.id for m in listed.data], f"{self.model} is not among {listed.data}")
        check(all(m.object == "model" for m in listed.data), f"{listed.data}")

    def a_chat_is_answered(self):
        answer = self.chat(self.prompt(), max_tokens=12)
        check(answer.object == "chat.completion", answer.object)
        check(answer.choices[0].message.role == "assistant", f"{answer.choices[0]}")
        check(answer.choices[0].message.content, "no content")
        check(answer.choices[0].finish_reason == "length", answer.choices[0].finish_reason)
        check(answer.usage.completion_tokens == 12, f"{answer.usage}")

    def a_chat_is_streamed_while_it_is_made(self):
        begin = time.monotonic()
        stream = self.chat(self.prompt(), max_tokens=60, stream=True, stream_options={"include_usage": True}, extra_body={"ignore_eos": True})
        first, text, usage, finish, chunks = None, "", None, None, 0
        for chunk in stream:
            if chunk.usage:
                usage = chunk.usage
            for choice in chunk.choices:
                if choice.delta.content:
                    first = first or time.monotonic() - begin
                    text += choice.delta.content
                    chunks += 1
                finish = choice.finish_reason or finish
        total = time.monotonic() - begin
        check(chunks > 30, f"{chunks} chunks for 60 tokens")
        check(finish == "length", f"finish_reason {finish}")
        check(usage is not None and usage.completion_tokens == 60, f"usage {usage}")
        check(first < total / 2, f"first text after {first:.3f} s of {total:.3f} s: the stream is held back")

    def a_text_is_completed(self):
        answer = self.client.completions.create(model=self.model, prompt=self.prompt(), max_tokens=9)
        check(answer.object == "text_completion" and answer.choices[0].text, f"{answer}")
        check(answer.usage.completion_tokens == 9, f"{answer.usage}")
        streamed = list(self.client.completions.create(model=self.model, prompt=self.prompt(), max_tokens=9, stream=True))
        check("".join(c.choices[0].text for c in streamed if c.choices), "no text was streamed")

    def token_ids_are_completed(self):
        ids = [300 + (n * 7919 + uuid.uuid4().int) % 2000 for n in range(70)]
        answer = self.client.completions.create(model=self.model, prompt=ids, max_tokens=4)
        check(answer.usage.prompt_tokens == 70, f"{answer.usage}")

        def repeated():
            again = self.client.completions.create(model=self.model, prompt=ids, max_tokens=4)
            return again.usage.prompt_tokens_details.cached_tokens == 64
        wait_until("the same ids are cached", repeated)
        for _ in range(3):
            check(repeated(), "the same ids went to an engine that does not hold them")

    def the_same_chat_again_goes_where_it_is_cached(self):
        for _ in range(6):
            text = self.prompt()
            self.warm(text)
            for _ in range(3):
                answer, headers = self.explained(text)
                usage = answer.usage
                expected = self.whole_blocks(usage.prompt_tokens)
                check(usage.prompt_tokens_details.cached_tokens == expected, f"expected {expected} cached: {usage}")
                check(int(headers["x-warmpath-prompt-tokens"]) == usage.prompt_tokens, f"{headers} against {usage}")
                check(int(headers["x-warmpath-predicted-cached-tokens"]) == expected, f"{headers}")

    def a_conversation_that_grows_keeps_its_cache(self):
        messages = [{"role": "system", "content": self.prompt(90)}]
        cached = []
        for _ in range(4):
            messages.append({"role": "user", "content": self.prompt(12)})
            answer = self.client.chat.completions.create(model=self.model, messages=messages, max_tokens=20)
            cached.append(answer.usage.prompt_tokens_details.cached_tokens)
            messages.append({"role": "assistant", "content": answer.choices[0].message.content})
            floor = self.whole_blocks(answer.usage.prompt_tokens)

            def known():
                again = self.client.chat.completions.create(model=self.model, messages=messages[:-1], max_tokens=1)
                return again.usage.prompt_tokens_details.cached_tokens == floor
            wait_until("the turn is cached", known)
        check(cached[0] == 0, f"{cached}")
        check(all(later > earlier for earlier, later in zip(cached, cached[1:])), f"cached tokens per turn {cached}")

    def fields_of_engines_survive(self):
        # Without ignore_eos an engine ends by itself sooner; the gateway knows nothing of the field.
        answer = self.chat(self.prompt(), max_tokens=150, extra_body={"ignore_eos": True, "no_such_field": {"a": [1]}})
        check(answer.usage.completion_tokens == 150, f"{answer.usage}")
        check(self.chat(self.prompt(), max_tokens=150).usage.completion_tokens < 150, "ignore_eos makes no difference here")

    def an_unknown_model_is_not_found(self):
        error = raises(openai.NotFoundError, lambda: self.client.chat.completions.create(
            model="no-such-model", messages=[{"role": "user", "content": "Hi"}]))
        check(error.code == "model_not_found", f"code {error.code}")
        check("no-such-model" in error.message, error.message)

    def bad_input_is_a_bad_request(self):
        def create(**body):
            return lambda: self.client.chat.completions.create(**{"model": self.model, "messages": [{"role": "user", "content": "Hi"}], **body})
        for body in ({"messages": []}, {"messages": "Hi"}, {"messages": [{"content": "Hi"}]}, {"max_tokens": "many"}):
            error = raises(openai.BadRequestError, create(**body))
            check(error.type == "invalid_request_error", f"{body}: type {error.type}")
        # Only the engine knows this one; its answer comes through.
        raises(openai.BadRequestError, create(n=3))
        for body in (b"", b"{", b"[]", b"null", b'{"model": 1}', b'{"model": "x"', b"\xff\xfe{}", b'{"messages": []}'):
            status, _, answer = self.post("/v1/chat/completions", body)
            check(status == 400, f"{body}: status {status}")
            check(answer["error"]["message"] and answer["error"]["type"] == "invalid_request_error", f"{body}: {answer}")

    def an_unknown_path_is_told_in_the_same_shape(self):
        status, _, answer = self.post("/v1/no-such-thing", b"{}")
        check(status == 404 and answer["error"]["message"], f"{status} {answer}")

    def a_429_of_all_engines_is_passed_on(self):
        before = [e.requests() for e in self.engines]
        for engine in self.engines:
            engine.fail(429)
        try:
            raises(openai.RateLimitError, lambda: self.chat(self.prompt()))
        finally:
            for engine in self.engines:
                engine.fail(0)
        asked = [e.requests() - b for e, b in zip(self.engines, before)]
        check(sum(asked) >= 1 and max(asked) == 1, f"each engine is asked once at most, not {asked}")

    def an_engine_that_dies_before_its_first_token_is_replaced(self):
        for stream in (False, True):
            text = self.prompt()
            holder = self.warm(text)
            before = holder.requests()
            holder.break_next(0)
            answer = self.chat(text, stream=stream)
            if stream:
                content = "".join(c.choices[0].delta.content or "" for c in answer if c.choices)
            else:
                content = answer.choices[0].message.content
            check(content, "no content")
            # Twice when the broken connection had been used before: it may just have been stale.
            check(holder.requests() - before in (1, 2), "the engine that holds the prompt was not asked first")
            wait_until("the worker is healthy again", self.healthy)

    def healthy(self):
        """A fresh prompt can reach every worker, as far as one look tells."""
        with urllib.request.urlopen(self.gateway + "/workers", timeout=PATIENCE) as answer:
            return all(str(w.get("state", "")).lower() == "ready" for w in workers_in(json.load(answer)))

    def a_stream_whose_engine_dies_goes_on_elsewhere(self):
        text = self.prompt()
        holder = self.warm(text)
        whole = self.chat(text, max_tokens=40).choices[0]
        holder.break_next(8)
        chunks = [c for c in self.chat(text, max_tokens=40, stream=True) if c.choices]
        said = "".join(c.choices[0].delta.content or "" for c in chunks)
        check(said == whole.message.content, f"{said!r} is not {whole.message.content!r}")
        check(len({c.id for c in chunks}) == 1, "the stream has several ids")
        check(chunks[-1].choices[0].finish_reason == whole.finish_reason, f"{chunks[-1]}")
        holder.break_next(-1)
        wait_until("the worker is healthy again", self.healthy)

    def an_engine_that_dies_in_a_stream_that_cannot_go_on_raises(self):
        text = self.prompt()
        holder = self.warm(text)
        holder.break_next(8)
        seen = []

        def read():
            for chunk in self.chat(text, max_tokens=40, stream=True, logprobs=True):
                seen.extend(c.delta.content for c in chunk.choices if c.delta.content)
        error = raises(openai.APIError, read)
        check(seen, "nothing was streamed before the error")
        check(error.message and "127.0.0.1" not in error.message, f"message {error.message!r}")
        holder.break_next(-1)
        wait_until("the worker is healthy again", self.healthy)
        check(self.chat(self.prompt()).choices[0].message.content, "the next request fails")

    def a_client_that_leaves_stops_its_engine(self):
        self.quiet()
        aborted = sum(e.of_ranks("aborted") for e in self.engines)
        stream = self.chat(self.prompt(), max_tokens=4000, stream=True, extra_body={"ignore_eos": True})
        for _, chunk in zip(range(5), stream):
            check(chunk.id, f"{chunk}")
        check(sum(e.of_ranks("running") for e in self.engines) == 1, "the request does not run")
        stream.close()
        wait_until("an engine has aborted it", lambda: sum(e.of_ranks("aborted") for e in self.engines) == aborted + 1)
        self.quiet()

    def a_client_that_leaves_before_the_answer_stops_its_engine(self):
        self.quiet()
        aborted = sum(e.of_ranks("aborted") for e in self.engines)
        impatient = self.client.with_options(timeout=1.0)
        raises(openai.APITimeoutError, lambda: impatient.chat.completions.create(
            model=self.model, messages=[{"role": "user", "content": self.prompt()}], max_tokens=4000, extra_body={"ignore_eos": True}))
        wait_until("an engine has aborted it", lambda: sum(e.of_ranks("aborted") for e in self.engines) == aborted + 1)
        self.quiet()

    def a_silent_stream_is_kept_alive_by_comments(self):
        text = self.prompt()
        body = {"model": self.model, "stream": True, "max_tokens": 8, "messages": [{"role": "user", "content": text}]}
        request = urllib.request.Request(self.gateway + "/v1/chat/completions", data=json.dumps(body).encode(),
                                         headers={"content-type": "application/json"})
        for engine in self.engines:
            engine.call("/sim/slow?ms=1600")
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                raw = answer.read()
            check(raw.startswith(b": keep-alive\n\n: keep-alive\n\n"), f"the answer begins with {raw[:60]}")
            streamed = "".join(c.choices[0].delta.content or "" for c in self.chat(text, stream=True) if c.choices)
        finally:
            for engine in self.engines:
                engine.call("/sim/slow?ms=0")
        check(streamed and streamed == self.chat(text).choices[0].message.content, f"the client read {streamed!r}")

    def a_client_that_drips_its_head_is_cut(self):
        address = urllib.parse.urlsplit(self.gateway)
        begin = time.monotonic()
        with socket.create_connection((address.hostname, address.port), timeout=PATIENCE) as slow:
            slow.sendall(b"GET /v1/models HTTP/1.1\r\nx-slow: ")
            def cut():
                try:
                    slow.sendall(b"a")
                    return False
                except OSError:
                    return True
            wait_until("the gateway closes it", cut)
        check(time.monotonic() - begin >= 1.9, "it was cut too early")
        with urllib.request.urlopen(self.gateway + "/metrics", timeout=PATIENCE) as answer:
            counted = [line for line in answer.read().decode().splitlines()
                       if line.startswith('warmpath_client_timeouts_total{phase="head"}')]
        check(counted and float(counted[0].split()[-1]) >= 1, f"counted: {counted}")

    def many_at_once_are_all_answered(self):
        async def run():
            async with openai.AsyncOpenAI(base_url=self.gateway + "/v1", api_key="none", max_retries=0, timeout=60) as client:
                async def one(i):
                    text, finish = "", None
                    stream = await client.chat.completions.create(
                        model=self.model, messages=[{"role": "user", "content": self.prompt()}], max_tokens=10 + i % 7, stream=True,
                        stream_options={"include_usage": True}, extra_body={"ignore_eos": True})
                    tokens = None
                    async for chunk in stream:
                        tokens = chunk.usage.completion_tokens if chunk.usage else tokens
                        for choice in chunk.choices:
                            text += choice.delta.content or ""
                            finish = choice.finish_reason or finish
                    check(text and finish == "length" and tokens == 10 + i % 7, f"request {i}: {finish} {tokens}")
                await asyncio.gather(*(one(i) for i in range(80)))
        asyncio.run(run())
        self.quiet()

    def an_engine_killed_under_load_fails_no_request_that_had_not_begun(self):
        load = Load(self, workers=24)
        victim = self.engines[-1]
        load.start()
        wait_until("the load flows", lambda: load.answered_since(0) >= load.workers)
        wait_until("the engine to be killed runs requests", lambda: victim.of_ranks("running") >= 3)
        victim.call("/sim/kill")
        killed = time.monotonic()
        self.engines.remove(victim)
        wait_until("requests begun after the kill are answered", lambda: load.answered_since(killed) >= 100, seconds=60)
        load.stop()
        print(f"      {len(load.answered)} answered, {len(load.broken)} broken in mid-stream, {len(load.failed)} failed")
        check(not load.failed, f"requests that had not begun failed: {load.failed[:3]}")
        # At most what the victim ran: one stream of each thread.
        check(len(load.broken) <= load.workers, f"{len(load.broken)} streams broke")
        self.quiet()


class Load:
    """Threads that stream one short chat after another and keep account of how each ended."""

    def __init__(self, checks, workers):
        self.checks = checks
        self.workers = workers
        self.answered = []  # when each began
        self.broken = []
        self.failed = []
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run) for _ in range(workers)]

    def start(self):
        for thread in self._threads:
            thread.start()

    def stop(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def answered_since(self, when):
        return sum(begun > when for begun in list(self.answered))

    def _run(self):
        while not self._stop.is_set():
            begun, text, finish, tokens, ids = time.monotonic(), "", None, None, set()
            try:
                stream = self.checks.chat(self.checks.prompt(), max_tokens=20, stream=True,
                                          stream_options={"include_usage": True}, extra_body={"ignore_eos": True})
                for chunk in stream:
                    ids.add(chunk.id)
                    tokens = chunk.usage.completion_tokens if chunk.usage else tokens
                    for choice in chunk.choices:
                        text += choice.delta.content or ""
                        finish = choice.finish_reason or finish
            except openai.APIError as error:
                (self.broken if text else self.failed).append(repr(error))
                continue
            except Exception as error:  # whatever it is, it is not what an application catches
                self.failed.append(f"not an APIError: {error!r}")
                continue
            # One answer, of one engine, to its end: not cut off silently, not two answers in one stream.
            if finish == "length" and tokens == 20 and len(ids) == 1:
                self.answered.append(begun)
            else:
                self.failed.append(f"ended with finish {finish}, {tokens} tokens, ids {ids} after {text!r}")


def workers_in(answer):
    """GET /workers: a list, or an object that holds one."""
    if isinstance(answer, list):
        return answer
    lists = [value for value in answer.values() if isinstance(value, list)]
    check(len(lists) == 1, f"/workers answered {answer}")
    return lists[0]


def run(checks_of, helpers, client, description):
    """Runs every check of the class whose name was asked for; the exit code."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gateway", required=True)
    parser.add_argument("--engine", action="append", required=True)
    parser.add_argument("--model", default="demo")
    parser.add_argument("--block-size", type=int, default=16)
    parser.add_argument("--only", help="run the checks whose name contains this")
    options = parser.parse_args()
    checks = checks_of(options.gateway, [Engine(url) for url in options.engine], options.model, options.block_size)
    names = [n for n in vars(checks_of) if not n.startswith("_") and n not in helpers]
    names = [n for n in names if not options.only or options.only in n]
    failed = 0
    for name in names:
        begin = time.monotonic()
        try:
            getattr(checks, name)()
            verdict = "ok  "
        except Exception:
            failed += 1
            verdict = "FAIL"
            traceback.print_exc(file=sys.stdout)
        print(f"{verdict}  {name.replace('_', ' ')} ({time.monotonic() - begin:.1f} s)", flush=True)
    print(f"{client}: {len(names) - failed} of {len(names)} checks hold")
    return 1 if failed or (not names and not options.only) else 0


def main():
    helpers = {"prompt", "chat", "explained", "whole_blocks", "post", "warm", "quiet", "healthy"}
    return run(Checks, helpers, f"openai {openai.__version__}", __doc__)


if __name__ == "__main__":
    sys.exit(main())

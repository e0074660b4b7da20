#!/usr/bin/env python3
"""End to end with the real Anthropic client: a gateway and its simulated engines, over their public interfaces.

Each check is a promise; it prints one line. Exit code 0 only when all hold.

  anthropic_client.py --gateway http://127.0.0.1:8000 --engine http://127.0.0.1:30000 --engine ... [--only NAME]
"""
import json
import sys
import time
import urllib.request
import uuid

import anthropic
import openai_client
from openai_client import check, run, wait_until


class Checks:
    def __init__(self, gateway, engines, model, block_size):
        self.other = openai_client.Checks(gateway, engines, model, block_size)
        self.engines = engines
        self.model = model
        # No retries: what the gateway fails has to be seen.
        self.client = anthropic.Anthropic(base_url=gateway, api_key="none", max_retries=0, timeout=60)

    # -- helpers

    def ask(self, text, **more):
        more.setdefault("max_tokens", 8)
        more.setdefault("model", self.model)
        return self.client.messages.create(messages=[{"role": "user", "content": text}], **more)

    def refused(self, kind, status, word, call):
        try:
            call()
        except anthropic.APIStatusError as error:
            check(type(error) is kind, f"expected {kind.__name__}, got {error!r}")
            check(error.status_code == status, f"status {error.status_code}")
            check(error.body["error"]["type"] == word, f"{error.body}")
            check(error.request_id, "no request id")
            return error
        raise AssertionError(f"expected {kind.__name__}, nothing was raised")

    def the_ledger_has_it_where_engines_can(self, block):
        def read(path):
            with urllib.request.urlopen(self.other.gateway + path, timeout=20) as answer:
                return json.load(answer)
        if openai_client.workers_in(read("/workers"))[0]["pins"] != "rpc":
            return
        text = {**block, "text": self.other.prompt()}
        usage = self.client.messages.create(
            model=self.model, max_tokens=4, system=[text], messages=[{"role": "user", "content": "Hi"}]).usage
        tokens = usage.input_tokens + usage.cache_read_input_tokens

        def held():
            return [p for p in read("/sessions/pins?limit=1000")["data"]
                    if p["tokens"] == tokens and p["state"] == "held" and p["ttl_seconds"] == 3600]
        wait_until("the prompt is pinned for an hour", held)

    # -- checks, in this order

    def a_message_is_answered(self):
        answer = self.ask(self.other.prompt(), max_tokens=12, system="Be brief.", extra_body={"temperature": 0.5, "top_k": 3})
        check(answer.type == "message" and answer.role == "assistant", f"{answer}")
        check([b.type for b in answer.content] == ["text"] and answer.content[0].text, f"{answer.content}")
        check(answer.stop_reason == "max_tokens", answer.stop_reason)
        check(answer.usage.output_tokens == 12, f"{answer.usage}")
        check(answer._request_id, "no request id")

    def a_message_is_streamed_while_it_is_made(self):
        # The client library loads half of itself with its first stream.
        with self.client.messages.stream(model=self.model, max_tokens=1,
                                         messages=[{"role": "user", "content": "Hi"}]) as stream:
            stream.until_done()
        begin, first, deltas = time.monotonic(), None, 0
        with self.client.messages.stream(model=self.model, max_tokens=60, extra_body={"ignore_eos": True},
                                         messages=[{"role": "user", "content": self.other.prompt()}]) as stream:
            text = ""
            for piece in stream.text_stream:
                first = first or time.monotonic() - begin
                text += piece
                deltas += 1
            answer = stream.get_final_message()
        total = time.monotonic() - begin
        check(deltas > 30, f"{deltas} deltas for 60 tokens")
        check(answer.content[0].text == text, f"{answer.content} is not {text!r}")
        check(answer.stop_reason == "max_tokens", answer.stop_reason)
        check(answer.usage.output_tokens == 60 and answer.usage.input_tokens > 0, f"{answer.usage}")
        check(first < total / 2, f"first text after {first:.3f} s of {total:.3f} s: the stream is held back")

    def a_chat_of_the_other_api_is_the_same_prompt(self):
        text = self.other.prompt()
        self.other.warm(text)
        answer = self.ask(text)
        total = answer.usage.input_tokens + answer.usage.cache_read_input_tokens
        expected = self.other.whole_blocks(total)
        check(answer.usage.cache_read_input_tokens == expected, f"expected {expected} cached: {answer.usage}")
        raw = self.client.messages.with_raw_response.create(
            model=self.model, max_tokens=8, messages=[{"role": "user", "content": text}],
            extra_headers={"x-warmpath-explain": "1"})
        check(int(raw.headers["x-warmpath-prompt-tokens"]) == total, f"{raw.headers} against {total}")
        check(int(raw.headers["x-warmpath-predicted-cached-tokens"]) == expected, f"{raw.headers} against {expected}")

    def a_conversation_with_tools_is_predicted(self):
        tool = {"name": "weather", "description": "Tells it.",
                "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}
        chat = dict(
            model=self.model, system=[{"type": "text", "text": self.other.prompt(), "cache_control": {"type": "ephemeral"}}],
            tools=[tool],
            messages=[
                {"role": "user", "content": "How is it in Oslo?"},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Oslo"}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "rain"}]},
            ])
        counted = self.client.messages.count_tokens(**chat).input_tokens

        def predicted():
            raw = self.client.messages.with_raw_response.create(
                max_tokens=4, extra_headers={"x-warmpath-explain": "1"}, **chat)
            usage = raw.parse().usage
            total = usage.input_tokens + usage.cache_read_input_tokens
            check(total == counted, f"counted {counted}, the engine says {usage}")
            check(int(raw.headers["x-warmpath-prompt-tokens"]) == counted, f"{raw.headers} against {counted}")
            return (usage.cache_read_input_tokens == self.other.whole_blocks(total)
                    == int(raw.headers["x-warmpath-predicted-cached-tokens"]))
        wait_until("predicted and reported cached tokens are the whole prompt's", predicted)

    def bad_requests_raise_the_right_errors(self):
        self.refused(anthropic.NotFoundError, 404, "not_found_error", lambda: self.ask("a", model="nobody"))
        self.refused(anthropic.BadRequestError, 400, "invalid_request_error", lambda: self.ask("a", max_tokens=0))
        error = self.refused(anthropic.BadRequestError, 400, "invalid_request_error", lambda: self.ask(
            "a", tools=[{"type": "web_search_20250305", "name": "web_search"}]))
        check("tools[0].type" in str(error), f"{error}")

    def a_stream_whose_engine_dies_goes_on_elsewhere(self):
        text = self.other.prompt()
        holder = self.other.warm(text)
        chat = {"model": self.model, "max_tokens": 40, "messages": [{"role": "user", "content": text}]}
        whole = self.client.messages.create(**chat).content[0].text
        holder.break_next(8)
        with self.client.messages.stream(**chat) as stream:
            seen = "".join(stream.text_stream)
        check(seen == whole, f"{seen!r} is not {whole!r}")
        holder.break_next(-1)
        wait_until("the worker is healthy again", self.other.healthy)

    def blocks_that_are_to_be_cached_pin_the_prompt(self):
        def hints(system, **more):
            raw = self.client.messages.with_raw_response.create(
                model=self.model, max_tokens=4, system=system, messages=[{"role": "user", "content": "Hi"}],
                extra_headers={"x-warmpath-explain": "1"}, **more)
            check(raw.parse().content, "no content")
            return raw.headers["x-warmpath-hints"]
        block = {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}
        check(hints([block]).endswith(";cache-control=300s"), hints([block]))
        hour = {**block, "cache_control": {"type": "ephemeral", "ttl": "1h"}}
        check(hints([block, hour]).endswith(";cache-control=3600s"), "the longest time does not count")
        wrong = {**block, "cache_control": {"type": "forever"}}
        error = self.refused(anthropic.BadRequestError, 400, "invalid_request_error", lambda: hints([wrong]))
        check("system[0].cache_control.type" in error.body["error"]["message"], f"{error.body}")
        self.the_ledger_has_it_where_engines_can(hour)

    def claude_codes_user_names_its_session(self):
        user = {"user_id": f"user_1_account__session_{uuid.uuid4()}"}
        for word in ("first", "kept"):
            raw = self.client.messages.with_raw_response.create(
                model=self.model, max_tokens=4, metadata=user, messages=[{"role": "user", "content": self.other.prompt()}],
                extra_headers={"x-warmpath-explain": "1"})
            check(raw.headers["x-warmpath-session"] == word, f"{raw.headers}")

    def a_client_that_leaves_stops_its_engine(self):
        self.other.quiet()
        aborted = sum(e.of_ranks("aborted") for e in self.engines)
        with self.client.messages.stream(model=self.model, max_tokens=4000, extra_body={"ignore_eos": True},
                                         messages=[{"role": "user", "content": self.other.prompt()}]) as stream:
            for _, _ in zip(range(5), stream.text_stream):
                pass
        wait_until("an engine has aborted it", lambda: sum(e.of_ranks("aborted") for e in self.engines) == aborted + 1)
        self.other.quiet()


def main():
    return run(Checks, {"ask", "refused", "the_ledger_has_it_where_engines_can"}, f"anthropic {anthropic.__version__}", __doc__)


if __name__ == "__main__":
    sys.exit(main())

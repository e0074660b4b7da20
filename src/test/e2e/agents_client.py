#!/usr/bin/env python3
"""End to end with the real OpenAI client: what agents say in `nvext` and in headers, and what they are told.

Each check is a promise; it prints one line. Exit code 0 only when all hold. The gateway binds sessions
(--router-session-affinity-ttl-secs) and takes pins (--enable-cache-control), with no keep-alives: they would be among
what is counted here.

  agents_client.py --gateway http://127.0.0.1:8000 --engine http://127.0.0.1:30000 --engine ... [--only NAME]
"""
import json
import re
import sys
import urllib.error
import urllib.request
import uuid

import openai

import openai_client
from openai_client import PATIENCE, check, raises, run, wait_until


class Checks:
    def __init__(self, gateway, engines, model, block_size):
        self.other = openai_client.Checks(gateway, engines, model, block_size)
        self.gateway = gateway
        self.engines = engines
        self.model = model
        self.client = self.other.client

    # -- helpers

    def ask(self, nvext, text=None, headers=None, **more):
        """Headers and answer of a chat with this nvext."""
        raw = self.client.chat.completions.with_raw_response.create(
            model=self.model, messages=[{"role": "user", "content": text or self.other.prompt()}],
            max_tokens=more.pop("max_tokens", 8), extra_body={"nvext": nvext} if nvext is not None else None,
            extra_headers={"x-warmpath-explain": "1", **(headers or {})}, **more)
        return raw.headers, raw.parse()

    def get(self, path):
        with urllib.request.urlopen(self.gateway + path, timeout=PATIENCE) as answer:
            return answer.read().decode()

    def status(self, method, path):
        """What this answers, without its body."""
        try:
            with urllib.request.urlopen(urllib.request.Request(self.gateway + path, method=method), timeout=PATIENCE) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    def meter(self, name, tag=""):
        """The sum of a counter over its tags, or over those that have this one."""
        found = re.findall(rf"^{name}(?:{{[^}}]*{tag}[^}}]*}})? ([0-9.eE+-]+)$", self.get("/metrics"), re.MULTILINE)
        return sum(map(float, found))

    def requests(self):
        return [engine.requests() for engine in self.engines]

    def worker(self):
        return openai_client.workers_in(json.loads(self.get("/workers")))

    # -- checks, in this order

    def hints_are_taken_and_shown(self):
        headers, answer = self.ask({
            "agent_hints": {"priority": 10, "strict_priority": 2, "osl": 512, "latency_sensitivity": 1.5, "later": {}},
            "greed_sampling": True})
        check(answer.choices[0].message.content, "no content")
        shown = headers["x-warmpath-hints"]
        taken = {"higher-first": "10", "lower-first": "-10", "not-taken": "not-taken"}[self.worker()[0]["priority"]]
        check(shown == f"priority=10.0;strict=2;osl=512;engine={taken};greedy=1", shown)
        headers, _ = self.ask({"agent_hints": {"priority": 1}}, headers={"x-dynamo-request-priority": "7"})
        check(headers["x-warmpath-hints"].startswith("priority=7.0;"), f"the header does not win: {headers}")

    def wrong_types_are_refused_before_anything_is_sent(self):
        before = self.requests()
        for nvext, path in [
            ({"agent_hints": {"priority": "high"}}, "nvext.agent_hints.priority"),
            ({"agent_hints": {"speculative_prefill": 1}}, "nvext.agent_hints.speculative_prefill"),
            ({"agent_context": {"session_id": 7}}, "nvext.agent_context.session_id"),
            ({"session_control": {"action": "open"}}, "nvext.session_control.session_id"),
            ({"session_control": {"session_id": "s", "timeout": "300"}}, "nvext.session_control.timeout"),
            ({"session_control": {"session_id": "s", "timeout": 0}}, "nvext.session_control.timeout"),
            ({"session_control": {"session_id": "s", "action": "fork"}}, "nvext.session_control.action"),
            ({"session_control": {"session_id": 257 * "s"}}, "nvext.session_control.session_id"),
            ({"agent_hints": {"osl": -1}}, "nvext.agent_hints.osl"),
            ({"agent_hints": []}, "nvext.agent_hints"),
            ({"cache_control": {"type": "ephemeral", "ttl": 1.5}}, "nvext.cache_control.ttl"),
            ({"cache_control": {"type": "forever"}}, "nvext.cache_control.type"),
            ({"annotations": [1]}, "nvext.annotations[0]"),
            ({"extra_fields": "timing"}, "nvext.extra_fields"),
            ({"prefill_worker_id": 1, "decode_worker_id": 2}, "nvext.prefill_worker_id"),
            ({"token_data": ["a"]}, "nvext.token_data"),
        ]:
            error = raises(openai.BadRequestError, lambda: self.ask(nvext))
            check(error.param == path, f"{nvext}: {error.body}")
        for header, value in [
            ("x-dynamo-request-priority", "soon"), ("x-dynamo-request-strict-priority", "-1"),
            ("x-dynamo-worker-instance-id", "w1"), ("x-dynamo-dp-rank", "one"), ("X-Dynamo-Session-ID", 257 * "s"),
        ]:
            error = raises(openai.BadRequestError, lambda: self.ask({}, headers={header: value}))
            check(header.lower() in f"{error.param} {error}".lower(), f"{header}: {error.body}")
        check(self.requests() == before, "an engine has got one of them")

    def a_worker_is_named_in_the_body_or_in_a_header(self):
        for worker in self.worker():
            _, answer = self.ask({"decode_worker_id": int(worker["id"]), "extra_fields": ["worker_id"]})
            told = answer.model_extra["nvext"]["worker_id"]["decode_worker_id"]
            check(told == int(worker["id"]), f"{worker['name']} was asked, {told} has answered")
            _, answer = self.ask({"decode_worker_id": 1, "extra_fields": ["worker_id"]},
                                 headers={"x-dynamo-worker-instance-id": worker["id"]})
            told = answer.model_extra["nvext"]["worker_id"]["prefill_worker_id"]
            check(told == int(worker["id"]), f"the header names {worker['name']}, {told} has answered")

    def an_answer_tells_what_was_asked_for(self):
        fields = {"extra_fields": ["worker_id", "timing", "token_ids"]}
        _, answer = self.ask(fields)
        told = answer.model_extra["nvext"]
        check(len(told["token_ids"]) == answer.usage.prompt_tokens, f"{len(told['token_ids'])} ids: {answer.usage}")
        check(told["timing"]["total_time_ms"] > 0, f"{told['timing']}")
        _, stream = self.ask(fields, stream=True, max_tokens=20)
        chunks = list(stream)
        timing = chunks[-1].model_extra["nvext"]["timing"]
        check(0 < timing["ttft_ms"] <= timing["total_time_ms"] and timing["itl_ms"] > 0, f"{timing}")
        check(not any("nvext" in c.model_extra for c in chunks[:-1]), "it is not in the last chunk alone")
        _, plain = self.ask(None, headers={"x-warmpath-explain": "0"})
        check("nvext" not in plain.model_extra, "who has not asked is told")

    def annotations_come_as_chunks_without_choices(self):
        text = self.other.prompt()
        names = ["formatted_prompt", "token_ids", "worker_id", "llm_metrics", "query_instance_id"]
        _, stream = self.ask({"annotations": names}, text, headers={"x-warmpath-explain": "0"}, stream=True)
        chunks = list(stream)
        told = {}
        for chunk in chunks:
            if "nvext" in chunk.model_extra:
                check(chunk.choices == [] and chunk.object == "chat.completion.chunk", f"{chunk}")
                told.update(chunk.model_extra["nvext"])
        check(list(told) == names[:4], f"{list(told)}")
        check(text in told["formatted_prompt"] and told["formatted_prompt"] != text, told["formatted_prompt"])
        check(len(told["token_ids"]) == told["llm_metrics"]["input_tokens"], f"{told['llm_metrics']}")
        check(told["llm_metrics"]["output_tokens"] == 8, f"{told['llm_metrics']}")
        check("nvext" not in chunks[3].model_extra and "nvext" in chunks[2].model_extra, "three are in front")
        check("".join(c.choices[0].delta.content or "" for c in chunks if c.choices), "no text was streamed")

    def a_question_runs_nothing(self):
        text = self.other.prompt()
        holder = self.other.warm(text)
        before = self.requests()
        query = {"annotations": ["query_instance_id:gateway-1"], "extra_fields": ["worker_id"]}
        _, answer = self.ask(query, text)
        told = answer.model_extra["nvext"]
        check(answer.choices == [] and answer.object == "chat.completion", f"{answer}")
        _, stream = self.ask(query, text, stream=True)
        check([c.model_extra["nvext"]["worker_id"] for c in stream] == [told["worker_id"]], "the stream says otherwise")
        check(self.requests() == before, "an engine was asked")
        worker = {int(w["id"]): w["url"] for w in self.worker()}[told["worker_id"]["decode_worker_id"]]
        check(worker.rstrip("/") == holder.url.rstrip("/"), f"{worker} is named, {holder.url} holds the prompt")
        _, answer = self.ask({"token_data": told["token_ids"], "backend_instance_id": told["worker_id"]["decode_worker_id"]}, text)
        cached = answer.usage.prompt_tokens_details.cached_tokens
        check(cached == self.other.whole_blocks(len(told["token_ids"])), f"the second stage found {cached} tokens")

    def the_next_turn_is_computed_ahead(self):
        messages = [{"role": "system", "content": self.other.prompt(90)}, {"role": "user", "content": "Tell me a story."}]
        ahead, hit = "warmpath_prefill_ahead_total", "warmpath_prefill_ahead_hit_tokens_total"
        before, found = self.meter(ahead), self.meter(hit)
        requests = self.meter("warmpath_requests_total")
        answer = self.client.chat.completions.create(
            model=self.model, messages=messages, max_tokens=50,
            extra_body={"ignore_eos": True, "nvext": {"agent_hints": {"speculative_prefill": True}}})
        wait_until("the next turn is computed ahead", lambda: self.meter(ahead) == before + 1)
        check('warmpath_prefill_ahead_total{result="ok"}' in self.get("/metrics"), "no prefill was ever made")
        check(self.meter("warmpath_requests_total") == requests + 1, "it counts as a client's request")
        first = answer.usage.prompt_tokens + answer.usage.completion_tokens
        messages += [{"role": "assistant", "content": answer.choices[0].message.content}, {"role": "user", "content": "Go on."}]
        answer = self.client.chat.completions.create(model=self.model, messages=messages, max_tokens=4)
        cached = answer.usage.prompt_tokens_details.cached_tokens
        check(cached > first - 2 * self.other.block_size, f"{cached} of the {first} tokens of the first turn are cached")
        check(self.meter(hit) > found, "what was found is not counted")

    def turns_stay_where_their_session_is(self):
        for name in ({"X-Dynamo-Session-ID": "run-"}, {"x-session-id": "open-"}, {"thread-id": "codex-"}, None):
            session = uuid.uuid4().hex
            headers = {k: v + session for k, v in name.items()} if name else {}
            nvext = {} if name else {"agent_context": {"session_id": session}}
            before = self.requests()
            words = []
            for _ in range(2 * len(self.engines)):
                told, _ = self.ask(nvext, headers=headers)
                words.append(told["x-warmpath-session"])
            check(words == ["first"] + ["kept"] * (len(words) - 1), f"{name}: {words}")
            grown = [now - was for now, was in zip(self.requests(), before)]
            check(sorted(grown)[-1] == len(words), f"{name}: turns per engine {grown}")

    def a_session_is_opened_goes_on_with_what_is_new_and_is_closed(self):
        def turn(**control):
            return self.ask({"session_control": {"session_id": session, **control}})
        session = uuid.uuid4().hex
        told, first = turn(action="open", timeout=60)
        check(told["x-warmpath-session"].startswith("opened"), f"{told}")
        told, second = turn()
        check(told["x-warmpath-session"].startswith("kept"), f"{told}")
        said = first.usage.prompt_tokens + first.usage.completion_tokens
        check(second.usage.prompt_tokens > said, f"{second.usage} after {first.usage}: the first turn is not in it")
        cached = second.usage.prompt_tokens_details.cached_tokens
        check(cached >= self.other.whole_blocks(first.usage.prompt_tokens), f"{cached} tokens were cached")
        told, third = turn(action="close")
        check(third.usage.prompt_tokens > second.usage.prompt_tokens, f"{third.usage}")
        error = raises(openai.ConflictError, turn)
        check(error.code == "session_not_open", f"{error.body}")

    def sessions_are_seen_and_ended_by_operators(self):
        session, opened = uuid.uuid4().hex, uuid.uuid4().hex
        told, _ = self.ask({}, headers={"X-Dynamo-Session-ID": session, "x-tenant-id": "acme"})
        self.ask({"session_control": {"session_id": opened, "action": "open", "timeout": 60}})
        listed = {s["id"]: s for s in json.loads(self.get("/sessions?limit=1000"))["data"]}
        check(not listed[session]["controlled"] and listed[session]["turns"] == 1, f"{listed[session]}")
        check(listed[session]["worker"] == told["x-warmpath-worker"], f"{listed[session]}")
        check(listed[session]["has_tenant"] and "acme" not in self.get("/sessions"), f"{listed[session]}")
        one = json.loads(self.get(f"/sessions/{opened}"))["data"][0]
        check(one["controlled"] and one["state"] == "open" and one["timeout_s"] == 60, f"{one}")
        check(one["kept_by"] == self.worker()[0]["sessions"], f"{one}")
        for name in (session, opened):
            check(self.status("DELETE", f"/sessions/{name}") == 204, "it cannot be ended")
            check(self.status("GET", f"/sessions/{name}") == 404, "it is still there")
            check(self.status("DELETE", f"/sessions/{name}") == 404, "it can be ended twice")
        told, _ = self.ask({}, headers={"X-Dynamo-Session-ID": session, "x-tenant-id": "acme"})
        check(told["x-warmpath-session"] == "first", f"{told}")
        error = raises(openai.ConflictError, lambda: self.ask({"session_control": {"session_id": opened}}))
        check(error.code == "session_not_open", f"{error.body}")

    def a_tenant_does_not_meet_anothers_session(self):
        session = uuid.uuid4().hex
        control = {"session_control": {"session_id": session}}
        self.ask({"session_control": {"session_id": session, "action": "open"}}, headers={"x-tenant-id": "acme"})
        for action in ({}, {"action": "close"}):
            error = raises(openai.ConflictError, lambda: self.ask(
                {"session_control": {"session_id": session, **action}}, headers={"x-tenant-id": "rival"}))
            check(error.code == "session_not_open", f"{error.body}")
        told, _ = self.ask(control, headers={"x-tenant-id": "acme"})
        check(told["x-warmpath-session"].startswith("kept"), f"{told}")
        self.ask({"session_control": {"session_id": session, "action": "close"}}, headers={"x-tenant-id": "acme"})

    def a_prompt_is_pinned_for_its_tenant(self):
        how = self.worker()[0]["pins"]
        result = {"rpc": "ok", "keep-alive": "unsupported"}[how]
        tag = f'result="{result}"'
        text, tenant = self.other.prompt(), uuid.uuid4().hex
        before, requests = self.meter("warmpath_pins_total", tag), self.requests()
        headers, answer = self.ask({"cache_control": {"type": "ephemeral", "ttl": "10m"}}, text, {"x-tenant-id": tenant})
        check(headers["x-warmpath-hints"].endswith(";cache-control=600s"), headers["x-warmpath-hints"])
        wait_until(f"the pin is {result}", lambda: self.meter("warmpath_pins_total", tag) == before + 1)
        check(sum(self.requests()) == sum(requests) + 1, "the pin was a request of its own")
        pins = json.loads(self.get("/sessions/pins?limit=1000"))
        check(tenant not in json.dumps(pins), "the tenant is shown")
        if result == "unsupported":
            check(pins["refused"][-1]["result"] == result and pins["refused"][-1]["reason"], f"{pins}")
            check(not pins["data"], f"{pins}")
            return
        pin = pins["data"][-1]
        check(pin["state"] == "held" and pin["how"] == how and pin["ttl_seconds"] == 600 and pin["has_tenant"], f"{pin}")
        check(pin["worker"] == headers["x-warmpath-worker"] and pin["nodes_pinned"] > 0, f"{pin}")
        check(pin["tokens"] == answer.usage.prompt_tokens, f"{pin} of {answer.usage}")
        check(sum(e.of_ranks("pinned_blocks") for e in self.engines) >= pin["blocks"], "no engine keeps it")
        for who, blocks in ((tenant, str(pin["blocks"])), ("rival", None)):
            told, again = self.ask({}, text, {"x-tenant-id": who})
            check(told.get("x-warmpath-pinned-blocks") == blocks, f"{who}: {told}")
            cached = again.usage.prompt_tokens_details.cached_tokens
            check((cached > 0) == (who == tenant), f"{who} found {cached} tokens")
        check(json.loads(self.get(f"/sessions/pins/{pin['id']}"))["hits"] == 1, "the other tenant's prompt was a hit")
        check(self.status("DELETE", f"/sessions/pins/{pin['id']}") == 204, "it cannot be ended")
        check(self.status("GET", f"/sessions/pins/{pin['id']}") == 404, "it is still there")

    def times_of_pins_are_clamped(self):
        for ttl, seconds in (("1s", 300), ("301", 301), ("5m", 300), ("1h", 3600), ("9h", 3600), (7200, 3600), ("soon", 300)):
            headers, _ = self.ask({"cache_control": {"type": "ephemeral", "ttl": ttl}})
            check(headers["x-warmpath-hints"].endswith(f";cache-control={seconds}s"), f"{ttl}: {headers['x-warmpath-hints']}")

    def agents_of_claude_code_are_sessions_of_their_own(self):
        session = uuid.uuid4().hex
        main = {"x-claude-code-session-id": session}
        agent = {**main, "x-claude-code-agent-id": "a1", "x-claude-code-parent-agent-id": "a0"}
        told, _ = self.ask(None, headers=main)
        check(told["x-warmpath-session"] == "first" and "x-warmpath-hints" not in told, f"{told}")
        told, _ = self.ask(None, headers=agent)
        check(told["x-warmpath-session"] == "first", "the sub-agent's turn went with the main agent's")
        check(told["x-warmpath-hints"].endswith(f";parent={session}/a0"), told["x-warmpath-hints"])
        told, _ = self.ask(None, headers={**agent, "X-Dynamo-Session-Final": "true"})
        check(told["x-warmpath-session"] == "kept", f"{told}")
        told, _ = self.ask(None, headers=agent)
        check(told["x-warmpath-session"] == "first", "a session that was ended goes on")


def main():
    return run(Checks, {"ask", "get", "status", "meter", "requests", "worker"}, f"openai {openai.__version__} for agents", __doc__)


if __name__ == "__main__":
    sys.exit(main())

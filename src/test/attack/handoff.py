"""Fields and headers that act on engines or on other requests, in every way to write them; and limits of tokens that somebody wants to pass by."""
import hashlib
import time

import wire
from engine import send
from naive import Naive
from suite import Attack, expect

NAME = "hand-off fields, limits"
HOLDS = "fields for routers reach no engine, in any way to write them; tokens a minute hold for chunks and for those who leave"
KEY = "sk-" + "l" * 60
FIELDS = ("kv_transfer_params", "ec_transfer_params", "bootstrap_host", "bootstrap_port", "bootstrap_room", "bootstrap_pair_key", "decode_tp_size", "disagg_prefill_dp_rank",
          "disaggregated_params", "disagg_anything_new", "kv_hints", "encoder_urls", "http_worker_ipc", "rid", "session_params", "extra_key", "lora_path",
          "custom_logit_processor", "logits_processors")
HEADERS = ("x-override-rid: a", "X-Override-Bootstrap-Host: h", "x-override-priority: 1", "x-prefiller-host-port: h:1", "x-encoder-hosts-ports: h:1", "x-data-parallel-host-port: h:1",
           "x-vllm-priority: -9")
PATHS = ("/v1/chat/completions", "/v1/completions", "/generate", "/v1/responses", "/v1/embeddings")


def escaped(name):
    return "".join(f"\\u{ord(c):04x}" for c in name)


def body_with(member):
    return (b'{"model":"demo","max_tokens":2,"prompt":"a","text":"a","input":"a","messages":[{"role":"user","content":"a"}],' + member.encode() + b"}")


def refused(path, body, headers=()):
    def run(target):
        before = len(target.engine.asked())
        answer = wire.one(target, wire.request("POST", path, body, ("Content-Type: application/json", *headers)))
        calls = target.engine.asked()[before:]
        expect(answer is not None and answer.status in (400, 404) and not calls, f"{answer and answer.status}, the engine got {len(calls)}")
        return f"{answer.status} {answer.code()}"
    return run


def form(name):
    boundary = "b" * 20
    part = '--{}\r\nContent-Disposition: form-data; name="{}"\r\n\r\n{}\r\n'
    body = "".join(part.format(boundary, n, v) for n, v in (("model", "demo"), (name, '{"a":1}'))) + f"--{boundary}--\r\n"
    return body.encode(), (f"Content-Type: multipart/form-data; boundary={boundary}",)


def attacks():
    for name in FIELDS:
        for path in PATHS if name in ("kv_transfer_params", "rid") else PATHS[:1]:
            yield Attack(f"{name}, {path}", "400, no engine hears of it", refused(path, body_with(f'"{name}":{{"a":1}}')), name == "rid")
        yield Attack(f"{name} with escapes", "400", refused(PATHS[0], body_with(f'"{escaped(name)}":"x"')))
        yield Attack(f"{name} twice, null first", "400", refused(PATHS[0], body_with(f'"{name}":null,"{name}":"x"')))
    for name in ("kv_transfer_params", "ec_transfer_params"):
        yield Attack(f"{name} within vllm_xargs", "400", refused(PATHS[0], body_with(f'"vllm_xargs":{{"{name}":{{"a":1}}}}')))
        yield Attack(f"{name} within vllm_xargs, with escapes", "400", refused(PATHS[0], body_with(f'"{escaped("vllm_xargs")}":{{"{escaped(name)}":{{"a":1}}}}')))
    yield Attack("request_id of responses", "400", refused("/v1/responses", body_with('"request_id":"x"')))
    for header in HEADERS:
        yield Attack(f"header {header}", "400", refused(PATHS[0], body_with('"x":1'), (header,)))
    for name in ("kv_transfer_params", "bootstrap_host"):
        body, headers = form(name)
        yield Attack(f"{name} as a part of a form", "400", lambda t, body=body, headers=headers: multipart(t, body, headers))


def multipart(target, body, headers):
    before = len(target.engine.asked())
    answer = wire.one(target, wire.request("POST", "/v1/audio/transcriptions", body, headers))
    expect(answer is not None and answer.status == 400 and len(target.engine.asked()) == before, f"{answer and answer.status}, the engine got {len(target.engine.asked()) - before}")
    return "400"


class Metered:
    """An engine's answers cost what their prompts weigh; of a key with 2,000 tokens a minute."""

    def __init__(self, target):
        self.target = target
        self.used = 0
        target.engine.answer = self.answer

    def answer(self, call, s):
        if call.method != "POST":
            return False
        tokens = len(call.body) // 4
        self.used += tokens
        if b'"stream": true' in call.body:
            s.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in range(100):
                event = b'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n'
                s.sendall(b"%x\r\n%s\r\n" % (len(event), event))
                time.sleep(0.02)
            s.sendall(b"0\r\n\r\n")
        else:
            send(s, 200, {"choices": [{"index": 0, "message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}],
                          "usage": {"prompt_tokens": tokens, "completion_tokens": 1, "total_tokens": tokens + 1}})
        return True


def limited(chunked, leaves, bound):
    """60 requests of 250 tokens each: what reaches the engine stays below `bound` tokens."""
    def run(target):
        metered = Metered(target)
        seen = {}
        headers = ("Content-Type: application/json", *target.keyed)
        body = wire.chat_body("x" * 1000, stream=leaves)
        for _ in range(60):
            with wire.connect(target, 20) as s:
                if chunked:
                    head = "\r\n".join(["POST /v1/chat/completions HTTP/1.1", "Host: localhost", "Transfer-Encoding: chunked", *headers]) + "\r\n\r\n"
                    s.sendall(head.encode() + b"".join(b"%x\r\n%s\r\n" % (len(body[i:i + 100]), body[i:i + 100]) for i in range(0, len(body), 100)) + b"0\r\n\r\n")
                else:
                    s.sendall(wire.request("POST", "/v1/chat/completions", body, headers))
                if leaves:
                    first = s.recv(200)
                    status = int(first.split(b" ")[1]) if first else "closed"
                else:
                    answer = wire.Reader(s).answer()
                    status = "closed" if answer is None else answer.status
            seen[status] = seen.get(status, 0) + 1
        target.engine.answer = None
        expect(metered.used <= bound and seen.get(429, 0) > 30, f"{metered.used} tokens used, {seen}")
        return f"{metered.used} tokens used of 2,000, {seen}"
    return run


def play(stage, suite):
    suite.attacks(stage.plain(), attacks())
    for name, chunked, leaves in (("with a length", False, False), ("in chunks", True, False), ("in chunks, left at their first byte", True, True), ("left at their first byte", False, True)) * (not suite.smoke):
        hashed = hashlib.sha256(KEY.encode()).hexdigest()
        other = hashlib.sha256(b"sk-" + b"o" * 60).hexdigest()
        keys = stage.file("limited.yaml", f"keys:\n  - name: a\n    sha256: {hashed}\n    tokens-per-minute: 2000\n  - name: b\n    sha256: {other}\n")
        gateway = stage.gateway("limits", stage.engine(), "--api-key-file", str(keys), headers=("Authorization: Bearer sk-" + "o" * 60,))
        gateway.keyed = ("Authorization: Bearer " + KEY,)
        # The bucket flows on while it is asked, and what runs when it is empty is a debt.
        suite.attacks(gateway, [Attack(f"60 requests of 250 tokens by a key with 2,000 a minute, {name}", "no more than 2,600 used, then 429", limited(chunked, leaves, 2600))])
        stage.stop(gateway.process)
    naive = Naive()
    suite.controls(naive, [Attack("kv_transfer_params", "", refused(PATHS[0], body_with('"kv_transfer_params":{"a":1}')), True)])
    naive.close()
    free = stage.plain()
    free.keyed = ()
    suite.controls(free, [Attack("no limit", "", limited(False, False, 2600))])

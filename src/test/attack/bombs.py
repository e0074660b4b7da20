"""Small requests that cost much: packed bodies, JSON that is deep or wide, escapes, numbers, parts, and bodies that do not end."""
import concurrent.futures
import gzip
import json
import threading
import time
import zlib

import wire
from engine import send
from naive import Naive
from stage import ROOT
from suite import Attack, expect

NAME = "bombs"
HOLDS = "packed, deep and wide bodies, escapes, numbers and parts are refused or answered in time, and others are served meanwhile"
PATHS = ("/v1/chat/completions", "/v1/messages", "/v1/completions", "/v1/responses", "/tokenize")
PACKED = gzip.compress(b"a" * (100 << 20))
DEEP = 100_000
SECONDS = 8
OTHERS = wire.chat_body("what others ask")


def content(raw):
    """A chat whose content is this, as it stands between the quotes."""
    raw = raw if isinstance(raw, bytes) else raw.encode()
    return b'{"model":"demo","max_tokens":2,"messages":[{"role":"user","content":"' + raw + b'"}]}'


def member(raw):
    raw = raw if isinstance(raw, bytes) else raw.encode()
    return b'{"model":"demo","max_tokens":2,"messages":[{"role":"user","content":"a"}],' + raw + b"}"


def answered(body, statuses, path="/v1/chat/completions", headers=("Content-Type: application/json",), asked=None):
    """One of these statuses in time, others are served meanwhile, and the engine gets as many requests as it should."""
    def run(target):
        data = wire.request("POST", path, body() if callable(body) else body, headers)
        before = calls_of(target)
        with Others(target) as others:
            began = time.monotonic()
            try:
                answer = wire.one(target, data, SECONDS)
            except TimeoutError:
                expect(False, f"no answer within {SECONDS} s")
            took = time.monotonic() - began
        calls = calls_of(target) - before
        expect(answer is not None and answer.status in statuses, f"{answer and (answer.status, answer.body[:150])}")
        expect(asked is None or calls == asked, f"{answer.status}, the engine got {calls}")
        expect(others.worst < 2, f"others waited {others.worst:.1f} s")
        return f"{answer.status} after {took:.1f} s, others waited {others.worst:.2f} s at most"
    return run


def calls_of(target):
    return sum(c.body != OTHERS for c in target.engine.asked())


class Others:
    """Two more clients, each on a connection of its own: two, as an event loop that stands still must not be missed on a machine with two."""

    def __init__(self, target):
        self.target, self.worst, self.ended = target, 0.0, False
        self.threads = [threading.Thread(target=self.ask) for _ in range(2)]

    def ask(self):
        while not self.ended:
            began = time.monotonic()
            try:
                answer = wire.one(self.target, wire.request("POST", "/v1/chat/completions", OTHERS), SECONDS)
                took = time.monotonic() - began if answer is not None and answer.status == 200 else SECONDS
            except OSError:
                took = SECONDS
            self.worst = max(self.worst, took)
            time.sleep(0.02)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ended = True
        for thread in self.threads:
            thread.join()


def endless_chunks(target):
    """A body in chunks that never ends: refused at 64 MiB, and not listened to for more than a second behind that."""
    piece = b"10000\r\n" + b" " * 65536 + b"\r\n"
    sent, end = 0, time.monotonic() + 6
    before = len(target.engine.asked())
    with wire.connect(target) as s:
        s.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            while time.monotonic() < end:
                s.sendall(piece)
                sent += len(piece)
        except OSError:
            expect(len(target.engine.asked()) == before, "the engine got it")
            return f"cut off after {sent >> 20} MiB"
    expect(False, f"{sent >> 20} MiB in 6 s, and no end")


def together(count, size):
    """Large bodies at the same time: what does not fit is 503 or 413, the memory stays in its bound."""
    def run(target):
        body = content("x" * size)
        def ask(_):
            try:
                answer = wire.one(target, wire.request("POST", "/v1/chat/completions", body, ("Content-Type: application/json",)), 60)
                return answer.status if answer else "closed"
            except OSError:
                return "closed"
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            got = list(pool.map(ask, range(count)))
        expect(set(got) <= {200, 413, 503, "closed"} and got.count("closed") < count, f"{got}")
        return ", ".join(f"{got.count(g)} x {g}" for g in sorted(set(got), key=str)) + f", {target.resident()} MiB"
    return run


def engine_bomb(target):
    """An engine's packed answer comes as it is."""
    def packed(call, s):
        if call.method != "POST":
            return False
        send(s, 200, PACKED, ("Content-Encoding: gzip",))
        return True
    target.engine.answer = packed
    try:
        answer = wire.one(target, wire.chat("packed", ("Accept-Encoding: gzip",)))
        expect(answer is not None and answer.status in (200, 502) and len(answer.body) <= len(PACKED), f"{answer and (answer.status, len(answer.body))}")
        return f"{answer.status}, {len(answer.body)} bytes"
    finally:
        target.engine.answer = None


def parts(count, name):
    boundary = "b" * 20
    one = f"--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\nx\r\n".encode()
    head = f"--{boundary}\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\ndemo\r\n".encode()
    return head + one * count + f"--{boundary}--\r\n".encode(), (f"Content-Type: multipart/form-data; boundary={boundary}",)


def attacks():
    anything = (200, 400, 413)
    for coding in ("gzip", "deflate", "br", "zstd", "gzip, gzip", "x-gzip"):
        yield Attack(f"100 MiB packed by {coding}", "400, nothing unpacked",
                     answered(PACKED if coding != "deflate" else zlib.compress(b"a" * (100 << 20)), (400, 415), asked=0,
                              headers=("Content-Type: application/json", f"Content-Encoding: {coding}")), coding == "gzip")
    yield Attack("an engine's answer of 100 MiB packed", "passed on as it is", engine_bomb, True)
    for path in PATHS:
        yield Attack(f"{DEEP} arrays in each other, {path}", "400, or passed on unread", answered(member('"x":' + "[" * DEEP + "]" * DEEP), anything, path),
                     path == PATHS[0])
        yield Attack(f"{DEEP} objects that do not end, {path}", "400", answered(b'{"a":' * DEEP, (400, 404, 501), path))
    yield Attack("a message of 100,000 arrays", "an answer in time", answered(lambda: b'{"model":"demo","messages":' + b"[" * DEEP + b"]" * DEEP + b"}", anything))
    yield Attack("10^6 members", "an answer in time", answered(lambda: member(",".join(f'"k{i}":{i}' for i in range(10**6))), anything), True)
    yield Attack("one member 10^6 times", "an answer in time", answered(lambda: member(",".join(['"k":1'] * 10**6)), anything))
    yield Attack("`model` 10,000 times", "400 or an answer", answered(lambda: member(",".join(['"model":"demo"'] * 10_000)), anything))
    yield Attack("10^6 messages", "an answer in time", answered(lambda: b'{"model":"demo","messages":[' + b",".join([b'{"role":"user","content":"a"}'] * 10**6) + b"]}", anything))
    yield Attack("10^6 parts of a content", "an answer in time",
                 answered(lambda: b'{"model":"demo","messages":[{"role":"user","content":[' + b",".join([b'{"type":"text","text":"a"}'] * 10**6) + b"]}]}", anything))
    for name, raw in (("10^6 escapes of a letter", "\\u0041" * 10**6), ("10^6 backslashes", "\\\\" * 10**6), ("10^6 lone surrogates", "\\ud800" * 10**6),
                      ("10^6 pairs of surrogates", "\\ud83d\\ude00" * 10**6), ("10^6 escaped NULs", "\\u0000" * 10**6), ("10^6 letters", "a" * 10**6), ("10^6 blanks", " " * 10**6),
                      ("10^6 digits", "1" * 10**6), ("10^6 line ends", "\\n" * 10**6), ("10^6 combining marks", "\u0301" * 10**6), ("10^6 characters above U+FFFF", "\U0001f600" * 10**6),
                      ("10^6 special tokens", "<|im_start|>" * 10**6), ("an end that is escaped", "abc\\")):
        yield Attack(name, "an answer in time", answered(lambda raw=raw: content(raw), anything), name == "10^6 special tokens")
    for name, raw in (("overlong UTF-8", b"\xc0\xaf\xe0\x80\xaf"), ("UTF-8 that is cut off", b"\xf0\x9f\x98"), ("surrogates as UTF-8", b"\xed\xa0\x80\xed\xb0\x80"), ("bytes of Latin-1", b"\xe4\xf6"),
                      ("control characters", b"\x00\x01\x1b[2J"), ("above U+10FFFF", b"\xf4\x90\x80\x80")):
        yield Attack(f"text: {name}", "400, or passed on as it is", answered(content(raw), anything))
    for name, value in (("10^6 digits", "9" * 10**6), ("1e999999999", "1e999999999"), ("-1", "-1"), ("2^63", str(2**63)), ("1.5", "1.5"), ("NaN", "NaN"), ("true", "true"), ("an object", "{}")):
        yield Attack(f"max_tokens: {name}", "400, or the engine's to refuse", answered(content("a").replace(b'"max_tokens":2', b'"max_tokens":' + value.encode()), anything))
    for name, body in (("nothing", b""), ("a byte order mark", b"\xef\xbb\xbf" + content("a")), ("UTF-16", content("a").decode().encode("utf-16")), ("a string", b'"a"'), ("an array", b"[]"),
                       ("null", b"null"), ("two values", content("a") * 2), ("a comment", b"/* */" + content("a")), ("10^6 blanks before it", b" " * 10**6 + content("a"))):
        yield Attack(f"body: {name}", "400, or an answer", answered(body, anything))
    yield Attack("a model's name of 1 MiB", "4xx", answered(content("a").replace(b'"demo"', b'"' + b"m" * (1 << 20) + b'"'), (400, 404, 503)))
    for count, name in ((100_000, "x"), (100_000, "model"), (100_000, "file")):
        body, headers = parts(count, name)
        yield Attack(f"a form of {count} parts `{name}`", "400, or passed on", answered(body, anything, "/v1/audio/transcriptions", headers), name == "model")
    yield Attack("a form without its boundary", "400", answered(b"x" * 10**6, (400, 404), "/v1/audio/transcriptions", ("Content-Type: multipart/form-data",)))
    yield Attack("a length of 10^17", "413 before it is sent", lambda t: bounded_length(t, 10**17))
    yield Attack("a body of 64 MiB and more in chunks", "cut off at 64 MiB", endless_chunks)
    yield Attack("24 bodies of 30 MiB at once", "200, 413 or 503, memory in bounds", together(24, 30 << 20))
    for body in (b"[" * DEEP, b'{"url":"http://10.0.0.1:1","labels":{' + b",".join(b'"k%d":"v"' % i for i in range(10**5)) + b"}}"):
        yield Attack(f"an operator's body of {len(body) >> 10} KiB, {body[:8].decode()}...", "400 or 413", answered(body, (400, 413), "/workers"))
    yield Attack("events of 10^6 values", "4xx, or taken within its bound", answered(lambda: json.dumps({"x": [1] * 10**6}).encode(), (*range(400, 500), 503, 202), "/events"))


def bounded_length(target, length):
    answer = wire.one(target, f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{{".encode())
    expect(answer is not None and answer.status == 413, f"{answer}")
    return str(answer.status)


class Fragile(Naive):
    """Reads bodies by a reader that goes down with them, and answers nothing then."""

    def answer(self, call, s):
        try:
            json.loads(call.body)
        except RecursionError:
            return
        super().answer(call, s)


def play(stage, suite):
    tokenizer = ROOT / "src/tokens/main/resources/demo-model/tokenizer.json"
    suite.attacks(stage.gateway("bombs", stage.engine(), "--tokenizer", str(tokenizer), "--router-mode", "kv"), attacks())
    naive = Fragile()
    packed = answered(gzip.compress(content("a" * (1 << 20))), (400, 415), headers=("Content-Type: application/json", "Content-Encoding: gzip"), asked=0)
    suite.controls(naive, [Attack("a packed body", "", packed, True), Attack("a body without end", "", endless_chunks),
                           Attack("arrays in each other", "", answered(member('"x":' + "[" * DEEP + "]" * DEEP), (400,)))])
    naive.close()

"""Requests of TLS and HTTP/2 that would be two, or another one, in the HTTP/1.1 that engines are asked in."""
import json

import frames
import framing
import wire
from certificates import Authority
from frames import CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, Connection, asking, block, frame
from http2 import Over
from naive_frames import NaiveFrames
from suite import Attack, expect

NAME = "smuggling over TLS and HTTP/2"
HOLDS = "HTTP/1.1 in TLS is read as in clear text; heads of HTTP/2 with line ends, codings, lengths that differ, two hosts or connection headers are refused, and engines see one request or none"
BODY = wire.chat_body("downgraded")
INNER = "POST /v1/chat/completions HTTP/1.1\r\nHost: smuggled\r\nContent-Length: 2\r\n\r\n{}"


def whole(headers, body=BODY, trailers=None):
    data = frame(HEADERS, END_HEADERS, 1, block(headers)) + frame(DATA, 0 if trailers else END_STREAM, 1, body)
    return data + frame(HEADERS, END_HEADERS | END_STREAM, 1, block(trailers)) if trailers else data


def pure(call):
    """What is wrong with a request that has reached an engine; nothing where it is what was asked, once."""
    head = call.head.lower()
    names = [line.partition(":")[0] for line in head.split("\r\n")[1:]]
    for name in ("host", "content-type"):
        if names.count(name) > 1:
            return f"{names.count(name)} times {name}"
    if names.count("content-length") + names.count("transfer-encoding") != 1:
        return f"its length is said {names.count('content-length') + names.count('transfer-encoding')} times"
    if any(name in names for name in ("upgrade", "te", "keep-alive", "proxy-connection", "trailer", "http2-settings")) or "smuggled" in head:
        return head
    if (call.method, call.path) != ("POST", "/v1/chat/completions") or json.loads(call.body)["messages"] != json.loads(BODY)["messages"]:
        return f"{call.method} {call.path} {call.body[:100]}"
    return None


def one_or_none(data, most=0, stream=1):
    """An engine gets as many requests as may be, each as it was asked."""
    def run(target):
        before = len(target.engine.asked())
        with Connection(target) as c:
            try:
                c.send(data)
            except OSError:
                pass
            got = c.outcome(stream, target.patience)
        calls = target.engine.asked()[before:]
        expect(got[0] != "silence", "no answer, and not closed")
        expect(len(calls) <= most, f"{got[:2]}, the engine got {len(calls)} requests")
        wrong = [why for why in map(pure, calls) if why]
        expect(not wrong, f"{got[:2]}, the engine got: {wrong[:1]}")
        return f"{' '.join(map(str, got[:2]))}, {len(calls)} at the engine"
    return run


def changed(name, value):
    return [(n, value if n == name else v) for n, v in asking()]


def line_ends():
    for shown, end in (("CR LF", "\r\n"), ("LF", "\n"), ("CR", "\r"), ("NUL", "\0")):
        yield f"{shown} in a value", whole(asking(more=[("x-a", f"b{end}transfer-encoding: chunked{end}smuggled: 1")]))
        yield f"{shown} in a name", whole(asking(more=[(f"x-a: b{end}smuggled", "1")]))
        for pseudo in (":path", ":authority", ":method", ":scheme"):
            value = dict(asking())[pseudo]
            yield f"{shown} in {pseudo}", whole(changed(pseudo, f"{value} HTTP/1.1{end}smuggled: 1{end}{end}{INNER}"))


def lengths():
    for coding in ("chunked", "identity", "gzip, chunked", "", "xchunked", "chunked, chunked"):
        yield f"transfer-encoding: {coding or '(empty)'}", whole(asking(more=[("transfer-encoding", coding)]), b"0\r\n\r\n" + INNER.encode())
    yield "transfer-encoding with a matching length", whole(asking(more=[("content-length", str(len(BODY))), ("transfer-encoding", "chunked")]))
    for length in ("0", "1", "+5", "-5", "0x5", "5, 5", "5 5", "", "9" * 30, f"{len(BODY)}\t;", f" {len(BODY) - 1}"):
        yield f"content-length: {length[:20] or '(empty)'}", whole(asking(more=[("content-length", length)]), BODY + INNER.encode())
    yield "a length, and no body", frame(HEADERS, END_HEADERS | END_STREAM, 1, block(asking(more=[("content-length", "5")])))
    yield "two lengths, one of them right", whole(asking(more=[("content-length", str(len(BODY))), ("content-length", "0")]))
    for name, value in (("content-length", "0"), ("transfer-encoding", "chunked"), (":path", "/workers"), ("host", "smuggled")):
        yield f"a trailer: {name}", whole(asking(), trailers=[(name, value)])


def of_connections():
    for name, value in (("connection", "x-a"), ("connection", "upgrade"), ("keep-alive", "timeout=5"), ("proxy-connection", "keep-alive"), ("upgrade", "h2c"),
                        ("te", "gzip"), ("te", "trailers, chunked")):
        yield f"{name}: {value}", whole(asking(more=[(name, value)]))


def of_targets():
    for value in ("/v1/chat/completions /x", "/v1/chat/completions\tx", "/v1/chat/completions#x", "//v1/chat/completions", "/v1/chat/completions/../../flush_cache", "http://h/v1/chat/completions",
                  "*", "", " /v1/chat/completions", "/v1/chat/completions%0d%0asmuggled:%201", "/v1/chat/completions\x7f", "/v1/chat/completions\x80", "/v1/chat\\completions", "/flush_cache"):
        yield f":path {value.encode('unicode_escape').decode() or '(empty)'}", whole(changed(":path", value))
    for value in ("a b", "me@localhost", "localhost/x", "localhost:x", "[::1", "smuggled, localhost"):
        yield f":authority {value}", whole(changed(":authority", value))
    for value in ("", "http://smuggled/", "http ", "ht\ttp"):
        yield f":scheme {value.encode('unicode_escape').decode() or '(empty)'}", whole(changed(":scheme", value))
    for value in ("POST ", "post", "P(ST", "", "GET /workers"):
        yield f":method {value or '(empty)'}", whole(changed(":method", value))
    yield "CONNECT with a protocol", whole([*changed(":method", "CONNECT"), (":protocol", "websocket")])
    for name in (":method", ":path", ":scheme", ":authority"):
        yield f"{name} twice, alike", whole([(name, dict(asking())[name]), *asking()])
    yield "a pseudo header that is none", whole([(":smuggled", "1"), *asking()])
    yield "host beside another authority", whole(asking(more=[("host", "smuggled")]))
    yield "two hosts", whole(asking(more=[("host", "localhost"), ("host", "localhost")]))
    yield "host with a line end", whole(asking(more=[("host", "localhost\r\nsmuggled: 1")]))


def split_block():
    """A request whose header block ends in a continuation with more pseudo headers."""
    first, second = block(asking()), block([(":path", "/workers"), ("host", "smuggled")])
    return frame(HEADERS, 0, 1, first) + frame(CONTINUATION, END_HEADERS, 1, second) + frame(DATA, END_STREAM, 1, BODY)


def served(target):
    """The same without any trick arrives once, or nothing above means anything."""
    plain = (asking(), asking(more=[("content-length", str(len(BODY)))]), asking(more=[("te", "trailers")]), asking(more=[("host", "localhost")]),
             asking(more=[("cookie", "a=1"), ("cookie", "b=2")]), [h for h in asking(more=[("host", "localhost")]) if h[0] != ":authority"])
    for headers in plain:
        before = len(target.engine.asked())
        got = one_or_none(whole(headers), 1)(target)
        expect(got.startswith("status 200") and len(target.engine.asked()) == before + 1, f"{headers[3:]}: {got}")
    return f"{len(plain)} of {len(plain)} are answered"


def attacks():
    yield Attack("requests without any trick", "each arrives once", served, True)
    for name, data in (*line_ends(), *lengths(), *of_connections(), *of_targets(), ("pseudo headers in a continuation", split_block())):
        # A field that says what is true anyway, or that no engine gets, may pass.
        yield Attack(f"HTTP/2: {name}", "one request as it was asked, or none", one_or_none(data, 1 if may_pass(name) else 0), name in ("CR LF in a value", "CR LF in :path"))


def may_pass(name):
    return name in ("te: gzip", "te: trailers, chunked", ":scheme http://smuggled/", "a trailer: content-length", "a trailer: host", "a trailer: transfer-encoding",
                    ":path /v1/chat/completions#x")


def without_tls():
    """HTTP/2 in clear text, by prior knowledge and by upgrade: one request as HTTP/1.1 or none."""
    def prior(target):
        return one_or_none(whole(asking()), 1)(target)

    def upgrade(target):
        before = len(target.engine.asked())
        data = wire.request("POST", "/v1/chat/completions", BODY, ("Content-Type: application/json", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"))
        answers, closed = wire.exchange(target, data + frames.PREFACE + frames.settings() + whole(asking(), trailers=[("x-a", "b")]), target.patience)
        calls = target.engine.asked()[before:]
        expect(len(calls) <= 1 and not any(map(pure, calls)), f"{wire.told(answers, closed)}, the engine got {len(calls)}: {[pure(c) for c in calls]}")
        return f"{wire.told(answers, closed)}, {len(calls)} at the engine"
    yield Attack("HTTP/2 without TLS: by prior knowledge", "one request or none", prior, True)
    yield Attack("HTTP/2 without TLS: an upgrade", "one request or none", upgrade, True)


def play(stage, suite):
    suite.attacks(stage.plain(), without_tls())
    authority = Authority(stage.folder)
    cert, key = authority.certificate("gateway", "IP:127.0.0.1,DNS:localhost")
    gateway = stage.gateway("downgrade", stage.engine(), "--tls-cert-path", str(cert), "--tls-key-path", str(key), tls=authority.client("http/1.1"))
    suite.attacks(gateway, (Attack(f"HTTP/1.1 in TLS: {a.name}", a.expected, a.run, a.smoke and "pipelined" not in a.name) for a in framing.attacks()))
    suite.attacks(Over(gateway, authority.client("h2")), attacks())
    naive = NaiveFrames(tls=authority.server("naive", "IP:127.0.0.1"))
    tricked = Over(naive, authority.client("h2"))
    suite.controls(tricked, [
        Attack("HTTP/2: CR LF in a value", "", one_or_none(whole(asking(more=[("x-a", "b\r\nsmuggled: 1")]))), True),
        Attack("HTTP/2: transfer-encoding", "", one_or_none(whole(asking(more=[("transfer-encoding", "chunked")])))),
        Attack("HTTP/2: another path", "", one_or_none(whole(changed(":path", "/flush_cache")), 1)),
    ])
    naive.close()

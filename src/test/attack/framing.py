"""Bytes that two readers could take for different requests (RFC 9112), and answers that could reach somebody else."""
import random

import wire
from engine import said, send
from naive import Naive
from suite import Attack, expect
from wire import exchange, told

NAME = "framing"
HOLDS = "codings, lengths, hosts, folds, versions and chunk sizes of two readings are refused and nothing behind them runs; 3,000 pipelined requests get their own answers"
BODY = wire.chat_body("framing")
POST = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
LENGTH = f"Content-Length: {len(BODY)}\r\n"
# What a smuggler would have run by somebody else's connection.
INNER = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}GET /workers HTTP/1.1\r\nHost: localhost\r\n\r\n"
CONNECTIONS, DEPTH = 20, 150

CODINGS = ("xchunked", "identity", "gzip", "gzip, chunked", "chunked, gzip", "chunked, identity", '"chunked"', "chunked;q=1", "", ",chunked",
           "chunked\x0b", "chunked, chunked", "chunked\r\nTransfer-Encoding: chunked", "chunked\r\ntransfer-encoding: identity",
           "identity\r\nTransfer-Encoding: chunked", "\tchunked\x00")
LENGTHS = (f"{len(BODY)}\r\nContent-Length: 5", "5, 5", "+5", "0x10", "-5", "", "5 5", "1" * 19, "5;x", "5\x0b")
HOSTS = (("none", ""), ("two", "Host: a\r\nHost: a\r\n"), ("two different", "Host: a\r\nhost: b\r\n"), ("with a path", "Host: a/x\r\n"),
         ("with a user", "Host: me@a\r\n"), ("with a blank", "Host: a b\r\n"), ("with a port that is none", "Host: a:b\r\n"),
         ("with half an address", "Host: [::1\r\n"))
LINES = (("obs-fold by a blank", "X-A: b\r\n c\r\n"), ("obs-fold by a tab", "X-A: b\r\n\tc\r\n"), ("fold before the first header", " X-A: b\r\n"),
         ("blank before the colon", "X-A : b\r\n"), ("no name", ": b\r\n"), ("no colon", "X-A\r\n"), ("NUL in a name", "X\0A: b\r\n"),
         ("NUL in a value", "X-A: a\0b\r\n"), ("a bare CR in a value", "X-A: a\rTransfer-Encoding: chunked\r\n"), ("a line that ends in LF", "X-A: b\n"),
         ("blank in a name", "X A: b\r\n"), ("an escape in a value", "X-A: \x1b[2J\r\n"))
FIRST = (("no version", "POST /v1/chat/completions\r\n"), ("HTTP/2.0 as text", "POST /v1/chat/completions HTTP/2.0\r\n"),
         ("HTTP/1.2", "POST /v1/chat/completions HTTP/1.2\r\n"), ("http/1.1", "POST /v1/chat/completions http/1.1\r\n"),
         ("HTTP/1.1x", "POST /v1/chat/completions HTTP/1.1x\r\n"), ("tabs", "POST\t/v1/chat/completions\tHTTP/1.1\r\n"),
         ("a blank in the path", "POST /v1/chat /completions HTTP/1.1\r\n"), ("CONNECT", "CONNECT localhost:1 HTTP/1.1\r\n"),
         ("NUL in the method", "PO\0ST /v1/chat/completions HTTP/1.1\r\n"))
CHUNKS = (("a sign", b"+5\r\n"), ("0x", b"0x5\r\n"), ("nine digits", b"000000005\r\n"), ("no size", b"\r\n"), ("a blank before it", b" 5\r\n"),
          ("an extension without a name", b"5;\r\n"), ("a line end in an extension", b"5;a=\"\n\"\r\n"), ("LF alone", b"5\n"), ("overflow", b"ffffffffffffffff5\r\n"),
          ("negative", b"-5\r\n"), ("underscore", b"1_0\r\n"))


def refused(data, statuses=(400,), answers_at_least=1):
    """One answer of these, the connection's end, and nothing of it at the engine."""
    def run(target):
        before = len(target.engine.asked())
        answers, closed = exchange(target, data)
        got = told(answers, closed)
        expect(closed and answers_at_least <= len(answers) <= 1, got)
        expect(all(a.status in statuses for a in answers), got)
        expect(len(target.engine.asked()) == before, f"{got}, and the engine got {len(target.engine.asked()) - before} requests")
        return got
    return run


def smuggled(lines):
    return (POST + lines + "\r\n").encode("latin-1") + BODY + INNER


def shown(text):
    return (text if len(text) < 40 else text[:36] + "...").encode("unicode_escape").decode() or "(empty)"


def in_order(target):
    """Answers of pipelined requests, each with a body of its own, cut anywhere; every one has to be the one that was asked for there."""
    rng = random.Random(31)
    seen = 0
    for number in range(CONNECTIONS):
        texts = [f"c{number}-{i}-" + "x" * rng.randrange(300) for i in range(DEPTH)]
        data = b"".join(wire.chat(t) for t in texts)
        with wire.connect(target, 20) as s:
            reader = wire.Reader(s)
            at = 0
            for text in texts:
                while at < len(data) and at < (seen % DEPTH + 40) * 500:
                    size = rng.randrange(1, 4000)
                    s.sendall(data[at:at + size])
                    at += size
                answer = reader.answer()
                expect(answer is not None and answer.status == 200, f"answer {seen} is {answer}")
                expect(f'"{text}"'.encode() in answer.body, f"request {text[:12]} got {answer.body[:200]}")
                seen += 1
    return f"{seen} answers, each its own"


def chunk(line):
    return refused((POST + "Transfer-Encoding: chunked\r\n\r\n").encode() + line + b"{}xxx\r\n0\r\n\r\n" + INNER, answers_at_least=0)


def attacks():
    yield from (Attack(f"Transfer-Encoding: {shown(c)}", "400, closed, nothing behind it runs", refused(smuggled(f"Transfer-Encoding: {c}\r\n")), i < 4)
                for i, c in enumerate(CODINGS))
    yield Attack("both lengths and chunks", "400, closed", refused(smuggled(LENGTH + "Transfer-Encoding: chunked\r\n")), True)
    yield Attack("chunks and a length", "400, closed", refused(smuggled("Transfer-Encoding: chunked\r\n" + LENGTH)), True)
    yield Attack("chunks in HTTP/1.0", "400, closed", refused(smuggled("Transfer-Encoding: chunked\r\n").replace(b"HTTP/1.1", b"HTTP/1.0", 1)))
    yield from (Attack(f"Content-Length: {shown(c)}", "400, closed", refused(smuggled(f"Content-Length: {c}\r\n")), i < 2) for i, c in enumerate(LENGTHS))
    for name, lines in HOSTS:
        yield Attack(f"Host: {name}", "400, closed", refused(smuggled(lines + LENGTH).replace(b"Host: localhost\r\n", b"", 1)), name == "two")
    for name, lines in LINES:
        yield Attack(f"header: {name}", "400, closed", refused(smuggled(lines + LENGTH)))
    for name, line in FIRST:
        yield Attack(f"first line: {name}", "400 or 505, closed",
                     refused((line + f"Host: localhost\r\n{LENGTH}\r\n").encode() + BODY + INNER, (400, 505)), name == "no version")
    for name, line in CHUNKS:
        yield Attack(f"chunk size: {name}", "the request ends there, closed", chunk(line))
    for line in ("Content-Length: 5", "Transfer-Encoding: chunked"):
        trailer = (POST + f"Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\n{line}\r\n\r\n").encode()
        yield Attack(f"a trailer: {line}", "the request ends there, closed", refused(trailer + INNER, answers_at_least=0))
    yield Attack(f"{CONNECTIONS * DEPTH} pipelined requests, cut anywhere", "each answer is its own request's", in_order)


class Swapped(Naive):
    """Gives every request the answer of the one before it."""

    last = ""

    def answer(self, call, s):
        before, self.last = self.last, said(call.body)
        send(s, 200, {"choices": [{"message": {"content": before}}]})


def play(stage, suite):
    suite.attacks(stage.plain(), attacks())
    naive, swapped = Naive(), Swapped()
    lax = ("xchunked", "identity", "gzip", '"chunked"', "chunked;q=1", "")
    suite.controls(naive, [Attack(f"Transfer-Encoding: {shown(c)}", "", refused(smuggled(f"Transfer-Encoding: {c}\r\n")), c == "xchunked") for c in lax])
    suite.controls(naive, [Attack("two Hosts", "", refused(smuggled(HOSTS[1][1] + LENGTH).replace(b"Host: localhost\r\n", b"", 1))),
                           Attack("obs-fold", "", refused(smuggled(LINES[0][1] + LENGTH)))])
    suite.controls(swapped, [Attack("answers that are swapped", "", in_order)])
    naive.close()
    swapped.close()

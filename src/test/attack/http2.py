"""HTTP/2: streams and frames against the rules, and rules that are kept so that they cost the most."""
import struct
import time

import frames
import wire
from certificates import Authority
from frames import (ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PADDED, PING, PRIORITISED, PRIORITY, PUSH, RST, SETTINGS, Connection,
                    asking, block, frame, settings, window)
from naive_frames import NaiveFrames
from suite import Attack, expect

NAME = "HTTP/2 frames"
HOLDS = "streams, frames and heads against RFC 9113 are errors; rapid reset, streams that the server has to reset, continuations, empty frames, settings, pings, priorities, windows, unknown frames and HPACK bombs are cut off; small windows hold nothing"
BODY = wire.chat_body("over frames")
GOOD = block(asking())
OPEN = frame(HEADERS, END_HEADERS, 1, GOOD)
WHOLE = OPEN + frame(DATA, END_STREAM, 1, BODY)


def refused(data, stream=1, ours=(), asked=0):
    """The stream or the connection ends with an error, or a 4xx; no engine hears of it."""
    def run(target):
        before = len(target.engine.asked())
        with Connection(target, ours) as c:
            try:
                c.send(data)
            except OSError:
                pass
            got = c.outcome(stream, target.patience)
        calls = len(target.engine.asked()) - before
        expect(got[0] in ("RST", "GOAWAY", "closed") or (got[0] == "status" and 400 <= got[1] < 500), f"{got[:2]}")
        expect(calls <= asked, f"{got[:2]}, the engine got {calls} requests")
        return " ".join(map(str, got[:2]))
    return run


def flood(piece, times, limit, first=b"", ours=()):
    """The same piece again and again: the connection ends before `limit` of them are taken."""
    def run(target):
        sent = 0
        with Connection(target, ours, seconds=8) as c:
            try:
                c.send(first)
                while sent < limit:
                    c.send(piece(sent) if callable(piece) else piece)
                    sent += times
            except OSError as e:
                return f"cut off after {sent} at most ({type(e).__name__})"
            got = c.outcome(None, target.patience)
            expect(got[0] in ("GOAWAY", "closed"), f"{sent} taken, {got[:2]}")
        return " ".join(map(str, got[:2]))
    return run


def resets(at):
    """200 streams that are begun and given up."""
    return b"".join(frame(HEADERS, END_HEADERS, 2 * (at + i) + 1, GOOD) + frame(RST, 0, 2 * (at + i) + 1, struct.pack(">I", 8)) for i in range(200))


def made_to_reset(at):
    """200 streams that the server has to reset itself (a window that grows by nothing)."""
    return b"".join(frame(HEADERS, END_HEADERS, 2 * (at + i) + 1, GOOD) + window(2 * (at + i) + 1, 0) for i in range(200))


def many_streams(target):
    """More streams at once than may be: the rest is refused, those that were taken are answered, or the connection ends."""
    with Connection(target, seconds=15) as c:
        seen, count = {}, 3000
        try:
            for _ in range(count):
                c.ask(asking(), b"{", end=False)
        except OSError:
            pass
        c.sock.settimeout(target.patience)
        try:
            while (found := c.frame()) is not None:
                if found[0] in (RST, GOAWAY):
                    seen[found[0]] = seen.get(found[0], 0) + 1
        except (TimeoutError, OSError):
            pass
        expect(seen, f"{count} streams at once, none refused")
        return f"{seen.get(RST, 0)} reset, GOAWAY {GOAWAY in seen}"


def window_of(first, each, seconds):
    """Answers that are taken in pieces of `each` bytes, or not at all: other connections are served meanwhile, and the engine's rest is not held."""
    def run(target):
        with Connection(target, [(4, first)]) as c:
            for _ in range(50):
                c.ask(asking(), wire.chat_body(f"large:{1 << 20}"))
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                if each:
                    c.send(*(window(stream, each) for stream in range(1, 101, 2)))
                expect(target.resident() <= target.memory, f"{target.resident()} MiB resident")
                took = target.chat()
                expect(took < 2, f"a chat of another connection takes {took:.1f} s")
                time.sleep(0.1)
            c.send(frame(PING, 0, 0, b"8 bytes."))
        return f"others are answered within {took:.2f} s, {target.resident()} MiB"
    return run


def drip(target):
    """Heads and bodies that come a byte at a time end within their time, 408 or an error; others are served."""
    with Connection(target, seconds=20) as c:
        stream = c.ask(asking(more=[("content-length", "100000")]), b"{", end=False)
        began, end = time.monotonic(), time.monotonic() + 15
        c.sock.settimeout(1)
        while time.monotonic() < end:
            try:
                c.send(frame(DATA, 0, stream, b" "))
            except OSError:
                return f"closed after {time.monotonic() - began:.0f} s"
            got = c.outcome(stream, 1)
            if got[0] != "silence":
                expect(got[0] != "status" or got[1] == 408, f"{got[:2]}")
                return f"{got[:2]} after {time.monotonic() - began:.0f} s"
    expect(False, "still open after 15 s")


def well_over_frames(target):
    """One connection, 100 requests at once, each with its own answer."""
    with Connection(target) as c:
        streams = {c.ask(asking(), wire.chat_body(f"frames-{i}")): i for i in range(60)}
        bodies, open_ = dict.fromkeys(streams, b""), set(streams)
        while open_:
            found = c.frame()
            expect(found is not None and found[0] not in (RST, GOAWAY), f"{found}")
            kind, flags, stream, payload = found
            if kind == DATA:
                bodies[stream] += payload
                c.send(window(0, max(1, len(payload))))
            if kind in (HEADERS, DATA) and flags & END_STREAM:
                open_.discard(stream)
        wrong = [i for stream, i in streams.items() if f'"frames-{i}"'.encode() not in bodies[stream]]
        expect(not wrong, f"not their own: {wrong}")
        return "60 answers, each its own"


def heads(*changes, **more):
    return frame(HEADERS, END_HEADERS | END_STREAM, 1, block([*asking(**more), *changes]))


def without(name):
    return frame(HEADERS, END_HEADERS | END_STREAM, 1, block([h for h in asking() if h[0] != name]))


def hpack_bomb():
    """One entry of 4,000 bytes in the decoder's table, and 16,000 references to it in a block of 16 KiB: 64 MB of headers."""
    return frame(HEADERS, END_HEADERS | END_STREAM, 1, GOOD + b"\x40" + frames.text("x-bomb") + frames.text("b" * 3900) + b"\xbe" * 11_000)


def against_the_rules():
    yield "data after the end of its stream", WHOLE + frame(DATA, END_STREAM, 1, BODY) * 3, 1
    yield "headers after the end of their stream", frame(HEADERS, END_HEADERS | END_STREAM, 1, GOOD) * 2, 0
    yield "data on a stream that was never opened", frame(DATA, END_STREAM, 1, BODY), 0
    yield "an even stream id", frame(HEADERS, END_HEADERS | END_STREAM, 2, GOOD), 0
    yield "stream 0", frame(HEADERS, END_HEADERS | END_STREAM, 0, GOOD), 0
    yield "ids that go back", frame(HEADERS, END_HEADERS, 9, GOOD) + frame(HEADERS, END_HEADERS | END_STREAM, 1, GOOD), 0
    yield "a push from a client", OPEN + frame(PUSH, END_HEADERS, 1, b"\0\0\0\2" + GOOD), 0
    yield "a continuation of nothing", frame(CONTINUATION, END_HEADERS, 1, GOOD), 0
    yield "another frame within a header block", frame(HEADERS, END_STREAM, 1, GOOD[:9]) + frame(PING, 0, 0, b"8 bytes."), 0
    yield "another stream's continuation", frame(HEADERS, END_STREAM, 1, GOOD[:9]) + frame(CONTINUATION, END_HEADERS, 3, GOOD[9:]), 0
    yield "a frame larger than may be", OPEN + frame(DATA, END_STREAM, 1, b"x" * 20_000), 0
    yield "padding longer than its frame", OPEN + frame(DATA, END_STREAM | PADDED, 1, b"\xff{}"), 0
    yield "a stream that depends on itself", frame(HEADERS, END_HEADERS | END_STREAM | PRIORITISED, 1, b"\0\0\0\1\x10" + GOOD), 0
    yield "priority of four bytes", frame(PRIORITY, 0, 1, b"\0\0\0\0"), 0
    yield "a ping of seven bytes", frame(PING, 0, 0, b"1234567"), 0
    yield "a ping on a stream", OPEN + frame(PING, 0, 1, b"12345678"), 0
    yield "settings with an acknowledgement and a body", frame(SETTINGS, ACK, 0, b"\0\0\0\0\0\0"), 0
    yield "settings of five bytes", frame(SETTINGS, 0, 0, b"12345"), 0
    yield "a window of 2^31 by settings", settings((4, 1 << 31)), 0
    yield "a frame size of 1 by settings", settings((5, 1)), 0
    yield "push enabled as 2", settings((2, 2)), 0
    yield "a window that overflows", window(0, 0x7FFFFFFF) * 2, 0
    yield "a stream's window that overflows", OPEN + window(1, 0x7FFFFFFF) * 2, 0
    yield "a window that grows by nothing", OPEN + window(1, 0), 0
    yield "a reset of stream 0", frame(RST, 0, 0, b"\0\0\0\x08"), 0
    yield "a reset of a stream that is idle", frame(RST, 0, 5, b"\0\0\0\x08"), 0
    yield "a table size above the setting", frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x3f\xff\xff\x03" + GOOD), 0
    yield "an index that is not in the table", frame(HEADERS, END_HEADERS | END_STREAM, 1, GOOD + b"\xff\xff\xff\xff\x0f"), 0
    yield "index 0", frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x80" + GOOD), 0
    yield "a number that does not end", frame(HEADERS, END_HEADERS | END_STREAM, 1, GOOD + b"\x7f" + b"\xff" * 200), 0
    yield "Huffman text that is none", frame(HEADERS, END_HEADERS | END_STREAM, 1, GOOD + b"\0\x81\xff\x81\xff"), 0
    yield "a header block that is cut off", frame(HEADERS, END_HEADERS | END_STREAM, 1, GOOD[:-3]), 0


def heads_against_the_rules():
    for name in (":method", ":path", ":scheme"):
        yield f"no {name}", without(name)
    for name in (":method", ":path", ":authority"):
        yield f"two {name}", frame(HEADERS, END_HEADERS | END_STREAM, 1, block([(name, "GET" if name == ":method" else "/workers"), *asking()]))
    yield "a pseudo header behind others", heads((":path", "/workers"))
    yield "a pseudo header of answers", heads((":status", "200"))
    yield "a name in capitals", heads(("X-A", "b"))
    yield "Connection", heads(("connection", "close"))
    yield "Transfer-Encoding", heads(("transfer-encoding", "chunked"))
    yield "a line end in a value", heads(("x-a", "b\r\nTransfer-Encoding: chunked"))
    yield "NUL in a value", heads(("x-a", "b\0c"))
    yield "a colon in a name", heads(("x:a", "b"))
    yield "no name", heads(("", "b"))
    yield "a line end in the path", heads(path="/v1/chat/completions HTTP/1.1\r\nX-A: b")
    yield "a path that is not canonical", heads(path="/v1//chat/../chat/completions")
    yield "an engine's own path", heads(path="/flush_cache")
    yield "a path without a slash", heads(path="v1/chat/completions")
    yield "a line end in the method", heads(method="POST /workers HTTP/1.1\r\nX")
    yield "Host beside another authority", heads(("host", "other"))
    yield "two lengths", frame(HEADERS, END_HEADERS, 1, block(asking(more=[("content-length", "2"), ("content-length", "5")]))) + frame(DATA, END_STREAM, 1, b"{}")
    yield "a length below the body's", frame(HEADERS, END_HEADERS, 1, block(asking(more=[("content-length", "2")]))) + frame(DATA, END_STREAM, 1, BODY)
    yield "a length above the body's", frame(HEADERS, END_HEADERS, 1, block(asking(more=[("content-length", "9999")]))) + frame(DATA, END_STREAM, 1, BODY)
    yield "a header of 40 KiB", frame(HEADERS, END_STREAM, 1, (big := block([*asking(), ("x-a", "b" * 40_000)]))[:16_000]) + b"".join(
        frame(CONTINUATION, END_HEADERS if at + 16_000 >= len(big) else 0, 1, big[at:at + 16_000]) for at in range(16_000, len(big), 16_000))
    yield "4,000 headers in 15 KiB", frame(HEADERS, END_HEADERS | END_STREAM, 1, GOOD + b"\0\1a\0" * 3900)
    yield "headers of 40 MB out of 16 KiB (HPACK)", hpack_bomb()


def attacks():
    yield Attack("60 requests at once", "each answer is its own request's", well_over_frames, True)
    for i, (name, data, asked) in enumerate(against_the_rules()):
        yield Attack(name, "an error of the stream or connection", refused(data, asked=asked), i < 6)
    for name, data in heads_against_the_rules():
        yield Attack(f"head: {name}", "an error or 4xx, no engine hears of it", refused(data))
    yield Attack("rapid reset, 20,000 streams", "cut off", flood(resets, 200, 20_000), True)
    yield Attack("streams that the server has to reset, 20,000", "cut off", flood(made_to_reset, 200, 20_000))
    yield Attack("continuations without end", "cut off", flood(frame(CONTINUATION, 0, 1, b"\0\1a\1b" * 100) * 20, 20, 20_000, frame(HEADERS, 0, 1, GOOD)), True)
    yield Attack("empty continuations without end", "cut off", flood(frame(CONTINUATION, 0, 1) * 500, 500, 2_000_000, frame(HEADERS, 0, 1, GOOD)))
    yield Attack("empty data without end", "cut off", flood(frame(DATA, 0, 1) * 500, 500, 1_000_000, OPEN))
    yield Attack("settings without end, answers not read", "cut off", flood(settings((4, 65535)) * 500, 500, 2_000_000))
    yield Attack("pings without end, answers not read", "cut off", flood(frame(PING, 0, 0, b"8 bytes.") * 500, 500, 2_000_000))
    yield Attack("priorities without end", "cut off", flood(frame(PRIORITY, 0, 3, b"\0\0\0\0\1") * 500, 500, 2_000_000))
    yield Attack("windows without end", "cut off", flood(window(0, 1) * 500, 500, 2_000_000))
    yield Attack("unknown frames without end", "cut off", flood(frame(99, 0, 0, b"x" * 100) * 200, 200, 1_000_000))
    yield Attack("more streams at once than may be", "the rest is refused", many_streams)
    yield Attack("answers with no window at all", "others are served, memory in bounds", window_of(0, 0, 3))
    yield Attack("answers with a window of one byte", "others are served, memory in bounds", window_of(0, 1, 3))
    yield Attack("a body that drips", "408 or closed within its time", drip)


def play(stage, suite):
    authority = Authority(stage.folder)
    cert, key = authority.certificate("gateway", "IP:127.0.0.1,DNS:localhost")
    gateway = stage.gateway("http2", stage.engine(), "--tls-cert-path", str(cert), "--tls-key-path", str(key), environment={"WARMPATH_HTTP_CLIENTS_BODY_TIMEOUT": "4s"},
                            tls=authority.client("http/1.1"))
    over = Over(gateway, authority.client("h2"))
    suite.attacks(over, attacks())
    naive = NaiveFrames(tls=authority.server("naive", "IP:127.0.0.1"))
    target = Over(naive, authority.client("h2"))
    suite.controls(target, [
        Attack("data after the end of its stream", "", refused(WHOLE + frame(DATA, END_STREAM, 1, BODY) * 3, asked=1), True),
        Attack("an even stream id", "", refused(frame(HEADERS, END_HEADERS | END_STREAM, 2, GOOD), stream=2)),
        Attack("Transfer-Encoding", "", refused(heads(("transfer-encoding", "chunked")))),
        Attack("rapid reset", "", flood(resets, 200, 2_000)),
        Attack("continuations without end", "", flood(frame(CONTINUATION, 0, 1, b"\0\1a\1b" * 100) * 20, 20, 2_000, frame(HEADERS, 0, 1, GOOD))),
        Attack("more streams at once than may be", "", many_streams),
    ])
    naive.close()


class Over:
    """The same server, asked by HTTP/2."""

    def __init__(self, server, tls):
        self.server, self.tls = server, tls

    def __getattr__(self, name):
        return getattr(self.server, name)

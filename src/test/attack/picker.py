"""The endpoint picker's port: gRPC messages that promise and do not come, streams and connections without end, floods, certificates."""
import random
import socket
import ssl
import struct
import threading
import time

import frames
import wire
from certificates import Authority
from frames import CONTINUATION, DATA, END_HEADERS, HEADERS, PING, PRIORITY, RST, frame, settings, window
from grpc import BLOCK, CHAT, FRAME, Calls, NaiveCalls, body, field, head, message, opened
from http2 import flood
from stage import free_port
from suite import Attack, expect

NAME = "endpoint picker"
HOLDS = "announced messages, heads, streams, connections, silence and floods of frames are bounded, in clear text and in TLS; chats beside them go on"
LARGEST = 16 << 20
SPAN = 2  # seconds in which a body has to bring its bytes
EXHAUSTED, DEADLINE = 8, 4
CANCEL = struct.pack(">I", 8)


class Port:
    """The picker's port of a server whose other port clients use."""

    def __init__(self, server, port, tls=None):
        self.server, self.port, self.tls = server, port, tls

    def __getattr__(self, name):
        return getattr(self.server, name)


def beside(attack, most=2.0):
    """The attack, with a client on the gateway's own port meanwhile."""
    def run(target):
        waits, over = [], threading.Event()

        def others():
            while not over.is_set():
                waits.append(target.chat())
                time.sleep(0.02)
        thread = threading.Thread(target=others)
        thread.start()
        try:
            got = attack(target)
        finally:
            over.set()
            thread.join()
        expect(waits and max(waits) < most, f"a client waits {max(waits, default=99):.1f} s")
        return f"{got}; clients wait {max(waits):.2f} s at most"
    return run


def bounded(target, before, growth=200):
    now = target.resident()
    expect(now <= min(target.memory, before + growth), f"{now} MiB resident, {before} before")
    return f"{before} to {now} MiB"


def announced(count):
    """Streams that each announce the largest message and send a byte of it."""
    def run(target):
        before = target.resident()
        with Calls(target) as c:
            for stream in range(1, 2 * count, 2):
                c.send(opened(stream, b"\0" + struct.pack(">I", LARGEST) + b"\x0a"))
            c.next = 2 * count + 1
            expect(c.serving(), "the connection does not answer any more")
            return bounded(target, before)
    return run


def unfinished(target):
    """Messages that are half sent take what there is for them, and no more; the connection's other streams go on."""
    before = target.resident()
    with Calls(target) as c:
        for stream in range(1, 401, 2):
            c.send(opened(stream, b"\0" + struct.pack(">I", LARGEST) + bytes(1 << 20)))
        c.next = 401
        c.read(5, lambda: EXHAUSTED in c.statuses.values())
        expect(c.serving(), "the connection does not answer any more")
        refused = sum(status == EXHAUSTED for status in c.statuses.values())
        expect(refused > 100, f"{refused} of 200 streams refused for memory")
        return f"{refused} of 200 refused, {bounded(target, before, 400)}"


def gathered(target):
    """Bodies in small messages: 503 in place of more."""
    before = target.resident()
    with Calls(target) as c:
        c.send(*(opened(stream, head()) for stream in range(1, 401, 2)))
        piece = body(bytes(15_000), False)
        for _ in range(70):
            c.send(*(frame(DATA, 0, stream, piece) for stream in range(1, 401, 2)))
        c.next = 401
        c.read(5, lambda: b"\x08\xf7\x03" in b"".join(c.answers.values()))
        expect(c.serving(), "the connection does not answer any more")
        refused = sum(b"\x08\xf7\x03" in answer for answer in c.answers.values())
        expect(refused > 20, f"{refused} bodies refused")
        return f"{refused} of 200 bodies refused, {bounded(target, before, 500)}"


def long_heads(target):
    """Ten heads of 12 MiB, each in one message that comes as a whole."""
    before = target.resident()
    data = head(more=[(b"x-%d" % i, b"v" * 100) for i in range(110_000)])
    with Calls(target, seconds=20) as c:
        for stream in range(1, 21, 2):
            c.send(opened(stream, data))
        seen = lambda: sum(b"\x08\xaf\x03" in answer for answer in c.answers.values())  # noqa: E731
        c.read(10, lambda: seen() == 10)
        expect(seen() == 10, f"{seen()} of 10 refused with 431, statuses {c.statuses}")
        return f"10 refused with 431, {bounded(target, before, 400)}"


def many_streams(count):
    """More streams than one connection may have: the rest is refused, or the connection ends."""
    def run(target):
        with Calls(target, seconds=20) as c:
            try:
                for stream in range(1, 2 * count, 2):
                    c.send(frame(HEADERS, END_HEADERS, stream, BLOCK))
            except OSError:
                pass
            c.read(target.patience, lambda: len(c.resets) >= count - 4096)
            expect(c.gone or c.resets, f"{count} streams, none refused")
            return f"{len(c.resets)} refused, ended {c.gone}"
    return run


def many_connections(count, most):
    """Connections that are opened and left: the longest idle make room, and a new one is served."""
    def run(target):
        left = []
        try:
            for _ in range(count):
                s = wire.connect(target)
                s.sendall(frames.PREFACE + settings())
                left.append(s)
            end, closed = time.monotonic() + target.patience, 0
            while closed < count - most and time.monotonic() < end:
                closed = sum(ended(s) for s in left)
            expect(closed >= count - most, f"{closed} of {count} were closed")
            with Calls(target) as c:
                expect(c.serving(), "a new connection is not served")
            return f"{closed} of {count} closed, a new one is served"
        finally:
            for s in left:
                s.close()
    return run


def ended(s):
    s.setblocking(False)
    try:
        while s.recv(65536):
            pass
        return True
    except (BlockingIOError, ssl.SSLWantReadError):
        return False
    except OSError:
        return True


def silent(target):
    """Streams that say nothing, a half of a message, or a head and no body end in time; one whose engine thinks does not."""
    with Calls(target) as c:
        c.send(opened(1), opened(3, b"\0\0\0\1\0half"), opened(5, head()), opened(7, head("/v1/models", "GET", end=True)))
        began = time.monotonic()
        c.read(4 * SPAN + 2, lambda: {1, 3} <= c.statuses.keys() and b"\x08\x98\x03" in c.answers.get(5, b""))
        took = time.monotonic() - began
        expect(c.statuses.get(1) == DEADLINE and c.statuses.get(3) == DEADLINE, f"{c.statuses} after {took:.0f} s")
        expect(b"\x08\x98\x03" in c.answers.get(5, b""), "a body that does not come is not refused with 408")
        expect(7 not in c.statuses and 7 not in c.resets, "an engine that thinks was cut")
        return f"{took:.1f} s"


def drip(target):
    """A message and a body that come a byte at a time."""
    with Calls(target) as c:
        c.send(opened(1, b"\0\0\1\0\0"), opened(3, head()))
        end = time.monotonic() + 4 * SPAN + 2
        while time.monotonic() < end and not (1 in c.statuses and 3 in c.answers):
            c.send(*(frame(DATA, 0, s, d) for s, d in ((1, b"x"), (3, body(b" ", False))) if s not in c.statuses))
            c.read(0.2, lambda: False)
        expect(c.statuses.get(1) == DEADLINE and b"\x08\x98\x03" in c.answers.get(3, b""), f"{c.statuses}, {len(c.answers)} answers")
        return "both ended"


def not_taken(target):
    """Pieces that come back and are not taken: no window at all."""
    before = target.resident()
    with Calls(target, [(4, 0)], seconds=20) as c:
        try:
            for stream in range(1, 41, 2):
                c.send(opened(stream, head("/upload")))
            piece = body(bytes(15_000), False)
            for _ in range(600):
                c.send(*(frame(DATA, 0, stream, piece) for stream in range(1, 41, 2)))
        except OSError:
            pass
        c.read(target.patience, lambda: c.resets)
        expect(c.gone or c.resets, "180 MB were taken and kept")
        return f"{len(c.resets)} streams reset, {bounded(target, before, 500)}"


def not_read(target):
    """Answers that are not read from the socket."""
    before = target.resident()
    data = head() + body(b"[" * 100)
    with Calls(target, seconds=3) as c:
        sent = 0
        try:
            while sent < 100_000:
                c.send(b"".join(opened(2 * (sent + i) + 1, data, True) for i in range(100)))
                sent += 100
        except OSError:
            pass
        return f"{sent} streams sent, {bounded(target, before)}"


def not_http2(data):
    """Closed without an answer."""
    def run(target):
        with wire.connect(target, target.patience) as s:
            s.sendall(data)
            try:
                got = b"".join(iter(lambda: s.recv(65536), b""))
            except ConnectionError:
                got = b""
            except TimeoutError:
                expect(False, "left open")
        expect(b"HTTP/1" not in got, f"{got[:80]}")
        return f"closed, {len(got)} bytes"
    return run


def odd_messages():
    yield from (b"\1\0\0\0\1a", b"\0\xff\xff\xff\xff", b"\0\0\0\0\5\x12\xff\xff\xff\x7f", message(b""), message(b"\xff" * 100), message(b"\x12\x80" * 1000))
    yield from (message(b"\x12" + b"\xff" * 9 + b"\1"), head() * 100, body(b"{}") * 100, head(kind=3), message(field(2, b"\x0a" * 1000)), message(field(7, b"")))
    yield head(more=[(b"", b"")] * 2000)
    yield head(path="/v1/chat/completions\r\nX: y")
    yield head(more=[(b"x-request-id", b"a\r\nb\x1b[31m" * 100)])
    for told in (b"", b"twohundred", b"9" * 400, b"-1", b"\xff"):
        yield head("/v1/models", "GET", end=True) + head(kind=3, more=[(b":status", told)])
    seed = random.SystemRandom().getrandbits(32)
    print(f"attack: odd messages of seed {seed}", flush=True)
    chance = random.Random(seed)
    for _ in range(1500):
        data = bytearray(CHAT + head(kind=3, more=[(b":status", b"200")]))
        for _ in range(chance.randint(1, 6)):
            data[chance.randrange(5, len(data))] = chance.randrange(256)
        yield bytes(data[:chance.randrange(len(data))] if chance.random() < 0.3 else data)


def odd(target):
    """Messages that are none, one on each stream."""
    with Calls(target) as c:
        all_ = list(odd_messages())
        for i, data in enumerate(all_):
            c.send(opened(2 * i + 1, data[:FRAME], True))
            if i % 100 == 99:
                c.read(0.05)
        c.next = 2 * len(all_) + 1
        expect(c.serving(), "the connection does not answer any more")
        return f"{len(all_)} messages, the connection serves"


def proxys_day(count):
    """A proxy at work: each stream is picked, answered, and reset by the proxy; windows are opened, the line is probed. It is never cut."""
    def run(target):
        answer = head(kind=3, more=[(b":status", b"200"), (b"content-type", b"application/json")]) + body(b"{}", True, kind=5)
        with Calls(target, seconds=20) as c:
            for first in range(1, 2 * count, 100):
                streams = range(first, first + 100, 2)
                c.send(*(opened(stream, CHAT) for stream in streams))
                expect(c.read(10, lambda: all(s in c.answers for s in streams)), f"{len(c.answers)} answers, GOAWAY {c.refusal}, {len(c.resets)} reset")
                for stream in streams:
                    c.send(frame(DATA, 0, stream, answer), window(stream, 1000), window(0, 1000), frame(PING, 0, 0, b"8 bytes."), frame(RST, 0, stream, struct.pack(">I", 2)))
            expect(c.serving(), f"cut: GOAWAY {c.refusal}")
            return f"{len(c.answers) - 1} requests, each reset at its end"
    return run


def clients_leave(target):
    """All clients of a proxy leave at once, twice: 8,000 streams are given up before their answer."""
    with Calls(target) as c:
        for first in (1, 8001):
            c.send(*(opened(stream, head()) for stream in range(first, first + 8000, 2)))
            c.send(*(frame(RST, 0, stream, CANCEL) for stream in range(first, first + 8000, 2)))
            c.next = first + 8000
            expect(c.serving(), f"cut: GOAWAY {c.refusal}")
            first = c.next
        return "still served"


def resets(data):
    """Streams that are begun with this and given up."""
    def piece(at):
        return b"".join(opened(2 * (at + i) + 1, data) + frame(RST, 0, 2 * (at + i) + 1, CANCEL) for i in range(200))
    return piece


def made_to_reset(at):
    return b"".join(frame(HEADERS, END_HEADERS, 2 * (at + i) + 1, BLOCK) + window(2 * (at + i) + 1, 0) for i in range(200))


def floods():
    open_ = frame(HEADERS, END_HEADERS, 1, BLOCK)
    begun = frame(HEADERS, 0, 1, BLOCK)
    yield "pings", flood(frame(PING, 0, 0, b"8 bytes.") * 500, 500, 1_000_000), True
    yield "settings", flood(settings((4, 65535)) * 500, 500, 1_000_000), True
    yield "rapid reset", flood(resets(b""), 200, 200_000), True
    yield "rapid reset, each with a request", flood(resets(CHAT), 200, 200_000), False
    yield "streams that the picker has to reset", flood(made_to_reset, 200, 200_000), False
    yield "resets of a stream that has ended", flood(frame(RST, 0, 1, CANCEL) * 500, 500, 1_000_000, open_ + frame(RST, 0, 1, CANCEL)), False
    yield "priorities", flood(frame(PRIORITY, 0, 3, b"\0\0\0\0\1") * 500, 500, 1_000_000), False
    yield "windows", flood(window(0, 1) * 500, 500, 1_000_000), True
    yield "windows of a stream that has ended", flood(window(1, 1) * 500, 500, 1_000_000, open_ + frame(RST, 0, 1, CANCEL)), False
    yield "unknown frames", flood(frame(99, 0, 0, b"x" * 100) * 200, 200, 1_000_000), False
    yield "empty data", flood(frame(DATA, 0, 1) * 500, 500, 1_000_000, open_), False
    yield "continuations", flood(frame(CONTINUATION, 0, 1, b"\0\1a\1b" * 100) * 20, 20, 100_000, begun), False
    yield "empty continuations", flood(frame(CONTINUATION, 0, 1) * 500, 500, 1_000_000, begun), False


def attacks():
    yield Attack("a proxy at work", "is never cut", proxys_day(3000), False)
    yield Attack("all clients of a proxy leave at once", "the proxy is not cut", clients_leave, True)
    yield Attack("1,000 messages of 16 MiB announced, a byte of each sent", "memory in bounds, others served", beside(announced(1000)), True)
    yield Attack("200 messages half sent", "RESOURCE_EXHAUSTED, the connection goes on", beside(unfinished))
    yield Attack("200 bodies in small messages", "503, the connection goes on", beside(gathered))
    yield Attack("10 heads of 12 MiB", "431", beside(long_heads))
    yield Attack("6,000 streams on one connection", "the rest is refused", beside(many_streams(6000)), True)
    yield Attack("1,500 connections left idle", "1,024 stay, a new one is served", many_connections(1500, 1024))
    yield Attack("streams that say no more", "ended in time, unless an engine thinks", silent)
    yield Attack("messages and bodies that drip", "ended in time", drip)
    yield Attack("answers that are not taken", "reset, memory in bounds", beside(not_taken))
    yield Attack("answers that are not read", "memory in bounds", beside(not_read))
    yield Attack("HTTP/1.1", "closed", not_http2(wire.request("GET", "/workers")), True)
    yield Attack("a preface that does not come", "closed in time", not_http2(frames.PREFACE[:10]))
    yield Attack("messages that are none", "each ends its stream alone, no stack trace", odd, True)
    for name, run, smoke in floods():
        yield Attack(f"flood: {name}", "cut off, clients do not wait", beside(run), smoke)


def over_tls():
    yield Attack("over TLS: 1,000 messages of 16 MiB announced", "memory in bounds, others served", beside(announced(1000)))
    yield Attack("over TLS: HTTP/1.1", "closed", not_http2(wire.request("GET", "/workers")))
    for name, run, _ in list(floods())[:5]:
        yield Attack(f"over TLS: flood: {name}", "cut off, clients do not wait", beside(run))


def served(context, wanted):
    """Whether a question about health is answered to somebody with this certificate, or none."""
    def run(target):
        try:
            with Calls(Port(target.server, target.port, context), seconds=5) as c:
                got = c.serving()
        except (ssl.SSLError, OSError):
            got = False
        expect(got == wanted, "answered" if got else "not answered")
        return "answered" if got else "not answered"
    return run


def trusting(*certificate):
    """Takes the picker's own certificate, as proxies do, and shows this one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    if certificate:
        context.load_cert_chain(*certificate)
    return context


def certificates(stage, suite, open_):
    authority = Authority(stage.folder)
    port = free_port()
    gateway = stage.gateway("picker-certificates", stage.engine(), "--endpoint-picker-port", str(port), environment={"WARMPATH_PICKER_CLIENT_CA_FILE": str(authority.file)})
    target = Port(gateway, port, trusting())
    none = Attack("a proxy without a certificate", "no answer", served(trusting(), False))
    foreign = trusting(*Authority(stage.folder, "another").certificate("stranger", "DNS:proxy"))
    suite.attacks(target, [
        none,
        Attack("a proxy with another authority's certificate", "no answer", served(foreign, False)),
        Attack("a proxy with a certificate", "is answered", served(trusting(*authority.certificate("proxy", "DNS:proxy")), True)),
    ])
    suite.controls(open_, [none])


def play(stage, suite):
    port = free_port()
    environment = {"WARMPATH_HTTP_CLIENTS_BODY_TIMEOUT": f"{SPAN}s", "WARMPATH_HTTP_CLIENTS_HEAD_TIMEOUT": "3s"}
    gateway = stage.gateway("picker", stage.engine(), "--endpoint-picker-port", str(port), "--no-endpoint-picker-tls", environment=environment)
    suite.attacks(Port(gateway, port), attacks())
    naive = NaiveCalls()
    suite.controls(naive, [
        Attack("20 messages of 16 MiB announced", "", announced(20), True),
        Attack("6,000 streams on one connection", "", many_streams(6000)),
        Attack("50 connections left idle", "", many_connections(50, 40)),
        Attack("streams that say no more", "", silent),
        Attack("messages and bodies that drip", "", drip),
        Attack("HTTP/1.1", "", not_http2(wire.request("GET", "/workers"))),
        *(Attack(f"flood: {name}", "", run, smoke) for name, run, smoke in floods() if name in ("pings", "rapid reset")),
    ])
    naive.close()
    if suite.smoke:
        return
    tls = free_port()
    secured = Port(stage.gateway("picker-tls", stage.engine(), "--endpoint-picker-port", str(tls)), tls, trusting())
    suite.attacks(secured, over_tls())
    certificates(stage, suite, secured)

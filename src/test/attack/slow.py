"""Clients that take their time, leave in the middle, do not read, or say nothing."""
import socket
import struct
import threading
import time

import wire
from naive import Naive
from suite import Attack, expect, until

NAME = "slow clients, wild engines"
HOLDS = "a client that drips or says nothing is closed in time; one that leaves stops its engine; an answer that is not HTTP is 502"
SMOKE = False
HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
EVENT = b"data: " + wire.json.dumps({"choices": [{"index": 0, "delta": {"content": "x" * 1000}}]}).encode() + b"\n\n"


def streaming(events, pause=0.0):
    """An engine's answer: so many events of a kilobyte, in chunks."""
    def answer(call, s):
        if call.method != "POST":
            return False
        if b'"stream": true' not in call.body:
            return False
        s.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(events):
            s.sendall(b"%x\r\n%s\r\n" % (len(EVENT), EVENT))
            if pause:
                time.sleep(pause)
        s.sendall(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
        return True
    return answer


def closed_within(sockets, seconds, each=None):
    """All of them are closed by the other side by then; `each(socket)` is done again and again meanwhile."""
    left, end = list(sockets), time.monotonic() + seconds
    for s in left:
        s.setblocking(False)
    while left and time.monotonic() < end:
        still = []
        for s in left:
            try:
                if each:
                    each(s)
                while s.recv(65536):
                    pass
                continue
            except (BlockingIOError, InterruptedError):
                still.append(s)
            except OSError:
                continue
        left = still
        time.sleep(0.1)
    expect(not left, f"{len(left)} of {len(sockets)} are open after {seconds} s")


def held_open(count, first, each, seconds):
    """Connections that say this at first and then a little again and again: closed in time, others are served meanwhile."""
    def run(target):
        sockets = [socket.create_connection((target.host, target.port), timeout=10) for _ in range(count)]
        worst, done = [0.0], threading.Event()

        def others():
            while not done.is_set():
                worst[0] = max(worst[0], target.chat())
                time.sleep(0.05)
        asking = threading.Thread(target=others)
        try:
            for s in sockets:
                s.sendall(first)
            asking.start()
            began = time.monotonic()
            closed_within(sockets, seconds, (lambda s: s.send(each)) if each else None)
            took = time.monotonic() - began
        finally:
            done.set()
            asking.join()
            for s in sockets:
                s.close()
        expect(worst[0] < 2, f"others waited {worst[0]:.1f} s")
        return f"{count} closed after {took:.1f} s, others waited {worst[0]:.2f} s at most"
    return run


def half_closed(target):
    """A client that has said all it wants to say and closes its side gets its answer."""
    for i in range(20):
        with wire.connect(target) as s:
            s.sendall(wire.chat(f"half {i}"))
            s.shutdown(socket.SHUT_WR)
            answer = wire.Reader(s).answer()
        expect(answer is not None and answer.status == 200 and f"half {i}".encode() in answer.body, f"request {i}: {answer}")
    return "20 of 20 answered"


def byte_by_byte(target):
    with wire.connect(target) as s:
        for b in wire.chat("by bytes"):
            s.sendall(bytes((b,)))
        answer = wire.Reader(s).answer()
    expect(answer is not None and answer.status == 200, f"{answer}")
    return "200"


def resets(s):
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def leave(count, after):
    """Clients that reset their connection: at once, behind their request, or in the middle of a stream."""
    def run(target):
        target.engine.answer = streaming(200, 0.01)
        try:
            for _ in range(count):
                s = wire.connect(target)
                if after != "connect":
                    s.sendall(wire.chat("leaving", stream=True))
                if after == "stream":
                    expect(s.recv(100).startswith(b"HTTP/1.1 200"), "no stream")
                resets(s)
            until(lambda: sum(c.fileno() >= 0 for c in list(target.engine.open)) < 40, 15,
                  lambda: f"{len(target.engine.open)} connections to the engine are left")
            return f"{count} gone, {len(target.engine.open)} connections to the engine"
        finally:
            target.engine.answer = None
    return run


def do_not_read(count, size):
    """Streams that nobody reads: the engine is not read either, so nothing piles up."""
    def run(target):
        target.engine.answer = streaming(size)
        sockets = []
        before = target.resident()
        try:
            for _ in range(count):
                s = socket.socket()
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                s.connect((target.host, target.port))
                s.sendall(wire.chat("not read", stream=True))
                sockets.append(s)
            time.sleep(3)
            grown = target.resident() - before
            expect(grown < 200, f"{grown} MiB more for {count} streams")
            took = target.chat()
            expect(took < 2, f"others wait {took:.1f} s")
            return f"{grown} MiB more for {count} streams of {size >> 10} MB, others are answered within {took:.2f} s"
        finally:
            target.engine.answer = None
            for s in sockets:
                resets(s)
    return run


def pipelined_and_gone(target):
    for _ in range(20):
        with wire.connect(target) as s:
            s.sendall(wire.chat("pipelined") * 200)
    return "20 times 200 requests, nobody reads"


def stalled_engine(target):
    """Engines that say half an answer and then nothing are the idle time-out's; what the client sees ends when it leaves."""
    def half(call, s):
        if call.method != "POST" or b"stall" not in call.body:
            return False
        s.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
        while s.recv(1):
            pass
        return True
    target.engine.answer = half
    try:
        sockets = [wire.connect(target) for _ in range(100)]
        for s in sockets:
            s.sendall(wire.chat("stall"))
        until(lambda: sum(b"stall" in c.body for c in target.engine.calls) >= 100, 10, "they do not reach the engine")
        took = target.chat()
        for s in sockets:
            s.close()
        expect(took < 2, f"others wait {took:.1f} s")
        return f"others are answered within {took:.2f} s"
    finally:
        target.engine.answer = None


def wild_answer(name, data, statuses=(502,)):
    """An engine whose answer is no HTTP: an error of the gateway's own, never a byte that could be taken for another answer."""
    def run(target):
        def wild(call, s):
            if call.method != "POST" or b"wild" not in call.body:
                return False
            s.sendall(data)
            s.shutdown(socket.SHUT_RDWR)
            return True
        target.engine.answer = wild
        try:
            answers, _ = wire.exchange(target, wire.chat("wild") + wire.request("GET", "/live", headers=("Connection: close",)), 2)
        finally:
            target.engine.answer = None
        got = wire.told(answers, False)
        expect(answers and answers[0].status in statuses and all("Injected" not in a.head for a in answers), got)
        expect(len(answers) <= 2 and (len(answers) < 2 or b"live" in answers[1].body), got)
        return got
    return Attack(f"an engine's answer: {name}", f"{' or '.join(map(str, statuses))}, the next answer is its own", run)


def engines():
    yield wild_answer("no HTTP", b"\xff\xfe\x00" * 100)
    yield wild_answer("HTTP/0.9", b"hello\r\n\r\n")
    yield wild_answer("a status of four digits", b"HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\n{}")
    yield wild_answer("two lengths", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\n{}HTTP/1.1 200 Injected\r\n\r\n")
    yield wild_answer("length and chunks", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}")
    yield wild_answer("a chunk size that is none", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n{}\r\n", (200, 502))
    yield wild_answer("a head of 1 MiB", b"HTTP/1.1 200 OK\r\n" + b"X-A: " + b"b" * (1 << 20) + b"\r\n\r\n")
    yield wild_answer("a second answer behind the first", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 Injected\r\nContent-Length: 2\r\n\r\n{}", (200, 502))
    yield wild_answer("nothing", b"")


def attacks():
    yield Attack("300 heads that drip", "closed within 8 s", held_open(300, HEAD, b"X-A: b\r\n", 8))
    yield Attack("300 first lines that drip", "closed within 8 s", held_open(300, b"P", b"O", 8))
    yield Attack("300 bodies that drip", "closed within 12 s", held_open(300, HEAD + b"Content-Length: 100000\r\n\r\n{", b" ", 12))
    yield Attack("300 chunks that drip", "closed within 12 s", held_open(300, HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", 12))
    yield Attack("300 connections that say nothing", "closed within 12 s", held_open(300, b"", None, 12))
    yield Attack("a request byte by byte", "200", byte_by_byte)
    yield Attack("20 clients that close their side behind a request", "answered", half_closed)
    yield Attack("2,000 connections that are reset at once", "nothing is left", leave(2000, "connect"))
    yield Attack("300 clients that are gone behind their request", "the engine is stopped", leave(300, "request"))
    yield Attack("300 clients that are gone within a stream", "the engine is stopped", leave(300, "stream"))
    yield Attack("100 streams of 8 MB that nobody reads", "held at the engine, memory in bounds", do_not_read(100, 8192))
    yield Attack("4,000 pipelined requests whose clients are gone", "nothing is left", pipelined_and_gone)
    yield Attack("100 answers that stop in the middle", "others are served", stalled_engine)
    yield from engines()


def play(stage, suite):
    times = {"WARMPATH_HTTP_CLIENTS_HEAD_TIMEOUT": "2s", "WARMPATH_HTTP_CLIENTS_BODY_TIMEOUT": "3s", "WARMPATH_HTTP_CLIENTS_IDLE_TIMEOUT": "4s"}
    suite.attacks(stage.gateway("slow", stage.engine(), environment=times), attacks())
    naive = Naive()
    naive.chat = lambda: 0.0
    suite.controls(naive, [Attack("heads that drip", "", held_open(5, HEAD, b"X-A: b\r\n", 2)), Attack("connections that say nothing", "", held_open(5, b"", None, 2)),
                           Attack("answers of engines", "", wild_answer("no HTTP", b"\xff").run)])
    naive.close()

"""LMCache's ports, which take the words of every program that reaches them: half messages, drips, garbage, frames without end, many connections."""
import os
import socket
import struct
import threading
import time

import wire
from naive import Naive
from stage import free_port
from suite import Attack, expect, until

NAME = "LMCache's ports"
HOLDS = "half messages, drips, garbage, frames, questions and connections without end are bounded and closed in time; a worker is still heard"
GREETING = b"\xff" + b"\0" * 8 + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + b"\0" * 32
MIB = 1 << 20


def ready(kind):
    body = b"\x05READY\x0bSocket-Type" + struct.pack(">I", len(kind)) + kind
    return bytes((4, len(body))) + body


def head(length, flags=0):
    return bytes((flags | 2,)) + struct.pack(">Q", length)


HELLO = GREETING + ready(b"PUSH")
ASKING = GREETING + ready(b"DEALER")
# A message that is none: it is heard as a whole, and counted.
NONSENSE = b"\x00\x03bad"
# The question of a worker whether it is known: an empty frame, and a map of three fields.
REGISTER = b"\x83\xa4type\xabRegisterMsg\xabinstance_id\xa1a\xa9worker_id\x00"
QUESTION = b"\x01\x00\x00" + bytes((len(REGISTER),)) + REGISTER


def connect(port, first=b""):
    s = socket.create_connection(("127.0.0.1", port), timeout=5)
    s.sendall(first)
    return s


def counted(target, name):
    for line in wire.one(target, wire.request("GET", "/metrics")).body.decode().splitlines():
        if line.startswith("warmpath_lmcache_" + name + " ") or line.startswith("warmpath_lmcache_" + name + "{"):
            return float(line.rpartition(" ")[2])
    return 0.0


def answered(port):
    """A worker that asks is answered."""
    with connect(port, ASKING + QUESTION) as s:
        got = b""
        while b"RegisterRetMsg" not in got:
            part = s.recv(4096)
            expect(part, "a worker that asks gets no answer")
            got += part


def is_closed(s):
    s.setblocking(False)
    try:
        while s.recv(1 << 16):
            pass
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def heard(target):
    """A worker is still heard: what it pushes is counted, what it asks is answered."""
    before = counted(target, "messages_bad_total")
    with connect(target.pull, HELLO + NONSENSE):
        until(lambda: counted(target, "messages_bad_total") > before, 10, "what a worker pushes is heard no more")
    answered(target.reply)


def flood(connections, size, announced, most):
    """So many connections, each of which says so much of an announced message and waits: memory grows by the bound, others are served meanwhile."""
    def run(target):
        before, worst, sockets = target.resident(), 0.0, []
        piece = b"\0" * min(size, MIB)
        try:
            for i in range(connections):
                try:
                    s = connect(target.pull, HELLO + head(announced))
                    sockets.append(s)
                    for _ in range(size // max(1, len(piece))):
                        s.sendall(piece)
                except OSError:
                    pass  # closed, as it should be
                if i % 10 == 9:
                    worst = max(worst, target.chat())
            grown = target.resident() - before
            refused = sum(map(is_closed, sockets))
            took = max(worst, target.chat())
        finally:
            for s in sockets:
                s.close()
        expect(grown <= most, f"{grown} MiB more for {connections} half messages of {size >> 10} KiB")
        expect(took < 2, f"a chat takes {took:.1f} s meanwhile")
        target.heard()
        return f"{grown} MiB more, {refused} of {connections} closed, a chat takes {took:.2f} s"
    return run


def cut(data, closed=True):
    """What no worker says ends the connection, or does nothing."""
    def run(target):
        for port in (target.pull, target.reply):
            with connect(port) as s:
                try:
                    s.sendall(data)
                except OSError:
                    continue  # closed before it has said all
                if closed:
                    until(lambda: is_closed(s), target.patience, "it is left open")
        target.heard()
        return "closed" if closed else "nothing came of it"
    return run


def drips(first, each, seconds):
    """A byte now and then does not keep a connection for ever."""
    def run(target):
        s = connect(target.pull, first)
        began = time.monotonic()
        with s:
            while time.monotonic() - began < seconds:
                try:
                    s.setblocking(True)
                    s.sendall(each)
                except OSError:
                    return f"closed after {time.monotonic() - began:.0f} s"
                time.sleep(0.5)
                if is_closed(s):
                    return f"closed after {time.monotonic() - began:.0f} s"
        expect(False, f"open after {seconds} s")
    return run


def many(count, first):
    def run(target):
        sockets = []
        try:
            for _ in range(count):
                try:
                    sockets.append(connect(target.pull, first))
                except OSError:
                    break
            took = target.chat()
            expect(took < 2, f"a chat takes {took:.1f} s")
            refused = sum(map(is_closed, sockets))
        finally:
            for s in sockets:
                s.close()
        target.heard()
        return f"{refused} of {len(sockets)} closed, a chat takes {took:.2f} s"
    return run


def unread(question, times):
    """Answers that are not read do not pile up."""
    def run(target):
        before = target.resident()
        with connect(target.reply, ASKING) as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.settimeout(1)
            sent = 0
            try:
                for _ in range(times):
                    s.sendall(question)
                    sent += 1
            except OSError:
                pass  # not read any more, or closed
            took = target.chat()
            grown = target.resident() - before
        expect(grown < 64, f"{grown} MiB more")
        expect(took < 2, f"a chat takes {took:.1f} s")
        target.heard()
        return f"{grown} MiB more after {sent} questions"
    return run


def garbage(rounds):
    def run(target):
        for i in range(rounds):
            start = (b"", GREETING, HELLO)[i % 3]
            try:
                with connect((target.pull, target.reply)[i % 2], start + os.urandom(512)):
                    pass
            except OSError:
                pass
        target.heard()
        return f"{rounds} connections"
    return run


def batch(count):
    """What a worker may hold has a bound of its own: numbers of chunks, each of them sent."""
    keys = b"".join(b"\xcf" + struct.pack(">Q", i) for i in range(count))

    def message(name, fields):
        pairs = b"".join(bytes((0xa0 | len(k),)) + k + v for k, v in fields)
        body = bytes((0x80 | len(fields) + 1,)) + b"\xa4type" + bytes((0xa0 | len(name),)) + name + pairs
        return body

    def text(t):
        return bytes((0xa0 | len(t),)) + t

    def run(target):
        own = [(b"instance_id", text(b"full")), (b"worker_id", b"\x00"), (b"location", text(b"L")), (b"sync_id", text(b"s"))]
        with connect(target.reply, ASKING) as s:
            start = message(b"FullSyncStartMsg", [*own, (b"batch_count", b"\xcd\xff\xff")])
            s.sendall(b"\x01\x00\x00" + bytes((len(start),)) + start)
            got = b""
            while b"accepted" not in got:
                part = s.recv(4096)
                expect(part, "no answer to the beginning of a sync")
                got += part
        before = target.resident()
        with connect(target.pull, HELLO) as s:
            for i in range(40):
                mine = b"".join(b"\xcf" + struct.pack(">Q", (i << 32) + k) for k in range(count)) if i else keys
                body = message(b"FullSyncBatchMsg", [*own, (b"batch_id", bytes((i,))), (b"keys", b"\xdd" + struct.pack(">I", count) + mine)])
                s.sendall(head(len(body)) + body)
        until(lambda: counted(target, "ignored_total") > 0, 30, f"{counted(target, 'chunks'):.0f} chunks are kept")
        grown = target.resident() - before
        took = target.chat()
        expect(took < 2, f"a chat takes {took:.1f} s")
        kept = counted(target, "chunks")
        with connect(target.reply, ASKING) as s:
            gone = message(b"RegisterMsg", own[:2])
            s.sendall(b"\x01\x00\x00" + bytes((len(gone),)) + gone)
            s.recv(4096)
        target.heard()
        return f"{kept:.0f} of {40 * count} chunks kept, {grown} MiB more"
    return run


def attacks():
    yield Attack("40 half messages of 60 MiB", "closed, memory within the bound", flood(40, 60 * MIB, 63 * MIB, 150), True)
    yield Attack("200 messages of which 3 of 4 MiB have come", "closed beyond the bound, memory within it", flood(200, 3 * MIB, 4 * MIB - 1, 200), True)
    yield Attack("500 announced messages of which nothing comes", "nothing is allocated", flood(500, 0, 4 * MIB - 1, 60))
    yield Attack("a message of 2^63 - 1 bytes", "closed", cut(HELLO + head(2**63 - 1)), True)
    yield Attack("a message of 2^64 - 1 bytes", "closed", cut(HELLO + head(2**64 - 1)), True)
    yield Attack("a command of 2 GiB", "closed", cut(GREETING + head(2**31, 4)), True)
    yield Attack("frames without end", "closed at 64", cut(HELLO + b"\x01\x00" * 100), True)
    yield Attack("frames of which each is half of the bound", "closed", cut(HELLO + (head(2 * MIB, 1) + b"\0" * 2 * MIB) * 3))
    yield Attack("unknown flags", "closed", cut(HELLO + b"\xf0\x00"), True)
    yield Attack("HTTP", "closed", cut(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"), True)
    yield Attack("ZMTP 2", "closed", cut(b"\xff" + b"\0" * 8 + b"\x7f\x01" + b"\0" * 60))
    yield Attack("another mechanism", "closed", cut(b"\xff" + b"\0" * 8 + b"\x7f\x03\x00" + b"CURVE".ljust(20, b"\0") + b"\0" * 32))
    yield Attack("a socket that is a publisher's", "closed", cut(GREETING + ready(b"PUB")), True)
    yield Attack("READY whose property is of 2 GiB", "closed", cut(GREETING + b"\x04\x0b\x05READY" + b"\x00" + struct.pack(">I", 2**31 - 1)))
    yield Attack("maps, lists and texts of 2^32 members", "refused one by one",
                 cut(HELLO + b"".join(b"\x00" + bytes((len(m),)) + m for m in (b"\xdf\xff\xff\xff\xff", b"\x81\xa4keys\xdd\xff\xff\xff\xff", b"\x81\xa4type\xdb\xff\xff\xff\xff",
                                                                              b"\x81\xaaoperations\xdd\x7f\xff\xff\xff", b"\x81\xa1x\xc9\xff\xff\xff\xff\x01")), closed=False), True)
    yield Attack("3 MiB of lists in each other", "refused", cut(HELLO + head(3 * MIB + 3) + b"\x81\xa1x" + b"\x91" * 3 * MIB, closed=False))
    yield Attack("600 connections of garbage", "nothing comes of it", garbage(600))
    yield Attack("6,000 connections without a handshake", "as many as may be, a worker is still heard", many(6000, b""))
    yield Attack("3,000 connections with a handshake", "a worker is still heard", many(3000, HELLO))
    yield Attack("100,000 questions whose answers are not read", "closed", unread(QUESTION, 100_000), True)
    yield Attack("200,000 pings whose answers are not read", "closed", unread(b"\x04\x17\x04PING\0\0" + b"c" * 16, 200_000))
    yield Attack("16 million chunks", "kept up to the bound", batch(400_000))
    yield Attack("a handshake that drips", "closed within 35 s", drips(GREETING[:10] + b"\x03", b"\0", 35))
    yield Attack("a message that drips", "closed within 35 s", drips(HELLO + head(MIB), b"\0", 35))


class Trusting(Naive):
    """Keeps what it is told will come, answers whoever asks without looking whether that is read, and closes nothing."""

    def __init__(self):
        super().__init__()
        self.kept = []
        self.peers = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.pull = self.reply = self.peers.getsockname()[1]
        threading.Thread(target=self.take, daemon=True).start()

    def resident(self):
        return sum(map(len, self.kept)) >> 20

    def chat(self):
        return 0.0

    def heard(self):
        pass

    def take(self):
        while True:
            try:
                s, _ = self.peers.accept()
            except OSError:
                return
            threading.Thread(target=self.keep, args=(s,), daemon=True).start()

    def keep(self, s):
        mine = bytearray()
        self.kept.append(mine)
        try:
            while part := s.recv(1 << 16):
                mine += part
        except OSError:
            pass


def play(stage, suite):
    pull, reply = free_port(), free_port()
    gateway = stage.gateway("lmcache", stage.engine(), environment={
        "WARMPATH_SHARED_CACHE_TYPE": "lmcache", "WARMPATH_SHARED_CACHE_LMCACHE_PULL": f"tcp://127.0.0.1:{pull}",
        "WARMPATH_SHARED_CACHE_LMCACHE_REPLY": f"tcp://127.0.0.1:{reply}"})
    gateway.pull, gateway.reply = pull, reply
    gateway.heard = lambda: heard(gateway)
    suite.attacks(gateway, attacks())
    naive = Trusting()
    suite.controls(naive, [Attack("half messages", "", flood(20, 4 * MIB, 63 * MIB, 40), True), Attack("a message of 2^63 - 1 bytes", "", cut(HELLO + head(2**63 - 1)), True),
                           Attack("a message that drips", "", drips(HELLO + head(MIB), b"\0", 2))])
    naive.close()

"""A gateway that is told to stop, under attack: streams come whole, new requests are refused, nobody holds it beyond its grace."""
import select
import signal
import socket
import threading
import time
from types import SimpleNamespace

import frames
import wire
from certificates import Authority
from naive import Naive
from slow import streaming
from suite import Attack, expect, until

NAME = "shutdown"
HOLDS = "streams come whole, new requests are 503 `stopping`, every request that was sent whole before its client saw a close gets a whole answer, nobody holds the process beyond its grace"
SMOKE = False
GRACE = 6
# What Netty says of a connection that comes when the event loops have ended and the process has not.
LAST = "Failed to register an accepted channel"


class Stop:
    """SIGTERM with streams under way; what new requests get is asked until the process has ended."""

    def __init__(self, target, streams, seconds, hold=()):
        self.target = target
        target.engine.answer = streaming(int(seconds * 20), 0.05) if streams else streaming(50_000)
        self.bodies = [None] * streams
        self.late = {}
        self.held = []
        self.threads = [threading.Thread(target=self.stream, args=(i,)) for i in range(streams)]
        for t in self.threads:
            t.start()
        until(lambda: len(target.engine.asked()) >= streams, 10, "the streams do not begin")
        for data in hold:
            s = wire.connect(target, 60)
            s.sendall(data)
            self.held.append(s)
        time.sleep(0.3)
        target.process.send_signal(signal.SIGTERM)
        self.told = time.monotonic()
        while target.process.poll() is None and time.monotonic() < self.told + 3 * GRACE + 10:
            self.ask()
            time.sleep(0.02)
        self.took = time.monotonic() - self.told
        for t in self.threads:
            t.join()
        for s in self.held:
            s.close()

    def stream(self, i):
        try:
            self.bodies[i] = wire.one(self.target, wire.chat("until the end", stream=True), 60)
        except OSError as e:
            self.bodies[i] = e

    def ask(self):
        try:
            answer = wire.one(self.target, wire.chat("late"), 5)
            what = "closed" if answer is None else (answer.status, answer.code(), answer.header("connection"))
        except OSError:
            what = "refused"
        self.late.setdefault(what, time.monotonic() - self.told)


def whole(seconds, hold=(), streams=20):
    """Streams that end within the grace come whole; a new request is never served once the refusal has begun."""
    def run(target):
        stop = Stop(target, streams, seconds, hold)
        expect(target.process.poll() in (0, 143), f"the process ended with {target.process.poll()}")
        cut = [b for b in stop.bodies if getattr(b, "status", None) != 200 or not b.body.endswith(b"data: [DONE]\n\n")]
        expect(not cut, f"{len(cut)} of {streams} streams did not come whole: {str(cut[:1])[:200]}")
        expect((503, "stopping", "close") in stop.late, f"late requests got {stop.late}")
        served = stop.late.get((200, None, None))
        expect(served is None or served < 1, f"late requests got {stop.late}")
        expect(stop.took < seconds + GRACE + 3, f"it took {stop.took:.1f} s")
        target.quiet(LAST)
        return f"{streams} streams whole, refusals after {stop.late[(503, 'stopping', 'close')]:.2f} s, ended after {stop.took:.1f} s"
    return run


def held(hold, streams=0):
    """Who does not let go is cut off at the end of the grace."""
    def run(target):
        stop = Stop(target, streams, 60 if streams else 0, hold)
        expect(target.process.poll() in (0, 143), f"the process ended with {target.process.poll()}")
        expect(stop.took < GRACE + 5, f"it took {stop.took:.1f} s")
        target.quiet(LAST)
        return f"ended after {stop.took:.1f} s"
    return run


class Asking:
    """Clients that ask all the time while the gateway stops; what came of each request that was sent whole before its client saw a close."""

    def __init__(self, target, kept, fresh, http2):
        self.target, self.ended = target, False
        self.lock = threading.Lock()
        self.got = {}
        kinds = [self.keep] * kept + [self.anew] * fresh + [self.frames] * http2
        self.threads = [threading.Thread(target=self.all_the_time, args=(kind,), daemon=True) for kind in kinds]
        for t in self.threads:
            t.start()

    def count(self, what):
        with self.lock:
            self.got[what] = self.got.get(what, 0) + 1

    def all_the_time(self, kind):
        while not self.ended:
            try:
                s = wire.connect(self.target.http2 if kind == self.frames else self.target, 10)
            except OSError:
                return  # nobody listens any more
            try:
                kind(s)
            except OSError:
                pass  # closed before it has asked
            finally:
                s.close()

    def one(self, s, reader, name):
        """An answer, counted; None at the connection's end."""
        try:
            s.sendall(wire.chat("until it stops"))
        except OSError:
            return None  # it was closed before
        try:
            answer = reader.answer()
        except (OSError, ValueError) as e:
            answer = None
            name = f"{name} ({type(e).__name__})"
        whole = answer is not None and (answer.status == 200 or (answer.status, answer.code(), answer.header("connection")) == (503, "stopping", "close"))
        self.count(f"{name}: {answer.status}" if whole else f"{name}: bare {answer and (answer.status, answer.code(), answer.header('connection'))}")
        return answer

    def keep(self, s):
        reader = wire.Reader(s)
        while not self.ended:
            if closed(s):
                return
            answer = self.one(s, reader, "kept")
            if answer is None or answer.header("connection") == "close":
                return
            time.sleep(0.03)

    def anew(self, s):
        self.one(s, wire.Reader(s), "new")
        time.sleep(0.02)

    def frames(self, s):
        """HTTP/2: streams on one connection until the server says GOAWAY; those it promises to answer are answered."""
        c = frames.Connection(self.target, sock=s)
        while not self.ended:
            try:
                stream = c.ask(frames.asking(), wire.chat_body("until it stops"))
            except OSError:
                return
            got = c.outcome(stream, 10)
            good = got[0] == "status" and got[1] in (200, 503)
            if not good and c.gone is not None and stream > c.gone:
                return  # it was told that nobody has seen this one
            self.count(f"HTTP/2: {got[1]}" if good else f"HTTP/2: bare {got[:2]}")
            if not good or c.gone is not None:
                return
            time.sleep(0.03)

    def end(self):
        self.ended = True
        for t in self.threads:
            t.join(20)


def closed(s):
    """Whether the other side has closed, as far as one can see."""
    readable, _, _ = select.select([s], [], [], 0)
    return bool(readable)


def asked_until_the_end(streams, kept, fresh, http2):
    """Every request that is sent whole to a connection that is open gets a whole answer."""
    def run(target):
        target.engine.answer = ticking(40)
        held = []
        for _ in range(streams):
            s = wire.connect(target, 60)
            s.sendall(wire.chat("a stream", stream=True))
            held.append(s)
        until(lambda: len(target.engine.asked()) >= streams, 10, "the streams do not begin")
        asking = Asking(target, kept, fresh, http2)
        until(lambda: sum(asking.got.values()) >= 4 * (kept + fresh + http2), 20, lambda: f"{asking.got}")
        target.process.send_signal(signal.SIGTERM)
        told = time.monotonic()
        until(lambda: target.process.poll() is not None, 3 * GRACE + 10, "it does not end")
        took = time.monotonic() - told
        asking.end()
        for s in held:
            s.close()
        bare = sum(n for what, n in asking.got.items() if "bare" in what)
        told = ", ".join(f"{n} x {what}" for what, n in sorted(asking.got.items()))
        expect(not bare, told)
        expect(any("503" in what for what in asking.got) or not streams, told)
        expect(took < GRACE + 5, f"it took {took:.1f} s")
        return f"{told}; ended after {took:.1f} s"
    return run


def ticking(ticks):
    """Streams of so many ticks of 50 ms; chats in one piece are answered at once."""
    stream = streaming(ticks, 0.05)
    return lambda call, s: b'"stream": true' in call.body and stream(call, s)


def play(stage, suite):
    half = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
    cases = (
        Attack("20 streams of 3 s, asked all the time", "whole, 503 stopping, status 143", whole(3)),
        Attack("the same, with 200 idle connections and 50 half requests", "whole, 503 stopping", whole(3, [b""] * 200 + [half] * 50)),
        Attack("20 streams without end", "cut off after the grace", held((), 20)),
        Attack("50 half requests", "cut off after the grace", held([half] * 50)),
        Attack("50 streams that nobody reads", "cut off after the grace", held([wire.chat("unread", stream=True)] * 50)),
    )
    for attack in cases:
        gateway = stage.gateway("stopping", stage.engine(), "--shutdown-grace", f"{GRACE}s")
        suite.row(attack.name, attack.expected, lambda: attack.run(gateway))
        stage.stop(gateway.process)
    authority = Authority(stage.folder)
    cert, key = authority.certificate("gateway", "IP:127.0.0.1")
    for over, clients, flags in (("clear text", (40, 10, 0), ()), ("TLS", (20, 5, 20), ("--tls-cert-path", str(cert), "--tls-key-path", str(key)))):
        for streams in (0, 5):
            def run(clients=clients, flags=flags, streams=streams):
                gateway = stage.gateway("asked", stage.engine(), "--shutdown-grace", f"{GRACE}s", *flags, tls=authority.client() if flags else None)
                gateway.http2 = SimpleNamespace(host=gateway.host, port=gateway.port, tls=authority.client("h2"))
                got = asked_until_the_end(streams, *clients)(gateway)
                gateway.quiet(LAST)
                return got
            suite.row("{}: {} connections that are kept, {} new ones, {} of HTTP/2, asked until the end, {} streams under way".format(over, *clients, streams or "no"),
                      "every request gets a whole answer", run)

    class Abrupt(Naive):
        """Is gone at once when it is told to stop."""

        answer = None

    def answering(call, s):
        if call.method == "POST" and b'"stream": true' in call.body:
            abrupt.engine.calls.append(call)
            s.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {}\n\n")
            until(lambda: abrupt.process.ended, 30, "never told to stop")
            s.shutdown(socket.SHUT_RDWR)
    abrupt = Abrupt()
    abrupt.engine.calls.clear()
    abrupt.answer = answering
    abrupt.process = Told()
    suite.controls(abrupt, [Attack("a server that cuts its streams", "", whole(3, streams=2))])
    abrupt.close()


class Told:
    """A process that ends at once."""

    ended = False

    def send_signal(self, _):
        self.ended = True

    def poll(self):
        return 143 if self.ended else None

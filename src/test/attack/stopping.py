"""A gateway that is told to stop, under attack: streams come whole, new requests are refused, nobody holds it beyond its grace."""
import signal
import socket
import threading
import time

import wire
from naive import Naive
from slow import streaming
from suite import Attack, expect, until

NAME = "shutdown"
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

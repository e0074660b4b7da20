"""JetStream that goes wrong under a gateway: rights that are missing, streams that are deleted, a server that flaps, a gateway that is too slow for it."""
import json
import os
import pathlib
import signal
import socket
import threading
import time

import wire
from bus import DOTTED, PREFIX, Client, Server
from naive import Naive
from suite import Attack, Broken, expect, until

NAME = "JetStream"
HOLDS = "missing rights, deleted streams and buckets, a server that flaps or has no JetStream, a gateway that is too slow: chats go on, with a few lines of log a minute"
SMOKE = False
STREAM = f"{PREFIX}-kv-events"
# While one thing is wrong the log says so now and then, and not with every attempt.
MOST_WARNINGS = 12
LIMITED = """authorization {{ users = [
  {{ user: all, password: all }}
  {{ user: less, password: less, permissions: {{ publish: {{ deny: {denied} }} }} }}
] }}"""
RIGHTS = (("make streams", ["$JS.API.STREAM.CREATE.>"]), ("look at streams", ["$JS.API.STREAM.INFO.>", "$JS.API.STREAM.NAMES"]),
          ("make consumers", ["$JS.API.CONSUMER.CREATE.>", "$JS.API.CONSUMER.DURABLE.CREATE.>"]), ("take messages", ["$JS.API.CONSUMER.MSG.NEXT.>", "$JS.ACK.>"]),
          ("write keys", ["$KV.>"]), ("ask JetStream anything", ["$JS.>"]), ("tell other gateways", [f"{DOTTED}.>"]))


def asked(bus, subject, data=b"{}", **login):
    """What JetStream answers."""
    client = Client(bus.port, **login)
    client.sock.sendall(b"SUB _INBOX.attack 1\r\n" + b"PUB %s _INBOX.attack %d\r\n%s\r\n" % (subject.encode(), len(data), data))
    while (line := client.reader.until(b"\r\n")) is not None:
        if line.startswith(b"MSG "):
            return json.loads(client.reader.exactly(int(line.split()[-1])))
    raise Broken(f"{subject}: the server has closed the connection")


def threads(target):
    return len(os.listdir(f"/proc/{target.pid}/task"))


def warnings(text):
    return [line for line in text.split("\n") if " WARN " in line or " ERROR " in line]


def metric(target, name):
    for line in wire.one(target, wire.request("GET", "/metrics")).body.decode().split("\n"):
        if line.startswith(name + " ") or line.startswith(name + "{"):
            return float(line.split()[-1])
    return None


def connected(target):
    return metric(target, "warmpath_nats_connected") == 1


class Meanwhile:
    """Chats all the time: how long the longest took."""

    def __init__(self, target):
        self.target, self.worst, self.ended, self.failed = target, 0.0, False, None
        self.thread = threading.Thread(target=self.ask)

    def ask(self):
        while not self.ended:
            try:
                self.worst = max(self.worst, self.target.chat())
            except Broken as e:
                self.failed = str(e)
                return
            time.sleep(0.02)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended = True
        self.thread.join()


def borne(disturb, well_again=connected, within=40, chats=True):
    """`disturb(target)`: chats are answered all the time, the log says it a few times, and the gateway is well again by itself, as large as before."""
    def run(target):
        target.quiet()
        until(lambda: well_again(target), 30, "not well before")
        before, base = threads(target), target.resident()
        with Meanwhile(target) if chats else Nobody() as others:
            disturb(target)
            until(lambda: well_again(target), within, f"not well again after {within} s")
        expect(others.failed is None, f"{others.failed}")
        expect(others.worst < 2, f"a chat took {others.worst:.1f} s")
        text = pathlib.Path(target.log).read_text(errors="replace")[target.read:]
        said = warnings(text)
        expect(len(said) <= MOST_WARNINGS, f"{len(said)} warnings: {said[-1:]}")
        until(lambda: threads(target) <= before + 8, 20, lambda: f"{threads(target)} threads, {before} before")
        expect(target.resident() <= base + 150, f"{target.resident()} MiB, {base} before")
        return f"chats took {others.worst:.2f} s at most, {len(said)} warnings, {threads(target) - before:+} threads, {target.resident() - base:+} MiB"
    return run


class Nobody:
    """Nobody asks meanwhile: the process itself is stopped."""

    worst, failed = 0.0, None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Flapping:
    """A way to the server that is cut every so often."""

    def __init__(self, port):
        self.to, self.every, self.open = port, None, set()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        self.accepted = 0
        threading.Thread(target=self.accept, daemon=True).start()
        threading.Thread(target=self.cut, daemon=True).start()

    def accept(self):
        while True:
            try:
                s, _ = self.listener.accept()
                t = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                continue
            self.accepted += 1
            self.open |= {s, t}
            for a, b in ((s, t), (t, s)):
                threading.Thread(target=self.pass_on, args=(a, b), daemon=True).start()

    def pass_on(self, a, b):
        try:
            while data := a.recv(65536):
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            self.open.discard(s)
            s.close()

    def cut(self):
        while True:
            time.sleep(self.every or 0.05)
            if self.every:
                for s in list(self.open):
                    try:
                        s.shutdown(socket.SHUT_RDWR)
                    except OSError:
                        pass


def flaps(way, seconds=8):
    def disturb(_):
        way.every = 0.2
        time.sleep(seconds)
        way.every = None
    return disturb


def deleted(bus, *streams):
    def disturb(_):
        for stream in streams:
            asked(bus, f"$JS.API.STREAM.DELETE.{stream}")
        time.sleep(3)
    return disturb


def there(bus, stream):
    return lambda target: connected(target) and "error" not in asked(bus, f"$JS.API.STREAM.INFO.{stream}")


def without_jetstream(bus, seconds=6):
    def disturb(_):
        whole = bus.config.read_text()
        for text in ("".join(line for line in whole.splitlines(True) if not line.startswith("jetstream")), whole):
            bus.process.send_signal(signal.SIGKILL)
            bus.process.wait()
            bus.config.write_text(text)
            bus.start()
            time.sleep(seconds)
    return disturb


def too_slow(bus, seconds=3):
    """The gateway stands still while 60 MB come for it: the server lets go of it."""
    def disturb(target):
        os.kill(target.pid, signal.SIGSTOP)
        try:
            client = Client(bus.port)
            for _ in range(60):
                client.publish(f"{DOTTED}.active_sequences_events", b"x" * 1_000_000)
            time.sleep(seconds)
        finally:
            os.kill(target.pid, signal.SIGCONT)
    return disturb


def play(stage, suite):
    bus = Server(stage, "jetstream", 'max_pending: 2MB\nwrite_deadline: "1s"')
    way = Flapping(bus.port)
    flags = ("--event-plane", "nats", "--nats-discovery", "--router-replica-sync", "--nats-servers", f"nats://127.0.0.1:{way.port}")
    gateway = stage.gateway("jetstream-gateway", stage.engine(), *flags)
    cases = [
        Attack("a connection that is cut every 200 ms for 8 s", "chats go on, few warnings, connected again", borne(flaps(way))),
        Attack("the stream of events is deleted", "chats go on, it is there again", borne(deleted(bus, STREAM), there(bus, STREAM))),
        Attack("all streams and buckets are deleted", "chats go on, events are there again",
               borne(lambda t: deleted(bus, *asked(bus, "$JS.API.STREAM.NAMES")["streams"])(t), there(bus, STREAM))),
        Attack("the server comes back without JetStream, and then with it", "chats go on, events are there again", borne(without_jetstream(bus), there(bus, STREAM))),
        Attack("a gateway that stands still while 60 MB come", "connected again, memory in bounds", borne(too_slow(bus), chats=False)),
    ]
    suite.attacks(gateway, cases)
    stage.stop(gateway.process)
    for what, denied in RIGHTS:
        rights = Server(stage, f"rights-{what.replace(' ', '-')}", LIMITED.format(denied=json.dumps(denied)))

        def run(rights=rights):
            less = stage.gateway("less", stage.engine(), *flags[:-1], f"nats://127.0.0.1:{rights.port}", ready=False,
                                 environment={"WARMPATH_NATS_USER": "less", "WARMPATH_NATS_PASSWORD": "less"})
            stage.until_ready(less, "/live")
            until(lambda: wire.one(less, wire.chat("with fewer rights")).status == 200, 30, "no chat is answered")
            less.settle()
            with Meanwhile(less) as others:
                before = threads(less)
                time.sleep(6)
            expect(others.failed is None and others.worst < 2, f"{others.failed or others.worst}")
            said = warnings(less.log.read_text(errors="replace"))
            expect(len(said) <= MOST_WARNINGS, f"{len(said)} warnings: {said[-1:]}")
            expect(threads(less) <= before + 8, f"{threads(less)} threads, {before} before")
            less.well()
            stage.stop(less.process)
            return f"chats are answered, {len(said)} warnings" + (f", such as: {said[0][-120:]}" if said else "")
        suite.row(f"a user who may not {what}", "chats are answered, few warnings, no stack trace", run)
        stage.stop(rights.process)

    # Control: a process that says every failure.
    def loud(target):
        with open(target.log, "a") as log:
            log.write("2026-01-01 00:00:00,000 WARN  NATS: no\n" * 100)
    control = Naive()
    control.log = stage.file("loud.log", "")
    control.read, control.quiet, control.chat, control.resident = 0, lambda: None, lambda: 0.0, lambda: 0
    suite.controls(control, [Attack("a log with a line for each attempt", "", borne(loud, lambda t: True))])
    control.close()

"""A NATS server that somebody else may write to: garbage on every subject and in every bucket, wrong rights, a server that dies."""
import json
import os
import random
import signal
import socket
import struct
import threading
import time

import wire
from stage import ROOT, free_port
from suite import Attack, Broken, Skipped, expect, until

NAME = "NATS"
HOLDS = "garbage is stepped over, records make no worker that may be none; chats go on without the server, without rights, and before a server that is none"
SMOKE = False
PREFIX = "namespace-warmpath-component-backend"
DOTTED = "namespace.warmpath.component.backend"
SERVER = ROOT / ".tools" / "nats" / "nats-server"
RNG = random.Random(31)


class Client:
    """The protocol by hand: what is published is not looked at, and the server's errors are read at the end."""

    def __init__(self, port, **login):
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.reader = wire.Reader(self.sock)
        self.reader.until(b"\r\n")
        self.sock.sendall(b"CONNECT " + json.dumps({"verbose": False, "pedantic": False, "headers": True, **login}).encode() + b"\r\nPING\r\n")
        expect(self.reader.until(b"\r\n") == b"PONG", "the NATS server lets nobody in")

    def publish(self, subject, data, headers=b""):
        if headers:
            headers = b"NATS/1.0\r\n" + headers + b"\r\n"
            self.sock.sendall(b"HPUB %s %d %d\r\n%s%s\r\n" % (subject.encode(), len(headers), len(headers) + len(data), headers, data))
        else:
            self.sock.sendall(b"PUB %s %d\r\n%s\r\n" % (subject.encode(), len(data), data))

    def flush(self):
        self.sock.sendall(b"PING\r\n")
        while (line := self.reader.until(b"\r\n")) != b"PONG":
            expect(line is not None and not line.startswith(b"-ERR"), f"{line}")


class Server:
    def __init__(self, stage, name, more=""):
        if not os.access(SERVER, os.X_OK):
            raise Skipped("no nats-server in .tools/nats; ./warmpath test builds it")
        self.stage, self.name, self.port = stage, name, free_port()
        self.config = stage.file(f"{name}.conf", f'listen: "127.0.0.1:{self.port}"\njetstream {{ store_dir: "{stage.folder}/{name}" }}\n{more}\n')
        self.start()

    def start(self):
        self.process = self.stage.start(self.name, [str(SERVER), "-c", str(self.config)])

        def up():
            try:
                Client(self.port, **({"user": "all", "pass": "all"} if "users" in self.config.read_text() else {}))
                return True
            except (OSError, Broken):
                return False
        until(up, 20, "the NATS server does not start")


def worker_id(target):
    answer = wire.one(target, wire.request("GET", "/workers"))
    return f"{int(json.loads(answer.body)['data'][0]['id']):016x}"


def workers(target):
    return [w["url"] for w in json.loads(wire.one(target, wire.request("GET", "/workers")).body)["data"]]


def envelope(version=1, kind=0, process=7, first=1, before=0, count=1, body=b"\0\0\0\1\x90"):
    return b"WE" + bytes((version, kind)) + struct.pack(">QQQQ", process, first, before, 1_700_000_000_000)[:32] + struct.pack(">I", count) + body


def garbage():
    """Messages that are none: at random, and envelopes that lie."""
    yield b""
    yield b"W"
    yield b"WE" + b"\xff" * 38
    for version in (0, 2, 255):
        yield envelope(version=version)
    for kind in range(0, 256, 17):
        yield envelope(kind=kind)
    for count in (0, 2, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF):
        yield envelope(count=count)
        yield envelope(kind=1, count=count)
    for size in (0, 0x7FFFFFFF, 0xFFFFFFFF, 0x80000000):
        yield envelope(body=struct.pack(">I", size) + b"x")
    for first in (0, 2**63, 2**64 - 1):
        yield envelope(first=first)
    for deep in (b"\x91" * 100_000, b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff"):  # MessagePack that is deep, or lies of its size
        yield envelope(body=struct.pack(">I", len(deep)) + deep)
    for _ in range(2000):
        yield RNG.randbytes(RNG.randrange(200))
        yield envelope(process=RNG.getrandbits(64), first=RNG.getrandbits(20), body=RNG.randbytes(RNG.randrange(300)))


def thrown(bus, subject, messages):
    """These messages on a subject; the gateway goes on, and its worker with it."""
    def run(target):
        client = Client(bus.port)
        count = 0
        about = subject(target)
        for message in messages():
            client.publish(about, message)
            count += 1
        client.flush()
        time.sleep(0.5)
        expect(len(workers(target)) == 1, f"workers {workers(target)}")
        return f"{count} messages"
    return run


def large():
    for _ in range(100):
        yield RNG.randbytes(1_000_000)


def registered(bus, records):
    """Records of workers that may be none: none becomes a worker, and no engine on this machine is asked."""
    def run(target):
        client = Client(bus.port)
        before = workers(target)
        for i, record in enumerate(records):
            data = record if isinstance(record, bytes) else json.dumps(record).encode()
            client.publish(f"$KV.{PREFIX}-workers.worker.{i:016x}", data)
        for key in ("worker.x", "other", "worker.0000000000000001.2"):
            client.publish(f"$KV.{PREFIX}-workers.{key}", b"{}")
        client.flush()
        end = time.monotonic() + 2
        while time.monotonic() < end:
            expect(workers(target) == before, f"workers {workers(target)}")
            time.sleep(0.2)
        return f"{len(records)} records, workers as before"
    return run


def record(**worker):
    return {"version": 1, "lease_ms": 60000, "process": "9f2c51e07ab4d863", "worker": worker}


def records(lure):
    yield b"\xff" * 100
    yield b"[" * 100_000
    yield b"{}"
    yield {"version": 2, "lease_ms": 60000, "process": "9f2c51e07ab4d863", "worker": {"url": "http://10.0.0.1:1"}}
    for url in (lure.url, "http://localhost:1", "http://169.254.169.254/latest/meta-data", "http://[::1]:1", "http://[::ffff:169.254.169.254]:80", "http://0.0.0.0:1", "http://h:0", "file:///etc/passwd",
                "http://user:secret@10.0.0.1:1", "unix:///var/run/docker.sock", "http://10.0.0.1:99999", "http://a\r\nb:1", "http://2130706433:1", "gopher://10.0.0.1:1", "x" * 100_000):
        yield record(url=url)
    for lease in (-1, 0, 2**63, "x", 1e300):
        yield {**record(url="http://10.0.0.1:1"), "lease_ms": lease}
    yield record(url="http://10.0.0.1:1", labels={f"k{i}": "v" for i in range(20_000)})
    yield record(url="http://10.0.0.1:1", dp_size=2**31)


def dies(bus):
    """Killed in the middle of requests, and started again: chats are answered all the time."""
    def run(target):
        bus.process.send_signal(signal.SIGKILL)
        bus.process.wait()
        end, worst = time.monotonic() + 4, 0.0
        while time.monotonic() < end:
            worst = max(worst, target.chat())
        bus.start()
        until(lambda: b"warmpath_nats_connected 1" in wire.one(target, wire.request("GET", "/metrics")).body, 30, "not connected again within 30 s")
        expect(worst < 2, f"a chat took {worst:.1f} s")
        return f"chats took {worst:.2f} s at most, connected again"
    return run


def speaks_wild(stage, engine, hello, name):
    """A gateway whose NATS server is none."""
    def run():
        listener = socket.create_server(("127.0.0.1", 0))

        def serve():
            while True:
                try:
                    s, _ = listener.accept()
                    s.sendall(hello)
                    time.sleep(0.2)
                    s.close()
                except OSError:
                    return
        threading.Thread(target=serve, daemon=True).start()
        try:
            gateway = stage.gateway(f"nats-{name}", engine, "--event-plane", "nats", "--nats-servers", f"nats://127.0.0.1:{listener.getsockname()[1]}", ready=False)
            stage.until_ready(gateway, "/live")
            until(lambda: wire.one(gateway, wire.chat("without a bus")).status == 200, 20, "no chat is answered")
            gateway.well()
            stage.stop(gateway.process)
        finally:
            listener.close()
        return "chats are answered"
    return run


RIGHTS = """authorization { users = [
  { user: all, password: all }
  { user: none, password: none, permissions: { publish: { deny: ">" }, subscribe: { deny: ">" } } }
] }"""


def play(stage, suite):
    bus = Server(stage, "nats")
    lure = stage.engine()
    flags = ("--event-plane", "nats", "--nats-discovery", "--nats-servers", f"nats://127.0.0.1:{bus.port}")
    gateway = stage.gateway("nats-gateway", stage.engine(), *flags)
    suite.attacks(gateway, [
        Attack("garbage as events", "stepped over", thrown(bus, lambda t: f"{PREFIX}-kv-events.{worker_id(t)}.0", garbage)),
        Attack("garbage as events of ranks and workers that are none", "stepped over", thrown(bus, lambda t: f"{PREFIX}-kv-events.x.4294967296", garbage)),
        Attack("100 messages of 1 MB as events", "memory in bounds", thrown(bus, lambda t: f"{PREFIX}-kv-events.{worker_id(t)}.0", large)),
        Attack("garbage as signs of life", "stepped over", thrown(bus, lambda t: f"{DOTTED}.kv-relay.{worker_id(t)}.0", garbage)),
        Attack("garbage as news of other gateways", "stepped over", thrown(bus, lambda t: f"{DOTTED}.active_sequences_events", garbage)),
        Attack("100 messages of 1 MB as news of other gateways", "memory in bounds", thrown(bus, lambda t: f"{DOTTED}.active_sequences_events", large)),
        Attack("garbage as answers to questions", "stepped over", thrown(bus, lambda t: f"{DOTTED}.kv-replay.{worker_id(t)}.0", garbage)),
        Attack("records of workers that may be none", "no worker, no request to it", registered(bus, list(records(lure)))),
        Attack("the server is killed and comes back", "chats are answered all the time", dies(bus)),
    ])

    def asked_lure():
        expect(not lure.calls, f"{len(lure.calls)} requests")
        return "never asked"
    suite.row("the engine on loopback that a record named", "is never asked", asked_lure)
    # Control: where the operator allows loopback, the same record makes a worker, so that the rows above mean something.
    allowed = stage.gateway("nats-allowed", stage.engine(), *flags, "--namespace", "allowed", environment={"WARMPATH_ADDRESSES_ALLOWED": "127.0.0.0/8"})
    suite.controls(allowed, [Attack("a record that is allowed", "", becomes_a_worker(bus, lure))])
    stage.stop(allowed.process)
    stage.stop(gateway.process)
    rights = Server(stage, "rights", RIGHTS)
    for user in ("none", "nobody"):
        def run(user=user):
            less = stage.gateway(f"nats-{user}", stage.engine(), "--event-plane", "nats", "--nats-discovery", "--nats-servers", f"nats://127.0.0.1:{rights.port}", ready=False,
                                 environment={"WARMPATH_NATS_USER": user, "WARMPATH_NATS_PASSWORD": user})
            stage.until_ready(less, "/live")
            until(lambda: wire.one(less, wire.chat("without rights")).status == 200, 20, "no chat is answered")
            time.sleep(1)
            less.well()
            stage.stop(less.process)
            return "chats are answered"
        suite.row(f"a user with {'no rights' if user == 'none' else 'a wrong password'}", "chats are answered, no stack trace", run)
    for name, hello in (("silence", b""), ("noise", b"\xff" * 1000), ("deep", b"INFO " + b"[" * 100_000 + b"\r\n")):
        suite.row(f"a server that is none: {name}", "chats are answered, no stack trace", speaks_wild(stage, stage.engine(), hello, name))


def becomes_a_worker(bus, lure):
    def run(target):
        before = workers(target)
        client = Client(bus.port)
        client.publish("$KV.namespace-allowed-component-backend-workers.worker.00000000000000aa", json.dumps(record(url=lure.url)).encode())
        client.flush()
        end = time.monotonic() + 10
        while time.monotonic() < end:
            if workers(target) != before:
                raise Broken(f"{len(workers(target))} workers")
            time.sleep(0.1)
        return "no worker"
    return run

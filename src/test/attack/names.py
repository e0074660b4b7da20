"""A worker's name that leads elsewhere after it has been judged (DNS rebinding): what is connected to is what was judged."""
import os
import random
import shutil
import socket
import struct
import subprocess
import threading
import time

import wire
from engine import Engine
from suite import Attack, Broken, Skipped, expect, until

NAME = "names of workers"
HOLDS = "a name that comes to lead to loopback, metadata or 0.0.0.0 is not connected to"
SMOKE = False
WORKER = "w1.engines.example"


class Names:
    """A name server on loopback that says one address for every name, for no time at all."""

    def __init__(self, address):
        self.address = address
        self.asked = 0
        self.rng = random.Random(31)
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.bind(("127.0.0.1", 53))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                data, sender = self.sock.recvfrom(4096)
            except OSError:
                return
            end = 12
            while data[end]:
                end += data[end] + 1
            kind = struct.unpack(">H", data[end + 1:end + 3])[0]
            self.asked += kind == 1
            address = self.rng.choice(self.address.split(","))
            answer = b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + socket.inet_aton(address) if kind == 1 else b""
            self.sock.sendto(data[:2] + b"\x81\x80\0\1" + struct.pack(">H", 1 if answer else 0) + b"\0\0\0\0" + data[12:end + 5] + answer, sender)


class Everywhere(Engine):
    """An engine on all addresses of this machine, which remembers by which it was asked."""

    def __init__(self):
        super().__init__()
        self.listener.close()
        self.listener = socket.create_server(("0.0.0.0", 0), backlog=1024)
        self.port = self.listener.getsockname()[1]
        self.by = []
        threading.Thread(target=self.accept, daemon=True).start()

    def reply(self, call, s):
        """Each answer is its connection's last, so that the name is looked up for every request."""
        super().reply(call, s)
        if call.method == "POST":
            s.shutdown(socket.SHUT_RDWR)

    def serve(self, s):
        self.by.append(s.getsockname()[0])
        super().serve(s)


def own_address():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.connect(("192.0.2.1", 9))  # sends nothing
        return s.getsockname()[0]


def prepare(stage):
    """A name server, and how to start a process that asks it."""
    if os.getuid() != 0 or not shutil.which("unshare"):
        raise Skipped("only root can give a process a name server of its own")
    resolv = stage.file("resolv.conf", "nameserver 127.0.0.1\n")
    resolv.chmod(0o644)
    hosts = stage.file("hosts", "127.0.0.1 localhost\n")
    own = ["unshare", "--mount", "sh", "-c", f'mount --bind {resolv} /etc/resolv.conf && mount --bind {hosts} /etc/hosts && exec "$@"', "sh"]
    if subprocess.run([*own, "true"], capture_output=True).returncode != 0:
        raise Skipped("this machine lets nobody mount a file for one process")
    try:
        names = Names(own_address())
    except OSError as e:
        raise Skipped(f"no name server can listen on port 53: {e}") from None
    if names.address.startswith("127."):
        raise Skipped("this machine has no address but loopback")
    return names, own


def refusals(target):
    text = wire.one(target, wire.request("GET", "/metrics")).body.decode()
    return sum(float(line.split()[-1]) for line in text.split("\n") if line.startswith("warmpath_addresses_refused_total") and 'at="connect"' in line)


def rebinds(names, engine, to):
    """The name has led to this machine's own address, and now leads to `to`: nothing connects there by it."""
    def run(target):
        names.address = own_address()
        until(lambda: wire.one(target, wire.chat("by name")).status == 200, 40, "the worker is not reached by its name")
        before = refusals(target)
        names.address = to
        time.sleep(5)  # longer than connections are kept
        began, end = len(engine.by), time.monotonic() + 12
        while time.monotonic() < end and refusals(target) <= before:
            try:
                wire.one(target, wire.chat("after the change"), 10)
            except OSError:
                pass
            time.sleep(0.2)
        led = [address for address in engine.by[began:] if address == "127.0.0.1"]
        expect(not led, f"{len(led)} connections to 127.0.0.1")
        expect(refusals(target) > before, f"nothing was refused, {names.asked} questions")
        names.address = own_address()
        until(lambda: wire.one(target, wire.chat("back")).status == 200, 60, "the worker does not come back when its name does")
        return f"{refusals(target) - before:.0f} connections refused, none made"
    return run


def play(stage, suite):
    try:
        names, own = prepare(stage)
    except Skipped as e:
        suite.row("a name that changes its address", "no connection", lambda e=e: (_ for _ in ()).throw(e))
        return
    usual = stage.command
    try:
        stage.command = [*own, *usual]
        for allowed, verdict in (("*.engines.example", True), ("*.engines.example,127.0.0.0/8", False)):
            engine = Everywhere()
            stage.engines.append(engine)
            anchor = stage.engine()
            anchor.models[:] = ["anchor"]
            gateway = stage.gateway("names", anchor, environment={"WARMPATH_ADDRESSES_ALLOWED": allowed}, ready=False)
            stage.until_ready(gateway)
            body = b'{"url":"http://%s:%d","name":"named"}' % (WORKER.encode(), engine.port)
            answer = wire.one(gateway, wire.request("POST", "/workers", body, ("Content-Type: application/json",)))
            if answer.status != 202:
                raise Broken(f"POST /workers: {answer}")
            until(lambda: wire.one(gateway, wire.chat("first")).status == 200, 40, "the worker is not reached by its name")
            if verdict:
                suite.attacks(gateway, [
                    Attack("a name that changes to 127.0.0.1", "no connection", rebinds(names, engine, "127.0.0.1")),
                    Attack("to a cloud's metadata service", "no connection", rebinds(names, engine, "169.254.169.254")),
                    Attack("to 0.0.0.0", "no connection", rebinds(names, engine, "0.0.0.0")),
                    Attack("to and fro between two addresses", "no connection to the second", rebinds(names, engine, f"{own_address()},127.0.0.1")),
                ])
            else:
                suite.controls(gateway, [Attack("where loopback is allowed", "", rebinds(names, engine, "127.0.0.1"))])
            stage.stop(gateway.process)
            names.address = own_address()
    finally:
        stage.command = usual
        names.sock.close()

"""Connections and streams until files run out (`ulimit -n`): nothing but 200 and 503, nobody is blamed, and it passes."""
import json
import socket
import threading
import time

import wire
from slow import streaming
from stage import free_port
from suite import Attack, Broken, expect, until

NAME = "open files"
HOLDS = "at `ulimit -n` 256 and 1024 all is 200, 503 or closed, and workers stay ready"
SMOKE = False


def workers(target):
    answer = wire.one(target, wire.request("GET", "/workers"))
    expect(answer is not None and answer.status == 200, f"/workers: {answer}")
    return [w["state"] for w in json.loads(answer.body)["data"]]


def served(target, tries):
    """How long a chat took. Where a handful of connections is all there is, one that has not asked yet may lose its place to a newer one: it tries again."""
    for left in reversed(range(tries)):
        try:
            return target.chat()
        except Broken:
            if left == 0:
                raise
    return None


def idle(count, tries=1):
    """Connections that say nothing: those who ask something are served all the same, and afterwards the descriptors are back."""
    def run(target):
        held = []
        worst = 0.0
        try:
            for i in range(count):
                s = socket.socket()
                s.settimeout(target.patience / 5)
                try:
                    s.connect((target.host, target.port))
                except OSError:
                    pass
                held.append(s)
                if i % 50 == 49:
                    worst = max(worst, served(target, tries))
            for _ in range(10):
                worst = max(worst, served(target, tries))
            expect(workers(target) == ["ready"], f"{workers(target)}")
        finally:
            for s in held:
                s.close()
        return f"{count} held, a chat took {worst:.2f} s at most"
    return run


def streams(count):
    """So many streams at once: each comes whole or is refused with 503 and Retry-After, or its connection is closed; the worker stays ready."""
    def run(target):
        target.engine.answer = streaming(30, 0.05)
        seen, lock = {}, threading.Lock()

        def ask():
            try:
                with wire.connect(target, 30) as s:
                    s.sendall(wire.chat("many", stream=True))
                    answer = wire.Reader(s).answer()
                what = "closed" if answer is None else answer.status
                if what == 200 and b"[DONE]" not in answer.body:
                    what = "cut"
                if what == 503 and answer.header("retry-after") is None:
                    what = "503 without Retry-After"
            except OSError:
                what = "closed"
            with lock:
                seen[what] = seen.get(what, 0) + 1
        threads = [threading.Thread(target=ask) for _ in range(count)]
        try:
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        finally:
            target.engine.answer = None
        got = ", ".join(f"{n} x {what}" for what, n in sorted(seen.items(), key=str))
        expect(set(seen) <= {200, 503, "closed"} and seen.get(200, 0) > 5, got)
        until(lambda: workers(target) == ["ready"], 5, lambda: f"{got}, afterwards the worker is {workers(target)}")
        return got
    return run


def too_few(stage):
    """A process that cannot work says so in a line and ends."""
    def run():
        process = stage.start("files-200", [*stage.command, "--http-host", "127.0.0.1", "--http-port", str(free_port()), "--worker", "http://127.0.0.1:9"], files=200)
        code = process.wait(60)
        said = process.log.read_text(errors="replace")
        expect(code == 1 and "ulimit -n" in said and "\tat " not in said, f"{code}: {said[-300:]}")
        return said.strip().split("\n")[-1]
    return run


def play(stage, suite):
    suite.row("a limit of 200", "one line, status 1", too_few(stage))
    small = stage.gateway("files-256", stage.engine(), files=256)
    suite.attacks(small, [Attack("a limit of 256, 400 idle connections", "others are served", idle(400, tries=3)), Attack("a limit of 256, 200 streams", "200, 503 or closed", streams(200))])
    stage.stop(small.process)
    middle = stage.gateway("files-1024", stage.engine(), files=1024)
    suite.attacks(middle, [Attack("a limit of 1024, 2,000 idle connections", "others are served", idle(2000)), Attack("a limit of 1024, 505 streams", "200, 503 or closed", streams(505))])
    stage.stop(middle.process)
    bound = stage.gateway("files-1024-bound", stage.engine(), files=1024, environment={"WARMPATH_HTTP_CLIENTS_MAX_CONNECTIONS": "2000"})
    suite.attacks(bound, [Attack("a limit of 1024 and a bound above it, 505 streams", "200, 503 or closed", streams(505)),
                          Attack("the same, 1,200 idle connections", "others are served", idle(1200))])
    suite.controls(Unwell(), [Attack("idle connections on a server that takes no more", "", idle(50))])


class Unwell:
    """A listener that accepts nobody."""

    patience = 0.5

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=5)
        self.host, self.port = self.listener.getsockname()
        self.tls = None

    def chat(self):
        began = time.monotonic()
        try:
            wire.one(self, wire.chat(), 1)
        except OSError as e:
            raise Broken(f"a chat fails: {e!r}") from None
        return time.monotonic() - began

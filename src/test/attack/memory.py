"""What an attack leaves in memory: once its load has ended, the process is soon as small as before it."""
import concurrent.futures
import time

import bombs
import wire
from suite import Attack, until

NAME = "memory given back"
HOLDS = "what a burst leaves is given back within a minute once nobody asks: at most a quarter more than before stays"
SMOKE = False
# Of what was resident after ordinary load, which the gateway has given back, too.
MARGIN = 1.25
WITHIN = 60


def ordinary(target, seconds=8):
    """Chats as fast as eight clients ask them."""
    end = time.monotonic() + seconds

    def ask(_):
        while time.monotonic() < end:
            target.chat()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(8)))


def wide(target):
    """A million messages in a body, of eight clients at once."""
    body = b'{"model":"demo","messages":[' + b",".join([b'{"role":"user","content":"a"}'] * 10**6) + b"]}"
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: wire.one(target, wire.request("POST", "/v1/chat/completions", body, ("Content-Type: application/json",)), 60), range(16)))


def unread(target):
    """Answers of 4 MB that nobody reads, on 30 connections."""
    sockets = []
    for _ in range(30):
        s = wire.connect(target)
        s.sendall(wire.chat(f"large:{4 << 20}"))
        sockets.append(s)
    time.sleep(3)
    for s in sockets:
        s.close()


def rejected(target):
    """2,000 connections that are open at once, each with half a request."""
    sockets = []
    for _ in range(2000):
        s = wire.connect(target)
        s.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n" + b" " * 20_000)
        sockets.append(s)
    for s in sockets:
        s.close()


def given_back(abuse, seconds=WITHIN):
    """`abuse(target)` is the load; resident memory is back within the margin in time."""
    def run(target):
        before = target.rest
        abuse(target)
        after, began = target.resident(), time.monotonic()
        until(lambda: target.resident() <= before * MARGIN, seconds, lambda: f"{before} MiB before, {after} at its end, {target.resident()} after {seconds} s")
        return f"{before} MiB before, {after} at its end, {target.resident()} after {time.monotonic() - began:.0f} s"
    return run


def at_rest(target, seconds=WITHIN):
    """What is resident after ordinary load, when it has not become less for 15 s."""
    least, since, end = target.resident(), time.monotonic(), time.monotonic() + seconds
    while time.monotonic() < min(end, since + 15):
        now = target.resident()
        if now < least - 1:
            least, since = now, time.monotonic()
        time.sleep(0.2)
    return least


def play(stage, suite):
    gateway = stage.gateway("memory", stage.engine(), memory=2048)
    ordinary(gateway)
    gateway.rest = at_rest(gateway)
    suite.attacks(gateway, [
        Attack("24 bodies of 30 MiB", f"within {MARGIN} of what it was, in {WITHIN} s", given_back(bombs.together(24, 30 << 20))),
        Attack("16 bodies of a million messages", "the same", given_back(wide)),
        Attack("30 answers of 4 MB that nobody reads", "the same", given_back(unread)),
        Attack("2,000 connections, each with half a request", "the same", given_back(rejected)),
    ])
    # Control: the same gateway where garbage is not looked for, as its collector alone would have it.
    kept = stage.gateway("memory-kept", stage.engine(), java="-XX:+DisableExplicitGC", memory=2048)
    ordinary(kept)
    kept.rest = at_rest(kept, 16)
    suite.controls(kept, [Attack("24 bodies of 30 MiB", "", given_back(bombs.together(24, 30 << 20)))])

"""A clock that jumps by a day while the gateway runs, either way: nothing lasts longer or ends sooner for it."""
import datetime
import hashlib
import shutil
import subprocess
import time

import wire
from jetstream import Meanwhile, warnings
from naive import Naive
from stage import ROOT
from suite import Attack, Skipped, expect, until

NAME = "a clock that jumps"
HOLDS = "the machine's clock a day ahead or back: chats, workers, limits, keys and pins go on as before"
SMOKE = False
DAY = 86_400
LIMITED = "sk-" + "c" * 60
PER_MINUTE = 4
MOST_WARNINGS = 4


def shim(stage):
    """The library that shifts one process' wall clock."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        raise Skipped("no C compiler")
    library = stage.folder / "clock_shift.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(ROOT / "src/test/c/clock_shift.c"), "-ldl"], check=True)
    return library


def limited(target):
    """The statuses of chats with the key of a few requests a minute, until it is refused."""
    got = []
    for _ in range(PER_MINUTE + 3):
        got.append(wire.one(target, wire.chat("limited", ("Authorization: Bearer " + LIMITED,))).status)
    return got


def shown(target):
    """The clock that the gateway has: the date of a decision, else of an answer."""
    return wire.one(target, wire.request("GET", "/ready")).status


def jumps(shift_file, seconds):
    """The limit is used up, the clock jumps: the limit goes on as it was, chats are answered, workers stay, the log is quiet."""
    def run(target):
        target.quiet()
        until(lambda: limited(target)[0] == 200, 70, "the limit does not come back within a minute")
        expect(429 in limited(target), "the limit is not used up")
        used = time.monotonic()
        shift_file.write_text(str(seconds))
        with Meanwhile(target) as others:
            after = limited(target)
            # As many as flow in at a constant pace, and no more.
            free = after.count(200)
            expect(free <= 2, f"{free} of {len(after)} are free after the jump")
            until(lambda: 200 in limited(target), 45, lambda: f"locked out {time.monotonic() - used:.0f} s after")
            back = time.monotonic() - used
            expect(shown(target) == 200, "not ready")
            time.sleep(8)
            expect(shown(target) == 200, "not ready")
        expect(others.failed is None and others.worst < 2, f"{others.failed or others.worst}")
        text = target.log.read_text(errors="replace")[target.read:]
        said = warnings(text)
        expect(len(said) <= MOST_WARNINGS, f"{len(said)} warnings: {said[-1:]}")
        return f"chats took {others.worst:.2f} s at most, the limit was back after {back:.0f} s, {len(said)} warnings"
    return run


def seen(target, shift_file):
    """The shift reaches the process: a key that ends in an hour has ended a day later, and not before."""
    ask = lambda: wire.one(target, wire.chat("ends", ("Authorization: Bearer sk-" + "e" * 60,))).status  # noqa: E731
    shift_file.write_text("0")
    expect(ask() == 200, "the key is refused before its end")
    shift_file.write_text(str(DAY))
    expect(ask() == 401, "the key is taken after its end: the clock is not shifted")
    shift_file.write_text("0")
    expect(ask() == 200, "the key is refused again")
    return "a key that ends in an hour: 200, a day later 401"


def keys():
    hashed = lambda key: hashlib.sha256(key.encode()).hexdigest()  # noqa: E731
    ends = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return (f"keys:\n  - name: limited\n    sha256: {hashed(LIMITED)}\n    requests-per-minute: {PER_MINUTE}\n"
            f"  - name: ends\n    sha256: {hashed('sk-' + 'e' * 60)}\n    expires: {ends}\n  - name: others\n    sha256: {hashed('sk-' + 'o' * 60)}\n")


class ByTheClock(Naive):
    """Its limit is a bucket that fills by the wall clock."""

    def __init__(self, shift_file):
        super().__init__()
        self.shift_file, self.left, self.then = shift_file, PER_MINUTE, time.time()

    def answer(self, call, s):
        if LIMITED in call.head:
            now = time.time() + int(self.shift_file.read_text())
            self.left, self.then = min(PER_MINUTE, self.left + (now - self.then) * PER_MINUTE / 60), now
            if self.left < 1:
                s.sendall(b"HTTP/1.1 429 X\r\nContent-Length: 0\r\n\r\n")
                return
            self.left -= 1
        super().answer(call, s)


def play(stage, suite):
    shift_file = stage.file("clock-shift", "0")
    try:
        library = shim(stage)
    except Skipped as e:
        suite.row("a clock that jumps", "nothing lasts longer", lambda e=e: (_ for _ in ()).throw(e))
        return
    gateway = stage.gateway("clock", stage.engine(), "--api-key-file", str(stage.file("clock-keys.yaml", keys())), "--enable-cache-control",
                            headers=("Authorization: Bearer sk-" + "o" * 60,), environment={"LD_PRELOAD": str(library), "CLOCK_SHIFT_FILE": str(shift_file)})
    suite.attacks(gateway, [
        Attack("control of the shift: a key that ends in an hour", "200, a day later 401", lambda t: seen(t, shift_file)),
        Attack("a day ahead", "limits, workers and chats as before", jumps(shift_file, DAY)),
        Attack("and back", "limits, workers and chats as before", jumps(shift_file, 0)),
        Attack("a day back", "limits, workers and chats as before", jumps(shift_file, -DAY)),
        Attack("to and fro, ten times a second", "limits, workers and chats as before", to_and_fro(shift_file)),
    ])
    for shift in (DAY, -DAY):
        naive = ByTheClock(shift_file)
        shift_file.write_text("0")
        naive.log = stage.file("naive-clock.log", "")
        naive.read, naive.quiet, naive.chat = 0, lambda: None, lambda: 0.0
        suite.controls(naive, [Attack(f"a limit by the wall clock, {'ahead' if shift > 0 else 'back'}", "", jumps(shift_file, shift))])
        naive.close()


def to_and_fro(shift_file):
    def run(target):
        with Meanwhile(target) as others:
            for i in range(60):
                shift_file.write_text(str((i % 3 - 1) * DAY))
                time.sleep(0.1)
            shift_file.write_text("0")
        expect(others.failed is None and others.worst < 2, f"{others.failed or others.worst}")
        expect(shown(target) == 200, "not ready")
        said = warnings(target.log.read_text(errors="replace")[target.read:])
        expect(len(said) <= MOST_WARNINGS, f"{len(said)} warnings: {said[-1:]}")
        return f"chats took {others.worst:.2f} s at most, {len(said)} warnings"
    return run

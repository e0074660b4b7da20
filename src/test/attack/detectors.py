"""Whether the look at a process after each attack would see anything: a process that leaks, grows, stalls, ends or writes a stack trace."""
import sys

import wire
from naive import __file__ as naive_file
from stage import free_port
from suite import Attack, until
from watch import Watched

NAME = "detectors"
HOLDS = "a process that leaks, grows, stalls, ends or writes a stack trace is noticed"


def goes_wrong(path):
    """Healthy after nothing, and not after this."""
    def run(target):
        target.settle()
        target.well()
        if path == "/die":
            target.process.kill()
            target.process.wait()
        else:
            wire.one(target, wire.request("POST", path))
        target.well()
        return "well"
    return run


def play(stage, suite):
    for path, what in (("/leak", "100 descriptors"), ("/grow", "200 MiB"), ("/trace", "a stack trace in the log"), ("/stall", "no answer any more"),
                       ("/die", "the process has ended")):
        port = free_port()
        process = stage.start("naive", [sys.executable, "-B", naive_file, str(port)])
        target = Watched(process.pid, port, process.log, memory=150, answer_in=1, returned_in=1)
        target.process = process
        until(lambda: b"listening" in target.log.read_bytes(), 10, "the naive server does not start")
        suite.controls(target, [Attack(what, "", goes_wrong(path), path in ("/leak", "/trace"))])

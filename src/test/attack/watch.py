"""Whether a process is well: it answers a chat in time, its memory and descriptors are in bounds, its log knows of no bug."""
import os
import pathlib
import re
import time

import wire
from suite import Broken, expect, until

# Lines that a program writes about itself when it has met what it did not expect.
TROUBLE = re.compile(r"bug in the gateway|^\s+at [\w.$/]+\(|LEAK:|OutOfMemoryError|StackOverflowError|Exception in thread|Unhandled exception", re.MULTILINE)


RECORD = re.compile(r"^(?=(?:\[Error Occurred After Shutdown\] )?\d{4}-\d\d-\d\d )", re.MULTILINE)
# MiB: the launcher's heap of 1 GiB, and half as much for code, stacks and buffers outside of it.
MEMORY = 1536


class Watched:
    """A server under attack; for `patience` seconds an attack waits for what should come at once. Memory in MiB; `spare` descriptors above those of the beginning are no leak, engines' connections are kept."""

    patience = 5

    def __init__(self, pid, port, log, memory=MEMORY, spare=24, answer_in=5.0, returned_in=20, headers=(), tls=None, host="127.0.0.1", engine=None):
        self.pid, self.port, self.host, self.tls, self.log = pid, port, host, tls, pathlib.Path(log)
        self.memory, self.spare, self.engine = memory, spare, engine
        self.answer_in, self.returned_in, self.headers = answer_in, returned_in, tuple(headers)
        self.read = 0
        self.base = None

    def settle(self):
        """Takes what is open now for what is open at rest."""
        for _ in range(4):
            self.chat()
        self.base = self.descriptors()

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def resident(self):
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) // 1024
        raise Broken("the process has ended")

    def chat(self):
        began = time.monotonic()
        try:
            answer = wire.one(self, wire.chat("are you well", self.headers), self.answer_in)
        except OSError as e:
            raise Broken(f"afterwards a chat fails: {e!r}") from None
        expect(answer is not None and answer.status == 200, f"afterwards a chat gets {answer and (answer.status, answer.body[:200])}")
        return time.monotonic() - began

    def news(self):
        """What the log has got since the last look."""
        with open(self.log, "rb") as log:
            log.seek(self.read)
            text = log.read()
        self.read += len(text)
        return text.decode(errors="replace")

    def quiet(self, but=None):
        """No trouble in the log since the last look, besides records with the text `but`."""
        text = self.news()
        if but:
            text = "".join(record for record in RECORD.split(text) if but not in record)
        found = TROUBLE.search(text)
        expect(not found, "in its log: " + text[max(0, found.start() - 200):found.end() + 300] if found else "")

    def well(self):
        if self.base is None:
            self.settle()
        expect(os.path.exists(f"/proc/{self.pid}/fd"), "the process has ended")
        self.chat()
        expect(self.resident() <= self.memory, f"{self.resident()} MiB resident, at most {self.memory} are allowed")
        until(lambda: self.descriptors() <= self.base + self.spare, self.returned_in, lambda: f"{self.descriptors()} descriptors, {self.base} before")
        self.quiet()

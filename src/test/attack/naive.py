"""A server without any defence, for the controls: it takes what it gets, in the way that costs it most.

Run as a program it is a process that can be told to go wrong: `naive.py PORT`, POST /leak, /grow, /trace, /stall.
"""
import gzip
import json
import os
import socket
import sys
import threading
import time

import wire
from engine import Call, said, send


class Recorded:
    """What a real gateway's engine would have got."""

    def __init__(self):
        self.calls = []

    def asked(self):
        return self.calls


class Naive:
    """Lines may end in LF alone, codings other than `chunked` are no body, the first length counts, nothing is too long or too slow,
    paths and fields go on as they came, `/workers` answers everybody, packed bodies are unpacked."""

    patience = 0.5  # it never closes: who waits for that knows soon

    def __init__(self, tls=None, port=0):
        self.tls = tls
        self.engine = Recorded()
        self.listener = socket.create_server(("127.0.0.1", port), backlog=1024)
        self.host, self.port = self.listener.getsockname()
        self.pid = os.getpid()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(s,), daemon=True).start()

    def serve(self, s):
        reader = wire.Reader(s)
        try:
            while self.request(reader, s):
                pass
        except (OSError, ValueError, IndexError):
            pass
        finally:
            s.close()

    def request(self, reader, s):
        lines = []
        while True:
            line = reader.until(b"\n")
            if line is None:
                return False
            line = line.rstrip(b"\r")
            if not line:
                if lines:
                    break
                continue
            lines.append(line)
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(b":")
            headers.setdefault(name.strip().lower(), value.strip())
        if headers.get(b"transfer-encoding", b"").lower() == b"chunked":
            body = reader.chunks()
        else:
            body = reader.exactly(int(headers.get(b"content-length", b"0") or 0))
        if headers.get(b"content-encoding") == b"gzip":
            body = gzip.decompress(body)
        call = Call(b"\r\n".join(lines), body)
        self.engine.calls.append(call)
        self.answer(call, s)
        return True

    def answer(self, call, s):
        send(s, 200, {"choices": [{"message": {"content": said(call.body)}}]})

    def well(self):
        pass

    def close(self):
        self.listener.close()


class Broken(Naive):
    """Each POST to one of these names makes the process worse."""

    kept = []

    def answer(self, call, s):
        if call.path == "/leak":
            self.kept += [open(os.devnull, "rb") for _ in range(100)]
        elif call.path == "/grow":
            self.kept.append(b"x" * (200 << 20))
        elif call.path == "/trace":
            print("request 7 was failed by a bug in the gateway\njava.lang.IllegalStateException\n\tat io.warmpath.X.y(X.java:1)", flush=True)
        elif call.path == "/stall":
            self.kept.append("stalled")
        elif "stalled" in self.kept:
            time.sleep(60)
        super().answer(call, s)


if __name__ == "__main__":
    Broken(port=int(sys.argv[1]))
    print(json.dumps({"listening": int(sys.argv[1])}), flush=True)
    threading.Event().wait()

"""HTTP/2 by its frames (RFC 9113), with header blocks that are literals only (RFC 7541 without Huffman and without a table)."""
import socket
import struct

import wire

DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS, PADDED, PRIORITISED = 1, 1, 4, 8, 32
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
STATUS = {0x88: 200, 0x89: 204, 0x8A: 206, 0x8B: 304, 0x8C: 400, 0x8D: 404, 0x8E: 500}


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def number(value, bits, first=0):
    limit = (1 << bits) - 1
    if value < limit:
        return bytes((first | value,))
    out, value = bytearray((first | limit,)), value - limit
    while value >= 128:
        out.append(value % 128 + 128)
        value //= 128
    out.append(value)
    return bytes(out)


def text(value):
    data = value if isinstance(value, bytes) else value.encode("latin-1")
    return number(len(data), 7) + data


def block(headers):
    """A header block: each a literal that is not indexed, its name new."""
    return b"".join(b"\0" + text(name) + text(value) for name, value in headers)


def asking(path="/v1/chat/completions", method="POST", more=(), authority="localhost"):
    return [(":method", method), (":scheme", "https"), (":path", path), (":authority", authority), ("content-type", "application/json"), *more]


def settings(*pairs):
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", *pair) for pair in pairs))


def window(stream, size):
    return frame(WINDOW, 0, stream, struct.pack(">I", size))


def status_of(payload, flags):
    """Of an answer's header block. Ours has no table of its own for answers, so what is not in the static one is a literal."""
    at = (1 if flags & PADDED else 0) + (5 if flags & PRIORITISED else 0)
    while 0x20 <= payload[at] < 0x40:  # a change of the table's size
        at += 1
    if payload[at] in STATUS:
        return STATUS[payload[at]]
    length = payload[at + 1] & 0x7F
    value = payload[at + 2:at + 2 + length]
    if not payload[at + 1] & 0x80:
        return int(value)
    bits, digits = "".join(f"{b:08b}" for b in value), ""
    while len(digits) < 3:  # Huffman: 0 to 2 have five bits, 3 to 9 six
        size, low, base = (5, 0, 0) if bits[:5] in ("00000", "00001", "00010") else (6, 25, 3)
        digits += str(int(bits[:size], 2) - low + base)
        bits = bits[size:]
    return int(digits)


class Connection:
    """A client's side. `ours`: settings as pairs; the answers' table has no room in any case. `gone`: the last stream that GOAWAY promises to answer."""

    def __init__(self, target, ours=(), preface=PREFACE, seconds=10, sock=None):
        self.sock = sock or wire.connect(target, seconds)
        self.data = b""
        self.gone = None
        self.next = 1
        self.send(preface, settings((1, 0), *ours))

    def send(self, *parts):
        self.sock.sendall(b"".join(parts))

    def ask(self, headers, body=b"", end=True):
        stream, self.next = self.next, self.next + 2
        self.send(frame(HEADERS, END_HEADERS | (0 if body or not end else END_STREAM), stream, block(headers)))
        if body:
            self.send(frame(DATA, END_STREAM if end else 0, stream, body))
        return stream

    def frame(self):
        """The next frame as (kind, flags, stream, payload); None at the end. Settings and pings are answered."""
        while len(self.data) < 9 or len(self.data) < 9 + int.from_bytes(self.data[:3]):
            try:
                part = self.sock.recv(65536)
            except ConnectionError:
                part = b""
            if not part:
                return None
            self.data += part
        size = int.from_bytes(self.data[:3])
        kind, flags = self.data[3], self.data[4]
        stream = int.from_bytes(self.data[5:9]) & 0x7FFFFFFF
        payload, self.data = self.data[9:9 + size], self.data[9 + size:]
        if kind == GOAWAY:
            self.gone = int.from_bytes(payload[:4]) & 0x7FFFFFFF
        return kind, flags, stream, payload

    def outcome(self, stream, seconds=5):
        """What comes of a stream, or, for None, of the connection: ("status", N, body), ("RST", code), ("GOAWAY", code), ("closed",), or ("silence",)."""
        self.sock.settimeout(seconds)
        status, body = None, b""
        try:
            while (found := self.frame()) is not None:
                kind, flags, about, payload = found
                if kind == GOAWAY and int.from_bytes(payload[4:8]) != 0:
                    return "GOAWAY", int.from_bytes(payload[4:8])
                if kind == RST and about == stream:
                    return ("status", status, body) if status else ("RST", int.from_bytes(payload[:4]))
                if kind == HEADERS and about == stream and status is None:
                    status = status_of(payload, flags)
                if kind == DATA and payload:
                    self.send(window(0, len(payload)), *([window(about, len(payload))] if not flags & END_STREAM else []))
                    body += payload if about == stream else b""
                if kind in (HEADERS, DATA) and about == stream and flags & END_STREAM:
                    return "status", status, body
        except (TimeoutError, socket.timeout):
            return ("silence",)
        except OSError:
            pass
        return ("closed",)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

"""A proxy's side of ext_proc: gRPC messages and the few protobuf fields that a picker reads, by their bytes."""
import os
import struct

import frames
import wire
from frames import DATA, END_HEADERS, END_STREAM, HEADERS, Connection, block, frame
from naive_frames import NaiveFrames

PROCESS = "/envoy.service.ext_proc.v3.ExternalProcessor/Process"
CHECK = "/grpc.health.v1.Health/Check"
FRAME = 16_384


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes((value,))


def field(number, value):
    """A field of bytes, or of a number."""
    return varint(number << 3) + varint(value) if isinstance(value, int) else varint(number << 3 | 2) + varint(len(value)) + value


def message(data):
    return b"\0" + struct.pack(">I", len(data)) + data


def head(path="/v1/chat/completions", method="POST", more=(), kind=2, end=False, modes=None):
    pairs = [(b":method", method.encode()), (b":path", path.encode()), *more] if kind == 2 else more
    told = field(1, b"".join(field(1, field(1, name) + field(3, value)) for name, value in pairs))
    return message(field(kind, told + (field(3, 1) if end else b"")) + (field(11, field(1, modes)) if modes is not None else b""))


def body(data, end=True, kind=4):
    return message(field(kind, field(1, data) + (field(2, 1) if end else b"")))


def opening(path=PROCESS):
    return block([(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "picker"), ("content-type", "application/grpc"), ("te", "trailers")])


BLOCK = opening()
CHAT = head() + body(wire.chat_body("by a proxy"))


def opened(stream, data=b"", end=False, headers=BLOCK):
    """The frames of a call that has sent this."""
    parts = [data[at:at + FRAME] for at in range(0, len(data), FRAME)]
    flags = [END_STREAM if end and i == len(parts) - 1 else 0 for i in range(len(parts))]
    return frame(HEADERS, END_HEADERS, stream, headers) + b"".join(frame(DATA, f, stream, p) for f, p in zip(flags, parts))


def status_of(payload):
    """The status of gRPC in a block of trailers; None: it has none."""
    at = payload.find(b"grpc-status")
    return None if at < 0 else int(payload[at + 12:at + 12 + payload[at + 11]])


class Calls(Connection):
    """What becomes of the calls on a connection. Answers are taken unless `ours` has windows of its own."""

    def __init__(self, target, ours=(), seconds=10):
        super().__init__(target, ours, seconds=seconds)
        self.statuses, self.resets, self.answers, self.gone, self.refusal = {}, {}, {}, False, None

    def read(self, seconds, until=lambda: False):
        """Until the condition holds, the connection ends, or time is up. Returns whether the condition holds."""
        self.sock.settimeout(seconds)
        try:
            while not until():
                found = self.frame()
                if found is None:
                    self.gone = True
                    break
                kind, _, stream, payload = found
                if kind == frames.GOAWAY and int.from_bytes(payload[4:8]):
                    self.refusal = int.from_bytes(payload[4:8])
                elif kind == frames.RST:
                    self.resets.setdefault(stream, int.from_bytes(payload))
                elif kind == HEADERS and (status := status_of(payload)) is not None:
                    self.statuses[stream] = status
                elif kind == DATA and payload:
                    self.answers[stream] = self.answers.get(stream, b"") + payload
                    self.send(frames.window(0, len(payload)))
        except (TimeoutError, OSError) as e:
            self.gone = self.gone or not isinstance(e, TimeoutError)
        return until()

    def serving(self):
        """A question about health is answered on this connection."""
        stream, self.next = self.next, self.next + 2
        self.send(opened(stream, message(b""), True, opening(CHECK)))
        return self.read(5, lambda: stream in self.answers)


class NaiveCalls(NaiveFrames):
    """A picker without any defence: a message's length is allocated as it is announced, and kept."""

    memory = 0

    def __init__(self, **more):
        super().__init__(**more)
        self.kept = []
        self.memory = self.resident() + 100
        self.pid = os.getpid()

    def serve(self, s):
        try:
            s = self.tls.wrap_socket(s, server_side=True) if self.tls else s
            reader = wire.Reader(s)
            reader.exactly(len(frames.PREFACE))
            s.sendall(frames.settings())
            while len(top := reader.exactly(9)) == 9:
                payload = reader.exactly(int.from_bytes(top[:3]))
                if top[3] == DATA and len(payload) > 5 and payload[0] == 0 and int.from_bytes(payload[1:5]) > len(payload):
                    self.kept.append(b"\1" * int.from_bytes(payload[1:5]))
                if top[3] == DATA and top[4] & END_STREAM:
                    s.sendall(frame(HEADERS, END_HEADERS, int.from_bytes(top[5:9]), b"\x88") + frame(DATA, END_STREAM, int.from_bytes(top[5:9]), message(b"")))
        except OSError:
            pass
        finally:
            s.close()

    def chat(self):
        return 0.0

    def resident(self):
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:")) // 1024

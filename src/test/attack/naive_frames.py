"""An HTTP/2 server without any defence, for the controls: every stream is answered with 200, whatever was sent on it."""
import frames
import wire
from engine import Call
from naive import Naive


class NaiveFrames(Naive):
    def serve(self, s):
        try:
            s = self.tls.wrap_socket(s, server_side=True)
            reader = wire.Reader(s)
            reader.exactly(len(frames.PREFACE))
            s.sendall(frames.settings())
            while len(head := reader.exactly(9)) == 9:
                reader.exactly(int.from_bytes(head[:3]))
                kind, flags, stream = head[3], head[4], int.from_bytes(head[5:9])
                if kind in (frames.HEADERS, frames.DATA) and flags & frames.END_STREAM:
                    self.engine.calls.append(Call(b"POST /v1/chat/completions HTTP/2", b""))
                    s.sendall(frames.frame(frames.HEADERS, frames.END_HEADERS | frames.END_STREAM, stream, b"\x88"))
        except OSError:
            pass
        finally:
            s.close()

"""A small engine of the suite's own: answers chats with what they asked, and remembers every byte that asked it."""
import json
import socket
import threading

import wire

PROBES = ("/health", "/v1/models", "/metrics", "/version", "/server_info", "/get_server_info", "/get_model_info", "/model_info", "/v1/loads", "/ready",
          "/ping", "/props", "/server_info?format=json", "/get_load")


class Call:
    def __init__(self, head, body):
        self.head = head.decode("latin-1")
        self.body = body
        self.method, self.path = self.head.split(" ", 2)[:2]


class Engine:
    """On a free port of loopback. `models` may be changed at any time; `answer(call, socket)` writes answers in place of the
    usual ones when it is given, and returns True when it has."""

    def __init__(self, models=("demo",), answer=None, tls=None):
        self.models = list(models)
        self.answer = answer
        self.tls = tls
        self.calls = []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.listener.getsockname()[1]
        self.host = "127.0.0.1"
        self.open = set()
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def url(self):
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}"

    def asked(self):
        """What is not a question of a gateway's own."""
        return [c for c in self.calls if c.method != "GET" or c.path not in PROBES]

    def accept(self):
        while True:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(s,), daemon=True).start()

    def serve(self, s):
        try:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.tls:
                s = self.tls.wrap_socket(s, server_side=True)
            self.open.add(s)
            reader = wire.Reader(s)
            while True:
                head = reader.until(b"\r\n\r\n")
                if head is None:
                    return
                request = wire.Answer(0, head.decode("latin-1"), b"")
                if request.header("transfer-encoding"):
                    body = reader.chunks()
                else:
                    body = reader.exactly(int(request.header("content-length") or 0))
                call = Call(head, body)
                self.calls.append(call)
                if not (self.answer and self.answer(call, s)):
                    self.reply(call, s)
        except OSError:
            pass  # the gateway has closed it
        finally:
            self.open.discard(s)
            s.close()

    def reply(self, call, s):
        if call.path == "/health":
            send(s, 200, {})
        elif call.path == "/v1/models":
            send(s, 200, {"object": "list", "data": [{"id": m, "object": "model"} for m in self.models]})
        elif call.method == "POST" and call.path.startswith("/v1/"):
            send(s, 200, {"id": "x", "object": "chat.completion", "model": "demo", "choices": [
                {"index": 0, "message": {"role": "assistant", "content": said(call.body)}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 3, "completion_tokens": 3, "total_tokens": 6}})
        else:
            send(s, 404, {})

    def close(self):
        self.listener.close()
        for s in list(self.open):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def said(body):
    """What a chat asks, if it is not so long that reading it would keep everybody else here waiting; `large:N` asks for so many bytes."""
    if len(body) > 1 << 20:
        return "?"
    try:
        text = json.loads(body)["messages"][0]["content"]
        return "y" * int(text[6:]) if text.startswith("large:") else text
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        return "?"


def send(s, status, body, headers=()):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} X", "Content-Type: application/json", f"Content-Length: {len(data)}", *headers]
    s.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + data)

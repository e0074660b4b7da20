"""HTTP/1.1 by its bytes: what a well-behaved library would not send, and what comes back."""
import dataclasses
import json
import socket
import time

from suite import Broken


@dataclasses.dataclass
class Answer:
    status: int
    head: str
    body: bytes

    def header(self, name):
        for line in self.head.split("\r\n")[1:]:
            if line.lower().startswith(name.lower() + ":"):
                return line.partition(":")[2].strip()
        return None

    def code(self):
        """The code of a refusal in OpenAI's shape; None for other bodies."""
        try:
            return json.loads(self.body)["error"]["code"]
        except (ValueError, KeyError, TypeError):
            return None


def connect(target, timeout=10):
    s = socket.create_connection((target.host, target.port), timeout=timeout)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if target.tls is not None:
        s = target.tls.wrap_socket(s, server_hostname=target.host)
    return s


class Reader:
    """Answers one after the other from a socket."""

    def __init__(self, sock):
        self.sock = sock
        self.data = b""
        self.ended = False

    def more(self):
        try:
            part = self.sock.recv(65536)
        except ConnectionError:
            part = b""
        if not part:
            self.ended = True
        self.data += part
        return bool(part)

    def until(self, mark):
        while mark not in self.data:
            if not self.more():
                return None
        found, _, self.data = self.data.partition(mark)
        return found

    def exactly(self, count):
        while len(self.data) < count:
            if not self.more():
                break
        found, self.data = self.data[:count], self.data[count:]
        return found

    def answer(self, bodiless=False):
        """The next answer, or None at the connection's end. A timeout of the socket is the caller's. `bodiless`: it is one to HEAD."""
        head = self.until(b"\r\n\r\n")
        if head is None:
            return None
        if not head.startswith(b"HTTP/1."):
            raise Broken(f"no answer: {head[:300]}")
        answer = Answer(int(head.split(b" ", 2)[1]), head.decode("latin-1"), b"")
        if answer.status == 100:  # how the gateway asks whether a client that has closed its side still listens
            return self.answer(bodiless)
        if bodiless:
            return answer
        if answer.header("transfer-encoding"):
            answer.body = self.chunks()
        elif answer.header("content-length") is not None:
            answer.body = self.exactly(int(answer.header("content-length")))
        elif answer.status >= 200 and answer.status not in (204, 304):
            while self.more():
                pass
            answer.body, self.data = self.data, b""
        return answer

    def chunks(self):
        body = b""
        while True:
            size = self.until(b"\r\n")
            if size is None:
                return body
            count = int(size.split(b";")[0], 16)
            body += self.exactly(count)
            self.until(b"\r\n")
            if count == 0:
                return body


def exchange(target, data, seconds=None, pieces=None):
    """Sends bytes and reads whatever comes until the other side closes: the answers, and whether it closed in time."""
    answers = []
    seconds = seconds or target.patience
    with connect(target, seconds) as s:
        try:
            for piece in pieces or [data]:
                s.sendall(piece)
        except OSError:
            pass  # closed before it has read everything: its answer may be there
        reader = Reader(s)
        s.settimeout(seconds)
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                answer = reader.answer()
                if answer is None:
                    return answers, True
                answers.append(answer)
        except TimeoutError:
            pass
        return answers, False


def one(target, data, seconds=10):
    """The first answer to these bytes; None where the connection ended without one."""
    with connect(target, seconds) as s:
        try:
            s.sendall(data)
        except OSError:
            pass
        return Reader(s).answer(data.startswith(b"HEAD "))


def request(method, path, body=b"", headers=(), host="localhost"):
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", *headers]
    if body or method == "POST":
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def chat_body(text="hello", **more):
    return json.dumps({"model": "demo", "max_tokens": 4, "messages": [{"role": "user", "content": text}], **more}).encode()


def chat(text="hello", headers=(), **more):
    return request("POST", "/v1/chat/completions", chat_body(text, **more), ("Content-Type: application/json", *headers))


def told(answers, closed):
    seen = ", ".join(str(a.status) + (f" {a.code()}" if a.code() else "") for a in answers) or "no answer"
    return seen + (", closed" if closed else ", left open")

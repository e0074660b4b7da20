"""Chats with a gateway over HTTP, each with what it predicted and what the engine reported. Standard library only."""
import dataclasses
import http.client
import json
import threading
import time
import urllib.parse
import urllib.request

MODEL = "demo"


@dataclasses.dataclass
class Answer:
    """`cached`: tokens that the engine says it had; `predicted`: what the gateway said before, None where it said nothing."""

    worker: str
    predicted: int | None
    cached: int
    finish: str
    tokens: int


def get(url, timeout=20):
    """(status, text); OSError where nobody answers."""
    try:
        with urllib.request.urlopen(url, timeout=timeout) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


def answers(url):
    """Whether it says 200."""
    try:
        return get(url, 2)[0] == 200
    except (OSError, http.client.HTTPException):
        return False


def words(count, of):
    """So many words, others for each `of`."""
    return " ".join(f"{of}-{i}" for i in range(count))


class Chat:
    """One chat, on a connection of its own. What is not a whole answer is a ConnectionError that says what came."""

    def __init__(self, gateway, text, tokens=16, stream=False, timeout=120):
        self.stream = stream
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(gateway).netloc, timeout=timeout)
        body = {"model": MODEL, "stream": stream, "max_tokens": tokens, "ignore_eos": True, "messages": [{"role": "user", "content": text}]}
        if stream:
            body["stream_options"] = {"include_usage": True}
        self.connection.request("POST", "/v1/chat/completions", json.dumps(body), {"content-type": "application/json", "x-warmpath-explain": "1"})
        self.response = self.connection.getresponse()
        self.worker = self.response.headers.get("x-warmpath-worker", "")
        if self.response.status != 200:
            raise ConnectionError(f"{self.response.status}: {self.response.read()[:400]}")

    def whole(self):
        """Waits for the end."""
        try:
            text = self.response.read().decode()
        except http.client.HTTPException as cut:
            raise ConnectionError(f"cut off: {cut!r}") from cut
        finally:
            self.connection.close()
        return self.streamed(text) if self.stream else self.answer([json.loads(text)])

    def streamed(self, text):
        events = [event for event in text.split("\n\n") if event]
        if not events or events[-1] != "data: [DONE]":
            raise ConnectionError(f"cut off after {len(events)} events: {events[-1:]}")
        return self.answer([json.loads(event.removeprefix("data: ")) for event in events if event.startswith("data: {")])

    def answer(self, chunks):
        wrong = [chunk for chunk in chunks if "error" in chunk]
        if wrong:
            raise ConnectionError(f"an error within the answer: {wrong[0]}")
        usage = next(chunk["usage"] for chunk in reversed(chunks) if chunk.get("usage"))
        finish = [choice["finish_reason"] for chunk in chunks for choice in chunk["choices"] if choice.get("finish_reason")]
        predicted = self.response.headers.get("x-warmpath-predicted-cached-tokens")
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
        return Answer(self.worker, None if predicted is None else int(predicted), cached, finish[-1] if finish else "", usage["completion_tokens"])


class Streams:
    """Streams that run while something happens to the fleet. All have to come whole: `finish` tells what was lost."""

    def __init__(self, gateway, count, tokens):
        self.gateway, self.tokens = gateway, tokens
        self.began, self.ended, self.lost, self.threads = [], [], [], []
        for _ in range(count):
            self.add()
        awaited("streams that run", lambda: self.lost or len(self.began) == count, 60)

    def add(self):
        """One more, which begins in a moment."""
        text = words(60, f"stream{len(self.threads)}-{time.time_ns()}")
        self.threads.append(threading.Thread(target=self.run, args=(self.gateway, text), daemon=True))
        self.threads[-1].start()

    def run(self, gateway, text):
        try:
            chat = Chat(gateway, text, self.tokens, stream=True)
            self.began.append(chat.worker)
            answer = chat.whole()
            if (answer.finish, answer.tokens) != ("length", self.tokens):
                raise ConnectionError(f"ended as {answer.finish!r} after {answer.tokens} of {self.tokens} tokens")
            self.ended.append(answer)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.lost.append(repr(error))

    def running(self):
        return sum(thread.is_alive() for thread in self.threads)

    def finish(self):
        for thread in self.threads:
            thread.join()
        if self.lost:
            raise SystemExit(f"{len(self.lost)} of {len(self.threads)} streams were lost: {self.lost[:3]}")
        return self.ended


def awaited(what, condition, seconds, every=0.1):
    """Waits until the condition gives something true, and returns that; ends the program when it does not in time."""
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise SystemExit(f"{what}: not within {seconds} s")
        time.sleep(every)

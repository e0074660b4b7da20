"""Chats at a fixed mean rate: what they say, the connections that carry them, and what came back. Standard library only."""
import asyncio
import collections
import json
import pathlib
import random
import re
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODEL = "demo"
MODEL_FOLDER = ROOT / "src/tokens/main/resources/demo-model"
PATIENCE_S = 20
FLOODING = 8  # clients
# Of a prompt's words: a system prompt that many share, a document that a conversation asks about several times, and its question.
SYSTEMS, SYSTEM_PART, DOCUMENT_PART, QUESTIONS, TALKING = 8, 0.4, 0.4, 5, 64
CONTENT = re.compile(rb'"content":\s*"[^"]')
USAGE = {name: re.compile(rb'"%s":\s*(\d+)' % name.encode()) for name in ("prompt_tokens", "completion_tokens", "cached_tokens")}

Scenario = collections.namedtuple("Scenario", "name words tokens stream rate")


def words():
    """Those that are one token of the engines' model."""
    vocabulary = json.loads((MODEL_FOLDER / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    return sorted(token[1:] for token in vocabulary if re.fullmatch("\u0120[a-z]{2,}", token))


def chats(scenario, count, seed, known=tuple(words())):
    """Bodies of so many requests. No two seeds have more than words in common, so no engine has them cached for another."""
    drawn = random.Random(seed)

    def text(part):
        return " ".join(drawn.choices(known, k=max(1, round(scenario.words * part))))

    systems = [text(SYSTEM_PART) for _ in range(SYSTEMS)]
    conversations, bodies = [], []
    for _ in range(count):
        at = drawn.randrange(TALKING)
        if at >= len(conversations):
            at = len(conversations)
            conversations.append(None)
        if not conversations[at] or not conversations[at][2]:
            conversations[at] = [drawn.choice(systems), text(DOCUMENT_PART), QUESTIONS]
        conversations[at][2] -= 1
        system, document, _ = conversations[at]
        messages = [{"role": "system", "content": system}, {"role": "user", "content": f"{document} {text(1 - SYSTEM_PART - DOCUMENT_PART)}"}]
        body = {"model": MODEL, "messages": messages, "max_tokens": scenario.tokens, "temperature": 0}
        if scenario.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        bodies.append(json.dumps(body).encode())
    return bodies


class Answer:
    """One request's: seconds to the first content and to the end, tokens as the engine counts them, and what was wrong with it."""

    def __init__(self, scenario, began):
        self.scenario, self.began = scenario, began
        self.first = self.end = self.fault = None
        self.used = {}

    def judge(self, head, body):
        status = head.split(b" ", 2)[1].decode("latin-1")
        self.used = {name: int(found[-1]) for name, pattern in USAGE.items() if (found := pattern.findall(body))}
        if status != "200":
            self.fault = f"status {status}"
        elif self.scenario.stream and b"data: [DONE]" not in body:
            self.fault = "a stream without its end"
        elif self.first is None:
            self.fault = "no content"
        elif self.used.get("completion_tokens") != self.scenario.tokens:
            self.fault = f"{self.used.get('completion_tokens')} tokens in place of {self.scenario.tokens}"


class Connection(asyncio.Protocol):
    """Carries one request after the other."""

    def __init__(self):
        self.transport = self.answer = self.done = None

    def connection_made(self, transport):
        self.transport = transport

    def ask(self, request, scenario):
        self.answer, self.got, self.head, self.length = Answer(scenario, time.perf_counter()), bytearray(), None, None
        self.done = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return self.done

    def data_received(self, data):
        if not self.answer:
            self.transport.close()
            return
        self.got += data
        if self.head is None:
            end = self.got.find(b"\r\n\r\n")
            if end < 0:
                return
            self.head = bytes(self.got[:end])
            del self.got[:end + 4]
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", self.head)
            self.length = int(length[1]) if length else None
        if self.answer.first is None and CONTENT.search(self.got):
            self.answer.first = time.perf_counter() - self.answer.began
        if len(self.got) >= self.length if self.length is not None else self.got.endswith(b"0\r\n\r\n"):
            self.finish()

    def finish(self, fault=None):
        answer, self.answer = self.answer, None
        if answer is None:
            return
        answer.end = time.perf_counter() - answer.began
        if fault:
            answer.fault = fault
        else:
            answer.judge(self.head, bytes(self.got))
        if not self.done.done():  # the asker waits no longer
            self.done.set_result(answer)

    def connection_lost(self, _):
        self.transport = None
        self.finish("the connection was closed")


class Asker:
    """Requests to one gateway (or to engines, in turn) over connections that are kept."""

    def __init__(self, ports):
        self.free = {port: [] for port in ports}
        self.turn = 0

    async def one(self, body, scenario):
        ports = list(self.free)
        port = ports[self.turn % len(ports)]
        self.turn += 1
        request = b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:%d\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % (port, len(body)) + body
        connection = None
        while self.free[port] and not connection:
            kept = self.free[port].pop()
            connection = kept if kept.transport else None
        try:
            async with asyncio.timeout(PATIENCE_S):
                if not connection:
                    connection = (await asyncio.get_running_loop().create_connection(Connection, "127.0.0.1", port))[1]
                answer = await connection.ask(request, scenario)
        except (OSError, TimeoutError) as problem:
            if connection and connection.transport:
                connection.transport.abort()
            answer = Answer(scenario, time.perf_counter())
            answer.fault = f"no answer: {str(problem) or 'late'}"
            return answer
        if answer.fault and connection.transport:
            connection.transport.abort()
        elif connection.transport:
            self.free[port].append(connection)
        return answer

    async def play(self, bodies, scenario, seed):
        """All of them, at moments as independent clients would choose; their answers."""
        drawn = random.Random(seed)
        due, asked = time.perf_counter(), []
        for body in bodies:
            due += drawn.expovariate(scenario.rate)
            await asyncio.sleep(max(0, due - time.perf_counter()))
            asked.append(asyncio.ensure_future(self.one(body, scenario)))
        return await asyncio.gather(*asked)

    async def flood(self, bodies, scenario, seconds):
        """As fast as a few clients get answers, over and over; how many there were, and how many bad ones."""
        end, answers = time.perf_counter() + seconds, []

        async def client(at):
            while time.perf_counter() < end:
                answers.append((await self.one(bodies[at % len(bodies)], scenario)).fault)
                at += FLOODING

        await asyncio.gather(*(client(at) for at in range(FLOODING)))
        return len(answers), sum(map(bool, answers))

    def close(self):
        for kept in self.free.values():
            for connection in kept:
                if connection.transport:
                    connection.transport.abort()

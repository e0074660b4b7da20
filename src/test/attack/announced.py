"""What engines announce and do not send, or send without end: lengths, chunks, lines, lists, ranks, packed answers, polled events."""
import gzip
import json
import socket
import threading
import time

import wire
from bombs import PACKED
from engine import send
from naive import Naive
from suite import Attack, expect, until

NAME = "what engines announce"
HOLDS = "lengths, ranks, lists, lines and polled events without end, packed streams: nothing is allocated for them, others are served"
MIB = 1 << 20
GROWTH = 320  # MiB: gathered answers may have 128 MiB together, and twice that while their memory grows
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
SSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
SAID = b'data: {"id":"c","object":"chat.completion.chunk","model":"demo","choices":[{"index":0,"delta":{"content":"x"}}]}\n\n'


def whole(body, headers=b""):
    return OK + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def endless(first, piece, most=400 * MIB):
    """Bytes until the other side does not want more of them."""
    def write(s):
        s.sendall(first)
        for _ in range(most // len(piece)):
            s.sendall(piece)
    return write


def drip(first, piece, seconds):
    def write(s):
        s.sendall(first)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            s.sendall(piece)
            time.sleep(0.2)
    return write


def silent(first, seconds=30):
    """Says this and then nothing, and leaves the connection open."""
    def write(s):
        s.sendall(first)
        s.settimeout(seconds)
        try:
            s.recv(1)
        except TimeoutError:
            pass
    return write


def written(what, s):
    try:
        what(s) if callable(what) else s.sendall(what)
    finally:
        s.shutdown(socket.SHUT_RDWR)


def peak(target, done, most):
    """Looks at the process' memory until it is done."""
    before = target.resident()
    while not done.wait(0.05):
        most[0] = max(most[0], target.resident() - before)


def watched(target, attack):
    """What came of it, and how much memory it took meanwhile."""
    done, most = threading.Event(), [0]
    thread = threading.Thread(target=peak, args=(target, done, most))
    thread.start()
    try:
        got = attack()
    finally:
        done.set()
        thread.join()
    expect(most[0] <= GROWTH, f"{most[0]} MiB more meanwhile; {got}")
    return f"{got}, {most[0]} MiB more"


def read_all(s, seconds):
    """Whatever comes until the end: the status, and how much."""
    s.settimeout(seconds)
    first, count = b"", 0
    try:
        while part := s.recv(1 << 16):
            first, count = first or part, count + len(part)
    except OSError:
        pass
    return (int(first.split(b" ", 2)[1]) if first.startswith(b"HTTP/1.") else None), count


def answering(answer, path="/v1/chat/completions", clients=1, seconds=20, headers=(), **more):
    """Clients whose engine answers so: each gets an answer or an end in time, others are served, memory is in its bound."""
    def run(target):
        def wild(call, s):
            if call.method != "POST" or b"wild" not in call.body:
                return False
            written(answer, s)
            return True

        def ask(got):
            with wire.connect(target) as s:
                s.sendall(wire.request("POST", path, wire.chat_body("wild", **more), ("Content-Type: application/json", "Connection: close", *headers)))
                began = time.monotonic()
                got.append((*read_all(s, seconds), time.monotonic() - began))

        def attack():
            got = []
            threads = [threading.Thread(target=ask, args=(got,)) for _ in range(clients)]
            for thread in threads:
                thread.start()
            worst = target.chat()
            for thread in threads:
                thread.join()
            expect(len(got) == clients and all(took < seconds for *_, took in got), f"no end within {seconds} s: {got[:3]}")
            expect(worst < 2, f"others wait {worst:.1f} s")
            return ", ".join(sorted({f"{status}, {count >> 10} KiB" for status, count, _ in got}))[:120]
        target.engine.answer = wild
        try:
            return watched(target, attack)
        finally:
            target.engine.answer = None
    return run


def listed(engine, owner=None):
    return json.dumps({"object": "list", "data": [{"id": "evil", "object": "model", **({"owned_by": owner} if owner else {})}]}).encode()


def telling(path, answer, others=(), asked=1, method="GET"):
    """A worker that says such things of itself: others are served, memory is in its bound."""
    def run(target):
        known = {"/health": b"{}", "/v1/models": listed(None, "tensorrt_llm" if method == "POST" else None), "/ready": b"{}", **dict(others)}
        seen = []

        def say(call, s):
            where = call.path.partition("?")[0]
            if call.method == method and where == path:
                seen.append(call)
                written(answer, s)
            elif call.method == "GET" and where in known:
                send(s, 200, known[where])
            else:
                send(s, 404, {})
            return True

        def attack():
            evil = target.stage.engine(answer=say)
            added = wire.one(target, wire.request("POST", "/workers", json.dumps({"url": evil.url}).encode(), ("Content-Type: application/json",)))
            expect(added.status == 202, f"{added}")
            try:
                until(lambda: len(seen) >= asked, 15, f"{path} was asked {len(seen)} times")
                worst, end = 0.0, time.monotonic() + 1
                while time.monotonic() < end:
                    worst = max(worst, target.chat())
                    time.sleep(0.05)
                expect(worst < 2, f"others wait {worst:.1f} s")
            finally:
                name = json.loads(added.body)["id"]
                wire.one(target, wire.request("DELETE", f"/workers/{name}"))
                evil.close()
                target.stage.engines.remove(evil)
            return f"asked {len(seen)} times, others wait {worst:.2f} s"
        return watched(target, attack)
    return run


def lengths():
    for name, head in (("a length of 10^17", b"Content-Length: 100000000000000000\r\n\r\n"), ("a length of 2^64", b"Content-Length: 18446744073709551616\r\n\r\n"),
                       ("a chunk of 2 GiB - 1", CHUNKED + b"7fffffff\r\n"), ("a chunk of 2^32 - 1", CHUNKED + b"ffffffff\r\n"), ("a chunk of 2^64 - 1", CHUNKED + b"ffffffffffffffff\r\n")):
        yield name, head


SGLANG = {"version": "0.5.19", "page_size": 16, "internal_states": []}
EVENTS = {"publisher": "zmq", "endpoint_host": "127.0.0.1", "endpoint_port_base": 5557, "topic": "kv", "block_size": 16}


def sglang(**more):
    return whole(json.dumps({**SGLANG, **more}).encode())


def polled(name, answer, smoke=False, expected="a question in vain", asked=2):
    return Attack(f"TensorRT-LLM's events: {name}", expected, telling("/kv_cache_events", answer, asked=asked, method="POST"), smoke)


def stored(number, blocks, **more):
    return {"event_id": number, "data": {"type": "stored", "parent_hash": None, "blocks": blocks}, "window_size": 4096, **more}


def attacks():
    for name, head in lengths():
        yield Attack(f"an engine's answer: {name}, of which 5 bytes come", "502, or cut off", answering(OK + head + b'{"a":'), name == "a chunk of 2 GiB - 1")
        yield Attack(f"an engine's stream: {name}, of which one event comes", "502, or cut off", answering(SSE + head + SAID, stream=True))
    line = b"data: " + b"x" * (MIB - 6)
    for path, headers in (("/v1/chat/completions", ()), ("/v1/messages", ()), ("/v1/chat/completions", ("X-Warmpath-Explain: true",))):
        told = path + (", explained" if headers else "")
        yield Attack(f"a stream whose line does not end, {told}", "passed on, or an error; memory in bounds",
                     answering(endless(SSE + CHUNKED + chunk(SAID), chunk(line), 120 * MIB), path, 3, 60, headers, stream=True))
        yield Attack(f"a stream of comments alone, {told}", "passed on; memory in bounds",
                     answering(endless(SSE + CHUNKED + chunk(SAID), chunk(b": x\n" * (MIB >> 2)), 60 * MIB), path, 2, 60, headers, stream=True))
        yield Attack(f"an answer of 300 MiB, {told}", "passed on, or an error; memory in bounds",
                     answering(endless(OK + CHUNKED, chunk(b'["x",' * (MIB // 5)), 300 * MIB), path, 4, 60, headers))
        yield Attack(f"a stream of 100 MiB packed, {told}", "not unpacked",
                     answering(SSE + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(PACKED) + PACKED, path, 4, 20, (*headers, "Accept-Encoding: gzip"), stream=True), not headers and path != "/v1/messages")
    yield Attack("packed events without their header", "not unpacked", answering(SSE + CHUNKED + chunk(b"data: " + gzip.compress(b"a" * MIB) + b"\n\n") + b"0\r\n\r\n", stream=True))
    for ranks in (1025, 2**31 - 1, 2**40, -1, "2147483647", 1e300):
        yield Attack(f"SGLang with {ranks} ranks", "learnt without them, or not at all", telling("/server_info", sglang(dp_size=ranks)))
        yield Attack(f"SGLang with event sockets of {ranks} ranks", "learnt without them, or not at all", telling("/server_info", sglang(kv_events={**EVENTS, "dp_size": ranks})), ranks == 2**31 - 1)
    for field in ("page_size", "max_total_num_tokens", "max_prefill_tokens", "tp_size", "max_loras_per_batch"):
        yield Attack(f"SGLang with {field} 2^31 - 1", "no harm", telling("/server_info", sglang(**{field: 2**31 - 1, "enable_lora": True, "enable_hierarchical_cache": True, "hicache_storage_backend": "mooncake"})))
    version = {"/version": b'{"version":"0.32.0"}'}
    source = {"enable_kv_cache_events": True, "publisher": "zmq", "endpoint": "tcp://127.0.0.1:5557"}
    for rank in ("1024", "2147483647", "4294967295", "-1"):
        yield Attack(f"vLLM with rank {rank}", "not learnt", telling("/kv_event_sources", whole(json.dumps({rank: source}).encode()), version.items()), rank == "2147483647")
    yield Attack("vLLM with 50,000 ranks", "not learnt", telling("/kv_event_sources", whole(json.dumps({str(i): source for i in range(50_000)}).encode()), version.items()))
    yield Attack("SGLang's load of 2.6 million ranks", "at most 1,024 are read", telling("/v1/loads", whole(b'{"loads":[' + b"{}," * 2_600_000 + b"{}]}"), {"/server_info": json.dumps(SGLANG).encode()}.items()))
    for name, body in (("2.6 million lists", b"[" + b"[]," * 2_600_000 + b"[]]"), ("100,000 lists in each other", b"[" * 100_000), ("a number of 7 million digits", b'{"data":' + b"9" * 7_000_000 + b"}"),
                       ("a text of 7 MiB", b'{"data":"' + b"\\u0041" * 1_200_000 + b'"}'), ("200,000 models", b'{"data":[' + b'{"id":"a"},' * 200_000 + b'{"id":"b"}]}')):
        yield Attack(f"models: {name}", "read within the bound, or refused", telling("/v1/models", whole(body)))
    for name, head in lengths():
        yield Attack(f"models: {name}, of which 5 bytes come", "not learnt", telling("/v1/models", silent(OK + head + b'{"a":', 8)))
    yield Attack("models without end", "cut off", telling("/v1/models", endless(OK + CHUNKED, chunk(b" " * MIB))))
    yield Attack("models, packed", "not unpacked", telling("/v1/models", whole(PACKED, b"Content-Encoding: gzip\r\n")))
    yield Attack("models that drip", "not waited for", telling("/v1/models", drip(OK + b"Content-Length: 100000\r\n\r\n", b" ", 6)))
    yield Attack("a head of models without end", "cut off", telling("/v1/models", endless(OK, b"X-A: " + b"b" * 1000 + b"\r\n", 20 * MIB)))
    yield Attack("metrics: a line of 7 MiB", "no harm", telling("/metrics", whole(b"vllm:num_requests_running{" + b'a="b",' * 1_200_000 + b"} 1\n"), {**version, "/kv_event_sources": b"{}"}.items()))
    yield polled("redirected to itself, and elsewhere", b"HTTP/1.1 307 X\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n")
    yield polled("without end", endless(OK + CHUNKED, chunk(b"{}," * (MIB // 3))))
    for name, head in lengths():
        yield polled(f"{name}, of which a byte comes", silent(OK + head + b"[", 12), asked=1)
    yield polled("a drip", drip(OK + b"Content-Length: 1000\r\n\r\n[", b" ", 12), asked=1)
    yield polled("packed", whole(PACKED, b"Content-Encoding: gzip\r\n"))
    for name, body in (("a million empty objects", b"[" + b"{}," * 10**6 + b"{}]"), ("a million events without a number", b"[" + b'{"a":1},' * 10**6 + b"{}]"), ("100,000 lists in each other", b"[" * 100_000),
                       ("lists in each other within an event", b'[{"event_id":1,"data":' + b"[" * 100_000), ("no list", b'{"event_id":1}'), ("texts for numbers", b'[{"event_id":"x","window_size":"y","attention_dp_rank":[]}]'),
                       ("numbers beyond 64 bits", b'[{"event_id":99999999999999999999999,"window_size":1e999,"attention_dp_rank":-1}]'), ("a number of a million digits", b'[{"event_id":' + b"9" * 10**6 + b"}]"),
                       ("bytes that are no text", b'[{"event_id":1,"data":{"type":"\xff\xfe"}}]'), ("nothing", b""), ("half a list", b'[{"event_id":1},')):
        yield polled(name, whole(body), name == "a million empty objects")
    wide = [{"block_hash": i, "tokens": [{"token_id": 1}] * 32} for i in range(3000)]
    yield polled("100,000 tokens in one event", whole(json.dumps([stored(1, wide)]).encode()), expected="taken")
    yield polled("300,000 blocks without tokens", whole(json.dumps([stored(1, [{"block_hash": i} for i in range(300_000)])]).encode()), expected="dropped")
    yield polled("blocks of other lengths, levels and hashes", whole(json.dumps([stored(1, [{"block_hash": h, "cache_level": v, "tokens": [{"token_id": t}] * n}]) for h, v, t, n in
                 ((2**64 - 1, 2**31 - 1, 2**32, 1), (-1, -1, -1, 0), ("ffffffffffffffffffff", 1, 0, 4097), ("x", None, None, 2))]).encode()), expected="refused one by one")
    yield polled("windows and ranks of 2^31 - 1", whole(json.dumps([stored(i, wide[:2], window_size=2**31 - 1, layer_group_id=2**31 - 1, attention_dp_rank=r) for i, r in ((0, 0), (1, 2**31 - 1), (2, -1))]).encode()), expected="dropped")


class Believing(Naive):
    """Makes room for what an engine announces, and keeps what it says until it ends."""

    def __init__(self):
        super().__init__()
        self.kept = 0
        self.engine.answer = None

    def resident(self):
        return self.kept >> 20

    def chat(self):
        return 0.0

    def answer(self, call, s):
        ours, theirs = socket.socketpair()
        reader = threading.Thread(target=self.gather, args=(theirs,))
        reader.start()
        try:
            self.engine.answer(call, ours)
        except OSError:
            pass
        reader.join()
        time.sleep(0.2)
        send(s, 200, {})
        raise OSError("one answer for each connection")

    def gather(self, s):
        while part := s.recv(1 << 16):
            self.kept += len(part)


def play(stage, suite):
    gateway = stage.gateway("announced", stage.engine(), "--router-mode", "kv")
    gateway.stage = stage
    suite.attacks(gateway, attacks())
    naive = Believing()
    line = chunk(b"x" * MIB)
    suite.controls(naive, [Attack("a stream whose line does not end", "", answering(endless(SSE + CHUNKED, line), stream=True), True)])
    naive.close()

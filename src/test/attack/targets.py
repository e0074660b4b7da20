"""Ways to write a path or a head that a proxy in front, the gateway and an engine could read differently, and heads that do not end."""
import wire
from naive import Naive
from suite import Attack, expect
from wire import exchange, told

NAME = "targets and heads"
HOLDS = "engines get the endpoint's own path or nothing; heads that do not end are cut off"
BODY = wire.chat_body("targets")

# Other ways to write /v1/chat/completions, or to lead past it to an engine's own paths.
TARGETS = ("//v1//chat//completions", "/v1/./chat/completions", "/v1/../v1/chat/completions", "/flush_cache/../v1/chat/completions", "/v1/%63hat/completions",
           "/v1/chat%2fcompletions", "/v1/chat%2Fcompletions", "/v1/%2e%2e/flush_cache", "/v1/..;/v1/chat/completions", "/v1;x=1/chat/completions", "/v1\\chat\\completions",
           "/V1/chat/completions", "/v1/chat/completions/..", "/v1/chat/completions%00", "/v1/chat/completions%0d%0aX-A:b",
           "/v1/chat/completions;x", "/%2576%2531/chat/completions", "/v1/chat/completions%3f", "/v1/chat/completions%c0%af", "v1/chat/completions",
           "http://localhost//v1/chat/completions", "http://localhost/%76%31/chat/completions", "http://a@localhost/v1/chat/completions", "https://[::1/v1/chat/completions",
           "ftp://localhost/v1/chat/completions", "*", "?", "#", "/v1/chat/completions#x", "/v1/chat/completions\x7f", "/v1/chat/completi\xf6ns", "/v1/chat/completions?a={b}<>")
# Engines' own paths that are nobody's but their operator's.
ENGINES_OWN = ("/flush_cache", "/abort_request", "/update_weights_from_disk", "/start_profile", "/release_memory_occupation", "/pause_generation", "/open_session",
               "/collective_rpc", "/reset_prefix_cache", "/sleep", "/wake_up", "/v1/load_lora_adapter", "/set_internal_state", "/hicache/clear", "/server_info",
               "/get_server_info", "/shutdown", "/quitquitquit", "/debug/pprof", "/actuator/env", "/q/dev", "/q/arc", "/.env", "/%2e%2e/%2e%2e/etc/passwd")
METHODS = ("GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "X" * 64)


def post(target, extra=""):
    return f"POST {target} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(BODY)}\r\n{extra}\r\n".encode("latin-1") + BODY


def never_an_engine(data, allowed=range(400, 500)):
    """Refused, and no engine hears of it."""
    def run(target):
        before = len(target.engine.asked())
        answer = wire.one(target, data)
        calls = target.engine.asked()[before:]
        got = f"{answer and (answer.status, answer.code())}, at the engine {[c.path for c in calls]}"
        expect(answer is not None and answer.status in allowed and not calls, got)
        return str(answer.status)
    return run


def arrives_as_it_should(extra="", path="/v1/chat/completions"):
    """A request that is good, in another form: the engine gets the endpoint's own path."""
    def run(target):
        before = len(target.engine.asked())
        answer = wire.one(target, post(path, extra))
        calls = target.engine.asked()[before:]
        expect(answer is not None and answer.status == 200 and [c.path for c in calls] in (["/v1/chat/completions"], ["/v1/chat/completions?a=b"]),
               f"{answer and answer.status}, at the engine {[c.path for c in calls]}")
        return f"200, the engine got {calls[0].path}"
    return run


def no_repeat(data):
    """No byte of the attacker's comes back that a browser or a terminal would run."""
    def run(target):
        answer = wire.one(target, data)
        expect(answer is not None and answer.status < 500, f"{answer}")
        expect(b"<script" not in answer.body and b"\x1b" not in answer.body and "X-Injected" not in answer.head, f"{answer.head} {answer.body[:300]}")
        return str(answer.status)
    return run


def bounded(data, statuses):
    def run(target):
        before = len(target.engine.asked())
        answers, closed = exchange(target, data)
        got = told(answers, closed)
        expect(closed and len(answers) <= 1 and all(a.status in statuses for a in answers) and len(target.engine.asked()) == before, got)
        return got
    return run


def endless(head, piece, limit):
    """A head that never ends: cut off before `limit` bytes of it have been taken."""
    def run(target):
        sent = 0
        with wire.connect(target) as s:
            try:
                s.sendall(head)
                while sent < limit:
                    s.sendall(piece)
                    sent += len(piece)
            except OSError:
                return f"cut off, {sent >> 10} KiB sent"
        expect(False, f"{sent >> 10} KiB taken")
    return run


def attacks():
    for i, target in enumerate(TARGETS):
        yield Attack(f"target {target.encode('unicode_escape').decode()}", "4xx, no engine hears of it", never_an_engine(post(target)), i < 3)
    for path in ENGINES_OWN:
        yield Attack(f"an engine's or a server's own path: POST {path}", "4xx, no engine hears of it", never_an_engine(post(path)), path == "/flush_cache")
    for method in METHODS:
        yield Attack(f"method {method[:12]} for a chat", "4xx, no engine hears of it",
                     never_an_engine(post("/v1/chat/completions").replace(b"POST", method.encode(), 1), {*range(400, 500), *((200, 204) if method == "OPTIONS" else ())}))
    yield Attack("absolute-form target", "the engine gets the path alone", arrives_as_it_should(path="http://localhost/v1/chat/completions"))
    yield Attack("a slash behind the path", "the engine gets the path without it", arrives_as_it_should(path="/v1/chat/completions/"))
    yield Attack("a query", "is passed on behind the endpoint's own path", arrives_as_it_should(path="/v1/chat/completions?a=b"))
    yield Attack("markup in a path", "not repeated", no_repeat(post("/v1/%3Cscript%3E<script>alert(1)</script>")))
    yield Attack("line ends in an id", "not repeated", no_repeat(post("/v1/chat/completions", "X-Request-Id: a\x1b[31m\r\n")))
    big = "x" * 8193
    yield Attack("a header of 8 KiB and one byte", "431, closed", bounded(post("/v1/chat/completions", f"X-A: {big}\r\n"), (431,)), True)
    yield Attack("headers of 30 KiB together", "431, closed", bounded(post("/v1/chat/completions", "".join(f"X-{i}: {'y' * 1000}\r\n" for i in range(30))), (431,)))
    yield Attack("20,000 headers", "431, closed", bounded(post("/v1/chat/completions", "".join(f"a{i}:b\r\n" for i in range(20000))), (431,)))
    yield Attack("one header 3,000 times", "431, closed", bounded(post("/v1/chat/completions", "Cookie: a=b\r\n" * 3000), (431,)))
    yield Attack("a first line of 5,000 bytes", "414, closed", bounded(post("/v1/chat/completions?" + "q" * 5000), (414,)))
    yield Attack("a method of 100,000 bytes", "400 or 414, closed", bounded(b"A" * 100_000 + b" / HTTP/1.1\r\n\r\n", (400, 414)))
    yield Attack("a first line without end", "cut off below 1 MiB", endless(b"GET /", b"a" * 4096, 16 << 20))
    yield Attack("a header without end", "cut off below 1 MiB", endless(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ", b"a" * 4096, 16 << 20))
    yield Attack("headers without end", "cut off below 1 MiB", endless(b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"a: b\r\n" * 500, 16 << 20))
    yield Attack("empty lines without end", "cut off below 1 MiB", endless(b"", b"\r\n" * 2048, 16 << 20))
    yield Attack("trailers without end", "cut off below 16 MiB",
                 endless(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n", b"a: b\r\n" * 500, 16 << 20))
    yield Attack("a chunk extension without end", "cut off below 16 MiB",
                 endless(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2;a=", b"b" * 4096, 16 << 20))


def play(stage, suite):
    suite.attacks(stage.plain(), attacks())
    naive = Naive()
    suite.controls(naive, [
        Attack("//v1//chat//completions", "", never_an_engine(post(TARGETS[0])), True),
        Attack("/flush_cache", "", never_an_engine(post("/flush_cache"))),
        Attack("absolute-form target", "", arrives_as_it_should(path="http://localhost/v1/chat/completions")),
        Attack("a header of 8 KiB and one byte", "", bounded(post("/v1/chat/completions", f"X-A: {'x' * 8193}\r\n"), (431,))),
        Attack("headers without end", "", endless(b"GET / HTTP/1.1\r\n", b"a: b\r\n" * 500, 4 << 20)),
    ])
    naive.close()

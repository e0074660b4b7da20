"""Operators' endpoints for those who are none: proxies and web pages on this machine, other users of it, wrong tokens, clients' keys."""
import hashlib
import json
import os
import re
import shutil
import subprocess

import wire
from naive import Naive
from suite import Attack, Skipped, expect

NAME = "admin access"
HOLDS = "proxies, web pages, other users, wrong tokens, two credentials and clients' keys reach no operator's endpoint; clients with keys learn no cost and no load, metrics name no tenant, pages that are only read answer no other method"
TOKEN = "operator-" + "t" * 40
KEY = "sk-" + "k" * 60
# What proxies and browsers add.
PASSED_ON = ("Forwarded: for=192.0.2.1", "Via: 1.1 proxy", "X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 127.0.0.1", "X-Forwarded-For:", "X-Forwarded-Host: a.example",
             "X-Forwarded-Proto: https", "X-Forwarded-Port: 443", "X-Forwarded-Prefix: /", "X-Real-IP: 192.0.2.1", "X-Envoy-External-Address: 192.0.2.1", "CF-Connecting-IP: 192.0.2.1",
             "Origin: http://a.example", "Referer: http://a.example/", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "x-forwarded-for: ::1", "X-FORWARDED-FOR: 127.0.0.1")
HOSTS = ("a.example", "a.example:8000", "127.0.0.1.a.example", "localhost.a.example", "192.0.2.1", "0.0.0.0", "[::ffff:192.0.2.1]", "", "localhost@a.example", "0x7f.0.0.1")
OPERATORS = ("GET /workers", "POST /workers", "DELETE /workers/x", "PATCH /workers/x", "GET /sessions", "POST /models/reload", "GET /router/decisions", "POST /events")
# Who may ask without showing anything.
OPEN = ("/live", "/ready", "/health", "/metrics", "/q/", "/console")  # of the console its files only


def refused(request, headers=(), host="localhost", version=b"HTTP/1.1"):
    def run(target):
        method, path = request.split(" ")
        data = wire.request(method, path, b"{}" if method in ("POST", "PATCH") else b"", headers, host).replace(b"HTTP/1.1", version, 1)
        answer = wire.one(target, data)
        expect(answer is not None and answer.status in (400, 401, 403), f"{answer and (answer.status, answer.body[:200])}")
        return f"{answer.status} {answer.code()}"
    return run


def another_user(target):
    """A connection of another user of this machine, as a proxy's is."""
    if os.getuid() != 0 or not shutil.which("bash"):
        raise Skipped("only root can try another user's connection")
    script = f'exec 3<>/dev/tcp/127.0.0.1/{target.port}; printf "GET /workers HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n" >&3; cat <&3'
    got = subprocess.run(["bash", "-c", script], user=65534, group=65534, capture_output=True, timeout=20, cwd="/").stdout.decode()
    expect(got.startswith("HTTP/1.1 401") or got.startswith("HTTP/1.1 403"), got[:300])
    return got.split("\r\n")[0]


def local(target):
    """Whoever sits at the machine is answered, or nothing above would be refused for the reason that is tried."""
    answer = wire.one(target, wire.request("GET", "/workers"))
    expect(answer is not None and answer.status == 200, f"{answer}")
    return "200"


def attacks():
    yield Attack("control of the rule: curl on this machine", "200", local, True)
    for header in PASSED_ON:
        yield Attack(f"GET /workers, {header}", "401 or 403", refused("GET /workers", (header,)), header.startswith("Via"))
    for host in HOSTS:
        yield Attack(f"GET /workers, Host: {host or '(empty)'}", "400, 401 or 403", refused("GET /workers", host=host), host == "a.example")
    yield Attack("GET /workers in HTTP/1.0", "401 or 403", refused("GET /workers", version=b"HTTP/1.0"))
    yield Attack("a connection of another user", "401 or 403", another_user)
    for request in OPERATORS:
        yield Attack(f"{request}, Via", "401 or 403", refused(request, ("Via: 1.1 proxy",)))
    for path in ("//workers", "/workers/", "/workers;x", "/workers/..;/workers", "/%77orkers", "/v1/../workers", "/workers%2f", "/WORKERS", "/live/../workers", "/workers?x=/live", "/q/../workers"):
        yield Attack(f"GET {path}, Via", "refused", closed_to(f"GET {path}", ("Via: 1.1 proxy",)))


def closed_to(request, headers):
    def run(target):
        answer = wire.one(target, wire.request(*request.split(" "), b"", headers))
        expect(answer is not None and 400 <= answer.status < 500, f"{answer and (answer.status, answer.body[:200])}")
        return f"{answer.status}"
    return run


def routes(target):
    """Every path and method that the gateway describes, with a body or without: nothing but what is meant for everybody without a key."""
    answer = wire.one(target, wire.request("GET", "/q/openapi?format=json", headers=("Accept: application/json",)))
    described = json.loads(answer.body)["paths"]
    wrong, asked = [], 0
    for path, methods in described.items():
        path = path.replace("{", "").replace("}", "")
        for method in ("get", "post", "put", "delete", "patch"):
            for shown in ((), ("Authorization: Bearer " + "x" * 60,), ("Authorization: Bearer",), ("Authorization: Basic Og==",), ("x-api-key: ",)):
                got = wire.one(target, wire.request(method.upper(), path, b"{}" if method != "get" else b"", ("Content-Type: application/json", *shown)))
                asked += 1
                if not (path.startswith(OPEN) or (got is not None and 400 <= got.status < 500)):
                    wrong.append(f"{method} {path} {got and got.status}")
                if method in methods and not path.startswith(OPEN) and got is not None and got.status not in (401, 403):
                    wrong.append(f"{method} {path} {got.status}")
    expect(not wrong, f"{len(wrong)}: {wrong[:5]}")
    expect(asked > 200, f"only {asked} were described")
    return f"{asked} requests to {len(described)} paths"


def shows(request, shown, statuses):
    """These credentials get one of these statuses."""
    def run(target):
        method, path = request.split(" ")
        headers = ("Content-Type: application/json", *shown)
        answer = wire.one(target, wire.request(method, path, wire.chat_body("shown") if method == "POST" else b"", headers))
        expect(answer is not None and answer.status in statuses, f"{answer and (answer.status, answer.body[:200])}")
        text = (answer.head + answer.body.decode(errors="replace"))
        expect(TOKEN not in text and KEY not in text, "a secret is in the answer")
        return f"{answer.status}"
    return run


def credentials():
    bearer = "Authorization: Bearer "
    yield Attack("every path and method without a key, with wrong ones and halves", "401 or 403", routes, True)
    yield Attack("the operator's token", "200 for /workers", shows("GET /workers", (bearer + TOKEN,), (200,)))
    yield Attack("a client's key", "200 for a chat", shows("POST /v1/chat/completions", (bearer + KEY,), (200,)))
    yield Attack("a client's key for /workers", "401 or 403", shows("GET /workers", (bearer + KEY,), (401, 403)))
    yield Attack("the operator's token for a chat", "401 or 403", shows("POST /v1/chat/completions", (bearer + TOKEN,), (401, 403)))
    for name, token in (("one letter more", TOKEN + "x"), ("one less", TOKEN[:-1]), ("in capitals", TOKEN.upper()), ("with a blank", TOKEN + " x"), ("its hash", hashlib.sha256(TOKEN.encode()).hexdigest()),
                        ("nothing", ""), ("8,000 bytes", "x" * 8000)):
        yield Attack(f"an operator's token: {name}", "401 or 403", shows("GET /workers", (bearer + token,), (401, 403, 431)))
    for name, shown in (("two, the right one last", (bearer + "x", bearer + TOKEN)), ("two, the right one first", (bearer + TOKEN, bearer + "x")), ("in a query", ()), ("as a cookie", (f"Cookie: Authorization=Bearer {TOKEN}",)), ("as x-api-key", (f"x-api-key: {TOKEN}",)),
                        ("as Basic", (f"Authorization: Basic {TOKEN}",)), ("as a list", (bearer + "x, Bearer " + TOKEN,))):
        path = "GET /workers" + (f"?token={TOKEN}&access_token={TOKEN}" if name == "in a query" else "")
        yield Attack(f"the operator's token {name}", "400, 401 or 403", shows(path, shown, (400, 401, 403)))
    yield Attack("two keys, the right one last", "400, 401 or 403", shows("POST /v1/chat/completions", (bearer + "x", bearer + KEY), (400, 401, 403)))
    for name, shown in (("two keys, the right one first", (bearer + KEY, bearer + "x")), ("one key twice", (bearer + KEY, bearer + KEY)), ("a key beside another in x-api-key", (bearer + KEY, "x-api-key: x")),
                        ("another beside a key in x-api-key", (bearer + "x", f"x-api-key: {KEY}")), ("two in x-api-key", (f"x-api-key: {KEY}", "x-api-key: x"))):
        for request in ("POST /v1/chat/completions", "GET /v1/models"):
            yield Attack(f"{name}, {request}", "400 or 401", shows(request, shown, (400, 401)))
    yield Attack("x-warmpath-explain of a key that may not", "nothing is told", untold)
    yield Attack("tenants in /metrics", "none is named", nameless)
    yield Attack("other methods of what is only read", "405", only_read)
    yield Attack("another tenant by x-tenant-id", "403", shows("POST /v1/chat/completions", (bearer + KEY, "x-tenant-id: other"), (403,)))
    yield Attack("keys are not for engines", "no engine sees one", not_passed_on)


def untold(target):
    for more in ({}, {"stream": True}):
        answer = wire.one(target, wire.request("POST", "/v1/chat/completions", wire.chat_body("why", **more), ("Content-Type: application/json", "Authorization: Bearer " + KEY, "x-warmpath-explain: 1")))
        told = [line for line in answer.head.lower().split("\r\n") if line.startswith("x-warmpath-")]
        expect(answer.status == 200 and not told and b"routing" not in answer.body, f"{answer.status} {told} {answer.body[:200]}")
    return "no header, no event"


def nameless(target):
    shows("POST /v1/chat/completions", ("Authorization: Bearer " + KEY,), (200,))(target)
    named = sorted(set(re.findall(r'tenant="([^"]*)"', wire.one(target, wire.request("GET", "/metrics")).body.decode())))
    expect(named == ["all"], f"named: {named}")
    return "all of them together"


def only_read(target):
    wrong, asked = [], 0
    for path in ("/metrics", "/metrics/x", "/live", "/ready", "/health", "/q/health", "/q/health/live", "/q/health/ready", "/q/health/x", "/q/openapi"):
        for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"):
            got = wire.one(target, wire.request(method, path))
            asked += 1
            if got is None or got.status != 405 or got.header("allow") != "GET, HEAD":
                wrong.append(f"{method} {path} {got and (got.status, got.header('allow'))}")
    expect(not wrong, f"{len(wrong)} of {asked}: {wrong[:4]}")
    return f"{asked} requests"


def not_passed_on(target):
    shows("POST /v1/chat/completions", ("Authorization: Bearer " + KEY,), (200,))(target)
    seen = [c.head for c in target.engine.calls if KEY in c.head or TOKEN in c.head]
    expect(not seen, f"{seen[:1]}")
    text = target.log.read_text(errors="replace")
    expect(KEY not in text and TOKEN not in text, "a secret is in the log")
    return f"none in {len(target.engine.calls)} requests and the log"


def play(stage, suite):
    suite.attacks(stage.plain(), attacks())
    record = f"keys:\n  - name: team-a\n    sha256: {hashlib.sha256(KEY.encode()).hexdigest()}\n    tenant: acme\n"
    secured = stage.gateway("secured", stage.engine(), "--api-key-file", str(stage.file("keys.yaml", record)), "--admin-token-file", str(stage.file("admin-token", TOKEN)),
                            headers=("Authorization: Bearer " + KEY,))
    suite.attacks(secured, credentials())
    naive = Naive()
    suite.controls(naive, [Attack("GET /workers, Via", "", refused("GET /workers", ("Via: 1.1 proxy",)), True),
                           Attack("GET /workers, Host: a.example", "", refused("GET /workers", host="a.example"))])
    naive.close()
    suite.controls(stage.plain(), [Attack("a gateway without keys", "", shows("POST /v1/chat/completions", (), (401,))), Attack("why, without keys", "", untold), Attack("tenants without keys", "", nameless)])

"""One tenant's sessions, pins and hints, tried by another: they act on nobody else's, and tell nothing of them."""
import hashlib
import json

import wire
from stage import ROOT
from suite import Attack, expect, until

NAME = "between tenants"
SMOKE = False
HOLDS = "pins, sessions, hints and salts of one tenant neither reach nor show another's"
VICTIM, INTRUDER = "sk-" + "v" * 60, "sk-" + "i" * 60
SESSION = "run-17"
# Long enough for blocks of its own.
PROMPT = "the victim's long prompt, word by word " * 60


def key(which):
    return ("Authorization: Bearer " + which, "Content-Type: application/json")


def ask(target, who, nvext=None, headers=(), text=PROMPT, messages=None):
    body = {"model": "demo", "max_tokens": 2, "messages": messages or [{"role": "user", "content": text}], **({"nvext": nvext} if nvext else {})}
    return wire.one(target, wire.request("POST", "/v1/chat/completions", json.dumps(body).encode(), (*key(who), "x-warmpath-explain: 1", *headers)))


def control(session=SESSION, **more):
    return {"session_control": {"session_id": session, **more}}


def turn(target, who, session, secret="the answer", headers=(), **more):
    """A turn that brings its whole conversation; `more` of its session control."""
    said = [{"role": "user", "content": PROMPT}, {"role": "assistant", "content": secret}, {"role": "user", "content": "next"}]
    return ask(target, who, control(session, **more), headers, messages=said)


def pins(target):
    answer = wire.one(target, wire.request("GET", "/sessions/pins"))
    return json.loads(answer.body)["data"]


def sessions(target):
    return json.loads(wire.one(target, wire.request("GET", "/sessions")).body)["data"]


def engines_calls(target):
    return [c for e in target.behind for c in e.calls]


def opened(target, who, session=SESSION):
    answer = ask(target, who, control(session, action="open", timeout=600))
    expect(answer is not None and answer.status == 200, f"{answer}")
    return answer


def does_not_close(target):
    """The intruder closes, opens again and binds the victim's id: the victim's goes on."""
    opened(target, VICTIM)
    rank = turn(target, VICTIM, SESSION).header("x-warmpath-worker")
    for action in ("close", "open", "bind", "close"):
        turn(target, INTRUDER, SESSION, action=action)
    turn(target, INTRUDER, SESSION, headers=("X-Dynamo-Session-Final: true", f"X-Dynamo-Session-ID: {SESSION}"))
    for _ in range(3):
        answer = turn(target, VICTIM, SESSION)
        expect(answer.status == 200, f"{answer.status} {answer.code()}")
        told = answer.header("x-warmpath-session") or ""
        expect(told.startswith("kept"), f"the victim's turn is `{told}`")
        expect(answer.header("x-warmpath-worker") == rank, f"from {rank} to {answer.header('x-warmpath-worker')}")
    return f"kept on {rank}"


def does_not_read(target):
    """A turn without history on the victim's id brings none of the victim's conversation to the engine, nor an answer that tells it is there."""
    secret, session = "the victim's secret", "run-18"
    opened(target, VICTIM, session)
    turn(target, VICTIM, session, secret)
    before = len(engines_calls(target))
    mine = ask(target, INTRUDER, control(session), text="what was said?")
    other = ask(target, INTRUDER, control("nobody-has-it"), text="what was said?")
    calls = engines_calls(target)[before:]
    expect(not any(secret.encode() in c.body for c in calls), "the engine got the victim's conversation for the intruder")
    expect(secret.encode() not in (mine.body or b""), "the answer has it")
    expect((mine.status, mine.code()) == (other.status, other.code()), f"an id that is the victim's: {mine.status} {mine.code()}, one that is nobody's: {other.status} {other.code()}")
    return f"{mine.status} {mine.code()} as for an id that is nobody's"


def by_another_name(target):
    """Another tenant's name in every field that has one: refused, or the intruder's own."""
    session = "run-19"
    opened(target, VICTIM, session)
    before = [len(e.calls) for e in target.behind]
    turn(target, VICTIM, session)
    theirs = salts(target, before)
    before = [len(e.calls) for e in target.behind]
    got = []
    for more, headers in (({}, ("x-tenant-id: victim",)), ({"cache_salt": "victim"}, ()), ({}, ("X-Tenant-Id: victim", "x-tenant-id: intruder"))):
        body = {"model": "demo", "max_tokens": 2, **more, "messages": [{"role": "user", "content": PROMPT}, {"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}]}
        for nvext in ({**control(session, action="close"), **more}, control(session, action="close")):
            data = json.dumps({**body, "nvext": nvext}).encode()
            got.append(wire.one(target, wire.request("POST", "/v1/chat/completions", data, (*key(INTRUDER), *headers))).status)
    mine = salts(target, before)
    expect(theirs and None not in theirs and not theirs & mine, f"the engines' salts are {theirs} for the victim and {mine} for the intruder")
    answer = turn(target, VICTIM, session)
    expect((answer.header("x-warmpath-session") or "").startswith("kept"), f"{got}, the victim's turn is `{answer.header('x-warmpath-session')}`")
    return f"{', '.join(map(str, got))}; the engines' salts: {theirs} and {mine}"


def salts(target, before):
    """What engines are told to keep caches apart by, since then."""
    return {json.loads(c.body).get("cache_salt") for e, n in zip(target.behind, before) for c in e.calls[n:] if c.method == "POST" and c.path.startswith("/v1/")}


def pinned(target, who):
    before = len(pins(target))
    answer = ask(target, who, {"cache_control": {"type": "ephemeral", "ttl": "1h"}})
    expect(answer.status == 200, f"{answer}")
    until(lambda: len(pins(target)) > before, 10, lambda: f"no pin: {pins(target)}, {[l for l in wire.one(target, wire.request('GET', '/metrics')).body.decode().split(chr(10)) if l.startswith('warmpath_pins_total')]}")
    return pins(target)


def pins_are_apart(target):
    """The same prompt of another tenant neither finds nor prolongs nor replaces the victim's pin."""
    held = {p["id"]: p for p in pinned(target, VICTIM)}
    for _ in range(3):
        answer = ask(target, INTRUDER)
        expect(answer.header("x-warmpath-pinned-blocks") in (None, "0"), f"the intruder's request counts {answer.header('x-warmpath-pinned-blocks')} pinned blocks")
    mine = ask(target, VICTIM)
    expect(int(mine.header("x-warmpath-pinned-blocks") or 0) > 0, f"the victim's own counts {mine.header('x-warmpath-pinned-blocks')}: nothing is tried")
    pinned(target, INTRUDER)
    now = {p["id"]: p for p in pins(target)}
    expect(set(held) <= set(now), "the victim's pin is gone")
    return f"{len(now)} pins, the victim's untouched"


def lists_are_operators(target):
    """Lists, looks and deletions of sessions and pins are not for clients."""
    one = pins(target)[0]["id"]
    got = []
    for method, path in (("GET", "/sessions"), ("GET", "/sessions/pins"), ("GET", f"/sessions/pins/{one}"), ("DELETE", f"/sessions/pins/{one}"), ("GET", f"/sessions/{SESSION}"), ("DELETE", f"/sessions/{SESSION}")):
        answer = wire.one(target, wire.request(method, path, headers=(*key(INTRUDER), "X-Forwarded-For: 192.0.2.1")))
        got.append(answer.status)
        expect(answer.status in (401, 403, 404), f"{method} {path}: {answer.status} {answer.body[:150]}")
        expect(PROMPT[:20].encode() not in answer.body and b"victim" not in answer.body, f"{method} {path} tells of the victim")
    expect(one in [p["id"] for p in pins(target)], "the pin is deleted")
    return ", ".join(map(str, got))


def quota_is_its_own(target):
    """A tenant with all its pins leaves the others theirs."""
    for i in range(8):
        ask(target, INTRUDER, {"cache_control": {"type": "ephemeral"}}, text=f"{i} {PROMPT}")
    before = len(pins(target))
    answer = ask(target, VICTIM, {"cache_control": {"type": "ephemeral"}}, text=f"another {PROMPT}")
    expect(answer.status == 200, f"{answer}")
    until(lambda: len(pins(target)) > before, 10, lambda: f"{len(pins(target))} pins, {before} before")
    return f"{before} pins, then {len(pins(target))}"


def cache_is_its_own(target):
    """The same prompt of another tenant is not predicted as cached."""
    text = "warmed by the victim " * 80
    for _ in range(3):
        mine = ask(target, VICTIM, text=text)
    blocks = lambda answer: int(dict(part.split("=") for part in answer.header("x-warmpath-matched-blocks").split(";"))["gpu"])  # noqa: E731
    expect(blocks(mine) > 0, "the victim's own has none: nothing is tried")
    other = ask(target, INTRUDER, text=text)
    expect(blocks(other) == 0, f"the intruder is told {blocks(other)} blocks in cache")
    return f"{blocks(mine)} blocks for the victim, {blocks(other)} for the other"


def attacks():
    yield Attack("closing, opening and binding another tenant's session", "the victim's goes on where it is", does_not_close)
    yield Attack("a turn without history on another tenant's session", "as for an id that is nobody's", does_not_read)
    yield Attack("another tenant's name in headers and fields", "the victim's session goes on", by_another_name)
    yield Attack("another tenant's pin", "neither found nor touched", pins_are_apart)
    yield Attack("lists and deletions of sessions and pins by a client", "401, 403 or 404", lists_are_operators)
    yield Attack("as many pins as a tenant may have", "another tenant's is taken", quota_is_its_own)
    yield Attack("another tenant's prompt, word by word", "no block of it is told as cached", cache_is_its_own)


def records(**tenants):
    return "keys:\n" + "".join(f"  - name: {name}\n    sha256: {hashlib.sha256(secret.encode()).hexdigest()}\n    tenant: {tenant}\n" for name, (secret, tenant) in tenants.items())


def play(stage, suite):
    tokenizer = ROOT / "src/tokens/main/resources/demo-model/tokenizer.json"

    def gateway(name, keys):
        engines = [stage.engine(), stage.engine()]
        config = "warmpath:\n  workers:\n" + "".join(f"    - url: {e.url}\n      pins: kv-hints\n" for e in engines)
        started = stage.gateway(name, [], "--config", str(stage.file(f"{name}.yaml", config)), "--api-key-file", str(stage.file(f"{name}-keys.yaml", keys)), "--tokenizer", str(tokenizer),
                                "--router-mode", "kv", "--no-kv-events", "--enable-cache-control", "--explain", "always", headers=("Authorization: Bearer " + VICTIM,), engine=engines[0],
                                environment={"WARMPATH_SESSION_PINS_TENANT_MAX": "4"})
        started.behind = engines
        return started
    suite.attacks(gateway("tenants", records(victim=(VICTIM, "victim"), intruder=(INTRUDER, "intruder"))), attacks())
    # Control: two keys of one tenant, who are one to the gateway: each attack goes through.
    one = gateway("one-tenant", records(victim=(VICTIM, "shared"), intruder=(INTRUDER, "shared")))
    suite.controls(one, [a for a in attacks() if "lists" not in a.name and "name in headers" not in a.name])

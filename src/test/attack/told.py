"""What engines, clients and files tell the gateway: names with line ends and escapes, models without end, forged tokens, strange files, addresses of workers."""
import base64
import hashlib
import hmac
import json
import os
import time

import wire
from certificates import openssl
from naive import Naive
from suite import Attack, expect, until

NAME = "what others say"
HOLDS = "escapes are escaped, models are bounded, forged tokens and wrong addresses refused, strange state files set aside"
SMOKE = False
BAD = "evil\n2026-01-01 00:00:00,000 INFO  [Forged] all is well\r\n\x1b[31m\x1b]0;title\x07\u202e"


def log_is_whole(target):
    """Escapes of a terminal and lines that others wrote are not in the log."""
    text = target.log.read_bytes()
    expect(b"\x1b" not in text and b"\x07" not in text and b"\n2026-01-01 00:00:00,000" not in text, "the log has bytes that somebody else wrote")
    return f"{len(text)} bytes, none of theirs"


def written(target, request):
    for data in request:
        try:
            wire.one(target, data, 5)
        except OSError:
            pass
    return log_is_whole(target)


def series(target):
    return wire.one(target, wire.request("GET", "/metrics")).body.count(b"\n")


def many_models(target):
    """An engine that lists models without end, others each time: used up to 1,000, and series of those that are gone go."""
    before = series(target)
    for round_ in range(4):
        target.engine.models[:] = ["demo"] + [f"model-{round_}-{i}" for i in range(20_000)]
        time.sleep(1.5)
    listed = len(json.loads(wire.one(target, wire.request("GET", "/v1/models")).body)["data"])
    most = series(target)
    target.engine.models[:] = ["demo"]
    until(lambda: series(target) < before + 200, 60, lambda: f"{series(target)} lines of metrics, {before} before, {listed} models listed")
    expect(listed <= 1100, f"{listed} models are listed")
    expect(most < before + 60_000, f"{most} lines of metrics")
    return f"{listed} models listed, {most} lines of metrics, afterwards {series(target)}"


def worker(record):
    def run(target):
        answer = wire.one(target, wire.request("POST", "/workers", json.dumps(record).encode(), ("Content-Type: application/json",)))
        expect(answer is not None and answer.status == 400, f"{answer and (answer.status, answer.body[:150])}")
        return "400"
    return run


ADDRESSES = ("http://h:0", "http://10.0.0.1:65536", "http://10.0.0.1:-1", "http://169.254.169.254/latest", "http://[::ffff:169.254.169.254]:80", "http://[fe80::1%eth0]:80", "http://0.0.0.0:80",
             *("http://" + host for host in ("224.0.0.1:80", "2130706433:80", "0x7f000001:80", "0177.0.0.1:80", "127.1:80")), "file:///etc/passwd", "ftp://10.0.0.1", "gopher://10.0.0.1:70",
             "javascript:alert(1)", "http://user:secret@10.0.0.1:80", "http://10.0.0.1:80#x", "http://10.0.0.1:80?x=y", "http://a b:80", "http://", "10.0.0.1:80", "", "http://" + "a" * 300 + ":80",
             "http://a\r\nHost: x:80", "http://10.0.0.1:80\x00")


def b64(data):
    return base64.urlsafe_b64encode(data if isinstance(data, bytes) else json.dumps(data).encode()).rstrip(b"=")


def token(header, claims, sign):
    text = b64(header) + b"." + b64(claims)
    return (text + b"." + b64(sign(text))).decode()


class Issuer:
    """An RSA key whose set the gateway reads, and another one that nobody knows."""

    def __init__(self, stage):
        self.folder = stage.folder / "jwt"
        self.folder.mkdir(parents=True, exist_ok=True)
        for name in ("own", "other"):
            openssl("genrsa", "-out", self.folder / f"{name}.key", 2048)
        openssl("rsa", "-in", self.folder / "own.key", "-pubout", "-out", self.folder / "own.pub")
        openssl("rsa", "-in", self.folder / "own.key", "-noout", "-modulus", "-out", self.folder / "own.modulus")
        modulus = bytes.fromhex((self.folder / "own.modulus").read_text().strip().partition("=")[2])
        self.jwk = {"kty": "RSA", "kid": "k1", "use": "sig", "alg": "RS256", "n": b64(modulus).decode(), "e": "AQAB"}
        self.file = stage.file("jwks.json", json.dumps({"keys": [self.jwk]}))

    def signed(self, text, by="own", digest="-sha256"):
        (self.folder / "text").write_bytes(text)
        openssl("dgst", digest, "-sign", self.folder / f"{by}.key", "-out", self.folder / "signature", self.folder / "text")
        return (self.folder / "signature").read_bytes()


def tokens(issuer):
    now = int(time.time())
    good = {"iss": "https://issuer.example", "aud": "gateway", "sub": "me", "exp": now + 600}
    head = {"alg": "RS256", "kid": "k1", "typ": "JWT"}
    public = (issuer.folder / "own.pub").read_bytes()
    yield "right", token(head, good, issuer.signed), (200,)
    for alg in ("none", "None", "NONE", ""):
        yield f"alg {alg or '(empty)'}", token({**head, "alg": alg}, good, lambda t: b""), (401,)
    yield "alg HS256 with the public key as secret", token({**head, "alg": "HS256"}, good, lambda t: hmac.new(public, t, hashlib.sha256).digest()), (401,)
    yield "alg RS512, the key is for RS256", token({**head, "alg": "RS512"}, good, lambda t: issuer.signed(t, digest="-sha512")), (401,)
    yield "another's key", token(head, good, lambda t: issuer.signed(t, "other")), (401,)
    yield "a key that it brings along", token({**head, "kid": "k2", "jwk": issuer.jwk, "jku": "http://127.0.0.1:1/", "x5u": "http://127.0.0.1:1/"}, good, lambda t: issuer.signed(t, "other")), (401,)
    for name, kid in (("of a path", "../../etc/passwd"), ("of a query", "' OR 1=1 --"), ("of 100 KB", "k" * 5000), ("that is a number", 1)):
        yield f"a kid {name}", token({**head, "kid": kid}, good, lambda t: issuer.signed(t, "other")), (401, 431)
    for name, claims in (("expired", {"exp": now - 600}), ("not yet", {"nbf": now + 600}), ("another audience", {"aud": "other"}), ("another issuer", {"iss": "https://other.example"}),
                         ("an expiry that is text", {"exp": "never"}), ("an expiry of 1e300", {"exp": 1e300}), ("a subject that is empty", {"sub": ""})):
        yield name, token(head, {**good, **claims}, issuer.signed), (200, 401) if "1e300" in name else (401,)
    for missing in ("exp", "iss", "aud", "sub"):
        yield f"without {missing}", token(head, {k: v for k, v in good.items() if k != missing}, issuer.signed), (401,)
    right = token(head, good, issuer.signed)
    yield "cut off", right[:-10], (401,)
    yield "without its signature", right.rpartition(".")[0] + ".", (401,)
    yield "another body", right.split(".")[0] + "." + b64({**good, "sub": "other"}).decode() + "." + right.split(".")[2], (401,)
    yield "four parts", right + ".x", (401,)
    yield "a critical header", token({**head, "crit": ["x"], "x": 1}, good, issuer.signed), (401,)
    yield "JSON of 3,000 arrays", "eyJ" + "." + b64(b"[" * 3000).decode() + ".x", (401, 431)


def shown(text, statuses):
    def run(target):
        answer = wire.one(target, wire.chat("token", ("Authorization: Bearer " + text,)))
        expect(answer is not None and answer.status in statuses, f"{answer and (answer.status, answer.body[:200])}")
        return f"{answer.status}"
    return run


def strange_state(stage):
    """Files in the state directory that are huge, half, links or folders: the start goes on."""
    def run():
        folder = stage.folder / "state"
        folder.mkdir(exist_ok=True)
        first = stage.gateway("state", stage.engine(), "--state-directory", str(folder))
        stage.stop(first.process)
        names = sorted(p.name for p in folder.iterdir() if p.is_file())
        made = 0
        for damage in (b"", b"\xff" * 1000, b"[" * 100_000, None):
            for name in names:
                path = folder / name
                if path.is_dir():
                    continue
                path.unlink(missing_ok=True)
                if damage is None:
                    with open(path, "wb") as sparse:
                        sparse.truncate(20 << 30)
                else:
                    path.write_bytes(damage)
                made += 1
            os.makedirs(folder / "a-folder", exist_ok=True)
            (folder / "link").unlink(missing_ok=True)
            (folder / "link").symlink_to("/dev/zero")
            again = stage.gateway("state", stage.engine(), "--state-directory", str(folder))
            again.well()
            stage.stop(again.process)
        for path in folder.iterdir():
            if path.is_file() and not path.is_symlink():
                path.unlink()
        expect(names, "no file was written, so none was damaged")
        return f"{made} damaged files ({', '.join(names)[:80]}), 4 starts"
    return run


def play(stage, suite):
    engine = stage.engine(models=("demo", BAD, "\x00\x01", "m" * 100_000, "\u202egpj.exe"))
    gateway = stage.gateway("told", engine)
    paths = [wire.chat("x", (f"X-Request-Id: a{c}b",)) for c in ("\x1b[31m", "\u0085".encode().decode("latin-1"), "\x7f")]
    paths += [wire.request("POST", "/v1/chat/completions", json.dumps({"model": BAD, "messages": [{"role": "user", "content": "a"}]}).encode())]
    paths += [wire.request("GET", "/v1/models/%1b%5b31m%0aFORGED"), b"GET /\x1b[31m HTTP/1.1\r\nHost: localhost\r\n\r\n"]
    suite.attacks(gateway, [Attack("models whose names have line ends and escapes", "escaped in the log", log_is_whole),
                            Attack("ids, models and paths with escapes", "escaped in the log", lambda t: written(t, paths)),
                            Attack("20,000 models, others each time", "at most 1,000 used, their series go", many_models)])
    suite.attacks(gateway, [Attack(f"a worker at {json.dumps(url)[:60]}", "400", worker({"url": url})) for url in ADDRESSES])
    for name, record in (("events at a metadata service", {"events-endpoint": "tcp://169.254.169.254:80"}), ("a name with line ends", {"name": BAD}), ("an id that is text", {"id": "x"}),
                         ("ranks of 2^31", {"dp_size": 2**31}), ("a weight of -1", {"weight": -1}), ("a member that is none", {"no-such-member": 1})):
        suite.attacks(gateway, [Attack(f"a worker with {name}", "400", worker({"url": "http://10.255.255.1:80", **record}))])
    issuer = Issuer(stage)
    right = next(tokens(issuer))[1]
    jwt = stage.gateway("jwt", stage.engine(), "--jwks", str(issuer.file), "--jwt-issuer", "https://issuer.example", "--jwt-audience", "gateway",
                        headers=("Authorization: Bearer " + right,))
    suite.attacks(jwt, [Attack(f"a token: {name}", " or ".join(map(str, statuses)), shown(text, statuses)) for name, text, statuses in tokens(issuer)])
    suite.row("damaged, huge and strange files in the state directory", "the start goes on", strange_state(stage))
    naive = Naive()
    naive.log = stage.file("naive.log", f"model {BAD} is new\n")
    suite.controls(naive, [Attack("a name with line ends in a log", "", log_is_whole), Attack("a worker at http://h:0", "", worker({"url": "http://h:0"})),
                           Attack("a token without signature", "", shown("x.y.", (401,)))])
    naive.close()

#!/usr/bin/env python3
"""What the other end-to-end tests leave out, for a gateway that is compiled ahead of time: each finds classes, resources or C functions
of its own by name, and misses them only when it is used. Standard library and openssl.

  executable.py --root DIR --java JAVA -- COMMAND...

COMMAND, with `serve` at its end, is started with a stub of a Kubernetes API server, one of a collector of traces, a file of JSON web keys
and a YAML file of settings, in front of a simulated engine of the tree at DIR. The same is done with that tree's gateway in a JVM, and
answers that have no figures of their own are compared.
"""
import argparse
import base64
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

JAR = "target/gateway/quarkus-app/quarkus-run.jar"
PLAIN = ["/", "/v1/models", "/live", "/health", "/ready", "/console", "/q/openapi", "/nothing/here"]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Stub(http.server.BaseHTTPRequestHandler):
    """A Kubernetes API server with one pod behind one Service, and a collector that takes everything."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.append(self.path)
        if "watch=" in self.path:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.flush()
            self.server.closing.wait()
            self.close_connection = True
            return
        kind = "pods" if "/pods" in self.path else "slices"
        self.say({"kind": "List", "metadata": {"resourceVersion": "1"}, "items": [self.server.objects[kind]]})

    def do_POST(self):
        self.server.traces.append((self.path, len(self.rfile.read(int(self.headers.get("content-length", 0))))))
        self.say({})

    def say(self, body):
        text = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Stubs(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, engine_port):
        super().__init__(("127.0.0.1", 0), Stub)
        self.asked, self.traces, self.closing = [], [], threading.Event()
        labels = {"app.kubernetes.io/component": "engine", "kubernetes.io/service-name": "engines"}
        head = {"namespace": "models", "labels": labels, "resourceVersion": "1"}
        port = {"name": "http", "containerPort": engine_port, "protocol": "TCP"}
        self.objects = {
            "pods": {"metadata": {**head, "name": "engine-0", "uid": "u0"}, "spec": {"containers": [{"name": "e", "ports": [port]}]}},
            "slices": {"metadata": {**head, "name": "engines-1", "uid": "u1"}, "addressType": "IPv4",
                       "ports": [{"name": "http", "port": engine_port, "protocol": "TCP"}],
                       "endpoints": [{"addresses": ["127.0.0.1"], "conditions": {"ready": True, "serving": True, "terminating": False},
                                      "targetRef": {"kind": "Pod", "name": "engine-0", "namespace": "models"}}]},
        }
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


def openssl(*arguments, given=None):
    return subprocess.run(["openssl", *arguments], input=given, check=True, capture_output=True).stdout


def url64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    """An RSA key, the JSON web key set with its public half, and tokens that it signs."""

    def __init__(self, folder):
        self.key = os.path.join(folder, "issuer.pem")
        openssl("genrsa", "-out", self.key, "2048")
        modulus = openssl("rsa", "-in", self.key, "-noout", "-modulus").decode().strip().partition("=")[2]
        self.jwks = os.path.join(folder, "jwks.json")
        key = {"kty": "RSA", "kid": "k1", "alg": "RS256", "use": "sig", "n": url64(bytes.fromhex(modulus)), "e": "AQAB"}
        pathlib.Path(self.jwks).write_text(json.dumps({"keys": [key]}))

    def token(self, audience):
        now = int(time.time())
        claims = {"iss": "https://issuer", "aud": audience, "sub": "somebody", "iat": now, "exp": now + 600}
        text = ".".join(url64(json.dumps(part).encode()) for part in ({"alg": "RS256", "kid": "k1", "typ": "JWT"}, claims))
        return text + "." + url64(openssl("dgst", "-sha256", "-sign", self.key, given=text.encode()))


class Gateway:
    def __init__(self, command, flags, log):
        self.port = free_port()
        with open(log, "ab") as out:
            self.process = subprocess.Popen([*command, "--http-host", "127.0.0.1", "--http-port", str(self.port), *flags], stdout=out,
                                            stderr=out)
        self.log = log

    def ask(self, path, body=None, **headers):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", None if body is None else json.dumps(body).encode(),
                                         {"content-type": "application/json", **headers})
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as e:
            return e.code, e.read()

    def until(self, path, wanted, what, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise SystemExit(f"executable: the gateway ended with status {self.process.returncode}; its log is {self.log}")
            try:
                status, body = self.ask(path)
                if wanted(status, body):
                    return body
            except OSError:
                pass
            time.sleep(0.05)
        raise SystemExit(f"executable: {what} not within {seconds} s; its log is {self.log}")

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(40)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "killed"


def chat(text):
    return {"model": "demo", "max_tokens": 4, "messages": [{"role": "user", "content": text}]}


def check(name, held, told=""):
    print(f"executable: {'ok    ' if held else 'FAILED'} {name} {'' if held else told}", flush=True)
    return 0 if held else 1


def checks(tokenizer, engine_port, folder, name, command):
    """Starts one gateway with everything on; returns how many checks failed, its plain answers, and its families of metrics."""
    stubs = Stubs(engine_port)
    issuer = Issuer(folder)
    config = os.path.join(folder, "settings.yaml")
    pathlib.Path(config).write_text("warmpath:\n  addresses:\n    allowed: '*,127.0.0.0/8'\n  telemetry:\n    traces:\n      ratio: 1\n")
    flags = ["--config", config, "--service-discovery", "--service-discovery-namespace", "models", "--jwks", issuer.jwks,
             "--jwt-issuer", "https://issuer", "--jwt-audience", "warmpath", "--traces-endpoint", stubs.url, "--tokenizer", tokenizer]
    os.environ["WARMPATH_KUBERNETES_API_SERVER"] = stubs.url
    log = os.path.join(folder, name + ".log")
    gateway = Gateway(command, flags, log)
    failed = 0
    try:
        gateway.until("/ready", lambda status, _: status == 200, "/ready is 200")
        failed += check(f"{name}: a worker from Kubernetes", any("watch=" in p for p in stubs.asked), stubs.asked)
        good = {"authorization": "Bearer " + issuer.token("warmpath")}
        status, body = gateway.ask("/v1/chat/completions", chat("hello"), **good)
        failed += check(f"{name}: a chat with a JSON web token", status == 200, (status, body[:300]))
        status, body = gateway.ask("/v1/chat/completions", chat("hello"), authorization="Bearer " + issuer.token("another"))
        failed += check(f"{name}: a token for somebody else is refused", status == 401, (status, body[:300]))
        status, body = gateway.ask("/v1/completions", {"model": "demo", "prompt": "once upon a time", "max_tokens": 4}, **good)
        failed += check(f"{name}: a completion", status == 200, (status, body[:300]))
        end = time.monotonic() + 20
        while not stubs.traces and time.monotonic() < end:
            time.sleep(0.1)
        failed += check(f"{name}: traces reach the collector", any(p == "/v1/traces" and n > 100 for p, n in stubs.traces), stubs.traces)
        metrics = gateway.ask("/metrics")[1].decode()
        families = {line.split()[2] for line in metrics.splitlines() if line.startswith("# TYPE ")}
        failed += check(f"{name}: metrics", len(families) > 50, len(families))
        answers = {path: gateway.ask(path, **good) for path in PLAIN}
    finally:
        stubs.closing.set()
        status = gateway.end()
    failed += check(f"{name}: it ends with 0 or 143", status in (0, 143), status)
    text = pathlib.Path(log).read_text(errors="replace")
    for word in ("UnsupportedOperationException", "MissingReflectionRegistrationError", "NoSuchMethodException", "ClassNotFoundException", "a bug in the gateway"):
        failed += check(f"{name}: no {word} in its log", word not in text, log)
    return failed, answers, families


def library_tokenizer(engine_port, folder, name, command):
    """A tokenizer that only the Rust library knows, which is opened and called through JNI."""
    file = os.path.join(folder, "words.json")
    words = {word: i for i, word in enumerate(("[UNK]", "hello", "there", "once", "upon", "a", "time"))}
    pathlib.Path(file).write_text(json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None, "decoder": None,
        "model": {"type": "WordLevel", "vocab": words, "unk_token": "[UNK]"}}))
    log = os.path.join(folder, name + "-library.log")
    gateway = Gateway(command, ["--worker", f"http://127.0.0.1:{engine_port}", "--tokenizer", file], log)
    try:
        gateway.until("/ready", lambda status, _: status == 200, "/ready is 200")
        status, body = gateway.ask("/v1/completions", {"model": "demo", "prompt": "once upon a time", "max_tokens": 4})
    finally:
        gateway.end()
    text = pathlib.Path(log).read_text(errors="replace")
    return check(f"{name}: a completion", status == 200, (status, body[:300])) + check(
        f"{name}: the tokenizers library", "run by the tokenizers library" in text and "is not understood" not in text, log)


def version(command):
    """The executable says what it was built of."""
    told = subprocess.run([*command[:-1], "--version"], capture_output=True, text=True).stdout
    return check("version and commit", re.fullmatch(r"warmpath [0-9.]+ \(commit [0-9a-f]{12}, index ABI \d+, native executable\)\n", told), told)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--root", required=True)
    parser.add_argument("--java", required=True)
    parser.add_argument("command", nargs="+")
    a = parser.parse_args()
    jvm = [a.java, "-Xmx512m", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow", "-jar"]
    tokenizer = os.path.join(a.root, "src/tokens/main/resources/demo-model/tokenizer.json")
    folder = os.path.join(a.root, "target/e2e/executable")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    port = free_port()
    with open(os.path.join(folder, "engine.log"), "ab") as log:
        engine = subprocess.Popen([*jvm, os.path.join(a.root, "target/tools/warmpath-tools.jar"), "sim", "--port", str(port), "--model",
                                   "demo"], stdout=log, stderr=log)
    try:
        failed, mine, families = checks(tokenizer, port, folder, "executable", a.command)
        wrong, theirs, other = checks(tokenizer, port, folder, "jvm", [*jvm, os.path.join(a.root, JAR), "serve"])
        failed += library_tokenizer(port, folder, "executable", a.command)
        failed += version(a.command)
    finally:
        engine.kill()
    failed += wrong
    for path in PLAIN:
        failed += check(f"{path} as in a JVM", mine[path] == theirs[path], f"{str(mine[path])[:200]} and {str(theirs[path])[:200]}")
    absent = sorted(f for f in other - families if f.startswith("warmpath_"))
    failed += check("the gateway's own metrics as in a JVM", not absent, absent)
    return 1 if failed else 0


sys.exit(main())

"""The endpoint picker behind a real Envoy, as users start both: `warmpath picker` before simulated engines, and OpenAI's client.

  picker.py [--only NAME]     NAME: part of a check's name; logs are in target/picker/logs

Each check is a promise and prints one line. What the extension's conformance suite asserts of pickers is asserted here with the same
words (`conformance_...`); the rest is what was seen to break pickers: src/docs/endpoint-picker.md.
"""
import argparse
import collections
import concurrent.futures
import http.client
import json
import pathlib
import signal
import socket
import sys
import threading
import time
import traceback
import uuid

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "attack"), str(HERE.parent / "python/process")]
import openai  # noqa: E402

import proxy  # noqa: E402
from gateway_probe import free_ports, parsed  # noqa: E402
from stage import ROOT, Stage  # noqa: E402
from suite import until  # noqa: E402

ENGINES = 3
PATIENCE_S = 90
CHAT = "/v1/chat/completions"
JSON = {"content-type": "application/json"}
SELECT = "test-epp-endpoint-selection"
EVENT_GAP = 0.02


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def answers(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def unseen(words=60):
    """Text that no engine has seen."""
    seed = uuid.uuid4().hex
    return " ".join(f"{seed[i % 32]}{i} the cached prefix of request {seed}" for i in range(max(1, words // 6)))


def chat(text, **more):
    return json.dumps({"model": "demo", "max_tokens": 8, "messages": [{"role": "user", "content": text}], **more}).encode()


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body
        self.engine = headers.get("x-sim-engine")


class Lab:
    """Engines at an address each, two pickers (TLS, as by default, and clear text), Envoy."""

    def __init__(self, folder):
        self.stage = Stage(None, folder, print)
        ports = free_ports(4 + len(proxy.LISTENERS) + 2)
        self.engines = [f"127.0.0.{11 + i}:{ports}" for i in range(ENGINES)]
        self.picker_port, self.clear_port = ports + 1, ports + 2
        self.http, self.clear_http = ports + 3, ports + 4
        self.listeners = {name: f"127.0.0.1:{ports + 6 + i}" for i, name in enumerate(proxy.LISTENERS)}
        self.listeners["admin"] = f"127.0.0.1:{ports + 5}"
        self.base_id = ports
        self.picker = None

    def __enter__(self):
        for i, engine in enumerate(self.engines):
            host, port = engine.split(":")
            self.stage.start(f"engine{i}", [str(ROOT / "warmpath"), "sim", "--host", host, "--port", port, "--itl", "2ms", "--max-batch", "2048"])
        for engine in self.engines:
            until(lambda e=engine: self.engine(e, "/health"), PATIENCE_S, f"engine {engine} is not ready")
        self.start_picker()
        self.launch("clear", self.clear_port, self.clear_http, "--no-endpoint-picker-tls")
        for port in (self.http, self.clear_http):
            self.until_chooses(port)
        config = self.stage.folder / "envoy.json"
        proxy.write(config, self.listeners, self.engines, f"127.0.0.1:{self.picker_port}", f"127.0.0.1:{self.clear_port}")
        self.envoy = self.stage.start("envoy", proxy.command(config, self.base_id))
        until(lambda: self.post("duplex", chat("hello")).status == 200, PATIENCE_S, f"Envoy does not answer: {self.envoy.log}")
        return self

    def __exit__(self, *_):
        self.stage.clear()
        self.stage.close()

    def engine(self, endpoint, path):
        host, port = endpoint.split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=5)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return json.loads(answer.read() or b"{}") if answer.status == 200 else None
        except OSError:
            return None
        finally:
            connection.close()

    def launch(self, name, port, http_port, *flags):
        workers = [part for e in self.engines for part in ("--worker", f"http://{e}")]
        return self.stage.start(name, [str(ROOT / "warmpath"), "picker", "--http-host", "127.0.0.1", "--http-port", str(http_port),
                                       "--endpoint-picker-port", str(port), *workers, *flags], {"WARMPATH_PICKER_TEST_HEADER": "true"})

    def start_picker(self):
        self.picker = self.launch("picker", self.picker_port, self.http)

    def until_chooses(self, port):
        until(lambda: answers(port, "/ready"), PATIENCE_S, "the picker is not ready")
        until(lambda: sum(w["state"] == "ready" for w in self.json("/workers", port)["data"]) == ENGINES, PATIENCE_S, "the workers are not ready")

    def json(self, path, port=None):
        connection = http.client.HTTPConnection("127.0.0.1", port or self.http, timeout=10)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
            check(answer.status == 200, f"GET {path}: {answer.status} {body[:200]}")
            return json.loads(body)
        finally:
            connection.close()

    def metrics(self, port=None):
        connection = http.client.HTTPConnection("127.0.0.1", port or self.http, timeout=10)
        try:
            connection.request("GET", "/metrics")
            return parsed(connection.getresponse().read().decode())
        finally:
            connection.close()

    def port(self, listener):
        return int(self.listeners[listener].rsplit(":", 1)[1])

    def connect(self, listener, timeout=60):
        return http.client.HTTPConnection("127.0.0.1", self.port(listener), timeout=timeout)

    def ask(self, listener, method, path, body=None, headers=None, connection=None, **more):
        own = connection or self.connect(listener)
        try:
            own.request(method, path, body, {**JSON, **(headers or {})}, **more)
            answer = own.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            if connection is None:
                own.close()

    def post(self, listener, body, headers=None, connection=None, **more):
        return self.ask(listener, "POST", CHAT, body, headers, connection, **more)

    def client(self, listener):
        return openai.OpenAI(base_url=f"http://127.0.0.1:{self.port(listener)}/v1", api_key="none", max_retries=0, timeout=60)

    def settled(self):
        def none():
            now = self.metrics()
            return not any(now[k] for k in ("warmpath_bookings_open", "warmpath_requests_active", "warmpath_picker_streams"))
        until(none, 10, "bookings, requests or streams are left")


class Checks:
    def __init__(self, lab):
        self.lab = lab

    def predicted_is_reported(self):
        """OpenAI's client streams through Envoy; the second of two equal prompts finds its cache, as predicted."""
        text = unseen(600)
        for listener in ("duplex", "pool", "buffered", "request_only", "clear"):
            port = self.lab.clear_http if listener == "clear" else self.lab.http
            own = f"{listener} {text}"
            seen = []
            for _ in range(2):
                request = f"e2e-{uuid.uuid4().hex}"
                stream = self.lab.client(listener).chat.completions.create(
                    model="demo", max_tokens=16, stream=True, stream_options={"include_usage": True},
                    messages=[{"role": "user", "content": own}], extra_headers={"x-request-id": request})
                usage = [c.usage for c in stream if c.usage][-1]
                cached = usage.prompt_tokens_details.cached_tokens if usage.prompt_tokens_details else 0
                decision = until(lambda r=request: self.lab.json(f"/router/decisions?request_id={r}", port)["data"], 5, "the decision is not kept")[0]
                seen.append((decision, cached, usage.prompt_tokens))
                time.sleep(0.3)  # the events of what was computed are under way
            (first, cold, _), (second, warm, prompt) = seen
            check(cold == 0 and warm > prompt / 2, f"{listener}: {cold} and {warm} of {prompt} tokens were cached")
            check(first["worker"] == second["worker"], f"{listener}: {first['worker']}, then {second['worker']}")
            check(second["cached_tokens"] == warm, f"{listener}: {second['cached_tokens']} tokens predicted, {warm} reported")
            check(second["prompt_tokens"] == prompt, f"{listener}: {second['prompt_tokens']} tokens here, {prompt} at the engine")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="part of a check's name")
    only = parser.parse_args().only
    checks = [n for n in vars(Checks) if not n.startswith("_") and only in n]
    if not checks:
        parser.error(f"no check has '{only}' in its name")
    failed = 0
    with Lab(ROOT / "target/picker") as lab:
        suite = Checks(lab)
        for name in checks:
            began = time.monotonic()
            try:
                note = getattr(suite, name)()
                print(f"  ok      {name.replace('_', ' ')} ({time.monotonic() - began:.1f} s){': ' + note if note else ''}", flush=True)
            except Exception:
                failed += 1
                print(f"  FAILED  {name.replace('_', ' ')}\n{traceback.format_exc()}", flush=True)
    print(f"picker: {failed} of {len(checks)} checks failed" if failed else f"picker: {len(checks)} checks hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

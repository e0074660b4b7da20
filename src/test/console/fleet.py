"""Three simulated engines and the gateway of this tree, as a user starts them."""
import hashlib
import http.client
import json

from gateway_probe import free_ports
from stage import ROOT, Stage
from suite import until

ENGINES = 3
PATIENCE_S = 90
TENANTS = ("acme", "globex")
KEYS = {tenant: f"sk-{tenant}-" + "x" * 40 for tenant in (*TENANTS, "nobody")}


class Fleet:
    def __init__(self, folder):
        self.stage = Stage(None, folder, print)
        self.first = free_ports(ENGINES + 1)
        self.port = self.first + ENGINES
        self.url = f"http://localhost:{self.port}"
        self.engines = [None] * ENGINES
        self.gateway = None
        self.keys = self.stage.file("secrets/keys.yaml", "keys:\n" + "".join(
            f"  - name: key-{tenant}\n    sha256: {hashlib.sha256(key.encode()).hexdigest()}\n" + (f"    tenant: {tenant}\n    requests-per-minute: 100000\n" if tenant in TENANTS else "")
            for tenant, key in KEYS.items()))

    def __enter__(self):
        for i in range(ENGINES):
            self.start_engine(i)
        self.start_gateway()
        return self

    def __exit__(self, *_):
        self.stage.clear()
        self.stage.close()

    def start_engine(self, number):
        self.engines[number] = self.stage.start(f"engine{number}", [
            str(ROOT / "warmpath"), "sim", "--port", str(self.first + number), "--gpu-blocks", "2048", "--host-blocks", "4096",
            "--answer-tokens", "16", "--itl", "2ms", "--max-batch", "256"])
        until(lambda: answers(self.first + number, "/health"), PATIENCE_S, f"engine {number} is not ready")

    def stop_engine(self, number):
        self.engines[number].kill()
        self.engines[number].wait()

    def start_gateway(self, *flags):
        workers = [part for i in range(ENGINES) for part in ("--worker", f"http://127.0.0.1:{self.first + i}")]
        self.gateway = self.stage.start("gateway", [str(ROOT / "warmpath"), "serve", "--http-host", "127.0.0.1", "--http-port", str(self.port), "--api-key-file", str(self.keys), *workers, *flags])
        until(lambda: answers(self.port, "/ready"), PATIENCE_S, "the gateway is not ready")
        until(lambda: flags or len([w for w in self.json("/workers")["data"] if w["state"] == "ready"]) == ENGINES, PATIENCE_S, "the workers are not ready")

    def stop_gateway(self):
        self.stage.stop(self.gateway)

    def gateway_pid(self):
        """Of the process that serves: the launcher becomes it."""
        return self.gateway.pid

    def secret(self, text):
        return self.stage.file("secrets/token", text)

    def get(self, path):
        connection = http.client.HTTPConnection("localhost", self.port, timeout=30)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def json(self, path):
        status, body = self.get(path)
        if status != 200:
            raise AssertionError(f"GET {path}: {status} {body}")
        return json.loads(body)

    def chat(self, text, request, tenant="nobody", **members):
        connection = http.client.HTTPConnection("localhost", self.port, timeout=30)
        try:
            connection.request("POST", "/v1/chat/completions", json.dumps({"model": "demo", "max_tokens": 8, "messages": [{"role": "user", "content": text}], **members}),
                               {"content-type": "application/json", "x-request-id": request, "authorization": f"Bearer {KEYS[tenant]}"})
            response = connection.getresponse()
            body = response.read()
            if response.status != 200:
                raise AssertionError(f"a chat: {response.status} {body[:300]}")
        finally:
            connection.close()

    def traffic(self, requests):
        for i in range(requests):
            self.chat(f"document {i % 4} " * 60 + f"question {i}", f"traffic-{i}", (*TENANTS, "nobody", "nobody")[i % 4])


def answers(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()

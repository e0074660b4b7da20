#!/usr/bin/env python3
"""The gateway, as a user starts it, before a real kube-apiserver with the published CRDs: its engines are simulated ones, which one InferencePool names.

Wants the build, and what `./warmpath verify` leaves in .tools/kubernetes (kube-apiserver, etcd, crds); without it the exit code is 77. Standard
library only. Processes' logs are in target/k8s/inference-pool.
"""
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "src" / "test" / "python" / "process"))

from gateway_probe import free_ports  # noqa: E402

TOOLS = ROOT / ".tools" / "kubernetes"
FOLDER = ROOT / "target" / "k8s" / "inference-pool"
POOLS = "/apis/inference.networking.k8s.io/v1/namespaces/models/inferencepools"
REWRITES = "/apis/llm-d.ai/v1alpha2/namespaces/models/inferencemodelrewrites"
OBJECTIVES = "/apis/llm-d.ai/v1alpha2/namespaces/models/inferenceobjectives"
PODS = "/api/v1/namespaces/models/pods"
GATEWAY = "gateway-token"


def say(text):
    print(f"inference-pool: {text}", flush=True)


def asked(method, url, body=None, headers=None, context=None):
    """Status, text and headers (names in lower case) of an answer."""
    request = urllib.request.Request(url, data=None if body is None else body.encode(), method=method, headers=headers or {})
    try:
        answer = urllib.request.urlopen(request, timeout=20, context=context)
    except urllib.error.HTTPError as refused:
        answer = refused
    with answer:
        return answer.status, answer.read().decode(), {k.lower(): v for k, v in answer.headers.items()}


def wait(what, condition, seconds=90):
    end = time.monotonic() + seconds
    seen = None
    while time.monotonic() < end:
        try:
            seen = condition()
            if seen:
                return say(f"{what}: yes")
        except OSError as nobody_yet:
            seen = nobody_yet
        time.sleep(0.1)
    sys.exit(f"inference-pool: BROKEN: {what}: not within {seconds} s, last seen {seen!r}; logs are in {FOLDER}")


class Cluster:
    """etcd and kube-apiserver; no nodes, no controllers."""

    def __init__(self, start, port):
        self.url = f"https://127.0.0.1:{port}"
        self.context = ssl.create_default_context()
        self.context.check_hostname = False
        self.context.verify_mode = ssl.CERT_NONE
        subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-out", FOLDER / "accounts.pem"], check=True, capture_output=True)
        FOLDER.joinpath("tokens.csv").write_text(
            f'admin-token,admin,1,system:masters\n{GATEWAY},system:serviceaccount:models:warmpath,2,"system:serviceaccounts,system:authenticated"\n')
        FOLDER.joinpath("token").write_text(GATEWAY)
        store, peers = f"http://127.0.0.1:{port + 1}", f"http://127.0.0.1:{port + 2}"
        start("etcd", TOOLS / "etcd", f"--data-dir={FOLDER}/etcd-data", f"--listen-client-urls={store}", f"--advertise-client-urls={store}",
              f"--listen-peer-urls={peers}", f"--initial-advertise-peer-urls={peers}", f"--initial-cluster=default={peers}")
        start("kube-apiserver", TOOLS / "kube-apiserver", f"--etcd-servers={store}", "--bind-address=127.0.0.1", f"--secure-port={port}",
              f"--cert-dir={FOLDER}/certs", "--service-account-issuer=warmpath-test", f"--service-account-key-file={FOLDER}/accounts.pem",
              f"--service-account-signing-key-file={FOLDER}/accounts.pem", "--service-cluster-ip-range=10.0.0.0/24", "--authorization-mode=RBAC",
              f"--token-auth-file={FOLDER}/tokens.csv", "--disable-admission-plugins=ServiceAccount")
        wait("the API server is ready", lambda: self.ask("GET", "/readyz")[0] == 200)

    def ask(self, method, path, body=None):
        headers = {"Authorization": "Bearer admin-token", "Content-Type": "application/apply-patch+yaml"}
        return asked(method, self.url + path, body, headers, self.context)

    def do(self, method, path, body=None):
        status, text, _ = self.ask(method, path, body)
        if status >= 300:
            sys.exit(f"inference-pool: BROKEN: {method} {path}: {status} {text[:400]}")

    def apply(self, path, thing):
        self.do("PATCH", path + "?fieldManager=test&force=true", thing if isinstance(thing, str) else json.dumps(thing))

    def define(self, name, file, path):
        # A CRD's status is the server's to write.
        self.apply(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}", file.read_text().split("\nstatus:\n")[0])
        wait(f"{name} is served", lambda: self.ask("GET", path)[0] == 200)

    def pool(self, *ports):
        self.apply(f"{POOLS}/llm", {
            "apiVersion": "inference.networking.k8s.io/v1", "kind": "InferencePool", "metadata": {"name": "llm"},
            "spec": {"selector": {"matchLabels": {"app": "llm"}}, "targetPorts": [{"number": p} for p in ports],
                     "endpointPickerRef": {"name": "warmpath", "port": {"number": 9002}}}})

    def pod(self, name):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}}
        engine = {"containers": [{"name": "engine", "image": "engine:1"}]}
        self.apply(f"{PODS}/{name}", pod | {"metadata": {"name": name, "labels": {"app": "llm"}}, "spec": engine})
        self.apply(f"{PODS}/{name}/status", pod | {"status": {
            "phase": "Running", "podIP": "127.0.0.1", "podIPs": [{"ip": "127.0.0.1"}], "conditions": [{"type": "Ready", "status": "True"}]}})


def play(start):
    port = free_ports(6)
    cluster = Cluster(start, port)
    cluster.apply("/api/v1/namespaces/models", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "models"}})
    cluster.define("inferencepools.inference.networking.k8s.io", TOOLS / "crds" / "inferencepools.yaml", POOLS)
    cluster.define("inferenceobjectives.llm-d.ai", ROOT / "src/test/resources/kubernetes/llm-d-objectives.yaml", OBJECTIVES)
    cluster.define("inferencemodelrewrites.llm-d.ai", ROOT / "src/test/resources/kubernetes/llm-d-rewrites.yaml", REWRITES)
    rights = "/apis/rbac.authorization.k8s.io/v1/namespaces/models"
    component = ROOT / "k8s/components/endpoint-picker"
    cluster.apply(f"{rights}/roles/warmpath", component.joinpath("role.yaml").read_text())
    binding = component.joinpath("rolebinding.yaml").read_text().rstrip()
    cluster.apply(f"{rights}/rolebindings/warmpath", binding + "\n    namespace: models\n")

    engines = port + 3
    start("engines", ROOT / "warmpath", "sim", "--port", str(engines), "--count", "2")
    gateway = f"http://127.0.0.1:{port + 5}"
    start("gateway", ROOT / "warmpath", "serve", "--port", str(port + 5), "--inference-pool", "llm", "--service-discovery-namespace", "models",
          WARMPATH_KUBERNETES_API_SERVER=cluster.url, WARMPATH_KUBERNETES_TOKEN_FILE=f"{FOLDER}/token",
          WARMPATH_KUBERNETES_CA_FILE=f"{FOLDER}/certs/apiserver.crt", WARMPATH_ADDRESSES_ALLOWED="127.0.0.0/8")

    def ready():
        return asked("GET", gateway + "/ready")[0]

    def workers():
        return sorted(w["name"] for w in json.loads(asked("GET", gateway + "/workers")[1])["data"] if w["state"] == "ready")

    def why():
        checks = json.loads(asked("GET", gateway + "/q/health")[1])["checks"]
        return next(c for c in checks if c["name"] == "kubernetes")["data"].get("workers", "")

    def priority():
        model = json.loads(asked("GET", gateway + "/v1/models")[1])["data"][0]["id"]
        body = json.dumps({"model": model, "max_tokens": 2, "messages": [{"role": "user", "content": "hi"}]})
        headers = {"Content-Type": "application/json", "x-warmpath-explain": "1", "x-gateway-inference-objective": "premium"}
        status, text, said = asked("POST", gateway + "/v1/chat/completions", body, headers)
        return said.get("x-warmpath-hints", "").startswith("priority=100.0;") if status == 200 else sys.exit(f"BROKEN: {status} {text}")

    def rewritten():
        model = json.loads(asked("GET", gateway + "/v1/models")[1])["data"][0]["id"]
        cluster.apply(f"{REWRITES}/assistant", {"apiVersion": "llm-d.ai/v1alpha2", "kind": "InferenceModelRewrite", "metadata": {"name": "assistant"},
                                                "spec": {"poolRef": {"name": "llm"}, "rules": [{"matches": [{"model": {"value": "assistant"}}],
                                                                                                "targets": [{"modelRewrite": model}]}]}})
        body = json.dumps({"model": "assistant", "max_tokens": 2, "messages": [{"role": "user", "content": "hi"}]})
        status, text, _ = asked("POST", gateway + "/v1/chat/completions", body, {"Content-Type": "application/json"})
        return status == 200 and json.loads(text)["model"] == model

    wait("a gateway without its pool is not ready", lambda: ready() == 503)
    wait("and says why", lambda: why() == "there is no InferencePool llm in models")
    cluster.pod("e-0")
    cluster.pool(engines)
    wait("a pod of the pool is a worker", lambda: ready() == 200 and workers() == ["e-0"])
    cluster.apply(f"{OBJECTIVES}/premium", {"apiVersion": "llm-d.ai/v1alpha2", "kind": "InferenceObjective", "metadata": {"name": "premium"},
                                            "spec": {"poolRef": {"name": "llm"}, "priority": 100}})
    wait("a request that names an objective has its priority", priority)
    wait("a model that a rewrite names is another one", rewritten)
    cluster.pool(engines, engines + 1)
    both = [f"e-0-{engines}", f"e-0-{engines + 1}"]
    wait("a second port is a second worker", lambda: set(both) <= set(workers()))
    wait("and the metric counts both", lambda: "warmpath_kubernetes_pool_endpoints 2.0" in asked("GET", gateway + "/metrics")[1])
    cluster.do("DELETE", f"{POOLS}/llm")
    wait("without its pool it is not ready again", lambda: ready() == 503 and workers() == [])
    wait("and the metric says so", lambda: "warmpath_kubernetes_pool_endpoints 0.0" in asked("GET", gateway + "/metrics")[1])


def main():
    for needed in (TOOLS / "kube-apiserver", TOOLS / "etcd", TOOLS / "crds" / "fetched"):
        if not needed.exists():
            say(f"SKIPPED: no {needed.relative_to(ROOT)}; ./warmpath verify makes it")
            return 77
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    running = []

    def start(name, *command, **environment):
        with open(FOLDER / f"{name}.log", "wb") as log:
            running.append(subprocess.Popen([str(c) for c in command], stdout=log, stderr=log, env=os.environ | environment))

    try:
        play(start)
    finally:
        for process in reversed(running):
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())

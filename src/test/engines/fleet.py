"""Real engines and the gateway as processes: started as a user starts them, waited for, killed and stopped.

What is added to the README's commands is what a machine without a GPU needs, and the engines' own reports of cached tokens, which
the checks compare with. Everything that a class here starts it also stops.
"""

import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOOLS = pathlib.Path(os.environ.get("ENGINES_HOME", ROOT / ".tools/engines"))
LOGS = ROOT / "target/engines"
MODEL = TOOLS / "model"
NAME = "tiny"

ENGINE_UP = 400  # seconds that an engine may take to start, on two busy cores: 234 were seen
GATEWAY_UP = 10  # seconds that the gateway may take once its engines answer

# Local traffic only, whatever proxy the environment names; nothing is fetched.
OFFLINE = {
    "NO_PROXY": "127.0.0.1,localhost", "no_proxy": "127.0.0.1,localhost", "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1", "DO_NOT_TRACK": "1", "VLLM_NO_USAGE_STATS": "1", "OMP_NUM_THREADS": "1",
}
os.environ.update({k: v for k, v in OFFLINE.items() if k.lower() == "no_proxy"})


class Failed(AssertionError):
    """A promise that does not hold."""


def check(condition, message):
    if not condition:
        raise Failed(message)


def wait_until(what, condition, seconds, poll=0.05):
    """The first true value of condition(), with the seconds it took."""
    began = time.monotonic()
    while True:
        value = condition()
        if value:
            return value, time.monotonic() - began
        if time.monotonic() - began > seconds:
            raise Failed(f"not within {seconds} s: {what}")
        time.sleep(poll)


def get(url, timeout=5):
    """Status and text of a GET; None and the problem where nobody answers."""
    try:
        with urllib.request.urlopen(url, timeout=timeout) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except (urllib.error.URLError, OSError, TimeoutError) as error:
        return None, str(error)


def post(url, timeout=10, json_body=None):
    """Status of a POST, without a body unless one is given."""
    body = None if json_body is None else json.dumps(json_body).encode()
    asked = urllib.request.Request(url, body, {"Content-Type": "application/json"} if body else {}, method="POST")
    try:
        with urllib.request.urlopen(asked, timeout=timeout) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


_taken = set()


def free_port():
    """A port that nobody listens on, and that no call has returned before."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in _taken:
            _taken.add(port)
            return port


def free_ports(count):
    """As many ports in a row, the first of them."""
    while True:
        first = free_port()
        row = range(first + 1, first + count)
        if not any(p in _taken or not _is_free(p) for p in row):
            _taken.update(row)
            return first


def _is_free(port):
    with socket.socket() as s:
        try:
            s.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False


def adapter(name):
    """Where a LoRA adapter of the tiny model is; made when it is not there yet, each name with weights of its own."""
    folder = LOGS / "adapters" / name
    if not (folder / "adapter_config.json").exists():
        subprocess.run([
            TOOLS / "vllm/bin/python", "-B", pathlib.Path(__file__).with_name("make_adapter.py"), MODEL, folder, str(sum(name.encode()))], check=True)
    return folder


def vision_model():
    """Where the tiny model that takes images is; made when it is not there yet."""
    folder = TOOLS / "vision-model"
    if not (folder / "config.json").exists():
        subprocess.run([TOOLS / "vllm/bin/python", "-B", pathlib.Path(__file__).with_name("make_vision_model.py"), folder], check=True)
    return folder


def thinking_model():
    """Where the tiny model is that has the tags of a thought; made when it is not there yet."""
    folder = LOGS / "thinking-model"
    if not folder.exists():
        subprocess.run([TOOLS / "vllm/bin/python", "-B", pathlib.Path(__file__).with_name("make_model.py"), folder, "--thinking"], check=True)
    return folder


class Process:
    """A program in a process group of its own, with its output in a log file."""

    def __init__(self, name, command, env=None, cwd=None):
        self.name, self.command, self.cwd = name, [str(c) for c in command], cwd
        self.env = env or {}
        self.log = LOGS / f"{name}.log"
        self.process = None

    def start(self):
        LOGS.mkdir(parents=True, exist_ok=True)
        self.log.write_text("")  # the last start's only
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                self.command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=self.cwd,
                env={**os.environ, **self.env}, start_new_session=True)
        return self

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, which):
        """To the program and all that it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, which)

    def stop(self, patience=20):
        if self.process is None:
            return
        self.signal(signal.SIGCONT)
        self.process.terminate()
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            pass
        self.signal(signal.SIGKILL)
        self.process.wait()

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()

    def text(self):
        return self.log.read_text(errors="replace")

    def tail(self, lines=30):
        return "\n".join(self.text().splitlines()[-lines:])

    def answers(self, url, seconds):
        """Waits until a URL answers 200; returns the seconds it took."""

        def asked():
            check(self.alive(), f"{self.name} has ended; the end of {self.log}:\n{self.tail()}")
            return get(url, 3)[0] == 200

        return wait_until(f"{self.name} answers 200 at {url} (log: {self.log})", asked, seconds, 0.2)[1]


class Engine(Process):
    """One real engine; `url` is where it listens."""

    def wait(self):
        return self.answers(self.url + self.ready_path, ENGINE_UP)

    def flush(self):
        """Empties the cache; while a request is running SGLang answers 400 to that."""
        wait_until(f"{self.name} empties its cache", lambda: post(self.url + self.flush_path) == 200, 10)

    def adapter(self, what, name, **more):
        """Has a LoRA adapter loaded or unloaded (`what`)."""
        status = post(f"{self.url}{self.adapters_path}/{what}_lora_adapter", json_body={"lora_name": name, **more})
        check(status == 200, f"{self.name} does not {what} the adapter {name}: {status}")

    def events_config(self, event_format=None):
        return json.dumps({
            **({"format": event_format} if event_format else {}),
            "publisher": "zmq", "endpoint": f"tcp://*:{self.events}", "replay_endpoint": f"tcp://*:{self.replay}",
            "topic": "kv"})


class Sglang(Engine):
    """`extra`: flags more. `tier`: None, "host" or "mooncake" (HiCache; `master`: RPC port of a Mooncake master).
    `core`: the only CPU core that it may use. `adapters`: names of LoRA adapters that it starts with.
    `bigrams`: its cache has EAGLE's keys (without_gpu). `event_format`: of its events, where it is not the usual one. `model`: another one's folder."""

    kind, page, ready_path, adapters_path, adapters_at_once = "sglang", 16, "/health", "", 2

    def __init__(self, name="sglang", tokens=16384, context=8192, tier=None, master=None, dp=1, core=None, adapters=(), page=16, bigrams=False, event_format=None, extra=(), model=MODEL):
        self.port, self.events, self.replay = free_port(), free_ports(dp), free_ports(dp)
        self.url = f"http://127.0.0.1:{self.port}"
        self.page, self.bigrams = page, bigrams
        command = [
            TOOLS / "sglang/bin/python", "-m", "sglang.launch_server", "--model-path", model, "--port", self.port,
            "--page-size", self.page, "--kv-events-config", self.events_config(event_format),
            # what a machine without a GPU needs, and one model name for all engines
            "--device", "cpu", "--attention-backend", "torch_native", "--sampling-backend", "pytorch",
            "--disable-overlap-schedule", "--sleep-on-idle", "--dtype", "float32", "--host", "127.0.0.1",
            "--max-total-tokens", tokens, "--context-length", context, "--served-model-name", NAME, "--dp-size", dp,
            "--enable-cache-report"]  # what the checks compare with
        if adapters:
            command += [
                "--enable-lora", "--lora-backend", "torch_native", "--max-lora-rank", "8", "--max-loras-per-batch", self.adapters_at_once,
                "--lora-target-modules", "q_proj", "v_proj", "--lora-paths", *[f"{a}={adapter(a)}" for a in adapters]]
        if tier:
            command += [
                "--enable-hierarchical-cache", "--hicache-size", "1", "--hicache-io-backend", "direct",
                "--hicache-mem-layout", "page_first_direct", "--hicache-write-policy", "write_through"]
        if tier == "mooncake":
            command += [
                "--hicache-storage-backend", "mooncake", "--hicache-storage-prefetch-policy", "wait_complete",
                "--hicache-storage-backend-extra-config", json.dumps({
                    "master_server_address": f"127.0.0.1:{master.rpc}", "master_metrics_port": master.http,
                    "local_hostname": "127.0.0.1", "metadata_server": "P2PHANDSHAKE",
                    "global_segment_size": 268435456, "protocol": "tcp", "device_name": ""})]
        env = {**OFFLINE, "SGLANG_USE_CPU_ENGINE": "1", "PYTHONPATH": str(pathlib.Path(__file__).parent / "stand_in")}
        if bigrams:
            env["BIGRAM_KEYS"] = "1"
        if adapters or bigrams:
            env["PYTHONPATH"] = f"{pathlib.Path(__file__).parent / 'without_gpu'}:{env['PYTHONPATH']}"
        if dp > 1:  # one list of cores per rank
            env["SGLANG_CPU_OMP_THREADS_BIND"] = "|".join(str(i % os.cpu_count()) for i in range(dp))
        pin = [] if core is None else ["taskset", "-c", core]
        super().__init__(name, [*pin, *command, *extra], env)

    flush_path = "/flush_cache"

    def computed(self):
        """Prompts that it has computed, by its log; a health check that generates is one."""
        return len(re.findall(r"Prefill batch", self.text()))


class Vllm(Engine):
    """`adapters`: names of LoRA adapters that it starts with; more can be loaded while it runs. `model`: another one's folder."""

    kind, page, ready_path, adapters_path, adapters_at_once = "vllm", 32, "/health", "/v1", 1

    def __init__(self, name="vllm", blocks=512, context=8192, adapters=(), extra=(), model=MODEL):
        self.port, self.events, self.replay = free_port(), free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        config = json.loads(self.events_config())
        config["enable_kv_cache_events"] = True
        command = [
            # The vllm command looks for a distribution of another name; the module is what it runs.
            TOOLS / "vllm/bin/python", "-m", "vllm.entrypoints.openai.api_server", "--model", model, "--port",
            self.port, "--block-size", self.page, "--enable-prefix-caching", "--kv-events-config", json.dumps(config),
            "--enforce-eager", "--dtype", "float32", "--host", "127.0.0.1", "--max-model-len", context,
            "--num-gpu-blocks-override", blocks, "--max-num-seqs", "16", "--served-model-name", NAME,
            "--enable-prompt-tokens-details"]  # what the checks compare with
        env = {**OFFLINE, "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_SERVER_DEV_MODE": "1"}
        if adapters:
            command += [
                "--enable-lora", "--max-loras", self.adapters_at_once, "--max-cpu-loras", "4", "--max-lora-rank", "8", "--lora-modules", *[f"{a}={adapter(a)}" for a in adapters]]
            env["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] = "True"
        super().__init__(name, [*command, *extra], env)

    flush_path = "/reset_prefix_cache"

    def computed(self):
        """Tokens that it has generated."""
        found = re.search(r"^vllm:generation_tokens_total\{[^}]*\} ([0-9.e+]+)", get(self.url + "/metrics")[1], re.M)
        return float(found.group(1)) if found else 0


class MooncakeMaster(Process):
    def __init__(self):
        self.rpc, self.http = free_port(), free_port()
        folder = next((TOOLS / "sglang/lib").glob("python3*/site-packages/mooncake"))
        super().__init__(
            "mooncake-master", [folder / "mooncake_master", "--rpc_port", self.rpc, "--metrics_port", self.http])

    def wait(self):
        return self.answers(f"http://127.0.0.1:{self.http}/health", 20)


class Nats(Process):
    """A NATS server with JetStream, the one that the Java tests have."""

    def __init__(self):
        self.port, self.monitor = free_port(), free_port()
        self.url = f"nats://127.0.0.1:{self.port}"
        own = ROOT / ".tools/nats/nats-server"
        store = tempfile.mkdtemp(prefix="warmpath-nats-")
        super().__init__("nats", [
            own if own.exists() else "nats-server", "-js", "-a", "127.0.0.1", "-p", self.port, "-m", self.monitor, "-sd", store])

    def wait(self):
        return self.answers(f"http://127.0.0.1:{self.monitor}/healthz", 20)


class Relay(Process):
    """Passes the events of one engine on to NATS."""

    def __init__(self, engine, nats):
        super().__init__(f"relay-{engine.name}", [
            ROOT / "warmpath", "relay", "--engine", f"tcp://127.0.0.1:{engine.events}", "--replay",
            f"tcp://127.0.0.1:{engine.replay}", "--worker", engine.url, "--nats-servers", nats.url])

    def wait(self):
        """Gateways see by their sources when it is at work."""


class Gateway(Process):
    """The README's command, with a tokenizer only when told; `more` are further flags, `env` further settings."""

    def __init__(self, engines, name="gateway", tokenizer=False, more=(), env=None):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        command = [ROOT / "warmpath", "serve", "--http-port", self.port]
        for engine in engines:
            command += ["--worker", engine.url]
        if tokenizer:
            command += ["--tokenizer", f"{NAME}={MODEL}/tokenizer.json"]
        super().__init__(name, [*command, *more], env)

    def wait(self):
        return self.answers(self.url + "/ready", 120)

    def json(self, path):
        status, text = get(self.url + path)
        check(status == 200, f"{path} answered {status}: {text[:500]}")
        return json.loads(text)

    def workers(self):
        return self.json("/workers")["data"]

    def worker_of(self, engine):
        return next(w for w in self.workers() if w["url"].rstrip("/") == engine.url)

    def settle(self, quiet=0.3):
        """Waits until no event has come for a moment: an answer can be here before the events of its prompt. The moment
        begins now at the earliest, since after a slow answer the last event is old and the next one still on its way."""
        began = time.monotonic()

        def calm():
            ages = [s.get("last_event_age_ms", -1) for s in self.json("/events/sources")["data"]]
            return time.monotonic() - began > quiet and all(age < 0 or age > 1000 * quiet for age in ages)

        wait_until("events are still coming", calm, 10, quiet / 4)

    def metrics(self):
        return get(self.url + "/metrics")[1]


class Smg(Process):
    """The SGLang gateway (PyPI's smg, from src/perf/peers/install.sh) with its cache-aware policy."""

    program = ROOT / ".tools/peers/smg/bin/smg"

    def __init__(self, engines, name="smg"):
        self.port, self.metrics_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        super().__init__(name, [
            self.program, "launch", "--host", "127.0.0.1", "--port", self.port, "--prometheus-port", self.metrics_port,
            "--worker-urls", *[e.url for e in engines], "--policy", "cache_aware", "--log-level", "warn"])

    def wait(self):
        return self.answers(self.url + "/readiness", 60)


@contextlib.contextmanager
def running(*processes):
    """Starts all at once, waits for each, and stops all whatever happens. What runs already is left running."""
    ours = [p for p in processes if not p.alive()]
    try:
        for p in ours:
            p.start()
        for p in ours:
            p.wait()
        yield
    finally:
        for p in reversed(ours):
            p.stop()


def room(processes):
    """What this machine lacks to run so many engines; empty: nothing."""
    free = shutil.disk_usage(ROOT).free >> 30
    meminfo = pathlib.Path("/proc/meminfo").read_text()
    memory = int(re.search(r"MemAvailable:\s+(\d+)", meminfo).group(1)) >> 20
    if not (TOOLS / "installed").exists() and free < 20:
        return f"20 GiB of disk are needed for the engines, {free} are free"
    if memory < 4 * processes + 1:
        return f"{4 * processes + 1} GiB of memory are needed for {processes} engines, {memory} are free"
    return ""

"""The gateways that are compared: how each is started, and what the system says of its processes. Linux only."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "src/test" / part) for part in ("engines", "python/process")]

from fleet import OFFLINE, Failed, Process, check, free_port, free_ports  # noqa: E402
from gateway_probe import resident_mib  # noqa: E402
from load import MODEL, MODEL_FOLDER  # noqa: E402

TOOLS = ROOT / ".tools/peers"
WORK = ROOT / "target/peers"
GATEWAY_CORE, LOAD_CORE = 0, 1
ENGINES = 8
UP_S = 180


def family(pid):
    """A process and all that it has started, at any depth."""
    found = [pid]
    for one in found:
        try:
            for task in os.listdir(f"/proc/{one}/task"):
                found += map(int, pathlib.Path(f"/proc/{one}/task/{task}/children").read_text(encoding="ascii").split())
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def cpu_ns(pids):
    """Processor time of each, to the nanosecond. The clock's number is what clock_getcpuclockid(3) gives."""
    return {pid: time.clock_gettime_ns((~pid << 3) | 2) for pid in pids}


class Pinned(Process):
    """On one core, with its log in target/peers."""

    def __init__(self, name, core, command, env=None):
        super().__init__(name, ["taskset", "-c", core, *command], {**OFFLINE, **(env or {})})
        WORK.mkdir(parents=True, exist_ok=True)
        self.log = WORK / f"{name}.log"


class Gateway(Pinned):
    """One that is measured: `title` in the tables, `version`, `reads_prompts` to choose an engine, `companions` that run beside it and are not counted,
    `part` of the others' rate that it can bear, `young`: the part of the time for warming up that it needs, `own_engines` where it does not stand before the
    common ones."""

    title, version, reads_prompts, companions, part, young, own_engines = "", "", True, (), 1, 0.1, False

    def __init__(self, port, command, env=None):
        self.port = port
        super().__init__(self.title.replace(" ", "-").replace(",", ""), GATEWAY_CORE, command, env)

    def cpu(self):
        return cpu_ns(family(self.process.pid))

    def resident(self):
        return sum(resident_mib(pid) for pid in family(self.process.pid))


def installed(name):
    """Its version; Failed with the reason where install.sh could not have it."""
    version = TOOLS / name / "version"
    reason = TOOLS / f"{name}.reason"
    check(version.exists(), f"not installed: {reason.read_text(encoding='utf-8').strip() if reason.exists() else 'run src/perf/peers/install.sh ' + name}")
    return version.read_text(encoding="utf-8").strip()


class Warmpath(Gateway):
    young = 1  # a JVM compiles what runs often, for tens of thousands of requests
    flags = ("--tokenizer", f"{MODEL}={MODEL_FOLDER}/tokenizer.json")

    def __init__(self, engines, product):
        port = free_port()
        command = [product / "warmpath", "serve", "--http-host", "127.0.0.1", "--http-port", port, *self.flags]
        super().__init__(port, command + [part for engine in engines for part in ("--worker", f"http://127.0.0.1:{engine}")])
        said = subprocess.run([product / "warmpath", "--version"], capture_output=True, text=True, check=True).stdout
        self.version = said.split()[1]


class WarmpathTurns(Warmpath):
    """It routes without reading prompts or events, as nginx does."""

    title, reads_prompts, flags = "Warmpath, by turns", False, ("--router-mode", "round-robin", "--no-router-kv-events")


class WarmpathCaches(Warmpath):
    """The default: it reads prompts, and the engines' events."""

    title = "Warmpath, by caches"


class Nginx(Gateway):
    title, reads_prompts = "nginx", False

    def __init__(self, engines, _):
        program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        if not program:
            installed("nginx")
            raise Failed("not installed: run src/perf/peers/install.sh nginx")
        listens = free_port()
        folder = WORK / "nginx"
        folder.mkdir(parents=True, exist_ok=True)
        servers = "\n".join(f"server 127.0.0.1:{port};" for port in engines)
        temporary = "\n".join(f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (folder / "nginx.conf").write_text(f"""
            worker_processes 1; daemon off; pid {folder}/pid; error_log stderr error;
            events {{ worker_connections 8192; }}
            http {{
              access_log off; client_max_body_size 64m; client_body_buffer_size 1m; keepalive_requests 1000000;
              {temporary}
              upstream engines {{ {servers} keepalive 512; keepalive_requests 1000000; }}
              server {{
                listen 127.0.0.1:{listens} backlog=4096;
                location / {{ proxy_pass http://engines; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }}
              }}
            }}
            """, encoding="utf-8")
        super().__init__(listens, [program, "-p", folder, "-c", folder / "nginx.conf"])
        said = subprocess.run([program, "-v"], capture_output=True, text=True, check=True).stderr
        self.version = said.rpartition("/")[2].split()[0]


class Smg(Gateway):
    title, policy = "smg cache_aware", "cache_aware"

    def __init__(self, engines, _):
        self.version = installed("smg")
        port = free_port()
        super().__init__(port, [
            TOOLS / "smg/bin/smg", "launch", "--host", "127.0.0.1", "--port", port, "--prometheus-port", free_port(), "--policy", self.policy,
            "--log-level", "warn", "--worker-urls", *(f"http://127.0.0.1:{engine}" for engine in engines)])


class SmgTurns(Smg):
    title, policy, reads_prompts = "smg round_robin", "round_robin", False


class Dynamo(Gateway):
    """Its frontend speaks to its own simulated workers only, by a protocol of its own; they do not count."""

    title, own_engines = "Dynamo kv", True

    def __init__(self, _engines, _product):
        self.version = installed("dynamo")
        folder = WORK / "dynamo"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(MODEL_FOLDER, folder / "model")
        (folder / "model/config.json").write_text(json.dumps({
            "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 3072, "hidden_size": 64, "num_hidden_layers": 2,
            "num_attention_heads": 2, "num_key_value_heads": 2, "intermediate_size": 128, "max_position_embeddings": 131072,
            "eos_token_id": 3071, "torch_dtype": "bfloat16"}), encoding="utf-8")
        python = TOOLS / "dynamo/bin/python"
        alone = {  # no etcd, no NATS, and nothing outside this machine
            "DYN_DISCOVERY_BACKEND": "file", "DYN_FILE_KV": str(folder / "found"), "DYN_EVENT_PLANE": "zmq", "DYN_REQUEST_PLANE": "tcp",
            "DYN_TCP_RPC_HOST": "127.0.0.1", "DYN_TCP_RESPONSE_STREAM_HOST": "127.0.0.1", "DYN_EVENT_PLANE_HOST": "127.0.0.1", "DYN_LOG": "error"}
        port = free_port()
        super().__init__(port, [
            python, "-m", "dynamo.frontend", "--http-host", "127.0.0.1", "--http-port", port, "--router-mode", "kv", "--kv-cache-block-size", "16"], alone)
        self.companions = [Pinned("dynamo-workers", LOAD_CORE, [
            python, "-m", "dynamo.mocker", "--model-path", folder / "model", "--model-name", MODEL, "--num-workers", ENGINES, "--block-size", "16",
            "--num-gpu-blocks-override", "65536", "--speedup-ratio", "1000000"], alone)]


class Litellm(Gateway):
    """Tens of milliseconds of a core for a request: it gets a small part of the others' rate."""

    title, part, reads_prompts = "LiteLLM", 0.02, False

    def __init__(self, engines, _):
        self.version = installed("litellm")
        config = WORK / "litellm.json"  # which is YAML, too
        WORK.mkdir(parents=True, exist_ok=True)
        config.write_text(json.dumps({
            "model_list": [{"model_name": MODEL, "litellm_params": {
                "model": f"openai/{MODEL}", "api_base": f"http://127.0.0.1:{engine}/v1", "api_key": "none"}} for engine in engines],
            "router_settings": {"routing_strategy": "simple-shuffle"}, "litellm_settings": {"telemetry": False}}), encoding="utf-8")
        port = free_port()
        super().__init__(port, [
            TOOLS / "litellm/bin/litellm", "--config", config, "--host", "127.0.0.1", "--port", port, "--num_workers", "1"],
            {"LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true", "LITELLM_LOG": "ERROR", "LITELLM_LOCAL_MODEL_COST_MAP": "True"})


KNOWN = {
    "turns": WarmpathTurns, "nginx": Nginx, "smg-turns": SmgTurns, "litellm": Litellm, "caches": WarmpathCaches, "smg": Smg, "dynamo": Dynamo}


def engines(product):
    """Simulated engines with large caches that answer at once: the process, and their ports."""
    first = free_ports(ENGINES)
    sim = Pinned("engines", LOAD_CORE, [
        product / "warmpath", "sim", "--port", first, "--count", ENGINES, "--speed", "1000", "--gpu-blocks", "65536", "--max-batch", "256"])
    ports = list(range(first, first + ENGINES))
    sim.start()
    try:
        for port in ports:
            sim.answers(f"http://127.0.0.1:{port}/health", UP_S)
    except BaseException:
        sim.stop()
        raise
    return sim, ports


def prepared(ports, product):
    """The first start after a build records Java's AOT cache, as an installed Warmpath has one."""
    first = WarmpathTurns(ports, product).start()
    try:
        first.answers(f"http://127.0.0.1:{first.port}/ready", UP_S)
    finally:
        first.stop()

#!/usr/bin/env python3
"""Gateways that are not left alone for hours: does anything that they hold grow? Standard library only, Linux.

  soak.py --root DIR [--duration 8h] [--java JAVA] [--gateway EXECUTABLE] [--clock-steps] [--seed 1]
  soak.py --self-test      the judge itself: it must refuse planted leaks

Three simulated engines, each with a relay; NATS; one gateway that reads events over ZeroMQ, over TLS, with a file of workers, and one
that has workers and events from NATS. Chats, sessions and hang-ups all the time, and every few seconds one of: an engine killed or
stopped, the file of workers changed or broken, a new certificate, a worker posted and deleted, NATS restarted, the clock set by an
hour (with --clock-steps and libfaketime; gateways under it start slowly). From the second quarter on resident memory, open files,
threads, series of metrics and bound sessions have to stay where they are; in the end no booking, request or session may be there.
"""
import argparse
import asyncio
import collections
import glob
import json
import os
import random
import re
import shutil
import signal
import ssl
import statistics
import subprocess
import sys
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../python/process"))
from gateway_probe import free_ports, parsed, resident_mib  # noqa: E402

UNITS = {"s": 1, "m": 60, "h": 3600}
# What may be more in the last quarter than in the second one: absolute, or as a share of it.
SLACK = {"resident MiB": (32, 0.10), "files": (32, 0.10), "threads": (6, 0.10), "series": (24, 0.03), "sessions bound": (60, 0.25),
         "bookings": (40, 0.50)}
OPEN = ("warmpath_bookings_open", "warmpath_requests_active", "warmpath_sessions_open", "warmpath_sessions_bound")
SESSION_SECONDS = 5


def seconds_of(text):
    match = re.fullmatch(r"(\d+)([smh])", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is no duration such as 90s, 10m or 8h")
    return int(match[1]) * UNITS[match[2]]


def growth(samples):
    """What is not flat in these samples ({what: number}, in their order), in sentences."""
    if len(samples) < 40:
        return [f"only {len(samples)} samples: it must run longer"]
    quarter = len(samples) // 4
    found = []
    for what, (more, share) in SLACK.items():
        early = statistics.median(s[what] for s in samples[quarter:2 * quarter])
        late = statistics.median(s[what] for s in samples[-quarter:])
        if late - early > max(more, early * share):
            found.append(f"{what}: {early:g} in the second quarter, {late:g} in the last one")
    return found


def left_open(metrics):
    """What is open though nothing runs, in sentences."""
    return [f"{name} is {metrics.get(name, 'not there')} when nothing runs" for name in OPEN if metrics.get(name) != 0]


def self_test():
    rng = random.Random(7)

    def run(leak=None):
        samples = []
        for i in range(400):
            s = {w: 300 + rng.randrange(-10, 10) for w in SLACK}
            if leak:
                s[leak] += 2 * i
            samples.append(s)
        return samples

    assert growth(run()) == [], growth(run())
    for what in SLACK:
        assert [g for g in growth(run(what)) if g.startswith(what)], f"a leak of {what} was not seen"
    assert growth(run()[:39])
    # What a start takes is no leak.
    rising = run()
    for i in range(100):
        rising[i]["resident MiB"] = 100 + 2 * i
    assert growth(rising) == []
    well = {name: 0.0 for name in OPEN}
    assert left_open(well) == []
    for name in OPEN:
        assert left_open({**well, name: 1.0}), name
        assert left_open({n: v for n, v in well.items() if n != name}), name
    assert seconds_of("10m") == 600 and seconds_of("8h") == 28800
    print("soak: the judge refuses planted leaks")


class Fleet:
    """The processes: started, broken, started again."""

    def __init__(self, root, java, executable, folder, base, rng, clock_steps):
        self.root, self.java, self.executable, self.folder, self.base, self.rng = root, java, executable, folder, base, rng
        self.processes = {}
        self.jar = os.path.join(root, "target/gateway/quarkus-app/quarkus-run.jar")
        self.tools = os.path.join(root, "target/tools/warmpath-tools.jar")
        self.clock = os.path.join(folder, "clock")
        libraries = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
        self.faketime = libraries[0] if libraries and clock_steps else None
        self.cert, self.key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
        self.config = os.path.join(folder, "workers.yaml")

    def port(self, what, number=0):
        return self.base + {"zmq": 0, "nats": 1, "broker": 2, "engine": 10, "events": 20, "replay": 30}[what] + number

    def start(self, name, command, env=None):
        with open(os.path.join(self.folder, name + ".log"), "ab") as log:
            clean = {k: v for k, v in os.environ.items() if not k.startswith(("WARMPATH_", "DYN_"))}
            self.processes[name] = subprocess.Popen(command, stdout=log, stderr=log, env={**clean, **(env or {})})

    def jvm(self, mib):
        return [self.java, f"-Xmx{mib}m", "-XX:+UseSerialGC", f"-Xmn{mib // 8}m", "-XX:SurvivorRatio=2", "-XX:-ShrinkHeapInSteps",
                "-XX:MinHeapFreeRatio=10", "-XX:MaxHeapFreeRatio=30", "-XX:+ExitOnOutOfMemoryError", "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow"]

    def gateway(self, mib):
        """A native executable has no more than the sizes of its heap to be told."""
        return [self.executable, f"-Xmx{mib}m", f"-Xmn{mib // 8}m"] if self.executable else [*self.jvm(mib), "-jar", self.jar]

    def engine_url(self, i):
        return f"http://127.0.0.1:{self.port('engine', i)}"

    def start_engine(self, i):
        self.start(f"engine{i}", [*self.jvm(128), "-jar", self.tools, "sim", "--port", str(self.port("engine", i)), "--events-port",
                                  str(self.port("events", i)), "--replay-port", str(self.port("replay", i)), "--model", "demo",
                                  "--answer-tokens", "24", "--speed", "4", "--seed", str(i)])

    def start_relay(self, i):
        self.start(f"relay{i}", [*self.gateway(128), "relay", "--engine", f"tcp://127.0.0.1:{self.port('events', i)}",
                                 "--replay", f"tcp://127.0.0.1:{self.port('replay', i)}", "--worker", self.engine_url(i), "--register",
                                 "--ring-size", "8M", "--nats-servers", f"nats://127.0.0.1:{self.port('broker')}"])

    def start_broker(self):
        self.start("broker", [os.path.join(self.root, ".tools/nats/nats-server"), "-a", "127.0.0.1", "-p", str(self.port("broker")),
                              "-js", "-sd", os.path.join(self.folder, "jetstream")])

    def write_workers(self, names, wrong=False):
        text = "warmpath:\n  addresses:\n    allowed: '*,127.0.0.0/8'\n  workers:\n" + "".join(
            f"    - name: e{i}\n      url: {self.engine_url(i)}\n      weight: {self.rng.randrange(1, 4)}\n" for i in names)
        with open(self.config + ".new", "w", encoding="ascii") as f:
            f.write(text + ("      wieght: 1\n" if wrong else ""))
        os.replace(self.config + ".new", self.config)

    def new_certificate(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                        f"/CN=soak-{self.rng.getrandbits(32)}", "-keyout", self.key + ".new", "-out", self.cert + ".new"],
                       check=True, capture_output=True)
        os.replace(self.key + ".new", self.key)
        os.replace(self.cert + ".new", self.cert)

    def set_clock(self, text):
        with open(self.clock, "w", encoding="ascii") as f:
            f.write(text + "\n")

    def start_gateways(self):
        tokenizer = os.path.join(self.root, "src/tokens/main/resources/demo-model/tokenizer.json")
        common = ["--http-host", "127.0.0.1", "--tokenizer", tokenizer, "--router-session-affinity-ttl-secs", str(SESSION_SECONDS),
                  "--enable-cache-control"]
        env = {"WARMPATH_AUTH_RELOAD_INTERVAL": "500ms"}
        if self.faketime:
            # Only the clock of the day: steps are what it may do, the monotonic one may not.
            env |= {"LD_PRELOAD": self.faketime, "FAKETIME_TIMESTAMP_FILE": self.clock, "FAKETIME_CACHE_DURATION": "1", "DONT_FAKE_MONOTONIC": "1"}
        self.start("zmq", [*self.gateway(256), "serve", *common, "--config", self.config, "--http-port", str(self.port("zmq")),
                           "--tls-cert-path", self.cert, "--tls-key-path", self.key], env)
        self.start("nats", [*self.gateway(256), "serve", *common, "--http-port", str(self.port("nats")), "--event-plane", "nats",
                            "--nats-discovery"],
                   {**env, "NATS_SERVER": f"nats://127.0.0.1:{self.port('broker')}", "WARMPATH_ADDRESSES_ALLOWED": "*,127.0.0.0/8"})

    def base_url(self, name):
        return f"{'https' if name == 'zmq' else 'http'}://127.0.0.1:{self.port(name)}"

    def end(self, name, how=signal.SIGKILL):
        process = self.processes.pop(name, None)
        if process and process.poll() is None:
            process.send_signal(how)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def end_all(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
        for name in list(self.processes):
            self.end(name)


TRUST_ALL = ssl._create_unverified_context()  # the certificate is a new one every few seconds


def ask(url, method="GET", body=None):
    request = urllib.request.Request(url, body, {"Host": "localhost", "Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=10, context=TRUST_ALL) as answer:
        return answer.read().decode()


def scrape(url):
    return parsed(ask(url + "/metrics"))


def sample(fleet, name):
    pid = fleet.processes[name].pid
    metrics = scrape(fleet.base_url(name))
    return {"resident MiB": resident_mib(pid), "threads": len(os.listdir(f"/proc/{pid}/task")), "files": len(os.listdir(f"/proc/{pid}/fd")),
            "series": metrics["series"], "sessions bound": metrics["warmpath_sessions_bound"], "bookings": metrics["warmpath_bookings_open"]}


class Load:
    """Chats with sessions through both gateways; one in ten hangs up."""

    def __init__(self, fleet, rng):
        self.fleet, self.rng, self.over = fleet, rng, False
        self.outcomes = {name: collections.Counter() for name in ("zmq", "nats")}
        self.systems = [" ".join(f"rule {s} {i} of the house" for i in range(40)) for s in range(6)]

    async def client(self, name):
        while not self.over:
            writer = None
            try:
                async with asyncio.timeout(60):
                    reader, writer = await asyncio.open_connection(
                        "127.0.0.1", self.fleet.port(name), ssl=TRUST_ALL if name == "zmq" else None)
                    for _ in range(self.rng.randrange(1, 20)):
                        result = await self.chat(reader, writer)
                        self.outcomes[name][result] += 1
                        if self.over or result != "ok":
                            break
                        await asyncio.sleep(self.rng.uniform(0.05, 0.3))
            except (OSError, asyncio.IncompleteReadError, TimeoutError, ValueError) as e:
                self.outcomes[name][type(e).__name__] += 1
            finally:
                if writer:
                    writer.transport.abort()
            await asyncio.sleep(0.1)

    async def chat(self, reader, writer):
        turns = self.rng.randrange(1, 6)
        words = [f"turn {t}: {self.rng.getrandbits(30)}" for t in range(turns)]
        body = json.dumps({"model": "demo", "stream": True, "max_tokens": 16, "messages": [
            {"role": "system", "content": self.rng.choice(self.systems)}, *({"role": "user", "content": w} for w in words)]}).encode()
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nx-session-id: s%d\r\nContent-Length: %d\r\n\r\n"
                     % (self.rng.getrandbits(40), len(body)) + body)
        head = await reader.readuntil(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        hang_up = self.rng.random() < 0.1
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        if length:
            text = await reader.readexactly(int(length[1]))
        else:
            text = b""
            while (size := int(await reader.readline(), 16)) > 0:
                text += await reader.readexactly(size + 2)
                if hang_up:
                    return "hung up"
            await reader.readline()
        if status != 200:
            return str(status)
        return "ok" if b"[DONE]" in text and b'"error"' not in text else "error event"


class Chaos:
    """One thing after the other, each undone or healed before the next of its kind."""

    def __init__(self, fleet, rng):
        self.fleet, self.rng, self.done = fleet, rng, collections.Counter()
        self.actions = [self.kill_engine, self.stop_engine, self.change_workers, self.break_workers, self.rotate, self.churn, self.restart_nats]
        if fleet.faketime:
            self.actions.append(self.step_clock)

    async def kill_engine(self):
        i = self.rng.randrange(3)
        self.fleet.end(f"engine{i}")
        await asyncio.sleep(2)
        self.fleet.start_engine(i)
        await asyncio.sleep(4)

    async def stop_engine(self):
        process = self.fleet.processes[f"engine{self.rng.randrange(3)}"]
        process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(4)
        process.send_signal(signal.SIGCONT)

    async def change_workers(self):
        self.fleet.write_workers([0, 1, 2] if self.rng.random() < 0.5 else [0, 1])

    async def break_workers(self):
        self.fleet.write_workers([0, 1, 2], wrong=True)
        await asyncio.sleep(3)
        self.fleet.write_workers([0, 1, 2])

    async def rotate(self):
        await asyncio.to_thread(self.fleet.new_certificate)

    async def churn(self):
        url = self.fleet.base_url("zmq") + "/workers"
        name = f"posted{self.rng.getrandbits(20)}"
        port = self.fleet.port("engine", self.rng.randrange(3, 9))  # nobody is there
        await asyncio.to_thread(ask, url, "POST", json.dumps({"name": name, "url": f"http://127.0.0.1:{port}"}).encode())
        await asyncio.sleep(1)
        await asyncio.to_thread(ask, f"{url}/{name}", "DELETE")

    async def restart_nats(self):
        self.fleet.end("broker", signal.SIGTERM if self.rng.random() < 0.5 else signal.SIGKILL)
        await asyncio.sleep(2)
        self.fleet.start_broker()

    async def step_clock(self):
        self.fleet.set_clock(self.rng.choice(("-3600", "+3600", "+60", "-1", "+0")))

    async def run(self, end):
        while time.monotonic() < end:
            for action in self.rng.sample(self.actions, len(self.actions)):
                if time.monotonic() >= end:
                    return
                await action()
                self.done[action.__name__] += 1
                await asyncio.sleep(self.rng.uniform(1, 3))


async def ready(fleet, name, seconds=240):
    end = time.monotonic() + seconds
    while True:
        try:
            await asyncio.to_thread(ask, fleet.base_url(name) + "/ready")
            return
        except OSError:
            if fleet.processes[name].poll() is not None or time.monotonic() > end:
                raise SystemExit(f"soak: the gateway {name} did not come up; its log is {fleet.folder}/{name}.log") from None
            await asyncio.sleep(0.2)


async def soak(fleet, duration, rng):
    for i in range(3):
        fleet.start_engine(i)
    fleet.start_broker()
    for i in range(3):
        fleet.start_relay(i)
    fleet.new_certificate()
    fleet.write_workers([0, 1, 2])
    fleet.set_clock("+0")
    fleet.start_gateways()
    names = ("zmq", "nats")
    for name in names:
        await ready(fleet, name)
    load, chaos = Load(fleet, rng), Chaos(fleet, rng)
    end = time.monotonic() + duration
    clients = [asyncio.create_task(load.client(name)) for name in names for _ in range(6)]
    breaking = asyncio.create_task(chaos.run(end))
    samples, problems = {name: [] for name in names}, []
    every = max(1.0, duration / 4000)
    while time.monotonic() < end:
        for name in names:
            if fleet.processes[name].poll() is not None:
                problems.append(f"{name}: the gateway has ended with {fleet.processes[name].returncode}")
                end = 0
                break
            try:
                samples[name].append(await asyncio.to_thread(sample, fleet, name))
            except OSError:
                pass  # between two certificates; too few samples are a problem of their own
        if breaking.done():
            break
        await asyncio.sleep(every)
    breaking.cancel()
    broken = (await asyncio.gather(breaking, return_exceptions=True))[0]
    if isinstance(broken, Exception):
        problems.append(f"chaos ended early: {broken!r}")
    load.over = True
    await asyncio.gather(*clients)
    for name in names:
        outcomes = load.outcomes[name]
        total = sum(outcomes.values())
        print(f"soak: {name}: {dict(outcomes)}")
        if fleet.processes[name].poll() is not None:
            continue
        problems += [f"{name}: {g}" for g in growth(samples[name])]
        if outcomes["500"] or outcomes["ok"] < 0.7 * total:
            problems.append(f"{name}: {outcomes['ok']} of {total} chats were answered, {outcomes['500']} with 500")
        until = time.monotonic() + 60
        while (opened := left_open(await asyncio.to_thread(scrape, fleet.base_url(name)))) and time.monotonic() < until:
            await asyncio.sleep(0.5)
        problems += [f"{name}: {o}" for o in opened]
        shown = samples[name]
        for what in SLACK:
            quarter = max(1, len(shown) // 4)
            print(f"soak: {name}: {what} by quarters "
                  f"{[round(statistics.median(s[what] for s in shown[q * quarter:(q + 1) * quarter]), 1) for q in range(4)]}")
        with open(os.path.join(fleet.folder, name + ".log"), encoding="utf-8", errors="replace") as f:
            log = f.read()
        for word in ("OutOfMemoryError", "a bug in the gateway", "LEAK:"):
            if word in log:
                problems.append(f"{name}: its log has '{word}'")
    print(f"soak: chaos {dict(chaos.done)}")
    return problems


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--root")
    ap.add_argument("--duration", type=seconds_of, default="8h")
    ap.add_argument("--java", default="java")
    ap.add_argument("--gateway", metavar="EXECUTABLE", help="a native executable for the gateways and relays")
    ap.add_argument("--base-port", type=int, default=0)
    ap.add_argument("--clock-steps", action="store_true")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--self-test", action="store_true")
    a = ap.parse_args()
    if a.self_test:
        return self_test()
    if not a.root:
        ap.error("--root is needed")
    folder = os.path.join(os.path.abspath(a.root), "target", "soak")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    rng = random.Random(a.seed)
    fleet = Fleet(os.path.abspath(a.root), a.java, a.gateway, folder, a.base_port or free_ports(40), rng, a.clock_steps)
    print(f"soak: seed {a.seed}, {a.duration} s, logs in {folder}" + (
        "" if fleet.faketime else "; LEFT OUT: clock steps (--clock-steps, with libfaketime: apt-get install faketime)"), flush=True)
    try:
        problems = asyncio.run(soak(fleet, a.duration, rng))
    finally:
        fleet.end_all()
    for p in problems:
        print("soak: " + p, file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()

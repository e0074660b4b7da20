"""Starts and stops what attacks need: gateways, simulated engines, a NATS server. Logs are in target/attack/logs."""
import http.client
import os
import pathlib
import shlex
import signal
import socket
import subprocess
import time

from engine import Engine
from suite import Broken, Skipped
from watch import Watched

ROOT = pathlib.Path(__file__).resolve().parents[3]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Stage:
    """`gateway` is a command line that takes the flags of serve, `java` says whether JVM options reach it."""

    def __init__(self, gateway, folder, say):
        self.command = shlex.split(gateway) if gateway else [str(ROOT / "warmpath"), "serve"]
        self.java = gateway is None
        self.folder = folder
        self.say = say
        self.running = []
        self.engines = []
        self.kept = None
        self.counted = 0
        (folder / "logs").mkdir(parents=True, exist_ok=True)

    def file(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(0o600)
        return path

    def start(self, name, command, environment=None, files=None):
        self.counted += 1
        log = self.folder / "logs" / f"{self.counted:02}-{name}.log"
        if files:
            command = ["sh", "-c", 'ulimit -n "$0" && exec "$@"', str(files), *command]
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("WARMPATH_") or k == "WARMPATH_JAVA_OPTS"}
        with open(log, "wb") as out:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                       env={**inherited, **(environment or {})})
        process.log = log
        self.running.append(process)
        return process

    def engine(self, **more):
        engine = Engine(**more)
        self.engines.append(engine)
        return engine

    def gateway(self, name, workers, *flags, environment=None, files=None, java="", ready=True, **watched):
        """A running gateway before these workers (an Engine, or URLs), as Watched."""
        if java and not self.java:
            raise Skipped("JVM options do not reach the command that was given")
        port = free_port()
        urls = [workers.url] if isinstance(workers, Engine) else list(workers)
        command = [*self.command, "--http-host", "127.0.0.1", "--http-port", str(port), *(part for url in urls for part in ("--worker", url)), *flags]
        options = " ".join(filter(None, [os.environ.get("WARMPATH_JAVA_OPTS", ""), java]))
        process = self.start(name, command, {**({"WARMPATH_JAVA_OPTS": options} if options else {}), **(environment or {})}, files)
        if isinstance(workers, Engine):
            watched.setdefault("engine", workers)
        gateway = Watched(process.pid, port, process.log, **watched)
        gateway.process = process
        if ready:
            self.until_ready(gateway)
            gateway.settle()
            gateway.quiet()
        return gateway

    def plain(self):
        """The gateway with defaults that groups share, so that one sees what another has left behind."""
        if self.kept is None:
            self.kept = self.gateway("plain", self.engine())
            self.running.remove(self.kept.process)
            self.engines.remove(self.kept.engine)
        self.kept.well()
        return self.kept

    def until_ready(self, gateway, path="/ready"):
        end = time.monotonic() + 90
        while time.monotonic() < end:
            if gateway.process.poll() is not None:
                raise Broken(f"{gateway.log.name}: ended with {gateway.process.returncode}: {gateway.log.read_text(errors='replace')[-600:]}")
            try:
                kind = http.client.HTTPSConnection if gateway.tls else http.client.HTTPConnection
                connection = kind(gateway.host, gateway.port, timeout=2, **({"context": gateway.tls} if gateway.tls else {}))
                connection.request("GET", path)
                if connection.getresponse().status == 200:
                    return
            except (OSError, http.client.HTTPException):
                pass  # not listening yet
            finally:
                connection.close()
            time.sleep(0.05)
        raise Broken(f"{gateway.log.name}: not ready within 90 s: {gateway.log.read_text(errors='replace')[-600:]}")

    def sim(self, name, *flags):
        """A simulated engine; its URL, once it answers."""
        port = free_port()
        process = self.start(name, [str(ROOT / "warmpath"), "sim", "--port", str(port), *flags])
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
                connection.request("GET", "/health")
                connection.getresponse().read()
                return f"http://127.0.0.1:{port}"
            except OSError:
                if process.poll() is not None:
                    break
                time.sleep(0.05)
            finally:
                connection.close()
        raise Broken(f"the simulated engine did not start: {process.log.read_text(errors='replace')[-600:]}")

    def stop(self, process):
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def clear(self):
        """Ends all that this group has started."""
        for process in self.running:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.running:
            self.stop(process)
        for engine in self.engines:
            engine.close()
        self.running, self.engines = [], []

    def close(self):
        if self.kept is not None:
            self.running, self.engines = [self.kept.process], [self.kept.engine]
        self.clear()

#!/usr/bin/env python3
"""Runs the image of the gateway as a container: read-only, without rights, with 512 MiB. Standard library only; podman as root.

  image.py --image NAME

Two simulated engines come from the same image. What is asked: health, chats with the cached tokens that were predicted, the AOT cache in use,
SIGTERM in the middle of a stream. A container without the cache and a program that is not in the image show that both are seen.
"""
import argparse
import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../python/process"))
from chats import Chat, answers, awaited, get, words  # noqa: E402
from gateway_probe import free_ports, resident_mib  # noqa: E402

HOME = "/opt/warmpath"
JAVA = f"{HOME}/lib/runtime/bin/java"
CACHE = f"{HOME}/warmpath.aot"
USER = 1001
MEMORY_MIB = 512
# As Kubernetes would wait: terminationGracePeriodSeconds of k8s/base.
GRACE = 60
COMPRESSED = 150_000_000


class Podman:
    def __init__(self, image):
        self.image = image
        self.made = []
        self.global_options = []
        # crun, podman's first choice, refuses control groups of both versions beside each other.
        runc = shutil.which("runc")
        if runc and os.path.isdir("/sys/fs/cgroup/unified"):
            self.global_options += ["--runtime", runc]
        if not os.path.isdir("/run/systemd/system"):
            self.global_options += ["--cgroup-manager", "cgroupfs"]

    def call(self, *arguments, check=True):
        done = subprocess.run(["podman", *self.global_options, *arguments], capture_output=True, text=True)
        if check and done.returncode != 0:
            raise SystemExit(f"podman {' '.join(arguments)[:300]}: {done.stderr.strip()[-1000:]}")
        return done

    def run(self, name, *arguments, options=(), entry=None):
        """A container in the background, read-only, without rights and with a bound for memory; its name."""
        # Podman would raise them, which not every root may.
        limits = [f"--ulimit={kind}={limit}:{limit}" for kind, limit in (("nofile", min(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1])), ("nproc", 4096))]
        name = f"warmpath-test-{os.getpid()}-{name}"
        self.made.append(name)
        self.call("run", "--detach", "--name", name, "--network", "host", *limits, "--read-only", "--cap-drop", "all",
                  "--security-opt", "no-new-privileges", "--memory", f"{MEMORY_MIB}m", *([f"--entrypoint={entry}"] if entry else []), *options,
                  self.image, *arguments)
        return name

    def inspect(self, name, path):
        return self.call("inspect", "--format", "{{" + path + "}}", name).stdout.strip()

    def logs(self, name):
        done = self.call("logs", name, check=False)
        return done.stdout + done.stderr

    def check(self, name):
        """Ends the program with what the container said when it has ended."""
        if self.inspect(name, ".State.Running") != "true":
            raise SystemExit(f"{name} has ended: {self.logs(name)[-3000:]}")

    def end(self):
        for name in self.made:
            self.call("rm", "--force", "--time", "0", name, check=False)


def compressed_size(podman, folder):
    """Bytes of the layers as a registry would hold them."""
    target = os.path.join(folder, "image")
    podman.call("push", "--quiet", podman.image, f"oci:{target}")
    blobs = os.path.join(target, "blobs/sha256")
    return sum(os.path.getsize(os.path.join(blobs, name)) for name in os.listdir(blobs))


def status_of(pid, key):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(line.split()[1:] for line in f if line.startswith(key + ":"))


def root_is_read_only(pid):
    with open(f"/proc/{pid}/mounts", encoding="utf-8") as f:
        return any(line.split()[1] == "/" and "ro" in line.split()[3].split(",") for line in f)


def maps_cache(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as f:
        return CACHE in f.read()


class Gateway:
    """One container with `serve`, and how long it took until a chat was answered."""

    def __init__(self, podman, name, port, engines, options=()):
        self.url = f"http://127.0.0.1:{port}"
        self.podman = podman
        began = time.monotonic()
        self.name = podman.run(name, "serve", "--http-host", "127.0.0.1", "--http-port", str(port), "--workers", ",".join(engines), options=options)
        awaited("a first answer", self.first, 60, 0.02)
        self.first_answer = time.monotonic() - began
        awaited("readiness", lambda: answers(self.url + "/ready"), 60)
        self.ready = time.monotonic() - began
        self.pid = int(podman.inspect(self.name, ".State.Pid"))

    def first(self):
        self.podman.check(self.name)
        try:
            return Chat(self.url, "first", 2).whole()
        except OSError:
            return None


def check(right, what):
    if not right:
        raise SystemExit(f"wrong: {what}")


def image_itself(podman, folder):
    user = podman.inspect(podman.image, ".Config.User")
    check(user == str(USER), f"the image's user is {user!r}")
    size = compressed_size(podman, folder)
    check(size < COMPRESSED, f"compressed, the image has {size / 1e6:.0f} MB")
    for program in ("/bin/sh", "/usr/bin/apt-get", "/usr/bin/dpkg"):
        done = podman.call("run", "--rm", "--network", "none", "--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096", "--read-only", f"--entrypoint={program}",
                           podman.image, check=False)
        check(done.returncode == 127, f"{program} is in the image, or the answer to that is new: {done.returncode} {done.stderr[-300:]}")
    print(f"image: {size / 1e6:.1f} MB compressed, user {user}, no shell and no package manager")


def container(podman, folder):
    base = free_ports(7)
    engines = []
    for i in range(2):
        port = base + 1 + i
        name = podman.run(f"engine{i}", f"@{HOME}/jvm.options", "-Xmx128m", "-jar", f"{HOME}/lib/tools/warmpath-tools.jar", "sim", "--port", str(port),
                   "--events-port", str(base + 3 + i), "--replay-port", str(base + 5 + i), "--model", "demo", "--itl", "20ms", entry=JAVA)
        engines.append(f"http://127.0.0.1:{port}")
        awaited(f"the engine at {engines[i]}", lambda: podman.check(name) or answers(engines[i] + "/health"), 60)
    slow = Gateway(podman, "without-cache", base, engines, ["--env", "JDK_JAVA_OPTIONS=-XX:AOTMode=off"])
    check(not maps_cache(slow.pid), "the cache is mapped by a JVM that was told not to")
    podman.call("rm", "--force", "--time", "0", slow.name)
    # AOTMode=on: a JVM that cannot use the cache ends.
    gateway = Gateway(podman, "gateway", base, engines, ["--env", "JDK_JAVA_OPTIONS=-XX:AOTMode=on"])
    check(maps_cache(gateway.pid), "the JVM has not mapped the AOT cache")
    check(root_is_read_only(gateway.pid), "the root can be written")
    check(status_of(gateway.pid, "Uid")[0] == str(USER), "another user than 1001")
    check(status_of(gateway.pid, "CapEff") == ["0" * 16], "it has capabilities")
    check(podman.inspect(gateway.name, ".HostConfig.Memory") == str(MEMORY_MIB << 20), "another bound of memory")
    health = json.loads(get(gateway.url + "/q/health")[1])
    check(health["status"] == "UP", f"health: {health}")
    said = None
    for i in range(20):
        text = words(400, f"conversation{i % 5}")
        said = Chat(gateway.url, text, 16, stream=i % 2 == 1).whole()
        check(said.predicted == said.cached, f"chat {i}: {said}")
        check(said.cached > 0 or i < 5, f"chat {i} found nothing in a cache: {said}")
    resident = resident_mib(gateway.pid)
    print(f"container: first 200 after {gateway.first_answer:.2f} s ({slow.first_answer:.2f} s without the AOT cache), ready after {gateway.ready:.2f} s, RSS"
          f" {resident:.0f} MiB of {MEMORY_MIB}; 20 chats, cached tokens as predicted, the last {said.cached}")
    stopped = time.monotonic()
    subprocess.run([sys.executable, "-B", os.path.join(HERE, "../e2e/graceful_stop.py"), "--gateway", gateway.url, "--pid", str(gateway.pid)], check=True)
    code = podman.call("wait", gateway.name).stdout.strip()
    took = time.monotonic() - stopped
    check(took < GRACE, f"the end took {took:.0f} s")
    check(code in ("0", "143"), f"it ended with {code}: {podman.logs(gateway.name)[-2000:]}")
    check(podman.inspect(gateway.name, ".State.OOMKilled") == "false", "killed for its memory")
    print(f"container: ended {took:.1f} s after a stream had begun, with {code}")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--image", required=True)
    given = options.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    podman = Podman(given.image)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="warmpath-image-"))
        stack.callback(podman.end)
        image_itself(podman, folder)
        container(podman, folder)


if __name__ == "__main__":
    main()

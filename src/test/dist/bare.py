#!/usr/bin/env python3
"""An archive of `dist` in a root with nothing but a C library and a shell's tools: no Java, no compiler, no Python, no network.

  bare.py ARCHIVE [--java-opts OPTIONS]   root only (chroot, a network of its own); status 77 where that cannot be had

Simulated engines and the gateway start there as a user would start them. A chat is asked twice: the second one's cached tokens are
predicted and reported. `status` says well, SIGTERM ends both, and the second start uses the AOT cache that the first one made.
Then an archive without its native tokenizers, and one without its runtime, must not pass.
"""
import argparse
import ctypes
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

# Debian's packages that are there: what they hold is copied from this machine. Libraries come with whoever needs them.
PACKAGES = ("libc6", "libc-bin", "dash", "coreutils", "findutils", "sed", "base-files")
LIBRARIES = ("libselinux1", "libpcre2-8-0", "libacl1", "libattr1", "libgmp10")
FORBIDDEN = ("java", "javac", "gcc", "cc", "g++", "python3", "perl", "curl", "wget", "bash")
GATEWAY, ENGINES = 23500, 23600
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
CHAT = {"model": "demo", "max_tokens": 8, "messages": [{"role": "user", "content": "One text that is long enough to fill several blocks of sixteen tokens, so that "
        "the second time some of them are found in the cache of the engine that has computed them the first time. " * 2}]}


class Failure(Exception):
    pass


def make_root(root):
    listed = subprocess.run(["dpkg", "-L", *PACKAGES, *LIBRARIES], capture_output=True, text=True, check=True).stdout.split("\n")
    for name in ("usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "proc", "dev", "tmp", "etc", "root", "opt"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    for name in listed:
        # /lib and /usr/lib are one.
        target = root / re.sub(r"^/(bin|sbin|lib|lib64)/", r"/usr/\1/", name).lstrip("/")
        if not name or "/share/" in name or Path(name).is_dir() or name.startswith("/etc/") or target.is_symlink() or not os.path.lexists(name):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(name, target, follow_symlinks=False)
    if not (root / "usr/bin/sh").exists():
        (root / "usr/bin/sh").symlink_to("dash")
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/nonexistent:/bin/false\n")
    (root / "tmp").chmod(0o1777)
    there = [name for name in FORBIDDEN for folder in ("usr/bin", "usr/sbin") if (root / folder / name).exists()]
    if there:
        raise Failure(f"the root is not bare: {there}")


def mount(source, target, kind, flags):
    if ctypes.CDLL(None, use_errno=True).mount(source.encode(), str(target).encode(), kind.encode(), flags, None):
        raise OSError(ctypes.get_errno(), f"mount {target}")


def loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS: IFF_UP | IFF_RUNNING


class Installed:
    def __init__(self, root, name, java_opts):
        self.root, self.program = root, f"/opt/{name}/bin/warmpath"
        self.environment = {"PATH": "/usr/bin:/usr/sbin", "HOME": "/root"}
        if java_opts:
            self.environment["WARMPATH_JAVA_OPTS"] = java_opts

    def command(self, *arguments):
        return ["chroot", str(self.root), "/usr/bin/env", "-i", *(f"{k}={v}" for k, v in self.environment.items()), self.program, *arguments]

    def start(self, log, *arguments):
        with open(log, "w") as out:
            return subprocess.Popen(self.command(*arguments), stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)

    def run(self, *arguments):
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=120)


def until(what, condition, log, process, seconds=300):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            raise Failure(f"{what}: ended with {process.returncode}\n{Path(log).read_text()}")
        if condition():
            return
        time.sleep(0.02)
    raise Failure(f"{what}: not within {seconds} s\n{Path(log).read_text()}")


def get(path, body=None):
    request = urllib.request.Request(f"http://127.0.0.1:{GATEWAY}{path}", data=None if body is None else json.dumps(body).encode(), headers={"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.headers, answer.read().decode()


def answers(path):
    try:
        get(path)
        return True
    except (urllib.error.URLError, OSError):
        return False


def end(process, name):
    process.send_signal(signal.SIGTERM)
    status = process.wait(60)
    if status not in (0, 143, -signal.SIGTERM):
        raise Failure(f"{name} ended with {status} after SIGTERM")
    return status


def serve(installed, log):
    workers = [f"--worker=http://127.0.0.1:{ENGINES + n}" for n in range(2)]
    began = time.monotonic()
    gateway = installed.start(log, "serve", "--http-host", "127.0.0.1", "--http-port", str(GATEWAY), *workers)
    until("serve", lambda: answers("/live"), log, gateway)
    return gateway, time.monotonic() - began


def play(installed, place):
    version = installed.run("--version")
    if version.returncode or not re.fullmatch(r"warmpath \S+ \(commit [0-9a-f]+\S*, index ABI \d+, JVM archive\)\n", version.stdout):
        raise Failure(f"--version: {version.stdout}{version.stderr}")
    print(version.stdout.strip())
    log = place / "sim.log"
    engines = installed.start(log, "sim", "--port", str(ENGINES), "--count", "2")
    until("sim", lambda: log.read_text().count("http://127.0.0.1:") >= 2, log, engines)
    gateway = None
    try:
        gateway, first = serve(installed, place / "first.log")
        until("ready", lambda: answers("/ready"), place / "first.log", gateway)
        ids = []
        for asked in range(2):
            headers, text = get("/v1/chat/completions", CHAT)
            ids.append(headers["x-request-id"])
            cached = json.loads(text)["usage"]["prompt_tokens_details"]["cached_tokens"]
            # Events of the first one are on their way until then.
            until("events", lambda: installed.run("status", "--url", f"http://127.0.0.1:{GATEWAY}").stdout.count("following") == 2, place / "first.log", gateway)
        why = installed.run("why", ids[1], "--url", f"http://127.0.0.1:{GATEWAY}", "--json")
        if cached <= 0 or why.returncode:
            raise Failure(f"{cached} cached tokens reported; why: {why.stdout}{why.stderr}")
        predicted = predicted_tokens(json.loads(why.stdout))
        if predicted != cached:
            raise Failure(f"{predicted} cached tokens predicted, {cached} reported: {why.stdout}")
        status = installed.run("status", "--url", f"http://127.0.0.1:{GATEWAY}")
        if status.returncode or "all well" not in status.stdout:
            raise Failure(f"status: {status.returncode}\n{status.stdout}{status.stderr}")
        ended = end(gateway, "serve")
        if "recorded in" not in (place / "first.log").read_text():
            raise Failure(f"the first start made no AOT cache:\n{(place / 'first.log').read_text()}")
        gateway, second = serve(installed, place / "second.log")
        maps = (installed.root / f"proc/{gateway.pid}/maps").read_text()
        if "recording" in (place / "second.log").read_text() or "warmpath.aot" not in maps:
            raise Failure("the second start did not use the AOT cache")
        for unpacked in ("libjnidispatch", "libkvindex"):
            if f"/lib/native/{unpacked}.so" not in maps:
                raise Failure(f"{unpacked} was not loaded from lib/native")
        end(gateway, "serve")
        gateway = None
        print(f"{predicted} cached tokens predicted and reported; first start {first:.1f} s with the recording, second {second:.2f} s; SIGTERM: {ended}")
    finally:
        if gateway is not None and gateway.poll() is None:
            gateway.kill()
            gateway.wait()
        sim_ended = engines.poll() is None and end(engines, "sim")
    print(f"sim after SIGTERM: {sim_ended}")


def predicted_tokens(value):
    """The gateway's prediction, wherever the answer of `why` keeps it."""
    if isinstance(value, dict):
        for key in ("predictedCachedTokens", "predicted_cached_tokens", "predicted"):
            if isinstance(value.get(key), int):
                return value[key]
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            found = predicted_tokens(part)
            if found is not None:
                return found
    return None


def controls(installed, tree, place):
    """What is missing must be missed."""
    tokenizers = tree / "lib/native/libtokenizers.so"
    tokenizers.rename(place / "aside")
    broken = installed.run("sim", "--port", str(ENGINES))
    (place / "aside").rename(tokenizers)
    if broken.returncode == 0 or "libtokenizers" not in broken.stderr:
        raise Failure(f"sim without its tokenizers: {broken.returncode}\n{broken.stderr}")
    (tree / "lib/runtime").rename(place / "aside")
    broken = installed.run("sim")
    (place / "aside").rename(tree / "lib/runtime")
    if broken.returncode != 1 or "not whole" not in broken.stderr:
        raise Failure(f"sim without Java: {broken.returncode} {broken.stderr}")
    print("without its tokenizers, and without its runtime, it does not pass")


def inside(archive, java_opts):
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        root = place / "root"
        mount("none", "/", "", MS_REC | MS_PRIVATE)
        loopback_up()
        make_root(root)
        with tarfile.open(archive) as packed:
            packed.extractall(root / "opt")
        tree = next((root / "opt").iterdir())
        mount("proc", root / "proc", "proc", 0)
        for device in ("null", "zero", "random", "urandom"):
            (root / "dev" / device).touch()
            mount(f"/dev/{device}", root / "dev" / device, "", MS_BIND)
        try:
            installed = Installed(root, tree.name, java_opts)
            play(installed, place)
            controls(installed, tree, place)
        finally:
            libc = ctypes.CDLL(None)
            for target in ("proc", *(f"dev/{d}" for d in ("null", "zero", "random", "urandom"))):
                libc.umount2(str(root / target).encode(), 2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("archive", type=Path)
    parser.add_argument("--java-opts", default="")
    parser.add_argument("--inside", action="store_true")
    arguments = parser.parse_args()
    if arguments.inside:
        try:
            inside(arguments.archive, arguments.java_opts)
        except Failure as e:
            sys.exit(f"bare.py: {e}")
        return
    if os.geteuid() != 0 or not shutil.which("dpkg") or subprocess.run(["unshare", "-n", "-m", "-p", "-f", "true"], capture_output=True).returncode:
        print("bare.py: a bare root needs root, namespaces and Debian's packages of this machine; not tested", file=sys.stderr)
        sys.exit(77)
    archive = arguments.archive.resolve()
    sys.exit(subprocess.run(["unshare", "-n", "-m", "-p", "-f", sys.executable, "-B", __file__, str(archive), "--java-opts", arguments.java_opts, "--inside"]).returncode)


main()

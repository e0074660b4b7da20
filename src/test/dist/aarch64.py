#!/usr/bin/env python3
"""An archive of `dist` for aarch64 under qemu-aarch64: version, a simulated engine, the gateway, chats. Standard library only.

  aarch64.py ARCHIVE ROOT WORK   ROOT: a folder with a C library for aarch64 and nothing else that is used; WORK: where it is unpacked

The launcher is this machine's shell, Java runs in the emulator. Without one of its libraries the archive must not pass.
"""
import os
import re
import shutil
import subprocess
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../python/process"))
from chats import Chat, answers, awaited, words  # noqa: E402
from gateway_probe import free_ports  # noqa: E402

# Emulated, beside other work.
PATIENCE = 900


def emulator():
    for name in ("qemu-aarch64", "qemu-aarch64-static"):
        if shutil.which(name):
            return shutil.which(name)
    raise SystemExit("there is no qemu-aarch64")


def unpack(archive, root, work):
    """The tree of the archive, with Java behind the emulator."""
    place = os.path.join(work, "aarch64")
    shutil.rmtree(place, ignore_errors=True)
    with tarfile.open(archive) as packed:
        packed.extractall(place)
    tree = os.path.join(place, os.listdir(place)[0])
    java = os.path.join(tree, "lib/runtime/bin/java")
    os.rename(java, java + ".aarch64")
    with open(java, "w", encoding="ascii") as f:
        f.write(f'#!/bin/sh\nexec {emulator()} -L {root} {java}.aarch64 "$@"\n')
    os.chmod(java, 0o755)
    return tree


class Installed:
    def __init__(self, tree, work):
        self.tree, self.work, self.running = tree, work, []
        self.environment = {"PATH": os.environ["PATH"], "HOME": work, "WARMPATH_AOT": "off",
                            "WARMPATH_FLEET_HEALTH_TIMEOUT": "60s"}  # emulated, a health check takes seconds

    def command(self, *arguments):
        return [os.path.join(self.tree, "bin/warmpath"), *arguments]

    def run(self, *arguments):
        return subprocess.run(self.command(*arguments), env=self.environment, capture_output=True, text=True, timeout=PATIENCE)

    def start(self, name, path, *arguments):
        """A program in the background, when it answers there; its process."""
        log = os.path.join(self.work, f"aarch64-{name}.log")
        with open(log, "wb") as out:
            process = subprocess.Popen(self.command(*arguments), env=self.environment, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
        self.running.append(process)

        def up():
            if process.poll() is not None:
                with open(log, encoding="utf-8", errors="replace") as f:
                    raise SystemExit(f"{name} ended with {process.returncode}:\n{f.read()[-3000:]}")
            return answers(path)
        awaited(f"{name} (log: {log})", up, PATIENCE)
        return process

    def end(self):
        for process in self.running:
            process.kill()
            process.wait()


def check(right, what):
    if not right:
        raise SystemExit(f"aarch64.py: {what}")


def loaded(process, libraries):
    with open(f"/proc/{process.pid}/maps", encoding="utf-8") as f:
        maps = f.read()
    for library in libraries:
        check(f"/lib/native/{library}" in maps, f"{library} was not loaded from lib/native")


def main():
    archive, root, work = (os.path.abspath(path) for path in sys.argv[1:4])
    os.makedirs(work, exist_ok=True)
    installed = Installed(unpack(archive, root, work), work)
    told = installed.run("--version").stdout
    check(re.fullmatch(r"warmpath \S+ \(commit [0-9a-f]+\S*, index ABI \d+, JVM archive\)\n", told), f"--version: {told!r}")
    print(told.strip())
    gateway_port = free_ports(4)
    engine, gateway = f"http://127.0.0.1:{gateway_port + 1}", f"http://127.0.0.1:{gateway_port}"
    try:
        sim = installed.start("sim", engine + "/health", "sim", "--port", str(gateway_port + 1), "--model", "demo")
        serve = installed.start("serve", gateway + "/ready", "serve", "--http-host", "127.0.0.1", "--http-port", str(gateway_port), "--worker", engine)
        loaded(sim, ["libtokenizers.so"])
        loaded(serve, ["libjnidispatch.so", "libkvindex.so"])
        text = words(100, "emulated")
        awaited("a prediction", lambda: Chat(gateway, text, 4, timeout=PATIENCE).whole().predicted, PATIENCE, 1)
        answer = Chat(gateway, text, 4, stream=True, timeout=PATIENCE).whole()
        check(answer.predicted == answer.cached > 0, f"a chat: {answer}")
        serve.terminate()
        ended = serve.wait(PATIENCE)
        check(ended in (0, 143), f"serve ended with {ended} after SIGTERM")
        print(f"aarch64: {answer.cached} cached tokens predicted and reported; SIGTERM: {ended}")
    finally:
        installed.end()
    library = os.path.join(installed.tree, "lib/native/libstdc++.so.6")
    os.rename(library, library + ".aside")
    broken = installed.run("sim", "--port", str(gateway_port + 1))
    check(broken.returncode != 0 and "libstdc++" in broken.stderr, f"without libstdc++: {broken.returncode} {broken.stderr[-500:]}")
    print("aarch64: without its C++ library it does not pass")


main()

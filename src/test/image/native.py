#!/usr/bin/env python3
"""Runs the image of Dockerfile.native as a container: read-only, without rights, with 512 MiB. Standard library only; podman as root.

  native.py --image NAME --root DIR --java JAVA

A simulated engine of the tree at DIR runs beside it. What is asked: health, chats with the cached tokens that were predicted, SIGTERM in the
middle of a stream.
"""
import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from image import GRACE, MEMORY_MIB, USER, Gateway, Podman, check, root_is_read_only, status_of  # noqa: E402
from chats import Chat, answers, awaited, get, words  # noqa: E402
from gateway_probe import free_ports, resident_mib  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--image", "--root", "--java"):
        options.add_argument(name, required=True)
    given = options.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    podman, base = Podman(given.image), free_ports(4)
    engine = f"http://127.0.0.1:{base + 1}"
    with contextlib.ExitStack() as stack:
        process = stack.enter_context(subprocess.Popen(
            [given.java, "-Xmx128m", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow", "-jar",
             os.path.join(given.root, "target/tools/warmpath-tools.jar"), "sim", "--port", str(base + 1), "--model", "demo", "--itl", "20ms"],
            stdout=subprocess.DEVNULL))
        stack.callback(process.kill)
        stack.callback(podman.end)
        awaited(f"the engine at {engine}", lambda: answers(engine + "/health"), 60)
        gateway = Gateway(podman, "native", base, [engine])
        check(root_is_read_only(gateway.pid), "the root can be written")
        check(status_of(gateway.pid, "Uid")[0] == str(USER), "another user than 1001")
        check(status_of(gateway.pid, "CapEff") == ["0" * 16], "it has capabilities")
        health = json.loads(get(gateway.url + "/q/health")[1])
        check(health["status"] == "UP", f"health: {health}")
        text = words(400, "conversation")
        awaited("a prediction", lambda: Chat(gateway.url, text).whole().predicted, 60)
        said = Chat(gateway.url, text, stream=True).whole()
        check(said.predicted == said.cached > 0, f"a chat: {said}")
        print(f"container: first 200 after {gateway.first_answer:.2f} s, ready after {gateway.ready:.2f} s, RSS {resident_mib(gateway.pid):.0f} MiB of {MEMORY_MIB};"
              f" {said.cached} cached tokens as predicted")
        subprocess.run([sys.executable, "-B", os.path.join(HERE, "../e2e/graceful_stop.py"), "--gateway", gateway.url, "--pid", str(gateway.pid)], check=True, timeout=2 * GRACE)
        code = podman.call("wait", gateway.name).stdout.strip()
        check(code in ("0", "143"), f"it ended with {code}: {podman.logs(gateway.name)[-2000:]}")
        print(f"container: ended after a stream, with {code}")


if __name__ == "__main__":
    main()

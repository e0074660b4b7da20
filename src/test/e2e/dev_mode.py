#!/usr/bin/env python3
"""`./warmpath dev`, in a copy of a built tree: a changed class of core and one of gateway are in an answer without a restart, and
after Ctrl-C no process is left. Standard library only.

  dev_mode.py --root TREE [--port PORT]
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

# A word of an answer, where it stands, and who tells it.
EDITS = (
    ("core", "src/core/main/java/io/warmpath/fault/ErrorKind.java", '"model_not_found"', "chat"),
    ("gateway", "src/gateway/main/java/io/warmpath/api/StatusEndpoints.java", '"warmpath"', "models"),
)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def copy_of(root, to):
    names = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           check=True, capture_output=True).stdout.decode().split("\0")
    for name in names:
        source = root / name
        if name and source.is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, to / name)
    # With its times, so that nothing has to be compiled first.
    subprocess.run(["cp", "-a", str(root / "target"), str(to / "target")], check=True)
    os.symlink(root / ".tools", to / ".tools")


def processes(tree):
    """What runs in the tree or names it: {pid: command line}."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            place = os.readlink(entry / "cwd")
        except OSError:
            continue  # it has ended, or is not ours
        if command and (str(tree) in command or place.startswith(str(tree))):
            found[int(entry.name)] = command[:150]
    return found


class Dev:
    def __init__(self, tree, port):
        self.url = f"http://127.0.0.1:{port}"
        self.log = tree / "dev.log"
        # Its own group, as a terminal makes one; Ctrl-C goes to all of it. By default Maven takes every file of another place for new.
        environment = dict(os.environ, WARMPATH_MAVEN_OPTS="-B -Dmaven.compiler.useIncrementalCompilation=false "
                           + os.environ.get("WARMPATH_MAVEN_OPTS", ""))
        self.process = subprocess.Popen([tree / "warmpath", "dev", "--port", str(port)], stdin=subprocess.DEVNULL,
                                        stdout=open(self.log, "wb"), stderr=subprocess.STDOUT, start_new_session=True, env=environment)

    def get(self, what):
        """Status and text of an answer; None while nobody answers."""
        body = None if what == "models" else json.dumps(
            {"model": "nobody" if what == "chat" else "demo", "max_tokens": 2, "messages": [{"role": "user", "content": "hello"}]})
        path = "/v1/models" if what == "models" else "/v1/chat/completions"
        request = urllib.request.Request(self.url + path, body and body.encode(), {"content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as e:
            return e.code, e.read().decode()
        except OSError:
            return None

    def until(self, what, condition, seconds):
        end = time.monotonic() + seconds
        while True:
            answer = self.get(what)
            if answer and condition(*answer):
                return
            if self.process.poll() is not None or time.monotonic() > end:
                sys.exit(f"{what}: last answer {str(answer)[:500]}\n" + self.log.read_text(errors="replace")[-6000:])
            time.sleep(0.2)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--root", required=True, type=pathlib.Path)
    options.add_argument("--port", type=int, default=0)
    given = options.parse_args()
    tree = pathlib.Path(tempfile.mkdtemp(prefix="warmpath-dev-")).resolve()
    began = time.monotonic()
    dev = None
    try:
        copy_of(given.root.resolve(), tree)
        dev = Dev(tree, given.port or free_port())
        dev.until("demo", lambda status, text: status == 200, 300)
        print(f"dev: the first answer after {time.monotonic() - began:.0f} s")
        for module, path, word, where in EDITS:
            edited = word[:-1] + '-edited"'
            dev.until(where, lambda status, text: word in text, 60)
            source = tree / path
            text = source.read_text()
            assert text.count(word) == 1, f"{path} has {word} {text.count(word)} times"
            source.write_text(text.replace(word, edited))
            changed = time.monotonic()
            dev.until(where, lambda status, text: edited in text, 60)
            print(f"dev: a changed class of {module} is in an answer after {time.monotonic() - changed:.1f} s")
        dev.until("demo", lambda status, text: status == 200, 60)
        running = processes(tree)
        # The launcher, the engines, Maven, the gateway: else nothing could be missing below.
        if len(running) < 4:
            sys.exit(f"only these run, or are found: {running}")
        os.killpg(dev.process.pid, signal.SIGINT)
        status = dev.process.wait(timeout=30)
        left = processes(tree)
        if left:
            sys.exit(f"left running after Ctrl-C: {left}")
        if status != 130:
            sys.exit(f"the launcher ended with {status} instead of 130\n" + dev.log.read_text(errors="replace")[-3000:])
        print(f"dev: after Ctrl-C none of {len(running)} processes is left; {time.monotonic() - began:.0f} s in all")
    finally:
        if dev:
            for pid in processes(tree):
                os.kill(pid, signal.SIGKILL)
            dev.process.wait()
        shutil.rmtree(tree, ignore_errors=True)


if __name__ == "__main__":
    main()

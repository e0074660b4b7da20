#!/usr/bin/env python3
"""Runs the commands of the documentation as its readers do: a page from top to bottom, in a shell, with outputs held against what the page shows.

  commands.py [PAGE...]     all pages for readers that have something to run, unless some are named (a part of the path will do)
  commands.py --show PAGE   outputs are printed and not compared: to write a page
  commands.py --check       nothing is run: every block of commands says whether it is tested, and names tests that there are
  commands.py --self-test   what reads pages and compares outputs finds planted faults
  commands.py --control     pages with planted faults fail

Each page has a folder of its own, with links to what a checkout has, and namespaces of its own: its ports are free whatever runs on this machine,
nothing outside can be reached, and all that it started ends with it. README.md has the marks. The exit code is 1 when a page fails, 77 when one
was left out, as something that it needs is not here.
"""
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]

sys.path.append(str(HERE.parent / "pods"))

import containers  # noqa: E402
import manifests  # noqa: E402
import pages  # noqa: E402
from pages import BY, CTRL_C, ELSEWHERE, FILE, RUN, SHOWS, TERMINAL, UNTESTED, Wrong  # noqa: E402

PAGES = tuple(ROOT / place for place in ("README.md", ".github", "k8s", "src/docs", "src/examples", "src/perf", "src/clients"))
UNFENCED = (ROOT / "k8s/helm/warmpath/README.md",)  # helm-docs writes it
CHECKOUT = ("warmpath", "src", "k8s", "README.md", "LICENSE")
PATIENCE_S = 120  # a block, or a terminal until its condition holds
ENGINE_PATIENCE_S = 500  # the same on a page with real engines
TOOLS = ROOT / ".tools"
ENGINES = pathlib.Path(os.environ.get("ENGINES_HOME", TOOLS / "engines"))
NAMESPACES = ("unshare", "--net", "--pid", "--fork", "--mount-proc", "--kill-child")
REAL = {"sglang", "vllm"}  # engines
# What a page may need beside the product, and where it has to be; programs may be on PATH as well.
PROGRAMS = ("nats", "prometheus")
AGENTS = ("ANTHROPIC_", "CLAUDE", "OPENCODE_")  # what the reader's own agents are told is not what the page tells them
PACKAGES = ("examples", "podman", "agents", "open-webui")
THINGS = {
    "nats": TOOLS / "nats/nats-server", "sglang": ENGINES / "installed", "vllm": ENGINES / "installed",
    "prometheus": TOOLS / "prometheus/usr/bin/prometheus", "examples": ROOT / "target/examples/venv/bin/python",
    "podman": containers.COMPOSE, "agents": ROOT / "target/agents/node_modules/.bin/opencode", "open-webui": ROOT / "target/open-webui/venv/bin/open-webui",
}


class Page:
    def __init__(self, path):
        self.path, self.name = path, str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
        text = path.read_text(encoding="utf-8")
        self.needs = pages.needs(text)
        self.blocks = pages.blocks(text, self.name, path.is_relative_to(ROOT) and path not in UNFENCED)

    def runs(self):
        return any(block.kind in (RUN, TERMINAL) for block in self.blocks)

    def check(self):
        """What can be said without running anything."""
        unknown = [need for need in self.needs if need not in THINGS]
        if unknown:
            raise Wrong(f"{self.name}: nobody knows what '{unknown[0]}' is that it needs")
        for at, block in enumerate(self.blocks):
            where = f"{self.name}:{block.line}"
            if block.kind == ELSEWHERE:
                other = self.path.parent / block.said["page"]
                if other.name != "kubernetes.md":
                    raise Wrong(f"{where}: nobody runs the commands of {other}")
                tested = manifests.commands(other.read_text(encoding="utf-8"))
                missing = [line for line in pages.commands(block.text) if line not in tested]
                if missing:
                    raise Wrong(f"{where}: {other.name} has no command '{missing[0]}'")
            if block.kind == BY:
                test = ROOT / block.said["test"]
                names = [self.path.name, *(word for word in block.text.split() if "/" in word and (ROOT / word).is_file())]
                if not test.is_file() or not any(name in test.read_text(encoding="utf-8") for name in names):
                    raise Wrong(f"{where}: {block.said['test']} is no file that names {' or '.join(names)}")
            if block.kind == SHOWS and not any(b.kind == RUN for b in self.blocks[:at]):
                raise Wrong(f"{where}: nothing was run whose output this could be")

    def lacking(self):
        if REAL & set(self.needs):
            sys.path.append(str(HERE.parent / "engines"))
            import fleet
            if lacks := fleet.room(2):
                return [lacks]
        if "podman" in self.needs and (lacks := containers.lacking()):
            return [lacks]
        return [need for need in self.needs if not THINGS[need].exists() and not (need in PROGRAMS and shutil.which(THINGS[need].name))]


class Typist:
    """The reader: one shell that stays, and other terminals beside it."""

    def __init__(self, page, folder):
        self.page, self.folder, self.terminals, self.counted, self.known = page, folder, [], 0, {}
        self.patience = ENGINE_PATIENCE_S if REAL & set(page.needs) else PATIENCE_S
        path = [folder / "bin", *(THINGS[need].parent for need in page.needs if need in PROGRAMS + PACKAGES), os.environ["PATH"]]
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy") and not k.startswith(AGENTS)}, "PATH": os.pathsep.join(map(str, path)),
            "HOME": str(folder), "NO_PROXY": "*", "COLUMNS": "130", "TERM": "dumb", "ENGINES_HOME": str(ENGINES),
            **(containers.settings(folder) if "podman" in page.needs else {})}
        ends, self.says = os.pipe()
        self.ends = ends
        self.shell = subprocess.Popen(["sh", "-e"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=folder, env=self.environment,
                                      pass_fds=[self.says], text=True)

    def fail(self, block, why, output=""):
        text = "".join(f"    terminal of line {opened.line}:\n{tail(log)}" for opened, _, log in self.terminals)
        raise Wrong(f"{self.page.name}:{block.line}: {why}\n{indented(block.text)}\n    said:\n{indented(output[-4000:])}{text}")

    def type(self, block):
        """In the reader's shell; its output. A command that fails ends the page."""
        self.counted += 1
        script, output = (self.folder / f".{kind}{self.counted}" for kind in ("typed", "said"))
        script.write_text(block.text)
        self.shell.stdin.write(f"exec >{output} 2>&1\n. ./{script.name} </dev/null\necho {self.counted} >&{self.says}\n")
        self.shell.stdin.flush()
        end = time.monotonic() + self.patience
        while not select.select([self.ends], [], [], 0.05)[0]:
            if self.shell.poll() is not None:
                self.fail(block, f"a command failed with {self.shell.returncode}", output.read_text(errors="replace"))
            if time.monotonic() > end:
                self.fail(block, f"not done after {self.patience} s", output.read_text(errors="replace"))
        os.read(self.ends, 100)
        return output.read_text(errors="replace")

    def open(self, block):
        """In another terminal, until the page's condition holds."""
        self.counted += 1
        log = self.folder / f".terminal{self.counted}"
        with open(log, "wb") as said:
            terminal = subprocess.Popen(["sh", "-ec", block.text], stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd=self.folder,
                                        env=self.environment, start_new_session=True)
        self.terminals.append((block, terminal, log))
        end = time.monotonic() + self.patience
        while subprocess.run(["sh", "-c", block.said["until"]], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            if terminal.poll() is not None:
                self.fail(block, f"it ended with {terminal.returncode} before `{block.said['until']}` held")
            if time.monotonic() > end:
                self.fail(block, f"`{block.said['until']}` did not hold within {self.patience} s")
            time.sleep(0.1)

    def stop(self, block):
        """Ctrl-C in the latest terminal with that command; waits for its end."""
        opened, terminal, _ = next((t for t in reversed(self.terminals) if block.text in t[0].text), (None, None, None))
        if not opened:
            self.fail(block, "no terminal has this command")
        os.killpg(terminal.pid, signal.SIGINT)
        try:
            terminal.wait(self.patience)
        except subprocess.TimeoutExpired:
            self.fail(block, f"it did not end within {self.patience} s after Ctrl-C")

    def leave(self):
        """Nothing that was to stay open has ended by itself."""
        for opened, terminal, _ in self.terminals:
            if terminal.poll() is not None and terminal.returncode not in (130, 143, -signal.SIGINT, -signal.SIGTERM):
                self.fail(opened, f"it ended with {terminal.returncode} before the page did")

    def read(self, block, output):
        missing = pages.lacks(block.text, output, pages.others(block.said["others"]), self.known)
        if missing is not None:
            self.fail(block, f"the page shows a line that did not come: {missing}", output)


def indented(text):
    return "".join(f"    | {line}\n" for line in text.splitlines())


def tail(log):
    return indented("\n".join(log.read_text(errors="replace").splitlines()[-15:]))


def inside(page, folder, show=False):
    """Within namespaces of its own, as process 1: whatever is left ends with this."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for name in CHECKOUT:
        (folder / name).symlink_to(ROOT / name)
    (folder / "bin").mkdir()
    for engine, command in {"sglang": "python", "vllm": "vllm"}.items():
        if engine in page.needs:
            stand_in = folder / "bin" / command
            stand_in.write_text(f'#!/bin/sh\nexec python3 -B "{HERE}/real_engine.py" {command} "$@"\n')
            stand_in.chmod(0o755)
    typist, output = Typist(page, folder), ""
    for block in page.blocks:
        began = time.monotonic()
        if block.kind == RUN:
            output = typist.type(block)
        elif block.kind == TERMINAL:
            typist.open(block)
        elif block.kind == CTRL_C:
            typist.stop(block)
        elif block.kind == FILE:
            (folder / block.said["name"]).write_text(block.text)
        elif block.kind == SHOWS and not show:
            typist.read(block, output)
        if block.kind in (RUN, TERMINAL):
            print(f"  {time.monotonic() - began:5.1f} s  line {block.line}: {pages.commands(block.text)[0][:100]}", flush=True)
        if show and block.kind == RUN:
            print(indented(output), end="", flush=True)
    typist.leave()


def played(path, *more, **options):
    # Its folder goes when its processes are gone: they still write at their end.
    with tempfile.TemporaryDirectory(prefix="warmpath-page-") as folder:
        return subprocess.run([*NAMESPACES, sys.executable, "-B", __file__, "--inside", str(path), folder, *more], **options)


def quietly(path):
    done = played(path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def all_pages():
    found = [Page(path) for path in sorted(path for folder in PAGES for path in (folder.rglob("*.md") if folder.is_dir() else [folder]))]
    for page in found:
        page.check()
    return found


def chosen(names):
    found = [page for page in all_pages() if page.runs() and (not names or any(name in page.name for name in names))]
    if not found:
        raise Wrong(f"no page with something to run is called like {names}")
    return found


def run(names, *more):
    if not shutil.which("unshare") or subprocess.run([*NAMESPACES, "true"], stderr=subprocess.DEVNULL).returncode:
        print("docs: NO COMMAND WAS RUN: this user may not make namespaces (unshare --net --pid)", file=sys.stderr)
        return 77
    failed, left = [], []
    for page in chosen(names):
        lacking = page.lacking()
        if lacking:
            print(f"docs: LEFT OUT: {page.name}: missing here: {', '.join(lacking)}", flush=True)
            left.append(page.name)
            continue
        print(f"docs: {page.name}", flush=True)
        began = time.monotonic()
        if played(page.path, *more).returncode:
            failed.append(page.name)
        print(f"docs: {'FAILED' if page.name in failed else 'passed'} {page.name}, {time.monotonic() - began:.0f} s", flush=True)
    print(f"docs: {len(failed)} failed, {len(left)} left out" + "".join(f"\n  FAILED {name}" for name in failed))
    return 1 if failed else 77 if left else 0


def count():
    found = all_pages()
    kinds = [block.kind for page in found for block in page.blocks]
    print(f"docs: {sum(k in (RUN, TERMINAL) for k in kinds)} blocks are run, {kinds.count(ELSEWHERE) + kinds.count(BY)} are run by other tests, "
          f"{kinds.count(UNTESTED)} say why they are not, {kinds.count(SHOWS)} outputs are compared")
    return 0


def main(arguments):
    try:
        match arguments:
            case ["--inside", path, folder, *show]:
                inside(Page(pathlib.Path(path)), pathlib.Path(folder), bool(show))
                return 0
            case ["--show", *names]:
                return run(names, "--show")
            case ["--self-test"]:
                import faults
                return faults.self_test()
            case ["--control"]:
                import faults
                return faults.control(quietly)
            case ["--check"]:
                return count()
            case names:
                return run(names)
    except Wrong as problem:
        print(f"docs: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

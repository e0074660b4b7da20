#!/usr/bin/env python3
"""The Python packages of src/clients as their users get them, with the oldest or the newest Python that they name.

  clients.py ROOT oldest|newest

See README.md. Works in ROOT/target/clients. Status 77 where that Python or what pip has to fetch is not there. Standard library only.
"""
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = {"python": "warmpath_router", "publisher": "warmpath_publisher"}
SKIPPED = 77
SETUPTOOLS = '[build-system]\nrequires = ["setuptools==84.2.1"]\nbuild-backend = "setuptools.build_meta"\n'
# The package is the installed one, typed, and says of each public name what it is.
LOOK = """
import importlib, inspect, sys
from pathlib import Path
package = importlib.import_module(sys.argv[1])
folder = Path(package.__file__).parent
assert folder.parent.name == "site-packages", f"{folder} is not the installed package"
assert (folder / "py.typed").is_file(), f"{folder} has no py.typed"
for name in package.__all__:
    value = getattr(package, name)
    things = [(name, value)]
    if inspect.isclass(value) and not hasattr(value, "__total__"):
        things += [(f"{name}.{n}", m) for n, m in vars(value).items() if n[0] != "_" and inspect.isroutine(m)]
    for label, thing in things:
        assert inspect.getdoc(thing), f"{label} has no docstring"
"""


class Fault(Exception):
    """What does not hold; text for people."""


class Missing(Exception):
    """What this machine has not; text for people."""


def pyproject(root, folder):
    return tomllib.loads((root / f"src/clients/{folder}/pyproject.toml").read_text())


def named_pythons(root):
    """(oldest, newest) of the classifiers, the same in both packages; the oldest is what pip asks for."""
    named = set()
    for folder in PACKAGES:
        project = pyproject(root, folder)["project"]
        versions = [m[1] for c in project["classifiers"] if (m := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", c))]
        if project["requires-python"] != f">={versions[0]}":
            raise Fault(f"{folder}: requires-python is {project['requires-python']}, the first classifier {versions[0]}")
        named.add((versions[0], versions[-1]))
    if len(named) != 1:
        raise Fault(f"the packages name different Pythons: {sorted(named)}")
    return named.pop()


def check_pins(root, which):
    """The oldest dependencies that are tested are the lower bounds of the ranges; the newest are those of the other tests."""
    pins = dict(line.split("==") for line in (HERE / f"{which}.txt").read_text().split())
    others = (root / "src/test/e2e/requirements.txt").read_text().split()
    for folder in PACKAGES:
        for dependency in pyproject(root, folder)["project"]["dependencies"]:
            name, low = re.match(r"([\w-]+)>=([\d.]+),", dependency).groups()
            good = re.fullmatch(re.escape(low) + r"(\.0)*", pins[name]) if which == "oldest" else f"{name}=={pins[name]}" in others
            if not good:
                raise Fault(f"{which}.txt has {name} {pins[name]}; {folder}/pyproject.toml says {dependency}, src/test/e2e/requirements.txt {others}")
    return pins


def interpreter(version):
    """An executable of this Python: on the PATH, or where pyenv and uv put theirs; None."""
    home = Path.home()
    places = [
        (Path(os.environ.get("PYENV_ROOT", home / ".pyenv")) / "versions", f"{version}.*/bin/python3"),
        (home / ".local/share/uv/python", f"cpython-{version}.*/bin/python3"),
    ]
    found = [shutil.which(f"python{version}"), sys.executable, *(str(p) for folder, pattern in places for p in sorted(folder.glob(pattern)))]
    for python in filter(None, found):
        asked = subprocess.run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True)
        if asked.stdout.strip() == version:
            return python
    return None


def clean_copy(root, copy):
    """What the packages and their tests need of the tree, without what tools may have left there."""
    for part in ("src/clients", "src/test/resources/vectors"):
        shutil.copytree(root / part, copy / part, ignore=shutil.ignore_patterns("__pycache__", "build", "dist", "*.egg-info", ".mypy_cache"))


def contents(folder):
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else "" for p in folder.rglob("*")}


def differences(before, after):
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


class Trial:
    """One environment in WORK, with what it is told to run kept in WORK/log."""

    def __init__(self, work, python):
        self.log = work / "log"
        self.venv = work / "venv"
        self.cache = work / "mypy"
        self.python = python
        # Local traffic only, whatever proxy the environment names; and no other packages than those installed here.
        self.env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME", "MYPYPATH")}
        self.env.update(NO_PROXY="127.0.0.1,localhost", no_proxy="127.0.0.1,localhost", PIP_DISABLE_PIP_VERSION_CHECK="1")

    def ran(self, folder, *command):
        """(status, what it said)"""
        done = subprocess.run(list(map(str, command)), cwd=folder, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        with self.log.open("a") as log:
            log.write(f"$ {' '.join(map(str, command))}\n{done.stdout}")
        return done.returncode, done.stdout

    def must(self, what, folder, *command, error=Fault):
        status, said = self.ran(folder, *command)
        if status != 0:
            raise error(f"{what}: status {status}\n" + "\n".join(said.splitlines()[-25:]))
        return said

    def bin(self, name):
        return self.venv / "bin" / name

    def prepare(self, *requirements):
        work = self.log.parent
        self.must("no virtual environment", work, self.python, "-m", "venv", self.venv, error=Missing)
        self.must("pip cannot fetch the tools", work, self.bin("pip"), "install", "--quiet", "--only-binary", ":all:", *requirements, error=Missing)

    def install(self, copy):
        """By the line of each README, from the root of the tree."""
        for folder in PACKAGES:
            line = f"pip install ./src/clients/{folder}"
            if f"\n{line}\n" not in (copy / f"src/clients/{folder}/README.md").read_text():
                raise Fault(f"src/clients/{folder}/README.md does not have the line: {line}")
            self.must(line, copy, self.bin("pip"), "install", "--quiet", *line.split()[2:])

    def check(self, copy, pins):
        freeze = self.must("pip freeze", copy, self.bin("pip"), "freeze", "--all").lower().split()
        for name, version in pins.items():
            if f"{name}=={version}" not in freeze and f"{name.replace('-', '_')}=={version}" not in freeze:
                raise Fault(f"the packages have put another one in the place of {name} {version}: their ranges do not take it")
        for folder, package in PACKAGES.items():
            self.must(package, self.venv, self.bin("python"), "-B", "-W", "error", "-c", LOOK, package)
            tests = copy / f"src/clients/{folder}/tests"
            said = self.must(f"tests of {folder}", self.venv, self.bin("python"), "-B", "-m", "unittest", "discover", "-v", "-s", tests)
            for line in said.splitlines():
                if line.startswith("Ran ") or " ... skipped " in line:
                    print(f"clients: {folder}: {line}", flush=True)
        self.typed(copy)

    def typed(self, copy, *options):
        """The installed packages, and their tests and examples as those of a user."""
        mypy = (self.bin("mypy"), "--strict", "--cache-dir", self.cache, *options)
        self.must("mypy", self.venv, *mypy, *(word for package in PACKAGES.values() for word in ("-p", package)))
        self.must("mypy of tests and examples", self.venv, *mypy, *sorted(copy.glob("src/clients/*/tests/*.py")), *sorted(copy.glob("src/clients/*/examples/*.py")))

    def controls(self, copy, root):
        """Each check finds what it is there for."""
        other = copy.with_name("control")
        clean_copy(root, other)
        before = contents(other)
        folder = other / "src/clients/python"
        text = (folder / "pyproject.toml").read_text()
        (folder / "pyproject.toml").write_text(SETUPTOOLS + text[text.index("\n[project]"):])
        self.must("control: setuptools", other, self.bin("pip"), "install", "--quiet", "--no-deps", "--force-reinstall", "./src/clients/python")
        left = differences(before, contents(other))
        for path in ("src/clients/python/pyproject.toml", "src/clients/python/build", "src/clients/python/warmpath_router.egg-info"):
            if path not in left:
                raise Fault(f"control: a build that leaves files is not found out by {path}: {left}")
        [marker] = self.venv.glob("lib/python*/site-packages/warmpath_publisher/py.typed")
        marker.unlink()
        shutil.rmtree(self.cache)
        try:
            self.typed(copy)
        except Fault as found:
            if "py.typed" not in str(found):
                raise
        else:
            raise Fault("control: mypy does not miss py.typed")


def try_it(root, which):
    wanted = named_pythons(root)[which == "newest"]
    python = interpreter(wanted)
    work = root / "target/clients" / which
    shutil.rmtree(work, ignore_errors=True)
    copy = work / "tree"
    clean_copy(root, copy)
    before = contents(copy)
    trial = Trial(work, python or sys.executable)
    # Old dependencies have no wheels for a newer Python that stands in.
    versions = which if python else "newest"
    pins = check_pins(root, versions)
    # What builds the packages, too: pip fetches it once more for itself, and can.
    builders = {b for folder in PACKAGES for b in pyproject(root, folder)["build-system"]["requires"]}
    trial.prepare("-r", HERE / f"{versions}.txt", *builders, *([] if python else ["-r", HERE / "reader.txt"]))
    trial.install(copy)
    trial.check(copy, pins)
    if not python:
        trial.typed(copy, "--python-version", wanted)
        trial.must("vermin", copy, trial.bin("vermin"), "--no-tips", "--violations", "--eval-annotations", f"--target={wanted}-", "src/clients")
    left = differences(before, contents(copy))
    if left:
        raise Fault(f"these files of the tree are not as they were: {left}")
    trial.controls(copy, root)
    told = subprocess.run([trial.python, "--version"], capture_output=True, text=True).stdout.strip()
    print(f"clients: {told} with {' '.join(f'{n} {v}' for n, v in pins.items())}: installed, imported, tested, typed, and no file left; two planted faults found", flush=True)
    if not python:
        raise Missing(f"there is no Python {wanted} (looked on the PATH, in pyenv's and in uv's folders): mypy and vermin have read the packages for it, nothing ran with it")


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in ("oldest", "newest"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        try_it(Path(sys.argv[1]).resolve(), sys.argv[2])
    except Missing as e:
        print(f"clients: SKIPPED: {e}", file=sys.stderr)
        return SKIPPED
    except Fault as e:
        print(f"clients: {e}\nclients: the log is target/clients/{sys.argv[2]}/log", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

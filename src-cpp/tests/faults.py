#!/usr/bin/env python3
"""Puts each mistake of faults.txt into a copy of src-cpp and expects the tests to notice.

    faults.py [FIRST [LAST]]      all, or those numbers; minutes, as each one is a build

Exit code 1 when a mistake goes unnoticed, or when the tests fail without one.
"""
import hashlib
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

here = pathlib.Path(__file__).resolve().parent
folders = ("base", "storage", "index", "snapshot", "facade")
tests = sorted(p.name for p in here.glob("*_test.cpp") if p.name not in ("hashing_test.cpp", "stress_test.cpp"))
# Few histories and queries: each mistake is run once.
environment = {"KVI_ROUNDS": "100", "KVI_STRESS_QUERIES": "30000"}
# What notices most mistakes goes first; then all of it. Controls fail on purpose, some of them slowly.
filters = ("differential*:prefix_index*", "-*control*:epoch*")


def faults():
    """(file, right, wrong) of each entry: a file name, then two texts of equal line count. One line alone is taken
    without its indentation."""
    out = []
    entry = []
    for line in here.joinpath("faults.txt").read_text().splitlines() + ["end/"]:
        if not line.strip() or line.startswith("#"):
            continue
        if "/" in line and not line.startswith(" ") and " " not in line:
            if entry:
                half = (len(entry) - 1) // 2
                assert len(entry) % 2 == 1 and half > 0, entry
                right, wrong = "\n".join(entry[1 : 1 + half]), "\n".join(entry[1 + half :])
                out.append((entry[0], right, wrong) if half > 1 else (entry[0], right.strip(), wrong.strip()))
            entry = [line]
        else:
            entry.append(line)
    return out


def run(tree, work):
    """True when the tests pass, within four times what they took without a mistake."""
    flags = ["-std=c++20", "-O1", "-D_GLIBCXX_ASSERTIONS", f"-I{tree}", f"-I{tree}/include", "-march=native"]
    flags += ["-DKVI_FAILURE_POINTS", "-ffp-contract=off"]
    objects = []
    files = sorted(str(p.relative_to(tree)) for folder in folders for p in (tree / folder).glob("*.cpp"))
    for name in files + ["tests/failing_memory.cpp"] + ["tests/" + t for t in tests]:
        source = tree / name
        # An object is named by what it is made of, so that only what a mistake touches is built again.
        text = subprocess.run(["c++", *flags, "-E", "-P", source], capture_output=True, check=True).stdout
        target = work / (hashlib.sha256(text).hexdigest() + ".o")
        if not target.exists():
            subprocess.run(["c++", *flags, "-c", source, "-o", target], check=True)
        objects.append(target)
    binary = work / "tests"
    subprocess.run(["c++", *objects, "-lgtest", "-lgtest_main", "-lpthread", "-o", binary], check=True)
    for some in filters:
        command = [binary, "--gtest_brief=1", "--gtest_fail_fast", f"--gtest_filter={some}"]
        began = time.monotonic()
        try:
            done = subprocess.run(command, env=environment, capture_output=True, timeout=run.patience.get(some, 900))
        except subprocess.TimeoutExpired:
            run.output = "no end in sight"
            return False
        run.output = done.stdout.decode(errors="replace")[-1000:]
        if done.returncode != 0:
            return False
        run.patience.setdefault(some, 30 + 4 * (time.monotonic() - began))
    return True


run.patience = {}


def main():
    entries = faults()
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    last = int(sys.argv[2]) if len(sys.argv) > 2 else len(entries) if len(sys.argv) < 2 else first
    unnoticed = 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        tree = work / "src-cpp"
        shutil.copytree(here.parent, tree)
        gone = [f"{n}: {name} has no such line any more: {right.strip()}"
                for n, (name, right, _) in enumerate(entries, 1) if right not in (tree / name).read_text()]
        if gone:
            sys.exit("\n".join(gone))
        if not run(tree, work):
            sys.exit("the tests fail without any mistake\n" + run.output)
        for number, (name, right, wrong) in enumerate(entries, 1):
            if not first <= number <= last:
                continue
            file = tree / name
            text = file.read_text()
            file.write_text(text.replace(right, wrong, 1))
            noticed = not run(tree, work)
            file.write_text(text)
            unnoticed += not noticed
            print(f"{number:3} {'noticed' if noticed else 'UNNOTICED'}  {name}: {wrong.strip()}", flush=True)
    print(f"{unnoticed} unnoticed")
    sys.exit(1 if unnoticed else 0)


if __name__ == "__main__":
    main()

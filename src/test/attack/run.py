#!/usr/bin/env python3
"""Attacks the running gateway from outside, group by group, and says what held. Standard library only.

  run.py [--gateway COMMAND] [--smoke] [--only GROUP,...] [--folder FOLDER] [--page] [--list]

COMMAND takes the flags of `serve`, for example a native executable; default: `./warmpath serve` of this tree. --smoke runs some attacks of each
group that needs no second start, in less than a minute. Rows are in results.md and results.json of FOLDER, target/attack if not said, logs of processes in
its logs.
--page writes what was tried into the table of src/docs/how-to/security.md; without it a run of whole groups fails where that table says something else.
The exit code is 1 when something is broken; what could not be tried is SKIPPED and said at the end.
"""
import argparse
import importlib
import pathlib
import shutil
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from stage import ROOT, Stage  # noqa: E402
from suite import SKIPPED, Suite, expect  # noqa: E402

GROUPS = ("detectors", "framing", "downgrade", "targets", "http2", "bombs", "memory", "tls", "slow", "admin", "pages", "tenants", "files", "stopping", "handoff", "bus", "jetstream",
          "names", "told", "lmcache", "announced", "picker", "clock")

PAGE = ROOT / "src/docs/how-to/security.md"
HEAD = "| group (file) | attacks | controls | what holds |\n|---|---|---|---|\n"


def page(rows, write):
    """Holds the table of the page against these rows, or writes them into it, in the order of GROUPS."""
    before, table = PAGE.read_text().split(HEAD)
    table, after = table.split("\n\n", 1)
    there = {line.split(" | ")[0].removeprefix("| "): line for line in table.splitlines()}
    wrong = [first for first, line in rows.items() if there.get(first) != line]
    if write:
        order = [f"(`{name}.py`)" for name in GROUPS]
        all_rows = sorted({**there, **rows}.items(), key=lambda row: order.index(row[0][row[0].rindex("("):]))
        PAGE.write_text(before + HEAD + "\n".join(line for _, line in all_rows) + "\n\n" + after)
        return f"{len(wrong)} rows written"
    expect(not wrong, f"other rows in {PAGE.name}: {wrong}")
    return f"{len(rows)} rows"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--gateway", metavar="COMMAND")
    options.add_argument("--smoke", action="store_true")
    options.add_argument("--only", default="")
    options.add_argument("--folder", default=ROOT / "target" / "attack", type=pathlib.Path)
    options.add_argument("--page", action="store_true")
    options.add_argument("--list", action="store_true")
    given = options.parse_args()
    if given.list:
        print("\n".join(GROUPS))
        return 0
    wanted = given.only.split(",") if given.only else list(GROUPS)
    unknown = [name for name in wanted if name not in GROUPS]
    if unknown:
        sys.exit(f"there is no group {unknown}; {', '.join(GROUPS)} are")
    folder = given.folder.absolute()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    say = lambda text: print(f"attack: {text}", flush=True)  # noqa: E731
    suite = Suite(given.smoke, say)
    stage = Stage(given.gateway, folder, say)
    began = time.monotonic()
    for name in wanted:
        group = importlib.import_module(name)
        if given.smoke and not getattr(group, "SMOKE", True):
            continue
        suite.group = group.NAME
        try:
            group.play(stage, suite)
        except Exception as e:
            suite.row("the group runs to its end", "it does", lambda e=e: (_ for _ in ()).throw(e))
        finally:
            stage.clear()
    stage.close()
    if given.gateway is None and not given.smoke:
        holds = {group.NAME: (group.__name__, group.HOLDS) for group in map(importlib.import_module, wanted)}
        suite.group = "security.md"
        rows = suite.page_rows(holds)
        suite.row("its table is what was tried", "it is; --page writes it", lambda: page(rows, given.page))
    suite.write(folder)
    print(folder.joinpath("results.md").read_text().split("\n\n## ")[0])
    skipped = [row for row in suite.rows if row.verdict == SKIPPED]
    for row in skipped:
        say(f"SKIPPED: {row.group}: {row.name}: {row.got}")
    if given.gateway is None:
        say("NOT TRIED here: the same against the native executable (./warmpath verify does); --gateway 'target/native-image/warmpath serve'")
    broken = suite.failed()
    for row in broken:
        say(f"BROKEN: {row.group}: {row.name}: {row.got}")
    say(f"{len(suite.rows)} rows in {time.monotonic() - began:.0f} s: {len(broken)} broken, {len(skipped)} skipped")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

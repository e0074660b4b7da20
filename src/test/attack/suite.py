"""What an attack is, how one is run, and the table of what came of them."""
import dataclasses
import json
import time

HELD, BROKEN, SKIPPED = "held", "BROKEN", "SKIPPED"


class Broken(Exception):
    """The product did something else than it promises; the text says what was seen."""


class Skipped(Exception):
    """What the attack needs is not there; the text says what."""


def expect(condition, got):
    if not condition:
        raise Broken(got)


def until(condition, seconds, got):
    """Waits for a condition; `got` says, when it is asked for, what was there in its place."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Broken(got() if callable(got) else got)
        time.sleep(0.02)


@dataclasses.dataclass
class Attack:
    """`run` takes a target, returns what was seen in a few words, and raises Broken where that is not `expected`."""
    name: str
    expected: str
    run: object
    smoke: bool = False


@dataclasses.dataclass
class Row:
    group: str
    name: str
    expected: str
    got: str
    seconds: float
    verdict: str


class Suite:
    """Runs groups and keeps their rows. A group is a module with NAME and `play(stage, suite)`."""

    def __init__(self, smoke, say):
        self.smoke = smoke
        self.say = say
        self.rows = []
        self.group = ""

    def attacks(self, target, attacks):
        """Each attack on the target, and whether the target is well afterwards."""
        for attack in attacks:
            if attack.smoke or not self.smoke:
                self.row(attack.name, attack.expected, lambda: self.one(target, attack))

    @staticmethod
    def one(target, attack):
        got = attack.run(target)
        target.well()
        return got

    def controls(self, target, attacks):
        """The same attacks on a server without the defence: each has to be found broken, or its detector sees nothing."""
        for attack in attacks:
            if attack.smoke or not self.smoke:
                self.row(f"control: {attack.name}", "found broken without the defence", lambda: self.tripped(target, attack))

    @staticmethod
    def tripped(target, attack):
        try:
            got = attack.run(target)
        except Broken as e:
            return f"found: {e}"
        raise Broken(f"not noticed: {got}")

    def row(self, name, expected, run):
        began = time.monotonic()
        try:
            got, verdict = run(), HELD
        except Broken as e:
            got, verdict = str(e), BROKEN
        except Skipped as e:
            got, verdict = str(e), SKIPPED
        except Exception as e:  # an attack that cannot be made proves nothing
            got, verdict = f"the attack itself failed: {type(e).__name__}: {e}", BROKEN
        row = Row(self.group, name, expected, " ".join(str(got).split())[:300], time.monotonic() - began, verdict)
        self.rows.append(row)
        self.say(f"{verdict:8} {row.seconds:6.1f} s  {self.group}: {name}" + ("" if verdict == HELD else f"\n    expected {expected}\n    got {row.got}"))

    def failed(self):
        return [row for row in self.rows if row.verdict == BROKEN]

    def by_group(self):
        groups = {}
        for row in self.rows:
            groups.setdefault(row.group, []).append(row)
        return groups

    def page_rows(self, holds):
        """Rows of the table in security.md, by the first cell of each. `holds`: by group, its module and what holds."""
        rows = {}
        for group, of in self.by_group().items():
            controls = sum(row.name.startswith("control: ") for row in of)
            module, text = holds[group]
            first = f"{group} (`{module}.py`)"
            rows[first] = f"| {first} | {len(of) - controls} | {controls} | {text} |"
        return rows

    def write(self, folder):
        """results.json has every row, results.md the tables."""
        folder.joinpath("results.json").write_text(json.dumps([dataclasses.asdict(r) for r in self.rows], indent=1) + "\n")
        lines = ["# What attacks came to", "", "| group | attacks | controls | held | broken | skipped | seconds |", "|---|---|---|---|---|---|---|"]
        for group, rows in self.by_group().items():
            controls = sum(row.name.startswith("control: ") for row in rows)
            counts = [sum(row.verdict == verdict for row in rows) for verdict in (HELD, BROKEN, SKIPPED)]
            cells = [group, len(rows) - controls, controls, *counts, round(sum(row.seconds for row in rows))]
            lines.append("| " + " | ".join(map(str, cells)) + " |")
        for group, rows in self.by_group().items():
            lines += ["", f"## {group}", "", "| attack | expected | got | seconds | verdict |", "|---|---|---|---|---|"]
            for row in rows:
                cells = [row.name, row.expected, row.got, f"{row.seconds:.1f}", row.verdict]
                lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        folder.joinpath("results.md").write_text("\n".join(lines) + "\n", encoding="utf-8", errors="backslashreplace")

#!/usr/bin/env python3
"""Draws the bars of src/perf: each NAME.csv becomes NAME.svg, beside it.

  plot.py              draw them all anew
  plot.py --check      nothing is written: each SVG is what its CSV gives, and a page shows it with the same figures
  plot.py --self-test  planted faults are found

A line of a CSV is a bar: panel, about (what the panel's axis is), bar, value, low and high (the spread; may be empty), of (date and commit). Panels stand in
the order of the file, four in a row, each with an axis of its own from 0. The SVG has colours of its own for light and for dark. Standard library only.
"""
import csv
import io
import math
import pathlib
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree
import xml.sax.saxutils

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = ["panel", "about", "bar", "value", "low", "high", "of"]
PANEL, HEIGHT, IN_A_ROW = 225, 190, 4
LEFT, RIGHT, TOP, BOTTOM, LEGEND, NAME = 40, 8, 50, 12, 20, 150
TICKS = 4
STYLE = """
svg{background:#fff}
.b{fill:#fff} text{fill:#1f2328}
.t{font-size:12px;font-weight:600} .x,.y,.l{font-size:10px} .x{text-anchor:middle} .y{text-anchor:end}
.g{stroke:#d8dce1} .s{stroke:#1f2328}
@media (prefers-color-scheme:dark){svg{background:#14181d} .b{fill:#14181d} text{fill:#e2e6ea} .g{stroke:#3a414a} .s{stroke:#e2e6ea}}
"""


class Wrong(Exception):
    """A file that cannot be drawn, or that does not hold what its page says."""


def number(text, where):
    try:
        value = float(text)
    except ValueError:
        raise Wrong(f"{where}: {text!r} is not a number") from None
    if not (math.isfinite(value) and value >= 0):
        raise Wrong(f"{where}: {text} is not a height")
    return value


def read(text, name):
    """[(panel, about, [(bar, value as written, value, low, high, of)])] of a CSV."""
    rows = csv.DictReader(io.StringIO(text))
    if rows.fieldnames != COLUMNS:
        raise Wrong(f"{name}: its columns are {rows.fieldnames}, not {COLUMNS}")
    panels = {}
    for row in rows:
        where = f"{name}:{rows.line_num}"
        if None in row or None in row.values():
            raise Wrong(f"{where}: not {len(COLUMNS)} columns")
        if not (row["bar"] and row["of"]):
            raise Wrong(f"{where}: a bar without its name, or without date and commit")
        value = number(row["value"], where)
        low, high = (number(row[end], where) if row[end] else value for end in ("low", "high"))
        if not low <= value <= high:
            raise Wrong(f"{where}: {row['value']} is not within {row['low']} and {row['high']}")
        about, bars = panels.setdefault(row["panel"], (row["about"], []))
        if about != row["about"]:
            raise Wrong(f"{where}: panel {row['panel']} has two axes, {about!r} and {row['about']!r}")
        if any(row["bar"] == other[0] for other in bars):
            raise Wrong(f"{where}: {row['bar']} twice in {row['panel']}")
        bars.append((row["bar"], row["value"], value, low, high, row["of"]))
    if not panels:
        raise Wrong(f"{name}: no bars")
    return [(panel, about, bars) for panel, (about, bars) in panels.items()]


def step(most):
    """1, 2 or 5 times a power of ten, a few of which reach to the top."""
    power = 10 ** math.floor(math.log10(most / TICKS))
    return next(times * power for times in (1, 2, 5, 10) if times * power * TICKS >= most * 0.999)


def short(value):
    return f"{value:,.10g}"


def drawn(panels):
    names = list(dict.fromkeys(bar[0] for _, _, bars in panels for bar in bars))
    # Golden angles from blue on, which is ours in all plots: neighbours differ, and mid lightness stands out from white and from black.
    ours_first = sorted(names, key=lambda name: not name.startswith("Warmpath"))
    colours = {name: f"hsl({(210 + 137.5 * i) % 360:.0f} 55% 52%)" for i, name in enumerate(ours_first)}
    width = min(len(panels), IN_A_ROW) * PANEL
    rows = math.ceil(len(panels) / IN_A_ROW)
    each_row = max(1, width // NAME)
    height = rows * HEIGHT + LEGEND * math.ceil(len(names) / each_row) + 4
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" viewBox="0 0 {width} {height}" width="{width}">',
           f"<style>{STYLE}</style>", f'<rect class="b" width="{width}" height="{height}"/>']

    def text(x, y, style, words):
        out.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{style}">{xml.sax.saxutils.escape(words)}</text>')

    for at, (panel, about, bars) in enumerate(panels):
        left, above = at % IN_A_ROW * PANEL, at // IN_A_ROW * HEIGHT
        most = max(bar[4] for bar in bars) or 1
        floor, room = above + HEIGHT - BOTTOM, HEIGHT - BOTTOM - TOP
        text(left + 6, above + 16, "t", panel)
        text(left + 6, above + 30, "l", about)
        tick = step(most)
        for i in range(int(most / tick + 0.001) + 1):
            y = floor - i * tick / most * room
            out.append(f'<path class="g" d="M{left + LEFT} {y:.1f}H{left + PANEL - RIGHT}"/>')
            text(left + LEFT - 4, y + 4, "y", short(i * tick))
        each = (PANEL - LEFT - RIGHT) / len(bars)
        for i, (bar, written, value, low, high, of) in enumerate(bars):
            x, top = left + LEFT + i * each, floor - value / most * room
            spread = f", {short(low)} to {short(high)}" if high > low else ""
            note = xml.sax.saxutils.escape(f"{bar}: {short(value)}{spread} ({of})")
            out.append(f'<rect x="{x + each * 0.1:.1f}" y="{top:.1f}" width="{each * 0.8:.1f}" height="{floor - top:.1f}" fill="{colours[bar]}"><title>{note}</title></rect>')
            if high > low:
                out.append(f'<path class="s" d="M{x + each / 2:.1f} {floor - low / most * room:.1f}V{floor - high / most * room:.1f}"/>')
            text(x + each / 2, floor - high / most * room - 4, "x", short(value))
    for i, name in enumerate(names):
        x, y = 8 + i % each_row * NAME, rows * HEIGHT + i // each_row * LEGEND
        out.append(f'<rect x="{x}" y="{y}" width="10" height="10" fill="{colours[name]}"/>')
        text(x + 14, y + 9, "l", name)
    return "\n".join([*out, "</svg>", ""])


def figures(page):
    """The numbers that a page says, without their commas."""
    return set(re.findall(r"\d+(?:\.\d+)?", re.sub(r"(?<=\d),(?=\d{3})", "", page)))


def faults(folder):
    """What is wrong with the plots of a folder, one a line."""
    found = []
    pages = {page: page.read_text(encoding="utf-8") for page in folder.glob("*.md")}
    tables = sorted(folder.glob("*.csv"))
    for table in tables:
        try:
            panels = read(table.read_text(encoding="utf-8"), table.name)
        except Wrong as wrong:
            found.append(str(wrong))
            continue
        picture = table.with_suffix(".svg")
        if not picture.is_file() or picture.read_text(encoding="utf-8") != drawn(panels):
            found.append(f"{picture.name} is not what {table.name} gives: src/perf/plot.py draws it")
        shown = [text for text in pages.values() if f"({picture.name})" in text]
        if not shown:
            found.append(f"{picture.name} is on no page")
            continue
        said = figures("\n".join(shown))
        found += [f"{table.name}: {bar} in {panel} is {written}, which its page does not say"
                  for panel, _, bars in panels for bar, written, *_ in bars if written not in said]
    left = {picture.stem for picture in folder.glob("*.svg")} - {table.stem for table in tables}
    return found + [f"{name}.svg has no {name}.csv" for name in sorted(left)]


def draw(folder):
    for table in sorted(folder.glob("*.csv")):
        table.with_suffix(".svg").write_text(drawn(read(table.read_text(encoding="utf-8"), table.name)), encoding="utf-8")


class Test(unittest.TestCase):
    CSV = "panel,about,bar,value,low,high,of\nS1,us & more,a,97,90,101,2026-11-23 1234567\nS1,us & more,b <c>,1716,,,2026-11-23 1234567\nS2,ms,a,0.0,,,x\n"

    def setUp(self):
        self.held = tempfile.TemporaryDirectory()
        self.addCleanup(self.held.cleanup)
        self.folder = pathlib.Path(self.held.name)
        self.write("a.csv", self.CSV)
        self.write("a.md", "# A\n\n![bars](a.svg)\n\n| a | b |\n|---|---|\n| 97 | 1,716 |\n| 0.0 | |\n")
        draw(self.folder)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def changed(self, name, old, new):
        text = (self.folder / name).read_text(encoding="utf-8")
        self.assertIn(old, text)
        self.write(name, text.replace(old, new, 1))

    def test_what_is_right_passes_and_is_xml(self):
        self.assertEqual([], faults(self.folder))
        self.assertIn("prefers-color-scheme:dark", (self.folder / "a.svg").read_text(encoding="utf-8"))
        xml.etree.ElementTree.parse(self.folder / "a.svg")

    def test_each_planted_fault_is_found(self):
        for name, old, new, told in (
                ("a.csv", "97,", "98,", "a.svg is not what a.csv gives"),
                ("a.csv", "97,", "98,", "a in S1 is 98, which its page does not say"),
                ("a.svg", "fill=", "fill =", "a.svg is not what a.csv gives"),
                ("a.md", "1,716", "1,717", "b <c> in S1 is 1716"),
                ("a.md", "(a.svg)", "(b.svg)", "a.svg is on no page"),
                ("a.csv", "panel,about", "panel,axis", "its columns are"),
                ("a.csv", "97,90,101", "97,98,101", "not within"),
                ("a.csv", "97,90,101", "x,90,101", "'x' is not a number"),
                ("a.csv", "97,90,101", "-1,,", "not a height"),
                ("a.csv", "97,90,101", "97", "columns"),
                ("a.csv", "S1,us & more,b <c>", "S1,us & more,a", "a twice in S1"),
                ("a.csv", "S1,us & more,b <c>", "S1,ms,b <c>", "two axes"),
                ("a.csv", ",2026-11-23 1234567", ",", "without date and commit")):
            with self.subTest(told):
                before = {f: f.read_text(encoding="utf-8") for f in self.folder.iterdir()}
                self.changed(name, old, new)
                self.assertTrue(any(told in fault for fault in faults(self.folder)), faults(self.folder))
                for f, text in before.items():
                    f.write_text(text, encoding="utf-8")
                self.assertEqual([], faults(self.folder))

    def test_files_without_their_other_half_are_found(self):
        self.write("c.svg", "<svg/>")
        self.assertEqual(["c.svg has no c.csv"], faults(self.folder))
        (self.folder / "c.svg").unlink()
        (self.folder / "a.svg").unlink()
        self.assertEqual(1, len(faults(self.folder)))

    def test_ticks_are_round_and_few(self):
        for most in (0.07, 0.3, 1, 4, 7, 97, 1000, 46357):
            self.assertTrue(1.5 < most / step(most) <= TICKS + 0.01, most)


def main():
    if sys.argv[1:] == ["--self-test"]:
        return not unittest.TextTestRunner(stream=sys.stderr).run(unittest.defaultTestLoader.loadTestsFromTestCase(Test)).wasSuccessful()
    if sys.argv[1:] == ["--check"]:
        found = faults(HERE)
        print(*found, sep="\n", end="\n" if found else "")
        return bool(found)
    if sys.argv[1:]:
        print(__doc__, file=sys.stderr)
        return 2
    draw(HERE)
    return 0


if __name__ == "__main__":
    sys.exit(main())

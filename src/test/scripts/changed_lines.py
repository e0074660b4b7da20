#!/usr/bin/env python3
"""Prints how many of the changed lines of Java the tests ran.

  changed_lines.py JACOCO_XML DIFF BASE
  changed_lines.py --self-test

JACOCO_XML is JaCoCo's report, DIFF what `git diff --unified=0` says, BASE the name to print. Lines without code (comments,
declarations) are not counted. A line is covered when at least one of its instructions was run. Standard library only.
"""
import re
import sys
import unittest
import xml.etree.ElementTree as ElementTree

FILES = 10
LINES = 12
HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")
SOURCE = re.compile(r"^\+\+\+ b/(src/[^/]+/main/java/(.+\.java))$")


def changed(diff):
    """The added and changed lines of each file: {path: {line}}; keyed as JaCoCo names it, package/File.java."""
    files, names, current, left = {}, {}, None, 0
    for line in diff.splitlines():
        if left > 0 and line[:1] in ("+", "-", "\\"):
            left -= line.startswith("+")
            continue
        if line.startswith("+++ "):
            source = SOURCE.match(line)
            current = source and source[2]
            if source:
                names[current] = source[1]
        hunk = HUNK.match(line)
        if hunk and current:
            first, count = int(hunk[1]), int(hunk[2] or 1)
            files.setdefault(current, set()).update(range(first, first + count))
            left = count
    return {name: (names[name], lines) for name, lines in files.items()}


def covered(report):
    """{package/File.java: {line: whether it was run}} of a report's root element."""
    files = {}
    for package in report.iter("package"):
        for source in package.iter("sourcefile"):
            lines = {int(n.get("nr")): int(n.get("ci")) > 0 for n in source.iter("line")}
            files[package.get("name") + "/" + source.get("name")] = lines
    return files


def spans(lines):
    """3, 4, 5, 9 as `3-5, 9`; the rest of many as a number."""
    found = []
    for line in sorted(lines):
        if found and found[-1][1] == line - 1:
            found[-1][1] = line
        else:
            found.append([line, line])
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in found[:LINES]]
    return ", ".join(shown) + (f" and {len(found) - LINES} more" if len(found) > LINES else "")


def text(report, diff, base):
    ran = covered(report)
    rows, good, total = [], 0, 0
    for name, (path, lines) in sorted(changed(diff).items()):
        code = {n: ran[name][n] for n in lines if n in ran.get(name, {})}
        missed = [n for n, was_run in code.items() if not was_run]
        good += len(code) - len(missed)
        total += len(code)
        if missed:
            rows.append((len(missed), len(code), path, missed))
    if total == 0:
        return f"changed lines since {base}: none with code"
    out = [f"changed lines since {base}: {good} of {total} covered ({100 * good // total} %)"]
    rows.sort(key=lambda row: (-row[0], row[2]))
    for missed, code, path, lines in rows[:FILES]:
        out.append(f"  {missed} of {code} not covered: {path} ({spans(lines)})")
    if len(rows) > FILES:
        out.append(f"  and {len(rows) - FILES} more files")
    return "\n".join(out)


class SelfTest(unittest.TestCase):
    REPORT = ElementTree.fromstring(
        '<report><group><package name="a/b"><sourcefile name="C.java"><line nr="3" mi="0" ci="2"/><line nr="4" mi="1" ci="1"/>'
        '<line nr="5" mi="4" ci="0"/><line nr="9" mi="4" ci="0"/></sourcefile></package></group></report>')

    @staticmethod
    def diff(*hunks):
        head = "diff --git a/src/m/main/java/a/b/C.java b/src/m/main/java/a/b/C.java\n--- a/src/m/main/java/a/b/C.java\n"
        return head + "+++ b/src/m/main/java/a/b/C.java\n" + "\n".join(hunks)

    def test_lines_that_were_run_in_part_count_and_lines_without_code_do_not(self):
        found = text(self.REPORT, self.diff("@@ -1,0 +2,4 @@", "+/** x */", "+x", "++++ b/nothing", "+x", "@@ -7 +9 @@ m()", "-y", "+y"), "x")
        self.assertEqual("changed lines since x: 2 of 4 covered (50 %)\n"
                         "  2 of 4 not covered: src/m/main/java/a/b/C.java (5, 9)", found)

    def test_lines_that_were_not_changed_are_not_counted(self):
        self.assertEqual("changed lines since x: 1 of 1 covered (100 %)", text(self.REPORT, self.diff("@@ -3 +3 @@", "-y", "+x"), "x"))

    def test_removed_lines_and_other_files_change_nothing(self):
        removed = self.diff("@@ -3,2 +2,0 @@", "-x", "-y")
        other = "+++ b/README.md\n@@ -1 +5 @@\n-a\n+b\n"
        self.assertEqual("changed lines since x: none with code", text(self.REPORT, removed + "\n" + other, "x"))

    def test_neighbours_are_one_span(self):
        self.assertEqual("3-5, 9", spans([9, 4, 3, 5]))


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        unittest.main(argv=sys.argv[:1])
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    with open(sys.argv[2], encoding="utf-8", errors="replace") as file:
        print(text(ElementTree.parse(sys.argv[1]).getroot(), file.read(), sys.argv[3]))

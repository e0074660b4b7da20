#!/usr/bin/env python3
"""Runs a command in a terminal of its own and draws what it printed as SVG, colours and all.

  terminal_svg.py [--columns 132] [--lines 40] FILE -- COMMAND...
  terminal_svg.py --self-test

Knows the escape sequences that set colours (SGR 0, 1, 2, 31 to 33) and steps over all others. Standard library only.
"""
import argparse
import fcntl
import os
import pty
import re
import struct
import sys
import termios
import unittest
import xml.sax.saxutils

CELL, LINE, EDGE, SIZE = 8.4, 19, 16, 14
ESCAPE = re.compile("\x1b\\[([0-9;?]*)([A-Za-z])")
CLASSES = {"1": "b", "2": "f", "31": "r", "32": "g", "33": "y"}
STYLE = (".t{font:%dpx ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#d7dbe0;white-space:pre}"
         ".b{font-weight:bold;fill:#fff}.f{fill:#8b949e}.r{fill:#ff7b72}.g{fill:#7ee787}.y{fill:#f2cc60}" % SIZE)


def printed(command, columns, lines):
    """All that the command wrote to its terminal; ends this program when the command failed (a status above 1)."""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        os.environ.update(COLUMNS=str(columns), LINES=str(lines), TERM="xterm-256color")
        os.execvp(command[0], command)
    text = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux' word for the end of a terminal
            break
        if not piece:
            break
        text += piece
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status > 1 or not text.strip():
        sys.exit(f"{' '.join(command)} ended with {status}: {text.decode(errors='replace')}")
    return text.decode()


def spans(line):
    """[(class or empty, text)] of one line."""
    found, at, look = [], 0, ""
    for escape in ESCAPE.finditer(line):
        if escape.start() > at:
            found.append((look, line[at:escape.start()]))
        at = escape.end()
        if escape[2] == "m":
            look = " ".join(CLASSES[c] for c in escape[1].split(";") if c in CLASSES)
    if at < len(line):
        found.append((look, line[at:]))
    return found


def svg(text, columns):
    rows = [spans(line) for line in text.replace("\r", "").rstrip("\n").split("\n")]
    width = round(2 * EDGE + columns * CELL)
    height = 2 * EDGE + len(rows) * LINE
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
           f"<style>{STYLE}</style>", f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>']
    for i, row in enumerate(rows):
        column = 0
        for look, piece in row:
            # Each span has its place and width, so that columns stand whatever font is there.
            if piece.strip():
                x = EDGE + column * CELL
                out.append(f'<text class="t{look and " " + look}" x="{x:.1f}" y="{EDGE + i * LINE + SIZE}" xml:space="preserve" '
                           f'textLength="{len(piece) * CELL:.1f}">{xml.sax.saxutils.escape(piece)}</text>')
            column += len(piece)
    return "\n".join(out + ["</svg>", ""])


class SelfTest(unittest.TestCase):
    def test_colours_become_classes_and_other_sequences_nothing(self):
        self.assertEqual([("", "a "), ("b g", "b"), ("", " c")], spans("\x1b[Ha \x1b[1;32mb\x1b[m c\x1b[K"))

    def test_a_span_stands_where_the_terminal_has_it(self):
        drawn = svg("ab\x1b[31m<c>\x1b[m\r\n", 10)
        self.assertIn('class="t r" x="32.8" y="30"', drawn)
        self.assertIn(">&lt;c&gt;</text>", drawn)
        self.assertEqual(2, drawn.count("<text"))

    def test_a_command_sees_a_terminal_of_that_size(self):
        self.assertEqual("40 100\r\n", printed(["stty", "size"], 100, 40))


def main():
    if sys.argv[1:] == ["--self-test"]:
        unittest.main(argv=sys.argv[:1])
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--columns", type=int, default=132)
    options.add_argument("--lines", type=int, default=40)
    options.add_argument("file")
    options.add_argument("command", nargs="+")
    given = options.parse_args()
    with open(given.file, "w", encoding="utf-8") as file:
        file.write(svg(printed(given.command, given.columns, given.lines), given.columns))


if __name__ == "__main__":
    main()

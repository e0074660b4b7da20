"""GitHub's Markdown as Python-Markdown, which the generator uses, wants it. The pages are written for the former."""
import re

FENCE = re.compile(r"(`{3,}|~{3,})")
ITEM = re.compile(r"([-*+]|\d{1,9}[.)])( {1,4})(?=\S)")
BEGINS = re.compile(r"([-*+]|1[.)]) ")  # what may interrupt a paragraph


def lines_of(text):
    """(line, in code: inside a fence or its edge, the fence's word or empty) of a page, rewritten.

    What belongs to a list's item is indented by 4 a level there, by the marker's width here; there a list needs an empty line before it.
    """
    within, fence, before = [], "", ""  # content columns of the items around; the open fence; the line before
    for line in text.split("\n"):
        rest = line.lstrip(" ")
        if not rest:
            yield "", bool(fence), ""
            before = ""
            continue
        column = len(line) - len(rest)
        lazy = before and not fence and not ITEM.match(rest) and not rest.startswith("#")  # goes on a paragraph, wherever it begins
        listed = bool(within)
        while within and column < within[-1] and not lazy and not fence:
            within.pop()
        inside = max(column - within[-1], 0) if within else column
        mark = FENCE.match(rest)
        if mark and inside < 4 and (not fence or rest.startswith(fence)):
            word = "" if fence else rest[len(mark[1]):].strip()
            fence = "" if fence else mark[1]
            yield " " * (4 * len(within) + inside) + rest, True, word
        elif fence:
            yield " " * (4 * len(within) + inside) + rest, True, ""
        else:
            item = ITEM.match(rest) if inside < 4 else None
            if item and not listed and before and BEGINS.match(rest):
                yield "", False, ""
            yield " " * (4 * len(within) + inside if within or not item else 0) + rest, False, ""
            if item and (listed or not before or BEGINS.match(rest)):
                within.append(column + len(item[0]))
        before = rest

"""Commands and outputs of a Markdown page, with the marks that say how they are tested (README.md has these)."""
import dataclasses
import re

# Shells of a page: a block is typed into the page's shell, or into another terminal that stays open until the page's end.
RUN, TERMINAL, CTRL_C, FILE, SHOWS, ELSEWHERE, BY, UNTESTED = "run", "terminal", "ctrl-c", "file", "shows", "elsewhere", "by", "untested"

FENCE = re.compile(r"^```(\w*)\s*$")
# A block that is only indented has no place for a mark.
INDENTED = re.compile(r"^ {4}(?:\./warmpath|curl|kubectl|helm|pip|pipx|python3?|docker|podman|npm|nats-server|mvn|sh|vllm|apt|export) ")
COMMENT = re.compile(r"^<!--\s*(.*?)\s*-->$")
STOP = re.compile(r"^<!--\s*Ctrl-C in: (?P<command>.*?)\s*-->$")
NEEDS = re.compile(r"^<!--\s*needs:\s*(.*?)\s*-->$", re.M)
FORMS = (
    (TERMINAL, re.compile(r"tested, in another terminal, until: (?P<until>.+)")),
    (ELSEWHERE, re.compile(r"tested with (?P<page>\S+\.md)")),
    (BY, re.compile(r"tested by: (?P<test>\S+)")),
    (RUN, re.compile(r"tested")),
    (UNTESTED, re.compile(r"not tested: (?P<reason>\S.*)")),
    (FILE, re.compile(r"file (?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)")),
    (SHOWS, re.compile(r"shows(?P<others>(, other \w+)*)")),
)
ALLOWED = {"sh": (RUN, TERMINAL, ELSEWHERE, BY, UNTESTED), "text": (SHOWS, UNTESTED)}


class Wrong(Exception):
    """A page that does not keep the rules."""


@dataclasses.dataclass
class Block:
    line: int
    language: str
    text: str
    kind: str
    said: dict


def needs(text):
    """Names of what a page wants beside the product."""
    return [name for found in NEEDS.findall(text) for name in re.split(r",\s*", found)]


def blocks(text, where, strict=True):
    """Those that are marked, in their order. `strict`: every block of commands or outputs has to say which it is."""
    lines, found, at = text.splitlines(), [], 0
    while at < len(lines):
        opened, stop = FENCE.match(lines[at]), STOP.match(lines[at])
        if stop:
            found.append(Block(at + 1, "", stop["command"], CTRL_C, {}))
        if not opened:
            if strict and INDENTED.match(lines[at]) and at and not lines[at - 1].strip():
                raise Wrong(f"{where}:{at + 1}: this block of commands is not fenced, and so does not say whether it is tested")
            at += 1
            continue
        end = next((i for i in range(at + 1, len(lines)) if lines[i].rstrip() == "```"), None)
        if end is None:
            raise Wrong(f"{where}:{at + 1}: the block does not end")
        mark = COMMENT.match(lines[at - 1]) if at else None
        body = "\n".join(lines[at + 1:end]) + "\n"
        block = marked(opened[1], mark[1], body, at + 1, where) if mark else None
        if block:
            found.append(block)
        elif strict and opened[1] in ALLOWED:
            raise Wrong(f"{where}:{at + 1}: the line before this block of {opened[1]} does not say whether it is tested")
        at = end + 1
    return found


def marked(language, mark, body, line, where):
    for kind, form in FORMS:
        said = form.fullmatch(mark)
        if said and kind == FILE or said and kind in ALLOWED.get(language, ()):
            return Block(line, language, body, kind, said.groupdict())
    if re.match(r"(not )?tested|shows|file ", mark):
        raise Wrong(f"{where}:{line}: '{mark}' is no mark for a block of '{language}'")
    return None


def commands(body):
    """The lines of a block, each with the lines that continue it, without comments behind them."""
    joined = re.sub(r"\s*\\\n\s*", " ", body)
    return [re.split(r"\s{2,}#", line)[0].strip() for line in joined.splitlines() if line.strip() and not line.startswith("#")]


def others(mark):
    """Of `, other numbers, other w1` the words."""
    return [part.removeprefix("other ") for part in mark.split(", ") if part]


def lacks(shown, output, differ=(), known=None):
    """The first line of `shown` that the output has not, in this order; None: it has all. `...` stands for anything, and spaces for spaces. `differ`:
    `numbers` for any in their places, and words in whose place the output may have another one, the same each time and different from those of
    the others; `known` keeps which."""
    known = {} if known is None else known
    said = [" ".join(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", line).split()) for line in output.splitlines()]
    at = 0
    for line in shown.splitlines():
        wanted = " ".join(line.split())
        if wanted in ("", "..."):
            continue
        form, names = pattern(wanted, differ, known)
        for found in range(at, len(said)):
            hit = re.fullmatch(form, said[found])
            new = dict(zip(names, hit.groups())) if hit else {}
            if hit and len({*known.values(), *new.values()}) == len(known) + len(new):
                at = found + 1
                known.update(new)
                break
        else:
            return line
    return None


def pattern(wanted, differ, known):
    """For a line, and the words that its groups are for."""
    form, names = "", []
    number = r"(?<![A-Za-z\d])\d[\d.,]*"
    kinds = [r"\.\.\.", *(number if word == "numbers" else rf"\b{word}\b" for word in differ)]
    for i, part in enumerate(re.split("(" + "|".join(kinds) + ")", wanted)):
        if not i % 2:
            form += re.escape(part)
        elif part == "...":
            form += ".*"
        elif part not in differ:
            form += r"\d[\d.,]*"
        elif part in known:
            form += re.escape(known[part])
        elif part in names:
            form += rf"\{names.index(part) + 1}\b"
        else:
            form += r"(\w+)"
            names.append(part)
    return form, names

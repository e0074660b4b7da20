"""Planted faults: each has to be found."""
import pathlib
import tempfile

import pages
from pages import Wrong

GOOD = """<!-- tested, in another terminal, until: test -e up -->
```sh
touch up
tail -f /dev/null
```
<!-- file note -->
```yaml
a: 1
```
<!-- tested -->
```sh
word=kept
```
<!-- tested -->
```sh
cat note   # with a comment
printf 'cached  %s of 320\\n' 304; echo "$word"
```
<!-- shows, other numbers -->
```text
a: 2
cached 1 of ... 
...
kept
```
<!-- Ctrl-C in: tail -f -->
"""
ENDS_LATER = """<!-- tested, in another terminal, until: test -s id -->
```sh
echo $$ >id
until test -e over; do sleep 0.1; done
```
<!-- tested -->
```sh
touch over
until grep -q 'State:.*Z' "/proc/$(cat id)/status"; do sleep 0.1; done
```
"""
# What is wrong with a page: the page, and what has to be said of it.
PLANTED = {
    "a command that fails": (GOOD.replace("word=kept", "false"), "a command failed with 1"),
    "an output that does not come": (GOOD.replace("\nkept\n", "\nlost\n"), "a line that did not come: lost"),
    "another number where numbers count": (GOOD.replace("shows, other numbers", "shows"), "a line that did not come: a: 2"),
    "lines in another order": (GOOD.replace("a: 2\ncached 1 of ... \n...\nkept\n", "kept\na: 2\n"), "a line that did not come: a: 2"),
    "a terminal that ends": (GOOD.replace("touch up\ntail -f /dev/null", "true"), "it ended with 0 before `test -e up` held"),
    "a terminal that fails": (GOOD.replace("touch up\ntail -f /dev/null", "exit 3"), "it ended with 3 before"),
    "a terminal that ends later": (ENDS_LATER, "it ended with 0 before the page did"),
    "a key for a terminal that is not there": (GOOD.replace("in: tail", "in: head"), "no terminal has this command"),
}
UNMARKED = {
    "no mark": GOOD.replace("<!-- tested -->\n", "", 1),
    "a mark with a typing error": GOOD.replace("<!-- tested -->", "<!-- tested: yes -->"),
    "no reason": GOOD.replace("<!-- tested -->", "<!-- not tested: -->"),
    "commands that are only indented": GOOD + "\n    ./warmpath serve --worker http://127.0.0.1:1\n",
    "no end": GOOD[:GOOD.rindex("```")],
}
COMPARED = (
    ("a 1", "x\na  1\ny", [], None),
    ("a 1", "a 2", [], "a 1"),
    ("a 1", "a 22.5", ["numbers"], None),
    ("a 1 ... c", "a 2 b c", ["numbers"], None),
    ("to w1", "to w2", ["numbers"], "to w1"),
    ("a ... c", "a b c", [], None),
    ("b\na", "a\nb", [], "a"),
    ("a", "\x1b[1ma\x1b[0m\r", [], None),
    ("a", "ab", [], "a"),
    ("to w1, w1\nto w1 1", "to w7, w7\nto w7 2", ["numbers", "w1"], None),
    ("to w1, w1", "to w7, w8", ["w1"], "to w1, w1"),
    ("to w1\nby w1", "to w7\nby w8", ["w1"], "by w1"),
    ("to w1\nby w0", "to w7\nby w7", ["w1", "w0"], "by w0"),
)


def self_test():
    wrong = [f"{shown!r} in {output!r}: {found!r}" for shown, output, differ, wanted in COMPARED
             if (found := pages.lacks(shown, output, differ)) != wanted]
    if pages.others(", other numbers, other w1") != ["numbers", "w1"] or pages.others(""):
        wrong.append("what may differ is read otherwise")
    kinds = [block.kind for block in pages.blocks(GOOD, "good")]
    if kinds != ["terminal", "file", "run", "run", "shows", "ctrl-c"]:
        wrong.append(f"a good page is read as {kinds}")
    for what, text in UNMARKED.items():
        try:
            pages.blocks(text, what)
            wrong.append(f"{what}: not found")
        except Wrong:
            pass
    if pages.commands("# no\na \\\n  b   # c\n\nd\n") != ["a b", "d"]:
        wrong.append("commands are read otherwise")
    print("docs: " + ("\n".join(wrong) or "what reads pages finds its faults"))
    return 1 if wrong else 0


def control(play):
    """`play` is told a page's file and gives its exit code with what it said."""
    wrong = []
    with tempfile.TemporaryDirectory(prefix="warmpath-control-") as folder:
        page = pathlib.Path(folder) / "page.md"
        for what, (text, wanted) in {"a good page": (GOOD, ""), **PLANTED}.items():
            page.write_text(text, encoding="utf-8")
            code, said = play(page)
            if (code == 0) != (wanted == "") or wanted not in said:
                wrong.append(f"{what}: exit code {code}\n{said}")
    print("docs: control: " + ("\n".join(wrong) or f"{len(PLANTED)} planted faults were found"))
    return 1 if wrong else 0

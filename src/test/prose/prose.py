#!/usr/bin/env python3
"""Finds awkward English in the Markdown of this repository; src/docs/project/style-note.md has the rules in words.

  prose.py ROOT            every page but generated ones and logs
  prose.py ROOT FILE...    these pages
  prose.py --self-test

Prints file, line, what is wrong and the sentence; then the status is 1. Patterns are in patterns.txt: a regular expression and the advice, parted by
a tab. It does not read what stands in backticks, fences, indented blocks or double quotes. Standard library only.
"""
import pathlib
import re
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
LONGEST = 45  # words between two of . ; and :
# Generated, a log, or the words of others.
NOT_READ = (*(f"src/docs/reference/{page}.md" for page in ("configuration", "metrics", "http-api", "commands", "c-abi", "python-clients")),
            "k8s/helm/warmpath/README.md", "CHANGELOG.md", "src/perf/RESULTS.md", "src-cpp/bench/RESULTS.md")
INDENTED = re.compile(r" {4,}|\t")
ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)]) +|\s*>+ ?|#+ ")
SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]* +(?=[A-Z`\"'(\[])|(?<=[:;]) +(?=[A-Z][a-z]+ )")

CLAUSE = re.compile(r"[;:] ")


def patterns(text):
    return [(re.compile(expression), advice) for expression, _, advice in
            (line.partition("\t") for line in text.splitlines() if line and not line.startswith("#"))]


def plain(line):
    """A line's words: code as `X`, links and pictures as their text."""
    line = re.sub(r"``.+?``|`[^`]*`", "X", line)
    line = re.sub(r'"[^"]*"', "X", line)
    line = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", line)
    return re.sub(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)", "", line)


def blocks(text):
    """(line number, words) of each paragraph, item, heading and cell; cells are True as the third."""
    number, words, fence, listed, empty = 0, "", "", False, True
    for at, line in enumerate(text.split("\n"), 1):
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if mark and (not fence or line.strip().startswith(fence)):
            fence = "" if fence else mark[1]
            line = ""
        elif fence:
            continue
        code = empty and INDENTED.match(line) and (not listed or len(line) - len(line.lstrip()) > 5)
        begins = ITEM.match(line)
        cell = line.lstrip().startswith("|")
        if words and (not line.strip() or begins or cell or code):
            yield number, words, False
            words = ""
        if not line.strip():
            empty = True
            continue
        if code:
            continue
        empty, listed = False, bool(begins) and not line.startswith("#") or listed and (line[0] == " " or not empty)
        if cell:
            for part in plain(line).strip().strip("|").split("|"):
                yield at, part.strip(), True
            continue
        if not words:
            number = at
        words = f"{words} {plain(line[begins.end():] if begins else line).strip()}".strip()
    if words:
        yield number, words, False


def faults(text, rules):
    """[(line, what is wrong, sentence)] of a page."""
    found = []
    for line, words, cell in blocks(text):
        for sentence in SENTENCE.split(words):
            found += [(line, advice, sentence) for pattern, advice in rules if pattern.search(sentence)]
            words_at_once = max(len(part.split()) for part in CLAUSE.split(sentence))
            if not cell and words_at_once > LONGEST:
                found.append((line, f"{words_at_once} words at once: say it in two sentences", sentence))
    return found


def pages(root):
    found = [root / "README.md"]
    for folder in (".github", "k8s", "native-core", "src", "src-cpp"):
        found += sorted((root / folder).rglob("*.md"))
    return [f for f in found if f.relative_to(root).as_posix() not in NOT_READ]


class Test(unittest.TestCase):
    RULES = patterns((HERE / "patterns.txt").read_text(encoding="utf-8"))
    # What a reader stumbled over, word by word.
    QUOTED = ("Fails one of them, the other goes on alone.", "plays what routers were complained about, and prints each beside the rule that does it",
              "Before you change a weight, or our word is not enough: `./warmpath lab run` plays a trace.", "Nothing of your settings reaches that run.",
              "Gives the same for a key that there is already.", "the same for a key that there is already, read from standard input")
    PLAIN = ("When one of them fails, the other one goes on.", "It prints the hash of an existing key.", "Is it asked?", "There is no lower mark.",
             "The log says who was asked.", "Blocks that nobody holds stay known until they are 15 % of all.", "What are the limits?",
             "The gateway sends the request to the worker that will answer soonest, and streams the answer through; it can say why it chose so.")

    def wrong(self, text):
        return [what for _, what, _ in faults(text, self.RULES)]

    def test_what_a_reader_stumbled_over_is_found(self):
        for sentence in self.QUOTED:
            for text in (sentence, f"Before. {sentence} After it.", f"| `x` | {sentence} |", f"- one\n- {sentence}", sentence.replace(", ", ",\n")):
                with self.subTest(text):
                    self.assertNotEqual([], self.wrong(text))

    def test_each_pattern_finds_a_sentence_of_its_own(self):
        samples = (HERE / "samples.txt").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(self.RULES), len(samples))
        for (pattern, advice), sample in zip(self.RULES, samples):
            with self.subTest(sample):
                self.assertTrue(any(pattern.search(plain(s)) for s in SENTENCE.split(sample)), f"{pattern.pattern} does not find it")
                self.assertIn(advice, self.wrong(sample))

    def test_plain_english_passes(self):
        for sentence in self.PLAIN:
            with self.subTest(sentence):
                self.assertEqual([], self.wrong(sentence))

    def test_what_is_said_at_once_has_a_bound(self):
        at_once = " ".join(["word"] * LONGEST)
        self.assertEqual([], self.wrong(f"{at_once}; {at_once}."))
        self.assertEqual([f"{LONGEST + 1} words at once: say it in two sentences"], self.wrong(f"{at_once} more."))
        self.assertEqual([], self.wrong(f"| {at_once} more |"))

    def test_code_is_not_read(self):
        for code in ("`nobody is told`", 'say "nobody is told" to them', "    nobody is told", "```\nnobody is told\n```", "- a\n\n      nobody is told", "text\n\n    nobody is told\n\n    nobody is told"):
            with self.subTest(code):
                self.assertEqual([], self.wrong(code))
        self.assertEqual(1, len(self.wrong("- a\n  nobody is told")))
        self.assertEqual(1, len(self.wrong("1. a\n\n   nobody is told")))

    def test_a_finding_names_its_line(self):
        self.assertEqual([5], [line for line, _, _ in faults("# A\n\ntext\n\nThat is mended.\n", self.RULES)])


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(not unittest.TextTestRunner(stream=sys.stderr).run(unittest.defaultTestLoader.loadTestsFromTestCase(Test)).wasSuccessful())
    root = pathlib.Path(sys.argv[1])
    looked_at = [pathlib.Path(f) for f in sys.argv[2:]] or pages(root)
    rules = patterns((HERE / "patterns.txt").read_text(encoding="utf-8"))
    count = 0
    for page in looked_at:
        for line, what, sentence in faults(page.read_text(encoding="utf-8"), rules):
            count += 1
            print(f"{page}:{line}: {what}: {sentence[:200]}")
    print(f"prose: {len(looked_at)} pages read, {count} sentences to say otherwise (src/docs/project/style-note.md)")
    sys.exit(1 if count else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The documentation site's builder and checker: GitHub's Markdown made to fit, links, the menu, and each fault found when it is planted."""
import ast
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "main" / "site"))

import build  # noqa: E402
import check  # noqa: E402
import dialect  # noqa: E402
import reference  # noqa: E402


def written(folder, files):
    for name, text in files.items():
        file = pathlib.Path(folder) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return pathlib.Path(folder)


def rewritten(text):
    return "\n".join(line for line, _, _ in dialect.lines_of(text))


class Dialect(unittest.TestCase):
    def test_a_list_after_a_paragraph_gets_its_empty_line(self):
        self.assertEqual("text\n\n- a\n- b", rewritten("text\n- a\n- b"))
        self.assertEqual("text\n\n1. a\n2. b", rewritten("text\n1. a\n2. b"))
        self.assertEqual("text\n2. no list", rewritten("text\n2. no list"))

    def test_what_belongs_to_an_item_is_indented_by_four(self):
        self.assertEqual("1. a\n\n    b\n\n        code", rewritten("1. a\n\n   b\n\n       code"))
        self.assertEqual("- a\n    - b\n        more\n- c", rewritten("- a\n  - b\n    more\n- c"))
        self.assertEqual("- a\n\ntext\n\n    code", rewritten("- a\n\ntext\n\n    code"))

    def test_a_fence_in_an_item_moves_with_it_and_keeps_its_lines(self):
        self.assertEqual("1. a\n\n    ```sh\n    x - y\n      - z\n    ```\n2. b", rewritten("1. a\n\n   ```sh\n   x - y\n     - z\n   ```\n2. b"))
        self.assertEqual("```\ntext\n- a\n```", rewritten("```\ntext\n- a\n```"))

    def test_a_heading_ends_a_list(self):
        self.assertEqual("- a\n  b\n## c".replace("  b", "    b"), rewritten("- a\n  b\n## c"))

    def test_code_and_diagrams_are_told(self):
        self.assertEqual([("```mermaid", True, "mermaid"), ("a", True, ""), ("```", True, "")], list(dialect.lines_of("```mermaid\na\n```")))


class Assembled(unittest.TestCase):
    PAGES = {"README.md": "# Front\n\nSee [a](src/docs/a.md#x), ![p](src/docs/p.svg), [code](src/x/C.java), [k8s](k8s), [out](http://127.0.0.1/).\n",
             "src/docs/a.md": "# A `page`\n\nBack to [the front](../../README.md).\n\n    [no](link.md) \n", "src/docs/p.svg": "<svg/>", "src/x/C.java": "class C {}",
             "src/docs/link.md": "# Link\n", "k8s/README.md": "# Kubernetes\n", "src/docs/tutorials/2.md": "# Second\n", "src/docs/tutorials/1.md": "# First\n"}
    MENU = 'Front = "README.md"\n[Tutorials]\n"*" = "src/docs/tutorials"\n["How-to"]\n"*" = "src/docs/how-to"\n[More]\nA = "src/docs/a.md"\nLink = "src/docs/link.md"\n'

    def assembled(self, pages):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        root = written(self.folder.name, {**pages, "menu.toml": pages.get("menu.toml", self.MENU)})
        entries, self.moved = build.assemble(root, root / "work", root / "menu.toml")
        return entries, root / "work" / "docs"

    def test_links_lead_to_the_pages_places(self):
        _, docs = self.assembled(self.PAGES)
        front = (docs / "index.md").read_text(encoding="utf-8")
        self.assertIn("[a](a.md#x), ![p](p.svg), [code](source/src/x/C.java.md), [k8s](k8s/index.md), [out](http://127.0.0.1/)", front)
        self.assertIn("[the front](index.md)", (docs / "a.md").read_text(encoding="utf-8"))
        self.assertTrue((docs / "p.svg").is_file())
        self.assertIn("class C {}", (docs / "source/src/x/C.java.md").read_text(encoding="utf-8"))

    def test_a_folder_shows_its_pages_by_name_under_their_headings_and_an_empty_one_nothing(self):
        entries, _ = self.assembled(self.PAGES)
        self.assertEqual([{"Front": "README.md"}, {"Tutorials": [{"First": "src/docs/tutorials/1.md"}, {"Second": "src/docs/tutorials/2.md"}]},
                          {"More": [{"A": "src/docs/a.md"}, {"Link": "src/docs/link.md"}]}], entries)

    def test_a_folders_readme_orders_its_pages(self):
        entries, _ = self.assembled({**self.PAGES, "src/docs/tutorials/README.md": "# Tutorials\n\n[second](2.md#x), [first](1.md)\n", "src/docs/tutorials/0.md": "# Last\n"})
        self.assertEqual([{"Tutorials": "src/docs/tutorials/README.md"}, {"Second": "src/docs/tutorials/2.md"}, {"First": "src/docs/tutorials/1.md"},
                          {"Last": "src/docs/tutorials/0.md"}], entries[1]["Tutorials"])

    def test_a_link_to_nothing_and_a_page_that_is_not_there_are_told(self):
        with self.assertRaisesRegex(build.Broken, "src/docs/a.md: gone.md leads to no file"):
            self.assembled({**self.PAGES, "src/docs/a.md": "# A\n\n[gone](gone.md)\n"})
        with self.assertRaisesRegex(build.Broken, "outside"):
            self.assembled({**self.PAGES, "src/docs/a.md": "# A\n\n[o](../../../outside.md)\n"})
        with self.assertRaisesRegex(build.Broken, "there is no src/docs/gone.md"):
            self.assembled({**self.PAGES, "menu.toml": 'Gone = "src/docs/gone.md"\n'})

    def test_a_page_that_moved_is_a_redirect_and_nothing_links_to_it(self):
        old = {**self.PAGES, "src/docs/old.md": "# Old\n\nThis page moved to [more/new.md](more/new.md).\n", "src/docs/more/new.md": "# New\n"}
        _, docs = self.assembled(old)
        self.assertEqual({"old.md": "more/new.md"}, self.moved)
        self.assertEqual((True, False), ((docs / "more/new.md").is_file(), (docs / "old.md").exists()))
        with self.assertRaisesRegex(build.Broken, "src/docs/a.md: old.md#x moved to more/new.md"):
            self.assembled({**old, "src/docs/a.md": "# A\n\n[o](old.md#x)\n"})
        with self.assertRaisesRegex(build.Broken, "src/docs/old.md: gone.md leads to no file"):
            self.assembled({**old, "src/docs/old.md": "# Old\n\nThis page moved to [gone](gone.md).\n"})

    def test_what_programs_read_names_every_page_of_the_menu(self):
        entries, docs = self.assembled(self.PAGES)
        site = docs.parent / "site"
        site.mkdir()
        build.for_machines(entries, docs, site, "Warmpath 1")
        told = (site / "llms.txt").read_text(encoding="utf-8")
        self.assertTrue(told.startswith("# Warmpath 1\n\n> See a, p, code, k8s, out.\n"), told)
        self.assertIn("## More\n\n- [A](a.md): Back to the front.\n", told)
        self.assertIn("# First", (site / "llms-full.txt").read_text(encoding="utf-8"))
        self.assertTrue((site / "a.md").is_file())


class Checked(unittest.TestCase):
    GOOD = {"index.html": '<nav><li><a href="a/">1. A</a></li><a href=".">front</a></nav><a href="a/#x">x</a><img src="p.svg" alt="a picture"><script src="s.js"></script>',
            "a/index.html": '<h2 id="x">X</h2><a href="..#">up</a> <p>words - <code>1. code</code></p><a href="http://127.0.0.1/">away</a>', "p.svg": "", "s.js": "",
            "llms.txt": "- [A](a.md)\n", "a.md": "", "source/c/index.html": "", "404.html": '<a href="/gone">'}

    def faults(self, **changed):
        with tempfile.TemporaryDirectory() as folder:
            return check.faults(written(folder, {**self.GOOD, **{name.replace("_", "/") + "/index.html": text for name, text in changed.items() if name != "llms"},
                                                 **({"llms.txt": changed["llms"]} if "llms" in changed else {})}))

    def test_a_good_site_has_no_fault(self):
        self.assertEqual([], self.faults())

    def test_each_fault_is_found(self):
        planted = {
            "gone/ is not there": '<a href="../gone/">',
            "there is no such place": '<a href="../a/#y">',
            "no such place on that page": '<a href="#y">',
            "../no.svg is not there": '<img src="../no.svg" alt="a">',
            "../no.css is not there": '<link rel="stylesheet" href="../no.css">',
            "from elsewhere": '<script src="http://127.0.0.1/x.js">',
            "a picture without words": '<img src="../p.svg">',
            "not taken for such: - item": "<p>text\n- item</p>",
            "not taken for such: 1. item": "<p>text\n1. item</p>",
            "not taken for such: | a | b |": "<p>text\n| a | b |</p>",
            "not taken for such: ```sh": "<p>```sh</p>",
            "not taken for such: ## Heading": "<li>text\n## Heading</li>",
        }
        for fault, text in planted.items():
            with self.subTest(fault):
                found = self.faults(a=self.GOOD["a/index.html"] + text)
                self.assertEqual(1, len(found), found)
                self.assertIn(fault, found[0])

    def test_a_page_that_many_clicks_lead_to(self):
        chain = {f"{a}": f'<nav><a href="../{b}/">next</a></nav>' for a, b in ("bc", "cd", "de")}
        far = self.faults(a=self.GOOD["a/index.html"] + '<nav><a href="../b/">next</a></nav>', **chain, e="")
        self.assertEqual(["d/index.html: more than 3 clicks from the front page", "e/index.html: more than 3 clicks from the front page"], far)

    def test_a_page_in_no_menu_and_a_list_that_names_what_is_not_there(self):
        self.assertEqual(["b/index.html: in no menu"], self.faults(b="<p>alone</p>"))
        self.assertEqual([], self.faults(b=build.redirect("../a/")))
        self.assertIn("b/index.html: ../c/ is not there", self.faults(b=build.redirect("../c/")))
        self.assertEqual(["llms.txt: b.md is not there"], self.faults(llms="- [A](a.md)\n- [B](b.md)\n"))
        self.assertEqual(["llms.txt: lists no page"], self.faults(llms="nothing"))


class Reference(unittest.TestCase):
    def test_comments_become_paragraphs_lists_and_code(self):
        self.assertEqual("One\ntwo.\n\n1. first\n   goes on\n2. second", reference.prose(" * One\n * two.\n *\n *  1. first\n *     goes on\n *  2. second"))
        self.assertEqual("It ends\n\n- later,\n   or now\n\nMore.", reference.prose(" * It ends\n *   - later,\n *     or now\n * More."))
        self.assertEqual("Costs:\n\n```\n  a = b\n```", reference.prose(" * Costs:\n *   a = b"))

    def test_fields_have_what_is_said_before_and_behind_them(self):
        self.assertEqual([("`a`", "`uint32_t`", "why a"), ("`b[2]`", "`uint8_t`", "now: why b")], reference.c_fields("uint32_t a; /* why\n * a */\n/* now: */ uint8_t b[2]; /* why b */"))

    def test_docstrings_have_members(self):
        self.assertEqual(("Does.", {"a": "one two", "b": "one two"}), reference.described("Does.\n\na, b: one\n    two"))

    def test_what_nobody_has_described_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            root = written(folder, {"h/x.h": "/* x: a library. */\n#define X_ABI 1u\n\nint32_t x_open(void);\n"})
            with self.assertRaisesRegex(SystemExit, "x_open has no comment"):
                reference.c_header(root / "h/x.h")
        with self.assertRaisesRegex(SystemExit, "ask has no docstring"):
            reference.call(ast.parse("def ask(): pass").body[0], "ask", "x")

    def test_a_page_that_differs_is_told_and_written_only_when_it_may(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            self.assertEqual(["a.md"], reference.stale(root, {"a.md": lambda _: "new"}, False))
            self.assertFalse((root / "a.md").exists())
            self.assertEqual(["a.md"], reference.stale(root, {"a.md": lambda _: "new"}, True))
            self.assertEqual([], reference.stale(root, {"a.md": lambda _: "new"}, False))


if __name__ == "__main__":
    unittest.main()

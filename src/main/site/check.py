#!/usr/bin/env python3
"""Checks a built documentation site.

  check.py SITE

Every link inside it leads to a page, every #fragment to a place on it, every picture, script and style sheet is there, nothing is loaded from
elsewhere, every page but a redirect is in the menu and three clicks from the front page, every picture has words for those who do not see it, and no Markdown is left that the generator did not
take for such. Prints what is wrong, one a line; then the status is 1. Standard library only.
"""
import html.parser
import pathlib
import re
import sys
import urllib.parse

SHOWN = "source"  # pages that show a source file: links lead there, no menu
CLICKS = 3
LOADED = {"img": "src", "script": "src", "link": "href", "source": "src", "iframe": "src"}
RAW = re.compile(r"^\s*([-*] |\d+\. |\||```|#{1,6} |\[[^\]]*\]\()")


class Page(html.parser.HTMLParser):
    """What of a page is looked at: its places, links, what it loads, its menu, and what is wrong in it alone."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads, self.menu, self.wrong = set(), [], [], set(), []
        self.navigation = self.code = 0
        self.paragraph, self.redirects = None, False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids |= {given[k] for k in ("id", "name") if given.get(k)}
        loaded = given.get(LOADED.get(tag, ""))
        if loaded and given.get("rel") not in ("prev", "next", "canonical", "alternate"):
            self.loads.append(loaded)
        if tag == "img" and not given.get("alt"):
            self.wrong.append(f"a picture without words: {loaded}")
        self.redirects |= tag == "meta" and given.get("http-equiv") == "refresh"
        if tag == "nav":
            self.navigation += 1
        if tag in ("code", "pre"):
            self.code += 1
        if tag in ("p", "li", "td") and not self.navigation:
            self.paragraph = ""
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
            if self.navigation:
                self.menu.add(given["href"])

    def handle_endtag(self, tag):
        if tag == "nav":
            self.navigation -= 1
        if tag in ("code", "pre"):
            self.code -= 1
        if tag in ("p", "li", "td") and self.paragraph is not None:
            self.wrong += [f"Markdown that was not taken for such: {line.strip()[:80]}" for line in self.paragraph.split("\n") if RAW.match(line)]
            self.paragraph = None

    def handle_data(self, data):
        if self.paragraph is not None:
            self.paragraph += re.sub(r"\S", "x", data) if self.code else data


def faults(site):
    """What is wrong with a site: [text]."""
    files = {f.relative_to(site) for f in site.rglob("*") if f.is_file()}
    pages = {f: Page((site / f).read_text(encoding="utf-8")) for f in sorted(files) if f.suffix == ".html" and f.name != "404.html"}
    found, in_menu = [], set()
    for file, page in pages.items():
        found += [f"{file}: {fault}" for fault in page.wrong]
        for target in page.loads + page.links:
            loaded = target in page.loads
            parts = urllib.parse.urlsplit(target)
            if parts.scheme or parts.netloc:
                if loaded and parts.scheme != "data":
                    found.append(f"{file}: loads {target} from elsewhere")
                continue
            there = resolved(file, urllib.parse.unquote(parts.path))
            if there not in files:
                found.append(f"{file}: {target} is not there")
            elif parts.fragment and there in pages and urllib.parse.unquote(parts.fragment) not in pages[there].ids:
                found.append(f"{file}: {target}: there is no such place on that page")
            if target in page.menu:
                in_menu.add(there)
    found += [f"{file}: in no menu" for file, page in pages.items() if file not in in_menu and not page.redirects and file.parts[0] != SHOWN and file != pathlib.Path("index.html")]
    found += [f"{file}: more than {CLICKS} clicks from the front page" for near in [reached(pages)] for file in pages if file not in near and file.parts[0] != SHOWN
              and not pages[file].redirects and file in in_menu]
    listed = re.findall(r"\]\(([^)]+)\)", (site / "llms.txt").read_text(encoding="utf-8")) if pathlib.Path("llms.txt") in files else []
    found += [f"llms.txt: {page} is not there" for page in listed if pathlib.Path(page) not in files]
    if not listed:
        found.append("llms.txt: lists no page")
    return found


def reached(pages):
    """What a few clicks lead to from the front page."""
    known = {pathlib.Path("index.html")}
    for _ in range(CLICKS):
        known |= {resolved(file, urllib.parse.unquote(parts.path)) for file in known if file in pages for parts in map(urllib.parse.urlsplit, pages[file].links)
                  if not parts.netloc}
    return known


def resolved(file, path):
    """The file that a link's path means, seen from a file's own address."""
    folder = [] if path.startswith("/") else list(file.parent.parts)
    if not path:
        return file
    for part in path.split("/"):
        if part == "..":
            folder = folder[:-1]
        elif part not in ("", "."):
            folder.append(part)
    there = pathlib.Path(*folder) if folder else pathlib.Path(".")
    return there / "index.html" if path.endswith(("/", ".")) else there


def main():
    site = pathlib.Path(sys.argv[1])
    found = faults(site)
    for fault in found:
        print(f"docs: {fault}")
    print(f"docs: {len(list(site.rglob('*.html')))} pages looked at, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

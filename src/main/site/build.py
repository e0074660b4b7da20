#!/usr/bin/env python3
"""Builds the documentation site from the repository's Markdown.

  build.py ROOT --zensical PROGRAM --version VERSION --commit COMMIT [--mermaid FILE] [--serve PORT]

Copies the pages that navigation.toml names, and all of src/docs, into target/site-work, with links made to fit: a page to a page, a source
file to a page that shows it, a picture to its copy. Zensical builds target/site from that; each page is also there as Markdown, with llms.txt
and llms-full.txt. A page that only says where it moved to becomes a redirect, and nothing may link to it. --serve shows the site on 127.0.0.1 and builds again when a page changes. Status 1 when a link leads nowhere. Standard
library only, but for Zensical.
"""
import argparse
import functools
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time
import tomllib

import dialect

HERE = pathlib.Path(__file__).resolve().parent
MOVED = re.compile(r"^# [^\n]+\n+This page moved to \[[^\]]+\]\(([^)\s]+)\)\.\n*$")
LINK = re.compile(r"(?<=\]\()([^()\s]+)(?=\))")
HEADING = re.compile(r"^# (.+)$", re.M)
NO_PROSE = re.compile(r"\d+\. |-{3}|Status:|Made from")
AS_THEY_ARE = {".svg", ".png", ".csv", ".json", ".gif", ".webp"}
LANGUAGES = {".hpp": "cpp", ".h": "c", ".inc": "cpp", ".py": "python", ".yml": "yaml", ".tpl": "yaml", ".sh": "sh", "": "text"}
MERMAID = "assets/mermaid.min.js"
LOGS = ("CHANGELOG.md", "src/perf/RESULTS.md")  # too long for llms-full.txt


class Broken(Exception):
    """Links of the sources, or the navigation, that lead nowhere."""


def place(path):
    """Where a Markdown file of the repository stands in the site: src/docs/x.md as x.md, a README as its folder's index."""
    for prefix, instead in (("src/docs/", ""), ("src/", ""), (".github/", "project/")):
        if path.startswith(prefix):
            path = instead + path[len(prefix):]
            break
    folder, name = os.path.split(path)
    return os.path.join(folder, "index.md" if name == "README.md" else name.lower())


def title(text, otherwise):
    found = HEADING.search(text)
    return found[1].replace("`", "") if found else otherwise


def in_order(readme):
    """The order of a folder's pages: the README, what it links to as it comes there, all others by name."""
    linked = [target.partition("#")[0] for target in LINK.findall(readme.read_text(encoding="utf-8"))] if readme.is_file() else []
    return lambda page: (page != readme, linked.index(page.name) if page.name in linked else len(linked), page.name)


def menu(root, table, named):
    """Zensical's navigation of one table of navigation.toml: [{title: page or menu}]; nothing for an empty one."""
    entries = []
    for name, value in table.items():
        if isinstance(value, dict):
            below = menu(root, value, named)
            if below:
                entries.append({name: below})
        elif name == "*":
            pages = sorted((root / value).glob("*.md"), key=in_order(root / value / "README.md"))
            found = [p.relative_to(root).as_posix() for p in pages]
            entries += [{title((root / p).read_text(encoding="utf-8"), p): p} for p in found if p not in named]
        else:
            entries.append({name: value})
    return entries


def pages_of(entries):
    """[(title, path)] of a navigation, in its order."""
    found = []
    for entry in entries:
        for name, value in entry.items():
            found += [(name, value)] if isinstance(value, str) else pages_of(value)
    return found


def placed(entries):
    return [{name: place(value) if isinstance(value, str) else placed(value)} for entry in entries for name, value in entry.items()]


def values(table):
    return [v for value in table.values() for v in (values(value) if isinstance(value, dict) else [value])]


def moved(file):
    """Where a page says that it moved to, as a path from its folder; None for a page that stayed."""
    found = MOVED.match(file.read_text(encoding="utf-8"))
    return found[1] if found else None


def redirect(target):
    """A page at an old address that leads on, with the place on the page that was asked for."""
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Moved</title><link rel="canonical" href="{target}">'
            f'<script>location.replace("{target}" + location.hash)</script><meta http-equiv="refresh" content="0; url={target}">'
            f'<a href="{target}">This page moved here</a></html>\n')


class Assembly:
    """The pages in target/site-work/docs; `broken` has the links that lead nowhere, or to an old address."""

    def __init__(self, root, work, drawing):
        self.drawing = drawing  # whether there is what draws diagrams
        self.root, self.docs, self.done, self.broken = root, work / "docs", set(), []
        self.moved = {}  # {place of an old address: the new one, seen from it}

    def add(self, path):
        """A Markdown file of the repository, and all that it links to."""
        if path in self.done:
            return
        self.done.add(path)
        if moved(self.root / path):
            self.moved[place(path)] = self.link(path, moved(self.root / path))
            return
        lines, drawn = [], False
        for line, code, word in dialect.lines_of((self.root / path).read_text(encoding="utf-8")):
            if word == "mermaid":
                drawn, line = self.drawing, line if self.drawing else line.replace("mermaid", "text")
            lines.append(line if code else LINK.sub(lambda link: self.link(path, link[1]), line))
        if drawn:  # 5 MB: only where there is something to draw
            lines.append(f'\n<script src="{os.path.relpath(MERMAID, os.path.dirname(place(path)))}"></script>\n')
        self.write(place(path), "\n".join(lines))

    def write(self, where, text):
        file = self.docs / where
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def link(self, source, target):
        """What stands in the site for a link of a source."""
        path, mark, anchor = target.partition("#")
        if ":" in path or not path:
            return target
        path = os.path.normpath(os.path.join(os.path.dirname(source), path))
        file = self.root / path
        if file.is_dir() and (file / "README.md").is_file():
            path, file = f"{path}/README.md", file / "README.md"
        if path.startswith("..") or not file.is_file():
            self.broken.append(f"{source}: {target} leads to no file")
            return target
        if file.suffix == ".md":
            if moved(file):
                self.broken.append(f"{source}: {target} moved to {moved(file)}")
            self.add(path)
            there = place(path)
        elif file.suffix in AS_THEY_ARE:
            there = os.path.join(os.path.dirname(place(path)), file.name)
            (self.docs / there).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, self.docs / there)
        else:
            there = self.shown(path, file)
        return os.path.relpath(there, os.path.dirname(place(source))) + mark + anchor

    def shown(self, path, file):
        """A page that shows a source file; search leaves it out."""
        there = f"source/{path}.md"
        if there not in self.done:
            self.done.add(there)
            language = LANGUAGES.get(file.suffix, file.suffix[1:])
            self.write(there, f"---\nsearch:\n  exclude: true\nhide: [navigation, toc]\n---\n\n# {file.name}\n\n`{path}`\n\n"
                              f"``````{language}\n{file.read_text(encoding='utf-8')}\n``````\n")
        return there


def first_sentence(text):
    """Of the first paragraph below the heading, without Markdown."""
    for block in text.split("\n\n"):
        plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(block.split())).replace("`", "")
        if plain and plain[0] not in "#|!<->" and not block.startswith("    ") and not NO_PROSE.match(plain):
            return re.split(r"(?<=[.:]) (?=[A-Z])", plain)[0].rstrip(":")
    return ""


def for_machines(entries, docs, site, name):
    """llms.txt, llms-full.txt and each page as Markdown."""
    for file in docs.rglob("*.md"):
        if not file.relative_to(docs).parts[0] == "source":
            (site / file.relative_to(docs)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, site / file.relative_to(docs))
    front = (docs / "index.md").read_text(encoding="utf-8")
    brief, full = [f"# {name}", "", f"> {first_sentence(front)}"], []
    for entry in entries:
        for section, below in entry.items():
            brief += ["", f"## {section}", ""]
            for page, path in pages_of([{section: below}]):
                text = (docs / place(path)).read_text(encoding="utf-8")
                told = first_sentence(text)
                brief.append(f"- [{page}]({place(path)})" + (f": {told}" if told else ""))
                if path not in LOGS:
                    full.append(text.strip())
    (site / "llms.txt").write_text("\n".join(brief) + "\n", encoding="utf-8")
    (site / "llms-full.txt").write_text("\n\n---\n\n".join(full) + "\n", encoding="utf-8")


def assemble(root, work, navigation, drawing=True):
    """All pages into work/docs. Returns the navigation with the repository's paths, and the pages that moved."""
    table = tomllib.loads(navigation.read_text(encoding="utf-8"))
    entries = menu(root, table, set(values(table)))
    missing = [f"navigation.toml: there is no {path}" for _, path in pages_of(entries) if not (root / path).is_file()]
    if missing:
        raise Broken("\n".join(missing))
    assembly = Assembly(root, work, drawing)
    for path in [path for _, path in pages_of(entries)] + sorted(p.relative_to(root).as_posix() for p in (root / "src/docs").rglob("*.md")):
        assembly.add(path)
    if assembly.broken:
        raise Broken("\n".join(assembly.broken))
    return entries, assembly.moved


def build(root, given):
    work, site = root / "target/site-work", root / "target/site"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    entries, old = assemble(root, work, HERE / "navigation.toml", bool(given.mermaid))
    assets = work / "docs/assets"
    assets.mkdir()
    shutil.copyfile(HERE / "site.css", assets / "site.css")
    shutil.copyfile(root / "src/gateway/main/resources/io/warmpath/api/console/icon.svg", assets / "icon.svg")
    settings = tomllib.loads((HERE / "zensical.toml").read_text(encoding="utf-8"))["project"]
    if given.mermaid:
        shutil.copyfile(given.mermaid, work / "docs" / MERMAID)
    settings |= {"site_name": f"Warmpath {given.version}", "copyright": f"Warmpath {given.version}, commit {given.commit}. Apache License 2.0",
                 "nav": placed(entries), "docs_dir": "docs", "site_dir": "site"}
    (work / "mkdocs.yml").write_text(json.dumps(settings, indent=1), encoding="utf-8")  # JSON is YAML
    ran = subprocess.run([given.zensical.absolute(), "build", "--clean", "-f", "mkdocs.yml"], cwd=work, capture_output=True, text=True)
    if ran.returncode:
        raise Broken(f"zensical: {ran.stdout}{ran.stderr}")
    for page, now in old.items():  # x.md is served as x/
        file = work / "site" / page.removesuffix(".md") / "index.html"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(redirect(f"../{now.removesuffix('.md')}/"), encoding="utf-8")
    for_machines(entries, work / "docs", work / "site", settings["site_name"])
    shutil.rmtree(site, ignore_errors=True)
    shutil.move(work / "site", site)
    print(f"docs: {len(list(site.rglob('*.html')))} pages in {site}", flush=True)


def newest(root):
    found = [HERE, *HERE.iterdir(), *root.glob("*.md"), *root.glob(".github/*.md"), *(root / "src").rglob("*.md"), *(root / "k8s").rglob("*.md")]
    return max(file.stat().st_mtime for file in found if file.exists())


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def serve(root, given):
    handler = functools.partial(Quiet, directory=root / "target/site")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", given.serve), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"docs: http://127.0.0.1:{server.server_port}/ ; Ctrl-C ends it", flush=True)
    seen = newest(root)
    while True:
        time.sleep(1)  # between two looks
        now = newest(root)
        if now != seen:
            seen = now
            try:
                build(root, given)
            except Broken as e:
                print(f"docs: {e}", file=sys.stderr, flush=True)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("root", type=pathlib.Path)
    options.add_argument("--zensical", type=pathlib.Path, required=True)
    options.add_argument("--version", required=True)
    options.add_argument("--commit", required=True)
    options.add_argument("--mermaid", type=pathlib.Path)
    options.add_argument("--serve", type=int)
    given = options.parse_args()
    root = given.root.resolve()
    try:
        build(root, given)
        if given.serve is not None:
            serve(root, given)
    except Broken as e:
        sys.exit(f"docs: {e}")
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes pages of src/docs/reference from sources that are not Java's: the C headers, and the typed sources of the Python packages.

  reference.py ROOT [--check]

--check writes nothing: status 1 when a page says something else than its sources. A public function without a comment, or a public Python name without
a docstring, is an error. Nothing is imported or run. Standard library only.
"""
import ast
import pathlib
import re
import sys

C_PARTS = re.compile(r"/\*(?P<comment>.*?)\*/|^#define (?P<name>\w+) (?P<value>\S+)[ \t]*(?:/\*(?P<about>.*?)\*/)?|"
                     r"typedef (?P<kind>enum|struct) \w+ \{(?P<fields>.*?)\} (?P<type>\w+);|typedef struct (?P<opaque>\w+) \w+;|"
                     r"^(?P<returns>(?:const )?\w+\*? )(?P<function>\w+)\((?P<arguments>[^;{]*)\);", re.S | re.M)
FIELD = re.compile(r"/\*(?P<before>.*?)\*/|\s*(?P<declared>[^\s,;/][^,;/]*)[,;]?[ \t]*(?:/\*(?P<about>.*?)\*/)?", re.S)
ITEM = re.compile(r" *(?:-|(\d+)\.) +(.*)")
DOCUMENT = re.compile(r"src/docs/([\w/-]*?)([\w-]+)\.md")
NAMES = re.compile(r"\b(?:KV[IPT]|KTK|kv[ipt]|ktk)_\w+\*?(?:\(\))?")
HEADERS = (("libkvindex.so", "native-core/include", ("kvindex.h", "kvtracker.h", "kvtokens.h")), ("libkvpublisher.so", "native-core/publisher/include", ("kvpublisher.h",)))
PACKAGES = (("src/clients/python", "warmpath_router", "the client of the direct API"), ("src/clients/publisher", "warmpath_publisher", "KV events from any engine in Python"))


def linked(text):
    """Names of the libraries as code, names of documents as links."""
    text = "`".join(part if at % 2 else NAMES.sub(r"`\g<0>`", part) for at, part in enumerate(text.split("`")))
    return DOCUMENT.sub(lambda m: f"[{m[2]}](../{m[1]}{m[2]}.md)".replace("../reference/", ""), text)


def one_line(comment):
    return linked(" ".join(line.strip().removeprefix("*").strip() for line in (comment or "").strip().split("\n"))).replace("|", "\\|").strip()


def prose(comment, starred=True):
    """A comment as Markdown: paragraphs, lists, and formulas or columns as code."""
    out, kind, numbered = [], "", False
    for line in comment.strip("\n").split("\n"):
        line = re.sub(r"^ ?\* ?", "", line).rstrip() if starred else line.rstrip()
        text, item = line.strip(), ITEM.match(line)
        now = "" if not text else "code" if "   " in text or (line.startswith("  ") and " = " in line) or (kind == "code" and line.startswith("  ")) else \
            "item" if item or (kind == "item" and (numbered or line.startswith("  "))) else "text"
        numbered = bool(item[1]) if item else numbered
        if kind == "code" and now != "code":
            out.append("```")
        if now == "code" and kind != "code":
            out += ["```"] if out[-1:] == [""] else ["", "```"]
        if now in ("item", "text") and kind not in (now, "") or now == "item" and not out[-1:]:
            out.append("")
        if now == "item":
            out.append((f"{item[1]}. " if item[1] else "- ") + linked(item[2]) if item else "   " + linked(text))
        else:
            out.append(line if now == "code" else linked(text))
        kind = now
    return "\n".join(out + (["```"] if kind == "code" else [])).strip()


def first_sentence(text):
    return re.split(r"(?<=[a-z)`0-9]\.)\s", " ".join(text.split()), maxsplit=1)[0]


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(re.sub(r"(?<!\\)\|", r"\|", cell) for cell in row) + " |" for row in rows)]) if rows else ""


def c_fields(text):
    rows, before = [], ""
    for part in FIELD.finditer(text):
        if part["before"] is not None:
            before = one_line(part["before"])
        else:
            declared = part["declared"].strip()
            kind, _, name = declared.rpartition(" ") if "=" not in declared else ("", "", declared)
            rows.append((f"`{name}`", *([f"`{kind}`"] if kind else []), " ".join(filter(None, (before, one_line(part["about"]))))))
            before = ""
    return rows


def c_header(path):
    """Markdown of one header, and [(function, first sentence)]."""
    text = path.read_text(encoding="utf-8")
    sizes = dict(re.findall(r"sizeof\((\w+)\) == (\d+)", text))
    constants, types, functions, said, defines = [], [], [], "", []
    parts = list(C_PARTS.finditer(text))
    for at, part in enumerate(parts):
        if part["comment"] is not None:
            said = prose(part["comment"]) if at else ""
        elif part["name"]:
            defines.append((f"`{part['name']}`", f"`{part['value']}`", one_line(part["about"])))
            if at + 1 == len(parts) or not parts[at + 1]["name"] or "\n\n" in text[part.end():parts[at + 1].start()]:
                constants += [said, table(("constant", "value", "what it means"), defines)]
                said, defines = "", []
        elif part["type"]:
            head = ("value", "what it means") if part["kind"] == "enum" else ("field", "form", "what it means")
            size = f"{sizes[part['type']]} bytes." if part["type"] in sizes else ""
            types += [f"#### {part['type']}", said, size, table(head, c_fields(part["fields"]))]
            said = ""
        elif part["opaque"]:
            types += [f"#### {part['opaque']}", said or "A handle: opaque to the caller."]
            said = ""
        elif part["function"]:
            if not said:
                raise SystemExit(f"reference: {path}: {part['function']} has no comment")
            functions.append((part["function"], f"{part['returns']}{part['function']}({part['arguments']});", said))
            said = ""
    intro = prose(parts[0]["comment"].strip("\n"))
    listed = table(("function", "does"), [(f"[`{name}`](#{name})", first_sentence(about)) for name, _, about in functions])
    shown = [block for name, signature, about in functions for block in (f"### {name}", f"```c\n{signature}\n```", about)]
    return "\n\n".join(filter(None, [intro, listed, f"### Constants of {path.name}", *constants, f"### Types of {path.name}", *types, *shown]))


def c_abi(root):
    out, rows = [], []
    for library, folder, names in HEADERS:
        for name in names:
            version = re.search(r"#define KV\w_ABI_VERSION (\d+)u", (root / folder / names[0]).read_text(encoding="utf-8"))[1]
            rows.append((f"[{name}](#{name.replace('.', '')})", f"`{library}`", version))
            out += [f"## {name}", f"Source: [`{folder}/{name}`](../../../{folder}/{name}).", c_header(root / folder / name)]
    return "\n\n".join(["# C ABI", "Made from the headers by `src/main/site/reference.py`; do not edit.",
                        "The native libraries have a plain C interface: the gateway calls the index through it ([how](../explanation/native-index.md)), and an engine in any language can "
                        "publish its KV events through the publisher's ([how](../how-to/publisher.md)). A loader compares the ABI version that it was built with to the library's.",
                        table(("header", "library", "ABI version"), rows), *out]) + "\n"


MEMBERS = re.compile(r"^((?:`?\w+`?)(?:, `?\w+`?)*): (.*)$")


def described(doc):
    """(text, {name: meaning}) of a docstring: lines `name: meaning`, which indented lines continue."""
    text, members, names = [], {}, []
    for line in doc.split("\n"):
        found = MEMBERS.match(line)
        if found and found[1].islower():
            names = found[1].split(", ")
            members |= {name: found[2] for name in names}
        elif names and line.startswith(" "):
            members |= {name: f"{members[name]} {line.strip()}" for name in names}
        else:
            names = []
            text.append(line)
    plain = {name: re.sub(r"``(.+?)``", r"`\1`", linked(meaning)).replace("|", "\\|") for name, meaning in members.items()}
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"``(.+?)``", r"`\1`", linked("\n".join(text).strip()))), plain


def fields(node, classes):
    """[(name, form, meaning)] of a class and of those it is made of."""
    rows = [row for base in node.bases if isinstance(base, ast.Name) and base.id in classes for row in fields(classes[base.id], classes)]
    about = described(ast.get_docstring(node) or "")[1]
    for part in node.body:
        if isinstance(part, ast.AnnAssign):
            rows.append((f"`{part.target.id}`", "`" + ast.unparse(part.annotation).replace("|", "\\|") + "`", about.get(part.target.id, "")))
        elif isinstance(part, ast.Assign):
            rows.append((f"`{part.targets[0].id}`", "`" + ast.unparse(part.value) + "`", about.get(part.targets[0].id, "")))
    return rows


def call(node, name, where):
    """A function or method: signature, text, parameters."""
    doc = ast.get_docstring(node)
    if not doc:
        raise SystemExit(f"reference: {where}: {name} has no docstring")
    node.args.args = [a for a in node.args.args if a.arg != "self"]
    parts = re.sub(r"(?<=[\w\]])=", " = ", ast.unparse(node.args))
    gives = f" -> {ast.unparse(node.returns)}" if node.returns and node.name != "__init__" else ""
    wide = len(name) + len(parts) > 75
    if wide:
        parts = "\n    " + ",\n    ".join(re.split(r", (?![^\[(]*[\])])", parts)) + ",\n"
    text, members = described(doc)
    alike = {}  # one row for those of which the same is said
    for n, meaning in members.items():
        alike.setdefault(meaning, []).append(f"`{n}`")
    return [f"```python\n{'async ' if isinstance(node, ast.AsyncFunctionDef) else ''}{name}({parts}){gives}\n```", text,
            table(("parameter", "what it is"), [(", ".join(names), m) for m, names in alike.items()])]


def python_class(node, classes, where):
    text, members = described(ast.get_docstring(node) or "")
    if not text:
        raise SystemExit(f"reference: {where}: {node.name} has no docstring")
    rows = fields(node, classes)
    known = {row[0].strip("`") for row in rows}
    rows += [(f"`{n}`", "", m) for n, m in members.items() if n not in known]
    out = [text, table(("member", "form", "what it is"), rows)]
    for part in node.body:
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)) and (part.name == "__init__" and ast.get_docstring(part) or not part.name.startswith("_")):
            shown = node.name if part.name == "__init__" else f"{node.name}.{part.name}"
            made = any(isinstance(d, ast.Name) and d.id == "classmethod" for d in part.decorator_list)
            if not made:
                out += ([f"#### {shown}"] if part.name != "__init__" else []) + call(part, shown, where)
    return out


def python_clients(root):
    out = ["# Python clients", "Made from the docstrings by `src/main/site/reference.py`; do not edit.",
           "Two typed packages, each installed with `pip install ./FOLDER` and tested with the oldest and the newest Python that it names."]
    rows = []
    for folder, package, about in PACKAGES:
        sources = {f: ast.parse(f.read_text(encoding="utf-8")) for f in sorted((root / folder / package).glob("*.py"))}
        top = {n.name: n for tree in sources.values() for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
        aliases = {n.targets[0].id: n for tree in sources.values() for n in tree.body if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)}
        public = [e.value for e in aliases["__all__"].value.elts]
        rows.append((f"[`{package}`](#{package})", about, f"[README](../../{folder.removeprefix('src/')}/README.md)"))
        listed = [(f"[`{n}`](#{n.lower()})", first_sentence(described(ast.get_docstring(top[n]))[0])) for n in public]
        out += [f"## {package}", table(("name", "what it is"), listed)]
        for name in public:
            node = top[name]
            out += [f"### {name}", *(python_class(node, top, package) if isinstance(node, ast.ClassDef) else call(node, name, package))]
        out += [f"`{n}` is `{ast.unparse(a.value)}`." for n, a in aliases.items() if n[0].isupper() and n[1].islower()]
    return "\n\n".join(filter(None, out[:3] + [table(("package", "what it is", "how to begin"), rows)] + out[3:])) + "\n"


PAGES = {"src/docs/reference/c-abi.md": c_abi, "src/docs/reference/python-clients.md": python_clients}


def stale(root, pages, writes):
    """The pages that say something else than their sources; they are written when that is wanted."""
    found = []
    for page, make in pages.items():
        text, file = make(root), root / page
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            found.append(page)
            if writes:
                file.write_text(text, encoding="utf-8")
    return found


def main():
    checks = "--check" in sys.argv
    found = stale(pathlib.Path(sys.argv[1]), PAGES, not checks)
    for page in found:
        print(f"reference: {page} " + ("is stale; python3 -B src/main/site/reference.py . writes it" if checks else "is written"))
    sys.exit(1 if found and checks else 0)


if __name__ == "__main__":
    main()

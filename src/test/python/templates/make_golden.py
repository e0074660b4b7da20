#!/usr/bin/env python3
"""Writes what real Jinja2 renders, for TemplateGoldenTest, into src/test/resources/templates:

families.json.gz   every chat of conversations.py through every template of families/
random.json.gz     a few random templates and chats of grammar.py

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install -r src/test/python/templates/requirements.txt
    /tmp/venv/bin/python src/test/python/templates/make_golden.py
"""
import gzip
import json
import pathlib
import warnings

import conversations
import grammar
import oracle

OUT = pathlib.Path(__file__).resolve().parents[2] / "resources" / "templates"
RANDOM_CASES = 1000


def write(name, value):
    # No time in the file: the same input gives the same bytes.
    data = json.dumps(value, separators=(",", ":")).encode()
    (OUT / name).write_bytes(gzip.compress(data, 9, mtime=0))
    print(f"{name}: {len(data)} bytes, {(OUT / name).stat().st_size} packed")


def main():
    warnings.simplefilter("ignore")
    families = {}
    for file in sorted((OUT / "families").glob("*.jinja")):
        template = file.read_text(encoding="utf-8")
        families[file.stem] = [oracle.render(line) for line in conversations.lines(template)]
        good = sum("text" in answer for answer in families[file.stem])
        print(f"{file.stem:24} {good} of {len(families[file.stem])} rendered")
    chats = [{"name": name, **chat} for name, chat in conversations.CONVERSATIONS]
    write("families.json.gz", {"chats": chats, "answers": families})
    cases = []
    for line in grammar.cases(1, RANDOM_CASES, chats_per_template=2):
        seed = line.pop("seed")
        answer = oracle.render(line)
        if not oracle.ADDRESS.search(answer.get("text", "")):
            cases.append({"seed": seed, "line": line, "answer": answer})
    write("random.json.gz", cases)


if __name__ == "__main__":
    main()

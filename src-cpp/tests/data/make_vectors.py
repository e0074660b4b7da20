#!/usr/bin/env python3
"""Writes block_hashes.inc, the C++ form of block-hashes.json, and tracker_hashes.inc, that of the hashes of
vllm-block-tracker.json (whose scripts a Java test runs), and sglang_pages.inc, the pages of
sglang-page-hashes.json. With --check, only says whether they are current.

Multimodal and EAGLE cases are left out: local hashes over extra words or overlapping windows are made by the
caller of the index, not by it.
"""
import json
import pathlib
import sys

here = pathlib.Path(__file__).parent
resources = here.parents[2] / "src/test/resources/vectors"


def text(value):
    """A C++ literal; octal escapes, as these end after three digits."""
    plain = lambda b: 32 <= b < 127 and chr(b) not in '"\\?'
    return '"' + "".join(chr(b) if plain(b) else f"\\{b:03o}" for b in (value or "").encode()) + '"'


def words(values, suffix):
    return "{" + ", ".join(f"{int(v)}{suffix}" for v in values) + "}"


def main():
    vectors = json.loads((here / "block-hashes.json").read_text())
    lines = ["// Made by make_vectors.py from block-hashes.json. Do not edit.", "// clang-format off"]
    lines.append("inline const std::vector<block_case> block_cases = {")
    left_out = 0
    for case in vectors["cases"]:
        if case["mm"] or case["eagle"]:
            left_out += 1
            continue
        lines.append(
            f"    {{{text(case['name'])}, {case['block_size']}u, {words(case['tokens'], 'u')}, {text(case['lora'])},"
            f" {text(case['namespace'])}, {case['seed']}u, {words(case['local'], 'u')},"
            f" {words(case['sequence'], 'u')}}},"
        )
    lines.append("};")
    lines.append("inline const std::vector<chain_case> chain_cases = {")
    for chain in vectors["chains"]:
        lines.append(
            f"    {{{text(chain.get('name'))}, {words(chain['local'], 'u')}, {words(chain['sequence'], 'u')}}},"
        )
    lines.append("};")
    lines.append(f"// {left_out} multimodal and EAGLE cases are left out.")
    write("block_hashes.inc", lines)


def tracker():
    vectors = json.loads((resources / "vllm-block-tracker.json").read_text())
    lines = ["// Made by make_vectors.py from vllm-block-tracker.json. Do not edit.", "// clang-format off"]
    lines.append("inline const std::vector<position_case> position_cases = {")
    for case in vectors["hashes"]:
        lines.append(f"    {{{case['position']}u, {words(case['tokens'], 'u')}, {case['hash']}u}},")
    lines.append("};")
    write("tracker_hashes.inc", lines)


def pages():
    vectors = json.loads((resources / "sglang-page-hashes.json").read_text())
    lines = ["// Made by make_vectors.py from sglang-page-hashes.json. Do not edit.", "// clang-format off"]
    lines.append("inline const std::vector<page_case> page_cases = {")
    left_out = 0
    for case in vectors["pages"]:
        if any(int(token) >= 1 << 32 for token in case["tokens"]):
            left_out += 1
            continue
        lines.append(
            f"    {{{text(case['name'])}, {case['page_size']}u, {'true' if case['bigram'] else 'false'},"
            f" {text(case['storage_seed'])}, {words(case['tokens'], 'u')},"
            f" {{{', '.join(text(page) for page in case['pages'])}}}}},"
        )
    lines.append("};")
    lines.append(f"// {left_out} cases with ids above u32 are left out: none passes the C ABI.")
    write("sglang_pages.inc", lines)


def write(name, lines):
    made = "\n".join(lines) + "\n"
    target = here / name
    if "--check" in sys.argv:
        if target.read_text() != made:
            sys.exit(f"{name} is not what make_vectors.py makes; run it")
    else:
        target.write_text(made)


main()
tracker()
pages()

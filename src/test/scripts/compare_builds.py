#!/usr/bin/env python3
"""Compares what two builds made, byte by byte, and says what differs within a jar.

  compare_builds.py FIRST SECOND   two build folders (target); status 1 when they differ
  compare_builds.py --self-test    differences of every kind are found
"""
import sys
import tempfile
import zipfile
from pathlib import Path

# What is shipped: the gateway, the tools, and the native library.
SHIPPED = ("gateway/quarkus-app/**/*", "tools/*.jar", "tools/lib/*.jar", "adapters/classes/linux-*/*.so")
ENTRIES = 10  # of one kind that are named


def shipped(build):
    files = {}
    for pattern in SHIPPED:
        found = [f for f in sorted(build.glob(pattern)) if f.is_file()]
        if not found:
            sys.exit(f"{build} has no {pattern}: was it built?")
        files.update({str(f.relative_to(build)): f for f in found})
    return files


def named(what, entries):
    more = f" and {len(entries) - ENTRIES} more" if len(entries) > ENTRIES else ""
    return [f"    {what}: {', '.join(entries[:ENTRIES])}{more}"] if entries else []


def within(first, second):
    """What differs in two jars."""
    with zipfile.ZipFile(first) as one, zipfile.ZipFile(second) as other:
        a, b = ({i.filename: i for i in jar.infolist()} for jar in (one, other))
        both = [name for name in a if name in b]
        lines = named("only in the first", [n for n in a if n not in b])
        lines += named("only in the second", [n for n in b if n not in a])
        lines += named("other content", [n for n in both if one.read(n) != other.read(n)])
        lines += named("other date", [n for n in both if a[n].date_time != b[n].date_time])
        if [n for n in a if n in b] != [n for n in b if n in a]:
            lines.append("    entries in another order")
        return lines or ["    other bytes around equal entries"]


def differences(first, second):
    one, other = shipped(first), shipped(second)
    lines = [f"  only in the first: {name}" for name in one if name not in other]
    lines += [f"  only in the second: {name}" for name in other if name not in one]
    for name in sorted(one.keys() & other.keys()):
        if one[name].read_bytes() != other[name].read_bytes():
            lines.append(f"  differs: {name}")
            if name.endswith(".jar"):
                lines += within(one[name], other[name])
    return lines, len(one)


def self_test():
    def build(folder, entries, extra=()):
        for name in ("gateway/quarkus-app/run.jar", "tools/t.jar", "tools/lib/l.jar", "adapters/classes/linux-x/l.so", *extra):
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            if name.endswith("run.jar"):
                with zipfile.ZipFile(file, "w") as jar:
                    for entry, date, text in entries:
                        jar.writestr(zipfile.ZipInfo(entry, date), text)
            else:
                file.write_bytes(b"same")
        return folder

    noon, later = (2026, 1, 1, 12, 0, 0), (2026, 1, 1, 13, 0, 0)
    base = [("a", noon, "1"), ("b", noon, "2")]
    cases = [
        (base, (), []),
        ([("a", noon, "1"), ("b", noon, "3")], (), ["other content: b"]),
        ([("a", later, "1"), ("b", noon, "2")], (), ["other date: a"]),
        ([base[1], base[0]], (), ["another order"]),
        ([base[0]], (), ["only in the first: b"]),
        (base, ("gateway/quarkus-app/new.txt",), ["only in the second: gateway/quarkus-app/new.txt"]),
    ]
    for number, (entries, extra, wanted) in enumerate(cases):
        with tempfile.TemporaryDirectory() as place:
            first, second = build(Path(place, "1"), base), build(Path(place, "2"), entries, extra)
            lines, _ = differences(first, second)
            text = "\n".join(lines)
            if bool(lines) != bool(wanted) or not all(part in text for part in wanted):
                sys.exit(f"compare_builds.py: case {number} wants {wanted}, got:\n{text}")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    lines, files = differences(Path(sys.argv[1]), Path(sys.argv[2]))
    print("\n".join(lines + [f"{files} files compared, {sum(not l.startswith('    ') for l in lines)} differ"]))
    sys.exit(1 if lines else 0)


if __name__ == "__main__":
    main()

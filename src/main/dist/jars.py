#!/usr/bin/env python3
"""Puts the gateway's and the tools' jars into an installed tree: each once, without libraries for other platforms.

  jars.py ARCH BUILD TREE   BUILD is the build folder (target), ARCH x86_64 or aarch64; writes TREE/lib/gateway, lib/tools and lib/native
  jars.py --self-test

Native libraries for ARCH on Linux that the launcher can name (JNA, the index, the tokenizers, Netty's epoll) become files in lib/native, so
that nothing is unpacked at run time. All other entries are copied as they are, compressed bytes included: the result is a function of the
jars, not of the Python that runs this. Signed jars are not touched. Jars of the tools that the gateway has too lie there only once: the
manifest of the tools names them.
"""
import io
import re
import shutil
import struct
import sys
import tempfile
import zipfile
from pathlib import Path

LIBRARY = re.compile(r"\.(so|dll|dylib|jnilib|a)$")
# How jars call the platform, in the path or the name of the library.
OURS = {"x86_64": re.compile(r"linux[-_/](x86[-_]64|amd64)|x86_64\.so$"), "aarch64": re.compile(r"linux[-_/](aarch64|arm64)|aarch_64\.so$")}
# What lies as a file, by its name.
OUTSIDE = re.compile(r"lib(jnidispatch|kvindex|tokenizers|netty_transport_native_epoll_\w+)\.so$")
END = struct.Struct("<4s4H2LH")
CENTRAL = struct.Struct("<4s6H3L5H2L")
LOCAL = struct.Struct("<4s5H3L2H")


def without(jar, dropped, replaced=None):
    """The bytes of a jar without the entries in dropped; replaced holds new contents, stored without compression."""
    data, out, central = Path(jar).read_bytes(), io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        entries = source.infolist()
        start = source.start_dir
    kept = 0
    for entry in entries:
        head = CENTRAL.unpack_from(data, start)
        size = CENTRAL.size + head[10] + head[11] + head[12]
        record, start = bytearray(data[start:start + size]), start + size
        if entry.filename in dropped:
            continue
        offset = out.tell()
        local = LOCAL.unpack_from(data, entry.header_offset)
        body = entry.header_offset + LOCAL.size + local[9] + local[10]
        content = (replaced or {}).get(entry.filename)
        if content is None:
            out.write(data[entry.header_offset:body + entry.compress_size])
            if local[2] & 8:  # sizes follow the content; written anew, they have one form
                out.write(b"PK\7\x08" + struct.pack("<3L", entry.CRC, entry.compress_size, entry.file_size))
        else:
            crc, name = zipfile.crc32(content), data[entry.header_offset + LOCAL.size:][:local[9]]
            out.write(LOCAL.pack(local[0], local[1], local[2] & ~8, 0, *local[4:6], crc, len(content), len(content), len(name), 0) + name + content)
            struct.pack_into("<2H", record, 8, head[3] & ~8, 0)
            struct.pack_into("<3L", record, 16, crc, len(content), len(content))
        struct.pack_into("<L", record, 42, offset)
        central.write(record)
        kept += 1
    offset = out.tell()
    out.write(central.getvalue())
    out.write(END.pack(b"PK\5\6", 0, 0, kept, kept, central.tell(), offset, 0))
    return out.getvalue()


def slim(jar, arch, native):
    """The jar's bytes for arch; libraries that lie outside of it are put into native."""
    with zipfile.ZipFile(jar) as source:
        names = source.namelist()
        if any(re.match(r"META-INF/[^/]+\.(SF|RSA|EC|DSA)$", name) for name in names):
            return Path(jar).read_bytes()
        libraries = [name for name in names if LIBRARY.search(name)]
        ours = [name for name in libraries if OURS[arch].search(name)]
        outside = [name for name in ours if OUTSIDE.search(name)]
        for name in outside:
            target = native / name.rsplit("/", 1)[-1]
            content = source.read(name)
            if target.exists() and target.read_bytes() != content:
                sys.exit(f"two libraries of the name {target.name}: one in {jar}")
            target.write_bytes(content)
    dropped = set(libraries) - (set(ours) - set(outside))
    return without(jar, dropped) if dropped else Path(jar).read_bytes()


def manifest(text, class_path):
    """The manifest with another class path, in lines of at most 72 bytes."""
    text = re.sub(r"\r?\n ", "", text)
    lines = []
    for line in text.splitlines():
        if line.startswith("Class-Path:"):
            line = "Class-Path: " + " ".join(class_path)
        while len(line) > 72:
            lines.append(line[:72])
            line = " " + line[72:]
        lines.append(line)
    return ("\r\n".join(lines) + "\r\n").encode()


def make(arch, build, tree):
    app, tools = build / "gateway/quarkus-app", build / "tools"
    gateway, native = tree / "lib/gateway", tree / "lib/native"
    native.mkdir(parents=True)
    there = {}
    for file in sorted(f for f in app.rglob("*") if f.is_file()):
        target = gateway / file.relative_to(app)
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".jar":
            target.write_bytes(slim(file, arch, native))
            there.setdefault(file.read_bytes(), target)
        else:
            shutil.copyfile(file, target)
    class_path = []
    for file in sorted((tools / "lib").glob("*.jar")):
        target = there.get(file.read_bytes())
        if target is None:
            target = tree / "lib/tools/lib" / file.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(slim(file, arch, native))
            class_path.append(f"lib/{file.name}")
        else:
            class_path.append(f"../gateway/{target.relative_to(gateway)}")
    jar = tools / "warmpath-tools.jar"
    with zipfile.ZipFile(jar) as source:
        text = source.read("META-INF/MANIFEST.MF").decode()
    # The order of the build's class path.
    wanted = re.search(r"^Class-Path: (.*)$", re.sub(r"\r?\n ", "", text), re.M)[1].split()
    by_name = dict(zip((f"lib/{f.name}" for f in sorted((tools / "lib").glob("*.jar"))), class_path))
    if set(wanted) != set(by_name):
        sys.exit(f"{tools}/lib is not the class path of {jar.name}: {sorted(set(wanted) ^ set(by_name))}")
    (tree / "lib/tools").mkdir(exist_ok=True)
    (tree / "lib/tools" / jar.name).write_bytes(without(jar, (), {"META-INF/MANIFEST.MF": manifest(text, [by_name[w] for w in wanted])}))
    # The jars hold the index for the machine that built them; what was compiled for another one lies beside them.
    for file in (build / "adapters/classes").glob("linux-*/libkvindex.so"):
        if OURS[arch].search(file.parent.name) and not (native / file.name).exists():
            shutil.copyfile(file, native / file.name)
    names = sorted(f.name for f in native.iterdir())
    for library in ("libjnidispatch.so", "libkvindex.so", "libtokenizers.so"):
        if library not in names:
            sys.exit(f"no {library} for {arch} in the jars of {build}")


def self_test():
    with tempfile.TemporaryDirectory() as place:
        jar, native = Path(place, "a.jar"), Path(place, "native")
        native.mkdir()
        with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as made:
            for name in ("A.class", "x/linux-x86-64/libjnidispatch.so", "x/win/jnidispatch.dll", "y/linux/amd64/libother.so", "META-INF/MANIFEST.MF"):
                made.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), name * 100)
        Path(place, "b.jar").write_bytes(slim(jar, "x86_64", native))
        with zipfile.ZipFile(Path(place, "b.jar")) as made:
            assert made.namelist() == ["A.class", "y/linux/amd64/libother.so", "META-INF/MANIFEST.MF"], made.namelist()
            assert made.testzip() is None and made.read("A.class") == b"A.class" * 100
        assert [f.name for f in native.iterdir()] == ["libjnidispatch.so"]
        Path(place, "c.jar").write_bytes(without(jar, (), {"META-INF/MANIFEST.MF": b"new"}))
        with zipfile.ZipFile(Path(place, "c.jar")) as made:
            assert made.testzip() is None and made.read("META-INF/MANIFEST.MF") == b"new" and len(made.namelist()) == 5
        text = manifest("A: b\r\nClass-Path: lib/x.jar lib\r\n /y.jar\r\n", ["p" * 80, "q"])
        assert text == b"A: b\r\nClass-Path: " + b"p" * 60 + b"\r\n " + b"p" * 20 + b" q\r\n", text


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) == 4 and sys.argv[1] in OURS:
        make(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        sys.exit(__doc__)

#!/usr/bin/env python3
"""Checks what `dist` made: sums, provenance, lists of parts, and that archives, package and wheel hold the same tree.

  check.py DIST ROOT JAVA_HOME             status 1 when something is wrong
  check.py --control DIST ROOT JAVA_HOME   a changed byte in any of the files is found; so are a part that no list names, and a wrong module
"""
import base64
import csv
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from provenance import sha256  # noqa: E402

EXECUTABLE = ("bin/warmpath", "lib/runtime/bin/java", "lib/runtime/lib/jspawnhelper")


def sums(dist):
    wanted = dict(reversed(line.split("  ", 1)) for line in (dist / "SHA256SUMS").read_text().splitlines())
    there = {f.name for f in dist.iterdir() if f.name != "SHA256SUMS"}
    found = [f"SHA256SUMS names no {name}" for name in sorted(there - wanted.keys())]
    found += [f"{name} is missing" for name in sorted(wanted.keys() - there)]
    return found + [f"{name} is not what SHA256SUMS says" for name in sorted(there & wanted.keys()) if sha256(dist / name) != wanted[name]]


def provenance(dist):
    file = next(iter(dist.glob("*.provenance.json")), None)
    if file is None:
        return ["there is no provenance"]
    statement = json.loads(file.read_text())
    named = {s["name"]: s["digest"]["sha256"] for s in statement["subject"]}
    there = {f.name for f in dist.iterdir() if f.name not in ("SHA256SUMS", file.name)}
    found = [f"the provenance and the folder differ about {name}" for name in sorted(named.keys() ^ there)]
    found += [f"{name} is not what the provenance says" for name in sorted(there & named.keys()) if sha256(dist / name) != named[name]]
    if (statement["_type"], statement["predicateType"]) != ("https://in-toto.io/Statement/v1", "https://slsa.dev/provenance/v1"):
        found.append("the provenance is none of SLSA version 1")
    return found


def tree_of(tar, prefix):
    """Path below the prefix: digest of the content and whether it is executable."""
    files, links, odd = {}, {}, []
    with tar:
        for entry in tar:
            if (entry.uid, entry.gid) != (0, 0) or (entry.mode & 0o6022 and not entry.issym()):
                odd.append(f"{entry.name} is {entry.uid}:{entry.gid} {oct(entry.mode)}")
            name = entry.name[2:] if entry.name.startswith("./") else entry.name
            if entry.isfile() and name.startswith(prefix):
                files[name[len(prefix):]] = (hashlib.sha256(tar.extractfile(entry).read()).hexdigest(), bool(entry.mode & 0o111))
            elif entry.issym() and name.startswith(prefix):
                links[name[len(prefix):]] = os.path.normpath(os.path.join(os.path.dirname(name[len(prefix):]), entry.linkname))
    # A wheel has no links: it holds what they lead to.
    return files | {name: files[target] for name, target in links.items() if target in files}, odd


def piped(*command):
    return tarfile.open(fileobj=io.BytesIO(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout))


def archives(dist, version):
    trees, found = {}, []
    for file in sorted(dist.glob("*.tar.zst")):
        top = f"warmpath-{version}-native/" if "-native-" in file.name else f"warmpath-{version}/"
        trees[file.name], odd = tree_of(piped("zstd", "-dc", str(file)), top)
        found += [f"{file.name}: {line}" for line in odd]
        other = dist / file.name.replace(".tar.zst", ".tar.gz")
        if other.exists() and tree_of(piped("gzip", "-dc", str(other)), top)[0] != trees[file.name]:
            found.append(f"{other.name} holds something else than {file.name}")
    return trees, found


def same_tree(name, files, archive):
    """The tree in a package; its release file says what kind of build it is, so it differs."""
    differing = sorted(f for f in files.keys() | archive.keys() if f != "release" and files.get(f) != archive.get(f))
    return [f"{name} and the archive differ in {', '.join(differing[:5])}{' ...' if len(differing) > 5 else ''}"] if differing else []


def deb(file, archive):
    files, odd = tree_of(piped("dpkg-deb", "--fsys-tarfile", str(file)), "usr/lib/warmpath/")
    return [f"{file.name}: {line}" for line in odd] + same_tree(file.name, files, archive)


def wheel(file, archive):
    files, found, prefix = {}, [], "warmpath_gateway/installed/"
    with zipfile.ZipFile(file) as packed:
        contents = {name: packed.read(name) for name in packed.namelist()}
        modes = {entry.filename: entry.external_attr >> 16 for entry in packed.infolist()}
    record = next(name for name in contents if name.endswith(".dist-info/RECORD"))
    listed = {row[0]: row[1] for row in csv.reader(contents[record].decode().splitlines())}
    for name, content in contents.items():
        digest = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        if name != record and listed.get(name) != digest:
            found.append(f"{file.name}: {name} is not what RECORD says")
        if name.startswith(prefix):
            files[name[len(prefix):]] = (hashlib.sha256(content).hexdigest(), bool(modes[name] & 0o111))
    return found + same_tree(file.name, files, archive)


def unlisted(jars, boms):
    """Jars that no list of parts names."""
    listed = set()
    for bom in boms:
        for part in bom.get("components", []):
            group, name, version = part.get("group", ""), part.get("name"), part.get("version")
            listed |= {f"{group}.{name}-{version}", f"{name}-{version}"}
    return sorted(jar for jar in jars if not any(jar == f"{known}.jar" or jar.startswith(f"{known}-") for known in listed))


def parts(name, content):
    """The lists in a tree against its jars. content: path to bytes, for those that are needed."""
    boms = [json.loads(text) for path, text in content.items() if path.startswith("share/sbom/")]
    jars = [path.rsplit("/", 1)[-1] for path in content if path.endswith(".jar") and "/lib/" in path[4:]]
    return [f"{name}: no list of parts names {jar}" for jar in unlisted(jars, boms)]


def contents_of(file, top):
    wanted, content = re.compile(r"share/sbom/.*\.json|lib/(gateway|tools)/.*\.jar|release|lib/runtime/release"), {}
    with piped("zstd", "-dc", str(file)) as tar:
        for entry in tar:
            path = entry.name[len(top):]
            if entry.isfile() and wanted.fullmatch(path):
                content[path] = tar.extractfile(entry).read()
    return content


def written_modules(root):
    kinds = {"jdeps": set(), "name": set(), "out": set()}
    for line in (root / "src/main/dist/modules.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, kind = line.split()[:2]
            kinds[kind].add(name)
    return kinds


def needed_modules(java, jars):
    """What jdeps finds in all classes, laid into one folder: as modules of their own they would ask for each other."""
    with tempfile.TemporaryDirectory() as place:
        for content in jars:
            with zipfile.ZipFile(io.BytesIO(content)) as jar:
                for entry in jar.namelist():
                    found = re.fullmatch(r"(?:META-INF/versions/(\d+)/)?(?!META-INF/)(.*\.class)", entry)
                    if found and not entry.endswith("module-info.class") and int(found[1] or 0) <= 25:
                        target = Path(place, found[2])
                        target.parent.mkdir(parents=True, exist_ok=True)
                        target.write_bytes(jar.read(entry))
        summary = subprocess.run([f"{java}/bin/jdeps", "--list-deps", "--ignore-missing-deps", place], capture_output=True, text=True, check=True).stdout
    # Such as java.base/jdk.internal.misc where a package is the JDK's own.
    return {line.strip().split("/")[0] for line in summary.splitlines()} - {"JDK removed internal API"}


def modules(kinds, needed, shipped):
    found = [f"classes need module {m}, which modules.txt does not know" for m in sorted(needed - kinds["jdeps"] - kinds["out"])]
    found += [f"no class needs module {m}, which modules.txt calls needed" for m in sorted((kinds["jdeps"] | kinds["out"]) - needed)]
    # java.naming requires it, no class here does.
    return found + [f"the runtime has not the modules of modules.txt: {m}" for m in sorted((kinds["jdeps"] | kinds["name"]) ^ (shipped - {"java.security.sasl"}))]


def check(dist, root, java):
    version = re.search(r"<version>(.*?)</version>", (root / "pom.xml").read_text())[1]
    found = sums(dist) + provenance(dist)
    if found:
        return found
    trees, odd = archives(dist, version)
    found += odd
    main = f"warmpath-{version}-linux-x86_64.tar.zst"
    if main not in trees:
        return found + [f"there is no {main}"]
    found += [f"{name}: {path} is not executable" for name, tree in trees.items() if "-native-" not in name for path in EXECUTABLE if not tree.get(path, ("", False))[1]]
    for file in dist.glob("*.deb"):
        found += deb(file, trees[main])
    for file in dist.glob("*.whl"):
        found += wheel(file, trees[main])
    kinds, needed = written_modules(root), None
    for name in trees:
        if "-native-" in name:
            continue
        content = contents_of(dist / name, f"warmpath-{version}/")
        found += parts(name, content)
        if needed is None:
            needed = needed_modules(java, [c for path, c in content.items() if path.endswith(".jar")])
        shipped = set(re.search(r'MODULES="(.*)"', content["lib/runtime/release"].decode())[1].split())
        found += [f"{name}: {line}" for line in modules(kinds, needed, shipped)]
        commit = re.search(r"^commit=(.*)$", content["release"].decode(), re.M)[1]
        statement = json.loads(next(iter(dist.glob("*.provenance.json"))).read_text())
        if statement["predicate"]["buildDefinition"]["externalParameters"]["commit"] != commit:
            found.append(f"{name} is of commit {commit}, the provenance tells another")
    return found


def control(dist, root, java):
    """Each file with one changed byte; then with sums that were written anew for it."""
    missed = []
    for file in sorted(f for f in dist.iterdir() if f.name != "SHA256SUMS"):
        with tempfile.TemporaryDirectory() as place:
            copy = Path(place)
            for other in dist.iterdir():
                os.symlink(other.resolve(), copy / other.name)
            content = bytearray(file.read_bytes())
            content[len(content) // 2] ^= 1
            (copy / file.name).unlink()
            (copy / file.name).write_bytes(content)
            if not any(file.name in line for line in sums(copy)):
                missed.append(f"a changed byte of {file.name} by its sum")
            if not file.name.endswith(".provenance.json") and not any(file.name in line for line in provenance(copy)):
                missed.append(f"a changed byte of {file.name} by the provenance")
    with tempfile.TemporaryDirectory() as place:
        for other in dist.iterdir():
            os.symlink(other.resolve(), Path(place, other.name))
        Path(place, "more.txt").write_text("more")
        if len(sums(Path(place))) != 1 or len(provenance(Path(place))) != 1:
            missed.append("a file that nothing names")
    if unlisted(["g.a-1.jar", "b-2.jar", "c-3.jar"], [{"components": [{"group": "g", "name": "a", "version": "1"}, {"name": "b", "version": "2"}]}]) != ["c-3.jar"]:
        missed.append("a jar that no list names")
    kinds = written_modules(root)
    needed, shipped = kinds["jdeps"] | kinds["out"], kinds["jdeps"] | kinds["name"]
    if modules(kinds, needed, shipped) or len(modules(kinds, needed | {"java.prefs"}, shipped)) != 1 or len(modules(kinds, needed, shipped - {"java.sql"})) != 1:
        missed.append("a module too many or too few")
    changed = {"a": ("1", False), "release": ("x", False)}
    if same_tree("x", changed, {"a": ("1", False), "release": ("y", False)}) or not same_tree("x", changed, {"a": ("2", False)}) or not same_tree("x", changed, {"a": ("1", True)}):
        missed.append("a changed file in a package")
    return [f"check.py does not find {what}" for what in missed]


def main():
    arguments = sys.argv[1:]
    run = check
    if arguments[:1] == ["--control"]:
        run, arguments = control, arguments[1:]
    if len(arguments) != 3:
        sys.exit(__doc__)
    dist, root, java = Path(arguments[0]), Path(arguments[1]), arguments[2]
    if not (dist / "SHA256SUMS").is_file():
        sys.exit(f"there is no {dist}/SHA256SUMS: ./warmpath dist makes it")
    found = run(dist, root, java)
    print("\n".join(found) if found else f"{len(list(dist.iterdir()))} files in {dist}: " + ("all as they should be" if run is check else "every planted fault is found"))
    sys.exit(1 if found else 0)


main()

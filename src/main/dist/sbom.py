#!/usr/bin/env python3
"""Puts lists of what it is made of (CycloneDX) into a tree, one of its Java runtime and one of its tools.

  sbom.py EPOCH TREE LIST...   the lists go to TREE/share/sbom, with the time of the commit and without numbers drawn anew each time
"""
import datetime
import hashlib
import json
import sys
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from jars import OUTSIDE  # noqa: E402

GCC = "GPL-3.0-or-later WITH GCC-exception-3.1"
# What the runtime and the native libraries may be linked with (dist_libraries in dist.sh).
LINKED = {"libgcc_s.so.1": GCC, "libstdc++.so.6": GCC, "libz.so.1": "Zlib"}


def settled(bom, epoch):
    bom.pop("serialNumber", None)
    metadata = bom.setdefault("metadata", {})
    metadata["timestamp"] = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return bom


def runtime(tree):
    """The Java runtime, from its own release file: version and modules, each file of code with its digest."""
    home = tree / "lib/runtime"
    release = dict(line.split("=", 1) for line in (home / "release").read_text().splitlines())
    version, modules = release["JAVA_VERSION"].strip('"'), release["MODULES"].strip('"').split()
    licence = [{"expression": "GPL-2.0-only WITH Classpath-exception-2.0"}]
    files = [(f, licence) for f in sorted(home.rglob("*")) if f.is_file() and (f.suffix == ".so" or f.name == "modules")]
    for library in sorted((tree / "lib/native").iterdir()):
        if OUTSIDE.fullmatch(library.name):
            continue  # of a jar, which is listed
        if library.name not in LINKED:
            sys.exit(f"{library.name}: write its licence into {__file__}")
        files.append((library, [{"expression": LINKED[library.name]}]))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "platform", "bom-ref": "runtime", "name": "Java runtime of Warmpath", "description": "OpenJDK, linked of the modules that are needed, and the libraries that it and the native ones are linked with"}},
        "components": [{"type": "platform", "bom-ref": "openjdk", "name": "openjdk", "version": version, "licenses": licence,
                        "properties": [{"name": "warmpath:module", "value": m} for m in modules]}]
        + [{"type": "file", "bom-ref": str(f.relative_to(tree)), "name": str(f.relative_to(tree)), "licenses": terms,
            "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(f.read_bytes()).hexdigest()}]} for f, terms in files],
        "dependencies": [{"ref": "runtime", "dependsOn": ["openjdk"]}],
    }


# Of jars that only the tools have: Maven's list is of the gateway.
TOOLS = {"org.zeromq:jeromq": "MPL-2.0", "eu.neilalexander:jnacl": "BSD-2-Clause", "org.apache.maven:maven-artifact": "Apache-2.0"}


def tools(tree):
    parts = []
    for jar in sorted((tree / "lib/tools/lib").glob("*.jar")):
        with zipfile.ZipFile(jar) as packed:
            names = [n for n in packed.namelist() if n.startswith("META-INF/maven/") and n.endswith("/pom.properties")]
            values = dict(line.split("=", 1) for line in packed.read(names[0]).decode().splitlines() if "=" in line)
        key = f"{values['groupId']}:{values['artifactId']}"
        if len(names) != 1 or key not in TOOLS:
            sys.exit(f"{jar.name}: write the licence of {key} into {__file__}")
        parts.append({"type": "library", "bom-ref": key, "group": values["groupId"], "name": values["artifactId"], "version": values["version"],
                      "purl": f"pkg:maven/{values['groupId']}/{values['artifactId']}@{values['version']}?type=jar",
                      "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(jar.read_bytes()).hexdigest()}], "licenses": [{"license": {"id": TOOLS[key]}}]})
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": "tools", "name": "warmpath-tools", "description": "What the tools have beside the gateway's jars"}},
        "components": parts,
        "dependencies": [{"ref": "tools", "dependsOn": [part["bom-ref"] for part in parts]}],
    }


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    epoch, tree = int(sys.argv[1]), Path(sys.argv[2])
    boms = {Path(name).name: json.loads(Path(name).read_text()) for name in sys.argv[3:]}
    boms |= {"runtime.cdx.json": runtime(tree), "tools.cdx.json": tools(tree)}
    for name, bom in boms.items():
        (tree / "share/sbom" / name).write_text(json.dumps(settled(bom, epoch), indent=2, sort_keys=True, ensure_ascii=False) + "\n")


main()

#!/usr/bin/env python3
"""Writes how the files of a folder were made: an in-toto statement with SLSA's provenance, version 1.

  provenance.py DIST ROOT COMMIT EPOCH JAVA_HOME JDK_AARCH64

Unsigned: it says what the launcher did and from what, and is worth what its reader's trust in the machine that ran it is worth.
"""
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

SIDE = re.compile(r"SHA256SUMS|.*\.provenance\.json")


def sha256(file):
    digest = hashlib.sha256()
    with open(file, "rb") as content:
        for block in iter(lambda: content.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def subjects(dist):
    return [{"name": f.name, "digest": {"sha256": sha256(f)}} for f in sorted(dist.iterdir()) if f.is_file() and not SIDE.fullmatch(f.name)]


def first_line(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return None


def jdk(home):
    release = dict(line.split("=", 1) for line in Path(home, "release").read_text().splitlines() if "=" in line)
    name = release.get("IMPLEMENTOR", '"unknown"').strip('"')
    found = {"name": f"JDK for {release.get('OS_ARCH', '').strip(chr(34))}", "annotations": {"implementor": name, "version": release.get("JAVA_RUNTIME_VERSION", release["JAVA_VERSION"]).strip('"')}}
    for code in (Path(home, "lib/modules"), Path(home, "jmods/java.base.jmod")):
        if code.is_file():
            found["digest"] = {"sha256": sha256(code)}
            found["annotations"]["digest-of"] = str(code.relative_to(home))
            break
    return found


def materials(root, commit, homes):
    source = {"name": "source"}
    if re.fullmatch(r"[0-9a-f]{40}", commit):
        source["digest"] = {"gitCommit": commit}
    else:
        source["annotations"] = {"commit": commit}  # files differed from a commit, or there was none
    found = [source] + [jdk(home) for home in homes]
    build = root / "target"
    own = re.compile(r"(io\.)?warmpath[.-].*|quarkus-run|generated-bytecode|transformed-bytecode")
    jars = {}
    for jar in sorted([*build.glob("gateway/quarkus-app/lib/*/*.jar"), *build.glob("tools/lib/*.jar")]):
        if not own.match(jar.name):
            jars.setdefault(sha256(jar), jar.name)
    return found + [{"name": name, "digest": {"sha256": digest}} for digest, name in sorted(jars.items(), key=lambda item: item[1])]


def main():
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    dist, root, commit, epoch, java, other = Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:7]
    version = re.search(r"<version>(.*?)</version>", (root / "pom.xml").read_text())[1]
    tools = {"gcc": first_line("c++", "--version"), "tar": first_line("tar", "--version"), "zstd": first_line("zstd", "--version"), "dpkg-deb": first_line("dpkg-deb", "--version"),
             "python": "Python " + sys.version.split()[0]}
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": subjects(dist),
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:warmpath:dist:1",
                "externalParameters": {"command": "./warmpath dist" + (" --jdk-aarch64 DIR" if other else ""), "commit": commit},
                "internalParameters": {"SOURCE_DATE_EPOCH": int(epoch), "tools": {name: line for name, line in tools.items() if line}},
                "resolvedDependencies": materials(root, commit, [java] + ([other] if other else [])),
            },
            # By hand or in somebody's CI: nobody vouches for the machine, so nothing is claimed about it.
            "runDetails": {"builder": {"id": "urn:warmpath:launcher"}},
        },
    }
    (dist / f"warmpath-{version}.provenance.json").write_text(json.dumps(statement, indent=2) + "\n")


if __name__ == "__main__":
    main()

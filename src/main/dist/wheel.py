#!/usr/bin/env python3
"""Packs a folder as a Python wheel with the console command `warmpath`.

  wheel.py VERSION PLATFORM EPOCH FOLDER OUT   FOLDER holds the package warmpath_gateway with the installed tree in it
"""
import base64
import hashlib
import sys
import time
import zipfile
from pathlib import Path

CODE = '''"""Warmpath, a KV-cache-aware gateway for fleets of LLM engines, as a program: `warmpath` starts what lies in `installed`."""
import os
import sys
from pathlib import Path

__version__ = "{version}"


def main():
    program = str(Path(__file__).resolve().parent / "installed" / "bin" / "warmpath")
    os.execv(program, ["warmpath", *sys.argv[1:]])
'''
METADATA = """Metadata-Version: 2.1
Name: warmpath-gateway
Version: {version}
Summary: KV-cache-aware gateway for fleets of LLM engines
License: Apache-2.0
Requires-Python: >=3.8
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Description-Content-Type: text/markdown

"""
WHEEL = """Wheel-Version: 1.0
Generator: warmpath-dist
Root-Is-Purelib: false
Tag: py3-none-{platform}
"""


def main():
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    version, platform, epoch, folder, out = sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]), Path(sys.argv[5])
    info = f"warmpath_gateway-{version}.dist-info"
    tree = folder / "warmpath_gateway/installed"
    files = {str(f.relative_to(folder)): (f.read_bytes(), f.stat().st_mode & 0o111) for f in folder.rglob("*") if f.is_file()}
    readme = (tree / "share/doc/warmpath/README.md").read_bytes()
    for name, text in {
        "warmpath_gateway/__init__.py": CODE.format(version=version).encode(),
        "warmpath_gateway/__main__.py": b"from warmpath_gateway import main\n\nmain()\n",
        f"{info}/METADATA": METADATA.format(version=version).encode() + readme,
        f"{info}/WHEEL": WHEEL.format(platform=platform).encode(),
        f"{info}/entry_points.txt": b"[console_scripts]\nwarmpath = warmpath_gateway:main\n",
        f"{info}/licenses/LICENSE": (tree / "share/doc/warmpath/LICENSE").read_bytes(),
    }.items():
        files[name] = (text, 0)
    record = ""
    for name, (content, _) in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(content)}\n"
    files[f"{info}/RECORD"] = ((record + f"{info}/RECORD,,\n").encode(), 0)
    # The dist-info comes last, as the format recommends.
    order = sorted(files, key=lambda name: (name.startswith(info), name))
    with zipfile.ZipFile(out / f"warmpath_gateway-{version}-py3-none-{platform}.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name in order:
            content, executable = files[name]
            entry = zipfile.ZipInfo(name, time.gmtime(epoch)[:6])
            entry.create_system = 3  # Unix: whoever unpacks takes the rights from the entry
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(entry, content)


main()

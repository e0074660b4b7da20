#!/bin/sh
# venv.sh [FOLDER]: the virtual environment of the tests in src/test/FOLDER (e2e, whose packages most tests need): made when it is
# not there, or when requirements.txt has changed. Says its directory.
set -eu
what=${1:-e2e}
here=$(CDPATH='' cd -- "$(dirname -- "$0")/../$what" && pwd)
venv=$(CDPATH='' cd -- "$here/../../.." && pwd)/target/$what/venv

if ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
    echo "$what: installing $(cat "$here/requirements.txt") into $venv" >&2
    rm -rf "$venv"
    python3 -m venv "$venv" || {
        echo "$what: python3 cannot make a virtual environment; on Debian: apt-get install python3-venv" >&2
        exit 1
    }
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt" >&2
    cp "$here/requirements.txt" "$venv/requirements.txt"
fi
echo "$venv"

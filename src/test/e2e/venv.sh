#!/bin/sh
# The virtual environment of every test that runs Python with packages: made when it is not there, or when
# requirements.txt has changed. Says its directory.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
venv=$(CDPATH='' cd -- "$here/../../.." && pwd)/target/e2e/venv

if ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
    echo "e2e: installing $(cat "$here/requirements.txt") into $venv" >&2
    rm -rf "$venv"
    python3 -m venv "$venv" || {
        echo 'e2e: python3 cannot make a virtual environment; on Debian: apt-get install python3-venv' >&2
        exit 1
    }
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt" >&2
    cp "$here/requirements.txt" "$venv/requirements.txt"
fi
echo "$venv"

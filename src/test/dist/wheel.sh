#!/bin/sh
# The wheel in a virtual environment: installed without an index, started by its console command, asked, ended, uninstalled.
#
#   wheel.sh DIST WORK
set -eu
[ $# -eq 2 ] || { echo "usage: wheel.sh DIST WORK" >&2; exit 2; }
venv=$2/venv
port=23810
log=$2/wheel.log
fail() {
    echo "wheel.sh: $*" >&2
    cat "$log" >&2
    exit 1
}
mkdir -p "$2"
rm -rf "$venv" "$2/cache"
python3 -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-index "$1"/warmpath_gateway-*.whl
"$venv/bin/warmpath" --version | grep -x 'warmpath .*, Python wheel)' || fail "no version"
XDG_CACHE_HOME=$2/cache "$venv/bin/warmpath" serve --http-host 127.0.0.1 --http-port $port --worker http://127.0.0.1:9 >"$log" 2>&1 &
gateway=$!
trap 'kill -KILL $gateway 2>/dev/null || :' EXIT
looks=0
until grep -q 'listens on' "$log"; do
    kill -0 $gateway 2>/dev/null || fail "serve has ended"
    looks=$((looks + 1))
    [ $looks -lt 3000 ] || fail "it does not listen"
    sleep 0.1
done
# No engine: down, and told with exit code 2.
status=0
"$venv/bin/warmpath" status --url http://127.0.0.1:$port >/dev/null || status=$?
[ $status = 2 ] || fail "status without an engine: $status"
[ -f "$2/cache/warmpath/warmpath.aot" ] || fail "no AOT cache in the user's cache folder"
kill $gateway
status=0
wait $gateway || status=$?
[ $status = 0 ] || [ $status = 143 ] || fail "serve ended with $status"
trap - EXIT
"$venv/bin/pip" uninstall --quiet --disable-pip-version-check --yes warmpath-gateway
left=$(find "$venv" -path '*warmpath*' ! -path "$venv" | head -n 5)
[ -z "$left" ] || fail "uninstalled, and left: $left"
echo "wheel: installed, served, ended with $status, uninstalled without a rest"

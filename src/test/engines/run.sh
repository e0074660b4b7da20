#!/bin/sh
# Real engines behind the gateway, through the real openai client.
#
#   src/test/engines/run.sh smoke              what every change must pass: one SGLang, one vLLM, default flags
#   src/test/engines/run.sh split              one that prefills, one more, one that decodes, one for whole requests: four SGLangs
#   src/test/engines/run.sh handoff nixl|mooncake   the same with two vLLMs and that connector
#   src/test/engines/run.sh table [CASE...]    all cases; table --list names them
#   src/test/engines/run.sh live modes|start   hit rates and first tokens beside other gateways (src/perf/live.md)
#   src/test/engines/run.sh live exact         the same where a guess of what engines have goes wrong
#
# Status 77: there are no engines here, or no memory for them; it says so. Logs: target/engines.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
what=${1:?smoke, split, handoff, table or live}
shift
case $what in
    live) sh "$here/install.sh" smg ;;
    handoff) sh "$here/install.sh" "${1-}" ;;
    *) sh "$here/install.sh" ;;
esac
venv=$(sh "$here/../e2e/venv.sh")
lacks=$(cd "$here" && "$venv/bin/python" -B -c 'import fleet; print(fleet.room(2))')
if [ -n "$lacks" ]; then
    echo "engines: NO ROOM FOR REAL ENGINES: $lacks" >&2
    exit 77
fi
exec "$venv/bin/python" -B "$here/$what.py" "$@"

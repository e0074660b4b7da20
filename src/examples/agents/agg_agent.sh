#!/bin/sh
# One SGLang server for agents, and the gateway before it.
#
#   sh src/examples/agents/agg_agent.sh [--pins] [--model-path MODEL] [SGLang's flags]
#
# Without --pins: sessions that agents open for their sub-agents (nvext.session_control), kept outside of the radix tree.
# With --pins:    prefixes that agents ask to keep (nvext.cache_control), in GPU or host memory.
#
# DYN_HTTP_PORT   port of the gateway (8000)
# ENGINE_PORT     port of the engine, its metrics too (30000); KV events are on 1000 above, their replay on 2000 above
# TOKENIZER       the model's tokenizer.json, where it does not lie in MODEL
# SGLANG          command that starts SGLang (python -m sglang.launch_server)
# WARMPATH        the gateway's launcher
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/../../.." && pwd)
port=${DYN_HTTP_PORT:-8000}
engine_port=${ENGINE_PORT:-30000}
sglang=${SGLANG:-python -m sglang.launch_server}
warmpath=${WARMPATH:-$root/warmpath}
model=zai-org/GLM-4.7-Flash
pins=''
started=''

[ "$#" -gt 0 ] || set -- --tp 2 --tool-call-parser glm47 --reasoning-parser glm45
left=$#
while [ "$left" -gt 0 ]; do
    case $1 in
        --pins) pins=yes ;;
        --model-path)
            [ "$left" -gt 1 ] || { echo "agg_agent.sh: --model-path needs a value" >&2; exit 2; }
            model=$2
            shift
            left=$((left - 1))
            ;;
        *) set -- "$@" "$1" ;;
    esac
    shift
    left=$((left - 1))
done

stop() {
    for pid in $started; do kill "$pid" 2>/dev/null || :; done
    for pid in $started; do wait "$pid" 2>/dev/null || :; done
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [ -n "$pins" ]; then
    # Builds with a pin call take at most this share; all others keep what has a priority.
    export SGLANG_HICACHE_MAX_PINNED_RATIO="${SGLANG_HICACHE_MAX_PINNED_RATIO:-0.1}"
    set -- --enable-hierarchical-cache --hicache-ratio 2.0 --hicache-write-policy write_through \
        --enable-priority-scheduling --radix-eviction-policy priority "$@"
else
    set -- --enable-streaming-session "$@"
fi
events="{\"publisher\":\"zmq\",\"endpoint\":\"tcp://*:$((engine_port + 1000))\",\"replay_endpoint\":\"tcp://*:$((engine_port + 2000))\",\"topic\":\"kv\"}"
# shellcheck disable=SC2086 # a command with its arguments
$sglang --model-path "$model" --port "$engine_port" --enable-cache-report --enable-metrics --kv-events-config "$events" "$@" &
started=$!

set -- --router-mode kv --http-port "$port" --worker "http://127.0.0.1:$engine_port"
[ -z "$pins" ] || set -- "$@" --enable-cache-control
if [ -n "${TOKENIZER:-}" ]; then
    set -- "$@" --tokenizer "$model=$TOKENIZER"
elif [ -f "$model/tokenizer.json" ]; then
    set -- "$@" --tokenizer "$model=$model/tokenizer.json"
fi
"$warmpath" serve "$@" &
gateway=$!
started="$gateway $started"
wait "$gateway"

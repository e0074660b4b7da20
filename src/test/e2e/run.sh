#!/bin/sh
# End to end: simulated engines and the gateway, from the built jars, driven by the real clients of OpenAI and Anthropic.
# Once per wire format of the engines; stops everything it started; the exit code tells.
#
#   src/test/e2e/run.sh [--only NAME]     NAME: part of a check's name
#
# E2E_WIRES   wire formats to run with   (vllm-map sglang-map sglang-split: one engine prefills, the others decode)
# E2E_ENGINES number of engines          (3)
# E2E_SOAK_SECONDS steady load with the first wire format, then no open booking and flat memory (30; 0: none)
# E2E_GATEWAY command of the gateway, such as a native executable with its options, instead of java with the jar; in words
# JAVA        the java command           ($JAVA_HOME/bin/java, java)
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../../.." && pwd)
jar=$root/target/gateway/quarkus-app/quarkus-run.jar
tools_jar=$root/target/tools/warmpath-tools.jar
venv=$root/target/e2e/venv
logs=$root/target/e2e/logs
engines=${E2E_ENGINES:-3}
soak=${E2E_SOAK_SECONDS:-30}
java=${JAVA:-${JAVA_HOME:+$JAVA_HOME/bin/}java}
started=''

# Local traffic only, whatever proxy the environment names.
export NO_PROXY='127.0.0.1,localhost' no_proxy='127.0.0.1,localhost'

say() { printf 'e2e: %s\n' "$*"; }
fail() { say "$*" >&2; exit 1; }

stop_all() {
    for pid in $started; do kill "$pid" 2>/dev/null || :; done
    for pid in $started; do wait "$pid" 2>/dev/null || :; done
    started=''
}
trap stop_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

[ -f "$jar" ] || fail "$jar is missing; run ./warmpath build"
command -v "$java" >/dev/null || fail "no java command; set JAVA_HOME"

sh "$here/venv.sh" >/dev/null || fail 'the Python clients could not be installed, see above'
mkdir -p "$logs"

# A young generation of this size has been gone round when the steady load begins to look at memory; the first round
# through a larger one would look like growth, and a smaller one would promote what is only running.
heap='-Xmx512m -Xmn64m'
run_java="$java $heap -XX:+UseSerialGC --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow -jar"
gateway=${E2E_GATEWAY:-$run_java $jar}

start() { # NAME COMMAND...: starts it in the background, its pid in $pid
    log=$logs/$1.log
    shift
    "$@" >"$log" 2>&1 &
    pid=$!
    started="$started $pid"
}

# Free ports in a row. Another program may take one before we do; then its owner's log says so.
free_ports() {
    python3 - "$1" <<'PY'
import random, socket, sys
count = int(sys.argv[1])
for _ in range(100):
    base = random.randrange(20000, 32000)
    sockets = []
    try:
        for port in range(base, base + count):
            s = socket.socket()
            sockets.append(s)
            s.bind(("127.0.0.1", port))
    except OSError:
        continue
    finally:
        for s in sockets:
            s.close()
    print(base)
    break
else:
    sys.exit("no free ports")
PY
}

wait_for() { # WHAT URL PID LOG
    "$venv/bin/python" - "$2" "$3" <<'PY' || { tail -n 40 "$4" >&2; fail "$1 did not come up; its log is $4"; }
import os, sys, time, urllib.error, urllib.request
url, pid = sys.argv[1], int(sys.argv[2])
end = time.monotonic() + 60
while time.monotonic() < end:
    try:
        os.kill(pid, 0)
        urllib.request.urlopen(url, timeout=2).read()
        sys.exit(0)
    except ProcessLookupError:
        sys.exit("it has ended")
    except (urllib.error.URLError, OSError):
        time.sleep(0.05)
sys.exit(url + " does not answer with 200")
PY
}

say 'the publisher for engines, in Python and in C, against libzmq'
PYTHONPATH="$root/src/clients/publisher" "$venv/bin/python" -B -m unittest discover -s "$root/src/clients/publisher/tests" ||
    fail 'the publisher does not do what it says'
"$venv/bin/python" "$here/soak.py" --self-test || fail 'the checks of the soak test do not hold'
status=0

sim() { # NAME FIRST-PORT COUNT FLAGS...: simulated engines of one process; adds to $workers, and to $urls
    sim_name=$1
    sim_port=$2
    sim_end=$(($2 + $3))
    sim_count=$3
    shift 3
    # shellcheck disable=SC2086 # words on purpose
    start "$sim_name" $run_java "$tools_jar" sim --port "$sim_port" --count "$sim_count" --model demo --answer-tokens 64 "$@"
    urls=''
    while [ "$sim_port" -lt "$sim_end" ]; do
        wait_for "engine $sim_port" "http://127.0.0.1:$sim_port/health" "$pid" "$logs/$sim_name.log"
        workers="$workers --worker http://127.0.0.1:$sim_port"
        urls="$urls --engine http://127.0.0.1:$sim_port"
        sim_port=$((sim_port + 1))
    done
}

judge() { # WHAT COMMAND...: its failure is told with the gateway's last lines, and is that of the whole run
    what=$1
    shift
    judged=0
    "$@" && return 0
    judged=1
    status=1
    say "$what failed with $wire; the gateway's last lines ($logs/$wire-gateway.log):"
    tail -n 40 "$logs/$wire-gateway.log"
}

for wire in ${E2E_WIRES:-vllm-map sglang-map sglang-split}; do
    base=$(free_ports $((engines + 4)))
    first=$((base + 1))
    workers=''
    say "engines ($wire) from port $first, gateway on port $base"
    case $wire in
        # One prefills, one port more is where it is met; the others decode. What follows sees those.
        sglang-split)
            sim "$wire-prefill" "$first" 1 --disaggregation-mode prefill --disaggregation-bootstrap-port $((first + engines))
            sim "$wire-decode" $((first + 1)) $((engines - 1)) --disaggregation-mode decode
            ;;
        sglang-*) sim "$wire-engines" "$first" "$engines" --wire "$wire" --enable-session-radix-cache --enable-priority-scheduling \
            --schedule-low-priority-values-first --host-blocks 4096 --hicache-max-pinned-ratio 0.5 ;;
        *) sim "$wire-engines" "$first" "$engines" --wire "$wire" ;;
    esac
    # Requests that keep pins alive would be among those that the checks count.
    export WARMPATH_SESSION_PINS_KEEP_ALIVE_CONCURRENCY=0
    # So short that checks see what becomes of silence and of clients that take their time.
    export WARMPATH_HTTP_SSE_KEEP_ALIVE=500ms WARMPATH_HTTP_CLIENTS_HEAD_TIMEOUT=2s
    # shellcheck disable=SC2086 # words on purpose
    start "$wire-gateway" $gateway serve --http-host 127.0.0.1 --http-port "$base" $workers \
        --tokenizer "$root/src/tokens/main/resources/demo-model/tokenizer.json" --router-session-affinity-ttl-secs 300 \
        --enable-cache-control
    gateway_pid=$pid
    url=http://127.0.0.1:$base
    wait_for 'the gateway' "$url/ready" "$gateway_pid" "$logs/$wire-gateway.log"

    # Last of those that talk to engines: its last check kills one.
    # shellcheck disable=SC2086 # words on purpose
    if [ "$wire" = sglang-split ]; then
        judge "OpenAI's client" "$venv/bin/python" "$here/openai_client.py" --gateway "$url" $urls "$@"
    else
        judge "the terminal's commands" "$venv/bin/python" -B "$here/terminal_client.py" --gateway "$url" -- \
            "$java" -XX:TieredStopAtLevel=1 -jar "$tools_jar"
        judge "Anthropic's client" "$venv/bin/python" -B "$here/anthropic_client.py" --gateway "$url" $urls "$@"
        judge "agents' requests" "$venv/bin/python" -B "$here/agents_client.py" --gateway "$url" $urls "$@"
        judge "OpenAI's client" "$venv/bin/python" "$here/openai_client.py" --gateway "$url" $urls "$@"
        judge "the router's client" env PYTHONPATH="$root/src/clients/python" "$venv/bin/python" -B "$here/router_client.py" \
            --gateway "$url" --examples "$root/src/clients/python/examples"
    fi
    if [ "$soak" -gt 0 ]; then
        say "$soak s of 200 requests/s"
        judge 'the steady load' "$venv/bin/python" "$here/soak.py" --gateway "$url" --pid "$gateway_pid" --seconds "$soak"
        soak=0
    fi
    judge 'the stop' "$venv/bin/python" "$here/graceful_stop.py" --gateway "$url" --pid "$gateway_pid"
    [ "$judged" -eq 0 ] || kill "$gateway_pid" 2>/dev/null || :
    ended=0
    wait "$gateway_pid" || ended=$?
    # 143: ended by our signal, after its own shutdown
    if [ "$ended" -ne 0 ] && [ "$ended" -ne 143 ]; then
        status=1
        say "the gateway ended with status $ended after SIGTERM"
        tail -n 40 "$logs/$wire-gateway.log"
    fi
    stop_all
done
say 'a start: ready, first answer, first requests'
# shellcheck disable=SC2086 # words on purpose
if ! "$venv/bin/python" "$root/src/perf/start.py" --port "$(free_ports 1)" --requests 30 --idle 1 --max-idle 400 \
    --log "$logs/start.log" -- $gateway serve; then
    status=1
    tail -n 40 "$logs/start.log"
fi
[ "$status" -eq 0 ] && say 'all checks hold'
exit "$status"

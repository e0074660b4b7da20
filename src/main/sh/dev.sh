# dev: the gateway in Quarkus' dev mode before simulated engines. Sourced by ./warmpath.
# shellcheck shell=sh

dev_started=

# process_tree PID: PID and all that it started.
process_tree() {
    echo "$1"
    for child in $(pgrep -P "$1"); do process_tree "$child"; done
}

# Ends what run_dev started, and what that started: Maven starts the gateway's JVM.
stop_dev() {
    members=$(for started in $dev_started; do process_tree "$started"; done)
    dev_started=
    for member in $members; do kill "$member" 2>/dev/null || :; done
    looks=0
    while [ "$looks" -lt 20 ]; do
        looks=$((looks + 1))
        left=
        for member in $members; do
            # A process that has ended stays in the table as a zombie until its parent asks for its status.
            case $(ps -o stat= -p "$member" 2>/dev/null) in '' | Z*) ;; *) left="$left $member" ;; esac
        done
        [ -n "$left" ] || return 0
        sleep 0.5
    done
    say "these did not end within 10 s and are killed:$left"
    for member in $left; do kill -KILL "$member" 2>/dev/null || :; done
}

# Sets dev_workers to the engines' flags for the gateway. Their ports are free ones.
start_engines() {
    engines_log=$target/dev-engines.log
    : >"$engines_log"
    "$JAVA_HOME/bin/java" -Xmx256m --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow \
        -jar "$tools_jar" sim --port 0 --count "$1" >"$engines_log" 2>&1 </dev/null &
    engines_process=$!
    dev_started=$engines_process
    until [ "$(grep -c '^http://' "$engines_log")" -ge "$1" ]; do
        kill -0 "$engines_process" 2>/dev/null || die 1 "the simulated engines have ended: $(tail -n 5 "$engines_log")"
        sleep 0.1
    done
    dev_workers=$(sed -n 's/^\(http:[^ ]*\) .*/--worker \1/p' "$engines_log" | tr '\n' ' ')
}

quarkus_version() { sed -n 's/.*<quarkus.version>\(.*\)<\/quarkus.version>.*/\1/p' "$root/pom.xml"; }

run_dev() {
    dev_port=8000
    dev_engines=3
    while [ $# -gt 0 ]; do
        case $1 in
            --port) dev_port=${2-} ;;
            --engines) dev_engines=${2-} ;;
            --) break ;;
            *) die 2 "dev does not know '$1'; flags of serve come after --. ./warmpath help dev explains it" ;;
        esac
        [ $# -ge 2 ] || die 2 "$1 needs a value"
        shift 2
    done
    [ $# -eq 0 ] || shift
    case $dev_port in '' | *[!0-9]*) die 2 "--port is a number, not '$dev_port'" ;; esac
    case $dev_engines in '' | 0* | *[!0-9]*) die 2 "--engines is a number from 1 on, not '$dev_engines'" ;; esac
    build_gateway
    need_toolchain
    trap stop_dev EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    start_engines "$dev_engines"
    say "$dev_engines simulated engines run (log: target/dev-engines.log); the gateway follows. When it listens, ask it:"
    say "  curl --retry 3 http://127.0.0.1:$dev_port/v1/chat/completions -H 'content-type: application/json' \\"
    say "    -d '{\"model\": \"demo\", \"max_tokens\": 8, \"messages\": [{\"role\": \"user\", \"content\": \"hello\"}]}'"
    say "A Java file that you change in core, tokens, adapters or gateway is compiled before the next request. Ctrl-C ends everything."
    # In the background, or no signal would be seen before Maven's end; it keeps the terminal as its input.
    # shellcheck disable=SC2086 # options are words
    (cd "$root" && exec "$MAVEN" $maven_opts -pl src/gateway -am -DskipNative=true -Dmaven.test.skip=true -Ddebug=false \
        "-Djvm.args=--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow" \
        "-Dquarkus.args=serve --http-host 127.0.0.1 --http-port $dev_port $dev_workers$*" \
        compile "io.quarkus.platform:quarkus-maven-plugin:$(quarkus_version):dev") <&0 &
    dev_started="$dev_started $!"
    wait "$!"
}

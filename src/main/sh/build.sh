# Builds what changed and starts programs from the result. Sourced by ./warmpath.
#
# The state of the inputs is a checksum over the contents of every file that goes into the jars; while it equals the one
# of the last good build, Maven is not started at all (a second run costs a few hundredths of a second). When it differs, Maven
# and CMake rebuild incrementally.
# shellcheck shell=sh

target=$root/target
jar=$target/gateway/quarkus-app/quarkus-run.jar
tools_jar=$target/tools/warmpath-tools.jar
build_log=$target/warmpath-build.log
stamp_file=$target/warmpath-build.stamp
lock=$target/warmpath-build.lock
connectors_file=$target/warmpath-build.connectors

project_version() {
    sed -n 's/^  <version>\(.*\)<\/version>.*/\1/p' "$root/pom.xml" | head -n 1
}

# choose_connectors [--with LIST]: connectors for the channels of records beside NATS; remembered for every later build.
choose_connectors() {
    [ $# -gt 0 ] || return 0
    case "$*" in
        '--with none') rm -f "$connectors_file" ;;
        '--with kafka' | '--with amqp' | '--with kafka,amqp' | '--with amqp,kafka')
            mkdir -p "$target"
            printf '%s\n' "$2" >"$connectors_file"
            ;;
        *) die 2 "./warmpath build takes --with kafka, --with amqp, --with kafka,amqp or --with none; got '$*'" ;;
    esac
}

connectors() {
    cat "$connectors_file" 2>/dev/null || :
}

# One line that changes with any input of the build: names and contents, not times, so a fresh checkout is no change.
input_stamp() {
    (cd "$root" && { connectors && find pom.xml .mvn src/*/pom.xml src/*/main/java src/*/main/resources src-cpp native-core -type f ! -name README.md -exec cksum {} + 2>/dev/null; } |
        LC_ALL=C sort | cksum)
}

is_built() {
    [ -f "$jar" ] && [ -f "$tools_jar" ] && [ -f "$stamp_file" ] && [ "$(cat "$stamp_file")" = "$1" ]
}

# Two builds in one directory would tear each other's files; the second waits.
take_lock() {
    mkdir -p "$target"
    waiting=
    until mkdir "$lock" 2>/dev/null; do
        owner=$(cat "$lock/pid" 2>/dev/null || :)
        if [ -n "$owner" ] && ! kill -0 "$owner" 2>/dev/null; then
            rm -rf "$lock"
            continue
        fi
        [ -n "$waiting" ] || say "another build runs here (process ${owner:-unknown}); waiting for it"
        waiting=yes
        sleep 1
    done
    echo $$ >"$lock/pid"
    trap 'rm -rf "$lock"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
}

free_lock() {
    rm -rf "$lock"
    trap - EXIT INT TERM HUP
}

now() { date +%s; }

# show_phases START [without-tests]: reads Maven's output and prints one line per phase, with the seconds since START.
show_phases() {
    started=$1
    without_tests=${2-}
    downloads=0
    printf '  [%4d s] %s\n' 0 'reading the project, resolving dependencies' >&2
    while IFS= read -r line; do
        phase=
        case $line in
            *'Downloaded from '*)
                downloads=$((downloads + 1))
                [ $((downloads % 200)) -ne 0 ] || phase="downloading dependencies ($downloads files so far)"
                ;;
            '[INFO] --- '*exec*'(native-library)'*) phase='native library (CMake)' ;;
            '[INFO] --- '*compiler*':compile '*' @ warmpath-'*) phase="compiling ${line##* @ warmpath-}" && phase=${phase% ---} ;;
            '[INFO] --- '*compiler*':testCompile '*' @ warmpath-'*) phase=${without_tests:-"compiling the tests of ${line##* @ warmpath-}"} && phase=${phase% ---} ;;
            '[INFO] --- '*surefire*':test '*' @ warmpath-'*) phase=${without_tests:-"running the tests of ${line##* @ warmpath-}"} && phase=${phase% ---} ;;
            '[INFO] --- '*quarkus*':build '*) phase='packing the gateway (Quarkus)' ;;
            '[INFO] --- '*spotless*) phase='checking the format' ;;
            *'Tests run:'*'Time elapsed:'*' -- in '*)
                counts=${line#*Tests run: }
                phase="  ${line##* in }: ${counts%% -- in *}"
                ;;
        esac
        [ -z "$phase" ] || [ "$phase" = "$without_tests" ] || printf '  [%4d s] %s\n' "$(($(now) - started))" "$phase" >&2
    done
}

# maven GOALS AND OPTIONS...: everything into the log, the phases onto the screen; the status is Maven's.
maven() {
    mkdir -p "$target"
    status_file=$target/warmpath-build.status
    rm -f "$status_file"
    began=$(now)
    skipping=
    case " $* " in *' -Dmaven.test.skip=true '*) skipping=without-tests ;; esac
    # shellcheck disable=SC2086 # options are words
    {
        status=0
        # Maven's jars keep the rights of files: they are not to be those of whoever builds.
        (umask 022 && cd "$root" && exec "$MAVEN" -B -Dstyle.color=never $maven_opts "$@") </dev/null 2>&1 || status=$?
        echo "$status" >"$status_file"
    } | tee "$build_log" | show_phases "$began" "$skipping"
    [ "$(cat "$status_file" 2>/dev/null)" = 0 ] && return 0
    say "Maven failed; the end of target/warmpath-build.log:"
    # Below the last error Maven prints only advice about its own switches.
    { grep -E '^\[ERROR\]|<<< (FAILURE|ERROR)|CMake Error|error:' "$build_log" || tail -n 40 "$build_log"; } |
        grep -v -E 'Help 1|re-run Maven|full stack trace|For more information|^\[ERROR\] *$' | tail -n 40 >&2
    return 1
}

build_gateway() {
    stamp=$(input_stamp)
    is_built "$stamp" && return 0
    take_lock
    # Whoever held the lock may have built just this.
    if ! is_built "$stamp"; then
        need_toolchain
        say "building with $JAVA_HOME and $MAVEN (log: target/warmpath-build.log)"
        rm -f "$stamp_file"
        build_began=$(now)
        with=$(connectors)
        maven package -Dmaven.test.skip=true ${with:+"-P$with"} || die 1 "the build failed"
        for made in "$jar" "$tools_jar"; do
            [ -f "$made" ] || die 1 "Maven ended well but ${made#"$root/"} is missing"
        done
        # The stamp from before the build: what changed during it is built the next time.
        printf '%s\n' "$stamp" >"$stamp_file"
        say "built in $(($(now) - build_began)) s"
    fi
    free_lock
}

build_native() {
    need_toolchain "${1:+tests}"
    if [ $# -gt 0 ]; then
        case " $* " in *' aarch64 '*) need_aarch64 ;; esac
        exec sh "$root/native-core/check.sh" "$@"
    fi
    sh "$root/native-core/build.sh" "$target/native" "$target/adapters/classes" || die 1 "the native build failed"
    say "built $(find "$target/native" -name 'libkvindex.so' | head -n 1)"
}

# mebibytes SIZE: of a size such as 512M or 2G, and nothing of what is none.
mebibytes() {
    case $1 in
        '' | *[!0-9KkMmGg]* | [!0-9]* | ?*[KkMmGg]?*) ;;
        *[Gg]) echo $((${1%?} * 1024)) ;;
        *[Mm]) echo "${1%?}" ;;
        *[Kk]) echo $((${1%?} / 1024)) ;;
        *) echo $(($1 / 1048576)) ;;
    esac
}

# memory_limit ARGUMENTS...: mebibytes that the program may have, by its flag, its environment or its control group; nothing: no limit.
memory_limit() {
    limit=${WARMPATH_MEMORY_LIMIT-}
    while [ $# -gt 0 ]; do
        case $1 in
            --memory-limit) limit=${2-} ;;
            --memory-limit=*) limit=${1#*=} ;;
        esac
        shift
    done
    [ -n "$limit" ] && [ "$limit" != 0 ] ||
        limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || :)
    mebibytes "$limit"
}

# jvm_options ARGUMENTS...: JVM options of the program. Small by default; WARMPATH_JAVA_OPTS comes last and wins.
jvm_options() {
    # Three eighths of the limit are heap, a gibibyte at most: the rest is for what lies outside (wiring.memory).
    heap=1024
    limit=$(memory_limit "$@")
    [ -z "$limit" ] || [ "$limit" -ge 2731 ] || heap=$((limit * 3 / 8))
    [ "$heap" -ge 64 ] || heap=64
    young=$((heap < 192 ? heap / 4 : 48))
    case " $java_opts " in
        *' -XX:+Use'*'GC '*) ;; # two collectors on one command line stop the JVM
        *)
            if [ "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)" -le 2 ]; then
                # A fixed young generation with room for what is running: requests die in it instead of growing the old one
                # (src/perf/RESULTS.md).
                echo "-XX:+UseSerialGC -Xmn${young}m -XX:SurvivorRatio=2 -XX:MinHeapFreeRatio=10 -XX:MaxHeapFreeRatio=30"
            else
                echo '-XX:+UseG1GC'
            fi
            ;;
    esac
    # Where memory is short, what the C library holds free goes back to the system.
    [ "$heap" -eq 1024 ] || echo '-XX:TrimNativeHeapInterval=5000'
    echo "-Xms$((heap < 160 ? heap : 160))m -Xmx${heap}m -XX:-ShrinkHeapInSteps"
    echo '-XX:+UseCompactObjectHeaders -XX:FreqInlineSize=150 -XX:+ExitOnOutOfMemoryError'
    # The AOT cache lies where it was recorded to lie: moving it means to write to every page of it (src/docs/start.md).
    echo '-XX:+UnlockDiagnosticVMOptions -XX:ArchiveRelocationMode=0'
    java_home_usable || { made_home=$(private_home) && echo "-Duser.home=$made_home"; } || return 1
    echo '--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow'
    echo "$java_opts"
}

# terminal_size: how large the terminal is, for programs that fit their output to it; nothing where the output goes elsewhere.
terminal_size() {
    [ -t 1 ] && [ -z "${COLUMNS-}" ] || return 0
    size=$(stty size 2>/dev/null </dev/tty) || return 0
    case $size in
        [1-9]*' '[1-9]*) export LINES="${size% *}" COLUMNS="${size#* }" ;;
    esac
}

# run_question COMMAND ARGUMENTS...: asks a running gateway. A program of half a second: started small, compiled lightly.
run_question() {
    # Not `exit 1`: to scripts that would be a degraded gateway.
    (build_gateway) || exit 2
    find_java || need_java
    terminal_size
    [ -z "$gateway_url" ] || export WARMPATH_URL="$gateway_url"
    # shellcheck disable=SC2086 # options are words
    exec "$JAVA_HOME/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx256m -XX:-UsePerfData \
        -Dstdout.encoding=UTF-8 -Dstderr.encoding=UTF-8 $java_opts -jar "$tools_jar" "$@"
}

# run_program COMMAND ARGUMENTS...: the shell becomes the JVM: one process, and signals reach it.
run_program() {
    build_gateway
    find_java || need_java
    # A relay holds some ring buffers and nothing else; whoever wants larger ones gives it more. The last one wins.
    [ "$1" != relay ] || java_opts="-Xms32m -Xmx256m -Xmn24m $java_opts"
    options=$(jvm_options "$@") || exit 1
    terminal_size
    cache=
    ! use_aot_cache "$@" || cache=$aot_cache
    case $1 in
        serve | relay | key) set -- ${cache:+"-XX:AOTCache=$cache"} -jar "$jar" "$@" ;;
        # The cache is of the gateway's classes, and the demo starts gateways.
        demo) set -- "-Dwarmpath.demo.gateway=$jar" ${cache:+"-Dwarmpath.demo.aot-cache=$cache"} -jar "$tools_jar" "$@" ;;
        *) set -- -jar "$tools_jar" "$@" ;;
    esac
    # Large pieces of native memory go back to the system when they are free; the C library would keep what was ever that large.
    export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-262144}" MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}"
    # shellcheck disable=SC2086 # options are words
    exec "$JAVA_HOME/bin/java" $options "$@"
}

# Starts programs from what was built or installed: JVM options by the memory at hand, the AOT cache, the jars. Sourced by ./warmpath in
# a checkout and by bin/warmpath of an installed Warmpath.
#
# Wants, from whoever sources it: `ready_to_run`, which builds what is missing and sets JAVA_HOME or ends the program; jar and tools_jar;
# library_dir, a folder with the native libraries (empty: they are in the jars); java_opts and gateway_url (WARMPATH_JAVA_OPTS and
# WARMPATH_URL); `source_commit`, which prints the commit in twelve digits; and aot.sh.
# shellcheck shell=sh

# Java takes the home directory from the user data base, not from HOME: in a container with a made-up user there is none, and
# whatever keeps files there fails. Fails (status 1) when that directory cannot be written.
java_home_usable() {
    java_user_home=$(getent passwd "$(id -u)" 2>/dev/null | cut -d: -f6)
    [ -n "$java_user_home" ] && [ -d "$java_user_home" ] && [ -w "$java_user_home" ]
}

# private_home: a directory for Java to call home; without spaces, since options are words.
private_home() {
    made=${TMPDIR:-/tmp}/warmpath-home-$(id -u)
    # Somebody else's directory of that name is not used.
    mkdir -m 700 "$made" 2>/dev/null || [ -O "$made" ] || die 1 "$made belongs to somebody else; remove it or set TMPDIR"
    echo "$made"
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
    # What the C library holds free goes back to the system, soon where memory is short.
    echo "-XX:TrimNativeHeapInterval=$((heap < 1024 ? 5000 : 30000))"
    # What the old generation begins with it keeps, whatever is collected: little, so that an idle gateway is small (wiring.memory.MemoryWatch).
    echo "-Xms$((heap < 80 ? heap : 80))m -Xmx${heap}m -XX:-ShrinkHeapInSteps"
    echo '-XX:+UseCompactObjectHeaders -XX:FreqInlineSize=150 -XX:+ExitOnOutOfMemoryError'
    # The AOT cache lies where it was recorded to lie: moving it means to write to every page of it (src/docs/how-to/start.md).
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

# Set to `none` it keeps all settings in the environment from Java.
java_environment=

# run_java ARGUMENTS...: this shell becomes Java. JNA, the index, the tokenizers and Netty have a property each for where their library lies;
# what the tokenizers' own library is linked with, the system's loader looks for.
run_java() {
    [ -z "$library_dir" ] || set -- "-Djna.boot.library.path=$library_dir" "-Dwarmpath.index.native-path=$library_dir" \
        "-DRUST_LIBRARY_PATH=$library_dir/libtokenizers.so" "-Djava.library.path=$library_dir" "$@"
    set -- "$JAVA_HOME/bin/java" "$@"
    [ -z "$library_dir" ] || set -- env LD_LIBRARY_PATH="$library_dir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@"
    [ "$java_environment" != none ] || set -- env -i PATH="$PATH" HOME="${HOME-}" TMPDIR="${TMPDIR:-/tmp}" "$@"
    exec "$@"
}

# run_question COMMAND ARGUMENTS...: asks a running gateway. A program of half a second: started small, compiled lightly.
run_question() {
    # Not `exit 1`: to scripts that would be a degraded gateway.
    (ready_to_run) || exit 2
    ready_to_run
    terminal_size
    [ -z "$gateway_url" ] || export WARMPATH_URL="$gateway_url"
    # shellcheck disable=SC2086 # options are words
    run_java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx256m -XX:-UsePerfData \
        -Dstdout.encoding=UTF-8 -Dstderr.encoding=UTF-8 $java_opts -jar "$tools_jar" "$@"
}

# run_program COMMAND ARGUMENTS...: the shell becomes the JVM: one process, and signals reach it.
run_program() {
    ready_to_run
    # A relay holds some ring buffers and nothing else; whoever wants larger ones gives it more. The last one wins.
    [ "$1" != relay ] || java_opts="-Xms32m -Xmx256m -Xmn24m $java_opts"
    options=$(jvm_options "$@") || exit 1
    terminal_size
    cache=
    ! use_aot_cache "$@" || cache=$aot_cache
    case $1 in
        serve | relay | key) set -- ${cache:+"-XX:AOTCache=$cache"} "-Dio.warmpath.commit=$(source_commit)" -jar "$jar" "$@" ;;
        # The cache is of the gateway's classes, and the demo starts gateways.
        demo) set -- "-Dwarmpath.demo.gateway=$jar" ${cache:+"-Dwarmpath.demo.aot-cache=$cache"} -jar "$tools_jar" "$@" ;;
        *) set -- -jar "$tools_jar" "$@" ;;
    esac
    # Large pieces of native memory go back to the system when they are free; the C library would keep what was ever that large.
    export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-262144}" MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}"
    # shellcheck disable=SC2086 # options are words
    run_java $options "$@"
}

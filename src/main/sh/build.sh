# Builds what changed. Sourced by ./warmpath.
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
locked_by='another build'
aot_dir=$target
aot_dir_else=
library_dir=
connectors_file=$target/warmpath-build.connectors

project_version() {
    sed -n 's/^  <version>\(.*\)<\/version>.*/\1/p' "$root/pom.xml" | head -n 1
}

# source_commit: of this checkout; "unknown" where it is no clone.
source_commit() {
    git -C "$root" rev-parse --short=12 HEAD 2>/dev/null || echo unknown
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
    { grep -aE '^\[ERROR\]|<<< (FAILURE|ERROR)|CMake Error|error:' "$build_log" || tail -n 40 "$build_log"; } |
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

# ready_to_run: what run.sh starts is built, and JAVA_HOME is set.
ready_to_run() {
    build_gateway
    find_java || need_java
}

# The AOT cache: what the JVM learnt from one life of the gateway (classes loaded and linked, profiles of its methods), so
# that a start takes a fraction of the time. Made once per build, JDK and options, by `serve`; lies in target. Sourced by
# ./warmpath.
#
# The JVM goes on without a cache that was made by another JDK or with other options, and says so. It does not look at the
# time of the jars that quarkus-run.jar names, so that classes of another build could run: the key and the files' times here
# keep that from happening. Without a cache everything works, and starts slower.
# shellcheck shell=sh

aot_cache=$target/warmpath.aot
aot_key_file=$target/warmpath-aot.key
aot_failed_file=$target/warmpath-aot.failed
aot_log=$target/warmpath-aot.log

# One text that changes with the classes, the JDK or the options.
aot_key() {
    cat "$stamp_file"
    printf '%s\n' "$jar" "$JAVA_HOME" "$options"
    ls -lL "$JAVA_HOME/lib/modules" 2>/dev/null || :
}

aot_cache_fits() {
    [ -f "$aot_cache" ] && [ "$(cat "$aot_key_file" 2>/dev/null)" = "$1" ] && [ -z "$(find "${jar%/*}" -type f -newer "$aot_cache")" ]
}

# use_aot_cache COMMAND ARGUMENTS...: true when there is a cache that fits $options; `serve` makes one when there is none.
use_aot_cache() {
    [ "$aot_wanted" != off ] || return 1
    # Whoever gives such options has plans of their own.
    case " $java_opts " in *AOT* | *-Xshare*) return 1 ;; esac
    [ -f "$stamp_file" ] || return 1
    key=$(aot_key)
    if aot_cache_fits "$key"; then return 0; fi
    [ "$1" = serve ] || return 1
    for argument in "$@"; do
        case $argument in --help | --help=* | -h) return 1 ;; esac
    done
    if [ "$(cat "$aot_failed_file" 2>/dev/null)" = "$key" ]; then
        say "no AOT cache, the start takes longer: making one failed (log: target/warmpath-aot.log; to try again, remove target/warmpath-aot.failed)"
        return 1
    fi
    take_lock
    # Whoever held the lock may have made just this one.
    trained=0
    aot_cache_fits "$key" || train_aot_cache "$key" || trained=1
    free_lock
    return "$trained"
}

# train_aot_cache KEY: a gateway in front of an engine of its own, on loopback, some hundred requests, the end. None of the
# settings in the environment reach it.
train_aot_cache() {
    say "recording a start for the AOT cache, once per build, JDK and options (some 15 s; log: target/warmpath-aot.log)"
    train_began=$(now)
    rm -f "$aot_cache" "$aot_key_file" "$aot_failed_file"
    # shellcheck disable=SC2086 # options are words
    if env -i PATH="$PATH" HOME="${HOME-}" TMPDIR="${TMPDIR:-/tmp}" \
        "$JAVA_HOME/bin/java" $options "-XX:AOTCacheOutput=$aot_cache.new" -jar "$jar" train </dev/null >"$aot_log" 2>&1 &&
        [ -f "$aot_cache.new" ]; then
        mv "$aot_cache.new" "$aot_cache"
        printf '%s\n' "$1" >"$aot_key_file"
        say "recorded in $(($(now) - train_began)) s"
        return 0
    fi
    rm -f "$aot_cache.new"
    printf '%s\n' "$1" >"$aot_failed_file"
    say "no AOT cache could be made (log: target/warmpath-aot.log); going on without, the start takes longer"
    return 1
}

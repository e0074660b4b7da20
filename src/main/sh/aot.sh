# The AOT cache: what the JVM learnt from one life of the gateway (classes loaded and linked, profiles of its methods), so
# that a start takes a fraction of the time. Made once per build, JDK and options, by `serve`. Sourced by ./warmpath in a checkout and by
# bin/warmpath of an installed Warmpath, which set: aot_dir, where it lies; aot_dir_else, where it lies when the first cannot be written
# (empty: nowhere); stamp_file, which changes with every build.
#
# The JVM goes on without a cache that was made by another JDK or with other options, and says so. It does not look at the
# time of the jars that quarkus-run.jar names, so that classes of another build could run: the key and the files' times here
# keep that from happening. Without a cache everything works, and starts slower.
# shellcheck shell=sh

# aot_at FOLDER: the files of the cache there.
aot_at() {
    aot_cache=$1/warmpath.aot
    aot_key_file=$1/warmpath-aot.key
    aot_failed_file=$1/warmpath-aot.failed
    aot_log=$1/warmpath-aot.log
}

# One text that changes with the classes, the JDK or the options; small sizes of the heap are none that a cache depends on
# (from 32 GiB on, Java's references are longer).
aot_key() {
    cat "$stamp_file"
    # shellcheck disable=SC2086 # options are words
    printf '%s\n' "$jar" "$JAVA_HOME" "$(printf '%s\n' $options | sed '/^-Xm[nsx][0-9]*[kmKM]$/d; /^-Xm[nsx][0-9][gG]$/d; /^-XX:TrimNativeHeapInterval/d')"
    ls -lL "$JAVA_HOME/lib/modules" 2>/dev/null || :
}

aot_cache_fits() {
    [ -f "$aot_cache" ] && [ "$(cat "$aot_key_file" 2>/dev/null)" = "$1" ] && [ -z "$(find "${jar%/*}" -type f -newer "$aot_cache")" ]
}

# find_aot_cache KEY: true when there is one that fits.
find_aot_cache() {
    aot_at "$aot_dir"
    if aot_cache_fits "$1"; then return 0; fi
    [ -n "$aot_dir_else" ] || return 1
    aot_at "$aot_dir_else"
    aot_cache_fits "$1"
}

# place_aot_cache: the first place that can be written.
place_aot_cache() {
    for place in "$aot_dir" "$aot_dir_else"; do
        if [ -n "$place" ] && mkdir -p "$place" 2>/dev/null && [ -w "$place" ]; then
            aot_at "$place"
            lock=$place/warmpath-build.lock
            return 0
        fi
    done
    say "no AOT cache, the start takes longer: $aot_dir${aot_dir_else:+ and $aot_dir_else} cannot be written"
    return 1
}

# use_aot_cache COMMAND ARGUMENTS...: true when there is a cache that fits $options; `serve` makes one when there is none.
use_aot_cache() {
    [ "$aot_wanted" != off ] || return 1
    # Whoever gives such options has plans of their own.
    case " $java_opts " in *AOT* | *-Xshare*) return 1 ;; esac
    [ -f "$stamp_file" ] || return 1
    key=$(aot_key)
    if find_aot_cache "$key"; then return 0; fi
    [ "$1" = serve ] || return 1
    for argument in "$@"; do
        case $argument in --help | --help=* | -h) return 1 ;; esac
    done
    place_aot_cache || return 1
    if [ "$(cat "$aot_failed_file" 2>/dev/null)" = "$key" ]; then
        say "no AOT cache, the start takes longer: making one failed (log: $aot_log; to try again, remove $aot_failed_file)"
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
    say "recording a start for the AOT cache, once per build, JDK and options (some 15 s; log: $aot_log)"
    train_began=$(now)
    rm -f "$aot_cache" "$aot_key_file" "$aot_failed_file"
    # shellcheck disable=SC2086 # options are words
    if (java_environment=none && run_java $options "-XX:AOTCacheOutput=$aot_cache.new" -jar "$jar" train) </dev/null >"$aot_log" 2>&1 &&
        [ -f "$aot_cache.new" ]; then
        mv "$aot_cache.new" "$aot_cache"
        printf '%s\n' "$1" >"$aot_key_file"
        say "recorded in $(($(now) - train_began)) s"
        return 0
    fi
    rm -f "$aot_cache.new"
    printf '%s\n' "$1" >"$aot_failed_file"
    say "no AOT cache could be made (log: $aot_log); going on without, the start takes longer"
    return 1
}

# A lock that one process of this machine holds at a time: a folder, $lock, with the process' id in it. Whoever waits says for whom, by
# $locked_by. Sourced by ./warmpath and by bin/warmpath of an installed Warmpath.
# shellcheck shell=sh

# Two builds in one directory would tear each other's files; the second waits.
take_lock() {
    mkdir -p "${lock%/*}"
    waiting=
    until mkdir "$lock" 2>/dev/null; do
        owner=$(cat "$lock/pid" 2>/dev/null || :)
        if [ -n "$owner" ] && ! kill -0 "$owner" 2>/dev/null; then
            rm -rf "$lock"
            continue
        fi
        [ -n "$waiting" ] || say "$locked_by runs here (process ${owner:-unknown}); waiting for it"
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

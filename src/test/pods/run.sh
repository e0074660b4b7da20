#!/bin/sh
# Makes the images of the pods and runs pods.py in namespaces of its own, so that all of it ends with it, however it ends.
#
#   run.sh IMAGE --prometheus PROGRAM [ARGUMENTS OF pods.py]
#
# IMAGE is the gateway's, in the storage of buildah. Status 77: this machine cannot, and it says why.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../../.." && pwd)
image=$1
shift
folder=$root/target/pods
cgroup=warmpath-pods-$$

say() { printf 'pods: %s\n' "$*" >&2; }

if ! unshare --mount --net --pid --fork --mount-proc true 2>"${TMPDIR:-/tmp}/warmpath-unshare.$$"; then
    say "no namespaces of their own here: $(cat "${TMPDIR:-/tmp}/warmpath-unshare.$$"): no pod runs"
    rm -f "${TMPDIR:-/tmp}/warmpath-unshare.$$"
    exit 77
fi
rm -f "${TMPDIR:-/tmp}/warmpath-unshare.$$"

cluster=

# The first process of the namespaces takes all others with it; their control groups can be removed when the last one is gone.
end() {
    [ -z "$cluster" ] || kill -KILL "$cluster" 2>/dev/null || :
    [ -z "$cluster" ] || wait "$cluster" 2>/dev/null || :
    for group in /sys/fs/cgroup/*/"$cgroup" /sys/fs/cgroup/"$cgroup"; do
        [ -d "$group" ] || continue
        tries=0
        until find "$group" -depth -type d -exec rmdir {} + 2>/dev/null; do
            tries=$((tries + 1))
            [ "$tries" -lt 50 ] || { say "$group could not be removed"; break; }
            sleep 0.1
        done
    done
}
trap end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

rm -rf "$folder"
mkdir -p "$folder/images" "$folder/cluster"

# load_later IMAGE FILE NAME...: the image as an archive that containerd reads, and the names that it gets there.
load_later() {
    from=$1
    file=$folder/images/$2
    shift 2
    buildah push --quiet "$from" "docker-archive:$file.tar:$1"
    printf '%s\n' "$@" >"$file.names"
}

# By the names that the manifests, the chart's README and the engines of simulated/ have for it.
load_later "$image" warmpath "docker.io/library/warmpath:${image##*:}" "registry.example.com/team/warmpath:${image##*:}" docker.io/library/warmpath:test
mkdir "$folder/pause"
"${CC:-cc}" -static -Os -Wall -Wextra -Werror -o "$folder/pause/pause" "$here/pause.c"
printf 'FROM scratch\nCOPY pause /pause\nUSER 65535\nENTRYPOINT ["/pause"]\n' >"$folder/pause/Dockerfile"
buildah bud --quiet --timestamp 0 -t localhost/pause:1 "$folder/pause" >/dev/null
load_later localhost/pause:1 pause localhost/pause:1
# On the C library of the gateway's image.
mkdir "$folder/nats"
cp "$root/.tools/nats/nats-server" "$folder/nats/"
printf 'FROM %s\nCOPY nats-server /nats-server\nUSER 1000\nENTRYPOINT ["/nats-server"]\nCMD []\n' "$image" >"$folder/nats/Dockerfile"
buildah bud --quiet --timestamp 0 -t localhost/nats:test "$folder/nats" >/dev/null
load_later localhost/nats:test nats docker.io/library/nats:2.12

# The groups that pods are below. A new group of the old kind of cpusets has no processors until it is given some.
for group in /sys/fs/cgroup/*; do
    [ -d "$group" ] && [ -e "$group/cgroup.procs" ] && ! [ -L "$group" ] && mkdir "$group/$cgroup" || continue
    for kind in cpus mems; do
        [ ! -e "$group/cpuset.$kind" ] || cat "$group/cpuset.$kind" >"$group/$cgroup/cpuset.$kind"
    done
done

unshare --mount --net --pid --fork --mount-proc --kill-child \
    python3 -uB "$here/pods.py" --root "$root" --folder "$folder/cluster" --cgroup "/$cgroup" --images "$folder/images" "$@" &
cluster=$!
status=0
wait "$cluster" || status=$?
cluster=
exit "$status"

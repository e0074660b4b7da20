#!/bin/sh
# Real engines for the tests, in .tools/engines: SGLang and vLLM, each in an environment of its own with the versions of
# sglang.txt and vllm.txt, and the model that both run. About 13 GB, a minute where the network is fast.
#
#   src/test/engines/install.sh [smg|nixl] status 77 where there is no room, or they cannot be had; then it says why
#
# With smg: the SGLang gateway too, which live.py compares us with (src/perf/peers/install.sh). With nixl: what moves vLLM's KV caches (460 MB).
#
# The lists are what `pip freeze` said of a working environment, without the packages that drive GPUs (SGLang's kernels are stood in for).
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$here/../../.." && pwd)
home=${ENGINES_HOME:-$root/.tools/engines}
UV=0.13.9
NIXL=1.5.1
ROOM_GB=20

say() { printf 'engines: %s\n' "$*" >&2; }
skip() {
    say "NO REAL ENGINES: $*"
    exit 77
}

if [ "${1-}" = smg ]; then sh "$root/src/perf/peers/install.sh" smg || say "NO SMG TO COMPARE WITH"; fi

if [ "${1-}" = nixl ] && [ "$(cat "$home/nixl/version" 2>/dev/null)" != "$NIXL" ]; then
    rm -rf "$home/nixl"
    mkdir -p "$home"
    # It imports the one for CUDA 13, as vLLM's torch has that number, also where there is no GPU.
    if python3 -m pip install --quiet --disable-pip-version-check --no-deps --target "$home/nixl" "nixl==$NIXL" "nixl-cu13==$NIXL"; then
        echo "$NIXL" >"$home/nixl/version"
    else
        rm -rf "$home/nixl"
        skip "nixl $NIXL cannot be installed"
    fi
fi

wanted=$(cat "$here/sglang.txt" "$here/vllm.txt" "$here/make_model.py" "$root/src/tokens/main/resources/demo-model/tokenizer.json" | cksum)
[ "$(cat "$home/installed" 2>/dev/null)" = "$wanted" ] && exit 0

mkdir -p "$home"
free=$(($(df -Pk "$home" | awk 'NR == 2 { print $4 }') / 1024 / 1024))
[ -x "$home/vllm/bin/python" ] || [ "$free" -ge "$ROOM_GB" ] || skip "they need $ROOM_GB GiB of disk, $free are free"
[ "$(uname -m)" = x86_64 ] || skip "their packages for a CPU are for x86_64"
python3 -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || skip "the pinned versions are those of Python 3.11, python3 is another"

rm -f "$home/installed"
say "installing SGLang and vLLM into $home"
python3 -m venv "$home/uv"
"$home/uv/bin/pip" install --quiet --disable-pip-version-check "uv==$UV" || skip "uv $UV cannot be installed"
export UV_CACHE_DIR="$home/cache"
for engine in sglang vllm; do
    "$home/uv/bin/uv" venv --quiet --clear --python python3 "$home/$engine"
    VIRTUAL_ENV=$home/$engine "$home/uv/bin/uv" pip install --quiet --no-deps --link-mode hardlink -r "$here/$engine.txt" ||
        skip "$engine cannot be installed"
done
rm -rf "$home/cache"
"$home/sglang/bin/python" "$here/make_model.py" "$home/model" >&2
echo "$wanted" >"$home/installed"

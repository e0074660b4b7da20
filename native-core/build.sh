#!/bin/sh
# Builds libkvindex.so for the jar. Called by Maven; quick when nothing changed.
#
#   build.sh OUT_DIR RESOURCE_DIR
#
# OUT_DIR keeps the build files. The library goes to RESOURCE_DIR/linux-x86-64/ (or linux-aarch64/), where JNA
# looks for it on the class path.
set -eu

fail() {
    echo "native-core/build.sh: $*" >&2
    exit 1
}

[ $# -eq 2 ] || fail "usage: build.sh OUT_DIR RESOURCE_DIR"
source_dir=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
mkdir -p "$1" "$2"
out=$(CDPATH='' cd -- "$1" && pwd)
resources=$(CDPATH='' cd -- "$2" && pwd)

case "$(uname -s)-$(uname -m)" in
    Linux-x86_64 | Linux-amd64) platform=linux-x86-64 ;;
    Linux-aarch64 | Linux-arm64) platform=linux-aarch64 ;;
    *) fail "$(uname -s) on $(uname -m) is not supported; Linux on x86-64 or aarch64 is" ;;
esac

command -v cmake >/dev/null 2>&1 || fail "cmake is missing; install cmake 3.21 or newer"
if [ -z "${CXX:-}" ]; then
    command -v c++ >/dev/null 2>&1 || command -v g++ >/dev/null 2>&1 || command -v clang++ >/dev/null 2>&1 ||
        fail "a C++20 compiler is missing; install g++ 12 or newer"
fi

# A build folder that was made from another place cannot be used again.
cache=$out/CMakeCache.txt
if [ -f "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$source_dir" "$cache"; then
    rm -rf "$cache" "$out/CMakeFiles" "$out/build.ninja" "$out/Makefile"
fi

log=$out/build.log
if [ ! -f "$out/build.ninja" ] && [ ! -f "$out/Makefile" ]; then
    if command -v ninja >/dev/null 2>&1; then
        generator=Ninja
    elif command -v make >/dev/null 2>&1; then
        generator="Unix Makefiles"
    else
        fail "ninja and make are missing; install ninja-build or make"
    fi
    cmake -S "$source_dir" -B "$out" -G "$generator" -DCMAKE_BUILD_TYPE=Release -DKVI_TESTS=OFF >"$log" 2>&1 || {
        cat "$log" >&2
        rm -f "$cache"
        fail "cmake could not configure the native library, see above"
    }
fi
cmake --build "$out" --target kvindex --parallel "$(nproc)" >"$log" 2>&1 || {
    cat "$log" >&2
    fail "the native library does not compile, see above"
}

library=$resources/$platform/libkvindex.so
if ! cmp -s "$out/libkvindex.so" "$library"; then
    mkdir -p "$resources/$platform"
    # By way of a new file: a process may have the old one mapped.
    cp "$out/libkvindex.so" "$library.new"
    mv -f "$library.new" "$library"
fi

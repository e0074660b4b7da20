#!/bin/sh
# Builds and tests the native part under presets of CMakePresets.json.
#
#   check.sh [--build-only] [PRESET...]      default: release; others: asan-ubsan tsan debug aarch64
#
# Build files: target/native-PRESET. The last line of each preset says what it did; exit code 1 if any failed.
set -eu

fail() {
    echo "native-core/check.sh: $*" >&2
    exit 1
}

cd "$(dirname -- "$0")"
command -v cmake >/dev/null 2>&1 || fail "cmake is missing; install cmake 3.21 or newer"
command -v ctest >/dev/null 2>&1 || fail "ctest is missing; it comes with cmake"
if command -v ninja >/dev/null 2>&1; then
    generator=Ninja
elif command -v make >/dev/null 2>&1; then
    generator="Unix Makefiles"
else
    fail "ninja and make are missing; install ninja-build or make"
fi

build_only=
if [ "${1-}" = --build-only ]; then
    build_only=yes
    shift
fi
[ $# -gt 0 ] || set -- release
for preset in "$@"; do
    started=$(date +%s)
    out=../target/native-$preset
    mkdir -p "$out"
    log=$out/check.log
    # A build folder that was made from another place cannot be used again.
    if [ -f "$out/CMakeCache.txt" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$out/CMakeCache.txt"; then
        rm -rf "$out"
        mkdir -p "$out"
    fi
    if [ ! -f "$out/build.ninja" ] && [ ! -f "$out/Makefile" ]; then
        cmake --preset "$preset" -G "$generator" >"$log" 2>&1 || {
            cat "$log" >&2
            fail "preset $preset cannot be configured, see above (tests need libgtest-dev)"
        }
    fi
    cmake --build "$out" --parallel "$(nproc)" >"$log" 2>&1 || {
        cat "$log" >&2
        fail "preset $preset does not compile, see above"
    }
    if [ -n "$build_only" ]; then
        echo "native $preset: built in $(($(date +%s) - started)) s"
        continue
    fi
    # A sanitizer's report is a failure, whatever the program says.
    ASAN_OPTIONS=detect_leaks=1:abort_on_error=1 UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=halt_on_error=1 \
        ctest --test-dir "$out" --output-on-failure --parallel "$(nproc)" >"$log" 2>&1 || {
        cat "$log" >&2
        fail "preset $preset: tests failed, see above"
    }
    if grep -q 'No tests were found' "$log"; then
        echo "native $preset: COMPILED ONLY, no test was run: there is no emulator (install qemu-user-static, remove $out)"
        continue
    fi
    # Each test that could not run says why.
    sed -n 's/^SKIPPED: /native '"$preset"': SKIPPED: /p' "$out/Testing/Temporary/LastTest.log"
    echo "native $preset: $(sed -n 's/^\(.* tests passed\).*/\1/p' "$log") in $(($(date +%s) - started)) s"
done

#!/bin/sh
# Builds the fuzzers with clang (libFuzzer, ASan, UBSan) and searches with each of them.
#
#   fuzz.sh SECONDS TARGET...      TARGET: apply_then_match, apply_any_bytes, abi_calls, tracker_calls,
#                              encode_any_text, peer_bytes, or all
#
# A search starts from the corpus in the tree and from what earlier searches found (target/fuzz/TARGET/found). Exit
# code 1 when one finds something; the input stays in target/fuzz/TARGET. First a control: a body with a planted
# read past the end, which the search must find, else nothing that follows would mean anything.
set -eu

fail() {
    echo "native-core/fuzz.sh: $*" >&2
    exit 1
}

[ $# -ge 2 ] || fail "usage: fuzz.sh SECONDS TARGET..."
seconds=$1
shift
cd "$(dirname -- "$0")/.."
[ "$1" != all ] || set -- apply_then_match apply_any_bytes abi_calls tracker_calls encode_any_text peer_bytes
command -v clang++ >/dev/null 2>&1 || fail "clang++ is missing (Debian: clang libclang-rt-dev)"
command -v cmake >/dev/null 2>&1 || fail "cmake is missing; install cmake 3.21 or newer"
if command -v ninja >/dev/null 2>&1; then
    generator=Ninja
else
    generator="Unix Makefiles"
fi

build=target/native-fuzz
work=target/fuzz
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
mkdir -p "$work" "$build"

binary_of() {
    case $1 in
        control | apply_then_match | encode_any_text) echo "$build/src-cpp/tests/$1_fuzz" ;;
        peer_bytes) echo "$build/publisher/tests/$1_fuzz" ;;
        *) echo "$build/tests/$1_fuzz" ;;
    esac
}

corpus_of() {
    case $1 in
        apply_then_match) echo src-cpp/tests/fuzz/corpus ;;
        apply_any_bytes) echo native-core/tests/corpus ;;
        abi_calls) echo native-core/tests/corpus-calls ;;
        tracker_calls) echo native-core/tests/corpus-tracker ;;
        encode_any_text) echo src-cpp/tests/fuzz/corpus-encode ;;
        peer_bytes) echo native-core/publisher/tests/corpus ;;
        *) fail "there is no target '$1'; apply_then_match, apply_any_bytes, abi_calls, tracker_calls, encode_any_text and peer_bytes are" ;;
    esac
}

compile() {
    if [ ! -f "$build/build.ninja" ] && [ ! -f "$build/Makefile" ]; then
        (cd native-core && cmake --preset fuzz -G "$generator") >"$work/build.log" 2>&1 || {
            cat "$work/build.log" >&2
            fail "the fuzzers cannot be configured, see above"
        }
    fi
    for target in "$@"; do
        cmake --build "$build" --target "${target}_fuzz" --parallel "$(nproc)" >"$work/build.log" 2>&1 || {
            cat "$work/build.log" >&2
            fail "${target}_fuzz does not compile, see above"
        }
    done
}

fuzzer=
trap '[ -z "$fuzzer" ] || kill "$fuzzer" 2>/dev/null || :' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# search TARGET SECONDS CORPUS...: what the fuzzer last said, every ten seconds; the status is the fuzzer's.
search() {
    name=$1
    limit=$2
    shift 2
    log=$work/$name.log
    "$(binary_of "$name")" -max_total_time="$limit" -timeout=30 -rss_limit_mb=4096 -max_len=4096 -print_final_stats=1 \
        "-artifact_prefix=$work/$name/" "$@" >"$log" 2>&1 &
    fuzzer=$!
    ticks=0
    while kill -0 "$fuzzer" 2>/dev/null; do
        sleep 1
        ticks=$((ticks + 1))
        [ $((ticks % 10)) -ne 0 ] || progress
    done
    status=0
    wait "$fuzzer" || status=$?
    fuzzer=
    return "$status"
}

progress() {
    printf '  [%4d s] %s: %s\n' "$ticks" "$name" \
        "$(sed -n 's/^#\([0-9]*\).*\(cov: [0-9]*\) \(ft: [0-9]*\).*exec\/s: \([0-9]*\).*/\1 inputs, \2, \3, \4 a second/p' "$log" | tail -n 1)"
}

for target in "$@"; do
    corpus_of "$target" >/dev/null
done
compile control "$@"

mkdir -p "$work/control"
if search control 60 || ! grep -q 'AddressSanitizer: heap-buffer-overflow' "$work/control.log"; then
    tail -n 20 "$work/control.log" >&2
    fail "the planted mistake was not found: the search is worth nothing (log: $work/control.log)"
fi
rm -rf "$work/control"
echo "control: the planted mistake was found"

failed=0
for target in "$@"; do
    mkdir -p "$work/$target/found"
    if search "$target" "$seconds" "$work/$target/found" "$(corpus_of "$target")"; then
        echo "$target: nothing found in $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs, $seconds s"
        continue
    fi
    failed=1
    # The report of the sanitizer, or of the body itself, without the fuzzer's own progress.
    grep -v '^#[0-9]' "$log" | tail -n 60 >&2
    input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
    echo "$target: FOUND something (log: $log)" >&2
    [ -z "$input" ] || {
        echo "  input:  $input" >&2
        echo "  replay: $(binary_of "$target") $input" >&2
        echo "  keep:   cp $input $(corpus_of "$target")/   (every build replays the corpus)" >&2
    }
done
exit "$failed"

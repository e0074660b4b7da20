#!/bin/sh
# Counts the instructions of kvindex_cells and compares them with instructions.txt.
#
#   count_instructions.sh CELLS            fails when a cell takes over 5 % more than recorded
#   count_instructions.sh CELLS --record   writes instructions.txt anew (say why in RESULTS.md)
#   count_instructions.sh --self-test      shows that a rise would be seen
#
# Counts hold for one compiler. With another one, or without valgrind, it says so and checks nothing (status 77).
set -eu

here=$(cd "$(dirname -- "$0")" && pwd)
recorded=$here/instructions.txt

# compare RECORDED COUNTED NAME
compare() {
    if [ "$2" -gt $(($1 + $1 / 20)) ]; then
        echo "$3: $2 instructions, recorded are $1: over 5 % more. If that is meant, record anew with --record"
        return 1
    fi
    echo "$3: $2 instructions, recorded $1"
}

if [ "$1" = --self-test ]; then
    compare 1000 1050 equal || exit 1
    if compare 1000 1051 more; then
        echo "a rise of 5.1 % goes unnoticed"
        exit 1
    fi
    exit 0
fi

command -v valgrind >/dev/null 2>&1 || {
    echo "SKIPPED: valgrind is missing, no instructions were counted"
    exit 77
}
compiler=$(c++ --version | sed -n '1s/ *(.*)//p')
out=$(mktemp)
trap 'rm -f "$out" "$out.log"' EXIT
count() {
    valgrind --tool=callgrind --callgrind-out-file="$out" "$cells" "$1" >"$out.log" 2>&1 || {
        cat "$out.log" >&2
        exit 1
    }
    sed -n 's/^summary: //p; s/^totals: //p' "$out" | sed -n 1p
}
cells=$1
if [ "${2:-}" = --record ]; then
    {
        echo "# Instructions of kvindex_cells under callgrind; written by count_instructions.sh --record"
        echo "compiler $compiler"
        for cell in match decode churn; do
            echo "$cell $(count $cell)"
        done
    } >"$recorded"
    cat "$recorded"
    exit 0
fi
if ! grep -qxF "compiler $compiler" "$recorded"; then
    echo "SKIPPED: counts are recorded for $(sed -n 's/^compiler //p' "$recorded"), this is $compiler"
    exit 77
fi
status=0
for cell in match decode churn; do
    compare "$(sed -n "s/^$cell //p" "$recorded")" "$(count $cell)" $cell || status=1
done
exit $status

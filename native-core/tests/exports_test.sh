#!/bin/sh
# The library shows the functions that the header declares, all of them and nothing else.
#
#   exports_test.sh LIBRARY HEADER
set -eu
shown=$(nm -D --defined-only "$1" | awk '{ print $3 }' | sort)
declared=$(sed -n 's/^\(int32_t\|const char\*\) \(kvi_[a-z_]*\)(.*/\2/p' "$2" | sort)
[ -n "$declared" ] || { echo "no function found in $2"; exit 1; }
if [ "$shown" != "$declared" ]; then
    printf 'shown:\n%s\ndeclared:\n%s\n' "$shown" "$declared"
    exit 1
fi

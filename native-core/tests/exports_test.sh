#!/bin/sh
# The library shows the functions that the headers declare, all of them and nothing else.
#
#   exports_test.sh LIBRARY HEADER...
set -eu
library=$1
shift
shown=$(nm -D --defined-only "$library" | awk '{ print $3 }' | sort)
declared=$(sed -n 's/^\(int32_t\|const char\*\) \(k[vt][itkp]_[a-z_]*\)(.*/\2/p' "$@" | sort)
[ -n "$declared" ] || { echo "no function found in $*"; exit 1; }
if [ "$shown" != "$declared" ]; then
    printf 'shown:\n%s\ndeclared:\n%s\n' "$shown" "$declared"
    exit 1
fi

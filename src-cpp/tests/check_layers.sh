#!/bin/sh
# Layers of src-cpp: a folder includes only itself and folders to its left.
#
#   check_layers.sh SRC_CPP_DIR      fails with one line per wrong include
#   check_layers.sh --self-test      shows that it would
set -eu

layers="base tokens sync storage tracker index snapshot include facade"

# Works on names relative to the tree, which have no spaces.
check() (
    cd "$1"
    allowed=""
    wrong=0
    seen=0
    for layer in $layers; do
        allowed="$allowed $layer"
        # shellcheck disable=SC2044
        for file in $(find "$layer" -name '*.hpp' -o -name '*.cpp'); do
            seen=$((seen + 1))
            # shellcheck disable=SC2013
            for include in $(sed -n 's/^ *# *include *"\([^"]*\)".*/\1/p' "$file"); do
                folder=${include%%/*}
                [ "$folder" = kvindex ] && folder=include
                case " $allowed " in
                    *" $folder "*) ;;
                    *)
                        echo "$file includes $include: $layer is to the left of $folder"
                        wrong=1
                        ;;
                esac
            done
        done
    done
    if [ "$seen" -lt 5 ]; then
        echo "only $seen files seen under $1: this check saw nothing"
        wrong=1
    fi
    return $wrong
)

if [ "$1" = --self-test ]; then
    dir=$(mktemp -d)
    trap 'rm -rf "$dir"' EXIT
    for layer in $layers; do
        mkdir -p "$dir/$layer"
        echo '#include "base/types.hpp"' >"$dir/$layer/a.hpp"
    done
    check "$dir" || { echo "a good tree is refused"; exit 1; }
    echo '#include "index/tree_index.hpp"' >"$dir/storage/b.hpp"
    if check "$dir"; then
        echo "storage including index is not seen"
        exit 1
    fi
    exit 0
fi
check "$1"

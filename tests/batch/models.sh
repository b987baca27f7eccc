#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Real models: each gives its stored outputs, as it is and rewritten; and from file to file each
# chooser finds a graph of no higher cost that computes the same.
set -eu
models=${REGRAFT_SHARED:-${REGRAFT_SOURCE:-.}/../shared}/models
[ -d "$models" ] || { echo "1..0 # SKIP no $models"; exit 0; }
# shellcheck source=tests/batch/tap.sh
. "${REGRAFT_SOURCE:-.}/tests/batch/tap.sh"

# A number of the JSON object in $work/result.
value() {
    sed -n "s/^ *\"$1\": *\\(-\\{0,1\\}[0-9.eE+-]*\\),\\{0,1\\}\$/\\1/p" "$work/result"
}

# FOLDER BY OPTION...: rewrites and compares the files.
rewrites() {
    model=$1/model.onnx
    by=$2
    shift 2
    rm -f "$work/new.onnx"
    "$program" optimize "$model" -o "$work/new.onnx" --by "$by" --backend model \
        --json --quiet "$@" >"$work/result" || return 1
    before=$(value cost_before_ms) after=$(value cost_after_ms)
    echo "cost $before -> $after"
    awk -v a="$before" -v b="$after" 'BEGIN { exit !(a > 0 && b > 0 && b <= a * 1.0000001) }' ||
        return 1
    "$program" check "$model" "$work/new.onnx"
}

for folder in "$models"/*/; do
    name=$(basename "$folder")
    try "$name gives its stored outputs" "$program" conform "$folder"
    for by in greedy taso; do
        try "$name rewritten by $by gives them too" "$program" conform --by $by "$folder"
        try "$name from file to file by $by" rewrites "$folder" $by
    done
    try "$name from file to file by ppo" rewrites "$folder" ppo --episodes 2
done
[ $n -gt 0 ] || { echo "Bail out! no models in $models"; exit 1; }
echo "1..$n"

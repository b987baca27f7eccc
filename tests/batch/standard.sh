#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The operator tests of the onnx package: nearly all give their stored outputs, the others are
# skipped by name; values that are no tensors go through files.
set -eu
data=${ONNX_TESTDATA:-/usr/share/libonnx-testdata/data}
[ -d "$data/node" ] || { echo "1..0 # SKIP no $data"; exit 0; }
# shellcheck source=tests/batch/tap.sh
. "${REGRAFT_SOURCE:-.}/tests/batch/tap.sh"

# FOLDER NUMBER WORDS: so many cases are skipped for this reason.
skips() {
    found=$(grep -c "\"why\": *\"$3" "$work/$1" || true)
    echo "$found of $2"
    [ "$found" -eq "$2" ]
}

# FILE: the case with this output passes too.
again() {
    cp "$1" "$work/case/test_data_set_0/output_0.pb"
    "$program" conform "$work/case"
}

# CASE: what `run` writes is what the case has stored.
writes() {
    rm -rf "$work/case"
    mkdir -p "$work/case/test_data_set_0"
    cp "$data/node/$1/model.onnx" "$work/case"
    cp "$data/node/$1"/test_data_set_0/input_*.pb "$work/case/test_data_set_0"
    "$program" run "$work/case/model.onnx" --inputs "$data/node/$1/test_data_set_0" \
        --outputs "$work/case/test_data_set_0" &&
        cp "$data/node/$1"/test_data_set_0/output_0.pb "$work/stored" &&
        "$program" conform "$work/case" && again "$work/stored"
}

# CASE: with the outputs of another case it does not pass.
tells() {
    rm -rf "$work/case"
    mkdir -p "$work/case"
    cp -r "$data/node/$1/model.onnx" "$data/node/$1/test_data_set_0" "$work/case"
    cp "$data/node/$2/test_data_set_0/output_0.pb" "$work/case/test_data_set_0"
    status=0
    "$program" conform "$work/case" || status=$?
    [ "$status" -eq 3 ]
}

try "node" passes "$data/node" 911
mv "$work/counts" "$work/node"
try "node by the reference kernels" "$program" conform --backend reference "$data/node"
try "node rewritten by greedy" "$program" conform --by greedy "$data/node"
try "simple" passes "$data/simple" 21
mv "$work/counts" "$work/simple"
try "random operators are skipped by name" skips node 10 "random operator"
try "training operators are skipped by name" skips node 7 "training operator"
try "data that contradict their model are skipped" skips node 4 "the data do not fit the model"
try "a sequence is written" writes test_sequence_insert_at_back
try "an optional is written" writes test_identity_opt
try "strings are written" writes test_strnormalizer_nostopwords_nochangecase
try "another sequence is told" tells test_sequence_insert_at_back test_sequence_insert_at_front
try "another string is told" tells test_strnormalizer_export_monday_casesensintive_lower \
    test_strnormalizer_export_monday_casesensintive_upper
echo "1..$n"

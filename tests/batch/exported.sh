#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The models of the onnx package that an exporter wrote, most in opset 6: each gives its stored
# outputs, as it is and rewritten, and from file to file.
set -eu
data=${ONNX_TESTDATA:-/usr/share/libonnx-testdata/data}
[ -d "$data/pytorch-converted" ] || { echo "1..0 # SKIP no $data"; exit 0; }
# shellcheck source=tests/batch/tap.sh
. "${REGRAFT_SOURCE:-.}/tests/batch/tap.sh"

# MODEL: rewritten, saved, loaded again, it computes the same.
saves() {
    "$program" optimize "$1" -o "$work/new.onnx" --by greedy --backend model --measure 0 --quiet &&
        "$program" check "$1" "$work/new.onnx"
}

try "pytorch-converted" passes "$data/pytorch-converted" 80
try "pytorch-operator" passes "$data/pytorch-operator" 33
try "pytorch-operator rewritten by greedy" "$program" conform --by greedy "$data/pytorch-operator"
for name in converted/test_BatchNorm2d_eval converted/test_PReLU_2d_multiparam \
    converted/test_Linear converted/test_ConstantPad2d operator/test_operator_addmm \
    operator/test_operator_add_size1_right_broadcast operator/test_operator_clip \
    operator/test_operator_repeat; do
    try "$name from file to file" saves "$data/pytorch-$name/model.onnx"
done
echo "1..$n"

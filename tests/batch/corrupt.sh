#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Files that are no models: one line that names the file and the fault, status 1, nothing written,
# within 512 MB and ten seconds.
# shellcheck disable=SC3045 # dash and bash have ulimit -v
set -eu
source=${REGRAFT_SOURCE:-.}
files=${REGRAFT_SHARED:-$source/../shared}/cases/corrupt
[ -d "$files" ] || { echo "1..0 # SKIP no $files"; exit 0; }
work=$(mktemp -d "${TMPDIR:-/tmp}/regraft-corrupt.XXXXXX")
trap 'rm -rf "$work"' EXIT
program=${REGRAFT:-./regraft}
n=0

# Under a sanitizer the address space is mapped in advance and cannot be limited.
limit=524288
(ulimit -v $limit && "$program" --version) >/dev/null 2>&1 || limit=unlimited

# FILE PATTERN: the message contains the file's name and the pattern (extended, case ignored).
refuses() {
    n=$((n + 1))
    status=0
    (
        ulimit -v $limit
        exec timeout 10 "$program" optimize "$files/$1" -o "$work/out.onnx"
    ) >"$work/stdout" 2>"$work/stderr" </dev/null || status=$?
    why=
    [ $status = 1 ] || why="$why, status $status"
    [ "$(wc -l <"$work/stderr")" = 1 ] || why="$why, not one line"
    grep -qF "$1" "$work/stderr" || why="$why, the file is not named"
    grep -qiE "$2" "$work/stderr" || why="$why, nothing about $2"
    [ ! -s "$work/stdout" ] || why="$why, words on standard output"
    [ "$(ls "$work")" = "$(printf 'stderr\nstdout')" ] || why="$why, something was written"
    if [ -z "$why" ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1$why"
        sed 's/^/# /' "$work/stderr"
        rm -f "$work"/out*
    fi
}

refuses empty.onnx 'empty'
refuses git_lfs_pointer.onnx 'pointer'
refuses html.onnx 'html|text'
refuses random.onnx '(byte|offset).*[0-9]|[0-9].*byte'
refuses truncated.onnx '[0-9]+.*3000000|3000000.*[0-9]+|ends early'
refuses length_2e34.onnx '34359738367'
refuses bad_wiretype.onnx 'wire type 7'
refuses dims_overflow.onnx 'w.*1099511627776'
refuses dims_minus4.onnx 'w.*-4'
refuses raw_data_too_short.onnx 'w.*(32.*16|16.*32)'
refuses no_opset_import.onnx 'opset_import'
refuses opset_999.onnx '999.*[0-9]'
refuses unknown_op.onnx 'NoSuchOp'
refuses dangling_input.onnx 'nobody'
echo "1..$n"

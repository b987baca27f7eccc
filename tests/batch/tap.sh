# SPDX-License-Identifier: GPL-3.0-or-later
# What the scripts here begin with: the program, a folder that goes when the script ends, TAP lines.
#     . "${REGRAFT_SOURCE:-.}/tests/batch/tap.sh"
# shellcheck shell=sh disable=SC2034
program=${REGRAFT:-./regraft}
work=$(mktemp -d "${TMPDIR:-/tmp}/regraft-batch.XXXXXX")
trap 'rm -rf "$work"' EXIT
n=0

# WORDS COMMAND...: the TAP line; what the command said is shown when it fails.
try() {
    n=$((n + 1))
    words=$1
    shift
    if "$@" >"$work/said" 2>&1; then
        echo "ok $n - $words"
    else
        echo "not ok $n - $words (status $?)"
        sed 's/^/# /' "$work/said" | tail -n 20
    fi
}

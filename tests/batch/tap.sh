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

# FOLDER LEAST: at least so many of its cases pass, and none fails; counts are left in $work/counts.
passes() {
    "$program" conform --json "$1" >"$work/counts" || return 1
    passed=$(sed -n 's/^ *"passed": *\([0-9]*\),\{0,1\}$/\1/p' "$work/counts")
    echo "$passed passed, $2 are wanted"
    [ "$passed" -ge "$2" ]
}

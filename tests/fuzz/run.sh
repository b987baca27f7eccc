#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh PROGRAM CORPUS SECONDS: fuzzes one target, starting from CORPUS/NAME and from what earlier
# runs kept in fuzz/NAME; prints one line of figures. Status 1 if there is a finding, which lies in
# fuzz/findings.
set -u
program=$1
name=${1##*fuzz_}
corpus=$2/$name
seconds=$3
kept=fuzz/$name
findings=fuzz/findings
log=fuzz/$name.log
mkdir -p "$kept" "$findings"

words=
[ ! -f "$2/../$name.dict" ] || words="-dict=$2/../$name.dict"
most=4096
[ "$name" != checkpoint ] || most=32768

# Times are of a clock on the wall, and a machine that is busy makes every input slow.
status=0
# shellcheck disable=SC2086 # no word, no argument
OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 nice -n 19 "$program" $words -max_len=$most \
    -timeout=60 -report_slow_units=60 -rss_limit_mb=2048 -malloc_limit_mb=1024 \
    -max_total_time="$seconds" -print_final_stats=1 \
    -artifact_prefix="$findings/$name-" "$kept" "$corpus" >"$log" 2>&1 </dev/null || status=1

found=$(find "$findings" -name "$name-*" | wc -l)
awk -v name="$name" -v found="$found" '
    / cov: / {
        for (i = 1; i < NF; i++) {
            if ($i == "cov:") cov = $(i + 1)
            if ($i == "ft:") ft = $(i + 1)
        }
    }
    /^Done / { runs = $2; seconds = $5 }
    /number_of_executed_units/ && !runs { runs = $2 }
    END { printf "%-12s %d executions, %s s, %d edges, %d features, %d findings\n", name, runs,
                 seconds == "" ? "?" : seconds, cov, ft, found }' "$log"
exit $status

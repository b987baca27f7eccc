#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Who may include whom: every #include of the code goes down the floors, never up or sideways, and a
# vendor's header stays in its room. One TAP line a folder; an offence is shown as file:line.
set -eu
root=${1:-${REGRAFT_SOURCE:-$(dirname "$0")/../..}}
cd "$root"

folders=$(find engine agent samples tui -name '*.[ch]' 2>/dev/null | sed 's|/[^/]*$||' | sort -u)

# folder: the folders (or files) that it may include beside itself
middle="engine/base engine/ir engine/ops engine/exec engine/measure engine/rewrite"
allowed="
engine/base
engine/ir       engine/base
engine/ops      engine/base engine/ir
engine/onnx     engine/base engine/ir engine/ops
engine/rewrite  engine/base engine/ir engine/ops
engine/draw     engine/base engine/ir engine/ops
engine/exec     engine/base engine/ir engine/ops
engine/measure  engine/base engine/ir engine/ops engine/exec
engine/search   $middle
engine/place    $middle
engine/generate engine/base engine/ir engine/ops engine/rewrite
engine          $middle engine/draw engine/onnx engine/search engine/place engine/generate
samples         engine/base engine/ir engine/ops engine/engine.h
agent           engine/base engine/engine.h
tui             engine/base engine/engine.h agent/agent.h samples
"
# header (pattern) and the only place (pattern) that may include it
rooms='
^(oneapi/)?dnnl                    ^engine/exec/cpu/
^(cuda|cudnn|cublas|nvrtc|cupti)   ^engine/exec/cuda/
^(ncursesw?/)?n?curses[.]h$        ^tui/term_curses[.]c$
^(graphviz/)?(gvc|cgraph|gvplugin) ^engine/draw/
^sqlite3[.]h$                      ^engine/measure/latency_db[.]c$
^Imlib2[.]h$                       ^engine/ops/picture[.]c$
^jpeglib[.]h$                      ^engine/ops/jpeg[.]c$
^mpi[.]h$                          ^agent/mpi[.]c$
onnx[.]pb-c[.]h$                   ^engine/onnx/
^jansson[.]h$                      ^(engine/draw|tui)/
^cmocka[.]h$                       ^tests/
'

n=0
for folder in $folders; do
    n=$((n + 1))
    offences=$(grep -nE '^[[:space:]]*#[[:space:]]*include' /dev/null "$folder"/*.[ch] 2>/dev/null |
        ALLOWED=$allowed ROOMS=$rooms awk -v folder="$folder" '
            BEGIN {
                lines = split(ENVIRON["ALLOWED"], line, "\n")
                for (i = 1; i <= lines; i++) {
                    k = split(line[i], f, " ")
                    if (!k) continue
                    known[f[1]] = 1
                    for (j = 1; j <= k; j++) may[f[1], f[j]] = 1
                    for (j = 1; j <= k; j++) target[f[j]] = 1
                }
                lines = split(ENVIRON["ROOMS"], line, "\n")
                for (i = 1; i <= lines; i++)
                    if (split(line[i], f, " ")) { header[++rooms] = f[1]; room[rooms] = f[2] }
                # a folder below one of the table belongs to it
                for (at = folder; at != "" && !(at in known); ) if (!sub("/[^/]*$", "", at)) break
                if (!(at in known)) print folder ": is not in the table of tests/lint/layers.sh"
            }
            function tell(why) { print where ": includes " name ", " why }
            {
                split($0, part, ":")
                file = part[1]
                where = part[1] ":" part[2]
                quoted = $0 ~ /include[[:space:]]*"/
                name = $0
                sub(/^[^"<]*["<]/, "", name)
                sub(/[">].*$/, "", name)
                for (i = 1; i <= rooms; i++)
                    if (name ~ header[i] && file !~ room[i]) tell("which belongs to " room[i])
                if (name ~ /^\.\.?\//) tell("not written from the root")
                if (!quoted || name ~ /^\.\.?\//) next
                if (name !~ /\//) next # of the same folder
                if (name !~ /^(engine|agent|samples|tui|tests)\//) next # below the same folder
                to = name
                if ((at, to) in may) next
                while (sub("/[^/]*$", "", to)) if (to in known) break
                if (to != at && !((at, to) in may)) tell("which " at " may not know")
            }')
    if [ -z "$offences" ]; then
        echo "ok $n - includes of $folder"
    else
        echo "not ok $n - includes of $folder"
        printf '%s\n' "$offences" | sed 's/^/# /'
    fi
done
[ $n -gt 0 ] || { echo "Bail out! no code below $root"; exit 1; }
echo "1..$n"

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The lints find what they look for: each is run on a small clean tree, then with one bad line.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d "${TMPDIR:-/tmp}/regraft-lint.XXXXXX")
trap 'rm -rf "$tree"' EXIT
n=0

# A clean tree with a file on every floor.
clean() {
    rm -rf "${tree:?}"/*
    mkdir -p "$tree/engine/base" "$tree/engine/ir" "$tree/engine/ops" "$tree/engine/rewrite" \
        "$tree/engine/exec/cpu" "$tree/engine/measure" "$tree/engine/draw" "$tree/agent" "$tree/tui"
    put engine/base/a.h '#include <stdio.h>'
    put engine/ir/a.h '#include "engine/base/a.h"'
    put engine/ops/a.c '#include "engine/ir/a.h"'
    put engine/rewrite/a.c '#include "engine/ops/a.h"'
    put engine/exec/cpu/a.c '#include <oneapi/dnnl/dnnl.h>' '#include "engine/exec/plan.h"'
    put engine/measure/latency_db.c '#include <sqlite3.h>' '#include "engine/exec/plan.h"'
    put engine/draw/a.c '#include <gvc.h>' '#include <jansson.h>'
    put engine/engine.h '#include "engine/rewrite/a.h"' '#include "engine/draw/a.h"'
    put agent/a.c '#include "engine/engine.h"' '#include "agent/a.h"' '#include "a.h"'
    put tui/term_curses.c '#include <curses.h>' '#include "agent/agent.h"'
}

# put FILE LINE...: writes a file with a licence on its first line.
put() {
    file=$tree/$1
    shift
    { echo '/* SPDX-License-Identifier: GPL-3.0-or-later */' && printf '%s\n' "$@"; } >"$file"
}

# report WORDS STATUS: the TAP line; on failure shows what the lint said.
report() {
    n=$((n + 1))
    if [ "$2" = 0 ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        printf '%s\n' "$said" | sed 's/^/# /'
    fi
}

passes() {
    clean
    said=$("$here/$1")
    status=0
    printf '%s\n' "$said" | grep -q '^not ok' && status=1
    report "$1 accepts a clean tree" $status
}

# finds LINT WHERE FILE LINE...: with that file the lint has one law broken, at WHERE.
finds() {
    lint=$1 where=$2
    shift 2
    clean
    put "$@"
    said=$("$here/$lint" "$tree") || :
    broken=$(printf '%s\n' "$said" | grep -c '^not ok' || :)
    status=1
    [ "$broken" = 1 ] && printf '%s\n' "$said" | grep -q "^# $where" && status=0
    report "$lint finds $where" $status
}

include() {
    finds layers.sh "$1:2: includes $3" "$1" "#include $2$3$4"
}

REGRAFT_SOURCE=$tree
export REGRAFT_SOURCE
passes layers.sh
passes style.sh

include engine/base/b.c '"' engine/ir/a.h '"'
include engine/ir/b.c '"' engine/ops/a.h '"'
include engine/ops/b.c '"' engine/exec/a.h '"'
include engine/rewrite/b.c '"' engine/exec/a.h '"'
include engine/exec/b.c '"' engine/measure/a.h '"'
include engine/exec/cpu/b.c '"' engine/rewrite/a.h '"'
include engine/draw/b.c '"' engine/rewrite/a.h '"'
include engine/measure/b.c '"' engine/engine.h '"'
include engine/b.c '"' agent/agent.h '"'
include agent/b.c '"' engine/ir/a.h '"'
include agent/b.c '"' tui/a.h '"'
include tui/b.c '"' agent/a.h '"'
include tui/b.c '"' engine/rewrite/a.h '"'
include tui/b.c '"' ../agent/agent.h '"'
include tui/b.c '<' curses.h '>'
include tui/b.c '<' ncursesw/curses.h '>'
include engine/exec/b.c '<' oneapi/dnnl/dnnl.h '>'
include engine/measure/b.c '<' sqlite3.h '>'
include engine/ir/b.c '<' graphviz/cgraph.h '>'
include engine/rewrite/b.c '"' engine/onnx/onnx.pb-c.h '"'
include agent/b.c '<' jansson.h '>'
include agent/b.c '<' mpi.h '>'

hundred=$(printf '%0100d' 0)
finds style.sh 'tui/b.c:2' tui/b.c "/*$hundred*/"
finds style.sh 'tui/b.c:3' tui/b.c '' "$(printf '\tint x;')"
finds style.sh 'tui/b.c:2' tui/b.c 'int x; '
finds style.sh 'tui/b.c:2' tui/b.c "/* T""ODO: more */"
finds style.sh 'tui/b.c:801' tui/b.c "$(seq 1 800 | sed 's|.*|/* & */|')"
finds style.sh 'engine/ir/b.c:2' engine/ir/b.c 'static void f(void) { printf("x"); }'
finds style.sh 'engine/ir/b.c:3' engine/ir/b.c '' 'static void f(void) { exit(1); }'
finds style.sh 'engine/ir/b.c:2' engine/ir/b.c 'static void *f(void) { return malloc(1); }'
finds style.sh 'agent/b.c:2' agent/b.c 'static int f(void) { return tg_fail(TG_IO, "no file."); }'
if ctags --version 2>/dev/null | grep -q Universal; then
    finds style.sh 'engine/ir/b.c:2: f has neither tg_' engine/ir/b.c 'void f(void) {}'
    finds style.sh 'agent/b.c:2: tg_f has neither ag_' agent/b.c 'void tg_f(void) {}'
    finds style.sh 'tui/b.c:3: ui_f, 61 lines' tui/b.c '' 'void ui_f(void)' '{' \
        "$(seq 1 58 | sed 's|.*|    ui_g(&);|')" '}'
fi
clean
(cd "$tree" && find engine agent tui -type f | grep -v '^engine/ir/a.h$' | sed 's/.*/    & \\/') \
    >"$tree/Makefile.am"
said=$("$here/style.sh")
status=0
printf '%s\n' "$said" | grep -q '^# engine/ir/a.h:1' || status=1
report "style.sh finds a file that is not in Makefile.am" $status
clean
printf 'int x;\n' >"$tree/tui/b.c"
said=$("$here/style.sh")
status=0
printf '%s\n' "$said" | grep -q '^# tui/b.c:1' || status=1
report "style.sh finds a file without licence" $status
echo "1..$n"

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The same scripts in a real terminal show what the terminal in memory shows, and the terminal is
# given back after every way of ending. REGRAFT names the program (default ./regraft).
set -eu
here=${REGRAFT_SOURCE:-$(dirname "$0")/../..}/tests/screen
program=$(command -v "${REGRAFT:-./regraft}") || { echo "1..0 # SKIP no program"; exit 0; }
command -v tmux >/dev/null || { echo "1..0 # SKIP no tmux"; exit 0; }
locale -a | grep -qi '^c\.utf-\?8$' || { echo "1..0 # SKIP no C.UTF-8"; exit 0; }
socket=regraft-test-$$
work=$(mktemp -d)
unset TMUX NO_COLOR
LC_ALL=C.UTF-8
export LC_ALL
tmux_do() { tmux -L "$socket" -f /dev/null "$@"; }
trap 'tmux_do kill-server 2>/dev/null || :; rm -rf "$work"' EXIT

n=0
result() {
    n=$((n + 1))
    if [ "$2" = 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; fi
}

# The server lives until the end: one that ends with its last session races with the next.
tmux_do new-session -d -s hold "exec sleep 600"

# start ROWS COLS TERM COMMAND: a fresh session that runs the command in a shell.
session=0
start() {
    session=$((session + 1))
    tmux_do new-session -d -s "s$session" -y "$1" -x "$2" "TERM=$3 sh -c '$4'"
    tmux_do set-option -g status off
    tmux_do resize-window -t "s$session" -y "$1" -x "$2"
}

screen() { tmux_do capture-pane -t "s$session" -p | sed 's/ *$//'; }

# shows FILE: waits until the screen is what the file says.
shows() {
    for _ in $(seq 100); do
        screen >"$work/got"
        if cmp -s "$work/got" "$1"; then return 0; fi
        sleep 0.1
    done
    diff "$1" "$work/got" | sed 's/^/# /'
    return 1
}

# says TEXT: waits until the text is on the screen.
says() {
    for _ in $(seq 100); do
        if screen | grep -qF -e "$1"; then return 0; fi
        sleep 0.1
    done
    screen | sed 's/^/# /'
    return 1
}

same_screen() {
    start "$2" "$3" "$4" "exec $program -Q --script $here/$1.keys"
    code=0
    shows "$here/$1.screen" || code=1
    result "$1 in $4 at $3x$2" "$code"
    tmux_do kill-session -t "s$session" 2>/dev/null || :
}

# ends NAME STATUS HOW: line settings and screen are as before after HOW ended it.
ends() {
    code=0
    start 24 80 xterm-256color \
        "stty -a >$work/a; echo before; $program -Q & p=\$!; echo \$p >$work/pid; \
         wait \$p; s=\$?; stty -a >$work/b; echo status \$s; exec cat"
    code=0
    says '(Interaction)' || code=1
    eval "$3"
    says "status $2" || code=1
    says before || code=1
    cmp -s "$work/a" "$work/b" || code=1
    result "the terminal is whole after $1" "$code"
    tmux_do kill-session -t "s$session" 2>/dev/null || :
}

# A model, a few rules that stay, nothing that depends on time.
rules="REGRAFT_RULES=$here/rules"
"$program" sample conv-bn --out "$work/conv-bn.onnx" >/dev/null
model="--set backend=model --set train-threads=0"

# model_screen NAME ROWS COLS TERM: the screen of a script after that model was opened.
model_screen() {
    start "$2" "$3" "$4" \
        "$rules exec $program -Q $model --script $here/$1.keys $work/conv-bn.onnx"
    code=0
    shows "$here/$1.screen" || code=1
    result "$1 in $4 at $3x$2" "$code"
    tmux_do kill-session -t "s$session" 2>/dev/null || :
}

# resumes NAME SIGNAL: a session that the signal ended goes on from its journal.
resumes() {
    code=0
    start 24 80 xterm-256color \
        "$rules XDG_STATE_HOME=$work/state $program $model $work/conv-bn.onnx & p=\$!; \
         echo \$p >$work/pid; wait \$p; echo status \$?; exec cat"
    says 'step 0' && says STOP || code=1
    tmux_do send-keys -t "s$session" a
    says 'step 1' && says '1/' || code=1
    tmux_do send-keys -t "s$session" C-x C-s
    says Wrote || code=1
    kill "-$2" "$(cat "$work/pid")"
    says status || code=1
    [ "$2" = KILL ] || says 'go on with: regraft' || code=1
    tmux_do kill-session -t "s$session" 2>/dev/null || :
    journal=$(ls -t "$work"/state/regraft/*.rgj | head -n 1)
    start 24 80 xterm-256color "$rules exec $program -Q $model $journal"
    says 'step 1' || code=1
    says '1 steps applied again' || code=1
    result "a session goes on after $1" "$code"
    tmux_do kill-session -t "s$session" 2>/dev/null || :
}

echo "1..10"
same_screen windows 24 80 tmux-256color
same_screen search 12 50 xterm-256color
same_screen help-ascii 24 80 vt100
ends C-x\ C-c 0 'tmux_do send-keys -t "s$session" C-x C-c'
ends SIGTERM 143 'kill -TERM "$(cat "$work/pid")"'
ends SIGHUP 129 'kill -HUP "$(cat "$work/pid")"'
ends SIGSEGV 139 'kill -SEGV "$(cat "$work/pid")"'
model_screen session-weights 24 80 tmux-256color
resumes "kill -9" KILL
resumes SIGSEGV SEGV

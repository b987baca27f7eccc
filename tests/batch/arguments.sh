#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Commands given what they cannot use: one line on standard error, nothing on standard output,
# status 1 (bad input) or 2 (bad usage), never a crash, never a wait.
set -eu
program=$(cd "$(dirname "${REGRAFT:-./regraft}")" && pwd)/regraft
work=$(mktemp -d "${TMPDIR:-/tmp}/regraft-arguments.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
n=0

"$program" sample branches -o good.onnx >words 2>&1 </dev/null
mkdir folder
: >empty
printf 'no model at all, only words\n' >words.onnx
head -c 400 good.onnx >cut.onnx
printf 'regraft journal 1\n' >short.rgj
printf '\012\022regraft checkpoint' >short.rgc
mkfifo fifo
ls | grep -vx before >before || :

# WHAT WANT ARGUMENT...: runs the program with the arguments; WANT is the status or 12 for either.
refuses() {
    what=$1 want=$2 status=0 why=
    shift 2
    n=$((n + 1))
    timeout 60 "$program" "$@" >out 2>err </dev/null || status=$?
    case $want$status in 11 | 22 | 121 | 122) ;; *) why="$why, status $status" ;; esac
    [ "$(wc -l <err)" = 1 ] || why="$why, $(wc -l <err) lines"
    [ -s err ] || why="$why, no words"
    [ ! -s out ] || why="$why, words on standard output"
    if [ -z "$why" ]; then
        echo "ok $n - $what: $*"
    else
        echo "not ok $n - $what: $*$why"
        head -n 5 err | sed 's/^/# /'
    fi
}

refuses "a folder without cases" 1 conform folder
for command in optimize candidates bench export train; do
    refuses "no file" 12 "$command"
    out=
    case $command in
        optimize) out="-o out.onnx" ;;
        export) out="-o out.svg" ;;
        train) out="-c out.rgc" ;;
    esac
    for file in absent folder empty words.onnx cut.onnx /dev/null fifo ''; do
        # shellcheck disable=SC2086 # no word, no argument
        refuses "not a model" 12 "$command" "$file" $out
    done
    refuses "no such option" 2 "$command" good.onnx --nosuch
    refuses "an option without its value" 2 "$command" good.onnx --dim
    # shellcheck disable=SC2086
    refuses "a size that is none" 2 "$command" good.onnx $out --dim n=-1
    # shellcheck disable=SC2086
    refuses "a size that is none" 2 "$command" good.onnx $out --dim =
done

for command in optimize candidates bench; do
    for number in -1 99999999999999999999 nan 1.5 '' x 0x10; do
        refuses "no number of threads" 2 "$command" good.onnx --threads "$number"
    done
done
for number in nan inf -inf 1e999 '' x; do
    refuses "no time" 2 bench good.onnx --budget "$number"
done
for number in -1 99999999999 nan; do
    refuses "no budget" 2 optimize good.onnx -o out.onnx --budget "$number"
done
refuses "no such search" 2 optimize good.onnx -o out.onnx --by nosuch
refuses "no such backend" 2 bench good.onnx --backend nosuch
refuses "too many models" 2 bench good.onnx good.onnx good.onnx
refuses "no folder to write into" 1 optimize good.onnx -o absent/out.onnx
refuses "a folder to write over" 1 optimize good.onnx -o folder
refuses "no folder to write into" 1 export good.onnx -o absent/out.svg
refuses "no such format" 12 export good.onnx -o out.nosuch
refuses "one model" 2 check good.onnx
refuses "no second model" 1 check good.onnx absent
refuses "no inputs" 12 run good.onnx --inputs absent
refuses "no inputs" 12 run good.onnx --inputs folder
refuses "no inputs" 12 run good.onnx --inputs words.onnx
refuses "no such sample" 1 sample nosuch -o out.onnx
refuses "no folder to write into" 1 sample branches -o absent/out.onnx
refuses "no such rule" 12 rules show nosuch
refuses "no such rule" 12 rules check nosuch
refuses "no operators" 2 rules generate -o out.rules
refuses "no operator of rules" 2 rules generate --operators Add,Softmax -o out.rules
refuses "no number of operators" 2 rules generate --operators Add --max-nodes 5 -o out.rules
refuses "no number of variables" 2 rules generate --operators Add --variables 5 -o out.rules
refuses "no file to write" 2 rules generate --operators Add
refuses "no folder to write into" 1 rules generate --operators Add -o absent/out.rules
refuses "a folder to write over" 1 rules generate --operators Add -o folder
refuses "no rules to compare with" 1 rules generate --operators Add -o out.rules --against absent
refuses "no rules to compare with" 2 rules cover
refuses "no rules to compare with" 1 rules cover --against good.onnx
refuses "no rules" 1 candidates good.onnx --rules absent
refuses "no rules" 1 --rules absent --script words.onnx good.onnx
refuses "no rules" 1 --rules good.onnx --script words.onnx good.onnx
refuses "no rules" 1 candidates good.onnx --rules folder
refuses "no rules" 1 candidates good.onnx --rules good.onnx
refuses "a pipe" 1 candidates good.onnx --rules fifo
refuses "a pipe" 1 rules list --rules fifo
refuses "a pipe" 1 replay fifo
refuses "a device" 1 replay /dev/zero
refuses "a pipe" 1 train good.onnx -c fifo
for file in absent folder empty good.onnx short.rgj /dev/null ''; do
    refuses "no journal" 1 replay "$file"
done
for file in folder good.onnx short.rgc; do
    refuses "no checkpoint" 1 optimize good.onnx -o out.onnx --by ppo --policy "$file"
done
refuses "no such command or model" 12 nosuch
refuses "no such option" 2 --nosuch
refuses "no such setting" 12 --set nosuch=1 sample
refuses "no value" 2 --set seed=x sample
for size in 1 63M x 1X -1 99999999999999999999 1.5G '' 2GB; do
    refuses "no memory limit" 2 --memory-limit "$size" sample
done

n=$((n + 1))
rm -f out err
if [ "$(ls | grep -vx before)" = "$(grep -vx before before)" ]; then
    echo "ok $n - nothing was written"
else
    echo "not ok $n - something was written"
    ls | sed 's/^/# /'
fi
echo "1..$n"

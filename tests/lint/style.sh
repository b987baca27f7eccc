#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How code is written: one TAP line a law; an offence is shown as file:line.
set -eu
root=${1:-${REGRAFT_SOURCE:-$(dirname "$0")/../..}}
cd "$root"

files() {
    find engine agent samples tui tests "$@" 2>/dev/null | sort
}
code=$(files -name '*.[ch]')
library=$(printf '%s\n' "$code" | grep -E '^(engine|agent|samples)/' || :)
scripts=$(files -name '*.sh'; ls quickstart .ci/run 2>/dev/null || :)
text="$code $scripts $(files -name '*.def') $(find rules tests -name '*.rules' 2>/dev/null || :)"
[ -n "$code" ] || { echo "Bail out! no code below $root"; exit 1; }

n=0
# law WORDS OFFENCES: prints a TAP line.
law() {
    n=$((n + 1))
    if [ -z "$2" ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        printf '%s\n' "$2" | sed 's/^/# /'
    fi
}

# find_lines PATTERN FILES: file:line:text; an empty answer is fine.
find_lines() {
    pattern=$1
    shift
    # shellcheck disable=SC2068
    grep -nE "$pattern" /dev/null $@ || :
}

without_licence() {
    for file in $text; do
        head -n 2 "$file" | grep -q 'SPDX-License-Identifier: GPL-3.0-or-later' || echo "$file:1"
    done
}

too_long() {
    # shellcheck disable=SC2086
    wc -l $code | awk '$2 != "total" && $1 > 800 { print $2 ":801: " $1 " lines" }'
}

# What Makefile.am does not name is neither built nor packed.
unlisted() {
    [ -f Makefile.am ] || return 0
    listed=$(sed -n 's/^ \{4\}\([^ ]*\) .*/\1/p' Makefile.am)
    tables=$(files -name '*.def' -o -name '*.proto'; find rules -type f 2>/dev/null || :)
    for file in $code $tables; do
        printf '%s\n' "$listed" | grep -qxF -e "$file" -e "${file%.c}" || echo "$file:1"
    done
}

# FILE:LINE NAME LENGTH static|public of each function
functions() {
    # shellcheck disable=SC2086
    ctags --languages=C --langmap=C:+.h --kinds-C=f --fields=+ne --fields-C=+'{properties}' \
        -f - $code | awk -F '\t' '{
        static = "public"
        for (i = 4; i <= NF; i++) {
            if ($i ~ /^properties:.*static/) static = "static"
            if ($i ~ /^line:/) first = substr($i, 6)
            if ($i ~ /^end:/) last = substr($i, 5)
        }
        print $2 ":" first, $1, last - first + 1, static
    }'
}

# A public function has the prefix of its floor; what only its folder calls may begin with a noun
# of its file instead (parse_name in rule_parse.c), in ops with the kind that ops.def gives it.
# Names that macros make are not seen.
misnamed() {
    functions | awk '$4 == "public" && $2 != "main" && $2 !~ /^[A-Z]+$/ {
        if ($1 ~ /^engine\/ops\// && $2 ~ /^(infer|work|kernel)_/) next
        want = $1 ~ /^engine\// ? "tg_" : $1 ~ /^agent\// ? "ag_" : $1 ~ /^tui\// ? "ui_" : ""
        words = $1
        gsub(/^.*\/|[.].*$/, "", words)
        noun = $2
        sub(/_.*/, "", noun)
        if (index($2, want) != 1 && index("_" words "_", "_" noun "_") == 0)
            print $1 ": " $2 " has neither " want " nor a word of " words
    }'
}

law "every file names its licence" "$(without_licence)"
law "no tabs, no blanks at line ends" "$(find_lines "$(printf '\t')|[[:space:]]\$" "$text")"
# The width is in characters where the locale is known, else in bytes.
law "at most 100 columns" "$(LC_ALL=C.UTF-8 find_lines '^.{101,}' "$code $scripts" | cut -c 1-130)"
law "no file over 800 lines" "$(too_long)"
law "every file is in Makefile.am" "$(unlisted)"
law "nothing is left for later" \
    "$(find_lines '(^|[^A-Za-z_])(T[O]DO|F[I]XME|X[X]X|H[A]CK)([^A-Za-z_]|$)' "$text")"
# alloc.c is the one place that ends the process: memory ran out outside tg_protect. (_exit is
# for children.)
law "library code neither prints nor exits" "$(find_lines \
    '(^|[^a-z_>.])(printf|puts|putchar|perror|exit) ?\(|fprintf ?\(std(out|err)' "$library" |
    grep -v '^engine/base/alloc[.]c:')"
law "memory comes from tg_malloc and its like" "$(find_lines \
    '^([^/"]|/[^*])*(^|[^a-z_])(malloc|calloc|realloc|strdup|strndup) ?\(' "$library" |
    grep -vE '^engine/base/alloc[.]c:|:[0-9]+: *[*] ')"
law "messages do not end in a full stop" "$(find_lines 'tg_(fail|wrap) ?\([^"]*"[^"]*[.]"' "$code")"
if ctags --version 2>/dev/null | grep -q Universal; then
    law "no function over 60 lines" \
        "$(functions | awk '$3 > 60 { print $1 ": " $2 ", " $3 " lines" }')"
    law "public functions have the prefix of their floor" "$(misnamed)"
else
    n=$((n + 1)) && echo "ok $n - functions # SKIP no Universal Ctags"
fi
echo "1..$n"

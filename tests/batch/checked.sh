#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Saved models pass the checker of the onnx package, and where the Python has ONNX Runtime they load
# there: each sample, real model, case and model of the onnx package's data, as it is read and as
# greedy rewrites it. $REGRAFT_PYTHON is asked, or python3.
set -eu
# shellcheck source=tests/batch/tap.sh
. "${REGRAFT_SOURCE:-.}/tests/batch/tap.sh"
python=${REGRAFT_PYTHON:-python3}
if ! "$python" -c 'import onnx.checker' 2>/dev/null; then
    echo "1..0 # SKIP $python has no onnx"
    exit 0
fi
shared=${REGRAFT_SHARED:-${REGRAFT_SOURCE:-.}/../shared}
data=${ONNX_TESTDATA:-/usr/share/libonnx-testdata/data}

# What is newer than the package, or what it refuses in the original already, says nothing.
cat >"$work/check.py" <<'EOF'
import sys, onnx
try:
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
except ImportError:
    onnxruntime = None
newest = onnx.defs.onnx_opset_version()

def check(path):
    onnx.checker.check_model(path, full_check=True)

def load(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

def fault(step, path):
    try:
        step(path)
    except Exception as e:
        return (str(e).strip() or repr(e)).splitlines()[0]

seen = passed = bad = 0
for line in sys.stdin:
    original, saved = line.rstrip("\n").split("\t")
    seen += 1
    model = onnx.load(saved, load_external_data=False)
    if any(o.domain in ("", "ai.onnx") and o.version > newest for o in model.opset_import):
        continue
    for step in (check, load) if onnxruntime else (check,):
        why = fault(step, saved)
        if why and not fault(step, original):
            bad += 1
            print(step.__name__, original, why)
        elif not why:
            passed += 1
print(seen, "models,", passed, "checks passed,", bad, "faults, onnx", onnx.__version__,
      "onnxruntime", onnxruntime.__version__ if onnxruntime else "absent")
sys.exit(bad > 0 or passed == 0)
EOF

# FILE HOW...: saves it by `regraft HOW... FILE -o OUT` and notes the pair, or why there is none.
save() {
    file=$1
    shift
    count=$((count + 1))
    if "$program" "$@" "$file" -o "$work/saved-$count.onnx" >/dev/null 2>"$work/why"; then
        printf '%s\t%s\n' "$file" "$work/saved-$count.onnx" >>"$work/pairs"
    else
        tail -n 1 "$work/why"
    fi
}

# HOW...: the models in $work/list, saved so.
checked() {
    count=0
    : >"$work/pairs"
    while read -r file; do save "$file" "$@" </dev/null; done <"$work/list"
    "$python" "$work/check.py" <"$work/pairs" || return 1
    rm -f "$work"/saved-*
}

# WORDS [HOW...]: the models in $work/list.
group() {
    [ -s "$work/list" ] || return 0
    try "$@"
    tail -n 1 "$work/said" | sed 's/^/# /'
}

# WORDS: the models in $work/list, in both ways.
both() {
    group "$1, saved" checked export
    group "$1, rewritten" checked optimize --by greedy --backend model --measure 0 --quiet
}

mkdir "$work/samples"
"$program" sample | while read -r name _; do
    "$program" sample "$name" -o "$work/samples/$name.onnx" --quiet 2>/dev/null || :
done
ls "$work"/samples/*.onnx >"$work/list"
both "samples"
for folder in "$shared/models" "$shared/cases/open" "$data/simple" "$data/pytorch-converted" \
    "$data/pytorch-operator"; do
    find "$folder" -name '*.onnx' 2>/dev/null | sort >"$work/list"
    both "$(basename "$folder")"
done
find "$data/node" -name '*.onnx' 2>/dev/null | sort >"$work/list"
group "node, saved" checked export
echo "1..$n"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# same_code.sh compiles every model that it is given and sees every difference.  The compilers are scripts that copy the model
# and their arguments into the object, and count their runs.
#
# usage: check_same_code.sh SAME_CODE
set -eu

same_code=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir a b c

fail() {
    echo "FAIL: $*: $(cat log)" >&2
    exit 1
}

# make_compiler NAME MARK: a compiler that adds MARK to the object of a model whose first line is "marked", and to the weights
# of one whose first line is "weighted".  It refuses a model whose first line is "refused".
make_compiler() {
    cat >"$1" <<COMPILER
#!/usr/bin/env bash
model=\$1
echo "\$model" >>'$work/runs'
kind=\$(head -n 1 "\$model")
[ "\$kind" != refused ] || { echo "the model is refused"; exit 1; }
{ echo "\$@"; cat "\$model"; [ "\$kind" != marked ] || echo $2; } >model.o
{ echo weights; [ "\$kind" != weighted ] || echo $2; } >model.weights
COMPILER
    chmod +x "$1"
}

# expect STATUS LAST_LINE RUNS ARGUMENT ...: what the script returns and prints last, and how often it compiles.
expect() {
    local status=$1 line=$2 runs=$3 got=0
    shift 3
    : >runs
    "$same_code" "$@" >log 2>&1 || got=$?
    [ "$got" -eq "$status" ] || fail "same_code.sh $* returns $got, not $status"
    [ "$(tail -n 1 log)" = "$line" ] || fail "same_code.sh $* does not end with '$line'"
    [ "$(wc -l <runs)" -eq "$runs" ] || fail "same_code.sh $* compiles $(wc -l <runs) times, not $runs"
}

make_compiler old one
make_compiler new two
echo plain >a/m.onnx
echo marked >b/m
echo weighted >c/m.onnx

# Models of equal base names are compiled one and all; objects that are up to date are kept.
expect 0 "4 objects are the same, 0 differ" 8 old new out a/m.onnx
expect 1 "4 objects are the same, 4 differ" 8 old new out a/m.onnx b/m
grep -q '^b/m for aarch64 has other ' log || fail "the model that differs is not named"
expect 1 "0 objects are the same, 4 differ" 8 old new out c/m.onnx
expect 1 "4 objects are the same, 8 differ" 0 old new out a/m.onnx b/m c/m.onnx

# Options make another object of a model.
expect 0 "8 objects are the same, 0 differ" 8 old new out a/m.onnx "a/m.onnx --dim n=1"

# A model that changes, or whose weights do, is compiled again, and so is everything by another compiler, however old that is.
touch -d '+1 hour' a/weights
expect 0 "4 objects are the same, 0 differ" 8 old new out a/m.onnx
touch -d '-1 hour' a/weights
expect 0 "4 objects are the same, 0 differ" 0 old new out a/m.onnx
echo marked >a/m.onnx
touch -d '+1 hour' a/m.onnx
expect 1 "0 objects are the same, 4 differ" 8 old new out a/m.onnx
touch -d '-1 hour' a/m.onnx
make_compiler older one
touch -d '-1 day' older
echo "# another one" >>older
touch -d '-1 day' older
expect 1 "0 objects are the same, 4 differ" 4 older new out a/m.onnx

# What does not compile differs, also where an object of it lies in OUT.
echo refused >a/m.onnx
touch -d '+1 hour' a/m.onnx
expect 1 "0 objects are the same, 4 differ" 8 old new out a/m.onnx
grep -q 'does not compile: the model is refused' log || fail "the message of the compiler is not printed"
expect 1 "0 objects are the same, 4 differ" 8 old new out a/m.onnx

# Wrong arguments.
expect 2 "same_code.sh: a/m.onnx and ./a/m.onnx are the same model" 0 old new out ./a/m.onnx a/m.onnx
expect 2 "same_code.sh: there is no model d/m.onnx" 0 old new out d/m.onnx
expect 2 "same_code.sh: none is no program" 0 none new out a/m.onnx

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# webnnc from the outside: check.sh PART BUILD SOURCE SHARED.  Exit 77: what the part needs is not there.
#
#   options     what the command line refuses, and that nothing is left behind
#   kinds       every kind of output
#   standalone  --library none: nothing but the C library, right results, with weights in the object and in a file
#   library     --library onednn likewise
#   levels      objects with code for several levels of x86-64 take the one that the processor has
#   sizes       objects whose functions take sizes
#   shared      shared objects through dlopen
#   installed   all of it from an installed tree
#   aarch64, riscv64, wasm   cross-compiled objects run
#   cortex-m    firmware runs, on boards of QEMU's
set -u
export LC_ALL=C OMP_WAIT_POLICY=passive

part=$1 build=$2 source=$3 shared=$4
webnnc=$build/bin/webnnc
models=$shared/models
lenet=$models/lenet
mobilenet=$models/mobilenetv2
shapes=$source/examples/models/shapes
rnnoise=$models/rnnoise
# What links with a libwebnn_rt that has a sanitizer must have it, too.
cc=cc
ldd "$build/lib/libwebnn_rt.so" 2>/dev/null | grep -q libasan && cc="cc -fsanitize=address,undefined"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

fail() {
    echo "FAIL: $*" >&2
    failures=$((failures + 1))
}

skip() {
    echo "skipped: $*"
    exit 77
}

need() {
    command -v "$1" >/dev/null || skip "$1 is not installed"
}

# passes COMMAND...: exit status 0
passes() {
    "$@" >out.txt 2>err.txt || fail "$* ended with $?: $(head -3 err.txt)"
}

# refuses STATUS TEXT COMMAND...: that exit status, TEXT on stderr, nothing written
refuses() {
    local status=$1 text=$2 before after rc
    shift 2
    before=$(find . "${tmp:-.}" ! -name out.txt ! -name err.txt | sort)
    "$@" >out.txt 2>err.txt
    rc=$?
    [ "$rc" -eq "$status" ] || fail "$* ended with $rc, not $status"
    grep -qF -- "$text" err.txt || fail "$*: no \"$text\" in: $(cat err.txt)"
    after=$(find . "${tmp:-.}" ! -name out.txt ! -name err.txt | sort)
    [ "$before" = "$after" ] || fail "$* left something behind: $after"
}

# undefined FILE: the names that it takes from elsewhere, on one line
undefined() {
    llvm-nm-19 --undefined-only --format=just-symbols "$1" | sort | tr '\n' ' '
}

check_options() {
    mkdir tmp
    export TMPDIR=$PWD/tmp
    refuses 2 "no model is given" "$webnnc"
    refuses 2 "try: webnnc --help" "$webnnc" --no-such-option model
    refuses 2 "one model at a time" "$webnnc" a b -o c.o
    refuses 2 "its ending says nothing" "$webnnc" model -o model.xyz
    refuses 2 "json or dot, not 'object'" "$webnnc" model --emit object
    refuses 2 "--name takes" "$webnnc" model --name 3x
    refuses 2 "--name takes" "$webnnc" model --name int
    refuses 2 "--dim takes" "$webnnc" model --dim batch
    refuses 2 "--dim takes NAME=N with a whole number N" "$webnnc" model --dim batch=-1
    refuses 2 "--dim takes one NAME=N at a time (--dim batch=2 --dim seq=10)" "$webnnc" model --dim batch=2,seq=10
    refuses 2 "--shape takes" "$webnnc" model --shape x=3y4
    refuses 2 "--constant takes" "$webnnc" model --constant x
    refuses 1 "absent.npy" "$webnnc" model --constant x=absent.npy
    refuses 2 "--library takes" "$webnnc" model --library mkl
    refuses 2 "--engine takes cpu: it writes objects for processors" "$webnnc" model --engine gpu
    printf 'webnn_graph "g" v1 { inputs { x: f32[4]; } nodes { y = tanh(x); } outputs { y; } }\n' >plain.webnn
    passes "$webnnc" plain.webnn -o plain.o --precision int8 --cpu x86-64 --target 'x86_64-"\-linux-gnu' --library none
    grep -q "precision int8 has no effect" err.txt || fail "nothing says that x86-64 multiplies no bytes"
    rm -f plain.webnn plain.o
    [ ! -d "$lenet" ] || refuses 1 "nothing in bfloat16" "$webnnc" "$lenet" -o lenet.o --precision bf16 --library none
    refuses 2 "--precision takes float32, bf16x2, bf16 or int8" "$webnnc" model --precision half
    refuses 2 "--threads takes a number from 1 to 1024, not '0'" "$webnnc" model --threads 0
    refuses 2 "--budget takes" "$webnnc" model --budget 0
    refuses 2 "--skip takes" "$webnnc" model --skip magic
    refuses 2 "--skip takes a pass that is not required" "$webnnc" model --skip expand-recurrent
    refuses 2 "; did you mean 'winograd'?" "$webnnc" model --skip winogrd
    refuses 2 "; did you mean 'obj'?" "$webnnc" model --emit objj
    refuses 2 "did you mean '--target'?" "$webnnc" model --tarket wasm32
    refuses 2 "--print-after takes" "$webnnc" model --print-after magic
    refuses 2 "--weights-as takes" "$webnnc" model --weights-as zip
    refuses 2 "goes with code" "$webnnc" model -o model.dot --header model.h
    refuses 2 "not written to standard output" "$webnnc" model --emit so -o -
    refuses 2 "not written to standard output" "$webnnc" model --emit wasm -o -
    refuses 2 "--emit wasm makes modules for wasm32, not for wasm64" "$webnnc" model --emit wasm --target wasm64
    refuses 2 "--header and the JavaScript module are the same file: model.mjs" \
        "$webnnc" model -o model.wasm --header model.mjs
    refuses 2 "--wasm-ld takes" "$webnnc" model -o model.wasm --wasm-ld ""
    refuses 1 "absent" "$webnnc" absent.onnx -o absent.o
    printf 'nothing that anybody reads\n' >garbage.onnx
    refuses 1 "garbage.onnx" "$webnnc" garbage.onnx -o garbage.o
    printf 'webnn_graph "g" v1 { inputs { x: f32[4]; } nodes { y = tanh(x); } outputs { y; } }\n' >tiny.webnn
    refuses 1 "no dimension of an input is called 'n'; there is none" "$webnnc" tiny.webnn -o tiny.o --dim n=1
    printf 'webnn_graph "g" v2 { inputs { x: f32[dyn("batch", 8), dyn("seq", 8)]; } nodes { y = tanh(x); } outputs { y; } }\n' >free.webnn
    refuses 1 "'bach'; did you mean 'batch'?  There are 'batch', 'seq'" "$webnnc" free.webnn -o free.o --dim bach=1
    printf 'webnn_graph "g" v2 { inputs { %s } nodes { y = tanh(x1); } outputs { y; } }\n' \
        "$(for i in {1..50}; do printf 'x%d: f32[dyn("n%d", 8)]; ' $i $i; done)" >many.webnn
    refuses 1 "there are 'n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7', 'n8', 'n9', 'n10', 'n11', 'n12', " \
        "$webnnc" many.webnn -o many.o --dim sequence=1
    refuses 1 "cannot write" "$webnnc" tiny.webnn -o no/such/folder/tiny.o
    mkdir isafolder.o
    refuses 1 "cannot write" "$webnnc" tiny.webnn -o isafolder.o
    refuses 1 "cannot write" "$webnnc" tiny.webnn -o tiny.o --header no/such/folder/tiny.h
    refuses 2 "--output and --header are the same file: tiny.o" "$webnnc" tiny.webnn -o tiny.o --header tiny.o
    refuses 2 "--output and --weights are the same file" "$webnnc" tiny.webnn -o tiny.o --weights tiny.o
    refuses 2 "the model and --header are the same file" "$webnnc" tiny.webnn -o tiny.o --header ./tiny.webnn
    refuses 1 "unknown-thing" "$webnnc" tiny.webnn -o tiny.o --target unknown-thing
    refuses 1 'no processor "skylake-avx51" of x86_64-' "$webnnc" tiny.webnn -o tiny.o --target x86_64-linux-gnu --cpu skylake-avx51
    refuses 1 "did you mean 'skylake-avx512'?" "$webnnc" tiny.webnn -o tiny.o --target x86_64-linux-gnu --cpu skylake-avx51
    refuses 1 "kernels need a floating-point unit; name a processor that has one (--cpu cortex-m4" \
        "$webnnc" tiny.webnn -o tiny.o --target arm
    "$webnnc" tiny.webnn -o tiny.o --target arm --cpu cortex-m4 || fail "--target arm --cpu cortex-m4"
    for vectors in "x86-64-v3 +avx512f,+avx512bw,+avx512vl" "icelake-server -evex512"; do
        passes "$webnnc" "$shapes" --dim batch=1 -o tiny.o --target x86_64-linux-gnu --cpu ${vectors% *} --features ${vectors#* }
    done
    refuses 1 "--print-supported-cpus lists those" "$webnnc" tiny.webnn -o tiny.o --cpu 'no;such processor'
    refuses 1 '"x86-64-v5" is not a level of' "$webnnc" tiny.webnn -o tiny.o --target x86_64-linux-gnu --cpu x86-64,x86-64-v5
    refuses 1 '"" is not a level of x86-64' "$webnnc" tiny.webnn -o tiny.o --target x86_64-linux-gnu --cpu x86-64,
    refuses 1 '"x86-64-v2" does not come after a lower level' \
        "$webnnc" tiny.webnn -o tiny.o --target x86_64-linux-gnu --cpu x86-64-v3,x86-64-v2
    refuses 1 'does not go with the features "+xop"; name one processor' \
        "$webnnc" tiny.webnn -o tiny.o --target x86_64-linux-gnu --cpu x86-64,x86-64-v3 --features +xop
    refuses 1 'not those for "aarch64-linux-gnu"; name one processor' \
        "$webnnc" tiny.webnn -o tiny.o --target aarch64-linux-gnu --cpu x86-64,x86-64-v3
    refuses 1 "cannot write /dev/full: No space left" "$webnnc" tiny.webnn -o /dev/full --emit obj
    refuses 1 "'+magic' is not a recognized feature" "$webnnc" tiny.webnn -o tiny.o --features +magic
    refuses 1 "of the budget of 3 are spent" "$webnnc" tiny.webnn -o tiny.o --budget 1000000,3
    refuses 1 "not a list like" "$webnnc" tiny.webnn -o tiny.o --features avx2
    refuses 1 "little-endian" "$webnnc" tiny.webnn -o tiny.o --target s390x-linux-gnu
    refuses 1 "this machine's" "$webnnc" tiny.webnn -o tiny.o --target riscv64-linux-gnu --cpu native
    refuses 1 "--precision: code without oneDNN" "$webnnc" tiny.webnn -o tiny.o --library none --precision bf16
    refuses 1 "oneDNN is on this machine only" "$webnnc" tiny.webnn -o tiny.o --target wasm32 --library onednn
    refuses 1 "--cc must name" "$webnnc" tiny.webnn -o tiny --target riscv64-linux-gnu
    refuses 1 "cannot run the C compiler" "$webnnc" tiny.webnn -o tiny --cc no-such-compiler
    refuses 1 "the C compiler false failed" "$webnnc" tiny.webnn -o tiny --cc false
    refuses 1 "the C compiler false failed" "$webnnc" tiny.webnn -o tiny --cc false --header tiny.h
    printf 'webnn_graph "g" v1 { inputs { x: f32[2]; } consts { c: f32[2] @bytes([0, 0, 128, 63, 0, 0, 0, 64]); } nodes { y = add(x, c); } outputs { y; } }\n' >constant.webnn
    refuses 1 "the C compiler false failed" "$webnnc" constant.webnn -o constant --cc false --header constant.h --weights constant.bin
    refuses 1 "cannot write" "$webnnc" constant.webnn -o constant.o --header constant.h --weights no/such/folder/constant.bin
    refuses 1 "cannot write" "$webnnc" constant.webnn -o constant.o --header no/such/folder/constant.h --weights constant.bin

    # An output that exists is replaced as a whole, or stays as it was.
    echo precious >tiny
    "$webnnc" tiny.webnn -o tiny --cc false 2>err.txt
    [ "$(cat tiny)" = precious ] || fail "a failed run changed the output that was there"
    ln -s elsewhere.o link.o
    echo old >elsewhere.o
    passes "$webnnc" tiny.webnn -o link.o
    [ -L link.o ] && [ "$(stat -c %s elsewhere.o)" -gt 100 ] || fail "a symbolic link was not followed"

    # A signal in the middle: nothing stays.  The compiler is held up by a C compiler that never ends.
    printf '#!/bin/sh\nkill -TERM $PPID\nsleep 5\n' >hang
    chmod +x hang
    before=$(find . | sort)
    "$webnnc" tiny.webnn -o hung --cc ./hang >out.txt 2>err.txt && fail "a killed run succeeded"
    sleep 0.2
    [ "$before" = "$(find . ! -name nothing | sort)" ] || fail "a killed run left something behind: $(find .)"

    # The options of the manual page are what webnnc makes of its table.
    "$webnnc" --help=manual >options.txt
    sed -n '/^\.SH OPTIONS/,/^\.SH EXIT/p' "$source/frontend/tools/webnnc.1" | sed '$d' | diff - options.txt ||
        fail "webnnc.1 has other options than webnnc: put in what --help=manual prints"
    "$webnnc" --version | grep -q '^webnnc [0-9]' || fail "--version"
    "$webnnc" --list-passes | grep -q '^fuse-kernels ' || fail "--list-passes"
    "$webnnc" tiny.webnn -o tiny.o --print-after drop-dead --skip fuse-kernels --time-passes 2>err.txt || fail "switches"
    grep -q '^# after drop-dead' err.txt && grep -q '^# finish-clusters' err.txt || fail "what switches print"
    grep -q '^# fuse-kernels' err.txt && fail "a skipped pass ran"
    "$webnnc" tiny.webnn -o tiny.o 2>&1 | grep -q . && fail "noise without a terminal"
    true
}

check_kinds() {
    local library
    printf 'webnn_graph "g" v1 { inputs { x: f32[2, 8]; "odd \\"name\\" */": f16[2]; }\n' >odd.webnn
    printf ' consts { w: f32[8, 4] @scalar(0.5); }\n' >>odd.webnn
    printf ' nodes { y = matmul(x, w); "int" = relu("odd \\"name\\" */"); INT8_MAX = relu(y); linux = tanh(y); } outputs { y; "int"; INT8_MAX; linux; } }\n' >>odd.webnn
    for library in none onednn; do
        passes "$webnnc" odd.webnn -o odd.o --library $library --header odd.h
        printf '#include "odd.h"\n#include "webnn/webnn_object.h"\n' >use.c
        printf 'int use(void);\nint use(void) { return odd_x_elements + (int)odd_object.input_count; }\n' >>use.c
        passes cc -std=c99 -pedantic -Wall -Wextra -Werror -I"$source/include" -c use.c
        passes cc -std=gnu17 -Wall -Wextra -Werror -I"$source/include" -c use.c
        passes c++ -Wall -Wextra -Werror -x c++ -I"$source/include" -c use.c
        passes "$webnnc" odd.webnn -o odd.s --library $library
        passes clang-19 -c odd.s -o assembled.o
        passes "$webnnc" odd.webnn -o odd.ll --library $library
        passes clang-19 -Wno-override-module -c odd.ll -o compiled.o
        passes "$webnnc" odd.webnn -o odd.bc --library $library
        passes clang-19 -Wno-override-module -c odd.bc -o compiled.o
        for file in odd.o assembled.o compiled.o; do
            llvm-nm-19 --defined-only $file | grep -q ' T odd_run$' || fail "$file has no odd_run"
            llvm-nm-19 --defined-only $file | grep -qE ' [DRd] odd_object$' || fail "$file has no odd_object"
        done
        passes "$webnnc" odd.webnn -o odd.so --library $library --cc "$cc"
        llvm-nm-19 -D --defined-only odd.so | grep -q 'webnn_object_v1$' || fail "odd.so has no webnn_object_v1"
        passes "$webnnc" odd.webnn -o odd --library $library --cc "$cc"
        passes ./odd --help
        grep -qF 'input  x float32[2, 8]' out.txt || fail "the program's help: $(cat out.txt)"
        passes ./odd
        passes "$webnnc" odd.webnn -o odd.dot --library $library
        grep -q 'subgraph cluster_' odd.dot && grep -qF 'label="odd \"name\" */"' odd.dot || fail "dot: $(cat odd.dot)"
        [ "$(grep -c '{' odd.dot)" = "$(grep -c '}' odd.dot)" ] || fail "dot has unmatched braces"
    done
    grep -q 'odd_name' odd.h || fail "the header has no legal name: $(cat odd.h)"

    # The header says what to link, and what functions return.
    printf '#include <stdio.h>\n#include "odd.h"\nint main(void) { return puts(odd_status_text(odd_run(0, 0, 0, 0, 0, 0))) < 0; }\n' >text.c
    passes "$webnnc" odd.webnn -o odd.o --library none --header odd.h
    grep -q 'needs nothing but the C library' odd.h || fail "the header does not say what to link: $(cat odd.h)"
    passes cc text.c odd.o -o text
    passes ./text
    grep -q 'a required pointer is NULL' out.txt || fail "the text of a status: $(cat out.txt)"
    passes "$webnnc" odd.webnn -o odd.o --library onednn --header odd.h
    grep -q 'Link it with libwebnn_rt: -lwebnn_rt' odd.h || fail "the header does not say what to link: $(cat odd.h)"
    # Small code is smaller, and of what no name was given the name is told.
    for target in x86_64-linux-gnu thumbv7em-none-eabihf; do
        for optimize in speed size; do
            passes "$webnnc" "$shapes" --dim batch=1 --library none --target $target --cpu \
                $([ $target = x86_64-linux-gnu ] && echo x86-64-v3 || echo cortex-m4) -O $optimize
            grep -qx 'webnnc: wrote shapes.o' err.txt || fail "the file that was written is not told: $(cat err.txt)"
            llvm-size-19 -A shapes.o | awk '$1 == ".text" { print $2 }' >$optimize.txt
        done
        [ $(($(cat size.txt) * 10)) -lt $(($(cat speed.txt) * 9)) ] ||
            fail "-O size makes $(cat size.txt) bytes of code for $target, without it $(cat speed.txt)"
    done

    # What a program takes for equal: integers exactly, infinity only itself.
    printf 'webnn_graph "g" v1 { inputs { x: f32[2]; i: i64[2]; } nodes { y = relu(x); j = identity(i); } outputs { y; j; } }\n' >same.webnn
    passes "$webnnc" same.webnn -o same --library none --cc "$cc"
    printf '\0\0\200\77\0\0\200\177' >floats         # 1, infinity
    printf '\0\0\200\77\0\0\200\77' >ones             # 1, 1
    printf '\1\0\0\0\0\0\40\0\0\0\0\0\0\0\0\0' >integers # 2^53 + 1, 0
    printf '\0\0\0\0\0\0\40\0\0\0\0\0\0\0\0\0' >others   # 2^53, 0
    passes ./same --input x=floats --input i=integers --compare y=floats --compare j=integers
    ./same --input x=ones --compare y=floats >out.txt && fail "1 passes for infinity: $(cat out.txt)"
    ./same --input i=integers --compare j=others >out.txt && fail "another integer passes: $(cat out.txt)"
    passes ./same --input i=integers --compare j=others --rtol 1e-6
    passes "$webnnc" odd.webnn -o odd.ir
    grep -q 'matmul(x' odd.ir || fail "ir: $(cat odd.ir)"
    passes "$webnnc" odd.webnn -o again.webnn
    passes "$webnnc" again.webnn -o third.webnn
    cmp again.webnn third.webnn || fail "a graph that was written reads back as another"
    passes "$webnnc" odd.webnn -o again.json
    passes "$webnnc" again.json -o fourth.webnn --name again
    cmp again.webnn fourth.webnn || fail "a graph that went through JSON is another"
    passes "$webnnc" odd.webnn --emit asm -o -
    grep -q odd_run out.txt || fail "standard output"
    passes "$webnnc" odd.webnn
    [ -s odd.o ] || fail "no default output"
}

cases=$build/bin/test-webnnc-cases

# model_file NAME: what webnnc reads
model_file() {
    [ -e "$models/$1/model.onnx" ] && echo "$models/$1/model.onnx" || echo "$models/$1"
}

# compile NAME OPTION...: with the shapes of the model's first case
compile() {
    local name=$1
    shift
    # shellcheck disable=SC2046
    passes "$webnnc" "$(model_file "$name")" $("$cases" shapes "$models/$name") "$@"
}

# run_model NAME COUNT PROGRAM...: each output of the first COUNT cases, compared within the tolerance of the model's manifest
run_model() {
    local name=$1 count=$2 line
    shift 2
    while read -r line; do
        # shellcheck disable=SC2086
        passes "$@" $line --quiet
        cat out.txt
    done < <("$cases" runs "$models/$name" "$count")
}

# write_rounded ROWS: a matmul of constants of its own, so that the input may be zeros
write_rounded() {
    awk -v rows="$1" '
        function list(n, i) {
            for (i = 0; i < n; i++)
                printf "%s%.3f", i ? ", " : "", (seed = (seed * 1103 + 12345) % 65536) / 32768 - 1
        }
        BEGIN {
            printf "webnn_graph \"rounded\" v1 { inputs { x: f32[%d, 256]; } consts { c: f32[%d, 256] @values([", rows, rows
            list(rows * 256)
            printf "]); w: f32[256, 192] @values(["
            list(256 * 192)
            printf "]); } nodes { a = add(x, c); y = matmul(a, w); } outputs { y; } }\n"
        }'
}

# run_rounded EMULATOR INSTRUCTION OPTION...: operands that are rounded to 8 bits give the same numbers in a program, whose code
# has the instruction, as here.  256 products of numbers up to 1 differ by 256 * 256 * 2^-24 at most in another order.
run_rounded() {
    local emulator=$1 instruction=$2 rows weights run=$build/bin/webnn-run tolerance="--atol 4e-3 --rtol 0"
    shift 2
    for rows in 1 9; do
        write_rounded $rows >rounded.webnn
        for weights in int4 int8; do
            passes "$webnnc" rounded.webnn -o rounded --precision int8 --quantize-weights $weights "$@"
            passes "$webnnc" rounded.webnn -o rounded.s --precision int8 --quantize-weights $weights "$@"
            grep -qE "$instruction" rounded.s || fail "no $instruction with weights of $weights, $*"
            passes "$run" rounded.webnn --precision int8 --quantize-weights $weights --output y=rounded.npy --quiet
            grep -q "no effect" err.txt && continue # this machine has no AVX2
            # shellcheck disable=SC2086
            passes $emulator ./rounded --compare y=rounded.npy $tolerance --quiet
        done
    done
    passes "$webnnc" rounded.webnn -o exact --quantize-weights int8 "$@"
    # shellcheck disable=SC2086
    $emulator ./exact --compare y=rounded.npy $tolerance --quiet >out.txt 2>err.txt && fail "rounded operands are not rounded"
}

all_models="lenet rnnoise fast-style-transfer mobilenetv2 mnist-8 ultraface-rfb-320 silero-vad-16k magika-v3 super-resolution stories260k cct-2"

check_standalone() {
    local model
    for model in $all_models; do
        echo "$model"
        compile $model -o "$model" --library none --name m
        ldd "$model" | grep -vE 'linux-vdso|libc\.so|libm\.so|ld-linux' && fail "$model needs more than the C library"
        run_model $model 3 "./$model"
    done
    for model in lenet rnnoise silero-vad-16k; do
        compile $model -o native --library none --cpu native
        run_model $model 1 ./native
        compile $model -o native.o --library none --cpu native
        [ "$(undefined native.o)" = "free malloc " ] || fail "$model needs $(undefined native.o)"
    done
    # Constants in a file: the program finds it where webnnc wrote it, or where it is told; another file is refused.
    passes "$webnnc" "$lenet" -o apart --library none --weights lenet.bin
    # Small code computes the same.
    for model in lenet mnist-8 rnnoise; do
        compile $model -o small --library none -O size
        run_model $model 1 ./small
    done
    [ "$(stat -c %s apart)" -lt 200000 ] || fail "the constants are in the program all the same"
    run_model lenet 1 ./apart
    mv lenet.bin moved.bin
    refuses 1 "weights is missing, or not the one" ./apart
    run_model lenet 1 ./apart --weights moved.bin
    passes "$webnnc" "$rnnoise" -o other.o --library none --weights other.bin
    refuses 1 "weights is missing, or not the one" ./apart --weights other.bin
    # Of two branches only the one that is taken touches its memory, 64 KiB and more.
    printf '%s' 'webnn_graph "g" v1 { inputs { c: u8[]; x: f32[64, 256]; } consts { w: f32[256, 256] @scalar(0.01); } nodes { ' \
        'a = matmul(x, w); b = matmul(a, w); d = sin(b); p = cos(x); q = matmul(p, w); y = where(c, d, q); } outputs { y; } }' \
        >two.webnn
    passes "$webnnc" two.webnn -o two.o --header two.h --name two --library none
    printf '%s\n' '#include "two.h"' '#include <string.h>' 'static char w[1 << 20], y[65536], x[65536];' 'int main(void) {' \
        'int left = 0; memset(w, 85, sizeof w); if (two_run_with(w, NULL, &(unsigned char){1}, (void *)x, (void *)y)) return 2;' \
        'for (size_t i = 0; i < two_workspace_size(1); i++) left += w[i] == 85; return left < 65536; }' >two.c
    passes cc -O2 -I. -I"$source/include" two.c two.o -o two
    passes ./two
    # On a terminal it says what it is doing; elsewhere nothing (check_options).
    if command -v script >/dev/null; then
        script -qec "$webnnc $mobilenet -o seen.o --library none" seen.txt >/dev/null </dev/null
        grep -q 'webnnc: machine code' seen.txt || fail "no progress on a terminal: $(cat seen.txt)"
    fi
    # Without a C library at all.
    need clang-19
    passes "$webnnc" "$lenet" -o lenet.o --header lenet.h --name lenet --library none
    passes clang-19 -ffreestanding -nostdlib -static -O2 -I. -I"$source/include" -DINPUT="\"$lenet/case_0_input.npy\"" \
        -DEXPECTED="\"$lenet/case_0_expected_logits.npy\"" "$source/tests/webnnc/bare.c" lenet.o -o bare
    passes ./bare
    # The caller's parallel-for.
    passes cc -O2 -pthread -I. -I"$source/include" "$source/tests/webnnc/parallel.c" lenet.o -o parallel
    passes ./parallel "$lenet/case_0_input.npy"
    # The threads of libwebnn_rt.
    passes $cc -O2 -DWITH_RT -pthread -I. -I"$source/include" "$source/tests/webnnc/parallel.c" lenet.o -L"$build/lib" -lwebnn_rt \
        -Wl,-rpath,"$build/lib" -o parallel_rt
    passes ./parallel_rt "$lenet/case_0_input.npy"
    # Two models in one program: their names come from the output files.
    passes "$webnnc" "$lenet" -o first.o --library none --header first.h
    passes "$webnnc" "$lenet" -o second.o --library none --header second.h
    printf '#include "first.h"\n#include "second.h"\nint main(void) { return first_run == second_run; }\n' >both.c
    passes cc -I. both.c first.o second.o -o both
    passes ./both
}

check_library() {
    local model
    for model in $all_models; do
        echo "$model"
        compile $model -o "$model" --library onednn --name m --cc "$cc"
        run_model $model 3 "./$model"
    done
    # Instructions that no processor has together: refused, not run into.
    if [ "$(uname -m)" = x86_64 ] && ! { grep -qw xop /proc/cpuinfo && grep -qw avx512f /proc/cpuinfo; }; then
        passes "$webnnc" "$lenet" -o foreign --library onednn --cpu x86-64-v4 --features +xop,+fma4 --cc "$cc"
        refuses 1 "this processor lacks instructions" ./foreign
    fi
    passes "$webnnc" "$mobilenet" -o apart --library onednn --weights mobilenet.bin --cc "$cc"
    [ "$(stat -c %s apart)" -lt 2000000 ] || fail "the constants are in the program all the same"
    run_model mobilenetv2 1 ./apart
    mv mobilenet.bin moved.bin
    refuses 1 "weights is missing, or not the one" ./apart
    run_model mobilenetv2 1 ./apart --weights moved.bin
}

# levels_here: how many of the levels baseline, v3 and v4 this processor has, by what the C compiler's own library finds.  Linux's
# list of flags is no witness, because kernels leave out some that programs have all the same.
levels_here() {
    printf '%s\n' '#include <stdio.h>' 'int main(void) {' '__builtin_cpu_init();' \
        'printf("%d\n", __builtin_cpu_supports("x86-64-v4") ? 3 : __builtin_cpu_supports("x86-64-v3") ? 2 : 1); }' >here.c
    cc -O1 here.c -o here && ./here
}

# emulated CPU COUNT: on that processor of QEMU's the program of tests/webnnc/levels.c finds COUNT levels and runs all of them.
emulated() {
    passes qemu-x86_64 -cpu "$1" ./levels "$lenet/case_0_input.npy" "$lenet/case_0_expected_probabilities.npy" "$2"
}

check_levels() {
    local level feature model library
    [ "$(uname -m)" = x86_64 ] || skip "this machine is no x86-64"
    need objcopy
    # The variable that keeps the answer is made visible to a program that writes to it: it runs every level that there is.
    passes "$webnnc" "$lenet" -o lenet.o --header lenet.h --library none
    [ "$(undefined lenet.o)" = "free malloc " ] || fail "an object with several levels needs $(undefined lenet.o)"
    passes objcopy --globalize-symbol=levels_found lenet.o visible.o
    passes cc -O2 -I. -I"$source/include" "$source/tests/webnnc/levels.c" visible.o -o levels
    passes ./levels "$lenet/case_0_input.npy" "$lenet/case_0_expected_probabilities.npy" "$(levels_here)"
    mv out.txt all.txt
    # The highest one computes what an object for it alone does, and baseline, which has no fused multiply-add, other bits.
    level=$(sed -n '$s/ .*//p' all.txt)
    if [ "$level" -eq 3 ]; then
        passes "$webnnc" "$lenet" -o alone.o --name lenet --library none --cpu x86-64-v4
        passes cc -O2 -DALONE -I. -I"$source/include" "$source/tests/webnnc/levels.c" alone.o -o alone
        passes ./alone "$lenet/case_0_input.npy" "$lenet/case_0_expected_probabilities.npy" 1
        [ "$(cut -d ' ' -f 2- out.txt)" = "$(sed -n '$s/^[0-9] //p' all.txt)" ] || fail "level 3 is not x86-64-v4: $(cat all.txt)"
    fi
    [ "$level" -eq 1 ] || [ "$(sed -n '1s/^[0-9] //p' all.txt)" != "$(sed -n '2s/^[0-9] //p' all.txt)" ] ||
        fail "levels 1 and 2 compute the same bits: $(cat all.txt)"
    # The code of one level alone, and of the lower two.
    for level in x86-64 x86-64,x86-64-v2 x86-64-v2,x86-64-v3; do
        [ "$level" = x86-64 ] || [ "$(levels_here)" -ge 2 ] || continue
        passes "$webnnc" "$lenet" -o some --library none --cpu $level
        run_model lenet 1 ./some
    done
    run_rounded "" vpmaddwd --library none
    run_rounded "" vpmaddwd --library onednn --cc "$cc"
    need qemu-x86_64
    run_rounded "qemu-x86_64 -cpu Haswell" vpmaddwd --library none
    run_rounded "qemu-x86_64 -cpu qemu64" vpmaddwd --library none
    emulated Haswell 2
    emulated qemu64 1
    # A level needs all of its features, and a system that saves its registers (xsave).
    for feature in avx avx2 bmi1 bmi2 f16c fma abm movbe popcnt sse4.1 sse4.2 ssse3 cx16 lahf_lm xsave; do
        emulated Haswell,-$feature 1
    done
    # Kernels whose weights are in the order of AVX-512, on processors without it.
    for library in none onednn; do
        for model in rnnoise mnist-8 silero-vad-16k; do
            [ "$cc" = cc ] || [ $library = none ] || continue # QEMU runs no program with a sanitizer
            # oneDNN computes nonsense for this one where QEMU emulates AVX2; on a processor with AVX2 it does not.
            [ $library-$model != onednn-rnnoise ] || continue
            compile $model -o emulated --library $library --name m
            run_model $model 1 env OMP_NUM_THREADS=1 qemu-x86_64 -cpu Haswell ./emulated
            run_model $model 1 env OMP_NUM_THREADS=1 qemu-x86_64 -cpu qemu64 ./emulated
        done
    done
}

# Objects that take sizes: one code, weights once, in the object and in a file, and the library's results at every size.
check_sizes() {
    local apart isa=baseline cpu=x86-64 decoder=$shared/bench/decoder_tiny/decoder_tiny_q4.onnx check=$build/bin/test-webnnc-sizes
    grep -qw avx2 /proc/cpuinfo && isa=avx2 cpu=x86-64,x86-64-v3
    passes "$webnnc" "$shapes" -o one.so --cc "$cc" --cpu $cpu --dim batch=7..7 --weights one.bin
    passes "$check" ./one.so "$shapes/model.onnx" no-library,isa=$isa
    for apart in "" "--weights any.bin"; do
        passes "$webnnc" "$shapes" -o any.so --header any.h --cc "$cc" --cpu $cpu --dim batch=1..9,20 $apart
        passes "$check" ./any.so "$shapes/model.onnx" no-library,isa=$isa
    done
    [ "$(stat -c %s any.bin)" -eq "$(stat -c %s one.bin)" ] || fail "weights are there more than once"
    refuses 1 "was compiled for several sizes" "$build/bin/webnn-run" any.so --random 1
    printf '#include "any.h"\nint main(void) { return any_image_elements(4) != 2304 || any_image_elements(20) != 11520 ||
        any_image_elements(10) || any_image_elements(0) || *any_status_text(6) != 0x74; }\n' >elements.c
    passes cc -I. elements.c -o elements
    passes ./elements
    if [ -f "$decoder" ]; then
        passes "$webnnc" "$decoder" -o decoder.so --cc "$cc" --cpu $cpu --dim past=1..20 --dim sequence=1..18 --dim total=past+sequence
        passes "$check" ./decoder.so "$decoder" no-library,isa=$isa total
    fi
    passes "$webnnc" "$shapes" -o any.o --dim batch=?
    refuses 2 "oneDNN's primitives are made for one size" "$webnnc" "$shapes" -o x.o --dim batch=1,2 --library onednn
    refuses 2 "with --emit dot each dimension has one" "$webnnc" "$shapes" -o x.dot --dim batch=1,2
    passes "$webnnc" "$shapes" -o sized --cc "$cc" --dim batch=1,3..20
    passes ./sized --input image="$shapes/moon.npy" --compare probabilities="$shapes/moon_probabilities.npy"
    passes ./sized --dim batch=20 --output probabilities=twenty.npy
    grep -q 'probabilities: float32\[20, 8\]' out.txt || fail "$(cat out.txt)"
    refuses 1 "several sizes fit" ./sized
    refuses 1 "it is not compiled for these sizes" ./sized --dim batch=2
    refuses 1 "it is not compiled for these sizes" ./sized --dim batch=3 --input image="$shapes/moon.npy"
    refuses 2 "no such size: other=3" ./sized --dim other=3
    refuses 1 "sizes that functions take ascend, from 1" "$webnnc" "$shapes" -o x.o --dim batch=2,2
    refuses 1 "batch=2147483647: " "$webnnc" "$shapes" -o x.o --library none --dim batch=1,2147483647
    refuses 1 "it takes a number, or up to 16384" "$webnnc" "$shapes" -o x.o --dim batch=1,x
    refuses 1 "20000 combinations of sizes" "$webnnc" "$shapes" -o x.o --dim other=1..10000 --dim batch=1,2
    refuses 1 "no size is given for 'x' before it" "$webnnc" "$shapes" -o x.o --dim other=1,2 --dim batch=x+1
    refuses 1 "--dim is given twice for 'batch'" "$webnnc" "$shapes" -o x.o --dim batch=1,2 --dim batch=1,2
    refuses 1 "no dimension of an input is called 'other'" "$webnnc" "$shapes" -o x.o --dim other=1,2
}

# A shared object as a program finds it that knows nothing of the model: dlopen, the description, its functions.
check_shared() {
    local library
    for library in none onednn; do
        passes "$webnnc" "$lenet" -o "lenet-$library.so" --library $library --cc "$cc"
        passes $cc -O2 -I"$source/include" "$source/tests/webnnc/shared.c" -ldl -o shared
        # The leak sanitizer of gcc 12 crashes while it looks at threads of a library that came by dlopen, dlclose or not.
        ASAN_OPTIONS=detect_leaks=0 passes ./shared "./lenet-$library.so" "$lenet/case_0_input.npy" "$lenet/case_0_expected_probabilities.npy"
        # Instructions that no processor has together: wnnContextLoadGraph refuses the object before it runs.
        if [ "$(uname -m)" = x86_64 ] && ! { grep -qw xop /proc/cpuinfo && grep -qw avx512f /proc/cpuinfo; }; then
            passes "$webnnc" "$lenet" -o "foreign-$library.so" --library $library --cpu x86-64-v4 --features +xop,+fma4 --cc "$cc"
            refuses 1 "which this processor does not have" "$build/bin/webnn-run" "foreign-$library.so" --random 1
        fi
    done
}

# From an installed tree: the tool finds libwebnn_rt, the headers are enough.
check_installed() {
    # The manifest of the user's own installation, which `make uninstall` goes by, stays in the build folder.
    [ ! -e "$build/install_manifest.txt" ] || cp "$build/install_manifest.txt" "$folder/manifest.before"
    passes cmake --install "$build" --prefix "$folder/usr"
    rm "$build/install_manifest.txt"
    [ ! -e "$folder/manifest.before" ] || mv "$folder/manifest.before" "$build/install_manifest.txt"
    webnnc=$folder/usr/bin/webnnc
    [ -s "$folder/usr/share/man/man1/webnnc.1" ] || fail "no man page"
    passes "$webnnc" "$lenet" -o lenet -v --library onednn
    ldd lenet | grep -q "$folder/usr/lib.*/libwebnn_rt" || fail "the program takes another libwebnn_rt: $(ldd lenet)"
    run_model lenet 1 ./lenet
    passes "$webnnc" "$shapes" -o shapes.o --header shapes.h --dim batch=1 --library onednn
    library=$(dirname "$(find "$folder/usr" -name libwebnn_rt.so)")
    passes cc -I. -I"$folder/usr/include" "$(find "$folder/usr" -name compiled_classifier.c)" shapes.o -L"$library" -lwebnn_rt \
        -Wl,-rpath,"$library" -o classifier
    passes ./classifier "$shapes/moon.npy" "$shapes/classes.txt"
    grep -q 'moon' out.txt || fail "$(cat out.txt)"
}

check_aarch64() {
    need aarch64-linux-gnu-gcc
    need qemu-aarch64
    local model
    for model in lenet rnnoise mobilenetv2 silero-vad-16k cct-2; do
        compile $model -o $model --target aarch64-linux-gnu --cc "aarch64-linux-gnu-gcc -static"
        [ "$(od -An -tu2 -j18 -N2 $model | tr -d ' ')" = 183 ] || fail "$model is no program for aarch64"
        run_model $model 1 qemu-aarch64 ./$model
    done
    passes "$webnnc" "$lenet" -o lenet.o --target aarch64-linux-gnu
    [ "$(undefined lenet.o)" = "free malloc " ] || fail "needs $(undefined lenet.o)"
    local linked=(--target aarch64-linux-gnu --cc "aarch64-linux-gnu-gcc -static")
    run_rounded qemu-aarch64 'smull|smlal|sadalp' "${linked[@]}"
    run_rounded qemu-aarch64 sdot "${linked[@]}" --features +dotprod
}

check_riscv64() {
    need clang-19
    need ld.lld-19
    local features
    for features in "" "--features +v"; do
        passes "$webnnc" "$lenet" -o lenet.o --header lenet.h --name lenet --target riscv64-linux-gnu $features
        [ "$(undefined lenet.o)" = "free malloc " ] || fail "needs $(undefined lenet.o)"
        passes clang-19 --target=riscv64-linux-gnu -march=rv64gc -ffreestanding -nostdlib -static -fuse-ld=lld-19 -O2 -I. \
            -I"$source/include" -DINPUT="\"$lenet/case_0_input.npy\"" -DEXPECTED="\"$lenet/case_0_expected_logits.npy\"" \
            "$source/tests/webnnc/bare.c" lenet.o -o bare
        need qemu-riscv64
        passes qemu-riscv64 -cpu rv64,v=true,vlen=128 ./bare
    done
}

# firmware TRIPLE CPU BOARD MEGAHERTZ: mnist-8 between a vector table and a linker script, with nothing else in the program
firmware() {
    local digits=$models/mnist-8 text
    passes "$webnnc" "$digits" -o model.o --header model.h --name model --target "$1" --cpu "$2"
    [ "$(undefined model.o)" = "free malloc " ] || fail "needs $(undefined model.o)"
    build_firmware() {
        passes clang-19 --target="$1" -mcpu="$2" -ffreestanding -nostdlib -static -fuse-ld=lld-19 -O2 -Wl,--gc-sections -I. \
            -I"$source/include" -DMEGAHERTZ="$3" -DINPUT="\"$digits/case_0/input_0.npy\"" -DEXPECTED="\"$digits/$4/output_0.npy\"" \
            -T "$source/tests/webnnc/firmware.ld" "$source/tests/webnnc/firmware.c" model.o -o firmware
    }
    run_firmware() {
        timeout 60 qemu-system-arm -M "$1" -semihosting -display none -serial null -monitor none -icount shift=0 -kernel firmware
    }
    build_firmware "$1" "$2" "$4" case_1
    run_firmware "$3" >out.txt 2>&1 && fail "the firmware for $2 takes any result for right"
    build_firmware "$1" "$2" "$4" case_0
    llvm-nm-19 firmware | grep -qE ' (malloc|free|model_run)$' && fail "what the firmware does not use is in it"
    run_firmware "$3" >out.txt 2>&1 || fail "the firmware for $2: $(cat out.txt)"
    text=$(llvm-size-19 -A firmware | awk '$1 == ".text" { print $2 }')
    echo "mnist-8 on $2: $text bytes of code and constants; $(paste -s -d ';' out.txt)"
}

check_cortex_m() {
    need clang-19
    need ld.lld-19
    need qemu-system-arm
    firmware thumbv7em-none-eabihf cortex-m4 mps2-an386 25
    firmware thumbv8.1m.main-none-eabihf cortex-m55 mps3-an547 32
    # What runs in objects is what clang makes of runtime.c.
    passes "$source/codegen/object/runtime/update.sh" "$folder"
    for bits in 32 64; do passes cmp "runtime$bits.ll" "$source/codegen/object/runtime/runtime$bits.ll"; done
}

# run_wasm MODEL MODULE.mjs [NODE'S OPTION]: the module computes the expected results
run_wasm() {
    local script=$folder/$2 inputs outputs
    case $1 in
    lenet) inputs=case_0_input.npy outputs="case_0_expected_logits.npy case_0_expected_probabilities.npy" ;;
    mobilenetv2) inputs=input.npy outputs="expected_logits.npy expected_probabilities.npy" ;;
    rnnoise)
        inputs="case_0_input.npy case_0_vad_h0.npy case_0_noise_h0.npy case_0_denoise_h0.npy"
        outputs="case_0_expected_gains.npy case_0_expected_vad_gru_h.npy case_0_expected_noise_gru_h.npy case_0_expected_denoise_gru_h.npy"
        ;;
    esac
    # shellcheck disable=SC2086
    (cd "$models/$1" && node ${3:-} "$source/tests/webnnc/wasm.mjs" "$script" $inputs -- $outputs) || fail "$1 in WebAssembly"
}

check_wasm() {
    need wasm-ld-19
    need node
    local model relaxed=--experimental-wasm-relaxed-simd
    for model in lenet mobilenetv2 rnnoise; do
        passes "$webnnc" "$models/$model" -o $model.wasm
        run_wasm $model $model.mjs
    done
    # Without vectors; with multiply-adds that may be fused, for which this version of Node.js may want an option or be too old.
    passes "$webnnc" "$lenet" -o scalar.wasm --cpu mvp
    run_wasm lenet scalar.mjs
    passes "$webnnc" "$lenet" -o relaxed.wasm --features +relaxed-simd
    "$webnnc" "$lenet" -o - --emit asm --target wasm32 --features +relaxed-simd | grep -q f32x4.relaxed_madd ||
        fail "no relaxed SIMD with +relaxed-simd"
    "$webnnc" "$lenet" -o - --emit asm --target wasm32 | grep -q f32x4.relaxed_madd && fail "relaxed SIMD without +relaxed-simd"
    node --v8-options | grep -qF -- "  $relaxed " || relaxed=
    if node $relaxed -e 'new WebAssembly.Module(require("fs").readFileSync("relaxed.wasm"))' 2>err.txt; then
        run_wasm lenet relaxed.mjs $relaxed
    else
        echo "relaxed SIMD is compiled, not run: $(node --version) does not take it"
    fi

    printf 'webnn_graph "g" v1 { inputs { %s "__proto__": u8[2, 3]; "*/ \\"odd\\"\\n": f32[]; } nodes { %s } outputs { %s } }\n' \
        "f: f32[2, 3]; h: f16[2, 3]; i: i32[2, 3]; u: u32[2, 3]; l: i64[2, 3]; m: u64[2, 3]; b: i8[2, 3];" \
        "f2 = identity(f); h2 = identity(h); i2 = identity(i); u2 = identity(u); l2 = identity(l); m2 = identity(m);
         b2 = identity(b); p2 = identity(\"__proto__\"); o2 = identity(\"*/ \\\"odd\\\"\\n\");" \
        "f2; h2; i2; u2; l2; m2; b2; p2; o2;" >types.webnn
    passes "$webnnc" types.webnn -o types.wasm
    printf 'webnn_graph "g" v1 { inputs { x: f32[2]; } consts { c: f32[2] @bytes([0, 0, 128, 63, 0, 0, 0, 64]); } nodes { y = add(x, c); } outputs { y; } }\n' >weights.webnn
    passes "$webnnc" weights.webnn -o weights.wasm --weights weights.bin
    printf 'webnn_graph "g" v1 { inputs { x: f32[8]; } consts { p: f32[8] @scalar(0); n: f32[8] @scalar(-0.0); c: f32[8] @scalar(2.5); m: f32[8] @bytes([%s]); } nodes { %s } outputs { %s } }\n' \
        "$(printf '0,0,128,63,0,0,0,128,%.0s' 1 2 3 4 | sed 's/,$//; s/,/, /g')" \
        "relu = relu(x); relu6 = clamp(x, minValue=0, maxValue=6); max_p = max(x, p); max_n = max(n, x); max_c = max(x, c);
         min_p = min(x, p); min_n = min(x, n); min_c = min(c, x); max_m = max(x, m); min_m = min(x, m); max_x = max(x, x);" \
        "relu; relu6; max_p; max_n; max_c; min_p; min_n; min_c; max_m; min_m; max_x;" >extremes.webnn
    passes "$webnnc" extremes.webnn -o extremes.wasm
    passes node "$source/tests/webnnc/wasm_types.mjs"
    [ -s err.txt ] && cat err.txt
    passes "$webnnc" "$shapes" -o sized.wasm --dim batch=1..3
    passes node "$source/tests/webnnc/wasm_sizes.mjs"
    # A name of a file that means something in a URL, and the linker of somebody's own.
    printf '#!/bin/sh\nexec wasm-ld-19 "$@"\n' >linker
    chmod +x linker
    passes "$webnnc" "$lenet" -o 'odd#%20name?.wasm' --wasm-ld "$folder/linker --strip-all"
    run_wasm lenet 'odd#%20name?.mjs'
    # Both files are written, or none.
    refuses 1 "cannot run the linker no-such-linker: No such file or directory; --wasm-ld names another" \
        "$webnnc" weights.webnn -o new.wasm --weights new.bin --wasm-ld no-such-linker
    refuses 1 "the linker false failed" "$webnnc" weights.webnn -o new.wasm --weights new.bin --wasm-ld false
    mkdir isafolder.mjs
    refuses 1 "cannot write" "$webnnc" weights.webnn -o isafolder.wasm --weights new.bin
}

if [ "$part" != options ] && [ "$part" != kinds ] && [ "$part" != sizes ] && [ ! -d "$lenet" ]; then
    [ "${WEBNN_REQUIRE_SHARED:-0}" = 0 ] || { echo "failed: no models in $models"; exit 1; }
    skip "no models in $models"
fi
"check_${part//-/_}"
[ $failures -eq 0 ]

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The examples in C of docs/extending.md compile: each is put into a copy of the file that the page names for it, and the
# compiler checks that copy as it would check the file.
#
# usage: check_extending.sh COMPILER ROOT
set -euo pipefail

compiler=$1 root=$2
page=$root/docs/extending.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

# Blocks, one file each; block_N is renamed when it has been used.
awk -v work="$work" '/^```c$/ { file = work "/block_" ++n; next } /^```/ { file = ""; next } file { print >file }' "$page"

# take TEXT: $example becomes the file of the one block that has the text.
take() {
    local found
    found=$(grep -lF -- "$1" "$work"/block_*) || fail "no example has \"$1\""
    [ "$(wc -l <<<"$found")" -eq 1 ] || fail "several examples have \"$1\""
    example=$work/used_${found##*_}
    mv "$found" "$example"
}

# quoted TEXT: $example becomes a file with the code between backquotes in the page that begins with the text.
quoted() {
    example=$work/quoted
    awk -F '`' -v text="$1" 'BEGIN { RS = "\001" }
        { gsub(/\n/, " "); for (i = 2; i <= NF; i += 2) if (index($i, text) == 1) { print $i; exit } }' "$page" >"$example"
    [ -s "$example" ] || fail "the page does not have \"$1\""
}

# copy_of FILE: the path of its copy, which is made if it is not there.
copy_of() {
    [ -e "$work/$1" ] || { mkdir -p "$work/$(dirname "$1")" && cp "$root/$1" "$work/$1"; }
    echo "$work/$1"
}

# insert FILE LINE [NUMBER]: puts $example into the copy of FILE, before the first line that begins with LINE, or before
# the one of that number.
insert() {
    local copy
    copy=$(copy_of "$1")
    awk -v example="$example" -v line="$2" -v number="${3:-1}" '
        index($0, line) == 1 && ++seen == number { while ((getline text <example) > 0) print text }
        { print }
        END { exit seen < number }' "$copy" >"$copy.new" || fail "$1 has no line \"$2\" to put an example before"
    mv "$copy.new" "$copy"
}

check() { # FILE OPTION ...
    local file=$1
    shift
    "$compiler" -std=c17 -D_GNU_SOURCE -fsyntax-only -Wall -Wextra -Wno-unused-parameter -Werror "$@" -I"$work" \
        -I"$work/include" -I"$root" -I"$root/include" -I"$root/tests" -iquote "$root/$(dirname "$file")" "$(copy_of "$file")" ||
        fail "$file does not compile with the examples of $page"
}

# An operator.
take 'OP_UNARY(CUBE,'
insert ir/graph/ops.def 'OP_UNARY(RELU,'
take 'wnnGraphBuilderCube('
insert include/webnn/webnn_operators.h '#ifdef __cplusplus' 2
take 'return a * a * a;'
insert ir/interpret/interpret_elementwise.c '    case OP_RELU:'
take 'two roundings'
insert ir/interpret/interpret_elementwise.c '    case OP_HARD_SWISH:' 2
take 'kernel_op2(k, K_MUL,'
insert passes/lower/lower_elementwise.c '    case OP_RELU:'
quoted 'UNARY(FLOATS, "cube"),'
insert tests/passes/lower/test_lower.c '    UNARY(FLOATS, '
for file in ir/graph/op.c frontend/builder/builder_operators.c ir/interpret/interpret.c ir/interpret/interpret_elementwise.c \
        passes/lower/lower_elementwise.c tests/random/generate_operator.c tests/passes/lower/test_lower.c; do
    check $file
done

# A pass.
mkdir -p "$work/passes/simplify"
take 'struct value *in = n->input_count'
cp "$example" "$work/passes/simplify/merge_relus.c"
quoted 'bool pass_merge_relus('
insert passes/passes.h 'bool pass_drop_dead('
take '{"merge-relus",'
insert passes/pipeline.c '    {"drop-dead",'
check passes/simplify/merge_relus.c -Wmissing-prototypes
check passes/pipeline.c

# An engine, with declarations of what the page leaves to its author.
mkdir -p "$work/runtime/engine/made_up"
{
    cat <<'PRELUDE'
#include <stdlib.h>
#include "runtime/engine/engine.h"
#include "runtime/program/executable.h"
#include "runtime/program/invocation.h"
struct made_up_code;
bool made_up_start(struct made_up_code *code, uint32_t count, const engine_address *addresses);
bool made_up_copy(engine_address to, engine_address from, size_t bytes);
struct made_up_code **made_up_compile(const struct program *p, struct error *e);
void made_up_free(struct engine *en);
const struct target *made_up_target(struct engine *en, struct error *e);
bool made_up_schedule(struct engine *en, const struct target *t, struct program_step *s, struct error *e);
struct engine_buffer *made_up_buffer_create(struct engine *en, size_t bytes, struct error *e);
void made_up_buffer_free(struct engine *en, struct engine_buffer *b);
bool made_up_buffer_write(struct engine *en, struct engine_buffer *b, size_t offset, const void *data, size_t bytes,
                          struct error *e);
bool made_up_buffer_read(struct engine *en, struct engine_buffer *b, size_t offset, void *data, size_t bytes, struct error *e);
void made_up_unload(struct executable *x);
PRELUDE
    for text in 'struct made_up_executable {' 'static struct executable *made_up_load(' \
            'static const struct engine_functions'; do
        take "$text"
        cat "$example"
    done
    echo 'const struct engine_functions *made_up = &made_up_functions;'
} >"$work/runtime/engine/made_up/engine_made_up.c"
check runtime/engine/made_up/engine_made_up.c

for block in "$work"/block_*; do
    [ ! -e "$block" ] || fail "no check uses this example: $(cat "$block")"
done
echo "$(find "$work" -name 'used_*' | wc -l) examples compile."

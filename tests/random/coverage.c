/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * coverage-operators: no row of the operator table without a test.  Needs no files.
 *
 * For every operator, every operand and result that has data types of its own, and every such data type: that the context's
 * limits list it, and that small random graphs of the operator with that type, built and computed through the public API, agree
 * with the reference interpreter; contractions and recurrent operators also without the library.  Then how each one
 * ran is held against what docs/operators.md says: by generated kernels, a library call, a loop, or as a view of its input.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "passes/passes.h"
#include "random.h"
#include "runtime/api/context.h"
#include "support/help.h"

enum { SAMPLES = 3, TRIES = 400 };

static struct variant with_library, without_library;
static struct check_counts counts;
static uint32_t failures, pairs, graphs;
/* Bit 1 << cluster_kind: how the nodes of an operator ran. */
static uint32_t ways[OP_COUNT];

/* ---- slots: operands, then results, as runtime_supported_types counts them ---- */

static const struct operand_info *slot_info(enum op op, uint32_t slot)
{
    return slot < OP_OPERANDS_MAX ? &op_infos[op].ins[slot] : &op_infos[op].outs[slot - OP_OPERANDS_MAX];
}

static const char *slot_name(enum op op, uint32_t slot)
{
    return slot_info(op, slot)->name;
}

static bool has_slot(enum op op, uint32_t slot)
{
    uint32_t first = slot < OP_OPERANDS_MAX ? 0 : OP_OPERANDS_MAX;

    for (uint32_t i = first; i <= slot; i++)
        if (!slot_name(op, i))
            return false;
    return true;
}

static dtype slot_type(const struct node *n, uint32_t slot)
{
    const struct value *v = slot < OP_OPERANDS_MAX ? n->inputs[slot].value : n->results[slot - OP_OPERANDS_MAX];

    return v ? v->type.type : WNNOperandDataType_Undefined;
}

/* Returns the number of a slot in the list that wnnContextGetOperatorSupportLimits gives. */
static uint32_t slot_place(enum op op, uint32_t slot)
{
    return slot < OP_OPERANDS_MAX ? slot : op_input_slots(op) + slot - OP_OPERANDS_MAX;
}

/* ---- limits ---- */

/* This engine narrows nothing: types are the row's. */
static void check_limits(enum op op, uint32_t slot, dtype_set types)
{
    WNNTensorLimits limits[WNN_TENSOR_LIMITS_MAX];
    size_t count = 0;
    WNNStatus status = wnnContextGetOperatorSupportLimits(with_library.context, WNN_STR(op_infos[op].name),
                                                          WNN_TENSOR_LIMITS_MAX, limits, &count);

    if (!status && slot_place(op, slot) < count && limits[slot_place(op, slot)].dataTypes == types)
        return;
    fprintf(stderr, "FAIL %s %s: the limits are not what the table says\n", op_infos[op].name, slot_name(op, slot));
    failures++;
}

/* ---- how it runs ---- */

static const uint32_t kernel_or_view = 1u << CLUSTER_KERNEL | 1u << CLUSTER_VIEW;

/* Returns what docs/operators.md says (tests/docs/operators.c: runs_as). */
static uint32_t allowed_ways(enum op op)
{
    if (op_infos[op].flags & OPF_LIBRARY)
        return kernel_or_view | 1u << CLUSTER_LIBRARY;
    if (op_infos[op].flags & OPF_RECURRENT)
        return kernel_or_view | 1u << CLUSTER_LIBRARY | 1u << CLUSTER_LOOP;
    return kernel_or_view;
}

/* The clusters that the engine's passes make of the sample. */
static void note_ways(const struct sample *s, enum op op, uint64_t seed)
{
    static const struct edit copy = {EDIT_NONE, 0, 0, 0, 0};
    struct engine *engine = with_library.context->engine;
    struct pass_options o = {.target = engine->functions->target(engine, &(struct error){0}), .debug = engine->debug};
    struct sample c;
    uint32_t found = 0;

    if (!o.target || !sample_edit(s, &copy, &c))
        random_die("no target, or no copy");
    if (!passes_run(c.g, &o))
        random_die(c.g->error.message);
    graph_for_each (c.g, n)
        found |= n->cluster ? 1u << n->cluster->kind : 1u << 31;
    sample_free(&c);
    /* A sample may hold casts and reshapes next to the operator: these run as kernels and views. */
    if (found & ~allowed_ways(op)) {
        fprintf(stderr, "FAIL %s, seed %" PRIu64 ": runs in a way that docs/operators.md does not say\n", op_infos[op].name,
                seed);
        failures++;
    }
    ways[op] |= found;
}

/* Library operators are the library's at least sometimes; recurrent ones of several steps are loops. */
static void check_ways(enum op op)
{
    bool good = ways[op] != 0;

#ifdef __x86_64__ /* elsewhere the library may have nothing but reference implementations */
    if (op_infos[op].flags & OPF_LIBRARY)
        good = ways[op] >> CLUSTER_LIBRARY & 1;
#endif
    if (op == OP_GRU || op == OP_LSTM)
        good = ways[op] >> CLUSTER_LOOP & 1;
    if (good)
        return;
    fprintf(stderr, "FAIL %s never ran as docs/operators.md says\n", op_infos[op].name);
    failures++;
}

/* ---- one pair ---- */

static void report(const struct sample *s, enum op op, uint64_t seed, const char *what)
{
    char *text = sample_text(s);

    fprintf(stderr, "FAIL %s, seed %" PRIu64 ": %s\n%s", op_infos[op].name, seed, what, text);
    free(text);
    failures++;
}

/* Returns whether a result of op with that type in that slot is an output. */
static bool has_type(const struct sample *s, enum op op, uint32_t slot, dtype type)
{
    graph_for_each (s->g, n)
        for (uint32_t i = 0; n->op == op && slot_type(n, slot) == type && i < n->result_count; i++)
            if (n->results[i]->output_uses)
                return true;
    return false;
}

static void check_one(struct sample *s, enum op op, uint64_t seed)
{
    char text[CHECK_REPORT] = "";

    graphs++;
    if (!check_sample(s, text) || !check_variant(s, &with_library, &counts, text))
        report(s, op, seed, text);
    else if (op_infos[op].flags & (OPF_LIBRARY | OPF_RECURRENT) && !check_variant(s, &without_library, &counts, text))
        report(s, op, seed, text);
    note_ways(s, op, seed);
}

static void check_pair(enum op op, uint32_t slot, dtype type)
{
    uint64_t before = counts.compared;
    uint32_t found = 0;

    pairs++;
    for (uint32_t i = 0; i < TRIES && found < SAMPLES; i++) {
        struct generate_options o = {(((uint64_t)op * 16 + slot) * 16 + (uint64_t)type) * TRIES + i, 1};
        struct sample s;

        if (!sample_generate_operator(&s, &o, op, type))
            continue;
        if (has_type(&s, op, slot, type)) {
            check_one(&s, op, o.seed);
            found++;
        }
        sample_free(&s);
    }
    if (found == SAMPLES && counts.compared > before)
        return;
    fprintf(stderr, "FAIL %s: no test with %s %s\n", op_infos[op].name, dtype_name(type), slot_name(op, slot));
    failures++;
}

PROGRAM_HELP("usage: coverage-operators   compute every operator with every data type, by the library and without it\n")
int main(void)
{
    variant_init(&with_library, "default");
    variant_init(&without_library, "no-library");
    for (enum op op = 0; op < OP_COUNT; op++) {
        for (uint32_t slot = 0; slot < OP_OPERANDS_MAX + OP_RESULTS_MAX; slot++) {
            dtype_set types = has_slot(op, slot) ? slot_info(op, slot)->types : 0;

            if (!types || types & DT_AS_FLAG)
                continue;
            check_limits(op, slot, types);
            for (int t = 1; t < DTYPE_COUNT; t++)
                if (types >> t & 1)
                    check_pair(op, slot, (dtype)t);
        }
        check_ways(op);
    }
    printf("%d operators, %u pairs of an operand and a data type, %u graphs, %" PRIu64 " elements compared, %" PRIu64
           " near a jump; %u failed\n",
           OP_COUNT, pairs, graphs, counts.compared, counts.unknown, failures);
    variant_release(&with_library);
    variant_release(&without_library);
    return failures ? 1 : 0;
}

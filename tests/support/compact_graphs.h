/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes graphs with random weights of 4, 8 and 16 bits, for tests of compact weights (docs/compact-weights.md).
 */
#pragma once

#include "passes/passes.h"
#include "passes/support.h"
#include "support/graphs.h"
#include "support/random.h"

/** Makes a graph whose constants are random: 8-bit weights in a range that begins at `least`, everything else of its type. */
GRAPHS_UNUSED static struct graph *compact_parse(const char *body, int least, uint32_t range)
{
    struct graph *g = parse_body(body);

    for (const struct value *v = g->first_constant; v; v = v->next_constant) {
        const int64_t count = type_elements(&v->type);
        void *data = (void *)(uintptr_t)v->constant->data;

        for (int64_t i = 0; i < count; i++) {
            const double number = (double)(random_bits() % 4001) / 1000 - 2;
            if (v->type.type == WNNOperandDataType_Float32)
                ((float *)data)[i] = (float)number;
            else if (v->type.type == WNNOperandDataType_Float16 || v->type.type == DTYPE_BFLOAT16)
                ((uint16_t *)data)[i] = number_cast(wnnNumber(number), v->type.type).f16;
            else
                ((uint8_t *)data)[i] = (uint8_t)(least + (int)(random_bits() % range));
        }
    }
    return g;
}

/** Puts the numbers of the i-th constant, which are bytes, into that many bits each, with a cast before its users. */
GRAPHS_UNUSED static void compact_narrow(struct graph *g, uint32_t i, uint32_t bits)
{
    struct value *wide = g->first_constant, *v;

    for (; i; i--)
        wide = wide->next_constant;
    assert_int_equal(wide->type.type, WNNOperandDataType_Uint8);
    struct tensor_type type = wide->type;
    type.type = dtype_packed(bits);
    struct constant *c = constant_create(NULL, (size_t)type_bytes(&type));
    assert_non_null(c);
    for (size_t at = 0; at < c->bytes; at++) {
        uint8_t *byte = (uint8_t *)(uintptr_t)c->data + at;
        *byte = 0;
        for (uint32_t k = 0; k * bits < 8; k++)
            *byte |= (uint8_t)(((const uint8_t *)wide->constant->data)[8 / bits * at + k] << k * bits);
    }
    v = make_cast(g, g->first, g->first, graph_add_constant(g, &type, c), WNNOperandDataType_Uint8);
    value_replace_uses(wide, v);
    value_drop_constant(wide);
}

/** Packs the weights of a graph for a target and makes clusters of it. */
GRAPHS_UNUSED static void compact_cluster(struct graph *g, const struct target *t)
{
    const struct pass_options o = {.target = t};

    pass_canonicalize(g, &o);
    pass_fold_constants(g, &o);
    assert_true(pass_pack_weights(g, &o));
    pass_fuse_kernels(g, &o);
    pass_finish_clusters(g, &o);
    assert_int_equal(g->error.status, WNNStatus_Success);
}

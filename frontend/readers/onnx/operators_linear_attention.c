/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports LinearAttention: every head has a matrix as its state, to which each token adds the product of its key and value, and
 * which its query multiplies.  Tokens come one after another, in a loop unless there is one only.
 */
#include <math.h>
#include <string.h>

#include "frontend/readers/onnx/control_loop.h"
#include "frontend/readers/onnx/compose.h"

enum { QUERY, KEY, VALUE, STATE, DECAY, BETA, INPUTS };

struct linear_attention {
    uint32_t batch, tokens, heads, group; /* heads of values, and how many queries each of them has */
    uint32_t size[INPUTS];                /* of a head in each input */
    bool gated, corrects;                 /* the state decays; values are corrected by what the state has for the key */
};

static const WNNOperandDataType f32 = WNNOperandDataType_Float32;

/** Returns input i, [batch, tokens, heads * size], as float32 [batch, tokens, all heads, size], whose heads are repeated. */
static WNNOperand read_heads(struct onnx_node *n, struct linear_attention *a, size_t i, uint32_t heads, uint32_t all)
{
    const struct onnx_value *v = onnx_input(n, i);
    uint32_t *size = &a->size[i];

    if (!v || v->rank != 3 || v->dims[0] != a->batch || v->dims[1] != a->tokens || v->dims[2] % heads || all % heads)
        return onnx_refuse_operand(n, "input %zu must be [%u, %u, a multiple of %u], for %u heads", i, a->batch, a->tokens,
                                   heads, all);
    *size = (uint32_t)v->dims[2] / heads;
    WNNOperand x =
        onnx_reshape(n, onnx_cast(n, onnx_operand(n, i), f32), 5, (uint32_t[]){a->batch, a->tokens, heads, 1, *size});
    x = onnx_expand(n, x, (struct onnx_dims){5, {a->batch, a->tokens, heads, all / heads, *size}});
    return onnx_reshape(n, x, 4, (uint32_t[]){a->batch, a->tokens, all, *size});
}

/** Reads the attributes and all inputs but the state, in x.  Returns false after refusing. */
static bool read_inputs(struct onnx_node *n, struct linear_attention *a, WNNOperand *x)
{
    const char *rule = onnx_string(n, "update_rule", "gated_delta");
    const int64_t queries = onnx_int(n, "q_num_heads", 0), heads = onnx_int(n, "kv_num_heads", 0);
    const double scale = onnx_float(n, "scale", 0);
    const struct onnx_value *q = onnx_input(n, QUERY), *k = onnx_input(n, KEY), *beta = onnx_input(n, BETA);

    onnx_ignore(n, "chunk_size"); /* how many tokens may be computed at once */
    if (onnx_int(n, "state_window", 0))
        return onnx_refuse(n, "state_window is not 0: states of several tokens are not read");
    a->corrects = !strcmp(rule, "delta") || !strcmp(rule, "gated_delta");
    a->gated = !strcmp(rule, "gated") || !strcmp(rule, "gated_delta");
    if (!a->gated && !a->corrects && strcmp(rule, "linear") != 0)
        return onnx_refuse(n, "update_rule \"%s\" is none of linear, gated, delta and gated_delta", rule);
    if (n->refused || queries < 1 || heads < 1 || queries > INT32_MAX || heads > INT32_MAX ||
        (queries % heads && heads % queries))
        return onnx_refuse(n, "q_num_heads is %lld and kv_num_heads %lld; one must be a multiple of the other",
                           (long long)queries, (long long)heads);
    if (!q || !k || q->rank != 3 || k->rank != 3 || !q->dims[2] || q->dims[2] % queries)
        return onnx_refuse(n, "query must be [batch, tokens, a multiple of %lld]", (long long)queries);
    const int64_t size = q->dims[2] / queries;
    if (!k->dims[2] || k->dims[2] % size)
        return onnx_refuse(n, "key has %lld elements for a token, which must be a multiple of a query's %lld",
                           (long long)k->dims[2], (long long)size);
    a->batch = (uint32_t)q->dims[0];
    a->tokens = (uint32_t)q->dims[1];
    a->heads = (uint32_t)heads;
    a->group = queries > heads ? (uint32_t)(queries / heads) : 1;
    x[QUERY] = read_heads(n, a, QUERY, (uint32_t)queries, a->heads * a->group);
    /* Heads of values may share keys. */
    x[KEY] = read_heads(n, a, KEY, (uint32_t)(k->dims[2] / size), a->heads);
    x[VALUE] = read_heads(n, a, VALUE, a->heads, a->heads);
    if (a->gated)
        x[DECAY] = wnnGraphBuilderExp(n->builder, read_heads(n, a, DECAY, a->heads, a->heads), n->options);
    if (a->corrects)
        x[BETA] = read_heads(n, a, BETA, beta && beta->rank == 3 && beta->dims[2] == 1 ? 1 : a->heads, a->heads);
    if (n->refused)
        return false;
    if (a->size[KEY] != a->size[QUERY] || (a->gated && a->size[DECAY] != 1 && a->size[DECAY] != a->size[KEY]) ||
        (a->corrects && a->size[BETA] != 1))
        return onnx_refuse(n, "heads of queries have %u elements, of keys %u, of decay %u, of beta %u", a->size[QUERY],
                           a->size[KEY], a->size[DECAY], a->size[BETA]);
    x[QUERY] = onnx_linear(n, x[QUERY], scale == 0 ? 1 / sqrt(a->size[KEY]) : scale, 0);
    return true;
}

/** Returns one token's result, [batch, heads, group, size of a value], and the state after it. */
static WNNOperand add_token(struct onnx_node *n, const struct linear_attention *a, const WNNOperand *x, WNNOperand *state)
{
    const WNNOperand key = onnx_reshape(n, x[KEY], 4, (uint32_t[]){a->batch, a->heads, a->size[KEY], 1});
    WNNOperand value = onnx_reshape(n, x[VALUE], 4, (uint32_t[]){a->batch, a->heads, 1, a->size[VALUE]});

    if (a->gated)
        *state = onnx_mul(n, *state, onnx_reshape(n, x[DECAY], 4, (uint32_t[]){a->batch, a->heads, a->size[DECAY], 1}));
    if (a->corrects) {
        value = onnx_sub(n, value, onnx_reduce_axis(n, wnnGraphBuilderReduceSum, onnx_mul(n, *state, key), 2));
        value = onnx_mul(n, value, onnx_reshape(n, x[BETA], 4, (uint32_t[]){a->batch, a->heads, 1, 1}));
    }
    *state = onnx_add(n, *state, onnx_mul(n, key, value));
    return onnx_matmul(n, onnx_reshape(n, x[QUERY], 4, (uint32_t[]){a->batch, a->heads, a->group, a->size[QUERY]}), *state);
}

/** Does the same for all tokens: the result is [batch, tokens, heads, group, size of a value]. */
static WNNOperand add_tokens(struct onnx_node *n, const struct linear_attention *a, const WNNOperand *x, WNNOperand *state)
{
    WNNLoopSlices scanned[INPUTS], stacked = {NULL, 1, false};
    WNNOperand in[INPUTS + 1], out[2], token[INPUTS] = {NULL};
    struct control_iterations t = {a->tokens, 1, 0, 1, state, in, state, out, scanned, &stacked};

    for (size_t i = 0; i < INPUTS; i++)
        if (x[i])
            scanned[t.scanned_count++] = (WNNLoopSlices){x[i], 1, false};
    if (!control_may_begin(n))
        return onnx_refuse_operand(n, "it is in a loop, and is one of %u tokens; loops cannot be nested", a->tokens);
    n->is_static = false; /* the reader computes no loops */
    if (!control_begin(n, &t))
        return onnx_error_operand(n);
    for (size_t i = 0, k = 1; i < INPUTS; i++)
        token[i] = x[i] ? in[k++] : NULL;
    *state = in[0];
    stacked.operand = add_token(n, a, token, state);
    if (!control_end(n, &t, true))
        return onnx_error_operand(n);
    *state = out[0];
    return out[1];
}

bool onnx_import_linear_attention(struct onnx_node *n)
{
    struct linear_attention a = {0};
    WNNOperand x[INPUTS] = {NULL}, y, state = onnx_operand_optional(n, STATE);

    if (!read_inputs(n, &a, x))
        return false;
    const WNNOperandDataType type = wnnOperandGetDataType(onnx_operand(n, QUERY));
    const WNNOperandDataType kept = state ? wnnOperandGetDataType(state) : type;
    const struct onnx_dims dims = {4, {a.batch, a.heads, a.size[KEY], a.size[VALUE]}};

    if (state && onnx_dims_of(n, state).rank != dims.rank)
        return onnx_refuse(n, "past_state has %zu dimensions, it must have 4", onnx_dims_of(n, state).rank);
    for (size_t i = 0; state && i < dims.rank; i++)
        if (onnx_dims_of(n, state).at[i] != dims.at[i])
            return onnx_refuse(n, "dimension %zu of past_state is %u, it must be %u", i, onnx_dims_of(n, state).at[i],
                               dims.at[i]);
    state = state ? onnx_cast(n, state, f32) : onnx_expand(n, onnx_scalar(n, f32, 0), dims);
    y = a.tokens == 1 ? add_token(n, &a, x, &state) : add_tokens(n, &a, x, &state);
    y = onnx_reshape(n, y, 3, (uint32_t[]){a.batch, a.tokens, a.heads * a.group * a.size[VALUE]});
    return onnx_output(n, 0, onnx_cast(n, y, type)) && onnx_output(n, 1, onnx_cast(n, state, kept));
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes both sides of every algebraic rule (ir/rules/rules.c), as nodes of a graph and as expressions of a kernel.  A side
 * with one operand is computed for all float16 numbers and all bytes; others are computed for special numbers of their type.
 */
#include "ir/kernel/kernel_internal.h"
#include "ir/rules/rules.h"
#include "passes/pass_support.h"
#include "passes/simplify/canonicalize.h"

enum { TERMS_MAX = 3, VALUES_MAX = 1 << 16 };

/* ---- values ---- */

static const double special_floats[] = {
    NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e-45, -1e-45,  6e-8,     -1e-40, 6.1e-5,  1.17549435e-38,       0.1, 0.5, -0.5,
    1.0, -1.0,     1.5,       2.0, 2.5,  -3.0,  65504.0, -65504.0, 1e19,   -3.0e38, 3.4028234663852886e38};
static const int64_t special_integers[] = {
    0,         1,        -1, 2, -2, 3, 5, 127, -128, 128, 255, 65535, INT32_MIN, INT32_MAX, UINT32_MAX, (INT64_C(1) << 53) + 1,
    INT64_MIN, INT64_MAX};

struct values {
    uint32_t count;
    union scalar bits[VALUES_MAX];
};

static void list_values(struct values *v, dtype t, bool all)
{
    v->count = 0;
    if (all && dtype_size(t) <= 2) {
        while (v->count < 1u << 8 * dtype_size(t)) {
            v->bits[v->count] = (union scalar){.u64 = v->count};
            v->count++;
        }
        return;
    }
    for (size_t i = 0; dtype_is_float(t) && i < sizeof special_floats / sizeof *special_floats; i++)
        v->bits[v->count++] = number_cast(wnnNumber(special_floats[i]), t);
    for (size_t i = 0; !dtype_is_float(t) && i < sizeof special_integers / sizeof *special_integers; i++)
        v->bits[v->count++] = number_cast(wnnNumberInt64(special_integers[i]), t);
}

static bool same(union scalar a, union scalar b, dtype t)
{
    return !memcmp(&a, &b, dtype_size(t)) ||
           (dtype_is_float(t) && isnan(scalar_to_double(a, t)) && isnan(scalar_to_double(b, t)));
}

/** Returns number i that a word of a pattern stands for, or false if there are not so many. */
static bool sample(enum rule_word word, uint32_t i, double *number)
{
    static const double samples[][6] = {
        [R_ZERO] = {0},
        [R_MINUS_ZERO] = {-0.0},
        [R_ONE] = {1},
        [R_MINUS_ONE] = {-1},
        [R_TWO] = {2},
        [R_NONZERO] = {1, 1},
        [R_FINITE] = {0.25, -3, 1e-7, 1, 2, -0.0},
        [R_POWER_OF_TWO] = {8, -0.5, 16384, -1.0 / 16384, 2, 0.25},
    };
    const bool many = word == R_FINITE || word == R_POWER_OF_TWO;

    *number = samples[word][i];
    return many || !i;
}

/* ---- one rule in one type ---- */

/** This is a rule whose classes of operators have become operators, as it is tried for one type. */
struct trial {
    const struct rule *rule;
    uint8_t pattern[RULE_PATTERN_MAX];
    uint32_t sample;
    const uint8_t *at; /* the next word */
    bool unfit;        /* there is no such operator, or not in that type */
    uint32_t applied, different;
    uint32_t input_count;
    enum rule_word input_words[TERMS_MAX];
};

static bool is_number_word(enum rule_word word)
{
    return word >= R_ZERO && word <= R_POWER_OF_TWO;
}

/** Returns the input of a word, a new one if it is not there yet or stands for any term. */
static uint32_t input_of(struct trial *t, enum rule_word word)
{
    uint32_t i = 0;

    while (i < t->input_count && (word == R_ANY || t->input_words[i] != word))
        i++;
    assert_true(i < TERMS_MAX);
    t->input_words[i] = word;
    t->input_count = i < t->input_count ? t->input_count : i + 1;
    return i;
}

/* ---- in a graph ---- */

struct graph_trial {
    struct trial *t;
    struct graph *g;
    dtype type;
    uint32_t elements;
    struct value *inputs[TERMS_MAX];
};

static struct value *graph_term(struct graph_trial *a, bool condition)
{
    const enum rule_word word = (enum rule_word) * a->t->at++;
    struct tensor_type type = {.type = condition ? WNNOperandDataType_Uint8 : a->type, .rank = 1, .dims = {a->elements}};
    const uint32_t zero = 0, one = 1, size = a->elements;
    struct value *operands[RULE_OPERANDS_MAX];
    union op_args args = {0};
    double number;

    if (word == R_LET_X)
        return graph_term(a, condition);
    if (is_number_word(word)) {
        type.rank = 0;
        a->t->unfit |= !sample(word, a->t->sample, &number);
        return graph_add_scalar(a->g, &type, wnnNumber(number));
    }
    if (word == R_ANY || word == R_X || word == R_Y) {
        const uint32_t i = input_of(a->t, word);
        if (!a->inputs[i])
            a->inputs[i] = graph_add_input(a->g, (const char *[]){"a", "b", "c"}[i], 1, &type);
        return a->inputs[i];
    }
    const enum op op = (enum op)(word - rule_word_of(0));
    for (uint32_t i = 0; i < op_positional_inputs(op); i++)
        operands[i] = graph_term(a, op == OP_WHERE && !i);
    if (op == OP_CAST)
        args.cast.dataType = a->type;
    else if (op == OP_RESHAPE || op == OP_EXPAND)
        args.reshape.newShapeCount = 1, args.reshape.newShape = &size;
    else if (op == OP_TILE)
        args.tile.repetitionsCount = 1, args.tile.repetitions = &one;
    else if (op == OP_PAD)
        args.pad.beginningPaddingCount = args.pad.endingPaddingCount = 1,
        args.pad.beginningPadding = args.pad.endingPadding = &zero;
    else if (op == OP_SLICE)
        args.slice.startsCount = args.slice.sizesCount = 1, args.slice.starts = &zero, args.slice.sizes = &size;
    if (a->t->unfit)
        return NULL;
    struct node *n = node_create(a->g, NULL, op, "", op_positional_inputs(op), operands, NULL, &args, &a->g->error);
    a->t->unfit = !n;
    return n ? n->results[0] : NULL;
}

static void try_in_graph(struct trial *t, dtype type)
{
    static struct values values[TERMS_MAX];
    void *inputs[TERMS_MAX] = {NULL};
    struct graph_trial a = {.t = t, .type = type, .elements = 1};
    struct value *before, *after;

    for (bool counted = false;; counted = true) { /* the second time the number of elements is known */
        t->at = t->pattern;
        t->unfit = false;
        t->input_count = 0;
        memset(a.inputs, 0, sizeof a.inputs);
        a.g = graph_create();
        before = graph_term(&a, false);
        if (t->unfit || counted)
            break;
        for (uint32_t i = 0; i < t->input_count; i++) {
            list_values(&values[i], a.inputs[i]->type.type, t->input_count == 1);
            a.elements *= values[i].count;
        }
        graph_free(a.g);
    }
    after = t->unfit ? NULL : canonicalize_by_rules(a.g, before->producer, t->rule, 1);
    if (after) {
        assert_true(graph_add_output(a.g, "before", 6, before) && graph_add_output(a.g, "after", 5, after));
        for (uint32_t i = 0, step = 1; i < t->input_count; step *= values[i++].count) {
            const size_t size = dtype_size(a.inputs[i]->type.type);
            inputs[i] = malloc(a.elements * size);
            for (uint32_t e = 0; e < a.elements; e++)
                memcpy((char *)inputs[i] + e * size, &values[i].bits[e / step % values[i].count], size);
        }
        SCOPED(run_free) struct run r = run_graph(a.g, (const void *const *)inputs, false);
        assert_true(type_equal(&r.types[0], &r.types[1]));
        for (int64_t e = 0; e < a.elements; e++)
            t->different +=
                !same(element(r.outputs[0], r.types[0].type, e), element(r.outputs[1], r.types[0].type, e), r.types[0].type);
        t->applied++;
    }
    for (uint32_t i = 0; i < t->input_count; i++)
        free(inputs[i]);
    graph_free(a.g);
}

/* ---- in a kernel ---- */

static dtype dtype_of(enum ktype t)
{
    static const dtype types[KT_COUNT] = {WNNOperandDataType_Uint8, WNNOperandDataType_Float32, DTYPE_FLOAT64,
                                          WNNOperandDataType_Int8,  WNNOperandDataType_Uint8,   DTYPE_INT16,
                                          WNNOperandDataType_Int32, WNNOperandDataType_Uint32,  WNNOperandDataType_Int64,
                                          WNNOperandDataType_Uint64};
    return types[t];
}

struct kernel_trial {
    struct trial *t;
    struct kernel *k;
    enum ktype type;
    uint32_t inputs[TERMS_MAX];
    union scalar values[TERMS_MAX];
};

/** Returns expression e as its inputs have it. */
static union scalar kernel_value(const struct kernel_trial *a, const struct kexpr *e)
{
    union scalar args[3] = {{.u64 = 0}, {.u64 = 0}, {.u64 = 0}};

    if (e->op == K_CONST)
        return e->bits;
    for (uint32_t i = 0; i < a->t->input_count; i++)
        if (e == &a->k->exprs[a->inputs[i]])
            return a->values[i];
    for (uint32_t i = 0; i < kop_arity(e->op); i++)
        args[i] = kernel_value(a, &a->k->exprs[e->args[i]]);
    return kernel_scalar(e->op, e->type, a->k->exprs[e->args[0]].type, args);
}

static uint32_t kernel_term(struct kernel_trial *a, enum ktype type);

/** Makes the operator that the next words describe.  The outermost one is not made part of the kernel. */
static struct kexpr kernel_node(struct kernel_trial *a)
{
    struct kexpr e = {.op = kernel_rule_op(*a->t->at++), .args = {KEXPR_NONE, KEXPR_NONE, KEXPR_NONE}};
    enum ktype types[3] = {KT_COUNT, KT_COUNT, KT_COUNT};

    a->t->unfit |= e.op == K_OP_COUNT;
    for (uint32_t i = 0; !a->t->unfit && i < kop_arity(e.op); i++) {
        e.args[i] = kernel_term(a, e.op == K_SELECT && !i ? KT_BOOL : i && e.op != K_SELECT ? types[0] : a->type);
        if (e.args[i] < a->k->expr_count)
            e.type = types[i] = a->k->exprs[e.args[i]].type;
    }
    if (!a->t->unfit && !kop_types_fit(e.op, e.type, types[0], types[1], types[2]))
        e.type = e.op == K_CAST ? KT_U8 : KT_BOOL;
    a->t->unfit |= !a->t->unfit && !kop_types_fit(e.op, e.type, types[0], types[1], types[2]);
    return e;
}

static uint32_t kernel_term(struct kernel_trial *a, enum ktype type)
{
    const enum rule_word word = (enum rule_word) * a->t->at;
    double number;

    if (is_number_word(word) || word == R_ANY || word == R_X || word == R_Y || word == R_LET_X)
        a->t->at++;
    if (word == R_LET_X)
        return kernel_term(a, type);
    if (is_number_word(word)) {
        a->t->unfit |= !sample(word, a->t->sample, &number);
        return kernel_const(a->k, type, number_cast(wnnNumber(number), dtype_of(type)));
    }
    if (word == R_ANY || word == R_X || word == R_Y) {
        const uint32_t i = input_of(a->t, word);
        const dtype t = type == KT_BOOL ? WNNOperandDataType_Float32 : dtype_of(type);
        if (a->inputs[i] == KEXPR_NONE) {
            a->inputs[i] =
                kernel_load(a->k, kernel_tensor(a->k, t, 1, false, NULL), kaffine_const(0), 0, NULL, (union scalar){.u64 = 0});
            if (type == KT_BOOL)
                a->inputs[i] = kernel_op1(a->k, K_IS_NAN, a->inputs[i]);
        }
        return a->inputs[i];
    }
    struct kexpr e = kernel_node(a);
    if (a->t->unfit)
        return KEXPR_NONE;
    return e.op == K_CAST         ? kernel_cast(a->k, e.type, e.args[0])
           : kop_arity(e.op) == 1 ? kernel_op1(a->k, e.op, e.args[0])
                                  : kernel_op2(a->k, e.op, e.args[0], e.args[1]);
}

static void try_in_kernel(struct trial *t, enum ktype type)
{
    static struct values values[TERMS_MAX];
    struct kernel_trial a = {.t = t, .k = kernel_create(), .type = type, .inputs = {KEXPR_NONE, KEXPR_NONE, KEXPR_NONE}};
    uint32_t after, points = 1;

    t->at = t->pattern;
    t->unfit = false;
    t->input_count = 0;
    struct kexpr before = kernel_node(&a);
    after = t->unfit ? KEXPR_NONE : kernel_simplify(a.k, &before, t->rule, 1);
    if (after != KEXPR_NONE) {
        assert_int_equal(a.k->exprs[after].type, before.type);
        for (uint32_t i = 0; i < t->input_count; i++) {
            const enum ktype in = a.k->exprs[a.inputs[i]].type;
            list_values(&values[i], dtype_of(in), t->input_count == 1);
            values[i].count = in == KT_BOOL ? 2 : values[i].count; /* 0 and 1 */
            points *= values[i].count;
        }
        for (uint32_t p = 0; p < points; p++) {
            for (uint32_t i = 0, rest = p; i < t->input_count; rest /= values[i++].count)
                a.values[i] = values[i].bits[rest % values[i].count];
            t->different += !same(kernel_value(&a, &before), kernel_value(&a, &a.k->exprs[after]), dtype_of(before.type));
        }
        t->applied++;
    }
    kernel_free(a.k);
}

/* ---- rules ---- */

/** Tries a rule with all operators of its classes, from the word `from`, in all types. */
static void try_rule(struct trial *t, uint32_t from)
{
    while (from < RULE_PATTERN_MAX && (t->pattern[from] < R_COPY || t->pattern[from] > R_INTEGRAL))
        from++;
    if (from < RULE_PATTERN_MAX) {
        const uint8_t class = t->pattern[from];
        for (uint32_t op = R_INTEGRAL + 1; op < R_WORD_COUNT; op++)
            if (rule_word_is((enum rule_word) class, (enum rule_word)op)) {
                t->pattern[from] = (uint8_t)op;
                try_rule(t, from + 1);
            }
        t->pattern[from] = class;
        return;
    }
    for (t->sample = 0; t->sample < 6; t->sample++) {
        for (dtype type = WNNOperandDataType_Float32; t->rule->scope & RULE_GRAPH && (unsigned)type < DTYPE_COUNT; type++)
            try_in_graph(t, type);
        for (enum ktype type = 0; t->rule->scope & RULE_KERNEL && type < KT_COUNT; type++)
            try_in_kernel(t, type);
    }
}

static struct trial tried(const struct rule *r)
{
    struct trial t = {.rule = r};

    memcpy(t.pattern, r->pattern, sizeof t.pattern);
    try_rule(&t, 0);
    return t;
}

TEST(both_sides_of_every_rule_are_the_same)
{
    for (size_t i = 0; i < rule_count; i++) {
        const struct rule *r = &rules[i];
        for (uint8_t scope = RULE_GRAPH; scope <= RULE_KERNEL; scope <<= 1) {
            struct rule one = *r;
            one.scope &= scope;
            struct trial t = tried(&one);
            if (one.scope && (!t.applied || t.different))
                fail_msg("rule %zu (\"%s\") in %s: applied %u times, %u values differ", i, r->why,
                         scope == RULE_GRAPH ? "graphs" : "kernels", t.applied, t.different);
        }
    }
}

TEST(a_wrong_rule_is_found)
{
    static const struct rule wrong[] = {
        {RULE_GRAPH, RULE_FLOATS, {R_ADD, R_X, R_ZERO}, {R_X}, "not for -0"},
        {RULE_KERNEL, RULE_FLOATS, {R_ADD, R_X, R_ZERO}, {R_X}, "not for -0"},
        {RULE_GRAPH, RULE_FLOATS, {R_SUB, R_X, R_X}, {R_X}, "but for zeros"},
        {RULE_GRAPH, RULE_INTEGERS, {R_LOGICAL_NOT, R_LOGICAL_NOT, R_X}, {R_X}, "not for 2"},
        {RULE_GRAPH, RULE_ALL_TYPES, {R_ADD, R_X, R_NEG, R_Y}, {R_ADD, R_X, R_Y}, "the sign is lost"},
        {RULE_KERNEL, RULE_ALL_TYPES, {R_ADD, R_X, R_NEG, R_Y}, {R_SUB, R_Y, R_X}, "the wrong way round"},
        {RULE_KERNEL, RULE_ALL_TYPES, {R_OR, R_X, R_NONZERO}, {R_X}, "1 is not neutral"},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct trial t = tried(&wrong[i]);
        if (!t.applied || !t.different)
            fail_msg("wrong rule %zu (\"%s\"): applied %u times, %u values differ", i, wrong[i].why, t.applied, t.different);
    }
}

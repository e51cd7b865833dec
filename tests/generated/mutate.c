/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Random models and random changes. */
#include "generated.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers, types and words ---- */

static const int64_t extremes[] = {0,          -1,         -2,         INT32_MAX,  INT32_MIN,   INT64_MAX,   INT64_MIN,
                                   0x80000000, 0x7FFFFFFE, 0x7FFFFFFC, UINT32_MAX, 0x100000000, 0x100000001, 1LL << 62,
                                   1000000000, 46341,      65535,      65536,      65537,       4096,        100000,
                                   1 << 28,    1 << 30,    1 << 29,    1 << 20,    1 << 27,     0xC0000000,  1024,
                                   1025,       -65536,     -INT64_MAX, -1000000000};
static const double special[] = {NAN,    INFINITY, -INFINITY,    -0.0,          0,     1e-45,        1e-40,
                                 1e30,   -1e30,    3.4028235e38, -3.4028235e38, 1e300, 1e-9,         1e-30,
                                 1e9,    -1,       0.5,          65504,         65520, 2147483648.0, -2147483649.0,
                                 9.3e18, 0x1p-126, 0x1p-149,     1e-300,        -1e-8, 16777217};
static const uint8_t types[] = {ONNX_FLOAT, ONNX_FLOAT,  ONNX_FLOAT,  ONNX_FLOAT16, ONNX_INT32,
                                ONNX_INT64, ONNX_UINT8,  ONNX_INT8,   ONNX_BOOL,    ONNX_INT64,
                                ONNX_FLOAT, ONNX_UINT32, ONNX_UINT64, ONNX_DOUBLE,  ONNX_INT32};
static const uint8_t odd_types[] = {ONNX_UINT16, ONNX_INT16, ONNX_STRING, ONNX_DOUBLE, ONNX_BFLOAT16, ONNX_UINT4, ONNX_INT4,
                                    0,           14,         17,          99,          ONNX_BOOL};
#define LONG_WORD "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define BATCHES "...ij,...jk->...ik"
static const char *const words[] = {
    "",         "X",           "constant", "ij,jk->ik",    "ii->i", "ij->ji", "i,i->", BATCHES, "...,...->...",
    "ab,ab->a", "linear Tanh", LONG_WORD,  "\xE2\x80\xAE", "%s%n",  "a b a"};

#define PICK(r, list) (list)[gen_below(r, sizeof(list) / sizeof *(list))]

/** Returns a small number, or one that the model or the message has. */
static int64_t pick_number(struct gen_random *r, const struct gen_model *m, const struct gen_hints *hints)
{
    int64_t number;

    if (hints && hints->number_count && gen_chance(r, 55)) {
        number = hints->numbers[gen_below(r, hints->number_count)];
        return gen_chance(r, 80) ? number : number * (1 + gen_below(r, 4)) + gen_below(r, 2);
    }
    if (m->tensor_count && gen_chance(r, 40)) {
        const struct gen_tensor *t = &m->tensors[gen_below(r, m->tensor_count)];

        if (t->rank && gen_chance(r, 80)) {
            number = t->dims[gen_below(r, t->rank)];
            return gen_chance(r, 80) ? number : gen_chance(r, 50) ? number / 2 : (int64_t)((uint64_t)number * 2);
        }
        return t->rank;
    }
    return gen_chance(r, 12) ? -1 - (int64_t)gen_below(r, 3) : (int64_t)gen_below(r, gen_chance(r, 80) ? 5 : 20);
}

static int64_t pick_size(struct gen_random *r, const struct gen_model *m, const struct gen_hints *hints)
{
    int64_t number = pick_number(r, m, hints);

    return number < 1 || number > 4096 ? 1 + (int64_t)gen_below(r, 6) : number;
}

static double pick_float(struct gen_random *r)
{
    return gen_chance(r, 10) ? (double)gen_below(r, 5) : ((double)gen_below(r, 4001) - 2000) / (gen_chance(r, 80) ? 1000 : 100);
}

static unsigned pick_type(struct gen_random *r, const struct gen_model *m, const struct gen_hints *hints)
{
    if (hints && hints->type_count && gen_chance(r, 60))
        return hints->types[gen_below(r, hints->type_count)];
    if (m->tensor_count && gen_chance(r, 40)) {
        unsigned type = m->tensors[gen_below(r, m->tensor_count)].type;

        if (type) /* that of a result is not known always */
            return type;
    }
    return PICK(r, types);
}

/** Values that fit the type; large lists of small numbers for what may be indices. */
static void fill_values(struct gen_random *r, struct gen_tensor *t, const struct gen_model *m, const struct gen_hints *hints)
{
    bool is_float = gen_type_is_float(t->type), same = gen_chance(r, 20), small = gen_chance(r, 60);
    size_t count = gen_tensor_written(t);

    t->count = (uint32_t)(count < 1 ? 1 : count < GEN_VALUES ? count : GEN_VALUES - gen_below(r, 2) * 3);
    for (unsigned i = 0; i < t->count; i++) {
        if (same && i)
            t->values[i] = t->values[0];
        else if (is_float)
            t->values[i] = gen_bits(pick_float(r));
        else
            t->values[i] = small ? gen_below(r, 3) : pick_number(r, m, hints);
    }
}

static int add_tensor(struct gen_random *r, struct gen_model *m, enum gen_source source, const struct gen_hints *hints)
{
    struct gen_tensor *t = &m->tensors[m->tensor_count];
    const struct gen_tensor *like = m->tensor_count && gen_chance(r, 50) ? &m->tensors[gen_below(r, m->tensor_count)] : NULL;

    if (m->tensor_count == GEN_TENSORS)
        return -1;
    memset(t, 0, sizeof *t);
    t->source = (uint8_t)source;
    if (source != GEN_RESULT) {
        t->type = (uint8_t)pick_type(r, m, hints);
        t->rank = (uint8_t)(like ? like->rank : gen_below(r, 5));
        for (unsigned d = 0; d < t->rank; d++)
            t->dims[d] = like && gen_chance(r, 70) ? like->dims[d] : 1 + (int64_t)gen_below(r, 5);
        fill_values(r, t, m, hints);
    }
    return m->tensor_count++;
}

/* ---- attributes ---- */

static void fill_body(struct gen_random *r, struct gen_attribute *a, const struct gen_node *n)
{
    a->values[0] = gen_chance(r, 60) ? n->input_count : gen_below(r, 5);
    a->values[1] = gen_chance(r, 60) ? n->output_count : 1 + gen_below(r, 4);
    for (unsigned i = 2; i < 10; i++)
        a->values[i] = gen_chance(r, 60) ? i - 1 : gen_below(r, 32);
}

static void fill_attribute(struct gen_random *r, struct gen_model *m, struct gen_node *n, struct gen_attribute *a,
                           const struct gen_note *note, const struct gen_hints *hints)
{
    unsigned rank = n->input_count && n->inputs[0] >= 0 ? m->tensors[n->inputs[0]].rank : 2;
    unsigned lengths[] = {rank, rank * 2, rank > 2 ? rank - 2 : 1, rank > 2 ? 2 * rank - 4 : 2, 1, gen_below(r, 6)};
    bool is_float = a->kind == GEN_FLOAT || a->kind == GEN_FLOATS;

    if (a->kind == GEN_INTS || a->kind == GEN_FLOATS || a->kind == GEN_STRINGS)
        a->length = hints && hints->number_count && gen_chance(r, 30)
                        ? (uint32_t)hints->numbers[gen_below(r, hints->number_count)] % 32
                        : PICK(r, lengths);
    else
        a->length = 1;
    a->count = (uint8_t)(a->length < 1 ? 1 : a->length < GEN_VALUES ? a->length : GEN_VALUES);
    switch ((enum gen_kind)a->kind) {
    case GEN_GRAPH:
        fill_body(r, a, n);
        break;
    case GEN_TENSOR:
        memset(&a->tensor, 0, sizeof a->tensor);
        a->tensor.type = (uint8_t)pick_type(r, m, hints);
        a->tensor.rank = (uint8_t)gen_below(r, 3);
        for (unsigned d = 0; d < a->tensor.rank; d++)
            a->tensor.dims[d] = 1 + (int64_t)gen_below(r, 3);
        fill_values(r, &a->tensor, m, hints);
        break;
    case GEN_STRING:
    case GEN_STRINGS:
        strcpy(a->text,
               note && note->word_count && gen_chance(r, 92) ? note->words[gen_below(r, note->word_count)] : PICK(r, words));
        break;
    default: {
        bool is_permutation = a->kind == GEN_INTS && gen_chance(r, 40), is_same = gen_chance(r, 40);
        unsigned shift = gen_below(r, 3) ? gen_below(r, 5) : 0;

        for (unsigned i = 0; i < a->count; i++)
            a->values[i] = is_float            ? gen_bits(gen_chance(r, 50) ? fabs(pick_float(r)) : pick_float(r))
                           : is_permutation    ? (i + shift) % a->count
                           : is_same && i      ? a->values[0]
                           : gen_chance(r, 50) ? gen_below(r, 3)
                                               : pick_number(r, m, hints);
    }
    }
}

/** Sets an attribute that the operator's importer asks for: one that there is, or a new one. */
static void mutate_attribute(struct gen_random *r, struct gen_model *m, struct gen_node *n, const struct gen_hints *hints)
{
    const struct gen_row *row = gen_find_row(m, n);
    const struct gen_note *note = row && row->note_count ? &row->notes[gen_below(r, (uint32_t)row->note_count)] : NULL;
    struct gen_attribute *a = NULL;

    for (size_t i = 0; row && hints && *hints->attribute && i < row->note_count; i++)
        if (!strcmp(row->notes[i].name, hints->attribute) && gen_chance(r, 60))
            note = &row->notes[i];
    if (!note)
        return;
    for (unsigned i = 0; i < n->attribute_count; i++)
        if (!strcmp(n->attributes[i].name, note->name))
            a = &n->attributes[i];
    if (a && gen_chance(r, hints && !strcmp(note->name, hints->attribute) ? 30 : 12)) {
        *a = n->attributes[--n->attribute_count];
        return;
    }
    if (!a) {
        if (n->attribute_count == GEN_ATTRIBUTES)
            return;
        a = &n->attributes[n->attribute_count++];
        memset(a, 0, sizeof *a);
        memcpy(a->name, note->name, GEN_NAME);
        a->kind = (uint8_t)(note->kind ? note->kind : gen_chance(r, 50) ? GEN_INTS : 1 + gen_below(r, 8));
    } else if (note->kind && a->kind != note->kind) {
        a->kind = note->kind;
    } else if (gen_chance(r, 40) && a->count && a->kind != GEN_STRING && a->kind != GEN_STRINGS && a->kind != GEN_TENSOR) {
        /* One number of it. */
        bool is_float = a->kind == GEN_FLOAT || a->kind == GEN_FLOATS;

        a->values[gen_below(r, a->kind == GEN_GRAPH ? 6 : a->count)] =
            is_float ? gen_bits(pick_float(r)) : pick_number(r, m, hints);
        return;
    }
    fill_attribute(r, m, n, a, note, hints);
}

/* ---- operands ---- */

static int8_t *pick_operand(struct gen_random *r, struct gen_node *n, const struct gen_hints *hints)
{
    if (!n->input_count)
        return NULL;
    if (hints && hints->tensor < n->input_count && gen_chance(r, 60))
        return &n->inputs[hints->tensor];
    return &n->inputs[gen_below(r, n->input_count)];
}

static void mutate_shape(struct gen_random *r, struct gen_model *m, struct gen_tensor *t, const struct gen_hints *hints)
{
    const struct gen_tensor *like = &m->tensors[gen_below(r, m->tensor_count)];

    if (hints && hints->shape_count && gen_chance(r, 40)) {
        unsigned i = gen_below(r, hints->shape_count);

        t->rank = (uint8_t)hints->shapes[i].rank;
        memcpy(t->dims, hints->shapes[i].dims, sizeof t->dims);
        return;
    }
    switch (gen_below(r, 12)) {
    case 11: /* ones, in all of this rank */
        for (unsigned i = 0; i < m->tensor_count; i++)
            for (unsigned d = 0; m->tensors[i].source != GEN_RESULT && m->tensors[i].rank == t->rank && d < t->rank; d++)
                m->tensors[i].dims[d] = 1;
        break;
    case 10: /* all of this rank */
        for (unsigned i = 0; i < m->tensor_count; i++)
            for (struct gen_tensor *other = &m->tensors[i]; other->source != GEN_RESULT && other->rank != t->rank;) {
                if (other->rank < t->rank)
                    other->dims[other->rank] = t->dims[other->rank];
                other->rank = (uint8_t)(other->rank < t->rank ? other->rank + 1 : t->rank);
            }
        break;
    case 8: /* scalars */
        t->rank = 0;
        for (unsigned i = 1; i < m->tensor_count && gen_chance(r, 30); i++) {
            struct gen_tensor *other = &m->tensors[gen_below(r, m->tensor_count)];
            if (other->source == GEN_CONSTANT)
                other->rank = 0;
        }
        break;
    case 9: /* a rank that the message has */
        if (hints && hints->number_count) {
            uint64_t rank = (uint64_t)hints->numbers[gen_below(r, hints->number_count)];
            for (t->rank = (uint8_t)(t->rank < rank ? t->rank : rank); t->rank < rank && t->rank < 6; t->rank++)
                t->dims[t->rank] = pick_size(r, m, hints);
        }
        break;
    case 0: /* one dimension more */
        if (t->rank < 6) {
            unsigned at = gen_below(r, t->rank + 1u);

            memmove(&t->dims[at + 1], &t->dims[at], (t->rank++ - at) * sizeof t->dims[0]);
            t->dims[at] = gen_chance(r, 50) ? 1 : pick_size(r, m, hints);
        }
        break;
    case 1: /* one less */
        if (t->rank) {
            unsigned at = gen_below(r, t->rank);

            memmove(&t->dims[at], &t->dims[at + 1], (--t->rank - at) * sizeof t->dims[0]);
        }
        break;
    case 2: /* as another's */
        if (like->source == GEN_RESULT && !like->type)
            break;
        t->rank = like->rank;
        memcpy(t->dims, like->dims, sizeof t->dims);
        break;
    case 3: /* a list, or something else altogether */
        t->rank = (uint8_t)(gen_chance(r, 40) ? 1 : gen_below(r, 6));
        for (unsigned d = 0; d < t->rank; d++)
            t->dims[d] = pick_size(r, m, hints);
        break;
    default:
        if (t->rank)
            t->dims[gen_below(r, t->rank)] = pick_size(r, m, hints);
    }
    if (t->source == GEN_CONSTANT || gen_chance(r, 30))
        fill_values(r, t, m, hints);
}

static void mutate_operand(struct gen_random *r, struct gen_model *m, struct gen_node *n, const struct gen_hints *hints)
{
    int8_t *operand = pick_operand(r, n, hints);
    struct gen_tensor *t = operand && *operand >= 0 ? &m->tensors[*operand] : NULL;

    if (!operand)
        return;
    if (!t) {
        *operand = (int8_t)add_tensor(r, m, gen_chance(r, 50) ? GEN_INPUT : GEN_CONSTANT, hints);
        return;
    }
    if (t->source == GEN_RESULT)
        return;
    switch (gen_below(r, 10)) {
    case 6: /* everything but the first is constant, or what the message speaks of */
        if (gen_chance(r, 75))
            t->source = GEN_CONSTANT;
        for (unsigned i = 1; i < n->input_count && gen_chance(r, 80); i++)
            if (n->inputs[i] >= 0 && m->tensors[n->inputs[i]].source == GEN_INPUT)
                m->tensors[n->inputs[i]].source = GEN_CONSTANT;
        break;
    case 0: { /* the types of all that have this one */
        unsigned from = t->type, to = pick_type(r, m, hints);

        for (unsigned i = 0; i < m->tensor_count; i++)
            if (m->tensors[i].type == from && m->tensors[i].source != GEN_RESULT) {
                m->tensors[i].type = (uint8_t)to;
                fill_values(r, &m->tensors[i], m, hints);
            }
        break;
    }
    case 1:
    case 2:
        t->type = (uint8_t)pick_type(r, m, hints);
        fill_values(r, t, m, hints);
        break;
    case 3:
        t->source = t->source == GEN_INPUT ? GEN_CONSTANT : GEN_INPUT;
        break;
    case 4:
        if (gen_chance(r, 70) || !t->count)
            fill_values(r, t, m, hints);
        else
            t->values[gen_below(r, t->count)] = gen_type_is_float(t->type) ? gen_bits(pick_float(r)) : pick_number(r, m, hints);
        break;
    case 5:
        if (gen_chance(r, 30))
            *operand = n->inputs[gen_below(r, n->input_count)];
        break;
    default:
        mutate_shape(r, m, t, hints);
    }
}

static void mutate_arity(struct gen_random *r, struct gen_model *m, struct gen_node *n, const struct gen_hints *hints)
{
    const struct gen_row *row = gen_find_row(m, n);
    unsigned most = row && row->max_inputs < GEN_INPUTS ? row->max_inputs : GEN_INPUTS;

    switch (gen_below(r, 5)) {
    case 0:
    case 1:
        if (n->input_count < most)
            n->inputs[n->input_count++] =
                gen_chance(r, 15) ? -1 : (int8_t)add_tensor(r, m, gen_chance(r, 50) ? GEN_INPUT : GEN_CONSTANT, hints);
        break;
    case 2:
        if (n->input_count && (!row || n->input_count > row->min_inputs))
            n->input_count--;
        break;
    case 3: {
        bool more = gen_chance(r, 50);

        if (more && n->output_count < GEN_OUTPUTS && row && n->output_count < row->max_outputs)
            n->outputs[n->output_count++] = (int8_t)add_tensor(r, m, GEN_RESULT, hints);
        else if (!more && n->output_count > 1)
            n->output_count--;
        break;
    }
    default:
        if (n->input_count && row && row->min_inputs < n->input_count)
            n->inputs[row->min_inputs + gen_below(r, n->input_count - row->min_inputs)] = -1;
    }
}

void gen_mutate(struct gen_random *r, struct gen_model *m, const struct gen_hints *hints)
{
    struct gen_node *n = &m->nodes[gen_below(r, m->node_count)];
    const struct gen_row *row = gen_find_row(m, n);
    bool about_attribute = hints && *hints->attribute;

    if (row && row->note_count && gen_chance(r, about_attribute ? 70 : 30))
        mutate_attribute(r, m, n, hints);
    else if (gen_chance(r, 15))
        mutate_arity(r, m, n, hints);
    else
        mutate_operand(r, m, n, hints);
    gen_model_compact(m);
}

void gen_start(struct gen_random *r, enum gen_dialect dialect, const struct gen_row *row, struct gen_model *m)
{
    struct gen_node *n = &m->nodes[0];
    unsigned most = row->max_inputs < row->min_inputs + 2 ? row->max_inputs : row->min_inputs + 2, first = PICK(r, types);

    gen_model_init(m, dialect);
    m->node_count = 1;
    m->version = (int16_t)(*row->domain ? 17 : row->since + (int)gen_below(r, (uint32_t)(row->until - row->since + 1)));
    strcpy(n->domain, row->domain);
    strcpy(n->op, row->name);
    n->input_count = (uint8_t)(row->min_inputs + gen_below(r, most - row->min_inputs + 1));
    if (!n->input_count && most)
        n->input_count = 1;
    if (n->input_count > GEN_INPUTS)
        n->input_count = GEN_INPUTS;
    for (unsigned i = 0; i < n->input_count; i++) {
        n->inputs[i] = (int8_t)add_tensor(r, m, i && gen_chance(r, 40) ? GEN_CONSTANT : GEN_INPUT, NULL);
        if (gen_chance(r, 60)) {
            m->tensors[i].type = (uint8_t)first;
            fill_values(r, &m->tensors[i], m, NULL);
        }
    }
    if (gen_chance(r, 30)) { /* all of one rank */
        unsigned rank = gen_below(r, 5);

        for (unsigned i = 0; i < m->tensor_count; i++)
            for (m->tensors[i].rank = 0; m->tensors[i].rank < rank; m->tensors[i].rank++)
                m->tensors[i].dims[m->tensors[i].rank] = 1 + (int64_t)gen_below(r, 4);
    }
    for (unsigned i = 1; i < m->tensor_count; i++) /* some scalars and lists */
        if (gen_chance(r, 20)) {
            m->tensors[i].rank = (uint8_t)gen_below(r, 2);
            m->tensors[i].dims[0] = 1 + (int64_t)gen_below(r, 4);
        }
    n->output_count = 1;
    n->outputs[0] = (int8_t)add_tensor(r, m, GEN_RESULT, NULL);
}

/* ---- extremes ---- */

static void extreme_attribute(struct gen_random *r, struct gen_model *m, struct gen_node *n)
{
    if (!n->attribute_count || gen_chance(r, 40))
        mutate_attribute(r, m, n, NULL);
    if (!n->attribute_count)
        return;
    struct gen_attribute *a = &n->attributes[gen_below(r, n->attribute_count)];
    switch (gen_below(r, 12)) {
    case 0: /* another kind */
        a->kind = (uint8_t)(1 + gen_below(r, 8));
        a->length = a->length ? a->length : 1;
        break;
    case 1: /* a huge or an empty list */
        a->length = gen_chance(r, 50) ? 0 : gen_chance(r, 50) ? 100000 : 9 + gen_below(r, 60);
        break;
    case 2: /* twice */
        if (n->attribute_count < GEN_ATTRIBUTES) {
            n->attributes[n->attribute_count] = *a;
            n->attributes[n->attribute_count++].values[0] ^= 1;
        }
        break;
    case 3:
        strcpy(a->text, PICK(r, words));
        break;
    case 4: /* one that is not asked for */
        strcpy(a->name, gen_chance(r, 50) ? "nothing" : "");
        break;
    default:
        for (unsigned i = 0, all = gen_chance(r, 30); a->count && i < (all ? a->count : 1u); i++)
            a->values[all ? i : gen_below(r, a->count)] =
                a->kind == GEN_FLOAT || a->kind == GEN_FLOATS ? gen_bits(PICK(r, special)) : PICK(r, extremes);
        if (a->kind == GEN_TENSOR && a->tensor.count)
            a->tensor.values[0] = gen_type_is_float(a->tensor.type) ? gen_bits(PICK(r, special)) : PICK(r, extremes);
    }
}

static void extreme_tensor(struct gen_random *r, struct gen_model *m)
{
    struct gen_tensor *t = &m->tensors[gen_below(r, m->tensor_count)];

    if (t->source == GEN_RESULT)
        return;
    switch (gen_below(r, 8)) {
    case 0:
        t->type = PICK(r, odd_types);
        break;
    case 1: /* a rank up to 9 */
        while (t->rank < GEN_RANK - 1 && !gen_chance(r, 20))
            t->dims[t->rank++] = 1;
        break;
    case 2:
    case 3:
        if (t->rank)
            t->dims[gen_below(r, t->rank)] = PICK(r, extremes);
        break;
    default:
        for (unsigned i = 0, all = gen_chance(r, 30); t->count && i < (all ? t->count : 1u); i++)
            t->values[all ? i : gen_below(r, t->count)] =
                gen_type_is_float(t->type) ? gen_bits(PICK(r, special)) : PICK(r, extremes);
    }
}

static void extreme_node(struct gen_random *r, struct gen_model *m, struct gen_node *n)
{
    switch (gen_below(r, 5)) {
    case 0:
        if (n->input_count)
            n->input_count--;
        break;
    case 1:
        if (n->input_count < GEN_INPUTS)
            n->inputs[n->input_count++] = (int8_t)(m->tensor_count ? (int)gen_below(r, m->tensor_count) : -1);
        break;
    case 2:
        if (n->input_count)
            n->inputs[gen_below(r, n->input_count)] = -1;
        break;
    case 3:
        if (n->output_count < GEN_OUTPUTS)
            n->outputs[n->output_count++] = (int8_t)add_tensor(r, m, GEN_RESULT, NULL);
        break;
    default:
        m->version = (int16_t)(gen_chance(r, 80) ? 1 + (int)gen_below(r, 28) : -1);
    }
}

void gen_mutate_extreme(struct gen_random *r, struct gen_model *m)
{
    struct gen_node *n = &m->nodes[gen_below(r, m->node_count)];
    unsigned kind = gen_below(r, 100);

    if (kind < 45)
        extreme_attribute(r, m, n);
    else if (kind < 88 && m->tensor_count)
        extreme_tensor(r, m);
    else
        extreme_node(r, m, n);
    gen_model_compact(m);
}

/* ---- chains ---- */

static bool have_common_version(const struct gen_model *a, const struct gen_model *b)
{
    struct gen_model probe = {.dialect = a->dialect, .version = a->version};

    for (unsigned n = 0; n < b->node_count; n++)
        if (!gen_find_row(&probe, &b->nodes[n]))
            return false;
    return true;
}

static bool same_shape(const struct gen_tensor *a, const struct gen_tensor *b)
{
    return a->type == b->type && a->rank == b->rank && !memcmp(a->dims, b->dims, a->rank * sizeof a->dims[0]);
}

bool gen_append(struct gen_random *r, struct gen_model *a, const struct gen_model *b)
{
    int8_t places[GEN_TENSORS];
    bool is_fed = false;

    if (a->tensor_count + b->tensor_count > GEN_TENSORS || a->node_count + b->node_count > GEN_NODES ||
        !have_common_version(a, b))
        return false;
    for (unsigned i = 0; i < b->tensor_count; i++) {
        unsigned start = gen_below(r, a->tensor_count);

        places[i] = (int8_t)(a->tensor_count + i);
        for (unsigned k = 0; b->tensors[i].source == GEN_INPUT && k < a->tensor_count; k++) {
            struct gen_tensor *t = &a->tensors[(start + k) % a->tensor_count];

            if (t->source == GEN_RESULT && t->type && same_shape(t, &b->tensors[i])) {
                places[i] = (int8_t)((start + k) % a->tensor_count);
                t->hidden = t->hidden || gen_chance(r, 70);
                is_fed = true;
                break;
            }
        }
    }
    if (!is_fed && gen_chance(r, 60))
        return false;
    memcpy(&a->tensors[a->tensor_count], b->tensors, b->tensor_count * sizeof b->tensors[0]);
    a->tensor_count = (uint8_t)(a->tensor_count + b->tensor_count);
    for (unsigned n = 0; n < b->node_count; n++) {
        struct gen_node *node = &a->nodes[a->node_count++];

        *node = b->nodes[n];
        for (unsigned i = 0; i < node->input_count; i++)
            if (node->inputs[i] >= 0)
                node->inputs[i] = places[node->inputs[i]];
        for (unsigned i = 0; i < node->output_count; i++)
            if (node->outputs[i] >= 0)
                node->outputs[i] = places[node->outputs[i]];
    }
    gen_model_compact(a);
    return true;
}

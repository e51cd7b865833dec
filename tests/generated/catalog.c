/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which operators there are, and what is learnt of them.  The linker passes the importers' questions for attributes, and what
 * they compare strings with, through this file (--wrap): a new operator or attribute is known as soon as it is asked for.
 */
#include "generated.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ir/graph/ir.h"

static struct gen_row onnx_rows[GEN_ROWS_MAX], call_rows[OP_COUNT];
static size_t onnx_row_count, call_row_count;

void gen_learn(struct gen_row *row, const char *attribute, enum gen_kind kind, const char *word)
{
    struct gen_note *note = NULL;

    if (!row || strlen(attribute) >= GEN_NAME || (word && strlen(word) >= GEN_TEXT))
        return;
    for (size_t i = 0; i < row->note_count; i++)
        if (!strncmp(row->notes[i].name, attribute, GEN_NAME))
            note = &row->notes[i];
    if (!note) {
        if (row->note_count == GEN_NOTES)
            return;
        note = &row->notes[row->note_count++];
        memset(note, 0, sizeof *note);
        memcpy(note->name, attribute, strlen(attribute));
    }
    if (kind)
        note->kind = (uint8_t)kind; /* the kind asked for last: it may depend on other attributes */
    if (!word || note->word_count == GEN_WORDS)
        return;
    for (unsigned i = 0; i < note->word_count; i++)
        if (!strncmp(note->words[i], word, GEN_TEXT))
            return;
    strcpy(note->words[note->word_count++], word);
}

/* ---- tables ---- */

static void add_onnx_rows(void)
{
    size_t count;
    const struct onnx_operator *o = onnx_operators(&count);

    for (size_t i = 0; i < count && onnx_row_count < GEN_ROWS_MAX; i++, o++)
        onnx_rows[onnx_row_count++] = (struct gen_row){.domain = o->domain ? o->domain : "",
                                                       .name = o->name,
                                                       .since = o->since,
                                                       .until = o->until ? o->until : ONNX_OPSET_NEWEST,
                                                       .min_inputs = o->min_inputs,
                                                       .max_inputs = o->max_inputs,
                                                       .max_outputs = o->max_outputs,
                                                       .refused = (o->flags & ONNX_REFUSED) != 0};
}

/** Kinds of attributes in ops.def as those of models. */
static enum gen_kind kind_of(enum attr_kind kind)
{
    switch (kind) {
    case ATTR_U32_LIST:
        return GEN_INTS;
    case ATTR_F32_LIST:
        return GEN_FLOATS;
    case ATTR_ENUM_LIST:
        return GEN_STRINGS;
    case ATTR_DATA_TYPE:
    case ATTR_ENUM:
        return GEN_STRING;
    case ATTR_BOOL:
        return GEN_BOOL;
    case ATTR_F64:
    case ATTR_NUMBER:
        return GEN_FLOAT;
    case ATTR_NONE:
    case ATTR_U32:
    case ATTR_I32:
        break;
    }
    return GEN_INT;
}

static void add_call_row(struct gen_row *row, const struct op_info *info)
{
    *row = (struct gen_row){.domain = "", .name = info->name, .since = 1, .until = 1};
    for (const struct operand_info *in = info->ins; in->name; in++) {
        row->min_inputs += !in->optional;
        row->operands[row->max_inputs++] = in->name;
    }
    for (const struct operand_info *out = info->outs; out->name; out++)
        row->max_outputs++;
    if (info->flags & OPF_VARIADIC)
        row->max_inputs = UINT8_MAX;
    if (info->flags & OPF_SEQUENCE)
        row->max_outputs = UINT8_MAX;
    for (const struct attr_info *a = info->attrs; a->kind != ATTR_NONE; a++) {
        const char *word;

        gen_learn(row, a->name, kind_of(a->kind), NULL);
        for (unsigned v = 1; a->kind == ATTR_DATA_TYPE && v < DTYPE_COUNT; v++)
            gen_learn(row, a->name, GEN_STRING, dtype_name((dtype)v));
        for (unsigned v = 0; a->enumeration && v < 16; v++)
            if ((word = enum_value_name(a->enumeration, v)))
                gen_learn(row, a->name, kind_of(a->kind), word);
    }
}

struct gen_row *gen_rows(enum gen_dialect dialect, size_t *count)
{
    if (!onnx_row_count) {
        add_onnx_rows();
        for (; call_row_count < OP_COUNT; call_row_count++)
            add_call_row(&call_rows[call_row_count], &op_infos[call_row_count]);
    }
    *count = dialect == GEN_ONNX ? onnx_row_count : call_row_count;
    return dialect == GEN_ONNX ? onnx_rows : call_rows;
}

static struct gen_row *find(enum gen_dialect dialect, const char *domain, const char *name, int64_t version)
{
    size_t count;
    struct gen_row *rows = gen_rows(dialect, &count);

    for (size_t i = 0; i < count; i++)
        if (!strcmp(rows[i].name, name) && !strcmp(rows[i].domain, domain) &&
            (dialect != GEN_ONNX || *domain || (version >= rows[i].since && version <= rows[i].until)))
            return &rows[i];
    return NULL;
}

struct gen_row *gen_find_row(const struct gen_model *m, const struct gen_node *n)
{
    return find((enum gen_dialect)m->dialect, n->domain, n->op, m->version);
}

/* ---- listening to importers ---- */

static struct gen_row *row_of(const struct onnx_node *n)
{
    return n->row ? find(GEN_ONNX, n->row->domain ? n->row->domain : "", n->row->name, n->version) : NULL;
}

/* The strings that importers got last, to tell what they compare. */
static struct {
    const char *text, *attribute;
    struct gen_row *row;
} given[8];
static unsigned given_next;

static void note_given(struct onnx_node *n, const char *name, const char *text)
{
    given[given_next].text = text;
    given[given_next].attribute = name;
    given[given_next].row = row_of(n);
    given_next = (given_next + 1) % (sizeof given / sizeof *given);
}

/* How far the importer came: what it asked for until it refused. */
static unsigned steps;

void gen_listen(void)
{
    memset(given, 0, sizeof given);
    steps = 0;
}

unsigned gen_steps(void)
{
    return steps;
}

static void count_step(const struct onnx_node *n)
{
    steps += !n->refused;
}

#define COUNT(result, function, parameters, arguments)                                                                         \
    result __real_##function parameters;                                                                                       \
    result __wrap_##function parameters;                                                                                       \
    result __wrap_##function parameters                                                                                        \
    {                                                                                                                          \
        count_step(n);                                                                                                         \
        return __real_##function arguments;                                                                                    \
    }

COUNT(WNNOperand, onnx_operand, (struct onnx_node * n, size_t i), (n, i))
COUNT(struct onnx_value *, onnx_input, (struct onnx_node * n, size_t i), (n, i))
COUNT(const struct onnx_value *, onnx_constant, (struct onnx_node * n, size_t i), (n, i))
COUNT(const int64_t *, onnx_integers, (struct onnx_node * n, size_t i, size_t *count), (n, i, count))
COUNT(double, onnx_number, (struct onnx_node * n, size_t i, double fallback), (n, i, fallback))
COUNT(bool, onnx_axis, (struct onnx_node * n, int64_t axis, size_t rank, uint32_t *to), (n, axis, rank, to))
COUNT(bool, onnx_output, (struct onnx_node * n, size_t i, WNNOperand operand), (n, i, operand))

#define LISTEN(result, function, kind, parameters, arguments)                                                                  \
    result __real_##function parameters;                                                                                       \
    result __wrap_##function parameters;                                                                                       \
    result __wrap_##function parameters                                                                                        \
    {                                                                                                                          \
        count_step(n);                                                                                                         \
        gen_learn(row_of(n), name, kind, NULL);                                                                                \
        return __real_##function arguments;                                                                                    \
    }

LISTEN(int64_t, onnx_int, GEN_INT, (struct onnx_node * n, const char *name, int64_t fallback), (n, name, fallback))
/* An importer that only asks whether there is one does not say of what kind. */
LISTEN(bool, onnx_has, (enum gen_kind)0, (struct onnx_node * n, const char *name), (n, name))
LISTEN(double, onnx_float, GEN_FLOAT, (struct onnx_node * n, const char *name, double fallback), (n, name, fallback))
LISTEN(const int64_t *, onnx_ints, GEN_INTS, (struct onnx_node * n, const char *name, size_t *count), (n, name, count))
LISTEN(const float *, onnx_floats, GEN_FLOATS, (struct onnx_node * n, const char *name, size_t *count), (n, name, count))
LISTEN(struct onnx_value *, onnx_tensor, GEN_TENSOR, (struct onnx_node * n, const char *name), (n, name))
LISTEN(const Onnx__GraphProto *, onnx_graph, GEN_GRAPH, (struct onnx_node * n, const char *name), (n, name))

const char *__real_onnx_string(struct onnx_node *n, const char *name, const char *fallback);
const char *__wrap_onnx_string(struct onnx_node *n, const char *name, const char *fallback);
const char *__wrap_onnx_string(struct onnx_node *n, const char *name, const char *fallback)
{
    const char *text = __real_onnx_string(n, name, fallback);

    gen_learn(row_of(n), name, GEN_STRING, fallback);
    if (text)
        note_given(n, name, text);
    return text;
}

const char *const *__real_onnx_strings(struct onnx_node *n, const char *name, size_t *count);
const char *const *__wrap_onnx_strings(struct onnx_node *n, const char *name, size_t *count);
const char *const *__wrap_onnx_strings(struct onnx_node *n, const char *name, size_t *count)
{
    const char *const *list = __real_onnx_strings(n, name, count);

    gen_learn(row_of(n), name, GEN_STRINGS, NULL);
    for (size_t i = 0; list && i < *count && i < 4; i++)
        note_given(n, name, list[i]);
    return list;
}

static void compared(const char *a, const char *b)
{
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i].text && (given[i].text == a || given[i].text == b))
            gen_learn(given[i].row, given[i].attribute, GEN_STRING, given[i].text == a ? b : a);
}

#define COMPARE(function)                                                                                                      \
    int __real_##function(const char *a, const char *b);                                                                       \
    int __wrap_##function(const char *a, const char *b);                                                                       \
    int __wrap_##function(const char *a, const char *b)                                                                        \
    {                                                                                                                          \
        compared(a, b);                                                                                                        \
        return __real_##function(a, b);                                                                                        \
    }

COMPARE(strcmp)
COMPARE(strcasecmp)

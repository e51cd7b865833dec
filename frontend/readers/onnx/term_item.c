/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes items of terms (term.h), and calls of the builder's methods with them.
 */
#include <string.h>

#include "frontend/readers/onnx/control_loop.h"
#include "frontend/readers/onnx/internal.h"
#include "frontend/readers/onnx/open.h"
#include "frontend/readers/onnx/term.h"
#include "webnn/webnn_call.h"

struct term_item term_fail(struct term *t, const char *wrong)
{
    if (!t->wrong && !t->dead) {
        t->wrong = wrong;
        if (t->n)
            onnx_refuse(t->n, "the term of its operator is wrong: %s at \"%.20s\"", wrong, t->at);
    }
    t->dead = true;
    return (struct term_item){0};
}

struct term_item term_of_number(double number)
{
    return (struct term_item){.kind = TERM_NUMBER, .number = number};
}

struct term_item term_of_size(int64_t size)
{
    return (struct term_item){.kind = onnx_is_open(size) ? TERM_SIZE : TERM_NUMBER, .number = (double)size};
}

struct term_item term_of_operand(struct term *t, WNNOperand operand)
{
    t->dead = t->dead || t->n->refused || wnnOperandIsError(operand);
    return (struct term_item){.kind = TERM_OPERAND, .operand = operand};
}

struct term_item term_list_of(struct term *t, size_t count, const struct term_item *items)
{
    struct term_item *copy = onnx_alloc(t->n, count + 1, sizeof *copy);

    t->dead = t->dead || !copy;
    for (size_t i = 0; copy && i < count; i++)
        copy[i] = items[i];
    return (struct term_item){.kind = TERM_LIST, .count = copy ? count : 0, .items = copy};
}

struct term_item term_of_numbers(struct term *t, size_t count, const uint32_t *numbers)
{
    struct term_item items[TERM_ITEMS_MAX];

    count = count < TERM_ITEMS_MAX ? count : TERM_ITEMS_MAX;
    for (size_t i = 0; i < count; i++)
        items[i] = term_of_size(numbers[i]);
    return term_list_of(t, count, items);
}

struct onnx_dims term_dims(struct term *t, const struct term_item *list)
{
    struct onnx_dims dims = {0, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};

    if (list->kind != TERM_LIST || list->count > ONNX_RANK_MAX)
        term_fail(t, "no list of sizes");
    else {
        while (dims.rank < list->count) {
            const struct term_item *item = &list->items[dims.rank];

            dims.at[dims.rank] =
                item->kind == TERM_SIZE ? (uint32_t)item->number : onnx_size(t->n, "a size", term_integer(item));
            dims.rank++;
        }
    }
    t->dead = t->dead || t->n->refused;
    return dims;
}

WNNOperand term_operand(struct term *t, const struct term_item *item, WNNOperand like)
{
    WNNOperand operand = NULL;

    if (item->kind == TERM_INPUT)
        operand = onnx_operand(t->n, item->count);
    else if (item->kind == TERM_NUMBER && like)
        operand = onnx_scalar_like(t->n, like, item->number);
    else if (item->kind == TERM_SIZE && like)
        operand = wnnOperandIsError(like) ? like : onnx_size_scalar(t->n, (int64_t)item->number, wnnOperandGetDataType(like));
    else if (item->kind == TERM_OPERAND)
        operand = item->operand;
    else if (item->kind != TERM_NONE)
        term_fail(t, "no operand");
    t->dead = t->dead || t->n->refused;
    return operand;
}

int64_t term_integer(const struct term_item *item)
{
    const double x = item->number;

    return x >= 0x1p63 ? INT64_MAX : x >= -0x1p63 ? (int64_t)x : INT64_MIN;
}

/* ---- builder calls ---- */

/** Makes an operator's argument or option of an item.  items has room for those of a list. */
static WNNMethodValue value_of(struct term *t, const struct term_item *item, WNNMethodValueKind kind, WNNOperand like,
                               WNNMethodValue items[TERM_ITEMS_MAX])
{
    WNNMethodValue v = {.kind = WNNMethodValueKind_None};

    if (item->kind == TERM_LIST && items) {
        for (size_t i = 0; i < item->count && i < TERM_ITEMS_MAX; i++)
            items[i] = value_of(t, &item->items[i], kind, like, NULL);
        return wnnMethodValueList(item->count < TERM_ITEMS_MAX ? item->count : TERM_ITEMS_MAX, items);
    }
    if (item->kind == TERM_NONE)
        return v;
    if (item->kind == TERM_SIZE && kind != WNNMethodValueKind_Operand) {
        t->dead = !onnx_refuse_open(t->n);
        return v;
    }
    if (kind == WNNMethodValueKind_Operand)
        return wnnMethodValueOperand(term_operand(t, item, like));
    if (kind == WNNMethodValueKind_Bool)
        return wnnMethodValueBool(item->number != 0);
    if (kind == WNNMethodValueKind_Number)
        return wnnMethodValueNumber(wnnNumber(item->number));
    if (item->kind == TERM_NUMBER) /* a data type */
        return wnnMethodValueString(WNN_STR(onnx_type_name(onnx_type_of((WNNOperandDataType)item->number))));
    return wnnMethodValueString((WNNStringView){item->text, item->count});
}

struct term_item term_call_method(struct term *t, const struct term_call *c)
{
    WNNMethodCall method = wnnMethodCallCreate(c->name);
    WNNMethodValue items[TERM_ITEMS_MAX];
    WNNOperand like = NULL, result = NULL;
    bool ok;

    if (!method && t->n) { /* docs-onnx checks that there is such a method */
        t->dead = !onnx_fail_memory(t->n->reader);
        t->n->refused = true;
    }
    if (!method)
        return term_fail(t, "there is no such function");
    for (size_t i = 0; i < c->count && !term_skips(t); i++)
        if (term_is_operand(&c->arguments[i]))
            like = term_operand(t, &c->arguments[i], NULL);
    for (size_t i = 0; i < c->count; i++) {
        const char *name = wnnMethodCallArgumentName(method, i);

        if (!name)
            term_fail(t, "too many arguments");
        else if (!term_skips(t))
            wnnMethodCallArgument(
                method, i, value_of(t, &c->arguments[i], wnnMethodCallArgumentKind(method, WNN_STR(name), NULL), like, items));
    }
    if (c->count < wnnMethodCallArgumentCount(method))
        term_fail(t, "too few arguments");
    for (size_t i = 0; i < c->option_count; i++) {
        WNNMethodValueKind kind = wnnMethodCallArgumentKind(method, c->option_names[i], NULL);

        if (kind == WNNMethodValueKind_None)
            term_fail(t, "there is no such option");
        else if (!term_skips(t))
            wnnMethodCallOption(method, c->option_names[i], value_of(t, &c->options[i], kind, NULL, items), false);
    }
    if (!term_skips(t)) {
        wnnMethodCallOption(method, WNN_STR("label"), wnnMethodValueString(t->n->label), false);
        ok = wnnMethodCallInvoke(method, t->n->builder) == WNNStatus_Success;
        result = ok ? wnnMethodCallResult(method, 0) : onnx_error_operand(t->n);
        if (!ok && wnnGraphBuilderGetError(t->n->builder, NULL) == WNNStatus_Success)
            onnx_refuse(t->n, "%.*s", (int)wnnGetLastErrorMessage().length, wnnGetLastErrorMessage().data);
    }
    wnnMethodCallDestroy(method);
    return result ? term_of_operand(t, result) : (struct term_item){0};
}

/* ---- open sizes (open.h) ---- */

struct term_item term_refuse_size(struct term *t)
{
    t->dead = !onnx_refuse_open(t->n);
    return (struct term_item){0};
}

int64_t term_size(struct term *t, const struct term_item *item)
{
    const int64_t size = term_integer(item);

    if (item->kind != TERM_SIZE && ((double)size != item->number || onnx_is_open(size)))
        term_refuse_size(t); /* no size can be combined with it */
    return size;
}

static bool is_size(const struct term_item *item)
{
    return item->kind == TERM_SIZE || item->kind == TERM_NUMBER;
}

bool term_are_sizes(const struct term_item *a, const struct term_item *b)
{
    return is_size(a) && is_size(b) && (a->kind == TERM_SIZE || b->kind == TERM_SIZE);
}

bool term_same_size(struct term *t, const struct term_item *a, const struct term_item *b)
{
    const bool same = onnx_size_is_equal(t->n, term_size(t, a), term_size(t, b));

    t->dead = t->dead || t->n->refused;
    return same;
}

bool term_compute_sizes(struct term *t, const struct term_call *c, const char *name, struct term_item *result)
{
    const struct term_item *a = &c->arguments[0], *b = &c->arguments[c->count - 1];

    if (!term_are_sizes(a, b))
        return false;
    if (!strcmp(name, "min") || !strcmp(name, "max"))
        *result =
            term_of_size(onnx_compute_size(t->n, *name == 'm' && name[1] == 'i' ? '<' : '>', term_size(t, a), term_size(t, b)));
    else if (*name == 'f' || *name == 'c' || (*name == 'a' && onnx_size_at_least(t->n, term_size(t, a), 0)))
        *result = *a;
    else
        onnx_refuse_open(t->n);
    t->dead = t->dead || t->n->refused;
    return true;
}

struct term_item term_combine_sizes(struct term *t, char first, bool equal, const struct term_item *x,
                                    const struct term_item *y)
{
    const int64_t a = term_size(t, x), b = term_size(t, y);
    struct term_item z = {0};

    switch (first) {
    case '<':
        z = term_of_number(equal ? onnx_size_at_least(t->n, b, a) : !onnx_size_at_least(t->n, a, b));
        break;
    case '>':
        z = term_of_number(equal ? onnx_size_at_least(t->n, a, b) : !onnx_size_at_least(t->n, b, a));
        break;
    case '/': /* of numbers it does not round */
        if (!onnx_size_is_equal(t->n, onnx_compute_size(t->n, '%', a, b), 0))
            onnx_refuse_open(t->n);
        /* fall through */
    case '+':
    case '-':
    case '*':
    case '%':
        z = term_of_size(onnx_compute_size(t->n, first, a, b));
        break;
    default:
        onnx_refuse_open(t->n);
    }
    t->dead = t->dead || t->n->refused;
    return z;
}

bool term_is_true(struct term *t, const struct term_item *x)
{
    if (x->kind != TERM_SIZE || term_skips(t))
        return x->number != 0;
    const bool result = onnx_size_at_least(t->n, term_size(t, x), 1) || onnx_refuse_open(t->n);
    t->dead = t->dead || t->n->refused;
    return result;
}

/* ---- the function that makes a loop of the builder (docs/loops.md): each ---- */

enum { FIXED = 3 }; /* arguments before those of the function */

struct term_item term_each(struct term *t, const struct term_item *a)
{
    const char *function = a->kind == TERM_TEXT ? term_find_function(a->text, a->count) : NULL;
    const size_t count = a[2].count;
    struct term_call c = {.name = {a->text, a->count}};
    WNNLoopSlices scanned[TERM_ITEMS_MAX + 1], stacked = {NULL, 0, false};
    WNNOperand stop, in[TERM_ITEMS_MAX + 2], next, out[2];
    struct control_iterations loop = {0, 1, count + 1, 1, &stop, in, &next, out, scanned, &stacked};
    struct term_item y;

    if (t->given < FIXED || !function || count + t->given - FIXED > TERM_ITEMS_MAX)
        return term_fail(t, "each takes a function, its end and a list");
    scanned[0] = (WNNLoopSlices){term_operand(t, &a[1], NULL), 0, false};
    for (size_t i = 0; i < count; i++)
        scanned[1 + i] = (WNNLoopSlices){term_operand(t, &a[2].items[i], NULL), 0, false};
    if (t->dead)
        return (struct term_item){0};
    loop.iterations = onnx_dims_of(t->n, scanned->operand).at[0];
    if (!control_may_begin(t->n))
        onnx_refuse(t->n, "it is in a loop, and takes %u steps; loops cannot be nested", loop.iterations);
    t->n->is_static = false; /* the reader computes no loops */
    stop = onnx_scalar(t->n, WNNOperandDataType_Uint8, 0);
    if (!control_begin(t->n, &loop))
        return term_of_operand(t, onnx_error_operand(t->n));
    next = in[1];
    for (; c.count < count; c.count++)
        c.arguments[c.count] = term_of_operand(t, in[2 + c.count]);
    for (size_t i = FIXED; i < t->given; i++)
        c.arguments[c.count++] = a[i];
    y = term_call_function(t, function, &c);
    stacked.operand = t->dead ? NULL : term_operand(t, &y, NULL);
    if (!control_end(t->n, &loop, !t->dead && wnnGraphBuilderStopLoop(t->n->builder, 0) == WNNStatus_Success))
        return term_of_operand(t, onnx_error_operand(t->n));
    return term_of_operand(t, out[1]);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Has the functions that terms call and that are neither methods of the builder nor terms themselves (term_builtins.def).
 */
#include <math.h>

#include "frontend/readers/onnx/control_loop.h"
#include "frontend/readers/onnx/open.h"
#include "frontend/readers/onnx/internal.h"
#include "frontend/readers/onnx/term.h"
#include "ir/support/text.h"

typedef const struct term_item *items;

/** Returns the operand that an item is; an absent one is refused. */
static WNNOperand operand(struct term *t, items item)
{
    if (item->kind == TERM_NONE && !t->dead)
        onnx_refuse(t->n, "input %zu is missing", item->count);
    t->dead = t->dead || t->n->refused;
    return t->dead ? onnx_error_operand(t->n) : term_operand(t, item, NULL);
}

/** Returns the value that an input is, if it is usable; else NULL. */
static const struct onnx_value *value_of(struct term *t, items a)
{
    const struct onnx_value *v = a->kind == TERM_INPUT ? onnx_input(t->n, a->count) : NULL;

    return v && !v->refusal ? v : NULL;
}

static struct term_item shape_of(struct term *t, items a)
{
    const struct onnx_value *v = value_of(t, a);
    struct onnx_dims dims = {0};

    if (a->kind == TERM_LIST) /* of sizes */
        return *a;
    if (!v)
        dims = onnx_dims_of(t->n, operand(t, a));
    for (; v && dims.rank < v->rank; dims.rank++)
        dims.at[dims.rank] = (uint32_t)v->dims[dims.rank];
    return term_of_numbers(t, dims.rank, dims.at);
}

/** Returns the type that ONNX gives an item. */
static enum onnx_type type_of(struct term *t, items a)
{
    return a->kind == TERM_INPUT  ? onnx_input(t->n, a->count)->type
           : a->kind == TERM_NONE ? ONNX_UNDEFINED
                                  : onnx_type_of(wnnOperandGetDataType(operand(t, a)));
}

static WNNOperandDataType data_type(items a)
{
    return (WNNOperandDataType)a->number;
}

static uint32_t size(items a)
{
    return a->kind == TERM_SIZE || a->number < INT32_MAX ? (uint32_t)a->number : INT32_MAX;
}

/** number(input, fallback): it may be made of sizes. */
static struct term_item number_of(struct term *t, items a)
{
    const struct onnx_value *v = onnx_input(t->n, a->count);
    size_t count;

    if (!v || !v->operand || onnx_is_constant(t->n, a->count) || !onnx_is_sizes(t->n, v->operand))
        return term_of_number(onnx_number(t->n, a->count, a[1].number));
    const int64_t *sizes = onnx_sizes(t->n, a->count, &count);
    return term_of_size(sizes && count == 1 ? *sizes : onnx_refuse_open(t->n));
}

static bool is_known(struct term *t, items a)
{
    const struct onnx_value *v = onnx_input(t->n, a->count);

    return onnx_is_constant(t->n, a->count) || (v && v->operand && onnx_is_sizes(t->n, v->operand));
}

static struct term_item term_of_text(const char *text)
{
    return (struct term_item){.kind = TERM_TEXT, .text = text, .count = strlen(text)};
}

static uint32_t product_of(struct term *t, items a)
{
    const struct onnx_dims dims = term_dims(t, a);

    return onnx_dims_product(t->n, &dims, 0, dims.rank);
}

static struct term_item quotient_of(struct term *t, items a)
{
    struct term_item y;

    if (a->kind == TERM_SIZE)
        y = term_of_size(onnx_compute_size(t->n, '/', term_size(t, a), term_size(t, &a[1])));
    else if (!(a[1].number >= 1) || fmod(a->number, a[1].number) != 0)
        onnx_refuse(t->n, "%g elements cannot be divided into parts of %g", a->number, a[1].number);
    else
        y = term_of_number(a->number / a[1].number);
    t->dead = t->dead || t->n->refused;
    return t->dead ? (struct term_item){0} : y;
}

static WNNOperand scaled(struct term *t, items a,
                         WNNOperand (*f)(struct onnx_node *, WNNOperand, WNNOperand, WNNOperand, uint32_t))
{
    const WNNOperand x = operand(t, a), scale = operand(t, &a[1]), zero = term_operand(t, &a[2], NULL);

    return t->dead ? onnx_error_operand(t->n) : f(t->n, x, scale, zero, size(&a[3]));
}

static WNNOperand quantized(struct term *t, items a)
{
    const WNNOperand y = scaled(t, a, onnx_quantize);
    const enum onnx_type type = type_of(t, &a[2]);

    return t->dead || !onnx_format_of(type) ? y : onnx_narrow(t->n, y, type, true);
}

/** Returns a text with a NUL. */
static const char *word(struct term *t, items a)
{
    char *text = onnx_alloc(t->n, a->count + 1, 1);

    if (text)
        memcpy(text, a->text, a->count);
    return text ? text : "";
}

static struct term_item text_of(struct term *t, items a)
{
    const char *text = onnx_string(t->n, word(t, a), NULL);

    return text ? term_of_text(text) : a[1];
}

/** axis(k, rank) */
static uint32_t axis_of(struct term *t, items a)
{
    uint32_t axis;

    onnx_axis(t->n, term_integer(a), (size_t)a[1].number, &axis);
    return axis;
}

static struct term_item axes_of(struct term *t, items a)
{
    int64_t *list = onnx_alloc(t->n, a->count + 1, sizeof *list);

    for (size_t i = 0; list && i < a->count; i++)
        list[i] = term_integer(&a->items[i]);
    const uint32_t *axes = list ? onnx_axes(t->n, list, a->count, (size_t)a[1].number) : NULL;
    return axes ? term_of_numbers(t, a->count, axes) : (struct term_item){0};
}

static struct term_item integers_of(struct term *t, items a)
{
    struct term_item numbers[TERM_ITEMS_MAX];
    size_t count = 0;
    const int64_t *list = onnx_integers(t->n, a->count, &count);

    if (count > TERM_ITEMS_MAX)
        onnx_refuse(t->n, "input %zu has %zu elements, which are more than dimensions", a->count, count);
    for (size_t i = 0; list && i < count && i < TERM_ITEMS_MAX; i++)
        numbers[i] = term_of_number((double)list[i]);
    t->dead = t->dead || t->n->refused;
    return term_list_of(t, count < TERM_ITEMS_MAX ? count : TERM_ITEMS_MAX, numbers);
}

/** range(from, end) */
static struct term_item range_of(struct term *t, items a)
{
    uint32_t numbers[ONNX_RANK_MAX];

    size_t count = 0;

    for (; count < ONNX_RANK_MAX && a[0].number + (double)count < a[1].number; count++)
        numbers[count] = (uint32_t)a[0].number + (uint32_t)count;
    return term_of_numbers(t, count, numbers);
}

/** Writes what stands in a message for %d, %g or %s. */
static void put_item(char *text, size_t size, char conversion, items a)
{
    if (a->kind == TERM_TEXT)
        snprintf(text, size, "%.*s", (int)(a->count < 40 ? a->count : 40), a->text);
    else if (a->kind == TERM_SIZE)
        snprintf(text, size, "?"); /* a size that the file names */
    else if (conversion == 'g')
        snprintf(text, size, "%g", a->number);
    else
        snprintf(text, size, "%lld", (long long)term_integer(a));
}

/** require(condition, message, item ...) refuses the node where the condition does not hold, and note() tells the user; the
 * message has %d, %g or %s for each item. */
static struct term_item require(struct term *t, items a, bool notes)
{
    char text[500] = "";
    size_t length = 0;
    const char *format = a[1].text, *end = format + a[1].count;

    if (a->number != 0)
        return (struct term_item){0};
    for (size_t item = 2; format < end && length + 1 < sizeof text; format++) {
        if (*format == '%' && item < t->given) {
            put_item(text + length, sizeof text - length, format[1], &a[item++]);
            length = strlen(text);
            format++;
        } else {
            text[length++] = *format;
            text[length] = '\0';
        }
    }
    if (notes)
        model_note(t->n->reader->model, "%s [%s]: %s", t->n->row->name, onnx_escape(t->n->reader, t->n->label.data), text);
    else
        onnx_refuse(t->n, "%s", text);
    return (struct term_item){0};
}

static struct term_item typed(struct term *t, items x, enum onnx_type type)
{
    struct term_item item = term_of_operand(t, operand(t, x));

    item.type = type;
    return item;
}

static struct term_item wrapped(struct term *t, items a)
{
    const enum onnx_type type = type_of(t, &a[1]);
    const bool wraps = type == ONNX_INT16 || type == ONNX_UINT16;
    const struct term_item x = wraps ? term_of_operand(t, onnx_narrow(t->n, operand(t, a), type, false)) : *a;

    return typed(t, &x, type);
}

/** concat(operands, axis) */
static WNNOperand concat(struct term *t, items a)
{
    WNNOperand parts[TERM_ITEMS_MAX];
    size_t count = 0;

    for (; count < a->count && count < TERM_ITEMS_MAX; count++)
        parts[count] = operand(t, &a->items[count]);
    return t->dead ? onnx_error_operand(t->n) : onnx_concat(t->n, count, parts, (uint32_t)a[1].number);
}

/** fold(method): combines all inputs by a method of two operands; mean adds them, half precision in single. */
static WNNOperand fold(struct term *t, items a)
{
    const bool wide = text_is("mean", a->text, a->count);
    WNNOperand y = NULL, next;

    for (size_t i = 0; i < t->n->input_count; i++) {
        next = wide ? onnx_wide(t->n, onnx_operand(t->n, i)) : onnx_operand(t->n, i);
        y = !i                                  ? next
            : text_is("max", a->text, a->count) ? onnx_max(t->n, y, next)
            : text_is("min", a->text, a->count) ? onnx_min(t->n, y, next)
                                                : onnx_add(t->n, y, next);
    }
    return y;
}

/** loop(function, iterations, carried, list): function(carried, list) gives the next carried values, whose second item says
 * whether the loop may stop. */
static struct term_item loop(struct term *t, items a)
{
    WNNOperand before[TERM_ITEMS_MAX], in[TERM_ITEMS_MAX], next[TERM_ITEMS_MAX], after[TERM_ITEMS_MAX];
    const struct control_iterations l = {size(&a[1]), a[2].count, 0, 0, before, in, next, after, NULL, NULL};
    const char *function = term_find_function(a->text, a->count);
    struct term_item carried[TERM_ITEMS_MAX], y;
    struct term_call c = {.count = 2, .arguments = {{0}, a[3]}};
    bool good;

    if (!function)
        return term_fail(t, "loop takes a function");
    for (size_t i = 0; i < l.carried_count; i++)
        before[i] = operand(t, &a[2].items[i]);
    if (!control_may_begin(t->n))
        onnx_refuse(t->n, "it is a loop inside of a loop, and loops cannot be nested");
    t->n->is_static = false; /* the reader computes no loops */
    t->dead = t->dead || t->n->refused || !control_begin(t->n, &l);
    if (t->dead)
        return (struct term_item){0};
    good = wnnGraphBuilderStopLoop(t->n->builder, 1) == WNNStatus_Success;
    for (size_t i = 0; i < l.carried_count; i++)
        carried[i] = term_of_operand(t, in[i]);
    c.arguments[0] = term_list_of(t, l.carried_count, carried);
    y = term_call_function(t, function, &c);
    for (size_t i = 0; i < l.carried_count; i++)
        next[i] = i < y.count ? operand(t, &y.items[i]) : onnx_error_operand(t->n);
    t->dead = !control_end(t->n, &l, good && !t->dead) || t->dead;
    for (size_t i = 0; i < l.carried_count && !t->dead; i++)
        carried[i] = term_of_operand(t, after[i]);
    return term_list_of(t, l.carried_count, carried);
}

/* ---- the table ---- */

#define ITEM(name, parameters, what)                                                                                           \
    static struct term_item call_##name(struct term *t, items a)                                                               \
    {                                                                                                                          \
        (void)t, (void)a;                                                                                                      \
        return what;                                                                                                           \
    }
#define NUMBER(name, parameters, number) ITEM(name, parameters, term_of_number((double)(number)))
#define OPERAND(name, parameters, made) ITEM(name, parameters, term_of_operand(t, made))
#include "frontend/readers/onnx/term_builtins.def"
#undef ITEM

static const struct builtin {
    const char *name;
    int parameters; /* -1: any number */
    struct term_item (*call)(struct term *t, items a);
} builtins[] = {
#define ITEM(name, parameters, what) {#name, parameters, call_##name},
#include "frontend/readers/onnx/term_builtins.def"
};

bool term_call_builtin(struct term *t, const char *name, size_t length, size_t count, items a, struct term_item *result)
{
    for (const struct builtin *b = builtins; b < builtins + sizeof builtins / sizeof *builtins; b++) {
        if (!text_is(b->name, name, length))
            continue;
        if (b->parameters >= 0 && count != (size_t)b->parameters)
            *result = term_fail(t, "the function has another number of parameters");
        t->given = count;
        for (size_t i = 0; t->n && !t->dead && i < count; i++)
            if (a[i].kind == TERM_SIZE && !strstr(" slice iota require note given rank scalar may_exceed quotient ", b->name))
                t->dead = !onnx_refuse_open(t->n);
        if (t->n && !t->dead)
            *result = b->call(t, a);
        return true;
    }
    return false;
}

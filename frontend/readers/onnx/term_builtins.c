/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Has the functions that terms call and that are neither methods of the builder nor terms themselves.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "frontend/readers/onnx/activation.h"
#include "frontend/readers/onnx/operators.h"
#include "frontend/readers/onnx/quantized.h"
#include "frontend/readers/onnx/term.h"
#include "ir/support/text.h"

typedef const struct term_item *items;

/** Returns the operand that an item is; what is absent is refused. */
static WNNOperand operand(struct term *t, items item)
{
    if (item->kind == TERM_NONE && !t->dead)
        onnx_refuse(t->n, "input %zu is missing", item->count);
    t->dead = t->dead || t->n->refused;
    return t->dead ? onnx_error_operand(t->n) : term_operand(t, item, NULL);
}

/* ---- what is known of inputs and operands ---- */

/** Returns the value that an input is, if it is usable; else NULL. */
static const struct onnx_value *value_of(struct term *t, items a)
{
    const struct onnx_value *v = a->kind == TERM_INPUT ? onnx_input(t->n, a->count) : NULL;

    return v && !v->refusal ? v : NULL;
}

static struct term_item call_given(struct term *t, items a)
{
    (void)t;
    return term_of_number(a->kind != TERM_NONE);
}

static struct term_item call_shape(struct term *t, items a)
{
    const struct onnx_value *v = value_of(t, a);
    struct onnx_dims dims = {0};

    if (a->kind == TERM_LIST) /* of sizes */
        return *a;
    if (!v)
        dims = onnx_dims_of(operand(t, a));
    for (; v && dims.rank < v->rank; dims.rank++)
        dims.at[dims.rank] = (uint32_t)v->dims[dims.rank];
    return term_of_numbers(t, dims.rank, dims.at);
}

static struct term_item call_rank(struct term *t, items a)
{
    return term_of_number((double)call_shape(t, a).count);
}

static struct term_item call_type(struct term *t, items a)
{
    return term_of_number(wnnOperandGetDataType(operand(t, a)));
}

/** Returns the type that ONNX gives an item. */
static enum onnx_type type_of(struct term *t, items a)
{
    return a->kind == TERM_INPUT  ? onnx_input(t->n, a->count)->type
           : a->kind == TERM_NONE ? ONNX_UNDEFINED
                                  : onnx_type_of(wnnOperandGetDataType(operand(t, a)));
}

static struct term_item call_is_bool(struct term *t, items a)
{
    return term_of_number(type_of(t, a) == ONNX_BOOL);
}

static struct term_item call_known(struct term *t, items a)
{
    return term_of_number(onnx_is_constant(t->n, a->count));
}

static struct term_item call_is_float(struct term *t, items a)
{
    return term_of_number(onnx_type_is_float(type_of(t, a)));
}

static struct term_item call_is_unsigned(struct term *t, items a)
{
    const enum onnx_type type = type_of(t, a);

    return term_of_number(!onnx_type_is_float(type) && !onnx_type_is_signed(type));
}

static struct term_item call_wants(struct term *t, items a)
{
    return term_of_number(onnx_wants(t->n, (size_t)a->number));
}

/** Returns a text with a NUL. */
static const char *word(struct term *t, items a)
{
    char *text = onnx_alloc(t->n, a->count + 1, 1);

    if (text)
        memcpy(text, a->text, a->count);
    return text ? text : "";
}

static struct term_item call_has(struct term *t, items a)
{
    return term_of_number(onnx_has(t->n, word(t, a)));
}

/** An attribute, where a declaration would ask for it in versions that do not have it. */
static struct term_item call_int(struct term *t, items a)
{
    return term_of_number((double)onnx_int(t->n, word(t, a), term_integer(&a[1])));
}

static struct term_item call_text(struct term *t, items a)
{
    const char *text = onnx_string(t->n, word(t, a), NULL);

    return text ? (struct term_item){.kind = TERM_TEXT, .text = text, .count = strlen(text)} : a[1];
}

static struct term_item call_float(struct term *t, items a)
{
    return term_of_number(onnx_float(t->n, word(t, a), a[1].number));
}

static struct term_item call_type_name(struct term *t, items a)
{
    const char *name = onnx_type_name((enum onnx_type)term_integer(a));

    (void)t;
    return (struct term_item){.kind = TERM_TEXT, .text = name, .count = strlen(name)};
}

static struct term_item call_number(struct term *t, items a)
{
    return term_of_number(onnx_number(t->n, a[0].count, a[1].number));
}

/* ---- numbers and lists ---- */

static struct term_item call_axis(struct term *t, items a)
{
    uint32_t axis;

    onnx_axis(t->n, term_integer(&a[0]), (size_t)a[1].number, &axis);
    return term_of_number(axis);
}

static struct term_item call_axes(struct term *t, items a)
{
    int64_t *list = onnx_alloc(t->n, a->count + 1, sizeof *list);
    const uint32_t *axes;

    for (size_t i = 0; list && i < a->count; i++)
        list[i] = term_integer(&a->items[i]);
    axes = list ? onnx_axes(t->n, list, a->count, (size_t)a[1].number) : NULL;
    return axes ? term_of_numbers(t, a->count, axes) : (struct term_item){0};
}

/** range(from, end) */
static struct term_item call_range(struct term *t, items a)
{
    uint32_t numbers[ONNX_RANK_MAX];

    size_t count = 0;

    for (; count < ONNX_RANK_MAX && a[0].number + (double)count < a[1].number; count++)
        numbers[count] = (uint32_t)a[0].number + (uint32_t)count;
    return term_of_numbers(t, count, numbers);
}

static struct term_item call_product(struct term *t, items a)
{
    const struct onnx_dims dims = term_dims(t, a);

    return term_of_number(onnx_dims_product(t->n, &dims, 0, dims.rank));
}

static struct term_item call_float32(struct term *t, items a)
{
    (void)t;
    return term_of_number((double)(float)a->number);
}

/** whole(number, what, low, high) */
static struct term_item call_whole(struct term *t, items a)
{
    return term_of_number((double)onnx_whole(t->n, word(t, &a[1]), a[0].number, term_integer(&a[2]), term_integer(&a[3])));
}

/** Appends what stands in a message for a conversion, which ends before `end`. */
static void put_item(char *text, size_t size, const char *format, const char *end, items a)
{
    char conversion[16];

    if (a->kind == TERM_TEXT)
        snprintf(text, size, "%.*s", (int)(a->count < 40 ? a->count : 40), a->text);
    else if (end[-1] == 'g' && snprintf(conversion, sizeof conversion, "%.*s", (int)(end - format), format) > 0)
        snprintf(text, size, "%g", a->number);
    else
        snprintf(text, size, "%lld", (long long)term_integer(a));
}

/** require(condition, message, item ...): the message has %d, %g or %s for each item. */
static struct term_item call_require(struct term *t, items a)
{
    char text[500] = "";
    size_t length = 0;
    const char *format = a[1].text, *end = format + a[1].count;

    if (a->number != 0)
        return (struct term_item){0};
    for (size_t item = 2; format < end && length + 1 < sizeof text; format++) {
        if (*format == '%' && item < t->given) {
            put_item(text + length, sizeof text - length, format, format + 2, &a[item++]);
            length = strlen(text);
            format++;
        } else {
            text[length++] = *format;
            text[length] = '\0';
        }
    }
    onnx_refuse(t->n, "%s", text);
    return (struct term_item){0};
}

/* ---- operands ---- */

/** like(x, input): x with the input's ONNX type. */
static struct term_item call_like(struct term *t, items a)
{
    struct term_item x = term_of_operand(t, operand(t, &a[0]));

    x.type = type_of(t, &a[1]);
    return x;
}

static struct term_item call_bool(struct term *t, items a)
{
    struct term_item x = term_of_operand(t, operand(t, a));

    x.type = ONNX_BOOL;
    return x;
}

static struct term_item call_cast(struct term *t, items a)
{
    return a->kind == TERM_NONE ? *a : term_of_operand(t, onnx_cast(t->n, operand(t, &a[0]), (WNNOperandDataType)a[1].number));
}

/** scalar(type, number) */
static struct term_item call_scalar(struct term *t, items a)
{
    return term_of_operand(t, onnx_scalar(t->n, (WNNOperandDataType)a[0].number, a[1].number));
}

/** concat(operands, axis) */
static struct term_item call_concat(struct term *t, items a)
{
    WNNOperand parts[TERM_ITEMS_MAX];
    size_t count = 0;

    for (; count < a->count && count < TERM_ITEMS_MAX; count++)
        parts[count] = operand(t, &a->items[count]);
    return term_of_operand(t, t->dead ? onnx_error_operand(t->n) : onnx_concat(t->n, count, parts, (uint32_t)a[1].number));
}

/** pad(x, before, after, value) */
static struct term_item call_pad(struct term *t, items a)
{
    return term_of_operand(t, onnx_pad(t->n, operand(t, &a[0]), term_dims(t, &a[1]), term_dims(t, &a[2]), a[3].number));
}

/** along(vector, rank, axis) */
static struct term_item call_along(struct term *t, items a)
{
    return term_of_operand(t, onnx_along_axis(t->n, operand(t, &a[0]), (size_t)a[1].number, (size_t)a[2].number));
}

/** iota(type, rank, axis, size) */
static struct term_item call_iota(struct term *t, items a)
{
    return term_of_operand(
        t, onnx_iota(t->n, (WNNOperandDataType)a[0].number, (size_t)a[1].number, (size_t)a[2].number, (uint32_t)a[3].number));
}

/** Returns the second input, before version 7 where an attribute puts it along the first one. */
static struct term_item call_second(struct term *t, items a)
{
    (void)a;
    return term_of_operand(t, onnx_second_operand(t->n));
}

/** fold(method): combines all inputs by a method of two operands. */
static struct term_item call_fold(struct term *t, items a)
{
    WNNOperand y = onnx_operand(t->n, 0), next;

    for (size_t i = 1; i < t->n->input_count; i++) {
        next = onnx_operand(t->n, i);
        y = text_is("max", a->text, a->count)   ? onnx_max(t->n, y, next)
            : text_is("min", a->text, a->count) ? onnx_min(t->n, y, next)
                                                : onnx_add(t->n, y, next);
    }
    return term_of_operand(t, y);
}

static struct term_item call_input_count(struct term *t, items a)
{
    (void)a;
    return term_of_number((double)t->n->input_count);
}

/* ---- the table ---- */

typedef WNNOperand (*of_one)(struct onnx_node *, WNNOperand);
typedef WNNOperand (*of_two)(struct onnx_node *, WNNOperand, WNNOperand);
typedef WNNOperand (*of_sizes)(struct onnx_node *, WNNOperand, struct onnx_dims);
typedef WNNOperand (*of_numbers)(struct onnx_node *, WNNOperand, double, double);
typedef WNNOperand (*of_place)(struct onnx_node *, WNNOperand, uint32_t, uint32_t, uint32_t);
typedef WNNOperand (*of_scale)(struct onnx_node *, WNNOperand, WNNOperand, WNNOperand, uint32_t);

/**
 * Describes a function.  One that makes an operand (make) has a letter for each parameter: o an operand, f a number, n a size,
 * d a list of sizes.  Others say how many parameters they have, and make an item of them (call).
 */
static const struct builtin {
    const char *name, *parameters;
    struct term_item (*call)(struct term *t, items a);
    void (*make)(void);
} builtins[] = {
#define MAKE(name, parameters, function) {name, parameters, NULL, (void (*)(void))function}
    MAKE("activation", "o", onnx_activate_fused),
    MAKE("average_pool", "o", onnx_average_pool),
    MAKE("channels_last", "o", onnx_channels_last),
    MAKE("channels_second", "o", onnx_channels_second),
    MAKE("clamp", "off", onnx_clamp),
    MAKE("dequantize", "ooon", onnx_dequantize),
    MAKE("expand", "od", onnx_expand),
    MAKE("linear", "off", onnx_linear),
    MAKE("multiply", "oo", onnx_matmul_any),
    MAKE("quantize", "ooon", onnx_quantize),
    MAKE("reshape", "od", onnx_reshape_to),
    MAKE("slice", "onnn", onnx_slice_axis),
    MAKE("transpose", "od", onnx_transpose_to),
#undef MAKE
    {"along", "3", call_along, NULL},
    {"axes", "2", call_axes, NULL},
    {"axis", "2", call_axis, NULL},
    {"bool", "1", call_bool, NULL},
    {"cast", "2", call_cast, NULL},
    {"concat", "2", call_concat, NULL},
    {"float", "2", call_float, NULL},
    {"float32", "1", call_float32, NULL},
    {"fold", "1", call_fold, NULL},
    {"given", "1", call_given, NULL},
    {"has", "1", call_has, NULL},
    {"input_count", "0", call_input_count, NULL},
    {"int", "2", call_int, NULL},
    {"iota", "4", call_iota, NULL},
    {"is_bool", "1", call_is_bool, NULL},
    {"is_float", "1", call_is_float, NULL},
    {"is_unsigned", "1", call_is_unsigned, NULL},
    {"known", "1", call_known, NULL},
    {"like", "2", call_like, NULL},
    {"number", "2", call_number, NULL},
    {"pad", "4", call_pad, NULL},
    {"product", "1", call_product, NULL},
    {"range", "2", call_range, NULL},
    {"rank", "1", call_rank, NULL},
    {"require", "", call_require, NULL},
    {"scalar", "2", call_scalar, NULL},
    {"second", "0", call_second, NULL},
    {"shape", "1", call_shape, NULL},
    {"text", "2", call_text, NULL},
    {"type", "1", call_type, NULL},
    {"type_name", "1", call_type_name, NULL},
    {"wants", "1", call_wants, NULL},
    {"whole", "4", call_whole, NULL},
};

static WNNOperand make(struct term *t, const struct builtin *b, items a)
{
    WNNOperand o[3] = {NULL};

    for (size_t i = 0; i < 3 && b->parameters[i] == 'o'; i++)
        o[i] = i < 2 ? operand(t, &a[i]) : term_operand(t, &a[i], NULL); /* a zero point may be absent */
    if (t->dead)
        return onnx_error_operand(t->n);
    if (!strcmp(b->parameters, "o"))
        return ((of_one)b->make)(t->n, o[0]);
    if (!strcmp(b->parameters, "oo"))
        return ((of_two)b->make)(t->n, o[0], o[1]);
    if (!strcmp(b->parameters, "od"))
        return ((of_sizes)b->make)(t->n, o[0], term_dims(t, &a[1]));
    if (!strcmp(b->parameters, "off"))
        return ((of_numbers)b->make)(t->n, o[0], a[1].number, a[2].number);
    if (!strcmp(b->parameters, "onnn"))
        return ((of_place)b->make)(t->n, o[0], (uint32_t)a[1].number, (uint32_t)a[2].number, (uint32_t)a[3].number);
    return ((of_scale)b->make)(t->n, o[0], o[1], o[2], (uint32_t)a[3].number);
}

bool term_call_builtin(struct term *t, const char *name, size_t length, size_t count, items a, struct term_item *result)
{
    for (const struct builtin *b = builtins; b < builtins + sizeof builtins / sizeof *builtins; b++) {
        if (!text_is(b->name, name, length))
            continue;
        if (*b->parameters && count != (b->make ? strlen(b->parameters) : (size_t)(*b->parameters - '0')))
            *result = term_fail(t, "the function has another number of parameters");
        t->given = count;
        if (t->n && !t->dead)
            *result = b->make ? term_of_operand(t, make(t, b, a)) : b->call(t, a);
        return true;
    }
    return false;
}

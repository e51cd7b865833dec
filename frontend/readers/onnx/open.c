/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements open sizes (open.h). */
#include "frontend/readers/onnx/open.h"

#include <string.h>

#include "frontend/readers/onnx/compose.h"
#include "frontend/readers/onnx/internal.h"
#include "ir/support/checked.h"
#include "webnn/webnn_draft.h"

enum { OPEN_MAX = 4096 };

/* An open size: dimension or element `at` of an operand. */
struct onnx_open {
    WNNOperand origin, operand; /* int64 [1]; NULL until it is needed */
    size_t at;
    WNNSize known;
    bool is_element;
};

/* The result of an operation on sizes, which is not made twice. */
struct onnx_open_result {
    int64_t a, b, result;
    char operation;
};

/* Lists the importers in C that take open sizes, between blanks.  Those of terms do so by themselves (term.c). */
static const char takers[] =
    " Cast CastLike Clip Concat ConstantOfShape ConvTranspose Dropout Expand Flatten Gemm If MatMul MatMulNBits ConvInteger "
    "LpPool MatMulInteger MaxPool PRelu QuantizeLinear DequantizeLinear Range Reshape Resize Shape Size Slice Split Squeeze "
    "Tile Transpose Unsqueeze Upsample GatherBlockQuantized Pad LSTM GRU RNN Loop Scan ";

bool onnx_any_open(size_t count, const uint32_t *sizes)
{
    for (size_t i = 0; i < count; i++)
        if (onnx_is_open(sizes[i]))
            return true;
    return false;
}

bool onnx_value_is_open(const struct onnx_value *v)
{
    for (size_t d = 0; d < v->rank; d++)
        if (onnx_is_open(v->dims[d]))
            return true;
    return false;
}

/* ---- the table ---- */

/* Returns the size that an operand has as dimension or element `at`, 0 after refusing. */
static int64_t intern(struct onnx_node *n, WNNOperand origin, size_t at, bool is_element, const WNNSize *known)
{
    struct onnx_reader *r = n->reader;

    if (!known->expression) /* a number, which may be too large for a size */
        return onnx_is_open(known->least) ? 2 * ONNX_OPEN : known->least;
    for (uint32_t i = 0; i < r->open.count; i++)
        if (r->open.sizes[i].known.expression == known->expression)
            return ONNX_OPEN + i;
    if (!onnx_spend(r, r->open.count + 1))
        n->refused = true;
    else if (r->open.count == OPEN_MAX)
        onnx_refuse(n, "there are more than %d open sizes", OPEN_MAX);
    else if (!array_reserve(&r->memory, &r->open.sizes, &r->open.capacity, r->open.count + 1, sizeof *r->open.sizes))
        n->refused = !onnx_fail_memory(r);
    if (n->refused)
        return 0;
    r->open.sizes[r->open.count] = (struct onnx_open){origin, NULL, at, *known, is_element};
    return ONNX_OPEN + r->open.count++;
}

/* Returns an open size, or NULL after refusing a number that is not a size. */
static struct onnx_open *open_of(struct onnx_node *n, int64_t size)
{
    struct onnx_reader *r = n->reader;

    if (size < ONNX_OPEN + r->open.count)
        return &r->open.sizes[size - ONNX_OPEN];
    onnx_refuse(n, "a size would be %lld", (long long)size);
    return NULL;
}

uint32_t onnx_dimension(struct onnx_node *n, WNNOperand operand, size_t d)
{
    const uint32_t size = d < wnnOperandGetRank(operand) ? wnnOperandGetShape(operand)[d] : 1;
    WNNSize known;

    return size || !wnnOperandGetDimension(operand, d, &known) ? size : (uint32_t)intern(n, operand, d, false, &known);
}

bool onnx_is_sizes(struct onnx_node *n, WNNOperand operand)
{
    WNNSize known;

    return n->reader->open.count && wnnOperandGetElement(operand, 0, &known);
}

const int64_t *onnx_sizes(struct onnx_node *n, size_t i, size_t *count)
{
    struct onnx_value *v = onnx_input(n, i);

    if (!v || !v->operand || onnx_is_constant(n, i) || !onnx_is_sizes(n, v->operand) || onnx_type_is_float(v->type)) {
        const int64_t *numbers = onnx_integers(n, i, count);
        int64_t *beyond = NULL;

        for (size_t k = 0; numbers && k < *count; k++) {
            if (!onnx_is_open(numbers[k]))
                continue;
            if (!beyond && !(beyond = onnx_alloc(n, *count, sizeof *beyond)))
                return NULL;
            numbers = memcpy(beyond, numbers, *count * sizeof *beyond);
            beyond[k] = 2 * ONNX_OPEN; /* no size either */
        }
        return numbers;
    }
    *count = (size_t)onnx_elements(v);
    int64_t *list = onnx_alloc(n, *count + 1, sizeof *list);
    for (size_t k = 0; list && k < *count; k++) {
        WNNSize known;

        if (!wnnOperandGetElement(v->operand, k, &known))
            return onnx_refuse_null(n, "input %zu must be made of shapes and constants", i);
        list[k] = intern(n, v->operand, k, true, &known);
    }
    return n->refused ? NULL : list;
}

/* ---- operands ---- */

/* Returns a size as int64 [1]. */
static WNNOperand size_operand(struct onnx_node *n, int64_t size)
{
    struct onnx_open *open = onnx_is_open(size) ? open_of(n, size) : NULL;
    WNNSliceOptions o = WNN_SLICE_OPTIONS_INIT;
    WNNOperand x;

    if (!open)
        return n->refused ? onnx_error_operand(n)
                          : onnx_constant_operand(n, WNNOperandDataType_Int64, 1, (uint32_t[]){1}, &size);
    if (open->operand)
        return open->operand;
    x = open->is_element ? open->origin : wnnGraphBuilderShape(n->builder, open->origin, n->options);
    if (wnnOperandGetRank(x) != 1) {
        uint32_t elements = 1;

        for (size_t d = 0; d < wnnOperandGetRank(x); d++)
            elements *= wnnOperandGetShape(x)[d]; /* 64 at most */
        x = wnnGraphBuilderReshape(n->builder, x, 1, &elements, n->options);
    }
    o.label = n->label;
    x = wnnGraphBuilderSlice(n->builder, x, 1, (uint32_t[]){(uint32_t)open->at}, 1, (uint32_t[]){1}, &o);
    return open->operand = onnx_cast(n, x, WNNOperandDataType_Int64);
}

WNNOperand onnx_sizes_operand(struct onnx_node *n, size_t count, const uint32_t *sizes)
{
    WNNOperand *parts = onnx_alloc(n, count + 1, sizeof *parts);
    int64_t *wide = onnx_alloc(n, count + 1, sizeof *wide);
    size_t part_count = 0;

    if (!parts || !wide)
        return onnx_error_operand(n);
    for (size_t i = 0, from = 0; i <= count; i++) { /* numbers between open sizes are one constant */
        const bool open = i < count && onnx_is_open(sizes[i]);
        const uint32_t numbers = (uint32_t)(i - from);

        if (i < count && !open)
            continue;
        for (size_t k = from; k < i; k++)
            wide[k - from] = sizes[k];
        if (numbers)
            parts[part_count++] = onnx_constant_operand(n, WNNOperandDataType_Int64, 1, &numbers, wide);
        if (open)
            parts[part_count++] = size_operand(n, sizes[i]);
        from = i + 1;
    }
    return onnx_concat(n, part_count, parts, 0);
}

WNNOperand onnx_size_scalar(struct onnx_node *n, int64_t size, WNNOperandDataType type)
{
    return onnx_cast(n, wnnGraphBuilderReshape(n->builder, size_operand(n, size), 0, NULL, n->options), type);
}

/* ---- arithmetic ---- */

static int64_t times(struct onnx_node *n, int64_t a, int64_t b)
{
    const int64_t product = onnx_times(n, "a size", a, b);

    if (product > INT32_MAX)
        onnx_refuse(n, "a size would be %lld", (long long)product);
    return n->refused ? 1 : product;
}

static int64_t compute_numbers(struct onnx_node *n, char operation, int64_t a, int64_t b)
{
    switch (operation) {
    case '+':
        return onnx_sum(n, "a size", a, b);
    case '-':
        return onnx_sum(n, "a size", a, -b);
    case '*':
        return times(n, a, b);
    case '<':
        return a < b ? a : b;
    case '>':
        return a > b ? a : b;
    default:
        break;
    }
    if (b < 1) {
        onnx_refuse(n, "a size is divided by %lld", (long long)b);
        return 0;
    }
    return operation == '%' ? (a % b + b) % b : a / b - (a % b < 0);
}

/* Finds an operation on sizes that are not both numbers, and the range of its result. */
static int64_t compute_open(struct onnx_node *n, char operation, int64_t a, int64_t b, WNNSize *known)
{
    struct onnx_reader *r = n->reader;
    WNNOperand x = size_operand(n, a), y = size_operand(n, b), z;

    z = operation == '+'   ? onnx_add(n, x, y)
        : operation == '-' ? onnx_sub(n, x, y)
        : operation == '*' ? onnx_mul(n, x, y)
        : operation == '<' ? onnx_min(n, x, y)
        : operation == '>' ? onnx_max(n, x, y)
        : operation == '%' ? wnnGraphBuilderModulusFloor(n->builder, x, y, n->options)
                           : wnnGraphBuilderDiv(n->builder, x, y, n->options);
    if (!wnnOperandGetElement(z, 0, known)) {
        onnx_refuse_open(n);
        return 0;
    }
    const int64_t result = intern(n, z, 0, true, known);
    if (!n->refused && array_reserve(&r->memory, &r->open.results, &r->open.result_capacity, r->open.result_count + 1,
                                     sizeof *r->open.results))
        r->open.results[r->open.result_count++] = (struct onnx_open_result){a, b, result, operation};
    return result;
}

int64_t onnx_compute_size(struct onnx_node *n, char operation, int64_t a, int64_t b)
{
    struct onnx_reader *r = n->reader;
    WNNSize known;

    if (!onnx_is_open(a) && !onnx_is_open(b)) {
        const int64_t result = compute_numbers(n, operation, a, b);

        return onnx_is_open(result) ? 2 * ONNX_OPEN : result;
    }
    if (b == (operation == '*' || operation == '/') && !onnx_is_open(b) && strchr("+-*/", operation))
        return a;
    if (!onnx_spend(r, r->open.result_count + 1))
        n->refused = true;
    for (size_t i = 0; i < r->open.result_count && !n->refused; i++) {
        const struct onnx_open_result *o = &r->open.results[i];

        if (o->operation == operation && o->a == a && o->b == b)
            return o->result;
    }
    return n->refused ? 0 : compute_open(n, operation, a, b, &known);
}

/* Finds the bounds of a - b. */
static WNNSize difference(struct onnx_node *n, int64_t a, int64_t b)
{
    const int64_t d = a == b ? 0 : onnx_compute_size(n, '-', a, b);
    const struct onnx_open *open = onnx_is_open(d) ? open_of(n, d) : NULL;

    return open ? open->known : (WNNSize){0, d, d};
}

bool onnx_size_is_equal(struct onnx_node *n, int64_t a, int64_t b)
{
    if (!onnx_is_open(a) && !onnx_is_open(b))
        return a == b;
    const WNNSize d = difference(n, a, b);

    return d.least == d.most ? !d.least : d.least > 0 || d.most < 0 ? false : onnx_refuse_open(n);
}

bool onnx_size_at_least(struct onnx_node *n, int64_t a, int64_t b)
{
    if (!onnx_is_open(a) && !onnx_is_open(b))
        return a >= b;
    const WNNSize d = difference(n, a, b);

    return d.least >= 0 || (d.most >= 0 && onnx_refuse_open(n));
}

int64_t onnx_size_quotient(struct onnx_node *n, size_t num_count, const int64_t *num, size_t den_count, const int64_t *den)
{
    int64_t above = 1, below = 1, open_above = 1, open_below = 1;
    uint32_t gone = 0;

    for (size_t k = 0; k < den_count; k++) {
        size_t i = 0;

        if (!onnx_is_open(den[k])) {
            below = times(n, below, den[k]);
            continue;
        }
        while (i < num_count && (gone >> i & 1 || num[i] != den[k]))
            i++;
        if (i < num_count)
            gone |= 1u << i;
        else
            open_below = onnx_compute_size(n, '*', open_below, den[k]);
    }
    for (size_t i = 0; i < num_count; i++)
        if (!onnx_is_open(num[i]))
            above = times(n, above, num[i]);
        else if (!(gone >> i & 1))
            open_above = onnx_compute_size(n, '*', open_above, num[i]);
    if (below && above % below == 0) {
        above /= below;
        below = 1;
    }
    above = onnx_compute_size(n, '*', open_above, above);
    below = onnx_compute_size(n, '*', open_below, below);
    return n->refused ? 0 : onnx_compute_size(n, '/', above, below);
}

void onnx_take_size_from(struct onnx_node *n, int64_t size, WNNOperand operand, size_t d)
{
    struct onnx_open *open = !n->refused && onnx_is_open(size) ? open_of(n, size) : NULL;

    /* In a loop an operand is none for what comes after it. */
    if (open && open->is_element && (!n->reader->in_loop || size - ONNX_OPEN >= n->reader->open.count_outside))
        *open = (struct onnx_open){operand, NULL, d, open->known, false};
}

/* ---- who takes them ---- */

bool onnx_check_open(struct onnx_node *n)
{
    const size_t length = strlen(n->row->name);
    bool open = false;

    if (!n->reader->open.count)
        return true;
    for (size_t i = 0; i < n->input_count; i++)
        open = open || (n->inputs[i] && onnx_value_is_open(n->inputs[i]));
    if (n->row->domain && strstr(n->row->domain, "nchwc"))
        return !open || onnx_refuse_open(n);
    if (!open || n->row->term || !strncmp(n->row->name, "Reduce", 6))
        return true;
    for (const char *at = takers; (at = strstr(at, n->row->name)); at += length)
        if (at[-1] == ' ' && at[length] == ' ')
            return true;
    return onnx_refuse_open(n);
}

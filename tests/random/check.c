/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is asked of a sample: that it verifies, prints and parses back to the same text, that the interpreter's driver computes
 * what its parts do, and that the engine's outputs lie within the interpreter's bounds in any variant.
 *
 * One exception, docs/semantics.md: relu and clamp as epilogues of library primitives may turn NaN into a bound.  Where NaN can
 * arrive at such a node and something before it is a convolution or a product, what depends on it is not compared in variants
 * with such epilogues (and counted); without the library, or without the pass that makes them, it is compared like the rest.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

static bool fail(char report[CHECK_REPORT], const char *format, ...) PRINTF_LIKE(2, 3);
static bool fail(char report[CHECK_REPORT], const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(report, CHECK_REPORT, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- text ---- */

static bool check_text(const struct sample *s, char report[CHECK_REPORT])
{
    static const struct print_options options = {.constants = true};
    struct error e = {0};
    char *text = sample_text(s), *again = NULL;
    struct graph *copy = graph_parse(text, strlen(text), NULL, NULL, &e);
    size_t size = 0;
    FILE *out = copy ? open_memstream(&again, &size) : NULL;
    bool good = true;

    if (!copy) {
        good = fail(report, "what was printed does not parse: %s", e.message);
    } else if (out) {
        graph_print(copy, out, &options);
        fclose(out);
        if (strcmp(text, again))
            good = fail(report, "printed, parsed and printed again it is another text:\n%.200s", again);
    }
    graph_free(copy);
    free(text);
    free(again);
    return good;
}

/* ---- the interpreter's driver ---- */

static bool check_interpreter(const struct sample *s, char report[CHECK_REPORT])
{
    struct graph *g = s->g;
    const void **inputs = random_alloc(g->input_count, sizeof *inputs);
    void **outputs = random_alloc(g->output_count, sizeof *outputs);
    double **bounds = random_alloc(g->output_count, sizeof *bounds);
    struct error e = {0};

    for (uint32_t i = 0; i < g->input_count; i++)
        inputs[i] = s->data[g->inputs[i]->index];
    for (uint32_t i = 0; i < g->output_count; i++) {
        outputs[i] = random_alloc((size_t)type_bytes(&g->outputs[i].value->type), 1);
        bounds[i] = random_alloc((size_t)type_elements(&g->outputs[i].value->type), sizeof(double));
    }
    bool good = graph_interpret_bounds(g, inputs, outputs, bounds, &e) || fail(report, "interpreter: %s", e.message);
    for (uint32_t i = 0; i < g->output_count; i++) {
        const struct value *v = g->outputs[i].value;
        size_t count = (size_t)type_elements(&v->type);
        if (good && (memcmp(outputs[i], s->data[v->index], (size_t)type_bytes(&v->type)) ||
                     memcmp(bounds[i], s->bounds[v->index], count * sizeof(double))))
            good = fail(report, "the interpreter computes output %s in two ways", g->outputs[i].name);
        free(outputs[i]);
        free(bounds[i]);
    }
    free(inputs);
    free(outputs);
    free(bounds);
    return good;
}

bool check_sample(struct sample *s, char report[CHECK_REPORT])
{
    if (!graph_verify(s->g, stderr))
        return fail(report, "the verifier refuses the graph");
    return check_text(s, report) && check_interpreter(s, report);
}

/* ---- the exception ---- */

static bool may_hold_nan(const struct sample *s, const struct value *v)
{
    size_t size = dtype_size(v->type.type);

    if (!dtype_is_float(v->type.type))
        return false;
    if (sample_unknown(s, v))
        return true;
    for (int64_t i = 0; i < type_elements(&v->type); i++) {
        union scalar x = {.u64 = 0};
        memcpy(&x, (const char *)s->data[v->index] + (size_t)i * size, size);
        if (isnan(scalar_to_double(x, v->type.type)))
            return true;
    }
    return false;
}

/* By value->index: what depends on such a node.  The caller frees it. */
static bool *exempt_values(const struct sample *s)
{
    bool *exempt = random_alloc(s->g->value_count, sizeof *exempt), *product = random_alloc(s->g->value_count, sizeof *product);

    graph_for_each (s->g, n) {
        bool is_product = op_infos[n->op].flags & (OPF_LIBRARY | OPF_RECURRENT), spoilt = false, nan = false;
        for (uint32_t i = 0; i < n->input_count; i++) {
            const struct value *v = n->inputs[i].value;
            if (!v)
                continue;
            is_product |= product[v->index];
            spoilt |= exempt[v->index];
            nan |= may_hold_nan(s, v);
        }
        if (n->op == OP_RELU || n->op == OP_CLAMP || op_infos[n->op].flags & OPF_RECURRENT)
            spoilt |= is_product && nan;
        for (uint32_t i = 0; i < n->result_count; i++) {
            product[n->results[i]->index] = is_product;
            exempt[n->results[i]->index] = spoilt;
        }
    }
    free(product);
    return exempt;
}

/* ---- comparing ---- */

static bool element_agrees(dtype type, const void *got, const void *wanted, double bound)
{
    union scalar a = {.u64 = 0}, b = {.u64 = 0};
    size_t size = dtype_size(type);

    memcpy(&a, got, size);
    memcpy(&b, wanted, size);
    if (a.u64 == b.u64)
        return true;
    if (dtype_is_float(type)) {
        double x = scalar_to_double(a, type), y = scalar_to_double(b, type);
        return (isnan(x) && isnan(y)) ||
               (bound > 0 && fabs(x - y) <= bound * (1 + 0x1p-40)); /* the bound is a rounded number */
    }
    if (type == WNNOperandDataType_Uint64)
        return (double)(a.u64 > b.u64 ? a.u64 - b.u64 : b.u64 - a.u64) <= bound;
    if (type == WNNOperandDataType_Int64)
        return (double)(a.i64 > b.i64 ? (uint64_t)a.i64 - (uint64_t)b.i64 : (uint64_t)b.i64 - (uint64_t)a.i64) <= bound;
    return fabs(scalar_to_double(a, type) - scalar_to_double(b, type)) <= bound;
}

static void element_print(char *text, size_t size, dtype type, const void *data)
{
    union scalar s = {.u64 = 0};

    memcpy(&s, data, dtype_size(type));
    if (dtype_is_float(type))
        snprintf(text, size, "%.9g", scalar_to_double(s, type));
    else if (type == WNNOperandDataType_Uint64)
        snprintf(text, size, "%" PRIu64, s.u64);
    else if (type == WNNOperandDataType_Int64)
        snprintf(text, size, "%" PRId64, s.i64);
    else
        snprintf(text, size, "%.0f", scalar_to_double(s, type));
}

static bool output_agrees(const struct sample *s, const struct graph_output *output, const char *got,
                          struct check_counts *counts, char report[CHECK_REPORT])
{
    const struct value *v = output->value;
    const char *wanted = s->data[v->index];
    const double *bounds = s->bounds[v->index];
    size_t size = dtype_size(v->type.type);
    int64_t bad = 0, first = 0, n = type_elements(&v->type);
    char a[40], b[40], type[96];

    for (int64_t i = 0; i < n; i++) {
        counts->elements++;
        if (!(bounds[i] < INFINITY)) {
            counts->unknown++;
        } else if (!element_agrees(v->type.type, got + (size_t)i * size, wanted + (size_t)i * size, bounds[i])) {
            first = bad++ ? first : i;
        }
    }
    if (!bad)
        return true;
    element_print(a, sizeof a, v->type.type, got + (size_t)first * size);
    element_print(b, sizeof b, v->type.type, wanted + (size_t)first * size);
    return fail(report, "output %s %s: element %" PRId64 " is %s, should be %s within %g; %" PRId64 " of %" PRId64 " are wrong",
                output->name, type_print(type, sizeof type, &v->type), first, a, b, bounds[first], bad, n);
}

bool check_variant(const struct sample *s, struct variant *v, struct check_counts *counts, char report[CHECK_REPORT])
{
    const struct graph *g = s->g;
    struct check_counts ignored = {0};
    struct error e = {0};
    bool good = true;

    counts = counts ? counts : &ignored;
    void **outputs = random_alloc(g->output_count, sizeof *outputs);
    for (uint32_t i = 0; i < g->output_count; i++)
        outputs[i] = random_alloc((size_t)type_bytes(&g->outputs[i].value->type), 1);
    bool *exempt = v->epilogues ? exempt_values(s) : NULL;
    v->graphs++;
    if (!engine_run(v, s, outputs, &e))
        good = fail(report, "%s", e.message);
    for (uint32_t i = 0; good && i < g->output_count; i++) {
        if (exempt && exempt[g->outputs[i].value->index])
            counts->exempt += (uint64_t)type_elements(&g->outputs[i].value->type);
        else
            good = output_agrees(s, &g->outputs[i], outputs[i], counts, report);
    }
    for (uint32_t i = 0; i < g->output_count; i++)
        free(outputs[i]);
    free(outputs);
    free(exempt);
    return good;
}

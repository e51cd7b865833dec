/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Checks of a sample: that it verifies, prints and parses back to the same text, that the interpreter's driver computes
 * what its parts do, and that the engine's outputs lie within the interpreter's bounds in any variant.
 *
 * One exception, docs/semantics.md: relu, clamp, and max or min with one number as epilogues of library primitives may turn NaN
 * into a bound.  Where NaN arrives at such a node and something before it is a contraction, the elements that depend
 * on it are not compared in variants with such epilogues (and counted); without the library, or without the pass that makes
 * them, they are compared like the rest.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ir/text/text.h"
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
    /* The textual form has no loops. */
    return (s->g->loops || check_text(s, report)) && check_interpreter(s, report);
}

/* ---- the exception ---- */

/*
 * The elements that the exception spoils, as bounds: at relu, clamp, and max or min with one number, after a contraction those
 * whose operand is NaN become INFINITY, and the interpreter carries that to what depends on them.  Activations inside recurrent
 * operators may be such epilogues, too, and NaN that reaches one reaches the results in the interpreter: there the results that
 * are NaN are spoilt.
 */
struct exemption {
    uint32_t count;
    double **bounds; /* by value->index; NULL: no element is spoilt */
};

static void exemption_free(struct exemption *x)
{
    for (uint32_t i = 0; i < x->count; i++)
        free(x->bounds[i]);
    free(x->bounds);
    x->bounds = NULL;
}

static bool is_nan(const struct sample *s, const struct value *v, int64_t i)
{
    union scalar x = {.u64 = 0};
    size_t size = dtype_size(v->type.type);

    memcpy(&x, (const char *)s->data[v->index] + (size_t)i * size, size);
    return dtype_is_float(v->type.type) && isnan(scalar_to_double(x, v->type.type));
}

/* Makes the bounds of v's elements infinite where `where` (of as many elements) is NaN. */
static void spoil(const struct sample *s, struct exemption *x, const struct value *v, const struct value *where)
{
    int64_t n = type_elements(&v->type);

    for (int64_t i = 0; i < n; i++) {
        if (!is_nan(s, where, i))
            continue;
        double **bounds = &x->bounds[v->index];
        if (!*bounds) {
            *bounds = random_alloc((size_t)n, sizeof **bounds);
            memcpy(*bounds, s->bounds[v->index], (size_t)n * sizeof **bounds);
        }
        (*bounds)[i] = INFINITY;
    }
}

/* The node's results' bounds with its spoilt operands. */
static void carry(const struct sample *s, struct exemption *x, const struct node *n)
{
    void **results = random_alloc(n->result_count, sizeof *results);
    double **bounds = random_alloc(n->result_count, sizeof *bounds);

    if (!sample_compute_node(s, n, x->bounds, results, bounds))
        random_die("a node that was computed before is refused");
    for (uint32_t i = 0; i < n->result_count; i++) {
        x->bounds[n->results[i]->index] = bounds[i];
        free(results[i]);
    }
    free(results);
    free(bounds);
}

/* Returns whether v is one number that the compiler can know, in every element. */
static bool is_known_number(const struct sample *s, const struct value *v, const bool *known)
{
    size_t size = dtype_size(v->type.type), bytes = (size_t)type_bytes(&v->type);
    const char *data = s->data[v->index];

    return known[v->index] && bytes > 0 && !memcmp(data, data + size, bytes - size);
}

/* Returns the value that an epilogue of the library may bound at n, and lose its NaN by that; returns NULL if there is none. */
static const struct value *bounded_operand(const struct sample *s, const struct node *n, const bool *known)
{
    if (n->op == OP_RELU || n->op == OP_CLAMP)
        return n->inputs[0].value;
    for (uint32_t i = 0; i < 2 && (n->op == OP_MAX || n->op == OP_MIN); i++)
        if (is_known_number(s, n->inputs[i].value, known) &&
            type_elements(&n->inputs[1 - i].value->type) == type_elements(&n->results[0]->type))
            return n->inputs[1 - i].value;
    return NULL;
}

static struct exemption exempt_elements(const struct sample *s)
{
    struct exemption x = {s->g->value_count, random_alloc(s->g->value_count, sizeof *x.bounds)};
    bool *contracted =
        random_alloc(s->g->value_count, sizeof *contracted);      /* a contraction is among what the value was computed from */
    bool *known = random_alloc(s->g->value_count, sizeof *known); /* it is a constant or computed from constants only */

    for (uint32_t i = 0; i < s->g->value_count; i++)
        known[i] = true;
    for (uint32_t i = 0; i < s->g->input_count; i++)
        known[s->g->inputs[i]->index] = false;
    graph_for_each (s->g, n) {
        bool recurrent = op_infos[n->op].flags & OPF_RECURRENT,
             is_contracted = op_infos[n->op].flags & OPF_LIBRARY || recurrent;
        bool spoilt = false;
        for (uint32_t i = 0; i < n->input_count; i++) {
            const struct value *v = n->inputs[i].value;
            is_contracted |= v && contracted[v->index];
            spoilt |= v && x.bounds[v->index];
            for (uint32_t j = 0; v && j < n->result_count; j++)
                known[n->results[j]->index] &= known[v->index];
        }
        const struct value *bounded = bounded_operand(s, n, known);
        if (spoilt)
            carry(s, &x, n);
        for (uint32_t i = 0; i < n->result_count; i++) {
            contracted[n->results[i]->index] = is_contracted;
            if (recurrent)
                spoil(s, &x, n->results[i], n->results[i]);
            else if (is_contracted && bounded)
                spoil(s, &x, n->results[i], bounded);
        }
    }
    free(contracted);
    free(known);
    return x;
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

/* spoilt: what exempt_elements says of the output, or NULL. */
static bool output_agrees(const struct sample *s, const struct graph_output *output, const char *got, const double *spoilt,
                          struct check_counts *counts, char report[CHECK_REPORT])
{
    const struct value *v = output->value;
    const char *wanted = s->data[v->index];
    const double *bounds = s->bounds[v->index];
    size_t size = dtype_size(v->type.type);
    int64_t bad = 0, first = 0, n = type_elements(&v->type);
    char a[40], b[40], type[96];

    for (int64_t i = 0; i < n; i++) {
        if (!(bounds[i] < INFINITY)) {
            counts->unknown++;
        } else if (spoilt && !(spoilt[i] < INFINITY)) {
            counts->exempt++;
        } else {
            counts->compared++;
            if (!element_agrees(v->type.type, got + (size_t)i * size, wanted + (size_t)i * size, bounds[i]))
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
    struct exemption exempt = v->epilogues ? exempt_elements(s) : (struct exemption){0, NULL};
    v->graphs++;
    if (!engine_run(v, s, outputs, &e))
        good = fail(report, "%s", e.message);
    for (uint32_t i = 0; good && i < g->output_count; i++)
        good = output_agrees(s, &g->outputs[i], outputs[i], exempt.bounds ? exempt.bounds[g->outputs[i].value->index] : NULL,
                             counts, report);
    for (uint32_t i = 0; i < g->output_count; i++)
        free(outputs[i]);
    free(outputs);
    exemption_free(&exempt);
    return good;
}

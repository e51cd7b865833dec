/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements expressions of named dimensions (dims.h).
 *
 * An expression is a list of monomials in order of their atoms, none with factor 0, so that equal ones are equal bytes.  What
 * would exceed the limits below, or 64 bits, becomes an unknown of which the range is known: such a dimension is still right,
 * only that less can be proved about it.
 */

#include <inttypes.h>

#include "ir/graph/dims_internal.h"
#include "ir/support/checked.h"
#include "ir/support/text.h"

/* Ranges end here, so that sums of them cannot overflow. */
#define RANGE_MAX (INT64_MAX / 4)

/* What lies deeper in an expression is printed as "?". */
enum { PRINT_DEPTH = 3 };

static int64_t clamp_range(__int128 x)
{
    return x > RANGE_MAX ? RANGE_MAX : x < -RANGE_MAX ? -RANGE_MAX : (int64_t)x;
}

bool type_is_open(const struct tensor_type *t)
{
    for (uint32_t i = 0; i < t->rank; i++)
        if (dim_is_open(t->dims[i]))
            return true;
    return false;
}

bool type_differs(struct graph *g, const struct tensor_type *a, const struct tensor_type *b)
{
    bool differs = a->type != b->type || a->rank != b->rank;

    for (uint32_t i = 0; i < a->rank && !differs; i++)
        differs = dim_differs(g, a->dims[i], b->dims[i]);
    return differs;
}

static dim_expr no_memory(struct graph *g)
{
    error_out_of_memory(&g->error);
    return DIM_NONE;
}

/* ---- the table ---- */

static struct range product_range(struct range a, struct range b)
{
    const __int128 corners[4] = {(__int128)a.least * b.least, (__int128)a.least * b.most, (__int128)a.most * b.least,
                                 (__int128)a.most * b.most};
    __int128 least = corners[0], most = corners[0];

    for (int i = 1; i < 4; i++) {
        least = corners[i] < least ? corners[i] : least;
        most = corners[i] > most ? corners[i] : most;
    }
    return (struct range){clamp_range(least), clamp_range(most)};
}

static struct range expression_range(const struct dims *d, const struct monomial *terms, uint32_t count)
{
    struct range sum = {0, 0};

    for (uint32_t i = 0; i < count; i++) {
        struct range r = {terms[i].factor, terms[i].factor};

        for (uint32_t k = 0; k < terms[i].degree; k++)
            r = product_range(r, d->atoms[terms[i].atoms[k]].range);
        sum = (struct range){clamp_range((__int128)sum.least + r.least), clamp_range((__int128)sum.most + r.most)};
    }
    return sum;
}

/* Returns the number of the expression of these monomials, which are in order. */
static dim_expr intern(struct graph *g, const struct monomial *terms, uint32_t count)
{
    struct dims *d = g->dims;
    const uint64_t hash = hash_bytes(terms, count * sizeof *terms);

    for (struct table_entry *at = NULL; d->table.capacity && (at = table_next(&d->table, hash, at))->item;) {
        const struct expression *x = at->item;
        if (x->count == count && !memcmp(x->terms, terms, count * sizeof *terms))
            return x->number;
    }
    struct expression *x = arena_alloc(d->arena, sizeof *x);
    struct monomial *copy = arena_array(d->arena, count ? count : 1, sizeof *copy);
    if (!x || !copy || !array_reserve(d->arena, &d->expressions, &d->expression_capacity, d->expression_count + 1, sizeof x) ||
        !table_reserve(&d->table, d->arena, d->expression_count + 1))
        return no_memory(g);
    if (count)
        memcpy(copy, terms, count * sizeof *terms);
    *x = (struct expression){d->expression_count, count, copy, expression_range(d, terms, count)};
    struct table_entry *place = NULL;
    do
        place = table_next(&d->table, hash, place);
    while (place->item);
    table_put(&d->table, place, hash, x);
    d->expressions[d->expression_count] = x;
    return d->expression_count++;
}

static dim_expr intern_atom(struct graph *g, uint32_t atom)
{
    struct monomial m;

    memset(&m, 0, sizeof m);
    m.factor = 1;
    m.degree = 1;
    m.atoms[0] = atom;
    return intern(g, &m, 1);
}

/* Returns the expression of an atom, one like it if there is one. */
static dim_expr add_atom(struct graph *g, enum atom_kind kind, dim_expr a, dim_expr b, struct range range)
{
    struct dims *d = g->dims;

    for (uint32_t i = 0; kind != ATOM_UNKNOWN && i < d->atom_count; i++)
        if (d->atoms[i].kind == kind && d->atoms[i].a == a && d->atoms[i].b == b)
            return intern_atom(g, i);
    if (!array_reserve(d->arena, &d->atoms, &d->atom_capacity, d->atom_count + 1, sizeof *d->atoms))
        return no_memory(g);
    d->atoms[d->atom_count] = (struct atom){.kind = kind, .a = a, .b = b, .range = range};
    return intern_atom(g, d->atom_count++);
}

bool dims_begin(struct graph *g)
{
    if (g->dims)
        return true;
    g->dims = arena_alloc(&g->arena, sizeof *g->dims);
    if (!g->dims)
        return error_out_of_memory(&g->error);
    g->dims->arena = &g->arena;
    graph_for_each (g, n)
        if (!dims_note(g, n))
            return false;
    return true;
}

static const struct expression *expression(const struct graph *g, dim_expr e)
{
    return g->dims->expressions[e];
}

/* ---- names ---- */

static const struct atom *name_atom(const struct graph *g, uint32_t i)
{
    return &g->dims->atoms[g->dims->names[i]];
}

static uint32_t add_name(struct graph *g, const char *name, size_t length, struct range range)
{
    struct dims *d = g->dims;
    char *copy = arena_string(d->arena, name, length);

    if (!copy || !array_reserve(d->arena, &d->names, &d->name_capacity, d->name_count + 1, sizeof *d->names) ||
        !array_reserve(d->arena, &d->atoms, &d->atom_capacity, d->atom_count + 1, sizeof *d->atoms))
        return no_memory(g);
    d->atoms[d->atom_count] =
        (struct atom){.kind = ATOM_NAME, .name = copy, .length = length, .a = d->name_count, .range = range};
    d->names[d->name_count++] = d->atom_count;
    const dim_expr e = intern_atom(g, d->atom_count++);
    return e == DIM_NONE ? DIM_NONE : DIM_OPEN | e;
}

uint32_t dims_name(struct graph *g, const char *name, size_t length, uint32_t least, uint32_t most, const char *what,
                   struct error *e)
{
    const struct range range = {least ? least : 1, most ? most : ELEMENT_COUNT_MAX};
    char shown[96];

    if (range.least > range.most || range.most > ELEMENT_COUNT_MAX) {
        error_set(e, WNNStatus_TypeError, "%s: dimension \"%s\" is from %" PRId64 " to %" PRId64 ", allowed are 1 to %d", what,
                  escape_text(shown, sizeof shown, name, length), range.least, range.most, ELEMENT_COUNT_MAX);
        return DIM_NONE;
    }
    if (!dims_begin(g)) {
        error_out_of_memory(e);
        return DIM_NONE;
    }
    for (uint32_t i = 0; i < g->dims->name_count; i++) {
        const struct atom *a = name_atom(g, i);

        if (a->length != length || memcmp(a->name, name, length) != 0)
            continue;
        if (a->range.least != range.least || a->range.most != range.most) {
            error_set(
                e, WNNStatus_TypeError,
                "%s: dimension \"%s\" is from %" PRId64 " to %" PRId64 ", an earlier input has it from %" PRId64 " to %" PRId64,
                what, escape_text(shown, sizeof shown, name, length), range.least, range.most, a->range.least, a->range.most);
            return DIM_NONE;
        }
        const dim_expr known = intern_atom(g, g->dims->names[i]);
        return known == DIM_NONE ? DIM_NONE : DIM_OPEN | known;
    }
    const uint32_t dim = add_name(g, name, length, range);
    if (dim == DIM_NONE)
        error_out_of_memory(e);
    return dim;
}

uint32_t dims_name_count(const struct graph *g)
{
    return g->dims ? g->dims->name_count : 0;
}

const char *dims_name_at(const struct graph *g, uint32_t i, size_t *length)
{
    *length = name_atom(g, i)->length;
    return name_atom(g, i)->name;
}

void dims_name_range(const struct graph *g, uint32_t i, uint32_t *least, uint32_t *most)
{
    *least = (uint32_t)name_atom(g, i)->range.least;
    *most = (uint32_t)name_atom(g, i)->range.most;
}

uint32_t dims_name_of(const struct graph *g, uint32_t dim)
{
    if (!dim_is_open(dim))
        return DIM_NONE;
    const struct expression *x = expression(g, dim & ~DIM_OPEN);
    if (x->count != 1 || x->terms[0].degree != 1 || x->terms[0].factor != 1)
        return DIM_NONE;
    const struct atom *a = &g->dims->atoms[x->terms[0].atoms[0]];
    return a->kind == ATOM_NAME ? a->a : DIM_NONE;
}

/* ---- arithmetic ---- */

dim_expr dims_constant(struct graph *g, int64_t value)
{
    struct monomial m;

    memset(&m, 0, sizeof m); /* intern compares bytes */
    m.factor = value;
    return intern(g, &m, value != 0);
}

dim_expr dims_of(struct graph *g, uint32_t dim)
{
    return dim == DIM_NONE ? DIM_NONE : dim_is_open(dim) ? dim & ~DIM_OPEN : dims_constant(g, dim);
}

bool dims_is_linear(const struct graph *g, dim_expr e)
{
    const struct expression *x = expression(g, e);

    for (uint32_t i = 0; i < x->count; i++)
        if (x->terms[i].degree > 1 || (x->terms[i].degree && g->dims->atoms[x->terms[i].atoms[0]].kind != ATOM_NAME))
            return false;
    return true;
}

bool dims_is_constant(const struct graph *g, dim_expr e, int64_t *value)
{
    const struct expression *x = expression(g, e);

    *value = x->count ? x->terms[0].factor : 0;
    return !x->count || (x->count == 1 && !x->terms[0].degree);
}

void dims_range(const struct graph *g, dim_expr e, int64_t *least, int64_t *most)
{
    if (dims_is_constant(g, e, least)) { /* which may lie beyond the ranges */
        *most = *least;
        return;
    }
    *least = expression(g, e)->range.least;
    *most = expression(g, e)->range.most;
}

dim_expr dims_unknown(struct graph *g, int64_t least, int64_t most)
{
    return add_atom(g, ATOM_UNKNOWN, 0, 0, (struct range){least, most});
}

/* Orders monomials by degree, then by their atoms. */
static int compare_monomials(const struct monomial *a, const struct monomial *b)
{
    if (a->degree != b->degree)
        return a->degree < b->degree ? -1 : 1;
    for (uint32_t i = 0; i < a->degree; i++)
        if (a->atoms[i] != b->atoms[i])
            return a->atoms[i] < b->atoms[i] ? -1 : 1;
    return 0;
}

/* A polynomial that is being made. */
struct sum {
    struct monomial terms[DIM_TERMS_MAX];
    uint32_t count;
    bool fits;
};

static void add_monomial(struct sum *s, const struct monomial *m)
{
    uint32_t at = 0;

    if (!m->factor || !s->fits)
        return;
    while (at < s->count && compare_monomials(&s->terms[at], m) < 0)
        at++;
    if (at < s->count && !compare_monomials(&s->terms[at], m)) {
        s->fits = checked_add(s->terms[at].factor, m->factor, &s->terms[at].factor);
        if (!s->terms[at].factor)
            memmove(&s->terms[at], &s->terms[at + 1], (--s->count - at) * sizeof *s->terms);
        return;
    }
    s->fits = s->count < DIM_TERMS_MAX;
    if (!s->fits)
        return;
    memmove(&s->terms[at + 1], &s->terms[at], (s->count++ - at) * sizeof *s->terms);
    s->terms[at] = *m;
}

static void add_scaled(struct sum *s, const struct expression *x, int64_t factor)
{
    for (uint32_t i = 0; i < x->count && s->fits; i++) {
        struct monomial m = x->terms[i];

        s->fits = checked_mul(m.factor, factor, &m.factor);
        add_monomial(s, &m);
    }
}

dim_expr dims_sum(struct graph *g, int64_t fa, dim_expr a, int64_t fb, dim_expr b)
{
    struct sum s = {.fits = true};

    if (a == DIM_NONE || b == DIM_NONE)
        return DIM_NONE;
    const struct expression *x = expression(g, a), *y = expression(g, b);
    add_scaled(&s, x, fa);
    add_scaled(&s, y, fb);
    if (s.fits)
        return intern(g, s.terms, s.count);
    const struct range rx = product_range(x->range, (struct range){fa, fa}),
                       ry = product_range(y->range, (struct range){fb, fb});
    return dims_unknown(g, clamp_range((__int128)rx.least + ry.least), clamp_range((__int128)rx.most + ry.most));
}

static bool multiply_monomials(const struct monomial *a, const struct monomial *b, struct monomial *out)
{
    uint32_t i = 0, k = 0;

    memset(out, 0, sizeof *out);
    if (a->degree + b->degree > DIM_DEGREE_MAX || !checked_mul(a->factor, b->factor, &out->factor))
        return false;
    while (i < a->degree || k < b->degree)
        out->atoms[out->degree++] =
            k == b->degree || (i < a->degree && a->atoms[i] < b->atoms[k]) ? a->atoms[i++] : b->atoms[k++];
    return true;
}

dim_expr dims_product(struct graph *g, dim_expr a, dim_expr b)
{
    struct sum s = {.fits = true};

    if (a == DIM_NONE || b == DIM_NONE)
        return DIM_NONE;
    const struct expression *x = expression(g, a), *y = expression(g, b);
    for (uint32_t i = 0; i < x->count && s.fits; i++)
        for (uint32_t k = 0; k < y->count && s.fits; k++) {
            struct monomial m;

            s.fits = multiply_monomials(&x->terms[i], &y->terms[k], &m);
            if (s.fits)
                add_monomial(&s, &m);
        }
    if (s.fits)
        return intern(g, s.terms, s.count);
    const struct range r = product_range(x->range, y->range);
    return dims_unknown(g, r.least, r.most);
}

dim_expr dims_elements(struct graph *g, size_t count, const uint32_t *dims)
{
    dim_expr product = dims_constant(g, 1);

    for (size_t i = 0; i < count; i++)
        product = dims_product(g, product, dims_of(g, dims[i]));
    return product;
}

static int64_t floor_quotient(int64_t a, int64_t b) /* b is not 0 */
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* Returns a / b if every coefficient of a is divisible by b, or DIM_NONE if one is not. */
static dim_expr divide_exactly(struct graph *g, const struct expression *x, int64_t b)
{
    struct sum s = {.fits = true};

    for (uint32_t i = 0; i < x->count; i++) {
        struct monomial m = x->terms[i];

        if (m.factor % b)
            return DIM_NONE;
        m.factor /= b;
        add_monomial(&s, &m);
    }
    return intern(g, s.terms, s.count);
}

/* Returns the quotient of two monomials that are expressions, such as a * b * 8 / (a * 4), or DIM_NONE. */
static dim_expr divide_monomials(struct graph *g, const struct expression *x, const struct expression *y)
{
    struct monomial out = x->terms[0];
    const struct monomial *by = &y->terms[0];

    if (x->count != 1 || y->count != 1 || out.factor % by->factor)
        return DIM_NONE;
    out.factor /= by->factor;
    for (uint32_t k = 0; k < by->degree; k++) {
        uint32_t i = 0;

        while (i < out.degree && out.atoms[i] != by->atoms[k])
            i++;
        if (i == out.degree || g->dims->atoms[by->atoms[k]].range.least < 1)
            return DIM_NONE;
        memmove(&out.atoms[i], &out.atoms[i + 1], (--out.degree - i) * sizeof *out.atoms);
        out.atoms[out.degree] = 0;
    }
    return intern(g, &out, 1);
}

dim_expr dims_divide(struct graph *g, dim_expr a, dim_expr b)
{
    int64_t x, y;

    if (a == DIM_NONE || b == DIM_NONE)
        return DIM_NONE;
    const struct expression *ea = expression(g, a), *eb = expression(g, b);
    const struct range ra = ea->range, rb = eb->range;
    if (rb.least < 1) /* a divisor that may be 0 or negative */
        return dims_unknown(g, -RANGE_MAX, RANGE_MAX);
    if (a == b)
        return dims_constant(g, 1);
    if (dims_is_constant(g, b, &y)) {
        if (dims_is_constant(g, a, &x))
            return dims_constant(g, floor_quotient(x, y));
        const dim_expr exact = divide_exactly(g, ea, y);
        if (exact != DIM_NONE || g->error.status)
            return exact;
    } else if (ea->count == 1) {
        const dim_expr exact = divide_monomials(g, ea, eb);
        if (exact != DIM_NONE || g->error.status)
            return exact;
    }
    const int64_t least = floor_quotient(ra.least, ra.least < 0 ? rb.least : rb.most),
                  most = floor_quotient(ra.most, ra.most < 0 ? rb.most : rb.least);
    return add_atom(g, ATOM_QUOTIENT, a, b, (struct range){least, most});
}

dim_expr dims_divide_up(struct graph *g, dim_expr a, int64_t b)
{
    return dims_divide(g, dims_sum(g, 1, a, 1, dims_constant(g, b - 1)), dims_constant(g, b));
}

dim_expr dims_extreme(struct graph *g, dim_expr a, dim_expr b, bool greater)
{
    if (a == DIM_NONE || b == DIM_NONE || a == b)
        return a == DIM_NONE ? a : b;
    switch (dims_at_least(g, a, b)) {
    case ANSWER_YES:
        return greater ? a : b;
    case ANSWER_NO:
        return greater ? b : a;
    case ANSWER_UNKNOWN:
        break;
    }
    if (g->error.status)
        return DIM_NONE;
    const struct range ra = expression(g, a)->range, rb = expression(g, b)->range;
    const bool least_a = (ra.least > rb.least) == greater, most_a = (ra.most > rb.most) == greater;
    return add_atom(g, greater ? ATOM_GREATER : ATOM_LESSER, a < b ? a : b, a < b ? b : a,
                    (struct range){least_a ? ra.least : rb.least, most_a ? ra.most : rb.most});
}

/* ---- questions ---- */

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

/* Returns whether an expression is never 0 because all its terms but the constant are multiples of a number, as 8 n - 9. */
static bool is_no_multiple(const struct expression *x)
{
    const int64_t constant = x->count && !x->terms[0].degree ? x->terms[0].factor : 0;
    uint64_t divisor = 0;

    for (uint32_t i = constant != 0; i < x->count; i++)
        for (uint64_t b = magnitude(x->terms[i].factor), rest; b; b = rest) {
            rest = divisor % b; /* Euclid */
            divisor = b;
        }
    return divisor && magnitude(constant) % divisor;
}

enum answer dims_equal(struct graph *g, dim_expr a, dim_expr b)
{
    if (a == b)
        return a == DIM_NONE ? ANSWER_UNKNOWN : ANSWER_YES;
    const dim_expr difference = dims_sum(g, 1, a, -1, b);
    if (difference == DIM_NONE)
        return ANSWER_UNKNOWN;
    const struct expression *x = expression(g, difference);
    return x->range.least > 0 || x->range.most < 0 || is_no_multiple(x) ? ANSWER_NO : ANSWER_UNKNOWN;
}

enum answer dims_at_least(struct graph *g, dim_expr a, dim_expr b)
{
    const dim_expr difference = dims_sum(g, 1, a, -1, b);

    if (difference == DIM_NONE)
        return ANSWER_UNKNOWN;
    const struct range r = expression(g, difference)->range;
    return r.least >= 0 ? ANSWER_YES : r.most < 0 ? ANSWER_NO : ANSWER_UNKNOWN;
}

/* Computes an expression of atoms whose values are known. */
static struct dim_number evaluate(const struct expression *x, const struct dim_number *atoms)
{
    struct dim_number sum = {0, true};

    for (uint32_t i = 0; i < x->count && sum.known; i++) {
        int64_t product = x->terms[i].factor;

        for (uint32_t k = 0; k < x->terms[i].degree && sum.known; k++) {
            const struct dim_number *a = &atoms[x->terms[i].atoms[k]];
            sum.known = a->known && checked_mul(product, a->value, &product);
        }
        sum.known = sum.known && checked_add(sum.value, product, &sum.value);
    }
    return sum;
}

uint32_t dims_expression_count(const struct graph *g)
{
    return g->dims ? g->dims->expression_count : 0;
}

uint32_t dims_atom_count(const struct graph *g)
{
    return g->dims ? g->dims->atom_count : 0;
}

void dims_evaluate_atoms(const struct graph *g, const uint32_t *sizes, struct dim_number *atoms)
{
    const struct dims *d = g->dims;

    /* An atom is made of expressions whose atoms were there before it. */
    for (uint32_t i = 0; d && i < d->atom_count; i++) {
        const struct atom *a = &d->atoms[i];

        atoms[i] = (struct dim_number){0};
        if (a->kind == ATOM_NAME) {
            atoms[i] = (struct dim_number){sizes[a->a], true};
        } else if (a->kind != ATOM_UNKNOWN) {
            const struct dim_number x = evaluate(expression(g, a->a), atoms), y = evaluate(expression(g, a->b), atoms);

            if (!x.known || !y.known || (a->kind == ATOM_QUOTIENT && y.value < 1))
                continue;
            atoms[i].known = true;
            atoms[i].value = a->kind == ATOM_QUOTIENT                           ? floor_quotient(x.value, y.value)
                             : (x.value > y.value) == (a->kind == ATOM_GREATER) ? x.value
                                                                                : y.value;
        }
    }
}

struct dim_number dims_evaluate(const struct graph *g, uint32_t dim, const struct dim_number *atoms)
{
    return dim_is_open(dim) ? evaluate(expression(g, dim & ~DIM_OPEN), atoms) : (struct dim_number){dim, true};
}

/* ---- text ---- */

static void print_atom(const struct graph *g, const struct atom *a, FILE *out, int depth);

static void print_expression(const struct graph *g, const struct expression *x, FILE *out, int depth)
{
    if (!x->count)
        fputc('0', out);
    for (uint32_t i = x->count; i-- > 0;) { /* a constant comes last */
        const struct monomial *m = &x->terms[i];
        const uint64_t size = magnitude(m->factor);

        fputs(m->factor < 0 ? (i + 1 == x->count ? "-" : " - ") : i + 1 == x->count ? "" : " + ", out);
        if (size != 1 || !m->degree)
            fprintf(out, "%" PRIu64 "%s", size, m->degree ? " * " : "");
        for (uint32_t k = 0; k < m->degree; k++) {
            fputs(k ? " * " : "", out);
            print_atom(g, &g->dims->atoms[m->atoms[k]], out, depth);
        }
    }
}

static void print_atom(const struct graph *g, const struct atom *a, FILE *out, int depth)
{
    static const struct {
        const char *before, *between, *after;
    } forms[] = {[ATOM_QUOTIENT] = {"floor((", ") / (", "))"},
                 [ATOM_GREATER] = {"max(", ", ", ")"},
                 [ATOM_LESSER] = {"min(", ", ", ")"}};
    char shown[96];

    if (a->kind == ATOM_NAME) {
        fputs(escape_text(shown, sizeof shown, a->name, a->length), out);
    } else if (a->kind == ATOM_UNKNOWN || depth == PRINT_DEPTH) {
        fputs("?", out);
    } else {
        fputs(forms[a->kind].before, out);
        print_expression(g, expression(g, a->a), out, depth + 1);
        fputs(forms[a->kind].between, out);
        print_expression(g, expression(g, a->b), out, depth + 1);
        fputs(forms[a->kind].after, out);
    }
}

const char *dim_print(const struct graph *g, uint32_t dim, char *buf, size_t size)
{
    const bool open = g && g->dims && dim_is_open(dim) && dim != DIM_NONE;
    FILE *out = open ? fmemopen(buf, size, "w") : NULL;

    snprintf(buf, size, dim_is_open(dim) ? "?" : "%" PRIu32, dim);
    if (out) {
        print_expression(g, expression(g, dim & ~DIM_OPEN), out, 0);
        fclose(out); /* ends the text */
        buf[size - 1] = '\0';
    }
    return buf;
}

bool dim_text(const struct graph *g, uint32_t dim, struct arena *a, WNNStringView *text)
{
    const uint32_t name = dims_name_of(g, dim);
    char buf[256];
    const char *from = name == DIM_NONE ? dim_print(g, dim, buf, sizeof buf) : dims_name_at(g, name, &text->length);

    if (name == DIM_NONE)
        text->length = strlen(from);
    text->data = arena_string(a, from, text->length);
    return text->data;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes values that depend on shapes and constants only, for a graph of certain sizes: by their expressions, where nothing has
 * overflowed, which at_sizes.c else computes by nodes.
 *
 * Constants that names decide, and those of which tensors of open shapes are made, become inputs that are no program's
 * (origin.data) where nodes read them.  So passes cannot decide by them, and do the same at all sizes as far as shapes let
 * them.
 */
#include <string.h>

#include "ir/graph/op_draft.h"
#include "ir/interpret/at_sizes_internal.h"

enum { COMPUTED_MAX = 1 << 12 }; /* bytes that are computed of sizes rather than at each computation of the graph */

struct value *instance_value(struct instance *s, const struct value *v)
{
    struct value **made = &s->values[instance_index(s, v)];

    if (v->kind == VALUE_CONSTANT && !*made)
        *made = graph_add_constant(s->to, &v->type, constant_retain(v->constant));
    return *made;
}

static bool is_constant(const struct instance *s, const struct value *v)
{
    return v->kind == VALUE_CONSTANT || s->values[instance_index(s, v)]->kind == VALUE_CONSTANT;
}

/* Returns whether a node computes a small value of fixed size from late ones. */
static bool is_small_and_late(const struct instance *s, const struct node *n)
{
    int64_t bytes = 0;
    bool late = false;

    for (uint32_t i = 0; i < n->result_count; i++)
        bytes += type_bytes(&n->results[i]->type);
    for (uint32_t i = 0; i < n->input_count; i++)
        late |= instance_is_late(s, n->inputs[i].value);
    return late && bytes <= COMPUTED_MAX;
}

void instance_decide(struct instance *s, const struct node *n)
{
    bool open = false, constant = n->op != OP_LOOP;

    for (uint32_t i = 0; constant && i < n->input_count; i++) /* of most nodes the first one is none */
        constant = !n->inputs[i].value || is_constant(s, n->inputs[i].value);
    for (uint32_t i = 0; constant && i < n->result_count; i++)
        open |= type_is_open(&n->results[i]->type);
    s->computes = n->results[0]->sizes || (constant && !open && is_small_and_late(s, n));
    s->hides_all = constant && open;
}

/* Makes an element of an integer.  Returns false if the data type does not have it. */
static bool has_integer(dtype t, int64_t n, union scalar *x)
{
    *x = number_cast(wnnNumberInt64(n), t);
    return t == WNNOperandDataType_Int64 || scalar_to_double(*x, t) == (double)n;
}

/* Returns whether an element of what a value is now is an integer, which floats round. */
static bool is_integer(const struct instance *s, const struct value *v, int64_t i, int64_t n)
{
    const size_t size = dtype_packed_bits(v->type.type) ? 0 : dtype_size(v->type.type);
    union scalar x;

    return (has_integer(v->type.type, n, &x) || dtype_is_float(v->type.type)) && size &&
           !memcmp(&x, (const char *)s->values[instance_index(s, v)]->constant->data + (size_t)i * size, size);
}

struct value *instance_evaluate(struct instance *s, const struct node *n)
{
    const struct value *v = n->results[0], *like = s->like ? s->like->results[0] : NULL;
    const size_t size = dtype_size(v->type.type);
    union scalar x[DIM_VALUES_MAX];

    if (!v->sizes || n->result_count != 1)
        return NULL;
    for (uint32_t i = 0; i < n->input_count; i++) {
        const struct value *w = n->inputs[i].value;

        if (w && !s->exact[instance_index(s, w)] && (w->kind != VALUE_CONSTANT || dtype_is_float(w->type.type) || !w->sizes))
            return NULL;
    }
    if (like && s->exact[like->index]) /* is what the same expressions are */
        return s->values[like->index];
    for (int64_t i = 0; i < type_elements(&v->type); i++) {
        const struct dim_number d = dims_evaluate(s->from, DIM_OPEN | v->sizes[i], s->atoms);

        if (dtype_is_float(v->type.type) || !d.known || !has_integer(v->type.type, d.value, &x[i]))
            return NULL;
    }
    struct constant *c = constant_create(NULL, (size_t)type_bytes(&v->type));
    for (int64_t i = 0; c && i < type_elements(&v->type); i++)
        memcpy((char *)c->data + (size_t)i * size, &x[i], size); /* ours alone so far */
    return c ? graph_add_constant(s->to, &v->type, c) : NULL;
}

void instance_note_exact(struct instance *s, const struct node *n)
{
    for (uint32_t r = 0; r < n->result_count; r++) {
        const struct value *v = n->results[r];
        bool exact = v->sizes && !dtype_is_float(v->type.type);

        for (int64_t i = 0; exact && i < type_elements(&v->type); i++) {
            const struct dim_number x = dims_evaluate(s->from, DIM_OPEN | v->sizes[i], s->atoms);

            exact = x.known && is_integer(s, v, i, x.value);
        }
        s->exact[v->index] = exact;
    }
}

/* Returns whether a value has the elements that it has at all sizes. */
static bool is_settled(const struct instance *s, const struct value *v)
{
    int64_t x;

    for (int64_t i = 0; v->sizes && i < type_elements(&v->type); i++)
        if (!dims_is_constant(s->from, v->sizes[i], &x) || !(s->exact[instance_index(s, v)] || is_integer(s, v, i, x)))
            return false;
    return v->sizes != NULL;
}

/* Returns whether a value is not what its expression says where that is known. */
static bool is_wrong(const struct instance *s, const struct value *v)
{
    for (int64_t i = 0; !s->exact[instance_index(s, v)] && i < type_elements(&v->type); i++) {
        const struct dim_number n = dims_evaluate(s->from, DIM_OPEN | v->sizes[i], s->atoms);

        if (n.known && !is_integer(s, v, i, n.value))
            return true;
    }
    return false;
}

void instance_note_late(struct instance *s, const struct node *n)
{
    bool late = n->op == OP_SHAPE;

    for (uint32_t i = 0; i < n->input_count; i++)
        late |= instance_is_late(s, n->inputs[i].value);
    for (uint32_t r = 0; late && r < n->result_count; r++) {
        const struct value *v = n->results[r];

        s->late[v->index] = !is_settled(s, v);
        s->to->origin.differs |= v->sizes && is_wrong(s, v);
    }
}

/* Returns the operands of the range that a value is, which say what it is at any sizes, or NULL. */
static const struct use *range_of(const struct value *v)
{
    const struct node *n = v->producer && v->producer->op == OP_RANGE ? v->producer : NULL;

    return n && n->inputs[0].value->sizes && n->inputs[1].value->sizes && n->inputs[2].value->sizes ? n->inputs : NULL;
}

static uint64_t data_hash(const struct value *v)
{
    const struct use *range = range_of(v);
    uint64_t h = v->type.type;

    if (range)
        return hash_mix(h, range[1].value->sizes[0]);
    if (v->sizes)
        return hash_mix(h, hash_bytes(v->sizes, (size_t)type_elements(&v->type) * sizeof *v->sizes));
    return hash_mix(h, v->kind == VALUE_CONSTANT ? (uint64_t)(uintptr_t)v->constant : v->index);
}

/* Returns whether two values are equal at all sizes. */
static bool same_data(const struct value *a, const struct value *b)
{
    const struct use *x = range_of(a), *y = range_of(b);

    if (a == b || a->type.type != b->type.type || !x != !y || !a->sizes != !b->sizes)
        return a == b;
    for (uint32_t i = 0; x && i < 3; i++)
        if (x[i].value->sizes[0] != y[i].value->sizes[0])
            return false;
    if (x)
        return true;
    if (a->sizes)
        return type_equal(&a->type, &b->type) &&
               !memcmp(a->sizes, b->sizes, (size_t)type_elements(&a->type) * sizeof *a->sizes);
    return a->constant && a->constant == b->constant && type_equal(&a->type, &b->type);
}

/* Returns whether a value is a range of 0, 1, 2 ... at all sizes. */
static bool counts(const struct instance *s, const struct value *v)
{
    const struct use *range = range_of(v);
    int64_t start, step;

    return range && dims_is_constant(s->from, range[0].value->sizes[0], &start) && !start &&
           dims_is_constant(s->from, range[2].value->sizes[0], &step) && step == 1;
}

/* Values of equal expressions differ where one has overflowed. */
static bool has_same_bytes(const struct value *a, const struct value *b)
{
    return a->constant->bytes == b->constant->bytes && !memcmp(a->constant->data, b->constant->data, a->constant->bytes);
}

/* Adds an input for data.  A loop's body has it as an invariant operand. */
static struct value *add_data(struct instance *s, const struct value *made)
{
    struct value *v = graph_add_data((s->outer ? s->outer : s)->to, &made->type, constant_retain(made->constant));
    char name[24];

    if (!s->outer || !v)
        return v;
    s->operands[s->operand_count++] = v;
    snprintf(name, sizeof name, "data%u", s->to->input_count);
    return graph_add_input(s->to, name, strlen(name), &made->type);
}

struct value *instance_data(struct instance *s, const struct value *v)
{
    const struct value *made = instance_value(s, v);
    const uint64_t hash = data_hash(v);
    struct table_entry *at = NULL;

    if (s->data[v->index])
        return s->data[v->index];
    if (!made || !table_reserve(&s->known, &s->to->arena, s->known.count + 1))
        return NULL;
    while ((at = table_next(&s->known, hash, at))->item)
        if (same_data(at->item, v)) {
            if (has_same_bytes(s->values[instance_index(s, at->item)], made))
                return s->data[v->index] = s->data[((const struct value *)at->item)->index];
            s->to->origin.differs = true;
        }
    s->data[v->index] = add_data(s, made);
    if (s->data[v->index]) {
        s->data[v->index]->counts = counts(s, v);
        table_put(&s->known, at, hash, v);
    }
    return s->data[v->index];
}

/* Lists of sizes, which are read at once, must have the same bytes; constants that become data must become the same data. */
bool instance_repeats(struct instance *s, const struct node *n, const struct node *like, uint32_t i)
{
    const struct value *v = n->inputs[i].value, *w = like->inputs[i].value;

    if (v == w || !is_constant(s, v) || !is_constant(s, w))
        return v == w || is_constant(s, v) == is_constant(s, w);
    if (n->op == OP_RANGE || (op_is_draft(n->op) && i))
        return has_same_bytes(v->kind == VALUE_CONSTANT ? v : s->values[instance_index(s, v)],
                              w->kind == VALUE_CONSTANT ? w : s->values[instance_index(s, w)]);
    return !(instance_is_late(s, v) || instance_is_late(s, w) || s->hides_all) ||
           (s->data[w->index] && instance_data(s, v) == s->data[w->index]);
}

struct value *instance_operand(struct instance *s, const struct node *n, uint32_t i)
{
    const struct value *v = n->inputs[i].value;
    struct value *made = v ? s->values[instance_index(s, v)] : NULL;

    return made && !s->computes && made->kind == VALUE_CONSTANT && (instance_is_late(s, v) || s->hides_all)
               ? instance_data(s, v)
               : made;
}

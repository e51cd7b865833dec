/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits loads and stores: of tensors through index maps and guards, and of row buffers.
 *
 * A load never branches: where a scalar guard fails it reads element 0 of the tensor (scalars) or a block of zeros on the stack
 * (vectors) instead, and the fill value is selected.
 */
#include "codegen/lower/access.h"

#include "codegen/lower/scalar.h"
#include "codegen/lower/tile.h"

static V zero_vector(struct emitter *e)
{
    if (!e->args.zero_vector) {
        const uint64_t fill = tile_fill(e->s) * (UINT64_MAX / UINT8_MAX);
        const uint32_t lanes = e->m.isa->vector_bits >= 128 ? e->m.isa->vector_bits / 64 : 1, bytes = 8 * lanes;
        T type = type_lanes(type_i64, lanes);
        e->args.zero_vector = loop_array(e->m.b, LOOP_ARRAY, type, 8 * LANES_MAX);
        frame_at(&e->frame, LEVEL_ENTRY);
        for (uint32_t i = 0; i < LANES_MAX / lanes; i++) {
            V address = op_address(&e->m, type, e->args.zero_vector, const_index(&e->m, i));
            op_store(&e->m, const_bits(&e->m, type, fill), address, NULL, bytes);
        }
    }
    return e->args.zero_vector;
}

/* ---- loads ---- */

static V reverse(const struct build *m, V x)
{
    const uint32_t n = lanes_of(x);
    uint8_t lanes[LANES_MAX];

    for (uint32_t i = 0; i < n; i++)
        lanes[i] = n - 1 - i;
    return op_shuffle(m, x, NULL, lanes, n);
}

/* Loads consecutive elements, of which the first (reversed: the last) is at address.  Where the mask does not hold they are
 * those of fill. */
static V load_contiguous(struct emitter *e, const struct context *cx, T element, V address, const struct form_value *p,
                         V scalar, V mask, V fill, uint32_t align)
{
    const struct build *m = &e->m;
    bool reversed = p->kind == FORM_REVERSED;
    T vector = type_lanes(element, cx->lanes);
    V x;

    if (reversed)
        address = op_address(&e->m, element, address, const_index(m, 1 - (int64_t)cx->lanes));
    if (scalar && (!mask || e->args.zero_vector)) /* masked loads of what lies beyond the memory that there is take long */
        address = op_select(m, scalar, address, e->args.zero_vector);
    if (mask) {
        mask = guard_and(e, mask, scalar);
        x = op_load_or(m, vector, address, reversed ? reverse(m, mask) : mask, fill, align);
    } else {
        x = op_load(m, vector, address, NULL, align);
    }
    return reversed ? reverse(m, x) : x;
}

static V load_gather(struct emitter *e, const struct context *cx, T element, V pointer, V address, const struct form_value *p,
                     V mask, uint32_t align)
{
    const struct build *m = &e->m;
    bool native = loop_type_bits(element) >= 32 && (m->isa->masks || m->isa->masks32); /* no processor gathers smaller ones */
    V index = p->lanes, base = pointer;

    mask = mask ? splat(m, mask, cx->lanes) : NULL; /* guards may be the same for all lanes */
    if (native) {
        base = address;
    } else { /* lane by lane without branches: lanes that do not exist read element 0 */
        index = op_add(m, index, splat(m, op_trunc(m, p->base, type_i32), cx->lanes));
        if (mask)
            index = op_select(m, mask, index, const_zero(m, index->type));
        mask = NULL;
    }
    V addresses = op_address(m, element, base, index);
    if (mask && !m->isa->masks) { /* here, too: LLVM would branch for every lane */
        addresses = op_select(m, mask, addresses, splat(m, pointer, cx->lanes));
        mask = NULL;
    }
    V args[2] = {addresses, mask ? mask : const_ones(m, type_lanes(type_i1, cx->lanes))};
    return loop_add(m->b, LOOP_GATHER, type_lanes(element, cx->lanes), args, 2, align);
}

/* Returns the elements of which each is as many lanes as the schedule says. */
static V load_repeated(struct emitter *e, const struct context *cx, uint32_t repeat, T element, V address,
                       const struct form_value *p, uint32_t align)
{
    const struct build *m = &e->m;
    V first = op_sext(m, op_extract(m, p->lanes, const_int(m, 64, 0)), type_index(m));
    uint8_t from[LANES_MAX], every[LANES_MAX];
    V mask = cx->mask, elements;

    for (uint32_t i = 0; i < cx->lanes; i++) {
        from[i] = i / repeat;
        every[i] = i * repeat % cx->lanes;
    }
    if (mask)
        mask = op_shuffle(m, mask, NULL, every, cx->lanes / repeat);
    elements = op_load(m, type_lanes(element, cx->lanes / repeat), op_address(&e->m, element, address, first), mask, align);
    return op_shuffle(m, elements, NULL, from, cx->lanes);
}

/* Returns the elements at address + lanes: those that follow each other are loaded as a vector, all others gathered. */
static V load_runs(struct emitter *e, const struct context *cx, T element, V pointer, V address, const struct form_value *p,
                   V mask, uint32_t align)
{
    const struct build *m = &e->m;
    T vector = type_lanes(element, cx->lanes);
    V result = loop_slot(m->b, vector);
    V first = op_extract(m, p->lanes, const_int(m, 64, 0));
    V expected = op_add(m, splat(m, first, cx->lanes), const_iota(m, 32, cx->lanes));
    V differs = op_any(m, op_ne(m, p->lanes, expected));

    mask = mask ? splat(m, mask, cx->lanes) : NULL; /* guards may be the same for all lanes */
    loop_if_begin(m->b, op_not(m, differs));
    first = op_sext(m, first, type_index(m));
    op_set(m, result, op_load(m, vector, op_address(&e->m, element, address, first), mask, align));
    loop_else(m->b);
    op_set(m, result, load_gather(e, cx, element, pointer, address, p, mask, align));
    loop_end(m->b);
    return op_get(m, result);
}

/* Returns whether a load by vectors has guards where neither masks nor zeros could be read instead. */
static bool load_branches(struct emitter *e, const struct context *cx, uint32_t expr)
{
    return load_is_branch(e->s, expr) && expr_is_vector(e, cx, expr) && !(cx->rows_inside && cx->lanes_inside) &&
           form_evaluate(e, cx, e->info.expr_form[expr]).kind != FORM_UNIFORM;
}

/* Returns what such a load gives: nothing is read where the first and the last lane fail a guard on the same side. */
static V load_by_branches(struct emitter *e, const struct context *cx, uint32_t expr, T element, uint32_t align)
{
    const struct kexpr *x = &e->k->exprs[expr];
    const uint32_t guards = e->info.expr_form[expr] + 1;
    const struct build *m = &e->m;
    T type = type_lanes(element, cx->lanes);
    V result = loop_slot(m->b, type), tensor = tensor_pointer(e, x->tensor), fill = guard_fill(e, x, cx->lanes);
    V every, some, scalar, lanes, loaded;
    struct form_value p = form_evaluate(e, cx, e->info.expr_form[expr]);
    const bool straight = guards_at_ends(e, cx, guards, x->guard_count, &every, &some),
               contiguous = straight && p.kind == FORM_CONTIGUOUS;
    V address = contiguous ? op_address(m, element, tensor, p.base) : NULL;

    op_set(m, result, fill);
    if (contiguous) {
        loop_if_begin(m->b, every);
        op_set(m, result, op_load(m, type, address, NULL, align));
        loop_else(m->b);
    }
    guards_value(e, cx, guards, x->guard_count, e->info.expr_level[expr], NULL, &scalar, &lanes);
    loop_if_begin(m->b, straight ? some : scalar ? scalar : op_any(m, lanes));
    if (p.kind != FORM_LANES)
        p.lanes = p.kind == FORM_CONTIGUOUS ? const_iota(m, 32, cx->lanes) : op_neg(m, const_iota(m, 32, cx->lanes));
    loaded = contiguous ? op_load(m, type, address, lanes, align) : load_gather(e, cx, element, tensor, NULL, &p, lanes, align);
    op_set(m, result, lanes ? op_select(m, lanes, loaded, fill) : loaded);
    loop_end(m->b);
    if (contiguous)
        loop_end(m->b);
    return op_get(m, result);
}

/* Returns what a load gives where zeros stand for all that a unit reads outside.  No hardware prefetcher follows a window
 * through an image, so this prefetches what comes next. */
static V load_or_zeros(struct emitter *e, const struct context *cx, uint32_t expr, T element, uint32_t align)
{
    const struct build *m = &e->m;
    const uint32_t form = e->info.expr_form[expr];
    V exists, lanes, tensor = tensor_pointer(e, e->k->exprs[expr].tensor);

    guards_value(e, cx, form + 1, e->k->exprs[expr].guard_count, LEVEL_UNIT, NULL, &exists, &lanes);
    const struct form_value p = form_evaluate(e, cx, form);
    V offset = number_value(e, p.offset);
    frame_at(&e->frame, LEVEL_UNIT);
    V row = op_address(m, element, op_address(m, element, tensor, p.row), offset);
    row = op_opaque(m, op_select(m, exists, row, e->args.zero_row));
    frame_at(&e->frame, e->info.expr_level[expr]);
    V at = op_address(m, element, row, p.along), loaded = op_load(m, type_lanes(element, cx->lanes), at, cx->mask, align);
    op_prefetch(m, op_address(m, type_i8, at, const_index(m, e->s->facts->cache.ahead_bytes)));
    return loaded;
}

/* Asks for the next row.  Several loops over a row come back to it while it is in the L1 cache, so the second one asks for
 * the next row, which would otherwise have to be waited for at its start.  Of bounded rows, few rows read all: keys and values
 * of a cache, which come from memory. */
static void prefetch_next_row(struct emitter *e, const struct context *cx, const struct kexpr *x, T element, V address)
{
    const struct kernel *k = e->k;
    const struct build *m = &e->m;
    bool by_row = false;

    if (kernel_find_bounded(k) != KEXPR_NONE && e->s->facts) /* not a device's schedule */
        op_prefetch(m, op_address(m, type_i8, address, const_index(m, 2 * e->s->facts->cache.ahead_bytes)));
    for (uint32_t i = 0; i < x->index.count; i++)
        by_row |= x->index.terms[i].var + 1 == k->parallel_count;
    if (!by_row || !e->info.vector_reduced || k->reduced_count != 1 || cx->phase != 1)
        return;
    V size = number_value(e, e->info.numbers.vars[e->s->vector_var]);
    frame_here(&e->frame);
    V next = op_address(&e->m, element, address, size);
    op_prefetch(m, next);
}

V emit_load(struct emitter *e, const struct context *cx, uint32_t expr)
{
    const struct kexpr *x = &e->k->exprs[expr];
    const struct schedule_expr *by = &e->s->exprs[expr];
    const struct build *m = &e->m;
    dtype dtype = e->k->tensors[x->tensor].type;
    T element = storage_type(dtype);
    uint32_t align = tensor_alignment(e, x->tensor), level = e->info.expr_level[expr];
    V scalar, lanes, value;
    bool filled = false;

    V address = operand_address(e, cx, expr, element);
    if (address)
        return widen_float(
            m, op_load(m, type_lanes(element, expr_is_vector(e, cx, expr) ? cx->lanes : 1), address, NULL, align), dtype);
    if (load_is_strided(e, cx, expr))
        return emit_strided_load(e, cx, expr);
    if (e->s->edges.zeros && x->guard_count && expr_is_vector(e, cx, expr))
        return load_or_zeros(e, cx, expr, element, align);
    if (load_branches(e, cx, expr))
        return widen_float(m, load_by_branches(e, cx, expr, element, align), dtype);
    V pointer = tensor_pointer(e, x->tensor);
    guards_value(e, cx, e->info.expr_form[expr] + 1, operand_guards_hold(e, cx, expr) ? 0 : x->guard_count, level, NULL,
                 &scalar, &lanes);
    struct form_value p = form_evaluate(e, cx, e->info.expr_form[expr]);
    if (cx->line && p.kind == FORM_CONTIGUOUS) {
        pointer = cx->line;
        p.base = cx->element;
    }
    if (scalar && p.kind != FORM_UNIFORM && !m->isa->address_spaces)
        zero_vector(e); /* a row that may not exist comes with a mask */
    V row = form_row_pointer(e, cx, e->info.expr_form[expr], &p, element, pointer);
    frame_at(&e->frame, level);

    V exists = expr_is_vector(e, cx, expr) ? cx->mask : NULL, guard = guard_and(e, lanes, scalar);
    if (p.kind == FORM_UNIFORM) {
        V read = lanes ? op_any(m, guard_and(e, guard, exists)) : scalar;
        V index = read ? op_select(m, read, p.base, const_index(m, 0)) : p.base;
        value = op_load(m, element, op_address(&e->m, element, pointer, index), NULL, align);
    } else if (p.kind == FORM_LANES) {
        const bool runs = by->load == LOAD_RUNS && frame_is_here(&e->frame, level);
        address = form_pointer(e, element, pointer, row, &p);
        if (by->load == LOAD_REPEATED)
            value = load_repeated(e, cx, by->count, element, address, &p, align);
        else if (by->load == LOAD_PERMUTED)
            value = emit_permuted_load(e, cx, expr, element, address, p.lanes, scalar, align);
        else
            value = (runs ? load_runs : load_gather)(e, cx, element, pointer, address, &p, guard_and(e, guard, exists), align);
    } else {
        V mask = guard_and(e, lanes, exists);
        address = form_pointer(e, element, pointer, row, &p);
        filled = mask && guard;
        value = load_contiguous(e, cx, element, address, &p, scalar, mask, filled ? guard_fill(e, x, cx->lanes) : NULL, align);
        if (!mask && p.kind == FORM_CONTIGUOUS)
            prefetch_next_row(e, cx, x, element, address);
    }
    value = widen_float(m, value, dtype);
    /* A whole row that does not exist was read from zeros. */
    if (guard && !filled && (lanes || p.kind == FORM_UNIFORM || p.kind == FORM_LANES || !tile_is_filled(e->s, x))) {
        V fill = const_scalar(&e->m, x->type, x->bits);
        uint32_t width = expr_is_vector(e, cx, expr) ? cx->lanes : 1;
        value = splat(m, value, width);
        guard = splat(m, guard, width);
        value = op_select(m, guard, value, splat(m, fill, width));
    }
    return value;
}

V emit_load_word(struct emitter *e, const struct context *cx, uint32_t expr, int64_t bytes, T type, V mask)
{
    const struct kexpr *x = &e->k->exprs[expr];
    const struct build *m = &e->m;
    struct loop_place *here = m->b->at;
    T element = storage_type(e->k->tensors[x->tensor].type);
    V address = operand_address(e, cx, expr, element);

    if (!address) {
        V tensor = tensor_pointer(e, x->tensor);
        struct form_value p = form_evaluate(e, cx, e->info.expr_form[expr]);
        frame_at(&e->frame, e->info.expr_level[expr]);
        address = op_address(&e->m, element, tensor, p.base);
    }
    frame_at(&e->frame, e->info.expr_level[expr]);
    V word = op_load(m, type, op_address(&e->m, type_i8, address, const_index(m, bytes)), mask, 1);
    m->b->at = here;
    return word;
}

/* ---- stores ---- */

/* first: lane 0 is stored whatever the mask is. */
static void store_scatter(struct emitter *e, const struct context *cx, V value, V base, T element, const struct form_value *p,
                          V mask, bool first, uint32_t align)
{
    const struct build *m = &e->m;
    V index = p->kind == FORM_LANES ? p->lanes : const_zero(m, type_lanes(type_i32, cx->lanes));
    if (mask && first && !m->isa->masks) { /* LLVM would branch for every lane: those that do not exist repeat the first one */
        value = op_select(m, mask, value, splat(m, op2(m, LOOP_EXTRACT, value, const_index(m, 0)), cx->lanes));
        index = op_select(m, mask, index, splat(m, op2(m, LOOP_EXTRACT, index, const_index(m, 0)), cx->lanes));
        mask = NULL;
    }
    V addresses = op_address(m, element, base, index);
    V args[3] = {value, addresses, mask ? mask : const_ones(m, type_lanes(type_i1, cx->lanes))};
    loop_add(m->b, LOOP_SCATTER, 0, args, 3, align);
}

/* Prefetches what follows an element of a stage's many stores, as load_or_zeros does: a store waits for its cache line.  Those
 * in a local tensor walk all of it, so that what is nearer comes next. */
static void prefetch_line(struct emitter *e, const struct kstore *s, V address)
{
    const bool in_image = kaffine_may_derive(e->k, s->index, KEXPR_NONE);

    if (schedule_has_many_addresses(e->s) && e->s->facts) /* not a device's schedule */
        op_prefetch(&e->m, op_address(&e->m, type_i8, address,
                                      const_index(&e->m, e->s->facts->cache.ahead_bytes / (in_image ? 1 : 8))));
}

/* Returns where a row of a tile of windows is stored.  A few rows share an address, from which instructions hold the steps to
 * the others: registers do not hold one of each.  The last row comes first. */
static V window_address(struct emitter *e, const struct context *cx, uint32_t form, T element, V pointer)
{
    enum { SHARED = 4 };
    const uint32_t row = cx->copy % cx->tile->rows, step = row % SHARED;
    const struct context first = context_of_copy(cx, cx->copy - step);
    V *from = &e->cache.row_pointers[form].pointer;

    if (row + 1 == cx->tile->rows || step + 1 == SHARED)
        *from = op_opaque(&e->m, op_address(&e->m, element, pointer, form_evaluate(e, &first, form).base));
    V stride = form_coefficient(e, &e->info.forms[form], e->s->tile.m_var);
    return op_address(&e->m, element, *from, op_mul(&e->m, const_index(&e->m, step), stride));
}

void emit_store(struct emitter *e, const struct context *cx, uint32_t store, V value)
{
    const struct kstore *s = &e->k->stores[store];
    const struct build *m = &e->m;
    dtype dtype = e->k->tensors[s->tensor].type;
    T element = storage_type(dtype);
    uint32_t align = (uint32_t)dtype_size(dtype);
    V scalar, lanes;

    V pointer = tensor_pointer(e, s->tensor);
    guards_value(e, cx, e->info.store_form[store] + 1, s->guard_count, e->info.inner_level, NULL, &scalar, &lanes);
    struct form_value p = form_evaluate(e, cx, e->info.store_form[store]);
    V line = form_row_pointer(e, cx, e->info.store_form[store], &p, element, pointer);
    frame_here(&e->frame);
    /* The points of a vector are those along the vector variable, if any part of the store depends on it. */
    bool vector = p.kind != FORM_UNIFORM || lanes || lanes_of(value) > 1;
    V mask = vector ? guard_and(e, lanes, cx->mask) : NULL;

    value = narrow_float(m, value, dtype);
    value = vector ? splat(m, value, cx->lanes) : value;
    if (scalar)
        loop_if_begin(m->b, scalar);
    V address = form_pointer(e, element, pointer, line, &p);
    if (cx->tile && cx->tile->vectors == 1 && e->s->tile.window.row.neighbours && p.kind == FORM_CONTIGUOUS && !scalar)
        address = window_address(e, cx, e->info.store_form[store], element, pointer);
    if (!vector) {
        op_store(m, value, address, NULL, align);
    } else if (p.kind == FORM_CONTIGUOUS) {
        op_store(m, value, address, mask, align);
        prefetch_line(e, s, address);
    } else if (p.kind == FORM_REVERSED) {
        address = op_address(&e->m, element, address, const_index(m, 1 - (int64_t)cx->lanes));
        op_store(m, reverse(m, value), address, mask ? reverse(m, mask) : NULL, align);
    } else {
        store_scatter(e, cx, value, address, element, &p, mask, !lanes, align);
    }
    if (scalar)
        loop_end(m->b);
}

/* ---- row buffers ---- */

static T row_type(enum ktype type)
{
    return type == KT_BOOL ? type_i8 : type_of(type);
}

static V row_bytes(struct emitter *e)
{
    const struct kernel *k = e->k;
    const struct build *m = &e->m;
    V size = const_index(m, (int64_t)e->s->row_buffers.element_bytes * e->s->row_buffers.lanes);
    for (uint32_t r = 0; r < k->reduced_count; r++) {
        V n = number_value(e, e->info.numbers.vars[k->parallel_count + r]);
        frame_at(&e->frame, LEVEL_ENTRY);
        size = op_mul(m, size, n);
    }
    frame_at(&e->frame, LEVEL_ENTRY);
    size = op_plus(m, size, TARGET_ALIGNMENT - 1);
    return op_and(m, size, const_index(m, -TARGET_ALIGNMENT));
}

static V row_buffer_address(struct emitter *e, const struct context *cx, int32_t buffer, enum ktype type)
{
    const struct build *m = &e->m;
    V row = e->args.scratch;
    if (buffer)
        row = op_address(m, type_i8, row, op_times(m, row_bytes(e), buffer));
    V index = reduced_index(e, cx);
    frame_at(&e->frame, e->info.inner_level);
    if (e->info.vector_parallel)
        index = op_times(m, index, e->s->row_buffers.lanes);
    return op_address(m, row_type(type), row, index);
}

/* Returns the mask of a row access: rows of a PARALLEL vector variable have room for every lane. */
static V row_buffer_mask(const struct emitter *e, const struct context *cx)
{
    return cx->lanes > 1 && e->info.vector_reduced ? cx->mask : NULL;
}

V emit_row_buffer_load(struct emitter *e, const struct context *cx, int32_t buffer, enum ktype type)
{
    const struct build *m = &e->m;
    V address = row_buffer_address(e, cx, buffer, type), value;
    value = op_load(m, type_lanes(row_type(type), cx->lanes), address, row_buffer_mask(e, cx), (uint32_t)ktype_size(type));
    if (type == KT_BOOL)
        value = op_trunc(m, value, type_lanes(type_i1, cx->lanes));
    return value;
}

void emit_row_buffer_store(struct emitter *e, const struct context *cx, int32_t buffer, enum ktype type, V value)
{
    const struct build *m = &e->m;
    V address = row_buffer_address(e, cx, buffer, type);
    frame_here(&e->frame);
    if (type == KT_BOOL)
        value = op_zext(m, value, type_lanes(row_type(type), lanes_of(value)));
    op_store(m, value, address, row_buffer_mask(e, cx), (uint32_t)ktype_size(type));
}

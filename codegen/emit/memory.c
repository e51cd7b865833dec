/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits loads and stores: of tensors through index maps and guards, and of row buffers.
 *
 * A load never branches: where a scalar guard fails it reads element 0 of the tensor (scalars) or a block of zeros on the stack
 * (vectors) instead, and the fill value is selected.
 */
#include "codegen/emit/memory.h"

#include "codegen/emit/operation.h"
#include "codegen/emit/guard.h"
#include "codegen/emit/index.h"
#include "codegen/emit/operand.h"
#include "codegen/emit/vector_loads.h"

static V zero_vector(struct emitter *e)
{
    if (!e->args.zero_vector) {
        const uint32_t lanes = e->m.isa->vector_bits >= 128 ? e->m.isa->vector_bits / 64 : 1;
        T type = type_lanes(type_int(&e->m, 64), lanes);
        e->args.zero_vector = alloca_entry(&e->m, LLVMArrayType2(type, LANES_MAX / lanes), "zeros");
        frame_at(&e->frame, LEVEL_ENTRY);
        for (uint32_t i = 0; i < LANES_MAX / lanes; i++) {
            V index = const_int(&e->m, 64, i);
            V address = LLVMBuildInBoundsGEP2(e->m.b, type, e->args.zero_vector, &index, 1, "");
            LLVMBuildStore(e->m.b, LLVMConstNull(type), address);
        }
    }
    return e->args.zero_vector;
}

/* Returns the address tensor + p; row is what form_row_pointer gave. */
static V form_pointer(struct emitter *e, T element, V tensor, V row, const struct form_value *p)
{
    return row ? op_address(&e->m, element, row, p->along) : op_address(&e->m, element, tensor, p->base);
}

/* ---- loads ---- */

static V reverse(const struct build *m, V x)
{
    V lanes[64];
    uint32_t n = lanes_of(x);
    for (uint32_t i = 0; i < n; i++)
        lanes[i] = const_int(m, 32, n - 1 - i);
    return LLVMBuildShuffleVector(m->b, x, LLVMGetPoison(LLVMTypeOf(x)), LLVMConstVector(lanes, n), "reversed");
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
        address = op_address(&e->m, element, address, const_int(m, 64, 1 - (int64_t)cx->lanes));
    if (mask) {
        mask = guard_and(e, mask, scalar);
        x = op_load_or(m, vector, address, reversed ? reverse(m, mask) : mask, fill, align);
    } else {
        if (scalar)
            address = LLVMBuildSelect(m->b, scalar, address, e->args.zero_vector, "");
        x = op_load(m, vector, address, NULL, align);
    }
    return reversed ? reverse(m, x) : x;
}

/* Returns whether processors have instructions that gather such elements: those of 32 bits and more. */
static bool is_gathered(T element)
{
    switch (LLVMGetTypeKind(element)) {
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(element) >= 32;
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
        return false;
    default:
        return true;
    }
}

static V load_gather(struct emitter *e, const struct context *cx, T element, V pointer, V address, const struct form_value *p,
                     V mask, uint32_t align)
{
    const struct build *m = &e->m;
    bool native = is_gathered(element) && (m->isa->masks || m->isa->masks32);
    T vector = type_lanes(element, cx->lanes), pointers = type_lanes(type_ptr(m), cx->lanes);
    T types[2] = {vector, pointers};
    V index = p->lanes, base = pointer;

    if (mask && lanes_of(mask) == 1) /* guards that are the same for all lanes */
        mask = splat(m, mask, cx->lanes);
    if (native) {
        base = address;
    } else { /* lane by lane without branches: lanes that do not exist read element 0 */
        index = LLVMBuildAdd(m->b, index, splat(m, LLVMBuildTrunc(m->b, p->base, type_int(m, 32), ""), cx->lanes), "");
        if (mask)
            index = LLVMBuildSelect(m->b, mask, index, LLVMConstNull(LLVMTypeOf(index)), "");
        mask = NULL;
    }
    V addresses = op_address(m, element, base, index);
    V all = LLVMConstAllOnes(type_lanes(type_i1(m), cx->lanes));
    V args[4] = {addresses, const_int(m, 32, align), mask ? mask : all, LLVMConstNull(vector)};
    return call_intrinsic(m, "llvm.masked.gather", types, 2, args, 4);
}

/* Returns the elements of which each is as many lanes as the schedule says. */
static V load_repeated(struct emitter *e, const struct context *cx, uint32_t repeat, T element, V address,
                       const struct form_value *p, uint32_t align)
{
    const struct build *m = &e->m;
    V first = LLVMBuildSExt(m->b, LLVMBuildExtractElement(m->b, p->lanes, const_int(m, 64, 0), ""), type_int(m, 64), "");
    V from[LANES_MAX], every[LANES_MAX], mask = cx->mask, elements;

    for (uint32_t i = 0; i < cx->lanes; i++) {
        from[i] = const_int(m, 32, i / repeat);
        every[i] = const_int(m, 32, (int64_t)(i * repeat % cx->lanes));
    }
    if (mask)
        mask =
            LLVMBuildShuffleVector(m->b, mask, LLVMGetPoison(LLVMTypeOf(mask)), LLVMConstVector(every, cx->lanes / repeat), "");
    elements = op_load(m, type_lanes(element, cx->lanes / repeat), op_address(&e->m, element, address, first), mask, align);
    return LLVMBuildShuffleVector(m->b, elements, LLVMGetPoison(LLVMTypeOf(elements)), LLVMConstVector(from, cx->lanes), "");
}

/* Returns the elements at address + lanes: those that follow each other are loaded as a vector, all others gathered. */
static V load_runs(struct emitter *e, const struct context *cx, T element, V pointer, V address, const struct form_value *p,
                   V mask, uint32_t align)
{
    const struct build *m = &e->m;
    T vector = type_lanes(element, cx->lanes);
    LLVMBasicBlockRef run = block_append(m, "run"), scattered = block_append(m, "scattered"), after = block_append(m, "loaded");
    V first = LLVMBuildExtractElement(m->b, p->lanes, const_int(m, 64, 0), "");
    V expected = LLVMBuildAdd(m->b, splat(m, first, cx->lanes), const_iota(m, 32, cx->lanes), "");
    V differs = op_any(m, LLVMBuildICmp(m->b, LLVMIntNE, p->lanes, expected, ""));
    V values[2];

    if (mask && lanes_of(mask) == 1) /* guards that are the same for all lanes */
        mask = splat(m, mask, cx->lanes);
    LLVMBuildCondBr(m->b, differs, scattered, run);
    frame_continue(&e->frame, run);
    first = LLVMBuildSExt(m->b, first, type_int(m, 64), "");
    values[0] = op_load(m, vector, op_address(&e->m, element, address, first), mask, align);
    LLVMBuildBr(m->b, after);
    frame_continue(&e->frame, scattered);
    values[1] = load_gather(e, cx, element, pointer, address, p, mask, align);
    LLVMBuildBr(m->b, after);
    frame_continue(&e->frame, after);
    V result = LLVMBuildPhi(m->b, vector, "");
    LLVMAddIncoming(result, values, (LLVMBasicBlockRef[2]){run, scattered}, 2);
    return result;
}

/* Asks for the next row.  Several loops over a row come back to it while it is in the L1 cache, so the second one asks for
 * the next row, which would otherwise have to be waited for at its start. */
static void prefetch_next_row(struct emitter *e, const struct context *cx, const struct kexpr *x, T element, V address)
{
    const struct kernel *k = e->k;
    const struct build *m = &e->m;
    bool by_row = false;
    for (uint32_t i = 0; i < x->index.count; i++)
        by_row |= x->index.terms[i].var + 1 == k->parallel_count;
    if (!by_row || !e->info.vector_reduced || k->reduced_count != 1 || cx->phase != 1)
        return;
    V size = number_value(e, e->info.var_number[e->s->vector_var]);
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
    T element = storage_type(&e->m, dtype);
    uint32_t align = tensor_alignment(e, x->tensor), level = e->info.expr_level[expr];
    V scalar, lanes, value;
    bool filled = false;

    V address = operand_address(e, cx, expr, element);
    if (address) {
        frame_at(&e->frame, level);
        value = op_load(m, type_lanes(element, expr_is_vector(e, cx, expr) ? cx->lanes : 1), address, NULL, align);
        return widen_float(m, value, dtype);
    }
    if (load_is_strided(e, cx, expr))
        return emit_strided_load(e, cx, expr);
    V pointer = tensor_pointer(e, x->tensor);
    guards_value(e, cx, e->info.expr_form[expr] + 1, operand_guards_hold(e, cx, expr) ? 0 : x->guard_count, level, &scalar,
                 &lanes);
    struct form_value p = form_evaluate(e, cx, e->info.expr_form[expr]);
    if (scalar && p.kind != FORM_UNIFORM)
        zero_vector(e); /* a row that may not exist comes with a mask */
    V row = form_row_pointer(e, cx, e->info.expr_form[expr], &p, element, pointer);
    frame_at(&e->frame, level);

    V exists = expr_is_vector(e, cx, expr) ? cx->mask : NULL, guard = guard_and(e, lanes, scalar);
    if (p.kind == FORM_UNIFORM) {
        V read = lanes ? op_any(m, guard_and(e, guard, exists)) : scalar;
        V index = read ? LLVMBuildSelect(m->b, read, p.base, const_int(m, 64, 0), "") : p.base;
        value = LLVMBuildLoad2(m->b, element, op_address(&e->m, element, pointer, index), "");
        if (e->k->tensors[x->tensor].unaligned)
            LLVMSetAlignment(value, 1);
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
    if (guard && !filled && (lanes || p.kind == FORM_UNIFORM || p.kind == FORM_LANES || x->bits.u64)) {
        V fill = const_scalar(&e->m, x->type, x->bits);
        uint32_t width = expr_is_vector(e, cx, expr) ? cx->lanes : 1;
        value = lanes_of(value) < width ? splat(m, value, width) : value;
        guard = lanes_of(guard) < width ? splat(m, guard, width) : guard;
        value = LLVMBuildSelect(m->b, guard, value, const_splat(fill, width), "");
    }
    return value;
}

V emit_load_word(struct emitter *e, const struct context *cx, uint32_t expr, int64_t bytes)
{
    const struct kexpr *x = &e->k->exprs[expr];
    const struct build *m = &e->m;
    T element = storage_type(m, e->k->tensors[x->tensor].type);
    V address = operand_address(e, cx, expr, element);

    if (!address) {
        V tensor = tensor_pointer(e, x->tensor);
        struct form_value p = form_evaluate(e, cx, e->info.expr_form[expr]);
        frame_at(&e->frame, e->info.expr_level[expr]);
        address = op_address(&e->m, element, tensor, p.base);
    }
    frame_at(&e->frame, e->info.expr_level[expr]);
    V value = LLVMBuildLoad2(m->b, type_int(m, 32), op_address(&e->m, type_int(m, 8), address, const_int(m, 64, bytes)), "");
    LLVMSetAlignment(value, 1);
    return value;
}

V emit_load_words(struct emitter *e, const struct context *cx, uint32_t expr)
{
    const struct kexpr *x = &e->k->exprs[expr];
    const struct build *m = &e->m;
    struct context first = *cx; /* the first lane's bytes, from where on words follow each other */

    first.lanes = 1;
    first.vector_base = cx->vector_base + cx->copy;
    V tensor = tensor_pointer(e, x->tensor);
    struct form_value p = form_evaluate(e, &first, e->info.expr_form[expr]);
    frame_at(&e->frame, e->info.expr_level[expr]);
    V address = op_address(&e->m, storage_type(m, e->k->tensors[x->tensor].type), tensor, p.base);
    return op_load(m, type_lanes(type_int(m, 32), cx->lanes), address, cx->mask, 1);
}

/* ---- stores ---- */

static void store_scatter(struct emitter *e, const struct context *cx, V value, V base, T element, const struct form_value *p,
                          V mask, uint32_t align)
{
    const struct build *m = &e->m;
    V index = p->kind == FORM_LANES ? p->lanes : LLVMConstNull(type_lanes(type_int(m, 32), cx->lanes));
    V addresses = op_address(m, element, base, index);
    T types[2] = {LLVMTypeOf(value), LLVMTypeOf(addresses)};
    V args[4] = {value, addresses, const_int(m, 32, align), mask ? mask : LLVMConstAllOnes(type_lanes(type_i1(m), cx->lanes))};
    call_intrinsic(m, "llvm.masked.scatter", types, 2, args, 4);
}

void emit_store(struct emitter *e, const struct context *cx, uint32_t store, V value)
{
    const struct kstore *s = &e->k->stores[store];
    const struct build *m = &e->m;
    dtype dtype = e->k->tensors[s->tensor].type;
    T element = storage_type(&e->m, dtype);
    uint32_t align = (uint32_t)dtype_size(dtype);
    LLVMBasicBlockRef after = NULL;
    V scalar, lanes;

    V pointer = tensor_pointer(e, s->tensor);
    guards_value(e, cx, e->info.store_form[store] + 1, s->guard_count, e->info.inner_level, &scalar, &lanes);
    struct form_value p = form_evaluate(e, cx, e->info.store_form[store]);
    V line = form_row_pointer(e, cx, e->info.store_form[store], &p, element, pointer);
    frame_here(&e->frame);
    /* The points of a vector are those along the vector variable, if any part of the store depends on it. */
    bool vector = p.kind != FORM_UNIFORM || lanes || lanes_of(value) > 1;
    V mask = vector ? guard_and(e, lanes, cx->mask) : NULL;

    value = narrow_float(m, value, dtype);
    if (vector && lanes_of(value) == 1)
        value = splat(m, value, cx->lanes);
    if (scalar) {
        LLVMBasicBlockRef then = block_append(m, "store");
        after = block_append(m, "stored");
        LLVMBuildCondBr(m->b, scalar, then, after);
        frame_continue(&e->frame, then);
    }
    V address = form_pointer(e, element, pointer, line, &p);
    if (!vector) {
        LLVMSetAlignment(LLVMBuildStore(m->b, value, address), align);
    } else if (p.kind == FORM_CONTIGUOUS) {
        op_store(m, value, address, mask, align);
    } else if (p.kind == FORM_REVERSED) {
        address = op_address(&e->m, element, address, const_int(m, 64, 1 - (int64_t)cx->lanes));
        op_store(m, reverse(m, value), address, mask ? reverse(m, mask) : NULL, align);
    } else {
        store_scatter(e, cx, value, address, element, &p, mask, align);
    }
    if (after) {
        LLVMBuildBr(m->b, after);
        frame_continue(&e->frame, after);
    }
}

/* ---- row buffers ---- */

static T row_type(const struct emitter *e, enum ktype type)
{
    return type == KT_BOOL ? type_int(&e->m, 8) : type_of(&e->m, type);
}

static V row_bytes(struct emitter *e)
{
    const struct kernel *k = e->k;
    const struct build *m = &e->m;
    V size = const_int(m, 64, (int64_t)e->s->row_buffers.element_bytes * e->s->row_buffers.lanes);
    for (uint32_t r = 0; r < k->reduced_count; r++) {
        V n = number_value(e, e->info.var_number[k->parallel_count + r]);
        frame_at(&e->frame, LEVEL_ENTRY);
        size = LLVMBuildMul(m->b, size, n, "");
    }
    frame_at(&e->frame, LEVEL_ENTRY);
    size = LLVMBuildAdd(m->b, size, const_int(m, 64, TARGET_ALIGNMENT - 1), "");
    return LLVMBuildAnd(m->b, size, const_int(m, 64, -TARGET_ALIGNMENT), "row");
}

static V row_buffer_address(struct emitter *e, const struct context *cx, int32_t buffer, enum ktype type)
{
    const struct build *m = &e->m;
    V bytes = row_bytes(e), slot = const_int(m, 64, buffer);
    V offset = LLVMBuildMul(m->b, bytes, slot, "");
    V row = op_address(m, type_int(m, 8), e->args.scratch, offset);
    V index = reduced_index(e, cx);
    frame_at(&e->frame, e->info.inner_level);
    if (e->info.vector_parallel)
        index = LLVMBuildMul(m->b, index, const_int(m, 64, e->s->row_buffers.lanes), "");
    return op_address(m, row_type(e, type), row, index);
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
    value = op_load(m, type_lanes(row_type(e, type), cx->lanes), address, row_buffer_mask(e, cx), (uint32_t)ktype_size(type));
    if (type == KT_BOOL)
        value = LLVMBuildTrunc(m->b, value, type_lanes(type_i1(m), cx->lanes), "");
    return value;
}

void emit_row_buffer_store(struct emitter *e, const struct context *cx, int32_t buffer, enum ktype type, V value)
{
    const struct build *m = &e->m;
    V address = row_buffer_address(e, cx, buffer, type);
    frame_here(&e->frame);
    if (type == KT_BOOL)
        value = LLVMBuildZExt(m->b, value, type_lanes(row_type(e, type), lanes_of(value)), "");
    op_store(m, value, address, row_buffer_mask(e, cx), (uint32_t)ktype_size(type));
}

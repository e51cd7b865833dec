/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loads and stores: tensors through index maps and guards, and kept rows.
 *
 * A load never branches: where a scalar guard fails it reads element 0 of the tensor (scalars) or a block of zeros on the stack
 * (vectors) instead, and the fill value is selected.
 */
#include "codegen/emit.h"

#include <string.h>

T type_of(const struct emitter *e, enum ktype type)
{
    if (type == KT_F32)
        return type_f32(&e->m);
    return type_int(&e->m, type == KT_BOOL ? 1 : 8 * (uint32_t)ktype_size(type));
}

V const_scalar(const struct emitter *e, enum ktype type, union scalar bits)
{
    if (type == KT_F32) /* through the bits, to keep a NaN's */
        return LLVMConstBitCast(const_int(&e->m, 32, bits.i32), type_f32(&e->m));
    if (type == KT_BOOL)
        return const_int(&e->m, 1, bits.u8 != 0);
    uint32_t size = (uint32_t)ktype_size(type);
    return const_int(&e->m, 8 * size, size == 1 ? bits.i8 : size == 4 ? bits.i32 : bits.i64);
}

/* The type in memory: narrow floats as 16 bits. */
T storage_type(const struct emitter *e, dtype type)
{
    return dtype_is_narrow_float(type) ? type_int(&e->m, 16) : type_of(e, ktype_of(type));
}

V tensor_pointer(struct emitter *e, uint32_t tensor)
{
    if (!e->tensors[tensor]) {
        emit_at(e, LEVEL_ENTRY);
        V index = const_int(&e->m, 64, tensor);
        V address = LLVMBuildInBoundsGEP2(e->m.b, type_ptr(&e->m), e->args_tensors, &index, 1, "");
        e->tensors[tensor] = LLVMBuildLoad2(e->m.b, type_ptr(&e->m), address, "tensor");
    }
    return e->tensors[tensor];
}

/* 64 lanes of zeros that may be read instead of anything else. */
static V dummy_pointer(struct emitter *e)
{
    if (!e->dummy) {
        const uint32_t lanes = e->m.isa->vector_bits >= 128 ? e->m.isa->vector_bits / 64 : 1;
        T type = type_lanes(type_int(&e->m, 64), lanes);
        e->dummy = alloca_entry(&e->m, LLVMArrayType2(type, 64 / lanes), "zeros");
        emit_at(e, LEVEL_ENTRY);
        for (uint32_t i = 0; i < 64 / lanes; i++) {
            V index = const_int(&e->m, 64, i);
            V address = LLVMBuildInBoundsGEP2(e->m.b, type, e->dummy, &index, 1, "");
            LLVMBuildStore(e->m.b, LLVMConstNull(type), address);
        }
    }
    return e->dummy;
}

static V offset_pointer(struct emitter *e, T element, V pointer, V index)
{
    return LLVMBuildGEP2(e->m.b, element, pointer, &index, 1, "");
}

/* row: of place_row. */
static V place_pointer(struct emitter *e, T element, V pointer, V row, const struct place *p)
{
    return row ? offset_pointer(e, element, row, p->along) : offset_pointer(e, element, pointer, p->base);
}

static V and_conditions(struct emitter *e, V a, V b)
{
    if (!a || !b)
        return a ? a : b;
    uint32_t lanes = lanes_of(a) > lanes_of(b) ? lanes_of(a) : lanes_of(b);
    if (lanes_of(a) < lanes)
        a = splat(&e->m, a, lanes);
    if (lanes_of(b) < lanes)
        b = splat(&e->m, b, lanes);
    return LLVMBuildAnd(e->m.b, a, b, "");
}

/* ---- guards ---- */

/*
 * Lanes for which 0 <= base + lane < bound, with a vector of the bound in 32 bits, which it fits into, being a size of a
 * tensor: as unsigned numbers what is below 0 is above every bound, and so is the number that stands for a base too far away to
 * be said.
 */
static V guard_unit(struct emitter *e, V base, V bound)
{
    const struct build *m = &e->m;
    V near = LLVMBuildAdd(m->b, base, const_int(m, 64, e->lanes), "");
    near = LLVMBuildICmp(m->b, LLVMIntULT, near, const_int(m, 64, (INT64_C(1) << 31) + e->lanes), "near");
    V first = LLVMBuildSelect(m->b, near, LLVMBuildTrunc(m->b, base, type_int(m, 32), ""), const_int(m, 32, INT32_MIN), "");
    V lane = LLVMBuildAdd(m->b, splat(m, first, e->lanes), const_iota(m, 32, e->lanes), "");
    return LLVMBuildICmp(m->b, LLVMIntULT, lane, bound, "guard");
}

/* The conjunction of guards, for use at level: *scalar for all lanes, *lanes per lane; NULL where there is none. */
static void guards_value(struct emitter *e, uint32_t form, uint32_t count, uint32_t level, V *scalar, V *lanes)
{
    *scalar = *lanes = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct form *f = &e->forms[form + i];
        V bound = number_value(e, f->number + 1 + f->affine->count);
        struct place p = form_place(e, form + i);
        if (p.kind == FORM_UNIT) {
            emit_at(e, LEVEL_ENTRY);
            bound = splat(&e->m, LLVMBuildTrunc(e->m.b, bound, type_int(&e->m, 32), ""), e->lanes);
        }
        emit_at(e, f->level);
        if (p.kind == FORM_UNIFORM) {
            V c = LLVMBuildICmp(e->m.b, LLVMIntULT, p.base, bound, "guard");
            emit_at(e, level);
            *scalar = and_conditions(e, *scalar, c);
        } else {
            V c = p.kind == FORM_UNIT
                      ? guard_unit(e, p.base, bound)
                      : LLVMBuildICmp(e->m.b, LLVMIntULT, place_value(e, &p), splat(&e->m, bound, e->lanes), "guard");
            emit_at(e, level);
            *lanes = and_conditions(e, *lanes, c);
        }
    }
}

/* ---- loads ---- */

V masked_load(struct emitter *e, T vector, V pointer, V mask, uint32_t align)
{
    T types[2] = {vector, type_ptr(&e->m)};
    V args[4] = {pointer, const_int(&e->m, 32, align), mask, LLVMConstNull(vector)};
    return call_intrinsic(&e->m, "llvm.masked.load", types, 2, args, 4);
}

V load_vector(struct emitter *e, T vector, V pointer, uint32_t align)
{
    V x = LLVMBuildLoad2(e->m.b, vector, pointer, "");
    LLVMSetAlignment(x, align);
    return x;
}

static V reverse(struct emitter *e, V x)
{
    V lanes[64];
    uint32_t n = lanes_of(x);
    for (uint32_t i = 0; i < n; i++)
        lanes[i] = const_int(&e->m, 32, n - 1 - i);
    return LLVMBuildShuffleVector(e->m.b, x, LLVMGetPoison(LLVMTypeOf(x)), LLVMConstVector(lanes, n), "reversed");
}

/* Consecutive elements, first or (reversed) last at index. */
static V load_row(struct emitter *e, T element, V address, const struct place *p, V scalar, V mask, uint32_t align)
{
    const struct build *m = &e->m;
    bool reversed = p->kind == FORM_REVERSE;
    T vector = type_lanes(element, e->lanes);
    V x;

    if (reversed)
        address = offset_pointer(e, element, address, const_int(m, 64, 1 - (int64_t)e->lanes));
    if (mask) {
        mask = and_conditions(e, mask, scalar);
        x = masked_load(e, vector, address, reversed ? reverse(e, mask) : mask, align);
    } else {
        if (scalar)
            address = LLVMBuildSelect(m->b, scalar, address, e->dummy, "");
        x = load_vector(e, vector, address, align);
    }
    return reversed ? reverse(e, x) : x;
}

/* Elements at base + lanes. */
static V load_gather(struct emitter *e, T element, V pointer, V address, const struct place *p, V mask, uint32_t align)
{
    const struct build *m = &e->m;
    bool native = align >= 4 && (m->isa->masks || m->isa->masks32);
    T vector = type_lanes(element, e->lanes), pointers = type_lanes(type_ptr(m), e->lanes);
    T types[2] = {vector, pointers};
    V index = p->lanes, base = pointer;

    if (mask && lanes_of(mask) == 1) /* guards that are the same for all lanes */
        mask = splat(m, mask, e->lanes);
    if (native) {
        base = address;
    } else { /* lane by lane without branches: lanes that do not exist read element 0 */
        index = LLVMBuildAdd(m->b, index, splat(m, LLVMBuildTrunc(m->b, p->base, type_int(m, 32), ""), e->lanes), "");
        if (mask)
            index = LLVMBuildSelect(m->b, mask, index, LLVMConstNull(LLVMTypeOf(index)), "");
        mask = NULL;
    }
    V addresses = LLVMBuildGEP2(m->b, element, base, &index, 1, "");
    V all = LLVMConstAllOnes(type_lanes(type_i1(m), e->lanes));
    V args[4] = {addresses, const_int(m, 32, align), mask ? mask : all, LLVMConstNull(vector)};
    return call_intrinsic(m, "llvm.masked.gather", types, 2, args, 4);
}

/* Several loops over a row come back to it while it is in the first cache: the second one asks for the next row, which would
 * otherwise have to be waited for at its start. */
static void prefetch_next_row(struct emitter *e, const struct kexpr *x, T element, V address)
{
    const struct kernel *k = e->k;
    const struct build *m = &e->m;
    bool by_row = false;
    for (uint32_t i = 0; i < x->index.count; i++)
        by_row |= x->index.terms[i].var + 1 == k->parallel_count;
    if (!by_row || !e->vector_reduced || k->reduced_count != 1 || e->phase != 1)
        return;
    V size = number_value(e, e->var_number[k->vector_var]);
    emit_here(e);
    V next = offset_pointer(e, element, address, size);
    T type = type_ptr(m);
    V args[4] = {next, const_int(m, 32, 0), const_int(m, 32, 3), const_int(m, 32, 1)};
    call_intrinsic(m, "llvm.prefetch", &type, 1, args, 4);
}

V emit_load(struct emitter *e, uint32_t expr)
{
    const struct kexpr *x = &e->k->exprs[expr];
    const struct build *m = &e->m;
    dtype dtype = e->k->tensors[x->tensor].type;
    T element = storage_type(e, dtype);
    uint32_t align = (uint32_t)dtype_size(dtype), level = e->expr_level[expr];
    V scalar, lanes, value;

    if (e->edge && e->edge_pointers[expr * COPIES_MAX]) {
        V address = block_edge_address(e, expr, element);
        emit_at(e, level);
        value = load_vector(e, type_lanes(element, expr_is_vector(e, expr) ? e->lanes : 1), address, align);
        return widen_float(m, value, dtype);
    }
    V pointer = tensor_pointer(e, x->tensor);
    guards_value(e, e->expr_form[expr] + 1, block_guards_hold(e, expr) ? 0 : x->guard_count, level, &scalar, &lanes);
    struct place p = form_place(e, e->expr_form[expr]);
    if (scalar && p.kind != FORM_UNIFORM)
        dummy_pointer(e); /* a row that may not exist comes with a mask */
    V row = place_row(e, e->expr_form[expr], &p, element, pointer);
    emit_at(e, level);

    V exists = expr_is_vector(e, expr) ? e->mask : NULL, guard = and_conditions(e, lanes, scalar);
    if (p.kind == FORM_UNIFORM) {
        V read = lanes ? op_any(m, and_conditions(e, guard, exists)) : scalar;
        V index = read ? LLVMBuildSelect(m->b, read, p.base, const_int(m, 64, 0), "") : p.base;
        value = LLVMBuildLoad2(m->b, element, offset_pointer(e, element, pointer, index), "");
    } else if (p.kind == FORM_LANES) {
        value = load_gather(e, element, pointer, place_pointer(e, element, pointer, row, &p), &p,
                            and_conditions(e, guard, exists), align);
    } else {
        V mask = and_conditions(e, lanes, exists), address = place_pointer(e, element, pointer, row, &p);
        value = load_row(e, element, address, &p, scalar, mask, align);
        if (!mask && p.kind == FORM_UNIT)
            prefetch_next_row(e, x, element, address);
    }
    value = widen_float(m, value, dtype);
    /* A whole row that does not exist was read from zeros. */
    if (guard && (lanes || p.kind == FORM_UNIFORM || p.kind == FORM_LANES || x->bits.u64)) {
        V fill = const_scalar(e, x->type, x->bits);
        uint32_t width = expr_is_vector(e, expr) ? e->lanes : 1;
        value = lanes_of(value) < width ? splat(m, value, width) : value;
        guard = lanes_of(guard) < width ? splat(m, guard, width) : guard;
        value = LLVMBuildSelect(m->b, guard, value, const_splat(fill, width), "");
    }
    return value;
}

/* ---- stores ---- */

void store_row(struct emitter *e, V value, V address, V mask, uint32_t align)
{
    const struct build *m = &e->m;
    if (!mask) {
        LLVMSetAlignment(LLVMBuildStore(m->b, value, address), align);
        return;
    }
    T types[2] = {LLVMTypeOf(value), type_ptr(m)};
    V args[4] = {value, address, const_int(m, 32, align), mask};
    call_intrinsic(m, "llvm.masked.store", types, 2, args, 4);
}

static void store_scatter(struct emitter *e, V value, V base, T element, const struct place *p, V mask, uint32_t align)
{
    const struct build *m = &e->m;
    V index = p->kind == FORM_LANES ? p->lanes : LLVMConstNull(type_lanes(type_int(m, 32), e->lanes));
    V addresses = LLVMBuildGEP2(m->b, element, base, &index, 1, "");
    T types[2] = {LLVMTypeOf(value), LLVMTypeOf(addresses)};
    V args[4] = {value, addresses, const_int(m, 32, align), mask ? mask : LLVMConstAllOnes(type_lanes(type_i1(m), e->lanes))};
    call_intrinsic(m, "llvm.masked.scatter", types, 2, args, 4);
}

void emit_store(struct emitter *e, uint32_t store, V value)
{
    const struct kstore *s = &e->k->stores[store];
    const struct build *m = &e->m;
    dtype dtype = e->k->tensors[s->tensor].type;
    T element = storage_type(e, dtype);
    uint32_t align = (uint32_t)dtype_size(dtype);
    LLVMBasicBlockRef after = NULL;
    V scalar, lanes;

    V pointer = tensor_pointer(e, s->tensor);
    guards_value(e, e->store_form[store] + 1, s->guard_count, e->inner_level, &scalar, &lanes);
    struct place p = form_place(e, e->store_form[store]);
    V line = place_row(e, e->store_form[store], &p, element, pointer);
    emit_here(e);
    /* Points of a vector: those along the vector variable, if any part of the store depends on it. */
    bool vector = p.kind != FORM_UNIFORM || lanes || lanes_of(value) > 1;
    V mask = vector ? and_conditions(e, lanes, e->mask) : NULL;

    value = narrow_float(m, value, dtype);
    if (vector && lanes_of(value) == 1)
        value = splat(m, value, e->lanes);
    if (scalar) {
        LLVMBasicBlockRef then = block_append(m, "store");
        after = block_append(m, "stored");
        LLVMBuildCondBr(m->b, scalar, then, after);
        emit_block(e, then);
    }
    V address = place_pointer(e, element, pointer, line, &p);
    if (!vector) {
        LLVMSetAlignment(LLVMBuildStore(m->b, value, address), align);
    } else if (p.kind == FORM_UNIT) {
        store_row(e, value, address, mask, align);
    } else if (p.kind == FORM_REVERSE) {
        address = offset_pointer(e, element, address, const_int(m, 64, 1 - (int64_t)e->lanes));
        store_row(e, reverse(e, value), address, mask ? reverse(e, mask) : NULL, align);
    } else {
        store_scatter(e, value, address, element, &p, mask, align);
    }
    if (after) {
        LLVMBuildBr(m->b, after);
        emit_block(e, after);
    }
}

/* ---- kept rows ---- */

T row_type(const struct emitter *e, enum ktype type)
{
    return type == KT_BOOL ? type_int(&e->m, 8) : type_of(e, type);
}

static V row_bytes(struct emitter *e)
{
    const struct kernel *k = e->k;
    const struct build *m = &e->m;
    V size = const_int(m, 64, (int64_t)e->row_element * (e->vector_parallel ? KERNEL_LANES : 1));
    for (uint32_t r = 0; r < k->reduced_count; r++) {
        V n = number_value(e, e->var_number[k->parallel_count + r]);
        emit_at(e, LEVEL_ENTRY);
        size = LLVMBuildMul(m->b, size, n, "");
    }
    emit_at(e, LEVEL_ENTRY);
    size = LLVMBuildAdd(m->b, size, const_int(m, 64, 63), "");
    return LLVMBuildAnd(m->b, size, const_int(m, 64, -64), "row");
}

static V row_address(struct emitter *e, const struct kexpr *x)
{
    const struct build *m = &e->m;
    V bytes = row_bytes(e), slot = const_int(m, 64, x->keep);
    V offset = LLVMBuildMul(m->b, bytes, slot, "");
    V row = LLVMBuildGEP2(m->b, type_int(m, 8), e->scratch, &offset, 1, "row");
    V index = reduced_index(e);
    emit_at(e, e->inner_level);
    if (e->vector_parallel)
        index = LLVMBuildMul(m->b, index, const_int(m, 64, KERNEL_LANES), "");
    return LLVMBuildGEP2(m->b, row_type(e, x->type), row, &index, 1, "");
}

/* The mask of a row access: rows of a PARALLEL vector variable have room for every lane. */
static V row_mask(const struct emitter *e)
{
    return e->lanes > 1 && e->vector_reduced ? e->mask : NULL;
}

V emit_row_load(struct emitter *e, uint32_t expr)
{
    const struct kexpr *x = &e->k->exprs[expr];
    const struct build *m = &e->m;
    V address = row_address(e, x), value;
    T type = type_lanes(row_type(e, x->type), e->lanes);
    uint32_t align = (uint32_t)ktype_size(x->type);
    value = row_mask(e) ? masked_load(e, type, address, row_mask(e), align) : load_vector(e, type, address, align);
    if (x->type == KT_BOOL)
        value = LLVMBuildTrunc(m->b, value, type_lanes(type_i1(m), e->lanes), "");
    return value;
}

void emit_row_store(struct emitter *e, uint32_t expr, V value)
{
    const struct kexpr *x = &e->k->exprs[expr];
    const struct build *m = &e->m;
    V address = row_address(e, x);
    emit_here(e);
    if (x->type == KT_BOOL)
        value = LLVMBuildZExt(m->b, value, type_lanes(row_type(e, x->type), lanes_of(value)), "");
    store_row(e, value, address, row_mask(e), (uint32_t)ktype_size(x->type));
}

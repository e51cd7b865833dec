/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes a standalone object's program as code, in these functions:
 *
 *   PREFIX_run(in..., out...)                       malloc, PREFIX_run_with, free
 *   PREFIX_run_with(workspace, parallel, in..., out...)   aligns the workspace, puts the pointers into an array, compute
 *   compute(workspace, parallel, bindings)          the steps, one after the other; loops of recurrent operators
 *   dispatch(kernel, tensors, numbers, ...)         one kernel: on this thread, or in parts by the caller's parallel-for
 *   part(job, i, parts)                             one part: the units that are its share
 *
 * The workspace is the arena, then the scratch of each thread.  Nothing here calls the C library but malloc and free in
 * PREFIX_run; copies are loops of our own, since not everything that a firmware or a WebAssembly module links has memcpy.
 */
#include "codegen/object/object_module.h"

#include <stdlib.h>

enum {
    THREADS_MAX = 1024, /* among which a kernel's units may be divided: how many the caller has is known when it runs */
};

/* Holds the functions of the object's own, and what compute has at hand. */
struct runner {
    struct object_module *o;
    V part, dispatch, copy, compute;
    T job;                                /* what a part gets: kernel, tensors, numbers, scratch, units */
    const struct object_variant *variant; /* whose steps are written */
    V workspace, scratch, parallel, constants, tensors;
    V *bindings; /* inputs, then outputs */
    V iteration; /* of the loop that is being written */
    int64_t scratch_stride;
    V table;         /* of what levels have for the steps, or NULL */
    V row;           /* of the processor's level: [kernel] of entry */
    T entry;         /* kernel, numbers, units, parts */
    uint32_t kernel; /* the next step's, if it is a kernel: steps are written in their order */
    uint32_t move;   /* the first move of the step that is being written, or of a later one */
};

static V field(const struct object_module *o, T type, V pointer, uint32_t index)
{
    return LLVMBuildStructGEP2(o->m.b, type, pointer, index, "");
}

static V load_field(const struct object_module *o, T type, V pointer, uint32_t index, T as)
{
    return LLVMBuildLoad2(o->m.b, as, field(o, type, pointer, index), "");
}

static T struct_type(const struct object_module *o, T *members, uint32_t count)
{
    return LLVMStructTypeInContext(o->m.context, members, count, false);
}

/* ---- one kernel ---- */

enum { JOB_KERNEL, JOB_TENSORS, JOB_NUMBERS, JOB_SCRATCH, JOB_UNITS };

static T kernel_type(const struct object_module *o)
{
    return LLVMFunctionType(LLVMVoidTypeInContext(o->m.context), (T[]){o->ptr, o->i64, o->i64}, 3, false);
}

/* Writes void part(void *job, uint32_t i, uint32_t parts).  Parts differ by one unit at most. */
static void emit_part(struct runner *r)
{
    struct object_module *o = r->o;
    LLVMBuilderRef b = o->m.b;
    T args_type = struct_type(o, (T[]){o->ptr, o->ptr, o->ptr}, 3);

    r->part = object_internal(o, "part", LLVMVoidTypeInContext(o->m.context), (T[]){o->ptr, o->i32, o->i32}, 3);
    V job = LLVMGetParam(r->part, 0);
    V i = LLVMBuildZExt(b, LLVMGetParam(r->part, 1), o->i64, ""),
      parts = LLVMBuildZExt(b, LLVMGetParam(r->part, 2), o->i64, "");
    V units = load_field(o, r->job, job, JOB_UNITS, o->i64);
    T count = o->m.target->isa.wide_division ? o->i64 : o->i32;
    V of = LLVMBuildTrunc(b, units, count, ""), by = LLVMBuildTrunc(b, parts, count, "");
    V each = LLVMBuildZExt(b, LLVMBuildUDiv(b, of, by, ""), o->i64, "");
    V rest = LLVMBuildZExt(b, LLVMBuildURem(b, of, by, ""), o->i64, "");
    V begin = LLVMBuildAdd(b, LLVMBuildMul(b, each, i, ""), call_intrinsic2(&o->m, "llvm.umin", i, rest), "begin");
    V more = LLVMBuildZExt(b, LLVMBuildICmp(b, LLVMIntULT, i, rest, ""), o->i64, "");
    V end = LLVMBuildAdd(b, begin, LLVMBuildAdd(b, each, more, ""), "end");
    V args = LLVMBuildAlloca(b, args_type, "args");
    V offset = LLVMBuildMul(b, i, llvm_number(&o->m, 64, r->scratch_stride), "");
    V scratch = object_offset(o, load_field(o, r->job, job, JOB_SCRATCH, o->ptr), offset);
    LLVMBuildStore(b, load_field(o, r->job, job, JOB_TENSORS, o->ptr), field(o, args_type, args, 0));
    LLVMBuildStore(b, load_field(o, r->job, job, JOB_NUMBERS, o->ptr), field(o, args_type, args, 1));
    LLVMBuildStore(b, scratch, field(o, args_type, args, 2));
    LLVMBuildCall2(b, kernel_type(o), load_field(o, r->job, job, JOB_KERNEL, o->ptr), (V[]){args, begin, end}, 3, "");
    LLVMBuildRetVoid(b);
}

/* Writes void dispatch(kernel, tensors, numbers, scratch, int64_t units, uint32_t parts, parallel). */
static void emit_dispatch(struct runner *r)
{
    struct object_module *o = r->o;
    LLVMBuilderRef b = o->m.b;
    T none = LLVMVoidTypeInContext(o->m.context);
    T parallel_type = struct_type(o, (T[]){o->i32, o->ptr, o->ptr}, 3); /* struct webnn_object_parallel */

    r->dispatch = object_internal(o, "dispatch", none, (T[]){o->ptr, o->ptr, o->ptr, o->ptr, o->i64, o->i32, o->ptr}, 7);
    V parallel = LLVMGetParam(r->dispatch, 6);
    V job = LLVMBuildAlloca(b, r->job, "job");
    for (uint32_t i = 0; i <= JOB_UNITS; i++)
        LLVMBuildStore(b, LLVMGetParam(r->dispatch, i), field(o, r->job, job, i));
    LLVMBasicBlockRef given = block_append(&o->m, "given"), several = block_append(&o->m, "several"),
                      serial = block_append(&o->m, "serial");
    LLVMBuildCondBr(b, LLVMBuildIsNull(b, parallel, ""), serial, given);

    LLVMPositionBuilderAtEnd(b, given);
    V threads = load_field(o, parallel_type, parallel, 0, o->i32);
    V count = call_intrinsic2(&o->m, "llvm.umin", threads, LLVMGetParam(r->dispatch, 5));
    object_branch(o, LLVMBuildICmp(b, LLVMIntUGT, count, object_number(o, 1), ""), several, serial);
    V user = load_field(o, parallel_type, parallel, 2, o->ptr), run = load_field(o, parallel_type, parallel, 1, o->ptr);
    LLVMBuildCall2(b, LLVMFunctionType(none, (T[]){o->ptr, o->i32, o->ptr, o->ptr}, 4, false), run,
                   (V[]){user, count, r->part, job}, 4, "");
    LLVMBuildRetVoid(b);

    LLVMPositionBuilderAtEnd(b, serial);
    object_call(o, r->part, (V[]){job, object_number(o, 0), object_number(o, 1)}, 3);
    LLVMBuildRetVoid(b);
}

/* ---- copies ---- */

/* Emits for (at = 0; at < bytes; at += width) to[at] = from[at]. */
static void emit_copy_loop(struct runner *r, uint32_t width)
{
    struct object_module *o = r->o;
    LLVMBuilderRef b = o->m.b;
    V to = LLVMGetParam(r->copy, 0), from = LLVMGetParam(r->copy, 1), bytes = LLVMGetParam(r->copy, 2);
    T type = llvm_int(&o->m, 8 * width);

    const struct llvm_loop l = llvm_loop_begin(&o->m, llvm_number(&o->m, 64, 0)); /* there is at least one element */
    V element = LLVMBuildLoad2(b, type, object_offset(o, from, l.at), "");
    LLVMSetAlignment(element, width);
    LLVMSetAlignment(LLVMBuildStore(b, element, object_offset(o, to, l.at)), width);
    llvm_loop_end(&o->m, &l, LLVMBuildAdd(b, l.at, llvm_number(&o->m, 64, width), ""), bytes, LLVMIntULT);
    LLVMBuildRetVoid(b);
}

static void emit_copy(struct runner *r)
{
    struct object_module *o = r->o;
    LLVMBuilderRef b = o->m.b;

    r->copy = object_internal(o, "copy", LLVMVoidTypeInContext(o->m.context), (T[]){o->ptr, o->ptr, o->i64}, 3);
    V bits = LLVMGetParam(r->copy, 2);
    for (uint32_t i = 0; i < 2; i++)
        bits = LLVMBuildOr(b, bits, LLVMBuildPtrToInt(b, LLVMGetParam(r->copy, i), o->i64, ""), "");
    bits = LLVMBuildAnd(b, bits, llvm_number(&o->m, 64, 7), "");
    LLVMBasicBlockRef words = block_append(&o->m, "words"), bytes = block_append(&o->m, "bytes");
    object_branch(o, LLVMBuildICmp(b, LLVMIntEQ, bits, llvm_number(&o->m, 64, 0), ""), words, bytes);
    emit_copy_loop(r, 8);
    LLVMPositionBuilderAtEnd(b, bytes);
    emit_copy_loop(r, 1);
}

/* ---- steps ---- */

static V location_pointer(const struct runner *r, const struct location *location)
{
    struct object_module *o = r->o;
    int64_t offset = location->offset;
    V base = NULL;

    switch (location->kind) {
    case LOCATION_ARENA:
        base = r->workspace;
        break;
    case LOCATION_INPUT:
        base = r->bindings[location->slot];
        break;
    case LOCATION_OUTPUT:
        base = r->bindings[o->p->input_count + location->slot];
        break;
    case LOCATION_CONSTANT:
        base = r->constants;
        offset += r->variant->constant_offsets[location->slot];
        break;
    }
    return offset ? object_offset(o, base, llvm_number(&o->m, 64, offset)) : base;
}

/* Returns the address that iteration i of a loop finds: i * stride further, or, with a first location of its own, (i - 1) *
 * stride from the second on. */
static V moved_pointer(const struct runner *r, const struct location *location, const struct program_move *m)
{
    struct object_module *o = r->o;
    LLVMBuilderRef b = o->m.b;
    V i = r->iteration;

    if (m->has_first)
        i = LLVMBuildSub(b, i, llvm_number(&o->m, 64, 1), "");
    V at = object_offset(o, location_pointer(r, location), LLVMBuildMul(b, i, llvm_number(&o->m, 64, m->stride), ""));
    if (!m->has_first)
        return at;
    V is_first = LLVMBuildICmp(b, LLVMIntEQ, r->iteration, llvm_number(&o->m, 64, 0), "");
    return LLVMBuildSelect(b, is_first, location_pointer(r, &m->first), at, "");
}

static V step_pointer(const struct runner *r, uint32_t step, uint32_t location)
{
    const struct program *p = r->variant->program;
    const struct location *at = &p->steps[step].locations[location];

    for (uint32_t i = r->move; i < p->move_count && p->moves[i].step == step; i++)
        if (p->moves[i].location == location)
            return moved_pointer(r, at, &p->moves[i]);
    return location_pointer(r, at);
}

enum { ENTRY_KERNEL, ENTRY_NUMBERS, ENTRY_UNITS, ENTRY_PARTS, ENTRY_MEMBERS };

/* Makes the constants that the step of a kernel passes to dispatch. */
static void make_entry(const struct runner *r, uint32_t level, uint32_t kernel, V members[ENTRY_MEMBERS])
{
    struct object_module *o = r->o;
    const struct schedule *s = o->p->levels[level].kernels[kernel];
    const uint32_t index = level * o->p->kernel_count + kernel;

    members[ENTRY_KERNEL] = o->kernels[index];
    members[ENTRY_NUMBERS] = o->params[index];
    members[ENTRY_UNITS] = llvm_number(&o->m, 64, s->units);
    members[ENTRY_PARTS] = object_number(o, program_kernel_parts(s->cost.operations, s->cost.bytes, s->units, THREADS_MAX));
}

/* Emits the loads of the same from the row of the processor's level. */
static void load_entry(const struct runner *r, V members[ENTRY_MEMBERS])
{
    const struct object_module *o = r->o;
    V entry = object_element(o, r->entry, r->row, llvm_number(&o->m, 64, r->kernel));

    for (uint32_t i = 0; i < ENTRY_MEMBERS; i++)
        members[i] = load_field(o, r->entry, entry, i, (T[]){o->ptr, o->ptr, o->i64, o->i32}[i]);
}

/* Adds the table of all levels' entries.  Returns false if memory runs out. */
static bool add_table(struct runner *r)
{
    struct object_module *o = r->o;
    const uint32_t levels = o->p->level_count, kernels = o->p->kernel_count;
    V *entries = calloc(kernels + 1u, sizeof *entries), rows[OBJECT_LEVELS_MAX], members[ENTRY_MEMBERS];

    if (!entries)
        return false;
    r->entry = struct_type(o, (T[]){o->ptr, o->ptr, o->i64, o->i32}, ENTRY_MEMBERS);
    for (uint32_t l = 0; l < levels; l++) {
        for (uint32_t k = 0; k < kernels; k++) {
            make_entry(r, l, k, members);
            entries[k] = LLVMConstStructInContext(o->m.context, members, ENTRY_MEMBERS, false);
        }
        rows[l] = LLVMConstArray2(r->entry, entries, kernels);
    }
    free(entries);
    r->table = object_global(o, "levels", LLVMConstArray2(LLVMTypeOf(rows[0]), rows, levels), 8, false);
    return true;
}

static void emit_step(struct runner *r, uint32_t step)
{
    struct object_module *o = r->o;
    const struct program *p = r->variant->program;
    const struct program_step *s = &p->steps[step];

    while (r->move < p->move_count && p->moves[r->move].step < step)
        r->move++;
    if (s->kind == STEP_COPY) {
        V args[3] = {step_pointer(r, step, 1), step_pointer(r, step, 0), llvm_number(&o->m, 64, s->locations[0].bytes)};
        object_call(o, r->copy, args, 3);
        return;
    }
    for (uint32_t i = 0; i < s->location_count; i++) {
        V pointer = step_pointer(r, step, i);
        LLVMBuildStore(o->m.b, pointer, object_element(o, o->ptr, r->tensors, llvm_number(&o->m, 64, i)));
    }
    V members[ENTRY_MEMBERS];
    if (r->row)
        load_entry(r, members);
    else
        make_entry(r, 0, r->kernel, members);
    V args[7] = {members[ENTRY_KERNEL], r->tensors, members[ENTRY_NUMBERS], r->scratch, members[ENTRY_UNITS],
                 members[ENTRY_PARTS],  r->parallel};
    object_call(o, r->dispatch, args, 7);
    r->kernel++;
}

/* Iterations after the loop has stopped are none; the first one may be. */
static void emit_loop_of_steps(struct runner *r, const struct program_loop *l)
{
    struct object_module *o = r->o;
    LLVMBuilderRef b = o->m.b;
    const struct llvm_loop loop = llvm_loop_begin(&o->m, llvm_number(&o->m, 64, 0));
    V next = LLVMBuildAdd(b, loop.at, llvm_number(&o->m, 64, 1), ""), high = llvm_number(&o->m, 64, l->iterations);
    LLVMBasicBlockRef after = NULL;

    r->iteration = loop.at;
    if (l->stop) {
        V flag = LLVMBuildLoad2(b, llvm_int(&o->m, 8),
                                location_pointer(r, &r->variant->program->steps[l->stop - 1].locations[1]), "");
        V stopped = LLVMBuildICmp(b, LLVMIntNE, flag, llvm_number(&o->m, 8, 0), "");
        LLVMBasicBlockRef body = block_append(&o->m, "steps");

        after = block_append(&o->m, "after");
        high = LLVMBuildSelect(b, stopped, llvm_number(&o->m, 64, 0), high, "");
        LLVMBuildCondBr(b, stopped, after, body);
        LLVMPositionBuilderAtEnd(b, body);
    }
    for (uint32_t s = l->first; s < l->first + l->count; s++)
        emit_step(r, s);
    if (l->stop) {
        LLVMBuildBr(b, after);
        LLVMPositionBuilderAtEnd(b, after);
    }
    llvm_loop_end(&o->m, &loop, next, high, LLVMIntULT);
}

static void emit_steps(struct runner *r)
{
    const struct program *p = r->variant->program;
    uint32_t step = 0;

    r->move = 0;

    for (uint32_t l = 0; l < p->loop_count; l++) {
        for (; step < p->loops[l].first; step++)
            emit_step(r, step);
        emit_loop_of_steps(r, &p->loops[l]);
        step += p->loops[l].count;
    }
    for (; step < p->step_count; step++)
        emit_step(r, step);
}

/* Writes int compute(void *workspace, const struct webnn_object_parallel *parallel, void *const *bindings) for a variant. */
static bool emit_compute(struct runner *r)
{
    struct object_module *o = r->o;
    const struct object_program *p = o->p;
    LLVMBuilderRef b = o->m.b;
    uint32_t locations = 1, count = p->input_count + p->output_count;

    r->bindings = calloc(count + 1u, sizeof(V));
    if (!r->bindings)
        return false;
    r->compute = object_internal(o, "compute", o->i32, (T[]){o->ptr, o->ptr, o->ptr}, 3);
    r->row = r->table ? object_row(o, r->table) : NULL;
    for (uint32_t i = 0; i < r->variant->program->step_count; i++) {
        const uint32_t needed = r->variant->program->steps[i].location_count;
        locations = needed > locations ? needed : locations;
    }
    r->tensors = LLVMBuildAlloca(b, LLVMArrayType2(o->ptr, locations), "tensors");
    for (uint32_t i = 0; i < count; i++) {
        V address = object_element(o, o->ptr, LLVMGetParam(r->compute, 2), llvm_number(&o->m, 64, i));
        r->bindings[i] = LLVMBuildLoad2(b, o->ptr, address, i < p->input_count ? "input" : "output");
    }
    r->workspace = LLVMGetParam(r->compute, 0);
    r->parallel = LLVMGetParam(r->compute, 1);
    r->scratch = object_offset(o, r->workspace, llvm_number(&o->m, 64, target_align(object_workspace_bytes(p))));
    LLVMBasicBlockRef fail = p->constants.length && p->weights_path ? block_append(&o->m, "no.weights") : NULL;
    r->constants = p->constants.length ? object_constants(o, fail) : NULL;
    emit_steps(r);
    LLVMBuildRet(b, object_number(o, WEBNN_OBJECT_OK));
    if (fail)
        object_return(o, fail, WEBNN_OBJECT_BAD_WEIGHTS);
    free(r->bindings);
    return true;
}

/* ---- exported functions ---- */

static void emit_workspace_size(struct runner *r)
{
    struct object_module *o = r->o;
    LLVMBuilderRef b = o->m.b;

    o->workspace_size = object_function(o, "workspace_size", o->size, (T[]){o->i32}, 1);
    V threads = call_intrinsic2(&o->m, "llvm.umax", LLVMGetParam(o->workspace_size, 0), object_number(o, 1));
    threads = LLVMBuildIntCast2(b, threads, o->size, false, "");
    V scratch = LLVMBuildMul(b, threads, object_size(o, (uint64_t)r->scratch_stride), "");
    LLVMBuildRet(b, LLVMBuildAdd(b, scratch, object_size(o, (uint64_t)object_workspace(o->p).fixed), ""));
}

/* Emits the call of the variant that has the sizes, which are parameters of a function from `first` on. */
static void emit_choice(struct runner *r, V function, uint32_t first, const V *computes, V *args)
{
    struct object_module *o = r->o;
    LLVMBuilderRef b = o->m.b;

    for (uint32_t v = 0; v < o->p->variant_count; v++) {
        V other = LLVMConstInt(llvm_int(&o->m, 1), 0, false);
        for (uint32_t i = 0; i < o->p->size_count; i++) {
            V size = object_number(o, o->p->variants[v].sizes[i]);
            other = LLVMBuildOr(b, other, LLVMBuildICmp(b, LLVMIntNE, LLVMGetParam(function, first + i), size, ""), "");
        }
        LLVMBasicBlockRef next = o->p->size_count ? block_append(&o->m, "next") : NULL;
        if (next)
            object_branch(o, LLVMBuildNot(b, other, ""), block_append(&o->m, "these"), next);
        LLVMBuildRet(b, object_call(o, computes[v], args, 3));
        if (next)
            LLVMPositionBuilderAtEnd(b, next);
    }
    if (o->p->size_count)
        LLVMBuildRet(b, object_number(o, WEBNN_OBJECT_BAD_SIZE));
}

static bool emit_run_with(struct runner *r, const V *computes)
{
    struct object_module *o = r->o;
    LLVMBuilderRef b = o->m.b;
    uint32_t first = 2 + o->p->size_count, count = o->p->input_count + o->p->output_count;
    T *params = object_run_params(o, 2, (T[2]){o->ptr, o->ptr});

    if (!params)
        return false;
    o->run_with = object_function(o, "run_with", o->i32, params, first + count);
    free(params);
    V workspace = LLVMGetParam(o->run_with, 0), missing = LLVMBuildIsNull(b, workspace, "");
    V bindings = object_pointers(o, o->run_with, first, count, &missing);
    LLVMBasicBlockRef wrong = block_append(&o->m, "wrong"), right = block_append(&o->m, "right");
    object_branch(o, missing, wrong, right);
    LLVMBuildRet(b, object_number(o, WEBNN_OBJECT_BAD_ARGUMENT));
    LLVMPositionBuilderAtEnd(b, right);
    V address = LLVMBuildPtrToInt(b, workspace, o->size, "");
    V gap = LLVMBuildAnd(b, LLVMBuildNeg(b, address, ""), object_size(o, TARGET_ALIGNMENT - 1), "");
    V args[3] = {object_offset(o, workspace, gap), LLVMGetParam(o->run_with, 1), bindings};
    emit_choice(r, o->run_with, 2, computes, args);
    return true;
}

static bool emit_run(struct object_module *o)
{
    LLVMBuilderRef b = o->m.b;
    uint32_t count = o->p->size_count + o->p->input_count + o->p->output_count;
    T *params = object_run_params(o, 0, NULL), none = LLVMVoidTypeInContext(o->m.context);
    V *args = calloc(2u + count, sizeof *args);

    if (!params || !args) {
        free(params);
        free(args);
        return false;
    }
    o->run = object_function(o, "run", o->i32, params, count);
    /* A program without malloc leaves the function out by itself (--gc-sections), which is easier where it has a section. */
    if (object_target_is_bare(o->p->levels[0].target))
        LLVMSetSection(o->run, ".text.run");
    V one = object_number(o, 1), bytes = object_call(o, o->workspace_size, &one, 1);
    V memory = object_call(o, object_external(o, "malloc", o->ptr, &o->size, 1, false), &bytes, 1);
    LLVMBasicBlockRef fail = block_append(&o->m, "no.memory"), go = block_append(&o->m, "go");
    object_branch(o, LLVMBuildIsNull(b, memory, ""), fail, go);
    LLVMBuildRet(b, object_number(o, WEBNN_OBJECT_NO_MEMORY));
    LLVMPositionBuilderAtEnd(b, go);
    args[0] = memory;
    args[1] = LLVMConstNull(o->ptr);
    for (uint32_t i = 0; i < count; i++)
        args[2 + i] = LLVMGetParam(o->run, i);
    V result = object_call(o, o->run_with, args, 2 + count);
    object_call(o, object_external(o, "free", none, &o->ptr, 1, false), &memory, 1);
    LLVMBuildRet(b, result);
    free(params);
    free(args);
    return true;
}

bool object_emit_run(struct object_module *o)
{
    struct runner r = {.o = o,
                       .job = struct_type(o, (T[]){o->ptr, o->ptr, o->ptr, o->ptr, o->i64}, 5),
                       .scratch_stride = object_workspace(o->p).per_thread};

    emit_part(&r);
    emit_dispatch(&r);
    emit_copy(&r);
    emit_workspace_size(&r);
    V *computes = calloc(o->p->variant_count + 1u, sizeof *computes);
    bool ok = computes && (!o->level || add_table(&r));
    for (uint32_t v = 0; ok && v < o->p->variant_count; v++) {
        r.variant = &o->p->variants[v];
        ok = emit_compute(&r);
        computes[v] = r.compute;
    }
    ok = ok && emit_run_with(&r, computes) && emit_run(o);
    free(computes);
    return ok;
}

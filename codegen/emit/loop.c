/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits loops over one variable.
 */
#include "codegen/emit/loop.h"

struct loop loop_begin(struct emitter *e, V from, const char *name)
{
    frame_here(&e->frame);
    const struct loop l = build_loop_begin(&e->m, from, name);

    frame_continue(&e->frame, l.body);
    return l;
}

void loop_end(struct emitter *e, const struct loop *l, V next, V high, const char *name)
{
    frame_here(&e->frame);
    build_loop_end(&e->m, l, next, high, LLVMIntSLT, name);
    frame_continue(&e->frame, LLVMGetInsertBlock(e->m.b));
}

void loop_end_step(struct emitter *e, const struct loop *l, V step, V high, const char *name)
{
    frame_here(&e->frame);
    loop_end(e, l, LLVMBuildAdd(e->m.b, l->at, step, ""), high, name);
}

void range_begin(struct emitter *e, struct range_loop *l, const char *name)
{
    const struct build *m = &e->m;

    l->before = e->frame.tail;
    l->body = block_append(m, name);
    l->after = block_append(m, "after");
    LLVMBuildCondBr(m->b, LLVMBuildICmp(m->b, l->holds, l->from, l->last, ""), l->body, l->after);
    frame_continue(&e->frame, l->body);
    l->at = l->once ? l->from : LLVMBuildPhi(m->b, LLVMTypeOf(l->from), name);
}

V range_end(struct emitter *e, const struct range_loop *l)
{
    const struct build *m = &e->m;

    frame_here(&e->frame);
    V next = LLVMBuildAdd(m->b, l->at, l->step, ""), values[2] = {l->from, next};
    LLVMBasicBlockRef blocks[2] = {l->before, e->frame.tail};
    if (l->once) {
        LLVMBuildBr(m->b, l->after);
    } else {
        LLVMBuildCondBr(m->b, LLVMBuildICmp(m->b, l->holds, next, l->last, ""), l->body, l->after);
        LLVMAddIncoming(l->at, values, blocks, 2);
    }
    frame_continue(&e->frame, l->after);
    V stopped = LLVMBuildPhi(m->b, LLVMTypeOf(next), "");
    LLVMAddIncoming(stopped, values, blocks, 2);
    return stopped;
}

void loop_variable(struct emitter *e, const struct context *cx, uint32_t level, uint32_t var, V low, V high, loop_body body,
                   void *user)
{
    const struct loop l = loop_begin(e, low, "loop");

    frame_open(&e->frame, level);
    e->frame.var_value[var] = l.at;
    body(e, cx, user);
    loop_end_step(e, &l, const_int(&e->m, 64, 1), high, "done");
}

/* Holds what the context of an iteration refers to. */
struct strip_state {
    V vector_base[COPIES_MAX];
    struct transposed_tile transposed;
};

static struct context strip_context(const struct build *m, const struct context *cx, const struct strip *s, V i, V high,
                                    struct strip_state *state)
{
    struct context of = *cx;

    of.lanes = s->lanes;
    of.copies = s->copies;
    of.vector_base = state->vector_base;
    for (uint32_t c = 0; c < s->copies; c++)
        state->vector_base[c] = c && !s->transposed ? LLVMBuildAdd(m->b, i, const_int(m, 64, (int64_t)s->lanes * c), "") : i;
    if (s->transposed) {
        state->transposed = *s->transposed;
        of.transposed = &state->transposed;
    }
    if (s->masked) {
        V left = LLVMBuildSub(m->b, high, i, "");
        left = op_intrinsic2(m, "llvm.smin", left, const_int(m, 64, s->lanes));
        state->transposed.lanes = of.left = left;
        left = splat(m, LLVMBuildTrunc(m->b, left, type_int(m, 32), ""), s->lanes);
        of.mask = LLVMBuildICmp(m->b, LLVMIntULT, const_iota(m, 32, s->lanes), left, "mask");
    }
    return of;
}

V loop_strip(struct emitter *e, const struct context *cx, V from, V high, struct strip s, loop_body body, void *user)
{
    const struct build *m = &e->m;
    struct strip_state state;
    uint32_t length = s.transposed ? s.lanes : s.lanes * s.copies;
    struct range_loop l = {.from = from, .step = const_int(m, 64, length), .last = high, .holds = LLVMIntSLT, .once = s.once};

    frame_here(&e->frame);
    if (!s.masked && length > 1) { /* i + step <= high */
        l.last = LLVMBuildSub(m->b, high, l.step, "");
        l.holds = LLVMIntSLE;
    }
    range_begin(e, &l, "vector");
    frame_open(&e->frame, e->info.vector_level);
    const struct context of = strip_context(m, cx, &s, l.at, high, &state);
    body(e, &of, user);
    return range_end(e, &l);
}

void loop_vectors(struct emitter *e, const struct context *cx, V low, V high, uint32_t copies, loop_body body, void *user)
{
    uint32_t width = e->s->lanes;
    int64_t fixed = LLVMIsAConstantInt(low) && LLVMIsAConstantInt(high)
                        ? LLVMConstIntGetSExtValue(high) - LLVMConstIntGetSExtValue(low)
                        : INT64_MAX;

    if (width == 1) {
        loop_strip(e, cx, low, high, (struct strip){.lanes = 1, .copies = 1}, body, user);
        return;
    }
    if (e->k->rare && e->s->edges.masked_tail) { /* one code for all, whatever the mask costs */
        loop_strip(e, cx, low, high, (struct strip){.lanes = width, .copies = 1, .masked = true}, body, user);
        return;
    }
    if (e->s->wide_vectors > 1 && fixed >= e->s->wide_vectors * width)
        low = loop_strip(e, cx, low, high, (struct strip){.lanes = e->s->wide_vectors * width, .copies = 1}, body, user);
    else if (copies > 1 && fixed >= copies * width)
        low = loop_strip(e, cx, low, high, (struct strip){.lanes = width, .copies = copies}, body, user);
    bool several = copies > 1 || e->s->wide_vectors > 1;
    if ((!several || !e->s->edges.masked_tail) && fixed >= width)
        low = loop_strip(e, cx, low, high, (struct strip){.lanes = width, .copies = 1}, body, user);
    if (!several && fixed != INT64_MAX && fixed % width == 0)
        return; /* nothing is left */
    if (e->s->edges.masked_tail)
        loop_strip(e, cx, low, high, (struct strip){.lanes = width, .copies = 1, .masked = true, .once = !several}, body, user);
    else
        loop_strip(e, cx, low, high, (struct strip){.lanes = 1, .copies = 1}, body, user);
}

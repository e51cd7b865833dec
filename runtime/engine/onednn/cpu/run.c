/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs a step.  The library's memory objects, which hold the pointers of one run, are in bindings, one set per invocation: a
 * run stores pointers and calls the primitive, and no two threads meet.
 */
#include "runtime/engine/onednn/cpu/library_cpu.h"
#include "runtime/engine/onednn/onednn_step.h"

struct library_bindings {
    const struct library_step *step;
    dnnl_stream_t stream;
    uint32_t counts[CALLS_MAX];
    dnnl_exec_arg_t args[CALLS_MAX][ARGS_MAX];
};

/* ---- bindings ---- */

static bool bind_call(struct library_bindings *b, uint32_t index)
{
    const struct library_step *s = b->step;
    const struct primitive_call *c = &s->calls[index];

    for (uint32_t i = 0; i < c->count; i++) {
        const struct argument *a = &c->args[i];
        void *data = a->source == FROM_CONSTANT ? (void *)a->data : DNNL_MEMORY_NONE;

        b->args[index][i].arg = a->id;
        if (dnnl_memory_create(&b->args[index][i].memory, a->md, s->library->engine, data) != dnnl_success)
            return false;
        b->counts[index]++;
    }
    return true;
}

static dnnl_status_t bind_calls(void *user)
{
    struct library_bindings *b = user;
    const struct library_step *s = b->step;
    dnnl_status_t status = dnnl_stream_create(&b->stream, s->library->engine, dnnl_stream_default_flags);

    for (uint32_t i = 0; status == dnnl_success && i < s->call_count; i++)
        if (!bind_call(b, i))
            status = dnnl_out_of_memory;
    return status;
}

struct library_bindings *library_bindings_create(const struct library_step *s, struct error *e)
{
    struct library_bindings *b = calloc(1, sizeof *b);

    if (!b) {
        error_out_of_memory(e);
        return NULL;
    }
    b->step = s;
    if (memory_has_room(DNN_ROOM_BYTES) && dnn_protect(bind_calls, b) == dnnl_success)
        return b;
    error_out_of_memory(e);
    library_bindings_free(b);
    return NULL;
}

void library_bindings_free(struct library_bindings *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; i < CALLS_MAX; i++)
        for (uint32_t k = 0; k < b->counts[i]; k++)
            dnnl_memory_destroy(b->args[i][k].memory);
    if (b->stream)
        dnnl_stream_destroy(b->stream);
    free(b);
}

/* ---- running ---- */

struct step_run_call {
    const struct library_step *s;
    struct library_bindings *b;
    const void *const *inputs;
    void *output, *scratch;
};

static dnnl_status_t run_calls(void *user)
{
    const struct step_run_call *r = user;
    const struct library_step *s = r->s;

    for (uint32_t i = 0; i < s->call_count; i++) {
        const struct primitive_call *c = &s->calls[i];
        dnnl_status_t status;

        for (uint32_t k = 0; k < c->count; k++) {
            const struct argument *a = &c->args[k];
            void *data = NULL;

            switch (a->source) {
            case FROM_INPUT:
                data = (void *)r->inputs[a->input];
                break;
            case FROM_OUTPUT:
                data = r->output;
                break;
            case FROM_SCRATCH:
                data = (char *)r->scratch + a->offset;
                break;
            case FROM_CONSTANT:
                continue;
            }
            status = dnnl_memory_set_data_handle(r->b->args[i][k].memory, data);
            if (status != dnnl_success)
                return status;
        }
        status = dnnl_primitive_execute(c->primitive, r->b->stream, (int)c->count, r->b->args[i]);
        if (status != dnnl_success)
            return status;
    }
    return dnnl_stream_wait(r->b->stream);
}

/** Writes the zero point of a contraction of integers where the primitive reads it. */
static void widen_zero(const struct late_zero *z, const void *const *inputs, void *scratch)
{
    const void *byte = inputs[z->input];

    *(int32_t *)((char *)scratch + z->offset) = z->type == dnnl_u8 ? *(const uint8_t *)byte : *(const int8_t *)byte;
}

bool library_step_run(const struct library_step *s, struct library_bindings *b, const void *const *inputs, void *output,
                      void *scratch)
{
    if (s->scaling.repeat)
        dnn_scale(&s->scaling, s->scaling.constant ? s->scaling.constant : inputs[s->scaling.input],
                  s->scaling.offset < 0 ? output : (float *)((char *)scratch + s->scaling.offset));
    for (int i = 0; i < 2; i++) {
        const struct low_precision_operand *n = &s->low_precision_operands[i];

        if (s->late_zeros[i].type)
            widen_zero(&s->late_zeros[i], inputs, scratch);
        if (n->conversion.parts)
            dnn_convert(s->library, &n->conversion, n->constant ? n->constant : inputs[n->input], (char *)scratch + n->offset);
    }
    return dnn_protect(run_calls, &(struct step_run_call){s, b, inputs, output, scratch}) == dnnl_success;
}

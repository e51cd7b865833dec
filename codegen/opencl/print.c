/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints whole kernels: the function's head, and the body, which codegen/lower makes.
 */
#include "codegen/lower/lower.h"
#include "codegen/opencl/internal.h"
#include "ir/support/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- the function ---- */

static void put_head(struct printer *p, const char *name, uint32_t params)
{
    const struct kernel *k = p->k;
    const struct gpu_schedule *s = p->s;
    const char *separator = "";

    put(p, "__kernel __attribute__((reqd_work_group_size(%u, %u, %u)))\nvoid %s(", s->local[0], s->local[1], s->local[2], name);
    for (uint32_t i = 0; i < k->tensor_count; i++, separator = ", ")
        put(p, "%s__global uchar *b%u, ulong o%u", separator, i, i);
    if (k->stage_count) {
        put(p, "%s__global uchar *bs, ulong os", separator);
        separator = ", ";
    }
    for (uint32_t i = 0; i < params; i++, separator = ", ")
        put(p, "%s%s p%u", separator, s->wide ? "long" : "int", i);
    put_line(p, ")\n{");
    for (uint32_t i = 0; i < k->tensor_count; i++) {
        const char *type =
            text_of(p, "%s%s", k->tensors[i].written ? "" : "const ", type_text(p, storage_type(k->tensors[i].type), false));
        put_line(p, "  __global %s *t%u = (__global %s *)(b%u + o%u);", type, i, type, i, i);
    }
}

/* Every device takes so many bytes of arguments. */
enum { ARGUMENT_BYTES = 1024 };

/* Appends the parameters of a kernel, or of all stages one after the other.  Returns false if memory runs out. */
static bool append_params(const struct kernel *k, struct arena *a, struct opencl_source *out)
{
    size_t capacity = 0;

    for (uint32_t i = 0; i < (k->stage_count ? k->stage_count : 1); i++) {
        struct knumbers numbers;
        if (!kernel_numbers(k->stage_count ? k->stages[i].kernel : k, KEXPR_NONE, a, &numbers))
            return false;
        if (!array_reserve(NULL, &out->params, &capacity, out->param_count + numbers.param_count + 1, sizeof *out->params))
            return false;
        if (numbers.param_count)
            memcpy(out->params + out->param_count, numbers.params, numbers.param_count * sizeof *out->params);
        out->param_count += numbers.param_count;
    }
    return true;
}

/* Returns whether the parameters have room among the arguments; else numbers become literals. */
static bool has_room(const struct kernel *k, const struct gpu_schedule *s, uint32_t params)
{
    const size_t buffers = k->tensor_count + (k->stage_count > 0);

    return buffers * 2 * sizeof(uint64_t) + params * (s->wide ? sizeof(int64_t) : sizeof(int32_t)) <= ARGUMENT_BYTES;
}

/* Writes the body.  The head comes later, when what it needs is known. */
static bool put_kernel_body(FILE *body, const struct kernel *k, const struct gpu_schedule *s, struct opencl_source *out,
                            struct operations *operations, struct arena *arena)
{
    struct loop_module *module = &operations->module;
    struct printer p = {.out = body, .k = k, .s = s, .operations = operations, .arena = arena, .depth = 1, .new_line = true};
    const struct build m = {&p.builder, &opencl_isa, s->wide ? 64 : 32};

    if (!append_params(k, arena, out))
        return false;
    const bool literals = !has_room(k, s, out->param_count);
    if (literals)
        out->param_count = 0;
    const struct loop_function *f = lower_items(module, &opencl_isa, s, literals, "kernel");
    if (!f || !loop_builder_begin(&p.builder, module, loop_function_add(module, "", NULL, 0, 0)))
        return false;
    p.m = &m;
    if (s->tile.matrix)
        put_line(&p, "MATRIX_MEMORY");
    put_body(&p, f);
    return !p.failed && !module->failed;
}

/* Writes what the body calls. */
static void put_callees(struct printer *p)
{
    if (p->s->tile.matrix)
        fputs(opencl_matrix_functions, p->out);
    for (uint32_t lanes = 2; lanes <= GPU_LANES_MAX; lanes *= 2) {
        bool has = p->s->lanes == lanes || (p->s->tile.matrix && lanes == GPU_MATRIX_CHUNK);
        for (uint32_t i = 0; i < p->k->stage_count; i++)
            has |= p->s->stages[i].lanes == lanes;
        if (has)
            put_lane_functions(p->out, lanes);
    }
    put_functions(p);
}

bool opencl_print(const struct kernel *k, const struct gpu_schedule *s, const char *name, struct opencl_source *out,
                  struct error *e)
{
    struct arena arena = {0};
    struct operations operations = {0};
    char *body_text = NULL;
    size_t body_size = 0, text_size = 0;
    FILE *body = open_memstream(&body_text, &body_size), *text;
    bool good = body != NULL;

    *out = (struct opencl_source){0};
    good = good && put_kernel_body(body, k, s, out, &operations, &arena);
    good = memory_stream_close(body, &body_text) && good;
    text = good ? open_memstream(&out->text, &text_size) : NULL;
    if (text) {
        struct printer p = {.out = text, .k = k, .s = s, .operations = &operations, .arena = &arena};
        put_callees(&p);
        put_head(&p, name, out->param_count);
        fputs(body_text, text);
        fputs("}\n", text);
        good = !p.failed;
    }
    good = memory_stream_close(text, &out->text) && good;
    free(body_text);
    loop_module_free(&operations.module);
    arena_free(&arena);
    if (!good) {
        opencl_source_free(out);
        return error_out_of_memory(e);
    }
    return true;
}

void opencl_source_free(struct opencl_source *s)
{
    free(s->text);
    free(s->params);
    *s = (struct opencl_source){0};
}

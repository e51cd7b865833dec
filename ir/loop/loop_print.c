/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints modules of the loop language:
 *
 *   kernel "scale" {
 *     v0: i64 = parameter 0
 *     v1: i64 = parameter 1
 *     v2: ptr = tensor 0
 *     v3: i64 = for v0, v1 at_least_once {
 *       v4: ptr = address f32 v2, v3
 *       v5: f32x8 = load v4 align 4
 *       v6: f32x8 = mul v5, f32x8(0.5)
 *       store v6, v4 align 4
 *       next i64(8)
 *     }
 *   }
 *
 * A line is an operation: its name and type if it returns something, the row's name, what `number`, `of` and the like are, and
 * the operands.  Constants stand where they are used: one number, or in parentheses as many as there are lanes.  "internal
 * kernel" or "internal function f(i64, f32x8) f32x8" begins other functions, and "kernel "scale" items 64, 1, 1" one for a
 * device's groups of so many work-items.
 */
#include "ir/loop/loop_internal.h"
#include "ir/support/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/text/print.h"

struct loop_value *loop_walk(const struct loop_function *f, const struct loop_value *before)
{
    const struct loop_region *inside = &f->body;

    if (!before)
        return inside->first;
    for (uint32_t i = 0; i < before->region_count; i++)
        if (before->regions[i].first)
            return before->regions[i].first;
    for (const struct loop_value *v = before; v; v = inside->owner) {
        if (v->next)
            return v->next;
        inside = v->region;
        if (inside->owner && inside == &inside->owner->regions[0] && inside->owner->region_count > 1 &&
            inside->owner->regions[1].first)
            return inside->owner->regions[1].first;
    }
    return NULL;
}

const char *const loop_for_words[] = {"whole_steps", "at_least_once", "at_most_once", "unrolled"};

uint32_t loop_number(const struct loop_function *f)
{
    uint32_t count = 0;

    for (struct loop_value *v = loop_walk(f, NULL); v; v = loop_walk(f, v))
        v->serial = count++;
    return count;
}

static void print_type(loop_type type, FILE *out)
{
    const uint32_t lanes = loop_type_lanes(type);

    fputs(loop_type_element(type) < LOOP_ELEMENTS ? loop_element_name(loop_type_element(type)) : "?", out);
    if (lanes != 1)
        fprintf(out, "x%u", lanes);
}

static void print_lane(enum loop_element element, uint64_t bits, FILE *out)
{
    union scalar s = {.u64 = bits};
    char text[NUMBER_TEXT_MAX];

    if (!loop_element_is_float(element))
        fprintf(out, "%" PRId64, element == LOOP_I1 ? (int64_t)bits : loop_extend(element, bits));
    else if (element == LOOP_F32 ? isnan(s.f32) : isnan(s.f64))
        fprintf(out, "0x%" PRIx64, bits);
    else
        fputs(scalar_print(text, s, element == LOOP_F32 ? WNNOperandDataType_Float32 : DTYPE_FLOAT64), out);
}

static void print_operand(const struct loop_value *v, FILE *out)
{
    uint64_t splat;

    if (v->op != LOOP_CONST) {
        fprintf(out, "v%u", v->serial);
        return;
    }
    print_type(v->type, out);
    fputc('(', out);
    for (uint32_t i = 0; i < (loop_is_splat(v, &splat) ? 1 : loop_type_lanes(v->type)); i++) {
        fputs(i ? ", " : "", out);
        print_lane(loop_type_element(v->type), v->bits[i], out);
    }
    fputc(')', out);
}

static void print_operands(const struct loop_value *v, FILE *out)
{
    for (uint32_t i = 0; i < v->arg_count; i++) {
        fputs(i ? ", " : "", out);
        print_operand(v->args[i], out);
    }
}

static void print_operation(const struct loop_value *v, FILE *out)
{
    if (v->type) {
        fprintf(out, "v%u: ", v->serial);
        print_type(v->type, out);
        fputs(" = ", out);
    }
    fprintf(out, "%s", loop_op_rows[v->op].name);
    if (v->op == LOOP_CALL || v->op == LOOP_ARGUMENTS) {
        fputc(' ', out);
        print_string(out, v->callee->name, strlen(v->callee->name));
        fputc('(', out);
        print_operands(v, out);
        fputs(")", out);
        if (v->op == LOOP_ARGUMENTS)
            fprintf(out, " from %" PRId64, v->number);
        return;
    }
    if (v->of) {
        fputc(' ', out);
        print_type(v->of, out);
    }
    if (loop_op_has_number((enum loop_op)v->op))
        fprintf(out, " %" PRId64, v->number);
    fputs(v->arg_count ? " " : "", out);
    print_operands(v, out);
    if (loop_op_is_access((enum loop_op)v->op))
        fprintf(out, " align %" PRId64, v->number);
    for (uint32_t i = 0; v->op == LOOP_SHUFFLE && i < loop_type_lanes(v->type); i++) {
        fputs(i ? ", " : " lanes(", out);
        if (v->lanes[i] == LOOP_ANY_LANE)
            fputs("any", out);
        else
            fprintf(out, "%u", v->lanes[i]);
    }
    fputs(v->op == LOOP_SHUFFLE ? ")" : "", out);
    for (uint32_t i = 0; v->op == LOOP_FOR && 1 << i < LOOP_FOR_NUMBERS; i++)
        if (v->number >> i & 1)
            fprintf(out, " %s", loop_for_words[i]);
}

static void print_region(const struct loop_region *g, uint32_t depth, FILE *out)
{
    for (const struct loop_value *v = g->first; v; v = v->next) {
        fprintf(out, "%*s", 2 * (int)depth, "");
        print_operation(v, out);
        for (uint32_t i = 0; i < v->region_count; i++) {
            fputs(i ? " else {\n" : " {\n", out);
            print_region(&v->regions[i], depth + 1, out);
            fprintf(out, "%*s}", 2 * (int)depth, "");
        }
        fputc('\n', out);
    }
}

void loop_print(const struct loop_module *m, FILE *out)
{
    for (const struct loop_function *f = m->first; f; f = f->next) {
        loop_number(f);
        fprintf(out, "%s%s ", f->internal ? "internal " : "", f->kernel ? "kernel" : "function");
        print_string(out, f->name, strlen(f->name));
        for (uint32_t i = 0; !f->kernel && i < f->param_count; i++) {
            fputs(i ? ", " : "(", out);
            print_type(f->params[i], out);
        }
        fputs(f->kernel ? "" : f->param_count ? ")" : "()", out);
        for (uint32_t d = 0; f->items[0] && d < LOOP_DIMENSIONS; d++)
            fprintf(out, "%s %u", d ? "," : " items", f->items[d]);
        if (f->result) {
            fputc(' ', out);
            print_type(f->result, out);
        }
        fputs(" {\n", out);
        print_region(&f->body, 1, out);
        fputs(f->next ? "}\n\n" : "}\n", out);
    }
}

bool loop_complain(struct error *e, const struct loop_function *f, const struct loop_value *v, const char *format, ...)
{
    const size_t used = e->status ? strlen(e->message) : 0;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return error_out_of_memory(e);
    fprintf(out, "%s%s: ", used ? "\n" : "", f->name);
    WITH_ARGUMENTS(format, vfprintf(out, format, arguments));
    if (v) {
        fputs(": ", out);
        print_operation(v, out);
    }
    if (memory_stream_close(out, &text) && (!used || used + size < sizeof e->message)) /* what has no room is left out */
        snprintf(e->message + used, sizeof e->message - used, "%s", text);
    e->status = WNNStatus_DataError;
    free(text);
    return false;
}

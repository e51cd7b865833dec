/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports ONNX control flow into a graph that has none: If with a condition that is known takes its branch, else where()
 * selects; Loop with a trip count that is known, and Scan, are loops of the builder (frontend/readers/onnx/control_loop.c).
 * With few iterations, or up to ITERATIONS_MAX where they cannot be loops, they are unrolled: the bodies' nodes come once for
 * every iteration.
 */
#include <stdio.h>
#include <string.h>

#include "frontend/readers/onnx/control_loop.h"
#include "frontend/readers/onnx/counted.h"
#include "frontend/readers/onnx/internal.h"
#include "frontend/readers/onnx/open.h"
#include "frontend/readers/onnx/compose.h"

enum {
    ITERATIONS_FEW = 16,      /* these are always unrolled */
    ITERATIONS_MAX = 1024,    /* more never: up to here values may change their shapes, and the reader computes constants */
    ITERATIONS_OPEN = 1 << 16 /* the most of a loop that only a condition ends */
};

static const char *condition_text(struct onnx_node *n, char text[ONNX_TEXT_MAX])
{
    const char *input = onnx_depends(n, 0);

    snprintf(text, ONNX_TEXT_MAX, "its condition depends on an input of the model%s%.100s%s", input ? ", \"" : "",
             input ? input : "", input ? "\"" : "");
    return text;
}

static const char *constant_hint(struct onnx_node *n, char text[ONNX_TEXT_MAX])
{
    const char *input = onnx_depends(n, 0);

    text[0] = '\0';
    if (input)
        snprintf(text, ONNX_TEXT_MAX, ": the value of %.100s, given by %s, says which branch is taken", input,
                 model_option_name(n->reader->options, MODEL_CONSTANTS));
    return text;
}

/** Refuses an If whose condition is not known, because a branch of it cannot be built. */
static bool refuse_branches(struct onnx_node *n, const char *const reasons[2])
{
    char about[ONNX_TEXT_MAX], hint[ONNX_TEXT_MAX];
    const bool both = reasons[0] && reasons[1];

    return onnx_refuse(n, "%s, so that both branches would be built, and %s cannot be%s: %.300s", condition_text(n, about),
                       both         ? "neither of them"
                       : reasons[1] ? "then_branch"
                                    : "else_branch",
                       constant_hint(n, hint), reasons[1] ? reasons[1] : reasons[0]);
}

/** Returns whether two results differ in the size of one dimension only, which is *axis then, or in none.  Of one without
 * elements the other sizes do not matter. */
static bool differ_in_size(const struct onnx_value *a, const struct onnx_value *b, uint32_t *axis)
{
    const struct onnx_value *none = onnx_elements(a) ? b : a;
    uint32_t count = 0;

    *axis = 0;
    if (a->type != b->type || a->rank != b->rank)
        return false;
    if (!onnx_elements(a) != !onnx_elements(b)) {
        while (none->dims[*axis])
            ++*axis;
        return true;
    }
    for (uint32_t d = 0; d < a->rank; d++)
        if (a->dims[d] != b->dims[d]) {
            *axis = d;
            count++;
        }
    return count <= 1;
}

/** Selects output i of two that differ in the size of a dimension: of the larger size, of which those of the one that is taken
 * count. */
static bool select_sized(struct onnx_node *n, size_t i, WNNOperand condition, struct onnx_value *yes, struct onnx_value *no,
                         uint32_t axis)
{
    struct onnx_value *const both[2] = {yes, no};
    const int64_t most = yes->dims[axis] > no->dims[axis] ? yes->dims[axis] : no->dims[axis];
    WNNOperand parts[2] = {NULL}, counts[2];

    if (onnx_value_is_open(yes) || onnx_value_is_open(no))
        return onnx_refuse_open(n);
    for (size_t b = 0; b < 2; b++) {
        struct onnx_dims after = {both[b]->rank, {0}};

        counts[b] = onnx_scalar(n, WNNOperandDataType_Int32, (double)both[b]->dims[axis]);
        after.at[axis] = (uint32_t)(most - both[b]->dims[axis]);
        if (onnx_elements(both[b]))
            parts[b] = onnx_pad(n, onnx_value_operand(n, both[b]), (struct onnx_dims){after.rank, {0}}, after, 0);
    }
    for (size_t b = 0; b < 2; b++)
        parts[b] = parts[b] ? parts[b] : onnx_scalar_like(n, parts[!b], 0);
    if (!onnx_output_as(n, i, onnx_where(n, condition, parts[0], parts[1]), yes->type))
        return false;
    if (!onnx_wants(n, i))
        return true;
    n->outputs[i]->count = onnx_where(n, condition, counts[0], counts[1]);
    n->outputs[i]->counted = axis;
    return true;
}

/** Both branches are computed, and the condition selects: neither has effects other than its results. */
static bool select_branch(struct onnx_node *n, struct onnx_value *const *yes, struct onnx_value *const *no)
{
    WNNOperand condition = onnx_operand(n, 0);
    char about[ONNX_TEXT_MAX], hint[ONNX_TEXT_MAX], has[2][ONNX_TEXT_MAX];

    if (onnx_elements(n->inputs[0]) != 1)
        return onnx_refuse(n, "its condition has %lld elements, it must have one", (long long)onnx_elements(n->inputs[0]));
    if (!onnx_refuse_counted(n, n->output_count, yes) || !onnx_refuse_counted(n, n->output_count, no))
        return false;
    condition = onnx_reshape(n, condition, 0, NULL);
    n->is_static = false;
    for (size_t i = 0; i < n->output_count; i++) {
        uint32_t axis;

        if (!differ_in_size(yes[i], no[i], &axis))
            return onnx_refuse(n,
                               "%s, and output %zu is %s in then_branch and %s in else_branch, which may differ in one size "
                               "only%s",
                               condition_text(n, about), i, onnx_value_text(has[0], yes[i]), onnx_value_text(has[1], no[i]),
                               constant_hint(n, hint));
        const bool same = !yes[i]->rank || yes[i]->dims[axis] == no[i]->dims[axis];
        if (!onnx_elements(yes[i]) && !onnx_elements(no[i])) {
            if (!same)
                return onnx_refuse(n,
                                   "%s, and output %zu, %s in then_branch and %s in else_branch, has no elements in either%s",
                                   condition_text(n, about), i, onnx_value_text(has[0], yes[i]), onnx_value_text(has[1], no[i]),
                                   constant_hint(n, hint));
            onnx_output_value(n, i, yes[i]);
            continue;
        }
        if (!same) {
            if (!select_sized(n, i, condition, yes[i], no[i], axis))
                return false;
            continue;
        }
        WNNOperand y = wnnGraphBuilderWhere(n->builder, condition, onnx_value_operand(n, yes[i]), onnx_value_operand(n, no[i]),
                                            n->options);
        if (!onnx_output_as(n, i, y, yes[i]->type))
            return false;
    }
    return true;
}

bool onnx_import_if(struct onnx_node *n)
{
    const Onnx__GraphProto *bodies[2] = {onnx_graph(n, "else_branch"), onnx_graph(n, "then_branch")};
    struct onnx_value **outputs[2];
    const char *reasons[2] = {NULL, NULL};
    bool known = onnx_is_constant(n, 0), take;

    if (n->refused)
        return false;
    take = known && onnx_number(n, 0, 0) != 0;
    for (size_t b = 0; b < 2; b++) {
        if (known && b != take)
            continue;
        if (bodies[b]->n_output != n->output_count)
            return onnx_refuse(n, "its branch has %zu outputs instead of %zu", bodies[b]->n_output, n->output_count);
        outputs[b] = onnx_alloc(n, n->output_count + 1, sizeof *outputs[b]);
        if (!outputs[b] || !(known ? onnx_import_body(n, bodies[b], 0, NULL, outputs[b])
                                   : onnx_import_branch(n, bodies[b], outputs[b], &reasons[b]) || reasons[b]))
            return false;
    }
    if (reasons[0] || reasons[1])
        return refuse_branches(n, reasons);
    if (!known)
        return select_branch(n, outputs[1], outputs[0]);
    for (size_t i = 0; i < n->output_count; i++)
        onnx_output_value(n, i, outputs[take][i]);
    return true;
}

/* ---- values of iterations ---- */

static struct onnx_value *scalar(struct onnx_node *n, enum onnx_type type, int64_t number)
{
    struct onnx_value *v = onnx_alloc(n, 1, sizeof *v);
    void *data = onnx_alloc(n, 1, sizeof(int64_t));

    if (!v || !data)
        return NULL;
    onnx_store_int(type, data, 0, number);
    v->type = type;
    v->data = data;
    v->is_static = true;
    return v;
}

struct onnx_value *control_take(struct onnx_node *n, struct onnx_value *v, uint32_t axis, uint32_t start, uint32_t size,
                                bool keeps)
{
    struct onnx_value *part = onnx_alloc(n, 1, sizeof *part);
    uint32_t dims[ONNX_RANK_MAX] = {0};
    size_t rank = 0;

    if (!part)
        return NULL;
    part->type = v->type;
    part->is_static = v->is_static;
    part->cost = v->cost + (double)onnx_elements(v);
    for (size_t d = 0; d < v->rank; d++)
        if (keeps || d != axis) {
            part->dims[rank] = d == axis ? size : v->dims[d];
            dims[rank] = (uint32_t)part->dims[rank];
            rank++;
        }
    part->rank = rank;
    part->operand = onnx_slice_axis(n, onnx_value_operand(n, v), axis, start, size);
    if (!keeps)
        part->operand = onnx_reshape(n, part->operand, rank, dims);
    if (wnnOperandIsError(part->operand))
        return onnx_refuse_null(n, "its input cannot be taken apart");
    return part;
}

/* ---- loops ---- */

/** Holds the state of an unrolled loop: inputs and results of an iteration, and collected results. */
struct iterations {
    const Onnx__GraphProto *body;
    size_t carried, scanned; /* values from one iteration to the next; outputs collected */
    struct onnx_value **in, **out;
    struct onnx_value ***collected; /* for every iteration the outputs that are */
    size_t count;
};

static bool prepare(struct onnx_node *n, struct iterations *t, size_t inputs, int64_t most)
{
    t->in = onnx_alloc(n, inputs + 1, sizeof *t->in);
    t->out = onnx_alloc(n, t->body->n_output + 1, sizeof *t->out);
    t->collected = onnx_alloc(n, (size_t)most + 1, sizeof *t->collected);
    return t->in && t->out && t->collected;
}

/** Keeps what an iteration gave for the outputs that are collected. */
static bool collect(struct onnx_node *n, struct iterations *t)
{
    struct onnx_value **row = onnx_alloc(n, t->scanned + 1, sizeof *row);

    for (size_t i = 0; row && i < t->scanned; i++)
        row[i] = t->out[t->body->n_output - t->scanned + i];
    t->collected[t->count] = row;
    return row != NULL;
}

/** Makes a collected output of no iterations, whose shape only the body can tell. */
static bool output_nothing(struct onnx_node *n, const Onnx__ValueInfoProto *info, size_t i, int64_t at)
{
    const Onnx__TypeProto__Tensor *type = info->type ? info->type->tensor_type : NULL;
    const size_t rank = type && type->shape ? type->shape->n_dim + 1 : SIZE_MAX;
    int64_t dims[ONNX_RANK_MAX];
    uint32_t axis;

    if (rank > ONNX_RANK_MAX)
        return onnx_refuse(n, "output %zu would have no elements, of a shape that is not known", i);
    if (!onnx_axis(n, at, rank, &axis))
        return false;
    for (size_t d = 0, from = 0; d < rank; d++) {
        dims[d] = d == axis ? 0 : type->shape->dim[from++]->dim_value;
        if (d != axis && dims[d] < 1)
            return onnx_refuse(n, "output %zu would have no elements, of a shape that is not known", i);
    }
    return onnx_output_constant(n, i, (enum onnx_type)type->elem_type, rank, dims) != NULL;
}

/** Makes a collected output: the values of all iterations, one after the other along a new axis. */
static bool output_stacked(struct onnx_node *n, const struct iterations *t, size_t which, int64_t at, bool backward)
{
    size_t i = t->carried + which, count = t->count;
    WNNOperand *parts = onnx_alloc(n, count + 1, sizeof *parts);
    uint32_t dims[ONNX_RANK_MAX], axis;
    const struct onnx_value *first = count ? t->collected[0][which] : NULL;
    bool is_static = true;

    if (!parts)
        return false;
    if (!first)
        return output_nothing(n, t->body->output[i + t->body->n_output - t->carried - t->scanned], i, at);
    if (first->rank + 1 > ONNX_RANK_MAX)
        return onnx_refuse(n, "output %zu would have more than %d dimensions", i, ONNX_RANK_MAX);
    if (!onnx_axis(n, at, first->rank + 1, &axis))
        return false;
    for (size_t d = 0, from = 0; d <= first->rank; d++)
        dims[d] = d == axis ? 1 : (uint32_t)first->dims[from++];
    for (size_t k = 0; k < count; k++) {
        struct onnx_value *v = t->collected[backward ? count - 1 - k : k][which];

        if (v->rank != first->rank || memcmp(v->dims, first->dims, sizeof v->dims) != 0 || v->type != first->type)
            return onnx_refuse(n, "output %zu changes its shape or type from one iteration to the next", i);
        is_static = is_static && v->is_static;
        parts[k] = onnx_reshape(n, onnx_value_operand(n, v), first->rank + 1, dims);
    }
    n->is_static = is_static;
    return onnx_output_as(n, i, count > 1 ? wnnGraphBuilderConcat(n->builder, count, parts, axis, n->options) : parts[0],
                          first->type);
}

/** Returns what a value is after an iteration that is only taken while `alive` is true, or NULL after refusing. */
static struct onnx_value *blend(struct onnx_node *n, struct onnx_value *alive, struct onnx_value *after,
                                struct onnx_value *before)
{
    struct onnx_value *v = onnx_alloc(n, 1, sizeof *v);
    WNNOperand condition = onnx_reshape(n, onnx_value_operand(n, alive), 0, NULL);

    if (after == before)
        return after;
    if (after->rank != before->rank || memcmp(after->dims, before->dims, sizeof after->dims) != 0 ||
        after->type != before->type)
        return onnx_refuse_null(
            n, "whether it goes on depends on an input of the model, and a value changes its shape or type from one "
               "iteration to the next");
    if (!v)
        return NULL;
    *v = (struct onnx_value){.type = after->type, .rank = after->rank};
    memcpy(v->dims, after->dims, sizeof v->dims);
    v->operand =
        wnnGraphBuilderWhere(n->builder, condition, onnx_value_operand(n, after), onnx_value_operand(n, before), n->options);
    return v;
}

/** Returns whether the loop is still running after an iteration that ended with this condition. */
static struct onnx_value *still_alive(struct onnx_node *n, struct onnx_value *alive, struct onnx_value *condition)
{
    struct onnx_value *v = onnx_alloc(n, 1, sizeof *v);
    WNNOperand now = onnx_reshape(n, onnx_value_operand(n, condition), 0, NULL);

    if (!v)
        return NULL;
    *v = (struct onnx_value){.type = ONNX_BOOL};
    v->operand =
        alive ? wnnGraphBuilderLogicalAnd(n->builder, onnx_reshape(n, onnx_value_operand(n, alive), 0, NULL), now, n->options)
              : now;
    return v;
}

/** Imports one iteration.  *alive is NULL as long as it is known that the loop runs; *go says whether there may be another
 * iteration. */
static bool run_iteration(struct onnx_node *n, struct iterations *t, struct onnx_value **alive, bool *go)
{
    t->in[0] = scalar(n, ONNX_INT64, (int64_t)t->count);
    t->in[1] = scalar(n, ONNX_BOOL, 1);
    if (!t->in[0] || !t->in[1] || !onnx_import_body(n, t->body, t->carried + 2, t->in, t->out) ||
        !onnx_refuse_counted(n, t->body->n_output, t->out))
        return false;
    for (size_t i = 0; i < t->carried; i++) {
        t->in[i + 2] = *alive ? blend(n, *alive, t->out[i + 1], t->in[i + 2]) : t->out[i + 1];
        if (!t->in[i + 2])
            return false;
    }
    struct onnx_value *condition = t->out[0];
    if (onnx_elements(condition) != 1)
        return onnx_refuse(n, "the condition of its body has %lld elements", (long long)onnx_elements(condition));
    if (onnx_value_is_known(n, condition)) {
        *go = onnx_element(condition, 0) != 0;
        return true;
    }
    *alive = still_alive(n, *alive, condition);
    return *alive != NULL;
}

/** Returns whether so many iterations, of which the first has been imported, are worth an attempt to make them a loop. */
static bool may_roll(const struct onnx_node *n, const struct iterations *t, int64_t iterations)
{
    return t->count == 1 && iterations > ITERATIONS_FEW && iterations <= ITERATIONS_MAX && control_may_begin(n) &&
           !control_needs_values(n, t->out + t->body->n_output - n->output_count);
}

bool onnx_import_loop(struct onnx_node *n)
{
    struct iterations t = {.body = onnx_graph(n, "body")};
    struct onnx_value *trips = onnx_input(n, 0), *condition = onnx_input(n, 1), *alive = NULL;
    bool known = !condition || onnx_is_constant(n, 1), go = !condition || !known || onnx_number(n, 1, 0) != 0;
    size_t count = 0;
    const int64_t *size = trips && trips->operand && !onnx_is_constant(n, 0) && onnx_is_sizes(n, trips->operand)
                              ? onnx_sizes(n, 0, &count)
                              : NULL;

    if (count == 1 && onnx_is_open(*size))
        return known && go && control_may_begin(n) && control_goes_on(t.body)
                   ? control_loop(n, t.body, (uint32_t)*size, false, NULL)
                   : onnx_refuse_open(n);
    const double given = trips ? onnx_number(n, 0, 0) : 0;
    double limit = trips ? given : ITERATIONS_MAX + 1.0;

    limit = limit > ITERATIONS_MAX ? ITERATIONS_MAX + 1 : limit < 0 ? 0 : limit;
    int64_t most = onnx_whole(n, "the trip count", limit, 0, ITERATIONS_MAX + 1);
    if (n->refused)
        return false;
    bool rolls = trips && limit > ITERATIONS_MAX && given <= INT32_MAX;
    if (rolls && known && go && control_goes_on(t.body))
        return control_loop(n, t.body, (uint32_t)given, false, NULL);
    if (!known)
        alive = condition;
    t.carried = n->input_count > 2 ? n->input_count - 2 : 0;
    if (t.body->n_output < t.carried + 1 || t.body->n_output - 1 != n->output_count)
        return onnx_refuse(n, "its body has %zu outputs for %zu carried values and %zu outputs", t.body->n_output, t.carried,
                           n->output_count);
    t.scanned = t.body->n_output - 1 - t.carried;
    if (!prepare(n, &t, t.carried + 2, most))
        return false;
    for (size_t i = 0; i < t.carried; i++) {
        t.in[i + 2] = onnx_input(n, i + 2);
        if (!t.in[i + 2])
            return onnx_refuse(n, "input %zu is missing", i + 2);
    }
    for (; go && (int64_t)t.count < most; t.count++) {
        /* A condition may end it early, whatever the trip count says; so it is a loop only once it is known not to. */
        if (rolls && (alive || t.count == ITERATIONS_MAX))
            return control_loop(n, t.body, (uint32_t)given, true, known ? NULL : condition);
        if (trips && may_roll(n, &t, most)) {
            const struct onnx_refusals before = onnx_refusals(n);

            if (control_loop(n, t.body, (uint32_t)most, alive != NULL, known ? NULL : condition) || !onnx_forgive(n, before))
                return !n->refused;
        }
        /* Unrolled, an iteration that a computed condition skips is computed all the same, and its values are not used. */
        if (alive && (limit > ITERATIONS_MAX || t.scanned)) {
            if (!control_may_begin(n))
                return onnx_refuse(n, "its condition depends on an input of the model, and it is in a loop");
            if (limit > ITERATIONS_MAX)
                model_note(n->reader->model, "Loop '%s' ends by its condition, or after %d iterations",
                           onnx_escape(n->reader, n->label.data), ITERATIONS_OPEN);
            return control_loop(n, t.body, limit > ITERATIONS_MAX ? ITERATIONS_OPEN : (uint32_t)most, true,
                                known ? NULL : condition);
        }
        if (t.count == ITERATIONS_MAX)
            return onnx_refuse(n, "it takes more than %d iterations, too many to be unrolled", ITERATIONS_MAX);
        if (!run_iteration(n, &t, &alive, &go))
            return false;
        if (!collect(n, &t))
            return false;
    }
    for (size_t i = 0; i < t.carried; i++)
        onnx_output_value(n, i, t.in[i + 2]);
    for (size_t i = 0; i < t.scanned; i++)
        if (onnx_wants(n, t.carried + i) && !output_stacked(n, &t, i, 0, false))
            return false;
    return true;
}

/** Reads a list with one number for each axis or direction; they are 0 if the list is absent. */
static bool read_list(struct onnx_node *n, const char *name, size_t count, const int64_t **list)
{
    size_t given;
    int64_t *zeros;

    *list = onnx_ints(n, name, &given);
    if (*list)
        return given == count || onnx_refuse(n, "%s has %zu items, there must be %zu", name, given, count);
    *list = zeros = onnx_alloc(n, count + 1, sizeof *zeros);
    return zeros != NULL;
}

bool onnx_import_scan(struct onnx_node *n)
{
    struct iterations t = {.body = onnx_graph(n, "body")};
    int64_t scans = onnx_int(n, "num_scan_inputs", 0), length = -1;
    const int64_t *in_axes, *in_directions, *out_axes, *out_directions;
    struct control_scan s;

    if (n->refused)
        return false;
    if (scans < 1 || scans > (int64_t)n->input_count)
        return onnx_refuse(n, "num_scan_inputs is %lld, of %zu inputs", (long long)scans, n->input_count);
    t.carried = n->input_count - (size_t)scans;
    if (t.body->n_output < t.carried || t.body->n_output != n->output_count)
        return onnx_refuse(n, "its body has %zu outputs for %zu states and %zu outputs", t.body->n_output, t.carried,
                           n->output_count);
    t.scanned = t.body->n_output - t.carried;
    if (!read_list(n, "scan_input_axes", (size_t)scans, &in_axes) ||
        !read_list(n, "scan_input_directions", (size_t)scans, &in_directions) ||
        !read_list(n, "scan_output_axes", t.scanned, &out_axes) ||
        !read_list(n, "scan_output_directions", t.scanned, &out_directions))
        return false;
    for (size_t i = 0; i < (size_t)scans; i++) {
        const struct onnx_value *v = onnx_input(n, t.carried + i);
        uint32_t axis;

        if (!v || !onnx_axis(n, in_axes[i], v->rank, &axis))
            return onnx_refuse(n, "input %zu is missing", t.carried + i);
        if (length >= 0 && v->dims[axis] != length)
            return onnx_refuse(n, "its inputs have %lld and %lld iterations", (long long)length, (long long)v->dims[axis]);
        length = v->dims[axis];
    }
    s = (struct control_scan){(size_t)scans, t.carried, t.scanned, in_axes, in_directions, out_axes, out_directions};
    if (length > ITERATIONS_MAX)
        return control_scan(n, t.body, (uint32_t)length, &s);
    if (!prepare(n, &t, n->input_count, length))
        return false;
    for (size_t i = 0; i < t.carried; i++)
        t.in[i] = onnx_input(n, i);
    for (; (int64_t)t.count < length; t.count++) {
        if (may_roll(n, &t, length)) {
            const struct onnx_refusals before = onnx_refusals(n);

            if (control_scan(n, t.body, (uint32_t)length, &s) || !onnx_forgive(n, before))
                return !n->refused;
        }
        for (size_t i = 0; i < (size_t)scans; i++) {
            struct onnx_value *v = onnx_input(n, t.carried + i);
            uint32_t axis;

            onnx_axis(n, in_axes[i], v->rank, &axis);
            t.in[t.carried + i] = control_take(
                n, v, axis, (uint32_t)(in_directions[i] ? length - 1 - (int64_t)t.count : (int64_t)t.count), 1, false);
            if (!t.in[t.carried + i])
                return false;
        }
        if (!onnx_import_body(n, t.body, n->input_count, t.in, t.out) || !onnx_refuse_counted(n, t.body->n_output, t.out))
            return false;
        for (size_t i = 0; i < t.carried; i++)
            t.in[i] = t.out[i];
        if (!collect(n, &t))
            return false;
    }
    for (size_t i = 0; i < t.carried; i++) {
        if (!t.in[i])
            return onnx_refuse(n, "input %zu is missing", i);
        onnx_output_value(n, i, t.in[i]);
    }
    for (size_t i = 0; i < t.scanned; i++)
        if (onnx_wants(n, t.carried + i) && !output_stacked(n, &t, i, out_axes[i], out_directions[i] != 0))
            return false;
    return true;
}

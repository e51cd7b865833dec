/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/builder/states.h"

#include "ir/support/suggest.h"
#include "ir/support/text.h"

static bool is_named(WNNStringView name, const char *text, size_t length)
{
    return view_length(name) == length && (!length || !memcmp(name.data, text, length));
}

static const char *quote(char *text, size_t size, WNNStringView name)
{
    return escape_text(text, size, name.data ? name.data : "", view_length(name));
}

static bool copy_name(struct arena *a, WNNStringView from, WNNStringView *to)
{
    to->length = view_length(from);
    to->data = arena_string(a, from.data ? from.data : "", to->length);
    return to->data != NULL;
}

bool builder_set_states(WNNGraphBuilder b, size_t count, const WNNNamedState *states)
{
    WNNNamedState *copies = arena_array(&b->arena, count, sizeof *copies);

    if (!copies)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!copy_name(&b->arena, states[i].input, &copies[i].input) ||
            !copy_name(&b->arena, states[i].output, &copies[i].output))
            return false;
    b->states = copies;
    b->state_count = count;
    return true;
}

/* ---- checks ---- */

static const struct value *find_input(const struct graph *g, WNNStringView name)
{
    for (uint32_t i = 0; i < g->input_count; i++)
        if (is_named(name, g->inputs[i]->name, g->inputs[i]->name_length))
            return g->inputs[i];
    return NULL;
}

static bool fail_unknown(size_t state, const char *what, WNNStringView name, struct suggestion *meant, struct error *e)
{
    char text[128];

    return error_set(e, WNNStatus_TypeError, "build: states[%zu]: the graph has no %s \"%s\"%s", state, what,
                     quote(text, sizeof text, name), suggestion_text(meant));
}

/* Returns the input of a state, or NULL after an error in *e. */
static const struct value *check_input(const struct graph *g, const uint8_t *marks, size_t state, WNNStringView name,
                                       struct error *e)
{
    const struct value *v = find_input(g, name);

    if (v && marks[v->index])
        return v;
    struct suggestion meant = suggestion_for(name.data, name.length);
    for (uint32_t i = 0; i < g->input_count; i++)
        if (marks[g->inputs[i]->index])
            suggestion_offer(&meant, g->inputs[i]->name);
    fail_unknown(state, v ? "output that needs input" : "input", name, &meant, e);
    return NULL;
}

/* Returns the output of a state, or NULL after an error in *e. */
static const struct value *check_output(WNNGraphBuilder b, size_t count, WNNNamedOperand const *outputs, size_t state,
                                        struct error *e)
{
    const WNNStringView name = b->states[state].output;

    for (size_t i = 0; i < count; i++)
        if (is_named(name, outputs[i].name.data, view_length(outputs[i].name)))
            return outputs[i].operand->value;
    struct suggestion meant = suggestion_for(name.data, name.length);
    for (size_t i = 0; i < count; i++) {
        WNNStringView copy = {"", 0}; /* which ends with a NUL */
        if (copy_name(&b->arena, outputs[i].name, &copy))
            suggestion_offer(&meant, copy.data);
    }
    fail_unknown(state, "output", name, &meant, e);
    return NULL;
}

static bool same_name(WNNStringView a, WNNStringView b)
{
    return is_named(a, b.data, b.length);
}

static bool check_once(WNNGraphBuilder b, size_t state, struct error *e)
{
    const WNNNamedState *s = &b->states[state];
    char text[128];

    for (size_t i = 0; i < state; i++) {
        const bool input = same_name(b->states[i].input, s->input);
        if (input || same_name(b->states[i].output, s->output))
            return error_set(e, WNNStatus_TypeError, "build: states[%zu] and states[%zu] have the same %s, \"%s\"", i, state,
                             input ? "input" : "output", quote(text, sizeof text, input ? s->input : s->output));
    }
    return true;
}

bool builder_check_states(WNNGraphBuilder b, const uint8_t *marks, size_t count, WNNNamedOperand const *outputs,
                          struct error *e)
{
    for (size_t i = 0; i < b->state_count; i++) {
        const WNNNamedState *s = &b->states[i];
        const struct value *in = check_input(b->graph, marks, i, s->input, e), *out;
        char input[128], output[128], in_type[128], out_type[128];

        if (!in || !(out = check_output(b, count, outputs, i, e)) || !check_once(b, i, e))
            return false;
        if (!type_equal(&in->type, &out->type))
            return error_set(e, WNNStatus_TypeError,
                             "build: states[%zu]: input \"%s\" is %s, and output \"%s\" is %s: a state has one shape and data "
                             "type",
                             i, quote(input, sizeof input, s->input), type_print(in_type, sizeof in_type, &in->type),
                             quote(output, sizeof output, s->output), type_print(out_type, sizeof out_type, &out->type));
    }
    return true;
}

void builder_add_states(WNNGraphBuilder b, struct graph *g)
{
    for (size_t i = 0; i < b->state_count; i++)
        for (uint32_t o = 0; o < g->output_count; o++)
            if (is_named(b->states[i].output, g->outputs[o].name, g->outputs[o].name_length))
                g->outputs[o].state = find_input(g, b->states[i].input);
}

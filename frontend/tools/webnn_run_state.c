/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements webnn-run --state, which lets an input and the output that it becomes share their memory.
 */
#include <stdlib.h>

#include "frontend/tools/webnn_run.h"
#include "ir/support/array.h"

/* Returns the part of name that the star of the pattern stands for, or NULL if the name is none of the pattern's.  Without a
 * star it is the empty string. */
static const char *match(const char *pattern, const char *name, size_t *length)
{
    const char *star = strchr(pattern, '*');
    const size_t before = star ? (size_t)(star - pattern) : strlen(pattern), after = star ? strlen(star + 1) : 0;

    *length = strlen(name) - (strlen(name) < before + after ? strlen(name) : before + after);
    if (strlen(name) < before + after || memcmp(name, pattern, before) || (star && strcmp(name + before + *length, star + 1)) ||
        (!star && name[before]))
        return NULL;
    return name + before;
}

/* Returns whether the name is the pattern with `part` instead of its star. */
static bool is_filled(const char *pattern, const char *part, size_t part_length, const char *name)
{
    size_t length;
    const char *found = match(pattern, name, &length);

    return found && (!strchr(pattern, '*') || (length == part_length && !memcmp(found, part, length)));
}

static bool add(struct run_states *s, const char *input, const char *output)
{
    if (!array_extend(&s->items, s->count, sizeof *s->items))
        return complain("out of memory");
    s->items[s->count++] = (WNNNamedState){{input, strlen(input)}, {output, strlen(output)}};
    return true;
}

/* Adds the states that one option names.  Returns false after a message. */
static bool add_states(const struct argument_pair *pair, const struct model *m, struct run_states *s)
{
    const size_t before = s->count;

    for (size_t i = 0; i < m->input_count; i++) {
        size_t length;
        const char *part = match(pair->name, m->inputs[i].name, &length);
        for (size_t o = 0; part && o < m->output_count; o++)
            if (is_filled(pair->value, part, length, m->outputs[o].name) && !add(s, m->inputs[i].name, m->outputs[o].name))
                return false;
    }
    if (s->count > before)
        return true;
    return complain("--state %s=%s: the model has no such input and output; the names are those of --input and --output, and * "
                    "stands for the same text in both",
                    NAME_SHOWN(pair->name), NAME_SHOWN(pair->value));
}

bool states_find(const struct run_options *o, const struct model *m, struct run_states *s)
{
    for (size_t i = 0; i < o->states.count; i++)
        if (!add_states(&o->states.items[i], m, s))
            return false;
    return true;
}

static WNNNamedBuffer *find(WNNNamedBuffer *buffers, size_t count, WNNStringView name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(buffers[i].name.data, name.data)) /* names of the model's ports end with a NUL */
            return &buffers[i];
    return NULL;
}

void states_bind(const struct run_states *s, WNNNamedBuffer *inputs, size_t input_count, WNNNamedBuffer *outputs,
                 size_t output_count)
{
    for (size_t i = 0; i < s->count; i++) {
        WNNNamedBuffer *in = find(inputs, input_count, s->items[i].input);
        WNNNamedBuffer *out = find(outputs, output_count, s->items[i].output);
        if (!in || !out || in->byteLength != out->byteLength)
            continue; /* computing reports the error */
        memcpy(out->data, in->data, in->byteLength);
        in->data = out->data;
    }
}

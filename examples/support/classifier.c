/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes numbers of pictures, and classes of numbers. */
#include "examples/support/classifier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/support/example.h"
#include "frontend/readers/files/file.h"
#include "frontend/readers/files/picture.h"
#include "ir/support/json.h"

/* ---- opening ---- */

static bool complain(const struct classifier *c, const char *what)
{
    fprintf(stderr, "%s: %s\n", c->program, what);
    return false;
}

/** Makes a buffer for each output and chooses the one that has the classes. */
static bool make_outputs(struct classifier *c)
{
    WNNNamedOperandDescriptor d;

    for (size_t i = 0; i < c->output_count; i++) {
        if (wnnGraphGetOutput(c->graph, i, &d) || d.descriptor.dataType != WNNOperandDataType_Float32)
            return complain(c, "the model is not a classifier of pictures: an output is not float32");
        c->outputs[i] = (WNNNamedBuffer){d.name, malloc(wnnOperandDescriptorGetByteLength(&d.descriptor)),
                                         wnnOperandDescriptorGetByteLength(&d.descriptor)};
        if (!c->outputs[i].data)
            return complain(c, "out of memory");
        if (d.name.length == strlen("probabilities") && !memcmp(d.name.data, "probabilities", d.name.length))
            c->chosen = i;
    }
    return true;
}

bool classifier_open(struct classifier *c, const char *program, WNNGraph graph, const char *labels)
{
    const WNNOperandDescriptor *d = &c->input.descriptor;

    *c = (struct classifier){.program = program, .graph = graph, .labels = labels};
    c->output_count = wnnGraphGetOutputCount(graph);
    if (wnnGraphGetInputCount(graph) != 1 || !c->output_count || c->output_count > CLASSIFIER_OUTPUTS_MAX) {
        fprintf(stderr, "%s: the model is not a classifier of pictures: %zu inputs, %zu outputs\n", program,
                wnnGraphGetInputCount(graph), c->output_count);
        c->output_count = 0;
        return false;
    }
    c->chosen = c->output_count - 1;
    if (wnnGraphGetInput(graph, 0, &c->input) || d->dataType != WNNOperandDataType_Float32 || d->rank != 4 ||
        d->shape[0] != 1 || (d->shape[1] != 3 && d->shape[1] != 1))
        return complain(c, "the model's input is no float32 picture [1, 3 or 1, height, width]");
    c->input_bytes = wnnOperandDescriptorGetByteLength(d);
    return make_outputs(c);
}

void classifier_close(struct classifier *c)
{
    for (size_t i = 0; i < CLASSIFIER_OUTPUTS_MAX; i++)
        free(c->outputs[i].data);
    *c = (struct classifier){0};
}

/* ---- one picture ---- */

bool classifier_read(const struct classifier *c, const char *path, struct classifier_picture *p, struct error *e)
{
    const uint32_t height = c->input.descriptor.shape[2], width = c->input.descriptor.shape[3];
    struct picture_form form = {.scale = 1.0 / 255, .mean = {0.485, 0.456, 0.406}, .deviation = {0.229, 0.224, 0.225}};
    struct picture picture, resized;

    *p = (struct classifier_picture){0};
    if (!picture_read(path, &picture, e))
        return false;
    p->width = picture.width;
    p->height = picture.height;
    if (picture.width != width || picture.height != height) {
        bool ok = picture_resize(&picture, width, height, &resized, e);

        picture_free(&picture);
        if (!ok)
            return false;
        picture = resized;
    }
    p->pixels = malloc(c->input_bytes);
    if (c->input.descriptor.shape[1] == 1) {
        form = PICTURE_FORM_INIT;
        form.grey = true;
    }
    if (p->pixels)
        picture_to_floats(&picture, &form, p->pixels);
    picture_free(&picture);
    return p->pixels || file_error(e, "out of memory");
}

/* Numbers that do not add up to 1 are logits. */
static void make_probabilities(float *numbers, size_t count)
{
    double highest = -INFINITY, sum = 0;

    for (size_t i = 0; i < count; i++) {
        sum += (double)numbers[i];
        highest = fmax(highest, (double)numbers[i]);
    }
    if (fabs(sum - 1) < 1e-3)
        return;
    sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += exp((double)numbers[i] - highest);
    for (size_t i = 0; i < count; i++)
        numbers[i] = (float)(exp((double)numbers[i] - highest) / sum);
}

bool classifier_compute(struct classifier *c, const struct classifier_picture *p, struct classifier_class *top, size_t *count,
                        struct error *e)
{
    WNNNamedBuffer input = {c->input.name, p->pixels, c->input_bytes};
    float *numbers = c->outputs[c->chosen].data;
    const size_t classes = c->outputs[c->chosen].byteLength / sizeof *numbers;

    if (wnnGraphCompute(c->graph, 1, &input, c->output_count, c->outputs)) {
        WNNStringView text = wnnGetLastErrorMessage();

        return file_error(e, "compute: %.*s", (int)text.length, text.data);
    }
    make_probabilities(numbers, classes);
    for (*count = 0; *count < CLASSIFIER_TOP && *count < classes; ++*count) {
        size_t best = 0;

        for (size_t i = 1; i < classes; i++)
            if (numbers[i] > numbers[best])
                best = i;
        top[*count] = (struct classifier_class){best, (double)numbers[best]};
        numbers[best] = -1;
    }
    return true;
}

const char *classifier_label(const struct classifier *c, size_t index, size_t *length)
{
    const char *text = c->labels;

    for (; index > 0 && text; index--) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    *length = text ? strcspn(text, "\r\n") : 0;
    return text ? text : "";
}

/* ---- many pictures ---- */

static bool read_slot(void *user, size_t slot, const char *path, struct error *e)
{
    struct classifier *c = user;

    return classifier_read(c, path, &c->slots[slot], e);
}

static void drop_slot(void *user, size_t slot)
{
    struct classifier *c = user;

    free(c->slots[slot].pixels);
    c->slots[slot].pixels = NULL;
}

static bool compute_slot(void *user, size_t slot, FILE *members, struct error *e)
{
    struct classifier *c = user;
    struct classifier_class top[CLASSIFIER_TOP];
    double start = example_now_ms();
    size_t count, length;
    bool ok = classifier_compute(c, &c->slots[slot], top, &count, e);

    drop_slot(c, slot);
    if (!ok)
        return false;
    fputs("\"ms\": ", members);
    batch_print_number(members, example_now_ms() - start);
    fputs(", \"top\": [", members);
    for (size_t k = 0; k < count; k++) {
        const char *label = classifier_label(c, top[k].index, &length);

        fprintf(members, "%s{\"class\": %zu, \"probability\": ", k ? ", " : "", top[k].index);
        batch_print_number(members, top[k].probability);
        if (length) {
            fputs(", \"label\": ", members);
            json_print_string(members, label, length, JSON_REPLACE_BYTES);
        }
        fputc('}', members);
    }
    fputc(']', members);
    return true;
}

bool classifier_batch(struct classifier *c, const struct batch_list *l, FILE *out, bool show_progress, size_t *failed)
{
    const struct batch_work work = {c->program, c, read_slot, compute_slot, drop_slot};

    return batch_run(l, &work, out, show_progress, failed);
}

bool classifier_inputs(const char *program, struct batch_list *l, size_t count, const char *const *words, const char *list)
{
    struct error e = {0};
    bool ok = true;

    for (size_t i = 0; i < count && ok; i++)
        ok = batch_list_add(l, words[i], &e);
    if (ok && list)
        ok = batch_list_read(l, list, &e);
    if (!ok)
        fprintf(stderr, "%s: %s\n", program, e.message);
    else if (!l->count)
        fprintf(stderr, "%s: there are no pictures in what the command line names\n", program);
    return ok && l->count;
}

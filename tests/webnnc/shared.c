/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* shared OBJECT.so INPUT.npy EXPECTED.npy: LeNet from a shared object, by what its description says alone. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "webnn/webnn_object.h"

static int read_end(const char *path, void *data, size_t bytes)
{
    FILE *f = fopen(path, "rb");
    int ok = f && !fseek(f, -(long)bytes, SEEK_END) && fread(data, 1, bytes, f) == bytes;

    if (f)
        fclose(f);
    return ok;
}

typedef int create_function(const struct webnn_object_options *, void **);

/* Options of other versions than the object's: larger ones are taken if what they add is zero. */
static int options_are_checked(const struct webnn_object *o)
{
    struct {
        struct webnn_object_options known;
        unsigned char added[16];
    } later = {.known = WEBNN_OBJECT_OPTIONS_INIT};
    static const struct webnn_object_options no_size = {.threads = 1};
    create_function *create = (create_function *)o->create;
    void (*destroy)(void *) = (void (*)(void *))o->destroy;
    void *model = NULL;

    if (create(&no_size, &model))
        return 0;
    destroy(model);
    later.known.structSize = sizeof later;
    if (create(&later.known, &model))
        return 0;
    destroy(model);
    later.added[15] = 1;
    if (create(&later.known, &model) != WEBNN_OBJECT_BAD_ARGUMENT)
        return 0;
    later.known.structSize = sizeof later.known - 1;
    return create(&later.known, &model) == WEBNN_OBJECT_BAD_ARGUMENT;
}

int main(int argc, char **argv)
{
    static float input[784], logits[10], probabilities[10], expected[10];
    void *library = argc == 4 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const struct webnn_object *o = library ? dlsym(library, WEBNN_OBJECT_SYMBOL) : NULL;
    int status;

    if (!o) {
        fprintf(stderr, "%s\n", argc == 4 ? dlerror() : "usage");
        return 2;
    }
    if (o->magic != WEBNN_OBJECT_MAGIC || o->version != WEBNN_OBJECT_VERSION || o->bytes != sizeof *o || o->input_count != 1 ||
        o->output_count != 2 || strcmp(o->inputs[0].name, "input") || o->inputs[0].type != WEBNN_OBJECT_FLOAT32 ||
        o->inputs[0].rank != 4 || o->inputs[0].shape[2] != 28 || o->inputs[0].bytes != sizeof input ||
        strcmp(o->outputs[1].name, "probabilities") || o->outputs[1].bytes != sizeof probabilities) {
        fprintf(stderr, "the description is wrong\n");
        return 3;
    }
    if (!read_end(argv[2], input, sizeof input) || !read_end(argv[3], expected, sizeof expected))
        return 4;
    if (o->flags & WEBNN_OBJECT_HAS_MODEL) {
        void *model = NULL;
        if (!options_are_checked(o)) {
            fprintf(stderr, "options of other sizes are not treated as webnn_object.h says\n");
            return 5;
        }
        status = ((create_function *)o->create)(NULL, &model);
        if (!status)
            status = ((int (*)(void *, const float *, float *, float *))o->run)(model, input, logits, probabilities);
        ((void (*)(void *))o->destroy)(model);
    } else {
        status = ((int (*)(const float *, float *, float *))o->run)(input, logits, probabilities);
    }
    for (int i = 0; i < 10; i++)
        if (!(fabsf(probabilities[i] - expected[i]) <= 1e-4f))
            status = 100 + i;
    dlclose(library);
    return status;
}

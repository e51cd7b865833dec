/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Keeps facts about a device that a tuner has chosen (webnn-bench --tune) in the folder of built programs.
 *
 * The file is like those of programs (opencl_cache.c): device and driver lead to it, they are in it, and a checksum is over
 * everything.  It holds a line "name number" for each fact; names and numbers that the table does not have make all of it as
 * good as none, since another version may have written it.
 */
#include "runtime/engine/opencl/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/program/cache_folder.h"

enum { TEXT_BYTES = 1024 };

static const char suffix[] = ".tune";

static void identity_of(const struct engine_opencl *o, char identity[OPENCL_IDENTITY_BYTES + 16])
{
    static const char kind[] = "tuned facts\n";

    memcpy(identity, kind, sizeof kind);
    opencl_device_identity(o, identity + sizeof kind - 1);
}

static uint32_t *fact_of(struct gpu_facts *facts, const struct gpu_tunable *t)
{
    return (uint32_t *)((char *)facts + t->offset);
}

/* Reads one line into the facts.  Returns false unless the table has the name and the number. */
static bool read_line(struct gpu_facts *facts, const char *line)
{
    char name[32];
    uint32_t number;

    if (sscanf(line, "%31s %" SCNu32, name, &number) != 2)
        return false;
    for (uint32_t i = 0; target_gpu_tunable(i); i++) {
        const struct gpu_tunable *t = target_gpu_tunable(i);

        for (uint32_t k = 0; !strcmp(t->name, name) && k < t->value_count; k++)
            if (t->values[k] == number) {
                *fact_of(facts, t) = number;
                return true;
            }
    }
    return false;
}

void opencl_tuning_load(struct engine_opencl *o)
{
    char identity[OPENCL_IDENTITY_BYTES + 16], text[TEXT_BYTES + 1], *rest = NULL;
    struct gpu_facts facts = o->device.facts;
    size_t size = 0;
    bool good = true;

    identity_of(o, identity);
    unsigned char *bytes = cache_read(o->folder, identity, suffix, &size);
    if (!bytes || size > TEXT_BYTES) {
        free(bytes);
        return;
    }
    memcpy(text, bytes, size);
    text[size] = '\0';
    free(bytes);
    for (char *line = strtok_r(text, "\n", &rest); good && line; line = strtok_r(NULL, "\n", &rest))
        good = read_line(&facts, line);
    if (good)
        o->device.facts = facts;
}

struct gpu_facts *opencl_device_facts(struct engine *en)
{
    opencl_probe_instructions(opencl_of(en));
    return &opencl_of(en)->device.facts;
}

bool opencl_keep_facts(struct engine *en, struct error *e)
{
    struct engine_opencl *o = opencl_of(en);
    char identity[OPENCL_IDENTITY_BYTES + 16], text[TEXT_BYTES];
    size_t length = 0;

    if (!o->folder)
        return error_set(e, WNNStatus_OperationError,
                         "there is no folder for tuned facts: it is switched off, or not this user's alone (WEBNN_CACHE)");
    for (uint32_t i = 0; target_gpu_tunable(i); i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s %" PRIu32 "\n", target_gpu_tunable(i)->name,
                                   *fact_of(&o->device.facts, target_gpu_tunable(i)));
    identity_of(o, identity);
    return cache_write(o->folder, identity, suffix, text, length) ||
           error_set(e, WNNStatus_OperationError, "a file with tuned facts cannot be written to %s", o->folder);
}

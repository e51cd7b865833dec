/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "runtime/program/memory_limit.h"

bool memory_charge(struct engine *en, size_t bytes, struct error *e)
{
    size_t used = atomic_load_explicit(&en->memory_used, memory_order_relaxed);

    if (!en->memory_limit)
        return true;
    do {
        if (used > en->memory_limit || bytes > en->memory_limit - used)
            return error_set(e, WNNStatus_UnknownError,
                             "%zu bytes are requested, and %zu of the context's memory limit of %zu are in use; release "
                             "tensors and graphs, or raise memoryLimit of WNNContextOptions",
                             bytes, used, en->memory_limit);
    } while (!atomic_compare_exchange_weak_explicit(&en->memory_used, &used, used + bytes, memory_order_relaxed,
                                                    memory_order_relaxed));
    return true;
}

struct engine_buffer *memory_buffer_create(struct engine *en, size_t bytes, struct error *e)
{
    if (!memory_charge(en, bytes, e))
        return NULL;
    struct engine_buffer *b = en->functions->buffer_create(en, bytes, e);
    if (b)
        b->charged = bytes;
    else
        memory_discharge(en, bytes);
    return b;
}

void memory_buffer_free(struct engine *en, struct engine_buffer *b)
{
    const size_t charged = b->charged;

    en->functions->buffer_free(en, b);
    memory_discharge(en, charged);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements cancellations: flags with references, which engines read between steps. */
#include "runtime/api/context.h"

#include <stdlib.h>

WNNStatus wnnCreateCancellation(WNNCancellation *cancellation)
{
    struct error e = {0};

    if (!cancellation)
        return error_fail(&e, WNNStatus_TypeError, "createCancellation: cancellation is NULL");
    *cancellation = calloc(1, sizeof **cancellation);
    if (!*cancellation)
        return error_fail_memory(&e);
    atomic_init(&(*cancellation)->references, 1);
    return WNNStatus_Success;
}

void wnnCancellationAddRef(WNNCancellation cancellation)
{
    if (cancellation)
        atomic_fetch_add_explicit(&cancellation->references, 1, memory_order_relaxed);
}

void wnnCancellationRelease(WNNCancellation cancellation)
{
    if (cancellation && atomic_fetch_sub_explicit(&cancellation->references, 1, memory_order_acq_rel) == 1)
        free(cancellation);
}

void wnnCancellationCancel(WNNCancellation cancellation)
{
    if (cancellation)
        atomic_store(&cancellation->cancelled, true);
}

bool wnnCancellationIsCancelled(WNNCancellation cancellation)
{
    return cancellation && atomic_load(&cancellation->cancelled);
}

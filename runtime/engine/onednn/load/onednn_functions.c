/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Fills the table of oneDNN's functions: by loading the shared library whose soname is WEBNN_ONEDNN_LIBRARY, or by linking
 * where that is not defined.
 */
#include "runtime/engine/onednn/onednn_functions.h"

#include <dlfcn.h>
#include <pthread.h>

#include "ir/support/guard.h"

#ifdef WEBNN_ONEDNN_LIBRARY
struct onednn_functions onednn;

/* It is never closed, because its threads may still run. */
static struct {
    pthread_mutex_t lock;
    void *library;
} loaded = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What oneDNN 3.7 constructs while it is loaded takes 4 MB, and cannot fail. */
enum { ROOM_BYTES = 8 << 20 };

static bool load(struct error *e)
{
    if (!memory_has_room(ROOM_BYTES))
        return error_out_of_memory(e);
    void *library = dlopen(WEBNN_ONEDNN_LIBRARY, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return error_set(e, WNNStatus_NotSupportedError,
                         "oneDNN, which convolutions and matrix products need, cannot be loaded: %s; install it "
                         "(Debian: " WEBNN_ONEDNN_PACKAGE ")",
                         dlerror());
#define LOAD(name)                                                                                                             \
    if (!(*(void **)&onednn.name = dlsym(library, "dnnl_" #name)))                                                             \
        return error_set(e, WNNStatus_NotSupportedError, "%s has no function dnnl_" #name, WEBNN_ONEDNN_LIBRARY);
    ONEDNN_FUNCTIONS(LOAD)
    ONEDNN_FUNCTIONS_OF_VERSION(LOAD)
#undef LOAD
    loaded.library = library;
    return true;
}

bool onednn_load(struct error *e)
{
    pthread_mutex_lock(&loaded.lock);
    const bool ok = loaded.library || load(e);
    pthread_mutex_unlock(&loaded.lock);
    return ok;
}

void *onednn_find(const char *name)
{
    return dlsym(loaded.library, name);
}
#else
struct onednn_functions onednn = {
#define LINK(name) .name = dnnl_##name,
    ONEDNN_FUNCTIONS(LINK) ONEDNN_FUNCTIONS_OF_VERSION(LINK)
#undef LINK
};

bool onednn_load(struct error *e)
{
    (void)e;
    return true;
}

void *onednn_find(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}
#endif

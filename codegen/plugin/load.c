/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loads a code generator when the first compiler is created, and forwards calls to it: libwebnn_codegen_host, where it is, for
 * code of this process, libwebnn_codegen for objects.  They are looked for next to the library (or the program) that this file
 * is linked into, by absolute path: neither the search path of the system's loader nor the environment says where they are.
 */
#define _GNU_SOURCE
#include "codegen/plugin/functions.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/support/guard.h"
#include "ir/support/text.h"
#include "webnn_build.h"

enum { ROOM_BYTES = 32 << 20 };

/* NULL until they are loaded; they are never closed. */
static const struct codegen_plugin *host, *objects;

/* ---- where it is ---- */

/* The folder of the library or program that this code is part of, and whether that is the program; "" if the system does not
 * say.  It is found when this is loaded, because a library may have been named relative to the folder of that moment. */
static char own_folder[PATH_MAX];
static bool is_program;

__attribute__((constructor)) static void find_own_folder(void)
{
    struct link_map *map = NULL;
    Dl_info info;

    if (!dladdr1((const void *)find_own_folder, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return;
    is_program = !*map->l_name;
    if (realpath(is_program ? "/proc/self/exe" : map->l_name, own_folder))
        *strrchr(own_folder, '/') = '\0';
    else
        *own_folder = '\0';
}

/* Makes the path of a plug-in in a folder, or below it, of the one for this process first if that will do.  Returns whether
 * there is such a file. */
static bool find_in(const char *folder, const char *below, bool for_host, char path[PATH_MAX])
{
    if (for_host && snprintf(path, PATH_MAX, "%s%s/%s", folder, below, WEBNN_CODEGEN_HOST_FILE) < PATH_MAX &&
        access(path, F_OK) == 0)
        return true;
    return snprintf(path, PATH_MAX, "%s%s/%s", folder, below, WEBNN_CODEGEN_FILE) < PATH_MAX && access(path, F_OK) == 0;
}

/* Finds a plug-in: in the library's folder, in the folder of libraries that belongs to a program's, or where libraries are
 * installed.  Returns whether there is such a file; if not, the path is the first of these. */
static bool find(bool for_host, char path[PATH_MAX])
{
    const char *below = is_program ? "/../" WEBNN_LIBDIR : "";

    if (!*own_folder)
        return find_in(WEBNN_FULL_LIBDIR, "", for_host, path);
    return find_in(own_folder, below, for_host, path) || (is_program && find_in(own_folder, "/../lib", for_host, path)) ||
           find_in(WEBNN_FULL_LIBDIR, "", for_host, path) || find_in(own_folder, below, for_host, path);
}

/* Returns the table of the plug-in for code of this process or for objects, or NULL after an error in *e. */
static const struct codegen_plugin *open_plugin(bool for_host, struct error *e)
{
    char path[PATH_MAX], shown[512];

    const bool there = find(for_host, path);
    escape_text(shown, sizeof shown, path, strlen(path));
    if (!there)
        return error_null(e, WNNStatus_NotSupportedError,
                          "there is no code generator, which building a graph needs: %s belongs to this library; install it "
                          "(Debian: " WEBNN_CODEGEN_PACKAGE ")",
                          shown);
    if (!memory_has_room(ROOM_BYTES)) /* what LLVM does while it is loaded cannot fail */
        return error_null_memory(e);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return error_null(e, WNNStatus_NotSupportedError,
                          "the code generator, which building a graph needs, cannot be loaded: %.500s; it needs LLVM 19 "
                          "(Debian: libllvm19)",
                          dlerror());
    const struct codegen_plugin *found = dlsym(library, CODEGEN_PLUGIN_NAME);
    if (!found || strcmp(found->build, WEBNN_BUILD) != 0)
        return error_null(e, WNNStatus_NotSupportedError,
                          "the code generator %s is of build %.80s, and this library of build " WEBNN_BUILD
                          ": install both from one build, and start the program again",
                          shown, found ? found->build : "unknown");
    return found;
}

static bool load(const struct codegen_plugin **plugin, struct error *e)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    if (__atomic_load_n(plugin, __ATOMIC_ACQUIRE))
        return true;
    pthread_mutex_lock(&lock);
    const struct codegen_plugin *found = *plugin;
    if (!found && plugin == &host)
        found = objects; /* one LLVM is enough */
    if (!found)
        found = open_plugin(plugin == &host, e);
    struct error again = {0};
    if (!found && plugin == &host && (found = open_plugin(false, &again))) /* one of another build may lie there */
        *e = (struct error){0};
    __atomic_store_n(plugin, found, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    return found != NULL;
}

/* ---- the functions ---- */

/* Defines a function that forwards to the table of a plug-in: which is loaded, or which a call before this one has loaded. */
#define LOADS(table, type, name, params, args, failed)                                                                         \
    type name params                                                                                                           \
    {                                                                                                                          \
        return load(&table, e) ? table->name args : (failed);                                                                  \
    }
#define FORWARDS(table, type, name, params, args)                                                                              \
    type name params                                                                                                           \
    {                                                                                                                          \
        return table->name args;                                                                                               \
    }

LOADS(host, struct codegen *, codegen_create, (const struct target *t, const struct debug_options *d, struct error *e),
      (t, d, e), NULL)
FORWARDS(host, bool, codegen_is_abandoned, (struct codegen * c), (c))
FORWARDS(host, bool, codegen_compile,
         (struct codegen * c, uint32_t count, struct schedule *const *schedules,
          bool (*cancelled)(void *user, uint32_t done, uint32_t total), void *user, struct codegen_kernels **kernels,
          kernel_function *functions, struct error *e),
         (c, count, schedules, cancelled, user, kernels, functions, e))
FORWARDS(host, bool, codegen_kernels_flatten,
         (struct codegen_kernels * k, struct schedule *const *schedules, uint32_t count, const uint32_t *which, void **bytes,
          size_t *size, uint64_t *offsets, struct error *e),
         (k, schedules, count, which, bytes, size, offsets, e))
FORWARDS(host, const char *, codegen_kernels_structure, (const struct codegen_kernels *k, uint32_t kernel), (k, kernel))
LOADS(objects, uint32_t, object_levels,
      (const char *triple, const char *cpu, const char *features, const char *names[OBJECT_LEVELS_MAX], struct error *e),
      (triple, cpu, features, names, e), 0)
LOADS(objects, bool, object_target,
      (struct target * t, const char *triple, const char *cpu, const char *features, struct arena *a, struct error *e),
      (t, triple, cpu, features, a, e), false)
FORWARDS(objects, bool, object_target_is_native, (const struct target *t), (t))
FORWARDS(objects, bool, object_target_is_bare, (const struct target *t), (t))
FORWARDS(objects, struct object_workspace, object_workspace, (const struct object_program *p), (p))
LOADS(objects, bool, object_create,
      (const struct debug_options *d, const struct object_program *p, const struct object_options *o, void **bytes,
       size_t *length, struct error *e),
      (d, p, o, bytes, length, e), false)

void codegen_free(struct codegen *c)
{
    if (c)
        host->codegen_free(c);
}

void codegen_kernels_free(struct codegen_kernels *k)
{
    if (k)
        host->codegen_kernels_free(k);
}

void codegen_get_times(struct codegen *c, struct codegen_times *out)
{
    host->codegen_get_times(c, out);
}

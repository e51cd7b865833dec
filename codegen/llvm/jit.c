/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is the last step of just-in-time compilation: it makes an object's flat code (flatten.c) executable in this process, and
 * tells profilers and debuggers about it.
 *
 * Code that refers to anything outside itself fails to link.  Under the address sanitizer alone the process is searched, for
 * the sanitizer's run-time.
 */
#define _GNU_SOURCE
#include "codegen/llvm/llvm.h"

#include <dlfcn.h>
#include <elf.h>
#include <llvm-c/Support.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/support/code_memory.h"
#include "ir/support/new_file.h"

/* GDB prescribes these names and members: a list of objects whose sections have addresses, and a function in which it stops. */
struct shown_object {
    struct shown_object *next, *previous;
    void *object;
    uint64_t bytes;
};
extern struct shown_objects {
    uint32_t version, action; /* 1: relevant was added, 2: removed */
    struct shown_object *relevant, *first;
} __jit_debug_descriptor;
/* LLVM's own, where a program has it, takes its place. */
__attribute__((weak)) struct shown_objects __jit_debug_descriptor = {.version = 1};
void __jit_debug_register_code(void);
__attribute__((noinline, weak)) void __jit_debug_register_code(void)
{
    __asm__ volatile("" ::: "memory");
}

struct jit_code {
    void *bytes;
    size_t size;
    struct shown_object shown; /* a copy of the object; NULL without a debugger */
};

static pthread_mutex_t tell_lock = PTHREAD_MUTEX_INITIALIZER; /* the list above, and perf's file */

static void tell_debugger(struct shown_object *s, bool added)
{
    struct shown_objects *all = &__jit_debug_descriptor;

    *(s->previous ? &s->previous->next : &all->first) = added ? s : s->next;
    if (s->next)
        s->next->previous = added ? s : s->previous;
    all->action = added ? 1 : 2;
    all->relevant = s;
    __jit_debug_register_code();
}

/* Appends "start size name" in hexadecimal to /tmp/perf-<pid>.map, which perf reads to name samples: of the function itself and
 * those of its stages. */
static void tell_perf(const char *object, const char *name)
{
    const Elf64_Ehdr *header = (const void *)object;
    const Elf64_Shdr *sections = (const void *)(object + header->e_shoff);
    char path[64];
    int why;

    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    FILE *f = own_file_append(path, &why);
    if (!f)
        fprintf(stderr, "debug switch perf: %s: %s\n", path, strerror(why));
    for (uint32_t i = 0; f && i < header->e_shnum; i++) {
        const Elf64_Sym *s = (const void *)(object + sections[i].sh_offset);
        for (uint64_t n = sections[i].sh_type == SHT_SYMTAB ? sections[i].sh_size / sizeof *s : 0; n > 0; n--, s++)
            if (ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_shndx < header->e_shnum)
                fprintf(f, "%llx %llx webnn_%s_%s\n", (unsigned long long)(sections[s->st_shndx].sh_addr + s->st_value),
                        (unsigned long long)s->st_size, object + sections[sections[i].sh_link].sh_offset + s->st_name, name);
    }
    if (f)
        fclose(f);
}

/* Tells what the debug switches ask for.  The object was read before (flat_code_append). */
static void tell(struct jit_code *c, const struct debug_options *d, const struct flat_code *flat, const void *object,
                 size_t bytes, const char *name)
{
    char *copy = malloc(bytes);

    if (!copy)
        return;
    memcpy(copy, object, bytes);
    const Elf64_Ehdr *header = (void *)copy;
    Elf64_Shdr *sections = (void *)(copy + header->e_shoff);
    for (uint32_t i = 0; i < header->e_shnum; i++)
        sections[i].sh_addr = flat->sections[i] == FLAT_NOT_PLACED ? 0 : (uintptr_t)c->bytes + flat->sections[i];
    pthread_mutex_lock(&tell_lock);
    if (d->flags & DEBUG_PERF)
        tell_perf(copy, name);
    if (d->flags & DEBUG_GDB) {
        c->shown = (struct shown_object){__jit_debug_descriptor.first, NULL, copy, bytes};
        tell_debugger(&c->shown, true);
    } else {
        free(copy);
    }
    pthread_mutex_unlock(&tell_lock);
}

/* Checks are calls: spelled out, they make code of every access, and LLVM takes two to three times as long.  The C API has no
 * other way to say so, and LLVM takes its options once in a process. */
static void call_checks(void)
{
    static const char *const arguments[] = {"", "-asan-instrumentation-with-call-threshold=0"};

    LLVMParseCommandLineOptions(2, arguments, NULL);
}

static void *find_in_process(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}

bool jit_prepare(const struct debug_options *d, struct error *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (!d || !(d->flags & DEBUG_SANITIZE))
        return true;
    if (!find_in_process("__asan_init"))
        return error_set(e, WNNStatus_NotSupportedError,
                         "debug switch sanitize: the program is not built with the address sanitizer");
    pthread_once(&once, call_checks);
    return true;
}

struct jit_code *jit_link(const struct debug_options *d, const void *object, size_t bytes, const char *symbol, const char *name,
                          kernel_function *function, struct error *e)
{
    struct flat_code flat = {.find = d && d->flags & DEBUG_SANITIZE ? find_in_process : NULL};
    struct jit_code *c = calloc(1, sizeof *c);
    uint64_t offset;

    if (!c)
        return error_null_memory(e);
    if (flat_code_append(&flat, object, symbol, &offset, e)) {
        c->size = flat.size;
        c->bytes = code_memory_copy(flat.bytes, flat.size, e);
    }
    if (c->bytes) {
        *function = (kernel_function)((uintptr_t)c->bytes + offset);
        if (d && d->flags & (DEBUG_PERF | DEBUG_GDB))
            tell(c, d, &flat, object, bytes, name);
    } else {
        free(c);
        c = NULL;
    }
    flat_code_free(&flat);
    return c;
}

void jit_unlink(struct jit_code *c)
{
    if (!c)
        return;
    if (c->shown.object) {
        pthread_mutex_lock(&tell_lock);
        tell_debugger(&c->shown, false);
        pthread_mutex_unlock(&tell_lock);
        free(c->shown.object);
    }
    code_memory_free(c->bytes, c->size);
    free(c);
}

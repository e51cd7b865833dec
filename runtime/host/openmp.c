/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Replaces a library's imports of libgomp's functions.  The linker's data structures are those of the ELF specification. */
#define _GNU_SOURCE
#include "runtime/host/openmp.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/host/float_mode.h"
#include "runtime/host/team.h"
#include "runtime/host/threads.h"

/* ---- what stands in for libgomp's functions ---- */

typedef void parallel_function(void (*body)(void *data), void *data, unsigned count, unsigned flags);
typedef void barrier_function(void);
typedef int question_function(void);

enum { PARALLEL, BARRIER, MAX_THREADS, NUM_THREADS, THREAD_NUM, IN_PARALLEL, FUNCTIONS };

static void *before[FUNCTIONS]; /* what stood in the table */

struct openmp_region {
    void (*body)(void *data);
    void *data;
    uint32_t team;       /* what the caller has entered with */
    atomic_bool invalid; /* a part has computed something invalid */
};

static void region_part(void *user, uint32_t part, uint32_t parts)
{
    struct openmp_region *r = user;

    (void)part;
    (void)parts;
    (void)float_take_invalid(); /* of what the thread computed before */
    r->body(r->data);
    if (float_take_invalid())
        atomic_store(&r->invalid, true);
}

/* Returns the region of which the calling thread computes a part, or NULL: of several threads only the caller has entered. */
static const struct openmp_region *current(void)
{
    return team_user(region_part);
}

static uint32_t team_here(void)
{
    const struct openmp_region *r = current();

    return r ? r->team : threads_entered();
}

static bool is_ours(void)
{
    return team_here() > 0;
}

static void parallel(void (*body)(void *data), void *data, unsigned count, unsigned flags)
{
    struct openmp_region r = {body, data, team_here(), false};

    if (r.team == 0)
        ((parallel_function *)before[PARALLEL])(body, data, count, flags);
    else /* a region in a region has one thread */
        threads_run_synchronized(current() ? 1 : count ? count : r.team, region_part, &r);
    if (r.invalid)
        (void)feraiseexcept(FE_INVALID); /* of the caller, as if it had computed all parts */
}

static void barrier(void)
{
    if (is_ours())
        team_barrier();
    else
        ((barrier_function *)before[BARRIER])();
}

static int max_threads(void)
{
    return is_ours() ? (int)team_here() : ((question_function *)before[MAX_THREADS])();
}

static int num_threads(void)
{
    return is_ours() ? (int)team_parts() : ((question_function *)before[NUM_THREADS])();
}

static int thread_num(void)
{
    return is_ours() ? (int)team_part() : ((question_function *)before[THREAD_NUM])();
}

static int in_parallel(void)
{
    return is_ours() ? current() != NULL : ((question_function *)before[IN_PARALLEL])();
}

static const struct {
    const char *name;
    void *function;
    bool needed;
} replacements[FUNCTIONS] = {
    [PARALLEL] = {"GOMP_parallel", (void *)parallel, true},
    [BARRIER] = {"GOMP_barrier", (void *)barrier, false},
    [MAX_THREADS] = {"omp_get_max_threads", (void *)max_threads, true},
    [NUM_THREADS] = {"omp_get_num_threads", (void *)num_threads, true},
    [THREAD_NUM] = {"omp_get_thread_num", (void *)thread_num, true},
    [IN_PARALLEL] = {"omp_in_parallel", (void *)in_parallel, true},
};

/* Functions of libgomp that work on any thread; what omp_set_num_threads sets is for libgomp's regions alone. */
static const char *const harmless[] = {"GOMP_critical_start",    "GOMP_critical_end", "GOMP_critical_name_start",
                                       "GOMP_critical_name_end", "GOMP_atomic_start", "GOMP_atomic_end",
                                       "omp_set_num_threads"};

/* ---- the table ---- */

#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__GLIBC__)

#if defined(__x86_64__)
enum { RELOCATION_CALL = R_X86_64_JUMP_SLOT, RELOCATION_ADDRESS = R_X86_64_GLOB_DAT };
#else
enum { RELOCATION_CALL = R_AARCH64_JUMP_SLOT, RELOCATION_ADDRESS = R_AARCH64_GLOB_DAT };
#endif

enum { SLOTS_MAX = 2 * FUNCTIONS }; /* a function is called, and its address may be taken */

struct imports {
    struct link_map *library;
    const void *file; /* where it is mapped */
    uintptr_t base;
    const ElfW(Sym) * symbols;
    const char *names;
    void **slots[SLOTS_MAX];
    int functions[SLOTS_MAX];
    int count;
    bool others; /* functions of libgomp that teams do not have */
    uintptr_t protected_begin, protected_end;
};

/* The dynamic linker of some systems writes addresses into the section, that of others leaves offsets. */
static const void *dynamic_pointer(const struct imports *m, const ElfW(Dyn) * d)
{
    return (const void *)(d->d_un.d_ptr < m->base ? d->d_un.d_ptr + m->base : d->d_un.d_ptr);
}

static bool is_harmless(const char *name)
{
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (!strcmp(name, harmless[i]))
            return true;
    return false;
}

static void find_slots(struct imports *m, const ElfW(Rela) * relocations, size_t bytes)
{
    for (size_t i = 0; relocations && i < bytes / sizeof *relocations; i++) {
        const ElfW(Rela) *r = &relocations[i];
        unsigned type = (unsigned)ELF64_R_TYPE(r->r_info);
        int function = 0;

        if (type != RELOCATION_CALL && type != RELOCATION_ADDRESS)
            continue;
        const char *name = m->names + m->symbols[ELF64_R_SYM(r->r_info)].st_name;
        while (function < FUNCTIONS && strcmp(name, replacements[function].name) != 0)
            function++;
        if (function < FUNCTIONS && m->count < SLOTS_MAX) {
            m->slots[m->count] = (void **)(m->base + r->r_offset);
            m->functions[m->count++] = function;
        } else if ((!strncmp(name, "GOMP_", 5) || !strncmp(name, "omp_", 4) || !strncmp(name, "__kmpc_", 7)) &&
                   !is_harmless(name)) {
            m->others = true;
        }
    }
}

/* Finds the part of the library that the linker has protected from writing, in which the table lies. */
static int find_protected(struct dl_phdr_info *info, size_t size, void *user)
{
    struct imports *m = user;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    (void)size;
    if (info->dlpi_addr != m->base)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];

        if (h->p_type == PT_GNU_RELRO) {
            m->protected_begin = (m->base + h->p_vaddr) & ~(page - 1);
            m->protected_end = (m->base + h->p_vaddr + h->p_memsz) & ~(page - 1);
        }
    }
    return 1;
}

static bool find_imports(struct imports *m, const void *function)
{
    const ElfW(Rela) *calls = NULL, *addresses = NULL;
    size_t calls_bytes = 0, addresses_bytes = 0;
    struct link_map *map = NULL;
    Dl_info info;

    if (!dladdr1(function, &info, (void **)&map, RTLD_DL_LINKMAP) || !map || !map->l_ld)
        return false;
    m->library = map;
    m->file = info.dli_fbase;
    m->base = map->l_addr;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        switch (d->d_tag) {
        case DT_SYMTAB:
            m->symbols = dynamic_pointer(m, d);
            break;
        case DT_STRTAB:
            m->names = dynamic_pointer(m, d);
            break;
        case DT_JMPREL:
            calls = dynamic_pointer(m, d);
            break;
        case DT_PLTRELSZ:
            calls_bytes = d->d_un.d_val;
            break;
        case DT_RELA:
            addresses = dynamic_pointer(m, d);
            break;
        case DT_RELASZ:
            addresses_bytes = d->d_un.d_val;
            break;
        default:
            break;
        }
    if (!m->symbols || !m->names)
        return false;
    find_slots(m, calls, calls_bytes);
    find_slots(m, addresses, addresses_bytes);
    dl_iterate_phdr(find_protected, m);
    return !m->others;
}

static bool has_all(const struct imports *m)
{
    for (int f = 0; f < FUNCTIONS; f++) {
        bool found = !replacements[f].needed;

        for (int i = 0; i < m->count; i++)
            found |= m->functions[i] == f;
        if (!found)
            return false;
    }
    return true;
}

static bool is_protected(const struct imports *m)
{
    for (int i = 0; i < m->count; i++)
        if ((uintptr_t)m->slots[i] >= m->protected_begin && (uintptr_t)m->slots[i] < m->protected_end)
            return true;
    return false;
}

/* Returns the function that an entry leads to.  One that nothing was called through may still lead to the dynamic linker, which
 * would put that function over ours, and on AArch64 cannot be called from elsewhere. */
static void *bound(const struct imports *m, int i)
{
    const char *name = replacements[m->functions[i]].name;
    void *there = *m->slots[i], *found = NULL;
    Dl_info info;

    if (dladdr(there, &info) && info.dli_fbase == m->file && !(found = dlsym(RTLD_DEFAULT, name)))
        found = dlsym(m->library, name);
    return found ? found : there;
}

bool openmp_redirect(const void *function)
{
    struct imports m = {0};

    if (!find_imports(&m, function) || !has_all(&m))
        return false;
    void *begin = (void *)m.protected_begin;
    size_t bytes = m.protected_end - m.protected_begin;
    bool locked = is_protected(&m);

    if (locked && mprotect(begin, bytes, PROT_READ | PROT_WRITE) != 0)
        return false;
    /* Other threads may be calling through the table: first what stood there, then each entry in one store. */
    for (int i = 0; i < m.count; i++)
        before[m.functions[i]] = bound(&m, i);
    atomic_thread_fence(memory_order_seq_cst);
    for (int i = 0; i < m.count; i++)
        __atomic_store_n(m.slots[i], replacements[m.functions[i]].function, __ATOMIC_RELEASE);
    if (locked)
        (void)mprotect(begin, bytes, PROT_READ);
    return true;
}

#else

bool openmp_redirect(const void *function)
{
    (void)function;
    (void)replacements;
    (void)harmless;
    return false;
}

#endif

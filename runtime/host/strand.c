/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements strands by ucontext.  Below each stack lies a page that faults. */
#define _GNU_SOURCE
#include "runtime/host/strand.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

/* gcc and newer clangs define macros, others have features. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#elif __has_feature(thread_sanitizer) && !defined(__SANITIZE_THREAD__)
#define __SANITIZE_THREAD__ 1
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

enum { STACK_BYTES = 512 * 1024 };

/* What the sanitizers have to know of a stack. */
struct sanitized {
    void *fake, *fiber; /* of the address and of the thread sanitizer */
    const void *bottom;
    size_t bytes;
};

struct strand {
    struct strand *next;
    char *stack;
    ucontext_t context, thread; /* where it goes on, and where its thread does */
    struct sanitized own, threads;
    strand_body *body;
    void *user;
    uint32_t part;
    unsigned seen;
    bool ended;
};

struct strands {
    uint32_t count;
    char *stacks;
    struct strand each[];
};

struct strands *strands_create(uint32_t count)
{
    struct strands *all = calloc(1, sizeof *all + count * sizeof *all->each);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (!all)
        return NULL;
    all->stacks = mmap(NULL, (size_t)count * STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (all->stacks == MAP_FAILED) {
        free(all);
        return NULL;
    }
    all->count = count;
    for (uint32_t i = 0; i < count; i++) {
        all->each[i].stack = all->stacks + (size_t)i * STACK_BYTES;
        if (mprotect(all->each[i].stack, page, PROT_NONE) != 0) {
            strands_free(all);
            return NULL;
        }
    }
    return all;
}

void strands_free(struct strands *all)
{
    if (!all)
        return;
    munmap(all->stacks, (size_t)all->count * STACK_BYTES);
    free(all);
}

/* ---- switching ---- */

/* Leaves `from`, for good if it ends, for `to`. */
static void change(ucontext_t *from, struct sanitized *left, ucontext_t *to, struct sanitized *entered, bool ends)
{
    (void)left;
    (void)entered;
    (void)ends;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(ends ? NULL : &left->fake, entered->bottom, entered->bytes);
#elif defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(entered->fiber, 0);
#endif
    swapcontext(from, to);
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(left->fake, NULL, NULL);
#endif
}

/* makecontext hands over ints: the pointer comes in two halves. */
static void begin(unsigned high, unsigned low)
{
    struct strand *s = (struct strand *)((uintptr_t)high << 32 | low);

#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(NULL, &s->threads.bottom, &s->threads.bytes);
#endif
    s->body(s->user, s->part, s);
    s->ended = true;
    change(&s->context, &s->own, &s->thread, &s->threads, true);
}

void strand_begin(struct strands *all, uint32_t part, strand_body *body, void *user, struct strand **list)
{
    struct strand *s = &all->each[part];
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const uintptr_t self = (uintptr_t)s;

    *s = (struct strand){.next = *list, .stack = s->stack, .body = body, .user = user, .part = part};
    s->own.bottom = s->stack + page;
    s->own.bytes = STACK_BYTES - page;
#if defined(__SANITIZE_THREAD__)
    s->own.fiber = __tsan_create_fiber(0);
#endif
    getcontext(&s->context);
    s->context.uc_stack.ss_sp = s->stack + page;
    s->context.uc_stack.ss_size = s->own.bytes;
    s->context.uc_link = NULL;
    makecontext(&s->context, (void (*)(void))begin, 2, (unsigned)(self >> 32), (unsigned)self);
    *list = s;
}

void strand_continue(struct strand **at)
{
    struct strand *s = *at;

#if defined(__SANITIZE_THREAD__)
    s->threads.fiber = __tsan_get_current_fiber();
#endif
    change(&s->thread, &s->threads, &s->context, &s->own, false);
    if (!s->ended)
        return;
#if defined(__SANITIZE_THREAD__)
    __tsan_destroy_fiber(s->own.fiber);
#endif
    *at = s->next;
}

void strand_wait(struct strand *self, unsigned seen)
{
    self->seen = seen;
    change(&self->context, &self->own, &self->thread, &self->threads, false);
}

unsigned strand_seen(const struct strand *s)
{
    return s->seen;
}

struct strand **strand_next(struct strand *s)
{
    return &s->next;
}

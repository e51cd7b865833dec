/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "ir/support/guard.h"

#include <cstdio>
#include <cxxabi.h>
#include <exception>
#include <new>
#include <sys/mman.h>

namespace
{

struct failure {
};

thread_local unsigned depth;         /* of guard_run */
thread_local char failure_text[256]; /* of the failure under way */

/* Counts this guard_run also when it is left by the end of its thread. */
struct level {
    level()
    {
        depth++;
    }
    ~level()
    {
        depth--;
    }
};

} // namespace

enum guard_end guard_run(void (*work)(void *user), void *user, char *text, size_t size)
{
    level here;

    try {
        work(user);
        return GUARD_RETURNED;
    } catch (const std::bad_alloc &) {
        return GUARD_OUT_OF_MEMORY;
    } catch (const failure &) {
        std::snprintf(text, size, "%s", failure_text);
    } catch (const std::exception &e) {
        std::snprintf(text, size, "%s", e.what());
    } catch (const abi::__forced_unwind &) {
        throw; /* the thread is being cancelled */
    } catch (...) {
        std::snprintf(text, size, "an unknown exception");
    }
    return GUARD_FAILED;
}

bool memory_has_room(size_t bytes)
{
    void *room = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (room == MAP_FAILED)
        return false;
    munmap(room, bytes);
    return true;
}

void guard_leave_failed(const char *text)
{
    if (depth == 0)
        return;
    std::snprintf(failure_text, sizeof failure_text, "%s", text);
    throw failure();
}

void guard_leave_out_of_memory()
{
    if (depth > 0)
        throw std::bad_alloc();
}

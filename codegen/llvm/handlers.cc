/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Installs LLVM's handlers of fatal errors and of allocations that fail.  LLVM ends the process after either unless the handler
 * does not return.  Ours leave the guard that the calling thread is in (ir/support/guard.h) and return if it is in none: a host
 * that uses LLVM itself gets LLVM's default.  LLVM has one handler of each kind for the process and does not tell which one is
 * installed.
 *
 * This is C++ because LLVM's C interface does not have the second.
 */
#include <llvm/Support/ErrorHandling.h>

#include "ir/support/guard.h"

static void on_fatal_error(void *user, const char *reason, bool crash_report)
{
    (void)user, (void)crash_report;
    guard_leave_failed(reason);
}

static void on_bad_alloc(void *user, const char *reason, bool crash_report)
{
    (void)user, (void)reason, (void)crash_report;
    guard_leave_out_of_memory();
}

extern "C" void handlers_install(void);

void handlers_install(void)
{
    llvm::install_fatal_error_handler(on_fatal_error, nullptr);
    llvm::install_bad_alloc_error_handler(on_bad_alloc, nullptr);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes schedules for tests that have no target, and compiles one kernel for tests that have one.
 */
#pragma once

#include "ir/schedule/schedule.h"
#include "support/test.h"

/** A unit of work covers at most that many elements of the vector variable, on every machine; without reductions exactly that.
 */
enum { UNIT_ELEMENTS = 4096 };

/** Describes a processor with AVX-512. */
static const struct isa isa_of_tests = {
    .vector_bits = 512, .fma = true, .f16 = true, .rounding = true, .masks = true, .masks32 = true, .registers = 32};

/** Returns what schedule_cpu, which must succeed, makes for isa, or for isa_of_tests if that is NULL. */
static inline struct schedule *schedule_of(const struct kernel *k, const struct isa *isa)
{
    const struct target t = {.isa = isa ? *isa : isa_of_tests};
    struct schedule *s = schedule_cpu(k, &t);

    assert_non_null(s);
    assert_true(s->vector_block <= UNIT_ELEMENTS);
    assert_true(s->vector_block == UNIT_ELEMENTS || k->reduced_count);
    return s;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares facts about caches. */
#pragma once

#include <stdint.h>

/** Describes the caches of one core.  Schedules must not depend on the individual machine: they assume the sizes below. */
struct cache_facts {
    int64_t l1_way_bytes;    /* addresses that far apart share a set of the L1 cache */
    int64_t l1_ways;         /* lines of one set that the L1 cache holds */
    int64_t row_bytes;       /* bytes of rows that a kernel may keep: they stay in a near cache while other data pass through */
    int64_t l2_bytes;        /* of the L2 cache, if the machine's is unknown (target.cache_bytes) */
    int64_t streams;         /* tensors that a loop may walk: what prefetchers follow, and registers for addresses */
    int64_t ahead_bytes;     /* from where a load is to what it prefetches: more than latency; twice as far for one row */
    double l2_hot_share;     /* share of it that is kept while other data are read, from row to row of a panel */
    double l2_reused_share;  /* the same while as much passes by once */
    double l2_paired_share;  /* the same with another operand, of which a block as large as the cache is in use */
    double l2_between_calls; /* share of it that weights stay in from one run of a network to the next */
};

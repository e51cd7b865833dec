/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Places constants of less than a huge page next to each other in huge pages.  The weights of a language model are hundreds of
 * matrices of some hundred kilobytes: in small pages packing each takes a page fault for every 4 KiB, and a kernel that reads
 * them all for one token is bound by TLB misses.
 */
#pragma once

#include "ir/graph/constant.h"
#include "ir/support/align.h"

/** Is memory that constants share: each has a reference. */
struct constant_region;

/**
 * Creates a constant of so many bytes, less than REGION_CONSTANT_MOST, which the caller writes, in *region, or in a new region
 * that takes its place if that has no room; NULL stands for none.  The caller has a reference to *region, and calls one at a
 * time; constants may be released by any thread at any time.  The memory of the constant that was placed last
 * is used again if it is released before another is placed.  Returns NULL where there are no huge pages, and if memory runs
 * out.
 */
struct constant *constant_region_place(struct constant_region **region, size_t bytes);
enum { REGION_CONSTANT_MOST = TARGET_HUGE_PAGE_BYTES };
/** Drops the caller's reference.  NULL does nothing. */
void constant_region_release(struct constant_region *region);

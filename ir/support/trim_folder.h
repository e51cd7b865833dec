/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#include <stddef.h>
#include <stdint.h>

/**
 * Removes the files of a folder that were not used for the longest time, until all have no more bytes than that.  The time of
 * modification says when a file was used: who loads one sets it.  Only names of so many hexadecimal digits and the suffix are
 * looked at, and temporary files of those (ir/support/new_file.h): what is older than a day is removed.
 */
void trim_folder(const char *folder, size_t digits, const char *suffix, uint64_t bytes);

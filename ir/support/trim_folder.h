/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#include <stddef.h>
#include <stdint.h>

/**
 * Removes the least recently used files of a folder until the rest have at most that many bytes.  A file's time of modification
 * is its last use: loading sets it.  Only names of `digits` hexadecimal digits and the suffix are considered, and temporary
 * files of those (ir/support/new_file.h): those older than a day are removed.
 */
void trim_folder(const char *folder, size_t digits, const char *suffix, uint64_t bytes);

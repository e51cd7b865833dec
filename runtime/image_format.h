/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the two sides of images share: the header and the checksum.  docs/compiled-graphs.md describes them.
 */
#ifndef WEBNN_RUNTIME_IMAGE_FORMAT_H_
#define WEBNN_RUNTIME_IMAGE_FORMAT_H_

#include "runtime/image.h"

#define IMAGE_MAGIC "\x89WNNIMG\n" /* not text, and damaged by whatever converts line ends */
#define IMAGE_BYTE_ORDER 0x01020304u

enum image_flag {
    IMAGE_HAS_CODE = 1,
    IMAGE_DATA_APART = 2,  /* data lie elsewhere; their size and checksum are here */
    IMAGE_HAS_LIBRARY = 4, /* there are steps of oneDNN */
    IMAGE_IS_PACKED = 8    /* and weights in its own layouts */
};

struct image_section {
    uint64_t offset, bytes; /* from the image's start */
};

struct image_header {
    char magic[8];
    uint32_t byte_order, format, header_bytes, kernel_abi;
    char library[16]; /* this library's version, zeros behind */
    uint32_t flags;
    uint32_t onednn_version, onednn_isa, thread_count; /* IMAGE_HAS_LIBRARY */
    uint64_t total_bytes;
    struct image_section plan, code, data;
    uint64_t data_checksum;
    uint64_t checksum; /* of the header (with zeros here), the plan and the code */
};

_Static_assert(sizeof(struct image_header) == 128, "the header has no holes");

/* ---- checksums ---- */

/**
 * Four lanes of 64-bit words; blocks of 64 bytes, the last one filled with zeros.  Every step is a bijection of its lane, so
 * that whatever is altered inside one word is always found, and anything else but once in 2^64.
 */
struct checksum {
    uint64_t lanes[4];
};

void checksum_start(struct checksum *c);
/** Only the last block of what is added in one call is filled up: callers add whole blocks, or ends. */
void checksum_add(struct checksum *c, const void *data, size_t bytes);
uint64_t checksum_end(const struct checksum *c);

/** The checksum that goes into the header of an image in memory. */
uint64_t image_header_checksum(const struct image_header *h, const void *plan, const void *code);

#endif

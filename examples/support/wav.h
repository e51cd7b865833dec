/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads and writes sound files by libsndfile, in any format that it reads, as one channel of floats. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/support/error.h"

/** Holds samples between -1 and 1, which sound_free frees. */
struct sound {
    uint32_t rate; /* per second */
    size_t count;
    float *samples;
};

/** Reads a sound file whose rate must be `rate`; several channels are averaged.  Returns false after a message. */
bool sound_read(const char *path, uint32_t rate, struct sound *sound, struct error *e);
/** Writes a WAV file of 16-bit samples (clipped to -1..1), or of floats as they are.  Returns false after a message. */
bool sound_write(const char *path, const struct sound *sound, bool as_floats, struct error *e);
/** Frees the samples. */
void sound_free(struct sound *sound);

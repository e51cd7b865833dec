/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sound files through libsndfile: any format it reads, as one channel of floats. */
#ifndef WEBNN_EXAMPLES_SUPPORT_WAV_H_
#define WEBNN_EXAMPLES_SUPPORT_WAV_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Samples between -1 and 1; owned (sound_free). */
struct sound {
    uint32_t rate; /* per second */
    size_t count;
    float *samples;
};

/** Reads a sound file whose rate must be `rate`; several channels are averaged.  False: message says why. */
bool sound_read(const char *path, uint32_t rate, struct sound *sound, char *message, size_t size);
/** Writes a WAV file of 16-bit samples (clipped to -1..1), or of floats as they are. */
bool sound_write(const char *path, const struct sound *sound, bool as_floats, char *message, size_t size);
void sound_free(struct sound *sound);

#endif

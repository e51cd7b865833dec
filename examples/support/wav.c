/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads and writes sound files as one channel of floats, by libsndfile. */
#include "examples/support/wav.h"

#include <sndfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/readers/files/file.h"
#include "ir/support/new_file.h"

/* Longer recordings than this (an hour and a half at 48 kHz) belong in a program that streams. */
static const sf_count_t samples_max = (sf_count_t)1 << 28;

bool sound_read(const char *path, uint32_t rate, struct sound *sound, struct error *e)
{
    SF_INFO info = {0};
    SNDFILE *file = sf_open(path, SFM_READ, &info);
    size_t channels = info.channels > 0 ? (size_t)info.channels : 1, capacity = 1 << 16;
    float block[4096];
    sf_count_t got = 0, frames = (sf_count_t)(sizeof block / sizeof *block / channels);

    memset(sound, 0, sizeof *sound);
    if (!file)
        return file_error(e, "%s: %s", path, sf_strerror(NULL));
    if ((uint32_t)info.samplerate != rate || frames == 0) {
        sf_close(file);
        return file_error(e, "%s has %d samples a second in %zu channels, the network was trained with %u", path,
                          info.samplerate, channels, rate);
    }
    sound->rate = rate;
    sound->samples = malloc(capacity * sizeof *sound->samples);
    /* What the header says about the length is not believed: read until the end. */
    while (sound->samples && (got = sf_readf_float(file, block, frames)) > 0 && (sf_count_t)sound->count < samples_max) {
        if (sound->count + (size_t)got > capacity) {
            float *grown = realloc(sound->samples, 2 * capacity * sizeof *grown);

            if (!grown) {
                sound_free(sound);
                break;
            }
            sound->samples = grown;
            capacity *= 2;
        }
        for (size_t i = 0; i < (size_t)got; i++) {
            float sum = 0;

            for (size_t c = 0; c < channels; c++)
                sum += block[i * channels + c];
            sound->samples[sound->count++] = sum / (float)channels;
        }
    }
    sf_close(file);
    if (!sound->samples)
        return file_error(e, "%s: out of memory", path);
    if (got <= 0)
        return true;
    sound_free(sound);
    return file_error(e, "%s: more than %lld samples", path, (long long)samples_max);
}

bool sound_write(const char *path, const struct sound *sound, bool as_floats, struct error *e)
{
    SF_INFO info = {.samplerate = (int)sound->rate,
                    .channels = 1,
                    .format = SF_FORMAT_WAV | (as_floats ? SF_FORMAT_FLOAT : SF_FORMAT_PCM_16)};
    int why;
    struct new_file *out = new_file_open(path, 0, &why);
    SNDFILE *file = out ? sf_open_fd(new_file_descriptor(out), SFM_WRITE, &info, SF_FALSE) : NULL;
    bool ok;

    if (!file) {
        new_file_abandon(out);
        return file_error(e, "%s: %s", path, out ? sf_strerror(NULL) : strerror(why));
    }
    sf_command(file, SFC_SET_CLIPPING, NULL, SF_TRUE);
    ok = sf_write_float(file, sound->samples, (sf_count_t)sound->count) == (sf_count_t)sound->count;
    ok = sf_close(file) == 0 && ok;
    if (ok)
        return new_file_commit(out, &why) || file_error(e, "%s: %s", path, strerror(why));
    new_file_abandon(out);
    return file_error(e, "%s: the file could not be written", path);
}

void sound_free(struct sound *sound)
{
    free(sound->samples);
    memset(sound, 0, sizeof *sound);
}

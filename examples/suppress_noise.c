/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Suppresses noise in a recording of speech.
 *
 *   suppress_noise MODEL IN.wav OUT.wav [--threads N]
 *
 * MODEL is RNNoise: 50 frames of 42 features in, 22 gains for each frame out, and three states, which go from one call to the
 * next as tensors: what one dispatch writes the next one reads, and the host never sees it.  IN.wav has 48000 samples a second.
 * examples/support/bands.h computes features and applies gains.
 *
 * Where this is simpler than the published program: 50 frames (half a second) are looked at together, as the model takes them,
 * so this is no use in a telephone call; a silent frame is given to the network as zeros instead of being left out; and the
 * pitch is found by an exhaustive search.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/support/bands.h"
#include "examples/support/example.h"
#include "examples/support/wav.h"

enum { BLOCK = 50, STATES = 3, RATE = 48000 };

/* Names of the states as inputs and as outputs. */
static const char *const states_in[STATES] = {"vad_h0", "noise_h0", "denoise_h0"};
static const char *const states_out[STATES] = {"vad_gru_h", "noise_gru_h", "denoise_gru_h"};

struct suppressor {
    struct example e;
    struct bands bands;
    WNNTensor features, gains;
    WNNTensor states[STATES][2]; /* read one, write the other, change places */
    int turn;
    struct band_frame frames[BLOCK];
    double compute_ms;
};

static bool open_tensors(struct suppressor *s)
{
    bool ok = example_expect(&s->e, true, "input", WNNOperandDataType_Float32, 3, (uint32_t[]){1, BLOCK, FEATURES}) &&
              example_expect(&s->e, false, "gains", WNNOperandDataType_Float32, 3, (uint32_t[]){1, BLOCK, BANDS}) &&
              example_tensor(&s->e, true, "input", &s->features) && example_tensor(&s->e, false, "gains", &s->gains);

    for (int i = 0; i < STATES && ok; i++)
        ok = example_tensor(&s->e, true, states_in[i], &s->states[i][0]) &&
             example_tensor(&s->e, false, states_out[i], &s->states[i][1]);
    return ok;
}

/* Runs one block through the network: features to gains, states from one block to the next. */
static bool dispatch(struct suppressor *s, const float *features, float *gains)
{
    WNNNamedTensor in[1 + STATES] = {{WNN_STR("input"), s->features}}, out[1 + STATES] = {{WNN_STR("gains"), s->gains}};
    WNNContext c = s->e.context;
    double start = example_now_ms();
    bool ok;

    for (int i = 0; i < STATES; i++) {
        in[1 + i] = (WNNNamedTensor){WNN_STR(states_in[i]), s->states[i][s->turn]};
        out[1 + i] = (WNNNamedTensor){WNN_STR(states_out[i]), s->states[i][!s->turn]};
    }
    s->turn = !s->turn;
    ok = example_ok(&s->e, wnnContextWriteTensor(c, s->features, features, BLOCK * FEATURES * sizeof *features), "write") &&
         example_ok(&s->e, wnnContextDispatch(c, s->e.graph, 1 + STATES, in, 1 + STATES, out), "dispatch") &&
         example_ok(&s->e, wnnContextReadTensor(c, s->gains, gains, BLOCK * BANDS * sizeof *gains), "read");
    s->compute_ms += example_now_ms() - start;
    return ok;
}

/* Sound comes out one frame later than it goes in: the first frame that comes out is dropped, one of zeros goes in after the
 * last. */
static bool suppress(struct suppressor *s, struct sound *sound)
{
    size_t frames = (sound->count + FRAME - 1) / FRAME + 1;
    float features[BLOCK][FEATURES], gains[BLOCK][BANDS], in[FRAME], out[FRAME];
    float *result = calloc(frames * FRAME, sizeof *result);
    bool ok = result || example_error(&s->e, "out of memory");

    for (size_t block = 0; block < frames && ok; block += BLOCK) {
        size_t count = frames - block < BLOCK ? frames - block : BLOCK;

        memset(features, 0, sizeof features);
        for (size_t i = 0; i < count; i++) {
            size_t start = (block + i) * FRAME, have = start < sound->count ? sound->count - start : 0;

            memset(in, 0, sizeof in);
            if (have)
                memcpy(in, sound->samples + start, (have < FRAME ? have : FRAME) * sizeof *in);
            bands_analyse(&s->bands, in, &s->frames[i], features[i]);
        }
        ok = dispatch(s, features[0], gains[0]);
        for (size_t i = 0; i < count && ok; i++) {
            bands_synthesise(&s->bands, &s->frames[i], gains[i], out);
            if (block + i)
                memcpy(result + (block + i - 1) * FRAME, out, sizeof out);
        }
    }
    if (ok)
        memcpy(sound->samples, result, sound->count * sizeof *result);
    free(result);
    return ok;
}

int main(int argc, char **argv)
{
    struct suppressor *s = calloc(1, sizeof *s);
    struct sound sound = {0};
    const char *words[3];
    uint32_t threads = 1; /* the network is too small for more */
    struct error error = {0};
    bool ok;

    if (!s || example_arguments(argc, argv, words, 3, &threads, NULL, NULL) != 3) {
        fprintf(stderr, "usage: suppress_noise MODEL IN.wav OUT.wav [--threads N]\n");
        free(s);
        return 2;
    }
    s->e.program = "suppress_noise";
    ok = (sound_read(words[1], RATE, &sound, &error) || example_error(&s->e, "%s", error.message)) &&
         (bands_open(&s->bands) || example_error(&s->e, "out of memory")) &&
         example_open(&s->e, "suppress_noise", words[0], threads) && open_tensors(s) && suppress(s, &sound) &&
         (sound_write(words[2], &sound, false, &error) || example_error(&s->e, "%s", error.message));
    if (ok)
        printf("%.2f s of sound; read and built in %.1f ms, computed in %.1f ms\nwrote %s\n", (double)sound.count / RATE,
               s->e.build_ms, s->compute_ms, words[2]);
    wnnTensorRelease(s->features);
    wnnTensorRelease(s->gains);
    for (int i = 0; i < STATES; i++) {
        wnnTensorRelease(s->states[i][0]);
        wnnTensorRelease(s->states[i][1]);
    }
    example_close(&s->e);
    bands_close(&s->bands);
    sound_free(&sound);
    free(s);
    return !ok;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Says when somebody speaks in a recording.
 *
 *   detect_speech MODEL SPEECH.wav [--probabilities FILE.npy] [--state FILE.npy] [--threads N]
 *
 * MODEL is Silero VAD for 16 kHz: `input` [1, 576], 64 samples of the frame before and the 512 of this one, and `state`
 * [2, 1, 128]; `output` is the probability of speech in the frame, `stateN` the state for the next one.  The state lives in two
 * tensors that change places: the host never reads it, unless --state asks for the last one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/support/example.h"
#include "examples/support/wav.h"
#include "frontend/readers/files/npy.h"

enum { RATE = 16000, FRAME = 512, BEFORE = 64, STATE = 2 * 128 };

/* Computes the probabilities of the `frames` whole frames, and leaves the last state in `state`. */
static bool detect(const struct example *e, const struct sound *sound, size_t frames, float *probabilities, float *state)
{
    WNNTensor input = NULL, output = NULL, states[2] = {NULL, NULL};
    float samples[BEFORE + FRAME] = {0};
    WNNContext c = e->context;
    bool ok = example_tensor(e, true, "input", &input) && example_tensor(e, false, "output", &output) &&
              example_tensor(e, true, "state", &states[0]) && example_tensor(e, false, "stateN", &states[1]);

    for (size_t i = 0; i < frames && ok; i++) {
        WNNNamedTensor in[2] = {{WNN_STR("input"), input}, {WNN_STR("state"), states[i % 2]}};
        WNNNamedTensor out[2] = {{WNN_STR("output"), output}, {WNN_STR("stateN"), states[(i + 1) % 2]}};

        memmove(samples, samples + FRAME, BEFORE * sizeof *samples);
        memcpy(samples + BEFORE, sound->samples + i * FRAME, FRAME * sizeof *samples);
        ok = example_ok(e, wnnContextWriteTensor(c, input, samples, sizeof samples), "write") &&
             example_ok(e, wnnContextDispatch(c, e->graph, 2, in, 2, out), "dispatch") &&
             example_ok(e, wnnContextReadTensor(c, output, &probabilities[i], sizeof *probabilities), "read");
    }
    ok = ok && example_ok(e, wnnContextReadTensor(c, states[frames % 2], state, STATE * sizeof *state), "read");
    wnnTensorRelease(input);
    wnnTensorRelease(output);
    wnnTensorRelease(states[0]);
    wnnTensorRelease(states[1]);
    return ok;
}

/* Speech begins where the probability rises above a half, and ends where it falls below a third. */
static void print_speech(const float *probabilities, size_t frames)
{
    const double seconds = (double)FRAME / RATE;
    bool speaking = false;
    size_t above = 0;

    for (size_t i = 0; i <= frames; i++) {
        float p = i < frames ? probabilities[i] : 0;

        above += p > 0.5f;
        if (!speaking && p > 0.5f) {
            printf("speech from %.2f s", (double)i * seconds);
            speaking = true;
        } else if (speaking && p < 0.35f) {
            printf(" to %.2f s\n", (double)i * seconds);
            speaking = false;
        }
    }
    printf("%zu of %zu frames are speech\n", above, frames);
}

static bool save(const struct example *e, const char *path, const float *data, size_t rank, const uint32_t *shape)
{
    struct npy_array array = {
        .dataType = WNNOperandDataType_Float32, .rank = rank, .byteLength = sizeof *data, .data = (void *)data};
    struct error error = {0};

    for (size_t i = 0; i < rank; i++) {
        array.shape[i] = shape[i];
        array.byteLength *= shape[i];
    }
    return !path || npy_write(path, &array, &error) || example_error(e, "%s", error.message);
}

int main(int argc, char **argv)
{
    const char *const names[] = {"--probabilities", "--state", NULL};
    const char *words[2], *values[2] = {NULL, NULL};
    float *probabilities = NULL, state[STATE];
    struct example e = {.program = "detect_speech"};
    struct sound sound = {0};
    uint32_t threads = 1; /* the network is too small for more */
    size_t frames;
    struct error error = {0};
    double start;
    bool ok;

    if (example_arguments(argc, argv, words, 2, &threads, names, values) != 2) {
        fprintf(stderr, "usage: detect_speech MODEL SPEECH.wav [--probabilities FILE.npy] [--state FILE.npy] [--threads N]\n");
        return 2;
    }
    ok = (sound_read(words[1], RATE, &sound, &error) || example_error(&e, "%s", error.message)) &&
         example_open(&e, "detect_speech", words[0], threads) &&
         example_expect(&e, true, "input", WNNOperandDataType_Float32, 2, (uint32_t[]){1, BEFORE + FRAME}) &&
         example_expect(&e, true, "state", WNNOperandDataType_Float32, 3, (uint32_t[]){2, 1, 128}) &&
         example_expect(&e, false, "stateN", WNNOperandDataType_Float32, 3, (uint32_t[]){2, 1, 128}) &&
         example_expect(&e, false, "output", WNNOperandDataType_Float32, 2, (uint32_t[]){1, 1});
    frames = sound.count / FRAME;
    ok = ok && (frames || example_error(&e, "%s is shorter than a frame of %d samples", words[1], FRAME));
    probabilities = malloc((frames + 1) * sizeof *probabilities);
    ok = ok && (probabilities || example_error(&e, "out of memory"));
    start = example_now_ms();
    ok = ok && detect(&e, &sound, frames, probabilities, state);
    if (ok) {
        print_speech(probabilities, frames);
        printf("read and built in %.1f ms, %.3f ms for each frame of %d ms\n", e.build_ms,
               (example_now_ms() - start) / (double)frames, FRAME * 1000 / RATE);
        ok = save(&e, values[0], probabilities, 1, (uint32_t[]){(uint32_t)frames}) &&
             save(&e, values[1], state, 3, (uint32_t[]){2, 1, 128});
    }
    free(probabilities);
    sound_free(&sound);
    example_close(&e);
    return !ok;
}

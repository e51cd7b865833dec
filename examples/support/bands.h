/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes 22 bands of speech, 100 times a second: what the network RNNoise hears, and how its gains become sound again (J.-M.
 * Valin, "A Hybrid DSP/Deep Learning Approach to Real-Time Full-Band Speech Enhancement", 2018).
 *
 * Frames have 480 samples at 48 kHz.  Each is seen together with the one before it through a window of 20 ms; a transform gives
 * 481 frequencies, which triangles collect into 22 bands as wide as ears resolve them.  The network gets 42 features, and what
 * is needed to apply 22 gains and go back is kept: the sound of a frame comes out 480 samples later.
 *
 * Read bands.c, then pitch.c.
 */
#pragma once

#include <stdbool.h>

#include <kiss_fftr.h>

enum {
    BANDS = 22,
    FEATURES = 42,
    FRAME = 480,
    WINDOW = 2 * FRAME,
    FREQUENCIES = FRAME + 1,
    CEPSTRA = 8,      /* remembered for the variability */
    PERIOD_MIN = 60,  /* of the voice, in samples: 800 Hz */
    PERIOD_MAX = 768, /* 62.5 Hz */
    HISTORY = PERIOD_MAX + WINDOW
};

/** Holds the state from frame to frame. */
struct bands {
    kiss_fftr_cfg forward, inverse;
    float window[FRAME]; /* rising half */
    float cosines[BANDS][BANDS];
    float high_pass[2];
    float history[HISTORY]; /* newest last */
    float overlap[FRAME];   /* second half of the last frame's sound */
    float cepstra[CEPSTRA][BANDS];
    unsigned newest; /* of cepstra */
    int period;      /* of the voice in the last frame, and how periodic it was */
    float periodicity;
    float gains[BANDS]; /* of the last frame */
};

/** Holds a frame between analysis and synthesis. */
struct band_frame {
    kiss_fft_cpx spectrum[FREQUENCIES];
    kiss_fft_cpx voice[FREQUENCIES]; /* of the sound one period ago: the same, if there is a voice */
    float energy[BANDS], voice_energy[BANDS];
    float likeness[BANDS]; /* of the two: 1 for a pure voice */
    bool silent;
};

/** Prepares everything.  Returns false if memory runs out. */
bool bands_open(struct bands *b);
/** Frees what b holds. */
void bands_close(struct bands *b);
/** Analyses 480 samples between -1 and 1: fills the frame and makes its features. */
void bands_analyse(struct bands *b, const float *in, struct band_frame *frame, float features[FEATURES]);
/** Applies gains to a frame and makes 480 samples, of the frame before this one. */
void bands_synthesise(struct bands *b, struct band_frame *frame, const float gains[BANDS], float *out);

/**
 * Finds the period of the voice at the end of `history` (HISTORY samples) and how periodic it is (0 to 1), starting from those
 * of the frame before.
 */
void pitch_find(const float *history, int *period, float *periodicity);

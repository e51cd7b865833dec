/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes features from samples and samples from gains (bands.h).
 *
 * The network was trained on samples of 16 bits, a transform divided by its length, and the features as they are made here;
 * their constants are part of the trained network as much as its weights are.
 */
#include "examples/support/bands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* These say where the bands' triangles have their tips, in steps of 200 Hz; a frequency is 50 Hz wide. */
static const int tips[BANDS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 34, 40, 48, 60, 78, 100};
enum { FREQUENCIES_PER_STEP = 4 };

static const float sample_scale = 32768;

bool bands_open(struct bands *b)
{
    memset(b, 0, sizeof *b);
    b->forward = kiss_fftr_alloc(WINDOW, 0, NULL, NULL);
    b->inverse = kiss_fftr_alloc(WINDOW, 1, NULL, NULL);
    b->period = PERIOD_MIN;
    /* Squares of the two halves add up to 1, so that windows before and after leave a frame as it was. */
    for (int i = 0; i < FRAME; i++) {
        double s = sin(0.5 * PI * (i + 0.5) / FRAME);

        b->window[i] = (float)sin(0.5 * PI * s * s);
    }
    for (int i = 0; i < BANDS; i++)
        for (int k = 0; k < BANDS; k++)
            b->cosines[k][i] = (float)(cos((i + 0.5) * k * PI / BANDS) * sqrt((k ? 2.0 : 1.0) / BANDS));
    if (b->forward && b->inverse)
        return true;
    bands_close(b);
    return false;
}

void bands_close(struct bands *b)
{
    kiss_fftr_free(b->forward);
    kiss_fftr_free(b->inverse);
    b->forward = b->inverse = NULL;
}

/* ---- analysis ---- */

static void transform(const struct bands *b, const float *samples, kiss_fft_cpx *out)
{
    float windowed[WINDOW];

    for (int i = 0; i < FRAME; i++) {
        windowed[i] = samples[i] * b->window[i];
        windowed[WINDOW - 1 - i] = samples[WINDOW - 1 - i] * b->window[i];
    }
    kiss_fftr(b->forward, windowed, out);
    for (int i = 0; i < FREQUENCIES; i++) {
        out[i].r /= WINDOW;
        out[i].i /= WINDOW;
    }
}

/* Computes the real part of x times the conjugate of y, by bands; with x twice that is energy. */
static void collect(const kiss_fft_cpx *x, const kiss_fft_cpx *y, float out[BANDS])
{
    memset(out, 0, BANDS * sizeof *out);
    for (int band = 0; band + 1 < BANDS; band++) {
        int start = tips[band] * FREQUENCIES_PER_STEP, width = (tips[band + 1] - tips[band]) * FREQUENCIES_PER_STEP;

        for (int i = 0; i < width; i++) {
            float product = x[start + i].r * y[start + i].r + x[start + i].i * y[start + i].i;

            out[band] += product * (1 - (float)i / (float)width);
            out[band + 1] += product * (float)i / (float)width;
        }
    }
    /* Half triangles at both ends. */
    out[0] *= 2;
    out[BANDS - 1] *= 2;
}

/* Numbers of bands as a curve over all frequencies; 0 above the last band (20 kHz). */
static void spread(const float bands[BANDS], float out[FREQUENCIES])
{
    memset(out, 0, FREQUENCIES * sizeof *out);
    for (int band = 0; band + 1 < BANDS; band++) {
        int start = tips[band] * FREQUENCIES_PER_STEP, width = (tips[band + 1] - tips[band]) * FREQUENCIES_PER_STEP;

        for (int i = 0; i < width; i++)
            out[start + i] = bands[band] + (bands[band + 1] - bands[band]) * (float)i / (float)width;
    }
}

static void cosine_transform(const struct bands *b, const float in[BANDS], float out[BANDS])
{
    for (int k = 0; k < BANDS; k++) {
        out[k] = 0;
        for (int i = 0; i < BANDS; i++)
            out[k] += in[i] * b->cosines[k][i];
    }
}

/* Moves the history on by a frame, without frequencies below speech (a second-order high-pass near 20 Hz). */
static void remember(struct bands *b, const float *in)
{
    float *out = b->history + HISTORY - FRAME, *m = b->high_pass;

    memmove(b->history, b->history + FRAME, (HISTORY - FRAME) * sizeof *b->history);
    for (int i = 0; i < FRAME; i++) {
        float x = in[i] * sample_scale, y = x + m[0];

        m[0] = m[1] - 2 * x + 1.99599f * y;
        m[1] = x - 0.99600f * y;
        out[i] = y;
    }
}

/*
 * Computes logarithms of the bands' energies; none is taken for more than 70 dB below the loudest or 15 dB below its neighbour.
 */
static float log_energies(const float energy[BANDS], float out[BANDS])
{
    float highest = -2, follow = -2, sum = 0;

    for (int i = 0; i < BANDS; i++) {
        out[i] = fmaxf(fmaxf(log10f(0.01f + energy[i]), highest - 7), follow - 1.5f);
        highest = fmaxf(highest, out[i]);
        follow = fmaxf(follow - 1.5f, out[i]);
        sum += energy[i];
    }
    return sum;
}

/* Returns how much the last cepstra differ: the mean distance of each to the one most like it. */
static float variability(const struct bands *b)
{
    float sum = 0;

    for (int i = 0; i < CEPSTRA; i++) {
        float nearest = 1e15f;

        for (int j = 0; j < CEPSTRA; j++) {
            float distance = 0;

            for (int k = 0; k < BANDS && j != i; k++)
                distance += (b->cepstra[i][k] - b->cepstra[j][k]) * (b->cepstra[i][k] - b->cepstra[j][k]);
            if (j != i)
                nearest = fminf(nearest, distance);
        }
        sum += nearest;
    }
    return sum / CEPSTRA;
}

void bands_analyse(struct bands *b, const float *in, struct band_frame *f, float features[FEATURES])
{
    enum { LOW = 6, CHANGE = BANDS, CURVE = BANDS + LOW, VOICE = BANDS + 2 * LOW };
    float logs[BANDS], cepstrum[BANDS], voice[BANDS];
    const float *last, *before;

    remember(b, in);
    transform(b, b->history + HISTORY - WINDOW, f->spectrum);
    collect(f->spectrum, f->spectrum, f->energy);
    pitch_find(b->history, &b->period, &b->periodicity);
    transform(b, b->history + HISTORY - WINDOW - b->period, f->voice);
    collect(f->voice, f->voice, f->voice_energy);
    collect(f->spectrum, f->voice, f->likeness);
    for (int i = 0; i < BANDS; i++)
        f->likeness[i] /= sqrtf(0.001f + f->energy[i] * f->voice_energy[i]);

    memset(features, 0, FEATURES * sizeof *features);
    f->silent = log_energies(f->energy, logs) < 0.04f;
    if (f->silent)
        return;
    cosine_transform(b, logs, cepstrum);
    cepstrum[0] -= 12;
    cepstrum[1] -= 4;
    last = b->cepstra[b->newest];
    before = b->cepstra[(b->newest + CEPSTRA - 1) % CEPSTRA];
    memcpy(features, cepstrum, sizeof cepstrum);
    for (int i = 0; i < LOW; i++) {
        features[i] = cepstrum[i] + last[i] + before[i];
        features[CHANGE + i] = cepstrum[i] - before[i];
        features[CURVE + i] = cepstrum[i] - 2 * last[i] + before[i];
    }
    b->newest = (b->newest + 1) % CEPSTRA;
    memcpy(b->cepstra[b->newest], cepstrum, sizeof cepstrum);

    cosine_transform(b, f->likeness, voice);
    memcpy(features + VOICE, voice, LOW * sizeof *voice);
    features[VOICE] -= 1.3f;
    features[VOICE + 1] -= 0.9f;
    features[VOICE + LOW] = 0.01f * (float)(b->period - 300);
    features[VOICE + LOW + 1] = variability(b) - 2.1f;
}

/* ---- synthesis ---- */

static void multiply(kiss_fft_cpx *spectrum, const float factors[FREQUENCIES])
{
    for (int i = 0; i < FREQUENCIES; i++) {
        spectrum[i].r *= factors[i];
        spectrum[i].i *= factors[i];
    }
}

/*
 * Damps noise between the harmonics of a voice: adds the sound of one period ago, more where the network hears more noise than
 * the likeness explains, and keeps each band's energy.
 */
static void comb(struct band_frame *f, const float gains[BANDS])
{
    float amount[BANDS], energy[BANDS], curve[FREQUENCIES];

    for (int i = 0; i < BANDS; i++) {
        float p = f->likeness[i] * f->likeness[i], g = gains[i] * gains[i];
        float r = f->likeness[i] > gains[i] ? 1 : p * (1 - g) / (0.001f + g * (1 - p));

        amount[i] = sqrtf(fminf(fmaxf(r, 0), 1)) * sqrtf(f->energy[i] / (1e-8f + f->voice_energy[i]));
    }
    spread(amount, curve);
    for (int i = 0; i < FREQUENCIES; i++) {
        f->spectrum[i].r += curve[i] * f->voice[i].r;
        f->spectrum[i].i += curve[i] * f->voice[i].i;
    }
    collect(f->spectrum, f->spectrum, energy);
    for (int i = 0; i < BANDS; i++)
        amount[i] = sqrtf(f->energy[i] / (1e-8f + energy[i]));
    spread(amount, curve);
    multiply(f->spectrum, curve);
}

void bands_synthesise(struct bands *b, struct band_frame *f, const float gains[BANDS], float *out)
{
    float samples[WINDOW], curve[FREQUENCIES];

    if (!f->silent) {
        comb(f, gains);
        /* A gain falls by 40 % per frame at most, so that what fades does not break off. */
        for (int i = 0; i < BANDS; i++)
            b->gains[i] = fmaxf(gains[i], 0.6f * b->gains[i]);
        spread(b->gains, curve);
        multiply(f->spectrum, curve);
    }
    kiss_fftri(b->inverse, f->spectrum, samples);
    for (int i = 0; i < FRAME; i++) {
        out[i] = (samples[i] * b->window[i] + b->overlap[i]) / sample_scale;
        b->overlap[i] = samples[FRAME + i] * b->window[FRAME - 1 - i];
    }
}

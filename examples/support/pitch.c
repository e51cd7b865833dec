/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds the period of a voice, which is the lag at which a signal is most like itself.
 *
 * The search goes over all lags at half the rate, in the signal with its spectrum made flat by a predictor of order 4 (or the
 * formants would be found instead of the voice).  A signal of period T is like itself at 2 T and 3 T as well, so a part of the
 * best lag is taken if it does almost as well; one near the last frame's period needs less.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/support/bands.h"

enum { HALF = HISTORY / 2, LENGTH = WINDOW / 2, LAG_MIN = PERIOD_MIN / 2, LAG_MAX = PERIOD_MAX / 2, ORDER = 4 };

/* Takes every second sample of the signal without what would alias. */
static void halve(const float *in, float *out)
{
    out[0] = 0.5f * in[0] + 0.25f * in[1];
    for (int i = 1; i < HALF; i++)
        out[i] = 0.25f * in[2 * i - 1] + 0.5f * in[2 * i] + 0.25f * in[2 * i + 1];
}

/* Subtracts from the signal what a predictor from its last samples expects (Levinson's recursion). */
static void flatten(float *x)
{
    double correlation[ORDER + 1], a[ORDER + 1] = {1}, error;
    float past[ORDER] = {0};

    for (int lag = 0; lag <= ORDER; lag++) {
        correlation[lag] = 0;
        for (int i = lag; i < HALF; i++)
            correlation[lag] += (double)x[i] * (double)x[i - lag];
        correlation[lag] *= 1 - (0.008 * lag) * (0.008 * lag); /* blunts peaks of the spectrum */
    }
    error = correlation[0] = correlation[0] * 1.0001 + 1e-9;
    for (int k = 1; k <= ORDER; k++) {
        double sum = 0, next[ORDER + 1];

        for (int i = 0; i < k; i++)
            sum += a[i] * correlation[k - i];
        memcpy(next, a, sizeof next);
        next[k] = 0;
        for (int i = 1; i <= k; i++)
            next[i] += -sum / error * a[k - i];
        memcpy(a, next, sizeof next);
        error *= 1 - (sum / error) * (sum / error);
    }
    for (int k = 1; k <= ORDER; k++)
        a[k] *= pow(0.9, k);
    for (int i = 0; i < HALF; i++) {
        float sum = x[i];

        for (int k = 0; k < ORDER; k++)
            sum += (float)a[k + 1] * past[k];
        memmove(past + 1, past, (ORDER - 1) * sizeof *past);
        past[0] = x[i];
        x[i] = sum;
    }
}

static float product(const float *a, const float *b)
{
    float sum = 0;

    for (int i = 0; i < LENGTH; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Returns how alike a signal is at a lag: 1 for a repetition, 0 or below for none. */
static float likeness(const float *now, int lag, float energy, const float *energies)
{
    return product(now, now - lag) / sqrtf(1 + energy * energies[lag]);
}

void pitch_find(const float *history, int *period, float *periodicity)
{
    float x[HALF], energies[LAG_MAX + 2], found[LAG_MAX + 2], energy, best = -1;
    const float *now = x + LAG_MAX;
    int lag = LAG_MIN, last = *period / 2, offset = 0;

    halve(history, x);
    flatten(x);
    energies[0] = energy = product(now, now);
    for (int i = 1; i <= LAG_MAX; i++) {
        float moved = energies[i - 1] + now[-i] * now[-i] - now[LENGTH - i] * now[LENGTH - i];

        energies[i] = fmaxf(moved, 0);
    }
    for (int i = LAG_MIN; i < LAG_MAX; i++) {
        found[i] = likeness(now, i, energy, energies);
        if (found[i] > best) {
            best = found[i];
            lag = i;
        }
    }
    for (int parts = 15, whole = lag; parts >= 2; parts--) {
        int part = (2 * whole + parts) / (2 * parts);
        bool near = abs(part - last) <= 2;
        /* Short periods need more evidence: formants are found there. */
        float wanted = (part < 3 * LAG_MIN ? 0.85f : 0.7f) * best - (near ? 0.5f * *periodicity : 0);

        if (part < LAG_MIN || !(found[part] > fmaxf(wanted, part < 3 * LAG_MIN ? 0.4f : 0.3f)))
            continue;
        /* What has this period repeats at the double of it, too. */
        if (2 * part < LAG_MAX && found[2 * part] < 0.5f * found[part])
            continue;
        lag = part;
        best = found[part];
        break;
    }
    /* The lag goes back to the full rate, towards the neighbour that does better. */
    if (lag > LAG_MIN && lag + 1 < LAG_MAX) {
        if (found[lag + 1] - found[lag - 1] > 0.7f * (found[lag] - found[lag - 1]))
            offset = 1;
        else if (found[lag - 1] - found[lag + 1] > 0.7f * (found[lag] - found[lag + 1]))
            offset = -1;
    }
    *period = 2 * lag + offset;
    *periodicity = fminf(fmaxf(best, 0), 1);
}

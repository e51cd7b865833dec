/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The examples that listen: noise suppressed in signals made here, speech found where the reference finds it. */
#include "tools/tool_support.h"

#include "examples/support/wav.h"

#define PI 3.14159265358979323846

/* ---- signals ---- */

static double uniform(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 8) * 0x1p-24;
}

/* Nearly normal noise with the variance 1. */
static double noise(uint32_t *state)
{
    double sum = 0;

    for (int i = 0; i < 12; i++)
        sum += uniform(state);
    return sum - 6;
}

/* A resonance at a frequency, as of a throat. */
struct resonance {
    double a, b, y1, y2;
};

static double resonate(struct resonance *r, double frequency, double width, double rate, double x)
{
    double radius = exp(-PI * width / rate), y;

    r->a = 2 * radius * cos(2 * PI * frequency / rate);
    r->b = -radius * radius;
    y = (1 - radius) * x + r->a * r->y1 + r->b * r->y2;
    r->y2 = r->y1;
    r->y1 = y;
    return y;
}

/* Something like speech: syllables of vowels, pulses of a gliding voice through three resonances, with pauses between words. */
static struct sound speech_like(size_t seconds)
{
    static const double vowels[5][3] = {
        {700, 1220, 2600}, {300, 2300, 3000}, {300, 870, 2240}, {530, 1840, 2480}, {570, 840, 2410}};
    struct sound s = {48000, seconds * 48000, calloc(seconds * 48000, sizeof(float))};
    struct resonance throat[3] = {{0, 0, 0, 0}};
    double phase = 0, largest = 0;

    assert_non_null(s.samples);
    for (size_t i = 0; i < s.count; i++) {
        double t = (double)i / s.rate, syllable = fmod(t, 0.25) / 0.25, x = 0;
        bool pause = fmod(t, 2.0) > 1.5;
        const double *vowel = vowels[(size_t)(t * 4) * 7 % 5];
        double loud = pause ? 0 : pow(sin(PI * syllable), 2);

        phase += (120 + 30 * sin(2 * PI * 0.7 * t)) / s.rate;
        if (phase >= 1) {
            phase -= 1;
            x = 1;
        }
        for (int k = 0; k < 3; k++)
            x = resonate(&throat[k], vowel[k], 60 + 40 * k, s.rate, 20 * x);
        s.samples[i] = (float)(x * loud);
        largest = fmax(largest, fabs((double)s.samples[i]));
    }
    for (size_t i = 0; i < s.count; i++)
        s.samples[i] *= (float)(0.5 / largest);
    return s;
}

/* Three times as many samples by an interpolator that passes what was there (a windowed sinc). */
static struct sound tripled(const float *samples, size_t count)
{
    enum { REACH = 16 };
    struct sound s = {48000, 3 * count, calloc(3 * count, sizeof(float))};

    assert_non_null(s.samples);
    for (size_t i = 0; i < s.count; i++) {
        double sum = 0;

        for (long k = (long)(i / 3) - REACH; k <= (long)(i / 3) + REACH; k++) {
            double x = (double)i / 3 - (double)k;

            if (k < 0 || k >= (long)count || fabs(x) > REACH)
                continue;
            sum += (double)samples[k] * (x == 0 ? 1 : sin(PI * x) / (PI * x) * (0.5 + 0.5 * cos(PI * x / REACH)));
        }
        s.samples[i] = (float)sum;
    }
    return s;
}

static double power(const float *samples, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (double)samples[i] * (double)samples[i];
    return sum;
}

/* Signal to noise in decibels: how far `actual` is from `clean`. */
static double signal_to_noise(const struct sound *clean, const struct sound *actual)
{
    double wrong = 0;

    assert_int_equal(clean->count, actual->count);
    for (size_t i = 0; i < clean->count; i++)
        wrong += pow((double)actual->samples[i] - (double)clean->samples[i], 2);
    return 10 * log10(power(clean->samples, clean->count) / wrong);
}

/* Adds noise `decibels` below the signal, runs the example, and returns what it gained; *quiet: the gain where there is no
 * signal. */
static double suppress(const char *model, const struct sound *clean, double decibels, double *quiet)
{
    struct sound noisy = {clean->rate, clean->count, malloc(clean->count * sizeof(float))}, result;
    double level = sqrt(power(clean->samples, clean->count) / (double)clean->count / pow(10, decibels / 10)), before = 0,
           after = 0, gain;
    uint32_t state = 1;

    assert_non_null(noisy.samples);
    for (size_t i = 0; i < clean->count; i++)
        noisy.samples[i] = clean->samples[i] + (float)(level * noise(&state));
    assert_done(sound_write("noisy.wav", &noisy, true, &e));
    runs(0, "", "%s/suppress_noise %s noisy.wav clean.wav", EXAMPLES, model);
    assert_done(sound_read("clean.wav", 48000, &result, &e));
    gain = signal_to_noise(clean, &result) - signal_to_noise(clean, &noisy);
    /* In pauses, a tenth of a second after their beginning: what fades has faded. */
    for (size_t i = 0, silent = 0; i < clean->count; i++) {
        silent = fabs((double)clean->samples[i]) < 1e-6 ? silent + 1 : 0;
        if (silent < 4800)
            continue;
        before += pow((double)noisy.samples[i], 2);
        after += pow((double)result.samples[i], 2);
    }
    *quiet = before > 0 ? 10 * log10(before / after) : 0;
    sound_free(&noisy);
    sound_free(&result);
    return gain;
}

/* ---- tests ---- */

TEST(noise_is_suppressed)
{
    const char *m = needed_model("rnnoise");
    double quiet;

    SCOPED(sound_free) struct sound clean = speech_like(6);
    /* Half the noise's power is gone at least where the speech is, and nine tenths where there is none. */
    for (int decibels = 0; decibels <= 10; decibels += 5) {
        double gain = suppress(m, &clean, decibels, &quiet);

        printf("vowels: %d dB below speech, noise gains %.1f dB, %.1f dB in pauses\n", decibels, gain, quiet);
        assert_true(gain >= 3);
        assert_true(quiet >= 10);
    }
}

TEST(noise_is_suppressed_in_a_recording)
{
    SCOPED(npy_free) struct npy_array audio = {0};
    char model[4096], path[4224];
    double quiet;

    if (!shared_model("rnnoise") || !shared_model("silero-vad-16k"))
        skip();
    snprintf(path, sizeof path, "%s/stream/audio.npy", shared_model("silero-vad-16k"));
    snprintf(model, sizeof model, "%s", shared_model("rnnoise"));
    assert_true(npy_read(path, &audio, NULL));
    SCOPED(sound_free) struct sound clean = tripled(audio.data, npy_elements(&audio));
    double gain = suppress(model, &clean, 5, &quiet);
    printf("recording: 5 dB below speech, noise gains %.1f dB\n", gain);
    assert_true(gain >= 6);
}

TEST(clean_speech_stays)
{
    const char *m = needed_model("rnnoise");
    SCOPED(sound_free) struct sound result = {0};

    SCOPED(sound_free) struct sound clean = speech_like(3);
    assert_done(sound_write("clean.wav", &clean, false, &e));
    runs(0, "", "%s/suppress_noise %s clean.wav out.wav", EXAMPLES, m);
    assert_done(sound_read("out.wav", 48000, &result, &e));
    double loud = power(result.samples, result.count) / power(clean.samples, clean.count);
    printf("vowels without noise keep %.0f %% of their power\n", 100 * loud);
    assert_true(loud > 0.5 && loud < 1.2);
}

TEST(speech_is_found_in_a_stream)
{
    const char *m = needed_model("silero-vad-16k");
    SCOPED(npy_free) struct npy_array audio = {0}, expected = {0}, expected_state = {0};
    struct error error = {0};
    char path[4224];
    OWNED(memory) float *actual = NULL, *last = NULL;
    struct sound s;

    snprintf(path, sizeof path, "%s/stream/audio.npy", m);
    assert_true(npy_read(path, &audio, &error));
    snprintf(path, sizeof path, "%s/stream/probabilities.npy", m);
    assert_true(npy_read(path, &expected, &error));
    snprintf(path, sizeof path, "%s/stream/final_state.npy", m);
    assert_true(npy_read(path, &expected_state, &error));
    s = (struct sound){16000, npy_elements(&audio), audio.data};
    assert_true(sound_write("speech.wav", &s, true, &error));
    runs(0, "speech from ", "%s/detect_speech %s speech.wav --probabilities p.npy --state s.npy", EXAMPLES, m);
    assert_printed("48 of 96 frames are speech");
    actual = read_floats("p.npy", 96);
    last = read_floats("s.npy", 256);
    /* The tolerance of the manifest, for every frame of the stream. */
    for (size_t i = 0; i < 96; i++) {
        double e = (double)((float *)expected.data)[i];

        assert_true(fabs((double)actual[i] - e) <= 1e-4 + 1e-3 * fabs(e));
    }
    for (size_t i = 0; i < 256; i++) {
        double e = (double)((float *)expected_state.data)[i];

        assert_true(fabs((double)last[i] - e) <= 1e-4 + 1e-3 * fabs(e));
    }
}

TEST(wrong_sounds_are_refused)
{
    const char *m = needed_model("rnnoise");
    struct sound s = {16000, 3, (float[3]){0, 0.5f, 0}};

    assert_done(sound_write("short.wav", &s, false, &e));
    runs(1, "short.wav has 16000 samples a second in 1 channels, the network was trained with 48000",
         "%s/suppress_noise %s short.wav out.wav", EXAMPLES, m);
    write_text("text.wav", "no sound");
    runs(1, "text.wav: ", "%s/suppress_noise %s text.wav out.wav", EXAMPLES, m);
    m = shared_model("silero-vad-16k");
    if (m) {
        runs(1, "short.wav is shorter than a frame of 512 samples", "%s/detect_speech %s short.wav", EXAMPLES, m);
    }
}

TEST_GROUP(enter_folder, leave_folder)
TESTS_NEED(shared_model(""))

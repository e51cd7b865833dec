/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes graphs of one recurrent operator with every option: RECURRENT_CASES of them, numbered, as text for parse_body.
 *
 * Hidden sizes of up to 16 are computed in float64, larger ones are not.  Options are drawn from a generator that the number
 * seeds; nothing enumerates the combinations, so a rare one may be missing.
 */
#pragma once

#include <inttypes.h>

#include "support/test.h"

enum { RECURRENT_CASES = 600, RECURRENT_TEXT = 16384 };

struct recurrent_digits {
    uint64_t state;
};

/** Draws a number below n. */
static inline uint32_t recurrent_draw(struct recurrent_digits *d, uint32_t n)
{
    d->state ^= d->state >> 12;
    d->state ^= d->state << 25;
    d->state ^= d->state >> 27;
    return (uint32_t)((d->state * 0x2545F4914F6CDD1Du) >> 33) % n;
}

/** Holds a text that grows. */
struct recurrent_text {
    char *at;
    size_t left;
};

#define recurrent_print(t, ...)                                                                                                \
    do {                                                                                                                       \
        int printed_ = snprintf((t)->at, (t)->left, __VA_ARGS__);                                                              \
        assert_true(printed_ >= 0 && (size_t)printed_ < (t)->left);                                                            \
        (t)->at += printed_;                                                                                                   \
        (t)->left -= (size_t)printed_;                                                                                         \
    } while (0)

/** Prints an operand: an input, or a constant with some of its values drawn (few, repeated: the text stays short). */
static inline void recurrent_operand(struct recurrent_text *inputs, struct recurrent_text *consts, struct recurrent_digits *d,
                                     const char *name, const char *type, const uint32_t *dims, uint32_t rank, bool constant)
{
    struct recurrent_text *t = constant ? consts : inputs;
    uint64_t elements = 1;

    recurrent_print(t, "%s: %s[", name, type);
    for (uint32_t i = 0; i < rank; i++) {
        recurrent_print(t, "%s%" PRIu32, i ? ", " : "", dims[i]);
        elements *= dims[i];
    }
    recurrent_print(t, "]");
    if (constant && elements <= 400) {
        recurrent_print(t, " @values([");
        for (uint64_t i = 0; i < elements; i++)
            recurrent_print(t, "%s%.3g", i ? "," : "", (double)recurrent_draw(d, 401) / 200.0 - 1);
        recurrent_print(t, "])");
    } else if (constant) {
        recurrent_print(t, " @scalar(%.3g)", (double)recurrent_draw(d, 101) / 400.0 - 0.125);
    }
    recurrent_print(t, "; ");
}

/** Prints the body of case `number`; text has room for RECURRENT_TEXT. */
static inline void recurrent_case(uint32_t number, char *text)
{
    static const char *const operators[] = {"gru", "lstm", "gruCell", "lstmCell"};
    static const char *const directions[] = {"forward", "backward", "both"};
    static const char *const activations[] = {"relu", "sigmoid", "tanh"};
    static const uint32_t hidden_sizes[] = {1, 3, 4, 8, 5, 16, 30, 32}, steps_choices[] = {1, 2, 3, 6};
    struct recurrent_digits d = {(number + 1) * 0x9E3779B97F4A7C15u};
    char inputs[RECURRENT_TEXT / 3] = "", consts[RECURRENT_TEXT / 3] = "";
    struct recurrent_text in = {inputs, sizeof inputs}, co = {consts, sizeof consts}, out = {text, RECURRENT_TEXT};

    for (int i = 0; i < 8; i++)
        recurrent_draw(&d, 2);
    const uint32_t op = recurrent_draw(&d, 8) < 6 ? recurrent_draw(&d, 2) : 2 + recurrent_draw(&d, 2);
    const bool lstm = op & 1, cell = op > 1, half = recurrent_draw(&d, 5) == 0;
    const uint32_t steps = cell ? 1 : steps_choices[recurrent_draw(&d, 4)], batch = 1 + recurrent_draw(&d, 3) / 2;
    const uint32_t width = 1 + recurrent_draw(&d, 4), hidden = hidden_sizes[recurrent_draw(&d, 8)], gates = lstm ? 4 : 3;
    const uint32_t direction = recurrent_draw(&d, 3), dirs = !cell && direction == 2 ? 2 : 1, first = cell ? 1 : 0;
    const bool sequence = !cell && recurrent_draw(&d, 2);
    const char *type = half ? "f16" : "f32";
    const uint32_t x[3] = {steps, batch, width}, w[3] = {dirs, gates * hidden, width}, r[3] = {dirs, gates * hidden, hidden};
    const uint32_t b[2] = {dirs, gates * hidden}, p[2] = {dirs, 3 * hidden}, s[3] = {dirs, batch, hidden};
    const bool has_h = cell || recurrent_draw(&d, 2), has_c = lstm && (cell || recurrent_draw(&d, 2));
    const bool has_b = recurrent_draw(&d, 2), has_rb = recurrent_draw(&d, 2), has_p = lstm && recurrent_draw(&d, 2);

    recurrent_operand(&in, &co, &d, "x", type, x + first, 3 - first, false);
    recurrent_operand(&in, &co, &d, "w", type, w + first, 3 - first, recurrent_draw(&d, 3) > 0);
    recurrent_operand(&in, &co, &d, "r", type, r + first, 3 - first, recurrent_draw(&d, 3) > 0);
    if (has_b)
        recurrent_operand(&in, &co, &d, "b", type, b + first, 2 - first, recurrent_draw(&d, 3) > 0);
    if (has_rb)
        recurrent_operand(&in, &co, &d, "rb", type, b + first, 2 - first, recurrent_draw(&d, 3) > 0);
    if (has_p)
        recurrent_operand(&in, &co, &d, "p", type, p + first, 2 - first, recurrent_draw(&d, 3) > 0);
    if (has_h)
        recurrent_operand(&in, &co, &d, "h0", type, s + first, 3 - first, recurrent_draw(&d, 3) == 0);
    if (has_c)
        recurrent_operand(&in, &co, &d, "c0", type, s + first, 3 - first, recurrent_draw(&d, 3) == 0);

    recurrent_print(&out, "inputs { %s} consts { %s} nodes { [h%s%s] = %s(x, w, r, ", inputs, consts, lstm ? ", c" : "",
                    sequence ? ", s" : "", operators[op]);
    if (cell)
        recurrent_print(&out, "h0, %s", lstm ? "c0, " : "");
    else
        recurrent_print(&out, "%" PRIu32 ", ", steps);
    recurrent_print(&out, "%" PRIu32 ", layout=%s", hidden,
                    lstm ? (recurrent_draw(&d, 2) ? "iofg" : "ifgo") : (recurrent_draw(&d, 2) ? "zrn" : "rzn"));
    if (!lstm)
        recurrent_print(&out, ", resetAfter=%s", recurrent_draw(&d, 2) ? "true" : "false");
    if (!cell)
        recurrent_print(&out, ", direction=%s, returnSequence=%s%s%s", directions[direction], sequence ? "true" : "false",
                        has_h ? ", initialHiddenState=h0" : "", has_c ? ", initialCellState=c0" : "");
    recurrent_print(&out, "%s%s%s", has_b ? ", bias=b" : "", has_rb ? ", recurrentBias=rb" : "",
                    has_p ? ", peepholeWeight=p" : "");
    if (recurrent_draw(&d, 3)) {
        const char *const a[3] = {activations[recurrent_draw(&d, 3)], activations[recurrent_draw(&d, 3)],
                                  activations[recurrent_draw(&d, 3)]};
        recurrent_print(&out, ", activations=[%s, %s%s%s]", a[0], a[1], lstm ? ", " : "", lstm ? a[2] : "");
    }
    /* Not every result is used, and a used one need not be an output. */
    const uint32_t used = 1 + recurrent_draw(&d, lstm ? 3 : 1);
    recurrent_print(&out, "); hn = neg(h); } outputs { ");
    if (used & 1 || !lstm)
        recurrent_print(&out, "%s; ", !sequence || recurrent_draw(&d, 2) ? "h" : "hn");
    if (used & 2)
        recurrent_print(&out, "c; ");
    if (sequence)
        recurrent_print(&out, "s; ");
    recurrent_print(&out, "}");
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes what the loop language's operations on bytes and on matrices give, whose lanes depend on neighbours.
 */
#include <string.h>

#include "ir/loop/loop_internal.h"
#include "ir/support/number.h"

static int64_t saturate(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* ---- bytes ---- */

static int64_t byte_at(uint64_t bits, uint32_t i, bool with_sign)
{
    return with_sign ? (int8_t)(bits >> 8 * i) : (uint8_t)(bits >> 8 * i);
}

uint64_t loop_byte_lane(const struct loop_value *v, const uint64_t *const args[3], uint32_t i)
{
    const enum loop_element from = loop_type_element(v->args[0]->type);
    const uint64_t *a = args[0], *b = args[1];
    const uint32_t part = 128 / loop_element_bits(from); /* operands' lanes in 128 bits */
    int64_t sum = 0;

    switch (v->op) {
    case LOOP_PACK_S16:
    case LOOP_PACK_S8:
    case LOOP_PACK_U8:
        sum = loop_extend(from, (i / part % 2 ? b : a)[i / (2 * part) * part + i % part]);
        sum = v->op == LOOP_PACK_S16  ? saturate(sum, INT16_MIN, INT16_MAX)
              : v->op == LOOP_PACK_S8 ? saturate(sum, INT8_MIN, INT8_MAX)
                                      : saturate(sum, 0, UINT8_MAX);
        break;
    case LOOP_PAIRS_U8_S8:
        sum =
            saturate((int64_t)a[2 * i] * loop_extend(from, b[2 * i]) + (int64_t)a[2 * i + 1] * loop_extend(from, b[2 * i + 1]),
                     INT16_MIN, INT16_MAX);
        break;
    case LOOP_PAIRS_S16:
        sum = loop_extend(from, a[2 * i]) * loop_extend(from, b[2 * i]) +
              loop_extend(from, a[2 * i + 1]) * loop_extend(from, b[2 * i + 1]);
        break;
    case LOOP_ADD_PAIRS:
        sum = loop_extend(from, a[2 * i]) + loop_extend(from, a[2 * i + 1]);
        break;
    default:
        sum = loop_extend(from, a[i]);
        for (uint32_t k = 0; k < 4; k++)
            sum += byte_at(b[i], k, v->op == LOOP_DOT_S8) * byte_at(args[2][i], k, true);
        break;
    }
    return loop_cut(loop_type_element(v->type), (uint64_t)sum);
}

/* ---- matrices ---- */

uint32_t loop_matrix_word(const void *const rows[LOOP_SUBGROUP], uint32_t lane, uint32_t matrix, bool transposed)
{
    uint16_t h[2];

    for (uint32_t e = 0; e < 2; e++) {
        const uint32_t row = transposed ? lane % 4 * 2 + e : lane / 4, column = transposed ? lane / 4 : lane % 4 * 2 + e;
        memcpy(&h[e], (const uint16_t *)rows[8 * matrix + row] + column, sizeof *h);
    }
    return h[0] | (uint32_t)h[1] << 16;
}

/* Returns the float16 number of a lane's word. */
static double half_of(uint64_t word, uint32_t high)
{
    return (double)f16_to_f32((uint16_t)(word >> 16 * high));
}

uint32_t loop_matrix_sum(uint64_t sum, const uint64_t *const a[LOOP_SUBGROUP], const uint64_t *const b[LOOP_SUBGROUP],
                         int64_t pair, uint32_t lane, uint32_t i)
{
    const uint32_t row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    uint32_t bits = (uint32_t)sum;
    double total;
    float c;

    memcpy(&c, &bits, sizeof c);
    total = (double)c;
    for (uint32_t k = 0; k < 16; k++)
        total += half_of(a[row % 8 * 4 + k % 8 / 2][row / 8 + k / 8 * 2], k % 2) *
                 half_of(b[column * 4 + k % 8 / 2][2 * pair + k / 8], k % 2);
    c = (float)total;
    memcpy(&bits, &c, sizeof bits);
    return bits;
}

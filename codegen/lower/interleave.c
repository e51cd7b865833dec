/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits shuffles of interleaved rows.  An even number of vectors beyond two is split into those of the even and of the odd
 * columns, by two shuffles for each pair of vectors, so that n vectors take n shuffles more than both halves.  An odd number,
 * and two, take n (n - 1): each column has a lane of every vector, one shuffle puts those of one more vector in.
 */
#include "codegen/lower/scalar.h"

#include <string.h>

#include "ir/schedule/schedule.h"

/* Lane i of results[j] is, of all lanes of the vectors one after the other, the one with the number at(i, j). */
typedef uint32_t (*lane_number)(uint32_t lane, uint32_t vector, uint32_t lanes, uint32_t vectors);

/* Returns the lane number of element i of column j, of rows that are interleaved. */
static uint32_t deinterleaved(uint32_t i, uint32_t j, uint32_t lanes, uint32_t vectors)
{
    (void)lanes;
    return i * vectors + j;
}

/* Returns the lane number of element i of vector j of interleaved rows, in columns one after the other. */
static uint32_t interleaved(uint32_t i, uint32_t j, uint32_t lanes, uint32_t vectors)
{
    const uint32_t element = j * lanes + i;
    return element % vectors * lanes + element / vectors;
}

/* Permutes vector by vector: what earlier ones had for a result stays where it is. */
static void permute(const struct build *m, V *vectors, uint32_t n, lane_number at)
{
    const uint32_t lanes = lanes_of(vectors[0]);
    V results[SCHEDULE_SHORT_ROW_MAX];
    uint8_t from[LANES_MAX];

    for (uint32_t j = 0; j < n; j++) {
        results[j] = vectors[0];
        for (uint32_t r = 1; r < n; r++) {
            for (uint32_t i = 0; i < lanes; i++) {
                const uint32_t number = at(i, j, lanes, n), vector = number / lanes, lane = number % lanes;
                from[i] = vector == r ? lanes + lane : r == 1 && vector == 0 ? lane : i;
            }
            results[j] = op_shuffle(m, results[j], vectors[r], from, lanes);
        }
    }
    memcpy(vectors, results, n * sizeof *vectors);
}

V blocks_in_turns(const struct build *m, V a, V b, uint32_t block, bool high)
{
    const uint32_t lanes = lanes_of(a);
    uint8_t from[LANES_MAX];

    for (uint32_t i = 0; i < lanes; i++)
        from[i] = i / block * block + high * block / 2 + i % block / 2 + i % 2 * lanes;
    return op_shuffle(m, a, b, from, lanes);
}

V every_second_block(const struct build *m, V a, V b, uint32_t block, uint32_t first)
{
    const uint32_t lanes = lanes_of(a);
    uint8_t from[LANES_MAX];

    for (uint32_t i = 0; i < lanes; i++)
        from[i] = (2 * (i / block) + first) * block + i % block;
    return op_shuffle(m, a, b, from, lanes);
}

void emit_deinterleave(const struct build *m, V *vectors, uint32_t n)
{
    const uint32_t half = n / 2;
    V some[2][SCHEDULE_SHORT_ROW_MAX / 2];

    if (!schedule_splits_rows(n)) {
        permute(m, vectors, n, deinterleaved);
        return;
    }
    for (uint32_t odd = 0; odd < 2; odd++) {
        for (uint32_t i = 0; i < half; i++)
            some[odd][i] = op_fence(m, every_second_block(m, vectors[2 * i], vectors[2 * i + 1], 1, odd));
        emit_deinterleave(m, some[odd], half);
    }
    for (uint32_t j = 0; j < n; j++)
        vectors[j] = some[j % 2][j / 2];
}

void emit_interleave(const struct build *m, V *vectors, uint32_t n)
{
    const uint32_t half = n / 2, lanes = lanes_of(vectors[0]);
    V some[2][SCHEDULE_SHORT_ROW_MAX / 2];

    if (!schedule_splits_rows(n)) {
        permute(m, vectors, n, interleaved);
        return;
    }
    for (uint32_t j = 0; j < n; j++)
        some[j % 2][j / 2] = vectors[j];
    for (uint32_t odd = 0; odd < 2; odd++)
        emit_interleave(m, some[odd], half);
    for (uint32_t i = 0; i < n; i++)
        vectors[i] = op_fence(m, blocks_in_turns(m, some[0][i / 2], some[1][i / 2], lanes, i % 2));
}

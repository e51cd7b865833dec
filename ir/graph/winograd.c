/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Holds the tables of Winograd's transforms (winograd.h), and says where their rounding errors are no larger than a sum's. */
#include "ir/graph/winograd.h"
#include "ir/support/number.h"

/* Registers of results, and temporary ones. */
#define R(i) (WINOGRAD_SIDE_MAX + (i))
#define T(i) (WINOGRAD_TEMPORARY + (i))

/* F(2, 3) has the points 0, 1, -1 and infinity. */
static const struct winograd_transform two = {
    .input = {4, 4, 4, {{R(0), 2, 0, -1}, {R(1), 2, 1, 1}, {R(2), 1, 2, -1}, {R(3), 3, 1, -1}}},
    .output = {4, 2, 4, {{T(0), 1, 0, 1}, {R(0), 2, T(0), 1}, {T(1), 2, 1, -1}, {R(1), 3, T(1), -1}}},
    .weights = {{1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}},
    .underflow = 3};

/*
 * F(4, 3) has 0, 1/2, -1/2, 2, -2 and infinity: errors are half of those with 1 and 2, since what belongs to a point and to its
 * inverse is of one magnitude, and all factors are powers of two.  Columns of A^T are scaled, and those of G the other way, so
 * that fewest operations are left.
 */
#define FOUR_INPUT                                                                                                             \
    {T(0), 2, 0, -0.25f}, {T(1), 2, 4, -4}, {R(0), T(0), T(1), 1}, {T(2), 1, 3, -4}, {R(1), T(2), T(1), 0.5f},                 \
        {R(2), T(2), T(1), -0.5f}, {T(3), 2, 4, -0.25f}, {T(4), 1, 3, -0.25f}, {R(3), T(4), T(3), 2}, {R(4), T(4), T(3), -2},  \
        {T(5), 3, 5, -0.25f}, {R(5), T(4), T(5), -4}
#define FOUR_OUTPUT                                                                                                            \
    {T(0), 2, 1, 1}, {T(1), 2, 1, -1}, {T(2), 4, 3, 1}, {T(3), 4, 3, -1}, {T(4), T(2), 0, 0.25f}, {R(0), T(0), T(4), 2},       \
        {R(1), T(3), T(1), 0.5f}, {R(2), T(0), T(2), 0.5f}, {T(5), T(1), 5, 0.25f}, {R(3), T(3), T(5), 2}
static const struct winograd_transform four = {.input = {6, 6, 12, {FOUR_INPUT}},
                                               .output = {6, 4, 10, {FOUR_OUTPUT}},
                                               .weights = {{1, 0, 0},
                                                           {-4.0 / 15, -2.0 / 15, -1.0 / 15},
                                                           {-4.0 / 15, 2.0 / 15, -1.0 / 15},
                                                           {2.0 / 15, 4.0 / 15, 8.0 / 15},
                                                           {2.0 / 15, -4.0 / 15, 8.0 / 15},
                                                           {0, 0, 1}},
                                               .underflow = 6};

/* With a stride of 2, elements of even places meet the filter's first and last one, F(2, 2), and the others the middle one. */
static const struct winograd_transform strided = {
    .input = {5, 5, 5, {{R(0), 2, 0, -1}, {R(1), 0, 2, 0}, {R(2), 4, 2, -1}, {R(3), 0, 1, 0}, {R(4), 0, 3, 0}}},
    .output = {5, 2, 4, {{T(0), 0, 1, 1}, {R(0), 3, T(0), 1}, {T(1), 2, 1, -1}, {R(1), 4, T(1), 1}}},
    .weights = {{1, 0, 0}, {1, 0, 1}, {0, 0, 1}, {0, 1, 0}, {0, 1, 0}},
    .underflow = 3};

static const struct winograd_tile tiles[WINOGRAD_TILES] = {{{&two, &two}, {2, 2}, 16, 1},
                                                           {{&two, &four}, {2, 4}, 24, 1},
                                                           {{&four, &four}, {4, 4}, 36, 1},
                                                           {{&strided, &strided}, {2, 2}, 25, 2}};

const struct winograd_tile *winograd_tile(uint32_t kind)
{
    return &tiles[kind];
}

const struct winograd_tile *winograd_tile_of(int64_t points)
{
    for (uint32_t i = 0; i < WINOGRAD_TILES; i++)
        if (tiles[i].points == points)
            return &tiles[i];
    return NULL;
}

void winograd_transform_weights(const struct winograd_tile *tile, uint32_t y, double g[9][WINOGRAD_LANES],
                                double u[][WINOGRAD_LANES], int64_t count, bool magnitudes)
{
    const struct winograd_transform *high = tile->side[0], *wide = tile->side[1];
    double half[3][WINOGRAD_LANES], a[3], b[3];

    for (int j = 0; j < 3; j++)
        a[j] = magnitudes ? fabs(high->weights[y][j]) : high->weights[y][j];
    for (int x = 0; x < 3; x++)
        for (int64_t i = 0; i < count; i++)
            half[x][i] = a[0] * g[x][i] + a[1] * g[3 + x][i] + a[2] * g[6 + x][i];
    for (uint32_t x = 0; x < wide->input.results; x++) {
        for (int j = 0; j < 3; j++)
            b[j] = magnitudes ? fabs(wide->weights[x][j]) : wide->weights[x][j];
        for (int64_t i = 0; i < count; i++)
            u[x][i] = b[0] * half[0][i] + b[1] * half[1][i] + b[2] * half[2][i];
    }
}

/* ---- rounding errors ---- */

/* Multiplies `inputs` numbers that are `step` apart by the matrix, in place. */
static void multiply(const struct winograd_steps *m, struct winograd_error *values, uint32_t step)
{
    struct winograd_error v[WINOGRAD_REGISTERS];

    for (uint32_t i = 0; i < m->inputs; i++)
        v[i] = values[i * step];
    for (uint32_t i = 0; i < m->count; i++) {
        const struct winograd_step *s = &m->steps[i];
        const double factor = fabs((double)s->factor), most = factor * v[s->from].most + v[s->plus].most;
        v[s->to] = (struct winograd_error){most, factor * v[s->from].roundings + v[s->plus].roundings + most};
    }
    for (uint32_t i = 0; i < m->results; i++)
        values[i * step] = v[R(i)];
}

void winograd_propagate(const struct winograd_tile *tile, bool output, struct winograd_error *values)
{
    const struct winograd_transform *high = tile->side[0], *wide = tile->side[1];
    const struct winograd_steps *columns = output ? &high->output : &high->input, *rows = output ? &wide->output : &wide->input;

    for (uint32_t x = 0; x < wide->input.inputs; x++)
        multiply(columns, values + x, wide->input.inputs);
    for (uint32_t y = 0; y < columns->results; y++)
        multiply(rows, values + y * wide->input.inputs, 1);
}

uint32_t winograd_sum_steps(const struct winograd_tile *tile, int64_t in_channels)
{
    static const struct {
        int64_t channels; /* up to which */
        uint32_t steps[WINOGRAD_TILES];
    } rows[] = {{32, {0, 11, 11, 0}}, {63, {0, 16, 16, 0}}, {191, {0, 32, 16, 0}}, {INT64_MAX, {0, 32, 32, 0}}};
    uint32_t row = 0;

    while (in_channels > rows[row].channels)
        row++;
    return rows[row].steps[tile - tiles];
}

double winograd_sum_roundings(const struct winograd_tile *tile, int64_t in_channels)
{
    const int64_t steps = winograd_sum_steps(tile, in_channels);

    return 1 + (double)(steps && steps < in_channels ? steps + ceil_div(in_channels, steps) - 1 : in_channels + 1);
}

bool winograd_is_accurate(const struct winograd_tile *tile, int64_t in_channels, const double *sums, double weights,
                          double slack)
{
    const double roundings = winograd_sum_roundings(tile, in_channels);
    struct winograd_error values[WINOGRAD_POINTS_MAX];
    double most = 0;

    if (tile == &tiles[0])
        return true;
    for (int64_t i = 0; i < tile->points; i++)
        values[i] = (struct winograd_error){1, 0};
    winograd_propagate(tile, false, values);
    for (int64_t i = 0; i < tile->points; i++) {
        values[i].roundings = sums[i] * (values[i].roundings + roundings * values[i].most);
        values[i].most *= sums[i];
    }
    winograd_propagate(tile, true, values);
    for (int64_t y = 0; y < tile->results[0]; y++)
        for (int64_t x = 0; x < tile->results[1]; x++)
            most = fmax(most, values[y * tile->side[1]->input.inputs + x].roundings);
    return most <= slack * (9 * (double)in_channels + 1) * weights;
}

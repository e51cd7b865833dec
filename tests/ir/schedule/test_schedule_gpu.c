/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Schedules for devices with work-groups, without a device: which shape a kernel gets, which variables are rows, columns and
 * lanes, and that every schedule covers its points and keeps the device's limits.
 */
#include "ir/schedule/schedule_gpu.h"
#include "support/kernel_text.h"
#include "support/test.h"

/* [batch, m, depth] times [batch, depth, n] (or [batch, n, depth], transposed). */
static struct kernel *matmul_of(dtype type, int64_t batch, int64_t m, int64_t n, int64_t depth, bool transposed)
{
    return kernel_of("kernel matmul {"
                     "  parallel g < $batch, i < $m, j < $n reduced r < $d"
                     "  tensor a: $T[], b: $T[], y: $T[] written"
                     "  store y[$m*$n*g + $n*i + j] = reduce.dot(a[$m*$d*g + $d*i + r], b[$n*$d*g + $at]) }",
                     "T=%s batch=%lld m=%lld n=%lld d=%lld at=%s", dtype_name(type), (long long)batch, (long long)m,
                     (long long)n, (long long)depth, transposed ? "$d*j+r" : "$n*r+j");
}

static struct kernel *matmul(int64_t batch, int64_t m, int64_t n, int64_t depth, bool transposed)
{
    return matmul_of(WNNOperandDataType_Float32, batch, m, n, depth, transposed);
}

/* A depthwise convolution in nhwc of a window of 3. */
static struct kernel *depthwise(int rows, int channels)
{
    return kernel_of("kernel depthwise {"
                     "  parallel i < $n, j < $c reduced r < 3"
                     "  tensor x: f32[], w: f32[], y: f32[] written"
                     "  store y[$c*i + j] = reduce.dot(x[$c*(i + r) + j], w[$c*r + j]) }",
                     "n=%d c=%d", rows, channels);
}

/* [rows, blocks * 32] times weights of 4 bits, eight in a word, and a scale for each block (docs/compact-weights.md). */
static struct kernel *compact(int rows, int columns, int blocks)
{
    return kernel_of("kernel compact {"
                     "  parallel i < $m, j < $n reduced block < $blocks, word < 4, number < 8"
                     "  tensor a: f32[], b: u32[], scales: f32[], y: f32[] written"
                     "  q = and(shr(b[$n*(4*block + word) + j], u32(index 4*number)), u32(15))"
                     "  w = mul(sub(f32(q), 8), scales[$n*block + j])"
                     "  store y[$n*i + j] = reduce.dot(a[$blocks*32*i + 32*block + 8*word + number], w) }",
                     "m=%d n=%d blocks=%d", rows, columns, blocks);
}

/* The sums of rows, which are contiguous, or of columns. */
static struct kernel *reduction(int points, int iterations, bool columns)
{
    return kernel_of("kernel sums {"
                     "  parallel i < $n reduced r < $d"
                     "  tensor x: f32[], y: f32[] written"
                     "  store y[i] = reduce.sum(x[$at]) }",
                     "n=%d d=%d at=%s", points, iterations, columns ? "i+$n*r" : "$d*i+r");
}

/* The same of tiles of matrix instructions. */
static void check_matrix_cover(const struct gpu_schedule *s, const struct gpu_facts *device)
{
    const struct gpu_tile *t = &s->tile;

    assert_true(t->local_memory);
    assert_int_equal(s->local[0], t->items_m * t->items_n * device->matrix_items);
    assert_true(s->global[0] / s->local[0] * gpu_tile_width(t, false) >= gpu_vars_points(s->kernel, t->n));
    assert_true(s->global[1] * gpu_tile_width(t, true) >= gpu_vars_points(s->kernel, t->m));
    assert_true(t->rows % GPU_MATRIX_ROWS == 0 && t->vectors % (2 * GPU_MATRIX_COLUMNS) == 0);
    assert_true(t->k_tile % GPU_MATRIX_STEPS == 0);
    assert_true(gpu_tile_bytes(t) <= device->local_bytes);
    for (uint32_t o = 0; o < 2; o++) /* rows begin at whole chunks, eight of them in different banks */
        assert_true(gpu_tile_stride(t, o) / GPU_MATRIX_CHUNK % 2 && gpu_tile_stride(t, o) % GPU_MATRIX_CHUNK == 0);
}

/* Returns the transpose of a matrix, of numbers of a type; `doubled` adds the j-th element of every other column to it. */
static struct kernel *transpose(dtype type, int64_t rows, int64_t columns, bool doubled)
{
    return kernel_of("kernel transpose {"
                     "  parallel i < $n, j < $m"
                     "  tensor x: $T[], y: $T[] written"
                     "  store y[$m*i + j] = $v }",
                     "T=%s m=%lld n=%lld v=%s", dtype_name(type), (long long)rows, (long long)columns,
                     doubled ? "add(x[i+$n*j],x[i+2*j])" : "x[i+$n*j]");
}

/* Every row and column has an item, and groups keep to what the device has. */
static void check_cover(const struct gpu_schedule *s, const struct gpu_facts *device)
{
    const struct gpu_tile *t = &s->tile;
    const uint32_t items = s->local[0] * s->local[1] * s->local[2];

    assert_true(items <= device->group_items);
    for (int d = 0; d < GPU_DIMENSIONS; d++)
        assert_int_equal(s->global[d] % s->local[d], 0);
    for (uint32_t d = 0; d < 2 && s->shape == GPU_BLOCKS; d++) {
        const int64_t each = s->block.local_memory ? s->global[d] / s->local[d] : s->global[d];
        assert_true(each * s->block.side >= gpu_vars_points(s->kernel, s->dimensions[d]));
    }
    if (s->shape != GPU_TILES)
        return;
    if (t->matrix) {
        check_matrix_cover(s, device);
        return;
    }
    assert_true(s->global[0] * t->vectors * s->lanes >= gpu_vars_points(s->kernel, t->n));
    assert_true(s->global[1] / (t->local_memory ? 1 : t->k_items) * t->rows >= gpu_vars_points(s->kernel, t->m));
    if (!t->local_memory)
        assert_true(t->rows * t->vectors * s->lanes <= device->tile_numbers);
    else
        assert_true(gpu_tile_bytes(t) <= device->local_bytes);
}

/** On a processor a matmul's tile is as large as registers allow, with vectors along N; nothing goes through local memory. */
TEST(processors_tile_in_registers)
{
    const struct gpu_facts *device = target_gpu_facts(true);
    OWNED(kernel) struct kernel *k = matmul(2, 100, 200, 300, false);
    struct gpu_schedule s;

    schedule_gpu(k, device, &s);
    assert_int_equal(s.shape, GPU_TILES);
    assert_false(s.tile.local_memory);
    assert_int_equal(s.lane_var, 2);
    assert_int_equal(s.tile.m, kvars_from(1, 1));
    assert_int_equal(s.dimensions[2], kvars_from(0, 1));
    assert_true(s.tile.rows >= 4);
    assert_true(s.tile.rows * s.tile.vectors * s.lanes >= device->tile_numbers / 2);
    assert_int_equal(s.sum_split, 0); /* 300 additions are more than one accumulator takes */
    check_cover(&s, device);
}

/** Other devices bring tiles of large matrices to local memory; a few rows do not pay for it, and share K instead. */
TEST(gpus_tile_in_local_memory)
{
    struct gpu_facts device = *target_gpu_facts(false);
    OWNED(kernel) struct kernel *large = matmul(1, 512, 512, 512, true), *few = matmul(1, 4, 512, 4096, false);
    OWNED(kernel) struct kernel *heads = matmul(9, 1, 64, 256, false);
    struct gpu_schedule s;

    schedule_gpu(large, &device, &s);
    assert_int_equal(s.shape, GPU_TILES);
    assert_true(s.tile.local_memory);
    assert_true(s.tile.along_k[0] && s.tile.along_k[1]);
    check_cover(&s, &device);
    device.local_bytes = 2 << 10;
    schedule_gpu(large, &device, &s);
    check_cover(&s, &device);
    schedule_gpu(few, &device, &s);
    assert_int_equal(s.shape, GPU_TILES);
    assert_false(s.tile.local_memory);
    assert_true(s.tile.k_items > 1);
    check_cover(&s, &device);
    device.compute_units = 100;
    schedule_gpu(heads, &device, &s);
    assert_true(s.tile.k_items > 1);
    check_cover(&s, &device);
}

/** Tiles are large where there are tiles enough for all compute units, and so small that most have one where there are not. */
TEST(small_matrices_have_small_tiles)
{
    struct gpu_facts device = *target_gpu_facts(false);
    OWNED(kernel) struct kernel *large = matmul(1, 4096, 4096, 256, false), *small = matmul(1, 256, 256, 256, false);
    struct gpu_schedule s;

    device.compute_units = 100;
    schedule_gpu(large, &device, &s);
    assert_true(s.tile.local_memory);
    assert_int_equal(s.tile.rows * s.tile.vectors, device.tile_numbers);
    const uint32_t k_tile = s.tile.k_tile;
    check_cover(&s, &device);
    schedule_gpu(small, &device, &s);
    assert_true(s.tile.local_memory);
    assert_true(s.tile.rows * s.tile.vectors < device.tile_numbers);
    assert_true(s.global[0] / s.local[0] * (s.global[1] / s.local[1]) >= device.compute_units / 2);
    assert_true(s.tile.k_tile > k_tile && s.tile.k_items > 1);
    check_cover(&s, &device);
}

/** A depthwise convolution's rows share its weights, which differ along the lanes like its input. */
TEST(depthwise_rows_share_weights)
{
    OWNED(kernel) struct kernel *k = depthwise(40, 33);
    struct gpu_schedule s;

    for (int processor = 0; processor < 2; processor++) {
        schedule_gpu(k, target_gpu_facts(processor), &s);
        assert_int_equal(s.shape, GPU_TILES);
        assert_false(s.tile.local_memory);
        assert_int_equal(s.lane_var, 1);
        assert_true(s.lane_tail);
        assert_true(depends_on(s.tile.m, 0));
        check_cover(&s, target_gpu_facts(processor));
    }
}

/** Lanes run along columns, or along rows that are contiguous; a GPU's group shares a row, a processor's items do not. */
TEST(reductions_have_lanes)
{
    OWNED(kernel) struct kernel *rows = reduction(64, 1000, false), *columns = reduction(640, 100, true);
    struct gpu_schedule s;

    schedule_gpu(rows, target_gpu_facts(true), &s);
    assert_int_equal(s.shape, GPU_POINTS);
    assert_int_equal(s.lane_var, 1);
    schedule_gpu(rows, target_gpu_facts(false), &s);
    assert_int_equal(s.shape, GPU_ROWS);
    assert_int_equal(s.lanes, 1);
    schedule_gpu(columns, target_gpu_facts(true), &s);
    assert_int_equal(s.shape, GPU_POINTS);
    assert_int_equal(s.lane_var, 0);
    assert_int_equal(s.global[0], 640 / s.lanes);
}

/** A transpose is computed in blocks: in registers of a processor, in a GPU's local memory.  What has no vectors, or another
 * load that is scattered, and a tensor too narrow for a block stays points. */
TEST(transposes_are_computed_in_blocks)
{
    static const struct {
        dtype type;
        int64_t rows, columns;
        bool doubled, blocks;
    } cases[] = {{WNNOperandDataType_Float32, 100, 70, false, true}, {WNNOperandDataType_Float16, 16, 16, false, true},
                 {WNNOperandDataType_Uint8, 7, 9000, false, true},   {WNNOperandDataType_Int64, 100, 70, false, false},
                 {WNNOperandDataType_Float32, 100, 3, false, false}, {WNNOperandDataType_Float32, 100, 300, true, false}};
    struct gpu_schedule s;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(kernel) struct kernel *k = transpose(cases[i].type, cases[i].rows, cases[i].columns, cases[i].doubled);
        for (int processor = 0; processor < 2; processor++) {
            const struct gpu_facts *device = target_gpu_facts(processor);
            schedule_gpu(k, device, &s);
            assert_int_equal(s.shape, cases[i].blocks ? GPU_BLOCKS : GPU_POINTS);
            check_cover(&s, device);
            if (!cases[i].blocks)
                continue;
            assert_int_equal(s.block.local_memory, !processor);
            assert_int_equal(s.block.across, 0);
            assert_true(s.block.side == (processor ? s.lanes : device->lanes) && s.block.side <= device->group_items);
        }
    }
}

/* Returns the largest elements of windows of `wide` elements of a row, which move by `step`, with so much padding in front. */
static struct kernel *windows(int64_t rows, int64_t width, int64_t wide, int64_t step, int64_t padding)
{
    return kernel_of("kernel windows {"
                     "  parallel i < $m, j < $n reduced r < $wide"
                     "  form at = $step*j + r - $padding"
                     "  tensor x: f32[$m*$w], y: f32[] written"
                     "  e = load x[$w*i + at] if 0 <= at < $w"
                     "  store y[$n*i + j] = reduce.max(e) }",
                     "m=%lld w=%lld wide=%lld step=%lld padding=%lld n=(($w+2*$padding-$wide)/$step+1)", (long long)rows,
                     (long long)width, (long long)wide, (long long)step, (long long)padding);
}

/** Windows that move by a few elements have vectors on a processor.  The last vector of a row begins earlier. */
TEST(windows_have_vectors)
{
    static const struct {
        int64_t width, wide, step, padding;
        bool vectors, repeats;
    } cases[] = {{112, 3, 2, 1, true, true}, {64, 3, 1, 1, true, false},  {41, 5, 1, 2, true, true},
                 {64, 5, 1, 2, true, false}, {128, 2, 4, 0, true, false}, {101, 5, 5, 0, false, false}};
    struct gpu_schedule s;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(kernel) struct kernel *k = windows(3, cases[i].width, cases[i].wide, cases[i].step, cases[i].padding);
        schedule_gpu(k, target_gpu_facts(true), &s);
        assert_int_equal(s.shape, GPU_POINTS);
        assert_int_equal(s.lane_var == k->parallel_count - 1 && s.lanes > 1, cases[i].vectors);
        assert_int_equal(s.lane_repeats, cases[i].repeats);
        assert_false(cases[i].vectors && s.lane_tail);
    }
}

/** The scale of a block of weights is left to the block's sum, in tiles whose rows share the weights; a word is known before
 * the loop over its numbers. */
TEST(scales_multiply_sums_of_blocks)
{
    for (int processor = 0; processor < 2; processor++)
        for (int rows = 1; rows <= 9; rows += 4) {
            const struct gpu_facts *device = target_gpu_facts(processor);
            OWNED(kernel) struct kernel *k = compact(rows, 192, 128);
            struct gpu_schedule s;
            uint32_t words = 0;

            schedule_gpu(k, device, &s);
            assert_int_equal(s.shape, GPU_TILES);
            assert_false(s.tile.local_memory);
            assert_true(s.tile.unpacked);
            assert_int_equal(s.tile.m != 0, rows > 1);
            assert_int_equal(k->exprs[s.tile.factor].op, K_LOAD);
            assert_int_equal(k->exprs[s.tile.unscaled].op, K_SUB);
            assert_int_equal(s.tile.factor_depth, 1);
            assert_int_equal(s.sum_split, 0);
            for (uint32_t e = 0; e < k->expr_count; e++)
                if (k->exprs[e].op == K_LOAD && k->tensors[k->exprs[e].tensor].type == WNNOperandDataType_Uint32)
                    words += kernel_depth(k, k->exprs[e].vars) == 2;
            assert_int_equal(words, 1);
            if (!processor && rows == 1) { /* all items that share K have a block */
                assert_true(s.tile.k_items > 1);
                assert_true(s.sum_steps * s.tile.k_items < 128 + s.sum_steps);
            }
            check_cover(&s, device);
        }
}

/** Tiles in local memory hold numbers that are scaled already, and so does a factor that changes with every step. */
TEST(other_scales_are_a_part_of_the_operand)
{
    OWNED(kernel) struct kernel *many = compact(128, 192, 128), *plain = matmul(1, 9, 64, 300, false);
    struct gpu_schedule s;

    schedule_gpu(many, target_gpu_facts(false), &s);
    assert_true(s.tile.local_memory);
    assert_int_equal(s.tile.factor, KEXPR_NONE);
    schedule_gpu(plain, target_gpu_facts(true), &s);
    assert_false(s.tile.unpacked);
    assert_int_equal(s.tile.factor, KEXPR_NONE);
}

static struct gpu_facts matrix_device(void)
{
    struct gpu_facts device = *target_gpu_facts(false);

    device.compute_units = 132;
    device.local_bytes = 48 << 10;
    device.matrix_items = 32;
    return device;
}

/** Matrix instructions take float16 on devices that have them, in large tiles where there are many; a few rows stay with the
 * other forms, and so does float32. */
TEST(matrices_of_float16_are_multiplied_by_instructions)
{
    static const struct {
        int64_t m, n, depth;
        uint32_t rows; /* of a group; 0: no instructions */
    } sizes[] = {{4096, 4096, 4096, 128}, {256, 4096, 4096, 128}, {32, 4096, 4096, 16}, {4, 4096, 4096, 0}, {1, 4096, 4096, 0}};
    const struct gpu_facts device = matrix_device();

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int form = 0; form < 3; form++) {
            const bool half = form < 2, instructions = half && sizes[i].rows;
            OWNED(kernel) struct kernel *k = matmul_of(half ? WNNOperandDataType_Float16 : WNNOperandDataType_Float32, 1,
                                                       sizes[i].m, sizes[i].n, sizes[i].depth, form == 1);
            struct gpu_schedule s;

            schedule_gpu(k, &device, &s);
            assert_int_equal(s.tile.matrix, instructions);
            if (instructions) {
                assert_int_equal(gpu_tile_width(&s.tile, true), sizes[i].rows);
                assert_true(s.tile.along_k[0] && s.tile.along_k[1] == (form == 1));
            }
            check_cover(&s, &device);
            schedule_gpu(k, target_gpu_facts(false), &s); /* no device has them unless it says so */
            assert_int_equal(s.tile.matrix, false);
        }
}

/** Operands that do not come in chunks are not for the instructions. */
TEST(instructions_take_chunks)
{
    static const int64_t depths[] = {60, 64, 2776, 2780}, columns[] = {128, 129, 132, 136};

    for (uint32_t i = 0; i < 16; i++) {
        const int64_t depth = depths[i / 4], width = columns[i % 4];
        OWNED(kernel) struct kernel *k = matmul_of(WNNOperandDataType_Float16, 2, 333, width, depth, false);
        const struct gpu_facts device = matrix_device();
        struct gpu_schedule s;

        schedule_gpu(k, &device, &s);
        assert_int_equal(s.tile.matrix, depth % 8 == 0 && width % 8 == 0);
        check_cover(&s, &device);
    }
}

/** Every form that fits covers all points, on devices with little local memory, too. */
TEST(matrix_forms_are_covered)
{
    OWNED(kernel) struct kernel *k = matmul_of(WNNOperandDataType_Float16, 1, 100, 200, 304, false);
    uint32_t forms = 0;

    for (struct gpu_choice choice = {.matrix_form = 1}; choice.matrix_form <= 4; choice.matrix_form++)
        for (uint32_t kilobytes = 4; kilobytes <= 64; kilobytes *= 2) {
            struct gpu_facts device = matrix_device();
            struct gpu_schedule s;

            device.local_bytes = kilobytes << 10;
            schedule_gpu_choose(k, &device, &choice, &s);
            forms += s.tile.matrix;
            check_cover(&s, &device);
        }
    assert_true(forms >= 4 * 2);
}

/** Whatever the sizes are, schedules cover all points. */
TEST(all_sizes_are_covered)
{
    static const int64_t sizes[] = {1, 2, 3, 7, 16, 17, 33, 130, 1000};
    enum { SIZES = sizeof sizes / sizeof *sizes };

    for (int i = 0; i < SIZES * SIZES * 8; i++) {
        const int64_t m = sizes[i % SIZES], n = sizes[i / SIZES % SIZES];
        const bool processor = i / (SIZES * SIZES) % 2, transposed = i / (SIZES * SIZES) / 2 % 2;
        const struct gpu_choice choice = {.tile_memory = i / (SIZES * SIZES) / 4 ? GPU_MEMORY_LOCAL : GPU_MEMORY_ANY};
        OWNED(kernel) struct kernel *k = matmul(3, m, n, 50, transposed);
        struct gpu_schedule s;

        schedule_gpu_choose(k, target_gpu_facts(processor), &choice, &s);
        check_cover(&s, target_gpu_facts(processor));
    }
}

/** The text names what a reader looks for. */
TEST(schedules_are_printed)
{
    struct kernel *k = matmul(1, 100, 200, 300, false);
    struct gpu_schedule s;
    char text[400] = "";
    FILE *f = fmemopen(text, sizeof text - 1, "w");

    schedule_gpu(k, target_gpu_facts(true), &s);
    gpu_schedule_print(&s, f);
    fclose(f);
    assert_non_null(strstr(text, "tiles "));
    assert_non_null(strstr(text, "from global memory"));
    assert_non_null(strstr(text, "lanes along variable 1"));
    assert_non_null(strstr(text, "work-items in groups of"));
    kernel_free(k);
    const struct gpu_facts device = matrix_device();
    k = matmul_of(WNNOperandDataType_Float16, 1, 1000, 2000, 304, false);
    f = fmemopen(text, sizeof text - 1, "w");
    schedule_gpu(k, &device, &s);
    gpu_schedule_print(&s, f);
    fclose(f);
    assert_non_null(strstr(text, "columns by matrix instructions ("));
    assert_non_null(strstr(text, "operands along K and rows"));
    kernel_free(k);
}

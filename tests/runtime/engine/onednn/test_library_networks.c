/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Shapes of real networks: none may end in a reference implementation, alone or with the epilogues that these networks have,
 * and the weights of each must be packed.  Then what holds for every step: several threads, the cap on the instruction set, the
 * lifetime of constants.
 */
#include "runtime/engine/onednn/library_support.h"

/* ---- shapes ---- */

struct conv_shape {
    const char *what;
    uint32_t size, in, out, kernel, stride, groups;
    bool residual;
};

static const struct conv_shape conv_shapes[] = {
    {"mobilenetv2 stem", 224, 3, 32, 3, 2, 1, false},
    {"mobilenetv2 depthwise", 112, 32, 32, 3, 1, 32, false},
    {"mobilenetv2 depthwise, stride 2", 112, 96, 96, 3, 2, 96, false},
    {"mobilenetv2 expansion", 56, 24, 144, 1, 1, 1, false},
    {"mobilenetv2 projection", 56, 144, 24, 1, 1, 1, true},
    {"mobilenetv2 depthwise, small", 7, 960, 960, 3, 1, 960, false},
    {"mobilenetv2 head", 7, 320, 1280, 1, 1, 1, false},
    {"resnet50 stem", 224, 3, 64, 7, 2, 1, false},
    {"resnet50 3x3", 56, 64, 64, 3, 1, 1, false},
    {"resnet50 3x3, stride 2", 28, 256, 256, 3, 2, 1, false},
    {"resnet50 expansion", 14, 256, 1024, 1, 1, 1, true},
    {"resnet50 downsample", 56, 256, 512, 1, 2, 1, false},
    {"unet down", 128, 16, 32, 3, 1, 1, false},
    {"unet output", 128, 16, 1, 1, 1, 1, false},
    {"super-resolution", 112, 1, 64, 5, 1, 1, false},
    {"super-resolution output", 112, 32, 9, 3, 1, 1, false},
    {"lenet", 28, 1, 20, 5, 1, 1, false},
    {"resnext groups", 28, 128, 128, 3, 1, 32, false},
};

/** Returns a step of the cluster as built; the caller frees it. */
static struct library_step *step_of(struct subject *s, const struct value *shared)
{
    struct error e = {0};
    struct library_step *step = library_step_create(library, s->nodes, s->count, shares_this, (void *)shared, &e);

    if (!step)
        fail_with_graph(s, e.message);
    return step;
}

/**
 * Where there are tiles (AMX, or its emulation), what may be bfloat16 is computed in them, with what follows, or stays float32;
 * `worth`: it is not so small, or of so few channels, that it may stay.
 */
static void expect_tiles(const struct subject *s, const char *what, bool worth)
{
    if (library->bfloat16 <= RATE_WITHOUT_TILES)
        return;
    library_allow(library, WNNPrecision_Bf16, false);
    struct library_step *step = library_step_create(library, s->nodes, s->count, shares_this, NULL, &(struct error){0});
    struct library_step_info info;

    assert_non_null(step);
    library_step_info(step, &info);
    printf("%-36s %s, bfloat16\n", what, info.implementation);
    assert_int_equal(info.precision == WNNPrecision_Bf16, strstr(info.implementation, "amx") != NULL);
    assert_true(!worth || info.precision == WNNPrecision_Bf16);
    library_step_free(step);
    library_allow(library, WNNPrecision_Float32, false);
}

TEST(convolutions_of_networks_are_computed)
{
    for (size_t i = 0; i < sizeof conv_shapes / sizeof *conv_shapes; i++) {
        const struct conv_shape *c = &conv_shapes[i];
        WNNConv2dOptions o = WNN_CONV2D_OPTIONS_INIT;
        uint32_t p = (c->kernel - 1) / 2, padding[] = {p, p, p, p}, strides[] = {c->stride, c->stride};
        struct value *v, *residual = NULL;
        struct library_step_info info;

        o.padding = padding, o.paddingCount = 4;
        o.strides = strides, o.stridesCount = 2;
        o.groups = c->groups;
        o.inputLayout = WNNInputOperandLayout_Nhwc;
        SCOPED(subject_end) struct subject s = subject_begin();
        v = apply(&s, OP_CONV2D, &o, OPERAND(&s, false, 1, c->size, c->size, c->in),
                  OPERAND(&s, true, c->out, c->in / c->groups, c->kernel, c->kernel), OPERAND(&s, true, c->out));
        if (c->residual) {
            residual = operand_dims(&s, false, 4, v->type.dims);
            v = apply(&s, OP_ADD, NULL, v, residual, NULL);
        }
        apply(&s, OP_RELU, NULL, v, NULL, NULL);
        if (!subject_taken(&s))
            fail_with_graph(&s, c->what);
        if (residual)
            assert_int_equal(library_may_share(library, s.nodes, s.count, residual), convolutions_sum_in_place());
        struct library_step *step = step_of(&s, convolutions_sum_in_place() ? residual : NULL);
        library_step_info(step, &info);
        printf("%-36s %s\n", c->what, info.implementation);
        assert_null(strstr(info.implementation, "ref"));
        assert_int_equal(info.input_count, residual ? 2 : 1);
        if (c->out > 1) /* one filter may lie right already */
            assert_true(info.packed_bytes >= (int64_t)c->out * (c->in / c->groups) * c->kernel * c->kernel * 4);
        double size = v->type.dims[1], want = 2 * size * size * c->out * (c->in / c->groups) * c->kernel * c->kernel;
        assert_true(fabs(info.flops - want) < 1);
        library_step_free(step);
        expect_tiles(&s, c->what, c->groups == 1 && c->in >= 24 && c->out >= 64);
    }
}

TEST(contractions_of_networks_are_computed)
{
    static const struct {
        const char *what;
        uint32_t batch, m, k, n;
        bool constant;
    } rows[] = {
        {"bert query", 1, 128, 768, 768, true},    {"bert up", 1, 128, 768, 3072, true},
        {"bert down", 1, 128, 3072, 768, true},    {"bert scores", 12, 128, 64, 128, false},
        {"bert context", 12, 128, 128, 64, false}, {"mlp, batch 1", 1, 1, 4096, 4096, true},
        {"classifier", 1, 1, 1280, 1000, true},    {"decoder step", 8, 1, 8, 512, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct library_step_info info;
        SCOPED(subject_end) struct subject s = subject_begin();

        struct value *a = OPERAND(&s, false, rows[i].batch, rows[i].m, rows[i].k);
        struct value *b = rows[i].constant ? OPERAND(&s, true, rows[i].k, rows[i].n)
                                           : OPERAND(&s, false, rows[i].batch, rows[i].k, rows[i].n);
        struct value *v = apply(&s, OP_MATMUL, NULL, a, b, NULL);
        apply(&s, OP_ADD, NULL, v, OPERAND(&s, true, rows[i].n), NULL);
        if (!subject_taken(&s))
            fail_with_graph(&s, rows[i].what);
        struct library_step *step = step_of(&s, NULL);
        library_step_info(step, &info);
        printf("%-36s %s\n", rows[i].what, info.implementation);
        assert_null(strstr(info.implementation, "ref"));
        if (rows[i].m == 1 && rows[i].batch == 1) /* read at memory speed */
            assert_non_null(strstr(info.implementation, "gemm:"));
        assert_true(fabs(info.flops - 2.0 * rows[i].batch * rows[i].m * rows[i].k * rows[i].n) < 1);
        library_step_free(step);
        expect_tiles(&s, rows[i].what, rows[i].m > 1);
    }
}

/* ---- steps ---- */

/** A step with every kind of operand: run-time weights (reordered in scratch), run-time bias, a residual, a scaled c. */
static void build_busy_cluster(struct subject *s, bool gemm)
{
    static const uint32_t padding[] = {1, 1, 1, 1};
    WNNConv2dOptions o = WNN_CONV2D_OPTIONS_INIT;
    WNNGemmOptions g = WNN_GEMM_OPTIONS_INIT;
    struct value *v;

    *s = subject_begin();
    if (gemm) {
        g.alpha = 0.5, g.beta = -2;
        v = apply(s, OP_GEMM, &g, OPERAND(s, false, 33, 70), OPERAND(s, false, 70, 50), OPERAND(s, false, 33, 1));
    } else {
        o.padding = padding, o.paddingCount = 4;
        o.inputLayout = WNNInputOperandLayout_Nhwc;
        v = apply(s, OP_CONV2D, &o, OPERAND(s, false, 1, 20, 20, 16), OPERAND(s, false, 24, 16, 3, 3), OPERAND(s, false, 24));
    }
    v = apply(s, OP_ADD, NULL, v, operand_dims(s, false, v->type.rank, v->type.dims), NULL);
    apply(s, OP_RELU, NULL, v, NULL, NULL);
    assert_true(subject_taken(s));
}

enum { RUNNERS = 3, RUNS = 60 };

struct runner {
    const struct library_step *step;
    struct test_run *run;
    const float *want;
    uint32_t wrong;
};

static void *run_often(void *user)
{
    struct runner *r = user;
    struct test_run *x = r->run;
    struct threads_saved saved = threads_enter(TEST_THREADS, NULL);

    for (int i = 0; i < RUNS; i++) {
        memset(x->output, 0xFF, (size_t)x->elements * sizeof *x->output);
        if (!library_step_run(r->step, x->bindings, x->inputs, x->output, x->scratch))
            r->wrong++;
        r->wrong += memcmp(x->output, r->want, (size_t)x->elements * sizeof *x->output) != 0;
    }
    threads_leave(saved);
    return NULL;
}

/** One step on several threads at the same time, each with its own inputs: every run gives the same bits as alone. */
TEST(one_step_runs_on_several_threads)
{
    for (int gemm = 0; gemm < 2; gemm++) {
        struct test_run x[RUNNERS];
        struct runner r[RUNNERS];
        float *inputs[RUNNERS][8];
        struct library_step_info info;
        SCOPED(subject_end) struct subject s = {0};

        build_busy_cluster(&s, gemm);
        struct library_step *step = step_of(&s, NULL);
        library_step_info(step, &info);
        for (int i = 0; i < RUNNERS; i++) {
            step_run_begin(&s, step, &x[i]);
            float *want = malloc((size_t)x[i].elements * sizeof *want);
            assert_non_null(want);
            for (uint32_t k = 0; k < info.input_count; k++) {
                int64_t n = type_elements(&info.inputs[k]->type);

                inputs[i][k] = malloc((size_t)n * sizeof(float));
                assert_non_null(inputs[i][k]);
                for (int64_t j = 0; j < n; j++)
                    inputs[i][k][j] = (float)(int32_t)random_bits() / 2147483648.0f;
                x[i].inputs[k] = inputs[i][k];
            }
            struct threads_saved saved = threads_enter(TEST_THREADS, NULL);
            assert_true(library_step_run(step, x[i].bindings, x[i].inputs, x[i].output, x[i].scratch));
            threads_leave(saved);
            memcpy(want, x[i].output, (size_t)x[i].elements * sizeof *want);
            r[i] = (struct runner){step, &x[i], want, 0};
        }
        run_on_threads(RUNNERS, run_often, r, sizeof *r);
        for (int i = 0; i < RUNNERS; i++) {
            assert_int_equal(r[i].wrong, 0);
            assert_true(guard_intact(&x[i]));
        }
        for (int i = 0; i < RUNNERS; i++) {
            step_run_end(&x[i]);
            free((float *)r[i].want);
            for (uint32_t k = 0; k < info.input_count; k++)
                free(inputs[i][k]);
        }
        library_step_free(step);
    }
}

/** Steps and their bindings work when graph and constants are gone. */
TEST(steps_outlive_the_graph)
{
    for (int gemm = 0; gemm < 2; gemm++) {
        static const uint32_t one[] = {1, 1};
        WNNConv2dOptions o = WNN_CONV2D_OPTIONS_INIT;
        struct test_run x;
        struct subject s = subject_begin();

        if (gemm) {
            WNNGemmOptions g = {.alpha = 1, .beta = 3};
            apply(&s, OP_GEMM, &g, OPERAND(&s, true, 5, 6), OPERAND(&s, false, 6, 7), OPERAND(&s, true, 5, 1));
        } else { /* nchw: weights stay as they are, so the step must hold the constant itself */
            o.strides = one, o.stridesCount = 2;
            apply(&s, OP_CONV2D, &o, OPERAND(&s, false, 1, 4, 6, 6), OPERAND(&s, true, 8, 4, 3, 3), OPERAND(&s, true, 8));
        }
        struct library_step *step = step_of(&s, NULL);
        struct expectation want = subject_expect(&s);
        step_run_begin(&s, step, &x);
        graph_free(s.g);
        s.g = NULL;
        struct threads_saved saved = threads_enter(TEST_THREADS, NULL);
        assert_true(library_step_run(step, x.bindings, x.inputs, x.output, x.scratch));
        threads_leave(saved);
        for (int64_t i = 0; i < x.elements; i++)
            assert_true(fabs((double)want.values[i] - x.output[i]) <= want.bounds[i]);
        step_run_end(&x);
        expectation_free(&want);
        library_step_free(step);
        for (int i = 0; i < VALUES_MAX; i++)
            free(s.blocks[i]);
    }
}

/** Anything but a float32 contraction is refused, without harm. */
TEST(other_nodes_are_refused)
{
    struct tensor_type half = {WNNOperandDataType_Float16, 2, {4, 4}};
    SCOPED(subject_end) struct subject s = subject_begin();
    struct value *h, *x;

    h = graph_add_input(s.g, "h", 1, &half);
    x = OPERAND(&s, false, 4, 4);
    apply(&s, OP_MATMUL, NULL, h, h, NULL);
    apply(&s, OP_RELU, NULL, x, NULL, NULL);
    apply(&s, OP_TRANSPOSE, NULL, x, NULL, NULL);
    for (uint32_t i = 0; i < s.count; i++)
        assert_false(library_takes_node(library, s.nodes[i]));
}

/** A cap that comes too late still holds: nothing is taken.  A cap that is not exceeded changes nothing. */
TEST(caps_hold)
{
    static const char *const caps[] = {"baseline", "avx2", "avx512", "native"};
    uint32_t own = 3, i;

    for (i = 0; i < 4; i++)
        if (!strcmp(caps[i], test_isa()))
            own = i;
    SCOPED(subject_end) struct subject s = subject_begin();
    apply(&s, OP_MATMUL, NULL, OPERAND(&s, false, 8, 8), OPERAND(&s, true, 8, 8), NULL);
    assert_true(library_takes_node(library, s.nodes[0]));
    for (i = 0; i < 4; i++) {
        struct library *l = library_create(caps[i], 1, NULL, &(struct error){0});

        assert_non_null(l);
        if (i >= own)
            assert_true(library_takes_node(l, s.nodes[0]));
        else if (i == 0 || own == 1) /* whether more is exceeded natively depends on the machine */
            assert_false(library_takes_node(l, s.nodes[0]));
        library_free(l);
    }
    struct library_step *step = step_of(&s, NULL);
    struct library_step_info info;
    library_step_info(step, &info);
    if (own < 2)
        assert_null(strstr(info.implementation, "avx512"));
    if (own < 1)
        assert_null(strstr(info.implementation, "avx"));
    library_step_free(step);
}

int main(int argc, char **argv)
{
    return main_library(argv);
}

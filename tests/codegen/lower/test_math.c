/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Elementary functions in generated code, at every instruction set: they have the errors that ir/expansion documents, against
 * float64 libm, and the same bits as their expansions run step by step, but for what AVX-512 divides by an estimate.
 *
 * By default some millions of arguments, spread over all exponents, all numbers of float16, and the neighbourhoods of every
 * threshold; with ELEMENTARY=all every one of the 2^32 float32 numbers.  ELEMENTARY=print prints the errors found.
 */
#include "codegen/kernels.h"

#include "ir/expansion/expansion.h"
#include "support/elementary.h"
#include "support/expansions.h"

enum {
    CHUNK = 1 << 16,
    INTERPRETED = 8 /* every so many chunks' results are compared with those of the expansion, which takes longer */
};

static kernel_function compile(struct machine_under_test *m, struct kernel *k, struct codegen_kernels **unit, struct arena *a,
                               int64_t **params)
{
    kernel_function f;
    assert_true(kernel_finish(k));
    OWNED(schedule) struct schedule *s = schedule_of(k, &m->target.isa);
    assert_done(codegen_compile(m->codegen, 1, &s, NULL, NULL, unit, &f, &e));
    *params = arena_copy(a, s->numbers.params, s->numbers.param_count * sizeof **params);
    return f;
}

struct sweep {
    kernel_function run;
    int64_t *params;
    float *in, *out;
};

static void sweep_chunk(struct sweep *s)
{
    void *tensors[2] = {s->in, s->out};
    struct kernel_args args = {tensors, s->params, NULL};
    s->run(&args, 0, CHUNK / UNIT_ELEMENTS);
}

/* The expansion whose bits generated code has.  False: none, since it divides by an estimate. */
static bool expansion_of(enum kop op, const struct isa *isa, struct expansion *x)
{
    expansion_build(op, &(struct expansion_target){.fma = isa->fma, .ldexp = true, .div_approx = true}, x);
    for (uint32_t i = 0; i < x->value_count; i++)
        if (x->steps[i].op == K_DIV_APPROX && isa->slow_division)
            return false;
    expansion_build(op, &(struct expansion_target){.fma = isa->fma}, x);
    return true;
}

static void check_bits(const struct sweep *s, const struct expansion *x, const char *isa)
{
    for (int i = 0; i < CHUNK; i++) {
        float want = expansion_scalar(x, &(union scalar){.f32 = s->in[i]}).f32, got = s->out[i];
        if (isnan(want) ? !isnan(got) : elementary_bits(want) != elementary_bits(got))
            fail_msg("%s %s(%a) is %a, not %a as its expansion is", isa, kop_name(x->op), (double)s->in[i], (double)got,
                     (double)want);
    }
}

static double worst_of(const struct sweep *s, const struct elementary *f, float *where)
{
    double worst = 0;
    for (int i = 0; i < CHUNK; i++) {
        double error = ulp_error(s->out[i], f->reference((double)s->in[i]));
        if (error > worst) {
            worst = error;
            *where = s->in[i];
        }
    }
    return worst;
}

static void check_function(const struct elementary *f, int isa)
{
    struct machine_under_test *m = machine_get(isa);
    OWNED(kernel) struct kernel *k = kernel_create();
    struct codegen_kernels *unit;
    struct arena a = {0};
    struct sweep s = {.in = buffer_create(CHUNK * 4), .out = buffer_create(CHUNK * 4)};
    struct expansion x;
    const bool same_bits = expansion_of(f->op, &m->target.isa, &x);
    double worst = 0;
    float where = 0;

    kernel_tensor(k, WNNOperandDataType_Float32, CHUNK, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, CHUNK, true, NULL);
    uint32_t v = kernel_var(k, KVAR_PARALLEL, CHUNK);
    kernel_store(k, 1, kaffine_var(k, v), kernel_op1(k, f->op, load(k, 0, kaffine_var(k, v))), 0, NULL);
    s.run = compile(m, k, &unit, &a, &s.params);

    /* A stride that is odd against powers of two: all exponents, all low bits.  The last chunk repeats arguments. */
    const uint32_t step = elementary_step(2039);
    const uint64_t count = elementary_arguments(step);
    for (uint64_t first = 0; first < count; first += CHUNK) {
        for (uint64_t i = 0; i < CHUNK; i++)
            s.in[i] = elementary_float(elementary_argument((first + i) % count, step));
        sweep_chunk(&s);
        float at = 0;
        double error = worst_of(&s, f, &at);
        if (error > worst) {
            worst = error;
            where = at;
        }
        if (same_bits && (first < ELEMENTARY_SPECIAL || first / CHUNK % INTERPRETED == 0))
            check_bits(&s, &x, m->name);
    }
    if (getenv("ELEMENTARY"))
        printf("%-10s %-9s %.4f ulp at %a%s\n", kop_name(f->op), m->name, worst, (double)where,
               same_bits ? ", the bits of the expansion" : "");
    if (worst > expansion_error(f->op, m->target.isa.fma))
        fail_msg("%s %s: %.4f ulp at %a", m->name, kop_name(f->op), worst, (double)where);
    codegen_kernels_free(unit);
    arena_free(&a);
    buffer_free(s.in);
    buffer_free(s.out);
}

TEST(functions_of_one_argument_are_within_bounds)
{
    for (int f = 0; f < ELEMENTARY_COUNT; f++)
        for (int isa = 0; isa < ISA_COUNT; isa++)
            if (isa != 1) /* same instructions as native, or native is less */
                check_function(&elementary[f], isa);
}

/* pow: every pair of special numbers exactly as libm has it, and random pairs over the whole range of results. */
TEST(powers_are_within_bounds)
{
    static const float bases[] = {0.0f,           -0.0f,       1.0f,       -1.0f,     2.0f,  -2.0f,  0.5f,    -0.5f,
                                  3.0f,           -3.0f,       INFINITY,   -INFINITY, NAN,   1e-45f, -1e-45f, 3.4028235e38f,
                                  -3.4028235e38f, 0.99999994f, 1.0000001f, 1e-39f,    10.0f, -10.0f};
    static const float exponents[] = {
        0.0f,          -0.0f,    1.0f,      -1.0f,  2.0f,    -2.0f,       3.0f,        -3.0f,       0.5f,          -0.5f,
        1.5f,          INFINITY, -INFINITY, NAN,    1e-45f,  16777215.0f, 16777216.0f, 16777217.0f, -16777215.0f,  8388607.5f,
        3.4028235e38f, 1e10f,    127.0f,    128.0f, -126.0f, -149.0f,     -150.0f,     33.0f,       2147483647.0f, -5.0f};
    enum { BASES = sizeof bases / sizeof *bases, EXPONENTS = sizeof exponents / sizeof *exponents, N = CHUNK };
    float *tensors[3] = {buffer_create(N * 4), buffer_create(N * 4), buffer_create(N * 4)};
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        struct machine_under_test *m = machine_get(isa);
        OWNED(kernel) struct kernel *k = kernel_create();
        OWNED(codegen_kernels) struct codegen_kernels *unit = NULL;
        SCOPED(arena_free) struct arena a = {0};
        int64_t *params;
        for (int i = 0; i < 3; i++)
            kernel_tensor(k, WNNOperandDataType_Float32, N, i == 2, NULL);
        uint32_t v = kernel_var(k, KVAR_PARALLEL, N);
        uint32_t r = kernel_op2(k, K_POW, load(k, 0, kaffine_var(k, v)), load(k, 1, kaffine_var(k, v)));
        kernel_store(k, 2, kaffine_var(k, v), r, 0, NULL);
        struct expansion expanded;
        const bool same_bits = expansion_of(K_POW, &m->target.isa, &expanded);
        assert_true(same_bits);
        kernel_function f = compile(m, k, &unit, &a, &params);
        double worst = 0;
        int at = 0;
        for (int round = 0; round < 12; round++) {
            for (int i = 0; i < N; i++) {
                float x = bases[i % BASES], y = exponents[i / BASES % EXPONENTS];
                if (round == 1) {
                    x = elementary_float((uint32_t)random_bits());
                    y = elementary_float((uint32_t)random_bits());
                } else if (round > 1) { /* results between 2^-155 and 2^130 */
                    x = elementary_float((uint32_t)random_bits() & 0x7FFFFFFF);
                    y = (float)random_in_range(-155, 130) / (x > 0 && isfinite(x) && x != 1 ? log2f(x) : 1);
                    if (round % 3 == 0)
                        y = rintf(y), x = -x;
                    if (round % 3 == 1) /* bases near 1, where the logarithm loses most */
                        x = 1 + (float)random_in_range(-1e-3f, 1e-3f), y = (float)random_in_range(-1e5f, 1e5f);
                }
                tensors[0][i] = x;
                tensors[1][i] = y;
            }
            struct kernel_args args = {(void *const *)tensors, params, NULL};
            f(&args, 0, N / UNIT_ELEMENTS);
            for (int i = 0; i < N; i++) {
                double exact = pow(tensors[0][i], tensors[1][i]), error = ulp_error(tensors[2][i], exact);
                if (round < 2 || i % INTERPRETED == 0) {
                    union scalar xy[2] = {{.f32 = tensors[0][i]}, {.f32 = tensors[1][i]}};
                    float want = expansion_scalar(&expanded, xy).f32;
                    if (isnan(want) ? !isnan(tensors[2][i]) : elementary_bits(want) != elementary_bits(tensors[2][i]))
                        fail_msg("%s: pow(%a, %a) is not what its expansion is", m->name, tensors[0][i], tensors[1][i]);
                }
                if (error > worst) {
                    worst = error;
                    at = i;
                    if (error > expansion_error(K_POW, m->target.isa.fma))
                        fail_msg("%s: pow(%.9g, %.9g) is %.9g, not %.9g: %g ulp", m->name, tensors[0][at], tensors[1][at],
                                 tensors[2][at], exact, worst);
                }
            }
        }
        if (getenv("ELEMENTARY"))
            printf("pow        %-9s %.4f ulp\n", m->name, worst);
    }
    for (int i = 0; i < 3; i++)
        buffer_free(tensors[i]);
}

TEST_GROUP(NULL, machines_free)

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Accuracy of the elementary functions in generated code, against double libm, at every instruction set.
 *
 * By default some millions of arguments, spread over all exponents, plus the neighbourhoods of every threshold; with
 * CODEGEN_MATH=all every one of the 2^32 float32 numbers.  CODEGEN_MATH=print prints the errors found.
 */
#include "codegen/kernels.h"

enum { CHUNK = 1 << 16 };

/* Largest error in ulp of the exact result: the worst of all instruction sets over 33 million arguments (every 131st float),
 * and a few hundredths for the arguments between them.  Without fused multiply-add errors are larger: sigmoid 1.97
 * against 1.79. */
static const struct function {
    enum kop op;
    double (*reference)(double);
    double bound;
} functions[] = {
    {K_EXP, exp, 1.25},  {K_EXPM1, expm1, 1.65}, {K_LOG, log, 0.85},   {K_LOG1P, log1p, 1.45}, {K_SIN, sin, 0.501},
    {K_COS, cos, 0.501}, {K_TAN, tan, 0.501},    {K_TANH, tanh, 1.45}, {K_ERF, erf, 1.25},     {K_SIGMOID, NULL, 2.05},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static double sigmoid(double x)
{
    return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
}

static double ulp_error(float got, double exact)
{
    float rounded = (float)exact;
    int exponent;
    if (isnan(got) || isnan(exact))
        return isnan(got) && isnan(exact) ? 0 : INFINITY;
    if (got == rounded)
        return got == 0 && signbit(got) != signbit(rounded) ? INFINITY
               : isinf(got) || got == exact                 ? 0
                                                            : fmin(0.5, fabs(got - exact) / ldexp(1, -149));
    if (isinf(got)) /* infinity where the largest number is right is as far off as the next number would be */
        got = copysignf(3.4028235e38f, got), exact -= copysign(0x1p104, exact);
    if (isinf(exact))
        return INFINITY;
    frexp(exact, &exponent);
    return fabs(got - exact) / ldexp(1, exponent < -125 ? -149 : exponent > 128 ? 104 : exponent - 24);
}

static kernel_function compile(struct machine_under_test *m, struct kernel *k, struct codegen_unit **unit, struct arena *a,
                               int64_t **params)
{
    struct error e = {0};
    struct knumbers numbers;
    kernel_function f;
    assert_true(kernel_finish(k));
    if (!codegen_compile(m->codegen, 1, &k, unit, &f, &e))
        fail_msg("%s", e.message);
    assert_true(kernel_numbers(k, a, &numbers));
    *params = numbers.params;
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
    s->run(&args, 0, CHUNK / KERNEL_BLOCK);
}

static double worst_of(const struct sweep *s, const struct function *f, float *where)
{
    double worst = 0;
    for (int i = 0; i < CHUNK; i++) {
        double x = s->in[i], exact = f->reference ? f->reference(x) : sigmoid(x), error = ulp_error(s->out[i], exact);
        if (error > worst) {
            worst = error;
            *where = s->in[i];
        }
    }
    return worst;
}

static void check_function(const struct function *f, int isa, bool all, bool print)
{
    struct machine_under_test *m = machine_get(isa);
    struct kernel *k = kernel_create();
    struct codegen_unit *unit;
    struct arena a = {0};
    struct sweep s = {.in = buffer_create(CHUNK * 4), .out = buffer_create(CHUNK * 4)};
    double worst = 0;
    float where = 0;

    kernel_tensor(k, WNNOperandDataType_Float32, CHUNK, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, CHUNK, true, NULL);
    uint32_t v = kernel_var(k, KVAR_PARALLEL, CHUNK);
    kernel_store(k, 1, kaffine_var(k, v), kernel_op1(k, f->op, load(k, 0, kaffine_var(k, v))), 0, NULL);
    s.run = compile(m, k, &unit, &a, &s.params);

    /* A stride that is odd against powers of two: all exponents, all low bits. */
    uint32_t step = all ? 1 : 2039;
    uint64_t chunks = ((UINT64_C(1) << 32) / step + CHUNK) / CHUNK;
    for (uint64_t c = 0; c < chunks + 2; c++) {
        for (uint64_t i = 0; i < CHUNK; i++) {
            uint32_t bits = (uint32_t)((c * CHUNK + i) * step);
            if (c >= chunks) { /* around special numbers and thresholds */
                float near = nasty_floats[i / 64 % NASTY_FLOATS];
                static const float thresholds[] = {88.72284f,   89.41599f,   -87.33654f,  -103.97208f, -17.32868f,
                                                   0.625f,      0.95f,       4.0f,        3.9192059f,  9.01091f,
                                                   0.34657359f, 0x1p26f,     1.5707964f,  3.1415927f,  0x1p-24f,
                                                   1.4142135f,  0.70710677f, 16777216.0f, 2.0f,        1.0f};
                if (c > chunks)
                    near = thresholds[i / 64 % (sizeof thresholds / sizeof *thresholds)];
                bits = bits_of_float(i / 32 % 2 ? near : -near) + (uint32_t)(i % 32) - 16;
            }
            s.in[i] = float_of(bits);
        }
        sweep_chunk(&s);
        float at = 0;
        double error = worst_of(&s, f, &at);
        if (error > worst) {
            worst = error;
            where = at;
        }
    }
    if (print)
        printf("%-10s %-9s %.4f ulp at %.9g (%a)\n", kop_name(f->op), m->name, worst, where, where);
    if (worst > f->bound)
        fail_msg("%s %s: %.4f ulp at %.9g", m->name, kop_name(f->op), worst, where);
    codegen_unit_free(unit);
    kernel_free(k);
    arena_free(&a);
    buffer_free(s.in);
    buffer_free(s.out);
}

static void accuracy(void **state)
{
    (void)state;
    const char *option = getenv("CODEGEN_MATH");
    bool all = option && strstr(option, "all"), print = option != NULL;
    for (int f = 0; f < FUNCTIONS; f++)
        for (int isa = 0; isa < ISA_COUNT; isa++)
            if (isa != 1) /* same instructions as native, or native is less */
                check_function(&functions[f], isa, all, print);
}

/* pow: every pair of special numbers exactly as libm has it, and random pairs over the whole range of results. */
static void powers(void **state)
{
    (void)state;
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
        struct kernel *k = kernel_create();
        struct codegen_unit *unit;
        struct arena a = {0};
        int64_t *params;
        for (int i = 0; i < 3; i++)
            kernel_tensor(k, WNNOperandDataType_Float32, N, i == 2, NULL);
        uint32_t v = kernel_var(k, KVAR_PARALLEL, N);
        uint32_t r = kernel_op2(k, K_POW, load(k, 0, kaffine_var(k, v)), load(k, 1, kaffine_var(k, v)));
        kernel_store(k, 2, kaffine_var(k, v), r, 0, NULL);
        kernel_function f = compile(m, k, &unit, &a, &params);
        double worst = 0;
        int at = 0;
        for (int round = 0; round < 12; round++) {
            for (int i = 0; i < N; i++) {
                float x = bases[i % BASES], y = exponents[i / BASES % EXPONENTS];
                if (round == 1) {
                    x = float_of((uint32_t)random_bits());
                    y = float_of((uint32_t)random_bits());
                } else if (round > 1) { /* results between 2^-155 and 2^130 */
                    x = float_of((uint32_t)random_bits() & 0x7FFFFFFF);
                    y = random_float(-155, 130) / (x > 0 && isfinite(x) && x != 1 ? log2f(x) : 1);
                    if (round % 3 == 0)
                        y = rintf(y), x = -x;
                    if (round % 3 == 1) /* bases near 1, where the logarithm loses most */
                        x = 1 + random_float(-1e-3f, 1e-3f), y = random_float(-1e5f, 1e5f);
                }
                tensors[0][i] = x;
                tensors[1][i] = y;
            }
            struct kernel_args args = {(void *const *)tensors, params, NULL};
            f(&args, 0, N / KERNEL_BLOCK);
            for (int i = 0; i < N; i++) {
                double exact = pow(tensors[0][i], tensors[1][i]), error = ulp_error(tensors[2][i], exact);
                if (error > worst) {
                    worst = error;
                    at = i;
                    if (error > 0.501)
                        fail_msg("%s: pow(%.9g, %.9g) is %.9g, not %.9g: %g ulp", m->name, tensors[0][at], tensors[1][at],
                                 tensors[2][at], exact, worst);
                }
            }
        }
        if (getenv("CODEGEN_MATH"))
            printf("pow        %-9s %.4f ulp\n", m->name, worst);
        codegen_unit_free(unit);
        kernel_free(k);
        arena_free(&a);
    }
    for (int i = 0; i < 3; i++)
        buffer_free(tensors[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(powers), cmocka_unit_test(accuracy)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    machines_free();
    return failed;
}

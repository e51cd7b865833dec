/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Expansions of elementary functions, run step by step: their errors, what they do at edges, and that not one bit of a result
 * changes unnoticed.  tests/codegen/lower/test_math.c compares generated code with them.
 */
#include <inttypes.h>
#include <math.h>

#include "ir/expansion/expansion.h"
#include "support/elementary.h"
#include "support/expansions.h"
#include "support/random.h"
#include "support/test.h"

static const struct expansion_target fused = {.fma = true}, unfused = {0};

/* ---- what expansions promise ---- */

static bool is_rare(const struct expansion *x, uint32_t value)
{
    return value >= x->rare_first && value < x->rare_end;
}

static const char *step_error(const struct expansion *x, uint32_t i, const struct expansion_target *target)
{
    const struct expansion_step *s = &x->steps[i];
    enum ktype types[3] = {KT_COUNT, KT_COUNT, KT_COUNT};

    if ((s->op == K_LOAD) != (i < x->argument_count))
        return "the arguments come first";
    if (s->op == K_LOAD || s->op == K_CONST)
        return NULL;
    if (s->op == K_INDEX || s->op == K_REDUCE || s->op == K_SCAN || (s->type == KT_F32 && expansion_exists(s->op, target)))
        return "not an operation of the target";
    for (uint32_t a = 0; a < 3; a++) {
        if ((a < kop_arity(s->op)) != (s->args[a] != EXPANSION_NONE))
            return "a wrong number of operands";
        if (s->args[a] == EXPANSION_NONE)
            continue;
        if (s->args[a] >= i)
            return "an operand that is not an earlier value";
        if (!is_rare(x, i) && is_rare(x, s->args[a]) && s->args[a] < x->rare_end - x->rare_merged)
            return "an operand that a branch may leave out";
        types[a] = x->steps[s->args[a]].type;
    }
    return kop_types_fit(s->op, s->type, types[0], types[1], types[2]) ? NULL : "wrong types";
}

static const char *rare_error(const struct expansion *x)
{
    if (!x->rare_end)
        return NULL;
    if (!x->long_code)
        return "rare steps in code that is short";
    if (x->rare_condition >= x->rare_first || x->steps[x->rare_condition].type != KT_BOOL ||
        x->rare_first + x->rare_merged > x->rare_end || x->rare_end > x->value_count)
        return "rare steps without a condition";
    for (uint32_t i = x->rare_end - x->rare_merged; i < x->rare_end; i++)
        if (x->steps[i].op != K_SELECT || x->steps[i].args[0] != x->rare_condition || x->steps[i].args[2] >= x->rare_first)
            return "what rare steps hand over is no choice by their condition";
    return NULL;
}

/* Checks types, order and the promises about rare steps; the first violation goes to out. */
static bool is_well_formed(const struct expansion *x, const struct expansion_target *target, FILE *out)
{
    const char *error = x->result < x->value_count ? rare_error(x) : "no result";

    if (error)
        fprintf(out, "%s: %s\n", kop_name(x->op), error);
    for (uint32_t i = 0; i < x->value_count && !error; i++) {
        error = step_error(x, i, target);
        if (error)
            fprintf(out, "%s: step %" PRIu32 ", %s: %s\n", kop_name(x->op), i, kop_name(x->steps[i].op), error);
    }
    return !error;
}

TEST(every_expansion_is_well_formed_for_every_target)
{
    uint32_t count = 0;

    for (uint32_t bits = 0; bits < 16; bits++) {
        const struct expansion_target target = {bits & 1, bits & 2, bits & 4, bits & 8};
        for (uint32_t op = 0; op < K_OP_COUNT; op++) {
            struct expansion x;
            if (!expansion_exists(op, &target))
                continue;
            expansion_build(op, &target, &x);
            if (!is_well_formed(&x, &target, stdout))
                fail_msg("%s for target %u", kop_name(op), bits);
            count++;
        }
    }
    assert_int_equal(count, 16 * 16 + 2 * 8); /* two more of which half of the targets have instructions */
    assert_false(expansion_exists(K_FMA, &fused));
    assert_true(expansion_exists(K_FMA, &unfused));
    assert_false(expansion_exists(K_SQRT, &unfused));
}

TEST(the_check_sees_what_is_wrong)
{
    struct expansion x;
    OWNED(file) FILE *out = fopen("/dev/null", "w");

    assert_non_null(out);
    expansion_build(K_EXP, &fused, &x);
    assert_true(is_well_formed(&x, &fused, out));
    assert_false(is_well_formed(&x, &unfused, out)); /* has a K_FMA */
    expansion_build(K_SIN, &fused, &x);
    assert_true(is_well_formed(&x, &fused, out));
    x.rare_merged = 1; /* the other one is used after the branch */
    assert_false(is_well_formed(&x, &fused, out));
    expansion_build(K_SIN, &fused, &x);
    x.long_code = false;
    assert_false(is_well_formed(&x, &fused, out));
    expansion_build(K_EXP, &fused, &x);
    x.steps[2].type = KT_F64;
    assert_false(is_well_formed(&x, &fused, out));
    expansion_build(K_EXP, &fused, &x);
    x.steps[x.value_count - 1].args[0] = x.value_count;
    assert_false(is_well_formed(&x, &fused, out));
    expansion_build(K_EXP, &fused, &x);
    x.result = x.value_count;
    assert_false(is_well_formed(&x, &fused, out));
}

static uint64_t hash_result(uint64_t hash, uint64_t bits, bool nan)
{
    return (hash ^ (nan ? 0x7FC00000u : bits)) * UINT64_C(0x100000001B3);
}

/* Hashes of all constants and of all results for the usual arguments, so that a change of the last bit of a coefficient is
 * seen: that of the highest power seldom changes a result.  After a change that is meant, ELEMENTARY=print prints them. */
static const struct {
    enum kop op;
    uint64_t unfused, fused;
} known[] = {
    {K_EXP, 0x309E03FA5C222D28, 0x94317CB1273EB6D7}, {K_EXPM1, 0xBE7E03774B6234A5, 0x1F18F6BD90755A9B},
    {K_LOG, 0xF597E29149B72AFB, 0x869C142BC1A710A4}, {K_LOG1P, 0x99B29F765779A803, 0xCA229F2DD4C6E086},
    {K_SIN, 0x6B15B1E515B43C98, 0x2135B708BA35A356}, {K_COS, 0x8AA8119119A09151, 0x0CF7BA074E4482BD},
    {K_TAN, 0x3A953AA8C3DD7C9A, 0x628A14B20B6F9518}, {K_TANH, 0xC05A3CC0D45D172B, 0x212A77A6EAC9E41A},
    {K_ERF, 0x07D9AC2402E48EDA, 0x75E714ACB9E74A66}, {K_SIGMOID, 0x9B002506DA8F9BE4, 0x75C8A03FC59531B5},
    {K_POW, 0x50DE87D75CF1F717, 0x0053BC52DD095FCC}, {K_EXP2, 0xE7E077977A31092D, 0x4E7DC78B400C5A86},
};
enum { STEP = 16381 };

static uint64_t hash_constants(const struct expansion *x)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);

    for (uint32_t i = 0; i < x->value_count; i++)
        if (x->steps[i].op == K_CONST)
            hash = hash_result(hash, x->steps[i].bits.u64, x->steps[i].type == KT_F32 && isnan(x->steps[i].bits.f32));
    return hash;
}

static void check_hash(enum kop op, bool fma, double worst, uint64_t hash)
{
    if (getenv("ELEMENTARY")) {
        printf("%-8s %-8s %.4f ulp, hash 0x%016llX\n", kop_name(op), fma ? "fused" : "unfused", worst,
               (unsigned long long)hash);
        return;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].op == op && hash == (fma ? known[i].fused : known[i].unfused))
            return;
    fail_msg("%s %s: other constants or results than those known to be good", kop_name(op), fma ? "fused" : "unfused");
}

/* An expansion that is computed in float64, up to the last rounding.  False: there is no such. */
static bool stop_before_rounding(struct expansion *x)
{
    for (uint32_t i = x->value_count; i-- > x->argument_count;) {
        const struct expansion_step *s = &x->steps[i];
        if (s->op == K_CAST && s->type == KT_F32 && x->steps[s->args[0]].type == KT_F64) {
            x->result = s->args[0];
            return true;
        }
    }
    return false;
}

/* The bits of the result before the last rounding, which hides most of them, and how far it is off. */
static uint64_t check_precise(const struct expansion *x, const union scalar *args, long double exact)
{
    const union scalar y = expansion_scalar(x, args);
    const long double error = fabsl((long double)y.f64 - exact);

    if (isfinite(exact) && error > fabsl(exact) * 0x1p-40L)
        fail_msg("%s(%a) before rounding is off by 2^%.1f of it", kop_name(x->op), (double)args[0].f32,
                 log2((double)(error / fabsl(exact))));
    return y.u64;
}

static long double reference_of(enum kop op, long double x)
{
    return op == K_SIN ? sinl(x) : op == K_COS ? cosl(x) : tanl(x);
}

static void check_function(const struct elementary *f, bool fma)
{
    const uint32_t step = elementary_step(STEP);
    const uint64_t count = elementary_arguments(step);
    struct expansion x, precise;
    double worst = 0;
    float where = 0;

    expansion_build(f->op, fma ? &fused : &unfused, &x);
    uint64_t hash = hash_constants(&x);
    precise = x;
    const bool is_f64 = stop_before_rounding(&precise);
    for (uint64_t i = 0; i < count; i++) {
        const union scalar argument = {.u64 = elementary_argument(i, step)};
        const float y = expansion_scalar(&x, &argument).f32;
        const double error = ulp_error(y, f->reference((double)argument.f32));
        hash = hash_result(hash, elementary_bits(y), isnan(y));
        if (is_f64 && isfinite(argument.f32) && argument.f32 != 0)
            hash = hash_result(hash, check_precise(&precise, &argument, reference_of(f->op, argument.f32)), false);
        if (error > worst) {
            worst = error;
            where = argument.f32;
        }
    }
    if (worst > expansion_error(f->op, fma))
        fail_msg("%s %s: %.4f ulp at %a", kop_name(f->op), fma ? "fused" : "unfused", worst, (double)where);
    check_hash(f->op, fma, worst, hash);
}

TEST(functions_of_one_argument_are_within_their_bounds)
{
    for (int i = 0; i < ELEMENTARY_COUNT; i++) {
        check_function(&elementary[i], true);
        check_function(&elementary[i], false);
    }
}

static uint32_t random_u32(void)
{
    return (uint32_t)(random_bits() >> 16);
}

static double check_power(const struct expansion *x, const struct expansion *precise, float a, float b, uint64_t *hash)
{
    const union scalar args[2] = {{.f32 = a}, {.f32 = b}};
    const float y = expansion_scalar(x, args).f32;
    const double exact = pow((double)a, (double)b), error = ulp_error(y, exact);

    if (error > expansion_error(K_POW, true))
        fail_msg("pow(%a, %a) is %a, not %a: %g ulp", (double)a, (double)b, (double)y, exact, error);
    *hash = hash_result(*hash, elementary_bits(y), isnan(y));
    if (a > 0 && isfinite(a) && isfinite(b) && y >= 0x1p-126f && isfinite(y))
        *hash = hash_result(*hash, check_precise(precise, args, powl(a, b)), false);
    return error;
}

/* Every pair of special numbers as IEEE 754 has it, and random pairs: any, with results of all sizes, near 1. */
TEST(powers_are_within_their_bounds)
{
    static const float special[] = {0.0f,          1.0f,        2.0f,       0.5f,          3.0f,        1.5f,
                                    10.0f,         33.0f,       127.0f,     149.0f,        150.0f,      1e-45f,
                                    1e-39f,        1e10f,       8388607.5f, 16777215.0f,   16777216.0f, 16777217.0f,
                                    2147483647.0f, 0.99999994f, 1.0000001f, 3.4028235e38f, INFINITY,    NAN};
    enum { SPECIAL = sizeof special / sizeof *special };

    for (int fma = 0; fma < 2; fma++) {
        struct expansion x, precise;
        double worst = 0;
        expansion_build(K_POW, fma ? &fused : &unfused, &x);
        uint64_t hash = hash_constants(&x);
        precise = x;
        assert_true(stop_before_rounding(&precise));
        random_seed(0);
        for (int i = 0; i < 4 * SPECIAL * SPECIAL; i++) {
            float a = special[i % SPECIAL], b = special[i / SPECIAL % SPECIAL];
            int signs = i / (SPECIAL * SPECIAL);
            check_power(&x, &precise, signs & 1 ? -a : a, signs & 2 ? -b : b, &hash);
        }
        for (int i = 0; i < 400000; i++) {
            float a = elementary_float(random_u32()), b = elementary_float(random_u32());
            if (i % 4 == 1 || i % 4 == 2) { /* results between 2^-155 and 2^130; in half of them the base may be negative */
                a = fabsf(a);
                if (!isfinite(a) || a == 0 || a == 1)
                    continue;
                b = (float)(-155 + 285 * (random_u32() * 0x1p-32)) /
                    (elementary_bits(a) * 0x1p-23f - 127); /* the logarithm, roughly */
                if (i % 4 == 2)
                    b = rintf(b), a = -a;
            } else if (i % 4 == 3) { /* bases near 1, where the logarithm loses most */
                a = (float)(1 + 2e-3 * (random_u32() * 0x1p-32 - 0.5));
                b = (float)(2e5 * (random_u32() * 0x1p-32 - 0.5));
            }
            worst = fmax(worst, check_power(&x, &precise, a, b, &hash));
        }
        check_hash(K_POW, fma, worst, hash);
    }
}

TEST(conversions_of_low_precision_floats_are_exact)
{
    const uint32_t step = elementary_step(STEP);
    struct expansion to_f16, from_f16, to_bf16, from_bf16;

    expansion_build(K_TO_F16, &unfused, &to_f16);
    expansion_build(K_FROM_F16, &unfused, &from_f16);
    expansion_build(K_TO_BF16, &unfused, &to_bf16);
    expansion_build(K_FROM_BF16, &unfused, &from_bf16);
    for (uint32_t h = 0; h < 1 << 16; h++) {
        const union scalar bits = {.u64 = h};
        const float from = f16_to_f32((uint16_t)h);
        assert_int_equal(expansion_scalar(&from_f16, &bits).u32, elementary_bits(from));
        assert_int_equal(expansion_scalar(&from_bf16, &bits).u32, h << 16);
        /* The numbers halfway to the next one, and their neighbours, are where rounding shows. */
        for (uint32_t near = 0; near < 3; near++) {
            const union scalar f16 = {.u64 = (elementary_bits(from) | 0x1000) + near - 1},
                               bf16 = {.u64 = (h << 16 | 0x8000) + near - 1};
            assert_int_equal(expansion_scalar(&to_f16, &f16).u32, f32_to_f16(f16.f32));
            assert_int_equal(expansion_scalar(&to_bf16, &bf16).u32, f64_to_bf16((double)bf16.f32));
        }
    }
    for (uint64_t i = 0; i < elementary_arguments(step); i++) {
        const union scalar f = {.u64 = elementary_argument(i, step)};
        assert_int_equal(expansion_scalar(&to_f16, &f).u32, f32_to_f16(f.f32));
        assert_int_equal(expansion_scalar(&to_bf16, &f).u32, f64_to_bf16((double)f.f32));
    }
}

TEST(multiply_add_is_rounded_once)
{
    struct expansion x;

    expansion_build(K_FMA, &unfused, &x);
    for (int i = 0; i < 1000000; i++) {
        union scalar args[3] = {{.u64 = random_u32()}, {.u64 = random_u32()}, {.u64 = random_u32()}};
        if (i % 4 == 1) /* a sum near a tie: the product's low bits decide */
            args[2].f32 = -args[0].f32 * args[1].f32 * (1 + (float)(random_u32() % 16));
        if (i % 4 == 2) { /* few bits, and exponents near one another */
            for (int a = 0; a < 3; a++)
                args[a].u32 = (args[a].u32 & 0x80FFF000u) | 0x3E000000u;
            args[2].u32 += (random_u32() % 64) << 23;
        }
        if (i % 4 == 3) { /* results that are subnormal */
            args[0].u32 = (args[0].u32 & 0x807FFFFFu) | 0x20000000u;
            args[1].u32 = (args[1].u32 & 0x807FFFFFu) | (0x1F000000u + (random_u32() % 8 << 23));
            args[2].u32 &= 0x80FFFFFFu;
        }
        const float want = fmaf(args[0].f32, args[1].f32, args[2].f32), got = expansion_scalar(&x, args).f32;
        if (isnan(want) ? !isnan(got) : elementary_bits(want) != elementary_bits(got))
            fail_msg("fma(%a, %a, %a) is %a, not %a", (double)args[0].f32, (double)args[1].f32, (double)args[2].f32,
                     (double)got, (double)want);
    }
}

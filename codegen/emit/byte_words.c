/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits dot products of bytes.
 *
 * Where products are added up by twos, a sum of pairs of 16 bits stays one as long as that fits: such sums are `narrow`.  Bytes
 * whose pairs do not fit are multiplied as numbers of 16 bits on x86, and on AArch64 pairs become 32 bits at once.
 */
#include "codegen/emit/byte_words.h"

#include <stdio.h>

enum { BYTES = 4, PAIRS = 2 };

static bool adds_pairs(const struct byte_form *f)
{
    return f->by == BYTES_MIXED_PAIRS || f->by == BYTES_SIGNED_PAIRS;
}

struct byte_form byte_form_of(const struct build *m, uint32_t lanes, bool both_signed, bool pairs_fit, bool narrow)
{
    const enum byte_arithmetic by = m->isa->byte_products;
    const bool arm = by == BYTES_SIGNED || by == BYTES_SIGNED_PAIRS;
    struct byte_form f = {.by = by, .lanes = lanes, .both_signed = both_signed};

    if (arm ? lanes != 4 : lanes != 4 && lanes != 8 && lanes != 16)
        f.by = BYTES_NONE;
    f.pairs_fit = pairs_fit && adds_pairs(&f);
    f.narrow = narrow && f.pairs_fit;
    return f;
}

/* Returns the same bits as lanes of so many bits. */
static V as_lanes(const struct build *m, const struct byte_form *f, V x, uint32_t bits)
{
    return LLVMBuildBitCast(m->b, x, type_lanes(type_int(m, bits), f->lanes * 32 / bits), "");
}

/* Calls an instruction of x86 whose name ends with the bits of a vector, and differs from vector to vector. */
static V call_x86(const struct build *m, const struct byte_form *f, const char *const names[3], V a, V b)
{
    V args[2] = {a, b};

    return call_intrinsic(m, names[f->lanes == 4 ? 0 : f->lanes == 8 ? 1 : 2], NULL, 0, args, 2);
}

/* Returns sums of two products of neighbouring bytes, unsigned ones of u and signed ones of s, as 16 bits: exact if they fit.
 */
static V madd_bytes(const struct build *m, const struct byte_form *f, V u, V s)
{
    static const char *const names[] = {"llvm.x86.ssse3.pmadd.ub.sw.128", "llvm.x86.avx2.pmadd.ub.sw",
                                        "llvm.x86.avx512.pmaddubs.w.512"};

    return call_x86(m, f, names, as_lanes(m, f, u, 8), as_lanes(m, f, s, 8));
}

/* Returns sums of two products of neighbouring numbers of 16 bits. */
static V madd_words(const struct build *m, const struct byte_form *f, V a, V b)
{
    static const char *const names[] = {"llvm.x86.sse2.pmadd.wd", "llvm.x86.avx2.pmadd.wd", "llvm.x86.avx512.pmaddw.d.512"};

    return call_x86(m, f, names, a, b);
}

/* Returns the sums of neighbouring numbers of 16 bits. */
static V add_neighbours(const struct build *m, const struct byte_form *f, V pairs)
{
    if (f->by == BYTES_MIXED_PAIRS)
        return madd_words(m, f, pairs, const_int_like(m, pairs, 1));
    T types[2] = {type_lanes(type_int(m, 32), f->lanes), LLVMTypeOf(pairs)};
    return call_intrinsic(m, "llvm.aarch64.neon.saddlp", types, 2, &pairs, 1);
}

/* ---- words ---- */

/* Returns the even bytes of words, or the odd ones, as signed numbers of 16 bits. */
static V bytes_by_twos(const struct build *m, const struct byte_form *f, V words, bool odd)
{
    V pairs = as_lanes(m, f, words, 16), eight = const_int_like(m, pairs, 8);

    return LLVMBuildAShr(m->b, odd ? pairs : LLVMBuildShl(m->b, pairs, eight, ""), eight, "");
}

/* Returns the first two bytes of all words, or the last two, as signed numbers of 16 bits. */
static V half_words(const struct build *m, const struct byte_form *f, V words, uint32_t half)
{
    V bytes = as_lanes(m, f, words, 8);
    uint32_t numbers[LANES_MAX];

    for (uint32_t i = 0; i < f->lanes * PAIRS; i++)
        numbers[i] = i / PAIRS * BYTES + half * PAIRS + i % PAIRS;
    V two = op_shuffle(m, bytes, bytes, numbers, f->lanes * PAIRS);
    return LLVMBuildSExt(m->b, two, type_lanes(type_int(m, 16), f->lanes * PAIRS), "");
}

/* Returns in how many parts words are multiplied. */
static uint32_t part_count(const struct byte_form *f)
{
    return f->by == BYTES_SIGNED_PAIRS || (f->by == BYTES_MIXED_PAIRS && !f->pairs_fit) ? BYTE_PARTS : 1;
}

struct byte_words byte_words_of(const struct build *m, const struct byte_form *f, V lanes)
{
    struct byte_words w = {{lanes}};

    for (uint32_t i = 0; part_count(f) > 1 && i < BYTE_PARTS; i++)
        w.part[i] = f->by == BYTES_SIGNED_PAIRS ? half_words(m, f, lanes, i) : bytes_by_twos(m, f, lanes, i);
    return w;
}

/* ---- sums ---- */

/* Returns the i-th byte of every word. */
static V byte_of(const struct build *m, V words, uint32_t i, bool is_signed)
{
    const uint32_t lanes = lanes_of(words);
    V left = splat(m, const_int(m, 32, 8 * (BYTES - 1 - i)), lanes), right = splat(m, const_int(m, 32, 8 * (BYTES - 1)), lanes);
    V high = LLVMBuildShl(m->b, words, left, "");

    return is_signed ? LLVMBuildAShr(m->b, high, right, "") : LLVMBuildLShr(m->b, high, right, "");
}

/* Adds the four products of a word to each lane of sum. */
static V add_products(const struct build *m, const struct byte_form *f, V sum, V a, V b)
{
    char name[48];

    if (f->by == BYTES_MIXED) {
        V args[3] = {sum, a, b};

        snprintf(name, sizeof name, "llvm.x86.avx512.vpdpbusd.%u", 32 * f->lanes);
        return call_intrinsic(m, name, NULL, 0, args, 3);
    }
    if (f->by == BYTES_SIGNED) {
        V args[3] = {sum, as_lanes(m, f, a, 8), as_lanes(m, f, b, 8)};
        T types[2] = {LLVMTypeOf(sum), LLVMTypeOf(args[1])};

        return call_intrinsic(m, "llvm.aarch64.neon.sdot", types, 2, args, 3);
    }
    for (uint32_t i = 0; i < BYTES; i++)
        sum = LLVMBuildAdd(m->b, sum, LLVMBuildMul(m->b, byte_of(m, a, i, f->both_signed), byte_of(m, b, i, true), ""), "");
    return sum;
}

/* Returns the products of two words, by twos and those of their parts added up. */
static V pairs_of(const struct build *m, const struct byte_form *f, const struct byte_words *a, const struct byte_words *b,
                  V sum)
{
    if (f->by == BYTES_MIXED_PAIRS) {
        V pairs = madd_bytes(m, f, a->part[0], b->part[0]);
        return sum ? LLVMBuildAdd(m->b, sum, pairs, "") : pairs;
    }
    for (uint32_t i = 0; i < BYTE_PARTS; i++) {
        V pairs = LLVMBuildMul(m->b, a->part[i], b->part[i], "");
        sum = sum ? LLVMBuildAdd(m->b, sum, pairs, "") : pairs;
    }
    return sum;
}

/* Adds to each lane of sum the products of words in parts, whose pairs have 32 bits. */
static V add_parts(const struct build *m, const struct byte_form *f, V sum, const struct byte_words *a,
                   const struct byte_words *b)
{
    for (uint32_t i = 0; i < BYTE_PARTS; i++) {
        V pairs = f->by == BYTES_MIXED_PAIRS ? madd_words(m, f, a->part[i], b->part[i])
                                             : add_neighbours(m, f, LLVMBuildMul(m->b, a->part[i], b->part[i], ""));
        sum = LLVMBuildAdd(m->b, sum, pairs, "");
    }
    return sum;
}

void byte_words_add(const struct build *m, const struct byte_form *f, V slot, const struct byte_words *a,
                    const struct byte_words *b, uint32_t count)
{
    V sum = LLVMBuildLoad2(m->b, type_lanes(type_int(m, 32), f->lanes), slot, "");
    V pairs = f->narrow ? as_lanes(m, f, sum, 16) : NULL;

    for (uint32_t i = 0; i < count; i++)
        if (f->pairs_fit)
            pairs = pairs_of(m, f, &a[i], &b[i], pairs);
        else if (adds_pairs(f))
            sum = add_parts(m, f, sum, &a[i], &b[i]);
        else
            sum = add_products(m, f, sum, a[i].part[0], b[i].part[0]);
    if (f->narrow)
        sum = LLVMBuildBitCast(m->b, pairs, LLVMTypeOf(sum), "");
    else if (pairs)
        sum = LLVMBuildAdd(m->b, sum, add_neighbours(m, f, pairs), "");
    LLVMBuildStore(m->b, sum, slot);
}

V byte_sum_value(const struct build *m, const struct byte_form *f, V slot)
{
    V sum = LLVMBuildLoad2(m->b, type_lanes(type_int(m, 32), f->lanes), slot, "");

    return f->narrow ? add_neighbours(m, f, as_lanes(m, f, sum, 16)) : sum;
}

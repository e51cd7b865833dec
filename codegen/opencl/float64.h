/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The part of the prelude that computes float64, as OpenCL C.
 *
 * Printed kernels call functions for it (f64_add, f64_lt, ...) on values of the type f64.  Where the device has float64, f64 is
 * double and the functions are its operations.  Where it has none, f64 is ulong, which holds the bits, and integers compute
 * what IEEE 754 says: rounded to nearest even, with subnormals, infinities and NaN.  So a text is right for every device, and
 * gives the same bits on each, but for f64_fma, which rounds twice without float64: nothing relies on less.
 *
 * In the functions for bits, s is a sign in its place, e a biased exponent and m a significand.  f64_pack takes one whose first
 * bit is bit 62, or 0, and whose last bits may stand for whatever is below them.
 */
#pragma once

#define OPENCL_FLOAT64_OF_DEVICE                                                                                               \
    "typedef double f64;\n"                                                                                                    \
    "#define as_f64(x) as_double(x)\n"                                                                                         \
    "#define f64_add(a, b) ((a) + (b))\n"                                                                                      \
    "#define f64_sub(a, b) ((a) - (b))\n"                                                                                      \
    "#define f64_mul(a, b) ((a) * (b))\n"                                                                                      \
    "#define f64_div(a, b) ((a) / (b))\n"                                                                                      \
    "#define f64_fma(a, b, c) fma(a, b, c)\n"                                                                                  \
    "#define f64_neg(a) (-(a))\n"                                                                                              \
    "#define f64_abs(a) fabs(a)\n"                                                                                             \
    "#define f64_copy_sign(a, b) copysign(a, b)\n"                                                                             \
    "#define f64_sqrt(a) sqrt(a)\n"                                                                                            \
    "#define f64_floor(a) floor(a)\n"                                                                                          \
    "#define f64_ceil(a) ceil(a)\n"                                                                                            \
    "#define f64_rint(a) rint(a)\n"                                                                                            \
    "#define f64_eq(a, b) ((a) == (b))\n"                                                                                      \
    "#define f64_ne(a, b) ((a) != (b))\n"                                                                                      \
    "#define f64_lt(a, b) ((a) < (b))\n"                                                                                       \
    "#define f64_le(a, b) ((a) <= (b))\n"                                                                                      \
    "#define f64_is_infinite(a) (fabs(a) == (double)INFINITY)\n"                                                               \
    "#define f64_of_float(a) ((double)(a))\n"                                                                                  \
    "#define f64_of_long(a) convert_double_rte((long)(a))\n"                                                                   \
    "#define f64_of_ulong(a) convert_double_rte((ulong)(a))\n"                                                                 \
    "#define float_of_f64(a) convert_float_rte(a)\n"                                                                           \
    "#define long_of_f64(a) convert_long_sat_rtz(a)\n"                                                                         \
    "#define ulong_of_f64(a) convert_ulong_sat_rtz(a)\n"

#define OPENCL_FLOAT64_OF_INTEGERS                                                                                             \
    "typedef ulong f64;\n"                                                                                                     \
    "#define as_f64(x) as_ulong(x)\n"                                                                                          \
    "#define F64_SIGN 0x8000000000000000ul\n"                                                                                  \
    "#define F64_INFINITY 0x7ff0000000000000ul\n"                                                                              \
    "#define F64_NAN 0x7ff8000000000000ul\n"                                                                                   \
    "static ulong f64_shift(ulong m, int n) {\n"                                                                               \
    "  return n <= 0 ? m : n > 63 ? (ulong)(m != 0) : m >> n | (ulong)((m << (64 - n)) != 0);\n"                               \
    "}\n"                                                                                                                      \
    "static f64 f64_pack(ulong s, int e, ulong m) {\n"                                                                         \
    "  if (e < 1) { m = f64_shift(m, 1 - e); e = 1; }\n"                                                                       \
    "  if (e > 2046) return s | F64_INFINITY;\n"                                                                               \
    "  const ulong lost = m & 0x3ff;\n"                                                                                        \
    "  m = (m + 0x200) >> 10; if (lost == 0x200) m &= ~1ul;\n"                                                                 \
    "  return s | (((ulong)(e - 1) << 52) + m);\n"                                                                             \
    "}\n" /* The exponent and the significand, whose first bit becomes bit 52, of a number that is not 0. */                   \
    "static int f64_unpack(f64 a, ulong *m) {\n"                                                                               \
    "  const int e = (int)(a >> 52 & 0x7ff);\n"                                                                                \
    "  *m = a & 0xffffffffffffful;\n"                                                                                          \
    "  if (e) { *m |= 1ul << 52; return e; }\n"                                                                                \
    "  const int n = (int)clz(*m) - 11;\n"                                                                                     \
    "  *m <<= n; return 1 - n;\n"                                                                                              \
    "}\n"                                                                                                                      \
    "static int f64_is_nan(f64 a) { return (a & ~F64_SIGN) > F64_INFINITY; }\n"                                                \
    "static int f64_is_infinite(f64 a) { return (a & ~F64_SIGN) == F64_INFINITY; }\n"                                          \
    "static f64 f64_neg(f64 a) { return a ^ F64_SIGN; }\n"                                                                     \
    "static f64 f64_abs(f64 a) { return a & ~F64_SIGN; }\n"                                                                    \
    "static f64 f64_copy_sign(f64 a, f64 b) { return (a & ~F64_SIGN) | (b & F64_SIGN); }\n"                                    \
    "static f64 f64_add(f64 a, f64 b) {\n"                                                                                     \
    "  if ((a & ~F64_SIGN) < (b & ~F64_SIGN)) { const f64 t = a; a = b; b = t; }\n"                                            \
    "  const ulong s = a & F64_SIGN;\n"                                                                                        \
    "  if (f64_is_nan(a)) return F64_NAN;\n"                                                                                   \
    "  if (f64_is_infinite(a)) return f64_is_infinite(b) && a != b ? F64_NAN : a;\n"                                           \
    "  if (!(b & ~F64_SIGN)) return a & ~F64_SIGN ? a : a & b;\n"                                                              \
    "  ulong m, n; int e = f64_unpack(a, &m); const int d = e - f64_unpack(b, &n);\n"                                          \
    "  m <<= 9; n = f64_shift(n << 9, d);\n"                                                                                   \
    "  m = s == (b & F64_SIGN) ? m + n : m - n;\n"                                                                             \
    "  if (!m) return 0;\n"                                                                                                    \
    "  const int z = (int)clz(m) - 1;\n"                                                                                       \
    "  return f64_pack(s, e + 1 - z, m << z);\n"                                                                               \
    "}\n"                                                                                                                      \
    "static f64 f64_sub(f64 a, f64 b) { return f64_add(a, b ^ F64_SIGN); }\n"                                                  \
    "static f64 f64_mul(f64 a, f64 b) {\n"                                                                                     \
    "  const ulong s = (a ^ b) & F64_SIGN; ulong m, n; a &= ~F64_SIGN; b &= ~F64_SIGN;\n"                                      \
    "  if (f64_is_nan(a) || f64_is_nan(b)) return F64_NAN;\n"                                                                  \
    "  if (f64_is_infinite(a) || f64_is_infinite(b)) return a && b ? s | F64_INFINITY : F64_NAN;\n"                            \
    "  if (!a || !b) return s;\n"                                                                                              \
    "  int e = f64_unpack(a, &m); e += f64_unpack(b, &n) - 1022;\n"                                                            \
    "  m <<= 10; n <<= 11;\n"                                                                                                  \
    "  ulong r = mul_hi(m, n) | (ulong)(m * n != 0);\n"                                                                        \
    "  if (!(r >> 62)) { r = r << 1; e--; }\n"                                                                                 \
    "  return f64_pack(s, e, r);\n"                                                                                            \
    "}\n"                                                                                                                      \
    "static f64 f64_div(f64 a, f64 b) {\n"                                                                                     \
    "  const ulong s = (a ^ b) & F64_SIGN; ulong m, n, q = 0; a &= ~F64_SIGN; b &= ~F64_SIGN;\n"                               \
    "  if (f64_is_nan(a) || f64_is_nan(b)) return F64_NAN;\n"                                                                  \
    "  if (f64_is_infinite(a) || !b) return a == b ? F64_NAN : s | F64_INFINITY;\n"                                            \
    "  if (!a || f64_is_infinite(b)) return s;\n"                                                                              \
    "  int e = f64_unpack(a, &m); e -= f64_unpack(b, &n) - 1023;\n"                                                            \
    "  if (m < n) { m <<= 1; e--; }\n"                                                                                         \
    "  for (int i = 0; i < 63; i++, m <<= 1) { q <<= 1; if (m >= n) { m -= n; q |= 1; } }\n"                                   \
    "  return f64_pack(s, e, q | (ulong)(m != 0));\n"                                                                          \
    "}\n"                                                                                                                      \
    "static f64 f64_fma(f64 a, f64 b, f64 c) { return f64_add(f64_mul(a, b), c); }\n"                                          \
    "static long f64_key(f64 a) { return a & F64_SIGN ? -(long)(a & ~F64_SIGN) : (long)a; }\n"                                 \
    "static int f64_eq(f64 a, f64 b) { return !f64_is_nan(a) && !f64_is_nan(b) && f64_key(a) == f64_key(b); }\n"               \
    "static int f64_ne(f64 a, f64 b) { return !f64_eq(a, b); }\n"                                                              \
    "static int f64_lt(f64 a, f64 b) { return !f64_is_nan(a) && !f64_is_nan(b) && f64_key(a) < f64_key(b); }\n"                \
    "static int f64_le(f64 a, f64 b) { return !f64_is_nan(a) && !f64_is_nan(b) && f64_key(a) <= f64_key(b); }\n"               \
    "static f64 f64_sqrt(f64 a) {\n"                                                                                           \
    "  ulong m, q = 0, r = 0;\n"                                                                                               \
    "  if (!(a & ~F64_SIGN) || a == F64_INFINITY) return a;\n"                                                                 \
    "  if (f64_is_nan(a) || a & F64_SIGN) return F64_NAN;\n"                                                                   \
    "  int e = f64_unpack(a, &m) - 1023;\n"                                                                                    \
    "  if (e & 1) { m <<= 1; e--; }\n"                                                                                         \
    "  for (int i = 52; i > -58; i -= 2) {\n"                                                                                  \
    "    r = r << 2 | (i < 0 ? 0 : m >> i & 3); q <<= 1;\n"                                                                    \
    "    if (r > 2 * q) { r -= 2 * q + 1; q++; }\n"                                                                            \
    "  }\n"                                                                                                                    \
    "  return f64_pack(0, e / 2 + 1023, q << 8 | (ulong)(r != 0));\n"                                                          \
    "}\n"                                                                                                                      \
    "static f64 f64_rint(f64 a) {\n"                                                                                           \
    "  const f64 m = 0x4330000000000000ul, b = f64_abs(a);\n"                                                                  \
    "  return f64_lt(b, m) ? f64_copy_sign(f64_sub(f64_add(b, m), m), a) : a;\n"                                               \
    "}\n"                                                                                                                      \
    "static f64 f64_floor(f64 a) { const f64 r = f64_rint(a); return f64_lt(a, r) ? f64_sub(r, 0x3ff0000000000000ul) : r; }\n" \
    "static f64 f64_ceil(f64 a) { return f64_neg(f64_floor(f64_neg(a))); }\n"                                                  \
    "static f64 f64_of_ulong_with(ulong s, ulong u) {\n"                                                                       \
    "  if (!u) return 0;\n"                                                                                                    \
    "  const int n = (int)clz(u) - 1;\n"                                                                                       \
    "  return f64_pack(s, 1085 - n, n < 0 ? f64_shift(u, 1) : u << n);\n"                                                      \
    "}\n"                                                                                                                      \
    "static f64 f64_of_ulong(ulong u) { return f64_of_ulong_with(0, u); }\n"                                                   \
    "static f64 f64_of_long(long i) { return f64_of_ulong_with(i < 0 ? F64_SIGN : 0, i < 0 ? 0 - (ulong)i : (ulong)i); }\n"    \
    "static f64 f64_of_float(float x) {\n"                                                                                     \
    "  const uint u = as_uint(x), a = u & 0x7fffffffu; const ulong s = (ulong)(u >> 31) << 63;\n"                              \
    "  if (a > 0x7f800000u) return F64_NAN;\n"                                                                                 \
    "  if (a == 0x7f800000u) return s | F64_INFINITY;\n"                                                                       \
    "  if (a >= 0x00800000u) return s | (((ulong)a << 29) + (896ul << 52));\n"                                                 \
    "  if (!a) return s;\n"                                                                                                    \
    "  const int n = (int)clz((ulong)a) - 1;\n"                                                                                \
    "  return f64_pack(s, 936 - n, (ulong)a << n);\n"                                                                          \
    "}\n"                                                                                                                      \
    "static float float_of_f64(f64 a) {\n"                                                                                     \
    "  const uint s = (uint)(a >> 63) << 31; ulong m;\n"                                                                       \
    "  if (f64_is_nan(a)) return as_float(0x7fc00000u);\n"                                                                     \
    "  if (f64_is_infinite(a)) return as_float(s | 0x7f800000u);\n"                                                            \
    "  if (!(a & ~F64_SIGN)) return as_float(s);\n"                                                                            \
    "  int e = f64_unpack(a, &m) - 896;\n"                                                                                     \
    "  m <<= 10;\n"                                                                                                            \
    "  if (e < 1) { m = f64_shift(m, 1 - e); e = 1; }\n"                                                                       \
    "  if (e > 254) return as_float(s | 0x7f800000u);\n"                                                                       \
    "  const ulong lost = m & 0x7ffffffffful;\n"                                                                               \
    "  m = (m + 0x4000000000ul) >> 39; if (lost == 0x4000000000ul) m &= ~1ul;\n"                                               \
    "  return as_float(s | (((uint)(e - 1) << 23) + (uint)m));\n"                                                              \
    "}\n"                                                                                                                      \
    "static ulong f64_whole(f64 a) {\n"                                                                                        \
    "  const int e = (int)(a >> 52 & 0x7ff) - 1023; const ulong m = (a & 0xffffffffffffful) | 1ul << 52;\n"                    \
    "  return e < 0 ? 0 : e > 63 ? ~0ul : e > 52 ? m << (e - 52) : m >> (52 - e);\n"                                           \
    "}\n"                                                                                                                      \
    "static ulong ulong_of_f64(f64 a) { return a & F64_SIGN ? 0 : f64_whole(a); }\n"                                           \
    "static long long_of_f64(f64 a) {\n"                                                                                       \
    "  const ulong u = min(f64_whole(a), a & F64_SIGN ? F64_SIGN : F64_SIGN - 1);\n"                                           \
    "  return (long)(a & F64_SIGN ? 0 - u : u);\n"                                                                             \
    "}\n"

/** The whole part. */
#define OPENCL_FLOAT64 "#ifdef cl_khr_fp64\n" OPENCL_FLOAT64_OF_DEVICE "#else\n" OPENCL_FLOAT64_OF_INTEGERS "#endif\n"

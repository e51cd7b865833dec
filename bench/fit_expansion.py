#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""
Where the polynomial coefficients in ir/expansion come from.  Needs nothing but Python; run it without arguments and
compare: it prints every table with the largest relative error of the function over its interval, first with exact coefficients, then
with coefficients rounded to the type they are used in.

Method: Remez exchange in 50 decimal digits.  A function f is approximated as base(x) + factor(x) * P(t(x)) with the largest value
of |error / weight(x)| made as small as possible.
"""
import struct
from decimal import Decimal as D, getcontext

getcontext().prec = 50
PI = D("3.14159265358979323846264338327950288419716939937510582097494")


def series(x, first, ratio):
    total, term, n = D(0), first, 0
    while term != 0 and abs(term) > D(10) ** -48 * max(abs(total), D(10) ** -30):
        total += term
        term *= ratio(n)
        n += 1
    return total


def sin(x):
    return series(x, x, lambda n: -x * x / ((2 * n + 2) * (2 * n + 3)))


def cos(x):
    return series(x, D(1), lambda n: -x * x / ((2 * n + 1) * (2 * n + 2)))


def erf(x):
    total, term, n = D(0), x, 0
    while abs(term) > D(10) ** -48:
        total += term / (2 * n + 1)
        n += 1
        term *= -x * x / n
    return total * 2 / PI.sqrt()


def tanh(x):
    e = (2 * x).exp()
    return (e - 1) / (e + 1)


def solve(a, b):
    n = len(b)
    m = [row[:] + [b[i]] for i, row in enumerate(a)]
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(m[r][i]))
        m[i], m[p] = m[p], m[i]
        for r in range(i + 1, n):
            k = m[r][i] / m[i][i]
            if k:
                for c in range(i, n + 1):
                    m[r][c] -= k * m[i][c]
    x = [D(0)] * n
    for i in reversed(range(n)):
        x[i] = (m[i][n] - sum(m[i][c] * x[c] for c in range(i + 1, n))) / m[i][i]
    return x


def evaluate(c, t):
    r = D(0)
    for k in reversed(c):
        r = r * t + k
    return r


def remez(f, base, factor, t, weight, lo, hi, degree, rounds=8, grid=400):
    """Coefficients of P, lowest first."""
    n = degree + 2
    lo, hi = D(lo), D(hi)
    import math
    points = [(lo + hi) / 2 - (hi - lo) / 2 * D(math.cos(math.pi * (2 * i + 1) / (2 * n))) for i in range(n)]
    samples = [lo + (hi - lo) * i / grid for i in range(grid + 1)]
    samples = [x for x in samples if abs(x) > D("1e-6")]
    table = [(x, f(x) - base(x), factor(x), t(x), weight(x)) for x in samples]
    c = None
    for _ in range(rounds):
        a, b = [], []
        for i, x in enumerate(points):
            fx, tx, wx = factor(x), t(x), weight(x)
            row, power = [], D(1)
            for _k in range(degree + 1):
                row.append(fx * power / wx)
                power *= tx
            row.append(D(-1) ** i)
            a.append(row)
            b.append((f(x) - base(x)) / wx)
        s = solve(a, b)
        c, level = s[:-1], abs(s[-1])
        errors = [(g - fx * evaluate(c, tx)) / wx for (x, g, fx, tx, wx) in table]
        # extrema of each run of equal sign
        runs = []
        for i, e in enumerate(errors):
            if runs and (errors[runs[-1]] > 0) == (e > 0):
                if abs(e) > abs(errors[runs[-1]]):
                    runs[-1] = i
            else:
                runs.append(i)
        while len(runs) > n:
            runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
        if len(runs) < n:
            break
        points = [table[i][0] for i in runs]
        if max(abs(e) for e in errors) < level * D("1.02"):
            break
    return c, table


def worst(c, table):
    return max(abs((g - fx * evaluate(c, tx)) / wx) for (x, g, fx, tx, wx) in table)


def as_float(x):
    return struct.unpack("f", struct.pack("f", float(x)))[0]


def show(name, f, base, factor, t, weight, lo, hi, degree, single=True):
    c, table = remez(f, base, factor, t, weight, lo, hi, degree)
    rounded = [as_float(x) if single else float(x) for x in c]
    print("%s  /* error %.2e, rounded %.2e */" % (name, worst(c, table), worst([D(x) for x in rounded], table)))
    for k, x in enumerate(rounded):
        print("    %s%s," % (x.hex(), "f" if single else ""))
    print(flush=True)


if __name__ == "__main__":
    one = D(1)
    ln2 = D(2).ln()
    h = "0.3467"
    # e^r = 1 + r + r^2 P(r), |r| <= ln(2) / 2
    show("exp", lambda x: x.exp(), lambda x: 1 + x, lambda x: x * x, lambda x: x, lambda x: x.exp(), "-" + h, h, 4)
    # log(1 + f) = f - f^2 / 2 + f^3 P(f), sqrt(1/2) <= 1 + f < sqrt(2)
    show("log", lambda x: (1 + x).ln(), lambda x: x - x * x / 2, lambda x: x ** 3, lambda x: x, lambda x: abs((1 + x).ln()),
         "-0.2930", "0.4143", 8)
    # tanh(x) = x + x^3 P(x^2), |x| <= 0.625
    show("tanh", tanh, lambda x: x, lambda x: x ** 3, lambda x: x * x, tanh, "0.0001", "0.626", 4)
    # erf(x) = x + x P(x^2), |x| <= 0.95
    show("erf small", erf, lambda x: x, lambda x: x, lambda x: x * x, erf, "0.0001", "0.951", 6)
    # log2(1 - erf(x)) = P(x - 1), 0.95 <= x <= 4; an error here is damped by 1 - erf
    show("erf large", lambda x: (1 - erf(x)).ln() / ln2, lambda x: D(0), lambda x: one, lambda x: x - 1,
         lambda x: one / (1 - erf(x)), "0.949", "4.0", 6)
    q = "0.7855"
    # sin(r) = r + r^3 P(r^2), cos(r) = 1 - r^2 / 2 + r^4 P(r^2), |r| <= pi / 4, in double
    show("sin", sin, lambda x: x, lambda x: x ** 3, lambda x: x * x, sin, "0.0001", q, 4, False)
    show("cos", cos, lambda x: 1 - x * x / 2, lambda x: x ** 4, lambda x: x * x, cos, "0.0001", q, 4, False)
    # log2((1 + s) / (1 - s)) = s P(s^2), |s| <= (sqrt(2) - 1) / (sqrt(2) + 1), in double
    log2 = lambda s: ((1 + s) / (1 - s)).ln() / ln2
    show("log2", log2, lambda x: D(0), lambda x: x, lambda x: x * x, log2, "0.00001", "0.17158", 6, False)
    # 2^f = 1 + f P(f), |f| <= 1/2
    exp2 = lambda x: (x * ln2).exp()
    show("exp2 in float", exp2, lambda x: one, lambda x: x, lambda x: x, exp2, "-0.5001", "0.5001", 5)
    show("exp2", exp2, lambda x: one, lambda x: x, lambda x: x, exp2, "-0.5001", "0.5001", 8, False)

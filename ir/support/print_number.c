/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Converts numbers of the textual form to text and back, bit by bit, whatever the locale.  Doubles, elements of tensors and
 * numbers of options get the fewest digits that read back as the same bits.
 */
#include "ir/support/print_number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

double digits_to_double(const char *text, size_t length)
{
    char buf[NUMBER_LENGTH_MAX + 32];
    size_t n = 0, at = 0;
    long exponent = 0;
    bool point = false;

    /* The digits go without the decimal point, whose character depends on the locale, and with the exponent changed to
     * match. */
    for (; at < length && (is_digit(text[at]) || text[at] == '.'); at++) {
        if (text[at] == '.') {
            point = true;
        } else if (n < NUMBER_LENGTH_MAX) {
            buf[n++] = text[at];
            exponent -= point;
        }
    }
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        bool negative = false;
        long written = 0;
        if (++at < length && (text[at] == '+' || text[at] == '-'))
            negative = text[at++] == '-';
        for (; at < length && is_digit(text[at]); at++)
            written = written < 100000 ? written * 10 + (text[at] - '0') : written;
        exponent += negative ? -written : written;
    }
    snprintf(buf + n, sizeof buf - n, "e%ld", exponent);
    return strtod(buf, NULL);
}

/* ---- printing ---- */

/* Splits "d.ddde+xx" from printf, whose decimal point depends on the locale, into digits and exponent. */
static int split_digits(const char *text, char digits[32])
{
    int count = 0;

    for (; *text && *text != 'e'; text++)
        if (*text >= '0' && *text <= '9' && count < 31)
            digits[count++] = *text;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    digits[count] = '\0';
    return *text ? atoi(text + 1) : 0;
}

static const char *digits_print(char buf[NUMBER_TEXT_MAX], bool negative, const char *digits, int exponent)
{
    int count = (int)strlen(digits), n = 0;

    if (negative)
        buf[n++] = '-';
    if (exponent < -6 || exponent > 20) {
        buf[n++] = digits[0];
        if (count > 1)
            n += snprintf(buf + n, NUMBER_TEXT_MAX - (size_t)n, ".%s", digits + 1);
        snprintf(buf + n, NUMBER_TEXT_MAX - (size_t)n, "e%d", exponent);
        return buf;
    }
    if (exponent < 0) {
        n += snprintf(buf + n, NUMBER_TEXT_MAX - (size_t)n, "0.%.*s%s", -exponent - 1, "000000", digits);
    } else {
        for (int i = 0; i < count || i <= exponent; i++) {
            if (i == exponent + 1)
                buf[n++] = '.';
            buf[n++] = i < count ? digits[i] : '0';
        }
    }
    buf[n] = '\0';
    return buf;
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Returns the fewest digits that read back as a number of type t; 17 always do. */
static const char *shortest_print(char buf[NUMBER_TEXT_MAX], double d, dtype t)
{
    char digits[32], text[64];

    for (int precision = 0;; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, fabs(d));
        int exponent = split_digits(text, digits);
        digits_print(buf, signbit(d) != 0, digits, exponent);
        double read = digits_to_double(buf + (buf[0] == '-'), strlen(buf + (buf[0] == '-')));
        if (precision >= 16 || same_bits(scalar_to_double(number_cast(wnnNumber(signbit(d) ? -read : read), t), t), d))
            return buf;
    }
}

/* Writes NaN and infinities; returns false for an ordinary number. */
static bool special_print(char buf[NUMBER_TEXT_MAX], double d)
{
    if (isinf(d)) {
        snprintf(buf, NUMBER_TEXT_MAX, "%sInfinity", d < 0 ? "-" : "");
        return true;
    }
    if (!isnan(d))
        return false;
    if (same_bits(d, NAN)) {
        snprintf(buf, NUMBER_TEXT_MAX, "NaN");
    } else {
        uint64_t bits;
        memcpy(&bits, &d, sizeof bits);
        snprintf(buf, NUMBER_TEXT_MAX, "NaN(0x%llx)", (unsigned long long)bits);
    }
    return true;
}

const char *double_print(char buf[NUMBER_TEXT_MAX], double d)
{
    return special_print(buf, d) ? buf : shortest_print(buf, d, DTYPE_FLOAT64);
}

const char *scalar_print(char buf[NUMBER_TEXT_MAX], union scalar s, dtype t)
{
    double d = scalar_to_double(s, t);

    if (t == WNNOperandDataType_Int64)
        snprintf(buf, NUMBER_TEXT_MAX, "%lld", (long long)s.i64);
    else if (t == WNNOperandDataType_Uint64)
        snprintf(buf, NUMBER_TEXT_MAX, "%llu", (unsigned long long)s.u64);
    else if (!dtype_is_float(t))
        snprintf(buf, NUMBER_TEXT_MAX, "%.0f", d);
    else if (!special_print(buf, d))
        shortest_print(buf, d, t);
    return buf;
}

const char *number_print(char buf[NUMBER_TEXT_MAX], WNNNumber n)
{
    switch (n.type) {
    case WNNNumberType_Int64:
        snprintf(buf, NUMBER_TEXT_MAX, "%lld", (long long)n.value.int64);
        return buf;
    case WNNNumberType_Uint64:
        snprintf(buf, NUMBER_TEXT_MAX, "%lluu", (unsigned long long)n.value.uint64);
        return buf;
    case WNNNumberType_Float64:
        double_print(buf, n.value.float64);
        if (isfinite(n.value.float64) && !strpbrk(buf, ".e"))
            strcat(buf, ".0"); /* at most 22 characters stand there */
        return buf;
    case WNNNumberType_Undefined:
    case WNNNumberType_Force32:
        break;
    }
    strcpy(buf, "null");
    return buf;
}

double double_shorten(double d, dtype t)
{
    char buf[NUMBER_TEXT_MAX];
    WNNNumber n = wnnNumber(d);

    if (!dtype_is_float(t) || !isfinite(d))
        return d;
    shortest_print(buf, d, t);
    n.value.float64 = digits_to_double(buf + (buf[0] == '-'), strlen(buf + (buf[0] == '-')));
    return signbit(d) ? -n.value.float64 : n.value.float64;
}

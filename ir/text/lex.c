/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is the lexer of the textual form, which knows white space, comments, names, strings and numbers.  It looks at every byte
 * once and reads no byte past the text, which need not end with a NUL.
 */
#include "ir/text/lex.h"

#include "ir/support/print_number.h"
#include "ir/support/text.h"

/* ---- errors ---- */

void lex_position(const struct lexer *l, const char *place, unsigned *line, unsigned *column)
{
    const char *start = l->text;

    *line = 1;
    for (const char *c = l->text; c < place; c++) {
        if (*c == '\n') {
            ++*line;
            start = c + 1;
        }
    }
    /* Columns count characters, not bytes. */
    *column = 1;
    for (const char *c = start; c < place; c++)
        *column += ((unsigned char)*c & 0xC0) != 0x80;
}

bool lex_error_at(struct lexer *l, const char *place, const char *format, ...)
{
    char text[sizeof l->error->message] = "";
    unsigned line, column;

    WITH_ARGUMENTS(format, vsnprintf(text, sizeof text, format, arguments));
    lex_position(l, place, &line, &column);
    return error_set(l->error, WNNStatus_DataError, "%u:%u: %s", line, column, text);
}

const char *lex_describe(const struct lexer *l, char *buf, size_t size)
{
    char text[64];

    if (l->token.kind == TOKEN_END)
        snprintf(buf, size, "the end of the text");
    else
        snprintf(buf, size, "'%s'", escape_text(text, sizeof text, l->token.text, l->token.length));
    return buf;
}

/* ---- tokens ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '/' || c == '$';
}

static bool is_name_part(char c)
{
    return (is_name_start(c) && c != '$') || is_digit(c) || c == '.';
}

static char peek(const struct lexer *l, size_t at)
{
    return at < l->length ? l->text[at] : '\0';
}

static size_t number_length(const struct lexer *l)
{
    size_t at = l->at;

    if (peek(l, at) == '0' && (peek(l, at + 1) == 'x' || peek(l, at + 1) == 'X')) {
        at += 2;
        while (is_digit(peek(l, at)) || (peek(l, at) >= 'a' && peek(l, at) <= 'f') ||
               (peek(l, at) >= 'A' && peek(l, at) <= 'F'))
            at++;
        return at - l->at;
    }
    while (is_digit(peek(l, at)))
        at++;
    if (peek(l, at) == '.') {
        at++;
        while (is_digit(peek(l, at)))
            at++;
    }
    if (peek(l, at) == 'e' || peek(l, at) == 'E') {
        size_t exponent = at + 1;
        if (peek(l, exponent) == '+' || peek(l, exponent) == '-')
            exponent++;
        if (is_digit(peek(l, exponent))) {
            while (is_digit(peek(l, exponent)))
                exponent++;
            at = exponent;
        }
    }
    if (peek(l, at) == 'u')
        at++;
    return at - l->at;
}

bool lex_next(struct lexer *l)
{
    for (; l->at < l->length; l->at++) {
        char c = l->text[l->at];
        if (c == '#' || (c == '/' && peek(l, l->at + 1) == '/')) {
            const char *end = memchr(l->text + l->at, '\n', l->length - l->at);
            l->at = end ? (size_t)(end - l->text) : l->length - 1;
        } else if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
            break;
        }
    }

    struct token *t = &l->token;
    t->text = l->text + l->at;
    t->length = 0;
    t->sign = '\0';
    if (l->at >= l->length) {
        t->kind = TOKEN_END;
        return true;
    }

    char c = *t->text;
    if (is_name_start(c)) {
        t->kind = TOKEN_NAME;
        for (t->length = 1; is_name_part(peek(l, l->at + t->length)); t->length++)
            ;
        l->at += t->length;
    } else if (is_digit(c) || (c == '.' && is_digit(peek(l, l->at + 1)))) {
        t->kind = TOKEN_NUMBER;
        t->length = number_length(l);
        l->at += t->length;
        if (is_name_part(peek(l, l->at)))
            return lex_error(l, "a number runs into a name");
    } else if (c == '"') {
        t->kind = TOKEN_STRING;
        t->text++;
        for (l->at++;; l->at++) {
            c = peek(l, l->at);
            if (l->at >= l->length || c == '\n')
                return lex_error_at(l, t->text - 1, "a string without its closing quote");
            if (c == '"')
                break;
            if (c == '\\' && l->at + 1 < l->length && l->text[l->at + 1] != '\n')
                l->at++;
        }
        t->length = (size_t)(l->text + l->at - t->text);
        l->at++;
    } else if (c != '\0' && strchr("{}[]():;,=@+-", c)) {
        t->kind = TOKEN_SIGN;
        t->sign = c;
        t->length = 1;
        l->at++;
    } else {
        char buf[16];
        uint32_t code;
        size_t n = utf8_decode(t->text, l->length - l->at, &code);
        return lex_error(l, "unexpected character '%s'", escape_text(buf, sizeof buf, t->text, n ? n : 1));
    }
    return true;
}

bool lex_is_word(const struct lexer *l, const char *word)
{
    return l->token.kind == TOKEN_NAME && l->token.length == strlen(word) && memcmp(l->token.text, word, l->token.length) == 0;
}

bool is_plain_name(const char *text, size_t length)
{
    static const char *const reserved[] = {"null", "true", "false", "NaN", "Infinity"};

    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (strlen(reserved[i]) == length && memcmp(text, reserved[i], length) == 0)
            return false;
    if (length > 1 && text[0] == '/' && text[1] == '/') /* a comment */
        return false;
    for (const char *c = text; c < text + length; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_' || *c == '/';
        bool inside = (*c >= '0' && *c <= '9') || *c == '.';
        if (!letter && !(c == text ? *c == '$' : inside))
            return false;
    }
    return length != 0;
}

/* ---- strings ---- */

static int hex_digit(char c)
{
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Returns the value of four hexadecimal digits at s, or -1. */
static int32_t hex_quad(const char *s, size_t length)
{
    int32_t code = 0;

    for (size_t i = 0; i < 4; i++) {
        if (i == length || hex_digit(s[i]) < 0)
            return -1;
        code = code * 16 + hex_digit(s[i]);
    }
    return code;
}

/* Resolves the escape after the backslash at s; returns the bytes consumed, 0 if it is none. */
static size_t unescape(const char *s, size_t length, char out[4], size_t *written)
{
    static const char from[] = "\"\\/nrtbf", to[] = "\"\\/\n\r\t\b\f";
    const char *simple = length && *s ? strchr(from, *s) : NULL;

    *written = 1;
    if (simple) {
        out[0] = to[simple - from];
        return 1;
    }
    if (length >= 3 && s[0] == 'x' && hex_digit(s[1]) >= 0 && hex_digit(s[2]) >= 0) {
        out[0] = (char)(hex_digit(s[1]) * 16 + hex_digit(s[2]));
        return 3;
    }
    if (length >= 4 && s[0] == 'u' && s[1] == '{') {
        uint32_t code = 0;
        size_t i;
        for (i = 2; i < length && i < 9 && hex_digit(s[i]) >= 0; i++)
            code = code * 16 + (uint32_t)hex_digit(s[i]);
        if (i == 2 || i >= length || s[i] != '}')
            return 0;
        *written = utf8_encode(out, code);
        return *written ? i + 1 : 0;
    }
    if (length && s[0] == 'u') { /* as JSON has them: UTF-16 */
        int32_t high = hex_quad(s + 1, length - 1), low;
        if (high < 0)
            return 0;
        if (high < 0xD800 || high > 0xDFFF) {
            *written = utf8_encode(out, (uint32_t)high);
            return 5;
        }
        low = length >= 11 && s[5] == '\\' && s[6] == 'u' ? hex_quad(s + 7, length - 7) : -1;
        if (high > 0xDBFF || low < 0xDC00 || low > 0xDFFF)
            return 0;
        *written = utf8_encode(out, 0x10000 + ((uint32_t)(high - 0xD800) << 10) + (uint32_t)(low - 0xDC00));
        return 11;
    }
    return 0;
}

char *lex_unescape(struct lexer *l, struct arena *a, size_t *length)
{
    const struct token *t = &l->token;
    char *text = arena_alloc(a, t->length + 1); /* escapes only get shorter */
    size_t used = 0;

    if (!text)
        return error_null_memory(l->error);
    for (size_t at = 0; at < t->length;) {
        if (t->text[at] != '\\') {
            text[used++] = t->text[at++];
            continue;
        }

        char piece[4];
        size_t written, consumed = unescape(t->text + at + 1, t->length - at - 1, piece, &written);
        if (consumed == 0) {
            lex_error_at(l, t->text + at,
                         "unknown escape in a string (\\\" \\\\ \\/ \\b \\f \\n \\r \\t \\xHH \\uHHHH \\u{...} are known)");
            return NULL;
        }
        memcpy(text + used, piece, written);
        used += written;
        at += 1 + consumed;
    }
    *length = used;
    return text;
}

/* ---- numbers ---- */

static bool integer_digits(const char *text, size_t length, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < length; i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (!is_digit(text[i]) || *value > (UINT64_MAX - digit) / 10)
            return false;
        *value = *value * 10 + digit;
    }
    return true;
}

static bool nan_bits(struct lexer *l, double *d)
{
    uint64_t bits = 0;

    *d = NAN;
    if (!lex_is(l, '('))
        return true;
    if (!lex_next(l))
        return false;
    const struct token *t = &l->token;
    if (t->kind != TOKEN_NUMBER || t->length < 3 || t->length > 18 || t->text[1] != 'x')
        return lex_error(l, "NaN's bits must be 16 hexadecimal digits");
    for (size_t i = 2; i < t->length; i++)
        bits = bits * 16 + (uint64_t)hex_digit(t->text[i]);
    memcpy(d, &bits, sizeof bits);
    if (!isnan(*d))
        return lex_error(l, "these are not the bits of a NaN");
    if (!lex_next(l))
        return false;
    if (!lex_is(l, ')'))
        return lex_error(l, "')' expected");
    return lex_next(l);
}

bool lex_number(struct lexer *l, WNNNumber *n)
{
    const char *start = l->token.text;
    bool negative = lex_is(l, '-');
    char buf[80];
    double d;

    if ((negative || lex_is(l, '+')) && !lex_next(l))
        return false;
    if (lex_is_word(l, "NaN")) {
        if (!lex_next(l) || !nan_bits(l, &d))
            return false;
        *n = wnnNumber(d);
        return true;
    }
    if (lex_is_word(l, "Infinity")) {
        *n = wnnNumber(negative ? -INFINITY : INFINITY);
        return lex_next(l);
    }
    if (l->token.kind != TOKEN_NUMBER)
        return lex_error(l, "a number expected, found %s", lex_describe(l, buf, sizeof buf));

    const struct token t = l->token;
    uint64_t integer;
    bool suffix = t.text[t.length - 1] == 'u';
    if (t.length > NUMBER_LENGTH_MAX)
        return lex_error(l, "a number of more than %d characters", NUMBER_LENGTH_MAX);
    if (t.length > 1 && (t.text[1] == 'x' || t.text[1] == 'X'))
        return lex_error(l, "numbers are decimal");
    if (integer_digits(t.text, t.length - suffix, &integer)) {
        if (suffix && negative)
            return lex_error_at(l, start, "an unsigned number with a minus sign");
        if (suffix)
            *n = wnnNumberUint64(integer);
        else if (negative && integer == 0)
            *n = wnnNumber(-0.0);
        else if (negative && integer <= (uint64_t)INT64_MAX + 1)
            *n = wnnNumberInt64((int64_t)(0 - integer));
        else if (!negative && integer <= INT64_MAX)
            *n = wnnNumberInt64((int64_t)integer);
        else if (!negative)
            *n = wnnNumberUint64(integer);
        else
            *n = wnnNumber(-digits_to_double(t.text, t.length));
        return lex_next(l);
    }
    if (suffix)
        return lex_error(l, "'u' follows whole numbers up to 18446744073709551615 only");
    d = digits_to_double(t.text, t.length);
    *n = wnnNumber(negative ? -d : d);
    return lex_next(l);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Matches terms with the patterns of rules, and makes what they become. */
#include <math.h>

#include "ir/rules/rules.h"
#include "ir/support/number.h"

struct matching {
    const struct rule_language *language;
    void *user;
    enum rule_types type;
    rule_term bound[2]; /* x, y */
    rule_term constant; /* K, and its number */
    double number;
};

bool rule_word_is(enum rule_word word, enum rule_word op)
{
    if (word == R_COPY)
        return op == R_IDENTITY || op == R_CAST || op == R_RESHAPE || op == R_EXPAND || op == R_TILE || op == R_PAD ||
               op == R_SLICE || op == R_CONCAT;
    if (word == R_ROUNDING || word == R_INTEGRAL)
        return op == R_CEIL || op == R_FLOOR || op == R_ROUND_EVEN || (op == R_SIGN && word == R_INTEGRAL);
    return word == op;
}

static bool is_number(enum rule_word word, double c, enum rule_types type)
{
    int exponent, most = type == RULE_FLOAT16 ? 14 : 126;

    switch (word) {
    case R_ZERO:
        return c == 0 && !signbit(c);
    case R_MINUS_ZERO:
        return is_negative_zero(c);
    case R_ONE:
        return c == 1;
    case R_MINUS_ONE:
        return c == -1;
    case R_TWO:
        return c == 2;
    case R_NONZERO:
        return c != 0;
    case R_FINITE:
        return isfinite(c);
    case R_POWER_OF_TWO:
        return isfinite(c) && fabs(frexp(c, &exponent)) == 0.5 && exponent - 1 >= -most && exponent - 1 <= most;
    default:
        return false;
    }
}

static const uint8_t *match_node(struct matching *m, const uint8_t *pattern, const struct rule_node *n);

/* Returns the words after those that describe the term, or NULL if they do not describe it. */
static const uint8_t *match(struct matching *m, const uint8_t *pattern, rule_term t)
{
    const enum rule_word word = (enum rule_word) * pattern;
    struct rule_node n;

    if (!t || word == R_END)
        return NULL;
    if (word == R_ANY)
        return pattern + 1;
    if (word == R_LET_X) {
        m->bound[0] = t;
        return match(m, pattern + 1, t);
    }
    if (word == R_X || word == R_Y) {
        rule_term *bound = &m->bound[word - R_X];
        if (*bound && *bound != t)
            return NULL;
        *bound = t;
        return pattern + 1;
    }
    if (word >= R_ZERO && word <= R_POWER_OF_TWO) {
        m->constant = t;
        return m->language->number(m->user, t, &m->number) && is_number(word, m->number, m->type) ? pattern + 1 : NULL;
    }
    return m->language->describe(m->user, t, &n) ? match_node(m, pattern, &n) : NULL;
}

static const uint8_t *match_node(struct matching *m, const uint8_t *pattern, const struct rule_node *n)
{
    const struct matching before = *m;

    if (!rule_word_is((enum rule_word) * pattern, n->op))
        return NULL;
    for (uint32_t swapped = 0; swapped <= n->commutes; swapped++) {
        const uint8_t *rest = pattern + 1;
        *m = before;
        for (uint32_t i = 0; rest && i < n->count; i++)
            rest = match(m, rest, n->operands[swapped && i < 2 ? 1 - i : i]);
        if (rest)
            return rest;
    }
    return NULL;
}

static rule_term resolve(const struct matching *m, enum rule_word word)
{
    return word == R_K           ? m->constant
           : word == R_INVERSE_K ? m->language->constant(m->user, 1 / m->number)
                                 : m->bound[word - R_X];
}

/* Returns whether what the rule makes has the type of what it replaces. */
static bool keeps_type(const struct matching *m, const struct rule *rule)
{
    bool has[2] = {false};

    for (uint32_t i = 0; i < RULE_BECOMES_MAX; i++)
        if (rule->becomes[i] == R_X || rule->becomes[i] == R_Y)
            has[rule->becomes[i] - R_X] = true;
    return rule->becomes[0] == rule->pattern[0] || (has[0] && has[1]) ||
           m->language->has_result_type(m->user, m->bound[has[1]]);
}

static rule_term become(const struct matching *m, const uint8_t *becomes)
{
    rule_term operands[RULE_BECOMES_MAX];
    uint32_t count = 0;

    if (!becomes[1])
        return resolve(m, (enum rule_word)becomes[0]);
    for (; count + 1 < RULE_BECOMES_MAX && becomes[count + 1]; count++) {
        operands[count] = resolve(m, (enum rule_word)becomes[count + 1]);
        if (!operands[count])
            return 0;
    }
    return m->language->make(m->user, (enum rule_word)becomes[0], count, operands);
}

rule_term rules_apply(const struct rule *rows, size_t count, const struct rule_language *language, void *user,
                      const struct rule_node *node, enum rule_types type)
{
    for (size_t i = 0; i < count; i++) {
        if (!(rows[i].scope & language->scope) || !(rows[i].types & type) ||
            !rule_word_is((enum rule_word)rows[i].pattern[0], node->op))
            continue;

        struct matching m = {.language = language, .user = user, .type = type};
        const uint8_t *rest = match_node(&m, rows[i].pattern, node);
        if (rest && *rest == R_END && keeps_type(&m, &rows[i]))
            return become(&m, rows[i].becomes);
    }
    return 0;
}

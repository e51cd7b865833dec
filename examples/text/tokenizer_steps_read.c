/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads what a tokenizer.json calls normalizer and pre_tokenizer as a list of steps. */
#include <string.h>

#include <utf8proc.h>

#include "examples/text/tokenizer_internal.h"

/* How GPT-2 cuts text, which a ByteLevel without a pattern of its own means. */
#define GPT2_PATTERN "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define PUNCTUATION_PATTERN "[\\p{P}$+<=>^`|~]"

static struct step *add_step(struct tokenizer *t, enum step_kind kind, char *message, size_t size)
{
    if (t->step_count == STEPS_MAX) {
        tokenizer_error(message, size, "it has more than %d steps before its model", STEPS_MAX);
        return NULL;
    }
    t->steps[t->step_count] = (struct step){.kind = kind};
    return &t->steps[t->step_count++];
}

static bool compile(struct step *s, const char *pattern, bool literal, char *message, size_t size)
{
    uint32_t options = literal ? PCRE2_LITERAL | PCRE2_UTF : PCRE2_UTF | PCRE2_UCP;
    PCRE2_SIZE at;
    int error;

    s->pattern = pcre2_compile((PCRE2_SPTR)pattern, strlen(pattern), options, &error, &at, NULL);
    if (!s->pattern) {
        PCRE2_UCHAR why[128];

        pcre2_get_error_message(error, why, sizeof why);
        return tokenizer_error(message, size, "a pattern of it is refused at character %zu: %s", (size_t)at, (char *)why);
    }
    pcre2_jit_compile(s->pattern, PCRE2_JIT_COMPLETE); /* where it cannot, matching is slower */
    return true;
}

/* Reads {"Regex": ...} or {"String": ...}. */
static bool compile_json(struct step *s, const cJSON *j, char *message, size_t size)
{
    const cJSON *pattern = cJSON_GetObjectItemCaseSensitive(j, "pattern");
    const char *regex = member_text(pattern, "Regex"), *string = member_text(pattern, "String");

    if (!*regex && !*string)
        return tokenizer_error(message, size, "a step of it has no pattern");
    return compile(s, *regex ? regex : string, !*regex, message, size);
}

static bool add_split(struct tokenizer *t, const char *pattern, enum split_rule rule, bool invert, char *message, size_t size)
{
    struct step *s = add_step(t, STEP_SPLIT, message, size);

    if (!s)
        return false;
    s->rule = rule;
    s->invert = invert;
    return compile(s, pattern, false, message, size);
}

static bool find_rule(const char *name, enum split_rule *rule, char *message, size_t size)
{
    static const char *const names[] = {"Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name)) {
            *rule = (enum split_rule)i;
            return true;
        }
    return tokenizer_refuse(message, size, "rule of splitting", name);
}

/* Reads each member of a list by the same function. */
typedef bool read_function(struct tokenizer *t, const cJSON *j, char *message, size_t size);

static bool read_list(struct tokenizer *t, const cJSON *list, read_function *read, char *message, size_t size)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, list) if (!read(t, item, message, size)) return false;
    return true;
}

/* ---- normalizers ---- */

static bool read_form(struct tokenizer *t, const char *type, char *message, size_t size)
{
    struct step *s = add_step(t, STEP_UNICODE, message, size);

    if (!s)
        return false;
    s->form = UTF8PROC_STABLE | (type[2] == 'K' ? UTF8PROC_COMPAT : 0) |
              (type[strlen(type) - 1] == 'C' ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE);
    return true;
}

bool steps_read_normalizer(struct tokenizer *t, const cJSON *j, char *message, size_t size)
{
    const char *type = member_text(j, "type");
    struct step *s;

    if (!j || cJSON_IsNull(j))
        return true;
    if (!strcmp(type, "Sequence"))
        return read_list(t, cJSON_GetObjectItemCaseSensitive(j, "normalizers"), steps_read_normalizer, message, size);
    if (!strcmp(type, "NFC") || !strcmp(type, "NFD") || !strcmp(type, "NFKC") || !strcmp(type, "NFKD"))
        return read_form(t, type, message, size);
    if (!strcmp(type, "Lowercase"))
        return add_step(t, STEP_LOWERCASE, message, size) != NULL;
    if (!strcmp(type, "Prepend")) {
        s = add_step(t, STEP_PREPEND, message, size);
        if (s)
            s->text = member_text(j, "prepend");
        return s != NULL;
    }
    if (!strcmp(type, "Replace")) {
        s = add_step(t, STEP_REPLACE, message, size);
        if (s)
            s->text = member_text(j, "content");
        return s && compile_json(s, j, message, size);
    }
    if (!strcmp(type, "Strip")) {
        s = add_step(t, STEP_STRIP, message, size);
        if (s) {
            s->left = member_is(j, "strip_left", true);
            s->right = member_is(j, "strip_right", true);
        }
        return s != NULL;
    }
    return tokenizer_refuse(message, size, "normalizer", type);
}

/* ---- what cuts text into pieces ---- */

static bool read_byte_level(struct tokenizer *t, const cJSON *j, char *message, size_t size)
{
    if (member_is(j, "add_prefix_space", true)) {
        struct step *s = add_step(t, STEP_EACH, message, size);

        if (!s)
            return false;
        s->text = " ";
    }
    return (!member_is(j, "use_regex", true) || add_split(t, GPT2_PATTERN, SPLIT_ISOLATED, false, message, size)) &&
           add_step(t, STEP_BYTES, message, size) != NULL;
}

static bool read_metaspace(struct tokenizer *t, const cJSON *j, char *message, size_t size)
{
    const char *sign = *member_text(j, "replacement") ? member_text(j, "replacement") : SPACE_SIGN;
    const char *scheme = member_text(j, "prepend_scheme");
    struct step *s = add_step(t, STEP_REPLACE, message, size);

    if (!s)
        return false;
    s->text = sign;
    if (!compile(s, " ", true, message, size))
        return false;
    if (!*scheme)
        scheme = member_is(j, "add_prefix_space", true) ? "always" : "never";
    if (strcmp(scheme, "never") != 0) {
        s = add_step(t, !strcmp(scheme, "first") ? STEP_FIRST : STEP_EACH, message, size);
        if (!s)
            return false;
        s->text = sign;
    }
    if (!member_is(j, "split", true))
        return true;
    s = add_step(t, STEP_SPLIT, message, size);
    if (s)
        s->rule = SPLIT_WITH_NEXT;
    return s && compile(s, sign, true, message, size);
}

bool steps_read_splitter(struct tokenizer *t, const cJSON *j, char *message, size_t size)
{
    const char *type = member_text(j, "type");
    enum split_rule rule = SPLIT_ISOLATED;

    if (!j || cJSON_IsNull(j))
        return true;
    if (!strcmp(type, "Sequence"))
        return read_list(t, cJSON_GetObjectItemCaseSensitive(j, "pretokenizers"), steps_read_splitter, message, size);
    if (!strcmp(type, "ByteLevel"))
        return read_byte_level(t, j, message, size);
    if (!strcmp(type, "Metaspace"))
        return read_metaspace(t, j, message, size);
    if (!strcmp(type, "Split")) {
        struct step *s;

        if (!find_rule(member_text(j, "behavior"), &rule, message, size) || !(s = add_step(t, STEP_SPLIT, message, size)))
            return false;
        s->rule = rule;
        s->invert = member_is(j, "invert", false);
        return compile_json(s, j, message, size);
    }
    if (!strcmp(type, "Digits"))
        return add_split(t, member_is(j, "individual_digits", false) ? "\\p{N}" : "\\p{N}+", SPLIT_ISOLATED, false, message,
                         size);
    if (!strcmp(type, "Punctuation"))
        return (!*member_text(j, "behavior") || find_rule(member_text(j, "behavior"), &rule, message, size)) &&
               add_split(t, PUNCTUATION_PATTERN, rule, false, message, size);
    if (!strcmp(type, "Whitespace"))
        return add_split(t, "\\w+|[^\\w\\s]+", SPLIT_REMOVED, true, message, size);
    if (!strcmp(type, "WhitespaceSplit"))
        return add_split(t, "\\s+", SPLIT_REMOVED, false, message, size);
    return tokenizer_refuse(message, size, "pre_tokenizer", type);
}

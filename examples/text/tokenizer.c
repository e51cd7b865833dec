/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads a tokenizer.json, finds the tokens that are given by name in a text, and turns tokens back into text. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "examples/text/tokenizer_internal.h"
#include "frontend/readers/files/file.h"
#include "webnn/webnn_model.h"

bool tokenizer_error(char *message, size_t size, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(message, size, format, args);
    va_end(args);
    return false;
}

bool tokenizer_refuse(char *message, size_t size, const char *what, const char *type)
{
    char escaped[64];

    return tokenizer_error(message, size, "its %s '%s' is none that this program has", what,
                           wnnModelEscape(WNN_STR(type), escaped, sizeof escaped));
}

const char *member_text(const cJSON *j, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(j, name);

    return cJSON_IsString(item) ? item->valuestring : "";
}

bool member_is(const cJSON *j, const char *name, bool missing)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(j, name);

    return cJSON_IsBool(item) ? cJSON_IsTrue(item) : missing;
}

/* ---- reading ---- */

static bool is_id(const cJSON *j)
{
    return cJSON_IsNumber(j) && j->valuedouble >= 0 && j->valuedouble < IDS_MAX && j->valuedouble == (double)j->valueint;
}

static bool read_vocabulary(struct tokenizer *t, const cJSON *model, char *message, size_t size)
{
    const cJSON *vocabulary = cJSON_GetObjectItemCaseSensitive(model, "vocab"), *item;
    const int count = cJSON_GetArraySize(vocabulary);

    if (!cJSON_IsObject(vocabulary) || !count)
        return tokenizer_error(message, size, "its model has no vocabulary");
    t->tokens = calloc((size_t)count, sizeof *t->tokens);
    if (!t->tokens)
        return tokenizer_error(message, size, "out of memory");
    cJSON_ArrayForEach(item, vocabulary)
    {
        if (!is_id(item))
            return tokenizer_error(message, size, "a token of its vocabulary has no number");
        t->tokens[t->token_count++] = (struct token){item->string, strlen(item->string), item->valueint};
    }
    qsort(t->tokens, t->token_count, sizeof *t->tokens, token_order);
    return true;
}

/* Finds the two tokens of "a b", or of ["a", "b"]. */
static bool find_pair(const struct tokenizer *t, const cJSON *j, const struct token *pair[2])
{
    const cJSON *left = cJSON_GetArrayItem(j, 0), *right = cJSON_GetArrayItem(j, 1);
    const char *space = cJSON_IsString(j) && *j->valuestring ? strchr(j->valuestring + 1, ' ') : NULL;

    if (space) {
        pair[0] = tokenizer_token(t, j->valuestring, (size_t)(space - j->valuestring));
        pair[1] = tokenizer_token(t, space + 1, strlen(space + 1));
    } else if (cJSON_IsString(left) && cJSON_IsString(right)) {
        pair[0] = tokenizer_token(t, left->valuestring, strlen(left->valuestring));
        pair[1] = tokenizer_token(t, right->valuestring, strlen(right->valuestring));
    }
    return pair[0] && pair[1];
}

static bool read_merges(struct tokenizer *t, const cJSON *model, char *message, size_t size)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(model, "merges"), *item;
    const int count = cJSON_GetArraySize(list);
    struct text joined = {0};

    t->merges = calloc((size_t)count + 1, sizeof *t->merges);
    if (!t->merges)
        return tokenizer_error(message, size, "out of memory");
    cJSON_ArrayForEach(item, list)
    {
        const struct token *pair[2] = {NULL, NULL}, *result = NULL;

        joined.length = 0;
        if (find_pair(t, item, pair)) {
            text_add(&joined, pair[0]->text, pair[0]->length);
            text_add(&joined, pair[1]->text, pair[1]->length);
            result = joined.failed ? NULL : tokenizer_token(t, joined.data, joined.length);
        }
        if (!result) {
            text_free(&joined);
            return tokenizer_error(message, size, "merge %zu of it is not of two tokens that make a third", t->merge_count);
        }
        t->merges[t->merge_count] = (struct merge){pair[0]->id, pair[1]->id, result->id, (uint32_t)t->merge_count};
        t->merge_count++;
    }
    text_free(&joined);
    qsort(t->merges, t->merge_count, sizeof *t->merges, merge_order);
    return true;
}

static bool read_model(struct tokenizer *t, const cJSON *model, char *message, size_t size)
{
    const char *type = member_text(model, "type"), *unknown = member_text(model, "unk_token");
    const struct token *found;

    /* Files of older versions do not say the type; what has merges is byte pair encoding. */
    if (strcmp(type, "BPE") != 0 && (*type || !cJSON_HasObjectItem(model, "merges")))
        return tokenizer_refuse(message, size, "model", type);
    if (*member_text(model, "continuing_subword_prefix") || *member_text(model, "end_of_word_suffix"))
        return tokenizer_error(message, size,
                               "its tokens have marks for the middle or the end of words, which this program has not");
    if (!read_vocabulary(t, model, message, size) || !read_merges(t, model, message, size))
        return false;
    found = *unknown ? tokenizer_token(t, unknown, strlen(unknown)) : NULL;
    t->unknown = found ? found->id : -1;
    t->byte_fallback = member_is(model, "byte_fallback", false);
    t->fuse_unknown = member_is(model, "fuse_unk", false);
    t->ignore_merges = member_is(model, "ignore_merges", false);
    for (int byte = 0; byte < 256; byte++) {
        char name[8];

        snprintf(name, sizeof name, "<0x%02X>", (unsigned)byte);
        found = tokenizer_token(t, name, 6);
        t->bytes[byte] = found ? found->id : -1;
    }
    return true;
}

static int order_longest(const void *a, const void *b)
{
    const struct added_token *x = a, *y = b;

    return (x->token.length < y->token.length) - (x->token.length > y->token.length);
}

static bool read_added(struct tokenizer *t, const cJSON *list, char *message, size_t size)
{
    const cJSON *item;

    t->added = calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *t->added);
    if (!t->added)
        return tokenizer_error(message, size, "out of memory");
    cJSON_ArrayForEach(item, list)
    {
        const char *text = member_text(item, "content");
        const cJSON *id = cJSON_GetObjectItemCaseSensitive(item, "id");

        if (!*text || !is_id(id))
            return tokenizer_error(message, size, "an added token of it has no text or no number");
        t->added[t->added_count++] = (struct added_token){{text, strlen(text), id->valueint},
                                                          member_is(item, "special", false),
                                                          member_is(item, "lstrip", false),
                                                          member_is(item, "rstrip", false),
                                                          member_is(item, "single_word", false)};
    }
    qsort(t->added, t->added_count, sizeof *t->added, order_longest);
    return true;
}

static bool index_ids(struct tokenizer *t, char *message, size_t size)
{
    for (size_t i = 0; i < t->token_count; i++)
        if ((size_t)t->tokens[i].id >= t->id_count)
            t->id_count = (size_t)t->tokens[i].id + 1;
    for (size_t i = 0; i < t->added_count; i++)
        if ((size_t)t->added[i].token.id >= t->id_count)
            t->id_count = (size_t)t->added[i].token.id + 1;
    t->by_id = calloc(t->id_count, sizeof *t->by_id);
    if (!t->by_id)
        return tokenizer_error(message, size, "out of memory");
    for (size_t i = 0; i < t->token_count; i++)
        t->by_id[t->tokens[i].id] = &t->tokens[i];
    for (size_t i = 0; i < t->added_count; i++)
        t->by_id[t->added[i].token.id] = &t->added[i].token;
    return true;
}

/* Reads which tokens stand around every text: a template for a single text. */
static bool read_around(struct tokenizer *t, const cJSON *j, char *message, size_t size)
{
    const cJSON *item, *id, *special = cJSON_GetObjectItemCaseSensitive(j, "special_tokens");
    const char *type = member_text(j, "type");
    bool after = false;

    if (!j || cJSON_IsNull(j) || !strcmp(type, "ByteLevel"))
        return true;
    if (!strcmp(type, "Sequence")) {
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(j, "processors"))
        {
            if (!read_around(t, item, message, size))
                return false;
        }
        return true;
    }
    if (strcmp(type, "TemplateProcessing") != 0)
        return tokenizer_refuse(message, size, "post_processor", type);
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(j, "single"))
    {
        const char *name = member_text(cJSON_GetObjectItemCaseSensitive(item, "SpecialToken"), "id");

        after = after || cJSON_HasObjectItem(item, "Sequence");
        if (!*name)
            continue;
        cJSON_ArrayForEach(id, cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(special, name), "ids"))
        {
            size_t *count = after ? &t->after_count : &t->before_count;

            if (!is_id(id) || *count == AROUND_MAX)
                return tokenizer_error(message, size, "its post_processor puts too many tokens around a text, or none");
            (after ? t->after : t->before)[(*count)++] = id->valueint;
        }
    }
    return true;
}

static bool read_decoder(struct tokenizer *t, const cJSON *j, char *message, size_t size)
{
    const char *type = member_text(j, "type");
    const cJSON *item;

    if (!j || cJSON_IsNull(j) || !strcmp(type, "Fuse"))
        return true;
    if (!strcmp(type, "Sequence")) {
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(j, "decoders"))
        {
            if (!read_decoder(t, item, message, size))
                return false;
        }
    } else if (!strcmp(type, "ByteLevel")) {
        t->decodes_bytes = true;
    } else if (!strcmp(type, "ByteFallback")) {
        t->decodes_fallback = true;
    } else if (!strcmp(type, "Metaspace")) {
        t->decodes_spaces = true;
        t->strips_first = *member_text(j, "prepend_scheme") ? strcmp(member_text(j, "prepend_scheme"), "never") != 0
                                                            : member_is(j, "add_prefix_space", true);
    } else if (!strcmp(type, "Strip") && !strcmp(member_text(j, "content"), " ")) {
        t->strips_first = true;
    } else if (!strcmp(type, "Replace") &&
               !strcmp(member_text(cJSON_GetObjectItemCaseSensitive(j, "pattern"), "String"), SPACE_SIGN)) {
        t->decodes_spaces = true;
    } else {
        return tokenizer_refuse(message, size, "decoder", type);
    }
    return true;
}

bool tokenizer_read(const char *path, struct tokenizer **tokenizer, char *message, size_t size)
{
    char *text = NULL, why[400] = "";
    struct error e = {.message = "out of memory"};
    struct tokenizer *t = calloc(1, sizeof *t);
    size_t length;
    bool ok = false;

    *tokenizer = NULL;
    if (t && file_read(path, &text, &length, &e)) {
        t->root = cJSON_ParseWithLength(text, length);
        ok = cJSON_IsObject(t->root) || tokenizer_error(why, sizeof why, "it is no JSON");
        ok = ok && read_model(t, cJSON_GetObjectItemCaseSensitive(t->root, "model"), why, sizeof why) &&
             read_added(t, cJSON_GetObjectItemCaseSensitive(t->root, "added_tokens"), why, sizeof why) &&
             index_ids(t, why, sizeof why) &&
             steps_read_normalizer(t, cJSON_GetObjectItemCaseSensitive(t->root, "normalizer"), why, sizeof why) &&
             steps_read_splitter(t, cJSON_GetObjectItemCaseSensitive(t->root, "pre_tokenizer"), why, sizeof why) &&
             read_around(t, cJSON_GetObjectItemCaseSensitive(t->root, "post_processor"), why, sizeof why) &&
             read_decoder(t, cJSON_GetObjectItemCaseSensitive(t->root, "decoder"), why, sizeof why);
        if (!ok)
            tokenizer_error(message, size, "the tokenizer %s cannot be used: %s", path, why);
    } else {
        tokenizer_error(message, size, "%s", why);
    }
    free(text);
    if (!ok) {
        tokenizer_free(t);
        return false;
    }
    *tokenizer = t;
    return true;
}

void tokenizer_free(struct tokenizer *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->step_count; i++)
        pcre2_code_free(t->steps[i].pattern);
    cJSON_Delete(t->root);
    free(t->tokens);
    free(t->by_id);
    free(t->merges);
    free(t->added);
    free(t);
}

/* ---- text to tokens ---- */

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || (unsigned char)c >= 0x80;
}

/* Returns the added token at a place of the text, or NULL. */
static const struct added_token *added_at(const struct tokenizer *t, const char *text, size_t length, size_t at)
{
    for (size_t i = 0; i < t->added_count; i++) {
        const struct added_token *a = &t->added[i];
        const size_t n = a->token.length, end = at + n;

        if (n > length - at || memcmp(text + at, a->token.text, n) != 0)
            continue;
        if (a->single_word && ((at && is_word(text[at - 1])) || (end < length && is_word(text[end]))))
            continue;
        return a;
    }
    return NULL;
}

static bool encode_section(const struct tokenizer *t, const char *text, size_t length, bool first, struct ids *ids,
                           char *message, size_t size)
{
    struct pieces pieces;

    if (!length)
        return true;
    if (!steps_apply(t, text, length, first, &pieces, message, size))
        return false;
    for (size_t i = 0; i < pieces.count; i++)
        tokenizer_merge(t, pieces.text.data + pieces.items[i].begin, pieces.items[i].end - pieces.items[i].begin, ids);
    pieces_free(&pieces);
    return true;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool encode_all(const struct tokenizer *t, const char *text, size_t length, struct ids *ids, char *message, size_t size)
{
    size_t begin = 0;

    for (size_t at = 0; at < length;) {
        const struct added_token *a = added_at(t, text, length, at);
        size_t end = at;

        if (!a) {
            at++;
            continue;
        }
        while (a->strip_left && end > begin && is_space(text[end - 1]))
            end--;
        if (!encode_section(t, text + begin, end - begin, begin == 0, ids, message, size))
            return false;
        ids_add(ids, a->token.id);
        at += a->token.length;
        while (a->strip_right && at < length && is_space(text[at]))
            at++;
        begin = at;
    }
    return encode_section(t, text + begin, length - begin, begin == 0, ids, message, size);
}

static bool is_utf8(const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        utf8proc_int32_t character;
        utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)text + at, (utf8proc_ssize_t)(length - at), &character);

        if (n <= 0)
            return false;
        at += (size_t)n;
    }
    return true;
}

bool tokenizer_encode(const struct tokenizer *t, const char *text, size_t length, int32_t **ids, size_t *count, char *message,
                      size_t size)
{
    struct ids found = {0};
    bool ok = is_utf8(text, length) || tokenizer_error(message, size, "the text is not UTF-8");

    for (size_t i = 0; i < t->before_count; i++)
        ids_add(&found, t->before[i]);
    ok = ok && encode_all(t, text, length, &found, message, size);
    for (size_t i = 0; i < t->after_count; i++)
        ids_add(&found, t->after[i]);
    if (ok && found.failed)
        ok = tokenizer_error(message, size, "out of memory");
    if (!ok)
        free(found.items);
    *ids = ok ? found.items : NULL;
    *count = ok ? found.count : 0;
    return ok;
}

int32_t tokenizer_find(const struct tokenizer *t, const char *text, size_t length)
{
    const struct token *token = tokenizer_token(t, text, length);

    for (size_t i = 0; i < t->added_count; i++)
        if (t->added[i].token.length == length && !memcmp(t->added[i].token.text, text, length))
            return t->added[i].token.id;
    return token ? token->id : -1;
}

/* ---- tokens to text ---- */

static const struct added_token *find_added(const struct tokenizer *t, int32_t id)
{
    for (size_t i = 0; i < t->added_count; i++)
        if (t->added[i].token.id == id)
            return &t->added[i];
    return NULL;
}

static void decode_bytes(const struct token *token, struct text *out)
{
    for (size_t at = 0; at < token->length;) {
        utf8proc_int32_t c;
        utf8proc_ssize_t n =
            utf8proc_iterate((const utf8proc_uint8_t *)token->text + at, (utf8proc_ssize_t)(token->length - at), &c);
        const int byte = n > 0 ? byte_of_character(c) : -1;
        const char one = (char)byte;
        const size_t taken = n > 0 ? (size_t)n : 1;

        text_add(out, byte >= 0 ? &one : token->text + at, byte >= 0 ? 1 : taken);
        at += taken;
    }
}

void tokenizer_decode(const struct tokenizer *t, int32_t id, bool first, struct text *out)
{
    const struct token *token = id >= 0 && (size_t)id < t->id_count ? t->by_id[id] : NULL;
    const struct added_token *added = find_added(t, id);
    const size_t sign = strlen(SPACE_SIGN);
    unsigned byte;

    if (!token || (added && added->special))
        return;
    if (added) {
        text_add(out, token->text, token->length);
    } else if (t->decodes_fallback && token->length == 6 && sscanf(token->text, "<0x%2X>", &byte) == 1) {
        text_add(out, &(char){(char)byte}, 1);
    } else if (t->decodes_bytes) {
        decode_bytes(token, out);
    } else {
        for (size_t at = 0; at < token->length;) {
            bool space = t->decodes_spaces && token->length - at >= sign && !memcmp(token->text + at, SPACE_SIGN, sign);

            if (!(first && at == 0 && t->strips_first && (space || token->text[0] == ' ')))
                text_add(out, space ? " " : token->text + at, 1);
            at += space ? sign : 1;
        }
    }
}

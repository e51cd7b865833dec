/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The small things everything stands on: arena, errors and escaping, types, constants, names of the operator table. */
#include "support/graphs.h"

#include <pthread.h>

#include "ir/support/name_map.h"
#include "ir/support/text.h"

/* ---- arena ---- */

TEST(arena_gives_zeroed_aligned_separate_memory)
{
    static const size_t sizes[] = {1, 7, 16, 17, 100, 4000, 5000, 3, 70000, 8, 2000000, 1, 0, 0, 33};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    struct arena a = {0};
    unsigned char *pieces[COUNT * 40];

    for (size_t i = 0; i < COUNT * 40; i++) {
        size_t size = sizes[i % COUNT];
        pieces[i] = arena_alloc(&a, size);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < size; k++)
            assert_int_equal(pieces[i][k], 0);
        memset(pieces[i], (int)(i % 251) + 1, size);
    }
    for (size_t i = 0; i < COUNT * 40; i++) /* none was written into another's */
        for (size_t k = 0; k < sizes[i % COUNT]; k++)
            assert_int_equal(pieces[i][k], i % 251 + 1);
    assert_ptr_not_equal(pieces[12], pieces[13]); /* also of size 0 */
    arena_free(&a);
    assert_null(a.blocks);
    assert_non_null(arena_alloc(&a, 1)); /* usable again */
    arena_free(&a);
}

TEST(arena_refuses_absurd_sizes)
{
    SCOPED(arena_free) struct arena a = {0};

    assert_null(arena_alloc(&a, SIZE_MAX));
    assert_null(arena_alloc(&a, SIZE_MAX - 20));
    assert_null(arena_alloc(&a, SIZE_MAX / 2));
    assert_null(arena_array(&a, SIZE_MAX / 4, 8));
    assert_null(arena_array(&a, 8, SIZE_MAX / 4));
    assert_null(arena_string(&a, "", SIZE_MAX));
    assert_string_equal(arena_string(&a, "abc", 2), "ab");
    assert_memory_equal(arena_copy(&a, "xyz", 3), "xyz", 3);
}

/* ---- errors ---- */

TEST(the_first_error_counts)
{
    struct error e = {0};

    assert_false(error_set(&e, WNNStatus_TypeError, "first %d", 1));
    assert_false(error_set(&e, WNNStatus_UnknownError, "second"));
    assert_int_equal(e.status, WNNStatus_TypeError);
    assert_string_equal(e.message, "first 1");
    assert_false(error_out_of_memory(&e));
    assert_int_equal(error_publish(&e), WNNStatus_TypeError);
    WNNStringView view = wnnGetLastErrorMessage();
    assert_int_equal(view.length, 7);
    assert_memory_equal(view.data, "first 1", 8);
    error_publish(&(struct error){0}); /* success leaves the last message */
    assert_int_equal(wnnGetLastErrorMessage().length, 7);
}

static void *other_thread(void *data)
{
    struct error e = {0};

    *(size_t *)data = wnnGetLastErrorMessage().length;
    error_set(&e, WNNStatus_TypeError, "another thread's");
    error_publish(&e);
    return NULL;
}

TEST(last_messages_belong_to_threads)
{
    struct error e = {0};
    size_t there = 1;
    pthread_t thread;

    error_set(&e, WNNStatus_DataError, "mine");
    error_publish(&e);
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &there), 0);
    pthread_join(thread, NULL);
    assert_int_equal(there, 0);
    assert_string_equal(wnnGetLastErrorMessage().data, "mine");
}

TEST(long_messages_are_cut_between_characters)
{
    char text[3000];

    for (size_t shift = 0; shift < 5; shift++) {
        struct error e = {0};
        size_t at = 0;
        for (; at < shift; at++)
            text[at] = 'a';
        while (at + 4 < sizeof text) {
            memcpy(text + at, "\xF0\x9F\x98\x80", 4);
            at += 4;
        }
        text[at] = '\0';
        error_set(&e, WNNStatus_TypeError, "%s", text);
        size_t length = strlen(e.message);
        assert_in_range(length, sizeof e.message - 4, sizeof e.message - 1);
        assert_int_equal((length - shift) % 4, 0);
    }
}

TEST(statuses_have_the_specifications_names)
{
    assert_string_equal(wnnStatusGetName(WNNStatus_Success), "Success");
    assert_string_equal(wnnStatusGetName(WNNStatus_TypeError), "TypeError");
    assert_string_equal(wnnStatusGetName(WNNStatus_InvalidStateError), "InvalidStateError");
    assert_string_equal(wnnStatusGetName(WNNStatus_OperationError), "OperationError");
    assert_string_equal(wnnStatusGetName(WNNStatus_UnknownError), "UnknownError");
    assert_string_equal(wnnStatusGetName(WNNStatus_NotSupportedError), "NotSupportedError");
    assert_string_equal(wnnStatusGetName(WNNStatus_DataError), "DataError");
    assert_string_equal(wnnStatusGetName(WNNStatus_TimedOut), "TimedOut");
    assert_non_null(wnnStatusGetName((WNNStatus)12345));
    assert_int_equal(strspn(wnnGetVersion(), "0123456789."), strlen(wnnGetVersion()));
}

/* ---- escaping ---- */

TEST(what_could_deceive_is_escaped)
{
    static const struct {
        const char *text, *escaped;
    } rows[] = {
        {"", ""},
        {"conv 1/b", "conv 1/b"},
        {"\xC3\xA4\xE6\xBC\xA2\xF0\x9F\x98\x80", "\xC3\xA4\xE6\xBC\xA2\xF0\x9F\x98\x80"},
        {"a\nb\tc\rd\x1B[31m\x7F", "a\\u{a}b\\u{9}c\\u{d}d\\u{1b}[31m\\u{7f}"},
        {"\xC2\x85\xC2\x9B", "\\u{85}\\u{9b}"},                             /* C1: next line, control sequence introducer */
        {"x\xE2\x80\xAEy\xE2\x80\xAAz", "x\\u{202e}y\\u{202a}z"},           /* overrides and embeddings */
        {"\xE2\x81\xA6\xE2\x81\xA9", "\\u{2066}\\u{2069}"},                 /* isolates */
        {"\xE2\x80\x8E\xE2\x80\x8F\xD8\x9C", "\\u{200e}\\u{200f}\\u{61c}"}, /* marks */
        {"\xE2\x80\x8B\xE2\x80\x8D\xEF\xBB\xBF\xC2\xAD", "\\u{200b}\\u{200d}\\u{feff}\\u{ad}"}, /* zero width */
        {"\xE2\x80\xA8\xE2\x80\xA9", "\\u{2028}\\u{2029}"}, /* line and paragraph separator */
        {"\xF3\xA0\x81\x81", "\\u{e0041}"},                 /* a tag */
        {"\xFF\xC3", "\\xff\\xc3"},                         /* no character, half a character */
        {"\xC0\xAF", "\\xc0\\xaf"},                         /* overlong */
        {"\xED\xA0\x80", "\\xed\\xa0\\x80"},                /* surrogate */
        {"\xF4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},       /* above U+10FFFF */
        {"\xE2\x80", "\\xe2\\x80"},
        {"a\\u{a}", "a\\\\u{a}"}, /* so that no text can fake an escape */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char buf[256];
        assert_string_equal(escape_text(buf, sizeof buf, rows[i].text, strlen(rows[i].text)), rows[i].escaped);
    }
    char buf[64];
    assert_string_equal(escape_text(buf, sizeof buf, "a\0b", 3), "a\\u{0}b");
}

TEST(escaping_fits_any_buffer)
{
    static const char text[] = "ab\xE2\x80\xAE\xC3\xA4\xF0\x9F\x98\x80zz\xFFzzzz";
    static const char whole[] = "ab\\u{202e}\xC3\xA4\xF0\x9F\x98\x80zz\\xffzzzz";

    for (size_t size = 1; size < sizeof whole + 3; size++) {
        OWNED(memory) char *buf = malloc(size); /* a write past its end is seen by the sanitizer */
        assert_non_null(buf);
        escape_text(buf, size, text, sizeof text - 1);
        size_t length = strlen(buf);
        assert_in_range(length, 0, size - 1);
        if (size >= sizeof whole) {
            assert_string_equal(buf, whole);
        } else {
            /* a part of the whole that ends between characters, and dots if they fit */
            if (size >= 4) {
                assert_true(length >= 3 && strcmp(buf + length - 3, "...") == 0);
                length -= 3;
            }
            assert_memory_equal(buf, whole, length);
            for (size_t at = 0; at < length;) {
                uint32_t code;
                size_t n = utf8_decode(buf + at, length - at, &code);
                assert_true(n > 0);
                at += n;
            }
            assert_true(length <= 2 || length >= 10); /* the escape is not cut */
        }
    }
}

TEST(utf8_decodes_what_it_encodes)
{
    for (uint32_t code = 0; code <= 0x110000; code++) {
        char text[4];
        uint32_t back = 0;
        size_t n = utf8_encode(text, code);
        bool valid = code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
        if ((n > 0) != valid ||
            (valid && (utf8_decode(text, n, &back) != n || back != code || (n > 1 && utf8_decode(text, n - 1, &back)))))
            fail_msg("code point %x", code);
    }
}

/* ---- types ---- */

TEST(types_know_their_sizes)
{
    struct tensor_type t = {WNNOperandDataType_Float16, 3, {2, 3, 5}}, s = {WNNOperandDataType_Int64, 0, {0}};
    int64_t strides[RANK_MAX];
    char buf[64];

    assert_int_equal(type_elements(&t), 30);
    assert_int_equal(type_bytes(&t), 60);
    type_strides(&t, strides);
    assert_int_equal(strides[0], 15);
    assert_int_equal(strides[1], 5);
    assert_int_equal(strides[2], 1);
    assert_int_equal(type_elements(&s), 1);
    assert_int_equal(type_bytes(&s), 8);
    assert_string_equal(type_print(buf, sizeof buf, &t), "f16[2, 3, 5]");
    assert_string_equal(type_print(buf, sizeof buf, &s), "i64[]");
    assert_string_equal(type_print(buf, 6, &t), "f16[2");
    struct tensor_type u = t;
    u.dims[5] = 77; /* beyond the rank, which is not compared */
    assert_true(type_equal(&t, &u));
    u.dims[2] = 6;
    assert_false(type_equal(&t, &u));
    u = t;
    u.type = WNNOperandDataType_Float32;
    assert_false(type_equal(&t, &u));
}

TEST(type_check_holds_the_limits)
{
    static const struct {
        struct tensor_type type;
        const char *message; /* NULL: fine */
    } rows[] = {
        {{WNNOperandDataType_Float32, 0, {0}}, NULL},
        {{WNNOperandDataType_Uint8, 1, {2147483647}}, NULL},
        {{WNNOperandDataType_Int64, 1, {2147483647}}, NULL},
        {{WNNOperandDataType_Uint8, 12, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}, NULL},
        {{WNNOperandDataType_Undefined, 0, {0}}, "input has no valid data type (value 0)"},
        {{(WNNOperandDataType)DTYPE_END, 0, {0}}, "input has no valid data type (value 17)"},
        {{WNNOperandDataType_Uint8, 13, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
         "input has rank 13, the largest supported is 12"},
        {{WNNOperandDataType_Uint8, 2, {3, 0}}, "input has size 0 in dimension 1, allowed are 1 to 2147483647"},
        {{WNNOperandDataType_Uint8, 1, {2147483648u}}, "input has size 2147483648 in dimension 0, allowed are 1 to 2147483647"},
        {{WNNOperandDataType_Uint8, 2, {65536, 32768}},
         "input has too many elements in u8[65536, 32768], the largest count is 2147483647"},
        {{WNNOperandDataType_Uint8,
          8,
          {2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647}},
         "input has too many elements in u8[2147483647, 2147483647, 2147483647, 2147483647, 2147483647, 2147483647, "
         "2147483647, 2147483647], the largest count is 2147483647"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error e = {0};
        bool ok = type_check(&rows[i].type, "input", &e);
        assert_int_equal(ok, rows[i].message == NULL);
        assert_string_equal(e.message, rows[i].message ? rows[i].message : "");
        assert_int_equal(e.status, rows[i].message ? WNNStatus_TypeError : WNNStatus_Success);
    }
}

/* ---- constants ---- */

static int released;

static void count_release(void const *data, size_t bytes, void *userdata1, void *userdata2)
{
    assert_string_equal(data, "lent");
    assert_int_equal(bytes, 5);
    assert_ptr_equal(userdata1, &released);
    assert_null(userdata2);
    released++;
}

TEST(constants_are_counted)
{
    struct constant *c = constant_create("12345", 5);

    assert_non_null(c);
    assert_int_equal((uintptr_t)c->data % 64, 0);
    assert_memory_equal(c->data, "12345", 5);
    constant_release(constant_retain(c));
    assert_memory_equal(c->data, "12345", 5);
    constant_release(c);
    constant_release(NULL);
    assert_null(constant_create(NULL, SIZE_MAX));
    assert_null(constant_create(NULL, SIZE_MAX / 2 + 2));

    WNNBufferReleaseCallbackInfo info = {count_release, &released, NULL};
    released = 0;
    c = constant_lend("lent", 5, info);
    assert_non_null(c);
    constant_retain(c);
    constant_release(c);
    assert_int_equal(released, 0);
    constant_release(c);
    assert_int_equal(released, 1);

    /* the graph gives its reference back, used or not */
    struct graph *g = graph_create();
    struct tensor_type type = {WNNOperandDataType_Uint8, 1, {5}};
    assert_non_null(graph_add_constant(g, &type, constant_lend("lent", 5, info)));
    graph_free(g);
    assert_int_equal(released, 2);
    /* no constant is an allocation that failed */
    g = graph_create();
    assert_null(graph_add_constant(g, &type, NULL));
    assert_int_equal(g->error.status, WNNStatus_UnknownError);
    graph_free(g);
}

TEST(scalars_fill_their_shape)
{
    OWNED(graph) struct graph *g = graph_create();

    for (unsigned t = 1; t < DTYPE_COUNT; t++) {
        for (uint32_t n = 1; n < 40; n += 6) {
            struct tensor_type type = {(dtype)t, 1, {n}};
            struct value *v = graph_add_scalar(g, &type, wnnNumber(3));
            assert_non_null(v);
            union scalar want = number_cast(wnnNumber(3), (dtype)t);
            for (uint32_t i = 0; i < n; i++)
                assert_memory_equal((const char *)v->constant->data + i * dtype_size((dtype)t), &want, dtype_size((dtype)t));
        }
    }
}

/* ---- names ---- */

TEST(names_parse_back)
{
    for (unsigned t = 1; dtype_is_port((dtype)t); t++) {
        assert_int_equal(dtype_parse(dtype_name((dtype)t), strlen(dtype_name((dtype)t))), t);
        assert_int_equal(dtype_parse(dtype_short_name((dtype)t), strlen(dtype_short_name((dtype)t))), t);
        assert_int_equal(wnnOperandDataTypeGetByteSize((dtype)t), dtype_size((dtype)t));
    }
    /* In graphs that passes have been through, but no program's. */
    assert_int_equal(dtype_parse("f64", 3), DTYPE_FLOAT64);
    assert_int_equal(dtype_parse("u4", 2), DTYPE_UINT4);
    for (unsigned t = DTYPE_FLOAT64; t < DTYPE_END; t++) {
        assert_string_equal(wnnOperandDataTypeGetName((dtype)t), "undefined");
        assert_int_equal(wnnOperandDataTypeGetByteSize((dtype)t), 0);
    }
    assert_int_equal(dtype_parse("undefined", 9), WNNOperandDataType_Undefined);
    assert_int_equal(dtype_parse("f3", 2), WNNOperandDataType_Undefined);
    assert_string_equal(wnnOperandDataTypeGetName((WNNOperandDataType)77), "undefined");
    assert_int_equal(wnnOperandDataTypeGetByteSize((WNNOperandDataType)77), 0);

    for (unsigned op = 0; op < OP_COUNT; op++)
        assert_int_equal(op_parse(op_infos[op].name, strlen(op_infos[op].name)), op);
    assert_int_equal(op_parse("", 0), OP_COUNT);
    assert_int_equal(op_parse("reluu", 5), OP_COUNT);
    assert_int_equal(op_parse("reluu", 4), OP_RELU);
    assert_int_equal(op_parse("scatterReduce", 13), OP_COUNT);
    assert_int_equal(op_parse_extended("scatterReduce", 13), OP_SCATTER_REDUCE);
    assert_int_equal(op_parse_extended("reluu", 4), OP_RELU);

    for (unsigned e = ENUM_INPUT_LAYOUT; e <= ENUM_SCATTER_REDUCTION; e++) {
        unsigned count = 0;
        for (; enum_value_name((enum attr_enum)e, count); count++) {
            const char *name = enum_value_name((enum attr_enum)e, count);
            assert_int_equal(enum_value_parse((enum attr_enum)e, name, strlen(name)), count);
        }
        assert_true(count >= 2);
        assert_int_equal(enum_value_parse((enum attr_enum)e, "nothing", 7), -1);
    }
    assert_null(enum_value_name(ENUM_NONE, 0));
    assert_null(enum_value_name((enum attr_enum)99, 0));
    assert_null(enum_value_name(ENUM_INPUT_LAYOUT, 0x7FFFFFFF));
    assert_int_equal(op_input_slots(OP_CONV2D), 3);
    assert_int_equal(op_positional_inputs(OP_CONV2D), 2);
}

TEST(name_map_finds_what_was_added)
{
    enum { COUNT = 3000 };
    static char names[COUNT][16];
    SCOPED(name_map_free) struct name_map m = {0};

    assert_null(name_map_find(&m, "x", 1));
    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "n%d", i);
        assert_int_equal(name_map_add(&m, names[i], strlen(names[i]), names[i]), NAME_MAP_ADDED);
    }
    for (int i = 0; i < COUNT; i++) {
        assert_ptr_equal(name_map_find(&m, names[i], strlen(names[i])), names[i]);
        assert_int_equal(name_map_add(&m, names[i], strlen(names[i]), names[0]), NAME_MAP_EXISTS);
    }
    assert_null(name_map_find(&m, "n3000", 5));
    /* length and NUL bytes count */
    assert_int_equal(name_map_add(&m, "n1\0x", 4, names[0]), NAME_MAP_ADDED);
    assert_ptr_equal(name_map_find(&m, "n1\0x", 4), names[0]);
    name_map_replace(&m, "n1\0x", 4, names[1]);
    assert_ptr_equal(name_map_find(&m, "n1\0x", 4), names[1]);
    name_map_replace(&m, "n3000", 5, names[1]); /* which is not in the map */
    assert_null(name_map_find(&m, "n3000", 5));
    assert_null(name_map_find(&m, "n1\0y", 4));
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Public structs of older and newer versions than the library's: a made-up one, which got a member in its second version. */
#include "ir/support/struct_size.h"
#include "support/test.h"

struct first_version {
    size_t structSize;
    uint32_t a;
    bool b;
};

struct second_version {
    size_t structSize;
    uint32_t a;
    bool b;
    uint64_t c;
};

struct third_version {
    struct second_version known;
    uint64_t d;
};

static const struct second_version defaults = {sizeof(struct second_version), 1, true, 2};
static const struct known_struct known = {sizeof defaults, STRUCT_FIRST_SIZE(struct second_version, b), &defaults,
                                          "MADE_UP_INIT"};

static char text[300];

static const char *read_as(struct second_version *out, const void *given)
{
    memset(out, 0xff, sizeof *out);
    return struct_read(out, given, &known, text, sizeof text);
}

static void expect(const struct second_version *got, size_t size, uint32_t a, bool b, uint64_t c)
{
    assert_int_equal(got->structSize, size);
    assert_int_equal(got->a, a);
    assert_int_equal(got->b, b);
    assert_int_equal(got->c, c);
}

TEST(the_first_size_ends_with_its_last_member)
{
    assert_int_equal(known.first_size, STRUCT_FIRST_SIZE(struct first_version, b));
    assert_int_equal(known.first_size, offsetof(struct first_version, b) + sizeof(bool));
    assert_true(sizeof(struct first_version) <= offsetof(struct second_version, c));
}

TEST(members_that_a_program_lacks_get_their_defaults)
{
    struct first_version given = {sizeof given, 7, false};
    struct second_version out;

    assert_null(read_as(&out, &given));
    expect(&out, sizeof given, 7, false, 2);

    given.structSize = known.first_size; /* as a compiler without padding would have it */
    assert_null(read_as(&out, &given));
    expect(&out, known.first_size, 7, false, 2);
}

TEST(a_struct_of_this_version_is_taken_as_a_whole)
{
    struct second_version given = {sizeof given, 7, false, 0}, out;

    assert_null(read_as(&out, &given));
    expect(&out, sizeof given, 7, false, 0);
}

/** Of a struct without a size only the first version is read: there may not be more. */
TEST(a_size_of_zero_means_the_first_version)
{
    struct second_version given = {0, 0, false, 9}, out;

    assert_null(read_as(&out, &given));
    expect(&out, 0, 0, false, 2);
}

TEST(a_size_below_the_first_is_refused)
{
    struct first_version given = {known.first_size - 1, 7, false};
    struct second_version out;
    char expected[100];

    assert_string_equal(read_as(&out, &given), text);
    snprintf(expected, sizeof expected, "structSize is %zu, less than the %zu bytes of the first version", known.first_size - 1,
             known.first_size);
    assert_non_null(strstr(text, expected));
    assert_non_null(strstr(text, "MADE_UP_INIT"));
    expect(&out, sizeof out, 1, true, 2);
}

TEST(members_that_the_library_does_not_know_have_to_be_zero)
{
    struct third_version given = {{sizeof given, 7, false, 8}, 0};
    struct second_version out;

    assert_null(read_as(&out, &given));
    expect(&out, sizeof given, 7, false, 8);

    given.d = UINT64_C(1) << 63; /* in the last byte, where bytes lie in rising order */
    assert_string_equal(read_as(&out, &given), text);
    assert_non_null(strstr(text, "options that it does not"));
    expect(&out, sizeof given, 7, false, 8);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Arrays in .npy and .npz files: written, read back, damaged. */
#include <zip.h>

#include "frontend/readers/files/file.h"
#include "frontend/readers/files/npz.h"
#include "support/folder.h"

static const char path[] = "a.npz";

static int64_t numbers[4] = {INT64_MIN, -1, 0, INT64_MAX};
static float fractions[3] = {1.5f, -0.0f, 1e-45f};
static struct npz_entry entries[] = {
    {"numbers", {WNNOperandDataType_Int64, 2, {2, 2}, sizeof numbers, numbers, false}},
    {"a/b \xC3\xA4", {WNNOperandDataType_Float32, 1, {3}, sizeof fractions, fractions, false}},
    {"scalar", {WNNOperandDataType_Float32, 0, {0}, 4, fractions, false}},
};
enum { ENTRIES = sizeof entries / sizeof *entries };

static void same_array(const struct npy_array *a, const struct npy_array *b)
{
    assert_int_equal(a->dataType, b->dataType);
    assert_int_equal(a->rank, b->rank);
    assert_memory_equal(a->shape, b->shape, a->rank * sizeof *a->shape);
    assert_int_equal(a->byteLength, b->byteLength);
    assert_memory_equal(a->data, b->data, a->byteLength);
}

TEST(archives_are_written_and_read)
{
    struct error e = {0};
    struct npz_entry *read = NULL;
    struct npy_array array;
    size_t count = 0;

    assert_true(npz_is_path(path));
    assert_false(npz_is_path("a.npy"));
    assert_works(npz_write(path, entries, ENTRIES, &e) && npz_read(path, &read, &count, &e), &e);
    assert_int_equal(count, ENTRIES);
    for (size_t i = 0; i < ENTRIES; i++) {
        assert_string_equal(read[i].name, entries[i].name);
        same_array(&read[i].array, &entries[i].array);
    }
    npz_free(read, count);
    assert_true(npz_read_array(path, "numbers", &array, &e));
    same_array(&array, &entries[0].array);
    npy_free(&array);
    assert_false(npz_read_array(path, "none", &array, &e));
    assert_non_null(strstr(e.message, "has no array 'none'"));
    assert_false(npz_read_array(path, NULL, &array, &e));
    assert_non_null(strstr(e.message, "holds 3 arrays, say which"));
    assert_true(npz_write(path, entries, 1, &e));
    assert_true(npz_read_array(path, NULL, &array, &e));
    same_array(&array, &entries[0].array);
    npy_free(&array);
    remove(path);
    assert_false(npz_write("/nowhere/a.npz", entries, 1, &e));
    assert_false(npz_read("/nowhere/a.npz", &read, &count, &e));
}

/** Deflated members, and such as claim to be larger than their bytes can be. */
TEST(deflated_members_are_read)
{
    struct error e = {0};
    static float zeros[1 << 16];
    const struct npy_array large = {WNNOperandDataType_Float32, 1, {1 << 16}, sizeof zeros, zeros, false};
    struct npy_array array;
    size_t length;
    void *bytes;
    OWNED(memory) char *file = NULL;
    int code;
    zip_t *archive = zip_open(path, ZIP_CREATE, &code);

    assert_non_null(archive);
    assert_true(npy_format(&large, "d", &bytes, &length, &e));
    zip_int64_t index = zip_file_add(archive, "d.npy", zip_source_buffer(archive, bytes, length, 1), 0);
    assert_true(index >= 0);
    zip_set_file_compression(archive, (zip_uint64_t)index, ZIP_CM_DEFLATE, 9);
    assert_int_equal(zip_close(archive), 0);
    assert_works(npz_read_array(path, NULL, &array, &e), &e);
    same_array(&array, &large);
    npy_free(&array);
    /* The size in the central directory, 24 bytes after its signature. */
    assert_true(file_read(path, &file, &length, &e));
    for (size_t i = 0; i + 46 < length; i++)
        if (!memcmp(file + i, "PK\1\2", 4))
            memcpy(file + i + 24, "\xF0\xFF\xFF\x7F", 4);
    assert_true(file_write(path, file, length, &e));
    assert_false(npz_read_array(path, NULL, &array, &e));
    assert_non_null(strstr(e.message, "cannot have 2147483632 bytes"));
    remove(path);
}

/** Members that lie on the same bytes, so that a small archive would hold any number of large arrays. */
TEST(overlapping_members_are_refused)
{
    enum { END_BYTES = 22, NAME_AT = 46 };
    struct error e = {0};
    OWNED(memory) char *bytes = NULL, *more = NULL;
    static float values[1 << 12];
    const struct npz_entry entry = {"a", {WNNOperandDataType_Float32, 1, {1 << 12}, sizeof values, values, false}};
    struct npz_entry *read = NULL;
    uint32_t directory, directory_bytes;
    size_t length, count = 0;

    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        values[i] = (float)(i * i);
    assert_true(npz_write(path, &entry, 1, &e));
    assert_true(file_read(path, &bytes, &length, &e));
    memcpy(&directory_bytes, bytes + length - END_BYTES + 12, 4);
    memcpy(&directory, bytes + length - END_BYTES + 16, 4);
    /* The directory's only entry once more, under another name; the end counts two. */
    more = malloc(length + directory_bytes);
    assert_non_null(more);
    memcpy(more, bytes, directory + directory_bytes);
    memcpy(more + directory + directory_bytes, bytes + directory, directory_bytes);
    more[directory + directory_bytes + NAME_AT] = 'b';
    memcpy(more + directory + 2 * directory_bytes, bytes + directory + directory_bytes, END_BYTES);
    length += directory_bytes;
    directory_bytes *= 2;
    memcpy(more + length - END_BYTES + 8, (uint16_t[]){2, 2}, 4);
    memcpy(more + length - END_BYTES + 12, &directory_bytes, 4);
    assert_true(file_write(path, more, length, &e));
    assert_false(npz_read(path, &read, &count, &e));
    assert_non_null(strstr(e.message, "overlap"));
    remove(path);
}

/** A bit of an array that is another one than when it was written. */
TEST(damaged_archives_are_refused)
{
    struct error e = {0};
    OWNED(memory) char *file = NULL;
    struct npy_array array;
    size_t length, flips = 0;

    assert_true(npz_write(path, entries, 1, &e));
    assert_true(file_read(path, &file, &length, &e));
    for (size_t i = 0; i + sizeof numbers <= length; i++)
        if (!memcmp(file + i, numbers, sizeof numbers))
            for (size_t k = 0; k < sizeof numbers; k++, flips++) {
                file[i + k] ^= 0x10;
                assert_true(file_write(path, file, length, &e));
                assert_false(npz_read_array(path, NULL, &array, &e));
                assert_non_null(strstr(e.message, "is damaged"));
                file[i + k] ^= 0x10;
            }
    assert_int_equal(flips, sizeof numbers);
    remove(path);
}

/** An archive cut off anywhere, and an array likewise. */
TEST(truncated_archives_are_refused)
{
    struct error e = {0};
    OWNED(memory) char *file = NULL;
    struct npz_entry *read;
    struct npy_array array;
    size_t length, count;
    OWNED(memory) void *bytes = NULL;

    assert_true(npz_write(path, entries, ENTRIES, &e));
    assert_true(file_read(path, &file, &length, &e));
    for (size_t n = 0; n < length; n += 7) {
        assert_true(file_write(path, file, n, &e));
        *e.message = '\0';
        assert_false(npz_read(path, &read, &count, &e));
        assert_true(*e.message);
    }
    remove(path);
    assert_true(npy_format(&entries[0].array, "t", &bytes, &length, &e));
    for (size_t n = 0; n < length; n++) {
        OWNED(memory) char *copy = malloc(n ? n : 1);

        memcpy(copy, bytes, n);
        assert_false(npy_parse(copy, n, "t", &array, &e));
    }
}

/** What numpy.save makes of a transposed array, and element types that end the header. */
TEST(headers_are_read_or_refused)
{
    static const char fortran[] = "\x93NUMPY\1\0\x3e\0{'descr': '<u4', 'fortran_order': True, 'shape': (2, 3, 2)}  \n";
    static const char *const wrong[] = {
        "\x93NUMPY\1\0\x35\0{'fortran_order': False, 'shape': (2,), 'descr': '>f4",
        "\x93NUMPY\1\0\x33\0{'fortran_order': False, 'shape': (2,), 'descr': '\x1b",
        "\x93NUMPY\1\0\x32\0{'fortran_order': False, 'shape': (2,), 'descr': '",
    };
    static const char *const messages[] = {"element type '>f4 is not a data type", "element type '\\u{1b} is not a data type",
                                           "element type ' is not a data type"};
    struct error e = {0};
    char bytes[72 + 48];
    uint32_t columns[12];
    struct npy_array array;

    for (size_t i = 0; i < 12; i++) /* element [i][j][k] is 100 i + 10 j + k; the first index runs fastest in the file */
        columns[i] = (uint32_t)(100 * (i % 2) + 10 * (i / 2 % 3) + i / 6);
    assert_int_equal(sizeof fortran - 1, 72);
    memcpy(bytes, fortran, 72);
    memcpy(bytes + 72, columns, 48);
    assert_works(npy_parse(bytes, sizeof bytes, "f", &array, &e), &e);
    assert_int_equal(array.shape[1], 3);
    for (size_t i = 0; i < 12; i++)
        assert_int_equal(((uint32_t *)array.data)[i], 100 * (i / 6) + 10 * (i / 2 % 3) + i % 2);
    npy_free(&array);
    for (size_t i = 0; i < 3; i++) {
        size_t length = 10 + (unsigned char)wrong[i][8];
        OWNED(memory) char *copy = malloc(length);

        memcpy(copy, wrong[i], length);
        assert_false(npy_parse(copy, length, "w", &array, &e));
        assert_works(strstr(e.message, messages[i]), &e);
    }
}

TEST_GROUP(enter_folder, leave_empty_folder)

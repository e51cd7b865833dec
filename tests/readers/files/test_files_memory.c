/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory runs out while files are read, resized and written: an error, no crash, nothing freed twice. */
#include <unistd.h>

#include "frontend/readers/files/npz.h"
#include "frontend/readers/files/picture.h"
#include "support/failing_allocator.h"
#include "support/test.h"

TEST(resizing_survives_failing_allocations)
{
    struct error e = {0};
    bool done = false;

    for (long n = 0; !done; n++) {
        SCOPED(picture_free) struct picture from = {0}, to = {0};

        assert_true(picture_create(9, 7, &from, &e));
        allocations_fail_after(n);
        bool ok = picture_resize(&from, 4, 12, &to, &e);
        done = allocations_stop_failing();
        assert_int_equal(ok, done);
        assert_true(ok || strstr(e.message, "out of memory"));
    }
}

TEST(writing_arrays_survives_failing_allocations)
{
    static float data[3] = {1, 2, 3};
    struct npz_entry entries[] = {{"x", {WNNOperandDataType_Float32, 1, {3}, sizeof data, data, false}},
                                  {"y", {WNNOperandDataType_Float32, 2, {3, 1}, sizeof data, data, false}}};
    char path[] = "/tmp/webnn-files-memory-XXXXXX";
    bool done = false;

    make_file(path);
    for (long n = 0; !done; n++) {
        struct npz_entry *read = NULL;
        size_t count = 0;

        allocations_fail_after(n);
        bool ok = npz_write(path, entries, 2, NULL) && npz_read(path, &read, &count, NULL);
        done = allocations_stop_failing();
        assert_int_equal(ok, done);
        assert_int_equal(count, ok ? 2 : 0);
        npz_free(read, count);
    }
    unlink(path);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* mpi_classify on two ranks, against classify, on a network in $WEBNN_SHARED/models. */
#include "tools/tool_support.h"

#include <ctype.h>

#ifdef MPIRUN

/* Root, as containers have it, and machines with one processor are no reason to refuse two ranks. */
#define MPIRUN_TWO MPIRUN " --allow-run-as-root --oversubscribe -n 2"
#define TWO_RANKS MPIRUN_TWO " " EXAMPLES "/mpi_classify"

/* Takes times, which differ from run to run, out of what was printed.  The caller frees it. */
static char *without_times(const char *text)
{
    char *copy = strdup(text), *to = copy;

    assert_non_null(copy);
    for (const char *p = copy; *p; *to++ = *p++)
        if (!strncmp(p, "\"ms\": ", 6))
            for (p += 6; isdigit((unsigned char)*p) || *p == '.'; p++)
                ;
    *to = '\0';
    return copy;
}

static void assert_same_lines(const char *expected)
{
    OWNED(memory) char *lines = without_times(printed);

    assert_string_equal(lines, expected);
}

TEST(two_ranks_print_what_one_process_prints)
{
    const char *m = needed_model("mobilenetv2");

    runs(0, "",
         "mkdir many && cp %s/test.jpg many/a.jpg && cp %s/test_224.png many/b.png && cp many/a.jpg many/d.jpg && "
         "cp many/b.png many/e.png && cp many/b.png many/f.png",
         m, m);
    runs(0, "", "%s/classify %s many --threads 1", EXAMPLES, m);
    OWNED(memory) char *expected = without_times(printed);
    runs(0, "", "{ %s %s many 2>notes; }", TWO_RANKS, m);
    assert_same_lines(expected);
    /* A graph that is compiled already is taken as it is, and each rank takes every second picture of a list, too. */
    runs(0, "", "%s %s --threads 1 --save mobilenet.wnn --quiet", WEBNN_RUN, m);
    runs(0, "", "ls many/* | %s/mpi_classify mobilenet.wnn --list - --labels %s/classes.txt", EXAMPLES, m);
    assert_same_lines(expected); /* one rank, without mpirun */
    runs(0, "", "{ ls many/* | %s mobilenet.wnn --list - --labels %s/classes.txt 2>notes; }", TWO_RANKS, m);
    assert_same_lines(expected);
}

TEST(rank_reports_its_bad_file_and_goes_on)
{
    const char *m = needed_model("mobilenetv2");

    runs(0, "", "mkdir bad && cp %s/test.jpg bad/a.jpg && cp %s/test_224.png bad/c.png && cp bad/a.jpg bad/d.jpg", m, m);
    write_text("bad/b.png", "this is no picture");
    runs(1, "", "{ %s/classify %s bad --threads 1 2>notes; }", EXAMPLES, m);
    OWNED(memory) char *expected = without_times(printed);
    assert_printed("bad/b.png\", \"error\": ");
    runs(1, "", "{ %s %s bad 2>notes; }", TWO_RANKS, m);
    assert_same_lines(expected);
    runs(0, "mpi_classify rank 1: 1 of 2 inputs failed; their lines say why\n", "cat notes");
    assert_not_printed("rank 0: ");
}

TEST(failures_of_rank_0_end_all_ranks)
{
    runs(2, "usage: mpirun -n RANKS mpi_classify MODEL", "%s", TWO_RANKS);
    write_text("no_model.onnx", "this is no model");
    write_text("list", "picture.png\n");
    runs(1, "mpi_classify rank 0: no_model.onnx", "%s no_model.onnx --list list", TWO_RANKS);
    runs(0, "", "mkdir temporary"); /* mpirun itself would take another TMPDIR */
    runs(1, "", "%s env TMPDIR=$PWD/temporary " EXAMPLES "/mpi_classify no_model.onnx --list list", MPIRUN_TWO);
    runs(0, "", "rmdir temporary");
}

TEST_GROUP(enter_folder, leave_folder)

#else

TESTS_SKIPPED("there is no MPI (Debian: libopenmpi-dev), so that mpi_classify was not built")

#endif

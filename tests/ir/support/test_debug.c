/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Debug switches: reading them, and that docs/debugging.md and the table say the same. */
#include "support/graphs.h"

#include "ir/support/debug.h"

TEST(switches_are_read)
{
    struct debug_options d = {0};
    static const char text[] =
        " verify , dump-llvm,,print-after=fold-constants,skip=a+b,skip=c,dump=/tmp/x y,isa=avx2,bfloat16-rate=0.5,";

    assert_done(debug_parse(&d, text, sizeof text - 1, &e));
    assert_int_equal(d.flags, DEBUG_VERIFY | DEBUG_DUMP_LLVM);
    assert_string_equal(d.print_after, "fold-constants");
    assert_string_equal(d.skip, "a+b+c");
    assert_string_equal(d.dump_dir, "/tmp/x y");
    assert_string_equal(d.isa, "avx2");
    assert_true(d.bfloat16_rate == 0.5);
    assert_null(d.stop_after);
    assert_done(debug_parse(&d, "isa=native", 10, &e)); /* the last one counts */
    assert_string_equal(d.isa, "native");
    assert_done(debug_parse(&d, NULL, 0, &e));
    debug_free(&d);
    assert_int_equal(d.flags, 0);
}

TEST(wrong_switches_are_named)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"verify,verfy", "unknown debug switch 'verfy'; did you mean 'verify'?  There are help, print-after-all, "},
        {"dump-kernel", "unknown debug switch 'dump-kernel'; did you mean 'dump-kernels'?"},
        {"\x1B[2J=1", "unknown debug switch '\\u{1b}[2J'"},
        {"verify=1", "debug switch verify takes no value"},
        {"skip", "debug switch skip needs a value: skip=PASS"},
        {"skip=", "debug switch skip needs a value: skip=PASS"},
        {"isa=sse9", "debug switch isa cannot be 'sse9', allowed are baseline|avx2|avx512|native"},
        {"isa=avx", "debug switch isa cannot be 'avx', allowed are baseline|avx2|avx512|native"},
        {"bfloat16-rate=fast", "debug switch bfloat16-rate cannot be 'fast', it is a number above 0"},
        {"bfloat16-rate=-1", "debug switch bfloat16-rate cannot be '-1', it is a number above 0"},
        {"bfloat16-rate=0.0", "debug switch bfloat16-rate cannot be '0.0', it is a number above 0"},
        {"Verify", "unknown debug switch 'Verify'"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        SCOPED(debug_free) struct debug_options d = {0};
        struct error e = {0};
        assert_false(debug_parse(&d, rows[i].text, strlen(rows[i].text), &e));
        assert_int_equal(e.status, WNNStatus_TypeError);
        assert_int_equal(strncmp(e.message, rows[i].message, strlen(rows[i].message)), 0);
    }
}

TEST(the_message_about_an_unknown_switch_lists_those_that_there_are)
{
    SCOPED(debug_free) struct debug_options d = {0};
    struct error e = {0};

    assert_false(debug_parse(&d, "nonsense", 8, &e));
    for (size_t i = 0; i < debug_switch_count; i++) {
        char name[64];

        snprintf(name, sizeof name, i ? ", %s" : "there are %s", debug_switches[i].name);
        if (!strstr(e.message, name))
            fail_msg("no '%s' in: %s", name, e.message);
    }
}

TEST(the_environment_comes_first)
{
    struct debug_options d;
    struct error e = {0};

    assert_int_equal(setenv("WEBNN_DEBUG", "gdb,skip=a,isa=avx2", 1), 0);
    assert_true(debug_init(&d, false, "perf,skip=b,isa=baseline", 24, &e));
    assert_int_equal(d.flags, DEBUG_GDB | DEBUG_PERF);
    assert_string_equal(d.skip, "a+b");
    assert_string_equal(d.isa, "baseline");
    debug_free(&d);
    assert_int_equal(setenv("WEBNN_DEBUG", "nonsense", 1), 0);
    assert_false(debug_init(&d, false, NULL, 0, &e));
    assert_non_null(strstr(e.message, "unknown debug switch 'nonsense'"));
    assert_true(debug_init(&d, true, "gdb", 3, &(struct error){0}));
    assert_int_equal(d.flags, DEBUG_GDB);
    debug_free(&d);
    unsetenv("WEBNN_DEBUG");
}

TEST(lists_are_searched_by_whole_names)
{
    assert_true(debug_list_has("fold+merge-common", "fold"));
    assert_true(debug_list_has("fold+merge-common", "merge-common"));
    assert_false(debug_list_has("fold+merge-common", "merge"));
    assert_false(debug_list_has("fold+merge-common", "common"));
    assert_false(debug_list_has(NULL, "fold"));
    assert_false(debug_list_has("", "fold"));
}

/* The rows of the document's table are exactly the table's. */
TEST(the_document_lists_every_switch)
{
    FILE *in = fopen(TESTS_DIR "/../docs/debugging.md", "rb");
    char line[512];
    size_t rows = 0;
    uint32_t flags = 0;

    assert_non_null(in);
    while (fgets(line, sizeof line, in)) {
        if (strncmp(line, "| `", 3) != 0)
            continue;
        assert_true(rows < debug_switch_count);
        const struct debug_switch *s = &debug_switches[rows++];
        char want[512], *at = want + sprintf(want, "| `%s", s->name);
        if (s->argument) {
            *at++ = '=';
            for (const char *c = s->argument; *c; c++) {
                if (*c == '|')
                    *at++ = '\\';
                *at++ = *c;
            }
        }
        sprintf(at, "` | %s |\n", s->summary);
        assert_string_equal(line, want);
        assert_int_equal(flags & s->flag, 0);
        assert_true((s->flag == 0) == (s->argument != NULL));
        flags |= s->flag;
    }
    fclose(in);
    assert_int_equal(rows, debug_switch_count);
    assert_int_equal(flags, (DEBUG_HELP << 1) - 1); /* every flag has a switch */
}

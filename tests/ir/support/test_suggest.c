/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Suggestions for misspelt names: which name is suggested, and when none is. */
#include "support/graphs.h"

#include "ir/support/suggest.h"

TEST(the_nearest_name_is_suggested)
{
    static const struct {
        const char *text, *best; /* NULL: none */
    } rows[] = {
        {"--inptu", "--input"},   /* two letters exchanged */
        {"--inpu", "--input"},    /* one missing */
        {"--inputt", "--input"},  /* one too many */
        {"--oitput", "--output"}, /* another one */
        {"--dim", "--dims"},      /* a beginning */
        {"--output-sc", "--output-scale"},
        {"--nonsense", NULL},
        {"", NULL},
        {"x", NULL}, /* everything is one edit away from a single letter */
    };
    static const char *const names[] = {"--input", "--output", "--output-scale", "--dims", "y", ""};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct suggestion s = suggestion_for(rows[i].text, strlen(rows[i].text));
        char expected[100] = "";

        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (strcmp(names[k], rows[i].text) != 0)
                suggestion_offer(&s, names[k]);
        if (rows[i].best)
            snprintf(expected, sizeof expected, "; did you mean '%s'?", rows[i].best);
        assert_string_equal(suggestion_text(&s), expected);
    }
}

TEST(names_are_escaped_and_long_ones_passed_over)
{
    char name[200];
    struct suggestion s = suggestion_for("abcde\x1B", 6);

    suggestion_offer(&s, "abcdef\x1B");
    assert_string_equal(suggestion_text(&s), "; did you mean 'abcdef\\u{1b}'?");
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = '\0';
    s = suggestion_for(name, sizeof name - 1);
    suggestion_offer(&s, name + 1);
    assert_string_equal(s.best, "");
    s = suggestion_for(name, 64);
    suggestion_offer(&s, name + sizeof name - 1 - 63);
    assert_int_equal(strlen(s.best), 63);
}

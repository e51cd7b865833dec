/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads command lines by tables of options, and writes these as help, as a part of a manual page and for completion. */
#include "frontend/tools/options.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/tools/arguments.h"
#include "ir/support/suggest.h"

enum { EXIT_USAGE = 2, OPTION_VERSION = 255, LONG_FIRST, HELP_COLUMN = 24, HELP_WIDTH = 120 };

/* ---- printing ---- */

/** Prints a text from a column on, in as many lines as it takes. */
static void print_broken(const char *text, int column)
{
    while (strlen(text) > (size_t)(HELP_WIDTH - column)) {
        const char *end = text + HELP_WIDTH - column;

        while (end > text && *end != ' ')
            end--;
        printf("%.*s\n%*s", (int)(end - text), text, HELP_COLUMN, "");
        text = end + 1;
        column = HELP_COLUMN;
    }
    puts(text);
}

static void print_help(const struct option_program *p)
{
    fputs(p->about, stdout);
    for (const struct option_row *row = p->rows; row < p->rows + p->row_count; row++) {
        char letter[] = {'-', row->letter, ',', ' ', '\0'};

        if (!row->name) {
            printf("\n%s\n", row->help);
            continue;
        }
        const int used =
            printf("  %s--%s%s%s  ", row->letter ? letter : "", row->name, row->value ? " " : "", row->value ? row->value : "");
        printf("%*s", used < HELP_COLUMN ? HELP_COLUMN - used : 0, "");
        print_broken(row->help, used < HELP_COLUMN ? HELP_COLUMN : used);
    }
    puts("  -h, --help[=FORM]     print this; manual: the options as a part of a manual page, completion: a command for bash\n"
         "  --version");
    if (p->examples)
        printf("\nexamples\n%s", p->examples);
}

/** Prints a text for a manual page, in which a hyphen is one that can be typed, in lines of some hundred characters. */
static void print_roff(const char *text)
{
    for (int column = 0; *text; text++, column++) {
        const bool breaks = *text == ' ' && column >= HELP_WIDTH - HELP_COLUMN;

        if (!column && (*text == '.' || *text == '\''))
            fputs("\\&", stdout);
        if (*text == '-' || *text == '\\')
            putchar('\\');
        putchar(breaks ? '\n' : *text == '\\' ? 'e' : *text);
        column = breaks ? -1 : column;
    }
}

static void print_manual(const struct option_program *p)
{
    puts(".SH OPTIONS");
    for (const struct option_row *row = p->rows; row < p->rows + p->row_count; row++) {
        if (!row->name) {
            printf(".SS %s\n", row->help);
            continue;
        }
        fputs(".TP\n\\fB", stdout);
        if (row->letter)
            printf("\\-%c\\fR, \\fB", row->letter);
        fputs("\\-\\-", stdout);
        print_roff(row->name);
        fputs("\\fR", stdout);
        if (row->value) {
            fputs(" \\fI", stdout);
            print_roff(row->value);
            fputs("\\fR", stdout);
        }
        putchar('\n');
        print_roff(row->help);
        putchar('\n');
    }
    puts(".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR[=\\fIFORM\\fR]\nPrint the options; manual: as a part of this page, completion: "
         "as a command for bash.\n.TP\n\\fB\\-\\-version\\fR\nPrint the version.");
}

static void print_completion(const struct option_program *p)
{
    printf("complete -o default -W '--help --version");
    for (const struct option_row *row = p->rows; row < p->rows + p->row_count; row++)
        printf("%s%s", row->name ? " --" : "", row->name ? row->name : "");
    printf("' %s\n", p->name);
}

/* ---- messages ---- */

bool options_wrong(struct option_call *c, const char *format, ...)
{
    WITH_ARGUMENTS(format, print_message(format, arguments));
    fprintf(stderr, "try: %s --help\n", program_name);
    if (c)
        c->status = EXIT_USAGE;
    return false;
}

/** Writes what an option takes into the call, if that is not there yet. */
static const char *wants_text(struct option_call *c)
{
    const struct option_row *row = c->row;
    size_t n = 0;

    if (*c->wants)
        return c->wants;
    if (row->wants || !(row->choices || row->high)) {
        snprintf(c->wants, sizeof c->wants, "%s", row->wants ? row->wants : row->value);
    } else if (row->high) {
        snprintf(c->wants, sizeof c->wants, "a number from %" PRIu64 " to %" PRIu64, row->low, row->high);
    } else {
        for (const char *const *name = row->choices; *name && n < sizeof c->wants; name++)
            if (**name)
                n += (size_t)snprintf(c->wants + n, sizeof c->wants - n, "%s%s", !n ? "" : name[1] ? ", " : " or ", *name);
    }
    return c->wants;
}

/** Says why getopt_long returned '?' or ':'. */
static bool refused(const struct option_program *p, int result, const struct option *options, char **argv)
{
    const char *argument = argv[optind - 1];
    const size_t length = strcspn(argument, "=");
    bool takes_none = false;
    char text[200], short_option[] = {'-', (char)optopt}, several[400] = "";
    size_t used = 0;
    struct suggestion meant = suggestion_for(argument + 2, length > 2 ? length - 2 : 0);
    int similar = 0;

    for (const struct option *o = options; o->name; o++) {
        takes_none |= o->val == optopt;
        if (length > 2 && !strncmp(argument + 2, o->name, length - 2) && used < sizeof several)
            used += (size_t)snprintf(several + used, sizeof several - used, "%s --%s", similar++ ? "," : "", o->name);
        suggestion_offer(&meant, o->name);
    }
    /* Of a long option that is unknown getopt leaves 0 in optopt, of a short one the character. */
    const bool is_short = result == ':' ? argument[1] != '-' : optopt && !takes_none;
    escape_text(text, sizeof text, is_short ? short_option : argument, is_short ? sizeof short_option : length);
    if (result == ':') {
        struct option_call c = {.row = p->rows};

        while (c.row->letter != optopt && c.row - p->rows + LONG_FIRST != optopt)
            c.row++;
        return options_wrong(NULL, "%s needs a value: %s", text, wants_text(&c));
    }
    if (takes_none)
        return options_wrong(NULL, "%s takes no value", text);
    if (!is_short && similar > 1)
        return options_wrong(NULL, "%s is the beginning of several options:%s", text, several);
    if (!is_short && *meant.best)
        return options_wrong(NULL, "%s is not an option; did you mean '--%s'?", text, meant.best);
    return options_wrong(NULL, "%s is not an option", text);
}

/* ---- reading ---- */

/** Takes one option, or an argument that is none.  Returns false if the program is to end, with *status. */
static bool take(const struct option_row *row, bool is_option, const char *value, void *options, int *status)
{
    struct option_call c = {row, value ? value : "", options, (char *)options + row->member, "", 0, false};
    struct suggestion meant = suggestion_for(c.value, strlen(c.value));
    char text[256];

    errno = 0;
    if (row->take(&c)) {
        if (c.ends)
            *status = 0;
        return !c.ends;
    }
    if (!c.status && errno == ENOMEM && !complain("out of memory"))
        c.status = 1;
    if (c.status) {
        *status = c.status;
        return false;
    }
    for (const char *const *name = row->choices; name && *name; name++)
        suggestion_offer(&meant, *name);
    escape_text(text, sizeof text, c.value, strlen(c.value));
    return options_wrong(NULL, "%s%s takes %s, not '%s'%s", is_option ? "--" : "", row->name, wants_text(&c), text,
                         suggestion_text(&meant));
}

bool options_read(const struct option_program *p, int argc, char **argv, void *options, int *status)
{
    struct option longs[OPTIONS_MAX + 3] = {{0}};
    char letters[2 * OPTIONS_MAX + 3] = ":h";
    size_t length = 2, count = 0;
    int option;

    for (size_t i = 0; i < p->row_count; i++) {
        const struct option_row *row = &p->rows[i];

        if (row->name)
            longs[count++] =
                (struct option){row->name, row->value ? required_argument : no_argument, NULL, LONG_FIRST + (int)i};
        if (row->letter) {
            letters[length++] = row->letter;
            if (row->value)
                letters[length++] = ':';
        }
    }
    longs[count++] = (struct option){"help", optional_argument, NULL, 'h'};
    longs[count] = (struct option){"version", no_argument, NULL, OPTION_VERSION};
    program_name = p->name;
    opterr = 0;
    *status = EXIT_USAGE;
    while ((option = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        const struct option_row *row = p->rows;

        if (option == '?' || option == ':')
            return refused(p, option, longs, argv);
        if (option == 'h' || option == OPTION_VERSION) {
            const bool known = !optarg || !strcmp(optarg, "manual") || !strcmp(optarg, "completion");

            if (!known)
                return options_wrong(NULL, "--help takes manual or completion, not '%s'", NAME_SHOWN(optarg));
            *status = 0;
            if (option == OPTION_VERSION)
                printf("%s %s (built with LLVM %s and oneDNN %s)\n", p->name, WEBNN_VERSION, WEBNN_LLVM_VERSION,
                       WEBNN_ONEDNN_VERSION);
            else
                (!optarg ? print_help : *optarg == 'm' ? print_manual : print_completion)(p);
            return false;
        }
        if (option >= LONG_FIRST)
            row += option - LONG_FIRST;
        while (option < LONG_FIRST && row->letter != option)
            row++;
        if (!take(row, true, optarg, options, status))
            return false;
    }
    for (int i = optind; i < argc; i++)
        if (!take(p->other, false, argv[i], options, status))
            return false;
    return true;
}

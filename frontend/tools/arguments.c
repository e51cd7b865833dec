/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads command lines of the tools: pairs, sizes, shapes.  Numbers are read whole: "12x" is no number. */
#include "frontend/tools/arguments.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frontend/readers/files/file.h"
#include "ir/support/error.h"
#include "ir/support/suggest.h"

void *list_grow(void *items, size_t count, size_t size)
{
    return count < SIZE_MAX / size - 1 ? realloc(items, (count + 1) * size) : NULL;
}

static char *copy_text(const char *text, size_t length)
{
    char *copy = malloc(length + 1);

    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

bool argument_split(const char *text, struct argument_pair *pair)
{
    const char *equals = strchr(text, '=');

    *pair = (struct argument_pair){NULL, text};
    if (!equals || equals == text)
        return true;
    pair->name = copy_text(text, (size_t)(equals - text));
    pair->value = equals + 1;
    return pair->name != NULL;
}

bool argument_number(const char *text, uint64_t low, uint64_t high, uint64_t *number)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return !errno && !*end && *number >= low && *number <= high;
}

/** Returns whether a text is "NAME=N,NAME=N". */
static bool has_several_pairs(const char *text)
{
    const char *equals = strchr(text, '='), *p = equals ? equals + 1 : "";

    while (isdigit((unsigned char)*p))
        p++;
    return equals && p > equals + 1 && *p == ',' && strchr(p, '=');
}

const char *argument_dim_wants(const char *text)
{
    if (has_several_pairs(text))
        return "one NAME=N at a time (--dim batch=2 --dim seq=10)";
    return "NAME=N with a whole number N from 0 to 2147483647";
}

/** Reads one number of a list.  Returns false if it is none; *whole says whether it is an int64. */
static bool read_literal(const char *text, size_t length, bool *whole, int64_t *integer, double *real)
{
    char part[64], *end;

    if (!length || length >= sizeof part || isspace((unsigned char)*text))
        return false;
    memcpy(part, text, length);
    part[length] = '\0';
    *whole = true;
    if (!strcmp(part, "true") || !strcmp(part, "false")) {
        *real = (double)(*integer = part[0] == 't');
        return true;
    }
    errno = 0;
    *integer = strtoll(part, &end, 10);
    *whole = !*end && !errno;
    *real = strtod(part, &end);
    return !*end && end != part && strspn(part, "+-0123456789.eE") == length;
}

/** Reads numbers separated by commas.  Returns 1, 0 if the text is none, or -1 if memory runs out. */
static int read_literals(const char *text, struct npy_array *array)
{
    size_t count = 1;
    bool all_whole = true, whole;
    int64_t integer;
    double real;

    for (const char *p = text; (p = strchr(p, ',')) != NULL; p++)
        count++;
    for (const char *p = text; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        if (!read_literal(p, strcspn(p, ","), &whole, &integer, &real))
            return 0;
        all_whole &= whole;
    }
    *array = (struct npy_array){.dataType = all_whole ? WNNOperandDataType_Int64 : WNNOperandDataType_Float32,
                                .rank = count > 1,
                                .shape = {(uint32_t)count},
                                .byteLength = count * (all_whole ? sizeof integer : sizeof(float))};
    char *data = malloc(array->byteLength);
    array->data = data;
    for (const char *p = text; data && p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        read_literal(p, strcspn(p, ","), &whole, &integer, &real);
        memcpy(data, all_whole ? (void *)&integer : (void *)&(float){(float)real}, all_whole ? sizeof integer : sizeof(float));
        data += all_whole ? sizeof integer : sizeof(float);
    }
    return array->data ? 1 : -1;
}

bool argument_constant(const char *text, struct npy_array *array, bool *literal, char *message, size_t size)
{
    const int read = read_literals(text, array);

    *literal = read > 0;
    if (read < 0)
        return file_error(message, size, "out of memory");
    return *literal || npy_read(text, array, message, size);
}

bool argument_dim(const char *text, char **name, uint32_t *size)
{
    const char *equals = strrchr(text, '=');
    uint64_t number;

    *name = NULL;
    if (!equals || equals == text || has_several_pairs(text) || !argument_number(equals + 1, 0, INT32_MAX, &number))
        return false;
    *size = (uint32_t)number;
    *name = copy_text(text, (size_t)(equals - text));
    return *name != NULL;
}

bool argument_shape(const char *text, char **name, struct model_shape *shape)
{
    const char *equals = strrchr(text, '='), *p;

    *name = NULL;
    *shape = (struct model_shape){0};
    if (!equals || equals == text)
        return false;
    p = equals + 1;
    if (strcmp(p, "scalar")) {
        for (;; p++) {
            uint64_t dim = 0;

            if (!isdigit((unsigned char)*p) || shape->rank == NPY_RANK_MAX)
                return false;
            for (; isdigit((unsigned char)*p); p++) {
                dim = dim * 10 + (uint64_t)(*p - '0');
                if (dim > INT32_MAX)
                    return false;
            }
            shape->dims[shape->rank++] = (uint32_t)dim;
            if (*p != 'x' && *p != ',')
                break;
        }
        if (*p)
            return false;
    }
    *name = copy_text(text, (size_t)(equals - text));
    shape->name = *name;
    return *name != NULL;
}

bool argument_real(const char *text, double *number)
{
    char *end;
    double below;

    if (isspace((unsigned char)*text))
        return false;
    *number = strtod(text, &end);
    if (end == text)
        return false;
    if (*end == '/') {
        text = end + 1;
        below = strtod(text, &end);
        if (end == text || below == 0)
            return false;
        *number /= below;
    }
    return !*end && isfinite(*number);
}

bool argument_reals3(const char *text, double numbers[3])
{
    char part[64];
    size_t count = 0;

    for (;;) {
        size_t length = strcspn(text, ",");

        if (length >= sizeof part || count == 3)
            return false;
        memcpy(part, text, length);
        part[length] = '\0';
        if (!argument_real(part, &numbers[count++]))
            return false;
        if (!text[length])
            break;
        text += length + 1;
    }
    if (count == 1)
        numbers[1] = numbers[2] = numbers[0];
    return count != 2;
}

void print_message(const char *program, const char *format, va_list arguments)
{
    va_list again;

    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (text)
        vsnprintf(text, (size_t)length + 1, format, arguments);
    fprintf(stderr, "%s: ", program);
    text_print_safely(stderr, text ? text : "out of memory");
    fputc('\n', stderr);
    free(text);
}

static bool say(const char *program, const char *format, ...) PRINTF_LIKE(2, 3);

static bool say(const char *program, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_message(program, format, arguments);
    va_end(arguments);
    return false;
}

bool argument_refused(const char *program, int result, const struct option *options, char **argv)
{
    const char *argument = argv[optind - 1];
    const size_t length = strcspn(argument, "=");
    bool takes_none = false;
    char text[200], short_option[] = {'-', (char)optopt};
    int similar = 0;

    for (const struct option *o = options; o->name; o++) {
        takes_none |= o->val == optopt;
        similar += length > 2 && !strncmp(argument + 2, o->name, length - 2);
    }
    struct suggestion meant = suggestion_for(argument + 2, length > 2 ? length - 2 : 0);
    for (const struct option *o = options; o->name; o++)
        suggestion_offer(&meant, o->name);
    /* Of a long option that is unknown getopt leaves 0 in optopt, of a short one the character. */
    const bool is_short = result == ':' ? argument[1] != '-' : optopt && !takes_none;
    if (is_short)
        escape_text(text, sizeof text, short_option, sizeof short_option);
    else
        escape_text(text, sizeof text, argument, length);
    if (result != ':' && !takes_none && !is_short && similar < 2 && *meant.best)
        return say(program, "%s is no option; did you mean '--%s'?  Try --help", text, meant.best);
    return say(program, "%s %s; try --help", text,
               result == ':'              ? "needs a value"
               : takes_none               ? "takes no value"
               : !is_short && similar > 1 ? "is the beginning of several options"
                                          : "is no option");
}

void print_version(const char *program)
{
    printf("%s %s (built with LLVM %s and oneDNN %s)\n", program, WEBNN_VERSION, WEBNN_LLVM_VERSION, WEBNN_ONEDNN_VERSION);
}

void print_notes(const char *program, const char *notes)
{
    while (notes && *notes) {
        const size_t length = strcspn(notes, "\n");

        say(program, "note: %.*s", (int)length, notes);
        notes += length + (notes[length] != '\0');
    }
}

bool output_arrived(const char *program)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    fprintf(stderr, "%s: standard output cannot be written%s%s\n", program, errno ? ": " : "", errno ? strerror(errno) : "");
    return false;
}

bool argument_budget(const char *text, WNNBudget *budget)
{
    const char *comma = strchr(text, ',');
    char operations[32];

    *budget = (WNNBudget){0, 0};
    snprintf(operations, sizeof operations, "%.*s", comma ? (int)(comma - text) : (int)strlen(text), text);
    return argument_number(operations, 1, UINT64_MAX, &budget->operations) &&
           (!comma || argument_number(comma + 1, 1, UINT64_MAX, &budget->bytes));
}

bool argument_precision(const char *text, WNNPrecision *precision)
{
    static const char *const names[] = {
        [WNNPrecision_Float32] = "float32",
        [WNNPrecision_Bf16x2] = "bf16x2",
        [WNNPrecision_Bf16] = "bf16",
        [WNNPrecision_Int8] = "int8",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], text)) {
            *precision = (WNNPrecision)i;
            return true;
        }
    return false;
}

bool argument_weight_format(const char *text, WNNWeightFormat *format)
{
    *format = !strcmp(text, "int8")   ? WNNWeightFormat_Int8
              : !strcmp(text, "int4") ? WNNWeightFormat_Int4
                                      : WNNWeightFormat_None;
    return *format != WNNWeightFormat_None;
}

bool argument_engine(const char *text, WNNEngine *engine, const char **device)
{
    *device = "";
    if (!strcmp(text, "cpu") || !strcmp(text, "auto")) {
        *engine = text[0] == 'c' ? WNNEngine_Cpu : WNNEngine_Auto;
        return true;
    }
    if (strncmp(text, "gpu", 3) != 0 || (text[3] && (text[3] != ':' || !text[4])))
        return false;
    *engine = WNNEngine_Gpu;
    if (text[3])
        *device = text + 4;
    return true;
}

double clock_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

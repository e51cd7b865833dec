/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads command lines of the tools: pairs, sizes, shapes.  Numbers are read whole: "12x" is not a number. */
#include "frontend/tools/arguments.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "frontend/tools/options.h"
#include "ir/support/array.h"

/** Copies a name up to a separator, which is a part of the name after a backslash.  *end is the separator, or the end of the
 * text.  Returns NULL if memory runs out. */
static char *argument_name(const char *text, char separator, const char **end)
{
    char *name = malloc(strlen(text) + 1), *at = name;

    for (; name && *text && *text != separator; text++) {
        text += text[0] == '\\' && text[1] == separator;
        *at++ = *text;
    }
    if (name)
        *at = '\0';
    *end = text;
    return name;
}

/** Splits text at the first "=" that has no backslash before it.  Returns false if memory runs out. */
static bool argument_split(const char *text, struct argument_pair *pair)
{
    const char *equals;
    char *name = argument_name(text, '=', &equals);
    const bool done = name, named = done && *equals && equals > text;

    *pair = (struct argument_pair){named ? name : NULL, named ? equals + 1 : text};
    if (!named)
        free(name);
    return done;
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

bool argument_constant(const char *text, struct npy_array *array, bool *literal, struct error *e)
{
    const int read = read_literals(text, array);

    *literal = read > 0;
    if (read < 0)
        return file_error(e, "out of memory");
    return *literal || npy_read(text, array, e);
}

bool option_dim(struct option_call *c)
{
    struct model_options *m = c->member;
    const char *equals = strrchr(c->value, '=');
    const bool several = has_several_pairs(c->value);
    uint64_t number;

    snprintf(c->wants, sizeof c->wants, "%s",
             several                      ? "one NAME=N at a time (--dim batch=2 --dim seq=10)"
             : equals && equals[1] == '?' ? "NAME=N: sizes that vary are listed by --sizes NAME=1,16 or --sizes NAME=1..16"
                                          : "NAME=N with a whole number N from 0 to 2147483647");
    if (!array_extend(&m->dims, m->dim_count, sizeof *m->dims) || !equals || equals == c->value || several ||
        !argument_number(equals + 1, 0, INT32_MAX, &number))
        return false;
    struct model_dim *dim = (struct model_dim *)&m->dims[m->dim_count];
    *dim = (struct model_dim){strndup(c->value, (size_t)(equals - c->value)), (uint32_t)number};
    return dim->name && ++m->dim_count;
}

/** Reads "1x3x224x224" or "scalar". */
static bool read_shape(const char *p, struct model_shape *shape)
{
    if (!strcmp(p, "scalar"))
        return true;
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
            return !*p;
    }
}

bool option_shape(struct option_call *c)
{
    struct model_options *m = c->member;
    struct model_shape shape = {0};
    const char *equals = strrchr(c->value, '=');

    snprintf(c->wants, sizeof c->wants, "NAME=1x3x224x224, or NAME=scalar");
    if (!array_extend(&m->shapes, m->shape_count, sizeof shape) || !equals || equals == c->value ||
        !read_shape(equals + 1, &shape))
        return false;
    shape.name = strndup(c->value, (size_t)(equals - c->value));
    ((struct model_shape *)m->shapes)[m->shape_count] = shape;
    return shape.name && ++m->shape_count;
}

bool option_constant(struct option_call *c)
{
    struct model_options *m = c->member;
    struct npy_array *array = calloc(1, sizeof *array);
    struct argument_pair pair = {0};
    struct error e = {0};
    bool literal;

    snprintf(c->wants, sizeof c->wants, "NAME=VALUE, or NAME=FILE.npy");
    bool ok = array_extend(&m->constants, m->constant_count, sizeof *m->constants) && array &&
              argument_split(c->value, &pair) && pair.name && *pair.value;
    if (ok && !argument_constant(pair.value, array, &literal, &e)) {
        c->status = 1;
        ok = complain("--constant %s: %s; numbers such as %s=16000 need no file", pair.name, e.message, pair.name);
    }
    if (ok) {
        ((struct model_constant *)m->constants)[m->constant_count++] =
            (struct model_constant){.name = pair.name, .array = array, .literal = literal};
        return true;
    }
    free(array);
    free(pair.name);
    return false;
}

bool option_outputs(struct option_call *c)
{
    struct model_options *m = c->member;

    snprintf(c->wants, sizeof c->wants, "NAME,NAME,...");
    for (const char *at = c->value, *end;; at = end + 1) {
        if (!array_extend(&m->outputs, m->output_count, sizeof *m->outputs) || !*at || *at == ',' ||
            !(((const char **)m->outputs)[m->output_count] = argument_name(at, ',', &end)))
            return false;
        m->output_count++;
        if (!*end)
            return true;
    }
}

void option_model_free(struct model_options *m)
{
    for (size_t i = 0; i < m->output_count; i++)
        free((char *)m->outputs[i]);
    free((void *)m->outputs);
    for (size_t i = 0; i < m->dim_count; i++)
        free((char *)m->dims[i].name);
    for (size_t i = 0; i < m->shape_count; i++)
        free((char *)m->shapes[i].name);
    for (size_t i = 0; i < m->constant_count; i++) {
        free((char *)m->constants[i].name);
        npy_free((struct npy_array *)m->constants[i].array);
        free((void *)m->constants[i].array);
    }
    free((void *)m->dims);
    free((void *)m->shapes);
    free((void *)m->constants);
}

bool option_add_switch(struct option_call *c, const char *name, const char *value)
{
    char **switches = c->member;

    if (text_append(switches, "%s%s%s%s", *switches ? "," : "", name, *value ? "=" : "", value))
        return true;
    c->status = 1;
    return complain("out of memory");
}

bool option_text(struct option_call *c)
{
    *(const char **)c->member = c->value;
    return true;
}

bool option_single(struct option_call *c)
{
    const char *before = *(const char **)c->member;

    if (!before)
        return option_text(c);
    return options_wrong(c, "one %s at a time: %s, then %s", c->row->name, before, c->value);
}

bool option_number(struct option_call *c)
{
    return argument_number(c->value, c->row->low, c->row->high, c->member);
}

bool option_threads(struct option_call *c)
{
    uint64_t number;

    snprintf(c->wants, sizeof c->wants, "a number from 1 to 1024");
    if (!argument_number(c->value, 1, 1024, &number))
        return false;
    *(uint32_t *)c->member = (uint32_t)number;
    return true;
}

bool option_choice(struct option_call *c)
{
    for (uint32_t i = 0; c->row->choices[i]; i++)
        if (*c->value && !strcmp(c->row->choices[i], c->value)) {
            memcpy(c->member, &i, sizeof i);
            return true;
        }
    return false;
}

bool option_factor(struct option_call *c)
{
    snprintf(c->wants, sizeof c->wants, "a number other than 0");
    return argument_real(c->value, c->member) && *(double *)c->member != 0;
}

bool option_tolerance(struct option_call *c)
{
    snprintf(c->wants, sizeof c->wants, "a number that is not below 0");
    return argument_real(c->value, c->member) && *(double *)c->member >= 0;
}

bool option_budget(struct option_call *c)
{
    const char *comma = strchr(c->value, ',');
    WNNBudget *budget = c->member;
    char operations[32];

    *budget = (WNNBudget){0, 0};
    snprintf(c->wants, sizeof c->wants, "OPERATIONS or OPERATIONS,BYTES, whole numbers from 1");
    snprintf(operations, sizeof operations, "%.*s", (int)(comma ? comma - c->value : (ptrdiff_t)strlen(c->value)), c->value);
    return argument_number(operations, 1, UINT64_MAX, &budget->operations) &&
           (!comma || argument_number(comma + 1, 1, UINT64_MAX, &budget->bytes));
}

bool option_pair(struct option_call *c)
{
    struct argument_pairs *pairs = c->member;
    struct argument_pair pair;

    if (!array_extend(&pairs->items, pairs->count, sizeof pair))
        return false;
    if (!argument_split(c->value, &pair) || !*pair.value) {
        free(pair.name);
        return false;
    }
    pairs->items[pairs->count++] = pair;
    return true;
}

bool option_named_pair(struct option_call *c)
{
    const struct argument_pairs *pairs = c->member;

    return option_pair(c) && pairs->items[pairs->count - 1].name;
}

void argument_pairs_free(struct argument_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++)
        free(pairs->items[i].name);
    free(pairs->items);
}

const char *const option_precisions[] = {[WNNPrecision_Float32] = "float32",
                                         [WNNPrecision_Bf16x2] = "bf16x2",
                                         [WNNPrecision_Bf16] = "bf16",
                                         [WNNPrecision_Int8] = "int8",
                                         NULL};
const char *const option_weight_formats[] = {
    [WNNWeightFormat_None] = "", [WNNWeightFormat_Int8] = "int8", [WNNWeightFormat_Int4] = "int4", NULL};

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

bool option_reals3(struct option_call *c)
{
    double *numbers = c->member;
    char part[64];
    size_t count = 0;

    for (const char *at = c->value; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const int length = snprintf(part, sizeof part, "%.*s", (int)strcspn(at, ","), at);

        if (length >= (int)sizeof part || count == 3 || !argument_real(part, &numbers[count++]))
            return false;
    }
    if (count == 1)
        numbers[1] = numbers[2] = numbers[0];
    return count != 2;
}

const char *program_name = "webnn";

void print_message(const char *format, va_list arguments)
{
    va_list again;

    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length >= 0 ? malloc((size_t)length + 1) : NULL;
    if (text)
        vsnprintf(text, (size_t)length + 1, format, arguments);
    fprintf(stderr, "%s: ", program_name);
    text_print_safely(stderr, text ? text : "out of memory");
    fputc('\n', stderr);
    free(text);
}

static _Thread_local struct error *caught;

void complain_catch(struct error *e)
{
    caught = e;
}

bool complain(const char *format, ...)
{
    WITH_ARGUMENTS(format, caught ? (void)vsnprintf(caught->message, sizeof caught->message, format, arguments)
                                  : print_message(format, arguments));
    return false;
}

bool complain_last(const char *what)
{
    const WNNStringView text = wnnGetLastErrorMessage();

    return complain("%s%s%.*s", what, *what ? ": " : "", (int)text.length, text.data);
}

void print_notes(const char *notes)
{
    while (notes && *notes) {
        const size_t length = strcspn(notes, "\n");

        complain("note: %.*s", (int)length, notes);
        notes += length + (notes[length] != '\0');
    }
}

bool output_arrived(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    return complain("standard output cannot be written%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
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

/* ---- lists of sizes ---- */

size_t argument_numbers(const char *list, size_t most, uint32_t *numbers)
{
    size_t count = 0;

    for (const char *at = list;;) {
        char *end = (char *)at;
        unsigned long first = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : 0;
        const bool range = end > at && !strncmp(end, "..", 2) && isdigit((unsigned char)end[2]);
        const unsigned long last = range ? strtoul(end + 2, &end, 10) : first;

        if (end == at || last > INT32_MAX || last < first || last - first >= most - count || (*end && *end != ','))
            return 0;
        while (first <= last)
            numbers[count++] = (uint32_t)first++;
        if (!*end)
            return count;
        at = end + 1;
    }
}

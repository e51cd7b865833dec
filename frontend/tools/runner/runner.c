/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is the program that `webnnc --emit exe` links around a compiled model.  It reads inputs from .npy or raw little-endian
 * files, runs, prints statistics per output, saves .npy files and compares.
 *
 * It needs C11, the C library and the object's description alone; webnnc carries this file in itself and has the system's C
 * compiler compile it.
 *
 *   model_description    is the object's description
 *   model_call           calls its run function with arguments from arrays
 *   model_shape          stores a tensor's shape at sizes of the object
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "webnn_object.h"

/* webnnc writes these, for the model at hand. */
extern const struct webnn_object *const model_description;
int model_call(void *model, void *workspace, const uint32_t *sizes, void *const *inputs, void *const *outputs);
void model_shape(const uint32_t *sizes, uint32_t port, uint32_t *shape);

#define object model_description

enum { FIRST_ELEMENTS = 6, RANK_MAX = 12 };

struct tensor {
    struct webnn_object_tensor type;           /* the object's, with the shape at the sizes */
    uint32_t shape[RANK_MAX], found[RANK_MAX]; /* found: the array's */
    int found_rank;                            /* -1: not known */
    const char *file, *expected;               /* where from or to, and what to compare with */
    void *data;
};

static struct tensor *tensors, *outputs;    /* inputs, then outputs */
static double absolute = -1, relative = -1; /* negative: not given */
static unsigned repeat = 1;
static int quiet;
static void *model, *workspace, **arguments;
static const struct webnn_object_size *sizes; /* that the object takes */
static uint32_t size_count, *chosen;          /* and their values; 0: not given */
static uint32_t count;                        /* of tensors */

/* Names come from the model: bytes that are not printable ASCII are printed as \xHH, so that no name deceives a terminal. */
static void print_name(FILE *out, const char *name)
{
    for (const unsigned char *p = (const unsigned char *)name; *p; p++)
        if (*p >= 0x20 && *p < 0x7F && *p != '\\')
            fputc(*p, out);
        else
            fprintf(out, "\\x%02x", *p);
}

static int fail(const char *what, const char *name)
{
    fprintf(stderr, "%s: %s%s", object->prefix, what, name ? " " : "");
    print_name(stderr, name ? name : "");
    fputc('\n', stderr);
    return 1;
}

/* ---- types ---- */

static const struct type {
    const char *name, *npy;
    size_t size;
} types[] = {{"", "", 1},         {"float32", "<f4", 4}, {"float16", "<f2", 2}, {"int32", "<i4", 4}, {"uint32", "<u4", 4},
             {"int64", "<i8", 8}, {"uint64", "<u8", 8},  {"int8", "|i1", 1},    {"uint8", "|u1", 1}};

static size_t elements_of(const struct webnn_object_tensor *t)
{
    return (size_t)(t->bytes / types[t->type].size);
}

static double half_number(uint16_t h)
{
    int exponent = (h >> 10) & 31, fraction = h & 1023;
    double x = exponent == 31 ? (fraction ? NAN : INFINITY)
               : exponent     ? ldexp(1024 + fraction, exponent - 25)
                              : ldexp(fraction, -24);
    return h & 0x8000 ? -x : x;
}

static double element(const struct tensor *t, const void *data, size_t i)
{
    switch (t->type.type) {
    case WEBNN_OBJECT_FLOAT32:
        return ((const float *)data)[i];
    case WEBNN_OBJECT_FLOAT16:
        return half_number(((const uint16_t *)data)[i]);
    case WEBNN_OBJECT_INT32:
        return ((const int32_t *)data)[i];
    case WEBNN_OBJECT_UINT32:
        return ((const uint32_t *)data)[i];
    case WEBNN_OBJECT_INT64:
        return (double)((const int64_t *)data)[i];
    case WEBNN_OBJECT_UINT64:
        return (double)((const uint64_t *)data)[i];
    case WEBNN_OBJECT_INT8:
        return ((const int8_t *)data)[i];
    default:
        return ((const uint8_t *)data)[i];
    }
}

/* ---- files ---- */

/* Reads a whole file, for free(), and sets *length.  Returns NULL if it cannot be read. */
static char *read_file(const char *path, size_t *length)
{
    FILE *f = fopen(path, "rb");
    char *data = NULL;
    size_t capacity = 0, n;

    *length = 0;
    if (!f)
        return NULL;
    do {
        if (*length == capacity) {
            char *grown = capacity <= SIZE_MAX / 4 ? realloc(data, capacity = capacity ? 2 * capacity : 1 << 16) : NULL;
            if (!grown) {
                free(data);
                fclose(f);
                return NULL;
            }
            data = grown;
        }
        n = fread(data + *length, 1, capacity - *length, f);
        *length += n;
    } while (n);
    if (ferror(f)) {
        free(data);
        data = NULL;
    }
    fclose(f);
    return data;
}

/* Returns the header of an .npy file, for free(), and sets *start to where its data begin; NULL if it is none. */
static char *npy_header(const char *bytes, size_t length, size_t *start)
{
    const unsigned char *u = (const unsigned char *)bytes;
    size_t header = 0;

    *start = 10;
    if (length < 10 || memcmp(bytes, "\x93NUMPY", 6))
        return NULL;
    header = u[8] | (size_t)u[9] << 8;
    if (u[6] >= 2) {
        if (length < 12)
            return NULL;
        header |= (size_t)u[10] << 16 | (size_t)u[11] << 24;
        *start = 12;
    }
    char *text = header <= length - *start ? malloc(header + 1) : NULL;
    if (!text)
        return NULL;
    memcpy(text, bytes + *start, header);
    text[header] = '\0';
    *start += header;
    return text;
}

/* Returns where the data of an .npy file begins, or 0 if it is none, or not of this type. */
static size_t npy_data(const struct webnn_object_tensor *t, const char *bytes, size_t length)
{
    size_t start;
    char *text = npy_header(bytes, length, &start);

    if (!text)
        return 0;
    const char *descr = strstr(text, "'descr'"), *order = strstr(text, "'fortran_order': True");
    const char *found = descr ? strchr(descr + 7, '\'') : NULL;
    int same = found && !order &&
               (!strncmp(found + 1, types[t->type].npy, 3) || (t->type == WEBNN_OBJECT_UINT8 && !strncmp(found + 1, "|b1", 3)));
    free(text);
    return same ? start : 0;
}

/* Returns an .npy file's data, or a raw file's, of exactly the tensor's size.  Returns NULL after saying why. */
static void *read_tensor(const struct webnn_object_tensor *t, const char *path)
{
    size_t length, start = 0;
    char *bytes = read_file(path, &length), *data;

    if (!bytes) {
        fail("cannot read", path);
        return NULL;
    }
    const int foreign = length >= 6 && !memcmp(bytes, "\x93NUMPY", 6) && !(start = npy_data(t, bytes, length));
    if (foreign || length - start != t->bytes) {
        fprintf(stderr, "%s: ", object->prefix);
        print_name(stderr, path);
        if (foreign) {
            fprintf(stderr, " is not an array of %s in C order\n", types[t->type].name);
        } else {
            fprintf(stderr, " has %zu bytes of data, ", length - start);
            print_name(stderr, t->name);
            fprintf(stderr, " takes %llu\n", (unsigned long long)t->bytes);
        }
        free(bytes);
        return NULL;
    }
    data = malloc((size_t)t->bytes + 1);
    if (data)
        memcpy(data, bytes + start, (size_t)t->bytes);
    else
        fail("out of memory", NULL);
    free(bytes);
    return data;
}

static int write_npy(const struct tensor *t)
{
    char text[1024];
    FILE *f = fopen(t->file, "wbx");
    int created = f != NULL;
    int n = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (", types[t->type.type].npy);

    if (!f)
        f = fopen(t->file, "wb");
    if (!f)
        return fail("cannot write", t->file);
    for (uint32_t d = 0; d < t->type.rank; d++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%u,", (unsigned)t->type.shape[d]);
    n += snprintf(text + n, sizeof text - (size_t)n, "), }");
    while ((10 + n + 1) % 64)
        text[n++] = ' ';
    text[n++] = '\n';
    unsigned char head[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)n, (unsigned char)(n >> 8)};
    int ok = fwrite(head, 1, 10, f) == 10 && fwrite(text, 1, (size_t)n, f) == (size_t)n &&
             fwrite(t->data, 1, (size_t)t->type.bytes, f) == t->type.bytes;
    ok = fclose(f) == 0 && ok;
    if (!ok && created)
        remove(t->file);
    return ok ? 0 : fail("cannot write", t->file);
}

/* ---- looking at outputs ---- */

static void print_shape(const struct webnn_object_tensor *t)
{
    printf("%s[", types[t->type].name);
    for (uint32_t d = 0; d < t->rank; d++)
        printf(t->shape[d] ? "%s%u" : "%s?", d ? ", " : "", (unsigned)t->shape[d]);
    printf("]");
}

static void print_output(const struct tensor *t)
{
    size_t n = elements_of(&t->type), best = 0, bad = 0;
    double low = INFINITY, high = -INFINITY, sum = 0;

    for (size_t i = 0; i < n; i++) {
        double x = element(t, t->data, i);
        if (!isfinite(x)) {
            bad++;
            continue;
        }
        sum += x;
        low = x < low ? x : low;
        if (x > high) {
            high = x;
            best = i;
        }
    }
    print_name(stdout, t->type.name);
    printf(": ");
    print_shape(&t->type);
    printf(" min %.6g max %.6g (at %zu) mean %.6g", low, high, best, n > bad ? sum / (double)(n - bad) : NAN);
    if (bad)
        printf(" (%zu not finite)", bad);
    printf("\n ");
    for (size_t i = 0; i < n && i < FIRST_ELEMENTS; i++)
        printf(" %.8g", element(t, t->data, i));
    printf(n > FIRST_ELEMENTS ? " ...\n" : "\n");
}

/* Compares as webnn-run does: integers are equal unless a tolerance is given, and nothing is near infinity but itself. */
static int compare(const struct tensor *t)
{
    char *expected = read_tensor(&t->type, t->expected);
    size_t n = elements_of(&t->type), size = types[t->type.type].size, worst = 0, wrong = 0;
    int is_float = t->type.type == WEBNN_OBJECT_FLOAT32 || t->type.type == WEBNN_OBJECT_FLOAT16;
    int exact = !is_float && absolute < 0 && relative < 0;
    double atol = absolute >= 0 ? absolute : exact ? 0 : 1e-5, rtol = relative >= 0 ? relative : exact ? 0 : 1e-3, largest = 0;

    if (!expected)
        return 1;
    for (size_t i = 0; i < n; i++) {
        double a = element(t, t->data, i), b = element(t, expected, i), d = fabs(a - b);
        if (exact ? !memcmp((const char *)t->data + i * size, expected + i * size, size) : a == b || (isnan(a) && isnan(b)))
            continue;
        if (exact || !isfinite(b) || !(d <= atol + rtol * fabs(b)))
            wrong++;
        if (!(d <= largest)) {
            largest = d;
            worst = i;
        }
    }
    print_name(stdout, t->type.name);
    printf(": largest difference %.3g at %zu, %zu of %zu wrong (atol %g, rtol %g)\n", largest, worst, wrong, n, atol, rtol);
    free(expected);
    return wrong ? 1 : 0;
}

/* ---- sizes ---- */

/* Finds the shape of a tensor's array, if that is an .npy file. */
static void find_shape(struct tensor *t)
{
    static const char key[] = "'shape': (";
    size_t length, start;
    char *bytes = read_file(t->file, &length), *text = bytes ? npy_header(bytes, length, &start) : NULL;
    char *at = text ? strstr(text, key) : NULL;

    if (at) {
        at += strlen(key);
        for (t->found_rank = 0; t->found_rank < RANK_MAX && *at >= '0' && *at <= '9'; at += strspn(at, ", "))
            t->found[t->found_rank++] = (uint32_t)strtoul(at, &at, 10);
    }
    free(text);
    free(bytes);
}

static void print_sizes(FILE *out)
{
    for (uint32_t k = 0; k < size_count; k++) {
        fprintf(out, "  --dim ");
        print_name(out, sizes[k].name);
        fprintf(out, "=N: %u numbers from %u to %u\n", (unsigned)sizes[k].count, (unsigned)sizes[k].values[0],
                (unsigned)sizes[k].values[sizes[k].count - 1]);
    }
}

/* Returns whether sizes are those that options give, and arrays have their shapes. */
static int fits(const uint32_t *tried)
{
    for (uint32_t k = 0; k < size_count; k++)
        if (chosen[k] && chosen[k] != tried[k])
            return 0;
    for (struct tensor *t = tensors; t < outputs; t++) {
        model_shape(tried, (uint32_t)(t - tensors), t->shape);
        if (t->found_rank >= 0 &&
            ((uint32_t)t->found_rank != t->type.rank || memcmp(t->found, t->shape, t->type.rank * sizeof *t->shape) != 0))
            return 0;
    }
    return 1;
}

/* Chooses the sizes that fit, of all combinations, and finds what tensors are at these. */
static int choose_sizes(void)
{
    uint32_t *tried = calloc(2 * size_count + 1u, sizeof *tried), found = 0;
    uint64_t combinations = 1;

    if (!tried)
        return fail("out of memory", NULL);
    for (struct tensor *t = tensors; size_count && t < outputs; t++)
        if (t->file)
            find_shape(t);
    for (uint32_t k = 0; k < size_count; k++)
        combinations *= sizes[k].count;
    for (uint64_t i = 0; i < combinations && found < 2; i++) {
        uint64_t rest = i;
        for (uint32_t k = 0; k < size_count; rest /= sizes[k++].count)
            tried[k] = sizes[k].values[rest % sizes[k].count];
        if (fits(tried) && !found++)
            memcpy(tried + size_count, tried, size_count * sizeof *tried);
    }
    memcpy(chosen, tried + size_count, size_count * sizeof *tried);
    free(tried);
    if (found != 1) {
        fail(found ? "several sizes fit: give them by" : "it is not compiled for these sizes; it takes", NULL);
        print_sizes(stderr);
        return 1;
    }
    for (struct tensor *t = tensors; t < tensors + count; t++) {
        model_shape(chosen, (uint32_t)(t - tensors), t->shape);
        t->type.shape = t->shape;
        t->type.bytes = types[t->type.type].size;
        for (uint32_t d = 0; d < t->type.rank; d++)
            t->type.bytes *= t->shape[d];
    }
    return 0;
}

/* ---- running ---- */

static int start(const char *weights)
{
    struct webnn_object_options options = WEBNN_OBJECT_OPTIONS_INIT;

    options.weights = weights;
    if (object->flags & WEBNN_OBJECT_HAS_MODEL)
        return ((int (*)(const struct webnn_object_options *, void **))object->create)(&options, &model);
    if (weights && object->load_weights) {
        int status = ((int (*)(const char *))object->load_weights)(weights);
        if (status)
            return status;
    }
    workspace = malloc(((size_t (*)(uint32_t))object->workspace_size)(1));
    return workspace ? WEBNN_OBJECT_OK : WEBNN_OBJECT_NO_MEMORY;
}

static int run(void)
{
    return model_call(model, workspace, chosen, arguments, arguments + object->input_count);
}

static int explain(int status)
{
    return fail(webnn_object_status_text(status), NULL);
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int run_all(void)
{
    double *times = calloc(repeat, sizeof *times);

    if (!times)
        return fail("out of memory", NULL);
    for (unsigned i = 0; i < repeat; i++) {
        struct timespec before, after;
        timespec_get(&before, TIME_UTC);
        int status = run();
        timespec_get(&after, TIME_UTC);
        if (status) {
            free(times);
            return explain(status);
        }
        times[i] = (double)(after.tv_sec - before.tv_sec) * 1e3 + (double)(after.tv_nsec - before.tv_nsec) * 1e-6;
    }
    qsort(times, repeat, sizeof *times, compare_numbers);
    if (repeat > 1)
        printf("%u runs: median %.3f ms, smallest %.3f ms\n", repeat, times[repeat / 2], times[0]);
    free(times);
    return 0;
}

/* ---- the command line ---- */

static void usage(void)
{
    printf("usage: PROGRAM [--input NAME=FILE ...] [--output NAME=FILE.npy ...] [--compare NAME=FILE ...]\n"
           "               [--atol A] [--rtol R] [--repeat N] [--weights FILE] [--quiet]%s\n\n"
           "Runs %s, compiled by %s for %s.\n"
           "Files of inputs: .npy or raw elements; inputs that are not given are zeros.\n\n",
           size_count ? " [--dim NAME=N ...]" : "", object->prefix, object->producer, object->target);
    for (const struct tensor *t = tensors; t < tensors + count; t++) {
        printf(t < outputs ? "  input  " : "  output ");
        print_name(stdout, t->type.name);
        printf(" ");
        print_shape(&t->type);
        printf("\n");
    }
    if (size_count)
        printf("\nSizes, as far as the shapes of .npy files leave them open:\n");
    print_sizes(stdout);
}

/* Finds the tensor from `first` to `end` that NAME=FILE names, and stores the file, or with `expected` what to compare with. */
static int take(struct tensor *first, const struct tensor *end, const char *text, int expected)
{
    for (struct tensor *t = first; t < end; t++) {
        size_t n = strlen(t->type.name);
        if (!strncmp(t->type.name, text, n) && text[n] == '=' && text[n + 1]) {
            *(expected ? &t->expected : &t->file) = text + n + 1;
            return 0;
        }
    }
    return fail("no such tensor:", text);
}

static int number(const char *text, double *value)
{
    char *end;

    *value = strtod(text, &end);
    return end != text && !*end && *value >= 0 ? 0 : fail("not a number:", text);
}

/* Takes NAME=N for a size. */
static int take_size(const char *text)
{
    for (uint32_t k = 0; k < size_count; k++) {
        size_t n = strlen(sizes[k].name);
        char *end;
        if (strncmp(sizes[k].name, text, n) || text[n] != '=')
            continue;
        const unsigned long value = strtoul(text + n + 1, &end, 10);
        if (*end || !value || value > UINT32_MAX)
            return fail("a size is a whole number from 1 on:", text);
        chosen[k] = (uint32_t)value;
        return 0;
    }
    return fail("no such size:", text);
}

static int option(const char *name, const char *value, const char **weights)
{
    double times;

    if (!strcmp(name, "--dim"))
        return take_size(value);
    if (!strcmp(name, "--input"))
        return take(tensors, outputs, value, 0);
    if (!strcmp(name, "--output") || !strcmp(name, "--compare"))
        return take(outputs, tensors + count, value, name[2] == 'c');
    if (!strcmp(name, "--atol"))
        return number(value, &absolute);
    if (!strcmp(name, "--rtol"))
        return number(value, &relative);
    if (!strcmp(name, "--weights"))
        return !(*weights = value);
    if (!strcmp(name, "--repeat")) {
        if (number(value, &times) || times < 1 || times > 1e6)
            return fail("--repeat takes a number from 1 to 1000000", NULL);
        repeat = (unsigned)times;
        return 0;
    }
    return fail("no such option:", name);
}

static int prepare(void)
{
    for (uint32_t i = 0; i < count; i++) {
        struct tensor *t = &tensors[i];
        const int reads = t < outputs && t->file;
        arguments[i] = t->data = reads ? read_tensor(&t->type, t->file) : calloc(1, (size_t)t->type.bytes + 1);
        if (!t->data)
            return reads ? 1 : fail("out of memory", NULL);
    }
    return 0;
}

static int finish(void)
{
    int status = 0;

    for (const struct tensor *t = outputs; t < tensors + count; t++) {
        if (!quiet)
            print_output(t);
        if (t->file)
            status |= write_npy(t);
        if (t->expected)
            status |= compare(t);
    }
    return status;
}

int main(int argc, char **argv)
{
    const char *weights = NULL;
    int status;

    count = object->input_count + object->output_count;
    if (object->version == WEBNN_OBJECT_SIZES_VERSION) {
        sizes = ((const struct webnn_object_sizes *)object)->sizes;
        size_count = ((const struct webnn_object_sizes *)object)->size_count;
    }
    tensors = calloc(count + 1u, sizeof *tensors);
    arguments = calloc(count + 1u, sizeof *arguments);
    chosen = calloc(size_count + 1u, sizeof *chosen);
    if (!tensors || !arguments || !chosen)
        return fail("out of memory", NULL);
    outputs = tensors + object->input_count;
    for (uint32_t i = 0; i < count; i++) {
        tensors[i].type = i < object->input_count ? object->inputs[i] : object->outputs[i - object->input_count];
        tensors[i].found_rank = -1;
    }
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            usage();
            return 0;
        }
        if (!strcmp(argv[i], "--quiet")) {
            quiet = 1;
            continue;
        }
        if (i + 1 == argc) {
            fail("this option is unknown or needs a value; try --help:", argv[i]);
            return 2;
        }
        if (option(argv[i], argv[i + 1], &weights))
            return 2;
        i++;
    }
    if (choose_sizes() || prepare())
        return 1;
    if ((status = start(weights)) != 0)
        return explain(status);
    status = run_all() || finish();
    if (model)
        ((void (*)(void *))object->destroy)(model);
    free(workspace);
    return status;
}

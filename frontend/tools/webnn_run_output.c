/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Shows webnn-run's outputs: statistics, the largest elements with their labels, files. */
#include <math.h>
#include <stdlib.h>

#include "frontend/readers/files/element.h"
#include "frontend/readers/files/npz.h"
#include "frontend/readers/ports.h"
#include "frontend/tools/webnn_run.h"
#include "ir/support/suggest.h"

/* ---- labels ---- */

bool labels_read(const char *path, struct labels *l)
{
    struct error e = {0};
    size_t length, n = 0;

    *l = (struct labels){0};
    if (!path)
        return true;
    if (!file_read(path, &l->text, &length, &e))
        return complain("%s", e.message);
    for (size_t i = 0; i < length; i++)
        n += l->text[i] == '\n' || i + 1 == length;
    l->lines = malloc((n + 1) * sizeof *l->lines);
    if (!l->lines)
        return complain("out of memory");
    for (char *p = l->text; p < l->text + length; l->count++) {
        char *end = memchr(p, '\n', (size_t)(l->text + length - p));

        end = end ? end : l->text + length;
        l->lines[l->count] = p;
        if (end > p && end[-1] == '\r')
            end[-1] = '\0';
        *end = '\0'; /* file_read leaves room for one */
        p = end + 1;
    }
    return true;
}

void labels_free(struct labels *l)
{
    free(l->text);
    free(l->lines);
    *l = (struct labels){0};
}

/* ---- printing ---- */

bool result_print_whole(FILE *out, const struct npy_array *a, size_t i)
{
    const char *at = (const char *)a->data + i * wnnOperandDataTypeGetByteSize(a->dataType);
    int64_t whole;
    uint64_t positive;

    if (a->dataType == WNNOperandDataType_Int64) {
        memcpy(&whole, at, sizeof whole);
        fprintf(out, "%lld", (long long)whole);
    } else if (a->dataType == WNNOperandDataType_Uint64) {
        memcpy(&positive, at, sizeof positive);
        fprintf(out, "%llu", (unsigned long long)positive);
    }
    return a->dataType == WNNOperandDataType_Int64 || a->dataType == WNNOperandDataType_Uint64;
}

/** Prints a number as its data type has it: integers whole, floats with 6 digits. */
static void print_element(const struct npy_array *a, size_t i)
{
    if (!result_print_whole(stdout, a, i))
        printf(element_is_float(a->dataType) ? "%g" : "%.0f", element_get(a->dataType, a->data, i));
}

static void print_statistics(const struct npy_array *a)
{
    double low = INFINITY, high = -INFINITY, mean = 0, squares = 0;
    size_t count = npy_elements(a), numbers = 0, strange = 0;

    /* Welford's running mean and sum of squares need no difference of large numbers. */
    for (size_t i = 0; i < count; i++) {
        double x = element_get(a->dataType, a->data, i), delta = x - mean;

        if (!isfinite(x)) {
            strange++;
            continue;
        }
        numbers++;
        low = fmin(low, x);
        high = fmax(high, x);
        mean += delta / (double)numbers;
        squares += delta * (x - mean);
    }
    if (numbers)
        printf(": min %g, max %g, mean %g, std %g", low, high, mean, sqrt(squares / (double)numbers));
    if (strange)
        printf("%s %zu of %zu not finite", numbers ? "," : ":", strange, count);
    printf("\n");
}

static void print_first(const struct npy_array *a, uint64_t first)
{
    size_t count = npy_elements(a), n = first < count ? (size_t)first : count;

    if (!n)
        return;
    printf("  ");
    for (size_t i = 0; i < n; i++) {
        printf(i ? " " : "");
        print_element(a, i);
    }
    printf(n < count ? " ...\n" : "\n");
}

size_t result_top(const struct npy_array *a, size_t start, size_t length, uint64_t k, size_t *top)
{
    double last = INFINITY; /* the largest but those that were found, and where it is */
    size_t at = 0, found = 0;

    for (; found < k; found++) {
        size_t best = SIZE_MAX;
        double highest = 0;

        for (size_t i = 0; i < length; i++) {
            const double x = element_get(a->dataType, a->data, start + i);

            if (isnan(x) || (found && (x > last || (x == last && i <= at))) || (best != SIZE_MAX && x <= highest))
                continue;
            best = i;
            highest = x;
        }
        if (best == SIZE_MAX)
            break;
        last = highest;
        top[found] = at = best;
    }
    return found;
}

/** Prints the K largest of a row with their labels. */
static bool print_top_row(const struct npy_array *a, size_t start, size_t length, uint64_t k, const struct labels *l)
{
    size_t *top = malloc((size_t)k * sizeof *top);

    if (!top)
        return complain("out of memory");
    const size_t found = result_top(a, start, length, k, top);
    for (size_t i = 0; i < found; i++) {
        printf("  %6zu  ", top[i]);
        print_element(a, start + top[i]);
        if (top[i] < l->count)
            printf("  %s", NAME_SHOWN(l->lines[top[i]]));
        printf("\n");
    }
    free(top);
    return true;
}

static void print_top(const struct run_options *o, const struct labels *l, const struct npy_array *a)
{
    enum { ROWS_MAX = 16 };
    size_t count = npy_elements(a), length = a->rank ? a->shape[a->rank - 1] : 1;

    for (size_t row = 0; row < count / length; row++) {
        if (row == ROWS_MAX) {
            printf("  ... and %zu more rows\n", count / length - row);
            break;
        }
        if (count / length > 1)
            printf("  row %zu\n", row);
        if (!print_top_row(a, row * length, length, o->top, l))
            break;
    }
}

void labels_check(const struct run_options *o, struct labels *l, size_t count, const struct result *results)
{
    for (size_t i = 0; i < count; i++)
        if (labels_fit(l, &results[i]))
            return;
    if (o->top && count)
        complain("%s has %zu labels, and no output has rows of %zu: places without labels follow", PATH_SHOWN(o->labels),
                 l->count, l->count);
    l->count = 0;
}

void result_print(const struct run_options *o, const struct labels *l, const struct result *r)
{
    char type[256];
    bool fits = o->top && labels_fit(l, r);

    if (!o->quiet || fits)
        printf("output '%s' %s", NAME_SHOWN(r->name),
               describe_type(type, sizeof type, r->array.dataType, r->array.rank, r->array.shape));
    if (!o->quiet) {
        print_statistics(&r->array);
        print_first(&r->array, o->first);
    } else if (fits) {
        printf("\n");
    }
    if (fits)
        print_top(o, l, &r->array);
}

/* ---- what counts ---- */

/* Returns whether a result says how much of another one counts. */
static bool is_count(size_t count, const struct result *results, size_t i, WNNStringView *of, size_t *d)
{
    const struct npy_array *a = &results[i].array;

    if (a->rank || a->dataType != WNNOperandDataType_Int32 || !ports_is_count(WNN_STR(results[i].name), of, d))
        return false;
    for (size_t k = 0; k < count; k++)
        if (text_is(results[k].name, of->data, of->length) && *d < results[k].array.rank)
            return true;
    return false;
}

size_t results_cut(size_t count, const struct result *results, struct result *cut)
{
    WNNStringView of;
    size_t kept = 0, d;
    int32_t counts;

    for (size_t i = 0; i < count; i++)
        if (!is_count(count, results, i, &of, &d))
            cut[kept++] = results[i];
    for (size_t i = 0; i < count; i++) {
        if (!is_count(count, results, i, &of, &d))
            continue;
        memcpy(&counts, results[i].array.data, sizeof counts);
        for (size_t k = 0; k < kept; k++)
            if (text_is(cut[k].name, of.data, of.length))
                npy_cut(&cut[k].array, d, counts < 0 ? 0 : (size_t)counts);
    }
    return kept;
}

/* ---- saving ---- */

const struct result *result_find(size_t count, const struct result *results, const char *name, const char *option)
{
    struct suggestion meant = suggestion_for(name, strlen(name));

    for (size_t i = 0; i < count; i++) {
        if (!strcmp(results[i].name, name))
            return &results[i];
        suggestion_offer(&meant, results[i].name);
    }
    complain("%s: the model has no output '%s'%s", option, NAME_SHOWN(name), suggestion_list(&meant));
    return NULL;
}

static bool save_picture(const struct run_options *o, const struct result *r, const char *path)
{
    struct picture_form form = PICTURE_FORM_INIT;
    uint32_t channels, height, width;
    struct picture picture;
    struct error e = {0};
    char type[256];

    form.nhwc = o->form.nhwc;
    form.scale = 1 / o->output_scale; /* picture_from_floats divides by it */
    if (!picture_dims(form.nhwc, r->array.rank, r->array.shape, &channels, &height, &width))
        return complain("%s: %s is not a picture in layout %s", PATH_SHOWN(path),
                        describe_type(type, sizeof type, r->array.dataType, r->array.rank, r->array.shape),
                        form.nhwc ? "nhwc" : "nchw");
    form.grey = channels == 1;
    if (!picture_create(width, height, &picture, &e))
        return complain("%s: %s", PATH_SHOWN(path), e.message);
    float *floats = malloc(npy_elements(&r->array) * sizeof *floats);
    if (!floats) {
        picture_free(&picture);
        return complain("out of memory");
    }
    for (size_t i = 0; i < npy_elements(&r->array); i++)
        floats[i] = (float)element_get(r->array.dataType, r->array.data, i);
    picture_from_floats(floats, &form, &picture);
    bool ok = picture_write(path, &picture, &e) || complain("%s", e.message);
    free(floats);
    picture_free(&picture);
    return ok;
}

bool results_save_all(size_t count, const struct result *results, const char *path)
{
    struct npz_entry *entries = calloc(count + 1, sizeof *entries);
    struct error e = {0};

    if (!entries)
        return complain("out of memory");
    for (size_t i = 0; i < count; i++)
        entries[i] = (struct npz_entry){(char *)results[i].name, results[i].array};
    bool ok = npz_write(path, entries, count, &e) || complain("%s", e.message);
    free(entries);
    return ok;
}

bool results_save(const struct run_options *o, size_t count, const struct result *results)
{
    struct error e = {0};

    for (size_t i = 0; i < o->outputs.count; i++) {
        const struct argument_pair *pair = &o->outputs.items[i];
        const struct result *r = pair->name ? result_find(count, results, pair->name, "--output") : NULL;
        bool ok;

        if (pair->name && !r)
            return false;
        if (npz_is_path(pair->value))
            ok = results_save_all(r ? 1 : count, r ? r : results, pair->value);
        else if (!r)
            return complain("--output %s: which output?  Say NAME=FILE, or FILE.npz for all", PATH_SHOWN(pair->value));
        else if (file_has_ending(pair->value, ".npy"))
            ok = npy_write(pair->value, &r->array, &e) || complain("%s", e.message);
        else if (file_has_ending(pair->value, ".png"))
            ok = save_picture(o, r, pair->value);
        else
            ok = file_write(pair->value, r->array.data, r->array.byteLength, &e) || complain("%s", e.message);
        if (!ok)
            return false;
        if (!o->quiet)
            printf("wrote %s\n", escape_text((char[300]){0}, 300, pair->value, strlen(pair->value)));
    }
    return true;
}

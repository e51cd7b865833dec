/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads what other tools write for WebNN's spelling, where it has one meaning (docs/formats.md lists it): statements become
 * those that the specification has, before any method is called.
 */
#include <strings.h>

#include "frontend/readers/text/build.h"

/* ---- pieces ---- */

static struct document_argument *find_argument(const struct document_node *n, const char *key)
{
    struct document_argument *a = n->first_argument;

    while (a && !(a->key.text && document_is(&a->key, key)))
        a = a->next;
    return a;
}

static void remove_argument(struct document_node *n, const struct document_argument *gone)
{
    struct document_argument **at = &n->first_argument, *before = NULL;

    while (*at != gone) {
        before = *at;
        at = &before->next;
    }
    *at = gone->next;
    if (n->last_argument == gone)
        n->last_argument = before;
}

static void rename_argument(struct document_argument *a, const char *key)
{
    a->key.text = key;
    a->key.length = strlen(key);
}

/** Returns a statement's first operand, or NULL if it is not defined, which a later check says. */
static WNNOperand first_operand(const struct build *b, const struct document_node *n)
{
    const struct document_argument *a = find_argument(n, "input");

    if (!a && !(a = find_argument(n, "inputs")))
        a = n->first_argument;
    const struct document_value *v = a && a->value->kind == DOCUMENT_LIST ? a->value->first : a ? a->value : NULL;
    return v && document_is_text(v) ? name_map_find(&b->operands, v->text.text, v->text.length) : NULL;
}

/** Reads a list of whole numbers, as many as a shape has at most; those beyond any size are cut. */
static bool read_integers(struct build *b, const struct document_argument *a, size_t *count, int64_t values[DOCUMENT_RANK_MAX])
{
    char buf[80];

    *count = 0;
    for (const struct document_value *v = a->value->first; v; v = v->next) {
        WNNNumber number = v->number;
        double d = NAN;

        if (v->kind == DOCUMENT_NUMBER || (v->kind == DOCUMENT_STRING && document_number(&v->text, &number)))
            d = number_to_double(number);
        if (d != floor(d) || *count == DOCUMENT_RANK_MAX)
            return document_error(b->d, v->place, "%s: up to %d whole numbers expected", document_escape(buf, a->key),
                                  DOCUMENT_RANK_MAX);
        values[(*count)++] = (int64_t)fmax(fmin(d, 0x1p40), -0x1p40);
    }
    return a->value->kind == DOCUMENT_LIST ||
           document_error(b->d, a->value->place, "%s: a list of whole numbers expected", document_escape(buf, a->key));
}

/** Gives an argument a list of whole numbers. */
static bool set_integers(struct build *b, struct document_argument *a, const char *key, size_t count, const uint32_t *values)
{
    struct document_value *list = document_value(b->d, DOCUMENT_LIST, a->value->place), *last = NULL, *item;

    for (size_t i = 0; list && i < count; i++) {
        item = document_value(b->d, DOCUMENT_NUMBER, list->place);
        if (!item)
            return false;
        item->number = wnnNumberUint64(values[i]);
        document_append(list, &last, item);
    }
    rename_argument(a, key);
    a->value = list;
    return list;
}

/** Finds which of `rank` dimensions are named; negative axes count from the end.  Returns false if one is out of range or
 * twice. */
static bool find_axes(size_t count, const int64_t *axes, size_t rank, uint64_t *named)
{
    *named = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t axis = axes[i] < 0 ? axes[i] + (int64_t)rank : axes[i];

        if (axis < 0 || axis >= (int64_t)rank || *named >> axis & 1)
            return false;
        *named |= UINT64_C(1) << axis;
    }
    return true;
}

/* ---- statements ---- */

/** Makes slice(x, starts, ends, axes, steps) one with starts, sizes and strides of all dimensions. */
static bool rewrite_slice(struct build *b, struct document_node *n, WNNOperand input)
{
    enum { STARTS, ENDS, AXES, STEPS, LISTS };
    static const char *const keys[LISTS] = {"starts", "ends", "axes", "steps"};
    uint32_t starts[DOCUMENT_RANK_MAX], sizes[DOCUMENT_RANK_MAX], strides[DOCUMENT_RANK_MAX];
    const size_t rank = wnnOperandGetRank(input);
    const uint32_t *shape = wnnOperandGetShape(input);
    int64_t lists[LISTS][DOCUMENT_RANK_MAX];
    struct document_argument *a[LISTS];
    size_t counts[LISTS];
    uint64_t named;

    for (size_t i = 0; i < LISTS; i++) {
        a[i] = find_argument(n, keys[i]);
        if (!a[i])
            return document_error(b->d, n->op.place,
                                  "slice: %s is missing; WebNN has starts, sizes and strides, and ends is read together with "
                                  "starts, axes and steps only",
                                  keys[i]);
        if (!read_integers(b, a[i], &counts[i], lists[i]))
            return false;
        if (counts[i] != counts[STARTS])
            return document_error(b->d, a[i]->value->place, "slice: %s has %zu elements, starts has %zu", keys[i], counts[i],
                                  counts[STARTS]);
    }
    if (!find_axes(counts[AXES], lists[AXES], rank, &named))
        return document_error(b->d, a[AXES]->value->place, "slice: axes must name different dimensions of a rank of %zu", rank);
    for (size_t i = 0; i < rank; i++) {
        starts[i] = 0;
        sizes[i] = shape[i];
        strides[i] = 1;
    }
    for (size_t i = 0; i < counts[AXES]; i++) {
        size_t axis = (size_t)(lists[AXES][i] < 0 ? lists[AXES][i] + (int64_t)rank : lists[AXES][i]);
        int64_t size = shape[axis], step = lists[STEPS][i];
        int64_t start = lists[STARTS][i] < 0 ? lists[STARTS][i] + size : lists[STARTS][i];
        int64_t end = lists[ENDS][i] < 0 ? lists[ENDS][i] + size : lists[ENDS][i] < size ? lists[ENDS][i] : size;

        if (start < 0 || end <= start || step < 1 || step > UINT32_MAX)
            return document_error(
                b->d, n->op.place,
                "slice: from %lld to %lld by %lld of dimension %zu, which has size %lld: WebNN takes one element "
                "at least, forwards",
                (long long)lists[STARTS][i], (long long)lists[ENDS][i], (long long)step, axis, (long long)size);
        starts[axis] = (uint32_t)start;
        sizes[axis] = (uint32_t)(end - start);
        strides[axis] = (uint32_t)step;
    }
    remove_argument(n, a[AXES]);
    return set_integers(b, a[STARTS], "starts", rank, starts) && set_integers(b, a[ENDS], "sizes", rank, sizes) &&
           set_integers(b, a[STEPS], "strides", rank, strides);
}

/** Makes squeeze, unsqueeze or reshape with axes, which are dropped or added, a reshape with a shape. */
static bool rewrite_axes(struct build *b, struct document_node *n, WNNOperand input, struct document_argument *a)
{
    const size_t rank = wnnOperandGetRank(input);
    const uint32_t *shape = wnnOperandGetShape(input);
    uint32_t dims[2 * DOCUMENT_RANK_MAX];
    int64_t axes[DOCUMENT_RANK_MAX];
    size_t count, out = 0, from = 0;
    uint64_t dropped, added;
    bool can_drop, can_add;
    char buf[80];

    if (!read_integers(b, a, &count, axes))
        return false;
    can_drop = !document_is(&n->op, "unsqueeze") && find_axes(count, axes, rank, &dropped);
    for (size_t i = 0; can_drop && i < rank; i++)
        can_drop = !(dropped >> i & 1) || shape[i] == 1;
    can_add = !document_is(&n->op, "squeeze") && find_axes(count, axes, rank + count, &added);
    if (can_drop && can_add)
        return document_error(b->d, a->value->place, "reshape: axes may be those to drop or those to add: write newShape");
    if (!can_drop && !can_add)
        return document_error(b->d, a->value->place, "%s: axes must name different dimensions%s", document_escape(buf, n->op),
                              document_is(&n->op, "squeeze") ? " of size 1" : " of the result");
    for (size_t i = 0; i < rank + count && (can_add || i < rank); i++) {
        if (can_add && added >> i & 1)
            dims[out++] = 1;
        else if (can_add || !(dropped >> i & 1))
            dims[out++] = shape[can_add ? from++ : i];
    }
    n->op = (struct document_text){"reshape", strlen("reshape"), n->op.place};
    return set_integers(b, a, "newShape", out, dims);
}

bool dialect_statement(struct build *b, struct document_node *n)
{
    static const struct {
        const char *op, *written, *means;
    } names[] = {{"cast", "to", "dataType"}, {"cast", "type", "dataType"}, {"triangular", "k", "diagonal"}};
    const WNNOperand input = first_operand(b, n);
    struct document_argument *a;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (document_is(&n->op, names[i].op) && (a = find_argument(n, names[i].written)))
            rename_argument(a, names[i].means);
    if (document_is(&n->op, "slice") && find_argument(n, "ends") && input)
        return rewrite_slice(b, n, input);
    if (!document_is(&n->op, "squeeze") && !document_is(&n->op, "unsqueeze") && !document_is(&n->op, "reshape"))
        return true;
    a = find_argument(n, "axes");
    if (a && input && !find_argument(n, "newShape"))
        return rewrite_axes(b, n, input, a);
    return document_is(&n->op, "reshape") ||
           document_error(b->d, n->op.place,
                          a ? "the operand is not defined here; WebNN has reshape with newShape for this"
                            : "axes is missing; WebNN has reshape with newShape for this");
}

/* ---- places of operands ---- */

/** Returns the name of the operand that a number means if it is the place of an operand in the text, or NULL. */
static const struct document_text *operand_at(const struct build *b, WNNNumber number)
{
    double n = number_to_double(number);

    return n >= 0 && n < (double)b->defined && n == floor(n) ? b->order[(size_t)n] : NULL;
}

/** Writes the name that an operand of a number has if it has no own. */
static struct document_text operand_name(WNNNumber number, char buf[32])
{
    int length = snprintf(buf, 32, "operand_%.0f", number_to_double(number));

    return (struct document_text){buf, length < 32 ? (size_t)length : 0, NULL};
}

static bool same_text(const struct document_text *a, const struct document_text *b)
{
    return a->length == b->length && !memcmp(a->text, b->text, a->length);
}

/** Returns whether an option's value is the operand of that name, which stands at that place of its statement. */
static bool is_operand(const struct build *b, const struct document_value *v, size_t place, const struct document_text *name)
{
    char buf[32];

    if (document_is_text(v))
        return same_text(&v->text, name);
    if (v->kind != DOCUMENT_NUMBER)
        return false;
    const struct document_text *at = operand_at(b, v->number);
    struct document_text own = operand_name(v->number, buf);
    return (at && same_text(at, name)) || same_text(&own, name) || number_to_double(v->number) == (double)place;
}

void dialect_places(struct build *b, struct document_node *n, WNNMethodCall call, size_t *count, const char **names)
{
    static const char *const options[] = {"scale", "bias", "c"}; /* those that may follow the operands, in this order */
    size_t operands = 0, place = 0;

    while (operands < *count && wnnMethodCallArgumentKind(call, WNN_STR(names[operands]), NULL) == WNNMethodValueKind_Operand)
        operands++;
    for (struct document_argument *a = n->first_argument; a && !a->key.text && place < DOCUMENT_ARGUMENTS_MAX;
         a = a->next, place++) {
        if (place < operands || !document_is_text(a->value))
            continue;
        for (struct document_argument *o = a->next; o; o = o->next) {
            WNNStringView key = {o->key.text, o->key.length};

            if (o->key.text && is_operand(b, o->value, place, &a->value->text) &&
                wnnMethodCallArgumentKind(call, key, NULL) == WNNMethodValueKind_Operand) {
                o->value = a->value; /* a number may mean something else without its place */
                remove_argument(n, a);
                break;
            }
        }
    }
    if (*count > operands) /* numbers follow the operands */
        return;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        size_t k = 0;

        while (k < operands && strcmp(names[k], options[i]))
            k++;
        if (k == operands && wnnMethodCallArgumentKind(call, WNN_STR(options[i]), NULL) == WNNMethodValueKind_Operand)
            names[(*count)++] = options[i];
    }
}

/* ---- values ---- */

/** Makes a number that stands for an operand its name. */
static bool read_operand_number(struct build *b, struct document_value *v)
{
    const struct document_text *at = operand_at(b, v->number);
    char buf[32], shown[128];
    struct document_text own = operand_name(v->number, buf);
    bool has_own = name_map_find(&b->operands, own.text, own.length);

    if (!at && !has_own)
        return document_error(b->d, v->place, "there is no operand %.0f before this statement: write an operand's name",
                              number_to_double(v->number));
    if (at && has_own && !same_text(at, &own))
        return document_error(b->d, v->place, "%.0f may be '%s', or '%s' by its place: write the operand's name",
                              number_to_double(v->number), buf, document_escape(shown, *at));
    v->kind = DOCUMENT_NAME;
    v->text = (struct document_text){at ? at->text : arena_string(&b->d->arena, own.text, own.length),
                                     at ? at->length : own.length, v->place};
    return v->text.text || error_out_of_memory(&b->d->error);
}

/** Reads numbers in quotes, negative axes of a rank, and data types in capitals. */
static void adapt(struct document_value *v, WNNMethodValueKind kind, size_t rank)
{
    if (kind == WNNMethodValueKind_Number && v->kind == DOCUMENT_STRING && document_number(&v->text, &v->number))
        v->kind = DOCUMENT_NUMBER;
    if (v->kind == DOCUMENT_NUMBER && number_to_double(v->number) < 0 && number_to_double(v->number) >= -(double)rank)
        v->number = wnnNumber(number_to_double(v->number) + (double)rank);
    if (kind != WNNMethodValueKind_String || !document_is_text(v))
        return;
    for (dtype t = WNNOperandDataType_Float32; dtype_is_public(t); t++)
        if (v->text.length == strlen(dtype_name(t)) && !strncasecmp(v->text.text, dtype_name(t), v->text.length))
            v->text.text = dtype_name(t);
}

/** Returns whether an empty list is a value of the option's own rather than its absence. */
static bool may_be_empty(const struct document_node *n, const struct document_argument *a)
{
    return document_is(&a->key, "axes") && !document_is(&n->op, "resample2d");
}

bool dialect_value(struct build *b, const struct document_node *n, const struct document_argument *a, WNNMethodValueKind kind,
                   bool option)
{
    struct document_value *v = a->value;
    size_t rank = 0;

    if (kind == WNNMethodValueKind_Operand)
        return !option || v->kind != DOCUMENT_NUMBER || read_operand_number(b, v);
    if (document_is(&a->key, "label"))
        return true;
    if (option && ((kind == WNNMethodValueKind_String && document_is_text(v) && !v->text.length) ||
                   (v->kind == DOCUMENT_LIST && !v->count && !may_be_empty(n, a))))
        v->kind = DOCUMENT_NULL;
    if (document_is(&a->key, "axis") || document_is(&a->key, "axes")) {
        WNNOperand input = first_operand(b, n);
        rank = input ? wnnOperandGetRank(input) : 0;
    }
    if (v->kind != DOCUMENT_LIST)
        adapt(v, kind, rank);
    for (struct document_value *x = v->kind == DOCUMENT_LIST ? v->first : NULL; x; x = x->next)
        adapt(x, kind, rank);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Evaluates terms (term.h) while it reads them: they are short, and a node is imported once.
 *
 *     parameters: statement; statement; expression
 *
 * A parameter is an input of the node, by its place; one with a question mark may be absent.  A statement gives an expression a
 * name, declares an attribute, or is an expression.  Operators and functions build the graph where an operand is among what
 * they combine, and compute where all of it is numbers.
 */
#include "frontend/readers/onnx/term.h"

#include <math.h>

#include "ir/support/text.h"
#include "webnn/webnn_call.h"

enum { DEPTH_MAX = 40, WORD_MAX = 400 };

static struct term_item read_expression(struct term *t);

/* ---- names ---- */

static const struct term_item *find_name(const struct term *t, const char *name, size_t length)
{
    for (size_t i = t->frame->count; i-- > 0;)
        if (t->frame->names[i].length == length && !memcmp(t->frame->names[i].name, name, length))
            return &t->frame->names[i].item;
    return NULL;
}

static void bind(struct term *t, const char *name, size_t length, struct term_item item)
{
    struct term_item *old = (struct term_item *)find_name(t, name, length);

    if (old)
        *old = item;
    else if (t->frame->count == TERM_NAMES_MAX)
        term_fail(t, "too many names");
    else
        t->frame->names[t->frame->count++] = (struct term_binding){name, length, item};
}

/* ---- words ---- */

static void skip_spaces(struct term *t)
{
    while (*t->at == ' ' || *t->at == '\n')
        t->at++;
}

static bool take(struct term *t, const char *word)
{
    const size_t length = strlen(word);

    skip_spaces(t);
    if (strncmp(t->at, word, length) != 0)
        return false;
    t->at += length;
    return true;
}

static void need(struct term *t, const char *word)
{
    if (!take(t, word))
        term_fail(t, "something is missing");
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/** Takes a name, if one is there.  Returns its length, or 0. */
static size_t take_name(struct term *t, const char **name)
{
    size_t length = 0;

    skip_spaces(t);
    *name = t->at;
    if (is_letter(*t->at))
        while (is_letter(t->at[length]) || is_digit(t->at[length]))
            length++;
    t->at += length;
    return length;
}

/** Reads a decimal number whose digits a double holds, whatever the locale's decimal point is. */
static struct term_item read_number(struct term *t)
{
    double digits = 0;
    int exponent = 0, given = 0, sign = 1;

    for (bool fraction = false; is_digit(*t->at) || (*t->at == '.' && !fraction); t->at++) {
        if (*t->at == '.') {
            fraction = true;
            continue;
        }
        digits = 10 * digits + (*t->at - '0');
        exponent -= fraction;
    }
    if (*t->at == 'e') {
        t->at++;
        if (*t->at == '-') {
            sign = -1;
            t->at++;
        }
        while (is_digit(*t->at) && given < 1000)
            given = 10 * given + (*t->at++ - '0');
    }
    exponent += sign * given;
    return term_of_number(exponent < 0 ? digits / pow(10, -exponent) : digits * pow(10, exponent));
}

/* ---- calls ---- */

static struct term_item run(struct term *t);

/** Takes the parameters of a term, and returns how many there are.  Those of a node's term are its inputs. */
static size_t bind_parameters(struct term *t, const struct term_item *arguments, size_t given)
{
    const char *name;
    size_t count = 0, length;

    while ((length = take_name(t, &name))) {
        struct term_item item = {.count = count};

        if (arguments && count < given)
            item = arguments[count];
        else if (!arguments && t->n && onnx_input(t->n, count))
            item.kind = TERM_INPUT;
        if (t->n || !find_name(t, name, length))
            bind(t, name, length, item);
        else
            term_fail(t, "a parameter has the name of another");
        if (!take(t, "?") && !arguments && t->n && !item.kind)
            t->dead = !onnx_refuse(t->n, "input %zu, %.*s, is left out", count, (int)length, name);
        take(t, ",");
        count++;
    }
    need(t, ":");
    return count;
}

const struct term_function *term_functions(size_t *count)
{
    static const struct term_function functions[] = {
#define TERM(name, term) {name, term},
#include "frontend/readers/onnx/terms.def"
#include "frontend/readers/onnx/terms_language.def"
#undef TERM
    };

    *count = sizeof functions / sizeof *functions;
    return functions;
}

const char *term_find_function(const char *name, size_t length)
{
    size_t count;
    const struct term_function *functions = term_functions(&count);

    for (size_t i = 0; i < count; i++)
        if (text_is(functions[i].name, name, length))
            return functions[i].term;
    return NULL;
}

struct term_item term_call_function(struct term *t, const char *text, const struct term_call *c)
{
    struct term_frame frame = {.count = 0}, *outer = t->frame;
    const char *after = t->at;
    struct term_item result = {0};

    if (++t->depth > DEPTH_MAX)
        return term_fail(t, "functions call each other too deep");
    t->frame = &frame;
    t->at = text;
    if (bind_parameters(t, c->arguments, c->count) != c->count)
        term_fail(t, "the function has another number of parameters");
    else if (!term_skips(t))
        result = run(t);
    t->at = after;
    t->frame = outer;
    t->depth--;
    return result;
}

static bool all_numbers(const struct term_call *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->arguments[i].kind != TERM_NUMBER)
            return false;
    return true;
}

/** Computes functions of numbers that are methods of the builder, too, or mean the same.  Returns false for others. */
static bool compute(struct term *t, const struct term_call *c, struct term_item *result)
{
    static const struct {
        const char *name;
        double (*of_one)(double), (*of_two)(double, double);
    } known[] = {{"floor", floor, NULL}, {"ceil", ceil, NULL}, {"sqrt", sqrt, NULL}, {"log", log, NULL},
                 {"exp2", exp2, NULL},   {"abs", fabs, NULL},  {"min", NULL, fmin},  {"max", NULL, fmax}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (text_is(known[i].name, c->name.data, c->name.length) && c->count == (known[i].of_one ? 1 : 2)) {
            if (!t->n)
                return true;
            if (term_compute_sizes(t, c, known[i].name, result))
                return true;
            if (!all_numbers(c))
                break;
            *result = term_of_number(known[i].of_one ? known[i].of_one(c->arguments[0].number)
                                                     : known[i].of_two(c->arguments[0].number, c->arguments[1].number));
            return true;
        }
    return false;
}

static struct term_item finish_call(struct term *t, const struct term_call *c)
{
    const char *function = term_find_function(c->name.data, c->name.length);
    struct term_item result = {0};

    if (t->n && term_skips(t))
        return result;
    if (term_call_builtin(t, c->name.data, c->name.length, c->count, c->arguments, &result)) {
        t->dead = t->dead || (t->n && t->n->refused);
        return result;
    }
    if (function)
        return term_call_function(t, function, c);
    if (compute(t, c, &result))
        return result;
    return term_call_method(t, c);
}

/** Reads what stands in the parentheses of a call, and makes it.  An option is NAME=EXPRESSION. */
static struct term_item read_call(struct term *t, const char *name, size_t length)
{
    struct term_call c = {.name = {name, length}};

    while (!take(t, ")") && !t->wrong) {
        const char *start = t->at, *option;
        size_t option_length = take_name(t, &option);

        if (!option_length || !take(t, "=") || take(t, "=")) {
            option_length = 0;
            t->at = start;
        }
        if (c.count == TERM_ITEMS_MAX || c.option_count == TERM_ITEMS_MAX)
            return term_fail(t, "too many arguments");
        if (option_length) {
            c.option_names[c.option_count] = (WNNStringView){option, option_length};
            c.options[c.option_count++] = read_expression(t);
        } else {
            c.arguments[c.count++] = read_expression(t);
        }
        if (!take(t, ",") && *t->at != ')')
            return term_fail(t, "a parenthesis is missing");
    }
    return finish_call(t, &c);
}

/* ---- expressions ---- */

static struct term_item read_list(struct term *t)
{
    struct term_item items[TERM_ITEMS_MAX];
    size_t count = 0;

    while (!take(t, "]") && !t->wrong) {
        if (count == TERM_ITEMS_MAX)
            return term_fail(t, "too many items");
        items[count++] = read_expression(t);
        if (!take(t, ",") && *t->at != ']')
            return term_fail(t, "a bracket is missing");
    }
    return term_skips(t) ? (struct term_item){0} : term_list_of(t, count, items);
}

static struct term_item read_text(struct term *t)
{
    const char *end = strchr(t->at, '\'');
    struct term_item item = {.kind = TERM_TEXT, .text = t->at};

    if (!end)
        return term_fail(t, "a text does not end");
    item.count = (size_t)(end - t->at);
    t->at = end + 1;
    return item;
}

/** Returns what a name without parentheses is: bound by the term, or one of these. */
static struct term_item read_word(struct term *t, const char *name, size_t length)
{
    static const struct {
        const char *name;
        double number;
    } known[] = {{"inf", (double)INFINITY},           {"pi", 3.14159265358979323846},     {"f32", WNNOperandDataType_Float32},
                 {"f16", WNNOperandDataType_Float16}, {"i32", WNNOperandDataType_Int32},  {"i64", WNNOperandDataType_Int64},
                 {"u8", WNNOperandDataType_Uint8},    {"u32", WNNOperandDataType_Uint32}, {"u64", WNNOperandDataType_Uint64},
                 {"i8", WNNOperandDataType_Int8}};
    const struct term_item *bound = find_name(t, name, length);

    if (bound)
        return *bound;
    if (text_is("none", name, length))
        return (struct term_item){0};
    if (text_is("version", name, length))
        return term_of_number(t->n ? (double)t->n->version : 0);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (text_is(known[i].name, name, length))
            return term_of_number(known[i].number);
    return term_fail(t, "the name is not known");
}

static struct term_item read_primary(struct term *t)
{
    const char *name;
    size_t length = take_name(t, &name);
    struct term_item item;

    if (length)
        return take(t, "(") ? read_call(t, name, length) : read_word(t, name, length);
    if (take(t, "(")) {
        item = read_expression(t);
        need(t, ")");
        return item;
    }
    if (take(t, "["))
        return read_list(t);
    if (take(t, "'"))
        return read_text(t);
    return is_digit(*t->at) ? read_number(t) : term_fail(t, "an expression is missing");
}

/** Returns where an index is in a list; a negative one counts from the end. */
static size_t place_in(const struct term_item *list, struct term_item index)
{
    const double at = index.number + (index.number < 0 ? (double)list->count : 0);

    return at >= 0 && at < (double)list->count ? (size_t)at : list->count;
}

/** Reads LIST[INDEX], a size beyond the last being 1, and LIST[FROM:END], of which either may be left out. */
static struct term_item read_postfix(struct term *t)
{
    struct term_item list = read_primary(t);

    while (!t->wrong && take(t, "[")) {
        struct term_item from = term_of_number(0), end = term_of_number(INFINITY);
        bool slice = take(t, ":");

        if (!slice) {
            from = read_expression(t);
            slice = take(t, ":");
        }
        if (slice && !take(t, "]")) {
            end = read_expression(t);
            need(t, "]");
        } else if (!slice) {
            need(t, "]");
        }
        if (term_skips(t))
            continue;
        if (list.kind != TERM_LIST)
            return term_fail(t, "no list");
        if (from.kind == TERM_SIZE || end.kind == TERM_SIZE)
            return term_refuse_size(t);
        const size_t first = place_in(&list, from), last = place_in(&list, end);

        if (slice)
            list = (struct term_item){.kind = TERM_LIST, .count = last > first ? last - first : 0, .items = list.items + first};
        else
            list = first < list.count ? list.items[first] : term_of_number(1);
    }
    return list;
}

static struct term_item read_unary(struct term *t)
{
    const char *start = t->at;
    struct term_item x;

    if (take(t, "!") && *t->at != '=') {
        x = read_unary(t);
        if (term_skips(t))
            return x;
        return term_is_operand(&x)
                   ? term_call_method(t, &(struct term_call){.name = WNN_STR("logicalNot"), .count = 1, .arguments = {x}})
                   : term_of_number(x.kind == TERM_NONE || !term_is_true(t, &x));
    }
    t->at = start;
    if (take(t, "-")) {
        x = read_unary(t);
        if (term_skips(t))
            return x;
        return term_is_operand(&x)
                   ? term_call_method(t, &(struct term_call){.name = WNN_STR("neg"), .count = 1, .arguments = {x}})
               : x.kind == TERM_SIZE ? term_combine_sizes(t, '-', false, &(struct term_item){.kind = TERM_NUMBER}, &x)
                                     : term_of_number(-x.number);
    }
    return read_postfix(t);
}

/** Describes an operator of two operands. */
struct infix {
    const char *word, *method;
    unsigned level; /* how tightly it binds */
};

static const struct infix infixes[] = {
    {"||", "logicalOr", 0},
    {"&&", "logicalAnd", 1},
    {"==", "equal", 2},
    {"!=", "notEqual", 2},
    {"<=", "lesserOrEqual", 2},
    {">=", "greaterOrEqual", 2},
    {"<", "lesser", 2},
    {">", "greater", 2},
    {"+", "add", 3},
    {"-", "sub", 3},
    {"*", "mul", 4},
    {"/", "div", 4},
    {"%", "", 4},
};

static bool same(struct term *t, const struct term_item *a, const struct term_item *b)
{
    char words[2][WORD_MAX];

    if (term_are_sizes(a, b))
        return term_same_size(t, a, b);
    if (a->kind != b->kind)
        return false;
    if (a->kind == TERM_TEXT) {
        snprintf(words[0], WORD_MAX, "%.*s", (int)a->count, a->text);
        snprintf(words[1], WORD_MAX, "%.*s", (int)b->count, b->text);
        return !strcmp(words[0], words[1]);
    }
    for (size_t i = 0; a->kind == TERM_LIST && i < a->count && a->count == b->count; i++)
        if (!same(t, &a->items[i], &b->items[i]))
            return false;
    return a->kind == TERM_LIST ? a->count == b->count : a->number == b->number;
}

static double combine(char first, bool equal, double a, double b)
{
    switch (first) {
    case '<':
        return equal ? a <= b : a < b;
    case '>':
        return equal ? a >= b : a > b;
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    case '/':
        return a / b;
    case '%':
        return fmod(a, b);
    case '&':
        return a != 0 && b != 0;
    default:
        return a != 0 || b != 0;
    }
}

static struct term_item apply(struct term *t, const struct infix *infix, struct term_item a, struct term_item b)
{
    struct term_item items[2 * TERM_ITEMS_MAX];
    size_t count = 0;

    if (term_skips(t))
        return (struct term_item){0};
    if (term_is_operand(&a) || term_is_operand(&b))
        return term_call_method(t, &(struct term_call){.name = WNN_STR(infix->method), .count = 2, .arguments = {a, b}});
    if (*infix->word == '=' || *infix->word == '!')
        return term_of_number(same(t, &a, &b) == (*infix->word == '='));
    if (term_are_sizes(&a, &b))
        return term_combine_sizes(t, *infix->word, infix->word[1] == '=', &a, &b);
    if (a.kind == TERM_LIST && b.kind == TERM_LIST) {
        for (size_t i = 0; i < a.count + b.count && count < TERM_ITEMS_MAX; i++)
            items[count++] = i < a.count ? a.items[i] : b.items[i - a.count];
        return term_list_of(t, count, items);
    }
    return term_of_number(combine(*infix->word, infix->word[1] == '=', a.number, b.number));
}

static const struct infix *take_infix(struct term *t, unsigned level)
{
    for (size_t i = 0; i < sizeof infixes / sizeof *infixes; i++)
        if (infixes[i].level == level && take(t, infixes[i].word))
            return &infixes[i];
    return NULL;
}

static struct term_item read_infix(struct term *t, unsigned level)
{
    enum { TIGHTEST = 4 };
    struct term_item a = level > TIGHTEST ? read_unary(t) : read_infix(t, level + 1), b;
    const struct infix *infix;

    while (level <= TIGHTEST && !t->wrong && (infix = take_infix(t, level))) {
        /* Numbers that decide leave the rest out. */
        const bool decides = level < 2 && !term_is_operand(&a) && !term_skips(t) && term_is_true(t, &a) == (level == 0);

        t->skips += decides;
        b = read_infix(t, level + 1);
        t->skips -= decides;
        a = decides ? term_of_number(level == 0) : apply(t, infix, a, b);
    }
    return a;
}

/** Reads CONDITION ? A : B: a choice by a number, or where() of an operand. */
static struct term_item read_expression(struct term *t)
{
    struct term_item c = read_infix(t, 0), a, b;

    if (t->wrong || !take(t, "?"))
        return c;
    const bool chooses = !term_is_operand(&c) && !term_skips(t), first = term_is_true(t, &c);

    t->skips += chooses && !first;
    a = read_expression(t);
    t->skips -= chooses && !first;
    need(t, ":");
    t->skips += chooses && first;
    b = read_expression(t);
    t->skips -= chooses && first;
    if (chooses)
        return first ? a : b;
    return term_skips(t)
               ? a
               : term_call_method(t, &(struct term_call){.name = WNN_STR("where"), .count = 3, .arguments = {c, a, b}});
}

/* ---- statements ---- */

static struct term_item read_attribute(struct term *t, const char *kind, const char *name, struct term_item fallback)
{
    struct term_item item = {.kind = TERM_LIST};

    if (term_skips(t))
        return item;
    if (!strcmp(kind, "int"))
        return term_of_number((double)onnx_int(t->n, name, term_integer(&fallback)));
    if (!strcmp(kind, "float"))
        return term_of_number(onnx_float(t->n, name, fallback.number));
    if (!strcmp(kind, "text")) {
        item = (struct term_item){.kind = TERM_TEXT, .text = onnx_string(t->n, name, NULL)};
        item.count = item.text ? strlen(item.text) : 0;
        return item.text ? item : fallback;
    }
    const int64_t *list = onnx_ints(t->n, name, &item.count);
    struct term_item *items = list ? onnx_alloc(t->n, item.count + 1, sizeof *items) : NULL;
    for (size_t i = 0; items && i < item.count; i++)
        items[i] = term_of_number((double)list[i]);
    item.items = items;
    return items ? item : fallback;
}

/** Reads `KIND NAME = FALLBACK` or `ignore NAME`, if the statement is one of those. */
static bool declare(struct term *t)
{
    static const char *const kinds[] = {"int", "float", "text", "ints", "ignore"};
    const char *start = t->at, *kind, *name;
    size_t kind_length = take_name(t, &kind), length = 0, k = 0;
    struct term_item item = {0};
    char word[WORD_MAX];

    while (k < sizeof kinds / sizeof *kinds && !text_is(kinds[k], kind, kind_length))
        k++;
    if (k < sizeof kinds / sizeof *kinds)
        length = take_name(t, &name);
    if (!length) {
        t->at = start;
        return false;
    }
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    if (!strcmp(kinds[k], "ignore")) {
        if (!term_skips(t))
            onnx_ignore(t->n, word);
        return true;
    }
    if (take(t, "="))
        item = read_expression(t);
    item = read_attribute(t, kinds[k], word, item);
    t->dead = t->dead || (t->n && t->n->refused);
    bind(t, name, length, item);
    return true;
}

/** Reads `output(I, EXPRESSION)`, which is evaluated if the model names output I. */
static bool read_output(struct term *t)
{
    const char *start = t->at;
    struct term_item index, x;

    if (!take(t, "output(")) {
        t->at = start;
        return false;
    }
    index = read_expression(t);
    need(t, ",");
    const bool wanted = !term_skips(t) && onnx_wants(t->n, (size_t)index.number);

    t->skips += !wanted;
    x = read_expression(t);
    t->skips -= !wanted;
    need(t, ")");
    if (wanted && !t->dead)
        onnx_output(t->n, (size_t)index.number, term_operand(t, &x, NULL));
    return true;
}

/** Evaluates statements, and returns what the last one is. */
static struct term_item run(struct term *t)
{
    struct term_item x = {0};

    while (!t->wrong) {
        const char *start, *name;
        size_t length;

        skip_spaces(t);
        start = t->at;
        if (!declare(t) && !read_output(t)) {
            length = take_name(t, &name);
            if (length && take(t, "=") && *t->at != '=') {
                x = read_expression(t);
                bind(t, name, length, x);
            } else {
                t->at = start;
                x = read_expression(t);
            }
        }
        if (!take(t, ";"))
            break;
    }
    skip_spaces(t);
    if (*t->at)
        term_fail(t, "it does not end");
    return x;
}

bool onnx_import_term(struct onnx_node *n)
{
    struct term_frame frame = {.count = 0};
    struct term t = {.n = n, .text = n->row->term, .at = n->row->term, .frame = &frame};

    bind_parameters(&t, NULL, 0);
    struct term_item x = run(&t);
    if (t.dead || n->refused)
        return false;
    if (x.kind == TERM_INPUT && !x.type)
        return onnx_output_value(n, 0, n->inputs[x.count]);
    return x.type ? onnx_output_as(n, 0, x.operand, x.type) : onnx_output(n, 0, x.operand);
}

WNNOperand onnx_term_of(struct onnx_node *n, const char *term, WNNOperand x, size_t count, const double *numbers)
{
    struct term_item items[TERM_ITEMS_MAX] = {{.kind = TERM_OPERAND, .operand = x}};
    struct term_frame frame = {.count = 0};
    struct term t = {.n = n, .text = term, .at = term, .frame = &frame};

    if (n->refused || wnnOperandIsError(x))
        return onnx_error_operand(n);
    for (size_t i = 0; i < count; i++)
        items[1 + i] = term_of_number(numbers[i]);
    bind_parameters(&t, items, 1 + count);
    items[0] = run(&t);
    return t.dead ? onnx_error_operand(n) : items[0].operand;
}

const char *onnx_term_check(const char *term, const char **at)
{
    struct term_frame frame = {.count = 0};
    struct term t = {.text = term, .at = term, .frame = &frame};

    bind_parameters(&t, NULL, 0);
    run(&t);
    *at = t.at;
    return t.wrong;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/kernel_text.h"

#include "ir/kernel/kernel_internal.h"
#include "support/words.h"

enum { NAMES_MAX = 8192, GUARDS_MAX = 16 };

struct named {
    char name[NAME_MAX];
    enum { IS_FORM, IS_TENSOR, IS_EXPR } kind;
    uint32_t id; /* tensor or expression; KERNEL_TENSORS_MAX + that of a local tensor */
    struct kaffine form;
};

struct parser {
    struct words w;
    struct kernel *k;
    uint32_t name_count, waiting_count;
    struct named names[NAMES_MAX];
    struct {
        char name[NAME_MAX];
        uint32_t var;
    } waiting[KERNEL_VARS_MAX];        /* variables whose expressions follow */
    int64_t reach[KERNEL_TENSORS_MAX]; /* of tensors without a size: one more than the last address */
};

/* ---- names ---- */

static struct named *find(struct parser *p, const char *name)
{
    for (uint32_t i = p->name_count; i-- > 0;)
        if (!strcmp(p->names[i].name, name))
            return &p->names[i];
    return NULL;
}

static const struct named *need_name(struct parser *p, int kind)
{
    char word[NAME_MAX];
    const struct named *n = find(p, take_word(&p->w, word));

    if (!n || (int)n->kind != kind)
        wrong(&p->w, kind == IS_FORM ? "there is no variable" : "there is no tensor", word);
    return n;
}

static void name_it(struct parser *p, const char *name, int kind, uint32_t id, struct kaffine form)
{
    if (find(p, name) || !*name || p->name_count == NAMES_MAX)
        wrong(&p->w, "this is no new name:", name);
    struct named *n = &p->names[p->name_count++];
    strcpy(n->name, name);
    n->kind = kind;
    n->id = id;
    n->form = form;
}

/* ---- forms ---- */

static struct kaffine parse_form(struct parser *p);

static struct kaffine parse_factor(struct parser *p)
{
    struct kaffine form;
    char *end;

    if (take(&p->w, "-"))
        return kaffine_scale(p->k, parse_factor(p), -1);
    if (take(&p->w, "(")) {
        form = parse_form(p);
        need(&p->w, ")");
        return form;
    }
    if (!isdigit((unsigned char)*p->w.at))
        return need_name(p, IS_FORM)->form;
    form = kaffine_const(strtoll(p->w.at, &end, 0));
    p->w.at = end;
    return form;
}

static int64_t need_number(struct parser *p, struct kaffine form, int64_t least)
{
    if (form.count || form.offset < least)
        wrong(&p->w, "this is no number that is large enough", "");
    return form.offset;
}

static struct kaffine parse_product(struct parser *p)
{
    struct kaffine a = parse_factor(p);

    while (true) {
        int64_t divide = 1, modulo = 0;
        if (take(&p->w, "*")) {
            const struct kaffine b = parse_factor(p);
            a = b.count ? kaffine_scale(p->k, b, need_number(p, a, INT64_MIN)) : kaffine_scale(p->k, a, b.offset);
            continue;
        }
        const bool divided = take(&p->w, "/");
        if (divided)
            divide = need_number(p, parse_factor(p), 1);
        if (take(&p->w, "%"))
            modulo = need_number(p, parse_factor(p), 0);
        else if (!divided)
            return a;
        if (a.count)
            a = kernel_divmod(p->k, a, divide, modulo);
        else
            a.offset = modulo ? a.offset / divide % modulo : a.offset / divide;
    }
}

static struct kaffine parse_form(struct parser *p)
{
    struct kaffine form = parse_product(p);

    while (true) {
        const bool minus = take(&p->w, "-");
        if (!minus && !take(&p->w, "+"))
            return form;
        form = kaffine_add(p->k, form, kaffine_scale(p->k, parse_product(p), minus ? -1 : 1));
    }
}

static int64_t parse_size(struct parser *p)
{
    return need_number(p, parse_form(p), 1);
}

/* Reads "[FORM]". */
static struct kaffine parse_address(struct parser *p)
{
    need(&p->w, "[");
    const struct kaffine form = parse_form(p);
    need(&p->w, "]");
    return form;
}

/* Reads guards, which lie in the kernel's arena. */
static uint32_t parse_guards(struct parser *p, const struct kguard **guards)
{
    struct kguard *to = arena_array(&p->k->arena, GUARDS_MAX, sizeof *to);
    uint32_t n = 0;

    assert_non_null(to);
    for (*guards = to; n < GUARDS_MAX && take(&p->w, "if"); n++) {
        need(&p->w, "0");
        need(&p->w, "<=");
        to[n].form = parse_form(p);
        need(&p->w, "<");
        to[n].bound = parse_size(p);
    }
    return n;
}

/* ---- expressions ---- */

static bool find_type(const char *word, enum ktype *type)
{
    const dtype t = dtype_parse(word, strlen(word));

    *type = !strcmp(word, "bool") ? KT_BOOL : t ? ktype_of(t) : KT_F32;
    return t || *type == KT_BOOL;
}

static bool number_is_next(struct parser *p)
{
    return isdigit((unsigned char)next(&p->w)) || *p->w.at == '-' || !strncmp(p->w.at, "nan", 3) || !strncmp(p->w.at, "inf", 3);
}

static union scalar parse_number(struct parser *p, enum ktype type)
{
    union scalar s = {.u64 = 0};
    char *end;

    if (!number_is_next(p))
        wrong(&p->w, "there is no number", "");
    if (type == KT_F64)
        s.f64 = strtod(p->w.at, &end);
    else if (type == KT_F32)
        s.f32 = strtof(p->w.at, &end);
    else
        s.u64 = *p->w.at == '-' ? (uint64_t)strtoll(p->w.at, &end, 0) : strtoull(p->w.at, &end, 0);
    p->w.at = end;
    return s;
}

static uint32_t parse_load(struct parser *p, const struct named *tensor)
{
    const struct kaffine address = parse_address(p);
    const struct kguard *guards;
    const uint32_t n = parse_guards(p, &guards);
    union scalar fill = {.u64 = 0};

    if (n && take(&p->w, "else"))
        fill = parse_number(p, ktype_of(p->k->tensors[tensor->id].type));
    return kernel_load(p->k, tensor->id, address, n, guards, fill);
}

static uint32_t parse_value(struct parser *p);

/* Reads what follows an operation: operands in brackets with commas, or without both.  The type is that of the result. */
static uint32_t parse_operation(struct parser *p, const char *word, enum ktype type)
{
    const char *dot = strchr(word, '.') ? strchr(word, '.') + 1 : "";
    const size_t length = strcspn(word, ".");
    uint32_t args[3] = {KEXPR_NONE, KEXPR_NONE, KEXPR_NONE};
    enum kreduce reduce = 0;
    enum kop op = 0;

    while (op < K_OP_COUNT && (strlen(kop_name(op)) != length || strncmp(kop_name(op), word, length)))
        op++;
    while (op == K_REDUCE && reduce < KR_COUNT_ && strcmp(kreduce_name(reduce), dot))
        reduce++;
    if (op == K_OP_COUNT || reduce == KR_COUNT_ || (op == K_BITCAST && *dot && !find_type(dot, &type)))
        wrong(&p->w, "there is no operation", word);
    if (op == K_LOAD)
        return parse_load(p, need_name(p, IS_TENSOR));
    if (op == K_CONST)
        return kernel_const(p->k, type, parse_number(p, type));
    if (op == K_INDEX) {
        const struct kaffine form = parse_form(p);
        return form.count ? kernel_index(p->k, form) : kernel_size(p->k, form.offset);
    }
    const uint32_t count = op == K_REDUCE && reduce == KR_DOT ? 2 : kop_arity(op);
    const bool brackets = take(&p->w, "(");
    for (uint32_t i = 0; i < count; i++) {
        if (i && brackets)
            need(&p->w, ",");
        args[i] = parse_value(p);
    }
    if (brackets)
        need(&p->w, ")");
    return op == K_REDUCE && reduce == KR_DOT ? kernel_dot(p->k, args[0], args[1])
           : op == K_REDUCE                   ? kernel_reduce(p->k, reduce, args[0])
           : op == K_SCAN                     ? kernel_scan(p->k, args[0], !strcmp(dot, "exclusive"))
           : op == K_CAST                     ? kernel_cast(p->k, type, args[0])
           : op == K_BITCAST                  ? kernel_bitcast(p->k, type, args[0])
           : count == 1                       ? kernel_op1(p->k, op, args[0])
           : count == 2                       ? kernel_op2(p->k, op, args[0], args[1])
                                              : kernel_op3(p->k, op, args[0], args[1], args[2]);
}

static uint32_t parse_value(struct parser *p)
{
    char word[NAME_MAX];
    enum ktype type;
    uint32_t value;

    if (take(&p->w, "(")) {
        value = parse_value(p);
        need(&p->w, ")");
        return value;
    }
    if (number_is_next(p))
        return kernel_const(p->k, KT_F32, parse_number(p, KT_F32));
    const struct named *n = find(p, take_word(&p->w, word));
    if (n && n->kind != IS_FORM)
        return n->kind == IS_EXPR ? n->id : parse_load(p, n);
    if (!find_type(word, &type))
        return parse_operation(p, word, KT_F32);
    need(&p->w, "(");
    value = number_is_next(p) ? kernel_const(p->k, type, parse_number(p, type)) : kernel_cast(p->k, type, parse_value(p));
    need(&p->w, ")");
    return value;
}

/* ---- statements ---- */

static void parse_loop(struct parser *p, const char *name, enum kvar_kind kind)
{
    char tensor[NAME_MAX];
    uint32_t var;

    need(&p->w, "<");
    const int64_t size = parse_size(p);
    if (take(&p->w, "bounded")) {
        need(&p->w, "by"); /* the tensor follows, and has its own name */
        var = kernel_bounded_var(p->k, kind, size, (uint32_t)strtoul(take_word(&p->w, tensor) + 1, NULL, 10));
    } else {
        var = kernel_var(p->k, kind, size);
    }
    name_it(p, name, IS_FORM, 0, kaffine_var(p->k, var));
}

/* Reads "= EXPRESSION < SIZE".  Printed kernels have variables before expressions, whose names are not known yet. */
static void parse_loaded(struct parser *p, const char *name)
{
    char word[NAME_MAX];

    need(&p->w, "=");
    next(&p->w);
    const char *at = p->w.at;
    const bool later = *take_word(&p->w, word) && take(&p->w, "<") && !find(p, word);
    p->w.at = at;
    const uint32_t expr = later ? (take_word(&p->w, word), KEXPR_NONE) : parse_value(p);
    need(&p->w, "<");
    const int64_t size = parse_size(p);
    if (!later) {
        name_it(p, name, IS_FORM, 0, kernel_loaded_var(p->k, expr, size));
        return;
    }
    const uint32_t var = kernel_append_var(p->k, &(struct kvar){.kind = KVAR_LOADED, .size = size, .expr = KEXPR_NONE});
    strcpy(p->waiting[p->waiting_count].name, word);
    p->waiting[p->waiting_count++].var = var;
    name_it(p, name, IS_FORM, 0, kaffine_var(p->k, var));
}

/* Reads ": TYPE[ELEMENTS]" and what follows it. */
static void parse_tensor(struct parser *p, const char *name, bool local)
{
    char word[NAME_MAX];

    need(&p->w, ":");
    take_word(&p->w, word);
    const dtype type = dtype_parse(word, strlen(word));
    if (!type)
        wrong(&p->w, "there is no type", word);
    need(&p->w, "[");
    const int64_t elements = take(&p->w, "]") ? 0 : parse_size(p);
    if (elements)
        need(&p->w, "]");
    const uint32_t id = local ? kernel_local(p->k, type, elements) : kernel_tensor(p->k, type, elements, false, NULL);
    name_it(p, name, IS_TENSOR, local ? KERNEL_TENSORS_MAX + id : id, kaffine_const(0));
    if (local && take(&p->w, "at"))
        parse_form(p);
    if (local)
        return;
    p->k->tensors[id].unaligned = take(&p->w, "unaligned");
    p->k->tensors[id].pairs_fit = take(&p->w, "pairs_fit");
    p->k->tensors[id].magnitude = take(&p->w, "magnitude") ? (uint8_t)parse_size(p) : 0;
    p->k->tensors[id].written = take(&p->w, "written");
}

static void parse_store(struct parser *p, const struct named *tensor)
{
    const struct kaffine address = parse_address(p);
    const struct kguard *guards;

    need(&p->w, "=");
    const uint32_t value = parse_value(p), count = parse_guards(p, &guards);
    kernel_store(p->k, tensor->id, address, value, count, guards);
}

static struct kernel *parse_kernel(const char *start, const char **at, bool in_braces);

/* Reads a stage's number, its tensors, its condition, and its kernel. */
static void parse_stage(struct parser *p)
{
    uint32_t tensors[KERNEL_TENSORS_MAX], count = 0;
    struct kstage how = {0};
    const struct named *n;
    char word[NAME_MAX];

    parse_form(p);
    need(&p->w, "macro-tile");
    const uint32_t macro_tile_vars = (uint32_t)parse_size(p);
    while (count < KERNEL_TENSORS_MAX && strcmp(take_word(&p->w, word), "kernel")) {
        if ((n = find(p, word))) {
            tensors[count++] = n->id;
        } else if (!strcmp(word, "if")) {
            how.when = take(&p->w, "not") ? KSTAGE_NOT_BELOW : KSTAGE_BELOW;
            how.predicate = need_name(p, IS_TENSOR)->id - KERNEL_TENSORS_MAX;
            need(&p->w, "<");
            how.limit = parse_number(p, KT_F32).f32;
        } else if (strcmp(word, "at") || !take(&p->w, "intervals")) {
            wrong(&p->w, "there is no tensor", word);
        }
    }
    struct kernel *own = parse_kernel(p->w.start, &p->w.at, true);
    own->macro_tile_vars = macro_tile_vars;
    own->rare = how.when == KSTAGE_NOT_BELOW;
    struct kstage *stage = kernel_stage(p->k, own, tensors);
    if (!stage)
        wrong(&p->w, "this is no stage:", p->k->error.message);
    stage->when = how.when;
    stage->predicate = how.predicate;
    stage->limit = how.limit;
}

static void parse_statement(struct parser *p, const char *word)
{
    static const char *const kinds[] = {"parallel", "reduced", "divmod", "loaded", "tensor", "store", "form"};
    enum { TENSOR = KVAR_LOADED + 1, STORE, FORM, KINDS };
    char name[NAME_MAX];
    enum ktype type;
    int kind = 0;

    while (kind < KINDS && strcmp(word, kinds[kind]))
        kind++;
    if (!strcmp(word, "stage")) {
        parse_stage(p);
    } else if (!strncmp(word, "local", 5) && isdigit((unsigned char)word[5])) {
        parse_tensor(p, word, true);
    } else if (kind < KINDS) {
        do {
            if (kind == STORE) {
                parse_store(p, need_name(p, IS_TENSOR));
                continue;
            }
            take_word(&p->w, name);
            if (kind == TENSOR) {
                parse_tensor(p, name, false);
            } else if (kind == KVAR_LOADED) {
                parse_loaded(p, name);
            } else if (kind == KVAR_DIVMOD || kind == FORM) {
                need(&p->w, "=");
                name_it(p, name, IS_FORM, 0, parse_form(p));
            } else {
                parse_loop(p, name, (enum kvar_kind)kind);
            }
        } while (take(&p->w, ","));
    } else if (take(&p->w, ":")) {
        if (!find_type(take_word(&p->w, name), &type))
            wrong(&p->w, "there is no type", name);
        need(&p->w, "=");
        name_it(p, word, IS_EXPR, parse_operation(p, take_word(&p->w, name), type), kaffine_const(0));
    } else {
        need(&p->w, "=");
        name_it(p, word, IS_EXPR, parse_value(p), kaffine_const(0));
    }
}

/* Makes a tensor without a size as large as an address. */
static void reach(struct parser *p, uint32_t tensor, struct kaffine address, uint32_t count, const struct kguard *guards)
{
    int64_t low, high;

    kaffine_guarded_range(p->k, address, count, guards, 0, &low, &high);
    if (!p->k->tensors[tensor].elements && high >= p->reach[tensor])
        p->reach[tensor] = high + 1;
}

/* Reads what follows the word "kernel", to the end of the kernel, or statements to the end of the text. */
static struct kernel *parse_kernel(const char *start, const char **at, bool in_braces)
{
    OWNED(memory) struct parser *p = calloc(1, sizeof *p);
    struct kernel *k = kernel_create();
    char word[NAME_MAX];

    assert_true(p && k);
    *p = (struct parser){.w = {start, *at}, .k = k};
    k->builder.keeps_guards = in_braces; /* as it was printed */
    next(&p->w);
    if (in_braces) {
        const size_t length = strcspn(p->w.at, " {\n");
        if (strncmp(p->w.at, "(unnamed)", length))
            snprintf(k->name, sizeof k->name, "%.*s", (int)length, p->w.at);
        p->w.at += length;
        need(&p->w, "{");
    }
    while (in_braces ? !take(&p->w, "}") : (next(&p->w), *p->w.at))
        parse_statement(p, take_word(&p->w, word));
    for (uint32_t i = 0; i < p->waiting_count; i++) {
        const struct named *n = find(p, p->waiting[i].name);
        if (!n)
            wrong(&p->w, "there is no expression", p->waiting[i].name);
        k->vars[p->waiting[i].var].expr = n->id;
    }
    for (uint32_t i = 0; i < k->expr_count; i++)
        if (k->exprs[i].op == K_LOAD)
            reach(p, k->exprs[i].tensor, k->exprs[i].index, k->exprs[i].guard_count, k->exprs[i].guards);
    for (uint32_t i = 0; i < k->store_count; i++)
        reach(p, k->stores[i].tensor, k->stores[i].index, k->stores[i].guard_count, k->stores[i].guards);
    for (uint32_t t = 0; t < k->tensor_count; t++)
        k->tensors[t].elements += p->reach[t];
    if (k->error.status)
        wrong(&p->w, "the kernel is refused:", k->error.message);
    *at = p->w.at;
    return k;
}

/* ---- values of names ---- */

char *names_replace(const char *text, const char *values)
{
    char *to = NULL;
    size_t size, replaced = 0;
    FILE *out = open_memstream(&to, &size);

    assert_non_null(out);
    for (const char *at = text; *at; at++) {
        const size_t length = *at == '$' ? word_length(at + 1) : 0;
        const char *value = values;
        if (!length) {
            fputc(*at, out);
            continue;
        }
        while (value && (strncmp(value, at + 1, length) || value[length] != '='))
            value = strchr(value, ' ') ? strchr(value, ' ') + 1 : NULL;
        if (!value)
            fail_msg("'%.*s' has no value among '%s'", (int)length + 1, at, values);
        fprintf(out, "%.*s", (int)strcspn(value + length + 1, " "), value + length + 1);
        at += length;
        replaced++;
    }
    fclose(out);
    if (!replaced)
        return to;
    char *again = names_replace(to, values);
    free(to);
    return again;
}

struct kernel *kernel_parse(const char *text, const char *values)
{
    OWNED(memory) char *replaced = names_replace(text, values);
    const char *at = replaced + strspn(replaced, " \n");

    const bool in_braces = !strncmp(at, "kernel ", 7);
    at += in_braces ? 6 : 0;
    struct kernel *k = parse_kernel(replaced, &at, in_braces);
    return k;
}

struct kernel *kernel_of(const char *text, const char *values, ...)
{
    char list[1024];
    va_list args;

    va_start(args, values);
    assert_true(vsnprintf(list, sizeof list, values, args) < (int)sizeof list);
    va_end(args);
    struct kernel *k = kernel_parse(text, list);
    if (!kernel_finish(k))
        fail_msg("%s\n%s", k->error.message, text);
    return k;
}

/* Returns the text of a kernel without what kernel_finish adds. */
static char *print(const struct kernel *k)
{
    char *text = NULL, *to;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    kernel_print(k, out);
    fclose(out);
    to = text;
    for (const char *from = text; *from; from++) {
        if (!strncmp(from, "  # phase", 9))
            from += strcspn(from, "\n");
        if (*from != '\n' || (to > text && to[-1] != '\n'))
            *to++ = *from;
    }
    *to = '\0';
    return text;
}

void assert_reads_back(const struct kernel *k)
{
    OWNED(memory) char *text = print(k);
    OWNED(kernel) struct kernel *copy = kernel_parse(text, "");

    if (k->stage_count) /* stages are finished when they are added */
        assert_true(kernel_finish(copy));
    OWNED(memory) char *again = print(copy);
    assert_string_equal(text, again);
}

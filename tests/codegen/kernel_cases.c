/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs files of kernel cases: kernels as text (support/kernel_text.h), and what is expected of them.  USAGE has the options.
 * A case begins with "# case: NAME".  Settings before the kernel:
 *
 *   # each: m n = 1 2, 3 4      values of $m and $n; all combinations of such lines are tried; also n = 1..9..2
 *   # with: k=($m+1)            texts without spaces for names
 *   # data: nasty               random numbers of all sizes, infinities and NaN; "t0 nasty" for a tensor, "t0 bits": 0, 1, 2
 *   # t0: 1 2x5 nan             numbers of a tensor, over and over; 2x5 is five times 2
 *   # within: 2 ulps, zeros     how far results may be off (exact if there is none); see tolerance_of
 *
 * Expectations after it:
 *
 *   # computes                  compiled code of all instruction sets computes what the interpreter does
 *   # gives t1: 1 2             the interpreter computes these numbers
 *   # schedule avx512/avx2+permutes m=1 n=2: has chains 2; lacks repeated     or, without has and lacks, the whole line
 *   # refused m=0               the verifier refuses the kernel
 *   # becomes                   and the text of the finished kernel, or of the kernels that a graph with clusters is lowered to
 *   # loops avx2                and the text of the loop IR that the kernel is lowered to for that target
 */
#include <sys/mman.h>
#include <unistd.h>

#include "codegen/kernels.h"
#include "codegen/lower/lower.h"
#include "codegen/opencl/opencl.h"
#include "ir/schedule/schedule_gpu.h"
#include "passes/passes.h"
#include "support/case_files.h"
#include "support/kernels.h"
#include "support/help.h"
#include "support/kernel_text.h"

enum { CASES_MAX = 256, VALUES_MAX = 1024, COMBINATIONS_MAX = 4096 };
/* Instrumented kernels compile slowly: a case takes so many combinations under the sanitizers. */
enum { COMBINATIONS_SANITIZED = 12 };

struct kernel_case {
    const char *text, *end; /* from the line with its name on */
    FILE *updated;          /* NULL: nothing is to be written */
    char *body, *values[COMBINATIONS_MAX];
    uint32_t count; /* of values */
    char within[CASE_VALUE_MAX], data[CASE_VALUE_MAX], with[CASE_VALUE_MAX];
    char numbers[KERNEL_TENSORS_MAX][CASE_VALUE_MAX]; /* of tensors; "": random ones */
    bool expects;                                     /* something */
};

/* ---- values of names ---- */

/* Appends a text to each of the values. */
static void add_value(char **to, uint32_t *count, char *const *before, uint32_t before_count, const char *text)
{
    for (uint32_t i = 0; i < before_count; i++) {
        assert_in_range(*count, 0, COMBINATIONS_MAX - 1);
        char both[VALUES_MAX];
        snprintf(both, sizeof both, "%s%s", before[i], text);
        to[(*count)++] = strdup(both);
    }
}

/* Combines values with each of "NAMES = VALUES, VALUES"; of one name also FIRST..LAST..STEP. */
static void add_values(struct kernel_case *c, char *line)
{
    char *names = strsep(&line, "="), *before[COMBINATIONS_MAX], text[VALUES_MAX], word[64];
    const uint32_t count = c->count;

    assert_non_null(line);
    memcpy(before, c->values, count * sizeof *before);
    c->count = 0;
    for (char *tuple = line, *after; tuple; tuple = after) {
        if ((after = strstr(tuple, ", "))) {
            *after = '\0';
            after += 2;
        }
        long value, last, step = 1;
        int used;
        if (sscanf(tuple, " %ld..%ld..%ld", &value, &last, &step) >= 2) {
            for (; value <= last; value += step) {
                snprintf(text, sizeof text, " %.*s=%ld", (int)strcspn(names, " "), names, value);
                add_value(c->values, &c->count, before, count, text);
            }
            continue;
        }
        *text = '\0';
        for (const char *name = names; *name; name += strspn(name, " ")) {
            assert_int_equal(sscanf(tuple, "%63s%n", word, &used), 1);
            snprintf(text + strlen(text), sizeof text - strlen(text), " %.*s=%s", (int)strcspn(name, " "), name, word);
            name += strcspn(name, " ");
            tuple += used;
        }
        add_value(c->values, &c->count, before, count, text);
    }
    for (uint32_t i = 0; i < count; i++)
        free(before[i]);
}

static struct kernel *kernel_with(const struct kernel_case *c, const char *values)
{
    return kernel_of(c->body, "%s %s", values, c->with);
}

static double product_of(const char *text, const char *values)
{
    char *replaced = names_replace(text, values), *at = replaced;
    double product = 1;

    do
        product *= strtod(at, &at);
    while (*(at += strspn(at, " ")) == '*' && *at++);
    free(replaced);
    return product;
}

/* Returns the tolerance of "N ulps", "A * B", "zeros" or "sum of N of M", where N numbers of at most M are added up. */
static struct tolerance tolerance_of(const struct kernel_case *c, const char *values)
{
    char list[2 * VALUES_MAX], text[CASE_VALUE_MAX], *rest = text;
    struct tolerance t = exact;

    snprintf(list, sizeof list, "%s %s", values, c->with);
    strcpy(text, c->within);
    for (char *part; (part = strsep(&rest, ","));) {
        part += strspn(part, " ");
        if (strstr(part, "ulp")) {
            t.ulps = strtod(part, NULL);
        } else if (!strcmp(part, "zeros")) {
            t.zeros = true;
        } else if (!strncmp(part, "sum of ", 7)) {
            const double n = product_of(part + 7, list), most = product_of(strstr(part + 7, " of ") + 4, list);
            /* No accumulator takes more than 512 additions in a row, and totals take one per 256. */
            t.absolute = (fmin(n, 512) + floor(n / 256) + 2) * 0x1p-24 * n * most;
            t.zeros = true;
        } else if (*part) {
            t.absolute = product_of(part, list);
        }
    }
    return t;
}

/* ---- data ---- */

static size_t tensor_bytes(const struct ktensor *t)
{
    return (size_t)t->elements * dtype_size(t->type);
}

/* Returns memory that no kernel may read beyond: the sanitizer knows its ends, or it lies at the end or at the beginning of
 * what may be read. */
static void *data_create(size_t bytes, bool at_end)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), inner = (bytes + page - 1) / page * page;

    if (GUARD_BYTES == 0)
        return buffer_create(bytes);
    char *map = mmap(NULL, inner + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(map != MAP_FAILED);
    assert_int_equal(mprotect(map, page, PROT_NONE) | mprotect(map + page + inner, page, PROT_NONE), 0);
    return map + page + (at_end ? inner - bytes : 0);
}

static void data_free(void *data, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), inner = (bytes + page - 1) / page * page;

    if (GUARD_BYTES == 0)
        buffer_free(data);
    else
        munmap((char *)data - (uintptr_t)data % page - page, inner + 2 * page);
}

static void data_fill(const struct kernel_case *c, const char *values, const struct ktensor *tensor, uint32_t number,
                      void *data)
{
    char *numbers = names_replace(c->numbers[number], values);
    const char *at = numbers;
    const size_t size = dtype_size(tensor->type);
    char own[16], *end;

    snprintf(own, sizeof own, "t%u bits", number);
    if (strstr(c->data, own)) {
        for (int64_t i = 0; i < tensor->elements; i++)
            memcpy((char *)data + (size_t)i * size, &i, size);
        free(numbers);
        return;
    }
    snprintf(own, sizeof own, "t%u nasty", number);
    (!strncmp(c->data, "nasty", 5) || strstr(c->data, own) ? fill_nasty : fill_plain)(tensor->type, data, tensor->elements);
    for (int64_t i = 0, left = 0; *numbers && i < tensor->elements; i++, left--) { /* over and over again */
        static union scalar number;
        if (!left) {
            at = *at ? at : numbers;
            number = dtype_is_float(tensor->type) ? number_cast(wnnNumber(strtod(at, &end)), tensor->type)
                                                  : number_cast(wnnNumberInt64(strtoll(at, &end, 10)), tensor->type);
            left = *end == 'x' ? strtoll(end + 1, &end, 10) : 1;
            at = end;
        }
        memcpy((char *)data + (size_t)i * size, &number, size);
    }
    free(numbers);
}

/* Runs a kernel on data: in the interpreter, whose tensor `wanted` must have the numbers, or, if that is KEXPR_NONE, in code of
 * all instruction sets against the interpreter. */
static void compute(const struct kernel_case *c, uint32_t turn, uint32_t wanted, const char *numbers)
{
    struct kernel *k = kernel_with(c, c->values[turn]);
    void *tensors[KERNEL_TENSORS_MAX];
    size_t bytes[KERNEL_TENSORS_MAX];
    const uint32_t count = k->tensor_count;

    for (uint32_t t = 0; t < count; t++) {
        bytes[t] = tensor_bytes(&k->tensors[t]);
        tensors[t] = data_create(bytes[t], (turn + t) % 2);
        data_fill(c, c->values[turn], &k->tensors[t], t, tensors[t]);
    }
    if (wanted == KEXPR_NONE) {
        check_kernel(k, tensors, tolerance_of(c, c->values[turn]));
    } else {
        struct kernel_case expected = {.data = ""};
        void *right = buffer_create(bytes[wanted]);
        snprintf(expected.numbers[wanted], sizeof expected.numbers[wanted], "%s", numbers);
        data_fill(&expected, "", &k->tensors[wanted], wanted, right);
        assert_true(kernel_verify(k, stderr) && kernel_interpret(k, tensors));
        for (int64_t i = 0; i < k->tensors[wanted].elements; i++)
            if (!elements_agree(k->tensors[wanted].type, right, tensors[wanted], i, tolerance_of(c, c->values[turn])))
                fail_msg("element %lld of t%u is not right", (long long)i, wanted);
        buffer_free(right);
        kernel_free(k);
    }
    for (uint32_t t = 0; t < count; t++)
        data_free(tensors[t], bytes[t]);
}

/* ---- schedules ---- */

/* Fills *isa by "avx2+permutes". */
static void read_isa(char *words, struct isa *isa)
{
    const char *name = strsep(&words, "+");

    if (!isa_facts(name, isa))
        fail_msg("there is no target '%s'", name);
    for (char *word; (word = strsep(&words, "+"));) {
        isa->permutes |= !strcmp(word, "permutes");
        isa->ternary_shuffles |= !strcmp(word, "shuffles");
        isa->byte_products |= !strcmp(word, "bytes");
    }
}

enum printed { SCHEDULE, SCHEDULE_LINE, LOOPS };

/* Prints what a kernel becomes for a target: its schedule, a line of that, or its loop IR. */
static void print_for(const struct kernel *k, char *target, enum printed what, FILE *out)
{
    SCOPED(loop_module_free) struct loop_module m = {0};

    if (!strncmp(target, "gpu", 3)) {
        struct gpu_schedule s;
        schedule_gpu(k, target_gpu_facts(!strcmp(target, "gpu-processor")), &s);
        if (what == LOOPS)
            assert_non_null(lower_items(&m, &opencl_isa, &s, false, "kernel"));
        else
            gpu_schedule_print(&s, out);
    } else {
        struct target to = {.sizes_vary = strstr(target, "+varying") != NULL};
        read_isa(target, &to.isa);
        OWNED(schedule) struct schedule *s = schedule_cpu(k, &to);
        if (what == LOOPS)
            assert_true(lower_kernel(&m, &to.isa, s, "kernel", NULL));
        else
            (what == SCHEDULE ? schedule_print : schedule_print_short)(s, out);
    }
    loop_print(&m, out);
}

/* Checks, or writes, "TARGET/TARGET NAME=VALUE: LINE", or with "has TEXT; lacks TEXT" after the colon.  Without values the line
 * is for all of the case's. */
static void check_schedule(struct kernel_case *c, const char *line, size_t length)
{
    char head[256], copy[256], *rest, *target, expected[512];
    const size_t colon = strcspn(line, ":");

    assert_true(colon < length && length < sizeof expected);
    snprintf(head, sizeof head, "%.*s", (int)colon, line);
    snprintf(expected, sizeof expected, "%.*s", length > colon + 2 ? (int)(length - colon - 2) : 0, line + colon + 2);
    strcpy(copy, head);
    rest = copy;
    char *targets = strsep(&rest, " ");
    const bool found = !strncmp(expected, "has ", 4) || !strncmp(expected, "lacks ", 6);
    for (bool first = true; (target = strsep(&targets, "/")); first = false)
        for (uint32_t i = 0; i < (rest ? 1 : c->count); i++) {
            OWNED(kernel) struct kernel *k = kernel_with(c, rest ? rest : c->values[i]);
            char words[64], parts[512], *more = parts, *text = NULL;
            size_t size;
            FILE *out = open_memstream(&text, &size);
            assert_non_null(out);
            snprintf(words, sizeof words, "%s", target);
            print_for(k, words, found ? SCHEDULE : SCHEDULE_LINE, out);
            fclose(out);
            strcpy(parts, expected);
            if (c->updated && first && !i)
                fprintf(c->updated, "# schedule %s: %s\n", head, found ? expected : text);
            for (char *part; !c->updated && found && (part = strsep(&more, ";"));) {
                part += strspn(part, " ");
                const bool has = !strncmp(part, "has ", 4);
                if ((strstr(text, part + (has ? 4 : 6)) != NULL) != has)
                    fail_msg("%s%s: not '%s':\n%s", head, rest ? "" : c->values[i], part, text);
            }
            if (!c->updated && !found && strcmp(text, expected))
                fail_msg("%s%s: \"%s\", not \"%s\"", head, rest ? "" : c->values[i], text, expected);
            free(text);
        }
}

/* ---- kernels as text ---- */

/* Prints the kernels that a graph, or the kernel of another text, becomes, or their loop IR for a target. */
static void print_result(const struct kernel_case *c, char *target, FILE *out)
{
    if (strncmp(c->body, "webnn_graph", 11)) {
        OWNED(kernel) struct kernel *k = kernel_with(c, c->values[0]);
        target ? print_for(k, target, LOOPS, out) : kernel_print(k, out);
        return;
    }
    struct error e = {0};
    OWNED(graph) struct graph *g = graph_parse(c->body, strlen(c->body), NULL, NULL, &e);
    assert_works(g, &e);
    for (const struct cluster *cluster = g->first_cluster; cluster; cluster = cluster->next) {
        SCOPED(kernel_list_free) struct kernel_list list = kernels_lower(g, cluster, NULL);
        for (uint32_t i = 0; i < list.count; i++)
            kernel_print(list.kernels[i], out);
    }
}

/* Checks, or writes, "becomes" or "loops TARGET" and the text after it.  Returns its end, another expectation or the case's. */
static const char *check_text(struct kernel_case *c, const char *line, const char *expected)
{
    const char *next = strstr(expected, "\n# "), *end = next && next < c->end ? next : c->end;
    char *wanted = strndup(expected, (size_t)(end - expected)), *text = NULL, target[64];
    const bool loops = sscanf(line, "# loops %63s", target) == 1;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    print_result(c, loops ? target : NULL, out);
    fclose(out);
    while (*wanted && isspace((unsigned char)wanted[strlen(wanted) - 1]))
        wanted[strlen(wanted) - 1] = '\0';
    if (c->updated) {
        fprintf(c->updated, "%.*s%s%s", (int)(expected - line), line, text, end == c->end ? "\n" : "");
    } else if (strncmp(text, wanted, strlen(wanted)) || strlen(text) != strlen(wanted) + 1) {
        print_difference(wanted, text);
        fail_msg("the text is another one");
    }
    free(text);
    free(wanted);
    return end;
}

/* ---- files ---- */

/* Does what a line after the kernel says; returns the end of what it has dealt with. */
static const char *expect(struct kernel_case *c, const char *line, const char *end)
{
    unsigned tensor;
    int used;

    c->expects = true;
    if (!strncmp(line, "# schedule ", 11)) {
        check_schedule(c, line + 11, (size_t)(end - line) - 11);
    } else if (!strncmp(line, "# becomes", 9) || !strncmp(line, "# loops", 7)) {
        return check_text(c, line, end + 1);
    } else {
        if (c->updated)
            fprintf(c->updated, "%.*s\n", (int)(end - line), line);
        if (!strncmp(line, "# computes", 10)) {
            const uint32_t step = GUARD_BYTES > 0 || c->count < COMBINATIONS_SANITIZED ? 1 : c->count / COMBINATIONS_SANITIZED;
            for (uint32_t i = 0; i < c->count && !c->updated; i += step)
                compute(c, i, KEXPR_NONE, NULL);
        } else if (sscanf(line, "# gives t%u: %n", &tensor, &used) == 1) {
            char numbers[CASE_VALUE_MAX];
            snprintf(numbers, sizeof numbers, "%.*s", (int)(end - line) - used, line + used);
            compute(c, 0, tensor, numbers);
        } else if (!strncmp(line, "# refused", 9)) {
            char values[CASE_VALUE_MAX];
            snprintf(values, sizeof values, "%.*s", (int)(end - line) - 9, line + 9);
            OWNED(kernel) struct kernel *k = kernel_with(c, values);
            assert_false(kernel_verify(k, NULL));
        } else {
            fail_msg("'%.*s' is no expectation", (int)(end - line), line);
        }
    }
    return end;
}

static void read_setting(struct kernel_case *c, char *key, char *value)
{
    unsigned tensor;

    if (!strcmp(key, "each"))
        add_values(c, value);
    else if (sscanf(key, "t%u", &tensor) == 1 && tensor < KERNEL_TENSORS_MAX)
        strcpy(c->numbers[tensor], value);
    else if (!strcmp(key, "with") || !strcmp(key, "data") || !strcmp(key, "within"))
        strcpy(*key == 'd' ? c->data : key[4] ? c->within : c->with, value);
    else
        fail_msg("there is no setting '%s'", key);
}

static void run_case(void **state)
{
    OWNED(memory) struct kernel_case *c = *state;
    char key[32], value[CASE_VALUE_MAX];
    const char *body = NULL, *end;

    c->values[c->count++] = strdup("");
    for (const char *line = c->text; line < c->end; line = end + (*end == '\n')) {
        const size_t length = strcspn(line, "\n");
        end = line + length;
        if (!body && *line != '#' && length)
            body = line;
        else if (!body && line > c->text && case_file_key(line, length, key, value))
            read_setting(c, key, value);
        if (body && !c->body && (*line == '#' || !length))
            c->body = strndup(body, (size_t)(line - body));
        if (c->body && *line == '#')
            end = expect(c, line, end);
        else if (c->updated)
            fprintf(c->updated, "%.*s\n", (int)length, line);
    }
    if (!c->expects)
        fail_msg("nothing is expected of the case");
    for (uint32_t i = 0; i < c->count; i++)
        free(c->values[i]);
    free(c->body);
}

PROGRAM_HELP("usage: kernel-cases FILE [PATTERN]    run the cases whose names match; exit status 0 if all pass\n"
             "       kernel-cases --update FILE     write schedules and kernels into the file instead\n"
             "docs/testing.md describes the format of the files.\n")

int main(int argc, char **argv)
{
    const bool update = argc == 3 && !strcmp(argv[1], "--update");
    static struct CMUnitTest tests[CASES_MAX];
    static char names[CASES_MAX][128];
    char *updated = NULL;
    size_t count = 0, size = 0;

    if (argc < 2 || argc > 3)
        return WRONG_USAGE;
    char *text = case_file_read(argv[update ? 2 : 1]), *at = text;
    FILE *out = update ? open_memstream(&updated, &size) : NULL;
    if (!text)
        return 1;
    for (char *next; (next = strstr(at, "# case: ")) && count < CASES_MAX; count++) {
        struct kernel_case *c = calloc(1, sizeof *c);
        if (update && !count)
            fprintf(out, "%.*s", (int)(next - at), at);
        sscanf(next, "# case: %127[^\n]", names[count]);
        c->text = next;
        c->end = at = strstr(next + 1, "# case: ") ? strstr(next + 1, "# case: ") : next + strlen(next);
        c->updated = out;
        tests[count] = (struct CMUnitTest){.name = names[count], .test_func = run_case, .initial_state = c};
    }
    if (!update && argc == 3)
        cmocka_set_test_filter(argv[2]);
    int failed = _cmocka_run_group_tests(argv[update ? 2 : 1], tests, count, NULL, machines_free);
    if (update && (fclose(out) || failed || !case_file_write(argv[2], updated, size)))
        failed = 1;
    free(updated);
    free(text);
    return failed || !count;
}

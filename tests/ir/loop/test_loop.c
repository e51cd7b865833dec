/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs the cases of *.loops: text of the loop language, and expected results.  A case begins with "# case: NAME".
 *
 *   f32x2 = add f32x2(1, 2), f32x2(3) gives (4, 5)     an operation on constants, and the numbers that it computes
 *
 * Else a case has a module, whose last kernel runs, and lines
 *
 *   # t0: i32 1 2 3          before the module: a tensor's type and numbers; "written i32 ..." may be written
 *   # numbers: 4 5           the kernel's numbers, its units, and so many bytes of scratch memory
 *   # units: 0 2             or "groups: 2 1 1" of a device's kernel
 *   # scratch: 64
 *   # gives t0: 1 2 3        after it: a tensor's numbers
 *   # fails: TEXT            the message of the interpreter has this in it; verify: that of the verifier
 *
 * All text is read back as it was printed.
 */
#include "ir/support/number.h"
#include "support/case_files.h"
#include "support/loop_text.h"

enum { TENSORS_MAX = 4, BYTES_MAX = 512, NUMBERS_MAX = 8 };

struct loop_case {
    struct loop_memory tensors[TENSORS_MAX];
    dtype types[TENSORS_MAX];
    uint32_t tensor_count, number_count;
    int64_t numbers[NUMBERS_MAX], units[NUMBERS_MAX], groups[NUMBERS_MAX];
    size_t scratch;
    uint64_t budget;
    char *text;
};

static bool covered[LOOP_OP_COUNT];

/* ---- modules ---- */

static void count_operations(const struct loop_region *region)
{
    for (const struct loop_value *v = region->first; v; v = v->next) {
        covered[v->op] = true;
        for (uint32_t i = 0; i < v->arg_count; i++)
            covered[v->args[i]->op] = true;
        for (uint32_t i = 0; i < v->region_count; i++)
            count_operations(&v->regions[i]);
    }
}

/* Reads, verifies and runs the last kernel.  Returns the word before the message that it fails with, or NULL. */
static const char *run(const struct loop_case *c, struct error *e)
{
    SCOPED(loop_module_free) struct loop_module m;
    static _Alignas(64) unsigned char scratch[BYTES_MAX];
    const struct loop_launch launch = {c->tensors,
                                       c->tensor_count,
                                       c->numbers,
                                       c->number_count,
                                       {scratch, c->scratch, false},
                                       c->units[0],
                                       c->units[1],
                                       {c->groups[0], c->groups[1], c->groups[2]},
                                       c->budget};
    const char *fails = NULL;

    loop_read(&m, c->text);
    assert_loop_reads_back(&m);
    if (!loop_verify(&m, e))
        fails = "verify";
    else if (!m.last || !loop_interpret(&m, m.last->name, &launch, e))
        fails = "fails";
    for (struct loop_function *f = m.first; !fails && f; f = f->next)
        count_operations(&f->body);
    return fails;
}

/* ---- cases ---- */

/* Fills bytes with numbers of a type, and returns how many bytes they have. */
static size_t fill(dtype type, const char *numbers, unsigned char *bytes)
{
    const size_t size = dtype_size(type);
    size_t count = 0;
    char *end;

    for (numbers += strspn(numbers, " "); *numbers && *numbers != '\n'; numbers = end + strspn(end, " ")) {
        const union scalar s = dtype_is_float(type) ? number_cast(wnnNumber(strtod(numbers, &end)), type)
                                                    : number_cast(wnnNumberInt64(strtoll(numbers, &end, 0)), type);
        assert_true(end > numbers && count + size <= BYTES_MAX);
        memcpy(bytes + count, &s, size);
        count += size;
    }
    return count;
}

static void read_numbers(const char *text, int64_t *numbers, uint32_t *count)
{
    char *end;

    for (*count = 0; *text; text = end + strspn(end, " ")) {
        assert_in_range(*count, 0, NUMBERS_MAX - 1);
        numbers[(*count)++] = strtoll(text, &end, 0);
        assert_true(end > text);
    }
}

static void read_setting(struct loop_case *c, const char *key, const char *value)
{
    int64_t number[NUMBERS_MAX];
    uint32_t count;

    if (*key == 't') {
        struct loop_memory *t = &c->tensors[c->tensor_count];
        const bool written = !strncmp(value, "written ", 8);
        value += written ? 8 : 0;
        const size_t length = strcspn(value, " ");
        assert_in_range(c->tensor_count, 0, TENSORS_MAX - 1);
        c->types[c->tensor_count++] = dtype_parse(value, length);
        t->bytes = aligned_alloc(64, BYTES_MAX);
        t->size = fill(c->types[c->tensor_count - 1], value + length, t->bytes);
        t->read_only = !written;
    } else if (!strcmp(key, "numbers")) {
        read_numbers(value, c->numbers, &c->number_count);
    } else if (!strcmp(key, "units") || !strcmp(key, "groups")) {
        read_numbers(value, *key == 'u' ? c->units : c->groups, &count);
    } else if (!strcmp(key, "scratch") || !strcmp(key, "budget")) {
        read_numbers(value, number, &count);
        *(*key == 's' ? &c->scratch : &c->budget) = (size_t)number[0];
    } else {
        fail_msg("there is no setting '%s'", key);
    }
}

static bool bits_agree(dtype type, const unsigned char *a, const unsigned char *b, size_t bytes)
{
    const size_t size = dtype_size(type);

    for (size_t i = 0; i < bytes; i += size) {
        union scalar x = {.u64 = 0}, y = {.u64 = 0};
        memcpy(&x, a + i, size);
        memcpy(&y, b + i, size);
        if (x.u64 != y.u64 && !(dtype_is_float(type) && isnan(scalar_to_double(x, type)) && isnan(scalar_to_double(y, type))))
            return false;
    }
    return true;
}

static void check_given(const struct loop_case *c, const char *line)
{
    unsigned tensor;
    int used;
    unsigned char expected[BYTES_MAX];

    assert_int_equal(sscanf(line, "t%u: %n", &tensor, &used), 1);
    assert_int_equal(fill(c->types[tensor], line + used, expected), c->tensors[tensor].size);
    if (!bits_agree(c->types[tensor], expected, c->tensors[tensor].bytes, c->tensors[tensor].size))
        fail_msg("t%u has other numbers", tensor);
}

/* Checks "TYPE = OPERATION gives (NUMBERS)": both go to memory, conditions as i8. */
static void check_line(const char *line, size_t length)
{
    unsigned char results[2][BYTES_MAX] = {{0}};
    struct loop_case c = {.tensor_count = 2, .tensors = {{results[0], BYTES_MAX, false}, {results[1], BYTES_MAX, false}}};
    struct error e = {0};
    char text[2048], *copy = strndup(line, length), *gives = strstr(copy, " gives "), *equals = strstr(copy, " = ");

    assert_true(gives && equals);
    *gives = *equals = '\0';
    const bool condition = !strcmp(copy, "i1") || !strncmp(copy, "i1x", 3), wide = !strncmp(copy, "f64", 3);
    const dtype type = wide ? DTYPE_FLOAT64 : *copy == 'f' ? WNNOperandDataType_Float32 : WNNOperandDataType_Uint8;
    const char *lanes = copy + strcspn(copy, "x"), *what = condition ? "zext" : "bitcast";
    char stored[16];
    snprintf(stored, sizeof stored, "%s%s", condition ? "i8" : copy, condition ? lanes : "");
    snprintf(text, sizeof text,
             "kernel \"k\" { a: ptr = tensor 0 b: ptr = tensor 1 x: %s = %s y: %s = %s x z: %s = %s %s%s"
             " store y, a align 64 store z, b align 64 }",
             copy, equals + 3, stored, what, stored, what, copy, gives + 7);
    c.text = text;
    c.tensors[0].bytes = aligned_alloc(64, BYTES_MAX);
    c.tensors[1].bytes = aligned_alloc(64, BYTES_MAX);
    memset(c.tensors[0].bytes, 0, BYTES_MAX);
    memset(c.tensors[1].bytes, 0, BYTES_MAX);
    if (run(&c, &e))
        fail_msg("%s\n%s", c.text, e.message);
    if (!bits_agree(type, c.tensors[0].bytes, c.tensors[1].bytes, BYTES_MAX))
        fail_msg("%.*s: other numbers", (int)length, line);
    free(c.tensors[0].bytes);
    free(c.tensors[1].bytes);
    free(copy);
}

static void run_case(const char *name, const char *text, const char *end)
{
    struct loop_case c = {.units = {0, 1}};
    struct error e = {0};
    char key[32], value[CASE_VALUE_MAX];
    const char *body = NULL, *fails = NULL;
    size_t length;

    for (const char *line = text + strcspn(text, "\n"); line < end; line += length + (line[length] == '\n')) {
        length = strcspn(line, "\n");
        if (*line != '#' && strstr(line, " gives ") && strstr(line, " gives ") < line + length && !body) {
            check_line(line, length);
            fails = "";
        } else if (!body && case_file_key(line, length, key, value)) {
            read_setting(&c, key, value);
        } else if (!body && length && *line != '#') {
            body = line;
        } else if (body && *line == '#') {
            if (!c.text) {
                c.text = strndup(body, (size_t)(line - body));
                fails = run(&c, &e);
            }
            assert_true(case_file_key(line, length, key, value) || !strncmp(line, "# gives ", 8));
            if (!strncmp(line, "# gives ", 8)) {
                if (fails)
                    fail_msg("%s: %s", name, e.message);
                check_given(&c, line + 8);
            } else if (!fails || strcmp(fails, key) || !strstr(e.message, value)) {
                fail_msg("%s: %s '%s', not %s '%s'", name, fails ? fails : "passes", e.message, key, value);
            }
        }
    }
    if (!fails && !c.text)
        fail_msg("%s: nothing is expected", name);
    for (uint32_t i = 0; i < c.tensor_count; i++)
        free(c.tensors[i].bytes);
    free(c.text);
}

static void run_file(const char *path)
{
    char *text = case_file_read(path), *at = text, name[128];

    assert_non_null(text);
    for (char *next; (next = strstr(at, "# case: "));) {
        char *after = strstr(next + 1, "# case: ");
        at = after ? after : next + strlen(next);
        assert_int_equal(sscanf(next, "# case: %127[^\n]", name), 1);
        run_case(name, next, at);
    }
    free(text);
}

TEST(operations_compute)
{
    run_file(TESTS_DIR "/ir/loop/operations.loops");
}

TEST(kernels_run)
{
    run_file(TESTS_DIR "/ir/loop/kernels.loops");
}

TEST(violations_are_found)
{
    run_file(TESTS_DIR "/ir/loop/refused.loops");
}

TEST(every_operation_has_a_case)
{
    for (uint32_t op = 0; op < LOOP_OP_COUNT; op++)
        if (!covered[op])
            fail_msg("no case of tests/ir/loop runs '%s'", loop_op_rows[op].name);
}

TEST(builder_makes_what_the_text_says)
{
    SCOPED(loop_module_free) struct loop_module m = {0};
    struct loop_builder b;
    struct error e = {0};
    const loop_type i64 = loop_type_make(LOOP_I64, 1);

    assert_true(loop_builder_begin(&b, &m, loop_function_add(&m, "k", NULL, 0, 0)));
    struct loop_value *from = loop_parameter(&b, 0), *to = loop_parameter(&b, 1), *slot = loop_slot(&b, i64);
    struct loop_value *one = loop_const(&b, i64, (uint64_t[]){1});
    loop_add(&b, LOOP_SET, 0, (struct loop_value *[]){slot, one}, 2, 0);
    struct loop_value *i = loop_for_begin(&b, from, to, LOOP_AT_LEAST_ONCE);
    loop_if_begin(&b, loop_add(&b, LOOP_EQ, 0, (struct loop_value *[]){i, one}, 2, 0));
    loop_add(&b, LOOP_SET, 0, (struct loop_value *[]){slot, loop_add(&b, LOOP_ADD, 0, (struct loop_value *[]){one, one}, 2, 0)},
             2, 0);
    loop_else(&b);
    loop_add(&b, LOOP_SET, 0, (struct loop_value *[]){slot, i}, 2, 0);
    loop_end(&b);
    loop_for_end(&b, one);
    if (m.failed || !loop_verify(&m, &e))
        fail_msg("%s", e.message);
    assert_loop_reads_back(&m);
    OWNED(memory) char *text = loop_text(&m);
    assert_string_equal(text,
                        "kernel \"k\" {\n  v0: i64 = slot\n  v1: i64 = parameter 1\n  v2: i64 = parameter 0\n"
                        "  set v0, i64(1)\n  v4: i64 = for v2, v1 at_least_once {\n    v5: i1 = eq v4, i64(1)\n"
                        "    if v5 {\n      set v0, i64(2)\n    } else {\n      set v0, v4\n    }\n    next i64(1)\n  }\n}\n");
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs one file of pass cases: graphs as text, and what a pass makes of them (docs/testing.md describes the format).
 * USAGE has its options.
 *
 * For each case the text must be the expected one; the reference interpreter must compute the same before and after; the result
 * must verify, be read back as the same text, and stay as it is if the last pass runs again.
 */
#define _GNU_SOURCE

#include <glob.h>

#include "ir/text/text.h"
#include "passes/pass_support.h"
#include "support/case_files.h"
#include "support/help.h"
#include "support/scoped.h"

enum { ROUNDS = 3 };

/* ---- the stand-in for a library ---- */

static bool takes_low_precision_input(void *user, const struct node *n, uint32_t slot)
{
    return slot == 0 || n->inputs[1].value->kind != VALUE_CONSTANT;
}

/** A library without gemm and convolutions. */
static bool takes_matmul(void *user, const struct node *n)
{
    return fake_takes_node(user, n) && n->op == OP_MATMUL;
}

/** Integers are multiplied with a relu, a clamp or a product and a quantization after them. */
static bool takes_quantized(void *user, struct node *const *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const enum op op = nodes[i]->op;

        if (op != OP_DEQUANTIZE_LINEAR && op != OP_QUANTIZE_LINEAR && op != OP_RELU && op != OP_CLAMP && op != OP_MUL &&
            !(op_infos[op].flags & OPF_LIBRARY))
            return false;
    }
    return true;
}

/* ---- settings ---- */

/** What the comments of a file, and those of a case on top of them, say. */
struct settings {
    char passes[256], switches[256];
    struct target target;
    enum results { RESULTS_EXACT, RESULTS_WITHIN_BOUNDS, RESULTS_ROUNDED } results;
    bool random_constants;
    WNNWeightFormat weights;
};

static bool set_fact(struct target *t, const char *word)
{
    static const struct {
        const char *name;
        uint32_t bits;
    } sets[] = {{"baseline", 128}, {"avx2", 256}, {"avx512", 512}};

    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (!strcmp(word, sets[i].name)) {
            t->isa.vector_bits = sets[i].bits;
            t->isa.registers = sets[i].bits == 512 ? 32 : 16;
            t->isa.fma = t->isa.masks32 = sets[i].bits > 128;
            t->isa.masks = sets[i].bits == 512;
            return true;
        }
    if (!strcmp(word, "library")) {
        t->takes_node = fake_takes_node;
        t->takes_operand = fake_takes_operand;
        t->takes_epilogue = fake_takes_epilogue;
    } else if (!strcmp(word, "matmul")) {
        t->takes_node = takes_matmul;
    } else if (!strcmp(word, "int8")) {
        t->takes_quantized = takes_quantized;
    } else if (!strcmp(word, "bfloat16")) {
        t->takes_low_precision_input = takes_low_precision_input;
    } else if (!strcmp(word, "nhwc")) {
        t->prefers_nhwc = true;
    } else if (!strcmp(word, "unpacks")) {
        t->compact.unpacks = true;
    } else if (!strcmp(word, "bytes") || !strcmp(word, "pairs")) {
        t->isa.byte_products = *word == 'b' ? BYTES_MIXED : BYTES_MIXED_PAIRS;
    } else {
        return complain(
            "target: '%s' is not baseline, avx2, avx512, library, matmul, int8, bfloat16, nhwc, unpacks, bytes, pairs", word);
    }
    return true;
}

static bool set_target(struct target *t, char *words)
{
    *t = (struct target){.thread_count = 2, .cache_bytes = 1 << 20};
    for (char *rest = words, *word; (word = strsep(&rest, ", "));)
        if (*word && !set_fact(t, word))
            return false;
    return true;
}

/* "# key: value" without its line end.  False: complained. */
static bool set(struct settings *s, const char *key, char *value)
{
    if (!strcmp(key, "passes"))
        return snprintf(s->passes, sizeof s->passes, "%s", value) < (int)sizeof s->passes;
    if (!strcmp(key, "switches"))
        return snprintf(s->switches, sizeof s->switches, "%s", value) < (int)sizeof s->switches;
    if (!strcmp(key, "target"))
        return set_target(&s->target, value);
    if (!strcmp(key, "results")) {
        static const char *const kinds[] = {"exact", "within bounds", "rounded"};

        for (s->results = RESULTS_EXACT; s->results <= RESULTS_ROUNDED; s->results++)
            if (!strcmp(value, kinds[s->results]))
                return true;
        return complain("results: 'exact', 'within bounds' or 'rounded', not '%s'", value);
    }
    if (!strcmp(key, "constants")) {
        s->random_constants = !strcmp(value, "random");
        return s->random_constants || !strcmp(value, "as written") ||
               complain("constants: 'random' or 'as written', not '%s'", value);
    }
    if (!strcmp(key, "weights")) {
        s->weights = !strcmp(value, "int8") ? WNNWeightFormat_Int8 : WNNWeightFormat_Int4;
        return s->weights == WNNWeightFormat_Int8 || !strcmp(value, "int4") ||
               complain("weights: 'int8' or 'int4', not '%s'", value);
    }
    return complain("there is no setting '%s'", key);
}

/* ---- running a case ---- */

/** A print as a file of cases has it; the caller frees it. */
static char *print_case(const struct graph *g, bool data)
{
    return print_graph(g, &(struct print_options){.clusters = true, .constants = data, .by_place = true, .name = "after"});
}

static bool reads_back(const struct graph *g)
{
    struct error e = {0};
    OWNED(memory) char *text = print_case(g, true), *again = NULL;
    OWNED(graph) struct graph *copy = graph_parse(text, strlen(text), NULL, NULL, &e);
    bool same;

    if (copy)
        again = print_case(copy, true);
    same = g->loops || (copy && !strcmp(text, again)); /* loops are not read */
    if (!same)
        complain("the result is not read back as it was printed: %s\n%s", e.message, again ? again : text);
    return same;
}

/* Elements that differ, so that a wrong order of them is seen. */
static void randomise_constants(struct graph *g)
{
    for (struct value *v = g->first_constant; v; v = v->next_constant)
        for (int64_t i = 0; v->type.type == WNNOperandDataType_Float32 && v->type.rank && i < type_elements(&v->type); i++)
            ((float *)(uintptr_t)v->constant->data)[i] = (float)random_float(false);
}

/* The passes once, and the last of them again, which must do nothing.  Returns false after an error in *e. */
static bool run_passes(struct graph *g, const struct settings *s, struct error *e)
{
    const char *last = strrchr(s->passes, ',');
    struct debug_options d = {0};
    struct pass_options o = {.target = &s->target, .debug = &d};
    bool ok = debug_parse(&d, s->switches, strlen(s->switches), e);

    if (ok && !passes_run_named(g, &o, s->passes)) {
        *e = g->error;
        ok = false;
    }
    if (ok && !graph_verify(g, stderr))
        ok = error_set(e, WNNStatus_UnknownError, "the verifier refuses the result");
    if (ok) {
        OWNED(memory) char *once = print_case(g, true), *twice = NULL;

        if (passes_run_named(g, &o, last ? last + 1 : s->passes))
            twice = print_case(g, true);
        if (!twice || strcmp(once, twice))
            ok = error_set(e, WNNStatus_UnknownError, "a second run of the last pass changed the graph");
    }
    debug_free(&d);
    return ok;
}

/** Runs the passes on the graph of the text.  NULL: failed, and complained.  Else what they made of it, to be freed; *before is
 * the graph as it was printed. */
static char *run_case(const struct settings *s, const char *text, size_t length, char **before)
{
    struct error e = {0};
    struct run expected[ROUNDS];
    void **inputs[ROUNDS];
    OWNED(memory) char *whole = NULL;
    bool ok;

    if (asprintf(&whole, *text == ' ' ? "webnn_graph \"case\" v1 {\n%.*s}\n" : "%.*s", (int)length, text) < 0)
        return NULL;
    OWNED(graph) struct graph *g = graph_parse(whole, strlen(whole), NULL, NULL, &e);
    if (!g) {
        complain("%s", e.message);
        return NULL;
    }
    if (s->random_constants)
        randomise_constants(g);
    g->quantized.format = s->weights;
    *before = print_case(g, false);
    for (int k = 0; k < ROUNDS; k++) {
        inputs[k] = random_inputs(g, s->results == RESULTS_EXACT);
        expected[k] = run_graph(g, (const void *const *)inputs[k], s->results != RESULTS_EXACT);
    }
    ok = run_passes(g, s, &e);
    if (!ok)
        complain("%s", e.message);
    for (int k = 0; k < ROUNDS; k++) {
        if (ok) {
            struct run results = run_graph(g, (const void *const *)inputs[k], false);

            if (s->results != RESULTS_ROUNDED && !same_results(&expected[k], &results, s->results == RESULTS_EXACT))
                ok = complain("the interpreter computes something else after the passes");
            run_free(&results);
        }
        inputs_free(g, inputs[k]);
        run_free(&expected[k]);
    }
    ok = ok && reads_back(g);
    char *after = ok ? print_case(g, false) : NULL;
    return after;
}

/* ---- files ---- */

struct file {
    const char *path;
    struct settings settings;
    FILE *updated; /* NULL: nothing is to be written */
    unsigned cases, failed;
};

/* What a result is in a file of cases: those of its sections (inputs, consts, nodes, outputs) that are not in the graph before.
 */
static char *changed_sections(const char *before, const char *after)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    for (const char *at = strchr(after, '\n') + 1, *end; *at != '}'; at = end) {
        end = strstr(at, "\n  }\n") + strlen("\n  }\n");
        if (!memmem(before, strlen(before), at, (size_t)(end - at)))
            fwrite(at, 1, (size_t)(end - at), out);
    }
    fclose(out);
    return text;
}

/* One case: its graph, and the expected one, nothing if it stays.  Writes the case if it is to be updated. */
static void finish_case(struct file *f, const struct settings *s, const char *name, const char *graph, size_t graph_length,
                        const char *expected, size_t expected_length)
{
    OWNED(memory) char *before = NULL, *after = run_case(s, graph, graph_length, &before),
                       *wanted = strndup(expected, expected_length);
    OWNED(memory) char *changed = after ? changed_sections(before, after) : NULL;

    while (*wanted && isspace((unsigned char)wanted[strlen(wanted) - 1]))
        wanted[strlen(wanted) - 1] = '\0';
    f->cases++;
    if (!after) {
        fprintf(stderr, "%s: case \"%s\" fails\n", f->path, name);
        f->failed++;
    } else if (f->updated) {
        fprintf(f->updated, "%s\n%s\n", *changed ? "# becomes" : "# stays", changed);
    } else {
        if (*changed)
            changed[strlen(changed) - 1] = '\0'; /* its line end */
        if (strcmp(wanted, changed)) {
            fprintf(stderr, "%s: case \"%s\": %s\n", f->path, name,
                    !*wanted    ? "the graph should stay as it is"
                    : !*changed ? "nothing changes, so \"# stays\" says what is expected"
                                : "the result is not the expected one");
            print_difference(wanted, changed);
            f->failed++;
        }
    }
}

/* Walks the lines: settings of the file, then case after case. */
static bool run_file(struct file *f, const char *text)
{
    struct settings s = f->settings;
    char name[CASE_VALUE_MAX] = "", key[32], value[CASE_VALUE_MAX];
    const char *graph = NULL, *graph_end = NULL, *expected = NULL, *line = text;

    while (true) {
        const size_t length = strcspn(line, "\n");
        const bool end = !*line, is_key = !end && case_file_key(line, length, key, value);

        if ((end || (is_key && !strcmp(key, "case"))) && *name) {
            if (!graph)
                return complain("%s: case \"%s\" has no graph", f->path, name);
            if (!graph_end && !f->updated)
                return complain("%s: case \"%s\" has neither \"# becomes\" nor \"# stays\"", f->path, name);
            finish_case(f, &s, name, graph, (size_t)((graph_end ? graph_end : line) - graph), expected ? expected : line,
                        expected ? (size_t)(line - expected) : 0);
        }
        if (end)
            return f->cases || complain("%s: there are no cases", f->path);
        if (is_key && !strcmp(key, "case")) {
            if (!*value)
                return complain("%s: a case without a name", f->path);
            strcpy(name, value);
            s = f->settings;
            graph = graph_end = expected = NULL;
        } else if (is_key && *name && (!strcmp(key, "becomes") || !strcmp(key, "stays"))) {
            graph_end = line;
            if (!strcmp(key, "becomes"))
                expected = line + length + (line[length] != '\0');
        } else if (is_key && !graph) {
            if (!set(*name ? &s : &f->settings, key, value))
                return complain("%s: %.*s", f->path, (int)length, line);
        } else if (!graph && *name && (!strncmp(line, "webnn_graph", 11) || !strncmp(line, "  ", 2))) {
            graph = line;
        }
        if (f->updated && !graph_end)
            fprintf(f->updated, "%.*s\n", (int)length, line);
        line += length + (line[length] != '\0');
    }
}

static int check_complete(const char *folder)
{
    int missing = 0;

    for (uint32_t i = 0; i < pass_pipeline_length; i++) {
        char pattern[1024];
        glob_t found;

        snprintf(pattern, sizeof pattern, "%s/*/%s/*.webnn", folder, pass_pipeline[i].name);
        if (glob(pattern, 0, NULL, &found)) {
            fprintf(stderr, "pass %s has no file of cases: %s\n", pass_pipeline[i].name, pattern);
            missing++;
        } else {
            globfree(&found);
        }
    }
    return missing != 0;
}

PROGRAM_HELP("usage: pass-cases FILE                run all cases; exit status 1 and a difference for each that fails\n"
             "       pass-cases --update FILE       write what the passes make of the graphs into the file instead\n"
             "       pass-cases --complete FOLDER   check that the folder has a file for every pass of the pipeline\n"
             "docs/testing.md describes the format of the files.\n")

int main(int argc, char **argv)
{
    const bool update = argc == 3 && !strcmp(argv[1], "--update");
    OWNED(memory) char *text = NULL, *updated = NULL;
    size_t size = 0;

    if (argc == 3 && !strcmp(argv[1], "--complete"))
        return check_complete(argv[2]);
    if (argc != 2 && !update)
        return WRONG_USAGE;
    struct file f = {.path = argv[argc - 1], .updated = update ? open_memstream(&updated, &size) : NULL};
    set_target(&f.settings.target, (char[]){"avx2"});
    text = case_file_read(f.path);
    if (!text || !run_file(&f, text) || f.failed) {
        printf("%u of %u cases fail\n", f.failed, f.cases);
        return 1;
    }
    if (update && (fclose(f.updated) || !case_file_write(f.path, updated, size)))
        return 1;
    printf("%u cases%s\n", f.cases, update ? " updated" : "");
    return 0;
}

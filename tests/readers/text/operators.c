/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Every operator of the table, with options as random graphs draw them, written as text and as JSON and read back through
 * builder calls: must be the same graph.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "random/random.h"
#include "frontend/readers/text/write.h"
#include "readers/text/compare.h"
#include "support/help.h"

enum { SAMPLES = 12, TRIES = 100 };

static struct graph *read_back(WNNContext context, const char *text, size_t length, bool json, struct model *m)
{
    struct graph *g = NULL;
    struct error e = {0};

    if (!(json ? model_read_json : model_read_text)(context, "again", text, length, NULL, m, &e)) {
        fprintf(stderr, "%s\n", e.message);
        return NULL;
    }
    g = model_take_graph(m, &e);
    if (!g)
        fprintf(stderr, "%s\n", e.message);
    return g;
}

/** Where a value is several outputs, legal names make another graph of it. */
static bool has_aliases(const struct graph *g)
{
    for (uint32_t i = 0; i < g->output_count; i++)
        if (g->outputs[i].value->output_uses > 1)
            return true;
    return false;
}

static bool check(WNNContext context, const struct graph *g, bool json, bool legal)
{
    const struct text_options options = {
        .name = "operators", .json = json, .legal_names = legal, .weights = TEXT_WEIGHTS_INLINE};
    struct model m = {0};
    size_t length = 0;
    char *text = NULL;
    FILE *out = open_memstream(&text, &length);
    bool same = out && text_write_graph(g, &options, out);

    same = out && !fclose(out) && same;
    struct graph *again = same ? read_back(context, text, length, json, &m) : NULL;
    same = again && graphs_equal(g, again);
    if (!same)
        fprintf(stderr, "%s", text ? text : "not written\n");
    graph_free(again);
    model_free(&m);
    free(text);
    return same;
}

PROGRAM_HELP("usage: text-operators   write graphs of every operator in each form of text and read them back\n")
int main(void)
{
    unsigned checked = 0, failed = 0, operators = 0;
    WNNContext context;

    if (wnnCreateContext(NULL, &context))
        return 1;
    for (unsigned op = 0; op < OP_COUNT; op++) {
        unsigned samples = 0;

        for (uint64_t seed = 0; seed < TRIES && samples < SAMPLES; seed++) {
            struct generate_options o = {seed * OP_COUNT + op, 2};
            struct sample s;

            if (!sample_generate_operator(&s, &o, (enum op)op, (dtype)(1 + seed % (DTYPE_COUNT - 1))))
                continue;
            samples++;
            for (int form = 0; form < (has_aliases(s.g) ? 2 : 3); form++) {
                checked++;
                if (!check(context, s.g, form == 1, form == 2)) {
                    failed++;
                    fprintf(stderr, "%s, seed %" PRIu64 ", form %d\n", op_infos[op].name, o.seed, form);
                }
            }
            sample_free(&s);
        }
        operators += samples > 0;
    }
    wnnContextRelease(context);
    printf("%u of %u graphs of %u operators read back the same\n", checked - failed, checked, operators);
    return failed || operators != OP_COUNT;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Holds the one table of passes, and the driver that does the same for every pass: skip, time, run, verify, print.  It
 * rewrites a graph from the builder or the parser until every node is in a cluster, and the clusters are in execution order.
 *
 *   simplify    drop-dead, canonicalize, fold-constants, merge-common, fold-batch-norm: the graph as small as it gets
 *   branches    separate-branches: only the branch that is taken is computed
 *   round       quantize-weights, if the program has asked for it: the one pass that changes results
 *   legalize    expand-recurrent, legalize: what no library and no kernel can do as it stands, said with what they can do
 *   layout      convolutions to the layout that the target prefers; then the simplifying passes again, for the transposes
 *   windows     separate-windows: poolings as they are computed
 *   clusters    separate-outputs, fuse-quantized, fuse-attention, winograd, low-precision-inputs, fuse-epilogues,
 *               pack-weights, fuse-kernels, finish-clusters
 *
 * Each pass runs to its own fixed point, so the table is walked once and nothing here loops.  Recurrent operators of one step
 * are expanded at the head of "legalize", so that what they become is folded and fused; those of several steps become loops,
 * whose bodies are small graphs that go through the same table (docs/loops.md).
 */
#include <inttypes.h>
#include <string.h>

#include "ir/support/suggest.h"
#include "ir/support/text.h"
#include "ir/support/trace.h"
#include "ir/text/print.h"
#include "passes/passes.h"

/* clang-format off */
const struct pass pass_pipeline[] = {
    /* name             run                     required */
    {"drop-dead",        pass_drop_dead,        false, "remove what no output needs"},
    {"canonicalize",     pass_canonicalize,     false, "simpler equivalents, one canonical form"},
    {"merge-common",     pass_merge_common,     false, "compute equal nodes once"},
    {"fold-constants",   pass_fold_constants,   false, "compute nodes whose inputs are constants"},
    {"merge-common",     pass_merge_common,     false, "equal nodes after folding"},
    {"fold-batch-norm",  pass_fold_batch_norm,  false, "affine operations per channel into the convolution before them"},
    {"separate-branches", pass_separate_branches, false, "branches into loops of at most one iteration"},
    {"quantize-weights", pass_quantize_weights, false, "weights of matmuls into 8 or 4 bits, if the program requests it"},
    {"expand-recurrent", pass_expand_recurrent, true,  "gru, lstm and their cells: one step as nodes, several left to a loop"},
    {"legalize",         pass_legalize,         true,  "what the library cannot take as it is, said so that it can"},
    {"propagate-layout", pass_propagate_layout, false, "the layout that convolutions prefer, with the fewest bytes transposed"},
    {"canonicalize",     pass_canonicalize,     false, "simplifications after legalisation and layout"},
    {"fold-constants",   pass_fold_constants,   false, "likewise"},
    {"merge-common",     pass_merge_common,     false, "likewise"},
    {"drop-dead",        pass_drop_dead,        false, "likewise"},
    {"separate-windows", pass_separate_windows, false, "a pooling of rows and columns as one of each, if that is cheaper"},
    {"separate-outputs", pass_separate_outputs, true,  "separate memory for each output"},
    {"fuse-quantized",   pass_fuse_quantized,   false, "library calls that multiply quantized values as integers"},
    {"fuse-attention",   pass_fuse_attention,   false, "two matmuls and the softmax between them into one kernel each"},
    {"winograd",         pass_winograd,         false, "weights of 3x3 convolutions that Winograd computes faster"},
    {"low-precision-inputs", pass_low_precision_inputs, false, "store values that the library reads as bfloat16 in bfloat16"},
    {"fuse-epilogues",   pass_fuse_epilogues,   false, "library calls with elementwise epilogues"},
    {"pack-weights",     pass_pack_weights,     false, "constant operands in the order in which generated code reads them"},
    {"fuse-kernels",     pass_fuse_kernels,     false, "nodes into kernels, by bytes and operations saved"},
    {"finish-clusters",  pass_finish_clusters,  true,  "a cluster for every node, in execution order"},
};
/* clang-format on */
const uint32_t pass_pipeline_length = sizeof pass_pipeline / sizeof *pass_pipeline;

/* ---- lists of pass names in debug options ---- */

/* Returns the first position of that pass in the pipeline, or the pipeline's length if there is none. */
static uint32_t pass_find(const char *name, size_t length)
{
    uint32_t i = 0;

    while (i < pass_pipeline_length &&
           (strlen(pass_pipeline[i].name) != length || memcmp(pass_pipeline[i].name, name, length) != 0))
        i++;
    return i;
}

static struct suggestion pass_meant(const char *name, size_t length)
{
    struct suggestion meant = suggestion_for(name, length);

    for (uint32_t i = 0; i < pass_pipeline_length; i++)
        suggestion_offer(&meant, pass_pipeline[i].name);
    return meant;
}

/* Checks the names of a list: a misspelt name must not be taken for a pass that did nothing. */
static bool list_check(const char *what, const char *list, struct error *e)
{
    while (list && *list) {
        size_t length = strcspn(list, "+");
        char name[64];
        if (pass_find(list, length) == pass_pipeline_length) {
            struct suggestion meant = pass_meant(list, length);
            return error_set(e, WNNStatus_TypeError, "debug switch %s: no pass is called \"%s\"%s", what,
                             escape_text(name, sizeof name, list, length), suggestion_text(&meant));
        }
        list += length + (list[length] != '\0');
    }
    return true;
}

/* ---- the driver ---- */

static const struct debug_options no_debug;

/* Counts the pipelines that have begun: dumps of several graphs, such as the bodies of loops, have names of their own. */
static atomic_uint graphs_begun;

/* Prints the graph.  In a folder of dumps, the constants that are too large for the text lie next to it, so that the tools read
 * the graph back. */
static void print_graph(const struct graph *g, unsigned number, uint32_t position, const struct debug_options *d)
{
    const struct print_options options = {.clusters = true};
    const char *name = pass_pipeline[position].name;
    struct debug_dump dump;
    bool file = debug_dump_begin(&dump, d, "graph%u-%02" PRIu32 "-%s.webnn", number, position, name);

    if (!file)
        fprintf(dump.out, "# after %s\n", name);
    graph_print(g, dump.out, &options);
    debug_dump_end(&dump, d);
    if (!file || !print_has_weights(g, &options))
        return;
    file = debug_dump_begin(&dump, d, "graph%u-%02" PRIu32 "-%s.safetensors", number, position, name);
    if (file && !print_weights(g, dump.out, &options))
        fprintf(stderr, "debug switch dump: the weights of %s could not be written\n", name);
    debug_dump_end(&dump, d);
}

static bool verify_after(struct graph *g, const struct pass *p, const struct pass_options *o, const struct debug_options *d)
{
    bool thorough = d->flags & DEBUG_VERIFY;

#ifdef NDEBUG
    if (!thorough)
        return true;
#endif
    if (!graph_verify(g, stderr))
        return error_set(&g->error, WNNStatus_UnknownError, "internal error: the graph is invalid after pass %s", p->name);
    if (thorough && p->run(g, o))
        return error_set(&g->error, WNNStatus_UnknownError, "internal error: pass %s is not done after one run", p->name);
    return true;
}

/* Runs one pass of the pipeline with all that the debug options ask for.  Returns false after an error in g->error. */
static bool run_pass(struct graph *g, const struct pass_options *o, const struct debug_options *d, unsigned number,
                     uint32_t position)
{
    const struct pass *p = &pass_pipeline[position];
    const uint64_t start = nanoseconds_now();

    if (o->cancelled && o->cancelled(o->user))
        return error_set(&g->error, WNNStatus_InvalidStateError, "the build was cancelled");
    bool changed = p->run(g, o);
    trace_span(d->trace, "pass", p->name, start);
    if (d->flags & DEBUG_TIME_PASSES)
        fprintf(stderr, "# %-18s %8.3f ms%s\n", p->name, (double)(nanoseconds_now() - start) * 1e-6,
                changed ? "" : " (nothing)");
    if (g->error.status)
        return false;
    if (changed && !verify_after(g, p, o, d))
        return false;
    if ((changed && d->flags & DEBUG_PRINT_AFTER_ALL) || debug_list_has(d->print_after, p->name))
        print_graph(g, number, position, d);
    return true;
}

static bool switches_check(struct graph *g, const struct debug_options *d)
{
    return list_check("skip", d->skip, &g->error) && list_check("stop-after", d->stop_after, &g->error) &&
           list_check("print-after", d->print_after, &g->error);
}

bool passes_run(struct graph *g, const struct pass_options *o)
{
    const struct debug_options *d = o->debug ? o->debug : &no_debug;
    const unsigned number = atomic_fetch_add(&graphs_begun, 1);
    bool stopped = false;

    if (!switches_check(g, d))
        return false;
    for (uint32_t i = 0; i < pass_pipeline_length; i++) {
        const struct pass *p = &pass_pipeline[i];
        if (!p->required && (d->flags & DEBUG_NO_PASSES || stopped || debug_list_has(d->skip, p->name)))
            continue;
        if (!run_pass(g, o, d, number, i))
            return false;
        stopped |= debug_list_has(d->stop_after, pass_pipeline[i].name);
    }
    return true;
}

/* Sets an error that lists what there is, each name once. */
static bool unknown_pass(const char *name, size_t length, struct error *e)
{
    struct suggestion meant = pass_meant(name, length);
    char buf[64], names[640];
    size_t used = 0;

    for (uint32_t i = 0; i < pass_pipeline_length && used < sizeof names; i++)
        if (pass_find(pass_pipeline[i].name, strlen(pass_pipeline[i].name)) == i)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", pass_pipeline[i].name);
    return error_set(e, WNNStatus_TypeError, "no pass is called '%s'%s%s %s", escape_text(buf, sizeof buf, name, length),
                     suggestion_text(&meant), *meant.best ? "  There are" : ", there are", names);
}

bool passes_run_named(struct graph *g, const struct pass_options *o, const char *names)
{
    const struct debug_options *d = o->debug ? o->debug : &no_debug;
    const unsigned number = atomic_fetch_add(&graphs_begun, 1);

    if (!switches_check(g, d))
        return false;
    for (const char *at = names, *name = at; *at; name = at) { /* all of them before the first one runs */
        const size_t length = strcspn(name, ",");

        if (pass_find(name, length) == pass_pipeline_length)
            return unknown_pass(name, length, &g->error);
        at = name + length + (name[length] != '\0');
    }
    for (const char *at = names, *name = at; *at; name = at) {
        const size_t length = strcspn(name, ",");

        if (!run_pass(g, o, d, number, pass_find(name, length)))
            return false;
        at = name + length + (name[length] != '\0');
    }
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The one table of passes, and the driver that does for every pass what is the same: skip, time, run, verify, print.
 *
 * In: a graph from the builder or the parser.  Out: the same graph rewritten, every node in a cluster, clusters in execution
 * order.
 *
 *   simplify    drop-dead, canonicalize, fold-constants, merge-common, fold-batch-norm: the graph as small as it gets
 *   legalize    expand-recurrent, legalize: what no library and no kernel can do as it stands, said with what they can do
 *   layout      convolutions to the layout that the target prefers; then the simplifying passes again, for the transposes
 *   clusters    separate-outputs, fuse-quantized, winograd, narrow-inputs, fuse-epilogues, pack-weights, fuse-kernels,
 *               finish-clusters
 *
 * Each pass runs to its own fixed point, so the table is walked once and nothing here loops.  Recurrent operators of one step
 * are expanded at the head of "legalize", so that what they become is folded and fused; those of several steps become loops,
 * whose bodies are small graphs that go through the same table (docs/recurrent.md).
 */
#include <inttypes.h>
#include <string.h>

#include "ir/trace.h"
#include "passes/passes.h"

/* clang-format off */
const struct pass pass_pipeline[] = {
    /* name             run                     required */
    {"drop-dead",        pass_drop_dead,        false, "remove what no output needs"},
    {"canonicalize",     pass_canonicalize,     false, "simpler equivalents, one form for equal things"},
    {"fold-constants",   pass_fold_constants,   false, "compute what depends on constants only"},
    {"merge-common",     pass_merge_common,     false, "compute equal things once"},
    {"fold-batch-norm",  pass_fold_batch_norm,  false, "what is affine per channel into the convolution before it"},
    {"expand-recurrent", pass_expand_recurrent, true,  "gru, lstm and their cells: one step as nodes, several left to a loop"},
    {"legalize",         pass_legalize,         true,  "what the library cannot take as it is, said so that it can"},
    {"propagate-layout", pass_propagate_layout, false, "the layout that convolutions prefer, with the fewest bytes transposed"},
    {"canonicalize",     pass_canonicalize,     false, "what legalising and layout left"},
    {"fold-constants",   pass_fold_constants,   false, "likewise"},
    {"merge-common",     pass_merge_common,     false, "likewise"},
    {"drop-dead",        pass_drop_dead,        false, "likewise"},
    {"separate-outputs", pass_separate_outputs, true,  "bytes of its own for each output"},
    {"fuse-quantized",   pass_fuse_quantized,   false, "library calls that multiply what was quantized as integers"},
    {"winograd",         pass_winograd,         false, "weights of 3x3 convolutions that are computed faster by transforms"},
    {"narrow-inputs",    pass_narrow_inputs,    false, "values that the library reads as bfloat16 to memory as bfloat16"},
    {"fuse-epilogues",   pass_fuse_epilogues,   false, "library calls with what follows them element by element"},
    {"pack-weights",     pass_pack_weights,     false, "constant factors in the order in which generated products read them"},
    {"fuse-kernels",     pass_fuse_kernels,     false, "nodes into kernels, by bytes and operations saved"},
    {"finish-clusters",  pass_finish_clusters,  true,  "a cluster for every node, in execution order"},
};
/* clang-format on */
const uint32_t pass_pipeline_length = sizeof pass_pipeline / sizeof *pass_pipeline;

/* ---- lists of pass names in debug options ---- */

static bool pass_exists(const char *name, size_t length)
{
    for (uint32_t i = 0; i < pass_pipeline_length; i++)
        if (strlen(pass_pipeline[i].name) == length && memcmp(pass_pipeline[i].name, name, length) == 0)
            return true;
    return false;
}

/* A misspelt name must not be taken for a pass that did nothing. */
static bool list_check(const char *what, const char *list, struct error *e)
{
    while (list && *list) {
        size_t length = strcspn(list, "+");
        char name[64];
        if (!pass_exists(list, length))
            return error_set(e, WNNStatus_TypeError, "debug switch %s: no pass is called \"%s\"", what,
                             escape_text(name, sizeof name, list, length));
        list += length + (list[length] != '\0');
    }
    return true;
}

/* ---- the driver ---- */

static const struct debug_options no_debug;

static void print_graph(const struct graph *g, uint32_t position, const struct debug_options *d)
{
    const struct print_options options = {.clusters = true};
    const struct pass *p = &pass_pipeline[position];
    char path[4096];
    FILE *out = NULL;

    if (d->dump_dir &&
        snprintf(path, sizeof path, "%s/%02" PRIu32 "-%s.webnn", d->dump_dir, position, p->name) < (int)sizeof path)
        out = fopen(path, "w");
    if (!out)
        fprintf(stderr, "# after %s\n", p->name);
    graph_print(g, out ? out : stderr, &options);
    if (out)
        fclose(out);
}

bool pass_is_skipped(const struct pass_options *o, const char *name)
{
    return o->debug && (o->debug->flags & DEBUG_NO_PASSES || debug_list_has(o->debug->skip, name));
}

/* Whether the pass at `position` is to run at all; *stopped: an optional pass named by stop-after has run. */
static bool pass_wanted(const struct pass *p, const struct debug_options *d, bool stopped)
{
    return p->required || !(d->flags & DEBUG_NO_PASSES || stopped || debug_list_has(d->skip, p->name));
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

bool passes_run(struct graph *g, const struct pass_options *o)
{
    const struct debug_options *d = o->debug ? o->debug : &no_debug;
    bool stopped = false;

    if (!list_check("skip", d->skip, &g->error) || !list_check("stop-after", d->stop_after, &g->error) ||
        !list_check("print-after", d->print_after, &g->error))
        return false;
    for (uint32_t i = 0; i < pass_pipeline_length; i++) {
        const struct pass *p = &pass_pipeline[i];
        uint64_t start;
        bool changed;

        if (!pass_wanted(p, d, stopped))
            continue;
        if (o->cancelled && o->cancelled(o->user))
            return error_set(&g->error, WNNStatus_InvalidStateError, "the build was cancelled");
        start = nanoseconds_now();
        changed = p->run(g, o);
        trace_span(d->trace, "pass", p->name, start);
        if (d->flags & DEBUG_TIME_PASSES)
            fprintf(stderr, "# %-18s %8.3f ms%s\n", p->name, (double)(nanoseconds_now() - start) * 1e-6,
                    changed ? "" : " (nothing)");
        if (g->error.status)
            return false;
        if (changed && !verify_after(g, p, o, d))
            return false;
        if ((changed && d->flags & DEBUG_PRINT_AFTER_ALL) || debug_list_has(d->print_after, p->name))
            print_graph(g, i, d);
        stopped |= debug_list_has(d->stop_after, p->name);
    }
    return true;
}

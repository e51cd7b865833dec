/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Builds graphs: implements wnnGraphBuilderBuild.
 *
 * A checked graph becomes a WNNGraph with an executable, or an error.  The synchronous form compiles on the calling thread
 * (compiling touches no tensor, so it needs no turn on the timeline); the asynchronous one compiles on the timeline.  Losing
 * the context cancels either.
 */
#include "runtime/compile/compile.h"
#include "runtime/compile/plans.h"
#include "runtime/api/runtime.h"
#include "runtime/api/variants.h"

#include <stdlib.h>

#include "ir/interpret/at_sizes.h"
#include "ir/support/clock.h"

/* Says whom a build asks whether to go on: the context, which may be lost, and the program. */
struct watch {
    WNNContext context;
    WNNBuildProgressCallbackInfo progress;
    uint32_t asked;
    bool cancelled; /* by the program */
};

static bool ask(struct watch *w, WNNBuildStage stage, uint32_t done, uint32_t total)
{
    if (!w->cancelled && w->progress.callback)
        w->cancelled = !w->progress.callback(stage, done, total, w->progress.userdata1, w->progress.userdata2);
    return w->cancelled || atomic_load(&w->context->lost);
}

static bool graph_cancelled(void *user)
{
    struct watch *w = user;

    return ask(w, WNNBuildStage_Graph, w->asked++, 0);
}

static bool code_cancelled(void *user, uint32_t done, uint32_t total)
{
    return ask(user, WNNBuildStage_Code, done, total);
}

/* Gives up a graph: plans learn of one that was compiled, unless it is theirs. */
static void give_up(struct graph *g, bool planned, bool compiled)
{
    if (g->origin.plans && compiled && !planned)
        plans_learn(g->origin.plans, g);
    else if (!planned)
        graph_free(g);
}

/* Returns the executable of g, which is freed as soon as possible: with it go the constants that were folded or packed. */
static struct executable *build_executable(WNNContext context, struct graph *g, WNNQuantizedWeights *quantized, struct error *e)
{
    struct engine *en = context->engine;
    struct compile_times times;
    struct program program;
    struct executable *x = NULL;
    struct watch watch = {context, g->progress, 0, false};
    const bool planned = g->origin.is_clustered;
    bool ok = compile_graph(en, g, graph_cancelled, &watch, &program, &times, e);

    *quantized = g->quantized.counts;
    give_up(g, planned, ok);
    if (!ok)
        return NULL;
    double start = milliseconds_now();
    program.cancelled = code_cancelled;
    program.cancelled_user = &watch;
    if (graph_cancelled(&watch))
        error_set(e, WNNStatus_OperationError, "the build was cancelled");
    else
        x = en->functions->load(en, &program, e);
    times.load = milliseconds_now() - start;
    if (context->debug.flags & DEBUG_TIME_PASSES)
        fprintf(stderr, "# %-18s %8.3f ms\n# %-18s %8.3f ms\n# %-18s %8.3f ms\n# %-18s %8.3f ms\n# %-18s %8.3f ms\n",
                "all passes", times.passes, "lowering", times.lower, "storage", times.storage, "library", times.library, "code",
                times.load);
    program_free(&program);
    if (x)
        context_log(context, WNNLogLevel_Info,
                    "a graph was %s: passes %.1f ms, lowering %.1f ms, storage %.1f ms, library %.1f ms, code %.1f ms",
                    planned ? "planned" : "built", times.passes, times.lower, times.storage, times.library, times.load);
    return x;
}

static void tell_unused_precision(WNNContext context)
{
    const struct engine *en = context->engine;

    if (en->precision != WNNPrecision_Float32 && en->exact && !atomic_flag_test_and_set(&context->told))
        context_log(context, WNNLogLevel_Warning, "the requested precision has no effect: %s", en->exact);
}

/* Whatever went wrong inside is one kind of error to the caller, unless the context is gone. */
static void build_set_error(WNNContext context, struct error *e)
{
    bool lost = atomic_load(&context->lost);
    struct error why = *e;

    error_clear(e);
    if (lost)
        error_set(e, WNNStatus_InvalidStateError, "build: the context was lost: %s", context->lost_error.message);
    else
        error_set(e, WNNStatus_OperationError, "build: %s", why.message);
}

/* Takes over g.  Returns NULL after an error in *e.  The result holds no reference on the context yet. */
WNNGraph graph_build(WNNContext context, struct graph *g, struct error *e)
{
    struct engine *en = context->engine;
    char message[sizeof e->message + 64];
    WNNGraph graph = NULL;

    if (g->dims && !dims_name_count(g)) { /* operators on shapes that are all known */
        struct graph *sized = graph_at_sizes(g, NULL, NULL, e);

        graph_free(g);
        g = sized;
    }
    if (!g) {
        build_set_error(context, e);
        return NULL;
    }
    if (atomic_load(&context->lost) || !(graph = graph_create_object(context, g, e)))
        give_up(g, g->origin.is_clustered, false);
    else if (g->dims)
        graph->variants = variants_create(g, e);
    else
        graph->executable = build_executable(context, g, &graph->quantized, e);
    if (graph && (graph->executable || graph->variants) && graph_publish(graph)) {
        tell_unused_precision(context);
        return graph;
    }
    wnnGraphRelease(graph);
    context_check_engine(context);
    build_set_error(context, e);
    context_log(context, WNNLogLevel_Warning, "%s", e->message);
    if (en->functions->optional.is_left && en->functions->optional.is_left(en)) {
        snprintf(message, sizeof message, "the context was lost: %s", e->message);
        context_lose(context, message);
    }
    return NULL;
}

WNNStatus runtime_build(WNNContext context, struct graph *g, WNNGraph *graph, struct error *e)
{
    error_clear(e);
    *graph = NULL;
    WNNGraph built = graph_build(context, g, e);
    if (!built)
        return e->status;
    wnnContextAddRef(context);
    built->holds_context = true;
    *graph = built;
    return WNNStatus_Success;
}

/* ---- asynchronously ---- */

struct build_task {
    struct context_task base;
    struct future *future;
    struct graph *g;
    /* The task loads this file instead if path is not NULL. */
    char *path;
    runtime_load_function load;
};

static void build_task_run(struct context_task *base)
{
    struct build_task *t = (struct build_task *)base;
    WNNContext context = base->context;
    struct error e = {0};

    if (!future_begin(context, t->future))
        return;
    WNNGraph graph = t->path ? t->load(context, t->path, &e) : graph_build(context, t->g, &e);
    t->g = NULL;
    future_end(context, t->future, graph ? NULL : &e, graph);
}

static void build_task_release(struct context_task *base)
{
    struct build_task *t = (struct build_task *)base;

    if (t->g)
        graph_free(t->g);
    free(t->path);
    future_give_back(base->context, t->future);
}

static struct future *build_future(WNNContext context, WNNBuildCallbackInfo info)
{
    const struct future_target target = {{.graph = info.callback}, info.userdata1, info.userdata2};
    struct error e = {0};

    return future_open(context, FUTURE_GRAPH, info.mode, target, &e);
}

/* Queues what *wanted says, which is taken over. */
static WNNFuture build_submit(WNNContext context, const struct build_task *wanted, WNNBuildCallbackInfo info)
{
    struct future *f = build_future(context, info);
    struct build_task *t = f ? calloc(1, sizeof *t) : NULL;
    struct error e = {0};

    if (!t) {
        if (wanted->g)
            graph_free(wanted->g);
        free(wanted->path);
        error_out_of_memory(&e);
        if (f)
            future_fail(context, f, &e);
    } else {
        *t = *wanted;
        t->base.run = build_task_run;
        t->base.release = build_task_release;
        t->future = f;
        future_submit(context, f, &t->base);
    }
    return future_close(context, f);
}

WNNFuture runtime_build_async(WNNContext context, struct graph *g, WNNBuildCallbackInfo info)
{
    return build_submit(context, &(struct build_task){.g = g}, info);
}

WNNFuture runtime_load_async(WNNContext context, const char *path, runtime_load_function load, WNNBuildCallbackInfo info)
{
    char *copy = strdup(path);
    struct error e = {0};

    if (copy)
        return build_submit(context, &(struct build_task){.path = copy, .load = load}, info);
    error_out_of_memory(&e);
    return runtime_build_failed(context, &e, info);
}

WNNFuture runtime_build_failed(WNNContext context, const struct error *e, WNNBuildCallbackInfo info)
{
    struct future *f = build_future(context, info);

    if (f) {
        error_publish(e);
        future_fail(context, f, e);
    }
    return future_close(context, f);
}

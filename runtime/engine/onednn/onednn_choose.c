/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Decides which of library and generated kernel computes a matmul faster; a convolution is one with more to sum, too.
 *
 * It decides about a contraction that the library supports, described by numbers.  Nothing is timed while a graph is built: the
 * same graph on the same machine is compiled the same way, and gives the same bits.  Time is a sum of features, each times its
 * price on this kind of machine (ir/target/prices.h, docs/contractions.md).
 */
#include "ir/kernel/kernel.h"
#include "runtime/engine/onednn/onednn.h"

enum { LINE_ELEMENTS = TARGET_LINE_BYTES / sizeof(float) };

/** Counts what struct contraction_prices has prices of. */
struct contraction_size {
    double batch, rows;
    double products, ragged, windows; /* in thousands */
    double results;                   /* that share the inputs under a window; without one infinitely many */
    double kib;
    bool panels;      /* there are some for a constant B: it is packed */
    bool interleaved; /* the lanes of AVX-512 sum it in another order (struct register_tile) */
};

static bool is_ungrouped(const struct dnn_problem *p)
{
    return p->kind == DNN_CONVOLUTION && p->weights.rank == 4;
}

/* Returns whether the library computes a convolution of few channels slowly.  With one channel and few results it computes
 * 16 all the same, and a generated kernel may repay its compilation.  Of filters along padded rows wider
 * than its kernels for few channels (relo) take, it multiplies matrices of as few rows: at 20 to 70 GFLOP/s, not at 170. */
static bool has_few_channels(const struct multiplication_facts *f, const struct dnn_problem *p)
{
    const int64_t *w = p->weights.dims, *y = p->dst.dims;
    const bool repays = f->one_channel * (double)(y[0] * y[2] * y[3]) * (double)(w[2] * w[3]) >= f->compile;
    const bool is_long = w[2] == 1 && w[3] > f->long_filter_width && (p->low[1] || p->high[1]);

    return is_ungrouped(p) &&
           ((w[1] == 1 && w[0] <= KERNEL_RUN_LEAST && repays) || (is_long && w[1] < f->long_filter_channels));
}

/* Returns whether a convolution is a depthwise one, whose generated kernels keep the filter in registers over lines of the
 * image (struct tile_window in ir/schedule/schedule.h): they take 0.5 to 0.7 of the time that the library takes.  Steps of
 * windows that are longer are loops, and dilated windows share less, where it is faster. */
static bool is_depthwise(const struct dnn_problem *p)
{
    const int64_t *w = p->weights.dims;

    return p->kind == DNN_CONVOLUTION && p->weights.rank == 5 && w[1] == 1 && w[2] == 1 && !p->dilations[0] &&
           !p->dilations[1] && w[3] <= KERNEL_IMMEDIATE_MAX && w[4] <= KERNEL_IMMEDIATE_MAX;
}

/* Returns whether that many columns are divided into panels, or few enough to be one (schedule_panel). */
static bool has_panels(const struct target_facts *f, int64_t columns)
{
    int64_t panel = f->loop.run_least, most = panel * f->contraction.panel.vectors_most;

    while (panel < most && columns % panel)
        panel++;
    return columns <= most || columns % panel == 0;
}

static struct contraction_size contraction_size(const struct target_facts *f, const struct dnn_problem *p)
{
    const int rank = p->dst.rank;
    const bool convolves = p->kind == DNN_CONVOLUTION;
    const int along = convolves ? 1 : rank - 1;
    const int64_t *w = p->weights.dims + (p->weights.rank == 5); /* of a group */
    const int64_t columns = convolves ? w[0] : p->dst.dims[along], inner = convolves ? w[1] : p->src.dims[along];
    const int64_t window = convolves ? w[2] * w[3] : 1;
    struct contraction_size s = {.batch = 1, .rows = 1, .panels = has_panels(f, columns)};

    for (int i = 0; i < rank; i++) {
        s.rows *= i == along ? 1 : (double)p->dst.dims[i];
        s.batch *= convolves || i >= rank - 2 ? 1 : (double)p->dst.dims[i];
    }
    s.products = s.rows * (double)p->dst.dims[along] * (double)inner * (double)window * 1e-3;
    s.ragged = columns % LINE_ELEMENTS ? s.products : 0;
    s.windows = window > 1 ? s.products / (double)inner : 0;
    s.results = window > 1 ? (double)columns : HUGE_VAL;
    s.interleaved = window == 1 && inner % 2 == 0 && columns >= KERNEL_RUN_LEAST && 2 * columns <= 3 * LINE_ELEMENTS &&
                    (columns > LINE_ELEMENTS || inner <= TILE_SUM_STEPS);
    s.kib = (double)dnn_elements(&p->weights) * sizeof(float) / 1024;
    return s;
}

/* Returns the nanoseconds that a way to compute a contraction takes.  The library wakes all threads whatever the size. */
static double contraction_time(const struct library *l, const struct contraction_prices *p, const struct contraction_size *s)
{
    const struct target_facts *f = l->facts;
    const bool far = s->kib * 1024 > f->cache.l2_between_calls * (double)l->cache_bytes;
    const double memory = (far ? p->far : p->near) * s->kib;
    /* A window's results are computed in whole vectors, and by the library in two at least. */
    const double least = (double)f->multiplication.library_results / (p == &f->multiplication.library ? 1 : 2);
    const double arithmetic = (p->product * s->products + p->ragged * s->ragged + p->window * s->windows) *
                              (s->results < least ? least / s->results : 1);
    const bool divided = l->threads > 1 && (p == &f->multiplication.library || arithmetic + memory > 2e3 * f->call.thread_work);

    return p->call + p->matrix * s->batch + memory + /* which is shared */
           (divided ? 1e3 * f->call.wake + arithmetic / l->threads : arithmetic);
}

bool dnn_repays_packing(const struct library *l, const struct dnn_problem *p)
{
    const bool has_groups = p->weights.rank == 5;

    if (p->kind != DNN_CONVOLUTION || !p->given_late || p->src_type == dnnl_f32)
        return true;
    const int64_t least = (has_groups ? 2 : 1) * l->facts->multiplication.late_filter_results;
    return !(has_groups && p->weights.dims[2] == 1) && p->dst.dims[0] * p->dst.dims[2] * p->dst.dims[3] >= least;
}

bool dnn_is_faster(const struct library *l, const struct dnn_problem *p, bool constant, int64_t piece)
{
    const struct multiplication_facts *f = &l->facts->multiplication;
    const int64_t *w = p->weights.dims;

    /* Of transposed convolutions the library computes gradients: at 10 to 150 GFLOP/s where generated kernels do 180, and at 2
     * to 20 with an activation, which it computes element by element, as it does small groups. */
    if (constant && !p->parts && p->src_type == dnnl_f32 &&
        (has_few_channels(f, p) || (p->kind == DNN_TRANSPOSED_CONVOLUTION && p->weights.rank == 4) ||
         (f->depthwise && is_depthwise(p)) ||
         (f->groups && p->kind == DNN_CONVOLUTION && p->weights.rank == 5 && w[1] > 1 && w[1] < KERNEL_RUN_LEAST && w[2] > 1)))
        return false;
    const bool measured = is_ungrouped(p) ? f->convolutions : f->groups && w[1] >= KERNEL_RUN_LEAST;
    if (p->parts || p->src_type != dnnl_f32 || !(p->kind == DNN_MATMUL || (p->kind == DNN_CONVOLUTION && constant && measured)))
        return true;

    const struct contraction_size s = contraction_size(l->facts, p);
    if (constant && s.rows == 1) /* the library cuts the sums of vectors for its threads: each number gives other bits */
        return false;
    if (!constant && p->weights.strides[p->weights.rank - 1] != 1 && s.rows / s.batch > l->facts->contraction.few_rows)
        return true; /* vectors run along K, without tiles: each row reads all of it */
    if (s.interleaved && s.rows > s.batch)
        return false; /* faster, and any number of threads gives the same bits */
    const double library = contraction_time(l, &f->library, &s);
    const double generated = contraction_time(l, constant && s.panels ? &f->packed : &f->unpacked, &s);
    /* Matrices share code with those of other sizes, which a graph has more of, but of heads that fill no panel; they were
     * measured where convolutions were. */
    const bool shares = f->convolutions && constant && s.panels && !s.windows && piece % LINE_ELEMENTS == 0;

    return library * (shares ? 1 : f->worth) <= generated || (s.rows / s.batch > l->facts->contraction.few_rows &&
                                                              library - generated < (shares ? f->compile_shared : f->compile));
}

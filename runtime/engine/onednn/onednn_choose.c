/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Decides which of library and generated kernel computes a matmul faster; a convolution is one with more to sum, too.
 *
 * It decides about a contraction that the library supports, described by numbers.  Nothing is timed while a graph is built: the
 * same graph on the same machine is compiled the same way, and gives the same bits.  Time is estimated as
 *
 *   call + wake + max(arithmetic, memory) + exposed * min(arithmetic, memory)
 *
 * with facts of the table in ir/target/target.c, measured by webnn-bench (docs/contractions.md, "Library or not").
 *
 * The two differ as follows.  A generated kernel reads panels packed for it from consecutive addresses and prefetches the next
 * one, so that reading them costs little next to the arithmetic.  A call of the library costs more than a call of a function.
 * Operands that are not constants cannot be packed, which only the library makes up for.  How much reading costs next to the
 * arithmetic depends on how fast that is, so machines with two units for multiply-adds of 512 bits have facts of their own.
 */
#include "ir/kernel/kernel.h"
#include "runtime/engine/onednn/onednn.h"

struct contraction_size {
    double batch, rows, inner, columns;
    double weights; /* bytes of them */
    double bytes;   /* of all operands */
};

/* Returns whether a convolution's results share inputs as those of a matmul do. */
static bool is_ungrouped(const struct dnn_problem *p)
{
    return p->kind == DNN_CONVOLUTION && p->weights.rank == 4;
}

/*
 * Returns whether a convolution has a filter along padded rows, of few channels and wider than the library's kernels for such
 * (relo in their names) take.  The library then multiplies matrices with as few rows as there are channels, and does 20 to 70
 * GFLOP/s where generated kernels do 170.
 */
static bool is_long_filter(const struct multiplication_facts *f, const struct dnn_problem *p)
{
    const int64_t *w = p->weights.dims;

    return is_ungrouped(p) && w[2] == 1 && w[3] > f->long_filter_width && w[1] < f->long_filter_channels &&
           (p->low[1] || p->high[1]);
}

/*
 * Returns whether a convolution is a transposed one.  The library computes it as the gradient of a convolution: it does 10 to
 * 150 GFLOP/s where generated kernels do 180, and with an activation as epilogue, which it computes element by element, 2 to
 * 20.
 */
static bool is_transposed(const struct dnn_problem *p)
{
    return p->kind == DNN_TRANSPOSED_CONVOLUTION && p->weights.rank == 4;
}

/*
 * Returns whether a convolution is a depthwise one, whose generated kernels keep the filter in registers over lines of the
 * image (struct tile_window in ir/schedule/schedule.h): they take 0.5 to 0.7 of the time that the library takes.  Steps of
 * windows that are longer are loops, and dilated windows share less, where it is faster.
 */
static bool is_depthwise(const struct dnn_problem *p)
{
    const int64_t *w = p->weights.dims;

    return p->kind == DNN_CONVOLUTION && p->weights.rank == 5 && w[1] == 1 && w[2] == 1 && !p->dilations[0] &&
           !p->dilations[1] && w[3] <= KERNEL_IMMEDIATE_MAX && w[4] <= KERNEL_IMMEDIATE_MAX;
}

static struct contraction_size contraction_size(const struct dnn_problem *p)
{
    const int rank = p->dst.rank;
    struct contraction_size s = {.batch = 1};

    if (p->kind == DNN_CONVOLUTION) {
        s.rows = (double)(p->dst.dims[0] * p->dst.dims[2] * p->dst.dims[3]);
        s.columns = (double)p->dst.dims[1];
        s.inner = (double)(p->src.dims[1] * p->weights.dims[2] * p->weights.dims[3]);
    } else {
        s.rows = (double)p->dst.dims[rank - 2];
        s.columns = (double)p->dst.dims[rank - 1];
        s.inner = (double)p->src.dims[rank - 1];
        for (int i = 0; i < rank - 2; i++)
            s.batch *= (double)p->dst.dims[i];
    }
    s.weights = (double)dnn_elements(&p->weights) * sizeof(float);
    s.bytes = s.weights + (double)(dnn_elements(&p->src) + dnn_elements(&p->dst)) * sizeof(float);
    return s;
}

static double contraction_time(const struct library *l, const struct multiplication_cost *c, const struct contraction_size *s)
{
    const struct target_facts *f = l->facts;
    /* Where rows are many, operands that change are in the cache, because what comes before has just written them. */
    const double bytes = s->rows > f->contraction.few_rows && f->multiplication.convolutions ? s->weights : s->bytes;
    const bool far = bytes > f->cache.l2_between_calls * (double)l->cache_bytes;
    double arithmetic = 2 * s->batch * s->rows * s->columns * s->inner / c->operations;
    double memory = bytes / (c->speed * (far ? f->rate.memory_bytes : f->rate.l2_bytes));
    double wake = 0;

    if (l->threads > 1 && (arithmetic > memory ? arithmetic : memory) > c->alone) {
        wake = f->call.wake;
        arithmetic /= l->threads; /* memory is shared */
    }
    return c->call + c->matrix * s->batch + wake +
           (arithmetic > memory ? arithmetic + c->exposed * memory : memory + c->exposed * arithmetic);
}

bool dnn_repays_packing(const struct library *l, const struct dnn_problem *p)
{
    const bool has_groups = p->weights.rank == 5;

    if (p->kind != DNN_CONVOLUTION || !p->given_late || p->src_type == dnnl_f32)
        return true;
    if (has_groups && p->weights.dims[2] == 1)
        return false;
    return p->dst.dims[0] * p->dst.dims[2] * p->dst.dims[3] >=
           (has_groups ? 2 : 1) * l->facts->multiplication.late_filter_results;
}

bool dnn_is_faster(const struct library *l, const struct dnn_problem *p, bool constant)
{
    const struct multiplication_facts *f = &l->facts->multiplication;

    if (constant && !p->parts && p->src_type == dnnl_f32 &&
        (is_long_filter(f, p) || is_transposed(p) || (f->depthwise && is_depthwise(p))))
        return false;
    if (p->parts || p->src_type != dnnl_f32 || !(p->kind == DNN_MATMUL || (f->convolutions && constant && is_ungrouped(p))))
        return true;

    const struct contraction_size s = contraction_size(p);
    const double library = contraction_time(l, &f->library, &s);
    const double generated = contraction_time(l, constant ? &f->packed : &f->unpacked, &s);

    return library * f->worth <= generated || (s.rows > l->facts->contraction.few_rows && library - generated < f->worth_tall);
}

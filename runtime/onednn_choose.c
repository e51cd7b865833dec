/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which of library and generated kernel computes a matrix product faster; a convolution is one with more to sum, too.
 *
 * In: a product that the library takes, as numbers.  Out: whether the library is to have it.  Nothing is timed while a graph is
 * built: the same graph on the same machine is compiled the same way, and gives the same bits.
 *
 * Time is estimated as
 *
 *     call + wake + max(arithmetic, memory) + exposed * min(arithmetic, memory)
 *
 * with constants measured by webnn-bench (docs/products.md, "Library or not").  What tells the two apart: a generated kernel
 * reads panels packed for it from consecutive addresses and fetches the next one meanwhile, so that reading them costs little
 * beside the arithmetic; a call of the library costs more than a call of a function; and factors that are no constants cannot
 * be packed, which only the library makes up for.  How much reading costs beside the arithmetic depends on how fast that is, so
 * machines with two units for multiply-adds of 512 bits have constants of their own.
 */
#include "ir/kernel.h"
#include "runtime/onednn.h"

/* Microseconds, and per microsecond. */
struct product_cost {
    double call;    /* whatever the size */
    double matrix;  /* for each one of a batch */
    double wake;    /* other threads, once */
    double alone;   /* work up to this is not given to other threads */
    double flops;   /* of one thread, for vectors of 512 bits */
    double speed;   /* share of the machine's bandwidth that reading weights reaches */
    double exposed; /* share of the lesser of arithmetic and memory that the other does not hide */
};

struct machine {
    struct product_cost library, packed, unpacked;
    double bytes_cached, bytes_memory; /* bytes per microsecond from the second cache, and from memory */
    double resident;                   /* share of the second cache that weights stay in from one run to the next */
    double worth;      /* a kernel takes longer to compile than a primitive to create: it must be better by this */
    bool convolutions; /* are measured, too */
};

static const struct machine half_rate = {
    .library = {0.6, 0.15, 2.0, 0.0, 117e3, 0.75, 0.50},
    .packed = {0.1, 0.0, 2.0, 30.0, 111e3, 1.00, 0.25},
    .unpacked = {0.1, 0.0, 2.0, 30.0, 10e3, 0.75, 1.00},
    .bytes_cached = 90e3,
    .bytes_memory = 34e3,
    .resident = 1.0,
    .worth = 0.9,
};

static const struct machine full_rate = {
    .library = {0.6, 0.15, 2.0, 0.0, 163e3, 0.75, 1.00},
    .packed = {0.1, 0.0, 2.0, 30.0, 165e3, 1.00, 0.20},
    .unpacked = {0.1, 0.0, 2.0, 30.0, 15e3, 0.75, 1.00},
    .bytes_cached = 120e3,
    .bytes_memory = 28e3,
    .resident = 0.25,
    .worth = 0.94,
    .convolutions = true,
};

/* Tiles of more rows than KERNEL_FEW_ROWS are long code, worth it from so many microseconds on. */
#define WORTH_TILES 5.0

struct product_size {
    double batch, rows, inner, columns;
    double weights; /* bytes of them */
    double bytes;   /* of all operands */
};

/* A convolution whose results share inputs as those of a matrix product do. */
static bool is_ungrouped(const struct dnn_problem *p)
{
    return p->kind == DNN_CONVOLUTION && p->weights.rank == 4;
}

/*
 * A filter along padded rows, of few channels and wider than the library's kernels for such (relo in their names) take: it then
 * multiplies matrices with as few rows as there are channels, and does 20 to 70 GFLOP/s where generated kernels do 170.
 */
static bool is_long_filter(const struct dnn_problem *p)
{
    enum { WIDTH_MOST = 13, CHANNELS_FEW = 8 };
    const int64_t *w = p->weights.dims;

    return is_ungrouped(p) && w[2] == 1 && w[3] > WIDTH_MOST && w[1] < CHANNELS_FEW && (p->low[1] || p->high[1]);
}

/*
 * The library computes a transposed convolution as the gradient of one: 10 to 150 GFLOP/s where generated kernels do 180, and
 * with an activation as epilogue element by element, 2 to 20.
 */
static bool is_transposed(const struct dnn_problem *p)
{
    return p->kind == DNN_TRANSPOSED_CONVOLUTION && p->weights.rank == 4;
}

static struct product_size product_size(const struct dnn_problem *p)
{
    const int rank = p->dst.rank;
    struct product_size s = {.batch = 1};

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

static double product_time(const struct machine *m, const struct product_cost *c, const struct product_size *s,
                           const struct library *l)
{
    /* Where rows are many, operands that change are in the cache: what comes before has just written them. */
    const double bytes = s->rows > KERNEL_FEW_ROWS && m->convolutions ? s->weights : s->bytes;
    const bool far = bytes > m->resident * (double)l->cache_bytes;
    double arithmetic = 2 * s->batch * s->rows * s->columns * s->inner / (c->flops * (double)l->vector_bits / 512);
    double memory = bytes / (c->speed * (far ? m->bytes_memory : m->bytes_cached));
    double wake = 0;

    if (l->threads > 1 && (arithmetic > memory ? arithmetic : memory) > c->alone) {
        wake = c->wake;
        arithmetic /= l->threads; /* memory is shared */
    }
    return c->call + c->matrix * s->batch + wake +
           (arithmetic > memory ? arithmetic + c->exposed * memory : memory + c->exposed * arithmetic);
}

bool dnn_is_faster(const struct library *l, const struct dnn_problem *p, bool constant)
{
    const struct machine *m = l->full_rate ? &full_rate : &half_rate;

    if (constant && !p->parts && p->src_type == dnnl_f32 && (is_long_filter(p) || is_transposed(p)))
        return false;
    if (p->parts || p->src_type != dnnl_f32 || !(p->kind == DNN_MATMUL || (m->convolutions && constant && is_ungrouped(p))))
        return true;

    const struct product_size s = product_size(p);
    const double library = product_time(m, &m->library, &s, l);
    const double generated = product_time(m, constant ? &m->packed : &m->unpacked, &s, l);

    return library * m->worth <= generated || (s.rows > KERNEL_FEW_ROWS && library - generated < WORTH_TILES);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which of library and generated kernel computes a matrix product faster.
 *
 * In: a product that the library takes, as numbers.  Out: whether the library is to have it.  Nothing is timed while a graph is
 * built: the same graph on the same machine is compiled the same way, and gives the same bits.
 *
 * Time is estimated as
 *
 *     call + wake + max(arithmetic, memory) + exposed * min(arithmetic, memory)
 *
 * with constants measured by webnn-bench (docs/products.md, "Library or not").  What tells the two apart: a generated kernel
 * reads panels packed for it from consecutive addresses, so that reading them costs little beside the arithmetic; a call of the
 * library costs more than a call of a function; the library's tiles are a little faster where everything lies in the cache;
 * and factors that are no constants cannot be packed, which only the library makes up for.
 */
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

static const struct product_cost library_cost = {0.6, 0.15, 2.0, 0.0, 117e3, 0.75, 0.50};
static const struct product_cost packed_cost = {0.1, 0.0, 2.0, 30.0, 111e3, 1.00, 0.25};
static const struct product_cost unpacked_cost = {0.1, 0.0, 2.0, 30.0, 10e3, 0.75, 1.00};

/* A kernel takes longer to compile than a primitive to create: it must be better by this much. */
#define WORTH_COMPILING 0.9
/* Tiles of more rows than these are long code, worth it from so many microseconds on. */
#define FEW_ROWS 6
#define WORTH_TILES 5.0

#define BYTES_CACHED 90e3 /* bytes per microsecond from the second cache */
#define BYTES_MEMORY 34e3 /* and from memory */

struct product_size {
    double batch, rows, inner, columns;
    double weights; /* bytes of them */
    double bytes;   /* of all operands */
};

static struct product_size product_size(const struct dnn_problem *p)
{
    const int rank = p->dst.rank;
    struct product_size s = {.batch = 1};

    s.rows = (double)p->dst.dims[rank - 2];
    s.columns = (double)p->dst.dims[rank - 1];
    s.inner = (double)p->src.dims[rank - 1];
    for (int i = 0; i < rank - 2; i++)
        s.batch *= (double)p->dst.dims[i];
    s.weights = (double)dnn_elements(&p->weights) * sizeof(float);
    s.bytes = s.weights + (double)(dnn_elements(&p->src) + dnn_elements(&p->dst)) * sizeof(float);
    return s;
}

static double product_time(const struct product_cost *c, const struct product_size *s, double threads, double vector_bits,
                           double cache_bytes)
{
    double arithmetic = 2 * s->batch * s->rows * s->columns * s->inner / (c->flops * vector_bits / 512);
    double memory = s->bytes / (c->speed * (s->bytes > cache_bytes ? BYTES_MEMORY : BYTES_CACHED));
    double wake = 0;

    if (threads > 1 && (arithmetic > memory ? arithmetic : memory) > c->alone) {
        wake = c->wake;
        arithmetic /= threads; /* memory is shared */
    }
    return c->call + c->matrix * s->batch + wake +
           (arithmetic > memory ? arithmetic + c->exposed * memory : memory + c->exposed * arithmetic);
}

bool dnn_is_faster(const struct library *l, const struct dnn_problem *p, bool constant)
{
    if (p->kind != DNN_MATMUL || p->src_type != dnnl_f32)
        return true;

    const struct product_size s = product_size(p);
    const double threads = l->threads, bits = l->vector_bits, cache = (double)l->cache_bytes;
    const double library = product_time(&library_cost, &s, threads, bits, cache);
    const double generated = product_time(constant ? &packed_cost : &unpacked_cost, &s, threads, bits, cache);

    return library * WORTH_COMPILING <= generated || (s.rows > FEW_ROWS && library - generated < WORTH_TILES);
}

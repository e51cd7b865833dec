/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Estimates what a join of groups saves and costs: bytes moved to and from memory, work done again, threads without work.  From
 * nodes in topological order come estimates in bytes, by which fuse_kernels.c decides.
 */
#include "ir/graph/compact.h"
#include "passes/cluster/fuse_internal.h"

/* Returns whether a result of the nodes being weighed is needed elsewhere: it has more uses than were met among them. */
static bool read_outside(const struct fuse *f, const struct value *v)
{
    return f->uses[v->index] > (f->value_in[v->index] == f->weighing ? f->value_uses[v->index] : 0);
}

double fuse_weigh(struct fuse *f, struct node *const *nodes, uint32_t count, uint32_t *streams)
{
    double bytes = 0;

    f->weighing++;
    *streams = 0;
    for (uint32_t i = 0; i < count; i++)
        f->node_in[nodes[i]->index] = f->weighing;
    for (uint32_t i = 0; i < count; i++) {
        const struct node *n = nodes[i];
        for (uint32_t k = 0; k < n->input_count; k++) {
            const struct value *v = n->inputs[k].value;
            if (!v)
                continue;
            if (f->value_in[v->index] != f->weighing) {
                f->value_in[v->index] = f->weighing;
                f->value_uses[v->index] = 0;
                f->value_bytes[v->index] = 0;
                *streams += !(v->producer && f->node_in[v->producer->index] == f->weighing);
            }
            f->value_uses[v->index]++;
            if (v->producer && f->node_in[v->producer->index] == f->weighing)
                continue;
            /* A slice reads a part; reading more often than there are elements comes from the cache. */
            double read = cost_elements_read(n, k) * (double)dtype_size(v->type.type);
            if (read > fuse_value_bytes(v))
                read = fuse_value_bytes(v);
            if (read > f->value_bytes[v->index]) {
                bytes += read - f->value_bytes[v->index];
                f->value_bytes[v->index] = read;
            }
        }
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < nodes[i]->result_count; k++)
            if (read_outside(f, nodes[i]->results[k])) {
                bytes += fuse_value_bytes(nodes[i]->results[k]);
                *streams += 2;
            }
    return bytes;
}

/* Returns how many results of the nodes weighed last are needed outside. */
uint32_t fuse_written_values(const struct fuse *f, struct node *const *nodes, uint32_t count)
{
    uint32_t written = 0;

    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < nodes[i]->result_count; k++)
            written += read_outside(f, nodes[i]->results[k]);
    return written;
}

/* Returns whether a node reduces rows, and finds how many elements one point of its space runs over, and how many points there
 * are. */
static bool is_row(const struct node *n, double *points, double *row)
{
    if (!(op_infos[n->op].flags & (OPF_REDUCTION | OPF_NORMALIZATION | OPF_SCAN)))
        return false;
    *points = cost_points(n);
    *row = (double)type_elements(&n->inputs[0].value->type) / *points;
    return true;
}

/*
 * Returns whether reading v, one value per row, for every element of the rows is no repeated work: some node of the candidate
 * runs over these rows, and what is the same for a whole row is computed once per row.
 */
static bool read_per_row(const struct candidate *c, const struct value *v, double reads)
{
    double points, row;

    for (uint32_t i = 0; i < c->count; i++)
        if (is_row(c->nodes[i], &points, &row) && points == (double)type_elements(&v->type) && points * row == reads)
            return true;
    return false;
}

double fuse_repeated_work(struct fuse *f, const struct candidate *c)
{
    double operations = 0;

    for (uint32_t i = 0; i < c->count; i++)
        for (uint32_t k = 0; k < c->nodes[i]->result_count; k++)
            f->value_bytes[c->nodes[i]->results[k]->index] = 1;
    for (uint32_t i = c->count; i-- > 0;) {
        const struct node *n = c->nodes[i];
        double times = 1;

        for (uint32_t k = 0; k < n->result_count; k++)
            if (f->value_bytes[n->results[k]->index] > times)
                times = f->value_bytes[n->results[k]->index];
        const struct value *v = n->result_count == 1 ? n->results[0] : NULL;
        if (times > 1 && !(v && (value_is_unpacked(v) || value_is_rounded(v) || value_is_rounded_zero(v)))) {
            if (cost_is_high(n))
                return -1;
            operations += (times - 1) * cost_operations(f->o->target, n);
        }
        for (uint32_t k = 0; k < n->input_count; k++) {
            double reads, again;
            v = n->inputs[k].value;
            if (!v || !v->producer || f->node_in[v->producer->index] != f->weighing)
                continue;
            reads = cost_elements_read(n, k);
            again = times * reads / (double)type_elements(&v->type);
            if (again > f->value_bytes[v->index] && !(times == 1 && read_per_row(c, v, reads)))
                f->value_bytes[v->index] = again;
        }
    }
    return operations / target_facts(f->o->target)->operation.per_byte;
}

double fuse_lost_threads(const struct fuse *f, const struct candidate *c)
{
    double threads = f->o->target && f->o->target->thread_count ? f->o->target->thread_count : 1;
    double points = -1, lost = 0;

    if (threads <= 1)
        return 0;
    for (uint32_t i = 0; i < c->count; i++) {
        double p, row;
        if (is_row(c->nodes[i], &p, &row) && (points < 0 || p < points))
            points = p;
    }
    if (points < 0 || points >= threads)
        return 0;
    for (uint32_t i = 0; i < c->count; i++) {
        double own = cost_points(c->nodes[i]);
        double before = own < threads ? own : threads;
        lost += cost_operations(f->o->target, c->nodes[i]) * (1 / points - 1 / before);
    }
    return lost / target_facts(f->o->target)->operation.per_byte;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs lowered graphs in tests on random inputs: every cluster is lowered and its kernels are run by a function of the test's
 * choice, and outputs are compared with the reference interpreter within its error bounds.
 */
#pragma once

#include <math.h>

#include "ir/interpret/interpret.h"
#include "passes/passes.h"
#include "support/graphs.h"
#include "support/kernel_text.h"
#include "support/random.h"

/** Runs a finished kernel, as kernel_interpret or compiled code does. */
typedef bool (*kernel_runner)(const struct kernel *k, void *const *tensors);

/** Makes one random element.  If it is nasty, NaN, infinities, signed zeros, subnormals and extreme integers are among them. */
GRAPHS_UNUSED static void kernels_random_element(dtype t, bool nasty, void *to)
{
    static const float specials[] = {NAN,     INFINITY, -INFINITY, 0.0f,  -0.0f, 1e-40f,
                                     -3e-42f, 6e-8f,    65504.0f,  1e18f, 1.0f,  -1.0f};
    static const uint64_t extremes[] = {0, 1, UINT64_MAX, INT64_MAX, 0x8000000000000000u, 0x7FFFFFFF, 0x80000000, 127, 128};
    const bool special = nasty && random_bits() % 8 == 0;

    if (dtype_is_float(t)) {
        float f = special ? specials[random_bits() % 12] : (float)random_in_range(-4, 4);
        uint16_t h = f32_to_f16(f);
        memcpy(to, t == WNNOperandDataType_Float16 ? (void *)&h : (void *)&f, dtype_size(t));
    } else {
        uint64_t v = special ? extremes[random_bits() % 9] : (uint64_t)((int64_t)(random_bits() % 11) - 5);
        if (!dtype_is_signed(t) && !special)
            v = random_bits() % 11;
        memcpy(to, &v, dtype_size(t)); /* little-endian: the low bytes */
    }
}

/** Returns random elements for a tensor, which the caller frees. */
GRAPHS_UNUSED static void *kernels_random_tensor(const struct tensor_type *t, bool nasty)
{
    const int64_t n = type_elements(t);
    const size_t size = dtype_size(t->type);
    char *data = malloc((size_t)n * size);

    assert_non_null(data);
    for (int64_t i = 0; i < n; i++)
        kernels_random_element(t->type, nasty, data + (size_t)i * size);
    return data;
}

/** Returns element i as a double. */
GRAPHS_UNUSED static double kernels_element(dtype t, const void *data, int64_t i)
{
    union scalar s = {.u64 = 0};

    memcpy(&s, (const char *)data + (size_t)i * dtype_size(t), dtype_size(t));
    return scalar_to_double(s, t);
}

/** Returns whether the elements agree within their bounds, and reports the first that does not. */
GRAPHS_UNUSED static bool kernels_agree(const struct tensor_type *t, const void *got, const void *wanted, const double *bounds,
                                        const char *name)
{
    for (int64_t i = 0; i < type_elements(t); i++) {
        double a = kernels_element(t->type, got, i), b = kernels_element(t->type, wanted, i);
        if (bounds[i] == INFINITY || isnan(bounds[i]) || (isnan(a) && isnan(b)) || a == b)
            continue;
        if (!dtype_is_float(t->type) && bounds[i] == 0) { /* 64-bit integers do not fit a double */
            if (!memcmp((const char *)got + (size_t)i * dtype_size(t->type),
                        (const char *)wanted + (size_t)i * dtype_size(t->type), dtype_size(t->type)))
                continue;
        } else if (fabs(a - b) <= bounds[i] * (1 + 1e-12)) {
            continue;
        }
        print_error("%s[%lld]: %.9g, not %.9g (bound %g)\n", name ? name : "output", (long long)i, a, b, bounds[i]);
        return false;
    }
    return true;
}

/** Returns the kernels of a cluster, which the caller frees. */
GRAPHS_UNUSED static struct kernel_list kernels_lower(const struct graph *g, const struct cluster *c,
                                                      const struct target *target)
{
    struct kernel_list list;

    assert_done(lower_cluster(g, c, target, &list, &e));
    return list;
}

/** Frees a graph and its kernels. */
GRAPHS_UNUSED static void kernels_end(struct graph *g, struct kernel_list *list)
{
    kernel_list_free(list);
    graph_free(g);
}

/** Lowers cluster c and runs its kernels on the values' buffers (allocated on demand, by value->index). */
GRAPHS_UNUSED static bool kernels_run_cluster(struct graph *g, const struct cluster *c, const struct target *target,
                                              void **buffers, kernel_runner run, uint32_t *kernel_count)
{
    struct kernel_list list;
    struct error e = {0};
    bool good = lower_cluster(g, c, target, &list, &e);

    if (!good)
        print_error("lower_cluster: %s\n", e.message);
    for (uint32_t i = 0; good && i < list.count; i++) {
        struct kernel *k = list.kernels[i];
        void *tensors[KERNEL_TENSORS_MAX];
        for (uint32_t t = 0; t < k->tensor_count; t++) {
            const struct value *v = k->tensors[t].user;
            if (v->constant)
                tensors[t] = (void *)(uintptr_t)v->constant->data;
            else if (!buffers[v->index]) {
                /* The bytes are 0xAA, so that unwritten ones show. */
                buffers[v->index] = malloc((size_t)type_bytes(&v->type));
                memset(buffers[v->index], 0xAA, (size_t)type_bytes(&v->type));
            }
            if (!v->constant)
                tensors[t] = buffers[v->index];
        }
        if (!kernel_verify(k, stderr)) {
            kernel_print(k, stderr);
            good = false;
        }
        assert_reads_back(k);
        good = good && run(k, tensors);
        ++*kernel_count;
    }
    if (list.kernels)
        kernel_list_free(&list);
    return good;
}

/**
 * Runs the graph (all of whose nodes are in clusters) by its kernels and compares; prints the graph where it differs.  Returns
 * the number of kernels, 0 if something failed.
 */
GRAPHS_UNUSED static uint32_t kernels_check_graph(struct graph *g, const struct target *target, bool nasty, kernel_runner run)
{
    void **buffers = calloc(g->value_count, sizeof(void *));
    const void **inputs = calloc(g->input_count + 1, sizeof(void *));
    void **wanted = calloc(g->output_count, sizeof(void *));
    double **bounds = calloc(g->output_count, sizeof(double *));
    struct error e = {0};
    uint32_t kernels = 0;
    bool good = true;

    for (uint32_t i = 0; i < g->input_count; i++)
        inputs[i] = buffers[g->inputs[i]->index] = kernels_random_tensor(&g->inputs[i]->type, nasty);
    for (uint32_t i = 0; i < g->output_count; i++) {
        wanted[i] = malloc((size_t)type_bytes(&g->outputs[i].value->type));
        bounds[i] = calloc((size_t)type_elements(&g->outputs[i].value->type), sizeof(double));
    }
    good = graph_interpret_bounds(g, inputs, wanted, bounds, &e);
    if (!good)
        print_error("graph_interpret: %s\n", e.message);
    for (const struct cluster *c = g->first_cluster; good && c; c = c->next)
        good = kernels_run_cluster(g, c, target, buffers, run, &kernels);
    for (uint32_t i = 0; good && i < g->output_count; i++) {
        const struct value *v = g->outputs[i].value;
        good = buffers[v->index] && kernels_agree(&v->type, buffers[v->index], wanted[i], bounds[i], v->name);
    }
    if (!good) {
        char *text = print_to_string(g);
        print_error("%s", text);
        free(text);
        for (const struct cluster *c = g->first_cluster; c; c = c->next) {
            struct kernel_list list;
            if (lower_cluster(g, c, target, &list, &e)) {
                for (uint32_t i = 0; i < list.count; i++)
                    kernel_print(list.kernels[i], stderr);
                kernel_list_free(&list);
            }
        }
    }
    for (uint32_t i = 0; i < g->value_count; i++)
        free(buffers[i]);
    for (uint32_t i = 0; i < g->output_count; i++) {
        free(wanted[i]);
        free(bounds[i]);
    }
    free(buffers);
    free(inputs);
    free(wanted);
    free(bounds);
    return good ? kernels : 0;
}

/** Puts every node in a cluster of its own (fused false) or all of them in one. */
GRAPHS_UNUSED static void kernels_cluster_nodes(struct graph *g, bool fused)
{
    struct cluster *c = NULL;

    graph_for_each (g, n) {
        if (!c || !fused)
            c = cluster_create(g, CLUSTER_KERNEL);
        assert_non_null(c);
        n->cluster = c;
    }
}

/** Returns whether lower_can_join says that all nodes of the graph make one kernel. */
GRAPHS_UNUSED static bool kernels_can_join_all(const struct graph *g, const struct target *target)
{
    struct node *nodes[256];
    uint32_t count = 0;

    for (struct node *n = g->first; n && count < 256; n = n->next)
        nodes[count++] = n;
    return lower_can_join(target, nodes, count, NULL);
}

/**
 * Returns the body with every "T[" replaced by the data type's name and "[": one text serves many types.  The caller frees it.
 */
GRAPHS_UNUSED static char *kernels_with_type(const char *body, const char *type)
{
    size_t size = 0, capacity = strlen(body) * 3 + 1;
    char *text = malloc(capacity);

    assert_non_null(text);
    for (const char *p = body; *p; p++) {
        if (*p == 'T' && (p[1] == '[' || p[1] == '@') && (p == body || p[-1] == ' ')) {
            size += (size_t)snprintf(text + size, capacity - size, "%s", type);
            p += p[1] == '@'; /* T@: the bare name */
        } else {
            text[size++] = *p;
        }
    }
    text[size] = '\0';
    return text;
}

/** Fuses a graph's nodes, and lowers each cluster.  Returns how many kernels have stages; *kernels is how many there are. */
static inline uint32_t kernels_fuse(struct graph *g, const struct pass_options *o, uint32_t *kernels)
{
    uint32_t with_stages = 0;

    *kernels = 0;
    pass_fuse_kernels(g, o);
    pass_finish_clusters(g, o);
    assert_int_equal(g->error.status, WNNStatus_Success);
    for (const struct cluster *c = g->first_cluster; c; c = c->next) {
        if (c->kind != CLUSTER_KERNEL)
            continue;
        struct kernel_list list = kernels_lower(g, c, o->target);
        *kernels += list.count;
        for (uint32_t i = 0; i < list.count; i++)
            with_stages += list.kernels[i]->stage_count > 0;
        kernel_list_free(&list);
    }
    return with_stages;
}

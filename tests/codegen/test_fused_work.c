/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Fusion counted without a clock (ir/schedule/schedule_work.c): no cluster that the passes make executes more than 1.5 times
 * the vector operations, loads and stores of its nodes computed one by one.
 */
#include "codegen/kernels.h"

#include "passes/support.h"
#include "support/kernels.h"

static const double MOST = 1.5;
/* What takes less than a microsecond or so is a matter of remainders of vectors. */
enum { NOTICED = 2000, TEXT_MAX = 4096 };

/* ---- counting clusters and their parts ---- */

/* Returns the operations, loads and stores of a cluster's kernels. */
static double work_of_cluster(const struct machine_under_test *m, const struct graph *g, const struct cluster *cluster)
{
    double sum = 0;

    SCOPED(kernel_list_free) struct kernel_list list = kernels_lower(g, cluster, &m->target);
    for (uint32_t i = 0; i < list.count; i++) {
        OWNED(schedule) struct schedule *s = schedule_cpu(list.kernels[i], &m->target);
        assert_non_null(s);
        sum += schedule_work_of(s);
    }
    return sum;
}

/* Returns whether a node only says which element of a constant is which, as packed weights do. */
static bool is_packing(const struct node *n)
{
    const struct value *v = n->input_count ? n->inputs[0].value : NULL;

    return v && op_infos[n->op].flags & OPF_MOVEMENT && n->input_count == 1 &&
           (v->kind == VALUE_CONSTANT || (v->producer && is_packing(v->producer)));
}

/* Moves a node into a cluster, and what it reads packed weights through. */
static void move_node(struct node *n, struct cluster *to, const struct cluster *from)
{
    n->cluster = to;
    for (uint32_t i = 0; i < n->input_count; i++) {
        struct node *producer = n->inputs[i].value ? n->inputs[i].value->producer : NULL;
        if (producer && producer->cluster == from && is_packing(producer))
            move_node(producer, to, from);
    }
}

/* Returns how often a cluster executes what its nodes do, each computed from memory to memory. */
static double work_against_parts(const struct machine_under_test *m, struct graph *g, struct cluster *cluster,
                                 struct cluster *alone)
{
    struct cluster_nodes nodes;
    SCOPED(arena_free) struct arena arena = {0};
    uint32_t count = 0;
    double parts = 0, fused = 0;

    assert_true(cluster_collect(g, cluster, &arena, &nodes));
    for (uint32_t i = 0; i < nodes.count; i++)
        count += !node_is_view(nodes.nodes[i]) && !is_packing(nodes.nodes[i]); /* the others cost nothing */
    if (count > 1)
        fused = work_of_cluster(m, g, cluster);
    for (uint32_t i = 0; fused >= NOTICED && i < nodes.count; i++) {
        if (node_is_view(nodes.nodes[i]) || is_packing(nodes.nodes[i]))
            continue;
        move_node(nodes.nodes[i], alone, cluster);
        parts += work_of_cluster(m, g, alone);
        for (uint32_t k = 0; k <= i; k++)
            nodes.nodes[k]->cluster = cluster;
    }
    return parts > 0 ? fused / parts : 0;
}

/* Returns whether all clusters of a graph do little more than their parts. */
static bool check_graph(struct machine_under_test *m, const char *body)
{
    const struct pass_options o = {.target = &m->target};
    OWNED(graph) struct graph *g = parse_body(body);
    bool good = true;

    if (!passes_run(g, &o))
        fail_msg("%s\n%s", g->error.message, body);
    struct cluster *alone = cluster_create(g, CLUSTER_KERNEL);
    assert_non_null(alone);
    for (struct cluster *c = g->first_cluster; c != alone; c = c->next) {
        const double times = c->kind == CLUSTER_KERNEL ? work_against_parts(m, g, c, alone) : 0;

        if (times <= MOST)
            continue;
        good = false;
        print_error("%s: cluster %u executes %.2f times what its nodes do:\n%s\n", m->name, c->index, times, body);
    }
    return good;
}

/* ---- graphs ---- */

/* In these, $a(x) and $b(x) are convolutions of the kinds that are tried, $r and $c the axes of rows and channels, $s that of
 * columns, $1 and $2 the padding before and after. */
static const char *const joins[] = {
    "p = $a(x); q = $b(x); t = sigmoid(q); y = concat([p, t], $c);",
    "p = $a(x); q = relu(p); r = $b(x); s = $a(x); y = concat([q, r, s], $r);",
    "p = $a(x); q = $b(x); s = add(p, q); y = relu(s);",
    "p = $a(x); k = concat([x, p], $r); z = relu(k); y = $b(z);",
    "p = $a(x); [u, v] = split(p, 2, axis=$c); s = relu(v); k = concat([s, u], $c); y = $b(k);",
    "p = $a(x); q = pad(p, $1, $2); r = $b(q); y = relu(r);",
    "p = $a(x); q = relu(p); s = pad(q, $1, $2, mode=\"reflection\"); y = $b(s);",
    "p = $a(x); q = resample2d(p, scales=[2, 2], axes=[$r, $s]); y = $b(q);",
    "p = $a(x); q = resample2d(p, mode=\"linear\", scales=[2, 2], axes=[$r, $s]); y = $b(q);",
};

enum kind { CONV_1, CONV_3, CONV_5, CONV_DEPTHWISE, CONV_TRANSPOSED, KIND_COUNT };

struct image {
    int height, width, channels;
    bool nhwc;
};
static const struct image images[] = {{28, 28, 64, false}, {14, 14, 128, true}, {17, 13, 24, true}, {9, 35, 6, false}};

/* A graph that is being written. */
struct text {
    char weights[TEXT_MAX], nodes[TEXT_MAX], body[3 * TEXT_MAX];
    int count; /* of the convolutions */
};

__attribute__((format(printf, 2, 3))) static void append(char *to, const char *format, ...)
{
    const size_t length = strlen(to);
    va_list args;

    va_start(args, format);
    assert_true(vsnprintf(to + length, TEXT_MAX - length, format, args) < (int)(TEXT_MAX - length));
    va_end(args);
}

/* Writes a convolution that keeps the size of the image.  Its weights differ, since equal nodes would become one. */
static void write_convolution(struct text *t, const struct image *i, enum kind kind, const char *from)
{
    static const int windows[KIND_COUNT] = {1, 3, 5, 3, 3};
    const int w = windows[kind], pad = w / 2, c = i->channels;

    append(t->weights, " w%d: f32[%d, %d, %d, %d] @scalar(0.%d);", t->count, c, kind == CONV_DEPTHWISE ? 1 : c, w, w,
           t->count + 1);
    append(t->nodes, "%s(%.1s, w%d, padding=[%d, %d, %d, %d], groups=%d%s)",
           kind == CONV_TRANSPOSED ? "convTranspose2d" : "conv2d", from, t->count++, pad, pad, pad, pad,
           kind == CONV_DEPTHWISE ? c : 1, i->nhwc ? ", inputLayout=\"nhwc\"" : "");
}

static const char *write_graph(struct text *t, const struct image *i, const char *join, enum kind a, enum kind b)
{
    *t = (struct text){.count = 0};
    for (const char *at = join; *at; at++) {
        if (*at != '$') {
            append(t->nodes, "%c", *at);
            continue;
        }
        switch (*++at) {
        case 'a':
        case 'b':
            write_convolution(t, i, *at == 'a' ? a : b, at + 2);
            at += 3; /* (x) */
            break;
        case 'c':
            append(t->nodes, "%d", i->nhwc ? 3 : 1);
            break;
        case 'r':
            append(t->nodes, "%d", i->nhwc ? 1 : 2);
            break;
        case 's':
            append(t->nodes, "%d", i->nhwc ? 2 : 3);
            break;
        default: /* of padding */
            append(t->nodes, i->nhwc ? "[0, %c, %c, 0]" : "[0, 0, %c, %c]", *at, *at);
        }
    }
    snprintf(t->body, sizeof t->body, "inputs { x: f32[1, %d, %d, %d]; } consts {%s } nodes { %s } outputs { y; }",
             i->nhwc ? i->height : i->channels, i->nhwc ? i->width : i->height, i->nhwc ? i->channels : i->width, t->weights,
             t->nodes);
    return t->body;
}

TEST(fused_convolutions_do_no_more_than_alone)
{
    uint32_t failures = 0, turn = 0;
    struct text t;

    for (size_t join = 0; join < sizeof joins / sizeof *joins; join++)
        for (enum kind a = 0; a < KIND_COUNT; a++)
            for (enum kind b = 0; b < KIND_COUNT; b++, turn++) {
                struct machine_under_test *m = machine_get((1 + turn % 2) % ISA_COUNT);

                if (ISA_COUNT == 1 && turn % 9)
                    continue; /* under the sanitizers fewer say what they have to say */
                m->target.prefers_nhwc = true;
                failures += !check_graph(m, write_graph(&t, &images[turn % 4], joins[join], a, b));
            }
    assert_int_equal(failures, 0);
}

/* Concats that others read were computed in all their parts for each element. */
TEST(fused_concats_do_no_more_than_alone)
{
    static const char *const bodies[] = {
        "inputs { x: f32[1, 64, 8, 8]; } nodes { n = neg(x); k = concat([x, n], 2); y = layerNormalization(k, axes=[3]); }"
        "outputs { y; }",
        "inputs { x: f32[1, 32, 28, 28]; } nodes { [a, b] = split(x, [14, 14], axis=3); k = concat([a, a], 2);"
        "y = maxPool2d(k, windowDimensions=[3, 3], padding=[1, 1, 1, 1]); } outputs { y; b; }",
        "inputs { x: f32[1, 14, 14, 16]; } nodes { r = reduceSum(x, axes=[2], keepDimensions=true); d = sub(x, r);"
        "k = concat([d, d], 2); y = resample2d(k, scales=[2, 2], axes=[1, 2]); } outputs { y; }",
        "inputs { x: f32[1, 16, 16, 64]; } nodes { s = sigmoid(x); n = neg(s); k = concat([s, n], 3);"
        "y = layerNormalization(k, axes=[3]); } outputs { y; }",
    };
    uint32_t failures = 0;

    for (size_t i = 0; i < 2 * sizeof bodies / sizeof *bodies; i++)
        failures += !check_graph(machine_get((1 + (int)i % 2) % ISA_COUNT), bodies[i / 2]);
    assert_int_equal(failures, 0);
}

TEST_GROUP(NULL, machines_free)

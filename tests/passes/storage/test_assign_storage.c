/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * assign_storage and assign_offsets.  The property: when the clusters run in order, every byte that one reads is still what was
 * written for it.  It is checked by running the clusters on tags instead of numbers: every byte of a value has a tag of its
 * own, a kernel writes tags and checks those it reads.
 */
#include "passes/pass_support.h"
#include "passes/storage/assign_offsets.h"
#include "passes/support.h"

/* ---- the property ---- */

struct simulation {
    struct graph *g;
    const struct storage_assignment *assigned;
    uint64_t *arena;
    uint64_t **outputs, **inputs;
};

/* The tag that byte i of v must have: views have those of what they look at, concats those of their inputs. */
static uint64_t tag_of(const struct value *v, int64_t byte)
{
    const struct node *n = v->producer;

    if (!n || n->cluster->kind != CLUSTER_VIEW)
        return ((uint64_t)v->index + 1) << 40 | (uint64_t)byte;
    if (node_is_view(n))
        return tag_of(n->inputs[0].value, byte + node_view_offset(n, v->result));
    for (uint32_t i = 0; i < n->input_count; i++) {
        int64_t bytes = type_bytes(&n->inputs[i].value->type);
        if (byte < bytes)
            return tag_of(n->inputs[i].value, byte);
        byte -= bytes;
    }
    fail();
    return 0;
}

static uint64_t *bytes_of(struct simulation *s, const struct value *v)
{
    const struct storage *where = &s->assigned->values[v->index];

    if (where->kind == STORAGE_INPUT)
        return s->inputs[where->slot] + where->offset;
    if (where->kind == STORAGE_OUTPUT)
        return s->outputs[where->slot] + where->offset;
    if (where->kind != STORAGE_ARENA)
        return NULL;
    assert_true(where->offset >= 0 && where->offset + type_bytes(&v->type) <= s->assigned->arena_bytes);
    return s->arena + where->offset;
}

static void read_value(struct simulation *s, const struct value *v)
{
    const struct storage *where = &s->assigned->values[v->index];
    const uint64_t *bytes = bytes_of(s, v);

    if (where->kind == STORAGE_CONSTANT) {
        assert_int_equal(where->base->kind, VALUE_CONSTANT);
        return;
    }
    assert_non_null(bytes);
    for (int64_t i = 0; i < type_bytes(&v->type); i++)
        if (bytes[i] != tag_of(v, i)) {
            OWNED(memory) char *text = print_to_string(s->g);
            print_error("byte %lld of value %u (%s) was overwritten or never written\n%s", (long long)i, v->index,
                        v->name ? v->name : "", text);
            fail();
        }
}

static void simulate(struct graph *g, const struct storage_assignment *assigned)
{
    struct simulation s = {g, assigned, calloc((size_t)assigned->arena_bytes + 1, sizeof(uint64_t)), NULL, NULL};
    SCOPED(arena_free) struct arena arena = {0};

    s.outputs = calloc(g->output_count, sizeof *s.outputs);
    s.inputs = calloc(g->input_count + 1, sizeof *s.inputs);
    for (uint32_t i = 0; i < g->output_count; i++)
        s.outputs[i] = calloc((size_t)type_bytes(&g->outputs[i].value->type), sizeof **s.outputs);
    for (uint32_t i = 0; i < g->input_count; i++) {
        int64_t bytes = type_bytes(&g->inputs[i]->type);
        s.inputs[i] = calloc((size_t)bytes, sizeof **s.inputs);
        for (int64_t k = 0; k < bytes; k++)
            s.inputs[i][k] = tag_of(g->inputs[i], k);
    }
    for (const struct cluster *c = g->first_cluster; c; c = c->next) {
        struct cluster_nodes nodes;
        assert_true(cluster_collect(g, c, &arena, &nodes));
        if (c->kind == CLUSTER_VIEW)
            continue;
        for (uint32_t i = 0; i < nodes.input_count; i++)
            read_value(&s, nodes.inputs[i]);
        for (uint32_t i = 0; i < nodes.output_count; i++) {
            const struct value *v = nodes.outputs[i];
            uint64_t *bytes = bytes_of(&s, v);
            assert_true(assigned->values[v->index].kind == STORAGE_ARENA || assigned->values[v->index].kind == STORAGE_OUTPUT);
            for (int64_t k = 0; k < type_bytes(&v->type); k++)
                bytes[k] = tag_of(v, k);
        }
    }
    for (uint32_t i = 0; i < g->output_count; i++) {
        const struct storage *where = &assigned->values[g->outputs[i].value->index];
        assert_int_equal(where->kind, STORAGE_OUTPUT);
        assert_int_equal(where->slot, i);
        assert_int_equal(where->offset, 0);
        read_value(&s, g->outputs[i].value);
        free(s.outputs[i]);
    }
    for (uint32_t i = 0; i < g->input_count; i++)
        free(s.inputs[i]);
    free(s.outputs);
    free(s.inputs);
    free(s.arena);
}

/* Element-wise clusters may work in place on an input of the output's shape. */
static bool share_elementwise(void *user, const struct cluster *c, const struct value *input, const struct value *output)
{
    ++*(uint32_t *)user;
    for (uint32_t i = 0; i < c->node_count; i++)
        if (!(op_infos[c->first->op].flags & OPF_ELEMENTWISE))
            return false;
    return type_equal(&input->type, &output->type);
}

static struct storage_assignment assign_and_simulate(struct graph *g, bool in_place)
{
    struct storage_assignment assigned;
    uint32_t asked = 0;

    pass_separate_outputs(g, &fake_options);
    pass_finish_clusters(g, &fake_options);
    assert_int_equal(g->error.status, WNNStatus_Success);
    assert_true(storage_assign(g, NULL, &g->arena, 0, in_place ? share_elementwise : NULL, &asked, NULL, &assigned));
    assert_int_equal(assigned.count, g->value_count);
    assert_true(assigned.arena_bytes >= assigned.arena_lower_bound);
    simulate(g, &assigned);
    return assigned;
}

static const struct storage *storage_of(struct graph *g, const struct storage_assignment *assigned, const char *name)
{
    struct value *v = value_named(g, name);

    assert_non_null(v);
    return &assigned->values[v->index];
}

/* ---- cases ---- */

TEST(a_chain_needs_two_buffers_or_one)
{
    for (int in_place = 0; in_place < 2; in_place++) {
        OWNED(graph) struct graph *g =
            parse_body("inputs { x: f32[64]; }"
                       "nodes { a = exp(x); b = sin(a); c = cos(b); d = tan(c); y = neg(d); } outputs { y; }");
        struct storage_assignment assigned = assign_and_simulate(g, in_place);

        assert_int_equal(assigned.arena_bytes, in_place ? 256 : 512);
        assert_int_equal(assigned.arena_lower_bound, assigned.arena_bytes);
        assert_int_equal(storage_of(g, &assigned, "x")->kind, STORAGE_INPUT);
        assert_int_equal(storage_of(g, &assigned, "y")->kind, STORAGE_OUTPUT);
    }
}

TEST(never_overwrites_what_is_read_later)
{
    OWNED(graph) struct graph *g =
        parse_body("inputs { x: f32[64]; }"
                   "nodes { a = exp(x); r = reshape(a, newShape=[8, 8]); b = sin(a); c = cos(r);"
                   "  d = reshape(c, newShape=[64]); e = add(b, d); f = add(e, a); y = neg(f); } outputs { y; }");

    assign_and_simulate(g, true);
}

/* Two views of one buffer in one step: the output may take the place of neither if that clobbers the other. */
TEST(views_of_one_buffer_read_together)
{
    OWNED(graph) struct graph *g =
        parse_body("inputs { x: f32[128]; }"
                   "nodes { a = exp(x); b = slice(a, starts=[0], sizes=[64]); c = slice(a, starts=[64], sizes=[64]);"
                   "  d = add(b, c); e = slice(a, starts=[32], sizes=[64]); f = mul(e, b); y = add(d, f); }"
                   "outputs { y; }");
    struct storage_assignment assigned = assign_and_simulate(g, true);

    assert_ptr_equal(storage_of(g, &assigned, "b")->base, value_named(g, "a"));
    assert_int_equal(storage_of(g, &assigned, "c")->offset, storage_of(g, &assigned, "a")->offset + 256);
    /* f = e * b, which overlap: the last readers of the buffer, yet f must not lie there. */
    assert_true(storage_of(g, &assigned, "f")->offset >= storage_of(g, &assigned, "a")->offset + 512 ||
                storage_of(g, &assigned, "f")->offset + 256 <= storage_of(g, &assigned, "a")->offset);
}

TEST(concat_inputs_lie_in_its_output)
{
    OWNED(graph) struct graph *g = parse_body("inputs { x: f32[1, 2, 64]; }"
                                              "nodes { a = exp(x); b = sin(x); c = concat([a, b, x], axis=1); r = cos(a);"
                                              "  d = concat([c, r], axis=1); y = neg(d); }"
                                              "outputs { y; }");
    struct storage_assignment assigned = assign_and_simulate(g, true);
    int64_t start = storage_of(g, &assigned, "d")->offset;

    assert_int_equal(storage_of(g, &assigned, "c")->offset, start);
    assert_int_equal(storage_of(g, &assigned, "a")->offset, start);
    assert_int_equal(storage_of(g, &assigned, "b")->offset, start + 512);
    assert_int_equal(storage_of(g, &assigned, "r")->offset, start + 1536);
    assert_ptr_equal(storage_of(g, &assigned, "a")->base, value_named(g, "d"));
    assert_int_equal(assigned.arena_bytes, 2048);
}

TEST(a_concat_may_be_an_output)
{
    OWNED(graph) struct graph *g =
        parse_body("inputs { x: f32[2, 64]; } nodes { a = exp(x); b = sin(a); c = concat([a, b], axis=0);"
                   "  d = reshape(c, newShape=[256]); } outputs { d; }");
    struct storage_assignment assigned = assign_and_simulate(g, true);

    assert_int_equal(storage_of(g, &assigned, "b")->kind, STORAGE_OUTPUT);
    assert_int_equal(storage_of(g, &assigned, "b")->offset, 512);
    assert_int_equal(assigned.arena_bytes, 0);
}

TEST(outputs_may_be_inputs_and_constants_in_every_disguise)
{
    OWNED(graph) struct graph *g =
        parse_body("inputs { x: f32[2, 6]; } consts { k: f32[2, 6] @scalar(3); }"
                   "nodes { a = relu(x); b = reshape(a, newShape=[12]); c = reshape(a, newShape=[3, 4]);"
                   "  d = slice(a, starts=[1, 0], sizes=[1, 6]); e = reshape(x, newShape=[12]);"
                   "  f = reshape(k, newShape=[12]); h = slice(k, starts=[1, 0], sizes=[1, 6]); i = exp(h); }"
                   "outputs { a; b; c; d; e; f; x; k; i; \"again\" = a; }");

    assign_and_simulate(g, true);
}

/* Inside a kernel nothing is stored. */
TEST(values_inside_clusters_have_no_storage)
{
    OWNED(graph) struct graph *g =
        parse_body("inputs { x: f32[64]; } nodes { a = exp(x); b = sin(a); y = neg(b); } outputs { y; }");
    struct cluster *c = cluster_create(g, CLUSTER_KERNEL);

    graph_for_each (g, n)
        n->cluster = c;
    struct storage_assignment assigned = assign_and_simulate(g, true);
    assert_int_equal(storage_of(g, &assigned, "a")->kind, STORAGE_NONE);
    assert_int_equal(storage_of(g, &assigned, "b")->kind, STORAGE_NONE);
    assert_int_equal(assigned.arena_bytes, 0);
}

/* ---- random graphs ---- */

/* Element-wise nodes, reshapes, slices, splits and concats of random earlier values, some of them outputs. */
static struct graph *random_graph(uint32_t nodes)
{
    struct graph *g = graph_create();
    struct value *values[512];
    uint32_t count = 0;
    static const enum op unary[] = {OP_RELU, OP_NEG, OP_EXP, OP_SIGMOID};

    for (uint32_t i = 0; i < 3; i++) {
        struct tensor_type t = {WNNOperandDataType_Float32, 2, {4 << i, 16}};
        values[count++] = graph_add_input(g, "x", 1, &t);
    }
    while (nodes--) {
        struct value *v = values[random_bits() % count], *w = values[random_bits() % count];
        uint32_t rows = v->type.dims[0];
        union op_args args;
        struct node *n = NULL;

        memset(&args, 0, sizeof args);
        switch (random_bits() % 8) {
        case 0:
        case 1:
            n = node_create(g, NULL, unary[random_bits() % 4], "", 1, &v, NULL, NULL, &g->error);
            break;
        case 2:
        case 3:
            if (type_equal(&v->type, &w->type))
                n = node_create(g, NULL, OP_ADD, "", 2, (struct value *[]){v, w}, NULL, NULL, &g->error);
            break;
        case 4:
            args.reshape.newShapeCount = 2;
            args.reshape.newShape = (uint32_t[]){rows, 16};
            n = node_create(g, NULL, OP_RESHAPE, "", 1, &v, NULL, &args, &g->error);
            break;
        case 5: {
            uint32_t start = (uint32_t)(random_bits() % rows);
            args.slice.startsCount = args.slice.sizesCount = 2;
            args.slice.starts = (uint32_t[]){start, 0};
            args.slice.sizes = (uint32_t[]){rows - start, 16};
            n = node_create(g, NULL, OP_SLICE, "", 1, &v, NULL, &args, &g->error);
            break;
        }
        case 6:
            if (rows + w->type.dims[0] > 64)
                break;
            args.concat.axis = 0;
            n = node_create(g, NULL, OP_CONCAT, "", 3, (struct value *[]){v, w, v}, NULL, &args, &g->error);
            break;
        default:
            args.concat.axis = 0;
            n = node_create(g, NULL, OP_CONCAT, "", 1, &v, NULL, &args, &g->error);
        }
        assert_int_equal(g->error.status, WNNStatus_Success);
        if (n)
            values[count++] = n->results[0];
    }
    for (uint32_t i = 0; i < 4; i++) {
        char name[8];
        snprintf(name, sizeof name, "y%u", i);
        graph_add_output(g, name, strlen(name), values[count - 1 - random_bits() % (count / 2)]);
    }
    return g;
}

TEST(no_byte_is_overwritten_too_early)
{
    for (int i = 0; i < 400; i++) {
        OWNED(graph) struct graph *g = random_graph(5 + i % 80);
        assign_and_simulate(g, i % 2);
    }
}

/* ---- offsets ---- */

static void check_offsets(struct storage_block *blocks, uint32_t count, double most_over)
{
    int64_t total, bound;
    struct storage_order order = {0};

    for (int again = 0; again < 2; again++) { /* the order of the first sizes serves others */
        for (uint32_t i = 0; i < count; i++)
            blocks[i].bytes *= 1 + again;
        assert_true(assign_offsets(blocks, count, &order, &total, &bound));
    }
    free(order.blocks);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(blocks[i].offset % TARGET_ALIGNMENT, 0);
        assert_true(blocks[i].offset >= 0 && blocks[i].offset + blocks[i].bytes <= total);
        for (uint32_t k = 0; count <= 2000 && k < i; k++) {
            bool together = blocks[i].first <= blocks[k].last && blocks[k].first <= blocks[i].last;
            bool overlap =
                blocks[i].offset < blocks[k].offset + blocks[k].bytes && blocks[k].offset < blocks[i].offset + blocks[i].bytes;
            assert_false(together && overlap);
        }
    }
    assert_true(total >= bound);
    if (most_over > 0 && (double)total > (double)bound * most_over)
        fail_msg("%lld bytes, lower bound %lld", (long long)total, (long long)bound);
}

/* Lifetimes as a network has them: most values live for one or two steps, some (skip connections) for many. */
TEST(offsets_are_close_to_the_bound)
{
    for (int round = 0; round < 20; round++) {
        static struct storage_block blocks[300];
        for (uint32_t i = 0; i < 300; i++) {
            uint32_t length = random_bits() % 10 == 0 ? (uint32_t)(random_bits() % 40) : 1 + (uint32_t)(random_bits() % 2);
            blocks[i] = (struct storage_block){
                .bytes = (int64_t)(1 + random_bits() % 64) << (6 + i % 8), .first = i, .last = i + length};
        }
        check_offsets(blocks, 300, 1.10);
    }
}

TEST(many_blocks_are_placed_quickly)
{
    enum { MANY = 100000 }; /* twice as many steps: what is quadratic ends with the time limit */
    static struct storage_block blocks[MANY];

    for (uint32_t i = 0; i < MANY; i++) /* a chain */
        blocks[i] = (struct storage_block){.bytes = 4096 + 64 * (int64_t)(random_bits() % 100), .first = i, .last = i + 1};
    check_offsets(blocks, MANY, 1.0);
    for (uint32_t i = 0; i < MANY; i++) /* all alive at once: the scan */
        blocks[i] = (struct storage_block){.bytes = 64 * (int64_t)(1 + random_bits() % 100), .first = i, .last = 2 * MANY - i};
    check_offsets(blocks, MANY, 1.0);
    /* The scan where it has gaps to choose from. */
    for (uint32_t i = 0; i < MANY; i++)
        blocks[i] = (struct storage_block){
            .bytes = 64 * (int64_t)(1 + random_bits() % 100), .first = i, .last = i + 200 + (uint32_t)(random_bits() % 1000)};
    check_offsets(blocks, MANY, 1.25);
    for (uint32_t i = 0; i < 2000; i++)
        blocks[i] = (struct storage_block){.bytes = 1 + (int64_t)(random_bits() % 5000), .first = 0, .last = 5};
    check_offsets(blocks, 2000, 1.0);
}

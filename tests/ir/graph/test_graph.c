/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Links between values and nodes, calls and their messages, attributes, and what happens when memory runs out. */
#include "support/graphs.h"

#include <math.h>

#include "ir/graph/infer.h"
#include "ir/text/text.h"

/* ---- allocations that fail on demand ---- */

/*
 * Graphs allocate with malloc, calloc and posix_memalign; the ones here count and fail, and hand the rest to libc.  Not with
 * the sanitizers, which bring allocators of their own.
 */
#if !defined(WEBNN_SANITIZE) && defined(__GLIBC__)
#define CAN_FAIL 1
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static long allocations_left = -1; /* negative: as many as you like */
static long allocation_count;

static bool allocation_fails(void)
{
    allocation_count++;
    return allocations_left >= 0 && allocations_left-- <= 0;
}

void *malloc(size_t size)
{
    return allocation_fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return allocation_fails() ? NULL : __libc_calloc(count, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    *memory = allocation_fails() ? NULL : __libc_memalign(alignment, size);
    return *memory ? 0 : 1;
}
#endif

/* ---- links ---- */

TEST(replacing_uses_moves_them_all)
{
    OWNED(graph) struct graph *g =
        parse_body("inputs { x: f32[2]; y: f32[2]; } nodes { a = add(x, x); b = relu(x); c = add(b, y); }"
                   "outputs { a; b; \"b again\" = b; c; }");
    struct value *x = value_named(g, "x"), *y = value_named(g, "y"), *b = value_named(g, "b");

    assert_int_equal(value_use_count(x), 3);
    assert_int_equal(value_use_count(b), 3);
    value_replace_uses(x, y);
    assert_int_equal(value_use_count(x), 0);
    assert_int_equal(value_use_count(y), 4);
    assert_prints(g, "a = add(y, y);");
    assert_prints(g, "b = relu(y);");

    value_replace_uses(b, y); /* outputs, too */
    assert_int_equal(value_use_count(b), 0);
    assert_int_equal(y->output_uses, 2);
    assert_prints(g, "\"b again\" = y;");
    node_remove(b->producer);
    assert_prints_not(g, "relu");
    value_replace_uses(y, y);
    assert_verifies(g);
}

TEST(constants_can_be_replaced_as_outputs)
{
    OWNED(graph) struct graph *g = parse_body("consts { k: f32[2] @scalar(1); l: f32[2] @scalar(2); } outputs { k; l; }");

    value_replace_uses(value_named(g, "k"), value_named(g, "l"));
    assert_prints(g, "\"k\" = l;");
    assert_prints_not(g, "@scalar(1)");
}

TEST(inputs_are_replaced_one_by_one)
{
    struct graph *g = parse_body("inputs { x: f32[2]; y: f32[2]; } nodes { a = add(x, x); } outputs { a; }");
    struct node *n = g->first;

    node_set_input(n, 1, value_named(g, "y"));
    assert_prints(g, "a = add(x, y);");
    node_set_input(n, 0, value_named(g, "y"));
    assert_prints(g, "a = add(y, y);");
    assert_int_equal(value_use_count(value_named(g, "x")), 0);
    node_set_input(n, 0, value_named(g, "y")); /* itself */
    assert_int_equal(value_use_count(value_named(g, "y")), 2);
    graph_free(g);

    /* an optional operand comes and goes */
    g = parse_body("inputs { a: f32[2, 3]; b: f32[3, 2]; c: f32[2]; } nodes { y = gemm(a, b, c=c); } outputs { y; }");
    node_set_input(g->first, 2, NULL);
    assert_prints(g, "y = gemm(a, b);");
    node_set_input(g->first, 2, value_named(g, "c"));
    assert_prints(g, "y = gemm(a, b, c=c);");
    graph_free(g);
}

TEST(nodes_move_and_go)
{
    OWNED(graph) struct graph *g =
        parse_body("inputs { x: f32[2]; } nodes { a = abs(x); b = neg(x); c = exp(x); } outputs { a; b; c; }");
    struct node *a = value_named(g, "a")->producer, *b = a->next, *c = b->next;

    node_move_before(c, a);
    assert_true(g->first == c && c->next == a && a->next == b && g->last == b);
    assert_verifies(g);
    node_move_before(c, NULL);
    assert_true(g->first == a && g->last == c);
    assert_verifies(g);
    node_move_before(a, b); /* where it is */
    assert_true(g->first == a && a->next == b);
    node_move_before(b, a);
    assert_true(g->first == b && b->next == a && a->next == c && !c->next);
    assert_verifies(g);

    uint32_t left = 3;
    while (g->output_count) /* without outputs nothing uses them */
        g->outputs[--g->output_count].value->output_uses--;
    graph_for_each_safe (g, n) {
        node_remove(n);
        left--;
        assert_verifies(g);
    }
    assert_int_equal(left, 0);
    assert_null(g->first);
    assert_null(g->last);
    assert_int_equal(value_use_count(value_named(g, "x")), 0);
}

TEST(nodes_go_where_they_are_put)
{
    OWNED(graph) struct graph *g = parse_body("inputs { x: f32[2]; } nodes { a = abs(x); b = neg(a); } outputs { b; }");
    struct value *a = value_named(g, "a");
    struct node *n = node_create(g, g->last, OP_EXP, "between", 1, &a, NULL, NULL, &g->error);

    assert_non_null(n);
    node_set_input(g->last, 0, n->results[0]);
    assert_true(g->first->next == n && n->next == g->last);
    assert_prints(g, "exp(a, label=\"between\");");
    n = node_create(g, g->first, OP_EXP, NULL, 1, &g->inputs[0], NULL, NULL, &g->error);
    assert_ptr_equal(g->first, n);
    assert_verifies(g);
}

/* ---- calls ---- */

static struct graph *calls;

/* Returns the message of a call that must fail. */
static const char *message_of(enum op op, const char *label, uint32_t count, struct value *const *in, const void *options,
                              const union op_args *args)
{
    static struct error error;
    uint32_t values = calls->value_count, nodes = calls->node_count;

    memset(&error, 0, sizeof error);
    assert_null(node_create(calls, NULL, op, label, count, in, options, args, &error));
    assert_int_equal(error.status, WNNStatus_TypeError);
    assert_int_equal(calls->value_count, values); /* nothing happened */
    assert_int_equal(calls->node_count, nodes);
    assert_int_equal(calls->error.status, WNNStatus_Success);
    return error.message;
}

TEST(refused_calls_say_why)
{
    OWNED(graph) struct graph *g = calls = graph_create();
    struct tensor_type types[] = {
        {WNNOperandDataType_Float32, 4, {1, 3, 5, 5}},
        {WNNOperandDataType_Float16, 4, {2, 3, 3, 3}},
        {WNNOperandDataType_Float32, 3, {2, 3, 3}},
        {WNNOperandDataType_Int32, 4, {1, 3, 5, 5}},
        {WNNOperandDataType_Float32, 1, {2}},
        {WNNOperandDataType_Float32, 4, {2, 3, 3, 3}},
        {WNNOperandDataType_Uint8, 1, {1}},
        {WNNOperandDataType_Int8, 4, {1, 1, 1, 1}},
        {WNNOperandDataType_Uint8, 2, {65536, 1}},
        {WNNOperandDataType_Uint8, 2, {1, 65536}},
    };
    struct value *v[10];
    for (int i = 0; i < 10; i++)
        v[i] = graph_add_input(g, "x", 1, &types[i]);

    assert_string_equal(message_of(OP_CONV2D, "label", 2, (struct value *[]){v[0], v[1]}, NULL, NULL),
                        "conv2d [label]: filter has data type float16, input has float32");
    assert_string_equal(message_of(OP_CONV2D, "", 2, (struct value *[]){v[0], v[2]}, NULL, NULL),
                        "conv2d: filter has rank 3, must be 4");
    assert_string_equal(message_of(OP_CONV2D, "l\n", 2, (struct value *[]){v[3], v[3]}, NULL, NULL),
                        "conv2d [l\\u{a}]: input has data type int32, allowed are float32, float16");
    assert_string_equal(message_of(OP_CONV2D, "c", 3, (struct value *[]){v[0], v[5], v[0]}, NULL, NULL),
                        "conv2d [c]: bias has rank 4, must be 1");
    assert_string_equal(message_of(OP_CONV2D, NULL, 1, v, NULL, NULL), "conv2d: 1 operands given, 2 expected");
    assert_string_equal(message_of(OP_CONV2D, NULL, 4, v, NULL, NULL), "conv2d: 4 operands given, 2 expected");
    assert_string_equal(message_of(OP_CONV2D, NULL, 2, (struct value *[]){v[0], NULL}, NULL, NULL),
                        "conv2d: filter is missing");
    assert_string_equal(message_of(OP_CONCAT, "k", 2, (struct value *[]){v[0], NULL}, NULL, NULL),
                        "concat [k]: inputs[1] is missing");
    assert_string_equal(message_of(OP_CONCAT, "k", 0, NULL, NULL, NULL),
                        "concat [k]: inputs has 0 operands, allowed are 1 to 8192");
    assert_string_equal(message_of(OP_DEQUANTIZE_LINEAR, "", 3, (struct value *[]){v[7], v[4], v[7]}, NULL, NULL),
                        "dequantizeLinear: scale has rank 1, input has 4");
    assert_string_equal(message_of(OP_GEMM, "", 2, (struct value *[]){v[0], v[0]}, NULL, NULL),
                        "gemm: a has rank 4, must be 2");
    assert_string_equal(message_of(OP_MATMUL, "", 2, (struct value *[]){v[4], v[0]}, NULL, NULL),
                        "matmul: a has rank 1, allowed are 2 to 12");
    /* the limits of operands hold for computed ones */
    assert_string_equal(message_of(OP_ADD, "big", 2, &v[8], NULL, NULL),
                        "add [big]: output has too many elements in u8[65536, 65536], the largest count is 2147483647");
    union op_args args = {.slice = {1, NULL, 1, (uint32_t[]){1}}};
    assert_string_equal(message_of(OP_SLICE, "", 1, &v[4], NULL, &args), "slice: starts has 1 items, but is NULL");
    char label[600];
    memset(label, 'x', sizeof label);
    label[sizeof label - 1] = '\0';
    const char *message = message_of(OP_SQRT, label, 1, &v[3], NULL, NULL);
    assert_non_null(strstr(message, "...]: input has data type int32"));
}

TEST(trailing_optional_operands_may_be_left_out)
{
    OWNED(graph) struct graph *g = parse_body("inputs { a: f32[2, 3]; b: f32[3, 2]; } nodes { } outputs { a; }");
    struct node *n = node_create(g, NULL, OP_GEMM, NULL, 2, g->inputs, NULL, NULL, &g->error);

    assert_non_null(n);
    assert_int_equal(n->input_count, 3);
    assert_null(n->inputs[2].value);
    assert_int_equal(n->inputs[2].slot, 2);
    assert_ptr_equal(n->inputs[2].node, n);
    assert_verifies(g);
}

/* ---- attributes ---- */

TEST(options_are_copied_deeply)
{
    OWNED(graph) struct graph *g = graph_create();
    struct tensor_type type = {WNNOperandDataType_Float32, 4, {1, 3, 5, 5}},
                       filter = {WNNOperandDataType_Float32, 4, {2, 3, 3, 3}};
    struct value *in[] = {graph_add_input(g, "x", 1, &type), graph_add_input(g, "w", 1, &filter)};
    uint32_t padding[] = {1, 1, 1, 1};
    char label[] = "mine";
    WNNConv2dOptions options = WNN_CONV2D_OPTIONS_INIT;
    options.label = WNN_STR("not this one");
    options.padding = padding;
    options.paddingCount = 4;
    options.bias = (WNNOperand)(uintptr_t)4711;
    struct node *n = node_create(g, NULL, OP_CONV2D, label, 2, in, &options, NULL, &g->error);

    assert_non_null(n);
    memset(padding, 0xFF, sizeof padding);
    memset(label, 'x', 4);
    assert_null(options.strides); /* the caller's struct stays as it was */
    const WNNConv2dOptions *o = NODE_OPTIONS(n, WNNConv2dOptions);
    assert_int_equal(o->paddingCount, 4);
    assert_int_equal(o->padding[3], 1);
    assert_int_equal(o->stridesCount, 2); /* filled in */
    assert_null(o->bias);
    assert_null(o->label.data);
    assert_string_equal(n->label, "mine");
    assert_verifies(g);
}

TEST(absent_lists_differ_from_empty_ones)
{
    SCOPED(arena_free) struct arena a = {0};
    WNNReduceOptions absent = WNN_REDUCE_OPTIONS_INIT, empty = WNN_REDUCE_OPTIONS_INIT;
    uint32_t nothing;

    absent.axesCount = 7; /* without a pointer the count means nothing */
    empty.axes = &nothing;
    const WNNReduceOptions *absent_copy = options_copy(&a, OP_REDUCE_SUM, &absent);
    const WNNReduceOptions *empty_copy = options_copy(&a, OP_REDUCE_SUM, &empty);
    assert_null(absent_copy->axes);
    assert_int_equal(absent_copy->axesCount, 0);
    assert_non_null(empty_copy->axes);
    assert_ptr_not_equal(empty_copy->axes, &nothing);
    assert_int_equal(empty_copy->axesCount, 0);
    struct node m = {.op = OP_REDUCE_SUM, .options = absent_copy}, n = {.op = OP_REDUCE_SUM, .options = empty_copy};
    assert_false(node_same_attrs(&m, &n));
    assert_true(node_same_attrs(&n, &n));

    union op_args args = {.pad = {2, (uint32_t[]){1, 2}, 1, (uint32_t[]){3}}}, copy = args;
    assert_true(args_copy(&a, OP_PAD, &copy));
    assert_ptr_not_equal(copy.pad.beginningPadding, args.pad.beginningPadding);
    assert_int_equal(copy.pad.beginningPadding[1], 2);
    assert_int_equal(copy.pad.endingPadding[0], 3);
}

TEST(attributes_compare_by_bits)
{
    WNNLinearOptions x = WNN_LINEAR_OPTIONS_INIT, y = WNN_LINEAR_OPTIONS_INIT;
    struct node m = {.op = OP_LINEAR, .options = &x}, n = {.op = OP_LINEAR, .options = &y};

    x.alpha = y.alpha = NAN;
    assert_true(node_same_attrs(&m, &n));
    x.beta = -0.0;
    assert_false(node_same_attrs(&m, &n));
    y.beta = -0.0;
    y.label = WNN_STR("labels do not count");
    assert_true(node_same_attrs(&m, &n));
    n.op = OP_ELU;
    assert_false(node_same_attrs(&m, &n));

    WNNClampOptions c = WNN_CLAMP_OPTIONS_INIT, d = WNN_CLAMP_OPTIONS_INIT;
    m = (struct node){.op = OP_CLAMP, .options = &c};
    n = (struct node){.op = OP_CLAMP, .options = &d};
    memset(&c.minValue, 0xAA, sizeof c.minValue); /* padding must not matter */
    c.minValue.type = WNNNumberType_Int64;
    c.minValue.value.int64 = 1;
    d.minValue = wnnNumberInt64(1);
    assert_true(node_same_attrs(&m, &n));
    d.minValue = wnnNumberUint64(1);
    assert_false(node_same_attrs(&m, &n));
    d.minValue = wnnNumberInt64(2);
    assert_false(node_same_attrs(&m, &n));

    union op_args a = {.slice = {1, (uint32_t[]){0}, 1, (uint32_t[]){1}}},
                  b = {.slice = {1, (uint32_t[]){0}, 1, (uint32_t[]){2}}};
    WNNSliceOptions s = WNN_SLICE_OPTIONS_INIT;
    m = (struct node){.op = OP_SLICE, .options = &s, .args = a};
    n = (struct node){.op = OP_SLICE, .options = &s, .args = b};
    assert_false(node_same_attrs(&m, &n));
    n.args.slice.sizes = a.slice.sizes;
    assert_true(node_same_attrs(&m, &n));
    assert_int_equal(attr_count(&op_infos[OP_SLICE].attrs[0], &s, &a), 1);
    assert_ptr_equal(attr_value(&op_infos[OP_SLICE].attrs[1], &s, &a), a.slice.sizes);
    assert_null(attr_value(&op_infos[OP_SLICE].attrs[2], &s, &a));
}

/* ---- broadcasting ---- */

TEST(shapes_broadcast)
{
    struct tensor_type a = {WNNOperandDataType_Float32, 3, {5, 1, 4}}, b = {WNNOperandDataType_Float32, 2, {3, 1}}, out;
    struct tensor_type scalar = {WNNOperandDataType_Float32, 0, {0}}, c = {WNNOperandDataType_Float32, 1, {3}};

    assert_true(shape_broadcast(NULL, &a, &b, &out));
    assert_int_equal(out.rank, 3);
    assert_int_equal(out.dims[0] * 100 + out.dims[1] * 10 + out.dims[2], 534);
    assert_true(shape_broadcast(NULL, &scalar, &a, &a)); /* in place */
    assert_int_equal(a.dims[0], 5);
    assert_false(shape_broadcast(NULL, &a, &c, &out));
    assert_false(shape_broadcasts_to(NULL, &a, &b));
    assert_false(shape_broadcasts_to(NULL, &c, &b));
    assert_true(shape_broadcasts_to(NULL, &b, &(struct tensor_type){WNNOperandDataType_Float32, 3, {2, 3, 7}}));
    assert_false(shape_broadcasts_to(NULL, &(struct tensor_type){WNNOperandDataType_Float32, 1, {7}}, &scalar));
    assert_true(shape_broadcasts_blockwise(&b, &(struct tensor_type){WNNOperandDataType_Float32, 2, {9, 4}}));
    assert_false(shape_broadcasts_blockwise(&b, &(struct tensor_type){WNNOperandDataType_Float32, 2, {10, 4}}));
    assert_false(shape_broadcasts_blockwise(&c, &b));
}

/* ---- memory that runs out ---- */

#if CAN_FAIL
static const struct tensor_type f32_2 = {WNNOperandDataType_Float32, 1, {2}};
static const char failing_text[] =
    "webnn_graph \"t\" v1 { inputs { x: f32[2, 4]; y: f32[2, 4]; z: f32[]; u: u8[1]; v: u8[2]; }"
    " consts { k: f32[2, 4] @scalar(2); l: f32[2] @bytes([0, 0, 0, 0, 0, 0, 0, 0]); m: f32[2] @values([1, 2]); }"
    " nodes { a = add(x, k) @kernel(0); [b, c, d, e] = split(a, 4, axis=1); f = concat([b, c, d, e], 1);"
    " g = gemm(f, x, bTranspose=true, label=\"label\") @library(1); h = reduceSum(g, axes=[0]); i = transpose(x); }"
    " outputs { h; i; \"again\" = h; e; } }";

/* The n-th allocation fails, for every n until nothing fails any more. */
TEST(parsing_survives_every_failure)
{
    bool done = false;
    long n;

    for (n = 0; !done && n < 1000; n++) {
        struct error error = {0};
        allocations_left = n;
        OWNED(graph) struct graph *g = graph_parse(failing_text, sizeof failing_text - 1, NULL, NULL, &error);
        done = g != NULL;
        allocations_left = -1;
        if (g) {
            assert_verifies(g);
        } else {
            assert_int_equal(error.status, WNNStatus_UnknownError);
            assert_string_equal(error.message, "out of memory");
        }
    }
    assert_true(done && n > 8);
}

TEST(building_survives_every_failure)
{
    bool done = false;
    long n;

    for (n = 0; !done && n < 1000; n++) {
        OWNED(graph) struct graph *g = graph_create();
        assert_non_null(g);
        allocations_left = n;
        bool failed = false;
        struct value *last = graph_add_input(g, "x", 1, &f32_2);
        for (int i = 0; last && i < 200; i++) {
            /* constants, inputs, outputs and nodes, so that each kind meets a full block */
            struct value *in[] = {last, i % 3 ? graph_add_scalar(g, &f32_2, wnnNumber(i)) : graph_add_input(g, "y", 1, &f32_2)};
            struct node *node = in[1] ? node_create(g, NULL, OP_ADD, "label", 2, in, NULL, NULL, &g->error) : NULL;
            last = node && (i % 5 || graph_add_output(g, "out", 3, node->results[0])) ? node->results[0] : NULL;
        }
        failed = !last;
        allocations_left = -1;
        assert_int_equal(g->error.status, failed ? WNNStatus_UnknownError : WNNStatus_Success);
        /* whatever is there is whole: names clash on purpose, so look at the links only */
        uint32_t count = 0;
        graph_for_each (g, node) {
            assert_int_equal(node->result_count, 1);
            for (uint32_t i = 0; i < 2; i++)
                assert_true(node->inputs[i].value && node->inputs[i].node == node);
            count++;
        }
        assert_int_equal(count, g->node_count);
        done = !failed;
    }
    assert_true(done && n > 100);
}

TEST(verifying_and_printing_survive_every_failure)
{
    OWNED(graph) struct graph *g = parse_text(failing_text);
    FILE *out = fopen("/dev/null", "w");
    assert_non_null(out);
    setvbuf(out, NULL, _IONBF, 0);
    bool done = false;
    long n;

    for (n = 0; !done && n < 1000; n++) {
        allocations_left = n;
        graph_print(g, out, NULL);
        done = graph_verify(g, out); /* false, too, when it could not look */
        done = allocations_left > 0 && done;
        allocations_left = -1;
    }
    assert_true(done && n > 8);
    fclose(out);
    assert_round_trip(g);
}
#endif

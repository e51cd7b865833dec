/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Detectors on models made here: NonMaxSuppression against a loop over boxes, and what reads its result, whose size is known at
 * run time only.
 */
#include <math.h>

#include "readers/onnx/net.h"
#include "support/random.h"

enum { ROWS_MAX = 4096, ROW = 3 };

/** Reads, builds and computes on the inputs x and s; the bytes of each output follow its name, up to a NULL. */
static void run_all(const float *x, size_t x_bytes, const float *s, size_t s_bytes, const WNNNamedBuffer *outputs, size_t count)
{
    const WNNNamedBuffer in[] = {{WNN_STR("x"), (void *)(uintptr_t)x, x_bytes}, {WNN_STR("s"), (void *)(uintptr_t)s, s_bytes}};
    OWNED(compiled) WNNGraph graph = NULL;

    reads(t, NULL);
    if (model_build(&t->read, &graph, &t->error) != WNNStatus_Success)
        fail_msg("%s", t->error.message);
    if (wnnGraphCompute(graph, 2, in, count, outputs) != WNNStatus_Success)
        fail_msg("%.300s", wnnGetLastErrorMessage().data);
}

/* ---- the reference ---- */

struct nms {
    int64_t batch, classes, boxes, most;
    float overlap, threshold; /* NaN: not given */
    bool centered;
    int64_t high; /* the first scores that are above the threshold, the others are not; 0: any are */
};

/** The part that two boxes have in common of what they cover, 0 if that is nothing. */
static float overlap_of(const struct nms *c, const float *a, const float *b)
{
    float common = 1, areas[2] = {1, 1};

    for (int axis = 0; axis < 2; axis++) {
        const float *box[2] = {a, b};
        float low[2], high[2];

        for (int k = 0; k < 2; k++) {
            const float p = box[k][axis], q = box[k][2 + axis];
            low[k] = c->centered ? p - q / 2 : fminf(p, q);
            high[k] = c->centered ? p + q / 2 : fmaxf(p, q);
            areas[k] *= high[k] - low[k];
        }
        common *= fmaxf(fminf(high[0], high[1]) - fmaxf(low[0], low[1]), 0);
    }
    return common > 0 ? common / (areas[0] + areas[1] - common) : 0;
}

static size_t suppress(const struct nms *c, const float *boxes, const float *scores, int64_t *rows)
{
    size_t count = 0;

    for (int64_t k = 0; k < c->batch * c->classes; k++) {
        const float *mine = boxes + k / c->classes * c->boxes * 4, *score = scores + k * c->boxes;
        const size_t first = count;
        bool gone[ROWS_MAX] = {false};

        for (int64_t taken = 0; taken < c->most;) {
            int64_t best = -1;
            bool suppressed = false;

            for (int64_t i = 0; i < c->boxes; i++)
                if (!gone[i] && !(score[i] <= c->threshold) && !isnan(score[i]) && (best < 0 || score[i] > score[best]))
                    best = i;
            if (best < 0)
                break;
            gone[best] = true;
            for (size_t r = first; r < count; r++)
                suppressed |=
                    overlap_of(c, mine + 4 * best, mine + 4 * rows[r * ROW + 2]) > (isnan(c->overlap) ? 0 : c->overlap);
            if (suppressed)
                continue;
            memcpy(rows + count++ * ROW, (int64_t[]){k / c->classes, k % c->classes, best}, ROW * sizeof *rows);
            taken++;
        }
    }
    return count;
}

/* ---- boxes ---- */

static void describe(const struct nms *c)
{
    char dims[64];
    Onnx__NodeProto *n;

    snprintf(dims, sizeof dims, "%d %d 4", (int)c->batch, (int)c->boxes);
    input(t, "x", F32, dims);
    snprintf(dims, sizeof dims, "%d %d %d", (int)c->batch, (int)c->classes, (int)c->boxes);
    input(t, "s", F32, dims);
    integer(t, "most", c->most);
    number(t, "overlap", c->overlap);
    number(t, "threshold", c->threshold);
    n = node(t, "NonMaxSuppression",
             isnan(c->overlap)     ? isnan(c->threshold) ? "x s most" : "x s most - threshold"
             : isnan(c->threshold) ? "x s most overlap"
                                   : "x s most overlap threshold",
             "rows");
    attribute_int(t, n, "center_point_box", c->centered);
}

/** Makes boxes of which many overlap, and scores of which many are equal. */
static void draw(const struct nms *c, float *boxes, float *scores)
{
    for (int64_t i = 0; i < c->batch * c->boxes; i++) {
        const float y = (float)random_below(40), x = (float)random_below(40), h = (float)random_below(12),
                    w = (float)random_below(12);

        if (c->centered || i % 3) /* two corners in either order */
            memcpy(boxes + 4 * i, (float[]){y, x, c->centered ? h : y + h, c->centered ? w : x + w}, 4 * sizeof *boxes);
        else
            memcpy(boxes + 4 * i, (float[]){y + h, x, y, x + w}, 4 * sizeof *boxes);
    }
    for (int64_t i = 0; i < c->batch * c->classes * c->boxes; i++)
        scores[i] = c->high ? (i < c->high) : random_below(50) ? (float)random_below(32) / 32 : NAN;
}

TEST(boxes_that_overlap_better_ones_are_dropped)
{
    static const struct nms cases[] = {
        {1, 1, 6, 3, .5F, 0, false, 0},
        {2, 3, 90, 9, .5F, .25F, false, 0},
        {2, 3, 90, 100, .25F, .5F, true, 0},
        {1, 1, 300, 300, .5F, NAN, false, 0},
        {1, 2, 70, 10, NAN, .125F, false, 0},
        {1, 1, 1, 1, .5F, 0, true, 0},
        {1, 3, 130, 5, .5F, 2, false, 0},
        {3, 1, 65, 65, .7F, .9F, true, 0},
        /* Boxes that are listed, and those that are too many for that. */
        {2, 2, 700, 9, .5F, .9F, false, 0},
        {2, 2, 700, 9, .5F, .25F, true, 0},
        {1, 1, 2500, 20, .25F, .97F, true, 0},
        {1, 1, 2051, 2051, .5F, .9F, false, 0},
        {1, 3, 691, 691, .5F, .5F, false, 0},
        {1, 1, 4096, 20, .5F, .5F, false, 512},
        {1, 1, 4096, 4096, .5F, .5F, false, 513},
        {1, 2, 1024, 3, .5F, 2, false, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct nms *c = &cases[i];
        const size_t room = (size_t)(c->batch * c->classes * (c->most < c->boxes ? c->most : c->boxes)) * ROW;
        static float boxes[4 * ROWS_MAX], scores[ROWS_MAX];
        static int64_t rows[ROW * ROWS_MAX], expected[ROW * ROWS_MAX];
        int32_t count = -1;

        start(t, 17);
        describe(c);
        output(t, "rows");
        draw(c, boxes, scores);
        const WNNNamedBuffer out[] = {{WNN_STR("rows"), rows, room * sizeof *rows},
                                      {WNN_STR("rows.shape[0]"), &count, sizeof count}};
        run_all(boxes, (size_t)(c->batch * c->boxes) * 4 * sizeof *boxes, scores,
                (size_t)(c->batch * c->classes * c->boxes) * sizeof *scores, out, 2);
        assert_int_equal(count, suppress(c, boxes, scores, expected));
        assert_memory_equal(rows, expected, (size_t)count * ROW * sizeof *rows);
        for (size_t k = 0; k < room; k++) /* indices everywhere, which gathers may read */
            assert_in_range(rows[k], 0, ROWS_MAX);
    }
}

/* ---- what reads the result ---- */

/** Boxes [1, 8, 4] with scores [1, 1, 8], of which 3, 5 and 0 are kept, in this order. */
static const float eight[8][4] = {{0, 0, 4, 4},   {0, 0, 4, 3},   {0, 1, 4, 4}, {10, 0, 14, 4},
                                  {10, 0, 13, 4}, {20, 0, 24, 4}, {0, 0, 4, 4}, {9, 9, 9, 9}},
                   eight_scores[8] = {.5F, .25F, .125F, 1, .75F, .625F, .4375F, 0};

static void begin_eight(int64_t version)
{
    start(t, version);
    describe(&(struct nms){1, 1, 8, 8, .5F, .0625F, false, 0});
    integer(t, "zero", 0);
    integer(t, "two", 2);
    integers(t, "flat", 1, (int64_t[]){-1});
    integers(t, "first", 1, (int64_t[]){0});
    integers(t, "one", 1, (int64_t[]){1});
    integers(t, "last", 1, (int64_t[]){-1});
    nodes_in(t, &t->graph, "box = Gather rows two, axis 1; class = Gather rows one, axis 1; list = Reshape s flat");
    node(t, "Gather", "list box", "score"); /* 1, .625, .5 */
}

/** Computes one output, y, of three results and what the model says of their number: -1 if all count. */
static void check_eight(const float *expected, size_t size, size_t room, int32_t counted)
{
    float y[128];
    int32_t count = -1;
    const WNNNamedBuffer out[] = {{WNN_STR("y"), y, room * sizeof *y}, {WNN_STR("y.shape[0]"), &count, sizeof count}};

    run_all(eight[0], sizeof eight, eight_scores, sizeof eight_scores, out, counted < 0 ? 1 : 2);
    assert_int_equal(count, counted);
    for (size_t i = 0; i < size; i++)
        if (y[i] != expected[i])
            fail_msg("element %zu is %g, not %g", i, y[i], expected[i]);
}

TEST(rows_are_gathered_and_joined)
{
    static const float expected[] = {10, 0, 14, 4, 1, 20, 0, 24, 4, .625F, 0, 0, 4, 4, .5F};

    begin_eight(17);
    integers(t, "shape", 2, (int64_t[]){8, 4});
    nodes_in(t, &t->graph,
             "boxes = Reshape x shape; column = Unsqueeze box one; chosen = GatherND boxes column; scores = "
             "Unsqueeze score one; y = Concat chosen scores, axis 1");
    check_eight(expected, 15, 40, 3);
    assert_int_equal(t->read.output_count, 2);
    assert_string_equal(t->read.outputs[1].name, "y.shape[0]");
    assert_ptr_equal(t->read.outputs[0].count, t->read.outputs[1].operand);
    assert_int_equal(t->read.outputs[0].counted, 0);
}

TEST(padding_changes_no_result)
{
    static const struct {
        const char *type, *second;
        float x;
    } cases[] = {{"ReduceMax", "", 1},          {"ReduceMin", "", .5F},   {"ReduceSum", "first", 2.125F},
                 {"ReduceProd", "", .3125F},    {"ReduceL1", "", 2.125F}, {"ReduceSumSquare", "", 1.640625F},
                 {"ReduceMean", "", 2.125F / 3}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char inputs[40];

        begin_eight(17);
        snprintf(inputs, sizeof inputs, "score %s", cases[i].second);
        attribute_int(t, node(t, cases[i].type, inputs, "y"), "keepdims", 0);
        check_eight(&cases[i].x, 1, 1, -1);
    }
    begin_eight(17); /* the smallest is the last of three, the largest negative one, too */
    nodes_in(t, &t->graph, "at = ArgMin score, keepdims 0; y = Cast at, to 1");
    check_eight((float[]){2}, 1, 1, -1);
    begin_eight(17);
    nodes_in(t, &t->graph, "negative = Neg score; y = ReduceMax negative, keepdims 0");
    check_eight((float[]){-.5F}, 1, 1, -1);
    for (int version = 12; version < 18; version += 5) {
        begin_eight(version);
        number(t, "thousand", 1000);
        nodes_in(t, &t->graph, "low = Neg score; far = Mul low thousand; y = Softmax far, axis 0");
        check_eight((float[]){0, 0, 1}, 3, 8, 3);
    }
}

TEST(elements_that_count_are_sorted_and_sliced)
{
    begin_eight(17);
    integers(t, "k", 1, (int64_t[]){5});
    attribute_int(t, node(t, "TopK", "score k", "y places"), "largest", 0);
    check_eight((float[]){.5F, .625F, 1}, 3, 5, 3);
    begin_eight(17);
    integers(t, "k", 1, (int64_t[]){2});
    node(t, "TopK", "score k", "y places");
    check_eight((float[]){1, .625F}, 2, 2, 2);
    begin_eight(17); /* all but the last one, from the second one on */
    node(t, "Slice", "score one last first", "y");
    check_eight((float[]){.625F}, 1, 6, 1);
    begin_eight(17);
    integers(t, "many", 1, (int64_t[]){7});
    node(t, "Slice", "score first many first", "y");
    check_eight((float[]){1, .625F, .5F}, 3, 7, 3);
    begin_eight(17); /* the last one that counts */
    node(t, "Gather", "score last", "y");
    check_eight((float[]){.5F}, 1, 1, -1);
}

/* As many zeros as are missing leave nothing to count, as exporters of detectors fill their results. */
TEST(what_is_filled_up_counts)
{
    begin_eight(17);
    integers(t, "eight", 1, (int64_t[]){8});
    integers(t, "swap", 2, (int64_t[]){1, 2});
    nodes_in(t, &t->graph,
             "z = Shape score; rest = Sub eight z; p = Concat first rest, axis 0; q = Reshape p swap; "
             "r = Transpose q; pads = Reshape r flat; y = Pad score pads");
    check_eight((float[8]){1, .625F, .5F}, 8, 8, -1);
}

TEST(parts_that_count_are_joined)
{
    begin_eight(17);
    initializer(t, tensor(t, "seven", F32, 1, (int64_t[]){1}, (float[]){7}, 4));
    nodes_in(t, &t->graph, "negative = Neg score; y = Concat score seven negative, axis 0");
    check_eight((float[]){1, .625F, .5F, 7, -1, -.625F, -.5F}, 7, 17, 7);
}

TEST(other_dimensions_keep_their_place)
{
    float y[32];
    int32_t count = -1;
    const WNNNamedBuffer out[] = {{WNN_STR("y"), y, sizeof y}, {WNN_STR("y.shape[1]"), &count, sizeof count}};

    begin_eight(17);
    integers(t, "pairs", 2, (int64_t[]){2, -1});
    nodes_in(t, &t->graph, "boxes = Squeeze x first; chosen = Gather boxes box; y = Transpose chosen");
    run_all(eight[0], sizeof eight, eight_scores, sizeof eight_scores, out, 2);
    assert_int_equal(count, 3);
    assert_true(y[0] == 10 && y[1] == 20 && y[2] == 0 && y[16] == 14 && y[17] == 24 && y[18] == 4);
    begin_eight(17); /* a flat list has four times as many */
    nodes_in(t, &t->graph, "boxes = Squeeze x first; chosen = Gather boxes box; y = Reshape chosen flat");
    check_eight((float[]){10, 0, 14, 4, 20, 0}, 6, 32, 12);
}

TEST(what_needs_the_size_is_refused)
{
    static const char at_most[] = "has at most 8 elements along dimension 0, how many is known at run time only";
    Onnx__NodeProto *n;
    Onnx__GraphProto *body;

    begin_eight(17);
    attribute_int(t, node(t, "CumSum", "score first", "y"), "reverse", 1);
    refused(t, NULL, at_most);
    begin_eight(17);
    node(t, "Slice", "score last flat", "y");
    refused(t, NULL, "it takes elements from -1 on");
    begin_eight(17); /* a branch that would have to say it of both */
    input(t, "c", BOOL, "1");
    n = node(t, "If", "c", "y");
    for (int i = 0; i < 2; i++) {
        body = attribute_graph(t, n, i ? "then_branch" : "else_branch");
        node_in(t, body, i ? "Neg" : "Abs", "score", i ? "b" : "a");
        outputs_in(t, body, i ? "b" : "a");
    }
    refused(t, NULL, "output 0 of its body has at most 8 elements");
}

TEST(branches_may_differ_in_one_size)
{
    for (int taken = 0; taken < 2; taken++) {
        float expected[8];

        for (int i = 0; i < 8; i++)
            expected[i] = taken ? eight_scores[i] : -eight_scores[i];
        begin_eight(17);
        number(t, "limit", taken ? 2 : 0);
        nodes_in(t, &t->graph, "peak = ReduceMax score, keepdims 0; c = Less peak limit");
        Onnx__NodeProto *n = node(t, "If", "c", "z");
        Onnx__GraphProto *body = attribute_graph(t, n, "then_branch");
        node_in(t, body, "Gather", "list first", "a");
        outputs_in(t, body, "a");
        body = attribute_graph(t, n, "else_branch");
        node_in(t, body, "Neg", "list", "b");
        outputs_in(t, body, "b");
        node(t, "Identity", "z", "y");
        check_eight(expected, taken ? 1 : 8, 8, taken ? 1 : 8);
    }
}

/* ---- numbers made of the size ---- */

/** Scalar n is the number of scores that count, 3 of 8. */
static void begin_sizes(void)
{
    begin_eight(17);
    nodes_in(t, &t->graph, "shape = Shape score; n = Gather shape zero");
}

TEST(sizes_are_numbers)
{
    begin_sizes(); /* the mean */
    nodes_in(t, &t->graph, "f = Cast n, to 1; sum = ReduceSum score, keepdims 0; y = Div sum f");
    check_eight((float[]){2.125F / 3}, 1, 1, -1);
    begin_eight(17); /* of a matrix */
    nodes_in(t, &t->graph, "boxes = Squeeze x first; chosen = Gather boxes box; n = Size chosen; y = Cast n, to 1");
    check_eight((float[]){12}, 1, 1, -1);
    begin_sizes(); /* of two others */
    integer(t, "ten", 10);
    nodes_in(t, &t->graph, "m = Sub ten n; k = Mul m two; y = Cast k, to 1");
    check_eight((float[]){14}, 1, 1, -1);
}

TEST(sizes_decide_shapes)
{
    const float half = .5F;

    begin_sizes();
    integer(t, "one_more", 1);
    node(t, "Add", "n one_more", "limit");
    node(t, "Range", "zero limit two", "r"); /* 0 2 */
    attribute_int(t, node(t, "Cast", "r", "y"), "to", F32);
    check_eight((float[]){0, 2}, 2, 5, 2);
    begin_sizes();
    attribute(t, node(t, "ConstantOfShape", "shape", "c"), "value", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR)->t =
        tensor(t, "", F32, 1, &(int64_t){1}, &half, sizeof half);
    attribute_int(t, node(t, "ReduceSum", "c", "y"), "keepdims", 0);
    check_eight((float[]){1.5F}, 1, 1, -1);
    begin_sizes(); /* [1, 2] becomes [n, 2] */
    integers(t, "pair", 1, (int64_t[]){2});
    initializer(t, tensor(t, "seven", F32, 1, (int64_t[]){1}, (float[]){7}, 4));
    nodes_in(t, &t->graph, "row = Concat seven seven, axis 0; wide = Concat shape pair, axis 0; y = Expand row wide");
    check_eight((float[]){7, 7, 7, 7, 7, 7}, 6, 16, 3);
    begin_sizes(); /* as many as there are, and two at most */
    integers(t, "pair", 1, (int64_t[]){2});
    nodes_in(t, &t->graph, "all = Concat shape pair, axis 0; k = ReduceMin all; y places = TopK score k");
    check_eight((float[]){1, .625F}, 2, 2, 2);
    begin_sizes(); /* up to the count, and two at most, from the second one on */
    integers(t, "pair", 1, (int64_t[]){2});
    nodes_in(t, &t->graph, "end = Min shape pair; y = Slice score one end first");
    check_eight((float[]){.625F}, 1, 1, 1);
    begin_sizes(); /* of another tensor, one more than there are */
    initializer(t, tensor(t, "row", F32, 1, (int64_t[]){9}, (float[]){1, 2, 3, 4, 5, 6, 7, 8, 9}, 36));
    nodes_in(t, &t->graph, "end = Add shape one; y = Slice row first end first");
    check_eight((float[]){1, 2, 3, 4}, 4, 9, 4);
    begin_sizes(); /* a column */
    integers(t, "pair", 1, (int64_t[]){1});
    nodes_in(t, &t->graph, "column = Concat shape pair, axis 0; y = Reshape score column");
    check_eight((float[]){1, .625F, .5F}, 3, 8, 3);
}

TEST(sizes_that_cannot_be_bounds_are_refused)
{
    begin_sizes();
    integer(t, "minus", -1);
    node(t, "Div", "n minus", "y");
    refused(t, NULL, "it makes less of a size that is known at run time only where that is larger");
    begin_sizes();
    integer(t, "minus", -1);
    node(t, "Mul", "n minus", "y");
    refused(t, NULL, "it multiplies a size that is known at run time only by what may be negative");
    begin_sizes();
    nodes_in(t, &t->graph, "end = Sub shape one; y = Slice score first end first");
    refused(t, NULL, "its end is known at run time only, and it does not go from 0 or later on by steps of 1");
    begin_sizes(); /* and rows count as well */
    integers(t, "columns", 1, (int64_t[]){1});
    nodes_in(t, &t->graph,
             "column = Concat shape columns, axis 0; tall = Reshape score column; y = Slice tall first shape columns");
    refused(t, NULL, "its end is known at run time only, and so is how many elements of dimension 0 count");
    begin_sizes(); /* how many rows there are would not be the count divided by 2 */
    integers(t, "pair", 2, (int64_t[]){2, -1});
    node(t, "Reshape", "score pair", "y");
    refused(t, NULL, "how many is known at run time only");
    begin_sizes();
    nodes_in(t, &t->graph, "square = Concat shape shape, axis 0; y = ConstantOfShape square");
    refused(t, NULL, "several sizes of its result would be known at run time only");
    begin_sizes();
    node(t, "Range", "n two two", "y");
    refused(t, NULL, "input 0 depends on an input of the model");
}

/** Only what counts is written: boxes 3, 5 and 0. */
TEST(scatters_write_what_counts)
{
    static const float expected[] = {.5F, 0, 0, 1, 0, .625F, 0, 0};

    for (int nd = 0; nd < 2; nd++) {
        float zeros[8] = {0};

        begin_eight(17);
        initializer(t, tensor(t, "zeros", F32, 1, (int64_t[]){8}, zeros, sizeof zeros));
        node(t, "Unsqueeze", "box one", "column");
        node(t, nd ? "ScatterND" : "ScatterElements", nd ? "zeros column score" : "zeros box score", "y");
        check_eight(expected, 8, 8, -1);
    }
    begin_eight(17); /* negative ones count from the end: 0 - 8 is -8, and so on */
    float zeros[8] = {0};
    initializer(t, tensor(t, "zeros", F32, 1, (int64_t[]){8}, zeros, sizeof zeros));
    integer(t, "eight", 8);
    nodes_in(t, &t->graph, "negative = Sub box eight; y = ScatterElements zeros negative score");
    check_eight(expected, 8, 8, -1);
    begin_eight(17);
    integers(t, "places", 8, (int64_t[]){0, 1, 2, 3, 4, 5, 6, 7});
    nodes_in(t, &t->graph, "data = Reshape s flat; y = ScatterElements data places score");
    refused(t, NULL, "input 2 has at most 8 elements");
}

TEST(outputs_that_are_chosen_keep_their_count)
{
    const char *const names[] = {"score"};
    const struct model_options options = {.output_count = 1, .outputs = names};

    begin_eight(17);
    output(t, "rows score");
    reads(t, NULL);
    assert_int_equal(t->read.output_count, 4);
    assert_true(model_choose_outputs(&t->read, &options, &t->error));
    assert_int_equal(t->read.output_count, 2);
    assert_string_equal(t->read.outputs[0].name, "score");
    assert_string_equal(t->read.outputs[1].name, "score.shape[0]");
}

TEST(wrong_boxes_are_refused)
{
    start(t, 17);
    describe(&(struct nms){1, 1, 8, 0, .5F, 0, false, 0});
    output(t, "rows");
    refused(t, NULL, "all outputs of the graph have no elements");
    net(17, "x 1 8 4; s 1 7", "y = NonMaxSuppression x s");
    refused(t, NULL, "boxes must be [batch, boxes, 4] and scores [batch, classes, boxes]");
    start(t, 17);
    inputs_of(t, F32, "x 1 8 4; s 1 1 8");
    input(t, "m", I64, "1");
    node(t, "NonMaxSuppression", "x s m", "y");
    refused(t, NULL, "input 2 depends on an input of the model, \"m\"");
}

/* ---- elements that are chosen by the data ---- */

TEST(elements_that_are_not_zero_are_found)
{
    static const float x[2][3] = {{0, 5, 0}, {-1, 0, NAN}}, none[2][3] = {{0}};
    static const int64_t columns[] = {1, 0, 2};
    int64_t y[12];
    float sum;
    int32_t count = -1;
    const WNNNamedBuffer out[] = {
        {WNN_STR("y"), y, sizeof y}, {WNN_STR("sum"), &sum, sizeof sum}, {WNN_STR("y.shape[1]"), &count, sizeof count}};

    for (int i = 0; i < 2; i++) {
        start(t, 17);
        inputs_of(t, F32, "x 2 3; s 2 3");
        nodes_in(t, &t->graph,
                 "y = NonZero x; places = Transpose y; values = GatherND s places; sum = ReduceSum values, keepdims 0");
        output(t, "y sum");
        run_all(i ? *none : *x, sizeof x, (float[]){1, 2, 4, 8, 16, 32}, sizeof x, out, 3);
        assert_int_equal(count, i ? 0 : 3);
        assert_true(sum == (i ? 0 : 42));
        for (int k = 0; !i && k < 3; k++)
            assert_true(y[k] == (k > 0) && y[6 + k] == columns[k]);
    }
}

TEST(slices_are_chosen)
{
    static const struct {
        int axis; /* -1: none */
        float expected[6];
        int size;
    } cases[] = {{-1, {1, 3}, 2}, {0, {1, 2, 3, 7, 8, 9}, 6}, {1, {1, 3, 4, 6, 7, 9}, 6}};
    const float x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, s[3] = {1, -1, 1};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Onnx__NodeProto *n;
        float y[9];
        char name[] = "y.shape[0]";
        int32_t count = -1;

        net(17, "x 3 3; s 3", "flags = Greater s zero");
        number(t, "zero", 0);
        n = node(t, "Compress", "x flags", "y");
        if (cases[i].axis >= 0)
            attribute_int(t, n, "axis", cases[i].axis);
        name[8] = (char)('0' + (cases[i].axis > 0));
        const WNNNamedBuffer out[] = {{WNN_STR("y"), y, cases[i].axis < 0 ? 3 * sizeof *y : sizeof y},
                                      {WNN_STR(name), &count, sizeof count}};
        run_all(x, sizeof x, s, sizeof s, out, 2);
        assert_int_equal(count, 2);
        for (int k = 0; k < cases[i].size; k++)
            assert_true(y[cases[i].axis == 1 ? k / 2 * 3 + k % 2 : k] == cases[i].expected[k]);
    }
}

/** What was chosen is chosen from once more, twice. */
TEST(choices_follow_each_other)
{
    start(t, 13);
    describe(&(struct nms){1, 1, 8, 8, .5F, .0625F, false, 0});
    integers(t, "flat", 1, (int64_t[]){-1});
    integers(t, "first", 1, (int64_t[]){0});
    number(t, "low", .1875F);
    number(t, "high", .71875F);
    nodes_in(t, &t->graph,
             "scores = Reshape s flat; nothing = ReduceMin x, keepdims 0; list = Add scores nothing; m1 = "
             "Greater list low; i1 = NonZero m1; p1 = Squeeze i1 first");
    node(t, "Gather", "list p1", "some"); /* .5 .25 1 .75 .625 .4375 */
    node(t, "Less", "some high", "m2");
    node(t, "Compress", "some m2", "y"); /* .5 .25 .625 .4375 */
    check_eight((float[]){.5F, .25F, .625F, .4375F}, 4, 8, 4);
}

/* ---- RoiAlign ---- */

enum { CHANNELS = 2, HEIGHT = 5, WIDTH = 4, REGIONS = 6 };

struct roi_case {
    bool max, half;
    int64_t height, width, samples;
    float scale;
};

/** What a sample has of the four elements around it, as ONNX's text says. */
static void take_sample(const float *x, double row, double column, double *sum, double *most)
{
    const bool outside = row < -1 || column < -1 || row > HEIGHT || column > WIDTH;
    const double at[2] = {fmin(fmax(row, 0), HEIGHT - 1), fmin(fmax(column, 0), WIDTH - 1)};

    for (int k = 0; k < 4; k++) {
        const int r = (int)fmin(floor(at[0]) + k / 2, HEIGHT - 1), c = (int)fmin(floor(at[1]) + k % 2, WIDTH - 1);
        const double wr = at[0] - floor(at[0]), wc = at[1] - floor(at[1]);
        const double part = outside ? 0 : (double)x[r * WIDTH + c] * (k / 2 ? wr : 1 - wr) * (k % 2 ? wc : 1 - wc);

        *sum += part;
        *most = fmax(*most, part);
    }
}

static double align(const struct roi_case *c, const float *x, const float *roi, int64_t bin)
{
    const int64_t bins[2] = {c->height, c->width}, place[2] = {bin / c->width, bin % c->width}, count = c->samples * c->samples;
    double start[2], size[2], sum = 0, most = -INFINITY;

    for (int k = 0; k < 2; k++) {
        start[k] = (double)roi[1 - k] * (double)c->scale - (c->half ? 0.5 : 0);
        size[k] = (double)(roi[3 - k] - roi[1 - k]) * (double)c->scale;
        size[k] = (c->half ? size[k] : fmax(size[k], 1)) / (double)bins[k];
    }
    for (int64_t s = 0; s < count; s++) {
        double at[2];

        for (int k = 0; k < 2; k++)
            at[k] = start[k] +
                    ((double)place[k] + ((double)(k ? s % c->samples : s / c->samples) + 0.5) / (double)c->samples) * size[k];
        take_sample(x, at[0], at[1], &sum, &most);
    }
    return c->max ? most : sum / (double)count;
}

TEST(regions_are_aligned)
{
    static const struct roi_case cases[] = {
        {false, true, 2, 3, 2, 1}, {true, true, 1, 2, 3, .5F}, {false, false, 3, 1, 2, .25F}, {true, false, 2, 2, 1, 2}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct roi_case *c = &cases[i];
        const size_t bins = (size_t)(c->height * c->width);
        float x[2 * CHANNELS * HEIGHT * WIDTH], rois[REGIONS * 4], y[REGIONS * CHANNELS * 6];
        Onnx__NodeProto *n;

        start(t, 16);
        inputs_of(t, F32, "x 2 2 5 4; s 6 4");
        integers(t, "pictures", REGIONS, (int64_t[]){0, 1, 1, 0, 1, 0});
        n = node(t, "RoiAlign", "x s pictures", "y");
        attribute_text(t, n, "mode", c->max ? "max" : "avg");
        attribute_text(t, n, "coordinate_transformation_mode", c->half ? "half_pixel" : "output_half_pixel");
        attribute_int(t, n, "output_height", c->height);
        attribute_int(t, n, "output_width", c->width);
        attribute_int(t, n, "sampling_ratio", c->samples);
        attribute_float(t, n, "spatial_scale", c->scale);
        random_fill(x, sizeof x / sizeof *x);
        for (int k = 0; k < REGIONS * 4; k++)
            rois[k] = ((float)random_below(40) / 8 + (k % 4 > 1 ? 3 : -2)) / c->scale;
        const WNNNamedBuffer out = {WNN_STR("y"), y, REGIONS * CHANNELS * bins * sizeof *y};
        run_all(x, sizeof x, rois, sizeof rois, &out, 1);
        for (size_t k = 0; k < REGIONS * CHANNELS * bins; k++) {
            const size_t roi = k / bins / CHANNELS, picture = (size_t[]){0, 1, 1, 0, 1, 0}[roi];
            const double want =
                align(c, x + (picture * CHANNELS + k / bins % CHANNELS) * HEIGHT * WIDTH, rois + 4 * roi, (int64_t)(k % bins));

            if (!(fabs((double)y[k] - want) <= 1e-5))
                fail_msg("case %zu: element %zu is %g, not %g", i, k, (double)y[k], want);
        }
    }
    net(16, "x 2 2 5 4; s 6 4", "y = RoiAlign x s pictures, sampling_ratio -1");
    integers(t, "pictures", REGIONS, (int64_t[]){0, 1, 1, 0, 1, 0});
    refused(t, NULL, "sampling_ratio is -1 for an output of 1 x 1");
}

/* ---- Resize ---- */

/** Integers are interpolated exactly, then cut off, also where a part of one is smaller than a float's rounding. */
TEST(resized_integers_are_exact)
{
    const int32_t x[] = {-2000000011, 2000000003, 7, -5};
    static int32_t y[33 * 65];

    input(t, "x", 6, "2 2");
    integers(t, "sizes", 2, (int64_t[]){33, 65});
    nodes_in(t, &t->graph, "y = Resize x - - sizes, mode linear, coordinate_transformation_mode align_corners");
    computes(x, y);
    for (int64_t i = 0; i < 33; i++)
        for (int64_t j = 0; j < 65; j++)
            assert_int_equal(y[i * 65 + j],
                             ((x[0] * (64 - j) + x[1] * j) * (32 - i) + (x[2] * (64 - j) + x[3] * j) * i) / (64 * 32));
}

/** Ten elements times 0.7f are seven, as a product of floats is; places are exact: the fourth of six is below the sixth of ten.
 */
TEST(sizes_of_resize_are_products_of_floats)
{
    const float x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, want[] = {0, 1, 2, 4, 5, 7, 8, 0, 1, 3, 4, 6, 8}, scales[] = {0.7f, 0.6f};
    float y[13];

    net(13, "x 10",
        "a = Resize x - r, coordinate_transformation_mode asymmetric, nearest_mode floor; "
        "b = Resize x - s, coordinate_transformation_mode asymmetric, nearest_mode floor; y = Concat a b, axis 0");
    initializer(t, tensor(t, "r", F32, 1, (int64_t[]){1}, scales, sizeof *scales));
    initializer(t, tensor(t, "s", F32, 1, (int64_t[]){1}, scales + 1, sizeof *scales));
    computes(x, y);
    assert_memory_equal(y, want, sizeof y);
}

TEST_GROUP(create_context, release_context)

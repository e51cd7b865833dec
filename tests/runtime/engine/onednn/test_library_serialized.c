/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Steps of serialized programs that were made up: a step must not read beyond its operands, whatever strides the stream names.
 * Weights, inputs of the step or data of the program, floats or bytes, lie in blocks of exactly their size, so that the address
 * sanitizer sees it, too.
 */
#include "runtime/engine/onednn/library_support.h"
#include "runtime/program/serialized_stream.h"
#include "ir/program.h"

enum { M = 6, K = 40, N = 24 };

/** What the weights of a matmul [M, K] x [K, N] are, and where. */
enum kind { FLOATS_GIVEN, FLOATS_IN_DATA, BYTES_GIVEN, BYTES_IN_DATA, KINDS };

static bool are_bytes(enum kind kind)
{
    return kind == BYTES_GIVEN || kind == BYTES_IN_DATA;
}

static struct value *bytes_operand(struct subject *s, uint32_t rows, uint32_t columns)
{
    const struct tensor_type t = {.type = WNNOperandDataType_Int8, .rank = 2, .dims = {rows, columns}};
    const struct tensor_type one = {.type = WNNOperandDataType_Int8, .rank = 2, .dims = {1, 1}};
    struct tensor_type scale = one;
    char name[16];
    int length = snprintf(name, sizeof name, "i%u", s->g->value_count);
    struct value *x = graph_add_input(s->g, name, (size_t)length, &t);

    scale.type = WNNOperandDataType_Float32;
    struct value *factor = graph_add_scalar(s->g, &scale, wnnNumber(0.5)), *zero = graph_add_scalar(s->g, &one, wnnNumber(3));
    assert_true(x && factor && zero);
    return apply(s, OP_DEQUANTIZE_LINEAR, NULL, x, factor, zero);
}

/** Returns the step of such a matmul, which keeps its weights as the graph has them. */
static struct library_step *create_step(struct subject *s, enum kind kind)
{
    struct error e = {0};
    struct value *x, *w;

    *s = subject_begin();
    x = are_bytes(kind) ? bytes_operand(s, M, K) : OPERAND(s, false, M, K);
    w = are_bytes(kind) ? bytes_operand(s, K, N) : OPERAND(s, kind == FLOATS_IN_DATA, K, N);
    apply(s, OP_MATMUL, NULL, x, w, NULL);
    if (are_bytes(kind))
        assert_true(library_takes_quantized(library, s->nodes, s->count));
    else
        assert_true(subject_taken(s));
    struct library_step *step = library_step_create(library, s->nodes, s->count, shares_this, NULL, &e);
    if (!step)
        fail_with_graph(s, e.message);
    return step;
}

/* Where things are in the stream of a step without post-ops. */
static size_t layout_bytes(uint32_t rank)
{
    return 2 * sizeof(uint32_t) + 2 * rank * sizeof(int64_t);
}

static size_t weights_at(void)
{
    return 13 * sizeof(int32_t) + sizeof(int64_t) + layout_bytes(2);
}

/* After the layouts: strides, padding; output scales; in place; operations and bytes; where the source comes from. */
static size_t weights_form_at(uint32_t scales)
{
    return weights_at() + layout_bytes(2) + layout_bytes(0) + layout_bytes(2) + 8 * sizeof(int64_t) + sizeof(int64_t) +
           scales * sizeof(float) + sizeof(uint32_t) + 2 * sizeof(double) + 2 * sizeof(uint32_t);
}

/** A serialized step with the data that it names. */
struct saved {
    unsigned char *bytes, *data;
    size_t size, data_size;
};

/** Lets weights that are an input of a step be data of the program: `size` bytes at the beginning of the section. */
static void move_to_data(struct saved *x, size_t at, size_t size)
{
    const uint32_t in_data = 2, given[2] = {0, 1};
    const uint64_t place[2] = {0, size};
    const size_t grown = sizeof in_data + sizeof place - sizeof given;
    unsigned char *to = malloc(x->size + grown);

    assert_non_null(to);
    assert_memory_equal(x->bytes + at, given, sizeof given);
    memcpy(to, x->bytes, at);
    memcpy(to + at, &in_data, sizeof in_data);
    memcpy(to + at + sizeof in_data, place, sizeof place);
    memcpy(to + at + sizeof in_data + sizeof place, x->bytes + at + sizeof given, x->size - at - sizeof given);
    free(x->bytes);
    free(x->data);
    *x = (struct saved){to, calloc(1, size), x->size + grown, size};
    assert_non_null(x->data);
}

static struct saved save(const struct library_step *step, enum kind kind)
{
    struct stream_writer o = {0};

    assert_true(library_step_save(step, true, &o) && !o.failed);
    struct saved x = (struct saved){malloc(o.size), NULL, o.size, 0};
    for (uint32_t i = 0; i < o.piece_count; i++)
        x.data_size = o.pieces[i].offset + o.pieces[i].bytes; /* without the padding after the last one */
    x.data = calloc(1, x.data_size + 1);
    assert_true(x.bytes && x.data);
    memcpy(x.bytes, o.bytes, o.size);
    for (uint32_t i = 0; i < o.piece_count; i++)
        memcpy(x.data + o.pieces[i].offset, o.pieces[i].data, o.pieces[i].bytes);
    out_free(&o);
    if (kind == BYTES_IN_DATA)
        move_to_data(&x, weights_form_at(1), (size_t)K * N);
    return x;
}

static struct library_step *load(const struct saved *x, enum kind kind, struct error *e)
{
    const int64_t size = are_bytes(kind) ? 1 : sizeof(float);
    const struct location locations[] = {{LOCATION_INPUT, 0, 0, M * K * size},
                                         {LOCATION_INPUT, 1, 0, K * N * size},
                                         {LOCATION_OUTPUT, 0, 0, M * N * (int64_t)sizeof(float)}};
    struct stream_reader in = {.at = x->bytes, .end = x->bytes + x->size, .data = x->data, .data_bytes = x->data_size};
    const bool given = kind == FLOATS_GIVEN || kind == BYTES_GIVEN || kind == BYTES_IN_DATA;

    *e = (struct error){0};
    return library_step_load(library, &in, 2 + given, given ? locations : (struct location[]){locations[0], locations[2]}, e);
}

/* The stride from row to row of the weights. */
static void set_stride(struct saved *x, int64_t stride)
{
    int64_t at[2];
    unsigned char *strides = x->bytes + weights_at() + 2 * sizeof(uint32_t) + 2 * sizeof(int64_t);

    memcpy(at, strides, sizeof at);
    assert_true(at[0] >= N && at[1] == 1);
    memcpy(strides, &stride, sizeof stride);
}

TEST(strides_stay_inside_of_weights)
{
    static const char *const flaws[KINDS] = {[FLOATS_GIVEN] = "an input is too small",
                                             [FLOATS_IN_DATA] = "its weights",
                                             [BYTES_GIVEN] = "an input is too small",
                                             [BYTES_IN_DATA] = "its weights"};
    static const int64_t strides[] = {N + 1, 2 * N, 1 << 20};

    library_keep_weights(library);
    for (enum kind kind = FLOATS_GIVEN; kind < KINDS; kind++) {
        struct subject s;
        struct error e;

        if (are_bytes(kind) && !library_has_exact_integers(library))
            continue;
        struct library_step *step = create_step(&s, kind);
        struct saved x = save(step, kind);
        library_step_free(step);
        step = load(&x, kind, &e);
        if (!step)
            fail_with_graph(&s, e.message);
        library_step_free(step);
        for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
            set_stride(&x, strides[i]);
            step = load(&x, kind, &e);
            if (step || e.status != WNNStatus_DataError || !strstr(e.message, "a step of oneDNN is damaged") ||
                !strstr(e.message, flaws[kind]))
                fail_msg("kind %d, stride %lld: %s", (int)kind, (long long)strides[i], step ? "loaded" : e.message);
        }
        free(x.bytes);
        free(x.data);
        subject_end(&s);
    }
}

int main(int argc, char **argv)
{
    return main_library(argv);
}

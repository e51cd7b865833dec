/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ONNX files that are long lists of names: reading takes time in proportion to the file.
 */
#include <math.h>
#include <time.h>

#include "readers/onnx/net.h"
#include "support/protobuf.h"

/* ---- files ---- */

static const char *name_of(char prefix, size_t i)
{
    static char names[4][32];
    static unsigned turn;
    char *name = names[turn++ % 4];

    snprintf(name, sizeof names[0], "%c%zu", prefix, i);
    return name;
}

/** In a graph's field 1 or a function's field 7. */
static void put_node(struct bytes *list, unsigned field, const char *op, const char *domain, const char *in, const char *out)
{
    struct bytes n = {0};

    put_text(&n, 1, in);
    put_text(&n, 2, out);
    put_text(&n, 4, op);
    put_text(&n, 7, domain);
    put_message(list, field, &n);
}

static void put_opset(struct bytes *model, unsigned field, const char *domain, int64_t version)
{
    struct bytes set = {0};

    put_text(&set, 1, domain);
    put_int(&set, 2, version);
    put_message(model, field, &set);
}

/** How one kind of file is made of n items; whether it can be read. */
struct kind {
    const char *name;
    bool (*make)(struct bytes *model, struct bytes *graph, size_t n);
};

static bool many_opsets(struct bytes *model, struct bytes *graph, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        put_opset(model, 8, name_of('d', i), 1);
        put_node(graph, 1, "Identity", "", i ? name_of('a', i - 1) : "x", name_of('a', i));
    }
    put_node(graph, 1, "Cos", "", name_of('a', n - 1), "y");
    return true;
}

static bool many_functions(struct bytes *model, struct bytes *graph, size_t n)
{
    struct bytes f = {0};

    put_opset(model, 8, "d", 1);
    for (size_t i = 0; i < n; i++) {
        put_text(&f, 1, name_of('f', n - 1 - i));
        put_text(&f, 4, "a");
        put_text(&f, 5, "b");
        put_node(&f, 7, "Identity", "", "a", "b");
        put_opset(&f, 9, "", 17);
        put_text(&f, 10, "d");
        put_message(model, 25, &f);
        put_node(graph, 1, name_of('f', i), "d", i ? name_of('a', i - 1) : "x", name_of('a', i));
    }
    put_node(graph, 1, "Cos", "", name_of('a', n - 1), "y");
    return true;
}

/** Attributes of one node, all of them known to the function that it calls. */
static bool many_attributes(struct bytes *model, struct bytes *graph, size_t n)
{
    struct bytes call = {0}, f = {0}, a = {0};

    put_opset(model, 8, "d", 1);
    put_text(&call, 1, "x");
    put_text(&call, 2, "y");
    put_text(&call, 4, "F");
    put_text(&call, 7, "d");
    put_text(&f, 1, "F");
    put_text(&f, 10, "d");
    for (size_t i = 0; i < n; i++) {
        put_text(&a, 1, name_of('q', i));
        put_int(&a, 3, 1);
        put_int(&a, 20, 2);
        put_message(&call, 5, &a);
        put_text(&f, 6, name_of('q', i));
    }
    put_message(graph, 1, &call);
    put_message(model, 25, &f);
    return false;
}

/** A loop whose body has a long branch that is not taken; the longer it is the more iterations there are. */
static bool many_iterations(struct bytes *model, struct bytes *graph, size_t n)
{
    struct bytes branch = {0}, other = {0}, body = {0}, loop = {0}, a = {0}, choice = {0}, t = {0};
    const int64_t trips = (int64_t)n / 16;
    const uint8_t no = 0;

    put_int(&t, 2, I64);
    put_text(&t, 8, "trips");
    put_bytes(&t, 9, &trips, sizeof trips);
    put_message(graph, 5, &t);
    put_int(&t, 2, BOOL);
    put_text(&t, 8, "no");
    put_bytes(&t, 9, &no, 1);
    put_message(graph, 5, &t);
    for (size_t i = 0; i < n; i++)
        put_node(&branch, 1, "Identity", "", "s", name_of('q', i));
    put_port(&branch, 12, name_of('q', n - 1), F32, "1");
    put_node(&other, 1, "Identity", "", "s", "same");
    put_port(&other, 12, "same", F32, "1");
    put_text(&choice, 1, "no");
    put_text(&choice, 2, "next");
    put_text(&choice, 4, "If");
    put_text(&a, 1, "then_branch");
    put_message(&a, 6, &branch);
    put_int(&a, 20, 5);
    put_message(&choice, 5, &a);
    put_text(&a, 1, "else_branch");
    put_message(&a, 6, &other);
    put_int(&a, 20, 5);
    put_message(&choice, 5, &a);
    put_message(&body, 1, &choice);
    put_port(&body, 11, "turn", F32, "1");
    put_port(&body, 11, "go", F32, "1");
    put_port(&body, 11, "s", F32, "1");
    put_port(&body, 12, "go", F32, "1");
    put_port(&body, 12, "next", F32, "1");
    put_text(&loop, 1, "trips");
    put_text(&loop, 1, "");
    put_text(&loop, 1, "x");
    put_text(&loop, 2, "l");
    put_text(&loop, 4, "Loop");
    put_text(&a, 1, "body");
    put_message(&a, 6, &body);
    put_int(&a, 20, 5);
    put_message(&loop, 5, &a);
    put_message(graph, 1, &loop);
    put_node(graph, 1, "Cos", "", "l", "y");
    return true;
}

static bool many_open_inputs(struct bytes *model, struct bytes *graph, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_port(graph, 11, name_of('i', i), F32, NULL);
    put_node(graph, 1, "Cos", "", "x", "y");
    return false;
}

/** An einsum of many operands. */
static bool many_terms(struct bytes *model, struct bytes *graph, size_t n)
{
    struct bytes node = {0}, a = {0}, equation = {0};

    for (size_t i = 0; i < n / 4; i++) {
        put_text(&node, 1, "x");
        put(&equation, i ? ",a" : "a", i ? 2 : 1);
    }
    put(&equation, "->a", 3);
    put_text(&node, 2, "y");
    put_text(&node, 4, "Einsum");
    put_text(&a, 1, "equation");
    put_message(&a, 4, &equation);
    put_int(&a, 20, 3);
    put_message(&node, 5, &a);
    put_message(graph, 1, &node);
    return true;
}

/** The graph in pieces, as the encoding allows and no program writes. */
static bool many_pieces(struct bytes *model, struct bytes *graph, size_t n)
{
    struct bytes piece = {0};

    for (size_t i = 0; i < n; i++) {
        put_node(&piece, 1, "Identity", "", i ? name_of('a', i - 1) : "x", name_of('a', i));
        put_message(model, 7, &piece);
    }
    put_node(graph, 1, "Cos", "", name_of('a', n - 1), "y");
    return false;
}

/** Processor time of reading a file of n items, the least of three times. */
static double time_reading(const struct kind *kind, size_t n)
{
    struct bytes model = {0}, graph = {0};
    double best = INFINITY;

    put_int(&model, 1, 8);
    put_opset(&model, 8, "", 17);
    put_port(&graph, 11, "x", F32, "1");
    put_port(&graph, 12, "y", F32, "1");
    bool valid = kind->make(&model, &graph, n);
    put_message(&model, 7, &graph);
    for (int i = 0; i < 3; i++) {
        struct timespec from, to;
        struct error e = {0};
        struct model m;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
        bool ok = model_read_onnx(context, "model.onnx", model.data, model.length, NULL, &m, &e);
        if (ok)
            model_free(&m);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
        if (ok != valid)
            fail_msg("%s of %zu: %s", kind->name, n, ok ? "accepted" : e.message);
        double seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
        best = seconds < best ? seconds : best;
    }
    free(model.data);
    return best;
}

/** Sixteen times the items take sixteen times as long, not 256 times. */
TEST(reading_is_linear_in_the_file)
{
    enum { FEW = 1000, TIMES = 16 };
    static const struct kind kinds[] = {
        {"operator sets", many_opsets},  {"functions", many_functions},     {"attributes", many_attributes},
        {"iterations", many_iterations}, {"open inputs", many_open_inputs}, {"terms", many_terms},
        {"pieces", many_pieces},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double few = time_reading(&kinds[i], FEW), many = time_reading(&kinds[i], (size_t)FEW * TIMES);

        print_message("%s: %.2f ms, %d times as many %.2f ms\n", kinds[i].name, few * 1e3, TIMES, many * 1e3);
        /* A millisecond for what does not depend on the file. */
        if (many > 4 * TIMES * (few + 1e-3))
            fail_msg("%s: %g s for %d, %g s for %d times as many", kinds[i].name, few, FEW, many, TIMES);
    }
}

TEST_GROUP(create_context, release_context)

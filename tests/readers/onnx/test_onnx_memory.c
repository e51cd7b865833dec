/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory runs out while a model is read: an error, no crash, no leak, and the next attempt works. */
#include "readers/onnx/net.h"
#include "support/failing_allocator.h"

TEST(every_allocation_can_fail)
{
    static const float w[4] = {1, 2, 3, 4};
    bool done = false;
    size_t size, failures = 0;

    input(t, "x", F32, "n 2");
    initializer(t, tensor(t, "w", F32, 2, (int64_t[]){2, 2}, w, sizeof w));
    integers(t, "shape", 2, (int64_t[]){4, -1});
    integer(t, "trips", 2);
    node(t, "Reshape", "a shape", "b"); /* before its producer: to be sorted */
    nodes_in(t, &t->graph, "a = Add x w; y = Loop trips - b");
    Onnx__GraphProto *body = loop_body(t, t->graph.node[2], "s", "4 1");
    attribute_float(t, node_in(t, body, "Elu", "s", "s2"), "alpha", 2);
    outputs_in(t, body, "go s2");
    nodes_in(t, &t->graph,
             "places = NonZero x; shape_of = Shape places; filled = ConstantOfShape shape_of; refused = TfIdfVectorizer x");
    output(t, "y filled refused");
    size = onnx__model_proto__get_packed_size(&t->model);
    uint8_t *bytes = keep(t, size);
    for (int refuse = 1; refuse >= 0; refuse--) {
        t->graph.n_node = 6 + (size_t)refuse;
        t->graph.n_output = 2 + (size_t)refuse;
        size = onnx__model_proto__pack(&t->model, bytes);
        done = false;
        for (long n = 0; !done; n++) {
            const struct model_dim dim = {"n", 2};
            const struct model_options options = {.dim_count = 1, .dims = &dim};
            struct error e = {0};
            struct model m;

            allocations_fail_after(n);
            bool ok = model_read_onnx(context, "model.onnx", bytes, size, &options, &m, &e);
            done = allocations_stop_failing();
            failures += !done;
            if (ok)
                model_free(&m);
            if (done) {
                assert_int_equal(ok, !refuse);
                assert_int_equal(e.status != 0, refuse);
            } else if (!refuse && (ok || !strstr(e.message, "out of memory"))) {
                fail_msg("allocation %ld: %s", n, ok ? "the model is read all the same" : e.message);
            }
        }
    }
    assert_true(failures > 30);
}

TEST_GROUP(create_context, release_context)

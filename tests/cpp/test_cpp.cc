/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The C++ interface: what each wrapper passes on, what it owns, and what it throws.  Values are computed by hand.
 */
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include <webnn/webnn_draft.hpp>

#include "expect.h"
#include "../support/help.h"

using webnn::DataType;

static std::vector<float> compute(webnn::GraphBuilder const &b, webnn::Operand const &y, std::vector<float> const &x,
                                  size_t count)
{
    std::vector<float> out(count);

    b.build({{"y", y}}).compute({{"x", x}}, {{"y", out}});
    return out;
}

static void options_have_the_defaults_of_the_specification()
{
    EXPECT(webnn::Conv2dOptions{}.groups == 1);
    EXPECT(webnn::Conv2dOptions{}.inputLayout == webnn::InputOperandLayout::nchw);
    EXPECT(!webnn::Conv2dOptions{}.padding);
    EXPECT(webnn::GemmOptions{}.alpha == 1 && webnn::GemmOptions{}.beta == 1 && !webnn::GemmOptions{}.bTranspose);
    EXPECT(webnn::BatchNormalizationOptions{}.epsilon == 1e-5 && webnn::BatchNormalizationOptions{}.axis == 1);
    EXPECT(webnn::ArgMinMaxOptions{}.outputDataType == DataType::int32);
    EXPECT(webnn::LeakyReluOptions{}.alpha == 0.01);

    /* What the option struct of C becomes is the INIT macro's. */
    WNNConv2dOptions const expected = WNN_CONV2D_OPTIONS_INIT;
    webnn::Conv2dOptions const options;
    WNNConv2dOptions const native = options.native();
    EXPECT(native.structSize == expected.structSize && native.groups == expected.groups && native.padding == nullptr);
    EXPECT(native.filterLayout == expected.filterLayout && native.bias == nullptr && native.label.length == 0);
}

static void options_are_passed_on(webnn::Context const &context)
{
    webnn::GraphBuilder b(context);
    auto x = b.input("x", {DataType::float32, {1, 1, 2, 2}});
    webnn::Conv2dOptions options;
    options.padding = {1, 1, 1, 1};
    options.bias = b.constant({DataType::float32, {1}}, {0.5f});
    auto y = b.conv2d(x, b.constant({DataType::float32, {1, 1, 3, 3}}, std::vector<float>(9, 1)), options);
    EXPECT((y.shape() == std::vector<std::uint32_t>{1, 1, 2, 2}));
    EXPECT(y.dataType() == DataType::float32);
    EXPECT((compute(b, y, {1, 2, 3, 4}, 4) == std::vector<float>{10.5f, 10.5f, 10.5f, 10.5f}));

    webnn::GraphBuilder c(context);
    webnn::ClampOptions bounds;
    bounds.maxValue = 2;
    EXPECT(
        (compute(c, c.clamp(c.input("x", {DataType::float32, {3}}), bounds), {-5, 1, 7}, 3) == std::vector<float>{-5, 1, 2}));

    /* A list that is there, but empty, is not an absent one: nothing is reduced. */
    webnn::GraphBuilder d(context);
    webnn::ReduceOptions nothing;
    nothing.axes.emplace();
    EXPECT((compute(d, d.reduceSum(d.input("x", {DataType::float32, {2}}), nothing), {3, 4}, 2) == std::vector<float>{3, 4}));
    webnn::GraphBuilder e(context);
    EXPECT((compute(e, e.reduceSum(e.input("x", {DataType::float32, {2}})), {3, 4}, 1) == std::vector<float>{7}));
}

static void methods_return_one_operand_or_several(webnn::Context const &context)
{
    webnn::GraphBuilder b(context);
    auto x = b.input("x", {DataType::float32, {4}});
    auto halves = b.split(x, 2);
    auto parts = b.split(x, {1, 3});
    EXPECT(halves.size() == 2 && parts.size() == 2 && parts[1].shape()[0] == 3);
    EXPECT((compute(b, b.concat({halves[1], halves[0], parts[0]}, 0), {1, 2, 3, 4}, 5) == std::vector<float>{3, 4, 1, 2, 1}));

    webnn::GraphBuilder c(context);
    auto cell =
        c.lstmCell(c.input("x", {DataType::float32, {1, 1}}), c.constant({DataType::float32, {4, 1}}, std::vector<float>(4)),
                   c.constant({DataType::float32, {4, 1}}, std::vector<float>(4)),
                   c.constant({DataType::float32, {1, 1}}, std::vector<float>(1)),
                   c.constant({DataType::float32, {1, 1}}, std::vector<float>{4}), 1);
    EXPECT(cell.size() == 2);
    EXPECT((compute(c, cell[1], {1}, 1) == std::vector<float>{2})); /* the forget gate is 0.5 */
}

static void tensors_and_graphs_are_owned()
{
    webnn::Graph graph;
    webnn::Tensor from, to;

    EXPECT(!graph && !from);
    {
        webnn::Context context;
        webnn::GraphBuilder b(context);
        webnn::Operand y = b.neg(b.input("x", {DataType::int32, {3}}));
        graph = b.build({{"y", y}});
        from = context.createTensor({DataType::int32, {3}, false, true});
        to = context.createTensor({DataType::int32, {3}, true, false});
        context.writeTensor(from, std::array<int, 3>{1, 2, 3});
        webnn::Graph const copy = graph;
        EXPECT(copy.get() == graph.get());
        context.dispatch(copy, {{"x", from}}, {{"y", to}});
        EXPECT((context.readTensor<int>(to) == std::vector<int>{-1, -2, -3}));
        EXPECT(to.readable() && !to.writable() && !to.constant() && to.byteLength() == 12);
        EXPECT(!context.isLost());
    }
    /* The context is gone as an object, and lives on in what it made. */
    EXPECT(graph.inputs().size() == 1 && graph.inputs()[0].first == "x" &&
           graph.inputs()[0].second.dataType == DataType::int32);
    EXPECT((graph.outputs()[0].second.shape == std::vector<std::uint32_t>{3}));
    std::vector<int> in{4, 5, 6}, out(3);
    graph.compute({{"x", in}}, {{"y", out}});
    EXPECT(out[2] == -6);
    webnn::Graph const moved = std::move(graph);
    EXPECT(!graph && moved);
}

static void devices_and_opencl_objects_are_passed_on(webnn::Context const &context)
{
    WNNDeviceInfo info;
    int object = 0;

    for (WNNDeviceInfo const &device : webnn::devices())
        EXPECT(device.name[0]);
    EXPECT(!wnnGetDevice(static_cast<std::uint32_t>(webnn::devices().size()), &info));
    context.flush();
    error_of(WNNStatus_NotSupportedError,
             [&] { context.createTensorFromOpenCL({DataType::float32, {3}}, &object); }); /* the context is not in OpenCL */
    webnn::ContextOptions options;
    options.engine = WNNEngine_Gpu;
    options.openclContext = &object; /* without device and queue */
    std::string const message = error_of(WNNStatus_TypeError, [&] { webnn::Context const shared(options); });
    EXPECT(message.find("opencl") != std::string::npos);
}

static void an_operand_keeps_its_builder(webnn::Context const &context)
{
    webnn::Operand x;
    {
        webnn::GraphBuilder b(context);
        x = b.input("x", {DataType::float16, {2, 3}});
    }
    EXPECT(x.dataType() == DataType::float16 && x.shape().size() == 2);
}

static void errors_are_thrown_and_lose_nothing(webnn::Context const &context)
{
    webnn::GraphBuilder b(context);
    auto x = b.input("x", {DataType::float32, {2, 3}});
    webnn::OperatorOptions options;
    options.label = "product";
    std::string const message = error_of(WNNStatus_TypeError, [&] { b.matmul(x, x, options); });
    EXPECT(message.find("matmul [product]") != std::string::npos);
    EXPECT(error_of(WNNStatus_TypeError, [&] { b.split(x, {1, 3}); }).find("split") != std::string::npos);
    EXPECT(error_of(WNNStatus_TypeError, [&] { b.input("x", {DataType::float32, {1}}); }).find("input") != std::string::npos);
    error_of(WNNStatus_TypeError, [&] { b.constant({DataType::float32, {3}}, std::vector<float>(2)); });
    error_of(WNNStatus_TypeError, [&] { b.relu(webnn::Operand()); });
    error_of(WNNStatus_TypeError, [&] { b.build({}); });
    error_of(WNNStatus_TypeError, [&] { b.build({{"y", x}}); });
    EXPECT((compute(b, b.relu(x), {1, -2, 3, -4, 5, -6}, 6) == std::vector<float>{1, 0, 3, 0, 5, 0}));
    error_of(WNNStatus_InvalidStateError, [&] { b.relu(x); });

    std::vector<float> small(1);
    webnn::GraphBuilder c(context);
    webnn::Graph const graph = c.build({{"y", c.relu(c.input("x", {DataType::float32, {2}}))}});
    error_of(WNNStatus_TypeError, [&] { graph.compute({{"x", small}}, {{"y", small}}); });
    error_of(WNNStatus_DataError, [&] { context.loadGraph("/nonexistent.wnn"); });
    error_of(WNNStatus_DataError, [&] { webnn::Context::engineOf("/nonexistent.wnn"); });
    error_of(WNNStatus_UnknownError, [&] { graph.save("/dev/null/graph.wnn"); });
}

/** s = s / 2 + row of x; the rows are taken from the last one on, and each s is collected. */
static void loops_have_parameters_and_results(webnn::Context const &context)
{
    webnn::GraphBuilder const b(context);
    webnn::Operand const x = b.input("x", {DataType::float32, {3, 2}});
    webnn::Operand const zero = b.constant({DataType::float32, {2}}, {0.0f, 0.0f});
    std::vector<webnn::Operand> const turn = b.beginLoop(3, {zero}, {{x, 0, true}});
    webnn::Operand const s = b.add(b.mul(turn[0], b.constant(DataType::float32, 0.5)), turn[1]);
    std::vector<webnn::Operand> const results = b.endLoop({s}, {{s, 1, false}}, "sums");

    EXPECT(turn.size() == 2 && results.size() == 2);
    std::vector<float> const y = compute(b, results[1], {1, 2, 3, 4, 5, 6}, 6);
    EXPECT((y == std::vector<float>{5, 5.5f, 3.75f, 6, 7, 5.5f}));
    EXPECT(error_of(WNNStatus_TypeError, [&] {
               webnn::GraphBuilder const other(context);
               (void)other.endLoop({});
           }).find("no loop has begun") != std::string::npos);
}

static void element_types_are_compared(webnn::Context const &context)
{
    webnn::GraphBuilder const b(context);
    webnn::OperandDescriptor const ids{DataType::int64, {2}};
    webnn::Graph const graph = b.build({{"y", b.neg(b.input("x", ids))}});
    std::vector<double> wrong{1, 2};
    std::vector<std::int64_t> right{1, 2}, out(2);
    std::vector<char> bytes(16);

    EXPECT(ids.byteLength() == 16 && ids.elements() == 2 && webnn::OperandDescriptor{}.elements() == 0);
    EXPECT(error_of(WNNStatus_TypeError, [&] { graph.compute({{"x", wrong}}, {{"y", out}}); }) ==
           "compute: elements of float64 are given for x, which has int64");
    error_of(WNNStatus_TypeError, [&] { graph.compute({{"x", right}}, {{"y", wrong}}); });
    error_of(WNNStatus_TypeError, [&] { graph.run({{"x", std::vector<std::uint64_t>(2)}}); });
    graph.compute({{"x", right}}, {{"y", bytes}}); /* of bytes nothing is known */
    webnn::Tensor const tensor = context.createTensor({DataType::int64, {2}, true, true});
    error_of(WNNStatus_TypeError, [&] { context.writeTensor(tensor, wrong); });
    error_of(WNNStatus_TypeError, [&] { context.readTensor<double>(tensor); });
    error_of(WNNStatus_TypeError, [&] { context.createConstantTensor(ids, wrong); });
    error_of(WNNStatus_TypeError, [&] { webnn::GraphBuilder(context).constant(ids, wrong); });
    webnn::GraphBuilder(context).constant({DataType::float16, {2}}, std::vector<std::uint16_t>(2));
    webnn::GraphBuilder(context).constant({DataType::uint8, {2}}, std::array<bool, 2>{});
}

static void outputs_are_allocated_and_chosen(webnn::Context const &context)
{
    webnn::GraphBuilder const b(context);
    auto x = b.input("x", {DataType::float32, {2}});
    webnn::Graph const graph = b.build({{"less", b.neg(x)}, {"more", b.add(x, x)}});
    std::vector<float> const in{1, -2};

    auto const all = graph.run({{"x", in}});
    EXPECT(all.size() == 2 && (all.at("less").as<float>() == std::vector<float>{-1, 2}));
    EXPECT(all.at("more").descriptor.elements() == 2);
    auto const one = graph.run({{"x", in}}, {"more"});
    EXPECT(one.size() == 1 && (one.at("more").as<float>() == std::vector<float>{2, -4}));
    error_of(WNNStatus_TypeError, [&] { one.at("more").as<std::int32_t>(); });
    EXPECT(error_of(WNNStatus_TypeError, [&] { graph.run({{"x", in}}, {"most"}); }).find("\"most\"") != std::string::npos);

    webnn::Cancellation const cancellation, none(nullptr);
    EXPECT(graph.run({{"x", in}}, {}, cancellation).size() == 2 && !cancellation.isCancelled());
    cancellation.cancel();
    error_of(WNNStatus_OperationError, [&] { graph.run({{"x", in}}, {}, cancellation); });
    EXPECT(cancellation.isCancelled() && webnn::Cancellation(cancellation).isCancelled());
    none.cancel();
    EXPECT(!none.isCancelled() && !none && graph.run({{"x", in}}, {}, none).size() == 2);
    EXPECT(!context.isLost());
}

static void futures_give_what_they_wait_for(webnn::Context const &context)
{
    webnn::GraphBuilder const b(context);
    auto const x = b.input("x", {DataType::float32, {2}});
    webnn::Graph const graph = b.buildAsync({{"y", b.neg(x)}}).get();
    webnn::Tensor const from = context.createTensor({DataType::float32, {2}, false, true}),
                        to = context.createTensor({DataType::float32, {2}, true, false});

    context.writeTensor(from, std::vector<float>{3, -4});
    context.dispatch(graph, {{"x", from}}, {{"y", to}});
    EXPECT((context.readTensorAsync<float>(to).get() == std::vector<float>{-3, 4}));
    error_of(WNNStatus_InvalidStateError, [&] { b.buildAsync({{"y", x}}).get(); });
    int calls = 0;
    for (bool throws : {false, true}) {
        webnn::GraphBuilder const ended(context);
        webnn::BuildProgress progress = [&](WNNBuildStage, std::uint32_t, std::uint32_t) {
            calls++;
            if (throws)
                throw std::runtime_error("no more");
            return false;
        };
        ended.setProgress(webnn::buildProgress(progress));
        error_of(WNNStatus_OperationError,
                 [&] { ended.build({{"y", ended.neg(ended.input("x", {DataType::float32, {2}}))}}); });
    }
    EXPECT(calls == 2);
    error_of(WNNStatus_TypeError, [&] { context.readTensorAsync<float>(from).get(); });
    error_of(WNNStatus_DataError, [&] { context.loadGraphAsync("/nonexistent.wnn").get(); });
}

static void contexts_tell_that_they_are_lost()
{
    webnn::ContextOptions options;
    int told = 0;

    options.budget.operations = 12345;
    options.lost = {WNNCallbackMode_AllowSpontaneous,
                    [](WNNContext, WNNStringView, void *count, void *) { ++*static_cast<int *>(count); }, &told, nullptr};
    webnn::Context const context(options);
    EXPECT(wnnContextGetBudget(context.get()).operations == 12345);
    context.destroy();
    EXPECT(told == 1 && context.isLost());
}

static void scatters_combine_updates(webnn::Context const &context)
{
    webnn::GraphBuilder const b(context);
    webnn::Operand const x = b.input("x", {DataType::float32, {2, 2}});
    webnn::Operand const at = b.constant({DataType::int32, {3, 1}}, {1, 1, 1});
    webnn::Operand const updates = b.constant({DataType::float32, {3, 2}}, {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f});

    EXPECT(error_of(WNNStatus_TypeError, [&] { b.scatterReduce(x, at, updates, 1); }).find("scatterReduce") !=
           std::string::npos);
    EXPECT((compute(b, b.scatterReduce(x, at, updates), {1, 2, 3, 4}, 4) == std::vector<float>{1, 2, 12, 16}));
}

static void data_types_of_the_draft_are_bits()
{
    webnn::ContextOptions options;
    options.draftDataTypes = true;
    webnn::GraphBuilder const b{webnn::Context(options)};
    webnn::Operand const x = b.cast(b.input("x", {webnn::draft::bfloat16, {2}}), DataType::float32);
    std::vector<std::uint16_t> const in{0x3F80, 0xC000};
    std::vector<std::uint8_t> out(2);

    b.build({{"y", b.cast(x, webnn::draft::float8e4m3)}}).compute({{"x", in}}, {{"y", out}});
    EXPECT((out == std::vector<std::uint8_t>{0x38, 0xC0}));
}

/** y is x, padded by zeros to an even length, of which there is a row for each of the batch. */
static void dimensions_have_names(webnn::Context const &context)
{
    webnn::draft::GraphBuilder const b(context);
    webnn::Operand const x = b.input("x", DataType::float32, {"batch", {"length", 1, 7}});
    webnn::Operand const shape = b.cast(b.shape(x), DataType::int64);
    webnn::Operand const odd =
        b.modulusFloor(b.slice(shape, {1}, {1}), b.constant({DataType::int64, {1}}, std::vector{INT64_C(2)}));
    webnn::Operand const none = b.constant({DataType::int64, {2}}, std::vector{INT64_C(0), INT64_C(0)});
    webnn::Operand const zero = b.slice(none, {0}, {1});
    webnn::Operand const y = b.padDynamic(x, none, b.concat({zero, odd}, 0));
    std::vector<webnn::Operand> const parts = b.splitDynamic(y, b.constant({DataType::uint32, {1}}, std::vector{7u}), {});
    (void)parts;
    EXPECT(x.dimensionName(1) == "length" && x.shape()[1] == 0 &&
           b.squeeze(b.unsqueeze(x, {1}), {1}).dimensionName(0) == "batch");
    EXPECT(b.reshapeTo2d(x, 1).shape().size() == 2 && y.dimensionName(0) == "batch" && y.dimensionName(9).empty());

    webnn::Graph const graph = b.build({{"y", y}});
    std::vector<float> const in{1, 2, 3, 4, 5, 6};
    std::vector<float> out(8);
    EXPECT(graph.inputs()[0].second.dimensions[1].maxSize == 7 && graph.outputs()[0].second.dimensions[0].name == "batch");
    EXPECT((graph.computeShapes({{"x", {2, 3}}}).at("y") == std::vector<std::uint32_t>{2, 4}));
    graph.computeSized({{"length", 3}}, {{"x", in}}, {{"y", out}});
    EXPECT((out == std::vector<float>{1, 2, 3, 0, 4, 5, 6, 0}));
    EXPECT((graph.runSized({{"length", 2}}, {{"x", in}}).at("y").as<float>() == in));
    EXPECT(error_of(WNNStatus_TypeError, [&] { graph.run({{"x", in}}); }).find("is not known; it is one of input \"x\"") !=
           std::string::npos);
    webnn::GraphBuilder const c(context);
    webnn::Operand const past = c.input("past", DataType::float32, {"past", 2}),
                         now = c.input("now", DataType::float32, {"length", 2});
    auto const all = c.build({{"all", c.concat({past, now}, 0)}}).run({{"past", in}, {"now", std::vector{7.0f, 8.0f}}});
    EXPECT((all.at("all").descriptor.shape == std::vector<std::uint32_t>{4, 2}));
    EXPECT(error_of(WNNStatus_TypeError, [&] { graph.computeShapes({{"x", {1, 8}}}); }).find("\"length\" is 8") !=
           std::string::npos);
    EXPECT(graph.variantCounts().built == 2);
    graph.setVariantLimit(1);
    EXPECT(graph.variantCounts().held == 1);
}

PROGRAM_HELP("usage: test-cpp   run all tests\n")
int main()
{
    webnn::ContextOptions options;
    options.threadCount = 1;
    webnn::Context const context(options);

    options_have_the_defaults_of_the_specification();
    options_are_passed_on(context);
    methods_return_one_operand_or_several(context);
    tensors_and_graphs_are_owned();
    devices_and_opencl_objects_are_passed_on(context);
    an_operand_keeps_its_builder(context);
    errors_are_thrown_and_lose_nothing(context);
    loops_have_parameters_and_results(context);
    scatters_combine_updates(context);
    element_types_are_compared(context);
    outputs_are_allocated_and_chosen(context);
    futures_give_what_they_wait_for(context);
    dimensions_have_names(context);
    data_types_of_the_draft_are_bits();
    contexts_tell_that_they_are_lost();
    std::printf("%d failures\n", failures.load());
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

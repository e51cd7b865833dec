/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The C++ interface of the model reader: what it passes on, what it owns, and what it throws. */
#include <string>
#include <vector>

#include <webnn/webnn_model.hpp>

#include "expect.h"
#include "../support/help.h"

static std::string const text = "webnn_graph \"sum\" v2 {\n"
                                "  inputs { x: f32[dyn(\"n\", 9)]; y: f32[dyn(\"n\", 9)]; }\n"
                                "  nodes { z = add(x, y); }\n"
                                "  outputs { z; }\n"
                                "}\n";

static void a_model_is_described()
{
    webnn::ModelInfo const info = webnn::ModelInfo::fromMemory(text);

    EXPECT(info.format() == "webnn" && info.name() == "sum");
    EXPECT(info.inputs().size() == 2 && info.inputs()[1].name == "y");
    EXPECT(info.inputs()[0].dataType == webnn::DataType::float32);
    EXPECT(info.inputs()[0].dimensions[0].name == "n" && info.inputs()[0].dimensions[0].size == 0);
    EXPECT(info.outputs().size() == 1 && !info.outputs()[0].hasShape);
    EXPECT(info.freeDimensions().size() == 1 && info.freeDimensions()[0].size == 9);
    EXPECT(info.metadata().empty());
}

static void a_model_is_read_and_built(webnn::Context const &context)
{
    webnn::ModelOptions options;
    std::vector<float> x{1, 2}, y{10, 20}, z(2);

    options.dimensions = {{"n", 2}};
    webnn::Model const model = webnn::Model::fromMemory(context, text, options);
    EXPECT(model.name() == "sum" && model.notes().empty());
    EXPECT(model.inputs()[0].descriptor.shape == std::vector<std::uint32_t>{2});
    model.build().compute({{"x", x}, {"y", y}}, {{"z", z}});
    EXPECT(z[0] == 11 && z[1] == 22);
    error_of(WNNStatus_InvalidStateError, [&] { model.build(); }); /* there is one */
}

static void a_model_goes_on_in_a_builder(webnn::Context const &context)
{
    webnn::ModelOptions options;
    std::vector<float> x{-1, 2}, y{10, 20}, out(2);

    options.builder = webnn::GraphBuilder(context);
    options.operands = {{"x", options.builder.relu(options.builder.input("x", {webnn::DataType::float32, {2}}))}};
    options.shapes = {{"y", {2}}};
    webnn::Model const model = webnn::Model::fromMemory(context, text, options);
    EXPECT(model.inputs().size() == 1 && model.builder().get() == options.builder.get());
    options.builder.build({{"out", options.builder.neg(model.outputs()[0].operand)}})
        .compute({{"x", x}, {"y", y}}, {{"out", out}});
    EXPECT(out[0] == -10 && out[1] == -22);
}

static void a_dynamic_model_gives_graphs(webnn::Context const &context)
{
    webnn::DynamicModelOptions options;

    options.graphLimit = 2;
    webnn::DynamicModel const model = webnn::DynamicModel::fromMemory(context, text, options);
    webnn::Graph const two = model.graph({{"n", 2}}), again = model.graph({}, {{"x", {2}}});
    EXPECT(two.get() == again.get());
    EXPECT(model.graph({{"n", 3}}).inputs()[0].second.shape[0] == 3);
    EXPECT(model.counts().built == 2 && model.counts().found == 1);
    EXPECT(model.info().inputs().size() == 2);
    model.clear();
    EXPECT(model.counts().held == 0);
    EXPECT(error_of(WNNStatus_TypeError, [&] { model.graph({{"m", 1}}); }).find("'m'") != std::string::npos);
}

static void a_model_is_built_for_some_outputs(webnn::Context const &context)
{
    std::string const three = "webnn_graph \"three\" v2 {\n"
                              "  inputs { x: f32[2]; }\n"
                              "  nodes { a = neg(x); b = abs(x); c = add(x, x); }\n"
                              "  outputs { a; b; c; }\n"
                              "}\n";
    webnn::ModelOptions options;

    options.outputs = {"c", "a"};
    auto const outputs = webnn::Model::fromMemory(context, three, options).build().outputs();
    EXPECT(outputs.size() == 2 && outputs[0].first == "c" && outputs[1].first == "a");
    options.names = {{"n", 1, 9}}; /* a text has sizes */
    auto const named = [&] { webnn::Model::fromMemory(context, three, options); };
    EXPECT(error_of(WNNStatus_DataError, named).find("only those of ONNX files can stay names") != std::string::npos);
}

static void a_run_for_some_outputs_needs_their_inputs(webnn::Context const &context)
{
    std::string const heads = "webnn_graph \"heads\" v2 {\n"
                              "  inputs { a: f32[dyn(\"n\", 9)]; b: f32[dyn(\"n\", 9)]; }\n"
                              "  nodes { r = neg(a); s = add(a, b); }\n"
                              "  outputs { r; s; }\n"
                              "}\n";
    std::vector<float> const ones{1, 1};
    webnn::Graph const graph = webnn::DynamicModel::fromMemory(context, heads).graph({{"n", 2}});

    EXPECT((graph.run({{"a", ones}}, {"r"}).at("r").as<float>() == std::vector<float>{-1, -1}));
    EXPECT((graph.run({{"b", ones}, {"a", ones}}, {"s"}).at("s").as<float>() == std::vector<float>{2, 2}));
    auto const computed = [&] { graph.run({{"a", ones}}, {"s"}); };
    EXPECT(error_of(WNNStatus_TypeError, computed).find("missing: \"b\"") != std::string::npos);
}

PROGRAM_HELP("usage: test-cpp-model   run all tests\n")
int main()
{
    webnn::Context const context;

    a_model_is_described();
    a_model_is_read_and_built(context);
    a_model_goes_on_in_a_builder(context);
    a_dynamic_model_gives_graphs(context);
    a_model_is_built_for_some_outputs(context);
    a_run_for_some_outputs_needs_their_inputs(context);
    return failures != 0;
}

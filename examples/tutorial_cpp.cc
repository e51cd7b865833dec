/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is the program of docs/tutorial-cpp.md, which explains it part by part: a network that computes the exclusive or of two
 * numbers, on plain memory, through tensors, refused because of a mistake, and loaded from a file.
 */
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include <webnn/webnn.hpp>

using webnn::DataType;

/* y = relu(x * w1 + b1) * w2, for four rows x; `width` is the number of columns of x. */
static webnn::Operand network(webnn::GraphBuilder &b, std::uint32_t width)
{
    auto x = b.input("x", {DataType::float32, {4, width}});
    auto w1 = b.constant({DataType::float32, {2, 2}}, {1.0f, 1.0f, 1.0f, 1.0f});
    auto w2 = b.constant({DataType::float32, {2, 1}}, {1.0f, -2.0f});

    webnn::GemmOptions options;
    options.c = b.constant({DataType::float32, {2}}, {0.0f, -1.0f});
    options.label = "hidden";
    return b.matmul(b.relu(b.gemm(x, w1, options)), w2);
}

static webnn::Graph build(webnn::Context const &context)
{
    webnn::GraphBuilder b(context);
    return b.build({{"y", network(b, 2)}});
}

static void print(char const *what, std::vector<float> const &values)
{
    std::cout << what;
    for (float value : values)
        std::cout << ' ' << value;
    std::cout << '\n';
}

static void compute(webnn::Graph const &graph, char const *what)
{
    std::vector<float> const x{0, 0, 0, 1, 1, 0, 1, 1};
    std::vector<float> y(4);
    graph.compute({{"x", x}}, {{"y", y}});
    print(what, y);
}

static void dispatch(webnn::Context const &context, webnn::Graph const &graph)
{
    webnn::TensorDescriptor descriptor{DataType::float32, {4, 2}};
    descriptor.writable = true;
    webnn::Tensor x = context.createTensor(descriptor);
    descriptor = {DataType::float32, {4, 1}};
    descriptor.readable = true;
    webnn::Tensor y = context.createTensor(descriptor);

    context.writeTensor(x, std::vector<float>{1, 0, 1, 1, 0, 0, 0, 1});
    context.dispatch(graph, {{"x", x}}, {{"y", y}});
    print("dispatch:", context.readTensor<float>(y));
}

static void make_a_mistake(webnn::Context const &context)
{
    try {
        webnn::GraphBuilder b(context);
        network(b, 3);
    } catch (webnn::Error const &error) {
        std::cout << "refused:  " << error.what() << '\n';
    }
}

static webnn::Graph load_or_build(webnn::Context const &context, std::string const &path)
{
    try {
        return context.loadGraph(path);
    } catch (webnn::Error const &) {
        webnn::Graph graph = build(context);
        graph.save(path);
        return graph;
    }
}

int main()
try {
    std::string const path = "xor.wnn";
    webnn::Context context;
    webnn::Graph graph = build(context);
    compute(graph, "compute: ");
    dispatch(context, graph);
    make_a_mistake(context);

    load_or_build(context, path);         /* builds and saves */
    graph = load_or_build(context, path); /* loads */
    compute(graph, "loaded:  ");
    std::remove(path.c_str());
} catch (webnn::Error const &error) {
    std::cerr << error.name() << ": " << error.what() << '\n';
    return 1;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The smallest program in C++: a graph of two operators, computed once on memory of its own and once through tensors, and what
 * an error looks like.
 */
#include <iostream>
#include <vector>

#include <webnn/webnn.hpp>

using webnn::DataType;

static void print(char const *what, std::vector<float> const &values)
{
    std::cout << what;
    for (float value : values)
        std::cout << ' ' << value;
    std::cout << '\n';
}

int main()
{
    try {
        webnn::Context context;
        webnn::GraphBuilder b(context);
        auto x = b.input("x", {DataType::float32, {2, 2}});
        webnn::Graph graph = b.build({{"y", b.relu(b.mul(x, b.constant(DataType::float32, 0.2)))}});

        std::vector<float> const in{1, -2, 3, -4};
        std::vector<float> out(4);
        graph.compute({{"x", in}}, {{"y", out}});
        print("compute: ", out);

        /* Dispatch returns at once, and reading waits for it. */
        webnn::Tensor from = context.createTensor({DataType::float32, {2, 2}, false, true});
        webnn::Tensor to = context.createTensor({DataType::float32, {2, 2}, true, false});
        context.writeTensor(from, std::vector<float>{10, -20, 3, -4});
        context.dispatch(graph, {{"x", from}}, {{"y", to}});
        print("dispatch:", context.readTensor<float>(to));

        /* Options are structs with the specification's defaults. */
        webnn::GraphBuilder other(context);
        auto image = other.input("image", {DataType::float32, {1, 3, 8, 8}});
        auto filter = other.constant({DataType::float32, {4, 2, 3, 3}}, std::vector<float>(72));
        webnn::Conv2dOptions options;
        options.label = "first";
        options.padding = {1, 1, 1, 1};
        other.conv2d(image, filter, options);
    } catch (webnn::Error const &error) {
        std::cout << "refused:  " << error.name() << ": " << error.what() << '\n';
        return 0;
    }
    return 1;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What webnn.hpp makes of the sizes, names and buffers that users pass: a result, or an Error and nothing else.
#include <webnn/webnn.hpp>

extern "C" void fuzz_seeds()
{
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const *data, std::size_t size)
{
    static webnn::Context const context;
    static webnn::GraphBuilder const builder(context);
    static webnn::Operand const x = builder.input("x", webnn::DataType::float32, {{"n", 1, 4}, {"m", 1, 4}});
    static webnn::Graph const graph = builder.build({{"y", builder.abs(x)}, {"z", builder.transpose(x)}});
    static char const *const names[] = {"n", "m", "x", "y", "z", ""};
    auto take = [&, at = std::size_t(0)]() mutable { return at < size ? data[at++] : std::uint8_t(0); };
    std::vector<float> const floats(take() % 32);
    std::vector<std::int16_t> const others(take() % 32);
    std::vector<std::string> const wanted(take() % 3, names[take() % 6]);
    webnn::NamedSizes sizes;
    std::vector<webnn::NamedInput> inputs;
    for (unsigned i = take() % 4; i; i--)
        sizes.emplace_back(names[take() % 6], take() % 7);
    for (unsigned i = take() % 4; i; i--)
        take() % 4 ? inputs.emplace_back(names[take() % 6], floats) : inputs.emplace_back(names[take() % 6], others);
    try {
        for (auto const &[name, result] : take() % 2 ? graph.run(inputs, wanted) : graph.runSized(sizes, inputs, wanted))
            result.as<float>();
        graph.computeShapes({{names[take() % 6], std::vector<std::uint32_t>(take() % 20, take())}});
    } catch (webnn::Error const &) {
    }
    return 0;
}

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs written for pywebnn's interface run unchanged: its quick start, tensors with dispatch, and awaited forms."""
import asyncio

import numpy as np
import webnn

# ---- what its quick start shows: ML, a context by device type, a builder, compute on NumPy arrays

ml = webnn.ML()
context = ml.create_context(device_type="cpu")
builder = context.create_graph_builder()
first = builder.input("first", [4, 2], "float32")
second = builder.input("second", [4, 2], "float32")
graph = builder.build({"result": builder.relu(builder.sub(first, second))})
a = np.arange(8, dtype=np.float32).reshape(4, 2)
b = np.full((4, 2), 3, dtype=np.float32)
results = context.compute(graph, {"first": a, "second": b})
assert isinstance(results, dict) and isinstance(results["result"], np.ndarray)
assert results["result"].dtype == np.float32 and np.array_equal(results["result"], np.maximum(a - b, 0))

# ---- what its first steps print

context = ml.create_context(power_preference="default", accelerated=False)
assert context.accelerated is False and context.power_preference == "default"
assert (graph.operand_count, graph.operation_count) == (4, 2)
assert graph.get_input_names() == ["first", "second"] and graph.get_output_names() == ["result"]
builder = context.create_graph_builder()
image = builder.input("image", [1, 3, 8, 8], "float32")
assert (image.name, image.shape, image.data_type) == ("image", [1, 3, 8, 8], "float32")
filters = builder.constant(np.ones((4, 3, 3, 3), dtype="float32"))
bias = builder.constant([1, 2, 3, 4], data_type="float32")
convolved = builder.conv2d(image, filters, strides=[2, 2], pads=[1, 1, 1, 1], groups=1, bias=bias, input_layout="nchw")
assert convolved.shape == [1, 4, 4, 4]
pooled = builder.max_pool2d(convolved, window_dimensions=[2, 2], strides=[2, 2])
flat = builder.reshape(builder.average_pool2d(pooled), [1, 4])
product = builder.gemm(flat, builder.constant(np.eye(4, dtype=np.float32)), alpha=1.0, b_transpose=True)
built = builder.build({"scores": builder.softmax(product, axis=1)})
scores = context.compute(built, {"image": np.zeros((1, 3, 8, 8), np.float32)})["scores"]
expected = np.exp(np.arange(1.0, 5) - 4)
assert np.allclose(scores, expected / expected.sum(), rtol=1e-5), scores
limits = context.op_support_limits()
assert limits["preferredInputLayout"] in ("nchw", "nhwc") and "float32" in limits["input"]["dataTypes"]
assert limits["relu"]["input"]["rankRange"]["min"] == 0

# ---- tensors

context = ml.create_context(device_type="cpu")
builder = context.create_graph_builder()
x = builder.input("x", [2, 3], "float32")
graph = builder.build({"y": builder.mul(x, x)})
source = context.create_tensor([2, 3], "float32", readable=True, writable=True)
target = context.create_tensor([2, 3], "float32", readable=True, writable=True, exportable_to_gpu=False)
assert (source.shape, source.data_type, source.size) == ([2, 3], "float32", 6)
assert source.readable and source.writable and not source.exportable_to_gpu and not source.constant
data = np.array([[1, 2, 3], [4, 5, 6]], dtype=np.float32)
context.write_tensor(source, data)
context.dispatch(graph, {"x": source}, {"y": target})
assert np.array_equal(context.read_tensor(target), data * data)


async def main():
    awaited = webnn.AsyncMLContext(context)
    await awaited.write_tensor_async(source, data + 1)
    await awaited.dispatch(graph, {"x": source}, {"y": target})
    assert np.array_equal(await awaited.read_tensor_async(target), (data + 1) ** 2)
    assert np.array_equal(awaited.compute(graph, {"x": data})["y"], data * data)
    assert awaited.accelerated is False and awaited.create_graph_builder()


asyncio.run(main())
source.destroy()
target.destroy()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A hundred thousand computations, and as many calls of other kinds, without growth of memory."""
import gc
import sys
import tracemalloc

import numpy as np
import webnn

import support

COUNT = 10_000 if support.sanitized() else 100_000
context = webnn.ML().create_context(device_type="cpu", profile=True)
builder = context.create_graph_builder()
graph = builder.build({"y": builder.relu(builder.input("x", [2, 3]))})
model = webnn.load(support.relu_model(), context)
value, out = np.ones((2, 3), np.float32), np.zeros((2, 3), np.float32)
strided = np.asfortranarray(value)
source, target = context.create_tensor([2, 3]), context.create_tensor([2, 3])


def resident():
    """Returns the bytes of memory that the process has."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def objects():
    """Returns how many blocks Python has, and in a debug build how many references."""
    gc.collect()
    return sys.getallocatedblocks(), getattr(sys, "gettotalrefcount", int)()


def refused(function, *args, **keywords):
    try:
        function(*args, **keywords)
    except (ValueError, TypeError, RuntimeError):
        return
    raise AssertionError("nothing was refused")


def tensors():
    context.write_tensor(source, value)
    context.dispatch(graph, {"x": source}, {"y": target})
    context.read_tensor(target, out)


def building():
    b = context.create_graph_builder()
    x = b.input("x", [2, 3], np.float32)
    b.split(b.conv2d(b.reshape(x, [1, 1, 2, 3]), b.constant([[[[1]]]], data_type="float32"), padding=[1, 1, 1, 1]), 5, axis=3)
    refused(b.add, x, b.input("z", [7]), label="wrong")
    refused(b.conv2d, x, strides=[1, "a"])
    refused(b.build, {"y": x})
    context.create_tensor([2, 3])
    graph.inputs, graph.get_output_names(), x.shape, context.device, model.inputs, model.counts


def failing():
    refused(context.compute, graph, {"x": value.T})
    refused(context.compute, graph, {"x": value, "z": strided})
    refused(context.compute, graph, {"x": strided}, {"y": strided})
    refused(graph, [1])
    refused(model, x=value[:, :2])
    refused(webnn.load, b"wrong", context)


for name, count, function in (
    ("compute", COUNT, lambda: context.compute(graph, {"x": value})),
    ("compute in place", COUNT // 4, lambda: context.compute(graph, {"x": strided}, {"y": out})),
    ("model", COUNT // 4, lambda: model(x=value)),
    ("tensors", COUNT // 10, tensors),
    ("failing", COUNT // 20, failing),
    ("building", COUNT // 50, building),
):
    for _ in range(count // 10):
        function()
    context.profile()
    before, memory = objects(), resident()
    for _ in range(count):
        function()
    context.profile()
    after, growth = objects(), resident() - memory
    print(f"{name}: {count} calls, {growth} bytes, {after[0] - before[0]} blocks, {after[1] - before[1]} references")
    assert growth < 4 << 20 or support.sanitized(), f"{name} grew by {growth} bytes"
    assert after[0] - before[0] < 100 and after[1] - before[1] < 100, f"{name} left objects behind"

# The allocations of Python's own allocators, by line.
tracemalloc.start()
for _ in range(1000):
    context.compute(graph, {"x": value})
first = tracemalloc.get_traced_memory()[0]
for _ in range(5000):
    context.compute(graph, {"x": value})
context.profile()
gc.collect()
assert tracemalloc.get_traced_memory()[0] - first < 20_000

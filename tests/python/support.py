# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of the Python package share: small ONNX files, and the data that some of them need."""
import os
import pathlib
import struct
import sys

SKIPPED = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]
TYPES = {"float32": 1, "uint8": 2, "int64": 7, "bool": 9}


def shared(path):
    """Returns the path of data for tests, or ends the program as skipped if it is absent."""
    found = pathlib.Path(os.environ.get("WEBNN_SHARED", ROOT / "../shared")) / path
    if not found.exists():
        print(f"skipped: there is no {found}")
        sys.exit(1 if os.environ.get("WEBNN_REQUIRE_SHARED") == "1" else SKIPPED)
    return found


def sanitized():
    return os.environ.get("WEBNN_SANITIZED") == "1"


# ---- ONNX: fields of Protocol Buffers, by number


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def value_info(name, data_type, shape):
    dims = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in shape)
    return field(1, name) + field(2, field(1, field(1, TYPES[data_type]) + field(2, dims)))


def node(operator, inputs, outputs, **attributes):
    out = b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs) + field(4, operator)
    for name, value in attributes.items():
        out += field(5, field(1, name) + field(3, value) + field(20, 2))
    return out


def tensor(name, array):
    return (b"".join(field(1, d) for d in array.shape) + field(2, TYPES[str(array.dtype)]) + field(8, name)
            + field(9, array.tobytes()))


def model(nodes, inputs, outputs, initializers=()):
    """Returns the bytes of a model; inputs and outputs are (name, data type, shape), with names for open dimensions."""
    graph = b"".join(field(1, n) for n in nodes) + field(2, "test")
    graph += b"".join(field(5, tensor(n, a)) for n, a in initializers)
    graph += b"".join(field(11, value_info(*i)) for i in inputs) + b"".join(field(12, value_info(*o)) for o in outputs)
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))


def relu_model():
    """The model of the tutorial: y = relu(x), of any number of rows."""
    return model([node("Relu", ["x"], ["y"])], [("x", "float32", ["batch", 3])], [("y", "float32", ["batch", 3])])

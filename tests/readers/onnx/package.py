# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""package.py FOLDER CASES REFUSALS REPORTED ...

Runs the backend node tests of the Python package onnx that CASES (cases.json of the test data) does not have: writes them to FOLDER
in the form of tests/reported and runs REPORTED ... on them.  What does not pass stands in REFUSALS after the word "package"; inputs
and outputs that are no tensors of numbers are left out of a case, whose model is then refused.
"""
import importlib
import json
import os
import pkgutil
import shutil
import subprocess
import sys

try:
    import numpy as np
    import onnx
    for name in ("bool", "float", "int", "object"):  # which that version uses of an older numpy
        setattr(np, name, __builtins__.__dict__[name])
    if onnx.__version__ != "1.12.0":
        raise ImportError("its version is " + onnx.__version__)
    from onnx.backend.test.case import model, node
except ImportError as e:
    print("skipped: no Python package onnx 1.12.0 (Debian 12: python3-onnx): %s" % e)
    sys.exit(77)


def array_of(value, info):
    """Returns what the graph takes for a value, or None if it is no tensor of numbers."""
    if not info.type.HasField("tensor_type") or info.type.tensor_type.elem_type == onnx.TensorProto.STRING:
        return None
    a = onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)
    if info.type.tensor_type.elem_type == onnx.TensorProto.BFLOAT16:
        return (a.astype(np.uint32) << 16).view(np.float32)
    kept = {"bool": np.uint8, "int16": np.int32, "uint16": np.int32, "float64": np.float32}
    return a.astype(kept.get(a.dtype.name, a.dtype))


folder, cases, refusals = sys.argv[1:4]
shutil.rmtree(folder, ignore_errors=True)
have = {c["name"] for c in json.load(open(cases))} if os.path.exists(cases) else sys.exit(print("skipped: no", cases) or 77)
for package in (node, model):
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(package.__name__ + "." + module.name)
for case in node._NodeTestCases + model._SimpleModelTestCases:
    if case.name in have:
        continue
    path, graph, half = os.path.join(folder, case.name), case.model.graph, False
    os.makedirs(path)
    onnx.save(case.model, path + "/model.onnx")
    for prefix, values, ports in zip(("in", "exp"), case.data_sets[0], (graph.input, graph.output)):
        for value, info in zip(values, ports):
            a = array_of(value, info)
            if a is not None:
                np.save("%s/%s_%s.npy" % (path, prefix, info.name), a)
                half = half or a.dtype == np.float16
    json.dump({"inputs": [i.name for i in graph.input], "outputs": [o.name for o in graph.output], "constants": {},
               "arguments": [], "rtol": 2e-2 if half else 1e-3, "atol": 1e-2 if half else 1e-5}, open(path + "/case.json", "w"))
with open(folder + "/refused.txt", "w") as f:
    f.write("\n")
    lines = [line[len("package "):] for line in open(refusals) if line.startswith("package ")]
    f.writelines(line.split(" -- ")[0].strip() + "\n" for line in lines)
sys.exit(subprocess.run([sys.argv[4], folder, folder + "/refused.txt"] + sys.argv[5:]).returncode)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The wheel is one: what it holds, that it imports alone, what it says where libraries are absent, and its stubs."""
import ast
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

import webnn

import support

build = pathlib.Path(os.environ["WEBNN_BUILD"])
[wheel] = (build / "python").glob("webnn-*-cp311-abi3-linux_*.whl")
archive = zipfile.ZipFile(wheel)
names = set(archive.namelist())
package = {pathlib.PurePath(name).name for name in names if pathlib.PurePath(name).parts[0] == "webnn"}
assert package == {"__init__.py", "__init__.pyi", "py.typed", "_webnn.abi3.so", "libwebnn.so.0", "libwebnn_codegen.so.0",
                   "libwebnn_model.so.0"}, package
[record] = [n for n in names if n.endswith("RECORD")]
listed = [line.split(",") for line in archive.read(record).decode().splitlines()]
assert {row[0] for row in listed} == names
for name, digest, length in listed:
    data = archive.read(name)
    hashed = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    assert name == record or (digest == hashed and int(length) == len(data)), name
    # Sanitizers name source files, the generated ones with their folder.
    assert support.sanitized() or b".so" not in os.fsencode(name) or os.fsencode(build) not in data, \
        f"{name} has a path of this machine"
assert b"Tag: cp311-abi3-linux_" in archive.read(record.replace("RECORD", "WHEEL"))

PROGRAM = """import array, webnn
b = webnn.ML().create_context(device_type="cpu").create_graph_builder()
x = b.input("x", [2])
graph = b.build({"y": b.neg(x), "z": b.matmul(b.reshape(x, [1, 2]), b.reshape(x, [2, 1]))})
print(webnn.__file__, memoryview(graph(x=array.array("f", [1, 2]))["y"]).tolist())"""


def run(folder):
    environment = {"PYTHONPATH": str(folder), "PATH": os.environ["PATH"], "HOME": "/nonexistent", "WEBNN_CACHE": "off"}
    return subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, cwd="/")


if not support.sanitized():
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        pip = subprocess.run([sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--quiet", "--target", folder, wheel],
                             capture_output=True, text=True)
        if "No module named pip" in pip.stderr:
            archive.extractall(folder)
        else:
            assert pip.returncode == 0, pip.stderr
        done = run(folder)
        assert done.stdout.strip() == f"{folder / 'webnn' / '__init__.py'} [-1.0, -2.0]", done
        # A library that names LLVM or oneDNN otherwise looks for an absent one.
        for library, needed, package, says in (
                ("libwebnn_codegen.so.0", b"libLLVM", "libllvm19", "OperationError: build: the code generator"),
                ("libwebnn.so.0", b"libdnnl", "Debian: libdnnl", "OperationError: build: oneDNN"),
                ("libwebnn_model.so.0", b"libprotobuf-c", "libprotobuf-c1", "ImportError: webnn needs lib")):
            path = folder / "webnn" / library
            whole = path.read_bytes()
            path.write_bytes(re.sub(b"(" + needed + rb"\.so\.)\d", rb"\1X", whole))
            done = run(folder)
            path.write_bytes(whole)
            assert says in done.stderr and package in done.stderr, done

# The stubs have every name of the module, and no other one.
tree = ast.parse(archive.read(next(n for n in names if n.endswith(".pyi"))))
stubs = {n.name: {m.name for m in n.body if isinstance(m, (ast.FunctionDef, ast.AsyncFunctionDef))} for n in tree.body
         if isinstance(n, ast.ClassDef)}
functions = {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))}
assert set(stubs) | functions == set(webnn.__all__), (set(stubs) | functions) ^ set(webnn.__all__)
for name, methods in stubs.items():
    if not name.endswith("Error") and name != "AsyncMLContext":
        own = {m for m in vars(getattr(webnn, name)) if not m.startswith("__")}
        assert {m for m in methods if not m.startswith("__")} == own, (name, own ^ methods)
    assert getattr(webnn, name).__doc__, name
for node in ast.walk(tree):
    if isinstance(node, ast.FunctionDef) and node.name == "conv2d":
        assert [a.arg for a in node.args.kwonlyargs][:3] == ["bias", "padding", "strides"]
print(wheel.name)

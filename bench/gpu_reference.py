#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What gpu_check.py holds the engine against: OpenCL's own copies, cuBLAS and PyTorch.  Prints one JSON object.

    bench/gpu_reference.py opencl BYTES [DEVICE [LIBRARY]]    facts about all devices; copies between two buffers of the device
    bench/gpu_reference.py cublas SIZE                        GFLOP/s of SIZE x SIZE products
    bench/gpu_reference.py torch SECONDS NAME ...             milliseconds of mobilenetv2, resnet50 and bert_encoder

Each is a process of its own, because drivers may hang or end the process.  Nothing is needed but the standard library and what is
measured: without it the object has an `error`.
"""
import array
import ctypes
import glob
import json
import os
import random
import statistics
import sys
import time

REPEAT = 20


def open_library(names, folders=()):
    """Returns the first library of these names that can be opened, by its name or in one of the folders."""
    failed = []
    for name in names:
        for path in [name, *(found for folder in folders for found in sorted(glob.glob(os.path.join(folder, name))))]:
            try:
                return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
            except OSError as e:
                failed.append(str(e))
    raise RuntimeError(failed[0] if failed else "no names")


def best_seconds(run, wait):
    """Returns the shortest of some batches, for each run."""
    run()
    wait()
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(REPEAT):
            run()
        wait()
        best = min(best, (time.perf_counter() - start) / REPEAT)
    return best


# ---- OpenCL

FACTS = {"name": (0x102B, "text"), "vendor": (0x102C, "text"), "driver": (0x102D, "text"), "version": (0x102F, "text"),
         "extensions": (0x1030, "text"), "compute_units": (0x1002, "u32"), "megahertz": (0x100C, "u32"), "vendor_id": (0x1001, "u32"),
         "group_items": (0x1004, "size"), "memory_bytes": (0x101F, "u64"), "buffer_bytes": (0x1010, "u64"),
         "local_bytes": (0x1023, "u64"), "cache_bytes": (0x101E, "u64"), "type": (0x1000, "u64")}


class OpenCL:
    def __init__(self, library):
        self.cl = open_library([library] if library else ["libOpenCL.so.1", "libOpenCL.so"])
        for name in ("clCreateContext", "clCreateCommandQueue", "clCreateBuffer"):
            getattr(self.cl, name).restype = ctypes.c_void_p

    def call(self, name, *arguments):
        code = getattr(self.cl, name)(*arguments)
        if code:
            raise RuntimeError(f"{name}: error {code}")

    def fact(self, device, what, kind):
        size = ctypes.c_size_t()
        if self.cl.clGetDeviceInfo(device, what, ctypes.c_size_t(0), None, ctypes.byref(size)):
            return None
        data = ctypes.create_string_buffer(max(size.value, 8))
        self.call("clGetDeviceInfo", device, what, size, data, None)
        if kind == "text":
            return data.value.decode(errors="replace").strip()
        return int.from_bytes(data.raw[:size.value], "little")

    def devices(self):
        count = ctypes.c_uint()
        self.call("clGetPlatformIDs", 0, None, ctypes.byref(count))
        platforms = (ctypes.c_void_p * count.value)()
        self.call("clGetPlatformIDs", count, platforms, None)
        found = []
        for platform in platforms:
            p = ctypes.c_void_p(platform)
            if self.cl.clGetDeviceIDs(p, ctypes.c_ulong(0xFFFFFFFF), 0, None, ctypes.byref(count)) or not count.value:
                continue
            ids = (ctypes.c_void_p * count.value)()
            self.call("clGetDeviceIDs", p, ctypes.c_ulong(0xFFFFFFFF), count, ids, None)
            found += [ctypes.c_void_p(i) for i in ids]
        return found

    def copy(self, device, size):
        """Returns GB/s, read and written bytes together."""
        code = ctypes.c_int()

        def made(name, *arguments):
            value = getattr(self.cl, name)(*arguments, ctypes.byref(code))
            if code.value:
                raise RuntimeError(f"{name}: error {code.value}")
            return ctypes.c_void_p(value)
        context = made("clCreateContext", None, 1, (ctypes.c_void_p * 1)(device), None, None)
        queue = made("clCreateCommandQueue", context, device, ctypes.c_ulong(0))
        length, zero = ctypes.c_size_t(size), ctypes.c_size_t(0)
        a, b = (made("clCreateBuffer", context, ctypes.c_ulong(1), length, None) for _ in range(2))
        pattern = ctypes.c_uint(1)
        for buffer in (a, b):
            self.call("clEnqueueFillBuffer", queue, buffer, ctypes.byref(pattern), ctypes.c_size_t(4), zero, length, 0, None, None)
        seconds = best_seconds(lambda: self.call("clEnqueueCopyBuffer", queue, a, b, zero, zero, length, 0, None, None),
                               lambda: self.call("clFinish", queue))
        return 2 * size / seconds / 1e9


def measure_opencl(size, device="", library=""):
    cl = OpenCL(library)
    devices = cl.devices()
    found = {"devices": [{name: cl.fact(d, *how) for name, how in FACTS.items()} for d in devices]}
    names = [d["name"].lower() for d in found["devices"]]
    number = int(device or 0) if (device or "0").isdigit() else next((i for i, n in enumerate(names) if device.lower() in n), len(names))
    if number < len(devices):
        found["number"] = number
        found["copy_gbs"] = cl.copy(devices[number], int(size))
    return found


# ---- cuBLAS

FLOAT32, FLOAT16, COMPUTE_32F, DEFAULT_ALGORITHM = 0, 2, 68, -1
MATH = {"default": 0, "pedantic": 2, "tf32": 3}


def cuda_folders():
    """Returns where CUDA's libraries lie: toolkits, and the packages that PyTorch brings along."""
    return ["/usr/local/cuda*/lib64", "/usr/local/cuda*/targets/x86_64-linux/lib", "/opt/cuda/lib64",
            *(os.path.join(p, "nvidia", "*", "lib") for p in sys.path if p)]


def bytes_of(kind, count):
    """Returns numbers between -1 and 1, which repeat: the factors influence how fast a GPU's clock may be."""
    r = random.Random(1)
    some = array.array("f", (r.uniform(-1, 1) for _ in range(4093)))
    if kind == FLOAT16:    # sign, exponents from 2^-4 to 2^-1, mantissas
        some = array.array("H", (r.getrandbits(1) << 15 | r.randrange(11, 15) << 10 | r.getrandbits(10) for _ in some))
    part = some.tobytes()
    whole = count * some.itemsize
    return (part * (whole // len(part) + 1))[:whole]


def measure_cublas(size):
    n = int(size)
    versions = (13, 12, 11)
    runtime = open_library([f"libcudart.so.{v}*" for v in versions], cuda_folders())
    open_library([f"libcublasLt.so.{v}" for v in versions], cuda_folders())
    blas = open_library([f"libcublas.so.{v}" for v in versions], cuda_folders())

    def check(name, code):
        if code:
            raise RuntimeError(f"{name}: error {code}")

    def memory(data):
        address = ctypes.c_void_p()
        check("cudaMalloc", runtime.cudaMalloc(ctypes.byref(address), ctypes.c_size_t(len(data))))
        check("cudaMemcpy", runtime.cudaMemcpy(address, data, ctypes.c_size_t(len(data)), 1))
        return address
    handle = ctypes.c_void_p()
    check("cublasCreate", blas.cublasCreate_v2(ctypes.byref(handle)))
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    found = {}
    for kind in (FLOAT32, FLOAT16):
        a, b, c = (memory(bytes_of(kind, n * n)) for _ in range(3))

        def single():
            check("cublasSgemm", blas.cublasSgemm_v2(handle, 0, 0, n, n, n, ctypes.byref(one), a, n, b, n, ctypes.byref(zero), c, n))

        def half():
            check("cublasGemmEx", blas.cublasGemmEx(handle, 0, 0, n, n, n, ctypes.byref(one), a, FLOAT16, n, b, FLOAT16, n,
                                                    ctypes.byref(zero), c, FLOAT16, n, COMPUTE_32F, DEFAULT_ALGORITHM))
        modes = {f"float32 {name}": mode for name, mode in MATH.items()} if kind == FLOAT32 else {"float16": 0}
        for name, mode in modes.items():
            check("cublasSetMathMode", blas.cublasSetMathMode(handle, mode))
            seconds = best_seconds(single if kind == FLOAT32 else half,
                                   lambda: check("cudaDeviceSynchronize", runtime.cudaDeviceSynchronize()))
            found[name] = 2 * n ** 3 / seconds / 1e9
        for address in (a, b, c):
            runtime.cudaFree(address)
    return {"gflops": found}


# ---- PyTorch

def torch_network(torch, name):
    if name == "bert_encoder":
        layer = torch.nn.TransformerEncoderLayer(768, 12, 3072, activation="gelu", batch_first=True)
        return torch.nn.TransformerEncoder(layer, 4), (1, 128, 768)
    import torchvision
    return getattr(torchvision.models, {"mobilenetv2": "mobilenet_v2"}.get(name, name))(weights=None), (1, 3, 224, 224)


def torch_times(torch, run, seconds):
    for _ in range(5):
        run()
    torch.cuda.synchronize()
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1e3)
    return {"median_ms": statistics.median(times), "min_ms": min(times), "runs": len(times)}


def torch_graph(torch, network, x):
    """Returns a function that runs the network without PyTorch's calls in between."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            network(x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        network(x)
    return graph.replay


def measure_torch(seconds, *names):
    import torch
    if not torch.cuda.is_available():
        return {"error": "PyTorch has no GPU"}
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    found = {"version": torch.__version__, "networks": {}}
    for name in names:
        with torch.no_grad():
            network, sizes = torch_network(torch, name)
            network, x = network.eval().cuda(), torch.randn(*sizes, device="cuda")
            found["networks"][name] = {"eager": torch_times(torch, lambda: network(x), float(seconds))}
            try:
                found["networks"][name]["graph"] = torch_times(torch, torch_graph(torch, network, x), float(seconds))
            except RuntimeError as e:
                found["networks"][name]["graph_error"] = str(e)[:200]
    return found


MEASURES = {"opencl": measure_opencl, "cublas": measure_cublas, "torch": measure_torch}


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in MEASURES:
        sys.exit(__doc__)
    try:
        found = MEASURES[sys.argv[1]](*sys.argv[2:])
    except (RuntimeError, OSError, ImportError, AttributeError) as e:
        found = {"error": f"{type(e).__name__}: {e}"[:400]}
    print(json.dumps(found))


if __name__ == "__main__":
    main()

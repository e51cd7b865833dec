# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""null_arguments.py HEADERS LIBRARY   Calls every function of the headers that the library, or one it needs, exports, each in
a process of its own, with zeros only and with zeros after an object: none may end it, and without an object it is refused."""
import ctypes
import glob
import os
import re
import sys

headers = ''.join(open(path).read() for path in glob.glob(sys.argv[1] + '/*.h'))
functions = sorted(set(re.findall(r'\b(wnn[A-Z]\w*)\((\w*)', headers)))
statuses = set(re.findall(r'WNNStatus (wnn\w+)\(', headers)) - {'wnnGraphBuilderGetError'}
operands = set(re.findall(r'WNNOperand (wnn\w+)\(', headers))
library = ctypes.CDLL(sys.argv[2])
text = b'webnn_graph "g" v1 { inputs { x: f32[]; } nodes { y = relu(x); } outputs { y; } }'


def call(name, *arguments, result=ctypes.c_void_p):
    function = getattr(library, name)
    function.restype = result
    return function(*arguments, *[ctypes.c_void_p(0)] * (14 - len(arguments)))


def create(name, *arguments):
    handle = ctypes.c_void_p()
    assert call(name, *arguments, ctypes.byref(handle), result=ctypes.c_int) == 0, name
    return handle


model, two = (text, ctypes.c_size_t(len(text))), ctypes.c_uint32(2)
objects = {
    'WNNContext': lambda: create('wnnCreateContext', None),
    'WNNGraphBuilder': lambda: create('wnnContextCreateGraphBuilder', objects['WNNContext']()),
    'WNNOperand': lambda: ctypes.c_void_p(call('wnnGraphBuilderInput', objects['WNNGraphBuilder'](), b'x', ctypes.c_size_t(1),
                                               (ctypes.c_uint64 * 4)(1, 1, ctypes.addressof(two)))),
    'WNNTensor': lambda: create('wnnContextCreateTensor', objects['WNNContext'](), (ctypes.c_uint64 * 5)(40, 1)),
    'WNNModel': lambda: create('wnnModelReadMemory', objects['WNNContext'](), *model, None),
    'WNNGraph': lambda: create('wnnModelBuild', objects['WNNModel']()),
    'WNNDynamicModel': lambda: create('wnnDynamicModelCreateFromMemory', objects['WNNContext'](), *model, None),
    'WNNModelInfo': lambda: create('wnnModelDescribeMemory', *model),
    'WNNCancellation': lambda: create('wnnCreateCancellation'),
    'WNNMethodCall': lambda: ctypes.c_void_p(call('wnnMethodCallCreate', b'relu', ctypes.c_size_t(4))),
}
called = failed = 0
for name, first in functions:
    for make in [None, objects.get(first)][:1 + (first in objects)] if hasattr(library, name) else []:
        child = os.fork()
        if not child:
            code = call(name, *[make()] if make else [], result=ctypes.c_int if name in statuses else ctypes.c_void_p)
            os._exit(not make and (code == 0 if name in statuses else name in operands and code is not None))
        status = os.waitpid(child, 0)[1]
        called += 1
        failed += status != 0
        if status:
            print(name, f'of a {first}' if make else '', 'ended its process' if os.WIFSIGNALED(status) else 'succeeded')
assert called > 500
print(f'{called - failed} passed, {failed} failed')
sys.exit(failed > 0)

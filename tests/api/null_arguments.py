# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""null_arguments.py HEADERS LIBRARY   Calls every function of the headers that the library, or one that it needs, exports, with
zeros only and each in a process of its own: none may end it, and those that return a status refuse."""
import ctypes
import glob
import os
import re
import sys

headers = ''.join(open(path).read() for path in glob.glob(sys.argv[1] + '/*.h'))
functions = sorted(set(re.findall(r'\b(wnn[A-Z]\w*)\(', headers)))
statuses = set(re.findall(r'WNNStatus (wnn\w+)\(', headers)) - {'wnnGraphBuilderGetError'}
library = ctypes.CDLL(sys.argv[2])
called = failed = 0
for name in functions:
    if not hasattr(library, name):
        continue
    child = os.fork()
    if not child:
        function = getattr(library, name)
        function.restype = ctypes.c_int if name in statuses else ctypes.c_void_p
        os._exit(function(*[ctypes.c_void_p(0)] * 14) == 0 and name in statuses)
    status = os.waitpid(child, 0)[1]
    called += 1
    failed += status != 0
    if status:
        print(name, 'ended its process' if os.WIFSIGNALED(status) else 'succeeded')
assert called > 250
print(f'{called - failed} passed, {failed} failed')
sys.exit(failed > 0)

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Web Neural Network API: networks are built, compiled and computed in native code (docs/tutorial-python.md)."""

# What the library's own libraries are called, and the Debian packages that have or need them.
_PACKAGES = {
    "libLLVM": "libllvm19", "libdnnl": "libdnnl-dev", "libffi": "libffi8", "libgomp": "libgomp1", "libstdc++": "libstdc++6",
    "libprotobuf-c": "libprotobuf-c1",
}

try:
    from ._webnn import (
        ML, Array, DataError, Error, InvalidStateError, MLContext, MLGraph, MLGraphBuilder, MLModel, MLOperand, MLTensor,
        NotSupportedError, OperationError, UnknownError, __version__, devices, load,
    )
    from ._webnn import Cancellation as _Cancellation
except ImportError as error:
    _missing = str(error).partition(":")[0]
    if not any(_missing.startswith(name + ".") for name in _PACKAGES):
        raise
    raise ImportError(
        f"webnn needs {_missing}, which is not installed; on Debian: apt-get install " + " ".join(_PACKAGES.values())
    ) from error

__all__ = [
    "ML", "Array", "AsyncMLContext", "DataError", "Error", "InvalidStateError", "MLContext", "MLGraph", "MLGraphBuilder",
    "MLModel", "MLOperand", "MLTensor", "NotSupportedError", "OperationError", "UnknownError", "devices", "load", "load_async",
]


def _awaitable(function):
    """Returns the form of a function that asyncio awaits: it runs on a thread, where it gives up the GIL while it works.

    Cancelling the task ends builds and computations.  The task waits for that, since their arrays are in use until then; what
    cannot be ended goes on without it.
    """
    ends = function.__name__ in ("compute", "dispatch", "build", "__call__", "graph")

    async def awaitable(*args, **keywords):
        import asyncio

        cancellation = _Cancellation()
        work = asyncio.ensure_future(asyncio.to_thread(cancellation.run, function, *args, **keywords))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            cancellation.cancel()
            work.add_done_callback(lambda _: work.cancelled() or work.exception())  # asyncio reports what is not looked at
            while ends and not work.done():
                try:
                    await asyncio.wait([work])
                except asyncio.CancelledError:
                    pass  # the task is cancelled once more
            raise

    awaitable.__name__ = function.__name__.strip("_") + "_async"
    awaitable.__doc__ = f"Does what {function.__name__} does, and is awaited."
    return awaitable


load_async = _awaitable(load)
for _class, _names in (
    (ML, ["create_context"]),
    (MLContext, ["compute", "read_tensor", "write_tensor", "dispatch", "create_tensor", "load_graph"]),
    (MLGraphBuilder, ["build"]),
    (MLGraph, ["__call__", "save"]),
    (MLModel, ["__call__", "graph"]),
):
    for _name in _names:
        setattr(_class, _name.strip("_") + "_async", _awaitable(getattr(_class, _name)))


class AsyncMLContext:
    """Has the methods of a context, with a dispatch that is awaited, as programs for pywebnn expect it."""

    def __init__(self, context):
        self._context = context
        self.dispatch = context.dispatch_async

    def __getattr__(self, name):
        return getattr(self._context, name)

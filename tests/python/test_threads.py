# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Threads, asyncio, subinterpreters, and the end of a process."""
import asyncio
import concurrent.futures
import subprocess
import sys
import threading
import time
import unittest

import numpy as np
import webnn

import support

context = webnn.ML().create_context(device_type="cpu")


def heavy(size=1500):
    """A graph that takes some hundredths of a second."""
    builder = context.create_graph_builder()
    x = y = builder.input("x", [size, size])
    for _ in range(3):
        y = builder.matmul(y, x)
    return builder.build({"y": y}), {"x": np.eye(size, dtype=np.float32)}


class Threads(unittest.TestCase):
    def test_python_runs_meanwhile(self):
        """While a thread computes, another one counts: the longest pause is far below the time of a computation."""
        graph, arrays = heavy()
        context.compute(graph, arrays)
        spans = []

        def work():
            for _ in range(3):
                begin = time.monotonic()
                context.compute(graph, arrays)
                spans.append(time.monotonic() - begin)

        thread = threading.Thread(target=work)
        thread.start()
        ticks = 0
        while thread.is_alive():
            time.sleep(0.001)
            ticks += 1
        self.assertGreater(ticks, 3 * len(spans), f"the GIL was held during computations of {spans} s")

    def test_many_threads(self):
        builder = context.create_graph_builder()
        graph = builder.build({"y": builder.softmax(builder.input("x", [64, 64]), 1)})
        value = np.random.default_rng(1).random((64, 64), np.float32)
        expected = graph(x=value)["y"].tobytes()
        wrong = []

        def work():
            for _ in range(200):
                if graph(x=value)["y"].tobytes() != expected:
                    wrong.append(1)

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for _ in range(4):
                pool.submit(work)
        self.assertEqual(wrong, [])

    def test_builder_is_busy(self):
        """While a thread builds, others are refused."""
        builder = context.create_graph_builder()
        y = x = builder.input("x", [8, 8])
        for _ in range(600):
            y = builder.tanh(builder.matmul(y, x))
        refused, built = 0, []
        thread = threading.Thread(target=lambda: built.append(builder.build({"y": y})))
        thread.start()
        while thread.is_alive() and not refused:
            try:
                builder.relu(x)
            except webnn.InvalidStateError as error:
                refused += "another thread" in str(error)
        thread.join()
        self.assertEqual((refused, len(built)), (1, 1))

    def test_asyncio(self):
        async def main():
            ml = webnn.ML()
            own = await ml.create_context_async(device_type="cpu")
            builder = own.create_graph_builder()
            graph = await builder.build_async({"y": builder.neg(builder.input("x", [2]))})
            value = np.ones(2, np.float32)
            results = await asyncio.gather(*[own.compute_async(graph, {"x": value * i}) for i in range(20)],
                                           graph.call_async(x=value))
            self.assertEqual([r["y"][0] for r in results], [-i for i in range(20)] + [-1])
            tensor = await own.create_tensor_async([2])
            await own.write_tensor_async(tensor, value)
            self.assertEqual((await own.read_tensor_async(tensor)).tolist(), [1, 1])
            with self.assertRaises(ValueError):
                await own.compute_async(graph, {})
            with self.assertRaises(FileNotFoundError):
                await webnn.load_async("absent.onnx")

        asyncio.run(main())

    def test_cancelled_tasks(self):
        """A task that is cancelled ends its computation or build; the context, the graph and the model go on."""
        timed = webnn.ML().create_context(device_type="cpu", profile=True, threads=1)
        builder = timed.create_graph_builder()
        y = x = builder.input("x", [1000, 1000])
        for _ in range(20):
            y = builder.softmax(builder.matmul(y, x), 1)
        graph, value = builder.build({"y": y}), np.eye(1000, dtype=np.float32)
        depth = 200 if support.sanitized() else 4000
        nodes = "".join(f"p{i} = pad(n{i}, [0, 0], [0, 1]); n{i + 1} = softmax(p{i}, 1); " for i in range(depth))
        model = webnn.load(('webnn_graph "deep" v2 { inputs { n0: f32[dyn("n", 9), 8]; } nodes { ' + nodes
                            + f"}} outputs {{ n{depth}; }} }}").encode(), timed)

        def compute():
            time.sleep(0.1)
            ended.append(True)

        async def cancelled(work):
            task = asyncio.create_task(work)
            for _ in range(2):
                await asyncio.sleep(0.005)
                task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        async def main():
            asyncio.get_running_loop().set_exception_handler(lambda _, what: reported.append(what))
            target = np.zeros((1000, 1000), np.float32)
            await cancelled(timed.compute_async(graph, {"x": value}, {"y": target}))
            await cancelled(graph.call_async(x=value))
            await cancelled(model.graph_async(shapes={"n0": [2, 8]}))
            await cancelled(webnn._awaitable(compute)())
            self.assertEqual(ended, [True])
            with self.assertRaises(TimeoutError):
                async with asyncio.timeout(0.02):
                    await graph.call_async(x=value)
            self.assertEqual((timed.profile(), model.counts["built"]), ([], 0))  # of what has ended with success
            self.assertEqual((await graph.call_async(x=value))["y"].shape, (1000, 1000))
            self.assertEqual((await model.call_async(n0=np.ones((2, 8), np.float32)))[f"n{depth}"].shape, (2, depth + 8))
            self.assertEqual((len(timed.profile()), model.counts["built"]), (2, 1))

        reported, ended = [], []
        asyncio.run(main())
        self.assertEqual((timed.lost, reported), (False, []))

    def test_cancellations(self):
        """What awaitable forms use ends builds and computations of the function that it runs, and nothing else."""
        from webnn._webnn import Cancellation
        builder = context.create_graph_builder()
        graph = builder.build({"y": builder.neg(builder.input("x", [2]))})
        source, target = context.create_tensor([2]), context.create_tensor([2])
        other = context.create_graph_builder()
        y = other.neg(other.input("x", [2]))
        cancellation = Cancellation()
        self.assertEqual(cancellation.run(graph, x=np.ones(2, np.float32))["y"].tolist(), [-1, -1])
        cancellation.cancel()
        for function, *args in ((graph, {"x": np.ones(2, np.float32)}), (other.build, {"y": y}),
                                (context.dispatch, graph, {"x": source}, {"y": target})):
            with self.assertRaisesRegex(webnn.OperationError, "cancelled"):
                cancellation.run(function, *args)
        context.dispatch(graph, {"x": source}, {"y": target})
        self.assertEqual(context.read_tensor(target).tolist(), [0, 0])
        for wrong in (), (5,):
            with self.assertRaises((TypeError, IndexError)):
                cancellation.run(*wrong)

    def test_subinterpreters(self):
        """Interpreters that share the GIL import the package, each for itself."""
        name, kind = ("_interpreters", ["legacy"]) if sys.version_info >= (3, 13) else ("_xxsubinterpreters", [])
        interpreters = __import__(name)
        program = """if True:
            import array, sys; sys.modules["numpy"] = None  # which cannot be imported twice
            import webnn
            builder = webnn.ML().create_context(device_type="cpu").create_graph_builder()
            graph = builder.build({"y": builder.neg(builder.input("x", [2]))})
            assert graph(x=array.array("f", [1, 2]))["y"].tolist() == [-1, -2]
        """
        for _ in range(2):
            one = interpreters.create(*kind)
            self.assertIsNone(interpreters.run_string(one, program))  # or what went wrong
            interpreters.destroy(one)

    def test_end(self):
        """A process ends while work is under way and everything is still alive."""
        program = """if True:
            import threading, numpy, webnn
            context = webnn.ML().create_context(device_type="cpu", profile=True)
            builder = context.create_graph_builder()
            x = builder.input("x", [1000, 1000])
            graph = builder.build({"y": builder.matmul(x, x)})
            source, target = context.create_tensor([1000, 1000]), context.create_tensor([1000, 1000])
            for i in range(3):
                context.dispatch(graph, {"x": source}, {"y": target})
            value = numpy.ones((1000, 1000), numpy.float32)
            threading.Thread(target=lambda: [graph(x=value) for i in range(50)], daemon=True).start()
        """
        for _ in range(3):
            subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


unittest.main()

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Contexts that compute on a parallel-for of the program: pools of std::thread and of OpenMP, and some that run tasks in other
 * ways.  Results have the bits of the library's own threads, and the library starts no thread.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <webnn/webnn.hpp>

#include "expect.h"
#include "../support/help.h"

using webnn::DataType;
using Floats = std::vector<float>;

static std::atomic<int> threads_started, regions;

/* Stands before the system's for all libraries of the process. */
extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *user)
{
    static auto const system = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));

    threads_started++;
    return system(thread, attributes, run, user);
}

static std::ptrdiff_t threads_there()
{
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

/* ---- ways to run tasks ---- */

using Part = void (*)(void *data, std::uint32_t i, std::uint32_t parts);

/* A pool with a queue, whose callers wait or help. */
class Pool
{
  public:
    Pool(unsigned workers, bool helps) : helps_(helps)
    {
        for (unsigned i = 0; i < workers; i++)
            workers_.emplace_back([this] {
                std::unique_lock lock(mutex_);
                while (changed_.wait(lock, [this] { return ends_ || !queue_.empty(); }), !ends_)
                    run_one(lock);
            });
    }
    ~Pool()
    {
        std::unique_lock lock(mutex_);
        ends_ = true;
        lock.unlock();
        changed_.notify_all();
        for (std::thread &worker : workers_)
            worker.join();
    }
    void run(std::uint32_t parts, std::function<void(std::uint32_t)> const &part)
    {
        std::unique_lock lock(mutex_);
        std::uint32_t open = parts;

        for (std::uint32_t i = 0; i < parts; i++)
            queue_.push_back([&, i](std::unique_lock<std::mutex> &held) {
                held.unlock();
                part(i);
                held.lock();
                open--;
            });
        changed_.notify_all();
        while (open > 0)
            if (helps_ && !queue_.empty())
                run_one(lock);
            else
                changed_.wait(lock);
    }
    static void run(void *user, std::uint32_t parts, Part part, void *data)
    {
        regions++;
        static_cast<Pool *>(user)->run(parts, [=](std::uint32_t i) { part(data, i, parts); });
    }

  private:
    void run_one(std::unique_lock<std::mutex> &lock)
    {
        auto const task = queue_.front();

        queue_.pop_front();
        task(lock);
        changed_.notify_all();
    }
    bool const helps_;
    bool ends_ = false;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void(std::unique_lock<std::mutex> &)>> queue_;
    std::vector<std::thread> workers_;
};

static void run_openmp(void *, std::uint32_t parts, Part part, void *data)
{
    regions++;
#ifdef _OPENMP
#pragma omp parallel for schedule(static, 1) num_threads(4)
#endif
    for (std::uint32_t i = 0; i < parts; i++)
        part(data, i, parts);
}

static void run_backwards(void *, std::uint32_t parts, Part part, void *data)
{
    regions++;
    for (std::uint32_t i = parts; i-- > 0;)
        part(data, i, parts);
}

/* ---- a network ---- */

static constexpr std::uint32_t SIZE = 32, CHANNELS = 32, COLUMNS = 40;

static Floats numbers(std::size_t count, unsigned seed)
{
    Floats v(count);

    for (float &f : v)
        f = static_cast<float>((seed = seed * 1664525 + 1013904223) >> 8) / (1 << 23) - 1;
    return v;
}

static webnn::Operand network(webnn::GraphBuilder const &b)
{
    std::uint32_t const pixels = SIZE * SIZE;
    webnn::Conv2dOptions options;
    options.padding = {1, 1, 1, 1};
    auto const x = b.input("x", {DataType::float32, {1, CHANNELS, SIZE, SIZE}});
    auto const filter = b.constant({DataType::float32, {CHANNELS, CHANNELS, 3, 3}}, numbers(CHANNELS * CHANNELS * 9, 1));
    auto const rows = b.reshape(b.relu(b.conv2d(x, filter, options)), {CHANNELS, pixels});
    auto const product = b.matmul(rows, b.constant({DataType::float32, {pixels, COLUMNS}}, numbers(pixels * COLUMNS, 2)));

    return b.softmax(b.matmul(b.transpose(product), rows), 1); /* also one without constants */
}

static Floats const input = numbers(CHANNELS * SIZE * SIZE, 3);
static std::size_t const outputs = COLUMNS * SIZE * SIZE;

static Floats compute(webnn::Graph const &graph)
{
    Floats y(outputs);

    graph.compute({{"x", input}}, {{"y", y}});
    return y;
}

static webnn::Context context_of(webnn_object_parallel const *parallel, std::uint32_t threads = 0,
                                 std::string const &debug = "")
{
    webnn::ContextOptions options;

    options.engine = parallel ? WNNEngine_Auto : WNNEngine_Cpu;
    options.threadCount = threads;
    options.parallel = parallel;
    options.debug = debug;
    return webnn::Context(options);
}

static webnn::Graph graph_of(webnn::Context const &context)
{
    webnn::GraphBuilder const b(context);

    return b.build({{"y", network(b)}});
}

/* Builds, computes, dispatches, saves and loads, all without a new thread. */
static void check_way(char const *name, webnn_object_parallel const &parallel, std::uint32_t threads, std::string const &debug,
                      Floats const &expected)
{
    std::string const path = "/tmp/test-cpp-parallel-" + std::to_string(getpid()) + ".wnn";
    int const wrong = failures;
    int const started = threads_started;
    auto const there = threads_there();
    {
        webnn::Context const context = context_of(&parallel, threads, debug);
        webnn::GraphBuilder const b(context);
        webnn::Graph const graph = b.buildAsync({{"y", network(b)}}).get();
        auto const x = context.createTensor({DataType::float32, {1, CHANNELS, SIZE, SIZE}, true, true});
        auto const y = context.createTensor({DataType::float32, {COLUMNS, SIZE * SIZE}, true, true});

        regions = 0;
        for (int i = 0; i < 20; i++)
            EXPECT(compute(graph) == expected);
        EXPECT(regions > 0 || parallel.threads == 1);
        context.writeTensor(x, input);
        context.dispatch(graph, {{"x", x}}, {{"y", y}});
        EXPECT(context.readTensorAsync<float>(y).get() == expected);
        graph.save(path);
        EXPECT(compute(context.loadGraphAsync(path).get()) == expected);
        std::filesystem::remove(path);
    }
    EXPECT(threads_started == started && threads_there() == there);
    if (failures != wrong)
        std::fprintf(stderr, "that was %s, %u threads, \"%s\"\n", name, threads, debug.c_str());
}

static void threads_are_the_programs()
{
    Pool waiting(4, false), helping(3, true), small(2, false);
    struct {
        char const *name;
        webnn_object_parallel parallel;
    } const ways[] = {
        {"a pool whose callers wait", {4, Pool::run, &waiting}},
        {"a pool whose callers help", {4, Pool::run, &helping}},
        {"a pool of fewer threads than it says", {4, Pool::run, &small}},
        {"fewer threads than parts", {2, Pool::run, &small}},
        {"OpenMP", {4, run_openmp, nullptr}},
        {"one task after another", {4, run_backwards, nullptr}},
        {"one thread", {1, run_backwards, nullptr}},
    };

    run_openmp(nullptr, 4, [](void *, std::uint32_t, std::uint32_t) {}, nullptr); /* its threads start now */
    for (std::string const debug : {"", "prefer-library", "no-library"}) {
        Floats const expected = compute(graph_of(context_of(nullptr, 4, debug)));

        for (auto const &way : ways)
            check_way(way.name, way.parallel, 4, debug, expected);
        check_way("its count", ways[0].parallel, 0, debug, expected);
    }
}

/* oneDNN's gemm for AVX2 cuts long sums where there are few results, and its parts then wait for each other without a barrier.
 */
static void long_sums_end()
{
    std::uint32_t const rows = 8, summed = 2000;
    webnn_object_parallel const parallel = {4, run_backwards, nullptr};
    webnn_object_parallel const *const ways[] = {nullptr, &parallel};
    Floats expected;

    for (auto const *way : ways) {
        webnn::Context const context = context_of(way, 4);
        webnn::GraphBuilder const b(context);
        auto const x = b.input("x", {DataType::float32, {rows, summed}});
        webnn::Graph const graph =
            b.build({{"y", b.matmul(x, b.constant({DataType::float32, {summed, rows}}, numbers(summed * rows, 4)))}});
        Floats y(rows * rows);

        for (int i = 0; i < 40; i++) { /* in turns on several threads and on one, to find out which is faster */
            graph.compute({{"x", numbers(rows * summed, 5)}}, {{"y", y}});
            if (expected.empty())
                expected = y;
            EXPECT(y == expected);
        }
    }
}

/* Both contexts' parts wait for each other, in turns, on two threads. */
static void contexts_share_a_pool(Floats const &expected)
{
    Pool pool(2, false);
    webnn_object_parallel const parallel = {2, Pool::run, &pool};
    std::vector<std::thread> callers;

    for (int i = 0; i < 3; i++)
        callers.emplace_back([&] {
            webnn::Graph const graph = graph_of(context_of(&parallel, 4, "prefer-library"));
            for (int k = 0; k < 10; k++)
                EXPECT(compute(graph) == expected);
        });
    for (std::thread &caller : callers)
        caller.join();
}

static void graphs_compute_inside_of_regions(Floats const &expected)
{
    Pool pool(2, true);
    webnn_object_parallel const ways[] = {{4, Pool::run, &pool}, {4, run_openmp, nullptr}};

    for (auto const &parallel : ways) {
        webnn::Graph const graph = graph_of(context_of(&parallel, 4, "prefer-library"));
        auto const part = [](void *user, std::uint32_t, std::uint32_t) {
            auto const *const call = static_cast<std::pair<webnn::Graph const *, Floats const *> *>(user);
            EXPECT(compute(*call->first) == *call->second);
        };
        std::pair<webnn::Graph const *, Floats const *> call{&graph, &expected};
        int const started = threads_started;

        parallel.run(parallel.user, 3, part, &call);
        EXPECT(threads_started == started || parallel.run == run_openmp);
    }
}

/* A caller that helps may meet work of its own context in the middle of a region. */
static std::function<void()> amid;
static int times;

static void run_nested(void *, std::uint32_t parts, Part part, void *data)
{
    for (std::uint32_t i = 0; i < parts; i++) {
        if (std::function<void()> const work = std::exchange(amid, nullptr)) {
            work();
            amid = work;
            times++;
        }
        part(data, i, parts);
    }
}

static void a_region_may_compute_and_not_wait(Floats const &expected)
{
    webnn_object_parallel const parallel = {4, run_nested, nullptr};
    Floats read(outputs);
    webnn::Context const context = context_of(&parallel, 4, "prefer-library");
    webnn::Graph const graph = graph_of(context);
    webnn::Tensor const y = context.createTensor({DataType::float32, {COLUMNS, SIZE * SIZE}, true}),
                        x = context.createTensor({DataType::float32, {1, CHANNELS, SIZE, SIZE}, false, true});
    auto const refused = [](auto wait) {
        EXPECT(error_of(WNNStatus_InvalidStateError, wait).find("during a dispatch of this context") != std::string::npos);
    };

    amid = [&] { EXPECT(compute(graph) == expected); };
    for (int i = 0; i < 20; i++)
        EXPECT(compute(graph) == expected);
    context.writeTensor(x, input);
    EXPECT(std::exchange(times, 0) > 0);
    amid = [&] {
        refused([&] { context.readTensor<float>(y); });
        refused([&] { context.flush(); });
        WNNFuture const future = wnnContextReadTensorAsync(context.get(), y.get(), read.data(), y.byteLength(), {});
        refused([&] { webnn::check(wnnContextWaitAny(context.get(), 1, &future, UINT64_MAX)); });
    };
    for (int i = 0; !times && i < 200; i++) /* one thread may be faster for some */
        context.dispatch(graph, {{"x", x}}, {{"y", y}});
    amid = nullptr;
    EXPECT(times > 0 && context.readTensor<float>(y) == expected);
}

/* ---- refusals ---- */

static void refuse(webnn_object_parallel const &parallel, WNNEngine engine, char const *text)
{
    webnn::ContextOptions options;

    options.parallel = &parallel;
    options.engine = engine;
    EXPECT(error_of(WNNStatus_TypeError, [&] { webnn::Context const context(options); }).find(text) != std::string::npos);
}

PROGRAM_HELP("usage: test-cpp-parallel   run all tests\n")
int main()
{
    refuse({4, nullptr, nullptr}, WNNEngine_Auto, "parallel->run is NULL");
    refuse({0, run_backwards, nullptr}, WNNEngine_Auto, "parallel->threads is 0");
    refuse({1025, run_backwards, nullptr}, WNNEngine_Cpu, "parallel->threads is 1025");
    refuse({4, run_backwards, nullptr}, WNNEngine_Gpu, "parallel is for the processor");
    threads_are_the_programs();
    long_sums_end();

    Floats const expected = compute(graph_of(context_of(nullptr, 4, "prefer-library")));
    contexts_share_a_pool(expected);
    graphs_compute_inside_of_regions(expected);
    a_region_may_compute_and_not_wait(expected);
    std::printf("%d failures\n", failures.load());
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

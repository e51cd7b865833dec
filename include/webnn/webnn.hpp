/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/**
 * @file webnn.hpp
 * This is the Web Neural Network API for C++17: a layer of inline functions over webnn.h, so that a program links the same
 * library.  Objects own their handles, options are structs whose members have the specification's defaults, and calls that
 * fail throw webnn::Error with the library's message.
 *
 *     webnn::Context context;
 *     webnn::GraphBuilder b(context);
 *     auto x = b.input("x", {webnn::DataType::float32, {2, 2}});
 *     webnn::Graph graph = b.build({{"y", b.relu(b.mul(x, b.constant(webnn::DataType::float32, 0.2)))}});
 *     std::vector<float> in{1, -2, 3, -4}, out(4);
 *     graph.compute({{"x", in}}, {{"y", out}});
 *
 * webnn.h and webnn_operators.h describe each call at the function of the same name.  get()
 * returns the handle of any object, for functions that this layer does not have, such as callbacks.
 */
#ifndef WEBNN_WEBNN_HPP_
#define WEBNN_WEBNN_HPP_

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>

#include "webnn/webnn_operators.hpp"

namespace webnn
{

/** A dimension of an input: a size, or a name for one that each computation sets, with bounds (0: none). */
struct Dimension {
    std::string name{};
    std::uint32_t size = 0;
    std::uint32_t minSize = 0;
    std::uint32_t maxSize = 0;

    /** Makes a dimension of that size. */
    template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
    Dimension(T fixed) : size(static_cast<std::uint32_t>(fixed))
    {
    }
    /** Makes a dimension of that name. */
    Dimension(std::string named, std::uint32_t least = 0, std::uint32_t greatest = 0)
        : name(std::move(named)), minSize(least), maxSize(greatest)
    {
    }
    /** Does the same. */
    Dimension(char const *named, std::uint32_t least = 0, std::uint32_t greatest = 0)
        : Dimension(std::string(named), least, greatest)
    {
    }
};

/** Data type and shape (MLOperandDescriptor). */
struct OperandDescriptor {
    DataType dataType{};
    std::vector<std::uint32_t> shape{};
    std::vector<Dimension> dimensions{}; /**< of a graph that has named ones, whose size in shape is 0 */

    /** Returns data type and shape for the C API, which points into this object. */
    WNNOperandDescriptor native() const
    {
        return WNNOperandDescriptor{static_cast<WNNOperandDataType>(dataType), shape.size(), shape.data(), nullptr};
    }
    /** Returns the bytes of all elements, or 0 for an invalid descriptor. */
    std::size_t byteLength() const
    {
        WNNOperandDescriptor const d = native();
        return wnnOperandDescriptorGetByteLength(&d);
    }
    /** Returns the number of elements, or 0 likewise. */
    std::size_t elements() const
    {
        return byteLength() ? byteLength() / wnnOperandDataTypeGetByteSize(static_cast<WNNOperandDataType>(dataType)) : 0;
    }
};

/** The descriptor of a new tensor (MLTensorDescriptor). */
struct TensorDescriptor {
    DataType dataType{};
    std::vector<std::uint32_t> shape{};
    bool readable = false;
    bool writable = false;
};

/** A tensor of a context (MLTensor). */
class Tensor : public Handle<WNNTensor, wnnTensorAddRef, wnnTensorRelease>
{
  public:
    using Handle::Handle;
    /** Returns the data type of its elements. */
    DataType dataType() const
    {
        return static_cast<DataType>(wnnTensorGetDataType(get()));
    }
    /** Returns the size of each dimension. */
    std::vector<std::uint32_t> shape() const
    {
        std::uint32_t const *sizes = wnnTensorGetShape(get());
        return std::vector<std::uint32_t>(sizes, sizes + wnnTensorGetRank(get()));
    }
    /** Returns the bytes that reading and writing transfer. */
    std::size_t byteLength() const
    {
        return wnnTensorGetByteLength(get());
    }
    /** Returns whether Context::readTensor may read it. */
    bool readable() const
    {
        return wnnTensorGetReadable(get());
    }
    /** Returns whether Context::writeTensor may write it. */
    bool writable() const
    {
        return wnnTensorGetWritable(get());
    }
    /** Returns whether it was created by Context::createConstantTensor. */
    bool constant() const
    {
        return wnnTensorGetConstant(get());
    }
    /** Frees the tensor: pending reads end with an error. */
    void destroy() const
    {
        wnnTensorDestroy(get());
    }
};

/** An input or output of a graph, by its name. */
struct NamedTensor {
    std::string_view name;
    Tensor tensor;
};

/** An output of a graph to build, by its name. */
struct NamedOperand {
    std::string_view name;
    Operand operand;
};

/** Sizes of dimensions by their names. */
using NamedSizes = std::vector<std::pair<std::string_view, std::uint32_t>>;

/** Shapes by the names of inputs or outputs (MLNamedShapes). */
using NamedShapes = std::map<std::string, std::vector<std::uint32_t>>;

/** An operand of which every iteration of a loop takes or produces one slice. */
struct LoopSlices {
    Operand operand;
    std::uint32_t axis = 0;
    bool backward = false;
};

/** Memory of the program that a computation reads or writes. */
class NamedBuffer
{
  public:
    /** Returns the same for the interface of C. */
    WNNNamedBuffer native() const
    {
        return buffer_;
    }
    /** Throws unless the elements are of that type. */
    void check(DataType type) const
    {
        element_.check(type, "compute", std::string_view(buffer_.name.data, buffer_.name.length));
    }

  protected:
    /** Refers to the container's elements and remembers their type. */
    template <class Container>
    NamedBuffer(std::string_view name, Container const &data)
        : buffer_{detail::view(name), const_cast<void *>(static_cast<void const *>(std::data(data))),
                  std::size(data) * sizeof(*std::data(data))},
          element_(detail::Element::of(data))
    {
    }

  private:
    WNNNamedBuffer buffer_;
    detail::Element element_;
};

/** Memory of the program that an input is read from: any contiguous container of numbers. */
class NamedInput : public NamedBuffer
{
  public:
    /** Refers to the container, which must live until the computation has ended. */
    template <class Container> NamedInput(std::string_view name, Container const &data) : NamedBuffer(name, data)
    {
    }
};

/** Memory of the program that an output is written to. */
class NamedOutput : public NamedBuffer
{
  public:
    /** Refers to the container, which must live until the computation has ended. */
    template <class Container> NamedOutput(std::string_view name, Container &data) : NamedBuffer(name, data)
    {
        static_assert(!std::is_const_v<std::remove_pointer_t<decltype(std::data(data))>>, "outputs are written to");
    }
};

/** An output that Graph::run has allocated. */
struct Result {
    OperandDescriptor descriptor;
    std::vector<std::byte> bytes;

    /** Returns a copy of the elements, which must be of type T. */
    template <class T> std::vector<T> as() const
    {
        std::vector<T> values(bytes.size() / sizeof(T));
        detail::Element::of(values).check(descriptor.dataType, "run", "the output");
        if (!bytes.empty())
            std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
        return values;
    }
};

namespace detail
{

inline std::vector<WNNNamedTensor> native(std::vector<NamedTensor> const &tensors)
{
    std::vector<WNNNamedTensor> result;
    for (NamedTensor const &t : tensors)
        result.push_back(WNNNamedTensor{view(t.name), t.tensor.get()});
    return result;
}

template <class T> std::vector<WNNNamedBuffer> buffers(std::vector<T> const &all)
{
    std::vector<WNNNamedBuffer> result;
    for (T const &buffer : all)
        result.push_back(buffer.native());
    return result;
}

/** Checks the element types of arrays for inputs or outputs of a graph; the library refuses unknown names.
 */
template <class T>
void check_elements(WNNGraph graph, std::vector<T> const &given, std::size_t count,
                    WNNStatus (*describe)(WNNGraph, size_t, WNNNamedOperandDescriptor *))
{
    for (std::size_t i = 0; i < given.size(); i++)
        for (std::size_t k = 0; k < count; k++) { /* mostly in the graph's order */
            WNNNamedBuffer const buffer = given[i].native();
            WNNNamedOperandDescriptor d{};
            check(describe(graph, (i + k) % count, &d));
            if (std::string_view(d.name.data, d.name.length) != std::string_view(buffer.name.data, buffer.name.length))
                continue;
            given[i].check(static_cast<DataType>(d.descriptor.dataType));
            break;
        }
}

} // namespace detail

/** A compiled graph (MLGraph). */
class Graph : public Handle<WNNGraph, wnnGraphAddRef, wnnGraphRelease>
{
  public:
    using Handle::Handle;
    /** Names, data types and shapes of the inputs, in the order in which they were made. */
    std::vector<std::pair<std::string, OperandDescriptor>> inputs() const
    {
        return describe(wnnGraphGetInputCount(get()), wnnGraphGetInput);
    }
    /** The same of the outputs, in the order given to build. */
    std::vector<std::pair<std::string, OperandDescriptor>> outputs() const
    {
        return describe(wnnGraphGetOutputCount(get()), wnnGraphGetOutput);
    }
    /** The effect of GraphBuilder::quantizeWeights. */
    WNNQuantizedWeights quantizedWeights() const
    {
        WNNQuantizedWeights weights;
        wnnGraphGetQuantizedWeights(get(), &weights);
        return weights;
    }
    /** Computes on memory of the program, and returns when the outputs are written; all but one of them may be omitted, and
     * inputs that only those need. */
    void compute(std::vector<NamedInput> const &inputs, std::vector<NamedOutput> const &outputs,
                 Cancellation const &cancellation = Cancellation(nullptr)) const
    {
        computeSized({}, inputs, outputs, cancellation);
    }
    /** Does the same for these sizes of named dimensions; those that follow from the length of an input may be omitted. */
    void computeSized(NamedSizes const &sizes, std::vector<NamedInput> const &inputs, std::vector<NamedOutput> const &outputs,
                      Cancellation const &cancellation = Cancellation(nullptr)) const
    {
        std::vector<WNNNamedBuffer> const in = detail::buffers(inputs), out = detail::buffers(outputs);
        std::vector<WNNNamedSize> native;
        for (auto const &[name, size] : sizes)
            native.push_back({detail::view(name), size});
        detail::check_elements(get(), inputs, wnnGraphGetInputCount(get()), wnnGraphGetInput);
        detail::check_elements(get(), outputs, wnnGraphGetOutputCount(get()), wnnGraphGetOutput);
        check(wnnGraphComputeSized(get(), native.size(), native.data(), in.size(), in.data(), out.size(), out.data(),
                                   cancellation.get()));
    }
    /** Returns the shapes of outputs for these of inputs; those whose dimensions follow from the others may be omitted.
     */
    NamedShapes computeShapes(NamedShapes const &inputs) const
    {
        std::vector<WNNNamedShape> in, out(wnnGraphGetOutputCount(get()));
        NamedShapes result;
        for (auto const &[name, shape] : inputs) {
            WNNNamedShape native{detail::view(name), shape.size(), {}};
            for (std::size_t i = 0; i < shape.size() && i < WNN_RANK_MAX; i++)
                native.shape[i] = shape[i];
            in.push_back(native);
        }
        check(wnnGraphComputeShapes(get(), in.size(), in.data(), out.size(), out.data()));
        for (WNNNamedShape const &shape : out)
            result[std::string(shape.name.data, shape.name.length)].assign(shape.shape, shape.shape + shape.rank);
        return result;
    }
    /** Counts the variants that have been compiled for sizes of named dimensions. */
    WNNGraphVariantCounts variantCounts() const
    {
        WNNGraphVariantCounts counts;
        wnnGraphGetVariantCounts(get(), &counts);
        return counts;
    }
    /** Sets how many variants are kept (16). */
    void setVariantLimit(std::size_t limit) const
    {
        wnnGraphSetVariantLimit(get(), limit);
    }
    /** Computes, and returns the outputs of these names, which need their inputs only, newly allocated; without names,
     * all of them. */
    std::map<std::string, Result> run(std::vector<NamedInput> const &inputs, std::vector<std::string> const &names = {},
                                      Cancellation const &cancellation = Cancellation(nullptr)) const
    {
        return runSized({}, inputs, names, cancellation);
    }
    /** Does the same for these sizes of named dimensions; those that follow from the length of an input may be omitted. */
    std::map<std::string, Result> runSized(NamedSizes const &sizes, std::vector<NamedInput> const &inputs,
                                           std::vector<std::string> const &names = {},
                                           Cancellation const &cancellation = Cancellation(nullptr)) const
    {
        std::map<std::string, Result> results;
        std::vector<NamedOutput> to;
        for (auto const &[name, descriptor] : sizedOutputs(sizes, inputs))
            if (names.empty())
                results[name].descriptor = descriptor;
            else
                for (std::string const &wanted : names)
                    if (wanted == name)
                        results[name].descriptor = descriptor;
        for (std::string const &name : names)
            results[name]; /* an unknown name is an error */
        for (auto &[name, result] : results) {
            result.bytes.resize(result.descriptor.byteLength());
            to.emplace_back(name, result.bytes);
        }
        computeSized(sizes, inputs, to, cancellation);
        return results;
    }
    /** Writes the compiled graph to a file for Context::loadGraph. */
    void save(std::string const &path) const
    {
        check(wnnGraphSave(get(), path.c_str()));
    }
    /** Destroys the graph: later dispatches are refused, and those submitted complete. */
    void destroy() const
    {
        wnnGraphDestroy(get());
    }

  private:
    /* Describes outputs for these sizes and those that follow from the lengths of inputs; compute refuses what is left. */
    std::vector<std::pair<std::string, OperandDescriptor>> sizedOutputs(NamedSizes const &sizes,
                                                                        std::vector<NamedInput> const &given) const
    {
        std::vector<std::pair<std::string, OperandDescriptor>> result = outputs(), inputs = this->inputs();
        NamedShapes shapes;
        auto const set = [&](std::string_view name, std::size_t size) {
            for (auto &[input, d] : inputs)
                for (std::size_t k = 0; k < d.dimensions.size(); k++)
                    if (d.dimensions[k].name == name)
                        d.shape[k] = static_cast<std::uint32_t>(std::min<std::size_t>(size, UINT32_MAX));
        };
        auto const is_known = [](auto const &input) {
            return std::count(input.second.shape.begin(), input.second.shape.end(), 0u) == 0;
        };
        if (std::all_of(inputs.begin(), inputs.end(), is_known)) /* no names */
            return result;
        for (auto const &[name, size] : sizes)
            set(name, size);
        for (bool found = true; found;) { /* a size may tell the length that another input lacks */
            found = false;
            for (NamedInput const &buffer : given) {
                WNNNamedBuffer const b = buffer.native();
                for (auto const &[name, d] : inputs) {
                    if (name != std::string_view(b.name.data, b.name.length))
                        continue;
                    OperandDescriptor one{d.dataType, d.shape}; /* its bytes for a size of 1, or 0 if several are unknown */
                    auto const at = std::find(one.shape.begin(), one.shape.end(), 0u);
                    if (at == one.shape.end())
                        break;
                    *at = 1;
                    if (one.byteLength() && b.byteLength >= one.byteLength()) {
                        found = true;
                        set(d.dimensions[at - one.shape.begin()].name, b.byteLength / one.byteLength());
                    }
                    break;
                }
            }
        }
        for (auto const &[name, d] : inputs)
            shapes[name] = d.shape;
        if (!std::all_of(inputs.begin(), inputs.end(), is_known))
            return result;
        shapes = computeShapes(shapes);
        for (auto &[name, descriptor] : result)
            descriptor.shape = shapes[name];
        return result;
    }
    std::vector<std::pair<std::string, OperandDescriptor>>
    describe(std::size_t count, WNNStatus (*describe_one)(WNNGraph, size_t, WNNNamedOperandDescriptor *)) const
    {
        std::vector<std::pair<std::string, OperandDescriptor>> result;
        for (std::size_t i = 0; i < count; i++) {
            WNNNamedOperandDescriptor d{};
            check(describe_one(get(), i, &d));
            OperandDescriptor descriptor{static_cast<DataType>(d.descriptor.dataType),
                                         {d.descriptor.shape, d.descriptor.shape + d.descriptor.rank}};
            for (std::size_t k = 0; d.descriptor.dimensions && k < d.descriptor.rank; k++) {
                WNNDimension const &known = d.descriptor.dimensions[k];
                Dimension dimension(descriptor.shape[k]);
                if (known.name.data)
                    dimension = Dimension(std::string(known.name.data, known.name.length), known.minSize, known.maxSize);
                descriptor.dimensions.push_back(dimension);
            }
            result.emplace_back(std::string(d.name.data, d.name.length), std::move(descriptor));
        }
        return result;
    }
};

namespace detail
{

/** Begins an asynchronous call that makes a graph, and returns the future of its graph. */
template <class Begin> std::future<Graph> graph_future(Begin begin)
{
    auto *const promise = new std::promise<Graph>; /* the callback's, which runs once */
    std::future<Graph> future = promise->get_future();
    auto const done = [](WNNStatus status, WNNGraph graph, WNNStringView message, void *user, void *) {
        std::unique_ptr<std::promise<Graph>> const ended(static_cast<std::promise<Graph> *>(user));
        settle(*ended, status, message, [&] { return Graph(graph); });
    };
    begin(WNNBuildCallbackInfo{WNNCallbackMode_AllowSpontaneous, done, promise, nullptr});
    return future;
}

} // namespace detail

/** The options of a context.  WNNContextOptions in webnn.h describes the members. */
struct ContextOptions {
    WNNPowerPreference powerPreference = WNNPowerPreference_Default;
    bool accelerated = true;
    std::uint32_t threadCount = 0;
    std::string debug{};
    WNNPrecision precision = WNNPrecision_Float32;
    bool ignoreEnvironment = false;
    bool deterministic = false;
    WNNEngine engine = WNNEngine_Auto;
    std::string device{};
    std::string cache{};
    void *openclContext = nullptr;
    void *openclDevice = nullptr;
    void *openclQueue = nullptr;
    std::size_t memoryLimit = 0;
    WNNComputedCallbackInfo computed = WNN_COMPUTED_CALLBACK_INFO_INIT;
    WNNLogCallbackInfo log = WNN_LOG_CALLBACK_INFO_INIT;
    WNNContextLostCallbackInfo lost = WNN_CONTEXT_LOST_CALLBACK_INFO_INIT;
    WNNBudget budget = WNN_BUDGET_INIT;
    webnn_object_parallel const *parallel = nullptr;
    bool draftDataTypes = false;
};

/** Lists the devices for WNNEngine_Gpu, by their numbers. */
inline std::vector<WNNDeviceInfo> devices()
{
    std::vector<WNNDeviceInfo> all;
    WNNDeviceInfo info;

    while (wnnGetDevice(static_cast<std::uint32_t>(all.size()), &info))
        all.push_back(info);
    return all;
}

/** The device of tensors and graphs (MLContext).  All methods may be called on any thread. */
class Context : public Handle<WNNContext, wnnContextAddRef, wnnContextRelease>
{
  public:
    using Handle::Handle;
    /** Creates a context; throws an Error of kind NotSupportedError if no engine fits. */
    explicit Context(ContextOptions const &options = {}) : Handle(create(options))
    {
    }
    /** Returns whether graphs run on a massively parallel device. */
    bool accelerated() const
    {
        return wnnContextGetAccelerated(get());
    }
    /** Describes the device of graphs; its kind is WNNDeviceKind_Other if the engine has no description. */
    WNNDeviceInfo device() const
    {
        WNNDeviceInfo info;

        wnnContextGetDevice(get(), &info);
        return info;
    }
    /** Returns whether the context was destroyed, or lost for another reason, which is final. */
    bool isLost() const
    {
        return wnnContextIsLost(get());
    }
    /** Loses the context: its graphs and tensors are destroyed, and pending operations end with an error. */
    void destroy() const
    {
        wnnContextDestroy(get());
    }
    /** Creates a tensor of zeros. */
    Tensor createTensor(TensorDescriptor const &d) const
    {
        WNNTensorDescriptor const native = describe(d);
        WNNTensor tensor = nullptr;
        check(wnnContextCreateTensor(get(), &native, &tensor));
        return Tensor(tensor);
    }
    /** Creates a tensor that is the application's own cl_mem, from byteOffset on, in a context with an openclContext. */
    Tensor createTensorFromOpenCL(TensorDescriptor const &d, void *memory, std::size_t byteOffset = 0) const
    {
        WNNTensorDescriptor const native = describe(d);
        WNNTensor tensor = nullptr;
        check(wnnContextCreateTensorFromOpenCL(get(), &native, memory, byteOffset, &tensor));
        return Tensor(tensor);
    }
    /** Returns once everything submitted before is in the queue of the device; on a processor it waits for its end. */
    void flush() const
    {
        check(wnnContextFlush(get()));
    }
    /** Creates a constant tensor with a copy of a container's numbers. */
    template <class Container> Tensor createConstantTensor(OperandDescriptor const &d, Container const &data) const
    {
        WNNOperandDescriptor const native = d.native();
        WNNTensor tensor = nullptr;
        detail::Element::of(data).check(d.dataType, "createConstantTensor", "the tensor");
        check(wnnContextCreateConstantTensor(get(), &native, std::data(data), std::size(data) * sizeof(*std::data(data)),
                                             &tensor));
        return Tensor(tensor);
    }
    /** Submits a copy of a container's numbers into a tensor. */
    template <class Container> void writeTensor(Tensor const &tensor, Container const &data) const
    {
        detail::Element::of(data).check(tensor.dataType(), "writeTensor", "the tensor");
        check(wnnContextWriteTensor(get(), tensor.get(), std::data(data), std::size(data) * sizeof(*std::data(data))));
    }
    /** Waits for the work submitted before and copies a tensor into a container, which must have the tensor's size. */
    template <class Container> void readTensor(Tensor const &tensor, Container &data) const
    {
        detail::Element::of(data).check(tensor.dataType(), "readTensor", "the tensor");
        check(wnnContextReadTensor(get(), tensor.get(), std::data(data), std::size(data) * sizeof(*std::data(data))));
    }
    /** Does the same into a vector of elements of type T; the tensor's bytes must be a multiple of T's. */
    template <class T> std::vector<T> readTensor(Tensor const &tensor) const
    {
        std::vector<T> data(tensor.byteLength() / sizeof(T));
        readTensor(tensor, data);
        return data;
    }
    /** Does the same without waiting; the future throws what fails. */
    template <class T> std::future<std::vector<T>> readTensorAsync(Tensor const &tensor) const
    {
        struct Read {
            std::promise<std::vector<T>> promise;
            std::vector<T> data;
        };
        auto read = std::make_unique<Read>();
        std::future<std::vector<T>> future = read->promise.get_future();
        auto const done = [](WNNStatus status, WNNStringView message, void *user, void *) {
            std::unique_ptr<Read> const ended(static_cast<Read *>(user));
            detail::settle(ended->promise, status, message, [&] { return std::move(ended->data); });
        };
        read->data.resize(tensor.byteLength() / sizeof(T));
        detail::Element::of(read->data).check(tensor.dataType(), "readTensor", "the tensor");
        Read *const kept = read.release(); /* the callback's, which runs once */
        wnnContextReadTensorAsync(get(), tensor.get(), kept->data.data(), kept->data.size() * sizeof(T),
                                  {WNNCallbackMode_AllowSpontaneous, done, kept, nullptr});
        return future;
    }
    /** Submits one computation and returns. */
    void dispatch(Graph const &graph, std::vector<NamedTensor> const &inputs, std::vector<NamedTensor> const &outputs,
                  Cancellation const &cancellation = Cancellation(nullptr)) const
    {
        std::vector<WNNNamedTensor> const in = detail::native(inputs), out = detail::native(outputs);
        check(wnnContextDispatchCancellable(get(), graph.get(), in.size(), in.data(), out.size(), out.data(),
                                            cancellation.get()));
    }
    /** Makes a graph of a file that Graph::save wrote, or of a shared object of webnnc's. */
    Graph loadGraph(std::string const &path) const
    {
        WNNGraph graph = nullptr;
        check(wnnContextLoadGraph(get(), path.c_str(), &graph));
        return Graph(graph);
    }
    /** Does the same without waiting; the future throws errors. */
    std::future<Graph> loadGraphAsync(std::string const &path) const
    {
        return detail::graph_future([&](WNNBuildCallbackInfo info) { wnnContextLoadGraphAsync(get(), path.c_str(), info); });
    }
    /** Returns the engine that a context needs to load a file, for ContextOptions::engine. */
    static WNNEngine engineOf(std::string const &path)
    {
        WNNEngine engine = WNNEngine_Auto;
        check(wnnGetFileEngine(path.c_str(), &engine));
        return engine;
    }

  private:
    static WNNTensorDescriptor describe(TensorDescriptor const &d)
    {
        WNNTensorDescriptor native = WNN_TENSOR_DESCRIPTOR_INIT;
        native.dataType = static_cast<WNNOperandDataType>(d.dataType);
        native.rank = d.shape.size();
        native.shape = d.shape.data();
        native.readable = d.readable;
        native.writable = d.writable;
        return native;
    }
    static WNNContext create(ContextOptions const &options)
    {
        WNNContextOptions native = WNN_CONTEXT_OPTIONS_INIT;
        native.powerPreference = options.powerPreference;
        native.accelerated = options.accelerated;
        native.threadCount = options.threadCount;
        native.debug = detail::view(options.debug);
        native.precision = options.precision;
        native.ignoreEnvironment = options.ignoreEnvironment;
        native.deterministic = options.deterministic;
        native.engine = options.engine;
        native.device = detail::view(options.device);
        native.cache = detail::view(options.cache);
        native.openclContext = options.openclContext;
        native.openclDevice = options.openclDevice;
        native.openclQueue = options.openclQueue;
        native.memoryLimit = options.memoryLimit;
        native.computed = options.computed;
        native.log = options.log;
        native.lost = options.lost;
        native.budget = options.budget;
        native.parallel = options.parallel;
        native.draftDataTypes = options.draftDataTypes;
        WNNContext context = nullptr;
        check(wnnCreateContext(&native, &context));
        return context;
    }
};

/** Reports the progress of a build, like WNNBuildProgressCallback; the build ends if it returns false or throws. */
using BuildProgress = std::function<bool(WNNBuildStage stage, std::uint32_t done, std::uint32_t total)>;

/** Makes a callback info for setProgress and DynamicModelOptions::progress of a function, which must outlive the builds. */
inline WNNBuildProgressCallbackInfo buildProgress(BuildProgress &progress)
{
    return {[](WNNBuildStage stage, std::uint32_t done, std::uint32_t total, void *told, void *) noexcept {
                try {
                    return (*static_cast<BuildProgress *>(told))(stage, done, total);
                } catch (...) {
                    return false;
                }
            },
            &progress, nullptr};
}

/** Makes one graph (MLGraphBuilder).  One thread at a time may use it. */
class GraphBuilder : public Operators
{
  public:
    using Operators::Operators;
    /** Creates a builder of one graph for the context. */
    explicit GraphBuilder(Context const &context) : Operators(create(context))
    {
    }
    /** Makes an input of the graph.  No two inputs have the same name. */
    Operand input(std::string_view name, OperandDescriptor const &descriptor) const
    {
        WNNOperandDescriptor const d = descriptor.native();
        return detail::checked(get(), wnnGraphBuilderInput(get(), detail::view(name), &d));
    }
    /** The same with dimensions some of which have names: input("x", DataType::float32, {"batch", 224, 224, 3}). */
    Operand input(std::string_view name, DataType dataType, std::vector<Dimension> const &dimensions) const
    {
        std::vector<WNNDimension> native;
        std::vector<std::uint32_t> sizes;
        for (Dimension const &d : dimensions) {
            native.push_back({d.name.empty() ? WNNStringView{} : detail::view(d.name), d.minSize, d.maxSize});
            sizes.push_back(d.size);
        }
        WNNOperandDescriptor const d{static_cast<WNNOperandDataType>(dataType), sizes.size(), sizes.data(), native.data()};
        return detail::checked(get(), wnnGraphBuilderInput(get(), detail::view(name), &d));
    }
    /** Makes a constant of a copy of a container's numbers. */
    template <class Container> Operand constant(OperandDescriptor const &descriptor, Container const &data) const
    {
        WNNOperandDescriptor const d = descriptor.native();
        detail::Element::of(data).check(descriptor.dataType, "constant", "the operand");
        return detail::checked(get(),
                               wnnGraphBuilderConstant(get(), &d, std::data(data), std::size(data) * sizeof(*std::data(data))));
    }
    /** The same for literal numbers: constant({float32, {2}}, {1.0f, 2.0f}). */
    template <class T> Operand constant(OperandDescriptor const &descriptor, std::initializer_list<T> data) const
    {
        return constant(descriptor, std::vector<T>(data));
    }
    /** Makes a scalar constant. */
    Operand constant(DataType dataType, Number value) const
    {
        return detail::checked(get(), wnnGraphBuilderConstantScalar(get(), static_cast<WNNOperandDataType>(dataType), value));
    }
    /** Makes a constant of a constant tensor. */
    Operand constant(Tensor const &tensor) const
    {
        return detail::checked(get(), wnnGraphBuilderConstantTensor(get(), tensor.get()));
    }
    /** Sets the callback that reports the progress of the build, and may end it: see buildProgress. */
    void setProgress(WNNBuildProgressCallbackInfo progress) const
    {
        check(wnnGraphBuilderSetProgress(get(), progress));
    }
    /** Pairs inputs with the outputs that they become, by name: a dispatch may use one tensor for both. */
    void setStates(std::vector<std::pair<std::string, std::string>> const &states) const
    {
        std::vector<WNNNamedState> native;
        for (auto const &state : states)
            native.push_back({detail::view(state.first), detail::view(state.second)});
        check(wnnGraphBuilderSetStates(get(), native.size(), native.data()));
    }
    /** Begins a loop, and returns the parameters of an iteration: the carried values, then the slices of scanned operands. */
    std::vector<Operand> beginLoop(std::uint32_t iterations, std::vector<Operand> const &carried,
                                   std::vector<LoopSlices> const &scanned = {}) const
    {
        std::vector<WNNOperand> const values = operands_of(carried);
        std::vector<WNNLoopSlices> const slices = slices_of(scanned);
        std::vector<WNNOperand> parameters(values.size() + slices.size());
        WNNStatus const status = wnnGraphBuilderBeginLoop(get(), iterations, values.size(), values.data(), slices.size(),
                                                          slices.data(), parameters.data());
        detail::check_builder(get());
        check(status);
        return detail::operands(parameters);
    }
    /** Lets the loop end after an iteration after which that carried value, a uint8 scalar, is not 0. */
    void stopLoop(std::size_t carried) const
    {
        WNNStatus const status = wnnGraphBuilderStopLoop(get(), carried);
        detail::check_builder(get());
        check(status);
    }
    /** Ends the loop with the results of an iteration, and returns the last carried values, then the stacked operands. */
    std::vector<Operand> endLoop(std::vector<Operand> const &carried, std::vector<LoopSlices> const &stacked = {},
                                 std::string_view label = {}) const
    {
        std::vector<WNNOperand> const values = operands_of(carried);
        std::vector<WNNLoopSlices> const slices = slices_of(stacked);
        std::vector<WNNOperand> outputs(values.size() + slices.size());
        WNNStatus const status = wnnGraphBuilderEndLoop(get(), detail::view(label), values.size(), values.data(), slices.size(),
                                                        slices.data(), outputs.data());
        detail::check_builder(get());
        check(status);
        return detail::operands(outputs);
    }
    /** Combines input with updates at indices: see wnnGraphBuilderScatterReduce. */
    Operand scatterReduce(Operand const &input, Operand const &indices, Operand const &updates, std::uint32_t axis = 0,
                          WNNScatterReduction reduction = WNNScatterReduction_Add, std::string_view label = {}) const
    {
        WNNScatterReduceOptions const o = {sizeof o, detail::view(label), axis, reduction};
        return detail::checked(get(), wnnGraphBuilderScatterReduce(get(), input.get(), indices.get(), updates.get(), &o));
    }
    /** Lets build quantize the weights of matmuls, which is not exact. */
    void quantizeWeights(WNNWeightFormat format) const
    {
        check(wnnGraphBuilderQuantizeWeights(get(), format));
    }
    /** Compiles the graph up to the outputs.  A builder builds once. */
    Graph build(std::vector<NamedOperand> const &outputs) const
    {
        std::vector<WNNNamedOperand> native;
        for (NamedOperand const &o : outputs)
            native.push_back(WNNNamedOperand{detail::view(o.name), o.operand.get()});
        WNNGraph graph = nullptr;
        WNNStatus const status = wnnGraphBuilderBuild(get(), native.size(), native.data(), &graph);
        detail::check_builder(get());
        check(status);
        return Graph(graph);
    }
    /** Does the same on the context's timeline; the future throws errors. */
    std::future<Graph> buildAsync(std::vector<NamedOperand> const &outputs) const
    {
        std::vector<WNNNamedOperand> native;
        for (NamedOperand const &o : outputs)
            native.push_back(WNNNamedOperand{detail::view(o.name), o.operand.get()});
        return detail::graph_future(
            [&](WNNBuildCallbackInfo info) { wnnGraphBuilderBuildAsync(get(), native.size(), native.data(), info); });
    }

  private:
    static std::vector<WNNOperand> operands_of(std::vector<Operand> const &operands)
    {
        std::vector<WNNOperand> native;
        for (Operand const &o : operands)
            native.push_back(o.get());
        return native;
    }
    static std::vector<WNNLoopSlices> slices_of(std::vector<LoopSlices> const &slices)
    {
        std::vector<WNNLoopSlices> native;
        for (LoopSlices const &s : slices)
            native.push_back(WNNLoopSlices{s.operand.get(), s.axis, s.backward});
        return native;
    }
    static WNNGraphBuilder create(Context const &context)
    {
        WNNGraphBuilder builder = nullptr;
        check(wnnContextCreateGraphBuilder(context.get(), &builder));
        return builder;
    }
};

} // namespace webnn

#endif

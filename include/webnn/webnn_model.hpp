/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/**
 * @file webnn_model.hpp
 * Reads model files in C++17: a layer of inline functions over webnn_model.h, as webnn.hpp is over webnn.h.  A program links
 * libwebnn_model and libwebnn.
 *
 *     webnn::ModelOptions options;
 *     options.dimensions = {{"batch", 1}};
 *     webnn::Graph graph = webnn::Model(context, "model.onnx", options).build();
 *
 *     webnn::DynamicModel model(context, "model.onnx");
 *     webnn::Graph longer = model.graph({{"sequence_length", 128}});
 *
 * Calls that fail throw webnn::Error with the library's message.  webnn_model.h describes each call.
 */
#ifndef WEBNN_WEBNN_MODEL_HPP_
#define WEBNN_WEBNN_MODEL_HPP_

#include "webnn/webnn.hpp"
#include "webnn/webnn_model.h"

namespace webnn
{

/** Throws an Error with the message of the model reader's last call that failed on this thread, unless status is Success. */
inline void checkModel(WNNStatus status)
{
    if (status != WNNStatus_Success)
        throw Error(status, wnnModelGetLastErrorMessage().data);
}

/** The size of a named dimension of a model. */
struct ModelDimension {
    std::string name{};
    std::uint32_t size = 0;
};

/** The shape of an input. */
struct ModelShape {
    std::string name{};
    std::vector<std::uint32_t> shape{};
};

/** An input that becomes a constant. */
struct ModelConstant {
    std::string name{};
    OperandDescriptor descriptor{};
    std::vector<std::uint8_t> bytes{};
};

/** How a model is read.  WNNModelOptions in webnn_model.h describes the members. */
struct ModelOptions {
    std::vector<ModelDimension> dimensions{};
    std::vector<ModelShape> shapes{};
    std::vector<ModelConstant> constants{};
    std::string weightsPath{};
    std::string path{};
    WNNBudget budget = WNN_BUDGET_INIT;
    GraphBuilder builder{};
    std::vector<NamedOperand> operands{};
    std::vector<std::string> outputs{};
    std::vector<Dimension> names{};
};

namespace detail
{

inline std::string text(WNNStringView view)
{
    return std::string(view.data ? view.data : "", view.length);
}

inline std::vector<WNNModelDimension> native(std::vector<ModelDimension> const &dimensions)
{
    std::vector<WNNModelDimension> result;
    for (ModelDimension const &d : dimensions)
        result.push_back(WNNModelDimension{view(d.name), d.size});
    return result;
}

inline std::vector<WNNModelShape> native(std::vector<ModelShape> const &shapes)
{
    std::vector<WNNModelShape> result;
    for (ModelShape const &s : shapes)
        result.push_back(WNNModelShape{view(s.name), s.shape.size(), s.shape.data()});
    return result;
}

/** The options for the C API, which point into those of C++ and into lists of this object. */
class NativeModelOptions
{
  public:
    explicit NativeModelOptions(ModelOptions const &o) : dimensions_(native(o.dimensions)), shapes_(native(o.shapes))
    {
        for (ModelConstant const &c : o.constants)
            constants_.push_back(WNNModelConstant{view(c.name), c.descriptor.native(), c.bytes.data(), c.bytes.size()});
        for (NamedOperand const &operand : o.operands)
            operands_.push_back(WNNNamedOperand{view(operand.name), operand.operand.get()});
        for (std::string const &output : o.outputs)
            outputs_.push_back(view(output));
        for (Dimension const &d : o.names)
            names_.push_back(WNNDimension{view(d.name), d.minSize, d.maxSize});
        options_.nameCount = names_.size();
        options_.names = names_.data();
        options_.outputCount = outputs_.size();
        options_.outputs = outputs_.data();
        options_.dimensionCount = dimensions_.size();
        options_.dimensions = dimensions_.data();
        options_.shapeCount = shapes_.size();
        options_.shapes = shapes_.data();
        options_.constantCount = constants_.size();
        options_.constants = constants_.data();
        options_.weightsPath = o.weightsPath.empty() ? nullptr : o.weightsPath.c_str();
        options_.path = o.path.empty() ? nullptr : o.path.c_str();
        options_.budget = o.budget;
        options_.builder = o.builder.get();
        options_.operandCount = operands_.size();
        options_.operands = operands_.data();
    }
    NativeModelOptions(NativeModelOptions const &) = delete;
    NativeModelOptions &operator=(NativeModelOptions const &) = delete;
    WNNModelOptions const *get() const
    {
        return &options_;
    }

  private:
    std::vector<WNNModelDimension> dimensions_;
    std::vector<WNNModelShape> shapes_;
    std::vector<WNNModelConstant> constants_{};
    std::vector<WNNNamedOperand> operands_{};
    std::vector<WNNStringView> outputs_{};
    std::vector<WNNDimension> names_{};
    WNNModelOptions options_ = WNN_MODEL_OPTIONS_INIT;
};

} // namespace detail

/** An input or an output as a file declares it.  A size of 0 is free. */
struct ModelDeclaration {
    std::string name;
    DataType dataType; /**< 0 if the file has none */
    bool boolean;
    bool hasShape;
    std::vector<ModelDimension> dimensions;
};

/** A piece of metadata of a file. */
struct ModelMetadata {
    std::string key, value;
    bool custom;
};

/** A file's description of its model, without building it. */
class ModelInfo : public Handle<WNNModelInfo, wnnModelInfoAddRef, wnnModelInfoRelease>
{
  public:
    using Handle::Handle;
    /** Describes a file or a folder. */
    explicit ModelInfo(std::string const &path) : Handle(describe(path))
    {
    }
    /** Describes a model in memory: a container of bytes or characters. */
    template <class Container> static ModelInfo fromMemory(Container const &data)
    {
        WNNModelInfo info = nullptr;
        checkModel(wnnModelDescribeMemory(std::data(data), std::size(data) * sizeof(*std::data(data)), &info));
        return ModelInfo(info);
    }
    /** Returns the name that the file has for the model, or "". */
    std::string name() const
    {
        return detail::text(wnnModelInfoGetName(get()));
    }
    /** Returns "onnx", "webnn", "json" or "manifest". */
    std::string format() const
    {
        return detail::text(wnnModelInfoGetFormat(get()));
    }
    /** Returns the inputs, in the file's order. */
    std::vector<ModelDeclaration> inputs() const
    {
        return declarations(wnnModelInfoGetInputCount(get()), wnnModelInfoGetInput);
    }
    /** Returns the outputs, in the file's order. */
    std::vector<ModelDeclaration> outputs() const
    {
        return declarations(wnnModelInfoGetOutputCount(get()), wnnModelInfoGetOutput);
    }
    /** Returns the names of free dimensions, each with its largest size. */
    std::vector<ModelDimension> freeDimensions() const
    {
        std::vector<ModelDimension> result;
        for (std::size_t i = 0; i < wnnModelInfoGetFreeDimensionCount(get()); i++) {
            WNNModelFreeDimension d{};
            checkModel(wnnModelInfoGetFreeDimension(get(), i, &d));
            result.push_back(ModelDimension{detail::text(d.name), d.largest});
        }
        return result;
    }
    /** Returns the metadata of the file. */
    std::vector<ModelMetadata> metadata() const
    {
        std::vector<ModelMetadata> result;
        for (std::size_t i = 0; i < wnnModelInfoGetMetadataCount(get()); i++) {
            WNNModelMetadata m{};
            checkModel(wnnModelInfoGetMetadata(get(), i, &m));
            result.push_back(ModelMetadata{detail::text(m.key), detail::text(m.value), m.custom});
        }
        return result;
    }

  private:
    static WNNModelInfo describe(std::string const &path)
    {
        WNNModelInfo info = nullptr;
        checkModel(wnnModelDescribe(path.c_str(), &info));
        return info;
    }
    std::vector<ModelDeclaration> declarations(std::size_t count,
                                               WNNStatus (*get_one)(WNNModelInfo, size_t, WNNModelDeclaration *)) const
    {
        std::vector<ModelDeclaration> result;
        for (std::size_t i = 0; i < count; i++) {
            WNNModelDeclaration d{};
            checkModel(get_one(get(), i, &d));
            ModelDeclaration out{detail::text(d.name), static_cast<DataType>(d.dataType), d.boolean, d.hasShape, {}};
            for (std::size_t k = 0; k < d.rank; k++)
                out.dimensions.push_back(ModelDimension{detail::text(d.dimensions[k].name), d.dimensions[k].size});
            result.push_back(std::move(out));
        }
        return result;
    }
};

/** An input or an output of a model that was read, with its operand. */
struct ModelPort {
    std::string name;
    OperandDescriptor descriptor;
    bool boolean;
    Operand operand;
    /** The output with the number of valid elements along countedDimension; invalid if all are. */
    Operand count;
    std::size_t countedDimension;
};

/** A model that was read: a builder with the whole network. */
class Model : public Handle<WNNModel, wnnModelAddRef, wnnModelRelease>
{
  public:
    using Handle::Handle;
    /** Reads a file or a folder. */
    explicit Model(Context const &context, std::string const &path, ModelOptions const &options = {})
        : Handle(read(context, path, options))
    {
    }
    /** Reads a model in memory: a container of bytes or characters. */
    template <class Container>
    static Model fromMemory(Context const &context, Container const &data, ModelOptions const &options = {})
    {
        detail::NativeModelOptions const native(options);
        WNNModel model = nullptr;
        checkModel(wnnModelReadMemory(context.get(), std::data(data), std::size(data) * sizeof(*std::data(data)), native.get(),
                                      &model));
        return Model(model);
    }
    /** Returns the name that the file has for the model, or "". */
    std::string name() const
    {
        return detail::text(wnnModelGetName(get()));
    }
    /** Returns lines about values that were read differently than given, or "". */
    std::string notes() const
    {
        return detail::text(wnnModelGetNotes(get()));
    }
    /** Returns the inputs, in the file's order. */
    std::vector<ModelPort> inputs() const
    {
        return ports(wnnModelGetInputCount(get()), wnnModelGetInput);
    }
    /** Returns the outputs, in the file's order. */
    std::vector<ModelPort> outputs() const
    {
        return ports(wnnModelGetOutputCount(get()), wnnModelGetOutput);
    }
    /** Returns the builder that holds the network, for further calls. */
    GraphBuilder builder() const
    {
        wnnGraphBuilderAddRef(wnnModelGetBuilder(get()));
        return GraphBuilder(wnnModelGetBuilder(get()));
    }
    /** Builds the network unchanged.  A model builds once. */
    Graph build() const
    {
        WNNGraph graph = nullptr;
        checkModel(wnnModelBuild(get(), &graph));
        return Graph(graph);
    }

  private:
    static WNNModel read(Context const &context, std::string const &path, ModelOptions const &options)
    {
        detail::NativeModelOptions const native(options);
        WNNModel model = nullptr;
        checkModel(wnnModelRead(context.get(), path.c_str(), native.get(), &model));
        return model;
    }
    std::vector<ModelPort> ports(std::size_t count, WNNStatus (*get_one)(WNNModel, size_t, WNNModelPort *)) const
    {
        std::vector<ModelPort> result;
        for (std::size_t i = 0; i < count; i++) {
            WNNModelPort p{};
            checkModel(get_one(get(), i, &p));
            result.push_back(ModelPort{detail::text(p.name),
                                       OperandDescriptor{static_cast<DataType>(p.descriptor.dataType),
                                                         {p.descriptor.shape, p.descriptor.shape + p.descriptor.rank}},
                                       p.boolean, detail::referenced(p.operand), detail::referenced(p.count),
                                       p.countedDimension});
        }
        return result;
    }
};

/** The options of a dynamic model.  WNNDynamicModelOptions in webnn_model.h describes the members; buildProgress makes
 * `progress` from a function. */
struct DynamicModelOptions {
    ModelOptions model{};
    std::size_t graphLimit = 0;
    std::string folder{};
    std::uint64_t folderLimit = 0;
    WNNBuildProgressCallbackInfo progress = WNN_BUILD_PROGRESS_CALLBACK_INFO_INIT;
};

/** A model with a graph for each requested combination of sizes.  All methods may be called on any thread. */
class DynamicModel : public Handle<WNNDynamicModel, wnnDynamicModelAddRef, wnnDynamicModelRelease>
{
  public:
    using Handle::Handle;
    /** Opens a file or a folder; nothing is built. */
    explicit DynamicModel(Context const &context, std::string const &path, DynamicModelOptions const &options = {})
        : Handle(create(options, [&](WNNDynamicModelOptions const *native, WNNDynamicModel *model) {
              return wnnDynamicModelCreate(context.get(), path.c_str(), native, model);
          }))
    {
    }
    /** Does the same with a copy of a model in memory: a container of bytes or characters. */
    template <class Container>
    static DynamicModel fromMemory(Context const &context, Container const &data, DynamicModelOptions const &options = {})
    {
        return DynamicModel(create(options, [&](WNNDynamicModelOptions const *native, WNNDynamicModel *model) {
            return wnnDynamicModelCreateFromMemory(context.get(), std::data(data), std::size(data) * sizeof(*std::data(data)),
                                                   native, model);
        }));
    }
    /** Returns the graph for these sizes, which is found, loaded or built. */
    Graph graph(std::vector<ModelDimension> const &dimensions, std::vector<ModelShape> const &shapes = {}) const
    {
        std::vector<WNNModelDimension> const d = detail::native(dimensions);
        std::vector<WNNModelShape> const s = detail::native(shapes);
        WNNGraph graph = nullptr;
        checkModel(wnnDynamicModelGetGraph(get(), d.size(), d.data(), s.size(), s.data(), &graph));
        return Graph(graph);
    }
    /** Describes the model. */
    ModelInfo info() const
    {
        wnnModelInfoAddRef(wnnDynamicModelGetInfo(get()));
        return ModelInfo(wnnDynamicModelGetInfo(get()));
    }
    /** Returns lines about values that were read differently than given, once a graph was built, or "". */
    std::string notes() const
    {
        return detail::text(wnnDynamicModelGetNotes(get()));
    }
    /** Counts graphs that were built, found, loaded, saved and evicted. */
    WNNDynamicModelCounts counts() const
    {
        WNNDynamicModelCounts counts{};
        wnnDynamicModelGetCounts(get(), &counts);
        return counts;
    }
    /** Drops all kept graphs. */
    void clear() const
    {
        wnnDynamicModelClear(get());
    }

  private:
    template <class Call> static WNNDynamicModel create(DynamicModelOptions const &options, Call call)
    {
        detail::NativeModelOptions const model_options(options.model);
        WNNDynamicModelOptions native = WNN_DYNAMIC_MODEL_OPTIONS_INIT;
        native.model = model_options.get();
        native.graphLimit = options.graphLimit;
        native.folder = options.folder.empty() ? nullptr : options.folder.c_str();
        native.progress = options.progress;
        native.folderLimit = options.folderLimit;
        WNNDynamicModel model = nullptr;
        checkModel(call(&native, &model));
        return model;
    }
};

} // namespace webnn

#endif

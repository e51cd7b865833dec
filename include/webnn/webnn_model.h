/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/**
 * @file webnn_model.h
 * Reads model files: ONNX, .webnn text, its JSON form, and folders with a manifest.json.  It belongs to libwebnn_model, a
 * separate library (pkg-config: webnn_model, CMake: webnn::model).
 *
 *     WNNModelDimension batch = {WNN_STR("batch"), 1};
 *     WNNModelOptions options = WNN_MODEL_OPTIONS_INIT;
 *     options.dimensionCount = 1;
 *     options.dimensions = &batch;
 *     if (wnnModelRead(context, "model.onnx", &options, &model) == WNNStatus_Success)
 *         status = wnnModelBuild(model, &graph);
 *
 * A model that was read is a graph builder with the whole network, its inputs and its outputs.  wnnModelBuild builds it
 * unchanged; a program may also add operators to wnnModelGetBuilder and build that, or read the model into its own builder
 * (WNNModelOptions.builder), after other operands.
 *
 * wnnModelDescribe lists a file's declarations before anything is bound or built: inputs, outputs, free dimensions, metadata.
 *
 * Functions that can fail return a WNNStatus as those of webnn.h do; the message is wnnModelGetLastErrorMessage(), per thread.
 * Nothing in a file is trusted: for any contents, the result is a model or a DataError, and reading stops at the budget.
 * docs/model.md has the rules.
 */
#ifndef WEBNN_WEBNN_MODEL_H_
#define WEBNN_WEBNN_MODEL_H_

#include "webnn/webnn.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Holds a model that was read.  Several threads may query it; one at a time may build it or use its builder. */
typedef struct WNNModelImpl *WNNModel;

/**
 * Sets the size of a named dimension of the model.  With size 0, for ONNX only, inputs that have it
 * are empty: they are not inputs of the graph, and are left out of concatenations (docs/model.md).
 */
typedef struct WNNModelDimension {
    WNNStringView name;
    uint32_t size;
} WNNModelDimension;

/**
 * Sets the shape of an input, which must agree with the dimensions that the model fixes.  The rank is 12 at most.  An
 * initializer of an ONNX file that is also an input is a default, and not an input of the graph unless it gets a shape.
 */
typedef struct WNNModelShape {
    WNNStringView name;
    size_t rank;
    uint32_t const *WNN_NULLABLE shape;
} WNNModelShape;

/**
 * Makes an input a constant, for models that take shapes or switches as inputs.  The elements are row-major, of the
 * descriptor's byte length; they are copied, and converted to the input's type if no value is lost.  The rank is 12 at most.
 */
typedef struct WNNModelConstant {
    WNNStringView name;
    WNNOperandDescriptor descriptor;
    void const *data;
    size_t byteLength;
} WNNModelConstant;

/** The options of reading a model.  Begin with WNN_MODEL_OPTIONS_INIT; webnn_options.h explains structSize. */
typedef struct WNNModelOptions {
    size_t structSize;
    size_t dimensionCount;
    WNNModelDimension const *WNN_NULLABLE dimensions;
    size_t shapeCount;
    WNNModelShape const *WNN_NULLABLE shapes;
    size_t constantCount;
    WNNModelConstant const *WNN_NULLABLE constants;
    /** The file of weights of a .webnn text or JSON; NULL for the one next to it with its name. */
    char const *WNN_NULLABLE weightsPath;
    /** For wnnModelReadMemory: the path that the model would have as a file, to find files next to it. */
    char const *WNN_NULLABLE path;
    /** The limit of reading and building; a member that is 0 is the context's, or grows with the model's files. */
    WNNBudget budget;
    /**
     * A builder of the program, to which the network is added; NULL for the model's own.  It must have no error and
     * be of the same context.  Its budget stays unless `budget` sets another one.  After a failure it holds a part of the
     * network and cannot be used any more.
     */
    WNNGraphBuilder WNN_NULLABLE builder;
    /**
     * Operands of that builder that replace inputs: their types are the inputs', and their shapes bind dimensions.
     * The model then has no such input.  Manifests do not support it.
     */
    size_t operandCount;
    WNNNamedOperand const *WNN_NULLABLE operands;
    /** The requested outputs, by name, in this order; none for all.  Nodes that only the others need are not built. */
    size_t outputCount;
    WNNStringView const *WNN_NULLABLE outputs;
    /**
     * Dimensions that stay names, each with bounds of its size: one graph serves all sizes (docs/named-dimensions.md).  ONNX
     * files only, of which those are refused whose operators must know a number.
     */
    size_t nameCount;
    WNNDimension const *WNN_NULLABLE names;
} WNNModelOptions;

#define WNN_MODEL_OPTIONS_INIT                                                                                                 \
    WNN_INIT_(WNNModelOptions,                                                                                                 \
              {sizeof(WNNModelOptions), 0, NULL, 0, NULL, 0, NULL, NULL, NULL, {0, 0}, NULL, 0, NULL, 0, NULL, 0, NULL})

/** Describes an input or an output of a model.  Everything in it lives as long as the model. */
typedef struct WNNModelPort {
    WNNStringView name;
    WNNOperand operand; /**< of the model's builder */
    WNNOperandDescriptor descriptor;
    bool boolean; /**< the file calls it bool; its elements are uint8 of 0 and 1 */
    /**
     * Of an output whose size is known at run time only: another output, NAME.shape[D], an int32 scalar with the number of
     * valid elements along countedDimension, D.  The descriptor has the upper bound, and elements after the valid
     * ones are undefined.  NULL if all elements are valid.
     */
    WNNOperand WNN_NULLABLE count;
    size_t countedDimension;
} WNNModelPort;

/**
 * Reads a file or a folder; the format is detected from its contents.  options may be NULL.  *model is the caller's
 * (wnnModelRelease), and NULL after a failure: TypeError for invalid options, DataError for a model that
 * cannot be read, also one that exceeds its budget, UnknownError if memory runs out.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnModelRead(WNNContext context, char const *path,
                                               WNNModelOptions const *WNN_NULLABLE options, WNNModel *model);
/**
 * Does the same with a model in memory: ONNX, .webnn text or JSON.  The bytes are not needed after the call.  Without
 * options.path no file is opened, so that a model with weights in other files is refused.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnModelReadMemory(WNNContext context, void const *data, size_t byteLength,
                                                     WNNModelOptions const *WNN_NULLABLE options, WNNModel *model);
/** Takes a reference; any thread may. */
WNN_EXPORT void wnnModelAddRef(WNNModel model);
/** Drops a reference; the last one frees the model and its builder, but not built graphs.  NULL is allowed. */
WNN_EXPORT void wnnModelRelease(WNNModel WNN_NULLABLE model);
/** Returns the model's name in the file, or "".  It is valid as long as the model. */
WNN_EXPORT WNNStringView wnnModelGetName(WNNModel model);
/** Returns lines about values that were read differently than given, or "".  They are valid as long as the model. */
WNN_EXPORT WNNStringView wnnModelGetNotes(WNNModel model);
/** Returns the number of inputs, without those that were made constants. */
WNN_EXPORT size_t wnnModelGetInputCount(WNNModel model);
/** Returns the number of outputs. */
WNN_EXPORT size_t wnnModelGetOutputCount(WNNModel model);
/** Describes an input, in the file's order.  Fails with TypeError if there are fewer; *port does not change then. */
WNN_EXPORT WNNStatus wnnModelGetInput(WNNModel model, size_t index, WNNModelPort *port);
/** Describes an output, in the file's order.  Fails with TypeError if there are fewer; *port does not change then. */
WNN_EXPORT WNNStatus wnnModelGetOutput(WNNModel model, size_t index, WNNModelPort *port);
/** Returns the builder that holds the network, for further calls.  It is the model's: add a reference to keep it.
 */
WNN_EXPORT WNNGraphBuilder wnnModelGetBuilder(WNNModel model);
/**
 * Builds the network with its named outputs, like wnnGraphBuilderBuild, with its errors.  A builder builds once: a
 * second call is an InvalidStateError.  *graph is the caller's, and NULL after a failure.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnModelBuild(WNNModel model, WNNGraph *graph);
/**
 * Returns whether the output of that name counts the valid elements of another one (WNNModelPort.count), judged by its
 * name alone: NAME.shape[D].  Then *of is NAME, a part of `name`, and *dimension D; else they do not change.
 */
WNN_EXPORT bool wnnModelIsCount(WNNStringView name, WNNStringView *of, size_t *dimension);
/* ------------------------------------------------------------------------------------------------ descriptions */

/** Holds a file's description of its model.  It does not change, so any thread may query it. */
typedef struct WNNModelInfoImpl *WNNModelInfo;

/** Describes an input or an output as a file declares it.  All of it is valid as long as the description. */
typedef struct WNNModelDeclaration {
    WNNStringView name;
    WNNOperandDataType dataType; /**< Undefined if the file has none, or WebNN does not support it */
    bool boolean;                /**< the file's type is bool; elements are uint8 of 0 and 1 */
    bool hasShape;               /**< the file has its rank; outputs of .webnn text and JSON have neither type nor shape */
    size_t rank;
    WNNModelDimension const *dimensions; /**< a size of 0 is free: bound by that name, or only by a shape if the name is "" */
} WNNModelDeclaration;

/** Names a free dimension of inputs, and its largest size. */
typedef struct WNNModelFreeDimension {
    WNNStringView name;
    uint32_t largest;
} WNNModelFreeDimension;

/**
 * Holds a piece of metadata of a file.  Of ONNX these are producer_name, producer_version, domain, model_version,
 * doc_string, graph.doc_string, ir_version and, for every operator set, opset_import.DOMAIN; then its metadata_props by their
 * own keys.  Other formats have none.
 */
typedef struct WNNModelMetadata {
    WNNStringView key;
    WNNStringView value;
    bool custom; /**< of metadata_props: the key is defined by the file */
} WNNModelMetadata;

/**
 * Describes a file or a folder without reading weights.  *info is the caller's (wnnModelInfoRelease), and NULL after a
 * failure: DataError for anything but a model, TypeError for a path that is NULL, UnknownError if memory runs out.  A
 * described model may still fail to build.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnModelDescribe(char const *path, WNNModelInfo *info);
/** Does the same with a model in memory: ONNX, .webnn text or JSON.  The bytes are not needed after the call. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnModelDescribeMemory(void const *data, size_t byteLength, WNNModelInfo *info);
/** Takes a reference; any thread may. */
WNN_EXPORT void wnnModelInfoAddRef(WNNModelInfo info);
/** Drops a reference.  NULL is allowed. */
WNN_EXPORT void wnnModelInfoRelease(WNNModelInfo WNN_NULLABLE info);
/** Returns the model's name in the file, or "".  It is valid as long as the description. */
WNN_EXPORT WNNStringView wnnModelInfoGetName(WNNModelInfo info);
/** Returns "onnx", "webnn", "json" or "manifest".  It has static storage. */
WNN_EXPORT WNNStringView wnnModelInfoGetFormat(WNNModelInfo info);
/** Returns the number of inputs, without those that have values in the file. */
WNN_EXPORT size_t wnnModelInfoGetInputCount(WNNModelInfo info);
/** Returns the number of outputs. */
WNN_EXPORT size_t wnnModelInfoGetOutputCount(WNNModelInfo info);
/** Returns the number of free dimensions with names. */
WNN_EXPORT size_t wnnModelInfoGetFreeDimensionCount(WNNModelInfo info);
/** Returns the number of pieces of metadata. */
WNN_EXPORT size_t wnnModelInfoGetMetadataCount(WNNModelInfo info);
/** Describes an input, in the file's order.  Fails with TypeError if there are fewer, and *input does not change, as below. */
WNN_EXPORT WNNStatus wnnModelInfoGetInput(WNNModelInfo info, size_t index, WNNModelDeclaration *input);
/** Describes an output, in the file's order. */
WNN_EXPORT WNNStatus wnnModelInfoGetOutput(WNNModelInfo info, size_t index, WNNModelDeclaration *output);
/** Names a free dimension, in the order of the inputs. */
WNN_EXPORT WNNStatus wnnModelInfoGetFreeDimension(WNNModelInfo info, size_t index, WNNModelFreeDimension *dimension);
/** Returns a piece of metadata, in the file's order. */
WNN_EXPORT WNNStatus wnnModelInfoGetMetadata(WNNModelInfo info, size_t index, WNNModelMetadata *metadata);
/**
 * Escapes text, which may come from an untrusted file, for display: control, bidirectional and invisible
 * characters become their numbers.  buffer gets at most size bytes with a NUL; longer text is truncated.  Returns
 * buffer.
 */
WNN_EXPORT char const *wnnModelEscape(WNNStringView text, char *buffer, size_t size);

/* ------------------------------------------------------------------------------------------------ many shapes */

/**
 * Holds a model whose inputs vary in size, and builds a graph for each requested combination of sizes.  Graphs
 * are kept and reused, the least recently used is evicted first, and a folder may keep them for the next start.
 * Any thread may use it.
 */
typedef struct WNNDynamicModelImpl *WNNDynamicModel;

/** The options of a dynamic model.  Begin with WNN_DYNAMIC_MODEL_OPTIONS_INIT. */
typedef struct WNNDynamicModelOptions {
    size_t structSize;
    /**
     * Common to all graphs: sizes, shapes, constants, weights, budget, bounds of sizes (names); NULL for none.  It is copied.
     * It must have no builder, since every graph has its own.
     */
    WNNModelOptions const *WNN_NULLABLE model;
    /** How many graphs are kept at a time; 0 for 16. */
    size_t graphLimit;
    /**
     * A folder of built graphs (wnnGraphSave); NULL for none.  It is created if its parent exists.
     * It must belong to the user and be writable by no other user, because its files hold code.  Models and processes may
     * share one.
     */
    char const *WNN_NULLABLE folder;
    /** Is called by every build, and may end it (wnnGraphBuilderSetProgress), on several threads at once. */
    WNNBuildProgressCallbackInfo progress;
    /**
     * The limit in bytes of all graphs in the folder, those of other models and processes included; 0 for 16 GiB.
     * When a saved graph exceeds it, the least recently used ones are deleted until seven eighths are in use.
     */
    uint64_t folderLimit;
} WNNDynamicModelOptions;

#define WNN_DYNAMIC_MODEL_OPTIONS_INIT                                                                                         \
    WNN_INIT_(WNNDynamicModelOptions, {sizeof(WNNDynamicModelOptions), NULL, 0, NULL, {NULL, NULL, NULL}, 0})

/** The statistics of a dynamic model.  The library writes all of it, so the struct never changes. */
typedef struct WNNDynamicModelCounts {
    uint64_t found;   /**< graphs that were reused */
    uint64_t built;   /**< graphs that were read and compiled */
    uint64_t loaded;  /**< graphs from the folder */
    uint64_t saved;   /**< graphs that were written to the folder */
    uint64_t unsaved; /**< graphs that could not be written: no room, a limit that one alone exceeds, or an engine that
                       * saves none */
    uint64_t evicted; /**< graphs that were evicted for newer ones */
    uint64_t held;    /**< graphs that are kept */
} WNNDynamicModelCounts;

/**
 * Opens a file or a folder.  Nothing is built; the file stays mapped and must not be written to.  Weights are read in
 * place, not copied for each graph.  options may be NULL.  *model is the caller's (wnnDynamicModelRelease), and NULL after
 * a failure: TypeError for options and for a folder that other users can write to, DataError for anything but a model,
 * UnknownError if memory runs out.  It keeps the context alive.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnDynamicModelCreate(WNNContext context, char const *path,
                                                        WNNDynamicModelOptions const *WNN_NULLABLE options,
                                                        WNNDynamicModel *model);
/** Does the same with a copy of a model in memory: ONNX, .webnn text or JSON. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnDynamicModelCreateFromMemory(WNNContext context, void const *data, size_t byteLength,
                                                                  WNNDynamicModelOptions const *WNN_NULLABLE options,
                                                                  WNNDynamicModel *model);
/** Takes a reference. */
WNN_EXPORT void wnnDynamicModelAddRef(WNNDynamicModel model);
/** Drops a reference; returned graphs stay.  NULL is allowed. */
WNN_EXPORT void wnnDynamicModelRelease(WNNDynamicModel WNN_NULLABLE model);
/** Returns the description of the model, which is valid as long as the model. */
WNN_EXPORT WNNModelInfo wnnDynamicModelGetInfo(WNNDynamicModel model);
/**
 * Returns the graph for these sizes: dimensions by name, and shapes of inputs, which bind the names in them.  Requests
 * with the same sizes get the same graph.  A graph that is not kept is loaded or built during the call;
 * other threads that request the same sizes wait, those that request others do not.  *graph is the
 * caller's (wnnGraphRelease), and NULL after a failure: TypeError for a name that the model does not have and for sizes that
 * conflict with each other or the model, DataError and the errors of wnnGraphBuilderBuild for a graph that cannot be read or
 * built.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnDynamicModelGetGraph(WNNDynamicModel model, size_t dimensionCount,
                                                          WNNModelDimension const *WNN_NULLABLE dimensions, size_t shapeCount,
                                                          WNNModelShape const *WNN_NULLABLE shapes, WNNGraph *graph);
/** Drops all kept graphs to free their memory.  Graphs in use and saved files stay. */
WNN_EXPORT void wnnDynamicModelClear(WNNDynamicModel model);
/**
 * Returns how often the file has been read: once for all sizes, and again for sizes of 0, unless an
 * operator must know a size: then *reason, a pointer that may be NULL, names those nodes, and is valid as long as the model;
 * else it is NULL.
 */
WNN_EXPORT uint64_t wnnDynamicModelGetReadCount(WNNDynamicModel model, char const *WNN_NULLABLE *WNN_NULLABLE reason);
/**
 * Returns the notes (wnnModelGetNotes) of the first reading that has some, or "" until then.  They are valid as long as the
 * model.
 */
WNN_EXPORT WNNStringView wnnDynamicModelGetNotes(WNNDynamicModel model);
/** Writes the counts. */
WNN_EXPORT void wnnDynamicModelGetCounts(WNNDynamicModel model, WNNDynamicModelCounts *counts);

/* ------------------------------------------------------------------------------------------------ errors */

/** Returns the message of the last call of this header that failed on this thread.  It is valid until the next failure. */
WNN_EXPORT WNNStringView wnnModelGetLastErrorMessage(void);

#ifdef __cplusplus
}
#endif

#endif

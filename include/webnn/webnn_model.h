/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/**
 * @file webnn_model.h
 * Reads model files: ONNX, .webnn text, its JSON twin, and folders with a manifest.json.  It belongs to libwebnn_model, a
 * library next to libwebnn (pkg-config: webnn_model, CMake: webnn::model).
 *
 *     WNNModelDimension batch = {WNN_STR("batch"), 1};
 *     WNNModelOptions options = WNN_MODEL_OPTIONS_INIT;
 *     options.dimensionCount = 1;
 *     options.dimensions = &batch;
 *     if (wnnModelRead(context, "model.onnx", &options, &model) == WNNStatus_Success)
 *         status = wnnModelBuild(model, &graph);
 *
 * A model that was read is a graph builder with the whole network, its inputs and its outputs.  wnnModelBuild builds it as it
 * is; a program may also add operators of its own to wnnModelGetBuilder and build that, or read the model into a builder of its
 * own (WNNModelOptions.builder), after operands that it has made.
 *
 * wnnModelDescribe tells what a file declares before anything is bound or built: inputs, outputs, free dimensions, metadata.
 *
 * Functions that can fail return a WNNStatus as those of webnn.h do; the message is wnnModelGetLastErrorMessage(), per thread.
 * Nothing in a file is trusted: whatever it holds, the answer is a model or a DataError, and reading stops at the budget.
 * docs/model.md has the rules.
 */
#ifndef WEBNN_WEBNN_MODEL_H_
#define WEBNN_WEBNN_MODEL_H_

#include "webnn/webnn.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Holds a model that was read.  Several threads may ask it; one at a time may build it or use its builder. */
typedef struct WNNModelImpl *WNNModel;

/**
 * Gives the size of a dimension that the model leaves open by a name.  With size 0, which only ONNX takes, inputs that have it
 * are empty: they are no inputs of the graph, and vanish where they meet what has elements (docs/model.md).
 */
typedef struct WNNModelDimension {
    WNNStringView name;
    uint32_t size;
} WNNModelDimension;

/**
 * Gives the shape of an input, which must agree with the dimensions that the model fixes.  The rank is 12 at most.  An
 * initializer of an ONNX file that is one of its inputs, too, is a default, and no input of the graph unless it gets a shape.
 */
typedef struct WNNModelShape {
    WNNStringView name;
    size_t rank;
    uint32_t const *WNN_NULLABLE shape;
} WNNModelShape;

/**
 * Makes an input a constant, for models that take shapes or switches as inputs.  The elements are row-major, as many bytes as
 * the descriptor says; they are copied, and converted to the input's type where no value is lost.  The rank is 12 at most.
 */
typedef struct WNNModelConstant {
    WNNStringView name;
    WNNOperandDescriptor descriptor;
    void const *data;
    size_t byteLength;
} WNNModelConstant;

/** Says how a model is read.  Begin with WNN_MODEL_OPTIONS_INIT; webnn_options.h says what structSize is for. */
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
    /** For wnnModelReadMemory: the path that the model would have as a file, which says where the files next to it are. */
    char const *WNN_NULLABLE path;
    /** What reading and building may take; a member that is 0 is the context's, or grows with the model's files. */
    WNNBudget budget;
    /**
     * A builder of the program's own, which the network is added to; NULL for one of the model's.  It must have no error and
     * be of the same context.  Its budget stays unless `budget` says another one.  After a failure it holds a part of the
     * network and is of no use any more.
     */
    WNNGraphBuilder WNN_NULLABLE builder;
    /**
     * Operands of that builder that take the place of inputs: their types are the inputs', and their shapes bind dimensions.
     * The model then has no such input.  A manifest takes none.
     */
    size_t operandCount;
    WNNNamedOperand const *WNN_NULLABLE operands;
    /** The outputs that are wanted, by name, in this order; none for all of them.  What only the others need is not built. */
    size_t outputCount;
    WNNStringView const *WNN_NULLABLE outputs;
} WNNModelOptions;

#define WNN_MODEL_OPTIONS_INIT                                                                                                 \
    WNN_INIT_(WNNModelOptions, {sizeof(WNNModelOptions), 0, NULL, 0, NULL, 0, NULL, NULL, NULL, {0, 0}, NULL, 0, NULL, 0, NULL})

/** Describes an input or an output of a model.  Everything in it lives as long as the model. */
typedef struct WNNModelPort {
    WNNStringView name;
    WNNOperand operand; /**< of the model's builder */
    WNNOperandDescriptor descriptor;
    bool boolean; /**< the file calls it bool; its elements are uint8 of 0 and 1 */
    /**
     * Of an output whose size is known at run time only: another output, NAME.shape[D], an int32 scalar, which says how many
     * elements along countedDimension, D, count.  The descriptor has the most that there can be, and what follows those that
     * count has any numbers.  NULL where all elements count.
     */
    WNNOperand WNN_NULLABLE count;
    size_t countedDimension;
} WNNModelPort;

/**
 * Reads a file or a folder; its contents tell of which kind it is.  options may be NULL.  *model is the caller's
 * (wnnModelRelease), and NULL after a failure: TypeError for options that are wrong in themselves, DataError for a model that
 * cannot be read, which includes one that needs more than its budget, UnknownError if memory runs out.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnModelRead(WNNContext context, char const *path,
                                               WNNModelOptions const *WNN_NULLABLE options, WNNModel *model);
/**
 * Does the same with a model in memory: ONNX, .webnn text or JSON.  The bytes are not needed once the call is over.  Without
 * options.path no file is opened, so that a model whose weights lie in other files is refused.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnModelReadMemory(WNNContext context, void const *data, size_t byteLength,
                                                     WNNModelOptions const *WNN_NULLABLE options, WNNModel *model);
/** Takes a reference; any thread may. */
WNN_EXPORT void wnnModelAddRef(WNNModel model);
/** Gives a reference back; with the last one the model and its builder go, but not graphs that were built.  NULL is allowed. */
WNN_EXPORT void wnnModelRelease(WNNModel WNN_NULLABLE model);
/** Returns the name that the file has for the model, or "".  It lives as long as the model. */
WNN_EXPORT WNNStringView wnnModelGetName(WNNModel model);
/** Returns lines about what was taken otherwise than it was given, or "".  They live as long as the model. */
WNN_EXPORT WNNStringView wnnModelGetNotes(WNNModel model);
/** Returns how many inputs there are; those that were made constants are none. */
WNN_EXPORT size_t wnnModelGetInputCount(WNNModel model);
/** Returns how many outputs there are. */
WNN_EXPORT size_t wnnModelGetOutputCount(WNNModel model);
/** Describes an input, in the file's order.  A TypeError if there are fewer; *port is left alone then. */
WNN_EXPORT WNNStatus wnnModelGetInput(WNNModel model, size_t index, WNNModelPort *port);
/** Describes an output, in the file's order.  A TypeError if there are fewer; *port is left alone then. */
WNN_EXPORT WNNStatus wnnModelGetOutput(WNNModel model, size_t index, WNNModelPort *port);
/** Returns the builder that holds the network, for calls of the program's own.  It is the model's: add a reference to keep it.
 */
WNN_EXPORT WNNGraphBuilder wnnModelGetBuilder(WNNModel model);
/**
 * Builds the network with its outputs by their names, as wnnGraphBuilderBuild does, with its errors.  A builder builds once: a
 * second call is an InvalidStateError.  *graph is the caller's, and NULL after a failure.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnModelBuild(WNNModel model, WNNGraph *graph);
/**
 * Returns whether the output of that name says how many elements of another one count (WNNModelPort.count), as it does by its
 * name alone: NAME.shape[D].  Then *of is NAME, a part of `name`, and *dimension D; else they are left alone.
 */
WNN_EXPORT bool wnnModelIsCount(WNNStringView name, WNNStringView *of, size_t *dimension);
/* ------------------------------------------------------------------------------------------------ descriptions */

/** Holds what a file says about its model.  It does not change, so any thread may ask it. */
typedef struct WNNModelInfoImpl *WNNModelInfo;

/** Describes an input or an output as a file declares it.  Everything in it lives as long as the description. */
typedef struct WNNModelDeclaration {
    WNNStringView name;
    WNNOperandDataType dataType; /**< Undefined where the file does not say it, or WebNN does not have it */
    bool boolean;                /**< the file calls it bool; its elements are uint8 of 0 and 1 */
    bool hasShape;               /**< the file says its rank; outputs of .webnn text and JSON have neither type nor shape */
    size_t rank;
    WNNModelDimension const *dimensions; /**< a size of 0 is open: by that name, or only by a shape where the name is "" */
} WNNModelDeclaration;

/** Names a dimension of inputs that the file leaves open, and the largest size that it takes. */
typedef struct WNNModelFreeDimension {
    WNNStringView name;
    uint32_t largest;
} WNNModelFreeDimension;

/**
 * Holds something that a file says about itself.  Of ONNX these are producer_name, producer_version, domain, model_version,
 * doc_string, graph.doc_string, ir_version and, for every operator set, opset_import.DOMAIN; then its metadata_props by their
 * own keys.  Other formats have none.
 */
typedef struct WNNModelMetadata {
    WNNStringView key;
    WNNStringView value;
    bool custom; /**< of metadata_props: the key is the file's own */
} WNNModelMetadata;

/**
 * Describes a file or a folder, of which weights are not read.  *info is the caller's (wnnModelInfoRelease), and NULL after a
 * failure: DataError for anything but a model, TypeError for a path that is NULL, UnknownError if memory runs out.  That a
 * model is described does not say that it can be built.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnModelDescribe(char const *path, WNNModelInfo *info);
/** Does the same with a model in memory: ONNX, .webnn text or JSON.  The bytes are not needed once the call is over. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnModelDescribeMemory(void const *data, size_t byteLength, WNNModelInfo *info);
/** Takes a reference; any thread may. */
WNN_EXPORT void wnnModelInfoAddRef(WNNModelInfo info);
/** Gives a reference back.  NULL is allowed. */
WNN_EXPORT void wnnModelInfoRelease(WNNModelInfo WNN_NULLABLE info);
/** Returns the name that the file has for the model, or "".  It lives as long as the description. */
WNN_EXPORT WNNStringView wnnModelInfoGetName(WNNModelInfo info);
/** Returns "onnx", "webnn", "json" or "manifest".  It has static storage. */
WNN_EXPORT WNNStringView wnnModelInfoGetFormat(WNNModelInfo info);
/** Returns how many inputs there are; those that the file has values for are none. */
WNN_EXPORT size_t wnnModelInfoGetInputCount(WNNModelInfo info);
/** Returns how many outputs there are. */
WNN_EXPORT size_t wnnModelInfoGetOutputCount(WNNModelInfo info);
/** Returns how many names of open dimensions the inputs have. */
WNN_EXPORT size_t wnnModelInfoGetFreeDimensionCount(WNNModelInfo info);
/** Returns how many pieces of metadata there are. */
WNN_EXPORT size_t wnnModelInfoGetMetadataCount(WNNModelInfo info);
/** Describes an input, in the file's order.  A TypeError if there are fewer; *input is left alone then, as in the next ones. */
WNN_EXPORT WNNStatus wnnModelInfoGetInput(WNNModelInfo info, size_t index, WNNModelDeclaration *input);
/** Describes an output, in the file's order. */
WNN_EXPORT WNNStatus wnnModelInfoGetOutput(WNNModelInfo info, size_t index, WNNModelDeclaration *output);
/** Names an open dimension, in the order in which the inputs mention them. */
WNN_EXPORT WNNStatus wnnModelInfoGetFreeDimension(WNNModelInfo info, size_t index, WNNModelFreeDimension *dimension);
/** Gives a piece of metadata, in the file's order. */
WNN_EXPORT WNNStatus wnnModelInfoGetMetadata(WNNModelInfo info, size_t index, WNNModelMetadata *metadata);
/**
 * Writes text, which may come from an untrusted file, so that it can be shown: control, bidirectional and invisible
 * characters are written as their numbers.  buffer gets at most size bytes with a NUL; what does not fit is cut off.  Returns
 * buffer.
 */
WNN_EXPORT char const *wnnModelEscape(WNNStringView text, char *buffer, size_t size);

/* ------------------------------------------------------------------------------------------------ many shapes */

/**
 * Holds a model whose inputs have sizes that change, and builds a graph for each combination of sizes that is asked for. Graphs
 * are kept and given again, the one that was asked for longest ago goes first, and a folder may keep them for the next start.
 * Any thread may use it.
 */
typedef struct WNNDynamicModelImpl *WNNDynamicModel;

/** Says how a dynamic model is kept.  Begin with WNN_DYNAMIC_MODEL_OPTIONS_INIT. */
typedef struct WNNDynamicModelOptions {
    size_t structSize;
    /**
     * Common to all graphs: sizes, shapes, constants, weights, budget; NULL for nothing.  It is copied.  A builder
     * cannot be given, since every graph has its own.
     */
    WNNModelOptions const *WNN_NULLABLE model;
    /** How many graphs are kept at a time; 0 for 16. */
    size_t graphLimit;
    /**
     * A folder in which built graphs are saved (wnnGraphSave) and found again; NULL for none.  It is made if its parent exists,
     * and must be the user's own and writable by no other user, because its files hold code.  Several models and processes may
     * share one.
     */
    char const *WNN_NULLABLE folder;
    /** Is told of every build, and may end it, as wnnGraphBuilderSetProgress says; it may run on several threads at once. */
    WNNBuildProgressCallbackInfo progress;
    /**
     * How many bytes the graphs in the folder may have together, those of other models and processes included; 0 for 16 GiB.
     * When a saved graph exceeds it, those that were not used for the longest time are deleted, until seven eighths are in use.
     */
    uint64_t folderLimit;
} WNNDynamicModelOptions;

#define WNN_DYNAMIC_MODEL_OPTIONS_INIT                                                                                         \
    WNN_INIT_(WNNDynamicModelOptions, {sizeof(WNNDynamicModelOptions), NULL, 0, NULL, {NULL, NULL, NULL}, 0})

/** Counts what a dynamic model has done so far.  The library writes all of it, so the struct stays as it is. */
typedef struct WNNDynamicModelCounts {
    uint64_t found;   /**< graphs that were given again */
    uint64_t built;   /**< graphs that were read and compiled */
    uint64_t loaded;  /**< graphs from the folder */
    uint64_t saved;   /**< graphs that were written to the folder */
    uint64_t unsaved; /**< graphs that could not be written: no room, a limit that one alone exceeds, or an engine that
                       * saves none */
    uint64_t evicted; /**< graphs that were given up for newer ones */
    uint64_t held;    /**< graphs that are kept */
} WNNDynamicModelCounts;

/**
 * Opens a file or a folder.  Nothing is built; the file stays mapped and must not be written to.  Weights are read where they
 * lie in it, not copied for each graph.  options may be NULL.  *model is the caller's (wnnDynamicModelRelease), and NULL after
 * a failure: TypeError for options and for a folder that is not the user's alone, DataError for anything but a model,
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
/** Gives a reference back; graphs that were given out stay.  NULL is allowed. */
WNN_EXPORT void wnnDynamicModelRelease(WNNDynamicModel WNN_NULLABLE model);
/** Returns the description of the model, which lives as long as the model. */
WNN_EXPORT WNNModelInfo wnnDynamicModelGetInfo(WNNDynamicModel model);
/**
 * Gives the graph for these sizes: dimensions by their names, and shapes of inputs, which bind the names in them.  Two requests
 * that come to the same sizes get the same graph.  A graph that is not kept is loaded or built, and the call takes as long as
 * that does; another thread that asks for the same sizes meanwhile waits, one that asks for others does not.  *graph is the
 * caller's (wnnGraphRelease), and NULL after a failure: TypeError for a name that the model does not have and for sizes that
 * contradict each other or the model, DataError and the errors of wnnGraphBuilderBuild for a graph that cannot be read or
 * built.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnDynamicModelGetGraph(WNNDynamicModel model, size_t dimensionCount,
                                                          WNNModelDimension const *WNN_NULLABLE dimensions, size_t shapeCount,
                                                          WNNModelShape const *WNN_NULLABLE shapes, WNNGraph *graph);
/** Gives up all graphs that are kept, to have their memory back.  Those that were given out stay, and so do saved files. */
WNN_EXPORT void wnnDynamicModelClear(WNNDynamicModel model);
/**
 * Returns how often the file has been read.  Graphs of all sizes are made of one reading, another one for sizes of 0, unless an
 * operator must know a size: then *reason, which may be NULL, says which nodes those are, and lives as long as the model; else
 * it is NULL.
 */
WNN_EXPORT uint64_t wnnDynamicModelGetReadCount(WNNDynamicModel model, char const *WNN_NULLABLE *WNN_NULLABLE reason);
/** Writes the counts. */
WNN_EXPORT void wnnDynamicModelGetCounts(WNNDynamicModel model, WNNDynamicModelCounts *counts);

/* ------------------------------------------------------------------------------------------------ errors */

/** Returns the message of the last call of this header that failed in this thread.  It is valid until the next one fails. */
WNN_EXPORT WNNStringView wnnModelGetLastErrorMessage(void);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/**
 * @file webnn_model.h
 * Reads model files: ONNX, .webnn text, its JSON twin, and folders with a manifest.json.  It belongs to libwebnn_model, a
 * library beside libwebnn (pkg-config: webnn_model, CMake: webnn::model).
 *
 *     WNNModelDimension batch = {WNN_STR("batch"), 1};
 *     WNNModelOptions options = WNN_MODEL_OPTIONS_INIT;
 *     options.dimensionCount = 1;
 *     options.dimensions = &batch;
 *     if (wnnModelRead(context, "model.onnx", &options, &model) == WNNStatus_Success)
 *         status = wnnModelBuild(model, &graph);
 *
 * A model that was read is a graph builder with the whole network, its inputs and its outputs.  wnnModelBuild builds it as it
 * is; a program may also add operators of its own to wnnModelGetBuilder and build that.
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

/** Gives the size of a dimension that the model leaves open by a name. */
typedef struct WNNModelDimension {
    WNNStringView name;
    uint32_t size;
} WNNModelDimension;

/** Gives the shape of an input, which must agree with the dimensions that the model fixes.  The rank is 8 at most. */
typedef struct WNNModelShape {
    WNNStringView name;
    size_t rank;
    uint32_t const *WNN_NULLABLE shape;
} WNNModelShape;

/**
 * Makes an input a constant, for models that take shapes or switches as inputs.  The elements are row-major, as many bytes as
 * the descriptor says; they are copied, and converted to the input's type where no value is lost.  The rank is 8 at most.
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
    /** The file of weights of a .webnn text or JSON; NULL for the one beside it with its name. */
    char const *WNN_NULLABLE weightsPath;
    /** For wnnModelReadMemory: the path that the model would have as a file, which says where files beside it lie. */
    char const *WNN_NULLABLE path;
    /** What reading and building may take; a member that is 0 is the context's, or grows with the model's files. */
    WNNBudget budget;
} WNNModelOptions;

#define WNN_MODEL_OPTIONS_INIT                                                                                                 \
    WNN_INIT_(WNNModelOptions, {sizeof(WNNModelOptions), 0, NULL, 0, NULL, 0, NULL, NULL, NULL, {0, 0}})

/** Describes an input or an output of a model.  Everything in it lives as long as the model. */
typedef struct WNNModelPort {
    WNNStringView name;
    WNNOperand operand; /**< of the model's builder */
    WNNOperandDescriptor descriptor;
    bool boolean; /**< the file calls it bool; its elements are uint8 of 0 and 1 */
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
/** Returns the message of the last call of this header that failed in this thread.  It is valid until the next one fails. */
WNN_EXPORT WNNStringView wnnModelGetLastErrorMessage(void);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/**
 * @file webnn.h
 * The Web Neural Network API (W3C Candidate Recommendation Draft of 2026-05-21) for C and C++ programs.
 *
 * The interfaces of the specification, after the conventions of webgpu.h:
 *
 * - Objects are opaque handles with a reference count.  A function named `Create...`, `Build` or `Load...` gives the caller
 *   one reference, to be given back with the type's `Release`; `AddRef` takes another.  Operands are the exception: they
 *   belong to their builder, are valid as long as it is, and need no release (so calls can be nested); AddRef and Release on
 *   an operand count on its builder.
 * - Every option dictionary of the specification is a struct; its `WNN_..._INIT` macro carries the specification's
 *   defaults.  A NULL options pointer means "all defaults".
 * - A sequence is a count and a pointer.  In option structs a sequence whose pointer is NULL is absent, which is not the
 *   same as a present, empty one (any non-NULL pointer with a count of 0).
 * - Strings are UTF-8 with a length (WNNStringView); length WNN_STRLEN means NUL-terminated.
 * - Functions that can fail return a WNNStatus whose values are the specification's error kinds.  The message of a failed
 *   call names operator, [label], operand and the two values that disagree: wnnGetLastErrorMessage() (per thread).
 *   Builder calls that return an operand return an error operand instead and keep the first error in the builder
 *   (wnnGraphBuilderGetError).
 * - Asynchronous functions return a WNNFuture and report through a callback; each has a synchronous form beside it.
 *
 * This file has contexts, tensors, graphs and builders; it includes webnn_types.h, webnn_options.h and webnn_operators.h.
 *
 * The library never exits, aborts or prints, keeps no process-wide state that a caller could see, and starts no thread
 * before the first asynchronous call.
 */
#ifndef WEBNN_WEBNN_H_
#define WEBNN_WEBNN_H_

#include "webnn/webnn_operators.h"
#include "webnn/webnn_options.h"
#include "webnn/webnn_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------ WNNContext */

/** MLContextOptions, and what a native program can choose beyond them. */
typedef struct WNNContextOptions {
    WNNPowerPreference powerPreference;
    bool accelerated;                /**< ask for a massively parallel device; the CPU engine serves either way */
    uint32_t threadCount;            /**< threads per computation; 0: OMP_NUM_THREADS, else all processors */
    WNNStringView debug;             /**< debug switches as in the WEBNN_DEBUG variable, see docs/debugging.md */
    WNNContextLostCallbackInfo lost; /**< called once when the context is lost (MLContext.lost); as there is no
                                          future to wait for, modes other than AllowSpontaneous: by wnnContextProcessEvents */
    WNNPrecision precision;          /**< how exact convolutions and matrix products have to be, in graphs built here */
} WNNContextOptions;

#define WNN_CONTEXT_OPTIONS_INIT                                                                                               \
    WNN_INIT_(WNNContextOptions, {WNNPowerPreference_Default,                                                                  \
                                  true,                                                                                        \
                                  0,                                                                                           \
                                  {NULL, 0},                                                                                   \
                                  {WNNCallbackMode_AllowSpontaneous, NULL, NULL, NULL},                                        \
                                  WNNPrecision_Float32})

/** Creates a context (ML.createContext).  NotSupportedError if no engine fits.  *context is NULL unless Success. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnCreateContext(WNNContextOptions const *WNN_NULLABLE options, WNNContext *context);
/** Takes another reference.  This and Release: any thread; NULL does nothing; the same for every type below. */
WNN_EXPORT void wnnContextAddRef(WNNContext context);
/** Gives a reference back.  Builders, graphs and tensors keep their context alive; with the last reference of all of these the
 * context goes, after the work already submitted. */
WNN_EXPORT void wnnContextRelease(WNNContext WNN_NULLABLE context);
/** Loses the context: destroys its graphs and tensors, ends what is pending with InvalidStateError.  Idempotent, never waits.
 */
WNN_EXPORT void wnnContextDestroy(WNNContext context);
/** Whether the context was destroyed, or lost for another reason.  It never comes back. */
WNN_EXPORT bool wnnContextIsLost(WNNContext context);
/** MLContext.accelerated: what the options asked for. */
WNN_EXPORT bool wnnContextGetAccelerated(WNNContext context);
/** What the options asked for. */
WNN_EXPORT WNNPowerPreference wnnContextGetPowerPreference(WNNContext context);
/** What the options asked for. */
WNN_EXPORT WNNPrecision wnnContextGetPrecision(WNNContext context);

/** Creates a tensor of zeros (MLContext.createTensor): InvalidStateError on a lost context, TypeError for a bad descriptor. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextCreateTensor(WNNContext context, WNNTensorDescriptor const *descriptor,
                                                         WNNTensor *tensor);
/** The same, reported through a callback, errors included.  descriptor is read before the call returns. */
WNN_EXPORT WNNFuture wnnContextCreateTensorAsync(WNNContext context, WNNTensorDescriptor const *descriptor,
                                                 WNNCreateTensorCallbackInfo callbackInfo);
/** Creates a constant tensor holding a copy of data (MLContext.createConstantTensor): InvalidStateError on a lost context,
 * TypeError for a bad descriptor or a byteLength that is not exactly its. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextCreateConstantTensor(WNNContext context, WNNOperandDescriptor const *descriptor,
                                                                 void const *data, size_t byteLength, WNNTensor *tensor);
/** The same, reported through a callback, errors included.  descriptor and data are read before the call returns. */
WNN_EXPORT WNNFuture wnnContextCreateConstantTensorAsync(WNNContext context, WNNOperandDescriptor const *descriptor,
                                                         void const *data, size_t byteLength,
                                                         WNNCreateTensorCallbackInfo callbackInfo);
/** Copies a tensor's contents to data once all work submitted before is done (MLContext.readTensor).  Waits.  TypeError for a
 * tensor of another context, destroyed or not readable, or a byteLength that is not exactly the tensor's; InvalidStateError
 * if the context or the tensor is destroyed meanwhile. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextReadTensor(WNNContext context, WNNTensor tensor, void *data, size_t byteLength);
/** The same without waiting: data must stay valid until the callback ran. */
WNN_EXPORT WNNFuture wnnContextReadTensorAsync(WNNContext context, WNNTensor tensor, void *data, size_t byteLength,
                                               WNNReadTensorCallbackInfo callbackInfo);
/** Submits a copy of data (taken before the call returns) into a writable tensor (MLContext.writeTensor).  TypeError as for
 * reading. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextWriteTensor(WNNContext context, WNNTensor tensor, void const *data,
                                                        size_t byteLength);
/** Submits one computation of graph and returns (MLContext.dispatch); one that takes less time than waking a thread may be done
 * by then.  If the computation fails later (no memory), the context is lost: going on with wrong contents would be worse.
 * InvalidStateError for a destroyed graph; TypeError for a graph or tensor of another context, names other than the graph's,
 * and a tensor that is given twice, destroyed, constant, or of another data type or shape. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextDispatch(WNNContext context, WNNGraph graph, size_t inputCount,
                                                     WNNNamedTensor const *inputs, size_t outputCount,
                                                     WNNNamedTensor const *outputs);

/** Waits until one of the futures has completed and its callback has run, or timeoutNS passed (UINT64_MAX: no limit).
 * Success (also if one had completed before), TimedOut, or TypeError if there is no future or one is unknown to the context. */
WNN_EXPORT WNNStatus wnnContextWaitAny(WNNContext context, size_t futureCount, WNNFuture const *futures, uint64_t timeoutNS);
/** Runs the callbacks of everything completed whose mode allows it, then returns. */
WNN_EXPORT void wnnContextProcessEvents(WNNContext context);

/* ------------------------------------------------------------------------------------------------ support limits */

/** MLRankRange */
typedef struct WNNRankRange {
    uint32_t min;
    uint32_t max;
} WNNRankRange;

/** MLTensorLimits of one operand.  dataTypes holds the bit WNN_DATA_TYPE_BIT(t) for every data type t that is supported. */
typedef struct WNNTensorLimits {
    char const *name; /**< the operand's name in the specification, such as "input", "bias" or "output0"; static storage */
    uint32_t dataTypes;
    WNNRankRange rankRange;
} WNNTensorLimits;

#define WNN_DATA_TYPE_BIT(dataType) (UINT32_C(1) << (dataType))

/** The members of MLOpSupportLimits that are no operators. */
typedef struct WNNOpSupportLimits {
    WNNInputOperandLayout preferredInputLayout;
    uint64_t maxTensorByteLength;
    WNNTensorLimits input;
    WNNTensorLimits constant;
    WNNTensorLimits output;
} WNNOpSupportLimits;

/** The largest number of operands and results that wnnContextGetOperatorSupportLimits describes. */
#define WNN_TENSOR_LIMITS_MAX 11

/** The top level of MLContext.opSupportLimits(). */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextGetOpSupportLimits(WNNContext context, WNNOpSupportLimits *limits);
/**
 * One operator's member of MLContext.opSupportLimits(): its operands, optional ones included, then its results, in the order of
 * the specification's tables.  Writes at most capacity of them to limits and their number to *count.  "Same as another
 * operand" is resolved to what that operand allows.  A builder call that keeps to it is not refused for a data type or rank.
 * TypeError if there is no operator of that name.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextGetOperatorSupportLimits(WNNContext context, WNNStringView operatorName,
                                                                     size_t capacity, WNNTensorLimits *limits, size_t *count);
/** The operators' names, such as "conv2d", by an index below the count; NULL beyond.  Static storage. */
WNN_EXPORT size_t wnnGetOperatorCount(void);
/** See wnnGetOperatorCount. */
WNN_EXPORT char const *wnnGetOperatorName(size_t index);

/* ------------------------------------------------------------------------------------------------ WNNTensor */

/** Takes another reference. */
WNN_EXPORT void wnnTensorAddRef(WNNTensor tensor);
/** Gives a reference back; with the last one memory goes behind the work already submitted, pending reads included. */
WNN_EXPORT void wnnTensorRelease(WNNTensor WNN_NULLABLE tensor);
/** MLTensor.destroy: pending reads end with InvalidStateError; memory goes behind the work already submitted. */
WNN_EXPORT void wnnTensorDestroy(WNNTensor tensor);
/** MLTensor.dataType.  This and the following answer for destroyed tensors, too. */
WNN_EXPORT WNNOperandDataType wnnTensorGetDataType(WNNTensor tensor);
/** The number of dimensions. */
WNN_EXPORT size_t wnnTensorGetRank(WNNTensor tensor);
/** MLTensor.shape: as many sizes as the rank; the tensor's. */
WNN_EXPORT uint32_t const *wnnTensorGetShape(WNNTensor tensor);
/** The bytes that reading and writing transfer. */
WNN_EXPORT size_t wnnTensorGetByteLength(WNNTensor tensor);
/** MLTensor.readable */
WNN_EXPORT bool wnnTensorGetReadable(WNNTensor tensor);
/** MLTensor.writable */
WNN_EXPORT bool wnnTensorGetWritable(WNNTensor tensor);
/** MLTensor.constant */
WNN_EXPORT bool wnnTensorGetConstant(WNNTensor tensor);

/* ------------------------------------------------------------------------------------------------ WNNGraph */

/** Takes another reference. */
WNN_EXPORT void wnnGraphAddRef(WNNGraph graph);
/** Gives a reference back; with the last one the graph goes behind the work already submitted. */
WNN_EXPORT void wnnGraphRelease(WNNGraph WNN_NULLABLE graph);
/** MLGraph.destroy: later dispatches are refused, those submitted complete. */
WNN_EXPORT void wnnGraphDestroy(WNNGraph graph);
/** The number of inputs: those that the outputs depend on, whatever was optimised away. */
WNN_EXPORT size_t wnnGraphGetInputCount(WNNGraph graph);
/** The number of outputs given to build. */
WNN_EXPORT size_t wnnGraphGetOutputCount(WNNGraph graph);
/** TypeError if index is out of range.  Inputs stand in the order they were made, outputs in the order given to build. */
WNN_EXPORT WNNStatus wnnGraphGetInput(WNNGraph graph, size_t index, WNNNamedOperandDescriptor *input);
/** See wnnGraphGetInput. */
WNN_EXPORT WNNStatus wnnGraphGetOutput(WNNGraph graph, size_t index, WNNNamedOperandDescriptor *output);
/** Writes the compiled graph to a file: plan, machine code and packed weights, versioned and checksummed, for
 * wnnContextLoadGraph on this machine or one like it (docs/compiled-graphs.md).  The file is complete or not there at all; an
 * older one is replaced.  May be called on any thread while the graph computes.  TypeError for an empty path, InvalidStateError
 * for a destroyed graph or a lost context, UnknownError if the file cannot be written, NotSupportedError for a graph that was
 * loaded from a shared object. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphSave(WNNGraph graph, char const *path);
/** Makes a graph of a file that wnnGraphSave wrote, without compiling, or of a shared object that webnnc made.  The graph is
 * dispatched like a built one and gives the same results bit by bit.  Weights and code stay in the file, which is mapped: it
 * may be deleted or replaced by another meanwhile, but not be written to.  Code in a file is trusted as that of a shared
 * library is; everything else is checked.  DataError if the file is absent, damaged or something else; NotSupportedError if it
 * was made by another version of this library or of oneDNN, for a processor with more features than the context may use, or
 * with weights packed for another number of threads: then the graph is to be built anew.  InvalidStateError if the context is
 * lost. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextLoadGraph(WNNContext context, char const *path, WNNGraph *graph);
/** The same on the context's timeline, reported through a callback, errors included.  path is copied. */
WNN_EXPORT WNNFuture wnnContextLoadGraphAsync(WNNContext context, char const *path, WNNBuildCallbackInfo callbackInfo);
/** Computes on host buffers and returns when the outputs are written.  Overlapping buffers, where one of them is an output,
 * are refused with a TypeError, as are names and byte lengths other than the graph's; InvalidStateError for a destroyed graph
 * or a lost context.  Buffers need no alignment.  Runs on the calling thread when the timeline is idle. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphCompute(WNNGraph graph, size_t inputCount, WNNNamedBuffer const *inputs,
                                                  size_t outputCount, WNNNamedBuffer const *outputs);

/* ------------------------------------------------------------------------------------------------ WNNOperand */

/** Takes a reference on the operand's builder. */
WNN_EXPORT void wnnOperandAddRef(WNNOperand operand);
/** Gives a reference on the operand's builder back. */
WNN_EXPORT void wnnOperandRelease(WNNOperand WNN_NULLABLE operand);
/** MLOperand.dataType; Undefined for an error operand.  This and the following answer after build, too. */
WNN_EXPORT WNNOperandDataType wnnOperandGetDataType(WNNOperand operand);
/** The number of dimensions; 0 for an error operand. */
WNN_EXPORT size_t wnnOperandGetRank(WNNOperand operand);
/** MLOperand.shape: as many sizes as the rank; the builder's. */
WNN_EXPORT uint32_t const *wnnOperandGetShape(WNNOperand operand);
/** Whether the call that returned this operand failed. */
WNN_EXPORT bool wnnOperandIsError(WNNOperand operand);

/* ------------------------------------------------------------------------------------------------ WNNGraphBuilder */

/** MLGraphBuilder(context).  InvalidStateError if the context is lost. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextCreateGraphBuilder(WNNContext context, WNNGraphBuilder *builder);
/** Takes another reference. */
WNN_EXPORT void wnnGraphBuilderAddRef(WNNGraphBuilder builder);
/** Gives a reference back; with the last one the builder goes, and its operands with it.  Built graphs do not need it. */
WNN_EXPORT void wnnGraphBuilderRelease(WNNGraphBuilder WNN_NULLABLE builder);

/** The first error since the builder was made or cleared: Success and an empty message if there is none.
 * The message is valid until the next call on the builder. */
WNN_EXPORT WNNStatus wnnGraphBuilderGetError(WNNGraphBuilder builder, WNNStringView *WNN_NULLABLE message);
/** Forgets the first error; the next one is the first again. */
WNN_EXPORT void wnnGraphBuilderClearError(WNNGraphBuilder builder);

/** input(name, descriptor).  TypeError for an empty name, one that another input has, or a bad descriptor. */
WNN_EXPORT WNNOperand wnnGraphBuilderInput(WNNGraphBuilder builder, WNNStringView name, WNNOperandDescriptor const *descriptor);
/** constant(descriptor, buffer): copies data before it returns.  TypeError for a bad descriptor or a byteLength that is not
 * exactly its. */
WNN_EXPORT WNNOperand wnnGraphBuilderConstant(WNNGraphBuilder builder, WNNOperandDescriptor const *descriptor, void const *data,
                                              size_t byteLength);
/** constant(descriptor, buffer) without a copy: data must stay unchanged until release is called, which happens exactly
 * once, on any thread, also when this call fails. */
WNN_EXPORT WNNOperand wnnGraphBuilderConstantLent(WNNGraphBuilder builder, WNNOperandDescriptor const *descriptor,
                                                  void const *data, size_t byteLength, WNNBufferReleaseCallbackInfo release);
/** constant(dataType, value): a scalar, value cast to dataType. */
WNN_EXPORT WNNOperand wnnGraphBuilderConstantScalar(WNNGraphBuilder builder, WNNOperandDataType dataType, WNNNumber value);
/** constant(tensor): tensor must come from wnnContextCreateConstantTensor of the same context, and must not be destroyed before
 * build has been called. */
WNN_EXPORT WNNOperand wnnGraphBuilderConstantTensor(WNNGraphBuilder builder, WNNTensor tensor);
/** Copies the value of an operand that depends on constants only to data, as the reference interpreter computes it (not in the
 * specification; readers of model files take shapes and axes from it).  Takes as long as a naive computation does.  TypeError
 * if the operand depends on an input, or byteLength is not exactly the operand's; the builder stays as it is, its first error
 * too. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphBuilderGetConstantValue(WNNGraphBuilder builder, WNNOperand operand, void *data,
                                                                  size_t byteLength);

/** Compiles the graph up to outputs and waits (MLGraphBuilder.build).  A builder builds once; a call refused with TypeError
 * leaves it unbuilt: no outputs, an empty name or one given twice, an output that is an input, a constant, an error operand or
 * another builder's.  InvalidStateError if the builder has built or the context is lost, also meanwhile; OperationError if the
 * graph cannot be compiled.  *graph is NULL unless Success. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphBuilderBuild(WNNGraphBuilder builder, size_t outputCount,
                                                       WNNNamedOperand const *outputs, WNNGraph *graph);
/** The same on the context's timeline, reported through a callback, errors included.  outputs are read before it returns, and
 * the builder may be released. */
WNN_EXPORT WNNFuture wnnGraphBuilderBuildAsync(WNNGraphBuilder builder, size_t outputCount, WNNNamedOperand const *outputs,
                                               WNNBuildCallbackInfo callbackInfo);

#ifdef __cplusplus
}
#endif

#endif /* WEBNN_WEBNN_H_ */

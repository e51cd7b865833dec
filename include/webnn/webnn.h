/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/**
 * @file webnn.h
 * The Web Neural Network API in C (W3C Candidate Recommendation Draft, text of 2026-06-26, interfaces of 2026-09-28).
 *
 * It has the interfaces of the specification, by the conventions of webgpu.h:
 *
 * - Objects are opaque handles with a reference count.  A function named `Create...`, `Build` or `Load...` gives the caller
 *   one reference, which the type's `Release` drops; `AddRef` takes another.  Operands are the exception: they
 *   belong to their builder, are valid as long as it is, and need no release (so calls can be nested); AddRef and Release on
 *   an operand apply to its builder.
 * - Every option dictionary of the specification is a struct; its `WNN_..._INIT` macro carries the specification's
 *   defaults.  A NULL options pointer means "all defaults".  webnn_options.h says what a zeroed struct means.
 * - A struct whose first member is structSize may get more members in later versions (webnn_options.h says how old and new
 *   programs and libraries work together).  No other struct changes, because it is passed by value, or is
 *   part of arrays or other structs: strings, numbers, ranges, descriptors of operands, named operands, tensors and buffers,
 *   callback infos, WNNBudget, and the limits that the library writes.  Additions to one of them come as a
 *   separate struct or function.
 * - A sequence is a count and a pointer.  In option structs a sequence whose pointer is NULL is absent, which is not the
 *   same as a present, empty one (any non-NULL pointer with a count of 0).
 * - Strings are UTF-8 with a length (WNNStringView); length WNN_STRLEN means NUL-terminated.
 * - Functions that can fail return a WNNStatus whose values are the specification's error kinds.  The message of a failed
 *   call names operator, [label], operand and the two conflicting values: wnnGetLastErrorMessage() (per thread).
 *   Builder calls that return an operand return an error operand instead and keep the first error in the builder
 *   (wnnGraphBuilderGetError).
 * - Asynchronous functions return a WNNFuture and report through a callback; each has a synchronous form next to it.
 *
 * This file has contexts, tensors, graphs and builders; it includes webnn_types.h, webnn_options.h and webnn_operators.h.
 *
 * The library never exits or aborts, prints only for debug switches, and has no process-wide state visible to a
 * caller, except LLVM's handlers of fatal errors.  If memory or threads run out inside LLVM, oneDNN or libgomp, the
 * call fails or the context is lost; in a few cases those libraries end the process.  docs/failures.md lists them.
 * No thread is started before a graph is built or loaded.  The library stays mapped after dlclose, because its idle
 * threads continue.
 */
#ifndef WEBNN_WEBNN_H_
#define WEBNN_WEBNN_H_

#include "webnn/webnn_object.h"
#include "webnn/webnn_operators.h"
#include "webnn/webnn_options.h"
#include "webnn/webnn_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------ WNNContext */

/**
 * Has the members of MLContextOptions, and further options of native programs.  Begin with WNN_CONTEXT_OPTIONS_INIT:
 * in a zeroed struct (structSize 0, see webnn_options.h) accelerated has to be true, since false is not its default.
 */
typedef struct WNNContextOptions {
    size_t structSize;
    WNNPowerPreference powerPreference;
    bool accelerated;                 /**< prefers a massively parallel device: a hint for WNNEngine_Auto */
    uint32_t threadCount;             /**< threads per computation; 0 for OMP_NUM_THREADS, else all processors; fewer if the
                                       * system cannot create as many */
    WNNStringView debug;              /**< debug switches as in the WEBNN_DEBUG variable, see docs/debugging.md */
    WNNContextLostCallbackInfo lost;  /**< called once when the context is lost (MLContext.lost); as there is no future to wait
                                       * for, wnnContextProcessEvents calls it in modes other than AllowSpontaneous */
    WNNPrecision precision;           /**< how exact convolutions and matmuls have to be, in graphs built here */
    bool ignoreEnvironment;           /**< reads no environment variable: not WEBNN_DEBUG, WEBNN_ENGINE, OMP_WAIT_POLICY nor,
                                       * for threadCount 0, OMP_NUM_THREADS; programs with set-user-ID never read them */
    bool deterministic;               /**< graphs built here compute the same bits with any threadCount, on processors of one
                                           kind; some are slower, and precision has no effect (docs/semantics.md) */
    WNNBudget budget;                 /**< what every graph builder begins with */
    WNNEngine engine;                 /**< where graphs run; NotSupportedError if there is no such device.  WNNEngine_Auto
                                       * uses accelerated and powerPreference: it takes a GPU that is expected to be
                                       * faster than the processor (docs/gpu.md) */
    WNNStringView device;             /**< of WNNEngine_Gpu: the device's number, from 0, or a part of its name; if empty,
                                       * that of the variable WEBNN_ENGINE, else the first */
    WNNStringView cache;              /**< the folder of compiled kernels, and of a GPU's built programs, which must be private
                                       * to the user (docs/compiled-graphs.md); if empty, the variable WEBNN_CACHE's, else
                                       * webnn in the user's cache folder; "off" for none */
    void *openclContext;              /**< of WNNEngine_Gpu: the application's own cl_context, for graphs and tensors,
                                       * or NULL: then the context creates its own and the next two are NULL, too */
    void *openclDevice;               /**< the cl_device_id in that context; `device` is ignored then */
    void *openclQueue;                /**< the cl_command_queue of both, which must be in order; wnnContextFlush describes the
                                       * order.  The context retains it and openclContext until it is freed */
    size_t memoryLimit;               /**< limit in bytes of tensors, weights and intermediate values;
                                       * calls beyond it fail with UnknownError (builds with OperationError).  Machine
                                       * code, builders and running builds are not counted.  0 for no limit */
    WNNComputedCallbackInfo computed; /**< called with the times of every computation */
    WNNLogCallbackInfo log;           /**< called with messages about the context; debug switches print to stderr */
    struct webnn_object_parallel const *WNN_NULLABLE
        parallel;        /**< the application's parallel-for, which is copied; WNNEngine_Auto then means the processor.
                          * The context starts no thread: graphs compute on those of the parallel-for, threadCount
                          * parts at a time (0: parallel->threads), with the same bits as on as many threads of the
                          * library, and asynchronous work runs inside the call (docs/threads.md) */
    bool draftDataTypes; /**< operands may have the data types of webnn_draft.h, which may change with the draft */
} WNNContextOptions;

#define WNN_CONTEXT_OPTIONS_INIT                                                                                               \
    WNN_INIT_(WNNContextOptions, {sizeof(WNNContextOptions),                                                                   \
                                  WNNPowerPreference_Default,                                                                  \
                                  true,                                                                                        \
                                  0,                                                                                           \
                                  {NULL, 0},                                                                                   \
                                  {WNNCallbackMode_AllowSpontaneous, NULL, NULL, NULL},                                        \
                                  WNNPrecision_Float32,                                                                        \
                                  false,                                                                                       \
                                  false,                                                                                       \
                                  {0, 0},                                                                                      \
                                  WNNEngine_Auto,                                                                              \
                                  {NULL, 0},                                                                                   \
                                  {NULL, 0},                                                                                   \
                                  NULL,                                                                                        \
                                  NULL,                                                                                        \
                                  NULL,                                                                                        \
                                  0,                                                                                           \
                                  {NULL, NULL, NULL},                                                                          \
                                  {NULL, NULL, NULL},                                                                          \
                                  NULL,                                                                                        \
                                  false})

/**
 * Describes the device of that number, as in WNNContextOptions.device.  Returns false, with *device empty, if there are
 * fewer.
 */
WNN_EXPORT bool wnnGetDevice(uint32_t number, WNNDeviceInfo *device);

/**
 * Creates a context (ML.createContext) with one reference for the caller.  Fails with NotSupportedError if no engine fits.
 * *context is NULL unless Success.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnCreateContext(WNNContextOptions const *WNN_NULLABLE options, WNNContext *context);
/**
 * Takes another reference.  This and Release, here and for every type below, may be called on any thread, and do nothing with
 * NULL.
 */
WNN_EXPORT void wnnContextAddRef(WNNContext context);
/**
 * Drops a reference.  Builders, graphs and tensors keep their context alive; the last reference of all of these frees the
 * context, after the work already submitted.  Then the debug switch trace writes its file; if that fails, the reason is
 * printed on stderr and returned by wnnGetLastErrorMessage.
 */
WNN_EXPORT void wnnContextRelease(WNNContext WNN_NULLABLE context);
/**
 * Loses the context: destroys its graphs and tensors, and ends pending operations with InvalidStateError.  It never waits, and
 * may be called again.
 */
WNN_EXPORT void wnnContextDestroy(WNNContext context);
/** Returns whether the context was destroyed, or lost for another reason, which is final. */
WNN_EXPORT bool wnnContextIsLost(WNNContext context);
/**
 * Returns whether graphs run on a massively parallel device (MLContext.accelerated).  A processor is none, also as an
 * OpenCL device.
 */
WNN_EXPORT bool wnnContextGetAccelerated(WNNContext context);
/**
 * Describes the context's device: the processor, named after its kind, or an OpenCL device.  Returns false, with *device
 * empty, if the engine has no description.
 */
WNN_EXPORT bool wnnContextGetDevice(WNNContext context, WNNDeviceInfo *device);
/** Returns the option powerPreference. */
WNN_EXPORT WNNPowerPreference wnnContextGetPowerPreference(WNNContext context);
/** Returns the option precision. */
WNN_EXPORT WNNPrecision wnnContextGetPrecision(WNNContext context);
/** Returns the option deterministic. */
WNN_EXPORT bool wnnContextGetDeterministic(WNNContext context);
/** Returns the option budget. */
WNN_EXPORT WNNBudget wnnContextGetBudget(WNNContext context);

/**
 * Creates a tensor of zeros (MLContext.createTensor).  Fails with InvalidStateError on a lost context, TypeError for a bad
 * descriptor, UnknownError without memory for it: the message says how much was requested, and of a device's also how much
 * there is.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextCreateTensor(WNNContext context, WNNTensorDescriptor const *descriptor,
                                                         WNNTensor *tensor);
/** Does the same and reports through a callback, errors included.  descriptor is read before the call returns. */
WNN_EXPORT WNNFuture wnnContextCreateTensorAsync(WNNContext context, WNNTensorDescriptor const *descriptor,
                                                 WNNCreateTensorCallbackInfo callbackInfo);
/**
 * Creates a tensor that is the application's own OpenCL buffer, without a copy.  `memory` is a cl_mem of the context given in
 * WNNContextOptions.openclContext, and the tensor's bytes, dense and row-major in the descriptor's shape, begin at byteOffset,
 * which is a multiple of 16.  The tensor retains `memory` until it is destroyed and the work that uses it has ended; the
 * contents are kept.  The application orders its own commands by the queue (wnnContextFlush).  Any thread may call it.
 * Fails with InvalidStateError on a lost context, TypeError for a bad descriptor, offset or buffer, NotSupportedError on a
 * context without an openclContext.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextCreateTensorFromOpenCL(WNNContext context, WNNTensorDescriptor const *descriptor,
                                                                   void *memory, size_t byteOffset, WNNTensor *tensor);
/**
 * Returns once all writes and dispatches submitted before are in the queue of the device, in their order, without waiting for
 * their end: commands that the application then enqueues (WNNContextOptions.openclQueue) run after them, and those
 * enqueued before a submission run before it.  On a processor it waits for their end.  Any thread may call it.  Fails with
 * InvalidStateError on a lost context.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextFlush(WNNContext context);
/**
 * Creates a constant tensor holding a copy of data (MLContext.createConstantTensor).  Fails with InvalidStateError on a lost
 * context, TypeError for a bad descriptor or another byteLength than the descriptor's.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextCreateConstantTensor(WNNContext context, WNNOperandDescriptor const *descriptor,
                                                                 void const *data, size_t byteLength, WNNTensor *tensor);
/** Does the same and reports through a callback, errors included.  descriptor and data are read before the call returns. */
WNN_EXPORT WNNFuture wnnContextCreateConstantTensorAsync(WNNContext context, WNNOperandDescriptor const *descriptor,
                                                         void const *data, size_t byteLength,
                                                         WNNCreateTensorCallbackInfo callbackInfo);
/**
 * Copies a tensor's contents to data once all work submitted before is done (MLContext.readTensor), and waits for that.  Fails
 * with TypeError for a tensor of another context, destroyed or not readable, or another byteLength than the tensor's;
 * with InvalidStateError if the context or the tensor is destroyed in the meantime, and, as every call that waits, inside
 * WNNContextOptions.computed or a dispatch of the context, where a parallel-for runs other work of the program.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextReadTensor(WNNContext context, WNNTensor tensor, void *data, size_t byteLength);
/**
 * Does the same without waiting.  data must stay valid until the callback ran.  Errors are also reported to the callback, in
 * its mode; only without a context, or memory for a future, it runs inside the call, and the future's id is 0.
 */
WNN_EXPORT WNNFuture wnnContextReadTensorAsync(WNNContext context, WNNTensor tensor, void *data, size_t byteLength,
                                               WNNReadTensorCallbackInfo callbackInfo);
/**
 * Submits a copy of data (made before the call returns) into a writable tensor (MLContext.writeTensor).  Fails with TypeError
 * as reading does.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextWriteTensor(WNNContext context, WNNTensor tensor, void const *data,
                                                        size_t byteLength);
/**
 * Submits one computation of graph and returns (MLContext.dispatch); one that takes less time than waking a thread may have
 * completed.  If the computation fails later (no memory), the context is lost, so that nothing reads wrong contents.
 * Fails with InvalidStateError for a destroyed graph; with TypeError for a graph or tensor of another context, names other than
 * the graph's, and a tensor that is given twice, destroyed, constant, or of another data type or shape.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextDispatch(WNNContext context, WNNGraph graph, size_t inputCount,
                                                     WNNNamedTensor const *inputs, size_t outputCount,
                                                     WNNNamedTensor const *outputs);
/**
 * Does the same, and lets a cancellation end the computation: then the tensors of outputs are undefined until they are
 * written again; the context and the graph remain usable.  The cancellation is referenced until the computation has ended.
 * Fails with OperationError if it is cancelled already.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextDispatchCancellable(WNNContext context, WNNGraph graph, size_t inputCount,
                                                                WNNNamedTensor const *inputs, size_t outputCount,
                                                                WNNNamedTensor const *outputs,
                                                                WNNCancellation WNN_NULLABLE cancellation);

/** Creates a cancellation with one reference for the caller.  It belongs to no context and serves any number of computations.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnCreateCancellation(WNNCancellation *cancellation);
/** Takes another reference. */
WNN_EXPORT void wnnCancellationAddRef(WNNCancellation cancellation);
/** Drops a reference, which cancels nothing. */
WNN_EXPORT void wnnCancellationRelease(WNNCancellation WNN_NULLABLE cancellation);
/**
 * Ends all its computations, permanently: running ones between two steps (work submitted to a device
 * completes), others before they begin.  It does not wait for that.  Any thread may call it.
 */
WNN_EXPORT void wnnCancellationCancel(WNNCancellation cancellation);
/** Returns whether it was cancelled. */
WNN_EXPORT bool wnnCancellationIsCancelled(WNNCancellation cancellation);

/**
 * Waits until one of the futures has completed and its callback has run, or timeoutNS nanoseconds passed (UINT64_MAX sets no
 * limit).  Returns Success (also if one had completed before), TimedOut, or TypeError without futures or for one of another
 * context.
 */
WNN_EXPORT WNNStatus wnnContextWaitAny(WNNContext context, size_t futureCount, WNNFuture const *futures, uint64_t timeoutNS);
/** Runs the callbacks of everything completed whose mode allows it, then returns. */
WNN_EXPORT void wnnContextProcessEvents(WNNContext context);

/* ------------------------------------------------------------------------------------------------ support limits */

/** Stands for MLRankRange. */
typedef struct WNNRankRange {
    uint32_t min;
    uint32_t max;
} WNNRankRange;

/**
 * Stands for MLTensorLimits of one operand.  dataTypes holds the bit WNN_DATA_TYPE_BIT(t) for every data type t that is
 * supported.
 */
typedef struct WNNTensorLimits {
    char const *name; /**< the operand's name in the specification, such as "input", "bias" or "output0"; static storage */
    uint32_t dataTypes;
    WNNRankRange rankRange;
} WNNTensorLimits;

#define WNN_DATA_TYPE_BIT(dataType) (UINT32_C(1) << (dataType))

/** Has the members of MLOpSupportLimits other than operators.  The library writes all of it, so the struct never changes. */
typedef struct WNNOpSupportLimits {
    WNNInputOperandLayout preferredInputLayout;
    uint64_t maxTensorByteLength;
    WNNTensorLimits input;
    WNNTensorLimits constant;
    WNNTensorLimits output;
} WNNOpSupportLimits;

/** The most operands and results that wnnContextGetOperatorSupportLimits describes. */
#define WNN_TENSOR_LIMITS_MAX 11

/** Writes the top level of MLContext.opSupportLimits() to *limits. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextGetOpSupportLimits(WNNContext context, WNNOpSupportLimits *limits);
/**
 * Describes one operator's member of MLContext.opSupportLimits(): its operands, optional ones included, then its results, in
 * the order of the specification's tables.  Writes at most capacity of them to limits and their number to *count.  "Same as
 * another operand" is resolved to that operand's limits.  A builder call within the limits is not refused for a data type or
 * rank.  Fails with TypeError if there is no operator of that name.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextGetOperatorSupportLimits(WNNContext context, WNNStringView operatorName,
                                                                     size_t capacity, WNNTensorLimits *limits, size_t *count);
/** Returns the number of operators. */
WNN_EXPORT size_t wnnGetOperatorCount(void);
/**
 * Returns the name of an operator, such as "conv2d", by an index below the count, or NULL beyond it.  It has static storage.
 */
WNN_EXPORT char const *wnnGetOperatorName(size_t index);

/* ------------------------------------------------------------------------------------------------ WNNTensor */

/** Takes another reference. */
WNN_EXPORT void wnnTensorAddRef(WNNTensor tensor);
/** Drops a reference; with the last one memory is freed after the work already submitted, pending reads included. */
WNN_EXPORT void wnnTensorRelease(WNNTensor WNN_NULLABLE tensor);
/**
 * Destroys a tensor (MLTensor.destroy): pending reads end with InvalidStateError, and memory is freed after the work already
 * submitted.
 */
WNN_EXPORT void wnnTensorDestroy(WNNTensor tensor);
/** Returns MLTensor.dataType.  This and the following functions work for destroyed tensors, too. */
WNN_EXPORT WNNOperandDataType wnnTensorGetDataType(WNNTensor tensor);
/** Returns the number of dimensions. */
WNN_EXPORT size_t wnnTensorGetRank(WNNTensor tensor);
/** Returns MLTensor.shape, which has as many sizes as the rank and belongs to the tensor. */
WNN_EXPORT uint32_t const *wnnTensorGetShape(WNNTensor tensor);
/** Returns the bytes that reading and writing transfer. */
WNN_EXPORT size_t wnnTensorGetByteLength(WNNTensor tensor);
/** Returns MLTensor.readable. */
WNN_EXPORT bool wnnTensorGetReadable(WNNTensor tensor);
/** Returns MLTensor.writable. */
WNN_EXPORT bool wnnTensorGetWritable(WNNTensor tensor);
/** Returns MLTensor.constant. */
WNN_EXPORT bool wnnTensorGetConstant(WNNTensor tensor);

/* ------------------------------------------------------------------------------------------------ WNNGraph */

/** Takes another reference. */
WNN_EXPORT void wnnGraphAddRef(WNNGraph graph);
/** Drops a reference; with the last one the graph is freed after the work already submitted. */
WNN_EXPORT void wnnGraphRelease(WNNGraph WNN_NULLABLE graph);
/** Destroys a graph (MLGraph.destroy): later dispatches are refused, and those submitted complete. */
WNN_EXPORT void wnnGraphDestroy(WNNGraph graph);
/** Returns the number of inputs: those that the outputs depend on, before optimisation. */
WNN_EXPORT size_t wnnGraphGetInputCount(WNNGraph graph);
/** Returns the number of outputs given to build. */
WNN_EXPORT size_t wnnGraphGetOutputCount(WNNGraph graph);
/**
 * Describes an input of the graph; the pointers are the graph's.  Fails with TypeError if index is out of range.  Inputs are
 * in the order they were made, outputs in the order given to build.
 */
WNN_EXPORT WNNStatus wnnGraphGetInput(WNNGraph graph, size_t index, WNNNamedOperandDescriptor *input);
/** Describes an output in the same way. */
WNN_EXPORT WNNStatus wnnGraphGetOutput(WNNGraph graph, size_t index, WNNNamedOperandDescriptor *output);
/**
 * Computes the shapes of the outputs for these shapes of inputs (the draft's MLGraph.computeShapes), with the checks of a
 * computation.  inputs are in any order; those whose dimensions follow from the others may be
 * omitted.  outputs has room for all outputs of the graph, in its order; names are the graph's.  Fails with
 * TypeError for unknown names, and dimensions that conflict, exceed their bounds or are invalid, and with
 * InvalidStateError for a destroyed graph.  Any thread may call it.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphComputeShapes(WNNGraph graph, size_t inputCount, WNNNamedShape const *inputs,
                                                        size_t outputCount, WNNNamedShape *outputs);
/** Counts the variants that have been compiled for sizes of named dimensions; all are 0 for a graph without any. */
WNN_EXPORT void wnnGraphGetVariantCounts(WNNGraph graph, WNNGraphVariantCounts *counts);
/** Sets how many variants are kept (16), at least one; running ones stay.  It does nothing without named dimensions. */
WNN_EXPORT void wnnGraphSetVariantLimit(WNNGraph graph, size_t limit);
/** Counts the matrices that the build has quantized (wnnGraphBuilderQuantizeWeights); 0 for a graph from a file. */
WNN_EXPORT void wnnGraphGetQuantizedWeights(WNNGraph graph, WNNQuantizedWeights *weights);
/**
 * Writes the compiled graph to a file: its steps, machine code and packed weights, versioned and checksummed, for
 * wnnContextLoadGraph on this machine or one like it (docs/compiled-graphs.md).  The file is complete or absent; an
 * older one is replaced.  Symbolic links are followed; devices and pipes are written to.  It may be
 * called on any thread while the graph computes.  Fails with TypeError for an empty path, InvalidStateError for a destroyed
 * graph or a lost context, UnknownError if the file cannot be written, for which errno has the reason, NotSupportedError for a
 * graph that was loaded from a shared object, or has named dimensions and a loop.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphSave(WNNGraph graph, char const *path);
/**
 * Finds the engine of a file for wnnContextLoadGraph: WNNEngine_Gpu if a context on a device wrote it, else
 * WNNEngine_Cpu, also for shared objects.  Programs that load files use it as WNNContextOptions.engine, because a context
 * on another engine refuses the file.  Only the file's beginning is read; whether a shared object is webnnc's is checked by
 * loading.  Fails with TypeError for an empty path or a NULL engine, DataError if the file is absent or
 * neither a compiled graph nor a shared object, and NotSupportedError for a graph that another version of this library wrote;
 * then *engine is WNNEngine_Auto.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGetFileEngine(char const *path, WNNEngine *engine);
/**
 * Makes a graph of a file that wnnGraphSave wrote, without compiling, or of a shared object that webnnc made.  The graph is
 * dispatched like a built one and gives the same results bit by bit.  Weights and code stay in the file, which is mapped: it
 * may be deleted or replaced, but not be written to.  Code in a file is trusted like that of a shared
 * library; everything else is checked.  Fails with DataError if the file is absent, damaged or something else; with
 * NotSupportedError if it was made by another version of this library or of oneDNN, for another engine than the context's
 * (wnnGetFileEngine), for a processor with more features than the context may use, or with weights in a layout that cannot be
 * changed: then build the graph again.  Fails with InvalidStateError if the context is lost.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextLoadGraph(WNNContext context, char const *path, WNNGraph *graph);
/** Does the same on the context's timeline and reports through a callback, errors included.  path is copied. */
WNN_EXPORT WNNFuture wnnContextLoadGraphAsync(WNNContext context, char const *path, WNNBuildCallbackInfo callbackInfo);
/**
 * Computes on host buffers and returns when the outputs are written.  Overlapping buffers, where one of them is an output, are
 * refused with a TypeError, as are names and byte lengths other than the graph's; a destroyed graph or a lost context with
 * InvalidStateError.  Buffers need no alignment.  It runs on the calling thread when the timeline is idle.  All but one of the
 * outputs may be omitted, and inputs that only those need (with more than 64 outputs, groups of neighbours count as
 * one): on the processor, steps that only they need are skipped.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphCompute(WNNGraph graph, size_t inputCount, WNNNamedBuffer const *inputs,
                                                  size_t outputCount, WNNNamedBuffer const *outputs);
/**
 * Does the same, and lets a cancellation end the computation: then it fails with OperationError, the buffers of outputs are
 * undefined, and the context and the graph remain usable.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphComputeCancellable(WNNGraph graph, size_t inputCount, WNNNamedBuffer const *inputs,
                                                             size_t outputCount, WNNNamedBuffer const *outputs,
                                                             WNNCancellation WNN_NULLABLE cancellation);
/**
 * Computes a graph with named dimensions for these sizes.  Names whose sizes follow from the length of an
 * input's buffer may be omitted; wnnGraphCompute is the same without sizes.  The first computation of each combination of
 * sizes compiles a variant of the graph.  Fails like wnnGraphComputeCancellable, with TypeError also if sizes conflict or are
 * unknown, and with OperationError if the variant cannot be compiled.  cancellation may be NULL.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphComputeSized(WNNGraph graph, size_t sizeCount, WNNNamedSize const *sizes,
                                                       size_t inputCount, WNNNamedBuffer const *inputs, size_t outputCount,
                                                       WNNNamedBuffer const *outputs,
                                                       WNNCancellation WNN_NULLABLE cancellation);
/**
 * Returns the variant of a graph for these sizes, of all names: an ordinary graph, which is compiled unless it is kept.
 * *variant is the caller's, and NULL after a failure, as of wnnGraphComputeSized.  A graph without names returns itself.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphGetVariant(WNNGraph graph, size_t sizeCount, WNNNamedSize const *sizes,
                                                     WNNGraph *variant);

/* ------------------------------------------------------------------------------------------------ WNNOperand */

/** Takes a reference on the operand's builder. */
WNN_EXPORT void wnnOperandAddRef(WNNOperand operand);
/** Drops a reference on the operand's builder. */
WNN_EXPORT void wnnOperandRelease(WNNOperand WNN_NULLABLE operand);
/** Returns MLOperand.dataType, or Undefined for an error operand.  This and the following functions work after build, too. */
WNN_EXPORT WNNOperandDataType wnnOperandGetDataType(WNNOperand operand);
/** Returns the number of dimensions, or 0 for an error operand. */
WNN_EXPORT size_t wnnOperandGetRank(WNNOperand operand);
/** Returns MLOperand.shape, which has as many sizes as the rank, 0 where a dimension is named, and belongs to the builder. */
WNN_EXPORT uint32_t const *wnnOperandGetShape(WNNOperand operand);
/**
 * Returns the name of a dimension, or an expression of names, such as "past + sequence"; an empty view if it is a size or index
 * is not below the rank.  It is the builder's.
 */
WNN_EXPORT WNNStringView wnnOperandGetDimensionName(WNNOperand operand, size_t index);
/** Returns whether the call that returned this operand failed. */
WNN_EXPORT bool wnnOperandIsError(WNNOperand operand);

/* ------------------------------------------------------------------------------------------------ WNNGraphBuilder */

/**
 * Creates a builder, as MLGraphBuilder(context) does, with one reference for the caller.  Fails with InvalidStateError if the
 * context is lost.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextCreateGraphBuilder(WNNContext context, WNNGraphBuilder *builder);
/** Takes another reference. */
WNN_EXPORT void wnnGraphBuilderAddRef(WNNGraphBuilder builder);
/** Drops a reference; the last one frees the builder and its operands.  Built graphs do not need it. */
WNN_EXPORT void wnnGraphBuilderRelease(WNNGraphBuilder WNN_NULLABLE builder);

/**
 * Returns the first error since the builder was made or cleared: Success and an empty message if there is none.  The message is
 * valid until the next call on the builder.
 */
WNN_EXPORT WNNStatus wnnGraphBuilderGetError(WNNGraphBuilder builder, WNNStringView *WNN_NULLABLE message);
/** Clears the first error; the next one becomes the first. */
WNN_EXPORT void wnnGraphBuilderClearError(WNNGraphBuilder builder);

/**
 * Replaces the builder's budget; earlier charges remain.  Readers of model files call it: members of budget that are 0
 * become the default for a graph that sourceBytes bytes of files describe, or if that is 0 for one that a program describes.
 * Fails with InvalidStateError if the builder has built.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphBuilderSetBudget(WNNGraphBuilder builder, WNNBudget const *budget,
                                                           uint64_t sourceBytes);
/**
 * Charges work and memory that a reader is about to spend on the builder's graph; writing four bytes counts as an operation,
 * too.  `what` begins the message, such as "a range of 1000 numbers".  Fails with OperationError, and charges nothing, if the
 * budget does not allow it; with InvalidStateError if the builder has built.  The builder's first error does not change.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphBuilderSpend(WNNGraphBuilder builder, WNNStringView what, uint64_t operations,
                                                       uint64_t bytes);

/**
 * Sets the callback that reports the progress of the build, and ends it by returning false; NULL for none.  To end it from
 * another thread, set a flag that the callback reads.  Fails with InvalidStateError if the builder has built.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphBuilderSetProgress(WNNGraphBuilder builder, WNNBuildProgressCallbackInfo progress);

/**
 * Sets the states of the graph: pairs of an input and the output that becomes the input of the next computation.
 * A dispatch may then use one tensor for both (wnnGraphCompute one buffer), which is updated in place; a
 * scatterND or scatterElements from the input to the output then writes its updates only.  With two tensors the call has
 * no effect.  The list
 * replaces earlier ones, is copied, and is checked by build: names must be those of an input and an output of the graph, of one
 * shape and data type, each in one state.  Fails with TypeError if the list is NULL and stateCount is not 0, and with
 * InvalidStateError if the builder has built.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphBuilderSetStates(WNNGraphBuilder builder, size_t stateCount,
                                                           WNNNamedState const *WNN_NULLABLE states);

/**
 * Lets build quantize the weights of matmuls: not in the specification, and not exact.  Operand B of a matmul or gemm of
 * float32 or float16 becomes int8 numbers, of 8 or 4 bits, times a scale for each block of 32 along K (16 or 8 where these
 * divide K and 32 does not), if it has two dimensions and is a constant, or computed from constants by transposes, reshapes,
 * casts and the like.  Float16 matmuls are then computed in float32 and rounded once.  Unchanged are small matrices (below
 * 128 KiB as float32), those of one column, those with NaN or an infinity, and constants
 * that no matmul reads, such as the table of a gather.  wnnGraphGetQuantizedWeights counts the quantized matrices;
 * docs/compact-weights.md states the error.  The default is WNNWeightFormat_None.  As with every function of a builder, one
 * thread at a time may call it.  Fails with TypeError for a value that is not a format, and with InvalidStateError if the
 * builder has built.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphBuilderQuantizeWeights(WNNGraphBuilder builder, WNNWeightFormat format);

/**
 * Makes an input: input(name, descriptor).  Fails with TypeError for an empty name, one that another input has, or a bad
 * descriptor.  Named dimensions get their sizes when the graph computes; conditions of operators on them are
 * checked by the methods if they are certain for all sizes, and otherwise by the computation.
 */
WNN_EXPORT WNNOperand wnnGraphBuilderInput(WNNGraphBuilder builder, WNNStringView name, WNNOperandDescriptor const *descriptor);
/**
 * Makes a constant of a copy of data: constant(descriptor, buffer).  Fails with TypeError for a bad descriptor or another
 * byteLength than the descriptor's.
 */
WNN_EXPORT WNNOperand wnnGraphBuilderConstant(WNNGraphBuilder builder, WNNOperandDescriptor const *descriptor, void const *data,
                                              size_t byteLength);
/**
 * Does the same without a copy: data must stay unchanged until release is called, which happens exactly once, on any thread,
 * also when this call fails.
 */
WNN_EXPORT WNNOperand wnnGraphBuilderConstantLent(WNNGraphBuilder builder, WNNOperandDescriptor const *descriptor,
                                                  void const *data, size_t byteLength, WNNBufferReleaseCallbackInfo release);
/**
 * Makes a constant of unsigned elements of 4, 2 or 1 bits, packed into bytes from the lowest bits on: not in the
 * specification, which has no such data types.  The operand, and the descriptor, are of uint8, one element per
 * number.  Weights that matmuls read through dequantizeLinear stay packed (docs/compact-weights.md); for
 * other readers they become bytes when the graph is built.  data is lent as for wnnGraphBuilderConstantLent.  Fails with
 * TypeError for a bad descriptor, another number of bits, or a byteLength other than that of all elements' bits, rounded
 * up.
 */
WNN_EXPORT WNNOperand wnnGraphBuilderConstantPackedLent(WNNGraphBuilder builder, WNNOperandDescriptor const *descriptor,
                                                        uint32_t bits, void const *data, size_t byteLength,
                                                        WNNBufferReleaseCallbackInfo release);
/** Does the same with numbers of 4 bits. */
WNN_EXPORT WNNOperand wnnGraphBuilderConstantUint4Lent(WNNGraphBuilder builder, WNNOperandDescriptor const *descriptor,
                                                       void const *data, size_t byteLength,
                                                       WNNBufferReleaseCallbackInfo release);
/**
 * Casts to float64, which the specification does not have: such values exist inside a graph only.  cast converts them back,
 * and operators of any data type, abs, neg, reciprocal, sqrt, ceil, floor, roundEven, matmul and gemm compute with them; others
 * and outputs refuse them.  options may be NULL.  Returns an operand of the builder, or an error operand after a TypeError.
 */
WNN_EXPORT WNNOperand wnnGraphBuilderCastToFloat64(WNNGraphBuilder builder, WNNOperand input,
                                                   WNNOperatorOptions const *options);
/** Makes a scalar constant of value cast to dataType: constant(dataType, value). */
WNN_EXPORT WNNOperand wnnGraphBuilderConstantScalar(WNNGraphBuilder builder, WNNOperandDataType dataType, WNNNumber value);
/**
 * Makes a constant of a tensor: constant(tensor).  It must come from wnnContextCreateConstantTensor of the same context, and
 * must not be destroyed before build has been called.
 */
WNN_EXPORT WNNOperand wnnGraphBuilderConstantTensor(WNNGraphBuilder builder, WNNTensor tensor);
/**
 * Begins a loop of `iterations` iterations (not in the specification; docs/loops.md).  Calls until wnnGraphBuilderEndLoop
 * describe one iteration: operands that depend on parameters are computed in every iteration, others once.
 *
 * carried are the initial values of loop-carried operands; scanned are operands of which
 * every iteration takes a slice.  parameters receives their values in an iteration: the carriedCount values, then the
 * scannedCount slices.  They and operands that depend on them cannot be used after the loop, and loops do not nest.
 * Fails with TypeError, and fills parameters with error operands, if there is neither a carried nor a scanned operand, the
 * size of a scanned operand's axis is not the number of iterations, a loop is open, or iterations is 0, unless
 * the axis of the first scanned operand has a named dimension, which then is the number.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphBuilderBeginLoop(WNNGraphBuilder builder, uint32_t iterations, size_t carriedCount,
                                                           WNNOperand const *carried, size_t scannedCount,
                                                           WNNLoopSlices const *scanned, WNNOperand *parameters);
/**
 * Lets the open loop stop early: if carried value number `carried`, a uint8 scalar, is not 0 after an
 * iteration, or before the first one, further iterations would not change any carried value.  They may be skipped, and
 * the slices that they would stack are undefined.  Fails with TypeError if no loop is open or it has no such value.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphBuilderStopLoop(WNNGraphBuilder builder, size_t carried);
/**
 * Ends the open loop.  carried are the values after the iteration, each of its parameter's data type and shape;
 * stacked are slices that every iteration produces.  outputs receives the carriedCount values after the last iteration, then
 * the stackedCount operands whose dimension `axis` has a slice of each iteration.  Fails with TypeError, and fills outputs with
 * error operands, if no loop is open, carriedCount differs, or a value has another type or shape than its parameter;
 * the loop stays open then.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphBuilderEndLoop(WNNGraphBuilder builder, WNNStringView label, size_t carriedCount,
                                                         WNNOperand const *carried, size_t stackedCount,
                                                         WNNLoopSlices const *stacked, WNNOperand *outputs);
/**
 * Combines input with updates at indices along an axis (not in the specification, whose scatters replace): several updates
 * of one element are applied in row-major order, and each result is rounded to the data type.  input has any
 * data type and rank 1 or more; updates has both, too, and is at most as large as input along the other axes, of which it
 * covers the first elements; indices is int32, uint32 or int64, of updates' shape, or 1 along other axes than axis, where the
 * index then applies to all updates.  Indices are as for gather.  Returns input's data type and shape.
 */
WNN_EXPORT WNNOperand wnnGraphBuilderScatterReduce(WNNGraphBuilder builder, WNNOperand input, WNNOperand indices,
                                                   WNNOperand updates, WNNScatterReduceOptions const *WNN_NULLABLE options);
/**
 * Copies the value of an operand that depends on constants only to data, as the reference interpreter computes it (not in the
 * specification; readers of model files take shapes and axes from it).  It is as slow as a naive computation.  Fails
 * with TypeError if the operand depends on an input, or byteLength is not exactly the operand's; with OperationError if the
 * budget does not allow the computation.  The builder and its first error do not change.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphBuilderGetConstantValue(WNNGraphBuilder builder, WNNOperand operand, void *data,
                                                                  size_t byteLength);

/**
 * Compiles the graph up to outputs and waits (MLGraphBuilder.build).  A builder builds once; a call refused with TypeError
 * leaves it unbuilt: no outputs, an empty name or one given twice, an output that is an input, a constant, an error operand or
 * another builder's.  Fails with InvalidStateError if the builder has built or the context is lost, also during the call; with
 * OperationError if the graph cannot be compiled.  *graph is NULL unless Success.
 */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphBuilderBuild(WNNGraphBuilder builder, size_t outputCount,
                                                       WNNNamedOperand const *outputs, WNNGraph *graph);
/**
 * Does the same on the context's timeline and reports through a callback, errors included.  outputs are read before it returns,
 * and the builder may be released.
 */
WNN_EXPORT WNNFuture wnnGraphBuilderBuildAsync(WNNGraphBuilder builder, size_t outputCount, WNNNamedOperand const *outputs,
                                               WNNBuildCallbackInfo callbackInfo);

#ifdef __cplusplus
}
#endif

#endif /* WEBNN_WEBNN_H_ */

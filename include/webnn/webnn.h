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
 * The library never exits, aborts or prints, keeps no process-wide state that a caller could see, and starts no thread
 * before the first asynchronous call.
 */
#ifndef WEBNN_WEBNN_H_
#define WEBNN_WEBNN_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef WNN_EXPORT
#if defined(_WIN32)
#define WNN_EXPORT
#else
#define WNN_EXPORT __attribute__((visibility("default")))
#endif
#endif

#if defined(__GNUC__) || defined(__clang__)
#define WNN_MUST_USE __attribute__((warn_unused_result))
#else
#define WNN_MUST_USE
#endif

#ifdef __cplusplus
#define WNN_INIT_(type, ...) (type __VA_ARGS__)
extern "C" {
#else
#define WNN_INIT_(type, ...) ((type)__VA_ARGS__)
#endif

/** Marks a pointer or handle that may be NULL. */
#define WNN_NULLABLE

/* ------------------------------------------------------------------------------------------------ handles */

/** The state of one execution device and its timeline (MLContext).  Thread-safe: may be shared by any number of threads. */
typedef struct WNNContextImpl *WNNContext;
/** Builds one graph (MLGraphBuilder).  Not thread-safe: one thread at a time, the caller's business to see to. */
typedef struct WNNGraphBuilderImpl *WNNGraphBuilder;
/** A value in a graph under construction (MLOperand).  Immutable; as thread-safe as its builder. */
typedef struct WNNOperandImpl *WNNOperand;
/** A compiled graph (MLGraph).  Immutable, thread-safe; any number of computations may run at the same time. */
typedef struct WNNGraphImpl *WNNGraph;
/** Memory of a context, input or output of graphs (MLTensor).  Thread-safe: its contents change only on the timeline. */
typedef struct WNNTensorImpl *WNNTensor;

/* ------------------------------------------------------------------------------------------------ strings, numbers */

/** Length of a WNNStringView whose data end with a NUL. */
#define WNN_STRLEN SIZE_MAX

/** UTF-8 text, not necessarily NUL-terminated.  {NULL, 0} is the empty string. */
typedef struct WNNStringView {
    char const *WNN_NULLABLE data;
    size_t length;
} WNNStringView;

#define WNN_STRING_VIEW_INIT WNN_INIT_(WNNStringView, {NULL, 0})

/** A view of a NUL-terminated string. */
static inline WNNStringView WNN_STR(char const *text)
{
    WNNStringView view = {text, WNN_STRLEN};
    return view;
}

/** Which member of a WNNNumber holds its value. */
typedef enum WNNNumberType {
    WNNNumberType_Undefined = 0, /**< no number: the option is absent */
    WNNNumberType_Float64 = 1,
    WNNNumberType_Int64 = 2,
    WNNNumberType_Uint64 = 3,
    WNNNumberType_Force32 = 0x7FFFFFFF
} WNNNumberType;

/** A number of any kind (MLNumber: bigint or unrestricted double).  Cast to the operand's type where it is used: saturating,
 * rounding to nearest even, NaN to 0 for integers (specification, "Casting"). */
typedef struct WNNNumber {
    WNNNumberType type;
    union {
        double float64;
        int64_t int64;
        uint64_t uint64;
    } value;
} WNNNumber;

#define WNN_NUMBER_INIT WNN_INIT_(WNNNumber, {WNNNumberType_Undefined, {0.0}})

static inline WNNNumber wnnNumber(double value)
{
    WNNNumber n;
    n.type = WNNNumberType_Float64;
    n.value.float64 = value;
    return n;
}

static inline WNNNumber wnnNumberInt64(int64_t value)
{
    WNNNumber n;
    n.type = WNNNumberType_Int64;
    n.value.int64 = value;
    return n;
}

static inline WNNNumber wnnNumberUint64(uint64_t value)
{
    WNNNumber n;
    n.type = WNNNumberType_Uint64;
    n.value.uint64 = value;
    return n;
}

/* ------------------------------------------------------------------------------------------------ status */

/** What a call answers: success, or the error kind that the specification's steps name. */
typedef enum WNNStatus {
    WNNStatus_Success = 0,
    WNNStatus_TypeError = 1,         /**< an argument that the specification refuses */
    WNNStatus_InvalidStateError = 2, /**< an object that is lost, destroyed or already built */
    WNNStatus_OperationError = 3,    /**< a build that failed */
    WNNStatus_UnknownError = 4,      /**< memory could not be had, or another failure outside the caller's control */
    WNNStatus_NotSupportedError = 5, /**< no engine can support the options */
    WNNStatus_DataError = 6,         /**< a file or text that cannot be read as what it should be */
    WNNStatus_TimedOut = 7,          /**< wnnContextWaitAny only: none completed in time */
    WNNStatus_Force32 = 0x7FFFFFFF
} WNNStatus;

/** The name of a status as the specification writes it, such as "TypeError".  Static storage. */
WNN_EXPORT char const *wnnStatusGetName(WNNStatus status);

/**
 * The message of the last call that failed on this thread, "" if none.
 * Valid until the next failing call on the same thread.  Labels and names in it are escaped.
 */
WNN_EXPORT WNNStringView wnnGetLastErrorMessage(void);

/** The library's version, such as "0.1.0".  Static storage. */
WNN_EXPORT char const *wnnGetVersion(void);

/* ------------------------------------------------------------------------------------------------ enumerations */

/** MLOperandDataType */
typedef enum WNNOperandDataType {
    WNNOperandDataType_Undefined = 0,
    WNNOperandDataType_Float32 = 1,
    WNNOperandDataType_Float16 = 2,
    WNNOperandDataType_Int32 = 3,
    WNNOperandDataType_Uint32 = 4,
    WNNOperandDataType_Int64 = 5,
    WNNOperandDataType_Uint64 = 6,
    WNNOperandDataType_Int8 = 7,
    WNNOperandDataType_Uint8 = 8,
    WNNOperandDataType_Force32 = 0x7FFFFFFF
} WNNOperandDataType;

/** The specification's name of a data type, such as "float32".  Static storage; "undefined" for other values. */
WNN_EXPORT char const *wnnOperandDataTypeGetName(WNNOperandDataType dataType);
/** Bytes of one element, 0 for values that are no data type. */
WNN_EXPORT size_t wnnOperandDataTypeGetByteSize(WNNOperandDataType dataType);

/** MLPowerPreference */
typedef enum WNNPowerPreference {
    WNNPowerPreference_Default = 0,
    WNNPowerPreference_HighPerformance = 1,
    WNNPowerPreference_LowPower = 2,
    WNNPowerPreference_Force32 = 0x7FFFFFFF
} WNNPowerPreference;

/** MLInputOperandLayout */
typedef enum WNNInputOperandLayout {
    WNNInputOperandLayout_Nchw = 0,
    WNNInputOperandLayout_Nhwc = 1,
    WNNInputOperandLayout_Force32 = 0x7FFFFFFF
} WNNInputOperandLayout;

/** MLConv2dFilterOperandLayout */
typedef enum WNNConv2dFilterOperandLayout {
    WNNConv2dFilterOperandLayout_Oihw = 0,
    WNNConv2dFilterOperandLayout_Hwio = 1,
    WNNConv2dFilterOperandLayout_Ohwi = 2,
    WNNConv2dFilterOperandLayout_Ihwo = 3,
    WNNConv2dFilterOperandLayout_Force32 = 0x7FFFFFFF
} WNNConv2dFilterOperandLayout;

/** MLConvTranspose2dFilterOperandLayout */
typedef enum WNNConvTranspose2dFilterOperandLayout {
    WNNConvTranspose2dFilterOperandLayout_Iohw = 0,
    WNNConvTranspose2dFilterOperandLayout_Hwoi = 1,
    WNNConvTranspose2dFilterOperandLayout_Ohwi = 2,
    WNNConvTranspose2dFilterOperandLayout_Force32 = 0x7FFFFFFF
} WNNConvTranspose2dFilterOperandLayout;

/** MLGruWeightLayout: the order of the gates in the weights (z update, r reset, n new) */
typedef enum WNNGruWeightLayout {
    WNNGruWeightLayout_Zrn = 0,
    WNNGruWeightLayout_Rzn = 1,
    WNNGruWeightLayout_Force32 = 0x7FFFFFFF
} WNNGruWeightLayout;

/** MLLstmWeightLayout: the order of the gates in the weights (i input, o output, f forget, g cell) */
typedef enum WNNLstmWeightLayout {
    WNNLstmWeightLayout_Iofg = 0,
    WNNLstmWeightLayout_Ifgo = 1,
    WNNLstmWeightLayout_Force32 = 0x7FFFFFFF
} WNNLstmWeightLayout;

/** MLRecurrentNetworkActivation */
typedef enum WNNRecurrentNetworkActivation {
    WNNRecurrentNetworkActivation_Relu = 0,
    WNNRecurrentNetworkActivation_Sigmoid = 1,
    WNNRecurrentNetworkActivation_Tanh = 2,
    WNNRecurrentNetworkActivation_Force32 = 0x7FFFFFFF
} WNNRecurrentNetworkActivation;

/** MLRecurrentNetworkDirection */
typedef enum WNNRecurrentNetworkDirection {
    WNNRecurrentNetworkDirection_Forward = 0,
    WNNRecurrentNetworkDirection_Backward = 1,
    WNNRecurrentNetworkDirection_Both = 2,
    WNNRecurrentNetworkDirection_Force32 = 0x7FFFFFFF
} WNNRecurrentNetworkDirection;

/** MLPaddingMode */
typedef enum WNNPaddingMode {
    WNNPaddingMode_Constant = 0,
    WNNPaddingMode_Edge = 1,
    WNNPaddingMode_Reflection = 2,
    WNNPaddingMode_Force32 = 0x7FFFFFFF
} WNNPaddingMode;

/** MLRoundingType */
typedef enum WNNRoundingType {
    WNNRoundingType_Floor = 0,
    WNNRoundingType_Ceil = 1,
    WNNRoundingType_Force32 = 0x7FFFFFFF
} WNNRoundingType;

/** MLInterpolationMode */
typedef enum WNNInterpolationMode {
    WNNInterpolationMode_NearestNeighbor = 0,
    WNNInterpolationMode_Linear = 1,
    WNNInterpolationMode_Force32 = 0x7FFFFFFF
} WNNInterpolationMode;

/* ------------------------------------------------------------------------------------------------ descriptors */

/** MLOperandDescriptor.  rank 0 (a scalar) needs no shape pointer.  Dimensions are 1 to 2^31-1, and so is their product. */
typedef struct WNNOperandDescriptor {
    WNNOperandDataType dataType;
    size_t rank;
    uint32_t const *WNN_NULLABLE shape;
} WNNOperandDescriptor;

#define WNN_OPERAND_DESCRIPTOR_INIT WNN_INIT_(WNNOperandDescriptor, {WNNOperandDataType_Undefined, 0, NULL})

/** MLTensorDescriptor */
typedef struct WNNTensorDescriptor {
    WNNOperandDataType dataType;
    size_t rank;
    uint32_t const *WNN_NULLABLE shape;
    bool readable;
    bool writable;
} WNNTensorDescriptor;

#define WNN_TENSOR_DESCRIPTOR_INIT WNN_INIT_(WNNTensorDescriptor, {WNNOperandDataType_Undefined, 0, NULL, false, false})

/** One entry of MLNamedOperands. */
typedef struct WNNNamedOperand {
    WNNStringView name;
    WNNOperand operand;
} WNNNamedOperand;

/** One entry of MLNamedTensors. */
typedef struct WNNNamedTensor {
    WNNStringView name;
    WNNTensor tensor;
} WNNNamedTensor;

/** A host buffer bound to a graph input or output by wnnGraphCompute.  byteLength must be exactly the descriptor's. */
typedef struct WNNNamedBuffer {
    WNNStringView name;
    void *data;
    size_t byteLength;
} WNNNamedBuffer;

/** The name and descriptor of a graph's input or output.  The pointers belong to the graph. */
typedef struct WNNNamedOperandDescriptor {
    WNNStringView name;
    WNNOperandDescriptor descriptor;
} WNNNamedOperandDescriptor;

/* ------------------------------------------------------------------------------------------------ asynchrony */

/** Names one pending completion of a context.  id 0 is never pending. */
typedef struct WNNFuture {
    uint64_t id;
} WNNFuture;

/** When a callback may run (after webgpu.h). */
typedef enum WNNCallbackMode {
    WNNCallbackMode_WaitAnyOnly = 1,        /**< only inside wnnContextWaitAny on its future */
    WNNCallbackMode_AllowProcessEvents = 2, /**< also inside wnnContextProcessEvents */
    WNNCallbackMode_AllowSpontaneous = 3,   /**< also on the context's timeline thread, or inside the call that settles it */
    WNNCallbackMode_Force32 = 0x7FFFFFFF
} WNNCallbackMode;

/** Reports the end of wnnGraphBuilderBuildAsync; on success the callee owns `graph`. */
typedef void (*WNNBuildCallback)(WNNStatus status, WNNGraph graph, WNNStringView message, void *userdata1, void *userdata2);
/** Reports the end of a tensor's creation; on success the callee owns `tensor`. */
typedef void (*WNNCreateTensorCallback)(WNNStatus status, WNNTensor tensor, WNNStringView message, void *userdata1,
                                        void *userdata2);
/** Reports the end of a read.  Nothing touches the caller's buffer afterwards. */
typedef void (*WNNReadTensorCallback)(WNNStatus status, WNNStringView message, void *userdata1, void *userdata2);
/** Reports that a context was lost (MLContext.lost). */
typedef void (*WNNContextLostCallback)(WNNContext context, WNNStringView message, void *userdata1, void *userdata2);
/** Gives a lent buffer back to its owner. */
typedef void (*WNNBufferReleaseCallback)(void const *data, size_t byteLength, void *userdata1, void *userdata2);

typedef struct WNNBuildCallbackInfo {
    WNNCallbackMode mode;
    WNNBuildCallback callback;
    void *userdata1;
    void *userdata2;
} WNNBuildCallbackInfo;

typedef struct WNNCreateTensorCallbackInfo {
    WNNCallbackMode mode;
    WNNCreateTensorCallback callback;
    void *userdata1;
    void *userdata2;
} WNNCreateTensorCallbackInfo;

typedef struct WNNReadTensorCallbackInfo {
    WNNCallbackMode mode;
    WNNReadTensorCallback callback;
    void *userdata1;
    void *userdata2;
} WNNReadTensorCallbackInfo;

typedef struct WNNContextLostCallbackInfo {
    WNNCallbackMode mode;
    WNNContextLostCallback callback;
    void *userdata1;
    void *userdata2;
} WNNContextLostCallbackInfo;

typedef struct WNNBufferReleaseCallbackInfo {
    WNNBufferReleaseCallback callback;
    void *userdata1;
    void *userdata2;
} WNNBufferReleaseCallbackInfo;

#define WNN_BUILD_CALLBACK_INFO_INIT WNN_INIT_(WNNBuildCallbackInfo, {WNNCallbackMode_WaitAnyOnly, NULL, NULL, NULL})
#define WNN_CREATE_TENSOR_CALLBACK_INFO_INIT WNN_INIT_(WNNCreateTensorCallbackInfo, {WNNCallbackMode_WaitAnyOnly, NULL, NULL, NULL})
#define WNN_READ_TENSOR_CALLBACK_INFO_INIT WNN_INIT_(WNNReadTensorCallbackInfo, {WNNCallbackMode_WaitAnyOnly, NULL, NULL, NULL})
#define WNN_CONTEXT_LOST_CALLBACK_INFO_INIT WNN_INIT_(WNNContextLostCallbackInfo, {WNNCallbackMode_AllowSpontaneous, NULL, NULL, NULL})
#define WNN_BUFFER_RELEASE_CALLBACK_INFO_INIT WNN_INIT_(WNNBufferReleaseCallbackInfo, {NULL, NULL, NULL})

/* ------------------------------------------------------------------------------------------------ WNNContext */

/** MLContextOptions, and what a native program can choose beyond them. */
typedef struct WNNContextOptions {
    WNNPowerPreference powerPreference;
    bool accelerated;                     /**< ask for a massively parallel device; the CPU engine serves either way */
    uint32_t threadCount;                 /**< threads per computation; 0: OMP_NUM_THREADS, else all processors */
    WNNStringView debug;                  /**< debug switches as in the WEBNN_DEBUG variable, see docs/debugging.md */
    WNNContextLostCallbackInfo lost;      /**< called once when the context is lost (MLContext.lost) */
} WNNContextOptions;

#define WNN_CONTEXT_OPTIONS_INIT                                                                                                \
    WNN_INIT_(WNNContextOptions,                                                                                                \
              {WNNPowerPreference_Default, true, 0, {NULL, 0}, {WNNCallbackMode_AllowSpontaneous, NULL, NULL, NULL}})

/** Creates a context (ML.createContext).  NotSupportedError if no engine fits.  *context is NULL unless Success. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnCreateContext(WNNContextOptions const *WNN_NULLABLE options, WNNContext *context);
WNN_EXPORT void wnnContextAddRef(WNNContext context);
WNN_EXPORT void wnnContextRelease(WNNContext WNN_NULLABLE context);
/** Loses the context: destroys its graphs and tensors, ends what is pending with InvalidStateError.  Idempotent, never waits. */
WNN_EXPORT void wnnContextDestroy(WNNContext context);
WNN_EXPORT bool wnnContextIsLost(WNNContext context);
WNN_EXPORT bool wnnContextGetAccelerated(WNNContext context);
WNN_EXPORT WNNPowerPreference wnnContextGetPowerPreference(WNNContext context);

/** Creates a tensor of zeros (MLContext.createTensor): InvalidStateError on a lost context, TypeError for a bad descriptor. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextCreateTensor(WNNContext context, WNNTensorDescriptor const *descriptor,
                                                         WNNTensor *tensor);
WNN_EXPORT WNNFuture wnnContextCreateTensorAsync(WNNContext context, WNNTensorDescriptor const *descriptor,
                                                 WNNCreateTensorCallbackInfo callbackInfo);
/** Creates a constant tensor holding a copy of data (MLContext.createConstantTensor). */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextCreateConstantTensor(WNNContext context, WNNOperandDescriptor const *descriptor,
                                                                 void const *data, size_t byteLength, WNNTensor *tensor);
WNN_EXPORT WNNFuture wnnContextCreateConstantTensorAsync(WNNContext context, WNNOperandDescriptor const *descriptor,
                                                         void const *data, size_t byteLength,
                                                         WNNCreateTensorCallbackInfo callbackInfo);
/** Copies a tensor's contents to data once all work submitted before is done (MLContext.readTensor).  Waits. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextReadTensor(WNNContext context, WNNTensor tensor, void *data, size_t byteLength);
/** The same without waiting: data must stay valid until the callback ran. */
WNN_EXPORT WNNFuture wnnContextReadTensorAsync(WNNContext context, WNNTensor tensor, void *data, size_t byteLength,
                                               WNNReadTensorCallbackInfo callbackInfo);
/** Submits a copy of data (taken before the call returns) into a writable tensor (MLContext.writeTensor). */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextWriteTensor(WNNContext context, WNNTensor tensor, void const *data, size_t byteLength);
/** Submits one computation of graph and returns (MLContext.dispatch). */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextDispatch(WNNContext context, WNNGraph graph, size_t inputCount,
                                                     WNNNamedTensor const *inputs, size_t outputCount,
                                                     WNNNamedTensor const *outputs);

/** Waits until one of the futures has completed and its callback has run, or timeoutNS passed (UINT64_MAX: no limit).
 * Success, TimedOut, or TypeError if a future is unknown to the context. */
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
typedef struct WNNSupportLimits {
    WNNInputOperandLayout preferredInputLayout;
    uint64_t maxTensorByteLength;
    WNNTensorLimits input;
    WNNTensorLimits constant;
    WNNTensorLimits output;
} WNNSupportLimits;

/** The largest number of operands and results that wnnContextGetOperatorSupportLimits describes. */
#define WNN_TENSOR_LIMITS_MAX 11

/** The top level of MLContext.opSupportLimits(). */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextGetSupportLimits(WNNContext context, WNNSupportLimits *limits);
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
WNN_EXPORT char const *wnnGetOperatorName(size_t index);

/* ------------------------------------------------------------------------------------------------ WNNTensor */

WNN_EXPORT void wnnTensorAddRef(WNNTensor tensor);
WNN_EXPORT void wnnTensorRelease(WNNTensor WNN_NULLABLE tensor);
/** MLTensor.destroy: pending reads end with InvalidStateError; memory goes behind the work already submitted. */
WNN_EXPORT void wnnTensorDestroy(WNNTensor tensor);
WNN_EXPORT WNNOperandDataType wnnTensorGetDataType(WNNTensor tensor);
WNN_EXPORT size_t wnnTensorGetRank(WNNTensor tensor);
WNN_EXPORT uint32_t const *wnnTensorGetShape(WNNTensor tensor);
WNN_EXPORT size_t wnnTensorGetByteLength(WNNTensor tensor);
WNN_EXPORT bool wnnTensorGetReadable(WNNTensor tensor);
WNN_EXPORT bool wnnTensorGetWritable(WNNTensor tensor);
WNN_EXPORT bool wnnTensorGetConstant(WNNTensor tensor);

/* ------------------------------------------------------------------------------------------------ WNNGraph */

WNN_EXPORT void wnnGraphAddRef(WNNGraph graph);
WNN_EXPORT void wnnGraphRelease(WNNGraph WNN_NULLABLE graph);
/** MLGraph.destroy: later dispatches are refused, those submitted complete. */
WNN_EXPORT void wnnGraphDestroy(WNNGraph graph);
WNN_EXPORT size_t wnnGraphGetInputCount(WNNGraph graph);
WNN_EXPORT size_t wnnGraphGetOutputCount(WNNGraph graph);
/** TypeError if index is out of range.  Inputs stand in the order they were made, outputs in the order given to build. */
WNN_EXPORT WNNStatus wnnGraphGetInput(WNNGraph graph, size_t index, WNNNamedOperandDescriptor *input);
WNN_EXPORT WNNStatus wnnGraphGetOutput(WNNGraph graph, size_t index, WNNNamedOperandDescriptor *output);
/** Computes on host buffers and returns when the outputs are written.  Overlapping buffers, where one of them is an output,
 * are refused with a TypeError.  Runs on the calling thread when the timeline is idle. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphCompute(WNNGraph graph, size_t inputCount, WNNNamedBuffer const *inputs,
                                                  size_t outputCount, WNNNamedBuffer const *outputs);

/* ------------------------------------------------------------------------------------------------ WNNOperand */

WNN_EXPORT void wnnOperandAddRef(WNNOperand operand);
WNN_EXPORT void wnnOperandRelease(WNNOperand WNN_NULLABLE operand);
/** Undefined for an error operand. */
WNN_EXPORT WNNOperandDataType wnnOperandGetDataType(WNNOperand operand);
WNN_EXPORT size_t wnnOperandGetRank(WNNOperand operand);
WNN_EXPORT uint32_t const *wnnOperandGetShape(WNNOperand operand);
/** Whether the call that returned this operand failed. */
WNN_EXPORT bool wnnOperandIsError(WNNOperand operand);

/* ------------------------------------------------------------------------------------------------ WNNGraphBuilder */

/** MLGraphBuilder(context).  InvalidStateError if the context is lost. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnContextCreateGraphBuilder(WNNContext context, WNNGraphBuilder *builder);
WNN_EXPORT void wnnGraphBuilderAddRef(WNNGraphBuilder builder);
WNN_EXPORT void wnnGraphBuilderRelease(WNNGraphBuilder WNN_NULLABLE builder);

/** The first error since the builder was made or cleared: Success and an empty message if there is none.
 * The message is valid until the next call on the builder. */
WNN_EXPORT WNNStatus wnnGraphBuilderGetError(WNNGraphBuilder builder, WNNStringView *WNN_NULLABLE message);
WNN_EXPORT void wnnGraphBuilderClearError(WNNGraphBuilder builder);

WNN_EXPORT WNNOperand wnnGraphBuilderInput(WNNGraphBuilder builder, WNNStringView name, WNNOperandDescriptor const *descriptor);
/** constant(descriptor, buffer): copies data before it returns. */
WNN_EXPORT WNNOperand wnnGraphBuilderConstant(WNNGraphBuilder builder, WNNOperandDescriptor const *descriptor, void const *data,
                                              size_t byteLength);
/** constant(descriptor, buffer) without a copy: data must stay unchanged until release is called, which happens exactly
 * once, on any thread, also when this call fails. */
WNN_EXPORT WNNOperand wnnGraphBuilderConstantLent(WNNGraphBuilder builder, WNNOperandDescriptor const *descriptor,
                                                  void const *data, size_t byteLength, WNNBufferReleaseCallbackInfo release);
/** constant(dataType, value): a scalar, value cast to dataType. */
WNN_EXPORT WNNOperand wnnGraphBuilderConstantScalar(WNNGraphBuilder builder, WNNOperandDataType dataType, WNNNumber value);
/** constant(tensor): tensor must come from wnnContextCreateConstantTensor of the same context. */
WNN_EXPORT WNNOperand wnnGraphBuilderConstantTensor(WNNGraphBuilder builder, WNNTensor tensor);

/** Compiles the graph up to outputs and waits (MLGraphBuilder.build).  A builder builds once; a call refused with TypeError
 * leaves it unbuilt. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphBuilderBuild(WNNGraphBuilder builder, size_t outputCount,
                                                       WNNNamedOperand const *outputs, WNNGraph *graph);
WNN_EXPORT WNNFuture wnnGraphBuilderBuildAsync(WNNGraphBuilder builder, size_t outputCount, WNNNamedOperand const *outputs,
                                               WNNBuildCallbackInfo callbackInfo);

/* ------------------------------------------------------------------------------------------------ operator options */

/** MLOperatorOptions */
typedef struct WNNOperatorOptions {
    WNNStringView label;
} WNNOperatorOptions;

#define WNN_OPERATOR_OPTIONS_INIT WNN_INIT_(WNNOperatorOptions, {{NULL, 0}})

/** MLArgMinMaxOptions */
typedef struct WNNArgMinMaxOptions {
    WNNStringView label;
    bool keepDimensions;
    WNNOperandDataType outputDataType;
} WNNArgMinMaxOptions;

#define WNN_ARG_MIN_MAX_OPTIONS_INIT WNN_INIT_(WNNArgMinMaxOptions, {{NULL, 0}, false, WNNOperandDataType_Int32})

/** MLBatchNormalizationOptions */
typedef struct WNNBatchNormalizationOptions {
    WNNStringView label;
    WNNOperand WNN_NULLABLE scale;
    WNNOperand WNN_NULLABLE bias;
    uint32_t axis;
    double epsilon;
} WNNBatchNormalizationOptions;

#define WNN_BATCH_NORMALIZATION_OPTIONS_INIT WNN_INIT_(WNNBatchNormalizationOptions, {{NULL, 0}, NULL, NULL, 1, 1e-5})

/** MLClampOptions */
typedef struct WNNClampOptions {
    WNNStringView label;
    WNNNumber minValue;
    WNNNumber maxValue;
} WNNClampOptions;

#define WNN_CLAMP_OPTIONS_INIT WNN_INIT_(WNNClampOptions, {{NULL, 0}, {WNNNumberType_Undefined, {0.0}}, {WNNNumberType_Undefined, {0.0}}})

/** MLConv2dOptions */
typedef struct WNNConv2dOptions {
    WNNStringView label;
    size_t paddingCount;
    uint32_t const *WNN_NULLABLE padding;
    size_t stridesCount;
    uint32_t const *WNN_NULLABLE strides;
    size_t dilationsCount;
    uint32_t const *WNN_NULLABLE dilations;
    uint32_t groups;
    WNNInputOperandLayout inputLayout;
    WNNConv2dFilterOperandLayout filterLayout;
    WNNOperand WNN_NULLABLE bias;
} WNNConv2dOptions;

#define WNN_CONV2D_OPTIONS_INIT WNN_INIT_(WNNConv2dOptions, {{NULL, 0}, 0, NULL, 0, NULL, 0, NULL, 1, WNNInputOperandLayout_Nchw, WNNConv2dFilterOperandLayout_Oihw, NULL})

/** MLConvTranspose2dOptions */
typedef struct WNNConvTranspose2dOptions {
    WNNStringView label;
    size_t paddingCount;
    uint32_t const *WNN_NULLABLE padding;
    size_t stridesCount;
    uint32_t const *WNN_NULLABLE strides;
    size_t dilationsCount;
    uint32_t const *WNN_NULLABLE dilations;
    size_t outputPaddingCount;
    uint32_t const *WNN_NULLABLE outputPadding;
    size_t outputSizesCount;
    uint32_t const *WNN_NULLABLE outputSizes;
    uint32_t groups;
    WNNInputOperandLayout inputLayout;
    WNNConvTranspose2dFilterOperandLayout filterLayout;
    WNNOperand WNN_NULLABLE bias;
} WNNConvTranspose2dOptions;

#define WNN_CONV_TRANSPOSE2D_OPTIONS_INIT WNN_INIT_(WNNConvTranspose2dOptions, {{NULL, 0}, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 0, NULL, 1, WNNInputOperandLayout_Nchw, WNNConvTranspose2dFilterOperandLayout_Iohw, NULL})

/** MLCumulativeSumOptions */
typedef struct WNNCumulativeSumOptions {
    WNNStringView label;
    bool exclusive;
    bool reversed;
} WNNCumulativeSumOptions;

#define WNN_CUMULATIVE_SUM_OPTIONS_INIT WNN_INIT_(WNNCumulativeSumOptions, {{NULL, 0}, false, false})

/** MLEluOptions */
typedef struct WNNEluOptions {
    WNNStringView label;
    double alpha;
} WNNEluOptions;

#define WNN_ELU_OPTIONS_INIT WNN_INIT_(WNNEluOptions, {{NULL, 0}, 1.0})

/** MLGatherOptions */
typedef struct WNNGatherOptions {
    WNNStringView label;
    uint32_t axis;
} WNNGatherOptions;

#define WNN_GATHER_OPTIONS_INIT WNN_INIT_(WNNGatherOptions, {{NULL, 0}, 0})

/** MLGemmOptions */
typedef struct WNNGemmOptions {
    WNNStringView label;
    WNNOperand WNN_NULLABLE c;
    double alpha;
    double beta;
    bool aTranspose;
    bool bTranspose;
} WNNGemmOptions;

#define WNN_GEMM_OPTIONS_INIT WNN_INIT_(WNNGemmOptions, {{NULL, 0}, NULL, 1.0, 1.0, false, false})

/** MLGruOptions */
typedef struct WNNGruOptions {
    WNNStringView label;
    WNNOperand WNN_NULLABLE bias;
    WNNOperand WNN_NULLABLE recurrentBias;
    WNNOperand WNN_NULLABLE initialHiddenState;
    bool resetAfter;
    bool returnSequence;
    WNNRecurrentNetworkDirection direction;
    WNNGruWeightLayout layout;
    size_t activationsCount;
    WNNRecurrentNetworkActivation const *WNN_NULLABLE activations;
} WNNGruOptions;

#define WNN_GRU_OPTIONS_INIT WNN_INIT_(WNNGruOptions, {{NULL, 0}, NULL, NULL, NULL, true, false, WNNRecurrentNetworkDirection_Forward, WNNGruWeightLayout_Zrn, 0, NULL})

/** MLGruCellOptions */
typedef struct WNNGruCellOptions {
    WNNStringView label;
    WNNOperand WNN_NULLABLE bias;
    WNNOperand WNN_NULLABLE recurrentBias;
    bool resetAfter;
    WNNGruWeightLayout layout;
    size_t activationsCount;
    WNNRecurrentNetworkActivation const *WNN_NULLABLE activations;
} WNNGruCellOptions;

#define WNN_GRU_CELL_OPTIONS_INIT WNN_INIT_(WNNGruCellOptions, {{NULL, 0}, NULL, NULL, true, WNNGruWeightLayout_Zrn, 0, NULL})

/** MLHardSigmoidOptions */
typedef struct WNNHardSigmoidOptions {
    WNNStringView label;
    double alpha;
    double beta;
} WNNHardSigmoidOptions;

#define WNN_HARD_SIGMOID_OPTIONS_INIT WNN_INIT_(WNNHardSigmoidOptions, {{NULL, 0}, 0.2, 0.5})

/** MLInstanceNormalizationOptions */
typedef struct WNNInstanceNormalizationOptions {
    WNNStringView label;
    WNNOperand WNN_NULLABLE scale;
    WNNOperand WNN_NULLABLE bias;
    double epsilon;
    WNNInputOperandLayout layout;
} WNNInstanceNormalizationOptions;

#define WNN_INSTANCE_NORMALIZATION_OPTIONS_INIT WNN_INIT_(WNNInstanceNormalizationOptions, {{NULL, 0}, NULL, NULL, 1e-5, WNNInputOperandLayout_Nchw})

/** MLLayerNormalizationOptions */
typedef struct WNNLayerNormalizationOptions {
    WNNStringView label;
    WNNOperand WNN_NULLABLE scale;
    WNNOperand WNN_NULLABLE bias;
    size_t axesCount;
    uint32_t const *WNN_NULLABLE axes;
    double epsilon;
} WNNLayerNormalizationOptions;

#define WNN_LAYER_NORMALIZATION_OPTIONS_INIT WNN_INIT_(WNNLayerNormalizationOptions, {{NULL, 0}, NULL, NULL, 0, NULL, 1e-5})

/** MLLeakyReluOptions */
typedef struct WNNLeakyReluOptions {
    WNNStringView label;
    double alpha;
} WNNLeakyReluOptions;

#define WNN_LEAKY_RELU_OPTIONS_INIT WNN_INIT_(WNNLeakyReluOptions, {{NULL, 0}, 0.01})

/** MLLinearOptions */
typedef struct WNNLinearOptions {
    WNNStringView label;
    double alpha;
    double beta;
} WNNLinearOptions;

#define WNN_LINEAR_OPTIONS_INIT WNN_INIT_(WNNLinearOptions, {{NULL, 0}, 1.0, 0.0})

/** MLLstmOptions */
typedef struct WNNLstmOptions {
    WNNStringView label;
    WNNOperand WNN_NULLABLE bias;
    WNNOperand WNN_NULLABLE recurrentBias;
    WNNOperand WNN_NULLABLE peepholeWeight;
    WNNOperand WNN_NULLABLE initialHiddenState;
    WNNOperand WNN_NULLABLE initialCellState;
    bool returnSequence;
    WNNRecurrentNetworkDirection direction;
    WNNLstmWeightLayout layout;
    size_t activationsCount;
    WNNRecurrentNetworkActivation const *WNN_NULLABLE activations;
} WNNLstmOptions;

#define WNN_LSTM_OPTIONS_INIT WNN_INIT_(WNNLstmOptions, {{NULL, 0}, NULL, NULL, NULL, NULL, NULL, false, WNNRecurrentNetworkDirection_Forward, WNNLstmWeightLayout_Iofg, 0, NULL})

/** MLLstmCellOptions */
typedef struct WNNLstmCellOptions {
    WNNStringView label;
    WNNOperand WNN_NULLABLE bias;
    WNNOperand WNN_NULLABLE recurrentBias;
    WNNOperand WNN_NULLABLE peepholeWeight;
    WNNLstmWeightLayout layout;
    size_t activationsCount;
    WNNRecurrentNetworkActivation const *WNN_NULLABLE activations;
} WNNLstmCellOptions;

#define WNN_LSTM_CELL_OPTIONS_INIT WNN_INIT_(WNNLstmCellOptions, {{NULL, 0}, NULL, NULL, NULL, WNNLstmWeightLayout_Iofg, 0, NULL})

/** MLPadOptions */
typedef struct WNNPadOptions {
    WNNStringView label;
    WNNPaddingMode mode;
    WNNNumber value;
} WNNPadOptions;

#define WNN_PAD_OPTIONS_INIT WNN_INIT_(WNNPadOptions, {{NULL, 0}, WNNPaddingMode_Constant, {WNNNumberType_Float64, {0.0}}})

/** MLPool2dOptions */
typedef struct WNNPool2dOptions {
    WNNStringView label;
    size_t windowDimensionsCount;
    uint32_t const *WNN_NULLABLE windowDimensions;
    size_t paddingCount;
    uint32_t const *WNN_NULLABLE padding;
    size_t stridesCount;
    uint32_t const *WNN_NULLABLE strides;
    size_t dilationsCount;
    uint32_t const *WNN_NULLABLE dilations;
    WNNInputOperandLayout layout;
    WNNRoundingType outputShapeRounding;
    size_t outputSizesCount;
    uint32_t const *WNN_NULLABLE outputSizes;
} WNNPool2dOptions;

#define WNN_POOL2D_OPTIONS_INIT WNN_INIT_(WNNPool2dOptions, {{NULL, 0}, 0, NULL, 0, NULL, 0, NULL, 0, NULL, WNNInputOperandLayout_Nchw, WNNRoundingType_Floor, 0, NULL})

/** MLReduceOptions */
typedef struct WNNReduceOptions {
    WNNStringView label;
    size_t axesCount;
    uint32_t const *WNN_NULLABLE axes;
    bool keepDimensions;
} WNNReduceOptions;

#define WNN_REDUCE_OPTIONS_INIT WNN_INIT_(WNNReduceOptions, {{NULL, 0}, 0, NULL, false})

/** MLResample2dOptions */
typedef struct WNNResample2dOptions {
    WNNStringView label;
    WNNInterpolationMode mode;
    size_t scalesCount;
    float const *WNN_NULLABLE scales;
    size_t sizesCount;
    uint32_t const *WNN_NULLABLE sizes;
    size_t axesCount;
    uint32_t const *WNN_NULLABLE axes;
} WNNResample2dOptions;

#define WNN_RESAMPLE2D_OPTIONS_INIT WNN_INIT_(WNNResample2dOptions, {{NULL, 0}, WNNInterpolationMode_NearestNeighbor, 0, NULL, 0, NULL, 0, NULL})

/** MLReverseOptions */
typedef struct WNNReverseOptions {
    WNNStringView label;
    size_t axesCount;
    uint32_t const *WNN_NULLABLE axes;
} WNNReverseOptions;

#define WNN_REVERSE_OPTIONS_INIT WNN_INIT_(WNNReverseOptions, {{NULL, 0}, 0, NULL})

/** MLScatterOptions */
typedef struct WNNScatterOptions {
    WNNStringView label;
    uint32_t axis;
} WNNScatterOptions;

#define WNN_SCATTER_OPTIONS_INIT WNN_INIT_(WNNScatterOptions, {{NULL, 0}, 0})

/** MLSliceOptions */
typedef struct WNNSliceOptions {
    WNNStringView label;
    size_t stridesCount;
    uint32_t const *WNN_NULLABLE strides;
} WNNSliceOptions;

#define WNN_SLICE_OPTIONS_INIT WNN_INIT_(WNNSliceOptions, {{NULL, 0}, 0, NULL})

/** MLSplitOptions */
typedef struct WNNSplitOptions {
    WNNStringView label;
    uint32_t axis;
} WNNSplitOptions;

#define WNN_SPLIT_OPTIONS_INIT WNN_INIT_(WNNSplitOptions, {{NULL, 0}, 0})

/** MLTransposeOptions */
typedef struct WNNTransposeOptions {
    WNNStringView label;
    size_t permutationCount;
    uint32_t const *WNN_NULLABLE permutation;
} WNNTransposeOptions;

#define WNN_TRANSPOSE_OPTIONS_INIT WNN_INIT_(WNNTransposeOptions, {{NULL, 0}, 0, NULL})

/** MLTriangularOptions */
typedef struct WNNTriangularOptions {
    WNNStringView label;
    bool upper;
    int32_t diagonal;
} WNNTriangularOptions;

#define WNN_TRIANGULAR_OPTIONS_INIT WNN_INIT_(WNNTriangularOptions, {{NULL, 0}, true, 0})

/* ------------------------------------------------------------------------------------------------ operators */

/*
 * Each method checks its arguments in the order of the specification's steps and infers the shape of its result.  It returns
 * an operand of the builder, or an error operand; a failed call leaves the builder as it was.  Operands must come from the
 * same builder.  Shapes broadcast as the specification says ("Broadcasting").  The name in parentheses is the section.
 */

/** Index of the smallest element along axis.  Ties: the lowest index. (argMin) */
WNN_EXPORT WNNOperand wnnGraphBuilderArgMin(WNNGraphBuilder builder, WNNOperand input, uint32_t axis,
                                            WNNArgMinMaxOptions const *WNN_NULLABLE options);
/** Index of the largest element along axis.  Ties: the lowest index. (argMax) */
WNN_EXPORT WNNOperand wnnGraphBuilderArgMax(WNNGraphBuilder builder, WNNOperand input, uint32_t axis,
                                            WNNArgMinMaxOptions const *WNN_NULLABLE options);
/** (input - mean) / sqrt(variance + epsilon) * scale + bias along axis. (batchNormalization) */
WNN_EXPORT WNNOperand wnnGraphBuilderBatchNormalization(WNNGraphBuilder builder, WNNOperand input, WNNOperand mean,
                                                        WNNOperand variance,
                                                        WNNBatchNormalizationOptions const *WNN_NULLABLE options);
/** Elements converted to dataType.  Float to integer truncates and saturates, NaN becomes 0; integer to integer keeps the low bits. (cast) */
WNN_EXPORT WNNOperand wnnGraphBuilderCast(WNNGraphBuilder builder, WNNOperand input, WNNOperandDataType dataType,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/** min(max(x, minValue), maxValue), bounds cast to the data type of input. (clamp) */
WNN_EXPORT WNNOperand wnnGraphBuilderClamp(WNNGraphBuilder builder, WNNOperand input,
                                           WNNClampOptions const *WNN_NULLABLE options);
/** Inputs joined along axis.  1 to 8192 inputs. (concat) */
WNN_EXPORT WNNOperand wnnGraphBuilderConcat(WNNGraphBuilder builder, size_t inputsCount, WNNOperand const *inputs, uint32_t axis,
                                            WNNOperatorOptions const *WNN_NULLABLE options);
/** 2-D convolution. (conv2d) */
WNN_EXPORT WNNOperand wnnGraphBuilderConv2d(WNNGraphBuilder builder, WNNOperand input, WNNOperand filter,
                                            WNNConv2dOptions const *WNN_NULLABLE options);
/** 2-D transposed convolution. (convTranspose2d) */
WNN_EXPORT WNNOperand wnnGraphBuilderConvTranspose2d(WNNGraphBuilder builder, WNNOperand input, WNNOperand filter,
                                                     WNNConvTranspose2dOptions const *WNN_NULLABLE options);
/** Running sum along axis. (cumulativeSum) */
WNN_EXPORT WNNOperand wnnGraphBuilderCumulativeSum(WNNGraphBuilder builder, WNNOperand input, uint32_t axis,
                                                   WNNCumulativeSumOptions const *WNN_NULLABLE options);
/** a + b (add) */
WNN_EXPORT WNNOperand wnnGraphBuilderAdd(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/** a - b (sub) */
WNN_EXPORT WNNOperand wnnGraphBuilderSub(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/** a * b (mul) */
WNN_EXPORT WNNOperand wnnGraphBuilderMul(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/** a / b; integers round toward zero, x / 0 is 0. (div) */
WNN_EXPORT WNNOperand wnnGraphBuilderDiv(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/** Larger of a and b, NaN if either is. (max) */
WNN_EXPORT WNNOperand wnnGraphBuilderMax(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/** Smaller of a and b, NaN if either is. (min) */
WNN_EXPORT WNNOperand wnnGraphBuilderMin(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/** a to the power b. (pow) */
WNN_EXPORT WNNOperand wnnGraphBuilderPow(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/** a == b (equal) */
WNN_EXPORT WNNOperand wnnGraphBuilderEqual(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                           WNNOperatorOptions const *WNN_NULLABLE options);
/** a != b (notEqual) */
WNN_EXPORT WNNOperand wnnGraphBuilderNotEqual(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                              WNNOperatorOptions const *WNN_NULLABLE options);
/** a > b (greater) */
WNN_EXPORT WNNOperand wnnGraphBuilderGreater(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                             WNNOperatorOptions const *WNN_NULLABLE options);
/** a >= b (greaterOrEqual) */
WNN_EXPORT WNNOperand wnnGraphBuilderGreaterOrEqual(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                                    WNNOperatorOptions const *WNN_NULLABLE options);
/** a < b (lesser) */
WNN_EXPORT WNNOperand wnnGraphBuilderLesser(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                            WNNOperatorOptions const *WNN_NULLABLE options);
/** a <= b (lesserOrEqual) */
WNN_EXPORT WNNOperand wnnGraphBuilderLesserOrEqual(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                                   WNNOperatorOptions const *WNN_NULLABLE options);
/** 1 where a is 0, else 0. (logicalNot) */
WNN_EXPORT WNNOperand wnnGraphBuilderLogicalNot(WNNGraphBuilder builder, WNNOperand a,
                                                WNNOperatorOptions const *WNN_NULLABLE options);
/** 1 where both are not 0. (logicalAnd) */
WNN_EXPORT WNNOperand wnnGraphBuilderLogicalAnd(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                                WNNOperatorOptions const *WNN_NULLABLE options);
/** 1 where one is not 0. (logicalOr) */
WNN_EXPORT WNNOperand wnnGraphBuilderLogicalOr(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                               WNNOperatorOptions const *WNN_NULLABLE options);
/** 1 where exactly one is not 0. (logicalXor) */
WNN_EXPORT WNNOperand wnnGraphBuilderLogicalXor(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                                WNNOperatorOptions const *WNN_NULLABLE options);
/** 1 where a is NaN. (isNaN) */
WNN_EXPORT WNNOperand wnnGraphBuilderIsNaN(WNNGraphBuilder builder, WNNOperand a, WNNOperatorOptions const *WNN_NULLABLE options);
/** 1 where a is an infinity. (isInfinite) */
WNN_EXPORT WNNOperand wnnGraphBuilderIsInfinite(WNNGraphBuilder builder, WNNOperand a,
                                                WNNOperatorOptions const *WNN_NULLABLE options);
/** |x| (abs) */
WNN_EXPORT WNNOperand wnnGraphBuilderAbs(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/** Smallest integer not below x. (ceil) */
WNN_EXPORT WNNOperand wnnGraphBuilderCeil(WNNGraphBuilder builder, WNNOperand input,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/** Cosine, radians. (cos) */
WNN_EXPORT WNNOperand wnnGraphBuilderCos(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/** Gauss error function. (erf) */
WNN_EXPORT WNNOperand wnnGraphBuilderErf(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/** e to the power x. (exp) */
WNN_EXPORT WNNOperand wnnGraphBuilderExp(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/** Largest integer not above x. (floor) */
WNN_EXPORT WNNOperand wnnGraphBuilderFloor(WNNGraphBuilder builder, WNNOperand input,
                                           WNNOperatorOptions const *WNN_NULLABLE options);
/** x (identity) */
WNN_EXPORT WNNOperand wnnGraphBuilderIdentity(WNNGraphBuilder builder, WNNOperand input,
                                              WNNOperatorOptions const *WNN_NULLABLE options);
/** Natural logarithm. (log) */
WNN_EXPORT WNNOperand wnnGraphBuilderLog(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/** -x (neg) */
WNN_EXPORT WNNOperand wnnGraphBuilderNeg(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/** 1 / x (reciprocal) */
WNN_EXPORT WNNOperand wnnGraphBuilderReciprocal(WNNGraphBuilder builder, WNNOperand input,
                                                WNNOperatorOptions const *WNN_NULLABLE options);
/** Nearest integer, halves to even. (roundEven) */
WNN_EXPORT WNNOperand wnnGraphBuilderRoundEven(WNNGraphBuilder builder, WNNOperand input,
                                               WNNOperatorOptions const *WNN_NULLABLE options);
/** Sine, radians. (sin) */
WNN_EXPORT WNNOperand wnnGraphBuilderSin(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/** -1, 0 or 1. (sign) */
WNN_EXPORT WNNOperand wnnGraphBuilderSign(WNNGraphBuilder builder, WNNOperand input,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/** Square root. (sqrt) */
WNN_EXPORT WNNOperand wnnGraphBuilderSqrt(WNNGraphBuilder builder, WNNOperand input,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/** Tangent, radians. (tan) */
WNN_EXPORT WNNOperand wnnGraphBuilderTan(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/** (input - zeroPoint) * scale, scale and zeroPoint blockwise broadcastable. (dequantizeLinear) */
WNN_EXPORT WNNOperand wnnGraphBuilderDequantizeLinear(WNNGraphBuilder builder, WNNOperand input, WNNOperand scale,
                                                      WNNOperand zeroPoint, WNNOperatorOptions const *WNN_NULLABLE options);
/** clamp(roundEven(input / scale) + zeroPoint) to the type of zeroPoint. (quantizeLinear) */
WNN_EXPORT WNNOperand wnnGraphBuilderQuantizeLinear(WNNGraphBuilder builder, WNNOperand input, WNNOperand scale,
                                                    WNNOperand zeroPoint, WNNOperatorOptions const *WNN_NULLABLE options);
/** x, or alpha * (exp(x) - 1) below 0. (elu) */
WNN_EXPORT WNNOperand wnnGraphBuilderElu(WNNGraphBuilder builder, WNNOperand input, WNNEluOptions const *WNN_NULLABLE options);
/** Broadcast to newShape. (expand) */
WNN_EXPORT WNNOperand wnnGraphBuilderExpand(WNNGraphBuilder builder, WNNOperand input,
                                            size_t newShapeCount, uint32_t const *newShape,
                                            WNNOperatorOptions const *WNN_NULLABLE options);
/** Slices of input along axis at indices. (gather) */
WNN_EXPORT WNNOperand wnnGraphBuilderGather(WNNGraphBuilder builder, WNNOperand input, WNNOperand indices,
                                            WNNGatherOptions const *WNN_NULLABLE options);
/** Elements of input along axis at indices. (gatherElements) */
WNN_EXPORT WNNOperand wnnGraphBuilderGatherElements(WNNGraphBuilder builder, WNNOperand input, WNNOperand indices,
                                                    WNNGatherOptions const *WNN_NULLABLE options);
/** Slices of input at index tuples. (gatherND) */
WNN_EXPORT WNNOperand wnnGraphBuilderGatherND(WNNGraphBuilder builder, WNNOperand input, WNNOperand indices,
                                              WNNOperatorOptions const *WNN_NULLABLE options);
/** 0.5 * x * (1 + erf(x / sqrt(2))) (gelu) */
WNN_EXPORT WNNOperand wnnGraphBuilderGelu(WNNGraphBuilder builder, WNNOperand input,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/** alpha * A * B + beta * C (gemm) */
WNN_EXPORT WNNOperand wnnGraphBuilderGemm(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                          WNNGemmOptions const *WNN_NULLABLE options);
/** Gated recurrent unit over steps.  outputs[0]: [numDirections, batch, hiddenSize]; outputs[1]: the sequence if returnSequence, else NULL. (gru) */
WNN_EXPORT WNNStatus wnnGraphBuilderGru(WNNGraphBuilder builder, WNNOperand input, WNNOperand weight, WNNOperand recurrentWeight,
                                        uint32_t steps, uint32_t hiddenSize, WNNGruOptions const *WNN_NULLABLE options,
                                        WNNOperand *outputs);
/** One step of a gated recurrent unit. (gruCell) */
WNN_EXPORT WNNOperand wnnGraphBuilderGruCell(WNNGraphBuilder builder, WNNOperand input, WNNOperand weight,
                                             WNNOperand recurrentWeight, WNNOperand hiddenState, uint32_t hiddenSize,
                                             WNNGruCellOptions const *WNN_NULLABLE options);
/** max(0, min(1, alpha * x + beta)) (hardSigmoid) */
WNN_EXPORT WNNOperand wnnGraphBuilderHardSigmoid(WNNGraphBuilder builder, WNNOperand input,
                                                 WNNHardSigmoidOptions const *WNN_NULLABLE options);
/** x * max(0, min(6, x + 3)) / 6 (hardSwish) */
WNN_EXPORT WNNOperand wnnGraphBuilderHardSwish(WNNGraphBuilder builder, WNNOperand input,
                                               WNNOperatorOptions const *WNN_NULLABLE options);
/** Normalisation over the spatial dimensions of each channel. (instanceNormalization) */
WNN_EXPORT WNNOperand wnnGraphBuilderInstanceNormalization(WNNGraphBuilder builder, WNNOperand input,
                                                           WNNInstanceNormalizationOptions const *WNN_NULLABLE options);
/** Normalisation over axes. (layerNormalization) */
WNN_EXPORT WNNOperand wnnGraphBuilderLayerNormalization(WNNGraphBuilder builder, WNNOperand input,
                                                        WNNLayerNormalizationOptions const *WNN_NULLABLE options);
/** x, or alpha * x below 0. (leakyRelu) */
WNN_EXPORT WNNOperand wnnGraphBuilderLeakyRelu(WNNGraphBuilder builder, WNNOperand input,
                                               WNNLeakyReluOptions const *WNN_NULLABLE options);
/** alpha * x + beta (linear) */
WNN_EXPORT WNNOperand wnnGraphBuilderLinear(WNNGraphBuilder builder, WNNOperand input,
                                            WNNLinearOptions const *WNN_NULLABLE options);
/** Long short-term memory over steps.  outputs[0]: hidden state, outputs[1]: cell state, outputs[2]: the sequence if returnSequence, else NULL. (lstm) */
WNN_EXPORT WNNStatus wnnGraphBuilderLstm(WNNGraphBuilder builder, WNNOperand input, WNNOperand weight, WNNOperand recurrentWeight,
                                         uint32_t steps, uint32_t hiddenSize, WNNLstmOptions const *WNN_NULLABLE options,
                                         WNNOperand *outputs);
/** One step of long short-term memory.  outputs[0]: hidden state, outputs[1]: cell state. (lstmCell) */
WNN_EXPORT WNNStatus wnnGraphBuilderLstmCell(WNNGraphBuilder builder, WNNOperand input, WNNOperand weight,
                                             WNNOperand recurrentWeight, WNNOperand hiddenState, WNNOperand cellState,
                                             uint32_t hiddenSize, WNNLstmCellOptions const *WNN_NULLABLE options,
                                             WNNOperand *outputs);
/** Matrix product over the last two dimensions, the others broadcast. (matmul) */
WNN_EXPORT WNNOperand wnnGraphBuilderMatmul(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                            WNNOperatorOptions const *WNN_NULLABLE options);
/** Input with a border. (pad) */
WNN_EXPORT WNNOperand wnnGraphBuilderPad(WNNGraphBuilder builder, WNNOperand input,
                                         size_t beginningPaddingCount, uint32_t const *beginningPadding,
                                         size_t endingPaddingCount, uint32_t const *endingPadding,
                                         WNNPadOptions const *WNN_NULLABLE options);
/** Mean of the elements inside the input under each window. (averagePool2d) */
WNN_EXPORT WNNOperand wnnGraphBuilderAveragePool2d(WNNGraphBuilder builder, WNNOperand input,
                                                   WNNPool2dOptions const *WNN_NULLABLE options);
/** Square root of the sum of squares under each window. (l2Pool2d) */
WNN_EXPORT WNNOperand wnnGraphBuilderL2Pool2d(WNNGraphBuilder builder, WNNOperand input,
                                              WNNPool2dOptions const *WNN_NULLABLE options);
/** Largest element under each window. (maxPool2d) */
WNN_EXPORT WNNOperand wnnGraphBuilderMaxPool2d(WNNGraphBuilder builder, WNNOperand input,
                                               WNNPool2dOptions const *WNN_NULLABLE options);
/** x, or slope * x below 0. (prelu) */
WNN_EXPORT WNNOperand wnnGraphBuilderPrelu(WNNGraphBuilder builder, WNNOperand input, WNNOperand slope,
                                           WNNOperatorOptions const *WNN_NULLABLE options);
/** Sum of absolute values. (reduceL1) */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceL1(WNNGraphBuilder builder, WNNOperand input,
                                              WNNReduceOptions const *WNN_NULLABLE options);
/** Square root of the sum of squares. (reduceL2) */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceL2(WNNGraphBuilder builder, WNNOperand input,
                                              WNNReduceOptions const *WNN_NULLABLE options);
/** Logarithm of the sum. (reduceLogSum) */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceLogSum(WNNGraphBuilder builder, WNNOperand input,
                                                  WNNReduceOptions const *WNN_NULLABLE options);
/** Logarithm of the sum of exponentials. (reduceLogSumExp) */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceLogSumExp(WNNGraphBuilder builder, WNNOperand input,
                                                     WNNReduceOptions const *WNN_NULLABLE options);
/** Largest element. (reduceMax) */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceMax(WNNGraphBuilder builder, WNNOperand input,
                                               WNNReduceOptions const *WNN_NULLABLE options);
/** Mean. (reduceMean) */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceMean(WNNGraphBuilder builder, WNNOperand input,
                                                WNNReduceOptions const *WNN_NULLABLE options);
/** Smallest element. (reduceMin) */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceMin(WNNGraphBuilder builder, WNNOperand input,
                                               WNNReduceOptions const *WNN_NULLABLE options);
/** Product. (reduceProduct) */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceProduct(WNNGraphBuilder builder, WNNOperand input,
                                                   WNNReduceOptions const *WNN_NULLABLE options);
/** Sum. (reduceSum) */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceSum(WNNGraphBuilder builder, WNNOperand input,
                                               WNNReduceOptions const *WNN_NULLABLE options);
/** Sum of squares. (reduceSumSquare) */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceSumSquare(WNNGraphBuilder builder, WNNOperand input,
                                                     WNNReduceOptions const *WNN_NULLABLE options);
/** max(0, x) (relu) */
WNN_EXPORT WNNOperand wnnGraphBuilderRelu(WNNGraphBuilder builder, WNNOperand input,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/** Two consecutive dimensions resized. (resample2d) */
WNN_EXPORT WNNOperand wnnGraphBuilderResample2d(WNNGraphBuilder builder, WNNOperand input,
                                                WNNResample2dOptions const *WNN_NULLABLE options);
/** The same elements in newShape. (reshape) */
WNN_EXPORT WNNOperand wnnGraphBuilderReshape(WNNGraphBuilder builder, WNNOperand input,
                                             size_t newShapeCount, uint32_t const *newShape,
                                             WNNOperatorOptions const *WNN_NULLABLE options);
/** Order of elements reversed along axes. (reverse) */
WNN_EXPORT WNNOperand wnnGraphBuilderReverse(WNNGraphBuilder builder, WNNOperand input,
                                             WNNReverseOptions const *WNN_NULLABLE options);
/** Input with elements replaced by updates at indices along axis. (scatterElements) */
WNN_EXPORT WNNOperand wnnGraphBuilderScatterElements(WNNGraphBuilder builder, WNNOperand input, WNNOperand indices,
                                                     WNNOperand updates, WNNScatterOptions const *WNN_NULLABLE options);
/** Input with slices replaced by updates at index tuples. (scatterND) */
WNN_EXPORT WNNOperand wnnGraphBuilderScatterND(WNNGraphBuilder builder, WNNOperand input, WNNOperand indices, WNNOperand updates,
                                               WNNOperatorOptions const *WNN_NULLABLE options);
/** 1 / (1 + exp(-x)) (sigmoid) */
WNN_EXPORT WNNOperand wnnGraphBuilderSigmoid(WNNGraphBuilder builder, WNNOperand input,
                                             WNNOperatorOptions const *WNN_NULLABLE options);
/** A window of input. (slice) */
WNN_EXPORT WNNOperand wnnGraphBuilderSlice(WNNGraphBuilder builder, WNNOperand input, size_t startsCount, uint32_t const *starts,
                                           size_t sizesCount, uint32_t const *sizes, WNNSliceOptions const *WNN_NULLABLE options);
/** exp(x - max) / sum along axis. (softmax) */
WNN_EXPORT WNNOperand wnnGraphBuilderSoftmax(WNNGraphBuilder builder, WNNOperand input, uint32_t axis,
                                             WNNOperatorOptions const *WNN_NULLABLE options);
/** log(1 + exp(x)) (softplus) */
WNN_EXPORT WNNOperand wnnGraphBuilderSoftplus(WNNGraphBuilder builder, WNNOperand input,
                                              WNNOperatorOptions const *WNN_NULLABLE options);
/** x / (1 + |x|) (softsign) */
WNN_EXPORT WNNOperand wnnGraphBuilderSoftsign(WNNGraphBuilder builder, WNNOperand input,
                                              WNNOperatorOptions const *WNN_NULLABLE options);
/** Parts of input along axis. (split) */
WNN_EXPORT WNNStatus wnnGraphBuilderSplit(WNNGraphBuilder builder, WNNOperand input, size_t splitsCount, uint32_t const *splits,
                                          WNNSplitOptions const *WNN_NULLABLE options, WNNOperand *outputs);
/** Hyperbolic tangent. (tanh) */
WNN_EXPORT WNNOperand wnnGraphBuilderTanh(WNNGraphBuilder builder, WNNOperand input,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/** Input repeated. (tile) */
WNN_EXPORT WNNOperand wnnGraphBuilderTile(WNNGraphBuilder builder, WNNOperand input,
                                          size_t repetitionsCount, uint32_t const *repetitions,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/** Dimensions permuted (default: reversed). (transpose) */
WNN_EXPORT WNNOperand wnnGraphBuilderTranspose(WNNGraphBuilder builder, WNNOperand input,
                                               WNNTransposeOptions const *WNN_NULLABLE options);
/** The upper or lower triangle, zeros elsewhere. (triangular) */
WNN_EXPORT WNNOperand wnnGraphBuilderTriangular(WNNGraphBuilder builder, WNNOperand input,
                                                WNNTriangularOptions const *WNN_NULLABLE options);
/** trueValue where condition is not 0, else falseValue. (where) */
WNN_EXPORT WNNOperand wnnGraphBuilderWhere(WNNGraphBuilder builder, WNNOperand condition, WNNOperand trueValue,
                                           WNNOperand falseValue, WNNOperatorOptions const *WNN_NULLABLE options);
/** split into equal parts, splits of them; outputs receives as many operands. (split) */
WNN_EXPORT WNNStatus wnnGraphBuilderSplitEqual(WNNGraphBuilder builder, WNNOperand input, uint32_t splits,
                                               WNNSplitOptions const *WNN_NULLABLE options, WNNOperand *outputs);

/* ------------------------------------------------------------------------------------------------ emulated operators */

/** reshape without the dimensions of size 1 among axes, or without all of them if axesCount is 0.  Axes of other sizes and axes
 * beyond the rank are ignored. (Operator Emulation, squeeze) */
WNN_EXPORT WNNOperand wnnGraphBuilderSqueeze(WNNGraphBuilder builder, WNNOperand input, size_t axesCount,
                                             uint32_t const *WNN_NULLABLE axes, WNNOperatorOptions const *WNN_NULLABLE options);
/** reshape with dimensions of size 1 inserted; axes are their places in the result.  TypeError for an axis that is not less than
 * the rank of the result, or given twice. (Operator Emulation, unsqueeze) */
WNN_EXPORT WNNOperand wnnGraphBuilderUnsqueeze(WNNGraphBuilder builder, WNNOperand input, size_t axesCount,
                                               uint32_t const *axes, WNNOperatorOptions const *WNN_NULLABLE options);
/** reshape to two dimensions: the product of those before axis, and the product of the others.  Returns input itself if axis is
 * greater than its rank. (Operator Emulation, flatten) */
WNN_EXPORT WNNOperand wnnGraphBuilderFlatten(WNNGraphBuilder builder, WNNOperand input, uint32_t axis,
                                             WNNOperatorOptions const *WNN_NULLABLE options);

#ifdef __cplusplus
}
#endif

#endif /* WEBNN_WEBNN_H_ */

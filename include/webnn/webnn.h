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
 * The message of the last call that failed on this thread, "" if none.  Its data end with a NUL.
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

/**
 * When a callback may run (after webgpu.h).  Each runs exactly once, without any lock held: it may call every function here,
 * wait, destroy, and release any object.  When the last object that keeps a context alive is released, callbacks that nobody
 * can wait for any more run with InvalidStateError, inside that release or, if work is still under way, on the timeline thread
 * after it. Values that are none of these count as AllowProcessEvents.
 */
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
#define WNN_CREATE_TENSOR_CALLBACK_INFO_INIT                                                                                   \
    WNN_INIT_(WNNCreateTensorCallbackInfo, {WNNCallbackMode_WaitAnyOnly, NULL, NULL, NULL})
#define WNN_READ_TENSOR_CALLBACK_INFO_INIT WNN_INIT_(WNNReadTensorCallbackInfo, {WNNCallbackMode_WaitAnyOnly, NULL, NULL, NULL})
#define WNN_CONTEXT_LOST_CALLBACK_INFO_INIT                                                                                    \
    WNN_INIT_(WNNContextLostCallbackInfo, {WNNCallbackMode_AllowSpontaneous, NULL, NULL, NULL})
#define WNN_BUFFER_RELEASE_CALLBACK_INFO_INIT WNN_INIT_(WNNBufferReleaseCallbackInfo, {NULL, NULL, NULL})

/* ------------------------------------------------------------------------------------------------ WNNContext */

/** MLContextOptions, and what a native program can choose beyond them. */
typedef struct WNNContextOptions {
    WNNPowerPreference powerPreference;
    bool accelerated;                /**< ask for a massively parallel device; the CPU engine serves either way */
    uint32_t threadCount;            /**< threads per computation; 0: OMP_NUM_THREADS, else all processors */
    WNNStringView debug;             /**< debug switches as in the WEBNN_DEBUG variable, see docs/debugging.md */
    WNNContextLostCallbackInfo lost; /**< called once when the context is lost (MLContext.lost); as there is no
                                          future to wait for, modes other than AllowSpontaneous: by wnnContextProcessEvents */
} WNNContextOptions;

#define WNN_CONTEXT_OPTIONS_INIT                                                                                               \
    WNN_INIT_(WNNContextOptions,                                                                                               \
              {WNNPowerPreference_Default, true, 0, {NULL, 0}, {WNNCallbackMode_AllowSpontaneous, NULL, NULL, NULL}})

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
/** Submits one computation of graph and returns (MLContext.dispatch); one that takes less time than waking a thread may be done by
 * then.  If the computation fails later (no memory), the context is lost: going on with wrong contents would be worse.
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
 * wnnContextLoadGraph on this machine or one like it (docs/compiled-graphs.md).  The file is complete or not there at all; an older
 * one is replaced.  May be called on any thread while the graph computes.  TypeError for an empty path, InvalidStateError for a
 * destroyed graph or a lost context, UnknownError if the file cannot be written, NotSupportedError for a graph that was loaded
 * from a shared object. */
WNN_EXPORT WNN_MUST_USE WNNStatus wnnGraphSave(WNNGraph graph, char const *path);
/** Makes a graph of a file that wnnGraphSave wrote, without compiling, or of a shared object that webnnc made.  The graph is
 * dispatched like a built one and gives the same results bit by bit.  Weights and code stay in the file, which is mapped: it may be
 * deleted or replaced by another meanwhile, but not be written to.  Code in a file is trusted as that of a shared library is;
 * everything else is checked.  DataError if the file is absent, damaged or something else; NotSupportedError if it was made by
 * another version of this library or of oneDNN, for a processor with more features than the context may use, or with weights packed for another
 * number of threads: then the graph is to be built anew.  InvalidStateError if the context is lost. */
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
 * specification; readers of model files take shapes and axes from it).  Takes as long as a naive computation does.  TypeError if
 * the operand depends on an input, or byteLength is not exactly the operand's; the builder stays as it is, its first error too. */
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

#define WNN_CLAMP_OPTIONS_INIT                                                                                                 \
    WNN_INIT_(WNNClampOptions, {{NULL, 0}, {WNNNumberType_Undefined, {0.0}}, {WNNNumberType_Undefined, {0.0}}})

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

#define WNN_CONV2D_OPTIONS_INIT                                                                                                \
    WNN_INIT_(WNNConv2dOptions,                                                                                                \
              {{NULL, 0}, 0, NULL, 0, NULL, 0, NULL, 1, WNNInputOperandLayout_Nchw, WNNConv2dFilterOperandLayout_Oihw, NULL})

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

#define WNN_CONV_TRANSPOSE2D_OPTIONS_INIT                                                                                      \
    WNN_INIT_(WNNConvTranspose2dOptions, {{NULL, 0},                                                                           \
                                          0,                                                                                   \
                                          NULL,                                                                                \
                                          0,                                                                                   \
                                          NULL,                                                                                \
                                          0,                                                                                   \
                                          NULL,                                                                                \
                                          0,                                                                                   \
                                          NULL,                                                                                \
                                          0,                                                                                   \
                                          NULL,                                                                                \
                                          1,                                                                                   \
                                          WNNInputOperandLayout_Nchw,                                                          \
                                          WNNConvTranspose2dFilterOperandLayout_Iohw,                                          \
                                          NULL})

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

#define WNN_GRU_OPTIONS_INIT                                                                                                   \
    WNN_INIT_(                                                                                                                 \
        WNNGruOptions,                                                                                                         \
        {{NULL, 0}, NULL, NULL, NULL, true, false, WNNRecurrentNetworkDirection_Forward, WNNGruWeightLayout_Zrn, 0, NULL})

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

#define WNN_INSTANCE_NORMALIZATION_OPTIONS_INIT                                                                                \
    WNN_INIT_(WNNInstanceNormalizationOptions, {{NULL, 0}, NULL, NULL, 1e-5, WNNInputOperandLayout_Nchw})

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

#define WNN_LSTM_OPTIONS_INIT                                                                                                  \
    WNN_INIT_(WNNLstmOptions, {{NULL, 0},                                                                                      \
                               NULL,                                                                                           \
                               NULL,                                                                                           \
                               NULL,                                                                                           \
                               NULL,                                                                                           \
                               NULL,                                                                                           \
                               false,                                                                                          \
                               WNNRecurrentNetworkDirection_Forward,                                                           \
                               WNNLstmWeightLayout_Iofg,                                                                       \
                               0,                                                                                              \
                               NULL})

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

#define WNN_LSTM_CELL_OPTIONS_INIT                                                                                             \
    WNN_INIT_(WNNLstmCellOptions, {{NULL, 0}, NULL, NULL, NULL, WNNLstmWeightLayout_Iofg, 0, NULL})

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

#define WNN_POOL2D_OPTIONS_INIT                                                                                                \
    WNN_INIT_(WNNPool2dOptions,                                                                                                \
              {{NULL, 0}, 0, NULL, 0, NULL, 0, NULL, 0, NULL, WNNInputOperandLayout_Nchw, WNNRoundingType_Floor, 0, NULL})

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

#define WNN_RESAMPLE2D_OPTIONS_INIT                                                                                            \
    WNN_INIT_(WNNResample2dOptions, {{NULL, 0}, WNNInterpolationMode_NearestNeighbor, 0, NULL, 0, NULL, 0, NULL})

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
 * Every method checks its arguments in the order of the specification's steps and infers the type of its result.  It returns
 * an operand of the builder, or the builder's error operand, which further calls refuse; a failed call leaves the builder as it
 * was.  Methods with a sequence of results return a status and fill outputs, in case of failure with the error operand.
 *
 * Besides what is said at each method, these are refused:
 * - InvalidStateError: any call on a builder that has built, or whose context is lost.
 * - TypeError: an operand that is NULL, an error operand or of another builder, also in options; a data type or rank that is
 * not listed, or that wnnContextGetOperatorSupportLimits does not list; an enumeration value that does not exist, a double that
 * is not finite; a result with more than 2^31-1 elements or of a rank above 8.
 * - UnknownError: out of memory.
 *
 * options may be NULL.  options->label stands in the messages of errors, in square brackets.  Shapes broadcast as the
 * specification's section "Broadcasting" says.  The name in parentheses is the section that defines the operator.
 */

/**
 * Index of the smallest element along axis; of equal ones the lowest index.  input: any data type, rank 1 or more.  The result
 * has options' outputDataType (int32 or int64) and input's shape without the axis, or with 1 in its place if keepDimensions.
 * TypeError if axis is not less than the rank. (argMin/argMax operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderArgMin(WNNGraphBuilder builder, WNNOperand input, uint32_t axis,
                                            WNNArgMinMaxOptions const *WNN_NULLABLE options);
/**
 * Index of the largest element along axis; of equal ones the lowest index.  input: any data type, rank 1 or more.  The result
 * has options' outputDataType (int32 or int64) and input's shape without the axis, or with 1 in its place if keepDimensions.
 * TypeError if axis is not less than the rank. (argMin/argMax operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderArgMax(WNNGraphBuilder builder, WNNOperand input, uint32_t axis,
                                            WNNArgMinMaxOptions const *WNN_NULLABLE options);
/**
 * (input - mean) / sqrt(variance + epsilon) * scale + bias, with statistics given per index of options' axis (default 1).
 * input: float32 or float16, rank 1 or more; mean, variance, scale and bias: the same data type, shape [size of the axis].  A
 * missing scale is 1, a missing bias 0.  TypeError if axis is not less than the rank or a shape differs. (batchNormalization)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderBatchNormalization(WNNGraphBuilder builder, WNNOperand input, WNNOperand mean,
                                                        WNNOperand variance,
                                                        WNNBatchNormalizationOptions const *WNN_NULLABLE options);
/**
 * Each element converted to dataType.  Any data types and rank; the shape stays.  Float to integer truncates and saturates, NaN
 * becomes 0; integer to integer keeps the low bits; to float rounds to nearest even. (cast)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderCast(WNNGraphBuilder builder, WNNOperand input, WNNOperandDataType dataType,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * min(max(x, minValue), maxValue).  Any data type and rank.  The bounds are cast to the data type of input first; a missing
 * bound does not bound (the specification's text has the two defaults exchanged).  TypeError if minValue is greater than
 * maxValue after the cast. (clamp)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderClamp(WNNGraphBuilder builder, WNNOperand input,
                                           WNNClampOptions const *WNN_NULLABLE options);
/**
 * The inputs one after the other along axis.  Any data type and rank 1 or more, the same for all; all dimensions but axis must
 * be equal.  TypeError for no or more than 8192 inputs, an axis not less than the rank, or a joined dimension above 2^31-1.
 * (concat)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderConcat(WNNGraphBuilder builder, size_t inputsCount, WNNOperand const *inputs,
                                            uint32_t axis, WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * 2-D convolution.  All operands float32 or all float16.  input: [batches, channels, height, width] or as options' inputLayout
 * says; filter: [outputChannels, channels / groups, height, width] or as filterLayout says; bias: [outputChannels].  padding is
 * [beginning height, ending height, beginning width, ending width], strides and dilations are [height, width].  Each spatial
 * size of the result is floor((input - ((filter - 1) * dilation + 1) + both paddings) / stride) + 1.  TypeError for lists of
 * another length, a stride, dilation or groups of 0, channels that do not fit, or a filter larger than the padded input.
 * (conv2d)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderConv2d(WNNGraphBuilder builder, WNNOperand input, WNNOperand filter,
                                            WNNConv2dOptions const *WNN_NULLABLE options);
/**
 * 2-D transposed convolution, the gradient of a convolution with regard to its input.  Operands and options as for conv2d,
 * except: filter is [channels, outputChannels / groups, height, width] or as filterLayout says; a spatial size of the result is
 * (input - 1) * stride + (filter - 1) * dilation + 1 - both paddings + outputPadding, where outputPadding must be less than the
 * stride; outputSizes [height, width], if given, replaces it and must be from the size without outputPadding to stride - 1
 * more. (convTranspose2d)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderConvTranspose2d(WNNGraphBuilder builder, WNNOperand input, WNNOperand filter,
                                                     WNNConvTranspose2dOptions const *WNN_NULLABLE options);
/**
 * Running sum along axis: element i is the sum of the elements up to i; with exclusive, of those before i (the first is 0);
 * with reversed, from the end.  float32, float16, int32, uint32, int64 or uint64; rank 1 or more; the shape stays.  TypeError
 * if axis is not less than the rank. (cumulativeSum)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderCumulativeSum(WNNGraphBuilder builder, WNNOperand input, uint32_t axis,
                                                   WNNCumulativeSumOptions const *WNN_NULLABLE options);
/**
 * a + b.  Any data type, the same for both; shapes broadcast to each other. Integers wrap around. (element-wise binary
 * operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderAdd(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * a - b.  Any data type, the same for both; shapes broadcast to each other. Integers wrap around. (element-wise binary
 * operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderSub(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * a * b.  Any data type, the same for both; shapes broadcast to each other. Integers wrap around. (element-wise binary
 * operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderMul(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * a / b.  Any data type, the same for both; shapes broadcast to each other. Integers round toward zero; x / 0 is 0.
 * (element-wise binary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderDiv(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * The larger of a and b, NaN if either is.  Any data type, the same for both; shapes broadcast to each other. (element-wise
 * binary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderMax(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * The smaller of a and b, NaN if either is.  Any data type, the same for both; shapes broadcast to each other. (element-wise
 * binary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderMin(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/** a to the power b.  Any data type, the same for both; shapes broadcast to each other. (element-wise binary operations) */
WNN_EXPORT WNNOperand wnnGraphBuilderPow(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * 1 where a == b, else 0.  Any data type, the same for both; shapes broadcast to each other; the result is uint8. (element-wise
 * logical operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderEqual(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                           WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * 1 where a != b, else 0; NaN differs from everything.  Any data type, the same for both; shapes broadcast to each other; the
 * result is uint8. (element-wise logical operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderNotEqual(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                              WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * 1 where a > b, else 0.  Any data type, the same for both; shapes broadcast to each other; the result is uint8. (element-wise
 * logical operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderGreater(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                             WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * 1 where a >= b, else 0.  Any data type, the same for both; shapes broadcast to each other; the result is uint8. (element-wise
 * logical operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderGreaterOrEqual(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                                    WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * 1 where a < b, else 0.  Any data type, the same for both; shapes broadcast to each other; the result is uint8. (element-wise
 * logical operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderLesser(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                            WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * 1 where a <= b, else 0.  Any data type, the same for both; shapes broadcast to each other; the result is uint8. (element-wise
 * logical operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderLesserOrEqual(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                                   WNNOperatorOptions const *WNN_NULLABLE options);
/** 1 where a is 0, else 0.  uint8, any rank; the shape stays. (element-wise logical operations) */
WNN_EXPORT WNNOperand wnnGraphBuilderLogicalNot(WNNGraphBuilder builder, WNNOperand a,
                                                WNNOperatorOptions const *WNN_NULLABLE options);
/** 1 where neither a nor b is 0, else 0.  uint8; shapes broadcast to each other. (element-wise logical operations) */
WNN_EXPORT WNNOperand wnnGraphBuilderLogicalAnd(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                                WNNOperatorOptions const *WNN_NULLABLE options);
/** 1 where a or b is not 0, else 0.  uint8; shapes broadcast to each other. (element-wise logical operations) */
WNN_EXPORT WNNOperand wnnGraphBuilderLogicalOr(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                               WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * 1 where exactly one of a and b is not 0, else 0.  uint8; shapes broadcast to each other. (element-wise logical operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderLogicalXor(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                                WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * 1 where a is NaN, else 0.  float32 or float16, any rank; the result is uint8 of the same shape. (element-wise logical
 * operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderIsNaN(WNNGraphBuilder builder, WNNOperand a,
                                           WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * 1 where a is an infinity of either sign, else 0.  float32 or float16, any rank; the result is uint8 of the same shape.
 * (element-wise logical operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderIsInfinite(WNNGraphBuilder builder, WNNOperand a,
                                                WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * |x|, the least int wrapping around to itself.  float32, float16, int64, int32 or int8, any rank; data type and shape stay.
 * (element-wise unary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderAbs(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * The smallest integer not below x.  float32 or float16, any rank; data type and shape stay. (element-wise unary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderCeil(WNNGraphBuilder builder, WNNOperand input,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/** Cosine of x in radians.  float32 or float16, any rank; data type and shape stay. (element-wise unary operations) */
WNN_EXPORT WNNOperand wnnGraphBuilderCos(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/** Gauss error function.  float32 or float16, any rank; data type and shape stay. (element-wise unary operations) */
WNN_EXPORT WNNOperand wnnGraphBuilderErf(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/** e to the power x.  float32 or float16, any rank; data type and shape stay. (element-wise unary operations) */
WNN_EXPORT WNNOperand wnnGraphBuilderExp(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/** The largest integer not above x.  float32 or float16, any rank; data type and shape stay. (element-wise unary operations) */
WNN_EXPORT WNNOperand wnnGraphBuilderFloor(WNNGraphBuilder builder, WNNOperand input,
                                           WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * x; lets an input or constant be a graph's output.  Any data type and rank; data type and shape stay. (element-wise unary
 * operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderIdentity(WNNGraphBuilder builder, WNNOperand input,
                                              WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Natural logarithm: NaN below 0, -Infinity at 0.  float32 or float16, any rank; data type and shape stay. (element-wise unary
 * operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderLog(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * -x, the least int wrapping around to itself.  float32, float16, int64, int32 or int8, any rank; data type and shape stay.
 * (element-wise unary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderNeg(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/** 1 / x.  float32 or float16, any rank; data type and shape stay. (element-wise unary operations) */
WNN_EXPORT WNNOperand wnnGraphBuilderReciprocal(WNNGraphBuilder builder, WNNOperand input,
                                                WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * The nearest integer, halves to the even one.  float32 or float16, any rank; data type and shape stay. (element-wise unary
 * operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderRoundEven(WNNGraphBuilder builder, WNNOperand input,
                                               WNNOperatorOptions const *WNN_NULLABLE options);
/** Sine of x in radians.  float32 or float16, any rank; data type and shape stay. (element-wise unary operations) */
WNN_EXPORT WNNOperand wnnGraphBuilderSin(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * -1 below 0, 1 above, else 0, also of NaN.  float32, float16, int64, int32 or int8, any rank; data type and shape stay.
 * (element-wise unary operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderSign(WNNGraphBuilder builder, WNNOperand input,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/** Square root, NaN below 0.  float32 or float16, any rank; data type and shape stay. (element-wise unary operations) */
WNN_EXPORT WNNOperand wnnGraphBuilderSqrt(WNNGraphBuilder builder, WNNOperand input,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/** Tangent of x in radians.  float32 or float16, any rank; data type and shape stay. (element-wise unary operations) */
WNN_EXPORT WNNOperand wnnGraphBuilderTan(WNNGraphBuilder builder, WNNOperand input,
                                         WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * (input - zeroPoint) * scale.  input and zeroPoint: uint8, int8, uint32 or int32, the same for both; scale: float32 or
 * float16, which the result has.  scale and zeroPoint have one shape of input's rank, each dimension of which divides input's:
 * an element of them serves a block of elements.  Scales that are not positive are used as they are. (dequantizeLinear)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderDequantizeLinear(WNNGraphBuilder builder, WNNOperand input, WNNOperand scale,
                                                      WNNOperand zeroPoint, WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * roundEven(input / scale) + zeroPoint, saturated to the data type of zeroPoint (uint8, int8, uint32 or int32), which the
 * result has.  input and scale: float32 or float16, the same for both.  scale and zeroPoint have one shape of input's rank,
 * each dimension of which divides input's.  Scales that are not positive are used as they are. (quantizeLinear)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderQuantizeLinear(WNNGraphBuilder builder, WNNOperand input, WNNOperand scale,
                                                    WNNOperand zeroPoint, WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * x, or alpha * (exp(x) - 1) below 0; alpha is cast to the data type of input.  float32 or float16, any rank; data type and
 * shape stay. (elu)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderElu(WNNGraphBuilder builder, WNNOperand input, WNNEluOptions const *WNN_NULLABLE options);
/**
 * input broadcast to newShape, which may have more dimensions; only dimensions of size 1 can be repeated.  Any data type and
 * rank.  TypeError if input's shape is not broadcastable to newShape. (expand)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderExpand(WNNGraphBuilder builder, WNNOperand input, size_t newShapeCount,
                                            uint32_t const *newShape, WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Slices of input along axis at indices.  input: any data type, rank 1 or more; indices: int32, uint32 or int64, any rank, -n
 * to n - 1 for a dimension of size n (others are clamped to it).  The result has input's shape with indices' shape in place of
 * the axis.  TypeError if axis is not less than the rank. (gather)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderGather(WNNGraphBuilder builder, WNNOperand input, WNNOperand indices,
                                            WNNGatherOptions const *WNN_NULLABLE options);
/**
 * For every element of indices the element of input at the same place, but at that index along axis.  input: any data type,
 * rank 1 or more; indices: int32, uint32 or int64, of input's shape except along axis; the result has its shape.  Indices as
 * for gather. (gatherElements)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderGatherElements(WNNGraphBuilder builder, WNNOperand input, WNNOperand indices,
                                                    WNNGatherOptions const *WNN_NULLABLE options);
/**
 * Slices of input at coordinates.  input: any data type, rank 1 or more; indices: int32, uint32 or int64, rank 1 or more, its
 * last dimension the number of leading dimensions of input that a coordinate names.  The result has indices' shape without the
 * last dimension, then the dimensions of input that are left.  Indices as for gather.  TypeError if a coordinate is longer than
 * input's rank. (gatherND)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderGatherND(WNNGraphBuilder builder, WNNOperand input, WNNOperand indices,
                                              WNNOperatorOptions const *WNN_NULLABLE options);
/** 0.5 * x * (1 + erf(x / sqrt(2))).  float32 or float16, any rank; data type and shape stay. (gelu) */
WNN_EXPORT WNNOperand wnnGraphBuilderGelu(WNNGraphBuilder builder, WNNOperand input,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * alpha * a * b + beta * c with matrices a, b, transposed before if aTranspose, bTranspose.  All float32 or all float16; a, b:
 * rank 2; c: rank 0 to 2, broadcastable to the product's shape, 0 if missing.  alpha and beta are cast to the data type.
 * TypeError if the columns of a are not as many as the rows of b. (gemm)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderGemm(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                          WNNGemmOptions const *WNN_NULLABLE options);
/**
 * Gated recurrent unit over a sequence.  All operands float32 or all float16.  input: [steps, batch, inputSize]; weight:
 * [directions, 3 * hiddenSize, inputSize]; recurrentWeight: [directions, 3 * hiddenSize, hiddenSize]; bias, recurrentBias:
 * [directions, 3 * hiddenSize]; initialHiddenState: [directions, batch, hiddenSize], 0 if missing.  layout orders the gates;
 * resetAfter applies the reset gate behind the matrix product; activations are those of the update and reset gates and of the
 * new gate (default sigmoid, tanh); direction both has 2 directions.  outputs[0]: the last state, [directions, batch,
 * hiddenSize]; outputs[1]: all states, [steps, directions, batch, hiddenSize], if returnSequence, else NULL.  outputs has room
 * for 2. (gru)
 */
WNN_EXPORT WNNStatus wnnGraphBuilderGru(WNNGraphBuilder builder, WNNOperand input, WNNOperand weight,
                                        WNNOperand recurrentWeight, uint32_t steps, uint32_t hiddenSize,
                                        WNNGruOptions const *WNN_NULLABLE options, WNNOperand *outputs);
/**
 * One step of a gated recurrent unit.  All operands float32 or all float16.  input: [batch, inputSize]; weight: [3 *
 * hiddenSize, inputSize]; recurrentWeight: [3 * hiddenSize, hiddenSize]; hiddenState: [batch, hiddenSize], as the result; bias,
 * recurrentBias: [3 * hiddenSize].  Options as for gru. (gruCell)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderGruCell(WNNGraphBuilder builder, WNNOperand input, WNNOperand weight,
                                             WNNOperand recurrentWeight, WNNOperand hiddenState, uint32_t hiddenSize,
                                             WNNGruCellOptions const *WNN_NULLABLE options);
/**
 * max(0, min(1, alpha * x + beta)); alpha and beta are cast to the data type of input.  float32 or float16, any rank; data type
 * and shape stay. (hardSigmoid)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderHardSigmoid(WNNGraphBuilder builder, WNNOperand input,
                                                 WNNHardSigmoidOptions const *WNN_NULLABLE options);
/** x * max(0, min(6, x + 3)) / 6.  float32 or float16, any rank; data type and shape stay. (hardSwish) */
WNN_EXPORT WNNOperand wnnGraphBuilderHardSwish(WNNGraphBuilder builder, WNNOperand input,
                                               WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * (input - mean) / sqrt(variance + epsilon) * scale + bias, with mean and variance of the spatial dimensions for every batch
 * and channel.  input: float32 or float16, rank 4, [batch, channels, height, width] or as layout says; scale (default 1), bias
 * (default 0): the same data type, shape [channels].  The shape stays. (instanceNormalization)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderInstanceNormalization(WNNGraphBuilder builder, WNNOperand input,
                                                           WNNInstanceNormalizationOptions const *WNN_NULLABLE options);
/**
 * (input - mean) / sqrt(variance + epsilon) * scale + bias, with mean and variance over options' axes (default: all but the
 * first). input: float32 or float16, any rank; scale (default 1), bias (default 0): the same data type, the sizes of axes in
 * the order of axes.  The shape stays.  TypeError for axes out of range or given twice. (layerNormalization)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderLayerNormalization(WNNGraphBuilder builder, WNNOperand input,
                                                        WNNLayerNormalizationOptions const *WNN_NULLABLE options);
/**
 * x, or alpha * x below 0; alpha is cast to the data type of input.  float32 or float16, any rank; data type and shape stay.
 * (leakyRelu)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderLeakyRelu(WNNGraphBuilder builder, WNNOperand input,
                                               WNNLeakyReluOptions const *WNN_NULLABLE options);
/**
 * alpha * x + beta; alpha and beta are cast to the data type of input.  float32 or float16, any rank; data type and shape stay.
 * (linear)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderLinear(WNNGraphBuilder builder, WNNOperand input,
                                            WNNLinearOptions const *WNN_NULLABLE options);
/**
 * Long short-term memory over a sequence.  All operands float32 or all float16.  input: [steps, batch, inputSize]; weight:
 * [directions, 4 * hiddenSize, inputSize]; recurrentWeight: [directions, 4 * hiddenSize, hiddenSize]; bias, recurrentBias:
 * [directions, 4 * hiddenSize]; peepholeWeight: [directions, 3 * hiddenSize] for the input, output and forget gates;
 * initialHiddenState, initialCellState: [directions, batch, hiddenSize], 0 if missing.  layout orders the gates; activations
 * are those of the gates, of the cell gate and of the cell state (default sigmoid, tanh, tanh).  outputs[0], outputs[1]: the
 * last hidden and cell state, [directions, batch, hiddenSize]; outputs[2]: all hidden states, [steps, directions, batch,
 * hiddenSize], if returnSequence, else NULL.  outputs has room for 3. (lstm)
 */
WNN_EXPORT WNNStatus wnnGraphBuilderLstm(WNNGraphBuilder builder, WNNOperand input, WNNOperand weight,
                                         WNNOperand recurrentWeight, uint32_t steps, uint32_t hiddenSize,
                                         WNNLstmOptions const *WNN_NULLABLE options, WNNOperand *outputs);
/**
 * One step of long short-term memory.  All operands float32 or all float16.  input: [batch, inputSize]; weight: [4 *
 * hiddenSize, inputSize]; recurrentWeight: [4 * hiddenSize, hiddenSize]; hiddenState, cellState: [batch, hiddenSize]; bias,
 * recurrentBias: [4 * hiddenSize]; peepholeWeight: [3 * hiddenSize].  Options as for lstm.  outputs[0], outputs[1]: the new
 * hidden and cell state, [batch, hiddenSize].  outputs has room for 2. (lstmCell)
 */
WNN_EXPORT WNNStatus wnnGraphBuilderLstmCell(WNNGraphBuilder builder, WNNOperand input, WNNOperand weight,
                                             WNNOperand recurrentWeight, WNNOperand hiddenState, WNNOperand cellState,
                                             uint32_t hiddenSize, WNNLstmCellOptions const *WNN_NULLABLE options,
                                             WNNOperand *outputs);
/**
 * Matrix product of the last two dimensions; the others broadcast.  Both float32 or both float16, rank 2 or more.  TypeError if
 * the columns of a are not as many as the rows of b. (matmul)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderMatmul(WNNGraphBuilder builder, WNNOperand a, WNNOperand b,
                                            WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * input with a border: beginningPadding[d] elements before and endingPadding[d] behind it in dimension d, one of each per
 * dimension.  Any data type and rank.  mode says what they are: value cast to the data type of input (constant), the nearest
 * element of input (edge), or input mirrored without repeating its edge (reflection; padding must be less than the dimension).
 * (pad)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderPad(WNNGraphBuilder builder, WNNOperand input, size_t beginningPaddingCount,
                                         uint32_t const *beginningPadding, size_t endingPaddingCount,
                                         uint32_t const *endingPadding, WNNPadOptions const *WNN_NULLABLE options);
/**
 * Mean of the elements under each window, those of the padding left out.  input: float32 or float16, rank 4, [batch, channels,
 * height, width] or as layout says.  windowDimensions (default: the whole height and width), strides and dilations are [height,
 * width], padding as for conv2d.  Spatial sizes of the result are those of a convolution, rounded as outputShapeRounding says,
 * or outputSizes, which must be what rounding down or up gives.  TypeError for lists of another length, zeros in them, or a
 * window larger than the padded input. (pooling operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderAveragePool2d(WNNGraphBuilder builder, WNNOperand input,
                                                   WNNPool2dOptions const *WNN_NULLABLE options);
/**
 * Square root of the sum of the squares under each window.  input: float32 or float16, rank 4, [batch, channels, height, width]
 * or as layout says.  windowDimensions (default: the whole height and width), strides and dilations are [height, width],
 * padding as for conv2d.  Spatial sizes of the result are those of a convolution, rounded as outputShapeRounding says, or
 * outputSizes, which must be what rounding down or up gives.  TypeError for lists of another length, zeros in them, or a window
 * larger than the padded input. (pooling operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderL2Pool2d(WNNGraphBuilder builder, WNNOperand input,
                                              WNNPool2dOptions const *WNN_NULLABLE options);
/**
 * The largest element under each window.  input: any data type, rank 4, [batch, channels, height, width] or as layout says.
 * windowDimensions (default: the whole height and width), strides and dilations are [height, width], padding as for conv2d.
 * Spatial sizes of the result are those of a convolution, rounded as outputShapeRounding says, or outputSizes, which must be
 * what rounding down or up gives.  TypeError for lists of another length, zeros in them, or a window larger than the padded
 * input. (pooling operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderMaxPool2d(WNNGraphBuilder builder, WNNOperand input,
                                               WNNPool2dOptions const *WNN_NULLABLE options);
/**
 * x, or slope * x below 0.  float32, float16, int64, int32 or int8, the same for both; shapes broadcast to each other. (prelu)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderPrelu(WNNGraphBuilder builder, WNNOperand input, WNNOperand slope,
                                           WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Sum of absolute values.  float32, float16, int32, uint32, int64 or uint64, any rank.  options' axes (default: all; empty:
 * each element by itself) are left out of the result's shape, or are 1 in it if keepDimensions.  TypeError for axes out of
 * range or given twice. (reduction operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceL1(WNNGraphBuilder builder, WNNOperand input,
                                              WNNReduceOptions const *WNN_NULLABLE options);
/**
 * Square root of the sum of squares.  float32 or float16, any rank.  options' axes (default: all; empty: each element by
 * itself) are left out of the result's shape, or are 1 in it if keepDimensions.  TypeError for axes out of range or given
 * twice. (reduction operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceL2(WNNGraphBuilder builder, WNNOperand input,
                                              WNNReduceOptions const *WNN_NULLABLE options);
/**
 * Natural logarithm of the sum.  float32 or float16, any rank.  options' axes (default: all; empty: each element by itself) are
 * left out of the result's shape, or are 1 in it if keepDimensions.  TypeError for axes out of range or given twice. (reduction
 * operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceLogSum(WNNGraphBuilder builder, WNNOperand input,
                                                  WNNReduceOptions const *WNN_NULLABLE options);
/**
 * Natural logarithm of the sum of exponentials, computed without overflow.  float32 or float16, any rank.  options' axes
 * (default: all; empty: each element by itself) are left out of the result's shape, or are 1 in it if keepDimensions.
 * TypeError for axes out of range or given twice. (reduction operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceLogSumExp(WNNGraphBuilder builder, WNNOperand input,
                                                     WNNReduceOptions const *WNN_NULLABLE options);
/**
 * The largest element.  Any data type, any rank.  options' axes (default: all; empty: each element by itself) are left out of
 * the result's shape, or are 1 in it if keepDimensions.  TypeError for axes out of range or given twice. (reduction operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceMax(WNNGraphBuilder builder, WNNOperand input,
                                               WNNReduceOptions const *WNN_NULLABLE options);
/**
 * The mean.  float32 or float16, any rank.  options' axes (default: all; empty: each element by itself) are left out of the
 * result's shape, or are 1 in it if keepDimensions.  TypeError for axes out of range or given twice. (reduction operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceMean(WNNGraphBuilder builder, WNNOperand input,
                                                WNNReduceOptions const *WNN_NULLABLE options);
/**
 * The smallest element.  Any data type, any rank.  options' axes (default: all; empty: each element by itself) are left out of
 * the result's shape, or are 1 in it if keepDimensions.  TypeError for axes out of range or given twice. (reduction operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceMin(WNNGraphBuilder builder, WNNOperand input,
                                               WNNReduceOptions const *WNN_NULLABLE options);
/**
 * The product.  float32, float16, int32, uint32, int64 or uint64, any rank.  options' axes (default: all; empty: each element
 * by itself) are left out of the result's shape, or are 1 in it if keepDimensions.  TypeError for axes out of range or given
 * twice. (reduction operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceProduct(WNNGraphBuilder builder, WNNOperand input,
                                                   WNNReduceOptions const *WNN_NULLABLE options);
/**
 * The sum.  float32, float16, int32, uint32, int64 or uint64, any rank.  options' axes (default: all; empty: each element by
 * itself) are left out of the result's shape, or are 1 in it if keepDimensions.  TypeError for axes out of range or given
 * twice. (reduction operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceSum(WNNGraphBuilder builder, WNNOperand input,
                                               WNNReduceOptions const *WNN_NULLABLE options);
/**
 * The sum of squares.  float32, float16, int32, uint32, int64 or uint64, any rank.  options' axes (default: all; empty: each
 * element by itself) are left out of the result's shape, or are 1 in it if keepDimensions.  TypeError for axes out of range or
 * given twice. (reduction operations)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReduceSumSquare(WNNGraphBuilder builder, WNNOperand input,
                                                     WNNReduceOptions const *WNN_NULLABLE options);
/** max(0, x).  float32, float16, int64, int32 or int8, any rank; data type and shape stay. (relu) */
WNN_EXPORT WNNOperand wnnGraphBuilderRelu(WNNGraphBuilder builder, WNNOperand input,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * input with two dimensions resized.  float32, float16, uint8 or int8, rank 4.  options' axes (default [2, 3], in any order)
 * are resized to sizes or, if that is missing, to floor(size * scales) (default [1, 1]).  mode is nearest-neighbor or linear;
 * centres of elements are aligned.  TypeError for lists of another length than 2, axes out of range or equal, scales not above
 * 0. (resample2d)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderResample2d(WNNGraphBuilder builder, WNNOperand input,
                                                WNNResample2dOptions const *WNN_NULLABLE options);
/**
 * The same elements, in the same row-major order, as newShape (empty: a scalar).  Any data type and rank.  TypeError if
 * newShape has another number of elements. (reshape)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReshape(WNNGraphBuilder builder, WNNOperand input, size_t newShapeCount,
                                             uint32_t const *newShape, WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Elements in the opposite order along options' axes (default: all).  Any data type and rank; the shape stays.  TypeError for
 * axes out of range or given twice. (reverse)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderReverse(WNNGraphBuilder builder, WNNOperand input,
                                             WNNReverseOptions const *WNN_NULLABLE options);
/**
 * input with elements replaced: for every element of updates that of the same place, but at its index along axis.  input: any
 * data type, rank 1 or more; indices: int32, uint32 or int64, of input's shape except along axis; updates: input's data type,
 * indices' shape.  Of two updates of one place the later one counts.  Indices as for gather. (scatterElements)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderScatterElements(WNNGraphBuilder builder, WNNOperand input, WNNOperand indices,
                                                     WNNOperand updates, WNNScatterOptions const *WNN_NULLABLE options);
/**
 * input with slices replaced by those of updates at coordinates.  input: any data type, rank 1 or more; indices: int32, uint32
 * or int64, rank 1 or more, as for gatherND; updates: input's data type, the shape that gatherND would read.  Of two updates of
 * one place the later one counts. (scatterND)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderScatterND(WNNGraphBuilder builder, WNNOperand input, WNNOperand indices,
                                               WNNOperand updates, WNNOperatorOptions const *WNN_NULLABLE options);
/** 1 / (1 + exp(-x)).  float32 or float16, any rank; data type and shape stay. (sigmoid) */
WNN_EXPORT WNNOperand wnnGraphBuilderSigmoid(WNNGraphBuilder builder, WNNOperand input,
                                             WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * The window of input from starts[d], sizes[d] long, in every dimension d; every strides[d]-th element of it (default 1).  Any
 * data type and rank.  TypeError for lists of another length than the rank, sizes or strides of 0, or a window that reaches
 * beyond input. (slice)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderSlice(WNNGraphBuilder builder, WNNOperand input, size_t startsCount,
                                           uint32_t const *starts, size_t sizesCount, uint32_t const *sizes,
                                           WNNSliceOptions const *WNN_NULLABLE options);
/**
 * exp(x - max) / sum of exp(x - max) along axis.  float32 or float16, rank 1 or more; the shape stays.  TypeError if axis is
 * not less than the rank. (softmax)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderSoftmax(WNNGraphBuilder builder, WNNOperand input, uint32_t axis,
                                             WNNOperatorOptions const *WNN_NULLABLE options);
/** log(1 + exp(x)).  float32 or float16, any rank; data type and shape stay. (softplus) */
WNN_EXPORT WNNOperand wnnGraphBuilderSoftplus(WNNGraphBuilder builder, WNNOperand input,
                                              WNNOperatorOptions const *WNN_NULLABLE options);
/** x / (1 + |x|).  float32 or float16, any rank; data type and shape stay. (softsign) */
WNN_EXPORT WNNOperand wnnGraphBuilderSoftsign(WNNGraphBuilder builder, WNNOperand input,
                                              WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Parts of input along options' axis, splits[i] long; outputs receives splitsCount operands.  Any data type, rank 1 or more.
 * TypeError for no or more than 8192 parts (outputs is not written then), a part of 0, or a sum other than the size of the
 * axis. (split)
 */
WNN_EXPORT WNNStatus wnnGraphBuilderSplit(WNNGraphBuilder builder, WNNOperand input, size_t splitsCount, uint32_t const *splits,
                                          WNNSplitOptions const *WNN_NULLABLE options, WNNOperand *outputs);
/** Hyperbolic tangent.  float32 or float16, any rank; data type and shape stay. (tanh) */
WNN_EXPORT WNNOperand wnnGraphBuilderTanh(WNNGraphBuilder builder, WNNOperand input,
                                          WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * input repeated repetitions[d] times in every dimension d.  Any data type and rank.  TypeError for another number of
 * repetitions than the rank, a repetition of 0, or a dimension above 2^31-1. (tile)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderTile(WNNGraphBuilder builder, WNNOperand input, size_t repetitionsCount,
                                          uint32_t const *repetitions, WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * Dimension d of the result is dimension permutation[d] of input (default: the reversed order).  Any data type and rank.
 * TypeError if permutation is none. (transpose)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderTranspose(WNNGraphBuilder builder, WNNOperand input,
                                               WNNTransposeOptions const *WNN_NULLABLE options);
/**
 * The upper or lower triangle of each matrix in the last two dimensions, zeros elsewhere.  Any data type, rank 2 or more; the
 * shape stays.  diagonal moves the border that is kept: above 0 towards the upper right, below 0 towards the lower left.
 * (triangular)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderTriangular(WNNGraphBuilder builder, WNNOperand input,
                                                WNNTriangularOptions const *WNN_NULLABLE options);
/**
 * trueValue where condition is not 0, else falseValue.  condition: uint8; the others: any data type, the same for both; all
 * shapes broadcast to each other. (where)
 */
WNN_EXPORT WNNOperand wnnGraphBuilderWhere(WNNGraphBuilder builder, WNNOperand condition, WNNOperand trueValue,
                                           WNNOperand falseValue, WNNOperatorOptions const *WNN_NULLABLE options);
/**
 * split into that many equal parts; outputs receives as many operands.  TypeError if the size of the axis is not divisible, or
 * as for split. (split)
 */
WNN_EXPORT WNNStatus wnnGraphBuilderSplitEqual(WNNGraphBuilder builder, WNNOperand input, uint32_t splits,
                                               WNNSplitOptions const *WNN_NULLABLE options, WNNOperand *outputs);

/* ------------------------------------------------------------------------------------------------ emulated operators */

/** reshape without the dimensions of size 1 among axes, or without all of them if axesCount is 0.  Axes of other sizes and axes
 * beyond the rank are ignored. (Operator Emulation, squeeze) */
WNN_EXPORT WNNOperand wnnGraphBuilderSqueeze(WNNGraphBuilder builder, WNNOperand input, size_t axesCount,
                                             uint32_t const *WNN_NULLABLE axes, WNNOperatorOptions const *WNN_NULLABLE options);
/** reshape with dimensions of size 1 inserted; axes are their places in the result.  TypeError for an axis that is not less
 * than the rank of the result, or given twice. (Operator Emulation, unsqueeze) */
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

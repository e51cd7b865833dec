/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/**
 * @file webnn_types.h
 * The part of webnn.h with handles, strings, numbers, statuses, enumerations, descriptors and callbacks.  Programs include
 * webnn.h.
 */
#ifndef WEBNN_WEBNN_TYPES_H_
#define WEBNN_WEBNN_TYPES_H_

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

/** Holds the state of one execution device and its timeline (MLContext).  Any number of threads may share it. */
typedef struct WNNContextImpl *WNNContext;
/** Builds one graph (MLGraphBuilder).  It is not thread-safe: only one thread at a time may use it. */
typedef struct WNNGraphBuilderImpl *WNNGraphBuilder;
/** A value in a graph under construction (MLOperand).  It does not change, and is as thread-safe as its builder. */
typedef struct WNNOperandImpl *WNNOperand;
/**
 * Is a compiled graph (MLGraph), which does not change.  It is thread-safe; any number of computations may run at the same
 * time.
 */
typedef struct WNNGraphImpl *WNNGraph;
/**
 * Holds memory of a context, an input or output of graphs (MLTensor).  It is thread-safe: its contents change only on the
 * timeline.
 */
typedef struct WNNTensorImpl *WNNTensor;
/** Ends the computations that take it as an argument (wnnCancellationCancel).  Any number of threads may share it. */
typedef struct WNNCancellationImpl *WNNCancellation;

/* ------------------------------------------------------------------------------------------------ strings, numbers */

/** Stands for the length of a WNNStringView whose data end with a NUL. */
#define WNN_STRLEN SIZE_MAX

/** Is UTF-8 text, not necessarily NUL-terminated.  {NULL, 0} is the empty string. */
typedef struct WNNStringView {
    char const *WNN_NULLABLE data;
    size_t length;
} WNNStringView;

#define WNN_STRING_VIEW_INIT WNN_INIT_(WNNStringView, {NULL, 0})

/** Returns a view of a NUL-terminated string. */
static inline WNNStringView WNN_STR(char const *text)
{
    WNNStringView view = {text, WNN_STRLEN};
    return view;
}

/** Describes which member of a WNNNumber holds its value. */
typedef enum WNNNumberType {
    WNNNumberType_Undefined = 0, /**< no number: the option is absent */
    WNNNumberType_Float64 = 1,
    WNNNumberType_Int64 = 2,
    WNNNumberType_Uint64 = 3,
    WNNNumberType_Force32 = 0x7FFFFFFF
} WNNNumberType;

/**
 * Holds a number of any kind (MLNumber: bigint or unrestricted double).  It is cast to the operand's type where it is used:
 * saturating, rounding to nearest even, NaN to 0 for integers (specification, "Casting").
 */
typedef struct WNNNumber {
    WNNNumberType type;
    union {
        double float64;
        int64_t int64;
        uint64_t uint64;
    } value;
} WNNNumber;

#define WNN_NUMBER_INIT WNN_INIT_(WNNNumber, {WNNNumberType_Undefined, {0.0}})

/** Returns a number that is a double. */
static inline WNNNumber wnnNumber(double value)
{
    WNNNumber n;
    n.type = WNNNumberType_Float64;
    n.value.float64 = value;
    return n;
}

/** Returns a number that is a signed integer. */
static inline WNNNumber wnnNumberInt64(int64_t value)
{
    WNNNumber n;
    n.type = WNNNumberType_Int64;
    n.value.int64 = value;
    return n;
}

/** Returns a number that is an unsigned integer. */
static inline WNNNumber wnnNumberUint64(uint64_t value)
{
    WNNNumber n;
    n.type = WNNNumberType_Uint64;
    n.value.uint64 = value;
    return n;
}

/* ------------------------------------------------------------------------------------------------ status */

/** The result of a call: success, or the error kind in the specification's steps. */
typedef enum WNNStatus {
    WNNStatus_Success = 0,
    WNNStatus_TypeError = 1,         /**< an argument that the specification refuses */
    WNNStatus_InvalidStateError = 2, /**< an object that is lost, destroyed or already built */
    WNNStatus_OperationError = 3,    /**< a build that failed */
    WNNStatus_UnknownError = 4,      /**< out of memory, or another failure outside the caller's control */
    WNNStatus_NotSupportedError = 5, /**< no engine can support the options */
    WNNStatus_DataError = 6,         /**< a file or text that cannot be read as what it should be */
    WNNStatus_TimedOut = 7,          /**< wnnContextWaitAny only: none completed in time */
    WNNStatus_Force32 = 0x7FFFFFFF
} WNNStatus;

/** Returns the name of a status as the specification writes it, such as "TypeError".  It has static storage. */
WNN_EXPORT char const *wnnStatusGetName(WNNStatus status);

/**
 * Returns the message of the last call that failed on this thread, or "" if none did.  Its data end with a NUL and are valid
 * until the next failing call on the same thread.  Labels and names in it are escaped.
 */
WNN_EXPORT WNNStringView wnnGetLastErrorMessage(void);

/** Returns the library's version, such as "0.2.0".  It has static storage. */
WNN_EXPORT char const *wnnGetVersion(void);

/* ------------------------------------------------------------------------------------------------ enumerations */

/** Stands for MLOperandDataType. */
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

/**
 * Returns the specification's name of a data type, such as "float32", or "undefined" for other values.  It has static storage.
 */
WNN_EXPORT char const *wnnOperandDataTypeGetName(WNNOperandDataType dataType);
/** Returns the bytes of one element, or 0 for values that are not data types. */
WNN_EXPORT size_t wnnOperandDataTypeGetByteSize(WNNOperandDataType dataType);

/** Stands for MLPowerPreference. */
typedef enum WNNPowerPreference {
    WNNPowerPreference_Default = 0,
    WNNPowerPreference_HighPerformance = 1,
    WNNPowerPreference_LowPower = 2,
    WNNPowerPreference_Force32 = 0x7FFFFFFF
} WNNPowerPreference;

/**
 * The precision of convolutions and matmuls of float32 operands.  All but Float32 allow a lower one; its
 * use depends on the processor and the sizes.  Sums and results are always float32 (docs/precision.md).
 */
typedef enum WNNPrecision {
    WNNPrecision_Float32 = 0, /**< as the specification requires */
    WNNPrecision_Bf16x2 = 1,  /**< operands as sums of two bfloat16 numbers: multiplied to about 16 bits */
    WNNPrecision_Bf16 = 2,    /**< operands rounded to bfloat16: multiplied to about 8 bits */
    WNNPrecision_Int8 = 3,    /**< matmuls with weights of 4 or 8 bits: the other operand rounded to 8 bits, relative to the
                                   largest number of each block of 32 or so; everything else as Float32 */
    WNNPrecision_Force32 = 0x7FFFFFFF
} WNNPrecision;

/** The storage format of float weights of matmuls in a build (wnnGraphBuilderQuantizeWeights).
 */
typedef enum WNNWeightFormat {
    WNNWeightFormat_None = 0, /**< unchanged */
    WNNWeightFormat_Int8 = 1, /**< 8 bits and a scale for each block */
    WNNWeightFormat_Int4 = 2, /**< 4 bits and a scale for each block */
    WNNWeightFormat_Force32 = 0x7FFFFFFF
} WNNWeightFormat;

/** The effect of wnnGraphBuilderQuantizeWeights on a build.  The library writes all of it, so the struct never changes. */
typedef struct WNNQuantizedWeights {
    uint64_t matrices;    /**< number of quantized matrices */
    uint64_t bytesBefore; /**< their bytes in the graph */
    uint64_t bytesAfter;  /**< their bytes when quantized, scales included */
} WNNQuantizedWeights;

/** The kind of device that computes. */
typedef enum WNNEngine {
    WNNEngine_Auto = 0, /**< the engine in the variable WEBNN_ENGINE, else a GPU that is expected to be faster than the
                             processor, else the processor */
    WNNEngine_Cpu = 1,  /**< the processor */
    WNNEngine_Gpu = 2,  /**< an OpenCL device: the one that the options name, else WEBNN_ENGINE, else the first */
    WNNEngine_Force32 = 0x7FFFFFFF
} WNNEngine;

/** The kind of a device. */
typedef enum WNNDeviceKind {
    WNNDeviceKind_Other = 0,
    WNNDeviceKind_Cpu = 1, /**< the processor, also as an OpenCL device */
    WNNDeviceKind_Gpu = 2,
    WNNDeviceKind_Accelerator = 3,
    WNNDeviceKind_Force32 = 0x7FFFFFFF
} WNNDeviceKind;

/** Describes a device for WNNEngine_Gpu.  Texts end with a NUL. */
typedef struct WNNDeviceInfo {
    WNNDeviceKind kind;
    char name[128], platform[128];
    char lacks[128];      /**< missing features that graphs need, "" if none */
    uint64_t memoryBytes; /**< of the device */
    uint64_t bufferBytes; /**< of one tensor at most */
} WNNDeviceInfo;

/**
 * Says how much reading, folding and building one graph may take: about as many scalar operations, and bytes of memory asked
 * for altogether, the memory that computing the graph needs included.  What would take more is refused with an OperationError
 * before it begins.  0 stands for the default, which grows with the constants of the graph, or with the files that a model is
 * read from (docs/security.md).  What a built graph computes when it is dispatched is not counted.  The struct stays as it is:
 * it is a member of WNNContextOptions, and a result of wnnContextGetBudget.
 */
typedef struct WNNBudget {
    uint64_t operations;
    uint64_t bytes;
} WNNBudget;

#define WNN_BUDGET_INIT WNN_INIT_(WNNBudget, {0, 0})

/** Stands for MLInputOperandLayout. */
typedef enum WNNInputOperandLayout {
    WNNInputOperandLayout_Nchw = 0,
    WNNInputOperandLayout_Nhwc = 1,
    WNNInputOperandLayout_Force32 = 0x7FFFFFFF
} WNNInputOperandLayout;

/** Stands for MLConv2dFilterOperandLayout. */
typedef enum WNNConv2dFilterOperandLayout {
    WNNConv2dFilterOperandLayout_Oihw = 0,
    WNNConv2dFilterOperandLayout_Hwio = 1,
    WNNConv2dFilterOperandLayout_Ohwi = 2,
    WNNConv2dFilterOperandLayout_Ihwo = 3,
    WNNConv2dFilterOperandLayout_Force32 = 0x7FFFFFFF
} WNNConv2dFilterOperandLayout;

/** Stands for MLConvTranspose2dFilterOperandLayout. */
typedef enum WNNConvTranspose2dFilterOperandLayout {
    WNNConvTranspose2dFilterOperandLayout_Iohw = 0,
    WNNConvTranspose2dFilterOperandLayout_Hwoi = 1,
    WNNConvTranspose2dFilterOperandLayout_Ohwi = 2,
    WNNConvTranspose2dFilterOperandLayout_Force32 = 0x7FFFFFFF
} WNNConvTranspose2dFilterOperandLayout;

/** Stands for MLGruWeightLayout: the order of the gates in the weights (z update, r reset, n new). */
typedef enum WNNGruWeightLayout {
    WNNGruWeightLayout_Zrn = 0,
    WNNGruWeightLayout_Rzn = 1,
    WNNGruWeightLayout_Force32 = 0x7FFFFFFF
} WNNGruWeightLayout;

/** Stands for MLLstmWeightLayout: the order of the gates in the weights (i input, o output, f forget, g cell). */
typedef enum WNNLstmWeightLayout {
    WNNLstmWeightLayout_Iofg = 0,
    WNNLstmWeightLayout_Ifgo = 1,
    WNNLstmWeightLayout_Force32 = 0x7FFFFFFF
} WNNLstmWeightLayout;

/** Stands for MLRecurrentNetworkActivation. */
typedef enum WNNRecurrentNetworkActivation {
    WNNRecurrentNetworkActivation_Relu = 0,
    WNNRecurrentNetworkActivation_Sigmoid = 1,
    WNNRecurrentNetworkActivation_Tanh = 2,
    WNNRecurrentNetworkActivation_Force32 = 0x7FFFFFFF
} WNNRecurrentNetworkActivation;

/** Stands for MLRecurrentNetworkDirection. */
typedef enum WNNRecurrentNetworkDirection {
    WNNRecurrentNetworkDirection_Forward = 0,
    WNNRecurrentNetworkDirection_Backward = 1,
    WNNRecurrentNetworkDirection_Both = 2,
    WNNRecurrentNetworkDirection_Force32 = 0x7FFFFFFF
} WNNRecurrentNetworkDirection;

/** Stands for MLPaddingMode. */
typedef enum WNNPaddingMode {
    WNNPaddingMode_Constant = 0,
    WNNPaddingMode_Edge = 1,
    WNNPaddingMode_Reflection = 2,
    WNNPaddingMode_Force32 = 0x7FFFFFFF
} WNNPaddingMode;

/** Stands for MLRoundingType. */
typedef enum WNNRoundingType {
    WNNRoundingType_Floor = 0,
    WNNRoundingType_Ceil = 1,
    WNNRoundingType_Force32 = 0x7FFFFFFF
} WNNRoundingType;

/** Stands for MLInterpolationMode. */
typedef enum WNNInterpolationMode {
    WNNInterpolationMode_NearestNeighbor = 0,
    WNNInterpolationMode_Linear = 1,
    WNNInterpolationMode_Force32 = 0x7FFFFFFF
} WNNInterpolationMode;

/** The operation by which wnnGraphBuilderScatterReduce combines an element with an update. */
typedef enum WNNScatterReduction {
    WNNScatterReduction_Add = 0,
    WNNScatterReduction_Mul = 1,
    WNNScatterReduction_Min = 2,
    WNNScatterReduction_Max = 3,
    WNNScatterReduction_Force32 = 0x7FFFFFFF
} WNNScatterReduction;

/* ------------------------------------------------------------------------------------------------ descriptors */

/** The largest rank of an operand. */
#define WNN_RANK_MAX 12

/**
 * Names a dimension of an input whose size each computation sets (docs/named-dimensions.md); equal names are equal sizes.  An
 * empty name means the size in the descriptor's shape.  minSize and maxSize bound the sizes, from 1 to 2^31-1; 0 is no bound.
 */
typedef struct WNNDimension {
    WNNStringView name;
    uint32_t minSize;
    uint32_t maxSize;
} WNNDimension;

/**
 * Stands for MLOperandDescriptor, and for the draft's MLInputOperandDescriptor.  A rank of 0 (a scalar) needs no shape pointer.
 * Dimensions are 1 to 2^31-1, and so is their product.  dimensions, unless it is NULL, has as many as the rank; only inputs of
 * a builder have named ones.  In descriptors from the library, shape has 0 where dimensions has a name, which for outputs
 * may be an expression, such as "past + sequence", to be displayed only.
 */
typedef struct WNNOperandDescriptor {
    WNNOperandDataType dataType;
    size_t rank;
    uint32_t const *WNN_NULLABLE shape;
    WNNDimension const *WNN_NULLABLE dimensions;
} WNNOperandDescriptor;

#define WNN_OPERAND_DESCRIPTOR_INIT WNN_INIT_(WNNOperandDescriptor, {WNNOperandDataType_Undefined, 0, NULL, NULL})

/** Returns the bytes of all elements, or 0 for an invalid descriptor or one with a named dimension. */
WNN_EXPORT size_t wnnOperandDescriptorGetByteLength(WNNOperandDescriptor const *descriptor);

/**
 * Stands for MLTensorDescriptor.  structSize is sizeof(WNNTensorDescriptor) (see webnn_options.h) or 0; the defaults are zeros.
 */
typedef struct WNNTensorDescriptor {
    size_t structSize;
    WNNOperandDataType dataType;
    size_t rank;
    uint32_t const *WNN_NULLABLE shape;
    bool readable;
    bool writable;
} WNNTensorDescriptor;

#define WNN_TENSOR_DESCRIPTOR_INIT                                                                                             \
    WNN_INIT_(WNNTensorDescriptor, {sizeof(WNNTensorDescriptor), WNNOperandDataType_Undefined, 0, NULL, false, false})

/** Stands for one entry of MLNamedOperands. */
typedef struct WNNNamedOperand {
    WNNStringView name;
    WNNOperand operand;
} WNNNamedOperand;

/** Stands for one entry of MLNamedTensors. */
typedef struct WNNNamedTensor {
    WNNStringView name;
    WNNTensor tensor;
} WNNNamedTensor;

/** Binds a host buffer to a graph input or output in wnnGraphCompute.  byteLength must be exactly the descriptor's. */
typedef struct WNNNamedBuffer {
    WNNStringView name;
    void *data;
    size_t byteLength;
} WNNNamedBuffer;

/** Sets the size of a named dimension. */
typedef struct WNNNamedSize {
    WNNStringView name;
    uint32_t size;
} WNNNamedSize;

/** Stands for one entry of the draft's MLNamedShapes. */
typedef struct WNNNamedShape {
    WNNStringView name;
    size_t rank;
    uint32_t shape[WNN_RANK_MAX];
} WNNNamedShape;

/** Counts the variants of a graph with named dimensions: the graph compiled for certain sizes. */
typedef struct WNNGraphVariantCounts {
    uint64_t built;
    uint64_t found;   /* computations whose sizes had a variant */
    uint64_t evicted; /* least recently used ones beyond the limit */
    uint64_t held;
} WNNGraphVariantCounts;

/** Holds the name and descriptor of a graph's input or output.  The pointers belong to the graph. */
typedef struct WNNNamedOperandDescriptor {
    WNNStringView name;
    WNNOperandDescriptor descriptor;
} WNNNamedOperandDescriptor;

/** Names an input and the output that it becomes, such as a cache (wnnGraphBuilderSetStates). */
typedef struct WNNNamedState {
    WNNStringView input;
    WNNStringView output;
} WNNNamedState;

/** Names an operand of which every iteration of a loop takes or produces one slice (wnnGraphBuilderBeginLoop). */
typedef struct WNNLoopSlices {
    WNNOperand operand; /* scanned: the whole operand; stacked: the slice */
    uint32_t axis;      /* the dimension of the whole operand with one element per iteration */
    bool backward;      /* the first iteration has the last slice */
} WNNLoopSlices;

/* ------------------------------------------------------------------------------------------------ asynchrony */

/** Names one pending completion of a context.  id 0 is never pending. */
typedef struct WNNFuture {
    uint64_t id;
} WNNFuture;

/**
 * Says when a callback may run (after webgpu.h).  Each runs exactly once, without any lock held: it may call every function
 * here, wait, destroy, and release any object.  When the last object that keeps a context alive is released, callbacks that
 * cannot be waited for any more run with InvalidStateError, inside that release or, if work is still running, on the timeline
 * thread after it.  Other values mean AllowProcessEvents.
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
/** Reports the end of a read.  The caller's buffer is not accessed afterwards. */
typedef void (*WNNReadTensorCallback)(WNNStatus status, WNNStringView message, void *userdata1, void *userdata2);
/** Reports that a context was lost (MLContext.lost). */
typedef void (*WNNContextLostCallback)(WNNContext context, WNNStringView message, void *userdata1, void *userdata2);
/** Returns a lent buffer to its owner. */
typedef void (*WNNBufferReleaseCallback)(void const *data, size_t byteLength, void *userdata1, void *userdata2);

/** The current stage of a build; later versions may have more. */
typedef enum WNNBuildStage {
    WNNBuildStage_Graph = 1, /**< passes run, and the library's primitives are created */
    WNNBuildStage_Code = 2,  /**< machine code is generated */
    WNNBuildStage_Force32 = 0x7FFFFFFF
} WNNBuildStage;

/**
 * Reports the progress of a build: the stage, how many of its parts are done, and how many there are, or 0 if unknown.
 * Returns whether to continue; after false the build ends soon with an OperationError.  It is called by the thread that builds,
 * many times per second, and must not call functions of the same builder.
 */
typedef bool (*WNNBuildProgressCallback)(WNNBuildStage stage, uint32_t done, uint32_t total, void *userdata1, void *userdata2);

/** Holds times of one computation, in nanoseconds of the system's monotonic clock. */
typedef struct WNNComputationTimes {
    uint64_t submitted; /**< wnnContextDispatch or wnnGraphCompute was called */
    uint64_t begun;     /**< it began; on a device, it was submitted to it */
    uint64_t ended;     /**< its outputs were written */
} WNNComputationTimes;

/**
 * Reports that a computation of a graph has succeeded, and its times.  It is called by a thread of the library's
 * or of the program's, which must not wait in it; times are valid until it returns.  On a device that may be a moment after a
 * read of the results has returned.
 */
typedef void (*WNNComputedCallback)(WNNGraph graph, WNNComputationTimes const *times, void *userdata1, void *userdata2);

/** The severity of a message. */
typedef enum WNNLogLevel {
    WNNLogLevel_Info = 1,    /**< a graph was built or loaded, and the time for that */
    WNNLogLevel_Warning = 2, /**< a failure, also reported to the caller, or a cause of slower work;
                                once, with the first graph, that the context's precision has no effect on its machine, and
                                why */
    WNNLogLevel_Error = 3,   /**< the context was lost */
    WNNLogLevel_Force32 = 0x7FFFFFFF
} WNNLogLevel;

/**
 * Receives a message, a whole sentence without a newline, in which names are escaped.  It ends with a NUL and is valid until
 * the callback returns.  Several threads may call it at once, and it must not call functions of the same context.
 */
typedef void (*WNNLogCallback)(WNNLogLevel level, WNNStringView message, void *userdata1, void *userdata2);

/*
 * A callback info is a function, two pointers that it receives, and when it may be called.  They are passed
 * by value (after webgpu.h) and never change.  A callback of NULL is not called.
 */

/** Reports the end of wnnGraphBuilderBuildAsync and wnnContextLoadGraphAsync. */
typedef struct WNNBuildCallbackInfo {
    WNNCallbackMode mode;
    WNNBuildCallback callback;
    void *userdata1;
    void *userdata2;
} WNNBuildCallbackInfo;

/** Reports the end of wnnContextCreateTensorAsync and wnnContextCreateConstantTensorAsync. */
typedef struct WNNCreateTensorCallbackInfo {
    WNNCallbackMode mode;
    WNNCreateTensorCallback callback;
    void *userdata1;
    void *userdata2;
} WNNCreateTensorCallbackInfo;

/** Reports the end of wnnContextReadTensorAsync. */
typedef struct WNNReadTensorCallbackInfo {
    WNNCallbackMode mode;
    WNNReadTensorCallback callback;
    void *userdata1;
    void *userdata2;
} WNNReadTensorCallbackInfo;

/** Reports a lost context, as a member of WNNContextOptions. */
typedef struct WNNContextLostCallbackInfo {
    WNNCallbackMode mode;
    WNNContextLostCallback callback;
    void *userdata1;
    void *userdata2;
} WNNContextLostCallbackInfo;

/** Returns buffers that are lent to a builder.  It has no mode: the release has no future. */
typedef struct WNNBufferReleaseCallbackInfo {
    WNNBufferReleaseCallback callback;
    void *userdata1;
    void *userdata2;
} WNNBufferReleaseCallbackInfo;

/** Reports the progress of a build.  It has no mode: the build waits for the callback. */
typedef struct WNNBuildProgressCallbackInfo {
    WNNBuildProgressCallback callback;
    void *userdata1;
    void *userdata2;
} WNNBuildProgressCallbackInfo;

/** Reports every computation of a context.  It has no mode: the computation's thread calls it. */
typedef struct WNNComputedCallbackInfo {
    WNNComputedCallback callback;
    void *userdata1;
    void *userdata2;
} WNNComputedCallbackInfo;

/** Receives the messages of a context. */
typedef struct WNNLogCallbackInfo {
    WNNLogCallback callback;
    void *userdata1;
    void *userdata2;
} WNNLogCallbackInfo;

#define WNN_LOG_CALLBACK_INFO_INIT WNN_INIT_(WNNLogCallbackInfo, {NULL, NULL, NULL})
#define WNN_BUILD_PROGRESS_CALLBACK_INFO_INIT WNN_INIT_(WNNBuildProgressCallbackInfo, {NULL, NULL, NULL})
#define WNN_COMPUTED_CALLBACK_INFO_INIT WNN_INIT_(WNNComputedCallbackInfo, {NULL, NULL, NULL})
#define WNN_BUILD_CALLBACK_INFO_INIT WNN_INIT_(WNNBuildCallbackInfo, {WNNCallbackMode_WaitAnyOnly, NULL, NULL, NULL})
#define WNN_CREATE_TENSOR_CALLBACK_INFO_INIT                                                                                   \
    WNN_INIT_(WNNCreateTensorCallbackInfo, {WNNCallbackMode_WaitAnyOnly, NULL, NULL, NULL})
#define WNN_READ_TENSOR_CALLBACK_INFO_INIT WNN_INIT_(WNNReadTensorCallbackInfo, {WNNCallbackMode_WaitAnyOnly, NULL, NULL, NULL})
#define WNN_CONTEXT_LOST_CALLBACK_INFO_INIT                                                                                    \
    WNN_INIT_(WNNContextLostCallbackInfo, {WNNCallbackMode_AllowSpontaneous, NULL, NULL, NULL})
#define WNN_BUFFER_RELEASE_CALLBACK_INFO_INIT WNN_INIT_(WNNBufferReleaseCallbackInfo, {NULL, NULL, NULL})

#ifdef __cplusplus
}
#endif

#endif /* WEBNN_WEBNN_TYPES_H_ */

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/**
 * @file webnn_call.h
 * This part of the API calls a builder method by name, with arguments known at run time only.  It is for readers
 * of models, bindings and test runners, which then need no switch over ninety-five operators.
 * Those of webnn_draft.h can be called, too; axes of squeeze and axis of reshapeTo2d (1) are options.
 *
 *     WNNMethodCall call = wnnMethodCallCreate(WNN_STR("conv2d"));
 *     wnnMethodCallArgument(call, 0, wnnMethodValueOperand(input));
 *     wnnMethodCallArgument(call, 1, wnnMethodValueOperand(filter));
 *     wnnMethodCallOption(call, WNN_STR("groups"), wnnMethodValueNumber(wnnNumber(2)), false);
 *     status = wnnMethodCallInvoke(call, builder);
 *     output = wnnMethodCallResult(call, 0);
 *     wnnMethodCallDestroy(call);
 *
 * Names are the specification's.  Values are converted by its IDL: numbers to integers by truncation and with a range
 * check, names to enumeration values; other values are a TypeError.  The first status other than Success is
 * kept: later calls return it again, and nothing is invoked, until wnnMethodCallReset.
 */
#ifndef WEBNN_WEBNN_CALL_H_
#define WEBNN_WEBNN_CALL_H_

#include "webnn/webnn.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Holds one call under preparation.  One thread at a time may use it. */
typedef struct WNNMethodCallImpl *WNNMethodCall;

/** Describes which member of a WNNMethodValue holds its value. */
typedef enum WNNMethodValueKind {
    WNNMethodValueKind_None = 0, /**< the argument or option is absent */
    WNNMethodValueKind_Operand = 1,
    WNNMethodValueKind_Number = 2,
    WNNMethodValueKind_Bool = 3,
    WNNMethodValueKind_String = 4,
    WNNMethodValueKind_List = 5,
    WNNMethodValueKind_Force32 = 0x7FFFFFFF
} WNNMethodValueKind;

/**
 * Holds a value of any kind.  Lists and strings are the caller's; they must be valid only during the call that takes them.
 */
typedef struct WNNMethodValue {
    WNNMethodValueKind kind;
    union {
        WNNOperand operand;
        WNNNumber number;
        bool boolean;
        WNNStringView string;
        struct {
            size_t count;
            struct WNNMethodValue const *items;
        } list;
    } as;
} WNNMethodValue;

/** Makes a value of an operand. */
static inline WNNMethodValue wnnMethodValueOperand(WNNOperand operand)
{
    WNNMethodValue v;
    v.kind = WNNMethodValueKind_Operand;
    v.as.operand = operand;
    return v;
}

/** Makes a value of a number. */
static inline WNNMethodValue wnnMethodValueNumber(WNNNumber number)
{
    WNNMethodValue v;
    v.kind = WNNMethodValueKind_Number;
    v.as.number = number;
    return v;
}

/** Makes a value of a boolean. */
static inline WNNMethodValue wnnMethodValueBool(bool boolean)
{
    WNNMethodValue v;
    v.kind = WNNMethodValueKind_Bool;
    v.as.boolean = boolean;
    return v;
}

/** Makes a value of a string, which stays the caller's. */
static inline WNNMethodValue wnnMethodValueString(WNNStringView string)
{
    WNNMethodValue v;
    v.kind = WNNMethodValueKind_String;
    v.as.string = string;
    return v;
}

/** Makes a value of a list, which stays the caller's. */
static inline WNNMethodValue wnnMethodValueList(size_t count, WNNMethodValue const *items)
{
    WNNMethodValue v;
    v.kind = WNNMethodValueKind_List;
    v.as.list.count = count;
    v.as.list.items = items;
    return v;
}

/**
 * Creates a call with every option at its default.  Returns NULL if there is no such method (TypeError), or no memory
 * (UnknownError).
 */
WNN_EXPORT WNNMethodCall wnnMethodCallCreate(WNNStringView method);
/** Frees a call.  Its results stay the builder's. */
WNN_EXPORT void wnnMethodCallDestroy(WNNMethodCall WNN_NULLABLE call);
/** Resets a call to its state after wnnMethodCallCreate, for reuse. */
WNN_EXPORT void wnnMethodCallReset(WNNMethodCall call);

/**
 * Returns the number of the method's positional arguments: its operands (for concat one list of them), then the
 * others.
 */
WNN_EXPORT size_t wnnMethodCallArgumentCount(WNNMethodCall call);
/** Returns the specification's name of the index-th positional argument, or NULL beyond the last.  It has static storage. */
WNN_EXPORT char const *wnnMethodCallArgumentName(WNNMethodCall call, size_t index);
/**
 * Returns the kind of value of the argument or option of a name, or None if the method has none of that name.  *isList,
 * unless NULL, says whether it is a list; then the kind is that of the items.  (split's is a list, or one number.)
 */
WNN_EXPORT WNNMethodValueKind wnnMethodCallArgumentKind(WNNMethodCall call, WNNStringView name, bool *WNN_NULLABLE isList);
/**
 * Sets the index-th positional argument.  split's is a list, or a number of equal parts.  Fails with TypeError for a value of
 * another kind.
 */
WNN_EXPORT WNNStatus wnnMethodCallArgument(WNNMethodCall call, size_t index, WNNMethodValue value);
/**
 * Sets a member of the option dictionary, operands and "label" included.  An unknown name is ignored, as
 * in JavaScript, if ignoreUnknown, and wnnMethodCallInvoke logs it; else it is a TypeError.
 */
WNN_EXPORT WNNStatus wnnMethodCallOption(WNNMethodCall call, WNNStringView name, WNNMethodValue value, bool ignoreUnknown);
/** Sets the argument or option of a name.  Fails with TypeError if there is none. */
WNN_EXPORT WNNStatus wnnMethodCallSet(WNNMethodCall call, WNNStringView name, WNNMethodValue value);

/** Calls the method on builder.  Fails with TypeError if a positional argument has not been set, else like the method. */
WNN_EXPORT WNNStatus wnnMethodCallInvoke(WNNMethodCall call, WNNGraphBuilder builder);
/** Returns the number of operands that the method returned: one, those of a sequence, or 0 before a successful invoke. */
WNN_EXPORT size_t wnnMethodCallResultCount(WNNMethodCall call);
/** Returns one of those operands, which are the builder's, or NULL beyond the last. */
WNN_EXPORT WNNOperand wnnMethodCallResult(WNNMethodCall call, size_t index);
/** Returns whether the method returns a sequence. */
WNN_EXPORT bool wnnMethodCallIsSequence(WNNMethodCall call);

#ifdef __cplusplus
}
#endif

#endif /* WEBNN_WEBNN_CALL_H_ */

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calling a builder method by its name, with arguments that are known at run time only.
 *
 * In: the method's name, values by position or option name.  Out: the public wnnGraphBuilder... function, called through a
 * libffi call interface made from the operator's row.  For readers of models, the conformance runners, random graphs and
 * bindings: nobody needs a switch over the operators.
 *
 *     struct webnn_call *call = webnn_call_create(WNN_STR("conv2d"));
 *     webnn_call_argument(call, 0, webnn_value_operand(input));
 *     webnn_call_argument(call, 1, webnn_value_operand(filter));
 *     webnn_call_option(call, WNN_STR("groups"), webnn_value_number(wnnNumber(2)));
 *     status = webnn_call_invoke(call, builder);
 *     output = webnn_call_result(call, 0);
 *     webnn_call_destroy(call);
 *
 * Values are converted as the specification's IDL does: numbers to integers by truncation and with a range check, names to
 * enumeration values; what cannot be converted is a TypeError.  A status other than Success is also the call's: a later invoke
 * returns it again without calling anything.
 *
 * The functions are exported by the library, for tools that are linked with it, but their header is not installed.
 */
#ifndef WEBNN_FRONTEND_CALL_H_
#define WEBNN_FRONTEND_CALL_H_

#include "webnn/webnn.h"

/** A value of any kind.  Lists and strings are the caller's and need to live during the call that takes them only. */
enum webnn_value_kind {
    WEBNN_VALUE_NONE, /* as if the argument or option had not been given */
    WEBNN_VALUE_OPERAND,
    WEBNN_VALUE_NUMBER,
    WEBNN_VALUE_BOOL,
    WEBNN_VALUE_STRING,
    WEBNN_VALUE_LIST
};

struct webnn_value {
    enum webnn_value_kind kind;
    union {
        WNNOperand operand;
        WNNNumber number;
        bool boolean;
        WNNStringView string;
        struct {
            size_t count;
            const struct webnn_value *items;
        } list;
    } as;
};

static inline struct webnn_value webnn_value_operand(WNNOperand operand)
{
    struct webnn_value v = {WEBNN_VALUE_OPERAND, {operand}};
    return v;
}

static inline struct webnn_value webnn_value_number(WNNNumber number)
{
    struct webnn_value v = {WEBNN_VALUE_NUMBER, {NULL}};
    v.as.number = number;
    return v;
}

static inline struct webnn_value webnn_value_bool(bool boolean)
{
    struct webnn_value v = {WEBNN_VALUE_BOOL, {NULL}};
    v.as.boolean = boolean;
    return v;
}

static inline struct webnn_value webnn_value_string(WNNStringView string)
{
    struct webnn_value v = {WEBNN_VALUE_STRING, {NULL}};
    v.as.string = string;
    return v;
}

static inline struct webnn_value webnn_value_list(size_t count, const struct webnn_value *items)
{
    struct webnn_value v = {WEBNN_VALUE_LIST, {NULL}};
    v.as.list.count = count;
    v.as.list.items = items;
    return v;
}

struct webnn_call;

/** A call with every option at its default.  NULL: there is no such operator (TypeError), or no memory. */
WNN_EXPORT struct webnn_call *webnn_call_create(WNNStringView method);
WNN_EXPORT void webnn_call_destroy(struct webnn_call *call);
/** Back to what webnn_call_create gave, so that one call can be reused. */
WNN_EXPORT void webnn_call_reset(struct webnn_call *call);

/** The positional arguments of the method, in order: operands (concat: one list of them), then the others. */
WNN_EXPORT size_t webnn_call_argument_count(const struct webnn_call *call);
WNN_EXPORT char const *webnn_call_argument_name(const struct webnn_call *call, size_t index);
/** Sets the index-th positional argument.  split's is a list, or a number of equal parts. */
WNN_EXPORT WNNStatus webnn_call_argument(struct webnn_call *call, size_t index, struct webnn_value value);
/** Sets a member of the option dictionary, operands and "label" included.  A name that it does not have is ignored, as
 * JavaScript does, if ignore_unknown, else refused. */
WNN_EXPORT WNNStatus webnn_call_option(struct webnn_call *call, WNNStringView name, struct webnn_value value,
                                       bool ignore_unknown);
/** Sets an argument or option by its name, whichever it is. */
WNN_EXPORT WNNStatus webnn_call_set(struct webnn_call *call, WNNStringView name, struct webnn_value value);

/** Calls the method.  TypeError if a positional argument has not been set; else what the method says. */
WNN_EXPORT WNNStatus webnn_call_invoke(struct webnn_call *call, WNNGraphBuilder builder);
/** What the method returned: one operand, or a sequence; only after a successful invoke. */
WNN_EXPORT size_t webnn_call_result_count(const struct webnn_call *call);
WNN_EXPORT WNNOperand webnn_call_result(const struct webnn_call *call, size_t index);
/** Whether the method returns a sequence. */
WNN_EXPORT bool webnn_call_is_sequence(const struct webnn_call *call);

#endif

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls a builder method by its name (webnn/webnn_call.h).  The operator's row says which C type every argument has, and libffi
 * makes the call.
 */
#include "webnn/webnn_call.h"
#include "webnn/webnn_draft.h"

#include <ffi.h>
#include <stdlib.h>

#include "frontend/builder/builder.h"
#include "ir/graph/op_draft.h"
#include "runtime/api/runtime.h"
#include "ir/support/print_number.h"
#include "ir/support/suggest.h"
#include "ir/support/text.h"

/* A call has a builder, operands, two parameters for each list, options, and outputs with their number. */
enum { PARAMETERS_MAX = 1 + OP_OPERANDS_MAX + 4 + 3 };

/** Holds the name of an option that the dictionary does not have. */
struct ignored_option {
    const char *name;
    struct ignored_option *next;
};

struct WNNMethodCallImpl {
    enum op op;
    struct arena arena; /* lists, the label, ignored options */
    struct ignored_option *ignored;
    struct error error;
    size_t operand_count; /* of a variadic operand, else of the row */
    WNNOperand positional[OP_OPERANDS_MAX];
    WNNOperand *variadic;
    bool is_set[OP_OPERANDS_MAX + OP_ATTRS_MAX]; /* by the position of the argument */
    union op_args args;
    union {
        max_align_t align;
        char bytes[256];
    } options;
    size_t result_count;
    WNNOperand *results;
};

/* ---- the methods ---- */

typedef void (*method_function)(void);

static const method_function methods[DRAFT_END] = {
#define OP(id, name, Method, ...) [OP_##id] = (method_function)wnnGraphBuilder##Method,
#include "ir/graph/ops.def"
#include "ir/graph/ops_draft.def"
#undef OP
    [OP_SCATTER_REDUCE] = (method_function)wnnGraphBuilderScatterReduce,
};

/** Finds the method of a name, or OP_COUNT. */
static enum op method_parse(const char *text, size_t length)
{
    enum op op = op_parse_extended(text, length);

    if (op != OP_COUNT)
        return op;
    for (op = OP_DRAFT_FIRST; op < OP_DRAFT_END; op++)
        if (text_is(op_infos[op].name, text, length))
            return op;
    return OP_COUNT;
}

/* ---- life ---- */

/** Refuses an argument: "elu [label]: alpha ...". */
static WNNStatus refuse(WNNMethodCall call, const char *argument, const char *text)
{
    WNNStringView label;
    char title[320];

    memcpy(&label, call->options.bytes + OPTIONS_LABEL, sizeof(label));
    op_title(call->op, label, title, sizeof title);
    return error_fail(&call->error, WNNStatus_TypeError, "%s: %s %s", title, argument, text);
}

/** Says what an argument takes, and what it got instead. */
static WNNStatus refuse_value(WNNMethodCall call, const char *argument, const char *wants, const WNNMethodValue *v)
{
    char value[NUMBER_TEXT_MAX + 128] = "\"", text[sizeof(value) + 400];
    size_t length;

    if (v->kind == WNNMethodValueKind_Number && v->as.number.type)
        number_print(value, v->as.number);
    else if (v->kind == WNNMethodValueKind_String) {
        escape_text(value + 1, sizeof(value) - 2, v->as.string.data ? v->as.string.data : "", view_length(v->as.string));
        length = strlen(value);
        memcpy(value + length, "\"", 2);
    } else
        strcpy(value, v->kind == WNNMethodValueKind_Bool      ? v->as.boolean ? "true" : "false"
                      : v->kind == WNNMethodValueKind_List    ? "a list"
                      : v->kind == WNNMethodValueKind_Operand ? "an operand"
                                                              : "nothing");
    snprintf(text, sizeof(text), "takes %s, not %s", wants, value);
    return refuse(call, argument, text);
}

static WNNStatus no_memory(WNNMethodCall call)
{
    return error_fail_memory(&call->error);
}

static void set_defaults(WNNMethodCall call)
{
    const struct op_info *info = &op_infos[call->op];

    memcpy(call->options.bytes, info->options_default, info->options_size);
    if (!(info->flags & OPF_VARIADIC))
        call->operand_count = op_positional_inputs(call->op);
    if (call->op == OP_RESHAPE_TO_2D)
        call->args.reshapeTo2d.axis = 1;
}

WNNMethodCall wnnMethodCallCreate(WNNStringView method)
{
    size_t length = view_length(method);
    enum op op = method_parse(method.data ? method.data : "", length);
    struct error e = {0};

    if (op == OP_COUNT) {
        struct suggestion meant = suggestion_for(method.data ? method.data : "", length);
        char text[128];

        for (op = 0; op < OP_COUNT; op++)
            suggestion_offer(&meant, op_infos[op].name);
        error_set(&e, WNNStatus_TypeError, "there is no operator \"%s\"%s",
                  escape_text(text, sizeof(text), method.data, length), suggestion_text(&meant));
        error_publish(&e);
        return NULL;
    }
    WNNMethodCall call = calloc(1, sizeof(*call));
    if (!call) {
        error_out_of_memory(&e);
        error_publish(&e);
        return NULL;
    }
    call->op = op;
    set_defaults(call);
    return call;
}

void wnnMethodCallDestroy(WNNMethodCall call)
{
    if (call)
        arena_free(&call->arena);
    free(call);
}

void wnnMethodCallReset(WNNMethodCall call)
{
    if (!call)
        return;
    enum op op = call->op;
    arena_free(&call->arena);
    memset(call, 0, sizeof(*call));
    call->op = op;
    set_defaults(call);
}

/* ---- conversion of values, as Web IDL does ---- */

/** Converts as [EnforceRange] says: truncates, and refuses numbers that are not finite or do not fit. */
static bool to_integer(const WNNMethodValue *v, int64_t low, int64_t high, int64_t *out)
{
    const WNNNumber *n = &v->as.number;
    double d;

    if (v->kind != WNNMethodValueKind_Number)
        return false;
    switch (n->type) {
    case WNNNumberType_Int64:
        *out = n->value.int64;
        break;
    case WNNNumberType_Uint64:
        if (n->value.uint64 > INT64_MAX)
            return false;
        *out = (int64_t)n->value.uint64;
        break;
    case WNNNumberType_Float64:
        d = trunc(n->value.float64);
        if (!(d >= -0x1p62 && d <= 0x1p62))
            return false;
        *out = (int64_t)d;
        break;
    case WNNNumberType_Undefined:
    case WNNNumberType_Force32:
        return false;
    }
    return *out >= low && *out <= high;
}

/** Finds the items of a list.  Returns false if the value is none. */
static bool to_list(const WNNMethodValue *v, size_t *count, const WNNMethodValue **items)
{
    *count = v->as.list.count;
    *items = v->as.list.items;
    return v->kind == WNNMethodValueKind_List && (!*count || *items);
}

/** Returns the index-th value of an attribute that has names for its values, or NULL. */
static const char *name_of_value(const struct attr_info *a, unsigned index)
{
    return a->kind != ATTR_DATA_TYPE                                           ? enum_value_name(a->enumeration, index)
           : dtype_is_public((dtype)(WNNOperandDataType_Float32 + (int)index)) ? dtype_name(WNNOperandDataType_Float32 + index)
                                                                               : NULL;
}

/** Says what an attribute, or an item of it, takes. */
static const char *wanted(const struct attr_info *a, char *buf, size_t size)
{
    static const char *const texts[] = {
        [ATTR_U32] = "an integer from 0 to 4294967295",
        [ATTR_U32_LIST] = "an integer from 0 to 4294967295",
        [ATTR_I32] = "an integer of 32 bits",
        [ATTR_F64] = "a finite number",
        [ATTR_F32_LIST] = "a finite number",
        [ATTR_BOOL] = "true or false",
        [ATTR_NUMBER] = "a number",
    };
    const char *name;
    size_t n = 0;

    if (a->kind != ATTR_DATA_TYPE && a->kind != ATTR_ENUM && a->kind != ATTR_ENUM_LIST)
        return texts[a->kind];
    for (unsigned i = 0; (name = name_of_value(a, i)) != NULL && n < size; i++)
        n += (size_t)snprintf(buf + n, size - n, "%s%s", !i ? "" : name_of_value(a, i + 1) ? ", " : " or ", name);
    return buf;
}

/** Converts one value (not a list) to what the attribute, or an item of it, is.  Returns false if it is none. */
static bool convert(const struct attr_info *a, const WNNMethodValue *v, void *out)
{
    const bool text = v->kind == WNNMethodValueKind_String;
    int64_t i = 0;
    double d;
    float f;

    switch (a->kind) {
    case ATTR_U32:
    case ATTR_U32_LIST:
        if (!to_integer(v, 0, UINT32_MAX, &i))
            return false;
        memcpy(out, &(uint32_t){(uint32_t)i}, sizeof(uint32_t));
        return true;
    case ATTR_I32:
        if (!to_integer(v, INT32_MIN, INT32_MAX, &i))
            return false;
        memcpy(out, &(int32_t){(int32_t)i}, sizeof(int32_t));
        return true;
    case ATTR_F64:
    case ATTR_F32_LIST:
        d = v->kind == WNNMethodValueKind_Number ? number_to_double(v->as.number) : (double)NAN;
        f = (float)d;
        if (!isfinite(d) || (a->kind == ATTR_F32_LIST && !isfinite(f)))
            return false;
        memcpy(out, a->kind == ATTR_F64 ? (void *)&d : (void *)&f, a->kind == ATTR_F64 ? sizeof(d) : sizeof(f));
        return true;
    case ATTR_BOOL:
        memcpy(out, &(bool){v->kind == WNNMethodValueKind_Bool && v->as.boolean}, sizeof(bool));
        return v->kind == WNNMethodValueKind_Bool;
    case ATTR_NUMBER:
        if (v->kind != WNNMethodValueKind_Number || !v->as.number.type)
            return false;
        memcpy(out, &v->as.number, sizeof(WNNNumber));
        return true;
    case ATTR_DATA_TYPE:
    case ATTR_ENUM:
    case ATTR_ENUM_LIST:
        i = !text                       ? -1
            : a->kind == ATTR_DATA_TYPE ? (int64_t)dtype_parse(v->as.string.data, view_length(v->as.string))
                                        : enum_value_parse(a->enumeration, v->as.string.data, view_length(v->as.string));
        if (i < (a->kind == ATTR_DATA_TYPE))
            return false;
        memcpy(out, &(uint32_t){(uint32_t)i}, sizeof(uint32_t));
        return true;
    case ATTR_NONE:
        break;
    }
    return false;
}

/** Sets an attribute in the option struct or the positional arguments. */
static WNNStatus set_attr(WNNMethodCall call, const struct attr_info *a, const WNNMethodValue *v)
{
    char *base = a->positional ? (char *)&call->args : call->options.bytes;
    const WNNMethodValue *items;
    uint32_t *list; /* every kind of list has 4-byte items */
    size_t count;
    char item[64], wants[200];

    if (!attr_is_list(a))
        return convert(a, v, base + a->offset) ? WNNStatus_Success
                                               : refuse_value(call, a->name, wanted(a, wants, sizeof(wants)), v);
    if (!to_list(v, &count, &items))
        return refuse_value(call, a->name, "a list", v);
    if (count > attr_count_max(a))
        return refuse(call, a->name, "has more items than are possible");
    list = arena_array(&call->arena, count, sizeof(*list));
    if (!list)
        return no_memory(call);
    for (size_t i = 0; i < count; i++)
        if (!convert(a, &items[i], &list[i])) {
            snprintf(item, sizeof item, "%s[%zu]", a->name, i);
            return refuse_value(call, item, wanted(a, wants, sizeof(wants)), &items[i]);
        }
    memcpy(base + a->offset, &list, sizeof(list));
    memcpy(base + a->count_offset, &count, sizeof(count));
    return WNNStatus_Success;
}

/* ---- arguments ---- */

/** Returns the index-th positional argument that is not an operand. */
static const struct attr_info *positional_attr(enum op op, size_t index)
{
    const struct attr_info *a = op_infos[op].attrs;

    for (; a->kind && a->positional && !op_names_arguments(op); a++)
        if (!index--)
            return a;
    return NULL;
}

size_t wnnMethodCallArgumentCount(WNNMethodCall call)
{
    size_t count = call ? op_positional_inputs(call->op) : 0;

    while (call && positional_attr(call->op, count - op_positional_inputs(call->op)))
        count++;
    return count;
}

char const *wnnMethodCallArgumentName(WNNMethodCall call, size_t index)
{
    if (index >= wnnMethodCallArgumentCount(call))
        return NULL;
    uint32_t operands = op_positional_inputs(call->op);
    if (index < operands)
        return op_infos[call->op].ins[index].name;
    return positional_attr(call->op, index - operands)->name;
}

WNNMethodValueKind wnnMethodCallArgumentKind(WNNMethodCall call, WNNStringView name, bool *isList)
{
    bool unused;

    if (!isList)
        isList = &unused;
    *isList = false;
    if (!call)
        return WNNMethodValueKind_None;
    const struct op_info *info = &op_infos[call->op];
    name = (WNNStringView){name.data ? name.data : "", view_length(name)};
    if (text_is("label", name.data, name.length))
        return WNNMethodValueKind_String;
    for (const struct operand_info *in = info->ins; in->name; in++)
        if (text_is(in->name, name.data, name.length)) {
            *isList = info->flags & OPF_VARIADIC;
            return WNNMethodValueKind_Operand;
        }
    for (const struct attr_info *a = info->attrs; a->kind; a++)
        if (text_is(a->name, name.data, name.length)) {
            *isList = attr_is_list(a);
            return a->kind == ATTR_BOOL                          ? WNNMethodValueKind_Bool
                   : a->kind == ATTR_DATA_TYPE || a->enumeration ? WNNMethodValueKind_String
                                                                 : WNNMethodValueKind_Number;
        }
    return WNNMethodValueKind_None;
}

static WNNStatus set_operands(WNNMethodCall call, const WNNMethodValue *v)
{
    const WNNMethodValue *items;
    size_t count;

    if (!to_list(v, &count, &items))
        return refuse_value(call, op_infos[call->op].ins[0].name, "a list of operands", v);
    if (count > TENSOR_COUNT_MAX)
        return refuse(call, op_infos[call->op].ins[0].name, "has more items than are possible");
    call->variadic = arena_array(&call->arena, count, sizeof(*call->variadic));
    if (!call->variadic)
        return no_memory(call);
    for (size_t i = 0; i < count; i++) {
        if (items[i].kind != WNNMethodValueKind_Operand)
            return refuse_value(call, op_infos[call->op].ins[0].name, "operands", &items[i]);
        call->variadic[i] = items[i].as.operand;
    }
    call->operand_count = count;
    return WNNStatus_Success;
}

/** Returns whether a call is there and no argument was wrong; else *status is what it was. */
static bool is_usable(WNNMethodCall call, WNNStatus *status)
{
    struct error e = {0};

    *status = call ? call->error.status : WNNStatus_TypeError;
    if (*status)
        *status = call ? error_publish(&call->error) : error_fail(&e, WNNStatus_TypeError, "the call is NULL");
    return !*status;
}

WNNStatus wnnMethodCallArgument(WNNMethodCall call, size_t index, WNNMethodValue value)
{
    const struct attr_info *a;
    WNNStatus status;
    int64_t parts = 0;

    if (!is_usable(call, &status))
        return status;
    uint32_t operands = op_positional_inputs(call->op);
    if (index >= wnnMethodCallArgumentCount(call))
        return refuse(call, "the method", "has no further argument");
    if (value.kind == WNNMethodValueKind_None)
        return WNNStatus_Success;
    if (index < operands) {
        if (op_infos[call->op].flags & OPF_VARIADIC) {
            status = set_operands(call, &value);
        } else if (value.kind != WNNMethodValueKind_Operand) {
            status = refuse_value(call, op_infos[call->op].ins[index].name, "an operand", &value);
        } else {
            call->positional[index] = value.as.operand;
            status = WNNStatus_Success;
        }
    } else {
        a = positional_attr(call->op, index - operands);
        if (a->or_count && value.kind == WNNMethodValueKind_Number) {
            if (!to_integer(&value, 0, UINT32_MAX, &parts))
                return refuse_value(call, a->name, "an integer from 0 to 4294967295", &value);
            call->args.split.splits = NULL;
            call->args.split.splitsCount = 0;
            call->args.split.equal = (uint32_t)parts;
            status = WNNStatus_Success;
        } else {
            status = set_attr(call, a, &value);
        }
    }
    call->is_set[index] = true;
    return status;
}

/** Keeps the name of an option that is ignored, for the log of the builder's context. */
static WNNStatus ignore_option(WNNMethodCall call, WNNStringView name)
{
    struct ignored_option *o = arena_array(&call->arena, 1, sizeof(*o));

    if (!o || !(o->name = arena_string(&call->arena, name.data, name.length)))
        return no_memory(call);
    o->next = call->ignored;
    call->ignored = o;
    return WNNStatus_Success;
}

/** Says in the log which options are ignored, and for those of older drafts what to write instead. */
static void log_ignored(WNNMethodCall call, WNNContext context)
{
    static const struct {
        const char *name, *hint;
    } older[] = {
        {"autoPad", ": it is of an older draft, padding says how much to pad"},
        {"activation", ": it is of an older draft, the activation is a method that takes the result"},
        {"roundingType", ": it is of an older draft, outputShapeRounding is its name"},
        {"selectLastIndex", ": it is of an older draft, the first index is taken"},
    };

    for (const struct ignored_option *o = call->ignored; o; o = o->next) {
        const char *hint = "";
        char text[128];

        for (size_t i = 0; i < sizeof(older) / sizeof(*older); i++)
            if (!strcmp(older[i].name, o->name))
                hint = older[i].hint;
        context_log(context, WNNLogLevel_Warning, "%s: there is no option \"%s\", it is ignored%s", op_infos[call->op].name,
                    escape_text(text, sizeof(text), o->name, strlen(o->name)), hint);
    }
}

WNNStatus wnnMethodCallOption(WNNMethodCall call, WNNStringView name, WNNMethodValue value, bool ignore_unknown)
{
    WNNStatus status;

    if (!is_usable(call, &status))
        return status;
    const struct op_info *info = &op_infos[call->op];
    name = (WNNStringView){name.data ? name.data : "", view_length(name)};
    if (value.kind == WNNMethodValueKind_None)
        return WNNStatus_Success;
    if (text_is("label", name.data, name.length)) {
        WNNStringView label;

        if (value.kind != WNNMethodValueKind_String)
            return refuse_value(call, "label", "a string", &value);
        label.length = view_length(value.as.string);
        label.data = arena_string(&call->arena, value.as.string.data, label.length);
        if (!label.data)
            return no_memory(call);
        memcpy(call->options.bytes + OPTIONS_LABEL, &label, sizeof(label));
        return WNNStatus_Success;
    }
    for (const struct operand_info *in = info->ins; in->name; in++)
        if (in->optional && text_is(in->name, name.data, name.length)) {
            if (value.kind != WNNMethodValueKind_Operand)
                return refuse_value(call, in->name, "an operand", &value);
            memcpy(call->options.bytes + in->option_offset, &value.as.operand, sizeof(WNNOperand));
            return WNNStatus_Success;
        }
    for (const struct attr_info *a = info->attrs; a->kind; a++)
        if ((!a->positional || op_names_arguments(call->op)) && text_is(a->name, name.data, name.length))
            return set_attr(call, a, &value);
    if (ignore_unknown)
        return ignore_option(call, name);
    return refuse(call, "the option dictionary", "has no member of that name");
}

WNNStatus wnnMethodCallSet(WNNMethodCall call, WNNStringView name, WNNMethodValue value)
{
    size_t count = wnnMethodCallArgumentCount(call);

    name = (WNNStringView){name.data ? name.data : "", view_length(name)};
    for (size_t i = 0; i < count; i++)
        if (text_is(wnnMethodCallArgumentName(call, i), name.data, name.length))
            return wnnMethodCallArgument(call, i, value);
    return wnnMethodCallOption(call, name, value, false);
}

/* ---- the call itself ---- */

/** Collects the parameters of the C function, in order. */
struct parameters {
    unsigned count;
    ffi_type *types[PARAMETERS_MAX];
    void *values[PARAMETERS_MAX];
};

static void add_parameter(struct parameters *p, ffi_type *type, void *value)
{
    p->types[p->count] = type;
    p->values[p->count++] = value;
}

static ffi_type *size_type(void)
{
    return sizeof(size_t) == 8 ? &ffi_type_uint64 : &ffi_type_uint32;
}

/** Returns how many results of a sequence the method writes. */
static size_t sequence_count(WNNMethodCall call)
{
    size_t rows = 0;

    if (call->op == OP_SPLIT)
        return call->args.split.equal ? call->args.split.equal : call->args.split.splitsCount;
    if (call->op == OP_SPLIT_DYNAMIC) /* an element of splits for each */
        return wnnOperandGetRank(call->positional[1]) ? *wnnOperandGetShape(call->positional[1]) : 0;
    while (op_infos[call->op].outs[rows].name)
        rows++;
    return rows;
}

bool wnnMethodCallIsSequence(WNNMethodCall call)
{
    return call && op_infos[call->op].flags & OPF_SEQUENCE;
}

static WNNStatus call_method(WNNMethodCall call, WNNGraphBuilder builder)
{
    const struct op_info *info = &op_infos[call->op];
    void *options = call->options.bytes, *outputs;
    method_function function = methods[call->op];
    struct parameters p = {0};
    size_t capacity = 1;
    ffi_cif cif;

    add_parameter(&p, &ffi_type_pointer, &builder);
    if (info->flags & OPF_VARIADIC) {
        add_parameter(&p, size_type(), &call->operand_count);
        add_parameter(&p, &ffi_type_pointer, &call->variadic);
    } else {
        for (size_t i = 0; i < call->operand_count; i++)
            add_parameter(&p, &ffi_type_pointer, &call->positional[i]);
    }
    for (const struct attr_info *a = info->attrs; a->kind && a->positional; a++) {
        char *value = (char *)&call->args + a->offset;

        if (call->op == OP_SPLIT && !call->args.split.splits) {
            function = (method_function)wnnGraphBuilderSplitEqual;
            add_parameter(&p, &ffi_type_uint32, &call->args.split.equal);
        } else if (attr_is_list(a)) {
            add_parameter(&p, size_type(), (char *)&call->args + a->count_offset);
            add_parameter(&p, &ffi_type_pointer, value);
        } else {
            add_parameter(&p, &ffi_type_uint32, value); /* integers and data types */
        }
    }
    add_parameter(&p, &ffi_type_pointer, &options);
    if (wnnMethodCallIsSequence(call)) {
        capacity = sequence_count(call);
        /* There cannot be as many parts: the method refuses and writes nothing. */
        if (capacity > TENSOR_COUNT_MAX)
            capacity = 0;
        if (call->op == OP_SPLIT_DYNAMIC)
            add_parameter(&p, size_type(), &capacity);
        add_parameter(&p, &ffi_type_pointer, &outputs);
    }
    call->results = arena_array(&call->arena, capacity, sizeof(*call->results));
    if (!call->results)
        return no_memory(call);
    outputs = call->results;
    if (ffi_prep_cif(&cif, FFI_DEFAULT_ABI, p.count, wnnMethodCallIsSequence(call) ? &ffi_type_uint32 : &ffi_type_pointer,
                     p.types) != FFI_OK)
        return refuse(call, "the method", "cannot be called");
    if (wnnMethodCallIsSequence(call)) {
        ffi_arg status = 0; /* narrow integers come back widened */

        ffi_call(&cif, function, &status, p.values);
        if ((WNNStatus)status != WNNStatus_Success)
            return (WNNStatus)status;
        while (call->result_count < capacity && call->results[call->result_count])
            call->result_count++;
        return WNNStatus_Success;
    }
    ffi_call(&cif, function, call->results, p.values);
    if (wnnOperandIsError(call->results[0]))
        return builder ? builder->last_status : WNNStatus_TypeError;
    call->result_count = 1;
    return WNNStatus_Success;
}

WNNStatus wnnMethodCallInvoke(WNNMethodCall call, WNNGraphBuilder builder)
{
    size_t count = wnnMethodCallArgumentCount(call);
    WNNStatus status;

    if (!is_usable(call, &status))
        return status;
    for (size_t i = 0; i < count; i++)
        if (!call->is_set[i])
            return refuse(call, wnnMethodCallArgumentName(call, i), "is missing");
    if (builder)
        log_ignored(call, builder->context);
    call->result_count = 0;
    return call_method(call, builder);
}

size_t wnnMethodCallResultCount(WNNMethodCall call)
{
    return call ? call->result_count : 0;
}

WNNOperand wnnMethodCallResult(WNNMethodCall call, size_t index)
{
    return index < wnnMethodCallResultCount(call) ? call->results[index] : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the operator table: the rows of ops.def as an enum and an array.
 *
 * A row states the specification's facts about the operator, never about a backend.  Passes, codegen and runtime read flags and
 * fields, or switch over enum op without a default case, so that -Wswitch lists missing cases.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/support/dtype.h"
#include "webnn/webnn.h"

/** The largest rank of an operand; the specification leaves the limit to the implementation. */
#define RANK_MAX 12
/** The most elements of an operand, and the largest dimension (specification: range of `long`). */
#define ELEMENT_COUNT_MAX INT32_MAX
/** The most bytes of an operand: that many elements of the largest type, if they can be addressed. */
#define TENSOR_BYTES_MAX ((int64_t)(PTRDIFF_MAX / 8 < ELEMENT_COUNT_MAX ? PTRDIFF_MAX : INT64_C(8) * ELEMENT_COUNT_MAX))
/** The most inputs of a concat, and outputs of a split (specification: "valid tensor count"). */
#define TENSOR_COUNT_MAX 8192
/** The most inputs or outputs of a graph, and futures of one wait. */
#define SLOT_COUNT_MAX (1 << 20)
/** The most bytes of a name or label. */
#define NAME_BYTES_MAX ((1 << 16) - 1)
/** The most operands, results and attributes of a row (variadic operands count once). */
enum { OP_OPERANDS_MAX = 8, OP_RESULTS_MAX = 3, OP_ATTRS_MAX = 10 };

/* ---- sets of data types ---- */

/** A set of data types (bit 1 << dtype), or "same as input i" (DT_AS). */
typedef uint16_t dtype_set;
#define DT_BIT(name) ((dtype_set)(1u << WNNOperandDataType_##name))
#define DT_AS_FLAG 0x8000u
#define DT_AS(i) ((dtype_set)(DT_AS_FLAG | (i)))
#define DT_ANY ((dtype_set)0x1FE)
#define DT_FLOAT8 ((dtype_set)(1u << DTYPE_FLOAT8E4M3 | 1u << DTYPE_FLOAT8E5M2))
#define DT_DRAFT ((dtype_set)(1u << DTYPE_BFLOAT16 | DT_FLOAT8))
#define DT_FLOAT32_FLOAT16 (DT_BIT(Float32) | DT_BIT(Float16))
#define DT_INT32_INT64 (DT_BIT(Int32) | DT_BIT(Int64))
#define DT_INT32_UINT32_INT64 (DT_INT32_INT64 | DT_BIT(Uint32))
#define DT_UINT8 DT_BIT(Uint8)
#define DT_FLOAT32_FLOAT16_UINT8_INT8 (DT_FLOAT32_FLOAT16 | DT_BIT(Uint8) | DT_BIT(Int8))
#define DT_UINT8_INT8_UINT32_INT32 (DT_BIT(Uint8) | DT_BIT(Int8) | DT_BIT(Uint32) | DT_BIT(Int32))
#define DT_FLOAT32_FLOAT16_INT64_INT32_INT8 (DT_FLOAT32_FLOAT16 | DT_BIT(Int64) | DT_BIT(Int32) | DT_BIT(Int8))
#define DT_SIZES (DT_INT32_UINT32_INT64 | DT_BIT(Uint64))
#define DT_FLOAT32_FLOAT16_INT32_UINT32_INT64_UINT64 (DT_FLOAT32_FLOAT16 | DT_INT32_UINT32_INT64 | DT_BIT(Uint64))

/* ---- positional arguments that are not operands ---- */

struct loop_body;

/** Holds the positional arguments of an operator other than operands, in one struct per operator that has any.  Lists live
 * in the graph's arena. */
union op_args {
    struct {
        uint32_t axis;
    } argMin, argMax, concat, cumulativeSum, reshapeTo2d, softmax;
    struct {
        dtype dataType;
    } cast;
    struct {
        size_t newShapeCount;
        const uint32_t *newShape;
    } expand, reshape;
    struct {
        size_t startsCount;
        const uint32_t *starts;
        size_t sizesCount;
        const uint32_t *sizes;
    } slice;
    struct {
        size_t splitsCount;
        const uint32_t *splits;
        uint32_t equal; /* if not 0: that many equal parts; splits is then filled in by shape inference */
    } split;
    struct {
        size_t axesCount;
        const uint32_t *axes;
    } squeeze, unsqueeze;
    struct {
        size_t repetitionsCount;
        const uint32_t *repetitions;
    } tile;
    struct {
        size_t beginningPaddingCount;
        const uint32_t *beginningPadding;
        size_t endingPaddingCount;
        const uint32_t *endingPadding;
    } pad;
    struct {
        uint32_t steps;
        uint32_t hiddenSize;
    } gru, lstm;
    struct {
        uint32_t hiddenSize;
    } gruCell, lstmCell;
    struct {
        struct loop_body *body;
    } loop;
};

/* ---- the rows ---- */

/** Properties of an operator for the passes. */
enum op_flags {
    OPF_ELEMENTWISE = 1 << 0,         /**< element i of the output needs only element i of each (broadcast) input */
    OPF_ELEMENTWISE_INDEXED = 1 << 1, /**< likewise, but the index itself matters, too (triangular) */
    OPF_MOVEMENT = 1 << 2,            /**< moves elements, computes nothing */
    OPF_REDUCTION = 1 << 3,           /**< reduces whole dimensions */
    OPF_NORMALIZATION = 1 << 4,       /**< statistics over some dimensions, then element-wise */
    OPF_POOL = 1 << 5,                /**< reduces a sliding window */
    OPF_SCAN = 1 << 6,                /**< running reduction along a dimension */
    OPF_GATHER = 1 << 7,              /**< reads at indices that are data */
    OPF_SCATTER = 1 << 8,             /**< writes at indices that are data */
    OPF_RESAMPLE = 1 << 9,            /**< reads at scaled coordinates */
    OPF_LIBRARY = 1 << 10,            /**< convolution or matmul: by the library or a generated kernel */
    OPF_RECURRENT = 1 << 11,          /**< lstm, gru and their cells */
    OPF_COMMUTES = 1 << 12,           /**< exchanging inputs 0 and 1 changes nothing */
    OPF_EXPENSIVE = 1 << 13,          /**< computing it twice costs more than storing it once (transcendental functions) */
    OPF_VARIADIC = 1 << 14,           /**< the one row of INS stands for any number of inputs (concat) */
    OPF_SEQUENCE = 1 << 15,           /**< the builder method returns a sequence of operands */
    OPF_FLOAT64 = 1 << 16,            /**< operands may be DTYPE_FLOAT64, too, in what passes make, and after
                                     wnnGraphBuilderCastToFloat64 */
    OPF_COPIES = 1 << 17,          /**< results are elements of operands, unchanged or cast: of the draft's data types, too */
    OPF_NAMED_ARGUMENTS = 1 << 18, /**< positional arguments in C are options where options have names */
    OPF_RESHAPES = 1 << 19,        /**< the result has the elements of input 0 in their order */
    OPF_IF_LESS = 1 << 20,         /**< a comparison that holds if input 0 is less than input 1, */
    OPF_IF_EQUAL = 1 << 21,        /**< if they are equal, */
    OPF_IF_GREATER = 1 << 22,      /**< if it is greater */
    OPF_COMPARES = OPF_IF_LESS | OPF_IF_EQUAL | OPF_IF_GREATER,
};

enum attr_kind {
    ATTR_NONE = 0, /* ends a row's list */
    ATTR_U32,
    ATTR_I32,
    ATTR_F64,
    ATTR_BOOL,
    ATTR_NUMBER, /* WNNNumber */
    ATTR_DATA_TYPE,
    ATTR_ENUM,
    ATTR_U32_LIST,
    ATTR_F32_LIST,
    ATTR_ENUM_LIST
};

/** The enumerations of attributes; enum_value_name() has the names of their values. */
enum attr_enum {
    ENUM_NONE = 0,
    ENUM_INPUT_LAYOUT,
    ENUM_CONV2D_FILTER_LAYOUT,
    ENUM_CONV_TRANSPOSE2D_FILTER_LAYOUT,
    ENUM_GRU_LAYOUT,
    ENUM_LSTM_LAYOUT,
    ENUM_ACTIVATION,
    ENUM_DIRECTION,
    ENUM_PADDING_MODE,
    ENUM_ROUNDING_TYPE,
    ENUM_INTERPOLATION_MODE,
    ENUM_SCATTER_REDUCTION
};

/** Returns the specification's name of an enumeration's value, or NULL if there is no such value. */
const char *enum_value_name(enum attr_enum e, unsigned value);
/** Returns the value of that name, or -1. */
int enum_value_parse(enum attr_enum e, const char *text, size_t length);

/** Says how an attribute's numbers may follow sizes that have names. */
enum number_kind {
    NUMBER_FIXED,  /* they do not */
    NUMBER_LINEAR, /* linear in the names, as passes only add such numbers: linear expressions that agree in samples are equal
                    */
    NUMBER_CHECKED /* inference compares them with the result's shape, so that a wrong number is found */
};

/** Describes one attribute: where it is in the option struct (or in union op_args) and what it is. */
struct attr_info {
    const char *name;
    enum attr_kind kind;
    enum attr_enum enumeration;
    bool positional; /* in union op_args, not in the option struct */
    bool positive;   /* 0 is not a value of it */
    bool or_count;   /* a list, or a number: of equal parts */
    bool wraps;      /* the IDL has no [EnforceRange] for it, so that JavaScript's numbers wrap around */
    enum number_kind sizes;
    uint16_t offset;       /* of the value, or of a list's pointer */
    uint16_t count_offset; /* of a list's count */
};

/** Describes one operand or result. */
struct operand_info {
    const char *name;
    dtype_set types;
    int8_t rank_min; /* negative: the rank of input -rank_min - 1 */
    int8_t rank_max;
    bool optional;          /* lives in the option struct */
    bool sizes;             /* inference compares its elements with the result's shape */
    uint16_t option_offset; /* of the WNNOperand member, if optional */
};

struct call;

/** A row of the table. */
struct op_info {
    const char *name;   /* as in the specification: "conv2d" */
    const char *method; /* "Conv2d", as in wnnGraphBuilderConv2d */
    uint32_t flags;
    uint16_t options_size;
    uint16_t options_first_size;                  /* of its first version (ir/support/struct_size.h) */
    const void *options_default;                  /* the option struct with the specification's defaults */
    const char *options_init;                     /* the name of the macro that gives options_default */
    struct operand_info ins[OP_OPERANDS_MAX + 1]; /* ends with a NULL name */
    struct operand_info outs[OP_RESULTS_MAX + 1]; /* ends with a NULL name */
    struct attr_info attrs[OP_ATTRS_MAX + 1];     /* ends with ATTR_NONE; positional ones first */
    bool (*infer)(struct call *c); /* validation beyond types and ranks, and the results' types; see ir/graph/infer.h */
};

enum op {
#define OP(id, ...) OP_##id,
#include "ir/graph/ops.def"
#undef OP
    OP_COUNT
};

/**
 * A loop (docs/loops.md) and a scatter that combines updates (wnnGraphBuilderScatterReduce) are nodes like others, but not
 * operators of the specification.  Their rows follow those of ops.def, so that a loop over all operators, from 0 to OP_COUNT,
 * excludes them.
 */
#define OP_LOOP ((enum op)OP_COUNT)
#define OP_SCATTER_REDUCE ((enum op)(OP_COUNT + 1))
enum { OP_ROWS = OP_COUNT + 2 };

/** The rows of ops.def, those two, and those of ops_draft.def (ir/graph/op_draft.h). */
extern const struct op_info op_infos[];

/** Returns the operator of that name, or OP_COUNT if there is none. */
enum op op_parse(const char *text, size_t length);
/** Does the same, with scatterReduce, which texts and calls by name also have. */
enum op op_parse_extended(const char *text, size_t length);
/** Does so, too, for the operators of the draft (op_draft.h), which graphs with named dimensions have. */
enum op op_parse_draft(const char *text, size_t length);
/** Returns the data types of the draft that an operand or result of the operator may have besides those of its row: where its
 * elements are moved or cast, or bytes are quantized to. */
dtype_set op_draft_types(enum op op, const struct operand_info *operand);
/** Returns the row of the operand in a slot; one row stands for all operands of a variadic operator. */
static inline const struct operand_info *op_operand(enum op op, uint32_t slot)
{
    return &op_infos[op].ins[op_infos[op].flags & OPF_VARIADIC ? 0 : slot];
}
/** Returns the number of rows in ins. */
uint32_t op_input_slots(enum op op);
/** Returns how many of the operands are positional. */
uint32_t op_positional_inputs(enum op op);

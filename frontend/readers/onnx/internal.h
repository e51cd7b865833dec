/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is the ONNX reader's own state, which reader.c, walk.c, value.c, attribute.c and tensor.c share and importers do not
 * see.
 */
#pragma once

#include "frontend/readers/onnx/onnx.h"
#include "ir/support/arena.h"
#include "ir/support/name_map.h"

enum {
    DEPTH_MAX = 32,          /* nested functions and bodies */
    WIRE_DEPTH_MAX = 100,    /* nested messages: protobuf-c recurses */
    NODE_OPERATIONS = 3000,  /* charged for a node: functions and loops unrolled, a small file can have any number */
    STEP_OPERATIONS = 16,    /* charged for a step: see onnx_spend */
    REFUSALS_MAX = 100,      /* listed; the others are counted */
    ATTRIBUTES_MAX = 64,     /* of a node: a bit each says which have been read */
    FOLD_ELEMENTS = 1 << 12, /* results up to this are computed while reading, larger ones on demand */
    LEND_BYTES = 1 << 16,    /* from this size tensors stay in the file; smaller ones share pages */
};

/** Computing a small result ahead of its use may take about so many operations. */
#define FOLD_COST 0x1p24

/**
 * Returns the value of a name, or NULL if it is not there.  *found (found may be NULL) tells an absent name from one with a
 * NULL value.
 */
void *onnx_map_get(const struct name_map *map, const char *name, bool *found);
/** Adds a name with a value, which may be NULL. */
enum name_map_status onnx_map_add(struct name_map *map, const char *name, void *value);

/** Names have a meaning within a scope: the graph, a function's body, or a body of If, Loop or Scan. */
struct onnx_scope {
    struct onnx_reader *reader;
    struct onnx_scope *outer;             /* a body sees the names around it; a function does not (NULL) */
    const struct onnx_node *owner;        /* the node that the function or body belongs to; NULL for the model's graph */
    const struct onnx_function *function; /* set in functions: attributes may refer to those of owner */
    const struct name_map *opsets;        /* Onnx__OperatorSetIdProto, by domain */
    struct name_map values; /* struct onnx_value; NULL for an optional input of a function that the caller left out */
    size_t node_count;      /* of the nodes that are imported in it */
    Onnx__NodeProto *const *nodes;
    struct name_map blocked; /* struct onnx_blocked, of tensors in blocks of channels (operators_nchwc.c) */
    uint32_t block;          /* channels of a block; 0 until it is needed */
    unsigned depth;
};

struct model_description;

/**
 * Adds a graph's outputs and inputs to an empty description, initializers that are inputs only with `all`.  Returns false if
 * memory runs out.
 */
bool onnx_declare_ports(struct model_description *d, const Onnx__GraphProto *graph, bool all);

/** Describes a function that the model defines. */
struct onnx_function {
    struct onnx_function *next;
    const Onnx__FunctionProto *proto;
    bool prepared;              /* it was called, so that what follows is there */
    struct name_map attributes; /* Onnx__AttributeProto, its default; NULL if it has none */
    struct name_map opsets;
};

/** Holds a list of nodes and the order in which they can be imported. */
struct onnx_order {
    Onnx__NodeProto *const *nodes;
    const size_t *order;
};

/** Holds a file of tensors next to the model. */
struct onnx_external {
    struct onnx_external *next;
    struct file_map *map;
    char key[]; /* device and number of the file */
};

/** Holds sizes that the file names, and expressions of them (open.h). */
struct onnx_open_table {
    struct onnx_open *sizes;
    struct onnx_open_result *results;
    uint32_t count, result_count;
    size_t capacity, result_capacity;
    uint32_t count_outside, result_count_outside; /* of the loop that has begun */
};

struct onnx_reader {
    const char *path;
    const unsigned char *bytes; /* the file */
    size_t length;
    struct file_map *map; /* the file, if it stays: its weights are lent then; NULL if they are copied */
    struct onnx_external *external;
    struct name_map external_by_path; /* the same */
    const struct model_options *options;
    struct model *model;
    Onnx__ModelProto *proto;
    struct arena memory;
    WNNOperand error_operand;
    bool failed;  /* the file is broken: the message is there, everything stops */
    bool in_loop; /* of the builder, which do not nest */
    struct error *error;
    size_t refusal_count; /* nodes that cannot be expressed */
    char *refusals;       /* a line for each */
    size_t refusals_length;
    size_t refusals_capacity;
    size_t steps;           /* not charged yet, see onnx_spend */
    struct name_map orders; /* struct onnx_order, by the address of the list */
    bool *needed;           /* the nodes of the graph that wanted outputs depend on */
    struct name_map opsets; /* of the model */
    struct onnx_function *functions;
    struct name_map functions_by_name;
    struct onnx_open_table open;
};

/** Says that the file is broken, or that memory ran out, and stops the reader.  Returns false. */
bool onnx_fail(struct onnx_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Says that memory ran out, and stops the reader.  Returns false. */
static inline bool onnx_fail_memory(struct onnx_reader *r)
{
    return onnx_fail(r, "out of memory");
}
/** Onnx_fail and onnx_refuse for functions whose result is a pointer: they return NULL. */
#define onnx_fail_null(r, ...) (onnx_fail(r, __VA_ARGS__), NULL)
#define onnx_refuse_null(n, ...) (onnx_refuse(n, __VA_ARGS__), NULL)
/** Charges what the reader is about to do to the builder's budget.  Returns false if the reader failed. */
bool onnx_charge(struct onnx_reader *r, const char *what, uint64_t operations, uint64_t bytes);
/** Fails with the builder's message. */
bool onnx_fail_budget(struct onnx_reader *r);
/** Returns zeros that live until the reader ends.  Returns NULL if the reader failed: memory ran out, or the budget does not
 * allow it. */
void *onnx_reader_alloc(struct onnx_reader *r, size_t count, size_t size);
/**
 * Counts steps: names looked up or bound, elements of lists read, and the like.  What a file holds once takes at most a step
 * per byte, but functions are imported wherever they are called, and bodies once per iteration.  Charges many steps at a time,
 * and fails beyond the budget.
 */
bool onnx_spend(struct onnx_reader *r, size_t steps);
/** Returns a name for messages, in the reader's memory: shortened, without control and invisible characters. */
const char *onnx_escape(struct onnx_reader *r, const char *name);

/* functions.c */
/** Maps domains ("" is ONNX's own) to operator sets.  Returns false if the reader failed. */
bool onnx_map_opsets(struct onnx_reader *r, struct name_map *map, size_t count, Onnx__OperatorSetIdProto *const *opsets);
/** Returns the domain as it stands in tables.  *imported says whether the scope has its operator set, *version which one. */
const char *onnx_opset(const struct onnx_scope *scope, const char *domain, bool *imported, int64_t *version);
/** Fills the reader's table of the model's functions.  Returns false if the reader failed. */
bool onnx_map_functions(struct onnx_reader *r);
/** Returns the function of the model that a node calls, or NULL if there is none or the reader failed. */
struct onnx_function *onnx_find_function(struct onnx_reader *r, const Onnx__NodeProto *node, const char *domain);
/** Frees what the functions hold outside of the reader's memory. */
void onnx_free_functions(struct onnx_reader *r);

/* wire.c */
/** Stands in the raw_data of a lifted message and says where the bytes are in the file. */
struct onnx_wire_reference {
    uint64_t offset, length;
};
/**
 * Returns the model that the bytes of a file hold, without its weights, which stay there; onnx__model_proto__free_unpacked
 * frees it.  Returns NULL if it cannot be read; then *wrong says why, or is NULL if memory ran out.
 */
Onnx__ModelProto *onnx_wire_unpack(const void *bytes, size_t length, const char **wrong);

/* tensor.c */
/** Makes a constant of a tensor in the file or next to it.  Types that WebNN does not have get a refusal.  Returns NULL if the
 * file is broken. */
struct onnx_value *onnx_read_tensor(struct onnx_reader *r, const Onnx__TensorProto *t, const char *what);
/** Returns so many elements of raw bytes, as files have them, in the host's form: raw itself, or memory of the reader's; NULL
 * after failing. */
const void *onnx_from_raw(struct onnx_reader *r, enum onnx_type type, const void *raw, size_t count);

/* support.c */
/** Returns whether a value may have these dimensions: at most ONNX_RANK_MAX, none of them negative, their product (zeros aside)
 * below 2^31. */
bool onnx_dims_fit(size_t rank, const int64_t *dims);

/* value.c */
/** Creates a value without data.  Returns NULL, after onnx_fail, if memory runs out or the dimensions do not fit. */
struct onnx_value *onnx_value_create(struct onnx_reader *r, enum onnx_type type, size_t rank, const int64_t *dims);
/** Makes the result of a refused node. */
struct onnx_value *onnx_value_unknown(struct onnx_reader *r);
/** Brings a constant's data to the host if need be.  Returns false if v is not constant, which is no refusal, or if the reader
 * failed. */
bool onnx_value_compute(struct onnx_reader *r, struct onnx_value *v);

/* attribute.c */
/** Returns the attribute that a stands for in a scope: references into the enclosing function's call are followed. */
const Onnx__AttributeProto *onnx_attribute_resolve(const struct onnx_scope *scope, const Onnx__AttributeProto *a);

/* walk.c */
/** Imports nodes in an order in which they can be.  Returns false if the file is broken; then the reader failed. */
bool onnx_import_nodes(struct onnx_scope *scope, size_t count, Onnx__NodeProto *const *nodes, const char *what);
/** Binds the names of a graph's initializers to their values.  Returns false if the reader failed. */
bool onnx_bind_initializers(struct onnx_scope *scope, const Onnx__GraphProto *graph);
/** Binds a name to a value in the scope.  Returns false if the reader failed, which it does if the name is taken. */
bool onnx_bind(struct onnx_scope *scope, const char *name, struct onnx_value *v, const char *what);
/**
 * Returns the value of a name, looking through the scopes, or NULL.  *found tells an absent name from an input that was left
 * out.
 */
struct onnx_value *onnx_lookup(const struct onnx_scope *scope, const char *name, bool *found);
/** Reports a node that cannot be expressed. */
void onnx_report(struct onnx_scope *scope, const Onnx__NodeProto *node, const char *reason);

/* empty.c */
/**
 * Imports a node that reads tensors without elements, if its result is known without computing (*handled), and leaves out
 * inputs that mean nothing without elements.  Returns false after refusing.
 */
bool onnx_import_empty(struct onnx_node *n, bool *handled);

/* counted.c */
/** Adds outputs to the model that say how many elements of others count.  Returns false if the reader failed. */
bool onnx_add_counts(struct onnx_scope *scope);

/* order.c */
/** Returns the order in which nodes can be imported, as indices: the file's if that works.  It is found once for each list,
 * however often that is imported.  Returns NULL if the reader failed: there is a cycle, or memory ran out. */
const size_t *onnx_order_nodes(struct onnx_reader *r, size_t count, Onnx__NodeProto *const *nodes, const char *what);

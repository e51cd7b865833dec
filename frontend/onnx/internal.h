/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The ONNX reader's own state: what reader.c, walk.c, value.c, attribute.c and tensor.c share and importers do not see.
 */
#ifndef WEBNN_FRONTEND_ONNX_INTERNAL_H_
#define WEBNN_FRONTEND_ONNX_INTERNAL_H_

#include "frontend/onnx/onnx.h"

enum {
    DEPTH_MAX = 32,          /* functions and bodies within each other */
    WIRE_DEPTH_MAX = 100,    /* messages within each other: protobuf-c recurses */
    NODES_MAX = 1 << 18,     /* nodes imported, functions and loops unrolled: a small file must not become an endless graph */
    REFUSALS_MAX = 100,      /* listed; the others are counted */
    FOLD_ELEMENTS = 1 << 12, /* results up to this are computed while reading, larger ones when somebody asks */
    CONSTANT_ELEMENTS = 1 << 20, /* the most that somebody can ask for */
    LEND_BYTES = 1 << 16,        /* tensors from here on stay in the file, smaller ones are worth no page of their own */
};

/** Operations, or about so, that computing a constant may take. */
#define COST_MAX 0x1p30
/** The same for a small result that nobody has asked for yet. */
#define FOLD_COST 0x1p24

/** Names to pointers, open addressing; names and pointers are the caller's. */
struct onnx_map {
    struct onnx_map_slot {
        const char *name;
        void *value;
    } *slots;
    size_t capacity, count;
};

/** The value of a name; NULL if it is not there.  *found (may be NULL) tells an absent name from one with a NULL value. */
void *onnx_map_get(const struct onnx_map *map, const char *name, bool *found);
/** 1: added, 0: was there already (unchanged), -1: out of memory. */
int onnx_map_add(struct onnx_map *map, const char *name, void *value);
/** Another value for a name that is there. */
void onnx_map_replace(struct onnx_map *map, const char *name, void *value);
void onnx_map_free(struct onnx_map *map);

/** Where names mean something: the graph, a function's body, a body of If, Loop or Scan. */
struct onnx_scope {
    struct onnx_reader *reader;
    struct onnx_scope *outer;            /* a body sees the names around it; a function does not (NULL) */
    const struct onnx_node *owner;       /* the node that the function or body belongs to; NULL: the model's graph */
    const Onnx__FunctionProto *function; /* set in functions: attributes may refer to those of owner */
    size_t opset_count;
    Onnx__OperatorSetIdProto *const *opsets;
    struct onnx_map values; /* struct onnx_value; NULL: an optional input of a function that the caller left out */
    unsigned depth;
};

struct onnx_block {
    struct onnx_block *next;
    _Alignas(64) unsigned char bytes[];
};

/** A file of tensors beside the model. */
struct onnx_external {
    struct onnx_external *next;
    struct file_map *map;
    char path[];
};

struct onnx_reader {
    const char *path;
    const unsigned char *bytes; /* the file */
    size_t length;
    struct file_map *map; /* the file, if it stays: its weights are lent then.  NULL: they are copied */
    struct onnx_external *external;
    const struct model_options *options;
    struct model *model;
    Onnx__ModelProto *proto;
    struct onnx_block *blocks;
    size_t used, budget; /* bytes of blocks, and how many there may be: no file asks for more memory than it is worth */
    WNNOperand error_operand;
    bool failed; /* the file is broken: the message is there, everything stops */
    char **message;
    size_t refusal_count; /* nodes that cannot be expressed */
    char *refusals;       /* a line for each */
    size_t refusals_length, refusals_capacity;
    size_t node_count; /* imported so far */
};

/** The file is broken, or memory ran out.  Returns false. */
bool onnx_fail(struct onnx_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool onnx_fail_memory(struct onnx_reader *r);
/** Zeros until the reader ends; NULL after onnx_fail_memory. */
void *onnx_reader_alloc(struct onnx_reader *r, size_t count, size_t size);
/** A name for messages: in the reader's memory, shortened, without control and invisible characters. */
const char *onnx_escape(struct onnx_reader *r, const char *name);

/* wire.c */
/** Stands in the raw_data of a lifted message: where the bytes are in the file. */
struct onnx_wire_reference {
    uint64_t offset, length;
};
/** Whether messages nest no deeper than protobuf-c can take.  Adds to *lifted how much shorter onnx_wire_lift makes the
 * message. */
bool onnx_wire_check(const void *bytes, size_t length, const ProtobufCMessageDescriptor *type, unsigned depth, size_t *lifted);
/**
 * Copies a message that has been checked, every raw_data of at least sizeof(struct onnx_wire_reference) replaced by a
 * reference. Returns the length of the copy, which is what onnx_wire_check counted.
 */
size_t onnx_wire_lift(const void *bytes, size_t length, const ProtobufCMessageDescriptor *type, void *out);

/* tensor.c */
/** Makes a constant of a tensor in the file or beside it.  What WebNN does not have gets a refusal; NULL: the file is broken.
 */
struct onnx_value *onnx_read_tensor(struct onnx_reader *r, const Onnx__TensorProto *t, const char *what);

/* value.c */
struct onnx_value *onnx_value_create(struct onnx_reader *r, enum onnx_type type, size_t rank, const int64_t *dims);
/** A result of a refused node. */
struct onnx_value *onnx_value_unknown(struct onnx_reader *r);
/** Brings a constant's data to the host if need be.  False: not constant, or too large (no refusal). */
bool onnx_value_compute(struct onnx_reader *r, struct onnx_value *v);

/* attribute.c */
/** The attribute that a name stands for in a scope: references into the enclosing function's call are followed. */
const Onnx__AttributeProto *onnx_attribute_resolve(const struct onnx_scope *scope, const Onnx__AttributeProto *a);

/* walk.c */
/** Imports nodes in an order in which they can be.  False: the file is broken (reader failed). */
bool onnx_import_nodes(struct onnx_scope *scope, size_t count, Onnx__NodeProto *const *nodes, const char *what);
/** Binds a graph's initializers. */
bool onnx_bind_initializers(struct onnx_scope *scope, const Onnx__GraphProto *graph);
/** Binds a name; fails if it is taken. */
bool onnx_bind(struct onnx_scope *scope, const char *name, struct onnx_value *v, const char *what);
/** Looks through the scopes; *found tells an absent name from an input that was left out. */
struct onnx_value *onnx_lookup(const struct onnx_scope *scope, const char *name, bool *found);
/** One more node that cannot be expressed. */
void onnx_report(struct onnx_scope *scope, const Onnx__NodeProto *node, const char *reason);

/* order.c */
/** The order in which nodes can be imported, as indices: the file's if that works.  NULL: failed (a cycle, or memory). */
const size_t *onnx_order_nodes(struct onnx_scope *scope, size_t count, Onnx__NodeProto *const *nodes, const char *what);

#endif

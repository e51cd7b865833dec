/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Expresses recurrent operators by other operators: one cell, the projection of a whole sequence, and the graphs of a loop.
 *
 * Nodes gru, gruCell, lstm and lstmCell become nodes in the same graph (passes/recurrent/expand_recurrent.c, where there is one
 * step), or small graphs of their own that an engine runs once before the loop and once per step
 * (passes/recurrent/recurrent_loop.c).  docs/loops.md explains why.  Read recurrent_cell.c first: it holds the formulas.
 */
#pragma once

#include "passes/passes.h"

enum { RECURRENT_GATES_MAX = 4, RECURRENT_PEEPHOLES = 3, RECURRENT_DIRECTIONS_MAX = 2 };

/** A recurrent node with its operands and options by name.  Absent operands and unused results are NULL. */
struct recurrent {
    const struct node *node;
    bool lstm, reset_after;
    uint32_t steps, batch, inputs, hidden; /* a cell has one step */
    uint32_t gates, directions;
    bool backward[RECURRENT_DIRECTIONS_MAX];
    const WNNRecurrentNetworkActivation *activations;
    struct value *input, *weight, *recurrent_weight, *bias, *recurrent_bias, *peephole, *hidden_state, *cell_state;
    struct value *hidden_result, *cell_result, *sequence_result;
};

/** Fills *r for a recurrent node. */
void recurrent_describe(const struct node *n, struct recurrent *r);
/** Returns whether a step does so little that it is computed in float64; sizes are those of expressions, if there are names. */
bool recurrent_is_small(const struct node *n, const uint32_t *sizes);

/** The position of new nodes, and the node that they replace.  The functions below return NULL when memory ran out or an
 * operand is NULL. */
struct recurrent_builder {
    struct graph *g;
    struct node *before; /* NULL: at the end */
    const struct recurrent *r;
};

/** Holds the operands of one direction, in the builder's graph. */
struct recurrent_operands {
    struct value *projected;      /* [batch, gates * hidden]: the input's share of the gates, biases added where they may be */
    struct value *hidden, *cell;  /* [batch, hidden]: states before the step */
    struct value *recurrent_bias; /* [hidden], of the new gate, for gru with resetAfter; may be NULL */
    struct value *peephole[RECURRENT_PEEPHOLES]; /* [hidden] each, input, output, forget gate; NULL: absent */
    /* recurrentWeight comes in one of two forms. */
    struct value *rows;                        /* [gates * hidden, hidden], as given */
    struct value *blocks[RECURRENT_GATES_MAX]; /* by place: [hidden / width, hidden, width], for matmuls that keep blocks of
                                                  `width` sums in registers; used if block_width is not 0 */
    uint32_t block_width;
};

/** Makes one step and returns the new states in *hidden and *cell (*cell only for lstm). */
void recurrent_cell(struct recurrent_builder *b, const struct recurrent_operands *o, struct value **hidden,
                    struct value **cell);

/** Returns x [rows, inputs] times weight [gates * hidden, inputs]; it adds biases [gates * hidden] (or NULL) if possible. */
struct value *recurrent_project(struct recurrent_builder *b, struct value *x, struct value *weight, struct value *bias,
                                struct value *recurrent_bias);
/** Returns the rows of one gate of recurrentWeight in blocks: see recurrent_operands. */
struct value *recurrent_block(struct recurrent_builder *b, struct value *rows, uint32_t place, uint32_t width);

/** Returns the elements [start, start + size) of the first dimension of v. */
struct value *recurrent_part(struct recurrent_builder *b, struct value *v, uint32_t start, uint32_t size);
/** Returns v reshaped. */
struct value *recurrent_reshape(struct recurrent_builder *b, struct value *v, uint32_t rank, const uint32_t *dims);

/* ---- loops ---- */

/** The memory of an input or output of a loop's graph. */
struct loop_bytes {
    enum {
        LOOP_VALUE,  /* of the outer graph */
        LOOP_BUFFER, /* of the loop's own */
        LOOP_ZEROS
    } kind;
    const struct value *value;
    uint32_t buffer;
    int64_t offset, bytes;
};

/** The location of an operand of a step: in iteration i it is `stride * i` bytes after `at`.  With has_first, it is `first` in
 * iteration 0, and `stride * (i - 1)` bytes after `at` in iteration i. */
struct loop_operand {
    struct loop_bytes at, first;
    bool has_first;
    int64_t stride;
};

/** The most of each of a recurrent node. */
enum { LOOP_OPERANDS_MAX = 24, LOOP_BUFFERS_MAX = 20, LOOP_COPIES_MAX = 2 };

struct loop_copy {
    struct loop_bytes from, to;
};

/** A graph, and the memory of its inputs and outputs.  Inputs that became constants are constants in it. */
struct loop_graph {
    struct graph *graph;
    bool lent; /* the graph is the outer one's, which plans keep */
    struct loop_operand *inputs, *outputs;
    bool no_library;     /* its matmul and all later nodes are one generated kernel */
    uint32_t copy_count; /* made after the graph has run, in every iteration: the state for the next one */
    struct loop_copy *copies;
};

/**
 * The graphs of a recurrent node of several steps: `before` runs once, then for each direction its step `iterations` times,
 * then its copies.
 */
struct recurrent_loop {
    uint32_t iterations, direction_count;
    uint32_t stop;            /* 1 + the number of a copy of the step; see struct program_loop */
    struct loop_graph before; /* its copies are made after the graph, if there is one, has run */
    struct loop_graph step[RECURRENT_DIRECTIONS_MAX];
    uint32_t buffer_count;
    int64_t *buffers; /* bytes of each */
    uint32_t copy_count;
    struct loop_copy copies[RECURRENT_DIRECTIONS_MAX];
    struct arena arena; /* of the lists */
};

/** Makes the graphs of a node that is float32 and of several steps, as pass_expand_recurrent leaves it; the caller frees them.
 * Returns false after an error in *e; l is empty then. */
bool recurrent_loop_create(const struct node *n, const struct target *t, struct recurrent_loop *l, struct error *e);
/**
 * Does the same for a loop node (OP_LOOP), of which it takes the body, or borrows it if plans keep it.  There is no graph
 * `before`, and step[0] is the body.
 */
bool body_loop_create(const struct node *n, const struct target *t, struct recurrent_loop *l, struct error *e);
/** Frees the graphs of a loop. */
void recurrent_loop_free(struct recurrent_loop *l);
/** Allocates the lists of a graph of the loop.  Returns false if memory runs out. */
bool loop_graph_allocate(struct recurrent_loop *l, struct loop_graph *lg, size_t inputs, size_t outputs, size_t copies);

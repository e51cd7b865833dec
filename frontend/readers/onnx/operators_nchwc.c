/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds what the nodes of the domain com.microsoft.nchwc say about blocks and channels, and imports ReorderInput and
 * ReorderOutput, which begin and end that form.  The other operators stand with those of ONNX that they equal.
 *
 * ONNX Runtime's level "all" writes this domain on processors with vectors: tensors [N, C, H, W] that it keeps in blocks of 8
 * or 16 channels, as many as a register holds, the last block filled up with zeros.  Here these tensors are plain ones, and
 * filters are put back into the order oihw.  Channels that fill up are left out where the nodes that read the tensor show how
 * many there are.
 */
#include "frontend/readers/onnx/compose.h"

#include <string.h>

#include "frontend/readers/onnx/internal.h"

/* Tensors whose channels are the same: what goes into and comes out of nodes that treat each channel alone. */
struct onnx_blocked {
    struct onnx_blocked *leader; /* NULL: itself */
    uint32_t width;              /* channels with those that fill up; 0 if no convolution makes such a tensor */
    uint32_t read;               /* channels that nodes read */
};

/* ---- how a filter shows unused channels ---- */

/* A filter in blocks of b: [outputs / b, inputs / b, area, b, b], or [outputs / b, inputs, area, b] where the input is not. */
struct filter {
    const struct onnx_value *value; /* NULL: not known */
    uint32_t outputs, inputs, area;
    bool is_depthwise, is_grouped, in_blocks;
};

/*
 * Returns how many of the last block's channels have nothing but zeros: in regions of `length` elements from `start` on, every
 * `stride`, those whose number is (index / inner) modulo block.
 */
static uint32_t count_unused(struct onnx_reader *r, const struct onnx_value *v, uint32_t block, size_t start, size_t stride,
                             size_t length, size_t inner)
{
    const unsigned char *at = v->data ? v->data : v->file;
    const size_t end = (size_t)onnx_elements(v);
    uint32_t used = 0;

    for (; start < end && used < block; start += stride)
        for (size_t i = 0; i < length && used < block && onnx_spend(r, 1); i++) {
            const uint32_t channel = (uint32_t)(i / inner % block);
            uint32_t bits;

            memcpy(&bits, at + (start + i) * sizeof bits, sizeof bits);
            if (bits << 1 && channel >= used) /* neither 0 nor -0 */
                used = channel + 1;
        }
    return block - used;
}

static uint32_t unused_inputs(struct onnx_reader *r, const struct filter *f, uint32_t block)
{
    const size_t last = (size_t)f->area * block * block, all = (size_t)f->inputs * f->area * block;

    return f->in_blocks ? count_unused(r, f->value, block, all - last, all, last, block) : 0;
}

static uint32_t unused_outputs(struct onnx_reader *r, const struct filter *f, uint32_t block)
{
    const size_t last = (size_t)f->inputs * f->area * block;

    return count_unused(r, f->value, block, (size_t)onnx_elements(f->value) - last, last, last, 1);
}

/* ---- what the graph says ---- */

static struct onnx_blocked *find_blocked(const struct onnx_scope *scope, const char *name)
{
    struct onnx_blocked *b = name ? onnx_map_get(&scope->blocked, name, NULL) : NULL;

    while (b && b->leader) {
        if (b->leader->leader)
            b->leader = b->leader->leader;
        b = b->leader;
    }
    return b;
}

/* Makes two sets one, and returns it; a may be NULL. */
static struct onnx_blocked *join(struct onnx_blocked *a, struct onnx_blocked *b)
{
    if (!a || a == b)
        return b;
    b->leader = a;
    a->width = a->width > b->width ? a->width : b->width;
    a->read = a->read > b->read ? a->read : b->read;
    return a;
}

static void note_read(struct onnx_blocked *b, uint32_t channels)
{
    if (b->read < channels)
        b->read = channels;
}

static int64_t attribute_int(const struct onnx_scope *scope, const Onnx__NodeProto *node, const char *name, int64_t fallback)
{
    for (size_t i = 0; i < node->n_attribute; i++)
        if (node->attribute[i]->name && !strcmp(node->attribute[i]->name, name)) {
            const Onnx__AttributeProto *a = onnx_attribute_resolve(scope, node->attribute[i]);
            return a ? a->i : fallback;
        }
    return fallback;
}

static struct filter filter_of(const struct onnx_scope *scope, const Onnx__NodeProto *node)
{
    bool found;
    const struct onnx_value *v = node->n_input > 1 ? onnx_lookup(scope, node->input[1], &found) : NULL;
    const bool has_groups = attribute_int(scope, node, "group", 1) > 1;
    struct filter f = {.is_grouped = has_groups};

    if (!v || v->rank != 4 || v->type != ONNX_FLOAT || !(v->data || v->file) || !onnx_elements(v))
        return f;
    f.value = v;
    f.outputs = (uint32_t)v->dims[0];
    f.inputs = (uint32_t)v->dims[1];
    f.area = (uint32_t)(v->dims[2] * v->dims[3]);
    f.is_depthwise = has_groups && f.inputs == 1;
    f.in_blocks = !f.is_depthwise && find_blocked(scope, node->input[0]);
    return f;
}

static bool is_filled(const struct filter *f, uint32_t block)
{
    return f->value && f->outputs % block == 0 && !(f->in_blocks && f->inputs % block);
}

static bool is_nchwc(const Onnx__NodeProto *node, const char *type)
{
    return node->domain && !strcmp(node->domain, ONNX_NCHWC) && node->op_type && (!type || !strcmp(node->op_type, type));
}

/* Notes what one node says about the tensors that it reads and makes. */
static bool note_node(struct onnx_scope *scope, const Onnx__NodeProto *node)
{
    const bool is_own = is_nchwc(node, NULL), is_conv = is_nchwc(node, "Conv"), is_end = is_nchwc(node, "ReorderOutput");
    const bool mixes = is_end || node->n_output != 1 || (!is_own && node->op_type && !strcmp(node->op_type, "Concat"));
    const int64_t channels = is_end ? attribute_int(scope, node, "channels", 0) : 0;
    const struct filter f = is_conv ? filter_of(scope, node) : (struct filter){0};
    struct onnx_blocked *made = NULL, *x;
    bool is_blocked = is_own && !is_end;

    for (size_t i = 0; i < node->n_input; i++) {
        x = find_blocked(scope, node->input[i]);
        if (!x)
            continue;
        is_blocked = !is_end;
        if (mixes)
            note_read(x, channels > 0 && channels < UINT32_MAX ? (uint32_t)channels : UINT32_MAX);
        else if (!is_conv || i || f.is_depthwise)
            made = join(made, x);
        else if (!f.value || f.is_grouped) /* else zeros in the filter tell, once blocks are known */
            note_read(x, UINT32_MAX);
    }
    if (!is_blocked)
        return true;
    if (!made && !(made = onnx_reader_alloc(scope->reader, 1, sizeof *made)))
        return false;
    if (mixes)
        note_read(made, UINT32_MAX);
    if (made->width < f.outputs)
        made->width = f.outputs;
    for (size_t i = 0; i < node->n_output; i++)
        if (node->output[i] && *node->output[i] &&
            onnx_map_add(&scope->blocked, node->output[i], made) == NAME_MAP_OUT_OF_MEMORY)
            return onnx_fail_memory(scope->reader);
    return onnx_spend(scope->reader, 1 + node->n_input + node->n_output + node->n_attribute);
}

/*
 * Returns the size of a block.  Sizes that 16 does not divide are blocks of 8; eight and more channels that are not reordered
 * show that blocks are larger.  Else zeros that fill up filters stand at the ends of blocks.  Without any of these it is that
 * of this processor, as in ONNX Runtime, which saves such models for the kind of processor that it runs on.
 */
static uint32_t find_block(struct onnx_scope *scope)
{
    uint64_t unused[2] = {0, 0};
    bool is_wide = true;

    for (size_t i = 0; i < scope->node_count; i++) {
        const struct filter f = is_nchwc(scope->nodes[i], "Conv") ? filter_of(scope, scope->nodes[i]) : (struct filter){0};

        if (!is_filled(&f, 8))
            continue;
        if (!is_filled(&f, 16))
            return 8;
        if (!f.in_blocks && !f.is_depthwise && f.inputs >= 8)
            return 16;
        for (uint32_t k = 0; k < 2; k++)
            unused[k] += unused_outputs(scope->reader, &f, 8 << k) + unused_inputs(scope->reader, &f, 8 << k);
    }
#ifdef __x86_64__
    is_wide = __builtin_cpu_supports("avx512f");
#endif
    return unused[1] > unused[0] || (unused[1] == unused[0] && is_wide) ? 16 : 8;
}

/* Finds out about the nodes of n's scope, once. */
static bool note_graph(struct onnx_node *n)
{
    struct onnx_scope *scope = n->scope;
    const size_t *order = onnx_order_nodes(n->reader, scope->node_count, scope->nodes, "nodes");

    if (scope->block)
        return order != NULL;
    for (size_t i = 0; i < scope->node_count; i++)
        if (!order || !note_node(scope, scope->nodes[order[i]]))
            return false;
    scope->block = find_block(scope);
    for (size_t i = 0; i < scope->node_count; i++) {
        const struct filter f = is_nchwc(scope->nodes[i], "Conv") ? filter_of(scope, scope->nodes[i]) : (struct filter){0};

        if (f.in_blocks && !f.is_grouped && is_filled(&f, scope->block))
            note_read(find_blocked(scope, scope->nodes[i]->input[0]),
                      f.inputs - unused_inputs(scope->reader, &f, scope->block));
    }
    return !n->reader->failed;
}

/* Returns how many channels the node's result has here: those of `own` that are read, but all without a convolution. */
static uint32_t result_channels(struct onnx_node *n, uint32_t own)
{
    const struct onnx_blocked *b = n->proto->n_output ? find_blocked(n->scope, n->proto->output[0]) : NULL;

    if (!b || !b->width)
        return own;
    return b->read && b->read < b->width ? b->read : b->width;
}

/* Returns the first channels of x, or x with channels of zeros after its own. */
static WNNOperand fit_channels(struct onnx_node *n, WNNOperand x, uint32_t axis, uint32_t channels)
{
    const struct onnx_dims dims = onnx_dims_of(n, x);
    struct onnx_dims none = {dims.rank, {0}}, more = none;

    if (axis >= dims.rank || dims.at[axis] == channels)
        return x;
    if (dims.at[axis] > channels)
        return onnx_slice_axis(n, x, axis, 0, channels);
    more.at[axis] = channels - dims.at[axis];
    return onnx_pad(n, x, none, more, 0);
}

WNNOperand onnx_nchwc_filter(struct onnx_node *n, WNNOperand x, WNNOperand *bias)
{
    static const uint32_t out_first[] = {0, 2, 1}, blocks_apart[] = {0, 4, 1, 3, 2};
    const uint32_t channels = onnx_dims_of(n, x).at[1];
    WNNOperand filter = onnx_operand(n, 1);
    const struct onnx_dims dims = onnx_dims_of(n, filter);
    uint32_t block, out;

    if (n->refused || !note_graph(n))
        return onnx_error_operand(n);
    struct filter f = filter_of(n->scope, n->proto);
    block = n->scope->block;
    if (!is_filled(&f, block))
        return onnx_refuse_operand(n, "its filter of %u output and %u input channels is no float32 constant in blocks of %u",
                                   f.outputs, f.inputs, block);
    if (f.in_blocks) {
        filter = onnx_reshape(n, filter, 5, (uint32_t[]){f.outputs / block, f.inputs / block, f.area, block, block});
        filter = onnx_transpose(n, filter, 5, blocks_apart);
    } else {
        filter = onnx_reshape(n, filter, 3, (uint32_t[]){f.outputs / block, f.inputs * f.area, block});
        filter = onnx_transpose(n, filter, 3, out_first);
    }
    filter = onnx_reshape_to(n, filter, dims);
    if (f.in_blocks && !f.is_grouped && channels < f.inputs)
        filter = onnx_slice_axis(n, filter, 1, 0, channels);
    out = f.is_depthwise ? channels : result_channels(n, f.outputs);
    *bias = *bias ? fit_channels(n, *bias, 0, out) : NULL;
    return fit_channels(n, filter, 0, out);
}

bool onnx_import_reorder_input(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0);

    if (onnx_int(n, "channels_last", 0))
        x = onnx_channels_second(n, x);
    if (n->refused || !note_graph(n))
        return false;
    return onnx_output(n, 0, fit_channels(n, x, 1, result_channels(n, onnx_dims_of(n, x).at[1])));
}

bool onnx_import_reorder_output(struct onnx_node *n)
{
    const uint32_t channels = onnx_size(n, "channels", onnx_int(n, "channels", 0));
    WNNOperand x = fit_channels(n, onnx_operand(n, 0), 1, channels);

    return onnx_output(n, 0, onnx_int(n, "channels_last", 0) ? onnx_channels_last(n, x) : x);
}

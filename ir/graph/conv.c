/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Holds the layouts of the specification as tables, which are nowhere else. */
#include "ir/graph/conv.h"

#include <string.h>

#include "ir/graph/dims.h"

const uint32_t *image_axes(WNNInputOperandLayout layout)
{
    static const uint32_t axes[][4] = {
        [WNNInputOperandLayout_Nchw] = {0, 1, 2, 3},
        [WNNInputOperandLayout_Nhwc] = {0, 3, 1, 2},
    };
    return axes[layout];
}

const uint32_t *conv2d_filter_axes(WNNConv2dFilterOperandLayout layout)
{
    static const uint32_t axes[][4] = {
        [WNNConv2dFilterOperandLayout_Oihw] = {0, 1, 2, 3},
        [WNNConv2dFilterOperandLayout_Hwio] = {3, 2, 0, 1},
        [WNNConv2dFilterOperandLayout_Ohwi] = {0, 3, 1, 2},
        [WNNConv2dFilterOperandLayout_Ihwo] = {3, 0, 1, 2},
    };
    return axes[layout];
}

const uint32_t *conv_transpose2d_filter_axes(WNNConvTranspose2dFilterOperandLayout layout)
{
    static const uint32_t axes[][4] = {
        [WNNConvTranspose2dFilterOperandLayout_Iohw] = {1, 0, 2, 3},
        [WNNConvTranspose2dFilterOperandLayout_Hwoi] = {2, 3, 0, 1},
        [WNNConvTranspose2dFilterOperandLayout_Ohwi] = {0, 3, 1, 2},
    };
    return axes[layout];
}

struct conv_view conv_view(const struct node *n)
{
    if (n->op == OP_CONV2D) {
        const WNNConv2dOptions *o = n->options;
        return (struct conv_view){
            false,       image_axes(o->inputLayout), conv2d_filter_axes(o->filterLayout), o->groups, o->padding, o->strides,
            o->dilations};
    }
    const WNNConvTranspose2dOptions *o = n->options;
    return (struct conv_view){true,
                              image_axes(o->inputLayout),
                              conv_transpose2d_filter_axes(o->filterLayout),
                              o->groups,
                              o->padding,
                              o->strides,
                              o->dilations};
}

bool graph_check_groups(const struct graph *g, struct error *e)
{
    char title[320];

    graph_for_each (g, n) {
        if (n->op == OP_LOOP && !graph_check_groups(n->args.loop.body->graph, e))
            return false;
        if (n->op != OP_CONV_TRANSPOSE2D)
            continue;

        const struct conv_view c = conv_view(n);
        const uint32_t channels = n->inputs[0].value->type.dims[c.image[AXIS_CHANNEL]];
        if (!dim_is_open(channels) && channels % c.groups)
            return error_set(e, WNNStatus_OperationError, "%s: the %u channels of input cannot be divided into %u groups",
                             node_title(n, title, sizeof title), channels, c.groups);
    }
    return true;
}

int64_t node_piece(const struct node *n, int64_t results, int64_t least)
{
    while (n->results[0]->uses && !n->results[0]->uses->next) {
        const struct node *user = n->results[0]->uses->node;
        const struct tensor_type *t = &user->results[0]->type;

        if (user->op == OP_RESHAPE && t->rank) {
            const int64_t last = t->dims[t->rank - 1];
            return last < results && results % last == 0 && last >= least ? last : results;
        }
        if (!(op_infos[user->op].flags & OPF_ELEMENTWISE))
            break;
        n = user;
    }
    return results;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads, compares and copies attributes by the operator table: option structs and positional arguments, without knowing the
 * operator.
 */
#include "ir/graph/ir.h"

#include <string.h>

static size_t element_size(const struct attr_info *a)
{
    switch (a->kind) {
    case ATTR_BOOL:
        return sizeof(bool);
    case ATTR_F64:
        return sizeof(double);
    case ATTR_NUMBER:
        return sizeof(WNNNumber);
    case ATTR_NONE:
        return 0;
    case ATTR_U32:
    case ATTR_I32:
    case ATTR_DATA_TYPE:
    case ATTR_ENUM:
    case ATTR_U32_LIST:
    case ATTR_F32_LIST:
    case ATTR_ENUM_LIST:
        break;
    }
    return 4;
}

const void *attr_value(const struct attr_info *a, const void *options, const union op_args *args)
{
    const char *at = (a->positional ? (const char *)args : (const char *)options) + a->offset;

    if (!attr_is_list(a))
        return at;

    const void *list;
    memcpy(&list, at, sizeof list);
    return list;
}

size_t attr_count(const struct attr_info *a, const void *options, const union op_args *args)
{
    if (!attr_is_list(a))
        return 1;

    size_t count;
    memcpy(&count, (a->positional ? (const char *)args : (const char *)options) + a->count_offset, sizeof count);
    return attr_value(a, options, args) ? count : 0;
}

size_t attr_count_max(const struct attr_info *a)
{
    /* All lists but one have at most an item per dimension. */
    return a->or_count ? TENSOR_COUNT_MAX : RANK_MAX;
}

bool attr_check_list(struct call *c, const struct attr_info *a)
{
    const void *list = attr_value(a, c->options, &c->args);
    size_t count;

    if (!attr_is_list(a))
        return true;
    memcpy(&count, (a->positional ? (const char *)&c->args : (const char *)c->options) + a->count_offset, sizeof count);
    if (!list) /* an option without a pointer is absent, whatever its count is */
        return !count || !a->positional || call_error(c, "%s is NULL, but has %zu items", a->name, count);
    if (count > attr_count_max(a))
        return call_error(c, "%s has %zu items, more than the %zu that are possible", a->name, count, attr_count_max(a));
    return true;
}

size_t attr_bytes(const struct attr_info *a)
{
    return attr_is_list(a) ? sizeof(void *) : element_size(a);
}

bool options_fill_zeros(struct call *c, void *options)
{
    const struct op_info *info = &op_infos[c->op];
    static const char zeros[sizeof(WNNNumber)];

    for (const struct attr_info *a = info->attrs; a->kind != ATTR_NONE; a++) {
        const char *standard = (const char *)info->options_default + a->offset;
        char *value = (char *)options + a->offset;
        size_t size = a->kind == ATTR_NUMBER ? sizeof(WNNNumberType) : element_size(a);

        if (a->positional || attr_is_list(a) || memcmp(value, zeros, size) || !memcmp(standard, zeros, size))
            continue;
        if (a->kind == ATTR_NUMBER || a->kind == ATTR_DATA_TYPE || a->positive)
            memcpy(value, standard, element_size(a));
        else
            return call_error(c, "%s is %s in options without a structSize; begin with %s, which sets the default", a->name,
                              a->kind == ATTR_BOOL ? "false" : "0", info->options_init);
    }
    return true;
}

bool node_same_attr(const struct node *a, const struct node *b, const struct attr_info *attr)
{
    const void *x = attr_value(attr, a->options, &a->args), *y = attr_value(attr, b->options, &b->args);
    size_t count = attr_count(attr, a->options, &a->args);

    if (!x || !y)
        return x == y;
    if (count != attr_count(attr, b->options, &b->args))
        return false;
    if (attr->kind == ATTR_NUMBER) {
        const WNNNumber *m = x, *n = y; /* there is padding between their members */
        return m->type == n->type && memcmp(&m->value, &n->value, sizeof m->value) == 0;
    }
    return memcmp(x, y, count * element_size(attr)) == 0; /* bits: NaN is itself, -0 is not 0 */
}

bool node_same_attrs(const struct node *a, const struct node *b)
{
    if (a->op != b->op || (a->op == OP_LOOP && a->args.loop.body != b->args.loop.body))
        return false;
    for (const struct attr_info *attr = op_infos[a->op].attrs; attr->kind != ATTR_NONE; attr++)
        if (!node_same_attr(a, b, attr))
            return false;
    return true;
}

/* Replaces the lists of one side (options or args) by copies. */
static bool copy_lists(struct arena *arena, enum op op, bool positional, void *object)
{
    for (const struct attr_info *attr = op_infos[op].attrs; attr->kind != ATTR_NONE; attr++) {
        if (attr->positional != positional || !attr_is_list(attr))
            continue;

        const void *list = attr_value(attr, object, object);
        size_t count = attr_count(attr, object, object);
        if (!list) {
            memset((char *)object + attr->count_offset, 0, sizeof(size_t));
            continue;
        }
        size_t size = element_size(attr);
        if (count > SIZE_MAX / size)
            return false;
        list = arena_copy(arena, list, count * size); /* an empty list stays a present one */
        if (!list)
            return false;
        memcpy((char *)object + attr->offset, &list, sizeof list);
    }
    return true;
}

void *options_copy(struct arena *a, enum op op, const void *options)
{
    const struct op_info *info = &op_infos[op];
    void *copy = arena_copy(a, options, info->options_size);

    if (!copy || !copy_lists(a, op, false, copy))
        return NULL;
    memset((char *)copy + OPTIONS_LABEL, 0, sizeof(WNNStringView));
    for (const struct operand_info *in = info->ins; in->name; in++)
        if (in->optional)
            memset((char *)copy + in->option_offset, 0, sizeof(WNNOperand));
    return copy;
}

bool args_copy(struct arena *a, enum op op, union op_args *args)
{
    return copy_lists(a, op, true, args);
}

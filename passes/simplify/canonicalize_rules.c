/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Applies the algebraic rules of ir/rules/rules.c to nodes: values are the terms. */
#include "ir/rules/rules.h"
#include "passes/simplify/canonicalize.h"

struct replacement {
    struct graph *g;
    struct node *n;
};

static struct value *value_of(rule_term t)
{
    return (struct value *)t;
}

static bool describe_node(const struct node *n, struct rule_node *out)
{
    if (n->result_count != 1 || n->input_count > RULE_OPERANDS_MAX)
        return false;
    *out = (struct rule_node){
        .op = rule_word_of(n->op), .commutes = op_infos[n->op].flags & OPF_COMMUTES, .count = n->input_count};
    for (uint32_t i = 0; i < n->input_count; i++)
        out->operands[i] = (rule_term)n->inputs[i].value;
    return out->op != R_END;
}

static bool describe(void *user, rule_term t, struct rule_node *node)
{
    (void)user;
    return value_of(t)->producer && describe_node(value_of(t)->producer, node);
}

static bool number(void *user, rule_term t, double *number)
{
    (void)user;
    return value_splat_number(value_of(t), number);
}

static bool has_result_type(void *user, rule_term t)
{
    return type_equal(&value_of(t)->type, &((const struct replacement *)user)->n->results[0]->type);
}

static rule_term constant(void *user, double number)
{
    const struct replacement *r = user;

    return (rule_term)make_number(r->g, r->n->results[0], number);
}

static rule_term make(void *user, enum rule_word word, uint32_t count, const rule_term *operands)
{
    const struct replacement *r = user;
    const enum op op = (enum op)(word - rule_word_of(0));
    struct value *inputs[] = {value_of(operands[0]), count > 1 ? value_of(operands[1]) : NULL};
    WNNLeakyReluOptions leaky = WNN_LEAKY_RELU_OPTIONS_INIT;
    /* The same operator keeps its options. */
    const void *options = op == r->n->op ? r->n->options : NULL;

    if (op == OP_LEAKY_RELU) { /* its number is an option */
        number(NULL, operands[1], &leaky.alpha);
        options = &leaky;
        count = 1;
    }
    return (rule_term)make_node(r->g, r->n, op, r->n, count, inputs, options, op == r->n->op ? &r->n->args : NULL);
}

struct value *canonicalize_by_rules(struct graph *g, struct node *n, const struct rule *rows, size_t count)
{
    static const struct rule_language language = {.scope = RULE_GRAPH,
                                                  .describe = describe,
                                                  .number = number,
                                                  .has_result_type = has_result_type,
                                                  .constant = constant,
                                                  .make = make};
    const dtype t = n->results[0]->type.type;
    struct replacement r = {g, n};
    struct rule_node node;

    if (!describe_node(n, &node))
        return NULL;
    return value_of(rules_apply(rows, count, &language, &r, &node,
                                t == WNNOperandDataType_Float16   ? RULE_FLOAT16
                                : t == WNNOperandDataType_Float32 ? RULE_FLOAT32
                                : dtype_is_float(t)               ? RULE_OTHER_FLOAT
                                : dtype_is_signed(t)              ? RULE_SIGNED
                                                                  : RULE_UNSIGNED));
}

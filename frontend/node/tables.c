/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * webnn-node-tables --c | --types TEMPLATE
 *
 * Prints what the Node.js addon and its TypeScript declarations need to know about operators, from ir/graph/ops.def
 * and ops_draft.def: arguments, option dictionaries, enumerations.  --c prints initialisers for frontend/node/operators.c;
 * --types prints TEMPLATE with the lines @ENUMERATIONS@, @DICTIONARIES@, @LIMITS@ and @METHODS@ replaced.  The test node-idl
 * holds the result against the specification's IDL.
 */

#include "frontend/node/operators.h"
#include "ir/graph/op_types.h"

/** Describes one argument of a method, or one member of an option dictionary. */
struct value {
    const char *name;
    const char *kind; /* of enum value_kind in frontend/node/operators.h */
    const char *type; /* in TypeScript */
    enum attr_enum enumeration;
};

_Static_assert(VALUES_MAX > OP_OPERANDS_MAX + OP_ATTRS_MAX - 3,
               "the arguments of one operator, its options and the end of a list fit");

static struct value attribute_value(const struct attr_info *a)
{
    static const struct {
        const char *kind, *modular, *type;
    } kinds[] = {
        [ATTR_U32] = {"VALUE_UNSIGNED_LONG", "VALUE_UNSIGNED_LONG_MODULAR", "number"},
        [ATTR_I32] = {"VALUE_LONG", NULL, "number"},
        [ATTR_F64] = {"VALUE_DOUBLE", NULL, "number"},
        [ATTR_BOOL] = {"VALUE_BOOLEAN", NULL, "boolean"},
        [ATTR_NUMBER] = {"VALUE_NUMBER", NULL, "MLNumber"},
        [ATTR_DATA_TYPE] = {"VALUE_DATA_TYPE", NULL, "MLOperandDataType"},
        [ATTR_ENUM] = {"VALUE_ENUMERATION", NULL, NULL},
        [ATTR_U32_LIST] = {"VALUE_UNSIGNED_LONGS", "VALUE_LIST | VALUE_UNSIGNED_LONG_MODULAR", "Iterable<number>"},
        [ATTR_F32_LIST] = {"VALUE_LIST | VALUE_FLOAT", NULL, "Iterable<number>"},
        [ATTR_ENUM_LIST] = {"VALUE_LIST | VALUE_ENUMERATION", NULL, NULL},
    };
    static char lists[ENUMERATION_COUNT][80];

    if (a->or_count)
        return (struct value){a->name, "VALUE_UNSIGNED_LONG_OR_LIST", "number | Iterable<number>", ENUM_NONE};
    struct value v = {a->name, a->wraps ? kinds[a->kind].modular : kinds[a->kind].kind, kinds[a->kind].type, a->enumeration};
    if (a->kind == ATTR_ENUM)
        v.type = enumeration_name(a->enumeration);
    if (a->kind == ATTR_ENUM_LIST) {
        snprintf(lists[a->enumeration], sizeof(lists[0]), "Iterable<%s>", enumeration_name(a->enumeration));
        v.type = lists[a->enumeration];
    }
    return v;
}

/** Lists the positional arguments in the order of the method. */
static size_t arguments_of(enum op op, struct value *out)
{
    const struct op_info *info = &op_infos[op];
    bool variadic = info->flags & OPF_VARIADIC;
    size_t count = 0;

    for (const struct operand_info *in = info->ins; in->name; in++)
        if (!in->optional)
            out[count++] = (struct value){in->name, variadic ? "VALUE_LIST | VALUE_OPERAND" : "VALUE_OPERAND",
                                          variadic ? "Iterable<MLOperand>" : "MLOperand", ENUM_NONE};
    for (const struct attr_info *a = info->attrs; a->kind && a->positional && !op_names_arguments(op); a++)
        out[count++] = attribute_value(a);
    return count;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct value *)a)->name, ((const struct value *)b)->name);
}

/**
 * Lists the members of the option dictionary in the order in which Web IDL reads them: that of MLOperatorOptions, then by name.
 */
static size_t options_of(enum op op, struct value *out)
{
    const struct op_info *info = &op_infos[op];
    size_t count = 0;

    out[count++] = (struct value){"label", "VALUE_STRING", "string", ENUM_NONE};
    for (const struct operand_info *in = info->ins; in->name; in++)
        if (in->optional)
            out[count++] = (struct value){in->name, "VALUE_OPERAND", "MLOperand", ENUM_NONE};
    for (const struct attr_info *a = info->attrs; a->kind; a++)
        if (!a->positional || op_names_arguments(op))
            out[count++] = attribute_value(a);
    qsort(out + 1, count - 1, sizeof(*out), by_name);
    return count;
}

/* ---- C ---- */

static void print_values(const struct value *values, size_t count)
{
    printf("{");
    for (size_t i = 0; i < count; i++) {
        printf("{\"%s\", %s, ", values[i].name, values[i].kind);
        if (values[i].enumeration)
            printf("%s_values}, ", enumeration_name(values[i].enumeration));
        else
            printf("NULL}, ");
    }
    printf("{NULL, VALUE_NONE, NULL}}");
}

static void print_row(enum op op)
{
    struct value values[VALUES_MAX];

    printf("    {\"%s\", \"ML%s\", ", op_infos[op].name, option_structs[op] + strlen("WNN"));
    print_values(values, arguments_of(op, values));
    printf(",\n     ");
    print_values(values, options_of(op, values));
    printf("},\n");
}

static void print_c(void)
{
    print_values_of_enumerations("static const char *const %s_values[] = {", '"', ", ", ", NULL};\n");
    printf("const struct operator_row operator_rows[] = {\n");
    for (enum op op = 0; op < OP_COUNT; op++)
        print_row(op);
    for (enum op op = OP_DRAFT_FIRST; op < OP_DRAFT_END; op++)
        print_row(op);
    printf("};\nconst size_t operator_count = %d, standard_operator_count = %d;\n",
           (int)OP_COUNT + (int)(OP_DRAFT_END - OP_DRAFT_FIRST), (int)OP_COUNT);
}

/* ---- TypeScript ---- */

static void print_enumerations(void)
{
    print_values_of_enumerations("export type %s = ", '\'', " | ", ";\n");
    printf("export type MLOperandDataType = ");
    for (dtype t = 1; dtype_is_public(t); t++)
        printf("%s'%s'", t > 1 ? " | " : "", dtype_name(t));
    printf(" | DraftDataTypes[keyof DraftDataTypes];\n");
}

static void print_dictionaries(void)
{
    for (enum op op = 0; op < OP_COUNT; op++) {
        struct value values[VALUES_MAX];
        size_t count = options_of(op, values);

        if (option_struct_is_known(op) || count == 1) /* MLOperatorOptions stands in the template */
            continue;
        printf("export interface ML%s extends MLOperatorOptions {\n", option_structs[op] + strlen("WNN"));
        for (size_t i = 1; i < count; i++)
            printf("  %s?: %s;\n", values[i].name, values[i].type);
        printf("}\n\n");
    }
}

static void print_limits(void)
{
    for (enum op op = 0; op < OP_COUNT; op++) {
        const struct op_info *info = &op_infos[op];

        printf("  %s?: { ", info->name);
        for (const struct operand_info *in = info->ins; in->name; in++)
            printf("%s?: MLTensorLimits; ", in->name);
        for (const struct operand_info *out = info->outs; out->name; out++)
            printf("%s?: MLTensorLimits; ", out->name);
        printf("};\n");
    }
}

static void print_methods(void)
{
    for (enum op op = 0; op < OP_COUNT; op++) {
        const struct op_info *info = &op_infos[op];
        struct value values[VALUES_MAX];
        size_t count = arguments_of(op, values);

        printf("  %s(", info->name);
        for (size_t i = 0; i < count; i++)
            printf("%s: %s, ", values[i].name, values[i].type);
        printf("options?: ML%s): %s;\n", option_structs[op] + strlen("WNN"),
               info->flags & OPF_SEQUENCE ? "MLOperand[]" : "MLOperand");
    }
}

int main(int argc, char **argv)
{
    static const struct template_line lines[] = {
        {"@ENUMERATIONS@\n", print_enumerations},
        {"@DICTIONARIES@\n", print_dictionaries},
        {"@LIMITS@\n", print_limits},
        {"@METHODS@\n", print_methods},
        {NULL, NULL},
    };

    return print_interface(argc, argv, print_c, "--types", lines);
}

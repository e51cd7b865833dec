/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * webnn-python-tables --c | --stubs TEMPLATE
 *
 * Prints what the Python module and its type stubs need to know about operators, from ir/graph/ops.def.  --c prints the rows of
 * frontend/python/operators.c; --stubs prints TEMPLATE with the lines @ENUMERATIONS@ and @OPERATORS@ replaced.
 */
#include <ctype.h>

#include "ir/graph/op_types.h"

enum { NAME_MAX_LENGTH = 64 };

/** Writes Python's form of a name: conv_transpose2d for convTranspose2d, is_nan for isNaN.  Returns out. */
static const char *python_name(const char *name, char out[NAME_MAX_LENGTH])
{
    size_t length = 0;

    for (const char *p = name; *p && length + 2 < NAME_MAX_LENGTH; p++) {
        bool is_nan = !strncmp(p, "NaN", 3);

        if (isupper((unsigned char)*p) && p > name && !isupper((unsigned char)p[-1]))
            out[length++] = '_';
        out[length++] = (char)tolower((unsigned char)*p);
        if (is_nan) {
            out[length++] = 'a';
            out[length++] = 'n';
            p += 2;
        }
    }
    out[length] = '\0';
    return out;
}

/** Prints the type of an attribute as the stubs have it. */
static void print_type(const struct attr_info *a)
{
    static const char *const types[] = {
        [ATTR_U32] = "int",
        [ATTR_I32] = "int",
        [ATTR_F64] = "float",
        [ATTR_NUMBER] = "float",
        [ATTR_BOOL] = "bool",
        [ATTR_DATA_TYPE] = "DataType",
        [ATTR_ENUM] = "%s",
        [ATTR_U32_LIST] = "Iterable[int]",
        [ATTR_F32_LIST] = "Iterable[float]",
        [ATTR_ENUM_LIST] = "Iterable[%s]",
    };

    printf(a->or_count ? "int | " : "");
    printf(types[a->kind], a->kind == ATTR_ENUM || a->kind == ATTR_ENUM_LIST ? enumeration_name(a->enumeration) : "");
}

/** Prints the parameters of an operator's method, with types or without. */
static void print_parameters(enum op op, bool typed)
{
    const struct op_info *info = &op_infos[op];
    const char *comma = "";
    char name[NAME_MAX_LENGTH];

    for (const struct operand_info *in = info->ins; in->name; in++) {
        if (in->optional)
            continue;
        printf("%s%s%s", comma, python_name(in->name, name),
               !typed                       ? ""
               : info->flags & OPF_VARIADIC ? ": Iterable[MLOperand]"
                                            : ": MLOperand");
        comma = ", ";
    }
    for (const struct attr_info *a = info->attrs; a->kind; a++)
        if (a->positional && !op_names_arguments(op)) {
            printf("%s%s%s", comma, python_name(a->name, name), typed ? ": " : "");
            if (typed)
                print_type(a);
            comma = ", ";
        }
    printf("%s*", comma);
    for (const struct operand_info *in = info->ins; in->name; in++)
        if (in->optional)
            printf(", %s%s", python_name(in->name, name), typed ? ": MLOperand | None = None" : "=None");
    for (const struct attr_info *a = info->attrs; a->kind; a++)
        if (!a->positional || op_names_arguments(op)) {
            printf(", %s%s", python_name(a->name, name), typed ? ": " : "=None");
            if (typed)
                print_type(a);
            printf(typed ? " | None = None" : "");
        }
    printf(", label%s=%s", typed ? ": str " : "", typed ? " ''" : "''");
}

static void print_row(enum op op)
{
    const char *spec = op_infos[op].name;
    char name[NAME_MAX_LENGTH];

    python_name(spec, name);
    printf("OPERATOR(%s, %s, \"(", spec, name);
    print_parameters(op, false);
    printf(")\", \"%s($self, ", name);
    print_parameters(op, false);
    printf(")\\n--\\n\\nIs %s of ", spec);
    if (op_is_draft(op)) {
        printf("the draft of dynamic shapes.\")\n");
        return;
    }
    printf("the specification: https://www.w3.org/TR/webnn/#dom-mlgraphbuilder-");
    for (; *spec; spec++)
        putchar(tolower((unsigned char)*spec));
    printf("\")\n");
}

/** Calls a function for each operator of the specification, then of the draft. */
static void for_each(void (*print)(enum op op))
{
    for (enum op op = 0; op < OP_COUNT; op++)
        print(op);
    for (enum op op = OP_DRAFT_FIRST; op < OP_DRAFT_END; op++)
        print(op);
}

static void print_c(void)
{
    for_each(print_row);
}

static void print_enumerations(void)
{
    print_values_of_enumerations("%s = Literal[", '\'', ", ", "]\n");
}

static void print_stub(enum op op)
{
    char name[NAME_MAX_LENGTH];

    printf("    def %s(self, ", python_name(op_infos[op].name, name));
    print_parameters(op, true);
    printf(") -> %s: ...\n", op_infos[op].flags & OPF_SEQUENCE ? "list[MLOperand]" : "MLOperand");
}

static void print_operators(void)
{
    for_each(print_stub);
}

int main(int argc, char **argv)
{
    static const struct template_line lines[] = {
        {"@ENUMERATIONS@\n", print_enumerations}, {"@OPERATORS@\n", print_operators}, {NULL, NULL}};

    return print_interface(argc, argv, print_c, "--stubs", lines);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * webnn-cpp-operators [--draft]
 *
 * Prints include/webnn/webnn_operators.hpp, the part of the C++ interface that follows from ir/graph/ops.def: enumerations,
 * options with their defaults, and the methods of a builder; --draft prints include/webnn/webnn_draft.hpp from
 * ir/graph/ops_draft.def.  The test cpp-operators compares those files with what this prints.
 */
#include <ctype.h>

#include "ir/graph/ir.h"
#include "ir/graph/op_types.h"

/* Returns the name of an enumeration in C++, which is the specification's without its prefix. */
static const char *enumeration_in_cpp(enum attr_enum e)
{
    return enumeration_name(e) + strlen("ML");
}

/* ---- enumerations ---- */

/* Prints a name of the specification as an identifier: "nearest-neighbor" as nearest_neighbor. */
static void print_identifier(const char *name)
{
    for (; *name; name++)
        putchar(isalnum((unsigned char)*name) ? *name : '_');
}

static void print_enumerations(void)
{
    printf("/** The data types of operands (MLOperandDataType). */\nenum class DataType : std::uint32_t {\n");
    for (dtype t = 1; dtype_is_public(t); t++)
        printf("    %s = %u,\n", dtype_name(t), (unsigned)t);
    printf("};\n\n");
    for (size_t i = 0; i < ENUMERATION_COUNT; i++) {
        const char *name;

        printf("/** The values of %s. */\nenum class %s : std::uint32_t {\n", enumerations[i].name,
               enumeration_in_cpp(enumerations[i].value));
        for (unsigned v = 0; (name = enum_value_name(enumerations[i].value, v)); v++) {
            printf("    ");
            print_identifier(name);
            printf(" = %u,\n", v);
        }
        printf("};\n\n");
    }
}

/* ---- options ---- */

/* Prints the type of an attribute's value, or of a list's elements. */
static void print_type(const struct attr_info *a)
{
    switch (a->kind) {
    case ATTR_U32:
    case ATTR_U32_LIST:
        printf("std::uint32_t");
        break;
    case ATTR_I32:
        printf("std::int32_t");
        break;
    case ATTR_F64:
        printf("double");
        break;
    case ATTR_F32_LIST:
        printf("float");
        break;
    case ATTR_BOOL:
        printf("bool");
        break;
    case ATTR_NUMBER:
        printf("Number");
        break;
    case ATTR_DATA_TYPE:
        printf("DataType");
        break;
    case ATTR_ENUM:
    case ATTR_ENUM_LIST:
        printf("%s", enumeration_in_cpp(a->enumeration));
        break;
    case ATTR_NONE:
        break;
    }
}

/* Prints an option's default as an initialiser: what the option struct of C has there. */
static void print_default(const struct op_info *info, const struct attr_info *a)
{
    const char *at = (const char *)info->options_default + a->offset;
    uint32_t u;
    int32_t i;
    double d;
    bool b;

    switch (a->kind) {
    case ATTR_U32:
        memcpy(&u, at, sizeof u);
        printf(" = %u", u);
        break;
    case ATTR_I32:
        memcpy(&i, at, sizeof i);
        printf(" = %d", i);
        break;
    case ATTR_F64:
        memcpy(&d, at, sizeof d);
        printf(" = %.17g", d);
        break;
    case ATTR_BOOL:
        memcpy(&b, at, sizeof b);
        printf(" = %s", b ? "true" : "false");
        break;
    case ATTR_DATA_TYPE:
        memcpy(&u, at, sizeof u);
        if (u)
            printf(" = DataType::%s", dtype_name((dtype)u));
        else
            printf("{}");
        break;
    case ATTR_ENUM:
        memcpy(&u, at, sizeof u);
        printf(" = %s::", enumeration_in_cpp(a->enumeration));
        print_identifier(enum_value_name(a->enumeration, u));
        break;
    case ATTR_NUMBER: {
        WNNNumber n;
        memcpy(&n, at, sizeof n);
        if (n.type == WNNNumberType_Float64)
            printf(" = %.17g", n.value.float64);
        break;
    }
    case ATTR_NONE:
    case ATTR_U32_LIST:
    case ATTR_F32_LIST:
    case ATTR_ENUM_LIST:
        break;
    }
}

/* Prints how an option gets into the struct of C. */
static void print_conversion(const struct attr_info *a)
{
    if (attr_is_list(a)) {
        printf("        if (%s) {\n            o.%sCount = %s->size();\n            o.%s = ", a->name, a->name, a->name,
               a->name);
        if (a->kind == ATTR_ENUM_LIST)
            printf("detail::list<WNN%s>(*%s);\n", enumeration_in_cpp(a->enumeration), a->name);
        else
            printf("detail::list(*%s);\n", a->name);
        printf("        }\n");
    } else if (a->kind == ATTR_ENUM) {
        printf("        o.%s = static_cast<WNN%s>(%s);\n", a->name, enumeration_in_cpp(a->enumeration), a->name);
    } else if (a->kind == ATTR_DATA_TYPE) {
        printf("        o.%s = static_cast<WNNOperandDataType>(%s);\n", a->name, a->name);
    } else {
        printf("        o.%s = %s;\n", a->name, a->name);
    }
}

static void print_options(enum op op)
{
    const struct op_info *info = &op_infos[op];
    const char *name = option_structs[op] + strlen("WNN");

    if (option_struct_is_known(op))
        return;
    printf("/** The members of ML%s, with the specification's defaults. */\nstruct %s {\n", name, name);
    printf("    std::string label{}; /**< appears in error messages */\n");
    for (const struct operand_info *in = info->ins; in->name; in++)
        if (in->optional)
            printf("    Operand %s{};\n", in->name);
    for (const struct attr_info *a = info->attrs; a->kind; a++) {
        if (a->positional)
            continue;
        printf("    ");
        if (attr_is_list(a))
            printf("std::optional<std::vector<");
        print_type(a);
        printf(attr_is_list(a) ? ">> %s{}" : " %s", a->name);
        if (!attr_is_list(a))
            print_default(info, a);
        printf(";\n");
    }
    printf("\n    /** Returns the same for the C API, which points into this object. */\n");
    printf("    %s native() const\n    {\n        %s o = %s;\n        o.label = detail::view(label);\n", option_structs[op],
           option_structs[op], info->options_init);
    for (const struct operand_info *in = info->ins; in->name; in++)
        if (in->optional)
            printf("        o.%s = %s.get();\n", in->name, in->name);
    for (const struct attr_info *a = info->attrs; a->kind; a++)
        if (!a->positional)
            print_conversion(a);
    printf("        return o;\n    }\n};\n\n");
}

/* ---- methods ---- */

static void print_parameters(const struct op_info *info)
{
    for (const struct operand_info *in = info->ins; in->name; in++)
        if (!in->optional)
            printf(info->flags & OPF_VARIADIC ? "std::vector<Operand> const &%s, " : "Operand const &%s, ", in->name);
    for (const struct attr_info *a = info->attrs; a->kind && a->positional; a++) {
        if (attr_is_list(a))
            printf("std::vector<");
        print_type(a);
        printf(attr_is_list(a) ? "> const &%s, " : " %s, ", a->name);
    }
}

static void print_arguments(const struct op_info *info)
{
    printf("get()");
    for (const struct operand_info *in = info->ins; in->name; in++) {
        if (in->optional)
            continue;
        if (info->flags & OPF_VARIADIC)
            printf(", %s.size(), detail::handles(%s).data()", in->name, in->name);
        else
            printf(", %s.get()", in->name);
    }
    for (const struct attr_info *a = info->attrs; a->kind && a->positional; a++) {
        if (attr_is_list(a))
            printf(", %s.size(), detail::list(%s)", a->name, a->name);
        else if (a->kind == ATTR_DATA_TYPE)
            printf(", static_cast<WNNOperandDataType>(%s)", a->name);
        else if (a->kind == ATTR_ENUM)
            printf(", static_cast<WNN%s>(%s)", enumeration_in_cpp(a->enumeration), a->name);
        else
            printf(", %s", a->name);
    }
    printf(", &o");
}

static void print_method(enum op op)
{
    const struct op_info *info = &op_infos[op];
    bool sequence = info->flags & OPF_SEQUENCE;

    printf("    /** Adds the operator %s: see wnnGraphBuilder%s. */\n    %s %s(", info->name, info->method,
           sequence ? "std::vector<Operand>" : "Operand", info->name);
    print_parameters(info);
    printf("%s const &options = {}) const\n    {\n        auto const o = options.native();\n",
           option_structs[op] + strlen("WNN"));
    if (!sequence) {
        printf("        return detail::checked(get(), wnnGraphBuilder%s(", info->method);
        print_arguments(info);
        printf("));\n    }\n");
        return;
    }
    if (op == OP_SPLIT)
        printf("        std::vector<WNNOperand> outputs(splits.size());\n");
    else if (op == OP_SPLIT_DYNAMIC)
        printf("        std::vector<WNNOperand> outputs(wnnOperandGetRank(splits.get()) ? splits.shape()[0] : 0);\n");
    else
        printf("        std::vector<WNNOperand> outputs(%d);\n", OP_RESULTS_MAX);
    printf("        WNNStatus const status = wnnGraphBuilder%s(", info->method);
    print_arguments(info);
    printf(op == OP_SPLIT_DYNAMIC ? ", outputs.size()" : "");
    printf(", outputs.data());\n        detail::check_builder(get());\n        check(status);\n        return "
           "detail::operands(outputs);\n    }\n");
    if (op == OP_SPLIT)
        printf("    /** Splits into equal parts: see wnnGraphBuilderSplitEqual. */\n"
               "    std::vector<Operand> split(Operand const &input, std::uint32_t parts, SplitOptions const &options = {}) "
               "const\n"
               "    {\n        auto const o = options.native();\n        std::vector<WNNOperand> outputs(parts);\n"
               "        WNNStatus const status = wnnGraphBuilderSplitEqual(get(), input.get(), parts, &o, outputs.data());\n"
               "        detail::check_builder(get());\n        check(status);\n        return detail::operands(outputs);\n    "
               "}\n");
}

static void print_head(const char *file, const char *what, const char *includes)
{
    printf("/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */\n/**\n * @file webnn_%s.hpp\n%s */\n"
           "#ifndef WEBNN_WEBNN_%s_HPP_\n#define WEBNN_WEBNN_%s_HPP_\n\n%s\n// clang-format off\nnamespace webnn\n{\n\n",
           strcmp(file, "DRAFT") != 0 ? "operators" : "draft", what, file, file, includes);
}

static void print_standard(void)
{
    print_head("OPERATORS",
               " * This part of webnn.hpp is generated from ir/graph/ops.def by "
               "webnn-cpp-operators.\n",
               "#include \"webnn/webnn_base.hpp\"\n");
    print_enumerations();
    for (enum op op = 0; op < OP_COUNT; op++)
        print_options(op);
    printf("/**\n * The operators, as methods of a builder.  Each returns what it adds, or throws Error with the message of "
           "the call that\n"
           " * failed; then the builder does not change.\n */\nclass Operators : public Handle<WNNGraphBuilder, "
           "wnnGraphBuilderAddRef, "
           "wnnGraphBuilderRelease>\n{\n  public:\n    using Handle::Handle;\n\n");
    for (enum op op = 0; op < OP_COUNT; op++)
        print_method(op);
    printf("};\n\n} // namespace webnn\n\n#endif\n");
}

static void print_draft(void)
{
    print_head("DRAFT",
               " * The operators of the draft of dynamic shapes (webnn_draft.h), generated from ir/graph/ops_draft.def by\n"
               " * webnn-cpp-operators.  They may change with the draft.\n",
               "#include \"webnn/webnn.hpp\"\n#include \"webnn/webnn_draft.h\"\n");
    printf("namespace draft\n{\n\n");
    for (dtype t = DTYPE_BFLOAT16; dtype_is_draft(t); t++)
        printf("%sinline constexpr DataType %s = static_cast<DataType>(%u);\n",
               t == DTYPE_BFLOAT16 ? "/** The data types of the draft of low precision (ContextOptions::draftDataTypes). */\n"
                                   : "",
               dtype_name(t), (unsigned)t);
    printf("\n");
    for (enum op op = OP_DRAFT_FIRST; op < OP_DRAFT_END; op++)
        print_options(op);
    printf("/** A builder that has the draft's operators, too. */\nclass GraphBuilder : public webnn::GraphBuilder\n{\n"
           "  public:\n    using webnn::GraphBuilder::GraphBuilder;\n\n");
    for (enum op op = OP_DRAFT_FIRST; op < OP_DRAFT_END; op++)
        print_method(op);
    printf("};\n\n} // namespace draft\n} // namespace webnn\n\n#endif\n");
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--draft"))
        print_draft();
    else
        print_standard();
    if (fflush(stdout) || ferror(stdout)) {
        perror("standard output");
        return 1;
    }
    return 0;
}

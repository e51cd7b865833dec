/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The operator table against the specification's machine-readable one ($WEBNN_SHARED/spec/operators.json): every operator,
 * operand, data type, rank, positional argument, option and default, in both directions.
 */
#include <cjson/cJSON.h>

#include "ir/graph/op.h"
#include "support/shared.h"
#include "support/test.h"

static cJSON *spec;

static const char *text_of(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
}

static const cJSON *operator_named(const char *name)
{
    const cJSON *o;

    cJSON_ArrayForEach(o, cJSON_GetObjectItemCaseSensitive(spec, "operators"))
    {
        if (!strcmp(text_of(o, "name"), name))
            return o;
    }
    return NULL;
}

/* Returns the row's operand of a name as the specification's table writes it: "inputs's items", "outputs[1] if ...". */
static const struct operand_info *operand_named(const struct op_info *row, const char *name)
{
    char plain[64];
    size_t n = 0;

    for (const char *p = name; *p && *p != ' ' && *p != '\'' && n + 1 < sizeof plain; p++)
        if (*p != '[' && *p != ']')
            plain[n++] = *p;
    plain[n] = '\0';
    if (!strncmp(plain, "outputs", 7) && plain[7])
        memmove(plain + 6, plain + 7, strlen(plain + 7) + 1); /* outputs0 is output0 in opSupportLimits */
    for (const struct operand_info *o = row->ins; o->name; o++)
        if (!strcmp(o->name, plain))
            return o;
    for (const struct operand_info *o = row->outs; o->name; o++)
        if (!strcmp(o->name, plain))
            return o;
    return NULL;
}

static int input_index(const struct op_info *row, const char *name)
{
    const struct operand_info *o = operand_named(row, name);

    return o && o >= row->ins && o < row->ins + OP_OPERANDS_MAX ? (int)(o - row->ins) : -1;
}

static dtype_set types_of(const struct op_info *row, const char *text)
{
    dtype_set set = 0;

    if (!strcmp(text, "any"))
        return DT_ANY;
    if (!strncmp(text, "same as ", 8)) {
        int i = input_index(row, text + 8);

        assert_true(i >= 0);
        return DT_AS(i);
    }
    while (*text) {
        size_t n = strcspn(text, ", ");
        dtype t = dtype_parse(text, n);

        assert_int_not_equal(t, WNNOperandDataType_Undefined);
        set |= (dtype_set)(1u << t);
        text += n + strspn(text + n, ", ");
    }
    return set;
}

static void ranks_of(const struct op_info *row, const char *text, int *low, int *high)
{
    if (!strcmp(text, "N")) {
        *low = 0;
        *high = RANK_MAX;
    } else if (!strncmp(text, "same as ", 8)) {
        *low = -input_index(row, text + 8) - 1;
        *high = 0;
    } else if (!strcmp(text, "2 or N")) {
        *low = 2;
        *high = RANK_MAX;
    } else {
        const char *to = strstr(text, " to ");

        *low = atoi(text);
        *high = !to ? *low : !strcmp(to + 4, "N") ? RANK_MAX : atoi(to + 4);
    }
}

TEST(operators_agree)
{
    int count = 0;
    const cJSON *o;

    cJSON_ArrayForEach(o, cJSON_GetObjectItemCaseSensitive(spec, "operators"))
    {
        const char *name = text_of(o, "name");
        enum op op = op_parse(name, strlen(name));

        count++;
        if (op == OP_COUNT)
            fail_msg("%s has no row", name);
    }
    assert_int_equal(count, OP_COUNT);
}

TEST(operands_agree)
{
    for (int op = 0; op < OP_COUNT; op++) {
        const struct op_info *row = &op_infos[op];
        const cJSON *o = operator_named(row->name), *x;

        assert_non_null(o);
        cJSON_ArrayForEach(x, cJSON_GetObjectItemCaseSensitive(o, "operands"))
        {
            const struct operand_info *info = operand_named(row, text_of(x, "operand"));
            int low, high;

            /* The unary logical operators copy the table of the binary ones, with an operand b that they do not have. */
            if (!info && !strcmp(text_of(x, "operand"), "b") && !strstr(text_of(o, "signature"), "MLOperand b"))
                continue;
            if (!info)
                fail_msg("%s: operand %s has no entry", row->name, text_of(x, "operand"));
            if (info->types != types_of(row, text_of(x, "data_types")))
                fail_msg("%s: %s: data types 0x%x, the specification has \"%s\"", row->name, info->name, info->types,
                         text_of(x, "data_types"));
            ranks_of(row, text_of(x, "ranks"), &low, &high);
            if (info->rank_min != low || info->rank_max != high)
                fail_msg("%s: %s: ranks %d to %d, the specification has \"%s\"", row->name, info->name, info->rank_min,
                         info->rank_max, text_of(x, "ranks"));
        }
    }
}

/* Returns whether member's text ("unsigned long axis = 1") declares name, and where its default stands (NULL: none). */
static bool declares(const char *member, const char *name, const char **value)
{
    const char *equals = strstr(member, " = ");
    size_t n = equals ? (size_t)(equals - member) : strlen(member), m = strlen(name);

    *value = equals ? equals + 3 : NULL;
    return n > m && member[n - m - 1] == ' ' && !memcmp(member + n - m, name, m);
}

static void check_default(const struct op_info *row, const struct attr_info *a, const char *value)
{
    const char *at = (const char *)row->options_default + a->offset;
    char have[64] = "";

    switch (a->kind) {
    case ATTR_U32:
        snprintf(have, sizeof have, "%u", *(const uint32_t *)at);
        break;
    case ATTR_I32:
        snprintf(have, sizeof have, "%d", *(const int32_t *)at);
        break;
    case ATTR_BOOL:
        snprintf(have, sizeof have, "%s", *(const bool *)at ? "true" : "false");
        break;
    case ATTR_ENUM:
        snprintf(have, sizeof have, "\"%s\"", enum_value_name(a->enumeration, *(const unsigned *)at));
        break;
    case ATTR_DATA_TYPE:
        snprintf(have, sizeof have, "\"%s\"", dtype_name(*(const dtype *)at));
        break;
    case ATTR_F64:
        if (!value || *(const double *)at != strtod(value, NULL))
            fail_msg("%s: default of %s is %g, the specification has %s", row->name, a->name, *(const double *)at,
                     value ? value : "none");
        return;
    case ATTR_NUMBER: {
        const WNNNumber *n = (const WNNNumber *)at;

        if (!value)
            assert_int_equal(n->type, WNNNumberType_Undefined);
        else
            assert_true(n->type == WNNNumberType_Float64 && n->value.float64 == strtod(value, NULL));
        return;
    }
    case ATTR_U32_LIST:
    case ATTR_F32_LIST:
    case ATTR_ENUM_LIST:
        assert_null(value);
        assert_null(*(void *const *)at);
        return;
    case ATTR_NONE:
        return;
    }
    if (!value || strcmp(have, value))
        fail_msg("%s: default of %s is %s, the specification has %s", row->name, a->name, have, value ? value : "none");
}

TEST(options_agree)
{
    for (int op = 0; op < OP_COUNT; op++) {
        const struct op_info *row = &op_infos[op];
        const char *signature = text_of(operator_named(row->name), "signature");
        const char *begin = strstr(signature, "optional ML"), *end;
        char dictionary[64];
        const cJSON *members, *m;
        int have = 0, want = 0;

        assert_non_null(begin);
        begin += strlen("optional ");
        end = strchr(begin, ' ');
        snprintf(dictionary, sizeof dictionary, "%.*s", (int)(end - begin), begin);
        members = cJSON_GetObjectItemCaseSensitive(
            cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(spec, "dictionaries"), dictionary), "members");
        assert_non_null(members);
        if (strcmp(dictionary, "MLOperatorOptions"))
            want = cJSON_GetArraySize(members);

        for (const struct attr_info *a = row->attrs; a->kind != ATTR_NONE; a++) {
            bool found = false;
            const char *value = NULL;

            if (a->positional) {
                if (!strstr(signature, a->name))
                    fail_msg("%s: argument %s is not in %s", row->name, a->name, signature);
                continue;
            }
            cJSON_ArrayForEach(m, members)
            {
                if (declares(cJSON_GetStringValue(m), a->name, &value)) {
                    found = true;
                    break;
                }
            }
            if (!found)
                fail_msg("%s: option %s is not in %s", row->name, a->name, dictionary);
            check_default(row, a, value);
            have++;
        }
        for (const struct operand_info *o = row->ins; o->name; o++)
            have += o->optional;
        if (have != want)
            fail_msg("%s: %d options, %s has %d", row->name, have, dictionary, want);
    }
}

static int setup(void **state)
{
    char path[4096];
    static char text[1 << 20];

    FILE *f = fopen(shared_path(path, sizeof path, "spec/operators.json"), "rb");
    if (!f)
        exit(shared_absent(path));
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    spec = cJSON_ParseWithLength(text, n);
    return spec ? 0 : -1;
}

static int teardown(void **state)
{
    cJSON_Delete(spec);
    return 0;
}

TEST_GROUP(setup, teardown)

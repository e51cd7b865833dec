/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What tests of the builder share: a context without an engine, with a builder, inputs, and the expectation that a call is
 * refused.  Included by one file of a program.
 */
#pragma once

#include "frontend/builder/builder.h"
#include "frontend/fake_runtime.h"
#include "support/test.h"

/* A context with a builder; builder_of(...) is short for making one. */
struct fixture {
    struct WNNContextImpl context;
    WNNGraphBuilder b;
};

static inline struct fixture *start(struct fixture *f)
{
    f->context = fake_context();
    assert_int_equal(wnnContextCreateGraphBuilder(&f->context, &f->b), WNNStatus_Success);
    return f;
}

static inline void finish(struct fixture *f)
{
    wnnGraphBuilderRelease(f->b);
    assert_int_equal(f->context.references, 1); /* the builder gave its reference back */
    fake_context_end(&f->context);
}

/** The fixture of most tests: TEST_EACH(start_each, finish_each). */
static struct fixture f;

static inline int start_each(__attribute__((unused)) void **state)
{
    start(&f);
    return 0;
}

static inline int finish_each(__attribute__((unused)) void **state)
{
    finish(&f);
    return 0;
}

#define SHAPE(...)                                                                                                             \
    sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[])                                                                        \
    {                                                                                                                          \
        __VA_ARGS__                                                                                                            \
    }

static inline WNNOperand input(WNNGraphBuilder b, const char *name, WNNOperandDataType type, size_t rank, const uint32_t *shape)
{
    return wnnGraphBuilderInput(b, WNN_STR(name), &(WNNOperandDescriptor){type, rank, shape, NULL});
}

static inline WNNOperand floats(WNNGraphBuilder b, const char *name, size_t rank, const uint32_t *shape)
{
    WNNOperand operand = input(b, name, WNNOperandDataType_Float32, rank, shape);

    assert_false(wnnOperandIsError(operand));
    return operand;
}

static inline struct WNNTensorImpl tensor_of(WNNContext context, struct constant *c)
{
    return (struct WNNTensorImpl){1, context, {WNNOperandDataType_Int32, 1, {2}}, c, false};
}

/* The call failed with that status and a message that contains the text; the builder is cleared for the next check. */
#define assert_refused(f, operand, wanted, text)                                                                               \
    do {                                                                                                                       \
        WNNStringView message_;                                                                                                \
        assert_true(wnnOperandIsError(operand));                                                                               \
        assert_int_equal(wnnGraphBuilderGetError((f)->b, &message_), wanted);                                                  \
        if (!strstr(message_.data, text))                                                                                      \
            fail_msg("the message is \"%s\", expected \"%s\" in it", message_.data, text);                                     \
        assert_string_equal(wnnGetLastErrorMessage().data, message_.data);                                                     \
        wnnGraphBuilderClearError((f)->b);                                                                                     \
    } while (0)

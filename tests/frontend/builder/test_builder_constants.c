/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Constants of a builder: copied, lent, scalars that are cast, and constant tensors. */
#include "frontend/builder/builder_support.h"
#include "support/close.h"

/* ---- constants ---- */

static int released;

static void release(void const *data, size_t bytes, void *wanted, void *bytes_wanted)
{
    assert_ptr_equal(data, wanted);
    assert_int_equal(bytes, (uintptr_t)bytes_wanted);
    released++;
}

TEST(constants_are_copied)
{
    float data[6] = {1, 2, 3, 4, 5, 6};
    WNNOperandDescriptor d = {WNNOperandDataType_Float32, 2, (const uint32_t[]){2, 3}, NULL};

    WNNOperand c = wnnGraphBuilderConstant(f.b, &d, data, sizeof(data));
    assert_false(wnnOperandIsError(c));
    data[0] = 99; /* a copy was taken */
    assert_close(((const float *)c->value->constant->data)[0], 1, 0);
    assert_refused(&f, wnnGraphBuilderConstant(f.b, &d, data, sizeof(data) - 1), WNNStatus_TypeError,
                   "constant: the buffer has 23 bytes, the descriptor needs 24");
    assert_refused(&f, wnnGraphBuilderConstant(f.b, &d, data, sizeof(data) + 1), WNNStatus_TypeError, "25 bytes");
    assert_refused(&f, wnnGraphBuilderConstant(f.b, &d, NULL, sizeof(data)), WNNStatus_TypeError, "data is NULL");
    assert_refused(&f, wnnGraphBuilderConstant(f.b, NULL, data, sizeof(data)), WNNStatus_TypeError, "descriptor is NULL");
    d.dataType = WNNOperandDataType_Undefined;
    assert_refused(&f, wnnGraphBuilderConstant(f.b, &d, data, 0), WNNStatus_TypeError, "dataType 0");
}

TEST(lent_constants_are_given_back_once)
{
    struct fixture f;
    float data[2] = {1, 2};
    WNNOperandDescriptor d = {WNNOperandDataType_Float32, 1, (const uint32_t[]){2}, NULL};
    WNNBufferReleaseCallbackInfo info = {release, data, (void *)(uintptr_t)sizeof(data)};

    start(&f);
    released = 0;
    WNNOperand c = wnnGraphBuilderConstantLent(f.b, &d, data, sizeof(data), info);
    assert_false(wnnOperandIsError(c));
    assert_ptr_equal(c->value->constant->data, data);
    assert_int_equal(released, 0);
    /* A refused one at once. */
    d.rank = 0;
    assert_refused(&f, wnnGraphBuilderConstantLent(f.b, &d, data, sizeof(data), info), WNNStatus_TypeError, "8 bytes");
    assert_int_equal(released, 1);
    assert_null(wnnGraphBuilderConstantLent(NULL, &d, data, sizeof(data), info));
    assert_int_equal(released, 2);
    assert_refused(&f, wnnGraphBuilderConstantLent(f.b, NULL, data, sizeof(data), info), WNNStatus_TypeError, "descriptor");
    assert_int_equal(released, 3);
    f.context.is_lost = true;
    assert_refused(&f, wnnGraphBuilderConstantLent(f.b, &d, data, sizeof(data), info), WNNStatus_InvalidStateError, "lost");
    assert_int_equal(released, 4);
    finish(&f); /* the first one, with its graph */
    assert_int_equal(released, 5);
}

/* Packed numbers: an operand of bytes, whose value is theirs. */
TEST(packed_numbers_are_bytes)
{
    struct fixture f;
    const uint8_t data[4] = {0x21, 0xF3, 0x54, 0x76};
    static const uint8_t expected[] = {1, 2, 3, 15, 4, 5, 6, 7};
    WNNOperandDescriptor d = {WNNOperandDataType_Uint8, 1, (const uint32_t[]){8}, NULL};
    WNNBufferReleaseCallbackInfo info = {release, (void *)(uintptr_t)data, NULL};

    start(&f);
    released = 0;
    for (uint32_t count = 8; count >= 5; count--) {
        uint8_t got[8];
        d.shape = &count;
        info.userdata2 = (void *)(uintptr_t)((count + 1) / 2);
        WNNOperand c = wnnGraphBuilderConstantUint4Lent(f.b, &d, data, (count + 1) / 2, info);
        assert_false(wnnOperandIsError(c));
        assert_int_equal(wnnOperandGetDataType(c), WNNOperandDataType_Uint8);
        assert_int_equal(released, count > 6 ? 0 : 7 - count); /* less than whole words is copied */
        assert_int_equal(wnnGraphBuilderGetConstantValue(f.b, c, got, count), WNNStatus_Success);
        assert_memory_equal(got, expected, count);
    }
    info.userdata2 = (void *)(uintptr_t)sizeof data;
    d.shape = (const uint32_t[]){9};
    assert_refused(&f, wnnGraphBuilderConstantUint4Lent(f.b, &d, data, sizeof data, info), WNNStatus_TypeError,
                   "constant: the buffer has 4 bytes, the descriptor needs 5");
    d.dataType = WNNOperandDataType_Int8;
    assert_refused(&f, wnnGraphBuilderConstantUint4Lent(f.b, &d, data, sizeof data, info), WNNStatus_TypeError,
                   "constant: numbers of 4 bits are read as uint8, not as int8");
    assert_refused(&f, wnnGraphBuilderConstantPackedLent(f.b, &d, 3, data, sizeof data, info), WNNStatus_TypeError,
                   "constant: numbers have 3 bits; give 4, 2 or 1");
    assert_null(wnnGraphBuilderConstantUint4Lent(NULL, &d, data, sizeof data, info));
    assert_int_equal(released, 6);
    d = (WNNOperandDescriptor){WNNOperandDataType_Uint8, 1, (const uint32_t[]){13}, NULL};
    for (uint32_t bits = 1; bits <= 2; bits++) {
        static const uint8_t numbers[2][13] = {{1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1},
                                               {1, 0, 2, 0, 3, 0, 3, 3, 0, 1, 1, 1, 2}};
        uint8_t got[13];
        info.userdata2 = (void *)(uintptr_t)(bits * 2);
        WNNOperand c = wnnGraphBuilderConstantPackedLent(f.b, &d, bits, data, bits * 2, info);
        assert_int_equal(wnnGraphBuilderGetConstantValue(f.b, c, got, sizeof got), WNNStatus_Success);
        assert_memory_equal(got, numbers[bits - 1], sizeof got);
    }
    info.userdata2 = (void *)(uintptr_t)sizeof data;
    finish(&f);
    assert_int_equal(released, 10);
}

static union scalar scalar_of(struct fixture *f, WNNOperandDataType type, WNNNumber n)
{
    WNNOperand c = wnnGraphBuilderConstantScalar(f->b, type, n);
    union scalar s = {0};

    assert_false(wnnOperandIsError(c));
    assert_int_equal(wnnOperandGetRank(c), 0);
    assert_int_equal(wnnOperandGetDataType(c), type);
    memcpy(&s, c->value->constant->data, dtype_size(type));
    return s;
}

TEST(scalars_are_cast)
{
    assert_close(scalar_of(&f, WNNOperandDataType_Float32, wnnNumber(0.1)).f32, 0.1f, 0);
    assert_int_equal(scalar_of(&f, WNNOperandDataType_Float16, wnnNumber(1.5)).f16, 0x3E00);
    assert_int_equal(scalar_of(&f, WNNOperandDataType_Int8, wnnNumber(1000)).i8, 127);
    assert_int_equal(scalar_of(&f, WNNOperandDataType_Uint8, wnnNumber(-3)).u8, 0);
    assert_int_equal(scalar_of(&f, WNNOperandDataType_Int32, wnnNumber(2.5)).i32, 2);
    assert_int_equal(scalar_of(&f, WNNOperandDataType_Int32, wnnNumber(__builtin_nan(""))).i32, 0);
    /* The specification's text casts to uint32 as if it were signed; it is not. */
    assert_int_equal(scalar_of(&f, WNNOperandDataType_Uint32, wnnNumber(4294967295.0)).u32, 4294967295u);
    assert_true(scalar_of(&f, WNNOperandDataType_Int64, wnnNumberInt64(INT64_MIN)).i64 == INT64_MIN);
    assert_true(scalar_of(&f, WNNOperandDataType_Uint64, wnnNumberUint64(UINT64_MAX)).u64 == UINT64_MAX);
    assert_refused(&f, wnnGraphBuilderConstantScalar(f.b, WNNOperandDataType_Undefined, wnnNumber(1)), WNNStatus_TypeError,
                   "dataType 0");
    assert_refused(&f, wnnGraphBuilderConstantScalar(f.b, WNNOperandDataType_Float32, WNN_NUMBER_INIT), WNNStatus_TypeError,
                   "not a number");
}

TEST(constants_are_made_of_tensors)
{
    struct fixture f;
    struct WNNContextImpl other = fake_context();
    OWNED(constant) struct constant *c = constant_create((const int32_t[]){3, 4}, 8);
    struct WNNTensorImpl t, bad;

    start(&f);
    t = tensor_of(&f.context, c);
    WNNOperand operand = wnnGraphBuilderConstantTensor(f.b, &t);
    assert_false(wnnOperandIsError(operand));
    assert_int_equal(wnnOperandGetDataType(operand), WNNOperandDataType_Int32);
    assert_int_equal(wnnOperandGetShape(operand)[0], 2);
    assert_ptr_equal(operand->value->constant, c); /* shared, not copied */
    assert_int_equal(t.references, 2);
    bad = tensor_of(&other, c);
    assert_refused(&f, wnnGraphBuilderConstantTensor(f.b, &bad), WNNStatus_TypeError, "another context");
    bad = tensor_of(&f.context, NULL);
    assert_refused(&f, wnnGraphBuilderConstantTensor(f.b, &bad), WNNStatus_TypeError, "not constant");
    bad.is_destroyed = true;
    /* The specification looks at the tensor first, at the builder last. */
    f.context.is_lost = true;
    assert_refused(&f, wnnGraphBuilderConstantTensor(f.b, &bad), WNNStatus_TypeError, "destroyed");
    assert_refused(&f, wnnGraphBuilderConstantTensor(f.b, &t), WNNStatus_InvalidStateError, "lost");
    assert_refused(&f, wnnGraphBuilderConstantTensor(f.b, NULL), WNNStatus_TypeError, "tensor is NULL");
    finish(&f);
    assert_int_equal(t.references, 1);
    assert_int_equal(bad.references, 1);
    assert_int_equal(c->references, 1);
}

TEST_EACH(start_each, finish_each)

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs kernels of the loop language, one operation after the other, one lane after the other.
 *
 * It refuses, with the text of the operation: accesses outside of a tensor, scratch memory or array, and less aligned than they
 * say; stores to read-only tensors; slots that have not been set; lanes, tensors and numbers that there are not; divisions by 0
 * and shifts by too many bits; loops that break their promises or do not end.
 *
 * The items of a group run in step: each operation is run for all items that reach it before the next one is.  So a barrier
 * only checks that all do.  Where one is missing, accesses to a group's array tell, of which each byte has notes.
 *
 * An address is the number of what it points into, in its high 16 bits, and the bytes from there on.  Arrays begin as bytes
 * that are not numbers.
 */
#include "ir/loop/loop_internal.h"
#include "ir/support/number.h"
#include "support/loop_text.h"

#include <inttypes.h>

enum { OFFSET_BITS = 48, SUBGROUP = 32 };

/* Says who stored a byte of a group's array last and who read it, and after how many barriers. */
struct note {
    uint32_t stored, read;   /* barriers; 0: never */
    uint16_t storer, reader; /* items; SEVERAL: more than one */
};
enum { SEVERAL = UINT16_MAX };

/* This is what may be accessed. */
struct place {
    struct loop_memory memory;
    const char *name;
    uint32_t number;
    struct note *notes; /* of a group's array, by byte; else NULL */
};

/* These are items that reach an operation. */
struct items {
    uint32_t *list, count;
};

struct run {
    struct place *places; /* tensors, scratch memory, then arrays of calls */
    uint32_t place_count;
    const struct loop_launch *launch;
    uint64_t steps;    /* that may still be made */
    uint32_t barriers; /* that were passed, and 1 */
    struct error *error;
};

/* This is one call of a function. */
struct frame {
    struct run *run;
    const struct loop_function *f;
    uint64_t *all_lanes; /* by item: of all values; v->user says where.  Those of a slot follow on whether it has been set */
    uint64_t *lanes;     /* of the current item */
    size_t lane_count;   /* of an item */
    uint32_t item, item_count;
    int64_t group[LOOP_DIMENSIONS];
    const uint64_t *tensors; /* a kernel's: addresses, then that of scratch memory */
    uint32_t tensor_count;
    int64_t first_number;
    const uint64_t *params[LOOP_PARAMETERS_MAX];
    uint64_t *result; /* what a RETURN fills */
};

#define REFUSE(f_, v, ...) loop_complain((f_)->run->error, (f_)->f, v, __VA_ARGS__)

static uint64_t *lanes_of(const struct frame *f, const struct loop_value *v)
{
    return v->op == LOOP_CONST ? (uint64_t *)v->bits : f->lanes + (uintptr_t)v->user;
}

static void run_as(struct frame *f, uint32_t item)
{
    f->item = item;
    f->lanes = f->all_lanes + item * f->lane_count;
}

static enum loop_element element_of(const struct loop_value *v)
{
    return loop_type_element(v->type);
}

/* ---- memory ---- */

static int64_t offset_of(uint64_t address)
{
    return (int64_t)(address << (64 - OFFSET_BITS)) >> (64 - OFFSET_BITS);
}

static uint64_t address_add(uint64_t address, int64_t index, size_t size)
{
    const int64_t most = INT64_C(1) << (OFFSET_BITS - 1);
    int64_t bytes;

    if (__builtin_mul_overflow(index, (int64_t)size, &bytes) || __builtin_add_overflow(bytes, offset_of(address), &bytes) ||
        bytes < -most || bytes >= most)
        bytes = -most; /* outside of everything */
    return address >> OFFSET_BITS << OFFSET_BITS | ((uint64_t)bytes & UINT64_MAX >> (64 - OFFSET_BITS));
}

static size_t type_bytes(loop_type type)
{
    return (size_t)loop_type_bits(type) / 8 * loop_type_lanes(type);
}

/* Notes that the current item accesses a byte.  Returns whether no other item does so since the last barrier, or none of them
 * stores. */
static bool note_access(const struct frame *f, struct note *n, bool stores)
{
    const uint32_t now = f->run->barriers;
    const bool others_read = n->read == now && n->reader != f->item, other_stored = n->stored == now && n->storer != f->item;

    if (stores) {
        n->stored = now;
        n->storer = (uint16_t)f->item;
        return !others_read && !other_stored;
    }
    n->reader = others_read ? SEVERAL : (uint16_t)f->item;
    n->read = now;
    return !other_stored;
}

/* Returns where an access is, or NULL after an error. */
static char *access_at(struct frame *f, const struct loop_value *v, uint64_t address, size_t bytes, bool stores)
{
    const struct place *p = &f->run->places[address >> OFFSET_BITS];
    const int64_t offset = offset_of(address);

    if (address >> OFFSET_BITS >= f->run->place_count) {
        REFUSE(f, v, "the address is invalid");
        return NULL;
    }
    if (offset < 0 || (uint64_t)offset + bytes > p->memory.size) {
        REFUSE(f, v, "%zu bytes at %" PRId64 " are outside of %s %u, which has %zu", bytes, offset, p->name, p->number,
               p->memory.size);
        return NULL;
    }
    if (stores && p->memory.read_only) {
        REFUSE(f, v, "%s %u may not be written", p->name, p->number);
        return NULL;
    }
    for (size_t i = 0; p->notes && i < bytes; i++)
        if (!note_access(f, &p->notes[(size_t)offset + i], stores)) {
            REFUSE(f, v, "item %u and another one access byte %" PRId64 " of %s %u without a barrier in between", f->item,
                   offset + (int64_t)i, p->name, p->number);
            return NULL;
        }
    return (char *)p->memory.bytes + offset;
}

static bool check_aligned(struct frame *f, const struct loop_value *v, uint64_t address)
{
    const struct place *p = &f->run->places[address >> OFFSET_BITS];

    return ((uintptr_t)p->memory.bytes + (uintptr_t)offset_of(address)) % (uintptr_t)v->number == 0 ||
           REFUSE(f, v, "byte %" PRId64 " of %s %u is not so aligned", offset_of(address), p->name, p->number);
}

/* Loads lanes to out, or stores them. */
static bool access_lanes(struct frame *f, const struct loop_value *v, uint64_t *out)
{
    const bool stores = v->op >= LOOP_STORE, lanewise = v->op == LOOP_GATHER || v->op == LOOP_SCATTER;
    const struct loop_value *value = stores ? v->args[0] : v;
    const uint64_t *addresses = lanes_of(f, v->args[stores]);
    const uint64_t *mask = v->arg_count > 1u + stores ? lanes_of(f, v->args[1 + stores]) : NULL;
    const size_t size = type_bytes(loop_type_make(element_of(value), 1));

    for (uint32_t i = 0; i < loop_type_lanes(value->type); i++) {
        if (!stores)
            out[i] = v->op == LOOP_LOAD_MASKED ? lanes_of(f, v->args[2])[i] : 0;
        if (mask && !mask[i])
            continue;
        const uint64_t address = lanewise ? addresses[i] : address_add(addresses[0], i, size);
        char *at = access_at(f, v, address, size, stores);
        if (!at || !check_aligned(f, v, lanewise ? address : addresses[0]))
            return false;
        if (stores)
            memcpy(at, &lanes_of(f, value)[i], size);
        else
            memcpy(memset(&out[i], 0, sizeof *out), at, size);
    }
    return true;
}

static void add_place(struct run *r, struct loop_memory memory, const char *name, uint32_t number)
{
    assert_true(r->place_count < UINT16_MAX && array_extend(&r->places, r->place_count, sizeof *r->places));
    r->places[r->place_count++] = (struct place){memory, name, number, NULL};
}

/* Returns the address of a new array. */
static uint64_t make_array(struct frame *f, const struct loop_value *v)
{
    const size_t size = ((size_t)v->number + 63) / 64 * 64;
    void *bytes = aligned_alloc(64, size);

    assert_non_null(bytes);
    memset(bytes, 0xFF, size);
    add_place(f->run, (struct loop_memory){bytes, (size_t)v->number, false}, "array", v->serial);
    return (uint64_t)(f->run->place_count - 1) << OFFSET_BITS;
}

/* Makes the one array of all items of a group. */
static bool make_group_array(struct frame *f, const struct loop_value *v)
{
    const uint64_t address = make_array(f, v);
    struct place *p = &f->run->places[f->run->place_count - 1];

    p->notes = calloc((size_t)v->number, sizeof *p->notes);
    assert_non_null(p->notes);
    for (uint32_t i = 0; i < f->item_count; i++)
        f->all_lanes[i * f->lane_count + (uintptr_t)v->user] = address;
    return true;
}

/* ---- lanes ---- */

/* Computes what has lanes that depend on lanes of other numbers. */
static bool across_lanes(struct frame *f, const struct loop_value *v, uint64_t *out)
{
    const uint64_t *a = lanes_of(f, v->args[0]), *b = v->arg_count > 1 ? lanes_of(f, v->args[1]) : NULL;
    const uint32_t lanes = loop_type_lanes(v->type), from = loop_type_lanes(v->args[0]->type);
    unsigned char bytes[LOOP_LANES_MAX * 8] = {0};
    const size_t size = loop_element_bits(element_of(v)) / 8, old = loop_element_bits(element_of(v->args[0])) / 8;

    switch (v->op) {
    case LOOP_ANY:
        for (uint32_t i = *out = 0; i < from; i++)
            *out |= a[i];
        return true;
    case LOOP_EXTRACT:
        if (b[0] >= from)
            return REFUSE(f, v, "there is no lane %" PRId64, (int64_t)b[0]);
        *out = a[b[0]];
        return true;
    case LOOP_BITCAST:
        for (uint32_t i = 0; i < from; i++)
            memcpy(bytes + i * old, &a[i], old);
        for (uint32_t i = 0; i < lanes; i++)
            memcpy(memset(&out[i], 0, sizeof *out), bytes + i * size, size);
        return true;
    default:
        break;
    }
    for (uint32_t i = 0; i < lanes; i++) {
        const uint32_t lane = v->op == LOOP_SHUFFLE ? v->lanes[i] : v->op == LOOP_SPLAT ? 0 : (uint32_t)b[i];
        if (v->op == LOOP_SHUFFLE && lane == LOOP_ANY_LANE)
            out[i] = loop_cut(element_of(v), UINT64_MAX);
        else if (v->op == LOOP_SHUFFLE)
            out[i] = lane < from ? a[lane] : b[lane - from];
        else if (v->op == LOOP_PERMUTE2)
            out[i] = lane & from ? lanes_of(f, v->args[2])[lane & (from - 1)] : a[lane & (from - 1)];
        else
            out[i] = a[lane & (from - 1)];
    }
    return true;
}

static bool lane_by_lane(struct frame *f, const struct loop_value *v, uint64_t *out)
{
    const uint64_t *operands[3] = {0};
    const enum loop_element from = element_of(v->args[v->op == LOOP_SELECT]);
    const bool divides = v->op == LOOP_SDIV || v->op == LOOP_UDIV || v->op == LOOP_UREM;
    const bool shifts = v->op == LOOP_SHL || v->op == LOOP_LSHR || v->op == LOOP_ASHR;

    for (uint32_t i = 0; i < v->arg_count; i++)
        operands[i] = lanes_of(f, v->args[i]);
    for (uint32_t lane = 0; lane < loop_type_lanes(v->type); lane++) {
        uint64_t args[3] = {0};
        for (uint32_t i = 0; i < v->arg_count; i++)
            args[i] = operands[i][loop_type_lanes(v->args[i]->type) == 1 ? 0 : lane];
        if (divides && !args[1])
            return REFUSE(f, v, "lane %u is divided by 0", lane);
        if (shifts && args[1] >= loop_element_bits(from))
            return REFUSE(f, v, "lane %u is shifted by %" PRIu64, lane, args[1]);
        if (!loop_scalar((enum loop_op)v->op, element_of(v), from, args, &out[lane]))
            return REFUSE(f, v, "the interpreter does not know this operation");
    }
    return true;
}

static int64_t saturate(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* ---- bytes ---- */

static int64_t byte_at(uint64_t bits, uint32_t i, bool with_sign)
{
    return with_sign ? (int8_t)(bits >> 8 * i) : (uint8_t)(bits >> 8 * i);
}

/* Computes lane i of an operation on bytes, of the lanes of its operands. */
static uint64_t byte_lane(const struct loop_value *v, const uint64_t *const args[3], uint32_t i)
{
    const enum loop_element from = loop_type_element(v->args[0]->type);
    const uint64_t *a = args[0], *b = args[1];
    const uint32_t part = 128 / loop_element_bits(from); /* operands' lanes in 128 bits */
    int64_t sum = 0;

    switch (v->op) {
    case LOOP_PACK_S16:
    case LOOP_PACK_S8:
    case LOOP_PACK_U8:
        sum = loop_extend(from, (i / part % 2 ? b : a)[i / (2 * part) * part + i % part]);
        sum = v->op == LOOP_PACK_S16  ? saturate(sum, INT16_MIN, INT16_MAX)
              : v->op == LOOP_PACK_S8 ? saturate(sum, INT8_MIN, INT8_MAX)
                                      : saturate(sum, 0, UINT8_MAX);
        break;
    case LOOP_PAIRS_U8_S8:
        sum =
            saturate((int64_t)a[2 * i] * loop_extend(from, b[2 * i]) + (int64_t)a[2 * i + 1] * loop_extend(from, b[2 * i + 1]),
                     INT16_MIN, INT16_MAX);
        break;
    case LOOP_PAIRS_S16:
        sum = loop_extend(from, a[2 * i]) * loop_extend(from, b[2 * i]) +
              loop_extend(from, a[2 * i + 1]) * loop_extend(from, b[2 * i + 1]);
        break;
    case LOOP_ADD_PAIRS:
        sum = loop_extend(from, a[2 * i]) + loop_extend(from, a[2 * i + 1]);
        break;
    default:
        sum = loop_extend(from, a[i]);
        for (uint32_t k = 0; k < 4; k++)
            sum += byte_at(b[i], k, v->op == LOOP_DOT_S8) * byte_at(args[2][i], k, true);
        break;
    }
    return loop_cut(loop_type_element(v->type), (uint64_t)sum);
}

/* ---- matrices ---- */

/* Returns what a lane of a sub-group has of one of the four matrices whose rows are there. */
static uint32_t matrix_word(const void *const rows[SUBGROUP], uint32_t lane, uint32_t matrix, bool transposed)
{
    uint16_t h[2];

    for (uint32_t e = 0; e < 2; e++) {
        const uint32_t row = transposed ? lane % 4 * 2 + e : lane / 4, column = transposed ? lane / 4 : lane % 4 * 2 + e;
        memcpy(&h[e], (const uint16_t *)rows[8 * matrix + row] + column, sizeof *h);
    }
    return h[0] | (uint32_t)h[1] << 16;
}

/* Returns the float16 number of a lane's word. */
static double half_of(uint64_t word, uint32_t high)
{
    return (double)f16_to_f32((uint16_t)(word >> 16 * high));
}

/* Returns sum i of a lane after a multiplication of the lanes' words; pair says which two of b's. */
static uint32_t matrix_sum(uint64_t sum, const uint64_t *const a[SUBGROUP], const uint64_t *const b[SUBGROUP], int64_t pair,
                           uint32_t lane, uint32_t i)
{
    const uint32_t row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    uint32_t bits = (uint32_t)sum;
    double total;
    float c;

    memcpy(&c, &bits, sizeof c);
    total = (double)c;
    for (uint32_t k = 0; k < 16; k++)
        total += half_of(a[row % 8 * 4 + k % 8 / 2][row / 8 + k / 8 * 2], k % 2) *
                 half_of(b[column * 4 + k % 8 / 2][2 * pair + k / 8], k % 2);
    c = (float)total;
    memcpy(&bits, &c, sizeof bits);
    return bits;
}

/* ---- calls and control ---- */

static bool run_region(struct frame *f, const struct loop_region *region, struct items on);
static bool run_function(struct frame *f);

static bool call(struct frame *f, const struct loop_value *v, uint64_t *out)
{
    struct frame inner = {.run = f->run, .f = v->callee, .result = out};

    for (uint32_t i = 0; i < v->arg_count; i++)
        inner.params[i] = lanes_of(f, v->args[i]);
    return run_function(&inner);
}

static bool call_kernel(struct frame *f, const struct loop_value *v)
{
    const struct loop_value *arguments = v->args[0];
    uint64_t *addresses = lanes_of(f, arguments);
    struct frame inner = {.run = f->run,
                          .f = arguments->callee,
                          .tensors = addresses,
                          .tensor_count = arguments->arg_count - 1,
                          .first_number = f->first_number + arguments->number,
                          .params = {lanes_of(f, v->args[1]), lanes_of(f, v->args[2])}};

    return run_function(&inner);
}

static bool holds(const struct loop_value *v, int64_t i, int64_t to)
{
    int64_t next;

    if (!(v->number & LOOP_WHOLE_STEPS))
        return i < to;
    return !__builtin_add_overflow(i, loop_extend(element_of(v), v->regions[0].last->args[0]->bits[0]), &next) && next <= to;
}

static bool begin_for(struct frame *f, const struct loop_value *v, struct items on, struct items *again)
{
    for (uint32_t n = 0; n < on.count; n++) {
        run_as(f, on.list[n]);
        const int64_t from = loop_extend(element_of(v), *lanes_of(f, v->args[0])),
                      to = loop_extend(element_of(v), *lanes_of(f, v->args[1]));
        *lanes_of(f, v) = loop_cut(element_of(v), (uint64_t)from);
        if (holds(v, from, to))
            again->list[again->count++] = f->item;
        else if (v->number & LOOP_AT_LEAST_ONCE)
            return REFUSE(f, v, "it is not run once, from %" PRId64 " to %" PRId64, from, to);
    }
    return true;
}

/* Ends an iteration, and leaves those items that have another one. */
static bool end_iteration(struct frame *f, const struct loop_value *v, struct items *again)
{
    const enum loop_element element = element_of(v);
    const uint32_t count = again->count;

    again->count = 0;
    for (uint32_t n = 0; n < count; n++) {
        run_as(f, again->list[n]);
        const struct loop_value *last = v->regions[0].last;
        const int64_t step = loop_extend(element, *lanes_of(f, last->args[0])),
                      to = loop_extend(element, *lanes_of(f, v->args[1]));
        int64_t i = loop_extend(element, *lanes_of(f, v));
        if (step < 0 || __builtin_add_overflow(i, step, &i) || i != loop_extend(element, (uint64_t)i))
            return REFUSE(f, last, "a step of %" PRId64 " leads nowhere", step);
        *lanes_of(f, v) = loop_cut(element, (uint64_t)i);
        if (!holds(v, i, to))
            continue;
        if (v->number & LOOP_AT_MOST_ONCE)
            return REFUSE(f, v, "it is run more than once, to %" PRId64, to);
        again->list[again->count++] = f->item;
    }
    return true;
}

static bool run_for(struct frame *f, const struct loop_value *v, struct items on)
{
    uint32_t list[LOOP_ITEMS_MAX];
    struct items again = {list, 0};
    bool good = begin_for(f, v, on, &again);

    while (good && again.count)
        good = run_region(f, &v->regions[0], again) && end_iteration(f, v, &again);
    return good;
}

static bool run_if(struct frame *f, const struct loop_value *v, struct items on)
{
    uint32_t list[LOOP_ITEMS_MAX];
    struct items some = {list, 0};
    bool good = true;

    for (uint32_t region = 0; good && region < v->region_count; region++) {
        some.count = 0;
        for (uint32_t n = 0; n < on.count; n++) {
            run_as(f, on.list[n]);
            if ((*lanes_of(f, v->args[0]) == 0) == region)
                some.list[some.count++] = f->item;
        }
        good = !some.count || run_region(f, &v->regions[region], some);
    }
    return good;
}

/* Runs instructions that are not operations on values alone. */
static bool run_own(struct frame *f, const struct loop_value *v, uint64_t *out)
{
    switch (v->op) {
    case LOOP_PARAMETER:
        memcpy(out, f->params[v->number], loop_type_lanes(v->type) * sizeof *out);
        return true;
    case LOOP_NUMBER:
        if (v->number >= f->run->launch->number_count - f->first_number)
            return REFUSE(f, v, "there is no such number");
        *out = loop_cut(element_of(v), (uint64_t)f->run->launch->numbers[f->first_number + v->number]);
        return true;
    case LOOP_TENSOR:
    case LOOP_SCRATCH:
        if (v->op == LOOP_TENSOR && v->number >= f->tensor_count)
            return REFUSE(f, v, "there is no such tensor");
        *out = f->tensors[v->op == LOOP_TENSOR ? v->number : f->tensor_count];
        return true;
    case LOOP_ARRAY:
        *out = make_array(f, v);
        return true;
    case LOOP_ADDRESS:
        for (uint32_t i = 0; i < loop_type_lanes(v->type); i++)
            out[i] = address_add(*lanes_of(f, v->args[0]), loop_extend(element_of(v->args[1]), lanes_of(f, v->args[1])[i]),
                                 type_bytes(v->of));
        return true;
    case LOOP_GET:
        if (!lanes_of(f, v->args[0])[loop_type_lanes(v->type)])
            return REFUSE(f, v, "the slot has not been set");
        memcpy(out, lanes_of(f, v->args[0]), loop_type_lanes(v->type) * sizeof *out);
        return true;
    case LOOP_SET:
        memcpy(lanes_of(f, v->args[0]), lanes_of(f, v->args[1]), loop_type_lanes(v->args[1]->type) * sizeof *out);
        lanes_of(f, v->args[0])[loop_type_lanes(v->args[1]->type)] = 1;
        return true;
    case LOOP_ITEM:
        *out = v->number == 0   ? f->item % f->f->items[0]
               : v->number == 1 ? f->item / f->f->items[0] % f->f->items[1]
                                : f->item / f->f->items[0] / f->f->items[1];
        return true;
    case LOOP_GROUP:
        *out = (uint64_t)f->group[v->number];
        return true;
    case LOOP_STOPPED:
    case LOOP_OPAQUE:
        *out = *lanes_of(f, v->args[0]);
        return true;
    case LOOP_RETURN:
        memcpy(f->result, lanes_of(f, v->args[0]), loop_type_lanes(v->args[0]->type) * sizeof *out);
        return true;
    case LOOP_CALL:
        return call(f, v, out);
    case LOOP_ALIGNED: {
        const uint64_t address = *lanes_of(f, v->args[0]);
        *out = ((uintptr_t)f->run->places[address >> OFFSET_BITS].memory.bytes + (uintptr_t)offset_of(address)) %
                   (uintptr_t)v->number ==
               0;
        return true;
    }
    case LOOP_ARGUMENTS:
        for (uint32_t i = 0; i < v->arg_count; i++)
            out[i] = *lanes_of(f, v->args[i]);
        return true;
    case LOOP_CALL_KERNEL:
        return call_kernel(f, v);
    default: /* SLOT, PREFETCH, NEXT */
        return true;
    }
}

static bool run_operation(struct frame *f, const struct loop_value *v)
{
    uint64_t *out = lanes_of(f, v);
    const uint64_t *args[3] = {NULL};

    if (!f->run->steps--)
        return REFUSE(f, v, "the budget is used up: does a loop not end?");
    if (loop_op_is_access((enum loop_op)v->op))
        return access_lanes(f, v, out);
    if (v->op == LOOP_ANY || v->op == LOOP_BITCAST || (v->op >= LOOP_SPLAT && v->op <= LOOP_PERMUTE2))
        return across_lanes(f, v, out);
    if (v->op < LOOP_ADD || v->op >= LOOP_ADDRESS)
        return run_own(f, v, out);
    if (v->op < LOOP_PACK_S16)
        return lane_by_lane(f, v, out);
    for (uint32_t i = 0; i < v->arg_count; i++)
        args[i] = lanes_of(f, v->args[i]);
    for (uint32_t i = 0; i < loop_type_lanes(v->type); i++)
        out[i] = byte_lane(v, args, i);
    return true;
}

/* Runs an operation on matrices for a sub-group. */
static bool run_matrix(struct frame *f, const struct loop_value *v, const uint32_t *items, uint32_t count)
{
    const void *rows[SUBGROUP];
    const uint64_t *a[SUBGROUP], *b[SUBGROUP];

    if (count < SUBGROUP || items[0] % SUBGROUP || items[SUBGROUP - 1] != items[0] + SUBGROUP - 1)
        return REFUSE(f, v, "not all items of a sub-group reach it");
    for (uint32_t l = 0; l < SUBGROUP; l++) {
        run_as(f, items[l]);
        a[l] = lanes_of(f, v->args[v->op == LOOP_MATRIX_MULTIPLY]);
        b[l] = lanes_of(f, v->args[v->arg_count - 1]);
        rows[l] = v->op == LOOP_MATRIX_LOAD ? access_at(f, v, *a[l], 8 * sizeof(uint16_t), false) : NULL;
        if (v->op == LOOP_MATRIX_LOAD && !rows[l])
            return false;
        if ((uintptr_t)rows[l] % (8 * sizeof(uint16_t)))
            return REFUSE(f, v, "a row is not aligned");
    }
    for (uint32_t l = 0; l < SUBGROUP; l++) {
        run_as(f, items[l]);
        for (uint32_t i = 0; i < 4; i++)
            lanes_of(f, v)[i] = v->op == LOOP_MATRIX_LOAD ? matrix_word(rows, l, i, v->number)
                                                          : matrix_sum(lanes_of(f, v->args[0])[i], a, b, v->number, l, i);
    }
    return true;
}

/* Runs an operation for all items that reach it. */
static bool run_for_items(struct frame *f, const struct loop_value *v, struct items on)
{
    bool good = true;

    run_as(f, on.list[0]);
    switch (v->op) {
    case LOOP_FOR:
        return run_for(f, v, on);
    case LOOP_IF:
        return run_if(f, v, on);
    case LOOP_SCOPE:
        return run_region(f, &v->regions[0], on);
    case LOOP_GROUP_ARRAY:
        return make_group_array(f, v);
    case LOOP_BARRIER:
        f->run->barriers++;
        return on.count == f->item_count || REFUSE(f, v, "%u of %u items reach it", on.count, f->item_count);
    case LOOP_MATRIX_LOAD:
    case LOOP_MATRIX_MULTIPLY:
        for (uint32_t n = 0; good && n < on.count; n += SUBGROUP)
            good = run_matrix(f, v, on.list + n, on.count - n);
        return good;
    default:
        for (uint32_t n = 0; good && n < on.count; n++) {
            run_as(f, on.list[n]);
            good = run_operation(f, v);
        }
        return good;
    }
}

static bool run_region(struct frame *f, const struct loop_region *region, struct items on)
{
    for (const struct loop_value *v = region->first; v; v = v->next)
        if (!run_for_items(f, v, on))
            return false;
    return true;
}

static bool run_function(struct frame *f)
{
    struct run *r = f->run;
    const uint32_t places = r->place_count, *items = f->f->items;
    uint32_t list[LOOP_ITEMS_MAX];

    f->item_count = items[0] ? items[0] * items[1] * items[2] : 1;
    f->lane_count = 1;
    for (struct loop_value *v = loop_walk(f->f, NULL); v; v = loop_walk(f->f, v)) { /* gives every value its lanes */
        v->user = (void *)f->lane_count;
        f->lane_count += v->op == LOOP_ARGUMENTS ? v->arg_count : loop_type_lanes(v->type) + (v->op == LOOP_SLOT);
    }
    f->all_lanes = calloc(f->lane_count * f->item_count, sizeof *f->all_lanes);
    assert_non_null(f->all_lanes);
    for (uint32_t i = 0; i < f->item_count; i++)
        list[i] = i;
    const bool good = run_region(f, &f->f->body, (struct items){list, f->item_count});
    free(f->all_lanes);
    while (r->place_count > places) {
        free(r->places[--r->place_count].memory.bytes);
        free(r->places[r->place_count].notes);
    }
    return good;
}

/* Runs all groups of a device's kernel, or the units of a processor's. */
static bool run_groups(struct frame *f)
{
    const int64_t *groups = f->run->launch->groups;

    if (!f->f->items[0])
        return run_function(f);
    for (f->group[2] = 0; f->group[2] < groups[2]; f->group[2]++)
        for (f->group[1] = 0; f->group[1] < groups[1]; f->group[1]++)
            for (f->group[0] = 0; f->group[0] < groups[0]; f->group[0]++)
                if (!run_function(f))
                    return false;
    return true;
}

bool loop_interpret(const struct loop_module *m, const char *function, const struct loop_launch *launch, struct error *e)
{
    struct run r = {.launch = launch, .barriers = 1, .steps = launch->budget ? launch->budget : LOOP_BUDGET, .error = e};
    const uint64_t units[2] = {(uint64_t)launch->begin, (uint64_t)launch->end};
    const uint32_t count = launch->tensor_count;
    struct frame f = {.run = &r, .f = loop_function_find(m, function), .tensor_count = count, .params = {&units[0], &units[1]}};
    OWNED(memory) uint64_t *addresses = calloc(count + 1, sizeof *addresses);

    assert_true(addresses && f.f && f.f->kernel);
    for (uint32_t i = 0; i <= count; i++) {
        addresses[i] = (uint64_t)i << OFFSET_BITS;
        add_place(&r, i < count ? launch->tensors[i] : launch->scratch, i < count ? "tensor" : "scratch memory",
                  i < count ? i : 0);
    }
    f.tensors = addresses;
    const bool good = loop_verify(m, e) && run_groups(&f);
    free(r.places);
    return good;
}

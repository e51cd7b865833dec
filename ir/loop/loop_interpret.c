/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Runs kernels of the loop language, one operation after the other, one lane after the other.
 *
 * It refuses, with the text of the operation: accesses outside of a tensor, scratch memory or array, and less aligned than they
 * say; stores to what is read only; slots that have not been set; lanes, tensors and numbers that there are not; divisions by 0
 * and shifts by too many bits; loops that break their promises or do not end.
 *
 * An address is the number of what it points into, in its high 16 bits, and the bytes from there on.  Arrays begin as bytes
 * that are not numbers.
 */
#include "ir/loop/loop_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { OFFSET_BITS = 48 };

/* This is what may be accessed. */
struct place {
    struct loop_memory memory;
    const char *name;
    uint32_t number;
};

struct run {
    struct place *places; /* tensors, scratch memory, then arrays of calls */
    uint32_t place_count, place_capacity;
    const struct loop_launch *launch;
    uint64_t steps; /* that may still be made */
    struct error *error;
};

/* This is one call of a function. */
struct frame {
    struct run *run;
    const struct loop_function *f;
    uint64_t *lanes;         /* of all values; v->user says where.  Those of a slot follow on whether it has been set */
    const uint64_t *tensors; /* a kernel's: addresses, then that of scratch memory */
    uint32_t tensor_count;
    int64_t first_number;
    const uint64_t *params[LOOP_PARAMETERS_MAX];
    uint64_t *result; /* what a RETURN fills */
    int64_t step;     /* of the NEXT that was reached last */
};

#define REFUSE(f_, v, ...) loop_complain((f_)->run->error, (f_)->f, v, __VA_ARGS__)

static uint64_t *lanes_of(const struct frame *f, const struct loop_value *v)
{
    return v->op == LOOP_CONST ? (uint64_t *)v->bits : f->lanes + (uintptr_t)v->user;
}

static enum loop_element element_of(const struct loop_value *v)
{
    return loop_type_element(v->type);
}

static int64_t extend(enum loop_element element, uint64_t bits)
{
    const uint32_t spare = 64 - loop_element_bits(element);

    return (int64_t)(bits << spare) >> spare;
}

static uint64_t cut(enum loop_element element, int64_t value)
{
    return (uint64_t)value & UINT64_MAX >> (64 - loop_element_bits(element));
}

static int64_t saturate(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
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

/* Returns where an access is, or NULL after an error. */
static char *access_at(struct frame *f, const struct loop_value *v, uint64_t address, size_t bytes, bool stores)
{
    const struct place *p = &f->run->places[address >> OFFSET_BITS];
    const int64_t offset = offset_of(address);

    if (address >> OFFSET_BITS >= f->run->place_count) {
        REFUSE(f, v, "the address leads nowhere");
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
    return (char *)p->memory.bytes + offset;
}

static bool check_aligned(struct frame *f, const struct loop_value *v, uint64_t address)
{
    const struct place *p = &f->run->places[address >> OFFSET_BITS];

    return ((uintptr_t)p->memory.bytes + (uintptr_t)offset_of(address)) % (uintptr_t)v->number == 0 ||
           REFUSE(f, v, "byte %" PRId64 " of %s %u is not so aligned", offset_of(address), p->name, p->number);
}

static bool load(struct frame *f, const struct loop_value *v, uint64_t *out)
{
    const uint64_t *addresses = lanes_of(f, v->args[0]);
    const uint64_t *mask = v->arg_count > 1 ? lanes_of(f, v->args[1]) : NULL;
    const size_t size = type_bytes(loop_type_make(element_of(v), 1));

    for (uint32_t i = 0; i < loop_type_lanes(v->type); i++) {
        out[i] = v->op == LOOP_LOAD_MASKED ? lanes_of(f, v->args[2])[i] : 0;
        if (mask && !mask[i])
            continue;
        const uint64_t address = v->op == LOOP_GATHER ? addresses[i] : address_add(addresses[0], i, size);
        const char *at = access_at(f, v, address, size, false);
        if (!at || !check_aligned(f, v, v->op == LOOP_GATHER ? address : addresses[0]))
            return false;
        out[i] = 0;
        memcpy(&out[i], at, size);
    }
    return true;
}

static bool store(struct frame *f, const struct loop_value *v)
{
    const uint64_t *values = lanes_of(f, v->args[0]), *addresses = lanes_of(f, v->args[1]);
    const uint64_t *mask = v->arg_count > 2 ? lanes_of(f, v->args[2]) : NULL;
    const size_t size = type_bytes(loop_type_make(element_of(v->args[0]), 1));

    for (uint32_t i = 0; i < loop_type_lanes(v->args[0]->type); i++) {
        if (mask && !mask[i])
            continue;
        const uint64_t address = v->op == LOOP_SCATTER ? addresses[i] : address_add(addresses[0], i, size);
        char *at = access_at(f, v, address, size, true);
        if (!at || !check_aligned(f, v, v->op == LOOP_SCATTER ? address : addresses[0]))
            return false;
        memcpy(at, &values[i], size);
    }
    return true;
}

static bool add_place(struct run *r, struct loop_memory memory, const char *name, uint32_t number)
{
    if (r->place_count == UINT16_MAX ||
        !array_reserve(NULL, &r->places, &r->place_capacity, r->place_count + 1, sizeof *r->places))
        return error_out_of_memory(r->error);
    r->places[r->place_count++] = (struct place){memory, name, number};
    return true;
}

static bool make_array(struct frame *f, const struct loop_value *v, uint64_t *out)
{
    const size_t size = ((size_t)v->number + 63) / 64 * 64;
    void *bytes = aligned_alloc(64, size);

    *out = (uint64_t)f->run->place_count << OFFSET_BITS;
    if (!bytes || !add_place(f->run, (struct loop_memory){bytes, (size_t)v->number, false}, "array", v->serial)) {
        free(bytes);
        return error_out_of_memory(f->run->error);
    }
    memset(bytes, 0xFF, size);
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
            out[i] = cut(element_of(v), -1);
        else if (v->op == LOOP_SHUFFLE)
            out[i] = lane < from ? a[lane] : b[lane - from];
        else if (v->op == LOOP_PERMUTE2)
            out[i] = lane & from ? lanes_of(f, v->args[2])[lane & (from - 1)] : a[lane & (from - 1)];
        else
            out[i] = a[lane & (from - 1)];
    }
    return true;
}

static int64_t byte_at(uint64_t bits, uint32_t i, bool with_sign)
{
    return with_sign ? (int8_t)(bits >> 8 * i) : (uint8_t)(bits >> 8 * i);
}

/* Computes what makes lanes of other widths out of neighbours. */
static uint64_t byte_lane(const struct frame *f, const struct loop_value *v, uint32_t i)
{
    const enum loop_element from = element_of(v->args[0]);
    const uint64_t *a = lanes_of(f, v->args[0]), *b = v->arg_count > 1 ? lanes_of(f, v->args[1]) : NULL;
    const uint32_t part = 128 / loop_element_bits(from); /* operands' lanes in 128 bits */
    int64_t sum = 0;

    switch (v->op) {
    case LOOP_PACK_S16:
    case LOOP_PACK_S8:
    case LOOP_PACK_U8:
        sum = extend(from, (i / part % 2 ? b : a)[i / (2 * part) * part + i % part]);
        sum = v->op == LOOP_PACK_S16  ? saturate(sum, INT16_MIN, INT16_MAX)
              : v->op == LOOP_PACK_S8 ? saturate(sum, INT8_MIN, INT8_MAX)
                                      : saturate(sum, 0, UINT8_MAX);
        break;
    case LOOP_PAIRS_U8_S8:
        sum = saturate((int64_t)a[2 * i] * extend(from, b[2 * i]) + (int64_t)a[2 * i + 1] * extend(from, b[2 * i + 1]),
                       INT16_MIN, INT16_MAX);
        break;
    case LOOP_PAIRS_S16:
        sum = extend(from, a[2 * i]) * extend(from, b[2 * i]) + extend(from, a[2 * i + 1]) * extend(from, b[2 * i + 1]);
        break;
    case LOOP_ADD_PAIRS:
        sum = extend(from, a[2 * i]) + extend(from, a[2 * i + 1]);
        break;
    default:
        sum = extend(from, a[i]);
        for (uint32_t k = 0; k < 4; k++)
            sum += byte_at(b[i], k, v->op == LOOP_DOT_S8) * byte_at(lanes_of(f, v->args[2])[i], k, true);
        break;
    }
    return cut(element_of(v), sum);
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

/* ---- calls and control ---- */

static bool run_region(struct frame *f, const struct loop_region *region);
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
    return !__builtin_add_overflow(i, extend(element_of(v), v->regions[0].last->args[0]->bits[0]), &next) && next <= to;
}

static bool run_for(struct frame *f, const struct loop_value *v, uint64_t *out)
{
    const enum loop_element element = element_of(v);
    const int64_t to = extend(element, *lanes_of(f, v->args[1]));
    int64_t i = extend(element, *lanes_of(f, v->args[0]));
    bool again = holds(v, i, to);

    if (!again && v->number & LOOP_AT_LEAST_ONCE)
        return REFUSE(f, v, "it is not run once, from %" PRId64 " to %" PRId64, i, to);
    *out = cut(element, i);
    while (again) {
        if (!run_region(f, &v->regions[0]))
            return false;
        if (f->step < 0 || __builtin_add_overflow(i, f->step, &i) || i != extend(element, (uint64_t)i))
            return REFUSE(f, v->regions[0].last, "a step of %" PRId64 " leads nowhere", f->step);
        *out = cut(element, i);
        again = holds(v, i, to);
        if (again && v->number & LOOP_AT_MOST_ONCE)
            return REFUSE(f, v, "it is run more than once, to %" PRId64, to);
    }
    return true;
}

/* Runs what is no operation on values alone. */
static bool run_own(struct frame *f, const struct loop_value *v, uint64_t *out)
{
    switch (v->op) {
    case LOOP_PARAMETER:
        memcpy(out, f->params[v->number], loop_type_lanes(v->type) * sizeof *out);
        return true;
    case LOOP_NUMBER:
        if (v->number >= f->run->launch->number_count - f->first_number)
            return REFUSE(f, v, "there is no such number");
        *out = (uint64_t)f->run->launch->numbers[f->first_number + v->number] &
               (v->type >> 8 == LOOP_I32 ? UINT32_MAX : UINT64_MAX);
        return true;
    case LOOP_TENSOR:
    case LOOP_SCRATCH:
        if (v->op == LOOP_TENSOR && v->number >= f->tensor_count)
            return REFUSE(f, v, "there is no such tensor");
        *out = f->tensors[v->op == LOOP_TENSOR ? v->number : f->tensor_count];
        return true;
    case LOOP_ARRAY:
        return make_array(f, v, out);
    case LOOP_ADDRESS:
        for (uint32_t i = 0; i < loop_type_lanes(v->type); i++)
            out[i] = address_add(*lanes_of(f, v->args[0]), extend(element_of(v->args[1]), lanes_of(f, v->args[1])[i]),
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
    case LOOP_FOR:
        return run_for(f, v, out);
    case LOOP_NEXT:
        f->step = extend(element_of(v->args[0]), *lanes_of(f, v->args[0]));
        return true;
    case LOOP_STOPPED:
    case LOOP_OPAQUE:
        *out = *lanes_of(f, v->args[0]);
        return true;
    case LOOP_SCOPE:
        return run_region(f, &v->regions[0]);
    case LOOP_IF:
        return *lanes_of(f, v->args[0]) ? run_region(f, &v->regions[0]) : v->region_count < 2 || run_region(f, &v->regions[1]);
    case LOOP_RETURN:
        memcpy(f->result, lanes_of(f, v->args[0]), loop_type_lanes(v->args[0]->type) * sizeof *out);
        return true;
    case LOOP_CALL:
        return call(f, v, out);
    case LOOP_ARGUMENTS:
        for (uint32_t i = 0; i < v->arg_count; i++)
            out[i] = *lanes_of(f, v->args[i]);
        return true;
    case LOOP_CALL_KERNEL:
        return call_kernel(f, v);
    default: /* SLOT, PREFETCH */
        return true;
    }
}

static bool run_operation(struct frame *f, const struct loop_value *v)
{
    uint64_t *out = lanes_of(f, v);

    if (!f->run->steps--)
        return REFUSE(f, v, "the budget is used up: does a loop not end?");
    switch (v->op) {
    case LOOP_LOAD:
    case LOOP_LOAD_MASKED:
    case LOOP_GATHER:
        return load(f, v, out);
    case LOOP_STORE:
    case LOOP_STORE_MASKED:
    case LOOP_SCATTER:
        return store(f, v);
    case LOOP_ANY:
    case LOOP_BITCAST:
    case LOOP_SPLAT:
    case LOOP_EXTRACT:
    case LOOP_SHUFFLE:
    case LOOP_PERMUTE:
    case LOOP_PERMUTE2:
        return across_lanes(f, v, out);
    case LOOP_PACK_S16:
    case LOOP_PACK_S8:
    case LOOP_PACK_U8:
    case LOOP_PAIRS_U8_S8:
    case LOOP_PAIRS_S16:
    case LOOP_ADD_PAIRS:
    case LOOP_DOT_U8_S8:
    case LOOP_DOT_S8:
        for (uint32_t i = 0; i < loop_type_lanes(v->type); i++)
            out[i] = byte_lane(f, v, i);
        return true;
    default:
        return v->op >= LOOP_ADD && v->op < LOOP_ADDRESS ? lane_by_lane(f, v, out) : run_own(f, v, out);
    }
}

static bool run_region(struct frame *f, const struct loop_region *region)
{
    for (const struct loop_value *v = region->first; v; v = v->next)
        if (!run_operation(f, v))
            return false;
    return true;
}

/* Gives every value its lanes, of which a slot has one more, and arguments as many as there are operands. */
static uint64_t *make_lanes(const struct loop_function *f)
{
    size_t count = 0;

    for (struct loop_value *v = loop_walk(f, NULL); v; v = loop_walk(f, v)) {
        v->user = (void *)count;
        count += v->op == LOOP_ARGUMENTS ? v->arg_count : loop_type_lanes(v->type) + (v->op == LOOP_SLOT);
    }
    return calloc(count + 1, sizeof(uint64_t));
}

static bool run_function(struct frame *f)
{
    struct run *r = f->run;
    const uint32_t places = r->place_count;
    bool good;

    f->lanes = make_lanes(f->f);
    good = f->lanes ? run_region(f, &f->f->body) : error_out_of_memory(r->error);
    free(f->lanes);
    while (r->place_count > places)
        free(r->places[--r->place_count].memory.bytes);
    return good;
}

bool loop_interpret(const struct loop_module *m, const char *function, const struct loop_launch *launch, struct error *e)
{
    struct run r = {.launch = launch, .steps = launch->budget ? launch->budget : LOOP_BUDGET, .error = e};
    const uint64_t units[2] = {(uint64_t)launch->begin, (uint64_t)launch->end};
    const uint32_t count = launch->tensor_count;
    struct frame f = {.run = &r, .f = loop_function_find(m, function), .tensor_count = count, .params = {&units[0], &units[1]}};
    uint64_t *addresses = calloc(count + 1, sizeof *addresses);
    bool good = addresses || error_out_of_memory(e);

    if (good && (!f.f || !f.f->kernel))
        good = error_set(e, WNNStatus_DataError, "there is no kernel '%s'", function);
    for (uint32_t i = 0; good && i <= count; i++) {
        addresses[i] = (uint64_t)i << OFFSET_BITS;
        good = i < count ? add_place(&r, launch->tensors[i], "tensor", i) : add_place(&r, launch->scratch, "scratch memory", 0);
    }
    f.tensors = addresses;
    good = good && loop_verify(m, e) && run_function(&f);
    free(addresses);
    free(r.places);
    return good;
}

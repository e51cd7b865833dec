/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Implements the table of an object (object.h). */
#include "codegen/object/object.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 1024 }; /* among which a kernel's units may be divided: how many the caller has is known when it runs */

/* How a step calls a kernel. */
struct step_call {
    const struct schedule *schedule; /* NULL: it copies */
    uint32_t structure, first;       /* where its numbers begin */
};

/* The words of one variant at one level while they are written. */
struct steps {
    struct object_table *table;
    const struct object_variant *variant;
    struct step_call *calls; /* by step */
    struct object_row row;
    struct bytes numbers;
    uint32_t move; /* of the next step */
};

/* ---- words ---- */

static void put_op(struct steps *s, enum code_op op, uint32_t locations, int64_t value)
{
    const int64_t word = (int64_t)op + 8 * locations + (value << CODE_VALUE);

    object_row_put(&s->row, word, word);
    s->table->tensors = locations > s->table->tensors ? locations : s->table->tensors;
}

static void put_location(struct steps *s, const struct location *l, uint32_t flags, int64_t distance)
{
    const uint32_t bindings = 2 + (l->kind == LOCATION_OUTPUT ? s->variant->program->input_count : 0);
    const bool constant = l->kind == LOCATION_CONSTANT;
    const uint32_t base = l->kind == LOCATION_ARENA ? 0 : constant ? 1 : bindings + l->slot;
    const int64_t offset = l->offset + (constant ? s->variant->constant_offsets[l->slot] : 0) + distance;
    const int64_t low = base << CODE_BASE | flags;

    object_row_put(&s->row, (int64_t)((uint64_t)offset << s->table->base_bits) | low, low);
}

/* In a loop, iteration i finds a location i * stride further, or, with a first one of its own, (i - 1) * stride from the second
 * iteration on. */
static void put_tensor(struct steps *s, uint32_t step, uint32_t location)
{
    const struct program *p = s->variant->program;
    const struct location *l = &p->steps[step].locations[location];
    const struct program_move *m = p->moves + s->move, *end = p->moves + p->move_count;

    while (m < end && m->step == step && m->location != location)
        m++;
    if (m == end || m->step != step) {
        put_location(s, l, 0, 0);
        return;
    }
    put_location(s, l, CODE_MOVES | (m->has_first ? CODE_FIRST : 0), m->has_first ? -m->stride : 0);
    object_row_put(&s->row, m->stride, 0);
    if (m->has_first)
        put_location(s, &m->first, 0, 0);
}

static void put_step(struct steps *s, uint32_t step)
{
    const struct program *p = s->variant->program;
    const struct program_step *st = &p->steps[step];
    const uint32_t count = st->location_count;
    const struct step_call *call = &s->calls[step];
    const struct schedule *schedule = call->schedule;

    while (s->move < p->move_count && p->moves[s->move].step < step)
        s->move++;
    put_op(s, schedule ? CODE_KERNEL : CODE_COPY, count, schedule ? call->structure : 0);
    for (uint32_t i = 0; i < count; i++)
        put_tensor(s, step, i);
    if (schedule) {
        object_row_put(&s->row,
                       program_kernel_parts(schedule->cost.operations, schedule->cost.bytes, schedule->units, THREADS_MAX), 0);
        object_row_put(&s->row, call->first, call->first);
    }
    object_row_put(&s->row, schedule ? schedule->units : st->locations[0].bytes, 0);
    s->table->copies |= !schedule;
}

static void put_loop(struct steps *s, const struct program_loop *l)
{
    const size_t at = s->row.words.length;

    put_op(s, CODE_LOOP, l->stop ? 1 : 0, 0);
    if (l->stop)
        put_location(s, &s->variant->program->steps[l->stop - 1].locations[1], 0, 0);
    object_row_put(&s->row, l->iterations, 0);
    const size_t begin = s->row.words.length;
    for (uint32_t step = l->first; step < l->first + l->count; step++)
        put_step(s, step);
    put_op(s, CODE_NEXT, 0, 0);
    if (!s->row.failed) {
        *(int64_t *)(void *)(s->row.words.data + at) += (int64_t)(s->row.words.length - begin) / 8 << CODE_VALUE;
        *(int64_t *)(void *)(s->row.keys.data + at) = *(int64_t *)(void *)(s->row.words.data + at);
    }
    s->table->loops = true;
}

static void put_steps(struct steps *s)
{
    const struct program *p = s->variant->program;

    for (uint32_t step = 0, l = 0; step < p->step_count;) {
        if (l < p->loop_count && p->loops[l].first == step) {
            put_loop(s, &p->loops[l]);
            step += p->loops[l++].count;
        } else {
            put_step(s, step++);
        }
    }
    put_op(s, CODE_END, 0, 0);
}

/* ---- kernels ---- */

/* A hash would save nothing here: an object has tens of structures, seldom hundreds. */
uint32_t object_table_kernel(struct object_table *t, uint32_t level, const struct schedule *s, bool *added)
{
    struct arena a = {0};
    char *text = schedule_structure(s, &a), *copy = NULL;
    uint32_t at = 0;

    while (text && at < t->structure_count && (t->structures[at].level != level || strcmp(t->structures[at].text, text) != 0))
        at++;
    if (text && at == t->structure_count && array_extend(&t->structures, at, sizeof *t->structures) && (copy = strdup(text))) {
        t->structures[t->structure_count++] = (struct object_structure){level, copy, s};
        *added = true;
    }
    arena_free(&a);
    return text && at < t->structure_count ? at : UINT32_MAX;
}

/* Finds what the steps call, and lists the numbers of kernels, which come by kernel step. */
static void find_calls(struct steps *s, uint32_t level, struct schedule *const *kernels, bool *added)
{
    const struct program *p = s->variant->program;

    for (uint32_t i = 0; !s->row.failed && i < p->step_count; i++) {
        const struct program_step *st = &p->steps[i];
        struct step_call *call = &s->calls[i];

        if (st->kind != STEP_KERNEL)
            continue;
        if (st->like) {
            *call = s->calls[st->like - 1];
            kernels++;
            continue;
        }
        *call = (struct step_call){*kernels++, 0, (uint32_t)(s->numbers.length / sizeof(int64_t))};
        call->structure = object_table_kernel(s->table, level, call->schedule, added);
        s->row.failed = call->structure == UINT32_MAX || !bytes_append(&s->numbers, call->schedule->numbers.params,
                                                                       call->schedule->numbers.param_count * sizeof(int64_t));
        if (call->schedule->scratch_bytes > s->table->scratch_bytes)
            s->table->scratch_bytes = call->schedule->scratch_bytes;
    }
}

/* ---- classes ---- */

/* Returns the class of these words, or NULL if memory runs out. */
static struct object_class *find_class(struct object_table *t, uint32_t level, uint32_t code_count, const struct bytes *keys)
{
    const uint32_t count = (uint32_t)(keys->length / sizeof(int64_t));
    struct object_class *c = t->classes;

    while (c < t->classes + t->class_count && (c->level != level || c->word_count != count || c->code_count != code_count ||
                                               memcmp(c->keys, keys->data, count * sizeof *c->keys) != 0))
        c++;
    if (c == t->classes + t->class_count) {
        if (!array_extend(&t->classes, t->class_count, sizeof *c))
            return NULL;
        c = &t->classes[t->class_count++];
        *c = (struct object_class){.level = level, .code_count = code_count, .word_count = count};
        c->keys = malloc(count * sizeof *c->keys);
        c->column_of = calloc(count, sizeof *c->column_of);
        if (!c->keys || !c->column_of)
            return NULL;
        memcpy(c->keys, keys->data, count * sizeof *c->keys);
    }
    return c;
}

/* Appends a number to a column that begins like another one; it may be new.  Returns false if memory runs out. */
static bool extend_column(struct object_class *c, uint32_t at, uint32_t like, int64_t word)
{
    const bool added = at == c->column_count;

    if (added && !array_extend(&c->columns, at, sizeof *c->columns))
        return false;
    if (added)
        c->columns[c->column_count++] = (struct bytes){0};
    return (!added || bytes_append(&c->columns[at], c->columns[like].data, c->row_count * sizeof word)) &&
           bytes_append(&c->columns[at], &word, sizeof word);
}

/* Adds words as a row of their class: words of one column that differ become several, which `next` links. */
static bool add_row(struct object_class *c, const int64_t *words)
{
    uint32_t *next = calloc(c->word_count + 1u, sizeof *next);
    bool ok = next != NULL;

    for (uint32_t i = 0; ok && i < c->word_count; i++) {
        const uint32_t like = c->column_of[i];
        uint32_t at = like;

        if (c->column_count && c->columns[at].length > c->row_count * sizeof *words) {
            while (object_column(c, at)[c->row_count] != words[i] && next[at])
                at = next[at];
            c->column_of[i] = at;
            if (object_column(c, at)[c->row_count] == words[i])
                continue;
            at = next[at] = c->column_count;
        }
        ok = extend_column(c, at, like, words[i]);
        c->column_of[i] = at;
    }
    free(next);
    return ok;
}

bool object_table_add_row(struct object_table *t, uint32_t id, uint32_t level, uint32_t code_count, struct object_row *r)
{
    struct object_class *c = r->failed ? NULL : find_class(t, level, code_count, &r->keys);
    const bool ok = c && array_extend(&c->variants, c->row_count, sizeof *c->variants) &&
                    add_row(c, (const int64_t *)(const void *)r->words.data);

    if (ok)
        c->variants[c->row_count++] = id;
    free(r->words.data);
    free(r->keys.data);
    return ok;
}

bool object_table_add(struct object_table *t, const struct object_variant *v, struct schedule *const *const *kernels,
                      bool *keep)
{
    bool ok = true;

    *keep = false;
    t->arena_bytes = v->program->arena_bytes > t->arena_bytes ? v->program->arena_bytes : t->arena_bytes;
    for (uint32_t l = 0; ok && l < t->level_count; l++) {
        struct steps s = {.table = t, .variant = v, .calls = calloc(v->program->step_count + 1u, sizeof *s.calls)};

        if (!s.calls)
            return false;
        find_calls(&s, l, kernels[l], keep);
        put_steps(&s);
        const uint32_t code_count = (uint32_t)(s.row.words.length / sizeof(int64_t));
        for (size_t i = 0; i < s.numbers.length / sizeof(int64_t); i++)
            object_row_put(&s.row, ((int64_t *)(void *)s.numbers.data)[i], 0);
        ok = object_table_add_row(t, v->id, l, code_count, &s.row);
        free(s.calls);
        free(s.numbers.data);
    }
    return ok;
}

void object_table_free(struct object_table *t)
{
    for (uint32_t i = 0; i < t->structure_count; i++)
        free(t->structures[i].text);
    for (uint32_t i = 0; i < t->class_count; i++) {
        struct object_class *c = &t->classes[i];

        for (uint32_t k = 0; k < c->column_count; k++)
            free(c->columns[k].data);
        free(c->keys);
        free(c->column_of);
        free(c->columns);
        free(c->variants);
    }
    free(t->structures);
    free(t->classes);
}

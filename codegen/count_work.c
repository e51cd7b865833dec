/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Counts what a kernel's arithmetic takes of a processor's vector units, in the code that it becomes.
 *
 * It takes a finished kernel and says how many instructions its expressions are, weighed by how often each is needed.
 * Expressions that are needed equally often (those of a row's elements, those of a row) become one function without loops,
 * emitted and optimised like a kernel, and its assembly is counted.  So constants, shared parts and what instruction selection
 * makes of them count as they do in the kernel, and there is no table of costs that could be wrong.  What remains is a lower
 * bound: addresses, masks of guards and whatever is computed again where it is needed once more are left out.  Loads and stores
 * are counted by the kernel's schedule (ir/schedule/schedule_work.c).
 *
 * It serves tools (webnn-bench --steps) and tests of fusion: nothing that is compiled depends on it.
 */
#include <stdlib.h>
#include <string.h>

#include "codegen/llvm/llvm.h"
#include "codegen/llvm/llvm_build.h"
#include "codegen/lower/scalar.h"

/* ---- how often ---- */

struct counting {
    struct machine *m;
    const struct kernel *k;
    const struct schedule *s; /* of k */
    double *points;           /* by expression: how often it is computed; 0: it is no operation */
    struct arena arena;
    struct codegen_work *work;
    struct error *e;
};

static double points_of(const struct kernel *k, uint64_t vars)
{
    double n = 1;

    for (uint32_t i = 0; i < k->var_count; i++)
        n *= vars >> i & 1 ? (double)k->vars[i].size : 1;
    return n;
}

static bool count_points(struct counting *c)
{
    const struct kernel *k = c->k;
    const uint64_t macro_tile = ((uint64_t)1 << k->macro_tile_vars) - 1; /* a stage computes all of it for each of them */
    const uint64_t reduced = (((uint64_t)1 << k->reduced_count) - 1) << k->parallel_count;

    c->points = arena_array(&c->arena, k->expr_count, sizeof *c->points);
    if (!c->points)
        return error_out_of_memory(c->e);
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *x = &k->exprs[i];
        uint64_t vars = macro_tile | x->vars;

        if (x->op == K_REDUCE || x->op == K_SCAN)
            vars |= reduced;
        c->points[i] = x->op == K_CONST || x->op == K_LOAD || x->op == K_INDEX ? 0 : points_of(k, vars);
    }
    c->work->accesses += schedule_count(c->s).accesses;
    return true;
}

/* ---- one function ---- */

struct counted_function {
    struct counting *c;
    struct build m;
    uint32_t lanes;
    double points;  /* of the expressions that it is made of */
    V from, to;     /* where operands come from, and results go */
    V *values;      /* by expression; NULL: not yet */
    uint32_t slots; /* vectors of `from` and `to` in use */
};

static V slot_of(struct counted_function *f, V base)
{
    return op_address(&f->m, type_i8, base, const_int(&f->m, 64, (int64_t)f->slots++ * 512)); /* 64 x 64 bits */
}

/* Returns a value from elsewhere.  Conditions are stored as one bit a lane. */
static V take(struct counted_function *f, enum ktype type)
{
    return op_load(&f->m, type_lanes(type_of(type), f->lanes), slot_of(f, f->from), NULL, 1);
}

static void give(struct counted_function *f, V value)
{
    op_store(&f->m, value, slot_of(f, f->to), NULL, 1);
}

static V operand(struct counted_function *f, uint32_t id)
{
    const struct kexpr *x = &f->c->k->exprs[id];

    if (!f->values[id])
        f->values[id] = x->op == K_CONST && x->type != KT_BOOL
                            ? const_splat(&f->m, const_scalar(&f->m, x->type, x->bits), f->lanes)
                            : take(f, x->type);
    return f->values[id];
}

/* Emits one step of a REDUCE or SCAN.  The accumulator comes from elsewhere and goes there, as if it stayed in a register. */
static V accumulate(struct counted_function *f, const struct kexpr *x)
{
    const enum ktype type = f->c->k->exprs[x->args[0]].type;
    const V a = operand(f, x->args[0]), sum = take(f, type);

    if (x->op == K_REDUCE && x->reduce == KR_DOT)
        return emit_operation(&f->m, K_FMA, type, type, a, operand(f, x->args[1]), sum);
    return emit_operation(&f->m, x->op == K_SCAN ? K_ADD : reduction_operation(x->reduce), type, type, a, sum, NULL);
}

static V compute(struct counted_function *f, const struct kexpr *x)
{
    V args[3] = {NULL, NULL, NULL};

    if (x->op == K_REDUCE || x->op == K_SCAN)
        return accumulate(f, x);
    for (uint32_t i = 0; i < 3 && x->args[i] != KEXPR_NONE; i++)
        args[i] = operand(f, x->args[i]);
    return emit_operation(&f->m, x->op, x->type, f->c->k->exprs[x->args[0]].type, args[0], args[1], args[2]);
}

static bool fill_function(struct counted_function *f)
{
    const struct kernel *k = f->c->k;
    bool *used = arena_array(&f->c->arena, k->expr_count, sizeof *used);

    f->values = arena_array(&f->c->arena, k->expr_count, sizeof *f->values);
    if (!used || !f->values)
        return error_out_of_memory(f->c->e);
    f->from = loop_parameter(f->m.b, 0);
    f->to = loop_parameter(f->m.b, 1);
    for (uint32_t i = 0; i < k->expr_count; i++) {
        const struct kexpr *x = &k->exprs[i];

        if (f->c->points[i] != f->points)
            continue;
        V value = compute(f, x);
        if (x->op == K_REDUCE) { /* what follows it belongs to another phase */
            give(f, value);
            continue;
        }
        f->values[i] = value;
        for (uint32_t a = 0; a < 3 && x->args[a] != KEXPR_NONE; a++)
            used[x->args[a]] = true;
    }
    for (uint32_t i = 0; i < k->expr_count; i++)
        if (f->values[i] && !used[i] && f->c->points[i] == f->points && k->exprs[i].op != K_REDUCE)
            give(f, f->values[i]);
    return !f->m.b->module->failed || error_out_of_memory(f->c->e);
}

/* ---- counting ---- */

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* Returns whether all operands are one register: zeros, all ones, which loops keep in registers. */
static bool is_idiom(const char *operands)
{
    const char *first = strchr(operands, '%');
    size_t length = first ? strcspn(first, ",{ \t\n") : 0;

    for (const char *p = first; p; p = strchr(p + 1, '%'))
        if (strncmp(p, first, length) || strcspn(p, ",{ \t\n") != length)
            return false;
    return first && (strstr(operands, "xor") || strstr(operands, "ternlog"));
}

/*
 * Counts the instructions of x86 that take a vector unit.  Moves take none, and loads and broadcasts from memory take other
 * units.  Code after a branch is seldom needed, or a loop: it does not count.
 */
static void count_assembly(const char *text, double points, struct codegen_work *work)
{
    bool counts = true;

    for (const char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        next = next ? next + 1 : NULL;
        if (*line != '\t' && *line != '.' && *line != '#' && *line != '\n') {
            counts = true; /* a function */
            continue;
        }
        if (*line != '\t' || line[1] == '.' || !counts)
            continue;
        const char *word = line + 1;
        char copy[160];
        snprintf(copy, sizeof copy, "%.*s", (int)strcspn(word, "\n"), word);
        if (*word == 'j')
            counts = false;
        else if ((*word == 'v' || (*word == 'k' && !begins(word, "kmov"))) && !begins(word, "vmov") && !begins(word, "vzero") &&
                 !begins(word, "vbroadcast") && !begins(word, "vpbroadcast") && !is_idiom(copy)) {
            if (begins(word, "vdiv") || begins(word, "vsqrt"))
                work->divisions += points;
            else
                work->instructions += points;
        }
    }
}

static bool count_function(struct counting *c, LLVMContextRef context, LLVMModuleRef module, double points)
{
    struct counted_function f = {.c = c, .points = points, .lanes = c->m->target->isa.vector_bits / 32};
    LLVMMemoryBufferRef assembly = NULL;
    struct loop_module loops = {0};
    struct loop_builder b;

    bool ok = loop_builder_begin(&b, &loops, loop_function_add(&loops, "counted", (T[2]){type_ptr, type_ptr}, 2, 0));
    f.m = (struct build){&b, &c->m->target->isa, 64};
    ok = ok ? fill_function(&f) : error_out_of_memory(c->e);
    if (ok) {
        struct llvm_build m = {
            .context = context, .module = module, .target = c->m->target, .b = LLVMCreateBuilderInContext(context)};
        print_loop(&m, &loops);
        LLVMDisposeBuilder(m.b);
    }
    loop_module_free(&loops);
    ok = ok && machine_optimize(c->m, module, c->e) && machine_generate(c->m, module, LLVMAssemblyFile, false, &assembly, c->e);
    if (!ok)
        return false;
    count_assembly(LLVMGetBufferStart(assembly), points, c->work);
    LLVMDisposeMemoryBuffer(assembly);
    return true;
}

static bool count_kernel(struct counting *c)
{
    bool ok = count_points(c);

    for (uint32_t i = 0; ok && i < c->k->expr_count; i++) {
        bool first = c->points[i] > 0;

        for (uint32_t before = 0; first && before < i; before++)
            first = c->points[before] != c->points[i];
        if (!first)
            continue;
        LLVMContextRef context = LLVMContextCreate();
        LLVMModuleRef module = machine_module(c->m, context, "counted", c->e);
        ok = count_function(c, context, module, c->points[i]);
        LLVMDisposeModule(module);
        LLVMContextDispose(context);
    }
    return ok;
}

static bool count(void *user)
{
    struct counting *c = user;
    const struct kernel *k = c->k;
    const struct schedule *s = c->s;
    bool ok = true;

    if (strncmp(c->m->target->triple, "x86_64", 6) || c->m->target->isa.vector_bits < 256)
        return true; /* unknown: nothing is counted */
    if (!k->stage_count)
        return count_kernel(c);
    for (uint32_t i = 0; ok && i < k->stage_count; i++) {
        c->k = k->stages[i].kernel;
        c->s = s->stages[i];
        if (k->stages[i].when != KSTAGE_NOT_BELOW) /* seldom */
            ok = count_kernel(c);
    }
    return ok;
}

bool count_work(struct machine *m, const struct kernel *k, struct codegen_work *work, struct error *e)
{
    struct schedule *s = schedule_cpu(k, m->target);
    struct counting c = {.m = m, .k = k, .s = s, .work = work, .e = e};

    *work = (struct codegen_work){0};
    bool ok = s ? machine_protect(LLVM_COMPILE, &m->abandoned, count, &c, e) : error_out_of_memory(e);
    schedule_free(s);
    arena_free(&c.arena);
    return ok;
}

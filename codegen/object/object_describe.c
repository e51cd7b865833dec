/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes what an object says about itself, and the functions of an object that leaves its program to libwebnn_rt.
 *
 * The layouts are those of webnn/webnn_object.h and webnn/webnn_rt.h; they are written member by member, so that they come out
 * right for targets with other pointers than this machine's.
 */
#include "codegen/object/object_module.h"

#include <stdlib.h>
#include <string.h>

#include "webnn/webnn_rt.h"

static V null_if_absent(const struct object_module *o, V pointer)
{
    return pointer ? pointer : LLVMConstNull(o->ptr);
}

static V constant_struct(const struct object_module *o, V *members, uint32_t count)
{
    return LLVMConstStructInContext(o->m.context, members, count, false);
}

/* ---- calls of libwebnn_rt ---- */

/* Makes a level's program of webnn_rt.h: kernels, serialized program, constants. */
static V make_rt_program(struct object_module *o, uint32_t level)
{
    const struct object_program *p = o->p;
    const struct object_data *image = &p->levels[level].serialized;
    V *functions = o->kernels + (size_t)level * p->kernel_count;
    V kernels = object_global(o, "kernels", LLVMConstArray2(o->ptr, functions, p->kernel_count), 0, false);
    V serialized = object_bytes(o, "serialized", image->bytes, image->length, TARGET_ALIGNMENT);
    V members[] = {object_number(o, WEBNN_RT_VERSION),
                   object_number(o, p->kernel_count),
                   kernels,
                   serialized,
                   object_size(o, image->length),
                   null_if_absent(o, o->constants),
                   object_size(o, o->constants ? p->constants.length : 0)};
    return constant_struct(o, members, sizeof members / sizeof *members);
}

/* Adds the programs of all levels: one struct, or an array of them. */
static V emit_rt_programs(struct object_module *o)
{
    V programs[OBJECT_LEVELS_MAX];

    for (uint32_t l = 0; l < o->p->level_count; l++)
        programs[l] = make_rt_program(o, l);
    V all = o->level ? LLVMConstArray2(LLVMTypeOf(programs[0]), programs, o->p->level_count) : programs[0];
    return object_global(o, "program", all, 0, false);
}

/* Emits the checks of options that are given: their size is 0 (zeros are meant) or at least that of the first version, which is
 * the one that objects know, and what follows it is zero.  Goes to `wrong` or `right`. */
static void emit_check_options(struct object_module *o, V given, LLVMBasicBlockRef wrong, LLVMBasicBlockRef right)
{
    LLVMBuilderRef b = o->m.b;
    V known = object_size(o, 3 * (LLVMGetIntTypeWidth(o->size) / 8)); /* size_t, uint32_t with padding, a pointer */
    LLVMBasicBlockRef sized = block_append(&o->m, "sized"), more = block_append(&o->m, "more"),
                      unknown = block_append(&o->m, "unknown"), next = block_append(&o->m, "next");

    V size = LLVMBuildLoad2(b, o->size, given, "size");
    LLVMBuildCondBr(b, LLVMBuildIsNull(b, size, ""), right, sized);
    LLVMPositionBuilderAtEnd(b, sized);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, size, known, ""), wrong, more);
    LLVMPositionBuilderAtEnd(b, more);
    V i = LLVMBuildPhi(b, o->size, "i");
    object_branch(o, LLVMBuildICmp(b, LLVMIntULT, i, size, ""), unknown, right);
    V value = LLVMBuildLoad2(b, o->i8, LLVMBuildGEP2(b, o->i8, given, &i, 1, ""), "");
    object_branch(o, LLVMBuildIsNull(b, value, ""), next, wrong);
    V values[2] = {known, LLVMBuildAdd(b, i, object_size(o, 1), "")};
    LLVMBasicBlockRef from[2] = {sized, next};
    LLVMBuildBr(b, more);
    LLVMAddIncoming(i, values, from, 2);
}

/* Writes int PREFIX_create(const struct webnn_object_options *options, PREFIX_model **model), which passes the options on as
 * webnn_rt_options, with the object's default path. */
static void emit_create(struct object_module *o, V programs)
{
    LLVMBuilderRef b = o->m.b;
    T options_type = LLVMStructTypeInContext(o->m.context, (T[]){o->i32, o->ptr}, 2, false);
    T given_type = LLVMStructTypeInContext(o->m.context, (T[]){o->size, o->i32, o->ptr}, 3, false);
    V path = o->p->weights_path ? object_text(o, o->p->weights_path) : LLVMConstNull(o->ptr);

    o->create = object_function(o, "create", o->i32, (T[]){o->ptr, o->ptr}, 2);
    V given = LLVMGetParam(o->create, 0), model = LLVMGetParam(o->create, 1);
    V options = LLVMBuildAlloca(b, options_type, "options");
    V threads_at = LLVMBuildStructGEP2(b, options_type, options, 0, ""),
      path_at = LLVMBuildStructGEP2(b, options_type, options, 1, "");
    LLVMBasicBlockRef wrong = block_append(&o->m, "wrong"), check = block_append(&o->m, "check"),
                      check_options = block_append(&o->m, "check_options"), take = block_append(&o->m, "take"),
                      go = block_append(&o->m, "go");
    LLVMBuildStore(b, object_number(o, 0), threads_at);
    LLVMBuildStore(b, path, path_at);
    object_branch(o, LLVMBuildIsNull(b, model, ""), wrong, check);
    LLVMBuildRet(b, object_number(o, WEBNN_OBJECT_BAD_ARGUMENT));
    LLVMPositionBuilderAtEnd(b, check);
    LLVMBuildCondBr(b, LLVMBuildIsNull(b, given, ""), go, check_options);
    LLVMPositionBuilderAtEnd(b, check_options);
    emit_check_options(o, given, wrong, take);
    LLVMPositionBuilderAtEnd(b, take);
    V threads = LLVMBuildLoad2(b, o->i32, LLVMBuildStructGEP2(b, given_type, given, 1, ""), "threads");
    V other = LLVMBuildLoad2(b, o->ptr, LLVMBuildStructGEP2(b, given_type, given, 2, ""), "path");
    LLVMBuildStore(b, threads, threads_at);
    if (o->p->weights_path) /* an object with its own weights looks at no file */
        LLVMBuildStore(b, LLVMBuildSelect(b, LLVMBuildIsNull(b, other, ""), path, other, ""), path_at);
    LLVMBuildBr(b, go);
    LLVMPositionBuilderAtEnd(b, go);
    LLVMBuildRet(b, object_call(o, object_external(o, "webnn_rt_create", o->i32, (T[]){o->ptr, o->ptr, o->ptr}, 3, false),
                                (V[]){o->level ? object_row(o, programs) : programs, options, model}, 3));
}

static void emit_destroy(struct object_module *o)
{
    T none = LLVMVoidTypeInContext(o->m.context);

    o->destroy = object_function(o, "destroy", none, &o->ptr, 1);
    V model = LLVMGetParam(o->destroy, 0);
    object_call(o, object_external(o, "webnn_rt_destroy", none, &o->ptr, 1, false), &model, 1);
    LLVMBuildRetVoid(o->m.b);
}

/* Writes int PREFIX_run(PREFIX_model *model, inputs..., outputs...). */
static bool emit_model_run(struct object_module *o)
{
    LLVMBuilderRef b = o->m.b;
    const struct object_program *p = o->p;
    T *params = object_run_params(o, 1, &o->ptr);

    if (!params)
        return false;
    o->run = object_function(o, "run", o->i32, params, 1 + p->input_count + p->output_count);
    free(params);
    V model = LLVMGetParam(o->run, 0), missing = LLVMBuildIsNull(b, model, "");
    V inputs = object_pointers(o, o->run, 1, p->input_count, &missing);
    V outputs = object_pointers(o, o->run, 1 + p->input_count, p->output_count, &missing);
    LLVMBasicBlockRef wrong = block_append(&o->m, "wrong"), right = block_append(&o->m, "right");
    object_branch(o, missing, wrong, right);
    LLVMBuildRet(b, object_number(o, WEBNN_OBJECT_BAD_ARGUMENT));
    LLVMPositionBuilderAtEnd(b, right);
    LLVMBuildRet(b, object_call(o, object_external(o, "webnn_rt_run", o->i32, (T[]){o->ptr, o->ptr, o->ptr}, 3, false),
                                (V[]){model, inputs, outputs}, 3));
    return true;
}

bool object_emit_library(struct object_module *o)
{
    emit_create(o, emit_rt_programs(o));
    emit_destroy(o);
    return emit_model_run(o);
}

/* ---- the description ---- */

static V emit_tensors(struct object_module *o, const struct object_tensor *tensors, uint32_t count)
{
    V *values = calloc(count + 1u, sizeof *values);
    T type = NULL;

    if (!values)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct tensor_type *t = &tensors[i].type;
        V dims[RANK_MAX], shape = LLVMConstNull(o->ptr);
        for (uint32_t d = 0; d < t->rank; d++)
            dims[d] = object_number(o, t->dims[d]);
        if (t->rank)
            shape = object_global(o, "shape", LLVMConstArray2(o->i32, dims, t->rank), 0, false);
        V members[] = {object_text(o, tensors[i].name), object_number(o, (uint32_t)t->type), object_number(o, t->rank), shape,
                       llvm_number(&o->m, 64, type_bytes(t))};
        values[i] = constant_struct(o, members, sizeof members / sizeof *members);
        type = LLVMTypeOf(values[i]);
    }
    V array = count ? object_global(o, "tensors", LLVMConstArray2(type, values, count), 0, false) : LLVMConstNull(o->ptr);
    free(values);
    return array;
}

static char *target_text(const struct target *t)
{
    const char *cpu = t->cpu && *t->cpu ? t->cpu : "generic", *features = t->features ? t->features : "";
    size_t size = strlen(t->triple) + strlen(cpu) + strlen(features) + 3;
    char *text = malloc(size);

    if (text)
        snprintf(text, size, "%s %s%s%s", t->triple, cpu, *features ? " " : "", features);
    return text;
}

static V emit_size_names(struct object_module *o)
{
    V names[OBJECT_SIZES_MAX];

    for (uint32_t i = 0; i < o->p->size_count; i++)
        names[i] = object_text(o, o->p->size_names[i]);
    return object_global(o, "size_names", LLVMConstArray2(o->ptr, names, o->p->size_count), 0, false);
}

/* The sizes of each variant. */
static V emit_size_table(struct object_module *o)
{
    V numbers[OBJECT_VARIANTS_MAX * OBJECT_SIZES_MAX];
    uint32_t count = 0;

    for (uint32_t v = 0; v < o->p->variant_count; v++)
        for (uint32_t i = 0; i < o->p->size_count; i++)
            numbers[count++] = object_number(o, o->p->variants[v].sizes[i]);
    return object_global(o, "sizes", LLVMConstArray2(o->i32, numbers, count), 0, false);
}

bool object_emit_description(struct object_module *o)
{
    const struct object_program *p = o->p;
    bool model = p->levels[0].serialized.bytes != NULL, apart = p->weights_path != NULL;
    V inputs = emit_tensors(o, p->inputs, p->input_count), outputs = emit_tensors(o, p->outputs, p->output_count);
    char *target = target_text(o->machine->target), symbol[320];

    if (!inputs || !outputs || !target) {
        free(target);
        return false;
    }
    V members[] = {object_number(o, WEBNN_OBJECT_MAGIC),
                   object_number(o, p->size_count ? WEBNN_OBJECT_SIZES_VERSION : WEBNN_OBJECT_VERSION),
                   object_number(o, 0), /* its own size, below */
                   object_number(o, (model ? WEBNN_OBJECT_HAS_MODEL : 0u) | (apart ? WEBNN_OBJECT_NEEDS_WEIGHTS : 0u)),
                   object_text(o, p->prefix),
                   object_text(o, p->producer),
                   object_text(o, target),
                   object_number(o, p->input_count),
                   object_number(o, p->output_count),
                   inputs,
                   outputs,
                   o->run,
                   null_if_absent(o, o->create),
                   null_if_absent(o, o->destroy),
                   null_if_absent(o, o->workspace_size),
                   null_if_absent(o, o->run_with),
                   null_if_absent(o, o->set_weights),
                   null_if_absent(o, o->load_weights)};
    const uint32_t count = sizeof members / sizeof *members;
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(o->machine->tm);
    members[2] = object_number(o, LLVMABISizeOfType(layout, LLVMTypeOf(constant_struct(o, members, count))));
    LLVMDisposeTargetData(layout);
    free(target);
    snprintf(symbol, sizeof symbol, "%s_object", p->prefix);
    V whole = constant_struct(o, members, count);
    if (p->size_count) {
        V sizes[] = {whole, object_number(o, p->size_count), object_number(o, p->variant_count), emit_size_names(o),
                     emit_size_table(o)};
        whole = constant_struct(o, sizes, sizeof sizes / sizeof *sizes);
    }
    V description = object_global(o, symbol, whole, 0, false);
    LLVMSetLinkage(description, LLVMExternalLinkage);
    if (p->shared)
        LLVMAddAlias2(o->m.module, LLVMTypeOf(whole), 0, description, WEBNN_OBJECT_SYMBOL);
    return true;
}

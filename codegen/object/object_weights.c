/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes the functions for constants of a standalone object that lie in a file of their own.
 *
 *   int PREFIX_set_weights(const void *file, size_t bytes)   takes bytes that the caller has in memory (64-byte aligned)
 *   int PREFIX_load_weights(const char *path)                maps the file, where the target has files; NULL: where webnnc
 * wrote it
 *
 * Both hold the file's header (struct object_weights) against the object's.  A run that finds no weights loads them from where
 * webnnc wrote them.  The one thing that such an object remembers is the constants' address; it is stored atomically.
 */
#include "codegen/object/object_module.h"

#include <string.h>

enum {
    /* These numbers are the same on Linux, the BSDs and macOS. */
    FILE_READ_ONLY = 0,
    FILE_SEEK_END = 2,
    MAP_READ = 1,
    MAP_PRIVATELY = 2
};

static bool has_files(const struct object_module *o)
{
    static const char *const systems[] = {"linux",  "darwin",  "macos",     "ios",    "freebsd",
                                          "netbsd", "openbsd", "dragonfly", "android"};

    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (strstr(o->machine->target->triple, systems[i]))
            return true;
    return false;
}

static V address_of(const struct object_module *o)
{
    return LLVMGetNamedGlobal(o->m.module, "weights");
}

/* Returns an i1 that says whether a file's header is the one that belongs to the object. */
static V emit_check(struct object_module *o, V file)
{
    LLVMBuilderRef b = o->m.b;
    struct object_weights header = {OBJECT_WEIGHTS_MAGIC, o->p->constants.length, o->p->weights_checksum};
    const char *expected = (const char *)&header;
    V same = llvm_number(&o->m, 1, 1);

    for (uint32_t i = 0; i < sizeof header; i += 8) {
        uint64_t word;
        memcpy(&word, expected + i, sizeof word);
        V found = LLVMBuildLoad2(b, o->i64, object_offset(o, file, llvm_number(&o->m, 64, i)), "");
        LLVMSetAlignment(found, 1);
        same = LLVMBuildAnd(b, same, LLVMBuildICmp(b, LLVMIntEQ, found, llvm_number(&o->m, 64, (int64_t)word), ""), "");
    }
    return same;
}

static void emit_set(struct object_module *o)
{
    LLVMBuilderRef b = o->m.b;
    V f = object_function(o, "set_weights", o->i32, (T[]){o->ptr, o->size}, 2), file = LLVMGetParam(f, 0),
      bytes = LLVMGetParam(f, 1);

    o->set_weights = f;
    LLVMBasicBlockRef wrong = block_append(&o->m, "wrong"), read = block_append(&o->m, "read"),
                      right = block_append(&o->m, "right");
    V address = LLVMBuildPtrToInt(b, file, o->size, "");
    V usable = LLVMBuildICmp(b, LLVMIntEQ, bytes, object_size(o, OBJECT_WEIGHTS_HEADER + o->p->constants.length), "");
    usable = LLVMBuildAnd(b, usable, LLVMBuildIsNotNull(b, file, ""), "");
    V aligned = LLVMBuildAnd(b, address, object_size(o, 63), "");
    usable = LLVMBuildAnd(b, usable, LLVMBuildICmp(b, LLVMIntEQ, aligned, object_size(o, 0), ""), "");
    object_branch(o, usable, read, wrong);
    object_branch(o, emit_check(o, file), right, wrong);
    V store = LLVMBuildStore(b, object_offset(o, file, llvm_number(&o->m, 64, OBJECT_WEIGHTS_HEADER)), address_of(o));
    LLVMSetOrdering(store, LLVMAtomicOrderingRelease);
    LLVMSetAlignment(store, 8);
    LLVMBuildRet(b, object_number(o, WEBNN_OBJECT_OK));
    object_return(o, wrong, WEBNN_OBJECT_BAD_WEIGHTS);
}

/* Writes the function that opens, measures, maps and closes a file; one that is not the right file is unmapped again. */
static void emit_load(struct object_module *o)
{
    LLVMBuilderRef b = o->m.b;
    V f = object_function(o, "load_weights", o->i32, (T[]){o->ptr}, 1);

    o->load_weights = f;
    LLVMBasicBlockRef opened = block_append(&o->m, "opened"), mapped = block_append(&o->m, "mapped"),
                      wrong = block_append(&o->m, "wrong"), done = block_append(&o->m, "done"),
                      fail = block_append(&o->m, "fail");
    V given = LLVMGetParam(f, 0);
    V path = LLVMBuildSelect(b, LLVMBuildIsNull(b, given, ""), object_text(o, o->p->weights_path), given, "");
    V file = object_call(o, object_external(o, "open", o->i32, (T[]){o->ptr, o->i32}, 2, true),
                         (V[]){path, object_number(o, FILE_READ_ONLY)}, 2);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, file, object_number(o, 0), ""), fail, opened);

    LLVMPositionBuilderAtEnd(b, opened);
    V bytes = object_call(o, object_external(o, "lseek", o->size, (T[]){o->i32, o->size, o->i32}, 3, false),
                          (V[]){file, object_size(o, 0), object_number(o, FILE_SEEK_END)}, 3);
    V memory =
        object_call(o, object_external(o, "mmap", o->ptr, (T[]){o->ptr, o->size, o->i32, o->i32, o->i32, o->size}, 6, false),
                    (V[]){LLVMConstNull(o->ptr), bytes, object_number(o, MAP_READ), object_number(o, MAP_PRIVATELY), file,
                          object_size(o, 0)},
                    6);
    object_call(o, object_external(o, "close", o->i32, &o->i32, 1, false), &file, 1);
    V failed = LLVMConstIntToPtr(LLVMConstAllOnes(o->size), o->ptr);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, memory, failed, ""), fail, mapped);

    LLVMPositionBuilderAtEnd(b, mapped);
    V set_args[2] = {memory, bytes}, result = object_call(o, o->set_weights, set_args, 2);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, result, object_number(o, WEBNN_OBJECT_OK), ""), done, wrong);
    LLVMPositionBuilderAtEnd(b, wrong);
    object_call(o, object_external(o, "munmap", o->i32, (T[]){o->ptr, o->size}, 2, false), (V[]){memory, bytes}, 2);
    LLVMBuildBr(b, fail);
    object_return(o, done, WEBNN_OBJECT_OK);
    object_return(o, fail, WEBNN_OBJECT_BAD_WEIGHTS);
}

void object_emit_weights(struct object_module *o)
{
    object_global(o, "weights", LLVMConstNull(o->ptr), 8, true);
    emit_set(o);
    if (has_files(o))
        emit_load(o);
}

static V load_address(struct object_module *o)
{
    V loaded = LLVMBuildLoad2(o->m.b, o->ptr, address_of(o), "");
    LLVMSetOrdering(loaded, LLVMAtomicOrderingAcquire);
    LLVMSetAlignment(loaded, 8);
    return loaded;
}

V object_constants(struct object_module *o, LLVMBasicBlockRef fail)
{
    LLVMBuilderRef b = o->m.b;

    if (o->constants)
        return o->constants;
    LLVMBasicBlockRef first = LLVMGetInsertBlock(b), there = block_append(&o->m, "there"), absent = NULL;
    V known = load_address(o), address;
    LLVMBasicBlockRef otherwise = o->load_weights ? (absent = block_append(&o->m, "absent")) : fail;
    LLVMBuildCondBr(b, LLVMBuildIsNull(b, known, ""), otherwise, there);
    LLVMPositionBuilderAtEnd(b, there);
    address = LLVMBuildPhi(b, o->ptr, "constants");
    LLVMAddIncoming(address, &known, &first, 1);
    if (absent) {
        LLVMPositionBuilderAtEnd(b, absent);
        V none = LLVMConstNull(o->ptr), result = object_call(o, o->load_weights, &none, 1), loaded = load_address(o);
        LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, result, object_number(o, WEBNN_OBJECT_OK), ""), there, fail);
        LLVMAddIncoming(address, &loaded, &absent, 1);
        LLVMPositionBuilderAtEnd(b, there);
    }
    return address;
}

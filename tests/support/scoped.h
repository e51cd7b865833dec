/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Variables that are freed at the end of their scope, in the reverse order of their declarations:
 *
 *   OWNED(graph) struct graph *g = parse_body(body);
 *   SCOPED(arena_free) struct arena a = {0};
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "webnn/webnn.h"
#include "webnn/webnn_call.h"
#include "webnn/webnn_model.h"

/** Before a declaration: the function gets the variable's address. */
#define SCOPED(function) __attribute__((cleanup(function)))

/** The same with a function that DROPS defines for variables which hold what `release` frees. */
#define OWNED(name) SCOPED(drop_##name)
#define DROPS(name, type, release)                                                                                             \
    static inline void drop_##name(type *variable)                                                                             \
    {                                                                                                                          \
        release(*variable);                                                                                                    \
    }
#define DROPS_STRUCT(name)                                                                                                     \
    struct name;                                                                                                               \
    void name##_free(struct name *);                                                                                           \
    DROPS(name, struct name *, name##_free)

struct constant;
struct cJSON;
DROPS_STRUCT(graph)
DROPS_STRUCT(kernel)
DROPS_STRUCT(schedule)
DROPS_STRUCT(codegen_kernels)
void cJSON_Delete(struct cJSON *);
DROPS(json, struct cJSON *, cJSON_Delete)
void constant_release(struct constant *);
DROPS(constant, struct constant *, constant_release)
DROPS(context, WNNContext, wnnContextRelease)
DROPS(builder, WNNGraphBuilder, wnnGraphBuilderRelease)
DROPS(compiled, WNNGraph, wnnGraphRelease)
DROPS(tensor, WNNTensor, wnnTensorRelease)
DROPS(model, WNNModel, wnnModelRelease)
DROPS(dynamic_model, WNNDynamicModel, wnnDynamicModelRelease)
DROPS(call, WNNMethodCall, wnnMethodCallDestroy)
DROPS(file, FILE *, fclose)

/** The variable is any pointer to memory of malloc. */
static inline void drop_memory(void *variable)
{
    free(*(void **)variable);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/plugin/functions.h"
#include "webnn_build.h"

extern const struct codegen_plugin CODEGEN_PLUGIN;
__attribute__((visibility("default"))) const struct codegen_plugin CODEGEN_PLUGIN = {.build = WEBNN_BUILD,
#define ENTRY(name) .name = name,
                                                                                     CODEGEN_HOST_FUNCTIONS(ENTRY)
#ifndef WEBNN_HOST_ONLY
                                                                                         CODEGEN_OBJECT_FUNCTIONS(ENTRY)
#endif
#undef ENTRY
};

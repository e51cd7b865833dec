/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * oneDNN's functions, through a table: the shared libraries load oneDNN when the first library is created, and a program that
 * never needs it never maps it.  Static libraries fill the table by linking (onednn_functions.c).
 */
#pragma once

#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl_debug.h>

#include "ir/support/error.h"

#define ONEDNN_FUNCTIONS(F)                                                                                                    \
    F(data_type_size)                                                                                                          \
    F(engine_create)                                                                                                           \
    F(engine_destroy)                                                                                                          \
    F(engine_get_count)                                                                                                        \
    F(get_effective_cpu_isa)                                                                                                   \
    F(memory_create)                                                                                                           \
    F(memory_desc_equal)                                                                                                       \
    F(memory_desc_get_size)                                                                                                    \
    F(memory_destroy)                                                                                                          \
    F(memory_set_data_handle)                                                                                                  \
    F(post_ops_append_binary)                                                                                                  \
    F(post_ops_append_eltwise)                                                                                                 \
    F(post_ops_append_sum)                                                                                                     \
    F(post_ops_create)                                                                                                         \
    F(post_ops_destroy)                                                                                                        \
    F(primitive_attr_create)                                                                                                   \
    F(primitive_attr_destroy)                                                                                                  \
    F(primitive_attr_set_post_ops)                                                                                             \
    F(primitive_attr_set_scratchpad_mode)                                                                                      \
    F(primitive_create)                                                                                                        \
    F(primitive_desc_destroy)                                                                                                  \
    F(primitive_desc_query)                                                                                                    \
    F(primitive_desc_query_md)                                                                                                 \
    F(primitive_destroy)                                                                                                       \
    F(primitive_execute)                                                                                                       \
    F(reorder_primitive_desc_create)                                                                                           \
    F(set_jit_dump)                                                                                                            \
    F(set_jit_profiling_flags)                                                                                                 \
    F(set_max_cpu_isa)                                                                                                         \
    F(set_verbose)                                                                                                             \
    F(status2str)                                                                                                              \
    F(stream_create)                                                                                                           \
    F(stream_destroy)                                                                                                          \
    F(stream_wait)                                                                                                             \
    F(version)

#if DNNL_VERSION_MAJOR >= 3
#define ONEDNN_FUNCTIONS_OF_VERSION(F)                                                                                         \
    F(convolution_forward_primitive_desc_create)                                                                               \
    F(deconvolution_forward_primitive_desc_create)                                                                             \
    F(matmul_primitive_desc_create)                                                                                            \
    F(memory_desc_clone)                                                                                                       \
    F(memory_desc_create_with_blob)                                                                                            \
    F(memory_desc_create_with_strides)                                                                                         \
    F(memory_desc_create_with_tag)                                                                                             \
    F(memory_desc_destroy)                                                                                                     \
    F(memory_desc_get_blob)                                                                                                    \
    F(memory_desc_query)                                                                                                       \
    F(primitive_attr_set_scales_mask)                                                                                          \
    F(primitive_attr_set_zero_points_mask)                                                                                     \
    F(primitive_desc_next_impl)
#else
#define ONEDNN_FUNCTIONS_OF_VERSION(F)                                                                                         \
    F(dilated_convolution_forward_desc_init)                                                                                   \
    F(dilated_deconvolution_forward_desc_init)                                                                                 \
    F(matmul_desc_init)                                                                                                        \
    F(memory_desc_init_by_strides)                                                                                             \
    F(memory_desc_init_by_tag)                                                                                                 \
    F(primitive_attr_set_output_scales)                                                                                        \
    F(primitive_attr_set_zero_points)                                                                                          \
    F(primitive_desc_iterator_create)                                                                                          \
    F(primitive_desc_iterator_destroy)                                                                                         \
    F(primitive_desc_iterator_fetch)                                                                                           \
    F(primitive_desc_iterator_next)
#endif

/** Has a pointer for each function that is called, without its "dnnl_"; those of oneDNN's interface to OpenCL are found where
 * they are needed. */
struct onednn_functions {
#define ONEDNN_MEMBER(name) __typeof__(dnnl_##name) *name;
    ONEDNN_FUNCTIONS(ONEDNN_MEMBER)
    ONEDNN_FUNCTIONS_OF_VERSION(ONEDNN_MEMBER)
#undef ONEDNN_MEMBER
};

/** The table, which onednn_load fills before any call of oneDNN. */
extern struct onednn_functions onednn;

/** Loads oneDNN unless that is done.  Any thread may call it.  Returns false after an error in *e, which names the file and
 * what to install. */
bool onednn_load(struct error *e);
/** Returns a function of oneDNN's that is not in the table, or NULL.  onednn_load has succeeded. */
void *onednn_find(const char *name);

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits a kernel with its schedule as LLVM IR.  The function has this form:
 *
 *   for each unit: the PARALLEL variables other than the vector variable     units.c
 *     for each vector (or few vectors) of the vector variable, if that is PARALLEL     loop.c
 *       for each phase: loops over the REDUCED variables     phase.c, accumulate.c
 *       stores     memory.c, transpose.c
 *     or, of a contraction: for each register tile     microkernel.c, operand.c
 *
 * It takes a schedule and a module, and adds void name(const struct kernel_args *, int64_t begin, int64_t end) to it.  Only
 * what schedule_structure shows may shape the code; all other numbers are read from the parameters.
 *
 * The files have an order: each calls only those above it in this list (tests/structure/check_structure.sh), and includes only
 * their headers.
 *
 *   build, type                             types, constants, instructions; they know no kernel
 *   avx512, integer, native                 scalar operations that are an instruction or a few
 *   expand, convert, operation              expansions (ir/expansion), low-precision floats, any scalar operation
 *   quantise                                operations that make bytes, together
 *   analysis                                what is known of the kernel
 *   frame, context, emitter                 where code goes, for which elements, and what has been emitted
 *   loop                                    loops over one variable
 *   index                                   numbers, variables, affine forms
 *   operand                                 the operands of a register tile
 *   guard, window, strided                  conditions of loads and stores, where windows need none, loads of every second
 *                                           element
 *   memory, transpose, accumulate           loads and stores, in-register transposes, accumulators
 *   expression                              values of expressions
 *   phase, microkernel                      all for one point or vector of points, and for one register tile
 *   register_tiles, units                   all tiles of a unit, and loops over units
 *   function, stages, emit                  the function of a kernel, kernels of stages, the way in
 */
#include "codegen/emit/emit.h"

#include "codegen/emit/function.h"
#include "codegen/emit/stages.h"

bool emit_kernel(const struct build *m, const struct schedule *s, const char *name, struct error *error)
{
    return s->kernel->stage_count ? emit_stages(m, s, name, error) : emit_function(m, s, name, error);
}

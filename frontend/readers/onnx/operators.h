/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the importers in C that the table (operators.def) names; operators_*.c have them.
 */
#pragma once

#include "frontend/readers/onnx/compose.h"

#define TERM(text)
#define IMPORT(name) bool onnx_import_##name(struct onnx_node *n);
#define ONNX(name, versions, inputs, outputs, flags, note, how) how
#define MICROSOFT ONNX
#define NCHWC ONNX
#define REFUSED(domain, name, reason)
#include "frontend/readers/onnx/operators.def"
#include "frontend/readers/onnx/operators_places.def"
#undef TERM
#undef IMPORT
#undef ONNX
#undef MICROSOFT
#undef NCHWC
#undef REFUSED

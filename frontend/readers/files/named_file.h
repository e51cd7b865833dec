/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Opens files that a model names: weights next to it, arrays of a manifest, external data of ONNX.
 *
 * A model must not make the reader open anything else than regular files of the model's folder.  Absolute names
 * and names that lead out of the folder by ".." are refused.  A symbolic link inside the folder is followed if it is relative
 * and leads to a file of the folder, else it is refused.  Devices, pipes and sockets are refused and never waited for.
 */
#pragma once

/**
 * Opens a regular file of a folder ("" is the working directory) for reading.  Returns its descriptor, or -1; then *why, in
 * static memory, says why.
 */
int named_file_open(const char *folder, const char *name, const char **why);

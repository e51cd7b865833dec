/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads public structs of any version.
 */
#include "ir/support/struct_size.h"

#include <stdio.h>
#include <string.h>

const char *struct_read(void *out, const void *given, const struct known_struct *known, char *text, size_t text_size)
{
    const unsigned char *bytes = given;
    size_t size;

    memcpy(&size, given, sizeof size);
    memcpy(out, known->defaults, known->size);
    if (size && size < known->first_size) {
        snprintf(text, text_size, "structSize is %zu, less than the %zu bytes of the first version; begin with %s", size,
                 known->first_size, known->init);
        return text;
    }
    if (!size)
        memcpy(out, given, known->first_size);
    else
        memcpy(out, given, size < known->size ? size : known->size);
    for (size_t i = known->size; i < size; i++)
        if (bytes[i]) {
            snprintf(text, text_size,
                     "structSize is %zu, and after the %zu bytes that this version of the library knows come options that it "
                     "does not; leave them at zero, or use the library that belongs to the program's webnn.h",
                     size, known->size);
            return text;
        }
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes errors, which are a status with its message. */
#include "ir/support/error.h"

#include "ir/support/text.h"

/* Cuts an incomplete character off the end of a message that vsnprintf had to shorten. */
static void trim_partial_character(char *message)
{
    size_t length = strlen(message), start = length;

    while (start > 0 && length - start < 3 && ((unsigned char)message[start - 1] & 0xC0) == 0x80)
        start--;
    if (start > 0 && (unsigned char)message[start - 1] >= 0xC0) {
        uint32_t code;
        if (!utf8_decode(message + start - 1, length - start + 1, &code))
            message[start - 1] = '\0';
    }
}

bool error_set(struct error *e, WNNStatus status, const char *format, ...)
{
    if (e->status != WNNStatus_Success)
        return false;

    int length;
    WITH_ARGUMENTS(format, length = vsnprintf(e->message, sizeof e->message, format, arguments));
    if (length < 0)
        e->message[0] = '\0';
    else if ((size_t)length >= sizeof e->message)
        trim_partial_character(e->message);
    e->status = status;
    return false;
}

bool error_out_of_memory(struct error *e)
{
    return error_set(e, WNNStatus_UnknownError, "out of memory");
}

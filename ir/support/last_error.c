/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Holds the library's public functions about errors, with the calling thread's last message.  They are apart from
 * ir/support/error.c, because there may be one such message only, while readers of files, outside the library, have a copy of
 * the lexer and what it needs.
 */
#include "ir/support/error.h"

#include <string.h>

char const *wnnStatusGetName(WNNStatus status)
{
    static const char *const names[] = {
        [WNNStatus_Success] = "Success",
        [WNNStatus_TypeError] = "TypeError",
        [WNNStatus_InvalidStateError] = "InvalidStateError",
        [WNNStatus_OperationError] = "OperationError",
        [WNNStatus_UnknownError] = "UnknownError",
        [WNNStatus_NotSupportedError] = "NotSupportedError",
        [WNNStatus_DataError] = "DataError",
        [WNNStatus_TimedOut] = "TimedOut",
    };

    return (unsigned)status < sizeof names / sizeof *names && names[status] ? names[status] : "unknown status";
}

/* This is a plain buffer rather than an allocation, so that there is nothing to free when a thread ends. */
static _Thread_local char last_message[sizeof((struct error *)0)->message];

WNNStringView wnnGetLastErrorMessage(void)
{
    WNNStringView view = {last_message, strlen(last_message)};
    return view;
}

char const *wnnGetVersion(void)
{
    return WEBNN_VERSION;
}

WNNStatus error_publish(const struct error *e)
{
    if (e->status != WNNStatus_Success)
        memcpy(last_message, e->message, sizeof last_message);
    return e->status;
}

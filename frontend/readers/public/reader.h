/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Internals of libwebnn_model: messages, and options as the readers of frontend/readers take them. */
#pragma once

#include "frontend/readers/files/npy.h"
#include "frontend/readers/source.h"
#include "webnn/webnn_model.h"

/** Makes e's message the thread's last one (wnnModelGetLastErrorMessage), unless e is a success.  Returns its status. */
WNNStatus reader_publish(const struct error *e);
/** Does the same with a TypeError. */
WNNStatus reader_refuse(const char *format, ...) PRINTF_LIKE(1, 2);
/** Refuses an argument of this function that must not be NULL. */
#define REFUSE_NULL(argument)                                                                                                  \
    do {                                                                                                                       \
        if (!(argument))                                                                                                       \
            return reader_refuse("%s: " #argument " is NULL", __func__);                                                       \
    } while (0)
/** Does the same with "out of memory". */
WNNStatus reader_no_memory(void);
/** Returns a view of a text that may be NULL. */
WNNStringView reader_view(const char *text);

/** Holds the options as the readers take them; names are copied, since theirs end with a NUL.  arena_free frees it. */
struct request {
    struct arena memory;
    struct model_options options;
    struct model_dim *dims;
    struct model_shape *shapes;
    struct model_constant *constants;
    struct model_binding *bindings;
    struct npy_array *arrays; /* of the constants; their elements are the caller's, unless they were kept */
    const char **outputs;
    WNNDimension *names;
};

/** Makes the readers' options of a request of zeros.  Returns a TypeError or UnknownError after a message. */
WNNStatus request_make(struct request *r, const WNNModelOptions *given);

/** Returns a description of an open model, with one reference, or NULL after an error in *e. */
WNNModelInfo info_create(const struct model_source *source, struct error *e);
/** Returns what the readers said of the model. */
const struct model_description *info_description(WNNModelInfo info);

/** Copies what constants of a request hold, so that it outlives the program's options. */
bool request_keep_constants(struct request *r);

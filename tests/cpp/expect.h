/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#include <atomic>
#include <cstdio>
#include <string>

#include <webnn/webnn.hpp>

static std::atomic<int> failures;

#define EXPECT(condition)                                                                                                      \
    do {                                                                                                                       \
        if (!(condition)) {                                                                                                    \
            std::fprintf(stderr, "%s:%d: %s is not so\n", __FILE__, __LINE__, #condition);                                     \
            failures++;                                                                                                        \
        }                                                                                                                      \
    } while (0)

/** Returns the message of the error that a function throws, whose status must be that one. */
template <class Work> std::string error_of(WNNStatus status, Work work)
{
    try {
        work();
    } catch (webnn::Error const &error) {
        EXPECT(error.status() == status);
        EXPECT(std::string(error.name()) == wnnStatusGetName(status));
        return error.what();
    }
    EXPECT(!"an error is thrown");
    return "";
}

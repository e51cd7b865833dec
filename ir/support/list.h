/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Links items in both directions, by two of their members: "next" and "previous", whatever they are called. */
#pragma once

/** Makes an item that is in no list the first one of a list. */
#define LIST_ADD(first, item, next, previous)                                                                                  \
    do {                                                                                                                       \
        (item)->next = (first);                                                                                                \
        if (first)                                                                                                             \
            (first)->previous = (item);                                                                                        \
        (first) = (item);                                                                                                      \
    } while (0)

/** Removes an item, which may be in no list. */
#define LIST_REMOVE(first, item, next, previous)                                                                               \
    do {                                                                                                                       \
        if ((item)->previous)                                                                                                  \
            (item)->previous->next = (item)->next;                                                                             \
        else if ((first) == (item))                                                                                            \
            (first) = (item)->next;                                                                                            \
        if ((item)->next)                                                                                                      \
            (item)->next->previous = (item)->previous;                                                                         \
    } while (0)

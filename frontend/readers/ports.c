/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/readers/ports.h"

#include "ir/support/text.h"

bool ports_index(struct model_port *ports, size_t count, struct name_map *index)
{
    for (size_t i = 0; i < count; i++)
        if (name_map_add(index, ports[i].name, strlen(ports[i].name), &ports[i]) == NAME_MAP_OUT_OF_MEMORY)
            return false;
    return true;
}

const struct model_port *ports_find(const struct name_map *index, WNNStringView name)
{
    return name_map_find(index, name.data, name.length);
}

bool ports_is_count(WNNStringView name, WNNStringView *of, size_t *dimension)
{
    static const char middle[] = ".shape[";
    const size_t length = view_length(name), tail = sizeof middle + 1;

    if (length <= tail || memcmp(name.data + length - tail, middle, sizeof middle - 1) != 0 || name.data[length - 1] != ']' ||
        name.data[length - 2] < '0' || name.data[length - 2] > '9')
        return false;
    *of = (WNNStringView){name.data, length - tail};
    *dimension = (size_t)(name.data[length - 2] - '0');
    return true;
}

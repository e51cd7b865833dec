/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/readers/ports.h"

#include <string.h>

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

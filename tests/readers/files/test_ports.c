/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A model's ports are found by their names, and not by looking at one after the other. */
#include "frontend/readers/ports.h"
#include "support/test.h"
#include "support/work_counter.h"

static struct model_port *many_ports(size_t count)
{
    struct model_port *ports = calloc(count, sizeof *ports);

    assert_non_null(ports);
    for (size_t i = 0; i < count; i++) {
        char name[32];

        snprintf(name, sizeof name, "input_%06zu", i);
        assert_non_null(ports[i].name = strdup(name));
    }
    return ports;
}

static void free_ports(struct model_port *ports, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(ports[i].name);
    free(ports);
}

TEST(names_are_found)
{
    char first[] = "x", again[] = "x", empty[] = "", longer[] = "xy";
    struct model_port ports[] = {{.name = first}, {.name = again}, {.name = empty}, {.name = longer}};
    SCOPED(name_map_free) struct name_map index = {0};

    assert_true(ports_index(ports, 4, &index));
    assert_ptr_equal(ports_find(&index, (WNNStringView){"xyz", 1}), &ports[0]); /* of two with one name the first */
    assert_ptr_equal(ports_find(&index, (WNNStringView){"xyz", 2}), &ports[3]);
    assert_ptr_equal(ports_find(&index, (WNNStringView){"", 0}), &ports[2]);
    assert_null(ports_find(&index, (WNNStringView){"xyz", 3}));
}

/* What finding every port takes, by the index or by looking at one after the other. */
static double work_of(struct model_port *ports, size_t count, bool by_index)
{
    SCOPED(work_counter_close) struct work_counter c = work_counter_open();
    const double before = work_counter_read(&c);
    struct name_map index = {0};

    assert_true(!by_index || ports_index(ports, count, &index));
    for (size_t i = 0; i < count; i++) {
        const WNNStringView name = {ports[i].name, strlen(ports[i].name)};
        const struct model_port *found = by_index ? ports_find(&index, name) : NULL;

        for (size_t k = 0; !by_index && !found; k++)
            found = strlen(ports[k].name) == name.length && !memcmp(ports[k].name, name.data, name.length) ? &ports[k] : NULL;
        assert_ptr_equal(found, &ports[i]);
    }
    name_map_free(&index);
    const double work = work_counter_read(&c) - before;
    return work;
}

TEST(ports_are_not_searched_one_by_one)
{
    enum { COUNT = 4000 }; /* half of them are looked at by a search, on average */
    struct model_port *ports = many_ports(COUNT);
    const double indexed = work_of(ports, COUNT, true), searched = work_of(ports, COUNT, false);

    free_ports(ports, COUNT);
    if (indexed > searched / 4)
        fail_msg("finding %d ports by the index takes %g, by looking at all of them %g", COUNT, indexed, searched);
}

/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Random graphs, lowered node by node, in the clusters that lower_can_join allows, and all in one cluster, against the
 * reference interpreter.  A failure prints its seed: LOWER_SEED=n runs that graph alone, LOWER_COUNT=n as many from there.
 */
#include "support/small_graphs.h"

TEST(random_graphs_agree)
{
    const char *seed_text = getenv("LOWER_SEED"), *count_text = getenv("LOWER_COUNT");
    const uint64_t first = seed_text ? strtoull(seed_text, NULL, 0) : 1;
    const uint64_t count = count_text ? strtoull(count_text, NULL, 0) : seed_text ? 1 : 1500;
    uint32_t all_nodes = 0, all_kernels = 0;

    for (uint64_t seed = first; seed < first + count; seed++) {
        for (int mode = 0; mode < 3; mode++) {
            struct error e = {0};
            struct kernel_list list;
            random_seed(seed);
            struct graph *g = random_graph();
            if (mode == 1)
                cluster_greedily(g);
            else
                kernels_cluster_nodes(g, mode == 2);
            /* Nodes that no pass would join need not make kernels together. */
            if (mode == 2 && !lower_cluster(g, g->first_cluster, NULL, &list, &e)) {
                if (e.status != WNNStatus_OperationError || strstr(e.message, "internal")) {
                    OWNED(memory) char *text = print_to_string(g);
                    print_error("LOWER_SEED=%llu: %s\n%s", (unsigned long long)seed, e.message, text);
                    fail();
                }
                graph_free(g);
                continue;
            }
            if (mode == 2)
                kernel_list_free(&list);
            uint32_t kernels = kernels_check_graph(g, NULL, seed % 3 == 0, kernel_interpret);
            if (!kernels)
                print_error("LOWER_SEED=%llu (mode %d)\n", (unsigned long long)seed, mode);
            assert_int_not_equal(kernels, 0);
            if (mode == 1) {
                all_kernels += kernels;
                all_nodes += g->node_count;
            }
            graph_free(g);
        }
    }
    print_message("%u nodes in %u kernels\n", all_nodes, all_kernels);
    assert_true(seed_text || all_kernels < all_nodes);
}

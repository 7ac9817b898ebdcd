// oneTBB's flow graph on the grids of bench/metg.h: peer_metg_tbb PATTERN WIDTH STEPS ROUNDS THREADS prints seconds.
// A node a point, an edge a dependence, data in one array of buffers.
#include "bench/metg.h"
#include <cstdio>
#include <deque>
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <vector>

namespace flow = oneapi::tbb::flow;

struct cell {
    alignas(METG_BYTES) double at[METG_BYTES / sizeof(double)];
};

int main(int argc, char **argv)
{
    if (argc != 6)
        return 2;
    int pattern = metg_pattern(argv[1]);
    uint32_t width = strtoul(argv[2], nullptr, 10), steps = strtoul(argv[3], nullptr, 10);
    uint64_t rounds = strtoull(argv[4], nullptr, 10);
    int threads = atoi(argv[5]);
    oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, threads);
    flow::graph g;
    std::vector<cell> data(size_t(width) * steps);
    std::deque<flow::continue_node<flow::continue_msg>> node;
    std::vector<uint32_t> sources;
    for (uint32_t s = 0; s < steps; s++)
        for (uint32_t x = 0; x < width; x++) {
            node.emplace_back(g, [&data, pattern, width, s, x, rounds](const flow::continue_msg &) {
                uint32_t from[METG_DEGREE], n = metg_parents(pattern, width, s, x, from);
                double sum = 0;
                for (uint32_t i = 0; i < n; i++)
                    sum += data[size_t(s - 1) * width + from[i]].at[0];
                data[size_t(s) * width + x].at[0] = metg_kernel(rounds, sum);
            });
            uint32_t from[METG_DEGREE], n = metg_parents(pattern, width, s, x, from);
            for (uint32_t i = 0; i < n; i++)
                flow::make_edge(node[size_t(s - 1) * width + from[i]], node.back());
            if (!n)
                sources.push_back(s * width + x);
        }
    double start = metg_spent(atoi(argv[5]));
    for (uint32_t t : sources)
        node[t].try_put(flow::continue_msg());
    g.wait_for_all();
    metg_print(metg_spent(atoi(argv[5])) - start, data[size_t(steps - 1) * width].at, METG_BYTES / sizeof(double), width);
    return 0;
}

// oneTBB on the streams of bench/flow.c: peer_flow_tbb pipeline|graph serial|farm STAGES ROUNDS BYTES ITEMS THREADS, or
// peer_flow_tbb frames FILE OUT 0 0 0 ITEMS THREADS; prints seconds by the clock and of processors.
#include "bench/metg.h"
#include "examples/frames/frames.h"
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <string>
#include <utility>
#include <vector>

namespace flow = oneapi::tbb::flow;
namespace tbb = oneapi::tbb;

static uint64_t rounds, bytes, items, taken;
enum { TOKENS = 64 };

struct token {
    uint64_t number;
    char *data;
};

static token make(uint64_t number)
{
    char *data = static_cast<char *>(std::malloc(bytes));
    std::memcpy(data, &number, sizeof number);
    return {number, data};
}

static token work(token t)
{
    if (rounds)
        metg_kernel(rounds, 1);
    return t;
}

static void take(token t)
{
    if (t.number != taken++)
        std::exit(3); // out of order
    std::free(t.data);
}

static void pipeline(bool farm, int stages)
{
    uint64_t next = 0;
    auto mode = farm ? tbb::filter_mode::parallel : tbb::filter_mode::serial_in_order;
    tbb::filter<void, token> all =
        tbb::make_filter<void, token>(tbb::filter_mode::serial_in_order, [&next](tbb::flow_control &c) {
            if (next == items) {
                c.stop();
                return token{0, nullptr};
            }
            return make(next++);
        });
    for (int i = 0; i < stages; i++)
        all = all & tbb::make_filter<token, token>(mode, [](token t) { return work(t); });
    tbb::parallel_pipeline(TOKENS, all & tbb::make_filter<token, void>(tbb::filter_mode::serial_in_order, [](token t) { take(t); }));
}

static void graph(bool farm, int stages)
{
    flow::graph g;
    uint64_t next = 0;
    flow::input_node<token> source(g, [&next](tbb::flow_control &c) {
        if (next == items) {
            c.stop();
            return token{0, nullptr};
        }
        return make(next++);
    });
    flow::limiter_node<token> limit(g, TOKENS);
    flow::sequencer_node<token> order(g, [](const token &t) { return t.number; });
    flow::function_node<token, flow::continue_msg> sink(g, flow::serial, [](token t) {
        take(t);
        return flow::continue_msg();
    });
    std::vector<std::unique_ptr<flow::function_node<token, token>>> node;
    flow::make_edge(source, limit);
    for (int i = 0; i < stages; i++) {
        node.emplace_back(new flow::function_node<token, token>(g, farm ? flow::unlimited : flow::serial, [](token t) { return work(t); }));
        if (i)
            flow::make_edge(*node[size_t(i) - 1], *node.back());
        else
            flow::make_edge(limit, *node.back());
    }
    flow::make_edge(*node.back(), order);
    flow::make_edge(order, sink);
    flow::make_edge(sink, limit.decrementer());
    source.activate();
    g.wait_for_all();
}

using picture = std::vector<uint8_t>;
using numbered = std::pair<uint64_t, picture>;

// The four filters of examples/frames/frames.h on frames of a file.
static void frames(const char *from, const char *to)
{
    FILE *in = std::fopen(from, "rb"), *out = std::fopen(to, "wb");
    if (!in || !out)
        std::exit(2);
    auto parallel = tbb::filter_mode::parallel;
    tbb::parallel_pipeline(
        16, tbb::make_filter<void, numbered>(tbb::filter_mode::serial_in_order,
                                             [in](tbb::flow_control &c) {
                                                 uint64_t head[2];
                                                 numbered f;
                                                 if (std::fread(head, sizeof head, 1, in) != 1) {
                                                     c.stop();
                                                     return f;
                                                 }
                                                 f.first = head[1];
                                                 f.second.resize(head[0]);
                                                 if (std::fread(f.second.data(), 1, head[0], in) != head[0])
                                                     std::exit(2);
                                                 return f;
                                             }) &
                tbb::make_filter<numbered, numbered>(parallel,
                                                     [](numbered f) {
                                                         picture p(frames_read_length(f.second.data(), f.second.size()));
                                                         frames_read(f.second.data(), f.second.size(), p.data());
                                                         return numbered(f.first, std::move(p));
                                                     }) &
                tbb::make_filter<numbered, numbered>(parallel,
                                                     [](numbered f) {
                                                         picture p(f.second.size());
                                                         frames_blur(f.second.data(), p.data());
                                                         return numbered(f.first, std::move(p));
                                                     }) &
                tbb::make_filter<numbered, numbered>(parallel,
                                                     [](numbered f) {
                                                         picture p(f.second.size());
                                                         frames_edges(f.second.data(), p.data());
                                                         return numbered(f.first, std::move(p));
                                                     }) &
                tbb::make_filter<numbered, numbered>(parallel,
                                                     [](numbered f) {
                                                         picture p(2 * f.second.size());
                                                         p.resize(frames_encode(f.second.data(), f.second.size(), p.data()));
                                                         return numbered(f.first, std::move(p));
                                                     }) &
                tbb::make_filter<numbered, void>(tbb::filter_mode::serial_in_order, [out](numbered f) {
                    uint64_t head[2] = {f.second.size(), f.first};
                    std::fwrite(head, sizeof head, 1, out);
                    std::fwrite(f.second.data(), 1, f.second.size(), out);
                }));
    std::fclose(in);
    std::fclose(out);
}

int main(int argc, char **argv)
{
    if (argc != 8)
        return 2;
    rounds = std::strtoull(argv[4], nullptr, 10);
    bytes = std::strtoull(argv[5], nullptr, 10);
    items = std::strtoull(argv[6], nullptr, 10);
    tbb::global_control limit(tbb::global_control::max_allowed_parallelism, size_t(std::atoi(argv[7])));
    bool farm = std::string(argv[2]) == "farm";
    double start = metg_seconds();
    std::clock_t cpu = std::clock();
    if (std::string(argv[1]) == "frames")
        frames(argv[2], argv[3]);
    else if (std::string(argv[1]) == "graph")
        graph(farm, std::atoi(argv[3]));
    else
        pipeline(farm, std::atoi(argv[3]));
    double seconds = metg_seconds() - start;
    std::printf("%.9f %.9f\n", seconds, double(std::clock() - cpu) / CLOCKS_PER_SEC);
    return 0;
}

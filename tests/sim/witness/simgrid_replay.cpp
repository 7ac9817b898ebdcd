/* The witness: executes a described plan with SimGrid's S4U and prints its makespan. It shares no code with weft.
 *
 *     simgrid_replay FILE     ("-": standard input)
 *
 * The description (see describe.h), one record a line:
 *
 *     weft-witness 1
 *     network free|fair BANDWIDTH LATENCY      of pairs that are not listed
 *     nodes N                                  then per node: its uplink and downlink capacity
 *     links N                                  then per ordered pair: FROM TO BANDWIDTH LATENCY
 *     tasks N                                  then per task: NODE SECONDS
 *     edges N                                  then per edge: BEFORE AFTER        (order of cores, edges without transfer)
 *     transfers N                              then per transfer: PRODUCER FROM TO BYTES READERS reader...
 *
 * Output: makespan, activities, seconds that Engine::run() took. */
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

static FILE *input;

[[noreturn]] static void bad(const char *what)
{
    std::fprintf(stderr, "simgrid_replay: bad description at '%s'\n", what);
    std::exit(2);
}

static double number(const char *what)
{
    char text[64];
    if (std::fscanf(input, "%63s", text) != 1)
        bad(what);
    char *end = nullptr;
    double value = std::strtod(text, &end);
    if (*end)
        bad(what);
    return value;
}

static size_t count(const char *word)
{
    char text[64];
    if (std::fscanf(input, "%63s", text) != 1 || std::strcmp(text, word) != 0)
        bad(word);
    return static_cast<size_t>(number(word));
}

struct LinkRow {
    size_t from, to;
    double bandwidth, latency;
};
struct Transfer {
    size_t producer, from, to;
    double bytes;
    std::vector<size_t> readers;
};

int main(int argc, char **argv)
{
    if (argc < 2)
        bad("usage");
    input = std::strcmp(argv[1], "-") == 0 ? stdin : std::fopen(argv[1], "r");
    if (!input)
        bad(argv[1]);

    /* Exact arithmetic: no TCP window, no cross traffic, no correction factors; precisions well below what is compared. */
    std::vector<std::string> settings = {"simgrid_replay",
                                         "--cfg=network/model:CM02",
                                         "--cfg=network/TCP-gamma:0",
                                         "--cfg=network/crosstraffic:0",
                                         "--cfg=network/bandwidth-factor:1",
                                         "--cfg=network/latency-factor:1",
                                         "--cfg=network/weight-S:0",
                                         "--cfg=surf/precision:1e-12",
                                         "--cfg=maxmin/precision:1e-9",
                                         "--log=root.thres:critical"};
    std::vector<char *> args;
    for (auto &s : settings)
        args.push_back(&s[0]);
    args.push_back(nullptr);
    int nargs = static_cast<int>(settings.size());
    sg4::Engine engine(&nargs, args.data());

    if (count("weft-witness") != 1)
        bad("version");
    char word[64], model[64];
    if (std::fscanf(input, "%63s %63s", word, model) != 2 || std::strcmp(word, "network") != 0)
        bad("network");
    bool fair = std::strcmp(model, "fair") == 0;
    double bandwidth = number("bandwidth"), latency = number("latency");
    size_t n = count("nodes");
    std::vector<double> capacity(n);
    for (auto &c : capacity)
        c = number("capacity");
    std::vector<LinkRow> rows(count("links"));
    for (auto &r : rows) {
        r.from = static_cast<size_t>(number("link"));
        r.to = static_cast<size_t>(number("link"));
        r.bandwidth = number("link");
        r.latency = number("link");
    }
    std::vector<size_t> node_of(count("tasks"));
    std::vector<double> duration(node_of.size());
    for (size_t i = 0; i < node_of.size(); i++) {
        node_of[i] = static_cast<size_t>(number("task"));
        duration[i] = number("task");
    }
    std::vector<std::pair<size_t, size_t>> edges(count("edges"));
    for (auto &e : edges) {
        e.first = static_cast<size_t>(number("edge"));
        e.second = static_cast<size_t>(number("edge"));
    }
    /* SimGrid refuses to hear of an edge twice (order of a core and data of the workflow). */
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    std::vector<Transfer> transfers(count("transfers"));
    double most = 1;
    for (auto &t : transfers) {
        t.producer = static_cast<size_t>(number("transfer"));
        t.from = static_cast<size_t>(number("transfer"));
        t.to = static_cast<size_t>(number("transfer"));
        t.bytes = number("transfer");
        t.readers.resize(static_cast<size_t>(number("readers")));
        for (auto &r : t.readers)
            r = static_cast<size_t>(number("reader"));
        if (t.bytes > most)
            most = t.bytes;
    }

    /* SimGrid's payloads are whole bytes: scale sizes and bandwidths by a power of two so that rounding is below 1e-12. */
    double scale = std::exp2(std::floor(50 - std::log2(most)));
    double unlimited = 1e300;
    auto speed = [&](double b) { return std::isfinite(b) ? b * scale : unlimited; };

    auto *zone = sg4::create_full_zone("zone");
    std::vector<sg4::Host *> hosts(n);
    std::vector<sg4::Link *> up(n), down(n);
    for (size_t i = 0; i < n; i++) {
        /* Cores are kept apart by order edges; a task of several cores is one activity. */
        hosts[i] = zone->create_host("h" + std::to_string(i), 1.0)->set_core_count(4096);
        hosts[i]->seal();
        if (fair) {
            up[i] = zone->create_link("up" + std::to_string(i), speed(capacity[i]))->set_latency(0)->seal();
            down[i] = zone->create_link("down" + std::to_string(i), speed(capacity[i]))->set_latency(0)->seal();
        }
    }
    auto *common = zone->create_link("common", speed(bandwidth))
                       ->set_latency(latency)
                       ->set_sharing_policy(sg4::Link::SharingPolicy::FATPIPE)
                       ->seal();
    std::vector<sg4::Link *> own(n * n, nullptr);
    for (auto &r : rows) {
        auto *link = zone->create_link("p" + std::to_string(r.from) + "-" + std::to_string(r.to), speed(r.bandwidth))
                         ->set_latency(r.latency);
        if (!fair)
            link->set_sharing_policy(sg4::Link::SharingPolicy::FATPIPE);
        own[r.from * n + r.to] = link->seal();
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            if (i == j)
                continue;
            std::vector<sg4::LinkInRoute> route;
            if (fair)
                route.emplace_back(up[i]);
            route.emplace_back(own[i * n + j] ? own[i * n + j] : common);
            if (fair)
                route.emplace_back(down[j]);
            zone->add_route(hosts[i]->get_netpoint(), hosts[j]->get_netpoint(), nullptr, nullptr, route, false);
        }
    zone->seal();

    std::vector<sg4::ExecPtr> tasks(node_of.size());
    for (size_t i = 0; i < tasks.size(); i++)
        tasks[i] = sg4::Exec::init()->set_flops_amount(duration[i])->set_host(hosts[node_of[i]]);
    for (auto &e : edges)
        tasks[e.first]->add_successor(tasks[e.second]);
    std::vector<sg4::CommPtr> comms;
    comms.reserve(transfers.size());
    for (auto &t : transfers) {
        auto comm = sg4::Comm::sendto_init(hosts[t.from], hosts[t.to]);
        comm->set_payload_size(static_cast<uint64_t>(std::llround(t.bytes * scale)));
        tasks[t.producer]->add_successor(comm);
        for (size_t r : t.readers)
            comm->add_successor(tasks[r]);
        comms.push_back(comm);
    }
    auto began = std::chrono::steady_clock::now();
    for (auto &t : tasks)
        t->vetoable_start();
    for (auto &c : comms)
        c->vetoable_start();
    engine.run();
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    size_t done = 0;
    for (auto &t : tasks)
        done += t->get_state() == sg4::Activity::State::FINISHED;
    if (done != tasks.size()) {
        std::fprintf(stderr, "simgrid_replay: only %zu of %zu tasks ended\n", done, tasks.size());
        return 1;
    }
    std::printf("makespan %.17g\nactivities %zu\nseconds %.6f\n", sg4::Engine::get_clock(), tasks.size() + comms.size(), seconds);
    std::fflush(stdout);
    std::_Exit(0); /* freeing a million activities is not what is measured */
}

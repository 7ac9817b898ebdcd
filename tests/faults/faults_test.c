/* Many schedulers in a bad world (world.h), fault by fault, over the model store; and the model
 * against the real store: the same seed must lead to the same run.
 *   FAULTS_SEEDS=600 FAULTS_FIRST=1000 faults_test      so many seeds of each, from this one on */
#include "tap.h"
#include "world.h"
#include <stdlib.h>

enum world_kind { PLAIN, WIDE, GROWING };

static void test_seeds(const char *what, uint32_t faults, enum world_kind kind, uint64_t first,
                       uint64_t count)
{
    bool wide = kind == WIDE;
    /* seven at a time, so that adoptions take turns */
    struct fault_world_options options = {
        .model = true, .adopt_most = 7, .faults = faults, .wide = wide, .grows = kind == GROWING};
    struct fault_world_result r = {0};
    uint64_t events = 0, seed = first, parts = 0, joined = 0, skipped = 0, excused = 0;
    for (; seed < first + count && !r.trouble[0]; seed++) {
        fault_world_run(seed, &options, &r);
        events += r.events;
        parts += r.parts;
        joined += r.joined;
        skipped += r.skipped;
        excused += r.excused;
    }
    if (kind == GROWING)
        ok(joined > 5 * count && skipped > count && excused > count / 2,
           "tasks joined: %llu, were skipped: %llu, failed and may: %llu",
           (unsigned long long)joined, (unsigned long long)skipped, (unsigned long long)excused);
    if (wide)
        ok(parts > count, "tasks span several nodes: %llu parts", (unsigned long long)parts);
    ok(!r.trouble[0], "%s%s: %llu seeds, %llu events",
       wide              ? "gangs: "
       : kind == GROWING ? "growing: "
                         : "",
       what, (unsigned long long)count, (unsigned long long)events);
    if (r.trouble[0])
        printf("# seed %llu, %u nodes, %u tasks: %s\n", (unsigned long long)(seed - 1), r.nodes,
               r.tasks, r.trouble);
}

static uint64_t digest_of(uint64_t seed, struct fault_world_options options)
{
    struct fault_world_result r;
    fault_world_run(seed, &options, &r);
    return r.trouble[0] ? seed : r.digest ^ r.events;
}

/* All but failovers, after which the real store is asked some things twice: there the two may list
 * a child once or for each edge. */
static void test_stores_agree(uint64_t first, uint64_t count, bool grows)
{
    struct fault_world_options real = {.faults = FAULT_ALL & ~FAULT_FAILOVER, .grows = grows},
                               model = real;
    uint64_t differ = 0;
    model.model = true;
    for (uint64_t seed = first; seed < first + count; seed++)
        differ += digest_of(seed, real) != digest_of(seed, model);
    is_int(differ, 0, "%llu seeds%s run alike over the model and the real store",
           (unsigned long long)count, grows ? " that grow" : "");
}

static void test_replay(void)
{
    struct fault_world_options all = {.model = true, .adopt_most = 7, .faults = FAULT_ALL};
    bool same = true;
    for (uint64_t seed = 1; seed <= 10; seed++)
        same &= digest_of(seed, all) == digest_of(seed, all);
    ok(same, "a seed replays exactly");
    ok(digest_of(1, all) != digest_of(2, all), "another seed does not");
}

int main(void)
{
    static const struct {
        const char *what;
        uint32_t faults;
    } worlds[] =
        {
            {"a good network", FAULT_NONE},
            {"late and out of order", FAULT_LATE},
            {"messages lost and doubled", FAULT_LATE | FAULT_LOSE | FAULT_TWICE},
            {"attempts that fail", FAULT_LATE | FAULT_LOSE | FAULT_FAIL},
            {"removals", FAULT_LATE | FAULT_LOSE | FAULT_TWICE | FAULT_REMOVE},
            {"policies switched", FAULT_LATE | FAULT_LOSE | FAULT_SWITCH},
            {"nodes that die and come back", FAULT_LATE | FAULT_LOSE | FAULT_TWICE | FAULT_CRASH},
            {"nodes that die, some slow", FAULT_LATE | FAULT_TWICE | FAULT_SLOW | FAULT_CRASH},
            {"nodes wrongly thought dead", FAULT_LATE | FAULT_TWICE | FAULT_SUSPECT},
            {"nodes wrongly thought dead, some slow",
             FAULT_LATE | FAULT_TWICE | FAULT_SLOW | FAULT_SUSPECT},
            {"partitions", FAULT_LATE | FAULT_PARTITION},
            {"nodes that leave", FAULT_LATE | FAULT_LOSE | FAULT_LEAVE},
            {"nodes that leave, others die", FAULT_LATE | FAULT_LOSE | FAULT_LEAVE | FAULT_CRASH},
            {"all leave, others begin", FAULT_LATE | FAULT_EXODUS},
            {"all leave, others begin, messages lost", FAULT_LATE | FAULT_LOSE | FAULT_EXODUS},
            {"failovers of the store", FAULT_LATE | FAULT_FAILOVER},
            {"everything", FAULT_ALL},
            {"everything, and all leave", FAULT_ALL | FAULT_EXODUS},
        },
      wide[] =
          {
              /* tasks that span several nodes, in every world */
              {"a good network", FAULT_NONE},
              {"messages lost and doubled", FAULT_LATE | FAULT_LOSE | FAULT_TWICE},
              {"nodes that die", FAULT_LATE | FAULT_LOSE | FAULT_TWICE | FAULT_CRASH},
              {"nodes that leave, tasks removed",
               FAULT_LATE | FAULT_LOSE | FAULT_LEAVE | FAULT_FAIL | FAULT_REMOVE},
              {"everything", FAULT_ALL},
          },
      growing[] = {
          /* graphs that grow and tasks that decide, in every world */
          {"a good network", FAULT_NONE},
          {"messages lost and doubled", FAULT_LATE | FAULT_LOSE | FAULT_TWICE},
          {"nodes that die", FAULT_LATE | FAULT_LOSE | FAULT_TWICE | FAULT_CRASH},
          {"nodes wrongly thought dead", FAULT_LATE | FAULT_TWICE | FAULT_SUSPECT},
          {"partitions and failovers of the store", FAULT_LATE | FAULT_PARTITION | FAULT_FAILOVER},
          {"nodes that leave, others die", FAULT_LATE | FAULT_LOSE | FAULT_LEAVE | FAULT_CRASH},
          {"attempts that fail, removals", FAULT_LATE | FAULT_LOSE | FAULT_FAIL | FAULT_REMOVE},
          {"everything but failures and removals", FAULT_ALL & ~(FAULT_FAIL | FAULT_REMOVE)},
          {"everything", FAULT_ALL},
      };
    const char *seeds = getenv("FAULTS_SEEDS"), *from = getenv("FAULTS_FIRST");
    uint64_t n = seeds ? strtoull(seeds, NULL, 10) : tap_rounds(60);
    uint64_t first = from ? strtoull(from, NULL, 10) : 1;
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        TAP_DO(test_seeds(worlds[i].what, worlds[i].faults, PLAIN, first, n));
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        TAP_DO(test_seeds(wide[i].what, wide[i].faults, WIDE, first, n));
    for (size_t i = 0; i < sizeof growing / sizeof *growing; i++)
        TAP_DO(test_seeds(growing[i].what, growing[i].faults, GROWING, first, n));
    TAP_DO(test_stores_agree(first, n, false));
    TAP_DO(test_stores_agree(first, n, true));
    TAP_DO(test_replay());
    return tap_done();
}

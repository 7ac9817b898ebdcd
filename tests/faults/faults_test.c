/* Many schedulers in a bad world (world.h), fault by fault, over the model store; and the model
 * against the real store: the same seed must lead to the same run.
 *   faults_test [SEEDS [FIRST]]      so many seeds of each, from this one on */
#include "tap.h"
#include "world.h"
#include <stdlib.h>

static void test_seeds(const char *what, uint32_t faults, bool wide, uint64_t first, uint64_t count)
{
    /* seven at a time, so that adoptions take turns */
    struct fault_world_options options = {
        .model = true, .adopt_most = 7, .faults = faults, .wide = wide};
    struct fault_world_result r = {0};
    uint64_t events = 0, seed = first, parts = 0;
    for (; seed < first + count && !r.trouble[0]; seed++) {
        fault_world_run(seed, &options, &r);
        events += r.events;
        parts += r.parts;
    }
    if (wide)
        ok(parts > count, "tasks span several nodes: %llu parts", (unsigned long long)parts);
    ok(!r.trouble[0], "%s%s: %llu seeds, %llu events", wide ? "gangs: " : "", what,
       (unsigned long long)count, (unsigned long long)events);
    if (r.trouble[0])
        printf("# seed %llu: %s\n", (unsigned long long)(seed - 1), r.trouble);
}

static uint64_t digest_of(uint64_t seed, struct fault_world_options options)
{
    struct fault_world_result r;
    fault_world_run(seed, &options, &r);
    return r.trouble[0] ? seed : r.digest ^ r.events;
}

/* All but failovers, after which the real store is asked some things twice: there the two may list
 * a child once or for each edge. */
static void test_stores_agree(uint64_t first, uint64_t count)
{
    struct fault_world_options real = {.faults = FAULT_ALL & ~FAULT_FAILOVER}, model = real;
    uint64_t differ = 0;
    model.model = true;
    for (uint64_t seed = first; seed < first + count; seed++)
        differ += digest_of(seed, real) != digest_of(seed, model);
    is_int(differ, 0, "%llu seeds run alike over the model and the real store",
           (unsigned long long)count);
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

int main(int argc, char **argv)
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
            {"failovers of the store", FAULT_LATE | FAULT_FAILOVER},
            {"everything", FAULT_ALL},
        },
      wide[] = {
          /* tasks that span several nodes, in every world */
          {"a good network", FAULT_NONE},
          {"messages lost and doubled", FAULT_LATE | FAULT_LOSE | FAULT_TWICE},
          {"nodes that die", FAULT_LATE | FAULT_LOSE | FAULT_TWICE | FAULT_CRASH},
          {"nodes that leave, tasks removed",
           FAULT_LATE | FAULT_LOSE | FAULT_LEAVE | FAULT_FAIL | FAULT_REMOVE},
          {"everything", FAULT_ALL},
      };
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 60;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        TAP_DO(test_seeds(worlds[i].what, worlds[i].faults, false, first, n));
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        TAP_DO(test_seeds(wide[i].what, wide[i].faults, true, first, n));
    TAP_DO(test_stores_agree(first, n));
    TAP_DO(test_replay());
    return tap_done();
}

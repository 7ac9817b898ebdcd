/* Who looks at a run takes a share of a core that does not grow with the run. */
#include "tap.h"
#include "ui/thrift.h"

/* A page that asks once a second for `seconds`; every reading really takes `cost`. Gives what was spent, and how often it read. */
static double watched(int64_t run, uint32_t tasks, double cost, int seconds, int *readings)
{
    double spent = 0;
    *readings = 0;
    for (int s = 1; s <= seconds; s++) {
        uint32_t over = (uint32_t)((double)tasks * s / seconds);
        if (thrift_wait(run, s, tasks, over) > 0)
            continue;
        thrift_spent(run, cost);
        spent += cost;
        ++*readings;
    }
    return spent;
}

int main(void)
{
    int readings;
    watched(1, 1000, 0.003, 60, &readings);
    ok(readings == 60, "a thousand tasks are read every second: %d", readings);
    double spent = watched(2, 1000000, 3.0, 6, &readings);
    ok(readings == 0 && spent == 0, "of a million tasks in six seconds none is read");
    ok(thrift_wait(2, 6, 1000000, 1000000) > 60, "and it says how long that would be so");
    spent = watched(3, 1000000, 0.5, 3600, &readings);
    ok(readings > 10 && spent < 0.02 + 0.02 * 3600 + 0.5,
       "of a million in an hour some are, for 2 %%: %d readings, %.1f s", readings, spent);
    spent = watched(4, 1000, 1.0, 600, &readings);
    ok(spent < 0.02 + 0.02 * 600 + 1.0, "readings that take longer than was thought are fewer: %d",
       readings);
    thrift_wait(5, 1, 1000, 0);
    thrift_spent(5, 100);
    ok(thrift_wait(5, 1, 1000, 0) > 1000, "what was spent is remembered");
    for (int64_t run = 10; run < 30; run++)
        thrift_wait(run, 1, 10, 1);
    ok(thrift_wait(5, 1, 1000, 0) == 0, "until other runs have taken its place");
    return tap_done();
}

/* What a run tells of its moment: begun and ended attempts, counts, tables that fill up, files that are not ours. */
#include "session/now.h"
#include "tap.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char state[] = "/tmp/weft-now-XXXXXX";

static void tell(struct trace_sink s, enum trace_kind kind, uint32_t task, int outcome)
{
    s.event(s.context, &(struct trace_event){.kind = kind,
                                             .id = task,
                                             .lane = task % 7,
                                             .attempt = 1,
                                             .start = task,
                                             .outcome = outcome});
}

static void moment(void)
{
    struct now_head head;
    now_tasks tasks = {0};
    struct now *n = now_begin(state, 17, 9, (const uint8_t *)"abcdefghi");
    struct trace_sink s = now_sink(n);
    ok(now_read(state, 17, &head, &tasks) && tasks.n == 0 && head.tasks == 9, "nothing runs yet");
    tell(s, TRACE_BEGIN, 3, 0);
    tell(s, TRACE_BEGIN, 4, 0);
    tell(s, TRACE_TASK, 3, TRACE_DONE);
    tell(s, TRACE_REUSED, 1, 0);
    ok(now_read(state, 17, &head, &tasks) && tasks.n == 1, "one of two has ended");
    ok(tasks.at[0].task == 4 && tasks.at[0].lane == 4 && tasks.at[0].since == 4, "the other runs");
    ok(head.done == 1 && head.reused == 1 && head.running == 1 && head.failed == 0, "counts");
    tell(s, TRACE_TASK, 4, TRACE_FAILED);
    tasks.n = 0;
    ok(now_read(state, 17, &head, &tasks) && tasks.n == 0 && head.failed == 1, "it failed");
    ok(!now_read(state, 18, &head, &tasks), "another run's file tells nothing");
    now_end(n);
    uint8_t reason = 0;
    ok(now_read(state, 17, &head, &tasks) && tasks.n == 0, "of one that is over nothing runs");
    ok(now_reason(state, 17, 2, &reason) && reason == 'c', "but why a task ran is known still");
    ok(!now_reason(state, 18, 2, &reason) && !now_reason(state, 17, 9, &reason),
       "of that run's tasks alone");
    array_free(&tasks);
}

/* More tasks than slots, a few at a time, and then more at once than there is room for. */
static void full(void)
{
    struct now_head head;
    now_tasks tasks = {0};
    uint8_t *reasons = calloc(100000, 1);
    struct now *n = now_begin(state, 1, 100000, reasons);
    free(reasons);
    struct trace_sink s = now_sink(n);
    for (uint32_t t = 0; t < 20000; t++) {
        tell(s, TRACE_BEGIN, t, 0);
        if (t >= 100)
            tell(s, TRACE_TASK, t - 100, TRACE_DONE);
    }
    ok(now_read(state, 1, &head, &tasks) && tasks.n == 100, "100 of 20000 run");
    bool right = true;
    for (size_t i = 0; i < tasks.n; i++)
        right = right && tasks.at[i].task >= 19900;
    ok(right, "the last ones");
    for (uint32_t t = 20000; t < 30000; t++)
        tell(s, TRACE_BEGIN, t, 0);
    tasks.n = 0;
    ok(now_read(state, 1, &head, &tasks) && tasks.n == NOW_SLOTS / 2, "half of the slots are told");
    ok(head.running == 10100, "all are counted");
    for (uint32_t t = 19900; t < 30000; t++)
        tell(s, TRACE_TASK, t, TRACE_DONE);
    tasks.n = 0;
    ok(now_read(state, 1, &head, &tasks) && tasks.n == 0 && head.running == 0, "until all ended");
    now_end(n);
    array_free(&tasks);
}

static void damaged(void)
{
    struct now_head head;
    now_tasks tasks = {0};
    char path[64];
    snprintf(path, sizeof path, "%s/now", state);
    FILE *f = fopen(path, "w");
    ok(f && fputs("weftnow1 and nothing else", f) >= 0 && fclose(f) == 0, "a file that is cut off");
    ok(!now_read(state, 1, &head, &tasks), "tells nothing");
    ok(!now_begin("/nowhere/at/all", 1, 1, (const uint8_t *)""), "a folder that is not there");
    unlink(path);
    array_free(&tasks);
}

int main(void)
{
    if (!mkdtemp(state))
        return 1;
    moment();
    full();
    damaged();
    rmdir(state);
    return tap_done();
}

/* What a run tells of its moment: begun and ended attempts, counts, tables that fill up, files that are not ours. */
#include "model/builder.h"
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

/* n tasks, of `kinds` kinds in turns: "k0", "k1", ... */
static struct workflow *tasks_of_kinds(uint32_t n, uint32_t kinds)
{
    struct builder *b = builder_new("test", "test");
    char text[16];
    for (uint32_t t = 0; t < n; t++) {
        int len = snprintf(text, sizeof text, "t%u", t);
        uint32_t task = builder_task(b, text, (size_t)len, 1);
        len = snprintf(text, sizeof text, "k%u", t % kinds);
        builder_kind(b, task, text, (size_t)len);
    }
    return builder_finish(b, NULL);
}

static void moment(void)
{
    struct now_head head;
    now_tasks tasks = {0};
    struct workflow *w = tasks_of_kinds(9, 3);
    struct now *n = now_begin(state, 17, w, false);
    struct trace_sink s = now_sink(n);
    ok(now_read(state, 17, &head, &tasks) && tasks.n == 0 && head.all.tasks == 9,
       "nothing runs yet");
    tell(s, TRACE_BEGIN, 3, 0);
    tell(s, TRACE_BEGIN, 4, 0);
    tell(s, TRACE_TASK, 3, TRACE_DONE);
    tell(s, TRACE_REUSED, 1, 0);
    ok(now_read(state, 17, &head, &tasks) && tasks.n == 1, "one of two has ended");
    ok(tasks.at[0].task == 4 && tasks.at[0].lane == 4 && tasks.at[0].since == 4, "the other runs");
    ok(head.all.done == 1 && head.all.reused == 1 && head.all.running == 1 && head.all.failed == 0,
       "counts");
    tell(s, TRACE_TASK, 4, TRACE_FAILED);
    tasks.n = 0;
    ok(now_read(state, 17, &head, &tasks) && tasks.n == 0 && head.all.failed == 1, "it failed");
    ok(!now_read(state, 18, &head, &tasks), "another run's file tells nothing");
    now_end(n);
    ok(now_read(state, 17, &head, &tasks) && tasks.n == 0, "of one that is over nothing runs");
    workflow_free(w);
    array_free(&tasks);
}

/* More tasks than slots, a few at a time, and then more at once than there is room for. */
static void full(void)
{
    struct now_head head;
    now_tasks tasks = {0};
    struct workflow *w = tasks_of_kinds(100000, 1);
    struct now *n = now_begin(state, 1, w, false);
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
    ok(head.all.running == 10100, "all are counted");
    for (uint32_t t = 19900; t < 30000; t++)
        tell(s, TRACE_TASK, t, TRACE_DONE);
    tasks.n = 0;
    ok(now_read(state, 1, &head, &tasks) && tasks.n == 0 && head.all.running == 0,
       "until all ended");
    now_end(n);
    workflow_free(w);
    array_free(&tasks);
}

/* Counts by kind are the counts of all, told apart. */
static void kinds(void)
{
    struct now_head head;
    now_kinds found = {0};
    struct workflow *w = tasks_of_kinds(90, 3);
    struct now *n = now_begin(state, 2, w, false);
    struct trace_sink s = now_sink(n);
    for (uint32_t t = 0; t < 30; t++) {
        tell(s, TRACE_BEGIN, t, 0);
        if (t < 20)
            tell(s, TRACE_TASK, t, t == 4 ? TRACE_FAILED : TRACE_DONE);
    }
    ok(now_read_kinds(state, 2, &head, &found) && head.kinds == 3 && found.n == 3, "three kinds");
    struct now_counts sum = {0};
    for (size_t k = 0; k < found.n; k++) {
        sum.tasks += found.at[k].counts.tasks;
        sum.running += found.at[k].counts.running;
        sum.done += found.at[k].counts.done;
        sum.failed += found.at[k].counts.failed;
    }
    ok(sum.tasks == 90 && sum.running == 10 && sum.done == 19 && sum.failed == 1,
       "together they are all tasks");
    is_str(found.at[1].name, "k1", "by their names");
    ok(found.at[1].counts.failed == 1 && found.at[1].counts.done == 6, "each with its own");
    tell(s, TRACE_GROWN, 100, 0);
    tell(s, TRACE_BEGIN, 95, 0);
    found.n = 0;
    ok(now_read_kinds(state, 2, &head, &found) && found.n == 0 && head.all.tasks == 100,
       "a run that has grown tells counts of all alone");
    now_end(n);
    workflow_free(w);
    w = tasks_of_kinds(1000, 500);
    n = now_begin(state, 3, w, false);
    tell(now_sink(n), TRACE_BEGIN, 999, 0);
    ok(now_read_kinds(state, 3, &head, &found) && found.n == 0 && head.all.running == 1,
       "and so does one of too many kinds");
    now_end(n);
    workflow_free(w);
    array_free(&found);
}

/* Others ask, the run takes. */
static void wishes(void)
{
    struct workflow *w = tasks_of_kinds(100, 1);
    struct now *n = now_begin(state, 4, w, false);
    ok(now_take_wish(n, NOW_CANCEL) == NONE, "nobody wants anything");
    ok(now_ask(state, 4, NOW_CANCEL, 17) == NOW_ASKED &&
           now_ask(state, 4, NOW_CANCEL, 0) == NOW_ASKED,
       "two tasks are to be cancelled");
    uint32_t one = now_take_wish(n, NOW_CANCEL), two = now_take_wish(n, NOW_CANCEL);
    ok(one + two == 17 && one != two && now_take_wish(n, NOW_CANCEL) == NONE, "each is told once");
    ok(now_ask(state, 5, NOW_CANCEL, 1) == NOW_SILENT && now_take_wish(n, NOW_CANCEL) == NONE,
       "another run's wish is not this one's");
    ok(now_ask(state, 4, NOW_CANCEL, 100) == NOW_ASKED && now_take_wish(n, NOW_CANCEL) == NONE,
       "a task that is not there is none");
    uint32_t room = 0;
    ok(now_ask(state, 4, NOW_CANCEL, 3) == NOW_ASKED &&
           now_ask(state, 4, NOW_CANCEL, 3) == NOW_ASKED && now_take_wish(n, NOW_SHOW) == NONE &&
           now_take_wish(n, NOW_CANCEL) == 3 && now_take_wish(n, NOW_CANCEL) == NONE,
       "who asks twice is heard once, and of one kind");
    now_numbers told = {0};
    ok(now_ask(state, 4, NOW_CANCEL, 5) == NOW_ASKED, "one more");
    now_read_cancelled(state, 4, &told);
    ok(told.n == 4 && told.at[2] == 3 && told.at[3] == 5,
       "what is to be cancelled can be read, heard of or not");
    now_take_wish(n, NOW_CANCEL);
    array_free(&told);
    while (room < 1000 && now_ask(state, 4, NOW_CANCEL, room % 100) == NOW_ASKED)
        room++;
    ok(room == NOW_WISHES, "there is room for some, and who comes later is told so");
    now_end(n);
    n = now_begin(state, 6, w, true);
    struct now_head head;
    now_tasks none = {0};
    ok(now_read(state, 6, &head, &none) && head.away, "a run on agents says that it is one");
    ok(now_ask(state, 6, NOW_SHOW, 1) == NOW_ASKED && now_take_wish(n, NOW_SHOW) == 1,
       "and hears of logs that somebody wants to see");
    now_end(n);
    workflow_free(w);
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
    struct workflow *w = tasks_of_kinds(1, 1);
    ok(!now_begin("/nowhere/at/all", 1, w, false), "a folder that is not there");
    workflow_free(w);
    unlink(path);
    array_free(&tasks);
}

int main(void)
{
    if (!mkdtemp(state))
        return 1;
    moment();
    full();
    kinds();
    wishes();
    damaged();
    rmdir(state);
    return tap_done();
}

/* glance.h: the head of a run from the history, counts from the file in which it tells its moment. */
#include "session/glance.h"
#include "base/mem.h"
#include "session/recorded.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

static double glance_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool glance_head(struct glance *g, int64_t run, struct error *err)
{
    struct history *h = recorded_require(err);
    struct mem_guard guard;
    mem_guard_enter(&guard, recorded_abandon, h);
    bool good = h && history_follow_head(h, run, &g->head, err);
    mem_guard_leave(&guard);
    history_close(h);
    return good;
}

/* What is left takes as long, task by task, as what is over did: all that counts can tell. */
static void glance_expect(struct glance *g)
{
    const struct now_counts *c = &g->all;
    uint32_t ran = c->done + c->failed, over = ran + c->reused + c->skipped;
    uint32_t left = c->tasks > over ? c->tasks - over : 0;
    g->seconds = glance_clock() - g->head.started;
    g->expected = ran ? g->seconds + g->seconds / ran * left : NAN;
    if (g->head.predicted_seconds > g->expected)
        g->expected = g->head.predicted_seconds;
}

bool glance_take(struct glance *g, int64_t run, bool *told, struct error *err)
{
    struct now_head now;
    *g = (struct glance){0};
    *told = false;
    if (!glance_head(g, run, err))
        return false;
    struct strbuf state = {0};
    strbuf_printf(&state, "%s/.weft", g->head.folder ? g->head.folder : ".");
    if (g->head.outcome == RECORD_RUNNING &&
        now_read_kinds(state.at, g->head.run, &now, &g->kinds)) {
        g->all = now.all;
        glance_expect(g);
        *told = true;
    }
    strbuf_free(&state);
    return true;
}

void glance_free(struct glance *g)
{
    record_free(&g->head);
    array_free(&g->kinds);
    *g = (struct glance){0};
}

/* What somebody wishes of single tasks of a run that is followed: one is to be cancelled, or the log of one that runs is to be seen
 * here (session/now.h has the wishes, from the page and from `weft cancel --here`).
 *
 *     cancels ── one agent at a time ──▶ CANCEL ─▶ RESULT: good ──▶ gone[]: it and what depends on it ──▶ the store says so: told
 *                       ▲                             └─ not good, link closed, silence: the next agent
 *                       └───────────────────────────────────────┘
 *     show ──▶ SHOW ─▶ SHOWN: appended to STATE/logs/LABEL/.live-TASK-ATTEMPT, until the attempt ends
 *
 * Invariants:
 *   W1. One agent is asked at a time, for one task; which task an answer is about is known by that.
 *   W2. A task is told once as gone: by the end of its attempt, or by what the store says.
 *   W3. A live log has one question under way; what comes twice or late does not fit its end or its attempt and is passed over. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/tree.h"
#include "cluster/client/follow.h"
#include "model/growth.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

static const double WISH_PATIENCE = 20; /* seconds for an agent to answer */
enum { WISH_READS = 4096 };             /* tasks that the store is asked about at once */

typedef ARRAY(uint32_t) wish_tasks;

/* ---- cancelling ---- */

void client_follow_cancel(struct client_follow *f, uint32_t task)
{
    if (task >= f->w->ntasks || f->phase != PHASE_FOLLOWING)
        return;
    for (size_t i = 0; i < f->cancels.n; i++)
        if (f->cancels.at[i] == task)
            return;
    if (!f->cancels.n)
        f->cancel_node = NONE;
    array_push(&f->cancels, task);
}

static void cancels_next(struct client_follow *f)
{
    f->cancels.n--;
    memmove(f->cancels.at, f->cancels.at + 1, f->cancels.n * sizeof *f->cancels.at);
    f->cancel_tried.n = 0;
    f->cancel_node = NONE;
}

static bool cancel_was_tried(const struct client_follow *f, uint32_t node)
{
    for (size_t i = 0; i < f->cancel_tried.n; i++)
        if (f->cancel_tried.at[i] == node)
            return true;
    return false;
}

/* Who runs it first: what it says is the last word. Any other will do, too: it finds those that hold a part of the subtree. */
static struct client_peer *cancel_choose_peer(const struct client_follow *f, uint32_t task)
{
    struct client_peer *p = client_peer(f->c, f->node[task]);
    if (f->seen[task] == FOLLOW_SEEN_RUNNING && p && p->open && !cancel_was_tried(f, p->node))
        return p;
    for (size_t i = 0; i < f->c->peers.n; i++) {
        p = f->c->peers.at[i];
        if (p->open && p->refuses != f->o.run && !cancel_was_tried(f, p->node))
            return p;
    }
    return NULL;
}

/* W1. With `why`: what the last one said. */
static void cancel_ask_next(struct client_follow *f, const char *why)
{
    uint32_t task = f->cancels.at[0];
    struct client_peer *p = cancel_choose_peer(f, task);
    f->cancel_node = NONE;
    if (!p) {
        if (!why)
            return; /* nobody is there at the moment */
        client_say(f->c, "task %s cannot be cancelled: %s", workflow_task_name(f->w, task), why);
        cancels_next(f);
        return;
    }
    struct strbuf *head = &f->c->scratch;
    strbuf_clear(head);
    bytes_put_u64(head, f->o.run);
    bytes_put_u32(head, task);
    f->cancel_node = p->node;
    f->cancel_since = clock_seconds();
    array_push(&f->cancel_tried, p->node);
    link_send(p->link, MESSAGE_CANCEL, head->at, head->n, NULL, 0);
}

static bool gone_is_marked(const struct client_follow *f, uint32_t task)
{
    return f->gone && f->gone[task] != FOLLOW_STAYS;
}

/* What has ended stays as it is. Pushed once each: no more than there are tasks. */
static void gone_mark(struct client_follow *f, uint32_t task, enum follow_going how,
                      wish_tasks *todo)
{
    if (f->seen[task] >= FOLLOW_SEEN_FAILED || gone_is_marked(f, task))
        return;
    f->gone[task] = (uint8_t)how;
    f->going++;
    array_push(todo, task);
}

/* An agent has taken it out: so goes what depends on it. */
static void gone_mark_all(struct client_follow *f, uint32_t task)
{
    const struct workflow *w = f->w;
    wish_tasks todo = {0};
    if (!f->gone)
        f->gone = mem_new_zero(uint8_t, f->task_room + 1);
    gone_mark(f, task, FOLLOW_GOES_ASKED, &todo);
    while (todo.n) {
        uint32_t t = array_pop(&todo);
        const struct later_edge *e;
        for (uint32_t k = w->succ_off[t]; k < w->succ_off[t + 1]; k++)
            gone_mark(f, w->succ_task[k], FOLLOW_GOES_BELOW, &todo);
        growth_each_later(w, t, e) gone_mark(f, e->task, FOLLOW_GOES_BELOW, &todo);
    }
    array_free(&todo);
}

bool follow_take_result(void *context, struct message_in *m)
{
    struct client_follow *f = context;
    bool good = bytes_u8(&m->in);
    size_t n;
    const char *text = bytes_text(&m->in, &n);
    if (!bytes_end(&m->in))
        return false;
    if (m->run != f->o.run || !f->cancels.n || client_peer_of(m)->node != f->cancel_node)
        return true; /* an answer that nobody waits for any more */
    char why[160];
    snprintf(why, sizeof why, "%.*s", (int)(n < 159 ? n : 159), n ? text : "");
    if (good) {
        gone_mark_all(f, f->cancels.at[0]);
        cancels_next(f);
    } else {
        cancel_ask_next(f, why);
    }
    return true;
}

/* ---- what has gone ---- */

/* W2. It is told by who calls. */
static void gone_told(struct client_follow *f, uint32_t task)
{
    f->gone[task] = f->gone[task] == FOLLOW_GOES_ASKED ? FOLLOW_GONE_ASKED : FOLLOW_GONE_BELOW;
    f->going--;
}

static bool gone_is_open(const struct client_follow *f, uint32_t task)
{
    return f->gone && (f->gone[task] == FOLLOW_GOES_ASKED || f->gone[task] == FOLLOW_GOES_BELOW);
}

/* Its end may come before the agent's answer: then the wish itself tells. */
bool follow_ended_by_wish(struct client_follow *f, uint32_t task)
{
    bool wished = gone_is_marked(f, task) || (f->cancels.n && f->cancels.at[0] == task);
    if (f->cancels.n && f->cancels.at[0] == task)
        gone_mark_all(f, task);
    if (gone_is_open(f, task))
        gone_told(f, task);
    return wished;
}

void follow_report_removed(struct client_follow *f, uint32_t task)
{
    if (!gone_is_open(f, task))
        return;
    const struct workflow *w = f->w;
    uint32_t because = NONE;
    bool asked = f->gone[task] == FOLLOW_GOES_ASKED;
    for (uint32_t e = w->pred_off[task]; !asked && because == NONE && e < w->pred_off[task + 1];
         e++)
        if (gone_is_marked(f, w->pred_task[e]))
            because = w->pred_task[e];
    gone_told(f, task);
    double now = client_now(f->c) - f->created;
    follow_report(f, &(struct trace_event){.kind = TRACE_SKIPPED,
                                           .id = task,
                                           .other = because,
                                           .outcome = TRACE_CANCELLED,
                                           .start = now,
                                           .finish = now});
}

void follow_read_removed(struct client_follow *f)
{
    if (!f->going || f->reading)
        return;
    struct meta_op *ops = mem_new_zero(struct meta_op, WISH_READS);
    size_t n = 0;
    for (uint32_t t = 0; t < f->w->ntasks && n < WISH_READS; t++)
        if (gone_is_open(f, t))
            ops[n++] = (struct meta_op){.kind = META_READ, .task = t};
    f->reading = n > 0;
    f->read_open = (uint32_t)n;
    f->read_next = f->w->ntasks;
    if (n)
        client_ask(f->c, ops, n);
    free(ops);
}

void follow_count_cancelled(struct client_follow *f)
{
    for (uint32_t t = 0; f->gone && t < f->w->ntasks; t++)
        f->result.cancelled +=
            (f->gone[t] == FOLLOW_GOES_ASKED || f->gone[t] == FOLLOW_GONE_ASKED) &&
            f->seen[t] < FOLLOW_SEEN_DONE && f->seen[t] != FOLLOW_SEEN_FAILED;
}

/* ---- logs of what runs ---- */

static void shown_path(const struct client_follow *f, const struct follow_shown *s,
                       struct strbuf *out)
{
    strbuf_printf(out, "%s/logs/%s/.live-%u-%u", f->o.state, f->o.label ? f->o.label : "cluster",
                  s->task, s->attempt);
}

static struct follow_shown *shown_find(struct client_follow *f, uint32_t task)
{
    for (size_t i = 0; i < f->shown.n; i++)
        if (f->shown.at[i].task == task)
            return &f->shown.at[i];
    return NULL;
}

void follow_hide(struct client_follow *f, uint32_t task)
{
    struct follow_shown *s = shown_find(f, task);
    struct strbuf path = {0};
    if (!s)
        return;
    shown_path(f, s, &path);
    unlink(path.at);
    strbuf_free(&path);
    *s = array_pop(&f->shown);
}

/* W3. */
void client_follow_show(struct client_follow *f, uint32_t task)
{
    if (task >= f->w->ntasks || f->seen[task] != FOLLOW_SEEN_RUNNING || !f->o.state)
        return;
    struct client_peer *p = client_peer(f->c, f->node[task]);
    struct follow_shown *s = shown_find(f, task);
    double now = clock_seconds();
    if (!p || !p->open || (s && s->asked && now - s->answered < WISH_PATIENCE))
        return;
    if (!s) {
        array_push(&f->shown, (struct follow_shown){.task = task});
        s = &f->shown.at[f->shown.n - 1];
    }
    s->asked = true;
    s->answered = now;
    struct strbuf *head = &f->c->scratch;
    strbuf_clear(head);
    bytes_put_u64(head, f->o.run);
    bytes_put_u32(head, task);
    bytes_put_u64(head, s->end);
    link_send(p->link, MESSAGE_SHOW, head->at, head->n, NULL, 0);
}

/* Behind what is there; a gap is told. A disk that is full shows less: the task's own log is its agent's. */
static void shown_append(const struct client_follow *f, const struct follow_shown *s, uint64_t from,
                         const char *text, size_t n)
{
    struct strbuf path = {0}, all = {0};
    struct error err = {0};
    shown_path(f, s, &path);
    if (from > s->end)
        strbuf_printf(&all, "[%" PRIu64 " bytes are left out]\n", from - s->end);
    strbuf_add_bytes(&all, text, n);
    int fd = make_parents(path.at, &err)
                 ? open(path.at, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)
                 : -1;
    if (fd >= 0) {
        (void)!write(fd, all.at, all.n);
        close(fd);
    }
    strbuf_free(&path);
    strbuf_free(&all);
}

bool follow_take_shown(void *context, struct message_in *m)
{
    struct client_follow *f = context;
    struct bytes *in = &m->in;
    uint32_t task = bytes_u32(in), attempt = bytes_u32(in);
    uint64_t from = bytes_u64(in);
    size_t n;
    const char *text = bytes_text(in, &n);
    if (!bytes_end(in))
        return false;
    struct follow_shown *s = m->run == f->o.run ? shown_find(f, task) : NULL;
    if (!s || (s->attempt && s->attempt != attempt))
        return true; /* it has ended meanwhile */
    s->asked = false;
    if (from < s->end || !n)
        return true;
    s->attempt = attempt;
    shown_append(f, s, from, text, n);
    s->end = from + n;
    return true;
}

/* ---- turns ---- */

void follow_wishes_tick(struct client_follow *f)
{
    if (!f->cancels.n)
        return;
    if (f->phase != PHASE_FOLLOWING) {
        f->cancels.n = 0;
        return;
    }
    const struct client_peer *p = f->cancel_node == NONE ? NULL : client_peer(f->c, f->cancel_node);
    if (f->cancel_node == NONE)
        cancel_ask_next(f, NULL);
    else if (!p || !p->open)
        cancel_ask_next(f, "its agent is gone");
    else if (clock_seconds() - f->cancel_since > WISH_PATIENCE)
        cancel_ask_next(f, "no agent answers");
}

void follow_wishes_close(struct client_follow *f)
{
    while (f->shown.n)
        follow_hide(f, f->shown.at[f->shown.n - 1].task);
    array_free(&f->shown);
    array_free(&f->cancels);
    array_free(&f->cancel_tried);
    free(f->gone);
}

#include "cluster/agent/agent.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "cluster/agent/agent_state.h"
#include "exec/child.h"
#include "cluster/wire/member.h"
#include "base/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const double unopened_most = 600;  /* seconds that a run may wait to be opened */
static const double hand_over_most = 120; /* seconds for others to take what only we have */

void agent_log(struct agent *a, const char *fmt, ...)
{
    char line[2048];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (a->o->log)
        a->o->log(a->o->context, line);
}

void agent_noted(void *context, bool good, const char *why)
{
    if (!good)
        agent_log(context, "the board: %s", why);
}

/* ---- others ---- */

bool agent_is_up(const struct agent *a, uint32_t node)
{
    return node < a->peers.n && a->peers.at[node].up;
}

struct link *agent_link(struct agent *a, uint32_t node)
{
    if (!agent_is_up(a, node) || node == a->node)
        return NULL;
    struct peer *p = &a->peers.at[node];
    if (p->link)
        return p->link;
    if (!p->address || (p->refused && clock_seconds() - p->refused < 0.2))
        return NULL;
    p->link = link_connect(a->links, p->address);
    if (p->link)
        link_set_data(p->link, (void *)(uintptr_t)(node + 1));
    return p->link;
}

static struct peer *peer_at(struct agent *a, uint32_t node)
{
    while (a->peers.n <= node)
        array_add(&a->peers);
    return &a->peers.at[node];
}

struct job *agent_job(struct agent *a, uint64_t run)
{
    for (size_t i = 0; i < a->jobs.n; i++)
        if (a->jobs.at[i]->number == run)
            return a->jobs.at[i];
    return NULL;
}

/* ---- runs ---- */

static bool is_refused(const struct agent *a, uint64_t run)
{
    for (size_t i = 0; i < a->refused.n; i++)
        if (a->refused.at[i] == run)
            return true;
    return false;
}

static void got_text(void *context, bool good, const void *data, size_t n, const char *why)
{
    struct loading *l = context;
    struct agent *a = l->agent;
    bool again = false; /* the store is away: it is tried when the board shows the run again */
    for (size_t i = 0; i < a->loading.n; i++)
        if (a->loading.at[i] == l)
            a->loading.at[i--] = array_pop(&a->loading);
    if (!good)
        agent_log(a, "run %llu: %s", (unsigned long long)l->run, why);
    struct job *j = good && a->leave == AGENT_STAYS && !agent_job(a, l->run)
                        ? job_open(a, l->run, l->created, data, n, &again)
                        : NULL;
    if (j) {
        array_push(&a->jobs, j);
        if (l->state != BOARD_RUN_COLLECTED)
            job_state(j, l->state);
        for (size_t i = 0; i < a->early.n; i++) /* messages that came before it was there */
            if (a->early.at[i].run == l->run && a->early.at[i].link) {
                bool malformed = false;
                job_message(j, a->early.at[i].link, a->early.at[i].kind, a->early.at[i].data,
                            a->early.at[i].n, &malformed);
            }
    } else if (good && !again) {
        array_push(&a->refused, l->run);
    }
    for (size_t i = a->early.n; i--;) {
        struct early e = a->early.at[i];
        if (e.run != l->run)
            continue;
        a->early.at[i] = array_pop(&a->early);
        if (!j && e.link && e.kind == MESSAGE_KEEP)
            agent_keep_not(a, e.link, e.data, e.n);
        free(e.data);
    }
    free(l);
}

/* Not opened yet: COLLECTED stands for "no state so far". */
void agent_load(struct agent *a, uint64_t run, double created, enum board_run_state state)
{
    if (agent_job(a, run) || is_refused(a, run) || a->leave != AGENT_STAYS ||
        (a->o->only && a->o->only != run))
        return;
    for (size_t i = 0; i < a->loading.n; i++)
        if (a->loading.at[i]->run == run)
            return;
    struct loading *l = mem_new(struct loading, 1);
    *l = (struct loading){a, run, created, state};
    array_push(&a->loading, l);
    board_run_text(a->board, run, got_text, l);
}

static void close_job(struct agent *a, size_t at, bool remove_data)
{
    struct job *j = a->jobs.at[at];
    for (size_t i = 0; i < a->handing.n; i++)
        if (a->handing.at[i].run == j->number)
            a->handing.at[i--] = array_pop(&a->handing);
    memmove(&a->jobs.at[at], &a->jobs.at[at + 1], (a->jobs.n - at - 1) * sizeof *a->jobs.at);
    a->jobs.n--;
    job_close(j, remove_data);
}

static bool has_data(const struct agent *a, uint64_t run)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/runs/%llu", a->o->state, (unsigned long long)run);
    return file_exists(path);
}

static void see_run(struct agent *a, const struct board_run *r)
{
    struct job *j = agent_job(a, r->run);
    if (!j) {
        if (r->state < BOARD_RUN_ENDED || (r->state == BOARD_RUN_ENDED && has_data(a, r->run)))
            agent_load(a, r->run, r->created, r->state);
        return;
    }
    if (!j->scheduling) /* it was loaded before it was opened: now its time is known */
        driver_set_began(j->driver, r->created - a->server_offset);
    if (r->state != BOARD_RUN_COLLECTED) {
        job_state(j, r->state);
        return;
    }
    agent_log(a, "run %llu: its results were taken; its data goes", (unsigned long long)r->run);
    for (size_t i = 0; i < a->jobs.n; i++)
        if (a->jobs.at[i] == j)
            close_job(a, i, true);
    a->collected |= a->o->only == r->run;
}

/* ---- leaving ---- */

void agent_leave(struct agent *a, bool now)
{
    if (a->leave < AGENT_LEAVING) {
        agent_log(a, "leaving");
        a->leave = AGENT_LEAVING;
        a->leave_since = clock_seconds();
    }
    if (now && a->leave < AGENT_LEAVING_NOW) {
        a->leave = AGENT_LEAVING_NOW;
        for (size_t i = 0; i < a->jobs.n; i++)
            executor_end_all(a->jobs.at[i]->executor);
    }
}

static void on_left(void *context, bool good, const char *why)
{
    struct agent *a = context;
    agent_noted(a, good, why);
    a->leave = AGENT_LEFT;
    uv_stop(&a->loop);
}

/* What a run may still need and only we have goes to others first: they fetch it, and say when. */
static void hand_over(struct agent *a)
{
    uint32_t takers[64], n = 0;
    a->handed = true;
    for (uint32_t node = 0; node < a->peers.n && n < 64; node++)
        if (node != a->node && agent_is_up(a, node) && !a->peers.at[node].leaving)
            takers[n++] = node;
    for (size_t i = 0; i < a->jobs.n && n; i++) {
        struct job *j = a->jobs.at[i];
        if (!j->depot || j->state >= BOARD_RUN_COLLECTED)
            continue;
        for (uint32_t o = 0; o < j->w->nobjects; o++) {
            if (!depot_has(j->depot, o))
                continue;
            struct link *l = agent_link(a, takers[o % n]);
            if (!l)
                continue;
            strbuf_clear(&a->scratch);
            bytes_put_u64(&a->scratch, j->number);
            bytes_put_u32(&a->scratch, 1);
            bytes_put_u32(&a->scratch, o);
            link_send(l, MESSAGE_KEEP, a->scratch.at, a->scratch.n, NULL, 0);
            array_push(&a->handing, (struct keep){j->number, o, l});
        }
    }
    if (a->handing.n)
        agent_log(a, "%zu objects go to others", a->handing.n);
}

void agent_go_on_leaving(struct agent *a)
{
    uint32_t running = 0;
    for (size_t i = 0; i < a->jobs.n; i++)
        running += executor_running(a->jobs.at[i]->executor);
    if (running && a->leave < AGENT_LEFT)
        return;
    if (!a->handed && a->leave == AGENT_LEAVING && a->joined)
        hand_over(a);
    if (a->handing.n && clock_seconds() - a->leave_since < hand_over_most)
        return;
    if (a->left_sent)
        return;
    if (a->o->serves && clock_seconds() - a->leave_since < hand_over_most)
        for (uint32_t node = 0; node < a->peers.n; node++)
            if (node != a->node && agent_is_up(a, node))
                return; /* the others need the store to leave */
    a->left_sent = true;
    a->leave_asked = clock_seconds();
    if (a->joined)
        board_leave(a->board, a->node, a->life, on_left, a);
    else
        on_left(a, true, "");
}

/* ---- the board ---- */

static void say_self(struct agent *a, struct strbuf *sealed)
{
    struct strbuf text = {0};
    struct json_writer j;
    json_write_start(&j, &text, false);
    json_write_object(&j);
    json_put_string(&j, "host", a->o->host);
    json_put_string(&j, "address", a->address);
    json_put_integer(&j, "cores", a->o->cores);
    json_put_number(&j, "memory", a->o->memory);
    json_put_string(&j, "version", WEFT_VERSION);
    json_put_integer(&j, "pid", getpid());
    json_put_number(&j, "started", a->started);
    json_put_number(&j, "cache_limit", a->o->cache > 0 ? a->o->cache : NAN);
    json_write_key(&j, "runs");
    json_write_array(&j);
    for (size_t i = 0; i < a->jobs.n; i++)
        job_say(a->jobs.at[i], &j);
    json_write_end_array(&j);
    json_write_end_object(&j);
    seal_piece(&a->o->key, "member", text.at, text.n, sealed);
    strbuf_free(&text);
}

static void join(struct agent *a);

static void see_member(struct agent *a, const struct board_member *m, bool steady)
{
    if (m->node == a->node)
        return;
    struct peer *p = peer_at(a, m->node);
    bool up = m->state != BOARD_DEAD;
    if (!p->known || p->life != m->life) {
        struct member text;
        member_read(m, &a->o->key, &text);
        p->stranger = text.sealed;
        free(p->address);
        p->address = text.address ? mem_copy_string(text.address) : NULL;
        member_free(&text);
        if (p->link)
            link_close(p->link, "the agent there has a new life");
        p->link = NULL; /* `closed` comes later */
        p->refused = 0;
        p->life = m->life;
    }
    bool was = p->known && p->up;
    p->known = true;
    up &= !p->stranger; /* has another key: we cannot speak to it, nor it to us */
    p->up = up;
    p->leaving = m->state == BOARD_LEAVING;
    if (up != was) {
        if (!up)
            agent_log(a, "node %u is gone", m->node);
        if (!up && p->link) {
            link_close(p->link, "its agent is gone");
            p->link = NULL;
        }
        for (size_t i = 0; i < a->jobs.n; i++)
            job_peer(a->jobs.at[i], m->node, up);
    }
    if (up && steady && m->age > (m->lease > 0 ? m->lease : a->lease))
        board_bury(a->board, m->node, m->life, agent_noted, a);
}

/* The first look at the others: with another key than theirs this agent is at the wrong place. */
static bool may_be_here(struct agent *a, const struct board_view *view)
{
    for (size_t i = 0; i < view->nmembers; i++) {
        const struct board_member *m = &view->members[i];
        if (m->node == a->node || m->state == BOARD_DEAD || m->age > a->lease ||
            !a->peers.at[m->node].stranger)
            continue;
        char name[9];
        seal_key_name(&a->o->key, name);
        error_set(&a->error, ERROR_FAILED,
                  "the agents at %s have another cluster key than this one (%s); --key names the "
                  "key's file",
                  a->o->store->text, name);
        a->leave = AGENT_LEAVING_NOW;
        a->left_sent = true;
        a->leave_asked = clock_seconds();
        board_leave(a->board, a->node, a->life, on_left, a);
        return false;
    }
    if (a->o->ready)
        a->o->ready(a->o->context, a->node, a->address);
    a->told_ready = true;
    return true;
}

static void seen(void *context, const struct board_view *view, const char *why)
{
    struct agent *a = context;
    double now = clock_seconds();
    a->beating = false;
    if (!view) {
        agent_log(a, "the board: %s", why);
        return;
    }
    /* while the store was away nobody could beat: ages say nothing until all had time to */
    if (now - a->answered > a->lease / 2)
        a->steady = now;
    a->answered = now;
    a->server_offset = view->now - view->arrived;
    bool alive = false;
    for (size_t i = 0; i < view->nmembers; i++) {
        const struct board_member *m = &view->members[i];
        if (m->node == a->node)
            alive = m->life == a->life && m->state != BOARD_DEAD;
        see_member(a, m, now - a->steady > a->lease);
    }
    if (!alive && a->leave < AGENT_LEFT && !a->left_sent) {
        agent_log(a, "others took this agent for dead; joining again");
        a->joined = false;
        join(a);
        return;
    }
    if (!a->told_ready && !may_be_here(a, view))
        return;
    for (size_t i = 0; i < view->nruns; i++)
        see_run(a, &view->runs[i]);
    a->seen_once = true;
}

void agent_beat(struct agent *a)
{
    if (!a->joined || a->beating || a->left_sent)
        return;
    struct strbuf text = {0};
    say_self(a, &text);
    a->beating = true;
    board_beat(a->board, a->node, a->life, a->leave == AGENT_STAYS ? BOARD_UP : BOARD_LEAVING,
               text.at, text.n, seen, a);
    strbuf_free(&text);
}

static void on_joined(void *context, bool good, uint32_t node, uint32_t life, const char *why)
{
    struct agent *a = context;
    a->joining = false;
    if (!good) {
        error_set(&a->error, ERROR_FAILED, "cannot join the cluster: %s", why);
        uv_stop(&a->loop);
        return;
    }
    if (a->told_ready && node != a->node) { /* another took our number while we were away */
        agent_log(a, "this agent is node %u now", node);
        while (a->jobs.n)
            close_job(a, a->jobs.n - 1, false);
    }
    a->node = node;
    a->life = life;
    a->joined = true;
    peer_at(a, node);
    a->steady = a->answered = clock_seconds();
    for (size_t i = 0; i < a->jobs.n; i++)
        job_rejoined(a->jobs.at[i]);
    agent_beat(a);
}

static void join(struct agent *a)
{
    struct strbuf text = {0};
    uint64_t attempt;
    if (a->joining)
        return;
    a->joining = true;
    seal_random(&attempt, sizeof attempt);
    say_self(a, &text);
    board_join(a->board, a->identity, attempt, a->lease, text.at, text.n, on_joined, a);
    strbuf_free(&text);
}

static void on_board(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    board_poll(((struct agent *)poll->data)->board);
}

/* ---- time ---- */

static void on_beat(uv_timer_t *timer)
{
    agent_beat(timer->data);
}

static void on_tick(uv_timer_t *timer)
{
    struct agent *a = timer->data;
    for (size_t i = 0; i < a->jobs.n; i++)
        job_tick(a->jobs.at[i]);
    if (a->leave != AGENT_STAYS) {
        if (a->o->serves) /* have the others left? */
            agent_beat(a);
        agent_go_on_leaving(a);
    }
    if (++a->ticks % 10)
        return;
    double now = clock_seconds();
    bool idle = true;
    for (size_t i = 0; i < a->jobs.n; i++) {
        struct job *j = a->jobs.at[i];
        job_second(j);
        idle &=
            job_is_idle(j) && (j->state >= BOARD_RUN_ENDED || !j->scheduling || a->o->linger > 0);
        if (!j->scheduling && now - j->loaded > unopened_most) {
            agent_log(a, "run %llu: was never opened", (unsigned long long)j->number);
            close_job(a, i--, true);
        }
    }
    for (uint32_t node = 0; a->o->serves && node < a->peers.n; node++)
        idle &= !agent_is_up(a, node); /* the others need its store */
    if (!idle)
        a->idle = now;
    if ((a->o->linger > 0 && now - a->idle > a->o->linger) || a->collected)
        agent_leave(a, false);
    if (a->left_sent && now - a->leave_asked > 2 * a->lease) { /* the store does not answer */
        a->leave = AGENT_LEFT;
        uv_stop(&a->loop);
    }
}

static void on_spin(uv_idle_t *idle)
{
    (void)idle; /* that it is active keeps the loop from waiting */
}

static void on_turn(uv_prepare_t *prepare)
{
    struct agent *a = prepare->data;
    bool more = false;
    for (size_t i = 0; i < a->jobs.n; i++)
        more |= job_turn(a->jobs.at[i]);
    if (more)
        uv_idle_start(&a->spin, on_spin);
    else
        uv_idle_stop(&a->spin);
}

static void on_signal(uv_signal_t *signal, int number)
{
    (void)number;
    struct agent *a = signal->data;
    agent_leave(a, a->leave != AGENT_STAYS);
    agent_go_on_leaving(a);
}

/* ---- from beginning to end ---- */

/* Who this agent is to the board: kept in its folder, so that it is the same after a restart. */
static bool find_identity(struct agent *a, struct error *err)
{
    struct strbuf path = {0};
    struct text old = {0};
    struct error ignored = {0};
    char id[33];
    strbuf_printf(&path, "%s/identity", a->o->state);
    if (file_exists(path.at) && file_read(path.at, &old, &ignored) && old.n == 33) {
        a->identity = mem_copy_bytes(old.at, 32);
    } else {
        uint8_t random[16];
        seal_random(random, sizeof random);
        for (int i = 0; i < 16; i++)
            snprintf(id + 2 * i, 3, "%02x", random[i]);
        a->identity = mem_copy_string(id);
        struct strbuf line = {0};
        strbuf_printf(&line, "%s\n", id);
        file_write(path.at, line.at, line.n, err);
        strbuf_free(&line);
    }
    text_free(&old);
    strbuf_free(&path);
    return err->kind == ERROR_NONE;
}

/* One agent at a time in a folder. */
static int lock_state(const struct agent *a, struct error *err)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/lock", a->o->state);
    int fd = make_parents(path.at, err) ? open(path.at, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd < 0 && err->kind == ERROR_NONE)
        error_set(err, ERROR_FAILED, "%s: %s", path.at, strerror(errno));
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        error_set(err, ERROR_INPUT,
                  "%s: another agent works in this folder; give each its own (--state)",
                  a->o->state);
        close(fd);
        fd = -1;
    }
    if (fd >= 0) { /* tasks of an agent that was killed must not go on beside ours */
        char pid[32] = {0};
        ssize_t n = pread(fd, pid, sizeof pid - 1, 0);
        long before = n > 0 ? strtol(pid, NULL, 10) : 0;
        if (before > 0)
            children_end_of((pid_t)before);
        n = snprintf(pid, sizeof pid, "%d\n", (int)getpid());
        if (ftruncate(fd, 0) != 0 || pwrite(fd, pid, (size_t)n, 0) != n)
            error_set(err, ERROR_FAILED, "%s: %s", path.at, strerror(errno));
    }
    strbuf_free(&path);
    return fd;
}

/* "host:port" under which others reach us. */
static void name_address(struct agent *a)
{
    const char *bound = links_address(a->links), *port = strrchr(bound, ':');
    struct strbuf text = {0};
    if (a->o->tell && port)
        strbuf_printf(&text, "%s%s", a->o->tell, port);
    else
        strbuf_add(&text, bound);
    a->address = strbuf_steal(&text);
}

static bool open_agent(struct agent *a, struct error *err)
{
    const struct agent_options *o = a->o;
    a->links = agent_listen(a, err);
    if (!a->links)
        return false;
    name_address(a);
    a->board = board_open(o->store, err);
    if (!a->board)
        return false;
    uv_poll_init(&a->loop, &a->board_ready, board_fd(a->board));
    a->board_ready.data = a;
    uv_poll_start(&a->board_ready, UV_READABLE, on_board);
    return true;
}

static void open_handles(struct agent *a)
{
    static const int numbers[] = {SIGTERM, SIGINT};
    uv_timer_init(&a->loop, &a->beat);
    uv_timer_init(&a->loop, &a->tick);
    uv_prepare_init(&a->loop, &a->turn);
    uv_idle_init(&a->loop, &a->spin);
    a->beat.data = a->tick.data = a->turn.data = a;
    uint64_t every = (uint64_t)(a->lease * 1000 / 5);
    uv_timer_start(&a->beat, on_beat, every, every > 10 ? every : 10);
    uv_timer_start(&a->tick, on_tick, 100, 100);
    uv_prepare_start(&a->turn, on_turn);
    for (int i = 0; i < 2; i++) {
        uv_signal_init(&a->loop, &a->signals[i]);
        a->signals[i].data = a;
        uv_signal_start(&a->signals[i], on_signal, numbers[i]);
    }
}

static void close_handle(uv_handle_t *handle, void *context)
{
    (void)context;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static void free_agent(struct agent *a, bool opened)
{
    while (a->jobs.n)
        close_job(a, a->jobs.n - 1, false);
    if (a->links)
        links_free(a->links);
    if (opened) {
        uv_prepare_stop(&a->turn);
        uv_close((uv_handle_t *)&a->turn, NULL);
        uv_close((uv_handle_t *)&a->beat, NULL);
        uv_close((uv_handle_t *)&a->tick, NULL);
        uv_close((uv_handle_t *)&a->spin, NULL);
        for (int i = 0; i < 2; i++)
            uv_close((uv_handle_t *)&a->signals[i], NULL);
    }
    if (a->board)
        uv_close((uv_handle_t *)&a->board_ready, NULL);
    while (uv_run(&a->loop, UV_RUN_DEFAULT) != 0)
        ;
    uv_walk(&a->loop, close_handle, NULL);
    uv_run(&a->loop, UV_RUN_DEFAULT);
    uv_loop_close(&a->loop);
    board_close(a->board);
    for (size_t i = 0; i < a->peers.n; i++)
        free(a->peers.at[i].address);
    array_free(&a->peers);
    array_free(&a->jobs);
    array_free(&a->refused);
    array_free(&a->keeps);
    array_free(&a->handing);
    for (size_t i = 0; i < a->loading.n; i++)
        free(a->loading.at[i]);
    array_free(&a->loading);
    for (size_t i = 0; i < a->early.n; i++)
        free(a->early.at[i].data);
    array_free(&a->early);
    array_free(&a->items);
    strbuf_free(&a->scratch);
    free(a->identity);
    free(a->address);
}

bool agent_run(const struct agent_options *o, struct error *err)
{
    struct agent a = {.o = o, .lease = o->lease > 0 ? o->lease : 5};
    a.started = (double)time(NULL);
    a.idle = clock_seconds();
    int lock = lock_state(&a, err);
    if (lock < 0)
        return false;
    uv_loop_init(&a.loop);
    bool good = find_identity(&a, err) && open_agent(&a, err);
    if (good) {
        open_handles(&a);
        join(&a);
        uv_run(&a.loop, UV_RUN_DEFAULT);
    }
    free_agent(&a, good);
    close(lock);
    if (a.error.kind != ERROR_NONE)
        return error_set(err, a.error.kind, "%s", a.error.text);
    return good;
}

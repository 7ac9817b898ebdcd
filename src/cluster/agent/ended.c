/* Ended runs (ended.h).
 *
 *     STATE/runs/NUMBER/ended      when it ended, and the bytes of its data: so a restart need not look
 *                       failures   why tasks failed (job_failures.c)
 *
 * I1. `a->ended` is sorted by number; of one number there may be several ids, of which the board knows one.
 * I2. No run is in it that is worked on: a job of it, if there is one, is JOB_ENDED and was woken.
 * I3. Nothing is deleted because the board does not know it: whoever may write there could have deleted
 *     its record. Such data goes by age and size. */
#include "cluster/agent/ended.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/tree.h"
#include "cluster/agent/agent_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    QUIET_LEAST = 2,  /* seconds without anybody at an ended run until its job is closed */
    LIMITS_EVERY = 2, /* seconds between looks at what is too old or too much */
    WOKEN_MOST = 16,  /* jobs open at once of those that are handed over */
};

/* ---- the list ---- */

/* The first of this number or after it. */
static size_t ended_place(const struct agent *a, uint64_t run)
{
    size_t low = 0, high = a->ended.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (a->ended.at[middle].run < run)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t ended_index(const struct agent *a, uint64_t run, const uint8_t id[static SEAL_ID])
{
    size_t i = ended_place(a, run);
    while (i < a->ended.n && a->ended.at[i].run == run && memcmp(a->ended.at[i].id, id, SEAL_ID))
        i++;
    return i < a->ended.n && a->ended.at[i].run == run ? i : SIZE_MAX;
}

/* One of this number and id, made if there was none. */
static struct ended_run *ended_at(struct agent *a, uint64_t run, const uint8_t id[static SEAL_ID])
{
    size_t i = ended_index(a, run, id);
    if (i != SIZE_MAX)
        return &a->ended.at[i];
    i = ended_place(a, run);
    array_add(&a->ended);
    memmove(&a->ended.at[i + 1], &a->ended.at[i], (a->ended.n - 1 - i) * sizeof *a->ended.at);
    a->ended.at[i] = (struct ended_run){.run = run};
    memcpy(a->ended.at[i].id, id, SEAL_ID);
    return &a->ended.at[i];
}

static void ended_remove(struct agent *a, size_t i)
{
    memmove(&a->ended.at[i], &a->ended.at[i + 1], (a->ended.n - i - 1) * sizeof *a->ended.at);
    a->ended.n--;
}

struct ended_run *ended_run(struct agent *a, uint64_t run)
{
    struct ended_run *found = NULL;
    for (size_t i = ended_place(a, run); i < a->ended.n && a->ended.at[i].run == run; i++)
        if (!found || a->ended.at[i].on_board)
            found = &a->ended.at[i];
    return found;
}

uint32_t ended_count(const struct agent *a, double *bytes)
{
    uint32_t n = 0;
    *bytes = 0;
    for (size_t i = 0; i < a->ended.n; i++) {
        n += a->ended.at[i].here;
        *bytes += a->ended.at[i].here ? a->ended.at[i].bytes : 0;
    }
    return n;
}

void ended_free(struct agent *a)
{
    array_free(&a->ended);
    array_free(&a->past);
}

/* ---- folders ---- */

static double ended_now(const struct agent *a)
{
    return a->server_offset + clock_seconds();
}

static bool ended_read_id(const char *home, uint8_t id[static SEAL_ID])
{
    struct strbuf path = {0};
    struct text text = {0};
    struct error ignored = {0};
    strbuf_printf(&path, "%s/id", home);
    bool good = file_exists(path.at) && file_read(path.at, &text, &ignored) &&
                text.n == (size_t)2 * SEAL_ID;
    for (int i = 0; good && i < SEAL_ID; i++) {
        unsigned byte;
        good = sscanf(text.at + (size_t)2 * i, "%2x", &byte) == 1;
        id[i] = (uint8_t)byte;
    }
    text_free(&text);
    strbuf_free(&path);
    return good;
}

/* One that was not written down here has ended when its folder was last changed, or later. */
static void ended_read_folder(struct ended_run *e, const char *home)
{
    struct strbuf path = {0};
    struct stat s;
    strbuf_printf(&path, "%s/ended", home);
    FILE *f = fopen(path.at, "re");
    e->here = true;
    if (!f || fscanf(f, "%lf %lf", &e->when, &e->bytes) != 2) {
        e->when = stat(home, &s) == 0 ? (double)s.st_mtime : 0;
        e->bytes = tree_bytes(home);
    }
    if (f)
        fclose(f);
    strbuf_free(&path);
}

void ended_find_folders(struct agent *a)
{
    struct strbuf path = {0};
    folder_names names = {0};
    strbuf_printf(&path, "%s/runs", a->data);
    size_t stem = path.n;
    if (!folder_list(path.at, &names)) {
        strbuf_free(&path);
        return;
    }
    for (size_t i = 0; i < names.n; i++) {
        uint8_t id[SEAL_ID];
        char *end;
        unsigned long long run = strtoull(names.at[i], &end, 10);
        path.n = stem;
        strbuf_printf(&path, "/%s", names.at[i]);
        if (end == names.at[i] || !run || (*end && *end != '-') || !ended_read_id(path.at, id))
            continue;
        ended_read_folder(ended_at(a, run, id), path.at);
        a->last_run = run > a->last_run ? run : a->last_run;
    }
    folder_names_free(&names);
    strbuf_free(&path);
}

static void ended_write_folder(struct agent *a, const struct ended_run *e)
{
    char *home = job_home(a, e->run, e->id), line[64];
    struct strbuf path = {0};
    struct error err = {0};
    strbuf_printf(&path, "%s/ended", home);
    int n = snprintf(line, sizeof line, "%.0f %.0f\n", e->when, e->bytes);
    if (!file_write(path.at, line, (size_t)n, &err))
        agent_log(a, "%s", err.text);
    strbuf_free(&path);
    free(home);
}

static void ended_remove_folder(struct agent *a, const struct ended_run *e)
{
    char *home = job_home(a, e->run, e->id);
    tree_remove(home);
    free(home);
}

/* ---- what the board shows ---- */

void ended_begin_view(struct agent *a)
{
    for (size_t i = 0; i < a->ended.n; i++)
        a->ended.at[i].on_board = false;
}

/* I3. */
void ended_end_view(struct agent *a)
{
    for (size_t i = a->ended.n; i--;)
        if (!a->ended.at[i].on_board && (!a->ended.at[i].here || a->ended.at[i].expiring))
            ended_drop(a, a->ended.at[i].run, a->ended.at[i].id);
}

void ended_see(struct agent *a, const struct board_run *r)
{
    bool known = ended_index(a, r->run, r->id) != SIZE_MAX;
    struct ended_run *e = ended_at(a, r->run, r->id);
    char *home = known ? NULL : job_home(a, r->run, r->id);
    if (home && file_exists(home))
        ended_read_folder(e, home);
    free(home);
    e->on_board = true;
    e->created = r->created;
    e->when = r->changed;
}

void ended_not(struct agent *a, const struct board_run *r)
{
    size_t i = ended_index(a, r->run, r->id);
    if (i != SIZE_MAX)
        ended_remove(a, i);
}

void ended_drop(struct agent *a, uint64_t run, const uint8_t id[static SEAL_ID])
{
    size_t i = ended_index(a, run, id);
    if (i == SIZE_MAX)
        return;
    if (a->ended.at[i].here)
        ended_remove_folder(a, &a->ended.at[i]);
    ended_remove(a, i);
}

void ended_add(struct agent *a, const struct job *j, bool lost)
{
    struct ended_run *e = ended_at(a, j->number, j->ticket.id);
    e->here = true;
    e->on_board = !lost;
    e->handed |= j->handed;
    e->bytes = j->depot ? depot_counts(j->depot).bytes : 0;
    e->when = e->when > 0 ? e->when : ended_now(a);
    ended_write_folder(a, e);
}

/* ---- jobs that rest ---- */

/* Somebody follows it, fetches from it, or gives to it; or something of it still runs. */
static bool ended_is_in_use(const struct agent *a, const struct job *j)
{
    for (size_t i = 0; i < a->keeps.n; i++)
        if (a->keeps.at[i].run == j->number)
            return true;
    for (size_t i = 0; i < a->handing.n; i++)
        if (a->handing.at[i].run == j->number)
            return true;
    return j->watchers.n || !job_is_idle(j) || (j->depot && !depot_is_quiet(j->depot));
}

/* What it said last is said a while longer: who looks after the end sees who did what. */
static void ended_keep_words(struct agent *a, const struct job *j)
{
    struct member_work words;
    job_work(j, &words);
    for (size_t i = 0; i < a->past.n; i++)
        if (a->past.at[i].run == j->number)
            return; /* it was woken to be looked at: it did its work before */
    if (a->past.n == ENDED_WORDS) {
        memmove(&a->past.at[0], &a->past.at[1], (ENDED_WORDS - 1) * sizeof *a->past.at);
        a->past.n--;
    }
    array_push(&a->past, words);
}

static void ended_close(struct agent *a, size_t at)
{
    ended_add(a, a->jobs.at[at], false);
    ended_keep_words(a, a->jobs.at[at]);
    agent_close_job(a, at, false);
}

static void ended_close_quiet(struct agent *a)
{
    for (size_t i = 0; i < a->jobs.n; i++) {
        struct job *j = a->jobs.at[i];
        if (j->state != JOB_ENDED || ended_is_in_use(a, j))
            j->quiet = 0;
        else if (j->quiet++ >= QUIET_LEAST)
            ended_close(a, i--);
    }
}

/* Who woke it to have it keep something is done with it: hundreds may be handed over, and must not be open
 * at once. */
void ended_kept(struct agent *a, uint64_t run)
{
    struct job *j = agent_job(a, run);
    if (j && j->state == JOB_ENDED)
        j->quiet = QUIET_LEAST;
}

/* The next ones wait for its room; that somebody comes for it again is no reason to stay. */
void ended_close_handed(struct agent *a)
{
    for (size_t i = 0; a->departure == AGENT_HANDING_OVER && i < a->jobs.n; i++) {
        struct job *j = a->jobs.at[i];
        if (j->state == JOB_ENDED && j->handed && !ended_is_in_use(a, j))
            ended_close(a, i--);
    }
}

bool ended_wake_to_hand(struct agent *a)
{
    uint32_t open = (uint32_t)a->loading.n;
    bool more = false;
    for (size_t i = 0; i < a->jobs.n; i++)
        open += a->jobs.at[i]->state == JOB_ENDED;
    for (size_t i = 0; i < a->ended.n; i++) {
        struct ended_run *e = &a->ended.at[i];
        if (e->handed || !e->here || !e->on_board || agent_job(a, e->run))
            continue;
        more = true;
        if (open >= WOKEN_MOST || agent_is_loading(a, e->run))
            continue;
        e->handed = true;
        open += agent_wake_run(a, e->run);
    }
    return more || a->loading.n;
}

/* ---- limits ---- */

/* Who has nothing of it leaves the word to others, unless he is the first that lives. */
static bool ended_is_first(const struct agent *a)
{
    for (uint32_t node = 0; node < a->node; node++)
        if (peer_is_up(a, node))
            return false;
    return true;
}

/* All agents learn of it from the board; what is only here goes at once. */
static void ended_expire(struct agent *a, size_t i, const char *why)
{
    struct ended_run *e = &a->ended.at[i];
    if (e->expiring || agent_job(a, e->run))
        return;
    agent_log(a, "run %llu: nobody took its results, %s: its data goes", (unsigned long long)e->run,
              why);
    if (!e->on_board) {
        ended_drop(a, e->run, e->id);
        return;
    }
    struct board_change change = charter_change(&a->charter, e->run, e->id, BOARD_RUN_EXPIRED);
    e->expiring = true;
    board_run_state(a->board, &change, agent_recorded, a);
    board_forget_run(a->board, e->run, agent_recorded, a);
}

/* The one that ended first, of those with data here or of all; SIZE_MAX: none. */
static size_t ended_oldest(const struct agent *a, bool here)
{
    size_t oldest = SIZE_MAX;
    for (size_t i = 0; i < a->ended.n; i++) {
        const struct ended_run *e = &a->ended.at[i];
        if (!e->expiring && (!here || (e->here && e->bytes > 0)) &&
            (oldest == SIZE_MAX || e->when < a->ended.at[oldest].when))
            oldest = i;
    }
    return oldest;
}

static void ended_limit_age(struct agent *a)
{
    double now = ended_now(a);
    bool first = ended_is_first(a);
    for (size_t i = a->ended.n; i--;)
        if ((a->ended.at[i].here || first) && now - a->ended.at[i].when > a->keep_for)
            ended_expire(a, i, "for as long as they are kept (--keep-for)");
}

/* The oldest first. One of which nothing can be said yet (its job is open) is asked about next time. */
static void ended_limit_size(struct agent *a)
{
    double bytes = 0;
    uint32_t runs = 0;
    for (size_t i = 0; i < a->ended.n; i++) {
        bytes += a->ended.at[i].here && !a->ended.at[i].expiring ? a->ended.at[i].bytes : 0;
        runs += a->ended.at[i].on_board && !a->ended.at[i].expiring;
    }
    for (size_t i; bytes > a->keep_size && (i = ended_oldest(a, true)) != SIZE_MAX;) {
        double some = a->ended.at[i].bytes;
        size_t before = a->ended.n;
        ended_expire(a, i, "and the data of ended runs is more than is kept (--keep-size)");
        if (before == a->ended.n && !a->ended.at[i].expiring)
            break;
        bytes -= some;
    }
    for (size_t i;
         runs > ENDED_RUNS_MOST && ended_is_first(a) && (i = ended_oldest(a, false)) != SIZE_MAX;) {
        size_t before = a->ended.n;
        ended_expire(a, i, "and there are more such runs than a cluster keeps");
        if (before == a->ended.n && !a->ended.at[i].expiring)
            break;
        runs--;
    }
}

void ended_second(struct agent *a)
{
    ended_close_quiet(a);
    if (a->ticks % ((uint64_t)LIMITS_EVERY * 10) != 0 || a->membership != AGENT_MEMBER ||
        !agent_is_staying(a))
        return;
    ended_limit_age(a);
    ended_limit_size(a);
}

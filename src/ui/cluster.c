/* The Cluster view's answers: agents, queues, transfers, caches and runs, as the library sees them; an agent that shall leave, a
 * run that shall end.
 *
 *     pages ──▶ /api/cluster, at most once a second each ──▶ one connection to the store, one look a second for all of them
 *
 * I1. A store may be slow or away, so these addresses are answered on threads of their own (slow.h); `cluster_lock` is held
 *     while one of them speaks to the store. Nobody else takes it for longer than a copy: the server's own thread only tries.
 * I2. A look that is younger than CLUSTER_FRESH is given to whoever asks: many pages cost the store what one does.
 * I3. Which cluster: that of the environment in which `weft ui` was started, or of a run that has left a note in the folder
 *     (`weft run --on`). A page names no other address: it would make this process knock where its reader cannot.
 * I4. A connection that nobody has asked for CLUSTER_IDLE seconds is closed. */
#include "api/inside_cluster.h"
#include "base/clock.h"
#include "base/json.h"
#include "ui/handlers.h"
#include "ui/laboratory.h"
#include "weft/weft.h"
#include <pthread.h>
#include <stdlib.h>

enum { CLUSTER_RUNS = 100 }; /* the newest, and those whose results wait */
static const double CLUSTER_FRESH = 0.8, CLUSTER_IDLE = 60, CLUSTER_PATIENCE = 5; /* seconds */

static pthread_mutex_t cluster_lock = PTHREAD_MUTEX_INITIALIZER;
/* All under the lock. */
static struct {
    struct weft_cluster *at; /* NULL: none is open */
    int64_t run;             /* whose note names it; 0: that of the environment */
    double looked, asked;    /* clock_seconds() */
    struct strbuf told;      /* what the last look saw */
} cluster_view;

static void cluster_view_close(void)
{
    weft_cluster_close(cluster_view.at);
    cluster_view.at = NULL;
    strbuf_clear(&cluster_view.told);
    cluster_view.looked = 0;
}

/* The number of a run on record is another than that on its cluster, which its note has: that is what the page sends. */
static int64_t cluster_asked_run(const char *text)
{
    char *end;
    long long run = text ? strtoll(text, &end, 10) : 0;
    return text && *end == 0 && run > 0 ? run : 0;
}

/* Under the lock. False: `error` says why, and nothing is open. */
static bool cluster_view_open(const struct laboratory *lab, int64_t run, struct weft_error *error)
{
    if (cluster_view.at && cluster_view.run != run)
        cluster_view_close();
    cluster_view.asked = clock_seconds();
    if (cluster_view.at)
        return true;
    struct weft_cluster_options o = WEFT_CLUSTER_OPTIONS_INIT;
    o.run = (uint64_t)run;
    o.folder = run ? lab->folder : NULL;
    cluster_view.at = weft_cluster_open(&o, error);
    cluster_view.run = run;
    return cluster_view.at != NULL;
}

/* Under the lock. */
static bool cluster_view_look(struct weft_error *error)
{
    struct weft_cluster_query query = WEFT_CLUSTER_QUERY_INIT;
    double now = clock_seconds();
    if (cluster_view.told.n && now - cluster_view.looked < CLUSTER_FRESH)
        return true;
    query.latest = CLUSTER_RUNS;
    query.patience = CLUSTER_PATIENCE;
    const struct weft_cluster_status *s = weft_cluster_snapshot(cluster_view.at, &query, error);
    if (!s)
        return false;
    struct json_writer j;
    strbuf_clear(&cluster_view.told);
    json_write_start(&j, &cluster_view.told, false);
    cluster_status_json(s, weft_cluster_store(cluster_view.at), &j);
    cluster_view.looked = clock_seconds();
    return true;
}

/* Nobody has named a cluster: neither the page a run's, nor the terminal its own. */
static bool cluster_view_none(int64_t run)
{
    const char *store = getenv("WEFT_STORE"), *key = getenv("WEFT_KEY");
    return !run && !(store && *store) && !(key && *key);
}

/* GET /api/cluster?run=N: weft-status/1. A cluster that cannot be reached is 503 with why, so that a page says it and asks
 * again; that there is none at all is no trouble: {"none": true}. */
static void answer_cluster(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    struct weft_error error;
    int64_t run = cluster_asked_run(request_value(r, "run"));
    pthread_mutex_lock(&cluster_lock);
    if (cluster_view_open(lab, run, &error) && cluster_view_look(&error)) {
        strbuf_add_bytes(&out->body, cluster_view.told.at, cluster_view.told.n);
    } else {
        cluster_view_close(); /* the next one tries afresh */
        if (cluster_view_none(run))
            strbuf_add(&out->body, "{\"none\": true}");
        else
            reply_fail(out, 503, error.text);
    }
    pthread_mutex_unlock(&cluster_lock);
}

/* GET /api/cluster/noted: clusters that runs of this folder have notes of, by the runs' numbers there. */
static void answer_noted(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    (void)r;
    size_t n = 0;
    struct json_writer j;
    uint64_t *runs = cluster_noted_runs(lab->folder, &n);
    json_write_start(&j, &out->body, false);
    json_write_array(&j);
    for (size_t i = 0; i < n; i++)
        json_write_integer(&j, (int64_t)runs[i]);
    json_write_end_array(&j);
    free(runs);
}

/* What a POST asks for; false: `out` says what was expected. */
struct cluster_wish {
    int64_t run;    /* of the note; 0: none */
    double subject; /* a node, or a run of the cluster */
    bool now;
};
static bool cluster_wish_read(const struct request *r, const char *subject,
                              struct cluster_wish *out, struct reply *reply)
{
    struct json j;
    struct error err = {0};
    if (!json_parse(&j, "request", r->body, r->nbody, &err)) {
        reply_fail(reply, 400, err.text);
        return false;
    }
    json_ref what = json_get(&j, 0, subject), now = json_get(&j, 0, "now"),
             run = json_get(&j, 0, "of");
    bool good = what != JSON_NONE && json_type(&j, what) == JSON_NUMBER &&
                json_number(&j, what) >= 0 && json_number(&j, what) < UINT32_MAX;
    *out = (struct cluster_wish){.run = run != JSON_NONE && json_type(&j, run) == JSON_NUMBER &&
                                                json_number(&j, run) > 0 &&
                                                json_number(&j, run) < UINT32_MAX
                                            ? (int64_t)json_number(&j, run)
                                            : 0,
                                 .subject = good ? json_number(&j, what) : 0,
                                 .now = now != JSON_NONE && json_type(&j, now) == JSON_TRUE};
    json_free(&j);
    if (!good)
        reply_fail(reply, 400, "say which: {\"node\": 2} or {\"run\": 3}");
    return good;
}

static void cluster_say(struct reply *out, bool good, const char *said,
                        const struct weft_error *error)
{
    struct json_writer j;
    if (!good) {
        reply_error(out, error);
        return;
    }
    json_write_start(&j, &out->body, false);
    json_write_object(&j);
    json_put_text(&j, "said", said);
    json_write_end_object(&j);
    cluster_view.looked = 0; /* whoever asks now sees what has changed */
}

/* POST /api/cluster/drain {"node": 2, "now": false, "of": RUN}: {"said": the agent's word}. */
static void answer_drain(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    struct weft_error error;
    struct cluster_wish wish;
    const char *said = NULL;
    if (!cluster_wish_read(r, "node", &wish, out))
        return;
    pthread_mutex_lock(&cluster_lock);
    bool good =
        cluster_view_open(lab, wish.run, &error) &&
        weft_cluster_drain(cluster_view.at, (uint32_t)wish.subject, wish.now, &said, &error);
    cluster_say(out, good, said, &error);
    pthread_mutex_unlock(&cluster_lock);
}

/* POST /api/cluster/cancel {"run": 3, "of": RUN}: a run of the cluster, with everything of it. */
static void answer_cancel(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    struct weft_error error;
    struct cluster_wish wish;
    const char *said = NULL;
    if (!cluster_wish_read(r, "run", &wish, out))
        return;
    pthread_mutex_lock(&cluster_lock);
    bool good = cluster_view_open(lab, wish.run, &error) &&
                weft_cluster_cancel(cluster_view.at, (uint64_t)wish.subject, NULL, &said, &error);
    cluster_say(out, good, said, &error);
    pthread_mutex_unlock(&cluster_lock);
}

/* I4. While somebody speaks to the store it is not idle. */
void cluster_look(const struct laboratory *lab)
{
    (void)lab;
    if (pthread_mutex_trylock(&cluster_lock) != 0)
        return;
    if (cluster_view.at && clock_seconds() - cluster_view.asked > CLUSTER_IDLE)
        cluster_view_close();
    pthread_mutex_unlock(&cluster_lock);
}

const struct ui_route cluster_routes[] = {
    {false, "~/api/cluster", answer_cluster},
    {false, "/api/cluster/noted", answer_noted},
    {true, "~/api/cluster/drain", answer_drain},
    {true, "~/api/cluster/cancel", answer_cancel},
    {0},
};

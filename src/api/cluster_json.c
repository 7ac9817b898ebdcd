/* A cluster's status as JSON: what `weft status --json` prints and the page's Cluster view shows, in one place, so that a field that
 * is added is in both. */
#include "api/inside_cluster.h"
#include "base/json.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

const char *cluster_agent_state_name(enum weft_agent_state state)
{
    static const char *const names[] = {"up", "leaving", "silent", "dead", "left", "aside"};
    return (size_t)state < sizeof names / sizeof *names ? names[state] : "?";
}

const char *cluster_run_state_name(enum weft_cluster_run_state state)
{
    static const char *const names[] = {"running",   "stopping", "cancelled", "ended",
                                        "collected", "forged",   "expired"};
    return (size_t)state < sizeof names / sizeof *names ? names[state] : "?";
}

/* The counts of an agent's work, by their names in JSON (docs/cluster.md). */
#define WORK(field)                                                                                \
    {                                                                                              \
#field, offsetof(struct weft_agent_work, field)                                            \
    }
/* clang-format off */
static const struct {
    const char *name;
    size_t at;
} work_fields[] = {
    WORK(tt),
    WORK(held),
    WORK(waiting),
    WORK(local),
    WORK(shared),
    WORK(running),
    WORK(fetching),
    WORK(done),
    WORK(failed),
    WORK(lost),
    WORK(steals),
    WORK(failed_steals),
    WORK(stolen),
    WORK(given),
    WORK(pushed),
    WORK(recomputed),
    WORK(fetched),
    WORK(fetched_bytes),
    WORK(served),
    WORK(served_bytes),
    WORK(hits),
    WORK(misses),
    WORK(cache_bytes),
    WORK(busy),
    WORK(dropped),
};
/* clang-format on */

/* By its offset: the table above is the one place that lists them. */
static double work_field(const struct weft_agent_work *w, size_t at)
{
    double x;
    memcpy(&x, (const char *)w + at, sizeof x);
    return x;
}

static void status_work_json(const struct weft_agent_work *w, struct json_writer *j)
{
    json_write_object_inline(j);
    json_put_integer(j, "run", (int64_t)w->run);
    json_put_string(j, "policy", w->policy);
    for (size_t k = 0; k < sizeof work_fields / sizeof *work_fields; k++)
        json_put_number(j, work_fields[k].name, work_field(w, work_fields[k].at));
    json_write_end_object(j);
}

/* All agents that the board knows, dead ones, too: a program decides what it shows. */
static void status_agents_json(const struct weft_cluster_status *s, struct json_writer *j)
{
    json_write_key(j, "agents");
    json_write_array(j);
    for (size_t i = 0; i < s->nagents; i++) {
        const struct weft_agent_info *m = &s->agents[i];
        json_write_object(j);
        json_put_integer(j, "node", m->node);
        json_put_integer(j, "life", m->life);
        json_put_string(j, "state", cluster_agent_state_name(m->state));
        if (m->aside)
            json_put_string(j, "aside", m->aside);
        json_put_number(j, "age", m->age);
        json_put_string(j, "host", m->host);
        json_put_string(j, "address", m->address);
        json_put_string(j, "version", m->version);
        json_put_integer(j, "cores", m->cores);
        json_put_number(j, "memory", m->memory);
        json_put_integer(j, "pid", m->pid);
        json_put_number(j, "started", m->started);
        json_put_number(j, "cache_limit", m->cache_limit);
        json_write_key(j, "runs");
        json_write_array(j);
        for (size_t k = 0; k < m->nwork; k++)
            status_work_json(&m->work[k], j);
        json_write_end_array(j);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

static void status_kept_json(const struct weft_cluster_status *s, struct json_writer *j)
{
    json_write_key(j, "kept");
    json_write_array(j);
    for (size_t i = 0; i < s->nkept; i++) {
        json_write_object_inline(j);
        json_put_integer(j, "node", s->kept[i].node);
        json_put_integer(j, "runs", s->kept[i].runs);
        json_put_number(j, "bytes", s->kept[i].bytes);
        json_put_number(j, "bytes_most", s->kept[i].most);
        json_put_number(j, "seconds", s->kept[i].seconds);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

static void status_paces_json(const struct weft_cluster_status *s, struct json_writer *j)
{
    json_write_key(j, "paces");
    json_write_array(j);
    for (size_t i = 0; i < s->npaces; i++) {
        json_write_object_inline(j);
        json_put_integer(j, "node", s->paces[i].node);
        json_put_number(j, "speed", s->paces[i].speed > 0 ? s->paces[i].speed : NAN);
        json_put_number(j, "load", s->paces[i].load);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

/* What is not known is null. */
static void status_runs_json(const struct weft_cluster_status *s, struct json_writer *j)
{
    json_write_key(j, "runs");
    json_write_array(j);
    for (size_t i = 0; i < s->nruns; i++) {
        const struct weft_cluster_run *r = &s->runs[i];
        json_write_object(j);
        json_put_integer(j, "run", (int64_t)r->run);
        json_put_text(j, "workflow", r->workflow);
        json_put_string(j, "state", cluster_run_state_name(r->state));
        json_put_number(j, "created", r->created);
        json_put_number(j, "changed", r->changed);
        json_put_text(j, "host", r->host);
        json_put_text(j, "folder", r->folder);
        json_put_bool(j, "shared", r->shared);
        json_put_number(j, "tasks", r->known ? r->tasks : NAN);
        json_put_number(j, "before", r->before);
        json_put_number(j, "done", r->counted ? r->done : NAN);
        json_put_number(j, "failed", r->counted ? r->failed : NAN);
        json_put_number(j, "removed", r->counted ? r->removed : NAN);
        json_put_bool(j, "proved", r->counted && r->proved);
        json_put_number(j, "unproved", r->counted ? r->unproved : NAN);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

/* What stands beside agents and runs: sentences for people. */
void cluster_status_json(const struct weft_cluster_status *s, const char *store,
                         struct json_writer *j)
{
    json_write_object(j);
    json_put_string(j, "schema", "weft-status/1");
    json_put_string(j, "store", store);
    json_put_number(j, "now", s->now);
    status_agents_json(s, j);
    status_runs_json(s, j);
    status_kept_json(s, j);
    status_paces_json(s, j);
    json_put_text(j, "store_trouble", s->store_trouble);
    json_write_key(j, "waits");
    json_write_array(j);
    for (size_t i = 0; i < s->nwaits; i++)
        json_write_string(j, s->waits[i]);
    json_write_end_array(j);
    json_write_end_object(j);
}

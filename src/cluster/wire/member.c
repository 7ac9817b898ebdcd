/* Agents as the board shows them (member.h): the sealed text of a member is opened, and its JSON
 * taken apart without trust. Relies on base/seal.h for who wrote it and on base/json.h for what it
 * is; nothing here keeps a reference to the board's memory. */
#include "cluster/wire/member.h"

#include "model/guide.h"

#include "base/json.h"
#include "base/mem.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is missing or of another type counts as missing: a member of another version is shown as far
 * as it is understood. */
static double member_number(const struct json *j, json_ref object, const char *key, double missing)
{
    json_ref v = json_get(j, object, key);
    return v != JSON_NONE && json_type(j, v) == JSON_NUMBER ? json_number(j, v) : missing;
}

/* "" when it is missing. Valid as long as the JSON is. */
static const char *member_string(const struct json *j, json_ref object, const char *key)
{
    json_ref v = json_get(j, object, key);
    return v != JSON_NONE && json_type(j, v) == JSON_STRING ? json_string(j, v, NULL) : "";
}

/* A whole number of at most `most`, and 0 for whatever else stands there. */
static uint64_t member_whole(double x, double most)
{
    return x >= 0 && x <= most ? (uint64_t)x : 0;
}

#define FIELD(name)                                                                                \
    {                                                                                              \
#name, offsetof(struct member_work, name)                                                  \
    }

static const struct {
    const char *name;
    size_t at;
} fields[] = {
    FIELD(tt),      FIELD(held),          FIELD(waiting),     FIELD(local),
    FIELD(shared),  FIELD(running),       FIELD(fetching),    FIELD(done),
    FIELD(failed),  FIELD(lost),          FIELD(steals),      FIELD(failed_steals),
    FIELD(stolen),  FIELD(given),         FIELD(pushed),      FIELD(recomputed),
    FIELD(fetched), FIELD(fetched_bytes), FIELD(served),      FIELD(served_bytes),
    FIELD(hits),    FIELD(misses),        FIELD(cache_bytes), FIELD(busy),
    FIELD(dropped), FIELD(unfit),
};

/* One element of "runs". All counters are doubles in the struct, so one table of names and offsets
 * reads and writes them. */
static void member_read_work(const struct json *j, json_ref v, struct member *out)
{
    struct member_work w = {.run = member_whole(member_number(j, v, "run", 0), 1e15)};
    snprintf(w.policy, sizeof w.policy, "%s", member_string(j, v, "policy"));
    snprintf(w.asks, sizeof w.asks, "%s", member_string(j, v, "asks"));
    snprintf(w.awaits, sizeof w.awaits, "%s", member_string(j, v, "awaits"));
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        double x = member_number(j, v, fields[i].name, 0);
        memcpy((char *)&w + fields[i].at, &x, sizeof x);
    }
    array_push(&out->works, w);
}

/* A text that cannot be opened belongs to another cluster at the same server, or to another member or
 * an earlier life: node, life, state and age are known all the same. A text that is no JSON leaves "?"
 * for names. */
void member_read(const struct board_member *from, const struct charter *charter, struct member *out)
{
    *out = (struct member){.node = from->node,
                           .life = from->life,
                           .state = from->state,
                           .age = from->age,
                           .lease = from->lease,
                           .cache_limit = NAN};
    struct strbuf text = {0};
    struct json j;
    out->silent = !from->n;
    out->sealed = !charter_unseal(charter, "member", charter_member(from->node, from->life),
                                  from->text, from->n, &text);
    out->text = out->sealed ? NULL : mem_copy_string(strbuf_text(&text));
    if (!out->sealed && text.n && json_parse(&j, "member", text.at, text.n, NULL)) {
        out->host = mem_copy_string(member_string(&j, 0, "host"));
        out->address = mem_copy_string(member_string(&j, 0, "address"));
        out->version = mem_copy_string(member_string(&j, 0, "version"));
        const char *has = member_string(&j, 0, "has");
        out->has = *has ? mem_copy_string(has) : NULL;
        const char *resources = member_string(&j, 0, "resources");
        out->resources = *resources ? mem_copy_string(resources) : NULL;
        const char *aside = member_string(&j, 0, "aside");
        out->aside = *aside ? mem_copy_string(aside) : NULL;
        const char *trouble = member_string(&j, 0, "store_trouble");
        out->store_trouble = *trouble ? mem_copy_string(trouble) : NULL;
        out->cores = (uint32_t)member_whole(member_number(&j, 0, "cores", 0), 1e9);
        out->memory = member_number(&j, 0, "memory", 0);
        out->speed = fmax(member_number(&j, 0, "speed", 0), 0);
        out->load = fmin(fmax(member_number(&j, 0, "load", 0), 0), 1);
        out->started = member_number(&j, 0, "started", 0);
        out->cache_limit = member_number(&j, 0, "cache_limit", NAN);
        out->kept_runs = member_number(&j, 0, "kept_runs", 0);
        out->kept_bytes = member_number(&j, 0, "kept_bytes", 0);
        out->keep_for = member_number(&j, 0, "keep_for", 0);
        out->keep_size = member_number(&j, 0, "keep_size", NAN);
        out->left = member_number(&j, 0, "left", 0);
        out->lasts = fmax(member_number(&j, 0, "lasts", 0), 0);
        out->pid = (int64_t)member_whole(member_number(&j, 0, "pid", 0), 1e12);
        json_ref runs = json_get(&j, 0, "runs");
        if (runs != JSON_NONE && json_type(&j, runs) == JSON_ARRAY)
            for (json_ref v = json_first(&j, runs); v != JSON_NONE;
                 v = json_next_element(&j, runs, v))
                member_read_work(&j, v, out);
        json_free(&j);
    }
    if (!out->host) {
        out->host = mem_copy_string("?");
        out->address = mem_copy_string("");
        out->version = mem_copy_string("?");
    }
    strbuf_free(&text);
}

void member_free(struct member *m)
{
    free(m->host);
    free(m->address);
    free(m->version);
    free(m->has);
    free(m->resources);
    free(m->aside);
    free(m->store_trouble);
    free(m->text);
    array_free(&m->works);
    *m = (struct member){0};
}

struct capacity member_capacity(const struct member *m, const struct workflow *w)
{
    struct capacity c = {.cores = m->cores,
                         .memory = m->memory > 0 ? m->memory : INFINITY,
                         .has = workflow_agent_mask(w, m->has, m->node)};
    capacity_set_things(&c, w, m->resources);
    return c;
}

/* Linear: an agent works on a few runs at a time. */
const struct member_work *member_work(const struct member *m, uint64_t run)
{
    for (size_t i = 0; i < m->works.n; i++)
        if (m->works.at[i].run == run)
            return &m->works.at[i];
    return NULL;
}

void member_work_json(const struct member_work *w, struct json_writer *j)
{
    json_write_object_inline(j);
    json_put_integer(j, "run", (int64_t)w->run);
    json_put_string(j, "policy", w->policy);
    json_put_string(j, "asks", w->asks);
    json_put_string(j, "awaits", w->awaits);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        double x;
        memcpy(&x, (const char *)w + fields[i].at, sizeof x);
        json_put_number(j, fields[i].name, x);
    }
    json_write_end_object(j);
}

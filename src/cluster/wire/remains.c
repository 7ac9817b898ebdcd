/* Remains of runs as sealed JSON. What is missing there is empty: a later version may say more. */
#include "cluster/wire/remains.h"

#include "base/json.h"
#include "base/mem.h"

#include <stdlib.h>

static const char PURPOSE[] = "remains";

/* 0 for whatever else stands there. */
static uint32_t remains_count(const struct json *j, const char *key)
{
    json_ref v = json_get(j, 0, key);
    double x = v != JSON_NONE && json_type(j, v) == JSON_NUMBER ? json_number(j, v) : 0;
    return x >= 0 && x <= UINT32_MAX ? (uint32_t)x : 0;
}

/* Never NULL: callers print it. */
static char *remains_text(const struct json *j, const char *key)
{
    json_ref v = json_get(j, 0, key);
    return mem_copy_string(
        v != JSON_NONE && json_type(j, v) == JSON_STRING ? json_string(j, v, NULL) : "");
}

/* A few hundred bytes, whatever the run was: it stands on the board for an hour. */
void run_remains_seal(const struct run_remains *r, const struct charter *c, uint64_t run,
                      struct strbuf *out)
{
    struct strbuf text = {0};
    struct json_writer j;
    json_write_start(&j, &text, false);
    json_write_object(&j);
    json_put_string(&j, "name", r->name ? r->name : "");
    json_put_string(&j, "host", r->host ? r->host : "");
    json_put_string(&j, "folder", r->folder ? r->folder : "");
    json_put_string(&j, "taken_by", r->taken_by ? r->taken_by : "");
    json_put_string(&j, "taken_to", r->taken_to ? r->taken_to : "");
    json_put_integer(&j, "tasks", r->tasks);
    json_put_integer(&j, "done", r->done);
    json_put_integer(&j, "failed", r->failed);
    json_put_integer(&j, "removed", r->removed);
    json_put_number(&j, "seconds", r->seconds);
    json_put_bool(&j, "shared", r->shared);
    json_write_end_object(&j);
    charter_seal(c, PURPOSE, run, text.at, text.n, out);
    strbuf_free(&text);
}

/* A ticket, which stands at the same place before, is sealed for another purpose and does not open. */
bool run_remains_unseal(struct run_remains *r, const struct charter *c, uint64_t run,
                        const void *data, size_t n)
{
    struct strbuf text = {0};
    struct json j;
    *r = (struct run_remains){0};
    bool good = n && charter_unseal(c, PURPOSE, run, data, n, &text) && text.n &&
                json_parse(&j, "remains", text.at, text.n, NULL);
    if (good) {
        json_ref seconds = json_get(&j, 0, "seconds");
        r->seconds = seconds != JSON_NONE && json_type(&j, seconds) == JSON_NUMBER
                         ? json_number(&j, seconds)
                         : 0;
        json_ref shared = json_get(&j, 0, "shared");
        r->name = remains_text(&j, "name");
        r->host = remains_text(&j, "host");
        r->folder = remains_text(&j, "folder");
        r->taken_by = remains_text(&j, "taken_by");
        r->taken_to = remains_text(&j, "taken_to");
        r->tasks = remains_count(&j, "tasks");
        r->done = remains_count(&j, "done");
        r->failed = remains_count(&j, "failed");
        r->removed = remains_count(&j, "removed");
        r->shared = shared != JSON_NONE && json_type(&j, shared) == JSON_TRUE;
        json_free(&j);
    }
    strbuf_free(&text);
    return good;
}

void run_remains_free(struct run_remains *r)
{
    free(r->name);
    free(r->host);
    free(r->folder);
    free(r->taken_by);
    free(r->taken_to);
    *r = (struct run_remains){0};
}

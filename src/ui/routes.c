/* Which handler answers which address. */
#include "base/json.h"
#include "ui/handlers.h"
#include "ui/request.h"
#include <stdlib.h>
#include <string.h>

static const struct route {
    bool post;
    const char *pattern; /* "#" stands for a number */
    route_handler handler;
} route_table[] = {
    {false, "/api/about", answer_about},
    {false, "/api/runs", answer_runs},
    {false, "/api/run/#", answer_run},
    {false, "/api/run/#/page", answer_run_page},
    {false, "/api/run/#/facts", answer_run_facts},
    {false, "/api/compare", answer_compare},
    {true, "/api/run/#/say", answer_say},
};

static bool route_matches(const char *pattern, const char *path, int64_t *number)
{
    while (*pattern && *pattern != '#') {
        if (*pattern++ != *path++)
            return false;
    }
    if (!*pattern)
        return !*path;
    size_t digits = strspn(path, "0123456789");
    if (digits == 0 || digits > 18)
        return false;
    *number = strtoll(path, NULL, 10);
    return strcmp(pattern + 1, path + digits) == 0;
}

const char *request_value(const struct request *r, const char *name)
{
    for (size_t i = 0; i < r->nvalues; i++) {
        if (strcmp(r->name[i], name) == 0 && r->value[i] && *r->value[i])
            return r->value[i];
    }
    return NULL;
}

void reply_fail(struct reply *out, unsigned status, const char *text)
{
    struct json_writer j;
    strbuf_clear(&out->body);
    json_write_start(&j, &out->body, false);
    json_write_object(&j);
    json_put_string(&j, "error", text);
    json_write_end_object(&j);
    out->status = status;
    out->type = "application/json";
    out->document = false;
}

void route_request(const struct laboratory *lab, bool post, struct request *r, struct reply *out)
{
    bool known = false;
    for (size_t i = 0; i < sizeof route_table / sizeof *route_table; i++) {
        if (!route_matches(route_table[i].pattern, r->path, &r->run))
            continue;
        known = true;
        if (route_table[i].post != post)
            continue;
        out->status = 200;
        out->type = "application/json";
        route_table[i].handler(lab, r, out);
        return;
    }
    reply_fail(out, known ? 405 : 404,
               known ? "this address is asked in another way" : "there is no such address");
}

/* Which handler answers which address: the views, a row each. */
#include "base/json.h"
#include "ui/handlers.h"
#include "ui/request.h"
#include "ui/starting.h"
#include "ui/thrift.h"
#include "weft/weft.h"
#include <stdlib.h>
#include <string.h>

/* One a line: the next one that comes changes one. */
/* clang-format off */
const struct ui_view ui_views[] = {
    {workbench_routes, NULL},
    {database_routes, database_look},
    {lineage_routes, NULL},
    {plan_routes, NULL},
    {experiment_routes, NULL},
    {folder_routes, NULL},
    {run_routes, starting_look},
    {run_graph_routes, NULL},
    {cluster_routes, cluster_look},
    {0},
};
/* clang-format on */

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

void reply_error(struct reply *out, const struct weft_error *error)
{
    reply_fail(out, error->status == WEFT_BAD_INPUT ? 400 : 500, error->text);
}

/* Rows are few and looked through in order: the first that fits answers. The number in the path is left in `r`, also when the
 * row is then not taken: whoever is taken has set it anew.
 * NULL: nobody answers this address; `known`: in another way somebody does. */
static const struct ui_route *route_find(bool post, struct request *r, bool *known)
{
    for (const struct ui_view *view = ui_views; view->routes; view++) {
        for (const struct ui_route *at = view->routes; at->pattern; at++) {
            if (!route_matches(at->pattern + (*at->pattern == '~'), r->path, &r->run))
                continue;
            *known = true;
            if (at->post == post)
                return at;
        }
    }
    return NULL;
}

const struct ui_route *route_of(bool post, struct request *r, struct reply *out)
{
    bool known = false;
    const struct ui_route *found = route_find(post, r, &known);
    if (!found) {
        reply_fail(out, known ? 405 : 404,
                   known ? "this address is asked in another way" : "there is no such address");
        return NULL;
    }
    out->status = 200;
    out->type = "application/json";
    return found;
}

/* On whichever thread: what it took is the run's that was asked about. */
void route_answer(const struct ui_route *route, const struct laboratory *lab,
                  const struct request *r, struct reply *out)
{
    double began = thrift_clock();
    route->handler(lab, r, out);
    if (r->run)
        thrift_spent(r->run, thrift_clock() - began);
}

void route_request(const struct laboratory *lab, bool post, struct request *r, struct reply *out)
{
    const struct ui_route *found = route_of(post, r, out);
    if (found)
        route_answer(found, lab, r, out);
}

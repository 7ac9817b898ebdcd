/* The Database view's answers: runs on record, asked of the library and written as the command line does.
 *
 * The history is opened for each question and closed after it: other processes write it, `weft history --prune` may replace it,
 * and opening costs less than a millisecond. At most RUNS_AT_ONCE heads go to a page at a time; who wants others says so in the
 * question, as people do, rather than by turning pages. */
#include "api/inside.h"
#include "base/digest.h"
#include "base/json.h"
#include "report/history_view.h"
#include "report/page.h"
#include "report/record_json.h"
#include "ui/handlers.h"
#include "ui/laboratory.h"
#include "ui/events.h"
#include "ui/watch.h"
#include "weft/weft.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_AT_ONCE = 200 };

static void answer_about(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    (void)r;
    struct json_writer j;
    json_write_start(&j, &out->body, false);
    json_write_object(&j);
    json_put_string(&j, "version", weft_version());
    json_put_string(&j, "folder", lab->folder);
    json_put_bool(&j, "read_only", lab->read_only);
    json_write_end_object(&j);
}

/* Every digit of a content's digest. A path, which the library takes, too, would be one of this machine and not of the folder. */
static bool is_digest(const char *text)
{
    return strspn(text, "0123456789abcdefABCDEF") == DIGEST_TEXT - 1 && !text[DIGEST_TEXT - 1];
}

/* ?where=SQL&words=WORDS&workflow=PART&since=SECONDS&failed=1&digest=HEX&limit=N: what `weft history --json` prints. */
static void answer_runs(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    (void)lab;
    struct weft_error error;
    struct weft_runs_filter filter = WEFT_RUNS_INIT;
    const char *limit = request_value(r, "limit");
    filter.where = request_value(r, "where");
    filter.workflow = request_value(r, "workflow");
    filter.words = request_value(r, "words");
    filter.digest = request_value(r, "digest");
    if (filter.digest && !is_digest(filter.digest)) {
        reply_fail(out, 400, "a digest has 64 hexadecimal digits");
        return;
    }
    filter.since = request_value(r, "since") ? strtod(request_value(r, "since"), NULL) : 0;
    filter.failed = request_value(r, "failed") != NULL;
    filter.limit = limit ? strtoul(limit, NULL, 10) : 0;
    if (filter.limit == 0 || filter.limit > RUNS_AT_ONCE)
        filter.limit = RUNS_AT_ONCE;
    struct weft_history *h = weft_history_open(NULL, &error);
    struct weft_runs *runs = h ? weft_history_runs(h, &filter, &error) : NULL;
    if (runs)
        history_view_list_json(&runs->list, &out->body);
    else
        reply_error(out, &error);
    weft_runs_free(runs);
    weft_history_close(h);
}

/* NULL: `out` says why. */
static struct weft_record *record_of_request(const struct request *r, struct reply *out)
{
    struct weft_error error;
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)r->run);
    struct weft_record *record = weft_record_load(number, &error);
    if (!record)
        reply_fail(out, 404, error.text);
    return record;
}

/* What `weft report --json` prints. */
static void answer_run(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    (void)lab;
    struct weft_record *record = record_of_request(r, out);
    if (!record)
        return;
    record_json(&record->run, &out->body);
    weft_record_free(record);
}

/* What `weft report -o` writes. */
static void answer_run_page(const struct laboratory *lab, const struct request *r,
                            struct reply *out)
{
    (void)lab;
    struct weft_record *record = record_of_request(r, out);
    if (!record)
        return;
    report_page(&record->run, &out->body);
    out->type = "text/html; charset=utf-8";
    out->document = true;
    weft_record_free(record);
}

/* Parameters, values, labels, tags, notes. */
static void answer_run_facts(const struct laboratory *lab, const struct request *r,
                             struct reply *out)
{
    (void)lab;
    struct weft_error error;
    struct weft_history *h = weft_history_open(NULL, &error);
    struct weft_record *record = h ? weft_history_run(h, r->run, &error) : NULL;
    if (!record) {
        reply_error(out, &error);
        weft_history_close(h);
        return;
    }
    struct json_writer j;
    struct weft_fact fact;
    json_write_start(&j, &out->body, false);
    json_write_array(&j);
    for (size_t i = 0; weft_record_fact(record, i, &fact); i++) {
        json_write_object(&j);
        json_put_string(&j, "sort", fact.sort);
        json_put_text(&j, "name", fact.name);
        json_put_text(&j, "value", fact.value);
        json_put_text(&j, "task", fact.task);
        json_put_integer(&j, "item", fact.item);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    weft_record_free(record);
    weft_history_close(h);
}

/* ?before=N&after=N: what `weft history --compare --json` prints. */
static void answer_compare(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    (void)lab;
    struct weft_error error;
    const char *before = request_value(r, "before"), *after = request_value(r, "after");
    if (!before || !after) {
        reply_fail(out, 400, "say which two runs: ?before=N&after=N");
        return;
    }
    struct weft_history *h = weft_history_open(NULL, &error);
    struct weft_changes *c =
        h ? weft_history_compare(h, strtoll(before, NULL, 10), strtoll(after, NULL, 10), &error)
          : NULL;
    if (c)
        history_view_changes_json(&c->model, &out->body);
    else
        reply_error(out, &error);
    weft_changes_free(c);
    weft_history_close(h);
}

/* A member of the body that has to be a text; NULL: it is not there, or none. */
static const char *body_text(const struct json *j, const char *key)
{
    json_ref v = json_get(j, 0, key);
    return v != JSON_NONE && json_type(j, v) == JSON_STRING ? json_string(j, v, NULL) : NULL;
}

/* {"sort": "note", "text": "...", "unsay": false}: tag, note or name a run. */
static void answer_say(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    (void)lab;
    struct json j;
    struct error err = {0};
    struct weft_error error;
    if (!json_parse(&j, "request", r->body, r->nbody, &err)) {
        reply_fail(out, 400, err.text);
        return;
    }
    const char *sort = body_text(&j, "sort"), *text = body_text(&j, "text");
    json_ref unsay = json_get(&j, 0, "unsay");
    bool back = unsay != JSON_NONE && json_type(&j, unsay) == JSON_TRUE;
    struct weft_history *h = sort && text ? weft_history_open(NULL, &error) : NULL;
    if (!sort || !text)
        reply_fail(out, 400,
                   "expected {\"sort\": \"tag\", \"note\" or \"name\", \"text\": \"...\"}");
    else if (!h || !weft_history_say(h, r->run, sort, text, back, &error))
        reply_error(out, &error);
    else
        strbuf_add(&out->body, "{}");
    weft_history_close(h);
    json_free(&j);
}

/* Runs that begin and end are written by other processes: a page that listens is told that it should ask again, not what, so
 * that the answer is always one of the history's own. */
void database_look(const struct laboratory *lab)
{
    static struct history_watch watch; /* one server a process */
    if (history_watch_look(&watch))
        event_hub_tell(lab->hub, "runs", "{}");
}

const struct ui_route database_routes[] = {
    {false, "/api/about", answer_about},
    {false, "/api/runs", answer_runs},
    {false, "/api/run/#", answer_run},
    {false, "~/api/run/#/page", answer_run_page},
    {false, "~/api/run/#/facts", answer_run_facts},
    {false, "~/api/compare", answer_compare},
    {true, "/api/run/#/say", answer_say},
    {0},
};

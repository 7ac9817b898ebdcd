/* The history of the library: handles over history's own answers, and the story of a file, which
 * needs the recorded workflow as well. */
#include "api/inside.h"
#include "base/digest.h"
#include "base/file.h"
#include "report/graph_svg.h"
#include "session/imported.h"
#include "session/recorded.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

EXPORT struct weft_history *weft_history_open(const char *path, struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct history *model =
            path ? history_open_existing(path, &call.err) : recorded_require(&call.err);
        if (model) {
            struct mem_guard guard; /* the connection is not in our ledger */
            mem_guard_enter(&guard, recorded_abandon, model);
            struct weft_history *h = mem_new_zero(struct weft_history, 1);
            mem_guard_leave(&guard);
            h->model = model;
            call.result = h;
        } else if (path && call.err.kind == ERROR_NONE) {
            error_set(&call.err, ERROR_INPUT, "%s: there is no such history", path);
        }
    }
    return api_result(&call);
}

/* The last one of a process folds the log into the database: it may take a moment. */
EXPORT void weft_history_close(struct weft_history *h)
{
    if (!h)
        return;
    history_close(h->model);
    free(h);
}

/* Opens the standard history by itself: who imports may have none yet. */
EXPORT bool weft_history_import(const char *path, struct weft_imported *out,
                                struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct imported i;
        call.good = imported_add(path, &i, &call.err);
        if (call.good) {
            *out = (struct weft_imported){
                .run = i.run, .tasks = i.tasks, .attempts = i.attempts, .left_out = i.left_out};
            memcpy(out->system, i.system, sizeof out->system);
        }
    }
    return api_end(&call);
}

/* ---- runs ---- */

/* Texts stay the record's: valid as long as the handle that has it. */
static void history_head_out(const struct run_record *r, struct weft_run_head *out)
{
    *out = (struct weft_run_head){
        .run = r->run,
        .workflow = r->name,
        .file = r->file,
        .folder = r->folder,
        .host = r->host,
        .planner = r->planner,
        .outcome = record_outcome_name(r->outcome),
        .started = r->started,
        .seconds = r->seconds,
        .cores = r->cores,
        .tasks = r->tasks,
        .ran = r->ran,
        .reused = r->reused,
        .failed = r->failed,
        .skipped = r->skipped,
        .predicted_seconds = r->predicted_seconds,
        .peak_memory = r->peak_memory,
        .peak_disk = r->peak_disk,
        .untaken = r->untaken,
        .excused = r->excused,
    };
}

/* The list is whole before it is handed out: runs that end meanwhile change nothing in it. */
EXPORT struct weft_runs *weft_history_runs(struct weft_history *h,
                                           const struct weft_runs_filter *filter,
                                           struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct weft_runs_filter own = WEFT_RUNS_INIT;
        struct weft_runs *runs = mem_new_zero(struct weft_runs, 1);
        struct digest digest;
        if (api_options(&own, filter, &call.err) &&
            (!own.digest || api_digest(own.digest, &digest, &call.err)) &&
            history_list(h->model,
                         &(struct history_filter){.workflow = own.workflow,
                                                  .failed = own.failed,
                                                  .since = own.since,
                                                  .limit = own.limit,
                                                  .where = own.where,
                                                  .words = own.words,
                                                  .digest = own.digest ? &digest : NULL},
                         &runs->list, &call.err))
            call.result = runs;
        else
            free(runs);
    }
    return api_result(&call);
}

EXPORT void weft_runs_free(struct weft_runs *runs)
{
    if (!runs)
        return;
    history_runs_free(&runs->list);
    free(runs);
}

EXPORT bool weft_runs_get(const struct weft_runs *runs, size_t i, struct weft_run_head *out)
{
    if (i >= runs->list.n)
        return false;
    history_head_out(&runs->list.at[i], out);
    return true;
}

EXPORT bool weft_runs_fact(const struct weft_runs *runs, size_t i, size_t k, struct weft_fact *out)
{
    if (i >= runs->list.n || k >= runs->list.at[i].facts.n)
        return false;
    const struct record_fact *f = &runs->list.at[i].facts.at[k];
    *out = (struct weft_fact){
        .sort = fact_sort_name(f->sort), .name = f->name, .value = f->value, .item = f->item};
    return true;
}

/* Numbers are positive, so that -1 is free for "none". */
EXPORT int64_t weft_history_find(struct weft_history *h, const char *text, struct weft_error *error)
{
    API_CALL(call, error)
    {
        int64_t run;
        call.good = recorded_number(h->model, text, &run, &call.err);
        call.number = call.good ? (size_t)run : 0;
    }
    return api_end(&call) ? (int64_t)call.number : -1;
}

/* The sorts that people say come after those that runs state; what a run states cannot be said. */
EXPORT bool weft_history_say(struct weft_history *h, int64_t run, const char *sort,
                             const char *text, bool unsay, struct weft_error *error)
{
    API_CALL(call, error)
    {
        enum fact_sort which = FACT_TAG;
        struct run_record head;
        while (which < FACT_SORTS && strcmp(fact_sort_name(which), sort) != 0)
            which++;
        if (which == FACT_SORTS || !*text) {
            error_set(&call.err, ERROR_INPUT,
                      "'%s' '%s': expected a tag, note or name, with a text", sort, text);
        } else if (history_head(h->model, run, &head, &call.err)) { /* there is such a run */
            call.good = history_say(h->model, head.run, which, text, unsay, &call.err);
            record_free(&head);
        }
    }
    return api_end(&call);
}

/* Read from its text each time: a caller that needs it twice keeps it. */
EXPORT struct weft_workflow *weft_history_workflow(struct weft_history *h, int64_t run,
                                                   struct weft_error *error)
{
    API_CALL(call, error)
    {
        char *folder = NULL;
        call.result = api_workflow(recorded_graph(h->model, run, &folder, &call.err));
        free(folder);
    }
    return api_result(&call);
}

/* ---- one run ---- */

/* Events of other kinds stand between the attempts. */
static void record_index_attempts(struct weft_record *r)
{
    r->attempts = mem_new(uint32_t, r->run.events.n + 1);
    for (size_t k = 0; k < r->run.events.n; k++)
        if (r->run.events.at[k].kind == TRACE_TASK)
            r->attempts[r->nattempts++] = (uint32_t)k;
}

/* Everything at once, in memory: O(attempts + files). Names of tasks come apart from the events, as one
 * workflow has them for all its runs. */
EXPORT struct weft_record *weft_history_run(struct weft_history *h, int64_t run,
                                            struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct weft_record *r = mem_new_zero(struct weft_record, 1);
        if (recorded_load(h->model, run, &r->run, &call.err) &&
            history_tasks(h->model, r->run.run, &r->tasks, &call.err)) {
            record_index_attempts(r);
            call.result = r;
        } else {
            record_free(&r->run);
            free(r);
        }
    }
    return api_result(&call);
}

EXPORT void weft_record_free(struct weft_record *r)
{
    if (!r)
        return;
    history_tasks_free(&r->tasks);
    record_free(&r->run);
    free(r->attempts);
    free(r);
}

EXPORT void weft_record_head(const struct weft_record *r, struct weft_run_head *out)
{
    history_head_out(&r->run, out);
}

EXPORT void weft_record_about(const struct weft_record *r, struct weft_run_about *out)
{
    struct weft_run_about own = {.size = out->size,
                                 .given = r->run.given,
                                 .version = r->run.version,
                                 .system = r->run.system,
                                 .memory = r->run.memory,
                                 .speed = r->run.speed};
    memcpy(out, &own, out->size < sizeof own ? out->size : sizeof own);
}

/* An event of a run that grew may name a task that the names do not have. */
static const char *history_name_of(const struct history_tasks *t, uint32_t task)
{
    return task < t->n ? history_task_name(t, task) : "";
}

/* O(1) of a record that the history gave; of one that a program made O(events), as people read few. */
EXPORT bool weft_record_attempt(const struct weft_record *r, size_t i, struct weft_attempt *out)
{
    if (r->attempts && i >= r->nattempts)
        return false;
    size_t from = 0;
    if (r->attempts) {
        from = r->attempts[i];
        i = 0;
    }
    for (size_t k = from; k < r->run.events.n; k++) {
        const struct trace_event *e = &r->run.events.at[k];
        if (e->kind != TRACE_TASK || i--)
            continue;
        *out = (struct weft_attempt){
            .task = e->id,
            .attempt = e->attempt,
            .name = history_name_of(&r->tasks, e->id),
            .kind = e->id < r->tasks.n ? history_task_kind(&r->tasks, e->id) : "",
            .outcome = trace_outcome_name(e->outcome),
            .status = e->status,
            .start = e->start,
            .finish = e->finish,
            .cpu = e->cpu,
            .memory = e->memory,
            .read = e->read,
            .written = e->written,
            .node = e->node,
            .core = e->lane,
        };
        return true;
    }
    return false;
}

/* The first failure of each cause stands for all of them; the others are counted. O(failures) each. */
bool api_cause(const struct run_record *r, size_t i, struct weft_cause *out)
{
    uint32_t count = 0;
    size_t at = 0;
    for (; at < r->failures.n; at++)
        if (r->failures.at[at].cause == at && i-- == 0)
            break;
    if (at >= r->failures.n)
        return false;
    for (size_t k = at; k < r->failures.n; k++)
        count += r->failures.at[k].cause == at;
    const struct record_failure *f = &r->failures.at[at];
    *out = (struct weft_cause){.task = f->task,
                               .count = count,
                               .outcome = (enum weft_outcome)f->outcome,
                               .status = f->status,
                               .text = f->reason,
                               .command = f->command,
                               .hint = f->hint,
                               .log = f->log,
                               .last_lines = f->tail};
    return true;
}

EXPORT bool weft_record_cause(const struct weft_record *r, size_t i, struct weft_cause *out)
{
    return api_cause(&r->run, i, out);
}

/* In the order of the database: by sort, item and name. */
EXPORT bool weft_record_fact(const struct weft_record *r, size_t i, struct weft_fact *out)
{
    if (i >= r->run.facts.n)
        return false;
    const struct record_fact *f = &r->run.facts.at[i];
    *out = (struct weft_fact){
        .sort = fact_sort_name(f->sort),
        .name = f->name,
        .value = f->value,
        .task = f->task == NONE ? NULL : history_name_of(&r->tasks, f->task),
        .item = f->item,
    };
    return true;
}

/* A digest of zeros is none: an empty text says so. */
EXPORT bool weft_record_file(const struct weft_record *r, size_t i, struct weft_record_file *out)
{
    if (i >= r->run.files.n)
        return false;
    const struct record_file *f = &r->run.files.at[i];
    *out = (struct weft_record_file){
        .path = f->path,
        .maker = f->task == NONE ? NULL : history_name_of(&r->tasks, f->task),
        .bytes = f->size,
        .produced = f->produced,
    };
    _Static_assert(sizeof out->digest >= DIGEST_TEXT, "room for the text");
    if (!digest_is_zero(&f->digest))
        digest_text(&f->digest, out->digest);
    return true;
}

/* ---- two runs ---- */

/* Either may be older: what is asked first stands on the left. */
EXPORT struct weft_changes *weft_history_compare(struct weft_history *h, int64_t before,
                                                 int64_t after, struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct weft_changes *c = mem_new_zero(struct weft_changes, 1);
        if (recorded_compare(h->model, before, after, &c->model, &call.err)) {
            call.result = c;
        } else {
            history_changes_free(&c->model);
            free(c);
        }
    }
    return api_result(&call);
}

EXPORT void weft_changes_free(struct weft_changes *c)
{
    if (!c)
        return;
    history_changes_free(&c->model);
    free(c);
}

/* Tasks and kinds are told alike; kinds count how many tasks they have. */
static bool history_change_out(const history_change_list *list, size_t i, struct weft_change *out)
{
    if (i >= list->n)
        return false;
    const struct history_change *r = &list->at[i];
    *out = (struct weft_change){
        .name = r->name,
        .kind = r->kind,
        .before = r->a,
        .after = r->b,
        .memory_before = r->memory_a,
        .memory_after = r->memory_b,
        .tasks_before = r->n_a,
        .tasks_after = r->n_b,
    };
    return true;
}

EXPORT bool weft_changes_task(const struct weft_changes *c, size_t i, struct weft_change *out)
{
    return history_change_out(&c->model.tasks, i, out);
}

EXPORT bool weft_changes_kind(const struct weft_changes *c, size_t i, struct weft_change *out)
{
    return history_change_out(&c->model.kinds, i, out);
}

EXPORT bool weft_changes_difference(const struct weft_changes *c, size_t i,
                                    struct weft_difference *out)
{
    if (i >= c->model.differences.n)
        return false;
    const struct history_difference *d = &c->model.differences.at[i];
    *out = (struct weft_difference){d->what, d->name, d->a, d->b};
    return true;
}

/* ---- where a file comes from ---- */

static void story_close_fd(void *fd)
{
    close(*(int *)fd);
}

/* The content of the file now; zero: it is not there or cannot be read. */
static struct digest story_digest(const char *path)
{
    struct digest d = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return d;
    struct mem_guard guard;
    mem_guard_enter(&guard, story_close_fd, &fd);
    if (!digest_of_fd(fd, path, &d, NULL))
        d = (struct digest){0};
    mem_guard_leave(&guard);
    close(fd);
    return d;
}

/* The newest record of the file that is not newer than the run that read it: one look into an index,
 * however many runs have the file. */
static void story_add_input(struct history *h, struct file_origin *f, const char *name)
{
    const struct history_origin *o = f->origin;
    struct file_input in = {.path = mem_copy_string(name)};
    struct history_origin found;
    if (history_file_at(h, o->folder, name, o->run, &found, NULL) > 0) {
        in.run = found.run;
        in.maker = found.maker; /* taken over */
        in.digest = found.file.digest;
        free(found.name);
        free(found.folder);
        free(found.file.path);
    }
    array_push(&f->inputs, in);
}

/* What the maker read, by the workflow that the run recorded. */
static void story_add_inputs(struct history *h, struct file_origin *f)
{
    const struct history_origin *o = f->origin;
    struct workflow *w =
        o->file.task != NONE && o->maker ? recorded_task(h, o->run, o->maker) : NULL;
    uint32_t task = w && o->maker ? workflow_find_task(w, o->maker) : NONE;
    if (task != NONE) {
        char buffer[512];
        uint32_t before = NONE;
        for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++)
            if (w->pred_object[e] != NONE && w->pred_object[e] != before) {
                before = w->pred_object[e];
                story_add_input(h, f, workflow_object_label(w, before, buffer, sizeof buffer));
            }
        for (uint32_t e = w->input_off ? w->input_off[task] : 0;
             w->input_off && e < w->input_off[task + 1]; e++)
            story_add_input(h, f,
                            workflow_object_label(w, w->input_object[e], buffer, sizeof buffer));
    }
    workflow_free(w);
}

/* Also one that was found in part. */
static void story_free(struct file_story *s)
{
    for (size_t i = 0; s->origins && i < s->found.n; i++) {
        for (size_t k = 0; k < s->origins[i].inputs.n; k++) {
            free(s->origins[i].inputs.at[k].path);
            free(s->origins[i].inputs.at[k].maker);
        }
        array_free(&s->origins[i].inputs);
    }
    free(s->origins);
    history_origins_free(&s->found);
    free(s->path);
}

/* "64 hexadecimal digits" as a digest; false: it is something else. */
static bool story_is_digest(const char *text, struct digest *out)
{
    static const char digits[] = "0123456789abcdef";
    if (strlen(text) != DIGEST_TEXT - 1 || strspn(text, digits) != DIGEST_TEXT - 1)
        return false;
    for (size_t i = 0; i < sizeof out->at; i++)
        out->at[i] = (uint8_t)((strchr(digits, text[2 * i]) - digits) * 16 +
                               (strchr(digits, text[2 * i + 1]) - digits));
    return true;
}

bool api_digest(const char *text, struct digest *out, struct error *err)
{
    if (!file_exists(text) && story_is_digest(text, out))
        return true;
    *out = story_digest(text);
    return !digest_is_zero(out) ||
           error_set(err, ERROR_INPUT,
                     "%s: expected a digest (64 hexadecimal digits) or a file that can be read",
                     text);
}

/* Workflows may call a folder "d/"; who asks for it may not. */
static bool story_by_path(struct history *h, struct file_story *s, size_t limit, struct error *err)
{
    if (!history_file(h, s->path, limit, &s->found, err))
        return false;
    if (s->found.n)
        return true;
    struct strbuf folder = {0};
    strbuf_printf(&folder, "%s/", s->path);
    bool good = history_file(h, folder.at, limit, &s->found, err);
    strbuf_free(&folder);
    return good;
}

/* By path first: that is one look into an index. Only a file that no run knows is read, whole, to be found
 * by its content. */
static bool story_find(struct history *h, const char *path, size_t limit, bool inputs,
                       struct file_story *s, struct error *err)
{
    if (!file_exists(path) && story_is_digest(path, &s->now)) {
        s->path = mem_copy_string(path); /* a content by its digest alone, wherever it is */
    } else {
        s->path = recorded_path(path);
        if (!story_by_path(h, s, limit, err))
            return false;
        s->now = story_digest(s->path);
    }
    /* copied, renamed, moved: its content is the same */
    s->by_content = !s->found.n && !digest_is_zero(&s->now);
    if (s->by_content && !history_content(h, &s->now, limit, &s->found, err))
        return false;
    if (!s->found.n)
        return error_set(err, ERROR_INPUT, "%s: no run on record made or read this file%s", s->path,
                         s->by_content ? ", nor one with its content" : "");
    s->origins = mem_new_zero(struct file_origin, s->found.n);
    for (size_t i = 0; i < s->found.n; i++) {
        struct file_origin *f = &s->origins[i];
        f->origin = &s->found.at[i];
        f->current = !digest_is_zero(&s->now) && digest_equal(&s->now, &f->origin->file.digest);
        if (inputs)
            story_add_inputs(h, f);
    }
    return true;
}

EXPORT struct weft_story *weft_history_file(struct weft_history *h, const char *path, size_t limit,
                                            struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct weft_story *s = mem_new_zero(struct weft_story, 1);
        if (story_find(h->model, path, limit, true, &s->model, &call.err)) {
            call.result = s;
        } else {
            story_free(&s->model);
            free(s);
        }
    }
    return api_result(&call);
}

EXPORT void weft_story_free(struct weft_story *s)
{
    if (!s)
        return;
    story_free(&s->model);
    free(s);
}

/* Newest first, as the history has them. */
EXPORT bool weft_story_origin(const struct weft_story *s, size_t i, struct weft_origin *out)
{
    if (i >= s->model.found.n)
        return false;
    const struct file_origin *f = &s->model.origins[i];
    *out = (struct weft_origin){
        .run = f->origin->run,
        .started = f->origin->started,
        .workflow = f->origin->name,
        .folder = f->origin->folder,
        .maker = f->origin->maker,
        .current = f->current,
        .ninputs = f->inputs.n,
        .path = f->origin->file.path,
    };
    return true;
}

EXPORT bool weft_story_input(const struct weft_story *s, size_t i, size_t k,
                             struct weft_origin_input *out)
{
    if (i >= s->model.found.n || k >= s->model.origins[i].inputs.n)
        return false;
    const struct file_input *in = &s->model.origins[i].inputs.at[k];
    *out = (struct weft_origin_input){in->path, in->run, in->maker};
    return true;
}

/* The graph becomes a handle of its own, so that whoever draws workflows can draw it. */
EXPORT struct weft_lineage *weft_history_lineage(struct weft_history *h, const char *path,
                                                 struct weft_error *error)
{
    return weft_history_lineage_most(h, path, LINEAGE_MOST, error);
}

/* A path may stand for several files. */
EXPORT struct weft_lineage *weft_history_lineage_most(struct weft_history *h, const char *path,
                                                      size_t most, struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct file_story story = {0};
        struct weft_lineage *l = mem_new_zero(struct weft_lineage, 1);
        /* of the runs that left something at this path: the newest, unless the file is an older one's */
        bool ok = story_find(h->model, path, 0, false, &story, &call.err);
        size_t at = 0;
        while (ok && at + 1 < story.found.n && !story.origins[at].current)
            at++;
        at = ok && story.origins[at].current ? at : 0;
        if (ok && lineage_find(h->model, &story.found.at[at], most, &l->model, &call.err)) {
            l->graph = api_workflow(l->model.graph);
            l->model.graph = NULL;
            call.result = l;
        } else {
            lineage_free(&l->model);
            free(l);
        }
        story_free(&story);
    }
    return api_result(&call);
}

EXPORT void weft_lineage_free(struct weft_lineage *l)
{
    if (!l)
        return;
    weft_workflow_free(l->graph);
    lineage_free(&l->model);
    free(l);
}

EXPORT const struct weft_workflow *weft_lineage_graph(const struct weft_lineage *l)
{
    return l->graph;
}

EXPORT bool weft_lineage_whole(const struct weft_lineage *l)
{
    return !l->model.cut;
}

/* Tasks that made the file come first: `nback` of them. */
EXPORT bool weft_lineage_task(const struct weft_lineage *l, uint32_t i, int64_t *run, bool *before)
{
    if (i >= l->model.run.n)
        return false;
    *run = l->model.run.at[i];
    *before = i < l->model.nback;
    return true;
}

EXPORT bool weft_lineage_picture(const struct weft_lineage *l, const char *path,
                                 struct weft_error *error)
{
    API_CALL(call, error)
    {
        struct strbuf picture = {0};
        report_graph_svg(inside_workflow(l->graph), &picture,
                         &(struct graph_svg_options){.no_critical = true});
        call.good = file_write(path, strbuf_text(&picture), picture.n, &call.err);
        strbuf_free(&picture);
    }
    return api_end(&call);
}

/* Answers of the Run view for which the graph is read: families laid out, one task with its neighbours, what is next, data that went
 * between nodes (run.c says who asks for them when). */
#include "api/inside_watch.h"
#include "base/json.h"
#include "model/command.h"
#include "report/family_graph.h"
#include "ui/handlers.h"
#include "ui/run.h"
#include "weft/weft.h"

#include <math.h>
#include <pthread.h>

enum { NEXT_AT_ONCE = 50, PAIRS_AT_ONCE = 50, TRANSFERS_AT_ONCE = 50 };

/* Questions that need the graph read the text of the workflow at first, which takes a second for 10^5 tasks: they are answered on threads
 * of their own, one at a time, with a watch that is theirs, so that nobody waits for them. */
static pthread_mutex_t graph_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct weft_watch *watch; /* guarded by graph_lock */
    int64_t run;
} graph_watch;

/* With graph_lock held. NULL: `out` says why. */
static struct weft_watch *graph_watch_of(const struct request *r, struct reply *out)
{
    struct weft_error error;
    if (graph_watch.watch && graph_watch.run == r->run &&
        weft_watch_look(graph_watch.watch, NULL, &error))
        return graph_watch.watch;
    weft_watch_close(graph_watch.watch);
    graph_watch.run = r->run;
    graph_watch.watch = weft_watch_open(r->run, &error);
    if (!graph_watch.watch)
        reply_fail(out, error.status == WEFT_BAD_INPUT ? 404 : 500, error.text);
    return graph_watch.watch;
}

/* With edges once the text of the workflow has been read; a run whose text was not kept shows its families without. */
static void answer_graph(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    (void)lab;
    pthread_mutex_lock(&graph_lock);
    struct weft_watch *w = graph_watch_of(r, out);
    const struct workflow *graph = w ? watching_graph(&w->model, NULL) : NULL;
    if (w)
        family_graph_json(graph ? graph : w->model.names, &w->model.kinds, w->model.state,
                          WATCH_STATES, &out->body);
    pthread_mutex_unlock(&graph_lock);
}

/* The first of the predecessors that are not done: what a task waits for. */
static void put_neighbours(const struct watching *w, const struct workflow *graph, uint32_t task,
                           struct json_writer *j)
{
    uint32_t left = 0;
    json_write_key(j, "waits");
    json_write_array(j);
    for (uint32_t e = graph->pred_off[task]; e < graph->pred_off[task + 1]; e++) {
        uint32_t p = graph->pred_task[e];
        if (w->state[p] == WATCH_DONE || w->state[p] == WATCH_REUSED)
            continue;
        if (left++ < 20)
            json_write_string(j, workflow_task_name(graph, p));
    }
    json_write_end_array(j);
    json_put_integer(j, "waits_for", left);
}

enum { FILES_AT_ONCE = 20 };

/* The first of the files, and how many there are; what has no name was never a file. */
static void put_files(const struct workflow *graph, const uint32_t *object, uint32_t n,
                      const char *what, const char *how_many, struct json_writer *j)
{
    uint32_t named = 0;
    json_write_key(j, what);
    json_write_array(j);
    for (uint32_t i = 0; i < n; i++) {
        str_id name = graph->object_name[object[i]];
        if (name && named++ < FILES_AT_ONCE)
            json_write_string(j, workflow_text(graph, name));
    }
    json_write_end_array(j);
    json_put_integer(j, how_many, named);
}

/* Nothing but a free core, or memory, or another of its kind holds it up: what it reads is there. */
static bool task_is_ready(const struct watching *w, const struct workflow *graph, uint32_t task)
{
    for (uint32_t e = graph->pred_off[task]; e < graph->pred_off[task + 1]; e++) {
        uint8_t before = w->state[graph->pred_task[e]];
        if (before != WATCH_DONE && before != WATCH_REUSED && before != WATCH_SKIPPED)
            return false;
    }
    return w->state[task] == WATCH_WAITING;
}

/* {"ready": how many, "next": the first of them}: what will run when a core is free. A walk over tasks and edges, so that only the
 * page's list asks for it, while the run goes on. With graph_lock held. */
static void next_of_watch(struct weft_watch *w, struct reply *out)
{
    struct json_writer j;
    const struct workflow *graph = watching_graph(&w->model, NULL);
    bool on = w->model.head.outcome == RECORD_RUNNING;
    uint32_t ready = 0, tasks = w->model.names->ntasks;
    json_write_start(&j, &out->body, false);
    json_write_object(&j);
    json_write_key(&j, "next");
    json_write_array(&j);
    for (uint32_t t = 0; graph && on && t < tasks && t < graph->ntasks; t++) {
        if (!task_is_ready(&w->model, graph, t))
            continue;
        if (ready++ < NEXT_AT_ONCE)
            run_put_task(w, t, &j);
    }
    json_write_end_array(&j);
    json_put_integer(&j, "ready", ready);
    json_write_end_object(&j);
}

static void answer_next(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    (void)lab;
    pthread_mutex_lock(&graph_lock);
    struct weft_watch *w = graph_watch_of(r, out);
    if (w)
        next_of_watch(w, out);
    pthread_mutex_unlock(&graph_lock);
}

/* From one node to another. */
struct transfer_pair {
    uint32_t from, to, count;
    double bytes, seconds;
};

/* By pairs of nodes: tasks may be a million, nodes are few. Looked through from the last on, since data comes in bursts. */
static size_t transfer_pairs(const struct watching *w, struct transfer_pair *at)
{
    size_t n = 0;
    for (size_t i = 0; i < w->transfers.n; i++) {
        const struct history_transfer *t = &w->transfers.at[i];
        size_t k = n;
        while (k > 0 && (at[k - 1].from != t->from || at[k - 1].to != t->to))
            k--;
        if (k == 0 && n == PAIRS_AT_ONCE)
            continue; /* counted in the sum alone */
        if (k == 0)
            at[n] = (struct transfer_pair){.from = t->from, .to = t->to}, k = ++n;
        at[k - 1].count++;
        at[k - 1].bytes += t->bytes;
        at[k - 1].seconds += t->finish - t->start;
    }
    return n;
}

static void put_nodes(uint32_t from, uint32_t to, struct json_writer *j)
{
    json_put_number(j, "from", from == NONE ? NAN : from); /* null: who submitted it */
    json_put_integer(j, "to", to);
}

/* {"count", "bytes", "pairs": by node, "last": the newest, with their names}. With graph_lock held. */
static void transfers_of_watch(struct weft_watch *w, struct reply *out)
{
    struct json_writer j;
    struct transfer_pair pair[PAIRS_AT_ONCE];
    const struct workflow *graph = watching_graph(&w->model, NULL);
    const history_transfers *all = &w->model.transfers;
    size_t pairs = transfer_pairs(&w->model, pair);
    double bytes = 0;
    for (size_t i = 0; i < all->n; i++)
        bytes += all->at[i].bytes;
    json_write_start(&j, &out->body, false);
    json_write_object(&j);
    json_put_number(&j, "count", (double)all->n);
    json_put_number(&j, "bytes", bytes);
    json_write_key(&j, "pairs");
    json_write_array(&j);
    for (size_t i = 0; i < pairs; i++) {
        json_write_object(&j);
        put_nodes(pair[i].from, pair[i].to, &j);
        json_put_integer(&j, "count", pair[i].count);
        json_put_number(&j, "bytes", pair[i].bytes);
        json_put_number(&j, "seconds", pair[i].seconds);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    json_write_key(&j, "last");
    json_write_array(&j);
    for (size_t i = all->n; i-- > 0 && all->n - i <= TRANSFERS_AT_ONCE;) {
        const struct history_transfer *t = &all->at[i];
        char label[512];
        json_write_object(&j);
        put_nodes(t->from, t->to, &j);
        json_put_text(&j, "object",
                      graph && t->object < graph->nobjects
                          ? workflow_object_label(graph, t->object, label, sizeof label)
                          : NULL);
        json_put_number(&j, "bytes", t->bytes);
        json_put_number(&j, "start", t->start);
        json_put_number(&j, "finish", t->finish);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    json_write_end_object(&j);
}

static void answer_transfers(const struct laboratory *lab, const struct request *r,
                             struct reply *out)
{
    (void)lab;
    pthread_mutex_lock(&graph_lock);
    struct weft_watch *w = graph_watch_of(r, out);
    if (w)
        transfers_of_watch(w, out);
    pthread_mutex_unlock(&graph_lock);
}

/* ?task=N: everything of one task but its log. With graph_lock held. */
static void task_of_watch(struct weft_watch *w, const struct request *r, struct reply *out)
{
    struct json_writer j;
    double number = run_request_number(r, "task", -1);
    if (!(number >= 0) || number >= w->model.names->ntasks) {
        reply_fail(out, 404, "this run has no task of that number");
        return;
    }
    uint32_t task = (uint32_t)number;
    const struct workflow *graph = watching_graph(&w->model, NULL);
    json_write_start(&j, &out->body, false);
    json_write_object(&j);
    json_write_key(&j, "task");
    run_put_task(w, task, &j);
    if (graph) {
        struct strbuf command = {0};
        command_readable(graph, task, 1, &command);
        json_put_string(&j, "command", strbuf_text(&command));
        strbuf_free(&command);
        put_neighbours(&w->model, graph, task, &j);
        put_files(graph, graph->in_object + graph->in_off[task],
                  graph->in_off[task + 1] - graph->in_off[task], "reads", "reads_all", &j);
        put_files(graph, graph->out_object + graph->object_off[task],
                  graph->object_end[task] - graph->object_off[task], "makes", "makes_all", &j);
    }
    json_write_end_object(&j);
}

static void answer_task(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    (void)lab;
    pthread_mutex_lock(&graph_lock);
    struct weft_watch *w = graph_watch_of(r, out);
    if (w)
        task_of_watch(w, r, out);
    pthread_mutex_unlock(&graph_lock);
}

const struct ui_route run_graph_routes[] = {
    {false, "~/api/run/#/graph", answer_graph},
    {false, "~/api/run/#/task", answer_task},
    {false, "~/api/run/#/next", answer_next},
    {false, "~/api/run/#/transfers", answer_transfers},
    {0},
};

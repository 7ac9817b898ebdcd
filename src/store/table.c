/* The metadata of all tasks as columns, and each operation of model/metadata.h as a function: what
 * it changes, and what it answers. No I/O, no time but the operations' own, so the journal is
 * replayed through the same code, and the Redis store's script is compared with it answer by
 * answer.
 *
 * Each function returns whether it changed anything: only then does the operation belong into the
 * journal. That an operation applied twice changes nothing the second time is therefore also what
 * keeps the journal short. */
#include "store/table.h"
#include "model/growth.h"
#include <math.h>

/* Numbers of nodes; a larger one is a mistake, not a reason to grow. */
#define NODES_MAX (1u << 24)

void answers_clear(struct answers *a)
{
    a->at.n = a->items.n = a->records.n = a->nodes.n = a->digests.n = 0;
}

void answers_free(struct answers *a)
{
    array_free(&a->at);
    array_free(&a->items);
    array_free(&a->records);
    array_free(&a->nodes);
    array_free(&a->digests);
}

/* NAN is "not yet" in a column of times. */
static double *column_of_nan(size_t n)
{
    double *column = mem_new(double, n);
    for (size_t i = 0; i < n; i++)
        column[i] = NAN;
    return column;
}

/* 0xff in every byte: NONE. */
static uint32_t *column_of_none(size_t n)
{
    uint32_t *column = mem_new(uint32_t, n);
    memset(column, 0xff, n * sizeof *column);
    return column;
}

void store_table_init(struct store_table *t, const struct workflow *w)
{
    size_t n = w->ntasks;
    *t = (struct store_table){.workflow = w, .ntasks = w->ntasks, .nobjects = w->nobjects};
    t->status = mem_new_zero(uint8_t, n);
    t->attempts = mem_new_zero(uint16_t, n);
    t->epoch = mem_new_zero(uint32_t, n);
    t->holder = column_of_none(n);
    t->first_holder = column_of_none(n);
    t->waiting = mem_new(uint32_t, n);
    for (size_t i = 0; i < n; i++)
        /* nobody is done yet: every edge is waited for */
        t->waiting[i] = w->pred_off[i + 1] - w->pred_off[i];
    t->submitted = column_of_nan(n);
    t->queued = column_of_nan(n);
    t->started = column_of_nan(n);
    t->ended = column_of_nan(n);
}

void store_table_init_graph(struct store_table *t, const struct store_graph *g)
{
    size_t n = g->ntasks;
    *t = (struct store_table){.graph = g, .ntasks = g->ntasks, .nobjects = g->nobjects};
    t->status = mem_new_zero(uint8_t, n);
    t->attempts = mem_new_zero(uint16_t, n);
    t->epoch = mem_new_zero(uint32_t, n);
    t->holder = column_of_none(n);
    t->waiting = mem_new(uint32_t, n);
    for (uint32_t i = 0; i < g->ntasks; i++)
        t->waiting[i] = g->parents(g->context, i);
}

void store_table_free(struct store_table *t)
{
    free(t->status);
    free(t->attempts);
    free(t->epoch);
    free(t->holder);
    free(t->first_holder);
    free(t->waiting);
    free(t->submitted);
    free(t->queued);
    free(t->started);
    free(t->ended);
    free(t->size);
    free(t->last_move);
    free(t->last_copy);
    array_free(&t->moves);
    array_free(&t->copies);
    array_free(&t->nodes);
}

size_t store_table_bytes(const struct store_table *t)
{
    size_t n = t->ntasks, objects = t->nobjects;
    return n * (1 + 2 + 3 * 4 + (t->first_holder ? 4 + 4 * 8 : 0)) + (t->size ? objects * 8 : 0) +
           (t->last_move ? n * 4 : 0) + (t->last_copy ? objects * 4 : 0) +
           (t->moves.cap + t->copies.cap) * sizeof *t->moves.at +
           t->nodes.cap * sizeof *t->nodes.at;
}

/* ---- small questions ---- */

static bool table_has_ended(const struct store_table *t, uint32_t task)
{
    return t->status[task] >= META_DONE;
}

static double table_object_size(const struct store_table *t, uint32_t object)
{
    return t->size       ? t->size[object]
           : t->workflow ? t->workflow->size[object]
                         : t->graph->size(t->graph->context, object);
}

/* Nodes are few and numbered from 0: the array grows to the largest that joined or died. */
static struct store_table_node *table_node(struct store_table *t, uint32_t node)
{
    while (t->nodes.n <= node)
        array_add(&t->nodes);
    return &t->nodes.at[node];
}

/* A node that never joined has life 0 and may: a run on one machine has no lives. */
static bool table_may_take(const struct store_table *t, uint32_t node, uint32_t life)
{
    return node >= t->nodes.n || (!t->nodes.at[node].fenced && life >= t->nodes.at[node].life);
}

/* Edges out, and where the e-th leads. */
static uint32_t table_child_count(const struct store_table *t, uint32_t task)
{
    const struct workflow *w = t->workflow;
    return w ? w->succ_off[task + 1] - w->succ_off[task]
             : t->graph->children(t->graph->context, task);
}

static uint32_t table_child(const struct store_table *t, uint32_t task, uint32_t e)
{
    const struct workflow *w = t->workflow;
    return w ? w->succ_task[w->succ_off[task] + e] : t->graph->child(t->graph->context, task, e);
}

/* Children that joined when the graph grew: see model/growth.h. */
static uint32_t table_first_later(const struct store_table *t, uint32_t task)
{
    return t->workflow ? growth_first_later(t->workflow, task) : NONE;
}

static uint32_t table_next_later(const struct store_table *t, uint32_t *at)
{
    const struct later_edge *e = &t->workflow->growth->later.at[*at];
    *at = e->next;
    return e->task;
}

static uint32_t table_parent_count(const struct store_table *t, uint32_t task)
{
    const struct workflow *w = t->workflow;
    return w ? w->pred_off[task + 1] - w->pred_off[task]
             : t->graph->parents(t->graph->context, task);
}

static uint32_t table_parent(const struct store_table *t, uint32_t task, uint32_t e)
{
    const struct workflow *w = t->workflow;
    return w ? w->pred_task[w->pred_off[task] + e] : t->graph->parent(t->graph->context, task, e);
}

/* The one object that a task produces; NONE: none, or several. */
static uint32_t table_only_object(const struct store_table *t, uint32_t task)
{
    const struct workflow *w = t->workflow;
    if (!w)
        return task;
    return w->object_end[task] - w->object_off[task] == 1 ? w->object_off[task] : NONE;
}

static bool table_is_holder(const struct store_table *t, const struct meta_op *op)
{
    return t->holder[op->task] == op->node && t->epoch[op->task] == op->epoch;
}

/* A stamp in a column that may not be there. */
static void table_stamp(double *column, uint32_t task, double time)
{
    if (column)
        column[task] = time;
}

/* The workflow's own inputs count where somebody said that they stand on a node. */
static void table_add_input(const struct store_table *t, uint32_t object, struct meta_item *item)
{
    uint32_t copy = t->last_copy[object];
    if (copy == NONE)
        return;
    double size = table_object_size(t, object);
    item->all_size += size;
    if (size > item->max_size) {
        item->max_size = size;
        item->max_node = t->copies.at[copy].node;
    }
}

static void table_item_from_graph(const struct store_table *t, uint32_t task,
                                  struct meta_item *item)
{
    const struct store_graph *g = t->graph;
    for (uint32_t i = 0, n = g->parents(g->context, task); i < n; i++) {
        uint32_t parent = g->parent(g->context, task, i);
        double size = table_object_size(t, parent);
        item->all_size += size;
        if (size > item->max_size && meta_is_complete(t->status[parent])) {
            item->max_size = size;
            item->max_node = t->holder[parent];
        }
    }
    if (t->last_copy)
        for (uint32_t i = 0, n = g->inputs(g->context, task); i < n; i++)
            table_add_input(t, g->input(g->context, task, i), item);
}

/* Sizes and place of the inputs, for Algorithm 1: one sum for each parent (the edges are sorted by
 * parent), and the workflow's own inputs where somebody said that they stand on a node. */
static struct meta_item table_item(const struct store_table *t, uint32_t task)
{
    const struct workflow *w = t->workflow;
    struct meta_item item = {.task = task,
                             .epoch = t->epoch[task],
                             .holder = t->holder[task],
                             .waiting = t->waiting[task],
                             .max_node = NONE,
                             .attempts = t->attempts[task]};
    if (!w) {
        table_item_from_graph(t, task, &item);
        return item;
    }
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1];) {
        uint32_t parent = w->pred_task[e];
        double sum = 0;
        for (; e < w->pred_off[task + 1] && w->pred_task[e] == parent; e++)
            sum += w->pred_object[e] == NONE ? 0 : table_object_size(t, w->pred_object[e]);
        item.all_size += sum;
        if (sum > item.max_size && meta_is_complete(t->status[parent])) {
            item.max_size = sum;
            item.max_node = t->holder[parent];
        }
    }
    if (w->input_off && t->last_copy)
        for (uint32_t i = w->input_off[task]; i < w->input_off[task + 1]; i++)
            table_add_input(t, w->input_object[i], &item);
    return item;
}

/* ---- operations: each returns whether it changed anything, and sets the outcome ---- */

/* A change of hands. The history is a chain of links from the last holder back, made only for tasks
 * that move: most have one holder for ever. */
static void table_take(struct store_table *t, uint32_t task, uint32_t node, double time)
{
    if (!t->first_holder) {
        /* no history */
    } else if (t->first_holder[task] == NONE) {
        t->first_holder[task] = node;
    } else if (t->holder[task] != node) {
        if (!t->last_move)
            t->last_move = column_of_none(t->task_room > t->ntasks ? t->task_room : t->ntasks);
        array_push(&t->moves, (struct store_table_link){node, t->last_move[task]});
        t->last_move[task] = (uint32_t)(t->moves.n - 1);
    }
    t->holder[task] = node;
    t->epoch[task]++;
    table_stamp(t->queued, task, time);
}

/* A second PUT changes nothing: two clients may submit the same run. */
static bool table_put(struct store_table *t, const struct meta_op *op, uint8_t *outcome)
{
    if (t->status[op->task] != META_ABSENT)
        return false;
    if (op->node != NONE && op->node < t->nodes.n && t->nodes.at[op->node].fenced) {
        *outcome = META_STALE; /* that node is dead: submit it to another */
        return false;
    }
    t->status[op->task] = META_QUEUED;
    table_stamp(t->submitted, op->task, op->time);
    if (op->node != NONE)
        table_take(t, op->task, op->node, op->time);
    return true;
}

/* The compare-and-swap on the epoch. Granted again to whoever has it since: the answer was lost. */
static bool table_hold(struct store_table *t, const struct meta_op *op, uint8_t *outcome)
{
    uint32_t task = op->task;
    if (t->epoch[task] == op->epoch + 1 && t->holder[task] == op->node)
        return false; /* it has it */
    if (t->epoch[task] != op->epoch || !table_may_take(t, op->node, op->life)) {
        *outcome = META_STALE;
        return false;
    }
    table_take(t, task, op->node, op->time);
    return true;
}

/* START and RETRY come from the holder only (the caller has checked); repeated they change
 * nothing. */
static bool table_start(struct store_table *t, const struct meta_op *op)
{
    if (t->status[op->task] == META_RUNNING && t->attempts[op->task] == op->attempt)
        return false;
    t->status[op->task] = META_RUNNING;
    t->attempts[op->task] = op->attempt;
    table_stamp(t->started, op->task, op->time);
    return true;
}

static bool table_retry(struct store_table *t, const struct meta_op *op)
{
    if (t->status[op->task] == META_QUEUED && t->attempts[op->task] >= op->attempt)
        return false;
    t->status[op->task] = META_QUEUED;
    t->attempts[op->task] = op->attempt;
    return true;
}

/* Sizes are the workflow's own array until one differs; then all are copied, 8 bytes an object. */
static void table_set_size(struct store_table *t, uint32_t object, double bytes)
{
    if (!t->size) {
        double *size = mem_new(double, t->object_room > t->nobjects ? t->object_room : t->nobjects);
        for (uint32_t i = 0; i < t->nobjects; i++)
            size[i] = table_object_size(t, i);
        t->size = size;
    }
    t->size[object] = bytes;
}

/* The children that wait for nobody any more. The second time, for a repeated COMPLETE, nothing is
 * counted down. */
static void table_list_ready(struct store_table *t, uint32_t task, bool count_down,
                             struct answers *out, struct meta_answer *answer)
{
    for (uint32_t e = 0, n = table_child_count(t, task), later = table_first_later(t, task);
         e < n || later != NONE; e++) {
        uint32_t child = e < n ? table_child(t, task, e) : table_next_later(t, &later);
        bool last = count_down ? --t->waiting[child] == 0 : t->waiting[child] == 0;
        if (last && out && t->status[child] == META_QUEUED) {
            array_push(&out->items, table_item(t, child));
            answer->count++;
        }
    }
}

/* The commit. O(children); the object's real size is taken over when the task has exactly one. */
static bool table_complete(struct store_table *t, const struct meta_op *op, struct answers *out,
                           struct meta_answer *answer)
{
    uint32_t task = op->task;
    if (table_has_ended(t, task)) {
        if (meta_is_complete(t->status[task]) && table_is_holder(t, op))
            table_list_ready(t, task, false, out, answer); /* repeated: the same answer */
        else
            answer->outcome = META_ENDED;
        return false;
    }
    if (!table_is_holder(t, op) || (op->ahead && t->waiting[task])) {
        answer->outcome = META_STALE;
        return false;
    }
    t->status[task] = op->status >= META_SKIPPED ? op->status : META_DONE;
    t->done += t->status[task] == META_DONE;
    t->skipped += t->status[task] == META_SKIPPED;
    t->excused += t->status[task] == META_EXCUSED;
    table_stamp(t->started, task, op->start);
    table_stamp(t->ended, task, op->time);
    if (op->attempt)
        t->attempts[task] = op->attempt;
    uint32_t object = op->bytes > 0 ? table_only_object(t, task) : NONE;
    if (object != NONE && table_object_size(t, object) != op->bytes)
        table_set_size(t, object, op->bytes);
    table_list_ready(t, task, true, out, answer);
    return true;
}

/* FAILED is the holder's to say, REMOVED anybody's. The children are listed for the scheduler to
 * remove in turn; nothing is removed here that was not asked for. */
static bool table_end(struct store_table *t, const struct meta_op *op, struct answers *out,
                      struct meta_answer *answer)
{
    if (op->status == META_FAILED &&
        (!table_is_holder(t, op) || (op->ahead && t->waiting[op->task]))) {
        answer->outcome = META_STALE;
        return false;
    }
    if (op->status == META_FAILED)
        t->failed++;
    else
        t->removed++;
    t->status[op->task] = op->status == META_FAILED ? META_FAILED : META_REMOVED;
    table_stamp(t->ended, op->task, op->time);
    uint32_t n = out ? table_child_count(t, op->task) : 0;
    uint32_t later = out ? table_first_later(t, op->task) : NONE;
    for (uint32_t e = 0; e < n || later != NONE; e++) {
        uint32_t child = e < n ? table_child(t, op->task, e) : table_next_later(t, &later);
        if (t->status[child] == META_ABSENT || table_has_ended(t, child))
            continue;
        array_push(&out->items, table_item(t, child));
        answer->count++;
    }
    return true;
}

/* That life, and all before it, are over: should its JOIN still arrive, nobody would be there to do
 * what it takes. */
static bool table_fence(struct store_table_node *node, uint32_t life)
{
    if (node->fenced && node->life >= life)
        return false;
    node->life = life > node->life ? life : node->life;
    node->fenced = true;
    return true;
}

/* O(tasks from op->task on): a death is rare, so there is no index of a node's tasks to keep up. */
static bool table_adopt(struct store_table *t, const struct meta_op *op, struct answers *out,
                        struct meta_answer *answer)
{
    answer->item = (struct meta_item){.task = NONE, .holder = op->other, .max_node = NONE};
    if (op->node >= NODES_MAX || op->other >= NODES_MAX ||
        !table_may_take(t, op->node, op->epoch)) {
        answer->outcome = META_STALE;
        return false;
    }
    bool changed = false;
    if (op->other != op->node && op->bytes > 0 && table_node(t, op->other)->life > op->bytes)
        return false; /* it has begun another life meanwhile, and taken its tasks back itself */
    if (op->other != op->node && table_fence(table_node(t, op->other), (uint32_t)op->bytes))
        changed = true;
    uint64_t taken = 0;
    for (uint32_t task = op->task; task < t->ntasks; task++) {
        if (t->holder[task] != op->other || t->status[task] == META_ABSENT ||
            table_has_ended(t, task))
            continue;
        if (taken == op->limit) {
            answer->item.task = task;
            break;
        }
        table_take(t, task, op->node, op->time);
        t->status[task] = META_QUEUED;
        taken++;
        if (out) {
            array_push(&out->items, table_item(t, task));
            answer->count++;
        }
    }
    return changed || taken;
}

/* A life that is over cannot begin again: its JOIN was on the way when others fenced it. */
static bool table_join(struct store_table *t, const struct meta_op *op, uint8_t *outcome)
{
    struct store_table_node *node = table_node(t, op->node);
    if (op->life < node->life || (op->life == node->life && node->fenced)) {
        *outcome = META_STALE;
        return false;
    }
    if (op->life == node->life)
        return false;
    node->life = op->life;
    node->fenced = false;
    return true;
}

/* ---- objects ---- */

/* Copies are a chain, newest first. A removed one stays in the array and is not reached any
 * more. */
static bool table_copy(struct store_table *t, const struct meta_op *op)
{
    if (!t->last_copy)
        t->last_copy = column_of_none(t->object_room > t->nobjects ? t->object_room : t->nobjects);
    uint32_t *link = &t->last_copy[op->task];
    while (*link != NONE && t->copies.at[*link].node != op->node)
        link = &t->copies.at[*link].before;
    if (op->status && *link == NONE) {
        uint32_t before = t->last_copy[op->task];
        array_push(&t->copies, (struct store_table_link){op->node, before});
        t->last_copy[op->task] = (uint32_t)(t->copies.n - 1);
        return true;
    }
    if (!op->status && *link != NONE) {
        *link = t->copies.at[*link].before; /* the entry itself is not used again */
        return true;
    }
    return false;
}

/* The producer's node first, and not twice. */
static void table_where(const struct store_table *t, uint32_t object, struct answers *out,
                        struct meta_answer *answer)
{
    uint32_t producer = t->workflow          ? t->workflow->producer[object]
                        : object < t->ntasks ? object
                                             : NONE;
    answer->first = (uint32_t)out->nodes.n;
    answer->status = producer == NONE ? META_ABSENT : t->status[producer];
    if (answer->status == META_DONE)
        array_push(&out->nodes, t->holder[producer]);
    for (uint32_t c = t->last_copy ? t->last_copy[object] : NONE; c != NONE;
         c = t->copies.at[c].before)
        if (out->nodes.n == answer->first || out->nodes.at[answer->first] != t->copies.at[c].node)
            array_push(&out->nodes, t->copies.at[c].node);
    answer->count = (uint32_t)out->nodes.n - answer->first;
}

/* Objects can be spoken of before their producer was submitted. */
static bool table_apply_to_object(struct store_table *t, const struct meta_op *op,
                                  struct answers *out, struct meta_answer *answer)
{
    if (op->task >= t->nobjects || (op->kind == META_COPY && op->node == NONE)) {
        answer->outcome = META_UNKNOWN;
        return false;
    }
    if (op->kind == META_COPY)
        return table_copy(t, op);
    if (op->kind == META_WHERE) {
        if (out)
            table_where(t, op->task, out, answer);
        return false;
    }
    if (table_object_size(t, op->task) == op->bytes)
        return false;
    table_set_size(t, op->task, op->bytes);
    return true;
}

/* ---- reading ---- */

/* All of Figure 2. The history was collected from the last holder back, and is turned round. */
static void table_read(const struct store_table *t, uint32_t task, struct answers *out)
{
    struct meta_record r = {.task = task,
                            .holder = t->holder[task],
                            .epoch = t->epoch[task],
                            .ran_on = t->status[task] == META_DONE ? t->holder[task] : NONE,
                            .attempts = t->attempts[task],
                            .status = t->status[task],
                            .all_size = table_item(t, task).all_size,
                            .submitted = t->submitted ? t->submitted[task] : NAN,
                            .queued = t->queued ? t->queued[task] : NAN,
                            .started = t->started ? t->started[task] : NAN,
                            .ended = t->ended ? t->ended[task] : NAN,
                            .first = (uint32_t)out->nodes.n};
    for (uint32_t e = 0, n = table_parent_count(t, task), last = NONE; e < n; e++) {
        uint32_t parent = table_parent(t, task, e);
        r.waiting_parents += parent != last && !meta_is_complete(t->status[parent]);
        last = parent;
    }
    if (t->last_move)
        for (uint32_t m = t->last_move[task]; m != NONE; m = t->moves.at[m].before)
            array_push(&out->nodes, t->moves.at[m].node);
    if (t->first_holder && t->first_holder[task] != NONE)
        array_push(&out->nodes, t->first_holder[task]);
    r.count = (uint32_t)out->nodes.n - r.first;
    for (uint32_t i = 0; i < r.count / 2; i++) {
        uint32_t *a = &out->nodes.at[r.first + i], *b = &out->nodes.at[r.first + r.count - 1 - i];
        uint32_t swap = *a;
        *a = *b;
        *b = swap;
    }
    array_push(&out->records, r);
}

/* O(parents); asked by GET only. */
static bool table_is_doomed(const struct store_table *t, uint32_t task)
{
    for (uint32_t e = 0, n = table_parent_count(t, task); e < n; e++) {
        uint8_t status = t->status[table_parent(t, task, e)];
        if (status == META_FAILED || status == META_REMOVED)
            return true;
    }
    return false;
}

/* ---- all of them ---- */

/* An operation on a task that nobody submitted is UNKNOWN, but for PUT, and READ, which says so in
 * its record. */
static bool table_apply_to_task(struct store_table *t, const struct meta_op *op,
                                struct answers *out, struct meta_answer *answer)
{
    uint32_t task = op->task;
    if (task >= t->ntasks ||
        (t->status[task] == META_ABSENT && op->kind != META_PUT && op->kind != META_READ)) {
        answer->outcome = META_UNKNOWN;
        return false;
    }
    switch (op->kind) {
    case META_PUT:
        return table_put(t, op, &answer->outcome);
    case META_COMPLETE:
        return table_complete(t, op, out, answer);
    case META_READ:
        if (out)
            table_read(t, task, out);
        return false;
    case META_GET:
        answer->doomed = t->waiting[task] && table_is_doomed(t, task);
        answer->outcome = table_has_ended(t, task) ? META_ENDED : META_OK;
        return false;
    default:
        break;
    }
    if (table_has_ended(t, task)) {
        answer->outcome = META_ENDED;
        return false;
    }
    if (op->kind == META_HOLD)
        return table_hold(t, op, &answer->outcome);
    if (op->kind == META_REMOVE)
        return table_end(t, op, out, answer);
    if (!table_is_holder(t, op)) {
        answer->outcome = META_STALE;
        return false;
    }
    return op->kind == META_START ? table_start(t, op) : table_retry(t, op);
}

bool store_table_apply(struct store_table *t, const struct meta_op *op, struct answers *out)
{
    /* without `out` (replay) answers are not built, and nothing is listed */
    struct meta_answer answer = {.kind = op->kind,
                                 .slot = op->slot,
                                 .asked_epoch = op->epoch,
                                 .first = out ? (uint32_t)out->items.n : 0,
                                 .item = {.task = op->task, .holder = NONE, .max_node = NONE}};
    bool changed = false;
    switch (op->kind) {
    case META_ADOPT:
        changed = table_adopt(t, op, out, &answer);
        break;
    case META_JOIN:
        if (op->node >= NODES_MAX)
            answer.outcome = META_UNKNOWN;
        else
            changed = table_join(t, op, &answer.outcome);
        break;
    case META_OBJECT:
    case META_COPY:
    case META_WHERE:
        changed = table_apply_to_object(t, op, out, &answer);
        break;
    case META_COUNT:
        answer.item = (struct meta_item){.task = t->done,
                                         .epoch = t->failed,
                                         .waiting = t->removed,
                                         .all_size = t->skipped,
                                         .max_size = t->excused,
                                         .holder = NONE,
                                         .max_node = NONE};
        break;
    case META_SETTLE: /* table_growth.c has counted the parents that are done */
        answer.outcome = op->task < t->ntasks ? META_OK : META_UNKNOWN;
        break;
    default:
        if (op->kind >= META_KINDS) {
            answer.outcome = META_UNKNOWN;
            break;
        }
        changed = table_apply_to_task(t, op, out, &answer);
        if (out && op->task < t->ntasks) {
            answer.status = t->status[op->task];
            /* only these need the sums over the edges */
            if (op->kind == META_HOLD || op->kind == META_GET || op->kind == META_PUT)
                answer.item = table_item(t, op->task);
            else
                answer.item.holder = t->holder[op->task];
        }
        break;
    }
    if (out)
        array_push(&out->at, answer);
    return changed;
}

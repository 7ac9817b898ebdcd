/* See model_store.h. Every function below is a sentence of model/metadata.h; where it differs
 * from src/store/table.c in anything but speed, one of the two is wrong (faults_test.c compares
 * them). */
#include "model_store.h"
#include "base/array.h"
#include "model/growth.h"
#include "store/table.h"
#include <math.h>
#include <stdlib.h>

struct model_task {
    uint8_t status;
    uint16_t attempts;
    uint32_t epoch, holder;
    ARRAY(uint32_t) history; /* of holders, no two neighbours the same */
};

struct model_node {
    uint32_t life;
    bool fenced;
};

struct model_store {
    struct store store;
    const struct workflow *w;
    uint64_t adopt_most, submitted;
    uint32_t ntasks, nobjects;
    struct model_task *task;
    double *size; /* of each object */
    ARRAY(struct model_node) nodes;
    struct answers answers;
    bool shown; /* to the last poll: gone with the next words */
};

static bool model_ended(const struct model_store *m, uint32_t task)
{
    return m->task[task].status >= META_DONE;
}

static struct model_node *model_node_at(struct model_store *m, uint32_t node)
{
    while (m->nodes.n <= node)
        array_push(&m->nodes, (struct model_node){0});
    return &m->nodes.at[node];
}

static bool model_may_take(struct model_store *m, uint32_t node, uint32_t life)
{
    return !model_node_at(m, node)->fenced && life >= model_node_at(m, node)->life;
}

static struct meta_item model_item(const struct model_store *m, uint32_t task)
{
    const struct workflow *w = m->w;
    const struct model_task *t = &m->task[task];
    struct meta_item item = {.task = task,
                             .epoch = t->epoch,
                             .holder = t->holder,
                             .attempts = t->attempts,
                             .max_node = NONE};
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
        const struct model_task *parent = &m->task[w->pred_task[e]];
        item.waiting += !meta_is_complete(parent->status);
        if (e > w->pred_off[task] && w->pred_task[e] == w->pred_task[e - 1])
            continue; /* its bytes are counted with its first edge */
        double sum = 0;
        for (uint32_t k = e; k < w->pred_off[task + 1] && w->pred_task[k] == w->pred_task[e]; k++)
            sum += w->pred_object[k] == NONE ? 0 : m->size[w->pred_object[k]];
        item.all_size += sum;
        if (meta_is_complete(parent->status) && sum > item.max_size) {
            item.max_size = sum;
            item.max_node = parent->holder;
        }
    }
    return item;
}

static void model_take(struct model_store *m, uint32_t task, uint32_t node)
{
    struct model_task *t = &m->task[task];
    if (!t->history.n || t->history.at[t->history.n - 1] != node)
        array_push(&t->history, node);
    t->holder = node;
    t->epoch++;
}

static void model_list(struct model_store *m, uint32_t task, struct meta_answer *a)
{
    array_push(&m->answers.items, model_item(m, task));
    a->count++;
}

/* ---- operations ---- */

static void model_put(struct model_store *m, const struct meta_op *op, struct meta_answer *a)
{
    if (m->task[op->task].status != META_ABSENT)
        return;
    if (op->node != NONE && model_node_at(m, op->node)->fenced) {
        a->outcome = META_STALE;
        return;
    }
    m->task[op->task].status = META_QUEUED;
    if (op->node != NONE)
        model_take(m, op->task, op->node);
}

static void model_hold(struct model_store *m, const struct meta_op *op, struct meta_answer *a)
{
    const struct model_task *t = &m->task[op->task];
    if (model_ended(m, op->task))
        a->outcome = META_ENDED;
    else if (t->epoch == op->epoch + 1 && t->holder == op->node)
        a->outcome = META_OK;
    else if (t->epoch == op->epoch && model_may_take(m, op->node, op->life))
        model_take(m, op->task, op->node);
    else
        a->outcome = META_STALE;
}

static void model_get(struct model_store *m, const struct meta_op *op, struct meta_answer *a)
{
    const struct workflow *w = m->w;
    for (uint32_t e = w->pred_off[op->task]; e < w->pred_off[op->task + 1]; e++)
        a->doomed |= m->task[w->pred_task[e]].status == META_FAILED ||
                     m->task[w->pred_task[e]].status == META_REMOVED;
    if (model_ended(m, op->task))
        a->outcome = META_ENDED;
}

/* The children that wait for nobody, each once. */
static void model_list_ready(struct model_store *m, uint32_t task, struct meta_answer *a)
{
    const struct workflow *w = m->w;
    for (uint32_t e = w->succ_off[task]; e < w->succ_off[task + 1]; e++) {
        uint32_t child = w->succ_task[e];
        bool last = e + 1 == w->succ_off[task + 1] || w->succ_task[e + 1] != child;
        if (last && m->task[child].status == META_QUEUED && !model_item(m, child).waiting)
            model_list(m, child, a);
    }
    const struct later_edge *late; /* of those that joined, once for each edge */
    growth_each_later(w, task, late) if (m->task[late->task].status == META_QUEUED &&
                                         !model_item(m, late->task).waiting)
        model_list(m, late->task, a);
}

static void model_complete(struct model_store *m, const struct meta_op *op, bool mine,
                           struct meta_answer *a)
{
    const struct workflow *w = m->w;
    struct model_task *t = &m->task[op->task];
    if (model_ended(m, op->task) && !(meta_is_complete(t->status) && mine)) {
        a->outcome = META_ENDED;
        return;
    }
    if (!mine || (op->ahead && !meta_is_complete(t->status) && model_item(m, op->task).waiting)) {
        a->outcome = META_STALE;
        return;
    }
    if (!meta_is_complete(t->status)) {
        t->status = op->status >= META_SKIPPED ? op->status : META_DONE;
        t->attempts = op->attempt ? op->attempt : t->attempts;
        if (op->bytes > 0 && w->object_end[op->task] - w->object_off[op->task] == 1)
            m->size[w->object_off[op->task]] = op->bytes;
    }
    model_list_ready(m, op->task, a);
}

static void model_remove(struct model_store *m, const struct meta_op *op, bool mine,
                         struct meta_answer *a)
{
    const struct workflow *w = m->w;
    if (model_ended(m, op->task)) {
        a->outcome = META_ENDED;
        return;
    }
    if (op->status == META_FAILED && (!mine || (op->ahead && model_item(m, op->task).waiting))) {
        a->outcome = META_STALE;
        return;
    }
    m->task[op->task].status = op->status == META_FAILED ? META_FAILED : META_REMOVED;
    for (uint32_t e = w->succ_off[op->task]; e < w->succ_off[op->task + 1]; e++) {
        uint8_t status = m->task[w->succ_task[e]].status;
        if (status == META_QUEUED || status == META_RUNNING)
            model_list(m, w->succ_task[e], a);
    }
    const struct later_edge *late;
    growth_each_later(w, op->task, late) if (m->task[late->task].status == META_QUEUED ||
                                             m->task[late->task].status == META_RUNNING)
        model_list(m, late->task, a);
}

static void model_adopt(struct model_store *m, const struct meta_op *op, struct meta_answer *a)
{
    uint32_t over = (uint32_t)op->bytes;
    uint64_t limit = op->limit < m->adopt_most ? op->limit : m->adopt_most;
    a->item = (struct meta_item){.task = NONE, .holder = op->other, .max_node = NONE};
    if (!model_may_take(m, op->node, op->epoch)) {
        a->outcome = META_STALE;
        return;
    }
    if (op->other != op->node) {
        struct model_node *other = model_node_at(m, op->other);
        if (over && other->life > over)
            return; /* it has begun another life */
        other->life = over > other->life ? over : other->life;
        other->fenced = true;
    }
    for (uint32_t t = op->task; t < m->w->ntasks; t++) {
        if (m->task[t].status == META_ABSENT || model_ended(m, t) || m->task[t].holder != op->other)
            continue;
        if (a->count == limit) {
            a->item.task = t;
            return;
        }
        model_take(m, t, op->node);
        m->task[t].status = META_QUEUED;
        model_list(m, t, a);
    }
}

static void model_join(struct model_store *m, const struct meta_op *op, struct meta_answer *a)
{
    struct model_node *node = model_node_at(m, op->node);
    if (op->life < node->life || (op->life == node->life && node->fenced))
        a->outcome = META_STALE;
    else
        *node = (struct model_node){.life = op->life};
}

static void model_read(struct model_store *m, uint32_t task)
{
    const struct workflow *w = m->w;
    const struct model_task *t = &m->task[task];
    struct meta_record r = {.task = task,
                            .holder = t->holder,
                            .epoch = t->epoch,
                            .ran_on = meta_is_complete(t->status) ? t->holder : NONE,
                            .attempts = t->attempts,
                            .status = t->status,
                            .all_size = model_item(m, task).all_size,
                            .submitted = NAN,
                            .queued = NAN,
                            .started = NAN,
                            .ended = NAN,
                            .first = (uint32_t)m->answers.nodes.n,
                            .count = (uint32_t)t->history.n};
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++)
        r.waiting_parents += !meta_is_complete(m->task[w->pred_task[e]].status) &&
                             (e == w->pred_off[task] || w->pred_task[e] != w->pred_task[e - 1]);
    for (size_t i = 0; i < t->history.n; i++)
        array_push(&m->answers.nodes, t->history.at[i]);
    array_push(&m->answers.records, r);
}

static void model_apply_to_task(struct model_store *m, const struct meta_op *op,
                                struct meta_answer *a)
{
    struct model_task *t = &m->task[op->task];
    bool mine = t->holder == op->node && t->epoch == op->epoch;
    if (op->kind == META_PUT)
        model_put(m, op, a);
    else if (op->kind == META_READ)
        model_read(m, op->task);
    else if (t->status == META_ABSENT)
        a->outcome = META_UNKNOWN;
    else if (op->kind == META_HOLD)
        model_hold(m, op, a);
    else if (op->kind == META_GET)
        model_get(m, op, a);
    else if (op->kind == META_COMPLETE)
        model_complete(m, op, mine, a);
    else if (op->kind == META_REMOVE)
        model_remove(m, op, mine, a);
    else if (model_ended(m, op->task)) /* START, RETRY */
        a->outcome = META_ENDED;
    else if (!mine)
        a->outcome = META_STALE;
    else {
        t->status = op->kind == META_START ? META_RUNNING : META_QUEUED;
        t->attempts = op->attempt;
    }
    a->status = t->status;
    a->item = model_item(m, op->task);
}

/* ---- the store's functions ---- */

static void model_submit(struct store *s, const struct meta_op *ops, size_t n)
{
    struct model_store *m = (struct model_store *)s;
    if (m->shown)
        answers_clear(&m->answers);
    m->shown = false;
    m->submitted += n;
    for (size_t i = 0; i < n; i++) {
        const struct meta_op *op = &ops[i];
        struct meta_answer a = {.kind = op->kind,
                                .slot = op->slot,
                                .asked_epoch = op->epoch,
                                .first = (uint32_t)m->answers.items.n,
                                .item = {.task = op->task, .holder = NONE, .max_node = NONE}};
        if (op->kind == META_ADOPT)
            model_adopt(m, op, &a);
        else if (op->kind == META_JOIN)
            model_join(m, op, &a);
        else if (op->kind == META_OBJECT || op->kind == META_COPY || op->kind == META_WHERE ||
                 op->kind == META_COUNT || op->task >= m->w->ntasks)
            a.outcome = META_UNKNOWN; /* no scheduler asks for these */
        else
            model_apply_to_task(m, op, &a);
        array_push(&m->answers.at, a);
    }
}

static bool model_poll(struct store *s, struct meta_answers *out, struct error *err)
{
    struct model_store *m = (struct model_store *)s;
    (void)err;
    if (m->shown)
        answers_clear(&m->answers);
    m->shown = true;
    *out = (struct meta_answers){.at = m->answers.at.at,
                                 .n = m->answers.at.n,
                                 .items = m->answers.items.at,
                                 .records = m->answers.records.at,
                                 .nodes = m->answers.nodes.at};
    return true;
}

static void model_wait(struct store *s)
{
    (void)s;
}

static int model_fd(struct store *s)
{
    (void)s;
    return -1;
}

static uint64_t model_durable(struct store *s)
{
    return ((struct model_store *)s)->submitted;
}

static bool model_flush(struct store *s, struct error *err)
{
    (void)s, (void)err;
    return true;
}

static size_t model_bytes(const struct store *s)
{
    return sizeof *(const struct model_store *)s;
}

/* Tasks and objects that are new are absent. */
static void model_grow(struct store *s)
{
    struct model_store *m = (struct model_store *)s;
    m->task = mem_resize(m->task, m->w->ntasks);
    for (uint32_t t = m->ntasks; t < m->w->ntasks; t++)
        m->task[t] = (struct model_task){.holder = NONE};
    m->size = mem_resize(m->size, m->w->nobjects + 1);
    for (uint32_t i = m->nobjects; i < m->w->nobjects; i++)
        m->size[i] = m->w->size[i];
    m->ntasks = m->w->ntasks;
    m->nobjects = m->w->nobjects;
}

static bool model_close(struct store *s, struct error *err)
{
    struct model_store *m = (struct model_store *)s;
    (void)err;
    for (uint32_t t = 0; t < m->w->ntasks; t++)
        array_free(&m->task[t].history);
    free(m->task);
    free(m->size);
    array_free(&m->nodes);
    answers_free(&m->answers);
    free(m);
    return true;
}

struct store *model_store_open(const struct workflow *workflow, uint64_t adopt_most)
{
    static const struct store_ops ops = {
        .name = "model",
        .submit = model_submit,
        .poll = model_poll,
        .wait = model_wait,
        .fd = model_fd,
        .durable = model_durable,
        .flush = model_flush,
        .retry = model_flush,
        .grow = model_grow,
        .bytes = model_bytes,
        .close = model_close,
    };
    struct model_store *m = mem_new_zero(struct model_store, 1);
    m->store.ops = &ops;
    m->w = workflow;
    m->adopt_most = adopt_most;
    m->ntasks = workflow->ntasks;
    m->nobjects = workflow->nobjects;
    m->task = mem_new_zero(struct model_task, workflow->ntasks);
    for (uint32_t t = 0; t < workflow->ntasks; t++)
        m->task[t].holder = NONE;
    m->size = mem_new_zero(double, workflow->nobjects + 1);
    for (uint32_t i = 0; i < workflow->nobjects; i++)
        m->size[i] = workflow->size[i];
    return &m->store;
}

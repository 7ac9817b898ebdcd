/* The Redis store against the table, operation by operation; servers that die, answers that are
 * lost. What goes wrong otherwise, and who is let in, stands in redis_errors_test.c. */
#include "base/rng.h"
#include "model/growth.h"
#include "store/redis/state.h"
#include "store/redis/testing.h"
#include "store/table.h"
#include "tap.h"

/* Random parents, some joined by several objects, inputs of the workflow, and one task that waits
 * for 100. With the seed 0 nobody waits for anybody. */
static struct workflow *make_random(uint32_t n, uint64_t seed)
{
    struct builder *b = builder_new("<test>", "test");
    struct rng g;
    char name[32];
    rng_seed(&g, seed);
    for (uint32_t t = 0; t < n; t++)
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "t%u", t), 0);
    for (uint32_t i = 0; i < 10; i++) {
        uint32_t o = builder_object(b, name, (size_t)snprintf(name, sizeof name, "in%u", i));
        builder_size(b, o, 1000.0 * (i + 1), 0);
        for (uint32_t k = 0; k < 3; k++)
            builder_consumes(b, (uint32_t)rng_below(&g, n / 3) + k * (n / 3), o, 0);
    }
    for (uint32_t t = seed ? 1 : n; t < n; t++)
        for (uint32_t k = 0, m = t == n - 1 ? 100 : (uint32_t)rng_below(&g, 4); k < m && k < t;
             k++) {
            uint32_t from = t == n - 1 ? k : t - 1 - (uint32_t)rng_below(&g, t < 20 ? t : 20);
            if (k % 3 == 2) {
                builder_edge(b, from, t, 0);
            } else {
                uint32_t o =
                    builder_object(b, name, (size_t)snprintf(name, sizeof name, "o%u_%u", t, k));
                builder_size(b, o, (double)rng_below(&g, 1000), 0);
                builder_produces(b, from, o, 0);
                builder_consumes(b, t, o, 0);
            }
        }
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    if (!w) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
    return w;
}

/* Mostly what a scheduler would ask next, so that the run gets somewhere; sometimes nonsense. */
static struct meta_op random_op(struct rng *g, const struct workflow *w,
                                const struct store_table *t)
{
    static const uint8_t kinds[] = {
        META_PUT,      META_PUT,      META_HOLD,   META_GET,      META_START, META_RETRY,
        META_COMPLETE, META_COMPLETE, META_REMOVE, META_COMPLETE, META_ADOPT, META_JOIN,
        META_OBJECT,   META_COPY,     META_READ,   META_WHERE,    META_PUT,   META_COMPLETE,
        META_COPY,     META_COUNT,    99};
    struct meta_op op = {.kind = kinds[rng_below(g, sizeof kinds)]};
    uint32_t task = (uint32_t)rng_below(g, w->ntasks + (rng_below(g, 20) == 0));
    if ((op.kind == META_REMOVE || op.kind == META_ADOPT || op.kind == 99) && rng_below(g, 4))
        op.kind = META_COMPLETE;
    op.task = task;
    op.slot = (uint32_t)rng_below(g, 1000);
    op.node = (uint32_t)rng_below(g, 5);
    op.epoch = (uint32_t)rng_below(g, 3);
    op.life = (uint32_t)rng_below(g, 3);
    op.time = rng_unit(g);
    op.attempt = (uint16_t)rng_below(g, 3);
    op.status = (uint8_t)rng_below(g, 8);
    if (op.kind == META_COUNT) /* 1 answers in parts: forgeries() */
        op.status = 0;
    op.bytes = rng_below(g, 3) ? (double)rng_below(g, 5000) : 0;
    if (task < w->ntasks && rng_below(g, 4)) { /* the holder's word */
        op.node = t->holder[task];
        op.epoch = t->epoch[task];
    }
    if (op.kind == META_PUT)
        op.node = rng_below(g, 10) ? (uint32_t)rng_below(g, 5) : NONE;
    if (op.kind == META_COMPLETE)
        op.start = rng_unit(g);
    if (op.kind == META_ADOPT) {
        op.other = (uint32_t)rng_below(g, 5);
        op.limit = rng_below(g, 6);
        op.node = (uint32_t)rng_below(g, 5);
    }
    if (op.kind == META_OBJECT || op.kind == META_COPY || op.kind == META_WHERE) {
        op.digest = NULL;
        op.task = (uint32_t)rng_below(g, w->nobjects + (rng_below(g, 20) == 0));
        op.status = rng_below(g, 3) != 0;
        op.node = (uint32_t)rng_below(g, 5);
    }
    return op;
}

static bool same_item(const struct meta_item *a, const struct meta_item *b)
{
    return a->task == b->task && a->epoch == b->epoch && a->holder == b->holder &&
           a->waiting == b->waiting && a->max_node == b->max_node && a->attempts == b->attempts &&
           a->all_size == b->all_size && a->max_size == b->max_size;
}

static bool same_record(const struct meta_record *a, const struct meta_record *b,
                        const uint32_t *na, const uint32_t *nb)
{
    bool same = a->task == b->task && a->waiting_parents == b->waiting_parents &&
                a->holder == b->holder && a->epoch == b->epoch && a->ran_on == b->ran_on &&
                a->attempts == b->attempts && a->status == b->status &&
                a->all_size == b->all_size && a->count == b->count &&
                memcmp(&a->submitted, &b->submitted, 4 * sizeof(double)) == 0;
    for (uint32_t i = 0; same && i < a->count; i++)
        same = na[a->first + i] == nb[b->first + i];
    return same;
}

static void show_difference(const struct meta_answer *a, const struct meta_answer *b)
{
    printf("# kind %u: outcome %u, %u; status %u, %u; doomed %u, %u; count %u, %u; task %u, %u; "
           "epoch %u, %u; holder %u, %u; waiting %u, %u; max_node %u, %u; all %g, %g; max %g, %g\n",
           a->kind, a->outcome, b->outcome, a->status, b->status, a->doomed, b->doomed, a->count,
           b->count, a->item.task, b->item.task, a->item.epoch, b->item.epoch, a->item.holder,
           b->item.holder, a->item.waiting, b->item.waiting, a->item.max_node, b->item.max_node,
           a->item.all_size, b->item.all_size, a->item.max_size, b->item.max_size);
}

/* Answer `i` of one and answer `k` of the other. */
static bool same_answer(const struct meta_answers *x, size_t i, size_t xr,
                        const struct meta_answers *y, size_t k, size_t yr)
{
    const struct meta_answer *a = &x->at[i], *b = &y->at[k];
    bool same = a->kind == b->kind && a->outcome == b->outcome && a->status == b->status &&
                a->doomed == b->doomed && a->slot == b->slot && a->asked_epoch == b->asked_epoch &&
                a->count == b->count && same_item(&a->item, &b->item);
    for (uint32_t c = 0; same && c < a->count; c++)
        same = a->kind == META_WHERE ? x->nodes[a->first + c] == y->nodes[b->first + c]
                                     : same_item(&x->items[a->first + c], &y->items[b->first + c]);
    if (same && a->kind == META_READ && a->outcome != META_UNKNOWN)
        same = same_record(&x->records[xr], &y->records[yr], x->nodes, y->nodes);
    if (!same)
        show_difference(a, b);
    return same;
}

static struct meta_answers answers_of(const struct answers *a)
{
    return (struct meta_answers){.at = a->at.at,
                                 .n = a->at.n,
                                 .items = a->items.at,
                                 .records = a->records.at,
                                 .nodes = a->nodes.at};
}

/* Take answers until all that are due have come; compare each with the table's. False: one
 * differs. */
static bool compare(struct store *s, const struct answers *want)
{
    struct meta_answers got, all = answers_of(want);
    struct error err = {0};
    size_t record = 0;
    bool same = true;
    for (size_t at = 0; at < all.n;) {
        store_wait(s);
        if (!store_poll(s, &got, &err)) {
            printf("# %s\n", err.text);
            return false;
        }
        size_t first = record;
        for (size_t i = 0; i < got.n && at < all.n; i++, at++) {
            same &= same_answer(&got, i, record - first, &all, at, record);
            record += all.at[at].kind == META_READ && all.at[at].outcome != META_UNKNOWN;
        }
    }
    return same;
}

static bool same_state(struct store *s, struct store_table *t)
{
    struct answers want = {0};
    bool same = true;
    for (uint32_t k = 0; k < t->ntasks && same; k++) {
        struct meta_op ops[2] = {OP(READ, .task = k), OP(GET, .task = k)};
        answers_clear(&want);
        for (int i = 0; i < 2; i++)
            store_table_apply(t, &ops[i], &want);
        store_submit(s, ops, 2);
        same = compare(s, &want);
        if (!same)
            printf("# task %u\n", k);
    }
    for (uint32_t k = 0; k < t->nobjects && same; k++) {
        struct meta_op op = OP(WHERE, .task = k);
        answers_clear(&want);
        store_table_apply(t, &op, &want);
        store_submit(s, &op, 1);
        same = compare(s, &want);
    }
    struct meta_op count = OP(COUNT, .slot = 5);
    answers_clear(&want);
    store_table_apply(t, &count, &want);
    store_submit(s, &count, 1);
    same = same && compare(s, &want);
    answers_free(&want);
    return same;
}

static void against_the_table(const struct server *server, const struct workflow *w,
                              uint32_t shards, uint32_t batch, uint64_t seed)
{
    struct error err = {0};
    struct store_table t;
    struct answers want = {0};
    struct rng g;
    char prefix[32];
    rng_seed(&g, seed);
    snprintf(prefix, sizeof prefix, "r%u.%u.%llu", shards, batch, (unsigned long long)seed);
    struct store *s = store_redis_open(&(struct store_redis_config){.workflow = w,
                                                                    .servers = server->address,
                                                                    .prefix = prefix,
                                                                    .forget = true,
                                                                    .shards = shards},
                                       NULL, &err);
    if (!ok(s != NULL, "open %s %s", prefix, err.text))
        return;
    store_table_init(&t, w);
    ARRAY(struct meta_op) ops = {0};
    bool same = true;
    uint32_t asked = 0, ended = 0;
    while (asked < 4000 && same) {
        ops.n = 0;
        answers_clear(&want);
        for (uint32_t i = 0, n = batch > 1 ? 1 + (uint32_t)rng_below(&g, batch) : 1; i < n; i++) {
            struct meta_op op = random_op(&g, w, &t);
            for (uint64_t like = rng_below(&g, 3) ? 1 : 1 + rng_below(&g, 12); like--; op.task++) {
                array_push(&ops, op); /* neighbours in a row become one operation */
                store_table_apply(&t, &op, &want);
            }
        }
        store_submit(s, ops.at, ops.n);
        asked += (uint32_t)ops.n;
        same = compare(s, &want);
    }
    for (uint32_t k = 0; k < w->ntasks; k++)
        ended += t.status[k] == META_DONE;
    ok(same, "%u shards, batches up to %u: %u random operations are answered as by the table",
       shards, batch, asked);
    ok(ended > w->ntasks / 8, "%u of %u tasks are done", ended, w->ntasks);
    ok(same && same_state(s, &t), "and all is the same at the end");
    ok(store_close(s, &err), "closed %s", err.text);
    is_str(tell((struct server *)server, "DBSIZE"), "0", "and nothing is left in the server");
    store_table_free(&t);
    answers_free(&want);
    array_free(&ops);
}

/* Every task put, held and completed in order while the server is killed and started again. */
static void restart(struct server *server, const struct workflow *w, uint32_t shards)
{
    struct error err = {0};
    struct store_table t;
    struct answers want = {0};
    struct store *s = store_redis_open(&(struct store_redis_config){.workflow = w,
                                                                    .servers = server->address,
                                                                    .prefix = "restart",
                                                                    .forget = true,
                                                                    .shards = shards},
                                       NULL, &err);
    if (!ok(s != NULL, "open %s", err.text))
        return;
    store_table_init(&t, w);
    uint64_t due = 0, got = 0, refused = 0;
    struct meta_answers all;
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t task = w->topo[i];
        struct meta_op ops[] = {
            OP(PUT, .task = task, .node = task % 5, .time = i),
            OP(START, .task = task, .node = task % 5, .epoch = 1, .attempt = 1, .time = i + 1),
            OP(HOLD, .task = task, .node = 7, .epoch = 1, .time = i + 2),
            OP(COMPLETE, .task = task, .node = 7, .epoch = 2, .attempt = 1, .start = i,
               .time = i + 3, .bytes = 17)};
        for (size_t k = 0; k < 4; k++)
            store_table_apply(&t, &ops[k], &want);
        store_submit(s, ops, 4);
        due += 4;
        if (i % (w->ntasks / 4) == w->ntasks / 8) {
            store_poll(s, &all, &err); /* some of it is on its way */
            for (size_t k = 0; k < all.n; k++)
                refused += all.at[k].outcome != META_OK;
            got += all.n;
            server_kill(server);
            server->native = !server->native; /* what one wrote, the other reads */
            server_run(server);
        }
        while (got < due && (i % 16 == 0 || i + 1 == w->ntasks)) {
            store_wait(s);
            if (!store_poll(s, &all, &err))
                break;
            got += all.n;
            for (size_t k = 0; k < all.n; k++)
                refused += all.at[k].outcome != META_OK;
        }
    }
    struct store_redis_counts counts = store_redis_counts(s);
    is_int(got, due, "%u shards: every operation is answered %s", shards, err.text);
    is_int(refused, 0, "and granted: a call that was applied is not applied again");
    ok(counts.connects >= 5 && counts.resent > 0, "over %llu connections, %llu calls sent again",
       (unsigned long long)counts.connects, (unsigned long long)counts.resent);
    ok(same_state(s, &t), "nothing is lost and nothing applied twice");
    is_int(store_durable(s), got + 2 * (uint64_t)w->ntasks + w->nobjects + 1,
           "what is answered is in the append-only file");
    ok(store_close(s, &err), "closed %s", err.text);
    store_table_free(&t);
    answers_free(&want);
}

/* Two clients want every task: of two claims at one epoch the store grants one. */
static void rivals(const struct server *server, const struct workflow *w)
{
    struct error err = {0};
    struct store_redis_config c = {.workflow = w, .servers = server->address, .prefix = "rivals"};
    struct store *s[2] = {store_redis_open(&c, NULL, &err)};
    bool existed = false;
    c.forget = true;
    s[1] = store_redis_open(&c, &existed, &err);
    if (!ok(s[0] && s[1] && existed, "two clients in one run %s", err.text))
        return;
    uint32_t *granted = mem_new_zero(uint32_t, w->ntasks);
    for (uint32_t k = 0; k < w->ntasks; k++)
        ask(s[k % 2], OP(PUT, .task = k, .node = 5), NULL);
    for (uint32_t k = 0; k < w->ntasks; k++)
        for (uint32_t i = 0; i < 2; i++)
            store_submit(s[(k + i) % 2],
                         &OP(HOLD, .task = k, .node = (k + i) % 2, .epoch = 1, .slot = k), 1);
    uint32_t once = 0, got = 0;
    for (uint32_t i = 0; i < 2; i++) {
        struct meta_answers all;
        store_flush(s[i], &err);
        store_poll(s[i], &all, &err);
        for (size_t k = 0; k < all.n; k++)
            granted[all.at[k].slot] += all.at[k].outcome == META_OK;
        got += (uint32_t)all.n;
    }
    for (uint32_t k = 0; k < w->ntasks; k++)
        once += granted[k] == 1;
    is_int(got, 2 * w->ntasks, "both are answered");
    is_int(once, w->ntasks, "each task goes to one of them");
    ok(store_close(s[0], &err) && store_close(s[1], &err), "closed %s", err.text);
    free(granted);
}

/* By looking at each record: how many ends are proved. */
static uint32_t audit(struct store *s)
{
    uint32_t ended = 0;
    for (uint32_t from = 0; from != NONE;) {
        struct meta_answer a = ask(s, OP(COUNT, .task = from, .status = 1), NULL);
        ended += a.item.task + a.item.epoch + a.item.waiting;
        from = a.item.holder;
    }
    return ended;
}

/* Somebody without the run's prover writes to the server: ends and edges. */
static void forgeries(struct server *server, const struct workflow *w, uint32_t shards)
{
    struct error err = {0};
    struct meta_answers all;
    struct store_redis_config c = {.workflow = w,
                                   .servers = server->address,
                                   .prefix = "forged",
                                   .prover = {{1}},
                                   .shards = shards};
    struct store *s = store_redis_open(&c, NULL, &err);
    if (!ok(s != NULL, "open %s", err.text))
        return;
    for (uint32_t k = 0; k < w->ntasks; k++)
        ask(s, OP(PUT, .task = k, .node = 3), NULL);
    uint32_t half = w->ntasks / 2;
    for (uint32_t k = 0; k < half; k++)
        ask(s, OP(COMPLETE, .task = w->topo[k], .node = 3, .epoch = 1), NULL);
    ask(s, OP(REMOVE, .task = w->topo[w->ntasks - 1], .status = META_REMOVED), NULL);
    is_int(audit(s), half + 1, "%u shards: what ended is proved", shards);
    ask(s, OP(READ, .task = w->topo[0]), &all);
    ok(all.records[0].status == META_DONE && !all.records[0].forged && !all.forged, "a record too");
    struct store_redis_config others = c;
    others.prover.at[0] = 2;
    struct store *other = store_redis_open(&others, NULL, &err);
    ok(other && audit(other) == 0, "of another run's prover nothing is");
    ask(other, OP(READ, .task = w->topo[0]), &all);
    ok(all.records[0].status == META_QUEUED && all.records[0].forged && all.forged,
       "and it is told: %s", all.forged ? all.forged : "");
    store_close(other, &err);
    uint32_t victim = w->topo[half], per = w->ntasks / shards + (w->ntasks % shards != 0);
    tell(server, "SETRANGE {forged.%u}:R %u \3", victim / per, victim % per * REDIS_SCRIPT_RECORD);
    is_int(audit(s), half + 1, "an end that somebody wrote does not count");
    ask(s, OP(READ, .task = victim), &all);
    ok(all.records[0].status == META_QUEUED && all.records[0].forged && all.forged,
       "nor is it one");
    uint32_t child = NONE, waiting = 0;
    for (uint32_t k = half + 1; k < w->ntasks && !waiting; k++)
        waiting = ask(s, OP(GET, .task = child = w->topo[k]), NULL).item.waiting;
    uint32_t first = w->pred_off[child / per * per];
    tell(server, "SETRANGE {forged.%u}:E %u AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", child / per,
         (w->pred_off[child] - first) * REDIS_SCRIPT_EDGE);
    struct meta_answer a = ask(s, OP(GET, .task = child), NULL);
    ok(waiting && a.item.waiting >= waiting,
       "who waits for a parent waits on, whatever stands there");
    a = ask(s, OP(COMPLETE, .task = victim, .node = 3, .epoch = 1), NULL);
    ask(s, OP(READ, .task = victim), &all);
    ok(a.outcome == META_OK && all.records[0].status == META_DONE && !all.records[0].forged,
       "whoever really ends it puts it right");
    is_int(audit(s), half + 2, "and it counts");
    for (uint32_t k = half + 1; k < w->ntasks; k++)
        ask(s, OP(COMPLETE, .task = w->topo[k], .node = 3, .epoch = 1), NULL);
    is_int(audit(s), w->ntasks, "in the end all do");
    store_redis_closing(s, true, 5);
    ok(store_close(s, &err), "closed %s", err.text);
}

/* ---- a workflow that grows ---- */

/* Tasks that read what old ones make, come after others, and follow one another. */
static bool append_random(struct workflow *w, uint32_t n, uint32_t level, struct rng *g)
{
    struct builder *b = builder_new("<test>", "test");
    ARRAY(struct growth_link) links = {0};
    struct error err = {0};
    char name[32], label[64];
    for (uint32_t t = 0; t < n; t++)
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "p%u_%u", level, t), 0);
    for (uint32_t t = 0; t < n; t++) {
        for (uint32_t k = (uint32_t)rng_below(g, 4); k--;) {
            uint32_t o = (uint32_t)rng_below(g, w->nobjects);
            const char *old = workflow_object_label(w, o, label, sizeof label);
            uint32_t x = builder_object(b, old, strlen(old));
            builder_size(b, x, w->size[o], 0);
            builder_consumes(b, t, x, 0);
        }
        if (rng_below(g, 2))
            array_push(&links, (struct growth_link){(uint32_t)rng_below(g, w->ntasks), t});
        if (t && rng_below(g, 2))
            builder_edge(b, (uint32_t)rng_below(g, t), t, 0);
        uint32_t o =
            builder_object(b, name, (size_t)snprintf(name, sizeof name, "m%u_%u", level, t));
        builder_size(b, o, (double)rng_below(g, 1000), 0);
        builder_produces(b, t, o, 0);
    }
    struct workflow *part = builder_finish(b, &err);
    bool good = part && workflow_append(w, part, links.at, links.n, &err);
    if (!good)
        printf("# %s\n", err.text);
    workflow_free(part);
    array_free(&links);
    return good;
}

/* Operations of which the table and the shards know the same sizes; `deaths`: whoever is fenced off now is so
 * in all shards that there are. */
static bool ask_random(struct store *s, const struct workflow *w, struct store_table *t,
                       struct rng *g, bool deaths)
{
    struct answers want = {0};
    bool same = true;
    for (uint32_t round = 0; round < 60 && same; round++) {
        struct meta_op ops[30];
        uint32_t n = 1 + (uint32_t)rng_below(g, 30);
        answers_clear(&want);
        for (uint32_t i = 0; i < n; i++) {
            do
                ops[i] = random_op(g, w, t);
            while (ops[i].kind == META_OBJECT ||
                   (!deaths && (ops[i].kind == META_ADOPT || ops[i].kind == META_JOIN)) ||
                   (ops[i].kind == META_COPY && ops[i].task < w->nobjects &&
                    w->producer[ops[i].task] == NONE));
            if (ops[i].kind == META_COMPLETE)
                ops[i].bytes = 0;
            store_table_apply(t, &ops[i], &want);
        }
        store_submit(s, ops, n);
        same = compare(s, &want);
        if (!same)
            printf("# in round %u\n", round);
    }
    answers_free(&want);
    return same;
}

/* Whoever puts what joined has its parents settled. */
static bool settle_parents(struct store *s, const struct workflow *w, uint32_t first)
{
    struct error err = {0};
    struct meta_answers got;
    uint32_t asked = 0;
    for (uint32_t e = w->pred_off[first]; e < w->pred_off[w->ntasks]; e++)
        if (w->pred_task[e] < first) {
            store_submit(s, &OP(SETTLE, .task = w->pred_task[e]), 1);
            asked++;
        }
    while (asked) {
        store_wait(s);
        if (!store_poll(s, &got, &err))
            return false;
        for (size_t i = 0; i < got.n; i++)
            asked -= got.at[i].kind == META_SETTLE;
    }
    return true;
}

static void growing(struct server *server, uint32_t shards, uint64_t seed)
{
    struct error err = {0};
    struct workflow *w = make_random(150, seed);
    struct rng g;
    char prefix[32];
    snprintf(prefix, sizeof prefix, "g%u.%llu", shards, (unsigned long long)seed);
    struct store_redis_config config = {
        .workflow = w, .servers = server->address, .prefix = prefix, .shards = shards};
    struct store *s = store_redis_open(&config, NULL, &err), *other;
    struct store_table t;
    rng_seed(&g, seed + 100);
    store_table_init(&t, w);
    bool same = s && ask_random(s, w, &t, &g, false);
    for (uint32_t level = 0; level < 3 && same; level++) {
        uint32_t first = w->ntasks;
        same = append_random(w, 20 + 30 * level, level, &g);
        store_table_grow(&t);
        s->ops->grow(s);
        same = same && settle_parents(s, w, first) && ask_random(s, w, &t, &g, level == 2);
    }
    ok(same, "%u shards: what joins is answered as by the table %s", shards, err.text);
    ok(same && same_state(s, &t), "and all is the same at the end");
    uint32_t joined = 0;
    for (uint32_t k = 150; k < t.ntasks; k++)
        joined += t.status[k] == META_DONE;
    ok(joined > 10, "%u of the tasks that joined are done", joined);
    config.forget = true; /* whoever opens it later has all of it */
    other = store_redis_open(&config, NULL, &err);
    ok(other && same_state(other, &t), "and for one who opens it later %s", err.text);
    ok(store_close(s, &err) && store_close(other, &err), "closed %s", err.text);
    is_str(tell(server, "DBSIZE"), "0", "and nothing is left in the server");
    store_table_free(&t);
    workflow_free(w);
}

/* One who ends a task without knowing of its new children: they learn of it by SETTLE. */
static void unknowing(const struct server *server)
{
    struct error err = {0};
    struct rng g;
    struct meta_answers got;
    struct workflow *w = make_random(30, 5), *old = make_random(30, 5);
    struct store_redis_config config = {
        .workflow = w, .servers = server->address, .prefix = "u", .forget = true};
    struct store *s = store_redis_open(&config, NULL, &err);
    config.workflow = old;
    config.forget = false;
    struct store *behind = store_redis_open(&config, NULL, &err);
    rng_seed(&g, 3);
    ok(s && behind && append_random(w, 20, 0, &g), "two clients, one of which grows %s", err.text);
    s->ops->grow(s);
    for (uint32_t k = 0; k < w->ntasks; k++)
        ask(s, OP(PUT, .task = k, .node = 1), NULL);
    for (uint32_t k = 0; k < 30; k++)
        ask(behind, OP(COMPLETE, .task = old->topo[k], .node = 1, .epoch = 1), NULL);
    uint32_t waiting = 0, still = 0;
    for (uint32_t k = 30; k < w->ntasks; k++)
        waiting += ask(s, OP(GET, .task = k), &got).item.waiting;
    settle_parents(s, w, 30);
    for (uint32_t k = 30; k < w->ntasks; k++)
        for (uint32_t e = w->pred_off[k]; e < w->pred_off[k + 1]; e++)
            still += w->pred_task[e] >= 30;
    ok(waiting > still, "what it does not know, it does not notify: %u wait for it",
       waiting - still);
    for (uint32_t k = 30; k < w->ntasks; k++)
        still -= ask(s, OP(GET, .task = k), &got).item.waiting;
    is_int(still, 0, "and SETTLE does: they wait for one another only");
    ok(store_close(behind, &err) && store_close(s, &err), "closed %s", err.text);
    workflow_free(w);
    workflow_free(old);
}

/* By the script, and by our module: the same tests, the same answers. */
static void everything(const char *folder, bool native, struct workflow *w, struct workflow *flat)
{
    struct server server = {.native = native};
    server_start(&server, folder, native ? "native" : "script");
    tell(&server, "CONFIG SET appendfsync no"); /* the disk is not what is compared */
    for (uint64_t seed = 1; seed <= 3; seed++) {
        against_the_table(&server, w, 1, 60, seed);
        against_the_table(&server, w, 7, 1, seed);
        against_the_table(&server, flat, 1, 60, 10 + seed);
    }
    growing(&server, 1, 1);
    growing(&server, 5, 2);
    TAP_DO(unknowing(&server));
    TAP_DO(rivals(&server, w));
    TAP_DO(forgeries(&server, w, 1));
    TAP_DO(forgeries(&server, w, 7));
    const char *used = tell(&server, "INFO commandstats");
    is_int(strstr(used, "cmdstat_" REDIS_MODULE_APPLY) != NULL, native, "our module was %s",
           native ? "used" : "not there");
    is_int(strstr(used, "cmdstat_" REDIS_MODULE_LOOK) != NULL, native, "for looks, too");
    tell(&server, "CONFIG SET appendfsync always");
    TAP_DO(restart(&server, w, 1));
    TAP_DO(restart(&server, w, 7));
    server_remove(&server);
}

int main(void)
{
    struct workflow *w = make_random(150, 1), *flat = make_random(150, 0);
    char folder[4096];
    if (!has_program("redis-server")) {
        tap_skip("the Redis store", "redis-server is not installed");
    } else {
        make_folder(folder, sizeof folder);
        everything(folder, false, w, flat);
        everything(folder, true, w, flat);
        remove_folder(folder);
    }
    workflow_free(flat), workflow_free(w);
    return tap_done();
}

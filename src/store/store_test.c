/* What the operations mean, the same in memory, with a journal and on a Redis server. */
#include "store/redis/testing.h"
#include "tap.h"
#include <math.h>

static struct meta_record read_task(struct store *s, uint32_t task, struct meta_answers *all)
{
    ask(s, OP(READ, .task = task), all);
    return all->records[0];
}

static void life_of_a_task(struct store *s)
{
    struct meta_answers all;
    struct meta_answer a = ask(s, OP(HOLD, .task = 0, .node = 1), NULL);
    is_int(a.outcome, META_UNKNOWN, "a task that was not submitted is unknown");
    is_int(ask(s, OP(PUT, .task = 100000, .node = 1), NULL).outcome, META_UNKNOWN,
           "a task that does not exist");
    a = ask(s, OP(PUT, .task = 0, .node = 1, .time = 5), NULL);
    is_int(a.status, META_QUEUED, "submitted");
    is_int(a.item.epoch, 1, "its first holder");
    a = ask(s, OP(PUT, .task = 0, .node = 2, .time = 6), NULL);
    is_int(a.item.holder, 1, "submitted again, to another: stays where it is");
    a = ask(s, OP(HOLD, .task = 0, .node = 1, .slot = 77), NULL);
    ok(a.outcome == META_OK && a.slot == 77 && a.item.epoch == 1 && a.item.waiting == 0,
       "the holder learns that it is ready");
    for (uint32_t t = 1; t < 20; t++)
        ask(s, OP(PUT, .task = t, .node = t % 3), NULL);
    a = ask(s, OP(GET, .task = 7), NULL);
    is_int(a.item.waiting, 3, "three edges to wait for");
    is_int(read_task(s, 7, &all).waiting_parents, 2, "from two parents");
    is_int(ask(s, OP(START, .task = 0, .node = 2, .epoch = 1, .attempt = 1), NULL).outcome,
           META_STALE, "only the holder starts it");
    a = ask(s, OP(START, .task = 0, .node = 1, .epoch = 1, .attempt = 1, .time = 7), NULL);
    is_int(a.status, META_RUNNING, "running");
    is_int(ask(s, OP(COMPLETE, .task = 0, .node = 1, .epoch = 2), NULL).outcome, META_STALE,
           "an epoch that is not its own");
    is_int(ask(s, OP(COMPLETE, .task = 0, .node = 2, .epoch = 1), NULL).outcome, META_STALE,
           "a node that does not hold it");
    a = ask(s, OP(COMPLETE, .task = 0, .node = 1, .epoch = 1, .attempt = 1, .start = 7, .time = 9),
            &all);
    ok(a.outcome == META_OK && a.count == 1 && all.items[a.first].task == 3,
       "done: task 3 is ready");
    is_int(all.items[a.first].holder, 0, "and who holds it");
    is_dbl(all.items[a.first].all_size, 103, 0, "its input");
    is_int(all.items[a.first].max_node, 1, "stands where the parent ran");
    a = ask(s, OP(COMPLETE, .task = 0, .node = 1, .epoch = 1, .attempt = 1, .start = 7, .time = 9),
            &all);
    ok(a.outcome == META_OK && a.count == 1, "the same word again gives the same answer");
    is_int(ask(s, OP(GET, .task = 7), NULL).item.waiting, 1,
           "and counts once: its two edges, of three");
    is_int(ask(s, OP(COMPLETE, .task = 0, .node = 2, .epoch = 1), NULL).outcome, META_ENDED,
           "another's word comes too late");
    struct meta_record r = read_task(s, 0, &all);
    ok(r.submitted == 5 && r.started == 7 && r.ended == 9 && r.attempts == 1 && r.ran_on == 1,
       "times, attempts and place");
}

static void moving(struct store *s)
{
    struct meta_answers all;
    is_int(ask(s, OP(HOLD, .task = 1, .node = 2, .epoch = 1), NULL).item.epoch, 2,
           "node 2 takes task 1 over");
    is_int(ask(s, OP(HOLD, .task = 1, .node = 2, .epoch = 1), NULL).outcome, META_OK, "and again");
    is_int(ask(s, OP(HOLD, .task = 1, .node = 1, .epoch = 1), NULL).outcome, META_STALE,
           "its giver wanted it back: too late");
    is_int(ask(s, OP(HOLD, .task = 1, .node = 0, .epoch = 2), NULL).item.epoch, 3, "on to node 0");
    struct meta_record r = read_task(s, 1, &all);
    ok(r.count == 3 && all.nodes[r.first] == 1 && all.nodes[r.first + 1] == 2 &&
           all.nodes[r.first + 2] == 0,
       "the history is kept, oldest first");
}

static void the_dead(struct store *s)
{
    struct meta_answers all;
    /* node 2 holds 2, 5, 8, 11, 14, 17 */
    is_int(ask(s, OP(JOIN, .node = 2, .life = 4), NULL).outcome, META_OK, "node 2 joins");
    is_int(ask(s, OP(HOLD, .task = 1, .node = 2, .epoch = 3, .life = 3), NULL).outcome, META_STALE,
           "an earlier life takes nothing");
    struct meta_answer a = ask(s, OP(ADOPT, .node = 0, .other = 2, .task = 0, .limit = 4), &all);
    ok(a.outcome == META_OK && a.count == 4 && all.items[a.first].task == 2 &&
           all.items[a.first + 3].task == 11,
       "node 0 takes four tasks of dead node 2");
    is_int(a.item.task, 14, "and learns where to go on");
    is_int(ask(s, OP(COMPLETE, .task = 2, .node = 2, .epoch = 1), NULL).outcome, META_STALE,
           "what was taken over cannot be committed");
    is_int(ask(s, OP(HOLD, .task = 1, .node = 2, .epoch = 3, .life = 4), NULL).outcome, META_STALE,
           "the dead take nothing");
    is_int(ask(s, OP(PUT, .task = 30, .node = 2), NULL).outcome, META_STALE,
           "nor are they given anything");
    is_int(ask(s, OP(ADOPT, .node = 2, .other = 0, .epoch = 4, .limit = 4), NULL).outcome,
           META_STALE, "nor do they inherit");
    a = ask(s, OP(ADOPT, .node = 1, .other = 2, .task = 14, .limit = 4), &all);
    ok(a.count == 2 && a.item.task == NONE && a.item.holder == 2, "node 1 takes the rest");
    is_int(ask(s, OP(JOIN, .node = 2, .life = 3), NULL).outcome, META_STALE,
           "an old life does not join");
    ask(s, OP(JOIN, .node = 2, .life = 5), NULL);
    is_int(ask(s, OP(HOLD, .task = 1, .node = 2, .epoch = 3, .life = 5), NULL).outcome, META_OK,
           "a new life may take tasks");
    a = ask(s, OP(ADOPT, .node = 2, .other = 2, .epoch = 5, .limit = 100), &all);
    ok(a.count == 1 && all.items[a.first].task == 1 && all.items[a.first].epoch == 5,
       "after a restart: what it held itself");
}

static void removing(struct store *s)
{
    struct meta_answers all;
    is_int(
        ask(s, OP(REMOVE, .task = 6, .node = 9, .epoch = 1, .status = META_FAILED), NULL).outcome,
        META_STALE, "only the holder can fail it");
    struct meta_answer a = ask(s, OP(REMOVE, .task = 6, .status = META_REMOVED), &all);
    ok(a.outcome == META_OK && a.status == META_REMOVED && a.count == 3,
       "removed: three edges lead on");
    ok(all.items[a.first].task == 9 && all.items[a.first + 1].task == 13, "to its children");
    is_int(ask(s, OP(REMOVE, .task = 6, .status = META_REMOVED), &all).outcome, META_ENDED, "once");
    is_int(ask(s, OP(REMOVE, .task = 0, .status = META_REMOVED), &all).status, META_DONE,
           "what is done stays done");
    is_int(ask(s, OP(GET, .task = 13), NULL).doomed, 1, "its child can never run");
    is_int(ask(s, OP(HOLD, .task = 6, .node = 1, .epoch = 1), NULL).outcome, META_ENDED,
           "nobody takes it");
}

static void objects(struct store *s, const struct workflow *w)
{
    struct meta_answers all;
    uint32_t object = w->object_off[4];
    ask(s, OP(OBJECT, .task = object, .bytes = 1e6), NULL);
    struct meta_answer a = ask(s, OP(WHERE, .task = object), &all);
    is_int(a.count, 0, "nobody has it yet");
    uint32_t holder = ask(s, OP(GET, .task = 4), NULL).item.holder;
    uint32_t epoch = ask(s, OP(GET, .task = 4), NULL).item.epoch;
    ask(s, OP(COMPLETE, .task = 1, .node = 2, .epoch = 5), NULL);
    ask(s, OP(COMPLETE, .task = 4, .node = holder, .epoch = epoch), NULL);
    ask(s, OP(COPY, .task = object, .node = 6, .status = 1), NULL);
    ask(s, OP(COPY, .task = object, .node = 7, .status = 1), NULL);
    ask(s, OP(COPY, .task = object, .node = 7, .status = 1), NULL);
    a = ask(s, OP(WHERE, .task = object), &all);
    ok(a.count == 3 && all.nodes[a.first] == holder, "its producer's node and two copies");
    ask(s, OP(COPY, .task = object, .node = 6, .status = 0), NULL);
    a = ask(s, OP(WHERE, .task = object), &all);
    ok(a.count == 2 && all.nodes[a.first + 1] == 7, "one was dropped");
    ok(read_task(s, w->succ_task[w->succ_off[4]], &all).all_size >= 1e6,
       "its real size counts for its reader");
    is_int(ask(s, OP(COPY, .task = 1u << 30, .node = 1, .status = 1), NULL).outcome, META_UNKNOWN,
           "an object that does not exist");
}

/* Word of a death that comes late does not touch the next life; word of a life that is over comes
 * to nothing, however late. */
static void lives(struct store *s)
{
    is_int(ask(s, OP(JOIN, .node = 9, .life = 3), NULL).outcome, META_OK, "node 9 lives");
    is_int(ask(s, OP(PUT, .task = 39, .node = 9), NULL).outcome, META_OK, "and has a task");
    struct meta_answer a = ask(s, OP(ADOPT, .node = 0, .other = 9, .limit = 9, .bytes = 2), NULL);
    ok(a.outcome == META_OK && a.count == 0 && a.item.task == NONE, "its life 2 is over: nothing");
    is_int(ask(s, OP(GET, .task = 39), NULL).item.holder, 9, "it keeps its task");
    is_int(ask(s, OP(HOLD, .task = 39, .node = 9, .life = 3, .epoch = 1), NULL).outcome, META_OK,
           "and may take tasks");
    a = ask(s, OP(ADOPT, .node = 0, .other = 9, .limit = 9, .bytes = 5), NULL);
    is_int(a.count, 1, "its life 5, of which the store has not heard, is over: the task goes");
    is_int(ask(s, OP(JOIN, .node = 9, .life = 5), NULL).outcome, META_STALE,
           "that life's JOIN comes too late");
    is_int(ask(s, OP(JOIN, .node = 9, .life = 6), NULL).outcome, META_OK, "the next one is heard");
}

static void counting(struct store *s)
{
    uint32_t have[META_REMOVED + 1] = {0};
    struct meta_answers all;
    is_int(
        ask(s, OP(REMOVE, .task = 3, .node = 0, .epoch = 1, .status = META_FAILED), NULL).outcome,
        META_OK, "one fails");
    for (uint32_t t = 0; t < 40; t++)
        have[read_task(s, t, &all).status]++;
    struct meta_answer a = ask(s, OP(COUNT, .slot = 9), &all);
    ok(a.outcome == META_OK && a.slot == 9 && a.kind == META_COUNT, "counted");
    ok(have[META_DONE] == 3 && have[META_FAILED] == 1 && have[META_REMOVED] == 1,
       "done %u, failed %u, removed %u", have[META_DONE], have[META_FAILED], have[META_REMOVED]);
    is_int(a.item.task, have[META_DONE], "the done");
    is_int(a.item.epoch, have[META_FAILED], "the failed");
    is_int(a.item.waiting, have[META_REMOVED], "the removed");
    ask(s, OP(REMOVE, .task = 6, .status = META_REMOVED), NULL);
    is_int(ask(s, OP(COUNT), NULL).item.waiting, have[META_REMOVED], "each once");
}

enum { MEMORY, JOURNAL, EAGER, REDIS, REDIS_SHARDS, KINDS };

static struct store *open_kind(int kind, const struct workflow *w, const char *folder,
                               const struct server *server, bool *existed, struct error *err)
{
    char path[4200];
    struct store_opened found = {0};
    if (kind >= REDIS)
        return store_redis_open(&(struct store_redis_config){.workflow = w,
                                                             .servers = server->address,
                                                             .prefix = kind == REDIS ? "one" : "7",
                                                             .shards = kind == REDIS ? 1 : 7},
                                existed, err);
    snprintf(path, sizeof path, "%s/j%d", folder, kind);
    struct store *s = store_embedded_open(
        &(struct store_embedded_config){
            .workflow = w, .journal = kind ? path : NULL, .eager = kind == EAGER},
        &found, err);
    *existed = found.existed && found.operations > 30 && !found.cut;
    return s;
}

int main(void)
{
    struct workflow *w = make_workflow(40, "t");
    struct server server = {0};
    char folder[4096];
    make_folder(folder, sizeof folder);
    bool redis = has_program("redis-server");
    if (redis)
        server_start(&server, folder, "redis");
    for (int kind = 0; kind < KINDS; kind++) {
        const char *const names[] = {"memory", "journal", "journal, eager", "redis",
                                     "redis, 7 shards"};
        printf("# %s\n", names[kind]);
        if (kind >= REDIS && !redis) {
            tap_skip(names[kind], "redis-server is not installed");
            continue;
        }
        struct error err = {0};
        bool existed = false;
        struct store *s = open_kind(kind, w, folder, &server, &existed, &err);
        if (!ok(s != NULL && !existed, "opened %s", err.text))
            continue;
        TAP_DO(life_of_a_task(s));
        TAP_DO(moving(s));
        TAP_DO(the_dead(s));
        TAP_DO(removing(s));
        TAP_DO(objects(s, w));
        TAP_DO(counting(s));
        TAP_DO(lives(s));
        struct meta_answers all;
        struct meta_record before[40], after[40];
        memset(before, 0, sizeof before);
        memset(after, 0, sizeof after);
        for (uint32_t t = 0; t < 40; t++)
            before[t] = read_task(s, t, &all);
        ok(store_close(s, &err), "closed %s", err.text);
        if (kind == MEMORY)
            continue;
        s = open_kind(kind, w, folder, &server, &existed, &err);
        ok(s && existed, "opened again %s", err.text);
        bool same = true;
        for (uint32_t t = 0; s && t < 40; t++) {
            after[t] = read_task(s, t, &all);
            same &= after[t].status == before[t].status && after[t].epoch == before[t].epoch &&
                    after[t].holder == before[t].holder &&
                    after[t].all_size == before[t].all_size &&
                    after[t].waiting_parents == before[t].waiting_parents &&
                    after[t].count == before[t].count &&
                    memcmp(&after[t].submitted, &before[t].submitted, 4 * sizeof(double)) == 0;
        }
        ok(same, "every task is as it was");
        struct meta_answer count = s ? ask(s, OP(COUNT), NULL) : (struct meta_answer){0};
        ok(count.item.task == 3 && count.item.epoch == 1 && count.item.waiting == 1,
           "and counted as before");
        store_close(s, &err);
    }
    if (redis)
        server_remove(&server);
    remove_folder(folder);
    workflow_free(w);
    return tap_done();
}

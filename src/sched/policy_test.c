/* The policies: the paper's decisions and numbers, the monitor, switching; and what every row of
 * the table must keep (test_rows), so that a new policy is tested by being listed. */
#include "base/file.h"
#include "sched/policy_conformance.h"

/* ---- decisions ---- */

/* 1 GB/s, 1 s, t 0.5: half a gigabyte is the limit. */
static enum decision by_half(double all_size, double max_size, uint32_t max_node, uint32_t self)
{
    return decide(&(struct decide_input){.all_size = all_size,
                                         .max_size = max_size,
                                         .max_node = max_node,
                                         .self = self,
                                         .bandwidth = 1e9,
                                         .length = 1},
                  0.5);
}

/* One input of `size` bytes; 1 GB/s, t 0.5. */
static enum decision by_policy(enum sched_policy policy, double size, uint32_t node, uint32_t self,
                               double length)
{
    return sched_policy(policy)->decide(&(struct decide_input){.all_size = size,
                                                               .max_size = size,
                                                               .max_node = node,
                                                               .self = self,
                                                               .bandwidth = 1e9,
                                                               .length = length,
                                                               .t = 0.5});
}

static void test_decide(void)
{
    is_int(by_half(5e8, 5e8, 3, 0), DECIDE_SHARED, "at the threshold: shared");
    is_int(by_half(6e8, 5e8, 3, 0), DECIDE_SHARED,
           "much in all, the largest at the threshold: shared");
    is_int(by_half(6e8, 5.1e8, 3, 3), DECIDE_LOCAL, "large and here: local");
    is_int(by_half(6e8, 5.1e8, 3, 0), DECIDE_PUSH, "large and elsewhere: pushed");
    is_int(by_half(6e8, 6e8, NONE, 0), DECIDE_SHARED, "large, nobody knows where: shared");
    is_int(by_policy(SCHED_MLB, 1e300, 3, 0, 1), DECIDE_SHARED, "MLB shares everything");
    is_int(by_policy(SCHED_MDL, 1, 0, 0, 1e6), DECIDE_LOCAL, "MDL keeps a single byte");
    is_int(by_policy(SCHED_MDL, 0, 0, 0, 1), DECIDE_SHARED, "but shares what needs no data");
    is_int(decide(&(struct decide_input){.all_size = 1, .max_size = 1}, 0.5), DECIDE_LOCAL,
           "no bandwidth, no length: no division");
    is_int(by_policy(SCHED_RLDS, 5e8, 3, 0, 1), DECIDE_SHARED, "RLDS takes the t it is given");
    is_int(by_policy(SCHED_RLDS, 5.1e8, 3, 0, 1), DECIDE_PUSH, "and no more");
    double sizes[] = {1e9, 3e9, 3e9};
    uint32_t nodes[] = {5, 6, 7};
    is_int(
        decide_vectors(sizes, nodes, 3,
                       &(struct decide_input){.self = 6, .bandwidth = 1e9, .length = 1, .t = 0.5}),
        DECIDE_LOCAL, "the first of the largest parents decides");
    is_int(
        decide_vectors(sizes, nodes, 3,
                       &(struct decide_input){.self = 7, .bandwidth = 1e9, .length = 1, .t = 0.5}),
        DECIDE_PUSH, "not the second");
    is_int(decide_vectors(NULL, NULL, 0,
                          &(struct decide_input){.self = 7, .bandwidth = 1e9, .length = 1, .t = 0}),
           DECIDE_SHARED, "no parents");
    is_int(sched_policy_find("FLDS"), SCHED_FLDS, "a policy by name");
    is_int(sched_policy_find("best"), SCHED_POLICIES, "no such policy");
    is_str(sched_policy_name(SCHED_MDL), "mdl", "its name");

    is_int(decide_relax(5000, 1000, 10, 30), 2000,
           "the paper's example: 5000 queued, 1000 in 10 s, tt 30 s: 2000 move");
    is_int(decide_relax(3000, 1000, 10, 30), 0, "exactly tt: none");
    is_int(decide_relax(3001, 1000, 10, 30), 1, "one more: one");
    is_int(decide_relax(5000, 0, 10, 30), 0, "nothing done yet and tt not over: wait");
    is_int(decide_relax(5000, 0, 40, 30), 5000, "nothing done in more than tt: everything");
    is_int(decide_relax(0, 5, 1, 1), 0, "an empty queue");
}

/* The same through the state machine: 6001 tasks whose data are here, 1 core, 100 tasks a second.
 */
static void test_worked_example(void)
{
    struct bed b = bed_new((struct sched_config){.nodes = 2,
                                                 .policy = SCHED_FLDS,
                                                 .tt = 30,
                                                 .monitor_every = 10,
                                                 .wait_poll = -1,
                                                 .adapt_tt = true});
    b.size = 1e12;
    b.where = 0;
    event(&b, (struct sched_event){.kind = SCHED_EVENT_NODE_DOWN, .node = 1});
    submit(&b, 0, 6001);
    is_int(look(&b).at[SCHED_LREADYQ], 6000, "large data here: LReadyQ");
    struct sched_start running = b.out.starts.at[0];
    for (int i = 0; i < 1000; i++) {
        b.now += 0.01;
        end_task(&b, running, 0.01, false, 0);
        running = b.out.starts.at[0];
        answer(&b);
    }
    is_int(look(&b).at[SCHED_LREADYQ], 5000, "1000 done in 10 s, 5000 in the LReadyQ");
    timer(&b, (struct sched_timer){10, TIMER_MONITOR, 0});
    is_int(look(&b).relaxed, 2000, "2000 move to the SReadyQ");
    is_int(look(&b).at[SCHED_SREADYQ], 2000, "and are there");
    is_dbl(look(&b).tt, 60, 0, "tt doubles after a move");
    bed_free(&b);
}

/* ---- adapting ---- */

static enum sched_policy policy_after(double seconds, double fetched)
{
    struct bed b = bed_new(
        (struct sched_config){.nodes = 2, .adapt_policy = true, .wait_poll = -1, .bandwidth = 1e6});
    event(&b, (struct sched_event){.kind = SCHED_EVENT_NODE_DOWN, .node = 1});
    submit(&b, 0, 40);
    struct sched_start running = b.out.starts.at[0];
    for (int i = 0; i < 20; i++) {
        b.now += seconds;
        end_task(&b, running, seconds, false, fetched);
        running = b.out.starts.at[0];
        answer(&b);
    }
    timer(&b, (struct sched_timer){b.now, TIMER_MONITOR, 0});
    enum sched_policy p = look(&b).policy;
    bed_free(&b);
    return p;
}

static bool predict_hour(void *context, uint32_t task, uint32_t node, struct prediction *out)
{
    (void)context, (void)node;
    *out = (struct prediction){.seconds = 3600};
    return task != 5;
}

/* A thief also gets tasks that would wait here for longer than their data take to move. */
static void test_share_local(void)
{
    for (int share = 0; share < 2; share++) {
        struct bed b = bed_new((struct sched_config){.nodes = 4,
                                                     .node = 0,
                                                     .cores = 2,
                                                     .share_local = share,
                                                     .bandwidth = 1e6,
                                                     .default_length = 1,
                                                     .wait_poll = -1});
        b.size = 3e6; /* three seconds to move: six tasks of a second are done here in that time */
        b.where = 0;
        submit(&b, 0, 22);
        is_int(look(&b).at[SCHED_LREADYQ], 20, "large data here: the LReadyQ");
        uint32_t next[4] = {0};
        is_int(sched_upcoming(b.s, next, 4), 4, "what starts next is known");
        ok(next[0] == 2 && next[3] == 5, "in order");
        message(&b, (struct sched_message){.kind = SCHED_LOAD_QUERY, .from = 1, .to = 0}, NULL);
        is_int(b.out.sends.at[0].load, share ? 14 : 0, share ? "14 of 20 can be spared" : "none");
        message(&b, (struct sched_message){.kind = SCHED_STEAL, .from = 1, .to = 0}, NULL);
        is_int(b.out.sends.at[0].count, share ? 7 : 0, "a thief gets half of them");
        is_int(look(&b).at[SCHED_LREADYQ], share ? 13 : 20, "the others stay");
        is_int(look(&b).relaxed, share ? 7 : 0, "counted as relaxed");
        bed_free(&b);
    }
    struct bed b = bed_new((struct sched_config){
        .nodes = 4, .share_local = true, .policy = SCHED_MDL, .wait_poll = -1});
    b.size = 3e6;
    b.where = 0;
    submit(&b, 0, 9);
    message(&b, (struct sched_message){.kind = SCHED_LOAD_QUERY, .from = 1, .to = 0}, NULL);
    is_int(b.out.sends.at[0].load, 0, "under MDL nobody gets any");
    bed_free(&b);
}

static void test_adapting(void)
{
    is_int(policy_after(1, 2e6), SCHED_MDL, "much is transferred: MDL");
    is_int(policy_after(1, 100), SCHED_MLB, "little: MLB");
    is_int(policy_after(1, 1e5), SCHED_FLDS, "between: FLDS stays");

    struct bed b =
        bed_new((struct sched_config){.nodes = 1, .policy = SCHED_RLDS, .bandwidth = 1e9});
    b.size = 1e9;
    b.where = 0;
    submit(&b, 0, 2);
    is_int(sched_place(b.s, 1, NULL), SCHED_LREADYQ,
           "1 s of data for a task of (by default) 1 s: local");
    b.now = 100;
    end_task(&b, b.out.starts.at[0], 100, false, 0);
    submit(&b, 2, 1);
    is_int(sched_place(b.s, 2, NULL), SCHED_SREADYQ,
           "for one of 100 s, the average so far: shared");
    event(&b, (struct sched_event){.kind = SCHED_EVENT_POLICY, .policy = {SCHED_MDL, -1, -1}});
    ok(b.out.notes.n == 1 && b.out.notes.at[0].kind == SCHED_NOTE_POLICY,
       "a change of policy is told");
    submit(&b, 3, 2);
    is_int(look(&b).at[SCHED_LREADYQ], 2, "and holds from then on");
    event(&b, (struct sched_event){.kind = SCHED_EVENT_POLICY, .policy = {SCHED_MLB, -1, -1}});
    is_int(look(&b).at[SCHED_LREADYQ], 0, "MLB frees what was held");
    bed_free(&b);

    struct predictor predictor = {predict_hour, NULL};
    b = bed_new(
        (struct sched_config){.policy = SCHED_RLDS, .bandwidth = 1e9, .predictor = &predictor});
    b.size = 1e9;
    b.where = 0;
    submit(&b, 3, 3);
    is_int(sched_place(b.s, 4, NULL), SCHED_SREADYQ, "predicted to be long: shared");
    ok(sched_place(b.s, 5, NULL) == SCHED_RUNNING || sched_place(b.s, 5, NULL) == SCHED_LREADYQ,
       "not predicted: by the default");
    bed_free(&b);
}

/* ---- every row ---- */

static void test_rows(void)
{
    struct sched_policy_choice choice;
    struct text document = {0};
    struct error err = {0};
    ok(file_read(WEFT_SOURCE_DIR "/docs/scheduler.md", &document, &err), "the document %s",
       err.text);
    for (int i = 0; i < SCHED_POLICIES; i++) {
        const struct policy *row = sched_policy((enum sched_policy)i);
        is_int(sched_policy_find(row->name), i, "%s: found by its name", row->name);
        ok(sched_policy_choose(row->name, &choice) && (int)choice.policy == i && !choice.adapt,
           "%s: a user can choose it", row->name);
        ok(strstr(SCHED_POLICY_NAMES, row->name) != NULL, "%s: in texts", row->name);
        conform(row, document.at ? document.at : "");
    }
    text_free(&document);
    ok(sched_policy_choose(NULL, &choice) && choice.policy == 0 && !choice.adapt, "the default");
    ok(sched_policy_choose("auto", &choice) && choice.adapt, "auto");
    ok(!sched_policy_choose("best", &choice), "no such choice");
    ok(!sched_policy(SCHED_POLICIES) && !sched_policy_name(SCHED_POLICIES), "no such number");
}

int main(void)
{
    TAP_DO(test_decide());
    TAP_DO(test_worked_example());
    TAP_DO(test_share_local());
    TAP_DO(test_adapting());
    TAP_DO(test_rows());
    return tap_done();
}

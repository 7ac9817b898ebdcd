/* What the files of following share: follow_events.c (what agents and the store tell), follow_agents.c
 * (who is there, and what is lost with those who go) and follow.c (what becomes of the run, from
 * beginning to end). Private to them. */
#pragma once
#include "cluster/client/client_state.h"
#include "cluster/client/collect.h"

enum {
    FOLLOW_COUNTERS = COUNTER_RUNNING + 1,
    FOLLOW_FORGED = 10, /* seconds for agents to put right what somebody else wrote */
};

enum follow_seen {
    FOLLOW_SEEN_NOTHING,
    FOLLOW_SEEN_RUNNING,
    FOLLOW_SEEN_FAILED,
    FOLLOW_SEEN_REMOVED,
    FOLLOW_SEEN_DONE,
    FOLLOW_SEEN_REUSED,
    FOLLOW_SEEN_SKIPPED, /* not taken */
    FOLLOW_SEEN_EXCUSED, /* failed, and may */
    FOLLOW_SEEN_KINDS
};

enum follow_mark {
    FOLLOW_MARK_CONTRADICTED = 1, /* one agent told that it is done, another that it failed */
    FOLLOW_MARK_FAILED_LIVE = 2,  /* a failure of it came as an event */
};

enum follow_going {
    FOLLOW_STAYS,
    FOLLOW_GOES_ASKED, /* somebody wished it cancelled */
    FOLLOW_GOES_BELOW, /* it depends on one of those */
    FOLLOW_GONE_ASKED, /* told */
    FOLLOW_GONE_BELOW,
};

/* The log of a task that runs, as far as it was brought here. */
struct follow_shown {
    uint32_t task, attempt;
    uint64_t end;    /* there */
    bool asked;      /* and not answered */
    double answered; /* clock_seconds() of the last answer, or question */
};

/* The counters of an agent, so that a display sees their sum. */
struct follow_counters {
    uint32_t node;
    double value[FOLLOW_COUNTERS];
};

/* FOLLOWING ─ ended ─▶ READING ─ all read ─▶ COLLECTING ─ all here ─▶ SIGNING_OFF ─ told ─▶ OVER
 *
 * ended: the board says so; told: it has been told that all is home. COLLECTING with outputs
 * that nobody has, detaching and errors lead to OVER at once. */
enum follow_phase {
    PHASE_FOLLOWING,
    PHASE_READING,
    PHASE_COLLECTING,
    PHASE_SIGNING_OFF, /* the board is told that the results are home: agents may forget */
    PHASE_OVER,
};

struct client_follow {
    struct client *c;
    struct client_following o;
    const struct workflow *w;
    struct client_followed out;
    struct run_result result;
    struct error error;
    enum follow_phase phase;
    enum board_run_state state;
    double created, ended_at; /* server's clock; NAN: not yet */
    bool known;               /* the board has it */
    double absent;            /* since when the board does not have it; 0: it has */
    double forged;            /* since when what it says is not believed; 0: it is */

    uint8_t *seen;    /* per task */
    uint32_t *node;   /* per task: where it runs or ran */
    uint8_t *learned; /* per task: on record */
    uint8_t *marks;   /* per task: enum follow_mark */
    ARRAY(struct trace_event)
    untold;              /* failures that only the store has told: agents may say why */
    double untold_since; /* the first of them; 0: none yet */
    bool doubts_ends;    /* what was told as done is read from the store, too */
    uint32_t *blamed;    /* per task: the last attempt whose failure was reported */
    uint32_t *logged;    /* per task: the last attempt whose log came */
    uint8_t *reported;   /* per object: its content was reported */
    uint32_t reported_ended;
    ARRAY(uint32_t) unlearned;
    ARRAY(struct follow_counters) counters;
    bool counters_changed, counter_known[FOLLOW_COUNTERS];

    bool counting;
    struct client_progress progress; /* by the store's last count */
    bool counts_last, tallied;       /* asked after the run's end; and answered (follow_tally.c) */
    double behind;                   /* since when we know of fewer than it; 0: we do not */
    double unheard; /* since when files of ended tasks are waited for; 0: they are not */
    uint32_t unheard_next,
        unheard_open; /* objects that the store was asked about; open: not answered */

    bool said_forged;      /* somebody else writes to the store */
    bool unproved;         /* of this reading: an end that nobody proves */
    double unproved_since; /* readings have found such; 0: the last did not */
    bool reading;
    uint32_t read_next, read_open; /* tasks from here on; answers to come */

    /* agents that go at a known time (follow_time.c) */
    double *ran;       /* per task: seconds of the longest attempt that was lost; NULL: none was */
    uint32_t most_ran; /* the task that ran longest so; NONE: none did */
    double longest;    /* seconds that an agent stays, at most; INFINITY: one stays; 0: not known */
    bool said_too_long;

    ARRAY(struct guide_place) placed; /* by plans that were made anew (follow_places.c) */

    int handled; /* stops */
    int stopping;
    bool said_deserted, said_logs, ending;
    char said_unfit[128]; /* what tasks were said to ask for in vain; "": nothing */
    double deserted, second, loaded;
    uint32_t cores;       /* of the agents that live, as reported */
    uint32_t again;       /* results that agents made a second time */
    char said_store[512]; /* what is wrong with the store, as it was said last */
    double ending_since;  /* the second stop; 0: none */
    struct collect *collect;

    /* a run that grows (follow_growth.c) */
    uint32_t parts;                  /* that joined */
    uint32_t task_room, object_room; /* entries of the arrays by task and object */
    bool parts_final;                /* it has ended, and no more will join */
    struct error broken;             /* why what joined could not join: the run ends */

    /* what is added here (follow_adds.c) */
    ARRAY(struct strbuf) adds; /* parts that do not stand on the board yet */
    struct strbuf offer;       /* the first of them, sealed; it may stand there already */
    struct strbuf in_the_way;  /* what stands in its place and is nobody's: written over */
    double held;               /* when we last said that we hold it open; 0: never */
    double ending_asked;       /* when we last asked for its end; 0: not, or it has grown since */

    /* what is wished of single tasks (follow_wishes.c) */
    ARRAY(uint32_t) cancels;      /* to be cancelled; an agent is asked for the first of them */
    uint32_t cancel_node;         /* who was asked; NONE: nobody yet */
    double cancel_since;          /* clock_seconds() of that */
    ARRAY(uint32_t) cancel_tried; /* nodes that could not, of the first */
    uint8_t *gone;                /* per task: enum follow_going; NULL: none was cancelled here */
    uint32_t going;               /* of them, those that have not gone, as far as is known */
    ARRAY(struct follow_shown) shown;
};

/* ---- follow_events.c ---- */

void follow_report(struct client_follow *f, const struct trace_event *e);
void follow_report_file(struct client_follow *f, const struct trace_file *file);
void follow_report_counters(struct client_follow *f);
/* It is done, and goes on record when the contents of all that it read and wrote are known. */
void follow_learn_task(struct client_follow *f, uint32_t task);
/* A task has ended so; its final outputs are wanted. */
void follow_task_ended(struct client_follow *f, uint32_t task, enum follow_seen how);
/* Done by whomever, skipped or excused: its readers may go on. */
bool follow_is_done(const struct client_follow *f, uint32_t task);
void follow_report_node(struct client_follow *f, const struct trace_node *n);
/* Ask the store about every task that is not known to be done. */
void follow_read_store(struct client_follow *f);
void follow_ask_count(struct client_follow *f); /* how many have ended */
/* When the run has ended and was read: what we were told is what the store has. False: it is being asked, or
 * read again. */
bool follow_tally(struct client_follow *f);
/* How many tasks were told as what. */
void follow_count_seen(const struct client_follow *f, uint32_t count[static FOLLOW_SEEN_KINDS]);
/* Tasks that have ended, by the store's last count. */
uint32_t follow_counted(const struct client_follow *f);
/* Has every failure been told by who knows why, or been waited for long enough? */
bool follow_heard_failures(struct client_follow *f);
/* What was decided, for a run that does not have the files that were asked about. */
/* In a shared folder: is there word of each file that was made, or no more waiting for it? */
bool follow_heard_all(struct client_follow *f, double now);
void follow_record_decisions(struct client_follow *f);
/* Is what the board says of the run to be believed? */
bool follow_believes(struct client_follow *f, const struct board_run *r);
/* follow_growth.c */
bool follow_take_part(void *context, struct message_in *m);
/* The board has said what stands in the next part's place. */
void follow_growth_tick(struct client_follow *f);
/* All that joined a run that has ended is here. */
bool follow_has_all_parts(struct client_follow *f);
/* Inputs of what joined, from this object on, that lie here: agents may ask for them. */
void follow_offer_joined(struct client_follow *f, uint32_t first);
void follow_part_came(void *context, bool good, const void *data, size_t n, const char *why);
/* follow_adds.c: holding the run open, offering what was added, ending it when nothing is left. */
void follow_adds_tick(struct client_follow *f);
/* These sealed bytes have joined: were they ours? */
void follow_adds_joined(struct client_follow *f, const void *sealed, size_t n);
/* The board has refused what we offered. */
void follow_adds_refused(struct client_follow *f, bool good, const char *why);
/* What stands where we offered something is nobody's word. */
void follow_adds_distrust(struct client_follow *f, const struct strbuf *there);
/* All known tasks have ended: are we to end the run? */
bool follow_may_end(struct client_follow *f);
/* Nobody holds it any more, for our part. */
void follow_adds_close(struct client_follow *f);
/* For the client's listener. */
extern message_handler *const follow_handlers[MESSAGES];
void follow_answers(void *context, const struct meta_answers *answers);

/* ---- follow_agents.c ---- */

/* After every look: who has come, left or died since the last is told, with what follows. */
void follow_check_agents(struct client_follow *f);
/* At the end: how much was computed a second time. */
void follow_remark_again(struct client_follow *f);
/* How many live, and their cores, into `load`. */
uint32_t follow_count_agents(const struct client_follow *f, struct client_load *load);
/* Nobody works on it any more, or on tasks that nobody has room for: said once. */
void follow_check_deserted(struct client_follow *f, uint32_t agents);
void follow_check_unfit(struct client_follow *f);
/* Some are set aside; some cannot work on it, and if all cannot, this is the end. */
void follow_check_aside(struct client_follow *f);
void follow_check_refused(struct client_follow *f);

/* ---- follow_places.c ---- */

/* Agents are gone: whoever made the plan may make it anew. */
void follow_ask_plan(struct client_follow *f);
/* What was placed anew, to an agent that has come. */
void follow_tell_places(const struct client_follow *f, struct link *l);

/* ---- follow_wishes.c ---- */

void follow_wishes_tick(struct client_follow *f);
void follow_wishes_close(struct client_follow *f);
bool follow_take_result(void *context, struct message_in *m);
bool follow_take_shown(void *context, struct message_in *m);
/* An attempt of the task has ended: its log comes whole, and what was brought of it before goes. */
void follow_hide(struct client_follow *f, uint32_t task);
/* An attempt of it was ended: because somebody here wished so? */
bool follow_ended_by_wish(struct client_follow *f, uint32_t task);
/* The store says that it was taken out: told, if somebody here wished so and its end was not. */
void follow_report_removed(struct client_follow *f, uint32_t task);
/* Ask the store about those that are to go. Once a second. */
void follow_read_removed(struct client_follow *f);
void follow_count_cancelled(struct client_follow *f); /* into the result */

/* ---- follow_time.c ---- */

/* An attempt went on for so long, and was lost with its node. */
void follow_attempt_lost(struct client_follow *f, uint32_t task, double seconds);
/* What is known of lengths, to an agent that has come. */
void follow_tell_lengths(const struct client_follow *f, struct link *l);
void follow_count_going(const struct client_follow *f, struct client_load *load);
/* Seconds until the next look ahead: shorter where nodes are had for seconds only. */
double follow_look_pause(const struct client_follow *f);
/* After every look: is there a task that no agent has the time for? */
void follow_check_time(struct client_follow *f);

/* ---- follow.c ---- */

void follow_set_state(struct client_follow *f, enum board_run_state state);

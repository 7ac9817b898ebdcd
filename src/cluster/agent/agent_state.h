/* The agent itself: what its files share. One process, one thread, one libuv loop.
 *
 *     agent.c        the loop: from beginning to end, time, jobs' turns
 *     membership.c   the board: joining, heartbeats, what it shows
 *     peer.c         the other agents
 *     agent_runs.c   runs on the board become jobs
 *     ended.c, job_failures.c         runs whose results nobody has taken yet
 *     departure.c    leaving, and who gets our data
 *     agent_links.c  messages of others
 *     job.c, job_open.c, watch.c     one run
 *     blame.c        tasks that die with this node
 *     supply.c, want.c, evict.c      its data
 *     *_machine.c    the tables of states
 *
 * Number and life on the board, heartbeats and leases: docs/cluster.md. */
#pragma once
#include "base/array.h"
#include "cluster/agent/agent.h"
#include "cluster/agent/agent_machine.h"
#include "cluster/agent/ended.h"
#include "cluster/agent/aside.h"
#include "cluster/agent/job.h"
#include "cluster/agent/peer.h"
#include "cluster/agent/spent.h"
#include "cluster/wire/charter.h"
#include "cluster/wire/link.h"
#include "cluster/wire/member.h"
#include "cluster/wire/protocol.h"
#include "drive/holding.h"
#include "exec/measure.h"

struct keep { /* a KEEP that we have not answered yet */
    uint64_t run;
    uint32_t object;
    struct link *link;
    struct digest content;
    bool begun; /* it is being fetched over `link`; false: elsewhere, for a task that waits here */
};

struct handing { /* an object that others are to keep before we leave (departure.c) */
    uint64_t run;
    uint32_t object;
    uint32_t refused;  /* how often it came to nothing */
    struct link *link; /* whom we asked, and who has not answered; NULL: nobody is asked */
    double again;      /* clock_seconds(), of one that nobody is asked to keep: not before */
};

struct early { /* a message for a run that is still being read */
    uint64_t run;
    struct link *link; /* NULL: closed meanwhile */
    uint8_t kind;
    char *data;
    size_t n;
};

struct refused_run {
    uint64_t run;
    char why[400];
};

struct loading { /* a run whose text was asked for */
    struct agent *agent;
    uint64_t run;
    double created;
    bool opened;                /* fact: the board has shown it */
    enum board_run_state state; /* if so */
    uint8_t id[SEAL_ID];        /* if so */
    struct strbuf ticket;       /* unsealed; empty if it could not be */
    bool is_over;               /* fact: there are only its remains, its results were taken */
    struct sealed_parts parts;  /* what has joined it since */
};

struct agent {
    const struct agent_options *o;
    struct error error; /* why it could not go on */

    uv_loop_t loop;
    uv_timer_t heartbeat, tick;
    uv_prepare_t turn;
    uv_idle_t spin;       /* active while there is more to do at once */
    uv_poll_t stop_ready; /* somebody asks it to leave (agent_options.stop) */
    uv_poll_t board_ready;
    uint64_t ticks;
    struct board *board;
    struct links *links;
    struct charter charter;         /* of the cluster */
    struct spent spent;             /* what it knows of runs, whatever the board says */
    ARRAY(struct ended_run) ended;  /* by number: their results wait (ended.h) */
    ARRAY(struct member_work) past; /* what the last jobs that were closed said of themselves */
    double keep_for, keep_size;     /* seconds, bytes: limits of the data of ended runs */
    uint64_t last_run;              /* the highest number that it has seen */

    /* who it is */
    char *identity, *address;
    char *data;     /* folder of the runs' data: the state's, or one of its own in `scratch` */
    double started; /* since 1970 */
    double speed;   /* of a core (exec/measure.h); 0: not measured yet */
    double
        memory_now; /* bytes for tasks, as its control groups leave it now (pace.c); 0: no limit */
    double load;    /* part of its machine that others use (pace.c) */
    struct measure_look look;
    uint32_t node, life;
    uint64_t attempt, asked; /* by which this life was begun; by which one was asked for */

    /* membership */
    enum agent_membership membership;
    bool heartbeat_open;   /* fact: one was sent and is not answered */
    bool look_again;       /* fact: somebody said that there is news while it was open */
    double lease;          /* seconds */
    double steady;         /* since when heartbeats are answered without a gap */
    double answered;       /* when the last one was */
    double sent, certain;  /* when the last one was sent; the last of those that it lived after */
    bool charter_put_back; /* fact: it was gone when the board was last seen */
    double server_offset;  /* the store's clock minus clock_seconds() */

    /* departure */
    enum agent_departure departure;
    double leave_since, signed_off; /* when it began to hand over, to sign off */
    bool hands_over;                /* fact: it leaves in order, and hands over what it has */
    ARRAY(struct handing) handing;  /* what others are to keep before it leaves */
    char refusal[256];              /* why one of them did not take something, the last time */
    double ends;    /* clock_seconds(): nothing lasts longer here than until then; 0: it stays */
    double lasts;   /* seconds from its start to that */
    bool told;      /* fact: a request at agent_options.stop has come */
    double told_at; /* clock_seconds() of the first */
    double dying;   /* clock_seconds() when the first task died with it (blame.c); 0: none has */
    bool only_collected; /* fact: the one run it is here for has been collected */
    double idle;         /* since when there is no work */

    struct aside aside; /* of this machine */

    ARRAY(struct peer) peers; /* by node */
    ARRAY(struct job *) jobs;
    ARRAY(struct refused_run) refused; /* runs that cannot be worked on here */
    ARRAY(uint64_t) doubted; /* runs of which the board said what is not believed: told once */
    ARRAY(struct keep) keeps;
    ARRAY(struct loading *) loading;
    ARRAY(struct early) early;
    struct node_shares shares; /* of the jobs, in cores */
    uint32_t busy;             /* cores in use, over all jobs */
    double busy_memory;        /* bytes that running tasks may use, over all jobs */
    char *objects; /* folder for objects in memory (memory_files.c); NULL: there is none */
    int objects_lock;
    struct holding *holding; /* things that running tasks hold, over all jobs */
    protocol_items items;    /* of the message at hand */
    protocol_memory memory;
    struct strbuf scratch;
};

/* ---- agent.c ---- */

void agent_log(struct agent *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Changes of state, for who looks for a mistake (agent_options.trace). */
void agent_trace(struct agent *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The board has written something down, or could not: said in the log. */
void agent_recorded(void *context, bool good, const char *why);

/* ---- membership.c ---- */

void agent_join(struct agent *a);
void agent_send_heartbeat(struct agent *a);
/* There is news on the board: look now, and again if the look that is under way may be too old. */
void agent_look(struct agent *a);
bool agent_is_member(const struct agent *a); /* it has a number and a life */
/* Nobody can have taken it for dead: its lease, counted from a word of its own that the board has had,
 * is not over. */
bool agent_is_certain(const struct agent *a);
/* Has it seen the board's runs at least once? */
bool agent_has_seen_runs(const struct agent *a);

/* ---- agent_runs.c ---- */

struct job *agent_job(struct agent *a, uint64_t run);
/* What the board shows of a run. */
void agent_see_run(struct agent *a, const struct board_run *r);
/* Say on the board how a run stands, so that the others believe it. */
void agent_set_run_state(struct agent *a, const struct job *j, enum board_run_state state);
/* Get the text of a run that somebody speaks of, though the board has not shown it yet. */
void agent_load_early(struct agent *a, uint64_t run);
/* Open the job of an ended run again: somebody asks for it. False: none is known. */
bool agent_wake_run(struct agent *a, uint64_t run);
/* All runs of a view were seen: jobs that it does not have are of a store that lost its data. */
void agent_drop_lost_runs(struct agent *a, const struct board_view *view);
bool agent_is_loading(const struct agent *a, uint64_t run);
/* Whoever speaks of a run that is refused here is told; false: it is not. */
bool agent_tell_refused(struct agent *a, struct link *l, uint64_t run);
void loading_free(struct loading *l);
void agent_close_job(struct agent *a, size_t at, bool remove_data);

/* ---- departure.c ---- */

bool agent_is_staying(const struct agent *a);
/* False: the event means nothing in this state. */
bool agent_change_departure(struct agent *a, enum agent_departure_event event);
/* Begin to leave; `now`: running tasks are ended. Again with `now`: from now on. */
void agent_leave(struct agent *a, bool now);
/* Its allocation ends: tasks that outlived the signal are not waited for long. */
void agent_end_survivors(struct agent *a);
/* Whatever the departure waited for may have happened. */
void agent_go_on_leaving(struct agent *a);
void agent_sign_off(struct agent *a);
/* The store does not answer: gone without a word. */
void agent_give_up_signing_off(struct agent *a);
/* Another keeps what we had (`why` NULL), or says why it cannot: then it is asked again, or another is. */
void agent_handed_over(struct agent *a, const struct link *l, uint64_t run, uint32_t object,
                       const char *why);
/* Whoever is at its other end answers nothing any more. */
void agent_handing_closed(struct agent *a, const struct link *l);

/* ---- agent_links.c ---- */

struct links *agent_listen(struct agent *a, struct error *err);
/* An object that a KEEP asked for is here (or cannot be): who asked is notified. */
void agent_answer_keep(struct agent *a, uint64_t run, uint32_t object, bool good, const char *why);
/* A fetch of it failed. True: somebody has asked us to keep it and was not tried yet; it is being fetched from
 * there now. False: whoever asked has heard that it came to nothing. */
bool agent_fetch_kept(struct agent *a, struct job *j, uint32_t object, const char *why);
/* The answer to a KEEP of a run that is not worked on here. */
void agent_refuse_keep(struct link *l, const void *data, size_t n);
/* The answer to a FETCH of one that nothing is known of here. */
void agent_refuse_fetch(struct link *l, const void *data, size_t n);

/* A planner: one row of the registry. The command line, the page and the documentation are
 * generated from it. */
#pragma once
#include "base/option.h"
#include "base/progress.h"
#include "model/plan.h"
#include "model/predictor.h"
#include "model/replayer.h"

enum planner_accepts {
    ACCEPTS_DAG = 1,    /* any workflow */
    ACCEPTS_TREE = 2,   /* trees only */
    ACCEPTS_STREAM = 4, /* plans a stream of items */
    ACCEPTS_SMALL = 8,  /* exact search: not part of `compare` past a few dozen tasks */
    ACCEPTS_SLOW = 16,  /* more than n log n: `compare` leaves it out past 20,000 tasks unless asked
                           for by name */
    ACCEPTS_META = 32,  /* runs other planners (auto): `compare` runs it last */
    ACCEPTS_ORDER = 64, /* makes an order, not a static plan: has no makespan of its own */
};

/* May the searches (auto, optimal) begin from this planner's plan, and up to which size? The class
 * says what the planner costs: a search waits for the slowest of its members before it begins.
 * portfolio.h runs them. A member takes any graph. Every planner of static plans is one, so that
 * `auto` is never longer than any of them; auto_test.c asks the table. */
enum planner_portfolio {
    PORTFOLIO_NEVER,  /* not a member */
    PORTFOLIO_TINY,   /* costs tasks^2 or more: up to PORTFOLIO_TINY_TASKS */
    PORTFOLIO_SMALL,  /* costs more than n log n: up to PORTFOLIO_SMALL_TASKS */
    PORTFOLIO_MEDIUM, /* n log n for a fixed number of nodes: up to PORTFOLIO_MEDIUM_TASKS */
    PORTFOLIO_ANY,    /* quick, and so good that no size goes without it */
};

struct planner;

struct plan_request {
    const struct planner *planner; /* whose run() it is; planner_run() sets it */
    const struct workflow *workflow;
    const struct platform *platform;
    const struct predictor *predictor; /* may be NULL */
    const struct replayer *replayer; /* may be NULL: then streams are promised by estimate alone */
    const struct option_value
        *options; /* as given by the user, already checked against the planner's table */
    size_t noptions;
    uint64_t seed;
    const struct progress *progress; /* may be NULL */
    bool explain;
    /* How often the user has asked for more speed (pressed `+`) so far; NULL: nobody can. Searches that
     * trade quality for time ask a few times a second and hurry with each. */
    unsigned (*urgency)(void *context);
    void *urgency_context;
};

struct planner {
    const char *name, *family, *summary;
    const char *paper;                /* where it was published */
    const char *guarantee;            /* what is promised, NULL: nothing beyond a valid plan */
    const char *tie_rule;             /* how ties are broken */
    const struct option *options;     /* ends with a NULL name; NULL: none */
    unsigned accepts;                 /* enum planner_accepts, or-ed */
    enum planner_portfolio portfolio; /* where the searches begin */
    /* A finished plan (kind, placements, transfers, objectives; not planner, options, seed,
     * seconds: the registry fills those), or NULL with an error: ERROR_INFEASIBLE when no plan can
     * exist or none was found. */
    struct plan *(*run)(const struct plan_request *request, struct error *err);
};

/* ---- the registry (registry.c) ---- */
extern const struct planner *const planner_registry[]; /* ends with NULL */
const struct planner *planner_find(const char *name);  /* NULL: no such planner */
/* "no planner 'hfet'; did you mean 'heft'? `weft planners` lists them" */
bool planner_unknown(const char *name, struct error *err);
/* Check names, types and limits of option values. */
bool planner_check_options(const struct planner *planner, const struct option_value *options,
                           size_t count, struct error *err);
/* Check the options, run, time it, sign the plan. */
struct plan *planner_run(const struct planner *planner, const struct plan_request *request,
                         struct error *err);
/* Can this planner take this workflow? If not, says why. */
bool planner_suits(const struct planner *planner, const struct workflow *w,
                   const struct platform *p, struct error *why);

/* ---- for planners: option values with defaults applied ---- */
const char *request_text(const struct plan_request *r, const struct planner *p, const char *name);
double request_number(const struct plan_request *r, const struct planner *p, const char *name);
int64_t request_integer(const struct plan_request *r, const struct planner *p, const char *name);
bool request_bool(const struct plan_request *r, const struct planner *p, const char *name);

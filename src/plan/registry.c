/* The registry: the table of all planners, their options read and checked, and the one way in which
 * a planner is run.
 *
 * A planner's row stands in its own file; planners.def names it, and everything else (help, pages,
 * completion, `compare`, the portfolio of the searches, the conformance test) follows from the row.
 * The table is read-only: any thread may use it. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "base/strbuf.h"
#include "base/suggest.h"
#include "model/graph.h"
#include "plan/own.h"
#include "plan/planner.h"
#include <string.h>

#define PLANNER(x) extern const struct planner planner_##x;
#include "plan/planners.def"
#undef PLANNER

const struct planner *const planner_registry[] = {
#define PLANNER(x) &planner_##x,
#include "plan/planners.def"
#undef PLANNER
    NULL,
};

const struct planner *planner_find(const char *name)
{
    for (size_t i = 0; planner_registry[i]; i++)
        if (strcmp(planner_registry[i]->name, name) == 0)
            return planner_registry[i];
    return planner_find_own(name);
}

bool planner_unknown(const char *name, struct error *err)
{
    const char *names[256] = {0};
    size_t count = 0;
    for (const struct planner *p; (p = planner_at(count)) && count < sizeof names / sizeof *names;)
        names[count++] = p->name;
    const char *near = suggest_nearest(name, names, count);
    if (near)
        return error_set(err, ERROR_INPUT,
                         "no planner '%s'; did you mean '%s'? `weft planners` lists them", name,
                         near);
    return error_set(err, ERROR_INPUT, "no planner '%s'; `weft planners` lists them", name);
}

/* ---- options ---- */

static const struct planner_option *find_planner_option(const struct planner *p, const char *name)
{
    for (const struct planner_option *o = p->options; o && o->name; o++)
        if (strcmp(o->name, name) == 0)
            return o;
    return NULL;
}

static bool say_unknown_option(const struct planner *p, const char *name, struct error *err)
{
    struct strbuf known = {0};
    const char *names[64] = {0};
    size_t count = 0;
    for (const struct planner_option *o = p->options; o && o->name && count < 64; o++) {
        strbuf_printf(&known, "%s%s", count ? ", " : "", o->name);
        names[count++] = o->name;
    }
    const char *near = suggest_nearest(name, names, count);
    if (!count)
        error_set(err, ERROR_INPUT, "planner '%s' has no option '%s': it has none at all", p->name,
                  name);
    else if (near)
        error_set(err, ERROR_INPUT, "planner '%s' has no option '%s'; did you mean '%s'?", p->name,
                  name, near);
    else
        error_set(err, ERROR_INPUT, "planner '%s' has no option '%s'; it has: %s", p->name, name,
                  strbuf_text(&known));
    strbuf_free(&known);
    return false;
}

static bool is_option_choice(const char *choices, const char *text)
{
    size_t length = strlen(text);
    for (const char *at = choices; at; at = strchr(at, '|')) {
        at += *at == '|';
        size_t here = strcspn(at, "|");
        if (here == length && memcmp(at, text, length) == 0)
            return true;
    }
    return false;
}

static bool parse_bool(const char *text, bool *out)
{
    if (!strcmp(text, "true") || !strcmp(text, "yes") || !strcmp(text, "on") || !strcmp(text, "1"))
        *out = true;
    else if (!strcmp(text, "false") || !strcmp(text, "no") || !strcmp(text, "off") ||
             !strcmp(text, "0"))
        *out = false;
    else
        return false;
    return true;
}

/* A number of the option's type; for OPTION_BOOL, OPTION_CHOICE and OPTION_TEXT only a check. */
static bool parse_option_value(const struct planner_option *o, const char *text, double *number)
{
    size_t length = strlen(text);
    int64_t whole;
    bool flag;
    *number = 0;
    switch (o->type) {
    case OPTION_BOOL:
        return parse_bool(text, &flag);
    case OPTION_INTEGER:
        if (!quantity_integer(text, length, &whole))
            return false;
        *number = (double)whole;
        return true;
    case OPTION_NUMBER:
        return quantity_number(text, length, number);
    case OPTION_SECONDS:
        return quantity_seconds(text, length, number);
    case OPTION_CHOICE:
        return is_option_choice(o->choices, text);
    case OPTION_TEXT:
        return true;
    }
    return false;
}

static const char *expected_value(const struct planner_option *o)
{
    switch (o->type) {
    case OPTION_BOOL:
        return "true or false";
    case OPTION_INTEGER:
        return "a whole number";
    case OPTION_NUMBER:
        return "a number";
    case OPTION_SECONDS:
        return "a time such as 1.5s, 200ms or 2m";
    case OPTION_CHOICE:
        return o->choices;
    case OPTION_TEXT:
        break;
    }
    return "a text";
}

bool planner_check_options(const struct planner *planner, const struct option_value *options,
                           size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct planner_option *o = find_planner_option(planner, options[i].name);
        double number;
        if (!o)
            return say_unknown_option(planner, options[i].name, err);
        for (size_t k = 0; k < i; k++)
            if (strcmp(options[k].name, options[i].name) == 0)
                return error_set(err, ERROR_INPUT, "option '%s' of planner '%s' is given twice",
                                 o->name, planner->name);
        if (!parse_option_value(o, options[i].text, &number))
            return error_set(err, ERROR_INPUT,
                             "option '%s' of planner '%s': '%s' is not what it takes: %s", o->name,
                             planner->name, options[i].text, expected_value(o));
        bool limited = o->least != 0 || o->most != 0;
        if (limited && (number < o->least || number > o->most))
            return error_set(err, ERROR_INPUT,
                             "option '%s' of planner '%s': %s is out of range, expected %g to %g",
                             o->name, planner->name, options[i].text, o->least, o->most);
    }
    return true;
}

const char *request_text(const struct plan_request *r, const struct planner *p, const char *name)
{
    for (size_t i = 0; i < r->noptions; i++)
        if (strcmp(r->options[i].name, name) == 0)
            return r->options[i].text;
    const struct planner_option *o = find_planner_option(p, name);
    return o ? o->standard : NULL;
}

double request_number(const struct plan_request *r, const struct planner *p, const char *name)
{
    const struct planner_option *o = find_planner_option(p, name);
    const char *text = request_text(r, p, name);
    double number = 0;
    if (o && text)
        parse_option_value(o, text, &number);
    return number;
}

int64_t request_integer(const struct plan_request *r, const struct planner *p, const char *name)
{
    const char *text = request_text(r, p, name);
    int64_t number = 0;
    if (text)
        quantity_integer(text, strlen(text), &number);
    return number;
}

bool request_bool(const struct plan_request *r, const struct planner *p, const char *name)
{
    const char *text = request_text(r, p, name);
    bool flag = false;
    if (text)
        parse_bool(text, &flag);
    return flag;
}

/* ---- running ---- */

bool planner_suits(const struct planner *planner, const struct workflow *w,
                   const struct platform *p, struct error *why)
{
    if (p->nnodes == 0)
        return error_set(why, ERROR_INPUT, "the platform has no nodes");
    if ((planner->accepts & ACCEPTS_TREE) && !(planner->accepts & ACCEPTS_DAG) &&
        graph_tree_shape(w) == TREE_NOT)
        return error_set(why, ERROR_INPUT,
                         "planner '%s' takes trees only, and workflow '%s' is none: every task but "
                         "the root must have one parent, or every task but the root one child",
                         planner->name, workflow_text(w, w->name));
    return true;
}

static void sign_plan(struct plan *plan, const struct planner *planner,
                      const struct plan_request *request, double seconds)
{
    free(plan->planner);
    plan->planner = mem_copy_string(planner->name);
    plan->seed = request->seed;
    plan->planning_seconds = seconds;
    for (const struct planner_option *o = planner->options; o && o->name; o++)
        plan_set_option(plan, o->name, request_text(request, planner, o->name));
}

struct plan *planner_run(const struct planner *planner, const struct plan_request *request,
                         struct error *err)
{
    if (!planner_check_options(planner, request->options, request->noptions, err) ||
        !planner_suits(planner, request->workflow, request->platform, err))
        return NULL;
    struct plan_request own = *request;
    own.planner = planner;
    double start = clock_seconds();
    struct plan *plan = planner->run(&own, err);
    if (plan)
        sign_plan(plan, planner, request, clock_seconds() - start);
    return plan;
}

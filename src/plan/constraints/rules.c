/* Which constraints are in force: the user's, and when there are none of a file
 * examples/constraints/default.sql, word for word (search_test.c compares them). */
#include "plan/constraints/rules.h"

#include "plan/constraints/space.h"

#include <string.h>

extern const struct planner planner_constraints;

const char *const constraints_default_rules =
    "-- The default constraints of `weft plan --with constraints` (Ahrens, Shapiro, Tanimoto "
    "1997,\n"
    "-- section 5). Copy this file, change it, and give it with --assert-file.\n"
    "\n"
    "-- 1. Only processors that others use at most 3 percent: all others have no tasks.\n"
    "assert relationship requirement (\n"
    "  (select proc-task-list from proc where proc-utilization > 0.03) = UNKNOWN );\n"
    "\n"
    "-- 2. Prefer states with more scheduled tasks. This is H of the A* search and its priority is "
    "p1\n"
    "--    (--set p1=...): large is fast, 0 is thorough.\n"
    "assert value preference (\n"
    "  opt-type = maximize, priority = 1000,\n"
    "  function = (select count(task-assigned-proc-id) from task),\n"
    "  min = 0, max = (select count(*) from task));\n"
    "\n"
    "-- 3. to 5. emulate the algorithm of Wu and Gajski.\n"
    "-- 3. Schedule tasks by falling length of their longest path to an output.\n"
    "assert ordering requirement (\n"
    "  (select task-path-rank from task order by task-schedule-order nulls last, task-path-rank), "
    "< );\n"
    "\n"
    "-- 4. The task scheduled last goes where it can start earliest.\n"
    "assert value preference (\n"
    "  opt-type = minimize, priority = 1,\n"
    "  function = (select task-start-time from task\n"
    "              where task-schedule-order = (select max(task-schedule-order) from task)),\n"
    "  min = 0, max = (select sum(task-exec-time) from task) +\n"
    "                 (select sum(non-local-comm-time) from dep));\n"
    "\n"
    "-- 5. Where that does not decide, the program should end early.\n"
    "assert value preference (\n"
    "  opt-type = minimize, priority = 0.000000001,\n"
    "  function = (select max(task-finish-time) from task),\n"
    "  min = 0, max = (select sum(task-exec-time) from task) +\n"
    "                 (select sum(non-local-comm-time) from dep));\n";

const char *constraints_option(const struct plan_request *r, const char *name)
{
    const char *text = request_text(r, &planner_constraints, name);
    return text ? text : "";
}

/* What the workflow file itself asks for. Messages name the file, the line of the text in it, and
 * the place within the text. */
static bool read_workflow_rules(struct space *s, struct error *err)
{
    const struct workflow *w = s->w;
    const char *file = workflow_text(w, w->file);
    struct strbuf name = {0};
    bool good = true;
    for (uint32_t i = 0; i < w->nassertions && good; i++) {
        strbuf_clear(&name);
        strbuf_add(&name, *file ? file : "<workflow>");
        if (w->assertion_line[i])
            strbuf_printf(&name, ":%u", w->assertion_line[i]);
        strbuf_printf(&name, " (assert %u)", i + 1);
        good = query_read(s->query, strbuf_text(&name), workflow_text(w, w->assertion[i]), err);
    }
    strbuf_free(&name);
    return good;
}

/* The default constraints go first; a file replaces them unless the user says otherwise. */
bool constraints_read_rules(struct space *s, struct error *err)
{
    const struct plan_request *r = s->request;
    const char *file = constraints_option(r, "rules"), *more = constraints_option(r, "assert");
    const char *name = constraints_option(r, "rules-name");
    const char *defaults = constraints_option(r, "defaults");
    bool wanted = strcmp(defaults, "auto") == 0 ? !*file : strcmp(defaults, "yes") == 0;
    if (wanted && !query_read(s->query, SPACE_DEFAULT_RULES, constraints_default_rules, err))
        return false;
    if (*file && !query_read(s->query, *name ? name : "<rules>", file, err))
        return false;
    if (!read_workflow_rules(s, err))
        return false;
    return !*more || query_read(s->query, "--assert", more, err);
}

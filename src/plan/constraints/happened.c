/* Judging a run: happened.h. No search: the schedule is laid out once, task by task in the order in which
 * they began, and every constraint is asked. */
#include "plan/constraints/happened.h"

#include "base/clock.h"
#include "base/mem.h"
#include "plan/constraints/rules.h"
#include "plan/constraints/space.h"

#include <math.h>

/* Seconds for all of them: as long as a plan is searched by default. */
static const double judge_most = 10;

bool constraints_are_given(const struct plan_request *request)
{
    return request->workflow->nassertions || *constraints_option(request, "assert") ||
           *constraints_option(request, "rules");
}

/* Default constraints and those on the order of scheduling tell a search how to go about it: of what
 * happened they say nothing. A requirement that is unknown is not broken, as in a plan. */
static void judge_one(struct query *q, size_t i, constraint_outcomes *out)
{
    struct constraint_info info = query_info(q, i);
    struct strbuf text = {0};
    if (strcmp(info.name, SPACE_DEFAULT_RULES) == 0 || info.sees_order)
        return;
    double measure = query_measure(q, i);
    strbuf_printf(&text, "%s:%u:%u: %.200s%s", info.name, info.line, info.column, info.text,
                  strlen(info.text) > 200 ? " ..." : "");
    array_push(out, (struct constraint_outcome){.text = strbuf_steal(&text),
                                                .requirement = info.requirement,
                                                .wish = info.wish,
                                                .held = info.requirement ? query_holds(q, i)
                                                                         : !(measure > 0),
                                                .measure = measure});
}

/* A task goes in after those that it depends on, whatever clocks say. */
bool constraints_judge(const struct plan_request *request, const struct placement *at, size_t n,
                       constraint_outcomes *out, struct error *err)
{
    struct space *s = space_new(request, err);
    const struct placement **by_task = mem_new_zero(const struct placement *, n + 1);
    bool good = s && n == s->w->ntasks;
    if (s) {
        query_set_deadline(s->query, clock_seconds() + judge_most);
        good = good && constraints_read_rules(s, err) && query_begin(s->query, err);
    }
    for (size_t i = 0; i < n && good; i++)
        by_task[at[i].task] = &at[i];
    for (size_t i = 0; i < n && good; i++) {
        const struct placement *p = by_task[s->w->topo[i]];
        query_push(s->query, p->task, p->node, p->start, p->finish);
    }
    for (size_t i = 0; good && i < query_size(s->query); i++)
        judge_one(s->query, i, out);
    good = good && !query_failed(s->query, err);
    space_free(s);
    free(by_task);
    return good;
}

bool constraints_read(const struct plan_request *request, struct error *err)
{
    struct space *s = space_new(request, err);
    bool good = s && constraints_read_rules(s, err);
    space_free(s);
    return good;
}

void constraint_outcomes_free(constraint_outcomes *o)
{
    for (size_t i = 0; i < o->n; i++)
        free(o->at[i].text);
    array_free(o);
}

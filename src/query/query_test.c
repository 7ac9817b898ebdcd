/* The language: every example of the paper, every construct, and what must be refused. */
#include "query/query.h"
#include "base/mem.h"
#include "model/builder.h"
#include "tap.h"

/* Three tasks in a row and one beside them; processors lillith and calvin (busy: 5 %). */
struct world {
    struct workflow *w;
    struct platform *p;
    struct costs *costs;
    struct relations *r;
};

static struct world world_new(void)
{
    struct error err = {0};
    struct world x = {0};
    struct builder *b = builder_new("<test>", "test");
    static const char *const names[] = {"read", "FFT", "show", "alone"};
    for (int i = 0; i < 4; i++) {
        uint32_t t = builder_task(b, names[i], strlen(names[i]), 0);
        builder_work(b, t, i + 1, 0);
    }
    builder_data_edge(b, 0, 1, 10, 0);
    builder_data_edge(b, 1, 2, 20, 0);
    x.w = builder_finish(b, &err);
    struct platform_builder *pb = platform_builder_new("<test>");
    platform_builder_network(pb, 10, 0, NAN, 0);
    platform_builder_node(pb, "lillith", 7, 0);
    uint32_t calvin = platform_builder_node(pb, "calvin", 6, 0);
    platform_builder_utilization(pb, calvin, 0.05, 0);
    platform_builder_node(pb, "hobbes", 6, 0);
    x.p = platform_builder_finish(pb, &err);
    x.costs = costs_new(x.w, x.p, &err);
    double path[] = {8, 6, 3, 4};
    uint32_t order[] = {0, 1, 3, 2};
    x.r = relations_new(x.costs, path, order);
    return x;
}

static void world_free(struct world *x)
{
    relations_free(x->r);
    costs_free(x->costs);
    platform_free(x->p);
    workflow_free(x->w);
}

/* A query of one text on a fresh state; NULL with a failed test. */
static struct query *read_one(struct world *x, const char *text)
{
    struct error err = {0};
    struct query *q = query_new(x->r, &err);
    if (!query_read(q, "rules.sql", text, &err) || !query_begin(q, &err)) {
        ok(false, "is read: %s", err.text);
        printf("# %s\n", text);
        query_free(q);
        return NULL;
    }
    return q;
}

static void test_paper(void)
{
    struct world x = world_new();
    struct query *q = read_one(&x, "assert relationship requirement (\n"
                                   "  (select task-finish-time from task where task-id = 1) <\n"
                                   "  (select task-finish-time from task where task-id = 4) )");
    if (q) {
        ok(query_holds(q, 0), "output order: nothing known, nothing violated");
        query_push(q, 3, 1, 0, 4);
        ok(query_holds(q, 0), "one finish known: still unknown");
        query_push(q, 0, 0, 0, 1);
        ok(query_holds(q, 0), "1 < 4 holds");
        query_pop(q);
        query_push(q, 0, 1, 4, 5);
        ok(!query_holds(q, 0), "5 < 4 does not");
        query_pop(q);
        query_pop(q);
    }
    query_free(q);

    q = read_one(&x, "assert relationship requirement (\n"
                     "  (select task-assigned-proc-id from task where task-name = \"FFT\") =\n"
                     "  (select proc-id from proc where proc-name = \"lillith\"))");
    if (q) {
        ok(query_holds(q, 0), "assignment: unknown is not violated");
        query_push(q, 0, 1, 0, 1);
        query_push(q, 1, 1, 1, 3);
        ok(!query_holds(q, 0), "FFT elsewhere violates it");
        query_pop(q);
        query_push(q, 1, 0, 2, 4);
        ok(query_holds(q, 0), "FFT on lillith holds");
        query_pop(q);
        query_pop(q);
        ok(query_info(q, 0).assignment, "and is known to be about assignments");
    }
    query_free(q);

    /* printed without the parentheses around it: taken as printed */
    q = read_one(&x, "assert relationship preference\n\n"
                     "2 * (select proc-finish-time from proc where proc-name = \"lillith\") <=\n"
                     "  (select proc-finish-time from proc where proc-name = \"calvin\")\n");
    if (q) {
        is_dbl(query_measure(q, 0), 0, 0, "utilisation: unknown fails no test");
        query_push(q, 0, 0, 0, 1);
        query_push(q, 3, 1, 0, 1.5);
        is_dbl(query_measure(q, 0), 1, 0, "2 x 1 <= 1.5 is one failed test");
        is_dbl(query_scaled(q, 0), 1, 0, "of one");
        query_pop(q);
        query_push(q, 3, 1, 0, 4);
        is_dbl(query_measure(q, 0), 0, 0, "2 x 1 <= 4 is none");
        query_pop(q);
        query_pop(q);
    }
    query_free(q);

    /* no comma before min, as printed */
    q = read_one(&x, "assert value preference (\n"
                     "  opt-type = minimize, priority = 1,\n"
                     "  function = (select max(task-finish-time) from task)\n"
                     "  min = 0, max = (select sum(task-exec-time) from task) +\n"
                     "    (select sum(non-local-comm-time) from dep))");
    if (q) {
        is_dbl(query_info(q, 0).high, 13, 1e-12, "max is 1+2+3+4 and 1+2 of communication");
        query_push(q, 0, 0, 0, 1);
        query_push(q, 3, 1, 0, 4);
        is_dbl(query_measure(q, 0), 4, 0, "the longest finish so far");
        is_dbl(query_scaled(q, 0), 4 / 13., 1e-15, "scaled");
        query_pop(q);
        query_pop(q);
        ok(query_info(q, 0).makespan && query_info(q, 0).grows, "known to be the makespan");
    }
    query_free(q);

    q = read_one(&x, "assert value preference ( opt-type = minimize, priority = 10,\n"
                     "function = assert relationship preference (\n"
                     " 2 * (select proc-finish-time from proc where proc-name = \"calvin\") =\n"
                     "    (select proc-finish-time from proc where proc-name = \"lillith\")),\n"
                     "min = 0, max = 1)");
    if (q) {
        is_dbl(query_info(q, 0).priority, 10, 0, "a nested preference with a priority");
        query_push(q, 0, 0, 0, 2);
        query_push(q, 3, 1, 0, 4);
        is_dbl(query_scaled(q, 0), 1, 0, "2 x 4 = 2 fails");
        query_pop(q);
        query_push(q, 3, 1, 0, 1);
        is_dbl(query_scaled(q, 0), 0, 0, "2 x 1 = 2 holds");
        query_pop(q);
        query_pop(q);
    }
    query_free(q);

    /* the print closes sum( too late: sum(non-local-comm-time from dep) */
    const char *before =
        "assert value preference (opt-type = minimize, priority = 10,\n"
        "function = absolute_value\n"
        "  ((select proc-total-running-time from proc where proc-name = \"calvin\") -\n"
        " 2 * (select proc-total-running-time from proc where proc-name = \"hobbes\")),\n"
        "min = 0, max = (select sum(task-exec-time) from task) +\n"
        "  (select sum(non-local-comm-time";
    char text[1024];
    snprintf(text, sizeof text, "%s) from dep))", before);
    q = read_one(&x, text);
    if (q) {
        query_push(q, 0, 1, 0, 1);
        query_push(q, 3, 2, 0, 4);
        is_dbl(query_measure(q, 0), 7, 1e-12, "|1 - 2 x 4| is the distance");
        query_pop(q);
        query_pop(q);
    }
    query_free(q);
    snprintf(text, sizeof text, "%s from dep)))", before);
    struct error err = {0};
    q = query_new(x.r, &err);
    ok(!query_read(q, "paper", text, &err), "as printed it is no SQL");
    has_str(err.text, "paper:6:", "and the line is told");
    query_free(q);

    /* the first default constraint: a task list that must be UNKNOWN */
    q = read_one(&x, "assert relationship requirement (\n"
                     "(select proc-task-list from proc where proc-utilization > 0.03) = UNKNOWN)");
    if (q) {
        ok(query_holds(q, 0), "the busy processor is empty");
        query_push(q, 0, 0, 0, 1);
        ok(query_holds(q, 0), "a task elsewhere changes nothing");
        query_push(q, 3, 1, 0, 4);
        ok(!query_holds(q, 0), "a task there violates it");
        query_pop(q);
        query_pop(q);
    }
    query_free(q);
    world_free(&x);
}

/* Every example of sections 3.2 and 3.3, letter by letter, on processors of the names it uses;
 * after tasks 1 and 2 ran on norge until 4 and on oddvar until 6. */
static void test_printed(void)
{
    static const struct {
        const char *what, *text;
        double measure; /* NAN: refused, as docs/constraints.md says */
    } rows[] = {
        {"ordering task output generation time",
         "assert relationship requirement (\n"
         "  (select task-finish-time from task where task-id = 1) <\n"
         "  (select task-finish-time from task where task-id = 2) )",
         0},
        {"controlling task/processor assignments",
         "assert relationship requirement (\n"
         "  (select task-assigned-proc-id from task where task-name = \"FFT\") =\n"
         "  (select proc-id from proc where proc-name = \"lillith\"))",
         1},
        {"controlling processor utilization",
         "assert relationship preference\n\n\n"
         "2 * (select proc-finish-time from proc where proc-name = \"lillith\") <=\n"
         "  (select proc-finish-time from proc where proc-name = \"calvin\")",
         0},
        {"minimizing processor run times",
         "assert value preference (\n"
         "  opt-type = minimize, priority = 1,\n"
         "  function = (select max(task-finish-time) from task)\n"
         "  min = 0, max = (select sum(task-exec-time) from task) +\n"
         "    (select sum(non-local-comm-time) from dep))",
         6},
        {"exactly half the finish time",
         "assert value preference ( opt-type = minimize, priority = 10,  \n\n"
         "function = assert relationship preference (  \n"
         " 2 * (select proc-finish-time from proc where proc-name = \"norge\") =  \n"
         "    (select proc-finish-time from proc where proc-name = \"oddvar\")),  \n\n"
         "min = 0, max = 1)",
         1},
        {"the same as a distance",
         "assert value preference (opt-type = minimize, priority = 10,  \n\n"
         "function = absolute_value  \n"
         "  ((select proc-total-running-time from proc where proc-name = \"oddvar\") -  \n"
         " 2 * (select proc-total-running-time from proc where proc-name = \"norge\")),  \n\n"
         "min = 0, max = (select sum(task-exec-time) from task) +  \n"
         "  (select sum(non-local-comm-time from dep)))",
         NAN},
        {"the same with its parenthesis mended",
         "assert value preference (opt-type = minimize, priority = 10,  \n\n"
         "function = absolute_value  \n"
         "  ((select proc-total-running-time from proc where proc-name = \"oddvar\") -  \n"
         " 2 * (select proc-total-running-time from proc where proc-name = \"norge\")),  \n\n"
         "min = 0, max = (select sum(task-exec-time) from task) +  \n"
         "  (select sum(non-local-comm-time) from dep))",
         0},
    };
    struct world x = world_new();
    struct error err = {0};
    struct platform_builder *b = platform_builder_new("<test>");
    static const char *const names[] = {"norge", "oddvar", "lillith", "calvin"};
    for (int i = 0; i < 4; i++)
        platform_builder_node(b, names[i], strlen(names[i]), 0);
    struct platform *p = platform_builder_finish(b, &err);
    struct costs *costs = costs_new(x.w, p, &err);
    double path[] = {8, 6, 3, 4};
    uint32_t order[] = {0, 1, 3, 2};
    struct relations *r = relations_new(costs, path, order);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        error_clear(&err);
        struct query *q = query_new(r, &err);
        bool good = query_read(q, "paper", rows[i].text, &err) && query_begin(q, &err);
        if (good) {
            query_push(q, 0, 0, 0, 4);
            query_push(q, 1, 1, 4, 6);
        }
        double measure = good ? query_measure(q, 0) : NAN;
        ok(measure == rows[i].measure || (isnan(measure) && isnan(rows[i].measure)),
           "as printed: %s%s%s (%g)", rows[i].what, good ? "" : ": ", err.text, measure);
        while (r->depth)
            query_pop(q);
        query_free(q);
    }
    relations_free(r);
    costs_free(costs);
    platform_free(p);
    world_free(&x);
}

static void test_constructs(void)
{
    struct world x = world_new();
    static const struct {
        const char *text;
        double empty, full; /* measured with nothing, and with three tasks scheduled */
        const char *what;
    } rows[] = {
        {"assert ordering preference ((select task_start_time from task order by task_id), <=)", 0,
         1, "ordering: start 0, 4, ?, 0 has one pair the wrong way round"},
        {"assert preference order (select task-start-time from task order by task-id, >=)", 0, 1,
         "ordering, spelled as printed once"},
        {"assert ordering requirement ((select task-path-rank from task order by "
         "task-schedule-order nulls last, task-path-rank), <)",
         0, 1, "scheduled in the order of paths but for one pair"},
        {"assert value preference (maximize, 5, (select count(*) from task where "
         "task_assigned_proc_id <> UNKNOWN), 0, 4)",
         0, 3, "without names, in the printed order"},
        {"assert value preference (opt-type = minimise, function = (select average(task-work) "
         "from task), min = 0, max = 4)",
         2.5, 2.5, "average"},
        {"assert value requirement (function = (select maximum(task-finish-time) from task), "
         "max = 5)",
         NAN, 6, "a value requirement"},
        {"assert relationship preference ((select task_exec_time from task), <, (select count(*) "
         "from task) - 1)",
         2, 2, "the signature's commas"},
        {"assert relationship preference (((select task_id from task) <> 3), priority = 7)", 1, 1,
         "a preference with a priority of its own"},
        {"assert relationship preference ((select t.task_finish_time from task t join dep d on "
         "d.dep_from_task_id = t.task_id) <= (select p.proc_finish_time from proc p))",
         0, 1, "joins: 6 <= 4 fails"},
        {"assert value preference (opt-type = minimize, function = (select sum(case when "
         "task-name like '%o%' then 1 else 0 end) from task), min = 0, max = 4)",
         2, 2, "any SQL"},
        {"assert value preference (opt-type = maximize, function = (select "
         "length(group_concat(proc-task-list)) from proc), min = 0, max = 9)",
         NAN, 5, "task lists as text: '1,2' and '4'"},
        {"assert relationship requirement ((select task-name from task where task-assigned-proc-id "
         "is not null) <> (select 'FFT')) -- a comment;",
         0, 1, "texts"},
        {"assert relationship preference ((select task-finish-time from task where task-id in "
         "(select dep-from-task-id from dep)) - 1 > 0)",
         0, 1, "arithmetic around a relation"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int sqlite = 0; sqlite < 2; sqlite++) {
            struct error err = {0};
            struct query *q = query_new(x.r, &err);
            bool good = query_read(q, "rules.sql", rows[i].text, &err);
            if (sqlite)
                query_sqlite_only(q);
            good = good && query_begin(q, &err);
            if (!good) {
                ok(false, "%s: %s", rows[i].what, err.text);
                query_free(q);
                continue;
            }
            double empty = query_measure(q, 0);
            query_push(q, 0, 0, 0, 1);
            query_push(q, 3, 1, 0, 4);
            query_push(q, 1, 0, 4, 6);
            double full = query_measure(q, 0);
            bool same =
                (empty == rows[i].empty || (empty != empty && rows[i].empty != rows[i].empty)) &&
                (full == rows[i].full || (full != full && rows[i].full != rows[i].full));
            ok(same, "%s%s", rows[i].what, sqlite ? " (SQLite)" : "");
            if (!same)
                printf("# got %g and %g, expected %g and %g\n", empty, full, rows[i].empty,
                       rows[i].full);
            while (x.r->depth)
                query_pop(q);
            query_free(q);
        }
    world_free(&x);
}

static void test_mistakes(void)
{
    struct world x = world_new();
    static const struct {
        const char *text, *place, *says;
    } rows[] = {
        {"select 1", ":1:1:", "expected 'assert'"},
        {"assert relationshp requirement (1 < 2)", ":1:8:", "did you mean 'relationship'"},
        {"assert value (1 < 2)", ":1:14:", "requirement or preference"},
        {"assert relationship requirement\n ((select task-finsh-time from task) < 3)",
         ":2:11:", "did you mean 'task-finish-time'"},
        {"assert relationship requirement ((select task_finsh_time from task) < 3)",
         ":1:42:", "did you mean 'task-finish-time'"},
        {"assert relationship requirement ((select finish_time from task) < 3)",
         ":1:42:", "no such column"},
        {"assert relationship requirement ((select task-id from tasks) < 3)",
         ":1:", "did you mean 'task'"},
        {"assert relationship requirement ((select task-id from task) 3)", ":1:62:", "a test"},
        {"assert relationship requirement (1 < 2 < 3)", ":1:40:", "second test"},
        {"assert relationship requirement (1 < )", ":1:38:", "an expression"},
        {"assert relationship requirement (1 < 2", ":1:33:", "never closed"},
        {"assert relationship requirement (1 < (select * from task))", ":1:38:", "one attribute"},
        {"assert relationship requirement ((select task-id from task) < UNKNOWN)",
         ":1:61:", "= or <>"},
        {"assert ordering requirement ((select task-id from task))", ":1:", "a sequence"},
        {"assert value preference (opt-type = best, function = 1, min = 0, max = 1)",
         ":1:37:", "minimize or maximize"},
        {"assert value preference (opt-type = minimize, function = 1)",
         ":1:59:", "min = and max ="},
        {"assert value preference (opt-type = minimize, min = 0, max = 1)", ":1:", "function ="},
        {"assert value preference (opt-type = minimize, colour = 1)", ":1:47:", "opt-type ="},
        {"assert value preference (opt-type = minimize, function = 1, min = 2, max = 1)",
         ":1:76:", "less than min"},
        {"assert value preference (opt-type = minimize, function = 1, min = 0, max = (select "
         "max(task-start-time) from task))",
         ":1:76:", "unknown while nothing is scheduled"},
        {"assert value preference (opt-type = minimize, priority = -1, function = 1, min = 0, max "
         "= 1)",
         ":1:58:", "expected 0 or more"},
        {"assert relationship requirement (frobnicate(1) < 2)", ":1:34:", "no such function"},
        {"assert relationship requirement ('open < 2)", ":1:34:", "closing '"},
        {"assert relationship requirement (1 < 2) /* open", ":1:41:", "*/"},
        {"assert relationship requirement (1 @ 2)", ":1:36:", "means nothing"},
        {"assert relationship requirement (1x < 2)", ":1:34:", "no number"},
        {"assert relationship requirement (1 < 2; select 2)", ":1:", "expected"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct error err = {0};
        struct query *q = query_new(x.r, &err);
        bool refused = !query_read(q, "rules.sql", rows[i].text, &err) || !query_begin(q, &err);
        ok(refused && err.kind == ERROR_INPUT && strstr(err.text, rows[i].place) &&
               strstr(err.text, rows[i].says),
           "refused: %s", rows[i].text);
        if (!refused || !strstr(err.text, rows[i].place) || !strstr(err.text, rows[i].says))
            printf("# got: %s\n# expected %s %s\n", err.text, rows[i].place, rows[i].says);
        query_free(q);
    }
    world_free(&x);
}

/* Nothing reads files, writes, attaches, or never ends. */
static void test_safety(void)
{
    struct world x = world_new();
    static const char *const texts[] = {
        "(select load_extension('x')) < 2",
        "(select readfile('/etc/passwd')) < 2",
        "(select random()) < 2",
        "(select name from sqlite_master) < 2",
        "(select name from pragma_database_list) < 2",
        "(select count(*) from sqlite_dbpage) < 2",
        "(select sql from sqlite_stmt) < 2",
        "(attach database 'x' as y) < 2",
        "(pragma temp_store) < 2",
        "(delete from task) < 2",
        "(with x as (select 1) insert into task select 1) < 2",
        "(select fts3_tokenizer('x')) < 2",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct error err = {0};
        struct query *q = query_new(x.r, &err);
        char text[256];
        snprintf(text, sizeof text, "assert relationship requirement (%s)", texts[i]);
        ok(!query_read(q, "rules.sql", text, &err) && err.kind == ERROR_INPUT, "refused: %s",
           texts[i]);
        query_free(q);
    }
    struct error err = {0};
    struct query *q = query_new(x.r, &err);
    ok(query_read(q, "rules.sql",
                  "assert relationship requirement ((select length(replace(printf('%900000d', 1), "
                  "' ', 'xxxxxxxxxx'))) > 0)",
                  &err),
       "a text that grows is read");
    query_begin(q, &err);
    query_measure(q, 0);
    ok(query_failed(q, &err), "but stops at the limit when evaluated: %s", err.text);
    query_free(q);

    struct strbuf deep = {0};
    strbuf_add(&deep, "assert relationship requirement (");
    for (int i = 0; i < 5000; i++)
        strbuf_add(&deep, "(");
    strbuf_add(&deep, "1");
    for (int i = 0; i < 5000; i++)
        strbuf_add(&deep, ")");
    strbuf_add(&deep, "+1 < 2)");
    error_clear(&err);
    q = query_new(x.r, &err);
    ok(!query_read(q, "rules.sql", strbuf_text(&deep), &err), "depth is limited: %.60s", err.text);
    query_free(q);
    strbuf_free(&deep);
    world_free(&x);
}

static void test_symmetry(void)
{
    struct world x = world_new();
    static const struct {
        const char *text;
        bool alike;
        int single; /* processors named alone */
    } rows[] = {
        {"assert relationship requirement ((select proc-task-list from proc where "
         "proc-utilization > 0.03) = UNKNOWN)",
         true, 0},
        {"assert relationship requirement ((select task-assigned-proc-id from task where "
         "task-name = 'FFT') = (select proc-id from proc where proc-name = 'calvin'))",
         true, 1},
        {"assert relationship requirement ((select task-assigned-proc-id from task) < 3)", false,
         0},
        {"assert relationship requirement ((select proc-name from proc where proc-task-count > 0) "
         "<> 'calvin')",
         false, 0},
        {"assert value preference (maximize, 1, (select count(task-assigned-proc-id) from task), "
         "0, 4)",
         true, 0},
        {"assert value preference (maximize, 1, (select proc-finish-time from proc), 0, 4)", false,
         0},
        {"assert value preference (maximize, 1, (select max(proc-finish-time) from proc where "
         "proc-name in ('calvin', 'hobbes')), 0, 4)",
         true, 2},
        {"assert relationship requirement ((select proc-id from proc where proc-id > 2) = UNKNOWN)",
         false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct query *q = read_one(&x, rows[i].text);
        bool single[3] = {0};
        if (!q)
            continue;
        ok(query_symmetry(q, single) == rows[i].alike, "%s processors alike: %s",
           rows[i].alike ? "keeps" : "tells", rows[i].text);
        if (rows[i].alike)
            is_int(single[0] + single[1] + single[2], rows[i].single, "and names as many");
        query_free(q);
    }
    world_free(&x);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_paper),    TAP_CASE(test_printed), TAP_CASE(test_constructs),
        TAP_CASE(test_mistakes), TAP_CASE(test_safety),  TAP_CASE(test_symmetry),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}

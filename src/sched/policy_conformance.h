/* What every policy must keep, whatever it decides: policy_test.c asks it of each row of the table,
 * adding_policy_test.c of the one that docs/adding-a-policy.md shows. */
#pragma once
#include "base/strbuf.h"
#include "sched/testing.h"
#include <ctype.h>
#include <math.h>
#include <string.h>

static void conform_texts(const struct policy *row, const char *document)
{
    struct strbuf line = {0};
    bool small = row->name[0];
    for (const char *c = row->name; *c; c++)
        small &= islower((unsigned char)*c) || isdigit((unsigned char)*c);
    ok(small && strcmp(row->name, "auto") != 0 && strcmp(row->name, "all") != 0,
       "%s: a name of small letters that is not taken", row->name);
    ok(row->meaning && row->meaning[0] && row->summary && row->summary[0],
       "%s: its meaning and summary", row->name);
    strbuf_printf(&line, "| `%s` | %s | %s |", row->name, row->meaning, row->summary);
    ok(strstr(document, line.at) != NULL, "%s: in the table of docs/scheduler.md", row->name);
    strbuf_free(&line);
}

/* Decisions that can be carried out, the same each time; a relaxation of no more than there is. */
static void conform_functions(const struct policy *row)
{
    static const double numbers[] = {0, 1, 1e6, 1e9, 1e300, INFINITY};
    static const uint32_t nodes[] = {0, 3, UINT32_MAX};
    uint64_t wrong = 0, cases = 0;
    for (int i = 0; i < 6 * 6 * 6 * 3; i++) {
        struct decide_input in = {.all_size = numbers[1 + i % 5],
                                  .max_size = numbers[1 + i % 5] / (1 + i % 2),
                                  .max_node = nodes[i / 216],
                                  .self = 3,
                                  .bandwidth = numbers[i / 6 % 6],
                                  .length = numbers[i / 36 % 6],
                                  .t = i % 7 / 4.0};
        enum decision d = row->decide(&in);
        wrong += d != DECIDE_SHARED && (d != DECIDE_LOCAL || in.max_node != in.self) &&
                 (d != DECIDE_PUSH || in.max_node == UINT32_MAX || in.max_node == in.self);
        wrong += d != row->decide(&in) || (row->shares_all && d != DECIDE_SHARED);
        cases++;
    }
    for (uint32_t queued = 0; row->relax && queued < 1000; queued += 37)
        for (int i = 0; i < 5 * 5 * 5; i++, cases++)
            wrong +=
                row->relax(queued, numbers[i % 5], numbers[i / 5 % 5], numbers[i / 25]) > queued;
    is_int(wrong, 0, "%s: %llu decisions can be carried out", row->name, (unsigned long long)cases);
}

/* A node of four: every task that it is given is run here or handed on, whatever its data are. */
static void conform_run(const struct policy *row)
{
    struct bed b = bed_new((struct sched_config){.nodes = 4,
                                                 .cores = 2,
                                                 .own_policy = row,
                                                 .share_local = true,
                                                 .adapt_tt = true,
                                                 .tt = 5,
                                                 .bandwidth = 1e6,
                                                 .wait_poll = -1});
    uint64_t done = 0, given = 0;
    ARRAY(struct sched_start) running = {0};
    for (uint32_t round = 0; round < 200; round++) {
        b.size = round % 3 * 1e6;
        b.where = round % 4;
        if (round < 40)
            submit(&b, round * 5, 5);
        for (size_t i = 0; i < b.out.starts.n; i++)
            array_push(&running, b.out.starts.at[i]);
        if (running.n) {
            struct sched_start start = running.at[--running.n];
            b.now += 1;
            end_task(&b, start, 1, false, 0);
            for (size_t i = 0; i < b.out.starts.n; i++)
                array_push(&running, b.out.starts.at[i]);
            answer(&b);
            done++;
        }
        if (round % 10 == 9)
            timer(&b, (struct sched_timer){b.now, TIMER_MONITOR, 0});
        if (round % 7 == 6)
            message(&b, (struct sched_message){.kind = SCHED_STEAL, .from = 1, .to = 0}, NULL);
        for (size_t i = 0; i < b.out.starts.n && round >= 40; i++)
            array_push(&running, b.out.starts.at[i]);
    }
    struct sched_counts c = look(&b);
    given = c.pushed + c.given;
    is_int(done + given + c.at[SCHED_LREADYQ] + c.at[SCHED_SREADYQ], 200,
           "%s: of 200 tasks %llu ran here, %llu went to others", row->name,
           (unsigned long long)done, (unsigned long long)given);
    array_free(&running);
    bed_free(&b);
}

/* `document`: docs/scheduler.md, or another text with a table of policies. */
static void conform(const struct policy *row, const char *document)
{
    conform_texts(row, document);
    conform_functions(row);
    conform_run(row);
}

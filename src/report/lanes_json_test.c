/* The page's Gantt: boxes while they are few, columns when they are many, cores folded, curves of what ran at once. */
#include "report/lanes_json.h"
#include "base/json.h"
#include "base/mem.h"
#include "model/builder.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Of `n` tasks, one with a hostile name. */
static struct workflow *names_of(uint32_t n)
{
    struct builder *b = builder_new("test", "test");
    for (uint32_t t = 0; t < n; t++) {
        char name[32];
        int length = t == 1 ? snprintf(name, sizeof name, "</script>\"")
                            : snprintf(name, sizeof name, "t%u", t);
        builder_task(b, name, (size_t)length, 0);
    }
    return builder_finish(b, NULL);
}

static json_ref member(const struct json *j, const char *key)
{
    return json_get(j, 0, key);
}

static size_t length(const struct json *j, json_ref array)
{
    size_t n = 0;
    for (json_ref v = json_first(j, array); v != JSON_NONE; v = json_next_element(j, array, v))
        n++;
    return n;
}

static void few(void)
{
    struct lanes_attempt a[] = {
        {.start = 0, .finish = 2, .memory = 100, .task = 0, .lane = 1},
        {.start = 1, .finish = 2, .memory = 50, .task = 1, .lane = 0, .state = 1},
        {.start = 2, .finish = 4, .task = 2, .node = 3, .lane = 0, .state = 2},
    };
    struct lanes_options o = {.from = 0, .to = 4, .end = 4, .columns = 100, .names = names_of(3)};
    struct strbuf out = {0};
    struct json j;
    struct error err = {0};
    lanes_json(a, 3, &o, &out);
    ok(json_parse(&j, "lanes", out.at, out.n, &err), "it is JSON, whatever tasks are called");
    is_int(length(&j, member(&j, "lanes")), 3, "three cores of two nodes");
    is_int(length(&j, member(&j, "boxes")), 3, "three boxes");
    ok(member(&j, "cells") == JSON_NONE, "and no columns");
    is_int(length(&j, member(&j, "load")), LANES_CURVE, "a curve");
    json_ref load = member(&j, "load"), first = json_first(&j, load);
    ok(json_number(&j, first) == 1, "one core works at first");
    json_ref memory = json_first(&j, member(&j, "memory"));
    ok(json_number(&j, memory) == 100, "with its memory");
    double most = 0, last = -1;
    json_ref curve = member(&j, "memory");
    for (json_ref m = json_first(&j, curve); m != JSON_NONE; m = json_next_element(&j, curve, m)) {
        last = json_number(&j, m);
        most = most > last ? most : last;
    }
    ok(most == 150 && last == 0, "memory of what ran at once is added, and of nothing else");
    json_free(&j);
    strbuf_clear(&out);
    o.from = 2.5;
    lanes_json(a, 3, &o, &out);
    ok(json_parse(&j, "lanes", out.at, out.n, &err), "a part");
    is_int(length(&j, member(&j, "boxes")), 1, "has what is seen");
    is_int(length(&j, member(&j, "lanes")), 3, "and every lane, so that nothing jumps");
    json_free(&j);
    strbuf_free(&out);
    workflow_free((struct workflow *)o.names);
}

static void many(void)
{
    enum { N = 50000, CORES = 1000 };
    struct lanes_attempt *a = mem_new_zero(struct lanes_attempt, N);
    for (uint32_t i = 0; i < N; i++)
        a[i] = (struct lanes_attempt){.start = i / CORES,
                                      .finish = i / CORES + 1,
                                      .task = i,
                                      .node = i % CORES / 10,
                                      .lane = i % 10,
                                      .colour = (uint8_t)(i / CORES % 2)};
    a[7].state = 1;
    struct lanes_options o = {.from = 0, .to = 50, .end = 50, .columns = 200, .names = names_of(3)};
    struct strbuf out = {0};
    struct json j;
    struct error err = {0};
    lanes_json(a, N, &o, &out);
    ok(json_parse(&j, "lanes", out.at, out.n, &err), "fifty thousand");
    ok(member(&j, "boxes") == JSON_NONE, "are no boxes");
    json_ref cells = member(&j, "cells");
    size_t n = length(&j, cells);
    ok(n > 250 * 49 && n < 250 * 60, "but columns, equal neighbours joined");
    is_int(length(&j, member(&j, "lanes")), 250, "four cores are a lane");
    bool failed = false;
    for (json_ref c = json_first(&j, cells); c != JSON_NONE; c = json_next_element(&j, cells, c)) {
        json_ref v = json_first(&j, c);
        for (int k = 0; k < 3; k++)
            v = json_next_element(&j, c, v);
        failed = failed || json_number(&j, v) == 9;
    }
    ok(failed, "the one that failed is seen");
    double sum = 0, most = 0;
    json_ref stack = member(&j, "stack");
    for (json_ref row = json_first(&j, stack); row != JSON_NONE;
         row = json_next_element(&j, stack, row)) {
        json_ref v = json_first(&j, row); /* its colour */
        for (v = json_next_element(&j, row, v); v != JSON_NONE; v = json_next_element(&j, row, v)) {
            sum += json_number(&j, v);
            most = json_number(&j, v) > most ? json_number(&j, v) : most;
        }
    }
    is_int(length(&j, stack), 3, "stacked by kind: two, and what failed");
    ok(fabs(sum / LANES_CURVE - CORES) < 1 && most <= CORES + 1,
       "all cores were at work all the time: %.3f", sum / LANES_CURVE);
    json_free(&j);
    strbuf_clear(&out);
    lanes_json(a, 0, &o, &out);
    ok(json_parse(&j, "lanes", out.at, out.n, &err), "nothing at all");
    is_int(length(&j, member(&j, "lanes")), 0, "has no lanes");
    json_free(&j);
    strbuf_free(&out);
    workflow_free((struct workflow *)o.names);
    free(a);
}

int main(void)
{
    few();
    many();
    return tap_done();
}

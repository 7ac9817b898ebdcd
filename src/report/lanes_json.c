/* lanes_json.h: lanes are numbered by node and core, boxes are told while they are few, columns otherwise.
 *
 *     attempts ──▶ lanes (sorted node, core; folded to LANES_MOST) ──▶ seen part ──▶ few: boxes │ many: a histogram of columns
 *              └─▶ curves: time x cores, and memory, spread over LANES_CURVE parts of the whole time */
#include "report/lanes_json.h"
#include "base/array.h"
#include "base/json.h"
#include "base/mem.h"
#include "report/kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct lanes_core {
    uint32_t node, core;
};

struct lane_table {
    struct lanes_core *at; /* sorted; every core that worked */
    uint32_t n, fold;      /* `fold` of them are one lane */
};

static int lane_order(const void *a, const void *b)
{
    const struct lanes_core *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->core > y->core) - (x->core < y->core);
}

/* Cores are few beside attempts: each is looked up where its hash saw it last, and among all only when another one did. */
static void lane_table_of(struct lane_table *t, const struct lanes_attempt *a, size_t n)
{
    enum { SEEN = 1 << 16 };
    ARRAY(struct lanes_core) found = {0};
    uint32_t *seen = mem_new_zero(uint32_t, SEEN); /* place in `found` plus 1 */
    for (size_t i = 0; i < n; i++) {
        uint32_t *place = &seen[(a[i].node * 8191 + a[i].lane) % SEEN];
        struct lanes_core key = {a[i].node, a[i].lane};
        if (*place && lane_order(&found.at[*place - 1], &key) == 0)
            continue;
        size_t k = 0;
        while (k < found.n && lane_order(&found.at[k], &key) != 0)
            k++;
        if (k == found.n)
            array_push(&found, key);
        *place = (uint32_t)k + 1;
    }
    free(seen);
    if (found.n)
        qsort(found.at, found.n, sizeof *found.at, lane_order);
    t->at = found.at;
    t->n = (uint32_t)found.n;
    t->fold = (t->n + LANES_MOST - 1) / LANES_MOST;
    t->fold = t->fold ? t->fold : 1;
}

/* Every core of an attempt is in the table, which was made from the same attempts: the search finds it. */
static uint32_t lane_number(const struct lane_table *t, const struct lanes_attempt *a)
{
    struct lanes_core key = {a->node, a->lane};
    const struct lanes_core *found = bsearch(&key, t->at, t->n, sizeof key, lane_order);
    return found ? (uint32_t)(found - t->at) / t->fold : 0;
}

/* The first core of each lane names it; how many it stands for is told beside. */
static void lanes_put_table(const struct lane_table *t, struct json_writer *j)
{
    json_write_key(j, "lanes");
    json_write_array(j);
    for (uint32_t i = 0; i < t->n; i += t->fold) {
        json_write_object(j);
        json_put_number(j, "node", t->at[i].node);
        json_put_number(j, "core", t->at[i].core);
        json_put_number(j, "cores", t->n - i < t->fold ? t->n - i : t->fold);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

/* What is not seen is left out; a box that reaches in from outside is told whole, so that the page can say how long it took. */
static void lanes_put_boxes(const struct lane_table *t, const struct lanes_attempt *a, size_t n,
                            const struct lanes_options *o, struct json_writer *j)
{
    json_write_key(j, "boxes");
    json_write_array(j);
    for (size_t i = 0; i < n; i++) {
        if (a[i].finish < o->from || a[i].start > o->to)
            continue;
        json_write_array(j);
        json_write_number(j, lane_number(t, &a[i]));
        json_write_number(j, a[i].start);
        json_write_number(j, a[i].finish);
        json_write_number(j, a[i].colour);
        json_write_number(j, a[i].state);
        json_write_number(j, a[i].task);
        json_write_string(j, workflow_task_name(o->names, a[i].task));
        json_write_end_array(j);
    }
    json_write_end_array(j);
}

enum { CELL_KINDS = KINDS_SHOWN + 2 }; /* kinds, other, failed */

/* Time that each colour took in each column of each lane. */
static float *lanes_fill_cells(const struct lane_table *t, uint32_t lanes,
                               const struct lanes_attempt *a, size_t n,
                               const struct lanes_options *o)
{
    float *cell = mem_new_zero(float, (size_t)lanes * o->columns * CELL_KINDS);
    double width = (o->to - o->from) / o->columns;
    for (size_t i = 0; i < n; i++) {
        double start = fmax(a[i].start, o->from), finish = fmin(a[i].finish, o->to);
        if (finish < start)
            continue;
        size_t lane = lane_number(t, &a[i]);
        size_t kind = a[i].state == 1 ? CELL_KINDS - 1 : a[i].colour;
        for (size_t c = (size_t)((start - o->from) / width);
             c < o->columns && o->from + (double)c * width <= finish; c++) {
            double left = o->from + (double)c * width;
            double part = fmin(finish, left + width) - fmax(start, left);
            cell[(lane * o->columns + c) * CELL_KINDS + kind] += (float)fmax(part, 0);
        }
    }
    return cell;
}

/* The colour of a column, and which share of it anything took; a failure shows, however short. */
static int lanes_cell_colour(const float *cell, double whole, double *share)
{
    int most = -1;
    double sum = 0;
    for (int k = 0; k < CELL_KINDS; k++) {
        sum += (double)cell[k];
        if (cell[k] > 0 && (most < 0 || cell[k] > cell[most]))
            most = k;
    }
    if (cell[CELL_KINDS - 1] > 0)
        most = CELL_KINDS - 1;
    *share = whole > 0 ? round(fmin(1, sum / whole) * 20) / 20 : 0;
    return most;
}

/* Equal neighbours become one cell: a core that did one kind of thing all the time is one, however many columns there are. */
static void lanes_put_cells(const struct lane_table *t, const struct lanes_attempt *a, size_t n,
                            const struct lanes_options *o, struct json_writer *j)
{
    uint32_t lanes = (t->n + t->fold - 1) / t->fold;
    float *cell = lanes_fill_cells(t, lanes, a, n, o);
    double width = (o->to - o->from) / o->columns;
    json_write_key(j, "cells");
    json_write_array(j);
    for (uint32_t l = 0; l < lanes; l++) {
        for (uint32_t c = 0, next; c < o->columns; c = next) {
            double share, other;
            const float *row = cell + (size_t)l * o->columns * CELL_KINDS;
            int colour = lanes_cell_colour(row + (size_t)c * CELL_KINDS, width * t->fold, &share);
            for (next = c + 1; next < o->columns; next++) {
                if (lanes_cell_colour(row + (size_t)next * CELL_KINDS, width * t->fold, &other) !=
                        colour ||
                    other != share)
                    break;
            }
            if (colour < 0)
                continue;
            json_write_array(j);
            json_write_number(j, l);
            json_write_number(j, o->from + c * width);
            json_write_number(j, o->from + next * width);
            json_write_number(j, colour);
            json_write_number(j, share);
            json_write_end_array(j);
        }
    }
    json_write_end_array(j);
    free(cell);
}

/* Spread over parts of the whole time: `memory` false: cores at work, true: bytes. */
static void lanes_put_curve(const char *name, bool memory, const struct lanes_attempt *a, size_t n,
                            double end, struct json_writer *j)
{
    double *part = mem_new_zero(double, LANES_CURVE), width = end > 0 ? end / LANES_CURVE : 1;
    for (size_t i = 0; i < n; i++) {
        double weight = memory ? a[i].memory : 1;
        for (size_t c = (size_t)fmax(0, a[i].start / width);
             c < LANES_CURVE && (double)c * width <= a[i].finish && weight > 0; c++) {
            double left = (double)c * width;
            part[c] +=
                weight * fmax(0, fmin(a[i].finish, left + width) - fmax(a[i].start, left)) / width;
        }
    }
    json_write_key(j, name);
    json_write_array(j);
    for (size_t c = 0; c < LANES_CURVE; c++)
        json_write_number(j, memory ? round(part[c]) : round(part[c] * 1000) / 1000);
    json_write_end_array(j);
    free(part);
}

/* Bytes that stand there after each part of the whole time: what tasks that have ended wrote. */
static void lanes_put_written(const struct lanes_attempt *a, size_t n, double end,
                              struct json_writer *j)
{
    double *part = mem_new_zero(double, LANES_CURVE), width = end > 0 ? end / LANES_CURVE : 1;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (a[i].state == 0 && a[i].written > 0)
            part[(size_t)fmin(LANES_CURVE - 1, fmax(0, a[i].finish / width))] += a[i].written;
    }
    json_write_key(j, "written");
    json_write_array(j);
    for (size_t c = 0; c < LANES_CURVE; c++)
        json_write_number(j, round(sum += part[c]));
    json_write_end_array(j);
    free(part);
}

/* Bytes a second on their way, over the whole time. One that took no time is spread over its part. */
static void lanes_put_moved(const struct lanes_options *o, struct json_writer *j)
{
    double *part = mem_new_zero(double, LANES_CURVE), width = o->end > 0 ? o->end / LANES_CURVE : 1;
    for (size_t i = 0; i < o->transfers; i++) {
        const struct lanes_transfer *t = &o->transfer[i];
        double took = t->finish - t->start;
        size_t first = (size_t)fmin(LANES_CURVE - 1, fmax(0, t->start / width));
        if (took < width) {
            part[first] += t->bytes / width;
            continue;
        }
        for (size_t c = first; c < LANES_CURVE && (double)c * width <= t->finish; c++) {
            double left = (double)c * width;
            double share = fmax(0, fmin(t->finish, left + width) - fmax(t->start, left)) / took;
            part[c] += t->bytes * share / width;
        }
    }
    json_write_key(j, "moved");
    json_write_array(j);
    for (size_t c = 0; c < LANES_CURVE; c++)
        json_write_number(j, round(part[c]));
    json_write_end_array(j);
    free(part);
}

static bool lanes_sees(const struct lanes_options *o, const struct lanes_transfer *t)
{
    return t->finish >= o->from && t->start <= o->to;
}

static void lanes_put_transfers(const struct lanes_options *o, struct json_writer *j)
{
    size_t seen = 0;
    for (size_t i = 0; i < o->transfers; i++)
        seen += lanes_sees(o, &o->transfer[i]);
    if (seen > LANES_LINES)
        return; /* lines upon lines */
    json_write_key(j, "transfers");
    json_write_array(j);
    for (size_t i = 0; i < o->transfers; i++) {
        const struct lanes_transfer *t = &o->transfer[i];
        if (!lanes_sees(o, t))
            continue;
        json_write_array(j);
        json_write_number(j, t->from == NONE ? -1 : (double)t->from);
        json_write_number(j, t->to);
        json_write_number(j, t->start);
        json_write_number(j, t->finish);
        json_write_number(j, t->bytes);
        json_write_end_array(j);
    }
    json_write_end_array(j);
}

/* Many bars are stripes: how many cores each kind held says more. */
static void lanes_put_stack(const struct lanes_attempt *a, size_t n, const struct lanes_options *o,
                            struct json_writer *j)
{
    double *part = mem_new_zero(double, (size_t)LANES_CURVE *CELL_KINDS);
    bool used[CELL_KINDS] = {0};
    double width = (o->to - o->from) / LANES_CURVE;
    for (size_t i = 0; i < n; i++) {
        double start = fmax(a[i].start, o->from), finish = fmin(a[i].finish, o->to);
        size_t kind = a[i].state == 1 ? CELL_KINDS - 1 : a[i].colour;
        for (size_t c = (size_t)fmax(0, (start - o->from) / width);
             finish >= start && c < LANES_CURVE && o->from + (double)c * width <= finish; c++) {
            double left = o->from + (double)c * width;
            double share = fmax(0, fmin(finish, left + width) - fmax(start, left)) / width;
            part[kind * LANES_CURVE + c] += share;
            used[kind] |= share > 0;
        }
    }
    json_write_key(j, "stack");
    json_write_array(j);
    for (size_t k = 0; k < CELL_KINDS; k++) {
        if (!used[k])
            continue;
        json_write_array(j);
        json_write_number(j, (double)k);
        for (size_t c = 0; c < LANES_CURVE; c++)
            json_write_number(j, round(part[k * LANES_CURVE + c] * 1000) / 1000);
        json_write_end_array(j);
    }
    json_write_end_array(j);
    free(part);
}

void lanes_json(const struct lanes_attempt *at, size_t n, const struct lanes_options *o,
                struct strbuf *out)
{
    struct json_writer j;
    struct lane_table t;
    size_t seen = 0;
    for (size_t i = 0; i < n; i++)
        seen += at[i].finish >= o->from && at[i].start <= o->to;
    lane_table_of(&t, at, n);
    json_write_start(&j, out, false);
    json_write_object(&j);
    json_put_number(&j, "end", o->end);
    json_put_number(&j, "from", o->from);
    json_put_number(&j, "to", o->to);
    json_put_number(&j, "seen", (double)seen);
    lanes_put_table(&t, &j);
    if (seen <= (o->most ? o->most : LANES_BOXES))
        lanes_put_boxes(&t, at, n, o, &j);
    else
        lanes_put_cells(&t, at, n, o, &j);
    if (seen > LANES_STACK)
        lanes_put_stack(at, n, o, &j);
    lanes_put_curve("load", false, at, n, o->end, &j);
    lanes_put_curve("memory", true, at, n, o->end, &j);
    lanes_put_written(at, n, o->end, &j);
    if (o->transfers) {
        lanes_put_moved(o, &j);
        lanes_put_transfers(o, &j);
    }
    json_write_end_object(&j);
    free(t.at);
}

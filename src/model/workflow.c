/* What can be asked of a frozen workflow: tasks and objects by name, labels of anonymous objects,
 * consumers; and the few columns that may be set later (priorities, predictions). Reading is safe
 * from several threads; setting is not. */
#include "model/workflow.h"
#include "model/memory_file.h"
#include "base/path.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "model/array_list.h"
#include "model/future.h"
#include "model/joins.h"
#include "model/things.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const workflow_hook_name[WORKFLOW_HOOKS + 1] = {"done", "failed", "task_failed", NULL};

/* Also a half-built one: what was never allocated is NULL. */
void workflow_free(struct workflow *w)
{
    if (!w)
        return;
    if (!w->object_off || w->object_end != w->object_off + 1)
        free(w->object_end);
    growth_free(w->growth);
    future_free(w->future);
    if (w->joins)
        array_free(&w->joins->at);
    free(w->joins);
#define WORKFLOW_ARRAY(name, count) free(w->name);
    WORKFLOW_ARRAYS
#undef WORKFLOW_ARRAY
    pool_free(&w->text);
    name_index_free(&w->task_index);
    name_index_free(&w->object_index);
    for (uint32_t i = 0; i < w->nwarnings; i++)
        free(w->warnings[i]);
    free(w->warnings);
    free(w);
}

void workflow_needs_text(const struct workflow *w, uint32_t task, struct strbuf *out)
{
    bool any = false;
    for (uint32_t i = 0; w->needs && i < w->nattributes; i++) {
        if (!(w->needs[task] >> i & 1))
            continue;
        strbuf_printf(out, "%s%s", any ? "," : "", workflow_text(w, w->attribute[i]));
        any = true;
    }
}

void workflow_resources_text(const struct workflow *w, uint32_t task, struct strbuf *out)
{
    const uint32_t *demand = workflow_demand(w, task);
    bool any = false;
    for (uint32_t i = 0; demand && i < w->nresources; i++) {
        if (!demand[i])
            continue;
        strbuf_printf(out, "%s%s=", any ? "," : "", workflow_text(w, w->resource[i]));
        thing_amount_text(demand[i], out);
        any = true;
    }
}

uint32_t workflow_find_resource(const struct workflow *w, const char *name)
{
    for (uint32_t i = 0; i < w->nresources; i++)
        if (strcmp(workflow_text(w, w->resource[i]), name) == 0)
            return i;
    return NONE;
}

/* O(words x attributes), both few. */
/* {in[2]} as the file's name; braces that are text stand twice in the condition, once here. */
void workflow_when_text(const struct workflow *w, uint32_t task, struct strbuf *out)
{
    char label[512];
    const char *at = w->when ? workflow_text(w, w->when[task]) : "";
    for (uint32_t place; *at;) {
        int length = 0;
        bool file = sscanf(at, "{in[%u]}%n", &place, &length) == 1 && length && w->in_off &&
                    place < w->in_off[task + 1] - w->in_off[task];
        bool twice = (*at == '{' || *at == '}') && at[1] == *at;
        if (file)
            strbuf_add(out, workflow_object_label(w, w->in_object[w->in_off[task] + place], label,
                                                  sizeof label));
        else
            strbuf_add_char(out, *at);
        at += file ? length : twice ? 2 : 1;
    }
    strbuf_add(out, "");
}

bool workflow_decides(const struct workflow *w)
{
    bool decides = w->when || w->in_optional;
    for (uint32_t t = 0; t < w->ntasks && !decides; t++)
        decides = w->flags[t] & TASK_MAY_FAIL;
    return decides;
}

uint64_t workflow_attribute_mask(const struct workflow *w, const char *list)
{
    uint64_t mask = 0;
    for (const char *at = list; at && *at;) {
        at += strspn(at, ", ");
        size_t n = strcspn(at, ", ");
        for (uint32_t i = 0; i < w->nattributes; i++) {
            const char *word = workflow_text(w, w->attribute[i]);
            if (strlen(word) == n && memcmp(word, at, n) == 0)
                mask |= UINT64_C(1) << i;
        }
        at += n;
    }
    return mask;
}

uint32_t workflow_first_wide(const struct workflow *w)
{
    for (uint32_t t = 0; w->nodes && t < w->ntasks; t++)
        if (w->nodes[t] > 1)
            return t;
    return NONE;
}

uint32_t workflow_find_task(const struct workflow *w, const char *name)
{
    return name_index_find(&w->task_index, &w->text, w->task_name, name, strlen(name));
}

/* An anonymous object from one task to another. The edges into a task are sorted by producer. */
static uint32_t find_between(const struct workflow *w, uint32_t from, uint32_t to)
{
    uint32_t lo = w->pred_off[to], hi = w->pred_off[to + 1], end = hi;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (w->pred_task[mid] < from)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < end && w->pred_task[lo] == from; lo++)
        if (w->pred_object[lo] != NONE && !w->object_name[w->pred_object[lo]])
            return w->pred_object[lo];
    return NONE;
}

/* By name, O(1); a label costs a look-up for each arrow in it. */
/* Under another spelling, with or without the slash of a folder. */
static uint32_t find_spelled(const struct workflow *w, const char *name)
{
    struct strbuf text = {0};
    path_add_canonical(name, strlen(name), &text);
    uint32_t found = name_index_find(&w->object_index, &w->text, w->object_name, text.at, text.n);
    if (found == NONE && text.n > 1) {
        if (text.at[text.n - 1] == '/')
            text.n--;
        else
            strbuf_add_char(&text, '/');
        found = name_index_find(&w->object_index, &w->text, w->object_name, text.at, text.n);
    }
    strbuf_free(&text);
    return found;
}

uint32_t workflow_find_object(const struct workflow *w, const char *name)
{
    uint32_t found =
        name_index_find(&w->object_index, &w->text, w->object_name, name, strlen(name));
    if (found == NONE && *name)
        found = find_spelled(w, name);
    if (found != NONE)
        return found;
    /* A label "producer->consumer"; task names may hold arrows themselves, so try each. */
    for (const char *arrow = strstr(name, "->"); arrow; arrow = strstr(arrow + 1, "->")) {
        uint32_t from =
            name_index_find(&w->task_index, &w->text, w->task_name, name, (size_t)(arrow - name));
        uint32_t to = workflow_find_task(w, arrow + 2);
        if (from != NONE && to != NONE) {
            found = find_between(w, from, to);
            if (found != NONE)
                return found;
        }
    }
    return NONE;
}

/* In memory by its number and the end of its name: short, and one file each. */
const char *workflow_object_label(const struct workflow *w, uint32_t object, char *buffer,
                                  size_t size)
{
    char plain[512];
    if (!workflow_in_memory_file(w, object))
        return workflow_object_name(w, object, buffer, size);
    const char *name = workflow_object_name(w, object, plain, sizeof plain);
    const char *last = strrchr(name, '/');
    snprintf(buffer, size, MEMORY_FILES "/%u.%.64s", object, last ? last + 1 : name);
    return buffer;
}

const char *workflow_object_name(const struct workflow *w, uint32_t object, char *buffer,
                                 size_t size)
{
    if (w->object_name[object])
        return workflow_text(w, w->object_name[object]);
    snprintf(buffer, size, "%s->%s", workflow_task_name(w, w->producer[object]),
             workflow_task_name(w, w->succ_task[w->object_edge[object]]));
    return buffer;
}

/* O(log consumers) for objects that a task makes; for inputs of the workflow, a walk to the next
 * input that is read. */
const uint32_t *workflow_consumers(const struct workflow *w, uint32_t object, uint32_t *count)
{
    uint32_t first = w->object_edge[object];
    *count = 0;
    if (first == NONE)
        return NULL;
    if (w->producer[object] == NONE) {
        uint32_t end = w->ninputs;
        for (uint32_t o = object + 1; o < w->nobjects; o++)
            if (w->producer[o] == NONE && w->object_edge[o] != NONE) { /* others: of a later part */
                end = w->object_edge[o];
                break;
            }
        *count = end - first;
        return w->input_task + first;
    }
    /* An object's edges stand together, so the end of them is found by doubling and halving steps:
     * callers ask for each of two hundred thousand edges how many there are. */
    uint32_t end = w->succ_off[w->producer[object] + 1], step = 1;
    uint32_t last = first;
    for (; end - last > step && w->succ_object[last + step] == object; step *= 2)
        last += step;
    for (; step; step /= 2)
        if (end - last > step && w->succ_object[last + step] == object)
            last += step;
    *count = last + 1 - first;
    return w->succ_task + first;
}

/* An array is copied, so that the caller's may be on its stack. */
void workflow_set_priorities(struct workflow *w, const double *priority)
{
    free(w->priority);
    w->priority = NULL;
    if (!priority || !w->ntasks)
        return;
    w->priority = mem_new(double, w->ntasks);
    memcpy(w->priority, priority, w->ntasks * sizeof *priority);
}

void workflow_set_work(struct workflow *w, const double *work, const double *memory)
{
    for (uint32_t t = 0; t < w->ntasks; t++) {
        if (!isnan(work[t]))
            w->work[t] = work[t];
        if (memory && !isnan(memory[t]))
            w->memory[t] = memory[t];
    }
}

/* Producers in increasing order, so each consumer's list comes out sorted. */
void workflow_index_predecessors(struct workflow *w)
{
    uint32_t n = w->ntasks;
    free(w->pred_off);
    free(w->pred_task);
    free(w->pred_object);
    w->pred_off = mem_new_zero(uint32_t, (size_t)n + 1);
    w->pred_task = mem_new(uint32_t, w->nedges);
    w->pred_object = mem_new(uint32_t, w->nedges);
    for (uint32_t e = 0; e < w->nedges; e++)
        w->pred_off[w->succ_task[e] + 1]++;
    for (uint32_t t = 0; t < n; t++)
        w->pred_off[t + 1] += w->pred_off[t];
    uint32_t *next = mem_new(uint32_t, (size_t)n + 1);
    memcpy(next, w->pred_off, ((size_t)n + 1) * sizeof *next);
    for (uint32_t t = 0; t < n; t++)
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++) {
            uint32_t slot = next[w->succ_task[e]]++;
            w->pred_task[slot] = t;
            w->pred_object[slot] = w->succ_object[e];
        }
    free(next);
}

/* Kahn's algorithm; the queue is the result. */
uint32_t *workflow_sort(struct workflow *w)
{
    uint32_t n = w->ntasks, head = 0, tail = 0;
    uint32_t *left = mem_new(uint32_t, (size_t)n + 1);
    for (uint32_t t = 0; t < n; t++) {
        left[t] = w->pred_off[t + 1] - w->pred_off[t];
        if (!left[t])
            w->topo[tail++] = t;
    }
    while (head < tail) {
        uint32_t t = w->topo[head++];
        for (uint32_t e = w->succ_off[t]; e < w->succ_off[t + 1]; e++)
            if (!--left[w->succ_task[e]])
                w->topo[tail++] = w->succ_task[e];
    }
    if (tail < n)
        return left;
    free(left);
    return NULL;
}

/* An estimate from the columns' lengths: what `weft show` reports. */
size_t workflow_bytes(const struct workflow *w)
{
    size_t n = w->ntasks, m = w->nedges, o = w->nobjects;
    size_t bytes = sizeof *w + w->text.cap;
    bytes += n * (2 * sizeof(double) + 3 * sizeof(uint32_t) + 1 + 3 * sizeof(uint32_t) +
                  sizeof(uint32_t)); /* columns, three offsets, topo */
    bytes += m * 4 * sizeof(uint32_t);
    bytes += o * (sizeof(double) + 3 * sizeof(uint32_t));
    bytes += w->line ? n * sizeof *w->line : 0;
    bytes += w->command ? n * sizeof *w->command : 0;
    bytes += w->shell ? n * sizeof *w->shell : 0;
    bytes += w->needs ? n * sizeof *w->needs : 0;
    bytes += w->asks ? n * sizeof *w->asks : 0;
#define TEXT_BYTES(name) bytes += w->name ? n * sizeof *w->name : 0;
    TASK_TEXTS(TEXT_BYTES)
#undef TEXT_BYTES
#define FIELD_BYTES(name, ...) bytes += w->name ? n * sizeof *w->name : 0;
    TASK_COLUMNS(COLUMN_SKIP, FIELD_BYTES, COLUMN_SKIP)
#undef FIELD_BYTES
    bytes += w->time_off ? n * sizeof *w->time_off + w->time_off[n] * sizeof *w->time : 0;
    bytes += w->input_off ? (n + 2) * sizeof(uint32_t) + w->ninputs * 2 * sizeof(uint32_t) : 0;
    bytes += ((size_t)w->task_index.mask + 1 + w->object_index.mask + 1) * sizeof(struct name_slot);
    return bytes;
}

const char *workflow_display_name(const struct workflow *w, char *buffer, size_t size)
{
    if (w->name)
        return workflow_text(w, w->name);
    const char *base = file_basename(workflow_text(w, w->file));
    size_t len = strcspn(base, ".");
    snprintf(buffer, size, "%.*s", (int)(len ? len : strlen(base)), base);
    return buffer;
}

struct workflow *workflow_take_lines(struct workflow *w, const struct workflow *from)
{
    bool same = w->ntasks == from->ntasks && w->line && from->line;
    for (uint32_t t = 0; same && t < w->ntasks; t++)
        w->line[t] = from->line[t];
    for (uint32_t i = 0; w->nassertions == from->nassertions && i < w->nassertions; i++)
        w->assertion_line[i] = from->assertion_line[i];
    return w;
}

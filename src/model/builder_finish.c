/* Freezing: resolve names, number objects by producer, sort edges into CSR, look for cycles.
 * O(tasks + edges) but for sorting each task's edges.
 *
 *     readings (task, object)   \    keys: object << 32 | consumer,
 *                                >-  grouped by producer, sorted   -->  succ_*, then pred_*
 *     orderings (from, to)      /    (ordering: object NONE, last) */
#include "base/strbuf.h"
#include "base/plural.h"
#include "model/builder_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Orderings by names that were not there when they were read. */
static void resolve_names(struct builder *b)
{
    for (size_t i = 0; i < b->named.n && !builder_failed(b); i++) {
        struct named_ordering *e = &b->named.at[i];
        str_id ends[2] = {e->from, e->to};
        uint32_t task[2];
        for (int k = 0; k < 2; k++) {
            const char *name = pool_text(&b->w->text, ends[k]);
            task[k] = builder_find_task(b, name, strlen(name));
            if (task[k] == NONE)
                builder_error(b, e->line, "there is no task '%s', which %s '%s' refers to", name,
                              k ? "the successor list of" : "the predecessor list of",
                              pool_text(&b->w->text, ends[1 - k]));
        }
        if (task[0] != NONE && task[1] != NONE)
            builder_edge(b, task[0], task[1], e->line);
    }
}

/* A slash at the end of the names of folders: said once, it counts for every mention. */
static void name_folders(struct builder *b)
{
    struct strbuf name = {0};
    for (size_t i = 0; i < b->folders.n; i++) {
        str_id *id = &b->object_name.at[b->folders.at[i]];
        strbuf_clear(&name);
        strbuf_add(&name, pool_text(&b->w->text, *id));
        if (name.at[name.n - 1] == '/')
            continue;
        strbuf_add_char(&name, '/');
        *id = pool_add(&b->w->text, name.at, name.n);
    }
    strbuf_free(&name);
}

/* Which objects stay: those somebody makes or reads, and of several anonymous ones between two
 * tasks the first. Fills `number` with new numbers by producer, inputs last; NONE for those
 * dropped. */
static uint32_t renumber_objects(struct builder *b, uint32_t *number)
{
    size_t n = b->object_name.n, ntasks = b->task_name.n;
    uint8_t *stays = mem_new_zero(uint8_t, n);
    for (size_t i = 0; i < b->readings.n; i++)
        stays[b->readings.at[i].object] = 1;
    /* by producer: a counting sort keeps the order of first mention within a producer */
    uint32_t *at = mem_new_zero(uint32_t, ntasks + 2);
    uint32_t *sorted = mem_new(uint32_t, n);
    for (size_t o = 0; o < n; o++) {
        uint32_t p = b->producer.at[o];
        stays[o] |= p != NONE;
        at[(p == NONE ? ntasks : p) + 1]++;
    }
    for (size_t t = 0; t <= ntasks; t++)
        at[t + 1] += at[t];
    for (size_t o = 0; o < n; o++) {
        uint32_t p = b->producer.at[o];
        sorted[at[p == NONE ? ntasks : p]++] = (uint32_t)o;
    }
    uint32_t *seen = mem_new_zero(uint32_t, ntasks + 1), next = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t o = sorted[i], reader = b->only_reader.at[o], p = b->producer.at[o];
        if (reader != NONE && seen[reader] == p + 1) {
            builder_warn(b, 0, "the edge from '%s' to '%s' is there twice; the first stays",
                         builder_task_name(b, p), builder_task_name(b, reader));
            stays[o] = 0;
        } else if (reader != NONE) {
            seen[reader] = p + 1;
        }
        number[o] = stays[o] ? next++ : NONE;
    }
    free(seen);
    free(sorted);
    free(at);
    free(stays);
    return next;
}

static int builder_compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Most tasks have a few edges, for which insertion costs less than qsort's calls; what families read is
 * mostly sorted as they name it. */
static void sort_u64(uint64_t *at, size_t n)
{
    size_t sorted = n != 0;
    while (sorted < n && at[sorted - 1] <= at[sorted])
        sorted++;
    if (sorted == n)
        return;
    if (n > 24) {
        qsort(at, n, sizeof *at, builder_compare_keys);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        uint64_t x = at[i];
        size_t j = i;
        for (; j && at[j - 1] > x; j--)
            at[j] = at[j - 1];
        at[j] = x;
    }
}

/* The columns of objects in their new numbers, and in the index by name: made anew
 * where one of them is gone. */
static void move_objects(struct builder *b, struct workflow *w, const uint32_t *number)
{
    w->size = mem_new(double, w->nobjects);
    w->producer = mem_new(uint32_t, w->nobjects);
    w->object_name = mem_new(str_id, w->nobjects);
    w->object_off = mem_new_zero(uint32_t, (size_t)w->ntasks + 1);
    w->object_end = w->object_off + 1;
    for (size_t o = 0; o < b->object_name.n; o++) {
        uint32_t to = number[o];
        if (to == NONE)
            continue;
        w->size[to] = isnan(b->size.at[o]) ? 0 : b->size.at[o];
        w->producer[to] = b->producer.at[o];
        w->object_name[to] = b->object_name.at[o];
        if (w->producer[to] != NONE)
            w->object_off[w->producer[to] + 1]++;
    }
    for (uint32_t t = 0; t < w->ntasks; t++)
        w->object_off[t + 1] += w->object_off[t];
    name_index_settle(&w->task_index);
    name_index_settle(&w->object_index);
    /* folders have other names since they were entered */
    if (!b->folders.n && name_index_renumber(&w->object_index, number))
        return;
    name_index_free(&w->object_index);
    name_index_init(&w->object_index);
    for (uint32_t o = 0; o < w->nobjects; o++)
        if (w->object_name[o])
            name_index_add(&w->object_index, &w->text, w->object_name, o);
}

/* Edges out of each task, sorted by (object, consumer), each once; ordering edges that a data edge
 * makes needless are left out. keys: object << 32 | consumer, grouped by producer with offsets
 * `at`. Also counts joined pairs. */
static void compact_edges(struct workflow *w, uint64_t *keys, uint32_t *at)
{
    uint32_t *seen = mem_new_zero(uint32_t, (size_t)w->ntasks + 1);
    uint32_t out = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        uint32_t from = at[t], to = at[t + 1];
        sort_u64(keys + from, to - from);
        w->succ_off[t] = out;
        for (uint32_t i = from; i < to; i++) {
            uint32_t object = (uint32_t)(keys[i] >> 32), consumer = (uint32_t)keys[i];
            bool joined = seen[consumer] == t + 1;
            if ((i > from && keys[i] == keys[i - 1]) || (object == NONE && joined))
                continue;
            w->npairs += !joined;
            seen[consumer] = t + 1;
            keys[out++] = keys[i]; /* out never passes i */
        }
    }
    w->succ_off[w->ntasks] = w->nedges = out;
    free(seen);
}

/* Sorted keys taken apart: the edges by producer with the first edge of each object, then the same
 * edges by consumer. */
static void split_edges(struct workflow *w, const uint64_t *keys)
{
    w->succ_task = mem_new(uint32_t, w->nedges);
    w->succ_object = mem_new(uint32_t, w->nedges);
    w->object_edge = mem_new(uint32_t, w->nobjects);
    for (uint32_t o = 0; o < w->nobjects; o++)
        w->object_edge[o] = NONE;
    for (uint32_t e = 0; e < w->nedges; e++) {
        uint32_t object = (uint32_t)(keys[e] >> 32);
        w->succ_task[e] = (uint32_t)keys[e];
        w->succ_object[e] = object;
        if (object != NONE && w->object_edge[object] == NONE)
            w->object_edge[object] = e;
    }
    workflow_index_predecessors(w);
}

/* Edges as keys (object << 32 | consumer), grouped by producer with a counting sort, sorted
 * within each, then both directions of CSR. An edge without data has object NONE, the largest
 * number, and so stands last. */
static void build_edges(struct builder *b, struct workflow *w, const uint32_t *number)
{
    uint64_t total = b->orderings.n + b->readings.n;
    if (total >= NONE) {
        builder_error(b, 0, "more than %u edges", NONE - 1);
        return;
    }
    uint32_t n = w->ntasks;
    uint32_t *at = mem_new_zero(uint32_t, (size_t)n + 2);
    for (size_t i = 0; i < b->readings.n; i++) {
        struct builder_reading r = b->readings.at[i];
        uint32_t p = b->producer.at[r.object];
        if (p == r.task) {
            builder_error(b, b->line.at[p], "task '%s' reads its own output '%s'",
                          builder_task_name(b, p), builder_object_name(b, r.object));
            free(at);
            return;
        }
        if (p != NONE && number[r.object] != NONE)
            at[p + 2]++;
    }
    for (size_t i = 0; i < b->orderings.n; i++)
        at[b->orderings.at[i].from + 2]++;
    for (uint32_t t = 0; t < n; t++)
        at[t + 2] += at[t + 1];
    uint64_t *keys = mem_new(uint64_t, at[n + 1]);
    for (size_t i = 0; i < b->readings.n; i++) {
        struct builder_reading r = b->readings.at[i];
        uint32_t p = b->producer.at[r.object];
        if (p != NONE && number[r.object] != NONE)
            keys[at[p + 1]++] = (uint64_t)number[r.object] << 32 | r.task;
    }
    for (size_t i = 0; i < b->orderings.n; i++)
        keys[at[b->orderings.at[i].from + 1]++] = (uint64_t)NONE << 32 | b->orderings.at[i].to;

    /* duplicates go, then the keys are taken apart into columns */
    w->succ_off = mem_new(uint32_t, (size_t)n + 1);
    compact_edges(w, keys, at);
    free(at);
    split_edges(w, keys);
    free(keys);
}

/* Objects that nobody makes: who reads them, both ways round. */
static void build_inputs(struct builder *b, struct workflow *w, const uint32_t *number)
{
    ARRAY(uint64_t) keys = {0};
    for (size_t i = 0; i < b->readings.n; i++) {
        struct builder_reading r = b->readings.at[i];
        if (b->producer.at[r.object] == NONE)
            array_push(&keys, (uint64_t)number[r.object] << 32 | r.task);
    }
    if (!keys.n) {
        array_free(&keys);
        return;
    }
    sort_u64(keys.at, keys.n);
    size_t n = 1;
    for (size_t i = 1; i < keys.n; i++)
        if (keys.at[i] != keys.at[i - 1])
            keys.at[n++] = keys.at[i];
    w->ninputs = (uint32_t)n;
    w->input_task = mem_new(uint32_t, n);
    w->input_object = mem_new(uint32_t, n);
    w->input_off = mem_new_zero(uint32_t, (size_t)w->ntasks + 2);
    for (size_t i = 0; i < n; i++) {
        uint32_t object = (uint32_t)(keys.at[i] >> 32), task = (uint32_t)keys.at[i];
        w->input_task[i] = task;
        if (w->object_edge[object] == NONE)
            w->object_edge[object] = (uint32_t)i;
        w->input_off[task + 2]++;
    }
    for (uint32_t t = 0; t < w->ntasks; t++)
        w->input_off[t + 2] += w->input_off[t + 1];
    for (size_t i = 0; i < n; i++)
        w->input_object[w->input_off[(uint32_t)keys.at[i] + 1]++] = (uint32_t)(keys.at[i] >> 32);
    array_free(&keys);
}

/* What a task makes, in the order of the file: what it names, what edges carry, what follows from
 * folders. */
static void keep_out_order(struct builder *b, struct workflow *w, const uint32_t *number)
{
    uint32_t n = w->ntasks, *next = mem_new(uint32_t, (size_t)n + 1);
    memcpy(next, w->object_off, ((size_t)n + 1) * sizeof *next);
    w->out_object = mem_new(uint32_t, w->nobjects);
    for (size_t i = 0; i < b->stated_made; i++)
        if (number[b->made.at[i]] != NONE)
            w->out_object[next[b->producer.at[b->made.at[i]]]++] = number[b->made.at[i]];
    for (size_t o = 0; o < b->object_name.n; o++) /* those of edges: never named by producers */
        if (number[o] != NONE && b->only_reader.at[o] != NONE)
            w->out_object[next[b->producer.at[o]]++] = number[o];
    for (size_t i = b->stated_made; i < b->made.n; i++)
        w->out_object[next[b->producer.at[b->made.at[i]]]++] = number[b->made.at[i]];
    free(next);
}

/* The readings of each task one after the other, in the order of the file, repeated ones too. */
static void group_readings(struct builder *b, struct workflow *w, const uint32_t *number)
{
    uint32_t n = w->ntasks;
    w->in_off = mem_new_zero(uint32_t, (size_t)n + 2);
    for (size_t i = 0; i < b->readings.n; i++)
        if (number[b->readings.at[i].object] != NONE)
            w->in_off[b->readings.at[i].task + 2]++;
    for (uint32_t t = 0; t < n; t++)
        w->in_off[t + 2] += w->in_off[t + 1];
    w->in_object = mem_new(uint32_t, w->in_off[n + 1]);
    for (size_t i = 0; i < b->readings.n; i++) {
        uint32_t o = number[b->readings.at[i].object];
        if (o != NONE)
            w->in_object[w->in_off[b->readings.at[i].task + 1]++] = o;
    }
}

/* How many of each task's readings, or outputs, the file states; NULL: all of them. */
static uint32_t *count_stated(const struct builder *b, const uint32_t *number, bool outputs)
{
    size_t stated = outputs ? b->stated_made : b->stated_readings;
    if (stated == (outputs ? b->made.n : b->readings.n))
        return NULL;
    uint32_t *count = mem_new_zero(uint32_t, b->task_name.n + 1);
    for (size_t i = 0; i < stated; i++) {
        uint32_t object = outputs ? b->made.at[i] : b->readings.at[i].object;
        if (number[object] != NONE)
            count[outputs ? b->producer.at[object] : b->readings.at[i].task]++;
    }
    return count;
}

/* {in} and {out} stand for files in the order of the file, which the sorted edges have lost. The model
 * has each object once a task: of one that is read twice the first stays, and the command is noted. */
static void keep_order(struct builder *b, struct workflow *w, const uint32_t *number)
{
    if (!b->command.n && !b->when.n && !b->optionals.n)
        return;
    keep_out_order(b, w, number);
    group_readings(b, w, number);
    uint32_t *in_stated = count_stated(b, number, false),
             *out_stated = count_stated(b, number, true);
    uint64_t *seen = mem_new_zero(uint64_t, w->nobjects); /* task + 1, place */
    uint32_t from = 0, to = 0;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        uint32_t end = w->in_off[t + 1], first = to, begun = from, kept = 0;
        uint32_t stated = in_stated ? in_stated[t] : end - from;
        uint32_t outputs = w->object_off[t + 1] - w->object_off[t];
        size_t places = b->naming_places.n;
        for (; from < end; from++) {
            uint32_t o = w->in_object[from];
            if (seen[o] >> 32 != t + 1) {
                seen[o] = (uint64_t)(t + 1) << 32 | (to - first);
                w->in_object[to++] = o;
            }
            if (from - begun < stated) {
                array_push(&b->naming_places, (uint32_t)seen[o]);
                kept = to - first;
            }
        }
        w->in_off[t + 1] = to;
        if (kept < stated || to - first > kept || (out_stated && out_stated[t] < outputs))
            array_push(&b->namings, (struct builder_naming){t, (uint32_t)places, stated,
                                                            out_stated ? out_stated[t] : outputs});
        else
            b->naming_places.n = places;
    }
    free(seen);
    free(in_stated);
    free(out_stated);
}

/* Put the list into the order that a reader stated; false: it is no permutation of it. */
static bool permute_list(uint32_t *list, uint32_t n, const uint32_t *place)
{
    uint32_t *old = mem_new(uint32_t, n);
    bool *used = mem_new_zero(bool, n), good = true;
    if (n)
        memcpy(old, list, n * sizeof *old);
    for (uint32_t i = 0; i < n && good; i++) {
        good = place[i] < n && !used[place[i]];
        if (good) {
            used[place[i]] = true;
            list[i] = old[place[i]];
        }
    }
    free(old);
    free(used);
    return good;
}

static void apply_permutations(struct builder *b, struct workflow *w)
{
    for (size_t i = 0; i < b->permutations.n && w->in_off; i++) {
        const struct permutation *p = &b->permutations.at[i];
        const uint32_t *off = (p->outputs ? w->object_off : w->in_off) + p->task;
        uint32_t *list = (p->outputs ? w->out_object : w->in_object) + off[0];
        if (p->n != off[1] - off[0] || !permute_list(list, p->n, b->places.at + p->first))
            builder_error(b, p->line, "task '%s': the order of its %s is not one of %u",
                          builder_task_name(b, p->task), p->outputs ? "outputs" : "inputs",
                          off[1] - off[0]);
    }
}

/* Does `name` lie in the folder `folder`, whose slash at the end may be missing? */
static bool lies_in(const char *name, const char *folder)
{
    size_t n = strlen(folder);
    n -= n && folder[n - 1] == '/';
    return strncmp(name, folder, n) == 0 && name[n] == '/' && name[n + 1];
}

/* Which inputs a task can do without: by their places in its list. */
static void mark_optional(struct builder *b, struct workflow *w, const uint32_t *number)
{
    if (!b->optionals.n)
        return;
    w->in_optional = mem_new_zero(uint8_t, w->in_off[w->ntasks]);
    for (size_t i = 0; i < b->optionals.n; i++) {
        uint32_t task = b->optionals.at[i].task, object = number[b->optionals.at[i].object];
        const char *name = builder_object_name(b, b->optionals.at[i].object);
        for (uint32_t k = w->in_off[task]; k < w->in_off[task + 1]; k++)
            w->in_optional[k] |=
                w->in_object[k] == object ||
                lies_in(pool_text(&w->text, w->object_name[w->in_object[k]]), name);
    }
}

/* Marks by new numbers; a mark on an object that nobody makes or reads goes with it. */
static void move_flags(struct builder *b, struct workflow *w, const uint32_t *number)
{
    const struct {
        const uint32_t *at;
        size_t n;
        enum object_flag flag;
    } marks[] = {{b->temporary.at, b->temporary.n, OBJECT_TEMPORARY},
                 {b->gathered.at, b->gathered.n, OBJECT_GATHERED},
                 {b->in_memory.at, b->in_memory.n, OBJECT_IN_MEMORY},
                 {b->inside.at, b->inside.n, OBJECT_INSIDE}};
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
        if (marks[k].n && !w->object_flags)
            w->object_flags = mem_new_zero(uint8_t, w->nobjects);
        for (size_t i = 0; i < marks[k].n; i++)
            if (number[marks[k].at[i]] != NONE)
                w->object_flags[number[marks[k].at[i]]] |= (uint8_t)marks[k].flag;
    }
}

/* What a command makes or reads is a file, and so is what nobody reads: a result. */
static void keep_in_memory(struct builder *b, struct workflow *w)
{
    for (uint32_t o = 0; b->in_memory.n && o < w->nobjects; o++) {
        uint32_t count, producer = w->producer[o];
        const uint32_t *reader = workflow_consumers(w, o, &count);
        bool functions = producer != NONE && w->flags[producer] & TASK_CALL && count;
        for (uint32_t i = 0; i < count && functions; i++)
            functions = w->flags[reader[i]] & TASK_CALL;
        if (!functions)
            w->object_flags[o] &= (uint8_t)~OBJECT_IN_MEMORY;
    }
}

/* Some task lies on a cycle or behind one: walk back through unfinished predecessors until one
 * comes again. */
static void name_cycle(struct builder *b, const struct workflow *w, const uint32_t *left)
{
    uint32_t *seen = mem_new_zero(uint32_t, (size_t)w->ntasks), t = 0, step = 1;
    while (!left[t])
        t++;
    while (!seen[t]) {
        seen[t] = step++;
        uint32_t e = w->pred_off[t];
        while (!left[w->pred_task[e]])
            e++;
        t = w->pred_task[e];
    }
    /* From t along predecessors back to t is the cycle, backwards. Collect it and print it
     * forwards. */
    ARRAY(uint32_t) cycle = {0};
    uint32_t at = t;
    do {
        array_push(&cycle, at);
        uint32_t e = w->pred_off[at];
        while (!left[w->pred_task[e]])
            e++;
        at = w->pred_task[e];
    } while (at != t);
    char text[1024];
    size_t used = 0, shown = cycle.n <= 12 ? cycle.n : 10;
    used += (size_t)snprintf(text, sizeof text, "%.80s", builder_task_name(b, t));
    for (size_t i = cycle.n; i-- && cycle.n - i <= shown && used < sizeof text - 100;)
        used += (size_t)snprintf(text + used, sizeof text - used, " -> %.80s",
                                 builder_task_name(b, cycle.at[i]));
    if (shown < cycle.n)
        snprintf(text + used, sizeof text - used, " -> ... (%zu task%s)", cycle.n, plural(cycle.n));
    builder_error(b, b->line.at[t], "the tasks depend on each other in a cycle: %s", text);
    array_free(&cycle);
    free(seen);
}

static bool sort_topologically(struct builder *b, struct workflow *w)
{
    w->topo = mem_new(uint32_t, w->ntasks);
    uint32_t *left = workflow_sort(w);
    if (!left)
        return true;
    name_cycle(b, w, left);
    free(left);
    return false;
}

static int compare_own_times(const void *a, const void *b)
{
    const struct own_time *x = a, *y = b;
    return x->task < y->task ? -1 : x->task > y->task;
}

/* The task's own times as CSR; of two for one node the last counts. */
static void move_times(struct builder *b, struct workflow *w)
{
    if (!b->times.n)
        return;
    bool sorted = true;
    for (size_t i = 1; i < b->times.n; i++)
        sorted &= b->times.at[i - 1].task <= b->times.at[i].task;
    if (!sorted)
        qsort(b->times.at, b->times.n, sizeof *b->times.at, compare_own_times);
    w->time_off = mem_new_zero(uint32_t, (size_t)w->ntasks + 1);
    w->time = mem_new(struct node_time, b->times.n);
    for (size_t i = 0; i < b->times.n; i++) {
        w->time[i] = b->times.at[i].time;
        w->time_off[b->times.at[i].task + 1]++;
    }
    for (uint32_t t = 0; t < w->ntasks; t++)
        w->time_off[t + 1] += w->time_off[t];
}

static int compare_rungs(const void *a, const void *b)
{
    const struct rung *x = a, *y = b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return x->memory < y->memory ? -1 : x->memory > y->memory;
}

/* As move_times(), for the memory of further attempts. */
static void move_rungs(struct builder *b, struct workflow *w)
{
    if (!b->rungs.n)
        return;
    for (size_t i = 1; i < b->rungs.n; i++)
        if (b->rungs.at[i - 1].task > b->rungs.at[i].task) {
            qsort(b->rungs.at, b->rungs.n, sizeof *b->rungs.at, compare_rungs);
            break;
        }
    w->more_off = mem_new_zero(uint32_t, (size_t)w->ntasks + 1);
    w->more_memory = mem_new(double, b->rungs.n);
    for (size_t i = 0; i < b->rungs.n; i++) {
        w->more_memory[i] = b->rungs.at[i].memory;
        w->more_off[b->rungs.at[i].task + 1]++;
    }
    for (uint32_t t = 0; t < w->ntasks; t++)
        w->more_off[t + 1] += w->more_off[t];
}

/* Give an ARRAY's memory away. */
#define take(array)                                                                                \
    ({                                                                                             \
        array_fit(array);                                                                          \
        __typeof__((array)->at) taken_ = (array)->at;                                              \
        (array)->at = NULL;                                                                        \
        (array)->n = (array)->cap = 0;                                                             \
        taken_;                                                                                    \
    })

/* Kinds that nobody stated, then the columns change owner. */
static void move_tasks(struct builder *b, struct workflow *w)
{
    for (uint32_t t = 0; t < w->ntasks; t++) {
        if (b->kind.at[t])
            continue;
        str_id command = t < b->command.n ? b->command.at[t] : 0;
        b->kind.at[t] = b->task_name.at[t];
        if (command && !(b->flags.at[t] & TASK_CALL)) {
            const char *text = pool_text(&w->text, command);
            text += strspn(text, " \t\n");
            /* what a script begins with is its interpreter, not what it does */
            size_t len = strncmp(text, "#!", 2) == 0 ? 0 : strcspn(text, " \t\n");
            char *word = mem_copy_bytes(text, len); /* pool_add may move the pool under us */
            if (len)
                builder_usual_kind(b, t, word, len);
            free(word);
        }
    }
    size_t n = w->ntasks;
    /* the workflow knows one file: lines of others would be taken for its own */
    for (size_t t = 0; b->sources.n && t < n; t++)
        if (b->line.at[t] > b->sources.at[0].base)
            b->line.at[t] = 0;
    if (b->has_lines)
        w->line = take(&b->line);
    if (b->command.n) {
        column_extend(&b->command, n, 0);
        w->command = take(&b->command);
    }
    if (b->needs.n) {
        column_extend(&b->needs, n, 0);
        w->needs = take(&b->needs);
    }
    if (b->asks.n) {
        column_extend(&b->asks, n, 0);
        w->asks = take(&b->asks);
        builder_finish_demands(b, w);
    }
    if (b->shell.n) {
        column_extend(&b->shell, n, 0);
        w->shell = take(&b->shell);
    }
#define MOVE_TEXT(name)                                                                            \
    if (b->name.n) {                                                                               \
        column_extend(&b->name, n, 0);                                                             \
        w->name = take(&b->name);                                                                  \
    }
    TASK_TEXTS(MOVE_TEXT)
#undef MOVE_TEXT
    if (b->when.n) {
        column_extend(&b->when, n, 0);
        w->when = take(&b->when);
    }
    if (b->retry_on.n) {
        column_extend(&b->retry_on, n, 0);
        w->retry_on = take(&b->retry_on);
    }
#define MOVE_FIELD(name, ctype, unit, absent, ...)                                                 \
    if (b->name.n) {                                                                               \
        column_extend(&b->name, n, (ctype)(absent));                                               \
        w->name = take(&b->name);                                                                  \
    }
    TASK_COLUMNS(COLUMN_SKIP, MOVE_FIELD, COLUMN_SKIP)
#undef MOVE_FIELD
    w->task_name = take(&b->task_name);
    w->kind = take(&b->kind);
    w->work = take(&b->work);
    w->memory = take(&b->memory);
    w->cores = take(&b->cores);
    w->flags = take(&b->flags);
}

/* Object numbers change first (by producer), since edges are sorted by them; columns of tasks
 * move last, since messages name tasks from the builder. */
struct workflow *builder_finish(struct builder *b, struct error *err)
{
    struct workflow *w = b->w;
    resolve_names(b);
    builder_check_calls(b);
    builder_join_folders(b);
    if (!builder_failed(b)) {
        w->ntasks = (uint32_t)b->task_name.n;
        name_folders(b);
        uint32_t *number = mem_new(uint32_t, b->object_name.n);
        w->nobjects = renumber_objects(b, number);
        move_objects(b, w, number);
        build_edges(b, w, number);
        if (!builder_failed(b)) {
            build_inputs(b, w, number);
            keep_order(b, w, number);
            apply_permutations(b, w);
            builder_check_commands(b, w);
            builder_rename_files(b, w);
            mark_optional(b, w, number);
            move_flags(b, w, number);
            sort_topologically(b, w);
        }
        free(number);
    }
    if (builder_failed(b)) {
        /* The workflow is incomplete: its arrays are freed one by one, its indexes never used. */
        error_set(err, b->error.kind, "%s", b->error.text);
        builder_free(b);
        return NULL;
    }
    move_times(b, w);
    move_rungs(b, w);
    move_tasks(b, w);
    keep_in_memory(b, w);
    if (b->warned > MOST_WARNINGS) {
        char text[80];
        snprintf(text, sizeof text, "and %zu more such remarks", b->warned - MOST_WARNINGS);
        builder_add_warning(w, text);
    }
    b->w = NULL;
    builder_free(b);
    return w;
}

/* Appending a part to a workflow: see growth.h for what comes out.
 *
 *     1. look: names that are there already, files with another maker or an earlier reader; the
 *        objects of the part get their numbers, edges from old tasks are collected
 *     2. lengthen every array of array_list.h and fill its end in
 *
 * Nothing is changed before the first step is over, so that a part that does not fit leaves the
 * workflow as it was. An array that is new in array_list.h changes their number, and the assertion
 * below says that it has to be appended here. */
#include "model/growth.h"

#include "base/strbuf.h"
#include "model/array_list.h"
#include "model/future.h"
#include "model/select.h"

#include <math.h>
#include <string.h>

enum growth_row {
#define WORKFLOW_ARRAY(name, count) ROW_##name,
    WORKFLOW_ARRAYS
#undef WORKFLOW_ARRAY
        ROW_object_end,
    GROWTH_ROWS
};
/* Texts and optional numbers of tasks are appended by their rows, and need no line here. */
#define COUNT_FIELD(...) +1
enum {
    GROWTH_ROWS_KNOWN =
        46 TASK_TEXTS(COUNT_FIELD) TASK_COLUMNS(COLUMN_SKIP, COUNT_FIELD, COLUMN_SKIP)
};
#undef COUNT_FIELD
_Static_assert(
    (int)GROWTH_ROWS == (int)GROWTH_ROWS_KNOWN,
    "struct workflow has another array: append it in model/growth.c, or tell here that it "
    "needs nothing, and count it");

/* An edge into a task of the part from one that is there; object NONE: ordering only. */
struct outer_edge {
    uint32_t to, from, object;
};

struct growth_append {
    struct workflow *w;
    const struct workflow *p;
    struct growth *g;
    uint32_t tasks, objects; /* numbers that the first new ones get */
    uint32_t *object;        /* of the part's objects: their numbers in `w` */
    uint32_t made;           /* objects that tasks of the part make: the first of them */
    ARRAY(struct outer_edge) outer;
    uint32_t *outer_off; /* by task of the part */
    uint32_t *ask;       /* of the part's demands: their numbers in `w`; NULL: it has none */
    struct error *err;
};

void growth_free(struct growth *g)
{
    if (!g)
        return;
    array_free(&g->parts);
    array_free(&g->later);
    array_free(&g->first_later);
    intern_free(&g->folders);
    free(g->room);
    free(g);
}

/* ---- 1. does it fit? ---- */

static const char *part_name(const struct growth_append *a, uint32_t object)
{
    return workflow_text(a->p, a->p->object_name[object]);
}

/* Always false, at the place of a task of the part. */
static bool refuse_part(struct growth_append *a, uint32_t task, const char *text)
{
    const struct workflow *p = a->p;
    return error_at(a->err, workflow_text(p, p->file), p->line ? p->line[task] : 0, "task '%s': %s",
                    workflow_task_name(p, task), text);
}

/* Always false. Of a task that a module or another file brings no line is known: then the place is
 * that of who has the name already. */
static bool refuse_name(struct growth_append *a, uint32_t task, uint32_t there)
{
    const struct workflow *p = a->p, *w = a->w;
    uint32_t own = p->line ? p->line[task] : 0, other = w->line ? w->line[there] : 0;
    char where[40] = "";
    if (other && own)
        snprintf(where, sizeof where, " (line %u)", other);
    return error_at(a->err, workflow_text(p, p->file), own ? own : other,
                    "task '%s': a task of this name is in the run already%s; one of the two needs "
                    "another name",
                    workflow_task_name(p, task), where);
}

static bool check_tasks(struct growth_append *a)
{
    for (uint32_t t = 0; t < a->p->ntasks; t++) {
        uint32_t there = workflow_find_task(a->w, workflow_task_name(a->p, t));
        if (there != NONE)
            return refuse_name(a, t, there);
    }
    return true;
}

/* {word}s of commands mean the same in both. */
static bool check_parameters(struct growth_append *a)
{
    const struct workflow *w = a->w, *p = a->p;
    for (uint32_t i = 0; i < p->nparameters; i++) {
        const char *name = workflow_text(p, p->parameter_name[i]);
        uint32_t k = 0;
        while (k < w->nparameters && strcmp(workflow_text(w, w->parameter_name[k]), name) != 0)
            k++;
        if (k == w->nparameters || strcmp(workflow_text(w, w->parameter_value[k]),
                                          workflow_text(p, p->parameter_value[i])) != 0)
            return error_set(a->err, ERROR_INPUT,
                             "%s: parameter '%s' is not one of the workflow that runs, or has "
                             "another value there; give tasks that join their values in the "
                             "command",
                             workflow_text(p, p->file), name);
    }
    return true;
}

/* What only functions of the first part read is gone with the last of them. */
static bool check_in_memory(struct growth_append *a)
{
    const struct workflow *w = a->w, *p = a->p;
    for (uint32_t o = 0; w->object_flags && o < p->nobjects; o++) {
        if (p->producer[o] != NONE || !p->object_name[o])
            continue;
        const char *name = workflow_text(p, p->object_name[o]);
        uint32_t there = workflow_find_object(w, name);
        if (there != NONE && workflow_object_is(w, there, OBJECT_IN_MEMORY))
            return error_set(
                a->err, ERROR_INPUT,
                "%s: '%s' is in memory, and tasks that join cannot read it: declare it "
                "as a file",
                workflow_text(p, p->file), name);
    }
    return true;
}

/* A mask has a bit for each. */
static bool check_attributes(struct growth_append *a)
{
    const struct workflow *w = a->w, *p = a->p;
    uint32_t count = w->nattributes;
    for (uint32_t i = 0; i < p->nattributes; i++) {
        uint32_t k = 0;
        while (k < w->nattributes &&
               strcmp(workflow_text(w, w->attribute[k]), workflow_text(p, p->attribute[i])) != 0)
            k++;
        count += k == w->nattributes;
    }
    return count <= 64 || error_set(a->err, ERROR_INPUT,
                                    "%s: with the tasks that join, tasks need %u different "
                                    "attributes of nodes; 64 are the most",
                                    workflow_text(p, p->file), count);
}

/* The folders that made things lie in: entered when the first part comes, for all that is there. */
static void enter_folders(struct growth_append *a)
{
    const struct workflow *w = a->w;
    struct growth *g = a->g;
    size_t length = 0; /* of the folder of the one before: neighbours mostly share it */
    const char *before = "";
    for (; g->seen < w->nobjects; g->seen++) {
        const char *name = workflow_text(w, w->object_name[g->seen]);
        const char *slash = strrchr(name, '/');
        if (w->producer[g->seen] == NONE || !slash || slash == name)
            continue;
        if ((size_t)(slash - name) == length && memcmp(before, name, length) == 0)
            continue;
        before = name;
        length = (size_t)(slash - name);
        for (const char *p = slash; p > name; p--)
            if (*p == '/')
                intern_number(&g->folders, name, (size_t)(p - name));
    }
}

/* The nearest folder above this name that is an object of the workflow; NONE: none is. */
static uint32_t find_folder(const struct workflow *w, const char *name)
{
    struct strbuf folder = {0};
    uint32_t found = NONE;
    for (const char *p = strrchr(name, '/'); p && p > name && found == NONE; p--)
        if (*p == '/' && p[1]) {
            strbuf_clear(&folder);
            strbuf_add_bytes(&folder, name, (size_t)(p - name));
            found = workflow_find_object(w, folder.at);
        }
    strbuf_free(&folder);
    return found;
}

uint32_t growth_folder(const struct workflow *w, uint32_t object)
{
    return find_folder(w, workflow_text(w, w->object_name[object]));
}

/* A file that a task of the part makes. */
static bool check_made(struct growth_append *a, uint32_t object)
{
    const struct workflow *w = a->w;
    const char *name = part_name(a, object);
    if (!*name)
        return true;
    uint32_t there = workflow_find_object(w, name);
    if (there == NONE)
        there = find_folder(w, name);
    if (there == NONE)
        return true;
    struct strbuf text = {0};
    uint32_t maker = w->producer[there];
    if (maker != NONE)
        strbuf_printf(&text, "it makes '%s', but task '%s' makes '%s'; one must make another", name,
                      workflow_task_name(w, maker), workflow_text(w, w->object_name[there]));
    else
        strbuf_printf(&text,
                      "it makes '%s', which tasks read that were there before it and did not wait "
                      "for it; let them read another file",
                      name);
    refuse_part(a, a->p->producer[object], text.at);
    strbuf_free(&text);
    return false;
}

/* Every task of the part that reads `object` comes after the task `from`. */
static void outer_readers(struct growth_append *a, uint32_t object, uint32_t from, uint32_t carries)
{
    uint32_t count;
    const uint32_t *reader = workflow_consumers(a->p, object, &count);
    for (uint32_t i = 0; i < count; i++)
        array_push(&a->outer, (struct outer_edge){reader[i], from, carries});
}

/* A file that the part reads and none of its tasks makes; *next: the number of a new input. */
static bool place_input(struct growth_append *a, uint32_t object, uint32_t *next)
{
    const struct workflow *w = a->w;
    const char *name = part_name(a, object);
    uint32_t there = workflow_find_object(w, name), count;
    if (there != NONE) {
        a->object[object] = there;
        if (w->producer[there] != NONE)
            outer_readers(a, object, w->producer[there], there);
        return true;
    }
    size_t length = strlen(name);
    length -= length > 1 && name[length - 1] == '/';
    if (intern_find(&a->g->folders, name, length) != UINT32_MAX) {
        struct strbuf text = {0};
        strbuf_printf(&text,
                      "it reads the folder '%s', in which tasks make files that were there before "
                      "it; name the files that it reads",
                      name);
        refuse_part(a, *workflow_consumers(a->p, object, &count), text.at);
        strbuf_free(&text);
        return false;
    }
    a->object[object] = (*next)++;
    uint32_t folder = find_folder(w, name);
    if (folder != NONE && w->producer[folder] != NONE) /* it lies in what that task makes */
        outer_readers(a, object, w->producer[folder], NONE);
    return true;
}

/* By the task of the part, then by its parent; what carries something before what only orders. */
static int compare_outer(const void *a, const void *b)
{
    const struct outer_edge *x = a, *y = b;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

/* Each once; an ordering that an object from the same parent makes needless goes. */
static void sort_outer(struct growth_append *a)
{
    size_t n = 0;
    if (a->outer.n)
        qsort(a->outer.at, a->outer.n, sizeof *a->outer.at, compare_outer);
    for (size_t i = 0; i < a->outer.n; i++) {
        struct outer_edge e = a->outer.at[i];
        bool joined = n && a->outer.at[n - 1].to == e.to && a->outer.at[n - 1].from == e.from;
        if (joined && (e.object == NONE || a->outer.at[n - 1].object == e.object))
            continue;
        a->outer.at[n++] = e;
    }
    a->outer.n = n;
    a->outer_off = mem_new_zero(uint32_t, (size_t)a->p->ntasks + 1);
    for (size_t i = 0; i < n; i++)
        a->outer_off[a->outer.at[i].to + 1]++;
    for (uint32_t t = 0; t < a->p->ntasks; t++)
        a->outer_off[t + 1] += a->outer_off[t];
}

static bool look_at_part(struct growth_append *a, const struct growth_link *links, size_t nlinks)
{
    const struct workflow *w = a->w, *p = a->p;
    if (p->ntasks >= NONE - 1 - w->ntasks || p->nobjects >= NONE - 1 - w->nobjects ||
        p->nedges >= NONE - 1 - w->pred_off[w->ntasks])
        return error_set(a->err, ERROR_INPUT, "%s: more than %u tasks, files or edges",
                         workflow_text(p, p->file), NONE - 2);
    if (!check_parameters(a) || !check_in_memory(a) || !check_attributes(a) ||
        !growth_demands_fit(a->w, a->p, a->err) || !check_tasks(a))
        return false;
    enter_folders(a);
    a->made = p->object_off[p->ntasks];
    a->object = mem_new(uint32_t, p->nobjects);
    uint32_t next = a->objects + a->made;
    for (uint32_t o = 0; o < p->nobjects; o++) {
        a->object[o] = a->objects + o;
        if (!(o < a->made ? check_made(a, o) : place_input(a, o, &next)))
            return false;
    }
    for (size_t i = 0; i < nlinks; i++)
        array_push(&a->outer, (struct outer_edge){links[i].to, links[i].from, NONE});
    sort_outer(a);
    return true;
}

/* ---- 2. longer arrays ---- */

/* Room for `want` entries where `have` stand; by half more than asked for, once it was not enough. */
static void *make_room(struct growth *g, enum growth_row row, void *at, size_t have, size_t want,
                       size_t size)
{
    if (at && g->room[row] >= want)
        return at;
    size_t room = have + have / 2 + 16;
    g->room[row] = room < want ? want : room;
    return mem_grow_array(at, g->room[row], size);
}

#define ROOM(name, have, want)                                                                     \
    (w->name = make_room(a->g, ROW_##name, w->name, (have), (want), sizeof *w->name))

/* A column of tasks, `n` old ones and those of the part; `absent`: of those that have no value. */
#define APPEND_COLUMN(name, absent, value)                                                         \
    if (w->name || p->name) {                                                                      \
        bool fresh_ = !w->name;                                                                    \
        ROOM(name, n, (size_t)n + p->ntasks);                                                      \
        for (uint32_t i = 0; fresh_ && i < n; i++)                                                 \
            w->name[i] = (absent);                                                                 \
        for (uint32_t i = 0; i < p->ntasks; i++)                                                   \
            w->name[n + i] = p->name ? (value) : (absent);                                         \
    }
/* Where the lists of tasks begin: n + 1 entries, zero when there was none. */
#define APPEND_OFFSETS(name)                                                                       \
    do {                                                                                           \
        bool fresh_ = !w->name;                                                                    \
        ROOM(name, (size_t)n + 1, (size_t)n + p->ntasks + 1);                                      \
        if (fresh_)                                                                                \
            memset(w->name, 0, ((size_t)n + 1) * sizeof *w->name);                                 \
    } while (0)

/* Texts that repeat, as kinds do, are copied once for a row of them. */
struct text_copy {
    str_id from, to;
};

static str_id copy_text(struct growth_append *a, struct text_copy *last, str_id id)
{
    if (!id)
        return 0;
    if (last->from != id) {
        const char *text = workflow_text(a->p, id);
        *last = (struct text_copy){id, pool_add(&a->w->text, text, strlen(text))};
    }
    return last->to;
}

/* The mask of the part over the attributes of the workflow, which get what they lack; at most 64. */
static uint64_t copy_needs(struct growth_append *a, uint64_t needs)
{
    struct workflow *w = a->w;
    uint64_t mask = 0;
    for (uint32_t i = 0; i < a->p->nattributes; i++) {
        const char *word = workflow_text(a->p, a->p->attribute[i]);
        uint32_t k = 0;
        if (!(needs >> i & 1))
            continue;
        while (k < w->nattributes && strcmp(workflow_text(w, w->attribute[k]), word) != 0)
            k++;
        if (k == w->nattributes) {
            ROOM(attribute, k, (size_t)k + 1);
            w->attribute[w->nattributes++] = pool_add(&w->text, word, strlen(word));
        }
        mask |= UINT64_C(1) << k; /* below 64: check_attributes() */
    }
    return mask;
}

/* Room at the end of the two arrays of demands, as they are needed. */
static void append_demands(struct growth_append *a)
{
    struct workflow *w = a->w;
    if (!a->p->asks)
        return;
    ROOM(resource, w->nresources, (size_t)w->nresources + a->p->nresources);
    ROOM(amount, (size_t)w->nasks * THING_SORTS, ((size_t)w->nasks + a->p->nasks) * THING_SORTS);
    a->ask = growth_demands(w, a->p);
}

static void append_task_columns(struct growth_append *a)
{
    struct workflow *w = a->w;
    const struct workflow *p = a->p;
    uint32_t n = a->tasks;
    struct text_copy kind = {0}, shell = {0}, command = {0}, name = {0}, when = {0}, retry = {0};
    APPEND_COLUMN(work, 0, p->work[i])
    APPEND_COLUMN(memory, 0, p->memory[i])
    APPEND_COLUMN(cores, 1, p->cores[i])
    APPEND_COLUMN(task_name, 0, copy_text(a, &name, p->task_name[i]))
    APPEND_COLUMN(kind, 0, copy_text(a, &kind, p->kind[i]))
    APPEND_COLUMN(flags, 0, p->flags[i])
    APPEND_COLUMN(line, 0, p->line[i])
    APPEND_COLUMN(command, 0, copy_text(a, &command, p->command[i]))
    APPEND_COLUMN(shell, 0, copy_text(a, &shell, p->shell[i]))
#define APPEND_TEXT(name_)                                                                         \
    {                                                                                              \
        struct text_copy last = {0};                                                               \
        APPEND_COLUMN(name_, 0, copy_text(a, &last, p->name_[i]))                                  \
    }
    TASK_TEXTS(APPEND_TEXT)
#undef APPEND_TEXT
    APPEND_COLUMN(when, 0, copy_text(a, &when, p->when[i]))
    APPEND_COLUMN(retry_on, 0, copy_text(a, &retry, p->retry_on[i]))
    APPEND_COLUMN(needs, 0, copy_needs(a, p->needs[i]))
    append_demands(a);
    APPEND_COLUMN(asks, 0, a->ask[p->asks[i]])
#define APPEND_FIELD(name, ctype, unit, absent, ...)                                               \
    APPEND_COLUMN(name, (ctype)(absent), p->name[i])
    TASK_COLUMNS(COLUMN_SKIP, APPEND_FIELD, COLUMN_SKIP)
#undef APPEND_FIELD
    ROOM(topo, n, (size_t)n + p->ntasks);
    for (uint32_t i = 0; i < p->ntasks; i++) {
        w->topo[n + i] = n + p->topo[i];
        name_index_add(&w->task_index, &w->text, w->task_name, n + i);
    }
}

/* Times of their own and memory of further attempts. */
static void append_task_lists(struct growth_append *a)
{
    struct workflow *w = a->w;
    const struct workflow *p = a->p;
    uint32_t n = a->tasks, m = p->ntasks;
    struct text_copy node = {0};
    if (w->time_off || p->time_off) {
        APPEND_OFFSETS(time_off);
        uint32_t have = w->time_off[n], more = p->time_off ? p->time_off[m] : 0;
        ROOM(time, have, (size_t)have + more);
        for (uint32_t t = 0; t < m; t++)
            w->time_off[n + t + 1] = have + (p->time_off ? p->time_off[t + 1] : 0);
        for (uint32_t i = 0; i < more; i++)
            w->time[have + i] =
                (struct node_time){copy_text(a, &node, p->time[i].node), p->time[i].seconds};
    }
    if (w->more_off || p->more_off) {
        APPEND_OFFSETS(more_off);
        uint32_t have = w->more_off[n], more = p->more_off ? p->more_off[m] : 0;
        ROOM(more_memory, have, (size_t)have + more);
        for (uint32_t t = 0; t < m; t++)
            w->more_off[n + t + 1] = have + (p->more_off ? p->more_off[t + 1] : 0);
        for (uint32_t i = 0; i < more; i++)
            w->more_memory[have + i] = p->more_memory[i];
    }
}

/* Objects that are new: those that the part makes, then its inputs that were not known. */
static void append_objects(struct growth_append *a)
{
    struct workflow *w = a->w;
    const struct workflow *p = a->p;
    uint32_t n = a->objects, end = n;
    for (uint32_t o = 0; o < p->nobjects; o++)
        end = a->object[o] >= end ? a->object[o] + 1 : end;
    struct text_copy name = {0};
    bool flags = w->object_flags || p->object_flags;
    for (size_t i = 0; i < a->outer.n && !flags; i++)
        flags = a->outer.at[i].object != NONE;
    ROOM(size, n, end);
    ROOM(producer, n, end);
    ROOM(object_name, n, end);
    ROOM(object_edge, n, end);
    if (flags) {
        bool fresh = !w->object_flags;
        ROOM(object_flags, n, end);
        if (fresh)
            memset(w->object_flags, 0, n);
    }
    for (uint32_t o = 0; o < p->nobjects; o++) {
        uint32_t to = a->object[o], first = p->object_edge[o];
        if (to < n)
            continue;
        w->size[to] = p->size[o];
        w->producer[to] = p->producer[o] == NONE ? NONE : a->tasks + p->producer[o];
        w->object_name[to] = copy_text(a, &name, p->object_name[o]);
        /* those of inputs are set with input_task */
        w->object_edge[to] = first == NONE || o >= a->made ? NONE : w->nedges + first;
        if (flags)
            w->object_flags[to] = p->object_flags ? p->object_flags[o] & ~OBJECT_IN_MEMORY : 0;
        if (w->object_name[to])
            name_index_add(&w->object_index, &w->text, w->object_name, to);
    }
    w->nobjects = end;
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* What tasks read in the order of the file, and of it what nobody makes. */
static void append_readings(struct growth_append *a)
{
    struct workflow *w = a->w;
    const struct workflow *p = a->p;
    uint32_t n = a->tasks, m = p->ntasks;
    if (w->in_off || p->in_off) {
        APPEND_OFFSETS(in_off);
        uint32_t have = w->in_off[n], more = p->in_off ? p->in_off[m] : 0;
        ROOM(in_object, have, (size_t)have + more);
        for (uint32_t t = 0; t < m; t++)
            w->in_off[n + t + 1] = have + (p->in_off ? p->in_off[t + 1] : 0);
        for (uint32_t i = 0; i < more; i++)
            w->in_object[have + i] = a->object[p->in_object[i]];
        bool fresh = !w->in_optional;
        if (w->in_optional || p->in_optional)
            ROOM(in_optional, have, (size_t)have + more);
        if (w->in_optional && fresh)
            memset(w->in_optional, 0, have);
        for (uint32_t i = 0; w->in_optional && i < more; i++)
            w->in_optional[have + i] = p->in_optional ? p->in_optional[i] : 0;
    }
    if (!w->input_off && !p->input_off)
        return;
    APPEND_OFFSETS(input_off);
    uint32_t have = w->input_off[n];
    ROOM(input_object, have, (size_t)have + p->ninputs);
    for (uint32_t t = 0; t < m; t++) {
        uint32_t first = have;
        for (uint32_t i = p->input_off ? p->input_off[t] : 0;
             p->input_off && i < p->input_off[t + 1]; i++) {
            uint32_t object = a->object[p->input_object[i]];
            if (w->producer[object] == NONE)
                w->input_object[have++] = object;
        }
        if (have - first > 1)
            qsort(w->input_object + first, have - first, sizeof *w->input_object, compare_numbers);
        w->input_off[n + t + 1] = have;
    }
    ROOM(input_task, w->ninputs, (size_t)w->ninputs + p->ninputs);
    for (uint32_t o = a->made; o < p->nobjects; o++) {
        uint32_t count, to = a->object[o];
        const uint32_t *reader = workflow_consumers(p, o, &count);
        if (to < a->objects || !count)
            continue;
        w->object_edge[to] = w->ninputs;
        for (uint32_t i = 0; i < count; i++)
            w->input_task[w->ninputs++] = n + reader[i];
    }
}

/* What tasks make. The end of the old row is no beginning of the new one: there are inputs between. */
static void append_made(struct growth_append *a)
{
    struct workflow *w = a->w;
    const struct workflow *p = a->p;
    uint32_t n = a->tasks, m = p->ntasks;
    if (w->object_end == w->object_off + 1) {
        w->object_end = mem_new(uint32_t, (size_t)n + m);
        memcpy(w->object_end, w->object_off + 1, n * sizeof *w->object_end);
        a->g->room[ROW_object_end] = (size_t)n + m;
    }
    ROOM(object_end, n, (size_t)n + m);
    ROOM(object_off, (size_t)n + 1, (size_t)n + m + 1);
    for (uint32_t t = 0; t < m; t++) {
        w->object_off[n + t] = a->objects + p->object_off[t];
        w->object_end[n + t] = a->objects + p->object_end[t];
    }
    w->object_off[n + m] = a->objects + a->made;
    if (!w->out_object && !p->out_object)
        return;
    bool fresh = !w->out_object;
    ROOM(out_object, a->objects, w->nobjects);
    for (uint32_t o = 0; fresh && o < a->objects; o++)
        w->out_object[o] = o;
    for (uint32_t o = a->objects; o < w->nobjects; o++)
        w->out_object[o] = o;
    for (uint32_t o = 0; p->out_object && o < a->made; o++)
        w->out_object[a->objects + o] = a->objects + p->out_object[o];
}

static void append_later(struct growth_append *a, const struct outer_edge *e)
{
    struct workflow *w = a->w;
    struct growth *g = a->g;
    while (g->first_later.n <= e->from)
        array_push(&g->first_later, NONE);
    uint32_t *first = &g->first_later.at[e->from];
    array_push(&g->later, (struct later_edge){a->tasks + e->to, e->object, *first});
    *first = (uint32_t)(g->later.n - 1);
    if (e->object != NONE)
        w->object_flags[e->object] |= OBJECT_READ_LATER;
}

/* Edges among the part's own tasks both ways; those from old tasks come first in pred_*, whose lists
 * are sorted by parent. */
static void append_edges(struct growth_append *a)
{
    struct workflow *w = a->w;
    const struct workflow *p = a->p;
    uint32_t n = a->tasks, m = p->ntasks, have = w->nedges;
    ROOM(succ_off, (size_t)n + 1, (size_t)n + m + 1);
    ROOM(succ_task, have, (size_t)have + p->nedges);
    ROOM(succ_object, have, (size_t)have + p->nedges);
    for (uint32_t t = 0; t < m; t++)
        w->succ_off[n + t + 1] = have + p->succ_off[t + 1];
    for (uint32_t e = 0; e < p->nedges; e++) {
        w->succ_task[have + e] = n + p->succ_task[e];
        w->succ_object[have + e] = p->succ_object[e] == NONE ? NONE : a->object[p->succ_object[e]];
    }
    uint32_t at = w->pred_off[n];
    size_t edges = (size_t)at + p->nedges + a->outer.n;
    ROOM(pred_off, (size_t)n + 1, (size_t)n + m + 1);
    ROOM(pred_task, at, edges);
    ROOM(pred_object, at, edges);
    for (uint32_t t = 0; t < m; t++) {
        for (uint32_t i = a->outer_off[t]; i < a->outer_off[t + 1]; i++, at++) {
            const struct outer_edge *e = &a->outer.at[i];
            w->pred_task[at] = e->from;
            w->pred_object[at] = e->object;
            w->npairs += i == a->outer_off[t] || a->outer.at[i - 1].from != e->from;
            append_later(a, e);
        }
        for (uint32_t e = p->pred_off[t]; e < p->pred_off[t + 1]; e++, at++) {
            w->pred_task[at] = n + p->pred_task[e];
            w->pred_object[at] = p->pred_object[e] == NONE ? NONE : a->object[p->pred_object[e]];
        }
        w->pred_off[n + t + 1] = at;
    }
    w->nedges += p->nedges;
    w->npairs += p->npairs;
}

bool workflow_append(struct workflow *w, const struct workflow *part,
                     const struct growth_link *links, size_t nlinks, struct error *err)
{
    if (!w->growth) {
        w->growth = mem_new_zero(struct growth, 1);
        intern_init(&w->growth->folders);
        w->growth->room = mem_new_zero(size_t, GROWTH_ROWS);
    }
    struct growth_append a = {
        .w = w, .p = part, .g = w->growth, .tasks = w->ntasks, .objects = w->nobjects, .err = err};
    bool good = look_at_part(&a, links, nlinks);
    if (good && part->ntasks) {
        append_task_columns(&a);
        append_task_lists(&a);
        append_objects(&a);
        append_readings(&a);
        append_made(&a);
        append_edges(&a);
        array_push(&w->growth->parts, (struct growth_part){w->ntasks, a.objects});
        w->ntasks += part->ntasks;
    }
    array_free(&a.outer);
    free(a.outer_off);
    free(a.ask);
    free(a.object);
    return good;
}

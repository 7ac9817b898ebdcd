/* Collecting a workflow: columns that grow by a task at a time, edges as lists in the order of
 * the file. builder_finish.c freezes them.
 *
 * The first mistake sticks in b->error and later calls are harmless: numbers of tasks and objects
 * that do not exist (NONE, after a refused one) are passed over. Names go into one pool and are
 * found by a hash index; nothing else is allocated per task.
 *
 *      reader                      builder                          builder_finish()
 *      ------                      -------                          ----------------
 *      builder_task("a")    -->    task_name, work, memory ...      columns move as they are
 *      builder_object("x")  -->    object_name, size, producer      renumbered by producer
 *      builder_consumes()   -->    readings: (task, object)         edges, sorted into CSR
 *      builder_edge()       -->    orderings: (from, to)            the same, with object NONE */
#include "model/builder_state.h"
#include "model/command.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More than any machine has; a larger number is a mistake in a file, and sums of them stay exact. */
enum { MOST_CORES = 1 << 24, MOST_COUNT = 1000000000 };

void builder_add_warning(struct workflow *w, const char *text)
{
    w->warnings = mem_resize(w->warnings, w->nwarnings + 1);
    w->warnings[w->nwarnings++] = mem_copy_string(text);
}

/* Pool and indexes are those of the workflow from the start: they are not copied at the end. */
struct builder *builder_new(const char *file, const char *format)
{
    struct builder *b = mem_new_zero(struct builder, 1);
    b->file = mem_copy_string(file);
    b->w = mem_new_zero(struct workflow, 1);
    pool_init(&b->w->text);
    name_index_init(&b->w->task_index);
    name_index_init(&b->w->object_index);
    b->w->file = pool_add(&b->w->text, file, strlen(file));
    b->w->format = pool_add(&b->w->text, format, strlen(format));
    return b;
}

/* Also of a builder that failed half-way: NULL and empty arrays are fine. */
void builder_free(struct builder *b)
{
    if (!b)
        return;
    array_free(&b->task_name);
    array_free(&b->kind);
    array_free(&b->work);
    array_free(&b->memory);
    array_free(&b->cores);
    array_free(&b->flags);
    array_free(&b->line);
    array_free(&b->command);
    array_free(&b->shell);
    array_free(&b->when);
    array_free(&b->retry_on);
    array_free(&b->optionals);
    array_free(&b->needs);
    array_free(&b->asks);
    builder_free_demands(b);
    array_free(&b->command_line);
#define FREE_TEXT(name) array_free(&b->name);
    TASK_TEXTS(FREE_TEXT)
#undef FREE_TEXT
#define FREE_FIELD(name, ...) array_free(&b->name);
    TASK_COLUMNS(COLUMN_SKIP, FREE_FIELD, COLUMN_SKIP)
#undef FREE_FIELD
    array_free(&b->times);
    array_free(&b->rungs);
    path_home_free(b->home);
    strbuf_free(&b->canonical);
    array_free(&b->folders);
    array_free(&b->made);
    array_free(&b->temporary);
    array_free(&b->in_memory);
    array_free(&b->gathered);
    array_free(&b->inside);
    array_free(&b->namings);
    array_free(&b->naming_places);
    array_free(&b->object_name);
    array_free(&b->size);
    array_free(&b->producer);
    array_free(&b->only_reader);
    array_free(&b->readings);
    array_free(&b->orderings);
    array_free(&b->named);
    array_free(&b->permutations);
    for (size_t i = 0; i < b->variables.n; i++)
        free(b->variables.at[i]);
    array_free(&b->variables);
    array_free(&b->places);
    workflow_free(b->w);
    for (size_t i = 0; i < b->sources.n; i++)
        free(b->sources.at[i].file);
    array_free(&b->sources);
    free(b->file);
    free(b);
}

/* Few: a linear search from the last. */
const char *builder_place(const struct builder *b, size_t *line)
{
    for (size_t i = b->sources.n; i--;)
        if (*line > b->sources.at[i].base) {
            *line -= b->sources.at[i].base;
            return b->sources.at[i].file;
        }
    return b->file;
}

void builder_source(struct builder *b, const char *file, size_t base)
{
    array_push(&b->sources, (struct builder_source){mem_copy_string(file), base});
}

/* error_vat() keeps the first error and lets later ones pass. */
bool builder_error(struct builder *b, size_t line, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const char *file = builder_place(b, &line);
    error_vat(&b->error, file, line, fmt, args);
    va_end(args);
    return false;
}

bool builder_failed(const struct builder *b)
{
    return b->error.kind != ERROR_NONE;
}

const struct error *builder_first_error(const struct builder *b)
{
    return &b->error;
}

/* Past MOST_WARNINGS only the count grows: a file of a million repeated edges has one cause. */
void builder_warn(struct builder *b, size_t line, const char *fmt, ...)
{
    if (++b->warned > MOST_WARNINGS)
        return;
    struct error text = {0};
    va_list args;
    va_start(args, fmt);
    const char *file = builder_place(b, &line);
    error_vat(&text, file, line, fmt, args);
    va_end(args);
    builder_add_warning(b->w, text.text);
}

void builder_name(struct builder *b, const char *name, size_t len)
{
    b->w->name = len ? pool_add(&b->w->text, name, len) : 0; /* empty: none */
}

/* ---- tasks ---- */

/* The name is copied. O(1). */
uint32_t builder_task(struct builder *b, const char *name, size_t len, size_t line)
{
    if (!len || memchr(name, 0, len)) {
        builder_error(b, line, "a task has an empty name; every task needs a name of its own");
        return NONE;
    }
    uint32_t hash = name_index_hash(name, len);
    uint32_t old =
        name_index_find_hashed(&b->w->task_index, &b->w->text, b->task_name.at, name, len, hash);
    if (old != NONE) {
        size_t first = b->line.at[old], here = line;
        const char *there = builder_place(b, &first);
        if (first && strcmp(there, builder_place(b, &here)) != 0)
            builder_error(b, line, "task '%.*s' is defined twice; the first stands in %s:%zu",
                          (int)len, name, there, first);
        else if (first)
            builder_error(b, line, "task '%.*s' is defined twice; the first stands on line %zu",
                          (int)len, name, first);
        else
            builder_error(b, line, "task '%.*s' is defined twice", (int)len, name);
        return NONE;
    }
    if (b->task_name.n >= NONE - 1) {
        builder_error(b, line, "more than %u tasks", NONE - 2);
        return NONE;
    }
    uint32_t task = (uint32_t)b->task_name.n;
    array_push(&b->task_name, pool_add(&b->w->text, name, len));
    array_push(&b->kind, 0);
    array_push(&b->work, 0);
    array_push(&b->memory, 0);
    array_push(&b->cores, 1);
    array_push(&b->flags, 0);
    array_push(&b->line, (uint32_t)line);
    b->has_lines |= line != 0;
    name_index_add_hashed(&b->w->task_index, task, hash);
    return task;
}

uint32_t builder_find_task(const struct builder *b, const char *name, size_t len)
{
    return name_index_find(&b->w->task_index, &b->w->text, b->task_name.at, name, len);
}

uint32_t builder_task_count(const struct builder *b)
{
    return (uint32_t)b->task_name.n;
}

const char *builder_task_name(const struct builder *b, uint32_t task)
{
    return pool_text(&b->w->text, b->task_name.at[task]);
}

/* Values from files must be finite and not negative; anything else would poison every sum. */
static bool good_value(struct builder *b, uint32_t task, const char *what, double value,
                       size_t line)
{
    if (task >= b->task_name.n)
        return false; /* the task itself was refused: its error stands */
    if (isfinite(value) && value >= 0)
        return true;
    return builder_error(b, line, "task '%s': %s is %g; expected a finite number, 0 or more",
                         builder_task_name(b, task), what, value);
}

/* A stated 0 is a statement: TASK_HAS_WORK tells it from silence. */
void builder_work(struct builder *b, uint32_t task, double work, size_t line)
{
    if (good_value(b, task, "work", work, line)) {
        b->work.at[task] = work;
        b->flags.at[task] |= TASK_HAS_WORK;
    }
}

void builder_memory(struct builder *b, uint32_t task, double bytes, size_t line)
{
    if (good_value(b, task, "memory", bytes, line))
        b->memory.at[task] = bytes;
}

/* A double, because readers have numbers: whole is checked here, once for all formats. */
void builder_cores(struct builder *b, uint32_t task, double cores, size_t line)
{
    if (!good_value(b, task, "cores", cores, line))
        return;
    if (cores < 1 || cores > MOST_CORES || cores != floor(cores))
        builder_error(b, line, "task '%s': cores is %.15g; expected a whole number from 1 to %d",
                      builder_task_name(b, task), cores, MOST_CORES);
    else
        b->cores.at[task] = (uint32_t)cores;
}

void builder_kind(struct builder *b, uint32_t task, const char *kind, size_t len)
{
    builder_usual_kind(b, task, kind, len);
    if (len)
        builder_flag(b, task, TASK_KIND_STATED);
}

void builder_usual_kind(struct builder *b, uint32_t task, const char *kind, size_t len)
{
    if (task >= b->task_name.n)
        return;
    /* Kinds repeat from task to task: the last one is usually the same. */
    str_id last = task ? b->kind.at[task - 1] : 0;
    const char *text = pool_text(&b->w->text, last);
    b->kind.at[task] = last && strlen(text) == len && memcmp(text, kind, len) == 0
                           ? last
                           : pool_add(&b->w->text, kind, len);
}

void builder_flag(struct builder *b, uint32_t task, unsigned flags)
{
    if (task < b->task_name.n)
        b->flags.at[task] |= (uint16_t)flags;
}

void builder_command(struct builder *b, uint32_t task, const char *command, size_t len)
{
    if (task >= b->task_name.n || !len)
        return;
    /* as with kinds: members of a family mostly have the same, which is kept once */
    str_id last = b->command.n ? array_last(&b->command) : 0;
    const char *text = pool_text(&b->w->text, last);
    if (!last || strncmp(text, command, len) != 0 || text[len])
        last = pool_add(&b->w->text, command, len);
    column_set(&b->command, task, 0, last);
}

enum { MOST_ATTRIBUTES = 64 }; /* bits of a set of them */

/* The word's number, given when it is first met. 64: it is none, and the error says so. */
static uint32_t builder_attribute(struct builder *b, uint32_t task, const char *word, size_t n,
                                  size_t line)
{
    struct workflow *w = b->w;
    for (uint32_t i = 0; i < w->nattributes; i++) {
        const char *known = pool_text(&w->text, w->attribute[i]);
        if (strlen(known) == n && memcmp(known, word, n) == 0)
            return i;
    }
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)word[i]) && !strchr("-._+", word[i])) {
            builder_error(b, line,
                          "task '%s': needs '%.*s'; expected a word of letters, digits and -._+",
                          builder_task_name(b, task), (int)n, word);
            return MOST_ATTRIBUTES;
        }
    if (w->nattributes == MOST_ATTRIBUTES) {
        builder_error(b, line, "task '%s' needs '%.*s': more than %d different words in a workflow",
                      builder_task_name(b, task), (int)n, word, MOST_ATTRIBUTES);
        return MOST_ATTRIBUTES;
    }
    w->attribute = mem_resize(w->attribute, w->nattributes + 1);
    w->attribute[w->nattributes] = pool_add(&w->text, word, n);
    return w->nattributes++;
}

void builder_needs(struct builder *b, uint32_t task, const char *list, size_t len, size_t line)
{
    if (task >= b->task_name.n)
        return;
    uint64_t mask = 0;
    for (size_t at = 0; at < len;) {
        size_t n = 0;
        while (at + n < len && !strchr(", ", list[at + n]))
            n++;
        uint32_t number = n ? builder_attribute(b, task, list + at, n, line) : 0;
        if (number == MOST_ATTRIBUTES)
            return;
        if (n)
            mask |= UINT64_C(1) << number;
        at += n + 1;
    }
    if (mask || task < b->needs.n)
        column_set(&b->needs, task, 0, mask);
}

void builder_literal_command(struct builder *b, uint32_t task, const char *command, size_t len)
{
    struct strbuf text = {0};
    if (memchr(command, '{', len) || memchr(command, '}', len)) {
        char *copy = mem_copy_bytes(command, len); /* with a NUL behind it */
        command_escape(copy, len, &text);
        builder_command(b, task, text.at, text.n);
        free(copy);
    } else {
        builder_command(b, task, command, len);
    }
    strbuf_free(&text);
}

void builder_command_line(struct builder *b, uint32_t task, size_t line)
{
    if (task < b->task_name.n)
        column_set(&b->command_line, task, 0, (uint32_t)line);
}

/* Node names are looked for among the last 64 times: a row of the same nodes for every task. */
void builder_time(struct builder *b, uint32_t task, const char *node, size_t len, double seconds,
                  size_t line)
{
    if (!good_value(b, task, "time", seconds, line))
        return;
    /* Node names repeat from task to task: look back a row for the same text. */
    str_id name = 0;
    for (size_t i = b->times.n, back = 0; i-- && back < 64 && !name; back++) {
        const char *text = pool_text(&b->w->text, b->times.at[i].time.node);
        if (strlen(text) == len && memcmp(text, node, len) == 0)
            name = b->times.at[i].time.node;
    }
    if (!name)
        name = pool_add(&b->w->text, node, len);
    array_push(&b->times, (struct own_time){task, {name, seconds}});
}

/* May this value stand in the column? Values from files must be finite; seconds and counts not
 * negative; counts whole. */
static bool good_number(struct builder *b, uint32_t task, enum column_id id, double value,
                        size_t line)
{
    const struct column_row *c = &task_column[id];
    if (c->unit != COLUMN_NUMBER && !good_value(b, task, c->key, value, line))
        return false;
    if (task >= b->task_name.n)
        return false;
    if (!isfinite(value))
        return builder_error(b, line, "task '%s': %s is %g; expected a finite number",
                             builder_task_name(b, task), c->key, value);
    if (column_is_whole(c->unit) && (value > MOST_COUNT || value != floor(value)))
        return builder_error(b, line, "task '%s': %s is %g; expected a whole number",
                             builder_task_name(b, task), c->key, value);
    if (c->unit == COLUMN_SOME && value < 1)
        return builder_error(b, line, "task '%s': %s is 0; expected 1 or more",
                             builder_task_name(b, task), c->key);
    return true;
}

/* A switch over the optional columns, each with its own array: no table is walked for a value. */
void builder_number(struct builder *b, uint32_t task, enum column_id id, double value, size_t line)
{
    if (!good_number(b, task, id, value, line))
        return;
    switch (id) {
#define SET_FIELD(name, ctype, unit, absent, ...)                                                  \
    case COLUMN_##name:                                                                            \
        column_set(&b->name, task, (ctype)(absent), (ctype)value);                                 \
        break;
        TASK_COLUMNS(COLUMN_SKIP, SET_FIELD, COLUMN_SKIP)
#undef SET_FIELD
    default: /* not an optional number: a caller's mistake */
        abort();
    }
}

/* Whoever makes one workflow from another copies new columns without knowing them. */

void builder_more_memory(struct builder *b, uint32_t task, double bytes, size_t line)
{
    if (good_value(b, task, "memory", bytes, line))
        array_push(&b->rungs, (struct rung){task, bytes});
}

void builder_outside(struct builder *b)
{
    b->w->outside = true;
}

void builder_variable(struct builder *b, const char *name)
{
    array_push(&b->variables, mem_copy_string(name));
}

void builder_parameter(struct builder *b, const char *name, const char *value)
{
    struct workflow *w = b->w;
    uint32_t n = w->nparameters++;
    w->parameter_name = mem_resize(w->parameter_name, n + 1);
    w->parameter_value = mem_resize(w->parameter_value, n + 1);
    w->parameter_name[n] = pool_add(&w->text, name, strlen(name));
    w->parameter_value[n] = pool_add(&w->text, value, strlen(value));
}

void builder_hook(struct builder *b, enum workflow_hook hook, const char *command, size_t len)
{
    b->w->hook[hook] = pool_add(&b->w->text, command, len);
}

/* The line is kept: the constraint planner's errors point into this file. */
void builder_assertion(struct builder *b, const char *text, size_t len, size_t line)
{
    struct workflow *w = b->w;
    uint32_t n = w->nassertions++;
    w->assertion = mem_resize(w->assertion, n + 1);
    w->assertion_line = mem_resize(w->assertion_line, n + 1);
    w->assertion[n] = pool_add(&w->text, text, len);
    w->assertion_line[n] = line < NONE ? (uint32_t)line : 0;
}

/* ---- objects and edges ---- */

/* Size NAN: not stated, which a later mention may still state. */
uint32_t builder_new_object(struct builder *b, str_id name)
{
    uint32_t object = (uint32_t)b->object_name.n;
    if (object >= NONE - 1) {
        builder_error(b, 0, "more than %u data objects", NONE - 2);
        return NONE;
    }
    array_push(&b->object_name, name);
    array_push(&b->size, NAN);
    array_push(&b->producer, NONE);
    array_push(&b->only_reader, NONE);
    return object;
}

uint32_t builder_object_count(const struct builder *b)
{
    return (uint32_t)b->object_name.n;
}

void builder_home(struct builder *b, const char *folder)
{
    if (folder)
        b->home = path_home_new(folder);
}

void builder_temporary(struct builder *b, uint32_t object)
{
    if (object < b->object_name.n)
        array_push(&b->temporary, object);
}

void builder_in_memory(struct builder *b, uint32_t object)
{
    if (object < b->object_name.n)
        array_push(&b->in_memory, object);
}

/* The first size stays, since formats state a file's size at every mention and some disagree. */
void builder_size(struct builder *b, uint32_t object, double bytes, size_t line)
{
    if (object >= b->object_name.n)
        return;
    if (!isfinite(bytes) || bytes < 0)
        builder_error(b, line, "object '%s': size is %g; expected a finite number, 0 or more",
                      builder_object_name(b, object), bytes);
    else if (isnan(b->size.at[object]))
        b->size.at[object] = bytes;
    else if (b->size.at[object] != bytes)
        builder_warn(b, line, "object '%s' has a second size, %g; the first, %g, stays",
                     builder_object_name(b, object), bytes, b->size.at[object]);
}

/* The order of these calls is what {out} stands for. */
void builder_produces(struct builder *b, uint32_t task, uint32_t object, size_t line)
{
    if (object >= b->object_name.n || task >= b->task_name.n)
        return;
    uint32_t *producer = &b->producer.at[object];
    if (*producer != NONE && *producer != task)
        builder_error(b, line,
                      "object '%s' is made by two tasks, '%s' and '%s'; one must make another",
                      builder_object_name(b, object), builder_task_name(b, *producer),
                      builder_task_name(b, task));
    else if (*producer == NONE) {
        *producer = task;
        array_push(&b->made, object);
    }
}

uint32_t builder_producer(const struct builder *b, uint32_t object)
{
    return object < b->producer.n ? b->producer.at[object] : NONE;
}

void builder_consumes(struct builder *b, uint32_t task, uint32_t object, size_t line)
{
    (void)line; /* a self loop is found at the end, where the task's own line is known */
    if (object < b->object_name.n && task < b->task_name.n)
        array_push(&b->readings, (struct builder_reading){task, object});
}

/* Repeated edges are found at the end, when the lists are sorted. */
void builder_edge(struct builder *b, uint32_t from, uint32_t to, size_t line)
{
    if (from >= b->task_name.n || to >= b->task_name.n)
        return;
    if (from == to)
        builder_error(b, line, "task '%s' depends on itself", builder_task_name(b, from));
    else
        array_push(&b->orderings, (struct ordering){from, to, (uint32_t)line});
}

bool builder_join(struct builder *b, struct join row, size_t line)
{
    struct workflow *w = b->w;
    if (!row.count || !row.nby)
        return true;
    if (!w->joins)
        w->joins = mem_new_zero(struct joins, 1);
    array_push(&w->joins->at, row);
    if ((uint64_t)row.count * row.nby > JOIN_EDGES)
        return false;
    for (uint32_t t = 0; t < row.count; t++)
        for (uint32_t d = 0; d < row.nby; d++)
            builder_edge(b, row.by + d, row.first + t, line);
    return true;
}

/* Resolved at once when both tasks are there: most files name tasks before edges. */
void builder_edge_named(struct builder *b, const char *from, size_t from_len, const char *to,
                        size_t to_len, size_t line)
{
    uint32_t a = builder_find_task(b, from, from_len), c = builder_find_task(b, to, to_len);
    if (a != NONE && c != NONE)
        builder_edge(b, a, c, line);
    else
        array_push(&b->named,
                   (struct named_ordering){pool_add(&b->w->text, from, from_len),
                                           pool_add(&b->w->text, to, to_len), (uint32_t)line});
}

/* An anonymous object never enters the index: its name is made from its ends when somebody asks. */
void builder_data_edge(struct builder *b, uint32_t from, uint32_t to, double bytes, size_t line)
{
    if (from >= b->task_name.n || to >= b->task_name.n)
        return;
    if (!isfinite(bytes) || bytes < 0) {
        builder_error(b, line,
                      "edge from '%s' to '%s': size is %g; expected a finite number, 0 or more",
                      builder_task_name(b, from), builder_task_name(b, to), bytes);
        return;
    }
    if (from == to || bytes == 0) {
        builder_edge(b, from, to, line);
        return;
    }
    uint32_t object = builder_new_object(b, 0);
    if (object == NONE)
        return;
    b->size.at[object] = bytes;
    b->producer.at[object] = from;
    b->only_reader.at[object] = to;
    array_push(&b->readings, (struct builder_reading){to, object});
}

void builder_permute(struct builder *b, uint32_t task, bool outputs, const uint32_t *place,
                     uint32_t n, size_t line)
{
    if (task >= b->task_name.n)
        return;
    array_push(&b->permutations,
               (struct permutation){task, (uint32_t)b->places.n, n, (uint32_t)line, outputs});
    for (uint32_t i = 0; i < n; i++)
        array_push(&b->places, place[i]);
}

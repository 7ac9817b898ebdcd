/* DAGMan files written. A task with a command becomes a JOB with an inline submit description; one
 * without refers to a submit file that the user supplies, named after its kind. Tasks with the same
 * successors share a PARENT line.
 *
 *     JOB blur {                              a command: everything stands here
 *       executable = blur
 *       arguments = "-s 1.4 photo.pgm soft.pgm"
 *       request_memory = 96
 *       +WeftMemory = 100000000               where MiB would round it
 *     }
 *     VARS blur +WeftKind="\"filter\""        where the command does not tell the kind
 *     JOB edges edges.sub                     no command: a submit file that the user supplies
 *     PARENT blur CHILD edges */
#include "base/array.h"
#include "base/pool.h"
#include "base/plural.h"
#include "formats/dagman/dagman_parse.h"
#include "formats/dagman/dagman_submit.h"
#include "formats/dropped.h"
#include "formats/registry.h"
#include "model/command.h"
#include "model/shell.h"
#include <math.h>
#include <string.h>
#include <strings.h>

bool dagman_write_workflow(const struct workflow *w, struct strbuf *out, struct strbuf *dropped,
                           struct error *err);

/* A file being written; `renamed` and the like are for the remarks. */
struct dagman_writer {
    const struct workflow *w;
    struct strbuf *out;
    struct intern used; /* every node name given so far */
    str_id *name;       /* of each task, in `names` */
    struct pool names;
    size_t renamed, unsaid_commands, foreign_commands, lost_shells, filled_commands;
};

/* ---- names ---- */

/* DAGMan's own rules forbid . and +; the rest would be read as something else. */
static bool is_name_character(unsigned char c)
{
    return c > ' ' && c != 0x7F && !strchr(".+\"'\\#{}", c);
}

/* Words that the reader, and DAGMan, take for something else. */
static bool is_reserved(const char *name)
{
    static const char *const words[] = {"PARENT", "CHILD", "ALL_NODES"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(name, words[i]) == 0)
            return true;
    return false;
}

static bool is_node_name(const char *name)
{
    for (const char *p = name; *p; p++)
        if (!is_name_character((unsigned char)*p))
            return false;
    return *name && *name != '@' && !is_reserved(name); /* @= opens a description */
}

/* Names that DAGMan takes stay; then each of the others gets _ for what it may not hold, and a
 * number when that is taken. */
static void choose_names(struct dagman_writer *p)
{
    const struct workflow *w = p->w;
    p->name = mem_new_zero(str_id, (size_t)w->ntasks + 1);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        const char *name = workflow_task_name(w, t);
        if (is_node_name(name)) {
            p->name[t] = pool_add(&p->names, name, strlen(name));
            intern_number(&p->used, name, strlen(name));
        }
    }
    unsigned long long count = 2;
    struct strbuf text = {0};
    for (uint32_t t = 0; t < w->ntasks; t++) {
        if (p->name[t])
            continue;
        p->renamed++;
        strbuf_clear(&text);
        for (const char *c = workflow_task_name(w, t); *c; c++)
            strbuf_add_char(&text, is_name_character((unsigned char)*c) ? *c : '_');
        if (text.n && text.at[0] == '@')
            text.at[0] = '_';
        if (is_reserved(strbuf_text(&text)) || !text.n)
            strbuf_add_char(&text, '_');
        size_t base = text.n;
        while (intern_find(&p->used, text.at, text.n) != UINT32_MAX) {
            text.at[text.n = base] = 0;
            strbuf_printf(&text, "_%llu", count++);
        }
        intern_number(&p->used, text.at, text.n);
        p->name[t] = pool_add(&p->names, text.at, text.n);
    }
    strbuf_free(&text);
}

static const char *dagman_name_of(const struct dagman_writer *p, uint32_t task)
{
    return pool_text(&p->names, p->name[task]);
}

/* ---- nodes ---- */

/* \" and \\ as VARS reads them; a dollar would start a macro. */
static void add_var(struct strbuf *out, const char *key, const char *value)
{
    strbuf_printf(out, " %s=\"", key);
    for (; *value; value++) {
        if (*value == '$') {
            strbuf_add(out, "$(DOLLAR)");
            continue;
        }
        if (*value == '"' || *value == '\\')
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, *value);
    }
    strbuf_add_char(out, '"');
}

/* An attribute of the job that is a string has quotes of its own. */
static void add_kind(struct strbuf *out, const char *kind)
{
    struct strbuf quoted = {0};
    strbuf_printf(&quoted, "\"%s\"", kind);
    add_var(out, "+WeftKind", quoted.at);
    strbuf_free(&quoted);
}

static bool is_file_name(const char *kind)
{
    return *kind && !strpbrk(kind, " \t\r\n\v\f/\"\\") && *kind != '{' && *kind != '@' &&
           *kind != '.';
}

/* HTCondor counts memory in MiB; what that would round stands beside it in bytes. */
static double memory_in_mebibytes(double bytes)
{
    return ceil(bytes / 1048576);
}

/* The first word, as the reader chooses; of one with braces that is a matter of escapes: never. */
static bool is_default_kind(const char *kind, const char *command)
{
    if (strpbrk(command, "{}"))
        return false;
    command += strspn(command, " \t\n");
    size_t n = strcspn(command, " \t\n");
    return strlen(kind) == n && memcmp(kind, command, n) == 0;
}

/* A statement is one line. */
static bool has_line_break(const char *text)
{
    return strpbrk(text, "\r\n") != NULL;
}

/* JOB name { ... }: commands stand in the file itself, and no submit file is needed. */
static void write_inline(struct dagman_writer *p, uint32_t t, const char *text,
                         const struct strbuf *command)
{
    const struct workflow *w = p->w;
    struct strbuf *out = p->out;
    const char *kind = workflow_text(w, w->kind[t]);
    strbuf_printf(out, "JOB %s {\n%s", dagman_name_of(p, t), command->at);
    if (w->memory[t] > 0) {
        strbuf_printf(out, "  request_memory = %.0f\n", memory_in_mebibytes(w->memory[t]));
        if (memory_in_mebibytes(w->memory[t]) * 1048576 != w->memory[t]) {
            strbuf_add(out, "  +WeftMemory = ");
            strbuf_add_number(out, w->memory[t]);
            strbuf_add_char(out, '\n');
        }
    }
    if (w->cores[t] != 1)
        strbuf_printf(out, "  request_cpus = %u\n", w->cores[t]);
    bool noop = strcmp(text, DAGMAN_NOOP) == 0 && w->memory[t] <= 0 && w->cores[t] == 1;
    strbuf_printf(out, "}%s%s\n", noop ? " NOOP" : "", w->flags[t] & TASK_DONE ? " DONE" : "");
    if (*kind && !is_default_kind(kind, text) && !has_line_break(kind)) {
        strbuf_printf(out, "VARS %s", dagman_name_of(p, t));
        add_kind(out, kind);
        strbuf_add_char(out, '\n');
    }
}

/* JOB name kind.sub: the user supplies the submit file; memory and cores go into VARS, which it
 * may use. */
static void write_reference(struct dagman_writer *p, uint32_t t)
{
    const struct workflow *w = p->w;
    struct strbuf *out = p->out;
    const char *kind = workflow_text(w, w->kind[t]);
    bool file = is_file_name(kind);
    strbuf_printf(out, "JOB %s %s.sub%s\n", dagman_name_of(p, t),
                  file ? kind : dagman_name_of(p, t), w->flags[t] & TASK_DONE ? " DONE" : "");
    bool say_kind = *kind && !file && !has_line_break(kind);
    if (w->memory[t] <= 0 && w->cores[t] == 1 && !say_kind)
        return;
    char number[40];
    strbuf_printf(out, "VARS %s", dagman_name_of(p, t));
    if (w->memory[t] > 0) {
        snprintf(number, sizeof number, "%.0f",
                 memory_in_mebibytes(w->memory[t]) < 1e30 ? memory_in_mebibytes(w->memory[t])
                                                          : 1e30);
        add_var(out, "request_memory", number);
        if (memory_in_mebibytes(w->memory[t]) * 1048576 != w->memory[t]) {
            number_format(number, w->memory[t]);
            add_var(out, "+WeftMemory", number);
        }
    }
    if (w->cores[t] != 1) {
        snprintf(number, sizeof number, "%u", w->cores[t]);
        add_var(out, "request_cpus", number);
    }
    if (say_kind)
        add_kind(out, kind);
    strbuf_add_char(out, '\n');
}

/* One JOB a task, in the order of the workflow, so that reading gives the same numbers. */
static void write_nodes(struct dagman_writer *p)
{
    const struct workflow *w = p->w;
    struct strbuf command = {0}, filled = {0};
    for (uint32_t t = 0; t < w->ntasks; t++) {
        bool has = w->command && w->command[t], call = w->flags[t] & TASK_CALL;
        strbuf_clear(&command);
        /* HTCondor knows no {in}: what it stands for is written */
        strbuf_clear(&filled);
        bool literal = has && !call && command_is_literal(w, t, &filled);
        const char *text = strbuf_text(&filled), *shell = shell_stated(w, t);
        bool by_sh = shell && strcmp(shell, "sh") == 0;
        p->lost_shells += shell && (!by_sh || !*text || shell_is_simple(NULL, text));
        if (shell && !by_sh) {
            p->foreign_commands += *text != 0;
            write_reference(p, t);
        } else if (dagman_write_command(&command, text, by_sh || shell_is_simple(NULL, text))) {
            write_inline(p, t, text, &command);
            p->filled_commands += !literal;
        } else {
            p->unsaid_commands += *text != 0;
            write_reference(p, t);
        }
        if (w->retries && w->retries[t])
            strbuf_printf(p->out, "RETRY %s %u\n", dagman_name_of(p, t), w->retries[t]);
    }
    strbuf_free(&command);
    strbuf_free(&filled);
}

/* ---- priorities: whole numbers in DAGMan ---- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Returns true when ranks had to stand for the values: order is all that DAGMan uses. */
static bool write_priorities(struct dagman_writer *p)
{
    const struct workflow *w = p->w;
    if (!w->priority)
        return false;
    bool whole = true;
    for (uint32_t t = 0; t < w->ntasks; t++)
        whole &= w->priority[t] == floor(w->priority[t]) && fabs(w->priority[t]) <= 2147483647;
    double *sorted = mem_new(double, (size_t)w->ntasks + 1);
    size_t n = 0;
    if (!whole) {
        memcpy(sorted, w->priority, w->ntasks * sizeof *sorted);
        qsort(sorted, w->ntasks, sizeof *sorted, compare_doubles);
        for (uint32_t t = 0; t < w->ntasks; t++)
            if (!n || sorted[t] != sorted[n - 1])
                sorted[n++] = sorted[t];
    }
    for (uint32_t t = 0; t < w->ntasks; t++) {
        double value = w->priority[t];
        if (!whole)
            value = (double)((double *)bsearch(&value, sorted, n, sizeof *sorted, compare_doubles) -
                             sorted);
        if (value != 0)
            strbuf_printf(p->out, "PRIORITY %s %.0f\n", dagman_name_of(p, t), value);
    }
    free(sorted);
    return !whole;
}

/* ---- edges ---- */

static int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Tasks with equal lists of successors: chains through next[] from each first one to last[]; the
 * successors of a first task t are to[off[t] .. off[t + 1]). */
struct dagman_groups {
    uint32_t *off, *to, *next, *last;
    bool *first;
};

/* PARENT a b CHILD c d: all tasks of a group before all of their successors. */
static void print_groups(struct dagman_writer *p, const struct dagman_groups *g)
{
    for (uint32_t t = 0; t < p->w->ntasks; t++) {
        if (!g->first[t])
            continue;
        strbuf_add(p->out, "PARENT");
        for (uint32_t s = t;; s = g->next[s]) {
            strbuf_printf(p->out, " %s", dagman_name_of(p, s));
            if (s == g->last[t])
                break;
        }
        strbuf_add(p->out, " CHILD");
        for (uint32_t e = g->off[t]; e < g->off[t + 1]; e++)
            strbuf_printf(p->out, " %s", dagman_name_of(p, g->to[e]));
        strbuf_add_char(p->out, '\n');
    }
}

/* Group tasks by equal successor lists: a hash table of first tasks, a linked list of the others in
 * order. */
static void write_edges(struct dagman_writer *p)
{
    const struct workflow *w = p->w;
    uint32_t n = w->ntasks, mask = 15;
    while (mask < 2 * (uint64_t)n && mask < UINT32_MAX / 2)
        mask = mask * 2 + 1;
    uint32_t *off = mem_new(uint32_t, (size_t)n + 1),
             *to = mem_new(uint32_t, (size_t)w->nedges + 1);
    uint32_t *slot = mem_new_zero(uint32_t, (size_t)mask + 1); /* first task of a group, plus 1 */
    uint32_t *next = mem_new_zero(uint32_t, (size_t)n + 1),
             *last = mem_new(uint32_t, (size_t)n + 1);
    bool *first = mem_new_zero(bool, (size_t)n + 1);
    uint32_t used = 0;
    for (uint32_t t = 0; t < n; t++) {
        uint32_t count = w->succ_off[t + 1] - w->succ_off[t], start = off[t] = used;
        memcpy(to + start, w->succ_task + w->succ_off[t], count * sizeof *to);
        if (count)
            qsort(to + start, count, sizeof *to, compare_u32);
        for (uint32_t i = 0; i < count; i++)
            if (used == start || to[used - 1] != to[start + i])
                to[used++] = to[start + i];
        if (used == start)
            continue;
        size_t bytes = (used - start) * sizeof *to;
        uint32_t at = (uint32_t)hash_bytes(to + start, bytes) & mask;
        for (; slot[at]; at = (at + 1) & mask) {
            uint32_t s = slot[at] - 1;
            if (off[s + 1] - off[s] == used - start && memcmp(to + off[s], to + start, bytes) == 0)
                break;
        }
        if (slot[at]) { /* the same list: share it */
            uint32_t s = slot[at] - 1;
            next[last[s]] = t;
            last[s] = t;
            used = start;
        } else {
            slot[at] = t + 1;
            last[t] = t;
            first[t] = true;
        }
        off[t + 1] = used;
    }
    print_groups(p, &(struct dagman_groups){off, to, next, last, first});
    free(off);
    free(to);
    free(slot);
    free(next);
    free(last);
    free(first);
}

/* ---- what is lost ---- */

/* DAGMan's own losses around the table's. */
static void dagman_report(const struct dagman_writer *p, bool ranked, struct strbuf *dropped)
{
    const struct workflow *w = p->w;
    size_t kinds = 0;
    for (uint32_t t = 0; t < w->ntasks; t++)
        kinds += has_line_break(workflow_text(w, w->kind[t]));
    dropped_count(dropped, p->renamed, "names (written without the characters that DAGMan refuses)",
                  "task");
    /* objects are named in one line below, not kind by kind */
    dropped_report(w, format_dagman.carries | CARRIES_GRAPH | CARRIES_TITLE, dropped);
    dropped_count(dropped, kinds, "kinds with a line break", "task");
    dropped_count(dropped, p->lost_shells, "shells", "task");
    dropped_count(dropped, p->foreign_commands, "commands for a shell of their own", "task");
    dropped_count(dropped, p->unsaid_commands, "commands with a line break", "task");
    if (dropped && p->filled_commands)
        strbuf_printf(dropped,
                      "commands of %zu task%s as templates ({in} and the like are written "
                      "out)\n",
                      p->filled_commands, plural(p->filled_commands));
    dropped_count(dropped, w->nobjects, "names and sizes (edges stay as orderings)", "data object");
    if (dropped && ranked)
        strbuf_add(dropped, "fractions of priorities (written as ranks, in the same order)\n");
    if (dropped && *workflow_text(w, w->name))
        strbuf_add(dropped, "the workflow's name\n");
}

bool dagman_write_workflow(const struct workflow *w, struct strbuf *out, struct strbuf *dropped,
                           struct error *err)
{
    (void)err;
    struct dagman_writer p = {.w = w, .out = out};
    intern_init(&p.used);
    pool_init(&p.names);
    choose_names(&p);
    strbuf_add(out, DAGMAN_SIGNATURE);
    write_nodes(&p);
    bool ranked = write_priorities(&p);
    write_edges(&p);
    dagman_report(&p, ranked, dropped);
    intern_free(&p.used);
    pool_free(&p.names);
    free(p.name);
    return true;
}

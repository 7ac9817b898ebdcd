/* Files of a part that are on its node's disk for a while: the order of the part is carried out step by step, and
 * what waits in memory is kept account of. O(tasks + evictions).
 *
 *     FILE_NOWHERE ──made──▶ FILE_IN_MEMORY ──written out──▶ FILE_ON_DISK
 *                                  └──────────read────────────────┴──▶ FILE_READ
 *
 * A file that is written out before it is made or after it was read is a mistake of the plan, as is a task that
 * reads what has not been made. It knows the plan and the tree, and nothing of how planners pick files. */
#include "model/check_rules.h"
#include "model/tree.h"

/* Where the file between two tasks is. */
enum file_place { FILE_NOWHERE, FILE_IN_MEMORY, FILE_ON_DISK, FILE_READ };

struct eviction_check {
    struct check *c;
    const struct tree *t;
    const struct part *part;
    uint8_t *member;        /* number -> is in the part */
    uint8_t *place;         /* number -> enum file_place of the file between it and its parent */
    double waiting;         /* bytes of files in memory */
    uint32_t *first, *next; /* task -> evictions before it, a chain; NONE: no more */
    bool strict;
};

/* The number whose file it is; NONE: no file of this part lies between the two. */
static uint32_t evicted_file(const struct eviction_check *s, const struct plan_eviction *e)
{
    const struct tree *t = s->t;
    uint32_t child = t->number[t->in ? e->from : e->to],
             parent = t->number[t->in ? e->to : e->from];
    bool inside = t->parent[child] == parent && s->member[child] && s->member[parent];
    return inside ? child : NONE;
}

static void move_file(struct eviction_check *s, uint32_t file, enum file_place to)
{
    s->waiting -= s->place[file] == FILE_IN_MEMORY ? s->t->file[file] : 0;
    s->waiting += to == FILE_IN_MEMORY ? s->t->file[file] : 0;
    s->place[file] = (uint8_t)to;
}

/* Those of the plan that are written before this task. False: one is not in memory then. */
static bool write_before(struct eviction_check *s, uint32_t task, double *written)
{
    const struct plan *plan = s->c->plan;
    for (uint32_t i = s->first[task]; i != NONE; i = s->next[i]) {
        const struct plan_eviction *e = &plan->evictions.at[i];
        uint32_t file = evicted_file(s, e);
        if (file == NONE || s->place[file] != FILE_IN_MEMORY) {
            check_say(
                s->c, VIOLATION_PARTITION, task,
                "the file from '%s' to '%s' is to be written to disk before '%s', but is not in "
                "memory then",
                workflow_task_name(s->c->w, e->from), workflow_task_name(s->c->w, e->to),
                workflow_task_name(s->c->w, task));
            return false;
        }
        move_file(s, file, FILE_ON_DISK);
        *written += s->t->file[file];
    }
    return true;
}

static bool is_there(const struct eviction_check *s, uint32_t file)
{
    return s->place[file] == FILE_IN_MEMORY || s->place[file] == FILE_ON_DISK;
}

/* What is in memory while x runs. Its own file and its children's are there, also those that were on disk; files of
 * other parts count while it runs. *good: what it reads has been made. */
static double run_one(struct eviction_check *s, uint32_t x, bool *good)
{
    const struct tree *t = s->t;
    double bytes = t->memory[x] + t->file[x];
    bool inside = x != t->number[s->part->root];
    if (inside && !t->in)
        *good &= is_there(s, x);
    if (inside && !t->in)
        move_file(s, x, FILE_READ);
    for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++) {
        bytes += s->member[c] || s->strict ? t->file[c] : 0;
        if (!s->member[c] || !t->in)
            continue;
        *good &= is_there(s, c);
        move_file(s, c, FILE_READ);
    }
    bytes += s->waiting;
    for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1] && !t->in; c++)
        if (s->member[c])
            move_file(s, c, FILE_IN_MEMORY);
    if (inside && t->in)
        move_file(s, x, FILE_IN_MEMORY);
    return bytes;
}

/* Ends at the first thing that makes no sense; every task that finds too little memory is told. */
static void carry_out(struct eviction_check *s, double *written)
{
    const struct plan *plan = s->c->plan;
    double memory = s->c->p->memory[s->part->node];
    const char *node = platform_node_name(s->c->p, s->part->node);
    for (uint32_t k = 0; k < s->part->count; k++) {
        uint32_t task = plan->tasks.at[s->part->order + k], x = s->t->number[task];
        bool good = s->member[x];
        if (!write_before(s, task, written))
            return;
        double bytes = run_one(s, x, &good);
        if (!good) {
            check_say(s->c, VIOLATION_PARTITION, task,
                      "the order of the part on '%s' is not a traversal of it: '%s' is too early",
                      node, workflow_task_name(s->c->w, task));
            return;
        }
        if (bytes > memory * (1 + 1e-9))
            check_say(s->c, VIOLATION_MEMORY, task,
                      "while '%s' runs, '%s' needs %.10g bytes beside what is on its disk; it has "
                      "%.10g",
                      workflow_task_name(s->c->w, task), node, bytes, memory);
    }
}

/* The evictions of the part into chains; false: there are none. */
static bool chain_evictions(struct eviction_check *s)
{
    const struct plan *plan = s->c->plan;
    bool any = false;
    for (uint32_t task = 0; task < s->c->w->ntasks; task++)
        s->first[task] = NONE;
    for (size_t k = plan->evictions.n; k-- > 0;) {
        uint32_t before = plan->evictions.at[k].before;
        s->next[k] = s->first[before];
        s->first[before] = (uint32_t)k;
        any |= s->member[s->t->number[before]];
    }
    return any;
}

bool check_part_evictions(struct check *c, const struct tree *t, uint32_t i, bool strict,
                          double *written)
{
    const struct part *part = &c->plan->parts.at[i];
    struct eviction_check s = {.c = c, .t = t, .part = part, .strict = strict};
    *written = 0;
    if (!c->plan->evictions.n)
        return false;
    s.member = mem_new_zero(uint8_t, t->n);
    s.place = mem_new_zero(uint8_t, t->n);
    s.first = mem_new(uint32_t, t->n);
    s.next = mem_new(uint32_t, c->plan->evictions.n);
    for (uint32_t k = 0; k < part->count; k++)
        s.member[t->number[c->plan->tasks.at[part->tasks + k]]] = 1;
    bool any = chain_evictions(&s);
    if (any && part->order == NONE)
        check_say(c, VIOLATION_PARTITION, part->root,
                  "part %u writes files to disk and states no order", i);
    else if (any && !(c->p->disk[part->node] > 0))
        check_say(c, VIOLATION_NODE, part->root, "part %u writes files to disk, and '%s' has none",
                  i, platform_node_name(c->p, part->node));
    else if (any)
        carry_out(&s, written);
    free(s.member);
    free(s.place);
    free(s.first);
    free(s.next);
    return any;
}

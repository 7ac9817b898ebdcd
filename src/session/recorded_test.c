/* Commands of two runs compared: what recorded_compare() takes from lines of two texts, against both graphs
 * read whole. Graphs are drawn at random, with names and commands that need quotes, lines of their own,
 * braces; the second is the first with something changed. */
#include "session/recorded.h"

#include "base/rng.h"
#include "base/tree.h"
#include "formats/registry.h"
#include "history/changes.h"
#include "model/builder.h"
#include "model/command.h"
#include "tap.h"

#include <math.h>

enum { TASKS = 6, FILES = 9, PAIRS = 1000 };

static const char *const task_names[] = {"a",    "b-1",  "c.2", "12",  "null",   "with blank",
                                         "x: y", "it's", "é",   "t/9", "- dash", "{{b}}"};
static const char *const file_names[] = {"f.txt", "d/g.txt", "h h",   "it's", "k,l",  "m#n", "-o",
                                         "p]q",   "{r}",     "ä.txt", "s: t", "u\tv", "12"};
static const char *const commands[] = {
    "true",
    "sort {in} > {out}",
    "step {sigma} {in}",
    "step --n {n} '{in}' \"x\"",
    "'both' \"a\\b\" {sigma}",
    "echo \"a: b\" # {task}",
    "'quoted' {sigma}",
    "'it''s' {{n}}",
    "cat <<END\n{sigma}\nEND\n",
    "run {cores}",
    "run {memory}",
    "run {kind} {in}",
    "awk '{{print $1}}' {in.list}",
    " leading {sigma}",
    "trailing ",
    "${{sigma}} ${sigma}",
    "- {attempt}",
    "é {sigma}",
    "x: {odd-name} {é}",
};
static const char *const parameters[] = {"sigma", "n", "odd-name", "é"};
static const char *const values[] = {"1", "2", "two words", "", "'q'", "{in}", "yes", "ü"};

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define PICK(rng, list) (uint32_t) rng_below(rng, COUNT(list))

struct drawn_task {
    uint32_t name, command, kind, cores, nin, nout, in[FILES], out[3];
    bool there, sized, optional, waits;
};
struct drawn {
    struct drawn_task task[TASKS];
    uint32_t value[COUNT(parameters)];
};

static void draw_task(struct rng *r, struct drawn_task *t, uint32_t name)
{
    *t = (struct drawn_task){.name = name,
                             .command = PICK(r, commands),
                             .kind = (uint32_t)rng_below(r, 3),
                             .cores = 1 + (uint32_t)rng_below(r, 2),
                             .nin = (uint32_t)rng_below(r, rng_below(r, 4) ? 3 : FILES),
                             .nout = (uint32_t)rng_below(r, 3),
                             .there = rng_below(r, 8) != 0,
                             .sized = rng_below(r, 3) == 0,
                             .optional = rng_below(r, 5) == 0,
                             .waits = rng_below(r, 4) == 0};
    bool plain = rng_below(r, 2);
    for (uint32_t i = 0; i < FILES; i++)
        t->in[i] = plain ? (uint32_t)rng_below(r, 2) : PICK(r, file_names);
    for (uint32_t i = 0; i < 3; i++)
        t->out[i] = plain ? (uint32_t)rng_below(r, 2) : PICK(r, file_names);
    if (plain && rng_below(r, 2))
        t->command = (uint32_t)rng_below(r, 7);
}

static void draw(struct rng *r, struct drawn *d)
{
    uint32_t first = PICK(r, task_names);
    for (uint32_t i = 0; i < TASKS; i++)
        draw_task(r, &d->task[i], (first + i) % COUNT(task_names));
    for (uint32_t i = 0; i < COUNT(parameters); i++)
        d->value[i] = PICK(r, values);
}

static void change(struct rng *r, struct drawn *d)
{
    struct drawn_task *t = &d->task[rng_below(r, TASKS)];
    switch (rng_below(r, 6)) {
    case 0:
        t->command = PICK(r, commands);
        break;
    case 1:
        t->there = !t->there;
        break;
    case 2:
        t->nin = (uint32_t)rng_below(r, FILES);
        break;
    case 3:
        draw_task(r, t, t->name);
        break;
    default:
        d->value[rng_below(r, COUNT(parameters))] = PICK(r, values);
    }
}

/* A file's number keeps those of different tasks apart; inputs are of tasks before, or the workflow's. */
static uint32_t draw_object(struct builder *b, uint32_t name, uint32_t maker)
{
    char text[64];
    int n = snprintf(text, sizeof text, "%s%u", file_names[name], maker);
    return builder_object(b, text, (size_t)n);
}

static void build_task(struct builder *b, const struct drawn_task *t, uint32_t number)
{
    const char *name = task_names[t->name], *command = commands[t->command];
    uint32_t task = builder_task(b, name, strlen(name), 0);
    builder_command(b, task, command, strlen(command));
    builder_cores(b, task, t->cores, 0);
    builder_memory(b, task, 1e6 * t->cores, 0);
    if (t->kind)
        builder_kind(b, task, t->kind == 1 ? "kind" : "k: 2", 4);
    if (t->waits && task)
        builder_edge(b, task - 1, task, 0);
    for (uint32_t i = 0; i < t->nin; i++) {
        uint32_t o = draw_object(b, t->in[i], i % (number + 1));
        builder_consumes(b, task, o, 0);
        if (t->optional)
            builder_optional(b, task, o);
    }
    for (uint32_t i = 0; i < t->nout; i++) {
        uint32_t o = draw_object(b, t->out[i], 100 * (number + 1) + i);
        builder_produces(b, task, o, 0);
        if (t->sized)
            builder_size(b, o, 7, 0);
    }
}

static struct workflow *build(const struct drawn *d)
{
    struct builder *b = builder_new("<drawn>", "native");
    builder_name(b, "drawn", 5);
    for (uint32_t i = 0; i < COUNT(parameters); i++)
        builder_parameter(b, parameters[i], values[d->value[i]]);
    for (uint32_t i = 0; i < TASKS; i++)
        if (d->task[i].there)
            build_task(b, &d->task[i], i);
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    if (!w)
        printf("# %s\n", err.text);
    return w;
}

static int64_t record(struct history *h, struct workflow *w)
{
    struct error err = {0};
    struct strbuf text = {0}, dropped = {0};
    struct run_record head = {.name = "drawn",
                              .folder = "/nowhere",
                              .host = "test",
                              .started = 1e9,
                              .tasks = w->ntasks,
                              .predicted_seconds = NAN,
                              .predicted_memory = NAN,
                              .predicted_disk = NAN,
                              .workflow = w};
    struct run_record totals = {.outcome = RECORD_DONE, .seconds = 1, .tasks = w->ntasks};
    format_native.write_workflow(w, &text, &dropped, &err);
    int64_t run = history_begin(h, &head, text.at, text.n, &err);
    history_end(h, &totals, &err);
    strbuf_free(&text);
    strbuf_free(&dropped);
    return run;
}

/* "name: before -> after" of each command that differs, in the order of the first graph. */
static void expected(struct history *h, const int64_t run[2], struct strbuf *out)
{
    struct workflow *a = recorded_workflow(h, run[0]), *b = recorded_workflow(h, run[1]);
    for (uint32_t t = 0; a && b && t < a->ntasks; t++) {
        struct strbuf before = {0}, after = {0};
        uint32_t u = workflow_find_task(b, workflow_task_name(a, t));
        if (u != NONE) {
            command_readable(a, t, 1, &before);
            command_readable(b, u, 1, &after);
            if (strcmp(strbuf_text(&before), strbuf_text(&after)) != 0)
                strbuf_printf(out, "%s: %s -> %s\n", workflow_task_name(a, t), before.at, after.at);
        }
        strbuf_free(&before);
        strbuf_free(&after);
    }
    if (!a || !b)
        strbuf_add(out, "a text cannot be read\n");
    workflow_free(a);
    workflow_free(b);
}

static void found(struct history *h, const int64_t run[2], struct strbuf *out)
{
    struct error err = {0};
    struct history_changes c;
    if (!recorded_compare(h, run[0], run[1], &c, &err))
        strbuf_add(out, err.text);
    for (size_t i = 0; i < c.differences.n; i++) {
        const struct history_difference *d = &c.differences.at[i];
        if (strcmp(d->what, "command") == 0)
            strbuf_printf(out, "%s: %s -> %s\n", d->name, d->a, d->b);
    }
    history_changes_free(&c);
}

int main(void)
{
    char folder[64] = "/tmp/weft-recorded-XXXXXX", path[96];
    struct error err = {0};
    struct rng r;
    uint32_t differ = 0, wrong = 0, pairs = tap_rounds(PAIRS);
    if (!ok(mkdtemp(folder) != NULL, "a folder to work in"))
        return tap_done();
    snprintf(path, sizeof path, "%s/history.db", folder);
    struct history *h = history_open(path, &err);
    rng_seed(&r, 17);
    for (uint32_t i = 0; h && i < pairs; i++) {
        struct drawn d;
        draw(&r, &d);
        struct workflow *a = build(&d);
        for (uint64_t k = 1 + rng_below(&r, 3); k--;)
            change(&r, &d);
        struct workflow *b = build(&d);
        struct strbuf want = {0}, have = {0};
        if (a && b && a->ntasks && b->ntasks) {
            int64_t run[2] = {record(h, a), record(h, b)};
            expected(h, run, &want);
            found(h, run, &have);
            differ += want.n > 0;
            if (strcmp(strbuf_text(&want), strbuf_text(&have)) != 0 && wrong++ < 3)
                printf("# pair %u\n%s---\n%s", i, strbuf_text(&want), strbuf_text(&have));
        }
        strbuf_free(&want);
        strbuf_free(&have);
        workflow_free(a);
        workflow_free(b);
    }
    is_int(wrong, 0, "commands compared are those of both graphs read whole");
    ok(differ > pairs / 4, "%u of %u pairs have some that differ", differ, pairs);
    history_close(h);
    tree_remove(folder);
    return tap_done();
}

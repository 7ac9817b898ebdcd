/* The standard history, its runs by the names that people type, and records with the workflow that
 * ran, where its text was kept (history_begin() keeps it up to HISTORY_TEXT_LIMIT). */
#include "session/recorded.h"

#include "session/recorded_text.h"

#include "base/mem.h"
#include "base/quantity.h"
#include "formats/format.h"
#include "formats/yaml/yaml.h"
#include "model/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct history *recorded_open(struct error *err)
{
    char *path = history_default_path();
    struct history *h = path ? history_open_existing(path, err) : NULL;
    free(path);
    return h;
}

void recorded_abandon(void *history)
{
    history_close(history);
}

/* A reader without a history has made no mistake, but has nothing to show: the text says why. */
struct history *recorded_require(struct error *err)
{
    struct history *h = recorded_open(err);
    if (!h && err->kind == ERROR_NONE) {
        char *path = history_default_path();
        error_set(err, ERROR_INPUT,
                  path ? "%s: there is no history yet; `weft run` makes one"
                       : "%sno history: WEFT_HISTORY is 'none', or there is no home folder",
                  path ? path : "");
        free(path);
    }
    return h;
}

/* "last" is looked up at once, so that the number is the same in all that follows. */
bool recorded_number(struct history *h, const char *text, int64_t *run, struct error *err)
{
    if (strcmp(text, "last") == 0) {
        struct run_record head;
        if (!history_head(h, 0, &head, err))
            return false;
        *run = head.run;
        record_free(&head);
        return true;
    }
    if (quantity_integer(text, strlen(text), run) && *run > 0)
        return true;
    struct error why = {0};
    *run = history_named(h, text, &why);
    if (why.kind != ERROR_NONE)
        return error_set(err, why.kind, "%s", why.text);
    return *run ||
           error_set(err, ERROR_INPUT,
                     "'%s' is no run; expected a number from `weft history`, last, or a name that "
                     "`weft history RUN --name` gave",
                     text);
}

struct workflow *recorded_read(char *text, size_t n)
{
    struct format_source source = {.path = "history", .text = text, .length = n};
    const struct format *native = format_find("native");
    return native ? native->read_workflow(&source, NULL) : NULL;
}

struct workflow *recorded_workflow(struct history *h, int64_t run)
{
    size_t n = 0;
    char *text = history_workflow_text(h, run, &n, NULL);
    struct workflow *w = text ? recorded_read(text, n) : NULL;
    free(text);
    return w;
}

const char *recorded_block_end(const char *at, size_t indent)
{
    while (*at) {
        size_t blanks = strspn(at, " ");
        if (at[blanks] != '\n' && blanks <= indent)
            break;
        const char *line = strchr(at, '\n');
        if (!line)
            return at + strlen(at);
        at = line + 1;
    }
    return at;
}

void recorded_add_head(const char *text, const char *tasks, struct strbuf *out)
{
    strbuf_add(out, "weft: 1\n");
    const char *parameters = strstr(text, "\nparameters:\n");
    if (parameters && parameters < tasks) {
        const char *end = recorded_block_end(parameters + strlen("\nparameters:\n"), 0);
        strbuf_add_bytes(out, parameters + 1, (size_t)(end - parameters) - 1);
    }
    strbuf_add(out, "tasks:\n");
}

void recorded_add_body(const char *body, const char *end, struct strbuf *out)
{
    while (body < end) {
        const char *next = recorded_block_end(strchr(body, '\n') + 1, 4);
        if (strncmp(body, "    after:", 10) != 0)
            strbuf_add_bytes(out, body, (size_t)(next - body));
        body = next;
    }
}

/* Histories have texts of weft's own writer, in which a task is a key of two blanks and what is deeper:
 *
 *     parameters:                     kept, commands use them
 *     tasks:
 *       NAME:                         the one that is wanted
 *         in: [...]
 *         after: [...]                left out: other tasks are not there
 *
 * False: it is laid out otherwise. */
static bool recorded_cut(const char *text, const char *task, struct strbuf *out)
{
    struct strbuf key = {0};
    strbuf_add(&key, "\n  ");
    bool plain = yaml_write_string(&key, task, YAML_IN_BLOCK);
    strbuf_add(&key, ":\n");
    const char *tasks = strstr(text, "\ntasks:\n"), *at = NULL;
    if (plain && tasks)
        at = strstr(tasks, key.at);
    size_t head = key.n - 1; /* the line's end is that of the block's first line */
    strbuf_free(&key);
    if (!at)
        return false;
    recorded_add_head(text, tasks, out);
    const char *body = at + head + 1, *end = recorded_block_end(body, 2);
    strbuf_add_bytes(out, at + 1, head);
    recorded_add_body(body, end, out);
    return true;
}

struct workflow *recorded_task(struct history *h, int64_t run, const char *task)
{
    size_t n = 0;
    char *text = history_workflow_text(h, run, &n, NULL);
    struct strbuf part = {0};
    struct workflow *w =
        text && recorded_cut(text, task, &part) ? recorded_read(part.at, part.n) : NULL;
    if (w && workflow_find_task(w, task) == NONE) {
        workflow_free(w);
        w = NULL;
    }
    if (!w && text)
        w = recorded_read(text, n);
    strbuf_free(&part);
    free(text);
    return w;
}

struct workflow *recorded_graph(struct history *h, int64_t run, char **folder, struct error *err)
{
    struct run_record head;
    struct workflow *w = NULL;
    size_t n = 0;
    *folder = NULL;
    if (!history_head(h, run, &head, err))
        return NULL;
    char *text = history_workflow_text(h, head.run, &n, err);
    if (text) {
        /* its name and its file's stand in what is recorded of the next run */
        struct format_source source = {.path = head.file ? head.file : head.name,
                                       .text = text,
                                       .length = n,
                                       .folder = head.folder};
        w = format_find("native")->read_workflow(&source, err);
        *folder = head.folder ? mem_copy_string(head.folder) : NULL;
    } else {
        error_set(err, ERROR_INPUT,
                  "the graph of run %lld was not kept: its text is longer than %zu MB, or it came "
                  "from another system",
                  (long long)head.run, HISTORY_TEXT_LIMIT >> 20);
    }
    free(text);
    record_free(&head);
    return w;
}

/* A text that no longer has as many tasks as ran is another workflow's, and is left out. */
bool recorded_load(struct history *h, int64_t run, struct run_record *out, struct error *err)
{
    if (!history_load(h, run, out, err))
        return false;
    /* the text may be of a newer format, or have been too long to keep: a record without one is fine */
    out->workflow = recorded_workflow(h, out->run);
    if (out->workflow && out->workflow->ntasks != out->tasks) {
        workflow_free(out->workflow); /* not the one that ran */
        out->workflow = NULL;
    }
    return true;
}

/* Names and kinds, when the text of the workflow was not kept: no edges, but better than numbers.
 */
struct workflow *recorded_names(struct history *h, const struct run_record *r)
{
    struct history_tasks tasks;
    if (!history_tasks(h, r->run, &tasks, NULL))
        return NULL;
    struct builder *b = builder_new("history", "history");
    for (uint32_t t = 0; t < tasks.n; t++) {
        const char *name = history_task_name(&tasks, t), *kind = history_task_kind(&tasks, t);
        uint32_t task = builder_task(b, name, strlen(name), 0);
        if (kind && *kind)
            builder_kind(b, task, kind, strlen(kind));
    }
    bool whole = tasks.n && tasks.n == r->tasks;
    history_tasks_free(&tasks);
    if (whole)
        return builder_finish(b, NULL);
    builder_free(b);
    return NULL;
}

bool recorded_show(const char *which, struct run_record *out, struct error *err)
{
    struct history *h = recorded_require(err);
    struct mem_guard guard;
    int64_t run = 0;
    mem_guard_enter(&guard, recorded_abandon, h);
    bool good = h && recorded_number(h, which, &run, err) && recorded_load(h, run, out, err);
    if (good && !out->workflow)
        out->workflow = recorded_names(h, out);
    mem_guard_leave(&guard);
    history_close(h);
    return good;
}

/* The history names files as they were named then, with links in them: so the file system is not
 * asked, and a file that is gone has its name all the same. */
char *recorded_path(const char *path)
{
    struct strbuf whole = {0};
    if (*path != '/') {
        char *here = getcwd(NULL, 0);
        strbuf_add(&whole, here ? here : "");
        free(here);
    }
    char *copy = mem_copy_string(path), *rest = NULL;
    for (char *part = strtok_r(copy, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
        if (strcmp(part, ".") == 0)
            continue;
        /* one name less; "/.." is "/" */
        if (strcmp(part, "..") == 0) {
            while (whole.n && whole.at[whole.n - 1] != '/')
                whole.n--;
            whole.n -= whole.n > 0;
            if (whole.at)
                whole.at[whole.n] = 0;
            continue;
        }
        strbuf_printf(&whole, "/%s", part);
    }
    free(copy);
    if (!whole.n)
        strbuf_add(&whole, "/");
    return strbuf_steal(&whole);
}

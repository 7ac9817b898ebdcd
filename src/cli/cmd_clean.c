/* `weft clean`: away with what no run needs: logs and sandboxes of runs that are over, records of
 * computations that the workflow no longer has, temporary files that nobody will read. With --all
 * also what the tasks made. */
#include "base/json.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/run_session.h"
#include "report/human.h"
#include "base/tree.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct cli_option options[] = {
    {"all", 0, NULL, "also the outputs of all tasks, and every record of them"},
    {"directory", 'C', "DIR", "where the files are (default: where the workflow's file is)"},
    {"dry-run", 'n', NULL, "only say what would go"},
    OPTION_FROM,
    OPTION_READ,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

struct cleaning {
    struct session s;
    bool dry, all;
    uint32_t logs, sandboxes, files, records;
    double bytes;
};

static double walked; /* nftw() takes no context */

static int add_size(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)path;
    (void)kind;
    (void)ftw;
    walked += (double)st->st_size;
    return 0;
}

static void drop(struct cleaning *c, const char *path, uint32_t *count)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return;
    walked = 0;
    nftw(path, add_size, 16, FTW_PHYS);
    if (!c->dry && !tree_remove(path))
        return;
    c->bytes += walked;
    ++*count;
}

/* Everything in a folder of ours. */
static void drop_inside(struct cleaning *c, const char *name, uint32_t *count)
{
    struct strbuf folder = {0}, path = {0};
    strbuf_printf(&folder, "%s/%s", c->s.state, name);
    DIR *d = opendir(folder.at);
    struct dirent *e;
    while (d && (e = readdir(d)) != NULL)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            drop(c, path_in(folder.at, e->d_name, &path), count);
    if (d)
        closedir(d);
    strbuf_free(&folder);
    strbuf_free(&path);
}

static void drop_outputs(struct cleaning *c)
{
    const struct workflow *w = c->s.w;
    struct strbuf path = {0};
    char label[512];
    for (uint32_t o = 0; o < w->nobjects; o++) {
        bool temporary = workflow_is_temporary(w, o);
        if (w->producer[o] == NONE || !w->object_name[o])
            continue;
        /* a temporary file is of use only to a consumer that must still run */
        bool wanted = false;
        uint32_t n;
        const uint32_t *consumers = workflow_consumers(w, o, &n);
        for (uint32_t i = 0; i < n; i++)
            wanted |= c->s.needs.task[consumers[i]] != NEED_NOT;
        if (c->all || (temporary && !wanted))
            drop(c, path_in(c->s.folder, workflow_object_label(w, o, label, sizeof label), &path),
                 &c->files);
    }
    strbuf_free(&path);
}

/* Keys of the workflow as it is now. */
struct keys_now {
    struct digest *at;
    size_t n;
    uint32_t dropped;
    bool none;
};

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct digest));
}

static bool keep(void *context, const struct memo_task *t)
{
    struct keys_now *k = context;
    if (!k->none && k->n && bsearch(&t->key, k->at, k->n, sizeof *k->at, by_bytes))
        return true;
    k->dropped++;
    return false;
}

static bool drop_records(struct cleaning *c, struct error *err)
{
    const struct workflow *w = c->s.w;
    struct keys_now k = {.at = mem_new(struct digest, w->ntasks), .none = c->all};
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (need_key(&c->s.needs, t, &k.at[k.n]))
            k.n++;
    if (k.n)
        qsort(k.at, k.n, sizeof *k.at, by_bytes);
    double before = 0, after = 0;
    bool good = c->dry || memo_compact(c->s.memo, keep, &k, &before, &after, err);
    c->records = k.dropped;
    c->bytes += before - after;
    free(k.at);
    return good;
}

static int report(const struct cleaning *c)
{
    struct strbuf out = {0};
    char size[HUMAN_SIZE];
    if (c->s.json) {
        struct json_writer j;
        json_write_start(&j, &out, true);
        json_write_object(&j);
        json_put_string(&j, "schema", "weft-clean/1");
        json_put_bool(&j, "removed", !c->dry);
        json_put_integer(&j, "logs", c->logs);
        json_put_integer(&j, "sandboxes", c->sandboxes);
        json_put_integer(&j, "files", c->files);
        json_put_integer(&j, "records", c->records);
        json_put_number(&j, "bytes", c->bytes);
        json_write_end_object(&j);
        strbuf_add_char(&out, '\n');
    } else if (!c->s.quiet) {
        strbuf_printf(&out, "%s %s: logs of %u run%s, %u sandbox%s, %u file%s, %u record%s\n",
                      c->dry ? "would remove" : "removed", human_bytes(size, c->bytes), c->logs,
                      c->logs == 1 ? "" : "s", c->sandboxes, c->sandboxes == 1 ? "" : "es",
                      c->files, c->files == 1 ? "" : "s", c->records, c->records == 1 ? "" : "s");
    }
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

static int run(const struct arguments *a)
{
    struct error err = {0};
    struct cleaning c = {.dry = arguments_flag(a, "dry-run"), .all = arguments_flag(a, "all")};
    session_begin(&c.s, a, a->operand[0]);
    struct format_file *f = cli_open(a, a->operand[0], &err);
    struct workflow *w = f ? format_file_workflow(f, &err) : NULL;
    format_file_close(f);
    /* the records are open from here on, so no run is going on in the folder */
    bool good = session_open(&c.s, w, &err);
    if (good) {
        drop_inside(&c, "logs", &c.logs);
        drop_inside(&c, "sandbox", &c.sandboxes);
        good = drop_records(&c, &err);
        drop_outputs(&c);
    }
    int status = good ? report(&c) : cli_fail(&err);
    session_close(&c.s);
    return status;
}

const struct command command_clean = {
    .name = "clean",
    .operands = "FLOW",
    .least = 1,
    .most = 1,
    .summary = "remove what no run of a workflow needs",
    .details =
        "Logs and sandboxes of runs that are over, records of computations that the workflow\n"
        "no longer has, temporary files that nobody will read. Results stay, and stay known,\n"
        "unless --all takes them too. The history is not touched.\n\n"
        "examples:\n"
        "  weft clean flow.yaml -n\n"
        "  weft clean flow.yaml --all\n",
    .options = options,
    .run = run,
};

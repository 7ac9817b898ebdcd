/* Where a file comes from: the runs that made it, the task, the inputs it was made of and their own
 * makers; and whether the file still is what that run left. */
#include "base/digest.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/history_view.h"
#include "report/human.h"
#include "report/table.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The content of the file now; zero: it is not there or cannot be read. */
static struct digest digest_now(const char *path)
{
    struct digest d = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && !digest_of_fd(fd, path, &d, NULL))
        d = (struct digest){0};
    if (fd >= 0)
        close(fd);
    return d;
}

struct input {
    char *path;
    int64_t run; /* that made it (or found it, as an input of a workflow); 0: not recorded */
    char *maker; /* NULL: an input of the workflow */
    struct digest digest;
};

typedef ARRAY(struct input) inputs;

/* The newest record of the file that is not newer than the run that read it. */
static void add_input(struct history *h, const struct history_origin *o, const char *name,
                      inputs *out)
{
    struct strbuf whole = {0};
    if (*name != '/')
        strbuf_printf(&whole, "%s/", o->folder ? o->folder : "");
    strbuf_add(&whole, name);
    struct input in = {.path = mem_copy_string(name)};
    history_origins found;
    if (history_file(h, strbuf_text(&whole), 0, &found, NULL)) {
        for (size_t i = 0; i < found.n; i++)
            if (found.at[i].run <= o->run) {
                in.run = found.at[i].run;
                in.maker = found.at[i].maker ? mem_copy_string(found.at[i].maker) : NULL;
                in.digest = found.at[i].file.digest;
                break;
            }
        history_origins_free(&found);
    }
    strbuf_free(&whole);
    array_push(out, in);
}

static void find_inputs(struct history *h, const struct history_origin *o, inputs *out)
{
    struct workflow *w = o->file.task != NONE ? recorded_workflow(h, o->run) : NULL;
    uint32_t task = w && o->maker ? workflow_find_task(w, o->maker) : NONE;
    if (task != NONE) {
        char buffer[512];
        uint32_t before = NONE;
        for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++)
            if (w->pred_object[e] != NONE && w->pred_object[e] != before) {
                before = w->pred_object[e];
                add_input(h, o, workflow_object_label(w, before, buffer, sizeof buffer), out);
            }
        for (uint32_t e = w->input_off ? w->input_off[task] : 0;
             w->input_off && e < w->input_off[task + 1]; e++)
            add_input(h, o, workflow_object_label(w, w->input_object[e], buffer, sizeof buffer),
                      out);
    }
    workflow_free(w);
}

static void free_inputs(inputs *in)
{
    for (size_t i = 0; i < in->n; i++) {
        free(in->at[i].path);
        free(in->at[i].maker);
    }
    array_free(in);
}

static void put_digest(struct json_writer *j, const char *key, const struct digest *d)
{
    char text[DIGEST_TEXT];
    json_write_key(j, key);
    if (digest_is_zero(d))
        json_write_null(j);
    else
        json_write_string(j, digest_text(d, text));
}

static void put_name(struct json_writer *j, const char *key, const char *name)
{
    json_write_key(j, key);
    if (name)
        json_write_string(j, name);
    else
        json_write_null(j);
}

static void origin_json(struct json_writer *j, const struct history_origin *o, const inputs *in,
                        bool current)
{
    json_write_object(j);
    json_put_integer(j, "run", o->run);
    put_name(j, "workflow", o->name);
    json_put_number(j, "started", o->started);
    put_name(j, "task", o->maker);
    json_put_number(j, "size", o->file.size);
    put_digest(j, "digest", &o->file.digest);
    put_digest(j, "key", &o->file.key);
    json_put_bool(j, "made", o->file.made);
    json_put_bool(j, "current", current);
    json_write_key(j, "inputs");
    json_write_array(j);
    for (size_t i = 0; i < in->n; i++) {
        json_write_object_inline(j);
        json_put_string(j, "path", in->at[i].path);
        json_put_integer(j, "run", in->at[i].run);
        put_name(j, "task", in->at[i].maker);
        put_digest(j, "digest", &in->at[i].digest);
        json_write_end_object(j);
    }
    json_write_end_array(j);
    json_write_end_object(j);
}

static void add_visible(struct strbuf *out, const char *text)
{
    utf8_add_visible(out, text ? text : "-");
}

static void origin_text(const struct history_origin *o, const inputs *in, bool current,
                        struct strbuf *out)
{
    char when[32], size[HUMAN_SIZE], digest[DIGEST_TEXT];
    strbuf_printf(out, "\n  run %lld (", (long long)o->run);
    add_visible(out, o->name);
    strbuf_printf(out, ", %s): ", recorded_when(o->started, when));
    if (o->maker) {
        strbuf_add(out, "made by task ");
        add_visible(out, o->maker);
    } else {
        strbuf_add(out, "an input of the workflow");
    }
    strbuf_printf(out, ", %s%s\n", human_bytes(size, o->file.size),
                  current ? "; the file is as this run left it" : "");
    if (!digest_is_zero(&o->file.digest))
        strbuf_printf(out, "    digest %.16s...\n", digest_text(&o->file.digest, digest));
    for (size_t i = 0; i < in->n; i++) {
        strbuf_add(out, "    from ");
        add_visible(out, in->at[i].path);
        if (in->at[i].maker) {
            strbuf_printf(out, " (run %lld, task ", (long long)in->at[i].run);
            add_visible(out, in->at[i].maker);
            strbuf_add_char(out, ')');
        } else if (in->at[i].run) {
            strbuf_add(out, " (an input)");
        }
        strbuf_add_char(out, '\n');
    }
}

bool history_view_file(struct history *h, const char *given, size_t limit, bool json,
                       struct strbuf *out, struct error *err)
{
    char *path = recorded_path(given);
    history_origins origins;
    bool ok = history_file(h, path, limit, &origins, err);
    if (ok && !origins.n)
        ok = error_set(err, ERROR_INPUT, "%s: no run on record made or read this file", path);
    if (!ok) {
        free(path);
        return false;
    }
    struct digest now = digest_now(path);
    struct json_writer j;
    bool known = false;
    if (json) {
        json_write_start(&j, out, true);
        json_write_object(&j);
        json_put_string(&j, "schema", "weft-history/1");
        json_put_string(&j, "path", path);
        put_digest(&j, "digest", &now);
        json_write_key(&j, "origins");
        json_write_array(&j);
    } else {
        add_visible(out, path);
        strbuf_add_char(out, '\n');
    }
    for (size_t i = 0; i < origins.n; i++) {
        const struct history_origin *o = &origins.at[i];
        bool current = !digest_is_zero(&now) && digest_equal(&now, &o->file.digest);
        known = known || current;
        inputs in = {0};
        find_inputs(h, o, &in);
        if (json)
            origin_json(&j, o, &in, current);
        else
            origin_text(o, &in, current, out);
        free_inputs(&in);
    }
    if (json) {
        json_write_end_array(&j);
        json_write_end_object(&j);
    } else if (!known && !digest_is_zero(&now) && !digest_is_zero(&origins.at[0].file.digest)) {
        strbuf_add(out, "\nThe file has changed since: no run on record left it as it is now.\n");
    }
    history_origins_free(&origins);
    free(path);
    return true;
}

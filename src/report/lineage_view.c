/* The lineage of a file as text and as JSON: a line a task, in an order in which they can have run. The
 * picture is that of any graph (graph_svg.h). */
#include "report/lineage_view.h"

#include "base/json.h"
#include "base/plural.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

/* Files that task t reads (or makes), each once, given to `add`. */
static void lineage_files(const struct workflow *w, uint32_t t, bool makes,
                          void (*add)(void *context, const char *name), void *context)
{
    char buffer[512];
    uint32_t before = NONE;
    if (makes) {
        for (uint32_t o = w->object_off[t]; o < w->object_end[t]; o++)
            add(context, workflow_object_label(w, o, buffer, sizeof buffer));
        return;
    }
    for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
        if (w->pred_object[e] != NONE && w->pred_object[e] != before) {
            before = w->pred_object[e];
            add(context, workflow_object_label(w, before, buffer, sizeof buffer));
        }
    for (uint32_t e = w->input_off ? w->input_off[t] : 0; w->input_off && e < w->input_off[t + 1];
         e++)
        add(context, workflow_object_label(w, w->input_object[e], buffer, sizeof buffer));
}

struct lineage_names {
    struct strbuf *out;
    bool any;
};

static void lineage_add_text(void *context, const char *name)
{
    struct lineage_names *n = context;
    strbuf_add(n->out, n->any ? ", " : "");
    utf8_add_visible(n->out, name);
    n->any = true;
}

static void lineage_add_json(void *context, const char *name)
{
    json_write_string(context, name);
}

/* "  score (run 3): n.txt -> score.txt" */
static void lineage_side(const struct workflow *w, uint32_t first, uint32_t end, struct strbuf *out)
{
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i];
        struct lineage_names names = {out, false};
        if (t < first || t >= end)
            continue;
        strbuf_add(out, "  ");
        utf8_add_visible(out, workflow_task_name(w, t));
        strbuf_add(out, ": ");
        lineage_files(w, t, false, lineage_add_text, &names);
        strbuf_add(out, names.any ? " -> " : "-> ");
        names.any = false;
        lineage_files(w, t, true, lineage_add_text, &names);
        strbuf_add_char(out, '\n');
    }
}

void lineage_view(const struct workflow *w, uint32_t focus, uint32_t nback, bool cut,
                  struct strbuf *out)
{
    char buffer[512];
    utf8_add_visible(out, workflow_object_label(w, focus, buffer, sizeof buffer));
    strbuf_add(out, nback ? "\n\nwas made so:\n\n" : "\n\nwas made by no run on record.\n");
    lineage_side(w, 0, nback, out);
    strbuf_add(out, w->ntasks > nback ? "\nand went into:\n\n" : "\nNothing was made of it.\n");
    lineage_side(w, nback, w->ntasks, out);
    if (cut)
        strbuf_printf(
            out,
            "\nThere is more: these are the nearest %u task%s. --limit N shows N of them, "
            "--limit 0 all.\n",
            w->ntasks, plural(w->ntasks));
}

/* Its name in its run: without the " (run 3)" that tells the graph's tasks apart. */
static void lineage_put_task(struct json_writer *j, const struct workflow *w, uint32_t t,
                             int64_t run)
{
    struct strbuf name = {0}, end = {0};
    strbuf_add(&name, workflow_task_name(w, t));
    strbuf_printf(&end, " (run %lld)", (long long)run);
    if (name.n > end.n && strcmp(name.at + name.n - end.n, end.at) == 0)
        name.at[name.n - end.n] = '\0';
    json_put_string(j, "task", name.at);
    strbuf_free(&name);
    strbuf_free(&end);
}

void lineage_view_json(const struct workflow *w, uint32_t focus, uint32_t nback, bool cut,
                       const int64_t *run, struct strbuf *out)
{
    struct json_writer j;
    char buffer[512];
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-history/1");
    json_put_string(&j, "lineage", workflow_object_label(w, focus, buffer, sizeof buffer));
    json_put_bool(&j, "whole", !cut);
    json_write_key(&j, "tasks");
    json_write_array(&j);
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i];
        json_write_object_inline(&j);
        json_put_string(&j, "side", t < nback ? "back" : "forward");
        json_put_integer(&j, "run", run[t]);
        lineage_put_task(&j, w, t, run[t]);
        for (int makes = 0; makes < 2; makes++) {
            json_write_key(&j, makes ? "makes" : "reads");
            json_write_array_inline(&j);
            lineage_files(w, t, makes, lineage_add_json, &j);
            json_write_end_array(&j);
        }
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    json_write_end_object(&j);
}

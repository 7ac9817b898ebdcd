/* Names, spellings and folders: random workflows against a judge of their own, which knows canonical
 * names and looks at every pair of tasks. Who waits for whom, what {in} and {out} become, and that a
 * written workflow reads as the same one, in every format that carries all of it. */
#include "base/rng.h"
#include "base/strbuf.h"
#include "formats/index_rows.h"
#include "formats/registry.h"
#include "model/command.h"

enum { NAMES = 10, TASKS = 5, FILES = 3 };
static const char *const canonical[NAMES] = {"a",   "b",     "d", "d/x", "d/y",
                                             "d/e", "d/e/z", "f", "d.x", "g/h"};

struct mention {
    int name;
    bool slash; /* spelled as a folder */
};

struct drawn_task {
    struct mention in[FILES], out[FILES];
    int nin, nout;
};

struct drawing {
    struct drawn_task task[TASKS];
    int n;
};

static bool is_above(int folder, int name)
{
    size_t n = strlen(canonical[folder]);
    return strncmp(canonical[folder], canonical[name], n) == 0 && canonical[name][n] == '/';
}

static bool touches(int a, int b)
{
    return a == b || is_above(a, b) || is_above(b, a);
}

static void draw(struct rng *r, struct drawing *d)
{
    memset(d, 0, sizeof *d);
    bool made[NAMES] = {false};
    d->n = 2 + (int)rng_below(r, TASKS - 1);
    for (int t = 0; t < d->n; t++) {
        struct drawn_task *x = &d->task[t];
        for (int k = (int)rng_below(r, FILES); k--;)
            x->in[x->nin++] = (struct mention){(int)rng_below(r, NAMES), rng_below(r, 8) == 0};
        for (int k = (int)rng_below(r, FILES); k--;) {
            int name = (int)rng_below(r, NAMES);
            if (!made[name] || rng_below(r, 12) == 0)
                x->out[x->nout++] = (struct mention){name, rng_below(r, 8) == 0};
            made[name] = true;
        }
    }
}

/* ---- the judge ---- */

static bool depends(const struct drawing *d, int from, int to)
{
    for (int i = 0; i < d->task[from].nout; i++)
        for (int k = 0; k < d->task[to].nin; k++)
            if (touches(d->task[from].out[i].name, d->task[to].in[k].name))
                return true;
    return false;
}

static bool two_make(const struct drawing *d)
{
    for (int s = 0; s < d->n; s++)
        for (int i = 0; i < d->task[s].nout; i++)
            for (int t = 0; t < d->n; t++)
                for (int k = 0; k < d->task[t].nout; k++)
                    if ((s != t && touches(d->task[s].out[i].name, d->task[t].out[k].name)) ||
                        (s == t && i != k && d->task[s].out[i].name == d->task[t].out[k].name))
                        return true;
    return false;
}

/* By closing the relation: five tasks. */
static bool has_cycle(const struct drawing *d)
{
    bool reach[TASKS][TASKS] = {{false}};
    for (int s = 0; s < d->n; s++)
        for (int t = 0; t < d->n; t++)
            reach[s][t] = depends(d, s, t);
    for (int k = 0; k < d->n; k++)
        for (int s = 0; s < d->n; s++)
            for (int t = 0; t < d->n; t++)
                reach[s][t] |= reach[s][k] && reach[k][t];
    for (int t = 0; t < d->n; t++)
        if (reach[t][t])
            return true;
    return false;
}

/* A name that was spelled as a folder anywhere is one everywhere. */
static bool is_folder(const struct drawing *d, int name)
{
    for (int t = 0; t < d->n; t++)
        for (int k = 0; k < FILES; k++)
            if ((k < d->task[t].nin && d->task[t].in[k].name == name && d->task[t].in[k].slash) ||
                (k < d->task[t].nout && d->task[t].out[k].name == name && d->task[t].out[k].slash))
                return true;
    return false;
}

static void expect_command(const struct drawing *d, int t, struct strbuf *out)
{
    const struct drawn_task *x = &d->task[t];
    strbuf_clear(out);
    strbuf_add(out, "c");
    for (int side = 0; side < 2; side++) {
        int n = side ? x->nout : x->nin;
        const struct mention *list = side ? x->out : x->in;
        for (int i = 0; i < n; i++)
            strbuf_printf(out, " %s%s", canonical[list[i].name],
                          is_folder(d, list[i].name) ? "/" : "");
        strbuf_add(out, " ;");
        if (n) /* the last one by its number */
            strbuf_printf(out, " %s%s", canonical[list[n - 1].name],
                          is_folder(d, list[n - 1].name) ? "/" : "");
        strbuf_add(out, " ;");
    }
}

/* ---- the file ---- */

static void add_spelling(struct rng *r, const struct mention *m, struct strbuf *out)
{
    static const char *const before[] = {"", "", "", "./", "q/../", ".//", "q/./../"};
    strbuf_add(out, before[rng_below(r, 7)]);
    for (const char *c = canonical[m->name]; *c; c++) {
        strbuf_add_char(out, *c);
        if (*c == '/' && rng_below(r, 4) == 0)
            strbuf_add(out, rng_below(r, 2) ? "/" : "./");
    }
    if (m->slash)
        strbuf_add_char(out, '/');
}

static void write_drawing(struct rng *r, const struct drawing *d, struct strbuf *out)
{
    strbuf_clear(out);
    strbuf_add(out, "weft: 1\nname: names\ntasks:\n");
    for (int t = 0; t < d->n; t++) {
        const struct drawn_task *x = &d->task[t];
        strbuf_printf(out, "  t%d:\n    run: 'c", t);
        for (int side = 0; side < 2; side++) {
            int n = side ? x->nout : x->nin;
            strbuf_add(out, n ? side ? " {out} ;" : " {in} ;" : " ;");
            if (n)
                strbuf_printf(out, " {%s[%d]}", side ? "out" : "in", n - 1);
            strbuf_add(out, " ;");
        }
        strbuf_add(out, "'\n");
        for (int side = 0; side < 2; side++) {
            int n = side ? x->nout : x->nin;
            const struct mention *list = side ? x->out : x->in;
            strbuf_add(out, side ? "    out: [" : "    in: [");
            for (int i = 0; i < n; i++) {
                strbuf_add(out, i ? ", '" : "'");
                add_spelling(r, &list[i], out);
                strbuf_add_char(out, '\'');
            }
            strbuf_add(out, "]\n");
        }
    }
}

/* ---- the comparison ---- */

static bool joined(const struct workflow *w, uint32_t from, uint32_t to)
{
    for (uint32_t e = w->succ_off[from]; e < w->succ_off[from + 1]; e++)
        if (w->succ_task[e] == to)
            return true;
    return false;
}

/* "": as it should be. */
static const char *compare(const struct drawing *d, const struct workflow *w)
{
    static struct strbuf expected, found;
    for (int t = 0; t < d->n; t++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", t);
        uint32_t task = workflow_find_task(w, name);
        struct error err = {0};
        expect_command(d, t, &expected);
        strbuf_clear(&found);
        if (task == NONE || !command_expand(w, task, &found, &err) ||
            strcmp(expected.at, found.at) != 0) {
            printf("# %s: '%s', expected '%s' %s\n", name, strbuf_text(&found), expected.at,
                   err.text);
            return "a command";
        }
        for (int s = 0; s < d->n; s++) {
            snprintf(name, sizeof name, "t%d", s);
            if (joined(w, workflow_find_task(w, name), task) != depends(d, s, t))
                return "an edge";
        }
    }
    return "";
}

static const char *one_round(struct rng *r, int *read)
{
    struct drawing d;
    struct strbuf text = {0}, out = {0}, dropped = {0};
    struct error err = {0};
    draw(r, &d);
    write_drawing(r, &d, &text);
    struct workflow *w = read_text(&format_native, text.at, NULL, &err);
    bool bad = two_make(&d) || has_cycle(&d);
    const char *wrong = !w != bad ? "an error" : w ? compare(&d, w) : "";
    *read += w != NULL;
    for (size_t i = 0; w && !*wrong && format_registry[i]; i++) {
        const struct format *f = format_registry[i];
        if (!f->write_workflow || (f->carries & CARRIES_GRAPH) != CARRIES_GRAPH)
            continue;
        strbuf_clear(&out);
        strbuf_clear(&dropped);
        struct workflow *back = NULL;
        if (f->write_workflow(w, &out, &dropped, &err))
            back = read_text(f, strbuf_text(&out), NULL, &err);
        if (!back || !workflow_equal(w, back, &err) || *compare(&d, back))
            wrong = f->name;
        workflow_free(back);
    }
    if (*wrong)
        printf("# %s: %s\n%s%s\n", wrong, err.text, text.at, strbuf_text(&out));
    workflow_free(w);
    strbuf_free(&text);
    strbuf_free(&out);
    strbuf_free(&dropped);
    return wrong;
}

int main(void)
{
    struct rng r;
    rng_seed(&r, 14);
    int wrong = 0, read = 0;
    for (int round = 0; round < 20000 && !wrong; round++)
        wrong += *one_round(&r, &read) != 0;
    is_int(wrong, 0, "20,000 workflows with names, spellings and folders are as judged by hand");
    ok(read > 2000, "%d of them could be read", read);
    return tap_done();
}

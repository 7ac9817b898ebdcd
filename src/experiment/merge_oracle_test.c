/* Random experiments against an oracle that shares nothing with the merger. */
#include "experiment/merge.h"
#include "base/pool.h"
#include "base/rng.h"
#include "experiment/testing.h"
#include "model/builder.h"
#include "model/command.h"
#include "tap.h"

/* ---- random experiments against an oracle ----
 * The oracle knows combinations and text only: for every combination it asks each leaf for its
 * derivation, which asks for those of its inputs. No tables of the merger, no order, no tokens. */

enum { MOST_TASKS = 8, MOST_READS = 4, MOST_SUBSTITUTIONS = 4 };

struct random_task {
    char command[120];
    unsigned nreads, nouts;
    char read[MOST_READS][32];
    int after; /* -1: none */
};

struct random_case {
    unsigned ntasks;
    struct random_task task[MOST_TASKS];
    struct experiment x;
};

static unsigned below(struct rng *r, unsigned n)
{
    return (unsigned)rng_below(r, n);
}

/* A file that no task makes, or an output of a task before `limit`. */
static void random_object(struct rng *r, const struct random_case *c, unsigned limit, char *name)
{
    unsigned t = limit ? below(r, limit) : 0;
    if (!limit || below(r, 3) == 0)
        snprintf(name, 32, "f%u", below(r, 3));
    else
        snprintf(name, 32, "o%u.%u", t, below(r, c->task[t].nouts));
}

static void random_command(struct rng *r, char *out, unsigned nreads)
{
    unsigned n = 0;
    n += (unsigned)snprintf(out, 120, "c%u", below(r, 2));
    if (below(r, 2))
        n += (unsigned)snprintf(out + n, 120 - n, " {p%u}", below(r, 2));
    if (nreads && below(r, 2)) {
        for (unsigned i = nreads; i--;)
            n += (unsigned)snprintf(out + n, 120 - n, " {in[%u]}", i);
    } else {
        n += (unsigned)snprintf(out + n, 120 - n, " {in}");
    }
    snprintf(out + n, 120 - n, " {out}");
}

static unsigned random_reads(struct rng *r, const struct random_case *c, unsigned t,
                             char read[MOST_READS][32])
{
    unsigned n = 0, want = below(r, MOST_READS);
    for (unsigned i = 0; i < want; i++) {
        random_object(r, c, t, read[n]);
        bool again = false;
        for (unsigned k = 0; k < n; k++)
            again |= strcmp(read[k], read[n]) == 0;
        n += !again;
    }
    return n;
}

/* First task that reads it; ntasks when none does. */
static unsigned first_reader(const struct random_case *c, const char *object)
{
    for (unsigned t = 0; t < c->ntasks; t++)
        for (unsigned k = 0; k < c->task[t].nreads; k++)
            if (strcmp(c->task[t].read[k], object) == 0)
                return t;
    return c->ntasks;
}

static void random_experiment(struct rng *r, struct random_case *c)
{
    start_experiment(&c->x);
    char text[120], name[32], used[MOST_SUBSTITUTIONS][120];
    unsigned count = 1 + below(r, MOST_SUBSTITUTIONS), nused = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned kind = below(r, 3), t = below(r, c->ntasks), alternatives = 1 + below(r, 3);
        if (kind == SUBSTITUTE_TASK)
            snprintf(text, sizeof text, "t%u", t);
        else if (kind == SUBSTITUTE_PARAMETER)
            snprintf(text, sizeof text, "p%u", below(r, 2));
        else if (c->task[t].nreads)
            snprintf(text, sizeof text, "%s", c->task[t].read[0]);
        else
            continue;
        bool again = false;
        for (unsigned k = 0; k < nused; k++)
            again |= strcmp(used[k], text) == 0;
        if (again)
            continue;
        snprintf(used[nused++], 120, "%s", text);
        snprintf(name, sizeof name, "s%u", i);
        struct substitution *s = substitute(&c->x, name, (enum substitution_target)kind, text);
        unsigned limit = kind == SUBSTITUTE_DATA ? first_reader(c, s->what) : 0;
        for (unsigned k = 0; k < alternatives; k++) {
            snprintf(name, sizeof name, "l%u", k);
            if (kind == SUBSTITUTE_PARAMETER) {
                snprintf(text, sizeof text, "v%u", below(r, 2)); /* two labels, perhaps one value */
                by(s, name, text);
            } else if (kind == SUBSTITUTE_DATA) {
                random_object(r, c, limit, text);
                by(s, name, text);
            } else if (below(r, 4) == 0) {
                by(s, name, NULL);
            } else {
                char read[MOST_READS][32];
                unsigned n = c->task[t].nreads;
                bool other = below(r, 3) == 0;
                if (other)
                    n = random_reads(r, c, t, read);
                random_command(r, text, n);
                struct alternative *a = by(s, name, text);
                a->change.has_inputs = other;
                for (unsigned j = 0; other && j < n; j++)
                    array_push(&a->change.input, mem_copy_string(read[j]));
            }
        }
    }
}

static struct workflow *random_workflow(struct rng *r, struct random_case *c)
{
    struct builder *b = builder_new("flow.yaml", "native");
    builder_parameter(b, "p0", "v0");
    builder_parameter(b, "p1", "v1");
    c->ntasks = 1 + below(r, MOST_TASKS);
    for (unsigned t = 0; t < c->ntasks; t++) {
        struct random_task *k = &c->task[t];
        char name[32];
        k->nouts = 1 + below(r, 2);
        k->nreads = random_reads(r, c, t, k->read);
        random_command(r, k->command, k->nreads);
        k->after = t && below(r, 6) == 0 ? (int)below(r, t) : -1;
        snprintf(name, sizeof name, "t%u", t);
        task(b, name, k->command);
        for (unsigned i = 0; i < k->nreads; i++) {
            reads(b, t, k->read[i]);
            unsigned p, o; /* ordering beside data says nothing more: the builder drops it */
            if (sscanf(k->read[i], "o%u.%u", &p, &o) == 2 && (int)p == k->after)
                k->after = -1;
        }
        for (unsigned i = 0; i < k->nouts; i++) {
            snprintf(name, sizeof name, "o%u.%u", t, i);
            makes(b, t, name);
        }
        if (k->after >= 0)
            builder_edge(b, (uint32_t)k->after, t, 0);
    }
    return builder_finish(b, NULL);
}

struct oracle {
    const struct random_case *c;
    const uint32_t *row;
    char *memo[MOST_TASKS], *tree[MOST_TASKS]; /* key and derivation in this combination */
};

static void ask(struct oracle *o, unsigned t);

static char *digest_line(struct strbuf *text)
{
    struct digest d;
    char hex[DIGEST_TEXT];
    digest_of(strbuf_text(text), text->n, &d);
    strbuf_free(text);
    return mem_copy_string(digest_text(&d, hex));
}

static const char *choice_for(const struct oracle *o, enum substitution_target target,
                              const char *what, const struct alternative **a)
{
    *a = NULL;
    for (size_t s = 0; s < o->c->x.substitutions.n; s++) {
        const struct substitution *sub = &o->c->x.substitutions.at[s];
        if (sub->target == target && strcmp(sub->what, what) == 0 && o->row[s] != CHOICE_ORIGINAL)
            *a = &sub->by.at[o->row[s]];
    }
    return *a ? (*a)->text : NULL;
}

static void replace_all(struct strbuf *text, const char *from, const char *to)
{
    struct strbuf out = {0};
    const char *at = strbuf_text(text), *hit;
    while ((hit = strstr(at, from))) {
        strbuf_add_bytes(&out, at, (size_t)(hit - at));
        strbuf_add(&out, to);
        at = hit + strlen(from);
    }
    strbuf_add(&out, at);
    strbuf_free(text);
    *text = out;
}

/* The derivation of the tasks before, each once and sorted: whether by data or by order alone. */
static void add_before(struct strbuf *out, const char **before, unsigned n)
{
    const char *last = "";
    for (unsigned i = 0; i < n; i++) {
        const char *next = NULL;
        for (unsigned k = 0; k < n; k++)
            if (strcmp(before[k], last) > 0 && (!next || strcmp(before[k], next) < 0))
                next = before[k];
        if (next)
            strbuf_printf(out, "|before %s", last = next);
    }
}

/* `command` with every {in} and {in[i]} replaced by what stands there, then the distinct ones: a
 * derivation, whoever wrote the command down. */
static char *derive(const char *command, char **input, unsigned n, const char **before,
                    unsigned nbefore)
{
    struct strbuf text = {0}, all = {0};
    strbuf_add(&text, command);
    for (unsigned i = 0; i < n; i++) {
        char mark[24];
        snprintf(mark, sizeof mark, "{in[%u]}", i);
        replace_all(&text, mark, input[i]);
        strbuf_printf(&all, "%s%s", i ? " " : "", input[i]);
    }
    replace_all(&text, "{in}", strbuf_text(&all));
    strbuf_free(&all);
    for (unsigned i = 0; i < n; i++) {
        bool again = false;
        for (unsigned k = 0; k < i; k++)
            again |= strcmp(input[k], input[i]) == 0;
        if (!again)
            strbuf_printf(&text, "|%s", input[i]);
    }
    add_before(&text, before, nbefore);
    return digest_line(&text);
}

static void ask(struct oracle *o, unsigned t)
{
    if (o->memo[t])
        return;
    const struct random_task *k = &o->c->task[t];
    const struct alternative *a;
    char name[32], *tree[MOST_READS], *key[MOST_READS];
    const char *before[MOST_READS + 1];
    unsigned nbefore = 0;
    snprintf(name, sizeof name, "t%u", t);
    choice_for(o, SUBSTITUTE_TASK, name, &a);
    struct strbuf command = {0}, whole = {0};
    strbuf_add(&command, a && a->change.command ? a->change.command : k->command);
    bool other = a && a->change.has_inputs;
    unsigned n = other ? (unsigned)a->change.input.n : k->nreads;
    for (unsigned i = 0; i < n; i++) {
        const char *object = other ? a->change.input.at[i] : k->read[i];
        const struct alternative *d;
        const char *instead = choice_for(o, SUBSTITUTE_DATA, object, &d);
        unsigned p, q;
        struct strbuf line = {0}, key_line = {0};
        object = instead ? instead : object;
        if (sscanf(object, "o%u.%u", &p, &q) == 2) {
            ask(o, p);
            before[nbefore++] = o->tree[p];
            strbuf_printf(&line, "%s:%u", o->tree[p], q);
            strbuf_printf(&key_line, "%s:%u", o->memo[p], q);
        } else {
            strbuf_printf(&line, "file:%s", object);
            strbuf_printf(&key_line, "file:%s", object);
        }
        tree[i] = strbuf_steal(&line);
        key[i] = strbuf_steal(&key_line);
    }
    for (int p = 0; p < 2; p++) {
        char mark[24], standard[32];
        const struct alternative *v;
        snprintf(name, sizeof name, "p%d", p);
        snprintf(mark, sizeof mark, "{p%d}", p);
        snprintf(standard, sizeof standard, "v%d", p);
        const char *value = choice_for(o, SUBSTITUTE_PARAMETER, name, &v);
        replace_all(&command, mark, value ? value : standard);
    }
    if (k->after >= 0) {
        ask(o, (unsigned)k->after);
        before[nbefore++] = o->tree[k->after];
    }
    o->tree[t] = derive(strbuf_text(&command), tree, n, before, nbefore);
    strbuf_printf(&whole, "%s|%u outputs|", strbuf_text(&command), k->nouts);
    for (unsigned i = 0; i < n; i++)
        strbuf_printf(&whole, "%s,", key[i]);
    strbuf_printf(&whole, "|after %s", k->after >= 0 ? o->memo[k->after] : "");
    o->memo[t] = digest_line(&whole);
    for (unsigned i = 0; i < n; i++) {
        free(tree[i]);
        free(key[i]);
    }
    strbuf_free(&command);
}

/* The derivations of all tasks of a merged workflow. */
static char **derivations(const struct merged *m)
{
    const struct workflow *w = m->workflow;
    char **tree = mem_new_zero(char *, w->ntasks + 1);
    for (uint32_t i = 0; i < w->ntasks; i++) {
        uint32_t t = w->topo[i];
        unsigned n = 0;
        char *input[MOST_READS];
        const char *before[2 * MOST_READS];
        unsigned nbefore = 0;
        for (uint32_t k = w->in_off[t]; k < w->in_off[t + 1]; k++) {
            uint32_t o = w->in_object[k], p = w->producer[o], number = 0;
            struct strbuf line = {0};
            while (p != NONE && w->out_object[w->object_off[p] + number] != o)
                number++;
            if (p == NONE)
                strbuf_printf(&line, "file:%s", workflow_text(w, w->object_name[o]));
            else
                strbuf_printf(&line, "%s:%u", tree[p], number);
            input[n++] = strbuf_steal(&line);
        }
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            before[nbefore++] = tree[w->pred_task[e]];
        tree[t] = derive(workflow_text(w, w->command[t]), input, n, before, nbefore);
        for (unsigned k = 0; k < n; k++)
            free(input[k]);
    }
    return tree;
}

static void free_texts(char **text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(text[i]);
    free(text);
}

static bool judge(const struct random_case *c, const struct workflow *w, uint32_t *tasks)
{
    struct error err = {0};
    struct merged *m = experiment_merge(&c->x, w, true, &err);
    if (!m) /* an alternative that reads a replaced file, which its own task makes */
        return strstr(err.text, "would wait for itself") != NULL;
    struct merged *apart = experiment_merge(&c->x, w, false, NULL);
    char **tree = derivations(m), **tree_apart = derivations(apart);
    struct intern keys;
    intern_init(&keys);
    uint64_t alone = 0;
    bool good = true;
    for (uint32_t k = 0; k < m->ncombinations; k++) {
        struct oracle o = {.c = c, .row = m->choice + k * m->nsubstitutions};
        for (uint32_t l = 0; l < m->reading->nleaves; l++) {
            ask(&o, m->reading->leaf[l]);
            const char *want = o.tree[m->reading->leaf[l]];
            good &= strcmp(tree[m->instance[m->first[k] + l]], want) == 0;
            good &= strcmp(tree_apart[apart->instance[apart->first[k] + l]], want) == 0;
        }
        for (unsigned t = 0; t < c->ntasks; t++)
            if (o.memo[t]) {
                intern_number(&keys, o.memo[t], strlen(o.memo[t]));
                alone++;
                free(o.memo[t]);
                free(o.tree[t]);
            }
    }
    good &= keys.n == m->workflow->ntasks && alone == m->tasks_without_reuse &&
            alone == apart->workflow->ntasks;
    *tasks += m->workflow->ntasks;
    intern_free(&keys);
    free_texts(tree, m->workflow->ntasks);
    free_texts(tree_apart, apart->workflow->ntasks);
    merged_free(m);
    merged_free(apart);
    return good;
}

static void against_the_oracle(void)
{
    enum { CASES = 1500 };
    struct rng r;
    uint32_t bad = 0, tasks = 0;
    for (uint32_t i = 0; i < CASES; i++) {
        struct random_case c = {0};
        rng_seed(&r, i);
        struct workflow *w = random_workflow(&r, &c);
        random_experiment(&r, &c);
        if (c.x.substitutions.n && !judge(&c, w, &tasks) && !bad++)
            printf("# the first that differs: seed %u\n", i);
        experiment_free(&c.x);
        workflow_free(w);
    }
    is_int(bad, 0,
           "%d random experiments: exactly the distinct computations (%u), and every result "
           "derives as it would alone",
           CASES, tasks);
}

int main(void)
{
    TAP_DO(against_the_oracle());
    return tap_done();
}

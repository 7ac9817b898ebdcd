/* All combinations of an experiment as one workflow in which every distinct computation stands
 * once. Tasks of a combination are gone through in topological order; each is looked up by its key
 * (a digest of command, inputs and the keys of their producers), and made only when it is new.
 *
 * I1. instance[t] is task t of the combination at hand in the merged workflow; it stays from one
 *     combination to the next unless something that t depends on changed.
 * I2. A task is looked at again only when it is dirty (a substitution that touches it chose anew)
 *     or something before it moved. Both marks are combination + 1, so nothing is cleared between
 *     combinations.
 * I3. Equal keys mean equal computations; whatever influences a result is in the key.
 *
 * Neighbouring combinations differ in the last substitution, so most cost only the tasks behind it.
 */
#include "experiment/merge.h"
#include "experiment/combine.h"
#include "experiment/merging.h"
#include "model/environment.h"
#include "model/shell.h"

#include <math.h>
#include <string.h>

/* ---- what a combination chooses ---- */

/* Substitution s has another choice than in the combination before. */
static void merge_apply_choice(struct merging *m, size_t s)
{
    const struct blueprint *b = &m->b;
    const struct substitution *sub = &b->x->substitutions.at[s];
    uint32_t target = b->target[s], choice = m->row[s];
    bool original = choice == CHOICE_ORIGINAL;
    if (sub->target == SUBSTITUTE_TASK)
        m->body[target] = original ? target : b->first_body[s] + choice;
    else if (sub->target == SUBSTITUTE_PARAMETER && !sub->with_file)
        m->value[target] =
            original ? workflow_text(b->w, b->w->parameter_value[target]) : sub->by.at[choice].text;
    for (uint32_t i = b->touch_off[s]; i < b->touch_off[s + 1]; i++)
        m->dirty[b->touched[i]] = m->combination + 1;
}

/* What is read in the place of `object` now. */
static uint32_t merge_read_object(const struct merging *m, uint32_t object)
{
    uint32_t s = m->b.data_substitution[object];
    if (s == NONE || m->row[s] == CHOICE_ORIGINAL)
        return object;
    return m->b.objects.at[m->b.first_object[s] + m->row[s]];
}

/* Inputs of the task at hand as outputs of merged tasks, or files. */
static void merge_find_inputs(struct merging *m, const struct body *body)
{
    const struct blueprint *b = &m->b;
    m->inputs.n = 0;
    for (uint32_t i = body->read; i < body->reads_end; i++) {
        uint32_t o = merge_read_object(m, b->reads.at[i]);
        uint32_t p = o < b->nobjects ? b->w->producer[o] : NONE;
        array_push(&m->inputs, p == NONE ? (struct merging_input){NONE, o}
                                         : (struct merging_input){m->instance[p], b->output[o]});
    }
}

/* Which tasks serve some leaf, now. */
static void find_alive(struct merging *m)
{
    const struct blueprint *b = &m->b;
    const struct workflow *w = b->w;
    memset(m->alive, 0, w->ntasks);
    for (uint32_t l = 0; l < b->nleaves; l++)
        m->alive[b->leaf[l]] = 1;
    for (uint32_t i = w->ntasks; i--;) {
        uint32_t t = b->order[i];
        if (!m->alive[t])
            continue;
        const struct body *body = &b->bodies.at[m->body[t]];
        for (uint32_t k = body->read; k < body->reads_end; k++) {
            uint32_t o = merge_read_object(m, b->reads.at[k]);
            if (o < b->nobjects && w->producer[o] != NONE)
                m->alive[w->producer[o]] = 1;
        }
        for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
            if (w->pred_object[e] == NONE)
                m->alive[w->pred_task[e]] = 1;
    }
}

/* ---- keys ---- */

/* An alternative that only has a label is the original. */
static bool changes_nothing(const struct task_change *c)
{
    return !c->command && !c->kind && isnan(c->work) && isnan(c->memory) && isnan(c->cores) &&
           isnan(c->timeout) && isnan(c->retries) && !c->has_inputs;
}

/* What {task}, {kind}, {cores} and {memory} will stand for: as merging_describe() sets them. */
static void digest_words(const struct merging *m, const struct body *body, struct digest_state *s)
{
    const struct workflow *w = m->b.w;
    const struct task_change *c = body->alternative ? &body->alternative->change : NULL;
    uint32_t t = body->task;
    double memory = c && !isnan(c->memory) ? c->memory : w->memory[t];
    double cores = c && !isnan(c->cores) ? c->cores : w->cores[t];
    const char *name = workflow_task_name(w, t);
    const char *kind = c && c->kind      ? c->kind
                       : c && c->command ? body->alternative->label
                                         : workflow_text(w, w->kind[t]);
    digest_string(s, name, strlen(name));
    digest_string(s, kind, strlen(kind));
    digest_bytes(s, &cores, sizeof cores);
    digest_bytes(s, &memory, sizeof memory);
}

/* Its texts as they stand: an experiment knows neither images nor contents of files. */
static void digest_environment(const struct merging *m, const struct body *body,
                               struct digest_state *s)
{
    for (int i = 0; i < TASK_TEXT_COUNT; i++) {
        const char *text = column_text(m->b.w, body->task, task_text[i]);
        digest_string(s, text ? text : "", text ? strlen(text) : 0);
    }
    const char *env = column_text(m->b.w, body->task, COLUMN_env);
    if (env && strchr(env, '{'))
        digest_words(m, body, s);
}

/* Two that do the same, one of them under a condition, are two. Those without keep the keys they had. */
static void digest_decisions(const struct workflow *w, uint32_t t, struct digest_state *s)
{
    const char *when = w->when ? workflow_text(w, w->when[t]) : "";
    if (*when)
        digest_string(s, when, strlen(when));
    if (w->flags[t] & TASK_MAY_FAIL)
        digest_string(s, "may fail", 8);
    for (uint32_t i = w->in_optional ? w->in_off[t] : 0; w->in_optional && i < w->in_off[t + 1];
         i++)
        if (w->in_optional[i]) {
            digest_string(s, "optional", 8);
            digest_number(s, i - w->in_off[t]);
        }
}

/* Tasks without a command (abstract graphs) are told apart by name and alternative. Counts go into
 * the digest before what they count, so that no two inputs run together. */
static void find_key(struct merging *m, const struct body *body, struct digest *key)
{
    const struct blueprint *b = &m->b;
    const struct workflow *w = b->w;
    uint32_t t = body->task;
    const char *shell = shell_stated(w, t);
    struct digest_state s;
    digest_begin(&s);
    digest_string(&s, "weft computation 1", 18);
    strbuf_clear(&m->text);
    if (*body->command) {
        merging_command(m, body, NULL, &m->text);
    } else {
        const char *name = workflow_task_name(w, t);
        digest_string(&s, name, strlen(name));
        if (body->alternative && !changes_nothing(&body->alternative->change))
            strbuf_add(&m->text, body->alternative->label);
    }
    digest_number(&s, (*body->command ? 1 : 0) | (body->is_call ? 2 : 0) |
                          (w->flags[t] & TASK_IN_PLACE ? 4 : 0) | (shell ? 8 : 0) |
                          (environment_is_stated(w, t) ? 16 : 0));
    if (shell)
        digest_string(&s, shell, strlen(shell));
    if (environment_is_stated(w, t))
        digest_environment(m, body, &s);
    digest_string(&s, strbuf_text(&m->text), m->text.n);
    digest_decisions(w, t, &s);
    if (body->has_words)
        digest_words(m, body, &s);
    digest_number(&s, w->object_end[t] - w->object_off[t]);
    if (w->object_end[t] == w->object_off[t]) {
        /* it runs for what it does beside files: two that do the same are two, as in need_key() */
        const char *name = workflow_task_name(w, t);
        digest_string(&s, name, strlen(name));
    }
    for (uint32_t k = 0; w->object_flags && k < w->object_end[t] - w->object_off[t]; k++)
        digest_number(&s, w->object_flags[blueprint_output(w, t, k)]); /* a kept file stays kept */
    digest_number(&s, m->inputs.n);
    for (size_t i = 0; i < m->inputs.n; i++) {
        const struct merging_input *in = &m->inputs.at[i];
        if (in->task == NONE) {
            const char *name = blueprint_file(b, in->number);
            digest_string(&s, name, strlen(name));
        } else {
            digest_number(&s, UINT64_MAX); /* no file name is so long */
            digest_bytes(&s, &m->key.at[in->task], sizeof *m->key.at);
            digest_number(&s, in->number);
        }
    }
    for (uint32_t e = w->pred_off[t]; e < w->pred_off[t + 1]; e++)
        if (w->pred_object[e] == NONE)
            digest_bytes(&s, &m->key.at[m->instance[w->pred_task[e]]], sizeof *m->key.at);
    digest_end(&s, key);
}

/* Keys are digests: their first bytes are as good as any hash. */
static uint32_t merge_slot_of(const struct merging *m, const struct digest *key)
{
    uint32_t at;
    memcpy(&at, key->at, sizeof at);
    for (at &= m->mask; m->slot[at] && !digest_equal(&m->key.at[m->slot[at] - 1], key);)
        at = (at + 1) & m->mask;
    return at;
}

/* At most half full; twice the size when it would be more. */
static void enter_key(struct merging *m, uint32_t task)
{
    if (2 * ((uint64_t)task + 1) > m->mask) {
        m->mask = m->mask ? 2 * m->mask + 1 : 1023;
        free(m->slot);
        m->slot = mem_new_zero(uint32_t, (size_t)m->mask + 1);
        for (uint32_t t = 0; t < task; t++)
            m->slot[merge_slot_of(m, &m->key.at[t])] = t + 1;
    }
    m->slot[merge_slot_of(m, &m->key.at[task])] = task + 1;
}

/* Adds a substitution to a set. */
static void merge_depend(uint64_t *set, uint32_t substitution)
{
    set[substitution / 64] |= (uint64_t)1 << (substitution % 64);
}

/* What the task at hand depends on in this combination: what is chosen for it itself, and what
 * those before it depend on. By the original's edges: a computation that is shared may depend on
 * other choices elsewhere. True: that is new. */
static bool find_dependence(struct merging *m, const struct body *body)
{
    const struct blueprint *b = &m->b;
    const struct workflow *w = b->w;
    uint64_t *set = m->scratch, *kept = m->depends + body->task * m->words;
    memset(set, m->reuse ? 0 : 0xff, m->words * sizeof *set);
    if (body->alternative)
        merge_depend(set, b->task_substitution[body->task]);
    for (uint32_t i = body->token; i < body->tokens_end; i++) {
        const struct blueprint_token *t = &b->tokens.at[i];
        if (t->type == TOKEN_PARAMETER && b->parameter_substitution[t->index] != NONE)
            merge_depend(set, b->parameter_substitution[t->index]);
    }
    for (uint32_t i = body->read; i < body->reads_end; i++) {
        uint32_t o = b->reads.at[i];
        if (b->data_substitution[o] != NONE)
            merge_depend(set, b->data_substitution[o]);
        o = merge_read_object(m, o);
        for (size_t k = 0; k < m->words && o < b->nobjects && w->producer[o] != NONE; k++)
            set[k] |= m->depends[w->producer[o] * m->words + k];
    }
    for (uint32_t e = w->pred_off[body->task]; e < w->pred_off[body->task + 1]; e++)
        for (size_t k = 0; k < m->words && w->pred_object[e] == NONE; k++)
            set[k] |= m->depends[w->pred_task[e] * m->words + k];
    if (memcmp(set, kept, m->words * sizeof *set) == 0)
        return false;
    memcpy(kept, set, m->words * sizeof *set);
    return true;
}

/* Find or make the merged task of t. Without reuse every combination gets its own. */
static void place_task(struct merging *m, uint32_t t)
{
    const struct blueprint *b = &m->b;
    uint32_t stamp = m->combination + 1, before = m->instance[t];
    if (m->alive && !m->alive[t]) {
        m->instance[t] = NONE;
        m->moved[t] = before != NONE ? stamp : m->moved[t];
        return;
    }
    m->without_reuse++;
    bool dirty = m->dirty[t] == stamp || before == NONE || !m->reuse;
    for (uint32_t e = b->pred_off[t]; e < b->pred_off[t + 1] && !dirty; e++)
        dirty = m->moved[b->pred[e]] == stamp;
    if (!dirty)
        return;
    const struct body *body = &b->bodies.at[m->body[t]];
    struct digest key;
    bool otherwise = find_dependence(m, body);
    merge_find_inputs(m, body);
    find_key(m, body, &key);
    uint32_t found = m->reuse && m->mask ? m->slot[merge_slot_of(m, &key)] : 0;
    if (found) {
        m->instance[t] = found - 1;
    } else {
        m->instance[t] = merging_task(m, body, &key);
        if (m->reuse && m->instance[t] != NONE)
            enter_key(m, m->instance[t]);
    }
    if (m->notes && m->instance[t] != NONE)
        spread_note(&m->spread, m->instance[t], m->reading);
    if (m->instance[t] != before || otherwise)
        m->moved[t] = stamp;
}

/* ---- all of it ---- */

/* An input inside the folder of results could be overwritten. */
static bool clear_folder(const struct merging *m, struct error *err)
{
    size_t n = strlen(m->results);
    for (uint32_t o = 0; o < m->b.files.n; o++) {
        const char *name = blueprint_file(&m->b, o);
        if ((o >= m->b.nobjects || m->b.w->producer[o] == NONE) &&
            strncmp(name, m->results, n) == 0 && (name[n] == '/' || !name[n]))
            return error_at(err, m->b.x->file, 0,
                            "the input '%.200s' stands in the folder of the results; choose "
                            "another one with 'results: FOLDER'",
                            name);
    }
    return true;
}

/* The head of the merged workflow. Constraints of all readings: a text that two have counts once. */
static void merge_begin(struct merging *m, const struct experiment *x, const struct readings *r)
{
    const struct workflow *w = r->at[0];
    struct intern texts;
    m->out = builder_new(x->file, "experiment");
    const char *name = *x->name ? x->name : workflow_text(w, w->name);
    if (*name)
        builder_name(m->out, name, strlen(name));
    intern_init(&texts);
    for (uint32_t k = 0; k < r->n; k++)
        for (uint32_t i = 0; i < r->at[k]->nassertions; i++) {
            const char *text = workflow_text(r->at[k], r->at[k]->assertion[i]);
            uint32_t before = texts.n;
            if (intern_number(&texts, text, strlen(text)) == before)
                builder_assertion(m->out, text, strlen(text), 0);
        }
    intern_free(&texts);
    for (size_t i = 0; i < x->assertions.n; i++)
        builder_assertion(m->out, x->assertions.at[i].text, strlen(x->assertions.at[i].text),
                          x->assertions.at[i].line);
    for (int i = 0; i < WORKFLOW_HOOKS; i++)
        if (w->hook[i])
            builder_hook(m->out, (enum workflow_hook)i, workflow_text(w, w->hook[i]),
                         strlen(workflow_text(w, w->hook[i])));
    m->words = (x->substitutions.n + 63) / 64;
    m->scratch = mem_new_zero(uint64_t, m->words);
    m->with_file = mem_new_zero(uint64_t, m->words);
    for (uint32_t s = 0; s < x->substitutions.n; s++)
        if (x->substitutions.at[s].with_file)
            merge_depend(m->with_file, s);
}

/* Everything is as in this reading of the original before its first combination. */
static void merge_start(struct merging *m)
{
    const struct workflow *w = m->b.w;
    m->depends = mem_new_zero(uint64_t, w->ntasks * m->words);
    m->body = mem_new(uint32_t, w->ntasks);
    m->instance = mem_new(uint32_t, w->ntasks);
    m->dirty = mem_new_zero(uint32_t, w->ntasks);
    m->moved = mem_new_zero(uint32_t, w->ntasks);
    m->alive = m->b.may_prune ? mem_new_zero(uint8_t, w->ntasks) : NULL;
    m->value = mem_new(const char *, w->nparameters);
    m->file_object = mem_new(uint32_t, m->b.files.n);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        m->body[t] = t;
        m->instance[t] = NONE;
    }
    for (uint32_t i = 0; i < w->nparameters; i++)
        m->value[i] = workflow_text(w, w->parameter_value[i]);
    for (uint32_t o = 0; o < m->b.files.n; o++)
        m->file_object[o] = NONE;
}

/* `last` NULL: the first one, in which every choice is new. */
static void merge_combination(struct merging *m, const uint32_t *row, const uint32_t *last)
{
    const struct blueprint *b = &m->b;
    m->row = row;
    for (size_t s = 0; s < b->x->substitutions.n; s++)
        if (!last || row[s] != last[s])
            merge_apply_choice(m, s);
    if (m->alive)
        find_alive(m);
    for (uint32_t i = 0; i < b->w->ntasks && !builder_failed(m->out); i++)
        place_task(m, b->order[i]);
}

/* What belongs to the reading at hand. What is merged stays. */
static void merge_leave_reading(struct merging *m)
{
    void *columns[] = {m->body,  m->value, m->instance, m->dirty,
                       m->moved, m->alive, m->depends,  m->file_object};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        free(columns[i]);
    m->body = m->instance = m->dirty = m->moved = m->file_object = NULL;
    m->value = NULL;
    m->alive = NULL;
    m->depends = NULL;
    blueprint_free(&m->b);
    m->b = (struct blueprint){0};
}

static void merge_release(struct merging *m)
{
    builder_free(m->out);
    merge_leave_reading(m);
    free(m->slot);
    free(m->scratch);
    free(m->with_file);
    array_free(&m->inputs);
    array_free(&m->place);
    array_free(&m->key);
    array_free(&m->origin);
    array_free(&m->first_output);
    array_free(&m->outputs);
    array_free(&m->seen);
    array_free(&m->seen_place);
    array_free(&m->leaves);
    spread_free(&m->spread);
    strbuf_free(&m->text);
    strbuf_free(&m->name);
    strbuf_free(&m->label);
}

/* The combinations of one reading, in their order. False: an error, or the builder has failed. */
static bool merge_reading(struct merging *m, const struct experiment *x, struct merged *r,
                          uint32_t reading, struct error *err)
{
    struct merged_reading *at = &r->reading[reading];
    size_t width = x->substitutions.n;
    const uint32_t *last = NULL;
    if (!blueprint_make(&m->b, x, at->original, err) || !clear_folder(m, err))
        return false;
    m->reading = reading;
    merge_start(m);
    at->nleaves = m->b.nleaves;
    free(at->leaf);
    at->leaf = mem_new(uint32_t, at->nleaves);
    if (at->nleaves)
        memcpy(at->leaf, m->b.leaf, at->nleaves * sizeof *at->leaf);
    for (uint32_t c = 0; c < r->ncombinations && !builder_failed(m->out); c++) {
        if (r->reading_of[c] != reading)
            continue;
        const uint32_t *row = r->choice + c * width;
        m->combination = c;
        merge_combination(m, row, last);
        last = row;
        r->first[c] = m->leaves.n;
        for (uint32_t l = 0; l < at->nleaves; l++)
            array_push(&m->leaves, m->instance[at->leaf[l]]);
    }
    merge_leave_reading(m);
    return !builder_failed(m->out);
}

/* "... (with res=20)": which reading it is that something is wrong with. */
static void merge_blame_reading(const struct experiment *x, const uint32_t *row,
                                const uint64_t *with_file, struct error *err)
{
    struct strbuf label = {0}, text = {0};
    combination_label(x, row, with_file, &label);
    enum error_kind kind = err->kind;
    strbuf_add(&text, err->text);
    error_clear(err);
    error_set(err, kind, "%s (with %s)", strbuf_text(&text), strbuf_text(&label));
    strbuf_free(&label);
    strbuf_free(&text);
}

/* All readings, one after the other, into one workflow; equal keys meet. */
static bool merge_pass(struct merging *m, const struct experiment *x, const struct readings *all,
                       struct merged *r, const uint32_t *const *row, struct error *err)
{
    merge_begin(m, x, all);
    for (uint32_t k = 0; k < all->n; k++)
        if (!merge_reading(m, x, r, k, err)) {
            if (all->n > 1 && err && err->kind != ERROR_NONE)
                merge_blame_reading(x, row[k], m->with_file, err);
            return builder_failed(m->out); /* builder_finish() says what it met */
        }
    return true;
}

/* A first pass finds which computations stand in which readings, and so what each depends on; the
 * second meets the same keys in the same order and names them by that. */
static uint64_t *merge_narrow(const struct experiment *x, const struct readings *all,
                              struct merged *r, const struct merging *like,
                              const uint32_t *const *row, struct error *err)
{
    struct merging m = *like;
    m.notes = true;
    uint64_t *sets = merge_pass(&m, x, all, r, row, err)
                         ? spread_narrow(&m.spread, x, row, all->n, (uint32_t)m.key.n, m.words)
                         : NULL;
    merge_release(&m);
    return sets;
}

/* Rooms for the readings and the combinations. */
static struct merged *merged_new(const struct experiment *x, const struct readings *all,
                                 struct error *err)
{
    struct merged *r = mem_new_zero(struct merged, 1);
    r->nsubstitutions = (uint32_t)x->substitutions.n;
    if (!combinations_make(x, &r->choice, &r->ncombinations, err)) {
        free(r);
        return NULL;
    }
    r->nreadings = all->n;
    r->reading = mem_new_zero(struct merged_reading, all->n);
    for (uint32_t k = 0; k < all->n; k++)
        r->reading[k].original = all->at[k];
    r->first = mem_new_zero(size_t, r->ncombinations);
    r->reading_of = mem_new_zero(uint32_t, r->ncombinations);
    if (all->of && r->ncombinations)
        memcpy(r->reading_of, all->of, r->ncombinations * sizeof *r->reading_of);
    return r;
}

/* The keys and origins are handed over, not copied. */
static bool merged_take(struct merged *r, struct merging *m, struct error *err)
{
    r->tasks_without_reuse = m->without_reuse;
    r->instance = m->leaves.at;
    m->leaves.at = NULL;
    r->key = m->key.at;
    r->origin = m->origin.at;
    m->key.at = NULL;
    m->origin.at = NULL;
    r->workflow = builder_finish(m->out, err);
    m->out = NULL;
    for (uint32_t o = 0; r->workflow && o < r->workflow->nobjects; o++)
        r->nfiles += r->workflow->producer[o] == NONE;
    return r->workflow != NULL;
}

struct merged *experiment_merge_readings(const struct experiment *x, const struct readings *all,
                                         bool reuse, struct error *err)
{
    struct merging m = {.reuse = reuse,
                        .results = x->results && *x->results ? x->results : "results"};
    struct merged *r = merged_new(x, all, err);
    if (!r)
        return NULL;
    const uint32_t **row = mem_new(const uint32_t *, all->n); /* a combination of each */
    for (uint32_t c = r->ncombinations; c--;)
        row[r->reading_of[c]] = r->choice + (size_t)c * r->nsubstitutions;
    uint64_t *narrowed = reuse && all->n > 1 ? merge_narrow(x, all, r, &m, row, err) : NULL;
    m.narrowed = narrowed;
    bool good = (narrowed || !reuse || all->n == 1) && merge_pass(&m, x, all, r, row, err) &&
                merged_take(r, &m, err);
    free(narrowed);
    free(row);
    merge_release(&m);
    if (good)
        return r;
    merged_free(r);
    return NULL;
}

struct merged *experiment_merge(const struct experiment *x, const struct workflow *w, bool reuse,
                                struct error *err)
{
    struct workflow *const one = (struct workflow *)w; /* read only, as every reading is */
    return experiment_merge_readings(x, &(struct readings){.n = 1, .at = &one}, reuse, err);
}

void merged_free(struct merged *m)
{
    if (!m)
        return;
    workflow_free(m->workflow);
    free(m->key);
    free(m->origin);
    free(m->choice);
    for (uint32_t k = 0; k < m->nreadings; k++)
        free(m->reading[k].leaf);
    free(m->reading);
    free(m->reading_of);
    free(m->first);
    free(m->instance);
    free(m);
}

/* The whole combination, for people and for folders. */
void merged_label(const struct merged *m, const struct experiment *x, uint32_t combination,
                  struct strbuf *out)
{
    combination_label(x, m->choice + (size_t)combination * m->nsubstitutions, NULL, out);
}

const struct workflow *merged_original(const struct merged *m, uint32_t combination)
{
    return m->reading[m->reading_of[combination]].original;
}

uint32_t merged_most_results(const struct merged *m)
{
    uint32_t most = 0;
    for (uint32_t k = 0; k < m->nreadings; k++) {
        const struct merged_reading *r = &m->reading[k];
        uint32_t n = 0;
        for (uint32_t l = 0; l < r->nleaves; l++)
            n += r->original->object_end[r->leaf[l]] - r->original->object_off[r->leaf[l]];
        most = n > most ? n : most;
    }
    return most;
}

/* The results of one combination: outputs of leaves that nobody reads. `out` has room for
 * merged_most_results(). */
uint32_t merged_results(const struct merged *m, uint32_t combination, uint32_t *out,
                        uint32_t *original_object)
{
    const struct merged_reading *r = &m->reading[m->reading_of[combination]];
    const struct workflow *original = r->original;
    uint32_t n = 0;
    for (uint32_t l = 0; l < r->nleaves; l++) {
        uint32_t t = r->leaf[l], task = m->instance[m->first[combination] + l];
        for (uint32_t k = 0; k < original->object_end[t] - original->object_off[t]; k++) {
            uint32_t o = blueprint_output(original, t, k);
            if (task == NONE || original->object_edge[o] != NONE)
                continue;
            if (original_object)
                original_object[n] = o;
            out[n++] = blueprint_output(m->workflow, task, k);
        }
    }
    return n;
}

/* Tasks, and their work, of which no result is known yet. */
uint32_t merged_remaining(const struct merged *m, const struct known_results *known, double *work)
{
    uint32_t left = 0;
    *work = 0;
    for (uint32_t t = 0; t < m->workflow->ntasks; t++)
        if (!known || !known->done || !known->done(known->context, t, &m->key[t])) {
            left++;
            *work += m->workflow->work[t];
        }
    return left;
}

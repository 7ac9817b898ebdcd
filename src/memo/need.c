/* Which tasks must run, and why.
 *
 * The key of a task is a digest of what it does (command, parameters, names of outputs; its own name
 * if it has none) and of what it reads (names and contents of inputs). What it merely comes `after` is
 * no part of it: that orders two tasks, and nothing more. A task whose key is on record, with outputs that are
 * what it left, need not run. Contents of intermediate files are known only when their producers
 * need not run or have run, so judgement goes in topological order, and a task below one that runs
 * is NEED_PARENT: it is judged again, by the executor, when its inputs are there. That is what cuts
 * a rebuild short when a recomputed file turns out to be the same.
 *
 *     1. contents of the workflow's own inputs        each file once, from the memo if unchanged
 *     2. each task in topological order               need_judge()
 *     3. in reverse: temporary files that what runs will read, restored by their producers
 *     4. sizes to expect, inputs that are missing
 *
 * O(tasks + edges) and what is read of files. Nothing on disk is changed but the memo's digests. */
#include "memo/need.h"

#include "base/array.h"
#include "memo/decide.h"
#include "memo/gathered.h"
#include "memo/keeping.h"
#include "memo/missing.h"
#include "memo/need_hash.h"
#include "model/future.h"
#include "model/command.h"
#include "model/environment.h"
#include "model/growth.h"
#include "model/shell.h"
#include "base/tree.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *label_of(const struct needs *n, uint32_t object, char *label, size_t size)
{
    return workflow_object_label(n->w, object, label, size);
}

static bool has_outputs(const struct needs *n, uint32_t task)
{
    return n->w->object_end[task] > n->w->object_off[task];
}

bool need_key(const struct needs *n, uint32_t task, struct digest *key)
{
    if (task >= n->nhashes || !n->hashes[task].made)
        return need_hash_task(n, task, !has_outputs(n, task), key, NULL);
    *key = n->hashes[task].key;
    return true;
}

static uint64_t name_hash(const struct needs *n, uint32_t task)
{
    if (task < n->nhashes && n->hashes[task].made)
        return n->hashes[task].name;
    const char *name = workflow_task_name(n->w, task);
    return memo_hash(name, strlen(name));
}

/* Tasks without outputs had no name in their key once: such a record counts if it is of this name. */
static const struct memo_task *find_record(const struct needs *n, uint32_t task,
                                           const struct digest *key)
{
    const struct memo_task *t = memo_find(n->memo, key);
    struct digest unnamed;
    if (t || has_outputs(n, task))
        return t;
    t = memo_last(n->memo, name_hash(n, task));
    return t && need_hash_task(n, task, false, &unnamed, NULL) && digest_equal(&t->key, &unnamed)
               ? t
               : NULL;
}

const struct memo_task *need_find_record(const struct needs *n, uint32_t task)
{
    struct digest key;
    return need_key(n, task, &key) ? find_record(n, task, &key) : NULL;
}

/* Outputs stand in the order in which the file lists them; without that list, in that
 * of numbers. */
static uint32_t output_at(const struct workflow *w, uint32_t i)
{
    return w->out_object ? w->out_object[i] : i;
}

bool need_may_be_gone(const struct needs *n, uint32_t object)
{
    return workflow_is_temporary(n->w, object) || need_in_memory(n, object) ||
           (n->elsewhere && workflow_is_intermediate(n->w, object));
}

/* Are the outputs what the record says? A temporary one may be gone. */
static bool outputs_stand(struct needs *n, uint32_t task, const struct memo_task *t,
                          uint32_t *because)
{
    const struct workflow *w = n->w;
    const struct digest *known = memo_outputs(n->memo, t);
    uint32_t first = w->object_off[task], count = w->object_end[task] - first;
    if (count != t->noutputs)
        return false;
    struct strbuf path = {0};
    char label[512];
    bool good = true;
    for (uint32_t k = 0; k < count && good; k++) {
        uint32_t object = output_at(w, first + k);
        struct digest now;
        double size;
        struct error err = {0};
        path_in(n->folder, label_of(n, object, label, sizeof label), &path);
        bool there =
            !need_in_memory(n, object) && memo_digest(n->memo, path.at, false, &now, &size, &err);
        n->present[object] = there;
        good = there ? digest_equal(&now, &known[k]) : need_may_be_gone(n, object);
        if (there)
            n->bytes[object] = size;
        if (!good)
            *because = object;
    }
    for (uint32_t k = 0; k < count; k++)
        n->content[output_at(w, first + k)] = good ? known[k] : (struct digest){0};
    strbuf_free(&path);
    return good;
}

/* Is an output gone that somebody will read? Temporary ones may be, but one who reads it runs, or may:
 * restore_temporaries() saw to those whose producer was known to be done, this one was not. */
static bool output_missed(const struct needs *n, uint32_t task)
{
    const struct workflow *w = n->w;
    for (uint32_t o = w->object_off[task]; o < w->object_end[task] && !n->elsewhere; o++) {
        uint32_t count;
        const uint32_t *reader = n->present[o] ? NULL : workflow_consumers(w, o, &count);
        for (uint32_t i = 0; reader && i < count; i++)
            if (need_runs(n, reader[i]))
                return true;
    }
    return false;
}

bool need_reuse(struct needs *n, uint32_t task, const struct digest *key)
{
    const struct memo_task *t = find_record(n, task, key);
    uint32_t because;
    return t && (outputs_stand(n, task, t, &because) || keeping_restore(n, task, t)) &&
           !output_missed(n, task);
}

/* Short lists, which most are, stand on the stack: it is called for every task that ends.
 * Record what the task read and left. False: the content of an input is not known. */
static bool need_record(struct needs *n, uint32_t task, struct need_hashes *h)
{
    const struct workflow *w = n->w;
    uint32_t first = w->object_off[task], count = w->object_end[task] - first;
    uint32_t in = w->in_off ? w->in_off[task] : 0,
             inputs = w->in_off ? w->in_off[task + 1] - in : 0;
    struct memo_task t = {.ninputs = inputs, .noutputs = count};
    if (!need_hash(n, task, h))
        return false;
    t.key = h->key;
    t.name = h->name;
    t.command = h->command;
    struct digest few[8], *outputs = count <= 8 ? few : mem_new(struct digest, count);
    struct memo_input some[8], *read = inputs <= 8 ? some : mem_new(struct memo_input, inputs);
    for (uint32_t k = 0; k < count; k++)
        outputs[k] = n->content[output_at(w, first + k)];
    for (uint32_t k = 0; k < inputs; k++) {
        uint32_t object = w->in_object[in + k];
        read[k] =
            (struct memo_input){need_hash_name(n, object), need_short_digest(&n->content[object])};
    }
    memo_add(n->memo, &t, read, outputs);
    if (outputs != few)
        free(outputs);
    if (read != some)
        free(read);
    return true;
}

/* What a function leaves in memory nobody reads to hash it: the same computation leaves the same, so the
 * key of its producer and its place stand for it. Known before the task has run, if its inputs are. */
static void know_in_memory(struct needs *n, uint32_t task, struct need_hashes *h)
{
    const struct workflow *w = n->w;
    for (uint32_t i = w->object_off[task]; w->object_flags && i < w->object_end[task]; i++) {
        uint32_t object = output_at(w, i), place = i - w->object_off[task] + 1;
        if (!need_in_memory(n, object))
            continue;
        if (!need_hash(n, task, h))
            return;
        /* a key is as good as random: another number for each place, without hashing again */
        n->content[object] = h->key;
        for (uint32_t k = 0; k < sizeof place; k++)
            n->content[object].at[k] ^= (unsigned char)(place >> 8 * k);
    }
}

/* Before it has run. Of a task that is skipped nothing will be there: need_absent() has said so, and readers that do without
 * it are not those that once had it. */
static void expect_in_memory(struct needs *n, uint32_t task)
{
    if (n->task[task] != NEED_SKIPPED)
        know_in_memory(n, task, &(struct need_hashes){0});
}

/* Outputs are read once, here, right after they were written: mostly they are still in memory. */
bool need_done(struct needs *n, uint32_t task, struct error *err)
{
    const struct workflow *w = n->w;
    struct strbuf path = {0};
    char label[512];
    bool good = true;
    struct need_hashes hashes = {0};
    know_in_memory(n, task, &hashes);
    for (uint32_t i = w->object_off[task]; i < w->object_end[task] && good; i++) {
        uint32_t object = output_at(w, i);
        double size = 0;
        struct digest found;
        if (need_in_memory(n, object))
            continue;
        path_in(n->folder, label_of(n, object, label, sizeof label), &path);
        good = memo_digest(n->memo, path.at, true, &found, &size, err);
        if (!good && err->kind == ERROR_NONE)
            error_set(err, ERROR_FAILED, "output '%.200s' is missing",
                      label_of(n, object, label, sizeof label));
        n->content[object] = good ? found : (struct digest){0};
        n->bytes[object] = size;
        n->present[object] = good;
        struct digest left;
        /* a folder, of files it is known; also one that the memo has as another run left it */
        if (good && (!memo_left(n->memo, path.at, &left) || !digest_equal(&left, &found)))
            memo_learn_folder(n->memo, path.at, &found);
    }
    strbuf_free(&path);
    if (good)
        need_record(n, task, &hashes);
    if (good && keeping_wants(n, task))
        keeping_keep(n, task);
    return good;
}

bool need_learn(struct needs *n, uint32_t task)
{
    const struct workflow *w = n->w;
    for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++)
        if (digest_is_zero(&n->content[o]))
            return false;
    return need_record(n, task, &(struct need_hashes){0});
}

/* ---- finding ---- */

/* Why a task whose key is not known runs: by comparison with the last record of its name. */
static enum need compare_last(const struct needs *n, uint32_t task, uint32_t *because)
{
    const struct memo_task *last = memo_last(n->memo, name_hash(n, task));
    if (!last)
        return NEED_NEVER;
    if (last->command != need_hash_command(n, task))
        return NEED_COMMAND;
    const struct workflow *w = n->w;
    const struct memo_input *before = memo_inputs(n->memo, last);
    char label[512];
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++) {
        uint32_t object = w->in_object[i], k = 0;
        const char *name = label_of(n, object, label, sizeof label);
        uint64_t hash = memo_hash(name, strlen(name));
        while (k < last->ninputs && before[k].name != hash)
            k++;
        if (k == last->ninputs || before[k].content != need_short_digest(&n->content[object])) {
            *because = object;
            return NEED_INPUT;
        }
    }
    return NEED_INPUT; /* one less than before, or another order */
}

/* The content of the workflow's own inputs, each file once. Absent ones are reported when a task
 * needs them. */
static bool needs_read_inputs(struct needs *n, uint32_t first, struct error *err)
{
    const struct workflow *w = n->w;
    struct strbuf path = {0};
    char label[512];
    bool good = true;
    for (uint32_t o = w->nobjects; o-- > first && good;) {
        if (w->producer[o] != NONE) {
            if (!w->growth)
                break; /* inputs come last */
            continue;
        }
        path_in(n->folder, label_of(n, o, label, sizeof label), &path);
        double size = 0;
        if (workflow_object_is(w, o, OBJECT_GATHERED)) {
            good = gathered_read(n, o, err);
        } else if (memo_digest(n->memo, path.at, false, &n->content[o], &size, err)) {
            n->present[o] = 1;
            n->bytes[o] = size;
        } else {
            good = !err || err->kind == ERROR_NONE;
            if (w->in_optional)
                need_absent(n, o); /* who needs it is refused, who does not need not know */
        }
    }
    strbuf_free(&path);
    return good;
}

/* Is it decided now whether the task is taken? NEED_SKIPPED: it is not. NEED_PARENT: that will be seen
 * when what it asks about is there. NEED_NOT: it is, or nobody can say. */
static enum need judge_decision(struct needs *n, uint32_t task, uint32_t *because)
{
    const struct workflow *w = n->w;
    const struct deciding d = {.w = w, .needs = n, .absent = n->absent, .folder = n->folder};
    struct error ignored = {0}; /* told when the task could start */
    enum task_decision decision = decide_task(&d, task, because, &ignored);
    if (decision == DECISION_SKIPPED) {
        need_without_outputs(n, task);
        return NEED_SKIPPED;
    }
    if (decision == DECISION_FAILED) /* it says why when it could start */
        return NEED_PARENT;
    for (uint32_t e = w->pred_off[task]; decision == DECISION_OPEN && e < w->pred_off[task + 1];
         e++)
        if (w->pred_object[e] != NONE && !n->present[w->pred_object[e]] &&
            !n->absent[w->pred_object[e]]) {
            *because = w->pred_task[e];
            return NEED_PARENT;
        }
    return NEED_NOT;
}

/* In topological order: parents have been judged. `because` is what is named to people. */
static enum need need_judge(struct needs *n, uint32_t task, const struct need_options *options,
                            const uint8_t *forced, uint32_t *because)
{
    const struct workflow *w = n->w;
    enum need decided = n->absent ? judge_decision(n, task, because) : NEED_NOT;
    if (decided == NEED_SKIPPED)
        return decided;
    if (options->all || (forced && forced[task]))
        return NEED_FORCED;
    if (decided != NEED_NOT)
        return decided;
    for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++)
        if (need_runs(n, w->pred_task[e]) && w->pred_object[e] != NONE &&
            digest_is_zero(&n->content[w->pred_object[e]])) { /* else it has run already */
            *because = w->pred_task[e];
            return NEED_PARENT;
        }
    struct digest key;
    if (!need_key(n, task, &key))
        return NEED_NEVER; /* an input is absent: reported when it comes to running */
    const struct memo_task *t = find_record(n, task, &key);
    if (!t)
        return compare_last(n, task, because);
    return outputs_stand(n, task, t, because) ? NEED_NOT
           : keeping_can_restore(n, task, t)  ? NEED_KEPT
                                              : NEED_OUTPUT;
}

/* What must run reads files; a temporary one that is gone must be produced again, and so on up: in
 * reverse order, so that a producer that is woken wakes its own in turn. */
static void restore_temporaries(struct needs *n, bool open)
{
    const struct workflow *w = n->w;
    if (!w->object_flags && !n->elsewhere)
        return;
    for (uint32_t i = w->ntasks; i--;) {
        uint32_t task = w->topo[i];
        for (uint32_t o = w->object_off[task]; open && o < w->object_end[task]; o++)
            if (n->task[task] == NEED_NOT && workflow_is_temporary(w, o) && !n->present[o] &&
                future_may_read(w, o)) {
                n->task[task] = NEED_RESTORE; /* somebody may join who reads it */
                n->because[task] = o;
            }
        if (!need_runs(n, task))
            continue;
        for (uint32_t e = w->pred_off[task]; e < w->pred_off[task + 1]; e++) {
            uint32_t object = w->pred_object[e], parent = w->pred_task[e];
            if (object != NONE && !n->present[object] && n->task[parent] == NEED_NOT) {
                n->task[parent] = NEED_RESTORE;
                n->because[parent] = object;
            }
        }
    }
}

/* Outputs of unknown size will be about as large as those of last time, if these still
 * lie there. */
static void expect_sizes(struct needs *n, uint32_t task)
{
    const struct workflow *w = n->w;
    struct strbuf path = {0};
    char label[512];
    struct stat s;
    for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++)
        if (!(n->bytes[o] > 0) && !need_in_memory(n, o) &&
            stat(path_in(n->folder, label_of(n, o, label, sizeof label), &path), &s) == 0)
            n->bytes[o] = (double)s.st_size;
    strbuf_free(&path);
}

/* Nothing known, every size as stated. */
static void needs_allocate(struct needs *n, const struct workflow *w, const char *folder,
                           struct memo *memo)
{
    *n = (struct needs){.w = w, .folder = folder, .memo = memo};
    if (memo)
        memo_set_folder(memo, folder);
    n->task = mem_new_zero(uint8_t, w->ntasks);
    n->because = mem_new(uint32_t, w->ntasks);
    n->content = mem_new_zero(struct digest, w->nobjects);
    n->bytes = mem_new(double, w->nobjects);
    n->present = mem_new_zero(uint8_t, w->nobjects);
    for (uint32_t o = 0; o < w->nobjects; o++)
        n->bytes[o] = w->size[o];
    if (workflow_decides(w))
        needs_decide(n);
}

void needs_blank(struct needs *n, const struct workflow *w, const char *folder, struct memo *memo,
                 const uint32_t *done, size_t ndone)
{
    needs_allocate(n, w, folder, memo);
    n->elsewhere = true;
    for (uint32_t t = 0; t < w->ntasks; t++) {
        n->task[t] = NEED_NEVER;
        n->because[t] = NONE;
    }
    for (size_t i = 0; i < ndone; i++)
        if (done[i] < w->ntasks)
            n->task[done[i]] = NEED_NOT;
    for (uint32_t t = 0; t < w->ntasks; t++)
        n->skip += n->task[t] == NEED_NOT;
    n->run = w->ntasks - n->skip;
}

/* Only asked where something is missing. */
static bool is_optional(const struct workflow *w, uint32_t task, uint32_t object)
{
    for (uint32_t i = w->in_optional ? w->in_off[task] : 0;
         w->in_optional && i < w->in_off[task + 1]; i++)
        if (w->in_object[i] == object)
            return w->in_optional[i];
    return false;
}

/* Of a workflow that has grown: it lies in a folder whose maker has not run yet. Then its content is
 * read when its reader starts (need_read_late()). */
static bool comes_late(struct needs *n, uint32_t object)
{
    uint32_t folder = n->w->growth ? growth_folder(n->w, object) : NONE;
    bool late = folder != NONE && n->w->producer[folder] != NONE &&
                n->task[n->w->producer[folder]] != NEED_NOT && digest_is_zero(&n->content[folder]);
    n->late |= late;
    return late;
}

void need_read_late(struct needs *n, uint32_t task)
{
    const struct workflow *w = n->w;
    struct strbuf path = {0};
    struct error ignored = {0}; /* what is not there the command will miss */
    char label[512];
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++) {
        uint32_t o = w->in_object[i];
        if (w->producer[o] != NONE || n->present[o])
            continue;
        path_in(n->folder, label_of(n, o, label, sizeof label), &path);
        n->present[o] =
            memo_digest(n->memo, path.at, false, &n->content[o], &n->bytes[o], &ignored);
    }
    strbuf_free(&path);
}

/* What runs from task `first` on: how many, with which sizes to expect, and are its inputs there? */
static bool needs_count(struct needs *n, uint32_t first, struct error *err)
{
    const struct workflow *w = n->w;
    bool good = true;
    for (uint32_t t = first; t < w->ntasks && good; t++) {
        if (!need_runs(n, t)) {
            n->skip += n->task[t] == NEED_NOT;
            n->untaken += n->task[t] == NEED_SKIPPED;
            n->kept += n->task[t] == NEED_KEPT;
            continue;
        }
        n->run++;
        expect_sizes(n, t);
        for (uint32_t i = w->input_off ? w->input_off[t] : 0;
             w->input_off && i < w->input_off[t + 1] && good; i++)
            if (!n->present[w->input_object[i]] && !is_optional(w, t, w->input_object[i]) &&
                !comes_late(n, w->input_object[i]))
                good = missing_input(w, t, w->input_object[i], n->folder, err);
    }
    return good;
}

/* The four steps above. */
bool needs_find(struct needs *n, const struct workflow *w, const char *folder, struct memo *memo,
                const struct need_options *options, struct error *err)
{
    needs_allocate(n, w, folder, memo);
    n->environment = options->environment;
    n->elsewhere = options->elsewhere;
    n->keeping = options->keeping;
    bool good = needs_read_inputs(n, 0, err);
    for (uint32_t i = 0; i < w->ntasks && good; i++) {
        uint32_t task = w->topo[i];
        n->because[task] = NONE;
        if (options->wanted && !options->wanted[task])
            continue;
        need_keep_hashes(n, task);
        n->task[task] = (uint8_t)need_judge(n, task, options, options->forced, &n->because[task]);
        expect_in_memory(n, task);
    }
    if (good)
        restore_temporaries(n, false);
    good = good && needs_count(n, 0, err);
    if (!good)
        needs_free(n);
    return good;
}

/* Longer arrays, the new entries as needs_allocate() makes them. */
static void needs_lengthen(struct needs *n, uint32_t first, uint32_t object)
{
    const struct workflow *w = n->w;
    if (n->task_room < w->ntasks) {
        n->task_room = w->ntasks + first / 2;
        n->task = mem_resize(n->task, n->task_room);
        n->because = mem_resize(n->because, n->task_room);
        if (n->note)
            n->note = mem_resize(n->note, n->task_room);
    }
    if (n->object_room < w->nobjects) {
        n->object_room = w->nobjects + object / 2;
        n->content = mem_resize(n->content, n->object_room);
        n->bytes = mem_resize(n->bytes, n->object_room);
        n->present = mem_resize(n->present, n->object_room);
        if (n->absent)
            n->absent = mem_resize(n->absent, n->object_room);
    }
    for (uint32_t t = first; t < w->ntasks; t++) {
        n->task[t] = NEED_NEVER;
        n->because[t] = NONE;
        if (n->note)
            n->note[t] = NULL;
    }
    for (uint32_t o = object; o < w->nobjects; o++) {
        n->content[o] = (struct digest){0};
        n->bytes[o] = w->size[o];
        n->present[o] = 0;
        if (n->absent)
            n->absent[o] = 0;
    }
    if (workflow_decides(w))
        needs_decide(n);
}

void needs_restore(struct needs *n, bool open)
{
    restore_temporaries(n, open);
    n->skip = n->kept = n->untaken = 0;
    for (uint32_t t = 0; t < n->w->ntasks; t++) {
        n->skip += n->task[t] == NEED_NOT;
        n->kept += n->task[t] == NEED_KEPT;
        n->untaken += n->task[t] == NEED_SKIPPED;
    }
    n->run = n->w->ntasks - n->skip - n->kept - n->untaken;
}

void needs_extend(struct needs *n, uint32_t first, uint32_t object)
{
    needs_lengthen(n, first, object);
    for (uint32_t t = first; t < n->w->ntasks; t++)
        n->task[t] = NEED_PARENT;
    for (uint32_t o = object; o < n->w->nobjects && !n->late; o++)
        n->late = n->w->producer[o] == NONE; /* read when its reader starts, or is put on record */
    n->run = n->w->ntasks;
}

bool needs_grow(struct needs *n, uint32_t first, uint32_t object,
                const struct need_options *options, struct error *err)
{
    const struct workflow *w = n->w;
    needs_lengthen(n, first, object);
    bool good = needs_read_inputs(n, object, err);
    for (uint32_t i = first; i < w->ntasks && good; i++) {
        uint32_t task = w->topo[i];
        need_keep_hashes(n, task);
        n->task[task] = (uint8_t)need_judge(n, task, options, options->forced, &n->because[task]);
        expect_in_memory(n, task);
    }
    good = good && needs_count(n, first, err);
    if (good && n->keeping && n->keeping->started)
        keeping_restore_all(n, first);
    return good;
}

void needs_free(struct needs *n)
{
    free(n->task);
    free(n->because);
    free(n->content);
    free(n->bytes);
    free(n->present);
    free(n->absent);
    free(n->hashes);
    free(n->name_hashes);
    for (uint32_t t = 0; n->note && t < n->w->ntasks; t++)
        free(n->note[t]);
    free(n->note);
    *n = (struct needs){0};
}

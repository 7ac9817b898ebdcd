/* Files out of memory and back: spill.h.
 *
 * S1. One entry of `file` for each file of the plan, and one copy of it at a time: its state says which.
 * S2. A file is removed from memory when its copy is whole, and from the disk when it is whole in memory again: whatever
 *     fails or is killed in between, one of them is there.
 * S3. Copies have the permissions and times of the first (tree_copy()), and its content: who looks (memo/inputs.h) sees the
 *     same file. */
#include "drive/spill.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum spill_state { SPILL_HERE, SPILL_LEAVING, SPILL_OUT, SPILL_COMING, SPILL_BACK, SPILL_OVER };

struct spilled {
    struct spill *owner;
    struct run_spilled plan;
    enum spill_state state;
    bool wanted; /* while it leaves: its reader waits for it already */
    char *inside, *outside;
    double began; /* clock_seconds(): of the copy */
    struct error error;
    uv_work_t work;
};

struct spill {
    struct spill_config c;
    char *folder;
    struct spilled *file;
    size_t n, moving;
};

static double spill_bytes(const struct spilled *f)
{
    return f->owner->c.options->needs->bytes[f->plan.object];
}

/* ---- copies ---- */

/* On a thread of libuv's: touches nothing but its own entry. S2. */
static void spill_copy(uv_work_t *work)
{
    struct spilled *f = work->data;
    bool out = f->state == SPILL_LEAVING;
    if (tree_copy(out ? f->inside : f->outside, out ? f->outside : f->inside, &f->error) &&
        !tree_remove(out ? f->inside : f->outside))
        error_set(&f->error, ERROR_FAILED, "%s: cannot be removed: %s",
                  out ? f->inside : f->outside, strerror(errno));
}

static void spill_copied(uv_work_t *work, int status);

static void spill_start(struct spilled *f, enum spill_state state)
{
    f->state = state;
    f->began = clock_seconds();
    f->work.data = f;
    f->owner->moving++;
    uv_queue_work(f->owner->c.loop, &f->work, spill_copy, spill_copied);
}

static void spill_left(struct spilled *f)
{
    struct spill *s = f->owner;
    f->state = SPILL_OUT;
    disk_moved_out(s->c.disk, f->plan.object);
    s->c.result->spilled_files++;
    s->c.result->spilled += spill_bytes(f);
    if (f->wanted)
        spill_start(f, SPILL_COMING);
}

static void spill_copied(uv_work_t *work, int status)
{
    struct spilled *f = work->data;
    struct spill *s = f->owner;
    (void)status; /* nobody cancels it */
    s->moving--;
    s->c.result->spill_seconds += clock_seconds() - f->began;
    if (f->state == SPILL_LEAVING && f->error.kind != ERROR_NONE) {
        f->state = SPILL_HERE; /* S2: nothing of it has gone */
        s->c.trouble(s->c.context, &f->error);
    } else if (f->state == SPILL_LEAVING) {
        spill_left(f);
    } else if (f->error.kind != ERROR_NONE) {
        f->state = SPILL_OUT; /* spill_bring() tells */
    } else {
        f->state = SPILL_BACK;
        s->c.result->spilled_back += spill_bytes(f);
    }
    s->c.moved(s->c.context);
}

/* ---- what tasks mean for it ---- */

double spill_room_needed(const struct spill *s, uint32_t task)
{
    double sum = 0;
    for (size_t i = 0; s && i < s->n; i++)
        if (s->file[i].plan.to == task && s->file[i].state != SPILL_OVER)
            sum += s->c.options->workflow->size[s->file[i].plan.object];
    return sum;
}

void spill_task_done(struct spill *s, uint32_t task)
{
    for (size_t i = 0; s && i < s->n; i++) {
        struct spilled *f = &s->file[i];
        const struct needs *n = s->c.options->needs;
        if (f->plan.after == task && f->state == SPILL_HERE && n->present[f->plan.object] &&
            need_runs(n, f->plan.to))
            spill_start(f, SPILL_LEAVING);
    }
}

bool spill_attempt_over(struct spill *s, uint32_t task)
{
    bool changed = false;
    for (size_t i = 0; s && i < s->n; i++) {
        struct spilled *f = &s->file[i];
        if (f->plan.to != task || (f->state != SPILL_BACK && f->state != SPILL_HERE))
            continue;
        if (f->state == SPILL_BACK)
            disk_moved_in(s->c.disk, f->plan.object);
        f->state = SPILL_OVER; /* another attempt finds it where it is */
        changed = true;
    }
    return changed;
}

bool spill_bring(struct spill *s, uint32_t task, struct error *err)
{
    bool good = true;
    for (size_t i = 0; s && i < s->n; i++) {
        struct spilled *f = &s->file[i];
        if (f->plan.to != task)
            continue;
        if (f->error.kind != ERROR_NONE && f->state == SPILL_OUT) {
            error_set(err, f->error.kind, "%s", f->error.text);
            error_clear(&f->error); /* another attempt tries again */
            return false;
        }
        f->wanted = true;
        if (f->state == SPILL_OUT)
            spill_start(f, SPILL_COMING);
        good = good && f->state != SPILL_LEAVING && f->state != SPILL_COMING;
    }
    return good;
}

bool spill_is_moving(const struct spill *s)
{
    return s && s->moving;
}

/* ---- from beginning to end ---- */

/* A folder of its own: who runs twice at once has two labels (drive/run.h). What a run that was killed left there is not
 * known to anybody, and in the way. */
static bool spill_make_folder(struct spill *s, struct error *err)
{
    const struct run_options *o = s->c.options;
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/weft-spill-%s", o->spill->folder, o->label ? o->label : "run");
    s->folder = strbuf_steal(&path);
    if (tree_remove(s->folder) && mkdir(s->folder, 0700) == 0)
        return true;
    return error_set(err, ERROR_FAILED, "%s: cannot be made: %s", s->folder, strerror(errno));
}

struct spill *spill_new(const struct spill_config *config, struct error *err)
{
    const struct run_spill *plan = config->options->spill;
    const struct workflow *w = config->options->workflow;
    struct spill *s = mem_new_zero(struct spill, 1);
    s->c = *config;
    if (!spill_make_folder(s, err)) {
        spill_free(s);
        return NULL;
    }
    s->n = plan->n;
    s->file = mem_new_zero(struct spilled, s->n + 1);
    for (size_t i = 0; i < s->n; i++) {
        struct strbuf path = {0};
        char label[512];
        s->file[i].owner = s;
        s->file[i].plan = plan->at[i];
        path_in(config->options->folder,
                workflow_object_label(w, plan->at[i].object, label, sizeof label), &path);
        s->file[i].inside = strbuf_steal(&path);
        strbuf_printf(&path, "%s/%zu", s->folder, i);
        s->file[i].outside = strbuf_steal(&path);
    }
    return s;
}

void spill_free(struct spill *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++) {
        free(s->file[i].inside);
        free(s->file[i].outside);
    }
    free(s->file);
    free(s->folder);
    free(s);
}

bool spill_end(struct spill *s, struct error *err)
{
    bool good = true;
    for (size_t i = 0; i < s->n; i++) {
        struct spilled *f = &s->file[i];
        struct error why = {0};
        if (f->state != SPILL_OUT)
            continue;
        if (tree_copy(f->outside, f->inside, &why)) {
            disk_moved_in(s->c.disk, f->plan.object);
            f->state = SPILL_OVER;
        } else if (good) {
            good = error_set(err, why.kind, "a file that was written out of memory stays at %s: %s",
                             f->outside, why.text);
        }
    }
    return good &&
           (tree_remove(s->folder) ||
            error_set(err, ERROR_FAILED, "%s: cannot be removed: %s", s->folder, strerror(errno)));
}

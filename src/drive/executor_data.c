/* Objects in memory of a run (exec/data.h), and the memory that they and the functions keep to (exec/ration.h).
 *
 *     all functions, no files       a crew asks the ration which task is next            executor_crew.c
 *     otherwise                     the scheduler's gate asks it of each ready task      executor_data_lets()
 *
 * What data are given is not the commands': the scheduler has the rest of the run's memory. Tasks that join later have no
 * objects in memory, and take of that rest. */
#include "drive/executor_private.h"

#include "base/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Among the sandboxes, which are cleared after a crash; without a state in the system's folder for such things. */
static bool data_make_folder(struct executor *x, struct error *err)
{
    struct strbuf path = {0};
    const char *temporary = getenv("TMPDIR");
    if (x->o->state)
        strbuf_printf(&path, "%s/sandbox", x->o->state);
    else
        strbuf_add(&path, temporary && *temporary ? temporary : "/tmp");
    bool good = !x->o->state || sandbox_make_parent(strbuf_text(&path), err);
    strbuf_add(&path, "/objects-XXXXXX");
    if (good && !mkdtemp(path.at))
        good = error_set(err, ERROR_FAILED, "no folder for objects can be made, '%s': %s", path.at,
                         strerror(errno));
    if (good)
        x->ration_folder = strbuf_steal(&path);
    strbuf_free(&path);
    return good;
}

static bool data_limit_them(struct executor *x, struct error *err)
{
    const struct run_options *o = x->o;
    const struct workflow *w = x->w;
    if (!data_make_folder(x, err))
        return false;
    x->ration_called = mem_new(uint8_t, w->ntasks);
    for (uint32_t t = 0; t < w->ntasks; t++)
        x->ration_called[t] =
            w->flags[t] & TASK_CALL && w->command[t] && (!o->needs || need_runs(o->needs, t));
    data_limit(x->data);
    data_count(x->data);
    x->ration = ration_new(&(struct ration_config){.workflow = w,
                                                   .data = x->data,
                                                   .limit = o->data_memory,
                                                   .order = o->order,
                                                   .folder = x->ration_folder,
                                                   .called = x->ration_called},
                           err);
    return x->ration != NULL;
}

/* A table for all calls, if one of them has files or objects in memory, or is watched ($WEFT_CHECK_DATA). What joins is not
 * limited. */
bool executor_prepare_data(struct executor *x, struct error *err)
{
    const struct workflow *w = x->w;
    const char *check = getenv("WEFT_CHECK_DATA");
    bool checked = check && *check && strcmp(check, "0") != 0, any = false, calls = false;
    for (uint32_t t = 0; t < w->ntasks && !any; t++) {
        any = w->flags[t] & TASK_CALL && executor_has_objects(w, t);
        calls |= (w->flags[t] & TASK_CALL) != 0;
    }
    bool limited = x->o->data_limited && x->o->order && !x->has_grown && (any || calls);
    if (!any && !limited && !(checked && calls))
        return true;
    x->data = data_new(w, checked);
    data_slot_init(&x->data_slot, x->data, false);
    return !limited || data_limit_them(x, err);
}

bool executor_is_rationed(const struct executor *x, uint32_t task)
{
    return x->o->data_limited && x->w->flags[task] & TASK_CALL && !x->has_grown;
}

/* An object that cannot be written: nothing more will fit, and the run ends. */
bool executor_data_lets(struct executor *x, uint32_t task)
{
    if (!x->ration || ration_lets(x->ration, task))
        return true;
    executor_tell_data(x);
    return false;
}

void executor_tell_data(struct executor *x)
{
    struct ration_figures f;
    if (!x->ration)
        return;
    ration_figures(x->ration, &f);
    x->result->data_peak = (double)data_peak(x->data);
    x->result->data_limit = x->o->data_memory;
    x->result->data_evicted = f.evicted;
    x->result->data_evictions = f.files;
    if (!ration_trouble(x->ration) || x->ration_told)
        return;
    struct error err = {0};
    x->ration_told = true;
    error_set(
        &err, ERROR_FAILED,
        "an object that had to make room could not be written to '%s': is the disk full? More "
        "memory for data needs less of it (--memory-for-data)",
        x->ration_folder);
    x->trouble(x->context, &err);
}

/* Objects first: their files stand in the folder. Not when functions still run, which use them. */
void executor_free_data(struct executor *x)
{
    if (x->data)
        data_slot_free(&x->data_slot);
    data_free(x->data);
    ration_free(x->ration);
    free(x->ration_called);
    if (x->ration_folder)
        tree_remove(x->ration_folder);
    free(x->ration_folder);
}

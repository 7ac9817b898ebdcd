/* Kept results of past runs: see recorded_results.h.
 *
 * What a run left is on record where it was made or restored (history/recorder.c); what a run found done is
 * what the newest run up to it had left at that path, in that folder. */
#include "session/recorded_results.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/tree.h"
#include "memo/objects.h"
#include "session/recorded.h"
#include "session/retention.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what a run left ---- */

void recorded_outputs_free(recorded_outputs *o)
{
    for (size_t i = 0; i < o->n; i++) {
        free(o->at[i].path);
        free(o->at[i].task);
    }
    array_free(o);
}

/* By name: runs that are asked for have few outputs, or made all of them. */
static bool outputs_have(const recorded_outputs *o, const char *path)
{
    for (size_t i = 0; i < o->n; i++)
        if (strcmp(o->at[i].path, path) == 0)
            return true;
    return false;
}

/* Outputs of the graph that the run did not make itself. */
static bool outputs_found(struct history *h, int64_t run, const char *folder,
                          const struct workflow *w, recorded_outputs *out, struct error *err)
{
    char label[512];
    size_t made = out->n;
    for (uint32_t o = 0; o < w->nobjects; o++) {
        struct history_origin origin = {0};
        if (w->producer[o] == NONE || !w->object_name[o])
            continue;
        const char *path = workflow_object_label(w, o, label, sizeof label);
        /* a run that made all of it, however large, has nothing to be looked up */
        if (made && outputs_have(&(recorded_outputs){.at = out->at, .n = made}, path))
            continue;
        int found = history_file_at(h, folder, path, run, &origin, err);
        if (found < 0)
            return false;
        if (found && origin.maker)
            array_push(out, (struct recorded_output){
                                mem_copy_string(path),
                                mem_copy_string(workflow_task_name(w, w->producer[o])),
                                origin.file.digest, origin.file.size});
        if (found) {
            free(origin.name);
            free(origin.folder);
            free(origin.maker);
            free(origin.file.path);
        }
    }
    return true;
}

bool recorded_outputs_of(struct history *h, int64_t run, recorded_outputs *out, char **folder,
                         struct error *err)
{
    struct run_record r;
    struct history_tasks tasks = {0};
    *folder = NULL;
    if (!recorded_load(h, run, &r, err))
        return false;
    bool good = history_tasks(h, r.run, &tasks, err);
    *folder = mem_copy_string(r.folder ? r.folder : "");
    for (size_t i = 0; good && i < r.files.n; i++) {
        const struct record_file *f = &r.files.at[i];
        if (f->task != NONE && f->path && !digest_is_zero(&f->digest))
            array_push(out,
                       (struct recorded_output){mem_copy_string(f->path),
                                                mem_copy_string(history_task_name(&tasks, f->task)),
                                                f->digest, f->size});
    }
    if (good && r.workflow && out->n < r.workflow->nobjects)
        good = outputs_found(h, r.run, *folder, r.workflow, out, err);
    history_tasks_free(&tasks);
    record_free(&r);
    return good;
}

/* ---- the store of a folder ---- */

struct results_place {
    char *folder;
    struct strbuf state;
    struct objects *objects;
    struct memo *memo;
    struct retention keep;
    recorded_results *out;
};

/* A line for the user; the order is that of the files. */
static void place_say(struct results_place *p, const char *path, bool good, double bytes,
                      const char *text)
{
    array_push(p->out,
               (struct recorded_result){mem_copy_string(path), mem_copy_string(text), good, bytes});
}

/* `writes`: files of the folder are put in place, which no run may be doing meanwhile. */
static bool place_open(struct results_place *p, const char *folder, bool writes, struct error *err)
{
    struct strbuf memo = {0};
    struct memo_opened found = {0};
    struct stat s;
    p->folder = mem_copy_string(folder);
    path_in(folder, ".weft", &p->state);
    path_in(p->state.at, "memo", &memo);
    bool good = retention_read(&p->keep, err);
    if (good && stat(p->state.at, &s) != 0)
        good = error_set(err, ERROR_FAILED,
                         "%s: there is no folder of weft's any more; what ran there kept its "
                         "results in it",
                         p->state.at);
    good = good && folder_check_owner(p->state.at, err);
    if (good)
        p->memo = writes ? memo_open(memo.at, &found, err) : memo_look(memo.at, err);
    if (good && !p->memo && found.busy) {
        error_clear(err);
        error_set(err, ERROR_FAILED,
                  "%s: a run goes on in this folder; wait for its end, or give "
                  "another folder (-o)",
                  folder);
    }
    if (p->memo) {
        memo_set_folder(p->memo, folder);
        p->objects = objects_open(p->state.at);
    }
    strbuf_free(&memo);
    return p->memo != NULL;
}

/* Also one that was not opened, or in part. */
static void place_close(struct results_place *p)
{
    struct error ignored = {0}; /* what is not noted is read again */
    objects_close(p->objects);
    memo_close(p->memo, &ignored);
    strbuf_free(&p->state);
    free(p->folder);
}

/* ---- keeping ---- */

/* What is gone may have been kept before; that is as good. */
static void place_keep(struct results_place *p, const char *path, const struct digest *d)
{
    struct error err = {0};
    double bytes = 0;
    struct stat s;
    if (lstat(path, &s) != 0)
        place_say(p, path, d && objects_has(p->objects, d), 0,
                  d && objects_has(p->objects, d) ? "was kept already" : "is gone");
    else if (d && objects_has(p->objects, d))
        place_say(p, path, true, 0, "was kept already");
    else if (objects_keep(p->objects, p->memo, path, d, p->keep.results.size, &bytes, &err))
        place_say(p, path, true, bytes, bytes > 0 ? "kept" : "was kept already");
    else
        place_say(p, path, false, 0,
                  strstr(err.text, ": ") ? strstr(err.text, ": ") + 2 : err.text);
}

/* After keeping, not before: what was just kept is the youngest, and stays. */
static void place_bound(struct results_place *p)
{
    struct objects_eviction e = {.age = p->keep.results.age, .size = p->keep.results.size};
    char text[160];
    objects_evict(p->objects, &e);
    snprintf(text, sizeof text,
             "%u of what was kept before went (%.3g MB); WEFT_KEEP_RESULTS says how much stays",
             e.count, e.bytes / 1e6);
    if (e.count)
        place_say(p, p->state.at, true, 0, text);
}

/* No lock: objects are made beside each other, and a run may go on in the folder. */
static bool keep_run(struct history *h, int64_t run, recorded_results *out, struct error *err)
{
    recorded_outputs outputs = {0};
    char *folder = NULL;
    struct results_place p = {.out = out};
    struct strbuf path = {0};
    bool good =
        recorded_outputs_of(h, run, &outputs, &folder, err) && place_open(&p, folder, false, err);
    for (size_t i = 0; good && i < outputs.n; i++)
        place_keep(&p, path_in(folder, outputs.at[i].path, &path), &outputs.at[i].digest);
    if (good)
        place_bound(&p);
    place_close(&p);
    recorded_outputs_free(&outputs);
    strbuf_free(&path);
    free(folder);
    return good;
}

/* As it is now, in the store of the folder whose run made or read it last. */
static bool keep_path(struct history *h, const char *given, recorded_results *out,
                      struct error *err)
{
    char *path = recorded_path(given);
    history_origins found = {0};
    struct results_place p = {.out = out};
    bool good = history_file(h, path, 1, &found, err);
    if (good && !found.n)
        good = error_set(err, ERROR_INPUT, "%s: no run on record made or read this file", path);
    good = good && place_open(&p, found.at[0].folder, false, err);
    if (good) {
        place_keep(&p, path, NULL);
        place_bound(&p);
    }
    place_close(&p);
    history_origins_free(&found);
    free(path);
    return good;
}

bool recorded_keep(struct history *h, const char *run_or_file, recorded_results *out,
                   struct error *err)
{
    int64_t run;
    struct error why = {0};
    if (recorded_number(h, run_or_file, &run, &why))
        return keep_run(h, run, out, err);
    if (file_exists(run_or_file))
        return keep_path(h, run_or_file, out, err);
    return error_set(err, why.kind, "%s; nor is it a file", why.text);
}

/* ---- restoring ---- */

/* "d/" is the folder d: what is made above it must not make it. */
static const char *place_path(const char *folder, const char *name, struct strbuf *out)
{
    path_in(folder, name, out);
    while (out->n > 1 && out->at[out->n - 1] == '/')
        out->at[--out->n] = 0;
    return out->at;
}

/* What stands there is put aside, unless its content is kept as well. */
static bool put_aside(struct results_place *p, const char *path, struct error *err)
{
    struct strbuf name = {0};
    struct digest now;
    double size;
    struct stat s;
    bool good = false, kept = memo_digest(p->memo, path, false, &now, &size, err) &&
                              objects_has(p->objects, &now);
    for (int i = 1; i < 10000 && !good && !kept; i++) {
        strbuf_clear(&name);
        strbuf_printf(&name, "%s.before-weft", path);
        if (i > 1)
            strbuf_printf(&name, ".%d", i);
        good = lstat(name.at, &s) != 0 && rename_new(path, name.at);
        if (!good && errno != EEXIST && errno != ENOENT)
            break;
    }
    if (!kept && !good)
        error_set(err, ERROR_FAILED, "%s: stands there, and cannot be put aside", path);
    strbuf_free(&name);
    return kept || good;
}

/* Into another folder: also what still stands where the run left it. */
static bool copy_standing(struct results_place *p, const char *from, const struct digest *d,
                          const char *to, struct error *err)
{
    struct digest now;
    double size;
    struct error ignored = {0};
    return memo_digest(p->memo, from, false, &now, &size, &ignored) && digest_equal(&now, d) &&
           make_parents(to, err) && tree_copy(from, to, err);
}

/* In this order: it is there, it is kept, it stands where the run left it. Nothing of a user's is lost on
 * the way: what is in the way is put aside, or it is left alone. */
static void restore_one(struct results_place *p, const struct recorded_output *o, const char *into)
{
    struct strbuf from = {0}, to = {0};
    struct error err = {0};
    struct digest now;
    struct stat s;
    double size;
    bool damaged = false;
    place_path(p->folder, o->path, &from);
    const char *name = o->path + (into ? strspn(o->path, "/") : 0);
    place_path(into ? into : p->folder, name, &to);
    bool there = lstat(to.at, &s) == 0;
    if (there && memo_digest(p->memo, to.at, false, &now, &size, &err) &&
        digest_equal(&now, &o->digest)) {
        place_say(p, to.at, true, 0, "is there already");
    } else if (!objects_has(p->objects, &o->digest)) {
        if (into && !there && copy_standing(p, from.at, &o->digest, to.at, &err))
            place_say(p, to.at, true, o->size, "restored");
        else
            place_say(p, to.at, false, 0, err.kind != ERROR_NONE ? err.text : "is not kept");
    } else if (into && there) {
        place_say(p, to.at, false, 0, "something else stands there");
    } else if ((!there || put_aside(p, to.at, &err)) &&
               objects_restore(p->objects, &o->digest, to.at, &damaged, &err)) {
        place_say(p, to.at, true, o->size, "restored");
        if (!into && lstat(to.at, &s) == 0)
            (S_ISDIR(s.st_mode) ? memo_learn_folder : memo_learn_digest)(p->memo, to.at,
                                                                         &o->digest);
    } else {
        place_say(p, to.at, false, 0,
                  damaged ? "what was kept is damaged, and was removed" : err.text);
    }
    strbuf_free(&from);
    strbuf_free(&to);
}

bool recorded_restore(struct history *h, int64_t run, const char *name, const char *into,
                      recorded_results *out, struct error *err)
{
    recorded_outputs outputs = {0};
    char *folder = NULL;
    struct results_place p = {.out = out};
    size_t chosen = 0;
    bool good =
        recorded_outputs_of(h, run, &outputs, &folder, err) && place_open(&p, folder, !into, err);
    for (size_t i = 0; good && i < outputs.n; i++) {
        const struct recorded_output *o = &outputs.at[i];
        if (name && strcmp(name, o->path) != 0 && strcmp(name, o->task) != 0)
            continue;
        restore_one(&p, o, into);
        chosen++;
    }
    if (good && !chosen)
        good = error_set(err, ERROR_INPUT,
                         "run %lld left no file%s%.200s%s; `weft history %lld` "
                         "lists them",
                         (long long)run, name ? ", and has no task, '" : "", name ? name : "",
                         name ? "'" : "", (long long)run);
    place_close(&p);
    recorded_outputs_free(&outputs);
    free(folder);
    return good;
}

/* Where weft's own folder is gone nothing is kept, and no memo knows digests: files are read. */
static void gather_standing(const char *folder, const struct recorded_output *o, const char *into,
                            recorded_results *out)
{
    struct strbuf from = {0}, to = {0};
    struct error err = {0};
    struct digest now = {0};
    struct stat s;
    place_path(folder, o->path, &from);
    place_path(into, o->path + strspn(o->path, "/"), &to);
    int fd = open(from.at, O_RDONLY | O_CLOEXEC);
    bool same = fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) &&
                digest_of_fd(fd, from.at, &now, &err) && digest_equal(&now, &o->digest);
    if (fd >= 0)
        close(fd);
    bool good = same && make_parents(to.at, &err) && tree_copy(from.at, to.at, &err);
    array_push(out, (struct recorded_result){mem_copy_string(to.at),
                                             mem_copy_string(good ? "restored" : "is not there"),
                                             good, good ? o->size : 0});
    strbuf_free(&from);
    strbuf_free(&to);
}

void recorded_gather(const char *folder, const recorded_outputs *files, const char *into,
                     recorded_results *out)
{
    struct results_place p = {.out = out};
    struct error ignored = {0};
    bool open = place_open(&p, folder, false, &ignored);
    for (size_t i = 0; i < files->n; i++)
        if (open)
            restore_one(&p, &files->at[i], into);
        else
            gather_standing(folder, &files->at[i], into, out);
    place_close(&p);
}

void recorded_results_free(recorded_results *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free(r->at[i].path);
        free(r->at[i].text);
    }
    array_free(r);
}

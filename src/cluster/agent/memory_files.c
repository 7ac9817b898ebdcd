/* Objects in memory on agents: see memory_files.h.
 *
 * I1. Whether an object stands in memory or on the disk here is its flag in this agent's own copy of the
 *     workflow: labels, and with them all paths, follow it (workflow_object_label()). It changes for what is
 *     not here yet, or by depot_spill().
 * I2. What a task here reads or is about to read (`used`) is not moved: calls open their inputs by name.
 * I3. A folder in memory whose lock nobody holds is a dead agent's. Its successor may use what it finds
 *     there, after reading it (depot_found()); others remove it. */
#include "cluster/agent/memory_files.h"

#include "base/file.h"
#include "base/plural.h"
#include "base/quantity.h"
#include "base/tree.h"
#include "cluster/agent/agent_state.h"
#include "model/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static const double memory_files_part =
    0.25; /* of the memory that tasks may use, unless it is stated */

/* ---- the agent's folder ---- */

static const char *memory_files_place(void)
{
    const char *stated = getenv("WEFT_MEMORY_FOLDER");
    return stated && *stated ? stated : "/dev/shm";
}

/* A folder of this user's own: in /dev/shm anybody may make one of any name. */
static bool memory_files_is_own(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0 && S_ISDIR(s.st_mode) && s.st_uid == geteuid() &&
           !(s.st_mode & 077);
}

/* -1: somebody has it, or there is none. */
static int memory_files_lock(const char *folder, bool make)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/lock", folder);
    int fd = open(path.at, (make ? O_CREAT : 0) | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    strbuf_free(&path);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* I3. */
static void memory_files_sweep(const char *place, const char *prefix, const char *own)
{
    folder_names names = {0};
    struct strbuf path = {0};
    if (!folder_list(place, &names))
        return;
    for (size_t i = 0; i < names.n; i++) {
        if (strncmp(names.at[i], prefix, strlen(prefix)) != 0)
            continue;
        strbuf_clear(&path);
        strbuf_printf(&path, "%s/%s", place, names.at[i]);
        int lock = strcmp(path.at, own) != 0 && memory_files_is_own(path.at)
                       ? memory_files_lock(path.at, false)
                       : -1;
        if (lock < 0)
            continue;
        tree_remove(path.at);
        close(lock);
    }
    strbuf_free(&path);
    folder_names_free(&names);
}

void memory_files_begin(struct agent *a)
{
    const char *place = memory_files_place();
    struct strbuf path = {0}, prefix = {0};
    struct statfs kind;
    char *real = realpath(a->data, NULL);
    a->objects_lock = -1;
    if (!real || statfs(place, &kind) != 0 || kind.f_type != TMPFS_MAGIC) {
        free(real);
        return;
    }
    struct digest d;
    struct digest_state s;
    digest_begin(&s);
    digest_string(&s, real, strlen(real));
    digest_end(&s, &d);
    free(real);
    strbuf_printf(&prefix, "weft-%u-", (unsigned)geteuid());
    strbuf_printf(&path, "%s/%s", place, prefix.at);
    for (int i = 0; i < 8; i++)
        strbuf_printf(&path, "%02x", d.at[i]);
    memory_files_sweep(place, prefix.at, path.at);
    bool made = mkdir(path.at, 0700) == 0 || errno == EEXIST;
    if (made && memory_files_is_own(path.at))
        a->objects_lock = memory_files_lock(path.at, true);
    if (a->objects_lock >= 0)
        a->objects = strbuf_steal(&path);
    strbuf_free(&path);
    strbuf_free(&prefix);
}

void memory_files_end(struct agent *a)
{
    if (!a->objects)
        return;
    tree_remove(a->objects);
    close(a->objects_lock);
    free(a->objects);
    a->objects = NULL;
}

/* ---- a run's ---- */

static bool memory_files_any(const struct workflow *w)
{
    bool any = false;
    for (uint32_t o = 0; o < w->nobjects && w->object_flags && !any; o++)
        any = workflow_object_is(w, o, OBJECT_IN_MEMORY);
    return any;
}

/* NAN: nobody says it. */
static double memory_files_stated(void)
{
    const char *stated = getenv("WEFT_MEMORY_FOR_DATA");
    double most;
    return stated && *stated && quantity_bytes(stated, strlen(stated), &most) ? most : NAN;
}

bool memory_files_check(struct error *err)
{
    const char *stated = getenv("WEFT_MEMORY_FOR_DATA");
    return !stated || !*stated || !isnan(memory_files_stated()) ||
           error_set(err, ERROR_INPUT, "WEFT_MEMORY_FOR_DATA is '%s', which is no size (2G, 500M)",
                     stated);
}

/* A part of what tasks may use, and no more than half of what that file system still takes. */
static double memory_files_limit(const struct agent *a)
{
    double stated = memory_files_stated();
    struct statfs s;
    if (!isnan(stated))
        return stated;
    double memory = a->memory_now > 0
                        ? a->memory_now
                        : (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGE_SIZE);
    double room = statfs(a->objects, &s) == 0 ? (double)s.f_bavail * (double)s.f_bsize : 0;
    return fmin(memory_files_part * memory, room / 2);
}

/* The run's folder in memory, and the link to it. */
static bool memory_files_make(struct job *j, const char *link)
{
    struct strbuf path = {0};
    struct stat s;
    strbuf_printf(&path, "%s/%s", j->agent->objects, strrchr(j->home, '/') + 1);
    bool good = mkdir(path.at, 0700) == 0 || errno == EEXIST;
    if (good && lstat(link, &s) == 0)
        unlink(link);
    good = good && symlink(path.at, link) == 0;
    if (good)
        j->objects.folder = strbuf_steal(&path);
    strbuf_free(&path);
    return good;
}

/* In a folder that all share they are files there, as the others are. */
void memory_files_open(struct job *j)
{
    struct workflow *w = j->w;
    struct strbuf link = {0};
    if (!memory_files_any(w))
        return;
    strbuf_printf(&link, "%s/" MEMORY_FILES, j->files);
    bool good = !j->ticket.shared && j->agent->objects && memory_files_make(j, link.at);
    for (uint32_t o = 0; o < w->nobjects; o++)
        if (workflow_object_is(w, o, OBJECT_IN_MEMORY)) {
            w->object_flags[o] &= (uint8_t)~OBJECT_IN_MEMORY;
            w->object_flags[o] |= good ? OBJECT_MEMORY_FILE : 0;
        }
    if (good)
        j->objects.most = memory_files_limit(j->agent);
    else if (!j->ticket.shared)
        job_log(j, "there is no file system in memory here (/dev/shm): its objects in memory are "
                   "files");
    strbuf_free(&link);
}

void memory_files_close(struct job *j)
{
    if (!j->objects.folder)
        return;
    if (j->objects.spilled)
        agent_log(j->agent, "run %llu: %u object%s did not fit into memory and went to the disk",
                  (unsigned long long)j->number, j->objects.spilled, plural(j->objects.spilled));
    tree_remove(j->objects.folder);
    free(j->objects.folder);
    j->objects.folder = NULL;
}

/* ---- when there are too many ---- */

static double memory_files_bytes(const struct agent *a)
{
    double sum = 0;
    for (size_t i = 0; i < a->jobs.n; i++)
        if (a->jobs.at[i]->objects.folder)
            sum += depot_counts(a->jobs.at[i]->depot).memory_bytes;
    return sum;
}

/* I2. That which was used longest ago; O(objects), and then a file is written. */
static uint32_t memory_files_oldest(const struct job *j)
{
    uint32_t oldest = NONE;
    for (uint32_t o = 0; o < j->w->nobjects; o++)
        if (depot_has(j->depot, o) && depot_in_memory(j->depot, o) && !j->supply.used[o] &&
            (oldest == NONE || j->supply.touched[o] < j->supply.touched[oldest]))
            oldest = o;
    return oldest;
}

/* Until at most so much of this run's is left. */
static void memory_files_spill(struct job *j, double most)
{
    struct error err = {0};
    while (depot_counts(j->depot).memory_bytes > most) {
        uint32_t object = memory_files_oldest(j);
        if (object == NONE)
            return;
        if (!depot_spill(j->depot, object, j->w->object_flags, &err)) {
            job_log(j, err.text);
            return;
        }
        j->objects.spilled++;
    }
}

void memory_files_came(struct job *j)
{
    if (j->objects.folder)
        memory_files_spill(j, j->objects.most);
}

void memory_files_make_room(struct job *j, uint32_t task)
{
    const struct workflow *w = j->w;
    double makes = 0;
    if (!j->objects.folder)
        return;
    for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++)
        makes += depot_in_memory(j->depot, o) ? w->size[o] : 0;
    memory_files_spill(j, fmax(0, j->objects.most - makes));
    if (depot_counts(j->depot).memory_bytes + makes <= j->objects.most)
        return;
    for (uint32_t o = w->object_off[task]; o < w->object_end[task]; o++)
        if (!depot_has(j->depot, o) && !depot_is_fetching(j->depot, o)) {
            j->objects.spilled += depot_in_memory(j->depot, o);
            w->object_flags[o] &= (uint8_t)~OBJECT_MEMORY_FILE; /* I1 */
        }
}

bool memory_files_leave(struct agent *a, double memory)
{
    double over = a->busy_memory + memory - a->memory_now;
    if (!(a->memory_now > 0) || over > 0)
        return over <= 0 || !(a->memory_now > 0);
    if (!a->objects || !a->busy)
        return true;
    for (size_t i = 0; i < a->jobs.n && over + memory_files_bytes(a) > 0; i++) {
        struct job *j = a->jobs.at[i];
        double own = j->objects.folder ? depot_counts(j->depot).memory_bytes : 0;
        if (own > 0)
            memory_files_spill(j, fmax(0, own - (over + memory_files_bytes(a))));
    }
    return over + memory_files_bytes(a) <= 0;
}

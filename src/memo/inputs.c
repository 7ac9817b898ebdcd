/* Inputs before and after their task: see inputs.h.
 *
 * What counts as a change: another inode, size, time of modification or time of change, a name that
 * came or went in a folder. A time of change alone is also what chmod and ln leave behind, and
 * `chmod +x {in} && {in}` is an ordinary task: it is passed over when the content is what it was and
 * the mode, the number of links or a command of this workflow (it says "chmod") explains it. All else
 * may be an edit that was put back, which the content at the end does not show.
 *
 * I1. The mark is taken before the content is compared, so no change falls between the two.
 * I2. A file that was young when its task began (the clock's tick hides a change of the same size)
 *     is read again afterwards. It was hashed within that tick, so it is small.
 * I3. What was never hashed here (an agent's view of a shared folder, of an absolute name) is hashed
 *     only up to LOOKED_AT bytes: the loop that starts tasks must not stand still for a terabyte. */
#include "memo/inputs.h"

#include "base/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LOOKED_AT = 16 << 20 }; /* bytes: some 20 ms of hashing */

static const int64_t young_within = 20000000; /* nanoseconds; as in memo.c */

static int64_t input_nanoseconds(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void input_marks_free(struct input_marks *marks)
{
    array_free(&marks->all);
}

#define MARK_TOP 0x80000000u /* in `mode`: the input itself, not a file in it */

/* Absent and folders: the name alone. A folder's times change with every file of a moment in it. */
static struct input_mark mark_of(const char *path, const struct stat *s)
{
    struct input_mark m = {.name = memo_hash(path, strlen(path))};
    if (!s || S_ISDIR(s->st_mode))
        return m;
    m.size = s->st_size;
    m.time = input_nanoseconds(s->st_mtim);
    m.change = input_nanoseconds(s->st_ctim);
    m.inode = (int64_t)s->st_ino;
    m.mode = s->st_mode;
    m.links = (uint32_t)s->st_nlink;
    return m;
}

/* ---- walking over the files of one input ---- */

/* False stops the walk. `s` NULL: it is not there. */
typedef bool input_visitor(void *context, const char *path, const struct stat *s);

/* In the order of names, links followed: as the digest of a folder goes (memo.c). */
static bool visit_input(const char *path, int depth, input_visitor *visit, void *context)
{
    enum { DEEPEST = 64 }; /* a link to a folder above it would have no end */
    struct stat s;
    bool there = stat(path, &s) == 0;
    if (!visit(context, path, there ? &s : NULL))
        return false;
    folder_names names = {0};
    if (!there || !S_ISDIR(s.st_mode) || depth >= DEEPEST || !memo_list_folder(path, &names))
        return true;
    struct strbuf below = {0};
    bool good = true;
    for (size_t i = 0; i < names.n && good; i++) {
        strbuf_clear(&below);
        strbuf_printf(&below, "%s/%s", path, names.at[i]);
        good = visit_input(below.at, depth + 1, visit, context);
    }
    strbuf_free(&below);
    folder_names_free(&names);
    return good;
}

/* ---- before ---- */

static bool take_mark(void *context, const char *path, const struct stat *s)
{
    struct input_marks *marks = context;
    array_push(&marks->all, mark_of(path, s));
    return true;
}

void input_remedy(const struct needs *n, uint32_t object, struct strbuf *out)
{
    uint32_t producer = n->w->producer[object];
    if (producer != NONE)
        strbuf_printf(out, "The next run makes the file again (task '%.100s')",
                      workflow_task_name(n->w, producer));
    else
        strbuf_add(out, "No task makes the file: see that it is right, then run again");
}

/* Always false. */
static bool refuse_input(const struct needs *n, uint32_t object, const char *how, struct error *err)
{
    char label[512];
    struct strbuf remedy = {0};
    input_remedy(n, object, &remedy);
    error_set(err, ERROR_FAILED, "input '%.200s' %s; nothing is computed from it. %s",
              workflow_object_label(n->w, object, label, sizeof label), how, remedy.at);
    strbuf_free(&remedy);
    return false;
}

/* Is the content the one of the key? What is as it was hashed is not read. */
static bool check_content(struct needs *n, uint32_t object, const char *path,
                          const struct input_mark *mark, struct error *err)
{
    struct digest now, known = n->content[object], recorded;
    double size;
    struct error why = {0};
    if (digest_is_zero(&known))
        return true;
    if (!mark->inode && access(path, F_OK) != 0)
        return refuse_input(n, object, "is gone", err);
    bool unread = n->hashed_elsewhere && !memo_recorded(n->memo, path, &recorded);
    if (unread && n->bytes[object] > LOOKED_AT) /* I3 */
        return !mark->inode || (double)mark->size == n->bytes[object] ||
               refuse_input(n, object, "has another size than the one that was hashed", err);
    if (!memo_digest(n->memo, path, false, &now, &size, &why))
        return why.kind != ERROR_NONE ? error_set(err, why.kind, "%s", why.text)
                                      : refuse_input(n, object, "is gone", err);
    return digest_equal(&now, &known) ||
           refuse_input(n, object, "is not what it was when this run looked at it", err);
}

bool inputs_begin(struct needs *n, uint32_t task, struct input_marks *marks, uint32_t *which,
                  struct error *err)
{
    const struct workflow *w = n->w;
    marks->all.n = 0;
    if (!w->in_off || w->in_off[task] == w->in_off[task + 1])
        return true;
    struct strbuf path = {0};
    struct timespec now;
    char label[512];
    bool good = true;
    clock_gettime(CLOCK_REALTIME, &now);
    marks->began = input_nanoseconds(now);
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1] && good; i++) {
        uint32_t object = w->in_object[i];
        size_t first = marks->all.n;
        if ((n->absent && n->absent[object]) || need_in_memory(n, object))
            continue;
        *which = object;
        path_in(n->folder, workflow_object_label(w, object, label, sizeof label), &path);
        visit_input(path.at, 0, take_mark, marks); /* I1 */
        marks->all.at[first].mode |= MARK_TOP;
        /* of a folder that tasks make files in, those files are inputs, too */
        good = workflow_object_is(w, object, OBJECT_GATHERED) ||
               check_content(n, object, path.at, &marks->all.at[first], err);
    }
    strbuf_free(&path);
    return good;
}

/* ---- after ---- */

struct input_comparison {
    struct needs *n;
    uint32_t object;
    const struct input_marks *marks;
    size_t at, begun; /* of the marks: the next one; the first of this input */
    struct strbuf *how;
    struct error *unread; /* a disk that fails says nothing of what stands on it */
};

/* Only here, where it is rare, are commands searched. */
static bool workflow_says_chmod(const struct workflow *w)
{
    for (uint32_t t = 0; w->command && t < w->ntasks; t++)
        if (w->command[t] && strstr(workflow_text(w, w->command[t]), "chmod"))
            return true;
    return false;
}

/* By reading it, whatever is known of it. A file that nobody knows the content of is taken as it
 * is. */
static bool reads_as_before(struct input_comparison *c, const char *path)
{
    struct digest now, before;
    const struct digest *known = &c->n->content[c->object];
    if (c->at == c->begun) /* the input itself, not a file in it */
        before = *known;
    else if (!memo_recorded(c->n->memo, path, &before))
        return true;
    if (digest_is_zero(&before))
        return true;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool read = fd >= 0 && digest_of_fd(fd, path, &now, c->unread);
    if (fd < 0 && errno != ENOENT)
        error_set(c->unread, ERROR_FAILED, "%.300s: cannot be opened: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return read && digest_equal(&now, &before);
}

/* True: chmod, ln and the like, which leave the content alone. */
static bool only_status_changed(struct input_comparison *c, const struct input_mark *was,
                                const struct input_mark *is, const char *path)
{
    if (was->size != is->size || was->time != is->time || was->inode != is->inode)
        return false;
    bool explained =
        was->mode != is->mode || was->links != is->links || workflow_says_chmod(c->n->w);
    return explained && reads_as_before(c, path);
}

/* "it", or a file in it by its name in the workflow's folder. */
static void name_changed(const struct input_comparison *c, const char *path)
{
    size_t n = strlen(c->n->folder);
    if (c->at == c->begun)
        strbuf_add(c->how, "it");
    else if (strncmp(path, c->n->folder, n) == 0 && path[n] == '/')
        strbuf_printf(c->how, "'%s'", path + n + 1);
    else
        strbuf_printf(c->how, "'%s'", path);
}

static void describe_change(struct input_comparison *c, const struct input_mark *was,
                            const struct input_mark *is, const char *path)
{
    name_changed(c, path);
    if (!was || was->name != is->name)
        strbuf_add(c->how, " is new, or stands where another file was");
    else if (!is->inode)
        strbuf_add(c->how, " is gone");
    else if (was->size != is->size)
        strbuf_printf(c->how, " had %lld bytes and has %lld", (long long)was->size,
                      (long long)is->size);
    else if (was->inode != is->inode)
        strbuf_add(c->how, " was replaced by another file");
    else if (reads_as_before(c, path) && was->time == is->time)
        strbuf_add(c->how, " was written to and put back, or has another owner or attributes");
    else if (reads_as_before(c, path))
        strbuf_add(c->how, " was written to, and has its old content again");
    else
        strbuf_add(c->how, " has another content of the same size");
}

static bool compare_mark(void *context, const char *path, const struct stat *s)
{
    struct input_comparison *c = context;
    const struct input_mark *was = c->at < c->marks->all.n ? &c->marks->all.at[c->at] : NULL;
    struct input_mark is = mark_of(path, s);
    is.mode |= c->at == c->begun ? MARK_TOP : 0;
    bool same = was && memcmp(was, &is, sizeof is) == 0;
    if (same && is.inode && is.change > c->marks->began - young_within &&
        is.size <= LOOKED_AT) /* I2 */
        same = reads_as_before(c, path);
    else if (!same && was && was->name == is.name && was->inode)
        same = only_status_changed(c, was, &is, path);
    if (!same && c->unread->kind == ERROR_NONE)
        describe_change(c, was, &is, path);
    c->at++;
    return same;
}

bool inputs_unchanged(struct needs *n, uint32_t task, const struct input_marks *marks,
                      struct input_change *change)
{
    const struct workflow *w = n->w;
    *change = (struct input_change){.object = NONE};
    if (!marks->all.n)
        return true;
    struct strbuf path = {0};
    struct error unread = {0};
    struct input_comparison c = {.n = n, .marks = marks, .how = &change->how, .unread = &unread};
    char label[512];
    bool same = true;
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1] && same; i++) {
        if ((n->absent && n->absent[w->in_object[i]]) || need_in_memory(n, w->in_object[i]))
            continue;
        c.object = change->object = w->in_object[i];
        c.begun = c.at;
        path_in(n->folder, workflow_object_label(w, c.object, label, sizeof label), &path);
        same = visit_input(path.at, 0, compare_mark, &c);
        if (same && c.at < marks->all.n && !(marks->all.at[c.at].mode & MARK_TOP)) {
            strbuf_add(&change->how, "a file in it is gone");
            same = false;
        }
    }
    change->unread = !same && unread.kind != ERROR_NONE;
    if (change->unread) {
        strbuf_clear(&change->how);
        strbuf_add(&change->how, unread.text);
    }
    strbuf_free(&path);
    return same;
}

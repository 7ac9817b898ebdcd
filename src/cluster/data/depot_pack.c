/* A folder into bytes (the format stands in depot_pack.h): listed once, then read piece by piece
 * while the link takes them. At most one file is open. O(entries) memory, O(entries) stat calls. */
#include "cluster/data/depot_pack.h"

#include "base/bytes.h"
#include "memo/memo.h"
#include "cluster/wire/protocol.h"
#include "base/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* How many ".." a link's target begins with; -1: it is absolute, or has one later. */
static int pack_climbs(const char *target)
{
    int count = 0;
    bool down = false;
    if (target[0] == '/' || !target[0])
        return -1;
    for (const char *at = target; *at;) {
        size_t n = strcspn(at, "/");
        if (n == 2 && at[0] == '.' && at[1] == '.') {
            if (down)
                return -1;
            count++;
        } else if (n && !(n == 1 && at[0] == '.')) {
            down = true;
        }
        at += n;
        at += *at == '/';
    }
    return count;
}

/* Paths and targets stand in one buffer, by offset: a folder of a million files costs a few
 * allocations. `total` is the length of the stream: 17 bytes of head, the path, the content. */
static bool pack_add_entry(struct depot_pack *p, uint8_t form, uint32_t mode, const char *path,
                           uint64_t size, const char *target, struct error *err)
{
    size_t n = strlen(path);
    if (n >= DEPOT_PATH_MAX || p->entries.n >= DEPOT_ENTRIES_MAX)
        return error_set(err, ERROR_FAILED, "%s: has too many files or too long names to be sent",
                         p->root);
    struct depot_entry e = {
        .form = form, .mode = mode & MESSAGE_MODE, .size = size, .path = p->text.n};
    strbuf_add_bytes(&p->text, path, n + 1);
    e.target = p->text.n;
    if (target)
        strbuf_add_bytes(&p->text, target, strlen(target) + 1);
    if (size > (uint64_t)INT64_MAX - p->total)
        return error_set(err, ERROR_FAILED, "%s: is too large to be sent", p->root);
    array_push(&p->entries, e);
    p->total += 1 + 4 + 8 + 4 + n + size;
    return true;
}

/* `depth`: of the folder that is listed; `floor`: above which its links may not climb. Recursion is
 * bounded by DEPOT_DEPTH_MAX. */
static bool pack_list(struct depot_pack *p, const char *below, int depth, int floor,
                      struct error *err)
{
    struct strbuf path = {0}, name = {0};
    folder_names names = {0};
    strbuf_printf(&path, "%s%s%s", p->root, below[0] ? "/" : "", below);
    bool good = memo_list_folder(path.at, &names) ||
                error_set(err, ERROR_FAILED, "%s: cannot be read: %s", path.at, strerror(errno));
    for (size_t i = 0; i < names.n && good; i++) {
        struct stat s;
        char target[DEPOT_PATH_MAX];
        strbuf_clear(&name);
        strbuf_printf(&name, "%s%s%s", below, below[0] ? "/" : "", names.at[i]);
        strbuf_clear(&path);
        strbuf_printf(&path, "%s/%s", p->root, name.at);
        bool is_link = lstat(path.at, &s) == 0 && S_ISLNK(s.st_mode);
        ssize_t n = is_link ? readlink(path.at, target, sizeof target - 1) : -1;
        if (stat(path.at, &s) != 0) {
            good = error_set(err, ERROR_FAILED, "%s: cannot be read: %s", path.at, strerror(errno));
            break;
        }
        if (n > 0) {
            target[n] = 0;
            int up = pack_climbs(target);
            if (up >= 0 && up <= depth - floor) {
                good = pack_add_entry(p, MESSAGE_SYMLINK, 0, name.at, (uint64_t)n, target, err);
                continue;
            }
        }
        if (S_ISREG(s.st_mode))
            good =
                pack_add_entry(p, MESSAGE_FILE, s.st_mode, name.at, (uint64_t)s.st_size, NULL, err);
        else if (!S_ISDIR(s.st_mode))
            good =
                error_set(err, ERROR_FAILED, "%s: neither a file nor a folder nor a link", path.at);
        else if (depth + 1 >= DEPOT_DEPTH_MAX)
            good = error_set(err, ERROR_FAILED, "%s: more than %d folders deep", path.at,
                             DEPOT_DEPTH_MAX);
        else
            good = pack_add_entry(p, MESSAGE_FOLDER, s.st_mode, name.at, 0, NULL, err) &&
                   pack_list(p, name.at, depth + 1, is_link ? depth + 1 : floor, err);
    }
    folder_names_free(&names);
    strbuf_free(&path);
    strbuf_free(&name);
    return good;
}

/* Everything is listed and its size taken before the first byte is sent: the receiver is told the
 * total in advance. */
bool depot_pack_begin(struct depot_pack *p, const char *root, struct error *err)
{
    *p = (struct depot_pack){.root = mem_copy_string(root), .fd = -1};
    if (pack_list(p, "", 0, 0, err))
        return true;
    depot_pack_free(p);
    return false;
}

void depot_pack_free(struct depot_pack *p)
{
    if (p->root && p->fd >= 0)
        close(p->fd);
    free(p->root);
    strbuf_free(&p->text);
    strbuf_free(&p->head);
    array_free(&p->entries);
    *p = (struct depot_pack){.fd = -1};
}

/* A file that was listed with another size, or is gone: the stream cannot keep its promise. */
static bool pack_changed(const struct depot_pack *p, const struct depot_entry *e, struct error *err)
{
    return error_set(err, ERROR_FAILED, "%s/%s: changed while it was sent", p->root,
                     p->text.at + e->path);
}

/* Its head, and the file opened. O_NONBLOCK: a fifo that took a file's place must not hold us up.
 */
static bool pack_next_entry(struct depot_pack *p, struct error *err)
{
    const struct depot_entry *e = &p->entries.at[p->next++];
    const char *path = p->text.at + e->path;
    strbuf_clear(&p->head);
    bytes_put_u8(&p->head, e->form);
    bytes_put_u32(&p->head, e->mode);
    bytes_put_u64(&p->head, e->size);
    bytes_put_text(&p->head, path, strlen(path));
    p->head_done = 0;
    p->done = 0;
    if (e->form != MESSAGE_FILE)
        return true;
    struct strbuf whole = {0};
    strbuf_printf(&whole, "%s/%s", p->root, path);
    p->fd = open(whole.at, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    strbuf_free(&whole);
    struct stat s;
    return (p->fd >= 0 && fstat(p->fd, &s) == 0 && S_ISREG(s.st_mode) &&
            (uint64_t)s.st_size == e->size) ||
           pack_changed(p, e, err);
}

/* A machine with three positions: in the head of an entry, in its content, between two entries. May
 * stop anywhere and go on with the next call. */
bool depot_pack_read(struct depot_pack *p, char *out, size_t n, size_t *got, struct error *err)
{
    *got = 0;
    while (*got < n) {
        const struct depot_entry *e = p->next ? &p->entries.at[p->next - 1] : NULL;
        size_t want = n - *got;
        if (e && p->head_done < p->head.n) {
            size_t left = p->head.n - p->head_done;
            want = want < left ? want : left;
            memcpy(out + *got, p->head.at + p->head_done, want);
            p->head_done += want;
            *got += want;
        } else if (e && p->done < e->size) {
            want = want < e->size - p->done ? want : (size_t)(e->size - p->done);
            if (e->form == MESSAGE_SYMLINK) {
                memcpy(out + *got, p->text.at + e->target + p->done, want);
            } else {
                ssize_t k = pread(p->fd, out + *got, want, (off_t)p->done);
                if (k < 0 && errno == EINTR)
                    continue;
                if (k <= 0)
                    return pack_changed(p, e, err);
                want = (size_t)k;
            }
            p->done += want;
            *got += want;
        } else {
            if (p->fd >= 0)
                close(p->fd);
            p->fd = -1;
            if (p->next == p->entries.n)
                return true;
            if (!pack_next_entry(p, err))
                return false;
        }
    }
    return true;
}

/* Whole files in, whole files out. A file is written beside its target and renamed, so readers see
 * the old or the new content and nothing between, also when the process is killed.
 *
 * I1. Until file_out_commit() the target is untouched; a failure removes the temporary file.
 * I2. Devices and pipes cannot be renamed over: they are written directly.
 * I3. No fsync(): a file survives the end of the process, not a power cut. What must survive one is
 *     written by journal.c. */
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* `expected` is a hint: files of /proc say 0, and a file may grow while it is read. */
static bool file_read_all(int fd, const char *path, size_t expected, struct text *out,
                          struct error *err)
{
    size_t cap = expected + 4096, n = 0;
    char *at = mem_alloc(cap + 1);
    for (;;) {
        if (n == cap) {
            cap += cap / 2;
            at = mem_grow(at, cap + 1);
        }
        ssize_t got = read(fd, at + n, cap - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            free(at);
            return error_at(err, path, 0, "cannot read: %s", strerror(errno));
        }
        if (!got)
            break;
        n += (size_t)got;
    }
    at[n] = 0;
    out->at = at;
    out->n = n;
    return true;
}

/* A guard: memory runs out while the file is read. */
static void file_close_fd(void *fd)
{
    close(*(int *)fd);
}

bool file_read(const char *path, struct text *out, struct error *err)
{
    *out = (struct text){0};
    if (strcmp(path, "-") == 0)
        return file_read_all(STDIN_FILENO, "standard input", 1 << 16, out, err);
    if (!*path)
        return error_set(err, ERROR_INPUT, "the name of a file to read is empty");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_at(err, path, 0, "cannot open: %s", strerror(errno));
    struct mem_guard guard;
    mem_guard_enter(&guard, file_close_fd, &fd);
    struct stat st;
    bool ok;
    if (fstat(fd, &st) != 0)
        ok = error_at(err, path, 0, "cannot look at it: %s", strerror(errno));
    else if (S_ISDIR(st.st_mode))
        ok = error_at(err, path, 0, "is a directory; expected a file");
    else
        ok = file_read_all(fd, path, st.st_size > 0 ? (size_t)st.st_size : 0, out, err);
    mem_guard_leave(&guard);
    close(fd);
    return ok;
}

void text_free(struct text *t)
{
    free(t->at);
    *t = (struct text){0};
}

bool file_exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

/* Something that is there and is neither file nor folder. */
static bool is_special(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* A new file under a name whose end (16 digits behind ".tmp-") is drawn until it is free. Not
 * mkostemp(): that makes files 0600, and what the user's umask gives any other file can be had only
 * by asking for it, since a library must not touch the process's umask to read it. */
static int file_create_beside(char *name, size_t stem)
{
    for (int tries = 0; tries < 100; tries++) { /* of 2^64 names: more means another trouble */
        uint64_t draw;
        if (getrandom(&draw, sizeof draw, 0) != (ssize_t)sizeof draw)
            return -1;
        snprintf(name + stem, strlen(name) - stem + 1, ".tmp-%016llx", (unsigned long long)draw);
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

bool file_out_open(struct file_out *f, const char *path, struct error *err)
{
    *f = (struct file_out){0};
    if (strcmp(path, "-") == 0) {
        f->stream = stdout;
        return true;
    }
    if (!*path)
        return error_set(err, ERROR_INPUT, "the name of a file to write is empty");
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return error_at(err, path, 0, "is a directory; give the name of a file to write");
    if (is_special(path)) {
        f->stream = fopen(path, "we");
        if (!f->stream)
            return error_at(err, path, 0, "cannot write: %s", strerror(errno));
        f->path = mem_copy_string(path);
        return true;
    }
    /* All memory before the file: running out must not leave one behind. */
    struct strbuf name = {0};
    strbuf_printf(&name, "%s.tmp-%016llx", path, 0ull);
    f->path = mem_copy_string(path);
    f->temporary = strbuf_steal(&name);
    int fd = file_create_beside(f->temporary, strlen(path));
    if (fd < 0) {
        error_at(err, path, 0, "cannot write here: %s", strerror(errno));
        free(f->temporary);
        f->temporary = NULL; /* nothing to remove */
        file_out_abandon(f);
        return false;
    }
    /* a file that is replaced keeps its mode */
    if (stat(path, &st) == 0 && fchmod(fd, st.st_mode & 07777) != 0)
        errno = 0; /* a file system without modes: keep what it gave */
    f->stream = fdopen(fd, "w");
    if (f->stream)
        return true;
    error_at(err, path, 0, "cannot write: %s", strerror(errno));
    close(fd);
    file_out_abandon(f);
    return false;
}

/* In this order: a full disk shows at fflush() or fclose(), and only then may the target change. */
bool file_out_commit(struct file_out *f, struct error *err)
{
    const char *path = f->path ? f->path : "standard output";
    bool ok = fflush(f->stream) == 0 && !ferror(f->stream);
    if (!ok)
        error_at(err, path, 0, "cannot write: %s", strerror(errno));
    if (f->stream != stdout && fclose(f->stream) != 0 && ok)
        ok = error_at(err, path, 0, "cannot write: %s", strerror(errno));
    f->stream = NULL;
    if (ok && f->temporary && rename(f->temporary, f->path) != 0)
        ok = error_at(err, path, 0, "cannot put the result in place: %s", strerror(errno));
    if (ok) {
        free(f->temporary);
        f->temporary = NULL;
    }
    file_out_abandon(f);
    return ok;
}

void file_out_abandon(struct file_out *f)
{
    if (f->stream && f->stream != stdout)
        fclose(f->stream);
    if (f->temporary)
        unlink(f->temporary);
    free(f->temporary);
    free(f->path);
    *f = (struct file_out){0};
}

bool file_write(const char *path, const char *data, size_t len, struct error *err)
{
    struct file_out f;
    if (!file_out_open(&f, path, err))
        return false;
    if (len && f.stream)
        fwrite(data, 1, len, f.stream);
    return file_out_commit(&f, err);
}

/* Names in a workflow are relative to the workflow's own folder. */
char *file_beside(const char *base, const char *name)
{
    const char *slash = strrchr(base, '/');
    if (!slash || name[0] == '/')
        return mem_copy_string(name);
    struct strbuf b = {0};
    strbuf_add_bytes(&b, base, (size_t)(slash - base) + 1);
    strbuf_add(&b, name);
    return strbuf_steal(&b);
}

const char *file_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

size_t file_stem_length(const char *base)
{
    const char *dot = strrchr(base, '.');
    return dot && dot > base ? (size_t)(dot - base) : strlen(base);
}

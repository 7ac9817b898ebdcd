/* Finding what tasks run in (surroundings.h). Most workflows say nothing of it, and cost a few
 * comparisons; of the others each distinct text is looked at once, however many tasks have it. */
#include "session/surroundings.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/program.h"
#include "base/tree.h"
#include "exec/container.h"
#include "exec/wrapper.h"
#include "memo/need.h"
#include "model/future.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where the first task that says so stands, for messages; always false. */
__attribute__((format(printf, 4, 5))) static bool
surroundings_error(const struct surroundings_request *q, uint32_t task, struct error *err,
                   const char *fmt, ...)
{
    char text[1200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const struct workflow *w = q->workflow;
    return error_at(err, workflow_text(w, w->file), w->line && !q->rewritten ? w->line[task] : 0,
                    "task '%.200s': %s", workflow_task_name(w, task), text);
}

static bool surroundings_must_run(const struct surroundings_request *q, uint32_t task)
{
    return q->workflow->command && q->workflow->command[task] &&
           (!q->needs || q->needs[task] != NEED_NOT);
}

/* Is its text another than that of the task before, which has been looked at? */
static bool is_another(const str_id *column, uint32_t task)
{
    return column && column[task] && (!task || column[task - 1] != column[task]);
}

/* ---- contents ---- */

static bool find_image(const struct surroundings_request *q, uint32_t task,
                       struct run_environment *e, struct error *err)
{
    const char *image = column_text(q->workflow, task, COLUMN_container);
    struct error why = {0};
    struct strbuf what = {0};
    if (run_environment_find(e, ALONG_IMAGE, image, strlen(image)))
        return true;
    bool good = container_resolve(image, q->folder, q->fetch, &what, &why);
    if (good)
        run_environment_add(e, ALONG_IMAGE, image, what.at);
    strbuf_free(&what);
    if (good || (!q->fetch && container_engine_here(&(struct error){0})))
        return true; /* nobody has asked for it to be here */
    if (q->elsewhere)
        return surroundings_error(
            q, task, err,
            "%s. What an image is must be known where the run begins: name it "
            "by its digest (name@sha256:...), which needs no engine here",
            why.text);
    return surroundings_error(q, task, err, "%s", why.text);
}

static bool find_conda_file(const struct surroundings_request *q, uint32_t task,
                            struct run_environment *e, struct error *err)
{
    const char *file = column_text(q->workflow, task, COLUMN_conda);
    struct strbuf path = {0};
    struct text content = {0};
    struct error why = {0};
    if (run_environment_find(e, ALONG_CONDA, file, strlen(file)))
        return true;
    bool good = file_read(path_in(q->folder, file, &path), &content, &why);
    if (!good)
        surroundings_error(q, task, err, "conda: %s", why.text);
    else if (strlen(content.at) != content.n)
        good = surroundings_error(q, task, err, "conda: %s is no text", path.at);
    else
        run_environment_add(e, ALONG_CONDA, file, content.at);
    text_free(&content);
    strbuf_free(&path);
    return good;
}

bool surroundings_find_contents(const struct surroundings_request *q, struct run_environment *e,
                                struct error *err)
{
    const struct workflow *w = q->workflow;
    for (uint32_t t = 0; (w->container || w->conda) && t < w->ntasks; t++) {
        bool image = w->container && w->container[t], conda = w->conda && w->conda[t];
        if (image && conda)
            return surroundings_error(q, t, err,
                                      "container and conda together; say `conda: none` or "
                                      "`container: none` to take a default back");
        if ((is_another(w->container, t) && !find_image(q, t, e, err)) ||
            (is_another(w->conda, t) && !find_conda_file(q, t, e, err)))
            return false;
    }
    return true;
}

/* ---- secrets ---- */

/* The file's name; NULL: there is no home. */
static char *secret_path(const char *name)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    struct strbuf path = {0};
    if (config && *config == '/')
        strbuf_printf(&path, "%s/weft/secrets/%s", config, name);
    else if (home && *home == '/')
        strbuf_printf(&path, "%s/.config/weft/secrets/%s", home, name);
    else
        return NULL;
    return strbuf_steal(&path);
}

/* Less than 128 KiB, which is what a variable can hold. Wiped by the caller. */
static bool read_secret(const char *path, int fd, char *text, size_t room, struct error *err)
{
    struct stat s;
    size_t n = 0;
    ssize_t got;
    if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode))
        return error_set(err, ERROR_INPUT, "%s is no file", path);
    if (s.st_mode & 077 || (s.st_uid != geteuid() && s.st_uid != 0))
        return error_set(err, ERROR_INPUT,
                         "%s has mode %03o%s: others may see the secret; say `chmod 600 %s`", path,
                         s.st_mode & 0777, s.st_uid == geteuid() ? "" : " and another owner", path);
    while (n < room && (got = read(fd, text + n, room - n)) != 0) {
        if (got < 0 && errno != EINTR)
            return error_set(err, ERROR_INPUT, "%s: %s", path, strerror(errno));
        n += got > 0 ? (size_t)got : 0;
    }
    n -= n && text[n - 1] == '\n'; /* as an editor leaves it */
    if (n == room || memchr(text, 0, n))
        return error_set(err, ERROR_INPUT, "%s: %s", path,
                         n == room ? "a secret has at most 128 KiB" : "a secret is a text");
    text[n] = 0;
    return true;
}

static bool find_secret(const struct surroundings_request *q, uint32_t task, const char *name,
                        struct run_environment *e, struct error *err)
{
    enum { MOST = 128 * 1024 };
    const char *value = getenv(name);
    if (value) {
        run_environment_add(e, ALONG_SECRET, name, value);
        return true;
    }
    char *path = secret_path(name);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) {
        int reason = errno;
        surroundings_error(
            q, task, err,
            "there is no secret '%s': neither a variable of that name nor the file "
            "%s%s%s%s; set one of them (the file with mode 600)",
            name, path ? path : "~/.config/weft/secrets/NAME", path && reason != ENOENT ? " (" : "",
            path && reason != ENOENT ? strerror(reason) : "", path && reason != ENOENT ? ")" : "");
        free(path);
        return false;
    }
    char *text = mem_new(char, MOST + 1);
    struct error why = {0};
    bool good = read_secret(path, fd, text, MOST, &why);
    if (good)
        run_environment_add(e, ALONG_SECRET, name, text);
    else
        surroundings_error(q, task, err, "secret '%s': %s", name, why.text);
    explicit_bzero(text, MOST);
    free(text);
    close(fd);
    free(path);
    return good;
}

/* ---- values ---- */

/* Each word of a list, as a text of its own. */
static bool find_listed(const struct surroundings_request *q, uint32_t task, enum column_id id,
                        struct run_environment *e, struct error *err)
{
    const char *list = column_text(q->workflow, task, id), *word;
    size_t n;
    bool good = true;
    while (good && list && (word = environment_word(&list, &n))) {
        char *name = mem_copy_bytes(word, n);
        if (id == COLUMN_secret)
            good = run_environment_find(e, ALONG_SECRET, name, n) ||
                   find_secret(q, task, name, e, err);
        else if (strcmp(name, "-") != 0 && getenv(name))
            run_environment_add(e, ALONG_PASS, name, getenv(name));
        free(name);
    }
    return good;
}

/* The programs that this machine needs, asked for once. */
static bool find_programs(const struct surroundings_request *q, uint32_t task, bool *conda,
                          bool *modules, struct error *err)
{
    const struct workflow *w = q->workflow;
    char path[PATH_MAX];
    struct error why = {0};
    if (!*conda && w->conda && w->conda[task]) {
        *conda = true;
        if (!wrapper_find_conda(path, sizeof path, &why))
            return surroundings_error(q, task, err, "conda: %s", why.text);
    }
    if (!*modules && w->modules && w->modules[task]) {
        const char *const words[] = {"bash", "-c", exec_modules_sh, "weft", "", "/bin/sh", "-c",
                                     ":",    NULL};
        *modules = true;
        if (!program_output(words, NULL, NULL))
            return surroundings_error(
                q, task, err,
                "modules: there is no `module` command on this machine (looked for in the shell, "
                "LMOD_PKG, MODULESHOME, /etc/profile.d and /usr/share); install Environment "
                "Modules "
                "or Lmod, or take `modules` out of the workflow");
    }
    return true;
}

/* Of tasks that are to join. One that is not there is their mistake, when they do; one that is must be
 * nobody else's before that. */
static void find_coming_secrets(const struct surroundings_request *q, struct run_environment *e)
{
    struct future *f = q->workflow->future;
    const char *name;
    for (size_t i = 0; f && f->ops->secret && (name = f->ops->secret(f, i)); i++)
        if (*name && !run_environment_find(e, ALONG_SECRET, name, strlen(name)))
            find_secret(q, 0, name, e, &(struct error){0});
}

bool surroundings_find_values(const struct surroundings_request *q, struct run_environment *e,
                              struct error *err)
{
    const struct workflow *w = q->workflow;
    bool conda = false, modules = false;
    str_id secret = 0, pass = 0;
    for (uint32_t t = 0; environment_is_used(w) && t < w->ntasks; t++) {
        if (!environment_is_stated(w, t) || !surroundings_must_run(q, t))
            continue;
        if (w->secret && w->secret[t] != secret) {
            secret = w->secret[t];
            if (!find_listed(q, t, COLUMN_secret, e, err))
                return false;
        }
        if (w->pass && w->pass[t] != pass) {
            pass = w->pass[t];
            find_listed(q, t, COLUMN_pass, e, err);
        }
        if (!q->elsewhere && !find_programs(q, t, &conda, &modules, err))
            return false;
    }
    find_coming_secrets(q, e);
    return true;
}

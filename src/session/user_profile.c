/* Reading profiles: see user_profile.h. */
#include "session/user_profile.h"

#include "base/mem.h"
#include "base/strbuf.h"
#include "formats/native/native.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROFILE_MOST = 1 << 20 }; /* bytes: more is no profile */

char *user_profile_standard(void)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    struct strbuf path = {0};
    if (config && *config == '/')
        strbuf_printf(&path, "%s/weft/profile.yaml", config);
    else if (home && *home == '/')
        strbuf_printf(&path, "%s/.config/weft/profile.yaml", home);
    else
        return NULL;
    return strbuf_steal(&path);
}

/* Whose it is, and who may write it: looked at through the descriptor that is read. */
static bool profile_is_ours(int fd, const char *path, struct error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return error_set(err, ERROR_INPUT, "%s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return error_set(err, ERROR_INPUT, "%s: a profile is a file", path);
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return error_set(err, ERROR_INPUT,
                         "%s belongs to somebody else (user %u), who could make weft run anything; "
                         "make a copy of your own",
                         path, (unsigned)st.st_uid);
    if (st.st_mode & 022)
        return error_set(
            err, ERROR_INPUT,
            "%s may be written by others, who could make weft run anything; chmod go-w "
            "%s",
            path, path);
    if (st.st_size > PROFILE_MOST)
        return error_set(err, ERROR_INPUT, "%s: too large for a profile", path);
    return true;
}

/* The text, NUL-terminated; NULL: an error, or, without one, there is no such file. */
static char *profile_load(const char *path, bool chosen, size_t *n, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        if (chosen || (errno != ENOENT && errno != ENOTDIR))
            error_set(err, ERROR_INPUT, "%s: cannot open the profile: %s", path, strerror(errno));
        return NULL;
    }
    char *text = NULL;
    if (profile_is_ours(fd, path, err)) {
        text = mem_alloc(PROFILE_MOST + 1);
        ssize_t got = 0;
        for (*n = 0; *n < PROFILE_MOST && (got = read(fd, text + *n, PROFILE_MOST - *n)) > 0;)
            *n += (size_t)got;
        text[*n] = 0;
        if (got < 0) {
            error_set(err, ERROR_INPUT, "%s: %s", path, strerror(errno));
            free(text);
            text = NULL;
        }
    }
    close(fd);
    return text;
}

/* A file being read. */
struct profile_reading {
    struct native file;
    struct user_profile *p;
    bool chosen;
};

static void profile_add(struct profile_reading *r, enum profile_sort sort, const char *command,
                        const char *name, const char *value, yaml_ref at)
{
    struct strbuf place = {0};
    strbuf_printf(&place, "%s:%zu", r->file.y.file, yaml_line(&r->file.y, at));
    array_push(&r->p->at,
               (struct user_default){.sort = sort,
                                     .command = command ? mem_copy_string(command) : NULL,
                                     .name = mem_copy_string(name),
                                     .value = mem_copy_string(value),
                                     .place = strbuf_steal(&place),
                                     .chosen = r->chosen});
}

static bool profile_text(struct profile_reading *r, yaml_ref v, const char *what, const char **text)
{
    char found[80];
    const struct yaml *y = &r->file.y;
    if (yaml_type(y, v) != YAML_SCALAR || yaml_is_null(y, v))
        return native_error(&r->file, v, "%s is %s; expected a text or a number", what,
                            yaml_found(y, v, found, sizeof found));
    *text = yaml_text(y, v, NULL);
    return true;
}

/* run: { jobs: 4, param: [a=1, b=2] } */
static bool profile_read_options(struct profile_reading *r, yaml_ref v)
{
    const struct yaml *y = &r->file.y;
    const char *text = "";
    if (!native_is_mapping(&r->file, v, "options"))
        return false;
    for (yaml_ref c = yaml_first(y, v); c != YAML_NONE; c = yaml_next(y, v, c)) {
        const char *command = yaml_text(y, c, NULL);
        yaml_ref options = yaml_value(c);
        if (!native_is_mapping(&r->file, options, command))
            return false;
        for (yaml_ref k = yaml_first(y, options); k != YAML_NONE; k = yaml_next(y, options, k)) {
            const char *name = yaml_text(y, k, NULL);
            bool list = yaml_type(y, yaml_value(k)) == YAML_SEQUENCE;
            yaml_ref e = list ? yaml_first(y, yaml_value(k)) : yaml_value(k);
            for (; e != YAML_NONE; e = list ? yaml_next(y, yaml_value(k), e) : YAML_NONE) {
                if (!profile_text(r, e, name, &text))
                    return false;
                profile_add(r, PROFILE_OPTION, command, name, text, k);
            }
        }
    }
    return true;
}

static bool profile_read_variables(struct profile_reading *r, yaml_ref v)
{
    const struct yaml *y = &r->file.y;
    const char *text = "";
    if (!native_is_mapping(&r->file, v, "env"))
        return false;
    for (yaml_ref k = yaml_first(y, v); k != YAML_NONE; k = yaml_next(y, v, k)) {
        const char *name = yaml_text(y, k, NULL);
        if (!*name || strchr(name, '='))
            return native_error(&r->file, k, "'%.80s' cannot be the name of a variable", name);
        if (!profile_text(r, yaml_value(k), name, &text))
            return false;
        profile_add(r, PROFILE_VARIABLE, NULL, name, text, k);
    }
    return true;
}

/* { gpu: [0, 1], licence: 4 } as "gpu=[0,1],licence=4", the text of the option. */
static bool profile_read_resources(struct profile_reading *r, yaml_ref v)
{
    const struct yaml *y = &r->file.y;
    struct strbuf out = {0};
    const char *text = "";
    bool good = native_is_mapping(&r->file, v, "resources");
    for (yaml_ref k = good ? yaml_first(y, v) : YAML_NONE; k != YAML_NONE && good;
         k = yaml_next(y, v, k)) {
        yaml_ref value = yaml_value(k);
        bool list = yaml_type(y, value) == YAML_SEQUENCE, first = true;
        strbuf_printf(&out, "%s%s=%s", out.n ? "," : "", yaml_text(y, k, NULL), list ? "[" : "");
        yaml_ref e = list ? yaml_first(y, value) : value;
        for (; e != YAML_NONE && good; e = list ? yaml_next(y, value, e) : YAML_NONE) {
            good = profile_text(r, e, yaml_text(y, k, NULL), &text);
            if (good)
                strbuf_printf(&out, "%s%s", first ? "" : ",", text);
            first = false;
        }
        strbuf_add(&out, list ? "]" : "");
    }
    if (good && out.n)
        profile_add(r, PROFILE_RESOURCES, NULL, "resources", out.at, v);
    strbuf_free(&out);
    return good;
}

static bool profile_read_file(struct profile_reading *r)
{
    static const char *const keys[] = {"options", "env", "resources", "on", NULL};
    const struct yaml *y = &r->file.y;
    const char *text = "";
    if (yaml_is_null(y, 0)) /* nothing but comments */
        return true;
    if (!native_is_mapping(&r->file, 0, "a profile"))
        return false;
    for (yaml_ref k = yaml_first(y, 0); k != YAML_NONE; k = yaml_next(y, 0, k)) {
        yaml_ref v = yaml_value(k);
        bool good = false;
        switch (native_key(&r->file, k, keys)) {
        case 0:
            good = profile_read_options(r, v);
            break;
        case 1:
            good = profile_read_variables(r, v);
            break;
        case 2:
            good = profile_read_resources(r, v);
            break;
        case 3:
            good = profile_text(r, v, "on", &text);
            if (good)
                profile_add(r, PROFILE_ON, NULL, "on", text, k);
            break;
        default:
            break;
        }
        if (!good)
            return false;
    }
    return true;
}

/* More than blanks and comments, which is no YAML document. */
static bool profile_says_something(const char *text)
{
    for (;;) {
        text += strspn(text, " \t\r\n");
        if (*text != '#')
            return *text != 0;
        text += strcspn(text, "\n");
    }
}

bool user_profile_read(struct user_profile *p, const char *path, bool chosen, struct error *err)
{
    struct profile_reading r = {.file = {.err = err}, .p = p, .chosen = chosen};
    size_t n = 0;
    char *text = profile_load(path, chosen, &n, err);
    if (!text)
        return err->kind == ERROR_NONE;
    bool good = true;
    if (profile_says_something(text)) {
        good = yaml_load(&r.file.y, path, text, n, err);
        if (good) {
            good = profile_read_file(&r);
            native_close(&r.file);
        }
    }
    free(text);
    return good;
}

void user_profile_free(struct user_profile *p)
{
    for (size_t i = 0; i < p->at.n; i++) {
        struct user_default *e = &p->at.at[i];
        free(e->command);
        free(e->name);
        free(e->value);
        free(e->place);
    }
    array_free(&p->at);
}

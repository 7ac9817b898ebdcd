/* Folders that nobody makes, but that tasks make files in: see gathered.h. */
#include "memo/gathered.h"

#include "base/tree.h"

#include <string.h>
#include <sys/stat.h>

/* What lies in a folder and no task makes, `name` being the folder's, relative. Folders count by the
 * files in them: those of a task's files come into being with them. */
static bool gathered_digest(struct needs *n, const char *name, struct digest_state *s, double *size,
                            int depth, struct error *err)
{
    enum { DEEPEST = 64 }; /* a link to a folder above it would have no end */
    const struct workflow *w = n->w;
    struct strbuf path = {0}, below = {0};
    folder_names names = {0};
    bool good = true;
    /* nothing there, or no folder: nothing of its own */
    if (depth < DEEPEST && folder_list(path_in(n->folder, name, &path), &names))
        for (size_t i = 0; i < names.n && good; i++) {
            struct digest content;
            struct stat st;
            double bytes = 0;
            strbuf_clear(&below);
            strbuf_printf(&below, "%s%s%s", name, name[strlen(name) - 1] == '/' ? "" : "/",
                          names.at[i]);
            uint32_t o = workflow_find_object(w, below.at);
            if (o != NONE && w->producer[o] != NONE)
                continue;
            path_in(n->folder, below.at, &path);
            if (stat(path.at, &st) == 0 && S_ISDIR(st.st_mode)) {
                good = gathered_digest(n, below.at, s, size, depth + 1, err);
            } else if (memo_digest(n->memo, path.at, false, &content, &bytes, err)) {
                digest_string(s, below.at, below.n);
                digest_bytes(s, content.at, sizeof content.at);
                *size += bytes;
            } else {
                good = !err || err->kind == ERROR_NONE;
            }
        }
    folder_names_free(&names);
    strbuf_free(&path);
    strbuf_free(&below);
    return good;
}

/* A folder that tasks make files in: they are inputs of who reads it, and known by themselves. */
bool gathered_read(struct needs *n, uint32_t object, struct error *err)
{
    struct digest_state s;
    char label[512];
    double size = 0;
    digest_begin(&s);
    digest_string(&s, "gathered", 8);
    bool good = gathered_digest(n, workflow_object_label(n->w, object, label, sizeof label), &s,
                                &size, 0, err);
    digest_end(&s, &n->content[object]);
    n->bytes[object] = size;
    n->present[object] = 1;
    return good;
}

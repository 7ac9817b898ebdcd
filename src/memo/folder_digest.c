/* The digest of a folder, out of those of its files, which the memo knows. */
#include "memo/folder_digest.h"

#include "base/strbuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool memo_list_folder(const char *path, folder_names *names)
{
    struct strbuf memo = {0};
    bool good = folder_list(path, names);
    for (size_t i = 0; good && i < names->n; i++) {
        if (strcmp(names->at[i], ".weft") != 0)
            continue;
        strbuf_printf(&memo, "%s/.weft/memo", path);
        if (access(memo.at, F_OK) == 0) {
            free(names->at[i]);
            memmove(&names->at[i], &names->at[i + 1], (--names->n - i) * sizeof *names->at);
        }
        break;
    }
    strbuf_free(&memo);
    return good;
}

/* Of names and contents, in the order of names: times and modes of a folder's files do not count.
 * O(bytes) the first time, O(files) then. */
bool memo_digest_folder(struct memo *m, const char *path, bool fresh, struct digest *out,
                        double *size, struct error *err)
{
    folder_names names = {0};
    if (!memo_list_folder(path, &names))
        return error_set(err, ERROR_FAILED, "%s: cannot be read: %s", path, strerror(errno));
    struct digest_state state;
    digest_begin(&state);
    digest_string(&state, "folder", 6);
    bool good = true;
    *size = 0;
    for (size_t i = 0; i < names.n && good; i++) {
        struct strbuf below = {0};
        strbuf_printf(&below, "%s/%s", path, names.at[i]);
        struct digest one;
        double bytes = 0;
        good = memo_digest(m, below.at, fresh, &one, &bytes, err);
        if (!good && err->kind == ERROR_NONE)
            error_set(err, ERROR_FAILED, "%s: disappeared while it was read", below.at);
        digest_string(&state, names.at[i], strlen(names.at[i]));
        digest_bytes(&state, one.at, sizeof one.at);
        *size += bytes;
        strbuf_free(&below);
    }
    digest_end(&state, out);
    folder_names_free(&names);
    return good;
}

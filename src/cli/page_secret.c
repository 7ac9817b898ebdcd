/* page_secret.h. Who has the key of a cluster can run commands on its nodes; who has what is made of it can do what the page
 * can, and no more: the key cannot be computed back, so that it is never typed into a browser. */
#include "cli/page_secret.h"
#include "base/seal.h"
#include "session/key_file.h"
#include <stdio.h>
#include <string.h>

bool page_secret_of_file(const char *given, char out[static PAGE_SECRET], struct error *err)
{
    bool good = strcmp(given, "-") == 0 ? key_file_next_line(out, PAGE_SECRET, err)
                                        : key_file_private_line(given, out, PAGE_SECRET, err);
    /* a server that answers the world is tried by the world */
    if (good && strlen(out) < PAGE_SECRET_LEAST)
        good = error_set(err, ERROR_INPUT, "%s: a password of fewer than %d letters is no password",
                         given, PAGE_SECRET_LEAST);
    return good;
}

bool page_secret_of_key(const char *given, char out[static PAGE_SECRET], struct error *err)
{
    struct seal_key key;
    unsigned char made[32];
    bool good = key_file_get(given, &key, err);
    if (good) {
        seal_derive(&key, "password of the page", made, sizeof made);
        for (size_t i = 0; i < sizeof made; i++)
            snprintf(out + 2 * i, 3, "%02x", made[i]);
    }
    explicit_bzero(&key, sizeof key);
    explicit_bzero(made, sizeof made);
    return good;
}

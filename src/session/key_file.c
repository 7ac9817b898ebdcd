/* Finding the key of a cluster. The key itself is read and checked by base/seal.h, which refuses a
 * file that others may read. */
#include "session/key_file.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *key_file_standard(void)
{
    const char *named = getenv("WEFT_KEY");
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    struct strbuf path = {0};
    if (named && *named)
        strbuf_add(&path, named);
    else if (config && *config == '/')
        strbuf_printf(&path, "%s/weft/key", config);
    else if (home && *home == '/')
        strbuf_printf(&path, "%s/.config/weft/key", home);
    else
        return NULL;
    return strbuf_steal(&path);
}

/* One line, byte by byte: what follows it on standard input is another's (a script that is piped to
 * ssh gives the key first). The text is wiped. */
static bool from_standard_input(struct seal_key *key, struct error *err)
{
    char text[SEAL_KEY_TEXT];
    size_t n = 0;
    while (n < sizeof text) {
        ssize_t got = read(STDIN_FILENO, text + n, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || text[n++] == '\n')
            break;
    }
    /* the parser names no place, since it does not know one */
    struct error why = {0};
    bool good = seal_key_parse(text, n, key, &why);
    explicit_bzero(text, sizeof text);
    return good || error_set(err, ERROR_INPUT, "standard input: %s", why.text);
}

bool key_file_get(const char *given, struct seal_key *key, struct error *err)
{
    if (given && strcmp(given, "-") == 0)
        return from_standard_input(key, err);
    char *path = given ? mem_copy_string(given) : key_file_standard();
    bool good = path ? seal_key_read(path, key, err)
                     : error_set(err, ERROR_INPUT,
                                 "there is no home folder to look for a key in: name it with "
                                 "--key FILE");
    free(path);
    return good;
}

/* Finding the key of a cluster. The key itself is read and checked by base/seal.h, which refuses a
 * file that others may read. */
#include "session/key_file.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* Byte by byte: what follows it on standard input is another's (a script that is piped to ssh gives
 * the key first). */
bool key_file_next_line(char *out, size_t size, struct error *err)
{
    size_t n = 0;
    out[0] = 0;
    while (n < size) {
        ssize_t got = read(STDIN_FILENO, out + n, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || out[n] == '\n')
            break;
        n++;
    }
    if (n == size)
        return error_set(err, ERROR_INPUT, "standard input: a line that is too long");
    out[n] = 0;
    return n || error_set(err, ERROR_INPUT, "standard input: a line is missing");
}

bool key_file_private_line(const char *path, char *out, size_t size, struct error *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &st) != 0) {
        error_set(err, ERROR_INPUT, "%s: cannot be read: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return false;
    }
    bool own = S_ISREG(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077);
    ssize_t n = own ? read(fd, out, size - 1) : 0;
    close(fd);
    if (!own)
        return error_set(err, ERROR_INPUT,
                         "%s: must be a file of your own that nobody else may read or write: chmod "
                         "600 it",
                         path);
    out[n > 0 ? n : 0] = 0;
    out[strcspn(out, "\r\n")] = 0;
    return out[0] || error_set(err, ERROR_INPUT, "%s: its first line is empty", path);
}

/* The text is wiped. */
static bool from_standard_input(struct seal_key *key, struct error *err)
{
    char text[SEAL_KEY_TEXT];
    struct error why = {0}; /* the parser names no place, since it does not know one */
    bool good = key_file_next_line(text, sizeof text, err);
    if (good && !seal_key_parse(text, strlen(text), key, &why))
        good = error_set(err, ERROR_INPUT, "standard input: %s", why.text);
    explicit_bzero(text, sizeof text);
    return good;
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

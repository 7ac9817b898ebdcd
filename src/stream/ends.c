/* What both ends need: sockets, and whether they are the same place. */
#include "stream/ends.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char unix_word[] = "unix:", tcp_word[] = "tcp:", listen_word[] = "listen:";

static bool ends_begins(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

bool ends_is_socket(const char *text)
{
    return ends_begins(text, unix_word) || ends_begins(text, tcp_word) ||
           ends_begins(text, listen_word);
}

/* Waits for nobody: who is to listen must be there. */
static int ends_unix(const char *path, struct error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        error_set(err, ERROR_INPUT, "unix:%.200s: the path of a socket has at most %zu characters",
                  path, sizeof address.sun_path - 1);
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        error_set(err, ERROR_FAILED, "unix:%s: cannot connect: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

/* The first of a host's addresses that will do. */
static int ends_tcp(const char *host, const char *port, bool listens, const char *text,
                    struct error *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = listens ? AI_PASSIVE : 0};
    struct addrinfo *found = NULL;
    int reason = getaddrinfo(*host ? host : NULL, port, &hints, &found), fd = -1, why = 0;
    for (struct addrinfo *a = found; a && fd < 0; a = a->ai_next) {
        int yes = 1;
        fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
            continue;
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        bool good = listens ? bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, 1) == 0
                            : connect(fd, a->ai_addr, a->ai_addrlen) == 0;
        if (!good) {
            why = errno;
            close(fd);
            fd = -1;
        }
    }
    if (found)
        freeaddrinfo(found);
    if (fd < 0)
        error_set(err, ERROR_FAILED, "%s: cannot %s: %s", text, listens ? "listen" : "connect",
                  reason ? gai_strerror(reason) : strerror(why));
    return fd;
}

int ends_socket(const char *text, bool *listens, struct error *err)
{
    *listens = ends_begins(text, listen_word);
    if (ends_begins(text, unix_word))
        return ends_unix(text + strlen(unix_word), err);
    const char *host = text + strlen(*listens ? listen_word : tcp_word);
    const char *colon = strrchr(host, ':');
    if (!colon || !colon[1]) {
        error_set(err, ERROR_INPUT, "'%.200s': expected a port, as in %sHOST:PORT", text,
                  *listens ? listen_word : tcp_word);
        return -1;
    }
    char *name = mem_copy_bytes(host, (size_t)(colon - host));
    int fd = ends_tcp(name, colon + 1, *listens, text, err);
    free(name);
    return fd;
}

/* A file or a folder that an end means. */
static bool ends_place(const char *text, int standard, struct stat *out)
{
    static const char *const word[] = {"watch:", "frames:"};
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (ends_begins(text, word[i]))
            text += strlen(word[i]);
    bool there = strcmp(text, "-") == 0 ? fstat(standard, out) == 0 : stat(text, out) == 0;
    return there && (S_ISREG(out->st_mode) || S_ISDIR(out->st_mode));
}

/* A file is emptied when it is opened for results. In a folder, results are renamed onto the files that they are
 * made of, and a watch takes them for new items. */
bool ends_apart(const char *from, const char *to, bool several, struct error *err)
{
    struct stat a, b;
    if (!from || !to || !ends_place(from, 0, &a) || !ends_place(to, 1, &b) ||
        a.st_dev != b.st_dev || a.st_ino != b.st_ino || (several && S_ISDIR(a.st_mode)))
        return true;
    return error_set(
        err, ERROR_INPUT,
        "--from %.200s and --to %.200s are the same %s: results would take the place of items; let "
        "them go somewhere else",
        from, to, S_ISDIR(a.st_mode) ? "folder" : "file");
}

bool ends_claim(const struct source *source, struct sink *sink, struct error *err)
{
    const char *name;
    for (size_t i = 0; (name = source_known(source, i)); i++)
        if (!sink_claim(sink, name, err))
            return false;
    return true;
}

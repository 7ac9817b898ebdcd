/* A Redis of one's own, for a cluster without a store (store_server.h): TLS only, with a password
 * and a certificate that are derived from the cluster's key, so that nothing has to be configured
 * or copied.
 *
 * Relies on a redis-server in PATH, built with TLS. Blocks for up to ten seconds: agents start it
 * before their loop. */
#include "cluster/launch/store_server.h"

#include "base/file.h"
#include "base/mem.h"
#include "exec/proc.h"
#include "base/tree.h"
#include "store/redis/certificate.h"
#include "store/redis/script.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* 64 hexadecimal digits that whoever has the key can compute: it travels nowhere. */
void store_server_password(const struct seal_key *key, char password[static STORE_PASSWORD])
{
    uint8_t secret[32];
    seal_derive(key, "redis-password", secret, sizeof secret);
    for (int i = 0; i < 32; i++)
        snprintf(password + 2 * i, 3, "%02x", secret[i]);
}

/* Either may be NULL. */
static bool server_make_certificate(const struct seal_key *key, struct strbuf *certificate,
                                    struct strbuf *secret, struct error *err)
{
    uint8_t seed[REDIS_CERTIFICATE_SEED];
    seal_derive(key, "store-certificate", seed, sizeof seed);
    bool good = redis_certificate_make(seed, certificate, secret, err);
    explicit_bzero(seed, sizeof seed);
    return good;
}

/* A password or a certificate that the URL names itself is left alone. */
bool store_server_unlock(const struct seal_key *key, struct store_address *a, struct error *err)
{
    struct strbuf certificate = {0};
    if (!a->auth_key)
        return true;
    if (!a->password) {
        a->password = mem_new_zero(char, STORE_PASSWORD);
        store_server_password(key, a->password);
    }
    if (!a->tls || a->tls_pin || a->tls_ca || a->tls_name || a->tls_unchecked)
        return true;
    bool good = server_make_certificate(key, &certificate, NULL, err);
    if (good)
        a->tls_pin = strbuf_steal(&certificate);
    strbuf_free(&certificate);
    return good;
}

static void server_pause(int ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

/* "host:port" in two; the port 0 becomes one that is free now. */
static bool server_split_address(const char *bind, char host[256], int *port, struct error *err)
{
    const char *colon = strrchr(bind, ':');
    char *end = NULL;
    long number = colon ? strtol(colon + 1, &end, 10) : -1;
    size_t n = colon ? (size_t)(colon - bind) : 0;
    if (!colon || *end || number < 0 || number > 65535 || !n || n > 255)
        return error_set(err, ERROR_INPUT, "--serve-store is '%.100s'; expected HOST:PORT", bind);
    bool bracketed = bind[0] == '[' && n > 2 && bind[n - 1] == ']';
    snprintf(host, 256, "%.*s", (int)(bracketed ? n - 2 : n), bind + bracketed);
    *port = (int)number;
    return true;
}

/* The first address of the name. Blocks: this runs before the agent's loop does. */
static bool server_resolve(const char *host, int port, struct sockaddr_storage *at, socklen_t *size,
                           struct error *err)
{
    char service[16];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    snprintf(service, sizeof service, "%d", port);
    int reason = getaddrinfo(host, service, &hints, &found);
    if (reason || !found)
        return error_set(err, ERROR_FAILED, "%s: cannot be looked up: %s", host,
                         gai_strerror(reason));
    memcpy(at, found->ai_addr, found->ai_addrlen);
    *size = found->ai_addrlen;
    freeaddrinfo(found);
    return true;
}

/* Free now, and most likely when Redis binds it a moment later; if not, it ends at once and says
 * so. */
static bool server_free_port(const char *host, int *port, struct error *err)
{
    char service[16] = "";
    struct sockaddr_storage at = {0};
    socklen_t size = 0;
    if (!server_resolve(host, 0, &at, &size, err))
        return false;
    int fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool good = fd >= 0 && bind(fd, (struct sockaddr *)&at, size) == 0 &&
                getsockname(fd, (struct sockaddr *)&at, &size) == 0 &&
                getnameinfo((struct sockaddr *)&at, size, NULL, 0, service, sizeof service,
                            NI_NUMERICSERV) == 0;
    if (!good)
        error_set(err, ERROR_FAILED, "%s: no port is free: %s", host, strerror(errno));
    else
        *port = (int)strtol(service, NULL, 10);
    if (fd >= 0)
        close(fd);
    return good;
}

/* A connection is all that is tried: TLS and the password come later. */
static bool server_answers(const char *host, int port)
{
    struct sockaddr_storage at = {0};
    socklen_t size = 0;
    if (!server_resolve(host, port, &at, &size, NULL))
        return false;
    int fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool good = fd >= 0 && connect(fd, (struct sockaddr *)&at, size) == 0;
    if (fd >= 0)
        close(fd);
    return good;
}

/* Numbers of processes come again: is this one what we think? */
static bool server_is_redis(pid_t pid)
{
    char name[24], text[64];
    snprintf(name, sizeof name, "%d", (int)pid);
    return pid > 0 && proc_read(name, "comm", text, sizeof text) > 0 &&
           strncmp(text, "redis-server", 12) == 0;
}

/* The server that this folder's note is about; 0: none that lives. */
static pid_t server_running(const char *folder, char host[256], int *port)
{
    struct strbuf path = {0};
    int pid = 0, number = 0;
    strbuf_printf(&path, "%s/server", folder);
    FILE *f = fopen(path.at, "re");
    if (f && fscanf(f, "%d %255s %d", &pid, host, &number) != 3)
        pid = 0;
    if (f)
        fclose(f);
    strbuf_free(&path);
    *port = number;
    return server_is_redis(pid) ? pid : 0;
}

/* What it keeps and the key of its certificate are its owner's alone. */
static bool server_make_private(const char *folder, struct error *err)
{
    return make_parents(folder, err) &&
           (((mkdir(folder, 0700) == 0 || errno == EEXIST) && chmod(folder, 0700) == 0) ||
            error_set(err, ERROR_FAILED, "%s: no folder for the store: %s", folder,
                      strerror(errno)));
}

static bool server_write_private(const char *folder, const char *name, const void *bytes, size_t n,
                                 mode_t mode, struct error *err)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/%s", folder, name);
    unlink(path.at); /* never into a file that others may have open */
    int fd = open(path.at, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    bool good = fd >= 0 && write(fd, bytes, n) == (ssize_t)n;
    int reason = errno;
    if (fd >= 0)
        good &= close(fd) == 0;
    if (!good)
        error_set(err, ERROR_FAILED, "%s: cannot be written: %s", path.at, strerror(reason));
    strbuf_free(&path);
    return good;
}

/* Made from the key, so that every client knows which one to believe; its secret key stays in this
 * folder. */
static bool server_put_certificate(const char *folder, const struct seal_key *key,
                                   struct error *err)
{
    struct strbuf certificate = {0}, secret = {0};
    bool good =
        server_make_certificate(key, &certificate, &secret, err) &&
        server_write_private(folder, "certificate.pem", certificate.at, certificate.n, 0600, err) &&
        server_write_private(folder, "certificate.key", secret.at, secret.n, 0600, err);
    if (secret.at)
        explicit_bzero(secret.at, secret.n);
    strbuf_free(&certificate);
    strbuf_free(&secret);
    return good;
}

/* Our operations in C, five times as quick as the script; where the server cannot load them (a folder
 * from which nothing may be executed, a server without modules) it runs the script. */
static bool server_put_module(const char *folder, struct strbuf *config)
{
    if (!server_write_private(folder, REDIS_MODULE_FILE, store_module, store_module_size, 0700,
                              NULL))
        return false;
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/%s", folder, REDIS_MODULE_FILE);
    bool good = access(path.at, X_OK) == 0;
    if (good)
        strbuf_printf(config, "loadmodule \"%s\"\n", path.at);
    strbuf_free(&path);
    return good;
}

/* TLS comes first: a server that was built without it stumbles there, and says so. */
static void server_put_config(struct strbuf *out, const char *folder, const char *host, int port,
                              const struct seal_key *key)
{
    char password[STORE_PASSWORD];
    store_server_password(key, password);
    strbuf_printf(out,
                  "tls-port %d\nport 0\ntls-cert-file \"%s/certificate.pem\"\n"
                  "tls-key-file \"%s/certificate.key\"\ntls-auth-clients no\n"
                  "tls-protocols \"TLSv1.2 TLSv1.3\"\n",
                  port, folder, folder);
    strbuf_printf(out,
                  "bind %s\nrequirepass %s\nmasterauth %s\ndir \"%s\"\n"
                  "logfile \"%s/redis.log\"\nappendonly yes\nappendfsync always\nsave \"\"\n"
                  "maxmemory-policy noeviction\ndaemonize no\ntcp-backlog 511\n",
                  host, password, password, folder, folder);
    explicit_bzero(password, sizeof password);
}

/* `said`: where its words go that come before its log. */
static bool server_spawn(const struct strbuf *config, const char *said, pid_t *pid,
                         struct error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_set(err, ERROR_FAILED, "cannot make a pipe: %s", strerror(errno));
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    char *words[] = {(char *)"redis-server", (char *)"-", NULL};
    int reason = posix_spawnp(pid, words[0], &actions, &attributes, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(ends[0]);
    if (!reason && write(ends[1], config->at, config->n) != (ssize_t)config->n)
        reason = errno;
    close(ends[1]);
    if (reason == ENOENT)
        return error_set(err, ERROR_FAILED,
                         "there is no redis-server on this machine; install it (Debian: "
                         "redis-server), or give a store that runs elsewhere (--store)");
    return !reason || error_set(err, ERROR_FAILED, "redis-server: %s", strerror(reason));
}

static void server_put_url(struct strbuf *url, const char *host, int port)
{
    bool six = strchr(host, ':') != NULL;
    strbuf_printf(url, "rediss://%s%s%s:%d?auth=key", six ? "[" : "", host, six ? "]" : "", port);
}

/* It ended before anybody could connect to it. */
static bool server_explain_end(const char *log, const char *said, struct error *err)
{
    struct text text = {0};
    bool told = file_read(said, &text, NULL) && text.n;
    bool old = told && memmem(text.at, text.n, "'tls-", 5);
    text_free(&text);
    if (old)
        return error_set(err, ERROR_FAILED,
                         "the redis-server on this machine was built without TLS, and a store of a "
                         "cluster is never served in the clear; install one that has it (Debian: "
                         "redis-server 6 or later), or give a store that runs elsewhere (--store)");
    return error_set(err, ERROR_FAILED, "redis-server ended at once; %s says why",
                     told ? said : log);
}

/* It listens before it loads modules, and ends if it cannot: its log tells when it has. A server that
 * words that otherwise is believed after a second. */
static bool server_outlives_loading(const char *log, size_t from, pid_t pid)
{
    for (int i = 0; i < 200; i++) {
        struct text text = {0};
        bool ready = file_read(log, &text, NULL) && text.n > from &&
                     memmem(text.at + from, text.n - from, "Ready to accept", 15);
        text_free(&text);
        if (ready)
            return true;
        if (waitpid(pid, NULL, WNOHANG) == pid)
            return false;
        server_pause(5);
    }
    return true;
}

static size_t server_file_size(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 ? (size_t)s.st_size : 0;
}

/* Ten seconds in steps of ten milliseconds: a server that has a large file to read takes longer,
 * but answers connections before. */
static bool server_wait_for(const char *host, int port, pid_t pid, const char *log, size_t logged,
                            const char *said, struct error *err)
{
    bool good = false, over = false;
    for (int i = 0; i < 1000 && !good && !over; i++) {
        good = server_answers(host, port);
        over = waitpid(pid, NULL, WNOHANG) == pid;
        if (!good && !over)
            server_pause(10);
    }
    over = over || (good && !server_outlives_loading(log, logged, pid));
    if (over)
        good = server_explain_end(log, said, err);
    else if (!good)
        error_set(err, ERROR_FAILED,
                  "redis-server does not answer at %s:%d after 10 s; %s may say why", host, port,
                  log);
    return good;
}

/* The configuration goes through standard input: the password stands in no file and no process
 * list. The note is written before waiting, so that a killed agent leaves a server that can be
 * found. `native`: with our module; set to false where there is none. */
static bool server_try(const char *folder, const char *host, int port, const struct seal_key *key,
                       bool *native, pid_t *pid, struct error *err)
{
    struct strbuf config = {0}, path = {0}, said = {0}, line = {0}, log = {0};
    strbuf_printf(&path, "%s/server", folder);
    strbuf_printf(&said, "%s/redis.err", folder);
    strbuf_printf(&log, "%s/redis.log", folder);
    size_t logged = server_file_size(log.at);
    server_put_config(&config, folder, host, port, key);
    *native = *native && server_put_module(folder, &config);
    bool good = server_spawn(&config, said.at, pid, err);
    if (good) {
        strbuf_printf(&line, "%d %s %d\n", (int)*pid, host, port);
        good = file_write(path.at, line.at, line.n, err) &&
               server_wait_for(host, port, *pid, log.at, logged, said.at, err);
    }
    explicit_bzero(config.at, config.n);
    strbuf_free(&config);
    strbuf_free(&path);
    strbuf_free(&said);
    strbuf_free(&line);
    strbuf_free(&log);
    return good;
}

static bool server_start_new(const char *folder, const char *host, int port,
                             const struct seal_key *key, pid_t *pid, struct error *err)
{
    struct error why = {0};
    bool native = true;
    if (!server_put_certificate(folder, key, err))
        return false;
    if (server_try(folder, host, port, key, &native, pid, &why))
        return true;
    if (native && !server_is_redis(*pid)) /* it ended, perhaps for what it could not load */
        return server_try(folder, host, port, key, &(bool){false}, pid, err);
    return error_set(err, why.kind, "%s", why.text);
}

/* A server of this folder that lives is taken over: an agent that is started again finds its data.
 * Something else at the port is an error, else it would be taken for ours. */
bool store_server_start(const char *folder, const char *bind, const struct seal_key *key,
                        struct strbuf *url, pid_t *pid, struct error *err)
{
    char host[256], old[256] = "";
    int port = 0, before = 0;
    *pid = 0;
    if (!server_split_address(bind, host, &port, err) || !server_make_private(folder, err))
        return false;
    *pid = server_running(folder, old, &before);
    if (*pid && server_answers(old, before)) {
        server_put_url(url, old, before);
        return true;
    }
    if (port && server_answers(host, port)) /* else it would be taken for the one that we start */
        return error_set(err, ERROR_FAILED,
                         "--serve-store %s: something else listens there already; name another "
                         "port, or give that store with --store",
                         bind);
    char *whole = realpath(folder, NULL);
    bool good = whole != NULL || error_set(err, ERROR_FAILED, "%s: %s", folder, strerror(errno));
    good = good && (port || server_free_port(host, &port, err)) &&
           server_start_new(whole, host, port, key, pid, err);
    if (good)
        server_put_url(url, host, port);
    free(whole);
    return good;
}

pid_t store_server_running(const char *folder)
{
    char host[256];
    int port;
    return server_running(folder, host, &port);
}

/* SIGTERM lets it write its file; five seconds are waited for that. */
void store_server_stop(pid_t pid)
{
    if (!server_is_redis(pid))
        return;
    kill(pid, SIGTERM);
    for (int i = 0; i < 500 && server_is_redis(pid); i++) {
        waitpid(pid, NULL, WNOHANG); /* when it is our child */
        server_pause(10);
    }
}

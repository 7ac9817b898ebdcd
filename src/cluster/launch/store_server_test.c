/* A redis-server of one's own, started for real: TLS alone, password and certificate from the key.
 */
#include "cluster/launch/store_server.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/tree.h"
#include "store/board.h"
#include "store/redis/redis.h"
#include "tap.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[1024];

static const char *server_test_below(const char *name)
{
    static char path[2][1200];
    static unsigned next;
    char *at = path[next++ % 2];
    snprintf(at, sizeof path[0], "%s/%s", folder, name);
    return at;
}

static unsigned mode_of(const char *name)
{
    struct stat s;
    return stat(server_test_below(name), &s) == 0 ? s.st_mode & 0777 : 0;
}

static bool in_path(const char *name)
{
    char path[4096];
    const char *list = getenv("PATH");
    for (const char *at = list ? list : ""; *at;) {
        size_t n = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)n, at, name);
        if (access(path, X_OK) == 0)
            return true;
        at += n + (at[n] == ':');
    }
    return false;
}

static void server_test_unlocking(void)
{
    struct seal_key one = {{1}}, two = {{2}};
    struct store_address a = {0}, b = {0}, c = {0};
    struct error err = {0};
    ok(store_address_parse("rediss://h:1?auth=key", &a, &err) &&
           store_server_unlock(&one, &a, &err) && store_address_parse(a.text, &b, &err) &&
           store_server_unlock(&one, &b, &err) && store_address_parse(a.text, &c, &err) &&
           store_server_unlock(&two, &c, &err),
       "three holders of two keys %s", err.text);
    ok(strcmp(a.password, b.password) == 0 && strcmp(a.tls_pin, b.tls_pin) == 0,
       "one key: the same password and certificate");
    ok(strcmp(a.password, c.password) != 0 && strcmp(a.tls_pin, c.tls_pin) != 0, "another: others");
    ok(!strstr(a.text, "CERTIFICATE") && !strstr(a.text, a.password), "which stay out of the text");
    store_address_free(&a);
    store_address_free(&b);
    store_address_free(&c);
    static const struct {
        const char *url;
        bool password, pin;
    } cases[] = {
        {"redis://h?auth=key&insecure=1", true, false},
        {"rediss://h", false, false},
        {"rediss://h?auth=key&ca=/x", true, false}, /* the user says whom to believe */
        {"rediss://h?auth=key&name=n", true, false},
        {"rediss://h?auth=key&unchecked=1", true, false},
        {"rediss://h?auth=key&replicas=1", true, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool good =
            store_address_parse(cases[i].url, &a, &err) && store_server_unlock(&one, &a, &err);
        ok(good && !a.password == !cases[i].password && !a.tls_pin == !cases[i].pin, "%s",
           cases[i].url);
        store_address_free(&a);
    }
}

/* The board there, for who has this key and says it is at this address. */
static bool server_test_opens(const char *url, const struct seal_key *key, struct error *err)
{
    struct store_address a;
    error_clear(err);
    bool good = store_address_parse(url, &a, err) && store_server_unlock(key, &a, err);
    struct board *b = good ? board_open(&a, err) : NULL;
    board_close(b);
    store_address_free(&a);
    return b != NULL;
}

/* Ask without TLS: whatever comes, it is not Redis that speaks. */
static bool is_deaf(int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((uint16_t)port)};
    char answer[512] = "";
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool asked = fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0 &&
                 write(fd, "PING\r\n", 6) == 6;
    ssize_t got = asked ? read(fd, answer, sizeof answer - 1) : 0;
    if (fd >= 0)
        close(fd);
    return asked && (got <= 0 || !strpbrk(answer, "+-"));
}

static bool server_test_logged(const char *log, const char *words)
{
    struct text text = {0};
    bool found = file_read(server_test_below(log), &text, NULL) &&
                 memmem(text.at, text.n, words, strlen(words));
    text_free(&text);
    return found;
}

static void server_test_served(void)
{
    struct seal_key key, other;
    struct error err = {0};
    struct strbuf url = {0}, again = {0}, plain = {0};
    pid_t pid = 0, second = 0;
    seal_key_random(&key);
    seal_key_random(&other);
    umask(022);
    ok(store_server_start(server_test_below("store"), "127.0.0.1:0", &key, &url, &pid, &err),
       "a server %s", err.text);
    if (!pid || !url.at) {
        strbuf_free(&url);
        return;
    }
    ok(strncmp(url.at, "rediss://127.0.0.1:", 19) == 0 && strstr(url.at, "?auth=key"), "at %s",
       url.at);
    ok(server_test_logged("store/redis.log", "Module 'weftstore' loaded"), "it has our module");
    is_int(mode_of("store"), 0700, "its folder is its owner's alone");
    is_int(mode_of("store/certificate.key"), 0600, "and so is the key of its certificate");
    ok(server_test_opens(url.at, &key, &err), "who has the key is let in %s", err.text);
    ok(!server_test_opens(url.at, &other, &err), "who has another is not");
    has_str(err.text, "this store belongs to a cluster with another key", "and is told so");
    ok(is_deaf((int)strtol(strrchr(url.at, ':') + 1, NULL, 10)), "plain text is not answered");
    strbuf_printf(&plain, "%.*s?unchecked=1", (int)strcspn(url.at, "?"), url.at);
    ok(!server_test_opens(plain.at, &key, &err), "not without the password");
    has_str(err.text, "password", "which is asked for");
    ok(store_server_start(server_test_below("store"), "127.0.0.1:0", &key, &again, &second, &err) &&
           second == pid && strcmp(again.at, url.at) == 0,
       "started once more: the same one");
    store_server_stop(pid);
    ok(kill(pid, 0) != 0, "stopped");
    strbuf_clear(&again);
    ok(store_server_start(server_test_below("store"), "127.0.0.1:0", &key, &again, &second, &err) &&
           second != pid && server_test_opens(again.at, &key, &err),
       "another one over the same folder %s", err.text);
    strbuf_clear(&plain);
    strbuf_add_bytes(&plain, again.at + 9, strcspn(again.at + 9, "?"));
    pid_t third = 0;
    ok(!store_server_start(server_test_below("third"), plain.at, &key, &url, &third, &err),
       "an address that is taken");
    has_str(err.text, "something else listens there", "the error says so");
    store_server_stop(second);
    strbuf_free(&url);
    strbuf_free(&again);
    strbuf_free(&plain);
}

/* This script is the first redis-server from now on; the path before it, which the caller sets again and frees. */
static char *server_test_stand_in(const char *name, const char *script)
{
    struct error err = {0};
    char file[256], list[8192];
    const char *path = getenv("PATH");
    char *before = mem_copy_string(path ? path : "/usr/bin:/bin");
    mkdir(server_test_below(name), 0700);
    snprintf(file, sizeof file, "%s/redis-server", name);
    ok(file_write(server_test_below(file), script, strlen(script), &err) &&
           chmod(server_test_below(file), 0700) == 0,
       "a stand-in for redis-server %s", err.text);
    snprintf(list, sizeof list, "%s:%s", server_test_below(name), before);
    setenv("PATH", list, 1);
    return before;
}

/* A stand-in that says what Redis says which was built without TLS. */
static void without_tls(void)
{
    static const char script[] =
        "#!/bin/sh\n"
        "while read -r line; do case $line in tls-*)\n"
        "  echo '*** FATAL CONFIG FILE ERROR (Redis 7.0.15) ***' >&2\n"
        "  echo 'Reading the configuration file, at line 1' >&2\n"
        "  echo \">>> '$line'\" >&2\n"
        "  echo 'Bad directive or wrong number of arguments' >&2; exit 1;;\n"
        "esac; done\n"
        "exec sleep 60\n";
    struct seal_key key = {{7}};
    struct error err = {0};
    struct strbuf url = {0};
    pid_t pid = 0;
    char *before = server_test_stand_in("bin", script);
    ok(!store_server_start(server_test_below("old"), "127.0.0.1:0", &key, &url, &pid, &err) &&
           !url.at,
       "a redis-server without TLS is no store");
    has_str(err.text, "built without TLS", "the error says so");
    error_clear(&err);
    setenv("PATH", server_test_below("nothing"), 1);
    ok(!store_server_start(server_test_below("none"), "127.0.0.1:0", &key, &url, &pid, &err),
       "nor is none at all");
    has_str(err.text, "no redis-server on this machine", "the error says so");
    setenv("PATH", before, 1);
    strbuf_free(&url);
    free(before);
}

/* A stand-in that takes no modules: the store is served all the same, by the script. */
static void without_modules(void)
{
    static const char script[] = "#!/bin/sh\n"
                                 "PATH=${PATH#*:}\n"
                                 "config=$(cat)\n"
                                 "case $config in *loadmodule*) exit 1;; esac\n"
                                 "printf '%s\\n' \"$config\" >\"$0.conf\"\n"
                                 "exec redis-server \"$0.conf\"\n";
    struct seal_key key = {{7}};
    struct error err = {0};
    struct strbuf url = {0};
    pid_t pid = 0;
    char *before = server_test_stand_in("other", script);
    ok(store_server_start(server_test_below("plain"), "127.0.0.1:0", &key, &url, &pid, &err) &&
           server_test_opens(url.at, &key, &err),
       "a server that takes no modules serves a store %s", err.text);
    ok(!server_test_logged("plain/redis.log", "weftstore"), "by the script");
    setenv("PATH", before, 1);
    store_server_stop(pid);
    strbuf_free(&url);
    free(before);
}

int main(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/weft-server-XXXXXX", base ? base : P_tmpdir);
    if (!mkdtemp(folder)) {
        printf("Bail out! no temporary folder\n");
        return 1;
    }
    signal(SIGPIPE, SIG_IGN);
    TAP_DO(server_test_unlocking());
    TAP_DO(without_tls());
    if (in_path("redis-server")) {
        TAP_DO(server_test_served());
        TAP_DO(without_modules());
    } else {
        tap_skip("a server of one's own", "redis-server is not installed");
    }
    tree_remove(folder);
    return tap_done();
}

/* For the tests of the Redis store: real servers of their own, on free ports of the loopback, each
 * with its folder, ended by their process numbers. */
#pragma once
#include "store/redis/redis.h"
#include "store/redis/script.h"
#include "store/testing.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

struct server {
    int port, bus;
    pid_t pid;
    char folder[4200], address[64];
    bool native;          /* it loads our module */
    const char *more[16]; /* further arguments, NULL at the end */
};

__attribute__((unused)) static void pause_ms(int ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL);
}

__attribute__((unused)) static int free_port(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&a, size) < 0 ||
        getsockname(fd, (struct sockaddr *)&a, &size) < 0) {
        printf("Bail out! no free port\n");
        exit(1);
    }
    close(fd);
    return ntohs(a.sin_port);
}

__attribute__((unused)) static bool has_program(const char *name)
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

/* Our module as a file, where a server can load it. */
__attribute__((unused)) static void server_put_module(const struct server *s, char path[4300])
{
    snprintf(path, 4300, "%s/" REDIS_MODULE_FILE, s->folder);
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (fd < 0 || write(fd, store_module, store_module_size) != (ssize_t)store_module_size) {
        printf("Bail out! %s cannot be written\n", path);
        exit(1);
    }
    close(fd);
}

/* Run the server and wait until it takes connections (it may still be loading). */
__attribute__((unused)) static void server_run(struct server *s)
{
    char port[16], bus[16], log[4300], module[4300];
    snprintf(port, sizeof port, "%d", s->port);
    snprintf(bus, sizeof bus, "%d", s->bus);
    snprintf(log, sizeof log, "%s/log", s->folder);
    const char *args[48] = {"redis-server",
                            "--bind",
                            "127.0.0.1",
                            "--dir",
                            s->folder,
                            "--save",
                            "",
                            "--appendonly",
                            "yes",
                            "--logfile",
                            log,
                            "--appendfsync",
                            "always",
                            "--daemonize",
                            "no",
                            "--cluster-port",
                            bus};
    size_t n = 17;
    bool own_port = false;
    for (size_t i = 0; s->more[i]; i++) {
        own_port |= strcmp(s->more[i], "--tls-port") == 0;
        args[n++] = s->more[i];
    }
    if (s->native) {
        server_put_module(s, module);
        args[n++] = "--loadmodule";
        args[n++] = module;
    }
    args[n++] = own_port ? "--tls-port" : "--port";
    args[n++] = port;
    fflush(stdout);
    s->pid = fork();
    if (s->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 1);
        dup2(null, 2);
        execvp(args[0], (char *const *)args);
        _exit(127);
    }
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                            .sin_port = htons((uint16_t)s->port)};
    for (int i = 0; i < 500; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        bool up = connect(fd, (struct sockaddr *)&a, sizeof a) == 0;
        close(fd);
        if (up)
            return;
        pause_ms(10);
    }
    printf("Bail out! redis-server does not start: see %s\n", log);
    exit(1);
}

__attribute__((unused)) static void server_start(struct server *s, const char *folder,
                                                 const char *name)
{
    s->port = free_port();
    s->bus = free_port();
    snprintf(s->folder, sizeof s->folder, "%s/%s", folder, name);
    snprintf(s->address, sizeof s->address, "127.0.0.1:%d", s->port);
    mkdir(s->folder, 0700);
    server_run(s);
}

__attribute__((unused)) static void server_kill(struct server *s)
{
    if (s->pid > 0) {
        kill(s->pid, SIGKILL);
        waitpid(s->pid, NULL, 0);
    }
    s->pid = 0;
}

/* Its folder and the append-only files one level down. */
__attribute__((unused)) static void server_remove(struct server *s)
{
    char inner[4300];
    server_kill(s);
    snprintf(inner, sizeof inner, "%s/appendonlydir", s->folder);
    remove_folder(inner);
    remove_folder(s->folder);
}

/* One command, one reply as text ("" for nil); an error's text begins with its word. */
__attribute__((format(printf, 2, 3), unused)) static const char *tell(struct server *s,
                                                                      const char *fmt, ...)
{
    static char text[16384];
    redisContext *c = redisConnect("127.0.0.1", s->port);
    text[0] = 0;
    va_list args;
    va_start(args, fmt);
    redisReply *reply = c && !c->err ? redisvCommand(c, fmt, args) : NULL;
    va_end(args);
    if (reply && reply->type == REDIS_REPLY_INTEGER)
        snprintf(text, sizeof text, "%lld", reply->integer);
    else if (reply && reply->str)
        snprintf(text, sizeof text, "%s", reply->str);
    else if (!reply)
        snprintf(text, sizeof text, "no answer");
    if (reply)
        freeReplyObject(reply);
    if (c)
        redisFree(c);
    return text;
}

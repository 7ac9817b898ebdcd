/* Where a store beside the client listens, and starting it there (own_store.h). Blocks for moments:
 * Slurm is asked for a node's address. */
#include "cluster/launch/own_store.h"

#include "base/program.h"
#include "cluster/launch/store_keeper.h"
#include "cluster/launch/store_server.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HOST = 256 };
static const double unused_most = 86400; /* seconds: jobs may wait so long in Slurm's queue */

static bool address_is_loopback(const char *text)
{
    return strncmp(text, "127.", 4) == 0 || strcmp(text, "::1") == 0;
}

/* Our own end of a way to `host`: the kernel chooses it, and nothing is sent. */
static bool address_towards(const char *host, char own[static HOST])
{
    struct addrinfo hints = {.ai_socktype = SOCK_DGRAM}, *found = NULL;
    struct sockaddr_storage at;
    socklen_t size = sizeof at;
    if (getaddrinfo(host, "9", &hints, &found) != 0 || !found)
        return false;
    int fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool good = fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0 &&
                getsockname(fd, (struct sockaddr *)&at, &size) == 0 &&
                getnameinfo((struct sockaddr *)&at, size, own, HOST, NULL, 0, NI_NUMERICHOST) == 0;
    if (fd >= 0)
        close(fd);
    freeaddrinfo(found);
    return good && !address_is_loopback(own);
}

/* The first node that Slurm names: the others are on its network. */
static bool address_towards_nodes(char own[static HOST])
{
    const char *const words[] = {"sinfo", "--noheader", "--Node", "--format=%o", NULL};
    struct strbuf out = {0}, said = {0};
    bool good = program_output(words, &out, &said) && out.n;
    if (good) {
        out.at[strcspn(out.at, " \n")] = 0;
        good = address_towards(out.at, own);
    }
    strbuf_free(&out);
    strbuf_free(&said);
    return good;
}

/* Without either, 127.0.0.1: good for nodes that are this machine, as in a trial. */
static void address_of_this_machine(char own[static HOST])
{
    char name[HOST] = "";
    if (gethostname(name, sizeof name - 1) == 0 && address_towards(name, own))
        return;
    snprintf(own, HOST, "127.0.0.1");
}

bool own_store_start(const char *folder, const struct seal_key *key, struct strbuf *url,
                     struct error *err)
{
    const char *given = getenv("WEFT_SERVE_STORE");
    char own[HOST];
    struct strbuf at = {0};
    pid_t pid = 0;
    if (given && *given) {
        bool port = given[0] == '[' ? strstr(given, "]:") != NULL : strchr(given, ':') != NULL;
        strbuf_printf(&at, "%s%s", given, port ? "" : ":0");
    } else {
        if (!address_towards_nodes(own))
            address_of_this_machine(own);
        bool six = strchr(own, ':') != NULL;
        strbuf_printf(&at, "%s%s%s:0", six ? "[" : "", own, six ? "]" : "");
    }
    bool good = store_server_start(folder, at.at, key, url, &pid, err);
    if (good)
        store_keeper_start(folder, true, unused_most);
    strbuf_free(&at);
    return good;
}

void own_store_end(const char *folder)
{
    store_server_stop(store_server_running(folder));
    store_keeper_end(folder);
}

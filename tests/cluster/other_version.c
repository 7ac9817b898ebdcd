/* Somebody with the cluster's key: other_version HOST PORT KEYFILE VERSION CLUSTER NAME shakes hands with
 * an agent that it takes for NAME, of the cluster whose sealed id is in the file CLUSTER (an agent's
 * STATE/cluster, of the prefix "weft"), and prints what it is told: "open: NAME" or "refused: WHY". For
 * tests/cluster/cluster_security_test.sh. */
#include "base/seal.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static int call(const char *host, const char *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)strtol(port, NULL, 10))};
    struct timeval limit = {.tv_sec = 30};
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (inet_pton(AF_INET, host, &at.sin_addr) == 1 &&
        connect(s, (struct sockaddr *)&at, sizeof at) == 0)
        return s;
    close(s);
    return -1;
}

static bool send_all(int s, struct strbuf *out)
{
    bool good = !out->n || write(s, out->at, out->n) == (ssize_t)out->n;
    strbuf_clear(out);
    return good;
}

/* "": not with this key. */
static void read_cluster(const char *path, const struct seal_key *key,
                         char realm[static 2 * SEAL_ID + 1])
{
    static const struct seal_place place = {.purpose = "cluster weft"};
    char sealed[256];
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(sealed, 1, sizeof sealed, f) : 0;
    struct strbuf id = {0};
    if (f)
        fclose(f);
    if (seal_open_piece(key, &place, sealed, n, &id) && id.n == SEAL_ID)
        for (int i = 0; i < SEAL_ID; i++)
            snprintf(realm + 2 * i, 3, "%02x", (unsigned char)id.at[i]);
    strbuf_free(&id);
}

int main(int argc, char **argv)
{
    struct seal_key key;
    struct error err = {0};
    char realm[2 * SEAL_ID + 1] = "";
    if (argc != 7 || !seal_key_read(argv[3], &key, &err)) {
        fprintf(stderr, "other_version HOST PORT KEYFILE VERSION CLUSTER NAME: %s\n", err.text);
        return 2;
    }
    int s = call(argv[1], argv[2]);
    if (s < 0) {
        perror(argv[1]);
        return 2;
    }
    read_cluster(argv[5], &key, realm);
    struct seal *seal =
        seal_new(&key, true, (uint32_t)strtoul(argv[4], NULL, 10), "9.9.9",
                 &(struct seal_names){.realm = realm, .self = "client", .other = argv[6]});
    struct strbuf out = {0};
    char bytes[4096];
    const void *frame;
    size_t size;
    enum seal_progress p = SEAL_MORE;
    seal_begin(seal, &out);
    while (p == SEAL_MORE && send_all(s, &out)) {
        ssize_t n = read(s, bytes, sizeof bytes);
        if (n <= 0) {
            error_set(&err, ERROR_FAILED, "closed without a word");
            break;
        }
        p = seal_take(seal, bytes, (size_t)n, &out, &frame, &size, &err);
    }
    if (p == SEAL_OPEN)
        printf("open: %s\n", seal_other(seal));
    else
        printf("refused: %s\n", err.text);
    seal_free(seal);
    strbuf_free(&out);
    close(s);
    return p == SEAL_OPEN ? 0 : 1;
}

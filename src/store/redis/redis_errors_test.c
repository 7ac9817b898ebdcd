/* What goes wrong with servers of the Redis store, and who is let in: errors, passwords, impostors,
 * TLS, certificates, a server that reads its file. */
#include "base/digest.h"
#include "store/board.h"
#include "store/redis/certificate.h"
#include "store/redis/testing.h"
#include "tap.h"
#include <poll.h>

/* ---- what goes wrong ---- */

static void errors(struct server *server, const struct workflow *w, const struct workflow *other)
{
    struct error err = {0};
    struct store_redis_config c = {.workflow = w, .servers = server->address, .patience = 1};
    struct meta_answers all;
    char nobody[64];
    snprintf(nobody, sizeof nobody, "127.0.0.1:%d", free_port());
    ok(!store_redis_open(
           &(struct store_redis_config){.workflow = w, .servers = nobody, .patience = 1}, NULL,
           &err),
       "no server");
    has_str(err.text, "Connection refused", "says so");
    error_clear(&err);
    ok(!store_redis_open(&(struct store_redis_config){.workflow = w, .servers = "host:x"}, NULL,
                         &err),
       "no address: %s", err.text);
    error_clear(&err);
    ok(!store_redis_open(&(struct store_redis_config){.workflow = w, .prefix = "a{b"}, NULL, &err),
       "no prefix: %s", err.text);
    error_clear(&err);

    struct store *s = store_redis_open(&c, NULL, &err);
    ok(s != NULL, "open %s", err.text);
    struct store_redis_config wrong = c;
    wrong.workflow = other;
    ok(!store_redis_open(&wrong, NULL, &err), "another workflow under the same prefix");
    has_str(err.text, "another workflow", "says so");
    error_clear(&err);

    tell(server, "SCRIPT FLUSH");
    is_int(ask(s, OP(PUT, .task = 0, .node = 1), NULL).outcome, META_OK,
           "a server that forgot the script gets it again");
    struct pollfd fd = {store_fd(s), POLLIN, 0};
    store_submit(s, &OP(PUT, .task = 1, .node = 1), 1);
    is_int(poll(&fd, 1, 5000), 1, "the descriptor tells of answers");
    size_t got = 0;
    while (!got && store_poll(s, &all, &err) && poll(&fd, 1, 5000) >= 0)
        got += all.n;
    is_int(got, 1, "which are there");

    tell(server, "CONFIG SET maxmemory 1");
    is_int(ask(s, OP(PUT, .task = 2, .node = 1), &all).outcome, 99, "no memory: not recorded");
    ok(!store_poll(s, &all, &err), "and told");
    has_str(err.text, "memory is full", "with its cause");
    error_clear(&err);
    tell(server, "CONFIG SET maxmemory 0");
    ok(store_retry(s, &err) && store_flush(s, &err), "then it goes on %s", err.text);
    ok(store_poll(s, &all, &err) && all.n == 1 && all.at[0].outcome == META_OK, "where it was");

    tell(server, "REPLICAOF 127.0.0.1 1");
    is_int(ask(s, OP(PUT, .task = 3, .node = 1), &all).outcome, 99, "a replica: not recorded");
    ok(!store_poll(s, &all, &err), "and told");
    has_str(err.text, "READONLY", "with its cause");
    error_clear(&err);
    tell(server, "REPLICAOF NO ONE");
    ok(store_retry(s, &err) && store_flush(s, &err), "then it goes on %s", err.text);
    ok(store_poll(s, &all, &err) && all.n == 1, "likewise");

    server_kill(server);
    is_int(ask(s, OP(PUT, .task = 4, .node = 1), &all).outcome, 99, "a server that stays away");
    ok(!store_poll(s, &all, &err), "is told after a while: %s", err.text);
    error_clear(&err);
    server_run(server);
    ok(store_retry(s, &err) && store_flush(s, &err), "then it goes on %s", err.text);
    ok(store_poll(s, &all, &err) && all.n == 1, "likewise");

    tell(server, "FLUSHALL");
    is_int(ask(s, OP(GET, .task = 4), &all).outcome, 99, "a server that lost the run");
    ok(!store_poll(s, &all, &err), "is told");
    has_str(err.text, "are gone", "as that");
    ok(!store_retry(s, &err), "and cannot be repaired");
    store_close(s, NULL);

    error_clear(&err);
    c.expire = 100;
    c.prefix = "short";
    s = store_redis_open(&c, NULL, &err);
    ask(s, OP(COPY, .task = 0, .node = 3, .status = 1), NULL);
    ok(store_close(s, &err), "closed without forgetting %s", err.text);
    ok(strtol(tell(server, "TTL {short.0}:R"), NULL, 10) > 90 &&
           strtol(tell(server, "TTL {short.0}:K"), NULL, 10) > 90,
       "the run will expire, with what came later");
}

static void passwords(struct server *server, const struct workflow *w)
{
    struct error err = {0};
    struct store_redis_config c = {
        .workflow = w, .servers = server->address, .prefix = "secret", .forget = true};
    tell(server, "ACL SETUSER worker on >pass1 ~{secret.* +@all");
    tell(server, "ACL SETUSER default >pass2");
    tell(server, "CONFIG SET requirepass pass2");
    ok(!store_redis_open(&c, NULL, &err), "no password");
    has_str(err.text, "wants a password", "says so");
    error_clear(&err);
    c.password = "guess";
    ok(!store_redis_open(&c, NULL, &err), "a wrong one");
    has_str(err.text, "wrong user or password", "says so");
    ok(!strstr(err.text, "guess"), "without repeating it");
    error_clear(&err);
    c.password = "pass2";
    struct store *s = store_redis_open(&c, NULL, &err);
    ok(s != NULL && store_close(s, &err), "the right one %s", err.text);
    c.user = "worker";
    c.password = "pass1";
    s = store_redis_open(&c, NULL, &err);
    ok(s && ask(s, OP(PUT, .task = 0, .node = 1), NULL).outcome == META_OK, "a user of its own %s",
       err.text);
    store_close(s, &err);
}

/* A server of another version, or none at all: says one thing to everybody. */
static void impostors(const struct workflow *w)
{
    const char *const says[] = {"$21\r\nredis_version:6.2.14\n\r\n+OK\r\n+OK\r\n",
                                "HTTP/1.0 400 Bad Request\r\n\r\n"};
    const char *const told[] = {"needs Redis 7", "not a Redis server"};
    for (int i = 0; i < 2; i++) {
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t size = sizeof a;
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (bind(fd, (struct sockaddr *)&a, size) < 0 || listen(fd, 8) < 0 ||
            getsockname(fd, (struct sockaddr *)&a, &size) < 0)
            continue;
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;) {
                int client = accept(fd, NULL, NULL);
                char bytes[4096];
                if (read(client, bytes, sizeof bytes) > 0 &&
                    write(client, says[i], strlen(says[i])) > 0)
                    pause_ms(20);
                close(client);
            }
        }
        close(fd);
        char address[64];
        struct error err = {0};
        snprintf(address, sizeof address, "127.0.0.1:%d", ntohs(a.sin_port));
        ok(!store_redis_open(
               &(struct store_redis_config){.workflow = w, .servers = address, .patience = 1}, NULL,
               &err),
           "an impostor");
        has_str(err.text, told[i], "is seen through");
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
}

static bool run_program(const char *const *args)
{
    int status = 1;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 1);
        dup2(null, 2);
        execvp(args[0], (char *const *)args);
        _exit(127);
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void encrypted(const char *folder, const struct workflow *w)
{
    char cert[4300], key[4300];
    struct server server = {0};
    struct error err = {0};
    snprintf(cert, sizeof cert, "%s/cert.pem", folder);
    snprintf(key, sizeof key, "%s/key.pem", folder);
    const char *const make[] = {"openssl",
                                "req",
                                "-x509",
                                "-newkey",
                                "ec",
                                "-pkeyopt",
                                "ec_paramgen_curve:prime256v1",
                                "-nodes",
                                "-days",
                                "2",
                                "-subj",
                                "/CN=weft-test",
                                "-addext",
                                "subjectAltName=IP:127.0.0.1",
                                "-keyout",
                                key,
                                "-out",
                                cert,
                                NULL};
    if (!has_program("openssl") || !run_program(make)) {
        tap_skip("TLS", "openssl is not installed");
        return;
    }
    const char *const more[] = {
        "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", cert,
        "--tls-port",      "0",  "--port",         "0"};
    memcpy(server.more, more, sizeof more);
    server_start(&server, folder, "tls");
    struct store_redis_config c = {
        .workflow = w, .servers = server.address, .tls = true, .tls_ca = cert, .patience = 1};
    ok(!store_redis_open(&c, NULL, &err), "a server that wants our certificate gets none");
    error_clear(&err);
    c.tls_cert = cert;
    c.tls_key = key;
    struct store *s = store_redis_open(&c, NULL, &err);
    ok(s != NULL, "TLS %s", err.text);
    struct meta_op puts[2000];
    for (uint32_t i = 0; i < 2000; i++)
        puts[i] = OP(PUT, .task = i % w->ntasks, .node = 1);
    if (s) {
        store_submit(s, puts, 2000);
        ok(store_flush(s, &err), "2000 operations through it %s", err.text);
        struct meta_answers all;
        ok(store_poll(s, &all, &err) && all.n == 2000 && all.at[1999].outcome == META_OK,
           "and their answers");
        store_close(s, &err);
    }
    struct store_address a;
    char url[16384];
    snprintf(url, sizeof url, "rediss://%s/tls?ca=%s&cert=%s&key=%s", server.address, cert, cert,
             key);
    ok(store_address_parse(url, &a, &err), "an address with TLS %s", err.text);
    struct board *b = board_open(&a, &err);
    ok(b != NULL, "a board through TLS %s", err.text);
    board_close(b);
    store_address_free(&a);
    error_clear(&err);
    c.tls_name = "elsewhere";
    ok(!store_redis_open(&c, NULL, &err), "a server of another name is not believed");
    has_str(err.text, "mismatch", "says so");
    error_clear(&err);
    c.tls_ca = NULL;
    ok(!store_redis_open(&c, NULL, &err), "nor one that nobody vouches for: %s", err.text);
    error_clear(&err);
    c.tls_unchecked = true;
    c.patience = 30; /* who is let in may take its time: other tests have the processor */
    s = store_redis_open(&c, NULL, &err);
    ok(s != NULL, "unless told so %s", err.text);
    store_close(s, &err);
    error_clear(&err);
    c.tls = false;
    ok(!store_redis_open(&c, NULL, &err), "plain text is refused: %s", err.text);
    server_remove(&server);
}

static void write_text(const char *path, const struct strbuf *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (write(fd, text->at, text->n) != (ssize_t)text->n) {
        printf("Bail out! %s cannot be written\n", path);
        exit(1);
    }
    close(fd);
}

/* Certificates made of secrets: the same everywhere, and nobody else's. */
static void made_certificates(void)
{
    uint8_t seed[REDIS_CERTIFICATE_SEED] = {1, 2, 3}, changed[REDIS_CERTIFICATE_SEED] = {1, 2, 4};
    struct strbuf one = {0}, two = {0}, three = {0}, key = {0}, other = {0};
    struct error err = {0};
    ok(redis_certificate_make(seed, &one, &key, &err) &&
           redis_certificate_make(seed, &two, NULL, &err) &&
           redis_certificate_make(changed, &three, &other, &err),
       "certificates of two secrets %s", err.text);
    is_str(two.at, one.at, "of one secret the same bytes each time");
    ok(strcmp(one.at, three.at) != 0 && strcmp(key.at, other.at) != 0, "of another, others");
    /* The bytes themselves: agents built against another OpenSSL must make the same. */
    is_str(key.at,
           "-----BEGIN PRIVATE KEY-----\n"
           "MC4CAQAwBQYDK2VwBCIEIAECAwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"
           "-----END PRIVATE KEY-----\n",
           "the key is the secret");
    struct digest digest;
    char hex[DIGEST_TEXT];
    digest_of(one.at, one.n, &digest);
    digest_text(&digest, hex);
    is_str(hex, "6f15dcb39d8f62861a4ec7dd3ab3ecc118585e3ca42e249f5271d4624c4486b4",
           "the certificate is what it always was");
    strbuf_free(&one);
    strbuf_free(&two);
    strbuf_free(&three);
    strbuf_free(&key);
    strbuf_free(&other);
}

static void pinned(const char *folder, const struct workflow *w)
{
    char cert[4300], key[4300], url[128];
    struct server server = {0};
    struct error err = {0};
    uint8_t seed[REDIS_CERTIFICATE_SEED] = {42}, changed[REDIS_CERTIFICATE_SEED] = {43};
    struct strbuf ours = {0}, secret = {0}, theirs = {0};
    snprintf(cert, sizeof cert, "%s/made.pem", folder);
    snprintf(key, sizeof key, "%s/made.key", folder);
    ok(redis_certificate_make(seed, &ours, &secret, &err) &&
           redis_certificate_make(changed, &theirs, NULL, &err),
       "made certificates %s", err.text);
    write_text(cert, &ours);
    write_text(key, &secret);
    const char *const more[] = {
        "--tls-cert-file", cert, "--tls-key-file", key, "--tls-auth-clients", "no",
        "--tls-port",      "0",  "--port",         "0"};
    memcpy(server.more, more, sizeof more);
    server_start(&server, folder, "pinned");
    struct store_redis_config c = {
        .workflow = w, .servers = server.address, .tls = true, .tls_pin = ours.at, .patience = 1};
    struct store *s = store_redis_open(&c, NULL, &err);
    ok(s != NULL, "a store with the certificate that we make ourselves %s", err.text);
    struct meta_op puts[500];
    for (uint32_t i = 0; i < 500; i++)
        puts[i] = OP(PUT, .task = i % w->ntasks, .node = 1);
    if (s) {
        struct meta_answers all;
        store_submit(s, puts, 500);
        ok(store_flush(s, &err) && store_poll(s, &all, &err) && all.n == 500,
           "operations through it %s", err.text);
        store_close(s, &err);
    }
    c.tls_pin = theirs.at;
    c.patience = 600; /* known at once, not after a minute */
    ok(!store_redis_open(&c, NULL, &err), "a store of another key is not believed");
    has_str(err.text, "belongs to a cluster with another key", "says so");
    has_str(err.text, server.address, "and where");
    error_clear(&err);
    struct store_address a;
    snprintf(url, sizeof url, "rediss://%s/pinned", server.address);
    store_address_parse(url, &a, &err);
    a.tls_pin = mem_copy_string(theirs.at);
    ok(!board_open(&a, &err), "nor is its board");
    has_str(err.text, "belongs to a cluster with another key", "says so");
    error_clear(&err);
    free(a.tls_pin);
    a.tls_pin = mem_copy_string(ours.at);
    struct board *b = board_open(&a, &err);
    ok(b != NULL, "our own is %s", err.text);
    board_close(b);
    store_address_free(&a);
    c.patience = 1;
    c.tls_pin = "none";
    ok(!store_redis_open(&c, NULL, &err) && err.kind == ERROR_INPUT, "no certificate: %s",
       err.text);
    error_clear(&err);
    c.tls_pin = NULL;
    ok(!store_redis_open(&c, NULL, &err), "nobody else vouches for it: %s", err.text);
    error_clear(&err);
    c.tls = false;
    ok(!store_redis_open(&c, NULL, &err), "a client without TLS gets nothing");
    has_str(err.text, "rediss://", "and a hint");
    error_clear(&err);
    server_remove(&server);
    strbuf_free(&ours);
    strbuf_free(&secret);
    strbuf_free(&theirs);
}

/* A server that reads its file tells who it is, and refuses everything else until it is through:
 * opening waits for it. */
static void loading(const char *folder, const struct workflow *w)
{
    struct server server = {.more = {"--appendonly", "no"}};
    server_start(&server, folder, "loading");
    tell(&server, "EVAL %s 0", "for i = 1, 1500 do redis.call('SET', 'k' .. i, i) end");
    is_str(tell(&server, "SAVE"), "OK", "a file to read");
    server_kill(&server);
    static const char *const slowly[] = {"--key-load-delay", "1000",
                                         "--loading-process-events-interval-bytes", "1024"};
    for (size_t i = 0; i < 4; i++)
        server.more[2 + i] = slowly[i];
    server_run(&server);
    has_str(tell(&server, "GET k1"), "LOADING", "it is being read");
    struct error err = {0};
    struct store *s = store_redis_open(
        &(struct store_redis_config){.workflow = w, .servers = server.address}, NULL, &err);
    ok(s != NULL, "the store opens when it has been %s", err.text);
    if (s)
        ok(store_close(s, &err), "and closes %s", err.text);
    server_remove(&server);
}

int main(void)
{
    struct workflow *w = make_workflow(150, "t"), *other = make_workflow(30, "x");
    char folder[4096];
    TAP_DO(impostors(w));
    TAP_DO(made_certificates());
    if (!has_program("redis-server")) {
        tap_skip("errors of the Redis store", "redis-server is not installed");
    } else {
        make_folder(folder, sizeof folder);
        for (int native = 0; native < 2; native++) {
            struct server server = {.native = native};
            server_start(&server, folder, native ? "native" : "script");
            TAP_DO(errors(&server, w, other));
            TAP_DO(passwords(&server, w));
            server_remove(&server);
        }
        TAP_DO(loading(folder, w));
        TAP_DO(encrypted(folder, w));
        TAP_DO(pinned(folder, w));
        remove_folder(folder);
    }
    workflow_free(w);
    workflow_free(other);
    return tap_done();
}

/* server.h: what libmicrohttpd calls. A request is judged (access.h) before anything of it is looked at; then it is a file of the
 * page, the stream of events, or an address of a view.
 *
 *   browser ──▶ libmicrohttpd ──▶ server_handle ──▶ access_judge ──▶ page's files (asset.h)
 *                                                       │        ├──▶ events: a listener, which sleeps until something is told
 *                                                       │        └──▶ route_answer ──▶ a view's handler ──▶ the library
 *                                                       └─ refused: a sentence and a status, nothing else
 *
 * I1. Everything happens in one thread, so nothing is locked: a handler that is slow holds up every page, and is written so
 *     that it is not (it asks for a part, with a limit). Those that cannot be (plans) say so in their row and have threads of
 *     their own (slow.h), which see a copy of the request and nothing of the server; their connections sleep meanwhile, and
 *     wake only when the answer is there.
 * I2. Nothing of a request is used before its verdict: neither its path nor its body.
 * I3. A listener whose connection is suspended has been told everything; it is woken when the hub has more, and only then.
 * I4. The body of a request is bounded (REQUEST_BODY), and so are connections and values of an address: a stranger with the
 *     cookie's name but not its value costs a refusal.
 * I5. No answer is kept by a browser (no-store), and none can be shown in another site's frame. */
#include "ui/server.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/seal.h"
#include "ui/access.h"
#include "ui/asset.h"
#include "ui/events.h"
#include "ui/request.h"
#include "ui/slow.h"
#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { SERVER_CONNECTIONS = 128, SERVER_IDLE = 60, EVENT_BLOCK = 16384, BEAT_SECONDS = 15 };

/* A page that listens to events. */
struct listener {
    struct server *server;
    struct MHD_Connection *connection;
    struct listener *next;
    uint64_t at;    /* its next event */
    bool suspended; /* it has everything, and its connection sleeps */
    bool beat;      /* send a comment, so that a dead peer is noticed */
};

struct server {
    struct laboratory lab;
    struct access access;
    struct event_hub hub;
    struct listener *listeners;
    struct MHD_Daemon *daemon;
};

/* A request on its way in. */
struct incoming {
    struct MHD_Connection *connection;
    struct slow_job *job; /* that answers it; NULL: none */
    struct strbuf body;
    bool too_long;
};

/* ---- answers ---- */

/* The page may load nothing but itself, and nobody may frame it; a report, which has styles and pictures
 * inside and no script, is shown in the page's own frame, as a document without rights. */
static const char page_policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";
static const char document_policy[] =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'; sandbox";

static const char sign_in_policy[] =
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'";

static void header_add(struct MHD_Response *response, const char *name, const char *value)
{
    MHD_add_response_header(response, name, value);
}

static void headers_add(struct MHD_Response *response, const char *type, bool document)
{
    header_add(response, "Content-Type", type);
    header_add(response, "Content-Security-Policy", document ? document_policy : page_policy);
    header_add(response, "X-Content-Type-Options", "nosniff");
    header_add(response, "Referrer-Policy", "no-referrer");
    header_add(response, "Cross-Origin-Resource-Policy", "same-origin");
    header_add(response, "Cross-Origin-Opener-Policy", "same-origin");
    header_add(response, "Cache-Control", "no-store");
}

static enum MHD_Result answer_queue(struct MHD_Connection *connection, unsigned status,
                                    struct MHD_Response *response)
{
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result answer_reply(struct MHD_Connection *connection, struct reply *r)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        r->body.n, (void *)strbuf_text(&r->body), MHD_RESPMEM_MUST_COPY);
    headers_add(response, r->type, r->document);
    strbuf_free(&r->body);
    return answer_queue(connection, r->status, response);
}

/* The form in which a password is given: no script, no other file, nothing of a request in it. */
static enum MHD_Result answer_sign_in(struct MHD_Connection *connection, unsigned status,
                                      const char *sentence)
{
    struct strbuf text = {0};
    strbuf_printf(&text,
                  "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
                  "content=\"width=device-width\"><title>weft: sign in</title>"
                  "<style>:root{color-scheme:light dark}body{font:16px system-ui,sans-serif;"
                  "max-width:22rem;margin:18vh auto 0;padding:0 1rem}input,button{font:inherit;"
                  "padding:.4em .6em}</style><main><h1>weft</h1><form method=post "
                  "action=/sign-in><p><label>Password<br><input type=password name=password "
                  "autocomplete=current-password autofocus required></label> "
                  "<button>Sign in</button></p></form><p role=alert>%s</p></main></html>\n",
                  sentence);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(text.n, text.at, MHD_RESPMEM_MUST_COPY);
    strbuf_free(&text);
    headers_add(response, "text/html; charset=utf-8", false);
    MHD_del_response_header(response, "Content-Security-Policy", page_policy);
    header_add(response, "Content-Security-Policy", sign_in_policy);
    return answer_queue(connection, status, response);
}

/* Who opens the page itself reads the sentence; its questions get it as they get every other answer. */
static enum MHD_Result answer_refusal(struct server *s, struct MHD_Connection *connection,
                                      const char *path, enum access_verdict verdict)
{
    const char *sentence;
    unsigned status = access_status(verdict, &sentence);
    if (verdict != ACCESS_EXCHANGE) {
        struct reply refused = {0};
        reply_fail(&refused, status, sentence);
        if (strcmp(path, "/") == 0) {
            strbuf_clear(&refused.body);
            strbuf_printf(&refused.body, "weft: %s\n", sentence);
            refused.type = "text/plain; charset=utf-8";
        }
        return answer_reply(connection, &refused);
    }
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT);
    struct strbuf cookie = {0};
    strbuf_printf(&cookie, "%s=%s; HttpOnly; SameSite=Strict; Path=/%s", s->access.cookie,
                  s->access.session, s->access.tls ? "; Secure" : "");
    headers_add(response, "text/plain", false);
    header_add(response, "Set-Cookie", cookie.at);
    header_add(response, "Location", "/");
    strbuf_free(&cookie);
    return answer_queue(connection, status, response);
}

/* A file of the page; false: there is none of this name. */
static bool answer_asset(struct MHD_Connection *connection, const char *path,
                         enum MHD_Result *result)
{
    const char *wanted = strcmp(path, "/") == 0 ? "/page.html" : path;
    for (const struct ui_asset *a = ui_assets; a->path; a++) {
        if (strcmp(a->path, wanted) != 0)
            continue;
        struct MHD_Response *response =
            MHD_create_response_from_buffer(a->n, (void *)a->at, MHD_RESPMEM_PERSISTENT);
        headers_add(response, a->type, false);
        *result = answer_queue(connection, 200, response);
        return true;
    }
    return false;
}

/* ---- events ---- */

static ssize_t listener_read(void *context, uint64_t position, char *out, size_t room)
{
    (void)position;
    struct listener *l = context;
    size_t n = event_hub_copy(&l->server->hub, &l->at, out, room);
    if (n == 0 && l->beat && room > 8) {
        memcpy(out, ": beat\n\n", n = 8);
        l->beat = false;
    }
    if (n ==
        0) { /* until somebody tells something: a connection that is not suspended is asked at once again */
        l->suspended = true;
        MHD_suspend_connection(l->connection);
    }
    return (ssize_t)n;
}

static void listener_free(void *context)
{
    struct listener *l = context;
    struct listener **at = &l->server->listeners;
    while (*at && *at != l)
        at = &(*at)->next;
    if (*at)
        *at = l->next;
    free(l);
}

static void listeners_wake(struct server *s, bool beat)
{
    for (struct listener *l = s->listeners; l; l = l->next) {
        l->beat |= beat;
        if (l->suspended && (l->beat || l->at != s->hub.next)) {
            l->suspended = false;
            MHD_resume_connection(l->connection);
        }
    }
}

static enum MHD_Result answer_events(struct server *s, struct MHD_Connection *connection)
{
    struct listener *l = mem_alloc(sizeof *l);
    const char *last = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Last-Event-ID");
    *l = (struct listener){.server = s,
                           .connection = connection,
                           .next = s->listeners,
                           .at = event_hub_after(&s->hub, last),
                           .beat = true};
    s->listeners = l;
    struct MHD_Response *response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, EVENT_BLOCK, listener_read, l, listener_free);
    headers_add(response, "text/event-stream", false);
    return answer_queue(connection, 200, response);
}

/* ---- requests ---- */

static const char *incoming_header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result incoming_value(void *context, enum MHD_ValueKind kind, const char *name,
                                      const char *value)
{
    (void)kind;
    struct request *r = context;
    if (r->nvalues == REQUEST_VALUES)
        return MHD_NO;
    r->name[r->nvalues] = name;
    r->value[r->nvalues++] = value;
    return MHD_YES;
}

static enum MHD_Result incoming_answer(struct server *s, struct MHD_Connection *connection,
                                       const char *path, bool post, struct incoming *in)
{
    enum MHD_Result result;
    if (!post && strcmp(path, "/api/events") == 0)
        return answer_events(s, connection);
    if (!post && answer_asset(connection, path, &result))
        return result;
    struct reply reply = {0};
    if (in->too_long) {
        reply_fail(&reply, 413, "a request has at most 1 MiB");
        return answer_reply(connection, &reply);
    }
    strbuf_add(&in->body, "");
    struct request request = {.path = path, .body = in->body.at, .nbody = in->body.n};
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, incoming_value, &request);
    const struct ui_route *route = route_of(post, &request, &reply);
    if (route && *route->pattern == '~') { /* the connection sleeps until the answer is there */
        in->connection = connection;
        in->job = slow_begin(&s->lab, route, &request, in);
        if (in->job) {
            MHD_suspend_connection(connection);
            return MHD_YES;
        }
    }
    if (route)
        route_answer(route, &s->lab, &request, &reply);
    listeners_wake(s, false); /* who asked may have changed something that others see */
    return answer_reply(connection, &reply);
}

/* The body is a form's: "password=..." with what is no letter as %XX. */
static enum MHD_Result incoming_signs_in(struct server *s, struct MHD_Connection *connection,
                                         const struct access_request *asked, struct incoming *in)
{
    static const char field[] = "password=";
    const char *sentence;
    strbuf_add(&in->body, "");
    char *at = in->too_long || !in->body.at ? NULL : strstr(in->body.at, field);
    size_t n = 0;
    if (at) {
        at += sizeof field - 1;
        at[strcspn(at, "&")] = 0;
        for (char *c = at; *c; c++)
            *c = *c == '+' ? ' ' : *c;
        n = MHD_http_unescape(at);
    }
    enum access_verdict verdict =
        access_sign_in(&s->access, asked, at ? at : "", n, clock_seconds());
    unsigned status = access_status(verdict, &sentence);
    if (verdict == ACCESS_STRANGER || verdict == ACCESS_TOO_OFTEN)
        return answer_sign_in(connection, status,
                              verdict == ACCESS_STRANGER ? "That is not the password." : sentence);
    return answer_refusal(s, connection, "/", verdict);
}

/* Called by the library: once when the headers are here, then for each piece of the body, then at its end. */
static enum MHD_Result server_handle(void *context, struct MHD_Connection *connection,
                                     const char *path, const char *method, const char *version,
                                     const char *data, size_t *ndata, void **state)
{
    (void)version;
    struct server *s = context;
    struct incoming *in = *state;
    if (!in) {
        *state = mem_zero(sizeof *in);
        return MHD_YES;
    }
    if (*ndata) {
        in->too_long |= in->body.n + *ndata > REQUEST_BODY;
        if (!in->too_long)
            strbuf_add_bytes(&in->body, data, *ndata);
        *ndata = 0;
        return MHD_YES;
    }
    if (in->job) {
        struct reply reply;
        slow_take(in->job, &reply);
        in->job = NULL;
        return answer_reply(connection, &reply);
    }
    struct access_request asked = {
        .method = method,
        .host = incoming_header(connection, "Host"),
        .origin = incoming_header(connection, "Origin"),
        .site = incoming_header(connection, "Sec-Fetch-Site"),
        .cookies = incoming_header(connection, "Cookie"),
        .token = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token"),
    };
    if (s->access.signs_in && strcmp(method, "POST") == 0 && strcmp(path, "/sign-in") == 0)
        return incoming_signs_in(s, connection, &asked, in);
    enum access_verdict verdict = access_judge(&s->access, &asked);
    if (verdict == ACCESS_STRANGER && s->access.signs_in && strcmp(path, "/") == 0)
        return answer_sign_in(connection, 401, "");
    if (verdict != ACCESS_GRANTED)
        return answer_refusal(s, connection, path, verdict);
    return incoming_answer(s, connection, path, strcmp(method, "POST") == 0, in);
}

static void server_forget(void *context, struct MHD_Connection *connection, void **state,
                          enum MHD_RequestTerminationCode how)
{
    (void)context, (void)connection, (void)how;
    struct incoming *in = *state;
    struct reply unread;
    if (in &&
        in->job) { /* who asked has gone; connections wake only when their answers are there */
        slow_take(in->job, &unread);
        strbuf_free(&unread.body);
    }
    if (in)
        strbuf_free(&in->body);
    free(in);
    *state = NULL;
}

/* ---- the server ---- */

/* Where to listen; false: the text is no address. `outside`: others than this machine can reach it. */
static bool server_address(const char *text, uint16_t port, struct sockaddr_storage *out,
                           bool *outside)
{
    struct sockaddr_in *four = (struct sockaddr_in *)out;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;
    *out = (struct sockaddr_storage){0};
    if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
        *outside = ntohl(four->sin_addr.s_addr) >> 24 != 127;
        return true;
    }
    if (inet_pton(AF_INET6, text, &six->sin6_addr) != 1)
        return false;
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    *outside = !IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
    return true;
}

/* TLS 1.2 and 1.3; certificate and key stand in one text, of which the library takes each. */
static bool server_listen(struct server *s, const struct ui_options *o,
                          const struct sockaddr_storage *address, uint16_t port)
{
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, o->certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, o->certificate},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL},
    };
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (o->certificate ? MHD_USE_TLS : 0) |
                     (address->ss_family == AF_INET6 ? MHD_USE_IPv6 : 0);
    s->daemon = MHD_start_daemon(flags, port, NULL, NULL, server_handle, s, MHD_OPTION_SOCK_ADDR,
                                 address, MHD_OPTION_CONNECTION_LIMIT, SERVER_CONNECTIONS,
                                 MHD_OPTION_CONNECTION_TIMEOUT, SERVER_IDLE,
                                 MHD_OPTION_NOTIFY_COMPLETED, server_forget, s, MHD_OPTION_ARRAY,
                                 o->certificate ? tls : tls + 3, MHD_OPTION_END);
    return s->daemon != NULL;
}

/* The port that was asked for, or the first free one. 0: an error. */
static uint16_t server_open(struct server *s, const struct ui_options *o, struct error *err)
{
    uint16_t first = o->port ? o->port : UI_PORT, last = o->port ? o->port : UI_PORT + UI_PORTS - 1;
    const char *where = o->bind ? o->bind : "127.0.0.1";
    struct sockaddr_storage address;
    bool outside;
    errno = 0;
    for (uint16_t p = first; p <= last; p++) {
        if (!server_address(where, p, &address, &outside)) {
            error_set(err, ERROR_INPUT, "%s is no address; expected one such as 10.0.0.7", where);
            return 0;
        }
        if (outside && (!o->certificate || !o->password)) { /* `weft ui` has said how */
            error_set(err, ERROR_INPUT,
                      "%s can be reached by others: only with certificate and password", where);
            return 0;
        }
        if (server_listen(s, o, &address, p))
            return p;
    }
    const char * or = o->certificate ? ", or --certificate is no PEM with a certificate and its key"
                                     : "";
    if (first == last)
        error_set(err, ERROR_INPUT, "port %u cannot be listened on: %s%s; --port takes another",
                  first, strerror(errno), or);
    else
        error_set(err, ERROR_INPUT, "no port from %u to %u is free: %s%s; --port takes another",
                  first, last, strerror(errno), or);
    return 0;
}

/* Nobody tells this process what others change: runs that a terminal starts, files that an editor writes. A view looks, and
 * tells pages of it. */
static void views_look(struct server *s)
{
    for (const struct ui_view *view = ui_views; view->routes; view++) {
        if (view->look)
            view->look(&s->lab);
    }
}

/* Connections whose answers are there wake up. `all`: also those that are still to come. */
static void server_wake_answered(bool all)
{
    for (struct incoming *in; (in = slow_ended(all));)
        MHD_resume_connection(in->connection);
}

/* Until a signal: what came over the network, what the views find changed, beats. */
static void server_loop(struct server *s, int signals)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    struct pollfd polled[] = {{.fd = info->epoll_fd, .events = POLLIN},
                              {.fd = signals, .events = POLLIN},
                              {.fd = slow_open(), .events = POLLIN}};
    double looked = 0, beat = clock_seconds();
    for (;;) {
        MHD_UNSIGNED_LONG_LONG timeout = 1000;
        if (MHD_get_timeout(s->daemon, &timeout) != MHD_YES || timeout > 1000)
            timeout = 1000;
        poll(polled, 3, (int)timeout);
        if (polled[1].revents)
            return;
        server_wake_answered(false);
        double now = clock_seconds();
        if (s->listeners && now - looked >= 1) { /* nobody listens, nobody looks */
            looked = now;
            views_look(s);
            bool due = now - beat >= BEAT_SECONDS;
            if (due)
                beat = now;
            listeners_wake(s, due);
        }
        MHD_run(s->daemon);
    }
}

/* An eventfd, written by the signal handler alone. It stays open until the process ends: a signal may come at any time. */
static int server_ended = -1;

static void server_end(int number)
{
    (void)number;
    int before = errno;
    uint64_t one = 1;
    ssize_t n = write(server_ended, &one, sizeof one);
    (void)n;
    errno = before;
}

/* A handler, not a mask and a signalfd: a library (OpenBLAS, where it is installed) may have started threads before main(),
 * which take a signal that this thread has masked, and the process would die of it. */
static int server_signals(void)
{
    struct sigaction act = {.sa_handler = server_end};
    sigemptyset(&act.sa_mask);
    server_ended = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    return server_ended;
}

bool ui_serve(const struct ui_options *o, struct error *err)
{
    struct server s = {.lab = o->lab};
    unsigned char secret[32];
    char token[ACCESS_TOKEN_TEXT];
    signal(SIGPIPE, SIG_IGN);
    seal_random(secret, sizeof secret);
    for (size_t i = 0; i < sizeof secret; i++)
        snprintf(token + 2 * i, 3, "%02x", secret[i]);
    int signals = server_signals();
    uint16_t port = server_open(&s, o, err);
    if (!port)
        return false;
    char bracketed[64];
    snprintf(bracketed, sizeof bracketed, "[%.60s]", o->bind ? o->bind : "");
    access_begin(&s.access,
                 &(struct access_options){.token = token,
                                          .port = port,
                                          .read_only = o->lab.read_only,
                                          .tls = o->certificate != NULL,
                                          .hosts = o->hosts                          ? o->hosts
                                                   : o->bind && strchr(o->bind, ':') ? bracketed
                                                                                     : o->bind,
                                          .password = o->password});
    event_hub_begin(&s.hub);
    s.lab.hub = &s.hub;
    views_look(&s); /* what is there now is no news */
    printf("%s://%s/%s%s\n", s.access.tls ? "https" : "http", s.access.host[0],
           o->password ? "" : "?token=", o->password ? "" : token);
    fflush(stdout);
    server_loop(&s, signals);
    listeners_wake(&s, true);
    server_wake_answered(true);
    MHD_stop_daemon(s.daemon);
    event_hub_end(&s.hub);
    return true;
}

/* `weft ui`: starts the page's server, a program of its own (src/ui/main.c). */
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/page_secret.h"
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cli_option ui_command_options[] = {
    {"port", 0, "N", "listen on this port (default: the first free one from 8787 on)"},
    {"read-only", 0, NULL, "nothing can be changed from the page"},
    {"bind", 0, "ADDRESS", "listen there, for other machines, too (default: 127.0.0.1)"},
    {"host", 0, "NAME", "what browsers call it, instead of its address; may be repeated"},
    {"certificate", 0, "FILE", "speak TLS: PEM with a certificate and its private key"},
    {"password", 0, "FILE", "whoever knows its first line may sign in; -: from standard input"},
    {"key", 0, "FILE", "the same, with what `weft key --page` makes of a cluster's key"},
    OPTION_END,
};

static const struct cli_rule ui_rules[] = {
    {"certificate", "password key", NULL},
    {"password key", "certificate", NULL},
    {"password", NULL, "key"},
    {"host", "bind", NULL},
    RULES_END,
};

char *cli_ui_program(void)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return NULL;
    self[n] = 0;
    static const char *const places[] = {"weft-ui", "../libexec/weft/weft-ui"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *path = file_beside(self, places[i]);
        if (access(path, X_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

/* Others than this machine can reach it, by the address alone. False: an error. */
static bool ui_may_bind(const struct arguments *a, const char *bind, struct error *err)
{
    struct in_addr four;
    struct in6_addr six = {0};
    bool is_four = inet_pton(AF_INET, bind, &four) == 1;
    if (!is_four && inet_pton(AF_INET6, bind, &six) != 1)
        return error_set(err, ERROR_INPUT, "--bind is '%s'; expected an address such as 10.0.0.7",
                         bind);
    bool loopback = is_four ? ntohl(four.s_addr) >> 24 == 127 : IN6_IS_ADDR_LOOPBACK(&six);
    bool any = is_four ? four.s_addr == htonl(INADDR_ANY) : IN6_IS_ADDR_UNSPECIFIED(&six);
    if (any && !arguments_value(a, "host"))
        return error_set(err, ERROR_INPUT,
                         "--bind %s is every address of this machine: say by --host NAME which of "
                         "them browsers use",
                         bind);
    return loopback || arguments_value(a, "certificate") ||
           error_set(err, ERROR_INPUT,
                     "--bind %s can be reached from other machines: only with --certificate FILE "
                     "(TLS) and --password FILE or --key FILE. Or keep to this machine, and "
                     "forward the port: ssh -L 8787:127.0.0.1:8787 HOST",
                     bind);
}

/* A descriptor from which the server reads the secret, which is in no word of a process and no variable. -1: an error. */
static int ui_secret(const struct arguments *a, struct error *err)
{
    char secret[PAGE_SECRET];
    const char *file = arguments_value(a, "password");
    int ends[2] = {-1, -1};
    bool good = file ? page_secret_of_file(file, secret, err)
                     : page_secret_of_key(arguments_value(a, "key"), secret, err);
    size_t n = good ? strlen(secret) : 0;
    if (good && (pipe(ends) != 0 || write(ends[1], secret, n) != (ssize_t)n))
        error_set(err, ERROR_FAILED, "the server cannot be told its password: %s", strerror(errno));
    explicit_bzero(secret, sizeof secret);
    if (ends[1] >= 0)
        close(ends[1]);
    return err->kind ? -1 : ends[0];
}

/* Words for weft-ui; files by their whole names, since it is started elsewhere. */
struct ui_words {
    char *at[8];
    size_t n;
};

static void ui_words_free(struct ui_words *w)
{
    while (w->n)
        free(w->at[--w->n]);
}

static void ui_word(struct ui_words *w, const char *name, const char *value)
{
    struct strbuf word = {0};
    strbuf_printf(&word, "%s=%s", name, value);
    w->at[w->n++] = strbuf_steal(&word);
}

/* How others than this machine come in. False: an error. */
static bool ui_open_to_others(const struct arguments *a, struct ui_words *w, struct error *err)
{
    const char *bind = arguments_value(a, "bind"), *pem = arguments_value(a, "certificate");
    char number[24], whole[PATH_MAX];
    struct strbuf hosts = {0};
    if (bind && !ui_may_bind(a, bind, err))
        return false;
    if (bind)
        ui_word(w, "bind", bind);
    if (arguments_value(a, "host")) {
        const char *joined = cli_joined(a, "host", &hosts);
        ui_word(w, "hosts", joined);
        for (char *c = w->at[w->n - 1]; *c; c++)
            *c = *c == ' ' ? ',' : *c;
        strbuf_free(&hosts);
    }
    if (!pem)
        return true;
    if (!realpath(pem, whole))
        return error_set(err, ERROR_INPUT, "%s: cannot be read: %s", pem, strerror(errno));
    ui_word(w, "certificate", whole);
    int fd = ui_secret(a, err);
    snprintf(number, sizeof number, "%d", fd);
    ui_word(w, "secret", number);
    return fd >= 0;
}

/* Becomes weft-ui; returns with an error. */
static void ui_become_server(const char *asked, const char *port, bool read_only,
                             const struct ui_words *others, struct error *err)
{
    char folder[PATH_MAX], self[PATH_MAX];
    if (!realpath(asked, folder) || chdir(folder) < 0) {
        error_set(err, ERROR_INPUT, "%s cannot be opened as a folder: %s", asked, strerror(errno));
        return;
    }
    char *program = cli_ui_program();
    if (!program) {
        error_set(err, ERROR_INPUT,
                  "this weft was built without its page (there is no weft-ui beside it): install "
                  "libmicrohttpd, node and npm, then `make deps` and `make`");
        return;
    }
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    const char *words[16] = {"weft-ui", folder, port, read_only ? "read-only" : "read-write", self};
    memcpy(words + 5, others->at, others->n * sizeof *words);
    execv(program, (char *const *)words);
    error_set(err, ERROR_INPUT, "%s cannot be started: %s", program, strerror(errno));
    free(program);
}

static int ui_command(const struct arguments *a)
{
    struct error err = {0};
    struct ui_words others = {0};
    int64_t port;
    char number[24];
    if (!arguments_integer(a, "port", 0, 1, 65535, &port, &err))
        return cli_fail(&err);
    snprintf(number, sizeof number, "%lld", (long long)port);
    if (ui_open_to_others(a, &others, &err)) /* before the folder is entered: names are of here */
        ui_become_server(a->noperands ? a->operand[0] : ".", number, arguments_flag(a, "read-only"),
                         &others, &err);
    ui_words_free(&others);
    return cli_fail(&err);
}

const struct command command_ui = {
    .name = "ui",
    .operands = "[FOLDER]",
    .least = 0,
    .most = 1,
    .summary = "a page in the browser: workflows, runs, plans, experiments, clusters",
    .details =
        "Prints the address of the page and serves it until it is interrupted. The address has "
        "a\n"
        "token: whoever has it can ask what you can. The server listens on this machine "
        "alone;\n"
        "from elsewhere, forward its port: ssh -L 8787:127.0.0.1:8787 HOST. With --bind it\n"
        "listens on another address: with TLS alone, and for those who sign in.\n"
        "\n"
        "  weft ui\n"
        "  weft ui --read-only --port 9000 ~/study\n"
        "  weft ui --bind 10.0.0.7 --certificate lab.pem --password lab.password\n",
    .options = ui_command_options,
    .rules = ui_rules,
    .run = ui_command,
};

/* `weft ui`: starts the page's server, a program of its own (src/ui/main.c). */
#include "base/file.h"
#include "base/mem.h"
#include "cli/cli.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct cli_option ui_command_options[] = {
    {"port", 0, "N", "listen on this port (default: the first free one from 8787 on)"},
    {"read-only", 0, NULL, "nothing can be changed from the page"},
    OPTION_END,
};

/* Beside weft, as in a build, or where it is installed. Owned; NULL: it is in neither place. */
static char *ui_program(void)
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

static int ui_command(const struct arguments *a)
{
    struct error err = {0};
    int64_t port;
    const char *asked = a->noperands ? a->operand[0] : ".";
    if (!arguments_integer(a, "port", 0, 1, 65535, &port, &err))
        return cli_fail(&err);
    bool read_only = arguments_flag(a, "read-only");
    char folder[PATH_MAX], number[24];
    if (!realpath(asked, folder) || chdir(folder) < 0) {
        error_set(&err, ERROR_INPUT, "%s cannot be opened as a folder: %s", asked, strerror(errno));
        return cli_fail(&err);
    }
    char *program = ui_program();
    if (!program) {
        error_set(&err, ERROR_INPUT,
                  "this weft was built without its page: install libmicrohttpd, node and npm, and "
                  "`make` again");
        return cli_fail(&err);
    }
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    snprintf(number, sizeof number, "%lld", (long long)port);
    execl(program, "weft-ui", folder, number, read_only ? "read-only" : "read-write", self,
          (char *)NULL);
    error_set(&err, ERROR_INPUT, "%s cannot be started: %s", program, strerror(errno));
    free(program);
    return cli_fail(&err);
}

const struct command command_ui = {
    .name = "ui",
    .operands = "[FOLDER]",
    .least = 0,
    .most = 1,
    .summary = "a page in the browser: the runs on record, searched and looked at",
    .details =
        "Prints the address of the page and serves it until it is interrupted. The address has "
        "a\n"
        "token: whoever has it can ask what you can. The server listens on this machine "
        "alone;\n"
        "from elsewhere, forward its port: ssh -L 8787:127.0.0.1:8787 HOST.\n"
        "\n"
        "  weft ui\n"
        "  weft ui --read-only --port 9000 ~/study\n",
    .options = ui_command_options,
    .run = ui_command,
};

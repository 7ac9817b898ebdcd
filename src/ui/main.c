/* weft-ui: the page's server, a program of its own, started by `weft ui`. Apart from weft, so that a weft
 * that is copied to a cluster needs no HTTP library there, and starts as fast as before.
 *
 *   weft-ui FOLDER PORT read-only|read-write WEFT [bind=ADDRESS] [hosts=NAME,NAME] [certificate=FILE] [secret=FD]
 *
 *   weft-ui report RUN FILE        put the Run view into the report that `weft report` wrote
 *
 * A password comes through a descriptor, since everybody sees the words of a process.
 *
 * Nothing of this line is checked here beyond what is needed to be safe: `weft ui` has read the user's options, told of mistakes
 * in them, and gone to the folder. Who starts this program by hand gets what he asks for. */
#include "base/file.h"
#include "base/mem.h"
#include "ui/asset.h"
#include "ui/kept.h"
#include "ui/server.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One line; the descriptor is closed. */
static const char *main_secret(int fd)
{
    static char line[1024];
    ssize_t n = read(fd, line, sizeof line - 1);
    close(fd);
    line[n > 0 ? n : 0] = 0;
    line[strcspn(line, "\n")] = 0;
    return line;
}

/* The words behind the first four; false: one that nobody knows, or a file that cannot be read. */
static bool main_option(const char *word, struct ui_options *o, struct error *err)
{
    struct text pem;
    if (strncmp(word, "bind=", 5) == 0) {
        o->bind = word + 5;
    } else if (strncmp(word, "hosts=", 6) == 0) {
        o->hosts = word + 6;
    } else if (strncmp(word, "secret=", 7) == 0) {
        o->password = main_secret((int)strtol(word + 7, NULL, 10));
    } else if (strncmp(word, "certificate=", 12) == 0) {
        if (!file_read(word + 12, &pem, err))
            return false;
        free(o->certificate);
        o->certificate = mem_copy_bytes(pem.at, pem.n);
        text_free(&pem);
    } else {
        return error_set(err, ERROR_INPUT, "weft-ui does not know '%s'", word);
    }
    return true;
}

int main(int argc, char **argv)
{
    bool report = argc == 4 && strcmp(argv[1], "report") == 0;
    if (argc < 5 && !report) {
        fputs("weft-ui is started by `weft ui`\n", stderr);
        return 2;
    }
    if (!ui_assets[0].path) {
        fputs("weft: this weft was built without its page: install node and npm, then `make deps` "
              "and `make`\n",
              stderr);
        return 2;
    }
    struct error err = {0};
    if (report) {
        if (kept_write(strtoll(argv[2], NULL, 10), argv[3], &err))
            return 0;
        fprintf(stderr, "weft: the report has no Run view: %s\n", err.text);
        return 1;
    }
    struct ui_options o = {.lab = {.folder = argv[1],
                                   .program = argv[4],
                                   .read_only = strcmp(argv[3], "read-only") == 0},
                           .port = (uint16_t)strtoul(argv[2], NULL, 10)};
    bool good = true;
    for (int i = 5; i < argc && good; i++)
        good = main_option(argv[i], &o, &err);
    good = good && ui_serve(&o, &err);
    if (!good)
        fprintf(stderr, "weft: %s\n", err.text);
    if (o.certificate) /* with its private key */
        explicit_bzero(o.certificate, strlen(o.certificate));
    free(o.certificate);
    return good ? 0 : 2;
}

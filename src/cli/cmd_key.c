/* `weft key`: make the one secret that the members of a cluster share, or tell which one a file
 * holds. */
#include "base/json.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "session/key_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct cli_option options[] = {
    {"show", 0, NULL, "make nothing: check the file and print the eight digits of its key"},
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_END,
};

/* The folders it stands in, each for its owner alone; those that are there stay as they are. */
static bool make_folders(const char *path, struct error *err)
{
    char *part = mem_copy_string(path);
    bool good = true;
    for (char *slash = strchr(part + (*part == '/'), '/'); good && slash;
         slash = strchr(slash + 1, '/')) {
        *slash = 0;
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            good = error_set(err, ERROR_INPUT, "%s: cannot make the folder: %s", part,
                             strerror(errno));
        *slash = '/';
    }
    free(part);
    return good;
}

static int report(const struct arguments *a, const char *path, const struct seal_key *key)
{
    struct strbuf out = {0};
    char name[9];
    bool show = arguments_flag(a, "show");
    seal_key_name(key, name);
    if (arguments_flag(a, "json")) {
        struct json_writer j;
        json_write_start(&j, &out, true);
        json_write_object(&j);
        json_put_string(&j, "schema", "weft-key/1");
        json_put_string(&j, "file", path);
        json_put_string(&j, "name", name);
        json_put_bool(&j, "made", !show);
        json_write_end_object(&j);
        strbuf_add_char(&out, '\n');
    } else if (show) {
        strbuf_printf(&out, "%s\n", name);
    } else if (!arguments_flag(a, "quiet")) {
        strbuf_printf(&out, "%s: key %s; copy the file to every machine of the cluster\n", path,
                      name);
    }
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

static int run(const struct arguments *a)
{
    struct error err = {0};
    struct seal_key key;
    char *path = a->noperands ? mem_copy_string(a->operand[0]) : key_file_standard();
    bool good = path && *path;
    if (!good)
        error_set(&err, ERROR_INPUT, "there is no home folder to keep a key in: name a file");
    if (good && !arguments_flag(a, "show"))
        good = make_folders(path, &err) && seal_key_make(path, &err);
    good = good && seal_key_read(path, &key, &err);
    int status = good ? report(a, path, &key) : cli_fail(&err);
    explicit_bzero(&key, sizeof key);
    free(path);
    return status;
}

const struct command command_key = {
    .name = "key",
    .operands = "[FILE]",
    .least = 0,
    .most = 1,
    .summary = "make the key that the agents and clients of a cluster share",
    .details = "Whoever has the file can run commands on the cluster's nodes and read all of its "
               "data;\n"
               "who has not gets nothing. It is made for its owner alone (mode 0600; commands "
               "refuse\n"
               "one that others may read) and never overwritten. Without FILE it is $WEFT_KEY, "
               "else\n"
               "$XDG_CONFIG_HOME/weft/key, else ~/.config/weft/key. The eight digits tell keys "
               "apart\n"
               "and say nothing about them.\n\n"
               "examples:\n"
               "  weft key\n"
               "  weft key cluster.key\n"
               "  weft key --show cluster.key\n",
    .options = options,
    .run = run,
};

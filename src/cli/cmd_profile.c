/* `weft profile`: what holds when the command line does not say, and where it was said. */
#include "base/json.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/defaults.h"
#include "report/table.h"
#include "session/user_profile.h"

#include <stdlib.h>
#include <string.h>

static const struct cli_option profile_options[] = {OPTION_JSON, OPTION_END};

/* A row of what is shown. */
struct profile_row {
    const char *what; /* "run --jobs", "LC_ALL" */
    const char *value, *from;
};

struct profile_rows {
    ARRAY(struct profile_row) at;
    ARRAY(char *) kept; /* texts that rows point to */
};

static const char *profile_keep(struct profile_rows *r, struct strbuf *text)
{
    char *kept = strbuf_steal(text);
    array_push(&r->kept, kept);
    return kept;
}

static void profile_rows_free(struct profile_rows *r)
{
    for (size_t i = 0; i < r->kept.n; i++)
        free(r->kept.at[i]);
    array_free(&r->kept);
    array_free(&r->at);
}

/* "(default 20; 0: all)" in an option's help. The caller frees; NULL: it has none. */
static char *profile_built_in(const struct cli_option *o)
{
    const char *at = strstr(o->help, "(default");
    if (!at)
        return NULL;
    at += strlen("(default");
    at += strspn(at, ": ");
    return mem_copy_bytes(at, strcspn(at, ");"));
}

/* Every option of a command: typed, of a profile, or built in. */
static void profile_show_command(const struct arguments *of, struct profile_rows *r)
{
    for (const struct cli_option *o = of->command->options; o && o->name; o++) {
        struct strbuf name = {0};
        strbuf_printf(&name, "--%s", o->name);
        const char *what = profile_keep(r, &name);
        bool any = false;
        for (size_t i = 0; i < of->ngiven; i++) {
            const struct given *g = &of->given[i];
            if (g->option != o)
                continue;
            array_push(&r->at, (struct profile_row){what, g->value ? g->value : "true",
                                                    g->place ? g->place : "the command line"});
            any = true;
        }
        char *standard = any ? NULL : profile_built_in(o);
        if (standard)
            array_push(&r->kept, standard);
        if (!any)
            array_push(&r->at, (struct profile_row){what, standard ? standard : "-", "built in"});
    }
}

/* Everything that the profiles say. */
static void profile_show_entries(struct profile_rows *r)
{
    const struct user_profile *p = defaults_profile();
    for (size_t i = 0; i < p->at.n; i++) {
        const struct user_default *e = &p->at.at[i];
        struct strbuf name = {0};
        if (e->sort == PROFILE_OPTION)
            strbuf_printf(&name, "%s --%s", e->command, e->name);
        else if (e->sort == PROFILE_ON)
            strbuf_add(&name, "run --on");
        else
            strbuf_add(&name, e->name);
        const char *set = e->sort == PROFILE_VARIABLE ? getenv(e->name) : NULL;
        bool kept = !set || strcmp(set, e->value) == 0;
        array_push(&r->at, (struct profile_row){profile_keep(r, &name), kept ? e->value : set,
                                                kept ? e->place : "the environment"});
    }
}

static void profile_show_variables(struct profile_rows *r)
{
    const struct user_profile *p = defaults_profile();
    for (const struct known_variable *v = known_variables; v->name; v++) {
        const char *set = getenv(v->name), *place = NULL;
        for (size_t i = 0; i < p->at.n; i++)
            if (p->at.at[i].sort == PROFILE_VARIABLE && strcmp(p->at.at[i].name, v->name) == 0)
                place = p->at.at[i].place;
        if (!place) /* else it stands among the profile's */
            array_push(&r->at, (struct profile_row){v->name,
                                                    set           ? set
                                                    : v->standard ? v->standard
                                                                  : "-",
                                                    set ? "the environment" : "built in"});
    }
}

static void profile_print(const struct arguments *a, const struct profile_rows *r,
                          struct strbuf *out)
{
    if (arguments_flag(a, "json")) {
        struct json_writer j;
        json_write_start(&j, out, true);
        json_write_object(&j);
        json_put_string(&j, "schema", "weft-profile/1");
        json_write_key(&j, "settings");
        json_write_array(&j);
        for (size_t i = 0; i < r->at.n; i++) {
            json_write_object_inline(&j);
            json_put_string(&j, "name", r->at.at[i].what);
            json_put_string(&j, "value", r->at.at[i].value);
            json_put_string(&j, "from", r->at.at[i].from);
            json_write_end_object(&j);
        }
        json_write_end_array(&j);
        json_write_end_object(&j);
        strbuf_add_char(out, '\n');
        return;
    }
    struct table *t = table_new();
    table_column(t, "setting", TABLE_LEFT);
    table_column(t, "holds", TABLE_LEFT);
    table_column(t, "from", TABLE_LEFT);
    for (size_t i = 0; i < r->at.n; i++) {
        table_row(t);
        table_cell(t, r->at.at[i].what);
        table_cell(t, r->at.at[i].value);
        table_cell(t, r->at.at[i].from);
    }
    table_print(t, out, &(struct table_style){.colour = cli_colour()});
    table_free(t);
}

/* The rest of the operands is a command line of that command, of which only the options count. */
static bool profile_parse(const struct arguments *a, const struct command *c, struct arguments *out,
                          struct error *err)
{
    struct command lenient = *c;
    lenient.least = 0;
    lenient.most = SIZE_MAX;
    static struct command shown; /* arguments point to it until they are freed */
    shown = lenient;
    return arguments_parse(out, &shown, (int)a->noperands - 1, (char **)(a->operand + 1), err);
}

static int profile_command(const struct arguments *a)
{
    struct profile_rows rows = {0};
    struct strbuf out = {0};
    struct error err = {0};
    struct arguments of = {0};
    bool good = true;
    if (a->noperands) {
        const struct command *c = command_find(a->operand[0]);
        good = c ? profile_parse(a, c, &of, &err)
                 : error_set(&err, ERROR_INPUT,
                             "there is no command '%.100s'; `weft help` lists them", a->operand[0]);
        if (good)
            profile_show_command(&of, &rows);
    } else {
        profile_show_entries(&rows);
        profile_show_variables(&rows);
    }
    if (good)
        profile_print(a, &rows, &out);
    int status = good ? cli_print(&out) : cli_fail(&err);
    arguments_free(&of);
    profile_rows_free(&rows);
    strbuf_free(&out);
    return status;
}

const struct command command_profile = {
    .name = "profile",
    .operands = "[COMMAND [-- OPTIONS]]",
    .least = 0,
    .most = SIZE_MAX,
    .summary = "what holds by default, and where that is said",
    .details =
        "A profile is a YAML file with what you want by default: ~/.config/weft/profile.yaml\n"
        "($XDG_CONFIG_HOME is honoured), and over it the one that --profile names, on any "
        "command.\n"
        "What the command line says wins. `--profile none` reads neither. It must be yours (or\n"
        "root's), and nobody else may write it.\n\n"
        "  options:\n"
        "    run: { jobs: 4, keep-going: true }     options, as on the command line\n"
        "    all: { quiet: true }                   of every command that has it\n"
        "  env: { LC_ALL: C }                       variables, where they are not set\n"
        "  resources: { gpu: [0, 1], licence: 4 }   of this machine\n"
        "  on: slurm                                where `weft run` runs\n\n"
        "Alone it shows what the profiles say and the variables that weft looks at; with COMMAND\n"
        "every option of it, and behind -- what a command line would make of them.\n\n"
        "examples:\n"
        "  weft profile\n"
        "  weft profile run\n"
        "  weft profile --profile site.yaml run -- -j 2\n",
    .options = profile_options,
    .run = profile_command,
};

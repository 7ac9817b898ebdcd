/* Profiles, applied: see defaults.h. The file is read by session/user_profile.h; here its names meet the tables
 * of commands.
 *
 * A default is an option as if it had been typed, but weaker: what the command line says wins, and a
 * default that has no meaning beside it (the command's rules say so) is left out. Defaults may need each
 * other (`nodes` needs `on: slurm`), so they are tried until none fits any more. */
#include "cli/defaults.h"

#include "base/mem.h"
#include "base/suggest.h"
#include "session/user_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct user_profile profile; /* of this process; freed at its end */

const struct user_profile *defaults_profile(void)
{
    return &profile;
}

void defaults_free(void)
{
    user_profile_free(&profile);
}

/* ---- checking ---- */

static const struct cli_option *defaults_option(const struct command *c, const char *name)
{
    for (const struct cli_option *o = c->options; o && o->name; o++)
        if (strcmp(o->name, name) == 0)
            return o;
    return NULL;
}

/* Always false. */
static bool unknown_default_command(const struct user_default *e, struct error *err)
{
    const char *names[64];
    size_t n = 0;
    for (; command_registry[n] && n < 62; n++)
        names[n] = command_registry[n]->name;
    names[n++] = "all";
    const char *near = suggest_nearest(e->command, names, n);
    return error_set(
        err, ERROR_INPUT, "%s: there is no command '%.80s'%s%s%s; `weft help` lists them", e->place,
        e->command, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

/* Always false. `c` NULL: of all commands. */
static bool unknown_default(const struct user_default *e, const struct command *c,
                            struct error *err)
{
    ARRAY(const char *) names = {0};
    for (size_t i = 0; command_registry[i]; i++)
        for (const struct cli_option *o = command_registry[i]->options; o && o->name; o++)
            if (!c || c == command_registry[i])
                array_push(&names, o->name);
    const char *near = names.n ? suggest_nearest(e->name, names.at, names.n) : NULL;
    error_set(err, ERROR_INPUT, "%s: %s%s has %s option '%.80s'%s%s%s", e->place,
              c ? "weft " : "no command", c ? c->name : "", c ? "no" : "an", e->name,
              near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    array_free(&names);
    return false;
}

static bool default_value_fits(const struct user_default *e, const struct cli_option *o,
                               struct error *err)
{
    bool truth = strcmp(e->value, "true") == 0 || strcmp(e->value, "false") == 0;
    if (!o->argument && !truth)
        return error_set(err, ERROR_INPUT, "%s: %s is '%.80s'; expected true or false", e->place,
                         e->name, e->value);
    if (!*e->value)
        return error_set(err, ERROR_INPUT, "%s: %s is empty; expected %s", e->place, e->name,
                         o->argument);
    return true;
}

static bool default_is_known(const struct user_default *e, struct error *err)
{
    if (e->sort == PROFILE_VARIABLE || e->sort == PROFILE_ON)
        return true;
    bool all = e->sort == PROFILE_RESOURCES || strcmp(e->command, "all") == 0, any = false;
    const struct command *only = all ? NULL : command_find(e->command);
    if (!all && !only)
        return unknown_default_command(e, err);
    for (size_t i = 0; command_registry[i]; i++) {
        const struct cli_option *o = all || only == command_registry[i]
                                         ? defaults_option(command_registry[i], e->name)
                                         : NULL;
        if (o && e->sort == PROFILE_OPTION && !default_value_fits(e, o, err))
            return false;
        any |= o != NULL;
    }
    return any || unknown_default(e, only, err);
}

/* ---- loading ---- */

/* The value of --profile, which is taken out; NULL: it is not there. */
static bool take_profile_option(int *argc, char **argv, const char **path, struct error *err)
{
    int kept = 1;
    *path = NULL;
    for (int i = 1; i < *argc; i++) {
        const char *given = NULL;
        if (strcmp(argv[i], "--") == 0) {
            while (i < *argc)
                argv[kept++] = argv[i++];
            break;
        }
        if (strncmp(argv[i], "--profile=", 10) == 0)
            given = argv[i] + 10;
        else if (strcmp(argv[i], "--profile") == 0 && i + 1 < *argc)
            given = argv[++i];
        else if (strcmp(argv[i], "--profile") == 0)
            return error_set(err, ERROR_INPUT, "--profile needs a value: --profile FILE");
        if (given && *path && strcmp(given, *path) != 0)
            return error_set(err, ERROR_INPUT,
                             "--profile is given twice, '%.100s' and '%.100s'; which one?", *path,
                             given);
        if (given)
            *path = given;
        else
            argv[kept++] = argv[i];
    }
    *argc = kept;
    argv[kept] = NULL;
    return true;
}

bool defaults_load(int *argc, char **argv, struct error *err)
{
    const char *path;
    if (!take_profile_option(argc, argv, &path, err))
        return false;
    if (path && strcmp(path, "none") == 0)
        return true;
    char *own = user_profile_standard();
    bool good = !own || user_profile_read(&profile, own, false, err);
    free(own);
    if (!good || (path && !user_profile_read(&profile, path, true, err)))
        return false;
    for (size_t i = 0; i < profile.at.n; i++)
        if (!default_is_known(&profile.at.at[i], err))
            return false;
    /* from the last: --profile comes after the user's own, and the first that is set stays */
    for (size_t i = profile.at.n; i--;)
        if (profile.at.at[i].sort == PROFILE_VARIABLE)
            setenv(profile.at.at[i].name, profile.at.at[i].value, 0);
    return true;
}

/* ---- applying ---- */

/* Which option of the command the entry is about; NULL: none. */
static const struct cli_option *default_option(const struct command *c,
                                               const struct user_default *e)
{
    bool mine = e->sort == PROFILE_RESOURCES ||
                (e->sort == PROFILE_ON && strcmp(c->name, "run") == 0) ||
                (e->sort == PROFILE_OPTION &&
                 (strcmp(e->command, c->name) == 0 || strcmp(e->command, "all") == 0));
    return mine ? defaults_option(c, e->name) : NULL;
}

/* Does a later entry speak of the same option? --profile comes behind the user's own, and what a file
 * says of a command wins over what it says of all. */
static bool default_is_overruled(const struct command *c, size_t at, const struct cli_option *o)
{
    const struct user_default *e = &profile.at.at[at];
    bool general = e->sort == PROFILE_OPTION && strcmp(e->command, "all") == 0;
    for (size_t i = 0; i < profile.at.n; i++) {
        const struct user_default *x = &profile.at.at[i];
        if (i == at || default_option(c, x) != o)
            continue;
        bool for_all = x->sort == PROFILE_OPTION && strcmp(x->command, "all") == 0;
        if (x->chosen != e->chosen ? x->chosen : general && !for_all)
            return true;
    }
    return false;
}

/* Adds it, if the rules allow it beside what is there. */
static bool default_try(struct arguments *a, const struct cli_option *o,
                        const struct user_default *e, struct error *why)
{
    size_t before = a->ngiven;
    if (!o)
        return false;
    a->given = mem_resize(a->given, a->ngiven + 1);
    a->given[a->ngiven++] = (struct given){
        .option = o, .value = o->argument ? e->value : NULL, .place = e->place, .used = true};
    if (arguments_fit(a, why))
        return true;
    a->ngiven = before;
    return false;
}

/* Until none fits any more: one may need another. */
static void defaults_fill(struct arguments *a, bool *done, bool chosen)
{
    for (bool progress = true; progress;) {
        progress = false;
        for (size_t i = 0; i < profile.at.n; i++) {
            const struct user_default *e = &profile.at.at[i];
            struct error why = {0};
            if (!done[i] && (e->chosen || !chosen) &&
                default_try(a, default_option(a->command, e), e, &why))
                done[i] = progress = true;
        }
    }
}

void defaults_apply(struct arguments *a)
{
    size_t n = profile.at.n, typed = a->ngiven;
    bool *done = mem_new_zero(bool, n + 1);
    for (size_t i = 0; i < n; i++) {
        const struct cli_option *o = default_option(a->command, &profile.at.at[i]);
        done[i] = !o || (!o->argument && strcmp(profile.at.at[i].value, "false") == 0) ||
                  default_is_overruled(a->command, i, o);
        for (size_t k = 0; k < typed && !done[i]; k++)
            done[i] = a->given[k].option == o;
    }
    /* those of --profile first: where two exclude each other, they win */
    defaults_fill(a, done, true);
    defaults_fill(a, done, false);
    for (size_t i = 0; i < n; i++) {
        const struct user_default *e = &profile.at.at[i];
        struct error why = {0};
        /* what needs another option has no meaning now; what the command line excludes is worth a word */
        if (!done[i] && !default_try(a, default_option(a->command, e), e, &why) &&
            strstr(why.text, "beside") && !arguments_given(a, "quiet") &&
            !arguments_given(a, "json")) {
            struct strbuf text = {0};
            strbuf_printf(&text, "%s: --%s %s is left out: %s", e->place, e->name, e->value,
                          why.text);
            cli_say("note: ", strbuf_text(&text));
            strbuf_free(&text);
        }
    }
    free(done);
}

/* ---- the environment ---- */

const struct known_variable known_variables[] = {
    {"WEFT_HISTORY", "~/.local/share/weft/history.db", "the history's file; none: no history"},
    {"WEFT_STORE", "redis://127.0.0.1:6379", "where the cluster's Redis is"},
    {"WEFT_KEY", "~/.config/weft/key", "the cluster's key"},
    {"WEFT_KEEP_LOGS", NULL, "how long and how much of logs is kept"},
    {"WEFT_KEEP_MEMO", NULL, "how long and how much of what is known of computations is kept"},
    {"WEFT_KEEP_RESULTS", NULL, "how long and how much of kept results stays"},
    {"WEFT_KEEP_HISTORY", NULL, "how long and how much of the history is kept"},
    {"WEFT_SSH", "ssh", "the command that starts agents on other hosts"},
    {"WEFT_REMOTE", "weft", "the program there"},
    {"WEFT_REMOTE_STATE", NULL, "the folder of agents there"},
    {"WEFT_SBATCH", "sbatch", "the command that hands in jobs"},
    {"WEFT_SRUN", "srun", "the command that starts their agents"},
    {"WEFT_SCRATCH", NULL, "the folder of agents under Slurm"},
    {"WEFT_STORE_IDLE", NULL,
     "seconds without a connection after which a store that weft started ends"},
    {"WEFT_SERVE_STORE", NULL, "where the store of `--on slurm` listens: HOST or HOST:PORT"},
    {"WEFT_CONTAINER", NULL, "the program that runs containers: podman, docker or apptainer"},
    {"WEFT_CONTAINER_DEVICE", NULL,
     "what an id of `gpu` is to that program: amd.com/gpu={id}, none"},
    {"WEFT_CHECK_DATA", NULL, "set: functions that write past their objects are caught"},
    {"WEFT_MEMORY_FOR_DATA", NULL,
     "how much of its memory an agent uses for objects in memory (default: a quarter)"},
    {"WEFT_MEMORY_FOLDER", NULL, "where an agent keeps them: in memory (default /dev/shm)"},
    {"WEFT_AGENT_TRACE", NULL, "set: agents log every event"},
    {NULL, NULL, NULL},
};

/* What weft sets for its tasks and hooks, and what its tests have. */
static const char *const other_variables[] = {
    "WEFT_TASK",          "WEFT_ATTEMPT", "WEFT_CORES",       "WEFT_FOLDER",
    "WEFT_OWNER",         "WEFT_NODES",   "WEFT_SHARED",      "WEFT_BUILD",
    "WEFT_OTHER_VERSION", "WEFT_SHOW",    "WEFT_LIMITS_ROOT",
};

static void check_variable(const char *entry)
{
    enum {
        KNOWN = sizeof known_variables / sizeof *known_variables - 1,
        OTHER = sizeof other_variables / sizeof *other_variables,
        PREFIX = 5 /* WEFT_ */
    };
    const char *names[KNOWN + OTHER];
    char name[128];
    size_t n = strcspn(entry, "=");
    snprintf(name, sizeof name, "%.*s", (int)(n < 120 ? n : 120), entry);
    for (size_t i = 0; i < KNOWN + OTHER; i++) {
        names[i] = (i < KNOWN ? known_variables[i].name : other_variables[i - KNOWN]) + PREFIX;
        if (strcmp(names[i], name + PREFIX) == 0)
            return;
    }
    /* others nobody sets; the part that they all share would make them all near */
    const char *near = suggest_nearest(name + PREFIX, names, KNOWN);
    if (!near)
        return;
    struct strbuf text = {0};
    strbuf_printf(&text, "weft knows no variable %s, and passes it over; did you mean WEFT_%s?",
                  name, near);
    cli_say("note: ", strbuf_text(&text));
    strbuf_free(&text);
}

void defaults_check_environment(void)
{
    if (getenv("WEFT_TASK")) /* in a task, whose WEFT_... are things that it holds */
        return;
    for (char **e = environ; e && *e; e++)
        if (strncmp(*e, "WEFT_", 5) == 0)
            check_variable(*e);
}

/* Agents that we start ourselves, one process each: here, and at the other end of an ssh. Both go
 * on detached; the process that starts them ends when they are ready.
 *
 * Invariants:
 *   I1. While nobody knows where the store is, one agent at a time is started: it starts the store.
 *   I2. An agent has a starter exactly while it is STARTING, or ready and its starter still ends.
 *   I3. At most AT_ONCE starters at a time. */
#include "cluster/launch/launch_state.h"
#include "cluster/launch/shell.h"

enum { AT_ONCE = 32 }; /* ssh: a login costs the other end some work, and us a few files */

extern const char cluster_launch_ssh_agent_sh[]; /* ssh_agent.sh */

static void direct_start_more(struct launch *l);

/* Of the ssh command: only OpenSSH itself is given OpenSSH's options. */
static const char *direct_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The command for whatever shell the user has there: ssh_agent.sh with its parameters. */
static char *direct_ssh_command(const struct launch *l, const struct launch_agent *a)
{
    struct strbuf command = {0}, script = {0}, state = {0};
    const char *at = strchr(a->host, '@');
    strbuf_printf(&state, "%s/%s/%u", l->remote_state[0] ? l->remote_state : "~/.weft/agents",
                  l->name, a->number);
    launch_words words = {0};
    launch_argument(&words, "weft"); /* $0 */
    launch_argument(&words, a->bind ? a->bind : "");
    launch_argument(&words, at ? at + 1 : a->host);
    launch_argument(&words, l->program);
    launch_argument(&words, strbuf_text(&state));
    launch_argument(&words, a->serves ? "" : "-"); /* after the key, on standard input */
    launch_resources(l, a->number, &words);
    launch_common_arguments(l, &words);
    strbuf_add(&command, "exec sh -c ");
    shell_one_line(&script, cluster_launch_ssh_agent_sh);
    shell_quote(&command, strbuf_text(&script));
    for (size_t i = 0; i < words.n; i++) {
        strbuf_add_char(&command, ' ');
        shell_quote(&command, words.at[i]);
    }
    launch_arguments_free(&words);
    strbuf_free(&script);
    strbuf_free(&state);
    return strbuf_steal(&command);
}

/* The user's own words first, so that his options win; then the host, which launch_is_host() has
 * checked, and the command. */
static void direct_ssh_arguments(const struct launch *l, const struct launch_agent *a,
                                 launch_words *words)
{
    for (size_t i = 0; i < l->ssh.n; i++)
        launch_argument(words, l->ssh.at[i]);
    if (strcmp(direct_basename(l->ssh.at[0]), "ssh") == 0) {
        /* it must not ask: its standard input is the key's */
        static const char *const more[] = {"-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15"};
        for (size_t i = 0; i < sizeof more / sizeof *more; i++)
            launch_argument(words, more[i]);
    }
    launch_argument(words, a->host);
    array_push(words, direct_ssh_command(l, a));
}

/* No shell in between: nothing has to be quoted. */
static void direct_local_arguments(const struct launch *l, const struct launch_agent *a,
                                   launch_words *words)
{
    static const char *const first[] = {"agent", "--key", "-", "--detach", "--bind", "127.0.0.1:0"};
    launch_argument(words, l->program);
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        launch_argument(words, first[i]);
    struct strbuf state = {0};
    strbuf_printf(&state, "%s/agent-%u", l->state, a->number);
    launch_argument(words, "--state");
    array_push(words, strbuf_steal(&state));
    launch_argument(words, a->serves ? "--serve-store" : "--store");
    launch_argument(words, a->serves ? "127.0.0.1:0" : "-");
    launch_resources(l, a->number, words);
    launch_common_arguments(l, words);
}

/* Once the store's address is known the others can start, together. */
static void direct_line_came(void *context, const char *line)
{
    struct launch_agent *a = context;
    struct launch *l = a->launch;
    bool knew = l->store[0];
    launch_take_line(l, a, line);
    if (!knew && l->store[0])
        direct_start_more(l);
}

/* The starter ends when its agent is detached and ready; an end before that is a failure, whatever
 * its status. */
static void direct_starter_ended(void *context, int status, const char *said)
{
    struct launch_agent *a = context;
    struct launch *l = a->launch;
    a->starter = NULL;
    if (a->state == LAUNCH_STARTING) {
        bool ssh = l->kind == LAUNCH_SSH;
        struct strbuf why = {0};
        strbuf_printf(&why, "%s%s: %s", ssh ? "ssh " : "", a->name,
                      *said ? said : "ended without a word of an agent");
        strbuf_printf(&why, " (exit status %d); %s", status,
                      launch_remedy(said, status,
                                    ssh ? "try the same ssh by hand, with `weft version`"
                                        : "see its agent.log in the state folder"));
        launch_agent_failed(l, a, strbuf_text(&why));
        strbuf_free(&why);
    }
    direct_start_more(l);
}

/* The key and the store's address, which may hold a password, go through standard input and are
 * wiped after they were written: everybody can read a command line. */
static void direct_start_one(struct launch *l, struct launch_agent *a)
{
    a->state = LAUNCH_STARTING;
    a->serves = !l->store[0];
    launch_words words = {0};
    if (l->kind == LAUNCH_SSH)
        direct_ssh_arguments(l, a, &words);
    else
        direct_local_arguments(l, a, &words);
    launch_arguments_end(&words);
    struct strbuf input = {0};
    strbuf_printf(&input, "%s%s%s", l->key, l->store, a->serves ? "" : "\n");
    a->starter = subprocess_start(&(struct subprocess_config){
        .loop = l->config.loop,
        .arguments = (const char *const *)words.at,
        .input = input.at,
        .limit = l->config.patience,
        .line = direct_line_came,
        .ended = direct_starter_ended,
        .context = a,
    });
    launch_arguments_free(&words);
    explicit_bzero(input.at, input.n);
    strbuf_free(&input);
}

/* While nobody knows where the store is, one agent at a time is started: it starts the store. */
static void direct_start_more(struct launch *l)
{
    if (l->done || l->freed)
        return;
    uint32_t busy = 0;
    for (size_t i = 0; i < l->agents.n; i++)
        busy += l->agents.at[i]->starter != NULL;
    for (size_t i = 0; i < l->agents.n && busy < (l->store[0] ? AT_ONCE : 1); i++) {
        if (l->agents.at[i]->state != LAUNCH_WAITING)
            continue;
        direct_start_one(l, l->agents.at[i]);
        busy++;
    }
}

/* FAILED and ENDED ones are not counted and not tried again: a host that refused once would refuse
 * for every task. */
void launch_direct_want(struct launch *l, uint32_t agents)
{
    uint32_t there = 0;
    for (size_t i = 0; i < l->agents.n; i++) {
        uint8_t state = l->agents.at[i]->state;
        there += state == LAUNCH_WAITING || state == LAUNCH_STARTING || state == LAUNCH_READY;
    }
    for (size_t i = 0; i < l->agents.n && there < agents; i++) {
        if (l->agents.at[i]->state != LAUNCH_FREE)
            continue;
        l->agents.at[i]->state = LAUNCH_WAITING;
        there++;
    }
    direct_start_more(l);
}

/* Agents that are ready belong to their owner; what is still starting is ended with its starter. */
void launch_direct_end(struct launch *l)
{
    for (size_t i = 0; i < l->agents.n; i++) {
        struct launch_agent *a = l->agents.at[i];
        if (a->state != LAUNCH_WAITING && a->state != LAUNCH_STARTING)
            continue;
        subprocess_abandon(a->starter);
        a->starter = NULL;
        a->state = LAUNCH_ENDED;
    }
    launch_finish(l, "");
}

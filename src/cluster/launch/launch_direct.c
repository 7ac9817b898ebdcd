/* Agents that we start ourselves, one process each: here, and at the other end of an ssh. Both go
 * on detached; the process that starts them ends when they are ready. */
#include "cluster/launch/launch_state.h"

#include <stdio.h>

enum { AT_ONCE = 32 }; /* ssh: a login costs the other end some work, and us a few files */

static void start_more(struct launch *l);

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A path at the other end: `~/` is its home folder, whatever the shell makes of quotes. */
static void quote_path(struct strbuf *out, const char *path)
{
    if (strncmp(path, "~/", 2) == 0) {
        strbuf_add(out, "\"$HOME\"/");
        path += 2;
    }
    errand_quote(out, path);
}

/* One line for `sh`: the address is the one at which ssh reached the machine, which only the other
 * end knows. */
static char *remote_script(const struct launch *l, const struct launch_agent *a)
{
    struct strbuf s = {0};
    const char *at = strchr(a->host, '@');
    if (a->bind) {
        strbuf_add(&s, "a=");
        errand_quote(&s, a->bind);
    } else {
        strbuf_add(&s, "a=${SSH_CONNECTION% *}; a=${a##* }; case $a in *:*) a=\"[$a]\";; "
                       "\"\"|UNKNOWN) a=");
        errand_quote(&s, at ? at + 1 : a->host);
        strbuf_add(&s, ";; esac");
    }
    strbuf_add(&s, "; exec ");
    quote_path(&s, l->program);
    strbuf_add(&s, " agent --key - --detach --bind \"$a:0\" --state ");
    char part[64];
    snprintf(part, sizeof part, "/%s/%u", l->name, a->number);
    quote_path(&s, l->remote_state[0] ? l->remote_state : "~/.weft/agents");
    strbuf_add(&s, part);
    if (a->serves) {
        strbuf_add(&s, " --serve-store \"$a:0\"");
    } else {
        strbuf_add(&s, " --store ");
        errand_quote(&s, l->store);
    }
    launch_quote_common(l, &s);
    if (l->config.linger > 0)
        strbuf_printf(&s, " --linger %g", l->config.linger);
    return strbuf_steal(&s);
}

static void ssh_arguments(const struct launch *l, const struct launch_agent *a, launch_words *words)
{
    for (size_t i = 0; i < l->ssh.n; i++)
        launch_argument(words, l->ssh.at[i]);
    if (strcmp(last_part(l->ssh.at[0]), "ssh") == 0) {
        /* it must not ask: its standard input is the key's */
        static const char *const more[] = {"-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=15"};
        for (size_t i = 0; i < sizeof more / sizeof *more; i++)
            launch_argument(words, more[i]);
    }
    launch_argument(words, a->host);
    char *script = remote_script(l, a);
    struct strbuf command = {0}; /* for whatever shell the user has there */
    strbuf_add(&command, "exec sh -c ");
    errand_quote(&command, script);
    array_push(words, strbuf_steal(&command));
    free(script);
}

static void local_arguments(const struct launch *l, const struct launch_agent *a,
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
    launch_argument(words, a->serves ? "127.0.0.1:0" : l->store);
    launch_common_arguments(l, words);
    if (l->config.linger > 0) {
        char number[32];
        snprintf(number, sizeof number, "%g", l->config.linger);
        launch_argument(words, "--linger");
        launch_argument(words, number);
    }
}

static void line_came(void *context, const char *line)
{
    struct launch_agent *a = context;
    struct launch *l = a->launch;
    bool knew = l->store[0];
    launch_take_line(l, a, line);
    if (!knew && l->store[0])
        start_more(l);
}

static void starter_ended(void *context, int status, const char *said)
{
    struct launch_agent *a = context;
    struct launch *l = a->launch;
    a->errand = NULL;
    if (a->state == LAUNCH_STARTING) {
        bool ssh = l->kind == LAUNCH_SSH;
        struct strbuf why = {0};
        strbuf_printf(&why, "%s%s: %s", ssh ? "ssh " : "", a->name,
                      *said ? said : "ended without a word of an agent");
        strbuf_printf(&why, " (exit status %d); %s", status,
                      launch_remedy(said, status,
                                    ssh ? "try the same ssh by hand, with `weft version`"
                                        : "see its agent.log in the state folder"));
        launch_fail(l, a, strbuf_text(&why));
        strbuf_free(&why);
    }
    start_more(l);
}

static void start_one(struct launch *l, struct launch_agent *a)
{
    a->state = LAUNCH_STARTING;
    a->serves = !l->store[0];
    launch_words words = {0};
    if (l->kind == LAUNCH_SSH)
        ssh_arguments(l, a, &words);
    else
        local_arguments(l, a, &words);
    launch_arguments_end(&words);
    a->errand = errand_start(&(struct errand_config){
        .loop = l->config.loop,
        .arguments = (const char *const *)words.at,
        .input = l->key,
        .limit = l->config.patience,
        .line = line_came,
        .ended = starter_ended,
        .context = a,
    });
    launch_arguments_free(&words);
}

/* While nobody knows where the store is, one agent at a time is started: it starts the store. */
static void start_more(struct launch *l)
{
    if (l->done || l->freed)
        return;
    uint32_t busy = 0;
    for (size_t i = 0; i < l->agents.n; i++)
        busy += l->agents.at[i]->errand != NULL;
    for (size_t i = 0; i < l->agents.n && busy < (l->store[0] ? AT_ONCE : 1); i++) {
        if (l->agents.at[i]->state != LAUNCH_WAITING)
            continue;
        start_one(l, l->agents.at[i]);
        busy++;
    }
}

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
    start_more(l);
}

void launch_direct_end(struct launch *l)
{
    for (size_t i = 0; i < l->agents.n; i++) {
        struct launch_agent *a = l->agents.at[i];
        if (a->state != LAUNCH_WAITING && a->state != LAUNCH_STARTING)
            continue;
        errand_drop(a->errand);
        a->errand = NULL;
        a->state = LAUNCH_ENDED;
    }
    launch_finish(l, "");
}

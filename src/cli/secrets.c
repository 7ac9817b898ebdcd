/* A password in an address of a store: every `ps` shows a command line, and every task inherits the
 * environment. Both are cleared before anything else happens. */
#include "base/mem.h"
#include "base/strbuf.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static const char *taken_store; /* $WEFT_STORE, when it held a password */
static char *insecure_store;    /* with what --insecure-store adds; until it is asked for again */

/* The password's place and length in "redis://user:password@host"; 0: there is none. */
static size_t find_password(const char *text, const char **at)
{
    const char *scheme = strstr(text, "redis://");
    scheme = scheme ? scheme : strstr(text, "rediss://");
    if (!scheme)
        return 0;
    const char *person = strstr(scheme, "//") + 2;
    size_t n = strcspn(person, "?");
    const char *end = memrchr(person, '@', n);
    const char *colon = end ? memchr(person, ':', (size_t)(end - person)) : NULL;
    *at = colon ? colon + 1 : NULL;
    return colon ? (size_t)(end - colon) - 1 : 0;
}

void cli_hide_secrets(int argc, char **argv)
{
    const char *password;
    for (int i = 1; i < argc; i++) {
        size_t n = find_password(argv[i], &password);
        if (!n)
            continue;
        char *shown = argv[i];
        argv[i] = mem_copy_string(shown); /* for as long as the program runs */
        memset(shown + (password - shown), 'x', n);
    }
    const char *named = getenv("WEFT_STORE");
    if (named && find_password(named, &password)) {
        taken_store = mem_copy_string(named);
        unsetenv("WEFT_STORE");
    }
}

/* Who works with a cluster has its key in memory: no core file holds it, and no debugger of another
 * process of the same user reads it. Programs that this one starts are as they ever were. */
static void hide_memory(void)
{
    prctl(PR_SET_DUMPABLE, 0);
}

/* It talks to every agent, and strangers may knock: more descriptors than the 1,024 that shells give,
 * as far as the system lets us. */
static void take_descriptors(void)
{
    static const rlim_t enough = 16384;
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= enough)
        return;
    limit.rlim_cur = limit.rlim_max < enough ? limit.rlim_max : enough;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void prepare_for_cluster(const struct arguments *a)
{
    bool has_on = false;
    for (const struct cli_option *o = a->command->options; o && o->name; o++)
        has_on |= strcmp(o->name, "on") == 0;
    if (has_on && !arguments_value(a, "on"))
        return; /* here and alone */
    hide_memory();
    take_descriptors();
}

const char *cli_store(const struct arguments *a)
{
    prepare_for_cluster(a);
    const char *given = arguments_value(a, "store"), *named = getenv("WEFT_STORE");
    given = given ? given : taken_store;
    bool insecure = arguments_flag(a, "insecure-store");
    bool may_lose = arguments_takes(a, "store-may-lose") && arguments_flag(a, "store-may-lose");
    if (!insecure && !may_lose)
        return given;
    given = given ? given : named && *named ? named : "redis://127.0.0.1:6379";
    struct strbuf text = {0};
    strbuf_printf(&text, "%s%s%s%s%s", given, strchr(given, '?') ? "&" : "?",
                  insecure ? "insecure=1" : "", insecure && may_lose ? "&" : "",
                  may_lose ? "may-lose=1" : "");
    free(insecure_store);
    insecure_store = strbuf_steal(&text);
    return insecure_store;
}

/* Starting agents: what local, ssh and Slurm have in common (launch.h). How each starts them stands
 * in launch_direct.c and launch_slurm.c; what an agent says is understood here.
 *
 *     --on local:4 | ssh:a,b | slurm
 *         │ parsed and checked: a typing error costs no process
 *         ▼
 *     agents, each with a process, a host or a job ── its lines ──▶ "ready at", or why not
 *         │ all that are needed are ready, or one has failed for good
 *         ▼
 *     the client works; jobs that end are asked for again (slurm_watch.c)
 *         │ the run is over
 *         ▼
 *     told to leave, then told again, then killed; their folders go
 */
#include "base/clock.h"
#include "cluster/launch/launch.h"
#include "cluster/launch/launch_state.h"

#include "base/quantity.h"
#include "model/things.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LOCAL = 4096, MOST_HOSTS = 65536 };

bool launch_is_target(const char *text)
{
    return strncmp(text, "local:", 6) == 0 || strncmp(text, "ssh:", 4) == 0 ||
           strcmp(text, "slurm") == 0;
}

/* ---- the target ---- */

/* Numbers are places in the array and never change. */
struct launch_agent *launch_add_agent(struct launch *l, const char *name)
{
    struct launch_agent *a = mem_new_zero(struct launch_agent, 1);
    a->launch = l;
    a->number = (uint32_t)l->agents.n;
    a->name = mem_copy_string(name);
    array_push(&l->agents, a);
    return a;
}

/* Nothing that ssh could take for an option, or a shell for something else. */
static bool launch_is_host(const char *at, size_t n)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._-:%[]@";
    if (n == 0 || n > 255 || at[0] == '-' || at[0] == '@' || at[n - 1] == '@')
        return false;
    for (size_t i = 0; i < n; i++)
        if (!at[i] || !strchr(allowed, at[i]))
            return false;
    return true;
}

/* "a,user@b,c=10.0.0.1": split and checked before anything is started, so that a typing error costs
 * nothing. */
static bool launch_take_hosts(struct launch *l, const char *at, struct error *err)
{
    while (true) {
        size_t n = strcspn(at, ","), name = strcspn(at, ",=");
        if (n == 0)
            return error_set(err, ERROR_INPUT,
                             "--on %s: an empty host name; expected ssh:HOST,HOST...", l->target);
        bool has_address = name < n;
        if (!launch_is_host(at, name) ||
            (has_address && (!launch_is_host(at + name + 1, n - name - 1) ||
                             memchr(at + name + 1, '@', n - name - 1))))
            return error_set(err, ERROR_INPUT,
                             "--on %s: '%.*s' is not a host; expected [USER@]HOST[=ADDRESS]",
                             l->target, (int)n, at);
        if (l->agents.n == MOST_HOSTS)
            return error_set(err, ERROR_INPUT, "--on ssh: more than %d hosts", MOST_HOSTS);
        char *host = mem_copy_bytes(at, name);
        struct launch_agent *a = launch_add_agent(l, host);
        a->host = host;
        if (has_address)
            a->bind = mem_copy_bytes(at + name + 1, n - name - 1);
        if (!at[n])
            return true;
        at += n + 1;
    }
}

/* Local agents and hosts exist from the beginning, FREE; Slurm's are added as they are asked for.
 */
static bool launch_take_target(struct launch *l, struct error *err)
{
    const char *text = l->target;
    if (strncmp(text, "local:", 6) == 0) {
        int64_t n;
        if (!quantity_integer(text + 6, strlen(text + 6), &n) || n < 1 || n > MOST_LOCAL)
            return error_set(err, ERROR_INPUT,
                             "--on %s: expected a number of agents from 1 to %d, as in local:4",
                             text, MOST_LOCAL);
        l->kind = LAUNCH_LOCAL;
        for (int64_t i = 1; i <= n; i++) {
            char name[32];
            snprintf(name, sizeof name, "local %d", (int)i);
            launch_add_agent(l, name);
        }
        return true;
    }
    if (strncmp(text, "ssh:", 4) == 0) {
        l->kind = LAUNCH_SSH;
        return launch_take_hosts(l, text + 4, err);
    }
    l->kind = LAUNCH_SLURM;
    return strcmp(text, "slurm") == 0 ||
           error_set(err, ERROR_INPUT, "--on %s: expected local:N, ssh:HOST,HOST... or slurm",
                     text);
}

/* ---- making ---- */

/* What the caller gives wins over the environment. Never NULL. */
static const char *launch_setting(const char *given, const char *variable)
{
    const char *text = given ? given : getenv(variable);
    return text ? text : "";
}

/* At blanks; no quotes are known, as the header says. */
static void launch_split_words(launch_words *words, const char *text)
{
    for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
        size_t n = strcspn(text, " \t");
        array_push(words, mem_copy_bytes(text, n));
        text += n;
    }
}

/* A folder of ours alone: others could read the key there, or plant another store. */
static bool launch_make_state(struct launch *l, const char *path, struct error *err)
{
    char *copy = mem_copy_string(path);
    for (char *at = copy + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = 0;
        mkdir(copy, 0777);
        *at = '/';
    }
    free(copy);
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return error_set(err, ERROR_FAILED, "%s: cannot make the folder: %s", path,
                         strerror(errno));
    struct stat s;
    if (stat(path, &s) != 0 || !S_ISDIR(s.st_mode))
        return error_set(err, ERROR_FAILED, "%s: is not a folder", path);
    if (s.st_uid != geteuid() || (s.st_mode & 077 && chmod(path, 0700) != 0))
        return error_set(err, ERROR_FAILED,
                         "%s: belongs to somebody else; the cluster's key would not be safe there",
                         path);
    l->state = realpath(path, NULL);
    return l->state || error_set(err, ERROR_FAILED, "%s: %s", path, strerror(errno));
}

/* Beside it and renamed: a node that looks sees all of it or nothing. O_EXCL and O_NOFOLLOW: never
 * into a file that somebody has put there. */
bool launch_write_private(const char *path, const char *text, mode_t mode)
{
    struct strbuf temporary = {0};
    strbuf_printf(&temporary, "%s.new", path);
    unlink(strbuf_text(&temporary));
    int fd =
        open(strbuf_text(&temporary), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    size_t n = strlen(text);
    bool good = fd >= 0 && write(fd, text, n) == (ssize_t)n && fsync(fd) == 0;
    if (fd >= 0)
        good = close(fd) == 0 && good;
    good = good && rename(strbuf_text(&temporary), path) == 0;
    int kept = errno;
    if (!good)
        unlink(strbuf_text(&temporary));
    strbuf_free(&temporary);
    errno = kept;
    return good;
}

/* The last handle is closed: nobody can call back any more. */
static void launch_free_memory(struct launch *l)
{
    for (size_t i = 0; i < l->agents.n; i++) {
        struct launch_agent *a = l->agents.at[i];
        free(a->name);
        free(a->address);
        free(a->host);
        free(a->bind);
        free(a);
    }
    array_free(&l->agents);
    launch_slurm_free(l);
    launch_arguments_free(&l->ssh);
    launch_arguments_free(&l->sbatch);
    launch_arguments_free(&l->srun);
    launch_arguments_free(&l->extra);
    if (l->key)
        explicit_bzero(l->key, strlen(l->key));
    free(l->key);
    free(l->target);
    free(l->state);
    free(l->program);
    free(l->remote_state);
    free(l->store);
    free(l->why);
    free(l);
}

/* The name has to be another for each launch, not secret: jobs and folders of several launches
 * stand side by side. Without randomness the process's number does. */
struct launch *launch_new(const struct launch_config *config, struct error *err)
{
    struct launch *l = mem_new_zero(struct launch, 1);
    l->config = *config;
    if (l->config.patience <= 0)
        l->config.patience = 60;
    l->target = mem_copy_string(config->target);
    l->key = mem_copy_string(config->key);
    l->store = mem_copy_string(config->store ? config->store : "");
    const char *ssh = launch_setting(config->ssh, "WEFT_SSH");
    launch_split_words(&l->ssh, *ssh ? ssh : "ssh");
    if (l->ssh.n == 0)
        launch_argument(&l->ssh, "ssh");
    launch_split_words(&l->sbatch, launch_setting(config->sbatch, "WEFT_SBATCH"));
    launch_split_words(&l->srun, launch_setting(config->srun, "WEFT_SRUN"));
    l->remote_state = mem_copy_string(launch_setting(config->remote_state, "WEFT_REMOTE_STATE"));
    for (const char *const *word = config->extra; word && *word; word++)
        launch_argument(&l->extra, *word);
    uint32_t random = (uint32_t)getpid();
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
        random = (uint32_t)getpid();
    snprintf(l->name, sizeof l->name, "weft-%08x", random);
    bool good = launch_take_target(l, err);
    if (good) {
        const char *remote =
            l->kind == LAUNCH_LOCAL ? "" : launch_setting(config->remote, "WEFT_REMOTE");
        const char *here = config->program ? config->program : "weft";
        l->program = mem_copy_string(*remote ? remote : l->kind == LAUNCH_SSH ? "weft" : here);
        good = launch_make_state(l, config->state, err) &&
               (l->kind != LAUNCH_SLURM || launch_slurm_open(l, err));
    }
    if (!good) {
        launch_free_memory(l);
        return NULL;
    }
    uv_timer_init(config->loop, &l->timer);
    l->timer.data = l;
    l->open++;
    return l;
}

static void launch_handle_closed(uv_handle_t *handle)
{
    struct launch *l = handle->data;
    if (--l->open == 0)
        launch_free_memory(l);
}

/* Counted: the memory goes with the last one. */
void launch_close_handle(struct launch *l, uv_handle_t *handle)
{
    handle->data = l;
    uv_close(handle, launch_handle_closed);
}

/* Agents that are ready go on; starters that still run are ended. */
void launch_free(struct launch *l)
{
    if (!l || l->freed)
        return;
    l->freed = true;
    for (size_t i = 0; i < l->agents.n; i++) {
        subprocess_abandon(l->agents.at[i]->starter);
        l->agents.at[i]->starter = NULL;
    }
    launch_slurm_close(l);
    launch_close_handle(l, (uv_handle_t *)&l->timer);
}

/* ---- what is known ---- */

void launch_log(struct launch *l, const char *fmt, ...)
{
    if (!l->config.log || l->freed)
        return;
    char line[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    l->config.log(l->config.context, line);
}

const char *launch_store(const struct launch *l)
{
    return l->store;
}

const char *launch_name(const struct launch *l, uint32_t agent)
{
    return agent < l->agents.n ? l->agents.at[agent]->name : "";
}

uint32_t launch_count(const char *target, struct error *err)
{
    struct launch *l = mem_new_zero(struct launch, 1);
    l->target = mem_copy_string(target);
    uint32_t n = launch_take_target(l, err) ? (uint32_t)l->agents.n : 0;
    launch_free_memory(l);
    return n;
}

uint32_t launch_most(const struct launch *l)
{
    return l->kind == LAUNCH_SLURM ? launch_slurm_most(l) : (uint32_t)l->agents.n;
}

/* O(agents). WAITING counts as starting: it was asked for. */
struct launch_counts launch_counts(const struct launch *l)
{
    struct launch_counts c = {.waiting = launch_slurm_waiting(l)};
    for (size_t i = 0; i < l->agents.n; i++) {
        uint8_t state = l->agents.at[i]->state;
        c.starting += state == LAUNCH_WAITING || state == LAUNCH_STARTING;
        c.ready += state == LAUNCH_READY;
        c.failed += state == LAUNCH_FAILED;
        c.ended += state == LAUNCH_ENDED;
    }
    c.asked = c.starting + c.ready + c.failed + c.ended;
    return c;
}

/* ---- what agents say ---- */

/* The first to say wins. An agent's store always takes its password from the key, whatever its line
 * says. */
static void launch_take_store(struct launch *l, const char *url)
{
    if (l->store[0])
        return;
    struct strbuf text = {0};
    strbuf_add(&text, url);
    if (!strstr(url, "auth=key"))
        strbuf_add(&text, strchr(url, '?') ? "&auth=key" : "?auth=key");
    free(l->store);
    l->store = strbuf_steal(&text);
}

static bool launch_is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strncmp(address, "[::1]", 5) == 0;
}

/* One at a loopback address among others that are not cannot be reached by them. */
static void launch_warn_of_loopback(struct launch *l, struct launch_agent *a)
{
    for (size_t i = 0; i < l->agents.n; i++) {
        struct launch_agent *b = l->agents.at[i];
        if (b == a || b->state != LAUNCH_READY ||
            launch_is_loopback(a->address) == launch_is_loopback(b->address))
            continue;
        struct launch_agent *lonely = launch_is_loopback(a->address) ? a : b;
        launch_log(l,
                   "%s listens at %s, where the other machines cannot reach it; name its address "
                   "in the network: %s=ADDRESS",
                   lonely->name, lonely->address, lonely->name);
        return;
    }
}

/* Two lines matter: "weft agent: store at URL" and "weft agent: node N ready at ADDRESS". Others
 * are passed over: a login shell may greet. */
bool launch_take_line(struct launch *l, struct launch_agent *a, const char *line)
{
    static const char store[] = "weft agent: store at ", node[] = "weft agent: node ",
                      at[] = " ready at ";
    if (strncmp(line, store, sizeof store - 1) == 0) {
        launch_take_store(l, line + sizeof store - 1);
        return false;
    }
    if (strncmp(line, node, sizeof node - 1) != 0)
        return false;
    const char *number = line + sizeof node - 1;
    const char *middle = strstr(number, at);
    int64_t n;
    if (!middle || !quantity_integer(number, (size_t)(middle - number), &n) || n < 0 ||
        n > UINT32_MAX || a->state == LAUNCH_READY || !l->store[0])
        return false; /* one that serves the store says first where */
    const char *address = middle + sizeof at - 1;
    a->state = LAUNCH_READY;
    free(a->address);
    a->address = mem_copy_bytes(address, strcspn(address, " "));
    if (l->kind != LAUNCH_LOCAL)
        launch_warn_of_loopback(l, a);
    if (!l->freed)
        l->config.ready(l->config.context, a->number, (uint32_t)n, a->address);
    return true;
}

void launch_agent_failed(struct launch *l, struct launch_agent *a, const char *why)
{
    a->state = LAUNCH_FAILED;
    a->failed = clock_seconds();
    if (!l->freed)
        l->config.failed(l->config.context, a->number, why);
}

void launch_agent_ended(struct launch *l, struct launch_agent *a)
{
    a->state = LAUNCH_ENDED;
    if (!l->freed)
        l->config.ended(l->config.context, a->number);
}

/* What other programs say, and what helps. The first that fits; most special first. */
const char *launch_remedy(const char *said, int status, const char *otherwise)
{
    static const struct {
        const char *said, *remedy;
    } known[] = {
        {"Permission denied (",
         "make `ssh` to it work without a password (ssh-agent, ssh-copy-id)"},
        {"Host key verification failed", "log in by hand once and accept its host key"},
        {"Could not resolve hostname", "check the name (/etc/hosts, ~/.ssh/config)"},
        {"Connection refused", "is its sshd running, at that port?"},
        {"timed out", "is the machine up, and does the network reach it?"},
        {"No route to host", "is the machine up, and does the network reach it?"},
        {"redis-server", "install redis-server there, or give a running one with --store"},
        {"nvalid partition", "name one with WEFT_SBATCH=--partition=NAME (`sinfo` lists them)"},
        {"nvalid account", "name one with WEFT_SBATCH=--account=NAME"},
        {"Unable to contact slurm controller", "is slurmctld running? try `sinfo`"},
        {"no such program in PATH", "install it, or run where it is installed"},
        {"not found", "install weft there, or say where it is with WEFT_REMOTE"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(said, known[i].said))
            return known[i].remedy;
    return status == 127 ? "install weft there, or say where it is with WEFT_REMOTE" : otherwise;
}

/* Of this machine's things an agent on it gets every n-th: no two hand out the same id. Amounts are
 * shared. */
static void launch_deal(const struct thing_list *all, uint32_t number, uint32_t n,
                        struct strbuf *out)
{
    for (size_t i = 0; i < all->sorts.n; i++) {
        const struct thing_sort *s = &all->sorts.at[i];
        bool any = false;
        strbuf_printf(out, "%s%s=", i ? "," : "", s->name);
        if (!s->ids.n) {
            uint32_t share = s->amount / n;
            share = s->amount % THING_ONE ? share : share / THING_ONE * THING_ONE;
            thing_amount_text(share, out);
            continue;
        }
        strbuf_add_char(out, '[');
        for (size_t k = number; k < s->ids.n; k += n) {
            strbuf_printf(out, "%s%s", any ? "," : "", s->ids.at[k]);
            any = true;
        }
        strbuf_add_char(out, ']');
    }
}

void launch_resources(const struct launch *l, uint32_t number, launch_words *words)
{
    struct thing_list all = {0};
    struct error ignored = {0}; /* a text that only agents understand goes to them as it is */
    struct strbuf text = {0};
    if (!l->config.resources)
        return;
    if (l->kind == LAUNCH_LOCAL && thing_list_read(l->config.resources, &all, &ignored))
        launch_deal(&all, number, launch_most(l), &text);
    else
        strbuf_add(&text, l->config.resources);
    launch_argument(words, "--resources");
    array_push(words, strbuf_steal(&text));
    thing_list_free(&all);
}

void launch_common_arguments(const struct launch *l, launch_words *words)
{
    char number[64];
    if (l->config.cores) {
        snprintf(number, sizeof number, "%u", l->config.cores);
        launch_argument(words, "-j");
        launch_argument(words, number);
    }
    if (l->config.memory > 0) {
        snprintf(number, sizeof number, "%.0f", l->config.memory);
        launch_argument(words, "-m");
        launch_argument(words, number);
    }
    if (l->config.has && *l->config.has) {
        launch_argument(words, "--has");
        launch_argument(words, l->config.has);
    }
    launch_argument(words, "--temporary");
    for (size_t i = 0; i < l->extra.n; i++)
        launch_argument(words, l->extra.at[i]);
    if (l->config.linger > 0) {
        snprintf(number, sizeof number, "%g", l->config.linger);
        launch_argument(words, "--linger");
        launch_argument(words, number);
    }
}

/* ---- more, fewer, none ---- */

/* More than the target has is cut by those below. */
void launch_want(struct launch *l, uint32_t agents)
{
    if (l->done || l->freed)
        return;
    if (l->kind == LAUNCH_SLURM)
        launch_slurm_want(l, agents);
    else
        launch_direct_want(l, agents);
}

/* Only hosts have places to use again; Slurm gives new nodes, and squeue says late that a job is over. */
void launch_agent_left(struct launch *l, uint32_t agent)
{
    if (agent < l->agents.n && l->agents.at[agent]->state == LAUNCH_READY)
        l->agents.at[agent]->state = l->kind == LAUNCH_SLURM ? LAUNCH_ENDED : LAUNCH_FREE;
}

static void launch_report_done(uv_timer_t *timer)
{
    struct launch *l = timer->data;
    l->done(l->config.context, l->why);
}

/* Never from within the caller's call: a timer of 0 brings it from the loop. Once. */
void launch_finish(struct launch *l, const char *why)
{
    if (l->why)
        return;
    l->why = mem_copy_string(why);
    uv_timer_start(&l->timer, launch_report_done, 0, 0);
}

void launch_end(struct launch *l, double grace, void (*done)(void *context, const char *why))
{
    if (l->done || l->freed)
        return;
    l->done = done;
    if (l->kind == LAUNCH_SLURM)
        launch_slurm_end(l, grace);
    else
        launch_direct_end(l);
}

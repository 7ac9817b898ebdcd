/* A job from its ticket to its end: what must be there before tasks can run, and how it goes.
 *
 * STATE, or with `scratch` a folder of this agent's own in there:
 *
 *     STATE/runs/NUMBER/id         of the run; of another one the folder is NUMBER-ID
 *                       files      whole objects, under their names; tasks run here
 *                       partial    halves of objects that are on their way
 *                       sandbox    a folder a task
 *                       logs       what tasks wrote
 *                       memo       what was computed here, and what it gave
 *
 * I1. A job is freed by job_part_closed() when the loop has let go of its driver and executor, or
 *     at once when it has neither: whoever closes it must not use it any more.
 * I2. What an earlier life of this agent left is used only if it is whole: find_data(). */
#include "base/clock.h"
#include "cluster/agent/agent_state.h"
#include "cluster/agent/job_failures.h"
#include "base/file.h"
#include "base/tree.h"
#include "base/plural.h"
#include "exec/container.h"
#include "exec/health.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

/* Seconds for the last operations to be written: who leaves does not wait long. */
static const double closing_most = 2;

/* ---- opening ---- */

/* For those who watch: it went from `other` (NONE: who submitted the run, or follows it) to this agent. */
static void job_tell_transfer(struct job *j, uint32_t object, const struct depot_came *came)
{
    double now = job_now(j);
    outbox_event(&j->outbox, &(struct trace_event){.kind = TRACE_TRANSFER,
                                                   .id = object,
                                                   .other = link_agent_node(came->from),
                                                   .start = fmax(0, now - came->seconds),
                                                   .finish = now,
                                                   .amount = came->bytes});
}

/* The depot's three questions and answers; its contract stands in depot.h. */
static void depot_arrived(void *context, uint32_t object, bool good, const char *why)
{
    struct job *j = context;
    if (good && depot_came(j->depot))
        job_tell_transfer(j, object, depot_came(j->depot));
    supply_arrived(j, object, good, why);
    memory_files_came(j);
}

static void depot_lost(void *context, uint32_t object, const char *why)
{
    struct job *j = context;
    job_log(j, why);
    j->needs.present[object] = 0;
    job_ask(j, META_COPY, object, NONE); /* status 0: not here any more */
}

static void depot_checked(void *context, uint32_t object)
{
    supply_checked(context, object);
}

static bool depot_make(void *context, uint32_t object)
{
    return want_restore(context, object);
}

/* The submitter's predictions, which went with the ticket. */
static bool ticket_predict(void *context, uint32_t task, uint32_t node, struct prediction *out)
{
    (void)node;
    const struct job *j = context;
    if (task >= j->ticket.seconds.n)
        return false;
    *out = (struct prediction){.seconds = j->ticket.seconds.at[task], .samples = 1};
    return out->seconds > 0;
}

static char *join_path(const char *folder, const char *name)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/%s", folder, name);
    return strbuf_steal(&path);
}

/* ID as text, as its file has it. */
static void id_text(const uint8_t id[static SEAL_ID], char text[static 2 * SEAL_ID + 1])
{
    for (int i = 0; i < SEAL_ID; i++)
        snprintf(text + 2 * i, 3, "%02x", id[i]);
}

char *job_home(const struct agent *a, uint64_t run, const uint8_t id[static SEAL_ID])
{
    struct strbuf home = {0}, path = {0};
    struct text there = {0};
    struct error ignored = {0};
    char own[2 * SEAL_ID + 1];
    id_text(id, own);
    strbuf_printf(&home, "%s/runs/%llu", a->data, (unsigned long long)run);
    strbuf_printf(&path, "%s/id", home.at);
    if (file_exists(path.at) && file_read(path.at, &there, &ignored) &&
        (there.n != sizeof own - 1 || memcmp(there.at, own, there.n) != 0))
        strbuf_printf(&home, "-%.8s", own);
    text_free(&there);
    strbuf_free(&path);
    return strbuf_steal(&home);
}

/* Whose folder it is. */
static bool job_write_id(const struct job *j, struct error *err)
{
    char own[2 * SEAL_ID + 1], *path = join_path(j->home, "id");
    id_text(j->ticket.id, own);
    bool good = file_exists(path) || file_write(path, own, sizeof own - 1, err);
    free(path);
    return good;
}

/* The ticket was sealed with our key, so it is honest, but it may be another version's. */
static bool check_ticket(struct job *j, struct error *err)
{
    const struct ticket *t = &j->ticket;
    const struct workflow *w = j->w;
    struct stat s;
    bool good = (!t->priority.n || t->priority.n == w->ntasks) &&
                (!t->seconds.n || t->seconds.n == w->ntasks) && t->policy < SCHED_POLICIES &&
                fabs(t->priority_of_run) <= SHARE_PRIORITY_MOST;
    for (size_t i = 0; i < t->files.n; i++)
        good &= t->files.at[i].object < w->nobjects;
    if (!good || !w->command)
        return error_set(err, ERROR_FAILED, "its ticket does not fit its workflow");
    if (t->shared && (stat(t->folder, &s) != 0 || !S_ISDIR(s.st_mode)))
        return error_set(err, ERROR_FAILED,
                         "it runs in %.300s, a folder that is not here: %s; this agent cannot take "
                         "part in it",
                         t->folder, strerror(errno));
    /* in a shared folder nothing is brought anywhere: names are as on one machine */
    return t->shared || (depot_check_names(w, err) && depot_check_folders(w, err));
}

/* Per object: what is known of its content. Without files there is nothing to know. */
static void job_open_needs(struct job *j)
{
    const struct workflow *w = j->w;
    struct needs *n = &j->needs;
    *n = (struct needs){.w = w, .folder = j->options.folder, .memo = j->memo};
    n->environment = &j->ticket.environment;
    n->hashed_elsewhere = true;
    memo_set_folder(j->memo, j->options.folder);
    n->task = mem_new(uint8_t, w->ntasks);
    memset(n->task, NEED_PARENT, w->ntasks); /* unless this very computation is on record here */
    if (w->future) {                         /* it gets longer with the others */
        n->because = mem_new(uint32_t, w->ntasks);
        memset(n->because, 0xff, w->ntasks * sizeof *n->because); /* NONE */
    }
    n->content = mem_new_zero(struct digest, w->nobjects);
    n->bytes = mem_new(double, w->nobjects);
    memcpy(n->bytes, w->size, w->nobjects * sizeof *n->bytes);
    n->present = mem_new_zero(uint8_t, w->nobjects);
    n->run = w->ntasks;
    for (size_t i = 0; i < j->ticket.files.n; i++) {
        const struct ticket_file *f = &j->ticket.files.at[i];
        n->content[f->object] = f->digest;
        n->bytes[f->object] = f->bytes;
    }
    j->options.needs = n;
}

/* The content that should stand there: of an input by the ticket, of what a task left or a peer sent
 * by the record. False: nobody knows, and it is not used. */
static bool find_expected(const struct job *j, uint32_t object, const char *path,
                          struct digest *expected)
{
    *expected = j->needs.content[object];
    if (j->w->producer[object] == NONE && !digest_is_zero(expected))
        return true;
    return memo_recorded(j->memo, path, expected);
}

/* What an earlier life of this agent left. Nothing is read here, which could take minutes: it is
 * before it is used or sent (depot_found). A disk may have lost a bit meanwhile, or somebody may have
 * been at it. */
static void find_data(struct job *j)
{
    struct strbuf path = {0};
    char label[512];
    struct stat s;
    for (uint32_t o = 0; o < j->w->nobjects; o++) {
        const char *name = workflow_object_label(j->w, o, label, sizeof label);
        struct digest digest, expected;
        double bytes;
        struct error err = {0};
        if (name[0] == '/' || lstat(path_in(j->files, name, &path), &s) != 0)
            continue;
        bool known = find_expected(j, o, path.at, &expected);
        bool good = known;
        bytes = (double)s.st_size;
        digest = expected;
        if (known && !S_ISREG(s.st_mode)) /* a folder is as large as what is in it */
            good = memo_digest(j->memo, path.at, false, &digest, &bytes, &err) &&
                   digest_equal(&digest, &expected);
        if (!good) {
            agent_log(j->agent, "run %llu: the copy of '%s' here is %s: it is dropped",
                      (unsigned long long)j->number, name, known ? "damaged" : "on no record");
            tree_remove(path.at);
            continue;
        }
        j->needs.content[o] = digest;
        j->needs.bytes[o] = bytes;
        j->needs.present[o] = 1;
        depot_found(j->depot, o, &digest, bytes);
    }
    strbuf_free(&path);
}

/* What tasks left here in a folder that others work in, too: who attaches later is told. */
static void find_shared_data(struct job *j)
{
    struct strbuf path = {0};
    char label[512];
    struct stat s;
    for (uint32_t o = 0; o < j->w->nobjects; o++) {
        const char *name = workflow_object_label(j->w, o, label, sizeof label);
        if (j->w->producer[o] == NONE ||
            !memo_recorded(j->memo, path_in(j->options.folder, name, &path), &j->needs.content[o]))
            continue;
        j->needs.present[o] = 1;
        if (lstat(path.at, &s) == 0 && S_ISREG(s.st_mode))
            j->needs.bytes[o] = (double)s.st_size;
    }
    strbuf_free(&path);
}

/* The memo, what is known of contents, and unless the file system is shared the depot. `existed`:
 * an earlier life of this agent has been here. */
static bool job_open_data(struct job *j, bool existed, struct error *err)
{
    const struct workflow *w = j->w;
    char *memo = join_path(j->home, "memo");
    j->memo = memo_open(memo, NULL, err);
    free(memo);
    if (!j->memo)
        return false;
    job_open_needs(j);
    if (j->ticket.shared) {
        if (workflow_decides(w) || w->future) /* the store is asked what tasks have not made */
            supply_init(j);
        if (existed)
            find_shared_data(j);
        return true;
    }
    supply_init(j);
    j->depot = depot_new(&(struct depot_config){.workflow = w,
                                                .run = j->number,
                                                .folder = j->files,
                                                .partial = j->partial,
                                                .memo = j->memo,
                                                .arrived = depot_arrived,
                                                .make = depot_make,
                                                .lost = depot_lost,
                                                .checked = depot_checked,
                                                .loop = &j->agent->loop,
                                                .context = j});
    if (existed)
        find_data(j);
    return true;
}

static bool job_open_store(struct job *j, struct error *err)
{
    char prefix[128];
    struct agent *a = j->agent;
    struct seal_prover prover = charter_prover(&a->charter, j->number, j->ticket.id);
    struct store_redis_config config =
        store_address_config(a->o->store, j->number, &prover, prefix);
    config.workflow = j->w;
    struct store *store = store_redis_open(&config, NULL, err);
    if (store)
        driver_attach_store(j->driver, store);
    return store != NULL;
}

/* A log of a task that cannot be written. */
static void job_trouble(void *context, const struct error *err)
{
    struct job *j = context;
    aside_count_trouble(j->agent, health_of_error(err->text), NULL, err->text);
    job_log(j, err->text);
}

/* Inputs that some can do without, and that the submitter did not have. */
static void job_open_absent(struct job *j)
{
    const struct workflow *w = j->w;
    char label[512];
    uint32_t readings = j->needs.absent && w->in_optional ? w->in_off[w->ntasks] : 0;
    for (uint32_t i = 0; i < readings; i++) {
        uint32_t o = w->in_object[i];
        if (w->in_optional[i] && w->producer[o] == NONE && digest_is_zero(&j->needs.content[o]) &&
            workflow_object_label(w, o, label, sizeof label)[0] != '/')
            executor_set_absent(j->executor, o);
    }
}

/* All but the store. False: it cannot be worked on here, ever. */
static bool job_open_run(struct job *j, double created, struct error *err)
{
    struct agent *a = j->agent;
    j->options.workflow = j->w;
    j->options.folder = j->ticket.shared ? j->ticket.folder : j->files;
    j->options.state = j->home;
    j->options.environment = &j->ticket.environment;
    j->options.shelf = a->data;
    j->options.cores = a->o->cores;
    j->options.memory = a->memory_now;
    j->options.has = peer_capacity(a, a->node, j->w, 0).has;
    j->options.resources = a->o->resources;
    j->options.holding = a->holding;
    j->options.keep_going = j->ticket.keep_going;
    j->options.no_sandbox = j->ticket.no_sandbox;
    j->options.same_shell = true;
    /* nothing here is a user's; in a shared folder it was kept before */
    j->options.overwrite = true;
    j->options.unlimited = j->ticket.unlimited;
    j->options.retry_first = j->ticket.retry_first;
    j->options.retry_most = j->ticket.retry_most;
    j->options.priority = j->ticket.priority.n ? j->ticket.priority.at : NULL;
    j->gang_ops = (struct run_gang){gang_begin, job_blame, job_holds, j};
    j->options.gang = &j->gang_ops;
    j->node_ops = (struct run_node){aside_node_failed, j};
    j->options.node = &j->node_ops;
    j->predictor = (struct predictor){ticket_predict, j};
    struct stat s;
    bool existed = stat(j->home, &s) == 0;
    if (!make_parents(j->partial, err) || (mkdir(j->files, 0777) != 0 && errno != EEXIST))
        return error_set(err, ERROR_FAILED, "%s: cannot be made: %s", j->files, strerror(errno));
    if (!job_write_id(j, err))
        return false;
    memory_files_open(j);
    if (existed && j->w->container) { /* an earlier life of this agent left them */
        char label[CONTAINER_LABEL];
        container_label(j->home, label);
        container_end_all(label);
    }
    if ((j->w->nobjects || j->w->future) && !job_open_data(j, existed, err))
        return false;
    j->driver = driver_new(&(struct driver_config){.loop = &a->loop,
                                                   .ops = &job_driver_ops,
                                                   .context = j,
                                                   .began = created - a->server_offset});
    j->open_parts++;
    j->outbox.lists_logs = true;
    j->executor = executor_new(&(struct executor_config){.loop = &a->loop,
                                                         .options = &j->options,
                                                         .driver = j->driver,
                                                         .outbox = &j->outbox,
                                                         .result = &j->result,
                                                         .trouble = job_trouble,
                                                         .context = j},
                               err);
    j->open_parts += j->executor != NULL;
    if (j->executor)
        job_open_absent(j);
    if (existed)
        job_read_failures(j);
    return j->executor != NULL;
}

/* The ticket was made with our key for this number in this cluster; it is that of the run which the
 * board shows, and of one that is not over. */
static bool job_open_ticket(struct job *j, struct loading *run, struct error *err)
{
    if (!run->ticket.n)
        return error_set(
            err, ERROR_FAILED, "%s",
            run->is_over ? "it is over: its results were taken while it was being read"
                         : "its ticket was not made for this number in this cluster with this key, "
                           "and is not looked at");
    const struct agent *a = j->agent;
    bool good = ticket_read(&run->ticket, &j->ticket, err);
    if (good && run->opened && memcmp(run->id, j->ticket.id, sizeof run->id) != 0)
        return error_set(err, ERROR_FAILED,
                         "its ticket is that of another run, and is not looked at");
    if (good && !run->opened && spent_state(&a->spent, j->ticket.id) > BOARD_RUN_OPEN)
        return error_set(
            err, ERROR_FAILED,
            "its ticket was used before, and its run is over: somebody put it back, or the "
            "store; it is not run again");
    return good;
}

struct job *job_open(struct agent *a, struct loading *run, bool *again, struct error *err)
{
    struct job *j = mem_new_zero(struct job, 1);
    j->agent = a;
    j->number = run->run;
    j->loaded = clock_seconds();
    bool good = job_open_ticket(j, run, err);
    j->home = job_home(a, run->run, j->ticket.id);
    j->files = join_path(j->home, "files");
    j->partial = join_path(j->home, "partial");
    if (good)
        j->w = a->o->read(strbuf_text(&j->ticket.workflow), j->ticket.workflow.n, err);
    good = good && j->w && check_ticket(j, err);
    if (good)
        growth_open(j, &run->parts);
    good = good && job_open_run(j, run->created, err);
    *again = good;
    good = good && job_open_store(j, err);
    if (good) {
        strbuf_free(&j->ticket.workflow);
        agent_log(a, "run %llu: '%s', %u task%s, from %s", (unsigned long long)run->run,
                  j->ticket.name, j->w->ntasks, plural(j->w->ntasks), j->ticket.host);
        return j;
    }
    agent_log(a, "run %llu: %s", (unsigned long long)run->run, err->text);
    if (health_of_error(err->text)) /* of this machine: other runs will not find it better */
        aside_now(a, health_of_error(err->text), err->text);
    job_close(j, false);
    return NULL;
}

/* ---- closing ---- */

/* In reverse of how it was opened. Errors can only go to the log. */
static void job_free(struct job *j)
{
    struct error err = {0};
    executor_free(j->executor);
    if (j->driver && driver_store(j->driver)) /* others take over what is not written */
        store_redis_closing(driver_store(j->driver), false, closing_most);
    if (!driver_free(j->driver, &err) && !j->remove_data)
        job_log(j, err.text);
    outbox_free(&j->outbox);
    outbox_free(&j->ahead);
    free(j->taken);
    depot_free(j->depot);
    memory_files_close(j);
    needs_free(&j->needs);
    error_clear(&err);
    if (!memo_close(j->memo, &err))
        job_log(j, err.text);
    supply_free(j);
    gang_free(j);
    growth_close(j);
    evict_free(j);
    array_free(&j->without);
    run_result_free(&j->result);
    job_free_early(j);
    array_free(&j->watchers);
    array_free(&j->doubts);
    array_free(&j->failing);
    ticket_free(&j->ticket);
    workflow_free(j->w);
    strbuf_free(&j->scratch);
    if (j->remove_data)
        tree_remove(j->home);
    free(j->home);
    free(j->files);
    free(j->partial);
    free(j);
}

/* The driver's handles, or the executor's, are closed (I1). */
static void job_part_closed(void *context)
{
    struct job *j = context;
    if (--j->open_parts == 0)
        job_free(j);
}

void job_close(struct job *j, bool remove_data)
{
    job_change(j, JOB_EVENT_CLOSE);
    supply_release(j);
    if (!remove_data && j->w)
        job_write_failures(j);
    j->remove_data = remove_data;
    if (!j->open_parts) {
        job_free(j);
        return;
    }
    if (j->executor)
        executor_close(j->executor, job_part_closed, j);
    driver_close(j->driver, job_part_closed, j);
}

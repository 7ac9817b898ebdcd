/* starting.h: names from outside are files of the folder or nothing, and words for `weft run` are passed as words, never through
 * a shell. What a run says goes into a file in .weft, since a pipe would end with this server. */
#include "ui/starting.h"
#include "base/array.h"
#include "base/json.h"
#include "base/mem.h"
#include "ui/events.h"
#include "ui/folder.h"
#include "ui/laboratory.h"
#include "weft/weft.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STARTED_MOST = 16, WORDS_MOST = 64, NEEDS_MOST = 300 };

extern char **environ;

/* The last ones, in a ring. */
static struct started {
    pid_t pid;
    bool over;
    int status;        /* as a shell has it */
    const char *event; /* by which pages are told of its end */
    char *flow, *log;
} started[STARTED_MOST];
static uint32_t started_count;

/* What lies in the folder is folder_file()'s to say; a run is given the name as it stands there. */
char *starting_file(const struct laboratory *lab, const char *name, struct reply *out)
{
    char folder[PATH_MAX];
    struct stat st;
    bool named = name && *name && *name != '/' && *name != '-';
    char *whole = named ? folder_file(lab, name, out) : NULL;
    if (!named)
        folder_has_none(name ? name : "", out);
    if (!whole)
        return NULL;
    size_t n = realpath(lab->folder, folder) ? strlen(folder) : 0;
    bool good = n && stat(whole, &st) == 0 && S_ISREG(st.st_mode);
    if (!good)
        folder_has_none(name, out);
    char *inside = good ? mem_copy_string(whole + n + (n > 1)) : NULL;
    free(whole);
    return inside;
}

/* ---- words ---- */

struct start_line {
    const char *at[WORDS_MOST + 2];
    size_t n;
};

/* What does not fit is counted, and the start refused: a run of fewer targets than were asked for would be a wrong one. The words of
 * the line are the request's and constants; nothing is copied, since the process is started before the request is freed. */
static void line_add(struct start_line *w, const char *word)
{
    if (w->n < WORDS_MOST)
        w->at[w->n] = word;
    w->n++;
}

/* ---- what would run ---- */

/* Totals of all, reasons of the first: a list of a million is read by nobody, and the page says how many are left out. */
static void put_needs(struct weft_run *run, const struct weft_forecast *f, struct json_writer *j)
{
    struct weft_error error;
    struct weft_need need;
    json_put_integer(j, "tasks", f->tasks);
    json_put_integer(j, "to_run", f->to_run);
    json_put_integer(j, "done", f->done);
    json_put_number(j, "seconds", f->seconds);
    json_put_number(j, "memory", f->memory);
    json_put_integer(j, "cores", f->cores);
    json_write_key(j, "needs");
    json_write_array(j);
    const struct weft_workflow *w = weft_run_workflow(run);
    for (uint32_t t = 0, told = 0; t < f->tasks && told < NEEDS_MOST; t++) {
        if (!weft_run_need(run, t, &need, &error) || !need.runs)
            continue;
        told++;
        json_write_object(j);
        json_put_text(j, "name", weft_workflow_task_name(w, t));
        json_put_text(j, "reason", need.reason);
        json_put_number(j, "seconds", need.seconds);
        json_write_end_object(j);
    }
    json_write_end_array(j);
}

void answer_dry(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    struct weft_error error;
    struct weft_forecast forecast;
    struct weft_run_options o = WEFT_RUN_OPTIONS_INIT;
    struct json_writer j;
    char *flow = starting_file(lab, request_value(r, "flow"), out);
    if (!flow)
        return;
    o.look = true;
    o.force = request_value(r, "force") != NULL;
    struct start_line targets = {0}, params = {0};
    for (size_t i = 0; i < r->nvalues; i++)
        if (r->value[i] && *r->value[i]) {
            if (strcmp(r->name[i], "target") == 0)
                line_add(&targets, r->value[i]);
            else if (strcmp(r->name[i], "param") == 0)
                line_add(&params, r->value[i]);
        }
    if (r->nvalues == REQUEST_VALUES) { /* there may be more, which nobody has seen */
        reply_fail(out, 400, "too many tasks and parameters to look at: name a family");
        free(flow);
        return;
    }
    o.targets = targets.n ? targets.at : NULL;
    o.read = params.n ? params.at : NULL;
    struct weft_run *run = weft_run_open(flow, &o, &error);
    if (run && weft_run_forecast(run, &forecast, &error)) {
        json_write_start(&j, &out->body, false);
        json_write_object(&j);
        put_needs(run, &forecast, &j);
        json_write_end_object(&j);
    } else {
        reply_fail(out, 400, error.text);
    }
    weft_run_close(run);
    free(flow);
}

/* ---- starting ---- */

/* A member that has to be a text which no option can be; NULL: it is not there, or empty. What is there and cannot be taken is not left
 * out in silence: `bad` names it. */
static const char *start_text(const struct json *j, const char *key, const char **bad)
{
    json_ref v = json_get(j, 0, key);
    if (v == JSON_NONE || json_type(j, v) == JSON_NULL)
        return NULL;
    const char *text = json_type(j, v) == JSON_STRING ? json_string(j, v, NULL) : "-";
    if (*text == '-')
        *bad = key;
    return *text && *text != '-' ? text : NULL;
}

/* Only `true` is true: a text "false" from a program that was written in haste starts nothing by force. */
static bool start_flag(const struct json *j, const char *key)
{
    json_ref v = json_get(j, 0, key);
    return v != JSON_NONE && json_type(j, v) == JSON_TRUE;
}

/* Each text of a list as a word, behind `option` if that is one. */
static void start_list(const struct json *j, const char *key, const char *option,
                       struct start_line *w, const char **bad)
{
    json_ref list = json_get(j, 0, key);
    if (list == JSON_NONE || json_type(j, list) == JSON_NULL)
        return;
    if (json_type(j, list) != JSON_ARRAY) {
        *bad = key;
        return;
    }
    for (json_ref t = json_first(j, list); t != JSON_NONE; t = json_next_element(j, list, t)) {
        if (json_type(j, t) != JSON_STRING) {
            *bad = key;
            return;
        }
        if (option)
            line_add(w, option);
        line_add(w, json_string(j, t, NULL));
    }
}

/* Flow and targets stand behind "--", so that no name of a file or a task is an option. Returns the member that no run can be given;
 * NULL: all are good. */
static const char *start_words(const struct json *j, const char *flow, struct start_line *w)
{
    const char *bad = NULL;
    static const struct {
        const char *key, *option;
    } texts[] = {{"on", "--on"}, {"jobs", "--jobs"}, {"with", "--with"}};
    static const struct {
        const char *key, *option;
    } flags[] = {{"force", "--force"}, {"keep_going", "--keep-going"}};
    line_add(w, "weft");
    line_add(w, "run");
    line_add(w, "--quiet");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *value = start_text(j, texts[i].key, &bad);
        if (value) {
            line_add(w, texts[i].option);
            line_add(w, value);
        }
    }
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (start_flag(j, flags[i].key))
            line_add(w, flags[i].option);
    }
    start_list(j, "params", "--param", w, &bad);
    line_add(w, "--");
    line_add(w, flow);
    start_list(j, "targets", NULL, w, &bad);
    return bad;
}

/* Its own session, so that Ctrl-C in the server's terminal is not its. 0: started. */
static int start_process(const struct laboratory *lab, struct start_line *w, const char *log,
                         pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    posix_spawnattr_init(&attributes);
    sigset_t ignored;
    sigemptyset(&ignored);
    sigaddset(&ignored, SIGPIPE); /* this server ignores it, and children would inherit that */
    sigaddset(&ignored, SIGINT);
    posix_spawnattr_setsigdefault(&attributes, &ignored);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int bad = posix_spawn(pid, lab->program, &files, &attributes, (char *const *)w->at, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return bad;
}

/* Takes `flow` over. The file that it writes to is one of a few, in turn, so that a page that is used for years leaves no heap of
 * them; what runs have to say in the long run stands in the history and in their logs. */
static void start_line_begin(const struct laboratory *lab, struct start_line *w, char *flow,
                             const char *event, struct reply *out)
{
    struct strbuf log = {0};
    struct started *s = &started[started_count % STARTED_MOST];
    strbuf_printf(&log, "%s/.weft", lab->folder);
    mkdir(log.at, 0775);
    strbuf_printf(&log, "/page-%u.log", started_count % STARTED_MOST);
    pid_t pid = 0;
    int bad = start_process(lab, w, log.at, &pid);
    if (bad) {
        struct strbuf why = {0};
        strbuf_printf(&why, "%s cannot be started: %s", lab->program, strerror(bad));
        reply_fail(out, 500, why.at);
        strbuf_free(&why);
        strbuf_free(&log);
        free(flow);
        return;
    }
    free(s->flow);
    free(s->log);
    *s = (struct started){.pid = pid, .event = event, .flow = flow, .log = strbuf_steal(&log)};
    struct json_writer w2;
    json_write_start(&w2, &out->body, false);
    json_write_object(&w2);
    json_put_integer(&w2, "started", started_count++);
    json_write_end_object(&w2);
}

static void start_run(const struct laboratory *lab, const struct json *j, char *flow,
                      struct reply *out)
{
    struct start_line w = {0};
    struct strbuf why = {0};
    const char *bad = start_words(j, flow, &w);
    if (!bad && w.n <= WORDS_MOST) {
        start_line_begin(lab, &w, flow, "started", out);
        return;
    }
    if (bad)
        strbuf_printf(&why,
                      "\"%s\" is nothing that a run can be given here: expected a text that "
                      "is no option, or a list of texts",
                      bad);
    reply_fail(out, 400,
               bad ? why.at
                   : "more than 50 targets and parameters are too many for the page: name a "
                     "family, or use `weft run`");
    strbuf_free(&why);
    free(flow);
}

void starting_experiment(const struct laboratory *lab, char *file, struct reply *out)
{
    struct start_line w = {{"weft", "experiment", "-q", "--", file}, 5};
    start_line_begin(lab, &w, file, "experiment", out);
}

/* {"attach": N}: whoever began run N of a cluster has left, and it is followed from here. `weft attach` finds it by the note in this
 * folder, or says that there is none. */
static void start_attach(const struct laboratory *lab, double run, struct reply *out)
{
    char number[24];
    if (!(run >= 1 && run < UINT32_MAX)) {
        reply_fail(out, 400, "which run? {\"attach\": its number on the cluster}");
        return;
    }
    snprintf(number, sizeof number, "%.0f", run);
    char *name = mem_copy_string(number);
    struct start_line w = {{"weft", "attach", "--quiet", "--", name}, 5};
    start_line_begin(lab, &w, name, "started", out);
}

void answer_start(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    struct json j;
    struct error err = {0};
    if (!json_parse(&j, "request", r->body, r->nbody, &err)) {
        reply_fail(out, 400, err.text);
        return;
    }
    json_ref attach = json_get(&j, 0, "attach");
    if (attach != JSON_NONE) {
        start_attach(lab, json_type(&j, attach) == JSON_NUMBER ? json_number(&j, attach) : 0, out);
    } else {
        const char *bad = NULL;
        char *flow = starting_file(lab, start_text(&j, "flow", &bad), out);
        if (flow)
            start_run(lab, &j, flow, out);
    }
    json_free(&j);
}

/* Those that have ended are told once; the others are children of ours, or were. */
void starting_look(const struct laboratory *lab)
{
    for (uint32_t i = 0; i < STARTED_MOST; i++) {
        struct started *s = &started[i];
        int status;
        if (!s->pid || s->over || waitpid(s->pid, &status, WNOHANG) != s->pid)
            continue;
        s->over = true;
        s->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        char data[64];
        snprintf(data, sizeof data, "{\"status\": %d}", s->status);
        event_hub_tell(lab->hub, s->event, data);
        event_hub_tell(lab->hub, "runs", "{}");
    }
}

void answer_started(const struct laboratory *lab, const struct request *r, struct reply *out)
{
    (void)r;
    struct json_writer j;
    starting_look(lab);
    json_write_start(&j, &out->body, false);
    json_write_array(&j);
    for (uint32_t k = 0; k < STARTED_MOST && k < started_count; k++) {
        const struct started *s = &started[(started_count - 1 - k) % STARTED_MOST];
        char *said = weft_log_tail(s->log);
        json_write_object(&j);
        json_put_integer(&j, "started", started_count - 1 - k);
        json_put_text(&j, "flow", s->flow);
        json_put_bool(&j, "over", s->over);
        json_put_integer(&j, "status", s->status);
        json_put_text(&j, "said", said);
        json_write_end_object(&j);
        weft_text_free(said);
    }
    json_write_end_array(&j);
}

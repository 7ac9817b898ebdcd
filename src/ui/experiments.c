/* The Experiments view's answers: an experiment of the folder with its combinations, a run of it, a row as a workflow. A run is
 * `weft experiment`, a process of its own that goes on when this server ends. */
#include "api/inside_run.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "report/experiment_output.h"
#include "ui/events.h"
#include "ui/folder.h"
#include "ui/handlers.h"
#include "ui/laboratory.h"
#include "weft/weft.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Processes that this server has started, to take note of their ends; a server starts few. */
enum { EXPERIMENTS_MOST = 16 };
static pid_t experiment_started[EXPERIMENTS_MOST];

/* NULL: `out` says why. */
static struct weft_experiment *experiment_of(const struct laboratory *lab, const char *name,
                                             struct reply *out)
{
    struct weft_error error;
    char *path = name ? folder_file(lab, name, out) : NULL;
    if (!name)
        reply_fail(out, 400, "say which experiment: ?file=NAME");
    struct weft_experiment *x = path ? weft_experiment_open(path, NULL, &error) : NULL;
    if (path && !x)
        reply_error(out, &error);
    free(path);
    return x;
}

/* GET /api/experiment?file=NAME&values=RESULT: what `weft experiment --list --json` prints, with the figures in that
 * result. */
static void answer_experiment(const struct laboratory *lab, const struct request *r,
                              struct reply *out)
{
    struct weft_error error;
    struct weft_experiment_figures figures;
    struct weft_experiment *x = experiment_of(lab, request_value(r, "file"), out);
    if (!x)
        return;
    if (!weft_experiment_predict(x, &figures, &error)) {
        reply_error(out, &error);
    } else {
        struct error err = {0};
        inside_experiment(x)->values = request_value(r, "values");
        if (experiment_has_values(inside_experiment(x), &err))
            experiment_json(inside_experiment(x), true, &out->body);
        else
            reply_fail(out, 400, err.text);
        inside_experiment(x)->values = NULL;
    }
    weft_experiment_close(x);
}

/* The program beside this one. */
static bool experiment_program(char *path, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", path, size - 8);
    if (n <= 0)
        return false;
    path[n] = 0;
    char *name = strrchr(path, '/');
    if (!name)
        return false;
    snprintf(name + 1, size - (size_t)(name + 1 - path), "weft");
    return access(path, X_OK) == 0;
}

/* Its words are words, never a shell's; what it says goes nowhere, since its record tells more. */
static bool experiment_start(const char *file)
{
    char program[PATH_MAX];
    size_t place = 0;
    while (place < EXPERIMENTS_MOST && experiment_started[place])
        place++;
    if (place == EXPERIMENTS_MOST || !experiment_program(program, sizeof program))
        return false;
    char *words[] = {program, "experiment", "-q", "--", (char *)file, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    /* a session of its own: Ctrl-C at the server's terminal is not for it; and no signal stays blocked */
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
    for (int fd = 0; fd < 3; fd++)
        posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
    bool good = posix_spawn(&experiment_started[place], program, &files, &how, words, environ) == 0;
    if (!good)
        experiment_started[place] = 0;
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    return good;
}

void experiments_look(const struct laboratory *lab)
{
    for (size_t i = 0; i < EXPERIMENTS_MOST; i++) {
        int status;
        if (!experiment_started[i] || waitpid(experiment_started[i], &status, WNOHANG) == 0)
            continue;
        char data[64];
        snprintf(data, sizeof data, "{\"status\": %d}",
                 WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        experiment_started[i] = 0;
        event_hub_tell(lab->hub, "experiment", data);
    }
}

/* A text of the body, NULL: there is none of that name. */
static const char *experiment_text_of(const struct json *j, const char *key)
{
    json_ref v = json_get(j, 0, key);
    return v != JSON_NONE && json_type(j, v) == JSON_STRING ? json_string(j, v, NULL) : NULL;
}

/* POST /api/experiment/run {"file": NAME} */
static void answer_experiment_run(const struct laboratory *lab, const struct request *r,
                                  struct reply *out)
{
    struct json j;
    struct error err = {0};
    if (!json_parse(&j, "request", r->body, r->nbody, &err)) {
        reply_fail(out, 400, err.text);
        return;
    }
    const char *name = experiment_text_of(&j, "file");
    char *path = name ? folder_file(lab, name, out) : NULL;
    if (!name)
        reply_fail(out, 400, "expected {\"file\": \"experiment.yaml\"}");
    else if (path && !experiment_start(path))
        reply_fail(out, 500,
                   "the program weft is not beside this server, or too many of its runs "
                   "go on");
    else if (path)
        strbuf_add(&out->body, "{}");
    free(path);
    json_free(&j);
}

/* Beside the experiment's workflow, under a name that nothing has yet: "edges-3.yaml". */
static bool experiment_write_row(struct weft_workflow *w, const char *beside, uint32_t row,
                                 struct strbuf *path, struct weft_error *error)
{
    const char *stem = file_basename(beside), *dot = strrchr(stem, '.');
    size_t folder = (size_t)(stem - beside);
    for (unsigned again = 0; again < 100; again++) {
        strbuf_clear(path);
        strbuf_add_bytes(path, beside, folder);
        strbuf_add_bytes(path, stem, dot ? (size_t)(dot - stem) : strlen(stem));
        strbuf_printf(path, "-%u", row + 1);
        if (again)
            strbuf_printf(path, "-%u", again + 1);
        strbuf_add(path, ".yaml");
        if (access(path->at, F_OK) != 0)
            return weft_workflow_write(w, path->at, NULL, error);
    }
    *error = (struct weft_error){.status = WEFT_FAILED, .text = "every name for it is taken"};
    return false;
}

/* POST /api/experiment/open {"file": NAME, "row": N}: the row as a workflow of its own; {"flow": ITS NAME}. */
static void answer_experiment_open(const struct laboratory *lab, const struct request *r,
                                   struct reply *out)
{
    struct json j;
    struct error err = {0};
    struct weft_error error;
    if (!json_parse(&j, "request", r->body, r->nbody, &err)) {
        reply_fail(out, 400, err.text);
        return;
    }
    json_ref number = json_get(&j, 0, "row");
    const char *name = experiment_text_of(&j, "file");
    bool numbered = number != JSON_NONE && json_type(&j, number) == JSON_NUMBER &&
                    json_number(&j, number) >= 0 && json_number(&j, number) < UINT32_MAX;
    struct weft_experiment *x = name && numbered ? experiment_of(lab, name, out) : NULL;
    if (!name || !numbered)
        reply_fail(out, 400, "expected {\"file\": \"experiment.yaml\", \"row\": 0}");
    uint32_t row = numbered ? (uint32_t)json_number(&j, number) : 0;
    struct weft_workflow *w = x ? weft_experiment_workflow(x, row, &error) : NULL;
    struct strbuf path = {0};
    if (x &&
        (!w || !experiment_write_row(w, inside_experiment(x)->x.workflow, row, &path, &error))) {
        reply_error(out, &error);
    } else if (x) {
        struct json_writer answer;
        char folder[PATH_MAX];
        size_t n = realpath(lab->folder, folder) ? strlen(folder) : 0;
        bool inside = n && strncmp(path.at, folder, n) == 0 && path.at[n] == '/';
        json_write_start(&answer, &out->body, false);
        json_write_object(&answer);
        json_put_string(&answer, "flow", inside ? path.at + n + 1 : path.at);
        json_write_end_object(&answer);
    }
    strbuf_free(&path);
    weft_workflow_free(w);
    weft_experiment_close(x);
    json_free(&j);
}

const struct ui_route experiment_routes[] = {
    {false, "/api/experiment", answer_experiment},
    {true, "/api/experiment/run", answer_experiment_run},
    {true, "/api/experiment/open", answer_experiment_open},
    {0},
};

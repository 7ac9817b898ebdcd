/* What a command runs in (model/environment.h), around the words that executor_command.c has found:
 *
 *     env, pass, secret    variables of the child
 *     resources            more of them: the ids of what it holds
 *     container            ENGINE run ... IMAGE words
 *     conda                sh -c conda.sh weft TOOL PREFIX FILE NAME words
 *     modules              bash -c modules.sh weft "gcc/12 openmpi" words          around all others
 *
 * A conda environment is made by the first task that needs it, under a lock for which the others
 * wait: making one takes minutes, and this thread has none. It stands beside the logs and is called by
 * what its file says.
 *
 * A task that says nothing of all this does not come here. */
#include "drive/executor_private.h"

#include "base/digest.h"
#include "base/file.h"
#include "base/tree.h"
#include "exec/container.h"
#include "exec/wrapper.h"
#include "model/command.h"
#include "model/environment.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_VARIABLE = 131072 - 1 }; /* MAX_ARG_STRLEN of Linux, less the NUL */

/* What is made for the words and variables of one command; kept until it has been started. */
struct surroundings {
    struct strbuf block;    /* "NAME=VALUE", each with its NUL */
    ARRAY(char *) set;      /* pointers into it, NULL-terminated */
    size_t visible;         /* the first of them are `env`, which everybody may see */
    container_texts texts;  /* owned */
    container_texts words;  /* of one wrapping, from the inside out */
    container_texts ending; /* words that end the container */
    container_texts names;  /* scratch */
    container_texts inputs; /* scratch, owned */
    struct child_environment environment;
};

void executor_free_surroundings(struct executor *x)
{
    struct surroundings *s = x->surroundings;
    if (!s)
        return;
    strbuf_wipe(&s->block);
    array_free(&s->set);
    container_texts_free(&s->texts);
    array_free(&s->words);
    array_free(&s->ending);
    array_free(&s->names);
    container_texts_free(&s->inputs);
    free(s);
    x->surroundings = NULL;
}

/* ---- variables ---- */

static void add_variable(struct surroundings *s, const char *name, size_t n, const char *value)
{
    strbuf_add_bytes(&s->block, name, n);
    strbuf_printf(&s->block, "=%s", value);
    strbuf_add_char(&s->block, 0);
}

/* Those of a list that the run has brought along. */
static bool add_brought(struct executor *x, uint32_t task, enum column_id id, enum along_kind kind,
                        struct error *err)
{
    struct surroundings *s = x->surroundings;
    const char *list = column_text(x->w, task, id), *word;
    size_t n;
    while (list && (word = environment_word(&list, &n))) {
        const char *value = run_environment_find(x->o->environment, kind, word, n);
        if (value)
            add_variable(s, word, n, value);
        else if (kind == ALONG_SECRET)
            return error_set(err, ERROR_FAILED, "the run has no secret '%.*s'", (int)n, word);
    }
    return true;
}

/* The ids of what it holds of the machine. */
static void add_held(struct executor *x, const struct sched_start *start)
{
    char **held = executor_variables(x, start->task, start->slot);
    for (size_t i = 0; held && held[i]; i++) {
        size_t n = strcspn(held[i], "=");
        add_variable(x->surroundings, held[i], n, held[i] + n + 1);
    }
    holding_free_variables(held);
}

/* Pointers last of all: the block moves while it grows. */
static bool fill_variables(struct executor *x, const struct sched_start *start, struct error *err)
{
    struct surroundings *s = x->surroundings;
    strbuf_clear(&s->block);
    s->set.n = 0;
    const struct command_attempt attempt = {.number = start->attempt,
                                            .memory = x->memory ? x->memory[start->task] : 0,
                                            .absent = x->absent};
    s->visible = environment_expand(x->w, start->task, &attempt, &s->block);
    if (!add_brought(x, start->task, COLUMN_pass, ALONG_PASS, err) ||
        !add_brought(x, start->task, COLUMN_secret, ALONG_SECRET, err))
        return false;
    add_held(x, start);
    for (size_t at = 0; at < s->block.n; at += strlen(s->block.at + at) + 1) {
        size_t n = strlen(s->block.at + at);
        if (n > LONGEST_VARIABLE)
            return error_set(err, ERROR_FAILED,
                             "its variable '%.*s' has %zu bytes, and the system takes %d with the "
                             "name; put the text into a file, and name that",
                             (int)strcspn(s->block.at + at, "="), s->block.at + at, n,
                             LONGEST_VARIABLE);
        array_push(&s->set, s->block.at + at);
    }
    array_push(&s->set, NULL);
    return true;
}

/* ---- containers ---- */

/* Inputs that do not lie below the folder, as they are called when links have been followed. */
static void find_outside_inputs(const struct executor *x, uint32_t task, const char *folder)
{
    const struct workflow *w = x->w;
    struct surroundings *s = x->surroundings;
    size_t n = strlen(folder);
    char label[512], path[PATH_MAX];
    struct strbuf name = {0};
    container_texts_free(&s->inputs);
    for (uint32_t i = w->in_off[task]; i < w->in_off[task + 1]; i++) {
        const char *object = workflow_object_label(w, w->in_object[i], label, sizeof label);
        if (!realpath(path_in(folder, object, &name), path) ||
            (strncmp(path, folder, n) == 0 && path[n] == '/'))
            continue;
        array_push(&s->inputs, mem_copy_string(path));
    }
    array_push(&s->inputs, NULL);
    strbuf_free(&name);
}

/* The names of what is in the engine's environment: passed variables, secrets, and weft's own. */
static void name_given(struct surroundings *s)
{
    static const char *const own[] = {"WEFT_TASK", "WEFT_ATTEMPT", "WEFT_CORES", "WEFT_FOLDER",
                                      "WEFT_OWNER"};
    s->names.n = 0;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        array_push(&s->names, (char *)own[i]);
    for (size_t i = s->visible; s->set.at[i]; i++) {
        char *name = mem_copy_bytes(s->set.at[i], strcspn(s->set.at[i], "="));
        array_push(&s->texts, name);
        array_push(&s->names, name);
    }
    array_push(&s->names, NULL);
}

/* apptainer has no option that takes a variable from the environment, but a name for it. */
static void rename_for_apptainer(struct executor *x, const struct sched_start *start)
{
    struct surroundings *s = x->surroundings;
    struct strbuf block = {0};
    char own[600];
    snprintf(own, sizeof own, "WEFT_TASK=%.256s", workflow_task_name(x->w, start->task));
    strbuf_printf(&block, "APPTAINERENV_%s", own);
    strbuf_add_char(&block, 0);
    for (size_t i = 0; s->set.at[i]; i++)
        for (int k = 0; k < 2; k++) { /* and what it was called before */
            strbuf_printf(&block, "%s%s", k ? "SINGULARITYENV_" : "APPTAINERENV_", s->set.at[i]);
            strbuf_add_char(&block, 0);
        }
    strbuf_wipe(&s->block);
    s->block = block;
    s->set.n = 0;
    for (size_t at = 0; at < s->block.n; at += strlen(s->block.at + at) + 1)
        array_push(&s->set, s->block.at + at);
    array_push(&s->set, NULL);
}

/* "weft-LABEL-PID-SET-TASK-ATTEMPT": no other has it at the same time. */
static const char *container_name(struct executor *x, const struct sched_start *start,
                                  const char *label)
{
    char name[160];
    snprintf(name, sizeof name, "weft-%s-%d-%d-%u-%u", label, (int)getpid(),
             children_fd(x->children), start->task, start->attempt);
    char *text = mem_copy_string(name);
    array_push(&x->surroundings->texts, text);
    return text;
}

/* The ids of `gpu` that it holds; NULL: none. Inside, where just these are seen, they are 0, 1 ...: what
 * tells CUDA says so. WEFT_GPU keeps the machine's ids. */
static const char *name_gpus(struct surroundings *s)
{
    const char *ids = NULL;
    for (size_t i = s->visible; s->set.at[i] && !ids; i++)
        if (strncmp(s->set.at[i], "WEFT_GPU=", 9) == 0)
            ids = s->set.at[i] + 9;
    if (!container_sees_own_gpus(ids))
        return ids;
    struct strbuf inside = {0};
    uint32_t n = 0;
    strbuf_add(&inside, "CUDA_VISIBLE_DEVICES=");
    for (const char *p = ids; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        strbuf_printf(&inside, "%s%u", n ? "," : "", n), n++;
    for (size_t i = s->visible; s->set.at[i]; i++)
        if (strncmp(s->set.at[i], inside.at, strlen("CUDA_VISIBLE_DEVICES=")) == 0)
            s->set.at[i] = inside.at;
    array_push(&s->texts, strbuf_steal(&inside));
    return ids;
}

static bool wrap_in_container(struct executor *x, const struct sched_start *start, struct active *a,
                              const char *image, struct child_request *r, struct error *err)
{
    struct surroundings *s = x->surroundings;
    const struct container_engine *e = container_engine_here(err);
    char folder[PATH_MAX], work[PATH_MAX], label[CONTAINER_LABEL];
    const char *what = run_environment_find(x->o->environment, ALONG_IMAGE, image, strlen(image));
    if (!e)
        return false;
    if (!what)
        return error_set(err, ERROR_FAILED, "the run does not know the image '%.200s'", image);
    if (!realpath(x->o->folder, folder) || !realpath(a->sandbox ? a->sandbox : folder, work))
        return error_set(err, ERROR_FAILED, "%s: %s", x->o->folder, strerror(errno));
    find_outside_inputs(x, start->task, folder);
    name_given(s);
    container_label(x->o->state, label);
    size_t visible = s->visible;
    const char **set = mem_new(const char *, visible + 1);
    memcpy(set, s->set.at, visible * sizeof *set);
    set[visible] = NULL;
    bool apptainer = e->kind == CONTAINER_APPTAINER;
    struct container_task t = {.image = image,
                               .what = what,
                               .name = container_name(x, start, label),
                               .label = label,
                               .folder = folder,
                               .work = work,
                               .script = a->script,
                               .inputs = (const char *const *)s->inputs.at,
                               .set = set,
                               .given = (const char *const *)s->names.at,
                               .gpus = name_gpus(s),
                               .memory = x->limits && x->memory ? x->memory[start->task] : 0,
                               .fetch = x->o->same_shell};
    s->words.n = s->ending.n = 0;
    bool good = container_words(&t, x->words.at, &s->texts, &s->words, err);
    if (good && container_ending(&t, &s->texts, &s->ending)) {
        r->ending = s->ending.at;
        r->memory = 0; /* the engine's own process is no part of it */
    }
    /* words point to what is in `set`, and to names on this stack */
    for (size_t i = 0; good && i < s->words.n && s->words.at[i]; i++)
        if (s->words.at[i] == label || s->words.at[i] == work || s->words.at[i] == folder) {
            s->words.at[i] = mem_copy_string(s->words.at[i]);
            array_push(&s->texts, s->words.at[i]);
        }
    free(set);
    if (good && apptainer)
        rename_for_apptainer(x, start);
    a->contained = good && !apptainer;
    return good;
}

/* ---- conda ---- */

/* The words that are there behind those of a script. */
static void wrap_in_script(struct executor *x, const char *program, const char *shell,
                           const char *script, const char *const *arguments, size_t n)
{
    struct surroundings *s = x->surroundings;
    container_texts words = {0};
    const char *const head[] = {shell, "-c", script, "weft"};
    for (size_t i = 0; i < 4; i++)
        array_push(&words, (char *)head[i]);
    for (size_t i = 0; i < n; i++) {
        array_push(&s->texts, mem_copy_string(arguments[i]));
        array_push(&words, array_last(&s->texts));
    }
    for (size_t i = 0; i < x->words.n && x->words.at[i]; i++)
        array_push(&words, i == 0 && program ? (char *)program : x->words.at[i]);
    array_push(&words, NULL);
    x->words.n = 0;
    for (size_t i = 0; i < words.n; i++)
        array_push(&x->words, words.at[i]);
    array_free(&words);
}

static bool wrap_in_conda(struct executor *x, const char *file, const char *program,
                          struct error *err)
{
    const char *content = run_environment_find(x->o->environment, ALONG_CONDA, file, strlen(file));
    char tool[PATH_MAX], at[PATH_MAX], hex[DIGEST_TEXT];
    struct digest d;
    const char *shelf = x->o->shelf ? x->o->shelf : x->o->state;
    struct strbuf path = {0}, prefix = {0};
    if (!content)
        return error_set(err, ERROR_FAILED, "the run does not have '%.200s'", file);
    if (!wrapper_find_conda(tool, sizeof tool, err))
        return false;
    digest_of(content, strlen(content), &d);
    strbuf_printf(&path, "%s/conda/", shelf ? shelf : "/tmp");
    bool good = make_parents(path.at, err) && realpath(path.at, at);
    strbuf_clear(&path);
    strbuf_printf(&prefix, "%s/%.16s", at, digest_text(&d, hex));
    strbuf_printf(&path, "%s.yaml", prefix.at);
    if (good && access(path.at, F_OK) != 0)
        good = file_write(path.at, content, strlen(content), err);
    if (good)
        wrap_in_script(x, program, "sh", exec_conda_sh,
                       (const char *const[]){tool, prefix.at, path.at, file}, 4);
    else if (err->kind == ERROR_NONE)
        error_set(err, ERROR_FAILED, "%s: %s", strbuf_text(&path), strerror(errno));
    strbuf_free(&path);
    strbuf_free(&prefix);
    return good;
}

/* ---- all of it ---- */

bool executor_surround(struct executor *x, const struct sched_start *start, struct active *a,
                       struct child_request *r, struct error *err)
{
    const struct workflow *w = x->w;
    const char *image = column_text(w, start->task, COLUMN_container),
               *conda = column_text(w, start->task, COLUMN_conda),
               *modules = column_text(w, start->task, COLUMN_modules);
    if (!x->surroundings)
        x->surroundings = mem_new_zero(struct surroundings, 1);
    struct surroundings *s = x->surroundings;
    container_texts_free(&s->texts);
    if (!fill_variables(x, start, err))
        return false;
    if (image) {
        if (!wrap_in_container(x, start, a, image, r, err))
            return false;
        x->words.n = 0;
        for (size_t i = 0; i < s->words.n; i++)
            array_push(&x->words, s->words.at[i]);
        r->program = NULL;
    } else if (conda) {
        if (!wrap_in_conda(x, conda, r->program, err))
            return false;
        r->program = "/bin/sh";
    }
    if (modules) {
        wrap_in_script(x, r->program, "bash", exec_modules_sh, &modules, 1);
        r->program = NULL;
    }
    r->words = x->words.at;
    /* an engine is a program of this machine, and needs what those need */
    s->environment = (struct child_environment){
        .set = s->set.at, .clean = !image && column_text(w, start->task, COLUMN_pass)};
    r->environment = &s->environment;
    return true;
}

/* Of the task's own secrets, and of those that became known while it may have been running: it may have
 * inherited them. */
void executor_mask_secrets(struct executor *x, uint32_t slot, uint32_t task)
{
    const char *list = column_text(x->w, task, COLUMN_secret), *word;
    ARRAY(const char *) values = {0};
    size_t n;
    while (list && (word = environment_word(&list, &n))) {
        const char *value = run_environment_find(x->o->environment, ALONG_SECRET, word, n);
        if (value)
            array_push(&values, value);
    }
    for (size_t i = x->hidden_first; i < x->hidden.n; i++) {
        const char *name = x->hidden.at[i];
        const char *value =
            run_environment_find(x->o->environment, ALONG_SECRET, name, strlen(name));
        if (value)
            array_push(&values, value);
    }
    array_push(&values, NULL);
    if (values.n > 1)
        child_mask_log(x->children, slot, values.at);
    array_free(&values);
}

/* Names that are secrets of tasks from `first` on, and of none before. */
static void hide_secrets(struct executor *x, uint32_t first)
{
    const struct workflow *w = x->w;
    str_id last = 0;
    for (uint32_t t = first; w->secret && t < w->ntasks; t++) {
        const char *list = column_text(w, t, COLUMN_secret), *word;
        size_t n;
        if (w->secret[t] == last)
            continue;
        last = w->secret[t];
        while (list && (word = environment_word(&list, &n))) {
            bool known = false;
            for (size_t i = 0; i < x->hidden.n && !known; i++)
                known = strlen(x->hidden.at[i]) == n && memcmp(x->hidden.at[i], word, n) == 0;
            if (!known)
                array_push(&x->hidden, mem_copy_bytes(word, n));
        }
    }
}

/* Every name that is some task's secret, also of one that is to join: none is inherited by those who did
 * not ask. */
void executor_hide_secrets(struct executor *x)
{
    const struct run_environment *e = x->o->environment;
    hide_secrets(x, 0);
    x->hidden_first = x->hidden.n;
    for (size_t i = 0; e && i < e->at.n; i++)
        if (e->at.at[i].kind == ALONG_SECRET)
            children_hide(x->children, e->at.at[i].name);
    for (size_t i = 0; i < x->hidden.n; i++)
        children_hide(x->children, x->hidden.at[i]);
}

/* From now on nobody inherits these either; logs of whoever began before have asterisks. */
void executor_hide_more(struct executor *x, uint32_t first)
{
    size_t before = x->hidden.n;
    hide_secrets(x, first);
    for (size_t i = before; i < x->hidden.n; i++)
        children_hide(x->children, x->hidden.at[i]);
}

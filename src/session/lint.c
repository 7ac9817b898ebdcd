/* The rules of `weft lint`. Each looks at one task, or one object, and adds findings; what members of
 * one family have in common is one finding.
 *
 *     undeclared   the command names a file of the folder, or another task's output, that is not in `in`
 *     missing      an input that no task makes and that is not there
 *     executable   ./tool.sh has no right to be executed
 *     quotes       "{in}": names are quoted already
 *     positional   "$1" in double quotes is the shell's, and empty
 *     lost         > NAME as the last thing, and NAME is no output: it goes with the sandbox
 *     folder       cd /somewhere, and {in} or {out} behind it, which are relative names
 *     unread       temporary, and nobody reads it
 *     cores        several cores, and the command says nothing of them
 *     blanks       a name that begins or ends with a blank
 *     unused       a list or a parameter that nothing names (formats/format.h, lint)
 *     remark       what the reader remarked */
#include "session/lint.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/tree.h"
#include "base/strbuf.h"
#include "base/plural.h"
#include "formats/format.h"
#include "memo/missing.h"
#include "model/shell.h"
#include "session/command_scan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct linting {
    const struct workflow *w;
    const char *folder;
    const uint8_t *only; /* one a task; NULL: all */
    lint_findings *out;
    struct intern places;  /* "rule line kind": places that have a finding */
    ARRAY(uint32_t) first; /* by place: its first finding */
    struct command_scan scan;
    struct strbuf path, text;
};

/* The caller frees what it printed into l->text by nothing: it is copied. */
static void lint_found(struct linting *l, const char *rule, uint32_t task)
{
    const struct workflow *w = l->w;
    char place[64];
    if (l->only && !l->only[task])
        return;
    uint32_t line = w->line ? w->line[task] : 0;
    int n = snprintf(place, sizeof place, "%s %u %u", rule, line, line ? 0 : w->kind[task]);
    uint32_t at = intern_number(&l->places, place, (size_t)n);
    if (at < l->first.n && l->out->at[l->first.at[at]].task != task) {
        l->out->at[l->first.at[at]].more++;
        return;
    }
    if (at == l->first.n)
        array_push(&l->first, (uint32_t)l->out->n);
    array_push(l->out, (struct lint_finding){.rule = rule,
                                             .line = line,
                                             .task = task,
                                             .text = mem_copy_string(strbuf_text(&l->text))});
}

#define LINT_SAY(l, rule, task, ...)                                                               \
    do {                                                                                           \
        strbuf_clear(&(l)->text);                                                                  \
        strbuf_printf(&(l)->text, __VA_ARGS__);                                                    \
        lint_found((l), (rule), (task));                                                           \
    } while (0)

/* ---- names ---- */

static bool lint_holds(const struct workflow *w, const uint32_t *list, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++) {
        const char *own = w->object_name ? workflow_text(w, w->object_name[list[i]]) : "";
        size_t length = strlen(own);
        while (length > 1 && own[length - 1] == '/')
            length--;
        /* a declared folder has what is in it */
        if (length && strncmp(name, own, length) == 0 && (!name[length] || name[length] == '/'))
            return true;
    }
    return false;
}

static bool lint_is_output(const struct workflow *w, uint32_t t, const char *name)
{
    return lint_holds(w, w->out_object + w->object_off[t], w->object_off[t + 1] - w->object_off[t],
                      name);
}

static bool lint_is_declared(const struct workflow *w, uint32_t t, const char *name)
{
    return lint_is_output(w, t, name) ||
           lint_holds(w, w->in_object + w->in_off[t], w->in_off[t + 1] - w->in_off[t], name);
}

static bool lint_stat(struct linting *l, const char *name, struct stat *st)
{
    return stat(*name == '/' ? name : path_in(l->folder, name, &l->path), st) == 0;
}

/* The part of a word that may be a name: behind "./" and "--option="; NULL: none could. */
static const char *lint_name(const char *word)
{
    const char *equals = strchr(word, '=');
    word = equals && (*word == '-' || isalpha((unsigned char)*word)) ? equals + 1 : word;
    while (word[0] == '.' && word[1] == '/')
        word += 2;
    bool number = *word && !word[strspn(word, "0123456789.")];
    return !*word || *word == '-' || *word == '/' || number || strncmp(word, "..", 2) == 0 ? NULL
                                                                                           : word;
}

/* ---- rules over a command ---- */

static void lint_words(struct linting *l, uint32_t t)
{
    const struct workflow *w = l->w;
    for (size_t i = 0; i < l->scan.words.n; i++) {
        const struct scan_word *x = &l->scan.words.at[i];
        const char *word = scan_text(&l->scan, x), *name = x->plain ? lint_name(word) : NULL;
        struct stat st;
        if (!name || x->role == SCAN_WRITTEN || x->role == SCAN_CLOSE ||
            (x->role == SCAN_PROGRAM && !strchr(word, '/')))
            continue;
        bool declared = lint_is_declared(w, t, name);
        uint32_t object = declared ? NONE : workflow_find_object(w, name);
        if (object != NONE && w->producer[object] != NONE)
            LINT_SAY(l, "undeclared", t,
                     "its command names '%s', which '%s' makes, but it is not in the task's `in`; "
                     "add it there",
                     name, workflow_task_name(w, w->producer[object]));
        else if (!declared && lint_stat(l, name, &st) && S_ISREG(st.st_mode))
            LINT_SAY(l, "undeclared", t,
                     "'%s' is here, but not in the task's `in`; add it there, or the command will "
                     "not find it",
                     name);
        else if (declared && x->role == SCAN_PROGRAM && lint_stat(l, name, &st) &&
                 S_ISREG(st.st_mode) && !(st.st_mode & 0111))
            LINT_SAY(l, "executable", t,
                     "'%s' is not executable: chmod +x %s, or name its interpreter (sh %s)", name,
                     name, name);
    }
}

/* Only the last thing of a command: a file in between may be read by what follows. */
static void lint_lost(struct linting *l, uint32_t t)
{
    const struct command_scan *s = &l->scan;
    for (size_t i = s->words.n; s->whole && i--;) {
        const struct scan_word *x = &s->words.at[i];
        const char *word = scan_text(s, x), *name = x->plain ? lint_name(word) : NULL;
        if (x->role == SCAN_PROGRAM)
            return;
        if (x->role != SCAN_WRITTEN || !name || lint_is_output(l->w, t, name))
            continue;
        bool elsewhere = false;
        for (size_t k = 0; k < i; k++)
            elsewhere |= s->words.at[k].plain && strcmp(scan_text(s, &s->words.at[k]), word) == 0;
        if (!elsewhere)
            LINT_SAY(l, "lost", t,
                     "its command ends by writing '%s', which is not in its `out`: it is gone with "
                     "the task's folder; add it to `out`",
                     name);
        return;
    }
}

static void lint_folder(struct linting *l, uint32_t t)
{
    const struct command_scan *s = &l->scan;
    for (size_t i = 0; i + 1 < s->words.n; i++) {
        const struct scan_word *to = &s->words.at[i + 1];
        if (s->words.at[i].role != SCAN_PROGRAM ||
            strcmp(scan_text(s, &s->words.at[i]), "cd") != 0 || *scan_text(s, to) != '/' ||
            to->role != SCAN_ARGUMENT)
            continue;
        for (size_t k = i + 2; k < s->words.n && s->words.at[k].role != SCAN_CLOSE; k++)
            if (s->words.at[k].files) {
                LINT_SAY(l, "folder", t,
                         "its command goes to '%s' and then names its files, whose names are "
                         "relative to the task's own folder; stay there, or go in parentheses: "
                         "(cd %s && ...)",
                         scan_text(s, to), scan_text(s, to));
                return;
            }
    }
}

static void lint_quoting(struct linting *l, uint32_t t)
{
    const struct command_scan *s = &l->scan;
    if (s->quoted)
        LINT_SAY(l, "quotes", t,
                 "names are quoted already where it is needed: write %.*s without quotes around it",
                 (int)s->quoted_length, s->quoted);
    if (s->positional && !s->functions)
        LINT_SAY(l, "positional", t,
                 "the shell fills in $%c here, and it is empty; write single quotes around it "
                 "(awk '{print $%c}'), or \\$%c",
                 s->positional[1], s->positional[1], s->positional[1]);
}

/* A number of its own, a variable or {cores} will do; a program of the task's inputs may look at
 * WEFT_CORES by itself. */
static void lint_cores(struct linting *l, uint32_t t)
{
    const struct workflow *w = l->w;
    const char *text = workflow_text(w, w->command[t]);
    char number[16];
    if (w->cores[t] < 2)
        return;
    snprintf(number, sizeof number, "%u", w->cores[t]);
    static const char *const words[] = {"{cores}", "CORES", "THREADS", "nproc",
                                        "-j",      "mpi",   "srun"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(text, words[i]))
            return;
    if (strstr(text, number))
        return;
    for (uint32_t i = w->in_off[t]; i < w->in_off[t + 1]; i++) {
        struct stat st;
        const char *name = workflow_text(w, w->object_name[w->in_object[i]]);
        const char *dot = strrchr(name, '.');
        if ((dot &&
             strspn(dot, ".abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == strlen(dot) &&
             strlen(dot) <= 4 && strstr(".sh .py .R .r .pl .rb .jl .m .awk", dot)) ||
            (lint_stat(l, name, &st) && S_ISREG(st.st_mode) && (st.st_mode & 0111)))
            return;
    }
    LINT_SAY(l, "cores", t,
             "it asks for %u core%s, and its command says nothing of them; {cores} is their number",
             w->cores[t], plural(w->cores[t]));
}

/* Other interpreters have other quotes. */
static bool lint_is_shell(const struct workflow *w, uint32_t t)
{
    const char *stated = shell_stated(w, t);
    if (strncmp(workflow_text(w, w->command[t]), "#!", 2) == 0)
        return false;
    if (!stated)
        return true;
    size_t n = strcspn(stated, " ");
    while (n && strchr("abcdefghijklmnopqrstuvwxyz", stated[n - 1]))
        n--;
    const char *program = stated + n;
    return strncmp(program, "sh", 2) == 0 || strncmp(program, "bash", 4) == 0 ||
           strncmp(program, "dash", 4) == 0 || strncmp(program, "strict", 6) == 0;
}

static void lint_task(struct linting *l, uint32_t t)
{
    const struct workflow *w = l->w;
    if (!w->command || !w->command[t] || (w->flags[t] & TASK_CALL) || !w->in_off)
        return;
    lint_cores(l, t);
    if (!lint_is_shell(w, t))
        return;
    command_scan(&l->scan, w, t);
    lint_quoting(l, t);
    lint_folder(l, t);
    if (w->flags[t] & TASK_IN_PLACE) /* it sees every file, and what it writes stays */
        return;
    lint_words(l, t);
    lint_lost(l, t);
}

/* ---- rules over objects ---- */

static void lint_object(struct linting *l, uint32_t o)
{
    const struct workflow *w = l->w;
    uint32_t maker = w->producer[o], readers;
    const uint32_t *reader = workflow_consumers(w, o, &readers);
    uint32_t task = maker != NONE ? maker : readers ? reader[0] : NONE;
    const char *name =
        w->object_name && w->object_name[o] ? workflow_text(w, w->object_name[o]) : "";
    size_t n = strlen(name);
    struct stat st;
    if (!n || task == NONE)
        return;
    if (isspace((unsigned char)name[0]) || isspace((unsigned char)name[n - 1]))
        LINT_SAY(l, "blanks", task, "the name '%s' begins or ends with a blank; is that meant?",
                 name);
    if (maker != NONE && !readers && workflow_is_temporary(w, o))
        LINT_SAY(l, "unread", task,
                 "'%s' is temporary, and no task reads it; leave out `temporary` if you want it",
                 name);
    if (maker == NONE && w->command && !workflow_object_is(w, o, OBJECT_GATHERED) &&
        !lint_stat(l, name, &st)) {
        for (uint32_t i = 0; i < readers; i++) {
            struct error err = {0};
            if (!w->command[reader[i]] || (l->only && !l->only[reader[i]]))
                continue;
            missing_input(w, reader[i], o, l->folder, &err);
            /* the place and the task stand before it already */
            const char *text = strstr(err.text, " reads '");
            LINT_SAY(l, "missing", reader[i], "it%s", text ? text : " reads what is not there");
            break;
        }
    }
}

/* ---- all of them ---- */

static void lint_value(void *context, const char *rule, uint32_t line, const char *text)
{
    struct linting *l = context;
    array_push(l->out,
               (struct lint_finding){
                   .rule = rule, .line = line, .task = NONE, .text = mem_copy_string(text)});
}

static int lint_order(const void *a, const void *b)
{
    const struct lint_finding *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->task != y->task ? (x->task < y->task ? -1 : 1) : strcmp(x->rule, y->rule);
}

/* Has a rule said what the reader remarks, too? Of quotes, and of the name of a file that is not there. */
static bool lint_said(const struct linting *l, const char *remark)
{
    const char *name = strstr(remark, "`*` of '");
    name = name ? name + strlen("`*` of ") : NULL;
    size_t n = name ? 1 + strcspn(name + 1, "'") : 0;
    for (size_t i = 0; i < l->out->n; i++) {
        const struct lint_finding *f = &l->out->at[i];
        if (strcmp(f->rule, "quotes") == 0 ? strstr(remark, "names are quoted already") != NULL
                                           : n && memmem(f->text, strlen(f->text), name, n))
            return true;
    }
    return false;
}

/* A remark begins with its place, "file:line: ", which a finding has by itself. */
static void lint_remarks(struct linting *l)
{
    const struct workflow *w = l->w;
    for (uint32_t i = 0; i < w->nwarnings; i++) {
        const char *text = w->warnings[i], *file = workflow_text(w, w->file);
        if (strstr(text, FORMAT_NOT_KNOWN)) /* the file says so, and means it */
            continue;
        unsigned line = 0;
        int skip = 0;
        size_t n = strlen(file);
        if (strncmp(text, file, n) == 0 && sscanf(text + n, ":%u: %n", &line, &skip) == 1)
            text += n + (size_t)skip;
        if (!lint_said(l, text))
            lint_value(l, "remark", line, text);
    }
}

bool lint_workflow(const struct workflow *w, const char *path, const char *folder,
                   const uint8_t *only, lint_findings *out, struct error *err)
{
    struct linting l = {.w = w, .folder = folder, .only = only, .out = out};
    struct text text;
    const struct format *format = format_find(workflow_text(w, w->format));
    if (!file_read(path, &text, err))
        return false;
    intern_init(&l.places);
    for (uint32_t t = 0; t < w->ntasks; t++)
        if (!only || only[t])
            lint_task(&l, t);
    for (uint32_t o = 0; o < w->nobjects; o++)
        lint_object(&l, o);
    if (format && format->lint &&
        !only) { /* other formats' remarks are about what weft made of them */
        lint_remarks(&l);
        format->lint(&(struct format_source){.path = path, .text = text.at, .length = text.n},
                     lint_value, &l);
    }
    if (out->n)
        qsort(out->at, out->n, sizeof *out->at, lint_order);
    text_free(&text);
    intern_free(&l.places);
    array_free(&l.first);
    command_scan_free(&l.scan);
    strbuf_free(&l.path);
    strbuf_free(&l.text);
    return true;
}

void lint_findings_free(lint_findings *f)
{
    for (size_t i = 0; i < f->n; i++)
        free(f->at[i].text);
    array_free(f);
}

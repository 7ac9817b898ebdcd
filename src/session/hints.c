/* Hints: each rule looks for one mistake that people make and is silent when it is not sure.
 *
 *     a file of the folder that is not declared    "'tool.sh' is here, but not in the task's `in`"
 *     a file that may not be executed              "'tool.sh' is not executable"
 *     a program that is nowhere                    "there is no program 'bwaa' in PATH; did you mean"
 *     quotes around {in} whose names have blanks   "names are quoted already"
 *
 * The words of a command and of a log are only compared with names, never run or expanded. */
#include "session/hints.h"

#include "base/array.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/suggest.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORDS_MOST = 4000, PROGRAMS_MOST = 20000 }; /* of a long command; in all folders of PATH */

struct hint {
    const struct workflow *w;
    const struct record_failure *f;
    const char *folder;
    struct strbuf out;
};

static bool hint_in_list(const struct workflow *w, const uint32_t *list, uint32_t n,
                         const char *name)
{
    for (uint32_t i = 0; i < n; i++) {
        const char *own = w->object_name ? workflow_text(w, w->object_name[list[i]]) : "";
        size_t length = strlen(own);
        /* a declared folder has what is in it */
        if (length && strncmp(name, own, length) == 0 &&
            (!name[length] || name[length] == '/' || own[length - 1] == '/'))
            return true;
    }
    return false;
}

static bool hint_is_declared(const struct hint *h, const char *name)
{
    const struct workflow *w = h->w;
    uint32_t t = h->f->task;
    return hint_in_list(w, w->in_object + w->in_off[t], w->in_off[t + 1] - w->in_off[t], name) ||
           hint_in_list(w, w->out_object + w->object_off[t], w->object_end[t] - w->object_off[t],
                        name);
}

/* The file of that name in the workflow's folder. */
static bool hint_is_here(const struct hint *h, const char *name, struct stat *st)
{
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/%s", h->folder, name);
    bool here = stat(path.at, st) == 0 && S_ISREG(st->st_mode);
    strbuf_free(&path);
    return here;
}

/* The next word that could be a name, without quotes and punctuation around it; NULL: no more. */
static char *hint_word(const char **at)
{
    static const char between[] = " \t\n\r'\"`|&;<>()=,:$‘’";
    *at += strspn(*at, between);
    size_t n = strcspn(*at, between);
    if (!n)
        return NULL;
    const char *from = *at;
    *at += n;
    while (n > 2 && from[0] == '.' && from[1] == '/') {
        from += 2;
        n -= 2;
    }
    while (n > 1 && (from[n - 1] == '.' || from[n - 1] == ']'))
        n--;
    return mem_copy_bytes(from, n);
}

/* A rule over one word; true: it has something to say. */
typedef bool hint_rule(struct hint *h, const char *word);

static bool hint_each_word(struct hint *h, const char *text, hint_rule *rule)
{
    bool found = false;
    int words = 0;
    for (const char *at = text; at && !found && words < WORDS_MOST; words++) {
        char *word = hint_word(&at);
        if (!word)
            break;
        found = *word != '/' && *word != '-' && strcmp(word, ".") != 0 && rule(h, word);
        free(word);
    }
    return found;
}

/* ---- the rules ---- */

static bool hint_undeclared(struct hint *h, const char *word)
{
    struct stat st;
    if (strncmp(word, "..", 2) == 0 || hint_is_declared(h, word) || !hint_is_here(h, word, &st))
        return false;
    strbuf_printf(&h->out, "'%s' is here, but not in the task's `in`", word);
    return true;
}

static bool hint_not_executable(struct hint *h, const char *word)
{
    struct stat st;
    if (!hint_is_here(h, word, &st) || (st.st_mode & 0111))
        return false;
    strbuf_printf(&h->out, "'%s' is not executable: chmod +x %s, or name its interpreter (sh %s)",
                  word, word, word);
    return true;
}

/* What weft itself could not start (the program of `shell`, too), the word before "not found" in the last
 * lines ("sh: 1: bwaa: not found", "bash: line 1: bwaa: command not found"), else the command's first. The
 * caller frees; NULL: none. */
static char *hint_missing_program(const struct record_failure *f)
{
    static const char ours[] = "command not found: ";
    const char *reason = f->reason ? strstr(f->reason, ours) : NULL;
    if (reason && !strpbrk(reason + sizeof ours - 1, " :"))
        return mem_copy_string(reason + sizeof ours - 1);
    const char *said = f->tail ? strstr(f->tail, "not found") : NULL;
    if (said && said - f->tail > 9 && strncmp(said - 8, "command ", 8) == 0)
        said -= 8;
    if (said && said - f->tail > 2 && said[-2] == ':') {
        const char *end = said - 2, *from = end;
        while (from > f->tail && !isspace((unsigned char)from[-1]) && from[-1] != ':')
            from--;
        return end > from ? mem_copy_bytes(from, (size_t)(end - from)) : NULL;
    }
    const char *text = f->command ? f->command + strspn(f->command, " \t\n") : "";
    size_t n = strcspn(text, " \t\n;|&<>");
    bool plain = n && !memchr(text, '=', n) && !memchr(text, '$', n) && !memchr(text, '\'', n) &&
                 !memchr(text, '"', n);
    return plain ? mem_copy_bytes(text, n) : NULL;
}

typedef ARRAY(char *) hint_names;

static void hint_list_programs(hint_names *names)
{
    const char *path = getenv("PATH");
    char *copy = mem_copy_string(path ? path : "/usr/bin:/bin"), *rest = NULL;
    for (char *folder = strtok_r(copy, ":", &rest); folder; folder = strtok_r(NULL, ":", &rest)) {
        DIR *d = opendir(folder);
        for (struct dirent *e; d && names->n < PROGRAMS_MOST && (e = readdir(d));)
            if (e->d_name[0] != '.')
                array_push(names, mem_copy_string(e->d_name));
        if (d)
            closedir(d);
    }
    free(copy);
}

/* Only what is near enough to be a slip, and not the name itself: that would be elsewhere. */
static void hint_no_program(struct hint *h, const char *program)
{
    hint_names names = {0};
    hint_list_programs(&names);
    const char *near =
        names.n ? suggest_nearest(program, (const char *const *)names.at, names.n) : NULL;
    bool there = near && strcmp(near, program) == 0;
    if (!there && strlen(program) >= 3 && near)
        strbuf_printf(&h->out,
                      "there is no program '%s' in PATH where weft was started; did you mean "
                      "'%s'?",
                      program, near);
    else if (!there)
        strbuf_printf(&h->out,
                      "there is no program '%s' in PATH where weft was started: is it installed, "
                      "or loaded (module, conda)?",
                      program);
    for (size_t i = 0; i < names.n; i++)
        free(names.at[i]);
    array_free(&names);
}

/* Names with blanks are quoted when they are filled in: quotes around the mark undo that. */
static bool hint_quoted_twice(struct hint *h)
{
    static const char *const marks[] = {"\"{in", "'{in", "\"{out", "'{out"};
    const char *text = workflow_text(h->w, h->w->command[h->f->task]);
    for (size_t i = 0; i < 4; i++) {
        const char *at = strstr(text, marks[i]);
        if (at && h->f->command && strstr(h->f->command, *marks[i] == '"' ? "\"'" : "''")) {
            strbuf_printf(&h->out,
                          "names are quoted already where it is needed: write %.*s} without "
                          "quotes around it",
                          (int)strcspn(at + 1, "}"), at + 1);
            return true;
        }
    }
    return false;
}

static bool hint_says(const struct record_failure *f, const char *words)
{
    return f->tail && strcasestr(f->tail, words);
}

/* In order of certainty; the first that knows something speaks. */
static void hint_find(struct hint *h, bool sandboxed)
{
    const struct record_failure *f = h->f;
    bool missing = hint_says(f, "no such file") || hint_says(f, "not found") ||
                   hint_says(f, "cannot open") || hint_says(f, "can't open") ||
                   hint_says(f, "does not exist") || hint_says(f, "no module named");
    bool denied = f->status == 126 || hint_says(f, "permission denied");
    if (hint_quoted_twice(h))
        return;
    /* what the log names first: it knows which of the command's words was missed */
    if (sandboxed && (missing || f->status == 126 || f->status == 127 || f->status == 2)) {
        if (missing && hint_each_word(h, f->tail, hint_undeclared))
            return;
        if (hint_each_word(h, f->command, hint_undeclared))
            return;
    }
    if (denied && hint_each_word(h, f->command, hint_not_executable))
        return;
    if (f->status == 127) {
        char *program = hint_missing_program(f);
        if (program && !strchr(program, '/'))
            hint_no_program(h, program);
        free(program);
    }
}

char *hint_for(const struct workflow *w, const struct record_failure *f, const char *folder,
               bool sandboxed)
{
    struct hint h = {.w = w, .f = f, .folder = folder};
    bool ours = f->outcome == TRACE_FAILED || f->outcome == TRACE_NOT_STARTED;
    if (ours && w->command && w->in_off && f->command && !(w->flags[f->task] & TASK_CALL))
        hint_find(&h, sandboxed);
    if (!h.out.n) {
        strbuf_free(&h.out);
        return NULL;
    }
    return strbuf_steal(&h.out);
}

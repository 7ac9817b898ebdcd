/* Kinds of tasks: see task_kind.h. Two passes: the first counts who shares a name but for its numbers,
 * and whether they run the same program; the second names the kinds. */
#include "model/task_kind.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SEPARATORS "_-.:# "

static bool kind_is_digit(char c)
{
    return isdigit((unsigned char)c);
}

/* The name without the members' values: "align@s=a/sort" is of align/sort. */
static void kind_add_family(struct strbuf *out, const char *name)
{
    while (*name) {
        size_t n = strcspn(name, "@");
        strbuf_add_bytes(out, name, n);
        name += n;
        name += strcspn(name, "/");
    }
}

/* Numbers at the end go, with what stands before them; a name of numbers alone stays. */
static size_t kind_stem(const char *text, size_t n)
{
    size_t full = n;
    while (n && (kind_is_digit(text[n - 1]) || strchr(SEPARATORS, text[n - 1])))
        n--;
    return n ? n : full;
}

/* Of a task that has no other like it: `align_7` is an align, but `md5` and `sha256` are names. */
static void kind_add_single(struct strbuf *out, const char *name)
{
    struct strbuf family = {0};
    kind_add_family(&family, name);
    const char *text = strbuf_text(&family);
    size_t n = family.n, digits = n;
    while (digits && kind_is_digit(text[digits - 1]))
        digits--;
    bool numbered = digits && digits < n && strchr(SEPARATORS, text[digits - 1]);
    strbuf_add_bytes(out, text, numbered ? kind_stem(text, n) : n);
    strbuf_free(&family);
}

/* Of one among others: any number may be what varies. */
static void kind_add_shared(struct strbuf *out, const char *name)
{
    struct strbuf family = {0};
    kind_add_family(&family, name);
    const char *text = strbuf_text(&family);
    size_t n = kind_stem(text, family.n);
    for (size_t i = 0; i < n; i++)
        if (!kind_is_digit(text[i]))
            strbuf_add_char(out, text[i]);
        else if (!i || !kind_is_digit(text[i - 1]))
            strbuf_add_char(out, '#');
    strbuf_free(&family);
}

bool task_kind_is_interpreter(const char *word, size_t n)
{
    static const char *const known[] = {
        "python", "perl", "ruby", "Rscript", "julia", "node", "bash", "sh",   "dash",   "zsh",
        "octave", "java", "lua",  "php",     "env",   "time", "nice", "srun", "mpirun", "tclsh"};
    const char *slash = memrchr(word, '/', n);
    const char *base = slash ? slash + 1 : word;
    n -= (size_t)(base - word);
    while (n && (kind_is_digit(base[n - 1]) || base[n - 1] == '.'))
        n--; /* python3.11 */
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i]) == n && memcmp(known[i], base, n) == 0)
            return true;
    return false;
}

/* " python a.py": the program with what it interprets, numbers left out; nothing for a task without a
 * command. */
static void kind_add_program(struct strbuf *out, const struct workflow *w, uint32_t task)
{
    const char *text = w->command ? workflow_text(w, w->command[task]) : "";
    if (strncmp(text, "#!", 2) == 0) /* a script of its own: its name says what it does */
        return;
    for (bool more = true; more;) {
        text += strspn(text, " \t\n");
        size_t n = strcspn(text, " \t\n");
        if (!n)
            return;
        if (*text != '-') { /* options vary */
            more = task_kind_is_interpreter(text, n);
            strbuf_add_char(out, ' ');
            for (size_t i = 0; i < n; i++)
                if (!kind_is_digit(text[i]))
                    strbuf_add_char(out, text[i]);
        }
        text += n;
    }
}

/* What tasks with one name but for its numbers have in common. */
struct kind_sharing {
    uint32_t tasks;
    uint32_t program; /* of the first */
    bool differ;      /* others have another one */
};

/* Per task the number of its shared name; NONE: its kind is stated. */
static uint32_t *kind_find_sharing(const struct workflow *w, struct intern *shared,
                                   struct kind_sharing **sharing)
{
    struct intern programs;
    struct strbuf text = {0};
    ARRAY(struct kind_sharing) all = {0};
    uint32_t *of = mem_new(uint32_t, (size_t)w->ntasks + 1);
    intern_init(&programs);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        of[t] = NONE;
        if (w->flags[t] & TASK_KIND_STATED)
            continue;
        strbuf_clear(&text);
        kind_add_shared(&text, workflow_task_name(w, t));
        uint32_t k = of[t] = intern_number(shared, strbuf_text(&text), text.n);
        strbuf_clear(&text);
        kind_add_program(&text, w, t);
        uint32_t program = intern_number(&programs, strbuf_text(&text), text.n);
        if (k == all.n)
            array_push(&all, (struct kind_sharing){.program = program});
        all.at[k].tasks++;
        all.at[k].differ |= all.at[k].program != program;
    }
    intern_free(&programs);
    strbuf_free(&text);
    *sharing = all.at;
    return of;
}

void task_kinds_find(const struct workflow *w, struct task_kinds *out)
{
    struct intern shared;
    struct kind_sharing *sharing;
    struct strbuf text = {0};
    intern_init(&shared);
    uint32_t *of = kind_find_sharing(w, &shared, &sharing);
    *out = (struct task_kinds){.of = mem_new(uint32_t, (size_t)w->ntasks + 1)};
    intern_init(&out->names);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        const struct kind_sharing *s = of[t] == NONE ? NULL : &sharing[of[t]];
        /* neighbours mostly are of one kind */
        bool same = t && of[t] == of[t - 1] && (s ? !s->differ : w->kind[t] == w->kind[t - 1]);
        if (same) {
            out->of[t] = out->of[t - 1];
            continue;
        }
        strbuf_clear(&text);
        if (!s)
            strbuf_add(&text, workflow_text(w, w->kind[t]));
        else if (s->tasks == 1)
            kind_add_single(&text, workflow_task_name(w, t));
        else
            strbuf_add(&text, intern_text(&shared, of[t]));
        if (s && s->differ)
            kind_add_program(&text, w, t);
        out->of[t] = intern_number(&out->names, strbuf_text(&text), text.n);
    }
    free(of);
    free(sharing);
    intern_free(&shared);
    strbuf_free(&text);
}

void task_kinds_free(struct task_kinds *k)
{
    free(k->of);
    intern_free(&k->names);
    *k = (struct task_kinds){0};
}

bool task_kind_is_usual(const struct workflow *w, uint32_t task)
{
    const char *kind = workflow_text(w, w->kind[task]);
    const char *text = w->command ? workflow_text(w, w->command[task]) : "";
    text += strspn(text, " \t\n");
    size_t n =
        strncmp(text, "#!", 2) == 0 || w->flags[task] & TASK_CALL ? 0 : strcspn(text, " \t\n");
    if (w->flags[task] & TASK_KIND_STATED)
        return false;
    return n ? strlen(kind) == n && memcmp(kind, text, n) == 0
             : strcmp(kind, workflow_task_name(w, task)) == 0;
}

bool task_kind_fits(const char *kind, const char *name)
{
    struct strbuf text = {0};
    kind_add_single(&text, name);
    bool fits = strcmp(strbuf_text(&text), kind) == 0;
    strbuf_clear(&text);
    kind_add_shared(&text, name);
    fits = fits || strcmp(strbuf_text(&text), kind) == 0;
    strbuf_free(&text);
    return fits;
}

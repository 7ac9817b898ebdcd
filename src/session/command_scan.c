/* One pass over a command with a shell's eyes: quotes, words, operators. See command_scan.h. */
#include "session/command_scan.h"

#include "model/command.h"

#include <ctype.h>
#include <string.h>

struct scanning {
    struct command_scan *s;
    const struct workflow *w;
    const char *text, *at;
    bool program;        /* the next word begins a command */
    enum scan_role next; /* SCAN_WRITTEN, SCAN_READ: behind a redirection */
};

static bool scan_is(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(word, *list) == 0)
            return true;
    return false;
}

/* After these the command is still to come. */
static const char *const scan_prefixes[] = {"if",    "then",    "elif", "else", "do",
                                            "while", "until",   "time", "exec", "nohup",
                                            "env",   "command", "!",    "{",    NULL};
/* These begin no command of their own. */
static const char *const scan_closers[] = {"done", "fi", "esac", "}", NULL};

/* {in}, {sigma} ... at `p`: how long, and whether it is files. 0: a brace like any other. */
static size_t scan_mark(const struct scanning *g, const char *p, bool *files)
{
    struct marking m = command_marking(g->w, g->text, p);
    *files = m.mark == MARK_IN || m.mark == MARK_OUT;
    return m.mark == MARK_NONE || m.mark == MARK_UNKNOWN || m.mark == MARK_SHELL ? 0 : m.length;
}

/* Past what stands between parentheses or backquotes at `p`; what is quoted in it counts for itself. */
static const char *scan_skip_nested(const char *p, char close)
{
    int depth = 1;
    for (p++; *p && depth; p++) {
        if (*p == '\\' && p[1])
            p++;
        else if (*p == '\'' && close == ')')
            p += strcspn(p + 1, "'") + (strchr(p + 1, '\'') ? 1 : 0);
        else if (*p == close)
            depth--;
        else if (close == ')' && *p == '(')
            depth++;
    }
    return p;
}

/* $1, "$(...)" and their kin at a dollar sign: past it. The word is not plain. */
static const char *scan_dollar(struct scanning *g, const char *p)
{
    if (p[1] == '(')
        return scan_skip_nested(p + 1, ')');
    if (p[1] >= '1' && p[1] <= '9' && !g->s->positional)
        g->s->positional = p;
    return p + 1;
}

/* "..." or '...' at `p`; past its end. */
static const char *scan_quotes(struct scanning *g, const char *p, struct scan_word *x)
{
    char quote = *p;
    bool files;
    size_t n = (p[1] == '{') ? scan_mark(g, p + 1, &files) : 0;
    if (n && files && p[1 + n] == quote && !g->s->quoted) {
        g->s->quoted = p + 1;
        g->s->quoted_length = n;
    }
    for (p++; *p && *p != quote;) {
        if (quote == '"' && *p == '\\' && p[1]) {
            strbuf_add_char(&g->s->text, p[1]);
            p += 2;
        } else if (quote == '"' && (*p == '$' || *p == '`')) {
            x->plain = false;
            p = *p == '`' ? scan_skip_nested(p, '`') : scan_dollar(g, p);
        } else if ((*p == '{' || *p == '}') && (n = scan_mark(g, p, &files)) > 0) {
            x->plain = false;
            x->files |= files;
            p += n;
        } else {
            strbuf_add_char(&g->s->text, *p++);
        }
    }
    return *p ? p + 1 : p;
}

/* A word at g->at, up to what ends words. */
static void scan_a_word(struct scanning *g)
{
    struct command_scan *s = g->s;
    struct scan_word x = {.role = g->next      ? g->next
                                  : g->program ? SCAN_PROGRAM
                                               : SCAN_ARGUMENT,
                          .text = s->text.n,
                          .plain = true};
    const char *p = g->at;
    bool files;
    size_t n;
    while (*p && !strchr(" \t\r\n;|&()<>", *p)) {
        if (*p == '\'' || *p == '"') {
            p = scan_quotes(g, p, &x);
        } else if (*p == '\\' && p[1]) {
            strbuf_add_char(&s->text, p[1]);
            p += 2;
        } else if (*p == '$' || *p == '`') {
            x.plain = false;
            p = *p == '`' ? scan_skip_nested(p, '`') : scan_dollar(g, p);
        } else if ((*p == '{' || *p == '}') && (n = scan_mark(g, p, &files)) > 0) {
            x.plain = false;
            x.files |= files;
            p += n;
        } else {
            x.plain &= !strchr("*?[", *p);
            strbuf_add_char(&s->text, *p++);
        }
    }
    strbuf_add_char(&s->text, 0);
    const char *word = s->text.at + x.text;
    bool behind = g->next != 0, begins = g->program && !behind;
    g->at = p;
    g->next = 0;
    if (begins && scan_is(word, scan_closers))
        return;
    if (begins && (scan_is(word, scan_prefixes) ||
                   (strchr(word, '=') && x.plain && isalpha((unsigned char)*word))))
        return; /* an assignment, too: the command is still to come */
    if (!behind)
        g->program = false;
    s->functions |= begins && (strcmp(word, "set") == 0 || strcmp(word, "function") == 0);
    array_push(&s->words, x);
}

/* <, >, >>, 2>&1 ... at g->at. False: a heredoc, whose text is no shell's. */
static bool scan_redirection(struct scanning *g)
{
    const char *p = g->at;
    bool out = *p == '>';
    size_t n = strspn(p, out ? ">" : "<");
    p += n;
    if (!out && n == 2)
        return false;
    if (*p == '(') { /* <(...): a command of its own, in parentheses */
        g->at = p;
        return true;
    }
    if (*p == '|' && out)
        p++;
    if (*p == '&') { /* >&2: no file */
        p += 1 + strspn(p + 1, "0123456789-");
        g->at = p;
        return true;
    }
    if (out && n > 0 && p - n > g->text && p[-(ptrdiff_t)n - 1] == '&')
        g->program = false; /* &>: no end of the command */
    g->at = p;
    g->next = n == 3 ? SCAN_ARGUMENT : out ? SCAN_WRITTEN : SCAN_READ;
    return true;
}

static void scan_operator(struct scanning *g)
{
    struct command_scan *s = g->s;
    if (*g->at == '(' && g->at[1] == ')')
        s->functions = true;
    if (*g->at == ')')
        array_push(&s->words, (struct scan_word){.role = SCAN_CLOSE, .text = s->text.n});
    if (*g->at == ')')
        strbuf_add_char(&s->text, 0);
    g->program = true;
    g->next = 0;
    g->at++;
}

void command_scan(struct command_scan *s, const struct workflow *w, uint32_t task)
{
    const char *text = workflow_text(w, w->command[task]);
    struct scanning g = {.s = s, .w = w, .text = text, .at = text, .program = true};
    strbuf_clear(&s->text);
    s->words.n = 0;
    s->functions = false;
    s->quoted = s->positional = NULL;
    s->whole = true;
    while (*g.at && s->whole) {
        if (*g.at == ' ' || *g.at == '\t' || *g.at == '\r')
            g.at++;
        else if (*g.at == '#')
            g.at += strcspn(g.at, "\n");
        else if (*g.at == '\\' && g.at[1] == '\n')
            g.at += 2;
        else if (*g.at == '<' || *g.at == '>')
            s->whole = scan_redirection(&g);
        else if (strchr("\n;|&()", *g.at))
            scan_operator(&g);
        else
            scan_a_word(&g);
    }
}

void command_scan_free(struct command_scan *s)
{
    strbuf_free(&s->text);
    array_free(&s->words);
}

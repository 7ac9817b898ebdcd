/* DAGMan files as statements: logical lines, keywords, inline submit descriptions. Nothing is
 * resolved and nothing copied; a statement points into the text, which therefore must stay. A
 * file that is spliced a hundred times is parsed once.
 *
 *     text ─▶ logical lines (a backslash at the end goes on) ─▶ keyword and rest ─▶ statements
 *
 * Which statements mean something to a graph is decided later (dagman_apply.c); those that do not are
 * known here all the same, so that a slip in a keyword is told from one that was left out on purpose. */
#include "formats/dagman/dagman_parse.h"
#include "base/suggest.h"
#include <string.h>
#include <strings.h>

static const char *const keywords[DAGMAN_KEYWORDS] = {
    [DAGMAN_JOB] = "JOB",
    [DAGMAN_FINAL] = "FINAL",
    [DAGMAN_PROVISIONER] = "PROVISIONER",
    [DAGMAN_SERVICE] = "SERVICE",
    [DAGMAN_SUBDAG] = "SUBDAG",
    [DAGMAN_SPLICE] = "SPLICE",
    [DAGMAN_PARENT] = "PARENT",
    [DAGMAN_CONNECT] = "CONNECT",
    [DAGMAN_PIN_IN] = "PIN_IN",
    [DAGMAN_PIN_OUT] = "PIN_OUT",
    [DAGMAN_INCLUDE] = "INCLUDE",
    [DAGMAN_VARS] = "VARS",
    [DAGMAN_PRIORITY] = "PRIORITY",
    [DAGMAN_RETRY] = "RETRY",
    [DAGMAN_DONE] = "DONE",
    [DAGMAN_SUBMIT_DESCRIPTION] = "SUBMIT-DESCRIPTION",
    [DAGMAN_SCRIPT] = "SCRIPT",
    [DAGMAN_PRE_SKIP] = "PRE_SKIP",
    [DAGMAN_ABORT_DAG_ON] = "ABORT-DAG-ON",
    [DAGMAN_CATEGORY] = "CATEGORY",
    [DAGMAN_TOLERANCE] = "TOLERANCE",
    [DAGMAN_MAXJOBS] = "MAXJOBS",
    [DAGMAN_CONFIG] = "CONFIG",
    [DAGMAN_DOT] = "DOT",
    [DAGMAN_NODE_STATUS_FILE] = "NODE_STATUS_FILE",
    [DAGMAN_JOBSTATE_LOG] = "JOBSTATE_LOG",
    [DAGMAN_SET_JOB_ATTR] = "SET_JOB_ATTR",
    [DAGMAN_ENV] = "ENV",
    [DAGMAN_REJECT] = "REJECT",
    [DAGMAN_SAVE_POINT_FILE] = "SAVE_POINT_FILE",
};

const char *dagman_keyword_name(enum dagman_keyword keyword)
{
    return keywords[keyword];
}

/* Keywords are in any case. */
bool dagman_is(struct dagman_span word, const char *text)
{
    return word.n == strlen(text) && strncasecmp(word.at, text, word.n) == 0;
}

static bool dagman_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* The next word, of length 0 at the end; *rest moves behind it. */
struct dagman_span dagman_word(struct dagman_span *rest)
{
    while (rest->n && dagman_is_blank(*rest->at)) {
        rest->at++;
        rest->n--;
    }
    struct dagman_span word = {rest->at, 0};
    while (rest->n && !dagman_is_blank(*rest->at)) {
        rest->at++;
        rest->n--;
        word.n++;
    }
    return word;
}

/* The name of a file or folder: a word, or what stands between double quotes. */
struct dagman_span dagman_path_word(struct dagman_span *rest)
{
    struct dagman_span ahead = *rest, word = dagman_word(&ahead);
    const char *close = NULL;
    if (word.n > 1 && *word.at == '"')
        close = memchr(word.at + 1, '"', (size_t)(rest->at + rest->n - word.at - 1));
    if (!close)
        return dagman_word(rest);
    rest->n -= (uint32_t)(close + 1 - rest->at);
    rest->at = close + 1;
    return (struct dagman_span){word.at + 1, (uint32_t)(close - word.at - 1)};
}

static enum dagman_keyword keyword_of(struct dagman_span word)
{
    for (int i = 0; i < DAGMAN_KEYWORDS; i++)
        if (dagman_is(word, keywords[i]))
            return (enum dagman_keyword)i;
    if (dagman_is(word, "NODE") || dagman_is(word, "DATA"))
        return DAGMAN_JOB;
    return DAGMAN_KEYWORDS;
}

/* A text being taken line by line. */
struct lines {
    const char *path;
    char *at, *end;
    size_t line; /* number of the next physical line */
};

/* Where the line's text ends: blanks at its end do not count. */
static char *line_stop(char *start, char *eol)
{
    while (eol > start && dagman_is_blank(eol[-1]))
        eol--;
    return eol;
}

static bool is_comment(const char *start, const char *stop)
{
    while (start < stop && dagman_is_blank(*start))
        start++;
    return start < stop && *start == '#';
}

/* The next logical line: a backslash at its end joins the following one. A comment ends with its own
 * line, and one between joined lines counts as blanks, both as in DAGMan. In place: backslash, newline
 * and such comments become blanks. */
static bool next_line(struct lines *s, struct dagman_span *out, size_t *line)
{
    if (s->at >= s->end)
        return false;
    char *start = s->at;
    *line = s->line;
    for (;;) {
        char *begin = s->at, *eol = memchr(begin, '\n', (size_t)(s->end - begin));
        char *stop = eol ? eol : s->end, *last = line_stop(begin, stop);
        bool comment = is_comment(begin, last), joined = last > begin && last[-1] == '\\';
        s->at = eol ? eol + 1 : s->end;
        s->line++;
        if (joined)
            last[-1] = ' ';
        if (comment && begin > start)
            memset(begin, ' ', (size_t)(last - begin));
        if (joined && eol && !(comment && begin == start)) {
            *eol = ' ';
            if (s->at < s->end)
                continue;
        }
        *out = (struct dagman_span){start, (uint32_t)(stop - start)};
        return true;
    }
}

/* The lines up to one that begins with `close`; what follows on that line is the tail. Their
 * continuations are left for the submit description's own reader. */
static bool take_block(struct lines *s, const char *close, size_t close_n, bool whole_word,
                       struct dagman_statement *st, struct error *err)
{
    char *start = s->at;
    while (s->at < s->end) {
        char *eol = memchr(s->at, '\n', (size_t)(s->end - s->at)), *stop = eol ? eol : s->end;
        char *p = s->at;
        while (p < stop && dagman_is_blank(*p))
            p++;
        s->at = eol ? eol + 1 : s->end;
        s->line++;
        if ((size_t)(stop - p) < close_n || memcmp(p, close, close_n) != 0)
            continue;
        if (whole_word && p + close_n < stop && !dagman_is_blank(p[close_n]))
            continue;
        st->block = (struct dagman_span){start, (uint32_t)(p - start)};
        st->tail = (struct dagman_span){p + close_n, (uint32_t)(stop - p - (ptrdiff_t)close_n)};
        return true;
    }
    return error_at(err, s->path, st->line,
                    "this inline submit description does not end; expected %.*s", (int)close_n,
                    close);
}

/* JOB name {   or   JOB name @=tag */
static bool find_block(struct lines *s, struct dagman_statement *st, struct error *err)
{
    struct dagman_span rest = st->rest, name = dagman_word(&rest), open = dagman_word(&rest);
    (void)name;
    if (open.n == 1 && *open.at == '{') {
        if (dagman_word(&rest).n)
            return error_at(err, s->path, st->line,
                            "a submit description begins on the line after its {");
        return take_block(s, "}", 1, false, st, err);
    }
    if (open.n > 2 && open.at[0] == '@' && open.at[1] == '=') {
        char close[256];
        if (open.n - 1 >= sizeof close)
            return error_at(err, s->path, st->line, "the tag of a submit description is too long");
        close[0] = '@';
        memcpy(close + 1, open.at + 2, open.n - 2);
        return take_block(s, close, open.n - 1, true, st, err);
    }
    return true;
}

/* False at the first word that is no command, with the nearest one that is. */
bool dagman_parse(struct dagman_file *f, char *text, size_t length, struct error *err)
{
    if (length > UINT32_MAX)
        return error_at(err, f->path, 0, "larger than 4 GiB, the most this reader takes");
    struct lines s = {f->path, text, text + length, 1};
    if (length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        s.at += 3;
    struct dagman_span line;
    size_t number;
    while (next_line(&s, &line, &number)) {
        struct dagman_span word = dagman_word(&line);
        if (!word.n || *word.at == '#')
            continue;
        if (dagman_is(word, "WEAK")) /* WEAK PARENT a CHILD b: an ordering all the same */
            word = dagman_word(&line);
        struct dagman_statement st = {.keyword = keyword_of(word), .line = number, .rest = line};
        if (st.keyword == DAGMAN_KEYWORDS) {
            char *copy = mem_copy_bytes(word.at, word.n > 60 ? 60 : word.n);
            for (char *p = copy; *p; p++)
                *p = *p >= 'a' && *p <= 'z' ? (char)(*p - 32) : *p;
            const char *near = suggest_nearest(copy, keywords, DAGMAN_KEYWORDS);
            error_at(err, f->path, number, "'%s' is no DAGMan command%s%s%s", copy,
                     near ? "; did you mean " : "; expected JOB, PARENT, VARS and the like",
                     near ? near : "", near ? "?" : "");
            free(copy);
            return false;
        }
        bool may_block = st.keyword <= DAGMAN_SERVICE || st.keyword == DAGMAN_SUBMIT_DESCRIPTION;
        if (may_block && !find_block(&s, &st, err))
            return false;
        array_push(&f->statements, st);
    }
    return true;
}

void dagman_file_free(struct dagman_file *f)
{
    array_free(&f->statements);
    free(f->original);
    free(f->path);
    f->path = NULL;
}

/* Every one of the first twenty statements must begin with a DAGMan keyword; JOB or PARENT with
 * two words after it makes it certain. CWS files fail at TASK. */
int dagman_sniff(const char *path, const char *text, size_t length)
{
    (void)path;
    const char *p = text, *end = text + (length < 8192 ? length : 8192);
    int sure = 0, seen = 0;
    char block = 0; /* what a block's last line begins with: } or @; 0: none is open */
    bool continued = false;
    if (length >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0)
        p += 3;
    size_t signature = sizeof DAGMAN_SIGNATURE - 1;
    if ((size_t)(end - p) >= signature && memcmp(p, DAGMAN_SIGNATURE, signature) == 0)
        return 3;
    while (p < end && seen < 20) {
        const char *eol = memchr(p, '\n', (size_t)(end - p)), *stop = eol ? eol : end;
        if (!eol && length > 8192)
            break; /* cut in the middle of a line */
        while (stop > p && dagman_is_blank(stop[-1]))
            stop--;
        struct dagman_span line = {p, (uint32_t)(stop - p)}, word = dagman_word(&line);
        bool comment = word.n && *word.at == '#', skip = continued || !word.n || comment;
        continued = stop > p && stop[-1] == '\\' && (continued || !comment);
        p = eol ? eol + 1 : end;
        if (block) {
            if (word.n && *word.at == block)
                block = 0;
            continued = false;
            continue;
        }
        if (skip)
            continue;
        if (dagman_is(word, "WEAK"))
            word = dagman_word(&line);
        enum dagman_keyword k = keyword_of(word);
        if (k == DAGMAN_KEYWORDS)
            return 0;
        seen++;
        struct dagman_span first = dagman_word(&line), second = dagman_word(&line);
        if (!first.n && k != DAGMAN_REJECT)
            return 0;
        if (second.n && (*second.at == '{' || *second.at == '@'))
            block = *second.at == '{' ? '}' : '@';
        if ((k <= DAGMAN_SPLICE && second.n) || (k == DAGMAN_PARENT && second.n))
            sure = 3;
        else if (second.n && sure < 2)
            sure = 2;
    }
    return seen ? (sure ? sure : 1) : 0;
}

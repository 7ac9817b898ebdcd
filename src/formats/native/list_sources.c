/* Values of lists from outside the workflow's file: names of files, lines, tables.
 *
 * Files are looked for folder by folder along the pattern's segments, so that only folders that can
 * match are opened. A variable stands for at least one character and no slash, and takes as many as
 * it can: of "{s}_{lane}.fq" and a_b_1.fq, {s} is a_b. Hidden files match only where the pattern
 * itself begins with a dot. Rows are sorted by their values. Cost: what readdir gives, sorted. */
#include "formats/native/list_sources.h"
#include "base/file.h"
#include "base/tree.h"
#include "base/utf8.h"
#include "base/plural.h"

#include "model/command.h"

#include <string.h>
#include <sys/stat.h>

/* ---- files ---- */

struct file_search {
    struct list_rows *rows;
    const struct native *n;
    yaml_ref at;
    const char *title;
    ARRAY(char *) bound; /* by column; NULL: not bound */
    uint64_t tries;      /* of ways in which a name may match */
    struct strbuf path;  /* of the folder that is looked at, with a slash at its end; "": here */
    bool failed;
};

/* The column of the variable that begins at p ("{s}..."), *length with its braces; UINT32_MAX: the
 * brace stands for itself. */
static uint32_t file_variable(const struct file_search *f, const char *p, size_t *length)
{
    const char *close = strchr(p, '}');
    if (p[0] != '{' || !close || !command_is_name(p + 1, (size_t)(close - p) - 1))
        return UINT32_MAX;
    *length = (size_t)(close - p) + 1;
    for (size_t c = 0; c < f->rows->columns.n; c++) {
        const char *name = lists_name(f->rows->lists, f->rows->columns.at[c]);
        if (strlen(name) == *length - 2 && memcmp(name, p + 1, *length - 2) == 0)
            return (uint32_t)c;
    }
    return UINT32_MAX;
}

/* Of one name: five variables and a name of one letter repeated have more ways than time. */
enum { TRIES_MOST = 1000000 };

/* Does `name` match the segment from p to end? Variables are bound as far as it does. */
static bool match_segment(struct file_search *f, const char *p, const char *end, const char *name)
{
    size_t length;
    while (p < end) {
        uint32_t column = *p == '{' ? file_variable(f, p, &length) : UINT32_MAX;
        if (column == UINT32_MAX) {
            if (*p != *name)
                return false;
            p += 1 + ((*p == '{' || *p == '}') && p[1] == *p); /* {{ is a brace */
            name++;
            continue;
        }
        char **value = &f->bound.at[column];
        p += length;
        if (*value) {
            size_t n = strlen(*value);
            if (strncmp(name, *value, n) != 0)
                return false;
            name += n;
            continue;
        }
        for (size_t n = strlen(name); n > 0 && f->tries <= TRIES_MOST; n--) {
            f->tries++;
            *value = mem_copy_bytes(name, n);
            if (match_segment(f, p, end, name + n))
                return true;
            free(*value);
            *value = NULL;
        }
        return false;
    }
    return !*name;
}

/* A value that has been given to every variable: one row. What is no UTF-8 is refused here, where its
 * folder is known: later it would be a name that no file of text can hold. */
static void file_found(struct file_search *f)
{
    for (size_t c = 0; c < f->bound.n && !f->failed; c++) {
        const char *value = f->bound.at[c];
        if (utf8_valid(value, strlen(value)) != strlen(value)) {
            f->failed =
                !native_error(f->n, f->at, "list '%.80s': the name of a file in %.200s is no UTF-8",
                              f->title, f->path.n ? f->path.at : ".");
        } else if (!list_value(f->rows, value, strlen(value))) {
            f->failed = !native_error(f->n, f->at, "list '%.80s' has more than %d values", f->title,
                                      LIST_VALUES_MOST);
        }
    }
}

static void search_files(struct file_search *f, const char *pattern);

/* One name of the folder: does it match, and what follows? */
static void try_name(struct file_search *f, const char *pattern, const char *end, const char *name)
{
    size_t columns = f->bound.n, length = f->path.n;
    bool *before = mem_new(bool, columns);
    for (size_t c = 0; c < columns; c++)
        before[c] = f->bound.at[c] != NULL;
    f->tries = 0;
    bool matches = match_segment(f, pattern, end, name);
    if (f->tries > TRIES_MOST)
        f->failed = !native_error(f->n, f->at,
                                  "list '%.80s': '%.200s' may match in too many ways; put texts "
                                  "between the variables that tell them apart",
                                  f->title, name);
    else if (matches) {
        if (!*end) {
            file_found(f);
        } else {
            strbuf_printf(&f->path, "%s/", name);
            search_files(f, end + 1);
            f->path.n = length;
            f->path.at[length] = 0;
        }
    }
    for (size_t c = 0; c < columns; c++)
        if (!before[c]) {
            free(f->bound.at[c]);
            f->bound.at[c] = NULL;
        }
    free(before);
}

/* The folder f->path along the rest of the pattern. One that cannot be opened matches nothing. */
static void search_files(struct file_search *f, const char *pattern)
{
    const char *end = pattern + strcspn(pattern, "/");
    folder_names names = {0};
    if (!outside_list(f->n->outside, f->path.n ? f->path.at : ".", &names))
        return;
    if (!*end && names.n < LIST_VALUES_MOST) /* most of them are values, and mostly new ones */
        intern_expect(&f->rows->lists->values, (uint32_t)names.n);
    for (size_t i = 0; i < names.n && !f->failed; i++)
        if (names.at[i][0] != '.' || pattern[0] == '.')
            try_name(f, pattern, end, names.at[i]);
    folder_names_free(&names);
}

/* Its variables become the list's columns, in their order. False: it has none. */
static bool pattern_columns(struct list_rows *rows, const char *pattern)
{
    for (const char *p = strchr(pattern, '{'); p; p = strchr(p + 1, '{')) {
        const char *close = strchr(p, '}');
        if (p[1] == '{') {
            p++;
            continue;
        }
        if (!close || !command_is_name(p + 1, (size_t)(close - p) - 1))
            continue;
        bool known = false;
        for (size_t c = 0; c < rows->columns.n && !known; c++) {
            const char *name = lists_name(rows->lists, rows->columns.at[c]);
            known =
                strlen(name) == (size_t)(close - p) - 1 && memcmp(name, p + 1, strlen(name)) == 0;
        }
        if (!known)
            list_column(rows, p + 1, (size_t)(close - p) - 1);
    }
    return rows->columns.n > 0;
}

bool list_pattern_columns(struct list_rows *rows, const struct native *n, yaml_ref at,
                          const char *title, const char *pattern)
{
    return pattern_columns(rows, pattern) ||
           native_error(n, at,
                        "list '%.80s': files has no variable; write {%s} where the values "
                        "stand, as in \"data/{%s}.txt\"",
                        title, title, title);
}

/* Rows by their values, column by column: names are in order already, but "a-b.txt" comes before "a.txt". */
static int compare_rows(const void *a, const void *b, void *context)
{
    const struct list_rows *rows = context;
    const uint32_t *x = a, *y = b;
    for (size_t c = 0; c < rows->columns.n; c++)
        if (x[c] != y[c])
            return strcmp(lists_value(rows->lists, x[c]), lists_value(rows->lists, y[c]));
    return 0;
}

/* Most are in order as they are found: one look is cheaper than a sort of a million. */
static void sort_rows(struct list_rows *rows)
{
    size_t columns = rows->columns.n, n = rows->cells.n / columns, i = 1;
    while (i < n && compare_rows(&rows->cells.at[(i - 1) * columns], &rows->cells.at[i * columns],
                                 rows) <= 0)
        i++;
    if (i < n)
        qsort_r(rows->cells.at, n, columns * sizeof *rows->cells.at, compare_rows, rows);
}

bool list_from_files(struct list_rows *rows, const struct native *n, yaml_ref at, const char *title,
                     const char *pattern, const char *folder)
{
    if (!list_pattern_columns(rows, n, at, title, pattern))
        return false;
    struct file_search f = {.rows = rows, .n = n, .at = at, .title = title};
    for (size_t c = 0; c < rows->columns.n; c++)
        array_push(&f.bound, NULL);
    const char *rest = pattern;
    if (*rest == '/') {
        rest += strspn(rest, "/");
        strbuf_add(&f.path, "/");
    } else if (strcmp(folder, ".") != 0) {
        strbuf_printf(&f.path, "%s/", folder);
    }
    search_files(&f, rest + 2 * (strncmp(rest, "./", 2) == 0));
    if (!f.failed && !rows->cells.n)
        f.failed = !native_error(
            n, at, "list '%.80s': no file is like %.200s in %.200s%s", title, pattern, folder,
            rows->awaited ? "" : "; if a task makes them, say which: `after: TASK`");
    if (!f.failed)
        sort_rows(rows);
    array_free(&f.bound);
    strbuf_free(&f.path);
    return !f.failed;
}

/* ---- lines and tables ---- */

static bool read_source(struct text *t, const struct list_rows *rows, const struct native *n,
                        yaml_ref at, const char *title, const char *file, const char *folder)
{
    struct strbuf path = {0};
    struct error err = {0};
    struct stat s;
    path_in(folder, file, &path);
    if (strcmp(path.at, "-") == 0)
        path_in("./", "-", &path); /* a file of that name, and not the standard input */
    bool missing = !n->outside && stat(path.at, &s) != 0;
    bool odd = !n->outside && !missing && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode);
    bool good = !odd && outside_read(n->outside, path.at, t, &err);
    if (odd) { /* a pipe would wait for who writes to it, a device may never end */
        native_error(n, at, "list '%.80s': %.200s is no regular file", title, path.at);
    } else if (!good) {
        native_error(n, at, "list '%.80s': %.300s%s", title, err.text,
                     missing && !rows->awaited ? "; if a task makes it, say which: `after: TASK`"
                                               : "");
    } else if (utf8_valid(t->at, t->n) != t->n || strlen(t->at) != t->n) {
        good = native_error(n, at, "list '%.80s': %.200s is no text in UTF-8", title, path.at);
        text_free(t);
    }
    strbuf_free(&path);
    return good;
}

bool list_from_lines(struct list_rows *rows, const struct native *n, yaml_ref at, const char *title,
                     const char *file, const char *folder)
{
    struct text t;
    bool good = true;
    if (!read_source(&t, rows, n, at, title, file, folder))
        return false;
    uint32_t line = 1;
    const char *start = t.at + 3 * (strncmp(t.at, "\xEF\xBB\xBF", 3) == 0);
    for (const char *p = start; *p && good; line++) {
        size_t length = strcspn(p, "\n"), used = length;
        used -= used && p[used - 1] == '\r';
        if (used) {
            good = list_value(rows, p, used) || list_too_many(n, at, title);
            array_push(&rows->lines, line);
        }
        p += length + (p[length] == '\n');
    }
    text_free(&t);
    return good;
}

/* A table being read: where it stands in the text, and the cell that was read last. */
struct table_text {
    const char *p;
    char separator;
    uint32_t line;
    uint32_t quote; /* where the last one began */
    struct strbuf cell;
    bool last; /* the cell ended its row */
};

/* One cell as RFC 4180 has them, and what spreadsheets make of it: quotes around a cell may hide
 * separators and line ends, a quote inside is written twice, lines end with or without a CR. A quote in
 * the middle of a cell is refused, not passed on: nobody can tell which cell was meant.
 * False: a quote that does not end, or that stands where none can. */
static bool table_cell(struct table_text *t)
{
    strbuf_clear(&t->cell);
    strbuf_add(&t->cell, "");
    if (*t->p == '"') {
        t->quote = t->line;
        for (t->p++; *t->p != '"' || t->p[1] == '"'; t->p++) {
            if (!*t->p)
                return false;
            t->line += *t->p == '\n';
            t->p += *t->p == '"'; /* "" is a quote */
            strbuf_add_char(&t->cell, *t->p);
        }
        t->p++;
    } else {
        const char end[] = {t->separator, '\n', '"', 0};
        size_t n = strcspn(t->p, end);
        strbuf_add_bytes(&t->cell, t->p, n - (n && t->p[n - 1] == '\r'));
        t->p += n;
    }
    if (*t->p == '\r' && (t->p[1] == '\n' || !t->p[1]))
        t->p++;
    if (*t->p && *t->p != t->separator && *t->p != '\n')
        return false;
    t->last = *t->p != t->separator;
    t->p += *t->p != 0;
    return true;
}

bool list_from_table(struct list_rows *rows, const struct native *n, yaml_ref at, const char *title,
                     const char *file, const char *folder)
{
    struct text text;
    if (!read_source(&text, rows, n, at, title, file, folder))
        return false;
    const char *start = text.at + 3 * (strncmp(text.at, "\xEF\xBB\xBF", 3) == 0);
    struct table_text t = {.p = start, .line = 1};
    size_t header = strcspn(start, "\n");
    t.separator = memchr(start, '\t', header) ? '\t' : ',';
    bool good = true;
    while (*t.p && good) {
        uint32_t line = t.line, count = 0;
        if (*t.p == '\n' || (*t.p == '\r' && t.p[1] == '\n')) { /* an empty line */
            t.p += 1 + (*t.p == '\r');
            t.line++;
            continue;
        }
        bool head = !rows->columns.n;
        for (t.last = false; good && !t.last; count++) {
            good = table_cell(&t);
            if (!good)
                native_error(n, at,
                             "list '%.80s': %.200s:%u: a quote in the middle of a cell, or one "
                             "that does not end; one inside is written twice: \"so \"\"it\"\" is\"",
                             title, file, *t.p ? t.line : t.quote);
            else if (head)
                list_column(rows, t.cell.at, t.cell.n);
            else if (!list_value(rows, t.cell.at, t.cell.n))
                good = list_too_many(n, at, title);
        }
        t.line++;
        if (good && !head) {
            array_push(&rows->lines, line);
            if (count != rows->columns.n)
                good = native_error(
                    n, at, "list '%.80s': %.200s:%u has %u cell%s, its header has %zu%s", title,
                    file, line, count, plural(count), rows->columns.n,
                    count < rows->columns.n ? "; an empty cell keeps what separates it"
                                            : "; one that has such a sign in it "
                                              "stands in quotes");
        }
    }
    strbuf_free(&t.cell);
    text_free(&text);
    return good;
}

/* The lists of a native file as tables of values; list_groups.c has their rows in groups. Where values
 * come from outside (lines, files, tables) list_sources.c fetches them. */
#include "formats/native/lists.h"
#include "base/quantity.h"
#include "base/plural.h"
#include "formats/native/list_sources.h"
#include "model/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void lists_init(struct lists *l)
{
    *l = (struct lists){0};
    pool_init(&l->names);
    intern_init(&l->values);
}

void lists_free(struct lists *l)
{
    for (size_t i = 0; i < l->at.n; i++)
        free(l->at.at[i].cell);
    for (size_t i = 0; i < l->at.n; i++)
        free(l->at.at[i].why);
    for (size_t i = 0; i < l->groupings.n; i++) {
        free(l->groupings.at[i].group_of);
        free(l->groupings.at[i].off);
        free(l->groupings.at[i].row);
    }
    array_free(&l->at);
    array_free(&l->variables);
    array_free(&l->groupings);
    intern_free(&l->values);
    pool_free(&l->names);
    *l = (struct lists){0};
}

const char *lists_name(const struct lists *l, str_id name)
{
    return pool_text(&l->names, name);
}

static bool same_name(const struct lists *l, str_id name, const char *text, size_t length)
{
    const char *known = pool_text(&l->names, name);
    return strncmp(known, text, length) == 0 && !known[length];
}

/* Linear, like all that concerns variables: a file has a handful. */
uint32_t lists_find_variable(const struct lists *l, const char *name, size_t length)
{
    for (size_t i = 0; i < l->variables.n; i++)
        if (same_name(l, l->variables.at[i].name, name, length))
            return (uint32_t)i;
    return UINT32_MAX;
}

uint32_t lists_find_list(const struct lists *l, const char *name, size_t length)
{
    for (size_t i = 0; i < l->at.n; i++)
        if (same_name(l, l->at.at[i].name, name, length))
            return (uint32_t)i;
    return UINT32_MAX;
}

/* ---- making lists ---- */

bool list_value(struct list_rows *rows, const char *text, size_t length)
{
    if (rows->cells.n >= LIST_VALUES_MOST)
        return false;
    array_push(&rows->cells, intern_number(&rows->lists->values, text, length));
    return true;
}

void list_column(struct list_rows *rows, const char *name, size_t length)
{
    array_push(&rows->columns, pool_add(&rows->lists->names, name, length));
}

void list_rows_free(struct list_rows *rows)
{
    array_free(&rows->cells);
    array_free(&rows->columns);
    array_free(&rows->lines);
}

/* Names that mean something in a command already. */
static bool is_taken(const char *name)
{
    for (int i = 0; i < COMMAND_WORDS; i++)
        if (strcmp(name, command_built_in[i]) == 0)
            return true;
    return false;
}

/* The columns of the list that has or gets the number `list` become variables. */
static bool add_variables(struct lists *l, const struct native *n, yaml_ref at, const char *title,
                          uint32_t list, const struct list_rows *rows)
{
    uint32_t columns = (uint32_t)rows->columns.n;
    if (columns > LIST_COLUMNS)
        return native_error(n, at, "list '%.80s' has %u column%s; at most %d are possible", title,
                            columns, plural(columns), LIST_COLUMNS);
    for (uint32_t c = 0; c < columns; c++) {
        const char *variable = lists_name(l, rows->columns.at[c]);
        if (!command_is_name(variable, strlen(variable)))
            return native_error(n, at,
                                "list '%.80s': '%.80s' cannot be the name of a variable; expected "
                                "letters, digits, _ and -",
                                title, variable);
        if (is_taken(variable))
            return native_error(n, at,
                                "list '%.80s': {%s} means something else in a command; "
                                "choose another name",
                                title, variable);
        uint32_t other = lists_find_variable(l, variable, strlen(variable));
        if (other != UINT32_MAX && l->variables.at[other].list == list)
            return native_error(n, at, "list '%.80s' has the column '%.80s' twice", title,
                                variable);
        if (other != UINT32_MAX)
            return native_error(n, at, "'%.80s' is a variable of the lists '%.80s' and '%.80s'",
                                variable, lists_name(l, l->at.at[l->variables.at[other].list].name),
                                title);
        array_push(&l->variables, (struct variable){rows->columns.at[c], list, c});
    }
    return true;
}

/* Enter the rows that were fetched as list `name`: names are new, rows differ. `n` and `at` are for
 * messages. `slot`: its number, when it was pending; UINT32_MAX: it is new. */
static bool add_list(struct lists *l, const struct native *n, yaml_ref at, str_id name,
                     struct list_rows *rows, uint32_t slot)
{
    const char *title = lists_name(l, name);
    uint32_t columns = (uint32_t)rows->columns.n, twice = 0;
    bool entered = slot != UINT32_MAX && l->at.at[slot].ncolumns; /* its variables are there */
    if (!rows->cells.n)
        return native_error(n, at, "list '%.80s' is empty; what runs through it would be no task",
                            title);
    struct list x = {.name = name,
                     .line = (uint32_t)yaml_line(&n->y, at),
                     .first = entered ? l->at.at[slot].first : (uint32_t)l->variables.n,
                     .ncolumns = columns,
                     .nrows = (uint32_t)(rows->cells.n / columns),
                     .cell = rows->cells.at,
                     .outside = rows->outside,
                     .at = at};
    if (!entered &&
        !add_variables(l, n, at, title, slot != UINT32_MAX ? slot : (uint32_t)l->at.n, rows))
        return false;
    if (!list_find_telling(&x, &twice)) {
        uint32_t line = rows->lines.n ? rows->lines.at[twice] : 0;
        if (rows->given) /* the mistake is not in the file */
            return error_set(n->err, ERROR_INPUT, "-p %.80s=%.120s: the value '%.80s' stands twice",
                             title, rows->given, lists_value(l, list_cell(&x, twice, 0)));
        if (columns == 1 && !line)
            return native_error(n, at, "list '%.80s' has the value '%.80s' twice", title,
                                lists_value(l, list_cell(&x, twice, 0)));
        return native_error(n, at, "list '%.80s' has %s '%.80s' twice, the second time in line %u",
                            title, columns == 1 ? "the value" : "the row that begins with",
                            lists_value(l, list_cell(&x, twice, 0)), line);
    }
    rows->cells.at = NULL; /* the list's now */
    rows->cells.n = rows->cells.cap = 0;
    if (slot == UINT32_MAX) {
        array_push(&l->at, x);
    } else {
        free(l->at.at[slot].why);
        l->at.at[slot] = x;
    }
    return true;
}

bool list_too_many(const struct native *n, yaml_ref at, const char *title)
{
    return native_error(n, at,
                        "list '%.80s' has more than %d values; let one stand for several (a larger "
                        "step, a file a part)",
                        title, LIST_VALUES_MOST);
}

/* [1, 1.4, 2]: as they stand. */
static bool read_values(const struct native *n, yaml_ref v, const char *title,
                        struct list_rows *rows)
{
    for (yaml_ref e = yaml_first(&n->y, v); e != YAML_NONE; e = yaml_next(&n->y, v, e)) {
        size_t length;
        const char *text;
        char what[120];
        snprintf(what, sizeof what, "a value of list '%.80s'", title);
        if (!native_text(n, e, what, &text, &length))
            return false;
        if (!list_value(rows, text, length))
            return list_too_many(n, v, title);
    }
    return true;
}

/* Decimals of a number as it is written: 0.25 has two. A range counts in whole steps and prints
 * with as many, so that 0.1 to 0.9 has no 0.30000000000000004. */
static int decimals_of(const char *text)
{
    const char *point = strchr(text, '.');
    return !point || strpbrk(text, "eE") ? 0 : (int)strspn(point + 1, "0123456789");
}

/* Its digits, which end before `end`. */
static const char *whole_number(char *end, long long value)
{
    unsigned long long left = value < 0 ? -(unsigned long long)value : (unsigned long long)value;
    do
        *--end = (char)('0' + left % 10);
    while (left /= 10);
    if (value < 0)
        *--end = '-';
    return end;
}

/* {from: 0, to: 9, step: 1}, both ends included. */
static bool read_range(const struct native *n, yaml_ref v, const char *title,
                       struct list_rows *rows)
{
    static const char *const keys[] = {"from",  "to",    "step", "files",
                                       "lines", "table", "rows", NULL};
    double x[3] = {NAN, NAN, 1};
    int decimals = 0;
    for (yaml_ref k = yaml_first(&n->y, v); k != YAML_NONE; k = yaml_next(&n->y, v, k)) {
        int key = native_key(n, k, keys);
        if (key < 0 || key > 2 || !native_number(n, yaml_value(k), keys[key], &x[key]))
            return false;
        size_t length;
        int d = decimals_of(native_scalar(n, yaml_value(k), &length));
        decimals = key != 1 && d > decimals ? d : decimals; /* `to` need not be reached */
    }
    if (isnan(x[0]) || isnan(x[1]))
        return native_error(n, v, "list '%.80s': a range has 'from' and 'to'", title);
    if (x[2] == 0 || (x[1] - x[0]) / x[2] < 0)
        return native_error(n, v, "list '%.80s': no steps of %g lead from %g to %g", title, x[2],
                            x[0], x[1]);
    double count = floor((x[1] - x[0]) / x[2] + 1e-9) + 1;
    if (!(count <= LIST_VALUES_MOST))
        return list_too_many(n, v, title);
    intern_expect(&rows->lists->values, (uint32_t)count);
    array_reserve(&rows->cells, (size_t)count);
    for (uint32_t i = 0; i < (uint32_t)count; i++) {
        char text[64];
        double value = x[0] + i * x[2];
        /* whole numbers by hand: printf() takes a tenth of the time of a million members */
        if (decimals == 0 && fabs(value) < 1e15) {
            const char *digits = whole_number(text + sizeof text, (long long)rint(value));
            list_value(rows, digits, (size_t)(text + sizeof text - digits));
            continue;
        }
        list_value(rows, text, (size_t)snprintf(text, sizeof text, "%.*f", decimals, value));
    }
    return true;
}

/* rows: [{ sample: a, lane: 1 }, ...]: a table that stands in the file. The first row's keys are the
 * columns; every other has the same, in any order. */
static bool read_row_mappings(const struct native *n, yaml_ref v, const char *title,
                              struct list_rows *rows)
{
    char found[80];
    if (yaml_type(&n->y, v) != YAML_SEQUENCE)
        return native_error(n, v,
                            "list '%.80s': rows is %s; expected [{ COLUMN: VALUE, ... }, ...]",
                            title, yaml_found(&n->y, v, found, sizeof found));
    for (yaml_ref e = yaml_first(&n->y, v); e != YAML_NONE; e = yaml_next(&n->y, v, e)) {
        if (!native_is_mapping(n, e, "a row of a list"))
            return false;
        bool head = !rows->columns.n;
        for (yaml_ref k = yaml_first(&n->y, e); head && k != YAML_NONE;
             k = yaml_next(&n->y, e, k)) {
            size_t length;
            const char *name = yaml_text(&n->y, k, &length);
            list_column(rows, name, length);
        }
        for (size_t c = 0; c < rows->columns.n; c++) {
            const char *name = lists_name(rows->lists, rows->columns.at[c]), *text;
            yaml_ref cell = yaml_get(&n->y, e, name);
            size_t length;
            if (cell == YAML_NONE)
                return native_error(n, e, "list '%.80s': this row has no '%.80s'; the first has",
                                    title, name);
            if (!native_text(n, cell, name, &text, &length))
                return false;
            if (!list_value(rows, text, length))
                return list_too_many(n, v, title);
        }
        if (yaml_size(&n->y, e) != rows->columns.n)
            return native_error(n, e, "list '%.80s': this row has %u value%s, the first has %zu",
                                title, yaml_size(&n->y, e), plural(yaml_size(&n->y, e)),
                                rows->columns.n);
        array_push(&rows->lines, (uint32_t)yaml_line(&n->y, e));
    }
    return true;
}

/* What a mapping describes is told by its key. */
static bool read_described(const struct native *n, yaml_ref v, const char *title,
                           const char *folder, struct list_rows *rows)
{
    yaml_ref files = yaml_get(&n->y, v, "files"), lines = yaml_get(&n->y, v, "lines"),
             table = yaml_get(&n->y, v, "table"), after = yaml_get(&n->y, v, "after");
    if (files == YAML_NONE && lines == YAML_NONE && table == YAML_NONE && after != YAML_NONE)
        return native_error(n, after,
                            "list '%.80s': `after` goes with files, lines or table, which are read "
                            "when that task is done",
                            title);
    yaml_ref inside = yaml_get(&n->y, v, "rows");
    if (inside != YAML_NONE && yaml_size(&n->y, v) == 1)
        return read_row_mappings(n, inside, title, rows);
    if (files == YAML_NONE && lines == YAML_NONE && table == YAML_NONE && inside == YAML_NONE) {
        list_column(rows, title, strlen(title));
        return read_range(n, v, title, rows);
    }
    static const char *const keys[] = {"files", "lines", "table", "rows", "after", NULL};
    for (yaml_ref k = yaml_first(&n->y, v); k != YAML_NONE; k = yaml_next(&n->y, v, k))
        if (native_key(n, k, keys) < 0)
            return false;
    if (yaml_size(&n->y, v) != 1 + (after != YAML_NONE))
        return native_error(
            n, v, "list '%.80s' has values of one kind only: files, lines, rows or table", title);
    rows->outside = true;
    rows->awaited = after != YAML_NONE;
    yaml_ref source = files != YAML_NONE ? files : lines != YAML_NONE ? lines : table;
    const char *text;
    size_t length;
    if (!native_text(n, source, yaml_text(&n->y, source - 1, NULL), &text, &length))
        return false;
    text = rows->source ? rows->source : text;
    if (files != YAML_NONE)
        return list_from_files(rows, n, source, title, text, folder);
    if (table != YAML_NONE)
        return list_from_table(rows, n, source, title, text, folder);
    list_column(rows, title, strlen(title));
    return list_from_lines(rows, n, source, title, text, folder);
}

/* -p sigma=1,2,3 in place of what the file has; the column is there. */
static bool read_given(const struct native *n, yaml_ref at, const char *title, const char *values,
                       struct list_rows *rows)
{
    for (const char *p = values;; p++) {
        size_t length = strcspn(p, ",");
        if (!length && rows->given)
            return error_set(n->err, ERROR_INPUT, "-p %.80s=%.120s: a value is empty", title,
                             values);
        if (!length)
            return native_error(n, at, "list '%.80s': a value of '%.120s' is empty", title, values);
        if (!list_value(rows, p, length))
            return list_too_many(n, at, title);
        p += length;
        if (!*p)
            return true;
    }
}

/* What the includer says, value by value: they may have commas. */
static bool read_with_values(const struct native *n, yaml_ref at, const char *title,
                             const struct module_value *with, struct list_rows *rows)
{
    list_column(rows, title, strlen(title));
    rows->outside = with->outside;
    for (size_t i = 0; i < with->values.n; i++)
        if (!list_value(rows, with->values.at[i], strlen(with->values.at[i])))
            return list_too_many(n, at, title);
    return true;
}

/* What stands at `what`, in the workflow's file or in that of --params. */
static bool read_stated(const struct native *n, yaml_ref what, const char *title,
                        const char *folder, struct list_rows *rows)
{
    char found[80];
    if (yaml_type(&n->y, what) == YAML_SEQUENCE) {
        list_column(rows, title, strlen(title));
        return read_values(n, what, title, rows);
    }
    if (yaml_type(&n->y, what) == YAML_MAPPING)
        return read_described(n, what, title, folder, rows);
    return native_error(n, what,
                        "list '%.80s' is %s; expected [values], {from, to}, {lines: FILE}, "
                        "{files: PATTERN}, {table: FILE} or {rows: [...]}",
                        title, yaml_found(&n->y, what, found, sizeof found));
}

/* A list that is read later: its name, and what is known of its columns. */
static bool pend_list(struct lists *l, const struct native *n, yaml_ref k, char *why)
{
    struct list_rows rows = {.lists = l};
    size_t length;
    const char *title = yaml_text(&n->y, k, &length), *after, *pattern;
    yaml_ref what = yaml_value(k), files = yaml_get(&n->y, what, "files");
    struct list x = {.name = pool_add(&l->names, title, length),
                     .line = (uint32_t)yaml_line(&n->y, k),
                     .first = (uint32_t)l->variables.n,
                     .outside = true,
                     .pending = true,
                     .at = k,
                     .why = why};
    bool good = native_text(n, yaml_get(&n->y, what, "after"), "after", &after, &length);
    if (good && files != YAML_NONE)
        good = native_text(n, files, "files", &pattern, &length) &&
               list_pattern_columns(&rows, n, files, title, pattern);
    else if (good && yaml_get(&n->y, what, "table") == YAML_NONE)
        list_column(&rows, title, strlen(title));
    x.ncolumns = (uint32_t)rows.columns.n;
    good = good && add_variables(l, n, k, title, (uint32_t)l->at.n, &rows);
    list_rows_free(&rows);
    array_push(&l->at, x); /* also after an error: it owns `why` */
    return good;
}

/* Without a word: what is wrong becomes known, with its place, when it is read in earnest. */
static bool read_quietly(struct lists *l, const struct native *n, yaml_ref k, const char *folder,
                         struct list_rows *rows, struct error *err)
{
    struct native quiet = *n;
    quiet.err = err;
    rows->lists = l;
    return read_described(&quiet, yaml_value(k), yaml_text(&n->y, k, NULL), folder, rows) &&
           rows->cells.n;
}

/* --assume chunk=20: values 1 to 20, of all its variables. */
static bool invent_values(const struct native *n, yaml_ref k, const char *title,
                          unsigned long count, struct list_rows *rows)
{
    char text[32];
    if (count > LIST_VALUES_MOST / rows->columns.n)
        return list_too_many(n, k, title);
    for (unsigned long i = 1; i <= count; i++)
        for (size_t c = 0; c < rows->columns.n; c++)
            list_value(rows, text, (size_t)snprintf(text, sizeof text, "%lu", i));
    return true;
}

/* What the user says that a list will have: a number of values, the values, or (a table) a file. */
static bool read_assumed(struct lists *l, const struct native *n, yaml_ref k, const char *assumed,
                         struct list_rows *rows)
{
    const char *title = yaml_text(&n->y, k, NULL);
    yaml_ref what = yaml_value(k), files = yaml_get(&n->y, what, "files");
    char *end = NULL;
    size_t length;
    unsigned long count = strtoul(assumed, &end, 10);
    bool number = *assumed >= '0' && *assumed <= '9' && !*end;
    rows->lists = l;
    rows->source = assumed;
    if (yaml_get(&n->y, what, "table") != YAML_NONE)
        return !number
                   ? read_described(n, what, title, ".", rows)
                   : native_error(n, k,
                                  "--assume %.80s=%s: nobody knows the columns of a table that is "
                                  "not there; name a file that has them, --assume %.80s=FILE",
                                  title, assumed, title);
    rows->outside = true;
    if (files == YAML_NONE)
        list_column(rows, title, strlen(title));
    else if (!list_pattern_columns(rows, n, files, title, native_scalar(n, files, &length)))
        return false;
    if (number)
        return invent_values(n, k, title, count, rows);
    if (rows->columns.n > 1)
        return native_error(
            n, k,
            "--assume %.80s=%.80s: the list has %zu variable%s; say how many rows it "
            "has, --assume %.80s=20",
            title, assumed, rows->columns.n, plural(rows->columns.n), title);
    return read_given(n, k, title, assumed, rows);
}

/* `after: TASK`. As things stand it may be there, from an earlier run. */
static bool read_later(struct lists *l, const struct native *n, yaml_ref k, const char *folder,
                       const struct given_values *given)
{
    struct error err = {0};
    struct list_rows rows = {0};
    const char *assumed = l->waits ? NULL : given_assumed(given, yaml_text(&n->y, k, NULL));
    size_t length;
    const char *title = yaml_text(&n->y, k, &length);
    yaml_ref what = yaml_value(k);
    if (yaml_get(&n->y, what, "files") == YAML_NONE &&
        yaml_get(&n->y, what, "lines") == YAML_NONE && yaml_get(&n->y, what, "table") == YAML_NONE)
        return read_described(n, what, title, folder, &rows); /* says what is wrong */
    /* of a module, where its files stand is not known before its tasks are: native_read_standing() */
    bool looks = !l->waits && !given->prefix;
    bool known = assumed || (looks && read_quietly(l, n, k, folder, &rows, &err));
    bool good = !assumed || read_assumed(l, n, k, assumed, &rows);
    if (good && known)
        good = add_list(l, n, k, pool_add(&l->names, title, length), &rows, UINT32_MAX);
    else if (good)
        good = pend_list(l, n, k, l->waits ? NULL : mem_copy_string(err.text));
    if (good && known) {
        array_last(&l->at).later = l->later = true;
        array_last(&l->at).assumed = assumed != NULL;
    }
    list_rows_free(&rows);
    return good;
}

const char *lists_source(const struct lists *l, const struct native *n, uint32_t list)
{
    static const char *const keys[] = {"files", "lines", "table"};
    yaml_ref v = YAML_NONE;
    for (int i = 0; i < 3 && v == YAML_NONE; i++)
        v = yaml_get(&n->y, yaml_value(l->at.at[list].at), keys[i]);
    return v == YAML_NONE ? "" : yaml_text(&n->y, v, NULL);
}

bool lists_read_pending(struct lists *l, const struct native *n, uint32_t list, const char *folder,
                        const char *source)
{
    struct list_rows rows = {.lists = l, .source = source};
    struct native plain = *n;
    yaml_ref k = l->at.at[list].at;
    plain.fill = NULL; /* braces are the pattern's own */
    bool good = read_described(&plain, yaml_value(k), yaml_text(&n->y, k, NULL), folder, &rows) &&
                add_list(l, n, k, l->at.at[list].name, &rows, list);
    list_rows_free(&rows);
    return good;
}

uint32_t lists_count_pending(struct lists *l, const struct native *n, uint32_t list,
                             const char *folder, const char *source)
{
    struct error err = {0};
    struct list_rows rows = {.source = source};
    struct native plain = *n;
    plain.fill = NULL; /* braces are the pattern's own */
    bool good = read_quietly(l, &plain, l->at.at[list].at, folder, &rows, &err);
    uint32_t count = good && rows.columns.n ? (uint32_t)(rows.cells.n / rows.columns.n) : 0;
    list_rows_free(&rows);
    return count;
}

const char *lists_after(const struct lists *l, const struct native *n, uint32_t list)
{
    return yaml_text(&n->y, yaml_get(&n->y, yaml_value(l->at.at[list].at), "after"), NULL);
}

/* One list, at its key. */
static bool read_list(struct lists *l, const struct native *n, yaml_ref k, const char *folder,
                      const struct given_values *given, struct list_rows *rows)
{
    size_t length;
    const char *title = yaml_text(&n->y, k, &length);
    yaml_ref in_file;
    if (!command_is_name(title, length))
        return native_error(n, k,
                            "'%.80s' cannot be the name of a list; expected letters, digits, _ and "
                            "-",
                            title);
    const char *values = given_find(given, title, &in_file);
    const struct native *where = in_file != YAML_NONE ? given->file : n;
    yaml_ref what = in_file != YAML_NONE ? in_file : yaml_value(k);
    /* one value where a list is wanted is a list of one; only --params says it that way */
    bool one = in_file != YAML_NONE && yaml_type(&where->y, what) == YAML_SCALAR;
    if (one)
        values = yaml_text(&where->y, what, NULL);
    else
        rows->given = values;
    struct module_value *with = given_with(given, title);
    if (with)
        with->used = true;
    if (with && !values && in_file == YAML_NONE)
        return read_with_values(n, k, title, with, rows) &&
               add_list(l, n, k, pool_add(&l->names, title, length), rows, UINT32_MAX);
    if (!values && in_file == YAML_NONE && yaml_get(&n->y, what, "after") != YAML_NONE)
        return read_later(l, n, k, folder, given);
    if (values)
        list_column(rows, title, strlen(title));
    bool good = values ? read_given(where, in_file != YAML_NONE ? what : k, title, values, rows)
                       : read_stated(where, what, title, folder, rows);
    return good && add_list(l, where, in_file != YAML_NONE ? what : k,
                            pool_add(&l->names, title, length), rows, UINT32_MAX);
}

bool lists_read(struct lists *l, const struct native *n, yaml_ref v, const char *folder,
                const struct given_values *given)
{
    if (yaml_is_null(&n->y, v))
        return true;
    if (!native_is_mapping(n, v, "lists"))
        return false;
    for (yaml_ref k = yaml_first(&n->y, v); k != YAML_NONE; k = yaml_next(&n->y, v, k)) {
        struct list_rows rows = {.lists = l};
        bool good = read_list(l, n, k, folder, given, &rows);
        list_rows_free(&rows);
        if (!good)
            return false;
    }
    return true;
}

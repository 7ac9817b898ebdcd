/* For tests: the table of the shared data, INDEX.md, and the check that a format reads every file
 * of it as stated. */
#pragma once
#include "formats/format.h"
#include "tap.h"

struct index_row {
    char file[300], format[80], notes[600];
    long tasks, edges; /* -1: not stated */
};

/* The next row; false at the end. */
__attribute__((unused)) static bool index_next(FILE *table, struct index_row *row)
{
    char line[2048];
    while (fgets(line, sizeof line, table)) {
        char *cell[10] = {0}, *p = line;
        int n = 0;
        for (; n < 10 && (p = strchr(p, '|')); n++) {
            *p++ = 0;
            cell[n] = p + (*p == ' ');
        }
        if (n < 10 || !strchr(cell[0], '/'))
            continue;
        for (int i = 0; i < 9; i++) { /* each cell ends before " |" */
            size_t len = strlen(cell[i]);
            while (len && cell[i][len - 1] == ' ')
                cell[i][--len] = 0;
        }
        snprintf(row->file, sizeof row->file, "%s", cell[0]);
        snprintf(row->format, sizeof row->format, "%s", cell[1]);
        snprintf(row->notes, sizeof row->notes, "%s", cell[8]);
        row->tasks = cell[3][0] == '-' ? -1 : atol(cell[3]);
        row->edges = cell[4][0] == '-' ? -1 : atol(cell[4]);
        return true;
    }
    return false;
}

/* Read a file of the shared data; NULL with an error. */
__attribute__((unused)) static struct workflow *index_read(const struct format *format,
                                                           const char *file,
                                                           const struct option_value *options,
                                                           struct error *err)
{
    char path[4800];
    snprintf(path, sizeof path, "%s/data/%s", tap_shared(), file);
    struct text text;
    if (!file_read(path, &text, err))
        return NULL;
    struct format_source source = {
        .path = path, .text = text.at, .length = text.n, .options = options};
    struct workflow *w = format->read_workflow(&source, err);
    text_free(&text);
    return w;
}

/* Every row in folder `prefix` whose name ends with `suffix`: tasks and edges as stated; those
 * marked CYCLE are refused. Returns the number of rows. */
__attribute__((unused)) static int index_check(const struct format *format, const char *prefix,
                                               const char *suffix)
{
    char path[4800];
    snprintf(path, sizeof path, "%s/data/INDEX.md", tap_shared());
    FILE *table = fopen(path, "r");
    int rows = 0;
    struct index_row row;
    while (table && index_next(table, &row)) {
        size_t len = strlen(row.file), tail = strlen(suffix);
        if (strncmp(row.file, prefix, strlen(prefix)) != 0 || len < tail ||
            strcmp(row.file + len - tail, suffix) != 0)
            continue;
        rows++;
        struct error err = {0};
        struct workflow *w = index_read(format, row.file, NULL, &err);
        if (strstr(row.notes, "CYCLE")) {
            ok(!w && err.kind == ERROR_INPUT &&
                   (strstr(err.text, "cycle") || strstr(err.text, "itself")),
               "%s is refused: %s", row.file, err.text);
        } else {
            ok(w && w->ntasks == row.tasks && w->npairs == row.edges,
               "%s: %ld tasks, %ld edges (read: %d, %d) %s", row.file, row.tasks, row.edges,
               w ? (int)w->ntasks : -1, w ? (int)w->npairs : -1, err.text);
        }
        workflow_free(w);
    }
    if (table)
        fclose(table);
    return rows;
}

/* Read a text that stands in the test. */
__attribute__((unused)) static struct workflow *read_text(const struct format *format,
                                                          const char *text,
                                                          const struct option_value *options,
                                                          struct error *err)
{
    *err = (struct error){0};
    if (!format_check_options(format, options, err))
        return NULL;
    size_t n = strlen(text);
    char *copy = malloc(n + 1);
    memcpy(copy, text, n + 1);
    struct format_source source = {
        .path = "test-file", .text = copy, .length = n, .options = options};
    struct workflow *w = format->read_workflow(&source, err);
    free(copy);
    return w;
}

/* The text is refused, and the message holds `part` (with "test-file:LINE:" for the place). */
#define refuses(reader, input, part, ...)                                                          \
    do {                                                                                           \
        struct error refused_;                                                                     \
        struct workflow *read_ = read_text((reader), (input), NULL, &refused_);                    \
        bool good_ = !read_ && refused_.kind == ERROR_INPUT && strstr(refused_.text, (part));      \
        if (!ok(good_, __VA_ARGS__))                                                               \
            printf("# got: %s\n# expected: %s\n", refused_.text, (part));                          \
        workflow_free(read_);                                                                      \
    } while (0)

__attribute__((unused)) static bool has_warning(const struct workflow *w, const char *part)
{
    for (uint32_t i = 0; w && i < w->nwarnings; i++)
        if (strstr(w->warnings[i], part))
            return true;
    return false;
}

/* Does an edge, of either kind, join these two? */
__attribute__((unused)) static bool has_edge(const struct workflow *w, const char *from,
                                             const char *to)
{
    uint32_t a = workflow_find_task(w, from), b = workflow_find_task(w, to);
    if (a == NONE || b == NONE)
        return false;
    for (uint32_t e = w->succ_off[a]; e < w->succ_off[a + 1]; e++)
        if (w->succ_task[e] == b)
            return true;
    return false;
}

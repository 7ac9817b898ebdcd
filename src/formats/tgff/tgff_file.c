/* The blocks of a TGFF file: graphs (statements) and tables (numbers), with the columns that
 * remarks name. tgff.c gives them a meaning. Words point into the text, which must outlive the
 * file. */
#include "formats/tgff/tgff_file.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_COLUMNS = 64 };

/* A reading under way. */
struct tgff {
    struct scan scan;
    struct error *err;
    struct tgff_file *file;
};

static bool tgff_is_word(struct tgff_word w, const char *text)
{
    return strlen(text) == w.length && strncasecmp(w.at, text, w.length) == 0;
}

static bool tgff_starts_with(struct tgff_word w, const char *text)
{
    return strlen(text) <= w.length && strncasecmp(w.at, text, strlen(text)) == 0;
}

static bool next_word(struct scan *s, struct tgff_word *w)
{
    return scan_word(s, &w->at, &w->length);
}

/* TASK name KEY value ...: the keys in any order; ones that we do not know (HOST, PREEMPT ...) are
 * passed over with their value. */
static bool read_statement(struct tgff *g, struct tgff_statement *out)
{
    struct scan *s = &g->scan;
    *out = (struct tgff_statement){.type = -1, .value = NAN, .line = (uint32_t)s->line};
    if (!next_word(s, &out->name))
        return scan_error(s, g->err, "the line ends before the name");
    struct tgff_word key;
    while (next_word(s, &key)) {
        if (tgff_is_word(key, "TYPE")) {
            if (!scan_integer(s, "type", 0, INT64_MAX, &out->type, g->err))
                return false;
        } else if (tgff_is_word(key, "AT")) {
            if (!scan_number(s, "deadline", &out->value, g->err))
                return false;
        } else {
            struct tgff_word value;
            if (!next_word(s, &value))
                return scan_error(s, g->err, "'%.*s' has no value", tgff_shown(key), key.at);
            if (tgff_is_word(key, "FROM"))
                out->from = value;
            else if (tgff_is_word(key, "TO") || tgff_is_word(key, "ON"))
                out->to = value;
        }
    }
    return true;
}

/* A line of a graph: TASK, ARC, a deadline or the period. */
static bool read_graph_line(struct tgff *g, struct tgff_block *b, struct tgff_word first)
{
    struct scan *s = &g->scan;
    struct tgff_statement st;
    b->is_graph = true;
    if (tgff_is_word(first, "PERIOD"))
        return scan_number(s, "period", &b->period, g->err);
    if (!tgff_is_word(first, "TASK") && !tgff_is_word(first, "ARC") &&
        !tgff_is_word(first, "HARD_DEADLINE") && !tgff_is_word(first, "SOFT_DEADLINE"))
        return scan_error(
            s, g->err,
            "'%.*s' is unknown; expected TASK, ARC, HARD_DEADLINE, SOFT_DEADLINE, PERIOD or a "
            "row of numbers",
            tgff_shown(first), first.at);
    if (!read_statement(g, &st))
        return false;
    if (tgff_is_word(first, "TASK")) {
        array_push(&b->tasks, st);
    } else if (tgff_is_word(first, "ARC")) {
        if (!st.from.length || !st.to.length)
            return scan_error(s, g->err, "arc '%.*s' needs FROM and TO", tgff_shown(st.name),
                              st.name.at);
        array_push(&b->arcs, st);
    } else {
        st.soft = tgff_is_word(first, "SOFT_DEADLINE");
        if (!st.to.length || isnan(st.value))
            return scan_error(s, g->err, "deadline '%.*s' needs ON and AT", tgff_shown(st.name),
                              st.name.at);
        array_push(&b->deadlines, st);
    }
    return true;
}

/* "# type version valid task_time": the columns of the rows that follow. Rules and prose are
 * remarks too; only one that begins with "type" names the columns that we read. */
static void tgff_read_remark(struct scan *s, struct tgff_block *b)
{
    s->at++; /* the # */
    struct tgff_word w;
    int column = 0;
    int type = -1, valid = -1, time = -1, size = -1;
    while (column < MOST_COLUMNS && next_word(s, &w)) {
        if (column == 0 && !tgff_is_word(w, "type"))
            break;
        if (tgff_is_word(w, "type"))
            type = column;
        else if (tgff_is_word(w, "valid"))
            valid = column;
        else if (!tgff_is_word(w, "version")) {
            bool timed = tgff_is_word(w, "exec_time") || tgff_is_word(w, "execution_time") ||
                         tgff_is_word(w, "task_time") || tgff_is_word(w, "cycles") ||
                         tgff_is_word(w, "time") || tgff_is_word(w, "wcet");
            if (time < 0 && timed)
                time = column;
            if (size < 0)
                size = column;
        }
        column++;
    }
    if (column > 0) {
        b->type_column = type;
        b->valid_column = valid;
        b->time_column = time;
        b->size_column = size;
    } else {
        /* Another kind of row follows (price, area): until a remark names types again, rows are
         * attributes. A rule such as
         * "#-----" names nothing and changes nothing. */
        bool prose = false;
        for (; s->at < s->next_line; s->at++)
            prose |= isalpha((unsigned char)*s->at) != 0;
        if (prose)
            b->type_column = -1;
    }
}

/* By the label, since columns do not tell: the names that published files use. */
bool tgff_is_communication(const struct tgff_block *b)
{
    struct tgff_word label = b->label;
    return !b->is_graph && (tgff_starts_with(label, "COMM") || tgff_starts_with(label, "ARC") ||
                            tgff_starts_with(label, "WIR") || tgff_starts_with(label, "BUS") ||
                            tgff_starts_with(label, "LINK") || tgff_starts_with(label, "EDGE"));
}

/* A row under columns that we know becomes an entry; others (price, area) must be numbers, and
 * are passed over. */
static bool read_table_row(struct tgff *g, struct tgff_block *b)
{
    struct scan *s = &g->scan;
    struct tgff_row row = {.type = -1, .value = NAN, .order = (uint32_t)s->line, .valid = true};
    bool communication = tgff_is_communication(b);
    int wanted = communication ? b->size_column : b->time_column;
    double value;
    for (int column = 0; !scan_line_done(s); column++) {
        if (column == b->type_column) {
            if (!scan_integer(s, "type", 0, INT64_MAX, &row.type, g->err))
                return false;
            continue;
        }
        if (!scan_number(s, "value", &value, g->err))
            return false;
        if (column == b->valid_column)
            row.valid = value != 0;
        else if (column == wanted)
            row.value = value;
    }
    if (b->type_column < 0 || wanted < 0)
        return true;
    if (isnan(row.value))
        return scan_error(s, g->err,
                          "the row ends before the column that its remark names (column %d)",
                          wanted + 1);
    if (row.value < 0)
        return scan_error(s, g->err, "%g is negative", row.value);
    array_push(&b->rows, row);
    return true;
}

/* "@LABEL 3 {" or "@HYPERPERIOD 300" */
static bool read_block_head(struct tgff *g, struct tgff_block *b, bool *has_body)
{
    struct scan *s = &g->scan;
    struct tgff_word w;
    *b = (struct tgff_block){.type_column = -1,
                             .valid_column = -1,
                             .time_column = -1,
                             .size_column = -1,
                             .period = NAN,
                             .line = (uint32_t)s->line};
    next_word(s, &b->label);
    b->label.at++;
    b->label.length--;
    if (!b->label.length)
        return scan_error(s, g->err, "'@' without a label");
    *has_body = false;
    while (next_word(s, &w)) {
        if (*has_body)
            return scan_error(s, g->err, "'%.*s' after '{'; expected a new line", tgff_shown(w),
                              w.at);
        double period;
        if (w.length == 1 && *w.at == '{')
            *has_body = true;
        else if (!scan_parse_integer(w.at, w.length, &b->number) &&
                 !scan_parse_number(w.at, w.length, &period))
            return scan_error(s, g->err, "'%.*s' after '@%.*s'; expected a number and '{'",
                              tgff_shown(w), w.at, tgff_shown(b->label), b->label.at);
    }
    return true;
}

/* Of several rows of a type a valid one first, then the first of the file. */
static int by_type(const void *a, const void *b)
{
    const struct tgff_row *p = a, *q = b;
    if (p->type != q->type)
        return p->type < q->type ? -1 : 1;
    if (p->valid != q->valid)
        return p->valid ? -1 : 1;
    return p->order < q->order ? -1 : p->order > q->order;
}

static void block_free(struct tgff_block *b)
{
    array_free(&b->tasks);
    array_free(&b->arcs);
    array_free(&b->deadlines);
    array_free(&b->rows);
}

/* Fill the last block, up to its closing brace. */
static bool read_block_body(struct tgff *g)
{
    struct scan *s = &g->scan;
    struct tgff_block *b = &array_last(&g->file->blocks);
    while (scan_any_line(s)) {
        if (scan_line_done(s))
            continue;
        if (*s->at == '#') {
            tgff_read_remark(s, b);
            continue;
        }
        char c = *s->at;
        if (c == '}') {
            s->at++;
            tgff_sort_rows(b->rows.at, b->rows.n);
            return scan_require_done(s, g->err);
        }
        if (c == '@')
            return scan_error(s, g->err, "a new block begins before the '}' of the one on line %u",
                              b->line);
        struct tgff_word first;
        bool good;
        if (isdigit((unsigned char)c) || c == '-' || c == '+' || c == '.') {
            good = read_table_row(g, b);
        } else {
            next_word(s, &first);
            good = read_graph_line(g, b, first);
        }
        if (!good)
            return false;
    }
    return scan_error(
        s, g->err, "the file ends before the '}' of the block on line %u; is it cut off?", b->line);
}

/* Blocks one after the other; a label without a body (@HYPERPERIOD) is passed over. */
static bool read_blocks(struct tgff *g, const struct format_source *source)
{
    struct scan *s = &g->scan;
    if (!format_require_utf8(source, g->err))
        return false;
    scan_start(s, source, "#");
    while (scan_line(s)) {
        if (*s->at != '@')
            return scan_error(s, g->err, "expected a block such as '@TASK_GRAPH 0 {'");
        struct tgff_block b;
        bool has_body = false;
        if (!read_block_head(g, &b, &has_body))
            return false;
        if (!has_body) {
            /* "@HYPERPERIOD 8", or a brace on the next line */
            struct scan ahead = *s;
            struct tgff_word w;
            if (!scan_line(&ahead) || !next_word(&ahead, &w) || !tgff_is_word(w, "{"))
                continue;
            *s = ahead;
        }
        array_push(&g->file->blocks, b);
        if (!read_block_body(g))
            return false;
    }
    return true;
}

void tgff_file_free(struct tgff_file *f)
{
    for (size_t i = 0; i < f->blocks.n; i++)
        block_free(&f->blocks.at[i]);
    array_free(&f->blocks);
}

bool tgff_file_read(struct tgff_file *f, const struct format_source *source, struct error *err)
{
    struct tgff g = {.err = err, .file = f};
    bool good = read_blocks(&g, source);
    f->lines = g.scan.line;
    return good;
}

/* A table of times that is not about communication. */
bool tgff_is_processor(const struct tgff_block *b)
{
    return !b->is_graph && b->rows.n && !tgff_is_communication(b);
}

void tgff_sort_rows(struct tgff_row *rows, size_t n)
{
    if (n)
        qsort(rows, n, sizeof *rows, by_type);
}

/* Binary search; rows were sorted when their block ended. */
const struct tgff_row *tgff_find_row(const struct tgff_row *rows, size_t n, int64_t type)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (rows[mid].type < type)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && rows[lo].type == type ? &rows[lo] : NULL;
}

/* A DAGMan user's own files with priorities in them.
 *
 * A scope is a file under a prefix: the top-level one, or one that a SPLICE or a SUBDAG names. Its copy
 * is the file, byte for byte, with two changes: PRIORITY statements of its nodes at the end, where they
 * override what stands above them; and, where a statement names a file that has a copy, the copy's name
 * in place of the file's. A file that is spliced twice has two copies: its nodes stand in two places of
 * the order.
 *
 *     in.dag    SPLICE s inner.dag              out.dag    SPLICE s inner.out.s.dag
 *                                                          PRIORITY last 1
 *     inner.dag JOB x x.sub          inner.out.s.dag       JOB x x.sub
 *                                                          PRIORITY x 2
 *
 * DAGMan adds the priority of a SUBDAG's node to those of the nodes in it: they are written as what
 * they lack, so that the sums are the order. */
#include "base/file.h"
#include "formats/dagman/dagman_scope.h"
#include <string.h>
#include <sys/stat.h>

enum { MOST_COPIES = 10000 };
#define COPY_MARK "# weft order: "
#define ANNOTATION COPY_MARK "larger is earlier; these override what stands above\n"
#define NO_PRIORITIES COPY_MARK "a copy, in which files have the names of their copies\n"

struct annotator {
    struct dagman_reader *r;
    const struct workflow *w;
    int64_t *priority; /* of the reader's tasks */
    int64_t *base;     /* of each scope: what DAGMan adds to its nodes' priorities */
    int64_t *top;      /* of each scope: the largest priority in it and below */
    char **copy;       /* of each scope: the name of its copy in the statement, NULL: none */
    const char *stem;  /* of the copy of the top-level file: it is in the names of the others */
    size_t stem_length;
    ARRAY(struct dagman_span) outer; /* nodes of splices of which this scope states a priority */
    struct format_copies *out;
    struct error *err;
};

/* ---- which priorities ---- */

static void find_priorities(struct annotator *a)
{
    struct dagman_reader *r = a->r;
    for (uint32_t t = 0; t < r->nodes.n; t++) {
        const char *name = builder_task_name(r->b, t);
        uint32_t found = workflow_find_task(a->w, name);
        a->priority[t] = found == NONE || !a->w->priority ? 0 : (int64_t)a->w->priority[found];
    }
    /* scopes follow the one around them */
    for (size_t i = r->noted.n; i-- > 0;) {
        const struct dagman_noted *s = &r->noted.at[i];
        for (uint32_t t = s->first; t < s->last; t++)
            if (a->priority[t] > a->top[i])
                a->top[i] = a->priority[t];
        if (s->parent != NONE && a->top[i] > a->top[s->parent])
            a->top[s->parent] = a->top[i];
    }
    for (size_t i = 1; i < r->noted.n; i++) {
        const struct dagman_noted *s = &r->noted.at[i];
        a->base[i] = s->st->keyword == DAGMAN_SUBDAG ? a->top[i] : a->base[s->parent];
    }
}

/* ---- names of copies ---- */

/* SPLICE name file, SUBDAG EXTERNAL name file, INCLUDE file: the words. */
static struct dagman_span statement_file(const struct dagman_statement *st,
                                         struct dagman_span *name)
{
    struct dagman_span rest = st->rest;
    if (st->keyword == DAGMAN_SUBDAG)
        dagman_word(&rest);
    if (st->keyword != DAGMAN_INCLUDE)
        *name = dagman_word(&rest);
    return dagman_path_word(&rest);
}

/* What a word of a statement, or the name of a file, cannot hold stands as %20 and the like. */
static void add_name_part(struct strbuf *name, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        strbuf_printf(name, c <= ' ' || c == '"' || c == '/' ? "%%%02X" : "%c", c);
    }
}

static bool ends_with(const char *text, size_t n, const struct strbuf *part)
{
    return n >= part->n && memcmp(text + n - part->n, part->at, part->n) == 0;
}

/* dir/inner.dag becomes dir/inner.OUT.s1+s2.dag: found the way that the file itself was. One that has that
 * name is a copy of an earlier time, and keeps it. */
static char *copy_name(const struct annotator *a, struct dagman_span file, const char *prefix)
{
    const char *slash = memrchr(file.at, '/', file.n);
    const char *base = slash ? slash + 1 : file.at, *end = file.at + file.n;
    const char *dot = base < end ? memrchr(base, '.', (size_t)(end - base)) : NULL;
    const char *suffix = dot && dot > base ? dot : end;
    size_t n = strlen(prefix), stem = (size_t)(suffix - file.at);
    struct strbuf part = {0}, name = {0};
    strbuf_add_char(&part, '.');
    add_name_part(&part, a->stem, a->stem_length);
    if (n) { /* else a file that the top-level one includes */
        strbuf_add_char(&part, '.');
        add_name_part(&part, prefix, n - 1);
    }
    strbuf_add_bytes(&name, file.at, stem);
    if (!ends_with(file.at, stem, &part) && !ends_with(file.at, file.n, &part))
        strbuf_add_bytes(&name, part.at, part.n);
    strbuf_add_bytes(&name, suffix, (size_t)(end - suffix));
    strbuf_free(&part);
    return strbuf_steal(&name);
}

/* Where it stands: in the folder of the file that it is a copy of. */
static char *copy_path(const char *original, const char *name)
{
    return file_beside(original, file_basename(name));
}

/* What stands there is replaced only if an earlier annotation made it: users have files, too. */
static bool may_write_copy(struct annotator *a, const char *path)
{
    struct text there;
    if (!file_exists(path))
        return true;
    if (!file_read(path, &there, a->err))
        return false;
    bool ours = memmem(there.at, there.n, COPY_MARK, sizeof COPY_MARK - 1) != NULL;
    text_free(&there);
    return ours || error_at(a->err, path, 0,
                            "this file of yours would be replaced; give -o another name, which the "
                            "names of copies have in them");
}

static bool is_same_file(const struct stat *x, const char *path)
{
    struct stat y;
    return stat(path, &y) == 0 && x->st_dev == y.st_dev && x->st_ino == y.st_ino;
}

/* The top-level file itself may be replaced by who says so, no other one that was read. */
static bool may_write_top(struct annotator *a, const char *path)
{
    struct stat there;
    if (stat(path, &there) != 0 || !S_ISREG(there.st_mode))
        return true;
    for (size_t i = 1; i < a->r->files.n; i++)
        if (is_same_file(&there, a->r->files.at[i]->path))
            return error_at(a->err, path, 0, "%s is made of this file; give -o another name",
                            a->r->top->path);
    return is_same_file(&there, a->r->source->path) || may_write_copy(a, path);
}

/* ---- texts ---- */

/* Is this one of our two lines? Their ends may be another's. */
static bool is_mark(const char *line, size_t n)
{
    static const char *const marks[] = {ANNOTATION, NO_PRIORITIES};
    for (size_t i = 0; i < 2; i++)
        if (n + 1 >= strlen(marks[i]) && memcmp(line, marks[i], strlen(marks[i]) - 1) == 0)
            return true;
    return false;
}

/* What an earlier annotation added is not the user's: from its mark to the end, if nothing but
 * priorities follows. */
static size_t users_length(const char *text, size_t length)
{
    const char *end = text + length;
    size_t users = length;
    for (const char *p = text; p < end;) {
        const char *eol = memchr(p, '\n', (size_t)(end - p)), *next = eol ? eol + 1 : end;
        if (is_mark(p, (size_t)(next - p)))
            users = (size_t)(p - text);
        else if (strncmp(p, "PRIORITY ", 9) != 0)
            users = length;
        p = next;
    }
    return users;
}

/* Does the last line end in a backslash, so that DAGMan would join ours to it? */
static bool ends_joined(const struct strbuf *out)
{
    size_t end = out->n;
    if (end && out->at[end - 1] == '\n')
        end--;
    while (end && memchr(" \t\r\v\f", out->at[end - 1], 5))
        end--;
    return end && out->at[end - 1] == '\\';
}

/* The lines end as the file's do; one that a backslash would join to ours is ended by an empty one.
 * Is a line to end in CR LF? */
static bool add_mark(struct strbuf *out, const char *mark)
{
    bool crlf = out->n > 1 && memmem(out->at, out->n, "\r\n", 2);
    const char *newline = crlf ? "\r\n" : "\n";
    bool joined = ends_joined(out);
    if (out->n && out->at[out->n - 1] != '\n')
        strbuf_add(out, newline);
    if (joined)
        strbuf_add(out, newline);
    strbuf_add_bytes(out, mark, strlen(mark) - 1);
    strbuf_add(out, newline);
    return crlf;
}

/* What is added to one scope's copy. */
struct annotation {
    struct strbuf *out;
    bool begun, crlf;
};

/* DAGMan takes whole numbers, negative ones too. */
static void add_priority(struct annotation *n, const char *name, size_t length, int64_t value)
{
    if (!n->begun)
        n->crlf = add_mark(n->out, ANNOTATION);
    n->begun = true;
    strbuf_add(n->out, "PRIORITY ");
    strbuf_add_bytes(n->out, name, length);
    strbuf_printf(n->out, " %lld%s", (long long)value, n->crlf ? "\r\n" : "\n");
}

/* Nodes of splices whose priorities the scope itself stated. */
static void add_outer_priorities(struct annotator *a, uint32_t scope, struct annotation *n)
{
    struct dagman_reader *r = a->r;
    struct strbuf full = {0};
    for (size_t i = 0; i < a->outer.n; i++) {
        strbuf_clear(&full);
        strbuf_add(&full, r->noted.at[scope].prefix);
        strbuf_add_bytes(&full, a->outer.at[i].at, a->outer.at[i].n);
        uint32_t t = builder_find_task(r->b, full.at, full.n);
        if (t != NONE && !r->nodes.at[t].apart)
            add_priority(n, a->outer.at[i].at, a->outer.at[i].n, a->priority[t] - a->base[scope]);
    }
    a->outer.n = 0;
    strbuf_free(&full);
}

/* The scope's own nodes, and the sub-dags that stand in it. FINAL and its like are in no order. */
static void add_priorities(struct annotator *a, uint32_t scope, struct strbuf *out)
{
    struct dagman_reader *r = a->r;
    const struct dagman_noted *s = &r->noted.at[scope];
    size_t prefix = strlen(s->prefix);
    struct annotation n = {.out = out};
    for (uint32_t t = s->first; t < s->last; t++) {
        if (r->nodes.at[t].apart)
            continue;
        const char *name = builder_task_name(r->b, t) + prefix;
        add_priority(&n, name, strlen(name), a->priority[t] - a->base[scope]);
    }
    for (uint32_t i = scope + 1; i < r->noted.n; i++) {
        const struct dagman_noted *child = &r->noted.at[i];
        if (child->parent != scope || child->st->keyword != DAGMAN_SUBDAG)
            continue;
        struct dagman_span name;
        statement_file(child->st, &name);
        add_priority(&n, name.at, name.n, a->base[i] - a->base[scope]);
    }
    add_outer_priorities(a, scope, &n);
    if (!n.begun)
        add_mark(out, NO_PRIORITIES);
}

static bool copy_text(struct annotator *a, uint32_t scope, const struct dagman_file *f,
                      struct strbuf *out, bool *changed);

/* An included file has a copy of its own where a splice in it has one. The name of that copy, or
 * NULL: it is as it was. False: an error. */
static bool copy_include(struct annotator *a, uint32_t scope, const struct dagman_file *from,
                         const struct dagman_statement *st, char **name)
{
    const struct dagman_noted *s = &a->r->noted.at[scope];
    struct dagman_scope where = {.prefix = s->prefix, .dir = s->dir};
    struct dagman_span none = {0}, file = statement_file(st, &none);
    bool beside, changed = false;
    char *path = dagman_find_file(a->r, &where, from, none, file, &beside);
    if (!path)
        return true; /* the reader has told */
    const struct dagman_file *inner = dagman_load_file(a->r, path);
    struct strbuf text = {0};
    bool good = inner && copy_text(a, scope, inner, &text, &changed);
    if (good && changed) {
        *name = copy_name(a, file, s->prefix);
        char *to = copy_path(path, *name);
        good = may_write_copy(a, to);
        add_mark(&text, NO_PRIORITIES);
        array_push(&a->out->files, (struct format_copy){.path = to, .text = text});
        text = (struct strbuf){0};
    }
    strbuf_free(&text);
    free(path);
    return good;
}

/* The name that a statement's file has in the copy; NULL: as it was. */
static bool new_name(struct annotator *a, uint32_t scope, const struct dagman_file *f,
                     const struct dagman_statement *st, char **name)
{
    *name = NULL;
    if (st->keyword == DAGMAN_INCLUDE)
        return copy_include(a, scope, f, st, name);
    for (uint32_t i = scope + 1; i < a->r->noted.n; i++)
        if (a->r->noted.at[i].parent == scope && a->r->noted.at[i].st == st && a->copy[i])
            *name = mem_copy_string(a->copy[i]);
    return true;
}

/* One of the user's own. What it says of a splice's node stands behind what the splice's copy says. */
static void note_priority(struct annotator *a, const struct dagman_statement *st)
{
    struct dagman_span rest = st->rest, name = dagman_word(&rest);
    a->out->overridden++;
    if (name.n && memchr(name.at, '+', name.n))
        array_push(&a->outer, name);
}

/* The file as it was, with the names of copies in it. Offsets in the parsed text, in which the
 * statements stand, are those of the original. */
static bool copy_text(struct annotator *a, uint32_t scope, const struct dagman_file *f,
                      struct strbuf *out, bool *changed)
{
    const char *parsed = f == a->r->top ? a->r->source->text : f->text.at;
    size_t at = 0, length = users_length(f->original, f->length);
    for (size_t i = 0; i < f->statements.n; i++) {
        const struct dagman_statement *st = &f->statements.at[i];
        if (st->keyword == DAGMAN_PRIORITY && (size_t)(st->rest.at - parsed) < length)
            note_priority(a, st);
        if (st->keyword != DAGMAN_SPLICE && st->keyword != DAGMAN_SUBDAG &&
            st->keyword != DAGMAN_INCLUDE)
            continue;
        char *name;
        if (!new_name(a, scope, f, st, &name))
            return false;
        if (!name)
            continue;
        struct dagman_span label, file = statement_file(st, &label);
        size_t begin = (size_t)(file.at - parsed);
        strbuf_add_bytes(out, f->original + at, begin - at);
        strbuf_add(out, name);
        at = begin + file.n;
        *changed = true;
        free(name);
    }
    strbuf_add_bytes(out, f->original + at, length - at);
    return true;
}

/* ---- the whole ---- */

/* From the last scope to the first: those that a file names are copied before it. */
static bool copy_scopes(struct annotator *a, const char *path)
{
    struct dagman_reader *r = a->r;
    if (r->noted.n > MOST_COPIES)
        return error_at(a->err, r->top->path, 0,
                        "%zu splices would each need a file of their own, with priorities of its "
                        "own; at most %d are written",
                        r->noted.n - 1, MOST_COPIES);
    for (uint32_t i = (uint32_t)r->noted.n; i-- > 0;) {
        const struct dagman_noted *s = &r->noted.at[i];
        struct strbuf text = {0};
        bool changed = false;
        if (!copy_text(a, i, s->file, &text, &changed)) {
            strbuf_free(&text);
            return false;
        }
        add_priorities(a, i, &text);
        if (i) {
            struct dagman_span label;
            a->copy[i] = copy_name(a, statement_file(s->st, &label), s->prefix);
        }
        char *to = i ? copy_path(s->file->path, a->copy[i]) : mem_copy_string(path);
        array_push(&a->out->files, (struct format_copy){.path = to, .text = text});
        if (i && !may_write_copy(a, to))
            return false;
    }
    return true;
}

/* Reads the files once more, with their texts kept: the workflow that was planned has lost them. */
bool dagman_annotate(const struct format_source *source, const struct workflow *w, const char *path,
                     struct format_copies *out, struct error *err)
{
    struct dagman_reader r = {.copies = true};
    if (!dagman_reader_read(&r, source, err)) {
        dagman_reader_free(&r);
        builder_free(r.b);
        return false;
    }
    const char *stem = file_basename(path);
    struct annotator a = {.r = &r,
                          .w = w,
                          .priority = mem_new_zero(int64_t, r.nodes.n + 1),
                          .base = mem_new_zero(int64_t, r.noted.n + 1),
                          .top = mem_new_zero(int64_t, r.noted.n + 1),
                          .copy = mem_new_zero(char *, r.noted.n + 1),
                          .stem = stem,
                          .stem_length = file_stem_length(stem),
                          .out = out,
                          .err = err};
    find_priorities(&a);
    bool good = may_write_top(&a, path) && copy_scopes(&a, path);
    for (size_t i = 0; i < r.noted.n; i++)
        free(a.copy[i]);
    array_free(&a.outer);
    free(a.copy);
    free(a.top);
    free(a.base);
    free(a.priority);
    dagman_reader_free(&r);
    builder_free(r.b);
    return good;
}

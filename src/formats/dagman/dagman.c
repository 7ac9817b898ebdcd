/* HTCondor DAGMan files. Statements come in any order, so a file is read in two passes: nodes and
 * splices first, then what is said about them. A splice is read under the prefix "name+"; as a
 * parent it stands for its sinks, as a child for its sources. The files that a dag names are sought
 * from the submit directory (the folder of the top-level file). Run times are not part of the
 * format.
 *
 *     JOB a a.sub DIR work                    a node and its submit file
 *     JOB b { ... } DONE                      or its description, inline
 *     SPLICE s inner.dag                      nodes s+x, s+y ...
 *     VARS a name="value"                     macros of its description
 *     PARENT a CHILD b s                      a before b and before every source of s
 *     RETRY b 3
 *     PRIORITY b 10 */
#include "formats/dagman/dagman_scope.h"
#include "base/plural.h"
#include <string.h>
#include <sys/stat.h>

/* Splices multiply: a file that splices the next one twice, 30 deep, is a billion of them. Real
 * workflows stay far below these. */
enum { DEEPEST = 64, MOST_SCOPES = 1 << 18, MOST_STATEMENTS = 1 << 27 };

bool dagman_write_workflow(const struct workflow *w, struct strbuf *out, struct strbuf *dropped,
                           struct error *err); /* dagman_write.c */
bool dagman_annotate(const struct format_source *source, const struct workflow *w, const char *path,
                     struct format_copies *out, struct error *err); /* dagman_annotate.c */

bool dagman_fail(struct dagman_reader *r, const struct dagman_placed *at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    error_vat(r->err, at->file->path, at->st->line, fmt, args);
    va_end(args);
    return false;
}

size_t dagman_line(const struct dagman_reader *r, const struct dagman_placed *at)
{
    return at->file == r->top ? at->st->line : 0;
}

/* In r->scratch: valid until the next call. */
static const char *full_name(struct dagman_reader *r, const struct dagman_scope *s,
                             struct dagman_span name)
{
    strbuf_clear(&r->scratch);
    strbuf_add(&r->scratch, s->prefix);
    strbuf_add_bytes(&r->scratch, name.at, name.n);
    return strbuf_text(&r->scratch);
}

uint32_t dagman_find_node(struct dagman_reader *r, const struct dagman_scope *s,
                          struct dagman_span name)
{
    const char *full = full_name(r, s, name);
    return builder_find_task(r->b, full, r->scratch.n);
}

/* ---- files ---- */

static bool is_regular(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The submit directory, then the scope's folder, then the statement's DIR; an absolute part
 * begins anew. */
static char *path_below(const struct dagman_reader *r, const struct dagman_scope *s,
                        struct dagman_span dir, struct dagman_span name)
{
    struct strbuf path = {0};
    if (*name.at != '/') {
        if (!dir.n || *dir.at != '/')
            strbuf_add(&path, s->dir);
        if (dir.n) {
            strbuf_add_bytes(&path, dir.at, dir.n);
            strbuf_add_char(&path, '/');
        }
    }
    strbuf_add_bytes(&path, name.at, name.n);
    char *found = file_beside(r->source->path, path.at);
    strbuf_free(&path);
    return found;
}

char *dagman_find_file(struct dagman_reader *r, const struct dagman_scope *s,
                       const struct dagman_file *from, struct dagman_span dir,
                       struct dagman_span name, bool *beside)
{
    *beside = false;
    if (!name.n)
        return NULL;
    char *path = path_below(r, s, dir, name);
    if (!is_regular(path) && dir.n) {
        free(path);
        path = path_below(r, s, (struct dagman_span){0}, name);
    }
    if (is_regular(path))
        return path;
    free(path);
    char *plain = mem_copy_bytes(name.at, name.n);
    path = file_beside(from->path, plain);
    free(plain);
    if (is_regular(path)) {
        *beside = true;
        return path;
    }
    free(path);
    return NULL;
}

static void dagman_keep_original(struct dagman_file *f, const char *text, size_t length)
{
    f->original = mem_copy_bytes(text, length);
    f->length = length;
}

/* Read and parse a file once, however often it is spliced. */
struct dagman_file *dagman_load_file(struct dagman_reader *r, const char *path)
{
    uint32_t number = intern_number(&r->file_path, path, strlen(path));
    if (number < r->files.n)
        return r->files.at[number];
    struct dagman_file *f = mem_new_zero(struct dagman_file, 1);
    f->path = mem_copy_string(path);
    array_push(&r->files, f);
    if (!file_read(path, &f->text, r->err))
        return NULL;
    if (r->copies)
        dagman_keep_original(f, f->text.at, f->text.n);
    struct format_source source = {.path = path, .text = f->text.at, .length = f->text.n};
    if (!format_require_utf8(&source, r->err) || !dagman_parse(f, f->text.at, f->text.n, r->err))
        return NULL;
    return f;
}

/* `busy` marks files that are being read: one that comes again contains itself. */
static struct dagman_file *load_named(struct dagman_reader *r, const struct dagman_scope *s,
                                      const struct dagman_placed *at, struct dagman_span dir,
                                      struct dagman_span name)
{
    bool beside;
    char *path = dagman_find_file(r, s, at->file, dir, name, &beside);
    if (!path) {
        dagman_fail(r, at, "there is no file '%.*s' below the submit directory or beside this file",
                    (int)name.n, name.at);
        return NULL;
    }
    if (beside)
        builder_warn(
            r->b, dagman_line(r, at),
            "'%.*s' is not where DAGMan looks, below the submit directory; taken from beside '%s'",
            (int)name.n, name.at, at->file->path);
    struct dagman_file *f = dagman_load_file(r, path);
    free(path);
    if (f && f->busy) {
        dagman_fail(r, at, "'%s' contains itself: a cycle of splices or includes", f->path);
        return NULL;
    }
    return f;
}

/* ---- first pass: statements, nodes, splices ---- */

/* The statements of a file in order, with what it includes in place of INCLUDE. */
static bool place_statements(struct dagman_reader *r, struct dagman_scope *s, struct dagman_file *f,
                             unsigned depth)
{
    f->busy = true;
    bool good = true;
    for (size_t i = 0; good && i < f->statements.n; i++) {
        struct dagman_placed at = {&f->statements.at[i], f};
        if (++r->placed > MOST_STATEMENTS)
            good =
                dagman_fail(r, &at, "more than %d statements in all the files spliced and included",
                            MOST_STATEMENTS);
        else if (at.st->keyword != DAGMAN_INCLUDE) {
            array_push(&s->statements, at);
        } else {
            struct dagman_span rest = at.st->rest, name = dagman_path_word(&rest);
            bool beside;
            char *path =
                name.n ? dagman_find_file(r, s, f, (struct dagman_span){0}, name, &beside) : NULL;
            if (!name.n) {
                good = dagman_fail(r, &at, "INCLUDE needs the name of a file");
            } else if (depth >= DEEPEST) {
                good = dagman_fail(r, &at, "files include each other more than %d deep", DEEPEST);
            } else if (!path) {
                /* Whole test suites are published without the fragments that they include. */
                builder_warn(r->b, dagman_line(r, &at),
                             "the included file '%.*s' is not there; what it says is missing",
                             (int)name.n, name.at);
                s->self->include_missing = true;
            } else {
                struct dagman_file *inner = load_named(r, s, &at, (struct dagman_span){0}, name);
                good = inner && place_statements(r, s, inner, depth + 1);
            }
            free(path);
        }
    }
    f->busy = false;
    return good;
}

/* name file [DIR d] [NOOP] [DONE], or a block and the same words behind its } */
struct declaration {
    struct dagman_span name, submit, dir;
    bool done, noop;
};

/* JOB and its relatives: a submit file or a block, then options in any order. */
static bool parse_declaration(struct dagman_reader *r, const struct dagman_placed *at,
                              struct declaration *d)
{
    *d = (struct declaration){0};
    const char *keyword = dagman_keyword_name(at->st->keyword);
    struct dagman_span rest = at->st->rest;
    if (at->st->keyword == DAGMAN_SUBDAG) {
        struct dagman_span external = dagman_word(&rest);
        if (!dagman_is(external, "EXTERNAL"))
            return dagman_fail(r, at, "expected SUBDAG EXTERNAL name file");
    }
    d->name = dagman_word(&rest);
    d->submit = dagman_path_word(&rest);
    if (!d->name.n || !d->submit.n)
        return dagman_fail(r, at, "%s needs a name and a file: %s%s name file", keyword, keyword,
                           at->st->keyword == DAGMAN_SUBDAG ? " EXTERNAL" : "");
    if (dagman_is(d->name, "PARENT") || dagman_is(d->name, "CHILD") ||
        dagman_is(d->name, "ALL_NODES"))
        return dagman_fail(r, at, "'%.*s' is a reserved word and cannot be a name", (int)d->name.n,
                           d->name.at);
    if (at->st->block.at) {
        d->submit = (struct dagman_span){0};
        rest = at->st->tail;
    }
    for (struct dagman_span word; (word = dagman_word(&rest)).n;) {
        if (dagman_is(word, "DIR")) {
            d->dir = dagman_path_word(&rest);
            if (!d->dir.n)
                return dagman_fail(r, at, "DIR needs the name of a folder");
        } else if (dagman_is(word, "DONE")) {
            d->done = true;
        } else if (dagman_is(word, "NOOP")) {
            d->noop = true;
        } else {
            return dagman_fail(r, at, "unexpected '%.*s'; expected DIR, NOOP or DONE",
                               (int)(word.n > 60 ? 60 : word.n), word.at);
        }
    }
    return true;
}

/* Nodes that stand apart from the graph: for us they are tasks like others. */
static void warn_of_apart(struct dagman_reader *r, const struct dagman_placed *at, const char *name)
{
    static const char *const when[] = {
        [DAGMAN_FINAL] = "after all others, whatever became of them",
        [DAGMAN_PROVISIONER] = "before all others",
        [DAGMAN_SERVICE] = "beside all others, until they are done",
    };
    enum dagman_keyword k = at->st->keyword;
    if (k >= DAGMAN_FINAL && k <= DAGMAN_SERVICE)
        builder_warn(r->b, dagman_line(r, at), "%s node '%s' runs %s; no edges say so",
                     dagman_keyword_name(k), name, when[k]);
}

/* Tasks and r->nodes are parallel: both get their entry here and nowhere else. */
static bool declare_node(struct dagman_reader *r, struct dagman_scope *s,
                         const struct dagman_placed *at)
{
    struct declaration d;
    if (!parse_declaration(r, at, &d))
        return false;
    const char *full = full_name(r, s, d.name);
    uint32_t old = builder_find_task(r->b, full, r->scratch.n);
    if (old != NONE)
        return dagman_fail(r, at, "node '%s' is defined twice; the first stands at %s:%zu", full,
                           r->nodes.at[old].file->path, r->nodes.at[old].line);
    uint32_t task = builder_task(r->b, full, r->scratch.n, dagman_line(r, at));
    if (task == NONE)
        return error_set(r->err, ERROR_INPUT, "%s", builder_first_error(r->b)->text);
    enum dagman_keyword k = at->st->keyword;
    array_push(&r->nodes, (struct dagman_node){.file = at->file,
                                               .line = at->st->line,
                                               .submit = d.submit,
                                               .block = at->st->block,
                                               .dir = d.dir,
                                               .apart = k >= DAGMAN_FINAL && k <= DAGMAN_SERVICE,
                                               .subdag = k == DAGMAN_SUBDAG,
                                               .noop = d.noop});
    if (d.done)
        builder_flag(r->b, task, TASK_DONE);
    warn_of_apart(r, at, builder_task_name(r->b, task));
    return true;
}

static bool read_scope(struct dagman_reader *r, struct dagman_file *f, const char *prefix,
                       const char *dir, unsigned depth, struct dagman_child *self);

static void child_free(struct dagman_child *c)
{
    array_free(&c->sources);
    array_free(&c->sinks);
    array_free(&c->pin_in);
    array_free(&c->pin_out);
    free(c);
}

/* Reads the spliced file at once, so that its nodes follow those of this scope. */
static bool declare_splice(struct dagman_reader *r, struct dagman_scope *s,
                           const struct dagman_placed *at, unsigned depth)
{
    struct declaration d;
    if (!parse_declaration(r, at, &d))
        return false;
    if (dagman_find_node(r, s, d.name) != NONE)
        return dagman_fail(r, at, "'%.*s' is the name of a node already", (int)d.name.n, d.name.at);
    uint32_t number = intern_number(&s->child_name, d.name.at, d.name.n);
    if (number < s->children.n)
        return dagman_fail(r, at, "splice '%.*s' is defined twice", (int)d.name.n, d.name.at);
    struct dagman_child *child = mem_new_zero(struct dagman_child, 1);
    child->subdag = at->st->keyword == DAGMAN_SUBDAG;
    array_push(&s->children, child);
    if (depth >= DEEPEST)
        return dagman_fail(r, at, "splices nested more than %d deep", DEEPEST);
    if (++r->scopes > MOST_SCOPES)
        return dagman_fail(r, at, "more than %d splices", MOST_SCOPES);
    struct dagman_file *f = load_named(r, s, at, d.dir, d.submit);
    if (!f)
        return false;
    /* names below are S+node, files are sought below the splice's DIR */
    struct strbuf prefix = {0}, dir = {0};
    strbuf_add(&prefix, s->prefix);
    strbuf_add_bytes(&prefix, d.name.at, d.name.n);
    strbuf_add_char(&prefix, '+');
    strbuf_add(&dir, s->dir);
    if (d.dir.n) {
        strbuf_add_bytes(&dir, d.dir.at, d.dir.n);
        strbuf_add_char(&dir, '/');
    }
    r->splice = at->st;
    bool good = read_scope(r, f, strbuf_text(&prefix), strbuf_text(&dir), depth + 1, child);
    strbuf_free(&prefix);
    strbuf_free(&dir);
    return good;
}

/* With subdags=inline an external sub-dag is read like a splice; with subdags=there where its file
 * exists already, since many are written by a script of their own node. */
static bool is_splice(struct dagman_reader *r, const struct dagman_scope *s,
                      const struct dagman_placed *at)
{
    struct declaration d;
    bool beside;
    if (at->st->keyword != DAGMAN_SUBDAG || r->subdags != SUBDAGS_THERE)
        return at->st->keyword == DAGMAN_SPLICE ||
               (at->st->keyword == DAGMAN_SUBDAG && r->subdags == SUBDAGS_INLINE);
    if (!parse_declaration(r, at, &d))
        return false; /* whoever declares it says so again */
    char *path = dagman_find_file(r, s, at->file, d.dir, d.submit, &beside);
    bool there = path != NULL;
    free(path);
    return there;
}

/* Own nodes first: their numbers are a range, first .. last. */
static bool dagman_declare(struct dagman_reader *r, struct dagman_scope *s, unsigned depth)
{
    s->first = builder_task_count(r->b);
    for (size_t i = 0; i < s->statements.n; i++) {
        const struct dagman_placed *at = &s->statements.at[i];
        if (at->st->keyword <= DAGMAN_SUBDAG && !is_splice(r, s, at) && !declare_node(r, s, at))
            return false;
    }
    s->last = builder_task_count(r->b);
    for (size_t i = 0; i < s->statements.n; i++)
        if (is_splice(r, s, &s->statements.at[i]) &&
            !declare_splice(r, s, &s->statements.at[i], depth))
            return false;
    return true;
}

/* How the finished scope looks from outside. Only edges inside it have been made so far. */
static void note_ends(struct dagman_reader *r, const struct dagman_scope *s)
{
    for (uint32_t t = s->first; t < r->nodes.n; t++) {
        const struct dagman_node *n = &r->nodes.at[t];
        if (n->apart)
            continue;
        if (!n->has_parent)
            array_push(&s->self->sources, t);
        if (!n->has_child)
            array_push(&s->self->sinks, t);
    }
}

/* Remembers the scope that begins; the one around it, for when it ends. */
static uint32_t note_scope(struct dagman_reader *r, const struct dagman_scope *s,
                           struct dagman_file *f)
{
    uint32_t around = r->scope;
    if (!r->copies)
        return around;
    r->scope = (uint32_t)r->noted.n;
    array_push(&r->noted, (struct dagman_noted){.file = f,
                                                .prefix = mem_copy_string(s->prefix),
                                                .dir = mem_copy_string(s->dir),
                                                .parent = around,
                                                .st = r->splice});
    return around;
}

static bool read_scope(struct dagman_reader *r, struct dagman_file *f, const char *prefix,
                       const char *dir, unsigned depth, struct dagman_child *self)
{
    struct dagman_scope s = {.prefix = prefix, .dir = dir, .self = self};
    uint32_t around = note_scope(r, &s, f), own = r->scope;
    intern_init(&s.child_name);
    intern_init(&s.description_name);
    bool good = place_statements(r, &s, f, 0) && dagman_outer_vars(r, &s);
    f->busy = true;
    good = good && dagman_declare(r, &s, depth);
    f->busy = false;
    if (r->copies) {
        r->noted.at[own].first = s.first;
        r->noted.at[own].last = s.last;
    }
    r->scope = around;
    if (good) {
        /* a file for INCLUDE, read by itself: its statements are about nodes elsewhere */
        s.fragment = !depth && !r->nodes.n && !s.children.n;
        good = dagman_apply(r, &s);
    }
    if (good && depth)
        note_ends(r, &s);
    for (size_t i = 0; i < s.children.n; i++)
        child_free(s.children.at[i]);
    for (size_t i = 0; i < s.descriptions.n; i++)
        dagman_description_free(&s.descriptions.at[i]);
    array_free(&s.children);
    array_free(&s.descriptions);
    array_free(&s.statements);
    array_free(&s.vars);
    intern_free(&s.child_name);
    intern_free(&s.description_name);
    return good;
}

/* ---- the whole ---- */

/* What was read and not carried, by keyword with its count, in one remark. */
static void dagman_add_remarks(struct dagman_reader *r)
{
    struct strbuf list = {0};
    for (int k = 0; k < DAGMAN_KEYWORDS; k++)
        if (r->ignored[k])
            strbuf_printf(&list, "%s%s (%zu)", list.n ? ", " : "",
                          dagman_keyword_name((enum dagman_keyword)k), r->ignored[k]);
    for (int k = 0; k < DAGMAN_LOSSES; k++)
        if (r->lost[k])
            strbuf_printf(&list, "%s%s (%zu)", list.n ? ", " : "",
                          dagman_loss_name((enum dagman_loss)k), r->lost[k]);
    if (list.n)
        builder_warn(r->b, 0, "read and not carried over: %s", list.at);
    strbuf_free(&list);
    if (r->rounded)
        builder_warn(r->b, 0, "%zu node%s for a part of a core; a whole one is taken", r->rounded,
                     plural_word(r->rounded, " asks", "s ask"));
    if (r->noops)
        builder_warn(r->b, 0, "%zu node%s NOOP: %s nothing", r->noops,
                     plural_word(r->noops, " is", "s are"),
                     plural_word(r->noops, "it does", "they do"));
    size_t subdags = 0;
    for (size_t i = 0; i < r->nodes.n; i++)
        subdags += r->nodes.at[i].subdag;
    if (subdags)
        builder_warn(
            r->b, 0,
            "%zu SUBDAG EXTERNAL%s one task%s; `--read subdags=inline` reads what is in %s",
            subdags, plural_word(subdags, " is", "s are"), plural_word(subdags, "", " each"),
            plural_word(subdags, "it", "them"));
    if (r->joins)
        builder_warn(r->b, 0,
                     "%zu PARENT statement%s so many edges that a task in between joins them, as "
                     "DAGMan does it",
                     r->joins, r->joins == 1 ? " states" : "s state");
    if (r->nodes.n)
        builder_warn(r->b, 0, "no run times: DAGMan files state none, every task's work is 0");
}

/* Texts last until here: statements, spans and macros point into them. */
void dagman_reader_free(struct dagman_reader *r)
{
    for (size_t i = 0; i < r->files.n; i++) {
        text_free(&r->files.at[i]->text);
        dagman_file_free(r->files.at[i]);
        free(r->files.at[i]);
    }
    for (size_t i = 0; i < r->submits.n; i++)
        dagman_description_free(&r->submits.at[i]);
    for (size_t i = 0; i < r->noted.n; i++) {
        free(r->noted.at[i].prefix);
        free(r->noted.at[i].dir);
    }
    array_free(&r->files);
    array_free(&r->submits);
    array_free(&r->noted);
    array_free(&r->nodes);
    intern_free(&r->file_path);
    intern_free(&r->submit_key);
    intern_free(&r->outer_name);
    for (size_t i = 0; i < r->outer.n; i++)
        array_free(&r->outer.at[i].pairs);
    array_free(&r->outer);
    strbuf_free(&r->scratch);
}

bool dagman_reader_read(struct dagman_reader *r, const struct format_source *source,
                        struct error *err)
{
    const char *subdags = format_option(source, "subdags");
    r->source = source;
    r->err = err;
    r->scope = NONE;
    if (subdags)
        r->subdags = subdags[0] == 'i'   ? SUBDAGS_INLINE
                     : subdags[1] == 'h' ? SUBDAGS_THERE
                                         : SUBDAGS_TASK;
    intern_init(&r->file_path);
    intern_init(&r->submit_key);
    intern_init(&r->outer_name);
    struct dagman_file *top = mem_new_zero(struct dagman_file, 1);
    top->path = mem_copy_string(source->path);
    if (r->copies)
        dagman_keep_original(top, source->text, source->length);
    intern_number(&r->file_path, source->path, strlen(source->path));
    array_push(&r->files, top);
    r->top = top;
    r->b = builder_new(source->path, "dagman");
    struct dagman_child *self = mem_new_zero(struct dagman_child, 1);
    bool good = dagman_parse(top, source->text, source->length, err);
    if (good && strspn(source->text, " \t\r\n") == source->length)
        good = error_at(err, source->path, 0,
                        "there is nothing in it; expected JOB and PARENT statements");
    good = good && read_scope(r, top, "", "", 0, self);
    child_free(self);
    return good;
}

/* `first` keeps the first error with its own file, which may be a splice's; the builder's errors
 * name the top-level file. */
static struct workflow *dagman_read_workflow(const struct format_source *source, struct error *err)
{
    if (!format_require_utf8(source, err))
        return NULL;
    struct error first = {0};
    struct dagman_reader r = {0};
    bool good = dagman_reader_read(&r, source, &first);
    if (good)
        dagman_add_remarks(&r);
    dagman_reader_free(&r);
    if (!good) {
        builder_free(r.b);
        error_set(err, first.kind, "%s", first.text);
        return NULL;
    }
    return builder_finish(r.b, err);
}

static const struct option dagman_options[] = {
    {"subdags", OPTION_CHOICE, "task", "task|inline|there", 0, 0,
     "SUBDAG EXTERNAL is one task (default), or is read like a splice, or like one where its file "
     "is "
     "there"},
    {0},
};

const struct format format_dagman = {
    .name = "dagman",
    .summary =
        "HTCondor DAGMan, with splices, includes, submit files and inline submit descriptions",
    .suffixes = ".dag",
    .sniff = dagman_sniff,
    .read_workflow = dagman_read_workflow,
    .write_workflow = dagman_write_workflow,
    .carries = CARRIES_NAMES | CARRIES(run) | CARRIES(memory) | CARRIES(cores) | CARRIES(kind) |
               CARRIES(shell) | CARRIES(retries) | CARRIES(priority) | CARRIES(done),
    .options = dagman_options,
    .annotate = dagman_annotate,
    .whole = {"subdags", "there"},
};

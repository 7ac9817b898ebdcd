/* Makeflow: rules like make's, one command each; tasks are joined by files only. Variables are
 * replaced where they are used, with the value that they have at that point of the file. Names that
 * no variable has are left to the shell.
 *
 *     CATEGORY="align"                        a variable, which is also the kind of what follows
 *     MEMORY=2000
 *     out.bam: reads.fq ref.fa                targets : sources
 *         @CORES=4                            for this rule only
 *         bwa mem ref.fa reads.fq > out.bam   one command, after a tab or blanks
 *     .SIZE reads.fq 12000000 */
#include "base/array.h"
#include "base/pool.h"
#include "base/quantity.h"
#include "formats/format.h"
#include "formats/scan.h"
#include "model/shell.h"
#include <string.h>

/* A variable that doubles itself line by line must end. */
enum { LONGEST_TEXT = 1 << 24 };

/* A file being read, line by line. Variables are a name table and an array of values beside it. */
struct makeflow_reader {
    const struct format_source *source;
    struct builder *b;
    char *at, *end;
    size_t line, next_line; /* of the logical line at hand; of the one after it */
    struct intern names;    /* variables */
    ARRAY(char *) values;   /* parallel to names */
    struct strbuf text;     /* the line at hand, joined */
    struct strbuf rule;     /* targets and sources, expanded */
    size_t rules, locals;
    /* the rule that waits for its command */
    bool open;
    size_t open_line;
    struct intern own_names; /* its @NAME=value lines: they hold for this rule only */
    ARRAY(char *) own_values;
};

static bool makeflow_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* A line with a colon, then one that begins with a tab: rules of make look the same, so only the
 * suffix makes it certain. */
static int makeflow_sniff(const char *path, const char *text, size_t length)
{
    bool suffix = scan_has_suffix(path, ".mf") || scan_has_suffix(path, ".makeflow") ||
                  strcmp(file_basename(path), "Makeflow") == 0;
    const char *p = text, *end = text + (length < 8192 ? length : 8192);
    bool header = false;
    while (p < end) {
        const char *eol = memchr(p, '\n', (size_t)(end - p)), *stop = eol ? eol : end;
        if (header && *p == '\t')
            return suffix ? 3 : 1;
        const char *colon = memchr(p, ':', (size_t)(stop - p));
        if (*p != '#' && *p != '\t')
            header = colon && !memchr(p, '{', (size_t)(colon - p));
        p = eol ? eol + 1 : end;
    }
    return suffix ? 1 : 0;
}

/* ---- variables ---- */

/* Takes `value`. */
static void set_value(struct intern *names, char ***values, size_t *n, const char *name, size_t len,
                      char *value)
{
    uint32_t number = intern_number(names, name, len);
    if (number < *n) {
        free((*values)[number]);
    } else {
        *values = mem_resize(*values, *n + 1);
        ++*n;
    }
    (*values)[number] = value;
}

/* The open rule's own variables hide those of the file. */
static const char *makeflow_value_of(const struct makeflow_reader *r, const char *name, size_t len)
{
    uint32_t number = r->open ? intern_find(&r->own_names, name, len) : UINT32_MAX;
    if (number != UINT32_MAX)
        return r->own_values.at[number];
    number = intern_find(&r->names, name, len);
    return number == UINT32_MAX ? NULL : r->values.at[number];
}

/* Replace $NAME, ${NAME} and $(NAME) of known variables. Inside single quotes a dollar means
 * itself. */
static bool makeflow_expand(struct makeflow_reader *r, const char *p, const char *end,
                            struct strbuf *out)
{
    /* quotes are followed only to know whether a dollar counts; they stay in the text */
    bool single = false, twice = false;
    while (p < end) {
        if (*p == '\\' && p + 1 < end && !single) {
            strbuf_add_bytes(out, p, 2);
            p += 2;
            continue;
        }
        single ^= *p == '\'' && !twice;
        twice ^= *p == '"' && !single;
        const char *start = p + 1, *stop, *after;
        if (*p == '$' && !single && start < end) {
            char close = *start == '(' ? ')' : *start == '{' ? '}' : 0;
            start += close != 0;
            for (stop = start; stop < end && is_name_char(*stop); stop++)
                ;
            after = stop + (close != 0);
            const char *value = stop > start && (!close || (stop < end && *stop == close))
                                    ? makeflow_value_of(r, start, (size_t)(stop - start))
                                    : NULL;
            if (value) {
                strbuf_add(out, value);
                p = after;
                if (out->n > LONGEST_TEXT)
                    return builder_error(
                        r->b, r->line,
                        "the text grows past %d bytes when its variables are replaced",
                        LONGEST_TEXT);
                continue;
            }
        }
        strbuf_add_char(out, *p++);
    }
    return true;
}

/* The value of an assignment: trimmed, one pair of quotes around it taken off. */
static char *clean_value(const char *p, size_t n)
{
    while (n && makeflow_is_blank(p[n - 1]))
        n--;
    if (n >= 2 && (*p == '"' || *p == '\'') && p[n - 1] == *p) {
        p++;
        n -= 2;
    }
    return mem_copy_bytes(p, n);
}

/* NAME=value or NAME+=value? Then *name_end is where the name ends and *value where the value
 * starts. */
static bool is_assignment(const char *p, const char *end, const char **name_end, const char **value,
                          bool *append)
{
    const char *q = p;
    while (q < end && is_name_char(*q))
        q++;
    *name_end = q;
    while (q < end && makeflow_is_blank(*q))
        q++;
    *append = q + 1 < end && *q == '+' && q[1] == '=';
    if (*append)
        q++;
    if (*name_end == p || q >= end || *q != '=')
        return false;
    for (q++; q < end && makeflow_is_blank(*q);)
        q++;
    *value = q;
    return true;
}

/* False: it is no assignment. A value is expanded when it is assigned, as in make's :=. */
static bool makeflow_assign(struct makeflow_reader *r, const char *p, const char *end, bool own)
{
    const char *name_end, *value;
    bool append;
    if (!is_assignment(p, end, &name_end, &value, &append))
        return false;
    struct strbuf text = {0};
    const char *old = append ? makeflow_value_of(r, p, (size_t)(name_end - p)) : NULL;
    if (old)
        strbuf_printf(&text, "%s ", old);
    struct strbuf fresh = {0};
    if (makeflow_expand(r, value, end, &fresh)) {
        char *clean = clean_value(strbuf_text(&fresh), fresh.n);
        strbuf_add(&text, clean);
        free(clean);
        if (text.n > LONGEST_TEXT)
            builder_error(r->b, r->line, "a variable grows past %d bytes", LONGEST_TEXT);
        char *kept = mem_copy_string(strbuf_text(&text));
        if (own)
            set_value(&r->own_names, &r->own_values.at, &r->own_values.n, p, (size_t)(name_end - p),
                      kept);
        else
            set_value(&r->names, &r->values.at, &r->values.n, p, (size_t)(name_end - p), kept);
    }
    strbuf_free(&fresh);
    strbuf_free(&text);
    return true;
}

/* ---- lines ---- */

/* The next logical line into r->text: a backslash at the end of a line joins the next one. */
static bool makeflow_next_line(struct makeflow_reader *r)
{
    if (r->at >= r->end)
        return false;
    strbuf_clear(&r->text);
    r->line = r->next_line;
    for (;;) {
        char *eol = memchr(r->at, '\n', (size_t)(r->end - r->at)), *stop = eol ? eol : r->end;
        size_t n = (size_t)(stop - r->at);
        if (n && r->at[n - 1] == '\r')
            n--;
        bool joined = n && r->at[n - 1] == '\\' && eol;
        strbuf_add_bytes(&r->text, r->at, joined ? n - 1 : n);
        r->at = eol ? eol + 1 : r->end;
        r->next_line++;
        if (!joined || r->at >= r->end)
            return true;
        strbuf_add_char(&r->text, ' ');
        while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
            r->at++;
    }
}

/* A blank-separated word, "quoted" or not, copied without its quotes; false at the end. */
static bool next_file(const char **p, const char *end, struct strbuf *out)
{
    while (*p < end && makeflow_is_blank(**p))
        ++*p;
    if (*p >= end)
        return false;
    strbuf_clear(out);
    char quote = 0;
    for (; *p < end && (quote || !makeflow_is_blank(**p)); ++*p) {
        char c = **p;
        if (quote ? c == quote : c == '"' || c == '\'')
            quote = quote ? 0 : c;
        else if (c == '\\' && quote != '\'' && *p + 1 < end)
            strbuf_add_char(out, *++*p);
        else
            strbuf_add_char(out, c);
    }
    /* local->remote: the file is known by its local name */
    char *arrow = out->n ? strstr(out->at, "->") : NULL;
    if (arrow && arrow > out->at) {
        *arrow = 0;
        out->n = (size_t)(arrow - out->at);
    }
    return true;
}

/* The colon between targets and sources: outside quotes, and not part of a name such as C:x or
 * http://x. */
static const char *find_colon(const char *p, const char *end)
{
    char quote = 0;
    const char *any = NULL;
    for (; p < end; p++) {
        if (*p == '\\' && p + 1 < end)
            p++;
        else if (quote ? *p == quote : *p == '"' || *p == '\'')
            quote = quote ? 0 : *p;
        else if (!quote && *p == ':') {
            if (p + 1 == end || makeflow_is_blank(p[1]))
                return p;
            any = any ? any : p;
        }
    }
    return any;
}

/* The rule is over: its variables go. */
static void clear_own(struct makeflow_reader *r)
{
    for (size_t i = 0; i < r->own_values.n; i++)
        free(r->own_values.at[i]);
    array_free(&r->own_values);
    intern_free(&r->own_names);
    intern_init(&r->own_names);
    r->open = false;
}

/* .MAKEFLOW CATEGORY name, .MAKEFLOW CORES 4, .SIZE file bytes */
static bool makeflow_directive(struct makeflow_reader *r, const char *p, const char *end)
{
    struct strbuf word[3] = {{0}, {0}, {0}};
    int n = 0;
    struct strbuf text = {0};
    bool good = makeflow_expand(r, p, end, &text);
    const char *q = strbuf_text(&text), *stop = q + text.n;
    while (good && n < 3 && next_file(&q, stop, &word[n]))
        n++;
    double bytes;
    if (good && n == 3 && strcmp(strbuf_text(&word[0]), ".MAKEFLOW") == 0) {
        set_value(&r->names, &r->values.at, &r->values.n, strbuf_text(&word[1]), word[1].n,
                  mem_copy_string(strbuf_text(&word[2])));
    } else if (good && n == 3 && strcmp(strbuf_text(&word[0]), ".SIZE") == 0) {
        if (!quantity_bytes(strbuf_text(&word[2]), word[2].n, &bytes))
            good = builder_error(r->b, r->line, ".SIZE is '%.60s'; expected a number of bytes",
                                 strbuf_text(&word[2]));
        else if (word[1].n)
            builder_size(r->b, builder_object(r->b, word[1].at, word[1].n), bytes, r->line);
    } else if (good) {
        good = builder_error(
            r->b, r->line,
            "unknown directive '%.60s'; expected .MAKEFLOW name value or .SIZE file bytes",
            strbuf_text(&word[0]));
    }
    for (int i = 0; i < 3; i++)
        strbuf_free(&word[i]);
    strbuf_free(&text);
    return good;
}

/* ---- rules ---- */

/* Targets and sources, kept until the command comes: only then is the rule a task. */
static bool makeflow_rule_header(struct makeflow_reader *r, const char *p, const char *end)
{
    /* a comment behind the files */
    const char *hash = NULL; /* a comment behind the files */
    char quote = 0;
    for (const char *q = p; q < end && !hash; q++) {
        if (quote ? *q == quote : *q == '"' || *q == '\'')
            quote = quote ? 0 : *q;
        else if (!quote && *q == '#' && q > p && makeflow_is_blank(q[-1]))
            hash = q;
    }
    strbuf_clear(&r->rule);
    if (!makeflow_expand(r, p, hash ? hash : end, &r->rule))
        return false;
    const char *text = strbuf_text(&r->rule);
    if (!find_colon(text, text + r->rule.n))
        return builder_error(
            r->b, r->line,
            "'%.60s' is neither a rule nor an assignment; expected \"targets : sources\"", text);
    r->open = true;
    r->open_line = r->line;
    return true;
}

/* LOCAL and MAKEFLOW in front of a command say where and how it runs. */
static const char *skip_word(const char *p, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(p, word, n) != 0 || !makeflow_is_blank(p[n]))
        return p;
    for (p += n; makeflow_is_blank(*p);)
        p++;
    return p;
}

/* CATEGORY, MEMORY and CORES as they stand at the rule. The kind is the category; pictures
 * go by the program where there is none. */
static void set_resources(struct makeflow_reader *r, uint32_t task, const char *command)
{
    const char *category = makeflow_value_of(r, "CATEGORY", 8),
               *memory = makeflow_value_of(r, "MEMORY", 6),
               *cores = makeflow_value_of(r, "CORES", 5);
    double value;
    if (category && *category) {
        builder_kind(r->b, task, category, strlen(category));
    } else {
        size_t n = strcspn(command, " \t;|&<>");
        const char *slash = memrchr(command, '/', n), *start = slash ? slash + 1 : command;
        n -= (size_t)(start - command);
        if (n)
            builder_usual_kind(r->b, task, start, n);
    }
    if (memory &&
        quantity_number(memory, strlen(memory), &value)) /* MB; 0 and less: no statement */
        builder_memory(r->b, task, value > 0 ? value * 1048576 : 0, r->open_line);
    if (cores && quantity_number(cores, strlen(cores), &value) && value >= 1)
        builder_cores(r->b, task, value, r->open_line);
}

/* The first target names the task. NONE after an error. */
static uint32_t add_targets(struct makeflow_reader *r, const char *p, const char *colon,
                            struct strbuf *file)
{
    /* a file that another rule makes is an error at this rule, before its task exists */
    uint32_t task = NONE;
    while (next_file(&p, colon, file)) {
        if (!file->n)
            continue;
        uint32_t object = builder_object(r->b, file->at, file->n),
                 other = builder_producer(r->b, object);
        if (other != NONE && other != task) {
            builder_error(r->b, r->open_line,
                          "file '%s' is made by two rules, that of '%s' and this one", file->at,
                          builder_task_name(r->b, other));
            return NONE;
        }
        if (task == NONE)
            task = builder_task(r->b, file->at, file->n, r->open_line);
        builder_produces(r->b, task, object, r->open_line);
    }
    if (task == NONE && !builder_failed(r->b)) { /* a rule for its effect only */
        strbuf_clear(file);
        strbuf_printf(file, "rule%zu", r->rules);
        task = builder_task(r->b, file->at, file->n, r->open_line);
    }
    return task;
}

/* Header and command together make the task. */
static bool finish_rule(struct makeflow_reader *r, const char *p)
{
    struct strbuf command = {0}, file = {0};
    while (makeflow_is_blank(*p))
        p++;
    bool good = makeflow_expand(r, p, p + strlen(p), &command);
    r->rules++;
    const char *text = strbuf_text(&command), *plain = skip_word(text, "LOCAL");
    r->locals += plain != text;
    plain = skip_word(plain, "MAKEFLOW");
    const char *files = strbuf_text(&r->rule), *end = files + r->rule.n,
               *colon = find_colon(files, end);
    uint32_t task = good ? add_targets(r, files, colon, &file) : NONE;
    if (task != NONE) {
        for (const char *q = colon + 1; next_file(&q, end, &file);)
            if (file.n)
                builder_consumes(r->b, task, builder_object(r->b, file.at, file.n), r->open_line);
        size_t n = strlen(plain);
        while (n && makeflow_is_blank(plain[n - 1]))
            n--;
        builder_literal_command(r->b, task, plain, n);
        char *command_text = mem_copy_bytes(plain, n);
        if (!shell_is_simple(NULL, command_text)) /* Makeflow runs it by /bin/sh -c, not strictly */
            builder_shell(r->b, task, "sh", 2, r->open_line);
        free(command_text);
        set_resources(r, task, plain);
    }
    strbuf_free(&command);
    strbuf_free(&file);
    clear_own(r);
    return task != NONE;
}

/* What a line is depends on its first character and on whether a rule waits for its command. */
static bool one_line(struct makeflow_reader *r)
{
    const char *p = strbuf_text(&r->text), *end = p + r->text.n, *first = p;
    while (first < end && makeflow_is_blank(*first))
        first++;
    if (first == end)
        return true;
    /* a variable of the rule may stand at the margin */
    if (r->open && *first == '@' && makeflow_assign(r, first + 1, end, true))
        return true;
    if (first > p && r->open)
        return *first == '#' || finish_rule(r, first);
    if (*first == '#')
        return true;
    if (*p == '\t')
        return builder_error(
            r->b, r->line,
            "a command without a rule; a rule has one command (join several with ;)");
    if (r->open)
        return builder_error(r->b, r->open_line,
                             "this rule has no command; expected a line that begins with a tab");
    if (*first == '.' && end - first > 5 &&
        (strncmp(first, ".MAKEFLOW", 9) == 0 || strncmp(first, ".SIZE", 5) == 0))
        return makeflow_directive(r, first, end);
    /* `export NAME=value` assigns, `export NAME` alone does not concern the graph */
    const char *exported = skip_word(first, "export");
    if (makeflow_assign(r, exported, end, false))
        return true;
    if (exported != first)
        return true; /* export NAME: about the run's environment */
    return makeflow_rule_header(r, first, end);
}

/* One pass: rules become tasks as their commands come, files join them at the end. */
static struct workflow *makeflow_read_workflow(const struct format_source *source,
                                               struct error *err)
{
    if (!format_require_utf8(source, err))
        return NULL;
    const char *first = source->text + strspn(source->text, " \t\r\n");
    if (*first == '{') {
        error_at(err, source->path, 0,
                 "this is Makeflow's JSON or JX; read it as such (--from jx, or a name that ends "
                 "in .jx)");
        return NULL;
    }
    struct makeflow_reader r = {.source = source,
                                .b = builder_new(source->path, "makeflow"),
                                .at = source->text,
                                .end = source->text + source->length,
                                .next_line = 1};
    builder_home(r.b, source->folder);
    if (source->length >= 3 && memcmp(source->text, "\xEF\xBB\xBF", 3) == 0)
        r.at += 3;
    intern_init(&r.names);
    intern_init(&r.own_names);
    while (!builder_failed(r.b) && makeflow_next_line(&r))
        one_line(&r);
    if (!builder_failed(r.b) && r.open)
        builder_error(r.b, r.open_line,
                      "this rule has no command; expected a line that begins with a tab");
    if (!builder_failed(r.b) && !r.rules)
        builder_error(r.b, 0,
                      "there is no rule in it; expected \"targets : sources\" and a command");
    if (r.locals)
        builder_warn(r.b, 0,
                     "LOCAL (run beside the workflow manager) of %zu rules is not carried over",
                     r.locals);
    if (r.rules)
        builder_warn(r.b, 0, "no run times: Makeflow files state none, every task's work is 0");
    clear_own(&r);
    intern_free(&r.own_names);
    intern_free(&r.names);
    for (size_t i = 0; i < r.values.n; i++)
        free(r.values.at[i]);
    array_free(&r.values);
    strbuf_free(&r.text);
    strbuf_free(&r.rule);
    return builder_finish(r.b, err);
}

const struct format format_makeflow = {
    .name = "makeflow",
    .summary = "Makeflow rules (.mf)",
    .suffixes = ".mf .makeflow",
    .sniff = makeflow_sniff,
    .read_workflow = makeflow_read_workflow,
};

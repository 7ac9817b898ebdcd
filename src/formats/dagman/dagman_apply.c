/* The second pass over a DAGMan file: what its statements say about nodes and splices that are all
 * known now. */
#include "formats/dagman/dagman_scope.h"
#include "base/quantity.h"
#include "base/utf8.h"
#include "model/shell.h"
#include <math.h>
#include <string.h>
#include <strings.h>

/* PARENT a b c CHILD d e f is a product: a short text can ask for more edges than any memory holds.
 */
#define MOST_EDGES ((uint64_t)1 << 28)
/* Edges of one statement, and of the whole file, beyond which a task in between joins lists: then memory
 * grows with the text. */
enum { JOIN_ABOVE = 1 << 20, JOIN_ABOVE_IN_ALL = 1 << 22 };

typedef ARRAY(uint32_t) task_list;

/* The splice of that name in this scope; NONE. */
static uint32_t find_child(const struct dagman_scope *s, struct dagman_span name)
{
    return intern_find(&s->child_name, name.at, name.n);
}

static bool dagman_unknown_node(struct dagman_reader *r, const struct dagman_placed *at,
                                struct dagman_span name)
{
    if (!name.n)
        return dagman_fail(r, at, "%s needs the name of a node",
                           dagman_keyword_name(at->st->keyword));
    return dagman_fail(r, at, "%s names '%.*s', but there is no such node here",
                       dagman_keyword_name(at->st->keyword), (int)(name.n > 200 ? 200 : name.n),
                       name.at);
}

/* The node that a statement is about: *all for ALL_NODES; *task is NONE for an inlined sub-dag,
 * which as a whole has no attributes. */
static bool statement_subject(struct dagman_reader *r, struct dagman_scope *s,
                              const struct dagman_placed *at, struct dagman_span name,
                              uint32_t *task, bool *all)
{
    *task = NONE;
    *all = dagman_is(name, "ALL_NODES");
    if (*all)
        return true;
    *task = name.n ? dagman_find_node(r, s, name) : NONE;
    if (*task != NONE)
        return true;
    uint32_t child = name.n ? find_child(s, name) : NONE;
    if (child != NONE && s->children.at[child]->subdag)
        return true;
    if (child != NONE)
        return dagman_fail(r, at, "%s is about the splice '%.*s'; it can be said of nodes only",
                           dagman_keyword_name(at->st->keyword), (int)name.n, name.at);
    return dagman_unknown_node(r, at, name);
}

/* ---- attributes ---- */

/* PRIORITY node n, RETRY node n [UNLESS-EXIT v] */
static bool apply_number(struct dagman_reader *r, struct dagman_scope *s,
                         const struct dagman_placed *at)
{
    struct dagman_span rest = at->st->rest, name = dagman_word(&rest), word = dagman_word(&rest);
    bool retry = at->st->keyword == DAGMAN_RETRY, all;
    uint32_t task;
    int64_t value;
    if (!statement_subject(r, s, at, name, &task, &all))
        return false;
    if (!quantity_integer(word.at, word.n, &value) || (retry && (value < 0 || value > 1000000000)))
        return dagman_fail(r, at, "%s of '%.*s' is '%.*s'; expected a whole number%s",
                           dagman_keyword_name(at->st->keyword), (int)name.n, name.at,
                           (int)(word.n > 60 ? 60 : word.n), word.at, retry ? ", 0 or more" : "");
    r->lost[DAGMAN_LOST_UNLESS_EXIT] += retry && dagman_is(dagman_word(&rest), "UNLESS-EXIT");
    /* ALL_NODES are the scope's own, not those of its splices */
    for (uint32_t t = all ? s->first : task; task != NONE || all; t++) {
        if (all && t >= s->last)
            break;
        if (retry)
            builder_retries(r->b, t, (double)value, 0);
        else
            builder_priority(r->b, t, (double)value, 0);
        if (!all)
            break;
    }
    return true;
}

typedef ARRAY(struct dagman_pair) pair_list;

/* [PREPEND|APPEND] name="value" name2 = "value" ..., behind VARS and the node. */
static bool parse_vars(struct dagman_reader *r, const struct dagman_placed *at,
                       struct dagman_span name, struct dagman_span rest, pair_list *out)
{
    struct dagman_span ahead = rest, word = dagman_word(&ahead), next = dagman_word(&ahead);
    if ((dagman_is(word, "PREPEND") || dagman_is(word, "APPEND")) && !(next.n && *next.at == '=')) {
        rest.n -= (uint32_t)(word.at + word.n - rest.at);
        rest.at = word.at + word.n;
    }
    const char *p = rest.at, *end = p + rest.n;
    for (;;) {
        while (p < end && strchr(" \t\r", *p))
            p++;
        if (p == end)
            break;
        struct dagman_pair pair = {.key = {p, 0}};
        while (p < end && !strchr(" \t\r=", *p))
            p++;
        pair.key.n = (uint32_t)(p - pair.key.at);
        while (p < end && strchr(" \t\r", *p))
            p++;
        if (!pair.key.n || p == end || *p != '=')
            return dagman_fail(r, at, "VARS of '%.*s': expected name=\"value\"", (int)name.n,
                               name.at);
        p++;
        while (p < end && strchr(" \t\r", *p))
            p++;
        char quote = p < end ? *p : 0;
        if (quote != '"' && quote != '\'')
            return dagman_fail(r, at, "VARS of '%.*s': the value of %.*s needs double quotes",
                               (int)name.n, name.at, (int)pair.key.n, pair.key.at);
        pair.value.at = ++p;
        while (p < end && *p != quote)
            p += *p == '\\' && p + 1 < end ? 2 : 1;
        if (p >= end)
            return dagman_fail(r, at, "VARS of '%.*s': the value of %.*s does not end; expected %c",
                               (int)name.n, name.at, (int)pair.key.n, pair.key.at, quote);
        pair.value.n = (uint32_t)(p - pair.value.at);
        p++;
        array_push(out, pair);
    }
    return out->n || dagman_fail(r, at, "VARS of '%.*s' sets nothing; expected name=\"value\"",
                                 (int)name.n, name.at);
}

/* VARS node name="value" ... Those of a splice's nodes were taken before the splice was read. */
static bool apply_vars(struct dagman_reader *r, struct dagman_scope *s,
                       const struct dagman_placed *at)
{
    struct dagman_span rest = at->st->rest, name = dagman_word(&rest);
    uint32_t task;
    bool all;
    if (!statement_subject(r, s, at, name, &task, &all))
        return false;
    pair_list pairs = {0};
    bool good = parse_vars(r, at, name, rest, &pairs);
    bool own = all || (task != NONE && task >= s->first && task < s->last);
    for (size_t i = 0; good && (task != NONE || all) && i < pairs.n; i++) {
        if (own)
            array_push(&s->vars, (struct dagman_var){task, pairs.at[i]});
        int64_t value; /* what the PRIO tool writes */
        if (dagman_is(pairs.at[i].key, "JOBPRIORITY") &&
            quantity_integer(pairs.at[i].value.at, pairs.at[i].value.n, &value))
            for (uint32_t t = all ? s->first : task; t < (all ? s->last : task + 1); t++)
                builder_priority(r->b, t, (double)value, 0);
    }
    array_free(&pairs);
    return good;
}

bool dagman_outer_vars(struct dagman_reader *r, const struct dagman_scope *s)
{
    bool good = true;
    for (size_t i = 0; good && i < s->statements.n; i++) {
        const struct dagman_placed *at = &s->statements.at[i];
        struct dagman_span rest = at->st->rest, name;
        if (at->st->keyword != DAGMAN_VARS || !(name = dagman_word(&rest)).n ||
            !memchr(name.at, '+', name.n))
            continue;
        pair_list pairs = {0};
        good = parse_vars(r, at, name, rest, &pairs);
        struct strbuf full = {0};
        strbuf_add(&full, s->prefix);
        strbuf_add_bytes(&full, name.at, name.n);
        uint32_t number = intern_number(&r->outer_name, full.at, full.n);
        if (number == r->outer.n)
            array_push(&r->outer, (struct dagman_outer){0});
        for (size_t k = 0; good && k < pairs.n; k++)
            array_push(&r->outer.at[number].pairs, pairs.at[k]);
        strbuf_free(&full);
        array_free(&pairs);
    }
    return good;
}

/* DONE node, or DONE ALL_NODES. */
static bool apply_done(struct dagman_reader *r, struct dagman_scope *s,
                       const struct dagman_placed *at)
{
    struct dagman_span rest = at->st->rest, name = dagman_word(&rest);
    uint32_t task;
    bool all;
    if (!statement_subject(r, s, at, name, &task, &all))
        return false;
    if (!all)
        builder_flag(r->b, task, TASK_DONE);
    for (uint32_t t = s->first; all && t < s->last; t++)
        builder_flag(r->b, t, TASK_DONE);
    return true;
}

/* Statements that only count: still, their node must exist. SCRIPT [DEFER s t] [DEBUG f t]
 * PRE|POST|HOLD node ... */
static bool apply_ignored(struct dagman_reader *r, struct dagman_scope *s,
                          const struct dagman_placed *at)
{
    r->ignored[at->st->keyword]++;
    struct dagman_span rest = at->st->rest, name = dagman_word(&rest);
    if (at->st->keyword >= DAGMAN_TOLERANCE)
        return true;
    if (at->st->keyword == DAGMAN_SCRIPT) {
        while (dagman_is(name, "DEFER") || dagman_is(name, "DEBUG")) {
            dagman_word(&rest);
            dagman_word(&rest);
            name = dagman_word(&rest);
        }
        if (!dagman_is(name, "PRE") && !dagman_is(name, "POST") && !dagman_is(name, "HOLD"))
            return dagman_fail(r, at, "expected SCRIPT PRE, POST or HOLD, a node and a program");
        name = dagman_word(&rest);
    }
    uint32_t task;
    bool all;
    return statement_subject(r, s, at, name, &task, &all);
}

/* A second description of the same name replaces the first, as in DAGMan. */
static void take_description(struct dagman_scope *s, const struct dagman_statement *st)
{
    struct dagman_span rest = st->rest, name = dagman_word(&rest);
    if (!name.n || !st->block.at)
        return;
    uint32_t number = intern_number(&s->description_name, name.at, name.n);
    if (number < s->descriptions.n)
        dagman_description_free(&s->descriptions.at[number]);
    else
        array_add(&s->descriptions);
    dagman_description_parse(&s->descriptions.at[number], st->block.at, st->block.n);
}

/* ---- edges ---- */

/* A task that does nothing between the two lists: n + m edges instead of n x m, as DAGMan itself does
 * it, by the same name. */
static uint32_t join_node(struct dagman_reader *r, const struct dagman_placed *at)
{
    char name[40];
    do
        snprintf(name, sizeof name, "_condor_join_node%zu", ++r->joins);
    while (builder_find_task(r->b, name, strlen(name)) != NONE);
    uint32_t task = builder_task(r->b, name, strlen(name), dagman_line(r, at));
    if (task == NONE)
        return NONE;
    builder_literal_command(r->b, task, DAGMAN_NOOP, strlen(DAGMAN_NOOP));
    /* joins have both parents and children: no ends of a splice */
    array_push(&r->nodes, (struct dagman_node){.file = at->file, .line = at->st->line});
    return task;
}

/* The product of both lists. Also notes who has a parent and a child, for the ends of a splice. */
static bool dagman_add_edges(struct dagman_reader *r, const struct dagman_placed *at,
                             const uint32_t *from, size_t nfrom, const uint32_t *to, size_t nto)
{
    uint64_t product = (uint64_t)nfrom * nto;
    bool dense = nfrom > 1 && nto > 1 && product > nfrom + nto;
    if (dense && (product > JOIN_ABOVE || r->edges + product > JOIN_ABOVE_IN_ALL)) {
        uint32_t join = join_node(r, at);
        return join != NONE && dagman_add_edges(r, at, from, nfrom, &join, 1) &&
               dagman_add_edges(r, at, &join, 1, to, nto);
    }
    r->edges += product;
    if (r->edges > MOST_EDGES)
        return dagman_fail(r, at, "more than %llu edges", (unsigned long long)MOST_EDGES);
    size_t line = dagman_line(r, at);
    for (size_t i = 0; i < nfrom; i++)
        for (size_t k = 0; k < nto; k++) {
            if (from[i] == to[k])
                return dagman_fail(r, at, "node '%s' is its own parent",
                                   builder_task_name(r->b, from[i]));
            builder_edge(r->b, from[i], to[k], line);
        }
    for (size_t i = 0; i < nfrom && nto; i++)
        r->nodes.at[from[i]].has_child = true;
    for (size_t k = 0; k < nto && nfrom; k++)
        r->nodes.at[to[k]].has_parent = true;
    return true;
}

/* PARENT a b CHILD c d */
static bool apply_parent(struct dagman_reader *r, struct dagman_scope *s,
                         const struct dagman_placed *at)
{
    task_list from = {0}, to = {0};
    struct dagman_span rest = at->st->rest, word;
    bool children = false, good = true;
    size_t parents_named = 0, children_named = 0;
    while (good && (word = dagman_word(&rest)).n) {
        if (!children && dagman_is(word, "CHILD")) {
            children = true;
            continue;
        }
        task_list *list = children ? &to : &from;
        *(children ? &children_named : &parents_named) += 1;
        uint32_t task = dagman_find_node(r, s, word), child = find_child(s, word);
        if (task != NONE) {
            array_push(list, task);
        } else if (child != NONE) {
            const struct dagman_child *c = s->children.at[child];
            const uint32_t *ends = children ? c->sources.at : c->sinks.at;
            size_t n = children ? c->sources.n : c->sinks.n;
            for (size_t i = 0; i < n; i++)
                array_push(list, ends[i]);
        } else {
            good = dagman_unknown_node(r, at, word);
        }
    }
    if (good && (!parents_named || !children_named))
        good = dagman_fail(r, at, "expected PARENT a ... CHILD b ...");
    good = good && dagman_add_edges(r, at, from.at, from.n, to.at, to.n);
    array_free(&from);
    array_free(&to);
    return good;
}

static int compare_pins(const void *a, const void *b)
{
    const struct dagman_pin *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

/* PIN_IN node number */
static bool apply_pin(struct dagman_reader *r, struct dagman_scope *s,
                      const struct dagman_placed *at)
{
    struct dagman_span rest = at->st->rest, name = dagman_word(&rest), word = dagman_word(&rest);
    uint32_t task = name.n ? dagman_find_node(r, s, name) : NONE;
    if (task == NONE)
        return dagman_unknown_node(r, at, name);
    int64_t number;
    if (!quantity_integer(word.at, word.n, &number) || number < 1 || number > 1 << 24)
        return dagman_fail(r, at, "the pin's number is '%.*s'; expected 1 or more",
                           (int)(word.n > 60 ? 60 : word.n), word.at);
    struct dagman_pin pin = {(uint32_t)number, task};
    if (at->st->keyword == DAGMAN_PIN_IN)
        array_push(&s->self->pin_in, pin);
    else
        array_push(&s->self->pin_out, pin);
    return true;
}

/* CONNECT a b: every pin out of a to the pin in of b with the same number */
static bool apply_connect(struct dagman_reader *r, struct dagman_scope *s,
                          const struct dagman_placed *at)
{
    struct dagman_span rest = at->st->rest, name[2] = {dagman_word(&rest), {0}};
    name[1] = dagman_word(&rest);
    struct dagman_child *child[2];
    for (int i = 0; i < 2; i++) {
        uint32_t number = name[i].n ? find_child(s, name[i]) : NONE;
        if (number == NONE)
            return name[i].n ? dagman_fail(r, at,
                                           "CONNECT names '%.*s', but there is no such splice here",
                                           (int)name[i].n, name[i].at)
                             : dagman_fail(r, at, "expected CONNECT and the names of two splices");
        child[i] = s->children.at[number];
    }
    /* both sorted by number, then walked together */
    struct dagman_pin *out = child[0]->pin_out.at, *in = child[1]->pin_in.at;
    size_t nout = child[0]->pin_out.n, nin = child[1]->pin_in.n;
    if (nout)
        qsort(out, nout, sizeof *out, compare_pins);
    if (nin)
        qsort(in, nin, sizeof *in, compare_pins);
    uint32_t most_out = nout ? out[nout - 1].number : 0, most_in = nin ? in[nin - 1].number : 0;
    if (most_out != most_in || !most_out) {
        if (!child[0]->include_missing && !child[1]->include_missing)
            return dagman_fail(
                r, at,
                "'%.*s' has %u pins out and '%.*s' has %u pins in; CONNECT needs as many of both",
                (int)name[0].n, name[0].at, most_out, (int)name[1].n, name[1].at, most_in);
        builder_warn(
            r->b, dagman_line(r, at),
            "'%.*s' and '%.*s' are not connected on every pin: an included file is missing",
            (int)name[0].n, name[0].at, (int)name[1].n, name[1].at);
    }
    for (size_t i = 0, k = 0; i < nout; i++) {
        while (k < nin && in[k].number < out[i].number)
            k++;
        for (size_t j = k; j < nin && in[j].number == out[i].number; j++)
            if (!dagman_add_edges(r, at, &out[i].task, 1, &in[j].task, 1))
                return false;
    }
    return true;
}

/* ---- commands ---- */

/* The description of a submit file, sought and parsed once; empty when there is none. */
static const struct dagman_description *
submit_file(struct dagman_reader *r, const struct dagman_scope *s, const struct dagman_node *n)
{
    struct strbuf *key = &r->scratch;
    strbuf_clear(key);
    strbuf_printf(key, "%s\n%s\n", n->file->path, s->dir);
    strbuf_add_bytes(key, n->dir.at, n->dir.n);
    strbuf_add_char(key, '\n');
    strbuf_add_bytes(key, n->submit.at, n->submit.n);
    uint32_t number = intern_number(&r->submit_key, key->at, key->n);
    if (number < r->submits.n)
        return &r->submits.at[number];
    struct dagman_description *d = array_add(&r->submits);
    bool beside;
    char *path = dagman_find_file(r, s, n->file, n->dir, n->submit, &beside);
    struct text text = {0};
    struct error ignored = {0};
    /* A program under that name, as in old examples, is no description: nothing to learn from it.
     */
    if (path && file_read(path, &text, &ignored) && utf8_valid(text.at, text.n) == text.n &&
        !memchr(text.at, 0, text.n))
        dagman_description_parse(d, text.at, text.n);
    text_free(&text);
    free(path);
    return d;
}

/* The file's name without folder and last suffix. */
static struct dagman_span file_stem(struct dagman_span path)
{
    const char *slash = path.n ? memrchr(path.at, '/', path.n) : NULL;
    if (slash) {
        path.n -= (uint32_t)(slash + 1 - path.at);
        path.at = slash + 1;
    }
    const char *dot = path.n ? memrchr(path.at, '.', path.n) : NULL;
    if (dot && dot > path.at)
        path.n = (uint32_t)(dot - path.at);
    return path;
}

/* Memory and cores. HTCondor evaluates expressions for each job; here they are only counted. */
static void read_requests(struct dagman_reader *r, uint32_t task, const struct dagman_macros *m)
{
    struct strbuf text = {0};
    double value;
    if (dagman_value(m, "+WeftMemory", &text) &&
        quantity_number(strbuf_text(&text), text.n, &value) && value >= 0) {
        builder_memory(r->b, task, value, 0);
    } else if (dagman_value(m, "request_memory", &text) && text.n) {
        if (dagman_memory(strbuf_text(&text), &value))
            builder_memory(r->b, task, value, 0);
        else
            r->lost[DAGMAN_LOST_REQUESTS]++;
    }
    if (dagman_value(m, "request_cpus", &text) && text.n) {
        if (quantity_number(strbuf_text(&text), text.n, &value) && value >= 0 && value <= 1 << 20) {
            r->rounded += value != ceil(value);
            builder_cores(r->b, task, fmax(1, ceil(value)), 0);
        } else {
            r->lost[DAGMAN_LOST_REQUESTS]++;
        }
    }
    strbuf_free(&text);
}

/* Macros of a node without a description, but for those that stand for themselves. */
static size_t unused_vars(const struct dagman_macros *m)
{
    static const char *const own[] = {"+WeftKind", "+WeftMemory", "request_memory", "request_cpus"};
    size_t unused = m->nvars;
    for (size_t i = 0; i < m->nvars; i++)
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            unused -= m->vars[i].key.n == strlen(own[k]) &&
                      strncasecmp(m->vars[i].key.at, own[k], m->vars[i].key.n) == 0;
    return unused;
}

/* What a description may say that decides what runs, and that a workflow does not carry from it. */
static const char *const lost_commands[] = {
    "environment",  "getenv",          "input",        "initialdir",   "request_gpus",
    "request_disk", "container_image", "docker_image", "requirements", "transfer_input_files"};
_Static_assert(sizeof lost_commands / sizeof *lost_commands == DAGMAN_LOSSES - DAGMAN_LOST_COMMANDS,
               "each has its count");

const char *dagman_loss_name(enum dagman_loss loss)
{
    static const char *const names[] = {
        [DAGMAN_LOST_VARS] = "VARS of nodes whose submit file is not there",
        [DAGMAN_LOST_REQUESTS] = "request_memory or request_cpus that is no number",
        [DAGMAN_LOST_ARGUMENTS] = "commands whose arguments have a quote too many or too few",
        [DAGMAN_LOST_DIR] = "DIR",
        [DAGMAN_LOST_UNLESS_EXIT] = "UNLESS-EXIT",
        [DAGMAN_LOST_QUEUE] = "all but one of the jobs that are queued",
    };
    return loss < DAGMAN_LOST_COMMANDS ? names[loss] : lost_commands[loss - DAGMAN_LOST_COMMANDS];
}

static void count_losses(struct dagman_reader *r, const struct dagman_node *n,
                         const struct dagman_macros *m)
{
    bool described = m->description && m->description->pairs.n;
    r->lost[DAGMAN_LOST_DIR] += n->dir.n > 0;
    r->lost[DAGMAN_LOST_QUEUE] += m->description && m->description->several;
    if (!described)
        r->lost[DAGMAN_LOST_VARS] += unused_vars(m);
    for (int i = DAGMAN_LOST_COMMANDS; described && i < DAGMAN_LOSSES; i++)
        r->lost[i] += dagman_states(m, lost_commands[i - DAGMAN_LOST_COMMANDS]);
}

/* Command, kind, memory and cores from the node's description, with its VARS as macros. */
static void describe_node(struct dagman_reader *r, const struct dagman_scope *s, uint32_t task,
                          const struct dagman_pair *vars, size_t nvars)
{
    const struct dagman_node *n = &r->nodes.at[task];
    struct dagman_description own = {0};
    char *job = mem_copy_string(
        builder_task_name(r->b, task)); /* adding text may move the builder's pool */
    struct dagman_macros m = {.job = job, .vars = vars, .nvars = nvars};
    if (n->block.at) {
        dagman_description_parse(&own, n->block.at, n->block.n);
        m.description = &own;
    } else if (!n->subdag) {
        uint32_t named = intern_find(&s->description_name, n->submit.at, n->submit.n);
        m.description = named != NONE ? &s->descriptions.at[named] : submit_file(r, s, n);
    }
    struct strbuf text = {0};
    bool by_sh = false;
    if (n->noop) {
        builder_literal_command(r->b, task, DAGMAN_NOOP, strlen(DAGMAN_NOOP));
        r->noops++;
    } else if (!n->subdag && dagman_command(&m, &text, &by_sh)) {
        builder_literal_command(r->b, task, text.at, text.n);
        if (by_sh && !shell_is_simple(NULL, text.at))
            builder_shell(r->b, task, "sh", 2, 0);
    } else if (!n->subdag) {
        r->lost[DAGMAN_LOST_ARGUMENTS] += dagman_states(&m, "executable");
    }
    struct dagman_span kind = file_stem(n->submit);
    if (dagman_value(&m, "+WeftKind", &text) && text.n) {
        /* a string attribute of the job has quotes of its own */
        bool quoted = text.n >= 2 && text.at[0] == '"' && text.at[text.n - 1] == '"';
        builder_kind(r->b, task, text.at + quoted, text.n - 2 * quoted);
    } else if (kind.n) {
        builder_kind(r->b, task, kind.at, kind.n);
    }
    strbuf_free(&text);
    if (!n->noop) {
        read_requests(r, task, &m);
        count_losses(r, n, &m);
    }
    dagman_description_free(&own);
    free(job);
}

/* Each node with its VARS and those of ALL_NODES, in the order of the file. */
static void describe_nodes(struct dagman_reader *r, struct dagman_scope *s)
{
    uint32_t n = s->last - s->first;
    uint32_t *off = mem_new_zero(uint32_t, (size_t)n + 2), *list = mem_new(uint32_t, s->vars.n + 1);
    ARRAY(uint32_t) common = {0};
    ARRAY(struct dagman_pair) vars = {0};
    for (size_t i = 0; i < s->vars.n; i++) {
        if (s->vars.at[i].task == NONE)
            array_push(&common, (uint32_t)i);
        else
            off[s->vars.at[i].task - s->first + 2]++;
    }
    for (uint32_t i = 0; i < n; i++)
        off[i + 2] += off[i + 1];
    for (size_t i = 0; i < s->vars.n; i++)
        if (s->vars.at[i].task != NONE)
            list[off[s->vars.at[i].task - s->first + 1]++] = (uint32_t)i;
    for (uint32_t i = 0; i < n; i++) {
        vars.n = 0;
        size_t c = 0;
        for (uint32_t k = off[i]; k < off[i + 1] || c < common.n;) {
            bool from_common = c < common.n && (k == off[i + 1] || common.at[c] < list[k]);
            uint32_t at = from_common ? common.at[c++] : list[k++];
            array_push(&vars, s->vars.at[at].pair);
        }
        const char *name = r->outer.n ? builder_task_name(r->b, s->first + i) : "";
        uint32_t outer = r->outer.n ? intern_find(&r->outer_name, name, strlen(name)) : NONE;
        for (size_t k = 0; outer != NONE && k < r->outer.at[outer].pairs.n; k++)
            array_push(&vars, r->outer.at[outer].pairs.at[k]);
        describe_node(r, s, s->first + i, vars.at, vars.n);
    }
    array_free(&vars);
    array_free(&common);
    free(list);
    free(off);
}

/* ---- */

/* Declarations were the first pass's: they pass here without effect. */
static bool apply_one(struct dagman_reader *r, struct dagman_scope *s,
                      const struct dagman_placed *at)
{
    switch (at->st->keyword) {
    case DAGMAN_PARENT:
        return apply_parent(r, s, at);
    case DAGMAN_PIN_IN:
    case DAGMAN_PIN_OUT:
        return apply_pin(r, s, at);
    case DAGMAN_VARS:
        return apply_vars(r, s, at);
    case DAGMAN_PRIORITY:
    case DAGMAN_RETRY:
        return apply_number(r, s, at);
    case DAGMAN_DONE:
        return apply_done(r, s, at);
    case DAGMAN_CONNECT:
        return apply_connect(r, s, at);
    case DAGMAN_SUBMIT_DESCRIPTION:
        take_description(s, at->st);
        return true;
    default:
        return at->st->keyword < DAGMAN_SCRIPT || apply_ignored(r, s, at);
    }
}

/* VARS are collected by the statements and used after all of them: they may stand below the JOB. */
bool dagman_apply(struct dagman_reader *r, struct dagman_scope *s)
{
    if (s->fragment) {
        builder_warn(r->b, 0,
                     "this file declares no node (a fragment for INCLUDE?); its %zu statements are "
                     "about nodes elsewhere",
                     s->statements.n);
        return true;
    }
    for (size_t i = 0; i < s->statements.n; i++)
        if (!apply_one(r, s, &s->statements.at[i]))
            return false;
    describe_nodes(r, s);
    return true;
}

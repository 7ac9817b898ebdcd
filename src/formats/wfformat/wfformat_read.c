/* The graph of a WfFormat file, all versions. Tasks first; then the execution's entries (1.5);
 * then stated edges; then files as data objects: outputs of all tasks before inputs of any, since
 * a file's producer must be known before its readers. wfformat.h states the decisions.
 *
 *     1.5   workflow.specification.tasks   id, parents, children, inputFiles, outputFiles
 *           workflow.specification.files   id, sizeInBytes
 *           workflow.execution.tasks       id, runtimeInSeconds, command, coreCount, memoryInBytes
 *     1.4   workflow.tasks                 all of it, with files: [{name, link, sizeInBytes}]
 *     1.2   workflow.jobs                  the same, with runtime, memory (kB), cores, arguments */
#include "base/array.h"
#include "base/mem.h"
#include "formats/wfformat/wfformat.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* A stated edge. */
struct wfformat_pair {
    uint32_t from, to;
};

/* A producer of a file beside its first one: it makes an object of its own. */
struct wfformat_second_producer {
    json_ref name;
    uint32_t object, producer, next;
};

/* What later passes need of each task. */
struct wfformat_lists {
    json_ref parents, children, inputs, outputs, files;
    uint32_t line;
    bool has_kind;
    struct wfformat_own own;
};

struct wfformat_reader {
    const struct wfformat_document *d;
    const struct json *j;
    struct builder *b;
    struct strbuf scratch;
    ARRAY(struct wfformat_lists) lists; /* by task */
    ARRAY(struct wfformat_pair) stated; /* edges, parents and children together */
    bool states_edges;                  /* some task has a list of parents or children */
    uint32_t nobjects, declared;
    ARRAY(double) size; /* by object, as far as stated; NAN: not */
    ARRAY(struct wfformat_second_producer) second;
    size_t rounded;                 /* tasks whose number of cores is no whole one */
    uint32_t *first_second, nfirst; /* by object < nfirst: index into `second` or NONE */
};

/* Always false; the error is the builder's, so that the first one counts. */
static bool wfformat_wrong_type(struct wfformat_reader *r, json_ref v, uint32_t task,
                                const char *what, const char *expected)
{
    return builder_error(r->b, json_line(r->j, v), "task '%s': %s is %s; expected %s",
                         builder_task_name(r->b, task), what, json_type_name(json_type(r->j, v)),
                         expected);
}

/* NAN: absent. */
static double number_of(struct wfformat_reader *r, json_ref v, uint32_t task, const char *what)
{
    if (v == JSON_NONE)
        return NAN;
    if (json_type(r->j, v) != JSON_NUMBER) {
        wfformat_wrong_type(r, v, task, what, "a number");
        return NAN;
    }
    double x = json_number(r->j, v);
    if (x < 0) {
        builder_error(r->b, json_line(r->j, v), "task '%s': %s is %g; expected 0 or more",
                      builder_task_name(r->b, task), what, x);
        return NAN;
    }
    return x;
}

/* Is this argument a piece of shell grammar? Then the list is a shell line that was split at its
 * blanks. */
static bool is_shell_operator(const char *s)
{
    static const char *const operators[] = {">",  ">>", "<",  "|",  "||",   "&",
                                            "&&", ";",  "2>", "&>", "2>&1", "2>>"};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (strcmp(s, operators[i]) == 0)
            return true;
    }
    return false;
}

/* One argument as a word of a shell line, quoted only where it must be. */
static void add_quoted(struct strbuf *out, const char *text, size_t n)
{
    bool plain = n > 0;
    for (size_t i = 0; i < n && plain; i++)
        plain = isalnum((unsigned char)text[i]) || strchr("_-./=:,+@%^", text[i]) ||
                (unsigned char)text[i] >= 0x80;
    if (plain) {
        strbuf_add_bytes(out, text, n);
        return;
    }
    strbuf_add_char(out, '\'');
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\'')
            strbuf_add(out, "'\\''");
        else
            strbuf_add_char(out, text[i]);
    }
    strbuf_add_char(out, '\'');
}

/* program and arguments as one command line in r->scratch; the program as it stands (it may be a
 * whole script). */
static void join_command(struct wfformat_reader *r, uint32_t task, json_ref program,
                         json_ref arguments)
{
    const struct json *j = r->j;
    strbuf_clear(&r->scratch);
    size_t n;
    const char *text;
    if (program != JSON_NONE) {
        text = json_string(j, program, &n);
        strbuf_add_bytes(&r->scratch, text, n);
    }
    if (arguments == JSON_NONE)
        return;
    if (json_type(j, arguments) != JSON_ARRAY) {
        wfformat_wrong_type(r, arguments, task, "arguments", "an array");
        return;
    }
    /* one operator among the arguments makes the whole list a shell line, whose words must not be
     * quoted */
    bool raw = false;
    for (json_ref v = json_first(j, arguments); v != JSON_NONE;
         v = json_next_element(j, arguments, v)) {
        if (json_type(j, v) != JSON_STRING) {
            wfformat_wrong_type(r, v, task, "an argument", "a string");
            return;
        }
        raw |= is_shell_operator(json_string(j, v, NULL));
    }
    for (json_ref v = json_first(j, arguments); v != JSON_NONE;
         v = json_next_element(j, arguments, v)) {
        if (r->scratch.n)
            strbuf_add_char(&r->scratch, ' ');
        text = json_string(j, v, &n);
        if (raw)
            strbuf_add_bytes(&r->scratch, text, n);
        else
            add_quoted(&r->scratch, text, n);
    }
}

/* The command and, where no category states it, the kind: the program's base name, or the stem of
 * the task's name. */
static void wfformat_read_command(struct wfformat_reader *r, uint32_t task,
                                  const struct wfformat_members *m)
{
    const struct json *j = r->j;
    json_ref program = JSON_NONE, arguments = m->arguments;
    if (m->command != JSON_NONE) {
        if (json_type(j, m->command) != JSON_OBJECT) {
            wfformat_wrong_type(r, m->command, task, "command", "an object");
            return;
        }
        program = wfformat_stated(j, json_get(j, m->command, "program"));
        arguments = wfformat_stated(j, json_get(j, m->command, "arguments"));
        if (program != JSON_NONE && json_type(j, program) != JSON_STRING) {
            wfformat_wrong_type(r, program, task, "program", "a string");
            return;
        }
    }
    const char *name = builder_task_name(r->b, task);
    size_t name_length = strlen(name), program_length = 0, n;
    const char *program_text = program == JSON_NONE ? "" : json_string(j, program, &program_length);
    if (task < r->lists.n && r->lists.at[task].own.command) {
        /* the template is there */
    } else if (program != JSON_NONE) {
        join_command(r, task, program, arguments);
        builder_literal_command(r->b, task, strbuf_text(&r->scratch), r->scratch.n);
    } else if (arguments != JSON_NONE && json_size(j, arguments)) {
        /* 1.0 and 1.1 give arguments without a program: the name's stem is the program. */
        join_command(r, task, JSON_NONE, arguments);
        char *rest = strbuf_steal(&r->scratch);
        name = builder_task_name(r->b, task);
        strbuf_add_bytes(&r->scratch, name, wfformat_stem(name, name_length));
        strbuf_add_char(&r->scratch, ' ');
        strbuf_add(&r->scratch, rest);
        free(rest);
        builder_literal_command(r->b, task, strbuf_text(&r->scratch), r->scratch.n);
    }
    if (task >= r->lists.n || r->lists.at[task].has_kind)
        return;
    strbuf_clear(&r->scratch); /* a copy, because adding to the pool may move the name */
    const char *kind =
        wfformat_kind(builder_task_name(r->b, task), name_length, program_text, program_length, &n);
    strbuf_add_bytes(&r->scratch, kind, n);
    builder_kind(r->b, task, r->scratch.at, r->scratch.n);
}

/* What was recorded, or the kind: from the task itself up to 1.4, from its execution entry in 1.5.
 */
static void wfformat_read_record(struct wfformat_reader *r, uint32_t task,
                                 const struct wfformat_members *m, size_t line)
{
    double runtime = number_of(r, m->runtime, task, "the runtime");
    if (!isnan(runtime) && !(task < r->lists.n && r->lists.at[task].own.unstated && runtime == 0))
        builder_work(r->b, task, runtime, line);
    double memory = number_of(r, m->memory_bytes, task, "memoryInBytes");
    double kb = number_of(r, m->memory_kb, task, "memory");
    if (!isnan(memory) || !isnan(kb))
        builder_memory(r->b, task, isnan(memory) ? kb * 1000 : memory, line);
    double cores = number_of(r, m->cores, task, "the core count");
    if (!isnan(cores))
        format_cores(r->b, task, cores, line, &r->rounded);
    if (m->priority != JSON_NONE) {
        if (json_type(r->j, m->priority) == JSON_NUMBER)
            builder_priority(r->b, task, json_number(r->j, m->priority), line);
        else
            wfformat_wrong_type(r, m->priority, task, "priority", "a number");
    }
    wfformat_read_command(r, task, m);
}

/* Does it state a kind? An empty category states none. */
static bool read_category(struct wfformat_reader *r, uint32_t task, json_ref category)
{
    if (category == JSON_NONE)
        return false;
    if (json_type(r->j, category) != JSON_STRING)
        return wfformat_wrong_type(r, category, task, "category", "a string");
    size_t n;
    const char *text = json_string(r->j, category, &n);
    if (n)
        builder_kind(r->b, task, text, n);
    return n > 0;
}

/* Every task is made before anything refers to it. Up to 1.4 the task itself is also the record
 * of its run. */
static bool wfformat_read_tasks(struct wfformat_reader *r)
{
    const struct json *j = r->j;
    json_ref tasks = r->d->tasks;
    struct json_cursor cursor = {0};
    builder_expect(r->b, json_size(j, tasks), 2 * (size_t)json_size(j, tasks));
    array_reserve(&r->lists, json_size(j, tasks));
    for (json_ref v = json_first(j, tasks); v != JSON_NONE; v = json_next_element(j, tasks, v)) {
        size_t line = json_cursor_line(j, &cursor, v);
        if (json_type(j, v) != JSON_OBJECT)
            return builder_error(r->b, line, "a task is %s; expected an object",
                                 json_type_name(json_type(j, v)));
        struct wfformat_members m;
        wfformat_members(j, v, &m);
        json_ref key = r->d->split ? m.id : m.name;
        const char *what = r->d->split ? "id" : "name";
        if (key == JSON_NONE || json_type(j, key) != JSON_STRING)
            return builder_error(r->b, line, "a task has no %s%s", what,
                                 key == JSON_NONE ? "" : ": it must be a string");
        size_t n;
        const char *text = json_string(j, key, &n);
        uint32_t task = builder_task(r->b, text, n, line);
        if (task == NONE)
            return false;
        bool has_kind = read_category(r, task, m.category);
        array_push(&r->lists, (struct wfformat_lists){m.parents,
                                                      m.children,
                                                      m.input_files,
                                                      m.output_files,
                                                      m.files,
                                                      (uint32_t)line,
                                                      has_kind,
                                                      {0}});
        if (m.weft != JSON_NONE &&
            !wfformat_own_read(j, m.weft, r->b, task, &r->lists.at[task].own))
            return false;
        r->states_edges |= m.parents != JSON_NONE || m.children != JSON_NONE;
        if (!r->d->split || r->d->execution_tasks == JSON_NONE)
            wfformat_read_record(r, task, &m, line);
        if (builder_failed(r->b))
            return false;
    }
    return true;
}

/* 1.5: the execution's entries, joined by id. */
static bool read_execution_tasks(struct wfformat_reader *r)
{
    const struct json *j = r->j;
    json_ref list = r->d->execution_tasks;
    if (list == JSON_NONE)
        return true;
    /* `guess` is the task after the last one: entries mostly come in the order of the
     * specification */
    uint32_t n = builder_task_count(r->b), guess = 0;
    bool *seen = mem_new_zero(bool, (size_t)n + 1), good = true;
    struct json_cursor cursor = {0};
    for (json_ref v = json_first(j, list); good && v != JSON_NONE;
         v = json_next_element(j, list, v)) {
        size_t line = json_cursor_line(j, &cursor, v), length;
        if (json_type(j, v) != JSON_OBJECT) {
            good = builder_error(r->b, line, "an execution entry is %s; expected an object",
                                 json_type_name(json_type(j, v)));
            break;
        }
        struct wfformat_members m;
        wfformat_members(j, v, &m);
        if (m.id == JSON_NONE || json_type(j, m.id) != JSON_STRING) {
            good = builder_error(r->b, line, "an execution entry has no id");
            break;
        }
        const char *id = json_string(j, m.id, &length);
        /* Nearly every file lists them in the same order. */
        uint32_t task = guess < n && strcmp(builder_task_name(r->b, guess), id) == 0
                            ? guess
                            : builder_find_task(r->b, id, length);
        if (task == NONE || seen[task]) {
            good =
                builder_error(r->b, line,
                              task == NONE ? "the execution names task '%s', which is not specified"
                                           : "task '%s' has a second execution entry",
                              id);
            break;
        }
        guess = task + 1;
        seen[task] = true;
        /* the library of WfCommons writes it here, and the schema has it nowhere */
        if (!r->lists.at[task].has_kind)
            r->lists.at[task].has_kind = read_category(r, task, m.category);
        wfformat_read_record(r, task, &m, line);
        good = !builder_failed(r->b);
    }
    struct wfformat_members none;
    memset(&none, 0xFF, sizeof none);
    for (uint32_t t = 0; good && t < n; t++) {
        if (!seen[t])
            wfformat_read_command(r, t, &none); /* for the kind */
    }
    free(seen);
    return good;
}

/* Is there a list? False also after an error: it is something else. */
static bool string_list(struct wfformat_reader *r, uint32_t task, json_ref list, const char *what)
{
    if (list == JSON_NONE)
        return false;
    if (json_type(r->j, list) != JSON_ARRAY)
        return wfformat_wrong_type(r, list, task, what, "an array of strings");
    return true;
}

/* Parents and children say the same thing twice in most files; both are collected, and repeated
 * edges count once. */
static bool read_neighbours(struct wfformat_reader *r, uint32_t task, json_ref list, bool parents)
{
    const struct json *j = r->j;
    const char *what = parents ? "parents" : "children";
    if (!string_list(r, task, list, what))
        return !builder_failed(r->b);
    for (json_ref v = json_first(j, list); v != JSON_NONE; v = json_next_element(j, list, v)) {
        if (json_type(j, v) != JSON_STRING)
            return wfformat_wrong_type(r, v, task, parents ? "a parent" : "a child", "a string");
        size_t n;
        const char *name = json_string(j, v, &n);
        uint32_t other = builder_find_task(r->b, name, n);
        if (other == NONE)
            return builder_error(r->b, json_line(j, v),
                                 "task '%s': %s names '%s', which is no task",
                                 builder_task_name(r->b, task), what, name);
        if (other == task)
            return builder_error(r->b, json_line(j, v), "task '%s' is listed in its own %s",
                                 builder_task_name(r->b, task), what);
        struct wfformat_pair edge =
            parents ? (struct wfformat_pair){other, task} : (struct wfformat_pair){task, other};
        array_push(&r->stated, edge);
    }
    return true;
}

static bool read_stated_edges(struct wfformat_reader *r)
{
    for (uint32_t t = 0; t < r->lists.n; t++) {
        if (!read_neighbours(r, t, r->lists.at[t].parents, true) ||
            !read_neighbours(r, t, r->lists.at[t].children, false))
            return false;
    }
    return true;
}

/* ---- files ---- */

/* r->nobjects is one past the highest object seen: the builder numbers them in order. */
static uint32_t file_object(struct wfformat_reader *r, json_ref v)
{
    size_t n;
    const char *name = json_string(r->j, v, &n);
    uint32_t object = builder_object(r->b, name, n);
    if (object != NONE && object >= r->nobjects)
        r->nobjects = object + 1;
    return object;
}

/* The first stated size of a file counts; the builder warns of others. */
static void read_size(struct wfformat_reader *r, uint32_t object, json_ref file, const char *name)
{
    const struct json *j = r->j;
    json_ref size = wfformat_stated(j, json_get(j, file, "sizeInBytes"));
    if (size == JSON_NONE)
        size = wfformat_stated(j, json_get(j, file, "size"));
    if (size == JSON_NONE)
        return;
    if (json_type(j, size) != JSON_NUMBER || json_number(j, size) < 0)
        builder_error(r->b, json_line(j, size), "file '%s': its size must be a number, 0 or more",
                      name);
    else if (object != NONE) {
        while (r->size.n <= object)
            array_push(&r->size, NAN);
        if (isnan(r->size.at[object]))
            r->size.at[object] = json_number(j, size);
        builder_size(r->b, object, json_number(j, size), 0);
    }
}

/* The id of a file entry, JSON_NONE after an error. */
static json_ref file_name(struct wfformat_reader *r, json_ref file)
{
    const struct json *j = r->j;
    json_ref name = JSON_NONE;
    if (json_type(j, file) == JSON_OBJECT) {
        name = wfformat_stated(j, json_get(j, file, r->d->split ? "id" : "name"));
        if (name == JSON_NONE)
            name = wfformat_stated(j, json_get(j, file, r->d->split ? "name" : "id"));
    }
    if (name == JSON_NONE || json_type(j, name) != JSON_STRING || !json_string(j, name, NULL)[0]) {
        builder_error(r->b, json_line(j, file), "a file needs %s, a non-empty string",
                      r->d->split ? "an id" : "a name");
        return JSON_NONE;
    }
    return name;
}

/* 1.5 lists files apart: then objects below r->declared are known ones. */
static bool read_declared_files(struct wfformat_reader *r)
{
    const struct json *j = r->j;
    json_ref files = r->d->files;
    if (files == JSON_NONE)
        return true;
    for (json_ref v = json_first(j, files); v != JSON_NONE; v = json_next_element(j, files, v)) {
        json_ref name = file_name(r, v);
        if (name == JSON_NONE)
            return false;
        uint32_t before = r->nobjects, object = file_object(r, name);
        if (object < before)
            return builder_error(r->b, json_line(j, v), "file '%s' is listed twice",
                                 json_string(j, name, NULL));
        read_size(r, object, v, json_string(j, name, NULL));
        /* mostly an entry is an id and a size: then there is nothing to look for */
        json_ref own = json_size(j, v) > 2 ? json_get(j, v, "weft") : JSON_NONE;
        json_ref temporary = own == JSON_NONE ? JSON_NONE : json_get(j, own, "temporary");
        if (temporary != JSON_NONE && json_type(j, temporary) == JSON_TRUE)
            builder_temporary(r->b, object);
        if (builder_failed(r->b))
            return false;
    }
    r->declared = r->nobjects;
    return true;
}

/* `task` makes `object`, perhaps not as the first. */
static void add_producer(struct wfformat_reader *r, uint32_t task, uint32_t object, json_ref name)
{
    uint32_t line = r->lists.at[task].line, first = builder_producer(r->b, object);
    if (first == NONE || first == task) {
        builder_produces(r->b, task, object, line);
        return;
    }
    builder_warn(r->b, line, "file '%s' is made by '%s' and by '%s': each has an object of its own",
                 json_string(r->j, name, NULL), builder_task_name(r->b, first),
                 builder_task_name(r->b, task));
    array_push(&r->second, (struct wfformat_second_producer){name, object, task, NONE});
}

/* 1.5: a file that the list lacks has no size, and a remark. */
static void check_declared(struct wfformat_reader *r, uint32_t task, uint32_t object, json_ref name)
{
    if (r->d->files != JSON_NONE && object != NONE && object >= r->declared)
        builder_warn(r->b, r->lists.at[task].line,
                     "task '%s': file '%s' is not in the list of files; its size is unknown",
                     builder_task_name(r->b, task), json_string(r->j, name, NULL));
}

/* `link` of a file entry up to 1.4: 1 output, 0 input, -1 after an error. */
static int is_output(struct wfformat_reader *r, uint32_t task, json_ref file)
{
    json_ref link = json_get(r->j, file, "link");
    if (json_is_string(r->j, link, "output"))
        return 1;
    if (json_is_string(r->j, link, "input"))
        return 0;
    builder_error(r->b, json_line(r->j, file),
                  "task '%s': the link of a file must be \"input\" or \"output\"",
                  builder_task_name(r->b, task));
    return -1;
}

/* Up to 1.4 inputs and outputs stand in one list: this pass takes the outputs and all sizes. */
static bool read_outputs(struct wfformat_reader *r, uint32_t task)
{
    const struct json *j = r->j;
    json_ref list = r->d->split ? r->lists.at[task].outputs : r->lists.at[task].files;
    if (!string_list(r, task, list, r->d->split ? "outputFiles" : "files"))
        return !builder_failed(r->b);
    for (json_ref v = json_first(j, list); v != JSON_NONE; v = json_next_element(j, list, v)) {
        json_ref name = v;
        if (!r->d->split) {
            name = file_name(r, v);
            if (name == JSON_NONE)
                return false;
        } else if (json_type(j, v) != JSON_STRING) {
            return wfformat_wrong_type(r, v, task, "an output file", "its id, a string");
        }
        int makes = r->d->split ? 1 : is_output(r, task, v);
        if (makes < 0)
            return false;
        uint32_t object = file_object(r, name);
        if (!r->d->split)
            read_size(r, object, v, json_string(j, name, NULL));
        else
            check_declared(r, task, object, name);
        if (makes)
            add_producer(r, task, object, name);
        if (builder_failed(r->b))
            return false;
    }
    return true;
}

/* Second producers get "file (by task)", chained by file. */
static void make_second_objects(struct wfformat_reader *r)
{
    if (!r->second.n)
        return;
    r->nfirst = r->nobjects;
    r->first_second = mem_new(uint32_t, r->nfirst);
    memset(r->first_second, 0xFF, r->nfirst * sizeof *r->first_second);
    for (uint32_t i = 0; i < r->second.n; i++) {
        struct wfformat_second_producer *s = &r->second.at[i];
        uint32_t file = s->object;
        strbuf_clear(&r->scratch);
        strbuf_printf(&r->scratch, "%s (by %s)", json_string(r->j, s->name, NULL),
                      builder_task_name(r->b, s->producer));
        s->object = builder_object(r->b, r->scratch.at, r->scratch.n);
        if (file < r->size.n && !isnan(r->size.at[file]))
            builder_size(r->b, s->object, r->size.at[file], 0);
        builder_produces(r->b, s->producer, s->object, r->lists.at[s->producer].line);
        s->next = r->first_second[file];
        r->first_second[file] = i;
    }
}

/* Per consumer: which tasks are stated before it, and which of these give it a file. Marks hold
 * task + 1. */
struct wfformat_marks {
    uint32_t *stated, *given;
};

/* A file is read from each producer that is stated to come before; from none of them it makes no
 * edge, but a remark. */
static void wfformat_consume_file(struct wfformat_reader *r, uint32_t task, uint32_t object,
                                  json_ref name, struct wfformat_marks *m)
{
    uint32_t line = r->lists.at[task].line, mark = task + 1, first = builder_producer(r->b, object);
    if (first == NONE) {
        builder_consumes(r->b, task, object, line);
        return;
    }
    bool given = false, own = first == task;
    if (first != task && (!r->states_edges || m->stated[first] == mark)) {
        builder_consumes(r->b, task, object, line);
        m->given[first] = mark;
        given = true;
    }
    uint32_t i = object < r->nfirst ? r->first_second[object] : NONE;
    for (; i != NONE; i = r->second.at[i].next) {
        const struct wfformat_second_producer *s = &r->second.at[i];
        own |= s->producer == task;
        if (s->producer == task || (r->states_edges && m->stated[s->producer] != mark))
            continue;
        builder_consumes(r->b, task, s->object, line);
        m->given[s->producer] = mark;
        given = true;
    }
    if (!given && !own)
        builder_warn(
            r->b, line,
            "task '%s' reads '%s', which '%s' makes, but no dependency is stated: none is made",
            builder_task_name(r->b, task), json_string(r->j, name, NULL),
            builder_task_name(r->b, first));
}

/* Up to 1.4 outputs stand in the same list, and were read before. */
static bool wfformat_read_inputs(struct wfformat_reader *r, uint32_t task, struct wfformat_marks *m)
{
    const struct json *j = r->j;
    json_ref list = r->d->split ? r->lists.at[task].inputs : r->lists.at[task].files;
    if (!string_list(r, task, list, r->d->split ? "inputFiles" : "files"))
        return !builder_failed(r->b);
    for (json_ref v = json_first(j, list); v != JSON_NONE; v = json_next_element(j, list, v)) {
        json_ref name = v;
        if (!r->d->split) {
            if (is_output(r, task, v))
                continue;
            name = file_name(r, v);
        } else if (json_type(j, v) != JSON_STRING) {
            return wfformat_wrong_type(r, v, task, "an input file", "its id, a string");
        }
        uint32_t object = file_object(r, name);
        if (object == NONE)
            return false;
        if (r->d->split)
            check_declared(r, task, object, name);
        wfformat_consume_file(r, task, object, name, m);
    }
    return true;
}

/* Inputs of every task along its stated edges; stated edges without a file become plain ordering.
 */
static bool read_edges(struct wfformat_reader *r)
{
    size_t n = r->lists.n;
    /* stated edges by consumer: a counting sort, offsets shifted by two as usual here */
    uint32_t *at = mem_new_zero(uint32_t, n + 2), *from = mem_new(uint32_t, r->stated.n + 1);
    struct wfformat_marks m = {mem_new_zero(uint32_t, n + 1), mem_new_zero(uint32_t, n + 1)};
    for (size_t i = 0; i < r->stated.n; i++)
        at[r->stated.at[i].to + 2]++;
    for (size_t t = 0; t < n; t++)
        at[t + 2] += at[t + 1];
    for (size_t i = 0; i < r->stated.n; i++)
        from[at[r->stated.at[i].to + 1]++] = r->stated.at[i].from;
    bool good = true;
    for (uint32_t t = 0; good && t < n; t++) {
        /* marks hold the task's number plus 1, so that they need no clearing */
        for (uint32_t i = at[t]; i < at[t + 1]; i++)
            m.stated[from[i]] = t + 1;
        good = wfformat_read_inputs(r, t, &m);
        for (uint32_t i = at[t]; good && i < at[t + 1]; i++) {
            if (m.given[from[i]] == t + 1)
                continue;
            m.given[from[i]] = t + 1;
            builder_edge(r->b, from[i], t, r->lists.at[t].line);
        }
    }
    free(at);
    free(from);
    free(m.stated);
    free(m.given);
    return good;
}

/* The order of these passes is what the comment at the top explains. */
static bool wfformat_read_all(struct wfformat_reader *r)
{
    if (!wfformat_read_tasks(r) || !read_execution_tasks(r) || !read_stated_edges(r) ||
        !read_declared_files(r))
        return false;
    for (uint32_t t = 0; t < r->lists.n; t++) {
        if (!read_outputs(r, t))
            return false;
    }
    make_second_objects(r);
    return read_edges(r);
}

struct workflow *wfformat_read_workflow(const struct format_source *source, struct error *err)
{
    struct wfformat_document d;
    if (!wfformat_open(&d, source, err))
        return NULL;
    struct wfformat_reader r = {.d = &d, .j = &d.json, .b = builder_new(source->path, d.format)};
    builder_home(r.b, source->folder);
    wfformat_begin(&d, r.b);
    if (wfformat_own_read_document(&d.json, d.weft, r.b))
        wfformat_read_all(&r);
    format_cores_remark(r.b, r.rounded);
    struct workflow *w = builder_finish(r.b, err);
    if (w)
        wfformat_metrics_check_levels(&d, w);
    strbuf_free(&r.scratch);
    array_free(&r.lists);
    array_free(&r.stated);
    array_free(&r.second);
    array_free(&r.size);
    free(r.first_second);
    json_free(&d.json);
    return w;
}

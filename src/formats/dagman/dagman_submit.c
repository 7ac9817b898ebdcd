/* Submit descriptions: key = value lines, macros, and HTCondor's two syntaxes of arguments. Only
 * what a workflow can carry is asked for: the command, memory, cores.
 *
 * A macro's value comes from VARS of the node, else from the description; it may use macros
 * itself, to a depth and a number that end hostile files.
 *
 *     executable     = /bin/tool
 *     arguments      = "-n $(count) 'two words'"      new syntax: the whole in double quotes
 *     request_memory = 2 GB                           MiB without a unit
 *     request_cpus   = 4
 *     count          = $(JOB)_$(RETRY)                a macro of its own
 *     queue */
#include "formats/dagman/dagman_submit.h"
#include "base/quantity.h"
#include <string.h>
#include <strings.h>

/* Macros may use macros; a circle of them, or one that doubles at every step, must end. */
enum { DEEPEST_MACRO = 20, MOST_MACROS = 10000, LONGEST_VALUE = 1 << 20 };

static struct dagman_span submit_trimmed(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n'))
        at++;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r' || end[-1] == '\n'))
        end--;
    return (struct dagman_span){at, (uint32_t)(end - at)};
}

/* Lines that are no pairs (queue, if ... endif) are passed over. The text is copied, because
 * continuation lines are joined in it. */
void dagman_description_parse(struct dagman_description *d, const char *text, size_t length)
{
    *d = (struct dagman_description){.text = mem_copy_bytes(text, length)};
    char *p = d->text, *end = p + length;
    while (p < end) {
        char *start = p;
        for (;;) { /* a backslash at the end joins the next line */
            char *eol = memchr(p, '\n', (size_t)(end - p)), *stop = eol ? eol : end;
            p = eol ? eol + 1 : end;
            char *last = stop > start && stop[-1] == '\r' ? stop - 1 : stop;
            if (!eol || last == start || last[-1] != '\\' || p >= end)
                break;
            last[-1] = *last = *eol = ' ';
        }
        struct dagman_span line = submit_trimmed(start, p);
        if (!line.n || *line.at == '#')
            continue;
        struct dagman_span rest = line;
        if (dagman_is(dagman_word(&rest), "queue")) {
            struct dagman_span count = dagman_word(&rest);
            d->several = count.n && !dagman_is(count, "1");
            continue;
        }
        const char *equals = memchr(line.at, '=', line.n);
        if (!equals || equals == line.at)
            continue;
        struct dagman_span key = submit_trimmed(line.at, equals);
        if (key.n && !memchr(key.at, ' ', key.n))
            array_push(&d->pairs,
                       (struct dagman_pair){key, submit_trimmed(equals + 1, line.at + line.n)});
    }
}

void dagman_description_free(struct dagman_description *d)
{
    array_free(&d->pairs);
    free(d->text);
    d->text = NULL;
}

static bool submit_same_name(struct dagman_span key, struct dagman_span name)
{
    return key.n == name.n && strncasecmp(key.at, name.at, key.n) == 0;
}

/* VARS values: \" is a quote, \\ a backslash. */
static void add_unescaped(struct strbuf *out, struct dagman_span value)
{
    for (uint32_t i = 0; i < value.n; i++) {
        if (value.at[i] == '\\' && i + 1 < value.n &&
            (value.at[i + 1] == '"' || value.at[i + 1] == '\\'))
            i++;
        strbuf_add_char(out, value.at[i]);
    }
}

/* Of several the last counts, and VARS before the description. */
static bool raw_value(const struct dagman_macros *m, struct dagman_span name, struct strbuf *out)
{
    for (size_t i = m->nvars; i--;)
        if (submit_same_name(m->vars[i].key, name)) {
            add_unescaped(out, m->vars[i].value);
            return true;
        }
    for (size_t i = m->description ? m->description->pairs.n : 0; i--;)
        if (submit_same_name(m->description->pairs.at[i].key, name)) {
            struct dagman_span v = m->description->pairs.at[i].value;
            strbuf_add_bytes(out, v.at, v.n);
            return true;
        }
    return false;
}

bool dagman_states(const struct dagman_macros *m, const char *key)
{
    struct dagman_span name = {key, (uint32_t)strlen(key)};
    for (size_t i = 0; i < m->nvars; i++)
        if (submit_same_name(m->vars[i].key, name))
            return true;
    for (size_t i = 0; i < (m->description ? m->description->pairs.n : 0); i++)
        if (submit_same_name(m->description->pairs.at[i].key, name))
            return true;
    return false;
}

/* $(Process) and the like: kept as they stand, since only HTCondor knows them. */
static bool known_only_at_submission(struct dagman_span name)
{
    static const char *const names[] = {"Cluster", "ClusterId", "Process",   "ProcId",
                                        "Node",    "Step",      "ItemIndex", "Row"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (dagman_is(name, names[i]))
            return true;
    return false;
}

/* $(name), $(name:default); $$( is for the machine where the job runs, and stays. */
static void submit_expand_macros(const struct dagman_macros *m, const char *text, size_t n,
                                 unsigned depth, unsigned *budget, struct strbuf *out)
{
    for (size_t i = 0; i < n && out->n < LONGEST_VALUE; i++) {
        const char *close = NULL;
        if (text[i] == '$' && i + 1 < n && text[i + 1] == '(' && !(i && text[i - 1] == '$'))
            close = memchr(text + i, ')', n - i);
        if (!close) {
            strbuf_add_char(out, text[i]);
            continue;
        }
        const char *start = text + i + 2, *colon = memchr(start, ':', (size_t)(close - start));
        struct dagman_span name = {start, (uint32_t)((colon ? colon : close) - start)};
        struct strbuf value = {0};
        if (dagman_is(name, "JOB"))
            strbuf_add(out, m->job);
        else if (dagman_is(name, "RETRY"))
            strbuf_add_char(out, '0');
        else if (dagman_is(name, "DOLLAR"))
            strbuf_add_char(out, '$');
        else if (depth < DEEPEST_MACRO && *budget && (*budget)-- && raw_value(m, name, &value))
            submit_expand_macros(m, strbuf_text(&value), value.n, depth + 1, budget, out);
        else if (colon)
            strbuf_add_bytes(out, colon + 1, (size_t)(close - colon - 1));
        else if (known_only_at_submission(name))
            strbuf_add_bytes(out, text + i, (size_t)(close + 1 - text) - i);
        strbuf_free(&value);
        i = (size_t)(close - text);
    }
}

/* The value of a key with its macros replaced; false when neither VARS nor the description has
 * it. A fresh budget for each value: one hostile key does not spoil the others. */
bool dagman_value(const struct dagman_macros *m, const char *key, struct strbuf *out)
{
    struct strbuf raw = {0};
    unsigned budget = MOST_MACROS;
    strbuf_clear(out);
    bool there = raw_value(m, (struct dagman_span){key, (uint32_t)strlen(key)}, &raw);
    if (there)
        submit_expand_macros(m, strbuf_text(&raw), raw.n, 0, &budget, out);
    strbuf_free(&raw);
    return there;
}

/* ---- arguments ---- */

/* One word that no shell would take apart. */
static bool is_plain(const char *word)
{
    if (!*word)
        return false;
    for (; *word; word++) {
        unsigned char c = (unsigned char)*word;
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            c < 0x80 && !strchr("_-./:=,@%+^", c))
            return false;
    }
    return true;
}

/* One argument as one word of a shell line. */
static void add_shell_word(struct strbuf *out, const char *word)
{
    if (out->n)
        strbuf_add_char(out, ' ');
    if (is_plain(word)) {
        strbuf_add(out, word);
        return;
    }
    strbuf_add_char(out, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            strbuf_add(out, "'\\''");
        else
            strbuf_add_char(out, *word);
    }
    strbuf_add_char(out, '\'');
}

struct words {
    struct strbuf text; /* NUL-terminated, one after another */
    size_t n;
};

/* New syntax, the whole in double quotes: blanks separate, '...' groups, '' inside is a quote, ""
 * is a double quote. Old syntax: blanks separate, \" is a double quote. */
static bool split_arguments(const char *p, size_t n, struct words *out)
{
    bool fresh = n >= 2 && p[0] == '"' && p[n - 1] == '"';
    const char *end = p + n;
    if (fresh) {
        p++;
        end--;
    }
    bool word = false, group = false;
    for (; p < end; p++) {
        if (!group && (*p == ' ' || *p == '\t')) {
            if (word) {
                strbuf_add_char(&out->text, 0);
                out->n++;
            }
            word = false;
            continue;
        }
        word = true;
        if (fresh && *p == '\'') {
            if (group && p + 1 < end && p[1] == '\'')
                strbuf_add_char(&out->text, *p++);
            else
                group = !group;
        } else if (fresh && *p == '"') {
            if (p + 1 >= end || p[1] != '"')
                return false;
            strbuf_add_char(&out->text, *p++);
        } else if (!fresh && *p == '\\' && p + 1 < end && p[1] == '"') {
            strbuf_add_char(&out->text, *++p);
        } else {
            strbuf_add_char(&out->text, *p);
        }
    }
    if (word) {
        strbuf_add_char(&out->text, 0);
        out->n++;
    }
    return !group;
}

/* The text of `/bin/sh -c 'line'` or `/bin/bash -e -o pipefail -c 'line'`, as the writer writes
 * commands that need a shell; NULL: it is another program. */
static const char *shell_line(const char *executable, const struct words *words)
{
    static const char sh[] = "-c", bash[] = "-e\0-o\0pipefail\0-c"; /* as words are kept */
    bool strict = strcmp(executable, "/bin/bash") == 0;
    size_t n = strict ? 5 : 2, length = strict ? sizeof bash : sizeof sh;
    if (words->n != n || (!strict && strcmp(executable, "/bin/sh") != 0) ||
        words->text.n < length || memcmp(words->text.at, strict ? bash : sh, length) != 0)
        return NULL;
    return words->text.at + length;
}

/* One without a slash stands in the submit directory, unless it is the executing machine's own. */
static bool is_local_program(const struct dagman_macros *m, const char *executable)
{
    struct strbuf transfer = {0};
    bool stays = dagman_value(m, "transfer_executable", &transfer) &&
                 strcasecmp(strbuf_text(&transfer), "false") == 0;
    strbuf_free(&transfer);
    return !stays && !strchr(executable, '/');
}

/* executable and arguments as one shell line. */
bool dagman_command(const struct dagman_macros *m, struct strbuf *out, bool *by_sh)
{
    struct strbuf executable = {0}, arguments = {0};
    struct words words = {0};
    strbuf_clear(out);
    bool good = dagman_value(m, "executable", &executable) && executable.n;
    if (good && dagman_value(m, "arguments", &arguments))
        good = split_arguments(strbuf_text(&arguments), arguments.n, &words);
    if (good) {
        const char *first = strbuf_text(&words.text);
        const char *line = shell_line(executable.at, &words);
        *by_sh = line && strcmp(executable.at, "/bin/sh") == 0;
        if (line) {
            strbuf_add(out, line);
        } else {
            struct strbuf program = {0};
            strbuf_printf(&program, "%s%s", is_local_program(m, executable.at) ? "./" : "",
                          executable.at);
            add_shell_word(out, program.at);
            strbuf_free(&program);
            for (size_t i = 0; i < words.n; i++, first += strlen(first) + 1)
                add_shell_word(out, first);
        }
        good = out->n > 0;
    }
    strbuf_free(&executable);
    strbuf_free(&arguments);
    strbuf_free(&words.text);
    return good;
}

/* HTCondor counts in MiB where no unit is stated. */
bool dagman_memory(const char *text, double *bytes)
{
    size_t n = strlen(text);
    double unit = 1048576, value;
    if (n > 1 && (text[n - 1] == 'B' || text[n - 1] == 'b'))
        n--;
    if (n && !(text[n - 1] >= '0' && text[n - 1] <= '9') && text[n - 1] != '.') {
        switch (text[n - 1] | 32) {
        case 'k':
            unit = 1024;
            break;
        case 'm':
            break;
        case 'g':
            unit = 1073741824;
            break;
        case 't':
            unit = 1099511627776;
            break;
        default:
            return false;
        }
        n--;
    }
    while (n && text[n - 1] == ' ')
        n--;
    if (!quantity_number(text, n, &value) || value < 0)
        return false;
    *bytes = value * unit;
    return *bytes <= 1e300;
}

/* Would splitting this text at single blanks and quoting each word again give the text back, and HTCondor
 * find the program, which it does not seek in PATH? */
static bool is_simple_command(const char *command)
{
    const char *p = command;
    for (;;) {
        size_t n = strcspn(p, " ");
        char *word = mem_copy_bytes(p, n);
        bool plain = is_plain(word);
        free(word);
        if (!plain)
            return false;
        if (!p[n])
            break;
        p += n + 1;
    }
    return memchr(command, '/', strcspn(command, " ")) &&
           strncmp(command, "/bin/sh -c ", 11) != 0 &&
           strncmp(command, "/bin/bash -e -o pipefail -c ", 28) != 0 && !strchr(command, '=');
}

/* False: a description cannot carry it (line breaks). A dollar would begin a macro. */
bool dagman_write_command(struct strbuf *out, const char *command, bool by_sh)
{
    if (strpbrk(command, "\n\r") || !*command)
        return false;
    if (is_simple_command(command)) {
        size_t n = strcspn(command, " ");
        strbuf_printf(out, "  executable = %.*s\n", (int)n, command);
        if (command[n])
            strbuf_printf(out, "  arguments = \"%s\"\n", command + n + 1);
        return true;
    }
    strbuf_add(out, by_sh ? "  executable = /bin/sh\n  arguments = \"-c '"
                          : "  executable = /bin/bash\n  arguments = \"-e -o pipefail -c '");
    for (const char *p = command; *p; p++) {
        if (*p == '$')
            strbuf_add(out, "$(DOLLAR)");
        else if (*p == '\'' || *p == '"')
            strbuf_printf(out, "%c%c", *p, *p);
        else
            strbuf_add_char(out, *p);
    }
    strbuf_add(out, "'\"\n");
    return true;
}

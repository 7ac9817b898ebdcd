/* Orders, and where they are written down for systems that are not weft: Slurm's job scripts, and
 * Snakemake's rules. (A format with a place for priorities has its own: struct format, annotate.) */
#include "cli/ordering.h"
#include "base/array.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/plural.h"
#include "base/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct weft_plan *ordering_make(const char *option, const char *planner,
                                const char *const *settings, uint64_t seed, struct weft_workflow *w,
                                struct weft_error *error)
{
    struct weft_planner row;
    size_t number = weft_planner_find(planner, error);
    if (number == SIZE_MAX || !weft_planner(number, &row))
        return NULL;
    if (!(row.accepts & WEFT_ACCEPTS_ORDER)) {
        error->status = WEFT_BAD_INPUT;
        snprintf(error->text, sizeof error->text,
                 "--%s %s: that planner maps tasks to nodes; an order is made by the planners of "
                 "the family order (ic, area, prio, ...)",
                 option, planner);
        return NULL;
    }
    struct weft_platform *one = weft_platform_named("1", error); /* orders do not depend on it */
    struct weft_plan_options o = WEFT_PLAN_INIT;
    o.options = settings;
    o.seed = seed;
    struct weft_plan *plan = one ? weft_plan_make(w, one, planner, &o, error) : NULL;
    weft_platform_free(one);
    if (plan && weft_workflow_prioritize(w, plan, error))
        return plan;
    weft_plan_free(plan);
    return NULL;
}

/* On standard error: standard output is the order itself. */
void ordering_tell(const char *planner, const struct weft_plan *order)
{
    const char *proof, *verdict = weft_plan_verdict(order, &proof);
    fprintf(stderr, "weft: order by %s: %s%s%s\n", planner, verdict ? verdict : "",
            proof ? "; " : "", proof ? proof : "");
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool is_regular_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* ---- Slurm ---- */

/* Behind the last #SBATCH line, since the last of two counts; else behind the #! line. sbatch reads
 * them up to the first line that is a command. */
static size_t nice_place(const char *text, size_t n, bool *had_nice)
{
    size_t place = 0;
    for (size_t at = 0; at < n;) {
        const char *eol = memchr(text + at, '\n', n - at);
        size_t end = eol ? (size_t)(eol + 1 - text) : n;
        size_t blank = strspn(text + at, " \t\r");
        if (at + blank < n && text[at + blank] != '#' && text[at + blank] != '\n')
            break;
        bool directive = strncmp(text + at, "#SBATCH", 7) == 0;
        if (directive || (at == 0 && strncmp(text, "#!", 2) == 0))
            place = end;
        if (directive && memmem(text + at, end - at, "--nice", 6))
            *had_nice = true;
        at = end;
    }
    return place;
}

#define TASK_HOLE "{task}"

/* `pattern` with the task's name in place of every {task}. */
static void script_name(struct strbuf *out, const char *pattern, const char *task)
{
    strbuf_clear(out);
    for (const char *hole; (hole = strstr(pattern, TASK_HOLE)) != NULL;) {
        strbuf_add_bytes(out, pattern, (size_t)(hole - pattern));
        strbuf_add(out, task);
        pattern = hole + sizeof TASK_HOLE - 1;
    }
    strbuf_add(out, pattern);
}

/* How much of the pattern is a folder that all scripts stand in: jobs/ of jobs/{task}/run.sh. */
static size_t common_folder(const char *pattern)
{
    const char *hole = strstr(pattern, TASK_HOLE);
    const char *slash = memrchr(pattern, '/', (size_t)(hole - pattern));
    return slash ? (size_t)(slash + 1 - pattern) : 0;
}

/* Whole or not at all, and as executable as it was. Never over the script itself. */
static bool copy_script(const char *from, const char *to, long long nice, bool *had_nice,
                        struct error *err)
{
    struct text text;
    struct stat st;
    if (!file_read(from, &text, err))
        return false;
    struct strbuf copy = {0};
    size_t place = nice_place(text.at, text.n, had_nice);
    strbuf_add_bytes(&copy, text.at, place);
    if (place && text.at[place - 1] != '\n')
        strbuf_add_char(&copy, '\n');
    strbuf_printf(&copy, "#SBATCH --nice=%lld\n", nice);
    strbuf_add_bytes(&copy, text.at + place, text.n - place);
    bool good = same_file(from, to)
                    ? error_set(err, ERROR_INPUT,
                                "%s: the copy would replace the script itself; -o names another "
                                "folder",
                                to)
                    : make_parents(to, err) && file_write(to, copy.at, copy.n, err);
    if (good && stat(from, &st) == 0 && chmod(to, st.st_mode & 0777) != 0)
        good = error_set(err, ERROR_FAILED, "%s: %s", to, strerror(errno));
    strbuf_free(&copy);
    text_free(&text);
    return good;
}

/* Before the first copy is written: one that is missing leaves no half of them behind. */
static bool find_scripts(const struct weft_workflow *w, const char *pattern, struct error *err)
{
    struct weft_task_info task;
    struct strbuf name = {0};
    bool good = true;
    for (uint32_t i = 0; good && weft_workflow_task(w, i, &task); i++) {
        script_name(&name, pattern, task.name);
        if (access(name.at, R_OK) != 0)
            good = error_set(err, ERROR_INPUT, "%s: cannot open: %s; nothing was written", name.at,
                             strerror(errno));
    }
    strbuf_free(&name);
    return good;
}

/* The first task is the least nice: 0, which every user may ask for. */
bool ordering_slurm(const struct weft_workflow *w, const char *pattern, const char *out, bool quiet,
                    struct error *err)
{
    struct weft_task_info task;
    size_t n = 0, replaced = 0;
    if (!strstr(pattern, TASK_HOLE))
        return error_set(err, ERROR_INPUT,
                         "--scripts %s: {task} stands for the name of a task, as in "
                         "'jobs/{task}.sh'",
                         pattern);
    if (!find_scripts(w, pattern, err))
        return false;
    if (mkdir(out, 0777) != 0 && errno != EEXIST)
        return error_set(err, ERROR_FAILED, "%s: %s", out, strerror(errno));
    while (weft_workflow_task(w, (uint32_t)n, &task))
        n++;
    struct strbuf name = {0}, to = {0};
    size_t folder = common_folder(pattern);
    bool good = true;
    for (uint32_t i = 0; good && weft_workflow_task(w, i, &task); i++) {
        bool had_nice = false;
        script_name(&name, pattern, task.name);
        strbuf_clear(&to);
        strbuf_printf(&to, "%s/%s", out, name.at + folder);
        good = copy_script(name.at, to.at, (long long)n - (long long)task.priority, &had_nice, err);
        replaced += had_nice;
    }
    strbuf_free(&name);
    strbuf_free(&to);
    if (good && !quiet)
        fprintf(stderr, "weft: wrote %zu job scripts to %s, --nice 0 to %zu\n", n, out,
                n ? n - 1 : 0);
    if (good && !quiet && replaced)
        fprintf(stderr, "weft: %zu of them had a --nice, which no longer counts\n", replaced);
    return good;
}

/* ---- Snakemake ---- */

struct ranked_rule {
    const char *name;
    double sum;
    size_t jobs;
};
typedef ARRAY(struct ranked_rule) ranked_rules;

static double rule_mean(const struct ranked_rule *r)
{
    return r->sum / (double)r->jobs;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct ranked_rule *)a)->name, ((const struct ranked_rule *)b)->name);
}

static int by_mean(const void *a, const void *b)
{
    double x = rule_mean(a), y = rule_mean(b);
    return x != y ? (x < y ? -1 : 1) : by_name(a, b);
}

/* Snakemake's own dumps name a job's rule; it is the task's kind. */
static void collect_rules(const struct weft_workflow *w, ranked_rules *rules)
{
    struct weft_task_info task;
    for (uint32_t i = 0; weft_workflow_task(w, i, &task); i++) {
        const char *rule = task.kind && *task.kind ? task.kind : task.name;
        array_push(rules, (struct ranked_rule){rule, task.priority, 1});
    }
    if (rules->n)
        qsort(rules->at, rules->n, sizeof *rules->at, by_name);
    size_t kept = 0;
    for (size_t i = 0; i < rules->n; i++) {
        if (kept && strcmp(rules->at[kept - 1].name, rules->at[i].name) == 0) {
            rules->at[kept - 1].sum += rules->at[i].sum;
            rules->at[kept - 1].jobs++;
        } else {
            rules->at[kept++] = rules->at[i];
        }
    }
    rules->n = kept;
    if (kept)
        qsort(rules->at, kept, sizeof *rules->at, by_mean);
}

/* What is no name would be Python in the user's Snakefile. */
static bool is_rule_name(const char *name)
{
    if (!*name || (*name >= '0' && *name <= '9'))
        return false;
    for (; *name; name++)
        if (!(*name == '_' || (*name >= '0' && *name <= '9') || (*name >= 'a' && *name <= 'z') ||
              (*name >= 'A' && *name <= 'Z')))
            return false;
    return true;
}

/* A text in Python's double quotes. */
static void add_python_text(struct strbuf *out, const char *text)
{
    strbuf_add_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, *text);
    }
    strbuf_add_char(out, '"');
}

/* `configfile: "config.yaml"`, its value on that line or on the next: a module's own are ignored where
 * it is given a config, and it must be given one for --config to count. */
static void repeat_configfiles(struct strbuf *out, const char *snakefile, const struct text *text,
                               bool quiet)
{
    size_t line = 1;
    for (const char *p = text->at; *p; line++) {
        const char *eol = strchrnul(p, '\n'), *value = p + strlen("configfile");
        bool found = strncmp(p, "configfile", strlen("configfile")) == 0;
        value += found ? strspn(value, " \t") : 0;
        if (found && *value == ':') {
            value += 1 + strspn(value + 1, " \t\r\n");
            if (*value == '"' || *value == '\'')
                strbuf_printf(out, "configfile: %.*s\n", (int)strcspn(value, "\r\n"), value);
            else if (!quiet)
                fprintf(stderr,
                        "weft: note: %s:%zu: this configfile is no plain text and could not be "
                        "repeated; name it to Snakemake by --configfile\n",
                        snakefile, line);
        }
        p = *eol ? eol + 1 : eol;
    }
}

/* Rules that state a priority of their own: `priority: 7`, indented. */
static size_t count_priorities(const struct text *text)
{
    size_t count = 0;
    for (const char *p = text->at; *p;) {
        const char *eol = strchrnul(p, '\n');
        size_t blank = strspn(p, " \t");
        if (blank && strncmp(p + blank, "priority", strlen("priority")) == 0) {
            const char *colon = p + blank + strlen("priority");
            count += colon[strspn(colon, " \t")] == ':';
        }
        p = *eol ? eol + 1 : eol;
    }
    return count;
}

/* The first word of the line, and what stands behind it. */
static const char *first_word(const char *line, size_t *length)
{
    line += strspn(line, " \t");
    *length = strcspn(line, " \t:\r\n");
    return line;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

/* Does a line `rule NAME:` or `checkpoint NAME:` stand there? *elsewhere: rules may stand in other files,
 * or get their names while the Snakefile runs. */
static bool defines_rule(const struct text *text, const char *name, bool *elsewhere)
{
    bool found = false;
    *elsewhere = false;
    for (const char *p = text->at; *p;) {
        size_t n, m;
        const char *word = first_word(p, &n), *next = first_word(word + n, &m);
        if (is_word(word, n, "rule") || is_word(word, n, "checkpoint"))
            found |= is_word(next, m, name);
        else
            *elsewhere |= is_word(word, n, "include") || is_word(word, n, "module") ||
                          is_word(word, n, "use") || is_word(word, n, "name");
        p = strchrnul(p, '\n');
        p += *p != 0;
    }
    return found;
}

/* Snakemake passes over a rule that is not there, and the dag may be another Snakefile's. */
static bool find_rules(const ranked_rules *rules, const char *snakefile, const struct text *text,
                       bool quiet, struct error *err)
{
    size_t missing = 0;
    const char *first = NULL;
    bool elsewhere = false;
    for (size_t i = 0; i < rules->n; i++)
        if (!defines_rule(text, rules->at[i].name, &elsewhere)) {
            first = first ? first : rules->at[i].name;
            missing++;
        }
    if (missing && missing == rules->n && !elsewhere)
        return error_set(err, ERROR_INPUT,
                         "%s has no rule '%s', nor any other of the workflow; whose dag is it?",
                         snakefile, first);
    if (missing && !quiet)
        fprintf(stderr,
                "weft: note: %zu rule%s of the workflow ('%s'%s) %s not in %s itself; Snakemake "
                "passes over those that are in no file that it includes\n",
                missing, plural(missing), first, plural_word(missing, "", " and others"),
                plural_word(missing, "is", "are"), snakefile);
    return true;
}

/* Snakemake takes the name from the folder of the file that it stands in. */
static char *snakefile_from(const char *out, const char *snakefile)
{
    char *whole = strchr(out, '/') && *snakefile != '/' ? realpath(snakefile, NULL) : NULL;
    char *name = mem_copy_string(whole ? whole : snakefile);
    free(whole);
    return name;
}

#define ORDERED_MARK "# weft order: "

/* What stands at `out` is replaced only if we wrote it: it may be a file that the Snakefile includes. */
static bool may_write_ordered(const char *out, struct error *err)
{
    struct text there;
    if (!is_regular_file(out))
        return true;
    if (!file_read(out, &there, err))
        return false;
    bool ours = strncmp(there.at, ORDERED_MARK, sizeof ORDERED_MARK - 1) == 0;
    text_free(&there);
    return ours || error_set(err, ERROR_INPUT,
                             "%s: this file of yours would be replaced; -o names another one", out);
}

/* Snakemake's own way to change rules of another file: a module, and `use rule ... with`. */
bool ordering_snakemake(const struct weft_workflow *w, const char *snakefile, const char *out,
                        bool quiet, struct error *err)
{
    ranked_rules rules = {0};
    struct strbuf text = {0};
    struct text users;
    if (same_file(snakefile, out))
        return error_set(err, ERROR_INPUT,
                         "%s: what uses the rules of a Snakefile stands beside it; -o names "
                         "another file",
                         out);
    if (!file_read(snakefile, &users, err))
        return false;
    bool good = true;
    char *name = snakefile_from(out, snakefile);
    collect_rules(w, &rules);
    strbuf_printf(&text,
                  ORDERED_MARK "the rules of %s, those whose jobs come first with the largest "
                               "priority\n",
                  snakefile);
    repeat_configfiles(&text, snakefile, &users, quiet);
    strbuf_add(&text, "module weft_ordered:\n    snakefile: ");
    add_python_text(&text, name);
    strbuf_add(&text, "\n    config: config\nuse rule * from weft_ordered\n");
    for (size_t i = 0; good && i < rules.n; i++) {
        if (is_rule_name(rules.at[i].name))
            strbuf_printf(&text, "use rule %s from weft_ordered with:\n    priority: %zu\n",
                          rules.at[i].name, i + 1);
        else
            good = error_set(err, ERROR_INPUT,
                             "'%s' is no name of a rule; a workflow of Snakemake's is what "
                             "`snakemake --dag` or --d3dag prints",
                             rules.at[i].name);
    }
    good = good && find_rules(&rules, snakefile, &users, quiet, err) &&
           may_write_ordered(out, err) && file_write(out, text.at, text.n, err);
    if (good && !quiet)
        fprintf(stderr, "weft: wrote %s with the priorities of %zu rules; run `snakemake -s %s`\n",
                out, rules.n, out);
    size_t own = count_priorities(&users);
    if (good && !quiet && own)
        fprintf(stderr,
                "weft: %zu rule%s of %s state%s a priority, which no longer counts where %s gives "
                "one\n",
                own, plural(own), snakefile, plural_word(own, "s", ""), out);
    strbuf_free(&text);
    array_free(&rules);
    text_free(&users);
    free(name);
    return good;
}

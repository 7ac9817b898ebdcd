/* The command line taken apart by a command's table of options: long options (--name value,
 * --name=value), letters (-n value, -nvalue), operands, `--`. What a value means is the command's
 * business; here it is only found. Names and values point into argv.
 *
 * No option is accepted and ignored. What can be told from the command line alone stands in the
 * command's rules and is refused here; what depends on files the command refuses itself; and what
 * slipped past both was never asked for, which `main` finds at the end (arguments_used). */
#include "base/mem.h"
#include "base/quantity.h"
#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/defaults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cli_option *find_long(const struct command *c, const char *name, size_t len)
{
    for (const struct cli_option *o = c->options; o && o->name; o++)
        if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
            return o;
    return NULL;
}

static const struct cli_option *find_letter(const struct command *c, char letter)
{
    for (const struct cli_option *o = c->options; o && o->name; o++)
        if (o->letter == letter)
            return o;
    return NULL;
}

static bool unknown_option(const struct command *c, const char *given, size_t len,
                           struct error *err)
{
    const char *names[64];
    size_t n = 0;
    for (const struct cli_option *o = c->options; o && o->name && n < 64; o++)
        names[n++] = o->name;
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)len, given);
    const char *near = suggest_nearest(word, names, n);
    if (near)
        return error_set(err, ERROR_INPUT, "weft %s has no option --%s; did you mean --%s?",
                         c->name, word, near);
    return error_set(err, ERROR_INPUT, "weft %s has no option --%s; `weft help %s` lists them",
                     c->name, word, c->name);
}

static void give(struct arguments *a, const struct cli_option *option, const char *value)
{
    a->given = mem_resize(a->given, a->ngiven + 1);
    a->given[a->ngiven++] = (struct given){.option = option, .value = value};
}

/* One argument that starts with a dash; may take the next one as its value. */
static bool parse_option(struct arguments *a, int argc, char **argv, int *i, struct error *err)
{
    const struct command *c = a->command;
    const char *text = argv[*i];
    const struct cli_option *option;
    const char *value = NULL;
    if (text[1] == '-') {
        const char *name = text + 2, *equals = strchr(name, '=');
        size_t len = equals ? (size_t)(equals - name) : strlen(name);
        option = find_long(c, name, len);
        if (!option)
            return unknown_option(c, name, len, err);
        value = equals ? equals + 1 : NULL;
    } else {
        option = find_letter(c, text[1]);
        if (!option)
            return error_set(err, ERROR_INPUT,
                             "weft %s has no option -%c; `weft help %s` lists them", c->name,
                             text[1], c->name);
        value = text[2] ? text + 2 : NULL;
        if (value && !option->argument)
            return error_set(err, ERROR_INPUT, "-%c takes no value; write the letters apart",
                             text[1]);
    }
    if (option->argument && !value) {
        if (*i + 1 >= argc)
            return error_set(err, ERROR_INPUT, "--%s needs a value: --%s %s", option->name,
                             option->name, option->argument);
        value = argv[++*i];
    } else if (!option->argument && value) {
        return error_set(err, ERROR_INPUT, "--%s takes no value", option->name);
    }
    give(a, option, value);
    return true;
}

/* ---- rules ---- */

/* The next word of a list with blanks between; false: no more. */
static bool rule_word(const char **list, char *word, size_t size)
{
    *list += strspn(*list, " ");
    size_t n = strcspn(*list, " ");
    snprintf(word, size, "%.*s", (int)n, *list);
    *list += n;
    return n > 0;
}

static const struct given *find_given(const struct arguments *a, const char *name, size_t len)
{
    for (size_t i = a->ngiven; i--;)
        if (strlen(a->given[i].option->name) == len &&
            memcmp(a->given[i].option->name, name, len) == 0)
            return &a->given[i];
    return NULL;
}

/* A condition of a rule: an operand, an option, an option with this value. */
static bool rule_holds(const struct arguments *a, const char *condition)
{
    if (*condition >= 'A' && *condition <= 'Z')
        return a->noperands > 0;
    size_t len = strcspn(condition, "=");
    const struct given *g = find_given(a, condition, len);
    return g && (!condition[len] || (g->value && strcmp(g->value, condition + len + 1) == 0));
}

/* "--with PLANNER", "--on slurm", "a FLOW": as the user would write it. */
static void rule_describe(const struct arguments *a, const char *condition, struct strbuf *out)
{
    size_t len = strcspn(condition, "=");
    const struct cli_option *o = find_long(a->command, condition, len);
    if (*condition >= 'A' && *condition <= 'Z')
        strbuf_printf(out, "a %s", condition);
    else if (condition[len])
        strbuf_printf(out, "--%.*s %s", (int)len, condition, condition + len + 1);
    else
        strbuf_printf(out, "--%s%s%s", condition, o && o->argument ? " " : "",
                      o && o->argument ? o->argument : "");
}

static bool rule_needs(const struct arguments *a, const struct cli_rule *r, const char *option,
                       struct error *err)
{
    char word[64];
    struct strbuf list = {0};
    for (const char *at = r->needs; at && rule_word(&at, word, sizeof word);) {
        if (rule_holds(a, word)) {
            strbuf_free(&list);
            return true;
        }
        strbuf_add(&list, !list.n ? "" : at[strspn(at, " ")] ? ", " : " or ");
        rule_describe(a, word, &list);
    }
    bool good = !list.n || error_set(err, ERROR_INPUT, "--%s does nothing without %s", option,
                                     strbuf_text(&list));
    strbuf_free(&list);
    return good;
}

static bool rule_beside(const struct arguments *a, const struct cli_rule *r, const char *option,
                        struct error *err)
{
    char word[64];
    for (const char *at = r->beside; at && rule_word(&at, word, sizeof word);)
        if (strcmp(word, option) != 0 && rule_holds(a, word)) {
            struct strbuf text = {0};
            size_t len = strcspn(word, "=");
            if (*word >= 'A' && *word <= 'Z')
                strbuf_printf(&text, "'%s'", a->operand[0]);
            else if (word[len])
                rule_describe(a, word, &text);
            else
                strbuf_printf(&text, "--%s", word);
            error_set(err, ERROR_INPUT, "--%s does nothing beside %s; leave one of them out",
                      option, strbuf_text(&text));
            strbuf_free(&text);
            return false;
        }
    return true;
}

/* An option with one value, given two: the first would be ignored. What may be repeated says so in
 * its help. */
static bool given_once(const struct arguments *a, const struct given *g, struct error *err)
{
    const struct given *last = find_given(a, g->option->name, strlen(g->option->name));
    if (!last || !g->value || strcmp(g->value, last->value) == 0 ||
        strstr(g->option->help, "may be repeated"))
        return true;
    return error_set(err, ERROR_INPUT, "--%s is given twice, '%.100s' and '%.100s'; which one?",
                     g->option->name, g->value, last->value);
}

bool arguments_fit(const struct arguments *a, struct error *err)
{
    char option[64];
    for (size_t i = 0; i < a->ngiven; i++)
        if (!given_once(a, &a->given[i], err))
            return false;
    for (const struct cli_rule *r = a->command->rules; r && r->options; r++)
        for (const char *at = r->options; rule_word(&at, option, sizeof option);)
            if (find_given(a, option, strlen(option)) &&
                (!rule_needs(a, r, option, err) || !rule_beside(a, r, option, err)))
                return false;
    return true;
}

bool arguments_parse(struct arguments *a, const struct command *command, int argc, char **argv,
                     struct error *err)
{
    *a = (struct arguments){.command = command};
    a->operand = mem_new(const char *, (size_t)argc + 1);
    bool only_operands = false;
    for (int i = 0; i < argc; i++) {
        if (!only_operands && strcmp(argv[i], "--") == 0)
            only_operands = true;
        else if (!only_operands && argv[i][0] == '-' && argv[i][1]) {
            if (!parse_option(a, argc, argv, &i, err))
                return false;
        } else
            a->operand[a->noperands++] = argv[i];
    }
    if (a->noperands < command->least)
        return error_set(err, ERROR_INPUT, "weft %s needs %s; usage: weft %s %s [options]",
                         command->name, command->operands, command->name, command->operands);
    if (a->noperands > command->most)
        return error_set(err, ERROR_INPUT,
                         "weft %s does not know what to do with '%s'; usage: weft %s %s [options]",
                         command->name, a->operand[command->most], command->name,
                         command->operands);
    if (!arguments_fit(a, err))
        return false;
    defaults_apply(a);
    return true;
}

bool arguments_used(const struct arguments *a, struct error *err)
{
    for (size_t i = 0; i < a->ngiven; i++) {
        const struct given *g = &a->given[i];
        /* --quiet asks for no remarks: where there are none, that is so */
        if (!g->used && strcmp(g->option->name, "quiet") != 0)
            return error_set(err, ERROR_INPUT, "--%s did nothing here; leave it out",
                             g->option->name);
    }
    return true;
}

bool arguments_refuse(const struct arguments *a, const char *names, const char *what,
                      struct error *err)
{
    char name[64];
    while (rule_word(&names, name, sizeof name))
        if (find_given(a, name, strlen(name)))
            return error_set(err, ERROR_INPUT, "--%s does nothing for %s; leave it out", name,
                             what);
    return true;
}

void arguments_free(struct arguments *a)
{
    free(a->operand);
    free(a->given);
    *a = (struct arguments){0};
}

/* All of that name count as asked for: two that differ were refused. */
const char *arguments_value(const struct arguments *a, const char *name)
{
    const char *value = NULL;
    for (size_t i = 0; i < a->ngiven; i++)
        if (strcmp(a->given[i].option->name, name) == 0) {
            a->given[i].used = true;
            value = a->given[i].value ? a->given[i].value : "";
        }
    return value;
}

const char *arguments_next(const struct arguments *a, const char *name, size_t *at)
{
    while (*at < a->ngiven) {
        struct given *g = &a->given[(*at)++];
        if (strcmp(g->option->name, name) == 0) {
            g->used = true;
            return g->value ? g->value : "";
        }
    }
    return NULL;
}

bool arguments_flag(const struct arguments *a, const char *name)
{
    return arguments_value(a, name) != NULL;
}

bool arguments_given(const struct arguments *a, const char *name)
{
    return find_given(a, name, strlen(name)) != NULL;
}

bool arguments_takes(const struct arguments *a, const char *name)
{
    return find_long(a->command, name, strlen(name)) != NULL;
}

bool arguments_integer(const struct arguments *a, const char *name, int64_t standard, int64_t least,
                       int64_t most, int64_t *out, struct error *err)
{
    const char *text = arguments_value(a, name);
    *out = standard;
    if (!text)
        return true;
    if (!quantity_integer(text, strlen(text), out) || *out < least || *out > most)
        return error_set(err, ERROR_INPUT,
                         "--%s is '%s'; expected a whole number from %lld to %lld", name, text,
                         (long long)least, (long long)most);
    return true;
}

bool arguments_number(const struct arguments *a, const char *name, double standard, double *out,
                      struct error *err)
{
    const char *text = arguments_value(a, name);
    *out = standard;
    if (text && !quantity_number(text, strlen(text), out))
        return error_set(err, ERROR_INPUT, "--%s is '%s'; expected a number", name, text);
    return true;
}

/* A text in lines of at most `width` columns, the first behind `used`, all others behind `indent`
 * blanks. Words that are longer than a line stay whole: a command is to be copied. */
static void help_wrap(struct strbuf *out, const char *text, size_t n, size_t used, size_t indent,
                      size_t width)
{
    size_t at = used;
    for (const char *end = text + n; text < end;) {
        size_t blanks = strspn(text, " \n"), word = strcspn(text + blanks, " \n");
        if (text + blanks >= end)
            break;
        word = text + blanks + word > end ? (size_t)(end - text) - blanks : word;
        if (at > indent && at + 1 + word > width) {
            strbuf_printf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (at > indent) {
            strbuf_add_char(out, ' ');
            at++;
        }
        strbuf_add_bytes(out, text + blanks, word);
        at += word;
        text += blanks + word;
    }
    strbuf_add_char(out, '\n');
}

/* Paragraphs are made to fit; lines that begin with a blank (examples) or end in a colon, and empty
 * ones, stand as they are. */
static void help_details(struct strbuf *out, const char *text, size_t width)
{
    while (*text) {
        size_t line = strcspn(text, "\n"), n = line;
        bool as_it_is = *text == ' ' || !line;
        /* a paragraph goes on until an empty line, an example, or a line that a full stop ended */
        while (!as_it_is && text[n] && text[n + 1] && text[n + 1] != ' ' && text[n + 1] != '\n' &&
               !(line < 60 && text[n - 1] != ',')) {
            line = strcspn(text + n + 1, "\n");
            n += 1 + line;
        }
        if (as_it_is)
            strbuf_printf(out, "%.*s\n", (int)n, text);
        else
            help_wrap(out, text, n, 0, 0, width);
        text += n + (text[n] == '\n');
    }
}

/* On a narrow screen the words stand below their option. */
enum { HELP_COLUMN = 29, HELP_LEAST = 24 }; /* where the words begin; fewer are no help */

/* The screen decides: `weft help run` was 159 columns wide, and a terminal breaks lines in words. */
void command_help(const struct command *c, unsigned columns, struct strbuf *out)
{
    size_t width = columns > HELP_LEAST ? columns : HELP_LEAST;
    size_t indent = width >= HELP_COLUMN + HELP_LEAST ? HELP_COLUMN : 8;
    strbuf_printf(out, "weft %s: %s\n\nusage: weft %s%s%s%s\n", c->name, c->summary, c->name,
                  *c->operands ? " " : "", c->operands,
                  c->options && c->options->name ? " [options]" : "");
    if (c->options && c->options->name)
        strbuf_add(out, "\noptions:\n");
    for (const struct cli_option *o = c->options; o && o->name; o++) {
        char left[64];
        if (o->letter)
            snprintf(left, sizeof left, "-%c, --%s%s%s", o->letter, o->name, o->argument ? " " : "",
                     o->argument ? o->argument : "");
        else
            snprintf(left, sizeof left, "    --%s%s%s", o->name, o->argument ? " " : "",
                     o->argument ? o->argument : "");
        bool beside = strlen(left) + 3 <= indent; /* else its words begin on the next line */
        strbuf_printf(out, "  %-*s%s", beside ? (int)indent - 2 : 0, left, beside ? "" : "\n");
        strbuf_printf(out, "%*s", beside ? 0 : (int)indent, "");
        help_wrap(out, o->help, strlen(o->help), indent, indent, width);
    }
    if (c->details) {
        strbuf_add_char(out, '\n');
        help_details(out, c->details, width);
    }
}

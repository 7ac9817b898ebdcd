/* What a command runs in: texts come back as they were put, names and words are judged, values are
 * filled in without quotes, and the key has what changes a result and nothing else. */
#include "base/mem.h"
#include "base/rng.h"
#include "model/builder.h"
#include "model/command.h"
#include "model/environment.h"
#include "tap.h"

#include <string.h>

static void env_test_add(struct strbuf *text, const char *name, const char *value)
{
    environment_add(text, name, value);
}

/* Random values of the characters that are written in a way of their own. */
static void test_round_trip(void)
{
    static const char letters[] = "ab=\\\n {}'\"";
    struct rng r;
    rng_seed(&r, 16);
    bool same = true;
    for (int trial = 0; trial < 2000 && same; trial++) {
        struct strbuf text = {0}, name = {0}, value = {0};
        char values[3][12], names[3][2] = {"A", "B", "C"};
        for (int i = 0; i < 3; i++) {
            size_t n = rng_below(&r, 11);
            for (size_t k = 0; k < n; k++)
                values[i][k] = letters[rng_below(&r, sizeof letters - 1)];
            values[i][n] = 0;
            env_test_add(&text, names[i], values[i]);
        }
        const char *at = text.at;
        for (int i = 0; i < 3; i++)
            same &= environment_next(&at, &name, &value) && strcmp(name.at, names[i]) == 0 &&
                    strcmp(strbuf_text(&value), values[i]) == 0;
        same &= !environment_next(&at, &name, &value);
        strbuf_free(&text);
        strbuf_free(&name);
        strbuf_free(&value);
    }
    ok(same, "values of any characters come back");
}

static void env_test_refused(enum column_id id, const char *text, const char *why)
{
    struct error err = {0};
    ok(!environment_check(id, text, &err), "%s '%s' is refused", task_column[id].key, text);
    has_str(err.text, why, "and why");
}

static void test_checks(void)
{
    struct error err = {0};
    ok(environment_check(COLUMN_env, "A=1\nb_2=", &err) &&
           environment_check(COLUMN_pass, "-", &err) &&
           environment_check(COLUMN_pass, "HOME LANG", &err) &&
           environment_check(COLUMN_modules, "gcc/12 x", &err) &&
           environment_check(COLUMN_container, "host:5000/a/b:1", &err) &&
           environment_check(COLUMN_conda, "a folder/x.yaml", &err),
       "what is right %s", err.text);
    env_test_refused(COLUMN_env, "=1", "cannot be the name of a variable");
    env_test_refused(COLUMN_env, "A-B=1", "cannot be the name of a variable");
    env_test_refused(COLUMN_env, "WEFT_X=1", "weft's own");
    env_test_refused(COLUMN_secret, "A 1B", "cannot be the name of a variable");
    env_test_refused(COLUMN_pass, "A=1", "cannot be the name of a variable");
    env_test_refused(COLUMN_modules, "gcc --force", "an option");
    env_test_refused(COLUMN_container, "a b", "expected an image");
    env_test_refused(COLUMN_container, "--privileged", "expected an image");
    env_test_refused(COLUMN_conda, "-x", "expected a file");
}

/* A task with one input and one output, and these texts (NULL: none) in the order of TASK_TEXTS. */
static struct workflow *env_test_task(const char *const *texts, struct error *err)
{
    struct builder *b = builder_new("flow.yaml", "native");
    uint32_t t = builder_task(b, "a task", 6, 7);
    builder_command(b, t, "true", 4);
    builder_cores(b, t, 3, 0);
    builder_consumes(b, t, builder_object(b, "in put", 6), 0);
    builder_produces(b, t, builder_object(b, "o", 1), 0);
    for (int i = 0; i < TASK_TEXT_COUNT; i++)
        if (texts[i])
            builder_text(b, t, task_text[i], texts[i], strlen(texts[i]), 7);
    return builder_finish(b, err);
}

static void test_values(void)
{
    struct error err = {0};
    struct strbuf out = {0};
    struct workflow *w =
        env_test_task((const char *const[]){"A={task} {cores} {attempt}\nB={in} {{x}} $Y\nC=", NULL,
                                            NULL, NULL, NULL, NULL},
                      &err);
    if (!ok(w, "a task with variables %s", err.text))
        return;
    is_int(environment_expand(w, 0, &(struct command_attempt){.number = 2}, &out), 3,
           "three variables");
    is_str(out.at, "A=a task 3 2", "words are filled in, and not quoted");
    is_str(out.at + strlen(out.at) + 1, "B=in put {x} $Y", "also names of files");
    is_str(out.at + out.n - 3, "C=", "an empty one is one");
    strbuf_clear(&out);
    ok(environment_readable(w, 0, 1, &out), "for people");
    is_str(out.at, "with A='a task 3 1' B='in put {x} $Y' C=''", "as a shell would take it");
    strbuf_free(&out);
    workflow_free(w);
    static const char *const wrong[][2] = {
        {"A={taks}", "did you mean {task}"}, {"A={in[1]}", "no such file"},
        {"A={in.list}", "only commands"},    {"A={memory}", "states none"},
        {"A=${HOME}", "no shell"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        error_clear(&err);
        w = env_test_task((const char *const[]){wrong[i][0], NULL, NULL, NULL, NULL, NULL}, &err);
        ok(!w, "%s is refused", wrong[i][0]);
        has_str(err.text, wrong[i][1], "and why");
        workflow_free(w);
    }
}

static char *env_test_key(const char *const *texts, const struct run_environment *e)
{
    struct error err = {0};
    struct strbuf out = {0};
    struct workflow *w = env_test_task(texts, &err);
    if (ok(w, "a task %s", err.text))
        environment_in_key(w, 0, e, &out);
    workflow_free(w);
    strbuf_add(&out, "");
    return strbuf_steal(&out);
}

static void test_key(void)
{
    struct run_environment e = {0};
    run_environment_add(&e, ALONG_IMAGE, "tools:1", "1234");
    run_environment_add(&e, ALONG_CONDA, "x.yaml", "one");
    run_environment_add(&e, ALONG_SECRET, "S", "hush");
    char *nothing = env_test_key((const char *const[]){NULL, "A B", "S", NULL, NULL, NULL}, &e);
    is_str(nothing, "", "what is passed and secret is no part of it");
    char *all = env_test_key(
        (const char *const[]){"A={cores}{attempt}", NULL, NULL, "tools:1", NULL, "gcc/12 b"}, &e);
    is_str(all, "env A=3{attempt}\ncontainer 1234\nmodules gcc/12 b\n", "all that counts");
    char *one = env_test_key((const char *const[]){NULL, NULL, NULL, NULL, "x.yaml", NULL}, &e);
    run_environment_add(&e, ALONG_CONDA, "x.yaml", "two");
    char *two = env_test_key((const char *const[]){NULL, NULL, NULL, NULL, "x.yaml", NULL}, &e);
    ok(strcmp(one, two) != 0, "a file by its content");
    is_int(e.at.n, 3, "a second value takes the place of the first");
    is_str(run_environment_find(&e, ALONG_SECRET, "SX", 1), "hush", "found by its name");
    ok(!run_environment_find(&e, ALONG_PASS, "S", 1) &&
           !run_environment_find(NULL, ALONG_PASS, "S", 1),
       "and by its kind");
    run_environment_free(&e);
    free(nothing);
    free(all);
    free(one);
    free(two);
}

int main(void)
{
    TAP_DO(test_round_trip());
    TAP_DO(test_checks());
    TAP_DO(test_values());
    TAP_DO(test_key());
    return tap_done();
}

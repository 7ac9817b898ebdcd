#include "drive/testing.h"
#include "tap.h"

/* start -> a -> b -> c: a.txt and b.txt lie between tasks, c.txt is the result. */
static struct workflow *chain_workflow(const char *last)
{
    struct builder *b = builder_new("flow.yaml", "native");
    add_task(b, "a", "cp {in} {out}", "start > a.txt");
    add_task(b, "b", "cp {in} {out}", "a.txt > b.txt");
    add_task(b, "c", last, "b.txt > c.txt");
    return builder_finish(b, NULL);
}

struct found {
    uint32_t run;
    uint8_t need[3];
};

/* What must run, asked of the memo in the folder. */
static struct found find_needs(const struct bench_folder *f, const struct workflow *w,
                               bool elsewhere)
{
    struct error err = {0};
    struct needs n;
    struct found found = {.run = NONE};
    struct memo *memo = memo_open(folder_file(f, ".weft/memo"), NULL, &err);
    if (needs_find(&n, w, f->path, memo, &(struct need_options){.elsewhere = elsewhere}, &err)) {
        found.run = n.run;
        memcpy(found.need, n.task, sizeof found.need);
        needs_free(&n);
    }
    memo_close(memo, &err);
    return found;
}

static void test_elsewhere(void)
{
    struct bench_folder f = folder_make();
    struct workflow *w = chain_workflow("cp {in} {out}"),
                    *changed = chain_workflow("cat {in} > {out}");
    struct run_result r;
    struct error err = {0};
    folder_write(&f, "start", "x\n");
    ok(run_here(&f, w, (struct run_options){0}, &r, &err), "a run here %s", err.text);
    run_result_free(&r);
    unlink(folder_file(&f, "a.txt"));
    unlink(folder_file(&f, "b.txt"));
    is_int(find_needs(&f, w, false).run, 3, "files between tasks are missed");
    is_int(find_needs(&f, w, true).run, 0, "unless they may be elsewhere");
    struct found found = find_needs(&f, changed, true);
    is_int(found.run, 3, "they are made again for a task that must run");
    is_int(found.need[0], NEED_RESTORE, "one after the other");
    is_int(found.need[1], NEED_RESTORE, "up to what is there");
    is_int(found.need[2], NEED_COMMAND, "for the one that changed");
    unlink(folder_file(&f, "c.txt"));
    found = find_needs(&f, w, true);
    is_int(found.need[2], NEED_OUTPUT, "a result must be here");
    is_int(found.need[1], NEED_RESTORE, "and what it is made of is made again");
    workflow_free(w);
    workflow_free(changed);
    tree_remove(f.path);
}

static void test_learn(void)
{
    struct bench_folder f = folder_make();
    struct workflow *w = chain_workflow("cp {in} {out}");
    struct error err = {0};
    struct needs n;
    folder_write(&f, "start", "x\n");
    folder_write(&f, "c.txt", "x\n"); /* as it came back from wherever it was made */
    make_parents(folder_file(&f, ".weft/memo"), &err);
    struct memo *memo = memo_open(folder_file(&f, ".weft/memo"), NULL, &err);
    ok(needs_find(&n, w, f.path, memo, &(struct need_options){.elsewhere = true}, &err),
       "nothing is known %s", err.text);
    is_int(n.run, 3, "so all must run");
    struct digest content;
    digest_of("x\n", 2, &content);
    double size;
    memo_digest(memo, folder_file(&f, "c.txt"), false, &content, &size, &err);
    n.content[workflow_find_object(w, "c.txt")] = content;
    ok(!need_learn(&n, 2), "told before its input's maker: not yet");
    ok(!need_learn(&n, 0), "nor without knowing what it left");
    n.content[workflow_find_object(w, "a.txt")] = content;
    n.content[workflow_find_object(w, "b.txt")] = content;
    ok(need_learn(&n, 0) && need_learn(&n, 1) && need_learn(&n, 2), "then all three");
    needs_free(&n);
    ok(memo_close(memo, &err), "on record %s", err.text);
    is_int(find_needs(&f, w, true).run, 0, "and nothing is left to do");
    workflow_free(w);
    tree_remove(f.path);
}

/* The key as it was before tasks without outputs had their name in it, made by hand. */
static void key_without_name(const char *command, struct digest *out)
{
    struct digest_state s;
    digest_begin(&s);
    digest_string(&s, "weft-key/1", 10);
    digest_number(&s, 0);
    digest_string(&s, command, strlen(command));
    digest_number(&s, 0);
    digest_end(&s, out);
}

static void test_same_command(void)
{
    struct bench_folder f = folder_make();
    struct builder *b = builder_new("flow.yaml", "native");
    add_task(b, "a", "true", ">");
    add_task(b, "b", "true", ">");
    add_task(b, "c", "true", ">");
    struct workflow *w = builder_finish(b, NULL);
    struct error err = {0};
    make_parents(folder_file(&f, ".weft/memo"), &err);
    struct memo *memo = memo_open(folder_file(&f, ".weft/memo"), NULL, &err);
    struct memo_task t = {.name = memo_hash("b", 1)};
    key_without_name("true", &t.key);
    memo_add(memo, &t, NULL, NULL);
    memo_close(memo, &err);
    struct found found = find_needs(&f, w, false);
    is_int(found.need[1], NEED_NOT, "an old record counts for the task that made it");
    is_int(found.need[0], NEED_NEVER, "and for no other that does the same");
    is_int(found.run, 2, "nor for the third");
    struct run_result r;
    ok(run_here(&f, w, (struct run_options){0}, &r, &err), "a run %s", err.text);
    is_int(r.done, 2, "of the others");
    run_result_free(&r);
    is_int(find_needs(&f, w, false).run, 0, "then all three are done");
    workflow_free(w);
    tree_remove(f.path);
}

/* Two columns of functions that hand objects to each other, and one that reads a file of the folder. */
static struct workflow *functions_workflow(void)
{
    struct builder *b = builder_new("flow.yaml", "native");
    char name[16];
    enum { ROWS = 20 };
    for (uint32_t t = 0; t < 2 * ROWS; t++) {
        size_t length = (size_t)snprintf(name, sizeof name, "f%u", t);
        builder_task(b, name, length, 0);
        builder_command(b, t, "lib.so:f", 8);
        builder_flag(b, t, TASK_CALL);
        uint32_t made = builder_object(b, name, length);
        builder_produces(b, t, made, 0);
        builder_in_memory(b, made);
        for (uint32_t k = 0; t >= 2 && k < 2; k++)
            builder_consumes(b, t, (t / 2 - 1) * 2 + k, 0);
    }
    builder_consumes(b, 3, builder_object(b, "start", 5), 0);
    return builder_finish(b, NULL);
}

/* Hashes that are kept are those that would be made anew; where a file has a part in it none is kept. */
static void test_kept_hashes(void)
{
    struct bench_folder f = folder_make();
    struct workflow *w = functions_workflow();
    struct error err = {0};
    struct needs n;
    uint32_t kept = 0, wrong = 0;
    folder_write(&f, "start", "x\n");
    struct memo *memo = memo_open(folder_file(&f, "memo"), NULL, &err);
    ok(needs_find(&n, w, f.path, memo, &(struct need_options){0}, &err), "functions %s", err.text);
    for (uint32_t t = 0; t < w->ntasks; t++) {
        if (t >= n.nhashes || !n.hashes[t].made)
            continue;
        struct need_hashes h = n.hashes[t];
        struct digest key;
        n.hashes[t].made = false;
        const char *name = workflow_task_name(w, t);
        kept++;
        wrong += !need_key(&n, t, &key) || !digest_equal(&key, &h.key) ||
                 h.name != memo_hash(name, strlen(name));
    }
    is_int(wrong, 0, "what is kept is what would be made");
    /* 3 reads a file; the last two make results, which are files */
    is_int(kept, w->ntasks - 3, "of all that have no files");
    needs_free(&n);
    memo_close(memo, &err);
    workflow_free(w);
    tree_remove(f.path);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_elsewhere),
        TAP_CASE(test_same_command),
        TAP_CASE(test_learn),
        TAP_CASE(test_kept_hashes),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}

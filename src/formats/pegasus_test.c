#include "formats/registry.h"
#include "formats/index_rows.h"

static void test_read(void)
{
    struct error err;
    struct workflow *w = read_text(
        &format_pegasus,
        "jobDependencies: [{id: 'a', children: [b, c]}]\n"
        "pegasus: 5.0.4\n"
        "x-pegasus: {apiLang: python}\n"
        "name: test\n"
        "hooks: {shell: [{_on: error, cmd: 'a &apos;b&apos;'}]}\n"
        "jobs:\n"
        "- id: a\n"
        "  name: make\n"
        "  type: job\n"
        "  metadata: {runtime: '12.5', \xe3\x90\xa6: \xe3\x92\xa6}\n"
        "  profiles:\n"
        "    pegasus: {cores: 4, memory: '200'}\n"
        "  uses:\n"
        "  - {lfn: x, type: output, size: '2048', stageOut: true}\n"
        "  - lfn: in.txt\n"
        "    type: input\n"
        "    metadata: {size: 17}\n"
        "- id: b\n"
        "  name: use\n"
        "  arguments: [-nums, 1, 1.1, a\n"
        "    b]\n"
        "  uses: [{lfn: x, type: input}, {lfn: ck, type: checkpoint}, {lfn: n, type: none}]\n"
        "- {id: c, type: pegasusWorkflow, file: inner.yml}\n"
        "- {id: d, type: condorWorkflow, file: inner.dag, uses: [{lfn: x, type: input}]}\n",
        NULL, &err);
    if (!ok(w, "a workflow with everything reads %s", err.text))
        return;
    is_int(w->ntasks, 4, "sub-workflows are tasks");
    is_int(w->npairs, 2, "the stated edges");
    ok(has_edge(w, "a", "b") && has_edge(w, "a", "c"), "run from id to children");
    is_str(workflow_text(w, w->format), "pegasus-5.0.4", "the version");
    is_str(workflow_text(w, w->name), "test", "the name");
    is_str(workflow_text(w, w->kind[0]), "make", "the transformation is the kind");
    is_str(workflow_text(w, w->kind[2]), "inner.yml", "or the file");
    is_dbl(w->work[0], 12.5, 0, "runtime from the metadata");
    is_int(w->cores[0], 4, "cores from the profile");
    is_dbl(w->memory[0], 200e6, 0, "memory from the profile, MB");
    uint32_t x = workflow_find_object(w, "x"), in = workflow_find_object(w, "in.txt");
    is_dbl(w->size[x], 2048, 0, "size as a string");
    is_dbl(w->size[in], 17, 0, "size from the metadata");
    is_int(w->producer[in], NONE, "in.txt is an input");
    is_int(workflow_find_object(w, "n"), NONE, "type none is no data");
    ok(has_warning(w, "3 of 4 jobs have no run time"), "missing run times are told");
    ok(has_warning(w, "not stated to depend on"), "so is a file without its edge");
    workflow_free(w);
    w = read_text(&format_pegasus, "pegasus: '5.0'\nname: n\njobs: []\n", NULL, &err);
    ok(w && !w->ntasks, "no jobs %s", err.text);
    workflow_free(w);
}

static void test_errors(void)
{
    const struct format *f = &format_pegasus;
#define HEAD "pegasus: '5.0'\njobs:\n"
    refuses(f, "", "empty", "an empty file");
    refuses(f, "jobs: []\n", "the key 'pegasus' is missing", "another YAML file");
    refuses(f, "pegasus: '5.0'\nsites: []\n", "the key 'jobs' is missing", "a catalog");
    refuses(f, "- a\n", "the file is a list", "a list");
    refuses(f, "pegasus: '5.0'\njobs: 3\n", "test-file:2: jobs is '3'; expected a list",
            "jobs that are a number");
    refuses(f, HEAD "- 3\n", "test-file:3: an entry of jobs is '3'", "a job that is a number");
    refuses(f, HEAD "- {name: x}\n", "test-file:3: a job has no 'id'", "a job without id");
    refuses(f, HEAD "- {id: [x]}\n", "id is a list", "an id that is a list");
    refuses(f, HEAD "- {id: a}\n- {id: a}\n", "test-file:4: task 'a' is defined twice",
            "an id twice");
    refuses(f, HEAD "- id: a\n  uses:\n  - {type: input}\n",
            "test-file:5: an entry of uses has no 'lfn'", "a use of nothing");
    refuses(f, HEAD "- id: a\n  uses: [{lfn: x, type: inptu}]\n", "test-file:4: type is 'inptu'",
            "a wrong type");
    refuses(f, HEAD "- id: a\n  uses: [{lfn: x, type: input, size: big}]\n", "size is 'big'",
            "a wrong size");
    refuses(f, HEAD "- id: a\n  uses: [{lfn: x, type: input, size: -1}]\n", "size is -1",
            "a negative size");
    refuses(f, HEAD "- {id: a, metadata: {runtime: x}}\n", "runtime is 'x'", "a wrong runtime");
    refuses(f, HEAD "- {id: a}\njobDependencies:\n- {id: a, children: [b]}\n",
            "test-file:5: a dependency names the job 'b', which is not in the file",
            "a dangling child");
    refuses(f, HEAD "- {id: a}\njobDependencies:\n- {id: q, children: [a]}\n", "the job 'q'",
            "a dangling parent");
    refuses(f, HEAD "- {id: a}\njobDependencies:\n- {id: a, children: [a]}\n", "depends on itself",
            "a self loop");
    refuses(f,
            HEAD "- {id: a}\n- {id: b}\njobDependencies:\n- {id: a, children: [b]}\n- {id: b, "
                 "children: [a]}\n",
            "in a cycle", "a cycle");
    refuses(f, HEAD "- {id: a}\njobDependencies:\n- {children: [a]}\n", "has no 'id'",
            "a dependency without id");
    refuses(f, HEAD "- {id: a}\njobDependencies:\n- {id: a, children: [[a]]}\n",
            "an entry of children is a list", "a list of lists");
    refuses(f, HEAD "- &x {id: a}\n- *x\n", "anchors", "an anchor");
    refuses(f, HEAD "- {id: a\n", "not valid YAML", "a truncated file");
}

static void test_sniff(void)
{
    static const struct {
        const char *text;
        int sure;
    } cases[] = {
        {"pegasus: 5.0\n", 3},
        {"x-pegasus:\n  a: b\n", 3},
        {"---\nname: x\n\"pegasus\": '5.0'\n", 3},
        {"weft: 1\n", 0},
        {"a:\n  pegasus: 1\n", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_int(format_pegasus.sniff("inner_yaml.dax", cases[i].text, strlen(cases[i].text)),
               cases[i].sure, "sniffing, case %zu", i);
}

static void test_shared(void)
{
    if (!tap_shared()) {
        tap_skip("the Pegasus files of the shared data", "no shared data here");
        return;
    }
    is_int(index_check(&format_pegasus, "pegasus-yaml/", ""), 3, "all Pegasus files of the table");
    struct error err = {0};
    struct workflow *w = index_read(&format_pegasus, "pegasus-yaml/diamond_full.yml", NULL, &err);
    if (ok(w, "diamond_full reads")) {
        is_dbl(w->size[workflow_find_object(w, "f.b1")], 2048, 0, "with the size in its metadata");
        ok(has_warning(w, "4 of 4 jobs have no run time"), "and without run times");
    }
    workflow_free(w);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_read),
        TAP_CASE(test_errors),
        TAP_CASE(test_sniff),
        TAP_CASE(test_shared),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}

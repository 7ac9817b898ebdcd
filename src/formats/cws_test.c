#include "formats/registry.h"
#include "formats/index_rows.h"

static const char text[] =
    "# a comment\n"
    "FILE a.dat 100\nfile b.dat 7\n\n"
    "TASK t1 ns::map:1.0 2.5\nTASK t2 reduce 4\nTASK t3 reduce 0\nTASK t4 x 1\n"
    "INPUTS t1 a.dat\nOUTPUTS t1 b.dat c.dat\nINPUTS t2 b.dat c.dat\nINPUTS t3 b.dat\n"
    "OUTPUTS t3 c.dat\nINPUTS t4 c.dat\n"
    "EDGE t1 t2\nEDGE t1 t2\nEDGE t3 t4\nEDGE t2 t4\n";

static double carried(const struct workflow *w, const char *from, const char *to, uint32_t *objects)
{
    uint32_t a = workflow_find_task(w, from), b = workflow_find_task(w, to);
    double bytes = 0;
    *objects = 0;
    for (uint32_t e = w->succ_off[a]; e < w->succ_off[a + 1]; e++)
        if (w->succ_task[e] == b && w->succ_object[e] != NONE) {
            bytes += w->size[w->succ_object[e]];
            ++*objects;
        }
    return bytes;
}

int main(void)
{
    const struct format *f = &format_cws;
    struct error err;
    is_int(f->sniff("x.dag", text, strlen(text)), 3, "sniffs it");
    is_int(f->sniff("x.dag", "JOB A a\n", 8), 0, "but not DAGMan");

    struct workflow *w = read_text(f, text, NULL, &err);
    ok(w, "reads: %s", err.text);
    if (w) {
        uint32_t objects;
        is_int(w->npairs, 3, "only stated edges, each once");
        is_dbl(w->work[workflow_find_task(w, "t1")], 2.5, 0, "run time");
        is_str(workflow_text(w, w->kind[0]), "map", "kind");
        is_dbl(carried(w, "t1", "t2", &objects), 7, 0, "the sizes of the files between them");
        is_int(objects, 2, "two files");
        carried(w, "t3", "t4", &objects);
        is_int(objects, 1, "each writer of a file makes an object of its own");
        ok(has_warning(w, "imply 3 edges"),
           "edges that only the files imply are counted"); /* t1-t3, t1-t4, t3-t2 */
        ok(has_warning(w, "one more writer"), "and so are second writers");
        is_int(w->ninputs, 1, "a file that nobody makes is an input");
        workflow_free(w);
    }
    struct option_value files[] = {{"edges", "files"}, {0}};
    w = read_text(f, text, files, &err);
    ok(w, "edges=files: %s", err.text);
    is_int(w ? w->npairs : 0, 5, "edges that the files imply"); /* t2-t4 is stated only */
    workflow_free(w);

    w = read_text(f,
                  "TASK a -m 2 -c 4 -t 3 -p 9 -f A=b /bin/echo hello  world  \nTASK b /bin/sleep "
                  "5\nTASK c /bin/true\nEDGE a b\n",
                  NULL, &err);
    ok(w, "PMC tasks: %s", err.text);
    if (w) {
        is_str(workflow_text(w, w->command[0]), "/bin/echo hello  world", "command");
        is_str(workflow_text(w, w->command[1]), "/bin/sleep 5",
               "a path is a program, not a transformation");
        is_str(workflow_text(w, w->command[2]), "/bin/true", "without arguments");
        is_str(workflow_text(w, w->kind[0]), "echo", "kind");
        is_dbl(w->memory[0], 2097152, 0, "memory in MB");
        is_int(w->cores[0], 4, "cpus");
        is_int(w->retries[0], 2, "tries");
        is_dbl(w->priority[0], 9, 0, "priority");
        workflow_free(w);
    }

    w = read_text(
        f,
        "FILE f -1\nFILE f 7\nTASK a -c 1.1 /bin/true\nTASK b -c 0 /bin/true x y\nOUTPUTS a f\n"
        "INPUTS b f\nEDGE a b\n",
        NULL, &err);
    ok(w, "a part of a core and a negative size: %s", err.text);
    if (w) {
        is_int(w->cores[0], 2, "a part of a core is a whole one");
        is_dbl(w->size[0], 7, 0, "a negative size is none");
        ok(has_warning(w, "1 task asks for a part of a core") && has_warning(w, "negative size"),
           "both are said");
        workflow_free(w);
    }

    refuses(f, "", "nothing in it", "an empty file");
    refuses(f, "TASK a x 1\nWHAT b\n", "test-file:2: 'WHAT'", "an unknown word");
    refuses(f, "TASK a x 1\nTASK a x 1\n", "test-file:2:", "a task twice");
    refuses(f, "TASK a x -1\n", "test-file:1: the run time", "a negative run time");
    refuses(f, "TASK a\n", "test-file:1:", "a short task line");
    refuses(f, "TASK a -z 1 x\n", "unknown option", "an unknown option");
    refuses(f, "TASK a x 1\nEDGE a b\n", "test-file:2: EDGE names 'b'", "a dangling edge");
    refuses(f, "TASK a x 1\nEDGE a\n", "test-file:2:", "half an edge");
    refuses(f, "TASK a x 1\nINPUTS b f\n", "INPUTS names 'b'", "inputs of nobody");
    refuses(f, "TASK a x 1\nOUTPUTS b f\n", "OUTPUTS names 'b'", "outputs of nobody");
    refuses(f, "FILE a x\n", "size is 'x'", "a bad size");
    refuses(f, "TASK a x 1\nEDGE a a\n", "itself", "a self loop");
    refuses(f, "TASK a x 1\nTASK b x 1\nEDGE a b\nEDGE b a\n", "cycle", "a cycle");

    if (!tap_shared()) {
        tap_skip("the CWS files of the shared data", "no shared folder");
        return tap_done();
    }
    is_int(index_check(f, "cws/", ".dag"), 4, "files of cws/");
    w = index_read(f, "cws/CyberShake_30.dag", NULL, &err);
    ok(w && w->nobjects > 40, "CyberShake has its files");
    workflow_free(w);
    return tap_done();
}

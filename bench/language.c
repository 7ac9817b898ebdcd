/* What the language costs: a family of a million members, from its five lines to a frozen workflow, in
 * time and memory; and one over a million files that are there. Each is read in a process of its own, so
 * that its peak is its own.
 * bench_language [--json FILE] [--members N] [--only NAME]     NAME: a part of a row's */
#include "bench/bench.h"
#include "base/clock.h"
#include "base/tree.h"
#include "formats/format.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern const struct format format_native;

struct language_case {
    const char *name, *tasks; /* the text behind `tasks:` */
    bool glob;                /* the list is what files are there, not a range */
};

/* One member has a file in and a file out; the third case is what gathering a million costs. */
static const struct language_case language_cases[] = {
    {"no files", "  t: { each: n, run: \"true {n}\" }\n", false},
    {"in and out",
     "  t: { each: n, run: \"cp {in} {out}\", in: \"a/{n}.txt\", out: \"b/{n}.txt\" }\n", false},
    {"two families and a gathering",
     "  t: { each: n, run: \"cp {in} {out}\", in: \"a/{n}.txt\", out: \"b/{n}.txt\" }\n"
     "  all: { run: \"cat {in.list} > {out}\", in: \"b/{n}.txt\", out: all }\n",
     false},
    {"a glob, in and out",
     "  t: { each: n, run: \"cp {in} {out}\", in: \"a/{n}.txt\", out: \"b/{n}.txt\" }\n", true},
};

static char language_folder[200]; /* with the files of the glob; "": not made */

/* In memory where there is such a file system: making files is not what is measured. */
static void language_make_files(uint32_t members)
{
    char path[300];
    snprintf(language_folder, sizeof language_folder, "%s/weft-bench-language.XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    bool good = mkdtemp(language_folder) != NULL;
    snprintf(path, sizeof path, "%s/a", language_folder);
    good = good && mkdir(path, 0700) == 0;
    for (uint32_t i = 1; good && i <= members; i++) {
        snprintf(path, sizeof path, "%s/a/%u.txt", language_folder, i);
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        good = fd >= 0 && close(fd) == 0;
    }
    if (!good) {
        perror(path);
        exit(1);
    }
}

struct language_result {
    double seconds, model, peak; /* processor seconds; bytes a member */
    uint32_t tasks;
};

static void language_measure(const struct language_case *c, uint32_t members,
                             struct language_result *r)
{
    struct strbuf text = {0};
    struct error err = {0};
    struct rusage before, after;
    if (c->glob)
        strbuf_printf(&text, "weft: 1\nlists: { n: { files: \"a/{n}.txt\" } }\ntasks:\n%s",
                      c->tasks);
    else
        strbuf_printf(&text, "weft: 1\nlists: { n: { from: 1, to: %u } }\ntasks:\n%s", members,
                      c->tasks);
    struct format_source source = {.path = "bench.yaml",
                                   .text = text.at,
                                   .length = text.n,
                                   .folder = c->glob ? language_folder : "."};
    getrusage(RUSAGE_SELF, &before);
    double start = bench_cpu_seconds();
    struct workflow *w = format_native.read_workflow(&source, &err);
    r->seconds = bench_cpu_seconds() - start;
    getrusage(RUSAGE_SELF, &after);
    bench_must(w != NULL, &err);
    r->tasks = w->ntasks;
    r->model = (double)workflow_bytes(w) / members;
    r->peak = 1024.0 * (double)(after.ru_maxrss - before.ru_maxrss) / members;
    workflow_free(w);
    strbuf_free(&text);
}

/* In a child; its result comes through a pipe. */
static void language_run(const struct language_case *c, uint32_t members, struct language_result *r)
{
    int ends[2], status;
    if (pipe(ends) != 0)
        exit(1);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        language_measure(c, members, r);
        _exit(write(ends[1], r, sizeof *r) == (ssize_t)sizeof *r ? 0 : 1);
    }
    close(ends[1]);
    bool good = child > 0 && read(ends[0], r, sizeof *r) == (ssize_t)sizeof *r;
    close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) != child || !good)
        exit(1);
}

int main(int argc, char **argv)
{
    struct bench_report report = {0};
    uint32_t members = 1000000;
    const char *only = "";
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "--json") == 0)
            report.file = argv[i + 1];
        else if (strcmp(argv[i], "--members") == 0)
            members = (uint32_t)strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--only") == 0)
            only = argv[i + 1];
    struct json_writer *out = bench_report_begin(&report, "weft-bench-language/1");
    printf("a family of %u members, read (best of 3)\n", members);
    printf("  %-30s %9s %9s %12s %12s\n", "", "tasks", "CPU s", "model B", "peak B");
    json_write_key(out, "families");
    json_write_array(out);
    for (size_t i = 0; i < sizeof language_cases / sizeof *language_cases; i++) {
        struct language_result best = {.seconds = 1e9}, r = {0};
        if (!strstr(language_cases[i].name, only))
            continue;
        if (language_cases[i].glob)
            language_make_files(members);
        for (int round = 0; round < 3; round++) {
            language_run(&language_cases[i], members, &r);
            bench_must(r.tasks >= members, &(struct error){.text = "members are missing"});
            if (r.seconds < best.seconds)
                best = r;
        }
        printf("  %-30s %9u %9.2f %12.0f %12.0f\n", language_cases[i].name, best.tasks,
               best.seconds, best.model, best.peak);
        json_write_object_inline(out);
        json_put_string(out, "name", language_cases[i].name);
        json_put_integer(out, "tasks", best.tasks);
        json_put_number(out, "cpu_seconds", best.seconds);
        json_put_number(out, "model_bytes_per_member", best.model);
        json_put_number(out, "peak_bytes_per_member", best.peak);
        json_write_end_object(out);
    }
    json_write_end_array(out);
    if (language_folder[0])
        tree_remove(language_folder);
    printf("  (asked: 10^6 in at most 2 s and 1 KB a member)\n");
    return bench_report_end(&report);
}

/* Build a graph in code and run it.
 *
 *     cc run.c $(pkg-config --cflags --libs weft) -o run && ./run
 *
 * Three tasks: two that count words of a text each, one that adds the counts. Run it twice: the
 * second time nothing is computed, because nothing has changed. */
#include <stdio.h>
#include <weft/weft.h>

/* A graph: tasks with commands, and the files that they read and write. The order follows from the
 * files. Mistakes are told once, by weft_builder_finish(). */
static struct weft_workflow *word_count(struct weft_error *error)
{
    struct weft_builder *b = weft_builder_new("words");
    uint32_t sum = weft_builder_task(b, "sum");
    weft_builder_command(b, sum,
                         "cat first.count second.count | awk '{n += $1} END {print n}' >total");
    weft_builder_writes(b, sum, weft_builder_object(b, "total"));

    static const char *const texts[][3] = {
        {"first", "echo to be or not to be | wc -w >first.count", "first.count"},
        {"second", "echo that is the question | wc -w >second.count", "second.count"},
    };
    for (int i = 0; i < 2; i++) {
        uint32_t task = weft_builder_task(b, texts[i][0]);
        uint32_t count = weft_builder_object(b, texts[i][2]);
        weft_builder_command(b, task, texts[i][1]);
        weft_builder_writes(b, task, count);
        weft_builder_reads(b, sum, count);
    }
    return weft_builder_finish(b, error);
}

int main(void)
{
    struct weft_error error;
    struct weft_workflow *flow = word_count(&error);
    if (!flow) {
        fprintf(stderr, "%s\n", error.text);
        return error.status;
    }

    /* The files are in the current folder; what is known about them is kept in ./.weft */
    struct weft_run_options options = WEFT_RUN_OPTIONS_INIT;
    options.cores = 2;
    struct weft_run *run = weft_run_open_workflow(flow, &options, &error);
    weft_workflow_free(flow); /* the run has a copy */

    /* Before it starts: what would run, and how long would it take? */
    struct weft_forecast ahead;
    if (run && weft_run_forecast(run, &ahead, &error))
        printf("%u of %u tasks must run\n", ahead.to_run, ahead.tasks);

    /* From beginning to end. Something that fails is told by the error and, task by task, by the
     * result. */
    bool good = run && weft_run_start(run, &error) && weft_run_wait(run, &error);
    const struct weft_result *result = run ? weft_run_result(run) : NULL;
    if (result)
        printf("%u done, %u reused, %u failed\n", result->done, result->reused, result->failed);
    for (size_t i = 0; result && i < result->nfailures; i++)
        fprintf(stderr, "%s: %s\n", result->failures[i].name,
                result->failures[i].text ? result->failures[i].text : "failed");
    if (!good)
        fprintf(stderr, "%s\n", error.text);
    weft_run_close(run);
    return good ? 0 : 1;
}

/* A libFuzzer target over the plan file and the checker: a plan that reads is judged, whatever it
 * says. */
#include "formats/format.h"
#include "model/builder.h"
#include "model/check.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* t1 -> t2, t3 -> t4 and nodes fat1 .. fat3: names that the example in docs/formats/platform.md uses. */
static struct workflow *small_workflow(void)
{
    struct builder *b = builder_new("<fuzz>", "fuzz");
    for (char c = '1'; c < '5'; c++)
        builder_work(b, builder_task(b, (char[]){'t', c}, 2, 0), c - '0', 0);
    builder_data_edge(b, 0, 1, 3, 0);
    builder_data_edge(b, 0, 2, 4, 0);
    builder_data_edge(b, 1, 3, 5, 0);
    builder_edge(b, 2, 3, 0);
    return builder_finish(b, NULL);
}

static struct platform *small_platform(void)
{
    struct platform_builder *b = platform_builder_new("<fuzz>");
    platform_builder_network(b, 2, 0.5, 1, 0);
    for (char c = '1'; c < '4'; c++)
        platform_builder_node(b, (char[]){'f', 'a', 't', c}, 4, 0);
    return platform_builder_finish(b, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct workflow *w;
    static struct platform *p;
    if (!w) {
        w = small_workflow();
        p = small_platform();
    }
    int fd = memfd_create("plan", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) != 0)
        abort();
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct error err = {0};
    struct plan_file *f = plan_file_open(path, &err);
    struct plan *plan = f ? plan_file_read(f, w, p, &err) : NULL;
    if (!plan && (err.kind == ERROR_NONE || !err.text[0]))
        abort();
    if (plan) {
        struct check_result result;
        check_plan(plan, w, p, &result, &err);
        check_result_free(&result);
        struct strbuf out = {0};
        plan_json_write(plan, w, p, &out);
        strbuf_free(&out);
    }
    plan_free(plan);
    plan_file_close(f);
    close(fd);
    return 0;
}

#include "report/page.h"
#include "report/record_sample_test.h"
#include "report/wellformed_test.h"
#include "tap.h"

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
        n++;
    return n;
}

/* One well-formed element after the document type, and nothing that the page would fetch or run. */
static void is_page(const struct strbuf *out, const char *what)
{
    const char *text = strbuf_text(out), *root = strstr(text, "<html");
    is_int(strncmp(text, "<!DOCTYPE html>\n<html", 21), 0, "%s: an HTML document", what);
    ok(root && wellformed(root), "%s: well-formed", what);
    size_t spaces = count(text, "xmlns=\"http://www.w3.org/2000/svg\"");
    is_int(count(text, "http:") - spaces, 0, "%s: no address", what);
    is_int(count(text, "https:") + count(text, "<script") + count(text, "<link") +
               count(text, "<img") + count(text, "@import") + count(text, " src=\"") +
               count(text, "<iframe") + count(text, "<object"),
           0, "%s: nothing from elsewhere", what);
}

static void test_usual(void)
{
    struct run_record r;
    struct strbuf out = {0}, again = {0};
    sample_record(&r, NULL);
    report_page(&r, &out);
    is_page(&out, "a run");
    const char *text = strbuf_text(&out);
    has_str(text, "<title>edges: failed</title>", "its name and outcome");
    has_str(text, "Run 12 · <time>14 November 2023, 22:13:20 UTC</time> on engine (2 cores)",
            "when and where");
    has_str(text, "predicted 16 s (+25\u00a0%)", "the prediction beside the real time");
    has_str(text, "exit status 127: command not found", "the failure in words");
    has_str(text, "<title>detect: 5.5 s, from 7.1 s, 500 MB of memory</title>",
            "the timeline tells about a task");
    has_str(text, "<title>publish: 2.5 s, from 17.5 s, 700 MB of memory, attempt 2, failed</title>",
            "and about a failed attempt");
    has_str(text, ">failed (1)</text>", "the graph shows what failed");
    has_str(text, ">reused (1)</text>", "and what was reused");
    has_str(text, "The chain that decided when the run ended: 4 tasks, 15 s running, 500 ms",
            "the critical path that really happened");
    has_str(text, "<td class=\"name\"><code>edges.pgm</code></td><td class=\"name\">merge</td>",
            "files and who made them");
    for (const char *id =
             "failures\0timeline\0load\0path\0kinds\0slowest\0predictions\0graph\0files\0";
         *id; id += strlen(id) + 1) {
        char link[64], target[64];
        snprintf(link, sizeof link, "href=\"#%s\"", id);
        snprintf(target, sizeof target, "<section id=\"%s\"", id);
        ok(count(text, link) == 1 && count(text, target) == 1, "section %s is there and linked",
           id);
    }
    report_page(&r, &again);
    is_str(strbuf_text(&again), text, "the same record gives the same page");
    strbuf_free(&out);
    strbuf_free(&again);
    record_free(&r);
}

/* Names that would be markup, and bytes that are no text. */
static void test_hostile(void)
{
    static const char *const names[] = {"<script>alert(1)</script>",
                                        "\"><img src=x onerror=alert(1)>",
                                        "a&b;&lt;",
                                        "</style></svg></title>",
                                        "' onload='x",
                                        "]]>--><!-- ${x} %s %n",
                                        "\033[2J\xff\xfe\t\n\x7f"};
    struct run_record r;
    struct strbuf out = {0};
    sample_record(&r, names);
    free(r.host);
    free(r.folder);
    free(r.file);
    free(r.files.at[0].path);
    r.host = mem_copy_string(names[0]);
    r.folder = mem_copy_string(names[1]);
    r.file = mem_copy_string(names[3]);
    r.planner = mem_copy_string(names[5]);
    r.files.at[0].path = mem_copy_string(names[1]);
    report_page(&r, &out);
    is_page(&out, "hostile names");
    has_str(strbuf_text(&out), "&lt;script&gt;alert(1)&lt;/script&gt;", "shown as they are");
    strbuf_free(&out);
    record_free(&r);
}

static void test_little(void)
{
    struct strbuf out = {0};
    struct run_record nothing = {.seconds = NAN,
                                 .predicted_seconds = NAN,
                                 .predicted_memory = NAN,
                                 .predicted_disk = NAN,
                                 .peak_memory = NAN,
                                 .peak_disk = NAN};
    report_page(&nothing, &out);
    is_page(&out, "an empty record");
    has_str(strbuf_text(&out), "Nothing was predicted for this run", "says what is not known");
    strbuf_clear(&out);

    /* No workflow any more, odd events. */
    struct run_record r = nothing;
    sample_attempt(&r, 0, 0, 0, 1, TRACE_DONE, 0, 1);
    sample_attempt(&r, 1, 70000, 1, 3, TRACE_MEMORY, 137, 1);
    sample_attempt(&r, 2, 1, NAN, 3, TRACE_DONE, 0, 1);
    sample_attempt(&r, 3, 1, 3, 2, TRACE_DONE, 0, 1);
    sample_attempt(&r, 4, 1, 3, INFINITY, TRACE_DONE, 0, 1);
    sample_attempt(&r, 5, 1, 0, 0, TRACE_DONE, 0, 1);
    sample_attempt(&r, 4294967295u, 4294967295u, 0, 1, 77, -1, 1);
    r.events.at[0].node = 4294967295u;
    report_page(&r, &out);
    is_page(&out, "events of tasks that nobody knows");
    has_str(strbuf_text(&out), "task 1", "tasks by number");
    array_free(&r.events);
    strbuf_clear(&out);

    sample_record(&r, NULL);
    r.seconds = NAN;
    r.outcome = RECORD_RUNNING;
    r.cores = 0;
    r.events.n = 1;
    report_page(&r, &out);
    is_page(&out, "a run that has only just begun");
    strbuf_free(&out);
    record_free(&r);
}

/* The page of a large run stays small: what it shows is bounded by what can be seen. */
static void test_large(void)
{
    enum { TASKS = 60000, LANES = 32 };
    struct builder *b = builder_new("large", "native");
    struct error err = {0};
    char name[64];
    for (uint32_t t = 0; t < TASKS; t++) {
        snprintf(name, sizeof name, "a-task-with-a-rather-long-name-%u", t);
        sample_task(b, name, t % 3 ? "work" : "think");
        if (t >= LANES)
            sample_edge(b, t - LANES, t);
    }
    struct run_record r = {.name = mem_copy_string("large"),
                           .tasks = TASKS,
                           .ran = TASKS,
                           .cores = LANES,
                           .seconds = TASKS / LANES + 1,
                           .outcome = RECORD_DONE,
                           .workflow = builder_finish(b, &err)};
    for (uint32_t t = 0; t < TASKS; t++) {
        sample_attempt(&r, t, t % LANES, t / LANES, t / LANES + 0.4 + 0.5 * (t % 7) / 7,
                       t % 1000 == 999 ? TRACE_FAILED : TRACE_DONE, 1, 1);
        array_push(&r.events, (struct trace_event){.kind = TRACE_COUNTER,
                                                   .id = COUNTER_MEMORY,
                                                   .start = t / LANES,
                                                   .amount = 1e6 * (t % 100)});
        snprintf(name, sizeof name, "results/%u.txt", t);
        array_push(&r.files,
                   (struct record_file){
                       .task = t, .path = mem_copy_string(name), .size = 1000, .produced = true});
    }
    struct strbuf out = {0};
    report_page(&r, &out);
    is_page(&out, "60,000 tasks");
    ok(out.n < 4 << 20, "in less than 4 MB");
    has_str(strbuf_text(&out), "and 59,800 more files", "tables say how much more there is");
    printf("# %zu bytes\n", out.n);
    strbuf_free(&out);
    record_free(&r);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_usual),
        TAP_CASE(test_hostile),
        TAP_CASE(test_little),
        TAP_CASE(test_large),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}

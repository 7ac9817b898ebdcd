#include "report/event_json.h"
#include "report/live_display.h"
#include "model/builder.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct workflow *chain(uint32_t n)
{
    struct builder *b = builder_new("chain.yaml", "native");
    struct error err = {0};
    char name[32];
    builder_name(b, "chain", 5);
    for (uint32_t t = 0; t < n; t++) {
        snprintf(name, sizeof name, "t%u", t);
        builder_task(b, name, strlen(name), 0);
        builder_kind(b, t, t % 2 ? "odd" : "even", t % 2 ? 3 : 4);
        if (t)
            builder_edge(b, t - 1, t, 0);
    }
    return builder_finish(b, &err);
}

static void give(struct trace_sink sink, enum trace_kind kind, uint32_t task, double start,
                 double finish, int outcome)
{
    sink.event(sink.context, &(struct trace_event){.kind = kind,
                                                   .id = task,
                                                   .start = start,
                                                   .finish = finish,
                                                   .outcome = outcome,
                                                   .status = outcome ? 1 : 0,
                                                   .attempt = 1});
}

/* Standard error goes to `fd` until release(). */
static int divert(int fd)
{
    int saved = dup(STDERR_FILENO);
    dup2(fd, STDERR_FILENO);
    return saved;
}

static void release(int saved)
{
    dup2(saved, STDERR_FILENO);
    close(saved);
}

static void read_all(int fd, char *out, size_t size)
{
    size_t n = 0;
    for (ssize_t got; n + 1 < size && (got = read(fd, out + n, size - 1 - n)) > 0;)
        n += (size_t)got;
    out[n] = 0;
}

static void test_piped(void)
{
    struct workflow *w = chain(10);
    int pipes[2];
    if (pipe(pipes) != 0) {
        tap_skip("a display into a pipe", "no pipe");
        workflow_free(w);
        return;
    }
    struct live_display *d =
        live_display_new(&(struct live_display_options){.workflow = w, .cores = 2, .memory = 1e9});
    struct trace_sink sink = live_display_sink(d);
    int saved = divert(pipes[1]);
    give(sink, TRACE_REUSED, 0, 0, 0, 0);
    give(sink, TRACE_REUSED, 0, 0, 0, 0); /* told twice, counted once */
    give(sink, TRACE_BEGIN, 1, 0, 0, 0);
    give(sink, TRACE_BEGIN, 2, 0.1, 0, 0);
    give(sink, TRACE_TASK, 1, 0, 0.2, TRACE_DONE);
    give(sink, TRACE_TASK, 2, 0.1, 0.2, TRACE_FAILED);
    give(sink, TRACE_BEGIN, 2, 0.3, 0, 0); /* again */
    give(sink, TRACE_BEGIN, 3, 0.4, 0, 0);
    give(sink, TRACE_TASK, 3, 0.4, 0.5, TRACE_CANCELLED);
    give(sink, TRACE_TASK, 4, 0.4, 0.5, TRACE_DONE); /* without a beginning */
    give(sink, TRACE_BEGIN, 99, 0, 0, 0);            /* no such task */
    sink.event(sink.context,
               &(struct trace_event){.kind = TRACE_COUNTER, .id = COUNTER_READY, .amount = 3});
    sink.event(sink.context,
               &(struct trace_event){.kind = TRACE_COUNTER, .id = COUNTER_MEMORY, .amount = 5e8});
    live_display_stopping(d); /* a line at once */
    live_display_say(d, "a word \033[2J to the user");
    live_display_free(d);
    release(saved);
    close(pipes[1]);
    char text[4096];
    read_all(pipes[0], text, sizeof text);
    close(pipes[0]);
    is_str(text,
           "weft: task t2: exit status 1\n"
           "weft: chain: 3 of 10 done (30 %), 1 running, 3 ready, 1 reused, 500 MB of memory, 0.0 "
           "s, stopping\n"
           "weft: a word ?[2J to the user\n",
           "into a pipe: failures at once, counts, what the user must know");
    workflow_free(w);
}

static void test_quiet(void)
{
    struct workflow *w = chain(3);
    FILE *file = tmpfile();
    if (!file) {
        tap_skip("a quiet display", "no temporary file");
        workflow_free(w);
        return;
    }
    int saved = divert(fileno(file));
    struct live_display *d =
        live_display_new(&(struct live_display_options){.workflow = w, .cores = 1, .quiet = true});
    struct trace_sink sink = live_display_sink(d);
    for (uint32_t t = 0; t < 3; t++)
        give(sink, TRACE_TASK, t, 0, 1, TRACE_FAILED);
    live_display_stopping(d);
    live_display_hide(d);
    live_display_free(d);
    release(saved);
    is_int(lseek(fileno(file), 0, SEEK_END), 0, "quiet says nothing");
    fclose(file);
    workflow_free(w);
}

static void test_terminal(void)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY), slave = -1;
    const char *name;
    if (master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0 && (name = ptsname(master)))
        slave = open(name, O_RDWR | O_NOCTTY);
    if (slave < 0) {
        tap_skip("a display on a terminal", "no pseudo-terminal");
        return;
    }
    struct winsize size = {.ws_row = 10, .ws_col = 60};
    ioctl(slave, TIOCSWINSZ, &size);
    fcntl(master, F_SETFL, O_NONBLOCK);
    setenv("TERM", "xterm", 1);
    setenv("NO_COLOR", "1", 1);
    struct workflow *w = chain(4);
    int saved = divert(slave);
    struct live_display *d = live_display_new(
        &(struct live_display_options){.workflow = w, .cores = 2, .memory = INFINITY});
    struct trace_sink sink = live_display_sink(d);
    give(sink, TRACE_TASK, 0, 0, 0.1, TRACE_DONE);
    give(sink, TRACE_BEGIN, 1, 0.1, 0, 0);
    live_display_tick(d); /* too early: nothing for what is over in a blink */
    char text[8192];
    read_all(master, text, sizeof text);
    is_str(text, "", "nothing at first");
    usleep(320000);
    live_display_tick(d);
    live_display_tick(d); /* too soon after the last */
    read_all(master, text, sizeof text);
    ok(strncmp(text, "\033[?25l", 6) == 0, "hides the cursor");
    has_str(text, "  25 %  1 of 4\033[K\r\n1 running, 2 waiting, 0 failed\033[K\r\n", "the counts");
    has_str(text, "s  t1\033[K\r\n\033[J", "the running task is the last line");
    ok(!strstr(text, "A"), "the first time, nothing is overwritten");
    size.ws_col = 20; /* narrower: every line of the old picture but the shortest takes two */
    ioctl(slave, TIOCSWINSZ, &size);
    usleep(110000);
    live_display_tick(d);
    read_all(master, text, sizeof text);
    has_str(text, "\r\033[7A", "redraws in place, lines that wrapped counted");
    live_display_say(d, "hello");
    read_all(master, text, sizeof text);
    has_str(text, "\033[Jweft: hello\r\n", "a line of its own above the display");
    live_display_free(d);
    read_all(master, text, sizeof text);
    has_str(text, "\033[J\033[?25h", "vanishes and gives the cursor back");
    release(saved);
    close(slave);
    close(master);
    workflow_free(w);
}

/* What an event costs: told, not judged. */
static void test_cost(void)
{
    enum { N = 200000 };
    struct workflow *w = chain(N);
    struct live_display *d =
        live_display_new(&(struct live_display_options){.workflow = w, .cores = 2, .quiet = true});
    struct trace_sink sink = live_display_sink(d);
    double start = clock_seconds();
    for (uint32_t t = 0; t < N; t++) {
        give(sink, TRACE_BEGIN, t, t * 1e-6, 0, 0);
        give(sink, TRACE_TASK, t, t * 1e-6, t * 1e-6 + 1e-6, TRACE_DONE);
    }
    printf("# %.0f ns a task\n", (clock_seconds() - start) / N * 1e9);
    live_display_free(d);
    workflow_free(w);
}

static void test_events(void)
{
    struct workflow *w = chain(2);
    FILE *file = tmpfile();
    if (!file) {
        tap_skip("events as JSON", "no temporary file");
        workflow_free(w);
        return;
    }
    struct event_json *e = event_json_new(file, w);
    struct run_record r = {.run = 3,
                           .name = (char *)"chain \"x\"",
                           .file = (char *)"chain.yaml",
                           .started = 1700000000,
                           .cores = 2,
                           .memory = 1e9,
                           .tasks = 2,
                           .predicted_seconds = 4,
                           .predicted_memory = NAN,
                           .predicted_disk = NAN,
                           .peak_memory = 5e6,
                           .peak_disk = NAN};
    event_json_started(e, &r);
    struct trace_sink sink = event_json_sink(e);
    give(sink, TRACE_REUSED, 0, 0, 0, 0);
    give(sink, TRACE_BEGIN, 1, 0.5, 0, 0);
    is_int(ftell(file) > 0, 1, "the first line is out before anything ends");
    give(sink, TRACE_TASK, 1, 0.5, 2, TRACE_FAILED);
    give(sink, TRACE_TASK, 7, 0.5, 2, TRACE_FAILED); /* no such task */
    sink.file(
        sink.context,
        &(struct trace_file){
            .task = 1, .path = "out \n.txt", .size = 12, .produced = true, .digest = {{0xab}}});
    r.outcome = RECORD_FAILED;
    r.seconds = 2.5;
    r.reused = r.failed = 1;
    event_json_done(e, &r);
    ok(event_json_free(e), "all of it was written");
    rewind(file);
    static const char *const want[] = {
        "{\"schema\":\"weft-event/1\",\"event\":\"started\",\"run\":3,"
        "\"workflow\":\"chain \\\"x\\\"\",\"file\":\"chain.yaml\",\"folder\":null,"
        "\"host\":null,\"planner\":null,\"given\":null,\"started\":1700000000,\"tasks\":2,"
        "\"cores\":2,"
        "\"memory\":1000000000,\"predicted_seconds\":4,\"predicted_memory\":null,"
        "\"predicted_disk\":null}\n",
        "{\"event\":\"reused\",\"time\":0,\"task\":\"t0\",\"kind\":\"even\"}\n",
        "{\"event\":\"begin\",\"time\":0.5,\"task\":\"t1\",\"kind\":\"odd\",\"attempt\":1,"
        "\"core\":0}\n",
        "{\"event\":\"task\",\"time\":2,\"task\":\"t1\",\"kind\":\"odd\","
        "\"outcome\":\"failed\",\"status\":1,\"attempt\":1,\"core\":0,\"start\":0.5,"
        "\"seconds\":1.5,\"cpu\":0,\"memory\":0,\"read\":0,\"written\":0}\n",
        "{\"event\":\"file\",\"path\":\"out \\n.txt\",\"task\":\"t1\",\"size\":12,"
        "\"made\":true,\"digest\":\"ab0000000000000000000000000000000000000000000000000000000"
        "0000000\"}\n",
        "{\"event\":\"done\",\"run\":3,\"outcome\":\"failed\",\"seconds\":2.5,\"tasks\":2,"
        "\"ran\":0,\"reused\":1,\"failed\":1,\"skipped\":0,\"untaken\":0,\"excused\":0,\"peak_"
        "memory\":5000000,"
        "\"peak_disk\":null,\"predicted_seconds\":4,\"predicted_memory\":null,"
        "\"predicted_disk\":null}\n",
    };
    char line[2048];
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        is_str(fgets(line, sizeof line, file), want[i], "line %zu", i + 1);
    ok(!fgets(line, sizeof line, file), "and no more");
    fclose(file);

    file = fopen("/dev/full", "w");
    if (!file) {
        tap_skip("a full disk", "no /dev/full");
    } else {
        e = event_json_new(file, w);
        event_json_started(e, &r);
        ok(!event_json_free(e), "a full disk is noticed");
        fclose(file);
    }
    workflow_free(w);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_piped), TAP_CASE(test_quiet),  TAP_CASE(test_terminal),
        TAP_CASE(test_cost),  TAP_CASE(test_events),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}

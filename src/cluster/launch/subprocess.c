/* A program beside the loop (subprocess.h).
 *
 * Invariants:
 *   I1. `ended` is called once, from the loop, unless it was abandoned; then nothing is called.
 *   I2. The program's end is told when both pipes have ended as well, or LAST_WORDS later.
 *   I3. Memory is freed when the last of its handles is closed: `open` counts them.
 *   I4. What is kept of its output is bounded: one line, and the end of stderr. */
#include "cluster/launch/subprocess.h"

#include "base/mem.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    KEPT = 4096,          /* of stderr */
    KILL_AFTER_MS = 2000, /* from SIGTERM to SIGKILL */
    LINE_MAX_SIZE = 65536 /* of stdout: the rest of a longer line is not kept */
};

/* Somebody it left behind may hold its pipes: they are not waited for longer than this. */
static const double LAST_WORDS = 1;

struct subprocess {
    struct subprocess_config config;
    uv_process_t process;
    uv_pipe_t in, out, err;
    uv_timer_t timer;
    uv_write_t write;
    char *input;
    size_t ninput;
    struct strbuf line, said;
    char chunk[4096];
    int status;
    unsigned open;    /* handles that were made and are not closed yet */
    unsigned streams; /* of out and err, those that have not ended */
    bool running, dropped, told, killed;
};

/* It is the key, most of the time. */
static void subprocess_wipe_input(struct subprocess *e)
{
    if (e->input)
        explicit_bzero(e->input, e->ninput);
    free(e->input);
    e->input = NULL;
}

static void subprocess_handle_closed(uv_handle_t *handle)
{
    struct subprocess *e = handle->data;
    if (--e->open > 0)
        return;
    subprocess_wipe_input(e);
    strbuf_free(&e->line);
    strbuf_free(&e->said);
    free(e);
}

/* A handle without data was never made. */
static void subprocess_close_one(uv_handle_t *handle)
{
    if (handle->data && !uv_is_closing(handle))
        uv_close(handle, subprocess_handle_closed);
}

static void subprocess_close_all(struct subprocess *e)
{
    subprocess_close_one((uv_handle_t *)&e->process);
    subprocess_close_one((uv_handle_t *)&e->in);
    subprocess_close_one((uv_handle_t *)&e->out);
    subprocess_close_one((uv_handle_t *)&e->err);
    subprocess_close_one((uv_handle_t *)&e->timer);
}

/* The last line may have no end. `line` may abandon us: then `ended` is not called. */
static void subprocess_report_end(struct subprocess *e)
{
    if (e->told)
        return;
    e->told = true;
    if (!e->dropped) {
        if (e->line.n && e->config.line)
            e->config.line(e->config.context, strbuf_text(&e->line));
        while (e->said.n && strchr(" \t\r\n", e->said.at[e->said.n - 1]))
            e->said.at[--e->said.n] = 0;
        if (!e->dropped) /* by the line */
            e->config.ended(e->config.context, e->status, strbuf_text(&e->said));
    }
    subprocess_close_all(e);
}

/* First SIGTERM, two seconds later SIGKILL. After the end: its pipes were held by somebody else for
 * long enough. */
static void subprocess_timeout(uv_timer_t *timer)
{
    struct subprocess *e = timer->data;
    if (!e->running) {
        subprocess_report_end(e);
        return;
    }
    uv_process_kill(&e->process, e->killed ? SIGKILL : SIGTERM);
    e->killed = true;
    uv_timer_start(timer, subprocess_timeout, KILL_AFTER_MS, 0);
}

/* It is over when it has exited and said everything; who inherited its pipes may keep them open
 * (I2). */
static void subprocess_end_if_over(struct subprocess *e)
{
    if (e->running)
        return;
    if (e->streams == 0)
        subprocess_report_end(e);
    else
        uv_timer_start(&e->timer, subprocess_timeout, (uint64_t)(LAST_WORDS * 1000), 0);
}

/* A program that was ended by us and said nothing gets a reason. */
static void subprocess_exited(uv_process_t *process, int64_t status, int signal)
{
    struct subprocess *e = process->data;
    e->running = false;
    e->status = signal ? 128 + signal : (int)status;
    if (e->killed && e->config.limit > 0 && e->said.n == 0)
        strbuf_printf(&e->said, "no answer in %g s", e->config.limit);
    subprocess_end_if_over(e);
}

/* A longer line than LINE_MAX_SIZE is cut, so that nobody can fill our memory. */
static void subprocess_take_lines(struct subprocess *e, const char *at, size_t n)
{
    for (size_t i = 0; i < n && !e->dropped; i++) {
        if (at[i] == '\n') {
            if (e->config.line)
                e->config.line(e->config.context, strbuf_text(&e->line));
            strbuf_clear(&e->line);
        } else if (e->line.n < LINE_MAX_SIZE && at[i] != '\r' && at[i] != 0) {
            strbuf_add_char(&e->line, at[i]);
        }
    }
}

static void subprocess_take_stderr(struct subprocess *e, const char *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        strbuf_add_char(&e->said, at[i] ? at[i] : '?');
    if (e->said.n > KEPT) { /* the end is the interesting part */
        size_t cut = e->said.n - KEPT;
        memmove(e->said.at, e->said.at + cut, KEPT + 1);
        e->said.n = KEPT;
    }
}

static void subprocess_give_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    (void)suggested;
    struct subprocess *e = handle->data;
    *buffer = uv_buf_init(e->chunk, sizeof e->chunk); /* one read at a time: taken at once */
}

/* The callback of both pipes. */
static void subprocess_output(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer)
{
    struct subprocess *e = stream->data;
    if (n > 0 && stream == (uv_stream_t *)&e->out)
        subprocess_take_lines(e, buffer->base, (size_t)n);
    else if (n > 0)
        subprocess_take_stderr(e, buffer->base, (size_t)n);
    if (n >= 0 || e->told)
        return;
    uv_read_stop(stream);
    e->streams--;
    subprocess_end_if_over(e);
}

static void subprocess_input_written(uv_write_t *request, int status)
{
    (void)status; /* who did not want to read has ended, which is told */
    struct subprocess *e = request->data;
    subprocess_wipe_input(e);
    subprocess_close_one((uv_handle_t *)&e->in);
}

/* As if it had run and ended: callers have one path for both. */
static void subprocess_not_started(uv_timer_t *timer)
{
    subprocess_report_end(timer->data);
}

static void subprocess_make_pipe(struct subprocess *e, uv_pipe_t *pipe)
{
    uv_pipe_init(e->config.loop, pipe, 0);
    pipe->data = e;
    e->open++;
}

/* Where the program's three streams go. The file's descriptor, to be closed once it has been handed
 * on; -1: none. `*bad`: an error of libuv's kind. */
static int subprocess_set_up_streams(struct subprocess *e, uv_stdio_container_t stdio[3], int *bad)
{
    const struct subprocess_config *config = &e->config;
    for (int i = 0; i < 3; i++)
        stdio[i].flags = UV_IGNORE;
    if (config->input) {
        subprocess_make_pipe(e, &e->in);
        stdio[0].flags = UV_CREATE_PIPE | UV_READABLE_PIPE;
        stdio[0].data.stream = (uv_stream_t *)&e->in;
    }
    if (config->output) {
        int file = open(config->output, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        *bad = file < 0 ? -errno : 0;
        for (int i = 1; i <= 2; i++) {
            stdio[i].flags = UV_INHERIT_FD;
            stdio[i].data.fd = file;
        }
        return file;
    }
    uv_pipe_t *pipes[2] = {&e->out, &e->err};
    for (int i = 0; i < 2; i++) {
        subprocess_make_pipe(e, pipes[i]);
        stdio[i + 1].flags = UV_CREATE_PIPE | UV_WRITABLE_PIPE;
        stdio[i + 1].data.stream = (uv_stream_t *)pipes[i];
    }
    return -1;
}

/* It runs: give it its text, read what it says, end it in time. */
static void subprocess_begin(struct subprocess *e)
{
    const struct subprocess_config *config = &e->config;
    e->running = true;
    if (!config->output) {
        e->streams = 2;
        uv_read_start((uv_stream_t *)&e->out, subprocess_give_room, subprocess_output);
        uv_read_start((uv_stream_t *)&e->err, subprocess_give_room, subprocess_output);
    }
    if (config->input) {
        e->ninput = strlen(config->input);
        e->input = mem_copy_bytes(config->input, e->ninput);
        e->write.data = e;
        uv_buf_t buffer = uv_buf_init(e->input, (unsigned)e->ninput);
        if (uv_write(&e->write, (uv_stream_t *)&e->in, &buffer, 1, subprocess_input_written) != 0) {
            subprocess_wipe_input(e);
            subprocess_close_one((uv_handle_t *)&e->in);
        }
    }
    if (config->limit > 0)
        uv_timer_start(&e->timer, subprocess_timeout, (uint64_t)(config->limit * 1000), 0);
}

struct subprocess *subprocess_start(const struct subprocess_config *config)
{
    struct subprocess *e = mem_new_zero(struct subprocess, 1);
    e->config = *config;
    uv_timer_init(config->loop, &e->timer);
    e->timer.data = e;
    e->open = 1;

    uv_stdio_container_t stdio[3];
    int bad = 0, file = subprocess_set_up_streams(e, stdio, &bad);
    uv_process_options_t options = {
        .exit_cb = subprocess_exited,
        .file = config->arguments[0],
        .args = (char **)config->arguments,
        .stdio = stdio,
        .stdio_count = 3,
        .flags = config->stays ? UV_PROCESS_DETACHED : 0,
    };
    if (bad == 0) {
        e->process.data = e; /* uv_spawn makes the handle also when it fails */
        e->open++;
        bad = uv_spawn(config->loop, &e->process, &options);
    }
    if (file >= 0)
        close(file);
    if (bad == 0) {
        subprocess_begin(e);
        return e;
    }
    /* told from the loop, as any other end */
    e->status = bad == UV_ENOENT ? 127 : 126;
    strbuf_printf(&e->said, "%s: %s", config->arguments[0],
                  bad == UV_ENOENT ? "no such program in PATH" : uv_strerror(bad));
    uv_timer_start(&e->timer, subprocess_not_started, 0, 0);
    return e;
}

void subprocess_signal(struct subprocess *e, int signal)
{
    if (e->running)
        uv_process_kill(&e->process, signal);
}

/* The handles close in the loop's next turns; the memory goes with them. */
void subprocess_abandon(struct subprocess *e)
{
    if (!e || e->dropped)
        return;
    e->dropped = true;
    if (e->running && !e->config.stays)
        uv_process_kill(&e->process, SIGTERM);
    e->told = true;
    subprocess_close_all(e);
}

/* Follow a run in an event loop of one's own.
 *
 *     cc events.c $(pkg-config --cflags --libs weft) -o events && ./events
 *
 * weft_run_fd() is one descriptor for all that a run waits for: children, pipes, timers. It goes
 * into any poll, select or epoll loop; when it is readable, weft_run_step() does what is due. Here a
 * timer of the program's own ticks in the same loop. */
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <weft/weft.h>

/* What happens as it happens; called from within weft_run_start(), _step() and _wait(). */
static void on_event(void *context, const struct weft_event *event)
{
    (void)context;
    if (event->kind == WEFT_EVENT_BEGUN)
        printf("%.2f s: %s begins%s\n", event->time, event->name,
               event->attempt > 1 ? " again" : "");
    else if (event->kind == WEFT_EVENT_ENDED)
        printf("%.2f s: %s ends after %.2f s with status %d\n", event->time, event->name,
               event->seconds, event->status);
    else if (event->kind == WEFT_EVENT_REMARK)
        printf("weft says: %s\n", event->text);
}

/* A chain of three tasks that take a moment each. */
static struct weft_run *open_run(struct weft_error *error)
{
    struct weft_builder *b = weft_builder_new("steps");
    static const char *const names[] = {"one", "two", "three"};
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t task = weft_builder_task(b, names[i]);
        weft_builder_command(b, task, "sleep 0.2");
        if (i)
            weft_builder_order(b, task - 1, task);
    }
    struct weft_workflow *flow = weft_builder_finish(b, error);
    if (!flow)
        return NULL;
    struct weft_run_options options = WEFT_RUN_OPTIONS_INIT;
    options.event = on_event;
    options.force = true; /* run everything, done or not: this is about watching */
    struct weft_run *run = weft_run_open_workflow(flow, &options, error);
    weft_workflow_free(flow);
    return run;
}

int main(void)
{
    struct weft_error error;
    struct weft_run *run = open_run(&error);
    if (!run || !weft_run_start(run, &error)) {
        fprintf(stderr, "%s\n", error.text);
        weft_run_close(run);
        return 1;
    }

    /* The loop of the program: its own timer, and the run. */
    int loop = epoll_create1(EPOLL_CLOEXEC), timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    struct itimerspec each = {.it_interval.tv_nsec = 250000000, .it_value.tv_nsec = 250000000};
    timerfd_settime(timer, 0, &each, NULL);
    int watched[] = {timer, weft_run_fd(run)};
    for (int i = 0; i < 2; i++)
        epoll_ctl(loop, EPOLL_CTL_ADD, watched[i],
                  &(struct epoll_event){.events = EPOLLIN, .data.fd = watched[i]});

    bool going = true;
    while (going) {
        struct epoll_event ready[2];
        int n = epoll_wait(loop, ready, 2, -1);
        for (int i = 0; i < n; i++) {
            if (ready[i].data.fd == timer) {
                uint64_t ticks;
                if (read(timer, &ticks, sizeof ticks) == sizeof ticks)
                    printf("the program does something else\n");
            } else {
                going = weft_run_step(run, 0, &error); /* never blocks */
            }
        }
    }

    /* It is over: complete the result. This does not wait any more. */
    bool good = weft_run_wait(run, &error);
    printf("%u tasks done in %.1f s\n", weft_run_result(run)->done, weft_run_result(run)->seconds);
    weft_run_close(run);
    close(timer);
    close(loop);
    return good ? 0 : 1;
}

#include "report/human.h"
#include "report/live.h"
#include "tap.h"

static const struct live_task longest[] = {{"align_17", 62.4}, {"sort \033[2J", 5.04}};

static struct live_state usual(void)
{
    return (struct live_state){.name = "genome",
                               .total = 10000,
                               .done = 4460,
                               .running = 2,
                               .ready = 120,
                               .failed = 3,
                               .reused = 40,
                               .seconds = 83.2,
                               .rate = 12.43,
                               .busy = 0.92,
                               .cores = 2,
                               .left = 131,
                               .memory = 1.2e9,
                               .available = 4e9,
                               .longest = longest,
                               .nlongest = 2};
}

static void is_lines(const struct live_state *s, struct live_style style, size_t lines,
                     const char *want, const char *what)
{
    struct strbuf out = {0};
    is_int(live_lines(s, &style, &out), lines, "%s: lines", what);
    is_str(strbuf_text(&out), want, "%s", what);
    strbuf_free(&out);
}

/* No line is wider than the terminal, escape codes not counted. */
static bool all_within(const char *text, unsigned columns)
{
    while (*text) {
        char line[4096];
        size_t n = 0;
        for (; *text && *text != '\n'; text++) {
            if (*text == '\033')
                while (*text != 'm')
                    text++;
            else
                line[n++] = *text;
        }
        line[n] = 0;
        if (human_width(line) > columns) {
            printf("# %zu columns: %s\n", human_width(line), line);
            return false;
        }
        text += *text == '\n';
    }
    return true;
}

int main(void)
{
    struct live_state s = usual();
    is_lines(&s, (struct live_style){.columns = 80, .rows = 24}, 6,
             "genome  ██████████████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░  45 %  4,500 of 10,000\n"
             "2 running, 120 ready, 5,375 waiting, 3 failed, 40 reused\n"
             "83 s, about 2 min 20 s left, 12 tasks/s\n"
             "cores  ██████████████▋░  92 % of 2   memory  ████▊░░░░░░░░░░░ 1.2 GB of 4 GB\n"
             "         62 s  align_17\n"
             "        5.0 s  sort ?[2J\n",
             "a terminal of 80 columns");
    is_lines(&s, (struct live_style){.columns = 60, .rows = 24, .ascii = true}, 6,
             "genome  #############----------------  45 %  4,500 of 10,000\n"
             "2 running, 120 ready, 5,375 waiting, 3 failed, 40 reused\n"
             "83 s, about 2 min 20 s left, 12 tasks/s\n"
             "cores  #######-  92 % of 2   memory  ##------ 1.2 GB of 4 GB\n"
             "         62 s  align_17\n"
             "        5.0 s  sort ?[2J\n",
             "plain characters, 60 columns");
    is_lines(&s, (struct live_style){.columns = 80, .rows = 4}, 3,
             "genome  ██████████████████████░░░░░░░░░░░░░░░░░░░░░░░░░░░  45 %  4,500 of 10,000\n"
             "2 running, 120 ready, 5,375 waiting, 3 failed, 40 reused\n"
             "83 s, about 2 min 20 s left, 12 tasks/s\n",
             "as many lines as the terminal has room for");
    is_lines(&s, (struct live_style){.columns = 80, .rows = 3, .colour = true}, 2,
             "\033[1mgenome\033[0m  \033[33m██████████████████████\033[0m\033[2m░░░░░░░░░░░░░░░░░░"
             "░░░░░░░░░\033[0m  45 %  4,500 of 10,000\n"
             "2 running\033[2m, \033[0m120 ready\033[2m, \033[0m5,375 waiting\033[2m, "
             "\033[0m\033[31m3 failed\033[0m\033[2m, \033[0m\033[34m40 reused\033[0m\n",
             "in colour");

    struct strbuf out = {0};
    live_plain(&s, &out);
    is_str(strbuf_text(&out),
           "genome: 4,500 of 10,000 done (45 %), 2 running, 120 ready, 3 failed, 40 reused, 12 "
           "tasks/s, 92 % of 2 cores, 1.2 GB of memory, 83 s, about 2 min 20 s left, since 62 s: "
           "align_17\n",
           "one plain line");
    strbuf_clear(&out);

    struct live_state first = {
        .total = 3, .ready = LIVE_UNKNOWN, .rate = NAN, .busy = NAN, .left = NAN, .memory = NAN};
    live_plain(&first, &out);
    is_str(strbuf_text(&out), "0 of 3 done (0 %), 0 running, 0.0 s\n", "before anything is known");
    is_lines(&first, (struct live_style){.columns = 40, .ascii = true}, 3,
             "--------------------------   0 %  0 of 3\n"
             "0 running, 3 waiting, 0 failed\n"
             "0.0 s\n",
             "the same on a terminal");
    first.total = 0;
    first.name = "nothing";
    is_lines(&first, (struct live_style){.columns = 40, .ascii = true}, 3,
             "nothing  ################# 100 %  0 of 0\n"
             "0 running, 0 waiting, 0 failed\n"
             "0.0 s\n",
             "no tasks at all are all done");

    s.total = 10000;
    s.done = 9999;
    s.reused = 0;
    s.failed = 0;
    strbuf_clear(&out);
    live_plain(&s, &out);
    has_str(strbuf_text(&out), "(99 %)", "a hundred percent only when all is done");
    s.stopping = true;
    strbuf_clear(&out);
    live_lines(&s, NULL, &out);
    has_str(strbuf_text(&out), "stopping (Ctrl-C again: now)", "says that it stops");

    /* Rates and times of every size, names of any length, terminals of every width. */
    bool within = true;
    static const double sizes[] = {0, 0.004, 1.26, 9.97, 59.6, 119.7, 4000, 1e6, 1e12};
    for (unsigned columns = 1; columns <= 200; columns += columns < 90 ? 1 : 37)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct live_task wide = {
                "日本語の名前とても長い名前とても長い名前日本語の名前とても長い", 3};
            struct live_state x = usual();
            x.name = i % 2 ? wide.name : "a-rather-long-name-of-a-workflow-that-goes-on-and-on";
            x.seconds = x.rate = x.left = x.memory = sizes[i];
            x.longest = &wide;
            x.nlongest = 1;
            x.stopping = true;
            strbuf_clear(&out);
            live_lines(&x, &(struct live_style){columns, 24, i % 3 == 0, i % 2 == 0}, &out);
            within = within && all_within(strbuf_text(&out), columns);
        }
    ok(within, "no line is wider than the terminal, from 1 column up");
    struct live_state wild = usual();
    wild.busy = 40;
    wild.memory = 1e300;
    wild.left = INFINITY;
    strbuf_clear(&out);
    live_lines(&wild, NULL, &out);
    ok(all_within(strbuf_text(&out), 80), "figures out of all proportion do not break it");
    strbuf_free(&out);
    return tap_done();
}

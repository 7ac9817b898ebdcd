/* Tickets and messages: what is written is read again; what is cut off, changed or made up is
 * refused, and nothing is allocated for a number alone. */
#include "base/mem.h"
#include "base/rng.h"
#include "cluster/wire/protocol.h"
#include "cluster/wire/ticket.h"
#include "tap.h"

static void ticket_test_fill(struct ticket *t)
{
    *t = (struct ticket){.name = mem_copy_string("words"),
                         .host = mem_copy_string("alice"),
                         .folder = mem_copy_string("/home/a/words"),
                         .program = mem_copy_string("0.1.0"),
                         .keep_going = true,
                         .adapt = true,
                         .policy = SCHED_MDL,
                         .t = 0.25,
                         .tt = 30,
                         .retry_first = 0.1,
                         .retry_most = 10,
                         .priority_of_run = -2};
    for (uint32_t i = 0; i < 3; i++) {
        struct ticket_file f = {.object = 7 * i, .bytes = 1e9 + i};
        memset(f.digest.at, (int)i + 1, sizeof f.digest.at);
        array_push(&t->files, f);
        array_push(&t->done, 11 * i);
        array_push(&t->priority, i / 2.0);
    }
    run_environment_add(&t->environment, ALONG_SECRET, "TOKEN", "opensesame");
    run_environment_add(&t->environment, ALONG_PASS, "EMPTY", "");
    strbuf_add(&t->workflow, "weft: 1\ntasks: {}\n");
}

/* Of a copy: what is read gives its memory away. */
static bool ticket_test_read(const struct strbuf *text, size_t n, struct ticket *t,
                             struct error *err)
{
    struct strbuf plain = {0};
    strbuf_add_bytes(&plain, text->at, n);
    bool good = ticket_read(&plain, t, err);
    strbuf_free(&plain);
    return good;
}

static void test_ticket(void)
{
    struct ticket t, back;
    struct strbuf text = {0};
    struct error err = {0};
    ticket_test_fill(&t);
    ticket_put(&t, &text);
    if (ok(ticket_test_read(&text, text.n, &back, &err), "read %s", err.text)) {
        is_str(back.name, "words", "its name");
        is_str(back.folder, "/home/a/words", "its folder");
        ok(back.keep_going && back.adapt && !back.shared && !back.no_sandbox && !back.unlimited,
           "flags");
        ok(back.policy == SCHED_MDL && back.t == 0.25 && back.tt == 30 && back.retry_most == 10 &&
               back.priority_of_run == -2,
           "settings");
        ok(back.files.n == 3 && back.files.at[2].object == 14 &&
               back.files.at[2].bytes == 1e9 + 2 && back.files.at[2].digest.at[31] == 3,
           "files");
        ok(back.done.n == 3 && back.done.at[2] == 22 && back.priority.n == 3 && !back.seconds.n,
           "tasks");
        is_str(run_environment_find(&back.environment, ALONG_SECRET, "TOKEN", 5), "opensesame",
               "a secret");
        is_str(run_environment_find(&back.environment, ALONG_PASS, "EMPTY", 5), "",
               "a variable without a value");
        is_str(back.workflow.at, "weft: 1\ntasks: {}\n", "the workflow");
        ticket_free(&back);
    }
    bool refused = true;
    for (size_t n = 0; n < text.n; n++) {
        error_clear(&err);
        refused &= !ticket_test_read(&text, n, &back, &err) && err.kind == ERROR_FAILED;
    }
    ok(refused, "cut off anywhere: refused");
    strbuf_add_char(&text, 'x');
    ok(!ticket_test_read(&text, text.n, &back, NULL), "something behind it: refused");
    text.at[0] = 9;
    error_clear(&err);
    ok(!ticket_test_read(&text, text.n, &back, &err), "another version");
    has_str(err.text, "another version of weft", "is told as such");
    strbuf_free(&text);
    ticket_free(&t);
}

static void test_noise(void)
{
    struct rng r;
    struct error err = {0};
    struct strbuf text = {0};
    struct ticket t, back;
    uint32_t read = 0;
    ticket_test_fill(&t);
    rng_seed(&r, 7);
    for (int i = 0; i < 20000; i++) {
        strbuf_clear(&text);
        ticket_put(&t, &text);
        for (uint64_t k = 1 + rng_below(&r, 4); k--;)
            text.at[4 + rng_below(&r, text.n - 4)] = (char)rng_below(&r, 256);
        error_clear(&err);
        if (ticket_test_read(&text, text.n, &back, &err)) {
            read++;
            ticket_free(&back);
        }
    }
    ok(read > 0 && read < 20000, "changed bytes: %u of 20000 could be read, the others not", read);
    strbuf_free(&text);
    ticket_free(&t);
}

static void test_messages(void)
{
    struct meta_item items[2] = {{.task = 5, .epoch = 2, .max_node = 9, .all_size = 1e6},
                                 {.task = 6, .waiting = 3, .attempts = 1, .max_size = 7}};
    struct sched_message m = {.kind = SCHED_TASKS, .from = 1, .to = 2, .round = 8, .count = 2};
    struct sched_message back;
    protocol_items got = {0};
    struct strbuf out = {0};
    protocol_memory memory = {0};
    protocol_put_sched(&out, 77, &m, items, (double[]){0, 4e9});
    struct bytes in = {out.at, out.n, false};
    is_int((int64_t)bytes_u64(&in), 77, "the run");
    ok(protocol_sched(&in, &back, &got, &memory), "a message");
    ok(back.kind == m.kind && back.from == 1 && back.to == 2 && back.round == 8 && back.count == 2,
       "its head");
    ok(got.n == 2 && got.at[0].task == 5 && got.at[0].all_size == 1e6 && got.at[1].waiting == 3 &&
           got.at[1].max_size == 7,
       "its tasks");
    ok(memory.n == 2 && memory.at[0] == 0 && memory.at[1] == 4e9, "and what they get");
    bool refused = true;
    for (size_t n = 8; n < out.n; n++) {
        in = (struct bytes){out.at + 8, n - 8, false};
        refused &= !protocol_sched(&in, &back, &got, &memory);
    }
    ok(refused, "cut off anywhere: refused");
    out.at[8] = SCHED_MESSAGE_KINDS;
    in = (struct bytes){out.at + 8, out.n - 8, false};
    ok(!protocol_sched(&in, &back, &got, &memory), "no such kind");
    strbuf_clear(&out);
    struct trace_event e = {.kind = TRACE_TASK, .id = 4, .lane = 2, .attempt = 3}, heard;
    e.outcome = TRACE_KILLED;
    e.status = -1;
    e.start = 1.5;
    e.written = 1e10;
    protocol_put_event(&out, &e);
    is_int((int64_t)out.n, PROTOCOL_EVENT_BYTES, "an event");
    in = (struct bytes){out.at, out.n, false};
    protocol_event(&in, &heard);
    ok(bytes_end(&in) && heard.kind == TRACE_TASK && heard.id == 4 && heard.lane == 2 &&
           heard.attempt == 3 && heard.outcome == TRACE_KILLED && heard.status == -1 &&
           heard.start == 1.5 && heard.written == 1e10,
       "is what it was");
    array_free(&got);
    array_free(&memory);
    strbuf_free(&out);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_ticket),
        TAP_CASE(test_noise),
        TAP_CASE(test_messages),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}

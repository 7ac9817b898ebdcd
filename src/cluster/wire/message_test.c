/* The table of messages: every row is whole, what does not fit its row reaches no handler, and the
 * page about messages shows the table as it is. */
#include "cluster/wire/message.h"
#include "base/file.h"
#include "base/mem.h"
#include "tap.h"

struct message_tally {
    unsigned called, otherwise;
    uint64_t run;
    size_t left;
};

static bool tally_called(void *context, struct message_in *m)
{
    struct message_tally *t = context;
    t->called++;
    t->run = m->run;
    t->left = m->in.n;
    return true;
}

static bool tally_otherwise(void *context, struct message_in *m)
{
    (void)m;
    ((struct message_tally *)context)->otherwise++;
    return true;
}

static bool tally_malformed(void *context, struct message_in *m)
{
    (void)context;
    (void)m;
    return false;
}

static void message_test_rows(void)
{
    for (int i = 1; i < MESSAGES; i++) {
        const struct message_kind *k = &message_kinds[i];
        ok(k->name && k->fields && k->fields[0] && k->meaning && k->meaning[0],
           "%s: is told what it is", k->name ? k->name : "?");
        ok(k->from && k->to && k->family != MESSAGE_FAMILY_LINK, "%s: from, to, family", k->name);
        ok(k->least >= 8 && k->least <= k->most && k->most <= LINK_MESSAGE_MAX, "%s: lengths",
           k->name);
        bool only = true;
        for (int other = 1; other < i; other++)
            only &= strcmp(k->name, message_kinds[other].name) != 0;
        ok(only, "%s: one row", k->name);
    }
}

static void message_test_dispatch(void)
{
    char *data = mem_new_zero(char, LINK_MESSAGE_MAX + 1);
    struct message_receiver r = {.otherwise = tally_otherwise};
    data[0] = 7;
    for (int i = 0; i < MESSAGES; i++)
        r.handler[i] = tally_called;
    for (int kind = 0; kind < 256; kind++)
        for (int end = MESSAGE_AGENT; end <= MESSAGE_CLIENT; end++) {
            const struct message_kind *k = kind < MESSAGES ? &message_kinds[kind] : NULL;
            bool wanted = k && (k->to & (enum message_end)end);
            size_t lengths[] = {0, 7, k && k->least ? k->least - 1 : 8, k ? k->most + 1 : 9};
            struct message_tally t = {0};
            r.end = (enum message_end)end;
            bool taken = false;
            for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
                taken |= message_dispatch(&r, &t, NULL, (uint8_t)kind, data, lengths[i]);
            ok(!taken && t.called == 0, "kind %d: too short and too long are refused", kind);
            taken = message_dispatch(&r, &t, NULL, (uint8_t)kind, data, wanted ? k->least : 8);
            ok(taken == wanted && t.called == wanted, "kind %d: %s", kind,
               wanted ? "its handler is called" : "not for this end");
            if (wanted)
                ok(t.run == 7 && t.left == k->least - 8, "kind %d: behind the run's number", kind);
        }
    struct message_tally t = {0};
    r.end = MESSAGE_CLIENT;
    r.handler[MESSAGE_PROBED] = NULL;
    ok(message_dispatch(&r, &t, NULL, MESSAGE_PROBED, data, 9) && t.otherwise == 1,
       "without a handler of its own: the other one");
    r.otherwise = NULL;
    ok(message_dispatch(&r, &t, NULL, MESSAGE_PROBED, data, 9), "without any: ignored");
    r.handler[MESSAGE_PROBED] = tally_malformed;
    ok(!message_dispatch(&r, &t, NULL, MESSAGE_PROBED, data, 9), "a handler may refuse");
    free(data);
}

static const char *message_end_name(enum message_end end)
{
    return end == MESSAGE_AGENT ? "agent" : end == MESSAGE_CLIENT ? "client" : "either";
}

static void message_test_page(void)
{
    struct strbuf row = {0};
    struct error err = {0};
    struct text page = {0};
    if (!ok(file_read(WEFT_SOURCE_DIR "/docs/adding-a-message.md", &page, &err), "the page"))
        return;
    for (int i = 1; i < MESSAGES; i++) {
        const struct message_kind *k = &message_kinds[i];
        strbuf_clear(&row);
        strbuf_printf(&row, "| %d | `%s` | %s | %s | %s | %s |", i, k->name,
                      message_end_name(k->from), message_end_name(k->to), k->fields, k->meaning);
        if (!ok(strstr(page.at, row.at) != NULL, "the page has the row of %s", k->name))
            printf("# %s\n", row.at);
    }
    strbuf_free(&row);
    text_free(&page);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(message_test_rows),
        TAP_CASE(message_test_dispatch),
        TAP_CASE(message_test_page),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}

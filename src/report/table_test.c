#include "report/human.h"
#include "report/table.h"
#include "tap.h"

#include <string.h>

int main(void)
{
    struct table *t = table_new();
    table_column(t, "planner", TABLE_LEFT);
    table_column(t, "makespan", TABLE_RIGHT);
    table_column(t, "size", TABLE_RIGHT);
    table_row(t);
    table_cell(t, "heft");
    table_printf(t, "%.2f", 80.0);
    table_bytes(t, 1.2e9);
    table_row(t);
    table_emphasise(t);
    table_cell(t, "größter-日本");
    table_number(t, 7);
    table_rule(t);
    table_row(t);
    table_cell(t, "x");
    table_cell(t, "");
    table_seconds(t, 0.0034);
    table_cell(t, "too many");
    struct strbuf out = {0};
    table_print(t, &out, NULL);
    is_str(strbuf_text(&out),
           "planner       makespan    size\n"
           "────────────  ────────  ──────\n"
           "heft             80.00  1.2 GB\n"
           "größter-日本         7\n"
           "────────────  ────────  ──────\n"
           "x                       3.4 ms\n",
           "aligned by columns on the screen");
    is_int(table_rows(t), 3, "three rows");
    strbuf_clear(&out);
    struct table_style style = {.ascii = true, .indent = 2, .max_cell = 11, .colour = true};
    table_print(t, &out, &style);
    has_str(strbuf_text(&out), "  \033[1mplanner      makespan    size\033[0m\n", "bold header");
    has_str(strbuf_text(&out), "  \033[1mgr\xC3\xB6\xC3\x9Fter-\xE6\x97\xA5.         7\033[0m\n",
            "cut to 11 columns, bold row");
    has_str(strbuf_text(&out), "  \033[2m-----------  --------  ------\033[0m\n", "rule of ASCII");
    table_free(t);

    t = table_new();
    strbuf_clear(&out);
    table_print(t, &out, NULL);
    is_str(strbuf_text(&out), "", "a table without columns prints nothing");
    table_column(t, "", TABLE_LEFT);
    table_column(t, "", TABLE_RIGHT);
    table_row(t);
    table_cell(t, "evil\033[2J\r\n\x7F\xC2\x9B\xFF\xE2\x80\xAE");
    table_cell(t, "1");
    table_print(t, &out, NULL);
    is_str(strbuf_text(&out), "evil?[2J??????  1\n",
           "no titles, no header; control characters shown as '?'");
    table_free(t);

    t = table_new();
    table_column(t, "node", TABLE_RIGHT);
    table_column(t, "host", TABLE_LEFT);
    table_column(t, "done", TABLE_RIGHT);
    table_rank(t, 1);
    table_column(t, "served", TABLE_RIGHT);
    table_rank(t, 2);
    table_column(t, "from", TABLE_LEFT);
    table_row(t);
    table_cell(t, "1");
    table_cell(t, "a-rather-long-name-of-a-node");
    table_cell(t, "12");
    table_cell(t, "3 MB");
    table_cell(t, "vm:/home/somebody/else");
    strbuf_clear(&out);
    table_print(t, &out, &(struct table_style){.columns = 71});
    is_str(strbuf_text(&out),
           "node  host                          done  from\n"
           "────  ────────────────────────────  ────  ──────────────────────\n"
           "   1  a-rather-long-name-of-a-node    12  vm:/home/somebody/else\n",
           "the column of the largest rank goes first");
    for (unsigned columns = 20; columns <= 90; columns++) {
        size_t widest = 0;
        strbuf_clear(&out);
        table_print(t, &out, &(struct table_style){.columns = columns});
        for (char *rest = NULL, *line = strtok_r(out.at, "\n", &rest); line;
             line = strtok_r(NULL, "\n", &rest))
            widest = human_width(line) > widest ? human_width(line) : widest;
        ok(widest <= columns, "no line of %zu in %u columns", widest, columns);
    }
    table_free(t);
    table_free(NULL);
    strbuf_free(&out);
    return tap_done();
}

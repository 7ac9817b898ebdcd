/* `weft formats`: the list of weft_format(). */
#include "base/json.h"
#include "cli/cli.h"
#include "report/table.h"

static const struct cli_option options[] = {
    OPTION_JSON,
    OPTION_END,
};

static void formats_json(struct strbuf *out)
{
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-formats/1");
    json_write_key(&j, "formats");
    json_write_array(&j);
    struct weft_format format, *f = &format;
    for (size_t i = 0; weft_format(i, f); i++) {
        json_write_object_inline(&j);
        json_put_string(&j, "name", f->name);
        json_put_string(&j, "summary", f->summary);
        json_put_string(&j, "suffixes", f->suffixes ? f->suffixes : "");
        json_put_bool(&j, "reads_workflow", f->reads_workflow);
        json_put_bool(&j, "writes_workflow", f->writes_workflow);
        json_put_bool(&j, "reads_platform", f->reads_platform);
        json_put_bool(&j, "writes_platform", f->writes_platform);
        json_write_end_object(&j);
    }
    json_write_end_array(&j);
    json_write_end_object(&j);
}

static const char *formats_abilities(bool reads, bool writes)
{
    return reads && writes ? "read, write" : reads ? "read" : writes ? "write" : "";
}

static void formats_text(struct strbuf *out)
{
    struct table *t = table_new();
    table_column(t, "format", TABLE_LEFT);
    table_column(t, "suffixes", TABLE_LEFT);
    table_column(t, "workflow", TABLE_LEFT);
    table_column(t, "platform", TABLE_LEFT);
    table_column(t, "what it is", TABLE_LEFT);
    struct weft_format format, *f = &format;
    for (size_t i = 0; weft_format(i, f); i++) {
        table_row(t);
        table_cell(t, f->name);
        table_cell(t, f->suffixes ? f->suffixes : "");
        table_cell(t, formats_abilities(f->reads_workflow, f->writes_workflow));
        table_cell(t, formats_abilities(f->reads_platform, f->writes_platform));
        table_cell(t, f->summary);
    }
    table_print(t, out, &(struct table_style){.colour = cli_colour()});
    table_free(t);
    strbuf_add(
        out, "\nA file is recognised by its content. Options of readers, for --read NAME=VALUE:\n");
    for (size_t i = 0; weft_format(i, f); i++)
        if (f->reader_options)
            strbuf_printf(out, "\n%s:\n%s\n", f->name, f->reader_options);
}

static int formats_command(const struct arguments *a)
{
    struct strbuf out = {0};
    if (arguments_flag(a, "json"))
        formats_json(&out);
    else
        formats_text(&out);
    int status = cli_print(&out);
    strbuf_free(&out);
    return status;
}

const struct command command_formats = {
    .name = "formats",
    .operands = "",
    .least = 0,
    .most = 0,
    .summary = "the file formats that weft reads and writes",
    .options = options,
    .run = formats_command,
};

/* Where a file comes from, as text and as JSON: the runs that made it, the task, the inputs it was
 * made of and their own makers; and whether the file still is what that run left. */
#include "base/utf8.h"
#include "report/history_view.h"
#include "report/human.h"

static void file_put_digest(struct json_writer *j, const char *key, const struct digest *d)
{
    char text[DIGEST_TEXT];
    json_write_key(j, key);
    if (digest_is_zero(d))
        json_write_null(j);
    else
        json_write_string(j, digest_text(d, text));
}

static void file_put_name(struct json_writer *j, const char *key, const char *name)
{
    json_write_key(j, key);
    if (name)
        json_write_string(j, name);
    else
        json_write_null(j);
}

static void file_origin_json(struct json_writer *j, const struct file_origin *f)
{
    const struct history_origin *o = f->origin;
    json_write_object(j);
    json_put_integer(j, "run", o->run);
    file_put_name(j, "workflow", o->name);
    json_put_number(j, "started", o->started);
    file_put_name(j, "folder", o->folder);
    file_put_name(j, "path", o->file.path);
    file_put_name(j, "task", o->maker);
    json_put_number(j, "size", o->file.size);
    file_put_digest(j, "digest", &o->file.digest);
    file_put_digest(j, "key", &o->file.key);
    json_put_bool(j, "made", o->file.produced);
    json_put_bool(j, "current", f->current);
    json_write_key(j, "inputs");
    json_write_array(j);
    for (size_t i = 0; i < f->inputs.n; i++) {
        json_write_object_inline(j);
        json_put_string(j, "path", f->inputs.at[i].path);
        json_put_integer(j, "run", f->inputs.at[i].run);
        file_put_name(j, "task", f->inputs.at[i].maker);
        file_put_digest(j, "digest", &f->inputs.at[i].digest);
        json_write_end_object(j);
    }
    json_write_end_array(j);
    json_write_end_object(j);
}

static void file_add_visible(struct strbuf *out, const char *text)
{
    utf8_add_visible(out, text ? text : "-");
}

static void file_origin_text(const struct file_origin *f, bool by_content, struct strbuf *out)
{
    const struct history_origin *o = f->origin;
    char when[HUMAN_SIZE], size[HUMAN_SIZE], digest[DIGEST_TEXT];
    strbuf_printf(out, "\n  run %lld (", (long long)o->run);
    file_add_visible(out, o->name);
    strbuf_printf(out, ", %s): ", human_when(when, o->started));
    if (o->maker) {
        strbuf_add(out, "made by task ");
        file_add_visible(out, o->maker);
    } else {
        strbuf_add(out, "an input of the workflow");
    }
    if (by_content) {
        strbuf_add(out, " as ");
        file_add_visible(out, o->folder);
        strbuf_add_char(out, '/');
        file_add_visible(out, o->file.path);
    }
    strbuf_printf(out, ", %s%s\n", human_bytes(size, o->file.size),
                  by_content   ? ""
                  : f->current ? "; the file is as this run left it"
                               : "");
    if (!digest_is_zero(&o->file.digest))
        strbuf_printf(out, "    digest %.16s...\n", digest_text(&o->file.digest, digest));
    for (size_t i = 0; i < f->inputs.n; i++) {
        strbuf_add(out, "    from ");
        file_add_visible(out, f->inputs.at[i].path);
        if (f->inputs.at[i].maker) {
            strbuf_printf(out, " (run %lld, task ", (long long)f->inputs.at[i].run);
            file_add_visible(out, f->inputs.at[i].maker);
            strbuf_add_char(out, ')');
        } else if (f->inputs.at[i].run) {
            strbuf_add(out, " (an input)");
        }
        strbuf_add_char(out, '\n');
    }
}

void history_view_file_json(const struct file_story *s, struct strbuf *out)
{
    struct json_writer j;
    json_write_start(&j, out, true);
    json_write_object(&j);
    json_put_string(&j, "schema", "weft-history/1");
    json_put_string(&j, "path", s->path);
    file_put_digest(&j, "digest", &s->now);
    json_put_bool(&j, "by_content", s->by_content);
    json_write_key(&j, "origins");
    json_write_array(&j);
    for (size_t i = 0; i < s->found.n; i++)
        file_origin_json(&j, &s->origins[i]);
    json_write_end_array(&j);
    json_write_end_object(&j);
}

void history_view_file(const struct file_story *s, struct strbuf *out)
{
    bool known = false;
    file_add_visible(out, s->path);
    strbuf_add_char(out, '\n');
    if (s->by_content)
        strbuf_add(out, "\nNo run knows this path, but its content: a copy, renamed or moved.\n");
    for (size_t i = 0; i < s->found.n; i++) {
        known = known || s->origins[i].current;
        file_origin_text(&s->origins[i], s->by_content, out);
    }
    if (!known && !digest_is_zero(&s->now) && !digest_is_zero(&s->found.at[0].file.digest))
        strbuf_add(out, "\nThe file has changed since: no run on record left it as it is now.\n");
}

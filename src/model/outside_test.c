/* What a reader looked at, noted, put into bytes and played where nothing of it is. */
#include "base/tree.h"
#include "model/outside.h"
#include "tap.h"

#include <sys/stat.h>

static void put_file(const char *folder, const char *name, const char *text)
{
    char path[4200];
    struct error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    file_write(path, text, strlen(text), &err);
}

/* What comes of reading, as text; "!" and why: it cannot be. */
static const char *read_of(struct outside *o, const char *path)
{
    static char out[4000];
    struct text text;
    struct error err = {0};
    bool good = outside_read(o, path, &text, &err);
    snprintf(out, sizeof out, "%s%s", good ? "" : "!", good ? text.at : err.text);
    if (good)
        text_free(&text);
    return out;
}

static const char *list_of(struct outside *o, const char *path)
{
    static char out[4000];
    folder_names names = {0};
    size_t n = 0;
    out[0] = 0;
    bool good = outside_list(o, path, &names);
    for (size_t i = 0; i < names.n; i++)
        n += (size_t)snprintf(out + n, sizeof out - n, "%s ", names.at[i]);
    folder_names_free(&names);
    return good ? out : "!";
}

int main(void)
{
    char folder[] = "/tmp/outside.XXXXXX";
    struct outside here, there;
    struct strbuf bytes = {0}, again = {0};
    if (!ok(mkdtemp(folder) != NULL, "a folder"))
        return tap_done();
    put_file(folder, "b", "one");
    put_file(folder, "a", "");
    outside_init(&here);
    here.folder = "flow"; /* as the reader calls it */
    here.real = folder;
    is_str(read_of(&here, "flow/b"), "one", "a file is read where its folder is");
    is_str(read_of(&here, "flow/a"), "", "an empty one");
    is_str(list_of(&here, "flow"), "!", "the folder itself has no slash: it is another name");
    is_str(list_of(&here, "flow/."), "a b ", "names in a folder are sorted");
    ok(read_of(&here, "flow/none")[0] == '!', "what is not there is noted as such");
    outside_note(&here, "answer", true, "42");
    put_file(folder, "b", "two");
    is_str(read_of(&here, "flow/b"), "one", "what was looked at is not looked at again");
    outside_put(&here, &bytes);
    tree_remove(folder);

    struct bytes in = {bytes.at, bytes.n, false};
    ok(outside_take(&in, &there) && bytes_end(&in), "as bytes, and back");
    there.plays = true;
    is_str(read_of(&there, "flow/b"), "one", "played: the file");
    is_str(list_of(&there, "flow/."), "a b ", "the folder");
    ok(strstr(read_of(&there, "flow/none"), "none"), "why a file was not there");
    ok(strstr(read_of(&there, "/etc/passwd"), "was not read"), "nothing else is looked at");
    is_str(list_of(&there, "/"), "!", "no folder either");
    is_str(outside_find(&there, "answer")->bytes, "42", "an answer");
    ok(!outside_find(&there, "b"), "kinds of names do not meet");
    outside_put(&there, &again);
    ok(again.n == bytes.n && memcmp(again.at, bytes.at, bytes.n) == 0, "equal notes, equal bytes");
    outside_free(&there);
    bool bad = true;
    for (size_t n = 0; n < bytes.n; n++) {
        struct bytes cut = {bytes.at, n, false};
        bad = bad && !(outside_take(&cut, &there) && bytes_end(&cut));
        outside_free(&there);
    }
    ok(bad, "cut off anywhere it is damaged");
    outside_free(&here);
    strbuf_free(&bytes);
    strbuf_free(&again);
    return tap_done();
}

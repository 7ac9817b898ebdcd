/* What is asked of the history, shown: tables, JSON, CSV. The answers come in the structs below or
 * in the history's own; nothing is looked up here. */
#pragma once
#include "base/json.h"
#include "base/strbuf.h"
#include "history/history.h"

/* The figures of a run's head, as members of the object that is open. */
void history_view_head(struct json_writer *j, const struct run_record *r);
void history_view_list(const history_runs *runs, bool colour, struct strbuf *out);
void history_view_list_json(const history_runs *runs, struct strbuf *out);
void history_view_list_csv(const history_runs *runs, struct strbuf *out);

void history_view_run(const struct run_record *r, const struct history_tasks *t, bool colour,
                      struct strbuf *out);
void history_view_run_json(const struct run_record *r, const struct history_tasks *t,
                           struct strbuf *out);
void history_view_run_csv(const struct run_record *r, const struct history_tasks *t,
                          struct strbuf *out);

/* Two runs side by side. */
struct history_changes;
void history_view_changes(const struct history_changes *c, bool colour, struct strbuf *out);
void history_view_changes_json(const struct history_changes *c, struct strbuf *out);

/* Where a file comes from: what history_file() found, with the inputs that each maker read. */
struct file_input {
    char *path;
    int64_t run; /* that made it (or found it, as an input of a workflow); 0: not recorded */
    char *maker; /* NULL: an input of the workflow */
    struct digest digest;
};
struct file_origin {
    const struct history_origin *origin;
    ARRAY(struct file_input) inputs;
    bool current; /* the file is as this run left it */
};
struct file_story {
    char *path;
    struct digest now; /* its content; zero: it is not there or cannot be read */
    bool by_content;   /* no run knows the path: these are files with its content */
    history_origins found;
    struct file_origin *origins; /* one for each found, newest first */
};
void history_view_file(const struct file_story *s, struct strbuf *out);
void history_view_file_json(const struct file_story *s, struct strbuf *out);

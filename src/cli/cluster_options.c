#include "cli/cluster_options.h"

#include "cluster/launch/store_server.h"

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "base/tree.h"

#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char standard_store[] = "redis://127.0.0.1:6379";

bool cluster_address(const char *store, const struct seal_key *key, struct store_address *out,
                     struct error *err)
{
    if (!store_address_parse(store, out, err))
        return false;
    if (store_server_unlock(key, out, err))
        return true;
    store_address_free(out);
    return false;
}

/* Weft's own folder where the user says that the files are, or here. The caller frees. */
static char *state_folder(const struct arguments *a)
{
    const char *folder = arguments_value(a, "directory");
    struct strbuf path = {0};
    strbuf_printf(&path, "%s/.weft", folder ? folder : ".");
    return strbuf_steal(&path);
}

bool cluster_place(const struct arguments *a, uint64_t run, struct cluster_place *out,
                   struct error *err)
{
    const char *store = arguments_value(a, "store"), *key = arguments_value(a, "key");
    const char *named = getenv("WEFT_STORE");
    struct cluster_note note = {0};
    char *state = state_folder(a);
    *out = (struct cluster_place){0};
    if (run && !store && !key)
        out->noted = cluster_note_read(state, run, &note);
    if (out->noted) {
        store = note.store;
        key = note.key;
    }
    if (!store)
        store = named && *named ? named : standard_store;
    bool good =
        key_file_get(key, &out->key, err) && cluster_address(store, &out->key, &out->address, err);
    cluster_note_free(&note);
    free(state);
    return good;
}

void cluster_place_free(struct cluster_place *p)
{
    store_address_free(&p->address);
    explicit_bzero(&p->key, sizeof p->key);
}

void cluster_say(void *context, const char *line)
{
    (void)context;
    cli_say("", line);
}

struct client *cluster_client(const struct arguments *a, const struct cluster_place *p,
                              struct uv_loop_s *loop, struct error *err)
{
    bool quiet = arguments_flag(a, "quiet") || arguments_flag(a, "json");
    signal(SIGPIPE, SIG_IGN); /* an agent that goes away is no reason to end */
    return client_open(
        &(struct client_config){
            .address = &p->address, .key = p->key, .loop = loop, .say = quiet ? NULL : cluster_say},
        err);
}

bool cluster_run_number(const char *text, uint64_t *run, struct error *err)
{
    int64_t n;
    if (!quantity_integer(text, strlen(text), &n) || n < 1)
        return error_set(err, ERROR_INPUT,
                         "'%.100s' is not the number of a run; `weft status` lists them", text);
    *run = (uint64_t)n;
    return true;
}

struct workflow *cluster_read_workflow(const char *text, size_t n, struct error *err)
{
    char *copy = mem_copy_bytes(text, n); /* readers change their text */
    struct workflow *w = format_find("native")->read_workflow(
        &(struct format_source){.path = "the run's workflow", .text = copy, .length = n}, err);
    free(copy);
    return w;
}

const char *cluster_state_name(enum board_run_state state)
{
    static const char *const names[] = {"running", "stopping", "cancelled", "ended", "collected"};
    return (size_t)state < sizeof names / sizeof *names ? names[state] : "?";
}

/* ---- notes ---- */

static void note_path(const char *state, uint64_t run, const char *suffix, struct strbuf *out)
{
    strbuf_clear(out);
    strbuf_printf(out, "%s/cluster/%" PRIu64 "%s", state, run, suffix);
}

bool cluster_note_write(const char *state, uint64_t run, const char *store,
                        const struct seal_key *key, const char *key_file, const char *target,
                        struct error *err)
{
    struct strbuf path = {0}, text = {0};
    struct json_writer j;
    char real[4096];
    note_path(state, run, ".key", &path);
    bool good = make_parents(path.at, err);
    if (good && !key_file) {
        unlink(path.at); /* of a run that is long over: its number came again, at another store */
        good = seal_key_write(path.at, key, err);
        key_file = path.at;
    }
    if (good) {
        json_write_start(&j, &text, true);
        json_write_object(&j);
        json_put_string(&j, "schema", "weft-cluster-run/1");
        json_put_integer(&j, "run", (int64_t)run);
        json_put_string(&j, "store", store);
        json_put_string(&j, "key", realpath(key_file, real) ? real : key_file);
        json_put_text(&j, "on", target);
        json_write_end_object(&j);
        strbuf_add_char(&text, '\n');
        note_path(state, run, ".json", &path);
        good = file_write(path.at, text.at, text.n, err);
    }
    strbuf_free(&path);
    strbuf_free(&text);
    return good;
}

static char *text_of(const struct json *j, const char *key)
{
    json_ref v = json_get(j, 0, key);
    return v != JSON_NONE && json_type(j, v) == JSON_STRING
               ? mem_copy_string(json_string(j, v, NULL))
               : NULL;
}

bool cluster_note_read(const char *state, uint64_t run, struct cluster_note *out)
{
    struct strbuf path = {0};
    struct text text;
    struct json j;
    *out = (struct cluster_note){.run = run};
    note_path(state, run, ".json", &path);
    bool there = file_exists(path.at) && file_read(path.at, &text, NULL);
    strbuf_free(&path);
    if (!there)
        return false;
    if (json_parse(&j, "note", text.at, text.n, NULL)) {
        out->store = text_of(&j, "store");
        out->key = text_of(&j, "key");
        out->target = text_of(&j, "on");
        json_free(&j);
    }
    text_free(&text);
    if (out->store && out->key)
        return true;
    cluster_note_free(out);
    return false;
}

void cluster_note_free(struct cluster_note *n)
{
    free(n->store);
    free(n->key);
    free(n->target);
    *n = (struct cluster_note){0};
}

/* Folders of agents that have left: each removes its own, this is what they stood in. */
static bool remove_agent_folders(const char *state)
{
    struct strbuf path = {0};
    DIR *folder = opendir(state);
    bool all = true;
    for (struct dirent *e; folder && (e = readdir(folder));) {
        if (strncmp(e->d_name, "agents-", 7) != 0)
            continue;
        strbuf_clear(&path);
        strbuf_printf(&path, "%s/%s", state, e->d_name);
        all &= rmdir(path.at) == 0;
    }
    if (folder)
        closedir(folder);
    strbuf_free(&path);
    return all;
}

void cluster_note_remove(const char *state, uint64_t run)
{
    struct strbuf path = {0};
    note_path(state, run, ".json", &path);
    unlink(path.at);
    note_path(state, run, ".key", &path);
    unlink(path.at);
    strbuf_clear(&path);
    strbuf_printf(&path, "%s/cluster", state);
    rmdir(path.at); /* if it was the last */
    strbuf_free(&path);
    for (int i = 0; i < 40 && !remove_agent_folders(state); i++) /* they are just leaving */
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
}

uint64_t *cluster_notes(const char *state, size_t *n)
{
    struct strbuf path = {0};
    ARRAY(uint64_t) runs = {0};
    strbuf_printf(&path, "%s/cluster", state);
    DIR *d = opendir(path.at);
    struct dirent *e;
    while (d && (e = readdir(d)) != NULL) {
        char *end;
        unsigned long long run = strtoull(e->d_name, &end, 10);
        if (end != e->d_name && strcmp(end, ".json") == 0)
            array_push(&runs, (uint64_t)run);
    }
    if (d)
        closedir(d);
    strbuf_free(&path);
    *n = runs.n;
    return runs.at;
}

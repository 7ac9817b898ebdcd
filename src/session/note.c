/* Notes: a small JSON file a run, and beside it the key of agents that were started for it.
 *
 *     STATE/cluster/7.json    {"schema": "weft-cluster-run/1", "run": 7, "id": HEX, "store": URL,
 *                              "key": FILE, "on": TARGET or null, "overwrite": true if said,
 *                              "record": number in the history, "began": seconds since 1970}
 *     STATE/cluster/7.key     0600; only when the agents are the run's own */
#include "session/note.h"

#include "base/array.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* STATE/cluster/RUN plus the suffix, in `out`. */
static void note_path(const char *state, uint64_t run, const char *suffix, struct strbuf *out)
{
    strbuf_clear(out);
    strbuf_printf(out, "%s/cluster/%" PRIu64 "%s", state, run, suffix);
}

static void note_put_id(struct json_writer *j, const uint8_t id[static SEAL_ID])
{
    char text[2 * SEAL_ID + 1];
    for (size_t i = 0; i < SEAL_ID; i++)
        snprintf(text + 2 * i, 3, "%02x", id[i]);
    json_put_string(j, "id", text);
}

/* The key first: a note whose key is missing would be of no use to anybody. */
bool note_write(const char *state, const struct note *n, const struct seal_key *key,
                struct error *err)
{
    struct strbuf path = {0}, text = {0};
    struct json_writer j;
    char real[4096];
    note_path(state, n->run, ".key", &path);
    const char *key_file = n->key;
    bool good = make_parents(path.at, err);
    /* a store's address may hold its password */
    char *above = mem_copy_bytes(path.at, (size_t)(strrchr(path.at, '/') - path.at));
    if (good && chmod(above, 0700) != 0)
        good = error_set(err, ERROR_FAILED, "%s: %s", above, strerror(errno));
    free(above);
    if (good && !key_file) {
        unlink(path.at); /* of a run that is long over: its number came again, at another store */
        good = seal_key_write(path.at, key, err);
        key_file = path.at;
    }
    if (good) {
        json_write_start(&j, &text, true);
        json_write_object(&j);
        json_put_string(&j, "schema", "weft-cluster-run/1");
        json_put_integer(&j, "run", (int64_t)n->run);
        note_put_id(&j, n->id);
        json_put_string(&j, "store", n->store);
        json_put_string(&j, "key", realpath(key_file, real) ? real : key_file);
        json_put_text(&j, "on", n->target);
        if (n->overwrite)
            json_put_bool(&j, "overwrite", true);
        if (n->record) {
            json_put_integer(&j, "record", n->record);
            json_put_number(&j, "began", n->began);
        }
        json_write_end_object(&j);
        strbuf_add_char(&text, '\n');
        note_path(state, n->run, ".json", &path);
        good = file_write(path.at, text.at, text.n, err);
    }
    strbuf_free(&path);
    strbuf_free(&text);
    return good;
}

static char *note_text(const struct json *j, const char *key)
{
    json_ref v = json_get(j, 0, key);
    return v != JSON_NONE && json_type(j, v) == JSON_STRING
               ? mem_copy_string(json_string(j, v, NULL))
               : NULL;
}

/* 0: there is none. */
static double note_number(const struct json *j, const char *key)
{
    json_ref v = json_get(j, 0, key);
    return v != JSON_NONE && json_type(j, v) == JSON_NUMBER ? json_number(j, v) : 0;
}

/* Zeros when it is none: no run has them. */
static void note_take_id(const struct json *j, uint8_t id[static SEAL_ID])
{
    char *text = note_text(j, "id");
    for (size_t i = 0; text && strlen(text) == (size_t)2 * SEAL_ID && i < SEAL_ID; i++) {
        const char digits[] = {text[2 * i], text[2 * i + 1], 0};
        id[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    free(text);
}

bool note_is_of(const struct note *n, const uint8_t id[static SEAL_ID])
{
    return memcmp(n->id, id, SEAL_ID) == 0;
}

/* Whatever is not a note of ours counts as none: a stranger's file must not stop a run. */
bool note_read(const char *state, uint64_t run, struct note *out)
{
    struct strbuf path = {0};
    struct text text;
    struct json j;
    *out = (struct note){.run = run};
    note_path(state, run, ".json", &path);
    bool there = file_exists(path.at) && file_read(path.at, &text, NULL);
    strbuf_free(&path);
    if (!there)
        return false;
    if (json_parse(&j, "note", text.at, text.n, NULL)) {
        out->store = note_text(&j, "store");
        out->key = note_text(&j, "key");
        out->target = note_text(&j, "on");
        note_take_id(&j, out->id);
        double record = note_number(&j, "record");
        out->record = record >= 1 && record <= INT32_MAX ? (int64_t)record : 0;
        out->began = note_number(&j, "began");
        json_ref v = json_get(&j, 0, "overwrite");
        out->overwrite = v != JSON_NONE && json_type(&j, v) == JSON_TRUE;
        json_free(&j);
    }
    text_free(&text);
    if (out->store && out->key)
        return true;
    note_free(out);
    return false;
}

/* The key is a file already: it is named, and not written again. */
void note_set_record(const char *state, uint64_t run, const uint8_t id[static SEAL_ID],
                     const struct run_record *record, const struct remarks *remarks)
{
    struct note n;
    struct error err = {0};
    if (record->run && note_read(state, run, &n)) {
        bool same = !note_is_of(&n, id) || n.record == record->run;
        n.record = record->run;
        n.began = record->started;
        if (!same && !note_write(state, &n, NULL, &err))
            remark(remarks, REMARK_WARNING, "%s", err.text);
        note_free(&n);
    }
}

/* Also one that note_read() did not fill. */
void note_free(struct note *n)
{
    free(n->store);
    free(n->key);
    free(n->target);
    *n = (struct note){0};
}

/* Each agent removes its own, this is what they stood in. Those that still live keep theirs. */
static bool note_remove_agent_folders(const char *state)
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

/* An agent works in it, or in a folder in it: each holds its lock. */
static bool note_is_agents(const char *folder, int depth)
{
    folder_names names = {0};
    struct strbuf path = {0};
    bool used = false;
    if (depth && folder_list(folder, &names))
        for (size_t i = 0; i < names.n && !used; i++) {
            struct stat s;
            strbuf_clear(&path);
            strbuf_printf(&path, "%s/%s", folder, names.at[i]);
            bool there = lstat(path.at, &s) == 0;
            if (there && S_ISREG(s.st_mode) && strcmp(names.at[i], "lock") == 0) {
                int fd = open(path.at, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
                used = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;
                if (fd >= 0)
                    close(fd);
            } else if (there && S_ISDIR(s.st_mode)) {
                used = note_is_agents(path.at, depth - 1);
            }
        }
    folder_names_free(&names);
    strbuf_free(&path);
    return used;
}

void note_clear_agents(const char *state)
{
    folder_names names = {0};
    struct strbuf path = {0};
    if (folder_list(state, &names))
        for (size_t i = 0; i < names.n; i++) {
            struct stat s;
            char *end;
            if (strncmp(names.at[i], "agents-", 7) != 0)
                continue;
            long pid = strtol(names.at[i] + 7, &end, 10);
            strbuf_clear(&path);
            strbuf_printf(&path, "%s/%s", state, names.at[i]);
            if (end > names.at[i] + 7 && !*end && pid != getpid() &&
                (kill((pid_t)pid, 0) != 0 && errno == ESRCH) && lstat(path.at, &s) == 0 &&
                S_ISDIR(s.st_mode) && s.st_uid == geteuid() && !note_is_agents(path.at, 4))
                tree_remove(path.at);
        }
    folder_names_free(&names);
    strbuf_free(&path);
}

/* The folder goes with the last note, the agents' folders when they are empty. */
void note_remove(const char *state, uint64_t run)
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
    note_remove_agent_folders(state);
}

/* Two seconds are more than leaving takes, and a folder that is left over harms nobody. */
void note_await_agents_gone(const char *state)
{
    for (int i = 0; i < 40 && !note_remove_agent_folders(state); i++)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
}

/* By the names of the files alone; each is read when it is looked at. */
uint64_t *notes_list(const char *state, size_t *n)
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

/* Notes of runs on a cluster: written, found, read, removed; what is not one counts as none. */
#include "session/note.h"

#include "base/file.h"
#include "base/tree.h"
#include "tap.h"

#include <sys/stat.h>
#include <unistd.h>

int main(void)
{
    char state[64] = "/tmp/weft-note-XXXXXX", path[128];
    struct error err = {0};
    struct seal_key key;
    struct note note;
    struct stat st;
    size_t n;
    ok(mkdtemp(state) != NULL, "a folder to work in");
    uint64_t *runs = notes_list(state, &n);
    is_int(n, 0, "no notes yet");
    free(runs);
    ok(!note_read(state, 7, &note), "nor one of run 7");

    seal_key_random(&key);
    struct note own = {.run = 7,
                       .id = {1, 0xab, [15] = 0xff},
                       .store = "redis://head:6379",
                       .target = "ssh:a,b",
                       .overwrite = true};
    ok(note_write(state, &own, &key, &err), "a run on agents of its own leaves a note");
    snprintf(path, sizeof path, "%s/cluster/7.key", state);
    ok(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600, "and its key, for its owner alone");
    ok(note_read(state, 7, &note), "which is found");
    ok(strcmp(note.store, own.store) == 0 && strcmp(note.target, own.target) == 0, "as it was");
    ok(note_is_of(&note, own.id) && !note_is_of(&note, (uint8_t[SEAL_ID]){1, 0xab}),
       "of this run and of no other that has its number");
    ok(note.overwrite, "and that results may replace what stands there");
    ok(strstr(note.key, "7.key") && note.key[0] == '/', "with an absolute path to the key");
    note_free(&note);

    struct note others = {.run = 8, .store = "redis://head:6379", .key = path};
    ok(note_write(state, &others, &key, &err), "a run on agents of others, too");
    ok(note_read(state, 8, &note) && !note.target && !note.overwrite, "without a target");
    note_free(&note);
    snprintf(path, sizeof path, "%s/cluster/9.json", state);
    ok(file_write(path, "{}", 2, &err), "something else lies there");
    ok(!note_read(state, 9, &note), "and is no note");
    runs = notes_list(state, &n);
    is_int(n, 3, "three names are listed");
    free(runs);

    for (uint64_t run = 7; run <= 9; run++)
        note_remove(state, run);
    snprintf(path, sizeof path, "%s/cluster", state);
    ok(stat(path, &st) != 0, "with the last one the folder goes");
    tree_remove(state);
    return tap_done();
}

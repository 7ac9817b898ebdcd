/* What an agent remembers of runs: over restarts, cut files, and more runs than it keeps. */
#include "cluster/agent/spent.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void make_id(uint32_t number, uint8_t id[static SEAL_ID])
{
    memset(id, 0, SEAL_ID);
    memcpy(id, &number, sizeof number);
    memcpy(id + 12, &number, sizeof number);
}

static void test_memory(const char *path)
{
    struct error err = {0};
    struct spent s;
    uint8_t id[SEAL_ID], other[SEAL_ID];
    make_id(1, id);
    make_id(2, other);
    ok(spent_open(&s, path, &err), "begins with nothing %s", err.text);
    is_int(spent_state(&s, id), BOARD_RUN_OPEN, "a run that nobody saw is as good as open");
    ok(spent_note(&s, id, BOARD_RUN_CANCELLED, &err), "a run was cancelled");
    ok(spent_note(&s, id, BOARD_RUN_STOPPING, &err), "news that are older change nothing");
    is_int(spent_state(&s, id), BOARD_RUN_CANCELLED, "the furthest counts");
    is_int(spent_state(&s, other), BOARD_RUN_OPEN, "of another nothing is known");
    spent_close(&s);
    ok(spent_open(&s, path, &err), "another life %s", err.text);
    is_int(spent_state(&s, id), BOARD_RUN_CANCELLED, "remembers");
    spent_note(&s, id, BOARD_RUN_COLLECTED, &err);
    spent_note(&s, other, BOARD_RUN_ENDED, &err);
    spent_close(&s);
    struct stat st;
    stat(path, &st);
    ok((st.st_mode & 0777) == 0600, "nobody else looks into it");
    ok(truncate(path, st.st_size - 5) == 0 && spent_open(&s, path, &err),
       "a file that was cut off %s", err.text);
    is_int(spent_state(&s, id), BOARD_RUN_COLLECTED, "is read up to there");
    is_int(spent_state(&s, other), BOARD_RUN_OPEN, "and no further");
    spent_note(&s, other, BOARD_RUN_COLLECTED, &err);
    spent_close(&s);
    spent_open(&s, path, &err);
    is_int(spent_state(&s, other), BOARD_RUN_COLLECTED, "what is noted after that is found again");
    spent_close(&s);
}

/* The file is made here, so that nothing waits for a disk seventy thousand times. */
static void test_many(const char *path)
{
    struct error err = {0};
    struct spent s;
    uint8_t id[SEAL_ID];
    FILE *f = fopen(path, "wb");
    for (uint32_t i = 0; f && i < SPENT_MOST; i++) {
        make_id(i, id);
        fwrite(id, 1, sizeof id, f);
        fputc(BOARD_RUN_COLLECTED, f);
    }
    ok(f && fclose(f) == 0 && spent_open(&s, path, &err), "as many as it keeps %s", err.text);
    is_int(s.runs.n, SPENT_MOST, "are all known");
    unsigned missing = 0;
    for (uint32_t i = 0; i < SPENT_MOST; i++) {
        make_id(i, id);
        missing += spent_state(&s, id) != BOARD_RUN_COLLECTED;
    }
    is_int(missing, 0, "and found");
    make_id(SPENT_MOST, id);
    ok(spent_note(&s, id, BOARD_RUN_ENDED, &err) && s.runs.n == SPENT_MOST / 2,
       "one more, and the older half goes");
    is_int(spent_state(&s, id), BOARD_RUN_ENDED, "not the youngest");
    spent_close(&s);
    struct stat st;
    ok(stat(path, &st) == 0 && st.st_size == 17 * (SPENT_MOST / 2), "nor does the file grow");
    spent_open(&s, path, &err);
    is_int(spent_state(&s, id), BOARD_RUN_ENDED, "it is there after a restart");
    spent_close(&s);
}

int main(void)
{
    char folder[] = "/tmp/weft-spent-XXXXXX", path[64];
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/spent", folder);
    TAP_DO(test_memory(path));
    TAP_DO(test_many(path));
    unlink(path);
    rmdir(folder);
    return tap_done();
}

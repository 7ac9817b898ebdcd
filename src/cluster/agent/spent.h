/* What an agent remembers of runs, whatever the store says later: how far each had come when it was last
 * seen. A ticket whose run is over is spent: it runs no second time here, though somebody puts it and
 * its state back on the board, which needs no key. Kept in the agent's folder, so a restart forgets
 * nothing; bounded: the last SPENT_MOST runs. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "base/seal.h"
#include "store/board.h"

enum { SPENT_MOST = 1 << 16 };

struct spent_run {
    uint8_t id[SEAL_ID];
    uint8_t state; /* enum board_run_state: the furthest that was seen */
};

struct spent {
    int fd; /* of its file; -1: none */
    char *path;
    ARRAY(struct spent_run) runs; /* in the order in which they were first noted */
    uint32_t *table;              /* by id: one more than its number in `runs`; 0: free */
    size_t places;                /* of the table: a power of two */
};

/* A file that is cut off within an entry is taken up to there. */
bool spent_open(struct spent *s, const char *path, struct error *err);
void spent_close(struct spent *s);
/* The furthest state of the run that was noted; BOARD_RUN_OPEN: none. O(1). */
enum board_run_state spent_state(const struct spent *s, const uint8_t id[static SEAL_ID]);
/* On disk when this returns. What is not further than before costs nothing. */
bool spent_note(struct spent *s, const uint8_t id[static SEAL_ID], enum board_run_state state,
                struct error *err);

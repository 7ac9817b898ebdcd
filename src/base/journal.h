/* An append-only file of checksummed frames.
 *
 *     header    offset  0           8        12     16           24     28       32        36
 *     40 bytes          "weftjrnl"  version  order  fingerprint  tasks  objects  reserved  checksum
 *
 *     frame     offset  0       4       8       16           20        24
 *     24 bytes          marker  length  number  checksum of  checksum  payload, `length` bytes
 *     and more                                  the payload  of 0-19
 *
 *     frame     ...
 *
 * Checksums are CRC-32C, numbers as in memory; `order` (of bytes) refuses a machine of the other kind.
 *
 * A frame is one group commit: it is written and synced before the next one starts, so only the
 * last can be unfinished. On opening, a bad frame with nothing valid behind it is that unfinished
 * write: it is cut off, and the caller is told how much. A bad frame with a valid one behind it is
 * damage: an error, and the file stays as it is. */
#pragma once
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOURNAL_FRAME_MAX (1u << 31) /* bytes of payload; groups are far smaller */

struct journal_id {
    uint64_t fingerprint;
    uint32_t tasks, objects;
};

struct journal {
    int fd;
    char *path;
    uint64_t end;    /* bytes that are valid and synced */
    uint64_t frames; /* the number of the next one */
    bool sync;
    bool busy; /* it could not be opened because another process has it */
};

/* Called for each valid frame in order; false stops with the error it set. */
typedef bool (*journal_replay_f)(void *context, const unsigned char *payload, size_t n,
                                 struct error *err);

/* Open or create, lock, and replay. `cut`: bytes that were cut off. On failure there is nothing to
 * close. */
bool journal_open(struct journal *j, const char *path, const struct journal_id *id, bool sync,
                  journal_replay_f replay, void *context, bool *existed, uint64_t *cut,
                  struct error *err);

/* Only go through what is there: nothing is created, locked, cut off or waited for, and somebody else
 * may write meanwhile. No such file is fine. */
bool journal_look(const char *path, const struct journal_id *id, journal_replay_f replay,
                  void *context, struct error *err);

enum journal_result {
    JOURNAL_OK,
    JOURNAL_FULL,  /* could not be written (no space, limit reached): the file is as before, try
                      again when there is space */
    JOURNAL_BROKEN /* could not be synced or restored: nobody knows what is on the disk */
};

/* Write one frame and sync. On failure `reason` is the errno. */
enum journal_result journal_append(struct journal *j, const void *payload, size_t n, int *reason);

void journal_close(struct journal *j);

/* A folder as a stream of bytes, made and taken apart piece by piece. One entry after the other,
 * folders before what is in them:
 *
 *     u8 form (enum message_form), u32 mode, u64 size, text path below the folder, `size` bytes: the
 *     file's content, where a symbolic link leads, nothing for a folder
 *
 * A folder's digest (memo/memo.h) is that of what one sees through its links. So a link that stays
 * inside is kept, and in place of one that leads out goes what it leads to. A link stays inside
 * when its ".." all come first and are no more than the folders it is in: then no chain of such
 * links leads out. */
#pragma once
#include "base/array.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/strbuf.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    DEPOT_DEPTH_MAX = 64,  /* folders in folders */
    DEPOT_PATH_MAX = 4096, /* bytes of a path below the folder */
    DEPOT_ENTRIES_MAX = 1 << 24,
};

struct depot_entry {
    uint8_t form;
    uint32_t mode;
    size_t path, target; /* in `text` */
    uint64_t size;
};

struct depot_pack {
    char *root;
    struct strbuf text;
    ARRAY(struct depot_entry) entries;
    uint64_t total;
    /* where the stream is: `head` of entry `next` - 1, then its content */
    size_t next, head_done;
    uint64_t done;
    struct strbuf head;
    int fd;
};

/* List the folder (stat of everything in it); `total` is known then. */
bool depot_pack_begin(struct depot_pack *p, const char *root, struct error *err);
/* The next bytes, n of them unless it ends. False: a file is not as it was listed. */
bool depot_pack_read(struct depot_pack *p, char *out, size_t n, size_t *got, struct error *err);
void depot_pack_free(struct depot_pack *p); /* a zeroed one is fine */

/* What was received of one file, found again by its inode and told to the memo by its path. */
struct depot_received {
    uint64_t inode;
    size_t path;
    struct digest digest;
};

/* A folder in it: its bits are set when all is in it. */
struct depot_unpacked_folder {
    size_t path;
    uint32_t mode;
};

struct depot_unpack {
    char *root;
    int root_fd, fd;
    struct strbuf head, target, text;
    ARRAY(struct depot_received) files;
    ARRAY(struct depot_unpacked_folder) folders;
    struct depot_entry entry;
    uint64_t left; /* bytes of its content still to come */
    bool in_entry;
    size_t entries;
    struct digest_state state;
};

/* `root` is made; something that stands there is removed. */
bool depot_unpack_begin(struct depot_unpack *u, const char *root, struct error *err);
bool depot_unpack_feed(struct depot_unpack *u, const void *data, size_t n, struct error *err);
/* It came whole: the digest that memo_digest() would find, and the bytes. */
bool depot_unpack_end(struct depot_unpack *u, struct digest *digest, double *bytes,
                      struct error *err);
void depot_unpack_free(struct depot_unpack *u); /* what was unpacked stays */

/* Relative, no "..", no ".", no empty part, no part or whole that is too long. */
bool depot_path_is_safe(const char *path);
/* "cannot be written", with what to do about it. False. */
bool depot_write_error(const char *path, int reason, struct error *err);
bool depot_write_all(int fd, const void *data, size_t n);

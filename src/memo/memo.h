/* What has been computed in a folder: by computation key, with the digests of the results; and the
 * digests of files, so that an unchanged file is not read again. Kept in one append-only
 * checksummed file that `kill -9` cannot spoil; one run at a time has it.
 *
 * Never twice: a task whose key is known and whose outputs are as it left them need not run. */
#pragma once
#include "base/digest.h"
#include "base/error.h"
#include "base/tree.h"
#include <stdbool.h>
#include <stdint.h>

struct memo;
struct stat;

/* One input of a computation, to say later what changed: 8 bytes of name and content each. */
struct memo_input {
    uint64_t name, content;
};

struct memo_task {
    struct digest key;
    uint64_t name, command;     /* hashes, to say why a task runs again */
    uint32_t inputs, ninputs;   /* in the memo's list */
    uint32_t outputs, noutputs; /* digests, in the order of the task's outputs */
};

/* What opening found. */
struct memo_opened {
    bool existed;
    bool busy;    /* not opened: another process has it */
    uint64_t cut; /* bytes of an unfinished write that were cut off */
};

/* `path` NULL: nothing is kept. `found` may be NULL. */
struct memo *memo_open(const char *path, struct memo_opened *found, struct error *err);
/* What is known there, for who will change nothing: no lock, no file is made or written, also while a
 * run has it; what is learned is forgotten with it. No memo there is an empty one. */
struct memo *memo_look(const char *path, struct error *err);
/* Write what is not yet written; false: it could not be, and would be computed again. */
bool memo_flush(struct memo *m, struct error *err);
bool memo_close(struct memo *m, struct error *err); /* flushes; NULL is fine */
/* In its place when memory ran out in a call on it (base/mem.h): gives up the lock, writes nothing
 * and frees nothing. What was not flushed runs again. NULL is fine. */
void memo_abandon(struct memo *m);

/* The folder that the memo is about, as paths will be given: a file in it is known by what follows,
 * from wherever the folder is named. Before anything is asked about files. */
void memo_set_folder(struct memo *m, const char *folder);

const struct memo_task *memo_find(const struct memo *m, const struct digest *key);
/* The latest one recorded under this name. NULL: none. The first call costs O(records). */
const struct memo_task *memo_last(struct memo *m, uint64_t name);
const struct memo_input *memo_inputs(const struct memo *m, const struct memo_task *t);
const struct digest *memo_outputs(const struct memo *m, const struct memo_task *t);
/* Nothing is written of what the last record of its name says already. */
void memo_add(struct memo *m, const struct memo_task *task, const struct memo_input *inputs,
              const struct digest *outputs);
/* Records of tasks; bytes of memory. */
size_t memo_count(const struct memo *m);
size_t memo_bytes(const struct memo *m);

/* The digest of a file or folder, from memory when size, inode and both times (of modification, of
 * change) are as they were, else by reading. `fresh`: it was just made by a task, which nobody else
 * writes to. The size is that of the file, or the sum of a folder's files. False with err->kind
 * NONE: it is not there. */
bool memo_digest(struct memo *m, const char *path, bool fresh, struct digest *out, double *size,
                 struct error *err);
/* The same, asked by `struct stat` only: false when it would have to be read. */
bool memo_known(const struct memo *m, const char *path, const struct stat *s, struct digest *out);

/* The names in a folder that are its content: all but weft's own records (`.weft` with a memo in it),
 * which change with every run in it. As folder_list(). */
bool memo_list_folder(const char *path, folder_names *names);

/* We just wrote this file, whole, and know its digest: it need not be read. */
void memo_learn_digest(struct memo *m, const char *path, const struct digest *digest);
/* A task just left this folder, of this digest. */
void memo_learn_folder(struct memo *m, const char *path, const struct digest *digest);
/* The digest that is on record for this file, whatever stands there now. */
bool memo_recorded(const struct memo *m, const char *path, struct digest *out);
/* The content that a task left under this name, whatever stands there now. False: none did, or what
 * was found there since is something else. */
bool memo_left(const struct memo *m, const char *path, struct digest *out);

/* Rewrite the file with only the records for which `keep` says so (and all digests of files). Bytes
 * before and after. */
bool memo_compact(struct memo *m, bool (*keep)(void *context, const struct memo_task *t),
                  void *context, double *before, double *after, struct error *err);

struct memo_tidying {
    double most; /* bytes that it may have; INFINITY: any */
    bool (*needed)(void *context, const struct memo_task *t); /* the workflow as it is has it */
    void *context;
    /* what came of it: */
    double before, after; /* bytes */
    bool forgot;          /* old records went, not only what later ones had replaced */
};
/* After a run: write it anew when more than half of it is out of date, or when it has become larger
 * than it may be. Then the oldest records go, but none that is needed. */
bool memo_tidy(struct memo *m, struct memo_tidying *t, struct error *err);

uint64_t memo_hash(const char *text, size_t n);

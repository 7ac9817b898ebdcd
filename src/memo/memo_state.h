/* A memo's own fields, for the files that it is made of: memo.c, and memo_compact.c, which writes it
 * anew. */
#pragma once
#include "base/array.h"
#include "base/journal.h"
#include "base/strbuf.h"
#include "memo/memo.h"

struct memo_file {
    uint64_t path;
    int64_t size, time, change, inode;
    struct digest digest;
    bool young;
    bool left; /* a task of this folder left this content here */
    bool used; /* somebody asked for it since the memo was opened; not in the journal */
};

/* An open-addressed hash table over the entries of an array: a slot holds an entry's number + 1 (0:
 * free) and half of its 64-bit hash, which tells most others apart without a look at the entry. At
 * most half full, so probes are short; nothing is ever taken out. */
struct memo_slot {
    uint32_t entry, hash;
};

struct memo_index {
    struct memo_slot *slot;
    uint32_t mask, used;
};

struct memo {
    struct journal journal;
    bool kept;
    char *path, *folder; /* folder: I5; NULL: none was named */
    ARRAY(struct memo_task) tasks;
    ARRAY(struct memo_input) inputs;
    ARRAY(struct digest) outputs;
    ARRAY(struct memo_file) files;
    struct memo_index by_key, by_path;
    struct memo_index by_name; /* made when somebody asks: only to say why a task runs */
    bool named;                /* it is made */
    struct strbuf frame;       /* records not yet written */
};

/* In memory; for the journal, at the next flush. */
void memo_learn_file(struct memo *m, const struct memo_file *f);
void memo_write_file(struct memo *m, const struct memo_file *f);
/* Bytes of the records that a task and a file take in the journal. */
size_t memo_task_bytes(const struct memo_task *t);
size_t memo_file_bytes(void);

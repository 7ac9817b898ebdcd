/* Whole files in, whole files out. */
#pragma once
#include "base/error.h"
#include <stddef.h>
#include <stdio.h>

/* The bytes of a file followed by a NUL that is not counted. */
struct text {
    char *at;
    size_t n;
};

/* Read a regular file, or standard input for "-". Refuses directories, unreadable and empty-named
 * files with an error that names the path and the reason. The caller calls text_free(). */
bool file_read(const char *path, struct text *out, struct error *err);
void text_free(struct text *t);

/* Does it stand in the file system (any kind)? */
bool file_exists(const char *path);

/* An output file that appears whole or not at all: written beside the target under a temporary
 * name, renamed by file_out_commit(). "-" writes to standard output. Devices and pipes
 * (/dev/stdout, /dev/null) are written directly. */
struct file_out {
    FILE *stream; /* write here */
    char *path, *temporary;
};

bool file_out_open(struct file_out *f, const char *path, struct error *err);
/* Flush, check for errors (disk full), rename. False: nothing appeared, an older file is untouched.
 */
bool file_out_commit(struct file_out *f, struct error *err);
/* Give up: remove the temporary. Harmless after commit. */
void file_out_abandon(struct file_out *f);

/* The three in one, for content that is already in memory. */
bool file_write(const char *path, const char *data, size_t len, struct error *err);

/* `name` relative to the folder in which `base` stands: ("a/b.dag", "c.dag") -> "a/c.dag". The
 * caller frees. */
char *file_beside(const char *base, const char *name);
/* The part after the last slash, without a copy. */
const char *file_basename(const char *path);
/* How much of such a part stands before its last suffix: 5 of "inner.dag", all of ".profile". */
size_t file_stem_length(const char *base);

/* Names of files as texts: one spelling for each. */
#pragma once
#include "base/strbuf.h"
#include <stdbool.h>
#include <stddef.h>

/* Is the name spelled as path_add_canonical() would spell it? One pass over the bytes. */
bool path_is_canonical(const char *name, size_t n);
/* Append the name without `.`, without empty parts and without `x/..`: `./a//b/../c` is `a/c`. What
 * leads out of the folder keeps its `..` in front; the folder itself is `.`; above `/` is `/`. A slash
 * at the end, which says that it is a folder, stays. By the text alone: symbolic links are not looked
 * at. A URL (`s3://bucket/x`) is no such name and stays as it is. */
void path_add_canonical(const char *name, size_t n, struct strbuf *out);
/* Does a canonical name lead out of the folder that it is seen from: `..`, `../x`? */
bool path_leads_out(const char *name);

/* The folder that names of files are relative to, under every name that it may be called by. */
struct path_home;
/* `folder` as the user gave it. Nothing is looked at before the first path_in_home(). */
struct path_home *path_home_new(const char *folder);
void path_home_free(struct path_home *home); /* NULL is fine */
/* The part of a canonical absolute name below the folder, "" for the folder itself; NULL: it lies
 * elsewhere. Follows symbolic links above the folder, where the spellings differ: a few system calls
 * for each folder that a name stands in, not for each name. */
const char *path_in_home(struct path_home *home, const char *name);
/* Names that somebody gave, ends with NULL: absolute ones below the folder (NULL: there is none) as they are called in it, the others as
 * they are. One block that the caller frees; NULL: there are no names. */
const char **path_home_names(const char *folder, const char *const *names);

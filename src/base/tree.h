/* Folders and trees of files. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "base/strbuf.h"
#include <stdbool.h>

/* The names in a folder, sorted as bytes, without "." and "..". False: it cannot be read, errno
 * says why. */
typedef ARRAY(char *) folder_names;
bool folder_list(const char *path, folder_names *names);
void folder_names_free(folder_names *names);

/* Remove a file or a whole tree; nothing there is fine. */
bool tree_remove(const char *path);
/* rename(), but never over something that is there (errno EEXIST). */
bool rename_new(const char *from, const char *to);
/* A file, link or whole tree, with permission bits and times. Shares the blocks where the file system
 * can. What stands at `to` must not be there; after an error nothing is. */
bool tree_copy(const char *from, const char *to, struct error *err);
/* Of a file, or of everything in a tree; 0: nothing there. */
double tree_bytes(const char *path);
/* Make the folders that `path` stands in. */
bool make_parents(const char *path, struct error *err);
/* May weft believe what stands in this folder of its own? It is ours, root's, or of somebody who was let
 * into the folder in which it stands; and not everybody's to write to, which is mended when it is ours. */
bool folder_check_owner(const char *path, struct error *err);
/* Make it, or take the one that is there, for us alone: another user's folder or link is refused with the
 * option that names another, and ours is closed to others. */
bool folder_take_private(const char *path, const char *option, struct error *err);
/* "folder/name", or the name alone when it is absolute. In `out`, replaced. */
const char *path_in(const char *folder, const char *name, struct strbuf *out);

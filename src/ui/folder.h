/* Files of the folder that the page is about, and no others: names come from the browser. */
#pragma once
#include "ui/request.h"

/* Whether a path is the folder or inside it: /lab is not in the way of /lab2. Both are real paths. */
bool folder_holds(const char *folder, const char *path);
/* The same words for what is not there and for what lies outside, which is nobody's business. */
void folder_has_none(const char *name, struct reply *out);
/* The path of a file that is there and inside the folder, whatever links say. The caller frees; NULL: `out` says why not. */
char *folder_file(const struct laboratory *lab, const char *name, struct reply *out);

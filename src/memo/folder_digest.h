/* Digests of folders, for memo_digest(). Private to the memo. */
#pragma once
#include "memo/memo.h"

/* `size`: of all files in it. */
bool memo_digest_folder(struct memo *m, const char *path, bool fresh, struct digest *out,
                        double *size, struct error *err);

/* The end of a task's log, for people. */
#pragma once

/* The last lines (a screenful of them at most); the caller frees. NULL: there is no such file. */
char *log_tail(const char *path);

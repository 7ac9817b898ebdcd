/* Programs run by bench/run.c as processes, and the files that the peers read. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct peer_use {
    double seconds; /* from start to end; negative: it failed */
    double cpu;     /* of it and its children */
    double peak;    /* bytes */
};

/* Run and wait in `folder`; output goes nowhere. */
struct peer_use peer_run(const char *const *words, const char *folder);
/* The same, with what it printed. At most size - 1 bytes. */
struct peer_use peer_read(const char *const *words, const char *folder, char *out, size_t size);
bool peer_there(const char *program); /* on the PATH */

/* n processes of /bin/true, at most `slots` at once: what nothing can beat. */
double peer_loop(uint32_t n, uint32_t slots);

/* Files in `folder` for n tasks of /bin/true, independent or each after the one before. */
void peer_makefile(const char *folder, uint32_t n, bool chain);
void peer_ninja(const char *folder, uint32_t n, bool chain);
void peer_lines(const char *folder, uint32_t n);
/* `work`: "run: /bin/true" or "call: lib.so:name" */
void peer_weft(const char *folder, const char *name, uint32_t n, bool chain, const char *work);

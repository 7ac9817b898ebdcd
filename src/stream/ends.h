/* Where items come from and where results go.
 *
 *     FILE, -             a line each, of a file or standard input; to: a line each
 *     FOLDER/             a file each, by name; to: a file each
 *     watch:FOLDER        the same, and files that appear in it, until somebody stops the stream
 *     frames:FILE, :-     frames (filter_stays.c)
 *     unix:PATH           frames over a socket that somebody else listens at
 *     tcp:HOST:PORT       the same
 *     listen:HOST:PORT    frames over the first connection that comes
 *     call:lib.so:name    a function
 *     clock:N             from only: N items a second, the number of each as text
 *     nothing             from: items without bytes; to: results are counted, and gone */
#pragma once
#include "stream/filter.h"

enum source_answer {
    SOURCE_ITEM,
    SOURCE_LATER, /* nothing now, and the caller does not wait */
    SOURCE_END,
    SOURCE_FAILED,
};

struct source;
/* `wake`: a descriptor that becomes readable when nobody wants more items. NULL `from`: items without
 * bytes, for ever. */
struct source *source_open(const char *from, struct filters *filters, int wake, struct error *err);
/* A function of the caller's own in place of a text. */
struct source *source_of_function(weft_filter_function function, void *context, int wake);
/* The next item. `name`: that of its file, the caller's to free by the C library; NULL: none has one.
 * By one thread at a time. */
enum source_answer source_next(struct source *s, bool wait, uint64_t number, struct chunk **chunk,
                               char **name, struct error *err);
void source_close(struct source *s); /* NULL is fine */

struct sink;
/* `names`: the results of an item, so many. Folders take several, everything else one; with NULL `to`
 * any number. */
struct sink *sink_open(const char *to, struct filters *filters, const char *const *names,
                       uint32_t n, struct error *err);
struct sink *sink_of_function(weft_filter_function function, void *context, uint32_t n);
/* The results of an item; chunks[i] NULL: none. `name`: of the file that it came from, or NULL. By one
 * thread at a time. */
bool sink_put(struct sink *s, uint64_t number, const char *name, struct chunk *const *chunks,
              struct error *err);
bool sink_flush(struct sink *s, struct error *err);
bool sink_close(struct sink *s, struct error *err); /* NULL is fine; frees it in any case */

/* ---- private to both ends ---- */
/* The socket of a text, or -1. `listens`: connections are to be accepted from it. */
bool ends_is_socket(const char *text);
int ends_socket(const char *text, bool *listens, struct error *err);

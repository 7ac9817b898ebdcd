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
/* The names of files that it knows before it begins, in their order; NULL: no more. */
const char *source_known(const struct source *s, size_t i);
/* The next item; *chunk NULL: it has no bytes, or (of a source that gives bytes) there is nothing of it. `name`: that of its file, the caller's to free by the C library; NULL: none has one.
 * By one thread at a time. */
enum source_answer source_next(struct source *s, bool wait, uint64_t number, struct chunk **chunk,
                               char **name, struct error *err);
void source_close(struct source *s); /* NULL is fine */

struct sink;
/* `names`: the results of an item, so many. Folders take several, everything else one; with NULL `to`
 * any number. `halt` (may be NULL): above 1, nobody waits for a reader any more. */
struct sink *sink_open(const char *to, struct filters *filters, const char *const *names,
                       uint32_t n, const atomic_int *halt, struct error *err);
struct sink *sink_of_function(weft_filter_function function, void *context, uint32_t n);
/* Results of an item that came from a file of this name are to have files of their own; false: another item's have the
 * same. By one thread at a time, also while another puts. */
bool sink_claim(struct sink *s, const char *name, struct error *err);
/* The results of an item; chunks[i] NULL: none. `name`: of the file that it came from, or NULL. By one
 * thread at a time. */
bool sink_put(struct sink *s, uint64_t number, const char *name, struct chunk *const *chunks,
              struct error *err);
/* False without an error: `halt` said so, or it has failed before. */
bool sink_flush(struct sink *s, struct error *err);
/* Items that were put and did not come through a flush that failed; they are told once. */
uint64_t sink_take_unsent(struct sink *s);
void sink_heed(struct sink *s, const atomic_int *halt); /* another one from now on */
bool sink_close(struct sink *s, struct error *err);     /* NULL is fine; frees it in any case */

/* Would results be written over what is still to be read? `several`: results have folders of their own. */
bool ends_apart(const char *from, const char *to, bool several, struct error *err);
/* The results of all that a source knows before it begins have names of their own. */
bool ends_claim(const struct source *source, struct sink *sink, struct error *err);

/* ---- private to both ends ---- */
/* The socket of a text, or -1. `listens`: connections are to be accepted from it. */
bool ends_is_socket(const char *text);
int ends_socket(const char *text, bool *listens, struct error *err);

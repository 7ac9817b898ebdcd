/* A stream of the library, as its files see it: stream.c, stream_planned.c. */
#pragma once
#include "api/api.h"
#include "base/seal.h"
#include "stream/flow.h"

struct stream_planned; /* stream_planned.c */
struct streamed;       /* session/streamed.h */

struct weft_stream {
    struct weft_stream_options options; /* its texts are the caller's, and not looked at later */
    struct weft_workflow *workflow;     /* references of its own */
    struct weft_platform *platform;
    struct plan *plan;         /* a copy; NULL: none */
    struct flow *_Atomic flow; /* changes while a stream runs that plans as it goes */
    uint32_t helpers;          /* on agents; 0: filters run here */
    struct seal_key key;
    char *folder;
    char *text;     /* the workflow, as helpers read it */
    char *texts[7]; /* on, store, key, program, listen, throughput, latency: needed when it runs */
    struct stream_planned *planned; /* it plans as it goes; NULL: it does not */
    struct streamed *record;        /* NULL: none is kept */
    int64_t recorded;               /* its number; 0: none */
    atomic_bool stopped;            /* by its user */
    double told;                    /* when figures were last put there */
};

/* Options that do not go together are an error; s->planned is set where a throughput or latency is asked for. */
bool stream_planned_check(struct weft_stream *s, const struct weft_plan *plan, struct error *err);
/* In place of flow_run(). */
bool stream_planned_run(struct weft_stream *s, struct error *err);
/* stream_record.c: its run in the history. What fails there is said, and the stream goes on. */
void stream_record_begin(struct weft_stream *s);
void stream_record_tick(struct weft_stream *s); /* ten times a second */
void stream_record_end(struct weft_stream *s, bool good);
void stream_planned_tick(struct weft_stream *s); /* ten times a second */
void stream_planned_free(struct weft_stream *s);

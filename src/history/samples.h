/* What attempts of a kind tell about the next ones: read from the history, newest first. Private. */
#pragma once
#include "history/database.h"
#include "history/fit.h"

#include "base/mem.h"
#include "base/strbuf.h"

/* A machine that samples come from. */
struct sample_host {
    char *name;
    double speed; /* that its times are scaled by; 0: not measured, counts as 1 */
    uint32_t samples;
};
typedef ARRAY(struct sample_host) sample_hosts;

/* One sample a row for each quantity that was measured; buffers are used again for every kind. */
struct samples {
    struct fit_sample *time, *memory, *written, *busy;
    uint32_t ntime, nmemory, nwritten, nbusy;
    sqlite3_stmt *statement; /* one for all kinds */
    struct mem_guard guard;
};

struct samples_request {
    int64_t row; /* of the kind; 0: the history has no such kind */
    int64_t old; /* of its program: what an older weft and logs call it; 0: none */
    bool tells;  /* the program alone says what it does: it is no interpreter */
    const struct workflow *workflow; /* whose tasks of that kind have their old samples, too */
    const uint32_t *kinds;           /* of its tasks */
    uint32_t number;                 /* of the kind in them */
    const char *kind;                /* its name */
    struct intern *own;              /* own pasts, by workflow and task: filled */
    sample_hosts *hosts;             /* filled */
};

/* The key of a task's own past in `own`; `add`: as a new one where it is not there, else NONE. */
uint32_t samples_own(struct intern *own, struct strbuf *key, const char *workflow, const char *task,
                     bool add);

bool samples_open(struct samples *s, struct history *h, struct error *err);
void samples_close(struct samples *s);
/* At most FORECAST_SAMPLES. */
bool samples_read(struct samples *s, struct history *h, const struct samples_request *q,
                  struct error *err);
/* Median of bytes a second over the newest transfers between machines; NAN: there were none. */
double samples_link_speed(struct history *h, struct error *err);

void sample_hosts_free(sample_hosts *hosts);

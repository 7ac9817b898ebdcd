/* A cluster of the benchmarks' own: a redis-server that syncs before it answers, and agents, all processes on
 * this machine. They are ended in any case, also when somebody stops the benchmark.
 *
 *     struct bed c = {0};
 *     bed_start(&c, home, 4, 1);                                     4 agents of one core each
 *     struct board_run r = bed_run(&c, w, &text, folder);            until it has ended
 *     struct bed_times t = bed_read_times(&c, w, &r);
 *     bed_collect(&c, &r);
 *     bed_end(&c);
 *
 * One at a time. What fails ends the program, which says why. */
#pragma once
#include "base/seal.h"
#include "cluster/client/client.h"
#include "store/board.h"
#include "store/redis/redis.h"
#include <stdbool.h>
#include <sys/types.h>

enum { BED_AGENTS = 4 /* at most */ };

struct bed {
    uint32_t agents, cores; /* cores: of each */
    bool
        scripted; /* set before the start: the server has no module, it runs the script, as any other than ours */
    struct seal_key key;
    struct store_address address;
    char home[4096], url[64];
    struct client *client;
    struct board *board;
    struct charter charter;
};

void bed_start(struct bed *c, const char *home, uint32_t agents, uint32_t cores);
void bed_end(struct bed *c);
pid_t bed_agent(uint32_t number); /* its process */

/* `text` as `weft submit` hands it in (place_put_image()), files in `folder`. */
struct board_run bed_run(struct bed *c, const struct workflow *w, const struct strbuf *text,
                         const char *folder);
void bed_collect(struct bed *c, const struct board_run *r); /* the store may forget it */

/* Of a run that has ended, all of whose tasks were done: as the store has them. */
struct bed_times {
    double first, last; /* the first start and the last end: seconds from its creation */
};
struct bed_times bed_read_times(struct bed *c, const struct workflow *w, const struct board_run *r);

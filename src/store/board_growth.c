/* What joins a run while it goes on, on the board: its parts, and who holds it open for more of them.
 *
 *   I1. Between who offers a part and who ends the run the script decides, in one step: a part that stands
 *       was offered to a run that goes on, and a run that has ended has no part that nobody counted. */
#include "store/board_request.h"

#include <string.h>

#define PART_MOST (256u << 20)

/* A part that is not there has no bytes. */
static void part_came(struct board_request *a, const redisReply *reply, const char *why)
{
    bool none = reply && reply->type == REDIS_REPLY_NIL;
    bool good = none || (reply && reply->type == REDIS_REPLY_STRING);
    a->got(a->context, good, good && !none ? reply->str : "", good && !none ? reply->len : 0,
           good    ? ""
           : reply ? BOARD_STRANGE
                   : why);
}

static void part_key(const struct board *b, uint64_t run, uint32_t number, char out[static 200])
{
    snprintf(out, 200, "%sT.%llu.%u", b->stem, (unsigned long long)run, number);
}

void board_offer_part(struct board *b, const struct board_part *p, board_text got, void *context)
{
    struct board_request *q = request_new(b, part_came, context);
    char key[200];
    q->got = got;
    if (p->noffer > PART_MOST) {
        request_refuse(q, "what joins the run has more than 256 MB");
        return;
    }
    part_key(b, p->run, p->number, key);
    request_call(q, key, "part");
    request_add(q, p->offer, p->noffer);
    request_add(q, p->instead, p->instead ? p->ninstead : 0);
    if (p->if_open)
        request_add_number(q, p->run);
    else
        request_add(q, "", 0);
    request_send(q, true);
}

void board_run_part(struct board *b, uint64_t run, uint32_t number, board_text got, void *context)
{
    struct board_request *q = request_new(b, part_came, context);
    char key[200];
    q->got = got;
    part_key(b, run, number, key);
    request_add(q, "GET", 3);
    request_add(q, key, strlen(key));
    request_send(q, false);
}

static void hold_key(const struct board *b, uint64_t run, char out[static 200])
{
    snprintf(out, 200, "%sT.%llu.h", b->stem, (unsigned long long)run);
}

void board_hold_run(struct board *b, uint64_t run, uint32_t seconds, board_done done, void *context)
{
    struct board_request *q = request_new(b, board_done_came, context);
    char key[200];
    q->done = done;
    hold_key(b, run, key);
    request_add(q, seconds ? "SET" : "UNLINK", seconds ? 3 : 6);
    request_add(q, key, strlen(key));
    if (seconds) {
        request_add(q, "1", 1);
        request_add(q, "EX", 2);
        request_add_number(q, seconds);
    }
    request_send(q, true);
}

void board_run_hold(struct board *b, uint64_t run, board_text got, void *context)
{
    struct board_request *q = request_new(b, part_came, context);
    char key[200];
    q->got = got;
    hold_key(b, run, key);
    request_add(q, "GET", 3);
    request_add(q, key, strlen(key));
    request_send(q, false);
}

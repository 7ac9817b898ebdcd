/* Whether the server of a board keeps what it has answered (board.h): what its settings say, in words for
 * people, with what to do. */
#include "store/board.h"
#include "store/redis/client.h"
#include <stdio.h>

bool board_check_promise(const struct board *b, const struct store_address *address,
                         char remark[static BOARD_REMARK], struct error *err)
{
    const struct redis_client_promise *p = board_promise(b);
    remark[0] = 0;
    if (p->loses[0] && !address->may_lose)
        return error_set(err, ERROR_INPUT,
                         "%s: what it has answered may be lost, and with it runs: set appendonly "
                         "yes, appendfsync always (or everysec) and maxmemory-policy noeviction "
                         "there, or say --store-may-lose",
                         p->loses);
    if (p->loses[0])
        snprintf(remark, BOARD_REMARK,
                 "%s: when it ends or its memory is full, runs are lost (--store-may-lose)",
                 p->loses);
    else if (p->unchecked)
        snprintf(remark, BOARD_REMARK,
                 "the store at %s does not let this user ask how it writes its file (CONFIG GET "
                 "appendfsync): with `no` it may lose runs",
                 address->text);
    return true;
}

const char *board_is_full(const struct board *b)
{
    return board_promise(b)->full;
}

/* What the server runs for the store: one script applies a batch of operations to one shard,
 * another one creates the shard (src/store/redis/apply.lua, open.lua: their heads draw the
 * keys). */
#pragma once

#define REDIS_SCRIPT_KEYS 12
#define REDIS_SCRIPT_RECORD 64 /* bytes a task */
#define REDIS_SCRIPT_PROOF 16  /* of them, the last: what proves its end */
#define REDIS_SCRIPT_COPY 60   /* bytes a copy of an object: node 4, digest 32, size 8, proof 16 */
#define REDIS_SCRIPT_EDGE 12   /* bytes an edge: a mark of 4 and what proves it */
#define REDIS_SCRIPT_CLIENT 8  /* bytes of a client's name */

/* What becomes of a call's answers in the shard. */
enum redis_keep {
    REDIS_KEEP_NOT,    /* it only reads: asked again, it reads again */
    REDIS_KEEP_ANSWER, /* for the case that it must be sent again */
    REDIS_KEEP_BYE,    /* the client goes: forget what is kept for it */
};

/* Words of the script that are no operations of the store. */
enum redis_word {
    REDIS_NOTIFY = 20, /* a child: one parent is done */
    REDIS_DOOM,        /* a child: one parent never will be */
    REDIS_SETTLED,     /* all children know */
    REDIS_FENCE,       /* a node is dead; answers what is not settled */
    REDIS_ITEM,        /* what an item is made of */
    REDIS_PUTS,        /* PUT, HOLD, REDIS_ITEM, COMPLETE of neighbours: encode.c, "runs" */
    REDIS_HOLDS,
    REDIS_ITEMS,
    REDIS_COMPLETES,
};

/* The same in C, in servers that have loaded it (store/module); its number changes with the script's. */
#define REDIS_MODULE_NAME "weftstore"
#define REDIS_MODULE_VERSION 1
#define REDIS_MODULE_LINE "module:name=weftstore,ver=1," /* of INFO */
#define REDIS_MODULE_FILE "weftstore.so"
#define REDIS_MODULE_APPLY "weft.apply"
#define REDIS_MODULE_LOOK "weft.look"

/* weftstore.so, which a server loads from a file. */
extern const char store_module[];
extern const unsigned long store_module_size;

extern const char store_redis_apply_lua[], store_redis_open_lua[];

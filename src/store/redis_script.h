/* What the server runs: one script applies a batch of operations to one shard, another one makes
 * the shard. */
#pragma once

#define REDIS_SCRIPT_KEYS 10
#define REDIS_SCRIPT_RECORD 48 /* bytes a task */

/* Words of the script that are no operations of the store. */
enum redis_word {
    REDIS_TELL = 20, /* a child: one parent is done */
    REDIS_DOOM,      /* a child: one parent never will be */
    REDIS_SETTLED,   /* all children know */
    REDIS_FENCE,     /* a node is dead; answers what is not settled */
    REDIS_LOOK,      /* what an item is made of */
};

extern const char redis_script_apply[], redis_script_open[];

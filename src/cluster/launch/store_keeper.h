/* Stores that outlive who started them (store_server.h). A redis-server has a keeper, a small script that ends
 * it when nobody was connected for a while; and a note in the folder of this user's stores on this machine,
 * by which the next start finds what is left of those whose keeper was ended, too. */
#pragma once
#include <stdbool.h>

/* The server of this folder was just started, or found: somebody sees to its end. `temporary`: its folder goes with
 * it. `seconds` without a connection ($WEFT_STORE_IDLE: another number). What cannot be done is left undone: the
 * store works without. Clears what earlier ones left, first. */
void store_keeper_start(const char *folder, bool temporary, double seconds);
/* The server of this folder was ended in order: nobody need see to it any more. Does nothing while it runs. */
void store_keeper_end(const char *folder);

/* What the server runs for the board: one script, its first argument says what is wanted
 * (src/store/board.lua: its head draws the keys). */
#pragma once

#define BOARD_KEYS 7    /* six of the board, one of the request ("-": none) */
#define BOARD_RECORD 32 /* bytes a member, behind as many of a head */
#define BOARD_RUN_RECORD 17
#define BOARD_UNOPENED 255 /* state of a run that has a number and no more */

extern const char store_board_lua[];

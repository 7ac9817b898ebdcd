/* Figures that a run tells of itself while it goes on (history_figures()): kept until the recorder's
 * thread writes them, as facts. Private to the room. */
#pragma once
#include "history/database.h"

struct history_board *board_new(void); /* of a history that is opened */
/* What was told last, if nobody has written it yet. On failure it waits for another try. */
bool board_write(struct history *h, int64_t run, struct error *err);
void board_free(struct history *h);

/* Figures of a run that goes on, on their way into the facts. Whoever tells them leaves a batch; the
 * recorder's thread takes it, twice a second. Only the newest counts: facts of the same name and label
 * are replaced, so a stream of a week has as many rows as one of a second.
 *
 * I1. `lock` guards `next`; a batch that was taken belongs to who took it. */
#include "history/board.h"

#include "history/facts.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct figure_batch {
    size_t n;
    struct history_figure *at; /* their texts are in `text` */
    char *text;
};

struct history_board {
    pthread_mutex_t lock;
    struct figure_batch *next;
};

static void board_free_batch(struct figure_batch *b)
{
    if (!b)
        return;
    free(b->at);
    free(b->text);
    free(b);
}

/* Into the text of the batch, which has room for all of them; the copy. */
static const char *board_keep(char **at, const char *text)
{
    if (!text)
        return NULL;
    size_t n = strlen(text) + 1;
    const char *kept = memcpy(*at, text, n);
    *at += n;
    return kept;
}

/* Two allocations for all texts and numbers: this is asked for once a second by a thread that has other
 * things to do. */
static struct figure_batch *board_copy(const struct history_figure *f, size_t n)
{
    size_t bytes = 1;
    for (size_t i = 0; i < n; i++)
        bytes += strlen(f[i].name) + 3 + (f[i].label ? strlen(f[i].label) : 0) +
                 (f[i].of ? strlen(f[i].of) : 0);
    struct figure_batch *b = mem_new_zero(struct figure_batch, 1);
    b->at = mem_new(struct history_figure, n + 1);
    char *at = b->text = mem_new(char, bytes);
    for (size_t i = 0; i < n; i++) {
        if (isnan(f[i].value))
            continue; /* nothing is known: that is no fact */
        b->at[b->n++] =
            (struct history_figure){board_keep(&at, f[i].name), board_keep(&at, f[i].label),
                                    board_keep(&at, f[i].of), f[i].value};
    }
    return b;
}

/* The newest replaces one that still waits; one that could not be written does not replace a newer. */
static void board_put(struct history_board *board, struct figure_batch *b, bool newest)
{
    pthread_mutex_lock(&board->lock);
    struct figure_batch *old = board->next;
    if (newest || !old) {
        board->next = b;
        b = old;
    }
    pthread_mutex_unlock(&board->lock);
    board_free_batch(b);
}

void history_figures(struct history *h, const struct history_figure *figures, size_t n)
{
    if (!h->recorder)
        return;
    struct figure_batch *b = board_copy(figures, n);
    board_put(h->board, b, true);
}

struct history_board *board_new(void)
{
    struct history_board *board = mem_new_zero(struct history_board, 1);
    pthread_mutex_init(&board->lock, NULL);
    return board;
}

/* One transaction, so that who reads meanwhile sees the figures of one moment. A batch that cannot be
 * written (a lock that another program holds) waits for the next turn, unless a newer one has come. */
bool board_write(struct history *h, int64_t run, struct error *err)
{
    struct mem_guard guard;
    pthread_mutex_lock(&h->board->lock);
    struct figure_batch *b = h->board->next;
    h->board->next = NULL;
    pthread_mutex_unlock(&h->board->lock);
    if (!b)
        return true;
    mem_guard_enter(&guard, database_roll_back, h->db);
    bool ok = database_exec(h, "BEGIN IMMEDIATE", err);
    for (size_t i = 0; ok && i < b->n; i++)
        ok = facts_add_figure(h, run, &b->at[i], err);
    ok = ok && database_exec(h, "COMMIT", err);
    mem_guard_leave(&guard);
    if (ok) {
        board_free_batch(b);
        return true;
    }
    database_roll_back(h->db);
    board_put(h->board, b, false);
    return false;
}

void board_free(struct history *h)
{
    if (!h->board)
        return;
    board_free_batch(h->board->next);
    pthread_mutex_destroy(&h->board->lock);
    free(h->board);
}

/* Files that memory has no room for: the published rules, a clean-up, and exact dynamic programming for a handful
 * of tasks. evict.h says what is looked for. Orders here are as tasks run: from the root down in an out-tree, up
 * to it in an in-tree.
 *
 * When the next task lacks `need` bytes, the files that wait and that it does not read are candidates, those used
 * last first (the one that is not needed for longest is the one that room is made with for longest). Then
 *
 *     last scheduled first   goes from the first on until there is room
 *     first fit              takes the first that is large enough alone
 *     best fit               the one whose size is closest to the need, again and again
 *     first fill             the first that is not larger than the need
 *     best fill              the largest that is not larger than the need
 *     best combination       of the first five the subset whose sum is closest to the need
 *
 * and where a rule finds none, the first candidate goes. None of them is best on all trees, so all are tried. For a
 * given order the question is a covering problem (each task must have enough of the intervals over it removed) and
 * hard already; that is why exactness ends at EVICT_EXACT tasks.
 *
 * A file is written at most once and read at most once: it has one reader, and what has gone to disk is not needed
 * before that one runs. When it is written does not matter for the volume, so long as it has been made. */
#include "plan/tree/evict.h"
#include "base/bitset.h"
#include "base/mem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const evict_rule_names[EVICT_RULES] = {
    "last scheduled first", "first fit", "best fit", "first fill", "best fill", "best combination"};

/* Files looked at for a rule, those that a combination is made of, and the tasks up to which what was not needed is
 * taken back. */
enum { CANDIDATES = 64, COMBINED = 5, CLEANED_TASKS = 3000 };

/* ---- what a task needs ---- */

static bool file_stays(const struct evict_part *p, uint32_t x)
{
    return x != p->root && !p->cut[x]; /* else it comes from, or goes to, another part */
}

/* Everything in memory while x runs, but for files of others. */
static double bytes_to_run(const struct evict_part *p, uint32_t x)
{
    const struct tree *t = p->t;
    double bytes = t->memory[x] + t->file[x];
    for (uint32_t c = t->child_off[x]; c < t->child_off[x + 1]; c++)
        bytes += file_stays(p, c) || p->counting == TREE_STRICT ? t->file[c] : 0;
    return bytes;
}

/* The files that x reads (or, with `made`, makes), by number, from *first on; some may belong to other parts. */
static uint32_t files_of(const struct evict_part *p, uint32_t x, bool made, uint32_t *first)
{
    const struct tree *t = p->t;
    if (made != t->in) { /* its children's */
        *first = t->child_off[x];
        return t->child_off[x + 1] - t->child_off[x];
    }
    *first = x;
    return 1;
}

/* ---- the rules ---- */

/* Files in order of their use are ranks; `here` has the ranks of those that wait in memory, so that the last used are
 * found from its end. */
struct evict_run {
    const struct evict_part *p;
    const uint32_t *order;
    uint32_t count, nfiles;
    uint32_t *rank;    /* number -> rank of its file */
    uint32_t *file_at; /* rank -> number */
    uint64_t *here;
    double waiting; /* bytes of files here */
    uint8_t *out;
};

/* The subset of the first candidates whose sum is closest to what is needed. */
static uint32_t best_combination(const struct evict_run *r, const uint32_t *files, uint32_t n,
                                 double need)
{
    uint32_t few = n < COMBINED ? n : COMBINED, best = 1;
    double closest = INFINITY;
    for (uint32_t set = 1; set < 1u << few; set++) {
        double sum = 0;
        for (uint32_t i = 0; i < few; i++)
            sum += set >> i & 1 ? r->p->t->file[files[i]] : 0;
        if (fabs(sum - need) < closest) {
            closest = fabs(sum - need);
            best = set;
        }
    }
    return best;
}

/* Which single candidate goes, by every rule but the combination; the first where the rule finds none. `files` are
 * sorted by falling time of use. */
static uint32_t choose_file(const struct evict_run *r, const uint32_t *files, uint32_t n,
                            enum evict_rule rule, double need)
{
    const double *size = r->p->t->file;
    uint32_t found = NONE;
    for (uint32_t i = 0; i < n && rule != EVICT_LSNF; i++) {
        double bytes = size[files[i]];
        switch (rule) {
        case EVICT_FIRST_FIT:
            if (found == NONE && bytes >= need)
                found = i;
            break;
        case EVICT_FIRST_FILL:
            if (found == NONE && bytes <= need)
                found = i;
            break;
        case EVICT_BEST_FIT:
            if (found == NONE || fabs(bytes - need) < fabs(size[files[found]] - need))
                found = i;
            break;
        default: /* best fill */
            if (bytes <= need && (found == NONE || bytes > size[files[found]]))
                found = i;
        }
    }
    return found == NONE ? 0 : found;
}

static void write_out(struct evict_run *r, uint32_t *files, uint32_t *n, uint32_t i, double *need)
{
    uint32_t file = files[i];
    *need -= r->p->t->file[file];
    r->waiting -= r->p->t->file[file];
    r->out[file] = 1;
    bitset_clear(r->here, r->rank[file]);
    memmove(&files[i], &files[i + 1], (*n - i - 1) * sizeof *files);
    --*n;
}

/* The last used files in memory with ranks from `low` on, at most CANDIDATES. */
static uint32_t last_used(const struct evict_run *r, uint32_t low, uint32_t *files)
{
    uint32_t n = 0;
    for (size_t word = bitset_words(r->nfiles); word-- > low / 64 && n < CANDIDATES;)
        for (uint64_t bits = r->here[word]; bits && n < CANDIDATES;) {
            uint32_t bit = 63 - (uint32_t)__builtin_clzll(bits), rank = (uint32_t)word * 64 + bit;
            bits &= ~(1ull << bit);
            if (rank >= low && r->p->t->file[r->file_at[rank]] > 0)
                files[n++] = r->file_at[rank];
        }
    return n;
}

/* Files that are read later (ranks from `low` on) go until `need` bytes are free. */
static void make_room(struct evict_run *r, uint32_t low, enum evict_rule rule, double need)
{
    uint32_t files[CANDIDATES], n;
    while (need > 0 && (n = last_used(r, low, files)) > 0)
        while (need > 0 && n) {
            if (rule != EVICT_BEST_K) {
                write_out(r, files, &n, choose_file(r, files, n, rule, need), &need);
                continue;
            }
            uint32_t set = best_combination(r, files, n, need);
            for (uint32_t i = COMBINED; i-- > 0;)
                if (set >> i & 1)
                    write_out(r, files, &n, i, &need);
        }
}

/* What the choice costs: each file is written once and read once. */
static double volume_of(const struct evict_part *p, const uint32_t *order, uint32_t count,
                        const uint8_t *out)
{
    double volume = 0;
    for (uint32_t i = 0; i < count; i++)
        volume += out[order[i]] ? p->t->file[order[i]] : 0;
    return volume;
}

/* Those of task x leave memory (read) or come into it (made). */
static void move_files(struct evict_run *r, uint32_t x, bool made)
{
    uint32_t first, n = files_of(r->p, x, made, &first);
    for (uint32_t file = first; file < first + n; file++) {
        if (!file_stays(r->p, file) || r->out[file])
            continue;
        r->waiting += made ? r->p->t->file[file] : -r->p->t->file[file];
        if (made)
            bitset_set(r->here, r->rank[file]);
        else
            bitset_clear(r->here, r->rank[file]);
    }
}

/* In the order in which they are read; those of one task have neighbouring ranks. */
static void rank_files(struct evict_run *r)
{
    r->nfiles = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        uint32_t first, n = files_of(r->p, r->order[i], false, &first);
        for (uint32_t file = first; file < first + n; file++)
            if (file_stays(r->p, file)) {
                r->file_at[r->nfiles] = file;
                r->rank[file] = r->nfiles++;
            }
    }
}

double evict_by_rule(const struct evict_part *p, const uint32_t *order, uint32_t count,
                     enum evict_rule rule, uint8_t *out)
{
    struct evict_run r = {.p = p, .order = order, .count = count, .out = out};
    double limit = p->memory * (1 + 1e-12);
    bool good = true;
    uint32_t read = 0; /* files that have been read, or are now: their ranks are below */
    r.rank = mem_new_zero(uint32_t, p->t->n);
    r.file_at = mem_new(uint32_t, p->t->n);
    r.here = mem_new_zero(uint64_t, bitset_words(p->t->n));
    rank_files(&r);
    for (uint32_t i = 0; i < count; i++)
        out[order[i]] = 0;
    for (uint32_t i = 0; i < count && good; i++) {
        double own = bytes_to_run(p, order[i]);
        uint32_t first, n = files_of(p, order[i], false, &first);
        for (uint32_t file = first; file < first + n; file++)
            read += file_stays(p, file);
        move_files(&r, order[i], false);
        good = own <= limit;
        if (good && r.waiting + own > limit)
            make_room(&r, read, rule, r.waiting + own - p->memory);
        move_files(&r, order[i], true);
    }
    free(r.rank);
    free(r.file_at);
    free(r.here);
    return good ? volume_of(p, order, count, out) : INFINITY;
}

/* ---- what was not needed ---- */

/* Written as soon as they are made, these files leave every task its room? O(count): each file is one interval. */
static bool room_for_all(const struct evict_part *p, const uint32_t *order, uint32_t count,
                         const uint8_t *out)
{
    double waiting = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first, n = files_of(p, order[i], false, &first);
        for (uint32_t k = 0; k < n; k++)
            waiting -= file_stays(p, first + k) && !out[first + k] ? p->t->file[first + k] : 0;
        if (waiting + bytes_to_run(p, order[i]) > p->memory * (1 + 1e-9))
            return false;
        n = files_of(p, order[i], true, &first);
        for (uint32_t k = 0; k < n; k++)
            waiting += file_stays(p, first + k) && !out[first + k] ? p->t->file[first + k] : 0;
    }
    return true;
}

static int compare_largest(const void *a, const void *b, void *context)
{
    const double *size = context;
    double x = size[*(const uint32_t *)a], y = size[*(const uint32_t *)b];
    return x > y ? -1 : x < y;
}

/* A rule looks ahead to nothing: a file that went for one task may not have had to when a later task has others
 * go. The largest that can stay does, and so on. */
static void take_back(const struct evict_part *p, const uint32_t *order, uint32_t count,
                      uint8_t *out)
{
    uint32_t *files = mem_new(uint32_t, count + 1), n = 0;
    for (uint32_t i = 0; i < count; i++)
        if (out[order[i]])
            files[n++] = order[i];
    qsort_r(files, n, sizeof *files, compare_largest, p->t->file);
    for (uint32_t i = 0; i < n && (uint64_t)n * count < (uint64_t)CLEANED_TASKS * CLEANED_TASKS;
         i++) {
        out[files[i]] = 0;
        out[files[i]] = !room_for_all(p, order, count, out);
    }
    free(files);
}

/* ---- a handful of tasks exactly ---- */

/* Over sets of tasks that have run and of files that are away:
 *
 *     least[done][away] ──task i runs──▶ least[done + i][(away + gone for it) - read by it]   + bytes gone
 *
 * where i is ready, and what goes are files that wait, are not away and are not read by i, enough of them that i finds
 * room. All subsets are tried, since a smaller one may be dearer later. The state with all tasks done and nothing
 * away has the answer; each state remembers the task that led to it.
 *
 * least[done][away]: the least volume with which the tasks of `done` have run and the files of `away`, of those that
 * wait, are on the disk. Sets only grow with `done`, so that one pass in rising order is enough. */
struct evict_table {
    const struct evict_part *p;
    uint32_t n, number[EVICT_EXACT];
    double *least;
    uint16_t *
        before; /* per state: task << 10 | what was away before the task ran (with what went for it) */
    double size[EVICT_EXACT], own[EVICT_EXACT];
    uint32_t reads[EVICT_EXACT], makes[EVICT_EXACT],
        needs[EVICT_EXACT]; /* sets; needs: tasks before */
};

/* Tasks and files of the part as bits: file i is the one between task i and its parent. */
static void table_links(struct evict_table *b)
{
    const struct tree *t = b->p->t;
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t x = b->number[i];
        b->own[i] = bytes_to_run(b->p, x);
        b->size[i] = t->file[x];
        for (uint32_t k = 0; k < b->n; k++) {
            if (x == b->p->root || b->number[k] != t->parent[x])
                continue;
            uint32_t reader = t->in ? k : i, maker = t->in ? i : k;
            b->reads[reader] |= 1u << i;
            b->makes[maker] |= 1u << i;
            b->needs[reader] |= 1u << maker;
        }
    }
}

static double sum_of(const struct evict_table *b, uint32_t set)
{
    double sum = 0;
    for (; set; set &= set - 1)
        sum += b->size[__builtin_ctz(set)];
    return sum;
}

/* Every way to make room for task i, from one state. */
static void table_run(struct evict_table *b, uint32_t done, uint32_t waiting, uint32_t away,
                      uint32_t i)
{
    uint32_t states = 1u << b->n, others = waiting & ~away & ~b->reads[i];
    double need = sum_of(b, others) + b->own[i] - b->p->memory * (1 + 1e-12);
    double volume = b->least[(size_t)done * states + away];
    /* all subsets of `others`, the empty one last */
    for (uint32_t set = others;; set = (set - 1) & others) {
        double bytes = sum_of(b, set);
        if (bytes >= need) {
            uint32_t then = (away | set) & ~b->reads[i];
            size_t state = (size_t)(done | 1u << i) * states + then;
            if (volume + bytes < b->least[state]) {
                b->least[state] = volume + bytes;
                b->before[state] = (uint16_t)(i << EVICT_EXACT | away);
            }
        }
        if (!set)
            break;
    }
}

static void table_fill(struct evict_table *b)
{
    uint32_t states = 1u << b->n;
    for (uint32_t done = 0; done + 1 < states; done++) {
        uint32_t made = 0, read = 0, ready = 0;
        for (uint32_t i = 0; i < b->n; i++) {
            if (done >> i & 1) {
                made |= b->makes[i];
                read |= b->reads[i];
            } else if ((done & b->needs[i]) == b->needs[i]) {
                ready |= 1u << i;
            }
        }
        uint32_t waiting = made & ~read;
        for (uint32_t away = waiting;; away = (away - 1) & waiting) {
            if (b->least[(size_t)done * states + away] < INFINITY)
                for (uint32_t set = ready; set; set &= set - 1)
                    table_run(b, done, waiting, away, (uint32_t)__builtin_ctz(set));
            if (!away)
                break;
        }
    }
}

/* Back from the end: each state says which task came last, and what had been away before it. */
static void table_read(const struct evict_table *b, struct evict_result *out)
{
    uint32_t states = 1u << b->n, done = states - 1, away = 0;
    memset(out->out, 0, b->p->t->n);
    for (uint32_t k = b->n; k-- > 0;) {
        uint32_t before = b->before[(size_t)done * states + away];
        uint32_t i = before >> EVICT_EXACT, had = before & (states - 1);
        for (uint32_t f = 0; f < b->n; f++)
            if ((away | had) >> f & 1)
                out->out[b->number[f]] = 1;
        out->order[k] = b->number[i];
        done &= ~(1u << i);
        away = had;
    }
}

/* 2^(2n) states of which few can be reached: 10 tasks take 10 MB and milliseconds. */
static bool evict_exactly(const struct evict_part *p, struct evict_result *out)
{
    struct evict_table b = {.p = p, .n = out->count};
    if (out->count > EVICT_EXACT)
        return false;
    for (uint32_t i = 0; i < b.n; i++)
        b.number[i] = out->order[i];
    table_links(&b);
    size_t cells = (size_t)1 << (2 * b.n);
    b.least = mem_new(double, cells);
    b.before = mem_new_zero(uint16_t, cells);
    for (size_t i = 0; i < cells; i++)
        b.least[i] = INFINITY;
    b.least[0] = 0;
    table_fill(&b);
    double least = b.least[(size_t)((1u << b.n) - 1) << b.n];
    if (least < INFINITY) {
        table_read(&b, out);
        out->volume = least;
        out->proven = true;
        out->rule = "exact search";
    }
    free(b.least);
    free(b.before);
    return out->proven;
}

/* ---- a part ---- */

/* One order with all rules; the best so far is kept in `out`. */
static void try_order(const struct evict_part *p, const uint32_t *order, uint32_t count,
                      struct evict_result *out)
{
    uint8_t *trial = mem_new_zero(uint8_t, p->t->n);
    for (int rule = 0; rule < EVICT_RULES; rule++) {
        if (!(evict_by_rule(p, order, count, rule, trial) < INFINITY))
            break;
        take_back(p, order, count, trial);
        double volume = volume_of(p, order, count, trial);
        if (volume < out->volume) {
            out->volume = volume;
            out->rule = evict_rule_names[rule];
            memcpy(out->out, trial, p->t->n);
            memcpy(out->order, order, count * sizeof *order);
        }
    }
    free(trial);
}

void evict_part(const struct evict_part *p, struct tree_memory *room, struct evict_result *out)
{
    uint32_t n = p->t->n, *order = mem_new(uint32_t, n);
    *out = (struct evict_result){.volume = INFINITY};
    out->order = mem_new(uint32_t, n);
    out->out = mem_new_zero(uint8_t, n);
    double least = tree_least_memory(room, p->root, p->cut, p->counting, order, &out->count);
    memcpy(out->order, order, out->count * sizeof *order);
    if (least <= p->memory * (1 + 1e-9)) {
        out->volume = 0;
        out->proven = true;
        out->rule = "memory suffices";
    } else if (!evict_exactly(p, out)) {
        try_order(p, order, out->count, out);
        tree_best_postorder(room, p->root, p->cut, p->counting, order, &out->count);
        try_order(p, order, out->count, out);
    }
    free(order);
}

void evict_result_free(struct evict_result *r)
{
    free(r->order);
    free(r->out);
    *r = (struct evict_result){0};
}

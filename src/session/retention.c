/* Retention. Logs are judged by a line that each run leaves in its folder of logs when it ends:
 *
 *     STATE/logs/.looked      when they were last looked through; not empty: it was told that some went
 *     STATE/logs/12/.run      "done 34567" or "failed 34567": how it ended, bytes
 *
 * I1. Only who has the folder's lock removes logs, and never those of its own run: nobody else writes
 *     there meanwhile.
 * I2. Looking costs a small file a run that has logs, so it is done once an hour. */
#include "session/retention.h"

#include "base/mem.h"
#include "base/quantity.h"
#include "base/tree.h"
#include "base/plural.h"
#include "report/human.h"
#include "session/kept_keys.h"
#include "session/session.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const double LOOK_EVERY = 3600; /* seconds: I2 */
static const double FAILED_STAY = 6;   /* times as long as those of runs that went well */
enum {
    STAY = 10,
    STAY_AT_MOST = 1000
}; /* runs whose logs stay whatever their age; that may have any */

/* ---- the rules ---- */

/* "30d,1G", "30d", "1G", "all", in either order. */
static bool retention_variable(const char *name, struct keep_rule *rule, struct error *err)
{
    const char *text = getenv(name);
    if (!text || !*text)
        return true;
    if (strcmp(text, "all") == 0) {
        *rule = (struct keep_rule){INFINITY, INFINITY};
        return true;
    }
    bool good = true, aged = isfinite(rule->age);
    for (const char *at = text; good && at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        size_t n = strcspn(at, ",");
        double value;
        /* with a unit, which tells them apart: 30m are minutes, 30M megabytes */
        if (n && strchr("smhd", at[n - 1]) && aged && quantity_seconds(at, n, &value))
            rule->age = value;
        else if (n && strchr("KMGTPB", at[n - 1]) && quantity_bytes(at, n, &value))
            rule->size = value;
        else
            good = false;
    }
    return good ||
           error_set(err, ERROR_INPUT,
                     aged ? "%s is '%.100s'; expected an age, a size or both (30d,1G), or all"
                          : "%s is '%.100s'; expected a size (512M), or all",
                     name, text);
}

bool retention_read(struct retention *out, struct error *err)
{
    const double day = 86400;
    *out = (struct retention){.logs = {30 * day, 1e9},
                              .history = {365 * day, 1e9},
                              .memo = {INFINITY, 512e6},
                              .results = {365 * day, 20e9}};
    return retention_variable("WEFT_KEEP_LOGS", &out->logs, err) &&
           retention_variable("WEFT_KEEP_HISTORY", &out->history, err) &&
           retention_variable("WEFT_KEEP_MEMO", &out->memo, err) &&
           retention_variable("WEFT_KEEP_RESULTS", &out->results, err);
}

/* ---- logs ---- */

struct log_folder {
    char *path;
    double ended, bytes; /* seconds since 1970 */
    bool failed, mine, gone;
};
typedef ARRAY(struct log_folder) log_folders;

static const char *log_line_path(const char *folder, struct strbuf *out)
{
    return path_in(folder, ".run", out);
}

/* A run that wrote no log has no folder, and leaves no line. */
static void log_leave_line(const char *folder, bool failed, double bytes)
{
    struct strbuf path = {0};
    int fd = open(log_line_path(folder, &path),
                  O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd >= 0) {
        dprintf(fd, "%s %.0f\n", failed ? "failed" : "done", bytes);
        close(fd);
    }
    strbuf_free(&path);
}

/* Without a line it was cut off, or is of an older weft: it counts as failed, and is measured once. */
static void log_read_line(struct log_folder *l)
{
    struct strbuf path = {0};
    char word[16] = "";
    struct stat st;
    FILE *f = fopen(log_line_path(l->path, &path), "re");
    if (f && fscanf(f, "%15s %lf", word, &l->bytes) == 2 && fstat(fileno(f), &st) == 0) {
        l->failed = strcmp(word, "done") != 0;
        l->ended = (double)st.st_mtim.tv_sec;
    } else {
        l->failed = true;
        l->ended = stat(l->path, &st) == 0 ? (double)st.st_mtim.tv_sec : 0;
        l->bytes = tree_bytes(l->path);
        struct timespec as_it_was[2] = {st.st_mtim, st.st_mtim};
        if (!l->mine) {
            log_leave_line(l->path, true, l->bytes);
            utimensat(AT_FDCWD, path.at, as_it_was, 0);
        }
    }
    if (f)
        fclose(f);
    strbuf_free(&path);
}

static int log_newest_first(const void *a, const void *b)
{
    const struct log_folder *x = a, *y = b;
    if (x->mine != y->mine)
        return x->mine ? -1 : 1;
    if (x->ended != y->ended)
        return x->ended < y->ended ? 1 : -1;
    return strverscmp(y->path, x->path); /* in one second: by their numbers */
}

static bool log_list(const struct session *s, const char *logs, log_folders *out)
{
    folder_names names = {0};
    struct strbuf path = {0};
    if (!folder_list(logs, &names))
        return false;
    for (size_t i = 0; i < names.n; i++) {
        struct stat st;
        if (names.at[i][0] == '.' || lstat(path_in(logs, names.at[i], &path), &st) != 0 ||
            !S_ISDIR(st.st_mode))
            continue;
        struct log_folder l = {.path = mem_copy_string(path.at),
                               .mine = strcmp(names.at[i], s->label) == 0};
        log_read_line(&l);
        array_push(out, l);
    }
    folder_names_free(&names);
    strbuf_free(&path);
    if (out->n)
        qsort(out->at, out->n, sizeof *out->at, log_newest_first);
    return true;
}

static void log_remove(struct log_folder *l, double *bytes, uint32_t *count)
{
    if (l->mine || l->gone || !tree_remove(l->path))
        return;
    l->gone = true;
    *bytes += l->bytes;
    ++*count;
}

/* The newest stay; of the others those past their age go; past the size the oldest go, of runs that went
 * well before those of failed ones. */
static uint32_t log_prune(log_folders *all, const struct keep_rule *rule, double *bytes)
{
    double now = (double)time(NULL), sum = 0;
    uint32_t count = 0;
    for (size_t i = STAY; i < all->n; i++) {
        struct log_folder *l = &all->at[i];
        double age = (now - l->ended) / (l->failed ? FAILED_STAY : 1);
        if (age > rule->age || (isfinite(rule->age) && i >= STAY_AT_MOST))
            log_remove(l, bytes, &count);
    }
    for (size_t i = 0; i < all->n; i++)
        sum += all->at[i].gone ? 0 : all->at[i].bytes;
    for (int failed = 0; failed < 2; failed++)
        for (size_t i = all->n; i-- && sum > rule->size;) {
            struct log_folder *l = &all->at[i];
            if (l->failed != (failed == 1) || l->gone || i == 0)
                continue;
            double before = *bytes;
            log_remove(l, bytes, &count);
            sum -= *bytes - before;
        }
    return count;
}

/* Is it time to look, and was somebody told before? */
static bool log_time_to_look(const char *stamp, bool *told)
{
    struct stat st;
    bool there = lstat(stamp, &st) == 0;
    *told = there && st.st_size > 0;
    double age = there ? difftime(time(NULL), st.st_mtim.tv_sec) : INFINITY;
    return age < 0 || age > LOOK_EVERY;
}

static void log_stamp(const char *stamp, bool told)
{
    int fd = open(stamp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return;
    if (told)
        dprintf(fd, "told\n");
    futimens(fd, NULL);
    close(fd);
}

static void retention_apply_logs(struct session *s)
{
    struct strbuf logs = {0}, stamp = {0};
    struct stat st;
    bool told, well = s->record.outcome == RECORD_DONE;
    char size[HUMAN_SIZE];
    path_in(s->ws.state, "logs", &logs);
    path_in(logs.at, ".looked", &stamp);
    /* where nothing was logged an empty folder is left, which is of no use to anybody */
    if (s->logs && rmdir(s->logs) != 0 && stat(s->logs, &st) == 0)
        log_leave_line(s->logs, !well, s->result.log_bytes);
    const struct keep_rule *rule = &s->keep.logs;
    bool limited = isfinite(rule->age) || isfinite(rule->size);
    if (limited && stat(logs.at, &st) == 0 && log_time_to_look(stamp.at, &told)) {
        log_folders all = {0};
        double bytes = 0;
        uint32_t count = log_list(s, logs.at, &all) ? log_prune(&all, rule, &bytes) : 0;
        if (count && !told)
            remark(&s->o.remarks, REMARK_INFO,
                   "the logs of %u old run%s were removed (%s); WEFT_KEEP_LOGS says how long they "
                   "stay, and this is told once",
                   count, plural(count), human_bytes(size, bytes));
        log_stamp(stamp.at, told || count);
        for (size_t i = 0; i < all.n; i++)
            free(all.at[i].path);
        array_free(&all);
    }
    strbuf_free(&logs);
    strbuf_free(&stamp);
}

/* ---- the memo ---- */

struct retention_records {
    struct kept_keys keys;
    const struct session *s;
};

/* The workflow has a use for it, or its results are kept and found by it. */
static bool retention_needs(void *context, const struct memo_task *t)
{
    struct retention_records *r = context;
    return kept_keys_has(&r->keys, t) || keeping_needs_record(&r->s->keeping, r->s->ws.memo, t);
}

static void retention_apply_memo(struct session *s)
{
    struct error err = {0};
    char before[HUMAN_SIZE], after[HUMAN_SIZE];
    struct retention_records needed = {.keys = {.of = &s->needs}, .s = s};
    struct memo_tidying t = {
        .most = s->keep.memo.size, .needed = retention_needs, .context = &needed};
    if (!memo_tidy(s->ws.memo, &t, &err))
        remark(&s->o.remarks, REMARK_WARNING, "%s", err.text);
    else if (t.forgot)
        remark(&s->o.remarks, REMARK_INFO,
               "the oldest records of what was computed here were forgotten (%s, now %s); "
               "WEFT_KEEP_MEMO says how much stays",
               human_bytes(before, t.before), human_bytes(after, t.after));
    kept_keys_free(&needed.keys);
}

void retention_apply(struct session *s)
{
    retention_apply_logs(s);
    retention_apply_memo(s);
}

/* ---- the history ---- */

void retention_prune_history(struct session *s)
{
    struct error err = {0};
    struct history_pruning p = {.age = s->keep.history.age, .size = s->keep.history.size};
    if (!s->history)
        return;
    if (!history_prune(s->history, &p, &err))
        remark(&s->o.remarks, REMARK_WARNING, "the history could not be shortened: %s", err.text);
    else if (p.runs && p.first)
        remark(
            &s->o.remarks, REMARK_INFO,
            "the %u oldest run%s of the history %s removed; WEFT_KEEP_HISTORY says how long they "
            "stay, and this is told once",
            p.runs, plural(p.runs), p.runs == 1 ? "was" : "were");
}

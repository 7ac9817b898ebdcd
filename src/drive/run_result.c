/* The result of a run: remarks about files that were kept, and its end. */
#include "drive/run.h"

#include "base/strbuf.h"
#include "base/plural.h"

bool run_result_judge(const struct run_result *r, struct error *err)
{
    uint32_t failed = r->failed - r->excused, unrun = r->skipped - r->untaken - r->cancelled;
    if (failed && r->cancelled)
        return error_set(err, ERROR_FAILED,
                         "%u task%s failed, %u cancelled, %u not run because of that", failed,
                         plural(failed), r->cancelled, unrun);
    if (r->cancelled)
        return error_set(err, ERROR_FAILED, "%u task%s cancelled, %u not run because of that",
                         r->cancelled, plural_word(r->cancelled, " was", "s were"), unrun);
    return !failed || error_set(err, ERROR_FAILED, "%u task%s failed, %u not run because of that",
                                failed, plural(failed), unrun);
}

void run_result_kept(struct run_result *r, const char *name, const char *kept)
{
    struct strbuf line = {0};
    r->kept++;
    if (r->remarks.n >= RUN_REMARKS)
        return;
    r->kept_told++;
    strbuf_printf(&line,
                  "'%s' was there, and weft did not make it: it is kept as '%s' (--overwrite "
                  "replaces such files)",
                  name, kept);
    array_push(&r->remarks, strbuf_steal(&line));
}

void run_result_count_kept(struct run_result *r)
{
    struct strbuf line = {0};
    uint32_t more = r->kept - r->kept_told;
    if (!more)
        return;
    strbuf_printf(&line,
                  "%u more file%s that weft did not make %s kept beside the outputs, as "
                  "NAME.before-weft",
                  more, plural(more), more == 1 ? "is" : "are");
    array_push(&r->remarks, strbuf_steal(&line));
}

void run_result_free(struct run_result *r)
{
    for (size_t i = 0; i < r->failures.n; i++) {
        free(r->failures.at[i].text);
        free(r->failures.at[i].log);
    }
    array_free(&r->failures);
    for (size_t i = 0; i < r->remarks.n; i++)
        free(r->remarks.at[i]);
    array_free(&r->remarks);
    *r = (struct run_result){0};
}

void run_result_tell_spilled(struct run_result *r)
{
    struct strbuf text = {0};
    if (!r->spilled_files)
        return;
    strbuf_printf(
        &text,
        "%u file%s written out of memory as planned: %.0f bytes written, %.0f read again, "
        "%.3g s at the disk",
        r->spilled_files, r->spilled_files == 1 ? " was" : "s were", r->spilled, r->spilled_back,
        r->spill_seconds);
    array_push(&r->remarks, strbuf_steal(&text));
}

void run_result_tell_data(struct run_result *r)
{
    struct strbuf text = {0};
    if (!(r->data_limit > 0))
        return;
    strbuf_printf(&text, "data in memory took at most %.0f of %.0f bytes", r->data_peak,
                  r->data_limit);
    if (r->data_evictions)
        strbuf_printf(&text, "; %u object%s (%.0f bytes) made room on the disk and came back",
                      r->data_evictions, plural(r->data_evictions), r->data_evicted);
    array_push(&r->remarks, strbuf_steal(&text));
}

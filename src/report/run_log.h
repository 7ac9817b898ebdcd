/* `--log FILE`: what a person wants to know of a run afterwards, line by line, with the time: for cron
 * and the like. Start, remarks, each failed attempt as it happens, each cause at the end, the outcome.
 *
 *     2026-11-16 02:17:59 weft[4711]: run 12: words (flow.yaml) in /data: 13 of 14 tasks on 2 cores
 *
 * Lines are appended whole, one write each, so that several runs may share a file; no codes for
 * terminals, and none out of files either. */
#pragma once
#include "base/error.h"
#include "model/record.h"
#include "model/trace.h"

struct run_log;

/* NULL: it cannot be opened for appending. */
struct run_log *run_log_open(const char *path, struct error *err);
/* One line; further lines of the text are lines of their own. NULL as log is fine, here and below. */
void run_log_say(struct run_log *l, const char *text);
/* From here on tasks have names; the workflow must outlive the log. `to_run`: how many have to run. */
void run_log_started(struct run_log *l, const struct run_record *r, uint32_t to_run);
/* Attempts that fail. Valid from run_log_started() on. */
struct trace_sink run_log_sink(struct run_log *l);
/* The causes of failures, and the outcome. `why`: the run's error; NULL: it ended well. */
void run_log_done(struct run_log *l, const struct run_record *r, const char *why);
/* False: something could not be written, and `err` says why. */
bool run_log_close(struct run_log *l, struct error *err);

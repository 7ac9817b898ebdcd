/* The failures of a run.
 *
 * Which of them count. A task that has failed here for good may be another's by now: this agent stood still
 * or was cut off, others took it for dead, and what they make of the task is what counts. Only the store
 * knows, and it decides when it takes the failure (META_REMOVE, under the task's epoch).
 *
 *     failed here ──▶ the store is asked; nothing else starts, nobody is told
 *                       ├─ it counts ──▶ the run stops (job_stop_for()); whoever follows is told
 *                       └─ it is another's ──▶ as if it had never begun here
 *
 * Their file: a number of them, and of each the fields in the order of struct run_failure. Logs stand beside
 * it, and are named by their path. */
#include "cluster/agent/job_failures.h"

#include "base/file.h"
#include "cluster/agent/agent_state.h"

#include <stdlib.h>

/* Of the scheduler's: its question is on its way. */
static bool is_asked(const struct job *j, uint32_t task)
{
    const struct sched *sched = driver_sched(j->driver);
    return sched && sched_place(sched, task, NULL) == SCHED_COMPLETEQ;
}

void job_look_for_verdicts(struct job *j)
{
    for (size_t i = j->failing.n; i--;)
        if (!is_asked(j, j->failing.at[i]))
            j->failing.at[i] = array_pop(&j->failing);
}

bool job_starts_tasks(const struct job *j)
{
    return j->state == JOB_OPEN && !j->stop_due && !j->failing.n;
}

bool job_failure_is_open(const struct job *j, const struct run_failure *f)
{
    return f->last && is_asked(j, f->task);
}

void job_drop_failure(struct job *j, uint32_t task)
{
    size_t kept = j->failures_sent;
    for (size_t i = kept; i < j->result.failures.n; i++) {
        struct run_failure *f = &j->result.failures.at[i];
        if (f->task == task && f->last) {
            free(f->text);
            free(f->log);
        } else {
            j->result.failures.at[kept++] = *f;
        }
    }
    j->result.failures.n = kept;
}

void job_write_failures(const struct job *j)
{
    struct strbuf path = {0}, out = {0};
    struct error err = {0};
    if (!j->result.failures.n)
        return;
    bytes_put_u32(&out, (uint32_t)j->result.failures.n);
    for (size_t i = 0; i < j->result.failures.n; i++) {
        const struct run_failure *f = &j->result.failures.at[i];
        bytes_put_u32(&out, f->task);
        bytes_put_u32(&out, f->attempt);
        bytes_put_u8(&out, (uint8_t)f->outcome);
        bytes_put_u32(&out, (uint32_t)f->status);
        bytes_put_f64(&out, f->limit);
        bytes_put_u8(&out, f->last);
        bytes_put_text(&out, f->text, f->text ? strlen(f->text) : 0);
        bytes_put_text(&out, f->log, f->log ? strlen(f->log) : 0);
    }
    strbuf_printf(&path, "%s/failures", j->home);
    if (!file_write(path.at, out.at, out.n, &err))
        agent_log(j->agent, "run %llu: %s", (unsigned long long)j->number, err.text);
    strbuf_free(&path);
    strbuf_free(&out);
}

static char *failure_text(struct bytes *in)
{
    size_t n;
    const char *text = bytes_text(in, &n);
    return !in->bad && n ? mem_copy_bytes(text, n) : NULL;
}

/* One that is cut off, or of a task that is not there, ends it: the rest is not ours. */
void job_read_failures(struct job *j)
{
    struct strbuf path = {0};
    struct text text = {0};
    struct error ignored = {0};
    strbuf_printf(&path, "%s/failures", j->home);
    bool there = file_exists(path.at) && file_read(path.at, &text, &ignored);
    struct bytes in = {text.at, there ? text.n : 0, false};
    uint32_t n = there ? bytes_u32(&in) : 0;
    for (uint32_t i = 0; i < n && i < RUN_FAILURES; i++) {
        struct run_failure f = {.task = bytes_u32(&in), .attempt = bytes_u32(&in)};
        f.outcome = (enum trace_outcome)bytes_u8(&in);
        f.status = (int)bytes_u32(&in);
        f.limit = bytes_f64(&in);
        f.last = bytes_u8(&in);
        f.text = failure_text(&in);
        f.log = failure_text(&in);
        if (in.bad || f.task >= j->w->ntasks || f.outcome > TRACE_NOT_STARTED) {
            free(f.text);
            free(f.log);
            break;
        }
        array_push(&j->result.failures, f);
    }
    j->failures_sent = j->result.failures.n;
    text_free(&text);
    strbuf_free(&path);
}

/* Every column of a task, named once: what can be said about a task beside its name and its place in
 * the graph. A row here is all that a new key needs, apart from its meaning (docs/adding-a-key.md).
 * From it follow
 *
 *     the field of struct workflow and of the builder, freeing, builder_NAME()   model
 *     workflow_equal()                                                           model/equal.c
 *     the key of native YAML, read and written, also in `defaults`               formats/native
 *     the attribute of DOT, the member of "weft" in WfFormat                     formats
 *     the remark of every other writer, "NAMEs of 3 tasks"                       formats/dropped.c
 *     the test that each writer carries it or names it                           formats/columns_test.c
 *     the check of the table of keys in docs/formats/native.md                   formats/columns_test.c
 *
 * Three sorts of rows, in the order in which keys are listed for users:
 *
 *     OWN(name, defaults, lost, example, type, fallback, summary)
 *         stored in a way of its own; its functions stand in model/columns.c, and each reader and
 *         writer that carries it has code for it
 *     NUMBER(name, ctype, unit, absent, lost, example, type, fallback, summary)
 *         an optional number: `ctype *name` in struct workflow, NULL when no task has one
 *     SWITCH(name, flag, usual, lost, example, type, fallback, summary)
 *         true or false, kept as a bit of `flags` that is set when the value is not the usual one;
 *         `results` has words for it (column_switch_word())
 *
 *     defaults   COLUMN_DEFAULT: may stand in `defaults`, too (NUMBER and SWITCH always may)
 *     lost       what a writer without a place for it says, before "of 3 tasks". NULL: it is part of
 *                the graph's structure, whose losses dropped.c tells apart
 *     example    a value other than the usual, as YAML: the tests set it
 *     type, fallback, summary   the row in docs/formats/native.md; its last cell begins with summary
 *
 * Rows before COLUMN_work cannot be defaults, rows from it on can: native_workflow.c relies on it. */
#pragma once

/* clang-format off */
#define TASK_KEYS(OWN, NUMBER, SWITCH) \
    OWN(run, 0, "commands", "cp {in} {out}", \
        "text", "none", "command") \
    OWN(call, 0, "calls of functions", "lib.so:function", \
        "`library:function`", "none", "instead of `run`: a function of a shared library") \
    OWN(in, 0, NULL, "[more]", \
        "object or list", "none", "objects it reads") \
    OWN(out, 0, NULL, "[made]", \
        "object or list", "none", "objects it makes") \
    OWN(after, 0, NULL, "[\"2\"]", \
        "name or list", "none", "tasks that come first, without data") \
    OWN(when, 0, "conditions", "'1 > 0'", \
        "[condition](#conditions)", "none", "whether it runs at all, asked when it could start") \
    OWN(times, 0, "times on nodes", "{P1: 14, P2: 16.5}", \
        "mapping node: duration", "none", "time on these nodes, whatever their speed") \
    OWN(work, COLUMN_DEFAULT, "work", "3.5", \
        "number, 0 or more", "0", "operations: seconds on a node of speed 1") \
    OWN(memory, COLUMN_DEFAULT, "memory", "100M", \
        "size or list of sizes", "0", "needed while it runs") \
    OWN(cores, COLUMN_DEFAULT, "cores", "4", \
        "whole number, 1 or more", "1", "occupied at once, on one node") \
    NUMBER(nodes, uint32_t, COLUMN_SOME, 1, "nodes", "4", \
        "whole number, 1 or more", "1", "different nodes that it spans, with its `cores` on each") \
    OWN(needs, COLUMN_DEFAULT, "needs", "[avx512, ssd]", \
        "word or list", "none", "attributes that its node must have") \
    OWN(resources, COLUMN_DEFAULT, "resources", "{gpu: 1, licence: 2.5}", \
        "mapping name: number", "none", "things of its node that it holds while it runs") \
    OWN(kind, COLUMN_DEFAULT, "kinds", "sort", \
        "text", "the family, else the name without its number", "what comparisons and predictions group by; colours go by the first word of `run` where none is stated") \
    OWN(shell, COLUMN_DEFAULT, "shells", "sh", \
        "program with options", "strict", "what its command runs under") \
    OWN(env, COLUMN_DEFAULT, "variables", "{A: '1', B: 'x=\"{cores}\"'}", \
        "mapping name: text", "none", "variables that its command finds set") \
    OWN(pass, COLUMN_DEFAULT, "lists of passed variables", "[HOME, LANG]", \
        "name or list, or `all`", "`all`", "the variables that it gets from where weft was started") \
    OWN(secret, COLUMN_DEFAULT, "secrets", "[TOKEN]", \
        "name or list", "none", "variables whose values nobody sees") \
    OWN(container, COLUMN_DEFAULT, "containers", "\"busybox:1\"", \
        "image, or `none`", "none", "the image in which its command runs") \
    OWN(conda, COLUMN_DEFAULT, "conda environments", "tools.yaml", \
        "file, or `none`", "none", "the conda environment in which its command runs") \
    OWN(modules, COLUMN_DEFAULT, "modules", "[gcc/12, openmpi]", \
        "word or list", "none", "modules that are loaded before its command runs") \
    SWITCH(replicable, TASK_NOT_REPLICABLE, true, "not replicable", "false", \
        "`true`, `false`", "`true`", "in a stream: may several nodes process different items with it") \
    SWITCH(per_item, TASK_PER_ITEM, false, "programs of one item", "true", \
        "`true`, `false`", "`false`", "in a stream: its command is started for each item, with files") \
    NUMBER(timeout, double, COLUMN_SECONDS, INFINITY, "timeouts", "10m", \
        "duration", "none", "longest run") \
    NUMBER(processes, uint32_t, COLUMN_COUNT, 0, "limits of processes", "200", \
        "whole number, 0 or more", "4096", "most processes that it has at once; past that it is ended") \
    NUMBER(retries, uint32_t, COLUMN_COUNT, 0, "retries", "3", \
        "whole number, 0 or more", "0", "further attempts after a failure") \
    OWN(retry_on, COLUMN_DEFAULT, "failures that are tried again", "[137, memory]", \
        "list", "all failures", "after which failures the further attempts are made") \
    SWITCH(may_fail, TASK_MAY_FAIL, false, "permission to fail", "true", \
        "`true`, `false`", "`false`", "the run goes on without its outputs if it fails") \
    SWITCH(keep, TASK_KEEP, false, "keeping of the sandbox", "true", \
        "`true`, `false`", "`false`", "the next attempt finds the sandbox of the one that failed") \
    SWITCH(results, TASK_KEEPS_RESULTS, false, "keeping of results", "keep", \
        "`keep`, `leave`", "`leave`", "`keep`: its outputs are kept by content, and restored without computing") \
    NUMBER(deadline, double, COLUMN_SECONDS, INFINITY, "deadlines", "1h", \
        "duration", "none", "latest end, from the start of the workflow") \
    NUMBER(priority, double, COLUMN_NUMBER, 0, "priorities", "-2", \
        "number", "0", "larger first") \
    OWN(temporary, COLUMN_DEFAULT, NULL, "true", \
        "`true`, `false`", "`false`", "all its outputs are deleted once their last reader is done") \
    SWITCH(sandbox, TASK_IN_PLACE, true, "running without a sandbox", "false", \
        "`true`, `false`", "`true`", "`false`: a run lets it work in the workflow's folder itself")

/* Columns that have no key of their own in native YAML. */
#define TASK_MARKS(OWN, SWITCH) \
    OWN(rungs, 0, "memory for further attempts", "[100M, 200M, 400M]", \
        NULL, NULL, "`memory: [2G, 4G, 8G]`: what the second and third attempt get") \
    OWN(optional, 0, "optional inputs", "[{name: more, optional: true}]", \
        NULL, NULL, "`in: { name: x, optional: true }`: files that it can do without") \
    SWITCH(done, TASK_DONE, false, "done marks", "true", \
        NULL, NULL, "the file says it is already done (Snakemake dashed, DAGMan DONE)")

#define TASK_COLUMNS(OWN, NUMBER, SWITCH) TASK_KEYS(OWN, NUMBER, SWITCH) TASK_MARKS(OWN, SWITCH)
/* clang-format on */

/* The columns of their own that are a text of one line: `str_id *name` in struct workflow, NULL when no
 * task has one. How each is written is said in model/environment.h. Readers call builder_text(). */
#define TASK_TEXTS(TEXT) TEXT(env) TEXT(pass) TEXT(secret) TEXT(container) TEXT(conda) TEXT(modules)

/* For a use that skips the rows of one sort. */
#define COLUMN_SKIP(...)

-- The default constraints of `weft plan --with constraints` (Ahrens, Shapiro, Tanimoto 1997,
-- section 5). Copy this file, change it, and give it with --assert-file.

-- 1. Only processors that others use at most 3 percent: all others have no tasks.
assert relationship requirement (
  (select proc-task-list from proc where proc-utilization > 0.03) = UNKNOWN );

-- 2. Prefer states with more scheduled tasks. This is H of the A* search and its priority is p1
--    (--set p1=...): large is fast, 0 is thorough.
assert value preference (
  opt-type = maximize, priority = 1000,
  function = (select count(task-assigned-proc-id) from task),
  min = 0, max = (select count(*) from task));

-- 3. to 5. emulate the algorithm of Wu and Gajski.
-- 3. Schedule tasks by falling length of their longest path to an output.
assert ordering requirement (
  (select task-path-rank from task order by task-schedule-order nulls last, task-path-rank), < );

-- 4. The task scheduled last goes where it can start earliest.
assert value preference (
  opt-type = minimize, priority = 1,
  function = (select task-start-time from task
              where task-schedule-order = (select max(task-schedule-order) from task)),
  min = 0, max = (select sum(task-exec-time) from task) +
                 (select sum(non-local-comm-time) from dep));

-- 5. Where that does not decide, the program should end early.
assert value preference (
  opt-type = minimize, priority = 0.000000001,
  function = (select max(task-finish-time) from task),
  min = 0, max = (select sum(task-exec-time) from task) +
                 (select sum(non-local-comm-time) from dep));

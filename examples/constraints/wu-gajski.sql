-- The three constraints that emulate the algorithm of Wu and Gajski, and the one that lets the search
-- make progress. No limit on the processors' utilization.

-- 1. Prefer states with more scheduled tasks. This is H of the A* search and its priority is p1
--    (--set p1=...): large is fast, 0 is thorough.
assert value preference (
  opt-type = maximize, priority = 1000,
  function = (select count(task-assigned-proc-id) from task),
  min = 0, max = (select count(*) from task));

-- 2. to 4. emulate the algorithm of Wu and Gajski.
-- 2. Schedule tasks by falling length of their longest path to an output.
assert ordering requirement (
  (select task-path-rank from task order by task-schedule-order nulls last, task-path-rank), < );

-- 3. The task scheduled last goes where it can start earliest.
assert value preference (
  opt-type = minimize, priority = 1,
  function = (select task-start-time from task
              where task-schedule-order = (select max(task-schedule-order) from task)),
  min = 0, max = (select sum(task-exec-time) from task) +
                 (select sum(non-local-comm-time) from dep));

-- 4. Where that does not decide, the program should end early.
assert value preference (
  opt-type = minimize, priority = 0.000000001,
  function = (select max(task-finish-time) from task),
  min = 0, max = (select sum(task-exec-time) from task) +
                 (select sum(non-local-comm-time) from dep));

-- The default constraints with the order of scheduling as a preference instead of a requirement:
-- the search may schedule a task out of turn where another preference gains more. Use this as the
-- base of constraints on the order of outputs, such as the one at the end.

assert relationship requirement (
  (select proc-task-list from proc where proc-utilization > 0.03) = UNKNOWN );

assert value preference (
  opt-type = maximize, priority = 100,
  function = (select count(task-assigned-proc-id) from task),
  min = 0, max = (select count(*) from task));

assert value preference (
  opt-type = minimize, priority = 2,
  function = assert ordering preference (
    (select task-path-rank from task order by task-schedule-order nulls last, task-path-rank), <),
  min = 0, max = (select count(*) * (count(*) - 1) / 2 from task));

assert value preference (
  opt-type = minimize, priority = 1,
  function = (select max(task-finish-time) from task),
  min = 0, max = (select sum(task-exec-time) from task) +
                 (select sum(non-local-comm-time) from dep));

-- The first task of the file should end before the second one.
assert value preference (
  opt-type = minimize, priority = 10,
  function = assert relationship preference (
    (select task-finish-time from task where task-id = 1) <=
    (select task-finish-time from task where task-id = 2)),
  min = 0, max = 1);

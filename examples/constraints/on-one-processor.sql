-- All tasks of kind "fft" on the processor lillith, and twice as much load on calvin as on hobbes.
-- The examples of section 3.2 and 3.3 of the paper; in addition to the defaults:
--   weft plan flow.yaml --on cluster.yaml --with constraints --assert-file on-one-processor.sql \
--        --set defaults=yes

assert relationship requirement (
  (select task-assigned-proc-id from task where task-kind = "fft") =
  (select proc-id from proc where proc-name = "lillith"));

assert value preference (opt-type = minimize, priority = 10,
  function = absolute_value (
    (select proc-total-running-time from proc where proc-name = "calvin") -
    2 * (select proc-total-running-time from proc where proc-name = "hobbes")),
  min = 0, max = (select sum(task-exec-time) from task) +
                 (select sum(non-local-comm-time) from dep));

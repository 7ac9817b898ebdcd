#!/usr/bin/env bash
# Executions that other systems recorded become runs of the history, and predictions follow from them:
# WfFormat, Nextflow's trace (for people and raw), sacct. Speaks TAP.
weft=$WEFT
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
export WEFT_HISTORY=$work/history.db TZ=UTC
row() { "$weft" history "$1" --export rows.csv >/dev/null 2>&1; tr -d "\r" <rows.csv | grep "^$2,"; }

# --- Nextflow ---
printf 'task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\tduration\trealtime\t%%cpu\tpeak_rss\tpeak_vmem\trchar\twchar\n1\tab/1\t11\tPIPE:FASTQC (s1)\tCOMPLETED\t0\t2026-11-10 10:00:00.000\t1m 5s\t1m\t98.0%%\t1.5 GB\t2 GB\t10 MB\t1 MB\n2\tab/2\t12\tPIPE:FASTQC (s2)\tFAILED\t1\t2026-11-10 10:00:01.000\t10s\t9.5s\t50.0%%\t100 MB\t2 GB\t20 MB\t0\n3\tab/3\t13\tPIPE:FASTQC (s2)\tCOMPLETED\t0\t2026-11-10 10:00:20.000\t2m 2s\t2m\t99.0%%\t1.6 GB\t2 GB\t20 MB\t2 MB\n4\tab/4\t-\tPIPE:MULTIQC\tCACHED\t0\t2026-11-10 10:00:20.000\t-\t-\t-\t-\t-\t-\t-\n' >trace.txt
"$weft" history --import trace.txt >out 2>err && grep -q "^run 1: 2 tasks of nextflow, 3 attempts; 1 row" out
ok $? "a trace of Nextflow"
[ "$(row 1 'PIPE:FASTQC (s1)')" = 'PIPE:FASTQC (s1),FASTQC,1,done,0,3.5,63.5,58.8,1610612736,10485760,1048576,0,1,' ]
ok $? "kind, time, processor, memory and bytes"
row 1 'PIPE:FASTQC (s2)' | cut -d, -f3-5 | tr '\n' ' ' | grep -q '1,failed,1 2,done,0'
ok $? "a second attempt is one"
"$weft" history --import trace.txt >out 2>err
[ $? = 2 ] && grep -q "already, as run 1" err
ok $? "once is enough"
printf 'name\tprocess\tstatus\tstart\trealtime\tpeak_rss\nA (1)\tW:A\tCOMPLETED\t1762768800500\t1500\t4096\n' >raw.txt
"$weft" history --import raw.txt >out 2>err && [ "$(row last 'A (1)' | cut -d, -f2,6,7,9)" = 'A,0,1.5,4096' ]
ok $? "a raw trace: milliseconds and bytes"

printf 'name\tstatus\tstart\trealtime\nA\tCOMPLETED\t1762768800500\t1500\nA\tCOMPLETED\t1762768801500\t2500\nB\tFAILED\t-\t-\nC\tABORTED\t1762768802500\t500\nD\tABORTED\t-\t-\n' >odd.txt
"$weft" history --import odd.txt >out 2>err && grep -q "3 tasks of nextflow, 3 attempts; 2 rows" out
ok $? "what has no time is counted among what is left out"
[ "$(row last A | cut -d, -f3,7)" = 1,1.5 ] && [ "$(row last 'A #2' | cut -d, -f2,3,7)" = A,1,3.5 ] && [ "$(row last C | cut -d, -f4)" = cancelled ]
ok $? "tasks that share a name are tasks, not attempts of one; what was aborted ran"

# --- Slurm ---
printf 'JobID|JobName|State|ExitCode|Start|ElapsedRaw|TotalCPU|MaxRSS|MaxDiskRead|MaxDiskWrite|NodeList\n812|align_7|COMPLETED|0:0|2026-11-10T09:00:00|63|01:58.2||||n3\n812.batch|batch|COMPLETED|0:0|2026-11-10T09:00:00|63|01:58.2|1536K|12M|3M|n3\n812.extern|extern|COMPLETED|0:0|2026-11-10T09:00:00|63|00:00|10K|1M|0|n3\n813|align_8|TIMEOUT|0:0|2026-11-10T09:00:10|3600|1-00:00:01||||n4\n813.batch|batch|CANCELLED|0:15|2026-11-10T09:00:10|3601|1|2G|1M|1M|n4\n814|sort|CANCELLED by 1000|0:0|None|0|00:00:00||||None assigned\n815|sort|RUNNING|0:0|2026-11-10T09:10:00|5|00:00:00||||n4\n816|sort|FAILED|0:9|2026-11-10T09:10:00|5|00:00:01||||n4\n' >sacct.txt
"$weft" history --import sacct.txt >out 2>err && grep -q "3 tasks of slurm, 3 attempts; 2 rows" out
ok $? "sacct"
[ "$(row last 'align_7#812')" = 'align_7#812,align,1,done,0,0,63,118.2,1572864,13631488,3145728,0,0,' ] || [ "$(row last 'align_7#812')" = 'align_7#812,align,1,done,0,0,63,118.19999999999999,1572864,13631488,3145728,0,0,' ]
ok $? "what steps used is the job's"
[ "$(row last 'align_8#813' | cut -d, -f4,8,9)" = 'timeout,86401,2147483648' ] && [ "$(row last 'sort#816' | cut -d, -f4,5)" = 'failed,137' ]
ok $? "limits, days and signals"
printf 'JobID|JobName|State|ExitCode|Start|Elapsed|NodeList|\n7|a|REQUEUED|0:0|1762768800|00:01:00|n1|\n7|a|COMPLETED|0:0|1762768900|1-00:00:01|n2|\n8_3|a|NODE_FAIL|1:0|1762768900|10|n3|\n8_[4-9]|a|PENDING|0:0|Unknown|00:00:00|None assigned|\n' >odd.txt
"$weft" history --import odd.txt >out 2>err && grep -q "2 tasks of slurm, 3 attempts; 1 row" out
ok $? "sacct -p, arrays, jobs that were queued again"
[ "$(row last 'a#7' | cut -d, -f2-7 | tr '\n' ' ')" = 'a,1,cancelled,0,0,60 a,2,done,0,100,86501 ' ] && row last 'a#8_3' | cut -d, -f5 | grep -qx 0
ok $? "times as seconds since 1970, and statuses that are ours alone"
printf 'JobID|State\n1|COMPLETED\n' >bad.txt
"$weft" history --import bad.txt >out 2>err
[ $? = 2 ] && grep -q "bad.txt:1:.*sacct -P -o" err
ok $? "columns that are missing are named, with the command that prints them"
printf 'JobID|JobName|State|Start|ElapsedRaw\n1|a|COMPLETED|2026-11-10T09:00:00\n' >bad.txt
"$weft" history --import bad.txt >out 2>err
[ $? = 2 ] && grep -q "bad.txt:2: 4 cells; the first line names 5" err
ok $? "so is a row that is too short"
echo nothing >bad.txt
"$weft" history --import bad.txt >out 2>err
[ $? = 2 ] && grep -q "no execution log that is known" err
ok $? "another file is refused"

# --- WfFormat, and what follows from it ---
printf '{"name":"w","schemaVersion":"1.5","workflow":{"specification":{"tasks":[{"name":"a","id":"a","parents":[],"children":["b"],"inputFiles":[],"outputFiles":["f"]},{"name":"b","id":"b","parents":["a"],"children":[],"inputFiles":["f"],"outputFiles":[]}],"files":[{"id":"f","sizeInBytes":500}]},"execution":{"makespanInSeconds":50,"executedAt":"2020-01-01T00:00:00+00:00","tasks":[{"id":"a","runtimeInSeconds":20,"avgCPU":50,"memoryInBytes":1000,"command":{"program":"make-it","arguments":[]}},{"id":"b","runtimeInSeconds":30,"readBytes":700,"command":{"program":"use-it","arguments":[]}}]}}}' >w.json
"$weft" history --import w.json >out 2>err && [ "$(row last a)" = 'a,make-it,1,done,0,0,20,10,1000,0,500,0,0,make-it' ] && [ "$(row last b | cut -d, -f6,7,10)" = '20,50,700' ]
ok $? "an execution of WfFormat: what has no start begins after its parents"
"$weft" history --import w.json >out 2>err
[ $? = 2 ]
ok $? "once is enough"
sed 's/"runtimeInSeconds":30/"runtime_s":30/; s/2020/2021/' w.json >half.json
"$weft" history --import half.json >out 2>err && grep -q "2 tasks of wfformat, 1 attempt; 1 row left out" out
ok $? "a task without a runtime is counted among what is left out"
printf 'weft: 1\ntasks:\n  x: { run: "make-it now" }\n' >flow.yaml
"$weft" predict flow.yaml >out 2>err && grep -qE '20( s|\.0)' out
ok $? "a task of that kind is predicted by it"
"$weft" predict --error >out 2>err && grep -q "^no run was predicted" out
ok $? "of imported runs nothing was expected, and an empty table says why"

data=${WEFT_SHARED:-$root/../shared}/data
if [ -d "$data/wfformat" ]; then
    bad=0 n=0
    for f in "$data"/wfformat/*.json "$data"/wfformat-old/*.json; do
        n=$((n + 1))
        "$weft" history --import "$f" >out 2>err || grep -q "already, as run\|records no task that ran" err || { bad=$((bad + 1)); sed 's/^/# /' err; }
    done
    [ "$n" -gt 20 ] && [ "$bad" = 0 ]
    ok $? "$n executions of others"
else
    ok 0 "executions of others # SKIP no shared data"
fi

echo "1..$count"
exit $failed

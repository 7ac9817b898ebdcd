#!/usr/bin/env bash
# A task with `nodes: 3` takes its cores on three nodes at once, or does not run: one machine, a plan, too few agents refuse it. On agents its
# command finds a host file, and a launcher with which mpirun starts its daemons on the others; what runs there ends with it. A node that
# dies takes the attempt with it, not the task. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "tasks on several nodes" "redis-server is not installed"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
skipped() { # text why
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

# ---- who cannot give several nodes says so ----
cat >"$work/scale.yaml" <<'END'
weft: 1
lists: { n: [1, 2, 4] }
tasks:
  scale: { each: n, nodes: '{n}', work: 2, run: 'cat "$WEFT_HOSTFILE" > {out}', out: 'hosts-{n}' }
END
say run "$work/scale.yaml"
[ $? = 3 ] && grep -q "'scale@n=2' spans 2 nodes" "$work/err" && grep -q -- "--on local:4" "$work/err" && [ ! -e "$work/hosts-1" ]
ok $? "a run on this machine refuses it before it starts, and says where it can run"
say plan "$work/scale.yaml"
[ $? = 3 ] && grep -q "spans 2 nodes, and a plan gives a task one" "$work/err"
ok $? "planners refuse it"
sed 's/nodes: .{n}., //' "$work/scale.yaml" >"$work/narrow.yaml"
say plan "$work/narrow.yaml" --on 2 -o "$work/narrow.plan" && say check "$work/narrow.plan"
ok $? "of the same tasks on one node each there is a plan"
say check "$work/narrow.plan" --workflow "$work/scale.yaml"
[ $? = 1 ] && grep -q "spans 2 nodes" "$work/out" "$work/err"
ok $? "the checker is not fooled by a plan that was made for another workflow"
say sim --schedulers 3 "$work/scale.yaml"
[ $? = 3 ] && grep -q "'scale@n=4' spans 4 nodes with 1 core on each; of the nodes 3 are there" "$work/err"
ok $? "three schedulers do not simulate what spans four nodes"
say sim --schedulers 5 "$work/scale.yaml" && grep -q "makespan  *2\(\.00.\)\? s" "$work/out"
ok $? "five do: what spans one, two and four nodes of two cores runs at once"
printf 'weft: 1\ntasks: { a: { run: "true", nodes: 0 } }\n' >"$work/none.yaml"
say show "$work/none.yaml"
[ $? = 2 ] && grep -q "none.yaml:2.*nodes is 0; expected a whole number, 1 or more" "$work/err"
ok $? "no task spans no node"
printf 'weft: 1\ntasks: { a: { call: "lib.so:f", nodes: 2 } }\n' >"$work/call.yaml"
say show "$work/call.yaml"
[ $? = 2 ] && grep -q "nodes: 2 and is a call" "$work/err"
ok $? "nor does a function span two"

# ---- agents, without MPI ----
mkdir "$work/plain"
cat >"$work/plain/flow.yaml" <<'END'
weft: 1
tasks:
  hosts: { run: 'cat "$WEFT_HOSTFILE" > {out}; test $WEFT_NODES = 3', out: hosts.txt, nodes: 3, cores: 2 }
  # each node says which agent it is: the first number of WEFT_OWNER is its process
  ask:
    run: 'while read -r host slots; do "$WEFT_RSH" "$host" "echo \$WEFT_OWNER" </dev/null 2>> {out}; done < "$WEFT_HOSTFILE"'
    out: agents.txt
    nodes: 4
  narrow: { run: 'echo ${{WEFT_NODES:-none}} > {out}', out: narrow.txt }
END
say run "$work/plain/flow.yaml" --on local:4 -j 2
ok $? "a run on four agents"
[ "$(wc -l <"$work/plain/hosts.txt")" = 3 ] && [ "$(cut -d' ' -f1 "$work/plain/hosts.txt" | sort -u | wc -l)" = 3 ] && [ "$(grep -c ' slots=2$' "$work/plain/hosts.txt")" = 3 ]
ok $? "the host file names three different nodes, with the task's cores"
[ "$(cut -d. -f1 "$work/plain/agents.txt" | sort -u | wc -l)" = 4 ]
ok $? "the launcher runs commands on all four agents"
[ "$(cat "$work/plain/narrow.txt")" = none ]
ok $? "a task on one node knows nothing of all that"
say run "$work/scale.yaml" --on local:3
[ $? = 3 ] && grep -q "'scale@n=4' spans 4 nodes with 1 core on each; of the agents 3 are there" "$work/err"
ok $? "four nodes of three agents: refused at once"

mkdir "$work/bad"
cat >"$work/bad/flow.yaml" <<'END'
weft: 1
tasks:
  status: { run: 'other=$(sed -n "2s/ .*//p" "$WEFT_HOSTFILE"); "$WEFT_RSH" "$other" "echo why; exit 7"', nodes: 2 }
END
say run "$work/bad/flow.yaml" --on local:2 -j 1
[ $? = 1 ] && grep -q "status 7" "$work/err" "$work/out" && grep -rq "^why" "$work/err" "$work/out" "$work/bad/.weft/logs"
ok $? "a command that fails elsewhere fails here, with what it wrote; that is the task's own failure"
cat >"$work/bad/flow.yaml" <<'END'
weft: 1
tasks:
  stranger: { run: 's=0; "$WEFT_RSH" nowhere true 2> {out} || s=$?; test $s = 255', out: why.txt, nodes: 2 }
END
say run "$work/bad/flow.yaml" --on local:2 -j 1 && grep -q "nowhere is none of this task's nodes" "$work/bad/why.txt"
ok $? "a host that is not the task's is no place to run at"

# ---- a cluster that stays ----
start_server
say key "$work/key"
export WEFT_KEY=$work/key
start_agent a "$weft" agent -j 2
start_agent b "$weft" agent -j 2
are_ready a b
mkdir "$work/later"
cat >"$work/later/flow.yaml" <<'END'
weft: 1
tasks:
  three: { run: 'cat "$WEFT_HOSTFILE" > {out}', out: three.txt, nodes: 3 }
END
say submit "$work/later/flow.yaml"
[ $? = 3 ] && grep -q "spans 3 nodes" "$work/err" && grep -q -- "--later" "$work/err"
ok $? "submit: more nodes than there are agents are refused"
"$weft" run "$work/later/flow.yaml" --on cluster --later >"$work/out" 2>"$work/err" </dev/null &
client=$!
wait_for 30 grep -q "waits until .*: it asks for 1 core on each of 3 nodes" "$work/err"
ok $? "with --later the task waits, and says so"
start_agent c "$weft" agent -j 2
wait $client
status=$?
client=""
[ $status = 0 ] && [ "$(wc -l <"$work/later/three.txt")" = 3 ]
ok $? "a third agent joins: it runs"

# Wide and narrow ones that want all cores, from two runs at once: nobody waits for ever, and never has a node more than its cores in use.
# Each holds a file a core while it runs, and looks how many there are on each node.
busy() { # run folder tasks nodes cores: of the i-th task
    mkdir "$2"
    {
        echo "weft: 1"
        echo "tasks:"
        for i in $(seq $3); do
            span=$(($4)) cores=$(($5))
            echo "  t$i: { run: 'bash $work/use.sh t$1_$i', nodes: $span, cores: $cores, sandbox: false }"
        done
    } >"$2/flow.yaml"
}
cat >"$work/use.sh" <<'END'
# name: on each of the task's nodes, WEFT_CORES files in a folder of that agent for a while; more than two at once are too many
one="agent=\${WEFT_OWNER%%.*}; mkdir -p \"$PWD/../use/\$agent\"; cd \"$PWD/../use/\$agent\"
     for c in \$(seq $WEFT_CORES); do : >$1.\$c; done; n=\$(ls | wc -l); [ \$n -le 2 ] || echo \"\$agent: \$n\" >>../too_many
     sleep 0.05; rm -f $1.*"
if [ -z "${WEFT_HOSTFILE:-}" ]; then sh -c "$one"; exit; fi
while read -r host _; do "$WEFT_RSH" "$host" "$one" </dev/null & done <"$WEFT_HOSTFILE"
wait
END
busy 1 "$work/busy1" 12 'i % 3 + 1' 'i % 2 + 1'
busy 2 "$work/busy2" 12 'i % 3 + 1' 'i % 2 + 1'
"$weft" run "$work/busy1/flow.yaml" --on cluster >"$work/out1" 2>&1 </dev/null &
client=$!
say run "$work/busy2/flow.yaml" --on cluster
ok $? "a run of tasks on one, two and three nodes"
wait $client
ok $? "and another beside it"
client=""
# Many narrow ones among the wide: one that had its nodes stood behind a narrow one, which waited for the other run's part, which waited for it.
for round in 1 2 3; do
    busy $round.1 "$work/many$round.1" 30 'i % 4 ? 1 : 2' 'i % 8 ? 1 : 2'
    busy $round.2 "$work/many$round.2" 30 'i % 4 ? 1 : 2' 'i % 8 ? 1 : 2'
    "$weft" run "$work/many$round.1/flow.yaml" --on cluster >"$work/out1" 2>&1 </dev/null &
    client=$!
    say run "$work/many$round.2/flow.yaml" --on cluster && wait $client
    ok $? "wide tasks among many narrow ones, of two runs ($round)"
    client=""
done
[ ! -e "$work/use/too_many" ] && [ "$(ls "$work/use" | wc -l)" = 3 ]
ok $? "never more cores in use on an agent than it has"

# ---- MPI ----
program=$work/ring
cat >"$work/ring.c" <<'END'
/* ring FOLDER: each rank says which agent it runs under; with FOLDER/wait in the way the first waits for FOLDER/go. Prints the sum. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int rank, size, sum = 0;
    char path[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(path, sizeof path, "%s/rank.%d.new", argv[1], rank);
    FILE *f = fopen(path, "w");
    fprintf(f, "%d\n", atoi(getenv("WEFT_OWNER")));
    fclose(f);
    char *end = path + snprintf(path, sizeof path, "%s/rank.%d", argv[1], rank);
    char from[4200];
    snprintf(from, sizeof from, "%s.new", path);
    rename(from, path);
    (void)end;
    snprintf(path, sizeof path, "%s/wait", argv[1]);
    int waits = access(path, F_OK) == 0;
    snprintf(path, sizeof path, "%s/go", argv[1]);
    while (waits && access(path, F_OK) != 0)
        usleep(20000);
    rank++;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 1)
        printf("%d ranks: %d\n", size, sum);
    MPI_Finalize();
    return 0;
}
END
if ! command -v mpirun >/dev/null || ! mpicc -o "$program" "$work/ring.c" 2>"$work/err"; then
    skipped "MPI" "there is no MPI here (openmpi-bin and libopenmpi-dev, which tools/deps cluster installs)"
    finish
fi
mpi() { # folder nodes
    mkdir "$1"
    cat >"$1/flow.yaml" <<END
weft: 1
tasks:
  ring: { run: 'mpirun --hostfile "\$WEFT_HOSTFILE" $program $1 > {out}', out: ring.txt, nodes: $2 }
  end: { run: 'cat {in} > {out}', in: ring.txt, out: end.txt }
END
}
begun() { [ -e "$1/rank.0" ] && [ -e "$1/rank.1" ]; } # folder
mpi "$work/hello" 4
say run "$work/hello/flow.yaml" --on local:4 -j 1
ok $? "an MPI program on four agents"
[ "$(cat "$work/hello/end.txt")" = "4 ranks: 10" ] && [ "$(cat "$work"/hello/rank.? | sort -u | wc -l)" = 4 ]
ok $? "four ranks, each under an agent of its own"
mpi "$work/apart" 3
say run "$work/apart/flow.yaml" --on cluster --no-shared
[ $? = 0 ] && [ "$(cat "$work/apart/end.txt")" = "3 ranks: 6" ]
ok $? "and without a shared folder"

# One of the two nodes is killed while it runs; then the one that runs the command.
for whom in 1 0; do
    folder=$work/kill$whom
    mpi "$folder" 2
    touch "$folder/wait"
    "$weft" run "$folder/flow.yaml" --on cluster >"$work/out" 2>"$work/err" </dev/null &
    client=$!
    wait_for 30 begun "$folder"
    victim=$(cat "$folder/rank.$whom")
    rm -f "$folder/rank.0" "$folder/rank.1"
    kill -9 "$victim"
    wait_for 60 begun "$folder"
    ok $? "a node of a task is killed (rank $whom): it begins again"
    ! grep -q "^$victim$" "$folder/rank.0" "$folder/rank.1"
    ok $? "as a whole, on two that live"
    touch "$folder/go"
    wait $client
    status=$?
    client=""
    [ $status = 0 ] && [ "$(cat "$folder/end.txt")" = "2 ranks: 3" ]
    ok $? "with the right result, and no failure"
    start_agent "new$whom" "$weft" agent -j 2
    are_ready "new$whom"
done

# What runs on other nodes ends with the task.
mpi "$work/cancel" 3
touch "$work/cancel/wait"
run=$("$weft" submit "$work/cancel/flow.yaml" -q)
wait_for 30 begun "$work/cancel"
say cancel "$run"
no_ranks() { processes | grep -v "weft agent\|redis-server" >"$work/err"; ! grep -q "ring\|orted" "$work/err"; }
wait_for 30 no_ranks
ok $? "a run that is cancelled leaves no rank anywhere"
finish

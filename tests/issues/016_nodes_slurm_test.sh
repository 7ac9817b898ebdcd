#!/usr/bin/env bash
# Tasks on several nodes under a real Slurm of three (tests/cluster/bed_slurm): as many nodes are asked for as a task spans, an allocation is
# used, and one that is too small is named. With MPI, where it is. Speaks TAP.
if [ "${1:-}" != inside ]; then
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    BED_CPUS=1 bash "$(dirname "$0")/../cluster/bed_slurm" 3 bash "$0" inside 2>"$log"
    status=$?
    sed 's/^/# /' "$log"
    [ $status = 77 ] || exit $status
    echo "ok 1 - tasks on several nodes of Slurm # SKIP $(tail -n 1 "$log")"
    echo "1..1"
    exit 0
fi
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "tasks on several nodes of Slurm" "redis-server is not installed"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_btl_tcp_if_include=lo # the bed has no other network
no_jobs() { squeue -h -r -t RUNNING,PENDING,COMPLETING >"$work/err" 2>&1 && [ ! -s "$work/err" ]; }

cat >"$work/flow.yaml" <<'END'
weft: 1
parameters: { n: 3 }
tasks:
  first: { run: 'echo $SLURMD_NODENAME > {out}', out: first.txt }
  wide:
    run: 'while read -r host slots; do "$WEFT_RSH" "$host" "echo \$SLURMD_NODENAME" </dev/null 2>> {out}; done < "$WEFT_HOSTFILE"'
    in: first.txt
    out: wide.txt
    nodes: '{n}'
END
say run "$work/flow.yaml" --on slurm
[ $? = 0 ] && [ "$(sort -u "$work/wide.txt" | wc -l)" = 3 ]
ok $? "a task on three nodes gets three, without being told how many to ask for"
wait_for 60 no_jobs
ok $? "and gives them back"
say run "$work/flow.yaml" -f --on slurm --nodes 2
[ $? = 3 ] && grep -q "'wide' spans 3 nodes; --nodes allows 2.*say --nodes 3" "$work/err" && no_jobs
ok $? "--nodes 2 is too few: refused before anything is asked for"
timeout 100 salloc -N 2 "$weft" run "$work/flow.yaml" -f --on slurm >"$work/out" 2>"$work/err"
[ $? = 3 ] && grep -q "'wide' spans 3 nodes; the allocation has 2" "$work/err"
ok $? "an allocation of two is too small, and named"
timeout 100 salloc -N 2 "$weft" run "$work/flow.yaml" -f -p n=2 --on slurm >"$work/out" 2>"$work/err"
[ $? = 0 ] && [ "$(sort -u "$work/wide.txt" | wc -l)" = 2 ]
ok $? "two nodes of an allocation of two"

cat >"$work/hello.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *node = getenv("SLURMD_NODENAME");
    printf("%d of %d on %s\n", rank, size, node ? node : "?");
    MPI_Finalize();
    return 0;
}
END
if ! command -v mpirun >/dev/null || ! mpicc -o "$work/hello" "$work/hello.c" 2>"$work/err"; then
    count=$((count + 1))
    echo "ok $count - MPI # SKIP there is no MPI here (openmpi-bin and libopenmpi-dev, which tools/deps cluster installs)"
    finish
fi
mkdir "$work/mpi"
cat >"$work/mpi/flow.yaml" <<END
weft: 1
tasks:
  hello: { run: 'mpirun --hostfile "\$WEFT_HOSTFILE" $work/hello > {out}', out: hello.txt, nodes: 3 }
END
say run "$work/mpi/flow.yaml" --on slurm
[ $? = 0 ] && [ "$(grep -c ' of 3 on ' "$work/mpi/hello.txt")" = 3 ] && [ "$(sed 's/.* on //' "$work/mpi/hello.txt" | sort -u | wc -l)" = 3 ]
ok $? "an MPI program on three nodes of Slurm"
finish

#!/usr/bin/env bash
# The store of `weft run --on slurm` lives beside the client: the end of the first job does not take it along, and the run goes on in the
# next. With a real Slurm of six nodes (tests/cluster/bed_slurm). Speaks TAP.
if [ "${1:-}" != inside ]; then
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    BED_CPUS=2 bash "$(dirname "$0")/../cluster/bed_slurm" 6 bash "$0" inside 2>"$log"
    status=$?
    sed 's/^/# /' "$log"
    [ $status = 77 ] || exit $status
    echo "ok 1 - the store of a run under Slurm # SKIP $(tail -n 1 "$log")"
    echo "1..1"
    exit 0
fi
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "the store of a run under Slurm" "redis-server is not installed"
no_jobs() { squeue -h -r -t RUNNING,PENDING,COMPLETING -o '%A %Z' >"$work/err" 2>&1 && ! grep -q " $work/" "$work/err"; } # of this part
started() { [ "$(ls "$work/flow/on" 2>/dev/null | wc -l)" -ge "$1" ]; }
flow() { # a chain of which each link waits for a file, and none may be tried twice
    rm -rf "$work/flow" && mkdir "$work/flow" "$work/flow/on"
    cat >"$work/flow/flow.yaml" <<END
weft: 1
tasks:
  a: { run: 'touch $work/flow/on/a-\$SLURM_JOB_ID; echo a > {out}', out: a.txt }
  b: { run: 'touch $work/flow/on/b-\$SLURM_JOB_ID; until [ -e $work/flow/go ]; do sleep 0.1; done; cat {in} > {out}; echo b >> {out}', in: a.txt, out: b.txt }
  c: { run: 'cat {in} > {out}; echo c >> {out}', in: b.txt, out: c.txt }
END
}
right() { [ "$(tr '\n' ' ' <"$work/flow/c.txt")" = "a b c " ]; }
stores() { processes | grep -c 'redis-server'; }
job_of() { ls "$work/flow/on" | sed -n "s/^b-//p" | sort -n | tail -n 1; }

# ---- the first job ends in the middle of the run ----
first_ends() { # option
    flow
    timeout 100 "$weft" run "$work/flow/flow.yaml" --on slurm "$@" >"$work/run.out" 2>"$work/run.log" </dev/null &
    client=$!
    wait_for 60 started 2
    ok $? "the second task runs"
    [ "$(stores)" = 1 ] && first=$(job_of)
    ok $? "one store is up"
    scancel "$first"
    other() { [ "$(job_of)" != "$first" ]; }
    wait_for 60 other
    ok $? "its job ended, and it runs again in another"
    touch "$work/flow/go"
    wait $client
    ok $? "the run ends well"
    right
    ok $? "its result is right"
    wait_for 60 no_jobs
    ok $? "the nodes were given back"
    wait_for 30 nothing_left && [ -z "$(find "$work/flow" -name 'agents-*')" ]
    ok $? "no redis-server, no agent, no folder of theirs is left"
}

# ---- the client is killed: the run goes on, another follows it to its end and clears up ----
killed() {
    flow
    "$weft" run "$work/flow/flow.yaml" --on slurm >"$work/run.out" 2>"$work/run.log" </dev/null &
    client=$!
    wait_for 60 started 2
    kill -9 $client
    wait $client 2>/dev/null
    touch "$work/flow/go"
    (cd "$work/flow" && timeout 100 "$weft" attach 1 >"$work/out" 2>"$work/err")
    [ $? = 0 ] && right
    ok $? "a client that is killed does not take the store along: another brings the results"
    wait_for 60 no_jobs && wait_for 30 nothing_left
    ok $? "and ends it"
}

# ---- Slurm refuses the next job once: it is asked for again ----
refused_once() {
    mkdir "$work/bin"
    printf '#!/bin/sh\n[ ! -e %s/refuse ] || { echo "sbatch: error: try again later" >&2; exit 1; }\nexec %s "$@"\n' "$work" "$(command -v sbatch)" >"$work/bin/sbatch"
    chmod +x "$work/bin/sbatch"
    flow
    PATH=$work/bin:$PATH timeout 200 "$weft" run "$work/flow/flow.yaml" --on slurm >"$work/run.out" 2>"$work/run.log" </dev/null &
    client=$!
    wait_for 60 started 2
    touch "$work/refuse"
    scancel "$(job_of)"
    refused() { grep -q "try again later" "$work/run.log"; }
    wait_for 60 refused
    ok $? "that Slurm refuses a job is said"
    rm "$work/refuse" && touch "$work/flow/go"
    wait $client
    [ $? = 0 ] && right
    ok $? "and asked for again, the run ends well"
    wait_for 60 no_jobs && wait_for 30 nothing_left
    ok $? "nothing is left"
}

# ---- where it listens ----
listens() {
    flow
    touch "$work/flow/go"
    WEFT_SERVE_STORE=10.99.0.254 say run "$work/flow/flow.yaml" --on slurm
    [ $? = 0 ] && right
    ok $? "WEFT_SERVE_STORE names an address"
    WEFT_SERVE_STORE=192.0.2.1 say run "$work/flow/flow.yaml" -f --on slurm
    [ $? = 1 ] && grep -q "192.0.2.1" "$work/err" && no_jobs
    ok $? "one that is not this machine's is refused, and nothing is asked for"
    wait_for 30 nothing_left
    ok $? "nothing is left"
}

beside shared first_ends
beside apart first_ends --no-shared
beside killed killed
beside refused refused_once
beside listens listens
meet
finish

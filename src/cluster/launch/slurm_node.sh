#!/bin/sh
# Starts the agent of one node of a Slurm job; srun runs it once on each. weft writes it into the state folder as it stands here.
#
#     $1 state folder of the launch, seen by all nodes
#     $2 program
#     $3 where agents keep theirs; empty: STATE/agents
#     $4 the key's file, or - for standard input
#     $5 name of the launch
#     $6 yes: the agent has all processors that Slurm gave to the job here; no: its arguments say how many
#     $7 the store's URL, or @ and a file that has it
#     $8 GPUs that Slurm was asked for on each node; empty: none
#     $9 other things that tasks may hold; empty: none
#     then the agent's further arguments.
program=$2 agents=${3:-$1/agents} key=$4 name=$5 whole=$6 store=$7 gpus=$8 things=$9
shift 9

# The address: the first of the node's name, what Slurm has for it, and its own, that is not a loopback one.
pick() {
    for a; do
        case $a in
            127.* | *:*) ;;
            *.*.*.*) echo "$a" && return 0 ;;
        esac
    done
    return 1
}
node=${SLURMD_NODENAME:-$(hostname)}
# shellcheck disable=SC2046 # one word an address
address=$(pick $(getent ahostsv4 "$node" 2>/dev/null | cut -d' ' -f1)) ||
    address=$(pick $(scontrol show node "$node" 2>/dev/null | sed -n 's/.*NodeAddr=\([0-9.]*\).*/\1/p')) ||
    address=$(pick $(hostname -I 2>/dev/null)) || address=127.0.0.1

# What tasks write goes to a disk of the node, where the site or the user has one.
scratch=${WEFT_SCRATCH:-${SLURM_TMPDIR:-${TMPDIR:-}}}
[ -n "$scratch" ] && [ -d "$scratch" ] && [ -w "$scratch" ] && set -- --scratch "$scratch" "$@"

# The ids of the GPUs that Slurm gave to the job here; where it names none they are counted.
if [ -n "$gpus" ]; then
    ids=${CUDA_VISIBLE_DEVICES:-${SLURM_STEP_GPUS:-${SLURM_JOB_GPUS:-}}}
    case $ids in NoDevFiles) ids='' ;; esac
    set -- --resources "gpu=${ids:+[}${ids:-$gpus}${ids:+]}" "$@"
fi
[ -z "$things" ] || set -- --resources "$things" "$@"

# When Slurm takes the node back. Since version 23 the agent finds it in its environment.
if [ -z "${SLURM_JOB_END_TIME:-}" ]; then
    ends=$(squeue --noheader --jobs="$SLURM_JOB_ID" --format=%e 2>/dev/null | head -n 1)
    ends=$(date -d "${ends:-unknown}" +%s 2>/dev/null) && set -- --ends "$ends" "$@"
fi

mkdir -p "$agents"
[ "$whole" = yes ] && [ -n "${SLURM_CPUS_ON_NODE:-}" ] && set -- -j "$SLURM_CPUS_ON_NODE" "$@"
set -- agent --key "$key" --bind "$address:0" \
    --state "$agents/$name-$SLURM_JOB_ID-${SLURM_STEP_ID:-0}-${SLURM_PROCID:-0}" "$@"
exec "$program" "$@" --store "$store"

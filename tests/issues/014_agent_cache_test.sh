#!/usr/bin/env bash
# A byte that was flipped in an agent's folder was read by the next task, and the result was "done"; a task that wrote to its
# input changed it for others on the same agent alone. Copies are compared before they are used. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "copies of agents" "redis-server is not installed"
start_server
say key "$work/key"
export WEFT_KEY=$work/key
said() { cat "$work/out" "$work/err" | tr '\n' ' ' | tr -s ' ' | grep -q "$1"; } # in whichever lines it stands
flip() { # file: another first byte, the same size, the same time
    cp -p "$1" "$work/before" && printf '#' | dd of="$1" conv=notrunc status=none && touch -r "$work/before" "$1"
}
copy_of() { echo "$work/$1/runs/$run/files/$2"; } # agent name
begun() { [ "$(cat "$work/trail" 2>/dev/null | wc -l)" -ge "$1" ]; }
logged() { cat "$work"/*.log | grep -q "$1"; }

# ---- an input, on one of two agents, while the run goes on ----
start_agent one "$weft" agent -j 1 --lease 2
start_agent two "$weft" agent -j 1 --lease 2
are_ready one two
ok $? "two agents"
mkdir "$work/a"
seq 20000 >"$work/a/in.txt"
right=$(cksum <"$work/a/in.txt")
{
    echo "weft: 1"
    echo "name: flipped"
    echo "tasks:"
    echo "  mid: { run: 'cp {in} {out}', in: [in.txt], out: [mid.txt] }"
    for i in 1 2; do echo "  gate$i: { run: 'echo $i >> $work/trail; until [ -e $work/open ]; do sleep 0.05; done; echo open > {out}', out: [gate$i.txt], after: [mid] }"; done
    for i in 1 2 3 4 5 6 7 8; do echo "  t$i: { run: 'sleep 0.2; cksum < in.txt > {out}; cksum < mid.txt >> {out}', in: [in.txt, mid.txt], out: [t$i.txt], after: [gate1, gate2] }"; done
} >"$work/a/flow.yaml"
say submit "$work/a/flow.yaml" --no-shared -q && run=$(cat "$work/out") && wait_for 60 begun 2
ok $? "a run whose tasks wait"
flip "$(copy_of one in.txt)" && [ "$(cksum <"$(copy_of one in.txt)")" != "$right" ]
ok $? "a byte is flipped in the copy of an input at one of them, its time put back"
touch "$work/open"
say attach "$run"
ok $? "the run ends well"
bad=0
for i in 1 2 3 4 5 6 7 8; do [ "$(cat "$work/a/t$i.txt" 2>/dev/null)" = "$right
$right" ] || bad=$((bad + 1)); done
[ $bad = 0 ]
ok $? "who reads it afterwards reads what it should be"
logged "the copy of 'in.txt' here is damaged"
ok $? "the agent says that it dropped its copy"

# ---- what a task left, while its agent is down ----
rm -f "$work/open" "$work/trail"
end_process $pid_two
mkdir "$work/b"
cat >"$work/b/flow.yaml" <<END2
weft: 1
name: restarted
tasks:
  make: { run: 'seq 30000 > {out}', out: [mid/made.txt] }
  large: { run: 'seq 3000000 > {out}', out: [mid/large.txt] }
  whole: { run: 'seq 3000001 > {out}', out: [mid/whole.txt] }
  folder: { run: 'mkdir {out} && seq 5 > {out}/x', out: [mid/dir] }
  hold: { run: 'echo x >> $work/trail; until [ -e $work/open ]; do sleep 0.05; done; echo done > {out}', in: [mid/made.txt, mid/dir, mid/large.txt, mid/whole.txt], out: [hold.txt] }
  read: { run: 'cksum < mid/made.txt > {out}; cat mid/dir/x >> {out}; cksum < mid/large.txt >> {out}; cksum < mid/whole.txt >> {out}', in: [mid/made.txt, mid/dir, mid/large.txt, mid/whole.txt, hold.txt], out: [read.txt] }
END2
say submit "$work/b/flow.yaml" --no-shared -q && run=$(cat "$work/out") && wait_for 60 begun 1
ok $? "a run at one agent"
kill -9 $pid_one
wait $pid_one 2>/dev/null
flip "$(copy_of one mid/made.txt)" && flip "$(copy_of one mid/dir/x)" && flip "$(copy_of one mid/large.txt)"
touch "$work/open"
start_agent one "$weft" agent -j 1 --lease 2
wait_for 60 is_ready one && say attach "$run" && [ "$(cat "$work/b/read.txt")" = "$(seq 30000 | cksum; seq 5; seq 3000000 | cksum; seq 3000001 | cksum)" ]
ok $? "killed, with a byte flipped in what was made there, it comes back and the result is right"
logged "the copy of 'mid/made.txt' here is damaged" && logged "the copy of 'mid/dir' here is damaged" && logged "the copy of 'mid/large.txt' here is damaged" && ! logged "mid/whole.txt"
ok $? "it says what it dropped"

# ---- a task that writes to its input ----
mkdir "$work/c"
seq 10 >"$work/c/in.txt"
cat >"$work/c/flow.yaml" <<'END2'
weft: 1
name: writes
tasks:
  bad: { run: 'echo more >> {in}; wc -l < {in} > {out}', in: [in.txt], out: [bad.txt] }
  good: { run: 'wc -l < {in} > {out}', in: [in.txt], out: [good.txt] }
  later: { run: 'sleep 0.5; wc -l < {in} > {out}', in: [in.txt], out: [later.txt] }
END2
say run "$work/c/flow.yaml" --on cluster --no-shared -k
[ $? = 1 ] && said "input 'in.txt' changed while it ran" && [ ! -e "$work/c/bad.txt" ]
ok $? "a task that writes to its input on an agent fails, and the input is named"
[ "$(cat "$work/c/good.txt" "$work/c/later.txt" | tr '\n' ' ')" = "10 10 " ] && [ "$(wc -l <"$work/c/in.txt")" = 10 ]
ok $? "others read what it should be"
finish

#!/usr/bin/env python3
"""Random sets of constraints, really executed: planned for two agents, followed, and judged here by the times of events.

    wishes_run.py WEFT FOLDER COUNT SEED

Sets are drawn as wishes_judge.py draws them, for two processors and without data that takes time to move. Executed are those that
brute force can fulfil and that hold whatever tasks take: orders between ends, placements, numbers of tasks. Bounds on times hold as far
as times were predicted; which those are on a loaded machine, nobody knows. A task waits its time, 30 ms for each unit."""
import json, os, random, shutil, subprocess, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import wishes_judge as judge

UNIT = 0.03


def draw(rng):
    """A graph and constraints that can be executed, and what judges them."""
    while True:
        work, edges, nodes = judge.draw_graph(rng)
        if nodes != 2:
            continue
        graph = (work, {e: 0 for e in edges}, 2)
        constraints = [c for c in judge.draw_set(rng, graph)
                       if "max(task-finish-time)" not in c[1] and "proc-finish-time" not in c[1]]
        if any(need for need, *_ in constraints) and judge.search(graph, constraints)[0]:
            return graph, constraints


def write(folder, graph, constraints):
    work, edges, _ = graph
    text = "\n".join(c[1] for c in constraints).replace("'p0'", "'n1'").replace("'p1'", "'n2'")
    with open(f"{folder}/flow.yaml", "w") as f:
        f.write("weft: 1\nname: drawn\nassert: |\n" + "".join(f"  {line}\n" for line in text.split("\n")) + "tasks:\n")
        for t, units in enumerate(work):
            ins = [f"e{a}_{b}" for (a, b) in edges if b == t]
            outs = [f"e{a}_{b}" for (a, b) in edges if a == t]
            f.write(f"  t{t}:\n    work: {units * UNIT}\n    run: \"sleep {units * UNIT}; touch end{t} {' '.join(outs)}\"\n"
                    f"    in: [{', '.join(ins)}]\n    out: [{', '.join([f'end{t}'] + outs)}]\n")


def happened(text, graph):
    """The events as a schedule of the judge's; agents are numbered as they were started."""
    s = judge.Schedule(([], {}, 2), [], [0] * len(graph[0]), [])
    s.place = [None] * len(graph[0])
    for e in map(json.loads, text.splitlines()):
        if e.get("event") == "task" and e["outcome"] == "done":
            t = int(e["task"][1:])
            s.start[t], s.finish[t], s.place[t] = e["start"], e["time"], e["node"]
    numbers = sorted(set(s.place))
    return s, numbers


def execute(weft, folder, rng):
    graph, constraints = draw(rng)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    write(folder, graph, constraints)
    run = subprocess.run([weft, "run", f"{folder}/flow.yaml", "--on", "local:2", "-j", "1", "--json", "--no-history"],
                         capture_output=True, text=True)
    what = f"{graph}\n" + "\n".join(c[1] for c in constraints) + f"\n{run.stderr}"
    if run.returncode != 0:
        return f"exit {run.returncode}: {what}"
    s, numbers = happened(run.stdout, graph)
    if len(s.finish) != len(graph[0]):
        return f"a task is missing: {what}"
    # who is the first agent: the numbering that weft's own verdict used must satisfy one of the two ways round
    for names in ({n: i for i, n in enumerate(numbers)}, {n: 1 - i for i, n in enumerate(numbers)}):
        s2 = s
        places = s.place
        s2.place = [names[p] for p in places]
        broken = [c[1] for c in constraints if c[0] and not c[2](s2)]
        s2.place = places
        if not broken:
            break
    if broken:
        return f"broken in what happened: {broken}: {what}"
    done = [e for e in map(json.loads, run.stdout.splitlines()) if e.get("event") == "done"]
    told = [c for e in done for c in e.get("constraints", []) if c["required"]]
    if len(told) != sum(c[0] for c in constraints) or not all(c["held"] for c in told):
        return f"weft tells otherwise: {told}: {what}"
    return None


def main():
    weft, folder, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    bad = 0
    for i in range(count):
        wrong = execute(weft, f"{folder}/{i}", random.Random(seed * 100003 + i))
        if wrong:
            bad += 1
            print(f"set {i}: {wrong}", flush=True)
    print(f"every requirement held in {count - bad} of {count} sets that were executed on local:2 (seed {seed})")
    sys.exit(bad > 0)


main()

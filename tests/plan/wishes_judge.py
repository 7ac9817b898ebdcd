#!/usr/bin/env python3
"""Random sets of constraints on small graphs, planned by weft and judged by brute force.

    wishes_judge.py WEFT FOLDER COUNT SEED [EXECUTED]

Every sequence of tasks on every choice of processors is tried here, in words of our own, and with any waiting: the least times
that meet a set of constraints are the least solution of monotone inequalities (earliest()), so that nothing is overlooked.
What weft answers must agree:

    a plan              valid, and every requirement holds in it; if some schedule meets all requirements and all wishes, this one does
    exit 3 (proved)     no schedule meets the requirements
    exit 1 (not found)  the same: what there is, weft finds

Each set is planned twice. With --set orders=predicted a required order may hold as far as times are as predicted; so it may for us.
As weft does it unless told otherwise, a required order that holds for certain (the second begins when the first has ended) comes
before a wish: then a wish could be met only if it can be met so. Where that costs a wish, weft must say what to set.

EXECUTED sets are run as well, on two agents of this machine (`--on local:2`), with tasks that wait their time.
Tasks note when they begin and end, weft says on which agent each was: by that every requirement must hold, and
weft must say that it did. Every second set may also have deadlines and "at least twice the load": these speak of times, and how long
a task takes beside others on a busy machine is nobody's promise. Such a set is planned first (`weft plan`, then `weft run --plan`), and
run if the plan leaves a quarter to spare; else it is drawn anew. Where such a time was missed all the same, weft must name just that
as broken, with exit status 1, and orders and places must hold: that is counted as late, not as held. WISHES_TIMED=0 leaves these sets out.

Prints what went wrong, one line each, and a summary."""
import collections, itertools, json, os, random, subprocess, sys

SLACK = 1e-7
tally = collections.Counter()  # what weft said, and what there is


def draw_graph(rng):
    n = rng.choice([3, 3, 4, 4, 4, 5])
    work = [rng.randint(1, 9) for _ in range(n)]
    edges = {(a, b): rng.randint(0, 6) for a in range(n) for b in range(a + 1, n) if rng.random() < 0.35}
    nodes = rng.choice([2, 2, 3]) if n < 5 else 2
    return work, edges, nodes


class Schedule:
    """Where tasks are and when they start and end."""

    def __init__(self, nodes, place):
        self.nodes, self.place, self.start, self.finish = nodes, place, {}, {}

    def proc_finish(self, node):
        return max([self.finish[t] for t in self.finish if self.place[t] == node], default=0)


TICK = 2e-6  # what "<" asks for, at least


# --- constraints: a text for weft, a judge for us, and what it demands of ends: ("order", before, after, strict),
# ("latest", time), ("twice", x, y): y finishes at least twice as late as x. What speaks of places alone demands nothing.


def time_of(task, what="finish"):
    return f"(select task-{what}-time from task where task-name = 't{task}')"


def draw_constraint(rng, graph, kinds=range(7), unit=1):
    work, edges, nodes = graph
    n, kind = len(work), rng.choice(kinds)
    a, b = rng.sample(range(n), 2)
    x, y = rng.sample(range(nodes), 2)
    if kind == 0:
        test = rng.choice(["<", "<="])
        keep = (lambda s: s.finish[a] < s.finish[b]) if test == "<" else (lambda s: s.finish[a] <= s.finish[b] + SLACK)
        return "relationship", f"{time_of(a)} {test} {time_of(b)}", keep, [("order", a, b, test == "<")]
    if kind == 1:
        where = f"(select proc-id from proc where proc-name = 'p{x}')"
        text = f"(select task-assigned-proc-id from task where task-name = 't{a}') = {where}"
        return "relationship", text, lambda s: s.place[a] == x, []
    if kind == 2:
        one, two = (f"(select task-assigned-proc-id from task where task-name = 't{t}')" for t in (a, b))
        return "relationship", f"{one} <> {two}", lambda s: s.place[a] != s.place[b], []
    if kind == 3:
        most = round(sum(work) * rng.uniform(0.4, 1.1), 2)
        return "relationship", f"(select max(task-finish-time) from task) <= {most * unit:.6g}", \
            lambda s: max(s.finish.values()) <= most + SLACK, [("latest", most)]
    if kind == 4:
        ends = [f"(select proc-finish-time from proc where proc-name = 'p{p}')" for p in (x, y)]
        return "relationship", f"2 * {ends[0]} <= {ends[1]}", \
            lambda s: 2 * s.proc_finish(x) <= s.proc_finish(y) + SLACK, [("twice", x, y)]
    if kind == 5:
        most = rng.randint(0, n)
        return "relationship", f"(select proc-task-count from proc where proc-name = 'p{x}') <= {most}", \
            lambda s: sum(p == x for p in s.place) <= most, []
    chosen = sorted(rng.sample(range(n), rng.randint(2, min(3, n))))
    names = ", ".join(f"'t{t}'" for t in chosen)
    pairs = list(zip(chosen, chosen[1:]))
    return "ordering", f"(select task-finish-time from task where task-name in ({names}) order by task-name), <=", \
        lambda s: all(s.finish[p] <= s.finish[q] + SLACK for p, q in pairs), [("order", p, q, False) for p, q in pairs]


def draw_set(rng, graph, kinds=range(7), unit=1):
    out = []
    for _ in range(rng.choice([1, 1, 2, 2, 3])):
        sort, text, keep, demands = draw_constraint(rng, graph, kinds, unit)
        need = rng.random() < 0.6
        statement = f"assert {sort} {'requirement' if need else 'preference'} ({text});"
        out.append((need, statement, keep, demands))
    return out


# --- brute force


def earliest(graph, order, place, rules, latest):
    """The least times of this sequence on these processors that keep the rules (after, before, factor, offset: the end of `after` is
    at least factor times the end of `before` plus offset); None: it cannot be kept. Every rule asks for later ends where the other
    is later, so what is raised step by step from zero never passes the least solution, and `latest` is the only bound from above."""
    work, edges, nodes = graph
    least = list(rules)
    for i, t in enumerate(order):
        before = [u for u in order[:i] if place[u] == place[t]]
        least += [(t, u, 1, work[t]) for u in before[-1:]]
        least += [(t, a, 1, work[t] + (0 if place[a] == place[t] else size)) for (a, b), size in edges.items() if b == t]
    end = list(work)
    for _ in range(len(work) + 1):  # an end that rises once more than there are tasks rises for ever: no rule ever asks for less
        raised = False
        for after, before, factor, offset in least:
            if end[after] < factor * end[before] + offset - 1e-12:
                end[after], raised = factor * end[before] + offset, True
        if not raised:
            break
    if raised or max(end) > latest:
        return None
    s = Schedule(nodes, place)
    for t, seconds in enumerate(work):
        s.start[t], s.finish[t] = end[t] - seconds, end[t]
    return s


def rules_of(graph, place, demands, firm):
    """Lists of rules: one of them must be kept. "Twice as late as x" is a choice: which task of y is the late one."""
    work, _, _ = graph
    rules, choices = [], []
    for d in demands:
        if d[0] == "order":
            _, before, after, strict = d
            rules.append((after, before, 1, work[after] if firm else TICK if strict else 0))
        if d[0] == "twice":
            early, late = ([t for t, p in enumerate(place) if p == node] for node in d[1:])
            if early:
                choices.append([[(t, u, 2, 0) for u in early] for t in late])
    for chosen in itertools.product(*choices):
        yield rules + [r for part in chosen for r in part]


def exists(graph, constraints, firm):
    """Is there a schedule that meets all of these? With `firm`, so that a run can wait for its required orders, too."""
    work, edges, nodes = graph
    n = len(work)
    demands = [d for _, _, _, more in constraints for d in more]
    certain = [d for need, _, _, more in constraints if need for d in more if d[0] == "order"] if firm else []
    latest = min([d[1] for d in demands if d[0] == "latest"], default=1e6) + SLACK
    for place in itertools.product(range(nodes), repeat=n):
        options = [loose + sure for loose in rules_of(graph, place, demands, False) for sure in rules_of(graph, place, certain, True)]
        for order in itertools.permutations(range(n)):
            at = {t: i for i, t in enumerate(order)}
            if any(at[a] > at[b] for a, b in edges):
                continue
            for rules in options:
                s = earliest(graph, order, place, rules, latest)
                if s and all(keep(s) for _, _, keep, _ in constraints):
                    return True
    return False


def search(graph, constraints):
    """Is there a schedule for the requirements, one for everything, one for everything in which required orders are certain?"""
    required = [c for c in constraints if c[0]]
    if not exists(graph, required, False):
        return False, False, False
    everything = exists(graph, constraints, False)
    return True, everything, everything and exists(graph, constraints, True)


# --- weft


def write_graph(graph, folder):
    work, edges, nodes = graph
    with open(f"{folder}/flow.yaml", "w") as f:
        f.write("weft: 1\nname: drawn\ntasks:\n")
        for t, seconds in enumerate(work):
            f.write(f"  t{t}:\n    work: {seconds}\n")
            ins = [f"e{a}_{t}" for (a, b) in edges if b == t]
            outs = [f"{{ name: e{t}_{b}, size: {size} }}" for (a, b), size in edges.items() if a == t]
            f.write(f"    in: [{', '.join(ins)}]\n    out: [{', '.join(outs)}]\n")
    with open(f"{folder}/nodes.yaml", "w") as f:
        names = ", ".join(f"{{ name: p{p} }}" for p in range(nodes))
        f.write(f"weft: 1\nname: drawn\nnetwork: {{ bandwidth: 1 }}\nnodes: [{names}]\n")


def plan_of(reply, graph):
    """What weft placed, as a schedule of ours; raises where it is none."""
    work, edges, nodes = graph
    s = Schedule(nodes, [None] * len(work))
    for x in reply["placements"]:
        t = int(x["task"][1:])
        s.place[t], s.start[t], s.finish[t] = int(x["node"][1:]), x["start"], x["finish"]
        assert abs(x["finish"] - x["start"] - work[t]) < SLACK, "a task takes another time"
    assert len(s.start) == len(work), "a task is missing"
    for (a, b), size in edges.items():
        assert s.start[b] >= s.finish[a] + (0 if s.place[a] == s.place[b] else size) - SLACK, "data comes late"
    for t, u in itertools.combinations(range(len(work)), 2):
        assert s.place[t] != s.place[u] or s.finish[t] <= s.start[u] + SLACK or s.finish[u] <= s.start[t] + SLACK, \
            "two tasks at once"
    for x in reply.get("waits", []):
        t = int(x["task"][1:])
        assert s.start[t] >= (s.finish[int(x["after"][1:])] if "after" in x else x["until"]) - SLACK, "a wait is broken"
    return s


def judge_answer(run, graph, constraints, required, everything):
    """What is wrong with one answer, shortly; None: nothing."""
    if run.returncode in (1, 3):
        return f"exit {run.returncode}, but there is a schedule" if required else None
    if run.returncode != 0:
        return f"exit {run.returncode}"
    if not required:
        return "a plan where there is none"
    try:
        s = plan_of(json.loads(run.stdout), graph)
    except AssertionError as e:
        return str(e)
    for need, statement, keep, _ in constraints:
        if need and not keep(s):
            return f"broken: {statement}"
        if not need and everything and not keep(s):
            return f"could be met: {statement}"
    return None


def judge(weft, folder, rng):
    graph = draw_graph(rng)
    constraints = draw_set(rng, graph)
    write_graph(graph, folder)
    text = "\n".join(c[1] for c in constraints)
    required, everything, certain = search(graph, constraints)
    for orders, can in (("certain", certain), ("predicted", everything)):
        command = [weft, "plan", f"{folder}/flow.yaml", "--on", f"{folder}/nodes.yaml", "--with", "constraints", "--set",
                   "limit=20s", "--set", f"orders={orders}", "--assert", text, "--json"]
        run = subprocess.run(command, capture_output=True, text=True)
        there = "all, orders for certain" if certain else "all" if everything else "requirements" if required else "none"
        tally[f"exit {run.returncode}", there, orders] += 1
        wrong = judge_answer(run, graph, constraints, required, can)
        if not wrong and everything and not certain and "preference is not met" in run.stdout and "orders=predicted" not in run.stdout:
            wrong = "nobody says that orders=predicted would meet all"
        if wrong:
            return f"orders={orders}: {wrong}: {graph}\n{text}\n{run.stderr}\n{run.stdout}"
    return None


# --- executed

FIRM = [0, 1, 2, 5, 6]  # kinds of constraints that no late task breaks
TIMED = [3, 4]  # a deadline, twice the load
UNIT, UNIT_TIMED = 0.02, 0.1  # seconds of a unit of work
NOTHING, REFUSED, LATE = 4, 3, 5
SPARE = 1.25  # so late may a processor be, or both, in the plan of a set with times


def write_run(graph, constraints, folder, unit):
    work, edges, _ = graph
    with open(f"{folder}/run.yaml", "w") as f:
        f.write("weft: 1\nname: drawn\nassert:\n")
        for _, statement, _, _ in constraints:
            # agents of local:2 are called n1 and n2
            f.write("  - " + json.dumps(statement.replace("'p0'", "'n1'").replace("'p1'", "'n2'")) + "\n")
        f.write("tasks:\n")
        for t, units in enumerate(work):
            ins = [f"e{a}_{t}" for (a, b) in edges if b == t]
            outs = [f"e{t}_{b}" for (a, b) in edges if a == t] + [f"end{t}"]
            note = f"date +%s%N > {folder}/begun{t}; sleep {units * unit:.3f}; touch {' '.join(outs)}; date +%s%N > {folder}/ended{t}"
            f.write(f"  t{t}: {{ run: {json.dumps(note)}, work: {units * unit:.3f}, in: [{', '.join(ins)}], out: [{', '.join(outs)}] }}\n")


def happened(lines, graph, folder, unit):
    """What ran when and where, as a schedule of ours; it begins with the first task."""
    s = Schedule(2, [None] * len(graph[0]))
    for e in lines:
        if e.get("event") == "task" and e.get("outcome") == "done":
            s.place[int(e["task"][1:])] = e["node"]
    for t in range(len(graph[0])):
        s.start[t], s.finish[t] = (int(open(f"{folder}/{what}{t}").read()) for what in ("begun", "ended"))
    zero = min(s.start.values())
    for times in (s.start, s.finish):
        for t in times:
            times[t] = (times[t] - zero) * 1e-9 / unit
    return s


def speaks_of_times(statement):
    return "max(" in statement or "proc-finish" in statement


def has_spare(plan, graph, constraints, unit):
    """Does all that holds in the plan hold when one processor, or both, are late?"""
    for late in ((SPARE, SPARE), (SPARE, 1), (1, SPARE)):
        s = Schedule(2, [None] * len(graph[0]))
        for x in plan["placements"]:
            t, node = int(x["task"][1:]), int(x["node"][1:]) - 1
            s.place[t], s.start[t], s.finish[t] = node, x["start"] / unit, x["finish"] / unit * late[node]
        if not all(keep(s) for need, text, keep, _ in constraints if need and speaks_of_times(text)):
            return False
    return True


def plan_first(weft, folder, graph, constraints, unit):
    """The plan of a set with times; None: it is not one to run."""
    with open(f"{folder}/nodes.yaml", "w") as f:
        f.write("weft: 1\nname: two\nnetwork: { bandwidth: 1 }\nnodes: [{ name: n1 }, { name: n2 }]\n")
    with open(f"{folder}/plan.json", "w") as f:
        run = subprocess.run([weft, "plan", f"{folder}/run.yaml", "--on", f"{folder}/nodes.yaml", "--with", "constraints", "--json"], stdout=f, stderr=subprocess.DEVNULL)
    return run.returncode == 0 and has_spare(json.load(open(f"{folder}/plan.json")), graph, constraints, unit)


def execute(weft, folder, rng, timed=False):
    """None: well. A text: what is wrong. NOTHING, REFUSED: there is nothing to run, and rightly so. LATE: as it was told.
    Whatever else than a time is broken is wrong, told or not; so is a time that is broken and not told."""
    work, edges, _ = draw_graph(rng)
    graph, unit = (work, {e: 0 for e in edges}, 2), UNIT_TIMED if timed else UNIT
    constraints = draw_set(rng, graph, FIRM + TIMED if timed else FIRM, unit)
    write_run(graph, constraints, folder, unit)
    follow = []
    if timed:
        if not any(need and speaks_of_times(text) for need, text, *_ in constraints):
            return NOTHING
        if not plan_first(weft, folder, graph, constraints, unit):
            return NOTHING
        follow = ["--plan", f"{folder}/plan.json"]
    run = subprocess.run([weft, "run", f"{folder}/run.yaml", "--on", "local:2", "-j", "1", "--json"] + follow, capture_output=True, text=True)
    text = "\n".join(c[1] for c in constraints)
    what = f"{graph}\n{text}\n{run.stderr}\n{run.stdout}"
    if run.returncode == 3 and not search(graph, constraints)[0]:
        return REFUSED
    if run.returncode not in (0, 1) or not os.path.exists(f"{folder}/ended{len(work) - 1}"):
        return f"exit {run.returncode}: {what}"
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    s = happened(lines, graph, folder, unit)
    for a, b in edges:
        if s.start[b] < s.finish[a] - SLACK:
            return f"t{b} began before its input was there: {what}"
    said = lines[-1].get("constraints", [])
    if len(said) != len(constraints):
        return f"weft does not tell of every constraint: {said} {what}"
    broken = [(c[1], speaks_of_times(c[1])) for c, told in zip(constraints, said) if told["required"] and not told["held"]]
    for need, statement, keep, _ in constraints:
        if need and not keep(s) and statement not in [text for text, _ in broken]:
            return f"broken in what happened, and nobody says so: {statement}: {s.place} {s.finish} {what}"
    if any(not timed for _, timed in broken):
        return f"broken in what happened: {broken}: {s.place} {s.finish} {what}"
    if (run.returncode == 1) != bool(broken) or (broken and "did not hold in what happened" not in run.stderr):
        return f"exit {run.returncode} where {len(broken)} requirements are broken: {what}"
    for statement, _ in broken:
        ends = ", ".join(f"t{t} {end:.2f}" for t, end in sorted(s.finish.items()))
        print(f"late, and told: {statement} ends in units of {unit} s: {ends}", flush=True)
    return LATE if broken else None


def execute_all(weft, folder, count, seed):
    """Sets that no schedule fulfils are drawn anew: so many are run."""
    bad = done = late = impossible = spoke = i = 0
    with_times = os.environ.get("WISHES_TIMED", "1") != "0"
    while done + late + bad < count:
        here, timed = f"{folder}/run{i}", with_times and (done + late + bad) % 2 == 1
        os.mkdir(here)
        wrong = execute(weft, here, random.Random(seed * 700001 + i), timed)
        i += 1
        if wrong == NOTHING:  # a set without times, or whose plan has none to spare
            continue
        spoke += timed and not wrong
        if wrong == REFUSED:
            impossible += 1
        elif wrong == LATE:
            late += 1
        elif wrong:
            bad += 1
            print(f"executed {i - 1}: {wrong}", flush=True)
        else:
            done += 1
    print(f"{impossible} sets that cannot be fulfilled were refused; {spoke} that hold speak of times")
    return done, late, bad


def main():
    weft, folder, count, seed = sys.argv[1], os.path.abspath(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    executed = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    bad = 0
    for i in range(count):
        wrong = judge(weft, folder, random.Random(seed * 100003 + i))
        if wrong:
            bad += 1
            print(f"set {i}: {wrong}", flush=True)
    for (said, there, orders), times in sorted(tally.items()):
        print(f"{times} sets, orders={orders}: {said} where brute force fulfils {there}")
    if executed:
        done, late, broken = execute_all(weft, folder, executed, seed)
        print(f"{done} of {executed} sets executed on two agents hold in what happened, {late} missed a time and weft said so, "
              f"{broken} are wrong (seed {seed})")
        bad += broken
    else:
        print(f"{count - bad} of {count} sets agree with brute force (seed {seed})")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Do plans of streams keep what they promise? An evaluator of its own: it reads the plan file and the
workflow that it drew itself, unrolls the schedule item by item, and looks for two things at once on a
node, a link or a port, for data that comes too late, and for a promise that is not kept.

    stream_promises.py WEFT [--graphs N] [--first SEED] [--planners mos,stream,...]

Prints one line a fault and a summary; the exit status is 0 when there was none. It shares no code and
no construction with weft: conflicts are looked for among concrete nodes and items, not on circles."""
import argparse, json, os, random, subprocess, sys, tempfile

ITEMS = 300  # of the replay


def draw(seed):
    """Tasks with a time, edges with a size: (times, [(from, to, size)]), and a platform."""
    r = random.Random(seed)
    n = r.choice([3, 5, 8, 12, 20, 30])
    ccr = r.choice([0.1, 0.5, 1, 3])
    whole = r.random() < 0.5
    number = (lambda a, b: r.randint(max(1, int(a)), max(1, int(b)))) if whole else (lambda a, b: round(r.uniform(a, b), 4))
    times = [number(1, 60) for _ in range(n)]
    pairs = set()
    for i in range(1, n):
        pairs.add((r.randrange(max(0, i - 6), i), i))
    for _ in range(int(n * r.choice([0, 0.5, 1, 2]))):
        a, b = sorted(r.sample(range(n), 2))
        pairs.add((a, b))
    edges = [(a, b, number(1, 60 * ccr)) for a, b in sorted(pairs)]
    nodes = r.choice([2, 3, 5, 8, 13, 16])
    ports = r.choice([0, 1, 2, 4])
    fixed = {t for t in range(n) if r.random() < 0.05} if r.random() < 0.2 else set()
    fraction = r.choice([0.1, 0.25, 0.4, 0.5, 0.75, 0.9])
    if r.random() < 0.3:  # the joints of several sources or sinks take no time
        for t in {0, n - 1} | set(r.sample(range(n), n // 4)):
            times[t] = 0 if sum(times) > times[t] else times[t]
    return times, edges, nodes, ports, fixed, fraction


def flow_text(times, edges, fixed):
    out = ["weft: 1", "name: g", "tasks:"]
    for t, time in enumerate(times):
        row = [f"work: {time}"]
        if t in fixed:
            row.append("replicable: false")
        ins = [f"d{a}_{b}" for a, b, _ in edges if b == t]
        outs = [f"{{ name: d{a}_{b}, size: {s} }}" for a, b, s in edges if a == t]
        if ins:
            row.append("in: [" + ", ".join(ins) + "]")
        if outs:
            row.append("out: [" + ", ".join(outs) + "]")
        out.append(f"  t{t}: {{ {', '.join(row)} }}")
    return "\n".join(out) + "\n"


def overlaps(spans, room, hair):
    """More than `room` of these (start, end) at once?"""
    points = sorted([(a + hair, 1) for a, b in spans if b - a > 2 * hair] + [(b - hair, -1) for a, b in spans if b - a > 2 * hair])
    depth = 0
    for _, step in points:
        depth += step
        if depth > room:
            return True
    return False


def judge(plan, times, edges, ports):
    """Everything that is wrong with a plan's schedule: a list of sentences."""
    wrong = []
    size = {f"d{a}_{b}": s for a, b, s in edges}
    clusters = plan["clusters"]
    home, has = {}, []
    for c, x in enumerate(clusters):
        for t in x["tasks"]:
            home[t] = c
        has.append(set(x["tasks"]) | set(x["duplicates"]))
    schedule = plan.get("schedule")
    if not schedule:
        return ["it has no schedule"]
    period = schedule["period"]
    hair = 1e-7 * period
    promised = plan["objectives"]["throughput"]
    if promised * period > 1 + 1e-6:
        wrong.append(f"promises {promised}, and takes an item every {period} s")
    start = {(x["task"], x["cluster"]): x["start"] for x in schedule["tasks"]}
    send = {(x["object"], x["to"]): x for x in schedule.get("transfers", [])}
    if set(start) != {(t, c) for c in range(len(clusters)) for t in has[c]} or len(start) != len(schedule["tasks"]):
        return wrong + ["not each copy of a task once"]
    end = {k: s + times[int(k[0][1:])] for k, s in start.items()}
    for x in send.values():
        if x["start"] < end[(x["object"].split("_")[0].replace("d", "t"), x["from"])] - hair:
            wrong.append(f"{x['object']} leaves before it is made")
    for a, b, s in edges:
        for c in range(len(clusters)):
            if f"t{b}" not in has[c]:
                continue
            if f"t{a}" in has[c]:
                there = end[(f"t{a}", c)]
            elif (f"d{a}_{b}", c) not in send:
                wrong.append(f"d{a}_{b} never comes to cluster {c}")
                continue
            else:
                x = send[(f"d{a}_{b}", c)]
                if x["from"] != home[f"t{a}"]:
                    wrong.append(f"d{a}_{b} comes from a cluster that is not its home")
                there = x["start"] + s
            if start[(f"t{b}", c)] < there - hair:
                wrong.append(f"t{b} starts in cluster {c} before d{a}_{b} is there")
    last = max(end.values())
    # enough items that those of the whole way through meet each other, in a window in the middle
    depth = int(last / period) + 2
    items = min(4000, depth + 2 * max(len(x["nodes"]) for x in clusters) + 40)
    node_spans, pair_spans, port_spans = {}, {}, {}
    for n in range(items):
        at = n * period
        node = [x["nodes"][n % len(x["nodes"])] for x in clusters]
        for (t, c), s in start.items():
            node_spans.setdefault(node[c], []).append((at + s, at + s + times[int(t[1:])]))
        for x in send.values():
            span = (at + x["start"], at + x["start"] + size[x["object"]])
            a, b = node[x["from"]], node[x["to"]]
            pair_spans.setdefault((min(a, b), max(a, b)), []).append(span)
            port_spans.setdefault(a, []).append(span)
            port_spans.setdefault(b, []).append(span)
    wrong += [f"two tasks at once on {k}" for k, v in node_spans.items() if overlaps(v, 1, hair)]
    wrong += [f"two transfers at once between {k}" for k, v in pair_spans.items() if overlaps(v, 1, hair)]
    if ports:
        wrong += [f"more than {ports} transfers at once at {k}" for k, v in port_spans.items() if overlaps(v, ports, hair)]
    if not plan["pipelined"] and abs(last - plan["objectives"]["latency"]) > 1e-6 * last:
        wrong.append(f"one item takes {last}, not the {plan['objectives']['latency']} promised")
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weft")
    parser.add_argument("--graphs", type=int, default=500)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--planners", default="mos,stream,expert")
    a = parser.parse_args()
    faults = plans = stretched = whole = 0
    worst = 1.0
    with tempfile.TemporaryDirectory() as folder:
        flow, file = os.path.join(folder, "g.yaml"), os.path.join(folder, "plan.json")
        for seed in range(a.first, a.first + a.graphs):
            times, edges, nodes, ports, fixed, fraction = draw(seed)
            with open(flow, "w") as f:
                f.write(flow_text(times, edges, fixed))
            on = f"homogeneous:n={nodes},bandwidth=1" + (f",ports={ports}" if ports else "")
            latency = {}
            for planner in a.planners.split(","):
                def fault(text):
                    nonlocal faults
                    faults += 1
                    print(f"seed {seed}, {planner}: {text}")
                r = subprocess.run([a.weft, "plan", flow, "--on", on, "--with", planner, "--set", f"throughput={fraction}Tmax", "-o", file, "--quiet"], capture_output=True, text=True)
                if r.returncode == 3:
                    continue
                if r.returncode:
                    fault(f"plan: {r.stderr.strip()}")
                    continue
                plans += 1
                with open(file) as f:
                    plan = json.load(f)
                most = nodes / sum(times)
                for t in fixed:
                    most = min(most, 1 / times[t]) if times[t] else most
                latency[planner] = plan["objectives"]["latency"]
                met = plan["objectives"]["throughput"] >= fraction * most * (1 - 1e-6)
                if not met and planner in ("mos", "stream"):
                    stretched += 1
                    fault(f"throughput {plan['objectives']['throughput'] / most / fraction:.4f} of what was asked for: {plan.get('notes')}")
                elif any("schedule" in x for x in plan.get("notes", [])):
                    stretched += 1
                    print(f"seed {seed}, {planner}: stretched: {plan['notes']}")
                for text in judge(plan, times, edges, ports):
                    fault(text)
                r = subprocess.run([a.weft, "sim", file, "--items", str(ITEMS), "--json"], capture_output=True, text=True)
                c = subprocess.run([a.weft, "check", file], capture_output=True, text=True)
                if c.returncode:
                    fault(f"check: {c.stdout.strip()}")
                if r.returncode:
                    fault(f"sim: {r.stderr.strip()}")
                    continue
                replay = json.loads(r.stdout)
                reached = replay["throughput"] / plan["objectives"]["throughput"]
                worst = min(worst, reached)
                whole += reached >= 0.999
                if reached < 0.999:
                    fault(f"a replay reaches {reached:.4f} of the promise")
                if not plan["pipelined"] and abs(replay["latency"]["max"] - latency[planner]) > 1e-6 * latency[planner]:
                    fault(f"one item takes {replay['latency']['max']}, promised {latency[planner]}")
                if plan["pipelined"] and abs(replay["latency"]["max"] - plan["objectives"]["steady_latency"]) > 1e-6 * latency[planner]:
                    fault(f"an item takes {replay['latency']['max']}, promised {plan['objectives']['steady_latency']}")
            if "mos" in latency and latency.get("stream", 0) > latency["mos"] * (1 + 1e-9):
                fault(f"stream takes {latency['stream']}, mos {latency['mos']}")
    print(f"{plans} plans, {whole} replays reach 0.999 of the promise (least {worst:.6f}), {stretched} promise less than the estimate, {faults} faults")
    return faults > 0


if __name__ == "__main__":
    sys.exit(main())

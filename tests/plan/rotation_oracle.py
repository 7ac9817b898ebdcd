#!/usr/bin/env python3
"""FCP under k ports, judged apart from weft: the rate that processors, ports and edges allow, item by item over a whole round,
against what `weft check` recomputes; and what a replay reaches against what the plan promises.

    rotation_oracle.py WEFT [--graphs N] [--first SEED]"""
import argparse, json, math, os, subprocess, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from stream_promises import draw, flow_text


def allowed(plan, times, edges, ports):
    """Items a second at which the busiest processor, port or edge is busy all the time; None: the round is too long to walk."""
    copies = {}
    for c, x in enumerate(plan["clusters"]):
        for t in x["tasks"] + x["duplicates"]:
            copies.setdefault(int(t[1:]), []).append(c)
    items = 1
    for x in copies.values():
        items = math.lcm(items, len(x))
    if items > 100000:
        return None
    works, held = [0.0] * len(plan["clusters"]), [0.0] * len(plan["clusters"])
    for n in range(items):
        at = {t: sorted(x)[n % len(x)] for t, x in copies.items()}
        for t, c in at.items():
            works[c] += times[t]
        for a, b, size in edges:
            if at[a] != at[b]:
                held[at[a]] += size
                held[at[b]] += size
    rate = items / max(works) if max(works) else math.inf
    if max(held):
        rate = min(rate, ports * items / max(held))
    for a, b, size in edges:
        if any(sorted(copies[a])[n % len(copies[a])] != sorted(copies[b])[n % len(copies[b])] for n in range(items)):
            rate = min(rate, min(len(copies[a]), len(copies[b])) / size)
    return rate


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weft")
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    a = parser.parse_args()
    faults = plans = compared = 0
    worst = 1.0
    with tempfile.TemporaryDirectory() as folder:
        flow, file = os.path.join(folder, "g.yaml"), os.path.join(folder, "plan.json")
        for seed in range(a.first, a.first + a.graphs):
            times, edges, nodes, ports, fixed, fraction = draw(seed)
            ports = ports or 1
            with open(flow, "w") as f:
                f.write(flow_text(times, edges, fixed))
            for planner in ("fcp", "fcp-e"):
                def fault(text):
                    nonlocal faults
                    faults += 1
                    print(f"seed {seed}, {planner}: {text}")
                made = subprocess.run([a.weft, "plan", flow, "--on", f"homogeneous:n={nodes},bandwidth=1,ports={ports}", "--with", planner, "--set", f"throughput={fraction}Tmax", "-o", file, "-q"], capture_output=True, text=True)
                if made.returncode:
                    fault(made.stderr)
                    continue
                plans += 1
                plan = json.load(open(file))
                promised = plan["objectives"]["throughput"]
                checked = json.loads(subprocess.run([a.weft, "check", file, "--json"], capture_output=True, text=True).stdout)
                replay = json.loads(subprocess.run([a.weft, "sim", file, "--items", "1000", "--json"], capture_output=True, text=True).stdout)
                if plan.get("ports") != ports or not checked["valid"]:
                    fault(f"ports {plan.get('ports')}, {checked['violations']}")
                rate = allowed(plan, times, edges, ports)
                compared += rate is not None
                if rate is not None and abs(rate - checked["objectives"]["throughput"]) > 1e-9 * rate:
                    fault(f"at most {rate} by hand, {checked['objectives']['throughput']} by check")
                reached = replay["throughput"] / promised
                worst = min(worst, reached)
                if reached < 0.999:
                    fault(f"a replay reaches {reached:.4f} of the promise")
    print(f"{plans} plans of FCP under ports, {compared} rates compared, replays reach at least {worst:.4f} of the promise, {faults} faults")
    return faults > 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Is `stream` near the best of all planners of streams? Graphs of any size on many processors; each planner's latency counts
where its plan has the throughput.

    stream_best.py WEFT [--graphs N] [--first SEED] [--tasks 50,500] [--processors 64,512] [--most 1.1]

Prints a line where `stream` takes longer than --most of the best, or than mos, and a summary. The exit status is 0 when there was
no such line."""
import argparse, json, os, random, subprocess, sys, tempfile

OTHERS = ["mos", "expert", "expert-e", "fcp", "fcp-e"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weft")
    parser.add_argument("--graphs", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--tasks", default="50,200,500,1000")
    parser.add_argument("--processors", default="32,128,512")
    parser.add_argument("--effort", default="1")
    parser.add_argument("--most", type=float, default=1.1)
    a = parser.parse_args()
    compared = longer = 0
    ratios, saved = [], []
    with tempfile.TemporaryDirectory() as folder:
        flow, file = os.path.join(folder, "g.yaml"), os.path.join(folder, "plan.json")
        for seed in range(a.first, a.first + a.graphs):
            r = random.Random(seed)
            tasks, nodes = r.choice(a.tasks.split(",")), r.choice(a.processors.split(","))
            shape = r.choice([["tgff", "max-in=4"], ["tgff", "mean-degree=4"], ["layered", "ccr=1"], ["gauss", "ccr=1"]])
            if shape[0] == "gauss":  # n rows have about n^2 / 2 tasks
                make = ["gauss", "--set", f"size={max(3, int((2 * int(tasks)) ** 0.5))}"]
            else:
                make = [shape[0], "--set", f"n={tasks}", "--set", shape[1]]
            make += ["--set", f"ccr={r.choice([0.1, 0.5, 1, 3])}", "--seed", str(seed)]
            on = f"homogeneous:n={nodes},bandwidth=1,ports={r.choice([1, 2, 4, 8])}"
            fraction = r.choice([0, 0.1, 0.25, 0.5, 0.75, 0.9])
            made = subprocess.run([a.weft, "generate", *make, "-q", "-o", flow], capture_output=True, text=True)
            if made.returncode:
                sys.exit(made.stderr)
            found = {}
            for planner in ["stream"] + OTHERS:
                extra = ["--set", f"effort={a.effort}"] if planner == "stream" else []
                p = subprocess.run([a.weft, "plan", flow, "--on", on, "--with", planner, "--set", f"throughput={fraction}Tmax", *extra, "-q", "-o", file], capture_output=True, text=True)
                if p.returncode == 0:
                    plan = json.load(open(file))
                    if not any("is not met" in x or "a replay reaches" in x for x in plan.get("notes", [])):
                        found[planner] = plan["objectives"]
                elif p.returncode != 3 or planner == "stream":
                    sys.exit(f"seed {seed}, {planner}: {p.stderr}")
            others = {k: v["latency"] for k, v in found.items() if k != "stream"}
            if not others:
                continue
            what = f"seed {seed}: {' '.join(make)} on {on} at {fraction}Tmax"
            if "stream" not in found:
                longer += 1
                print(f"{what}: stream misses the throughput")
                continue
            best = min(others, key=others.get)
            ratio = found["stream"]["latency"] / others[best]
            compared += 1
            ratios.append(ratio)
            if "mos" in found:
                saved.append(found["stream"]["processors"] / found["mos"]["processors"])
            if ratio > a.most or found["stream"]["latency"] > others.get("mos", float("inf")) * (1 + 1e-9):
                longer += 1
                print(f"{what}: stream {found['stream']['latency']:.6g}, {ratio:.3f} of {best}; {others}")
    ratios.sort()
    mean = sum(ratios) / max(1, len(ratios))
    print(f"{compared} compared, {longer} too long; latency / best of the others: mean {mean:.3f}, most {ratios[-1] if ratios else 0:.3f}, above 1 in {sum(x > 1 + 1e-9 for x in ratios)}; processors / mos's {sum(saved) / max(1, len(saved)):.3f}")
    return longer > 0


if __name__ == "__main__":
    sys.exit(main())

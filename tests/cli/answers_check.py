"""The library cannot answer differently from the command: every question is put to `weft` and to library_answers.c, which is linked against
libweft.so, and the answers are compared: plan files byte by byte but for the line of the planning time, figures to the last bit, errors by
text and exit status. Speaks TAP."""
import glob, json, os, re, subprocess, sys, tempfile

weft, library = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
work = tempfile.TemporaryDirectory()
at = lambda name: os.path.join(work.name, name)
count = failed = 0


def ok(good, what, *why):
    global count, failed
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {what}", flush=True)
    if not good:
        failed += 1
        for line in why:
            print("# " + str(line).replace("\n", "\n# ")[:2000])


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)


def on(platform):
    return ["--on", platform] if platform != "-" else []


def same_end(a, b):
    return a.returncode == b.returncode and (a.returncode in (0, 1) or a.stderr == b.stderr)


def timeless(path):
    """A plan file but for how long planning took."""
    try:
        with open(path, encoding="utf-8") as f:
            return re.sub(r'^  "planning_seconds": .*\n', "", f.read(), flags=re.M)
    except FileNotFoundError:
        return None


def plan(flow, platform, planner, options=(), seed=1, status=0):
    """Plan with both. The path of the plan, or None when there is none."""
    mine, theirs = at("command.json"), at("library.json")
    for path in (mine, theirs):
        if os.path.exists(path):
            os.remove(path)
    chosen = ["--with", planner] if planner != "-" else []
    sets = [word for option in options for word in ("--set", option)]
    a = run(weft, "plan", flow, *on(platform), *chosen, *sets, "--seed", str(seed), "-q", "-o", mine)
    b = run(library, "plan", flow, platform, planner, str(seed), theirs, *options)
    name = f"plan {flow} on {platform} with {planner} {' '.join(options)} seed {seed}"
    one, other = timeless(mine), timeless(theirs)
    ok(a.returncode == status and same_end(a, b) and one == other and (one is None) == (status != 0), name,
       f"command {a.returncode}: {a.stderr}", f"library {b.returncode}: {b.stderr}", one, other)
    return mine if one else None


def check(path, platform, what, status=0):
    a = run(weft, "check", path, *on(platform), "--json")
    b = run(library, "check", path, platform)
    try:
        x, y = json.loads(a.stdout), json.loads(b.stdout)
        # "short": weft_plan_check() agrees with weft_check_new()
        good = all(x[k] == y[k] for k in ("total", "violations")) and y["short"] and x["valid"] == (y["total"] == 0)
        good = good and all(y.get(k) is None or x["objectives"][k] == y[k] for k in y if k not in ("total", "violations", "short"))
        good = good and all(x["objectives"][k] == y[k] for k in x["objectives"] if k in y)
    except (ValueError, KeyError):
        good = False
    ok(good and a.returncode == status and same_end(a, b), f"check {what}", a.stdout, b.stdout, a.stderr, b.stderr)


def compare(flow, platform, planners, status=0):
    a = run(weft, "compare", flow, *on(platform), "--with", ",".join(planners), "--json")
    b = run(library, "compare", flow, platform, *planners)
    good = same_end(a, b) and a.returncode == status
    if good and status == 0:
        x, y = json.loads(a.stdout), json.loads(b.stdout)
        for row in x["rows"]:
            del row["seconds"]
        # Equally short plans stand in the order of the time that they took, which no two runs share.
        for answer in (x, y):
            answer["rows"].sort(key=lambda row: (row["makespan"] is None, row["makespan"], row["planner"]))
        good = len(x["rows"]) == len(planners) and all(x[k] == y[k] for k in ("sequential", "critical_path", "rows"))
    ok(good, f"compare {flow} on {platform} with {len(planners)} planners", a.stdout, b.stdout, a.stderr, b.stderr)


def figures(x, y, repeat=1):
    """Every figure of the library is in the command's JSON: that of the first run, and those of all runs where they were repeated."""
    del y[""]
    flat = {**x, **x.get("time", {}), **{f"latency_{k}": v for k, v in x.get("latency", {}).items()}}
    if not y or any(flat.get(name) != row["value"] for name, row in y.items()):
        return False
    over = x["repeat"]["metrics"] if repeat > 1 else {}
    return (repeat == 1 or over.keys() == y.keys()) and all(
        row[k] == y[name][k] for name, row in over.items() for k in ("mean", "deviation", "min", "median", "max"))


def sim(subject, platform, what, seed=1, noise=0.0, repeat=1, status=0):
    mine, theirs = at("command.trace"), at("library.trace")
    trace = repeat == 1
    a = run(weft, "sim", subject, *on(platform), "--seed", str(seed), "--noise", str(noise), "--repeat", str(repeat), "--json",
            *(["--trace", mine] if trace else []))
    b = run(library, "sim", subject, platform, str(seed), str(noise), str(repeat), theirs if trace else "-")
    good = same_end(a, b) and a.returncode == status
    if good and status == 0:
        good = figures(json.loads(a.stdout), json.loads(b.stdout), repeat)
    if good and status == 0 and trace:
        with open(mine, "rb") as x, open(theirs, "rb") as y:
            good = x.read() == y.read()
    ok(good, f"sim {what}: seed {seed}, noise {noise}, {repeat} runs", a.stdout, b.stdout, a.stderr, b.stderr)


cluster, laptop = "examples/cluster.yaml", "examples/laptop.yaml"
equal = "homogeneous:n=8,bandwidth=1e8"
moves = "budget=2000moves"  # reproducible, unlike a time
listed = [p["name"] for p in json.loads(run(weft, "planners", "--json").stdout)["planners"]
          if p["accepts"] == ["dag"] and not any(o["type"] == "seconds" or o["name"] == "budget" for o in p["options"])]
pairs = [("examples/montage-25.dag", cluster), ("examples/edges.yaml", cluster), ("examples/genomics.yaml", laptop),
         ("examples/heft-paper.yaml", "examples/heft-paper-nodes.yaml"), ("examples/genomics/genomics.yaml", "4"),
         ("examples/monte-carlo/monte-carlo.yaml", laptop), ("examples/edges/edges.yaml", cluster)]

for flow, platform in pairs:
    path = plan(flow, platform, "heft")
    if path:
        check(path, platform, f"{flow} on {platform}")
        check(path, "-", f"{flow} on the platform that its plan names")
        sim(path, platform, f"{flow} on {platform}, by its plan", seed=5, noise=0.3)
        # A plan that is wrong: everything at once. Both say the same about it.
        with open(path, encoding="utf-8") as f:
            broken = json.load(f)
        for row in broken["placements"]:
            row["start"], row["finish"] = 0, row["finish"] - row["start"]
        with open(path, "w", encoding="utf-8") as f:
            json.dump(broken, f)
        check(path, platform, f"{flow} with every task at the start", status=1)
    sim(flow, platform, flow)
    sim(flow, platform, flow, seed=9, noise=0.2, repeat=8)
    plan(flow, platform, "-", [moves], seed=3)
    plan(flow, platform, "auto", [moves])
    compare(flow, platform, listed)
# Nodes of a few kilobytes: none of them holds an image, so that files must not count.
with open("examples/four-fold.yaml", encoding="utf-8") as f, open(at("four-fold.yaml"), "w", encoding="utf-8") as g:
    g.write(f.read() + "memory: tasks\n")
for planner in listed:
    plan("examples/montage-25.dag", at("four-fold.yaml"), planner)

# Trees, streams, orders: what their planners take.
run(weft, "generate", "intree", "--seed", "4", "-o", at("tree.yaml"))
for planner, options in [("-", [moves]), ("tree", ["budget=5000moves", "memory=lenient"]), ("hetpart1", []), ("hetpart2", [])]:
    path = plan(at("tree.yaml"), "examples/four-fold.yaml", planner, options)
    if path:
        check(path, "examples/four-fold.yaml", f"the tree of {planner}")
for planner, options in [("mos", ["throughput=0.5Tmax", "ports=2"]), ("stream", ["throughput=0.5Tmax", "effort=0.2"]),
                         ("fcp", ["throughput=0.3Tmax"])]:
    path = plan("examples/edges.yaml", equal, planner, options, seed=2)
    if path:
        check(path, equal, f"the stream of {planner}")
        sim(path, equal, f"the stream of {planner}", seed=3)
for flow in sorted(glob.glob("examples/ic/*.dot")):
    path = plan(flow, "4", "ic", ["method=paper"] if "fig4" in flow else [])
    if path:
        check(path, "4", f"the order of {flow}")
a = run(weft, "sim", "examples/ic/fig4.dot", "--clients", "--seed", "6", "--json")
b = run(library, "clients", "examples/ic/fig4.dot", "6")
ok(same_end(a, b) and figures(json.loads(a.stdout), json.loads(b.stdout)), "sim with clients", a.stdout, b.stdout, b.stderr)

# Errors, too, are one text and one status.
plan("examples/edges.yaml", cluster, "hfet", status=2)
plan("examples/edges.yaml", cluster, "auto", ["bugdet=1s"], status=2)
plan("examples/edges.yaml", cluster, "auto", ["budget=soon"], status=2)
plan("examples/edges.yaml", cluster, "heft", ["budget=1s"], status=2)
plan("examples/montage-25.dag", cluster, "mos", status=2)
plan("examples/montage-25.dag", cluster, "hetpart1", status=2)
plan("examples/edges.yaml", equal, "mos", ["throughput=1e9"], status=3)
plan("examples/absent.yaml", cluster, "heft", status=2)
plan("examples/edges.yaml", "examples/absent.yaml", "heft", status=2)
compare("examples/edges.yaml", cluster, ["heft", "hfet"], status=2)

print(f"1..{count}")
sys.exit(failed > 0)

"""The documentation must not drift from the program: pages made from its tables are made anew and compared, tables and lists written by hand
are compared with `--json`, every field of every result must be documented, every link must lead somewhere. Speaks TAP."""
import json, os, re, subprocess, sys, tempfile

source, weft = sys.argv[1], os.path.abspath(sys.argv[2])
os.chdir(source)
count = failed = 0


def ok(good, what, *why):
    global count, failed
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {what}")
    if not good:
        failed += 1
        for line in why:
            print(f"# got {line}")


def run(*arguments):
    return subprocess.run([weft, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


work = tempfile.TemporaryDirectory()
at = lambda name: os.path.join(work.name, name)

# --- pages made by tools ---
made = subprocess.run(["bash", "tools/planner-docs", weft, at("planners.md")])
same = made.returncode == 0 and read(at("planners.md")) == read("docs/planners.md")
ok(same, "docs/planners.md is what tools/planner-docs writes", "run tools/planner-docs and commit docs/planners.md")

# --- the table of formats ---
page = read("docs/formats/README.md")
rows = {}
for line in re.findall(r"^\| `([a-z-]+)` \|(.*)\|$", page.split("## What each carries")[0], re.M):
    cells = [c.strip() for c in line[1].split("|")]
    rows[line[0]] = (cells[0].replace("`", ""), cells[1], cells[2])
formats = json.loads(run("formats", "--json").stdout)["formats"]
for f in formats:
    able = lambda what: ", ".join(v for v, k in (("read", "reads_"), ("write", "writes_")) if f[k + what])
    told = (f["suffixes"], able("workflow"), able("platform"))
    ok(rows.get(f["name"]) == told, f"docs/formats/README.md tells what the format {f['name']} can", rows.get(f["name"]), told)
ok(set(rows) == {f["name"] for f in formats}, "and no other formats", sorted(rows))
format_pages = "".join(read("docs/formats/" + f) for f in sorted(os.listdir("docs/formats")))
for name, option in re.findall(r"^([a-z-]+):\n((?:[a-z-]+=.*\n)+)", run("formats").stdout, re.M):
    for o in re.findall(r"^([a-z-]+)=", option, re.M):
        ok(re.search(rf"\b{o}=", format_pages) is not None, f"docs/formats/ tells the option {o}= of {name}")

# --- every field of every JSON result ---
plan, graph = at("plan.json"), ["examples/heft-paper.yaml", "--on", "examples/heft-paper-nodes.yaml"]
ok(run("plan", *graph, "--with", "heft", "-o", plan, "-q").returncode == 0, "a plan to look at")


def fields(value, found):
    if isinstance(value, dict):
        for k, v in value.items():
            found.add(k)
            if k not in ("options", "objectives", "metrics") or isinstance(v, list):
                fields(v, found)
    elif isinstance(value, list):
        for v in value:
            fields(v, found)
    return found


# A history of two small runs.
os.environ["WEFT_HISTORY"] = at("history.db")
with open(at("flow.yaml"), "w") as f:
    f.write("weft: 1\ntasks:\n  a: {run: 'date +%N > {out}', out: [x]}\n  b: {run: 'cat {in} > {out}', in: [x], out: [y]}\n")
ok(run("run", at("flow.yaml"), "-q").returncode == 0 and run("run", at("flow.yaml"), "-q", "--force").returncode == 0, "two runs to look at")

for schema, arguments in [
    ("weft-show/1", ["show", "examples/genomics.yaml"]),
    ("weft-show-platform/1", ["show", "examples/cluster.yaml"]),
    ("weft-plan/1", ["plan", *graph, "--with", "heft"]),
    ("weft-plan/1", ["show", plan]),
    ("weft-check/1", ["check", plan]),
    ("weft-compare/1", ["compare", *graph, "--with", "heft,cpop"]),
    ("weft-sim/1", ["sim", plan, "--repeat", "3", "--noise", "0.1"]),
    ("weft-sim/1", ["sim", "examples/edges.yaml", "--clients"]),
    ("weft-cluster/1", ["sim", "examples/genomics.yaml", "--schedulers", "4"]),
    ("weft-bound/1", ["bound", "examples/genomics.yaml"]),
    ("weft-experiment/1", ["experiment", "examples/edges/experiment.yaml", "--list", "--values", "score.txt"]),
    ("weft-planners/1", ["planners"]),
    ("weft-history/1", ["history"]),
    ("weft-history/1", ["history", "last"]),
    ("weft-history/1", ["history", "--compare", "1", "2"]),
    ("weft-history/1", ["history", "--file", at("y")]),
    ("weft-predict/1", ["predict", at("flow.yaml")]),
    ("weft-formats/1", ["formats"]),
    ("weft-key/1", ["key", at("cluster.key")]),
]:
    result = run(*arguments, "--json")
    name = " ".join(arguments[:1]) + " --json"
    try:
        document = json.loads(result.stdout)
    except ValueError:
        ok(False, f"{name} is JSON", result.stderr)
        continue
    ok(document.get("schema") == schema and schema in format_pages, f"{name} is {schema}, which docs/formats/ describes")
    unknown = [k for k in sorted(fields(document, set())) if not re.search(rf"[`{{,: \[(\"]{re.escape(k)}[`}},: \])\"]", format_pages)]
    ok(not unknown, f"docs/formats/ tells every field of {name}", *unknown)

# --- the same for docs/reports.md ---
trace, reports = at("trace.json"), read("docs/reports.md")
ok(run("sim", plan, "--trace", trace, "-q").returncode == 0, "a trace to look at")
for schema, arguments in [("weft-report/1", ["report", trace]), ("weft-platform/1", ["platform", "--measure", "-q"])]:
    document = json.loads(run(*arguments, "--json").stdout or "{}")
    ok(document.get("schema") == schema and schema in reports, f"{arguments[0]} --json is {schema}, which docs/reports.md describes")
    unknown = [k for k in sorted(fields(document, set())) if not re.search(rf"[`{{\s]{re.escape(k)}[`}},]", reports)]
    ok(not unknown, f"docs/reports.md tells every field of {arguments[0]} --json", *unknown)

# --- commands and exit statuses ---
overview = run("help").stdout
commands = re.findall(r"^  ([a-z]+) ", overview, re.M)
readme = read("README.md")
for c in commands:
    if c not in ("help", "version"):
        ok(f"`weft {c}" in readme, f"README.md lists weft {c}")

# --- links and names of files ---
pages = ["README.md", "CONTRIBUTING.md", "NEWS.md", "SECURITY.md", "examples/README.md"] + sorted(os.path.join(d, f) for d, _, names in os.walk("docs") for f in names if f.endswith(".md"))
anchor = lambda title: re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
for p in pages:
    text, broken = re.sub(r"^```.*?^```", "", read(p), flags=re.M | re.S), []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, part = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(p), path)) if path else p
        if not os.path.exists(path):
            broken.append(target)
        elif part and part not in [anchor(t) for t in re.findall(r"^#+ (.*)$", read(path), re.M)]:
            broken.append(target)
    for name in re.findall(r"`((?:src|tests|tools|docs|examples|include|cmake)/[\w./-]+)`", text):
        if not os.path.exists(name):
            broken.append(name)
    ok(not broken, f"every link and file name of {p} leads somewhere", *broken)
for name in sorted(os.listdir("examples")):
    ok(name == "README.md" or re.search(rf"`{re.escape(name)}[`/]", read("examples/README.md")) is not None, f"examples/README.md tells of {name}")

print(f"1..{count}")
sys.exit(1 if failed else 0)

#!/usr/bin/env python3
"""Six real pipelines (examples/pipelines) in weft and in Snakemake, in one run: bench_pipelines [--json FILE] [--images N] [NAME...].
The last row, `nothing`: the 3,301 tasks of `images` when all of them are done, in 50 ms at most.

For each: the same result? Time of a first run and of one that has nothing to do, with two jobs at once. `tool` is the processor time of the
tool's own process: what is not the tasks' work. `beyond` is the processor time of all processes beyond that of the commands alone, which
tests/support/pipelines_by_hand.sh runs one after the other: with the starting of processes, but also with what two commands at once cost
each other. Less than 0.01 s is told as 0.01."""
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE, WEFT = "@CMAKE_SOURCE_DIR@", "@WEFT_PROGRAM@"
RESULTS = {"words": "total.txt", "images": "table.tsv", "ridge": "model.txt", "variants": "cohort.txt", "matrix": "summary.txt", "chunks": "best.txt"}


def measured(words, folder, environment):
    """Seconds on the wall, seconds of processors of the command and all its children, and of its own process alone."""
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        start = time.monotonic()
        process = subprocess.Popen(words, cwd=folder, env=environment, stdout=said, stderr=subprocess.STDOUT)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # ended, and still to be looked at
        wall = time.monotonic() - start
        with open(f"/proc/{process.pid}/stat") as file:
            ticks = file.read().rpartition(")")[2].split()[11:13]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        status = process.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if status:
            said.seek(0)
            sys.exit(f"{' '.join(words)} failed in {folder}:\n{said.read()[-2000:]}")
    all_of_it = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, all_of_it, sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def lines_of(path):
    with open(path) as file:
        return sum(1 for line in file if line.strip())


def compare(name, work, environment):
    weft, snake, hand = (os.path.join(work, tool, name) for tool in ("weft", "snakemake", "hand"))
    row = {"lines": lines_of(f"{weft}/flow.yaml"), "lines_snakemake": lines_of(f"{snake}/Snakefile")}
    _, own, _ = measured([f"{SOURCE}/tests/support/pipelines_by_hand.sh", name], hand, environment)
    run = [WEFT, "run", "flow.yaml", "-j2", "-q"]
    for tool, command, folder in (("weft", run, weft), ("snakemake", ["snakemake", "-j2", "-q"], snake)):
        wall, cpu, tool_cpu = measured(command, folder, environment)
        nothing = min(measured(command, folder, environment)[0] for _ in range(3))
        row[tool] = {"seconds": wall, "tool": max(tool_cpu, 0.01), "beyond": max(cpu - own, 0.01), "nothing": nothing}
    weft_text, snake_text, hand_text = (open(f"{folder}/{RESULTS[name]}").read() for folder in (weft, snake, hand))
    # Snakemake's glob_wildcards gives names in the order of the file system: rows of the same table in another order
    row["same"] = weft_text == hand_text and sorted(weft_text.split("\n")) == sorted(snake_text.split("\n"))
    return row


# Does nothing of what ImageMagick does, and in no time: the row is about what has been done.
STAND_IN = """#!/bin/sh
for last; do :; done
case $last in info:-) printf 'area 1\\ndeviation 0\\n' ;; *) cp "$1" "$last" ;; esac
"""


def compare_nothing(work, environment):
    """Seconds of a run of 3,301 tasks that are all done. Snakemake gets the files that weft made, which it takes as up to date by their times."""
    weft, snake = (os.path.join(work, "nothing", tool) for tool in ("weft", "snakemake"))
    shutil.copytree(f"{SOURCE}/examples/pipelines/images", weft)
    os.makedirs(f"{weft}/images", exist_ok=True)
    for i in range(100):
        with open(f"{weft}/images/img{i:03}.png", "w") as file:
            file.write(f"image {i}\n")
    os.mkdir(f"{work}/nothing/bin")
    with open(f"{work}/nothing/bin/convert", "w") as file:
        file.write(STAND_IN)
    os.chmod(f"{work}/nothing/bin/convert", 0o755)
    environment = dict(environment, PATH=f"{work}/nothing/bin:{environment['PATH']}")
    run = [WEFT, "run", "flow.yaml", "-j2", "-q"]
    measured(run, weft, environment)
    shutil.copytree(weft, snake, ignore=shutil.ignore_patterns(".weft"))
    row = {"tasks": 100 * (3 + 6 + 12 + 12) + 1}
    for tool, command, folder, times in (("weft", run, weft, 20), ("snakemake", ["snakemake", "-j2", "-q"], snake, 3)):
        both = [measured(command, folder, environment) for _ in range(times)]
        row[tool], row[f"{tool}_processor"] = min(m[0] for m in both), min(m[1] for m in both)
    row["enough"] = row["weft"] <= 0.05
    print(f"nothing   {row['tasks']} tasks, all of them done: {row['weft']:.3f} s ({row['weft_processor']:.3f} s of a processor), Snakemake"
          f" {row['snakemake']:.2f} s ({row['snakemake_processor']:.2f}), {row['snakemake'] / row['weft']:.0f}x; at most 0.050 s:"
          f" {'yes' if row['enough'] else 'NO'}", flush=True)
    return row


def main():
    arguments, out, images = sys.argv[1:], None, 100
    while arguments and arguments[0].startswith("--"):
        if arguments[0] == "--json":
            out = arguments[1]
        elif arguments[0] == "--images":
            images = int(arguments[1])
        else:
            sys.exit(__doc__)
        arguments = arguments[2:]
    if not shutil.which("snakemake"):
        sys.exit("bench_pipelines: there is no snakemake; `make bench` installs it")
    rows, good = {}, True
    with tempfile.TemporaryDirectory() as work:
        # Debian's own python3 has its numpy
        environment = dict(os.environ, PATH="/usr/bin:/bin", WEFT_HISTORY=f"{work}/history.db", XDG_CACHE_HOME=f"{work}/cache")
        if arguments != ["nothing"]:  # which has its own
            subprocess.run([f"{SOURCE}/examples/pipelines/make-data", f"{work}/hand"], check=True)
            for name in sorted(os.listdir(f"{work}/hand/images/images"))[images:]:
                os.unlink(f"{work}/hand/images/images/{name}")
            for tool in ("weft", "snakemake"):
                shutil.copytree(f"{work}/hand", f"{work}/{tool}")
        print("six pipelines, two jobs at once; Snakemake beside, in this run")
        print(f"{'pipeline':9} {'lines':>9} {'run s':>15} {'ratio':>6} {'the tool itself s':>18} {'ratio':>6} {'beyond s':>14} {'ratio':>6} {'nothing to do s':>16} {'ratio':>6}  result", flush=True)
        for name in arguments or [*RESULTS, "nothing"]:
            print(f"bench_pipelines: {name}", file=sys.stderr, flush=True)
            if name == "nothing":
                rows[name] = compare_nothing(work, environment)
                continue
            r = rows[name] = compare(name, work, environment)
            w, s = r["weft"], r["snakemake"]
            good = good and r["same"]
            print(f"{name:9} {r['lines']:4}/{r['lines_snakemake']:<4} {w['seconds']:7.2f}/{s['seconds']:<7.2f} {s['seconds'] / w['seconds']:5.1f}x"
                  f" {w['tool']:10.2f}/{s['tool']:<7.2f} {s['tool'] / w['tool']:5.1f}x {w['beyond']:6.2f}/{s['beyond']:<7.2f}"
                  f" {s['beyond'] / w['beyond']:5.1f}x {w['nothing']:8.3f}/{s['nothing']:<7.2f}"
                  f" {s['nothing'] / w['nothing']:5.1f}x  {'the same' if r['same'] else 'DIFFERENT'}", flush=True)
    if out:
        with open(out, "w") as file:
            json.dump(rows, file, indent=1)
    sys.exit(not good)


main()

#!/usr/bin/env python3
"""Six real pipelines (examples/pipelines) in weft and in Snakemake, in one run: bench_pipelines [--json FILE] [--images N] [NAME...].
The last row, `nothing`: the 3,301 tasks of `images` when all of them are done, in 50 ms at most.

For each: the same result? Time of a first run and of one that has nothing to do, with two jobs at once. `beyond` is processor time beyond
that of the commands alone, which tests/support/pipelines_by_hand.sh runs one after the other: what the tool itself takes. It is
measured in processor time, which a loaded machine disturbs less than the wall's; less than 0.01 s is told as 0.01."""
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
    """Seconds on the wall, seconds of processors, of the command and all its children."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed in {folder}:\n{done.stdout[-2000:]}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def lines_of(path):
    with open(path) as file:
        return sum(1 for line in file if line.strip())


def compare(name, work, environment):
    weft, snake, hand = (os.path.join(work, tool, name) for tool in ("weft", "snakemake", "hand"))
    row = {"lines": lines_of(f"{weft}/flow.yaml"), "lines_snakemake": lines_of(f"{snake}/Snakefile")}
    _, own = measured([f"{SOURCE}/tests/support/pipelines_by_hand.sh", name], hand, environment)
    run = [WEFT, "run", "flow.yaml", "-j2", "-q"]
    for tool, command, folder in (("weft", run, weft), ("snakemake", ["snakemake", "-j2", "-q"], snake)):
        wall, cpu = measured(command, folder, environment)
        nothing = min(measured(command, folder, environment)[0] for _ in range(3))
        row[tool] = {"seconds": wall, "beyond": max(cpu - own, 0.01), "nothing": nothing}
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
        row[tool], row[f"{tool}_processor"] = min(wall for wall, _ in both), min(cpu for _, cpu in both)
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
        for tool in ("weft", "snakemake", "hand"):
            subprocess.run([f"{SOURCE}/examples/pipelines/make-data", f"{work}/{tool}"], check=True)
            for name in sorted(os.listdir(f"{work}/{tool}/images/images"))[images:]:
                os.unlink(f"{work}/{tool}/images/images/{name}")
        print("six pipelines, two jobs at once; Snakemake beside, in this run")
        print(f"{'pipeline':9} {'lines':>9} {'run s':>15} {'ratio':>6} {'beyond the commands s':>22} {'ratio':>6} {'nothing to do s':>16} {'ratio':>6}  result")
        for name in arguments or [*RESULTS, "nothing"]:
            if name == "nothing":
                rows[name] = compare_nothing(work, environment)
                continue
            r = rows[name] = compare(name, work, environment)
            w, s = r["weft"], r["snakemake"]
            good = good and r["same"]
            print(f"{name:9} {r['lines']:4}/{r['lines_snakemake']:<4} {w['seconds']:7.2f}/{s['seconds']:<7.2f} {s['seconds'] / w['seconds']:5.1f}x"
                  f" {w['beyond']:10.2f}/{s['beyond']:<11.2f} {s['beyond'] / w['beyond']:5.1f}x {w['nothing']:8.3f}/{s['nothing']:<7.2f}"
                  f" {s['nothing'] / w['nothing']:5.1f}x  {'the same' if r['same'] else 'DIFFERENT'}", flush=True)
    if out:
        with open(out, "w") as file:
            json.dump(rows, file, indent=1)
    sys.exit(not good)


main()

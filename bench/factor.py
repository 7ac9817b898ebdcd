#!/usr/bin/env python3
"""The sparse factorisation of examples/factor beside CHOLMOD (supernodal) and MUMPS, two threads each, in one run:
bench_factor [--json FILE] [--seconds N] [MATRIX...]

MATRIX: 2d:N or 3d:N (a Laplacian on a grid) or a Matrix Market file. For each: seconds of the factorisation (the best of two) and the
most memory that the process had. Then with less memory: weft-factor with L + MinMemory, MinMemory and what its largest front takes (its own count
of bytes, promised and measured); MUMPS with the same limit in core and out of core. CHOLMOD knows no limit. Programs that take longer than N
seconds [60] are ended and told as such. Status 1: weft failed, took more than 1.02 of a limit, or its residual is not below 1e-10."""
import json
import os
import re
import subprocess
import sys
import tempfile

BUILD = "@CMAKE_BINARY_DIR@"
FACTOR, CHOLMOD, MUMPS = (f"{BUILD}/{name}" for name in ("examples/factor/weft-factor", "bench/peer_factor_cholmod", "bench/peer_factor_mumps"))
STANDARD = ["2d:200", "2d:500", "3d:20", "3d:30"]


def grid_file(name, folder):
    """The same matrix as `weft-factor --grid`, for the peers."""
    d, n = int(name[0]), int(name[3:])
    path = os.path.join(folder, name.replace(":", "-") + ".mtx")
    rows = n**d
    steps = [n**k for k in range(d)]
    with open(path, "w") as out:
        edges = d * n ** (d - 1) * (n - 1)
        out.write(f"%%MatrixMarket matrix coordinate real symmetric\n{rows} {rows} {rows + edges}\n")
        for r in range(rows):
            out.write(f"{r + 1} {r + 1} {2 * d}\n")
            out.writelines(f"{r + s + 1} {r + 1} -1\n" for s in steps if r // s % n != n - 1)
    return path


def run(words, limit):
    """(status, output); status None: it took too long."""
    environment = dict(os.environ, OPENBLAS_NUM_THREADS="2", OMP_NUM_THREADS="2")
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=limit, env=environment)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout + done.stderr


def weft(matrix, folder, limit, *more):
    threads = [] if "--plan" in more else ["-t", "2"]
    status, text = run([FACTOR, *matrix, *threads, "--folder", folder, *more], limit)
    figures = {"status": status}
    for name, pattern in {"seconds": r"factorisation ([\d.]+) s", "peak": r"peak (\d+) bytes", "process": r"process (\d+)", "files": r"(\d+) to files",
                          "L": r"L takes (\d+)", "least": r"at least (\d+)", "front": r"one front (\d+)", "residual": r"residual (\S+)"}.items():
        found = re.search(pattern, text)
        if found:
            figures[name] = float(found.group(1))
    return figures


def peer(program, path, limit, *more):
    if not os.path.exists(program):
        return {"status": "not built"}
    status, text = run([program, path, "2", "2", *more], limit)
    if status:
        return {"status": status, "says": text.strip()[:80]}
    if status is None:
        return {"status": None}
    analysis, seconds, process = (float(x) for x in text.split())
    return {"status": 0, "analysis": analysis, "seconds": seconds, "process": process}


def cell(figures):
    if figures.get("status") is None:
        return "too long"
    if isinstance(figures["status"], str):
        return figures["status"]
    if figures["status"] != 0:
        return figures.get("says") or f"exit {figures['status']}"
    return f"{figures['seconds']:.2f} s {figures['process'] / 1e6:.0f} MB"


def compare(name, work, limit):
    grid = re.fullmatch(r"[23]d:\d+", name)
    path = grid_file(name, work) if grid else name
    matrix = ["--grid", name] if grid else [name]
    row = {"matrix": os.path.basename(name)}
    row["weft"] = min((weft(matrix, work, limit) for _ in range(2)), key=lambda f: f.get("seconds", 1e9))
    row["cholmod"], row["mumps"] = peer(CHOLMOD, path, limit), peer(MUMPS, path, limit)
    shares = [f"{row['weft']['seconds'] / row[p]['seconds']:8.2f}" if "seconds" in row["weft"] and "seconds" in row[p] else f"{'-':>8}"
              for p in ("cholmod", "mumps")]
    print(f"{row['matrix']:24} {cell(row['weft']):>20} {cell(row['cholmod']):>20} {cell(row['mumps']):>20} {' '.join(shares)}", flush=True)
    whole, disk = weft(matrix, work, limit, "--plan"), weft(matrix, work, limit, "--disk", "--plan")
    row["short"] = []
    if "L" not in whole or "least" not in disk:
        print(f"    weft-factor --plan of it failed: exit {whole['status']}, {disk['status']}")
        return row
    for what, memory in (("L + MinMemory", whole["L"] + whole["least"]), ("MinMemory", disk["least"]), ("largest front", disk["front"])):
        ours = weft(matrix, work, limit, "-m", f"{memory:.0f}")
        megabytes = str(max(1, int(memory / 1e6)))
        theirs, out = peer(MUMPS, path, limit, megabytes), peer(MUMPS, path, limit, megabytes, "ooc")
        row["short"].append({"what": what, "memory": memory, "weft": ours, "mumps": theirs, "mumps_out_of_core": out})
        print(f"    {what:14} {memory / 1e6:8.1f} MB: weft {cell(ours)}, peak {ours.get('peak', 0) / memory:.3f} of it; MUMPS {cell(theirs)}; "
              f"out of core {cell(out)}", flush=True)
    return row


def usage():
    print(__doc__, file=sys.stderr)
    sys.exit(2)


def fits(row):
    """Has weft done all of it, within its limits and with a residual that is small?"""
    runs = [(row["weft"], 0)] + [(short["weft"], short["memory"]) for short in row["short"]]
    return bool(row["short"]) and all(
        f["status"] == 0 and f.get("residual", 1) < 1e-10 and (not limit or f["peak"] <= 1.02 * limit) for f, limit in runs)


def main():
    words, target, limit = sys.argv[1:], None, 60
    while words and words[0].startswith("--"):
        if len(words) < 2 or words[0] not in ("--json", "--seconds"):
            usage()
        if words[0] == "--json":
            target = words[1]
        else:
            limit = float(words[1]) if re.fullmatch(r"[\d.]+", words[1]) else usage()
        words = words[2:]
    print(f"{'seconds, process':24} {'weft':>20} {'CHOLMOD':>20} {'MUMPS':>20} {'weft of':>8} {'weft of':>8}")
    with tempfile.TemporaryDirectory() as work:
        rows = [compare(name, work, limit) for name in words or STANDARD]
    if target:
        with open(target, "w") as out:
            json.dump({"schema": "weft-bench-factor/1", "rows": rows}, out)
    wrong = [row["matrix"] for row in rows if not fits(row)]
    if wrong:
        print(f"bench_factor: weft has not done all of {', '.join(wrong)} within its limits", file=sys.stderr)
    return 1 if wrong else 0


sys.exit(main())

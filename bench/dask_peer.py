#!/usr/bin/python3
"""Dask.distributed on the graphs that bench/agents.c runs on weft's agents.

    dask_peer.py WORK GRAPH [WORK GRAPH ...]

WORK is `nothing` (a function that returns) or `true` (/bin/true as a process). GRAPH is a file with one line
a task, the numbers of its parents. A scheduler and 2 workers of one thread each, all processes of their own
on loopback, are started once and warmed up; for every pair one line of JSON is printed. A time is from
handing the graph over until the last task has ended; building the graph and fetching results are not in it.
"""
import json
import logging
import subprocess
import sys
import time

import dask
from distributed import Client, LocalCluster, wait


def nothing(*parents):
    return None


def true(*parents):
    subprocess.call(["/bin/true"], close_fds=False)  # by posix_spawn, the quickest way there is


WORK = {"nothing": nothing, "true": true}


def read_graph(path):
    with open(path) as lines:
        return [[int(word) for word in line.split()] for line in lines]


def run(client, graph, work, name):
    def key(number):
        return "%s-%d" % (name, number)

    tasks = {key(t): (work, *[key(p) for p in parents]) for t, parents in enumerate(graph)}
    read = {p for parents in graph for p in parents}
    last = [key(t) for t in range(len(graph)) if t not in read]
    start = time.monotonic()
    futures = client.get(tasks, last, sync=False)
    wait(futures)
    seconds = time.monotonic() - start
    bad = [f for f in futures if f.status != "finished"]
    if bad:
        sys.exit("dask_peer.py: a task ended as %s" % bad[0].status)
    del futures
    return seconds


def main(words):
    if not words or len(words) % 2 or any(w not in WORK for w in words[::2]):
        sys.exit(__doc__.split("\n\n")[1].strip())
    dask.config.set({"distributed.admin.log-length": 0, "distributed.diagnostics.nvml": False})
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
                      silence_logs=logging.CRITICAL) as cluster, Client(cluster) as client:
        run(client, [[] for _ in range(200)], nothing, "warm")
        for at in range(0, len(words), 2):
            graph = read_graph(words[at + 1])
            seconds = run(client, graph, WORK[words[at]], "t%d" % at)
            print(json.dumps({"work": words[at], "tasks": len(graph), "seconds": seconds,
                              "tasks_per_second": len(graph) / seconds}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

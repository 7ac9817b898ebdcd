#!/usr/bin/python3
"""Dask.distributed on the graphs that bench/agents.c runs on weft's agents.

    dask_peer.py WORK GRAPH [WORK GRAPH ...]

WORK is `nothing` (a function that returns) or `true` (/bin/true as a process). GRAPH is a file with one line
a task, the numbers of its parents. A scheduler and 2 workers of one thread each, all processes of their own
on loopback, are started once and warmed up; for every pair one line of JSON is printed. A time is from
handing the graph over until the last task has ended; building the graph and fetching results are not in it.
"""
import json
import subprocess
import sys

import dask_graph


def nothing(*parents):
    return None


def true(*parents):
    subprocess.call(["/bin/true"], close_fds=False)  # by posix_spawn, the quickest way there is


WORK = {"nothing": nothing, "true": true}


def main(words):
    if not words or len(words) % 2 or any(w not in WORK for w in words[::2]):
        sys.exit(__doc__.split("\n\n")[1].strip())
    with dask_graph.cluster() as cluster, dask_graph.connect(cluster) as client:
        dask_graph.run(client, [[] for _ in range(200)], lambda t: (nothing,), "warm")
        for at in range(0, len(words), 2):
            graph = dask_graph.read_graph(words[at + 1])
            seconds, futures = dask_graph.run(client, graph, lambda t, work=WORK[words[at]]: (work,), "t%d" % at)
            del futures
            print(json.dumps({"work": words[at], "tasks": len(graph), "seconds": seconds,
                              "tasks_per_second": len(graph) / seconds}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

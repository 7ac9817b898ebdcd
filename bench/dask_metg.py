#!/usr/bin/python3
"""Dask.distributed on the grids of METG (bench/metg_agents.c), driven over pipes.

    dask_metg.py LIBRARY

A scheduler and 2 workers of one thread each, all processes of their own on loopback. Each line of the input is
`time GRAPH ROUNDS` or `check GRAPH ROUNDS`; GRAPH is a file with one line a task, the numbers of its parents. The
answer to the first is the seconds from handing the graph over to the end of its last task, to the second the bytes
of its last eight tasks in hexadecimal digits. A task calls the kernel of LIBRARY (bench/metg_function.c) as weft's
do, and 64 bytes go from task to task.
"""
import ctypes
import functools
import sys

import dask_graph


@functools.lru_cache(maxsize=None)
def kernel(library):
    """Once a process. The call lets others of the process compute: Dask's own loop, too."""
    function = ctypes.CDLL(library).joined_point
    function.argtypes = [ctypes.c_uint64, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_char_p, ctypes.c_char_p]
    function.restype = None
    return function


def point(library, rounds, number, *parents):
    out = ctypes.create_string_buffer(64)
    kernel(library)(rounds, number, len(parents), b"".join(parents), out)
    return out.raw


def run(client, library, graph, rounds, name):
    return dask_graph.run(client, graph, lambda t: (point, library, rounds, t), name)


def answer(client, library, words, name):
    seconds, futures = run(client, library, dask_graph.read_graph(words[1]), int(words[2]), name)
    return "%.6f" % seconds if words[0] == "time" else b"".join(client.gather(futures[-8:])).hex()


def main(library):
    with dask_graph.cluster() as cluster, dask_graph.connect(cluster) as client:
        run(client, library, [[] for _ in range(200)], 1, "warm")
        for number, line in enumerate(sys.stdin):
            print(answer(client, library, line.split(), "t%d" % number), flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1].strip())
    import dask_metg  # workers import it by its name: a function of __main__ would be sent as code, without its cache

    dask_metg.main(sys.argv[1])

# SPDX-License-Identifier: Apache-2.0
"""Python's multiprocessing.Pool, as a rival that takes its turns when it is asked to.

Reads lines from standard input and answers each with one line, "SECONDS CPU_SECONDS SUM": wall and CPU seconds of
one call, and the sum of all results of the last call.

  apply CALLS        f(k, 1) for each k, by Pool(2).apply, one behind the other
  starmap N CALLS    f over N pairs, by Pool(2).starmap
  start N CALLS      a Pool(N) is made and ended

The first line that it prints is "ready".
"""

import functools
import multiprocessing
import resource
import sys
import time


def f(a, b):
    return 3 * a + b


def cpu_of(pid):
    """CPU seconds of a process with one thread; 0 where the system does not say."""
    try:
        with open(f"/proc/{pid}/schedstat") as file:
            return int(file.read().split()[0]) / 1e9
    except OSError:
        return 0


def cpu_of_all():
    """Of this process, of the workers that live, and of those that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    living = sum(cpu_of(each.pid) for each in multiprocessing.active_children())
    return time.process_time() + living + ended.ru_utime + ended.ru_stime


def apply(pool, calls):
    return sum(pool.apply(f, (k, 1)) for k in range(calls))


def starmap(pool, n, calls):
    pairs = [(k, k + 1) for k in range(n)]
    for _ in range(calls):
        results = pool.starmap(f, pairs)
    return sum(results)


def start(n, calls):
    for _ in range(calls):
        with multiprocessing.Pool(n):
            pass
    return n


def answer(line):
    what, *numbers = line.split()
    numbers = [int(each) for each in numbers]
    pool = None if what == "start" else pool_of_two()
    cpu, began = cpu_of_all(), time.perf_counter()
    if what == "start":
        total = start(*numbers)
    elif what == "apply":
        total = apply(pool, *numbers)
    else:
        total = starmap(pool, *numbers)
    seconds = time.perf_counter() - began
    return seconds / numbers[-1], (cpu_of_all() - cpu) / numbers[-1], total


@functools.cache
def pool_of_two():
    return multiprocessing.Pool(2)


def main():
    print("ready", flush=True)
    for line in sys.stdin:
        print(*answer(line), flush=True)
    if pool_of_two.cache_info().currsize:
        pool_of_two().terminate()


if __name__ == "__main__":
    main()

"""How fast the model is: prints times and ratios. Run it: PYTHONPATH=. python tests/bench_model.py"""

import math
import time
import tracemalloc

from model.chunking import chunked_prefill
from model.machine import machine
from model.server import serve

M = machine()
LOADS = {
    "enough memory": dict(rate=2, prompt=512, output=256),
    "overloaded, preempting": dict(rate=8, prompt=512, output=256),
    "spread lengths, shared prompt": dict(rate=4, prompt=600, output=150, spread=0.6, shared_prompt=160),
}


def best_ms(run, times: int) -> float:
    """The quickest of so many runs, in ms of this process, so that what else the computer does counts little."""
    taken = []
    for _ in range(times):
        begin = time.process_time()
        run()
        taken.append(1000 * (time.process_time() - begin))
    return min(taken)


def peak_bytes(run) -> int:
    """The most memory that a run held at a time."""
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def figure() -> None:
    """Ten users, about 500 passes: the Trace of a figure. Should be under 5 ms in CPython, 40 ms in Pyodide."""
    def ten():
        return serve(M, rate=math.inf, prompt=512, output=497, requests=10).trace()

    trace = ten()
    print(f"ten users, {trace.passes} passes, server and Trace: {best_ms(ten, 20):.1f} ms (at most 5)")

    def beside():
        return chunked_prefill(M, document=8192, chunk=17).chunked

    print(f"ten users, {beside().passes} passes, chunked and whole: {best_ms(beside, 20):.1f} ms (at most 5)")


def growth() -> None:
    """10,000 requests against 1,000: at most 12 times the time and the memory. 10,000 in under 3 s."""
    for name, load in LOADS.items():
        small, large = (lambda n=n: serve(M, requests=n, **load) for n in (1_000, 10_000))
        small_ms, large_ms = best_ms(small, 3), best_ms(large, 3)
        more = peak_bytes(large) / peak_bytes(small)
        print(f"10,000 requests, {name}: {large_ms / 1000:.2f} s (at most 3); against 1,000: "
              f"{large_ms / small_ms:.1f} times the time, {more:.1f} times the memory (at most 12)")


if __name__ == "__main__":
    figure()
    growth()

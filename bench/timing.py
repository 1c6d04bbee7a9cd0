"""Fair timing: contenders take turns, CPU time of the whole process, the median of the rounds."""

from __future__ import annotations

import gc
import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from contenders import Contender, Records

Clock = Callable[[], float]
SECONDS_A_ROUND = 0.05


def batches_of(records: Records, size: int = 1000) -> list[Records]:
    return [records[i : i + size] for i in range(0, len(records), size)]


def one_round(run: Callable[[Any], Any], inputs: Sequence[Any], keep: bool, clock: Clock) -> float:
    """Seconds for all inputs; with `keep` every result lives until the clock has stopped."""
    kept = []
    start = clock()
    for item in inputs:
        result = run(item)
        if keep:
            kept.append(result)
        del result
    return clock() - start


def interleaved(
    contenders: Sequence[Contender],
    batches: Sequence[Any],
    keep: bool = False,
    rounds: int = 5,
    clock: Clock = time.process_time,
) -> list[float]:
    """The median seconds of each contender for one pass over `batches`."""
    inputs = [[c.prepare(batch) for batch in batches] for c in contenders]
    times: list[list[float]] = [[] for _ in contenders]
    gc.disable()
    try:
        for contender, prepared in zip(contenders, inputs, strict=True):
            one_round(contender.run, prepared[:2], False, clock)
        for _ in range(rounds):
            for i, contender in enumerate(contenders):
                times[i].append(one_round(contender.run, inputs[i], keep, clock))
    finally:
        gc.enable()
    return [statistics.median(t) for t in times]


def alternating(
    tasks: Sequence[Contender],
    inputs: Sequence[Any],
    rounds: int = 5,
    clock: Clock = time.process_time,
) -> list[float]:
    """The median seconds of each task on its own input, the tasks in turns after one warm-up."""
    times: list[list[float]] = [[] for _ in tasks]
    for _ in range(rounds + 1):
        for i, (task, item) in enumerate(zip(tasks, inputs, strict=True)):
            times[i].append(one_round(task.run, [item], False, clock))
    return [statistics.median(t[1:]) for t in times]


def seconds_of(calls: Sequence[Callable[[], Any]], rounds: int) -> list[float]:
    """CPU seconds of one call of each, for calls that are short: the contenders in turns, each as
    often in a round as fills it, the median of the rounds."""
    repeats = []
    for call in calls:
        call()
        start = time.process_time()
        call()
        repeats.append(int(SECONDS_A_ROUND / max(time.process_time() - start, 1e-6)) + 1)
    times: list[list[float]] = [[] for _ in calls]
    gc.disable()
    try:
        for _ in range(rounds):
            for i, call in enumerate(calls):
                start = time.process_time()
                for _ in itertools.repeat(None, repeats[i]):
                    call()
                times[i].append((time.process_time() - start) / repeats[i])
            gc.collect()
    finally:
        gc.enable()
    return [statistics.median(t) for t in times]

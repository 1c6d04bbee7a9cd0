"""The rows on validation: 1 GB of tf.Examples against a schema, and what decoding it takes."""

from __future__ import annotations

import time
from collections.abc import Callable

import columnstone as cst
import contenders as c
import data
import timing
from decode_rows import Settings
from file_rows import big_file
from report import Figure, Results

Paths = list[str]
GOAL = 1.3
WORDS = [f"cat_{i}" for i in range(1, 6)]  # categories whose values the schema lists


def vocabularies(path: str) -> dict[str, set[bytes]]:
    found: dict[str, set[bytes]] = {name: set() for name in WORDS}
    for batch in cst.open(path, columns=WORDS):
        for name, column in batch.to_pydict().items():
            found[name].update(value for values in column for value in values or ())
    return found


def schema_text(path: str) -> str:
    """Types, presence, one value each; ranges of all integers, and five domains of strings."""
    known = vocabularies(path)
    lines = []
    for name, kind in data.CLICK_FIELDS:
        rules = "presence { min_fraction: 0.8 } value_count { min: 1 max: 1 }"
        if kind == "INT":
            rules += " int_domain { min: 0 max: 5000000 }"
        if name in known:
            values = " ".join(f'value: "{value.decode()}"' for value in sorted(known[name]))
            rules += f" string_domain {{ {values} }}"
        lines.append(f'feature {{ name: "{name}" type: {kind} {rules} }}\n')
    return "".join(lines)


def tasks(schema: cst.Schema, threads: int) -> list[c.Contender]:
    def decode(paths: Paths) -> None:
        for batch in cst.open(paths, schema=schema, threads=threads, batch_size=4096):
            del batch

    def validate(paths: Paths) -> None:
        cst.open(paths, threads=threads).validate(schema, tensors=False).raise_if_any()

    def with_tensors(paths: Paths) -> None:
        cst.open(paths, threads=threads).validate(schema).raise_if_any()

    runs = {"decode": decode, "validate": validate, "with tensors": with_tensors}
    return [c.Contender(name, c.as_is, run) for name, run in runs.items()]


def speed(settings: Settings, results: Results) -> None:
    """Wall time, from the page cache."""
    paths = big_file(settings)
    schema = cst.Schema.from_text(schema_text(str(data.make("click", settings.folder).path)))
    rounds = max(3, settings.rounds // 2)
    for threads in (1, 2):
        decode, validate, tensors = timing.alternating(
            tasks(schema, threads), [paths] * 3, rounds, time.perf_counter
        )
        which = "1 thread" if threads == 1 else f"{threads} threads"
        for label, seconds, goal in [
            ("validate the click log", validate, GOAL),
            ("the same, and every tensor", tensors, None),
        ]:
            results.figures.append(
                Figure(
                    f"{label}, against decoding it with the schema, {which}",
                    f"{seconds / decode:.2f}x of {decode:.2f} s",
                    f"≤ {goal:g}x" if goal else "",
                    seconds <= goal * decode if goal else None,
                )
            )


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    return {"validate": lambda: speed(settings, results)}

"""The results as Markdown tables, with the machine, the versions and the command."""

from __future__ import annotations

import dataclasses
import datetime
import importlib.metadata
import os
import pathlib
import platform
import sys
from typing import Any

MISSED = "**missed**"


@dataclasses.dataclass(frozen=True)
class Speed:
    """One way of running a row: megabytes a second by contender, ours first."""

    rates: dict[str, float]

    def ratio(self, peer: str) -> float | None:
        ours = next(iter(self.rates.values()))
        return ours / self.rates[peer] if peer in self.rates else None


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A row of the table of goals: the ratios with released and with kept batches."""

    label: str
    released: Speed
    kept: Speed | None
    goals: dict[str, float]  # peer: at least that many times as fast
    kept_goals: dict[str, float] = dataclasses.field(default_factory=dict)  # where all are kept


@dataclasses.dataclass(frozen=True)
class Figure:
    """One number with its goal; `good` is None where there is no goal. `ratio`: how many times as
    fast as `peer`, where that is what it says."""

    label: str
    figure: str
    goal: str = ""
    good: bool | None = None
    peer: str = ""
    ratio: float | None = None


def faster(label: str, peer: str, ratio: float, details: str, goal: float | None) -> Figure:
    """A row that says how many times as fast as a peer ours is."""
    figure = f"{ratio:.1f}x ({details})"
    if goal is None:
        return Figure(label, figure, peer=peer, ratio=ratio)
    return Figure(label, figure, f"≥ {goal:g}x", ratio >= goal, peer, ratio)


@dataclasses.dataclass
class Results:
    comparisons: list[Comparison] = dataclasses.field(default_factory=list)
    figures: list[Figure] = dataclasses.field(default_factory=list)

    def since(self, before: Results) -> Results:
        """What came after `before`, an earlier copy."""
        return Results(
            self.comparisons[len(before.comparisons) :], self.figures[len(before.figures) :]
        )

    def copy(self) -> Results:
        return Results(list(self.comparisons), list(self.figures))

    def add(self, others: Results) -> None:
        self.comparisons += others.comparisons
        self.figures += others.figures

    @staticmethod
    def from_dict(made: dict[str, Any]) -> Results:
        """Of what dataclasses.asdict made."""

        def speed(of: dict[str, Any] | None) -> Speed | None:
            return None if of is None else Speed(**of)

        def comparison(of: dict[str, Any]) -> Comparison:
            speeds = {name: speed(of[name]) for name in ("released", "kept")}
            return Comparison(**{**of, **speeds})

        return Results(
            [comparison(of) for of in made["comparisons"]], [Figure(**of) for of in made["figures"]]
        )


PEERS = ["tfx_bsl", "tf.io.parse_example"]
SHOWN = [*PEERS, "tf.io, from a tensor"]  # the last one has no goal


def rate(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value / 1000:.2f} GB/s" if value >= 1000 else f"{value:.0f} MB/s"


def against_goal(ratio: float, goal: float | None) -> str:
    if goal is None:
        return f"{ratio:.1f}x"
    return f"{ratio:.1f}x, goal {goal:g}x" + ("" if ratio >= goal else f" {MISSED}")


def ratio_cell(row: Comparison, peer: str) -> str:
    """The ratio, and the one with kept batches in brackets, each with its goal."""
    ratio = row.released.ratio(peer)
    if ratio is None:
        return "–"
    text = against_goal(ratio, row.goals.get(peer))
    if row.kept is not None and (kept := row.kept.ratio(peer)) is not None:
        text += f" ({against_goal(kept, row.kept_goals.get(peer))})"
    return text


def comparison_table(rows: list[Comparison]) -> list[str]:
    lines = [
        f"| data | Columnstone | {' | '.join(SHOWN)} | against tfx_bsl | against tf.io |",
        "|---" * (len(SHOWN) + 4) + "|",
    ]
    for row in rows:
        rates = list(row.released.rates.values())
        cells = [row.label, rate(rates[0])]
        cells += [rate(row.released.rates.get(peer)) for peer in SHOWN]
        cells += [ratio_cell(row, peer) for peer in PEERS]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def figure_table(figures: list[Figure]) -> list[str]:
    lines = ["| what | figure | goal |", "|---|---|---|"]
    for f in figures:
        mark = f" {MISSED}" if f.good is False else ""
        lines.append(f"| {f.label} | {f.figure} | {f.goal}{mark} |")
    return lines


def cpu_model() -> str:
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def machine(load: float) -> list[str]:
    packages = [
        "columnstone",
        "tfx-bsl",
        "tensorflow",
        "awkward",
        "ptars",
        "protobuf",
        "pyarrow",
        "numpy",
    ]
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return [
        f"- Machine: {cpu_model()}, {os.cpu_count()} cores, {memory:.0f} GiB, "
        f"{platform.system()} {platform.release()}; load average before the run {load:.2f}",
        f"- Versions: Python {platform.python_version()}, {versions}",
        f"- Command: `{' '.join(['./dev bench', *sys.argv[1:]])}`",
        f"- Date: {datetime.date.today()}",
    ]


EXPLANATION = """\
CPU time of the whole process, one thread, the contenders in turns in the same run, the median of
the rounds. Decoding takes batches of 1,000 serialized records that lie in memory. The first ratio
is for batches that are released before the next call, the one in brackets for batches that are all
kept. TensorFlow parses into variable-length features inside a tf.function: like the record batch,
these tell an absent value from a default. It is given the same list of bytes as the others, and for
the column without a goal a string tensor that was made before the clock started. MB are those of
the serialized records. Protobuf messages come in batches of 1,024, and struct2tensor, which parses
them in a tf.function, has a process of its own in the same run."""


def markdown(topics: dict[str, Results], load: float) -> str:
    comparisons = [row for part in topics.values() for row in part.comparisons]
    missed = sum(line.count(MISSED) for line in comparison_table(comparisons))
    missed += sum(f.good is False for part in topics.values() for f in part.figures)
    lines = [
        "# Benchmark results",
        "",
        "Written by `./dev bench`; do not edit.",
        "",
        *machine(load),
    ]
    lines += ["", EXPLANATION, ""]
    for topic, results in topics.items():
        if results.comparisons or results.figures:
            lines += [f"## {topic}", ""]
        if results.comparisons:
            lines += [*comparison_table(results.comparisons), ""]
        if results.figures:
            lines += [*figure_table(results.figures), ""]
    lines.append(f"Missed goals: {missed}")
    return "\n".join(lines) + "\n"

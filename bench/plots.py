"""The results as pictures: how many times as fast as its peers every row is.

`./dev bench` draws them into docs/pictures at the end of a full run.
"""

from __future__ import annotations

import dataclasses
import pathlib
import textwrap

from report import PEERS, Results

COLORS = ["#4c8bf5", "#e8833a", "#3aa76d", "#8a63d2", "#c2456b", "#7d8590", "#b58900", "#2aa198"]


@dataclasses.dataclass(frozen=True)
class Bar:
    label: str
    peer: str
    ratio: float
    goal: float | None


def bars_of(results: Results) -> list[Bar]:
    """All rows that say how many times as fast as a peer ours is."""
    bars = []
    for row in results.comparisons:
        for peer in PEERS:
            ratio = row.released.ratio(peer)
            if ratio is not None:
                bars.append(Bar(row.label.split(" (")[0], peer, ratio, row.goals.get(peer)))
    for figure in results.figures:
        if figure.ratio is not None:
            goal = float(figure.goal.strip("≥ x")) if figure.goal else None
            bars.append(Bar(figure.label, figure.peer, figure.ratio, goal))
    return bars


def without_common_beginning(labels: list[str]) -> list[str]:
    """What all labels begin with, up to a comma, is said by the title."""
    begin = labels[0].split(", ")[0] + ", "
    all_have = len(labels) > 1 and all(label.startswith(begin) for label in labels)
    return [label.removeprefix(begin) for label in labels] if all_have else labels


def figure_of(bar: Bar) -> str:
    """The ratio, and the goal where it is missed."""
    missed = bar.goal is not None and bar.ratio < bar.goal
    return f"{bar.ratio:.1f}x" + (f", goal {bar.goal:g}x" if missed else "")


def end_of(bar: Bar) -> float:
    return max(1.0, bar.ratio, bar.goal or 0)


def draw(bars: list[Bar], title: str, path: pathlib.Path) -> None:
    """Horizontal bars on a logarithmic axis, a black mark where the goal is, and the figure after
    both, so that no line runs through it."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "columnstone"  # the same picture for the same numbers
    import matplotlib.pyplot as plt

    peers = list(dict.fromkeys(bar.peer for bar in bars))
    figure, axes = plt.subplots(figsize=(10, 1.4 + 0.34 * len(bars)), layout="constrained")
    goal = {"linestyle": "none", "marker": "|", "color": "black", "markersize": 13}
    goal |= {"markeredgewidth": 2, "label": "the goal; a bar that ends before it has missed it"}
    for at, bar in enumerate(reversed(bars)):
        axes.barh(at, bar.ratio - 1, left=1, color=COLORS[peers.index(bar.peer) % len(COLORS)])
        axes.annotate(f"  {figure_of(bar)}", (end_of(bar), at), va="center", fontsize=8)
        if bar.goal is not None:
            axes.plot([bar.goal], [at], **goal)
    labels = without_common_beginning([bar.label for bar in bars])
    wrapped = ["\n".join(textwrap.wrap(label, 60)) for label in reversed(labels)]
    axes.set_yticks(range(len(bars)), wrapped, fontsize=7.5)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}x")
    axes.axvline(1, color="#57606a", linewidth=0.8)
    axes.margins(x=0.15, y=0.01)
    axes.set_xlabel("times as fast as the peer; 1x: as fast", fontsize=8)
    figure.suptitle(title, fontsize=10)
    colors = [COLORS[i % len(COLORS)] for i in range(len(peers))]
    handles = [plt.Rectangle((0, 0), 1, 1, color=color) for color in colors]
    names = [f"against {peer}" for peer in peers]
    if any(bar.goal is not None for bar in bars):
        handles.append(plt.Line2D([], [], **goal))
        names.append(goal["label"])
    columns = min(len(names), 4)
    figure.legend(handles, names, fontsize=8, loc="outside lower center", ncols=columns)
    figure.savefig(path, metadata={"Date": None}, pad_inches=0.15, bbox_inches="tight")
    plt.close(figure)


PICTURES = {
    "tf.Examples in memory": ("bench-decode.svg", "Decoding and encoding: CPU time of one thread"),
    "Files and formats": ("bench-files.svg", "Files and formats"),
    "Tensors, nested tensors and validation": ("bench-tensors.svg", "Tensors and nested tensors"),
    "Messages and queries": ("bench-messages.svg", "Protobuf messages and queries"),
    "Training loops": (
        "bench-loading.svg",
        "A click log to shuffled batches of PyTorch: wall clock",
    ),
    "Engines": ("bench-engines.svg", "Engines: wall clock, two workers"),
}


def draw_all(topics: dict[str, Results], folder: pathlib.Path) -> list[pathlib.Path]:
    """A picture for each topic that has rows with peers."""
    folder.mkdir(exist_ok=True)
    drawn = []
    for topic, (name, title) in PICTURES.items():
        bars = bars_of(topics.get(topic, Results()))
        if bars:
            draw(bars, title, folder / name)
            drawn.append(folder / name)
    return drawn

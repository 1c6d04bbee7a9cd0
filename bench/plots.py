"""The results as pictures: how many times as fast as its peers every row is.

`./dev bench` draws them into docs/pictures at the end of a full run, one for each topic.
"""

from __future__ import annotations

import dataclasses
import pathlib
import textwrap

from report import PEERS, Comparison, Figure, Results

COLORS = ["#4c8bf5", "#e8833a", "#3aa76d", "#8a63d2", "#c2456b", "#7d8590", "#b58900", "#2aa198"]
WIDTH = 62  # characters of a line of a label
LOADING = "click log to shuffled torch batches, "  # is said by the title


@dataclasses.dataclass(frozen=True)
class Bar:
    label: str
    peer: str
    ratio: float
    goal: float | None

    def lines(self) -> list[str]:
        return textwrap.wrap(self.label, WIDTH)

    def figure(self) -> str:
        goal = "" if self.goal is None else f"  (goal {self.goal:g}x)"
        return f"{self.ratio:.1f}x{goal}"


def bars_of_comparison(row: Comparison) -> list[Bar]:
    """With kept batches only where these have a goal."""
    label = row.label.split(" (")[0]
    bars = []
    for peer in PEERS:
        ratio = row.released.ratio(peer)
        if ratio is not None:
            bars.append(Bar(label, peer, ratio, row.goals.get(peer)))
        kept = row.kept.ratio(peer) if row.kept is not None else None
        if kept is not None and peer in row.kept_goals:
            bars.append(Bar(f"{label}, all batches kept", peer, kept, row.kept_goals[peer]))
    return bars


def bar_of_figure(figure: Figure) -> Bar | None:
    if figure.ratio is None:
        return None
    goal = float(figure.goal.strip("≥ x")) if figure.goal else None
    label = figure.label.removeprefix(LOADING).removesuffix(f", against {figure.peer}")
    return Bar(label, figure.peer, figure.ratio, goal)


def bars_of(results: Results) -> list[Bar]:
    bars = [bar for row in results.comparisons for bar in bars_of_comparison(row)]
    figures = [bar_of_figure(figure) for figure in results.figures]
    return bars + [bar for bar in figures if bar is not None]


def draw(bars: list[Bar], title: str, path: pathlib.Path) -> None:
    """Horizontal bars from 1x on a logarithmic axis, with a black mark where the goal is. Labels
    stand left of the axes and figures right of them, so that nothing is drawn over either."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "columnstone"  # the same picture for the same numbers
    import matplotlib.pyplot as plt

    peers = list(dict.fromkeys(bar.peer for bar in bars))
    color = {peer: COLORS[i % len(COLORS)] for i, peer in enumerate(peers)}
    heights = [0.18 + 0.12 * len(bar.lines()) for bar in bars]  # inches
    places = [-sum(heights[:i]) - height / 2 for i, height in enumerate(heights)]
    size = (11, 1.5 + sum(heights))
    figure, axes = plt.subplots(figsize=size, layout="constrained")
    mark = {"linestyle": "none", "marker": "|", "color": "black", "markersize": 13}
    mark |= {"markeredgewidth": 2.5}
    for bar, at in zip(bars, places, strict=True):
        axes.barh(at, bar.ratio - 1, left=1, height=0.2, color=color[bar.peer], zorder=2)
        right = {"xycoords": axes.get_yaxis_transform(), "va": "center", "fontsize": 8}
        axes.annotate(bar.figure(), (1.01, at), **right)
        if bar.goal is not None:
            axes.plot([bar.goal], [at], zorder=4, **mark)
    axes.set_yticks(places, ["\n".join(bar.lines()) for bar in bars], fontsize=7.5)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(-sum(heights) - 0.05, 0.05)
    axes.set_xscale("log")
    ends = [end for bar in bars for end in (bar.ratio, bar.goal or 1)]
    axes.set_xlim(min(0.7, min(ends) * 0.8), max(3, max(ends) * 1.3))
    axes.xaxis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}x")
    axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes.tick_params(axis="x", labelsize=8)
    axes.grid(axis="x", color="#d8dee4", linewidth=0.6, zorder=0)
    axes.axvline(1, color="#57606a", linewidth=1, zorder=3)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel("times as fast as the peer (right of 1x: faster than it)", fontsize=8)
    figure.suptitle(title, fontsize=10)
    handles = [plt.Rectangle((0, 0), 1, 1, color=color[peer]) for peer in peers]
    names = [f"against {peer}" for peer in peers]
    if any(bar.goal is not None for bar in bars):
        handles.append(plt.Line2D([], [], **mark))
        names.append("goal of the project: met where the bar reaches it")
    columns = min(len(names), 3)
    figure.legend(handles, names, fontsize=8, loc="outside lower center", ncols=columns)
    figure.savefig(path, metadata={"Date": None}, pad_inches=0.15, bbox_inches="tight")
    plt.close(figure)


PICTURES = {  # by the topic of the report
    "tf.Examples in memory": ("bench-decode.svg", "Decoding and encoding: CPU time of one thread"),
    "Files and formats": ("bench-files.svg", "Files, formats and random access"),
    "Tensors and validation": ("bench-tensors.svg", "Record batches to tensors: CPU time"),
    "Nested tensors": ("bench-nested.svg", "Nested tensors: CPU time of one thread"),
    "Messages": ("bench-messages.svg", "Protobuf messages to columns and back: CPU time"),
    "Queries": ("bench-queries.svg", "Queries over messages: CPU time of one thread"),
    "Training loops": (
        "bench-loading.svg",
        "A click log to shuffled batches of PyTorch: wall clock",
    ),
    "Engines": ("bench-engines.svg", "Engines, two workers: wall clock"),
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

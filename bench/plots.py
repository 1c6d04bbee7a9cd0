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


def decode_bars(results: Results) -> list[Bar]:
    bars = []
    for row in results.comparisons:
        for peer in PEERS:
            ratio = row.released.ratio(peer)
            if ratio is not None:
                bars.append(Bar(row.label.split(" (")[0], peer, ratio, row.goals.get(peer)))
    return bars


LOADING = "click log to shuffled torch batches, "


def other_bars(results: Results, loading: bool) -> list[Bar]:
    """The rows on training loops, or the others."""
    bars = []
    for figure in results.figures:
        if figure.ratio is not None and figure.label.startswith(LOADING) == loading:
            goal = float(figure.goal.strip("≥ x")) if figure.goal else None
            label = figure.label.removeprefix(LOADING)
            bars.append(Bar(label, figure.peer, figure.ratio, goal))
    return bars


def place_of_figure(bar: Bar) -> float:
    """Where the figure stands: behind the bar, and behind the goal's mark if that is so near that
    it would strike the figure through."""
    end = max(1.0, bar.ratio)
    return bar.goal if bar.goal is not None and end * 0.97 < bar.goal < end * 1.6 else end


def draw(bars: list[Bar], title: str, path: pathlib.Path) -> None:
    """Horizontal bars on a logarithmic axis, with a black mark where the goal is."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "columnstone"  # the same picture for the same numbers
    import matplotlib.pyplot as plt

    peers = list(dict.fromkeys(bar.peer for bar in bars))
    figure, axes = plt.subplots(figsize=(10, 1.4 + 0.34 * len(bars)), layout="constrained")
    goal = {"linestyle": "none", "marker": "|", "color": "black", "markersize": 13}
    goal |= {"markeredgewidth": 2, "label": "the goal that the project has set itself"}
    for at, bar in enumerate(reversed(bars)):
        axes.barh(at, bar.ratio - 1, left=1, color=COLORS[peers.index(bar.peer) % len(COLORS)])
        axes.annotate(f"  {bar.ratio:.1f}x", (place_of_figure(bar), at), va="center", fontsize=8)
        if bar.goal is not None:
            axes.plot([bar.goal], [at], **goal)
    labels = ["\n".join(textwrap.wrap(bar.label, 60)) for bar in reversed(bars)]
    axes.set_yticks(range(len(bars)), labels, fontsize=7.5)
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


def draw_all(results: Results, folder: pathlib.Path) -> list[pathlib.Path]:
    pictures = {
        "bench-decode.svg": ("Decoding and encoding: CPU time of one thread", decode_bars(results)),
        "bench-other.svg": ("Formats, tensors and random access", other_bars(results, False)),
        "bench-loading.svg": (
            "A click log to shuffled batches of PyTorch: wall clock",
            other_bars(results, True),
        ),
    }
    folder.mkdir(exist_ok=True)
    drawn = []
    for name, (title, bars) in pictures.items():
        if bars:
            draw(bars, title, folder / name)
            drawn.append(folder / name)
    return drawn

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


def draw(bars: list[Bar], title: str, path: pathlib.Path) -> None:
    """Horizontal bars on a logarithmic axis; a black line where the goal is."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "columnstone"  # the same picture for the same numbers
    import matplotlib.pyplot as plt

    peers = list(dict.fromkeys(bar.peer for bar in bars))
    figure, axes = plt.subplots(figsize=(10, 1 + 0.32 * len(bars)), layout="constrained")
    for at, bar in enumerate(reversed(bars)):
        axes.barh(at, bar.ratio - 1, left=1, color=COLORS[peers.index(bar.peer) % len(COLORS)])
        axes.annotate(f" {bar.ratio:.1f}x", (bar.ratio, at), va="center", fontsize=8)
        if bar.goal is not None:
            axes.plot([bar.goal, bar.goal], [at - 0.4, at + 0.4], color="black", linewidth=1.5)
    labels = ["\n".join(textwrap.wrap(bar.label, 56)) for bar in reversed(bars)]
    axes.set_yticks(range(len(bars)), labels, fontsize=7.5)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}x")
    axes.axvline(1, color="#57606a", linewidth=0.8)
    axes.margins(x=0.15, y=0.01)
    figure.suptitle(f"{title}: times as fast as the peer (black: the goal)", fontsize=10)
    colors = [COLORS[i % len(COLORS)] for i in range(len(peers))]
    handles = [plt.Rectangle((0, 0), 1, 1, color=color) for color in colors]
    figure.legend(handles, peers, fontsize=8, loc="outside lower center", ncols=len(peers))
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def draw_all(results: Results, folder: pathlib.Path) -> list[pathlib.Path]:
    pictures = {
        "bench-decode.svg": ("Decoding and encoding, one thread, CPU time", decode_bars(results)),
        "bench-other.svg": ("Formats, tensors, random access", other_bars(results, False)),
        "bench-loading.svg": (
            "A click log to shuffled torch batches, wall clock",
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

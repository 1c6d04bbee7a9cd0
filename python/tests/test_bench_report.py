"""The report of the benchmarks: what it says of goals, and results that are taken up again."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import sys

import pytest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(BENCH))
    import report

    yield report
    del sys.modules["report"]


def results_of(report):
    released = report.Speed({"columnstone": 2000.0, "tfx_bsl": 100.0})
    kept = report.Speed({"columnstone": 1000.0, "tfx_bsl": 100.0})
    goals = {"tfx_bsl": 18.0}
    row = report.Comparison("clicks", released, kept, goals, {"tfx_bsl": 15.0})
    figure = report.faster("reading", "tf.data", 3.0, "3 s, 9 s", 5.0)
    return report.Results([row], [figure])


def test_goals_of_released_and_of_kept_batches(report) -> None:
    text = report.markdown({"Decoding": results_of(report), "Empty": report.Results()}, 0.5)
    assert "20.0x, goal 18x (10.0x, goal 15x **missed**)" in text
    assert "| reading | 3.0x (3 s, 9 s) | ≥ 5x **missed** |" in text
    assert "## Decoding" in text
    assert "## Empty" not in text
    assert "Missed goals: 2" in text


def test_results_survive_their_file(report) -> None:
    made = results_of(report)
    again = report.Results.from_dict(json.loads(json.dumps(dataclasses.asdict(made))))
    assert again == made
    more = again.copy()
    more.figures.append(report.Figure("another", "1"))
    assert more.since(again) == report.Results([], [report.Figure("another", "1")])

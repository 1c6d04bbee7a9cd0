"""The rows on tensors: record batches to tensors, against tfx_bsl's TensorAdapter."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import columnstone as cst
import contenders as c
import data
import pyarrow as pa
import timing
from decode_rows import Settings
from report import Figure, Results, faster

ROWS = 1024


@dataclasses.dataclass(frozen=True)
class Batches:
    """The same batches as ours and as pyarrow's."""

    schema_text: str
    own: Sequence[Any]
    arrow: Sequence[pa.RecordBatch]


def batches_of(settings: Settings, name: str) -> Batches:
    _, records = settings.records(name)
    text = data.schema_text(data.SHAPES[name][1])
    decoder = cst.decoder("example", schema=cst.Schema.from_text(text))
    whole = max(len(records) // ROWS, 1) * ROWS  # --quick has fewer than a batch of the wide ones
    own = [decoder.decode(part) for part in timing.batches_of(records[:whole], ROWS)[:16]]
    return Batches(text, own, [pa.record_batch(batch) for batch in own])


def tfx_bsl_adapter(batches: Batches, eager: bool) -> c.Contender:
    """eager: tf.Tensors, as it does by itself where TensorFlow runs eagerly; else numpy arrays."""
    from tfx_bsl.tfxio import tensor_adapter
    from tfx_bsl.tfxio import tensor_representation_util as util

    made = util.InferTensorRepresentationsFromMixedSchema(c.schema_proto(batches.schema_text))
    config = tensor_adapter.TensorAdapterConfig(batches.arrow[0].schema, made)
    adapter = tensor_adapter.TensorAdapter(config)

    def run(parts: Sequence[Any]) -> None:
        for batch in parts:
            tensors = adapter.ToBatchTensors(batch, produce_eager_tensors=eager)
            del tensors

    return c.Contender("tfx_bsl", lambda parts: parts, run)


def ours(batches: Batches) -> c.Contender:
    adapter = cst.tensor.TensorAdapter(batches.arrow[0].schema, batches.schema_text)

    def run(parts: Sequence[Any]) -> None:
        for batch in parts:
            tensors = adapter.convert(batch)
            del tensors

    return c.Contender("columnstone", lambda parts: parts, run)


def to_tensors(settings: Settings, name: str, label: str, results: Results) -> None:
    """Four contenders in turns; the goal is for the faster of the peer's two ways."""
    batches = batches_of(settings, name)
    mine = ours(batches)
    tasks = [mine, mine, tfx_bsl_adapter(batches, False), tfx_bsl_adapter(batches, True)]
    inputs = [batches.own, batches.arrow, batches.arrow, batches.arrow]
    seconds = timing.alternating(tasks, inputs, settings.rounds)
    own, arrow, numpy, eager = (s / len(batches.own) * 1000 for s in seconds)
    what = f"{label}, batches of {ROWS} rows to tensors"

    def add(of: str, mine: float, goal: float | None, peer: str, theirs: float) -> None:
        details = f"{mine:.2f} ms a batch, {theirs:.2f} ms"
        figure: Figure = faster(f"{what}: {of}", peer, theirs / mine, details, goal)
        results.figures.append(figure)

    add("ours, against numpy arrays", own, 5, "tfx_bsl", numpy)
    add("pyarrow's, validated, against numpy arrays", arrow, 5, "tfx_bsl", numpy)
    add("pyarrow's, validated, against eager tensors", arrow, None, "tfx_bsl", eager)


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    return {
        "tensors_click": lambda: to_tensors(settings, "click", "click log", results),
        "tensors_wide": lambda: to_tensors(settings, "wide", "wide", results),
    }

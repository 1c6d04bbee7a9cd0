"""The rows on tf.SequenceExamples in memory: three ragged feature lists of 5 to 100 steps."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import contenders as c
import data
import numpy as np
import timing
from decode_rows import BSL, TF, Settings, compare, speed
from report import Comparison, Figure, Results, faster, rate

SEQUENCE, PROTOBUF = "##SEQUENCE##", "protobuf Python"
CONTEXT: list[data.Field] = [("user", "INT"), ("country", "BYTES")]
STEPS: list[data.Field] = [("items", "INT"), ("scores", "FLOAT"), ("queries", "BYTES")]
LISTS = {"INT": "int64_list", "FLOAT": "float_list", "BYTES": "bytes_list"}
ROWS, MOST_VALUES = 10_000, 4  # values of one step: 0 to that many, less one


def schema_text() -> str:
    steps = f"struct_domain {{ {data.schema_text(STEPS)} }}"
    return f'{data.schema_text(CONTEXT)}feature {{ name: "{SEQUENCE}" type: STRUCT {steps} }}\n'


# The data


def values_of(kind: str, count: int, rng: np.random.Generator) -> list[Any]:
    if kind == "INT":
        return rng.integers(0, 5_000_000, count).tolist()
    if kind == "FLOAT":
        return rng.standard_normal(count, dtype=np.float32).tolist()
    return [b"query_%d" % v for v in rng.integers(0, 100_000, count).tolist()]


def messages(rows: int, rng: np.random.Generator) -> Iterator[bytes]:
    """Written by protobuf: what is timed here reads or writes columns."""
    import tensorflow as tf

    for _ in range(rows):
        record = tf.train.SequenceExample()
        steps = int(rng.integers(5, 101))
        for name, kind in CONTEXT:
            values = getattr(record.context.feature[name], LISTS[kind]).value
            values.extend(values_of(kind, 1, rng))
        for name, kind in STEPS:
            features = record.feature_lists.feature_list[name].feature
            for count in rng.integers(0, MOST_VALUES, steps).tolist():
                values = getattr(features.add(), LISTS[kind])
                values.SetInParent()
                values.value.extend(values_of(kind, count, rng))
        yield record.SerializeToString()


def records(settings: Settings) -> list[bytes]:
    path: pathlib.Path = settings.folder / "sequence.tfrecord"
    if not path.exists():
        settings.folder.mkdir(parents=True, exist_ok=True)
        data.write_framed(path, messages(ROWS, np.random.default_rng(data.SEED)))
    made = list(data.read_framed(path))
    return made[: len(made) // 10] if settings.quick else made


# The contenders


def our_decoder() -> c.Contender:
    import columnstone as cst

    decoder = cst.decoder("sequence_example", schema=cst.Schema.from_text(schema_text()))
    return c.Contender("columnstone", c.as_is, decoder.decode)


def tfx_bsl_decoder() -> c.Contender:
    from tfx_bsl.coders.sequence_example_coder import SequenceExamplesToRecordBatchDecoder

    schema = c.schema_proto(schema_text()).SerializeToString()
    return c.Contender(
        BSL, c.as_is, SequenceExamplesToRecordBatchDecoder(SEQUENCE, schema).DecodeBatch
    )


def tf_parsers() -> list[c.Contender]:
    """tf.io.parse_sequence_example inside a tf.function, into ragged tensors: from the list of
    bytes that the others are given, and from a string tensor that is there already."""
    tf = c.tensorflow_one_thread()
    types = {"INT": tf.int64, "FLOAT": tf.float32, "BYTES": tf.string}
    context = {name: tf.io.VarLenFeature(types[kind]) for name, kind in CONTEXT}
    steps = {name: tf.io.RaggedFeature(types[kind]) for name, kind in STEPS}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def parse(serialized: Any) -> Any:
        return tf.io.parse_sequence_example(serialized, context, steps)

    def parse_list(records: c.Records) -> Any:
        return parse(tf.constant(records))

    return [
        c.Contender(TF, c.as_is, parse_list),
        c.Contender("tf.io, from a tensor", tf.constant, parse),
    ]


def our_encoder() -> c.Contender:
    import columnstone as cst

    return c.Contender("columnstone", c.as_is, cst.encoder("sequence_example").encode)


def protobuf_encoder() -> c.Contender:
    """From Python lists, which are made before the clock starts."""
    import tensorflow as tf

    def encode_row(row: dict[str, Any]) -> bytes:
        record = tf.train.SequenceExample()
        for name, kind in CONTEXT:
            getattr(record.context.feature[name], LISTS[kind]).value.extend(row[name])
        for name, kind in STEPS:
            add, which = record.feature_lists.feature_list[name].feature.add, LISTS[kind]
            for values in row[SEQUENCE][name]:
                getattr(add(), which).value.extend(values)
        return record.SerializeToString()

    return c.Contender(
        PROTOBUF, lambda b: b.to_pylist(), lambda rows: [encode_row(r) for r in rows]
    )


def decode(settings: Settings) -> Comparison:
    made = records(settings)
    return compare(
        "SequenceExample decode (3 ragged lists, 5 to 100 steps; tf.io.parse_sequence_example)",
        [our_decoder(), tfx_bsl_decoder(), *tf_parsers()],
        timing.batches_of(made),
        sum(map(len, made)),
        {BSL: 10, TF: 6},
        settings.rounds,
    )


def encode(settings: Settings) -> Figure:
    import columnstone as cst
    import pyarrow as pa

    made = records(settings)
    decoder = cst.decoder("sequence_example", schema=cst.Schema.from_text(schema_text()))
    columns = [pa.record_batch(decoder.decode(batch)) for batch in timing.batches_of(made)]
    runners = [our_encoder(), protobuf_encoder()]
    speeds = speed(runners, columns, sum(map(len, made)), False, settings.rounds)
    ratio = speeds.ratio(PROTOBUF)
    assert ratio is not None
    ours, theirs = speeds.rates.values()
    label = "SequenceExample encode, against protobuf Python"
    return faster(label, "protobuf", ratio, f"{rate(ours)}, {rate(theirs)}", 20)


def rows(settings: Settings, results: Results) -> dict[str, Callable[[], None]]:
    """What `--only` can name, and what it does."""
    return {
        "sequence_decode": lambda: results.comparisons.append(decode(settings)),
        "sequence_encode": lambda: results.figures.append(encode(settings)),
    }

"""struct2tensor's side of the rows on messages; runs in an environment of its own, because it needs
an older TensorFlow: `python message_struct2tensor.py FILE MESSAGE ROUNDS [FIELD]`.

Parses batches of 1,024 records into the leaves (or one of them) and their row indices, inside a
tf.function. Prints the CPU seconds of each round as JSON, after each leaf was compared with what
protobuf reads: first from lists of bytes, as the others are given them, then from string tensors
that were made before the clock started.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
import time
from typing import Any

import data
import message_data

BATCH = 1024


def tensorflow() -> Any:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    return tf


def parser(name: str, paths: list[list[str]]) -> Any:
    tf = tensorflow()
    import struct2tensor
    from struct2tensor.expression_impl import proto

    descriptor = message_data.message_class(name).DESCRIPTOR
    steps = [struct2tensor.create_path(".".join(path)) for path in paths]

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def parse(serialized: Any) -> Any:
        root = proto.create_expression_from_proto(serialized, descriptor).project(steps)
        (tree,) = struct2tensor.calculate_prensors([root])
        nodes = [tree.get_descendant_or_error(path).node for path in steps]
        return [(node.values, node.parent_index) for node in nodes]

    return parse


def check(name: str, tensors: Any, records: list[bytes], places: list[int]) -> None:
    """All leaves have one value per record or none, so that the values alone tell enough."""
    of_type, read = message_data.message_class(name), message_data.values_of(name)
    rows = [read(of_type.FromString(record)) for record in records]
    for (values, _), place in zip(tensors, places, strict=True):
        if values.numpy().tolist() != [value for row in rows for value in row[place]]:
            raise AssertionError(f"{name}: struct2tensor and protobuf give different values")


def main() -> None:
    path, name, rounds, *field = sys.argv[1:]
    tf = tensorflow()
    records = list(data.read_framed(pathlib.Path(path)))
    parts = [records[i : i + BATCH] for i in range(0, len(records), BATCH)]
    paths = message_data.leaf_paths(name)
    wanted = [[field[0]]] if field else paths
    parse = parser(name, wanted)
    check(name, parse(parts[0]), parts[0], [paths.index(path) for path in wanted])
    tensors = [tf.constant(part) for part in parts]
    times: list[list[float]] = [[], []]
    for _ in range(int(rounds) + 1):
        for seconds, batches in zip(times, (parts, tensors), strict=True):
            start = time.process_time()
            for batch in batches:
                parse(tf.constant(batch))
            seconds.append(time.process_time() - start)
    print(json.dumps([seconds[1:] for seconds in times]))


if __name__ == "__main__":
    main()

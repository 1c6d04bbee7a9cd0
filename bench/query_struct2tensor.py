"""struct2tensor's side of the rows on queries; runs in an environment of its own:

    query_struct2tensor.py work FILE PEER ROUNDS RESULT READS PATH...
                           CPU seconds a round, as JSON: of all, and of what comes after the
                           parse (of the fields READS, by commas)
    query_struct2tensor.py save FILE FOLDER                       the ranking query as SavedModel
    query_struct2tensor.py serve FILE FOLDER                      seconds to load and for each call

The values and parent indices of all paths go into RESULT (npz), to be compared with ours.
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
import threading
import time
from typing import Any

import data
import numpy as np
import query_data

BATCH = 1024
REQUESTS = 32


def tensorflow() -> Any:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    return tf


def expression(peer: str, root: Any) -> Any:
    import struct2tensor as s2t
    from struct2tensor.expression_impl import (
        broadcast,
        filter_expression,
        promote,
        reroot,
        size,
        slice_expression,
    )

    path = s2t.create_path
    if peer == "promote":
        root = promote.promote(root, path("event.query_token"), "tokens")
        return promote.promote(root, path("event.event_id"), "ids")
    if peer == "promote_deep":
        root = promote.promote(root, path("event.action.category"), "c1")
        return promote.promote(root, path("event.c1"), "c")
    if peer == "broadcast":
        return broadcast.broadcast(root, path("session_id"), "event", "session")
    if peer == "filter":
        return filter_expression.filter_by_child(root, path("event"), "clicked", "clicks")
    if peer == "reroot":
        return reroot.reroot(root, path("event"))
    if peer == "slice":
        return slice_expression.slice_expression(root, path("event"), "f", 0, 2)
    if peer == "deep_promote":
        for name in ["int_values_5", "bytes_values_5"]:
            steps = query_data.CHAIN.split(".")
            new = {"int_values_5": "c", "bytes_values_5": "d"}[name]
            for level in range(len(steps), 0, -1):
                root = promote.promote(root, path(".".join([*steps[:level], name])), new)
                name = new
        return root
    if peer == "deep_slice":
        root = slice_expression.slice_expression(root, path("int_values_1"), "f", 0, 1)
        steps = query_data.CHAIN.split(".")
        root = size.size(root, path(f"{query_data.CHAIN}.int_values_5"), "n")
        for level in range(len(steps), 0, -1):
            root = promote.promote(root, path(".".join([*steps[:level], "n"])), "n")
        return root
    if peer == "size":
        root = size.size(root, path("event"), "n")
        return size.size(root, path("event.action"), "m")
    raise ValueError(peer)


def parsed(serialized: Any, shape: str = "sessions") -> Any:
    from struct2tensor.expression_impl import proto

    descriptor = query_data.message_of(shape).DESCRIPTOR
    return proto.create_expression_from_proto(serialized, descriptor)


def results(root: Any, peer: str, steps: list[Any]) -> Any:
    import struct2tensor as s2t

    (tree,) = s2t.calculate_prensors([expression(peer, root).project(steps)])
    nodes = [tree.get_descendant_or_error(path).node for path in steps]
    return [(node.values, node.parent_index) for node in nodes]


def seconds_of(run: Any, inputs: list[Any]) -> float:
    start = time.process_time()
    for item in inputs:
        run(item)
    return time.process_time() - start


def work(path: str, peer: str, rounds: str, result: str, reads: str, *paths: str) -> None:
    tf = tensorflow()
    import struct2tensor as s2t

    shape = "deep" if peer.startswith("deep") else "sessions"
    steps = [s2t.create_path(path) for path in paths]
    read = [s2t.create_path(path) for path in reads.split(",")]

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def run(serialized: Any) -> Any:
        return results(parsed(serialized, shape), peer, steps)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def parse(serialized: Any) -> Any:
        return s2t.calculate_prensors([parsed(serialized, shape).project(read)])[0]

    @tf.function
    def behind(tree: Any) -> Any:
        return results(s2t.create_expression_from_prensor(tree), peer, steps)

    records = list(data.read_framed(pathlib.Path(path)))
    parts = [records[i : i + BATCH] for i in range(0, len(records), BATCH)]
    trees = [parse(tf.constant(part)) for part in parts]
    arrays = {}
    for i, (values, parents) in enumerate(run(tf.constant(parts[0]))):
        found = values.numpy()
        arrays[f"values{i}"] = found.astype("S") if found.dtype == object else found
        arrays[f"parents{i}"] = parents.numpy()
    np.savez(result, **arrays)
    seconds_of(behind, trees)
    whole, later = [], []
    for _ in range(int(rounds)):
        whole.append(seconds_of(lambda part: run(tf.constant(part)), parts))
        later.append(seconds_of(behind, trees))
    print(json.dumps([whole, later]))


# The ranking query, saved and served


def save(path: str, folder: str) -> None:
    tf = tensorflow()
    import struct2tensor as s2t
    from struct2tensor.expression_impl import broadcast, filter_expression, promote, size

    p = s2t.create_path

    class Ranking(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def decode(self, serialized: Any) -> Any:
            root = parsed(serialized)
            root = promote.promote(root, p("event.query_token"), "tokens")
            root = broadcast.broadcast(root, p("session_id"), "event", "session")
            root = filter_expression.filter_by_child(root, p("event"), "clicked", "clicks")
            root = size.size(root, p("clicks"), "label")
            root = size.size(root, p("event.action"), "actions")
            paths = [
                p("label"),
                p("tokens"),
                p("event.session"),
                p("event.actions"),
                p("clicks.query"),
            ]
            (tree,) = s2t.calculate_prensors([root.project(paths)])
            ragged = tree.get_ragged_tensors()
            return {str(path).replace(".", "_"): value for path, value in ragged.items()}

    module = Ranking()
    records = list(data.read_framed(pathlib.Path(path)))[:REQUESTS]
    module.decode(tf.constant(records))
    tf.saved_model.save(module, folder)


def one_call(run: Any, requests: Any) -> float:
    start = time.perf_counter()
    run(requests)
    return time.perf_counter() - start


def serve(path: str, folder: str) -> None:
    tf = tensorflow()
    import struct2tensor  # its operations

    records = list(data.read_framed(pathlib.Path(path)))
    start = time.perf_counter()
    run = tf.saved_model.load(folder).decode
    run(tf.constant(records[:REQUESTS]))
    first = time.perf_counter() - start
    batches = [records[i : i + REQUESTS] for i in range(0, len(records) - REQUESTS, REQUESTS)]
    warm = [one_call(lambda b: run(tf.constant(b)), batch) for batch in batches * 2]
    times: list[list[float]] = [[], []]

    def calls(thread: int) -> None:
        for batch in batches * 2:
            times[thread].append(one_call(lambda b: run(tf.constant(b)), batch))

    threads = [threading.Thread(target=calls, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({"first": first, "warm": warm[8:], "two": times[0] + times[1]}))
    del struct2tensor


if __name__ == "__main__":
    {"work": work, "save": save, "serve": serve}[sys.argv[1]](*sys.argv[2:])

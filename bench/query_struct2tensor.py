"""struct2tensor's side of the rows on queries; runs in an environment of its own:

    query_struct2tensor.py work FILE PEER ROUNDS RESULT PATH...   CPU seconds a round, as JSON
                           (PEER "parse": the paths as they are)
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
    if peer == "parse":
        return root
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
    if peer == "size":
        root = size.size(root, path("event"), "n")
        return size.size(root, path("event.action"), "m")
    raise ValueError(peer)


def parsed(serialized: Any) -> Any:
    from struct2tensor.expression_impl import proto

    return proto.create_expression_from_proto(serialized, query_data.Session.DESCRIPTOR)


def query(tf: Any, peer: str, paths: list[str]) -> Any:
    import struct2tensor as s2t

    steps = [s2t.create_path(path) for path in paths]

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def run(serialized: Any) -> Any:
        root = expression(peer, parsed(serialized)).project(steps)
        (tree,) = s2t.calculate_prensors([root])
        nodes = [tree.get_descendant_or_error(path).node for path in steps]
        return [(node.values, node.parent_index) for node in nodes]

    return run


def work(path: str, peer: str, rounds: str, result: str, *paths: str) -> None:
    tf = tensorflow()
    records = list(data.read_framed(pathlib.Path(path)))
    parts = [records[i : i + BATCH] for i in range(0, len(records), BATCH)]
    run = query(tf, peer, list(paths))
    first = run(tf.constant(parts[0]))
    arrays = {}
    for i, (values, parents) in enumerate(first):
        found = values.numpy()
        arrays[f"values{i}"] = found.astype("S") if found.dtype == object else found
        arrays[f"parents{i}"] = parents.numpy()
    np.savez(result, **arrays)
    seconds = []
    for _ in range(int(rounds) + 1):
        start = time.process_time()
        for part in parts:
            run(tf.constant(part))
        seconds.append(time.process_time() - start)
    print(json.dumps(seconds[1:]))


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

"""Serves a saved view: batches of requests become tensors, in several threads. The Python twin of
serve.c.

    python serve.py ranking.cstv sessions.tfrecord

The requests are the records of a TFRecord file; a server has them from its clients.
"""

from __future__ import annotations

import concurrent.futures
import functools
import sys

import columnstone as cst

THREADS, BATCH = 4, 32


def answer(view: cst.View, requests: list[bytes]) -> dict[str, object]:
    """One view for all threads; none of them holds Python's lock while it works. The model has the
    tensors by DLPack: torch.from_dlpack(tensors["device"]), or all of them: cst.tensor.to_torch."""
    try:
        return dict(view.tensors(requests))
    except cst.Error as error:  # it has the number of the request that is at fault
        print(f"serve: {error}", file=sys.stderr)
        return {}


def main() -> None:
    view = cst.View(sys.argv[1])
    records = cst.open(sys.argv[2], format="raw", batch_size=BATCH)
    batches = [batch["record"].to_pylist() for batch in records]
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        answers = list(pool.map(functools.partial(answer, view), batches))
    if answers:
        for name, tensor in answers[0].items():
            print(f"{name}: {tensor}")


if __name__ == "__main__":
    main()

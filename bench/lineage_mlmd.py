"""ml-metadata's side of the rows on lineage; runs in the environment of struct2tensor, because it
needs an older protobuf: `python lineage_mlmd.py STORE COUNT`.

STORE is made anew. Each artifact has a name, a URI and three properties, as those of
lineage_bench.c have. Prints for each task how many times it was done, and the CPU seconds of all.
"""

from __future__ import annotations

import json
import pathlib
import sys
import time
from typing import Any

from ml_metadata import metadata_store
from ml_metadata.proto import metadata_store_pb2 as pb

SINGLE, LOOKUPS, TRACES, LEVELS, WIDTH = 500, 500, 20, 10, 10


def main() -> None:
    path, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    path.unlink(missing_ok=True)
    config = pb.ConnectionConfig()
    config.sqlite.filename_uri = str(path)
    store = metadata_store.MetadataStore(config)
    kind = pb.ArtifactType(name="Examples")
    kind.properties.update({"span": pb.INT, "payload_format": pb.STRING, "share": pb.DOUBLE})
    type_id = store.put_artifact_type(kind)
    run_type = store.put_execution_type(pb.ExecutionType(name="make"))
    told: dict[str, Any] = {}

    def artifact(i: int) -> pb.Artifact:
        one = pb.Artifact(
            type_id=type_id, uri=f"gs://bucket/run/{i}", name=f"n{i}", state=pb.Artifact.LIVE
        )
        one.properties["span"].int_value = i
        one.properties["payload_format"].string_value = "FORMAT_TF_EXAMPLE"
        one.properties["share"].double_value = 0.5
        return one

    def timed(task: str, times: int, run: Any) -> None:
        start = time.process_time()
        run()
        told[task] = {"count": times, "cpu": time.process_time() - start}

    timed("in one transaction", count, lambda: store.put_artifacts(map(artifact, range(count))))

    def one_by_one() -> None:
        for i in range(count, count + SINGLE):
            store.put_artifacts([artifact(i)])

    timed("one by one", SINGLE, one_by_one)
    wanted = [k * 7919 % count for k in range(LOOKUPS)]

    def each(look: Any) -> Any:
        def run() -> None:
            for i in wanted:
                assert look(i)

        return run

    def by_property(i: int) -> Any:
        query = f"properties.span.int_value = {i}"
        return store.get_artifacts(metadata_store.ListOptions(filter_query=query))

    timed("by id", LOOKUPS, each(lambda i: store.get_artifacts_by_id([i + 1])))
    timed(
        "by type and name",
        LOOKUPS,
        each(lambda i: store.get_artifact_by_type_and_name("Examples", f"n{i}")),
    )
    timed("by path", LOOKUPS, each(lambda i: store.get_artifacts_by_uri(f"gs://bucket/run/{i}")))
    timed("by property", LOOKUPS, each(by_property))

    level: list[int] = []
    i = count + SINGLE
    for number in range(LEVELS + 1):
        before, level = level, []
        for k in range(WIDTH):
            [made] = store.put_artifacts([artifact(i)])
            i += 1
            level.append(made)
            if number > 0:
                [run] = store.put_executions([pb.Execution(type_id=run_type)])
                inputs = {before[k], before[(k + 1) % WIDTH]}
                events = [
                    pb.Event(artifact_id=a, execution_id=run, type=pb.Event.INPUT) for a in inputs
                ]
                events.append(pb.Event(artifact_id=made, execution_id=run, type=pb.Event.OUTPUT))
                store.put_events(events)
    query = pb.LineageSubgraphQueryOptions(
        max_num_hops=2 * LEVELS, direction=pb.LineageSubgraphQueryOptions.UPSTREAM
    )
    query.starting_artifacts.filter_query = f"id = {level[0]}"
    nodes = 0

    def trace() -> None:
        nonlocal nodes
        for _ in range(TRACES):
            graph = store.get_lineage_subgraph(query)
            nodes = len(graph.artifacts) + len(graph.executions)

    timed("trace", TRACES, trace)
    print(json.dumps({**told, "nodes": nodes}))


if __name__ == "__main__":
    main()

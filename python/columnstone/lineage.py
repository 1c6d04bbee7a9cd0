"""Lineage: which data, views, schemas, statistics and models there are, and what came from what.

store = columnstone.lineage.open("lineage.db", create=True)
examples = store.examples("data/sessions-*.gz", "sessions", split="train", span=12)
bound = store.bind(examples, store.view("ranking.cstv", "ranking"))
with store.execution("train", inputs=[bound]) as run:
    ...  # columnstone.open(bound) reads through the view
    run.output(store.model("model/7"))
print(store.gc(keep=3, keep_ancestors_of=["Model"], dry_run=True))
"""

from __future__ import annotations

from ._lineage.artifact import Artifact, Context, Event, Execution, Field, File, Reference
from ._lineage.lease import Lease, LeaseRecord
from ._lineage.mlmd import export_mlmd, import_mlmd
from ._lineage.reading import Reading
from ._lineage.run import Run
from ._lineage.store import Store, open
from ._lineage.trace import Garbage, GarbageFile, GarbageRow, Link, Node, StoreFault

__all__ = [
    "Artifact",
    "Context",
    "Event",
    "Execution",
    "Field",
    "File",
    "Garbage",
    "GarbageFile",
    "GarbageRow",
    "Lease",
    "LeaseRecord",
    "Link",
    "Node",
    "Reading",
    "Reference",
    "Run",
    "Store",
    "StoreFault",
    "export_mlmd",
    "import_mlmd",
    "open",
]

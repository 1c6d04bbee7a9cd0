"""What the engines share: Beam, Spark, Ray and Dask get four things, and schedule by themselves.

- Splits (`cst.plan`): a file and a range of its bytes. Who reads one reads the records that begin
  in it, as the neighbours do, so that a split is right whatever the planner knew; `cst.open(split)`
  takes all options of sources.
- Sources and batches; what is inferred, the driver finds out once (reading.py).
- Accumulators (`cst.accumulate`): those of folds, with adding, merging and saving in the engine's
  hands.
- Output folders (place.py, commit.py): attempts write under names of their own, and one commit
  publishes.

A room such as `_spark` says the same in its engine's words; a public module (spark.py) lists the
names. What is being read may become shorter in Beam: `_beam/range_read.py`.
"""

import importlib

# Engines pickle by cloudpickle, which takes a class by its name only if the public module that it
# says it is in has been loaded.
for _name in ("accumulate", "arrow", "codec", "dataset", "errors", "schema", "source", "tensor"):
    importlib.import_module(f"columnstone.{_name}")

"""What the engines share. Beam, Spark, Ray and Dask use four things and do their own scheduling.

- Splits (`cst.plan`): a file and a range of its bytes. The reader of a split reads the records that
  begin in it, and its neighbours do the same, so that a split is right whatever the planner knew.
  `cst.open(split)` takes all options of sources.
- Sources and batches; the driver infers once what has to be inferred (reading.py).
- Accumulators (`cst.accumulate`) in the engine's folds, which add, merge and save.
- Output folders (place.py, commit.py): attempts write under names of their own, and one commit
  publishes them.

A package such as `_spark` translates these to its engine; a public module (spark.py) lists the
names. Only Beam can shorten a range while it is read: `_beam/range_read.py`.
"""

import importlib

# cloudpickle, which the engines use, pickles a class by name only if the public module that the
# class claims to be in is loaded.
for _name in ("accumulate", "arrow", "codec", "dataset", "errors", "schema", "source", "tensor"):
    importlib.import_module(f"columnstone.{_name}")

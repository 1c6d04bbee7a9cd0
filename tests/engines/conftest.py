"""Set-up of the tests of Beam, Spark, Ray, Dask and datasets.

Run by `./dev test engines`. Without the packages of an engine its tests are not collected: those of
Beam are in files named test_beam_*.py, and so on.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
# Spark's workers are of this environment, and Ray's take no packages along.
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"

PACKAGES = {
    "beam": "apache_beam",
    "spark": "pyspark",
    "ray": "ray",
    "dask": "dask",
    "huggingface": "datasets",
    "remote": "moto",
}
MISSING = {engine for engine, name in PACKAGES.items() if importlib.util.find_spec(name) is None}
collect_ignore = [
    file.name
    for file in pathlib.Path(__file__).parent.glob("test_*.py")
    if file.name.split("_")[1].removesuffix(".py") in MISSING
]

# Data that is not committed: real trips and clicks, which some tests read where they are there.
DATA = pathlib.Path(__file__).resolve().parents[2].parent / "shared" / "data"

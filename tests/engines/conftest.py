"""Set-up of the tests of Beam, Spark, Ray, Dask and datasets.

Run by `./dev test engines`. Without the packages of an engine its tests are not collected: those of
Beam are in files named test_beam_*.py, and so on.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import pathlib
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
# Spark's workers are of this environment, by a name on the path (Spark asks a shell for it, where a
# folder with blanks would be several words), and Ray's take no packages along.
PYTHON = pathlib.Path(sys.executable)
os.environ["PATH"] = os.pathsep.join([str(PYTHON.parent), os.environ["PATH"]])
os.environ["PYSPARK_PYTHON"] = PYTHON.name
# Spark's JVMs live for seconds: without the second compiler and the threads of the collector, they
# take two thirds of the processor time.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1")
os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With several processes, one has all tests of an engine, which is started once; pages have
    processes of their own anyway."""
    for item in items:
        engine = item.path.name.split("_")[1].removesuffix(".py")
        group = item.name if engine == "docs" else engine
        item.add_marker(pytest.mark.xdist_group(group))


class SparkSessions:
    """A session at a time, as Spark has it, in one JVM of 512 MB."""

    def __init__(self) -> None:
        self.master = ""
        self.session: Any = None

    def get(self, master: str) -> Any:
        """The session of this master; the one of another is stopped."""
        if self.master != master:
            self.stop()
            from pyspark.sql import SparkSession

            self.session = (
                SparkSession.builder.master(master)
                .appName("columnstone")
                .config("spark.ui.enabled", "false")
                .config("spark.driver.memory", "512m")
                .config("spark.driver.host", "127.0.0.1")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.executor.memory", "512m")
                .config("spark.sql.shuffle.partitions", "2")
                .config("spark.sql.session.timeZone", "UTC")
                .getOrCreate()
            )
            self.session.sparkContext.setLogLevel("OFF")
            self.master = master
        return self.session

    def stop(self) -> None:
        if self.session is not None:
            self.session.stop()
        self.session, self.master = None, ""


@pytest.fixture(scope="session")
def spark_sessions() -> Iterator[SparkSessions]:
    sessions = SparkSessions()
    yield sessions
    sessions.stop()


@pytest.fixture
def spark(spark_sessions: SparkSessions) -> Any:
    """A session in this process, of two threads; a task that fails is not tried again."""
    return spark_sessions.get("local[2]")


@pytest.fixture
def spark_cluster(spark_sessions: SparkSessions) -> Any:
    """A session with two workers in processes of their own; a task is tried four times."""
    return spark_sessions.get("local-cluster[2,1,768]")


@pytest.fixture(scope="session")
def ray_data() -> Iterator[Any]:
    """ray.data, with a Ray of two CPUs and 200 MiB, which ends with the tests."""
    ray = pytest.importorskip("ray")
    ray.init(
        num_cpus=2,
        object_store_memory=200 << 20,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
    )
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    logging.getLogger("ray").setLevel("ERROR")
    yield ray.data
    ray.shutdown()

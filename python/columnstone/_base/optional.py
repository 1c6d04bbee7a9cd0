"""Other packages, which parts of this one need: imported with them, or what to install."""

from __future__ import annotations

import importlib
from typing import Any, NoReturn

from .errors import UnsupportedError

# Package of an import: the extra that installs it (pyproject.toml).
_EXTRAS = {
    "numpy": "numpy",
    "pandas": "pandas",
    "pyarrow": "parquet",
    "torch": "torch",
    "jax": "jax",
    "tensorflow": "tensorflow",
    "torchrec": "torchrec",
    "awkward": "awkward",
    "fsspec": "remote",
    "apache_beam": "beam",
    "pyspark": "spark",
    "ray": "ray",
    "dask": "dask",
    "datasets": "huggingface",
    "aiohttp": "remote",
    "adbc_driver_manager": "databases",
    "adbc_driver_postgresql": "postgresql",
    "adbc_driver_sqlite": "sqlite",
    "adbc_driver_duckdb": "duckdb",
    "adbc_driver_snowflake": "snowflake",
    "adbc_driver_bigquery": "bigquery",
    "adbc_driver_flightsql": "flightsql",
}


def need(module: str, who: str, extra: str | None = None) -> Any:
    """The module. Without it, or without what it imports itself, an UnsupportedError that says who
    needs what and what to install: the extra, which is that of the missing package if not given."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _EXTRAS:
            raise
        refuse(missing, who, extra or _EXTRAS[missing], error)


def refuse(package: str, who: str, extra: str, error: ImportError) -> NoReturn:
    """For a package that is not there."""
    hint = f"pip install 'columnstone[{extra}]'"
    raise UnsupportedError(
        f"{who} needs {package}, which is not installed ({hint})", hint=hint
    ) from error

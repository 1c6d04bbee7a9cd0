"""Optional packages: they are imported when they are needed, or the error says what to install."""

from __future__ import annotations

import importlib
from typing import Any, NoReturn

from .errors import UnsupportedError

# The package of an import: the extra that installs it (pyproject.toml).
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
    "matplotlib": "plot",
    "aiohttp": "remote",
    "adbc_driver_manager": "databases",
    "adbc_driver_postgresql": "postgresql",
    "adbc_driver_sqlite": "sqlite",
    "adbc_driver_duckdb": "duckdb",
    "adbc_driver_snowflake": "snowflake",
    "adbc_driver_bigquery": "bigquery",
    "adbc_driver_flightsql": "flightsql",
}

# The minimum major versions from pyproject.toml, for packages whose older versions fail later with
# errors that do not mention the version.
_LEAST = {"pyarrow": 20}


def need(module: str, who: str, extra: str | None = None, least: int | None = None) -> Any:
    """Imports the module. If it, or a module that it imports, is missing, raises an
    UnsupportedError that says who needs it and what to install: the given extra, or that of the
    missing package. If it is too old, raises an ImportError that is also an UnsupportedError;
    least: a lower minimum for the major version than that of pyproject.toml."""
    try:
        found = importlib.import_module(module)
        if module.partition(".")[0] in _LEAST:
            _check_version(module.partition(".")[0], who, extra, least)
        return found
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _EXTRAS:
            raise
        refuse(missing, who, extra or _EXTRAS[missing], error)


class OldPackageError(UnsupportedError, ImportError):
    """A package is installed, but too old."""


def _check_version(package: str, who: str, extra: str | None, least: int | None) -> None:
    found = str(importlib.import_module(package).__version__)
    least, major = least or _LEAST[package], found.partition(".")[0]
    if major.isdecimal() and int(major) < least:
        hint = f"pip install 'columnstone[{extra or _EXTRAS[package]}]'"
        raise OldPackageError(
            f"{who} needs {package} {least} or later, and found {found} ({hint})", hint=hint
        )


def refuse(package: str, who: str, extra: str, error: ImportError) -> NoReturn:
    """A package is not installed."""
    hint = f"pip install 'columnstone[{extra}]'"
    raise UnsupportedError(
        f"{who} needs {package}, which is not installed ({hint})", hint=hint
    ) from error

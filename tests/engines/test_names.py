"""The modules of the engines are loaded by their names, and load no engine."""

from __future__ import annotations

import subprocess
import sys


def test_nothing_is_imported_until_it_is_used() -> None:
    code = (
        "import sys, columnstone as cst\n"
        "for name in ('beam', 'spark', 'ray', 'dask', 'huggingface'):\n"
        "    assert getattr(cst, name).__name__ == f'columnstone.{name}'\n"
        "heavy = {'apache_beam', 'pyspark', 'ray', 'dask', 'datasets', 'pyarrow', 'pandas'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

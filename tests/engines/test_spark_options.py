"""What Spark's options mean: names however they are written, values that are read strictly."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import columnstone as cst
import pytest
from columnstone._spark import options as o

KNOWN: dict[str, o.Parser] = {
    "sample_records": o.int_option,
    "check_crc": o.bool_option,
    "columns": o.names_option,
    "params": o.dict_option,
    "on_error": o.choice_option("raise", "skip"),
}


def parse(**given: str) -> dict[str, Any]:
    return o.parse_options(given, KNOWN, "reading")


def test_names_are_the_same_in_every_case() -> None:
    assert parse(samplerecords="7", CHECK_CRC="False", onError="Skip", path="p") == {
        "sample_records": 7,
        "check_crc": False,
        "on_error": "skip",
    }
    assert parse(columns="a, b") == {"columns": ["a", "b"]}
    assert parse(columns='["a,b", "c"]', params='{"x": 1}') == {
        "columns": ["a,b", "c"],
        "params": {"x": 1},
    }
    assert parse(columns='"a,b", "say ""c""",d e') == {"columns": ["a,b", 'say "c"', "d e"]}
    assert parse(columns="") == {"columns": []}
    assert o.paths_of({"path": "x"}) == ["x"]
    assert o.paths_of({"paths": '["x", "y,z"]'}) == ["x", "y,z"]
    assert o.paths_of({}) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"sample_record": "1"},
            "reading has no option 'sample_record' (did you mean sample_records?)",
        ),
        ({"zzz": "1"}, "(options: check_crc, columns, on_error, params, sample_records)"),
        ({"sample_records": "1", "sampleRecords": "2"}, "option sample_records is given twice"),
        ({"sample_records": "7.0"}, "option sample_records must be a whole number, not '7.0'"),
        ({"sample_records": "\u0667"}, "must be a whole number"),
        ({"check_crc": "yes"}, "option check_crc must be true or false, not 'yes'"),
        ({"columns": "[1]"}, "option columns must be a list of names"),
        ({"columns": '"a" b'}, "option columns must be a comma-separated list of names"),
        ({"columns": "a\nb"}, "or give a JSON list"),
        (
            {"header": "false"},
            "it is an option for writing csv; to read files without a header, give names",
        ),
        ({"columns": "[1"}, "option columns is not valid JSON"),
        ({"params": "[]"}, "option params must be a JSON object"),
        ({"on_error": "drop"}, "option on_error must be one of raise, skip, not 'drop'"),
    ],
)
def test_wrong_options_are_errors(given: dict[str, str], said: str) -> None:
    with pytest.raises(cst.errors.ArgumentError, match=re.escape(said)):
        parse(**given)


def test_looking_for_data_sources_loads_little() -> None:
    """As any session of Spark does, also of those who have no pyarrow."""
    code = (
        "import sys, pyspark.sql.datasource\n"
        "before = set(sys.modules)\n"
        "sys.modules['pyarrow'] = None\n"
        "import pyspark_columnstone\n"
        "assert pyspark_columnstone.DefaultSource.name() == 'columnstone'\n"
        "new = {name for name in set(sys.modules) - before if not name.startswith('columnstone')}\n"
        "assert new <= {'pyspark_columnstone', 'pyarrow'}, new\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)

"""The files that the examples of docstrings read: test_docstrings.py writes them into a folder."""

from __future__ import annotations

from pathlib import Path

import columnstone as cst

TRIPS = {
    "company": ["Blue", "Red", "Blue", "Green"],
    "fare": [9.5, 12.0, 7.25, 30.0],
    "zones": [[1, 2], [3], [], [2, 4, 5]],
}

SCHEMA = """
feature { name: "company" type: BYTES presence { min_fraction: 1 } shape {} }
feature { name: "fare" type: FLOAT presence { min_fraction: 1 } shape {} }
feature { name: "zones" type: INT }
tensor_representation_group {
  key: ""
  value {
    tensor_representation {
      key: "zones"
      value { ragged_tensor { feature_path { step: "zones" } } }
    }
  }
}
"""

PROTO = """
syntax = "proto3";
package shop;
message Event { string query = 1; bool clicked = 2; float price = 3; }
message Session { int64 id = 1; repeated Event event = 2; }
"""


def write(folder: Path) -> None:
    """trips.tfrecord and trips.csv of the same rows, trips.pbtxt and shop.proto."""
    cst.write(TRIPS, str(folder / "trips.tfrecord"))
    (folder / "trips.csv").write_text("company,fare\nBlue,9.5\nRed,12.0\nBlue,7.25\nGreen,30.0\n")
    (folder / "trips.pbtxt").write_text(SCHEMA)
    (folder / "shop.proto").write_text(PROTO)

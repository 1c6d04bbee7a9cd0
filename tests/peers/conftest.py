"""Set-up of the comparisons with real TensorFlow, tfx_bsl, protobuf and struct2tensor.

Run by `./dev test peers`. Without the peers' packages nothing here is collected; struct2tensor,
TFDV and ml-metadata have an environment of their own, in which their tests are all that is
collected.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

PEERS = ["tensorflow", "tfx_bsl", "tensorflow_metadata", "hypothesis", "pyarrow"]
MISSING = [name for name in PEERS if importlib.util.find_spec(name) is None]
# These need an older TensorFlow, or protobuf, than the others.
OLDER = {
    "test_struct2tensor_": "struct2tensor",
    "test_tfdv": "tensorflow_data_validation",
    "test_lineage_mlmd": "ml_metadata",
}
IS_OLDER = importlib.util.find_spec("struct2tensor") is not None
FILES = [file.name for file in pathlib.Path(__file__).parent.glob("test_*.py")]


def is_collected(name: str) -> bool:
    for prefix, package in OLDER.items():
        if name.startswith(prefix):
            return importlib.util.find_spec(package) is not None
    return not MISSING and not IS_OLDER


collect_ignore = [name for name in FILES if not is_collected(name)]

TAXI = pathlib.Path(__file__).resolve().parents[2].parent / "shared" / "data" / "taxi"

if not MISSING:
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        "peers",
        max_examples=int(os.environ.get("COLUMNSTONE_PEER_EXAMPLES", "60")),
        deadline=None,
        derandomize="COLUMNSTONE_PEER_EXAMPLES" not in os.environ,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
    settings.load_profile("peers")


def pytest_report_header() -> str:
    return f"peers missing, nothing to compare with: {MISSING}" if MISSING else "peers: all found"


@pytest.fixture(scope="session")
def taxi() -> pathlib.Path:
    if not TAXI.is_dir():
        pytest.skip("the taxi data is not beside the repository (shared/data/taxi)")
    return TAXI

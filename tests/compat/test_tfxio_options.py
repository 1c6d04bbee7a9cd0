"""The options of TFXIOs have tfx_bsl's fields and defaults."""

from __future__ import annotations

import pytest
from columnstone.compat.tfx_bsl.tfxio import dataset_options
from conftest import real


@pytest.mark.parametrize("name", ["TensorFlowDatasetOptions", "RecordBatchesOptions"])
def test_fields_and_defaults(name: str) -> None:
    theirs = getattr(real("tfx_bsl.tfxio.dataset_options"), name)
    ours = getattr(dataset_options, name)
    assert ours(5)._asdict() == theirs(5)._asdict()
    assert ours(5, shuffle=False, num_epochs=1) == theirs(5, shuffle=False, num_epochs=1)

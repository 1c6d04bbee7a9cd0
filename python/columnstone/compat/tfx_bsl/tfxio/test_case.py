"""tfx_bsl.tfxio.test_case: the class of tests that compare tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf
from absl.testing import absltest, parameterized

if TYPE_CHECKING:
    from ..types import common_types

SkipTest = absltest.SkipTest
main = tf.test.main
named_parameters = parameterized.named_parameters

_SPARSE = tf.SparseTensor | tf.compat.v1.SparseTensorValue
_RAGGED = tf.RaggedTensor | tf.compat.v1.ragged.RaggedTensorValue


class TfxBslTestCase(parameterized.TestCase, tf.test.TestCase):
    """TensorFlow's test case, with parameters and with comparisons for tensors of every kind."""

    def assertTensorsEqual(
        self,
        left: common_types.TensorAlike,
        right: common_types.TensorAlike,
        msg: str | None = None,
    ) -> None:
        """Fails unless both have the same class and equal parts."""
        self.assertIsInstance(left, type(right), msg)
        if isinstance(left, _SPARSE):
            for part in ("values", "indices", "dense_shape"):
                self.assertAllEqual(getattr(left, part), getattr(right, part), msg)
        elif isinstance(left, _RAGGED):
            self.assertTensorsEqual(left.values, right.values, msg)
            self.assertAllEqual(left.row_splits, right.row_splits, msg)
        else:
            self.assertAllEqual(left, right, msg)

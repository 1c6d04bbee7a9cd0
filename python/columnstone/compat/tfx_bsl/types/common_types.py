"""tfx_bsl.types.common_types: types of features and tensors, for annotations."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

FeatureSpecType = (
    tf.io.FixedLenFeature | tf.io.VarLenFeature | tf.io.SparseFeature | tf.io.RaggedFeature
)
TensorType = tf.Tensor | tf.SparseTensor | tf.RaggedTensor
TensorValueType = (
    np.ndarray | tf.compat.v1.SparseTensorValue | tf.compat.v1.ragged.RaggedTensorValue
)
TensorAlike = TensorType | TensorValueType

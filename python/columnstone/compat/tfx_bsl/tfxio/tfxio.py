"""The base class of all TFXIOs: it reads records and returns batches, their schema, and their
tensors."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

from .tensor_adapter import TensorAdapter, TensorAdapterConfig

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apache_beam as beam
    import pyarrow as pa
    import tensorflow as tf

    from . import dataset_options, tensor_adapter


class TFXIO(metaclass=abc.ABCMeta):
    """Subclasses implement the abstract methods; projection and adapters are built on them."""

    @abc.abstractmethod
    def BeamSource(self, batch_size: int | None = None) -> beam.PTransform:
        """A PTransform that returns pyarrow batches, of `batch_size` rows or of Beam's choice."""

    @abc.abstractmethod
    def RecordBatches(
        self, options: dataset_options.RecordBatchesOptions
    ) -> Iterator[pa.RecordBatch]:
        """The batches, without Beam."""

    @abc.abstractmethod
    def ArrowSchema(self) -> pa.Schema:
        """The schema that all batches have."""

    @abc.abstractmethod
    def TensorRepresentations(self) -> tensor_adapter.TensorRepresentations:
        """The TensorRepresentation proto of each tensor, by name."""

    @abc.abstractmethod
    def TensorFlowDataset(
        self, options: dataset_options.TensorFlowDatasetOptions
    ) -> tf.data.Dataset:
        """The tensors as a tf.data.Dataset."""

    @abc.abstractmethod
    def _ProjectImpl(self, tensor_names: list[str]) -> TFXIO:
        """The same TFXIO with only these tensors and the columns that they need."""

    def Project(self, tensor_names: list[str]) -> TFXIO:
        """The same with only these tensors; its adapter knows the types of all tensors before the
        first projection (OriginalTypeSpecs)."""
        return _ProjectedTFXIO(self, self._ProjectImpl(tensor_names))

    def TensorAdapterConfig(self) -> TensorAdapterConfig:
        """The arguments of TensorAdapter()."""
        return TensorAdapterConfig(self.ArrowSchema(), self.TensorRepresentations())

    def TensorAdapter(self) -> TensorAdapter:
        """An adapter that converts the batches to tensors."""
        return TensorAdapter(self.TensorAdapterConfig())


class _ProjectedTFXIO(TFXIO):
    """A projection, and the TFXIO from which it was first made."""

    def __init__(self, origin: TFXIO, projected: TFXIO) -> None:
        self._origin = origin
        self._projected = projected

    @property
    def origin(self) -> TFXIO:
        return self._origin

    @property
    def projected(self) -> TFXIO:
        return self._projected

    def BeamSource(self, batch_size: int | None = None) -> beam.PTransform:
        return self._projected.BeamSource(batch_size)

    def RecordBatches(
        self, options: dataset_options.RecordBatchesOptions
    ) -> Iterator[pa.RecordBatch]:
        return self._projected.RecordBatches(options)

    def ArrowSchema(self) -> pa.Schema:
        return self._projected.ArrowSchema()

    def TensorRepresentations(self) -> tensor_adapter.TensorRepresentations:
        return self._projected.TensorRepresentations()

    def TensorFlowDataset(
        self, options: dataset_options.TensorFlowDatasetOptions
    ) -> tf.data.Dataset:
        return self._projected.TensorFlowDataset(options)

    def _ProjectImpl(self, tensor_names: list[str]) -> TFXIO:
        return self._projected._ProjectImpl(tensor_names)

    def Project(self, tensor_names: list[str]) -> TFXIO:
        return _ProjectedTFXIO(self._origin, self._ProjectImpl(tensor_names))

    def TensorAdapterConfig(self) -> TensorAdapterConfig:
        return TensorAdapterConfig(
            self.ArrowSchema(),
            self.TensorRepresentations(),
            original_type_specs=self._origin.TensorAdapter().TypeSpecs(),
        )

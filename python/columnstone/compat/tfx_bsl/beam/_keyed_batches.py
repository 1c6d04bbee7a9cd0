"""Models for examples with keys, and for lists of examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from apache_beam.ml.inference import base

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class KeyedBatches(base.ModelHandler):
    """Passes on the values without their keys, and lists as one batch, and restores keys and lists
    of the predictions."""

    def __init__(self, handler: base.ModelHandler) -> None:
        super().__init__()
        self._handler = handler

    def load_model(self) -> Any:
        return self._handler.load_model()

    def run_inference(
        self, batch: Sequence[Any], model: Any, inference_args: dict[str, Any] | None = None
    ) -> list[Any]:
        values = _values(batch)
        examples = _flat(values)
        results = iter(self._handler.run_inference(examples, model) if examples else ())
        nested = [
            [next(results) for _ in value] if isinstance(value, list) else next(results)
            for value in values
        ]
        if values is batch:
            return nested
        return [(key, result) for (key, _), result in zip(batch, nested, strict=True)]

    def get_num_bytes(self, batch: Sequence[Any]) -> int:
        return int(self._handler.get_num_bytes(_flat(_values(batch))))

    def get_metrics_namespace(self) -> str:
        return str(self._handler.get_metrics_namespace())

    def batch_elements_kwargs(self) -> Mapping[str, Any]:
        kwargs: Mapping[str, Any] = self._handler.batch_elements_kwargs()
        return kwargs


def _values(batch: Sequence[Any]) -> Sequence[Any]:
    """The batch itself, or the values beside its keys."""
    is_keyed = bool(batch) and isinstance(batch[0], tuple)
    return [value for _, value in batch] if is_keyed else batch


def _flat(values: Sequence[Any]) -> list[Any]:
    return [
        example for value in values for example in (value if isinstance(value, list) else [value])
    ]

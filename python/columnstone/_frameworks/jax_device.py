"""Copies batches to a JAX device while the loop computes."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from .._core import Tensor
from .._tensor.conversion import converted
from .jax import narrowed, on_host


class JaxMover:
    """Copies to a device or, with a sharding, to several. JAX copies in the background; a
    computation waits for its arrays."""

    def __init__(self, device: Any) -> None:
        self._device = device

    def begin(self, item: Any) -> Any:
        if isinstance(item, list):
            return [self.begin(part) for part in item]
        return converted(item, self._put)

    def end(self, begun: Any) -> Any:
        return begun

    def _put(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            value = on_host(value)
        if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
            return jax.device_put(narrowed(value), self._device)
        return jax.device_put(value, self._device) if isinstance(value, jax.Array) else value
